"""Forms in which a command holds a secret, of programs that no list of the masking names.

"§" is the place of the secret, and "¦" is between two forms. No form has a quote that does not end,
because it is within a line.
"""

from masking_formats import formats

FORMS = formats(r"""
tool --name db.auth.password --value=§ ¦ tool --name auth.password --value §
nmcli con modify wlan0 802-1x.password § ¦ nmcli con modify wlan0 wifi-sec.wep-key0 §
nmcli con up x passwd-file /run/§ ¦ set -x DB_PASSWORD § ¦ set DB_PASSWORD § ¦ setenv DB_PASSWORD §
export K=§ ¦ env A=§ /opt/app/run ¦ X=§ Y=1 /opt/app/run ¦ echo § | doas -S true
echo § | cryptsetup luksOpen /dev/sdb x - ¦ printf %s § | openssl enc -d -pass stdin
printf '%s\n' § | passwd --stdin oracle ¦ echo -n § | base64 -d ¦ yes § | app login
app login <<< § ¦ cat <<< § | app ¦ sshpass -f <(echo §) ssh db02 uptime
app --password-file <(printf %s §) ¦ app --password=<(echo §) ¦ app --login § --wait
diff <(curl -H X-Key:§ http://h/) /tmp/x
ip xfrm state add src 192.0.2.1 dst 192.0.2.2 proto esp spi 1 enc aes §
ip xfrm state add src 192.0.2.1 dst 192.0.2.2 proto esp spi 1 auth sha256 0x§
ip macsec add macsec0 tx sa 0 pn 1 on key 01 §
ip macsec add macsec0 rx port 1 address 00:00:5e:00:53:01 sa 0 pn 1 on key 00 §
wg set wg0 private-key /etc/§ ¦ wg set wg0 peer x preshared-key §
curl https://api.telegram.org/bot12345:§/sendMessage
curl -d text=x https://hooks.example.com/services/T0/B0/§ ¦ curl -F f=@x https://example.com/hook/§
curl -X POST https://example.webhook.office.com/webhookb2/§/IncomingWebhook/x/y
curl https://discord.com/api/webhooks/1/§ ¦ curl 'https://h/alert?code=§&x=1'
wget --header="X-Token: §" http://h/ ¦ http POST h X-Auth:§ ¦ nmConnect -nmhost h -user u -pw §
nmConnect u § h ¦ sqlplus scott/§@tcps://db:2484/s ¦ sql scott/§@tcps://db:2484/s
impdp system/§@tcps://db/s full=y ¦ app scott/§@tcp://db:1521/s
jdbc.sh jdbc:oracle:thin:scott/§@tcps://db:2484/s ¦ psql postgresql://u:§@h/db
mongosh mongodb+srv://u:§@h/ ¦ redis-cli -u redis://:§@h:6379
rclone copy :sftp,host=h,user=u,pass=§:/ /x ¦ restic -r rest:https://u:§@h/ backup /x
borg create ssh://u:§@h/./r::x /y ¦ duplicity /x ftp://u:§@h/y ¦ lftp -u u,§ h
ncftpput -u u -p § h /x y ¦ smbclient //h/s § -U u ¦ smbclient //h/s -U u%§
mount -t cifs //h/s /mnt -o user=u,pass=§ ¦ mount -t davfs https://h /mnt -o username=u,password=§
mount.ceph h:/ /mnt -o name=a,secret=§
iscsiadm -m node -o update -n node.session.auth.password -v §
iscsiadm -m discoverydb -n discovery.sendtargets.auth.password -v §
nvme connect -t tcp -n x --dhchap-secret=§ ¦ nvme connect -t tcp -n x -S § ¦ multipathd -k"auth §"
ipmitool -H h -U u -P § power status ¦ ipmitool -H h -U u -f /root/§ chassis status
racadm -r h -u u -p § getsysinfo ¦ ilorest login h -u u -p § ¦ hponcfg -w /x -s password=§
perccli /c0 set securitykey=§ ¦ megacli -ChangeSecurityKey -SecurityKey § -a0
hdparm --security-unlock § /dev/sdb ¦ sedutil-cli --setLockingRange 0 RW § /dev/sdb
cryptsetup luksAddKey /dev/sdb --key-file=/root/§
dmsetup create x --table "0 1 crypt aes-xts-plain64 § 0 /dev/sdb 0" ¦ zfs load-key -L file:///§ pool
vault kv put secret/db value=§ ¦ vault write auth/approle/login role_id=x secret_id=§
aws configure set aws_secret_access_key § ¦ az login --service-principal -u x -p § --tenant y
gcloud auth activate-service-account --key-file=/§ ¦ oci session authenticate --token §
kubectl create secret generic x --from-literal=a=§ ¦ kubeadm join h:6443 --token §
docker run -e DB=§ img ¦ docker login -u u -p § h ¦ podman run --secret x,env=§ img
helm install x y --set db.pw=§ ¦ ansible-playbook x.yml -e db=§ ¦ puppet agent --server h --token §
chef-client -z --secret § ¦ salt '*' cmd.run 'echo §' ¦ snmpset -v2c -c § h x i 1
snmpget -v3 -u u -A § -X x h y ¦ snmptrap -v 2c -c § h '' x ¦ logger -n h -T --msgid §
zabbix_sender -z h --tls-psk-file /§ -k x -o 1 ¦ nsca -H h -c /§ ¦ send_nsca -H h -p § -c /x
check_oracle --connect=scott/§@db ¦ nrpe -c x -a § ¦ mutt -s x -e 'set smtp_pass=§' a@example.com
swaks --to a@example.com -ap § ¦ sendemail -xu u -xp § -t a@example.com
msmtp --passwordeval='echo §' a@example.com ¦ kinit u < /root/§ ¦ echo '§' | kinit u
ktutil -k x add -p u -w § ¦ ldapsearch -D cn=a -w § -b x ¦ ldapmodify -x -D cn=a -w§ -f x
adcli join -U u --stdin-password <<< '§' ¦ realm join -U u h <<< '§' ¦ net ads join -U u%§
wpa_cli set_network 0 psk '"§"' ¦ iw dev wlan0 connect x key 0:§ ¦ hostapd_cli set wpa_passphrase §
openvpn --auth-user-pass /§ ¦ openconnect h --passwd-on-stdin <<< § ¦ strongswan load-creds --pin §
stunnel -fd 0 <<< 'PSK=§' ¦ openssl enc -k § -in x ¦ openssl pkcs12 -passin pass:§ -in x
openssl s_client -psk § h:1 ¦ gpg --batch --passphrase § -d x ¦ gpg --passphrase-fd 3 3<<< §
age -d -i <(echo AGE-SECRET-KEY-1§) x ¦ zip -P § x y ¦ 7z x -p§ y ¦ unrar x -p§ y
pdftk x input_pw § output y ¦ keytool -storepass § -list
java -Djavax.net.ssl.keyStorePassword=§ -jar x ¦ java -jar x --spring.datasource.p=§
mysql -u u -p§ -e x ¦ mysqldump --defaults-file=<(echo "[client]\npassword=§") x
mysqladmin -u root password § ¦ psql "host=h password=§" ¦ PGPASSWORD=§ psql -h h
sqlcmd -S h -U u -P § -Q x ¦ isql -U u -P § -S h ¦ bteq .logon h/u,§
db2 connect to x user u using § ¦ hdbsql -u u -p § x ¦ cqlsh -u u -p § h ¦ mongo -u u -p § h
influx -username u -password § -execute x ¦ clickhouse-client --password § -q x
rman target sys/§@db cmdfile=x ¦ dgmgrl sys/§@db "show configuration"
expdp \"sys/§@db as sysdba\" full=y ¦ orapwd file=x password=§
mkstore -wrl /x -createCredential db u § ¦ orapki wallet open -wallet /x -pwd §
emctl secure agent § ¦ emcli login -username=u -password=§
asmcmd --privilege sysasm pwcreate --dbuniquename x /y § ¦ crsctl query css votedisk -k §
srvctl modify x -e '§' ¦ tfactl sendmail § x ¦ perl -e 'login("u","§")'
python3 -c 'import x; x.login("u", "§")' ¦ expect -c 'spawn ssh h; send "§\r"' ¦ ruby -e 'puts "§"'
awk -v k=§ '{print k}' /x ¦ sed s/PW/§/ /x ¦ test "$1" = § && true ¦ [ "$TOKEN" = "§" ] || true
: "${PW:=§}" ¦ : ${PW:-§} ¦ trap 'unset PW; echo §' EXIT ¦ alias login='app -k §' ¦ read -r PW <<< §
exec 3<<<§ ¦ # password: § ¦ true # changed to § on Monday ¦ usermod -p '§' oracle
useradd -p § oracle ¦ chpasswd -e <<< 'oracle:§' ¦ htpasswd -b /x u § ¦ grub2-mkpasswd-pbkdf2 <<< §
at now <<< 'app §' ¦ systemd-creds encrypt - x <<< § ¦ systemd-run -p SetCredential=x:§ app
systemctl set-environment K=§ ¦ setpriv --reuid 1 app §
ssh -o ProxyCommand='nc -X 5 -P u:§ %h %p' h ¦ ssh u:§@h true
rsync --password-file=<(echo §) h::x /y ¦ scp -pw § h:/x /y ¦ plink -pw § h
xfreerdp /u:u /p:§ /v:h ¦ vncpasswd -f <<< § ¦ tailscale up --authkey §
cloudflared service install § ¦ crowdsec-cli bouncers add x -k §
fail2ban-client set x action y token § ¦ acme.sh --issue --dns x --eab-hmac-key §
certbot --eab-kid x --eab-hmac-key § ¦ nsupdate -y hmac-sha256:k:§
rndc -k <(echo 'key "k" { secret "§"; };') status ¦ dig -y k:§ @h x axfr
""")

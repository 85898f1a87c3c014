"""Formats in which people and programs write a secret, by family; each "§" stands for the secret.

A format is a file of its own, or a part of one. Sources: the manuals of the programs, Oracle
Database Utilities, Net Services Reference, Security Guide, GoldenGate Reference; snmpd.conf(5),
chrony.conf(5), ntp.keys(5), named.conf(5), ipsec.secrets(5), fetchmailrc(1), nvme(1).
"""


def formats(text: str) -> list[str]:
    """Those of a table: "¦" is between two of them, ↵, ⇥ and ␍ are the ends of a line and a tab."""
    signs = str.maketrans({"↵": "\n", "⇥": "\t", "␍": "\r"})
    return [each.translate(signs) for line in text.splitlines()[1:] for each in line.split(" ¦ ")]


#: Whole commands of a shell on one line: they are tried as a list of arguments too.
COMMANDS = {
    "Oracle: sqlplus": formats(r"""
sqlplus scott/§ ¦ sqlplus scott/§@db ¦ sqlplus ${USER}/§@db ¦ sqlplus $USER/§@db
sqlplus -s ${DB_USER}/§@${ORACLE_SID} ¦ sqlplus $(whoami)/§@db ¦ sqlplus app-user/§
sqlplus -S app-user/§@db @x.sql ¦ sqlplus app.user/§@db ¦ sqlplus app_user$1/§@//h:1521/s
sqlplus '"corp\scott"/§' ¦ sqlplus '"corp\scott"/§@db' @x ¦ sqlplus -L '"Mixed Case"/"§"@db'
sqlplus 'scott/§@db as sysdba' ¦ sqlplus 'sys/"§ x"@db' as sysdba ¦ sqlplus scott[app]/§@db
sqlplus 'scott["App"]/§@db' ¦ sqlplus -prelim sys/§ as sysdba ¦ sqlplus -s -m 'csv on' scott/§@x
sqlplus C##ADMIN/§@pdb ¦ sqlplus -LOGON scott/§@db
/u01/app/oracle/product/19/db/bin/sqlplus -s system/§ @y ¦ sqlplusw scott/§@db ¦ sqlcl scott/§@db
sql -name x scott/§@db ¦ sql -oci scott/§@db ¦ sqlplus scott@db/§
su - oracle -c 'sqlplus -s scott/§@db @x' ¦ sudo -u oracle sqlplus -s scott/§ @x
env ORACLE_SID=x sqlplus scott/§ ¦ echo scott/§ | sqlplus -s ¦ echo -n scott/§ | sqlplus -s /nolog
"""),
    "Oracle: Data Pump and loader": formats(r"""
expdp scott/§@db full=y ¦ expdp app-user/§@db full=y ¦ expdp userid=scott/§@db full=y
expdp USERID='scott/§@db' full=y ¦ expdp scott/x encryption_password=§ dumpfile=a
expdp scott/x ENCRYPTION_PWD_PROMPT=no ENCRYPTION_PASSWORD=§ ¦ impdp system/§ schemas=x
impdp userid=${U}/§ directory=x ¦ impdp userid=\"sys/§@db as sysdba\" ¦ exp scott/§ file=x
exp userid=app-user/§ file=x ¦ imp scott/§@db file=x ¦ imp USERID=scott/§@db FILE=x
sqlldr scott/§ control=x.ctl ¦ sqlldr userid=scott/§@db control=x.ctl
sqlldr control=x.ctl userid=app-user/§ ¦ sqlldr USERID=scott/§@//h/s CONTROL=x
dbv file=x userid=sys/§ ¦ tkprof a.trc a.txt explain=scott/§
tkprof a.trc a.txt explain=scott/§@db sys=no ¦ tkprof a.trc a.txt EXPLAIN=app-user/§ table=x.y
tkprof a.trc a.txt explain='scott/§' ¦ wrap_loader userid=scott/§
odisrvreg -h x -D cn=orcladmin -w § ¦ bulkload connect=x check=yes userid=ods/§
csscan system/§ full=y ¦ lcsscan userid=system/§ ¦ trcsess_x userid=scott/§
ojvm loadjava -user scott/§@db x.jar ¦ loadjava -thin -user scott/§@h:1521:db x.jar
dropjava -u scott/§ x.jar ¦ ojspc -user scott/§ x ¦ sqlj -user=scott/§ x.sqlj
proc iname=x sqlcheck=full userid=scott/§ ¦ pcscfg userid=scott/§@db ¦ ott userid=scott/§ intype=x
frmcmp module=x userid=scott/§@db ¦ rwrun report=x userid=scott/§@db ¦ hsalloci userid=scott/§
adpatch apps/§ ¦ FNDCPASS apps/§ 0 Y system/§ SYSTEM APPLSYS § ¦ CONCSUB apps/§ SYSADMIN x
adop phase=x apps_password=§
"""),
    "Oracle: RMAN, Data Guard, ASM, listener": formats(r"""
rman target sys/§@db ¦ rman target 'sys/§@db as sysbackup' ¦ rman target app-user/§ nocatalog
rman target / catalog rco/§@cat ¦ rman target=sys/§ catalog=rco/§@cat
rman TARGET / AUXILIARY sys/§@aux ¦ rman TARGET ${U}/§@db LOG x.log ¦ dgmgrl sys/§@db
dgmgrl -silent sys/§@db 'show configuration' ¦ dgmgrl sysdg/§@db ¦ nid target=sys/§ dbname=x
orapwd file=x password=§ entries=5 ¦ orapwd FILE=x PASSWORD=§ format=12
orapwd file=x sys=password sysbackup=password password=§
oradim -new -sid x -syspwd § -startmode auto ¦ oradim -NEW -SID x -INTPWD §
asmcmd --privilege sysasm pwcreate --asm +DATA/orapwasm §
asmcmd pwcreate --dbuniquename x +DATA/X/orapwx §
asmca -silent -sysAsmPassword § -asmsnmpPassword § ¦ dbca -silent -sysPassword § -systemPassword §
dbca -silent -dbsnmpPassword § ¦ dbca -createDatabase -sysPassword=§
dbua -silent -sysDBAPassword § ¦ lsnrctl stop listener -password §
emctl secure oms -reg_pwd § -sysman_pwd § ¦ emctl config agent addtarget -pwd §
emctl secure agent § ¦ emctl status agent -sysman_pwd=§ ¦ emcli login -username=sysman -password=§
emcli create_named_credential -attributes='DBUserName:x;DBPassword:§'
mkstore -wrl x -createCredential db scott § ¦ mkstore -wrl x -modifyCredential db scott §
mkstore -wrl x -createEntry oracle.security.client.password1 §
mkstore -wrl x -createUserCredential map key user §
orapki wallet create -wallet x -pwd § -auto_login
orapki wallet add -wallet x -dn cn=x -keysize 2048 -pwd §
orapki wallet change_pwd -wallet x -oldpwd § -newpwd §
orapki wallet import_pkcs12 -pkcs12file x -pkcs12pwd §
orapki secretstore create_credential -connect_string x -username u -password §
okvutil upload -t wallet -p § ¦ opatch apply -ocmrf x -password §
runInstaller -silent oracle.install.db.config.starterdb.password.ALL=§
java weblogic.Admin -url t3://h -username weblogic -password § PING
java weblogic.Deployer -adminurl x -user weblogic -password § -list
ldapbind -h x -D cn=orcladmin -w § ¦ oidctl connect=x server=y -w § ¦ sqlplus -s /nolog @x pw=§
srvctl setenv database -db x -env DB_PASSWORD=§ ¦ ggsci --password § ¦ adminclient -u ogg -p §
xdbconfig -password § ¦ crsctl query dns -password § ¦ cluvfy comp x -method root -passwd §
"""),
    "options of other databases": formats(r"""
mysql -u root -p§ db ¦ mysql -uroot -p§ ¦ mysql --user=root --password=§
mysqldump --user root --password § x ¦ mysqladmin -p§ password § ¦ mysqladmin -u root password §
mariadb -p§ ¦ mysqlsh root:§@localhost ¦ mysqlsh --uri root:§@localhost:3306
mariabackup --password=§ ¦ xtrabackup --password=§ --backup ¦ psql postgresql://scott:§@h/db
psql 'host=h user=u password=§' ¦ PGPASSWORD=§ psql -h h ¦ env PGPASSWORD=§ pg_dump x
pgbouncer auth_password=§ ¦ mongo -u a -p § --host h ¦ mongosh --password § h ¦ mongodump -u a -p§
mongosh 'mongodb://a:§@h/db' ¦ redis-cli -a § ping ¦ redis-cli --pass § ping
redis-cli -u redis://u:§@h ¦ redis-server --requirepass § ¦ isql -v dsn scott § ¦ isql -U sa -P §
tsql -U sa -P § -S h ¦ sqlcmd -S h -U sa -P § -Q x ¦ sqlcmd -U sa -P§ ¦ bcp x out y -U sa -P §
db2 connect to x user db2inst1 using § ¦ db2 'connect to x user db2inst1 using §'
db2look -d x -i u -w § ¦ cqlsh -u cassandra -p § ¦ influx -username a -password §
clickhouse-client --user a --password § ¦ couchbase-cli bucket-list -c h -u a -p §
cbbackupmgr config -u a -p § ¦ nzsql -u a -pw § ¦ vsql -U dbadmin -w § ¦ snowsql -u a --pwd §
bteq .logon h/u,§ ¦ hdbsql -u SYSTEM -p § ¦ hdbuserstore SET k h u § ¦ dbisql -c UID=a;PWD=§
etcdctl --user root:§ get x ¦ vault login -method=userpass username=a password=§ ¦ vault login §
consul kv get -token=§ x ¦ fisql -U sa -P§ -S x ¦ nvme connect -t tcp -S §
qlogin -cs cs1 -p § -u admin
"""),
    "options of network clients": formats(r"""
curl -u scott:§ https://h/ ¦ curl -uscott:§ https://h/ ¦ curl -k -sSu scott:§ https://h/
curl --user scott:§ https://h/ ¦ curl --user=scott:§ https://h/ ¦ curl -U proxy:§ h
curl --proxy-user proxy:§ h ¦ curl --basic-auth scott:§ h ¦ http --auth scott:§ h
http -a scott:§ h ¦ https -A basic -a scott:§ h ¦ ab -A scott:§ http://h/ ¦ ab -P proxy:§ http://h/
siege --header='Authorization: Basic §' h ¦ wrk -H 'Authorization: Bearer §' h ¦ wget --password=§ h
wget --password § h ¦ wget --user=a --http-passwd=§ h ¦ wget --ftp-password=§ h
wget --proxy-passwd § h ¦ aria2c --http-user=a --http-passwd=§ h ¦ lftp -u scott,§ h
lftp -e x -u scott,§ sftp://h ¦ ncftpget -u scott -p § h ¦ ftp ftp://scott:§@h/x
curl --oauth2-bearer § h ¦ curl --pass § --cert x h ¦ curl --cert x.pem:§ h ¦ curl -E x.pem:§ h
curl --key-passwd § h ¦ curl --proxy-pass § h ¦ curl --tlspassword § h ¦ curl -b session=§ h
curl --cookie session=§ h ¦ curl -H 'Authorization: Bearer §' h ¦ curl -H 'Authorization: Basic §' h
curl -H 'X-Auth-Token: §' h ¦ curl --header 'X-Api-Key: §' h ¦ curl -d password=§ h
curl -d 'user=a&password=§' h ¦ curl -F password=§ h ¦ curl 'https://h/?access_token=§'
curl 'https://h/x?sig=§&se=2030' ¦ curl --aws-sigv4 x --user AKIDX:§ h
prometheus --basic-auth=scott:§ ¦ exporter --basic-auth scott:§ ¦ exporter --web.basic-auth=scott:§
svc --auth-basic scott:§ ¦ grafana-cli admin reset-admin-password § ¦ sshpass -p § ssh h
sshpass -p§ ssh h ¦ sshpass -v -p § ssh h ¦ plink -pw § h ¦ pscp -pw § a h:b ¦ ssh -o Password=§ h
xfreerdp /u:a /p:§ /v:h ¦ rdesktop -u a -p § h ¦ vncviewer -passwd § h
x11vnc -passwd § -display :0 ¦ smbclient //h/s -U scott%§ ¦ smbclient //h/s -U 'dom\scott%§'
smbclient //h/s § -U scott ¦ smbclient -U scott --password=§ //h/s ¦ smbget -U scott%§ smb://h/s
net ads join -U admin%§ ¦ net rpc info -Uadmin%§ ¦ rpcclient -U a%§ h ¦ winbindd_x --user=a%§
wmic -U a%§ //h x ¦ mount -t cifs -o username=a,password=§ //h/s /m
mount.cifs //h/s /m -o user=a,pass=§ ¦ mount -t davfs -o username=a,password=§ https://h /m
mount -t ceph h:/ /m -o name=admin,secret=§ ¦ mount -t cifs -o user=a%§ //h/s /m
ldapsearch -x -D cn=a -w § -b x ¦ ldapsearch -x -D cn=a -w§ -b x ¦ ldapmodify -xw § -D cn=a
ldappasswd -a § -s § u ¦ ldapwhoami -w § ¦ dsconf -w § inst x ¦ dsconf -D cn=x -w § inst x
ipa-client-install -p admin -w § --unattended
ipa-server-install --admin-password=§ --ds-password § ¦ ipa-server-install -a § -p §
kinit -k x --password § ¦ kadmin -p admin -w § -q x ¦ kadmin.local -q 'addprinc -pw § u'
kadmin -q 'cpw -pw § u' ¦ realm join --user=a --one-time-password=§ d
adcli join --one-time-password=§ d ¦ adcli join --stdin-password=§
msktutil --old-account-password § ¦ subscription-manager register --username=a --password=§
subscription-manager register --org=a --activationkey=§ ¦ rhnreg_ks --activationkey=§
rhnreg_ks --username a --password § ¦ swupdate --proxy http://a:§@p
dnf --setopt=proxy_password=§ update ¦ yum-config-manager --save --setopt=x.password=§
docker login -u a -p § h ¦ podman login --username a --password § h
skopeo copy --src-creds a:§ x y ¦ skopeo copy --dest-creds=a:§ x y
skopeo inspect --creds a:§ docker://x ¦ crane auth login h -u a -p §
helm registry login -u a -p § h ¦ helm repo add x y --username a --password §
kubectl --token=§ get x ¦ kubectl --token § get x ¦ kubectl config set-credentials a --password=§
kubectl create secret generic x --from-literal=password=§
kubectl create secret generic x --from-literal=k=§ ¦ kubeadm join h --token § ¦ oc login -u a -p § h
oc login --token=§ ¦ az login -u a -p § ¦ az login --service-principal -u a -p § -t x
az storage x --account-key § ¦ az storage x --sas-token §
aws configure set aws_secret_access_key § ¦ gcloud x --access-token=§ ¦ gh auth login --token §
git clone https://a:§@h/x ¦ svn co --username a --password § x ¦ hg clone https://a:§@h/x
cvs -d :pserver:a:§@h:/x co y ¦ rclone config create x y pass §
restic -r rest:https://a:§@h/ backup ¦ borg x --passphrase § ¦ duplicity x ftp://a:§@h/x
rsync rsync://a:§@h/x y ¦ nsrlogin -u a -p § ¦ nsradmin -p § -u a ¦ dsmc set password § §
dsmadmc -id=admin -password=§ ¦ dsmadmc -id=admin -pa=§ ¦ bpnbat -login x § y
fetchmail -p pop3 --password § ¦ mailx -S smtp-auth-password=§ a
swaks --auth-user a --auth-password § -t x ¦ swaks -ap § -t x ¦ sendemail -xu a -xp § -t x
msmtp --password § ¦ mutt -e 'set imap_pass=§' ¦ ansible all -e ansible_password=§ -m ping
ansible all -e 'ansible_become_pass=§' ¦ ansible-playbook x -e '{"ansible_ssh_pass": "§"}'
ansible-playbook x --extra-vars 'db_password=§' ¦ knife x -P § ¦ puppet x --password §
salt-api -u a -p § x ¦ zabbix_x --psk-identity a --psk § ¦ zabbix_agentd --tls-psk=§
nrpe_x --password § ¦ check_mysql -u a -p § -H h ¦ check_oracle --login h a §
check_ldap -H h -D cn=a -P § -b x ¦ check_http -a a:§ -H h ¦ check_http --authorization=a:§ -H h
check_snmp -H h -C § -o x ¦ check_nt -H h -s § -v x ¦ nsclient_x --password=§
asadmin --user a --password § x
asadmin create-jdbc-connection-pool --property user=a:password=§:url=x y
jboss-cli.sh --user=a --password=§ -c x ¦ jboss-cli.sh -c -u=a -p=§ ¦ add-user.sh -u a -p §
add-user.sh admin § ¦ add-user.sh -a -u a -p § -g g
elytron-tool.sh mask --salt x --iteration 1 --secret §
elytron-tool.sh credential-store --add a --secret § --password §
catalina_x -Djavax.net.ssl.keyStorePassword=§ ¦ rabbitmqctl add_user a §
rabbitmqctl change_password a § ¦ rabbitmqadmin -u a -p § list
kafka-configs --add-config 'SCRAM-SHA-256=[password=§]' x
artemis user add --user-command-user a --user-command-password §
artemis producer --user a --password § ¦ backup-tool -u 'scott:§ x' h
"""),
    "keys, archives, disks": formats(r"""
openssl rsa -passin pass:§ -in x ¦ openssl rsa -passin 'pass:§' -in x
openssl req -passout pass:§ -new ¦ openssl enc -aes-256-cbc -k § -in x
openssl enc -aes-256-cbc -K § -iv § -in x ¦ openssl enc -pass pass:§ -d
openssl pkcs12 -export -password pass:§ ¦ openssl pkcs12 -nodes -passin=pass:§ ¦ openssl passwd -6 §
openssl passwd -1 -salt x § ¦ openssl dgst -hmac § x ¦ openssl dgst -sha256 -hmac=§ x
openssl dgst -mac HMAC -macopt hexkey:§ x ¦ openssl s_client -psk § -connect h
openssl cms -decrypt -pwri_password § -in x ¦ keytool -list -storepass § -keystore x
keytool -genkey -keypass § -storepass § ¦ keytool -importkeystore -srcstorepass § -deststorepass §
keytool -storepasswd -new § -storepass § ¦ keytool -list -storepass:§ ¦ keytool -storepass=§
jarsigner -storepass § x a ¦ certutil -K -d x -W § ¦ pk12util -o x -n y -W § -K § ¦ pk12util -W §
gpg --passphrase § -d x ¦ gpg --batch --passphrase=§ -c x ¦ gpg2 --passphrase § x
ssh-keygen -N § -f x ¦ ssh-keygen -t rsa -N '§' -f x ¦ ssh-keygen -p -P § -N § -f x
ssh-keygen -y -P § -f x ¦ zip -P § x y ¦ zip -e --password § x y ¦ unzip -P § x ¦ unzip -P§ x
7z x -p§ y ¦ 7za a -p§ -mhe x y ¦ rar a -hp§ x y ¦ rar x -p§ y ¦ unrar x -p§ y
qpdf --password=§ --decrypt x y ¦ qpdf --encrypt § § 256 -- x y ¦ pdftk x user_pw § output y
htpasswd -b f a § ¦ htpasswd -bc f a § ¦ htpasswd -nb a § ¦ htpasswd -nbB a § ¦ useradd -p § a
usermod -p § a ¦ usermod --password § a ¦ groupmod -p § a ¦ chpasswd_x --password §
mkpasswd § -m sha-512 ¦ mkpasswd -m sha-512 § ¦ grub-mkpasswd-pbkdf2 --password=§
iscsiadm -m node -T x -o update -n node.session.auth.password -v §
iscsiadm -m node -T x -o update --name node.session.auth.password --value §
iscsiadm -m node -o update -n node.session.auth.password_in -v §
iscsiadm -m discoverydb -o update -n discovery.sendtargets.auth.password -v §
targetcli /iscsi/x/tpg1/acls/y set auth userid=a password=§
targetcli /iscsi/x/tpg1 set auth mutual_password=§
tgtadm --lld iscsi --op new --mode account --user a --password §
nvme connect -t tcp -n x --dhchap-secret=§ ¦ nvme connect -t tcp -n x --dhchap-secret DHHC-1:00:§:
nvme connect -t tcp -n x -S DHHC-1:00:§: ¦ nvme connect -t tcp -n x --dhchap-ctrl-secret §
nvme connect -t tcp -n x -C DHHC-1:00:§: ¦ nvme gen-dhchap-key --secret=§
nvme connect-all --dhchap-secret § ¦ nvme connect --tls_key=NVMeTLSkey-1:01:§:
nvme check-tls-key -d NVMeTLSkey-1:01:§: ¦ cryptsetup luksOpen x y --passphrase §
systemd-cryptenroll --password=§ x ¦ ipmitool -I lanplus -H h -U a -P § power status
ipmitool -P§ power ¦ ipmitool -H h -U a -k § x ¦ ipmitool -H h -U a -y § x
ipmitool user set password 2 § ¦ ipmitool user set password 2 § 20 ¦ ipmitool user test 2 20 §
ipmi-power -h h -u a -p § --stat ¦ ipmiutil power -N h -U a -P §
bmc-config --commit --key-pair=User2:Password=§ ¦ racadm -r h -u a -p § getsysinfo
racadm set iDRAC.Users.2.Password § ¦ racadm config -g cfgUserAdmin -o cfgUserAdminPassword -i 2 §
hponcfg_x -u a -p § ¦ ilorest login h -u a -p § ¦ fence_ipmilan -a h -l a -p § -o status
fence_ipmilan --ip=h --username=a --password=§
pcs stonith create x fence_ipmilan ip=h login=a passwd=§
pcs stonith create x fence_ipmilan ip=h username=a password=§ lanplus=1
pcs cluster auth h -u hacluster -p § ¦ pcs host auth h -u hacluster -p §
crm configure primitive x stonith:y params passwd=§ ¦ multipath_x --password §
sanlun_x --password § ¦ symcfg_x -password § ¦ naviseccli -h h -user a -password § -scope 0 getall
uemcli -d h -u a -p § /x show ¦ ssh-copy_x --pass § ¦ purecli --api-token §
esxcli -s h -u a -p § x ¦ govc_x -u a:§@h ¦ vmware-cmd -H h -U a -P § -l
"""),
    "SNMP: commands": formats(r"""
snmpwalk -v2c -c § h .1 ¦ snmpget -v 2c -c § h .1 ¦ snmpget -v1 -c§ h .1
snmpwalk -v3 -u a -l authPriv -a SHA -A § -x AES -X § h ¦ snmpget -v3 -u a -A§ -X§ h
snmpwalk -v3 -u a -3m 0x§ h ¦ snmpwalk -v3 -u a -3M 0x§ h ¦ snmpwalk -v3 -u a -3k 0x§ h
snmpwalk -v3 -u a -3K 0x§ h ¦ snmptrap -v 2c -c § h '' x ¦ snmptrap -v1 -c § h x
snmpinform -v3 -u a -A § -X § h ¦ snmpset -v2c -c § h x i 1 ¦ snmpbulkwalk -v2c -Cn0 -c § h
snmptable -v2c -c § h x ¦ snmpusm -v3 -u a -A § h passwd § §
snmpusm -v3 -u a -l authNoPriv -a MD5 -A x h passwd § § ¦ net-snmp-create-v3-user -ro -A § -X § a
net-snmp-create-v3-user -a § -x § a ¦ net-snmp-config --create-snmpv3-user -ro -A § -X § a
net-snmp-config --create-snmpv3-user -a § -x DES -X § a ¦ encode_keychange -t md5 -O § -N §
snmpd_x --rocommunity § ¦ snmptt --community=§ ¦ fping_x --community § ¦ mrtg-cfgmaker §@h
cfgmaker --community=§ h ¦ onesixtyone -c § h
"""),
}
#: Lines of scripts and of settings, and whole files.
TEXTS = {
    "Oracle: a logon without a command in front": formats(r"""
app-user/§@orcl ¦   app-user/§@orcl as sysdba ¦ scott/§@//h:1521/s ¦ scott/§@10.0.0.5:1521/s
scott/§@db:1521/orcl.example.com ¦ scott/§@(DESCRIPTION=(ADDRESS=(HOST=x))) ¦ 'scott/§@db'
run "scott/§@db"; ¦ "corp\scott"/§@db ¦ ${U}/§@$SID ¦ $U/§@${ORACLE_SID} ¦ scott[app]/§@db
C##ADM/§@pdb ¦ scott/"§ x"@db ¦ 5 1 * * * oracle /opt/run.sh app-user/§@orcl >/dev/null
/opt/x -c app-user/§@orcl.world ¦ scott/§@db|cat ¦ A=$(f scott/§@db) ¦ # scott/§@db ¦ scott/x&§@db
scott/x'§@db ¦ scott/x:§@db ¦ scott/§@db, next ¦ [scott/§@db] ¦ {scott/§@db} ¦ <a>scott/§@db</a>
L=$(whoami)/§@db ¦ cx_Oracle.connect("scott/§")
"""),
    "SQL": formats(r"""
CONNECT scott/§@db ¦ connect app-user/§ ¦ conn ${U}/§@db ¦ conn &user/§@db ¦ conn &&user/§@db
conn "corp\scott"/§ ¦ connect "corp\scott"/"§"@db ¦ CONNECT sys/§ AS SYSDBA
conn sys/§@//h:1521/s as sysdba ¦ connect target sys/§@db; ¦ connect catalog rco/§@cat;
connect auxiliary sys/§@aux; ¦ CONNECT TARGET 'sys/§@db as sysbackup'; ¦ CONNECT TARGET "sys/§@db"
CONNECT scott IDENTIFIED BY §; ¦ EXEC SQL CONNECT scott IDENTIFIED BY §;
EXEC SQL CONNECT "scott/§@db"; ¦ CREATE USER a IDENTIFIED BY § DEFAULT TABLESPACE x;
create user a identified by "§" account unlock; ¦ ALTER USER a IDENTIFIED BY § REPLACE §;
alter user a identified by↵  §; ¦ alter user a identified↵by §;
alter user a identified by values 'S:§;T:§'; ¦ ALTER USER a IDENTIFIED BY VALUES '§';
GRANT CONNECT TO a IDENTIFIED BY §; ¦ grant dba to a, b identified by §, §;
CREATE ROLE r IDENTIFIED BY §; ¦ SET ROLE r IDENTIFIED BY §;
set role a identified by §, b identified by §;
CREATE DATABASE LINK l CONNECT TO a IDENTIFIED BY § USING 'x';
create database link l connect to a identified by values ':1' using 'x' -- identified by §
CREATE SHARED DATABASE LINK l AUTHENTICATED BY a IDENTIFIED BY §;
ALTER SYSTEM SET ENCRYPTION WALLET OPEN IDENTIFIED BY §;
ALTER SYSTEM SET ENCRYPTION WALLET OPEN IDENTIFIED BY "§";
ALTER SYSTEM SET WALLET OPEN AUTHENTICATED BY §;
ALTER SYSTEM SET ENCRYPTION KEY IDENTIFIED BY "§";
ADMINISTER KEY MANAGEMENT SET KEYSTORE OPEN IDENTIFIED BY "§";
ADMINISTER KEY MANAGEMENT SET KEYSTORE OPEN FORCE KEYSTORE IDENTIFIED BY § CONTAINER=ALL;
ADMINISTER KEY MANAGEMENT ADD SECRET '§' FOR CLIENT 'x' IDENTIFIED BY §;
administer key management alter keystore password identified by § set § with backup;
ADMINISTER KEY MANAGEMENT EXPORT KEYS WITH SECRET § TO 'x' IDENTIFIED BY §;
ADMINISTER KEY MANAGEMENT CREATE KEYSTORE 'x' IDENTIFIED BY §;
create table t (c number encrypt using 'AES256' identified by §);
SET ENCRYPTION ON IDENTIFIED BY § ONLY; ¦ set encryption identified by "§" only;
SET DECRYPTION IDENTIFIED BY §, §;
CONFIGURE ENCRYPTION x; set decryption wallet open identified by §;
CREATE PLUGGABLE DATABASE p ADMIN USER a IDENTIFIED BY §;
create database x user sys identified by § user system identified by §
lsnrctl <<E↵set password §↵E ¦ LSNRCTL> set password § ¦ change_password § §
SET PASSWORD FOR 'a'@'h' = PASSWORD('§'); ¦ SET PASSWORD = '§';
CREATE USER 'a'@'h' IDENTIFIED BY '§'; ¦ ALTER USER a IDENTIFIED WITH mysql_native_password BY '§';
CREATE USER 'a' IDENTIFIED WITH x AS '§'; ¦ ALTER USER a WITH PASSWORD '§';
ALTER ROLE a WITH ENCRYPTED PASSWORD '§'; ¦ CREATE ROLE a LOGIN PASSWORD '§';
CREATE LOGIN a WITH PASSWORD = '§'; ¦ ALTER LOGIN a WITH PASSWORD = '§' OLD_PASSWORD = '§';
CREATE MASTER KEY ENCRYPTION BY PASSWORD = '§';
CHANGE MASTER TO MASTER_HOST='h', MASTER_USER='a', MASTER_PASSWORD='§';
CHANGE REPLICATION SOURCE TO SOURCE_PASSWORD='§';
SELECT * FROM dblink('host=h user=a password=§','x');
CREATE USER MAPPING FOR a SERVER s OPTIONS (user 'a', password '§');
copy from scott/§@a to sys/§@b create x using select 1; ¦ COPY FROM app-user/§@a INSERT x USING y
define pw=§↵conn scott/&pw ¦ DEFINE db_pw = '§' ¦ accept pw char default '§' hide
exec p('a') -- password: § ¦ rem password is § ¦ -- pw: §
UPDATE users SET password='§' WHERE id=1; ¦ update u set passwd = '§', x=1;
INSERT INTO u (name, password) VALUES ('a', '§'); ¦ insert into u(password) values('§');
create role r with password↵ '§' ¦ set encryption password §
"""),
    "PL/SQL calls": formats(r"""
CREATE_CREDENTIAL('X','a','§') ¦ DBMS_CLOUD.CREATE_CREDENTIAL('X', 'a', '§');
dbms_scheduler.create_credential('X','a','§');
DBMS_CREDENTIAL.CREATE_CREDENTIAL(↵  'X',↵  'a',↵  '§');
DBMS_CLOUD.CREATE_CREDENTIAL(credential_name => 'X', username => 'a', password => '§');
dbms_cloud.create_credential(credential_name=>'X',username=>'a',password=>'§');
DBMS_CLOUD.UPDATE_CREDENTIAL('X','PASSWORD','§');
DBMS_CLOUD.CREATE_CREDENTIAL(credential_name => 'X', user_ocid => 'a', private_key => '§');
UTL_HTTP.SET_AUTHENTICATION(r, 'a', '§');
utl_http.set_authentication(r=>req, username=>'a', password=>'§', scheme=>'Basic');
UTL_HTTP.SET_WALLET('file:/u01/wallet', '§'); ¦ UTL_HTTP.SET_HEADER(r, 'Authorization', 'Bearer §');
UTL_SMTP.AUTH(c, 'a', '§', 'PLAIN'); ¦ DBMS_LDAP.SIMPLE_BIND_S(s, 'cn=a', '§');
dbms_ldap.open_ssl(s, 'file:/w', '§', 2);
APEX_UTIL.CREATE_USER(p_user_name => 'a', p_web_password => '§'); ¦ APEX_MAIL.x(p_password => '§');
DBMS_ISCHED.x(password => '§'); ¦ DBMS_NETWORK_ACL_ADMIN.x(wallet_password => '§');
dbms_crypto.encrypt(src, typ, key => '§'); ¦ ords.enable_x(p_secret => '§');
dbms_hs_x.create_link('l', 'a', password=>'§'); ¦ EXECUTE IMMEDIATE 'alter user a identified by §';
execute immediate 'alter user a identified by "§"'; ¦ dbms_java.set_x('java.password','§');
owa_util_x.set_password('§');
""")
    + [
        (
            "DBMS_CREDENTIAL.UPDATE_CREDENTIAL(credential_name => 'X', attribute => 'PASSWORD', "
            "value => '§');"
        )
    ],
    "GoldenGate": formats(r"""
USERID ogg, PASSWORD § ¦ USERID ogg@db, PASSWORD §, ENCRYPTKEY DEFAULT
USERID ogg@db, &↵PASSWORD §, ENCRYPTKEY DEFAULT ¦ USERID ogg@db, &↵  PASSWORD § AES128 ENCRYPTKEY k
USERID ogg, PASSWORD § AES128, ENCRYPTKEY k ¦ USERID ogg, PASSWORD § BLOWFISH ENCRYPTKEY DEFAULT
userid ogg password § ¦ USERID ogg/§@db ¦ USERID app-user/§ ¦ DBLOGIN USERID ogg, PASSWORD §
DBLOGIN USERID ogg@db PASSWORD § ¦ DBLOGIN USERID ogg/§ ¦ dblogin sourcedb x, userid ogg, password §
DBLOGIN USERID ogg@db, PASSWORD § ENCRYPTKEY DEFAULT ¦ MININGDBLOGIN USERID ogg, PASSWORD §
TRANLOGOPTIONS ASMUSER sys@asm, ASMPASSWORD §
TRANLOGOPTIONS ASMUSER sys@asm ASMPASSWORD §, ENCRYPTKEY x
TRANLOGOPTIONS MININGUSER u, MININGPASSWORD § ¦ SOURCEDB x, USERID ogg, PASSWORD §
TARGETDB x USERID ogg PASSWORD § ¦ ALTER CREDENTIALSTORE ADD USER ogg PASSWORD § ALIAS a
ALTER CREDENTIALSTORE REPLACE USER ogg@db, PASSWORD §, ALIAS a
ADD CREDENTIAL x USER ogg PASSWORD § ¦ ENCRYPT PASSWORD § AES256 ENCRYPTKEY DEFAULT
encrypt password § ¦ ENCRYPT PASSWORD § BLOWFISH ¦ DECRYPTTRAIL AES128, PASSWORD §
RMTHOST h, MGRPORT 7809, ENCRYPT AES256, KEYNAME k, PASSWORD § ¦ -- USERID ogg, PASSWORD §
connect http://h:1 deployment x as oggadmin password § ¦ CONNECT https://h as oggadmin PASSWORD § !
ADD USER a PASSWORD §
"""),
    "SNMP: configuration": formats(r"""
rocommunity § ¦ rocommunity § 192.0.2.0/24 .1.3 ¦ rwcommunity § localhost ¦ rocommunity6 § ::1
com2sec local default § ¦ com2sec -Cn ctx local 192.0.2.0/24 § ¦ com2sec6 local ::1 §
com2secunix local § ¦ trapsink h § ¦ trapsink h:162 § ¦ trapsink h § 162 ¦ trapsink 192.0.2.1 §
trap2sink h § ¦ trap2sink udp:h:162 § ¦ informsink h § ¦ informsink h § 162 ¦ INFORMSINK h §
trapsess -v 2c -c § h ¦ trapsess -v 3 -u a -A § -X § h ¦ trapcommunity §
authtrapenable 1↵trapcommunity § ¦ authcommunity log,execute § ¦ createUser a SHA § AES §
createUser a MD5 § ¦ createUser -e 0x8000 a SHA § AES ¦ createUser a SHA "§ x" AES "§ y"
createUser a SHA -m 0x§ AES -m 0x§ ¦ createUser a SHA -l 0x§ AES
usmUser 1 3 0x80 0x61 0x61 NULL .1 0x§ .1 0x§ 0x ¦ proxy -v 2c -c § h .1.3
proxy -v 1 -c § 192.0.2.1:161 .1.3 ¦ proxy -Cn ctx -v 2c -c § h .1.3
proxy -v 3 -u a -A § -X § h .1 ¦ proxy -c§ -v1 h .1 ¦ defCommunity § ¦ defcommunity §
defPassphrase § ¦ defAuthPassphrase § ¦ defPrivPassphrase § ¦ defAuthMasterKey 0x§
defPrivLocalizedKey 0x§ ¦ defAuthLocalizedKey 0x§ ¦ agentxsocket x↵rocommunity § ¦   rocommunity §
#rocommunity § ¦ # rwcommunity § 10.0.0.0/8 ¦ monitor -u a -r 60 -c § x
createUser a SHA-256 § AES-256 §␍↵ ¦ [snmp] community = § ¦ community: § ¦ community "§"
snmp-server community § RO ¦ snmp-server host h version 2c §
snmp-server user a g v3 auth sha § priv aes 128 § ¦ set snmp community §
set snmp community § authorization read-only ¦ snmp_community=§ ¦ SNMPCOMMUNITY §
snmp { community § { authorization ro; } } ¦ sysctl.snmp.trap.community=§ ¦ v2c_community=§
rouser a↵createUser a SHA § ¦ authkey: §↵privkey: §
auth_protocol: sha↵auth_passphrase: §↵priv_passphrase: § ¦ auth-password § priv-password §
{"version": 3, "authKey": "§", "privKey": "§"}
""")
    + ["snmp-server host h traps § "],
    "time, names, tunnels": formats(r"""
1 MD5 § ¦ 1 SHA1 HEX:§ ¦ 10 AES128 HEX:§ ¦ 20 SHA256 ASCII:§ ¦ 1 M § ¦ 1 MD5 ASCII:§
5 SHA512 HEX:§ ¦ # chrony keys↵1 MD5 §↵2 SHA1 HEX:§ ¦ commandkey 1↵1 MD5 § ¦ 10 M §  # comment
12 A § ¦ 13 N § ¦ 14 SHA1 § 192.0.2.1 ¦ 15 AES128CMAC § ¦ crypto pw § ¦ keys x↵crypto pw §
setvar passwd=§ ¦ key "rndc-key" {↵  algorithm hmac-sha256;↵  secret "§";↵};
key rndc-key { algorithm hmac-md5; secret "§"; }; ¦ key k {↵ secret §;↵};
key update. {↵⇥algorithm HMAC-SHA256;↵⇥secret §==;↵} ¦ key hmac-sha256:name §
update.example. IN KEY 512 3 157 §== ¦ Key: §== ¦ PrivateKey: §== ¦ PrivateExponent: §==
Prime1: §==↵Prime2: §== ¦ nsupdate -y hmac-sha256:name:§ ¦ nsupdate -y name:§
dig -y hmac-sha256:name:§ @h x ¦ dig @h x axfr -y name:§ ¦ rndc -y x -k § ¦ host -y name:§
tsig-key: name:§ ¦ tsig { name: x; key: §; } ¦ control-key { secret: "§" } ¦ : PSK § ¦ : PSK "§"
192.0.2.1 192.0.2.2 : PSK "§" ¦ %any %any : PSK "§" ¦ @a.example @b.example : PSK 0s§==
h : PSK 0x§ ¦ alice : EAP "§" ¦ alice : XAUTH "§" ¦ bob@example.com : NTLM "§" ¦ : RSA key.pem "§"
: ECDSA key.pem "§" ¦ : PKCS12 x.p12 "§" ¦ : PIN %smartcard:50 "§" ¦ %smartcard1 : PIN §
: P12 x.p12 § ¦ secrets {↵  ike-1 {↵    id = x↵    secret = "§"↵  }↵} ¦ ike { secret = 0s§ }
psk { "§" } ¦ ikev2 x psk § ¦ ikev2 active esp from a to b psk "§" ¦ pre-shared-key §
pre-shared-key ascii-text § ¦ pre_shared_key § ¦ crypto isakmp key § address 192.0.2.1
PresharedKey = §= ¦ [Interface]↵PrivateKey = §=↵Address = 10.0.0.1/24 ¦ auth-user-pass §↵askpass §
psk=§ ¦ psk="§" ¦ network={↵  ssid="x"↵  psk="§"↵} ¦ network={↵ ssid="x"↵ #psk="§"↵ psk=§↵}
network={ wep_key0="§" } ¦ wep_key0=§ ¦ private_key_passwd="§" ¦ password=hash:§ ¦ sae_password=§
wpa-psk § ¦ wpa-password § ¦ wpa_passphrase=§ ¦ wpa_passphrase ssid § ¦ wpa_psk=§ ¦ wireless-key s:§
auth_server_shared_secret=§ ¦ own_ip_addr=h↵acct_server_shared_secret=§
client h {↵  secret = §↵  shortname = x↵} ¦ client 192.0.2.0/24 { secret = '§' }
authhost_x↵radius-server key § ¦ radius-server host h key 7 § ¦ radius_secret=§
tacacs-server key § ¦ secret=§ server=192.0.2.1 ¦ server=h secret=§ login=pap ¦ CHAP a * § *
a * § * ¦ "a" * "§" * ¦ ppp username a password § ¦ ip ospf message-digest-key 1 md5 §
ip ospf authentication-key § ¦ neighbor 192.0.2.1 password § ¦ key-string §
key chain x↵ key 1↵  key-string § ¦ auth_type PASS↵auth_pass §
authentication {↵  auth_type PASS↵  auth_pass §↵} ¦ standby 1 authentication §
username a secret 5 § ¦ enable secret § ¦ enable password 7 § ¦ password 7 § ¦ 10 HEX:§
keyfile: HEX:§
""")
    + [
        (
            "<tls-auth>\n-----BEGIN OpenVPN Static key V1-----\n§\n-----END OpenVPN Static key "
            "V1-----\n</tls-auth>"
        )
    ],
    "storage": formats(r"""
node.session.auth.password = § ¦ node.session.auth.password_in = §
discovery.sendtargets.auth.password = § ¦ discovery.sendtargets.auth.password_in=§
incominguser a § ¦ outgoinguser a § ¦ IncomingUser a § ¦ userid=a↵password=§↵mutual_password=§
"chap_password": "§" ¦ chap_password=§ ¦ dhchap_key=§ ¦ dhchap_key = DHHC-1:00:§:
"dhchap_key": "DHHC-1:00:§:" ¦ "dhchap_ctrl_key" : "§" ¦ dhchap-secret=DHHC-1:01:§:
dhchap_secret DHHC-1:01:§: ¦ dhchap_ctrl_secret=§ ¦ DHHC-1:00:§: ¦ dhchap-ctrl-secret = §
{"hostnqn": "x", "dhchap_key": "§", "subsystems": []} ¦ --transport=tcp --dhchap-secret=§
-t tcp -a h --dhchap-secret § -s 4420 ¦ NVMeTLSkey-1:01:§: ¦ tls_key=NVMeTLSkey-1:01:§:
rd.iscsi.password=§ ¦ rd.iscsi.in.password=§ ¦ netroot=iscsi:a:§@192.0.2.1::3260::iqn
netroot=iscsi:a:§:b:§@192.0.2.1::3260::iqn ¦ //h/s /m cifs username=a,password=§ 0 0
//h/s /m cifs user=a%§ 0 0 ¦ //h/s /m smb3 username=a,pass=§,domain=d 0 0
//h/s /m cifs rw,password2=§ 0 0 ¦ h:/ /m ceph name=a,secret=§ 0 0 ¦ https://a:§@h /m davfs rw 0 0
sshfs#a:§@h:/ /m fuse rw 0 0 ¦ curlftpfs#a:§@h /m fuse rw 0 0 ¦ a:§@h:/x /m fuse.sshfs rw 0 0
username=a↵password=§↵domain=d ¦ username = a↵password = § ¦ user=a↵pass=§ ¦ ACCESSKEYID:§
s3fs#b /m fuse passwd=§ ¦ AKIA0123456789ABCDEF:§ ¦ [client.admin]↵⇥key = §==
key = §==↵caps mon = x ¦ ceph auth get-key client.a # secret: § ¦ wwpn=1 chap-name=a chap-secret=§
InitiatorPassword: § ¦ bind_pass = § ¦ fencing: passwd=§
<device name="f" agent="fence_ipmilan" login="a" passwd="§"/>
<fencedevice agent="x" ipaddr="h" login="a" passwd="§" name="y"/>
"""),
    "mail and web": formats(r"""
poll h proto pop3 user a pass § ¦ poll h proto imap user "a" password "§" is b here
poll h with proto POP3↵  user 'a' there with password '§' is 'b' here
server h protocol imap username a password § ¦ defaults proto pop3 pass § ¦ user a pass §
user a password § ¦   user 'a', with password '§' ¦ user a there has password §
skip h username a pass '§' ¦ machine h login a password § ¦ machine h↵login a↵password §
default login a password § ¦ machine h login a account b password § ¦ machine h password § login a
[h]:587 a:§ ¦ [smtp.example.com]:587 a@example.com:§
relayhost_x smtp_sasl_password_maps=static:a:§ ¦ smtp_sasl_password_maps = static:a:§
AuthInfo:h "U:a" "I:a" "P:§" "M:PLAIN" ¦ AuthInfo:h "U:a" "P=§" ¦ AuthPass=§ ¦ AuthUser=a↵AuthPass=§
password § ¦ set smtp-auth-password=§ ¦ set imap_pass = '§' ¦ set smtp_pass="§"
set smtp_url='smtp://a:§@h:587/' ¦ *:*:db:scott:§ ¦ localhost:5432:db:scott:§
db01.example.com:5432:*:scott:§ ¦ h:5432:*:*:§ ¦ a:$apr1$x$§ ¦ a:{SHA}§= ¦ a:$2y$05$§
proxy=http://h↵proxy_username=a↵proxy_password=§ ¦ proxy_userpwd = a:§
export http_proxy=http://a:§@p:3128 ¦ https_proxy=a:§@p:3128 ¦ Acquire::http::Proxy "http://a:§@p";
[repo]↵baseurl=https://a:§@h/x ¦ username=a↵password=§↵baseurl=x
machine apt.example.com login a password §
<server><id>x</id><username>a</username><password>§</password></server>
//npm.example.com/:_authToken=§ ¦ _auth=§ ¦ _password=§ ¦ :_authToken = §
[pypi]↵username = a↵password = § ¦ index-url = https://a:§@h/x ¦ "auth": "§=="
{"auths":{"h":{"identitytoken":"§"}}} ¦ ServerAdmin x↵SSLPassPhraseDialog x↵SetEnv DB_PASSWORD §
ProxyPass / ajp://h secret=§ ¦ ProxyPass / ajp://h:8009/ secret=§ retry=0
<Connector port="8009" protocol="AJP/1.3" secret="§"/>
<Connector keystorePass="§" truststorePass="§"/> ¦ <Certificate certificateKeystorePassword="§"/>
<Resource name="x" username="a" password="§" url="jdbc:oracle:thin:@h"/>
<user username="a" password="§" roles="x"/> ¦ <Realm connectionName="cn=a" connectionPassword="§"/>
<Parameter name="pw" value="§"/>
<datasource><security><user-name>a</user-name><password>§</password></security></datasource>
<Set name="KeyStorePassword">§</Set>
auth_basic_user_file x; proxy_set_header Authorization "Basic §";
ssl_password_file x;↵set $api_key "§"; ¦ stats auth a:§ ¦   stats auth a:§
user a insecure-password § ¦ user a password $6$x$§
userlist x↵  user a insecure-password § groups g ¦ http-request set-header Authorization "Basic §"
cache_peer h parent 3128 0 login=a:§ ¦ cachemgr_passwd § all ¦ requirepass §
user default on >§ ~* +@all ¦ user a on #§ ~* ¦ masterauth § ¦ sentinel auth-pass m §
rpcpassword=§ ¦ [memcached]↵sasl_pwd=§ ¦ monit: set httpd port 2812 and allow a:§ ¦   allow a:"§"
set mailserver h username "a" password "§" ¦ allow @admin:§ ¦ x=$(wpa_passphrase 'home' '§1234')
swarm config auth.password -v §
"""),
    "logs, monitoring, directories": formats(r"""
destination d { sql(type(oracle) host("h") username("a") password("§")); }; ¦ password(§)
password("§") ¦ password( '§' ) ¦ http(url("https://h") user("a") password("§"));
tls(key-file("x") pkcs12-file("y") password("§"));
destination d { mongodb(uri('mongodb://a:§@h/x')); };
action(type="omelasticsearch" server="h" uid="a" pwd="§")
action(type="ommysql" server="h" db="x" uid="a" pwd="§") ¦ *.* :ommysql:h,db,user,§
*.* >h,db,user,§ ¦ $ActionOmmysqlServerPassword §
$DefaultNetstreamDriverKeyFile x↵*.* :ompgsql:h,db,user,§
action(type="omhttp" httpheaders=["Authorization: Bearer §"])
action(type="omamqp1" username="a" password="§") ¦ bindpw § ¦ bindpw: § ¦ rootbindpw § ¦ rootpw §
rootpw {SSHA}§ ¦ olcRootPW: {SSHA}§ ¦ olcRootPW:: §== ¦ userPassword: {SSHA}§ ¦ userPassword:: §==
userPassword:: §↵ §== ¦ unicodePwd:: §= ¦ sambaNTPassword: § ¦ krbPrincipalKey:: §
ldap_default_authtok = § ¦ ldap_default_authtok_type = password↵ldap_default_authtok = §
syncrepl rid=1 provider=ldap://h bindmethod=simple binddn="cn=a" credentials=§
syncrepl rid=1↵  credentials="§" ¦ idassert-bind bindmethod=simple credentials=§
acl-bind binddn=x credentials=§ ¦ nss_base_passwd x↵bindpw § ¦ uri ldap://h↵binddn cn=a↵bindpw §↵
dbuser=a↵DBPassword=§ ¦ DBPassword=§ ¦ TLSPSKIdentity=a↵TLSPSK=§
basic_auth:↵  username: a↵  password: § ¦   basic_auth: {username: a, password: §}
basic_auth = a:§ ¦ --basic-auth a:§ ¦ --web.auth.password=§ ¦ basic_auth_users:↵  a: §
basic_auth_users:↵    a: $2y$10$§↵    b: $2y$10$§ ¦ bearer_token: §
authorization:↵  type: Bearer↵  credentials: § ¦ oauth2:↵  client_id: a↵  client_secret: §
api_url: https://hooks.slack.com/services/T00000000/B00000000/§
slack_api_url: 'https://hooks.slack.com/services/T00/B00/§'
https://discord.com/api/webhooks/1234567890/§
https://outlook.office.com/webhook/x@y/IncomingWebhook/§/z ¦ service_key: § ¦ routing_key: §
opsgenie_api_key: § ¦ smtp_auth_password: § ¦ auth_password: '§' ¦ DATA_SOURCE_NAME=scott/§@//h/s
DATA_SOURCE_NAME=oracle://scott:§@h/s ¦ DATA_SOURCE_NAME='a:§@(h:3306)/'
DATA_SOURCE_NAME="postgresql://a:§@h/x" ¦ dsn: a:§@tcp(h:3306)/x ¦ license_key: § ¦ licenseKey=§
dd_api_key: § ¦ api_key = § ¦ splunk: pass4SymmKey = § ¦ sslPassword = § ¦ hec_token=§
output.elasticsearch:↵  username: a↵  password: § ¦ output.elasticsearch.api_key: id:§
xpack.security.encryptionKey: § ¦ elasticsearch.password: § ¦ shared_key §
<security>↵  self_hostname h↵  shared_key §↵</security>
<match x>↵  @type x↵  user a↵  password §↵</match>
sasl.jaas.config=x required username="a" password="§"; ¦ sasl_plain_password => "§"
ssl.key.password=§ ¦ collectd: Password "§" ¦   Password "§" ¦   Community "§"
<Host x>↵  Community "§"↵</Host> ¦   AuthPassphrase "§"↵  PrivacyPassphrase "§"
  SecurityLevel x↵  PrivacyPassphrase § ¦ define command { command_line check -p § }
  _SNMPCOMMUNITY  § ¦   _PASSWORD § ¦ $USER3$=§ ¦ vars.snmp_community = "§"
vars.http_password = "§" ¦ server_host x↵register_password § ¦ <authkey>§</authkey>
001 agent any § ¦ allow_ips = x↵password = § ¦ CookieAuth x↵secret § ¦ db01:5432 app@corp:§
"""),
    "shadow, boot, PAM": formats(r"""
root:$6$x$§:19000:0:99999:7::: ¦ oracle:$y$j9T$x$§:19000:0:99999:7:::
oracle:$5$rounds=5000$x$§:19000:::::: ¦ oracle:$1$x$§:19000:::::: ¦ oracle:$2b$12$§:19000::::::
root:$argon2id$v=19$m=65536,t=3,p=4$x$§:1::::: ¦ root:{SHA512}$x$§:1 ¦ password=$6$x$§
rootpw --iscrypted $6$x$§ ¦ rootpw --plaintext § ¦ user --name=a --password=§ --plaintext
user --name=a --iscrypted --password=$6$x$§ ¦ bootloader --location=mbr --password=§
bootloader --iscrypted --password=grub.pbkdf2.sha512.10000.x.§ ¦ part / --encrypted --passphrase=§
autopart --encrypted --passphrase=§ ¦ sshpw --username=root § --plaintext ¦ vnc --password=§
vnc --host=h --password § ¦ password_pbkdf2 root grub.pbkdf2.sha512.10000.x.§
password_pbkdf2 root § ¦ GRUB2_PASSWORD=grub.pbkdf2.sha512.10000.§
grub.pbkdf2.sha512.10000.0123ABCD.§ ¦ password --md5 $1$x$§ ¦ password --encrypted $6$§
password --encrypted § ¦ password root § ¦ set superusers="root"↵password root § ¦ hash: $6$x$§
passwd: $6$rounds=4096$x$§ ¦   hashed_passwd: $6$x$§ ¦ passwd: "$6$x$§"↵lock_passwd: false
chpasswd:↵  list: |↵    root:§↵    oracle:§
chpasswd:↵  users:↵    - {name: root, password: §, type: text} ¦ d-i passwd/root-password password §
d-i passwd/root-password-crypted password $6$x$§ ¦ d-i passwd/user-password-again password §
x x/mysql/admin-pass password § ¦ x  x/root_password  password  §
mysql-server mysql-server/root_password password § ¦ <user_password>§</user_password>
<AdministratorPassword><Value>§</Value></AdministratorPassword>
auth required pam_mysql.so user=a passwd=§ host=h ¦ auth required pam_pgsql.so password=§
auth required pam_radius_auth.so secret=§ ¦ auth sufficient pam_ldap.so bindpw=§
auth required pam_exec.so expose_authtok /x --password § ¦ security_pass_x password required § crypt
Defaults passprompt=x↵# sudo password: § ¦ rd.luks.x ansible_become_pass=§ ¦ init_password=§
ks=http://a:§@h/ks.cfg ¦ inst.vncpassword=§ ¦ inst.ks=https://a:§@h/x ¦ vncpasswd § x
"""),
    "scripts": formats(r"""
export DB_PASSWORD=§ ¦ export DB_PASSWORD='§' ¦ export DB_PASSWORD="§" ¦ DB_PASSWORD=$'§'
DBPASS=§; export DBPASS ¦ typeset -x DBPASS=§ ¦ declare -rx DB_PASS=§ ¦ readonly PASSWORD=§
local pw=§ ¦ set PASSWORD=§ ¦ setenv DB_PASSWORD § ¦ setx DB_PASSWORD § ¦ PASSWORD=${PASSWORD:-§}
PASSWORD=${1:-§} ¦ PASSWORD=$(echo § | base64 -d) ¦ PW=`echo § | base64 --decode`
pass=$(base64 -d <<< §) ¦ PASSWORD=$(echo '§' | openssl enc -d -base64)
echo § | base64 -d | passwd --stdin root ¦ echo § | passwd --stdin oracle
echo '§' | passwd oracle --stdin ¦ echo oracle:§ | chpasswd ¦ echo "oracle:§" | sudo chpasswd
echo -e '§\n§' | passwd oracle ¦ printf "%s\n" § § | passwd oracle ¦ printf '§\n' | sudo -S ls
printf '§' | cryptsetup luksOpen x y - ¦ echo -n § | cryptsetup luksFormat x - ¦ echo § | sudo -S x
echo § | su - oracle -c x ¦ echo § | kinit a ¦ echo -n § | kinit a@X ¦ kinit a <<< §
kinit a <<EOF↵§↵EOF ¦ echo § | gpg --passphrase-fd 0 x ¦ echo § | docker login -u a --password-stdin
echo § | smbpasswd -s -a x ¦ (echo §; echo §) | smbpasswd -s -a x
(echo '§'; echo '§') | passwd root ¦ yes § | passwd root ¦ echo § | openssl enc -pass stdin
echo § | ipa-x --stdin ¦ echo § | realm join -U a d ¦ echo § | adcli join -U a --stdin-password d
echo § | vncpasswd -f ¦ echo § | mkpasswd -s ¦ echo § | saslpasswd2 -p a ¦ echo § | lsnrctl
echo § | mkstore -wrl x -list ¦ echo § | orapki wallet display ¦ echo scott/§@db | sqlplus -s
echo 'connect scott/§' | sqlplus /nolog ¦ echo "conn app-user/§" | sqlplus /nolog
chpasswd <<< oracle:§ ¦ chpasswd <<EOF↵root:§↵oracle:§↵EOF ¦ cat <<EOF | chpasswd↵root:§↵EOF
passwd --stdin root <<< '§' ¦ passwd root <<EOF↵§↵§↵EOF ¦ su - x <<< § ¦ sudo -S x <<< §
sqlplus -s <<EOF↵scott/§@db↵EOF ¦ sqlplus -s /nolog <<EOF↵connect scott/§@db↵EOF
sqlplus -s <<EOF↵${U}/§↵EOF ¦ sqlplus -s <<-'EOF'↵⇥app-user/§@db↵EOF
rman <<EOF↵connect target sys/§↵EOF ¦ dgmgrl <<EOF↵connect sys/§@db↵EOF
ggsci <<EOF↵dblogin userid ogg, password §↵EOF ¦ lsnrctl <<EOF↵set password §↵EOF
ftp -n h <<EOF↵user a §↵EOF ¦ ftp -n <<EOF↵open h↵quote USER a↵quote PASS §↵EOF ¦ quote PASS §
lftp <<EOF↵open -u a,§ h↵EOF ¦ open -u a,§ h ¦ mysql <<EOF↵alter user a identified by '§';↵EOF
expect -c 'spawn ssh h; expect "assword:"; send "§\r"' ¦ expect "Password:"↵send "§\r"
expect "*?assword:*"↵send -- "§\r" ¦ expect "password"↵send "§\n"
expect {↵  "assword:" { send "§\r" }↵} ¦ child.expect("Password:")↵child.sendline("§")
read -r PASSWORD <<< § ¦ if [ "$PASSWORD" = "§" ]; then ¦ if [[ $pw == §* ]]; then
[ $PASS != '§' ] && exit ¦ su_password='§' # x ¦ PASSWORD=§ command --flag ¦ sudo DB_PASSWORD=§ /x
* * * * * root DB_PASSWORD=§ /x/y ¦ 0 1 * * * sqlplus -s scott/§ @/x
0 1 * * * root curl -u a:§ h >/dev/null ¦ @reboot root mysql -p§ < x ¦ PASSWORD=§␍↵OTHER=x␍↵
DB_PASSWORD⇥=⇥§ ¦ DB_PASSWORD =⇥§ ¦ ⇥password⇥§ ¦ password:⇥§ ¦ PASSWORD='§ ¦ PASSWORD="§
PASSWORD=ab\ § ¦ PASSWORD=ab"§" ¦ PASSWORD=ab'§'cd ¦ PASSWORD='it'\''s §' ¦ PASSWORD="a\"§"
PASSWORD=a,§ ¦ passwd='a b c §' ¦ password: a b c § ¦ password is § ¦ the password is §
password is: § ¦ Password for scott is § ¦ PASSWORD =§ ¦ PASSWORD = § ¦ kennwort=§ ¦ passwort: §
mot_de_passe=§ ¦ $PASSWORD = '§'; ¦ $password = "§"; ¦ $cfg['password'] = '§';
define('DB_PASSWORD', '§'); ¦ define("AUTH_KEY", "§"); ¦ 'password' => '§', ¦ password => "§"
:password => '§' ¦ password = '§' ¦ self.password = "§" ¦ String password = "§";
private static final String PASSWORD = "§"; ¦ props.put("password", "§");
props.setProperty("db.password", "§"); ¦ os.environ["DB_PASSWORD"] = "§" ¦ $ENV{DB_PASSWORD} = '§';
my ($user, $pass) = ('scott', '§'); ¦ my $pass = '§'; ¦ DBI->connect('dbi:Oracle:db', 'scott', '§');
DBI->connect("dbi:Oracle:db","scott","§") or die; ¦ DBI->connect('dbi:Oracle:db', 'scott/§', '');
cx_Oracle.connect("scott", "§", "db") ¦ cx_Oracle.connect('scott/§@db')
oracledb.connect(user="scott", password="§", dsn="db") ¦ oracledb.connect('scott/§@db')
oci_connect('scott', '§', 'db') ¦ oci_pconnect("scott", "§", "db"); ¦ OCILogon('scott', '§', 'db');
DriverManager.getConnection(url, "scott", "§");
DriverManager.getConnection("jdbc:oracle:thin:@h:1521:x", "scott", "§"); ¦ ods.setPassword("§");
ds.setURL("jdbc:oracle:thin:scott/§@h:1521:x"); ¦ mysqli_connect("h", "a", "§", "db")
new PDO('mysql:host=h', 'a', '§') ¦ new mysqli("h", "a", "§", "db")
psycopg2.connect("dbname=x user=a password=§") ¦ requests.get(url, auth=("a", "§"))
requests.get(u, auth=HTTPBasicAuth('a', '§')) ¦ HTTPBasicAuth("a", "§") ¦ s.login("a", "§")
smtp.login('a', '§') ¦ ftp.login('a', '§') ¦ ssh.connect("h", username="a", password="§")
client.connect('h', 22, 'a', '§') ¦ connect('weblogic', '§', 't3://h:7001')
wlst.sh -c connect('weblogic','§','t3://h') ¦ git clone https://ghp_§@github.com/a/x.git
git clone https://github_pat_§@github.com/a/x.git
connect(username='a', password='§', url='t3://h') ¦ storeUserConfig_x; connect('a','§')
cmo.setPassword('§') ¦ set('PasswordEncrypted', '§') ¦ set('Password','§')
AdminConfig.create('JAASAuthData', x, [['password', '§']]) ¦ --password-stdin <<< §
net use \\h\s § /user:a ¦ net user a § /add ¦ cmdkey /add:h /user:a /pass:§ ¦ runas_x /savecred /p:§
ConvertTo-SecureString '§' -AsPlainText -Force
$p = ConvertTo-SecureString -String "§" -AsPlainText ¦ New-Object PSCredential('a', '§')
export APP_TOKEN_1=a,§ ¦ su - applmgr -c "FNDCPASS apps/x 0 Y system/y USER SCOTT §"
""")
    + [
        *("p\u200bassword=§", "pass\u00adword=§", "p\u0430ssword=§", "\u0440\u0430ssword=§"),
        *("passw\u043erd: §", "\uff50\uff41\uff53\uff53\uff57\uff4f\uff52\uff44\uff1d§"),
        *("password\uff1d§", "password\uff1a§", "password\u00a0=\u00a0§", "password\u00a0§"),
        *("password\u3000=\u3000§", "contraseña=§"),
    ],
    "JSON": formats(r"""
{"password":"§"} ¦ {"password" : "§"} ¦ {"password":↵  "§"} ¦ {"password"↵:↵"§"}
{↵  "password"↵    :↵    "§"↵} ¦ {"user":"a","password":"§","x":1} ¦ {"db":{"password":"§"}}
{"password": {"value": "§"}} ¦ {"password":↵ {"value":↵ "§"}} ¦ {"passwords":["§","§"]}
{"passwords": [↵  "§",↵  "§"↵]} ¦ {"password": [↵    "§"↵  ]↵} ¦ {"password":"a\"§"}
{"password":"a\\","token":"§"} ¦ {"password":"\u0061§"} ¦ {"name":"DB_PASSWORD","value":"§"}
{"name": "DB_PASSWORD",↵ "value": "§"} ¦ {"value":"§","name":"DB_PASSWORD"}
{↵"value": "§",↵"name": "DB_PASSWORD"↵} ¦ [{"key":"password","value":"§"}]
{"Key": "Password", "Value": "§"} ¦ {"secretKey":"§"} ¦ {"client_secret":"§"} ¦ {"apiKey":"§"}
{"api_key": "§"} ¦ {"access_token":"§","token_type":"x"} ¦ {"refreshToken":"§"}
{"private_key":"-----BEGIN PRIVATE KEY-----\n§\n-----END PRIVATE KEY-----\n"}
{"private_key_id":"§"} ¦ {"Authorization":"Bearer §"} ¦ {"headers":{"authorization":"Basic §"}}
{\"password\":\"§\"} ¦ "{\"password\": \"§\"}" ¦ {"x": "{\\\"password\\\":\\\"§\\\"}"}
{'password': '§'} ¦ {'password': u'§'} ¦ {'password': b'§'} ¦ {password:"§"} ¦ {password: '§'}
{"PASSWORD":"§"} ¦ {"db.password":"§"} ¦ {"db-password":"§"} ¦ {"password": "§", // x↵}
{"password": /* x */ "§"} ¦ {"password": "ab↵§"} ¦ {"credentials":{"username":"a","secret":"§"}}
{"credential": "§"} ¦ {"SecretString":"{\"password\":\"§\"}"}
{"connectionString":"Server=h;Password=§;"} ¦ {"url":"https://a:§@h/"} ¦ {"args":["--password","§"]}
{"args": [↵  "--password",↵  "§"↵]} ¦ {"command": ["mysql", "-p", "§"]}
["sqlplus", "-s", "scott/§@db"] ¦ {"env":["DB_PASSWORD=§"]} ¦ {"environment":{"DB_PASSWORD":"§"}}
{"psk":"§"} ¦ {"pwd":"§"} ¦ {"passphrase":"§"} ¦ {"pass":"§"} ¦ {"token":"§"}
{"auth":{"user":"a","pass":"§"}}
{"sshKey":"-----BEGIN OPENSSH PRIVATE KEY-----\n§\n-----END OPENSSH PRIVATE KEY-----"}
{"kty":"RSA","n":"x","d":"§","p":"§"} ¦ {"kty":"oct","k":"§"}
"""),
    "YAML": formats(r"""
password: § ¦ password: '§' ¦ password: "§" ¦ password: |↵  § ¦ password: |-↵  §↵  §↵x: y
password: >↵  § ¦ password: >-↵  a↵↵  §↵ ¦ password: |2↵    § ¦ password: |+↵  a↵  §
password: |  # x↵  § ¦ password:↵  § ¦ password: !vault |↵  $ANSIBLE_VAULT;1.1;AES256↵  §↵  §
x: !vault |↵  $ANSIBLE_VAULT;1.1;AES256↵  §↵  §
x: !vault |↵          $ANSIBLE_VAULT;1.2;AES256;dev↵          §↵          §↵y: z
$ANSIBLE_VAULT;1.1;AES256↵§↵§↵ ¦ password: &a § ¦ password: !!str § ¦ password: !unsafe §
? password↵: § ¦ 'password': § ¦ "password": § ¦ db: {user: a, password: §}
db: {password: '§', user: a} ¦ - password: § ¦ - {name: a, password: §} ¦ passwords:↵  - §↵  - §
passwords: [§, §] ¦ password:↵  - § ¦ password:↵- § ¦ passwords:↵  a: §↵  b: §
db_passwords:↵  scott: §↵  sys: '§'↵other: x ¦ secrets:↵  a: § ¦ credentials:↵  password: §
env:↵  - name: DB_PASSWORD↵    value: § ¦ env:↵  - value: §↵    name: DB_PASSWORD
env:↵  - name: DB_PASSWORD↵    value: |↵      § ¦ data:↵  password: §== ¦ stringData:↵  password: §
kind: Secret↵data:↵  x: §==
apiVersion: v1↵kind: Secret↵metadata:↵  name: n↵data:↵  tls.key: §↵  x: §
stringData:↵  x: §↵kind: Secret ¦ users:↵- name: a↵  user:↵    token: § ¦ client-key-data: §==
password: a↵  § ¦ password: "a↵  §" ¦ password: 'a↵  §' ¦ password : § ¦ password:    §
PASSWORD: § ¦ dbPassword: § ¦ db.password: § ¦ spring:↵  datasource:↵    password: §
ansible_password: § ¦ ansible_become_password: § ¦ vault_password: § ¦ command: mysql -p§ x
command: [mysql, -p, §] ¦ args: ['--password', '§'] ¦ args:↵- --password↵- §
args:↵  - --password=§ ¦ args:↵  - "--password"↵  - "§"
"""),
    "TOML, INI, properties": formats(r"""
password = "§" ¦ password=§ ¦ password = § ¦ password = '''↵§↵''' ¦ password = '''§'''
db.password = "§" ¦ database = { user = "a", password = "§" } ¦ passwords = ["§", "§"]
passwords = [↵  "§",↵  "§",↵] ¦ "password" = "§" ¦ 'password' = '§' ¦ [db]↵password = "§"
password = a↵  § ¦ password = a↵⇥§↵x = y ¦ password =↵  § ¦ password=\↵  § ¦ password=a\↵  §
password = a \↵    b \↵    § ¦ db.password=§ ¦ db.password:§ ¦ db.password § ¦ db.password   =   §
javax.persistence.jdbc.password=§ ¦ spring.datasource.password=§ ¦ hibernate.connection.password §
quarkus.datasource.password=§ ¦ oracle.net.wallet_password=§ ¦ oracle.security.client.password1=§
javax.net.ssl.keyStorePassword=§ ¦ [client]↵password=§ ¦ [client]↵password = "§"
[mysqld]↵master-password=§ ¦ ; password = § ¦ # password = § ¦ #password=§ ¦ !password=§
password=§ ; x ¦ Password: § ¦ pass.word=§ ¦ user.pwd=§ ¦ auth.secret=§ ¦ SECRET_KEY_BASE=§
DJANGO_SECRET_KEY='§' ¦ APP_KEY=base64:§ ¦ JWT_SECRET=§ ¦ ENCRYPTION_KEY=§ ¦ SIGNING_KEY=§
signing-key: § ¦ hmac_key=§ ¦ HMAC_SECRET=§ ¦ session_key = § ¦ cookie_secret=§ ¦ MASTER_KEY=§
ssh_key=§ ¦ private_token=§ ¦ oauth_token=§ ¦ oauth.consumer.secret=§ ¦ WALLET_PWD=§
KEYSTORE_PASS=§ ¦ keyStorePass=§ ¦ storepass=§ ¦ keypass=§ ¦ key_pass: § ¦ sudo_pass=§
ansible_ssh_pass=§ ¦ h ansible_user=a ansible_password=§ ¦ h ansible_user=a ansible_become_pass='§'
oracle.install.db.config.starterdb.password.ALL=§
oracle.install.db.config.starterdb.password.SYS=§ ¦ oracle.install.asm.SYSASMPassword=§
oracle.install.asm.monitorPassword=§ ¦ sysPassword=§ ¦ SYSPASSWORD = "§"
MYORACLESUPPORT_PASSWORD=§ ¦ PROXY_PWD=§ ¦ [sysctl]↵kernel.x=1↵[auth]↵secret=§ ¦ tokens = [↵§,↵§↵]
server key="§"
""")
    + [
        'password = """§"""',
        'password = """\n§\n"""',
        'password = """a\n§\nb"""\nx = 1',
        'token = """\\\n  §"""',
    ],
    "XML": formats(r"""
<password>§</password> ¦ <Password>§</Password> ¦ <password >§</password > ¦ <password↵>§</password>
<password>↵  §↵</password> ¦ <password type="x">§</password> ¦ <ns:password>§</ns:password>
<db-password>§</db-password> ¦ <dbPassword>§</dbPassword> ¦ <password><![CDATA[§]]></password>
<password>a<![CDATA[§]]></password> ¦ <password><!-- x -->§</password>
<password>a&amp;§</password> ¦ <password><value>§</value></password>
<password>↵  <value>↵    §↵  </value>↵</password> ¦ <x password="§"/> ¦ <x password='§'/>
<x password = "§" /> ¦ <x↵  password=↵  "§"/> ¦ <x PASSWORD="§"></x> ¦ <x db:password="§"/>
<property name="password" value="§"/> ¦ <property value="§" name="password"/>
<property name="password">§</property> ¦ <property name="password"><value>§</value></property>
<property>↵  <name>password</name>↵  <value>§</value>↵</property>
<property>↵  <value>§</value>↵  <name>password</name>↵</property>
<param><param-name>password</param-name><param-value>§</param-value></param>
<entry key="password">§</entry> ¦ <add key="password" value="§"/>
<key>Password</key>↵<string>§</string>
<connection-property name="password">§</connection-property>
<xa-datasource-property name="Password">§</xa-datasource-property>
<security user-name="a" password="§"/> ¦ <credential-reference clear-text="§"/>
<credential-reference store="x" alias="y"/><password>§</password>
<password-encrypted>{AES}§</password-encrypted>
<credential-encrypted>{AES256}§</credential-encrypted>
<node-manager-password-encrypted>{AES}§=</node-manager-password-encrypted> ¦ {AES}§== ¦ {AES256}§=
{3DES}§= ¦ <jdbc-url>jdbc:oracle:thin:scott/§@h</jdbc-url>
<url>jdbc:oracle:thin:scott/§@//h:1521/s</url> ¦ <secret>§</secret> ¦ <api-key>§</api-key>
<token>§</token> ¦ <!-- password=§ --> ¦ <!-- <password>§</password> -->
<x>&lt;password&gt;§&lt;/password&gt;</x>
<connectionString>Data Source=h;User Id=a;Password=§;</connectionString>
<oracle-password>§</oracle-password> ¦ <VAR name="password" value="§"/>
<variable name="SYSPassword" value="§"/> ¦ <initParam name="sys_password" value="§"/>
<security-setting><user>a</user><password>§</password></security-setting>
"""),
    "URLs": formats(r"""
https://a:§@h/ ¦ https://a:§@h:8443/x?y=z ¦ http://:§@h/ ¦ ftp://a:§@h/x ¦ sftp://a:§@h/x
ldap://cn=a:§@h ¦ amqp://a:§@h/v ¦ redis://:§@h:6379/0 ¦ mongodb+srv://a:§@h/x ¦ postgres://a:§@h/x
oracle://scott:§@h:1521/?service_name=x ¦ oracle+oracledb://scott:§@h/x ¦ https://a:§%40x@h/
https://a:x@§@h/ ¦ https://a%40b:§@h/ ¦ https://§:x-oauth-basic@github.com/a/b
https://oauth2:§@gitlab.com/a/b ¦ https://a@b.c:§@h/ ¦ https://h/?password=§
https://h/?user=a&password=§&x=y ¦ https://h/?pwd=§ ¦ https://h/?token=§#x ¦ https://h/?api_key=§
https://h/?apikey=§ ¦ https://h/?access_token=§ ¦ https://h/#access_token=§
https://h/?client_secret=§ ¦ https://x.blob.core.windows.net/c?sv=2020&sig=§
https://b.s3.amazonaws.com/k?X-Amz-Signature=§
https://b.s3.amazonaws.com/k?AWSAccessKeyId=x&Signature=§&Expires=1
https://storage.googleapis.com/b?X-Goog-Signature=§ ¦ https://h/?key=§
https://objectstorage.eu.oraclecloud.com/p/§/n/ns/b/bk/o/x ¦ jdbc:oracle:thin:scott/§@h:1521:x
jdbc:oracle:thin:scott/§@//h:1521/s ¦ jdbc:oracle:thin:app-user/§@//h/s
jdbc:oracle:thin:${U}/§@//h/s ¦ jdbc:oracle:thin:"scott"/"§"@x ¦ jdbc:oracle:oci:scott/§@x
jdbc:oracle:oci8:scott/§@x ¦ jdbc:oracle:thin:@h:1521:x?user=a&password=§
jdbc:mysql://h/x?user=a&password=§ ¦ jdbc:mysql://a:§@h/x ¦ jdbc:postgresql://h/x?password=§&user=a
jdbc:sqlserver://h;user=a;password=§;x=y ¦ jdbc:db2://h:50000/x:user=a;password=§;
jdbc:sybase:Tds:h:1?USER=a&PASSWORD=§ ¦ Server=h;User Id=a;Password=§;
Data Source=h;User ID=a;Pwd=§;x=y ¦ Driver={x};Uid=a;Pwd={§};
AccountName=a;AccountKey=§==;EndpointSuffix=x
Endpoint=sb://h/;SharedAccessKeyName=k;SharedAccessKey=§= ¦ SharedAccessSignature=sv=x&sig=§
DefaultEndpointsProtocol=https;AccountName=a;AccountKey=§ ¦ smb://d;a:§@h/s ¦ svn+ssh://a:§@h/x
git://a:§@h/x ¦ socks5://a:§@h:1080 ¦ a:§@h:3128 ¦ user:§@proxy.example.com:3128
"""),
    "HTTP headers": formats(r"""
Authorization: Basic § ¦ Authorization: Bearer § ¦ Authorization: § ¦ authorization: bearer §
Authorization:Bearer § ¦ AUTHORIZATION: NEGOTIATE § ¦ Proxy-Authorization: Basic §
Authorization: Digest username="a", response="§"
Authorization: AWS4-HMAC-SHA256 Credential=a/b, Signature=§ ¦ Authorization: Token §
Authorization: ApiKey § ¦ Authorization: Signature keyId="a",signature="§" ¦ X-Auth-Token: §
X-Api-Key: § ¦ X-API-KEY:§ ¦ X-Vault-Token: § ¦ X-Amz-Security-Token: § ¦ X-Gitlab-Token: §
Private-Token: § ¦ X-Subject-Token: § ¦ Cookie: JSESSIONID=§ ¦ Cookie: a=b; session=§
Set-Cookie: sid=§; HttpOnly ¦ Ocp-Apim-Subscription-Key: § ¦ X-Shared-Secret: §
Authorization=Bearer § ¦ "Authorization": "Bearer §" ¦ 'Authorization' => 'Basic §'
-H "Authorization: Bearer §" ¦ --header 'Authorization: Basic §' ¦ token: bearer § ¦ Bearer §
auth: Basic §== ¦ WWW-Authenticate-x: y↵Authorization: Basic §␍↵
"""),
    "tokens": formats(r"""
ghp_§ ¦ gho_§ ¦ github_pat_§ ¦ glpat-§ ¦ xoxb-§ ¦ xoxp-1-2-§ ¦ AIza§ ¦ sk_live_§ ¦ hvs.§ ¦ npm_§
ya29.§ ¦ pypi-§ ¦ SG.a.§ ¦ eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.§ ¦ found token ghp_§ in the log
aws_secret_access_key = § ¦ AWS_SECRET_ACCESS_KEY=§ ¦ AWS_SESSION_TOKEN=§ ¦ aws_session_token = §
AZURE_CLIENT_SECRET=§ ¦ ARM_CLIENT_SECRET=§ ¦ GITHUB_TOKEN=§ ¦ SLACK_BOT_TOKEN=§ ¦ VAULT_TOKEN=§
OCI_CLI_KEY_PASSPHRASE=§ ¦ pass_phrase=§ ¦ HCLOUD_TOKEN=§
DOCKER_AUTH_CONFIG={"auths":{"h":{"auth":"§=="}}}
"""),
    "blocks": formats(r"""
-----BEGIN RSA PRIVATE KEY-----↵§↵§↵-----END RSA PRIVATE KEY-----
-----BEGIN PRIVATE KEY-----↵§↵-----END PRIVATE KEY-----
-----BEGIN EC PRIVATE KEY-----↵§↵-----END EC PRIVATE KEY-----
-----BEGIN ENCRYPTED PRIVATE KEY-----↵§↵-----END ENCRYPTED PRIVATE KEY-----
-----BEGIN OPENSSH PRIVATE KEY-----↵§↵-----END OPENSSH PRIVATE KEY-----
-----BEGIN DSA PRIVATE KEY-----␍↵§␍↵-----END DSA PRIVATE KEY-----␍↵
  -----BEGIN PRIVATE KEY-----↵  §↵  -----END PRIVATE KEY-----
# -----BEGIN PRIVATE KEY-----↵# §↵# -----END PRIVATE KEY-----
-----BEGIN PRIVATE KEY-----\n§\n-----END PRIVATE KEY----- ¦ -----BEGIN PRIVATE KEY-----↵§
-----BEGIN PRIVATE KEY----- § -----END PRIVATE KEY-----
KEY="-----BEGIN PRIVATE KEY-----↵§↵-----END PRIVATE KEY-----"
---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----↵§↵---- END SSH2 ENCRYPTED PRIVATE KEY ----
-----BEGIN PGP PRIVATE KEY BLOCK-----↵Version: x↵↵§↵=abcd↵-----END PGP PRIVATE KEY BLOCK-----
-----BEGIN PGP PRIVATE KEY BLOCK-----↵↵§↵-----END PGP PRIVATE KEY BLOCK-----
-----BEGIN PGP SECRET KEY BLOCK-----↵§↵-----END PGP SECRET KEY BLOCK-----
-----BEGIN PGP MESSAGE-----↵↵§↵-----END PGP MESSAGE-----
-----BEGIN PGP MESSAGE-----↵Version: GnuPG v2 - x↵↵§↵=ab↵-----END PGP MESSAGE-----
-----BEGIN OpenVPN Static key V1-----↵§↵-----END OpenVPN Static key V1-----
<key>↵-----BEGIN PRIVATE KEY-----↵§↵-----END PRIVATE KEY-----↵</key> ¦ $ANSIBLE_VAULT;1.1;AES256↵§↵§
# gpg↵-----BEGIN PGP PRIVATE KEY BLOCK-----␍↵␍↵§␍↵-----END PGP PRIVATE KEY BLOCK-----␍↵
AGE-SECRET-KEY-1§ ¦ ENC[AES256_GCM,data:§,iv:x,tag:y,type:str]
password: ENC[AES256_GCM,data:§,iv:x] ¦ ENC[PKCS7,§] ¦ x: ENC(§)
""")
    + [
        (
            "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,00\n\n"
            "§\n-----END RSA PRIVATE KEY-----"
        ),
        (
            "-----BEGIN CERTIFICATE-----\nx\n-----END CERTIFICATE-----\n-----BEGIN PRIVATE "
            "KEY-----\n§\n-----END PRIVATE KEY-----"
        ),
        (
            "PuTTY-User-Key-File-2: ssh-rsa\nEncryption: none\nComment: x\nPublic-Lines: 1\nx\n"
            "Private-Lines: 1\n§\nPrivate-MAC: §"
        ),
    ],
}
#: Files that hold nothing but secrets, by path: every line of them is one.
FILES = [
    ("/etc/chrony.keys", "1 §\n2 MD5 §\n"),
    ("/etc/chrony/chrony.keys", "1 §\n"),
    ("/etc/ntp/keys", "1 M §\n"),
    ("/etc/ntp.keys", "1 M §\n2 §\n"),
    ("/etc/ipsec.secrets", 'h1 h2 §\n: PSK "§"\n'),
    ("/etc/ppp/chap-secrets", "alice server § 192.0.2.1\n"),
    ("/etc/ppp/pap-secrets", "a b §\n"),
    ("/etc/davfs2/secrets", "https://h/ a §\n/mnt/dav a §\n"),
    ("/root/.davfs2/secrets", 'https://h/dav "a" "§"\n'),
    ("/home/oracle/.pgpass", "h:1:d:u:§\n"),
    ("/root/.netrc", "machine h login a\n  password\n  §\n"),
    ("/etc/shadow", "oracle:§:1::::::\n"),
    ("/etc/shadow-", "oracle:§:1::::::\n"),
    ("/etc/gshadow", "dba:§::\n"),
    ("/etc/security/opasswd", "a:1000:1:§\n"),
    ("/etc/raddb/server", "192.0.2.1\t§\t3\n192.0.2.1:1812 § 3\n"),
    ("/etc/pam_radius_auth.conf", "h.example.com:1812 § 5\n"),
    ("/etc/postfix/sasl_passwd", "smtp.example.com a:§\nh:25\ta:§\n"),
    ("/etc/passwd-s3fs", "b:k:§\n"),
    ("/etc/rsyncd.secrets", "a:§\n"),
    ("/var/ossec/etc/client.keys", "001 agent any §\n"),
    ("/etc/nginx/.htpasswd", "a:§\n"),
    ("/root/.vault_pass", "§\n"),
    ("/root/.vault_pass.txt", "§\n"),
    ("/root/.smbcredentials", "a\n§\n"),
    ("/root/.ssh/id_rsa", "§\n§\n"),
    ("/etc/samba/smbpasswd", "a:0:§:§:[U]:LCT-0:\n"),
]

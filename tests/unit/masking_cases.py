"""Passwords as people and tools write them into files; every one of them holds "tiger"."""

from masking_formats import formats

PATH = "/u01/home/network/admin/listener.ora"
HEAD = "LISTENER = (ADDRESS = (PROTOCOL = tcp)(HOST = db01)(PORT = 1521))\n"


def lines(text: str) -> list[str]:
    return [each + "\n" for each in formats(text)]


#: Files of Oracle Net whose password holds "tiger", as people and tools write them.
NET = lines(r"""
PASSWORDS_LISTENER = tiger ¦ PASSWORDS_LISTENER = (tiger) ¦ PASSWORDS_LISTENER=(tiger1, tiger2)
PASSWORDS_LISTENER =↵  (tiger1,↵   tiger2) ¦ PASSWORDS_LISTENER =↵(tiger1,↵tiger2)
PASSWORDS_LISTENER↵  = tiger ¦ PASSWORDS_LISTENER = (tiger1,↵# between↵  tiger2)
PASSWORDS_LISTENER = (tiger1,↵↵  tiger2) ¦ PASSWORDS_LISTENER = tiger1 # was tiger0
PASSWORDS_LISTENER = tiger1↵# before it was tiger0↵LOGGING_LISTENER = OFF
PASSWORDS_LISTENER⇥=⇥tiger␍↵  tiger2␍ ¦ PASSWORDS_LISTENER = 'tiger ) x'
PASSWORDS_LISTENER = tiger\)1 tiger2 ¦ Passwords_Listener = (TIGER, tiger)
  PASSWORDS_LISTENER = tiger ¦ "PASSWORDS_LISTENER" = tiger
PASSWORDS_LISTENER = ((tiger1), (tiger2))
PASSWORDS_LISTENER = ((tiger1)↵LOGGING_LISTENER = OFF↵tiger2 ¦ PASSWORDS_LISTENER tiger
PASSWORDS_LISTENER:tiger ¦ OTHER, PASSWORDS_LISTENER = tiger ¦ PASSWORDS_LISTENER, OTHER = tiger
# PASSWORDS_LISTENER = tiger ¦ #PASSWORDS_LISTENER = (tiger1,↵#  tiger2) ¦ PASSWORD_LISTENER = tiger
WALLET_PASSWORD = tiger ¦ SQLNET.WALLET_PASSWORD = tiger
WALLET_LOCATION = (SOURCE = (METHOD = FILE)(WALLET_PASSWORD = tiger))
ORCL = (DESCRIPTION = (ADDRESS = (HOST = db01))(SECURITY = (PASSWORD = tiger)))
ORCL = (DESCRIPTION = (USER = scott)(password =↵   tiger  ))
SID_LIST_LISTENER = (SID_LIST = (SID_DESC = (ENVS='DB_PASSWORD=tiger,A=b')))
LISTENER = (((↵PASSWORDS_LISTENER = tiger ¦ ORCL = (DESCRIPTION = (USER = scott)(PSWD = tiger))
""") + [
    'PASSWORDS_LISTENER = "tiger = (" \n',
    "passwords_listener=tiger",
    "\ufeffPASSWORDS_LISTENER = tiger\n",
    "PASSWORDS_LISTENER = tiger\n\0\n",
    "P\0A\0S\0S\0W\0O\0R\0D\0S\0_\0L\0=\0t\0i\0g\0e\0r\0",
    "PASSWORDS_LISTENER = " + "(" * 100 + "tiger\n",
]
#: The same of other files, by path.
OTHERS = [
    ("/u01/home/network/admin/passwords.inc", "PASSWORDS_LISTENER = (tiger1,\n tiger2)\n"),
    ("/u01/home/network/admin/listener.ora.bak", "PASSWORDS_LISTENER = (tiger1,\n tiger2)\n"),
    ("/etc/fstab", "//nas/a /a cifs username=scott,password=tiger,uid=1 0 0\n"),
    ("/etc/fstab", "//nas/a /a cifs rw,pass=ti,,tiger,uid=1 0 0\n"),
    ("/etc/fstab", "//nas/a /a cifs username=dom/scott%tiger,uid=1 0 0\n"),
    ("/etc/fstab", "//scott:tiger@nas/a /a cifs rw 0 0\n"),
    ("/etc/fstab", "mon1:/ /a ceph name=admin,secret=tiger== 0 0\n"),
    ("/etc/fstab", "https://scott:ti@tiger@nas/a /a davfs rw 0 0\n"),
    ("/etc/auto.nas", 'a -fstype=cifs,user=scott,password="tiger lily" ://nas/a\n'),
    ("/etc/systemd/system/a.mount", "[Mount]\nOptions=username=scott,password=tiger\n"),
    ("/proc/cmdline", "ro netroot=iscsi:scott:tiger@192.0.2.1::3260::iqn\n"),
    ("/proc/cmdline", "ro rd.iscsi.password=tiger quiet\n"),
    ("/etc/rc.local", "mount -t cifs //nas/a /a -o username=scott,password='tiger lily'\n"),
    ("/etc/rc.local", "curl -u scott:tiger https://nas/\n"),
    ("/etc/rc.local", "wget --password tiger https://nas/\n"),
    ("/etc/rc.local", "export ORACLE_PWD=tiger\nsqlplus -s system/tiger@orcl @x\n"),
    ("/etc/rc.local", "su - oracle -c 'sqlplus -s scott/\"tiger lily\"@orcl @x'\n"),
    ("/etc/rc.local", "sqlplus /nolog <<E\nconnect / as sysdba\nconn scott/tiger\nE\n"),
    ("/etc/rc.local", "echo 'alter user scott identified by \"tiger lily\";' | sqlplus /\n"),
    ("/etc/rc.local", "java -Durl=jdbc:oracle:thin:scott/tiger@//db01:1521/orcl x\n"),
    ("/etc/rc.local", "lsnrctl <<E\nset password tiger\nstop\nE\n"),
    ("/etc/rc.local", "echo tiger | passwd --stdin oracle\n"),
    ("/etc/rc.local", "echo oracle:tiger | sudo chpasswd\n"),
    ("/etc/rc.local", "sshpass -p tiger ssh nas mount\nsshpass -ptiger ssh nas\n"),
    (
        "/etc/rc.local",
        "openssl enc -d -pass pass:tiger -in x\nkeytool -storepass:x -password tiger\n",
    ),
    ("/etc/rc.local", "snmpget -v3 -u a -A tiger -X tiger2 h .1\nsnmpwalk -v2c -c tiger h\n"),
    ("/etc/rc.local", "curl -H 'Authorization: Bearer tiger' https://nas/\n"),
    ("/etc/rc.local", "smbclient -U scott%tiger //nas/a\n"),
    ("/etc/rc.local", "iscsiadm --op update -n node.session.auth.password -v tiger\n"),
    ("/etc/oraInventory/x.xml", "<wls:password>tiger</wls:password>\n"),
    ("/etc/NetworkManager/system-connections/a.nmconnection", "[wifi-security]\npsk=tiger\n"),
    ("/etc/NetworkManager/system-connections/a.nmconnection", "[802-1x]\npassword=tiger\n"),
    ("/etc/sysconfig/network-scripts/ifcfg-eth0", "IEEE_8021X_PASSWORD='tiger'\nKEY1=s:tiger\n"),
    ("/etc/network/interfaces", "iface wlan0 inet dhcp\n  wpa-psk tiger\n"),
    ("/etc/snmp/snmpd.conf", "rocommunity tiger 192.0.2.0/24\n"),
    ("/etc/snmp/snmpd.conf", "com2sec local default tiger\ncreateUser a SHA tiger AES tiger\n"),
    ("/etc/snmp/snmp.conf", "defCommunity tiger\ndefAuthPassphrase tiger\n"),
]

#: Lines of scripts and settings, by tool and by form; each as a file of its own.
SCRIPTS = lines(r"""
mysql -u root -p tiger ¦ mysql -uroot -ptiger db ¦ mysqldump --password='tiger lily' x
mariadb-dump -ptiger x ¦ ldapsearch -x -D cn=a -w tiger -b dc=x ¦ ldapmodify -D cn=a -wtiger
ldapadd -xw tiger ¦ ldappasswd -s tiger u ¦ ipmitool -Ptiger ¦ #bindpw tiger ¦ ORACLE_PASSWORD tiger
setenv ORACLE_PASSWORD tiger ¦ export ORACLE_PASSWORD=tiger ¦ secret_key: tiger ¦ secretKey: tiger
SECRET-KEY = tiger ¦ Secret Key: tiger ¦ credential tiger ¦ credential: tiger ¦ credential = tiger
NAMES.LDAP_CREDENTIAL=tiger ¦ PASS↵WORDS_L = tiger ¦ pass\↵word=tiger ¦ sqlplus scott/tiger@orcl
sqlplus -L -S scott/tiger@//h:1521/s @x ¦ sqlplus 'scott/tiger@orcl as sysdba'
sqlplus scott/\"tiger lily\"@orcl ¦ $ORACLE_HOME/bin/sqlplus -s scott/tiger <<E
sqlplus -s <<E↵scott/tiger@orcl↵E ¦ echo scott/tiger@orcl | sqlplus -s @x
sqlplus -s sys/tiger@orcl as sysdba ¦ sqlplus \↵  scott/tiger@orcl ¦ curl -u scott:tiger h
curl -uscott:tiger h ¦ curl --user 'scott:tiger lily' h ¦ curl -U p:tiger h
curl --proxy-user p:tiger h ¦ curl --user=scott:tiger h ¦ sshpass -p tiger ssh x
sshpass -ptiger ssh ¦ sshpass -p 'tiger lily' ssh ¦ SSHPASS=tiger sshpass -e ssh
impdp userid=scott/tiger@orcl full=y ¦ expdp scott/tiger directory=x
expdp \"sys/tiger@orcl as sysdba\" ¦ exp userid=\'scott/tiger\' file=x ¦ userid=scott/tiger@orcl
USERID = "scott/tiger" ¦ rman target sys/tiger@orcl ¦ rman target=sys/tiger catalog=rco/tiger
rman target sys/a catalog rco/tiger ¦ connect target sys/tiger@orcl;
smbclient //h/s --password=tiger -U x ¦ smbclient --user=scott%tiger //h/s ¦ net -U scott%tiger rpc
rpcclient -Uscott%tiger h ¦ mount -t cifs //h/s /m -o user=a,password=tiger,rw
mount -o username=a,pass=tiger //h/s /m ¦ mount -t cifs -o 'user=a,password=tiger lily' //h/s /m
mount -o rw,password="tiger,lily" //a/b /c ¦ username=scott↵password=tiger↵domain=x
password = tiger lily ¦ password=tiger lily, the tiger ¦ password=\tiger ¦ isql orcl scott tiger
isql -v orcl scott tiger ¦ tsql -S h -U sa -P tiger ¦ sqlcmd -S h -U sa -Ptiger
mongo -u a -p tiger ¦ mongodump --password tiger ¦ redis-cli -h h --pass tiger
openssl req -passout pass:tiger ¦ openssl enc -k tiger ¦ openssl pkcs12 -password pass:tiger
openssl passwd -1 tiger ¦ wget --http-password=tiger h ¦ wget --ftp-password tiger h
wget --proxy-password=tiger ¦ keytool -keypass tiger ¦ keytool -deststorepass tiger
jarsigner -storepass tiger x ¦ java -Djavax.net.ssl.keyStorePassword=tiger X
java -Ddb.password=tiger X ¦ java -Ddb.pass=tiger X ¦ java -Dpwd=tiger -jar x
java '-Ddb.password=tiger lily' X ¦ java -Ddb.password="tiger lily" X ¦ dbPassword=tiger
DB_PASS=tiger ¦ db.pass = tiger ¦ db-password: tiger ¦ userPassword: tiger ¦ PGPASSWORD=tiger psql
MYSQL_PWD=tiger mysql ¦ pgpass=tiger ¦ apiKey=tiger ¦ API-KEY: tiger ¦ x-api-key: tiger
access_token=tiger ¦ accessToken: tiger ¦ clientSecret = tiger ¦ privateKey=tiger
encryption_key=tiger ¦ PassWord=tiger ¦ pass_word=tiger ¦ Pass-Phrase: tiger ¦ passphrase tiger
Bind Password: tiger ¦ auth_pass tiger ¦ ANSIBLE_BECOME_PASS=tiger ¦ password1=tiger
PASSWORD[1]=tiger ¦ passwords=tiger,tiger2 ¦ passwd = tiger ¦ passwd: tiger
{"password" : "ti\"tiger"} ¦ {"db":{"Password":"tiger","x":1}} ¦   "secretKey": "tiger",
{"passwords": ["tiger", "tiger"]} ¦ {"name": "DB_PASSWORD", "value": "tiger"}
{"Authorization": "Bearer tiger"} ¦ {"credential":"tiger"} ¦ <db-password>↵  tiger↵</db-password>
<x user='a' Password='tiger'/> ¦ <property name="db.password">tiger</property>
<password encrypted="false">tiger</password> ¦ <entry key="db.password">tiger</entry>
<name>db.password</name>↵<value>tiger</value> ¦ <key>Password</key><string>tiger</string>
<security user-name="sa" password="tiger"/>
<config-property name="Password">tiger</config-property> ¦ <secret-key>tiger</secret-key>
<pw>tiger</pw> ¦ password: 'tiger lily' ¦ password: tiger lily ¦ db: {password: tiger, x: 1}
password: >-↵  tiger↵  lily tiger ¦ passwords:↵  - tiger↵  - tiger2
- name: DB_PASSWORD↵  value: tiger ¦   - password: tiger
credentials:↵  username: a↵  password: tiger ¦ password: !vault tiger ¦ PASSWORD=\↵tiger
mysql \↵  -u root \↵  -p tiger ¦ mysql -u root \↵  --password \↵  tiger ¦ mysql -p \↵ tiger
PASSWORD='ti'"tiger" ¦ PASSWORD=ti\ tiger ¦ PASSWORD=ti\↵  tiger ¦ ldapsearch -x \↵ -w tiger
http://scott:tiger@h/ ¦ https://scott:tiger%21@h:80/x ¦ ftp://:tiger@h ¦ postgresql://a:tiger@h/db
oracle://scott:ti/tiger@h ¦ http_proxy=http://a:tiger@p:80 ¦ jdbc:mysql://h/db?user=a&password=tiger
jdbc:oracle:thin:@h:1521:x;user=a;password=tiger ¦ amqp://a:tiger@h ¦ https://x?token=tiger&a=b
Authorization: Basic tiger== ¦ curl -H "X-Auth-Token: tiger" h ¦ curl -H 'X-Api-Key:tiger' h
curl --header=Authorization:\ Bearer\ tiger ¦ Cookie: session=tiger ¦ authorization=Bearer tiger
mkstore -wrl x -createCredential orcl scott tiger ¦ orapki wallet create -wallet x -pwd tiger
dbca -sysPassword tiger -systemPassword tiger ¦ emcli login -username=a -password=tiger
orapwd file=x password=tiger ¦ asmca -asmsnmpPassword tiger ¦ dgmgrl sys/tiger@x
sqlldr scott/tiger control=x ¦ sqlldr userid=scott/tiger control=x ¦ sql scott/tiger@orcl
nid target=sys/tiger ¦ alter user a identified by tiger;
create user a identified by "tiger" default tablespace x;
alter user a identified by b replace tiger; ¦ identified by values 'S:tiger' ¦ connect scott/tiger
CONN scott/"tiger"@x ¦ copy from scott/tiger@a to b using x
CREATE DATABASE LINK l CONNECT TO a IDENTIFIED↵BY tiger USING 'x' ¦ htpasswd -b f u tiger
echo tiger | docker login --password-stdin ¦ echo tiger | sudo -S ls ¦ chpasswd <<< 'oracle:tiger'
passwd --stdin oracle <<< tiger ¦ chpasswd <<E↵oracle:tiger↵E ¦ machine h↵ login a↵ password tiger
-----BEGIN RSA PRIVATE KEY-----↵tiger↵-----END RSA PRIVATE KEY----- ¦ pkcs11:token=a?pin-value=tiger
enable secret 5 tiger ¦ username a password 0 tiger ¦ connect('weblogic','tiger','t3://h')
<wls:password-encrypted>tiger</wls:password-encrypted> ¦ password => 'tiger'
("password" => "tiger") ¦ setPassword("tiger") ¦ config['password'] = 'tiger'
/x:write-attribute(name=password,value=tiger) ¦ PASSWORD := 'tiger' ¦ psql "host=h password=tiger"
DSN=x;UID=a;PWD=tiger; ¦ set password=tiger ¦ $env:PASSWORD = "tiger" ¦ vncpasswd tiger
xfreerdp /u:a /p:tiger ¦ rsync --password-file=/x a↵#password tiger ¦ psexec -u a -p tiger
rdesktop -p tiger h ¦ winexe -U a%tiger //h ¦ pscp -pw tiger ¦ crsctl -p x↵password⇥tiger
echo "oracle:tiger" | chpasswd ¦ printf 'tiger' | cryptsetup luksOpen x ¦ ncli -u a -p tiger
cli -u admin -p 'tiger' ¦ jboss-cli.sh --user=a --password=tiger
asadmin --passwordfile x↵AS_ADMIN_PASSWORD=tiger ¦ net.ipmi.password tiger ¦ com.x.secret=tiger
SECRET tiger ¦ TOKEN: tiger ¦ _authToken=tiger ¦ //registry/:_authToken=tiger ¦ pass tiger
pwd: tiger ¦ DB_PASSWORD: "tiger" ¦ credentials = tiger ¦ ldap.credential: tiger
java.naming.security.credentials=tiger ¦ LDAP_CREDENTIALS='tiger' ¦ userCredential="tiger"
BINDPW=tiger ¦ bind_pw tiger ¦ PASSWD tiger ¦ export PASS=tiger
mysqladmin -u root -p'tiger lily' status ¦ mysql --user=root --password tiger
/usr/bin/mysql -hh -uroot -p"tiger" ¦ su - m -c 'mysql -ptiger x'
echo 'select 1' | mysql -u a -ptiger ¦ mysql -ptiger && ldapsearch -w tiger
for h in a b; do mysql -h $h -p tiger; done ¦ ldapsearch -D "cn=admin,dc=x" -w "tiger lily"
ldapsearch -H ldap://h -x -W↵ldapwhoami -w tiger ¦ ldapcompare -D a -wtiger ¦ ldapdelete -v -w tiger
ipmitool -I lan -H h -U root -P 'tiger' chassis ¦ ipmi-sensors -u a -p tiger
ipmitool -H h -P "tiger lily" ¦ binddn cn=x↵bindpw tiger ¦   bindpw⇥tiger ¦ bindpw=tiger
BINDPW tiger ¦ ldapbindpass tiger ¦ ORACLE_PASSWORD tiger lily ¦ ORACLE_PWD tiger ¦ ORA_PASS tiger
OraclePassword tiger ¦ oraclePassword: tiger ¦ ORACLE.PASSWORD=tiger ¦ oracle-password = tiger
SetEnv DB_PASSWORD tiger ¦ ENV DB_PASSWORD tiger ¦ fastcgi_param DB_PASSWORD tiger;
  define DB_PASSWORD tiger ¦ DB_PASSWORD⇥tiger ¦ secret_key tiger ¦ secret-key: "tiger"
SecretKey=tiger ¦ SECRETKEY: tiger ¦ shared_secret tiger ¦ sharedSecret: tiger ¦ secret: tiger
secret tiger ¦ Client Secret: tiger ¦ secret.key=tiger ¦ secrets: [tiger, tiger] ¦ secrets:↵- tiger
secrets:↵  - "tiger" ¦ 'secret' : 'tiger' ¦ credential "tiger lily" ¦ credentials tiger
CREDENTIAL=tiger ¦ set credential tiger ¦ LDAP_CREDENTIAL tiger ¦ ldap-credential: tiger
ldapCredential=tiger ¦ credential=tiger,user=a ¦ <credential>tiger</credential>
<ldap credential="tiger"/> ¦ sqlplus -S -L scott/tiger@orcl as sysdba ¦ sqlplus "scott/tiger"
sqlplus 'scott'/'tiger'@x ¦ sqlplus scott/'tiger'@orcl ¦ sqlplus scott/"tiger"@orcl
sqlplus /nolog↵connect sys/tiger as sysdba
${ORACLE_HOME}/bin/sqlplus -s "scott/tiger@(DESCRIPTION=(ADDRESS=(PROTOCOL=TCP)))"
sqlplus -s scott[app]/tiger@x ¦ nohup sqlplus scott/tiger @x & ¦ SQLPLUS scott/tiger
sqlplus64 scott/tiger@x ¦ sqlplus -prelim scott/tiger ¦ rman target 'sys/tiger@orcl'
rman target "sys/tiger" nocatalog ¦ rman TARGET sys/tiger AUXILIARY sys/tiger@aux
rman log=x.log target sys/tiger ¦ rman <<E↵connect target sys/tiger↵E
rman catalog rco/tiger target / ¦ impdp system/tiger@orcl schemas=x ¦ expdp 'system/tiger' x
expdp system/\"tiger\"@x ¦ imp userid="scott/tiger@x" ¦ exp USERID=scott/tiger
exp scott/tiger@x file=y ¦ curl -s -u 'scott:tiger' h ¦ curl -sku scott:tiger h
curl --user scott:tiger h ¦ curl -u "scott:tiger lily" h ¦ curl https://scott:tiger@h/x
curl --anyauth --user "dom\\a:tiger" h ¦ curl --pass tiger --cert x ¦ curl -E cert.pem:tiger h
curl -d '{"password": "tiger"}' h ¦ curl -H "Authorization: Basic tiger" h
curl -H 'Authorization:Bearer tiger' h ¦ curl -H Authorization:tiger h
curl --proxy http://a:tiger@p h ¦ curl -b 'session=tiger; a=b' h
wget --header='Authorization: Bearer tiger' h ¦ wget --user a --password tiger h
wget --post-data 'user=a&pass=tiger' h ¦ sshpass -ptiger scp a b ¦ sshpass -p "tiger" ssh a
sshpass -v -p tiger ssh ¦ sshpass -p\↵ tiger ¦ smbclient -U 'scott%tiger' //h/s
smbclient //h/s -Uscott%tiger -c ls ¦ smbclient //h/s -U scott --password tiger
smbclient //h/s -U=scott%tiger ¦ mount.cifs //a /b -o username=x,password=tiger
mount -o username=x,password='tiger',vers=3 //a /b ¦ mount -o credentials=/x,password=tiger //a /b
mount -t cifs -o user=scott%tiger //a /b ¦ mount -o pass=tiger,rw ¦ mount -o passwd=tiger
mount -o password2=tiger ¦ mount -o rw,username=a,password=ti,,tiger //a /b
username = scott↵password = tiger ¦ password= tiger ¦ password =tiger ¦ PASSWORD=tiger lily
isql -S srv -U sa -P tiger -i x ¦ isql -Usa -Ptiger ¦ tsql -H h -p 1433 -U sa -P 'tiger'
mongo -u a -ptiger ¦ mongo --username a --password 'tiger' --host h ¦ mongo h/db -u a -p "tiger"
mongoexport -p tiger ¦ redis-cli -a 'tiger' -h h ¦ redis-cli -u redis://:tiger@h
REDISCLI_AUTH=tiger redis-cli ¦ redis-cli AUTH tiger ¦ redis-cli --askpass --user a --pass tiger
openssl pkcs12 -in x -passin pass:tiger -passout pass:tiger ¦ openssl rsa -passin 'pass:tiger'
openssl enc -pass "pass:tiger lily" ¦ openssl genrsa -passout pass:'tiger lily'
openssl enc -aes256 -k 'tiger' ¦ keytool -genkey -keypass 'tiger' -storepass "tiger lily"
keytool -srcstorepass tiger -destkeypass tiger ¦ keytool -importkeystore -srcstorepass:tiger
keytool -storepasswd -new x -storepass tiger ¦ java -Dhttps.proxyPassword=tiger -jar x
java -Dpassword="tiger" ¦ java -Dorg.x.db_password='tiger'
JAVA_OPTS="-Djavax.net.ssl.trustStorePassword=tiger -Xmx1g" ¦ java -Dkeystore.pass=tiger
java "-Dpassword=tiger" ¦ java -Dtoken=tiger -Dsecret=tiger ¦ -Djava.security.credential=tiger
MyPassword=tiger ¦ my_Password = tiger ¦ thePassword : tiger ¦ PASSWORD_FOR_DB=tiger
password_of_scott: tiger ¦ passwordForAdmin=tiger ¦ password2 = tiger ¦ admin.passwd=tiger
adminPasswd=tiger ¦ ADMINPASS=tiger ¦ userpass=tiger ¦ user_pass : tiger ¦ userPwd=tiger
USER-PWD: tiger ¦ pwd=tiger ¦ DB_PW=tiger ¦ dbpw: tiger ¦ dbPw=tiger ¦ passPhrase: tiger
api_key: tiger ¦ api.key=tiger ¦ APIKEY=tiger ¦ auth_token: tiger ¦ authToken="tiger"
AUTH-TOKEN=tiger ¦ refresh_token=tiger ¦ SAS_TOKEN='tiger' ¦ account_key=tiger;x
AccountKey=tiger==;E=x ¦ private-key: tiger ¦ accessKey=tiger ¦ access_key_secret=tiger
encryptionKey: tiger ¦ auth_key = tiger ¦ password[db] = tiger ¦ passwords[0]: tiger
Password for scott: tiger ¦ password (scott): tiger ¦ { "user" : "a" , "password" : "tiger" }
{"dbPassword":"tiger lily, x"} ¦ {"password": tiger} ¦ {"value":"tiger","name":"password"}
{"auth":{"token":"tiger"}} ¦ {"password":{"value":"tiger"}} ¦ {↵  "password":↵    "tiger"↵}
{"password":["tiger"]} ¦ "password" "tiger" ¦ {"\u0070assword": "x", "password": "\"tiger\""}
{password: "tiger"} ¦ {pass: 'tiger'} ¦ {"password": "a\\", "secret": "tiger"}
<user-password >tiger</user-password> ¦ <ns:Password>↵tiger↵</ns:Password>
<user name="a" password = "tiger"/> ¦ <user password='ti"tiger'/>
<param name="db.password" value="tiger"></param> ¦ <param name='password' value='tiger'/>
<Resource username="a"↵ password="tiger"↵/>
<property name="Password"><value>tiger</value></property>
<property><name>x.password</name><value>tiger</value></property>
<add key="DbPassword" value="tiger" /> ¦ <connection connectionString="Server=h;Password=tiger;"/>
<pwd>tiger</pwd> ¦ <x secret="tiger"></x> ¦ <authentication key="x" password="tiger"/>
<!-- password: tiger --> ¦ <passwd><![CDATA[ti<tiger]]></passwd> ¦ <clearText>tiger</clearText>
password:  "tiger" ¦   db_password: tiger ¦ db:↵  password: tiger↵  user: a ¦ password: &p tiger
password: |-↵    tiger↵    tiger↵user: a ¦ password: >↵ tiger ¦ "db password": tiger
password: # x↵  tiger ¦ secret_key:↵  tiger ¦ password: 'ti''tiger' ¦ data:↵  db-password: tiger
env:↵- name: SECRET↵  value: tiger ¦ - name: "PASSWORD"↵  value: "tiger"
- value: tiger↵  name: PASSWORD ¦ PASSWORD="\↵tiger" ¦ export PASSWORD=\↵'tiger'
curl \↵  -u \↵  scott:tiger h ¦ sqlplus -s \↵  scott/tiger@x \↵  @y ¦ keytool \↵ -storepass \↵ tiger
rman target \↵ sys/tiger ¦ pass\↵wd=tiger ¦ PASS\↵WORD tiger ¦ sec\↵ret_key: tiger
--pass\↵word tiger ¦ mysql -u a \␍↵ -p tiger␍ ¦ password = \↵  tiger ¦ db.password=\↵    tiger
password=ti\↵    tiger ¦ http://scott:tiger@h:8080/ ¦ proxy=http://a:tiger@p/
sftp://scott:ti:tiger@h ¦ https://:tiger@h/ ¦ smb://dom;scott:tiger@h/s ¦ cifs://scott:tiger@h/s
jdbc:oracle:thin:scott/tiger@//h:1521/x ¦ jdbc:oracle:thin:scott/tiger@x
jdbc:postgresql://h/db?password=tiger&x=y ¦ oracle+cx_oracle://scott:tiger@h
scp scott:tiger@h:/x y ¦ ftp ftp://scott:tiger%40@h/ ¦ https://h/x?api_key=tiger
https://h/?access_token=tiger#x ¦ https://h/x?passwd=tiger ¦ Authorization: Bearer tiger␍
AUTHORIZATION: NTLM tiger ¦ Proxy-Authorization: Bearer tiger ¦ Authorization=Basic tiger
"Authorization": "Basic tiger" ¦ 'Authorization': 'Bearer tiger'
Authorization: AWS4-HMAC-SHA256 Credential=tiger/x, Signature=tiger
Authorization: Token token="tiger" ¦ Authorization: Negotiate tiger==
WWW-Authenticate: x↵X-Auth-Key: tiger ¦ X-Secret-Key: tiger ¦ PRIVATE-TOKEN: tiger
Set-Cookie: JSESSIONID=tiger; Path=/ ¦ proxy_set_header Authorization "Basic tiger";
RequestHeader set Authorization "Bearer tiger" ¦ header Authorization Bearer tiger
DB_PASSWORD tiger # x ¦ mount -o password=tiger\,lily x ¦ passwd=tiger\;x ¦ DBPASS=$'tiger'
PASS=${PASS:-tiger} ¦ DB_PASSWORD=${DB_PASSWORD:=tiger} ¦ read -s PASSWORD <<< tiger
local password=tiger ¦ declare -r PASSWORD='tiger' ¦ password=`echo tiger` ¦ password=$(echo tiger)
PASSWORD="$(echo 'tiger')" ¦ test $PASSWORD == tiger ¦ set PASSWORD = tiger ¦ PASSWORD:tiger
""") + [
    "oracle:tigerEfgHijklm:18000:0:99999:7:::",
    "svc:!!tigerEfgHijklm:18000::::::",
    "- key: tigerAbc123==",
]
#: The same of sqlnet.ora.
SETTINGS = lines(r"""
NAMES.LDAP_CREDENTIAL=tiger ¦ NAMES.LDAP_CREDENTIAL = (tiger,↵ tiger)
names.ldap_credential↵ = tiger ¦ PASS↵WORDS_L = (tiger1,↵ tiger2) ¦ PASS↵  WORDS_LISTENER=tiger
PASSWOR\↵DS_LISTENER=tiger ¦ PASSWORDS_↵LISTENER = tiger ¦ CREDENTIAL tiger ¦ SEC↵RET = tiger
X = (DESCRIPTION=(SECURITY=(CRED↵ENTIAL=tiger))) ¦ #PASS↵#WORDS_L = tiger ¦ BIND_PW = tiger
ACCESS_TOKEN=(tiger) ¦ API_KEY=tiger ¦ LDAP_PASS =↵  tiger ¦ A.PRIVATE_KEY = tiger
NAMES.LDAP_CREDENTIALS=tiger ¦ PASS␍↵WORDS_L=tiger␍ ¦ P↵A↵S↵S↵WORDS_L = tiger
NAMES.LDAP_CREDENTIAL↵=↵(tiger) ¦ # NAMES.LDAP_CREDENTIAL = tiger ¦ NAMES.LDAP_CREDENTIAL tiger
names.Ldap_Credential:tiger ¦ X=(A=(CREDENTIAL=tiger)(B=c)) ¦ X=(A=(LDAP_CREDENTIAL=↵ tiger)(B=c))
PASSWO↵RDS_L=tiger ¦ PASS↵↵WORDS_L=tiger ¦ PASS⇥↵WORDS_L=(tiger) ¦ PASS WORDS_L = tiger
PA↵SSWORDS_L tiger ¦ A = (B = (PASS↵ WORD = tiger)) ¦ WALLET_PASS↵WORD=tiger
SSL_WALLET_PWD↵ = tiger ¦ PASSWORDS↵_L = tiger ¦ PASS # x↵WORDS_L = tiger
SQLNET.SECRET_KEY = tiger ¦ CLIENT_SECRET = (tiger,↵ tiger) ¦ PASS\↵WORDS_L = tiger
TOKEN = (tiger,↵ tiger) ¦ OCI_API_KEY = ↵ tiger
""")
#: What names a secret and holds none: it stays as it is.
KEPT = lines(r"""
passwd: files sss↵shadow: files
password required pam_unix.so use_authtok↵-password optional pam_gnome.so
PASS_MAX_DAYS 99999↵PASS_MIN_LEN 5↵PASS_WARN_AGE 7↵# Password aging controls:
PasswordAuthentication yes↵PermitEmptyPasswords no ¦ oracle ALL=(ALL) NOPASSWD: ALL
password_life_time = 180↵PASSWORD_LOCK_TIME 1↵password_verify_function: ora12c
remote_login_passwordfile=EXCLUSIVE
WALLET_LOCATION=(SOURCE=(METHOD=FILE)(METHOD_DATA=(DIRECTORY=/u01/wallet)))
//a/b /c cifs credentials=/root/.cred,rw 0 0↵//a/b /c cifs cred=/root/x 0 0
mkdir -p /u01; cp -p a b | tar -p x ¦ ssh -p 22 db01 ls↵ps -p 1
private_key=/etc/ssl/x.pem↵ssl_key: /etc/x
use_first_pass bypass=1 compass=2 passive=yes passno=2 passthrough=x passes=2 ¦ pw_dir=/x tokenize=1
systemctl stop mysql; mkdir -p /data ¦ sudo -u oracle /u01/bin/lsnrctl status ¦ curl http://h:80/x@y
rpool/export@today  1G ¦ <password-file>/x</password-file><credential-store name="a"/>
OLDPWD=/root ¦ password=yes ¦ FAILED_LOGIN_ATTEMPTS 10 PASSWORD_GRACE_TIME 7
ALTER PROFILE DEFAULT LIMIT PASSWORD_LIFE_TIME 180 PASSWORD_REUSE_MAX 5;
sqlplus / as sysdba @/x/y.sql↵sqlplus -s /nolog @a
ORA-01017: invalid username/password; logon denied
ORA-28002: the password will expire within 7 days ¦ PasswordPolicy: strong
password hashing algorithm SHA512 ¦ */5 * * * * root /usr/bin/backup -u root
listening on token ring: eth0 ¦ Secret management is on. ¦ key: value↵keyfile: /x
nas:/vol/secret/data /u01 nfs rw 0 0 ¦ nas:/pass/pwd /u01 nfs rw 0 0
GRUB_CMDLINE_LINUX="quiet hugepages=100" ¦ -u oracle -g dba ¦ chown -R oracle:oinstall /u01@x
Mar 1 sshd: Failed password for root from 1.2.3.4 port 22 ssh2 ¦ Accepted publickey for a from h
systemd-ask-password-console.path loaded active  Dispatch Password Requests to Console
systemd-tmpfiles d /run/systemd/ask-password 0755 root root -
passwd-0.80-4.el8.x86_64↵libsecret-0.18 ¦ /usr/bin/passwd↵/etc/passwd ¦ PASSWORD_VERSIONS 11G 12C
remote_login_passwordfile string EXCLUSIVE ¦ sec_max_failed_login_attempts 3
vlan10@eth0: <UP> mtu 1500 ¦ tokens 5 ¦ pwm1: 255 pwr: 3 ¦ exp/imp
mysql.service loaded active running
""")

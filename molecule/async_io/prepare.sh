#!/bin/sh
# A home of 19c with the stand-in of sqlplus, an instance with an spfile, and its alert log.
home=/u01/app/oracle/product/19.0.0/dbhome_1
trace=/u01/app/oracle/diag/rdbms/orcl/ORCL/trace
install -d -m 0755 -o oracle -g oinstall \
  /u01/app/oracle "$home" "$home/bin" "$home/dbs" "$home/standin" "$trace" /u02/oradata
install -m 0755 -o oracle -g oinstall standins/sqlplus "$home/bin/sqlplus"

# Nobody ever set filesystemio_options.
install -m 0644 -o oracle -g oinstall scenario/files/ORCL.json "$home/standin/ORCL.json"
echo startup | ORACLE_HOME=$home ORACLE_SID=ORCL \
  setpriv --reuid=54321 --regid=54321 --clear-groups "$home/bin/sqlplus" -S '/ as sysdba'

install -m 0640 -o oracle -g oinstall fixtures/alert_log/12.2-only.txt "$trace/alert_ORCL.log"
printf "# what root.sh left\nORCL:%s:N\n" "$home" > /etc/oratab
chmod 0644 /etc/oratab

#!/bin/sh
# A home of 19c with the stand-in of sqlplus, an instance with an spfile, and its alert log.
home=/u01/app/oracle/product/19.0.0/dbhome_1
trace=/u01/app/oracle/diag/rdbms/orcl/ORCL/trace
install -d -m 0755 -o oracle -g oinstall \
  /u01/app/oracle "$home" "$home/bin" "$home/dbs" "$home/standin" "$trace"
install -m 0755 -o oracle -g oinstall standins/sqlplus "$home/bin/sqlplus"

# Its settings came with it from an older release. It is one before 19.22, from which on an entry is
# advised to be taken out.
install -m 0644 -o oracle -g oinstall scenario/files/ORCL.json "$home/standin/ORCL.json"

# Its start writes its spfile too.
echo startup | ORACLE_HOME=$home ORACLE_SID=ORCL \
  setpriv --reuid=54321 --regid=54321 --clear-groups "$home/bin/sqlplus" -S '/ as sysdba'

# Its alert log, of a start that got its huge pages; and what root.sh left.
install -m 0640 -o oracle -g oinstall fixtures/alert_log/12.2-only.txt "$trace/alert_ORCL.log"
printf "# what root.sh left\nORCL:%s:N\n" "$home" > /etc/oratab
chmod 0644 /etc/oratab

# The process of the instance, with a small segment: the pool of huge pages belongs to the host.
install -D -m 0755 standins/instance.py /opt/hostproof-tests/instance.py
setpriv --reuid=54321 --regid=54321 --clear-groups setsid -f /opt/hostproof-tests/instance.py \
  --sid ORCL --sga 64M --pages 4k < /dev/null > /tmp/ORCL.log 2>&1
for _ in $(seq 120); do
  grep -q . /tmp/ORCL.log && break
  sleep 0.5
done
grep '^ready' /tmp/ORCL.log

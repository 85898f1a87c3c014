#!/bin/sh
# Makes the container answer as an AIX host: AIX's commands at their places, Python of the toolbox, a
# configuration database with the marks that an old HACMP asked for; what only Linux has is taken away.
tools=/opt/hostproof-tests/aix

# AIX's /proc has a folder for each process, with binary files, and one for the kernel.
mkdir -p "$tools/state/proc/1" "$tools/state/proc/sys" /opt/freeware/bin \
  /usr/es/sbin/cluster/utilities /u02/oradata /backup
cp -R standins/aix/. "$tools/"
printf '\001\002\003' > "$tools/state/proc/1/psinfo"
chmod 0444 "$tools/state/proc/1/psinfo"

# The host that the stand-ins tell of. Its boot brings what its database holds into force.
install -m 0644 scenario/files/host.json "$tools/state/host.json"
"$tools/odm.py" boot
install -m 0664 scenario/files/filesystems /etc/filesystems
printf '# what root.sh left\nSALES:/u01/app/oracle/product/19.0.0/dbhome_1:N\n' > /etc/oratab
chmod 0664 /etc/oratab

# What only Linux has.
for command in bridge findmnt free getent ip ldconfig lsblk lsipc lsns nproc pgrep pidof readlink \
  rtacct ss sysctl tc vmstat; do
  rm -f "/usr/bin/$command" "/usr/sbin/$command"
done
(cd /etc && rm -rf fstab mtab os-release security/limits.* sysctl.conf sysctl.d tmpfiles.d)
rm -rf /var/lib
(cd /usr/lib && rm -rf modprobe.d os-release sysctl.d tmpfiles.d)

# AIX's commands at their places, where Linux has two of them as well.
for command in entstat lparstat lslpp lssrc mount oslevel uname; do
  ln -sf "$tools/$command" /usr/bin/
done
for command in chdev ioo lsattr route; do
  ln -sf "$tools/$command" /usr/sbin/
done
ln -sf "$tools/halevel" /usr/es/sbin/cluster/utilities/
ln -sf "$tools/python3" /opt/freeware/bin/

#!/bin/sh
# The accounts of an Oracle host, and what an administrator left before Hostproof came.
getent group oinstall >/dev/null || groupadd --gid 54321 oinstall
getent passwd oracle >/dev/null || useradd --uid 54321 --gid oinstall --create-home oracle

# A file of odd mode and content where the role will write.
limits_file=/etc/security/limits.d/zz-hostproof-hugepages.conf
mkdir -p /etc/security/limits.d
printf 'oracle soft memlock 64\n# no newline at the end' > "$limits_file"
chmod 0640 "$limits_file"
chgrp oinstall "$limits_file"

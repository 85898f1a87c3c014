#!/bin/sh
# What a package and an administrator left before Hostproof came. The numbers are below those that
# any container is started with: in here nobody may raise a limit.
limits=/etc/security/limits.d
printf 'oracle soft nproc 2047\noracle hard nproc 16384\n' > $limits/oracle-database-preinstall-19c.conf
printf 'oracle soft nofile 300\noracle hard nofile 400\n' > $limits/50-oracle.conf

# Jobs of cron have limits of their own.
printf 'oracle soft nofile 350\noracle hard nofile 450\n' > /etc/security/cron.conf
cat > /etc/pam.d/cron <<'END'
auth required pam_permit.so
account required pam_permit.so
session required pam_limits.so conf=/etc/security/cron.conf
END
printf 'auth sufficient pam_rootok.so\naccount required pam_permit.so\nsession required pam_limits.so\n' \
  > /etc/pam.d/su

# A file of odd mode where the role will write.
limits_file=$limits/zz-hostproof-process_limits.conf
printf '# no newline at the end' > "$limits_file"
chmod 0640 "$limits_file"

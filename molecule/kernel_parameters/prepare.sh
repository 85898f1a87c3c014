#!/bin/sh
# What a package and an administrator left before Hostproof came.
mkdir -p /etc/sysctl.d
printf 'kernel.sem = 250 32000 100 128\nvm.swappiness = 60\n' > /etc/sysctl.d/97-oracle-database.conf

# A file of odd mode where the role will write.
sysctl_file=/etc/sysctl.d/99-zz-hostproof-kernel_parameters.conf
printf 'vm.swappiness = 30\n# no newline at the end' > "$sysctl_file"
chmod 0640 "$sysctl_file"

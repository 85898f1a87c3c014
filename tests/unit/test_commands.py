"""Which commands a host may send: every form that a control prints, and nothing else."""

import pytest
from cases import cases
from hostproof_controller import commands

#: Each form, as the controls print them (test_printed_fixes compares those of packs).
PRINTED = [
    *("./hostproof apply --tags hugepages", "./hostproof audit --tags nfs_mounts,async_io"),
    *("cat /proc/net/bonding/bond0", "chdev -P -l aio0 -a autoconfig=available -a maxreqs=65536"),
    *("chdev -P -l hdisk0 -a algorithm=shortest_queue", "chdev -l ent4 -a flow_ctrl=no -P"),
    *("chdev -l sys0 -a maxpout=8193 -a minpout=4096 -T", "chfs -a options=rw /backup"),
    *("chfs -a options=rw,cio /backup", "dladm set-linkprop -p flowctrl=rx net0"),
    *("dmesg | grep -i nfs", "dnf install -y net-snmp-libs net-snmp-devel"),
    *("dnf install -y net-snmp-utils", "apt-get install -y ksh", "chmod 1777 /tmp"),
    *("chown root /var", "dnf install -y libaio-devel bc glibc-devel.i686", "dpkg --audit"),
    *("ethtool -G ens4 rx 4096", "ip link set dev eth1 multicast on"),
    *("ip route del 169.254.0.0/16 scope link proto boot", "rpm --rebuilddb"),
    *("sysctl -w net/ipv4/conf/eth1/arp_ignore=0", "systemctl daemon-reexec"),
    "systemctl disable --now avahi-daemon.socket avahi-daemon.service",
    *("systemctl set-default multi-user.target", "zypper install ksh", "ethtool -g ens4"),
    *("ethtool -s ens4 autoneg on", "grep -l huge /proc/[0-9]*/numa_maps"),
    "grep -n nr_hugepages '/etc/sysctl.d/10-a b.conf'",
    "grep -n nr_hugepages /etc/sysctl.d/99-zz-hostproof-hugepages.conf",
    *("ioo -p -o aio_maxreqs=65536", "ip -s -s link", "ip link set dev lo mtu 16436"),
    "ln -sfn /usr/lib64/libnetsnmp.so.10 /usr/lib64/libnetsnmp.so",
    "runuser -u oracle -- env ORACLE_HOME=/u01/19 /u01/19/bin/lsnrctl start LISTENER",
    "runuser -u grid@dom.example -- env ORACLE_HOME=/u01/g /u01/g/bin/lsnrctl stop L1",
    *("mkdir -p '/u03/äöü'", "mount '/u03/-o exec=x'", "mount -o remount,suid,exec /u01"),
    *("mount /u02/oradata", "multipath -a /dev/sda", "multipath -ll", "multipath -t"),
    "iscsiadm -m node -T iqn.2010-01.com.example:data -p 10.0.0.5:3260 -o update "
    "-n node.startup -v automatic",
    *("multipathd reconfigure", "ping -c 3 -- 10.0.0.5", "powermt display dev=all"),
    "printf '%s\\n' 'filer1:/vol/app /nfs/app nfs rw,bg,hard,proto=tcp,vers=3 0 0' >> /etc/fstab",
    "printf '%s\\n' 'vm.dirty_background_bytes = 262144' > /etc/sysctl.d/90-dirty.conf",
    "printf '%s\\n' 'vm.dirty_bytes = 1048576' >> /etc/sysctl.d/90-dirty.conf",
    *("rpcinfo -- 2001:db8::5", "sysctl -p /etc/sysctl.d/90-dirty.conf"),
    *("sysctl -w vm.nr_hugepages=8194", "systemctl daemon-reload"),
    "systemctl set-property user-54321.slice TasksMax=infinity",
    *("systemctl enable --now multipathd.service", "systemctl start 'u02-ora\\x2ddata.mount'"),
    *("umount /u02", "firewall-cmd --reload"),
    "firewall-cmd --permanent --zone=public --add-port=1521/tcp",
    "firewall-cmd --permanent --zone=trusted --change-interface=eth1",
    *("systemctl reload nftables.service", "ufw reload", "ufw allow 1521/tcp"),
    "ufw allow in on eth1",
]

#: What no control prints: for the controller first, then for the host.
HOSTILE = [
    "env ORACLE_HOME=/u01/19 make -C /u01/19/rdbms/lib -f ins_rdbms.mk dnfs_on",
    "make -C /u01/19/rdbms/lib -f ins_rdbms.mk dnfs_on",
    "lsnrctl start LISTENER",
    "/u01/19/bin/lsnrctl start LISTENER",
    "env ORACLE_HOME=/u01/19 /u01/19/bin/lsnrctl start LISTENER",
    "runuser -u root -- env ORACLE_HOME=/u01/19 /u01/19/bin/lsnrctl start LISTENER",
    "runuser -u 0 -- env ORACLE_HOME=/u01/19 /u01/19/bin/lsnrctl start LISTENER",
    "runuser -u '#0' -- env ORACLE_HOME=/u01/19 /u01/19/bin/lsnrctl start LISTENER",
    "runuser -u oracle -- env ORACLE_HOME=/u01/19 /tmp/bin/lsnrctl start LISTENER",
    "runuser -u oracle -- id",
    "runuser -u oracle -g root -- env ORACLE_HOME=/u01/19 /u01/19/bin/lsnrctl start LISTENER",
    "ln -sfn /home/x/libnetsnmp.so.10 /usr/lib64/libnetsnmp.so",
    "ln -sfn /usr/lib64/../../home/x/libnetsnmp.so.10 /usr/lib64/libnetsnmp.so",
    "./hostproof apply -e ansible_python_interpreter=/tmp/x",
    "./hostproof apply --tags hugepages -e ansible_python_interpreter=/tmp/x",
    "./hostproof apply --tags hugepages -i /tmp/evil.py",
    "./hostproof apply --tags hugepages --limit all",
    "./hostproof apply --tags=hugepages",
    "./hostproof apply --tags nothing",
    "./hostproof apply --tags hugepages,",
    "./hostproof apply --tags all",
    "./hostproof apply",
    "./hostproof apply  --tags hugepages",
    "./hostproof revert",
    "./hostproof revert --limit all",
    "./hostproof revert --tags hugepages",
    "./hostproof test",
    "./hostproof audit --tags hugepages -vvv",
    "./hostproof audit --tags hugepages; touch X",
    "./hostproof audit --tags hugepages\n./hostproof revert",
    "./hostproof audit --tags hugepages\n",
    "./hostproof audit --tags hugepages > /etc/passwd",
    "./hostprооf apply --tags hugepages",
    "./hostproof apply ‐‐tags hugepages",
    "./hostproof apply --tags\u00a0hugepages",
    "hostproof apply --tags hugepages",
    "bash ./hostproof apply --tags hugepages",
    "",
    " ",
    "rm -rf /",
    "umount",
    "umount /u01 /u02",
    "umount -f /u01",
    "umount u01",
    "umount '-f'",
    "ｕmount /u01",
    "/bin/umount /u01",
    "umount\t/u01",
    "umount /u01 # comment",
    "mount -o bind /tmp /etc",
    "mount -o '$(id)' /u01",
    "mkdir -p /u01/../../etc",
    "cat /etc/shadow",
    "cat /proc/net/bonding/../../../etc/shadow",
    "grep -n root /etc/shadow",
    "grep -n nr_hugepages -f /etc/shadow",
    "sysctl -w kernel.core_pattern=|/tmp/x",
    "sysctl -w vm.nr_hugepages=1e9",
    "sysctl -p /tmp/x",
    "systemctl start --now x.service; touch X",
    "systemctl mask sshd.service",
    "systemctl set-property sshd.service TasksMax=1",
    "systemctl start -H",
    "dnf install evil",
    "dnf install -y -y ksh",
    "dnf install --nogpgcheck ksh",
    "dnf install ksh evil",
    "dnf install /tmp/ksh",
    "chown root /etc/shadow",
    "chmod 1777 /etc",
    "chmod 4755 /bin/bash",
    "systemctl disable --now firewalld.service",
    "systemctl set-default emergency.target",
    "firewall-cmd --permanent --zone=public --set-target=ACCEPT",
    "firewall-cmd --permanent --zone=trusted --add-source=0.0.0.0/0",
    "ufw allow from any",
    "ufw disable",
    "systemctl reload sshd.service",
    "ip route del default",
    "sysctl -w net/ipv4/conf/../core/arp_ignore=0",
    "dnf install -y net-snmp-utils evil",
    "ln -sfn /etc/shadow /usr/lib64/libnetsnmp.so",
    "printf '%s\\n' 'x ALL=NOPASSWD: ALL' >> /etc/sudoers",
    "printf '%s\\n' 'a b nfs rw 0 0' > /etc/fstab",
    "printf '%s\\n' 'a b nfs rw 0 0\nx' >> /etc/fstab",
    "printf '%s\\n' 'vm.dirty_bytes = 1' > /etc/passwd",
    "chdev -l sys0 -a maxpout=$(id)",
    "lsnrctl stop LISTENER; id",
    "lsnrctl stop -x",
    "ping -c 3 -f 10.0.0.5",
    "rpcinfo -- -d",
    "env ORACLE_HOME=/u01 make -C /tmp -f evil.mk dnfs_on",
    "env LD_PRELOAD=/tmp/x make -C /tmp -f ins_rdbms.mk dnfs_on",
    "umount " + "/x" * 5000,
]
#: What turns any line into another command.
TWISTS = ("; id", " | id", " && id", " $(id)", " `id`", "\nid", " > /tmp/x", " < /tmp/x", " & id")


@pytest.mark.parametrize("line", PRINTED)
def test_what_a_control_prints_is_taken(line):
    assert commands.is_from_host(line)


def test_commands_of_the_users_own_policy_are_taken(monkeypatch):
    monkeypatch.setattr(commands, "_OF_RUN", set())
    monkeypatch.setattr(commands, "_ADDITIONAL", set())
    lines = ["logger done", "dnf install -y site-agent", "dnf install bc site-agent"]
    assert not any(map(commands.is_from_host, lines))
    commands.allow({
        "custom": {"checks": [{"id": "x", "commands": ["logger done"]}, "broken"]},
        "packages": {"additional": ["site-agent"]},
    })  # fmt: skip
    assert all(map(commands.is_from_host, lines))
    others = ["logger do", "dnf install evil site-agent", "dnf install site-agent; id"]
    assert not any(map(commands.is_from_host, others))


@pytest.mark.parametrize("line", HOSTILE, ids=lambda line: ascii(line)[:60])
def test_what_no_control_prints_is_refused(line):
    assert not commands.is_from_host(line)


@pytest.mark.parametrize("twist", TWISTS)
def test_nothing_can_follow_a_command(twist):
    taken = [line for line in PRINTED if commands.is_from_host(line + twist)]
    assert taken == []
    assert [line for line in PRINTED if commands.is_from_host(twist.strip() + " " + line)] == []


@cases(
    "line",
    "./hostproof apply --tags hugepages --limit db01",
    "./hostproof apply --tags hugepages -i prod -i 'a b' --limit db01",
    "./hostproof apply --tags hugepages -i prod --limit 'fe80[:][:]1%eth0'",
    "./hostproof apply --check --diff --tags hugepages --limit db01",
    "./hostproof audit --tags hugepages -vvv --limit db01",
    "./hostproof apply --tags hugepages -i prod -e hostproof_profile=oracle_19c_single "
    '-e \'{"a": "b c"}\' -e @vars.yml --become -K -u admin --limit db01',
    './hostproof apply --tags hugepages -e "db_password=${db_password:?}" --limit db01',
)
def test_what_the_controller_writes_is_its_own(line):
    assert commands.is_own(line)
    assert not commands.is_from_host(line)


@cases(
    "line",
    "./hostproof revert --limit all",
    "./hostproof apply --tags hugepages -e x=$(id) --limit db01",
    './hostproof apply --tags hugepages -e "x=$(id)" --limit db01',
    './hostproof apply --tags hugepages -e "x=${x:-$(id)}" --limit db01',
    "./hostproof apply --tags hugepages --module-path /tmp/x --limit db01",
    "./hostproof apply --tags hugepages --limit db01; id",
    "./hostproof apply --tags hugepages --limit $(id)",
    "umount /u01",
)
def test_what_it_never_writes_is_not(line):
    assert not commands.is_own(line)


def test_the_limit_of_a_printed_command_is_the_last_one():
    options = "-i prod -e 'a=b --limit c' --become"
    line = f"./hostproof apply --tags hugepages {options} --limit db01"
    assert commands.without_limit(line) == f"./hostproof apply --tags hugepages {options}"
    assert commands.options_in(line) == options
    assert commands.options_in("umount /u01") == ""

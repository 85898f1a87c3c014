"""Ordinary evidence stays as it is: rules need what masking would take too much of."""

import json
from pathlib import Path

import pytest
from ansible.module_utils.hostproof.collect import evidence
from ansible.module_utils.hostproof.collect.masking import masked
from cases import cases

ROOT = Path(__file__).resolve().parents[2]
SHARED = ROOT.parent / "shared/data/packs"
FOLDERS = (ROOT / "tests/fixtures", ROOT / "docs/examples")

#: Files that hold a password, a community or a token: only such a line of them may change.
HOLD_SECRETS = (
    *("node-record.txt", "slob-made-up.conf", "26-control-parameters.ora", "guide.txt"),
    *("application-made-up.properties", "domain.xml", "one-ds.xml", "two-ds.xml"),
    *("standalone.xml", "standalone-stopped.xml", "standalone-edited.xml"),
    *("standalone-reload.xml", "tomcat-context-made-up.xml", "dbcp2-context.xml"),
)
#: What such a line names.
NAMES = ("passw", "community", "PASSWD", "PASSWORDS_")


def packs(folders):
    for folder in folders:
        for path in sorted(folder.rglob("*.json")):
            try:
                pack = json.loads(path.read_bytes())
            except ValueError:
                continue
            if isinstance(pack, dict) and isinstance(pack.get("readings"), dict):
                yield path, pack["readings"]


def test_no_pack_of_the_checkout_changes():
    count = 0
    for path, readings in packs(FOLDERS):
        count += 1
        assert evidence.without_secrets(readings) == readings, path
    assert count > 10


def test_no_shared_pack_changes():
    if not SHARED.is_dir():
        pytest.skip(f"there is no {SHARED}")
    for path, readings in packs([SHARED]):
        assert evidence.without_secrets(readings) == readings, path


def test_texts_of_fixtures_change_in_lines_with_a_secret_only():
    count = 0
    for path in sorted((ROOT / "tests/fixtures").rglob("*")):
        if not path.is_file() or path.suffix == ".json" or path.stat().st_size > 400_000:
            continue
        try:
            text = path.read_text()
        except UnicodeDecodeError:
            continue
        count += 1
        result = masked(f"file:/{path.name}", text)
        if path.name == "dpkg-debian-12.txt":
            continue  # Names and versions alone: a package is called passwd.
        if path.name not in HOLD_SECRETS:
            assert result == text, path
            continue
        before, after = text.split("\n"), result.split("\n")
        assert len(before) == len(after), path
        for line, other in zip(before, after, strict=True):
            assert line == other or any(name in line for name in NAMES), path
    assert count > 100


#: Lines of hosts that name a secret, or look like a user and a password, and hold none.
ORDINARY = [
    "ORA-01017: invalid username/password; logon denied\n",
    "ORA-12154: TNS:could not resolve the connect identifier specified\n",
    "net.ipv4.tcp_timestamps = 1\nvm.nr_hugepages = 1024\nkernel.sem = 250 32000 100 128\n",
    "nas:/vol/data on /u01 type nfs (rw,hard,vers=3,rsize=1048576,wsize=1048576)\n",
    *("/dev/mapper/vg-lv /u01 xfs defaults,noatime 0 0\n", "8:0 /dev/sda a/b c/d\n"),
    *("crw-rw-rw- 1 root root 1, 3 /dev/null\n", "oracle soft nofile 1024\n* hard nproc 16384\n"),
    "search example.com\nnameserver 192.0.2.1\noptions timeout:1 attempts:2\n",
    "server ntp1.example.com iburst minpoll 4\nkeyfile /etc/chrony.keys\nmakestep 1.0 3\n",
    "2: eth0    inet 192.0.2.10/24 brd 192.0.2.255 scope global eth0\n",
    "fe80::a00:27ff:fe4e:66a1 dev eth0 lladdr 08:00:27:4e:66:a1 STALE\n",
    "2001:db8:1234:5678:0:0:0:1 db01.example.com\n",
    "orcl:/u01/app/oracle/product/19.0.0/dbhome_1:N\n",
    "oracle:x:54321:54321:Oracle:/home/oracle:/bin/bash\ndba:x:54322:oracle,grid\n",
    "0 3 * * * oracle /u01/app/oracle/bin/backup.sh >/dev/null 2>&1\n",
    "ExecStart=/usr/bin/tuned -l -P\nUser=root\nEnvironment=LANG=C\n",
    "export ORACLE_HOME=/u01/app/oracle/product/19.0.0/dbhome_1\nexport ORACLE_SID=orcl\n",
    "sqlplus / as sysdba <<EOF\nshow parameter pga\nEOF\n",
    "run sqlplus / as sysdba, then show parameter use_large_pages\n",
    "echo never > /sys/kernel/mm/transparent_hugepage/enabled\n",
    *("echo 1 | tee /proc/sys/vm/drop_caches\n", "1 3 5 7\n12 MB free\n"),
    "the password is not set\nno password is asked for\n",
    *("user oracle may not read it\nset the value to 1024\n", "Basic authentication is off\n"),
    *("awk '{print $1$2}' x; test $1 = $2\n", "host -t A db01.example.com\ndig +short db01\n"),
    "mpath0 (360000000000000000e00000000010001) dm-0 VENDOR,MODEL\n",
    *("allow 192.0.2.0/24\nallow fe80::1\n", "id: 1 key: value\n"),
]


@pytest.mark.parametrize("text", ORDINARY)
def test_ordinary_lines_stay(text):
    assert masked("/etc/rc.local", text) == text


@cases(
    "text",
    *("slice/getty@tty1.service", "system-getty.slice/getty@tty1.service"),
    "0::/system.slice/system-getty.slice/getty@tty1.service",
    *("system/foo@bar.service.d/override.conf", "multi-user.target.wants/chrony@a.service"),
    *("filer1:/vol/x@snap", "//srv/share@x", "/a/b@c", "a/b@c/override.conf"),
    *("https://h.example.com/p@x", "/pci@0,0/pci8086,1@3", "disk/scsi@0,0"),
    *("host/db01.example.com@EXAMPLE.COM", "nfs/db01.example.com@EXAMPLE.COM"),
    *("actions/checkout@v4.1.2", "lodash/fp@4.17.21"),
    *("registry/image@sha256:abcd", "sshd: root@pts/0"),
)
def test_what_looks_like_a_logon_stays(text):
    """A path, a unit, an NFS source, an address, a principal and a version hold no password."""
    assert masked("lines", text) == text


@cases(
    "line",
    "/usr/sbin/ntpd -u ntp:ntp -g",
    "/usr/sbin/ntpd -p /run/ntpd.pid -c /etc/ntpsec/ntp.conf -g -N -u ntpsec:ntpsec",
    *("/usr/sbin/ntpd -u ntp:dialout -x", "NTPD_OPTIONS='-x -u ntp:nogroup'"),
    *("ntpd -u ntp:systime -p /var/run/ntpd.pid", "chronyd -u chrony:chrony"),
    'OPTIONS="-u ntp:ntp -p /var/run/ntpd.pid"',
    "{ path=/usr/sbin/ntpd ; argv[]=/usr/sbin/ntpd -u ntp:ntp -g ; }",
    *("docker run -u 1000:1000 image", "docker run --user=oracle:oinstall image"),
    *("ntpd --user=ntp:ntp", "named -u named:named", "chpst -u oracle:dba sqlplus"),
    *("start-stop-daemon --chuid grid:asmadmin --start", "chroot --userspec=grid:asmdba /mnt"),
)
def test_account_and_group_of_a_daemon_are_no_secret(line):
    assert masked("", line) == line


@cases("line", "curl -u 54321:54321 h", "curl -s --user=ntp:root h", "curl -L -U 'oracle:dba' h")
def test_the_same_words_for_a_program_of_http_are_a_secret(line):
    assert masked("", line).rpartition(":")[2].startswith("***")

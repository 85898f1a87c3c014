"""The next reboot and the next start: what mount refuses, and what may not run where it lies.

Each case is a host with the truth about it and where that truth comes from. What a real mount
answers to hundreds of option texts is in test_mount_refusals.py.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import nfs_packs
import pytest
from ansible.module_utils.hostproof.controls.nfs_mounts.control import CONTROL as nfs_mounts
from ansible.module_utils.hostproof.controls.registry import planner
from ansible.module_utils.hostproof.evaluate.finding import ERROR, FAIL, PASS, SKIP, WARN, Finding
from ansible.module_utils.hostproof.parsers.nfs import nfs_options
from ansible.module_utils.hostproof.probes.nfs import storage_advice
from cases import cases
from nfs_packs import FSTAB, MOUNTINFO, OPTIONS, NfsMachine, listed, nfs_host, ready_host, shown

HOME = "/u01/app/oracle/product/19"
GRID = "/u01/app/19/grid"
RELEASE = "/proc/sys/kernel/osrelease"


def findings(machine: NfsMachine, check: str, **policy: Any) -> list[Finding]:
    rules = nfs_mounts.policy_from(nfs_packs.nfs_policy(**policy))
    judged = nfs_mounts.judge(nfs_mounts.read(machine, rules), rules)
    return [finding for finding in judged if finding.check == f"nfs_mounts.{check}"]


# -- what mount refuses ---------------------------------------------------------------------------


def asks(options: str) -> Callable[[], NfsMachine]:
    """fstab asks for it; the mount of now was made before somebody wrote it."""

    def tell() -> NfsMachine:
        machine = nfs_host().persisted_mount("/u02", "filer1:/vol/u02", options, shown())
        return machine.database("/u02/oradata/ORCL/system01.dbf")

    return tell


def unit(options: str, more: str = "") -> Callable[[], NfsMachine]:
    def tell() -> NfsMachine:
        machine = ready_host().file(FSTAB, "").remove(nfs_packs.unit_file("/u02"))
        machine.folder("/run/systemd/system")
        text = f"[Mount]\nWhat=filer1:/vol/u02\nWhere=/u02\nType=nfs\nOptions={options}\n"
        machine.file("/etc/systemd/system/u02.mount", text + more)
        wants = "/etc/systemd/system/remote-fs.target.wants"
        machine.folder(wants).link(f"{wants}/u02.mount", "/etc/systemd/system/u02.mount")
        return machine

    return tell


def autofs(options: str) -> Callable[[], NfsMachine]:
    def tell() -> NfsMachine:
        machine = ready_host().file(FSTAB, "").remove(nfs_packs.unit_file("/u02"))
        machine.file("/etc/auto.master", "/- /etc/auto.oracle\n")
        machine.file("/etc/auto.oracle", f"/u02 {options} filer1:/vol/u02\n")
        wants = "/etc/systemd/system/multi-user.target.wants"
        machine.folder("/run/systemd/system", wants)
        machine.file("/usr/lib/systemd/system/autofs.service", "[Unit]\n")
        return machine.link(f"{wants}/autofs.service", "/usr/lib/systemd/system/autofs.service")

    return tell


def conf(text: str, options: str = OPTIONS) -> Callable[[], NfsMachine]:
    def tell() -> NfsMachine:
        machine = asks(options)()
        machine.file("/etc/nfsmount.conf", f"[ NFSMount_Global_Options ]\n{text}\n")
        return machine

    return tell


def kernel(release: str, options: str, shows: str | None = None) -> Callable[[], NfsMachine]:
    def tell() -> NfsMachine:
        machine = nfs_host().persisted_mount("/u02", "filer1:/vol/u02", options, shows or shown())
        machine.database("/u02/oradata/ORCL/system01.dbf").file(RELEASE, release + "\n")
        return machine

    return tell


class Boot(NamedTuple):
    host: Callable[[], NfsMachine]
    truth: str
    says: str
    source: str


_REAL = "tests/fixtures/mount_nfs_options/debian-12.json"
BOOTS = {
    "a slip of the finger": Boot(asks(OPTIONS.replace("hard", "hrad")), FAIL, "hrad", _REAL),
    "an option of Solaris": Boot(asks(OPTIONS + ",forcedirectio"), FAIL, "Solaris", _REAL),
    "an option of AIX": Boot(asks(OPTIONS + ",cio"), FAIL, "AIX", _REAL),
    "an option of the server": Boot(asks(OPTIONS + ",no_root_squash"), FAIL, "exports(5)", _REAL),
    "no such protocol": Boot(asks(OPTIONS.replace("=tcp", "=tpc")), FAIL, "proto: it", _REAL),
    "no such version": Boot(asks(OPTIONS.replace("vers=3", "vers=5")), FAIL, "vers: NFS", _REAL),
    "two versions": Boot(asks(OPTIONS + ",nfsvers=4.1"), FAIL, "only one version", _REAL),
    "a unit behind a number": Boot(asks(OPTIONS.replace("262144", "256k")), FAIL, "256k", _REAL),
    "a number out of range": Boot(asks(OPTIONS + ",nconnect=17"), FAIL, "1 and 16", _REAL),
    "octal": Boot(asks(OPTIONS.replace("timeo=600", "timeo=0600")), FAIL, "timeo=384", _REAL),
    "octal that is none": Boot(asks(OPTIONS.replace("=600", "=0800")), FAIL, "timeo=0800", _REAL),
    "hexadecimal of the same": Boot(asks(OPTIONS.replace("=600", "=0x258")), PASS, "", _REAL),
    "a blank behind the comma": Boot(
        asks(OPTIONS.replace("bg,hard", "bg,\\040hard")), FAIL, " hard", _REAL
    ),
    "sloppy, so it has no effect": Boot(asks(OPTIONS + ",sloppy,hrad"), WARN, "no effect", _REAL),
    "sloppy saves no bad value": Boot(asks(OPTIONS + ",sloppy,nconnect=99"), FAIL, "99", _REAL),
    "of systemd, of libmount": Boot(
        asks(OPTIONS + ",_netdev,nofail,x-systemd.mount-timeout=30,comment=oracle"),
        PASS,
        "",
        _REAL,
    ),
    "what kernels pass over": Boot(asks(OPTIONS + ",intr,noatime"), PASS, "", _REAL),
    "in a unit": Boot(unit("rw,hard,proto=tcp,timeo=600,hrad"), FAIL, "hrad", "systemd.mount(5)"),
    "in a unit that is sloppy": Boot(
        unit("rw,hard,proto=tcp,timeo=600,hrad", "SloppyOptions=yes\n"),
        WARN,
        "no effect",
        "systemd.mount(5), SloppyOptions",
    ),
    "a bad value in a unit that is sloppy": Boot(
        unit("rw,hard,proto=tcp,timeo=600,nconnect=99", "SloppyOptions=on\n"), FAIL, "99", _REAL
    ),
    "in a unit that is not sloppy": Boot(
        unit("rw,hard,proto=tcp,timeo=600,hrad", "SloppyOptions=no\n"), FAIL, "hrad", _REAL
    ),
    "in a map of the automounter": Boot(
        autofs("-rw,hard,proto=tcp,timeo=600,llock"), FAIL, "llock", "autofs(5)"
    ),
    "added by nfsmount.conf": Boot(conf("Hrad=True"), FAIL, "hrad", "nfsmount.conf(5)"),
    "nconnect, and the kernel is 3.10": Boot(
        kernel("3.10.0-1160.el7.x86_64", OPTIONS + ",nconnect=4"), FAIL, "5.3", "nfs(5)"
    ),
    "nconnect on RHEL 8, not seen in force": Boot(
        kernel("4.18.0-553.el8_10.x86_64", OPTIONS + ",nconnect=4"),
        ERROR,
        "whether mount takes 'nconnect'",
        "RHEL 8.3 carried it back",
    ),
    "nconnect on RHEL 8, granted": Boot(
        kernel("4.18.0-553.el8_10.x86_64", OPTIONS + ",nconnect=4", shown(nconnect=4)),
        PASS,
        "",
        "what the kernel grants it knows",
    ),
    "a doubtful word beside a wrong one": Boot(
        kernel("5.14.0-503.el9.x86_64", OPTIONS.replace("=600", "=14") + ",xprtsec=tls"),
        FAIL,
        "timeo=14",
        "what is certainly wrong is not hidden by what nobody can tell",
    ),
    "UDP on a kernel that may be built without": Boot(
        kernel("6.1.0-56-amd64", OPTIONS.replace("proto=tcp", "proto=udp").replace("=600", "=14")),
        FAIL,
        "timeo=14",
        "CONFIG_NFS_DISABLE_UDP_SUPPORT",
    ),
    "octal on a kernel that reads decimal": Boot(
        kernel("4.18.0-553.el8_10.x86_64", OPTIONS.replace("=600", "=0600")),
        PASS,
        "",
        "kernel 4.18 fs/nfs/super.c, nfs_get_option_ul(): kstrtoul(string, 10)",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", BOOTS)
def test_the_next_boot(name):
    boot = BOOTS[name]
    (finding,) = findings(boot.host(), "options_persisted", **listed())
    assert finding.status == boot.truth, (boot.source, finding.why)
    assert boot.says in finding.why if boot.truth != PASS else True
    assert finding.status == PASS or finding.fix or finding.status == ERROR


def test_the_fix_names_the_file_that_holds_the_word():
    (written,) = findings(asks(OPTIONS + ",hrad")(), "options_persisted", **listed())
    (added,) = findings(conf("Hrad=True")(), "options_persisted", **listed())
    assert written.fix == "correct or remove 'hrad' in /etc/fstab:2"
    assert added.fix == "correct or remove 'hrad' in nfsmount.conf"


def test_a_refused_word_is_no_reason_to_write():
    """apply would keep the word and its mount would fail: it refuses, and says which."""
    policy = nfs_mounts.policy_from(nfs_packs.nfs_policy(**listed()))
    machine = asks(OPTIONS.replace("hard", "hrad").replace("timeo=600,", "timeo=300,"))()
    plan = planner("nfs_mounts")(nfs_mounts.read(machine, policy), policy)
    assert any("hrad" in refusal.reason for refusal in plan.refusals)


def test_what_the_policy_asks_for_is_not_written_where_mount_refuses_it():
    policy = nfs_mounts.policy_from(nfs_packs.nfs_policy(**listed(options="forcedirectio")))
    plan = planner("nfs_mounts")(nfs_mounts.read(ready_host(), policy), policy)
    assert any("forcedirectio" in refusal.reason for refusal in plan.refusals)


# -- what may not run -----------------------------------------------------------------------------


def local(path: str, flags: str, fstype: str = "xfs", fstab: str | None = None) -> NfsMachine:
    """A host with a home of 19c on a file system that is not NFS, and what fstab says of it."""
    machine = nfs_host().file("/etc/oratab", f"ORCL:{HOME}:N\n").folder(HOME)
    machine.file(f"{HOME}/bin/oracle", "")
    return also(machine, path, flags, fstype, fstab)


def also(
    machine: NfsMachine, path: str, flags: str, fstype: str = "xfs", fstab: str | None = None
) -> NfsMachine:
    above = [line.split()[0] for line in machine.other_mounts if path.startswith(line.split()[4])]
    number, parent = 400 + len(machine.other_mounts), [25, *above][-1]
    machine.other_mounts.append(
        f"{number} {parent} 253:9 / {path} {flags} - {fstype} /dev/vg/x rw\n"
    )
    machine._tell()
    if fstab is not None:
        machine.file(FSTAB, f"{machine.files[FSTAB]}/dev/vg/x {path} {fstype} {fstab} 0 0\n")
    return machine


def on_nfs(flags: str, asked: str = OPTIONS, **policy: Any) -> NfsMachine:
    machine = nfs_host().fstab("/u01", "filer1:/vol/u01", asked)
    machine.mount("/u01", "filer1:/vol/u01", shown())
    text = machine.files[MOUNTINFO]
    machine.file(MOUNTINFO, text.replace("/u01 rw,relatime", f"/u01 rw,{flags},relatime"))
    return machine.file("/etc/oratab", f"ORCL:{HOME}:N\n")


class Run(NamedTuple):
    host: Callable[[], NfsMachine]
    subject: str
    truth: str
    source: str


_SETUID = "root.sh sets the bit; execve(2): nosuid ignores it"
_GUIDE = "Oracle Database Installation Guide for Linux: /dev/shm without noexec"
_CIS = "CIS Benchmark for Oracle Linux, /tmp, and oracle-os.md: noexec breaks runInstaller"
RUNS = {
    "home, hardened": Run(lambda: local("/u01", "rw,nosuid,nodev"), HOME, FAIL, _SETUID),
    "home, noexec": Run(lambda: local("/u01", "rw,noexec"), HOME, FAIL, "execve(2): EACCES"),
    "home, nodev": Run(lambda: local("/u01", "rw,nodev", fstab="nodev"), HOME, PASS, "mount(8)"),
    "home, as it should be": Run(lambda: local("/u01", "rw", fstab="defaults"), HOME, PASS, ""),
    "home, at the next reboot": Run(
        lambda: local("/u01", "rw", fstab="defaults,nosuid"), HOME, FAIL, "fstab(5)"
    ),
    "home, by user": Run(
        lambda: local("/u01", "rw", fstab="user"), HOME, FAIL, "mount(8): user implies nosuid"
    ),
    "home, by user and taken back": Run(
        lambda: local("/u01", "rw", fstab="users,exec,suid"), HOME, PASS, "mount(8): users"
    ),
    "home, by group": Run(
        lambda: local("/u01", "rw", fstab="group"), HOME, FAIL, "mount(8): group"
    ),
    "home, noauto": Run(
        lambda: local("/u01", "rw", fstab="noauto,nosuid"), HOME, PASS, "no boot mounts it so"
    ),
    "home below another mount": Run(
        lambda: also(local("/u01", "rw,nosuid"), "/u01/app", "rw"), HOME, PASS, "the deepest counts"
    ),
    "home on the root of the host": Run(lambda: local("/u02", "rw,nosuid"), HOME, PASS, "no /u01"),
    "a mount that comes with the next reboot": Run(
        lambda: local("/u03", "rw").file(
            FSTAB, f"/dev/a / xfs defaults 0 0\n/dev/b {HOME} xfs nosuid 0 0\n"
        ),
        HOME,
        FAIL,
        "fstab(5)",
    ),
    "shared memory": Run(
        lambda: also(local("/u01", "rw"), "/dev/shm", "rw,nosuid,nodev,noexec", "tmpfs"),
        "/dev/shm",
        FAIL,
        _GUIDE,
    ),
    "shared memory as systemd makes it": Run(
        lambda: also(local("/u01", "rw"), "/dev/shm", "rw,nosuid,nodev", "tmpfs"),
        "/dev/shm",
        PASS,
        "systemd src/shared/mount-setup.c: MS_NOSUID|MS_NODEV",
    ),
    "shared memory at the next reboot": Run(
        lambda: also(local("/u01", "rw"), "/dev/shm", "rw", "tmpfs", "rw,noexec"),
        "/dev/shm",
        FAIL,
        _GUIDE,
    ),
    "tmp": Run(
        lambda: also(local("/u01", "rw"), "/tmp", "rw,nosuid,nodev,noexec", "tmpfs"),
        "/tmp",
        WARN,
        _CIS,
    ),
    "tmp, nosuid only": Run(
        lambda: also(local("/u01", "rw"), "/tmp", "rw,nosuid,nodev", "tmpfs"), "/tmp", PASS, _CIS
    ),
    "home on NFS that the list does not have": Run(lambda: on_nfs("nosuid"), HOME, FAIL, _SETUID),
}


@pytest.mark.parametrize("name", RUNS)
def test_programs_run(name):
    run = RUNS[name]
    policy = {"mounts": [nfs_packs.DATAFILES]} if "list does not have" in name else {}
    by_subject = {
        one.title.partition(": ")[0]: one for one in findings(run.host(), "exec_and_suid", **policy)
    }
    assert by_subject[run.subject].status == run.truth, (run.source, by_subject[run.subject].why)
    if run.truth in (FAIL, WARN):
        finding = by_subject[run.subject]
        assert finding.fix and not finding.fix.startswith("then ")
        edits, mounts = finding.fix.startswith("let "), "again" in finding.fix
        assert (edits, mounts) == {
            "persisted": (True, False),
            "running": ("requests" in finding.why, True),
        }[finding.failing_layer]


def test_the_command_takes_any_path():
    path = "/u0 1/$(touch x);'"
    machine = nfs_host().file("/etc/oratab", f"ORCL:{path}:N\n").folder(path)
    also(machine, path.replace(" ", "\\040"), "rw,nosuid")
    (finding, *_) = findings(machine, "exec_and_suid")
    assert finding.status == FAIL
    assert finding.commands == ("mount -o remount,suid '/u0 1/$(touch x);'\"'\"''",)


def test_a_host_without_oracle():
    assert [finding.status for finding in findings(nfs_host(), "exec_and_suid")] == [SKIP]


def test_homes_that_nobody_can_name():
    machine = local("/u01", "rw").deny("/etc/oratab")
    assert {finding.status for finding in findings(machine, "exec_and_suid")} == {ERROR}


@cases("use", "single", "rac", "failover")
@cases("file_class", "datafiles", "redo", "backup", "adr", "crs_voting")
def test_data_needs_neither(file_class, use):
    machine = nfs_host().fstab("/u02", "filer1:/vol/u02", OPTIONS + ",nosuid,noexec,nodev")
    machine.mount("/u02", "filer1:/vol/u02", shown())
    text = machine.files[MOUNTINFO]
    machine.file(MOUNTINFO, text.replace("rw,relatime shared:2", "rw,nosuid,nodev,noexec shared:2"))
    policy = listed(**{"class": file_class, "sharing": use})
    for check in ("options_in_force", "options_persisted"):
        (finding,) = findings(machine, check, **policy)
        assert "nosuid" not in finding.why and "noexec" not in finding.why


@cases("flag", "nosuid", "noexec")
@cases("path", HOME, GRID)
def test_a_home_on_nfs(path, flag):
    machine = on_nfs(flag, OPTIONS + "," + flag).file("/etc/oratab", f"ORCL:{path}:N\n")
    for check in ("options_in_force", "options_persisted"):
        (finding,) = findings(machine, check)
        assert finding.status == FAIL and flag in finding.why


def test_a_home_on_a_mount_of_datafiles():
    """What else lies there decides nothing about what the programs need."""
    machine = on_nfs("nosuid").database("/u01/oradata/ORCL/system01.dbf")
    (finding,) = findings(machine, "options_in_force")
    assert finding.status == FAIL and "nosuid" in finding.why


def test_nodev_is_fine_for_a_home_on_nfs():
    (finding,) = findings(on_nfs("nodev", OPTIONS + ",nodev"), "options_in_force")
    assert finding.status == PASS


# -- sizes, as both controls judge them -----------------------------------------------------------


@cases(
    "size status requests",
    (8192, FAIL, ""),
    (16384, FAIL, ""),
    (32768, WARN, "32 requests in place of 4"),
    (65536, WARN, "16 requests in place of 4"),
    (131072, WARN, "8 requests in place of 4"),
    (262144, PASS, ""),
    (1048576, PASS, ""),
)
def test_both_controls_agree_on_transfer_sizes(size, status, requests):
    """NetApp, NFS transfer sizes: 64 KiB is ONTAP's default; Oracle: ORA-27054 below 32 KiB."""
    machine = nfs_host().persisted_mount("/u02", "filer1:/vol/u02", OPTIONS, shown(rsize=size))
    (finding,) = findings(machine, "transfer_size", **listed())
    assert finding.status == status
    advice = storage_advice.advice_of("ONTAP")
    settings = nfs_options.effective(nfs_options.parse(shown(rsize=size)), nfs_options.LINUX)
    verdict = storage_advice.judge_transfers(storage_advice.small_transfers(advice, settings))
    assert (verdict.refused, bool(verdict.why)) == (status == FAIL, status != PASS)
    assert requests in finding.why and requests in verdict.why
    if status == WARN:
        assert "SVM-wide" in finding.fix and "SVM-wide" in verdict.fix and finding.commands == ()


def test_a_small_size_in_fstab_is_a_warning_too():
    machine = asks(OPTIONS.replace("262144", "65536"))()
    (finding,) = findings(machine, "options_persisted", **listed())
    assert finding.status == WARN
    machine = asks(OPTIONS.replace("262144", "16384"))()
    (finding,) = findings(machine, "options_persisted", **listed())
    assert finding.status == FAIL


# -- nested mounts of one volume under Direct NFS -------------------------------------------------


def nested(
    inner: str = "filer1:/vol/u01/oradata", path: str = "/u01/oradata", linked: bool = True
) -> NfsMachine:
    """A home whose ODM library is that of Direct NFS, and two mounts, one within the other."""
    machine = nfs_host().file("/etc/oratab", f"ORCL:{HOME}:N\n")
    machine.file(f"{HOME}/lib/libodm19.so", "stub").file(f"{HOME}/lib/libnfsodm19.so", "direct")
    machine.file(f"{HOME}/bin/oracle", "").folder(f"{HOME}/dbs", f"{HOME}/rdbms/lib/odm")
    if linked:
        machine.file(f"{HOME}/rdbms/lib/odm/libnfsodm19.so", "direct")
    for where, source in (("/u01", "filer1:/vol/u01"), (path, inner)):
        machine.persisted_mount(where, source, OPTIONS, superblock="0:45")
    return machine.database("/u01/oradata/ORCL/system01.dbf", f"{path}/ORCL/x.dbf")


@cases(
    "machine policy needed source",
    (nested, {}, True, "NetApp, Oracle Database on Linux, Linux Direct NFS: all three"),
    (lambda: nested(inner="filer1:/vol/u01"), {}, True, "the same export twice"),
    (lambda: nested(linked=False), {}, False, "Direct NFS is off"),
    (lambda: nested(linked=False), {"direct_nfs": "required"}, True, "the policy turns it on"),
    (lambda: nested(), {"direct_nfs": "unmanaged"}, False, "nobody manages Direct NFS"),
    (lambda: nested(path="/u02"), {}, False, "mounted twice, not nested"),
    (lambda: nested(inner="filer1:/vol/other"), {}, False, "another volume"),
    (lambda: nested(inner="filer2:/vol/u01/oradata"), {}, False, "another server"),
    (lambda: nested(inner="filer1:/vol/u01x"), {}, False, "a name that begins alike"),
)
def test_nosharecache_where_direct_nfs_needs_it(machine, policy, needed, source):
    for check in ("options_in_force", "options_persisted"):
        judged = findings(machine(), check, **policy)
        assert len(judged) == 2
        for finding in judged:
            assert ("nosharecache" in finding.desired) is needed, source
            assert (finding.status == FAIL) is needed, (source, finding.why)


def test_nosharecache_that_is_there():
    machine = nested()
    machine.file(MOUNTINFO, machine.files[MOUNTINFO].replace(",hard,", ",hard,nosharecache,"))
    machine.file(FSTAB, machine.files[FSTAB].replace(",nointr", ",nointr,nosharecache"))
    for check in ("options_in_force", "options_persisted"):
        assert {finding.status for finding in findings(machine, check)} == {PASS}


def test_whether_direct_nfs_is_on_is_not_known():
    machine = nested().deny(f"{HOME}/lib")
    assert {finding.status for finding in findings(machine, "options_in_force")} == {ERROR}

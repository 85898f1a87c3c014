"""Free space, inodes, mount options and modes, as they are judged."""

import packs
import pytest
import space_packs
from ansible.module_utils.hostproof.controls.space.facts import parse_usage
from ansible.module_utils.hostproof.errors import ParseError, PolicyError
from ansible.module_utils.hostproof.evaluate import audit
from cases import cases
from default_policies import changed_policy
from space_packs import FSTAB, GIB, mounted, usage, with_home

MIB = packs.MIB
PROFILE = "oracle_19c_single"


@pytest.fixture
def judge(validate_finding):
    def judge_host(machine, profile=PROFILE, **changes):
        """Findings by check, and by what stands before the title."""
        policy = changed_policy("space", profile=profile, **changes)
        findings = audit.judge_host(machine, {"space": policy})
        for finding in findings:
            validate_finding(finding.as_dict())
        return {
            (one.check[len("space.") :], one.title.rpartition(": ")[0]): one for one in findings
        }

    return judge_host


def statuses(found, check):
    return {name: finding.status for (which, name), finding in found.items() if which == check}


class TestWhereItCounts:
    def test_nothing_of_oracle_and_no_profile(self, judge):
        findings = judge(mounted(packs.linux()), "none")
        assert {finding.status for finding in findings.values()} == {"skip"}
        assert "hostproof_profile" in findings["free", ""].why

    def test_not_a_linux_host(self, judge):
        assert {finding.status for finding in judge(packs.linux()).values()} == {"skip"}

    def test_a_home_or_a_planned_path_suffices(self, judge):
        findings = judge(with_home(mounted(packs.linux())), "none")
        assert findings.pop(("tmp", "")).status == "warn"
        assert {finding.status for finding in findings.values()} == {"pass", "skip"}
        assert findings["free", "/"].desired == "at least 2.0 GiB free"
        planned = [{"path": "/u01/app/grid", "free": "12G"}]
        findings = judge(mounted(packs.linux()), "none", planned=planned)
        assert findings["free", "/"].desired == "at least 12.0 GiB free"

    def test_a_host_of_which_nothing_is_known(self, judge):
        findings = judge(mounted(packs.linux()).deny("/proc/self/mountinfo"))
        assert {finding.status for finding in findings.values()} == {"error"}

    def test_an_unknown_inventory_is_an_error_beside_the_rest(self, judge):
        machine = mounted(packs.linux()).deny("/etc/oratab")
        for profile in (PROFILE, "none"):
            findings = judge(machine, profile)
            assert "error" in statuses(findings, "free").values()
            assert findings["shm", ""].status == "pass"


class TestFree:
    @cases("free status", (1089 * MIB, "pass"), (1089 * MIB - 4096, "fail"), (0, "fail"))
    def test_the_installers_demands_are_added_up(self, judge, free, status):
        finding = judge(usage(mounted(packs.linux()), "/", free))["free", "/"]
        assert (finding.status, finding.values["wanted"]) == (status, 1089 * MIB)

    def test_by_mount_point_through_links(self, judge):
        extra = (
            "30 27 254:1 / /usr rw - xfs /dev/vdb rw\n31 27 0:9 / /tmp rw,nosuid - tmpfs tmpfs rw\n"
        )
        machine = usage(mounted(packs.linux(), extra), "/usr", 35 * MIB - 4096)
        usage(machine, "/tmp", GIB)
        findings = judge(usage(machine, "/", 30 * MIB))
        # /sbin leads to /usr/sbin.
        assert statuses(findings, "free") == {"/": "pass", "/tmp": "pass", "/usr": "fail"}
        assert "/sbin" in findings["free", "/usr"].why

    @cases("free status", (2 * GIB, "pass"), (2 * GIB - 4096, "warn"), (0, "fail"))
    def test_a_home_and_its_base(self, judge, free, status):
        finding = judge(usage(with_home(mounted(packs.linux())), "/", free), "none")["free", "/"]
        assert finding.status == status
        if status != "pass":
            assert "/u01/app/oracle/diag (diagnostic destination)" in finding.why

    def test_a_file_system_that_gives_no_numbers(self, judge):
        for answer, rc in (("", 1), ("4096 10 11 5 1\n", 0), ("a b c d e\n", 0)):
            machine = mounted(packs.linux()).command(f"{space_packs.STATFS} /", answer, rc=rc)
            findings = judge(machine)
            assert findings["free", "/"].status == findings["inodes", "/"].status == "error"

    @cases("text", "", "4096 1 1 1", "4096 1 2 1 1", "1 1 1 1 -1", "1 1 1 1 2")
    def test_numbers_that_no_file_system_has(self, text):
        with pytest.raises(ParseError):
            parse_usage(text)


class TestNetwork:
    MOUNT = "30 27 0:50 / /u01 rw - nfs4 filer:/u01 rw,vers=4.1\n"

    def test_nothing_on_it_is_touched_but_by_the_command(self, judge):
        machine = usage(with_home(mounted(packs.linux(), self.MOUNT)), "/u01", 10 * GIB)
        machine.deny("/u01")
        assert statuses(judge(machine), "free") == {"/": "pass", "/u01": "pass"}
        touched = [key for key in machine.evidence if "/u01" in key]
        stat = f"stat -L -c %u %a {packs.HOME}/bin/oradism"
        assert touched == [f"command:{space_packs.STATFS} /u01", f"command:{stat}"]

    def test_a_server_that_does_not_answer(self, judge):
        machine = with_home(mounted(packs.linux(), self.MOUNT))
        machine.refused[f"command:{space_packs.STATFS} /u01"] = "unanswered"
        assert statuses(judge(machine), "free") == {"/": "pass", "/u01": "error"}

    def test_an_automount_is_not_triggered(self, judge):
        machine = with_home(mounted(packs.linux(), "30 27 0:50 / /u01 rw - autofs a rw\n"))
        assert statuses(judge(machine), "free") == {"/": "pass", "/u01": "error"}
        assert not [key for key in machine.evidence if "/u01" in key]


class TestInodes:
    @cases(
        "inodes status",
        ((1000, 50), "pass"),
        ((1000, 49), "warn"),
        ((1000, 0), "fail"),
        ((0, 0), "skip"),
    )
    def test_share(self, judge, inodes, status):
        machine = usage(mounted(packs.linux()), "/", 40 * GIB, inodes)
        assert judge(machine)["inodes", "/"].status == status


class TestMountOptions:
    @cases(
        "options line status",
        ("rw,nosuid", "tmpfs /tmp tmpfs defaults", "pass"),
        ("rw,noexec", "tmpfs /tmp tmpfs defaults", "fail"),
        ("rw,nosuid", "tmpfs /tmp tmpfs noexec", "warn"),
        ("rw,nosuid", "tmpfs /tmp tmpfs users", "warn"),
        ("rw,nosuid", "tmpfs /tmp tmpfs users,exec", "pass"),
        ("rw,nosuid", "tmpfs /tmp tmpfs ro,rw", "pass"),
    )
    def test_tmp(self, judge, options, line, status):
        extra = f"31 27 0:9 / /tmp {options} - tmpfs tmpfs rw\n"
        machine = usage(mounted(packs.linux(), extra, FSTAB + line + "\n"), "/tmp", GIB)
        finding = judge(machine)["mount_options", "/tmp"]
        assert (finding.status, finding.running) == (status, options)

    @cases("options status", ("rw", "pass"), ("rw,nosuid", "fail"), ("rw,noexec", "fail"))
    def test_home(self, judge, options, status):
        extra = f"31 27 254:2 / /u01 {options} - xfs /dev/vdc rw\n"
        machine = usage(with_home(mounted(packs.linux(), extra)), "/u01", 10 * GIB)
        assert judge(machine, "none")["mount_options", "/u01"].status == status

    def test_read_only_after_an_error(self, judge):
        extra = "31 27 254:2 / /var rw - ext4 /dev/vdc ro,errors=remount-ro\n"
        machine = usage(mounted(packs.linux(), extra), "/var", 10 * GIB)
        finding = judge(machine)["mount_options", "/var"]
        assert (finding.status, "mounted with ro" in finding.why) == ("fail", True)
        assert finding.fix.startswith("find in the kernel log why; then if the kernel reported")
        assert "fstab" not in finding.fix
        assert finding.commands == ("journalctl -k --no-pager -n 200",)

    def test_the_fix_names_the_places_of_the_wrong_layer(self, judge):
        lines = {"": "/dev/vdc /u01 xfs defaults 0 0\n", "noexec": "/dev/vdc /u01 xfs noexec 0 0\n"}
        for now in ("rw", "rw,noexec"):
            for then, line in lines.items():
                extra = f"31 27 254:2 / /u01 {now} - xfs /dev/vdc rw\n"
                machine = with_home(mounted(packs.linux(), extra, FSTAB + line))
                fix = judge(usage(machine, "/u01", 9 * GIB), "none")["mount_options", "/u01"].fix
                assert ("remove noexec from the line" in (fix or "")) == bool(then)
                assert ("mount it again without them" in (fix or "")) == (now != "rw")

    def test_a_broken_file_system_is_not_mounted_for_writing(self, judge):
        extra = "31 27 254:2 / /u01 ro,noexec - xfs /dev/vdc ro\n"
        line = "/dev/vdc /u01 xfs defaults,user 0 0\n"
        machine = usage(with_home(mounted(packs.linux(), extra, FSTAB + line)), "/u01", 9 * GIB)
        finding = judge(machine, "none")["mount_options", "/u01"]
        assert not [line for line in finding.commands if line.startswith("mount")]
        assert finding.fix.index("kernel log") < finding.fix.index("remove user from the line")

    def test_an_unreadable_fstab_hides_no_option_of_now(self, judge):
        extra = "31 27 254:2 / /u01 rw,noexec - xfs /dev/vdc rw\n"
        machine = usage(with_home(mounted(packs.linux(), extra)), "/u01", 9 * GIB)
        finding = judge(machine.deny("/etc/fstab"), "none")["mount_options", "/u01"]
        assert (finding.status, finding.failing_layer) == ("fail", "running")


class TestMountedAtBoot:
    EXTRA = "31 27 254:2 / /u01 rw - xfs /dev/vdc rw\n"

    def machine(self, line, extra=""):
        mounts = extra + self.EXTRA
        return usage(with_home(mounted(packs.linux(), mounts, FSTAB + line)), "/u01", 9 * GIB)

    @cases(
        "line status",
        ("/dev/vdc /u01 xfs defaults 0 0\n", "pass"),
        ("/dev/vdc /u01 xfs\n", "pass"),
        ("/dev/vdc /u01 xfs noauto 0 0\n", "fail"),
        ("/dev/vdc /u01/ xfs rw,noauto,nofail 0 0\n", "fail"),
        ("/dev/vdc /u01 xfs noauto,x-systemd.automount 0 0\n", "pass"),
        ("/dev/vdc /u01 xfs noauto,auto 0 0\n", "pass"),
        ("/dev/vdc /u01 xfs auto,noauto 0 0\n", "fail"),
        ("", "fail"),
        ("#/dev/vdc /u01 xfs defaults 0 0\n", "fail"),
        ("/dev/vdc /u02 xfs defaults 0 0\n", "fail"),
    )
    def test_fstab(self, judge, line, status):
        finding = judge(self.machine(line), "none")["mounted_at_boot", "/u01"]
        assert finding.status == status
        if status == "fail":
            assert finding.failing_layer == "persisted"
            wanted = (
                "remove noauto" if "noauto" in line else "the UUID of /dev/vdc (blkid /dev/vdc)"
            )
            assert wanted in finding.fix

    @cases(
        "unit state status",
        ("u01.mount", "enabled", "pass"),
        ("u01.automount", "enabled", "pass"),
        ("u01.mount", "disabled", "fail"),
        ("u01.mount", "masked", "fail"),
        # Another unit can start these, and other generators than that of fstab make units.
        ("u01.mount", "generated", "error"),
        ("u01.mount", "static", "error"),
        ("u01.mount", "enabled-runtime", "fail"),
    )
    def test_units(self, judge, unit, state, status):
        machine = self.machine("").command(f"systemctl is-enabled {unit}", state + "\n")
        assert judge(machine, "none")["mounted_at_boot", "/u01"].status == status

    def test_a_line_with_noauto_generates_a_unit(self, judge):
        machine = self.machine("/dev/vdc /u01 xfs noauto 0 0\n")
        machine.command("systemctl is-enabled u01.mount", "generated\n")
        assert judge(machine, "none")["mounted_at_boot", "/u01"].status == "fail"

    def test_a_host_without_systemd(self, judge):
        machine = self.machine("")
        for suffix in ("mount", "automount"):
            del machine.commands[f"systemctl is-enabled u01.{suffix}"]
            machine.evidence[f"command:systemctl is-enabled u01.{suffix}"] = {
                "kind": "command",
                "at": "2026-11-21T03:15:00Z",
                "error": "absent",
                "message": "systemctl is not installed",
            }
        assert judge(machine, "none")["mounted_at_boot", "/u01"].status == "fail"

    @cases(
        "source states status",
        ("/etc/auto.u01", {"autofs.service": "enabled"}, "pass"),
        ("/etc/auto.u01", {"autofs.service": "disabled"}, "fail"),
        # An automount that was started by an administrator.
        ("systemd-1", {"autofs.service": "enabled"}, "fail"),
        ("systemd-1", {"u01.automount": "enabled"}, "pass"),
    )
    def test_an_automounter(self, judge, source, states, status):
        """The kernel shows the automount and, above it, the file system that it mounted."""
        machine = self.machine("")
        automount = f"30 27 0:55 / /u01 rw - autofs {source} rw\n"
        text = space_packs.MOUNTS + automount + self.EXTRA.replace("31 27", "31 30")
        machine.file("/proc/self/mountinfo", text)
        for unit, state in states.items():
            machine.command(f"systemctl is-enabled {unit}", state + "\n")
        assert judge(machine, "none")["mounted_at_boot", "/u01"].status == status

    @cases("line", "/dev/vdc /u01 xfs defaults 0 0\n", "")
    def test_a_masked_unit_mounts_nothing(self, judge, line):
        machine = self.machine(line).file("/dev/null", "")
        machine.link("/etc/systemd/system/u01.mount", "/dev/null")
        machine.command("systemctl is-enabled u01.mount", "masked\n", 1)
        finding = judge(machine, "none")["mounted_at_boot", "/u01"]
        assert (finding.status, finding.failing_layer) == ("fail", "persisted")
        assert finding.why.startswith("u01.mount is masked, so systemd does not mount /u01.")
        assert finding.fix.startswith("unmask u01.mount")
        assert ("add a line for /u01" in finding.fix) == (line == "")

    def test_the_root_file_system(self, judge):
        machine = with_home(mounted(packs.linux()))
        assert judge(machine, "none")["mounted_at_boot", ""].status == "skip"

    def test_an_unreadable_fstab(self, judge):
        machine = self.machine("").deny("/etc/fstab")
        assert judge(machine, "none")["mounted_at_boot", "/u01"].status == "error"


class TestShm:
    @cases(
        "mount line status fix commands",
        ("rw,nosuid - tmpfs tmpfs rw", "", "pass", "", ()),
        (
            *("rw,noexec - tmpfs shm rw", "", "warn", "find what mounts it with noexec"),
            ("mount -o remount,exec /dev/shm",),
        ),
        (
            *("rw - tmpfs tmpfs rw", "tmpfs /dev/shm tmpfs noexec\n", "warn"),
            *("remove noexec from the line of /dev/shm in /etc/fstab", ()),
        ),
        (
            *("rw,noexec - tmpfs tmpfs rw", "tmpfs /dev/shm tmpfs noexec\n", "warn"),
            *("remove noexec from the line", ("mount -o remount,exec /dev/shm",)),
        ),
        (
            *("ro - tmpfs tmpfs rw", "", "fail", "find what mounts it with ro"),
            ("mount -o remount,rw /dev/shm",),
        ),
        # A second mount would hide the memory of instances that run.
        ("rw - ext4 /dev/vdb rw", "", "fail", "mount a tmpfs at /dev/shm while no", ()),
    )
    def test_mount(self, judge, mount, line, status, fix, commands):
        machine = mounted(packs.linux(), fstab=FSTAB + line)
        row = "25 24 0:23 / /dev/shm rw,nosuid,nodev - tmpfs tmpfs rw,size=24684084k"
        text = space_packs.MOUNTS.replace(row, f"25 24 0:23 / /dev/shm {mount}")
        finding = judge(machine.file("/proc/self/mountinfo", text))["shm", ""]
        assert (finding.status, finding.commands) == (status, commands)
        assert (finding.fix or "").startswith(fix)

    def test_none(self, judge):
        machine = mounted(packs.linux())
        lines = [line for line in space_packs.MOUNTS.splitlines() if "/dev/shm" not in line]
        finding = judge(machine.file("/proc/self/mountinfo", "\n".join(lines) + "\n"))["shm", ""]
        assert (finding.status, finding.running) == ("fail", "not mounted")


class TestProcAndBoot:
    @cases(
        "option line status",
        ("rw", "", "pass"),
        ("rw,hidepid=0", "", "pass"),
        ("rw,hidepid=2", "", "fail"),
        ("rw,hidepid=invisible", "", "fail"),
        ("rw,gid=54321,hidepid=2", "", "warn"),
        ("rw", "proc /proc proc hidepid=2\n", "warn"),
    )
    def test_hidepid(self, judge, option, line, status):
        machine = mounted(packs.linux(), fstab=FSTAB + line)
        text = space_packs.MOUNTS.replace("proc proc rw", f"proc proc {option}")
        finding = judge(machine.file("/proc/self/mountinfo", text))["hidepid", ""]
        assert finding.status == status
        # A correct running mount is not mounted again.
        assert bool(finding.commands) == ("hidepid" in option and not option.endswith("=0"))
        assert ("from the line of /proc" in (finding.fix or "")) == bool(line)

    def test_boot(self, judge):
        line = "/dev/vdd /boot xfs defaults\n"
        assert judge(mounted(packs.linux()))["boot", ""].status == "skip"
        assert judge(mounted(packs.linux(), fstab=FSTAB + line))["boot", ""].status == "warn"
        extra = "32 27 254:9 / /boot rw - xfs /dev/vdd rw\n"
        assert judge(mounted(packs.linux(), extra, FSTAB + line))["boot", ""].status == "pass"
        machine = mounted(packs.linux(), fstab=FSTAB + "/dev/vdd /boot xfs noauto\n")
        assert judge(machine)["boot", ""].status == "pass"

    def test_fstab_that_may_not_be_read(self, judge):
        findings = judge(mounted(packs.linux()).deny("/etc/fstab"))
        for check in (("boot", ""), ("hidepid", ""), ("shm", ""), ("mount_options", "/")):
            assert findings[check].status == "error"
        assert judge(mounted(packs.linux()).remove("/etc/fstab"))["shm", ""].status == "pass"


class TestFolders:
    @cases(
        "path mode status",
        ("/tmp", 0o1777, "pass"),
        ("/tmp", 0o777, "fail"),
        ("/var/tmp", 0o1770, "fail"),
        ("/dev/shm", 0o755, "fail"),
        ("/var", 0o755, "pass"),
        ("/var", 0o775, "fail"),
        ("/var", 0o700, "fail"),
    )
    def test_modes(self, judge, path, mode, status):
        machine = mounted(packs.linux())
        machine.modes[path] = mode
        finding = judge(machine)["directories", path]
        assert finding.status == status
        if status == "fail":
            # The owner is right.
            assert [line.split()[0] for line in finding.commands] == ["chmod"]

    def test_a_folder_that_is_not_there(self, judge):
        finding = judge(mounted(packs.linux()).remove("/var/tmp"))["directories", "/var/tmp"]
        assert finding.status == "fail"
        assert finding.fix == "create the directory /var/tmp with owner root and mode 1777"


def test_a_planned_path_that_cannot_be_used():
    from ansible.module_utils.hostproof.controls.space.policy import policy_from

    with pytest.raises(PolicyError, match="space_inodes_free"):
        policy_from(changed_policy("space", inodes_free=100))


#: SLES 15 mounts subvolumes of the root file system. All of them have its device.
SUBVOLUMES = """\
40 27 254:0 /@/tmp /tmp rw,relatime - btrfs /dev/vda rw,subvol=/@/tmp
41 27 254:0 /@/var /var rw,relatime - btrfs /dev/vda rw,subvol=/@/var
"""


@cases("free status", (1089 * MIB, "pass"), (1089 * MIB - 4096, "fail"))
def test_mounts_of_one_device_share_its_space(judge, free, status):
    machine = mounted(packs.linux(), SUBVOLUMES)
    for path in ("/", "/tmp", "/var"):
        usage(machine, path, free, (0, 0))
    findings = judge(machine)
    assert statuses(findings, "free") == dict.fromkeys(("/", "/tmp", "/var"), status)
    assert findings["free", "/tmp"].values["wanted"] == 1089 * MIB
    assert findings["tmp", ""].status == "warn" and statuses(findings, "inodes")["/tmp"] == "skip"


@cases("options status", ("hidepid=2,hidepid=0", "pass"), ("hidepid=0,hidepid=invisible", "warn"))
def test_the_last_hidepid_of_a_line_counts(judge, options, status):
    machine = mounted(packs.linux(), "", f"{FSTAB}proc /proc proc {options} 0 0\n")
    assert judge(machine)["hidepid", ""].status == status


def test_a_line_that_mounts_shm_read_only(judge):
    """The same as a mount that is read-only now: after a reboot the instance does not start."""
    machine = mounted(packs.linux(), "", FSTAB + "tmpfs /dev/shm tmpfs ro 0 0\n")
    finding = judge(machine)["shm", ""]
    assert (finding.status, finding.failing_layer) == ("fail", "persisted")
    machine = mounted(packs.linux(), "", FSTAB + "tmpfs /dev/shm tmpfs ro,noexec 0 0\n")
    assert judge(machine)["shm", ""].status == "fail"
    machine = mounted(packs.linux(), "", FSTAB + "tmpfs /dev/shm tmpfs ro,rw 0 0\n")
    assert judge(machine)["shm", ""].status == "pass"


def test_tmp_is_a_link_to_another_file_system(judge):
    machine = mounted(packs.linux(), "40 27 254:9 / /scratch rw - xfs /dev/vdb rw\n")
    usage(machine.folder("/scratch/tmp").link("/tmp", "/scratch/tmp"), "/scratch", 9 * GIB)
    assert judge(machine)["tmp", ""].status == "warn"
    machine.evidence.clear()
    machine.file("/etc/fstab", FSTAB + "/dev/vdb /scratch xfs defaults 0 0\n")
    assert judge(machine)["tmp", ""].status == "pass"


@cases(
    "line is_masked status fix",
    ("tmpfs /tmp tmpfs defaults 0 0\n", False, "pass", ""),
    ("tmpfs /tmp tmpfs noauto 0 0\n", False, "warn", "remove noauto from the line of /tmp"),
    ("tmpfs /tmp tmpfs defaults 0 0\n", True, "warn", "unmask tmp.mount"),
    ("", True, "warn", "unmask tmp.mount"),
    ("", False, "warn", "put"),
)
def test_what_mounts_tmp_at_boot(judge, line, is_masked, status, fix):
    extra = "40 27 0:44 / /tmp rw - tmpfs tmpfs rw\n"
    machine = usage(mounted(packs.linux(), extra, FSTAB + line), "/tmp", 9 * GIB)
    if is_masked:
        machine.file("/dev/null", "").link("/etc/systemd/system/tmp.mount", "/dev/null")
        machine.command("systemctl is-enabled tmp.mount", "masked\n", 1)
    finding = judge(machine)["tmp", ""]
    assert (finding.status, (finding.fix or "")[: len(fix)]) == (status, fix), finding
    assert status == "pass" or finding.failing_layer == "persisted"

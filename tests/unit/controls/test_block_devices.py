"""Disks as they are checked: on a recorded machine with two paths to one unit, and its faults."""

from typing import Any

import block_packs
import packs
import pytest
from ansible.module_utils.hostproof.collect.host import RecordedHost
from ansible.module_utils.hostproof.evaluate import audit
from ansible.module_utils.hostproof.evaluate.finding import Finding
from block_packs import DBA, NAMED, ORACLE, RULES, recorded
from cases import cases
from default_policies import default_policy

#: What scsi_debug reports for the unit behind both paths.
SERIAL = "1Linux_scsi_debug_2000"
ASM_RULE = 'ENV{DM_NAME}=="mpath*", OWNER="oracle", GROUP="dba", MODE="0660"\n'
OWN = 'OWNER="oracle", GROUP="dba", MODE="0660"\n'


@pytest.fixture
def judge(validate_finding):
    """judge(host, entry, ...): findings by "name check", or by check alone."""

    def judge_host(host: RecordedHost, *entries: dict[str, Any], **changes: Any) -> Any:
        devices = {"devices": list(entries)} if entries else {}
        policy = {**default_policy("block_devices"), **devices, **changes}
        findings: dict[str, Finding] = {}
        for finding in audit.judge_host(host, {"block_devices": policy}):
            validate_finding(finding.as_dict())
            name, colon, _ = finding.title.partition(": ")
            check = finding.check.partition(".")[2]
            if check.startswith("hba_"):
                continue  # test_fibre_channel.py
            findings[f"{name} {check}" if colon else check] = finding
        return findings

    return judge_host


def owned(machine: block_packs.BlockMachine, *, mode: int = 0o660) -> block_packs.BlockMachine:
    machine.owners["/dev/dm-0"] = (ORACLE, DBA, mode)
    return machine


class TestWhichDisks:
    def test_without_a_database_nothing_is_judged(self, judge):
        findings = judge(recorded())
        assert {finding.status for finding in findings.values()} == {"skip"}
        assert "Neither ASM nor an instance uses a disk" in findings["scheduler"].why

    def test_what_asm_has_open(self, judge):
        findings = judge(recorded().process("asm_dbw0_+ASM", "/dev/dm-0", "/dev/null", uid=ORACLE))
        assert findings["/dev/dm-0 ownership"].in_use == "ASM (asm_dbw0_+ASM)"
        assert findings["mpatha (dm-0) paths"].status == "pass"
        found = {name for name in findings if name.endswith("scheduler")}
        assert found == {"mpatha (dm-0) scheduler", "sda scheduler", "sdb scheduler"}

    def test_what_lies_below_the_files_of_an_instance(self, judge):
        machine = recorded().command("uname -m", "x86_64\n")
        machine.file(
            "/proc/self/mountinfo",
            "29 1 253:0 / /u02 rw,relatime shared:1 - xfs /dev/mapper/mpatha rw\n",
        )
        machine.link("/sys/dev/block/253:0", "/sys/devices/virtual/block/dm-0")
        machine.folder("/u02/oradata")
        machine.writer("ora_dbw0_ORCL", {"0140002": ["/u02/oradata/users01.dbf"]}, pid=4101)
        machine.writer("ora_lgwr_ORCL", {"0140002": ["/u02/oradata/redo01.log"]}, pid=4102)
        findings = judge(machine)
        assert findings["mpatha (dm-0) paths_alike"].status == "pass"
        # Who owns the node of a file system does not matter to a database.
        assert "/dev/dm-0 ownership" not in findings

    def test_a_disk_of_asm_beside_one_of_files(self, judge):
        machine = recorded().command("uname -m", "x86_64\n")
        mount = "29 1 254:0 / /u02 rw,relatime shared:1 - xfs /dev/vda rw\n"
        machine.file("/proc/self/mountinfo", mount)
        machine.link("/sys/dev/block/254:0", "/sys/devices/virtual/block/vda")
        machine.folder("/sys/devices/virtual/block/vda/slaves")
        machine.folder("/u02/oradata").process("asm_dbw0_+ASM", "/dev/dm-0", uid=ORACLE)
        machine.writer("ora_dbw0_ORCL", {"0140002": ["/u02/oradata/users01.dbf"]}, pid=4101)
        findings = judge(machine)
        assert findings["/dev/dm-0 ownership"].in_use == "ASM (asm_dbw0_+ASM)"
        assert {name.split()[0] for name in findings if name.endswith(" scheduler")} >= {"vda"}

    def test_labels_of_asmlib_and_of_the_filter_driver_lead_to_their_disks(self, judge):
        for opened, folder in (
            ("/dev/oracleasm/iid/0000000000000001", "/dev/oracleasm/disks"),
            ("/dev/oracleafd/admin", "/dev/oracleafd/disks"),
        ):
            machine = recorded().process("asm_dbw0_+ASM", opened, uid=ORACLE)
            assert {finding.status for finding in judge(machine).values()} == {"error"}
            machine.evidence.clear()
            machine.folder(folder).file(f"{folder}/DATA1", "/dev/dm-0\n")
            number = "block special file fd 0\n"
            own = "regular file 0 0\n" if folder.startswith("/dev/oracleafd") else number
            machine.command(f"stat -L -c %F %t %T {folder}/DATA1", own)
            machine.command("stat -L -c %F %t %T /dev/dm-0", number)
            machine.link("/sys/dev/block/253:0", "/sys/devices/virtual/block/dm-0")
            findings = judge(machine)
            assert findings["mpatha (dm-0) paths"].status == "pass"
            assert "ASMLIB" in findings["ownership"].why
            machine.evidence.clear()
            for output, code in (("", 1), ("", 0), (own, 1)):
                machine.evidence.clear()
                machine.command(f"stat -L -c %F %t %T {folder}/DATA1", output, code)
                assert "error" in {finding.status for finding in judge(machine).values()}

    @cases(
        "node told",
        ("/dev/asmdisk1", "block special file fd 0"),
        ("/dev/raw/raw1", "character special file a2 1"),
    )
    def test_a_node_of_another_name_is_its_disk(self, judge, node, told):
        machine = recorded().process("asm_dbw0_+ASM", node, "/dev/infiniband/uverbs0", uid=ORACLE)
        machine.command(
            "stat -L -c %F %t %T /dev/infiniband/uverbs0", "character special file e7 c0"
        )
        assert {finding.status for finding in judge(machine).values()} == {"error"}
        machine.evidence.clear()
        machine.file(node, "").file("/dev/infiniband/uverbs0", "")
        machine.owners[node] = (ORACLE, DBA, 0o660)
        machine.command(f"stat -L -c %F %t %T {node}", told + "\n")
        machine.command("raw -q /dev/raw/raw1", "/dev/raw/raw1:\tbound to major 253, minor 0\n")
        machine.link("/sys/dev/block/253:0", "/sys/devices/virtual/block/dm-0")
        findings = judge(machine)
        assert "mpatha (dm-0) paths" in findings, findings["scheduler"].why
        owned_by = findings["/dev/dm-0 ownership"]
        assert owned_by.status == "fail" and f"udev did not create {node}" in owned_by.why

    def test_group_and_mode_are_judged_without_a_policy(self, judge):
        machine = owned(recorded()).rule("99-asm.rules", ASM_RULE)
        machine.process("asm_dbw0_+ASM", "/dev/dm-0", uid=ORACLE)
        machine.command("getent passwd 54321", "oracle:x:54321:54321::/home/oracle:/bin/sh\n")
        assert judge(machine)["/dev/dm-0 ownership"].status == "pass"
        machine.evidence.clear()
        machine.group("asmadmin", DBA + 7)
        assert judge(machine)["/dev/dm-0 ownership"].status == "fail", "dba is not asmadmin"
        machine.evidence.clear()
        machine.group("asmadmin", DBA)
        machine.rule("99-asm.rules", ASM_RULE.replace("dba", "asmadmin"))
        assert judge(machine)["/dev/dm-0 ownership"].status == "pass"
        for mode in (0o600, 0o640, 0o666):
            machine.evidence.clear()
            findings = judge(owned(machine, mode=mode))
            assert findings["/dev/dm-0 ownership"].status == "fail", oct(mode)

    def test_what_may_not_be_looked_at_is_an_error(self, judge):
        findings = judge(recorded().deny("open_files:asm_disks"))
        assert {finding.status for finding in findings.values()} == {"error"}
        named = judge(recorded().deny("open_files:asm_disks"), NAMED)
        assert named["mpatha (dm-0) paths"].status == "pass"

    def test_a_pattern_that_fits_nothing(self, judge):
        findings = judge(recorded(), {"name": "asm-*"})
        assert "No device of this host matches" in findings["scheduler"].why

    @cases(
        "name", "/dev/mapper/mpath?", "scsi-1Linux_scsi*", "/dev/disk/by-id/dm-name-mpatha", "dm-0"
    )
    def test_each_name_of_a_disk(self, judge, name):
        assert "mpatha (dm-0) paths" in judge(recorded(), {"name": name})

    def test_unmanaged_is_not_judged(self, judge):
        findings = judge(recorded(), NAMED, unmanaged=["/dev/mapper/mpatha"])
        assert {finding.status for finding in findings.values()} == {"skip"}

    def test_another_system(self, judge):
        assert {finding.status for finding in judge(packs.Machine()).values()} == {"skip"}

    def test_the_recording_itself_gives_the_same(self, judge):
        machine = recorded()
        live = judge(machine, NAMED)
        again = judge(RecordedHost(machine.evidence), NAMED)
        assert [finding.as_dict() for finding in live.values()] == [
            o.as_dict() for o in again.values()
        ]


class TestOwnership:
    def test_a_rule_by_identity_and_the_owner_it_gives(self, judge):
        machine = owned(recorded()).rule("12-asm.rules", ASM_RULE)
        finding = judge(machine, NAMED)["/dev/dm-0 ownership"]
        assert finding.status == "pass"
        assert "OWNER oracle from /etc/udev/rules.d/12-asm.rules:1" in finding.persisted
        assert finding.running == "54321:54322 0660"

    def test_a_chown_that_no_rule_keeps(self, judge):
        finding = judge(owned(recorded()), NAMED)["/dev/dm-0 ownership"]
        assert finding.status == "fail" and "no udev rule sets its OWNER" in finding.why
        assert finding.commands == ("./hostproof apply --tags block_devices",)

    def test_a_rule_for_the_paths_does_not_help_what_asm_opens(self, judge):
        rule = (
            'KERNEL=="sd*", ENV{ID_SERIAL}=="1Linux*", OWNER="oracle", GROUP="dba", MODE="0660"\n'
        )
        machine = owned(recorded()).rule("12-asm.rules", rule)
        assert judge(machine, NAMED)["/dev/dm-0 ownership"].status == "fail"

    def test_a_rule_that_never_sees_a_map(self, judge):
        machine = owned(recorded()).rule("12-asm.rules", 'ACTION=="add", ' + ASM_RULE)
        assert judge(machine, NAMED)["/dev/dm-0 ownership"].status == "fail"

    def test_a_rule_by_the_name_of_the_kernel(self, judge):
        rule = 'KERNEL=="sdb", OWNER="oracle", GROUP="dba", MODE="0660"\n'
        machine = recorded().rule("12-asm.rules", rule)
        machine.owners["/dev/sdb"] = (ORACLE, DBA, 0o660)
        finding = judge(machine, {**NAMED, "name": "/dev/sdb"})["/dev/sdb ownership"]
        assert finding.status == "warn" and "another disk can have" in finding.why

    def test_a_rule_for_the_first_event_alone(self, judge):
        rule = 'ACTION=="add", ENV{ID_SERIAL}=="1Linux*", OWNER="oracle", GROUP="dba", MODE="660"\n'
        machine = recorded().rule("99-asm.rules", rule)
        machine.owners["/dev/sdb"] = (ORACLE, DBA, 0o660)
        finding = judge(machine, {**NAMED, "name": "/dev/sdb"})["/dev/sdb ownership"]
        assert finding.status == "warn" and "not at other events" in finding.why

    def test_systemds_own_rule_comes_after_a_low_number(self, judge):
        """50-udev-default.rules gives each disk that is added to the group disk."""
        rule = 'ACTION=="add", ENV{ID_SERIAL}=="1Linux*", OWNER="oracle", GROUP="dba", MODE="660"\n'
        machine = recorded().rule("12-asm.rules", rule)
        machine.owners["/dev/sdb"] = (ORACLE, DBA, 0o660)
        finding = judge(machine, {**NAMED, "name": "/dev/sdb"})["/dev/sdb ownership"]
        assert finding.status == "fail"
        assert "udev sets its GROUP to disk (/usr/lib/udev/rules.d/50-udev-default" in finding.why

    @cases(
        "condition status",
        ('PROGRAM=="/usr/lib/udev/scsi_id -g -u -d $devnode", RESULT=="1Linux*", ', "pass"),
        ('PROGRAM=="/usr/lib/udev/scsi_id -g -u -d $devnode", RESULT=="36*", ', "fail"),
        ('PROGRAM=="/usr/local/bin/whose %k", RESULT=="asm", ', "error"),
        ('ENV{ID_SERIAL}=="1Linux*", TEST=="/etc/asm", ', "error"),
        ('ENV{ID_SERIAL}!="1Linux*", ', "fail"),
    )
    def test_what_a_rule_asks(self, judge, condition, status):
        rule = condition + 'OWNER="oracle", GROUP="dba", MODE="0660"\n'
        machine = recorded().rule("12-asm.rules", rule)
        machine.owners["/dev/sdb"] = (ORACLE, DBA, 0o660)
        assert judge(machine, {**NAMED, "name": "/dev/sdb"})["/dev/sdb ownership"].status == status

    def test_everybody_may_use_it(self, judge):
        machine = owned(recorded(), mode=0o666).rule("12-asm.rules", ASM_RULE)
        machine.process("asm_gmon_+ASM", "/dev/dm-0", uid=ORACLE)
        machine.command("getent passwd 54321", "oracle:x:54321:54321::/home/oracle:/bin/sh\n")
        finding = judge(machine)["/dev/dm-0 ownership"]
        assert (finding.status, finding.desired) == ("fail", "54321:- 0660 (as ASM runs)")
        assert "all accounts can use it (mode 0666)" in finding.why

    def test_an_account_that_is_not_there(self, judge):
        finding = judge(recorded(), {**NAMED, "owner": "grid"})["/dev/dm-0 ownership"]
        assert finding.status == "error" and "no passwd entry grid" in finding.why

    def test_goto_leaves_rules_out(self, judge):
        text = f'ENV{{DM_NAME}}=="mpatha", GOTO="end"\n{ASM_RULE}LABEL="end"\n'
        machine = owned(recorded()).rule("12-asm.rules", text)
        assert judge(machine, NAMED)["/dev/dm-0 ownership"].status == "fail"

    @cases(
        "text status",
        # Guards as in 12-dm-permissions.rules and in guides to ASM.
        ('ENV{DM_UDEV_RULES_VSN}!="?*", GOTO="end"\n' + ASM_RULE, "pass"),
        ('ENV{DM_UDEV_DISABLE_OTHER_RULES_FLAG}=="1", GOTO="end"\n' + ASM_RULE, "pass"),
        ('ACTION!="add|change", GOTO="end"\nKERNEL!="dm-*", GOTO="end"\n' + ASM_RULE, "pass"),
        ('ENV{DM_UUID}!="mpath-1Linux*", GOTO="end"\n' + OWN, "pass"),
        ('ENV{DM_UUID}!="mpath-36*", GOTO="end"\n' + OWN, "fail"),
        ('ENV{DM_NAME}=="mpatha", GOTO="asm"\nGOTO="end"\nLABEL="asm"\n' + OWN, "pass"),
        ('ENV{DM_NAME}=="data", GOTO="asm"\nGOTO="end"\nLABEL="asm"\n' + OWN, "fail"),
        ('KERNEL!="dm-*", GOTO="end"\n' + OWN, "warn"),
        ('SYMLINK=="mapper/mpatha", ' + OWN, "pass"),
        ('ENV{DM_NAME}=="mpatha", OWNER+="oracle", GROUP+="dba", MODE="660"\n', "pass"),
    )
    def test_guards(self, judge, text, status):
        machine = owned(recorded()).rule("12-asm.rules", text + 'LABEL="end"\n')
        finding = judge(machine, NAMED)["/dev/dm-0 ownership"]
        assert finding.status == status, finding.why

    @cases(
        "command status",
        ("/bin/chown oracle:dba /dev/%k", "pass"),
        ("/usr/bin/chown 54321.54322 $devnode", "pass"),
        ("/bin/chown -h oracle:dba /dev/mapper/mpatha", "pass"),
        ("/bin/bash -c '/bin/chown oracle:dba /dev/mapper/$env{DM_NAME}'", "pass"),
        ("/bin/chown oracle:dba /dev/$result", "error"),
        ("/bin/sh -c 'chown oracle /dev/$name; chgrp dba /dev/$name && chmod 0660 %N'", "pass"),
        ("/bin/chown oracle:dba /dev/mapper/mpathb", "fail"),
        ("/bin/chown grid:dba /dev/%k", "fail"),
        ("/bin/chown $env{WHO} /dev/%k", "error"),
        # A script of the administrator can set every owner.
        ("/usr/local/bin/chown_asm /dev/%k", "error"),
        ("/usr/local/bin/set_owner.sh %k", "error"),
        ("/bin/sh /root/asm %k", "error"),
        ("/bin/bash -c '/opt/dba/asm_perm $name'", "error"),
        ("/usr/bin/env python3 -u /etc/oracle/perm.py", "error"),
        ("/usr/bin/systemd-run --no-block /u01/app/perm", "error"),
        ("asm_perm.sh", "error"),
        ("/usr/lib/udev/asm_perm.ksh %k", "error"),
        ("/bin/sh -c 'echo 180 > /sys/block/%k/device/timeout'", "fail"),
        ("/sbin/kpartx -a /dev/%k", "fail"),
        ("/usr/local/bin/perm; /bin/chown oracle:dba /dev/%k", "error"),
    )
    def test_a_program_that_changes_the_owner(self, judge, command, status):
        rule = f'ENV{{DM_NAME}}=="mpatha", MODE="0660", RUN+="{command}"\n'
        machine = owned(recorded()).rule("12-asm.rules", rule)
        finding = judge(machine, NAMED)["/dev/dm-0 ownership"]
        assert finding.status == status, finding.why
        again = judge(RecordedHost(machine.evidence), NAMED)["/dev/dm-0 ownership"]
        assert again.as_dict() == finding.as_dict()

    @cases(
        "others owner status says",
        (ASM_RULE, ORACLE, "pass", ""),
        ("", ORACLE, "error", "12-own.rules:1 runs /opt/perm.sh, and which owner"),
        (ASM_RULE.replace("oracle", "root"), ORACLE, "error", "runs /opt/perm.sh"),
        (ASM_RULE.replace("oracle", "root"), 0, "fail", "it is 0:54322"),
        ("", 0, "fail", "it is 0:54322"),
    )
    def test_an_own_script_is_decided_by_other_rules(self, judge, others, owner, status, says):
        machine = owned(recorded())
        machine.owners["/dev/dm-0"] = (owner, DBA, 0o660)
        machine.rule("12-own.rules", 'KERNEL=="dm-*", RUN+="/opt/perm.sh %k"\n')
        machine.rule("13-other.rules", 'KERNEL=="sd*", RUN+="/opt/perm.sh %k"\n')
        machine.rule("99-asm.rules", others)
        finding = judge(machine, NAMED)["/dev/dm-0 ownership"]
        assert (finding.status, says in finding.why) == (status, True), finding.why

    def test_a_program_comes_after_all_rules(self, judge):
        text = 'ENV{DM_NAME}=="mpatha", RUN+="/bin/chown root:root /dev/%k"\n'
        machine = owned(recorded()).rule("12-asm.rules", text).rule("99-asm.rules", ASM_RULE)
        finding = judge(machine, NAMED)["/dev/dm-0 ownership"]
        assert finding.status == "fail"
        assert "OWNER to root (/etc/udev/rules.d/12-asm.rules:1)" in finding.why

    @cases(
        "version status says",
        ("252\n", "fail", "12-asm.rules:1 compares (==)"),
        ("219\n", "pass", ""),
        ("239 (239-82.el8)\n", "pass", ""),
        ("", "error", "12-asm.rules:1 compares (==)"),
    )
    @cases("mode", "MODE", "MODE=")
    def test_a_comparison_of_the_owner(self, judge, version, status, says, mode):
        """udev before 243 assigns it; later versions leave out the whole rule."""
        text = f'ENV{{DM_NAME}}=="mpatha", OWNER=="oracle", GROUP=="dba", {mode}="0660"\n'
        machine = owned(recorded()).rule("12-asm.rules", text).command("udevadm --version", version)
        finding = judge(machine, NAMED)["/dev/dm-0 ownership"]
        assert finding.status == status, finding.why
        assert status == "pass" or (says in finding.why and "event" not in finding.why)
        assert status != "fail" or finding.fix.startswith("replace == by =")

    def test_an_unknown_rule_does_not_hide_a_wrong_owner(self, judge):
        rule = 'ENV{ID_SERIAL}=="1Linux*", TEST=="/etc/asm", OWNER="oracle", GROUP="dba"\n'
        machine = recorded().rule("12-asm.rules", rule)
        machine.owners["/dev/sdb"] = (0, 0, 0o660)
        finding = judge(machine, {**NAMED, "name": "/dev/sdb"})["/dev/sdb ownership"]
        assert (finding.status, finding.failing_layer) == ("fail", "running")
        assert finding.persisted.startswith("unknown")

    def test_the_last_rule_counts_unless_one_is_final(self, judge):
        other = 'ENV{DM_NAME}=="mpatha", OWNER="root"\n'
        machine = owned(recorded()).rule("12-asm.rules", ASM_RULE).rule("90-x.rules", other)
        finding = judge(machine, NAMED)["/dev/dm-0 ownership"]
        assert finding.status == "fail"
        assert "udev sets its OWNER to root (/etc/udev/rules.d/90-x.rules:1)" in finding.why
        machine.rule("12-asm.rules", ASM_RULE.replace('OWNER="', 'OWNER:="'))
        machine.evidence.clear()
        assert judge(machine, NAMED)["/dev/dm-0 ownership"].status == "pass"


class TestQueues:
    @cases(
        "text status",
        ("[mq-deadline] none", "pass"),
        ("mq-deadline [none]", "pass"),
        ("none", "pass"),
        ("[kyber] mq-deadline none", "fail"),
        ("mq-deadline [bfq] none", "fail"),
        ("noop deadline [cfq]", "fail"),
        ("[noop] deadline cfq", "pass"),
    )
    def test_a_scheduler_without_a_policy(self, judge, text, status):
        machine = recorded().sysfs("sda", scheduler=text)
        assert judge(machine, {"name": "mpatha"})["sda scheduler"].status == status

    def test_a_rule_that_brings_a_bad_one(self, judge):
        machine = recorded().rule("60-x.rules", 'KERNEL=="sd*", ATTR{queue/scheduler}="bfq"\n')
        result = judge(machine, {"name": "mpatha"})["sda scheduler"]
        assert result.status == "fail"
        assert "60-x.rules:1 sets scheduler to bfq at boot" in result.why
        assert result.failing_layer == "persisted"
        machine = recorded().rule("60-x.rules", 'KERNEL=="sd*", ATTR{queue/scheduler}="none"\n')
        result = judge(machine.sysfs("sda", scheduler="none [bfq]"), {"name": "mpatha"})
        assert result["sda scheduler"].failing_layer == "running"

    @cases(
        "parameters schedulers named status says",
        ("elevator=cfq", "noop [deadline] cfq", None, "fail", "/proc/cmdline sets scheduler"),
        ("elevator=noop elevator=cfq", "noop [deadline] cfq", None, "fail", "to cfq at boot"),
        ("elevator=cfq elevator=noop", "noop [deadline] cfq", None, "pass", ""),
        ("elevator=deadline", "noop [deadline] cfq", "deadline", "pass", ""),
        ("elevator=noop", "noop [deadline] cfq", "deadline", "fail", "to noop at boot"),
        ("quiet", "noop [deadline] cfq", "deadline", "fail", "nothing sets scheduler"),
        ("elevator", "noop [deadline] cfq", "deadline", "fail", "nothing sets scheduler"),
        # Multi-queue schedulers, the only ones since Linux 5.0, do not follow it.
        ("elevator=bfq", "[mq-deadline] bfq none", None, "pass", ""),
        ("elevator=cfq", "[mq-deadline] bfq none", None, "pass", ""),
        ("elevator=mq-deadline", "[mq-deadline] none", "mq-deadline", "fail", "nothing sets"),
    )
    def test_elevator_of_the_kernel(self, judge, parameters, schedulers, named, status, says):
        machine = recorded().file("/proc/cmdline", f"root=/dev/vda {parameters}\n")
        machine.sysfs("sda", scheduler=schedulers)
        entry = {"name": "mpatha", **({"scheduler": [named]} if named else {})}
        finding = judge(machine, entry)["sda scheduler"]
        assert finding.status == status, finding.why
        assert status == "pass" or says in finding.why

    def test_a_rule_of_udev_comes_after_elevator(self, judge):
        machine = recorded().rule("60-x.rules", 'KERNEL=="sd*", ATTR{queue/scheduler}="noop"\n')
        machine.file("/proc/cmdline", "elevator=cfq\n").sysfs("sda", scheduler="[noop] cfq")
        assert judge(machine, {"name": "mpatha"})["sda scheduler"].status == "pass"

    def test_an_unknown_command_line_is_an_error_where_it_counts(self, judge):
        machine = recorded().deny("/proc/cmdline").sysfs("sda", scheduler="[noop] cfq")
        findings = judge(machine, {"name": "mpatha"})
        assert findings["sda scheduler"].status == "error"
        assert findings["sdb scheduler"].status == "pass"

    def test_tuned_comes_after_udev(self, judge):
        machine = recorded().rule("60-x.rules", 'KERNEL=="sd*", ATTR{queue/scheduler}="none"\n')
        machine.file("/etc/tuned/active_profile", "ours\n").file(
            "/etc/tuned/ours/tuned.conf", "[disk]\ndevices=sda\nelevator=bfq\n"
        )
        machine.command("systemctl is-enabled tuned.service", "enabled\n")
        findings = judge(machine, {"name": "mpatha"})
        assert "tuned profile /etc/tuned/ours/tuned.conf" in findings["sda scheduler"].why
        assert findings["sdb scheduler"].status == "pass"

    def test_a_policy_wants_it_after_the_boot_too(self, judge):
        entry = {"name": "mpatha", "scheduler": ["mq-deadline"], "nr_requests": 256}
        findings = judge(recorded(), entry)
        assert findings["sda scheduler"].status == findings["sda queue"].status == "fail"
        assert "nothing sets nr_requests at boot" in findings["sda queue"].why
        rule = 'ENV{ID_SERIAL}=="1Linux*", ATTR{queue/scheduler}="mq-deadline", '
        machine = recorded().rule("60-x.rules", rule + 'ATTR{queue/nr_requests}="256"\n')
        findings = judge(machine, entry)
        assert findings["sda scheduler"].status == findings["sda queue"].status == "pass"

    def test_without_values_the_queue_is_told(self, judge):
        finding = judge(recorded(), {"name": "mpatha"})["sda queue"]
        assert finding.status == "skip"
        assert "nr_requests 256, queue_depth 192, max_sectors_kb 512" in finding.why

    def test_a_disk_that_rotates_against_the_policy(self, judge):
        entry = {"name": "mpatha", "rotational": False}
        machine = recorded().sysfs("sda", rotational="1")
        assert judge(machine, entry)["sda disk_type"].status == "fail"
        assert judge(machine, {"name": "mpatha"})["sda disk_type"].status == "pass"


def partition(machine: Any, start: int, offset: str = "0") -> Any:
    folder = "/sys/devices/pseudo_0/adapter0/host0/target0:0:0/0:0:0:0/block/sda/sda1"
    for name, value in (
        ("partition", "1"),
        ("start", str(start)),
        ("alignment_offset", offset),
        ("dev", "8:1"),
        ("uevent", "MAJOR=8\nMINOR=1\nDEVNAME=sda1\nDEVTYPE=partition\nPARTN=1"),
    ):
        machine.file(f"{folder}/{name}", value + "\n")
    machine.link("/sys/class/block/sda1", folder)
    machine.owners["/dev/sda1"] = (0, 6, 0o660)
    return machine.folder("/dev/sda1").sysfs("sda", physical_block_size="4096", optimal_io_size="0")


class TestAlignment:
    @cases(
        "start offset status",
        (2048, "0", "pass"),
        (63, "0", "fail"),
        (64, "0", "warn"),
        (2048, "512", "fail"),
        (2048, "-1", "fail"),
    )
    def test_where_a_partition_begins(self, judge, start, offset, status):
        findings = judge(partition(recorded(), start, offset), {"name": "/dev/sda1"})
        assert findings["/dev/sda1 alignment"].status == status

    def test_the_best_size_of_the_array(self, judge):
        machine = partition(recorded(), 2048).sysfs("sda", optimal_io_size="1966080")
        assert judge(machine, {"name": "/dev/sda1"})["/dev/sda1 alignment"].status == "warn"


class TestMultipath:
    def test_the_daemon(self, judge):
        assert judge(recorded(), NAMED)["multipathd"].status == "pass"
        machine = recorded().command("systemctl is-enabled multipathd.service", "enabled-runtime\n")
        finding = judge(machine, NAMED)["multipathd"]
        assert (finding.status, "its link is in /run" in finding.why) == ("fail", True)
        machine = recorded().command("systemctl is-enabled multipathd.service", "masked\n")
        finding = judge(machine, NAMED)["multipathd"]
        assert (finding.status, finding.fix[:6], finding.commands) == ("fail", "unmask", ())
        finding = judge(recorded("no-daemon"), NAMED)["multipathd"]
        assert finding.status == "fail" and "it is inactive" in finding.why

    def test_one_path_down(self, judge):
        finding = judge(recorded("one-path-down-queues"), NAMED)["mpatha (dm-0) paths"]
        assert finding.status == "fail" and finding.values == {"paths": 2, "working": 1}
        assert finding.running == "sda works (running), sdb failed (offline)"
        alone = judge(recorded("one-path-down-queues"), NAMED, min_paths=1)["mpatha (dm-0) paths"]
        assert alone.status == "fail"

    def test_a_path_that_the_kernel_has_not_noticed(self, judge):
        machine = recorded().sysfs("sdb", device__state="offline")
        assert judge(machine, NAMED)["mpatha (dm-0) paths"].values["working"] == 1

    def test_one_adapter(self, judge):
        machine = recorded()
        place = "/sys/devices/pseudo_0/adapter0/host0/target0:0:1/0:0:1:0"
        machine.link("/sys/block/sdb/device", place).folder(place)
        finding = judge(machine, NAMED)["mpatha (dm-0) paths"]
        assert (finding.status, finding.why) == ("warn", "all of them use one adapter.")

    @cases(
        "values",
        {"max_sectors_kb": "1024"},
        {"device__queue_depth": "8"},
        {"physical_block_size": "4096"},
    )
    def test_paths_that_differ(self, judge, values):
        machine = recorded().sysfs("sdb", **values)
        assert judge(machine, NAMED)["mpatha (dm-0) paths_alike"].status == "fail"

    def test_a_unit_that_grew(self, judge):
        machine = recorded()
        for path in ("sda", "sdb"):
            machine.file(f"/sys/block/{path}/size", "131072\n")
        finding = judge(machine, NAMED)["mpatha (dm-0) paths_alike"]
        assert finding.status == "fail" and "the map of another" in finding.why

    @cases(
        "told redundancy status",
        ("on", "normal", "fail"),
        ("on", "high", "fail"),
        ("on", "external", "pass"),
        ("on", None, "warn"),
        ("24 chk", "normal", "pass"),
        ("39 chk", "normal", "pass"),
        ("40 chk", "normal", "fail"),
        ("24 chk", None, "skip"),
        ("24 chk", "external", "pass"),
        ("100 sec", "normal", "pass"),
        ("off", "normal", "pass"),
        ("off", "external", "warn"),
        ("off", None, "skip"),
        ("-", "normal", "pass"),
    )
    def test_how_long_it_waits(self, judge, told, redundancy, status):
        machine = recorded()
        head = "multipathd show maps format %w %Q"
        machine.command(head, f"uuid  queueing\n1Linux_scsi_debug_2000 {told:<8}\n")
        if told in ("off", "-"):
            line = machine.commands["dmsetup table --target multipath"].stdout
            line = line.replace("1 queue_if_no_path", "0")
            machine.command("dmsetup table --target multipath", line)
        entry = {**NAMED, "redundancy": redundancy} if redundancy else NAMED
        finding = judge(machine, entry)["mpatha (dm-0) multipath_queueing"]
        assert finding.status == status
        if redundancy is None and status == "warn":
            assert not finding.commands, "no value is right before the redundancy is known"
            assert "no_path_retry" not in finding.fix
            assert "name the disk and the redundancy" in finding.fix

    def test_real_queueing_under_mirroring(self, judge):
        findings = judge(recorded("one-path-down-queues"), {**NAMED, "redundancy": "normal"})
        assert findings["mpatha (dm-0) multipath_queueing"].status == "fail"
        assert "for ever" in findings["mpatha (dm-0) multipath_queueing"].why

    def test_without_the_daemon_the_table_counts_and_nobody_starts_it(self, judge):
        machine = recorded("no-daemon")
        findings = judge(machine, {**NAMED, "redundancy": "normal"})
        assert findings["mpatha (dm-0) multipath_queueing"].status == "pass"
        assert not [key for key in machine.evidence if key.startswith("command:multipathd")]

    def test_who_may_not_ask_the_kernel(self, judge):
        machine = recorded()
        for action in ("table", "status"):
            machine.command(f"dmsetup {action} --target multipath", "", 1)
        findings = judge(machine, NAMED)
        assert findings["mpatha (dm-0) paths"].status == "error"
        assert findings["mpatha (dm-0) multipath_queueing"].status == "error"


def test_our_own_file_is_a_rule_like_others(judge):
    machine = owned(recorded()).file(RULES, ASM_RULE)
    assert judge(machine, NAMED)["/dev/dm-0 ownership"].status == "pass"


class TestAsmDisks:
    def test_a_map_is_one_disk_with_its_serial_number(self, judge):
        finding = judge(recorded().process("asm_dbw0_+ASM", "/dev/dm-0", uid=ORACLE))["asm_disks"]
        assert (finding.status, finding.running) == ("pass", "disks: 1, serial numbers: 1")
        ((name, size),) = finding.values.items()
        assert name == f"disk {SERIAL}"
        assert size == "32 MiB"

    def test_two_paths_of_one_disk(self, judge):
        machine = recorded().process("asm_dbw0_+ASM", "/dev/sda", "/dev/sdb", uid=ORACLE)
        finding = judge(machine)["asm_disks"]
        assert (finding.status, finding.severity) == ("fail", "critical")
        assert finding.why == f"/dev/sda and /dev/sdb are {SERIAL}."

    def test_a_disk_without_a_serial_number(self, judge):
        machine = recorded().process("asm_dbw0_+ASM", "/dev/sda", uid=ORACLE)
        del machine.files["/run/udev/data/b8:0"]
        finding = judge(machine)["asm_disks"]
        assert (finding.status, finding.values) == ("warn", {"disk /dev/sda": None})
        assert finding.why == "/dev/sda has no serial number."

    def test_without_asm_there_is_none(self, judge):
        assert judge(recorded(), NAMED)["asm_disks"].status == "skip"

    def test_a_disk_of_a_disk_group_in_the_policy(self, judge):
        finding = judge(recorded(), {**NAMED, "redundancy": "external"})["asm_disks"]
        assert (finding.status, list(finding.values)) == ("pass", [f"disk {SERIAL}"])


class TestAfterUdev:
    """Values that something else than udev and TuneD's plugin disk sets at boot."""

    @cases(
        "path line",
        ("/etc/rc.local", "echo bfq > /sys/block/sda/queue/scheduler"),
        ("/etc/rc.d/rc.local", "for d in sd*; do echo bfq > /sys/block/$d/queue/scheduler; done"),
        ("/etc/tmpfiles.d/a.conf", "w /sys/block/sda/queue/scheduler - - - - bfq"),
        ("/etc/cron.d/a", "@reboot root echo bfq > /sys/class/block/sda/queue/scheduler"),
        (
            "/etc/udev/rules.d/9.rules",
            'KERNEL=="sd*", RUN+="/bin/sh -c \'echo bfq > /sys/block/%k/queue/scheduler\'"',
        ),
    )
    def test_another_value_is_unknown(self, judge, path, line):
        machine = recorded().file(path, f"#!/bin/sh\n{line}\n", mode=0o755)
        finding = judge(machine, {"name": "mpatha"})["sda scheduler"]
        assert (finding.status, f"{path}:2 may set" in finding.why) == ("error", True)
        again = judge(RecordedHost(machine.evidence), {"name": "mpatha"})["sda scheduler"]
        assert again.as_dict() == finding.as_dict()

    @cases(
        "line",
        "# echo bfq > /sys/block/sda/queue/scheduler",
        "echo bfq > /sys/block/sdz/queue/scheduler",
        "echo 0 > /sys/block/sda/queue/add_random",
    )
    def test_lines_that_do_not_set_it(self, judge, line):
        machine = recorded().file("/etc/rc.local", f"#!/bin/sh\n{line}\n", mode=0o755)
        assert judge(machine, {"name": "mpatha"})["sda scheduler"].status == "pass"
        machine = recorded().file("/etc/rc.local", "echo bfq > /sys/block/sda/queue/scheduler\n")
        assert judge(machine, {"name": "mpatha"})["sda scheduler"].status == "pass"

    def test_a_value_that_rc_local_keeps(self, judge):
        line = "for d in sda sdb; do echo mq-deadline > /sys/block/$d/queue/scheduler; done"
        text = f"#!/bin/sh\n{line}\n"
        machine = recorded().file("/etc/rc.local", text, mode=0o755)
        finding = judge(machine, {"name": "mpatha", "scheduler": ["mq-deadline"]})["sda scheduler"]
        assert finding.status == "pass" and "mq-deadline from /etc/rc.local:2" in finding.persisted


@cases("disk status", ("sda", "fail"), ("sd*", "fail"), ("sdz", "pass"))
def test_the_plugin_sysfs_of_tuned(judge, disk, status):
    machine = recorded().file("/etc/tuned/active_profile", "ours\n")
    machine.file("/etc/tuned/ours/tuned.conf", f"[sysfs]\n/sys/block/{disk}/queue/scheduler=bfq\n")
    machine.command("systemctl is-enabled tuned.service", "enabled\n")
    assert judge(machine, {"name": "mpatha"})["sda scheduler"].status == status


def test_a_rule_below_run_is_gone_after_the_boot(judge):
    machine = owned(recorded()).file("/run/udev/rules.d/99-asm.rules", ASM_RULE)
    finding = judge(machine, NAMED)["/dev/dm-0 ownership"]
    assert (finding.status, "no udev rule sets its OWNER" in finding.why) == ("fail", True)

"""Odd but real hosts: what nfs_mounts says of them must neither frighten nor lull anybody."""

from collections.abc import Callable

import nfs_packs
import pytest
from ansible.module_utils.hostproof.controls.nfs_mounts.control import CONTROL as nfs_mounts
from ansible.module_utils.hostproof.controls.registry import planner
from ansible.module_utils.hostproof.evaluate.finding import Finding
from cases import cases
from hostproof_controller.report.verdict import actual_layer
from nfs_packs import OPTIONS, Did, NfsMachine, Op, listed, nfs_host, ready_host, shown
from stories import titled

DATABASE_FILE = "/u02/oradata/ORCL/system01.dbf"

#: judge(host, **changes of the policy): findings by check.
Judge = Callable[..., dict[str, list[Finding]]]


@pytest.fixture
def judge(findings_by_rules) -> Judge:
    return lambda host, **changes: findings_by_rules(
        nfs_mounts, host, nfs_packs.nfs_policy(**changes)
    )


def frightening(findings: dict[str, list[Finding]]) -> dict[str, str]:
    """What is neither a pass nor a skip, by check."""
    return {
        check: f"{finding.status}: {finding.why}"
        for check, some in findings.items()
        for finding in some
        if finding.status not in ("pass", "skip")
    }


def database_on(options: str | None = None, fstab: str = OPTIONS) -> NfsMachine:
    """A database whose files lie on /u02."""
    machine = nfs_host().persisted_mount("/u02", "filer1:/vol/u02", fstab, options)
    return machine.database(DATABASE_FILE)


def test_oracle_restart_is_no_cluster(judge):
    machine = ready_host().process("/u01/app/grid/bin/ohasd.bin", pid=90, uid=0)
    machine.process("/u01/app/grid/bin/ocssd.bin", pid=99)
    assert frightening(judge(machine)) == {}


class TestAutomounters:
    """A path below a directory of autofs is there as soon as somebody looks, if its map has it."""

    @staticmethod
    def indirect(key: str) -> NfsMachine:
        machine = nfs_host().other_mount("/nfs", "autofs", "/etc/auto.nfs")
        machine.file("/etc/auto.master", "/nfs /etc/auto.nfs\n")
        machine.file("/etc/auto.nfs", f"{key} -{OPTIONS} filer1:/vol/u02\n")
        machine.command("systemctl is-enabled autofs.service", "enabled\n")
        return machine

    def test_the_map_has_it(self, judge):
        (finding,) = judge(self.indirect("u02"), **listed(path="/nfs/u02"))["mounted"]
        assert finding.status == "skip" and "/etc/auto.nfs:1 mounts it on access" in finding.why

    def test_the_map_has_not(self, judge):
        (finding,) = judge(self.indirect("u03"), **listed(path="/nfs/u02"))["mounted"]
        assert finding.status == "fail" and finding.why.startswith("Not mounted")

    def test_the_map_is_nowhere_to_be_read(self, judge):
        machine = self.indirect("u03").file("/etc/auto.master", "/nfs ldap:ou=auto.nfs\n")
        (finding,) = judge(machine, **listed(path="/nfs/u02"))["mounted"]
        assert finding.status == "error"

    def test_a_unit_of_its_own_mounts_what_fstab_does_not(self, judge):
        """noauto in fstab, and an automount unit that somebody wrote."""
        machine = database_on(fstab=OPTIONS + ",noauto")
        machine.file("/etc/systemd/system/u02.automount", "[Automount]\nWhere=/u02\n")
        wants = "/etc/systemd/system/multi-user.target.wants"
        machine.file(f"{wants}/u02.automount", "").folder("/run/systemd/system")
        assert frightening(judge(machine, **listed())) == {}


def test_fstab_without_a_type(judge):
    """mount(8) and systemd take host:/folder for NFS where the type is auto."""
    machine = database_on()
    table = machine.files[nfs_packs.FSTAB].replace("/u02 nfs ", "/u02 auto ")
    unit = machine.files[nfs_packs.unit_file("/u02")].replace("Type=nfs\n", "")
    machine.file(nfs_packs.FSTAB, table).file(nfs_packs.unit_file("/u02"), unit)
    assert frightening(judge(machine, **listed())) == {}


class TestMountThatTheBootLost:
    """fstab names it, and bg reported success: nothing is mounted, and no policy lists it."""

    @staticmethod
    def lost() -> NfsMachine:
        return ready_host().stop_instances().unmount("/u02")

    def test_a_database_writes_into_the_folder(self, judge):
        (finding,) = judge(self.lost().database(DATABASE_FILE))["mounted"]
        assert finding.status == "fail"
        assert "a database writes into the file system beneath" in finding.why
        assert finding.running == "not mounted" and "datafiles" in finding.why

    def test_beside_listed_ones(self, judge):
        machine = self.lost().persisted_mount("/u03", "filer1:/vol/u03").database(DATABASE_FILE)
        policy = listed(path="/u03", source="filer1:/vol/u03")
        findings = {one.title.split(":")[0]: one for one in judge(machine, **policy)["mounted"]}
        statuses = {path: finding.status for path, finding in findings.items()}
        assert statuses == {"/u02": "fail", "/u03": "pass"}

    def test_its_home_is_not_there(self, judge):
        machine = self.lost().file("/etc/oratab", "ORCL:/u02/app/oracle/product/19:N\n")
        (finding,) = judge(machine)["mounted"]
        assert finding.status == "fail"

    def test_the_database_did_not_start_without_it(self, judge):
        (finding,) = judge(self.lost())["mounted"]
        assert (finding.status, finding.title) == ("warn", "/u02: The expected export is mounted")
        assert finding.persisted == "/etc/fstab:2: filer1:/vol/u02"

    @cases("options", "noauto", "noauto,x-systemd.automount")
    def test_what_no_boot_mounts_is_not_missing(self, judge, options):
        machine = nfs_host().fstab("/u02", "filer1:/vol/u02", f"{OPTIONS},{options}")
        (finding,) = judge(machine)["mounted"]
        assert finding.status == "skip"

    def test_fstab_unreadable(self, judge):
        (finding,) = judge(self.lost().deny(nfs_packs.FSTAB))["mounted"]
        assert finding.status == "error"


class TestMountsThatNobodyLists:
    def test_local_locks_in_a_cluster(self, judge):
        machine = ready_host().mount("/u03", "filer1:/vol/u03", shown(flags="nolock"))
        machine.database("/u03/oradata/ORCL/users01.dbf", pid=2103)
        machine.process("/u01/app/grid/bin/crsd.bin", pid=99, uid=0)
        findings = judge(machine, **listed())["server_locks"]
        statuses = {finding.title.split(":")[0]: finding.status for finding in findings}
        assert statuses == {"/u02": "skip", "/u03": "fail"}

    def test_an_empty_list_claims_nothing_of_the_others(self, judge):
        (finding,) = judge(database_on(shown(recovery="soft")), mounts=[])["safe_transport"]
        assert (finding.status, finding.title) == ("fail", "/u02: Mount is hard and uses TCP")

    def test_voting_files(self, judge):
        """Clusterware's own mount, on which no database has a file."""
        grid = "/u01/app/19/grid"
        machine = nfs_host().mount("/crs", "filer1:/vol/crs", shown(recovery="soft"))
        machine.mount("/u01", "filer1:/vol/u01")
        machine.process(f"{grid}/bin/ocssd.bin", f"{grid}/bin/ocssd.bin", "/crs/vote1", pid=99)
        machine.process(f"{grid}/bin/crsd.bin", pid=100, uid=0)
        findings = judge(machine)["safe_transport"]
        assert [(finding.title, finding.status) for finding in findings] == [
            ("/crs: Mount is hard and uses TCP", "fail"),
            ("/u01: Mount is hard and uses TCP", "pass"),
        ]
        assert "crs_voting" in findings[0].why
        options = {one.title.split(":")[0]: one for one in judge(machine)["options_in_force"]}
        assert "noac" in options["/crs"].why and "noac" not in options["/u01"].desired

    @cases(
        "program path status",
        ("oracleORCL", "/backup/ORCL/0a1b_1_1", "fail"),
        ("oracleORCL1", "/backup/ORCL/0a1b_1_1", "fail"),
        ("oracleORCL (LOCAL=NO)", "/backup/ORCL/0a1b_1_1", "fail"),
        ("ora_dm00_ORCL", "/backup/exp01.dmp", "fail"),
        ("ora_dw01_ORCL", "/backup/exp01.dmp", "fail"),
        # A trace file, and what no process of Oracle has open.
        ("oracleORCL", "/backup/diag/rdbms/orcl/ORCL/trace/a.trc", None),
        ("/usr/bin/rsync", "/backup/ORCL/0a1b_1_1", None),
    )
    def test_rman_and_data_pump_on_a_soft_mount(self, judge, program, path, status):
        machine = nfs_host().mount("/backup", "filer1:/vol/backup", shown(recovery="soft"))
        machine.process(program, path, pid=77)
        findings = judge(machine)["safe_transport"]
        assert [finding.status for finding in findings] == [status or "skip"]
        assert status is None or "backup" in findings[0].why or "soft" in findings[0].why

    @cases("words", "vers=2", "nfsvers=2", "v2")
    def test_version_2(self, judge, words):
        """A file of NFSv2 ends at 2 GiB, so no datafile grows beyond."""
        options = OPTIONS.replace("vers=3", words)
        machine = nfs_host().persisted_mount("/u02", "filer1:/vol/u02", options, shown("2"))
        findings = judge(machine, **listed())
        (finding,) = findings["options_in_force"]
        assert (finding.status, "wanted is vers=3" in finding.why) == ("fail", True)
        assert [finding.status for finding in findings["options_persisted"]] == ["fail"]

    def test_home_behind_a_link(self, judge):
        machine = nfs_host().mount("/nfs/app", "filer1:/vol/app", shown(recovery="soft"))
        machine.file("/etc/oratab", "ORCL:/u01/19:N\n")
        machine.command("readlink -v -e /u01/19", "/nfs/app/19\n")
        (finding,) = judge(machine)["safe_transport"]
        assert finding.status == "fail"

    def test_direct_nfs_without_an_open_file(self, judge):
        """All that the host shows are the connections of the database itself."""
        machine = nfs_host().persisted_mount("/u02", "filer1:/vol/u02", OPTIONS, shown())
        machine.process("ora_dbw0_ORCL", "socket:[4711]", pid=2102)
        line = "0: 1500000A:9C40 0500000A:0801 01 00000000:00000000 00:00000000 00000000 54321 0"
        table = machine.files["/proc/net/tcp"] + f"   {line} 4711 1 0 20 4 30 10 -1\n"
        machine.file("/proc/net/tcp", table)
        (finding,) = judge(machine)["mounted"]
        assert finding.status == "error" and "its own connections to 10.0.0.5" in finding.why
        assert "which of /u02" in finding.why
        (finding,) = judge(machine, **listed())["mounted"]
        assert finding.status == "pass"


def test_listed_path_that_is_a_link(judge):
    """Nothing looks below it: that would be the mount, whose server may hang."""
    machine = ready_host().command("readlink -v -e /oradata", "/u02\n")
    (finding, *_) = judge(machine, **listed(path="/oradata"))["mounted"]
    assert finding.status == "error"
    assert finding.fix == "write /u02 in place of /oradata in nfs_mounts_mounts"
    assert "dir:/oradata" not in machine.evidence


class TestWhatAReaderSees:
    """The layer that the summary shows beside what is desired is the one that is wrong."""

    @staticmethod
    def shown_by_the_summary(finding: Finding) -> tuple[str | None, str | None]:
        layer = actual_layer(finding.as_dict())
        return layer, getattr(finding, layer) if layer else None

    @cases(
        "check extra policy",
        ("server_locks", "nolock,actimeo=0", {"sharing": "rac"}),
        ("caching", "actimeo=0", {"class": "backup"}),
        ("options_persisted", "timeo=50", {}),
        ("options_persisted", "noauto", {}),
        ("safe_transport", "soft", {}),
    )
    def test_only_the_next_boot_goes_wrong(self, judge, check, extra, policy):
        cache = nfs_packs.NO_CACHE if policy.get("sharing") == "rac" else ""
        machine = database_on(shown(cache=cache), fstab=f"{OPTIONS},{extra}")
        (finding,) = judge(machine, **listed(**policy))[check]
        layer, text = self.shown_by_the_summary(finding)
        assert (finding.status, layer) == ("fail", "persisted")
        assert text.startswith("/etc/fstab:2")

    def test_limits_of_the_kernel(self, judge):
        (finding,) = judge(ready_host().slots(65536, 128))["slot_tables_running"]
        layer, text = self.shown_by_the_summary(finding)
        assert (layer, "65536" in text) == ("running", True)

    def test_a_lease(self, judge):
        machine = database_on(shown("4.1"), fstab=OPTIONS.replace("vers=3", "vers=4.1"))
        (finding,) = judge(machine, **listed())["v4_lease"]
        assert self.shown_by_the_summary(finding)[1].startswith("NFSv4.1 with a lease of 90 s")

    def test_a_version_that_is_not_mounted_yet(self, judge):
        machine = database_on(fstab=OPTIONS.replace("vers=3", "vers=4.1")).unmount("/u02")
        (finding,) = judge(machine, **listed())["v4_lease"]
        assert "The next reboot mounts it with NFSv4.1" in finding.why


class TestFixes:
    """What a fix says does help."""

    def test_local_locks_that_the_policy_asks_for(self, judge):
        machine = database_on(shown(flags="nolock", cache=nfs_packs.NO_CACHE))
        findings = judge(machine, **listed(sharing="rac", options="nolock"))
        for check in ("server_locks", "options_persisted", "mounted_as_persisted"):
            (finding,) = findings[check]
            assert finding.fix.startswith("take nolock out of options of /u02 in nfs_mounts_mounts")

    def test_another_export_in_fstab_too(self, judge):
        (finding,) = judge(database_on(), **listed(source="filer1:/vol/new"))["mounted"]
        assert (
            "write filer1:/vol/new in /etc/fstab:2, then stop what uses /u02, unmount"
            in finding.fix
        )

    def test_not_at_boot(self, judge):
        (finding,) = judge(database_on(fstab=f"{OPTIONS},noauto"), **listed())["options_persisted"]
        assert finding.fix == "take noauto out of /etc/fstab:2, unless a cluster manager mounts it"

    def test_unit_that_nobody_wants(self, judge):
        machine = nfs_host().mount("/u02", "filer1:/vol/u02").folder("/run/systemd/system")
        text = f"[Mount]\nWhat=filer1:/vol/u02\nWhere=/u02\nType=nfs\nOptions={OPTIONS}\n"
        machine.file("/etc/systemd/system/u02.mount", text)
        (finding,) = judge(machine, **listed())["options_persisted"]
        assert (finding.status, finding.commands) == ("fail", ("systemctl enable u02.mount",))


SOFT = OPTIONS.replace("hard", "soft")
REMOUNT = ("umount /u02", "mount /u02")


def soft(fstab: str = OPTIONS) -> NfsMachine:
    return database_on(shown(recovery="soft"), fstab=fstab)


def by_direct_nfs() -> NfsMachine:
    machine = soft().process("ora_dbw0_ORCL", "socket:[4711]", pid=2102)
    line = "0: 1500000A:9C40 0500000A:0801 01 00000000:00000000 00:00000000 00000000 54321 0"
    return machine.file(
        "/proc/net/tcp", machine.files["/proc/net/tcp"] + f"   {line} 4711 1 0 20 4 30 10 -1\n"
    )


def beside(path: str, persisted: bool) -> NfsMachine:
    machine = nfs_host().mount("/u02", "filer1:/vol/u02", shown(recovery="soft"), superblock="0:9")
    machine.fstab("/u02", "filer1:/vol/u02")
    if persisted:
        machine.fstab(path, "filer1:/vol/u02")
    machine.mount(path, "filer1:/vol/u02", shown(recovery="soft"), superblock="0:9")
    return machine.database(DATABASE_FILE)


def granted(requested: int, size: int) -> NfsMachine:
    return database_on(
        shown(rsize=size, wsize=size), fstab=OPTIONS.replace("262144", str(requested))
    )


def missing(machine: NfsMachine) -> NfsMachine:
    machine.stop_instances()
    return machine.unmount("/u02")


APPLY = "./hostproof apply --tags nfs_mounts"
#: check, host, what the fix says in this order, what it does not say, commands.
FOLLOWED = dict(
    titled(
        (
            "running only: the new mount",
            ("safe_transport", soft),
            (["stop what uses /u02, unmount it"], ["options", "apply the control"], REMOUNT),
            "persisted only: the file",
            ("safe_transport", lambda: database_on(fstab=SOFT)),
            (["set the options in /etc/fstab:2 to rw,bg,hard,"], ["unmount"], (APPLY,)),
            "both: the file first",
            ("safe_transport", lambda: soft(SOFT)),
            (["set the options in /etc/fstab:2", "stop what uses"], ["soft"], (APPLY, *REMOUNT)),
            # A new mount would bring the wrong options.
            "right as it is mounted, wrong in the file",
            ("mounted_as_persisted", lambda: database_on(fstab=SOFT)),
            (["set the options in /etc/fstab:2 to rw,bg,hard,"], ["unmount"], (APPLY,)),
            # A new mount would mount other files.
            "another export in the file",
            ("mounted_as_persisted", lambda: exported("filer1:/vol/new")),
            (["write filer1:/vol/u02 in /etc/fstab:2, or correct"], ["unmount"], ()),
            # A new mount would fail.
            "a word that mount rejects",
            ("safe_transport", lambda: soft(OPTIONS + ",hrad")),
            (["correct or remove 'hrad' in /etc/fstab:2", "unmount it"], [], ()),
            "a rejected word is not written again",
            ("options_persisted", lambda: database_on(fstab=SOFT + ",hrad,timeo=7")),
            (["correct or remove 'hrad'", "set the options", "apply is blocked"], [",hrad"], ()),
            # Nothing would keep the files of an open database mounted.
            "used by Direct NFS",
            ("safe_transport", by_direct_nfs),
            (["stop what uses /u02 (ORCL (pid 2102, 10.0.0.5) by Direct NFS"], [], ()),
            "the other mount of its superblock is persisted",
            ("safe_transport", lambda: beside("/u03", True)),
            (
                ["unmount all of them"],
                ["note how"],
                ("umount /u03", "umount /u02", "mount /u02", "mount /u03"),
            ),
            "the other mount of its superblock is not persisted",
            ("safe_transport", lambda: beside("/u03", False)),
            (["note how /u03 is mounted", "unmount all of them"], [], ()),
            # 262144, as the policy requires at least, is less than the server grants.
            "the server's maximum is not lowered",
            ("transfer_size", lambda: granted(1048576, 524288)),
            (["raise the server's maximum to 1048576", "stop what uses"], ["262144"], ()),
            "more connections than requested",
            ("nconnect", lambda: database_on(shown() + ",nconnect=8", OPTIONS + ",nconnect=4")),
            (["decide: nconnect=8"], ["stop what uses"], ()),
            "not mounted, and persisted",
            ("mounted", lambda: missing(database_on())),
            (["mount it"], ["stop", "fstab"], ("mount /u02",)),
            "not mounted, nor persisted",
            ("mounted", lambda: missing(nfs_host().mount("/u02", "filer1:/vol/u02"))),
            (["put 'filer1:/vol/u02 /u02 nfs rw,"], ["unmount", "mount it"], (APPLY,)),
            "not mounted, and the places are not known",
            ("mounted", lambda: missing(database_on()).deny(nfs_packs.FSTAB)),
            (["find what mounts /u02", "mount it"], ["unmount"], ()),
            "not mounted, and rejected",
            ("mounted", lambda: missing(database_on(fstab=OPTIONS + ",hrad"))),
            (["correct or remove 'hrad' in /etc/fstab:2", "mount it"], [], ()),
        )
    )
)


def exported(source: str) -> NfsMachine:
    return nfs_host().mount("/u02", "filer1:/vol/u02").fstab("/u02", source).database(DATABASE_FILE)


@pytest.mark.parametrize("name", FOLLOWED)
def test_a_fix_can_be_followed_literally(findings_of, name):
    check, host, said, never, commands = FOLLOWED[name]
    (finding, *_) = findings_of("nfs_mounts", host(), nfs_packs.nfs_policy(**listed()))[check]
    places = [finding.fix.find(text) for text in said]
    assert places == sorted(places) and places[0] >= 0, finding.fix
    assert [text for text in never if text in finding.fix] == [] and finding.commands == commands


def test_rdma_is_as_safe_as_tcp(judge):
    """And apply must not make TCP of it, of which no check says a word."""
    fstab = OPTIONS.replace("proto=tcp", "proto=rdma,port=20049")
    machine = database_on(shown(proto="rdma"), fstab=fstab)
    assert frightening(judge(machine, **listed())) == {}
    policy = nfs_mounts.policy_from(nfs_packs.nfs_policy(**listed()))
    assert planner("nfs_mounts")(nfs_mounts.read(machine, policy), policy).changes == []


class TestNamesOfOneServer:
    def test_fstab_and_the_mount_have_the_domain(self, judge):
        machine = nfs_host().persisted_mount("/u02", "filer1.example.com:/vol/u02")
        findings = judge(machine.database(DATABASE_FILE), **listed())
        assert {
            check: some[0].status
            for check, some in findings.items()
            if check in frightening(findings)
        } == {"mounted": "warn", "options_persisted": "warn"}

    def test_only_fstab_names_another(self, judge):
        machine = nfs_host().fstab("/u02", "filer9:/vol/u02").mount("/u02", "filer1:/vol/u02")
        (finding,) = judge(machine, **listed())["options_persisted"]
        assert finding.status == "fail"

    @cases("server", "[2001:db8::5]", "[2001:DB8:0:0::5]")
    def test_ipv6(self, judge, server):
        machine = nfs_host().persisted_mount(
            "/u02", "[2001:db8::5]:/vol/u02", OPTIONS, shown(address="2001:db8::5", proto="tcp6")
        )
        machine.database(DATABASE_FILE)
        assert frightening(judge(machine, **listed(source=f"{server}:/vol/u02"))) == {}

    def test_an_export_with_a_colon(self, judge):
        machine = nfs_host().persisted_mount("/u02", "filer1:/vol:/u02").database(DATABASE_FILE)
        (finding,) = judge(machine, **listed(source="filer2:/vol:/u02"))["mounted"]
        assert "comes from filer1;" in finding.why


class TestServerThatHangs:
    """Whoever waits for it sends nothing more: no traffic, and yet no time to say nothing."""

    @staticmethod
    def quiet(**wire: int) -> NfsMachine:
        idle = Did(read=Op(ops=0), write=Op(ops=0))
        return ready_host().did("/u02", idle).wire(sent=wire.get("retransmitted", 0), **wire)

    def test_nobody_waits(self, judge):
        assert frightening(judge(self.quiet())) == {}

    def test_nobody_acknowledges(self, judge):
        (finding,) = judge(self.quiet(retransmitted=2))["latency"]
        assert finding.status == "fail"
        assert "retransmits unacknowledged segments to 10.0.0.5" in finding.why

    def test_nobody_accepts_the_connection(self, judge):
        machine = self.quiet()
        readings = machine.samples[nfs_packs.SAMPLE]
        source = next(name for name in readings if name.startswith("command:ss"))
        machine.sampled(
            nfs_packs.SAMPLE, source, *(t.replace("ESTAB", "SYN-SENT") for t in readings[source])
        )
        (finding,) = judge(machine)["latency"]
        assert (finding.status, "tries to connect to 10.0.0.5" in finding.why) == ("fail", True)


@cases("root line", ("/sub", ""), ("/", "/u02 /u03 none bind 0 0\n"))
def test_bind_mount_does_not_decide_for_its_origin(judge, root, line):
    """It shares the superblock, and asks for nothing."""
    machine = database_on(shown(retrans=5), fstab=f"{OPTIONS},retrans=2")
    machine.mount("/u03", "filer1:/vol/u02", shown(retrans=5), superblock="0:45", root=root)
    machine.file(nfs_packs.FSTAB, machine.files[nfs_packs.FSTAB] + line)
    findings = judge(machine, **listed())
    assert findings["shared_superblock"][0].status == "pass"
    assert findings["mounted_as_persisted"][0].status == "warn"

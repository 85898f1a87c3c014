"""What apply would do to NFS mounts: the plan, its guards, and that it is done only once."""

from typing import Any

import nfs_packs
import pytest
from ansible.module_utils.hostproof.apply import change, difference
from ansible.module_utils.hostproof.apply.change import FileChange, MountChange, Plan, ValueChange
from ansible.module_utils.hostproof.controls.nfs_mounts.control import CONTROL as nfs_mounts
from ansible.module_utils.hostproof.controls.registry import planner
from ansible.module_utils.hostproof.errors import HostproofError
from ansible.module_utils.hostproof.parsers.mounts import fstab
from ansible.module_utils.hostproof.parsers.nfs import nfs_options
from cases import cases
from nfs_packs import (
    DATAFILES,
    FSTAB,
    MAX_SLOTS,
    MODPROBE_FILE,
    NO_CACHE,
    OPTIONS,
    SLOTS,
    SYSCTL_FILE,
    NfsMachine,
    listed,
    shown,
)
from packs import Machine

HAND_MADE = (
    "rw,relatime,vers=3,rsize=65536,wsize=65536,namlen=255,hard,proto=tcp,timeo=600,retrans=2,"
    "sec=sys,local_lock=none"
)
HEADER = "# Written by Hostproof (role nfs_mounts): change the policy, not this file.\n"
SOURCE = DATAFILES["source"]
REDO = {"path": "/u03", "source": "filer1:/vol/u03", "class": "redo", "sharing": "single"}
RULE = "/usr/lib/udev/rules.d/60-nfs.rules"
APPLIES_SYSCTL = (
    'ACTION=="add", SUBSYSTEM=="module", KERNEL=="sunrpc", '
    'RUN+="/sbin/sysctl -q --pattern ^sunrpc --system"\n'
)


def plan(machine: Machine, **policy: Any) -> Plan:
    host_policy = nfs_mounts.policy_from(nfs_packs.nfs_policy(**policy))
    return planner("nfs_mounts")(nfs_mounts.read(machine, host_policy), host_policy)


def connected(address: str) -> str:
    """/proc/net/tcp with socket 4711, which leads to port 2049 of an address (hexadecimal)."""
    return (
        "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt uid timeout "
        f"inode\n   0: 1500000A:D001 {address}:0801 01 0:0 00:0 0 54321 0 4711 1\n"
    )


def host() -> NfsMachine:
    """Mounted as datafiles need it, and nobody uses it."""
    return nfs_packs.nfs_host().persisted_mount("/u02", SOURCE)


def drifted(**shows: Any) -> NfsMachine:
    """fstab is right, the mount is older than that: 64 KiB."""
    return nfs_packs.nfs_host().persisted_mount(
        "/u02", SOURCE, shows=shown(**{"rsize": 65536, **shows})
    )


def after(machine: NfsMachine, decided: Plan) -> NfsMachine:
    """The host as it is when the plan has been carried out."""
    machine.evidence.clear()
    for step in decided.changes:
        if isinstance(step, FileChange):
            assert step.content is not None
            if step.path == FSTAB:
                for line in fstab.parse(step.content):
                    machine.fstab(line.path, line.source, line.options)  # systemd reads it again
            machine.file(step.path, step.content)
        elif isinstance(step, ValueChange):
            machine.file(step.path, step.value + "\n")
        elif step.after is None:
            machine.unmount(step.path)
        else:
            connections = nfs_options.parse(step.after.options).get("nconnect", "1")
            did = nfs_packs.Did(xprts=int(connections))
            machine.mount(step.path, step.after.source, granted(step), did=did)
    return machine


def granted(one: MountChange) -> str:
    """What a generous server grants, as a kernel shows it."""
    options = nfs_options.parse(one.after.options if one.after else "")
    named = {name: value for name, value in options.items() if name in nfs_options.GRANTED}
    sizes = {name: options.get(name, "1048576") for name in ("rsize", "wsize")}
    return ",".join(nfs_options.words({"vers": "3", **named, **sizes}))


def contradictions(machine: Machine, **policy: Any) -> dict[str, str]:
    """What verify still finds wrong: apply and verify must not drift apart."""
    host_policy = nfs_mounts.policy_from(nfs_packs.nfs_policy(**policy))
    findings = nfs_mounts.judge(nfs_mounts.read(machine, host_policy), host_policy)
    return {
        finding.title: f"{finding.status} {finding.why}"
        for finding in findings
        if finding.status in ("fail", "warn", "error") and finding.check != "nfs_mounts.v4_lease"
    }


def files(decided: Plan) -> dict[str, str | None]:
    return {step.path: step.content for step in decided.changes if isinstance(step, FileChange)}


def values(decided: Plan) -> dict[str, str]:
    return {step.path: step.value for step in decided.changes if isinstance(step, ValueChange)}


def steps(decided: Plan) -> list[str]:
    return [
        f"{'umount' if step.after is None else 'mount'} {step.path}"
        for step in decided.changes
        if isinstance(step, MountChange)
    ]


def mount_of(decided: Plan, path: str) -> MountChange:
    mounts = [step for step in decided.changes if isinstance(step, MountChange)]
    return next(mount for mount in mounts if mount.path == path and mount.after is not None)


def reasons(decided: Plan) -> dict[str | None, str]:
    """Override to reason."""
    assert len({refusal.override for refusal in decided.refusals}) == len(decided.refusals)
    return {refusal.override: refusal.reason for refusal in decided.refusals}


class TestFstab:
    def test_host_that_is_ready_needs_nothing(self):
        assert plan(host(), **listed()) == Plan([], [], [], [])

    def test_options_change_in_place_and_nothing_else(self):
        machine = nfs_packs.nfs_host().mount("/u02", SOURCE)
        before = (
            "# the database\t\n"
            "\tfiler1:/vol/u02   /u02\tnfs  bg,soft,noatime,rsize=32768 0\t0 # x\n"
            "LABEL=boot /boot xfs defaults 0 0"
        )
        machine.file(FSTAB, before)
        text = files(plan(machine, **listed()))[FSTAB]
        assert text == before.replace("bg,soft,noatime,rsize=32768", "bg,hard,noatime,rsize=262144")

    def test_entry_that_is_missing_comes_last(self):
        machine = nfs_packs.nfs_host().mount("/u02", SOURCE)
        before = machine.files[FSTAB]
        assert files(plan(machine, **listed())) == {
            FSTAB: before + f"{SOURCE} /u02 nfs "
            "rw,bg,hard,proto=tcp,timeo=600,rsize=262144,wsize=262144,vers=3 0 0\n"
        }

    def test_new_entry_keeps_what_the_mount_has(self):
        """No boot may bring another version or security than the mount by hand has."""
        shows = shown("4.1", flags="nosharecache", cache=NO_CACHE).replace("sec=sys", "sec=krb5p")
        machine = nfs_packs.nfs_host().mount("/u02", SOURCE, shows + ",port=2050,nosuid")
        for policy in (listed(), listed(version="4.1")):
            (entry,) = [
                entry
                for entry in fstab.parse(files(plan(machine, **policy))[FSTAB] or "")
                if entry.path == "/u02"
            ]
            assert set(entry.options.split(",")) == {
                *("rw", "bg", "hard", "proto=tcp", "timeo=600", "rsize=262144", "wsize=262144"),
                *("vers=4.1", "nosharecache", "sec=krb5p", "port=2050", "nosuid"),
            }
            machine.evidence.clear()

    @cases(
        "options is_refused",
        ("defaults", True),
        ("defaults,nofail", False),
        ("_netdev", False),
        ("noauto", False),
    )
    def test_local_file_system_beneath_a_new_entry(self, options, is_refused):
        """systemd would wait for the server before it starts the network."""
        machine = nfs_packs.nfs_host().mount("/u02", SOURCE)
        text = f"/dev/sdb1 /u021 xfs defaults 0 0\n/dev/sdc1 /u02/tmp xfs {options} 0 0\n"
        decided = plan(machine.file(FSTAB, text), **listed())
        assert bool(decided.refusals) == is_refused
        if is_refused:
            assert (
                "/etc/fstab, line 2, mounts /u02/tmp (xfs) beneath /u02: boot would wait"
                in (reasons(decided)[None])
            )

    def test_no_retries_without_end_for_who_looks_at_an_automount(self):
        options = OPTIONS.replace("bg,", "") + ",x-systemd.automount"
        machine = nfs_packs.nfs_host().persisted_mount("/u02", SOURCE, options)
        assert FSTAB not in files(plan(machine, **listed()))

    def test_no_fstab_at_all(self):
        machine = nfs_packs.nfs_host().mount("/u02", SOURCE).remove(FSTAB)
        (change_of_file,) = plan(machine, **listed()).changes
        assert isinstance(change_of_file, FileChange) and change_of_file.before is None
        assert len(fstab.parse(change_of_file.content or "")) == 1

    def test_several_mounts_are_one_change(self):
        machine = nfs_packs.nfs_host().persisted_mount("/u02", SOURCE, "hard")
        machine.persisted_mount("/u03", REDO["source"], "soft,bg")
        decided = plan(machine, mounts=[DATAFILES, REDO])
        assert list(files(decided)) == [FSTAB]
        entries = {entry.path: entry.options for entry in fstab.parse(files(decided)[FSTAB] or "")}
        assert entries["/u02"] == "hard,bg" and entries["/u03"] == "hard,bg"

    def test_override_of_the_policy(self):
        decided = plan(drifted(), **listed(options="nconnect=4,timeo=300"))
        (entry,) = [one for one in fstab.parse(files(decided)[FSTAB] or "") if one.path == "/u02"]
        assert entry.options == OPTIONS.replace("timeo=600", "timeo=300") + ",nconnect=4"

    @cases(
        "text told",
        (f"{SOURCE} /u02 nfs {OPTIONS} 0 0\n{SOURCE} /u02 nfs soft 0 0\n", "has 2 entries"),
        ("/dev/sdb1 /u02 xfs defaults 0 0\n", "mounts no NFS on /u02, but xfs"),
        (f"{SOURCE} /u02 nfs rw,bg, hard 0 0\n", "is malformed"),
    )
    def test_line_that_cannot_be_edited(self, text, told):
        decided = plan(nfs_packs.nfs_host().mount("/u02", SOURCE).file(FSTAB, text), **listed())
        assert told in reasons(decided)[None] and FSTAB not in files(decided)

    @cases("in_fstab", True, False)
    def test_what_nfsmount_conf_says_after_it(self, in_fstab):
        machine = nfs_packs.nfs_host().mount("/u02", SOURCE)
        if in_fstab:
            machine.fstab("/u02", SOURCE)
        machine.file("/etc/nfsmount.conf", "[ NFSMount_Global_Options ]\nSoft=True\n")
        machine.folder("/etc")
        decided = plan(machine, **listed())
        assert reasons(decided)[None] == (
            "/u02 does not get what it needs from /etc/fstab: take soft out of /etc/nfsmount.conf"
        )
        assert FSTAB not in files(decided)

    def test_noac_goes_alone_and_takes_sync_with_it(self):
        machine = nfs_packs.nfs_host().persisted_mount("/u02", SOURCE, "bg,hard,noac")
        assert "/u02 nfs bg,hard,ac 0 0" in (files(plan(machine, **listed()))[FSTAB] or "")

    def test_nfs4_that_should_be_version_3(self):
        machine = nfs_packs.nfs_host().mount("/u02", SOURCE, shown("4.1"))
        machine.file(FSTAB, f"{SOURCE} /u02 nfs4 {OPTIONS.replace('vers=3,', '')} 0 0\n")
        decided = plan(machine, **listed(version="3"), allow_version_change=True)
        assert "is of type nfs4" in reasons(decided)[None]

    def test_no_fstab_to_read(self):
        with pytest.raises(HostproofError):
            plan(host().deny(FSTAB), **listed())

    def test_diff_is_of_the_line(self):
        machine = nfs_packs.nfs_host().persisted_mount("/u02", SOURCE, "soft,bg")
        (diff,) = [
            diff
            for diff in difference.of_plan(plan(machine, **listed()))
            if diff["after_header"] == FSTAB
        ]
        assert f"{SOURCE} /u02 nfs soft,bg 0 0\n" in diff["before"]
        assert f"{SOURCE} /u02 nfs hard,bg 0 0\n" in diff["after"]


class TestOtherOwners:
    UNIT = "/etc/systemd/system/u02.mount"

    def unit(self, options: str) -> NfsMachine:
        machine = nfs_packs.nfs_host().mount("/u02", SOURCE, shown(rsize=65536))
        machine.file(
            self.UNIT,
            f"[Mount]\nWhat={SOURCE}\nWhere=/u02\nType=nfs\nOptions={options}\n"
            "[Install]\nWantedBy=remote-fs.target\n",
        )
        return machine.link("/etc/systemd/system/remote-fs.target.wants/u02.mount", self.UNIT)

    def test_unit_that_is_wrong_is_named_and_left_alone(self):
        decided = plan(self.unit("soft"), **listed())
        assert reasons(decided)[None] == (
            f"/u02 is mounted by {self.UNIT}, which apply does not edit: set it to {SOURCE} "
            "with hard"
        )
        assert FSTAB not in files(decided)

    def test_unit_that_is_right_is_mounted_anew(self):
        decided = plan(self.unit("hard"), **listed(), allow_remount=True)
        assert decided.refusals == [] and steps(decided) == ["umount /u02", "mount /u02"]
        assert mount_of(decided, "/u02").after == change.MountState(SOURCE, "nfs", "hard")

    def test_what_starts_a_unit_is_told(self):
        (pending,) = plan(self.unit("hard"), **listed()).pending
        assert "umount /u02 && systemctl start u02.mount; or apply" in pending

    def autofs(self, options: str) -> NfsMachine:
        machine = nfs_packs.nfs_host().file("/etc/auto.master", "/- /etc/auto.direct\n")
        machine.file("/etc/auto.direct", f"/u02 -{options} {SOURCE}\n")
        return self.started(machine)

    def started(self, machine: NfsMachine) -> NfsMachine:
        machine.link(
            "/etc/systemd/system/multi-user.target.wants/autofs.service",
            "/usr/lib/systemd/system/autofs.service",
        )
        machine.command("systemctl is-enabled autofs.service", "enabled\n")
        return machine.file("/usr/lib/systemd/system/autofs.service", "[Service]\n")

    def test_map_that_is_wrong(self):
        machine = self.autofs("soft").mount("/u02", SOURCE)
        assert (
            "/etc/auto.direct:1, which apply does not edit"
            in reasons(plan(machine, **listed()))[None]
        )

    def test_mount_of_an_automounter_is_never_made_by_us(self):
        machine = self.autofs("hard").mount("/u02", SOURCE, shown(rsize=65536))
        decided = plan(machine, **listed(), allow_remount=True)
        assert (decided.changes, decided.refusals) == ([], [])
        assert decided.pending[0].endswith("stop what uses it, then: umount /u02.")

    def test_a_mount_of_an_automounter_beneath_one_of_ours(self):
        """Both go together, so apply makes neither."""
        machine = drifted()
        deeper = {**DATAFILES, "path": "/u02/b", "source": SOURCE + "/b"}
        machine.file("/etc/auto.master", "/- /etc/auto.direct\n")
        machine.file("/etc/auto.direct", f"/u02/b -hard {SOURCE}/b\n")
        self.started(machine).mount("/u02/b", SOURCE + "/b", superblock="0:45")
        decided = plan(machine, mounts=[DATAFILES, deeper], allow_remount=True)
        assert decided.changes == []
        assert decided.pending[0].startswith("/u02 stays as it is mounted")

    def test_mount_that_nobody_looked_at_yet(self):
        machine = self.autofs("hard").other_mount("/u02", "autofs", "/etc/auto.direct")
        assert plan(machine, **listed()) == Plan([], [], [], [])


class TestPending:
    def test_live_mount_waits_with_the_commands(self):
        decided = plan(drifted(), **listed())
        assert decided.changes == []
        assert decided.pending == [
            "/u02 stays as it is mounted (it has rsize=65536,wsize=65536, wanted is rsize,wsize at "
            "least 256.0 KiB) until it is unmounted: stop what uses it, then: umount /u02 && mount "
            "/u02; or apply with nfs_mounts_allow_remount: true."
        ]

    def test_mounts_of_one_superblock_wait_together(self):
        machine = drifted().persisted_mount(
            "/u02/b", SOURCE + "/b", shows=shown(rsize=65536), superblock="0:45"
        )
        deeper = {**DATAFILES, "path": "/u02/b", "source": SOURCE + "/b"}
        pending = plan(machine, mounts=[DATAFILES, deeper]).pending[0]
        assert "umount /u02/b && umount /u02 && mount /u02 && mount /u02/b; or apply" in pending

    def test_mount_that_no_policy_lists_comes_back_too(self):
        """Apply would refuse that: it must not be named as the way out."""
        machine = drifted().mount("/u02/b", SOURCE + "/b", shown(rsize=65536), superblock="0:45")
        (pending,) = plan(machine, **listed()).pending
        assert pending.endswith(f"mount -t nfs -o {HAND_MADE} -- {SOURCE}/b /u02/b.")

    @cases("is_mounted", True, False)
    def test_what_no_boot_mounts(self, is_mounted):
        """A cluster's manager mounts it: to find it on two hosts, it would stop both."""
        options = OPTIONS + ",noauto"
        machine = nfs_packs.nfs_host().fstab("/u02", SOURCE, options).folder("/u02")
        if is_mounted:
            machine.mount("/u02", SOURCE)
        decided = plan(machine, **listed())
        assert decided.changes == []
        (pending,) = decided.pending
        assert pending.startswith(
            "No boot mounts /u02 (/etc/fstab:2: noauto), and apply does not change that"
        )
        assert ("mount /u02, if that is for this host" in pending) == (not is_mounted)

    def test_auto_changes_no_mount(self):
        decided = plan(drifted())
        assert decided.changes == []
        assert decided.pending == [
            "nfs_mounts_mounts is auto, so no mount is changed: list there what the host must "
            "have, of /u02."
        ]

    def test_systemd_that_did_not_read_fstab_again(self):
        machine = host()
        machine.file(FSTAB, machine.files[FSTAB].replace(OPTIONS, OPTIONS + ",noatime"))
        assert plan(machine, **listed()).pending == [
            "systemd still mounts /u02 with an older line of /etc/fstab: systemctl daemon-reload."
        ]
        machine.evidence.clear()
        changing = plan(machine, **listed(options="timeo=300"))
        assert not any("systemctl" in text for text in changing.pending)

    def test_host_without_nfs(self):
        machine = nfs_packs.nfs_host().slots(2, None)
        assert plan(machine).idle and not plan(machine).changes


class TestMounts:
    def test_drifted_mount_is_unmounted_and_mounted(self):
        first, second = plan(drifted(), **listed(), allow_remount=True).changes
        assert isinstance(first, MountChange)
        assert first.before == change.MountState(
            SOURCE,
            "nfs",
            "rw,relatime,vers=3,rsize=65536,wsize=65536,namlen=255,hard,proto=tcp,timeo=600,"
            "retrans=2,sec=sys,local_lock=none",
        )
        assert isinstance(second, MountChange)
        assert second.after == change.MountState(SOURCE, "nfs", OPTIONS)
        assert (
            second.must.items()
            >= {
                "rsize": "262144",
                "wsize": "262144",
                "recovery": "hard",
                "proto": "tcp",
                "vers": "3",
                "noac": "no",
                "acregmax": "60",
            }.items()
        )
        assert set(second.must) <= nfs_options.GRANTED

    def test_what_fstab_asks_of_the_mount_protocol_is_kept(self):
        machine = nfs_packs.nfs_host().persisted_mount(
            "/u02", SOURCE, OPTIONS + ",mountproto=udp", shown(rsize=65536)
        )
        first = plan(machine, **listed(), allow_remount=True).changes[0]
        assert isinstance(first, MountChange) and first.before is not None
        assert "mountproto=udp" in first.before.options and "mountport" not in first.before.options

    def test_missing_mount_is_mounted_without_asking(self):
        decided = plan(nfs_packs.nfs_host().fstab("/u02", SOURCE).folder("/u02"), **listed())
        assert steps(decided) == ["mount /u02"] and decided.refusals == []
        assert "vers" not in mount_of(decided, "/u02").must

    def test_missing_mount_point_is_made(self):
        decided = plan(nfs_packs.nfs_host().fstab("/u02", SOURCE), **listed())
        assert steps(decided) == ["mount /u02"] and decided.refusals == []

    def test_superblock_is_given_up_as_a_whole(self):
        machine = drifted(flags="nocto").persisted_mount(
            "/u02/b", SOURCE + "/b", shows=shown(rsize=262144), superblock="0:45"
        )
        deeper = {**DATAFILES, "path": "/u02/b", "source": SOURCE + "/b"}
        decided = plan(machine, mounts=[DATAFILES, deeper], allow_remount=True)
        assert steps(decided) == ["umount /u02/b", "umount /u02", "mount /u02", "mount /u02/b"]
        assert decided.refusals == []

    def test_other_mount_of_the_superblock_that_no_policy_lists(self):
        machine = drifted().persisted_mount("/u09", SOURCE, superblock="0:45")
        decided = plan(machine, **listed(), allow_remount=True)
        assert reasons(decided)[None] == (
            "/u02 cannot change alone: /u09 shares the superblock of /u02, and nfs_mounts_mounts "
            "does not list it"
        )

    def test_connections_belong_to_the_server(self):
        machine = (
            host()
            .persisted_mount("/u03", REDO["source"])
            .mount("/u04", "f2:/x", shown(address="10.0.0.6"))
        )
        machine.mount("/u05", f"{nfs_packs.ADDRESS}:/x")
        policy = {"mounts": [{**DATAFILES, "options": "nconnect=4"}], "allow_remount": True}
        messages = [refusal.reason for refusal in plan(machine, **policy).refusals]
        found = ["/u03 shares the connections of /u02" in message for message in messages]
        assert found == [True, False]
        seen = ["/u05 shares the connections of /u02" in message for message in messages]
        assert seen == [False, True]
        machine.unmount("/u05")
        policy["mounts"].append(REDO)
        machine.evidence.clear()
        decided = plan(machine, **policy)
        assert steps(decided) == ["umount /u02", "umount /u03", "mount /u02", "mount /u03"]
        assert mount_of(decided, "/u02").must["nconnect"] == "4"

    def test_mount_with_the_most_connections_comes_first(self):
        """The first one decides for the server."""
        machine = host().persisted_mount("/u03/a", REDO["source"]).persisted_mount("/u03", "f:/c")
        redo = {**REDO, "path": "/u03/a", "options": "nconnect=4"}
        above = {**REDO, "path": "/u03", "source": "f:/c"}
        decided = plan(machine, mounts=[DATAFILES, redo, above], allow_remount=True)
        assert steps(decided)[3:] == ["mount /u02", "mount /u03", "mount /u03/a"]
        alone = plan(
            host().persisted_mount("/u03/a", REDO["source"]),
            mounts=[DATAFILES, redo],
            allow_remount=True,
        )
        assert steps(alone)[2:] == ["mount /u03/a", "mount /u02"]

    def test_database_that_uses_it_by_direct_nfs(self):
        """Nothing is open in the kernel's eyes: umount would succeed."""
        machine = drifted().process("ora_dbw0_ORCL", "socket:[4711]", pid=2102)
        machine.file("/proc/net/tcp", connected("0500000A"))
        message = reasons(plan(machine, **listed(), allow_remount=True))[None]
        assert message == (
            "the server of /u02 is in use by Direct NFS of ORCL (pid 2102, 10.0.0.5): stop that "
            "first"
        )
        machine.evidence.clear()
        machine.file("/proc/net/tcp", connected("0900000A"))
        assert plan(machine, **listed(), allow_remount=True).refusals == []
        machine.evidence.clear()
        machine.file("/etc/oranfstab", "server: f\npath: 10.0.0.9\nexport: /vol/u02 mount: /u02\n")
        assert "Direct NFS of ORCL" in reasons(plan(machine, **listed(), allow_remount=True))[None]
        machine.evidence.clear()
        machine.file("/proc/net/tcp", "odd\n")
        message = reasons(plan(machine, **listed(), allow_remount=True))[None]
        assert message.startswith("whether a database uses /u02 by Direct NFS is not known: ")

    def test_mount_beneath_goes_with_it(self):
        machine = drifted().persisted_mount("/u02/redo", REDO["source"])
        decided = plan(machine, **listed(), allow_remount=True)
        assert "/u02/redo is mounted beneath /u02" in reasons(decided)[None]

    def test_database_that_uses_it_is_named(self):
        machine = drifted().database("/u02/oradata/system01.dbf")
        decided = plan(machine, **listed(), allow_remount=True)
        assert reasons(decided)[None] == (
            "/u02 is in use by ora_dbw0_ORCL (pid 2102, /u02/oradata/system01.dbf): stop that first"
        )

    def test_any_other_process_that_uses_it_is_named(self):
        machine = drifted().process("vi", "/u02/notes", pid=77)
        decided = plan(machine, **listed(), allow_remount=True)
        assert "in use by vi (pid 77, /u02/notes)" in reasons(decided)[None]

    def test_many_holders_are_counted(self):
        machine = drifted()
        for pid in range(10, 18):
            machine.process("vi", "/u02/notes", pid=pid)
        decided = plan(machine, **listed(), allow_remount=True)
        assert "(pid 14, /u02/notes), 3 more: stop" in reasons(decided)[None]

    def test_unknown_holders_are_holders(self):
        decided = plan(drifted().deny("open_files:all"), **listed(), allow_remount=True)
        assert reasons(decided)[None].startswith("who uses /u02 is not known: ")

    def test_unknown_mounts_stop_it(self):
        with pytest.raises(HostproofError):
            plan(host().file(nfs_packs.MOUNTINFO, "odd\n"), **listed())

    def test_smaller_sizes_may_be_accepted(self):
        decided = plan(
            drifted(recovery="soft"),
            **listed(),
            allow_remount=True,
            allow_lowered_transfer_size=True,
        )
        assert "rsize" not in mount_of(decided, "/u02").must
        assert mount_of(decided, "/u02").must["recovery"] == "hard"
        accepted = plan(drifted(), **listed(), allow_remount=True, allow_lowered_transfer_size=True)
        assert accepted.changes == []


class TestGuards:
    def test_version_of_a_live_mount(self):
        machine = host()
        refused = plan(machine, **listed(version="4.1"))
        assert reasons(refused) == {
            "allow_version_change": "/u02 is mounted with NFS version 3 and would get 4.1"
        }
        machine.evidence.clear()
        allowed = plan(
            machine, **listed(version="4.1"), allow_version_change=True, allow_remount=True
        )
        assert allowed.refusals == [] and mount_of(allowed, "/u02").must["vers"] == "4.1"
        assert "vers=4.1" in (files(allowed)[FSTAB] or "")

    def test_version_that_fstab_asks_and_a_remount_would_bring(self):
        machine = nfs_packs.nfs_host().persisted_mount(
            "/u02", SOURCE, OPTIONS.replace("vers=3", "vers=4.1"), shown(rsize=65536)
        )
        assert plan(machine, **listed()).refusals == []
        machine.evidence.clear()
        decided = plan(machine, **listed(), allow_remount=True)
        assert list(reasons(decided)) == ["allow_version_change"]

    def test_any_minor_version(self):
        options = OPTIONS.replace("vers=3", "vers=4")
        machine = nfs_packs.nfs_host().persisted_mount(
            "/u02", SOURCE, options, shown("4.2", rsize=65536)
        )
        decided = plan(machine, **listed(), allow_remount=True)
        assert decided.refusals == [] and mount_of(decided, "/u02").must["vers"] == "4.2"

    def test_version_that_nothing_asks_for_must_stay(self):
        machine = nfs_packs.nfs_host().persisted_mount(
            "/u02", SOURCE, OPTIONS.replace("vers=3,", ""), shown(rsize=65536)
        )
        assert mount_of(plan(machine, **listed(), allow_remount=True), "/u02").must["vers"] == "3"

    def test_source(self):
        machine = host()
        refused = plan(machine, **listed(source="filer9:/vol/u02"))
        assert [refusal.override for refusal in refused.refusals] == ["allow_source_change"] * 2
        assert "filer1:/vol/u02 is mounted, the policy requires filer9:/vol/u02" in (
            refused.refusals[0].reason
        )
        machine.evidence.clear()
        allowed = plan(
            machine,
            **listed(source="filer9:/vol/u02"),
            allow_source_change=True,
            allow_remount=True,
        )
        assert allowed.refusals == []
        assert f"filer9:/vol/u02 /u02 nfs {OPTIONS} 0 0\n" in (files(allowed)[FSTAB] or "")
        assert mount_of(allowed, "/u02").after.source == "filer9:/vol/u02"

    def test_server_by_its_address_is_no_other_source(self):
        machine = nfs_packs.nfs_host().persisted_mount("/u02", f"{nfs_packs.ADDRESS}:/vol/u02/")
        assert plan(machine, **listed(source=f"{nfs_packs.ADDRESS}:/vol/u02")).changes == []

    @cases("options", "nolock", "nocto", "local_lock=flock")
    @cases("use", "rac", "failover")
    def test_local_locks_on_shared_files(self, options, use):
        machine = host()
        refused = plan(machine, **listed(options=options, sharing=use))
        message = reasons(refused)["allow_local_locks_on_shared_files"]
        assert f"/u02 holds files that several hosts may open ({use})" in message
        machine.evidence.clear()
        allowed = plan(
            machine, **listed(options=options, sharing=use), allow_local_locks_on_shared_files=True
        )
        assert allowed.refusals == []

    def test_local_locks_of_one_host(self):
        assert plan(host(), **listed(options="nolock")).refusals == []

    def test_server_that_lowered_its_maximum(self):
        machine = drifted().persisted_mount(
            "/u09", "filer1:/vol/adr", shows=shown(rsize=32768), did=nfs_packs.Did(age=60)
        )
        refused = plan(machine, **listed(), allow_remount=True)
        message = reasons(refused)["allow_lowered_transfer_size"]
        assert "a new mount of /u02 would get less than it has" in message and "/u09" in message

    def test_files_that_a_mount_would_hide(self):
        machine = nfs_packs.nfs_host().fstab("/u02", SOURCE).file("/u02/users01.dbf", "x")
        refused = plan(machine, **listed())
        assert reasons(refused)["allow_hidden_files"] == (
            "/u02 is not mounted and holds files (users01.dbf), which the mount would hide"
        )
        machine.evidence.clear()
        assert plan(machine, **listed(), allow_hidden_files=True).refusals == []

    def test_folder_that_may_not_be_looked_into(self):
        machine = nfs_packs.nfs_host().fstab("/u02", SOURCE).folder("/u02").deny("/u02")
        message = reasons(plan(machine, **listed()))["allow_hidden_files"]
        assert "what a mount on /u02 would hide is not known" in message

    def test_folder_on_a_server_is_not_looked_into(self):
        machine = host().fstab("/u02/redo", REDO["source"])
        messages = reasons(plan(machine, mounts=[DATAFILES, {**REDO, "path": "/u02/redo"}]))
        assert "/u02/redo is below the NFS mount /u02" in messages["allow_hidden_files"]

    def test_database_that_writes_beneath(self):
        machine = nfs_packs.nfs_host().fstab("/u02", SOURCE).file("/u02/users01.dbf", "x")
        machine.database("/u02/users01.dbf")
        refused = plan(machine, **listed(), allow_hidden_files=True)
        assert "/u02 is in use by ora_dbw0_ORCL" in reasons(refused)[None]

    def test_other_system(self):
        decided = plan(Machine().command("uname -s", "AIX\n"), **listed())
        assert decided.changes == []
        assert reasons(decided)[None].startswith("apply changes the NFS mounts of Linux hosts only")

    def test_system_that_is_not_known(self):
        with pytest.raises(HostproofError):
            plan(Machine(), **listed())


class TestSlots:
    def test_both_values_and_the_drop_in(self):
        decided = plan(host().slots(2, None), **listed())
        assert files(decided) == {
            MODPROBE_FILE: HEADER
            + "options sunrpc tcp_slot_table_entries=128 tcp_max_slot_table_entries=128\n"
        }
        assert values(decided) == {SLOTS: "128", MAX_SLOTS: "128"}
        assert decided.pending == [
            "The new RPC slots reach filer1 only after all its mounts were unmounted and "
            "mounted again."
        ]

    def test_sysctl_where_it_is_applied_to_the_module(self):
        machine = host().slots(128, None).file(RULE, APPLIES_SYSCTL)
        assert files(plan(machine, **listed()))[SYSCTL_FILE] == HEADER + (
            "sunrpc.tcp_slot_table_entries = 128\nsunrpc.tcp_max_slot_table_entries = 128\n"
        )

    def test_earlier_sysctl_loses(self):
        machine = host().slots(128, None).file(RULE, APPLIES_SYSCTL)
        machine.file("/etc/sysctl.d/50-nfs.conf", "sunrpc.tcp_max_slot_table_entries = 65536\n")
        assert plan(machine, **listed()).refusals == []

    @cases(
        "path text",
        ("/etc/modprobe.d/zzz.conf", "options sunrpc tcp_max_slot_table_entries=64\n"),
        ("/etc/sysctl.d/zzz.conf", "sunrpc.tcp_max_slot_table_entries = 64\n"),
    )
    def test_later_place_that_would_win(self, path, text):
        machine = host().slots(128, None).file(path, text)
        if "sysctl" in path:
            machine.file(RULE, APPLIES_SYSCTL)
            decided = plan(machine, **listed())
        else:
            decided = plan(machine, **listed())
        assert (
            f"would not win at boot, {path}:1 (tcp_max_slot_table_entries = 64)"
            in (reasons(decided)[None])
        )

    def test_what_another_file_sets_already_is_left_to_it(self):
        machine = (
            host()
            .slots(128, None)
            .file(
                "/etc/modprobe.d/sunrpc.conf",
                "options sunrpc tcp_slot_table_entries=128 tcp_max_slot_table_entries=128\n",
            )
        )
        assert plan(machine, **listed()).changes == []

    @cases(
        "path text told",
        (MODPROBE_FILE, "options sunrpc pool_mode=pernode\n", "options sunrpc pool_mode="),
        (MODPROBE_FILE, "# mine\nblacklist floppy\n", "blacklist floppy"),
        (SYSCTL_FILE, "vm.swappiness = 1\n", "vm.swappiness = 1"),
    )
    def test_drop_in_that_holds_other_settings(self, path, text, told):
        machine = host().slots(128, None).file(RULE, APPLIES_SYSCTL).file(path, text)
        assert reasons(plan(machine, **listed()))[None] == (
            f"{path} holds other settings ({text.splitlines()[-1]}), which would be lost: choose "
            "another file"
        )
        assert told in text

    def test_module_that_is_not_loaded_has_no_values(self):
        decided = plan(host().slots(None, None), **listed())
        assert values(decided) == {} and MODPROBE_FILE in files(decided)

    def test_values_that_may_not_be_read(self):
        with pytest.raises(HostproofError):
            plan(host().deny(SLOTS), **listed())

    def test_not_managed(self):
        assert plan(host().slots(2, None), **listed(), slot_table_entries=0).changes == []

    def test_auto_sets_them_where_nfs_is_used(self):
        decided = plan(nfs_packs.nfs_host().slots(2, None).fstab("/u02", SOURCE))
        assert MODPROBE_FILE in files(decided)

    def test_server_whose_mounts_are_all_made_anew_gets_them(self):
        decided = plan(drifted().slots(2, None), **listed(), allow_remount=True)
        assert decided.pending == []
        kinds = [type(step) for step in decided.changes]
        assert kinds == [FileChange, ValueChange, ValueChange, MountChange, MountChange]


class TestTwice:
    @cases(
        "policy",
        {},
        {"version": "4.1"},
        {"single_actimeo_zero": True},
        {"transfer_size": "1M"},
        {"slot_table_entries": 64},
        listed(options="noac"),
        listed(options="nconnect=4,nolock,nosharecache"),
        listed(sharing="rac"),
        listed(sharing="failover"),
        {"mounts": [{**DATAFILES, "class": "crs_voting"}]},
        {"mounts": [{**DATAFILES, "class": "backup"}]},
        {"mounts": [{**DATAFILES, "class": "adr", "sharing": "rac"}]},
        {"mounts": [{**DATAFILES, "class": "oracle_home", "sharing": "rac"}]},
        {"mounts": [DATAFILES, REDO]},
    )
    @cases(
        "before",
        None,
        "soft,udp,vers=3,noac,rsize=32768",
        "nolock,nocto,actimeo=0,sync",
        "defaults",
    )
    def test_second_apply_changes_nothing(self, policy, before):
        machine = nfs_packs.nfs_host().slots(2, None)
        if before is not None:
            shows = shown(rsize=32768, recovery="soft", cache=NO_CACHE, flags="nocto")
            machine.persisted_mount("/u02", SOURCE, before, shows)
        settings = {**listed(), **policy, "allow_remount": True, "allow_version_change": True}
        first = plan(machine, **settings)
        assert first.changes and first.refusals == []
        assert plan(after(machine, first), **settings) == Plan([], [], [], [])
        assert contradictions(machine, **settings) == {}

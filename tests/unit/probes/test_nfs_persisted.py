"""What the next reboot mounts by NFS, and which of several places wins."""

import pytest
from ansible.module_utils.hostproof.controls.nfs_mounts.probes import persisted_options
from ansible.module_utils.hostproof.errors import Absent, Denied, ParseError, Unanswered
from ansible.module_utils.hostproof.parsers.nfs.nfs_options import AIX, HPUX, LINUX, SOLARIS
from ansible.module_utils.hostproof.probes.nfs import nfs_persisted
from cases import cases
from packs import FIXTURES, Machine

ETC = "/etc/systemd/system"
LIB = "/usr/lib/systemd/system"
GENERATOR = "/run/systemd/generator"
SHOW = "systemctl show --property=RequiredBy,WantedBy"
IS_ENABLED = "systemctl is-enabled autofs.service"


def host(fstab: str | None = None) -> Machine:
    """A Linux host with systemd, and with a line of fstab for each of the lines given."""
    machine = Machine().folder("/run/systemd/system")
    return machine if fstab is None else machine.file("/etc/fstab", fstab)


def unit(what="filer:/vol/unit", where="/u01", options="soft", kind="nfs"):
    return f"[Mount]\nWhat={what}\nWhere={where}\nType={kind}\nOptions={options}\n"


def read(machine, system=LINUX):
    return nfs_persisted.read_persisted(machine, system)


def of_path(machine, path="/u01", system=LINUX):
    return nfs_persisted.of_path(read(machine, system), path)


def told(machine, path="/u01", system=LINUX):
    """Place, options and the reason why it is not the one at boot."""
    entries = of_path(machine, path, system)
    assert all(entry.at_boot == (not entry.why_not_at_boot) for entry in entries)
    return [(entry.place, entry.options, entry.why_not_at_boot) for entry in entries]


class TestFstab:
    def test_an_entry(self):
        machine = host("# x\nfiler:/vol/a /u01/ nfs rw,hard,_netdev 0 0\n/dev/sda / ext4 rw 0 1\n")
        assert of_path(machine) == [
            nfs_persisted.Entry(
                path="/u01",
                source="filer:/vol/a",
                fstype="nfs",
                options="rw,hard,_netdev",
                kind="fstab",
                place="/etc/fstab:2",
                at_boot=True,
                why_not_at_boot="",
                on_access=False,
                evidence=("file:/etc/fstab",),
            )
        ]
        assert of_path(machine, "/") == []

    def test_noauto(self):
        assert told(host("f:/a /u01 nfs noauto 0 0\n")) == [("/etc/fstab:1", "noauto", "noauto")]

    def test_noauto_that_a_target_wants(self):
        machine = host("f:/a /u01 nfs noauto 0 0\n")
        machine.file(f"{ETC}/multi-user.target.wants/u01.mount", "")
        assert of_path(machine)[0].at_boot

    def test_noauto_above_a_mount_that_boot_makes(self):
        machine = host("f:/a /u01 nfs noauto 0 0\nf:/b /u01/data nfs hard 0 0\n")
        assert of_path(machine)[0].at_boot

    def test_on_access(self):
        entry = of_path(host("f:/a /u01 nfs noauto,x-systemd.automount 0 0\n"))[0]
        assert entry.at_boot and entry.on_access

    def test_systemd_takes_the_first_of_two_lines(self):
        assert told(host("f:/a /u01 nfs hard 0 0\nf:/b /u01/ nfs soft 0 0\n")) == [
            ("/etc/fstab:1", "hard", ""),
            (
                "/etc/fstab:2",
                "soft",
                "/etc/fstab:1 names the path before it, and systemd takes the first",
            ),
        ]

    def test_without_systemd_the_last_line_ends_on_top(self):
        machine = Machine().file("/etc/fstab", "f:/a /u01 nfs hard\nf:/b /u01 nfs soft\n")
        assert told(machine) == [
            ("/etc/fstab:2", "soft", ""),
            ("/etc/fstab:1", "hard", "/etc/fstab:2 is mounted over it"),
        ]

    def test_none(self):
        persisted = read(host())
        assert persisted.entries == []
        assert isinstance(persisted.fstab_text, Absent)

    def test_lines_that_mount_refuses(self):
        assert read(host("f:/a /u01 nfs rw, hard 0 0\n\nf:/b\n")).bad_lines == [
            "/etc/fstab:1",
            "/etc/fstab:3",
        ]

    def test_that_may_not_be_read_is_unknown(self):
        persisted = read(host("f:/a /u01 nfs hard 0 0\n").deny("/etc/fstab"))
        assert isinstance(persisted.entries, Denied)
        assert isinstance(persisted.bad_lines, Denied)
        assert isinstance(persisted.differs_from_generator, Denied)
        with pytest.raises(Denied):
            nfs_persisted.of_path(persisted, "/u01")


class TestUnits:
    def test_of_etc_wins_over_fstab_which_starts_it(self):
        machine = host("f:/a /u01 nfs hard 0 0\n").file(f"{ETC}/u01.mount", unit())
        assert told(machine) == [
            (f"{ETC}/u01.mount", "soft", ""),
            ("/etc/fstab:1", "hard", f"{ETC}/u01.mount precedes it"),
        ]
        assert of_path(machine)[0].evidence == (f"file:{ETC}/u01.mount",)

    def test_of_usr_lib_loses_against_fstab(self):
        machine = host("f:/a /u01 nfs hard 0 0\n").file(f"{LIB}/u01.mount", unit())
        machine.file(f"{GENERATOR}/u01.mount", "[Unit]\nSourcePath=/etc/fstab\n" + unit())
        assert told(machine) == [("/etc/fstab:1", "hard", "")]

    def test_that_nothing_starts(self):
        assert told(host().file(f"{ETC}/u01.mount", unit())) == [
            (f"{ETC}/u01.mount", "soft", "no unit wants or requires it: systemctl enable u01.mount")
        ]

    @cases("folder", f"{ETC}/remote-fs.target.wants", f"{LIB}/a.service.requires")
    def test_that_is_wanted(self, folder):
        machine = host().file(f"{LIB}/u01.mount", unit()).file(f"{folder}/u01.mount", "")
        assert of_path(machine)[0].at_boot

    def test_that_the_running_systemd_says_is_required(self):
        machine = host().file(f"{ETC}/u01.mount", unit())
        machine.command(f"{SHOW} u01.mount", "RequiredBy=oracle.service\nWantedBy=\n")
        assert of_path(machine)[0].at_boot

    def test_on_access(self):
        machine = host().file(f"{ETC}/u01.mount", unit())
        machine.file(f"{ETC}/multi-user.target.wants/u01.automount", "")
        entry = of_path(machine)[0]
        assert entry.at_boot and entry.on_access

    def test_above_a_mount_that_boot_makes(self):
        machine = host("f:/b /u01/data nfs hard 0 0\n").file(f"{ETC}/u01.mount", unit())
        assert of_path(machine)[0].at_boot

    @cases("name", "10-x.conf", "99-x.conf")
    def test_a_drop_in_changes_what_fstab_says(self, name):
        machine = host("f:/a /u01 nfs hard 0 0\n")
        machine.file(f"{GENERATOR}/u01.mount", "[Unit]\nSourcePath=/etc/fstab\n" + unit())
        machine.file(f"{ETC}/u01.mount.d/{name}", "[Mount]\nOptions=soft,bg\n")
        assert told(machine) == [
            (f"{ETC}/u01.mount.d/{name}:2", "soft,bg", ""),
            ("/etc/fstab:1", "hard", f"{ETC}/u01.mount.d/{name}:2 replaces it"),
        ]
        assert of_path(machine)[0].source == "f:/a"

    def test_a_drop_in_that_changes_no_mount(self):
        machine = host("f:/a /u01 nfs hard 0 0\n")
        machine.file(f"{ETC}/u01.mount.d/a.conf", "[Unit]\nAfter=x\n")
        assert told(machine) == [("/etc/fstab:1", "hard", "")]

    def test_drop_ins_are_read_by_name_and_masked_by_folder(self):
        machine = host().file(f"{ETC}/u01-a.mount", unit(where="/u01/a", options="0"))
        for path, options in [
            (f"{ETC}/u01-a.mount.d/50-x.conf", "etc"),
            (f"{LIB}/u01-a.mount.d/50-x.conf", "masked"),
            (f"{LIB}/u01-.mount.d/60-y.conf", "prefix"),
            (f"{ETC}/mount.d/60-y.conf", "masked too"),
            (f"{ETC}/mount.d/40-t.conf", "type"),
        ]:
            machine.file(path, f"[Mount]\nOptions={options}\n")
        assert [row[1] for row in told(machine, "/u01/a")] == ["prefix"]
        machine.remove(f"{LIB}/u01-.mount.d/60-y.conf", f"{ETC}/mount.d/60-y.conf")
        machine.evidence.clear()
        assert [row[1] for row in told(machine, "/u01/a")] == ["etc"]

    def test_masked(self):
        machine = host("f:/a /u01 nfs hard 0 0\n").file("/dev/null", "")
        machine.link(f"{ETC}/u01.mount", "/dev/null")
        assert told(machine) == [("/etc/fstab:1", "hard", f"{ETC}/u01.mount masks it")]

    def test_of_another_path_than_its_name(self):
        machine = host("f:/a /u01 nfs hard 0 0\n")
        machine.file(f"{ETC}/u01.mount", unit(where="/u02"))
        assert told(machine) == [
            (f"{ETC}/u01.mount", "soft", "Where=/u02 does not belong to the name of the unit"),
            ("/etc/fstab:1", "hard", f"{ETC}/u01.mount precedes it"),
        ]

    def test_that_systemd_does_not_load(self):
        machine = host("f:/a /u01 nfs hard 0 0\n").file(f"{ETC}/u01.mount", "[Mount\nWhat=x\n")
        assert [row[2] for row in told(machine)] == [f"{ETC}/u01.mount precedes it"]

    def test_of_other_types_are_none_of_ours(self):
        machine = host().file(f"{LIB}/tmp.mount", unit("tmpfs", "/tmp", "size=1g", "tmpfs"))
        assert read(machine).entries == []

    def test_without_a_type_mount_guesses_nfs_from_the_source(self):
        machine = host().file(f"{ETC}/u01.mount", "[Mount]\nWhat=f:/a\nWhere=/u01\n")
        assert of_path(machine)[0].fstype == "nfs"

    def test_the_name_and_the_source_are_unescaped(self):
        machine = host().file(
            f"{ETC}/u\\x2d01-a\\x20b.mount", unit("f:/100%%", "/u-01/a b", "hard")
        )
        assert of_path(machine, "/u-01/a b")[0].source == "f:/100%"

    def test_of_another_generator(self):
        machine = host().file(f"{GENERATOR}/u01.mount", unit())
        assert of_path(machine)[0].place == f"{GENERATOR}/u01.mount"

    def test_that_stem_from_a_line_that_is_gone(self):
        machine = host().file(f"{GENERATOR}/u01.mount", "[Unit]\nSourcePath=/etc/fstab\n" + unit())
        assert of_path(machine) == []

    def test_that_may_not_be_read_are_unknown(self):
        machine = host("f:/a /u01 nfs hard 0 0\n").file(f"{ETC}/x.mount", unit())
        assert isinstance(read(machine.deny(f"{ETC}/x.mount")).entries, Denied)

    def test_of_a_lib_that_is_usr_lib_count_once(self):
        machine = host().file(f"{LIB}/u01.mount", unit()).link("/lib", "/usr/lib")
        assert len(of_path(machine)) == 1


class TestGenerator:
    @cases(
        "options generated",
        ("hard", "hard"),
        ("bg,hard", "x-systemd.mount-timeout=infinity,retry=10000,nofail,bg,hard,fg"),
        ("bg,hard", "bg,hard"),
        ("defaults", ""),
        ("rw,bg,", "rw,bg"),
    )
    def test_that_made_its_unit_of_this_line(self, options, generated):
        machine = host(f"filer:/vol/unit /u01 nfs {options} 0 0\n")
        machine.file(f"{GENERATOR}/u01.mount", unit(options=generated))
        assert read(machine).differs_from_generator == []

    @cases(
        "line",
        "filer:/vol/unit /u01 nfs hard",
        "filer:/b /u01 nfs soft",
        "filer:/vol/unit /u01 nfs4 soft",
    )
    def test_that_made_it_of_another(self, line):
        machine = host(line + "\n").file(f"{GENERATOR}/u01.mount", unit())
        assert read(machine).differs_from_generator == ["/u01"]

    def test_that_has_not_seen_the_line(self):
        assert read(host("f:/a /u01 nfs hard\n")).differs_from_generator == ["/u01"]

    def test_that_is_not_there(self):
        machine = Machine().file("/etc/fstab", "f:/a /u01 nfs hard\n")
        assert read(machine).differs_from_generator == []


def autofs(master: str, **maps: str) -> Machine:
    machine = host().command(IS_ENABLED, "enabled\n").file("/etc/auto.master", master)
    for name, text in maps.items():
        machine.file(f"/etc/auto.{name}", text)
    return machine


class TestAutofs:
    def test_a_direct_map(self):
        machine = autofs("/- /etc/auto.direct -rw,hard\n", direct="# x\n/u01 -soft f:/v\n")
        assert of_path(machine) == [
            nfs_persisted.Entry(
                path="/u01",
                source="f:/v",
                fstype="nfs",
                options="rw,hard,soft",
                kind="autofs",
                place="/etc/auto.direct:2",
                at_boot=True,
                why_not_at_boot="",
                on_access=True,
                evidence=("file:/etc/auto.master", "file:/etc/auto.direct"),
            )
        ]

    def test_an_indirect_map_with_a_wildcard(self):
        machine = autofs("/ora auto.ora\n", ora="data -hard f:/&\n* -soft f:/vol/&\n")
        assert told(machine, "/ora/data")[0][1] == "hard"
        assert [entry.source for entry in of_path(machine, "/ora/data")] == [
            "f:/data",
            "f:/vol/data",
        ]
        redo = of_path(machine, "/ora/redo")
        assert [(entry.path, entry.source, entry.options) for entry in redo] == [
            ("/ora/redo", "f:/vol/redo", "soft")
        ]
        assert of_path(machine, "/ora/redo/x") == []

    def test_several_mounts_of_one_key(self):
        machine = autofs("/ora auto.ora\n", ora="m -fstype=nfs4 / f:/v /x -ro g:/x /y :/dev/sda\n")
        assert [(entry.path, entry.source, entry.options) for entry in read(machine).entries] == [
            ("/ora/m", "f:/v", ""),
            ("/ora/m/x", "g:/x", "ro"),
        ]
        assert of_path(machine, "/ora/m")[0].fstype == "nfs4"

    def test_maps_within_maps_are_read_once(self):
        machine = autofs(
            "+dir:/etc/auto.master.d\n+auto.master\n/ora auto.ora\n",
            ora="a f:/a\n+auto.more\n",
            more="b f:/b\n+auto.ora\n",
        )
        machine.file("/etc/auto.master.d/x.autofs", "/- /etc/auto.direct\n")
        machine.file("/etc/auto.master.d/README", "/nonsense /etc/auto.x\n")
        machine.file("/etc/auto.direct", "/u01 f:/v\n")
        assert [entry.path for entry in read(machine).entries] == ["/u01", "/ora/a", "/ora/b"]
        assert read(machine).unread == []

    def test_options_of_the_master_map_can_be_replaced(self):
        machine = autofs("/- /etc/auto.direct -soft\n", direct="/u01 -hard f:/v\n/u02 f:/v\n")
        machine.file("/etc/autofs.conf", "[ autofs ]\n#append_options = yes\nappend_options = no\n")
        assert told(machine, "/u01")[0][1] == "hard"
        assert told(machine, "/u02")[0][1] == "soft"

    def test_another_master_map(self):
        machine = autofs("/- /etc/auto.direct\n", direct="/u01 f:/v\n")
        machine.file("/etc/default/autofs", 'MASTER_MAP_NAME="/etc/auto.other"\n')
        assert of_path(machine) == []

    def test_fstab_stands_before_it(self):
        machine = autofs("/- /etc/auto.direct\n", direct="/u01 f:/v\n")
        machine.file("/etc/fstab", "f:/a /u01 nfs hard 0 0\n")
        assert told(machine) == [
            ("/etc/fstab:1", "hard", ""),
            ("/etc/auto.direct:1", "", "/etc/fstab:1 precedes it"),
        ]

    def test_it_counts_where_fstab_does_not(self):
        machine = autofs("/- /etc/auto.direct\n", direct="/u01 f:/v\n")
        machine.file("/etc/fstab", "f:/a /u01 nfs noauto 0 0\n")
        assert [entry.kind for entry in of_path(machine)] == ["autofs", "fstab"]

    @cases("rc state", (1, "disabled\n"), (1, "masked\n"), (1, ""))
    def test_that_boot_does_not_start(self, rc, state):
        machine = autofs("/- /etc/auto.direct\n+ldap:auto.x\n", direct="/u01 f:/v\n")
        machine.command(IS_ENABLED, state, rc)
        if not state:
            machine.commands[IS_ENABLED] = machine.commands[IS_ENABLED]._replace(
                stderr="Failed to get unit file state: No such file or directory\n"
            )
        assert [row[2] for row in told(machine)] == ["autofs is not started at boot"]
        assert read(machine).unread == []

    def test_that_a_runlevel_starts(self):
        machine = autofs("/- /etc/auto.direct\n", direct="/u01 f:/v\n")
        del machine.commands[IS_ENABLED]
        assert not of_path(machine)[0].at_boot
        machine.file("/etc/rc.d/rc3.d/S28autofs", "")
        machine.evidence.clear()
        assert of_path(machine)[0].at_boot

    def test_of_which_nobody_knows_if_it_is_started(self):
        machine = autofs("/- /etc/auto.direct\n", direct="/u01 f:/v\n")
        machine.command(IS_ENABLED, "bad\n", 1)
        with pytest.raises(Unanswered, match=r"autofs\.service"):
            of_path(machine)

    @cases(
        "master why",
        ("+ldap:auto.master\n", "the autofs map auto.master comes from ldap"),
        ("/- yp:auto.direct\n", "the autofs map auto.direct comes from yp"),
        ("/ multi file:/etc/a -- yp:b\n", "comes from multi"),
    )
    def test_a_map_that_cannot_be_read_may_hold_any_path(self, master, why):
        machine = autofs(master).file("/etc/fstab", "f:/a /u02 nfs hard\n")
        with pytest.raises(Unanswered, match=why):
            of_path(machine)
        assert of_path(machine, "/u02")[0].at_boot

    @cases("master", "/net -hosts\n", "/net ldap:auto.net\n", "/net prog\n")
    def test_or_any_below_its_mount_point(self, master):
        machine = autofs(master).file("/etc/prog", "#!/bin/sh\n", 0o755)
        assert of_path(machine) == []
        with pytest.raises(Unanswered):
            of_path(machine, "/net/filer/vol")

    def test_a_map_that_may_not_be_read(self):
        machine = autofs("/- /etc/auto.direct\n", direct="/u01 f:/v\n").deny("/etc/auto.direct")
        with pytest.raises(Unanswered, match="denied"):
            of_path(machine)

    def test_sources_of_nsswitch_conf(self):
        machine = autofs("/- auto.direct\n", direct="/u01 f:/v\n")
        machine.file("/etc/nsswitch.conf", "automount: sss [NOTFOUND=continue] files # x\n")
        assert read(machine).unread == []
        machine.file("/etc/sssd/sssd.conf", "", 0o600)
        machine.evidence.clear()
        assert {answer.why for answer in read(machine).unread} == {
            "the autofs map auto.master comes from sss",
            "the autofs map auto.direct comes from sss",
        }

    def test_a_null_map_mounts_nothing(self):
        assert read(autofs("/net -null\n")).unread == []

    def test_keys_of_the_wrong_kind_are_ignored(self):
        machine = autofs("/- auto.direct\n/ora auto.ora\n", direct="x f:/v\n", ora="/u01 f:/v\n")
        assert read(machine).entries == []

    def test_none(self):
        assert IS_ENABLED not in str(read(host()).unread)


class TestAsked:
    def asked(self, machine, path="/u01"):
        persisted = read(machine)
        return persisted_options.asked(persisted, nfs_persisted.of_path(persisted, path)[0])

    def test_the_words_of_the_entry(self):
        machine = host("f:/a /u01 nfs rw,tcp,nfsvers=3 0 0\n")
        assert self.asked(machine) == {"access": "rw", "proto": "tcp", "vers": "3"}

    def test_nfsmount_conf_is_folded_in(self):
        machine = host(
            "[2001:db8::1]:/a /u01 nfs hard\nf:/a /u02 nfs rsize=1\nf:/a /u03 nfs hard\n"
        )
        machine.file(
            "/etc/nfsmount.conf",
            '[ NFSMount_Global_Options ]\nSoft=True\nrsize=64k\n[ Server "2001:db8::1" ]\n'
            'timeo=7\n[ MountPoint "/u03" ]\nNfsvers=4.1\n',
        )
        machine.file("/etc/nfsmount.conf.d/a.conf", "[ NFSMount_Global_Options ]\nrsize=32k\n")
        assert self.asked(machine) == {"recovery": "soft", "rsize": "32768", "timeo": "7"}
        assert self.asked(machine, "/u02") == {"recovery": "soft", "rsize": "1"}
        assert self.asked(machine, "/u03")["vers"] == "4.1"

    def test_the_type_nfs4_is_a_version(self):
        assert self.asked(host("f:/a /u01 nfs4 hard\n"))["vers"] == "4"
        assert self.asked(host("f:/a /u01 nfs4 vers=4.1\n"))["vers"] == "4.1"

    def test_nfsmount_conf_that_may_not_be_read(self):
        machine = host("f:/a /u01 nfs hard\n").file("/etc/nfsmount.conf", "")
        with pytest.raises(Denied):
            self.asked(machine.deny("/etc/nfsmount.conf"))


class TestOtherSystems:
    def test_solaris(self):
        machine = Machine().file("/etc/vfstab", (FIXTURES / "vfstab/made-up.txt").read_text())
        assert told(machine, "/u01/oradata", SOLARIS) == [
            ("/etc/vfstab:9", "rw,bg,hard,nointr,noac,vers=3", "")
        ]
        assert told(machine, "/backup", SOLARIS) == [("/etc/vfstab:10", "", "mount at boot is no")]

    def test_aix(self):
        text = (FIXTURES / "aix_filesystems/made-up.txt").read_text()
        machine = Machine().file("/etc/filesystems", text)
        entry = of_path(machine, "/u01/oradata", AIX)[0]
        assert (entry.source, entry.place, entry.at_boot) == (
            "filer:/vol/oradata",
            "/etc/filesystems:17",
            True,
        )
        assert told(machine, "/backup", AIX)[0][2] == "mount = false"

    def test_hpux(self):
        machine = Machine().file("/etc/fstab", "filer:/v /u01 nfs rw,suid,noac 0 0 # x\n")
        assert told(machine, "/u01", HPUX) == [("/etc/fstab:1", "rw,suid,noac", "")]

    def test_their_automounter_has_another_master_map(self):
        machine = Machine().file("/etc/vfstab", "").file("/etc/auto_master", "/- auto_direct\n")
        machine.file("/etc/auto_direct", "/u01 -hard filer:/v\n")
        assert told(machine, "/u01", SOLARIS) == [("/etc/auto_direct:1", "hard", "")]

    def test_a_table_that_is_broken_is_unknown(self):
        persisted = read(Machine().file("/etc/vfstab", "rubbish\n"), SOLARIS)
        assert isinstance(persisted.entries, ParseError)

    @cases("system", "Darwin", Unanswered("command:uname -s", "timed out"))
    def test_a_system_that_is_not_known(self, system):
        persisted = read(Machine(), system)
        for answer in (
            persisted.entries,
            persisted.fstab_text,
            persisted.bad_lines,
            persisted.defaults,
            persisted.differs_from_generator,
        ):
            assert isinstance(answer, Unanswered)

"""Which Oracle homes a host has, and who says so."""

from pathlib import Path

import packs
import pytest
from ansible.module_utils.hostproof.collect.host import LiveHost
from ansible.module_utils.hostproof.errors import Absent, Denied, ParseError, Unanswered
from ansible.module_utils.hostproof.probes.nfs import nfs_files
from ansible.module_utils.hostproof.probes.oracle import oracle_homes
from ansible.module_utils.hostproof.probes.oracle.oracle_homes import OracleHome
from cases import cases

HOME = "/u01/app/oracle/product/19.0.0/dbhome_1"
GRID = "/u01/app/19.0.0/grid"
INVENTORY = "/u01/app/oraInventory/ContentsXML/inventory.xml"


def test_no_oracle():
    assert oracle_homes.read_homes(packs.linux(), ()) == []


def test_oratab_inventory_and_policy_name_the_same_home_once():
    oratab = (packs.FIXTURES / "oratab/root-sh.txt").read_text()
    machine = packs.linux().file("/etc/oratab", oratab)
    machine.file("/etc/oraInst.loc", "inventory_loc=/u01/app/oraInventory\n")
    homes = f'<HOME NAME="DB" LOC="{HOME}"/><HOME NAME="GI" LOC="{GRID}" CRS="true"/>'
    machine.file(INVENTORY, f"<INVENTORY>{homes}</INVENTORY>")
    client = "/u01/app/oracle/product/19.0.0/client_1"
    assert oracle_homes.read_homes(machine, (HOME, "/u02/home")) == [
        OracleHome(
            GRID,
            ("+ASM1",),
            ("/etc/oratab:18", "the inventory (GI)"),
            True,
            named_by=("/etc/oratab", INVENTORY),
        ),
        OracleHome(client, (), ("/etc/oratab:20",), False, named_by=("/etc/oratab",)),
        OracleHome(
            HOME,
            ("orcl",),
            ("/etc/oratab:19", "the inventory (DB)", "nfs_mounts_oracle_homes"),
            False,
        ),
        OracleHome("/u02/home", (), ("nfs_mounts_oracle_homes",), False),
    ]


def test_the_home_of_an_instance_that_oratab_lacks():
    machine = packs.linux().instance("ORCL2", pid=77)
    machine.link("/proc/77/exe", f"{HOME}/bin/oracle (deleted)")
    (home,) = oracle_homes.read_homes(machine, ())
    assert home == OracleHome(HOME, ("ORCL2",), ("the running instance ORCL2",), False)


def test_a_stand_in_has_no_home():
    machine = packs.linux().instance("LAB1", pid=77).link("/proc/77/exe", "/usr/bin/python3.9")
    assert oracle_homes.read_homes(machine, ()) == []


def test_who_may_not_see_the_program_knows_no_home():
    machine = packs.linux().instance("ORCL2", pid=77)
    line = "readlink -v /proc/77/exe"
    machine.commands[line] = packs.Output(1, "", "readlink: /proc/77/exe: Permission denied\n")
    with pytest.raises(Denied):
        oracle_homes.read_homes(machine, ())


@cases("path", "/etc/oratab", "/etc/oraInst.loc", INVENTORY)
def test_what_may_not_be_read_is_not_empty(path):
    machine = packs.linux().file("/etc/oraInst.loc", "inventory_loc=/u01/app/oraInventory\n")
    machine.file("/etc/oratab", "").file(INVENTORY, "<INVENTORY/>")
    assert oracle_homes.read_homes(machine, ()) == []
    machine.evidence.clear()
    with pytest.raises(Denied):
        oracle_homes.read_homes(machine.deny(path), ())


def test_an_oratab_that_is_none():
    with pytest.raises(ParseError):
        oracle_homes.read_homes(packs.linux().file("/etc/oratab", "orcl\n"), ())


class TestFilesOnNfs:
    """What the commands of a real host say; packs.Machine imitates them."""

    @pytest.fixture
    def folder(self, tmp_path):
        (tmp_path / "one").write_text("text")
        (tmp_path / "two").write_text("test")
        (tmp_path / "link").symlink_to("one")
        (tmp_path / "broken").symlink_to("nothing")
        (tmp_path / "folder").mkdir()
        return str(tmp_path)

    def test_list_follows_links(self, folder):
        files = {file.name: file for file in nfs_files.list_files(LiveHost(), folder)}
        assert sorted(files) == ["link", "one", "two"]
        assert files["link"].inode == files["one"].inode == Path(folder, "one").stat().st_ino
        assert files["one"].size == 4

    def test_text_links_and_content(self, folder):
        host = LiveHost()
        assert nfs_files.read_text(host, f"{folder}/link") == "text"
        assert nfs_files.real_path(host, f"{folder}/link") == f"{folder}/one"
        assert nfs_files.link_target(host, f"{folder}/broken") == "nothing"
        assert nfs_files.same_content(host, f"{folder}/one", f"{folder}/link")
        assert not nfs_files.same_content(host, f"{folder}/one", f"{folder}/two")

    def test_a_secret_is_not_read(self, folder):
        Path(folder, "tab").write_text("community : s3cret\nserver: a\ncommunity:\tx y\nlast")
        host = LiveHost()
        text = nfs_files.read_text_without(host, "community", f"{folder}/tab")
        assert text == "community:***\nserver: a\ncommunity:***\nlast"
        assert "s3cret" not in str(host.evidence)
        with pytest.raises(Absent):
            nfs_files.read_text_without(host, "community", f"{folder}/missing")

    def test_what_is_not_there(self, folder):
        host = LiveHost()
        for ask in (nfs_files.read_text, nfs_files.real_path, nfs_files.list_files):
            for name in ("missing", "broken", "one/below"):
                with pytest.raises(Absent):
                    ask(host, f"{folder}/{name}")
        with pytest.raises(Absent):
            nfs_files.link_target(host, f"{folder}/missing")

    def test_what_cannot_be_compared(self, folder):
        with pytest.raises(Unanswered, match="not compared"):
            nfs_files.same_content(LiveHost(), f"{folder}/one", f"{folder}/missing")

    def test_a_folder_is_no_text(self, folder):
        with pytest.raises(Unanswered, match="ended with 1"):
            nfs_files.read_text(LiveHost(), folder)

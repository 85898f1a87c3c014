"""Files of Oracle that name homes: oratab, the inventory, orabasetab."""

import pytest
from ansible.module_utils.hostproof.errors import ParseError
from ansible.module_utils.hostproof.parsers.oracle import orabasetab, oracle_inventory, oratab
from ansible.module_utils.hostproof.parsers.oracle.oracle_inventory import Home
from cases import cases

HOME = "/u01/app/oracle/product/19.0.0/dbhome_1"


class TestOratab:
    def test_entries_without_their_comments(self, fixture_text):
        entries = oratab.parse(fixture_text("oratab/root-sh.txt"))
        assert [(entry.sid, entry.home) for entry in entries] == [
            ("+ASM1", "/u01/app/19.0.0/grid"),
            ("orcl", HOME),
            ("*", "/u01/app/oracle/product/19.0.0/client_1"),
        ]
        assert entries[0].line == 18

    def test_a_slash_at_the_end_is_no_part_of_the_home(self):
        assert oratab.parse("a:/u01/home/:Y\n")[0].home == "/u01/home"

    def test_no_entry(self):
        assert oratab.parse("# nothing\n\n") == []

    @cases("line", "orcl", "orcl:", "orcl:home:N", ":/u01:N")
    def test_a_line_without_a_home(self, line):
        with pytest.raises(ParseError, match=r"oratab, line 2: not SID:/HOME"):
            oratab.parse("#\n" + line)


class TestInventory:
    def test_homes_but_not_removed_ones(self, fixture_text):
        assert oracle_inventory.parse(fixture_text("oracle_inventory/inventory.xml")) == [
            Home("OraGI12Home1", "/u01/app/oracle/product/12.1.0/grid", True),
            Home("OraDB12Home1", "/u02/app/oracle/product/12.1.0/dbhome_1", False),
        ]

    @cases("text", "", "<INVENTORY>", "<!DOCTYPE a [<!ENTITY b 'c'>]><a>&b;</a>")
    def test_what_is_no_inventory(self, text):
        with pytest.raises(ParseError, match=r"inventory\.xml"):
            oracle_inventory.parse(text)

    def test_pointer(self):
        text = "# comment\ninventory_loc=/u01/app/oraInventory/\ninst_group=oinstall\n"
        assert oracle_inventory.parse_pointer(text) == "/u01/app/oraInventory"

    def test_names_that_occur_twice(self):
        """Oracle documents no order of precedence."""
        again = "inventory_loc=/u01/app\ninst_group=dba\n inventory_loc = /u01/app/\n"
        assert oracle_inventory.parse_pointer(again) == "/u01/app"
        assert oracle_inventory.group_of(again + "inst_group=dba\n") == "dba"
        with pytest.raises(ParseError, match="2 values of inventory_loc"):
            oracle_inventory.parse_pointer(again + "inventory_loc=/u02/app\n")
        with pytest.raises(ParseError, match="2 values of inst_group"):
            oracle_inventory.group_of(again + "inst_group=oinstall\n")

    @cases("text", "", "inst_group=oinstall\n", "inventory_loc=\n")
    def test_pointer_to_nothing(self, text):
        with pytest.raises(ParseError, match="no inventory_loc"):
            oracle_inventory.parse_pointer(text)


class TestOrabasetab:
    def test_read_only_home(self, fixture_text):
        tab = orabasetab.parse(fixture_text("orabasetab/read-only.txt"), HOME)
        assert tab is not None
        assert tab.read_only
        assert tab.base_home() == "/u01/app/oracle/homes/OraDB19Home1"

    def test_the_last_line_of_the_home_counts(self):
        text = f"{HOME}:/a:Old:Y:\n/other:/b:Other:Y:\n{HOME}:/u01/app/oracle:New:N:\n"
        tab = orabasetab.parse(text, HOME + "/")
        assert tab == ("/u01/app/oracle", "New", False)

    def test_no_line_of_the_home(self):
        assert orabasetab.parse("# comment\n/other:/b:Other:Y:\n", HOME) is None

    @cases("rest", "", ":/u01", ":/u01:Name:", ":/u01:Name:X:", ":u01:Name:Y:")
    def test_a_line_of_another_shape(self, rest):
        with pytest.raises(ParseError, match="orabasetab, line 1"):
            orabasetab.parse(HOME + rest, HOME)

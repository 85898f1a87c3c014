"""What AIX's commands print of devices, tunables, filesets, subsystems and the CPU."""

import pytest
from ansible.module_utils.hostproof.controls.io_pacing.parsers import (
    halevel,
    lparstat,
    lslpp,
    lssrc,
    oslevel,
)
from ansible.module_utils.hostproof.errors import ParseError
from ansible.module_utils.hostproof.parsers.mounts import aix_mount_options
from ansible.module_utils.hostproof.parsers.unix import ioo, lsattr
from cases import cases


class TestLsattr:
    def test_legacy_marks(self, fixture_text):
        rows = lsattr.parse(fixture_text("lsattr/sys0-legacy.txt"))
        assert [(row.name, row.first_word) for row in rows] == [
            ("maxpout", "33"),
            ("minpout", "24"),
        ]
        assert all(row.settable and not row.dynamic for row in rows)

    def test_whole_device(self, fixture_text):
        rows = {row.name: row for row in lsattr.parse(fixture_text("lsattr/sys0-aix-5.txt"))}
        assert len(rows) == 21
        assert rows["maxpout"].first_word == rows["minpout"].first_word == "0"
        assert not rows["realmem"].settable
        assert rows["boottype"].rest == "disk N/A"

    def test_columns_of_any_width_and_dynamic_attributes(self):
        row = lsattr.parse("queue_depth   20                  Queue DEPTH        True+\n")[0]
        assert row == lsattr.Row("queue_depth", "20 Queue DEPTH", True, True)

    def test_a_value_is_whole_words(self):
        row = lsattr.parse("max_transfer 0x100000 Maximum TRANSFER Size True\n")[0]
        assert row.has("0x100000")
        assert not row.has("0x1000")
        assert not row.has("100000")

    def test_a_value_with_blanks_and_an_empty_one(self):
        row = lsattr.parse("label two  words   A label True\n")[0]
        assert row.has("two words")
        assert row.has("")
        assert lsattr.parse("label  True\n")[0] == lsattr.Row("label", "", True, False)

    @cases("text", "maxpout 33 HIGH water mark\n", "True\n", "\x00 1 x True\n")
    def test_what_is_no_row(self, text):
        with pytest.raises(ParseError, match="lsattr, line 1"):
            lsattr.parse(text)

    @cases("text", "0...32769 (+4)\n", "0...32769(+4)", " 0 ... 32769 (+4)")
    def test_range(self, text):
        legal = lsattr.parse_legal(text)
        assert legal.ranges == (lsattr.Range(0, 32769, 4),)
        assert legal.allows("0")
        assert legal.allows("32768")
        for value in ("32769", "32772", "-4", "33", "x", ""):
            assert not legal.allows(value)

    @cases(
        "text words allowed others",
        (
            "0...32769 (+4)\nany\n",
            "0 to 32769 in steps of 4 or any",
            "0 4 32768 any",
            "1 32769",
        ),
        ("5...9\n", "5 to 9 in steps of 1", "5 9", "4 10 5.5 x"),
        ("-1...1 (+2)\n", "-1 to 1 in steps of 2", "-1 1", "0 -3"),
    )
    def test_legal_values_in_words(self, text, words, allowed, others):
        legal = lsattr.parse_legal(text)
        assert str(legal) == words
        assert all(legal.allows(value) for value in allowed.split())
        assert not any(legal.allows(value) for value in others.split())

    def test_list_of_values(self):
        legal = lsattr.parse_legal("no_reserve\nsingle_path\n")
        assert legal.allows("no_reserve")
        assert not legal.allows("no")
        assert str(legal) == "no_reserve or single_path"

    @cases("text", "", "\n", "0...x (+1)\n", "1...4 (+0)\n")
    def test_no_range(self, text):
        with pytest.raises(ParseError):
            lsattr.parse_legal(text)


class TestIoo:
    def test_tunables(self, fixture_text):
        tunables = ioo.parse(fixture_text("ioo/aix-6.1.txt"))
        assert len(tunables) == 30
        assert tunables["j2_nPagesPerWriteBehindCluster"] == "32"

    def test_restricted_ones_stand_behind_a_line(self):
        text = "maxpgahead = 8\n##Restricted tunables\nj2_nRandomCluster = n/a\n"
        assert ioo.parse(text) == {"maxpgahead": "8", "j2_nRandomCluster": "n/a"}

    @cases("text", "", "maxpgahead 8\n", "ioo: you are not root\n")
    def test_anything_else(self, text):
        with pytest.raises(ParseError):
            ioo.parse(text)


class TestOslevel:
    def test_level(self):
        level = oslevel.parse("7200-05-03-2148\n")
        assert level == oslevel.Level((7, 2), 5, 3, "2148")
        assert str(level) == "AIX 7.2 TL 5 SP 3"

    @cases(
        "text shown", ("5300-05-04", "AIX 5.3 TL 5 SP 4"), ("5300-05-CSP-0000", "AIX 5.3 TL 5 CSP")
    )
    def test_levels_of_aix_5(self, text, shown):
        assert str(oslevel.parse(text + "\n")) == shown

    @cases("text", "", "7.2.0.0", "7200-05", "7200-05-03-2148 x")
    def test_anything_else(self, text):
        with pytest.raises(ParseError):
            oslevel.parse(text)


class TestPowerHa:
    def test_fileset(self, fixture_text):
        text = fixture_text("lslpp/powerha-7.2.2.txt")
        assert lslpp.parse(text) == {"cluster.es.server.rte": (7, 2, 2, 0)}
        assert lslpp.parse(text * 2) == {"cluster.es.server.rte": (7, 2, 2, 0)}

    def test_two_levels_of_one_fileset(self, fixture_text):
        text = fixture_text("lslpp/powerha-7.2.2.txt")
        with pytest.raises(ParseError, match=r"line 2: cluster\.es\.server\.rte has two levels"):
            lslpp.parse(text + text.replace("7.2.2.0", "6.1.0.0"))

    @cases("text", "cluster.es\n", "a:b:c:\n", "a::7.2.0.0:\n")
    def test_no_fileset(self, text):
        with pytest.raises(ParseError):
            lslpp.parse(text)

    @cases("text level", ("7.2.3 GA\n", ((7, 2, 3), "GA")), ("7.1.3 SP5\n", ((7, 1, 3), "SP5")))
    def test_halevel(self, text, level):
        assert halevel.parse(text) == level

    @cases("text", "", "7.2.3", "unknown", "7.2.3 GA 7.2.4 GA")
    def test_no_halevel(self, text):
        with pytest.raises(ParseError):
            halevel.parse(text)

    def test_subsystems(self, fixture_text):
        assert lssrc.parse(fixture_text("lssrc/powerha.txt")) == {
            "clcomdES": "active",
            "clstrmgrES": "active",
            "clinfoES": "inoperative",
        }

    @cases("text", "", "0513-085 The x Subsystem is not on file.\n")
    def test_no_subsystems(self, text):
        with pytest.raises(ParseError):
            lssrc.parse(text)


class TestLparstat:
    def test_since_the_start(self, fixture_text):
        cpu = lparstat.parse(fixture_text("lparstat/aix-shared.txt"))
        assert cpu == lparstat.Cpu(user=37.4, system=30.4, wait=4.0, idle=28.2)

    def test_last_of_several_rows(self, fixture_text):
        assert lparstat.parse(fixture_text("lparstat/aix-interval.txt")).idle == 97.9

    def test_rows_that_make_no_whole(self, fixture_text):
        text = fixture_text("lparstat/aix-shared.txt").replace("28.2", " 8.2")
        with pytest.raises(ParseError, match="100%"):
            lparstat.parse(text)

    @cases("text", "", "%user %sys %wait %idle\n----- ---- ----- -----\n")
    def test_no_row(self, text):
        with pytest.raises(ParseError):
            lparstat.parse(text)


class TestMountOptions:
    def test_values_and_words(self):
        options = aix_mount_options.parse("rw,maxpout=60,minpout=40,log=/dev/loglv01,cio")
        assert options["maxpout"] == "60"
        assert options["cio"] is None
        assert "dio" not in options

    def test_without_some(self):
        text = "rw, maxpout=60,minpout=40,log=/dev/loglv01"
        assert (
            aix_mount_options.without_options(text, ("maxpout", "minpout")) == "rw,log=/dev/loglv01"
        )

    def test_the_last_of_two_counts(self):
        assert aix_mount_options.parse("maxpout=33,maxpout=0") == {"maxpout": "0"}

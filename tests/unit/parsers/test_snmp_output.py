"""The output of net-snmp's tools: no value is lost, and what is cut off is no answer."""

import pytest
from ansible.module_utils.hostproof.errors import ParseError
from ansible.module_utils.hostproof.snmp import snmp_output
from ansible.module_utils.hostproof.snmp.snmp_output import Value
from cases import cases
from packs import FIXTURES

REAL = (FIXTURES / "snmp_output/net-snmp-5.9.3-get.txt").read_text()
SD = "1.3.6.1.2.1.1.1.0"


class TestRealOutput:
    VALUES = snmp_output.parse(REAL)

    @cases(
        "oid kind data",
        ("1.3.6.1.2.1.1.2.0", "oid", "1.3.6.1.4.1.8072.3.2.10"),
        ("1.3.6.1.2.1.1.3.0", "number", 109),
        ("1.3.6.1.2.1.2.2.1.6.1", "string", b""),
        ("1.3.6.1.2.1.2.2.1.8.1", "number", 1),
        ("1.3.6.1.2.1.4.20.1.1.127.0.0.1", "other", "127.0.0.1"),
        ("1.3.6.1.4.1.2021.10.1.6.1", "other", "Float: 0.850586"),
    )
    def test_types(self, oid, kind, data):
        assert self.VALUES[oid] == Value(kind, data)

    def test_text_of_several_lines_stays_one_value(self):
        value = self.VALUES[SD]
        assert value is not None
        assert value.text == 'line one\r\nline "two"\nthree'

    def test_bytes_that_are_no_text_are_shown(self):
        value = self.VALUES["1.3.6.1.2.1.1.4.0"]
        assert value is not None
        assert value.data == b"root\xff\xfe"
        assert value.text == r"root\xff\xfe"

    def test_what_the_agent_has_not_is_none(self):
        assert self.VALUES["1.3.6.1.4.1.42.2.225.1.4.2.0"] is None
        assert self.VALUES["1.3.6.1.9"] is None

    def test_order_is_kept(self):
        assert next(iter(snmp_output.parse(REAL))) == SD


@cases(
    "text message",
    (f".{SD} = Hex-STRING: 4C 6", "not whole bytes"),
    (f".{SD} = Hex-STRING: 4C 69 6E\n75 7", "not whole bytes"),
    (f".{SD} = STRING: plain", "not understood"),
    (f".{SD} = INTEGER: many", "is not a number"),
    (f".{SD} = INTEGER: " + "9" * 5000, "is not a number"),
    ("Segmentation fault", "not understood"),
    (f".{SD} = INTEGER: 1\n75 78", "not understood"),
)
def test_output_that_is_cut_off_or_strange_is_an_error(text, message):
    if "plain" in text:
        # A tool that ignores -Ox: the text stands as it is, and is no string of bytes.
        assert snmp_output.parse(text)[SD] == Value("other", "plain")
        return
    with pytest.raises(ParseError, match=message):
        snmp_output.parse(text)


def test_too_much_is_not_read():
    with pytest.raises(ParseError, match="longer than"):
        snmp_output.parse(f".{SD} = Hex-STRING: " + "41 " * snmp_output.LIMIT)


def test_no_output_is_no_value():
    assert snmp_output.parse("") == {}


def test_trailing_zero_bytes_are_no_text():
    assert Value("string", b"FAS3270\0\0").text == "FAS3270"


def test_the_end_of_the_tree_takes_no_value_away():
    """What snmpbulkwalk 5.9.3 printed for the last two rows of an agent."""
    column = ".1.3.6.1.4.1.9.9.46.1.3.1.1.2.1."
    text = (
        f"{column}10 = INTEGER: 1\n{column}20 = INTEGER: 1\n{column}20 = No more variables left in "
        "this MIB View (It is past the end of the MIB tree)\n"
    )
    assert snmp_output.parse(text) == {
        f"{column[1:]}10": Value("number", 1),
        f"{column[1:]}20": Value("number", 1),
    }


NONE = "No Such Object available on this agent at this OID"


@cases("none", NONE, "No Such Instance currently exists at this OID")
def test_a_second_varbind_does_not_take_an_absence_back(none):
    assert snmp_output.parse(f".1.3.6.1 = {none}\n.1.3.6.1 = INTEGER: 7\n") == {"1.3.6.1": None}


def test_the_first_of_two_values_counts():
    values = snmp_output.parse(f".1.3 = INTEGER: 7\n.1.3 = INTEGER: 8\n.1.3 = {NONE}\n")
    assert values["1.3"] is not None and values["1.3"].data == 7


def test_the_end_of_the_tree_gives_way_to_a_value():
    end = "No more variables left in this MIB View (It is past the end of the MIB tree)"
    values = snmp_output.parse(f".1.3 = {end}\n.1.3 = INTEGER: 7\n")
    assert values["1.3"] is not None and values["1.3"].data == 7

"""The files that say how names are found, what getent prints, and a name server's answer."""

import name_packs
import packs
import pytest
from ansible.module_utils.hostproof.controls.name_resolution.parsers import (
    dns_message,
    hosts_file,
    nsswitch,
    resolv_conf,
)
from ansible.module_utils.hostproof.errors import ParseError
from ansible.module_utils.hostproof.parsers.oracle import crsconfig_params
from ansible.module_utils.hostproof.parsers.unix import getent
from cases import cases


def text_of(name):
    return (packs.FIXTURES / "hosts" / name).read_text()


def test_hosts():
    entries, passed_over = hosts_file.parse(text_of("man-pages-6.03-example.txt"))
    (own,) = [entry for entry in entries if entry.has("ThisHost")]
    assert own == ("127.0.1.1", ("thishost.example.org", "thishost"), 5)
    assert (len(entries), passed_over) == (9, [])


@cases(
    "line passed_over",
    ("rac1 192.0.2.1", [1]),
    ("192.0.2 rac1", [1]),
    ("192.0.2.1", [1]),
    ("192.0.2.1 # rac1", [1]),
    ("# 192.0.2.1 a", []),
    (" ", []),
)
def test_a_line_that_is_none(line, passed_over):
    result = hosts_file.parse(line + "\n192.0.2.9 rac9 # of old\n")
    assert result == ([("192.0.2.9", ("rac9",), 2)], passed_over)


def test_a_line_of_a_real_host_that_counts_for_nothing():
    parsed = hosts_file.parse(text_of("rhel-8.2-container.txt"))
    assert parsed.passed_over == [10]
    assert [entry.address for entry in parsed.entries if entry.has("localhost")] == [
        "127.0.0.1",
        "::1",
    ]


def test_nsswitch_of_debian():
    assert nsswitch.parse_hosts(text_of("debian-12-nsswitch.conf")) == [
        ("files", False),
        ("mdns4_minimal", True),
        ("dns", False),
    ]


def test_nsswitch_without_the_line():
    assert nsswitch.parse_hosts("passwd: files\n") is None


def test_the_last_of_search_and_domain_counts():
    config = resolv_conf.parse("search a b\ndomain c d\n")
    assert (config.search, config.servers, config.longest) == (("c",), (), 10)
    assert resolv_conf.parse("domain c\nsearch a b\n").search == ("a", "b")


def test_what_getent_prints():
    assert getent.parse_ahosts(text_of("glibc-2.36-ahosts-own.txt")) == (
        "rac1.example.com",
        ("2001:db8::10", "192.0.2.10"),
    )
    name, addresses = getent.parse_ahosts(text_of("glibc-2.36-ahosts-three.txt"))
    assert (name, addresses) == (name_packs.SCAN, name_packs.THREE)
    assert getent.parse_ahosts("") == ("", ())


def test_the_stories_print_as_getent_does():
    machine = name_packs.named(packs.linux(), name_packs.SCAN, *name_packs.THREE)
    output = machine.run(["getent", "ahosts", name_packs.SCAN]).stdout
    assert output == text_of("glibc-2.36-ahosts-three.txt")


class TestDns:
    def test_an_answer(self):
        message = name_packs.reply("rac-scan", name_packs.THREE)
        assert dns_message.parse(message, "rac-scan") == (0, name_packs.THREE)
        assert dns_message.parse(message, "RAC-SCAN.") == (0, name_packs.THREE)

    def test_an_alias_and_its_address(self):
        alias = b"\xc0\x0c\0\x05\0\x01\0\0\0\x3c\0\x04\x01a\xc0\x0c"
        message = bytearray(name_packs.reply("rac-scan", name_packs.THREE[:1]))
        end = len(dns_message.query("rac-scan"))
        message[7] = 2
        answer = dns_message.parse(bytes(message[:end]) + alias + bytes(message[end:]), "rac-scan")
        assert answer.addresses == name_packs.THREE[:1]

    @cases(
        "file code last",
        ("scan", 0, {"31", "32", "33"}),
        ("db", 0, {"31", "32", "33"}),
        ("none", 3, set()),
    )
    def test_answers_of_dnsmasq(self, file, code, last):
        name, message = (packs.FIXTURES / f"dns/dnsmasq-2.90-{file}.hex").read_text().split()
        answer = dns_message.parse(bytes.fromhex(message), name)
        assert (answer.code, set(answer.addresses)) == (code, {f"192.0.2.{n}" for n in last})

    @cases("at value", (0, 0xFF), (2, 0), (2, 0x83), (5, 2), (6, 1), (13, 1))
    def test_what_is_not_the_answer(self, at, value):
        message = bytearray(name_packs.reply("rac-scan", name_packs.THREE))
        message[at] = value
        with pytest.raises(ParseError):
            dns_message.parse(bytes(message), "rac-scan")

    @cases("name", "", ".", "a..b", "a" * 64, ".".join(["a" * 60] * 5))
    def test_no_name_is_asked_for(self, name):
        with pytest.raises(ValueError, match="is not a name"):
            dns_message.query(name)


def test_the_names_of_a_cluster():
    assert crsconfig_params.parse(name_packs.PARAMS) == (
        "rac",
        ("rac1", "rac2"),
        ("rac1-vip", "rac2-vip"),
        name_packs.SCAN,
    )
    assert crsconfig_params.parse("CRS_NODEVIPS='AUTO/255.255.255.0/eth0'\n").vips == ()

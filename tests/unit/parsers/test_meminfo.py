"""meminfo: the seed's two hosts, today's kernel, and what is not meminfo."""

import pytest
from ansible.module_utils.hostproof.errors import ParseError
from ansible.module_utils.hostproof.parsers.kernel import meminfo
from cases import cases

KIB = 1024


def test_sizes_are_bytes_and_page_counts_are_counts(fixture_text):
    rows = meminfo.parse(fixture_text("meminfo/rhel-5.6-sga-60g-small-pages.txt"))
    assert rows["MemTotal"] == 98999832 * KIB
    assert rows["PageTables"] == 3679796 * KIB
    assert rows["HugePages_Total"] == 1000
    assert rows["Hugepagesize"] == 2048 * KIB
    assert "HugePages_Surp" not in rows


def test_pool_that_no_instance_uses(fixture_text):
    pool = meminfo.pool(meminfo.parse(fixture_text("meminfo/rhel-5.6-sga-60g-small-pages.txt")))
    assert pool == (1000, 1000, 0, 0, 2048 * KIB)
    assert pool.committed == 0
    assert pool.unpromised == 1000


def test_pool_of_a_60_gib_sga(fixture_text):
    pool = meminfo.pool(meminfo.parse(fixture_text("meminfo/rhel-5.6-sga-60g-huge-pages.txt")))
    assert pool.committed == 60 * 512 + 1
    assert pool.unpromised == 5245 - 73


def test_todays_kernel_names_surplus_and_hugetlb(fixture_text):
    rows = meminfo.parse(fixture_text("meminfo/linux-6.18-no-pool.txt"))
    assert rows["Hugetlb"] == 0
    assert rows["Active(anon)"] > 0
    assert meminfo.pool(rows) == (0, 0, 0, 0, 2048 * KIB)


def test_surplus_is_kept():
    rows = {
        "HugePages_Total": 12,
        "HugePages_Free": 3,
        "HugePages_Surp": 2,
        "Hugepagesize": 2 << 20,
    }
    assert meminfo.pool(rows) == (12, 3, 0, 2, 2 << 20)


def test_a_malformed_line_is_named():
    with pytest.raises(ParseError) as caught:
        meminfo.parse("MemTotal:  1 kB\nMemFree:  1 MB\n")
    assert caught.value.line == 2


@cases(
    "text",
    *("", "MemFree: 5 kB\n", "\n", "MemTotal: -5 kB\n", "MemTotal: kB\n"),
    *("MemTotal: 0 kB\n", "MemTotal: 1 kB\n"),
    *(f"MemTotal: {1 << 48} kB\n", f"MemTotal: {'9' * 149} kB\n"),
)
def test_no_total_is_no_meminfo(text):
    with pytest.raises(ParseError):
        meminfo.parse(text)


@cases("name", "HugePages_Total", "HugePages_Free", "Hugepagesize")
def test_a_kernel_without_huge_pages_has_no_pool(fixture_text, name):
    rows = meminfo.parse(fixture_text("meminfo/linux-6.18-no-pool.txt"))
    del rows[name]
    with pytest.raises(ParseError, match=name):
        meminfo.pool(rows)


@cases(
    "absurd",
    *({"Hugepagesize": 0}, {"Hugepagesize": 3 << 20}, {"Hugepagesize": 1024}),
    *({"HugePages_Free": 1}, {"HugePages_Total": 1 << 60}, {"Hugepagesize": 10**100}),
    ids=str,
)
def test_numbers_that_cannot_stand_together_are_no_pool(fixture_text, absurd):
    rows = {**meminfo.parse(fixture_text("meminfo/linux-6.18-no-pool.txt")), **absurd}
    with pytest.raises(ParseError, match="meminfo"):
        meminfo.pool(rows)

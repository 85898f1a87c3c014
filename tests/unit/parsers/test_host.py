"""What a host says of itself: free blocks, modes, kernel, accounts; and sizes as people write."""

import pytest
from ansible.module_utils.hostproof.controls.hugepages.parsers import buddyinfo
from ansible.module_utils.hostproof.errors import ParseError
from ansible.module_utils.hostproof.parsers import size
from ansible.module_utils.hostproof.parsers.kernel import bracketed, kernel_release
from ansible.module_utils.hostproof.parsers.unix import getent
from cases import cases


class TestBuddyinfo:
    def test_zones(self, fixture_text):
        zones = buddyinfo.parse(fixture_text("buddyinfo/man-proc_buddyinfo.txt"))
        assert [(zone.node, zone.zone) for zone in zones] == [
            (0, "DMA"),
            (0, "DMA32"),
            (0, "Normal"),
        ]
        assert zones[2].free == (216, 55, 189, 101, 84, 38, 37, 27, 5, 3, 587)

    def test_larger_blocks_count_for_what_they_hold(self, fixture_text):
        zones = buddyinfo.parse(fixture_text("buddyinfo/man-proc_buddyinfo.txt"))
        assert buddyinfo.contiguous(zones, 9) == (1 + 2 * 404) + (3 + 2 * 587)
        assert buddyinfo.contiguous(zones, 10) == 404 + 587
        assert buddyinfo.contiguous(zones, 11) == 0

    def test_no_block_is_taken_from_zone_dma(self):
        zones = buddyinfo.parse("Node 0, zone DMA 0 3\nNode 1, zone Normal 0 4\n")
        assert buddyinfo.contiguous(zones, 1) == 4
        assert buddyinfo.contiguous(zones, 0) == 8

    def test_todays_kernel(self, fixture_text):
        assert len(buddyinfo.parse(fixture_text("buddyinfo/linux-6.18-one-node.txt"))) == 3

    @cases("text", "", "Node 0, zone DMA\n", "Node x, zone DMA 1\n")
    def test_not_buddyinfo(self, text):
        with pytest.raises(ParseError):
            buddyinfo.parse(text)


class TestBracketed:
    def test_active_word(self):
        choice = bracketed.parse("always [madvise] never\n")
        assert choice == ("madvise", ("always", "madvise", "never"))

    def test_words_with_a_plus(self):
        assert bracketed.parse("always defer defer+madvise [never]").options[2] == "defer+madvise"

    @cases("text", "", "always never", "[a] [b]", "[a b]", "a [] b", "[a]b c")
    def test_not_one_word_in_brackets(self, text):
        with pytest.raises(ParseError):
            bracketed.parse(text)


class TestKernelRelease:
    @cases(
        "text release",
        ("5.15.0-100.96.32.el8uek.x86_64\n", (5, 15, True)),
        ("4.18.0-553.el8_10.x86_64", (4, 18, False)),
        ("2.6.39-400.215.10.el5uek", (2, 6, True)),
        ("6.1.0-35-amd64", (6, 1, False)),
        ("6.12-rc1", (6, 12, False)),
        ("6.6.0-uekulele", (6, 6, False)),
    )
    def test_version_and_maker(self, text, release):
        assert kernel_release.parse(text) == (*release, text.strip())

    @cases("text", "", "linux", "5", "v5.15")
    def test_not_a_release(self, text):
        with pytest.raises(ParseError):
            kernel_release.parse(text)


class TestGetent:
    def test_users(self):
        text = "root:x:0:0:root:/root:/bin/bash\noracle:x:54321:54322::/home/oracle:/bin/bash\n"
        assert getent.parse_passwd(text) == [
            ("root", 0, 0, "/root", "/bin/bash", "root"),
            ("oracle", 54321, 54322, "/home/oracle", "/bin/bash", ""),
        ]

    def test_groups(self):
        text = "oinstall:x:54321:\ndba:x:54322:oracle,grid\n"
        assert getent.parse_group(text) == [
            ("oinstall", 54321, []),
            ("dba", 54322, ["oracle", "grid"]),
        ]

    @cases("text", "", "root\n", "a:x:1:\nb:x:y:\n", ":x:1:\n", "a:x:-1:\n")
    def test_not_groups(self, text):
        with pytest.raises(ParseError):
            getent.parse_group(text)

    @cases("text", "", "dba:x:5:\n", "root:x:0:z:root:/root:/bin/bash\n")
    def test_not_users(self, text):
        with pytest.raises(ParseError):
            getent.parse_passwd(text)


class TestSize:
    @cases(
        "value number",
        ("60G", 64424509440),
        ("64424509440", 64424509440),
        (64424509440, 64424509440),
        ("512M", 536870912),
        ("1.5T", 1649267441664),
        ("2048 KiB", 2097152),
        ("1p", 1 << 50),
        ("10B", 10),
        (" 0 ", 0),
        ("9007199254740993", 9007199254740993),
    )
    def test_parse(self, value, number):
        assert size.parse_size(value) == number

    @cases("value", "", "60GB", "G", "-1G", "1,5G", "0.3K", "1e3", True, 1.5, 2.0, None)
    def test_refused_with_words(self, value):
        with pytest.raises(ValueError, match="size|bytes"):
            size.parse_size(value)

    @cases(
        "number text",
        (0, "0 B"),
        (1023, "1023 B"),
        (1024, "1.0 KiB"),
        (64424509440, "60.0 GiB"),
        (3679796 * 1024, "3.5 GiB"),
        (1 << 60, "1024.0 PiB"),
        (-2097152, "-2.0 MiB"),
    )
    def test_human(self, number, text):
        assert size.human(number) == text

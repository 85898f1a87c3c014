"""Server parameter files: a real one, its blocks with other text, and what is refused."""

import struct

import packs
import pytest
from ansible.module_utils.hostproof.errors import ParseError
from ansible.module_utils.hostproof.parsers.oracle import pfile, spfile
from cases import cases

FIRST = b"\0\x22\0\0\0\0\xc0\xff" + bytes(8) + b"\x5a\xfa\0\0}|{z"


def plain(text: str, blocks: int = 3) -> str:
    """Text between one binary block and NULs."""
    data = FIRST.ljust(512, b"\0") + text.encode()
    return data.ljust(512 * blocks, b"\0").decode("utf-8", "surrogateescape")


def in_blocks(text: str, blocks: int = 5, order: str = "<", stale: bytes = b"") -> str:
    """Every block begins with the common block header and ends with its tail."""
    first = (bytes(80) + struct.pack(order + "I", len(text.encode()) + 1)).ljust(488, b"\0")
    rest = first + text.encode() + b"\0" + stale
    data = b""
    for number in range(1, blocks + 1):
        header = b"C\x22\0\0" + struct.pack(order + "I", number) + bytes(6) + b"\x01\x04ab\0\0"
        tail = struct.pack(order + "I", 0x4301)
        data += header + rest[:488].ljust(488, b"\0") + tail
        rest = rest[488:]
    assert not rest
    return data.decode("utf-8", "surrogateescape")


def of_power(text: str) -> str:
    return in_blocks(text, order=">")


def test_a_real_file(fixture_text):
    raw = (packs.FIXTURES / "spfile/spfileDEMO.ora").read_bytes().decode("utf-8", "surrogateescape")
    text = fixture_text("spfile/spfileDEMO.txt")
    assert spfile.contents(raw) == text
    assert len(spfile.parse(raw)) == len(text.splitlines()) == 24


@cases("shape", plain, in_blocks, of_power)
def test_the_text_inside_is_that_of_a_pfile(fixture_text, shape):
    text = fixture_text("pfile/initORCL.ora") * 2
    assert 512 < len(text) < 1024, "it must run over a block's end"
    assert spfile.contents(shape(text)) == text
    assert spfile.parse(shape(text)) == pfile.parse(text)


@cases("shape", plain, in_blocks)
def test_a_value_that_runs_over_the_end_of_a_block_is_whole(shape):
    for filler in range(470, 512):
        text = "*.a='" + "x" * filler + "'\n*.pre_page_sga=TRUE\n*.use_large_pages='ONLY'\n"
        entries = spfile.parse(shape(text))
        assert [entry.value for entry in entries] == ["x" * filler, "TRUE", "ONLY"]


def test_what_is_left_of_a_longer_text_is_no_entry():
    assert [e.name for e in spfile.parse(in_blocks("*.a=1\n", stale=b"*.b=2\n" * 100))] == ["a"]


def broken(change):
    data = bytearray(in_blocks("*.pre_page_sga=TRUE\n" * 40).encode("utf-8", "surrogateescape"))
    change(data)
    return bytes(data).decode("utf-8", "surrogateescape")


@cases(
    "change problem",
    (lambda data: data.clear(), "0 bytes are not whole blocks"),
    (lambda data: data.pop(), "2559 bytes are not whole blocks"),
    (lambda data: data.__setitem__(600, 3), "control characters"),
    (lambda data: data.__setitem__(600, 0), "text follows the NUL after 68 bytes"),
    (lambda data: data.__setitem__(512 + 4, 9), "block 2 says that it is block 9"),
    (lambda data: data.__setitem__(1023 - 3, 7), "text follows the NUL after 490"),
    (lambda data: data.__setitem__(slice(512, 2560), bytes(2048)), "no block holds"),
)
def test_what_is_not_known_is_refused(change, problem):
    with pytest.raises(ParseError, match=problem):
        spfile.parse(broken(change))

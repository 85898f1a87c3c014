"""Server parameter files: both shapes that are told of, and whatever is not known is refused."""

import struct

import pytest
from ansible.module_utils.hostproof.errors import ParseError
from ansible.module_utils.hostproof.parsers.oracle import pfile, spfile

FIRST = b"\0\x22\0\0\0\0\xc0\xff" + bytes(8) + b"\x5a\xfa\0\0}|{z"


def plain(text: str, blocks: int = 3) -> str:
    """Text between one binary block and NULs."""
    data = FIRST.ljust(512, b"\0") + text.encode()
    return data.ljust(512 * blocks, b"\0").decode("utf-8", "surrogateescape")


def with_headers(text: str, blocks: int = 4, order: str = "<") -> str:
    """Every block begins with the common block header, and values run over it."""
    rest = text.encode()
    data = b""
    for number in range(1, blocks + 1):
        header = b"C\x22\0\0" + struct.pack(order + "I", number) + bytes(6) + b"\x01\x04ab\0\0"
        body, rest = (b"\x07\x01", rest) if number == 1 else (rest[:492], rest[492:])
        data += (header + body).ljust(512, b"\0")
    assert not rest
    return data.decode("utf-8", "surrogateescape")


@pytest.mark.parametrize("shape", [plain, with_headers, lambda text: with_headers(text, order=">")])
def test_the_text_inside_is_that_of_a_pfile(fixture_text, shape):
    text = fixture_text("pfile/initORCL.ora") * 2
    assert 512 < len(text) < 1024, "it must run over a block's end"
    assert spfile.contents(shape(text)) == text
    assert spfile.parse(shape(text)) == pfile.parse(text)


@pytest.mark.parametrize("shape", [plain, with_headers])
def test_a_value_that_runs_over_a_header_is_whole(shape):
    for filler in range(470, 512):
        text = "*.a='" + "x" * filler + "'\n*.pre_page_sga=TRUE\n*.use_large_pages='ONLY'\n"
        entries = spfile.parse(shape(text))
        assert [entry.value for entry in entries] == ["x" * filler, "TRUE", "ONLY"]


def test_text_that_fills_its_last_block():
    text = "*.a='" + "x" * (492 - 7) + "'\n"
    assert spfile.contents(with_headers(text, blocks=2)) == text


def broken(change):
    data = bytearray(with_headers("*.pre_page_sga=TRUE\n" * 40).encode("utf-8", "surrogateescape"))
    change(data)
    return bytes(data).decode("utf-8", "surrogateescape")


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda data: data.clear(), "0 bytes are not whole blocks"),
        (lambda data: data.pop(), "2047 bytes are not whole blocks"),
        (lambda data: data.__setitem__(600, 3), "block 2 holds bytes that are no text"),
        (lambda data: data.__setitem__(600, 0), "block 2 holds bytes that are no text"),
        (lambda data: data.__setitem__(512 + 4, 9), "block 2 says that it is block 9"),
        (lambda data: data.__setitem__(slice(1536 + 20, 1536 + 23), b"a=1"), "after the end"),
        (lambda data: data.__setitem__(slice(512, 2048), bytes(1536)), "no block holds"),
    ],
)
def test_what_is_not_known_is_refused(change, problem):
    with pytest.raises(ParseError, match=problem):
        spfile.parse(broken(change))

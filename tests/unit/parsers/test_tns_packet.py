"""Packets of TNS: what we send, what may come back, and what tshark reads in the same bytes."""

import json
import struct
from pathlib import Path
from typing import Any

import pytest
from ansible.module_utils.hostproof.errors import ParseError
from ansible.module_utils.hostproof.parsers.oracle import tns_packet
from ansible.module_utils.hostproof.parsers.oracle.tns_packet import (
    Accept,
    Packet,
    Redirect,
    Refuse,
    Resend,
)
from cases import cases

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures/tns"
DISSECTED: dict[str, list[dict[str, Any]]] = json.loads((FIXTURES / "dissected.json").read_text())
EVERY = [(name, number) for name, packets in DISSECTED.items() for number in range(len(packets))]

#: What tnsping sends and what a listener answers, as published.
PING = ("0057000001000000 0138012c000008007fff7f0800000100001d003a" + "00" * 30).replace(
    " ", ""
) + b"(CONNECT_DATA=(COMMAND=ping))".hex()
ANSWER = "(DESCRIPTION=(TMP=)(VSNNUM=0)(ERR=0)(ALIAS=LISTENER))"
#: The packet of 65 bytes around it.
ANSWERED = bytes.fromhex("0041000004000000 22000035") + ANSWER.encode()


def packet(kind: int, body: bytes, flags: int = 0) -> bytes:
    return struct.pack(">HHBBH", 8 + len(body), 0, kind, flags, 0) + body


def refuse(text: str) -> bytes:
    return packet(4, b"\x22\0" + struct.pack(">H", len(text)) + text.encode())


def answer(data: bytes) -> Any:
    packets, rest = tns_packet.split(data)
    assert rest == b""
    return tns_packet.answer(packets)


def test_a_ping_is_the_one_that_is_known_to_work() -> None:
    assert tns_packet.connect().hex() == PING


def test_long_connect_data_go_in_a_packet_of_their_own() -> None:
    data = f"(CONNECT_DATA=(SERVICE_NAME={'x' * 300}))"
    first, second = tns_packet.split(tns_packet.connect(data))[0]
    assert (first.kind, second.kind) == (tns_packet.CONNECT, tns_packet.DATA)
    assert struct.unpack_from(">HH", first.body, 16) == (len(data), 58)
    assert len(first.body) == 50
    assert second.body == b"\0\0" + data.encode()


def test_the_answer_to_a_ping() -> None:
    assert answer(ANSWERED) == Refuse(0, "LISTENER", None, ANSWER)


@cases(
    "text error",
    ("(DESCRIPTION=(ERR=1189)(VSNNUM=318767104))", 1189),
    ("(DESCRIPTION=( err = 12514 ))", 12514),
    ("(ERROR_STACK=(ERROR=(CODE=12505)(EMFI=4)))", 12505),
    ("(DESCRIPTION=(TMP=))", None),
    ("", None),
)
def test_the_number_of_a_refusal(text: str, error: int | None) -> None:
    assert answer(refuse(text)).error == error


def test_a_refusal_may_go_on_in_a_packet_of_data() -> None:
    head = packet(4, b"\x22\0" + struct.pack(">H", len(ANSWER)))
    assert answer(head) is None
    assert answer(head + packet(6, b"\0\0" + ANSWER.encode())).error == 0


def test_resend() -> None:
    assert answer(packet(11, b"")) == Resend()


def test_accept_before_and_after_version_315() -> None:
    old = struct.pack(">HHHHHHHBB8x", 314, 0, 2048, 32767, 1, 0, 32, 4, 4)
    assert answer(packet(2, old)) == Accept(314, 2048)
    new = struct.pack(">HHHHHHHBB8xII", 318, 0, 0, 0, 1, 0, 45, 4, 4, 1 << 20, 1 << 20)
    assert answer(packet(2, new)) == Accept(318, 1 << 20)


@cases("together", True, False)
def test_redirect_with_its_address_in_one_packet_or_in_two(together: bool) -> None:
    text = b"(ADDRESS=(PROTOCOL=tcp)(HOST=db2)(PORT=1523))\0(CONNECT_DATA=(COMMAND=ping))"
    length = struct.pack(">H", len(text))
    if together:
        data = packet(5, length + text)
    else:
        assert answer(packet(5, length)) is None
        data = packet(5, length) + packet(6, b"\0\0" + text)
    assert answer(data) == Redirect("db2", 1523, tns_packet.PING)


@cases("text", "(ADDRESS=(PROTOCOL=ipc)(KEY=x))", "(HOST=x)(PORT=99999)", "(HOST=x)(PORT=0)", "")
def test_a_redirection_to_nowhere(text: str) -> None:
    with pytest.raises(ParseError, match="no host and port"):
        answer(packet(5, struct.pack(">H", len(text)) + text.encode()))


def test_split_leaves_what_is_not_complete() -> None:
    for cut in range(len(ANSWERED)):
        assert tns_packet.split(ANSWERED[:cut]) == ([], ANSWERED[:cut])
    packets, rest = tns_packet.split(ANSWERED + ANSWERED[:9])
    assert [item.kind for item in packets] == [tns_packet.REFUSE]
    assert rest == ANSWERED[:9]


@cases(
    "data",
    b"HTTP/1.0 400 Bad Request\r\n",
    b"SSH-2.0-OpenSSH_9.2p1\r\n",
    bytes.fromhex("0003000004000000"),
    bytes.fromhex("0020000014000000"),
)
def test_what_is_no_packet_names_the_byte(data: bytes) -> None:
    with pytest.raises(ParseError, match="byte 0"):
        tns_packet.split(data)


def test_tls_is_no_packet() -> None:
    with pytest.raises(ParseError):
        tns_packet.split(bytes.fromhex("15030300020246") + b"\0")


@cases("kind body", (2, b"\x01\x3e"), (4, b"\x22"), (5, b""), (2, b"\x01\x3e" + bytes(14)))
def test_a_packet_that_ends_early_says_how_many_bytes_are_missing(kind: int, body: bytes) -> None:
    with pytest.raises(ParseError, match="bytes expected"):
        answer(packet(kind, body))


def test_a_packet_that_answers_nothing() -> None:
    with pytest.raises(ParseError, match="kind 12"):
        tns_packet.answer([Packet(12, 0, b"\1\0\1")])
    with pytest.raises(ParseError, match="where DATA was expected"):
        tns_packet.answer([Packet(4, 0, b"\x22\0\0\x09abc"), Packet(11, 0, b"")])


@cases(
    "number release",
    *((135294976, "8.1.7.0.0"), (153093632, "9.2.0.6.0"), (186647040, "11.2.0.2.0")),
    *((202375680, "12.1.0.2.0"), (318767104, "19.0.0.0.0"), (352321536, "21.0.0.0.0")),
)
def test_releases(number: int, release: str) -> None:
    assert tns_packet.release(number) == release
    assert answer(refuse(f"(VSNNUM={number})(ERR=0)")).release == release


@pytest.mark.parametrize(("name", "number"), EVERY)
def test_tshark_reads_the_same(name: str, number: int) -> None:
    """The bytes are those of other clients and of the stand-in; only what we know is compared."""
    seen = DISSECTED[name][number]
    packets, rest = tns_packet.split(bytes.fromhex(seen["payload"]))
    fields = seen["tshark"]
    assert rest == b""
    assert ",".join(str(item.kind) for item in packets) == fields["tns.type"]
    assert ",".join(str(8 + len(item.body)) for item in packets) == fields["tns.length"]
    if seen["from"] == "client":
        return
    reply = tns_packet.answer(packets)
    if isinstance(reply, Refuse):
        assert reply.text == fields["tns.refuse_data"]
        assert f"(ERR={reply.error})" in fields["tns.refuse_data"]
    elif isinstance(reply, Accept):
        assert str(reply.version) == fields["tns.version"]
        assert str(reply.sdu) == fields["tns.sdu_size"]
    elif isinstance(reply, Redirect):
        length = len(packets[1].body) - 2
        assert str(length) == fields["tns.redirect_data_length"]
        assert (reply.host, reply.connect_data[:13]) == ("127.0.0.1", "(DESCRIPTION=")
    else:
        assert (reply, fields["tns.type"]) == (Resend(), "11")

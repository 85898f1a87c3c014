"""SNMPv3 engine discovery: what is sent, and what is read of the reply."""

import random

import pytest
from ansible.module_utils.hostproof.errors import ParseError
from ansible.module_utils.hostproof.snmp import snmp_message
from cases import cases
from snmp_agents import report

ENGINE = bytes.fromhex("80001f8880938d6b00e061016b00000000")
#: What an snmpd 5.9.3 answered to discovery().
REPLY = report(ENGINE)


def test_discovery_is_a_whole_message_of_version_3():
    message = snmp_message.discovery()
    assert message[0] == 0x30 and message[1] == len(message) - 2
    assert message[2:5] == b"\x02\x01\x03"


def test_engine_id_is_read():
    assert snmp_message.engine_id(REPLY) == ENGINE
    assert snmp_message.enterprise(ENGINE) == 8072


@cases("engine", "", "80", "00001f8801", "7fffffff01")
def test_engine_id_without_enterprise_number(engine):
    assert snmp_message.enterprise(bytes.fromhex(engine)) is None


@pytest.mark.parametrize("length", range(len(REPLY)))
def test_reply_that_is_cut_off_is_an_error(length):
    with pytest.raises(ParseError):
        snmp_message.engine_id(REPLY[:length])


@cases("reply", b"<script>", b"\0" * 60, b"\x30\x84\xff\xff\xff\xff", b"0\x80")
def test_garbage_is_an_error(reply):
    with pytest.raises(ParseError):
        snmp_message.engine_id(reply)


def test_whatever_comes_from_the_port_is_an_engine_or_an_error():
    chance = random.Random(20240229)
    for _ in range(2000):
        reply = bytearray(REPLY if chance.random() < 0.7 else chance.randbytes(40))
        for _ in range(chance.randint(1, 4)):
            reply[chance.randrange(len(reply))] = chance.randrange(256)
        try:
            assert snmp_message.engine_id(bytes(reply))
        except ParseError as problem:
            assert str(problem)

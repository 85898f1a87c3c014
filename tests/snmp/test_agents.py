"""storage_type against real agents: every version, every refusal, and what is no agent."""

import gc
import json
import os
import random
from pathlib import Path
from typing import Any

import agents
import pytest
from agents import AUTH, PRIV
from ansible.module_utils.hostproof.collect.host import LiveHost, RecordedHost
from ansible.module_utils.hostproof.controls.storage_type.snmp import storage_agent
from ansible.module_utils.hostproof.snmp import tools as snmp

ROOT = Path(__file__).resolve().parents[2]
EXPECTED: dict[str, dict[str, Any]] = json.loads(
    (ROOT / "tests/fixtures/storage_type/expected.json").read_text()
)
#: BER of the one object that the database asks for: 1.3.6.1.4.1.42.2.225.1.4.2.0.
ORACLE_OID = bytes.fromhex("060d2b060104012a028161010402 00".replace(" ", ""))


def look_at(
    port: int, *, wait: float = 1, retries: int = 1, oracle: str = "public", **how: str
) -> storage_agent.Storage:
    credentials = snmp.credentials_from(how or {"community": "public"})
    target = snmp.Target("127.0.0.1", port, credentials, wait, retries)
    return storage_agent.identify_agent(LiveHost(), target, snmp.Credentials("1", oracle))


SEALED = {"version": "3", "user": "sealed", "auth_protocol": "SHA-512", "priv_protocol": "AES"}
SEALED_KEYS = {"auth_passphrase": AUTH, "priv_passphrase": PRIV}
SIGNED = {"version": "3", "user": "signed", "auth_protocol": "SHA-256"}


@pytest.mark.parametrize(
    "how",
    [
        {"version": "1", "community": "public"},
        {"version": "2c", "community": "public"},
        {"version": "3", "user": "open"},
        {**SIGNED, "auth_passphrase": AUTH},
        {**SEALED, **SEALED_KEYS},
        {**SEALED_KEYS, "version": "3", "user": "strong", "auth_protocol": "SHA-256",
         "priv_protocol": "AES-256"},
    ],
    ids=["v1", "v2c", "noAuthNoPriv", "authNoPriv", "authPriv", "AES-256"],
)  # fmt: skip
def test_a_real_agent_in_every_version(snmpd, how):
    storage = look_at(snmpd, **how)
    assert (storage.outcome, storage.role, storage.product) == ("other", "server", "Linux")
    assert storage.features.hcc == "not_eligible"


@pytest.mark.parametrize(
    ("how", "reason"),
    [
        ({"version": "1", "community": "private"}, "credentials"),
        ({"version": "2c", "community": "private"}, "credentials"),
        ({"version": "3", "user": "nobody"}, "user"),
        ({**SIGNED, "auth_passphrase": "not-the-passphrase"}, "passphrase"),
        ({**SIGNED, "auth_protocol": "MD5", "auth_passphrase": AUTH}, "passphrase"),
        ({"version": "3", "user": "signed"}, "security_level"),
        ({"version": "3", "user": "open", "auth_passphrase": AUTH}, "security_level"),
        ({**SEALED, **SEALED_KEYS, "priv_passphrase": "not-the-passphrase"}, "credentials"),
    ],
)
def test_a_refusal_is_told_as_far_as_snmp_tells(snmpd, how, reason):
    # Version 3 tells why, and a busy agent may tell it late; the others say nothing.
    storage = look_at(snmpd, wait=10 if how["version"] == "3" else 0.5, retries=0, **how)
    seen = (storage.outcome, storage.role, storage.reason)
    assert seen == ("no_answer", "unknown", reason), storage
    assert not [word for word in (AUTH, PRIV, "private", "not-the-") if word in str(storage.why)]


def test_a_closed_port_is_told_from_a_silent_one():
    assert look_at(agents.free_port(), wait=0.5, retries=0).reason == "port_closed"
    with agents.relay(change=lambda _reply: None) as silent:
        storage = look_at(silent.port, wait=0.5, retries=0)
    assert (storage.reason, storage.features.hcc) == ("timeout", "unknown")


V3 = [
    {"version": "3", "user": "open"},
    {**SIGNED, "auth_passphrase": AUTH},
    {**SEALED, **SEALED_KEYS},
]


@pytest.mark.parametrize("how", V3, ids=["noAuthNoPriv", "authNoPriv", "authPriv"])
def test_version_3_tells_a_closed_port_from_a_silent_one(how):
    assert look_at(agents.free_port(), wait=0.5, retries=0, **how).reason == "port_closed"
    with agents.relay(change=lambda _reply: None) as silent:
        storage = look_at(silent.port, wait=0.5, retries=0, **how)
        assert (storage.outcome, storage.reason) == ("no_answer", "timeout")
        # The tool's discovery, and one of our own: nobody is asked again in other words.
        assert len(silent.requests) == 2
    assert not [word for word in (AUTH, PRIV) if word in str(storage.why)]


@pytest.mark.long
def test_a_tool_that_never_ends_costs_its_time_once(tmp_path, monkeypatch):
    """As where the name service is dead."""
    log = tmp_path / "asked"
    (tmp_path / snmp.GET).write_text(f"#!/bin/sh\necho x >>{log}\nexec sleep 60\n")
    (tmp_path / snmp.GET).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    storage = look_at(agents.free_port(), wait=0.1, retries=0)
    assert (storage.outcome, storage.reason) == ("no_answer", "failed")
    assert log.read_text() == "x\n"


def test_a_name_without_address():
    target = snmp.Target("filer.invalid", 161, snmp.Credentials("2c", "public"), 0.5, 0)
    assert storage_agent.identify_agent(LiveHost(), target).reason == "unknown_host"


@pytest.mark.parametrize(("delay", "wait", "outcome"), [(1.5, 20, "other"), (3.0, 1, "no_answer")])
def test_a_slow_agent_gets_the_time_of_the_policy(snmpd, delay, wait, outcome):
    with agents.relay(snmpd, delay=delay) as slow:
        storage = look_at(slow.port, wait=wait, retries=0)
    assert storage.outcome == outcome, storage


@pytest.mark.parametrize(
    ("text", "role"),
    [
        (b"<script>alert(1)</script>", "server"),
        (b'first line\r\nsecond "line" = Hex-STRING: 41\n.1.3.6.1.2.1.1.2.0 = OID: .1.3', "server"),
        (b"Linux \xff\xfe\x80 caf\xe9", "server"),
        (b"x" * 8000, "server"),
        (b"", "server"),
        (b"\0\0\0", "server"),
    ],
    ids=["markup", "lines", "no text", "huge", "empty", "zeros"],
)
def test_whatever_an_agent_says_of_itself(tmp_path, text, role):
    script = tmp_path / "describe"
    row = ".1.3.6.1.2.1.1.1.0\\noctet\\n" + " ".join(f"{byte:02x}" for byte in text) + "\\n"
    script.write_text(f'#!/bin/sh\nprintf "{row}"\n')
    script.chmod(0o755)
    extra = f"pass -p 10 .1.3.6.1.2.1.1.1 {script}\n"
    with agents.snmpd(tmp_path / "agent", extra) as port:
        storage = look_at(port)
    assert (storage.outcome, storage.role) == ("other", role)
    assert all(reason.isprintable() for reason in storage.why)


class TestRecords:
    @pytest.mark.parametrize("name", EXPECTED)
    def test_through_the_real_tool(self, records, name):
        storage = look_at(records, community=name, oracle=name)
        values = storage.as_dict() | {"hcc": storage.features.hcc}
        assert {key: values[key] for key in EXPECTED[name]} == EXPECTED[name]

    def test_by_context_of_version_3(self, records):
        storage = look_at(
            records, version="3", user="sim", context="netapp-7mode", auth_protocol="SHA-256",
            auth_passphrase=AUTH, priv_protocol="AES", priv_passphrase=PRIV,
        )  # fmt: skip
        assert (storage.product, storage.serial) == ("Data ONTAP 7-Mode", "940001051000")

    def test_a_recording_is_judged_alike(self, records):
        host = LiveHost()
        target = snmp.Target("127.0.0.1", records, snmp.Credentials("2c", "zfs-7420"), 1, 1)
        live = storage_agent.identify_agent(host, target)
        assert storage_agent.identify_agent(RecordedHost(host.evidence), target) == live


class TestOracle:
    """What the database asks, on the wire."""

    @pytest.mark.parametrize(
        ("record", "hcc"),
        [("zfs-7420", "eligible"), ("zfs-zs5", "eligible"), ("zfs-simulator", "simulator")],
    )
    def test_version_1_get_of_one_object(self, records, record, hcc):
        with agents.relay(records) as wire:
            storage = look_at(wire.port, community=record, oracle=record)
        assert (storage.outcome, storage.features.hcc) == ("recognised", hcc)
        # The agent is asked for this object by the version of the inventory, too.
        request = [sent for sent in wire.requests if sent.endswith(ORACLE_OID + b"\x05\x00")][-1]
        community = record.encode()
        # SEQUENCE, INTEGER 0 (version 1), the community, GetRequest.
        assert request[2:5] == b"\x02\x01\x00"
        assert request[5 : 7 + len(community)] == bytes([4, len(community)]) + community
        assert request[7 + len(community)] == 0xA0
        assert request.count(b"\x06\x0d") == 1

    def test_as_the_database_does_without_any_setting(self, records):
        assert look_at(records).features.hcc == "eligible"

    def test_no_answer_is_unknown(self):
        with agents.relay(change=lambda _reply: None) as silent:
            assert look_at(silent.port, wait=0.3, retries=0).features.hcc == "unknown"

    def test_appliance_that_does_not_answer_the_database_is_not_called_eligible(self, records):
        storage = look_at(records, community="zfs-7420", oracle="not-a-record", wait=0.5)
        assert (storage.product, storage.features.hcc) == ("ZFS Storage Appliance", "unknown")


class TestGarbage:
    def test_on_the_port(self):
        chance = random.Random(20240229)
        for size in (0, 1, 40, 1400):
            with agents.relay(change=lambda _r, n=size: chance.randbytes(n)) as noise:
                storage = look_at(noise.port, wait=0.2, retries=0)
            assert (storage.outcome, storage.role) == ("no_answer", "unknown")

    @pytest.mark.long
    def test_replies_that_are_cut_off_or_changed(self, records):
        chance = random.Random(20240229)

        def spoil(reply: bytes) -> bytes:
            if chance.random() < 0.4:
                return reply[: chance.randrange(len(reply) + 1)]
            spoilt = bytearray(reply)
            spoilt[chance.randrange(len(spoilt))] ^= 1 << chance.randrange(8)
            return bytes(spoilt)

        for _ in range(25):
            with agents.relay(records, spoil) as bad:
                storage = look_at(bad.port, community="synology", wait=0.1, retries=0)
            assert storage.outcome in storage_agent.OUTCOMES

    @pytest.mark.parametrize(
        ("script", "why"),
        [
            ("printf '.1.3.6.1.2.1.1.1.0 = Hex-STRING: 4C 69 6'", "not whole bytes"),
            ("head -c 6000000 /dev/zero | tr '\\0' A", "longer than"),
            ("head -c 100000 /dev/urandom", ""),
            ("kill -SEGV $$", "ended with -11"),
            ("exit 0", "ended with 0"),
            ("echo 'snmpget: error while loading shared libraries' >&2; exit 127", "127"),
        ],
    )
    def test_from_the_tool(self, tmp_path, monkeypatch, script, why):
        for name in (snmp.GET, snmp.NEXT, snmp.WALK):
            (tmp_path / name).write_text(f"#!/bin/sh\n{script}\n")
            (tmp_path / name).chmod(0o755)
        monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
        storage = look_at(agents.free_port(), wait=0.2, retries=0)
        assert (storage.outcome, storage.reason) == ("no_answer", "failed")
        assert why in storage.why[0]


def test_no_file_stays_behind(snmpd, private_folder):
    for how in ({"community": "public"}, {**SEALED, **SEALED_KEYS}, {"community": "wrong"}):
        look_at(snmpd, wait=0.3, retries=0, **how)
    gc.collect()
    assert list(private_folder.iterdir()) == []

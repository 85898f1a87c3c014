"""What an agent is: every record of the project, the recorded agents beside it, and silence."""

import json
from pathlib import Path
from typing import Any

import pytest
import storage_truth
from ansible.module_utils.hostproof.host import RecordedHost
from ansible.module_utils.hostproof.parsers.snmp_output import Value
from ansible.module_utils.hostproof.probes import snmp, storage_agent
from ansible.module_utils.hostproof.probes import storage_rules as rules
from packs import FIXTURES
from snmp_agents import RECORDS, Agent, Filers

EXPECTED: dict[str, dict[str, Any]] = json.loads(
    (FIXTURES / "storage_type/expected.json").read_text()
)
COMMUNITY = "s3cret community"
ADDRESS = "10.0.0.9"


def target(version: str = "2c") -> snmp.Target:
    return snmp.Target(ADDRESS, 161, snmp.Credentials(version, COMMUNITY), 2, 1)


def look_at(agent: Agent | None, version: str = "2c") -> tuple[storage_agent.Storage, Filers]:
    host = Filers()
    if agent is not None:
        host.agent(ADDRESS, agent)
    return storage_agent.look_at(host, target(version)), host


class TestRecords:
    def test_there_is_one_for_each_expectation(self):
        assert {path.stem for path in RECORDS.glob("*.snmprec")} == set(EXPECTED)

    def test_the_origin_of_each_is_told(self):
        origins = (FIXTURES / "storage_type/SOURCES.md").read_text()
        assert [name for name in EXPECTED if f"| `{name}` |" not in origins] == []

    @pytest.mark.parametrize("version", ["1", "2c"])
    @pytest.mark.parametrize("name", EXPECTED)
    def test_is_what_it_is(self, name, version):
        storage, _host = look_at(Agent.of(name), version)
        told = storage.as_dict() | {"hcc": storage.features.hcc}
        assert {key: told[key] for key in EXPECTED[name]} == EXPECTED[name]

    @pytest.mark.parametrize("name", EXPECTED)
    def test_says_why(self, name):
        storage, _host = look_at(Agent.of(name))
        assert storage.why
        assert all(text == storage_agent.printable(text) for text in storage.why)

    @pytest.mark.parametrize("name", EXPECTED)
    def test_is_judged_offline_alike(self, name):
        storage, host = look_at(Agent.of(name))
        assert storage_agent.look_at(RecordedHost(host.evidence), target()) == storage
        assert set(storage.evidence) <= set(host.evidence)

    def test_every_rule_has_a_record(self):
        shown = {(one["vendor"], one["product"]) for one in EXPECTED.values()}
        assert {(rule.vendor, rule.product) for rule in rules.RULES} - shown == set()


class TestRules:
    @pytest.mark.parametrize("rule", rules.RULES, ids=lambda rule: f"{rule.vendor} {rule.product}")
    def test_is_complete(self, rule):
        assert rule.by and rule.source
        assert rule.role in rules.STORAGE_ROLES
        assert all(way.sure in rules.SURE and way.clues for way in rule.by)

    def test_no_secret_is_in_a_question(self):
        for name in ("zfs-7420", "synology", "linux"):
            _storage, host = look_at(Agent.of(name))
            assert COMMUNITY not in json.dumps([one.argv for one in host.asked])
            assert COMMUNITY not in json.dumps(host.evidence)
            assert all(COMMUNITY in one.secret.text for one in host.asked if "2c" in one.argv)

    @pytest.mark.parametrize(
        ("name", "requests"),
        [("netapp-7mode", 2), ("linux", 2), ("areca", 1), ("flasharray", 1), ("zfs-7420", 3)],
    )
    def test_asks_no_more_than_it_needs(self, name, requests):
        _storage, host = look_at(Agent.of(name))
        assert len(host.asked) == requests

    @pytest.mark.parametrize(
        "text",
        ["<private>", "unknown", "N/A", "Empty", "Not Specified", "00000000", "XXXX", "  ", "-"],
    )
    def test_what_says_nothing_is_no_serial_number(self, text):
        agent = Agent.of("netapp-7mode")
        agent.rows[(1, 3, 6, 1, 4, 1, 789, 1, 1, 9, 0)] = ("4", text)
        storage, _host = look_at(agent)
        assert storage.serial is None
        assert storage.model == "FAS3270"

    def test_quotes_around_a_value_are_not_part_of_it(self):
        agent = Agent.of("msa-p2000")
        agent.rows[(1, 3, 6, 1, 4, 1, 232, 2, 2, 4, 2, 0)] = ("4", '"HP MSA 2040 SAN"')
        storage, _host = look_at(agent)
        assert storage.model == "MSA 2040 SAN"


class TestOracle:
    """What the database asks: one SNMPv1 GET of one object."""

    @pytest.mark.parametrize(
        ("name", "hcc"),
        [
            ("zfs-7420", "eligible"),
            ("zfs-7410", "eligible"),
            ("zfs-guide", "eligible"),
            ("zfs-zs5", "eligible"),
            ("zfs-simulator", "simulator"),
        ],
    )
    def test_asks_as_the_database_does(self, name, hcc):
        storage, host = look_at(Agent.of(name))
        asked = host.asked[-1]
        assert storage.features.hcc == hcc
        assert asked.argv[0] == "snmpget"
        assert asked.argv[asked.argv.index("-v") + 1] == "1"
        assert asked.argv[-2:] == [f"udp:{ADDRESS}:161", "1.3.6.1.4.1.42.2.225.1.4.2.0"]
        assert asked.secret.text == 'defCommunity "public"\n'

    @pytest.mark.parametrize(
        "text",
        ["Zun ZFS Storage", "NetApp", "", "My Sun ZFS Storage 7420", "Sun ZFS Storages 7420"],
    )
    def test_another_text_is_not_eligible(self, text):
        value = Value("string", text.encode())
        assert storage_agent.judge_product(value)[0] == "not_eligible"

    def test_product_that_gave_no_answer_is_unknown(self):
        class Partial(Agent):
            def reply(self, argv: list[str]) -> tuple[int, str, str]:
                if rules.ORACLE_PRODUCT in argv and len(argv) > 3:
                    return 1, "", "snmpget: what\n"
                return super().reply(argv)

        features = look_at(Partial.of("netapp-7mode"))[0].features
        assert features.hcc == "unknown"
        assert features.hcc_why == "the product's object gave no answer"

    @pytest.mark.parametrize(
        ("name", "word"),
        [("magnum", "no:"), ("brocade-text", "no:"), ("unity", "yes, where"), ("qnap", "yes:")],
    )
    def test_direct_nfs_is_denied_only_to_what_serves_no_files(self, name, word):
        assert look_at(Agent.of(name))[0].features.direct_nfs.startswith(word)

    def test_no_answer_is_unknown(self):
        storage, _host = look_at(None)
        assert storage.features.hcc == "unknown"
        assert storage.outcome == "no_answer"


class TestSilence:
    @pytest.mark.parametrize(
        ("errors", "reason"),
        [
            ("Timeout: No Response from udp:10.0.0.9:161.\n", "timeout"),
            ("snmpget: Unknown user name\n", "user"),
            (
                "snmpget: Authentication failure (incorrect password, community or key)\n",
                "passphrase",
            ),
            ("snmpget: Unsupported security level\n", "security_level"),
            (
                "Error in packet\nReason: authorizationError (access denied to that object)\n",
                "security_level",
            ),
            ("snmpget: Unknown host (filer)\n", "unknown_host"),
            ("snmpget: something else\n", "failed"),
            ("", "failed"),
        ],
    )
    def test_reason_is_told_as_far_as_it_is_known(self, errors, reason):
        storage, _host = look_at(Agent({}, silent=errors or "\n"))
        assert (storage.outcome, storage.role, storage.reason) == ("no_answer", "unknown", reason)
        assert storage.features.hcc == "unknown"

    def test_closed_port(self):
        agent = Agent({})
        agent.closed = True
        storage, _host = look_at(agent)
        assert storage.reason == "port_closed"

    def test_agent_that_refuses_our_community_is_there(self):
        agent = Agent({}, silent="Timeout: No Response from udp:10.0.0.9:161.\n")
        agent.engine = bytes.fromhex("8000031503c0a80001")
        storage, _host = look_at(agent)
        assert storage.reason == "credentials"
        assert "enterprise number 789" in storage.why[1]

    def test_missing_tool_is_told(self):
        host = Filers()
        host.has_tools = False
        storage = storage_agent.look_at(host, target())
        assert storage.reason == "tool_missing"
        assert "net-snmp-utils" in storage.why[0]

    def test_agent_that_falls_silent_keeps_what_it_said(self):
        class Tired(Agent):
            def reply(self, argv: list[str]) -> tuple[int, str, str]:
                done = super().reply(argv)
                self.silent = "Timeout: No Response from udp:10.0.0.9:161.\n"
                return done

        storage, _host = look_at(Tired.of("netapp-7mode"))
        assert (storage.product, storage.version) == ("Data ONTAP 7-Mode", "8.2.3")
        assert storage.model is None

    def test_agent_that_may_hide_something_is_only_a_guess(self):
        class Shy(Agent):
            def reply(self, argv: list[str]) -> tuple[int, str, str]:
                if argv[0] == "snmpgetnext":
                    return 1, "", "Timeout: No Response from udp:10.0.0.9:161.\n"
                return super().reply(argv)

        storage, _host = look_at(Shy.of("linux"))
        assert (storage.role, storage.sure) == ("server", "weak")
        assert storage.why[-1] == "it did not answer when it was asked further"

    def test_one_value_that_silences_the_agent_costs_only_itself(self):
        class Fragile(Agent):
            def reply(self, argv: list[str]) -> tuple[int, str, str]:
                if "1.3.6.1.4.1.6574.1.5.2.0" in argv:
                    return 1, "", "Timeout: No Response from udp:10.0.0.9:161.\n"
                return super().reply(argv)

        storage, _host = look_at(Fragile.of("synology"))
        assert (storage.model, storage.version) == ("DS214se", "6.2-25426")
        assert storage.serial is None

    def test_answer_that_is_too_large_is_asked_in_parts(self):
        class Small(Agent):
            def reply(self, argv: list[str]) -> tuple[int, str, str]:
                if len(argv) - argv.index("-r") > 5:
                    return 2, "", "Error in packet\nReason: (tooBig) Response message too big.\n"
                return super().reply(argv)

        storage, _host = look_at(Small.of("netapp-7mode"))
        assert storage.serial == "940001051000"


@pytest.mark.parametrize("name", ["storage", "negatives", "switches"])
class TestPublishedRecords:
    """The recorded agents of other projects, where somebody put them beside the checkout."""

    def test_storage_is_recognised_and_nothing_else_is(self, name):
        if not storage_truth.DATA.is_dir():
            pytest.skip(f"no recorded agents in {storage_truth.DATA}")
        rows = [
            storage_truth.compare(name, path, look_at(Agent.recorded(path))[0])
            for path in storage_truth.records(name)
        ]
        assert rows
        assert [row.text() for row in rows if not row.role_right or row.wrong] == []
        for part in storage_truth.PARTS:
            right, wanted = storage_truth.score(rows, part)
            assert right >= 0.95 * wanted, part


def test_path_of_the_data():
    assert Path(storage_truth.DATA).name == "snmp"

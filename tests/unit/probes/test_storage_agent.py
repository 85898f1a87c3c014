"""What an agent is: every record of the project, the recorded agents beside it, and silence."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
import storage_truth
from ansible.module_utils.hostproof.collect.host import RecordedHost
from ansible.module_utils.hostproof.controls.storage_type.snmp import storage_agent, storage_match
from ansible.module_utils.hostproof.controls.storage_type.snmp import storage_rules as rules
from ansible.module_utils.hostproof.controls.storage_type.snmp.storage_definitions import (
    Rule,
    read_definitions,
)
from ansible.module_utils.hostproof.controls.storage_type.snmp.storage_families import FAMILIES
from ansible.module_utils.hostproof.snmp import tools as snmp
from ansible.module_utils.hostproof.snmp.snmp_output import Value
from cases import cases
from packs import FIXTURES
from snmp_agents import RECORDS, Agent, Filers

EXPECTED: dict[str, dict[str, Any]] = json.loads(
    (FIXTURES / "storage_type/expected.json").read_text()
)
FURTHER = storage_match.catalogue_of(()).further
RULES: tuple[Rule, ...] = read_definitions(FAMILIES)
COMMUNITY = "s3cret community"
ADDRESS = "10.0.0.9"


def target(version: str = "2c") -> snmp.Target:
    return snmp.Target(ADDRESS, 161, snmp.Credentials(version, COMMUNITY), 2, 1)


def look_at(agent: Agent | None, version: str = "2c") -> tuple[storage_agent.Storage, Filers]:
    host = Filers()
    if agent is not None:
        host.agent(ADDRESS, agent)
    return storage_agent.identify_agent(host, target(version)), host


class TestRecords:
    def test_there_is_one_for_each_expectation(self):
        assert {path.stem for path in RECORDS.glob("*.snmprec")} == set(EXPECTED)

    def test_the_origin_of_each_is_told(self):
        origins = (FIXTURES / "storage_type/SOURCES.md").read_text()
        assert [name for name in EXPECTED if f"| `{name}` |" not in origins] == []

    @cases("version", "1", "2c")
    @pytest.mark.parametrize("name", EXPECTED)
    def test_is_what_it_is(self, name, version):
        storage, _host = look_at(Agent.of(name), version)
        values = storage.as_dict() | {"hcc": storage.features.hcc}
        assert {key: values[key] for key in EXPECTED[name]} == EXPECTED[name]

    @pytest.mark.parametrize("name", EXPECTED)
    def test_says_why(self, name):
        storage, _host = look_at(Agent.of(name))
        assert storage.why
        assert all(text == snmp.printable(text) for text in storage.why)

    @pytest.mark.parametrize("name", EXPECTED)
    def test_is_judged_offline_alike(self, name):
        storage, host = look_at(Agent.of(name))
        assert storage_agent.identify_agent(RecordedHost(host.evidence), target()) == storage
        assert set(storage.evidence) <= set(host.evidence)

    def test_every_rule_has_a_record(self):
        shown = {(record["vendor"], record["product"]) for record in EXPECTED.values()}
        assert {(rule.vendor, rule.product) for rule in RULES} - shown == set()


class TestRules:
    @pytest.mark.parametrize("rule", RULES, ids=lambda rule: f"{rule.vendor} {rule.product}")
    def test_is_complete(self, rule):
        assert rule.by and rule.source
        assert rule.role in (*rules.STORAGE_ROLES, rules.NOT_STORAGE)
        assert all(way.sure in rules.SURE and way.clues for way in rule.by)

    def test_no_secret_is_in_a_question(self):
        for name in ("zfs-7420", "synology", "linux"):
            _storage, host = look_at(Agent.of(name))
            assert COMMUNITY not in json.dumps([query.argv for query in host.asked])
            assert COMMUNITY not in json.dumps(host.evidence)
            assert all(COMMUNITY in query.secret.text for query in host.asked if "2c" in query.argv)

    @cases(
        "name requests",
        ("netapp-7mode", 3),
        ("linux", 2),
        ("areca", 3),
        ("flasharray", 2),
        ("zfs-7420", 4),
    )
    def test_asks_no_more_than_it_needs(self, name, requests):
        _storage, host = look_at(Agent.of(name))
        assert len(host.asked) == requests

    @cases(
        "text",
        "<private>",
        "unknown",
        "N/A",
        "Empty",
        "Not Specified",
        "00000000",
        "XXXX",
        "  ",
        "-",
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


#: A host is called as its owner likes.
NAMES = sorted(
    {word for rule in RULES for name in (rule.vendor, rule.product) for word in name.split()}
    | {"QNAP", "rubrik", "NexentaOS_4", "COMPELLENT", "BUFFALO", "StoreOnce", "7-Mode", "ME4024"}
    | {"DiskStation", "TS-X31", "NetApp", "Isilon", "MDS9148", "SANbox", "Purity//FA", "8/20q"}
    | {"4.15.0-72-rubrik6-generic", "Tape", "Flare", "EMC", "UnityVSA", "TrueNAS-13", "Open-E"}
)


class TestHostNames:
    """A name proves nothing: a proxy is called rubrik, a host of the tests netapp1."""

    @cases(
        "form oid system",
        ("Linux {} 5.15.0-100.el9.x86_64 #1 SMP", "8072.3.2.10", "Linux"),
        ("Linux {} 5.15.0-100.el9.x86_64 #1 SMP", "8072.3.2.255", "Linux"),
        ("FreeBSD {} 13.2-RELEASE FreeBSD 13.2-RELEASE GENERIC amd64", "8072.3.2.8", "FreeBSD"),
        ("SunOS {} 5.11 11.4 i86pc", "8072.3.2.3", "Solaris"),
        ("AIX {} 2 7 00F9C1234C00", "8072.3.2.15", "AIX"),
        ("HP-UX {} B.11.31 U ia64 0123456789", "11.2.3.2.5", "HP-UX"),
        ("Darwin {} 22.6.0 Darwin Kernel Version 22.6.0", "8072.3.2.16", "macOS"),
        ("OpenBSD {} 7.4 GENERIC.MP#1397 amd64", "8072.3.2.12", "BSD"),
    )
    def test_a_server_with_a_product_s_name_stays_a_server(self, form, oid, system):
        for name in NAMES:
            rows = {rules.DESCRIPTION: ("4", form.format(name)), rules.OBJECT: ("6", rules.E + oid)}
            storage, _host = look_at(Agent(rows))
            result = (storage.outcome, storage.role, storage.product)
            assert result == ("other", "server", system), name

    @cases(
        "form product",
        ("Pure Storage {}, Purity//FA 6.5.6", "FlashArray"),
        ("Pure Storage {}, Purity//FB 4.1.5", "FlashBlade"),
        ("Nimble Storage {} running software version 2.3.14.0-325711-opt", "Nimble"),
        ("Isilon OneFS {} v7.2.1.0 Isilon OneFS v7.2.1.0 B_7_2_1_014(RELEASE)", "Isilon OneFS"),
        ("{} 4280738515 Isilon OneFS v8.0.1.1", "Isilon OneFS"),
        ("SunOS {} 5.11 NexentaOS_4:932a36b3fc i86pc", "NexentaStor"),
        ("Linux {} 4.15.0-72-rubrik6-generic #81 SMP", "CDM"),
        ("FreeBSD {} 10.0-RELEASE root@b:/work/R07.02.31.003/src/sys/COMPELLENT", "Compellent"),
    )
    def test_a_product_with_another_s_name_stays_itself(self, form, product):
        for name in NAMES:
            storage, _host = look_at(Agent({rules.DESCRIPTION: ("4", form.format(name))}))
            assert storage.product == product, name

    @cases(
        "text",
        *("Proxy for DELL EMC ME4024", "not a BUFFALO TeraStation"),
        *("monitors NetApp Release 9.3P7", "behind EMC Unity 400", "Backup of HPE StoreOnce"),
        *("serves IBM System Storage TS3500 Tape Library", "My HP_3PAR 7200c"),
        "Tape server for SANbox 5800",
    )
    def test_a_text_that_only_names_a_product_is_none(self, text):
        storage, _host = look_at(Agent({rules.DESCRIPTION: ("4", text)}))
        assert (storage.outcome, storage.role, storage.sure) == ("other", "unknown", None)

    @cases(
        "text product",
        ('BUFFALO "TeraStation" "TS5410R Ver.3.40 (2017/09/07)', "TeraStation/LinkStation"),
        ("BUFFALO LinkStation LS-WXL", "TeraStation/LinkStation"),
        ("HP StoreOnce 4500", "StoreOnce"),
        ("NexentaStor 5.2", "NexentaStor"),
        ("SANbox 5800 FC Switch", "Fibre Channel switch"),
    )
    def test_texts_of_products(self, text, product):
        assert look_at(Agent({rules.DESCRIPTION: ("4", text)}))[0].product == product

    @cases("text", "DELL EMC ME4024", "ME5012")
    def test_the_text_of_a_powervault_is_one_below_dell_s_number_alone(self, text):
        rows = {rules.DESCRIPTION: ("4", text), rules.OBJECT: ("6", rules.E + "674.10893")}
        assert look_at(Agent(rows))[0].product == "PowerVault ME4"
        rows[rules.OBJECT] = ("6", rules.E + "99999.1")
        assert look_at(Agent(rows))[0].outcome == "other"

    @cases(
        "text model",
        ('BUFFALO "TeraStation" "TS5410R Ver.3.40 (2017/09/07)', "TS5410R"),
        ('BUFFALO ""TeraStation"" ""TS3400D Ver.1.60', "TS3400D"),
        ("BUFFALO LinkStation LS-WXL Ver.1.70", "LS-WXL"),
        ("SANbox 5800 FC Switch", "SANbox 5800"),
        ("HP StorageWorks 8/20q Fibre Channel Switch", "8/20q"),
        ("Cisco NX-OS(tm) m9100, Software (MDS 9148S), Version 6.2(13)", "9148S"),
    )
    def test_models_in_texts(self, text, model):
        assert look_at(Agent({rules.DESCRIPTION: ("4", text)}))[0].model == model

    @cases(
        "text",
        *("DS-6620B", "Brocade G620", "Brocade 6510", "X6-8", "Brocade DCX", "Brocade DCX-4S"),
        *("Brocade DCX 8510-8", "ED-DCX-4S", "ED-DCX8510-4B", "SilkWorm 4100"),
        *("EMC Connectrix DS-6510B", "Brocade G620 Switch"),
    )
    def test_the_model_of_a_switch_is_in_its_text(self, text):
        rows = {rules.DESCRIPTION: ("4", text), rules.OBJECT: ("6", rules.E + "1588.2.1.1.999")}
        model = re.sub(r"^(Brocade|SilkWorm|EMC Connectrix) | Switch$", "", text)
        assert look_at(Agent(rows))[0].model == model

    def test_the_name_of_a_qnap_is_not_its_model(self):
        agent = Agent.of("qnap-generic")
        agent.rows[(1, 3, 6, 1, 2, 1, 1, 1, 0)] = ("4", "Linux TS-OLD 4.2.2")
        storage, _host = look_at(agent)
        assert (storage.product, storage.model, storage.version) == ("Turbo NAS", None, "4.2.2")


class TestUnknown:
    def test_what_an_unknown_agent_says_of_itself_stays_visible(self):
        rows = {
            rules.DESCRIPTION: ("4", "Frobnicator"),
            rules.OBJECT: ("6", rules.E + "99999.1"),
            rules.OF_CHASSIS["chassis.text"] + "1": ("4", "Chassis of a Frobnicator"),
            rules.OF_CHASSIS["chassis.vendor"] + "1": ("4", "ACME"),
            rules.OF_CHASSIS["chassis.model"] + "1": ("4", "F-1000"),
            rules.OF_CHASSIS["chassis.version"] + "1": ("4", "7.1"),
            rules.OF_CHASSIS["chassis.serial"] + "1": ("4", "SN1"),
        }
        storage, _host = look_at(Agent(rows))
        assert (storage.outcome, storage.role) == ("other", "unknown")
        assert (storage.vendor, storage.model) == ("ACME", "F-1000")
        assert (storage.version, storage.serial) == ("7.1", "SN1")
        assert "entPhysicalDescr (1.3.6.1.2.1.47.1.1.1.1.2) = Chassis of a Frobnicator" in (
            storage.why
        )

    def test_one_that_says_nothing_else_too(self):
        storage, _host = look_at(Agent({rules.OF_CHASSIS["chassis.model"] + "1": ("4", "F-1000")}))
        assert (storage.role, storage.model) == ("unknown", "F-1000")

    def test_all_of_it_is_one_question(self):
        assert len(FURTHER) <= 40
        _storage, host = look_at(Agent.of("linux"))
        assert [query.argv[0] for query in host.asked] == ["snmpget", "snmpgetnext"]


class TestNotWhatItSeems:
    @cases(
        "rows",
        {"6574.1.5.1.0": "RT2600ac", "6574.1.5.3.0": "SRM 1.2.5-8227"},
        {"6574.1.5.1.0": "WRX560"},
        {"6574.1.5.3.0": "SRM 1.3.1"},
    )
    def test_a_router_is_no_disk_station(self, rows):
        agent = Agent.of("linux")
        agent.rows[(1, 3, 6, 1, 4, 1, 6574, 1, 1, 0)] = ("2", "1")
        agent.rows |= Agent({rules.E + oid: ("4", text) for oid, text in rows.items()}).rows
        storage, _host = look_at(agent)
        assert (storage.outcome, storage.role) == ("other", "not_storage")
        assert (storage.vendor, storage.product) == ("Synology", "router")
        assert storage.features.direct_nfs.startswith("no")

    def test_a_router_that_hides_its_model_is_known_by_its_boot_line(self):
        agent = Agent.of("synology-masked")
        row = ("4", "root=/dev/md0 syno_hw_version=RT2600ac vga=normal")
        agent.rows[(1, 3, 6, 1, 2, 1, 25, 1, 4, 0)] = row
        storage, _host = look_at(agent)
        assert (storage.role, storage.product, storage.model) == (
            "not_storage",
            "router",
            "RT2600ac",
        )

    def test_a_broken_object_id_is_no_celvin(self):
        """snmpMPDCompliance says nothing about who answers."""
        agent = Agent.of("celvin")
        agent.rows[(1, 3, 6, 1, 2, 1, 1, 1, 0)] = ("4", "Linux web1 5.15.0 #1 SMP x86_64")
        storage, _host = look_at(agent)
        assert (storage.outcome, storage.role, storage.product) == ("other", "server", "Linux")

    def test_a_guess_is_looked_at_further(self):
        """A Celvin is a QNAP inside, and one of them says so."""
        agent = Agent.of("celvin")
        agent.rows[(1, 3, 6, 1, 4, 1, 24681, 1, 2, 12, 0)] = ("4", "TS-219")
        storage, _host = look_at(agent)
        assert (storage.vendor, storage.model, storage.sure) == ("QNAP", "TS-219", "certain")


OBJECT_KEY = (1, 3, 6, 1, 2, 1, 1, 2, 0)
#: Objects that only an agent of that family has.
OBJECTS = {
    "ZFS Storage Appliance": {"42.2.225.1.4.2.0": "Sun ZFS Storage 7420"},
    "Isilon OneFS": {"12124.1.1.3.0": "3"},
    "DiskStation": {"6574.1.1.0": "1", "6574.1.5.1.0": "DS214se"},
    "Turbo NAS": {"24681.1.2.12.0": "TS-219"},
    "OceanStor": {"34774.4.1.1.1.0": "2102350HYS10H1000010"},
    "Filer": {"42040.1.1.0": "nasuni"},
    "Spectrum Scale": {"2.6.212.1.2.1.1.1": "cluster"},
}


def with_objects(agent: Agent, *products: str) -> Agent:
    for product in products:
        rows = {rules.E + oid: ("4", text) for oid, text in OBJECTS[product].items()}
        agent.rows |= Agent(rows).rows
    return agent


class TestContradictions:
    @pytest.mark.parametrize("second", OBJECTS)
    @pytest.mark.parametrize("first", OBJECTS)
    def test_objects_of_two_families_are_a_guess_that_names_both(self, first, second):
        if first == second:
            return
        storage, _host = look_at(with_objects(Agent.of("linux"), first, second))
        assert (storage.sure, storage.features.hcc) == ("weak", "unknown")
        named = " ".join((storage.product or "", *storage.contradictions))
        assert first in named and second in named
        assert set(storage.contradictions) <= {
            reason[4:] for reason in storage.why if reason[:4] == "and "
        }

    @pytest.mark.parametrize("product", OBJECTS)
    @cases("name", "linux", "solaris", "freenas")
    def test_an_operating_system_with_one_subtree_is_no_contradiction(self, name, product):
        if name == "freenas":
            agent = Agent({rules.OBJECT: ("6", rules.E + "8072.3.2.8")})
        else:
            agent = Agent.of(name)
        storage, _host = look_at(with_objects(agent, product))
        assert (storage.product, storage.sure) == (product, "certain")
        assert storage.contradictions == ()

    @cases("oid", "789.2.5", "9.1.222", "12356.101.1.1", "99999.1", "6574.1", "40482.3")
    def test_another_maker_s_object_id_is_one(self, oid):
        agent = Agent.of("zfs-7420")
        agent.rows[OBJECT_KEY] = ("6", rules.E + oid)
        storage, _host = look_at(agent)
        assert (storage.sure, storage.features.hcc) == ("weak", "unknown")
        assert storage.features.oisp == "unknown"

    @cases("name", "netapp-7mode", "flasharray", "ontap-cluster", "vsp")
    def test_a_product_with_the_appliance_s_object_is_one(self, name):
        storage, _host = look_at(with_objects(Agent.of(name), "ZFS Storage Appliance"))
        assert (storage.sure, storage.features.hcc) == ("weak", "unknown")

    @pytest.mark.parametrize("name", EXPECTED)
    def test_no_record_contradicts_itself(self, name):
        assert look_at(Agent.of(name))[0].contradictions == ()

    @cases("name", "netapp-7mode", "areca", "e-series", "mcdata")
    def test_an_object_id_that_is_none_gives_no_certainty(self, name):
        agent = Agent.of(name)
        agent.rows[OBJECT_KEY] = ("4", agent.rows[OBJECT_KEY][1])
        storage, _host = look_at(agent)
        assert storage.sure in ("weak", "likely")

    def test_a_text_that_is_no_oid_gives_none_either(self):
        rows = {rules.OBJECT: ("4", rules.E + "37447.3.1")}
        assert look_at(Agent(rows))[0].sure == "weak"

    def test_what_is_not_asked_further_is_not_eligible(self):
        class Shy(Agent):
            def reply(self, argv: list[str]) -> tuple[int, str, str]:
                if argv[0] == "snmpgetnext":
                    return 1, "", "Timeout: No Response from udp:10.0.0.9:161.\n"
                return super().reply(argv)

        storage, _host = look_at(Shy.of("zfs-7420"))
        assert (storage.product, storage.features.hcc) == ("ZFS Storage Appliance", "unknown")


class TestOracle:
    """What the database asks: one SNMPv1 GET of one object."""

    @cases(
        "name hcc",
        ("zfs-7420", "eligible"),
        ("zfs-7410", "eligible"),
        ("zfs-guide", "eligible"),
        ("zfs-zs5", "eligible"),
        ("zfs-simulator", "simulator"),
    )
    def test_asks_as_the_database_does(self, name, hcc):
        storage, host = look_at(Agent.of(name))
        (query,) = (entry for entry in host.asked if entry.argv[entry.argv.index("-v") + 1] == "1")
        assert storage.features.hcc == hcc
        assert query.argv[0] == "snmpget"
        assert query.argv[query.argv.index("-v") + 1] == "1"
        assert query.argv[-2:] == [f"udp:{ADDRESS}:161", "1.3.6.1.4.1.42.2.225.1.4.2.0"]
        assert query.secret.text == 'defCommunity "public"\n'

    @cases(
        "text", "Zun ZFS Storage", "NetApp", "", "My Sun ZFS Storage 7420", "Sun ZFS Storages 7420"
    )
    def test_another_text_is_not_eligible(self, text):
        value = Value("string", text.encode())
        assert storage_agent.judge_product(value)[0] == "not_eligible"

    @cases(
        "text",
        "Sun ZFS Storage KVM",
        "Oracle ZFS Storage ZS5-2 KVM",
        "Oracle ZFS Storage " + "x" * 120 + " VirtualBox",
        "Sun ZFS Storage 7420 " + " " * 120 + "in QEMU",
        "Sun ZFS Storage",
        "Sun ZFS Storage 74200",
        "Oracle ZFS Storage ZS99-9",
        "Oracle ZFS Storage ZS9-2 HE KVM",
        "Oracle ZFS Storage ZS9-2 XE",
        "Oracle ZFS Storage Appliance Racked System",
        # Names that no document of Oracle shows.
        "Oracle ZFS Storage ZS7-2 MR",
        "Oracle ZFS Storage Appliance ZS11-2",
    )
    def test_only_a_complete_name_is_eligible(self, text):
        hcc, why = storage_agent.judge_product(Value("string", text.encode()))
        assert hcc in ("unknown", "simulator")
        assert len(why) < 300

    @cases(
        "text",
        *("Sun Storage 7410", "Sun ZFS Storage 7420", "Sun ZFS Storage 7350"),
        *("Oracle ZFS Storage ZS5-2", "Oracle ZFS Storage Appliance Racked System ZS9-2 MR"),
        "Oracle ZFS Storage Appliance",
    )
    def test_names_that_oracle_documents_are_eligible(self, text):
        assert storage_agent.judge_product(Value("string", text.encode()))[0] == "eligible"

    def test_product_that_gave_no_answer_is_unknown(self):
        class Partial(Agent):
            def reply(self, argv: list[str]) -> tuple[int, str, str]:
                if rules.ORACLE_PRODUCT in argv and len(argv) > 3:
                    return 1, "", "snmpget: what\n"
                return super().reply(argv)

        features = look_at(Partial.of("netapp-7mode"))[0].features
        assert features.hcc == "unknown"
        assert features.hcc_why == "the product's object gave no answer"

    @cases(
        "name word",
        ("magnum", "no:"),
        ("brocade-text", "no:"),
        ("unity", "yes, where"),
        ("qnap", "yes:"),
    )
    def test_direct_nfs_is_denied_only_to_what_serves_no_files(self, name, word):
        assert look_at(Agent.of(name))[0].features.direct_nfs.startswith(word)

    def test_no_answer_is_unknown(self):
        storage, _host = look_at(None)
        assert storage.features.hcc == "unknown"
        assert storage.outcome == "no_answer"


class TestSilence:
    @cases(
        "errors reason",
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
    )
    def test_reason_is_told_as_far_as_it_is_known(self, errors, reason):
        storage, _host = look_at(Agent({}, silent=errors or "\n"))
        assert (storage.outcome, storage.role, storage.reason) == ("no_answer", "unknown", reason)
        assert storage.features.hcc == "unknown"

    @cases("version", "1", "2c")
    def test_a_tool_that_does_not_end_is_asked_once(self, version):
        """As where the name service does not answer: each question would cost its whole time."""

        class Hanging(Filers):
            def _tool(self, argv: list[str]) -> dict[str, Any]:
                super()._tool(argv)
                return {"kind": "command", "at": "x", "error": "unanswered", "message": "slow"}

        host = Hanging()
        storage = storage_agent.identify_agent(host, target(version))
        assert (storage.outcome, storage.reason, len(host.asked)) == ("no_answer", "failed", 1)
        assert not [key for key in host.evidence if key.startswith("udp:")]

    @cases("errors", "snmpget: Unknown host (filer)\n", "Timeout: No Response from x.\n")
    @cases("version", "1", "2c")
    def test_who_is_not_there_is_asked_once(self, version, errors):
        _storage, host = look_at(Agent({}, silent=errors), version)
        assert len(host.asked) == 1

    def test_a_table_of_a_dead_name_is_one_question(self):
        host = Filers().agent(ADDRESS, Agent({}, silent="snmpget: Unknown host (filer)\n"))
        many = [f"1.3.6.1.{number}" for number in range(100)]
        with pytest.raises(snmp.NoAnswer):
            snmp.get(host, target(), "details", many)
        assert len(host.asked) == 1

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
        storage = storage_agent.identify_agent(host, target())
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
        assert storage.why[-1] == "it did not answer further requests"

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


@cases("name", "storage", "negatives", "switches")
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
            right, expected = storage_truth.score(rows, part)
            assert right >= 0.95 * expected, part


def test_path_of_the_data():
    assert Path(storage_truth.DATA).name == "snmp"


class TestUnknownProducts:
    """An agent without a rule is only excluded where its object or text excludes storage."""

    @cases(
        "oid text role",
        ("99999.1", "Frobnicator", "unknown"),
        ("99999.1", "Linux filer 5.10 x86_64", "unknown"),
        ("99999", "", "unknown"),
        ("42.2.200.2.1.1", "ILOM", "not_storage"),
        ("318.1.3.27", "APC Web/SNMP Management Card", "not_storage"),
        ("8072.3.2.10", "Linux filer 5.10 x86_64", "server"),
    )
    def test_only_what_is_known_to_be_none_is_no_storage(self, oid, text, role):
        rows = {rules.OBJECT: ("6", rules.E + oid), rules.DESCRIPTION: ("4", text)}
        assert look_at(Agent(rows))[0].role == role

    def test_an_agent_that_falls_silent_is_not_ruled_out(self):
        class Short(Agent):
            def reply(self, argv: list[str]) -> tuple[int, str, str]:
                if argv[0] == "snmpgetnext":
                    return 1, "", "Timeout: No Response from x.\n"
                return super().reply(argv)

        storage, _host = look_at(Short({rules.OBJECT: ("6", rules.E + "8072.3.2.10")}))
        assert storage.sure == "weak"
        assert "it did not answer further requests" in storage.why


class TestNetApp:
    """7-Mode says so since 8.0, which came with the other mode; before there was no other."""

    @cases(
        "text product version",
        ("NetApp Release 7.3.7: Thu May  3 04:32:51 PDT 2012", "Data ONTAP 7-Mode", "7.3.7"),
        ("NetApp Release 7.2.4L1: Wed Nov 21", "Data ONTAP 7-Mode", "7.2.4L1"),
        ("NetApp Release 6.5.1R1: Tue", "Data ONTAP 7-Mode", "6.5.1R1"),
        ("NetApp Release 8.2.3 7-Mode: Thu", "Data ONTAP 7-Mode", "8.2.3"),
        ("NetApp Release 8.2.3 Cluster-Mode: Thu", "ONTAP", "8.2.3"),
        ("NetApp Release 8.3.2P12: Thu", "ONTAP", "8.3.2P12"),
        ("NetApp Release 9.3P7: Wed Jul 25", "ONTAP", "9.3P7"),
        ("NetApp Release 10.1: Wed", "ONTAP", "10.1"),
    )
    @cases("oid", "789.2.1", "789.2.3", "789.2.5", "8072.3.2.10")
    def test_by_the_release(self, text, product, version, oid):
        rows = {rules.DESCRIPTION: ("4", text), rules.OBJECT: ("6", rules.E + oid)}
        storage, _host = look_at(Agent(rows))
        assert (storage.product, storage.version) == (product, version)

    @cases("text product",
("", "Data ONTAP 7-Mode"), ("filer of Jan", "Data ONTAP 7-Mode"),
         ("NetApp Release 9.0: Fri Aug 19 11:04:54 UTC 2016", "ONTAP"))  # fmt: skip
    def test_what_an_upgrade_left_counts_only_where_nothing_else_says_it(self, text, product):
        rows = {
            rules.DESCRIPTION: ("4", text),
            rules.OBJECT: ("6", rules.E + "789.2.5"),
            rules.E + "789.1.1.2.0": ("4", "NetApp Release 7.3.7: Thu May  3 04:32:51 PDT 2012"),
        }
        assert look_at(Agent(rows))[0].product == product

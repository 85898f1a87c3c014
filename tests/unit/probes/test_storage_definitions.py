"""Definitions of families: the house's own, those of users, and what neither may hold."""

import copy
import json
import re
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from ansible.module_utils.hostproof.controls.storage_type.control import CONTROL as storage_type
from ansible.module_utils.hostproof.controls.storage_type.snmp import (
    enterprises,
    storage_agent,
    storage_match,
)
from ansible.module_utils.hostproof.controls.storage_type.snmp import storage_rules as rules
from ansible.module_utils.hostproof.controls.storage_type.snmp.storage_definitions import (
    read_definitions,
)
from ansible.module_utils.hostproof.controls.storage_type.snmp.storage_families import FAMILIES
from ansible.module_utils.hostproof.errors import PolicyError
from ansible.module_utils.hostproof.snmp import tools as snmp
from cases import cases
from snmp_agents import Agent, Filers, storage_policy

ROOT = Path(__file__).resolve().parents[3]
SCHEMA = json.loads((ROOT / "docs/storage_definitions.schema.json").read_text())
TARGET = snmp.Target("10.0.0.9", 161, snmp.Credentials("2c", "public"), 2, 1)
E = rules.E

#: A device that the house does not know.
MINE: dict[str, Any] = {
    "vendor": "ACME",
    "product": "Frobnicator",
    "role": "san",
    "known_by": [{"object_id": "e.99999.1"}, {"description": "^ACME F-"}],
    "model": [{"at": "sysDescr", "pattern": r"^ACME (F-\d+)"}],
    "version": [{"at": "e.99999.2.1.0", "more": ["e.99999.2.2.0"]}],
    "serial": [{"at": "e.99999.3.1.", "rows": "each"}],
    "health": [
        {
            "part": "disks",
            "at": "e.99999.4.1.2.",
            "good": {"1": "ok"},
            "bad": {"3": "failed"},
            "source": "ACME-STORAGE-MIB diskState",
        },
        {"part": "rebuild", "at": "e.99999.4.2.0", "counts": "disks", "source": "ACME-STORAGE-MIB"},
    ],
    "source": "ACME-STORAGE-MIB",
}


def look_at(agent: Agent, *definitions: dict[str, Any]) -> storage_agent.Storage:
    catalogue = storage_match.catalogue_of(read_definitions(list(definitions)))
    host = Filers().agent("10.0.0.9", agent)
    return storage_agent.identify_agent(host, TARGET, catalogue=catalogue)


def acme() -> Agent:
    rows = {
        rules.DESCRIPTION: ("4", "ACME F-1000"),
        rules.OBJECT: ("6", E + "99999.1"),
        E + "99999.2.1.0": ("2", "5"),
        E + "99999.2.2.0": ("2", "25"),
        E + "99999.3.1.1": ("4", "SN1"),
        E + "99999.3.1.2": ("4", "SN2"),
    }
    return Agent(rows)


def changed(*path: Any, to: Any) -> dict[str, Any]:
    """MINE with one value changed."""
    mine = copy.deepcopy(MINE)
    place: Any = mine
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = to
    return mine


class TestOfTheHouse:
    def test_they_are_what_the_schema_says(self):
        # Its bound on how many is that of a user's.
        for family in FAMILIES:
            jsonschema.validate([family], SCHEMA)

    def test_they_are_json(self):
        assert json.loads(json.dumps(FAMILIES)) == FAMILIES

    def test_about_sixty_and_each_is_there_once(self):
        names = [(family["vendor"], family["product"]) for family in FAMILIES]
        assert len(names) == len(set(names)) >= 60

    @pytest.mark.parametrize(
        "family", FAMILIES, ids=lambda family: f"{family['vendor']} {family['product']}"
    )
    def test_each_rests_on_a_document_and_never_on_a_record(self, family):
        assert re.search(r"MIB|RFC|IANA|Guide|Reference|manual|recog|FJDARY", family["source"])
        assert "record" not in family["source"]

    def test_the_page_names_each_object_of_health(self):
        page = (ROOT / "docs/controls/storage_type.md").read_text()
        sources = {part["source"] for family in FAMILIES for part in family.get("health", [])}
        objects = {source.replace(" MIB ", " ").split()[1] for source in sources}
        assert {name for name in objects if not re.search(rf"\b{name}\b", page)} == set()

    def test_the_names_of_places_are_those_of_the_schema(self):
        assert set(SCHEMA["$defs"]["oid"]["oneOf"][1]["enum"]) == set(rules.PLACES)


class TestOfAUser:
    def test_it_is_what_the_schema_says(self):
        jsonschema.validate([MINE], SCHEMA)

    def test_without_it_the_device_is_unknown(self):
        storage = look_at(acme())
        assert (storage.outcome, storage.role) == ("other", "unknown")

    def test_with_it_the_device_is_known(self):
        storage = look_at(acme(), MINE)
        assert (storage.outcome, storage.role, storage.vendor) == ("recognised", "san", "ACME")
        assert (storage.model, storage.version, storage.serial) == ("F-1000", "5.25", "SN1, SN2")
        assert storage.sure == "certain"
        assert storage.why[-1] == "known from: ACME-STORAGE-MIB"

    def test_it_comes_before_those_of_the_house(self):
        mine = MINE | {"known_by": [{"object_id": "e.789.2.3"}]}
        assert look_at(Agent.of("netapp-7mode"), mine).product == "Frobnicator"

    def test_an_agent_behind_an_operating_system_is_found_by_its_object(self):
        agent = Agent.of("linux")
        agent.rows |= Agent({E + "99999.5.1.0": ("4", "Frob 7")}).rows
        mine = MINE | {"known_by": [{"value": {"at": "e.99999.5.1.0", "matches": "^Frob"}}]}
        assert look_at(agent, mine).product == "Frobnicator"

    def test_the_policy_takes_it(self):
        policy = storage_type.policy_from(storage_policy(definitions=[MINE]))
        assert policy.definitions[0].product == "Frobnicator"

    def test_a_bad_one_is_one_sentence_of_the_policy(self):
        bad = changed("known_by", 1, "description", to="ACME")
        with pytest.raises(PolicyError) as caught:
            storage_type.policy_from(storage_policy(definitions=[MINE, bad]))
        assert str(caught.value) == (
            "storage_type_definitions definition 2 (Frobnicator): known_by 2: the pattern 'ACME' "
            "must begin with ^"
        )


WRONG = [
    (changed("role", to="disk"), "role must be one of"),
    (changed("vendor", to=""), "vendor must be a text"),
    (changed("vendor", to="a\nb"), "vendor must be a text"),
    (changed("known_by", to=[]), "known_by must not be empty"),
    (changed("known_by", to={"object_id": "e.1"}), "known_by must be a list"),
    (changed("known_by", 0, to={}), "known_by 1: must have one of"),
    (changed("known_by", 0, to={"sure": "likely"}), "known_by 1: must have one of"),
    (changed("known_by", 0, "object_id", to="iso.3"), "object_id must be an OID"),
    (changed("known_by", 0, "object_id", to="e.1; rm"), "object_id must be an OID"),
    (changed("known_by", 0, "object_id", to="1.3.6.1.-1"), "object_id must be an OID"),
    (changed("known_by", 0, "engine", to="789"), "engine must be an enterprise number"),
    (changed("known_by", 0, "engine", to=True), "engine must be an enterprise number"),
    (changed("known_by", 0, "sure", to="very"), "sure must be one of"),
    (changed("known_by", 0, "oid", to="e.1"), "has unknown oid"),
    (changed("model", 0, "form", to="{0.__class__}"), "form may contain"),
    (changed("model", 0, "form", to="{1}"), "pattern must have a group"),
    (changed("model", 0, "rows", to="first"), "rows must be one of"),
    (changed("model", 0, "names", to={"1": 2}), "names must be a text"),
    (changed("version", 0, "more", to=["e.1"] * 5), "more must be a list of at most 4"),
    (changed("serial", to=["e.1.0"] * 7), "serial must be a list of at most 6"),
    (changed("health", to={}), "health must be a list of at most 32"),
    (changed("health", 0, "part", to="fan"), "health 1: part must be one of system, disks,"),
    (changed("health", 0, "at", to="sysDescr.x"), "health 1: at must be an OID"),
    (changed("health", 0, "at", to="unit.type"), "health 1: at must be an OID (1.3.6..., e.789"),
    (changed("health", 0, "good", to=["1"]), "health 1: good must be a dictionary of 64"),
    (changed("health", 0, "good", to={}), "health 1: must have good values and bad or warn"),
    (changed("health", 0, "good", to={1: "ok"}), "health 1: good must be a text"),
    (changed("health", 0, "warn", to={"3": "old"}), "bad has '3', which another state has"),
    (changed("health", 0, "worn", to={}), "health 1: has unknown worn"),
    (changed("health", 0, "counts", to="disks"), "health 1: counts is for system or disks"),
    (changed("health", 1, "part", to="battery"), "health 2: counts is for system or disks"),
    (changed("health", 1, "counts", to=7), "health 2: counts must be a text"),
    (changed("health", 0, "unless", to="e.1.0"), "health 1: must be a dictionary with at"),
    (
        changed("health", 0, "unless", to={"at": "unit.type", "is": ["1"]}),
        "health 1: unless: at must be an OID (1.3.6..., e.789",
    ),
    (changed("health", 0, "unless", to={"at": "e.1.0", "is": []}), "unless: is must not be empty"),
    (changed("health", 0, "unless", to={"at": "e.1.0", "is": [1]}), "unless: is 1: is must be a"),
    (
        changed("health", 1, "unless", to={"at": "e.1.2.", "is": ["1"]}),
        "health 2: unless: at must be an object where at is one",
    ),
    (changed("rolle", to="san"), "has unknown rolle"),
    ({"vendor": "ACME"}, "lacks product, role, known_by, source"),
    ("ACME", "must be a dictionary"),
]


@pytest.mark.parametrize(("definition", "why"), WRONG, ids=[why for _one, why in WRONG])
def test_what_is_wrong_is_told(definition, why):
    with pytest.raises(ValueError, match=re.escape(why)) as caught:
        read_definitions([definition])
    assert "\n" not in str(caught.value)


@cases("value", {}, "file.yml", None, [MINE] * 101)
def test_only_a_bounded_list_of_definitions_is_one(value):
    with pytest.raises(ValueError, match="definitions must be a list of at most 100"):
        read_definitions(value)


class TestPatterns:
    @cases(
        "pattern",
        "^(a+)+$",
        "^(a|a)*$",
        "^(?:a*)*b",
        "^(a?)+",
        "^([a-z]+)*x",
        "^[a[](a+)+$",
        r"^[\]](a+)+$",
        "^a{1,200}$",
        "^(a{9}){9}",
        r"^(\w+)\1",
        "^(?=a)a",
        "^(?!.*x)",
        "^(?<=a)b",
        "^(?P<x>a)",
        "^a*a*a*a*b",
        "^.*.*" + "(?:a|a)" * 15,
        "^.*" + "(?:a|a)" * 20,
        "^" + "a?" * 30 + "b",
        "^a|.*b",
        "^(a",
        "^[a",
        "^*",
        "^a\\",
        "^\\x41",
        "^\\Aa",
        "a",
        "",
        "^" + "a" * 160,
        7,
        None,
    )
    def test_what_could_take_long_or_is_none_is_refused(self, pattern):
        with pytest.raises(ValueError, match="pattern"):
            read_definitions([changed("known_by", 1, "description", to=pattern)])

    @cases(
        "pattern",
        "^ACME",
        r"^ACME \S+ v\d+\.\d+$",
        "^(?:A|B) [^,]+, ID: ",
        r"^.*\bACME\b",
        r"^a[\]\[]b?",
    )
    def test_what_people_need_is_allowed(self, pattern):
        assert read_definitions([changed("known_by", 1, "description", to=pattern)])


class TestMakers:
    """Whose an agent is, where no family is known: never "no storage" by a guess."""

    @cases(
        "number vendor role",
        *((36366, "Kaminario", "san"), (44738, "Asustor", "nas")),
        *((47421, "Cohesity", "backup"), (119, "NEC", "unknown"), (19046, "Lenovo", "unknown")),
        *((1347, "Kyocera", "not_storage"), (30065, "Arista", "not_storage")),
        *((476, "Vertiv", "not_storage"), (99999, None, "unknown")),
    )
    def test_by_its_enterprise_number(self, number, vendor, role):
        rows = {rules.OBJECT: ("6", f"{E}{number}.1.2"), rules.DESCRIPTION: ("4", "something")}
        storage = look_at(Agent(rows))
        assert (storage.outcome, storage.vendor, storage.role) == ("other", vendor, role)
        if role != "not_storage":
            named = f"{vendor} (enterprise {number})" if vendor else f"enterprise {number}"
            assert storage.why[0] == f"an agent of {named}, product unknown"

    def test_no_number_is_there_twice(self):
        numbers = [line.split()[0] for line in enterprises._MAKERS.splitlines()]
        assert len(numbers) == len(set(numbers))

    def test_what_was_asked_and_answered_is_told_and_kept(self):
        rows = {rules.OBJECT: ("6", E + "99999.1")}
        rows |= {f"{E}99999.2.{number}.0": ("4", f"value {number}") for number in range(1, 300)}
        rows[E + "100000.1.0"] = ("4", "of another vendor")
        host = Filers().agent("10.0.0.9", Agent(rows))
        storage = storage_agent.identify_agent(host, TARGET)
        assert f"below {E}99999 it has 200 rows or more" in storage.why
        assert f"{E}99999.2.1.0 = value 1" in storage.why
        kept = [key for key in storage.evidence if "own subtree" in key]
        assert kept and set(kept) <= set(host.evidence)
        assert "100000.1.0" not in " ".join(storage.why)


class TestRows:
    """The first row of a table is not the table."""

    def ontap(self, *models: str) -> Agent:
        agent = Agent.of("ontap-nodes")
        agent.rows = {key: row for key, row in agent.rows.items() if key[7:9] != (1, 25)}
        column = E + "789.1.25.2.1.4."
        agent.rows |= Agent(
            {f"{column}{at}": ("4", model) for at, model in enumerate(models, 1)}
        ).rows
        return agent

    def test_nodes_that_differ_are_all_told(self):
        assert look_at(self.ontap("FAS2720", "AFF-A250")).model == "FAS2720, AFF-A250"

    def test_rows_that_differ_tell_nothing_of_the_whole(self):
        mine = MINE | {"serial": ["e.99999.3.1."]}
        assert look_at(acme(), mine).serial is None

    def test_rows_that_agree_tell_it(self):
        agent = acme()
        agent.rows |= Agent({E + "99999.3.1.2": ("4", "SN1")}).rows
        assert look_at(agent, MINE | {"serial": ["e.99999.3.1."]}).serial == "SN1"

    def test_a_table_without_end_tells_nothing(self):
        agent = acme()
        many = {f"{E}99999.3.1.{number}": ("4", "SN1") for number in range(1, 100)}
        agent.rows |= Agent(many).rows
        assert look_at(agent, MINE | {"serial": ["e.99999.3.1."]}).serial is None

    def test_the_chassis_counts_wherever_its_row_is(self):
        agent = Agent.of("mds")
        entity = {
            "5.1": ("2", "9"), "5.7": ("2", "3"), "5.9": ("2", "10"),
            "11.1": ("4", "MODULE1"), "11.7": ("4", "CHASSIS7"), "13.1": ("4", "a module"),
            "13.7": ("4", "DS-C9148"),
        }  # fmt: skip
        agent.rows |= Agent({rules.ENTITY + oid: row for oid, row in entity.items()}).rows
        storage = look_at(agent)
        assert (storage.model, storage.serial) == ("DS-C9148", "CHASSIS7")

    @cases(
        "text told",
        *(('"SN1"', "SN1"), ("'SN1'", "SN1"), ("SN1####", "SN1"), ("  SN1  ", "SN1")),
        *(("0000000012345", "12345"), ("2102350HYS10H1000010", "2102350HYS10H1000010")),
        *(("AB‐12", "AB-12"), ("0000000000", None), ("----", None)),
    )
    def test_a_value_is_told_without_what_fills_its_field(self, text, told):
        agent = Agent({rules.OBJECT: ("6", E + "99999.1"), E + "99999.9.0": ("4", text)})
        assert look_at(agent, MINE | {"serial": ["e.99999.9.0"]}).serial == told

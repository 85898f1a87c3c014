"""The servers, started once for all tests, and what the control says of them."""

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tests/unit")]

import parts  # noqa: E402
from ansible.module_utils.hostproof.collect.host import LiveHost  # noqa: E402
from ansible.module_utils.hostproof.evaluate import audit  # noqa: E402
from ansible.module_utils.hostproof.evaluate.finding import Finding  # noqa: E402
from default_policies import default_policy  # noqa: E402
from jsonschema import Draft202012Validator  # noqa: E402

Findings = dict[str, dict[str, Finding]]

#: Longer than any test: no round of the background is among the statements.
SELDOM = {"background_validation": True, "background_validation_millis": 3600000}


@pytest.fixture(scope="session")
def folder() -> Iterator[Path]:
    """One that the plain account reaches."""
    with parts.folder() as path:
        yield path


@pytest.fixture(scope="session")
def home(folder: Path) -> Path:
    return parts.unpack(folder)


@pytest.fixture(scope="session")
def database(folder: Path) -> Iterator[parts.Database]:
    with parts.database(folder / "database") as instance:
        yield instance


def add_sources(server: parts.WildFly, port: int, at: list[str] | None = None) -> None:
    """One that validates in the foreground, one in the background, and one that does not say."""
    server.add("FG", port, at, validate_on_match=True)
    server.add("BG", port, at, **SELDOM)
    server.add("UNSET", port, at)


@pytest.fixture(scope="session")
def shop(folder: Path, home: Path, database: parts.Database) -> Iterator[parts.WildFly]:
    """A standalone server that was started from a file of its own; standalone.xml is nobody's."""
    with parts.standalone(home, folder / "standalone/base", "shop.xml") as server:
        add_sources(server, database.port)
        yield server


@pytest.fixture(scope="session")
def two(folder: Path, home: Path, database: parts.Database) -> Iterator[parts.WildFly]:
    """A domain with two servers. FG of server-one validates on match, that of server-three not."""
    with parts.domain(home, folder / "domain/base") as server:
        add_sources(server, database.port, ["profile", "default"])
        server.add("FG", database.port, ["profile", "other"], **SELDOM)
        parts.start_servers(server)
        yield server


def policy_of(server: parts.WildFly, **changes: Any) -> dict[str, Any]:
    return default_policy("pool_validation") | {"servers": [server.policy()]} | changes


@pytest.fixture
def judge() -> Callable[..., Findings]:
    """judge(server, **policy): what the control finds on it now, by check and by subject."""

    schema = json.loads((ROOT / "docs/finding.schema.json").read_text())
    finding = {"$defs": schema["$defs"], "$ref": "#/$defs/finding"}
    validate_finding = Draft202012Validator(finding).validate

    def look(server: parts.WildFly, **changes: Any) -> Findings:
        findings: Findings = {}
        policies = {"pool_validation": policy_of(server, **changes)}
        for result in audit.judge_host(LiveHost(), policies):
            validate_finding(result.as_dict())
            subject = result.title.rpartition(": ")[0]
            findings.setdefault(result.check.removeprefix("pool_validation."), {})[subject] = result
        return findings

    return look


@pytest.fixture
def validations(database: parts.Database) -> Callable[..., int]:
    """validations(server, pool): how many statements of its check four checkouts bring to the
    database, which is what the pool really does; ``name`` is whose, where that is not its own."""

    def count(server: parts.WildFly, pool: str, at: str = "", name: str = "") -> int:
        # The pool may make its connection first, and checks no new one.
        server.checkouts(f"java:/{pool}", 1, server=at)
        before = len(database.statements())
        answers = server.checkouts(f"java:/{pool}", 4, server=at)
        assert not any(isinstance(answer, str) for answer in answers), answers
        return database.statements()[before:].count(f"select 'check {name or pool}'")

    return count

"""Apply and revert of pool_validation against a real server, with a journal of the test's own.

The steps are those of the modules apply_control and revert_control.
"""

from pathlib import Path
from typing import Any

import parts
import pytest
from ansible.module_utils.hostproof.apply import transaction as apply
from ansible.module_utils.hostproof.apply.change import Plan
from ansible.module_utils.hostproof.apply.journal import Journal
from ansible.module_utils.hostproof.apply.writer import Writer
from ansible.module_utils.hostproof.collect.host import LiveHost
from ansible.module_utils.hostproof.controls.registry import CONTROLS, planner
from conftest import policy_of

NAME = "pool_validation"
WANTED = {
    "pool": "FG",
    "server": "shop",
    "validation": "background",
    "millis": 3600000,
    "sorter": "org.jboss.jca.adapters.jdbc.extensions.postgres.PostgreSQLExceptionSorter",
    "flush": "EntirePool",
}


def plan(server: parts.WildFly, **changes: Any) -> Plan:
    settings = {"pools": [WANTED], "round_trip_ms": 6, **changes}
    policy = CONTROLS[NAME].policy_from(policy_of(server, **settings))
    return apply.plan_of(CONTROLS[NAME].read, planner(NAME), LiveHost(), policy)


class Hand:
    """What changes a host, with a journal in a directory of the test."""

    def __init__(self, folder: Path) -> None:
        self._writer = Writer()
        self._journal = Journal(self._writer, str(folder / "state"))

    def apply(self, planned: Plan) -> None:
        apply.refuse(planned, NAME)
        apply.apply_plan(planned, NAME, self._journal, self._writer)

    def revert(self) -> int:
        transactions = self._journal.transactions(NAME)
        apply.refuse_if_edited_since(transactions, overwrite=False)
        apply.refuse_in_use(transactions)
        apply.revert(transactions, self._journal, self._writer)
        return len(transactions)


@pytest.fixture
def hand(tmp_path: Path) -> Hand:
    return Hand(tmp_path)


def stored(server: parts.WildFly) -> bytes:
    return (server.base / "configuration/shop.xml").read_bytes()


def state(server: parts.WildFly) -> str:
    return str(server.tell("read-attribute", [], name="server-state"))


def test_the_background_is_refused_and_nothing_is_changed(shop, hand, validations):
    before = stored(shop)
    with pytest.raises(apply.Refused, match="saves 6 ms a request; after a failover up to 5 req"):
        hand.apply(plan(shop))
    assert (stored(shop), state(shop)) == (before, "running")
    assert validations(shop, "FG") == 4


def test_a_plan_alone_changes_nothing(shop):
    """What check mode does."""
    before = stored(shop)
    assert [change.name for change in plan(shop, allow_stale_connections=True).changes]
    assert (stored(shop), state(shop)) == (before, "running")


def test_with_a_reload_the_pool_does_as_wanted_and_is_put_back(shop, hand, judge, validations):
    before = stored(shop)
    options = {"allow_stale_connections": True, "allow_reload": True}
    hand.apply(plan(shop, **options))
    assert state(shop) == "running" and stored(shop) != before
    assert validations(shop, "FG") == 0
    assert str(judge(shop)["validated"]["shop FG"].running).startswith("background")
    assert plan(shop, **options).changes == []  # the second apply
    assert hand.revert() == 1
    assert (stored(shop), state(shop)) == (before, "running")
    assert validations(shop, "FG") == 4
    assert hand.revert() == 0


def test_without_a_reload_it_waits_and_is_put_back(shop, hand, judge, validations):
    before = stored(shop)
    planned = plan(shop, allow_stale_connections=True)
    assert "works by its old values until it is reloaded" in " ".join(planned.pending)
    hand.apply(planned)
    assert state(shop) == "reload-required"
    assert judge(shop)["running"]["shop"].status == "warn"
    assert validations(shop, "FG") == 4
    assert plan(shop, allow_stale_connections=True).changes == []  # the second apply
    assert hand.revert() == 1
    assert stored(shop) == before
    shop.reload()
    assert validations(shop, "FG") == 4


def test_another_s_change_that_waits_is_not_brought_along(shop, hand):
    shop.write("UNSET", use_fast_fail=True)
    with pytest.raises(apply.Refused, match="reload-required: a reload would bring others'"):
        hand.apply(plan(shop, allow_stale_connections=True, allow_reload=True))
    assert state(shop) == "reload-required"
    shop.write("UNSET", use_fast_fail=False)
    shop.reload()


def test_a_batch_of_which_one_operation_fails_changes_nothing(shop, hand):
    before = stored(shop)
    planned = plan(shop, allow_stale_connections=True, allow_reload=True)
    (change,) = planned.changes
    *first, last = change.make[0].argv
    broken = change.make[0]._replace(argv=(*first, last.replace("value=EntirePool", "value=No")))
    change = change._replace(make=(broken, *change.make[1:]))
    with pytest.raises(apply.NotGranted):
        hand.apply(planned._replace(changes=[change]))
    assert (stored(shop), state(shop)) == (before, "running")

#!/usr/bin/env python3
"""What validation costs a request on a real WildFly, and what each way lets through.

Starts WildFly, PostgreSQL, and a proxy that holds each request to the database for 6 ms, all of its
own (tests/pools/parts.py). An application takes a connection, asks one trivial statement, and gives
it back: p50 and p99 in ms with validation in the foreground, in the background, with neither set,
and after the revert of what pool_validation's apply made of the foreground. The ways take turns in
rounds, so that other work on this machine disturbs them alike. Then every session of a pool is
killed, and 20 requests follow: how many got a dead connection. --requests N in each round.

The same is measured without any application, too, as the probe "pool" does (pool_latency): the
checkout as jboss-cli sees it, less what it takes anyway.

Expected: the p50 of the background is lower than that of the foreground by a round trip that was
measured in the same run (a statement's p50), less a tenth of it; unset and reverted are the
foreground's within half of one, and what was applied is the background's; after the kill nothing
fails in the foreground, and something in the background. jboss-cli sees the checkout of the
foreground within a third of what the application sees, and of the background less than a third of
the round trip.
"""

import argparse
import sys
import tempfile
from pathlib import Path
from statistics import median

import ansible.module_utils

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / name) for name in ("tests", "tests/pools", "tests/unit")]
sys.path.append(str(ROOT / "plugin_utils"))
ansible.module_utils.__path__.append(str(ROOT / "module_utils"))

import parts  # noqa: E402
from ansible.module_utils.hostproof.apply import transaction as apply  # noqa: E402
from ansible.module_utils.hostproof.apply.journal import Journal  # noqa: E402
from ansible.module_utils.hostproof.apply.writer import Writer  # noqa: E402
from ansible.module_utils.hostproof.collect.host import LiveHost  # noqa: E402
from ansible.module_utils.hostproof.controls.latency.measurement import pool_checkouts  # noqa: E402
from ansible.module_utils.hostproof.controls.registry import CONTROLS, planner  # noqa: E402
from default_policies import default_policy  # type: ignore[import-not-found]  # noqa: E402
from judging import MET, NOT_MET, Score  # noqa: E402
from machines.needs import finish  # noqa: E402

NAME = "pool_validation"
ROUNDS = 5
AFTER = 20
#: Checkouts that the probe times of each pool, and the seconds that they may take.
TESTED, SECONDS = 150, 60.0
#: Longer than the run: no round of the background repairs anything.
SELDOM = 3600000
SQL = "select 42"
SORTER = "org.jboss.jca.adapters.jdbc.extensions.novendor.NullExceptionSorter"
FRONT, BEHIND, UNSET = "foreground", "background", "unset"

Timings = dict[str, list[list[float]]]


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--requests", type=int, default=60, metavar="N")
    number = parser.parse_args().requests
    parts.provide()
    with (
        parts.folder() as folder,
        parts.database(folder / "database") as database,
        parts.delayed(database.port, folder / "proxy") as port,
        parts.standalone(parts.unpack(folder), folder / "standalone/base", "shop.xml") as server,
    ):
        server.add(FRONT, port, validate_on_match=True)
        server.add(UNSET, port)
        server.add(BEHIND, port, background_validation=True, background_validation_millis=SELDOM)
        server.add("changed", port, validate_on_match=True)
        timings = measure(server, [FRONT, BEHIND, UNSET], number)
        with changed(server):
            timings["applied"] = measure(server, ["changed"], number)["changed"]
        timings["reverted"] = measure(server, ["changed"], number)["changed"]
        print_table(timings)
        score = Score()
        judge(timings, score)
        judge_outside(server, timings, score)
        killed(server, database, score)
    print(score.summary())
    return score.exit_code()


def measure(server: parts.WildFly, pools: list[str], number: int) -> Timings:
    """Milliseconds of the checkout and of the statement by pool, of all rounds but the first."""
    timings: Timings = {pool: [] for pool in pools}
    for turn in range(ROUNDS + 1):
        for pool in pools:
            answers = server.checkouts(f"java:/{pool}", number, SQL)
            failed = [answer for answer in answers if isinstance(answer, str)]
            if failed:
                raise RuntimeError(f"{pool}: {failed[0]}")
            if turn:
                timings[pool] += [answer for answer in answers if not isinstance(answer, str)]
    return timings


class changed:  # noqa: N801 - reads as the statement that it is
    """The background for the pool "changed", by the control's apply; its revert at the end."""

    def __init__(self, server: parts.WildFly) -> None:
        self._server = server
        self._folder = tempfile.TemporaryDirectory()
        self._writer = Writer()
        self._journal = Journal(self._writer, str(Path(self._folder.name, "state")))

    def __enter__(self) -> None:
        pool = {"pool": "changed", "server": "shop", "validation": BEHIND, "millis": SELDOM}
        policy = default_policy(NAME) | {
            "servers": [self._server.policy()],
            "pools": [{**pool, "sorter": SORTER}],
            "allow_reload": True,
            "allow_stale_connections": True,
        }
        read = CONTROLS[NAME].read
        plan = apply.plan_of(read, planner(NAME), LiveHost(), CONTROLS[NAME].policy_from(policy))
        apply.refuse(plan, NAME)
        apply.apply_plan(plan, NAME, self._journal, self._writer)

    def __exit__(self, *problem: object) -> None:
        apply.revert(self._journal.transactions(NAME), self._journal, self._writer)
        self._folder.cleanup()


def print_table(found: Timings) -> None:
    form = "  {:<12}" + "{:>10}" * 6
    print(f"ms; the proxy holds a request for {parts.DELAY_MS} ms")
    print(form.format("", "checkout", "", "statement", "", "request", ""))
    print(form.format("", *("p50", "p99") * 3))
    for name, rows in found.items():
        columns = ([row[0] for row in rows], [row[1] for row in rows], [sum(row) for row in rows])
        cells = [each for column in columns for each in (median(column), high(column))]
        print(form.format(name, *(f"{cell:.2f}" for cell in cells)))


def high(values: list[float]) -> float:
    """The p99."""
    return sorted(values)[min(len(values) - 1, int(len(values) * 0.99))]


def judge(found: Timings, score: Score) -> None:
    p50 = {name: median(sum(row) for row in rows) for name, rows in found.items()}
    trip = median(row[1] for row in found[BEHIND])
    won = p50[FRONT] - p50[BEHIND]
    print(f"  one round trip is {trip:.2f} ms; the background saves {won:.2f} ms a request")
    expect(score, "the background saves a round trip of the same run", won >= 0.9 * trip)
    for name, like in ((UNSET, FRONT), ("applied", BEHIND), ("reverted", FRONT)):
        met = abs(p50[name] - p50[like]) < trip / 2
        expect(score, f"{name} is the {like}", met)


def outside(server: parts.WildFly, pool: str) -> float:
    """Milliseconds of a checkout (median), as the probe times it; below zero is noise."""
    options = {"data_source": pool, "samples": TESTED, "xa": False}
    options.update((key, server.policy()[key]) for key in ("home", "user", "controller", "java"))
    window = pool_checkouts.window(options, SECONDS)
    assert window.p50 is not None
    return (window.p50 - window.conditions["trivial_p50_us"]) / 1000


def judge_outside(server: parts.WildFly, found: Timings, score: Score) -> None:
    print(f"The checkout as jboss-cli sees it, {TESTED} of each pool (p50, ms):")
    checkouts = {pool: outside(server, pool) for pool in (FRONT, UNSET, BEHIND)}
    for pool, checkout in checkouts.items():
        print(f"  {pool:<12} {checkout:>10.2f}")
    trip = median(row[1] for row in found[BEHIND])
    for pool in (FRONT, UNSET):
        seen = median(row[0] for row in found[pool])
        near = abs(checkouts[pool] - seen) < seen / 3
        expect(score, f"jboss-cli sees the checkout of {pool} as the application does", near)
    expect(score, "it sees no round trip in the background", checkouts[BEHIND] < trip / 3)


def killed(server: parts.WildFly, database: parts.Database, score: Score) -> None:
    """Kills all sessions, and sees what requests get that come one after the other."""
    print(f"Requests that failed of {AFTER}, after every session was killed:")
    failures = {}
    for pool in (FRONT, UNSET, BEHIND):
        server.checkouts(f"java:/{pool}", 1, SQL)
        sessions = database.kill_sessions()
        answers = server.checkouts(f"java:/{pool}", AFTER, SQL)
        failures[pool] = sum(isinstance(answer, str) for answer in answers)
        print(f"  {pool:<12} {failures[pool]:>3}  ({sessions} sessions of all pools were killed)")
    expect(
        score,
        "the foreground hands out no dead connection",
        failures[FRONT] == failures[UNSET] == 0,
    )
    expect(score, "the background does", failures[BEHIND] > 0)


def expect(score: Score, what: str, met: bool) -> None:
    score.expect(what, MET if met else NOT_MET)


if __name__ == "__main__":
    finish(main)

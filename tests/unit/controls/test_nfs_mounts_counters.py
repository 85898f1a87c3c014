"""NFS counters that lie: each operation counts for itself, and what ran over tells nothing.

The kernel prints its sums as unsigned (net/sunrpc/stats.c, _print_rpc_iostats: "%llu" of a
ktime_t): what fell below 0 stands there as a number close to 2**64. ``om_ntrans`` is below
``om_ops`` where requests ended before they were sent (a task that was killed), so a sum over
operations would hide what another operation sent twice.
"""

from typing import NamedTuple

import pytest
from ansible.module_utils.hostproof.controls.nfs_mounts.control import CONTROL as nfs_mounts
from ansible.module_utils.hostproof.evaluate.finding import ERROR, FAIL, PASS, SKIP, WARN
from nfs_packs import MOUNTSTATS, SAMPLE, listed, nfs_policy, ready_host
from stories import titled

UNDERFLOW = 2**64


COLUMNS = ("requests", "sent", "timeouts", "out", "in", "queue", "rtt", "execute", "errors")
#: Two readings of each operation, as COLUMNS names their numbers.
READINGS = {
    "GETATTR": [
        (5000, 5000, 0, 640000, 560000, 20, 900, 1000, 0),
        (5040, 5000, 0, 640000, 560000, 20, 900, 1000, 0),
    ],
    "READ": [
        (5000, 5000, 0, 800000, 40960000, 500, 15000, 15500, 0),
        (6000, 6000, 0, 960000, 49152000, 600, 19000, 19600, 0),
    ],
    "WRITE": [(), (6000, 6000, 0, 960000, 49152000, 600, 115000, 115600, 0)],
}


class Case(NamedTuple):
    """What stands in the two readings in place of a line, and the truth about it."""

    line: str
    before: str
    after: str
    check: str
    truth: str
    because: str


def op(name: str, turn: int, **changes: int) -> str:
    """The line of an operation in the first or second reading."""
    numbers = dict(zip(COLUMNS, READINGS[name][turn], strict=True)) | changes
    return f"{name:>12}: " + " ".join(map(str, numbers.values()))


def of(name: str, before: dict[str, int], after: dict[str, int], *more: str) -> tuple[str, ...]:
    return name, op(name, 0, **before), "\n".join((op(name, 1, **after), *more))


SENT_TWICE = op("READ", 1, sent=6060, timeouts=60)
SMALL = dict(zip(COLUMNS, (17, 17, 0, 960, 49152, 6, 19, 19, 0), strict=True))
CASES = {
    name: Case(*values)
    for name, values in titled(
        (
            "killed requests of GETATTR do not hide what READ sent twice",
            of("GETATTR", {}, {}, SENT_TWICE),
            ("retransmissions", FAIL),
            ("60 of READ's 1000 requests were sent again; netted with GETATTR it is 20",),
            "nothing was sent twice",
            (*of("GETATTR", {}, {}), "retransmissions", PASS),
            ("requests that ended before they were sent are no retransmissions",),
            "the wait for the answer fell below 0",
            (*of("READ", {}, {"rtt": UNDERFLOW - 250}), "latency", ERROR),
            ("2**64-250 ms over 1000 requests is no wait of 18 trillion years",),
            "it was below 0 before and is above now",
            (*of("READ", {"rtt": UNDERFLOW - 90}, {"rtt": 4000}), "latency", ERROR),
            ("by how much it grew cannot be told",),
            "it was below 0 in both",
            (*of("READ", {"rtt": UNDERFLOW - 9000}, {"rtt": UNDERFLOW - 1000}), "latency", ERROR),
            ("a clock that was set back once may have been set back again",),
            "the wait for the answer went backwards",
            (*of("READ", {"rtt": 4294967000}, {"rtt": 3000}), "latency", ERROR),
            ("a sum of 32 bits ran over",),
            "the wait in the queue fell below 0, the answer is told",
            (*of("READ", {}, {"queue": UNDERFLOW - 3}), "latency", PASS),
            ("READ took 4 ms, whatever the queue says",),
            "the wait in the queue fell below 0",
            (*of("READ", {}, {"queue": UNDERFLOW - 3}), "client_queue", ERROR),
            ("it would be a queue of 18 trillion years",),
            "one operation is slow, the other not told",
            (*of("READ", {}, {"rtt": UNDERFLOW - 250}, op("WRITE", 1)), "latency", FAIL),
            ("WRITE took 100 ms: what is told is enough for a fail",),
            "transmissions fell below 0",
            (*of("READ", {}, {"sent": UNDERFLOW - 1}), "retransmissions", ERROR),
            ("how often READ was sent is not told",),
            "transmissions of another operation went backwards",
            (*of("GETATTR", {"sent": 4294967290}, {"sent": 34}), "retransmissions", ERROR),
            ("what is left of the sum is a lower bound",),
            "the bytes fell below 0",
            (*of("READ", {}, {"in": UNDERFLOW - 77}), "latency", PASS),
            ("the wait is told, the speed is not",),
            "requests went backwards",
            (*of("READ", {}, SMALL), "latency", SKIP, "another mount than before"),
        )
    )
}


def judged(case: Case) -> dict[str, object]:
    machine = ready_host()
    first, second = machine.samples[SAMPLE][f"file:{MOUNTSTATS}"]
    replaced = {line.split(":")[0].strip() for line in case.after.split("\n")}

    def edited(text: str, new: str) -> str:
        kept = [
            line
            for line in text.split("\n")
            if line.split(":")[0].strip()
            not in {row.split(":")[0].strip() for row in new.split("\n")}
        ]
        return "\n".join(kept).rstrip("\n") + "\n" + new + "\n\n"

    assert case.line in replaced
    machine.sampled(
        SAMPLE, f"file:{MOUNTSTATS}", edited(first, case.before), edited(second, case.after)
    )
    policy = nfs_mounts.policy_from(nfs_policy(**listed()))
    findings = nfs_mounts.judge(nfs_mounts.read(machine, policy), policy)
    return {
        one.check.partition(".")[2]: one for one in findings if one.check.startswith("nfs_mounts.")
    }


@pytest.mark.parametrize("name", CASES)
def test_counters_that_lie(name):
    case = CASES[name]
    finding = judged(case)[case.check]
    assert finding.status == case.truth, (case.because, finding.why)
    output = f"{finding.why} {finding.in_use}"
    assert "18446744" not in output and "e+" not in output


def test_the_report_says_what_is_not_told():
    finding = judged(CASES["the wait for the answer fell below 0"])["latency"]
    assert "READ (rtt_ms)" in finding.why and "below 0" in finding.why


def test_other_statuses_are_not_touched():
    """The tables above change one thing: the host without the change passes all three checks."""
    machine = ready_host()
    policy = nfs_mounts.policy_from(nfs_policy(**listed()))
    statuses = {
        one.check: one.status for one in nfs_mounts.judge(nfs_mounts.read(machine, policy), policy)
    }
    for check in ("latency", "client_queue", "retransmissions"):
        assert statuses[f"nfs_mounts.{check}"] == PASS
    assert WARN not in statuses.values()

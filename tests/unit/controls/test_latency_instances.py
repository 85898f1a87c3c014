"""Running databases that latency asks: parameters of LOBs, prefetch, and sessions that block."""

import re
from collections.abc import Callable

import latency_packs
import oracle_packs
import pytest
from ansible.module_utils.hostproof.controls.latency.parsers import wait_chains
from ansible.module_utils.hostproof.evaluate.finding import Finding
from ansible.module_utils.hostproof.parsers.oracle.sqlplus_rows import Row
from cases import cases
from packs import FIXTURES, Machine

Judge = Callable[..., dict[str, list[Finding]]]

#: Seconds that each session has waited: the article does not print them.
IN_WAIT = "2"


@pytest.fixture
def judge(findings_of) -> Judge:
    """judge(machine, **changes of the policy): findings of latency by check."""
    policy = latency_packs.latency_policy
    return lambda machine, **changes: findings_of("latency", machine, policy(**changes))


def database(version: str = "19.0.0.0.0", **running: str | None) -> Machine:
    return oracle_packs.story(version, **running).command("uname -s", "Linux\n")


def row(
    session: str, blocker: str | None, event: str, signature: str, seconds: str = IN_WAIT
) -> str:
    """As the query prints one: ``session`` and ``blocker`` are "SID,SERIAL"."""
    own = session.replace(",", "|")
    other = "FALSE|\\0|\\0|\\0" if blocker is None else "TRUE|1|" + blocker.replace(",", "|")
    return f"|chain|1|{own}|{other}|{signature}|{event}|{seconds}|"


def of_the_article() -> list[str]:
    """The rows that the article prints of v$wait_chains, as the query of the product prints them.

    Its columns are CHAIN_SIGNATURE (50), WHO (15), WAIT_EVENT_TEXT (28), BLOCKED_BY (15)."""
    lines = (FIXTURES / "latency/wait-chains-seed.txt").read_text().splitlines()
    rows = []
    for line in lines[2:]:
        signature, who, event, blocked_by = (
            line[begin:end].strip() for begin, end in ((0, 50), (51, 66), (67, 95), (96, 111))
        )
        rows.append(row(who, None if blocked_by == "," else blocked_by, event, signature))
    return rows


class TestParameters:
    def test_a_19c_database_with_defaults_passes(self, judge):
        findings = judge(database())
        for check in ("lob_reclaim_event", "lob_securefile", "prefetch", "wait_chains"):
            assert [finding.status for finding in findings[check]] == ["pass"], check
            assert findings[check][0].title.startswith("ORCL: ")
        assert findings["lob_securefile"][0].in_use == "PREFERRED (set, COMPATIBLE 19.0.0)"
        assert findings["lob_securefile"][0].evidence == ("command:" + oracle_packs.QUERY,)

    def test_event_44951_of_the_running_instance(self, judge):
        event = "44951 TRACE NAME CONTEXT FOREVER, LEVEL 1024"
        (finding,) = judge(database("11.2.0.3.0", event=event))["lob_reclaim_event"]
        assert finding.status == "warn" and finding.in_use == "level 1024"
        assert "at 16, 32 and 512 the test took longer than without it" in finding.why
        (finding,) = judge(database("11.2.0.3.0", event=event.replace("1024", "3")))[
            "lob_reclaim_event"
        ]
        assert (finding.status, finding.in_use) == ("pass", "level 3")

    def test_one_event_of_several(self, judge):
        event = "10949 trace name context forever, 44951 trace name context forever, level 512"
        (finding,) = judge(database("11.2.0.3.0", event=event))["lob_reclaim_event"]
        assert finding.in_use == "level 512"

    def test_securefiles_by_release(self, judge):
        (finding,) = judge(database(db_securefile="NEVER"))["lob_securefile"]
        assert (finding.status, finding.in_use) == ("warn", "NEVER (set, COMPATIBLE 19.0.0)")
        (finding,) = judge(database("11.2.0.3.0"))["lob_securefile"]
        assert finding.status == "skip"
        assert "Before 12.1 BasicFile LOBs are the default" in finding.why

    def test_hidden_parameters_of_prefetch(self, judge):
        (finding,) = judge(database(_db_block_prefetch_limit="0", _db_block_prefetch_quota="0"))[
            "prefetch"
        ]
        assert finding.status == "warn"
        assert finding.why == "_db_block_prefetch_limit, _db_block_prefetch_quota are 0."

    def test_a_recording_without_these_parameters_is_unknown(self, judge):
        machine = database()
        text = machine.commands[oracle_packs.QUERY].stdout
        machine.command(oracle_packs.QUERY, text.replace("|running|event|\\0|\n", ""))
        (finding,) = judge(machine)["lob_reclaim_event"]
        assert finding.status == "error" and "recorded without these parameters" in finding.why

    def test_nobody_is_asked_where_the_policy_forbids_it(self, judge):
        machine = database().deny("command:" + oracle_packs.QUERY, "command:" + oracle_packs.CHAINS)
        findings = judge(machine, query_instances=False)
        assert [finding.status for finding in findings["lob_reclaim_event"]] == ["skip"]
        found = [finding.why for finding in findings["wait_chains"]]
        assert found == ["latency_query_instances is false."]
        assert [finding.status for finding in judge(machine)["wait_chains"]] == ["error"]
        assert [finding.status for finding in judge(machine)["lob_reclaim_event"]] == ["error"]


class TestWaitChains:
    def judge_rows(self, judge: Judge, *rows: str, version: str = "19.0.0.0.0") -> Finding:
        machine = database(version).command(oracle_packs.CHAINS, oracle_packs.chains(*rows))
        (finding,) = judge(machine)["wait_chains"]
        return finding

    @cases("version status", ("11.1.0.6.0", "pass"), ("10.2.0.5.0", "skip"))
    def test_the_first_release_with_the_view(self, judge, version, status):
        assert self.judge_rows(judge, version=version).status == status

    def test_the_final_blocker_of_the_article(self, judge):
        """Six sessions wait for space, the seventh reads one block."""
        rows = of_the_article()
        assert len(rows) == 7
        finding = self.judge_rows(judge, *rows)
        assert finding.status == "warn"
        assert finding.why == (
            "6 sessions wait for session 160,25, which waits for 'db file sequential read': "
            "'db file sequential read'<='enq: HW - contention'."
        )
        assert finding.fix.startswith("compare with latency.disk and latency.nfs")
        assert finding.values == {"waiting_sessions": 6, "longest_wait_seconds": 2.0}

    def test_redo_is_at_the_end_with_cache(self, judge):
        """The chain 'log file parallel write'<='log buffer space'<='buffer busy waits'."""
        signature = "'log file parallel write'<='log buffer space'<='buffer busy waits'"
        rows = [
            row("30,1", "20,1", "buffer busy waits", signature, "12"),
            row("20,1", "10,1", "log buffer space", signature),
            row("10,1", None, "log file parallel write", signature),
        ]
        finding = self.judge_rows(judge, *rows)
        assert finding.status == "warn"
        assert "2 sessions wait for session 10,1, which waits for 'log file" in finding.why
        assert finding.fix == (
            "check what the log writes take: see latency.redo_waits and latency.redo_members"
        )

    def test_few_that_wait_for_a_moment_pass(self, judge):
        rows = [row(f"{sid},1", "99,7", "enq: TX - row lock contention", "x") for sid in (1, 2)]
        finding = self.judge_rows(judge, *rows)
        assert finding.status == "pass"
        assert finding.in_use == "2 sessions wait for 99,7, at most 2 s (x)"
        assert self.judge_rows(judge).in_use == "no session is blocked"

    def test_a_minute_fails_and_an_idle_holder_is_named(self, judge):
        rows = [
            row("1,1", "99,7", "enq: TX - row lock contention", "x", "61"),
            row("99,7", None, "SQL*Net message from client", "x", "300"),
        ]
        finding = self.judge_rows(judge, *rows)
        assert finding.status == "fail" and "holds a lock and is idle" in finding.fix

    def test_a_cycle_fails(self, judge):
        rows = [row("1,1", "2,1", "a", "x", "0"), row("2,1", "1,1", "a", "x", "0")]
        finding = self.judge_rows(judge, *rows)
        assert finding.status == "fail"
        assert finding.why == "2 sessions wait in a cycle with session 1,1: x."

    def test_what_is_no_row_is_unknown(self, judge):
        for bad in ("|chain|1|2|", row("1,1", "x,1", "a", "x"), row("1,1", None, "a", "x", "-1")):
            assert self.judge_rows(judge, bad).status == "error"

    def test_text_of_the_database_is_bounded(self):
        fields = ("1", "1", "1", "FALSE", None, None, None, "\x1b[2J" + "y" * 999, "a\nb", None)
        (link,) = wait_chains.parse([Row("chain", fields)])
        assert re.fullmatch(r"\?\[2Jy+", link.signature) and len(link.signature) == 200
        assert (link.event, link.seconds) == ("a?b", None)

    def test_before_11_1_there_is_no_such_view(self, judge):
        assert self.judge_rows(judge, version="10.2.0.5.0").status == "skip"

"""What apply would do to listener.ora and the listener: the edit, its guards, and only once."""

from typing import Any

import listener_packs
import pytest
from ansible.module_utils.hostproof.apply.change import CommandChange, FileChange, Plan
from ansible.module_utils.hostproof.controls.listener_rate_limit.control import (
    CONTROL as listener_rate_limit,
)
from ansible.module_utils.hostproof.controls.registry import planner
from ansible.module_utils.hostproof.errors import HostproofError
from ansible.module_utils.hostproof.parsers.oracle import oracle_net
from cases import cases
from listener_packs import (
    ADMIN,
    AGENT,
    FILE,
    GRID,
    HOME,
    LIMITED,
    LISTENER_ORA,
    OPEN,
    ListenerMachine,
    linux,
    ready_host,
    wants,
)


def plan(machine: ListenerMachine, **policy: Any) -> Plan:
    host_policy = listener_rate_limit.policy_from(listener_packs.listener_policy(**policy))
    return planner("listener_rate_limit")(
        listener_rate_limit.read(machine, host_policy), host_policy
    )


def written(decided: Plan) -> str:
    """The text of the one file that changes."""
    (change,) = [change for change in decided.changes if isinstance(change, FileChange)]
    assert change.content is not None
    return change.content


def running(text: str, **how: Any) -> ListenerMachine:
    return linux().listener(text, **how).socket(1521, 128)


class TestEdit:
    def test_nothing_to_do(self):
        assert plan(ready_host(), **wants()) == Plan([], [], [], [])

    def test_auto_changes_nothing(self):
        decided = plan(running(OPEN))
        assert decided.changes == decided.refusals == [] and "auto" in decided.pending[0]

    def test_only_the_span_that_must(self):
        decided = plan(running(OPEN), **wants())
        assert written(decided) == LISTENER_ORA.format(more="(RATE_LIMIT = 10)(QUEUESIZE = 512)")
        (change,) = decided.changes
        assert isinstance(change, FileChange) and (change.path, change.before) == (FILE, OPEN)

    @cases(
        "scope before after",
        ("endpoint", OPEN, LIMITED),
        ("endpoint", LIMITED.replace("10", "7"), LIMITED),
        ("endpoint", LIMITED + "CONNECTION_RATE_LISTENER = 10\n", LIMITED),
        ("endpoint", "CONNECTION_RATE_LISTENER=10\n" + LIMITED.replace("= 10", "= yes"), LIMITED),
        ("listener", OPEN, LIMITED.replace("= 10", "= yes") + "CONNECTION_RATE_LISTENER = 10\n"),
        (
            "listener",
            LIMITED.replace("= 10", "= YES") + "connection_rate_listener=5\n",
            LIMITED.replace("= 10", "= YES") + "connection_rate_listener=10\n",
        ),
    )
    def test_normal_forms(self, scope, before, after):
        assert written(plan(running(before), **wants(scope=scope))) == after
        assert plan(running(after), **wants(scope=scope)).changes == []

    def test_no_limit(self):
        text = LIMITED + "CONNECTION_RATE_LISTENER=10\n"
        assert written(plan(running(text), **wants(rate=0))) == LISTENER_ORA.format(
            more="(QUEUESIZE = 512)"
        )

    def test_a_longer_queue_stays(self):
        text = LISTENER_ORA.format(more="(QUEUESIZE = 1024)")
        assert plan(running(text), **wants(rate=None)).changes == []

    @cases("before", "", "(QUEUESIZE = 128)")
    def test_queue_alone(self, before):
        decided = plan(running(LISTENER_ORA.format(more=before)), **wants(rate=None))
        assert written(decided) == LISTENER_ORA.format(more="(QUEUESIZE = 512)")
        assert plan(running(written(decided)), **wants(rate=None)).changes == []

    def test_the_rate_is_right_and_the_queue_is_not(self):
        for before in ("(QUEUESIZE = 128)(RATE_LIMIT = 10)", "(RATE_LIMIT = 10)(QUEUESIZE=128)"):
            decided = plan(running(LISTENER_ORA.format(more=before)), **wants())
            after = before.replace("128", "512")
            assert written(decided) == LISTENER_ORA.format(more=after)

    def test_ports_that_may_not_be_limited(self):
        more = "(RATE_LIMIT = 3))\n      (ADDRESS = (PROTOCOL = TCP)(HOST = db01)(PORT = 1522)"
        decided = plan(running(LISTENER_ORA.format(more=more)), **wants(ports=[1522]))
        assert written(decided) == LISTENER_ORA.format(
            more=more.replace("(RATE_LIMIT = 3)", "") + "(RATE_LIMIT = 10)(QUEUESIZE = 512)"
        )

    @cases("newline", "\n", "\r\n")
    def test_everything_else_stays(self, newline):
        text = "# Datentr\udce4ger\n\n" + OPEN.replace("1521)", "1521 )  # (\n  # RATE_LIMIT=5\n  ")
        text += "SID_LIST_LISTENER=(SID_LIST=(SID_DESC=(SID_NAME=a)))\nLAST=1"
        text = text.replace("\n", newline)
        new = written(plan(running(text), **wants(scope="listener")))
        for added in ("(RATE_LIMIT = yes)", "(QUEUESIZE = 512)"):
            assert new.count(added) == 1
            new = new.replace(added, "")
        assert new.replace("CONNECTION_RATE_LISTENER = 10" + newline, "") == text

    def test_two_listeners_of_one_file(self):
        second = OPEN.replace("LISTENER =", "LISTENER_B =").replace("1521", "1522")
        machine = running(OPEN + second).listener(None, name="LISTENER_B", pid=4002)
        machine.changed[FILE] = 400
        decided = plan(
            machine, listeners=[{"name": "LISTENER", "rate": 10}, {"name": "listener_b", "rate": 3}]
        )
        rates = [
            (address.text("PORT"), address.text("RATE_LIMIT"))
            for parameter in oracle_net.parse(written(decided)).parameters
            for address in parameter.inside("ADDRESS")
            if address.text("PORT")
        ]
        assert rates == [("1521", "10"), ("1522", "3")]

    def test_broken_file_is_not_touched(self):
        with pytest.raises(HostproofError, match="line 9, column 1: expected"):
            plan(running(OPEN.replace("\n  )\n", "\n\n")), **wants())


class TestGuards:
    def refused(self, machine: ListenerMachine, **policy: Any) -> list[tuple[str, str | None]]:
        decided = plan(machine, **policy)
        assert decided.changes == []
        return [(refusal.reason, refusal.override) for refusal in decided.refusals]

    def test_grid_infrastructure(self):
        for wish in ({}, {"scope": "listener"}):
            ((reason, override),) = self.refused(running(AGENT, home=GRID), **wants(**wish))
            assert "(the agent wrote line 1, 2" in reason
            assert "a listener of the database home" in reason
            assert override is None

    def test_grid_infrastructure_with_a_port_by_hand(self):
        text = AGENT + OPEN.replace("LISTENER =", "LISTENER_X =")
        text = text.replace("(KEY=LISTENER)", "(KEY=LISTENER))(ADDRESS=(PROTOCOL=TCP)(PORT=1521)")
        ((reason, _),) = self.refused(running(text), **wants())
        assert "Grid Infrastructure" in reason

    def test_name_that_two_processes_have(self):
        """Anybody may start a process of that name, with a file of his own."""
        machine = running(OPEN).listener(OPEN, home="/home/eve", pid=900)
        reasons = [reason for reason, _ in self.refused(machine, **wants())]
        assert any("set home in listener_rate_limit_listeners" in reason for reason in reasons)

    def test_does_not_run(self):
        ((reason, override),) = self.refused(linux().ora(OPEN), **wants())
        assert "is not running" in reason
        assert override is None

    def test_no_file(self):
        ((reason, _),) = self.refused(linux().listener(None), **wants())
        assert "create it" in reason

    def test_parameter_twice(self):
        ((reason, _),) = self.refused(running(OPEN + OPEN), **wants())
        assert reason == f"LISTENER is set twice in {FILE}: keep one of them"

    def test_parameter_of_ifile(self):
        machine = running(f"IFILE={ADMIN}/more.ora\n").ora(OPEN, f"{ADMIN}/more.ora")
        ((reason, _),) = self.refused(machine, **wants())
        assert reason.startswith(f"LISTENER is in {ADMIN}/more.ora (IFILE)")

    @cases(
        "more policy refusals",
        ("(RATE_LIMIT = 10)(QUEUESIZE = 512)", {}, 0),
        ("(RATE_LIMIT = 10)(QUEUESIZE = 128)", {}, 1),
        ("(RATE_LIMIT = 10)(QUEUESIZE = 128)", {"queuesize": None}, 0),
        ("(RATE_LIMIT = 9)(QUEUESIZE = 512)", {}, 1),
        ("(RATE_LIMIT = 9)(QUEUESIZE = 512)", {"rate": None}, 0),
        ("(QUEUESIZE = 128)", {"rate": None}, 1),
    )
    def test_what_an_ifile_sets_already(self, more, policy, refusals):
        text = LISTENER_ORA.format(more=more)
        machine = running(f"IFILE={ADMIN}/more.ora\n").ora(text, f"{ADMIN}/more.ora")
        decided = plan(machine, **wants(**policy))
        assert (decided.changes, len(decided.refusals)) == ([], refusals)

    def test_no_address_that_could_carry_it(self):
        ((reason, _),) = self.refused(running(OPEN.replace("TCP", "IPC")), **wants())
        assert "no TCP address" in reason

    def test_port_that_is_not_there(self):
        ((reason, _),) = self.refused(running(OPEN), **wants(ports=[1599]))
        assert reason.endswith("has port 1599")

    def test_clients_that_give_up(self):
        policy = wants(pools=[{"name": "shop", "connections": 300, "timeout_seconds": 30}])
        ((reason, override),) = self.refused(running(OPEN), **policy)
        assert (
            "pool shop waits 30 s for a connection, and a burst of all pools takes 30 s" in reason
        )
        assert override == "allow_drain_beyond_timeout"
        assert plan(running(OPEN), allow_drain_beyond_timeout=True, **policy).changes

    def test_release_that_leaks(self):
        machine = running(OPEN, release="11.2.0.3.0")
        ((reason, override),) = self.refused(machine, **wants())
        assert "bug 16409926" in reason
        assert override == "allow_leaking_version"
        machine = running(OPEN, release="11.2.0.3.0")
        assert plan(machine, allow_leaking_version=True, **wants()).refusals == []

    def test_taking_a_limit_out_needs_no_guard(self):
        assert plan(running(LIMITED, release="11.2.0.3.0"), **wants(rate=0)).refusals == []

    @cases("key", "processes:tnslsnr", "environment:4001", f"command:cat {FILE}")
    def test_unknown_is_not_guessed(self, key):
        machine = running(OPEN)
        machine.refused[key] = "denied"
        with pytest.raises(HostproofError):
            plan(machine, **wants())


class TestListener:
    def commands(self, decided: Plan) -> list[CommandChange]:
        return [change for change in decided.changes if isinstance(change, CommandChange)]

    def test_nothing_is_restarted_unasked(self):
        decided = plan(running(OPEN), **wants())
        assert self.commands(decided) == []
        assert "listener_rate_limit_allow_restart" in decided.pending[0]

    def test_no_restart_of_a_listener_that_would_not_start_again(self):
        text = "TCP.VALIDNODE_CHECKING = yes\nTCP.INVITED_NODES = (192.0.2.9)\n"
        decided = plan(running(OPEN).sqlnet(text), allow_restart=True, **wants())
        assert self.commands(decided) == []
        assert "Correct listener_rate_limit.valid_nodes first" in decided.pending[0]

    def test_restart_with_what_it_has(self):
        machine = running(OPEN, TNS_ADMIN=ADMIN, TZ="Europe/Warsaw")
        decided = plan(machine, allow_restart=True, **wants())
        assert isinstance(decided.changes[0], FileChange)
        (change,) = self.commands(decided)
        assert (change.before, change.after) == ("21-NOV-2026 10:00:00", None)
        stop, start = change.make
        assert change.undo == change.make
        assert stop.argv == (f"{HOME}/bin/lsnrctl", "stop", "LISTENER")
        assert start.argv == (f"{HOME}/bin/lsnrctl", "start", "LISTENER")
        # A listener that is down already makes stop end with 1, and then start must follow.
        assert (stop.codes, start.codes) == ((0, 1), (0,)) and start.user == "oracle"
        assert start.environment == {
            "ORACLE_HOME": HOME,
            "ORACLE_BASE": "/u01/app/oracle",
            "TNS_ADMIN": ADMIN,
            "TZ": "Europe/Warsaw",
        }
        assert start.limits["MEMLOCK"] == (-1, -1)
        assert set(start.limits) == {"NOFILE", "NPROC", "MEMLOCK", "STACK", "CORE"}

    def test_reload_where_only_that_is_permitted(self):
        decided = plan(running(OPEN), allow_reload=True, **wants())
        (change,) = self.commands(decided)
        assert [command.argv[1] for command in change.make + change.undo] == ["reload", "reload"]
        assert change.before is change.after is None
        assert "a reload does not read endpoints and rates" in decided.pending[0]

    def test_older_than_its_file(self):
        machine = running(LIMITED, changed=900)
        assert plan(machine, **wants()).changes == []
        machine = running(LIMITED, changed=900)
        (change,) = plan(machine, allow_restart=True, **wants()).changes
        assert isinstance(change, CommandChange)

    def test_service_of_systemd_is_left_to_it(self):
        machine = running(OPEN, cgroup="0::/system.slice/oracle.service\n")
        decided = plan(machine, allow_restart=True, **wants())
        assert self.commands(decided) == []
        assert "systemctl restart oracle.service" in decided.pending[0]

    def test_session_of_ssh_is_no_service(self):
        machine = running(OPEN, cgroup="1:name=systemd:/system.slice/sshd.service\n0::/x\n")
        assert self.commands(plan(machine, allow_restart=True, **wants()))

    def test_listener_that_does_not_answer_is_not_restarted(self):
        machine = running(OPEN).command(f"status of listener LISTENER of {HOME}", "TNS-12541", 1)
        with pytest.raises(HostproofError, match="TNS-12541"):
            plan(machine, allow_restart=True, **wants())

    @cases("machine allow_restart", (running(OPEN), False), (ready_host(), True))
    def test_listener_is_asked_only_where_it_will_be_restarted(self, machine, allow_restart):
        plan(machine, allow_restart=allow_restart, **wants())
        assert not [key for key in machine.evidence if key.startswith("command:status of")]

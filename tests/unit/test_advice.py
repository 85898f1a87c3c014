"""The fix follows the layer that is wrong, and is rendered from steps."""

from typing import Any

from ansible.module_utils.hostproof.apply.change import FileChange, Plan, Refusal
from ansible.module_utils.hostproof.errors import Denied
from ansible.module_utils.hostproof.evaluate.advice import Advice, Apply, Ask, Edit, Run, Wait
from ansible.module_utils.hostproof.evaluate.checking import Layer, Rules, layered
from ansible.module_utils.hostproof.evaluate.control import Control
from ansible.module_utils.hostproof.evaluate.finding import FAIL, PASS, WARN
from cases import cases

CHANGE = FileChange("/etc/sysctl.d/a.conf", "a\n", None)
ADVICE = Advice(
    both=[Apply("swappiness"), Wait("instance_restart", "ORCL")],
    persisted=[Edit("/etc/a.conf", "a = 1")],
    in_use=[Run("lsnrctl", "reload", "LISTENER", account="grid", text="reload LISTENER")],
    unknown=[Ask("ask the owner.")],
)
UNREAD = Denied("file:/etc/a.conf", "/etc/a.conf is not readable.")


def judged(effect: str = "reboot", plan: Any = None, **layers: Any) -> Any:
    rules = Rules("swappiness")

    @rules.check("swappiness.a", "", "p", severity="low", takes_effect=effect, why="", reference="")
    def rule(_facts: Any, _policy: Any) -> Any:
        given = {"advice": ADVICE, "why": "It is wrong."} | layers
        return layered(**given)

    control = Control(
        "swappiness",
        policy=None,
        policy_from=dict,
        facts=None,
        read=lambda *_: None,
        rules=[rules],
        plan=lambda *_: plan or Plan([CHANGE], [], [], []),
    )
    return control.judge(None, None)[0]


def layer(status: str) -> Layer:
    return Layer("1", status)


COMMAND = "./hostproof apply --tags swappiness"


@cases(
    "persisted running in_use fails fix commands",
    (PASS, FAIL, PASS, "running", "reboot the host", []),
    (FAIL, PASS, PASS, "persisted", "put 'a = 1' into /etc/a.conf", []),
    (FAIL, FAIL, PASS, "running", "apply the control; then restart ORCL", [COMMAND]),
    (
        *(PASS, PASS, FAIL, "in_use", "reload LISTENER"),
        ["runuser -u grid -- lsnrctl reload LISTENER"],
    ),
    (
        *(WARN, FAIL, FAIL, "in_use", "apply the control; then restart ORCL; then reload"),
        [COMMAND, "runuser -u grid -- lsnrctl reload LISTENER"],
    ),
)
def test_the_steps_follow_the_wrong_layers(persisted, running, in_use, fails, fix, commands):
    finding = judged(persisted=layer(persisted), running=layer(running), in_use=layer(in_use))
    assert (finding.status, finding.failing_layer) == (FAIL, fails)
    assert finding.fix.startswith(fix)
    assert list(finding.commands) == commands


def test_an_unknown_layer_hides_no_wrong_one():
    finding = judged(persisted=Layer(UNREAD, name="the file"), running=layer(FAIL))
    assert (finding.status, finding.failing_layer, finding.persisted) == (
        FAIL,
        "running",
        "unknown",
    )
    assert finding.why == "It is wrong. Not known: the file: /etc/a.conf is not readable."
    # A reboot is not a remedy if the values that it sets are unknown.
    assert finding.fix.startswith("apply the control")


@cases("also", [], [("the other", UNREAD)], ids=["layer", "condition"])
def test_a_pass_needs_every_layer(also):
    layers = {"persisted": layer(PASS) if also else Layer(UNREAD), "running": layer(PASS)}
    finding = judged(also=also, **layers)
    assert (finding.status, finding.fix) == ("error", "ask the owner")
    assert finding.evidence == ("file:/etc/a.conf",)


def test_what_takes_effect_now_waits_for_nothing():
    assert judged("now", persisted=layer(PASS), running=layer(FAIL)).commands == (COMMAND,)


def test_a_finding_takes_effect_at_the_last_event_of_its_fix():
    """A parameter that only a reboot sets, of a check whose others take effect at once: the run of
    apply ended with exit code 2 instead of "waiting for: reboot"."""
    advice = Advice([Apply("swappiness"), Wait("reboot")], running=[Wait("login"), Wait("reboot")])
    layers = {"persisted": layer(PASS), "running": layer(FAIL)}
    assert judged("now", advice=advice, **layers).takes_effect == "reboot"
    assert (
        judged("reboot", advice=Advice(running=[Wait("login")]), **layers).takes_effect == "login"
    )
    assert judged("remount", advice=Advice([Ask("ask")]), **layers).takes_effect == "remount"


def test_a_layer_that_is_changed_elsewhere():
    advice = ADVICE._replace(elsewhere=[Ask("change it in the TuneD profile")])
    for running in (PASS, FAIL):
        finding = judged(persisted=layer(FAIL), running=layer(running), advice=advice)
        assert finding.fix == "change it in the TuneD profile"


def test_a_rejected_plan_is_said_instead_of_the_steps_that_depend_on_it():
    plan = Plan([CHANGE], [Refusal("it would lose a line.", None)], [], [])
    finding = judged(persisted=layer(FAIL), running=layer(FAIL), plan=plan)
    assert finding.fix == "apply is blocked. First: it would lose a line"
    assert finding.commands == ()


@cases("part is_blocked", ("pool", True), ("memlock", False))
def test_the_reason_against_a_part_is_said_where_it_matters(part, is_blocked):
    plan = Plan([CHANGE], [Refusal("it does not fit", None, "pool")], [], [])
    finding = judged(running=layer(FAIL), advice=Advice([Apply("swappiness", part)]), plan=plan)
    assert finding.commands == (() if is_blocked else (COMMAND,))
    assert ("it does not fit" in finding.fix) == is_blocked

"""What the progress callback shows of tasks whose texts come from hosts that mean ill."""

import gc
import importlib.util
import os
import re
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import yaml
from ansible import context
from cases import cases
from hostproof_controller import known_findings

ROOT = Path(__file__).resolve().parents[2]
#: Sets the window's title, clears the screen, hides what follows, turns the direction, rings.
EVIL = "\x1b]0;owned\x07\x1b[2J\x1b[8m\x9b31m\u202egnp\u2066\x7f\x08\rlost\u200b"
MODULE = f"""
from ansible.module_utils.basic import AnsibleModule
EVIL = {EVIL!r}
spec = {{name: {{"type": "raw"}} for name in ("control", "controls", "fail", "policy")}}
module = AnsibleModule(spec, supports_check_mode=True)
module.warn("warned" + EVIL)
told = {{"before": "old" + EVIL, "after": "new" + EVIL, "before_header": EVIL}}
answer = {{"changed": True, "diff": [told, {{"prepared": "plan" + EVIL}}], "msg": "said" + EVIL}}
answer.update(pending=["waiting" + EVIL], lines=["line" + EVIL], summary="sum" + EVIL, report="r")
module.fail_json(**answer) if module.params["fail"] else module.exit_json(**answer)
"""
NAMES = ("apply_control", "revert_control", "render_report", "compare_latency", "say")
COLOUR = re.compile("\x1b\\[[0-9;]*m")


def printed(folder: Path, *options: str, **environment: str) -> str:
    (folder / "library").mkdir(exist_ok=True)
    for name in NAMES:
        (folder / f"library/{name}.py").write_text(MODULE)
    tasks: list[dict[str, Any]] = [
        {name: {"fail": fail}, "ignore_errors": True, "diff": True}
        for name in NAMES
        for fail in (False, True)
    ]
    tasks.append({"say": {}, "register": "said", "loop": ["{{ 'item' ~ said.msg | default('') }}"]})
    tasks.append({"ansible.builtin.debug": {"msg": "{{ said }}"}})
    tasks.append({"ansible.builtin.set_stats": {"data": {"told": "{{ said.results[0].msg }}"}}})
    play = {"hosts": "localhost", "gather_facts": False, "connection": "local", "tasks": tasks}
    play["vars"] = {"ansible_python_interpreter": sys.executable}
    (folder / "play.yml").write_text(yaml.safe_dump([play]))
    ran = subprocess.run(
        [
            Path(sys.executable).with_name("ansible-playbook"),
            "-i",
            "localhost,",
            "play.yml",
            *options,
        ],
        cwd=folder,
        env={
            **{name: value for name, value in os.environ.items() if "HOSTPROOF" not in name},
            "ANSIBLE_CONFIG": str(ROOT / "ansible.cfg"),
            "ANSIBLE_LIBRARY": str(folder / "library"),
            "ANSIBLE_ACTION_PLUGINS": str(folder / "none"),
            "ANSIBLE_SHOW_CUSTOM_STATS": "1",
            "ANSIBLE_HOME": str(folder / "home"),
            "HOSTPROOF_REPORTS": str(folder / "reports"),
            "HOSTPROOF_BASELINES": str(folder / "baselines"),
            "HOSTPROOF_RECORDS": str(folder / "records"),
            **environment,
        },
        capture_output=True,
        timeout=300,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return (ran.stdout + ran.stderr).decode("utf-8")


@cases(
    "options environment",
    ([], {"ANSIBLE_NOCOLOR": "1"}),
    (["-vv"], {"ANSIBLE_FORCE_COLOR": "1", "ANSIBLE_CALLBACK_RESULT_FORMAT": "yaml"}),
)
def test_nothing_that_a_terminal_obeys_is_shown(tmp_path, options, environment):
    text = printed(tmp_path, *options, **environment)
    if "ANSIBLE_FORCE_COLOR" in environment:
        # Ansible's own colours are kept, those of its diff among them.
        assert "\x1b[0;32m+new" in text
        assert "\x1b[8m" not in text
        text = COLOUR.sub("", text)
    assert not re.search(
        "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2066-\u2069]", text
    )
    for word in ("warned", "-old", "+new", "plan", "said", "item"):
        assert word in text
    assert r"waiting: [localhost]: waiting\x1b]0;owned\x07\x1b[2J\x1b[8m\x9b31m\u202egnp" in text
    assert r"line\x1b]0;owned" in text
    assert r"sum\x1b]0;owned" in text


def callback() -> Any:
    path = ROOT / "callback_plugins/hostproof_progress.py"
    spec = importlib.util.spec_from_file_location("hostproof_progress", path)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.CallbackModule()


def test_the_task_that_prints_the_summary_elsewhere_is_not_shown_here(monkeypatch):
    shown = callback()
    monkeypatch.setattr(shown._display, "verbosity", 0)
    tasks = yaml.safe_load((ROOT / "playbooks/tasks/report.yml").read_text())[0]["always"]
    last = tasks[-1]
    assert (
        last["name"] == "Summary" and "summary.splitlines()" in last["ansible.builtin.debug"]["msg"]
    )
    assert shown._is_quiet(SimpleNamespace(action="ansible.builtin.debug", name=last["name"]))


def test_a_refused_plan_is_one_line_with_the_controls_that_were_not_applied(capsys, monkeypatch):
    shown = callback()
    monkeypatch.setattr(shown._display, "verbosity", 0)
    task = SimpleNamespace(action="apply_control", args={"control": "time_sync"}, name="Apply")
    answer = {"msg": "the plan is rejected:\n  no room.", "failed": True, "exception": "Trace"}
    shown.v2_runner_on_failed(SimpleNamespace(_task=task, _host="db01", _result=answer))
    error = capsys.readouterr().err
    assert "not applied: [db01]: time_sync: the plan is rejected: no room; not applied because" in (
        " ".join(error.split())
    )
    assert "hugepages" in error and "accounts" not in error
    assert "Trace" not in error and "fatal" not in error


@cases(
    "action frozen",
    ("verify_controls", True),
    ("hostproof.hostproof.record_evidence", True),
    ("render_report", False),
)
def test_what_workers_share_is_out_of_collections_before_they_are_made(action, frozen):
    shown = callback()
    gc.unfreeze()
    try:
        shown.v2_playbook_on_task_start(SimpleNamespace(action=action), False)
        assert (gc.get_freeze_count() > 10000) is frozen
    finally:
        gc.unfreeze()


@cases("hosts shared", (1, False), (2, True))
def test_the_workers_of_several_hosts_share_what_they_receive(monkeypatch, hosts, shared):
    monkeypatch.setattr(known_findings, "_handed", [])
    shown = callback()
    shown._hosts = hosts
    try:
        shown.v2_playbook_on_task_start(SimpleNamespace(action="verify_controls"), False)
    finally:
        gc.unfreeze()
    assert bool(known_findings._handed) is shared


def test_what_a_worker_received_is_known_to_the_next_one(monkeypatch):
    monkeypatch.setattr(known_findings, "_known", {})
    known_findings.prime()
    texts = [b'"%d"' % number for number in range(40)]
    known_findings.hand_over(texts, [{"control": text.decode()} for text in texts])
    task = SimpleNamespace(action="verify_controls", name="Run all checks", args={})
    host = SimpleNamespace(get_name=lambda: "db01")
    messages = {"warnings": (), "deprecations": (), "exception": None}
    callback()._take(SimpleNamespace(_task=task, _host=host, _result={}, **messages))
    assert [*known_findings._known] == texts


@cases(
    "waiting told",
    ([], "2 of 9 hosts, 0:00"),
    (["db03"], "2 of 9 hosts, 0:00, waiting for db03"),
    (["a", "b", "c", "d", "e"], "2 of 9 hosts, 0:00, waiting for a, b, c and 2 more"),
    (["e\x1b[2J"], "2 of 9 hosts, 0:00, waiting for e\\x1b[2J"),
)
def test_progress_names_the_hosts_that_the_others_wait_for(waiting, told):
    shown = callback()
    shown._hosts, shown._answered, shown._began = 9, 2, time.monotonic()
    shown._waiting.update(dict.fromkeys(waiting))
    assert shown._progress(100) == told
    assert len(shown._progress(30)) <= 29


def run_python(code: str, *, closes: bool = False, **environment: str) -> tuple[str, str]:
    """What a process prints; ``closes``: nobody reads its output."""
    with subprocess.Popen(
        [sys.executable, "-c", code],
        env={**os.environ, **environment},
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as child:
        assert child.stdout is not None and child.stderr is not None
        if closes:
            child.stdout.close()
        printed = "" if closes else child.stdout.read()
        return printed, child.stderr.read()


LOAD = """
import importlib.util
spec = importlib.util.spec_from_file_location("p", "callback_plugins/hostproof_progress.py")
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
shown = module.CallbackModule()
shown._display.verbosity = 0
"""


def test_a_pipe_that_closes_is_no_warning_and_does_not_end_the_run():
    code = LOAD + "import sys\nfor n in range(3000): shown._display.display('line ' * 40)\n"
    code += "print('went on', file=sys.stderr)"
    assert run_python(code, closes=True)[1] == "went on\n"


def test_colours_of_the_summary_reach_a_terminal_and_those_of_a_host_do_not():
    code = f"""{LOAD}
from types import SimpleNamespace as N
from hostproof_controller.report.terminal import painted
task = N(action="render_report", name="Render", args={{}})
answer = {{"summary": painted("fail", "bad") + {EVIL!r}, "report": "r"}}
shown._take(N(_task=task, _host="localhost", _result=answer), failed=True)
"""
    with_colours = run_python(code, HOSTPROOF_TERMINAL='{"color": true}')[0]
    assert with_colours.startswith("\x1b[1;31mbad\x1b[0m\\x1b]0;owned")
    assert "\x1b[8m" not in with_colours and "\x1b[2J" not in with_colours
    assert "\x1b" not in run_python(code, HOSTPROOF_TERMINAL="{}")[0]


def test_a_log_has_a_line_of_progress_from_time_to_time(capsys, monkeypatch):
    shown = callback()
    monkeypatch.setattr(shown._display, "verbosity", 0)
    now = iter((10.0, 20.0, 31.0, 31.0, 40.0))
    monkeypatch.setattr(time, "monotonic", lambda: next(now, 40.0))
    shown._hosts, shown._answered, shown._began, shown._told = 200, 7, 0.0, 0.0
    for _ in range(4):
        shown._show_progress()
    assert capsys.readouterr().err == "7 of 200 hosts, 0:31\n"


@cases("check begin", (False, "restored"), (True, "would restore"))
def test_a_revert_prints_what_it_restored(monkeypatch, check, begin):
    shown = callback()
    lines = []
    monkeypatch.setattr(shown._display, "display", lambda text, **_named: lines.append(text))
    monkeypatch.setattr(shown, "_take", lambda result: True)
    monkeypatch.setattr(context, "CLIARGS", {"check": check})
    diff = [{"before_header": "/etc/sysctl.d/x.conf"}, {"before_header": "vm.swappiness"}, {}, 7]
    task = SimpleNamespace(action="revert_control", name="Revert")
    shown.v2_runner_on_ok(SimpleNamespace(_task=task, _host="db01", _result={"diff": diff}))
    assert lines == [f"{begin}: [db01]: /etc/sysctl.d/x.conf", f"{begin}: [db01]: vm.swappiness"]


def test_progress_is_shown_from_the_first_host_on(monkeypatch):
    shown = callback()
    lines = []
    monkeypatch.setattr(shown, "_show_progress", lambda: lines.append(shown._progress(100)))
    shown._plugin_options = {"show_per_host_start": False}
    monkeypatch.setattr(shown, "_hosts", 3)
    monkeypatch.setattr(shown, "_began", time.monotonic())
    task = SimpleNamespace(action="verify_controls", name="Audit")
    for name in ("db01", "db02"):
        shown.v2_runner_on_start(SimpleNamespace(get_name=lambda name=name: name), task)
    assert lines == [
        "0 of 3 hosts, 0:00, waiting for db01",
        "0 of 3 hosts, 0:00, waiting for db01, db02",
    ]


def test_an_apply_counts_its_hosts_on_a_terminal(capsys, monkeypatch):
    shown = callback()
    monkeypatch.setattr(shown._display, "verbosity", 0)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    task = SimpleNamespace(action="apply_control", args={"control": "time_sync"}, name="Apply")
    shown._hosts = 2
    shown._plugin_options = {"show_per_host_start": False}
    shown._begin()
    for name in ("db01", "db02"):
        host = SimpleNamespace(get_name=lambda name=name: name)
        monkeypatch.setattr(shown, "_not_applied", lambda result: f"not applied: {result._host}")
        shown.v2_runner_on_start(host, task)
        shown.v2_runner_on_failed(SimpleNamespace(_task=task, _host=name, _result={}))
    error = capsys.readouterr().err
    assert "1 of 2 hosts" in error
    # The line of progress is removed before a result, and after the last host.
    assert "\r\x1b[K\x1b[0;31mnot applied: db02" in error or "\r\x1b[Knot applied: db02" in error
    assert error.endswith("\r\x1b[K")

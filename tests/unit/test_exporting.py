"""./hostproof report --format and --fixes: other forms of the findings, whatever hosts answered."""

import csv
import io
import json
import os
import pty
import re
import subprocess
import sys
import unicodedata
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import yaml
from cases import cases
from hostproof_controller.cli import command, fixes
from test_diffing import finding, line, report

#: No ansible-core has a part in it.
pytestmark = pytest.mark.one_core

ROOT = Path(__file__).resolve().parents[2]
EVIL = "\x1b[2J'\"$(touch evil)`touch evil`;touch evil\n#{{ 7*7 }}|<script>\u202e"


@pytest.fixture
def any_command(monkeypatch) -> None:
    """What runs leaves a file, which no command of a control does."""
    monkeypatch.setattr(fixes, "is_from_host", lambda line: True)


def printed(capsys, *typed: str, code: int = 2) -> str:
    assert command.main(["report", *typed]) == code
    return str(capsys.readouterr().out)


def waived() -> dict[str, Any]:
    return finding("hugepages.c", "waived", "It waits")


@pytest.fixture
def folder(tmp_path) -> str:
    evil = finding(
        "hugepages.b", "warn", EVIL, why=EVIL, fix=EVIL, running=EVIL, commands=[f"echo {EVIL}"]
    )
    good = finding("hugepages.a", "fail", commands=["sysctl -w vm.nr_hugepages=1"])
    lines = [line("db1", good, evil, waived()), line("db2", finding("hugepages.a", "pass"))]
    return report(tmp_path / "report", *lines)


class TestFormats:
    def test_csv_has_a_row_a_finding(self, capsys, folder):
        rows = list(csv.DictReader(io.StringIO(printed(capsys, folder, "--format", "csv"))))
        assert [(row["host"], row["check"], row["status"]) for row in rows] == [
            ("db1", "hugepages.a", "fail"),
            ("db1", "hugepages.b", "warn"),
            ("db1", "hugepages.c", "waived"),
            ("db2", "hugepages.a", "pass"),
        ]
        assert rows[0]["commands"] == "sysctl -w vm.nr_hugepages=1"

    def test_markdown_shows_what_is_not_well(self, capsys, folder):
        text = printed(capsys, folder, "--format", "markdown")
        assert "| db2 | ready |" in text
        assert "## db1" in text
        assert "## db2" not in text
        assert "<script>" not in text.replace("\\<", "")
        assert len(re.findall(r"^\| [✗!~]", text.replace("\\", ""), re.MULTILINE)) == 3

    def test_sarif_has_a_result_for_each_of_them(self, capsys, folder):
        document = json.loads(printed(capsys, folder, "--format", "sarif"))
        assert document["version"] == "2.1.0"
        (run,) = document["runs"]
        rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
        for result in run["results"]:
            assert rules[result["ruleIndex"]] == result["ruleId"]
            (place,) = result["locations"]
            assert place["physicalLocation"]["artifactLocation"]["uri"] == "hosts/db1"
            assert place["logicalLocations"][0]["name"] == "db1"
            assert re.fullmatch("[0-9a-f]{64}", result["partialFingerprints"]["hostproof/v1"])
        levels = [(entry["ruleId"], entry["level"]) for entry in run["results"]]
        assert levels == [
            ("hugepages.a", "error"),
            ("hugepages.b", "warning"),
            ("hugepages.c", "warning"),
        ]
        assert [bool(entry.get("suppressions")) for entry in run["results"]] == [False, False, True]

    @cases("form", "junit", "json", "prometheus", "html")
    def test_the_forms_of_a_run_are_those_of_a_run(self, capsys, folder, form):
        text = printed(capsys, folder, "--format", form)
        assert command.main(["report", folder, "--quiet"]) == 2
        names = {
            "junit": "report.xml",
            "json": "report.json",
            "prometheus": "report.prom",
            "html": "report.html",
        }
        written = (Path(folder) / names[form]).read_text()
        instant = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d)?Z?( UTC)?|seconds \d+")
        assert instant.sub("", text) == instant.sub("", written)

    def test_nothing_is_written_beside_the_findings(self, capsys, folder):
        printed(capsys, folder, "--format", "html")
        assert os.listdir(folder) == ["findings.jsonl"]

    @cases("form", "csv", "markdown", "sarif", "junit", "json", "prometheus", "html")
    def test_nothing_that_a_terminal_obeys_is_in_any(self, capsys, folder, form):
        text = printed(capsys, folder, "--format", form)
        assert "\x1b" not in text
        assert "\u202e" not in text
        if form == "junit":
            ElementTree.fromstring(text)

    def test_to_a_new_file_and_never_over_another(self, capsys, folder, tmp_path):
        out = str(tmp_path / "out.csv")
        assert printed(capsys, folder, "--format", "csv", "--out", out) == ""
        assert (tmp_path / "out.csv").stat().st_mode & 0o777 == 0o600
        assert command.main(["report", folder, "--format", "csv", "--out", out]) == 1
        assert "File exists" in capsys.readouterr().err

    @cases("formula", "=1", "+1", "-1", "@x", "\uff1d1", "\uff0b1", "\uff0d1", "\uff201")
    @cases("before", "", " ", "  ", "\t", "\r", "\u00a0", "\u3000", '"', "x;", "x; ", 'x";', "x\n")
    def test_no_cell_is_a_formula_however_a_list_is_separated(
        self, capsys, tmp_path, formula, before
    ):
        evil = finding("hugepages.a", "fail", why=before + formula, running=before + formula)
        folder = report(tmp_path / "r", line("db1", evil))
        text = printed(capsys, folder, "--format", "csv")
        for separator in ",;\t":
            for row in csv.reader(io.StringIO(text), delimiter=separator):
                for cell in row:
                    begin = unicodedata.normalize("NFKC", cell.strip(' "\t\r\n\u00a0\u3000'))
                    assert not begin.startswith(("=", "+", "-", "@")), (separator, cell)

    @cases("form", "sarif", "markdown")
    @cases(
        "link",
        *("[click](javascript:alert(1))", "[click\\](javascript:alert(1))"),
        *("![x](data:text/html,x)", "<javascript:alert(1)>"),
        *("[a][b]", "[click] (javascript:alert(1))"),
    )
    def test_nothing_that_a_host_says_is_a_link(self, capsys, tmp_path, form, link):
        evil = finding("hugepages.a", "fail", link, why=link, running=link, fix=link)
        text = printed(capsys, report(tmp_path / "r", line("db1", evil)), "--format", form)
        if form == "sarif":
            (run,) = json.loads(text)["runs"]
            text = run["results"][0]["message"]["text"]
        assert not re.search(r"\]\(|(?<!\\)(?:\\\\)*[\[\]]", text.replace("| --- |", ""))
        assert not re.search(r"(?<!\\)<[A-Za-z][A-Za-z0-9+.-]*:", text)

    def test_a_message_of_sarif_has_no_arguments(self, capsys, tmp_path):
        evil = finding("hugepages.a", "fail", why="{0} and {name}")
        text = printed(capsys, report(tmp_path / "r", line("db1", evil)), "--format", "sarif")
        (run,) = json.loads(text)["runs"]
        assert "{{0}} and {name}" in run["results"][0]["message"]["text"]

    def test_waivers_count(self, capsys, folder, tmp_path):
        entry = {"check": "hugepages.a", "hosts": "db*", "owner": "dba", "reason": "later"}
        (tmp_path / "w.yml").write_text(yaml.safe_dump([{**entry, "expires": "2999-12-31"}]))
        text = printed(
            capsys, folder, "--format", "csv", "--waivers", str(tmp_path / "w.yml"), code=2
        )
        assert "hugepages.a,It is so,waived" in text

    @cases(
        "typed said",
        (["--format", "xls"], "'--format': 'xls' is not one of 'csv', 'markdown', "),
        (["--format", "csv", "--query", "[]"], "--query cannot be used with --format"),
        (["--format", "csv", "--fixes", "x"], "--format cannot be used with --fixes"),
        (["--fixes", "x", "--out", "y"], "--out cannot be used with --fixes"),
    )
    def test_wrong_use(self, capsys, folder, typed, said):
        assert command.main(["report", folder, *typed]) == 1
        assert said in capsys.readouterr().err

    def test_an_exporter_may_read_the_file_when_the_user_says_so(self, tmp_path, capsys, folder):
        out = tmp_path / "hostproof.prom"
        arguments = [folder, "--format", "prometheus", "--out", str(out)]
        printed(capsys, *arguments)
        assert out.stat().st_mode & 0o777 == 0o600
        printed(capsys, *arguments, "--world-readable")
        assert out.stat().st_mode & 0o777 == 0o644
        assert "hostproof_host_verdict" in out.read_text()
        assert command.main(["report", folder, "--world-readable"]) == 1
        assert "--world-readable requires --format and --out" in capsys.readouterr().err


class TestSteps:
    @pytest.mark.usefixtures("any_command")
    def test_are_in_the_order_in_which_they_take_effect_and_causes_come_first(self):
        effects = ["reboot", "instance_restart", "now", "login", "listener_restart", "remount"]
        findings = [
            finding(f"hugepages.{effect}", "fail", takes_effect=effect, commands=[f"x {effect}"])
            for effect in effects
        ]
        symptom = finding("hugepages.symptom", "fail", commands=["y"])
        symptom["because_of"] = ["hugepages.now"]
        steps = fixes.steps_of([symptom, *findings])
        assert [step.checks[0].split(".")[1] for step in steps] == [
            *("now", "symptom", "login", "remount"),
            *("listener_restart", "instance_restart", "reboot"),
        ]

    def test_a_remark_is_not_a_step(self):
        fix = "check the directory service; otherwise create it; then reboot the host"
        other = "add swap; if less is intended, set memory_pressure_swap"
        findings = [
            finding(f"c.{name}", "fail", fix=fix) for name, fix in (("a", fix), ("b", other))
        ]
        texts = [step.what for step in fixes.steps_of(findings)]
        assert texts == [
            "check the directory service; otherwise create it", other, "reboot the host"
        ]  # fmt: skip

    def test_what_mends_several_is_one_step(self):
        findings = [
            finding(
                f"hugepages.{name}", "fail", takes_effect=effect, commands=["umount /a", "mount /a"]
            )
            for name, effect in (("x", "reboot"), ("y", "now"))
        ]
        (step,) = fixes.steps_of(findings)
        assert (step.effect, step.commands) == ("now", ("umount /a", "mount /a"))
        assert step.checks == ("hugepages.y", "hugepages.x")

    def test_one_restart_is_behind_everything_that_it_needs(self):
        """Each clause is there once; what another step does is not repeated."""
        start = {"takes_effect": "instance_restart"}
        findings = [
            finding("hugepages.shm", "fail", **start,
                    fix="set the group; then restart the instance"),
            finding("hugepages.sga", "fail", **start, title="A: t",
                    fix="set it (hugepages.shm); then restart A", because_of=["hugepages.shm"]),
            finding("pre_page_sga.value", "fail", **start,
                    fix="as SYSDBA: ALTER SYSTEM; then restart A"),
            finding("pre_page_sga.value", "fail", **start,
                    fix="as SYSDBA: ALTER SYSTEM; then restart B"),
            finding("hugepages.login", "fail", takes_effect="login",
                    fix="edit it, then log in again"),
            finding("hugepages.late", "fail", takes_effect="now", fix="measure it",
                    because_of=["hugepages.sga"]),
        ]  # fmt: skip
        steps = fixes.steps_of(findings)
        assert [(step.what, step.checks) for step in steps] == [
            ("edit it", ("hugepages.login",)),
            ("set the group", ("hugepages.shm",)),
            ("as SYSDBA: ALTER SYSTEM", ("pre_page_sga.value",)),
            ("log in again", ("hugepages.login",)),
            ("restart A, B", ("hugepages.shm", "pre_page_sga.value", "hugepages.sga")),
            ("measure it", ("hugepages.late",)),
        ]

    def test_no_step_is_before_those_that_resolve_its_causes(self):
        """A restart waits for everything that the next start needs; one apply is one step."""
        own = ["./hostproof apply --tags hugepages --limit db1"]
        findings = [
            finding("hugepages.restart", "fail", takes_effect="now", fix="restart ONE",
                    because_of=["hugepages.pool", "hugepages.memlock"]),
            finding("hugepages.pool", "fail", takes_effect="instance_restart", commands=own),
            finding("hugepages.memlock", "fail", takes_effect="reboot", commands=own),
            finding("hugepages.other", "fail", takes_effect="now", fix="restart TWO"),
        ]  # fmt: skip
        steps = fixes.steps_of(findings)
        assert [step.checks for step in steps] == [
            ("hugepages.pool", "hugepages.memlock"),
            ("hugepages.other", "hugepages.restart"),
        ]
        assert steps[1].what == "restart TWO, ONE"
        ring = [
            finding("a.a", "fail", because_of=["a.b"]),
            finding("a.b", "fail", because_of=["a.a"]),
        ]
        assert len(fixes.steps_of([*ring, finding("a.c", "fail", fix="other")])) >= 2

    @cases("status", "pass", "skip", "error", "waived")
    def test_only_what_fails_or_warns_is_fixed(self, status):
        assert fixes.steps_of([finding("hugepages.x", status, commands=["a"])]) == []

    @cases(
        "bad",
        "touch x",
        "umount /u; touch x",
        "mount /a\ntouch x",
        "mount /a \x1b[2J",
        "mount /a\u202eb",
    )
    def test_a_command_that_cannot_be_reviewed_is_left_out_with_its_fellows(self, bad):
        own = "./hostproof apply --tags hugepages --limit db1"
        (step,) = fixes.steps_of([finding("hugepages.x", "fail", commands=["umount /u", bad, own])])
        assert step.commands == ()
        assert step.own == (own,)
        assert "left out" in step.what


@cases(
    "fix lines",
    ("put 'a = 1' into /etc/a.conf", ["edit /etc/a.conf, so that it has the line: a = 1"]),
    ("put 'a = 1' into /etc/a.conf:3", ["edit /etc/a.conf, line 3: a = 1"]),
    (
        "set umask 022 in /home/oracle/.profile",
        ["edit /home/oracle/.profile as the owner of the file, as stated above"],
    ),
    (
        "remove noexec from the line of /tmp in /etc/fstab; then put 'x' into /etc/hosts",
        ["edit /etc/fstab, as stated above", "edit /etc/hosts, so that it has the line: x"],
    ),
    ("put 'a' into /etc/a.conf; then ask the administrator", [fixes.DECISION]),
    ("put 'a' into /etc/a.conf, or into /etc/b.conf", [fixes.DECISION]),
    ("set RATE_LIMIT to a number above 1 in /etc/listener.ora", [fixes.DECISION]),
    ("choose the owner of /u01", [fixes.DECISION]),
)
def test_an_exact_edit_is_no_decision(fix, lines):
    (step,) = fixes.steps_of([dict(finding("hugepages.x", "fail"), fix=fix)])
    state = SimpleNamespace(name="db1", at="2026-11-21T03:15:20Z")
    for text in (fixes.script(state, [step]), fixes.playbook(state, [step])):
        assert all(line in text for line in lines)
        assert (fixes.DECISION in text) == (lines == [fixes.DECISION])
    assert step.commands == ()


class TestFixes:
    @pytest.fixture
    def written(self, capsys, folder, tmp_path) -> Path:
        output = printed(capsys, folder, "--fixes", str(tmp_path / "fixes"), code=0)
        assert "db1.sh, .yml: 2 steps, 1 with commands" in output
        assert "db2: no fixes" in output
        return tmp_path / "fixes"

    def test_files_are_their_owner_s_and_not_executable(self, written):
        assert sorted(path.name for path in written.iterdir()) == ["db1.sh", "db1.yml"]
        for path in written.iterdir():
            assert path.stat().st_mode & 0o777 == 0o600

    def test_never_over_others(self, written, folder, capsys):
        assert command.main(["report", folder, "--fixes", str(written)]) == 1
        assert "exists already; fixes never overwrite files" in capsys.readouterr().err

    def test_the_script_without_an_argument_lists_and_runs_nothing(self, written):
        done = subprocess.run(
            ["bash", "db1.sh"], cwd=written, capture_output=True, text=True, timeout=600
        )
        assert done.returncode == 0, done.stderr
        assert (
            "1. takes effect: now (hugepages.a)\n   mend it\n     sysctl -w vm.nr_hugepages=1\n"
            "   then check on the controller: ./hostproof audit --tags hugepages --limit db1\n"
            in done.stdout
        )
        assert "   a person decides and does this: there is no command\n" in done.stdout
        assert "(hugepages.b)" in done.stdout
        assert not (written / "evil").exists()
        assert "\x1b" not in done.stdout

    def test_shellcheck_finds_nothing(self, written):
        program = Path(sys.executable).with_name("shellcheck")
        if not program.exists():
            pytest.skip("shellcheck is not installed")
        done = subprocess.run([program, written / "db1.sh"], capture_output=True, text=True)
        # SC2016: that nothing is expanded in what a host answered is meant.
        codes = set(re.findall(r"SC\d+", done.stdout)) - {"SC2016"}
        assert not codes, done.stdout

    def test_the_playbook_holds_the_commands_as_text(self, written):
        class Loader(yaml.SafeLoader):
            pass

        Loader.add_constructor("!unsafe", lambda loader, node: loader.construct_scalar(node))
        guard, play = yaml.load((written / "db1.yml").read_text(), Loader=Loader)
        assert guard["vars"] == play["vars"] == {"fixes_host": "db1"}
        assert "db1" not in play["hosts"] + play["name"] + guard["hosts"] + guard["name"]
        tasks = play["tasks"]
        assert {task["when"] for task in tasks} == {"inventory_hostname == fixes_host"}
        run = [task["ansible.builtin.shell"] for task in tasks if "changed_when" in task]
        assert [task["cmd"] for task in run] == ["sysctl -w vm.nr_hugepages=1"]

    @pytest.mark.usefixtures("any_command")
    def test_the_playbook_refuses_what_nobody_has_read(self, tmp_path, capsys):
        mark = tmp_path / "{{ 7 * 7 }}"
        failure = finding("hugepages.a", "fail", commands=[f"dd if=/dev/null of='{mark}'"])
        folder = report(tmp_path / "r", line("db1", failure))
        assert command.main(["report", folder, "--fixes", str(tmp_path / "fixes")]) == 0

        def run(*more: str) -> int:
            local = ["ansible_connection=local", "ansible_become=false"]
            local.append(f"ansible_python_interpreter={sys.executable}")
            words = [word for variable in local for word in ("-e", variable)]
            return subprocess.run(
                [Path(sys.executable).with_name("ansible-playbook"), "-i", "db1,", *words, *more]
                + [str(tmp_path / "fixes/db1.yml")],
                cwd=tmp_path,
                capture_output=True,
                timeout=600,
            ).returncode

        assert run() != 0
        assert run("-e", "fixes_reviewed=db2") != 0
        assert not mark.exists()
        assert run("-e", "fixes_reviewed=db1") == 0
        assert mark.exists()

    @cases(
        "name", "../evil", "a b", "all", "db*", "-x", "{{ x }}", "a/b", "ungrouped", "a:b", "x,y"
    )
    def test_a_name_that_is_no_host_s_gets_no_file(self, tmp_path, capsys, name):
        failure = finding("hugepages.a", "fail", commands=["true"])
        folder = report(tmp_path / "r", line(name, failure))
        assert command.main(["report", folder, "--fixes", str(tmp_path / "fixes")]) == 0
        assert "is not the name of a host" in capsys.readouterr().err
        assert list((tmp_path / "fixes").iterdir()) == []


@pytest.mark.usefixtures("any_command")
class TestTheScriptAtATerminal:
    @pytest.fixture
    def at_terminal(self, tmp_path, capsys):
        """run(answers, options): what the script of two steps did, and said."""
        name = os.uname().nodename.split(".")[0]
        findings = [
            finding("hugepages.a", "fail", commands=["touch one", "touch two"]),
            finding("hugepages.b", "fail", commands=["touch three; false", "touch four"]),
            finding("hugepages.c", "fail", commands=["touch five"]),
        ]

        def run(answers: str, *options: str, host: str = name) -> tuple[set[str], str]:
            folder = report(tmp_path / "r", line(host, *findings))
            assert command.main(["report", folder, "--fixes", str(tmp_path / "fixes")]) == 0
            ours, theirs = pty.openpty()
            try:
                os.write(ours, answers.encode())
                done = subprocess.run(
                    ["bash", f"{host}.sh", *options],
                    cwd=tmp_path / "fixes",
                    stdin=theirs,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.STDOUT,
                    text=True,
                    timeout=600,
                )
            finally:
                os.close(ours)
                os.close(theirs)
            made = {path.name for path in (tmp_path / "fixes").iterdir() if not path.suffix}
            return made, done.stdout

        return run

    def test_runs_what_was_said_yes_to(self, at_terminal):
        assert at_terminal("y\nn\nyes\n", "--all")[0] == {"one", "two", "five"}

    def test_runs_one_step(self, at_terminal):
        assert at_terminal("y\n", "--step", "1")[0] == {"one", "two"}

    def test_stops_at_what_fails(self, at_terminal):
        made, output = at_terminal("n\ny\ny\n", "--all")
        assert made == {"three"}
        assert "step 2 failed, stopping" in output

    def test_refuses_another_machine(self, at_terminal):
        made, output = at_terminal("y\ny\ny\n", "--all", host="elsewhere")
        assert made == set()
        assert "not elsewhere: no changes made" in output

    def test_unless_that_is_said(self, at_terminal):
        made, _ = at_terminal("y\nn\nn\n", "--all", "--any-host", host="elsewhere")
        assert made == {"one", "two"}

    def test_refuses_where_nobody_is_asked(self, at_terminal, tmp_path):
        at_terminal("", host=os.uname().nodename.split(".")[0])
        script = next((tmp_path / "fixes").glob("*.sh"))
        done = subprocess.run(
            ["bash", script.name, "--all"], cwd=script.parent, input="y\ny\n", text=True
        )
        assert done.returncode == 1
        assert not (script.parent / "one").exists()

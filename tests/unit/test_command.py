"""./hostproof from what is typed to what is run: verbs, options, and names that do not exist."""

import contextlib
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import click
import pytest
import wrapper
from ansible.inventory.manager import InventoryManager
from ansible.module_utils.hostproof.controls.registry import CONTROLS
from ansible.parsing.dataloader import DataLoader
from cases import cases
from cli_commands import commands, options_of
from hostproof_controller.cli import command, examples, forks, hosts, options, play, suggestions
from hostproof_controller.report.verdict import EXIT_MEANINGS

#: The rules under test are ours; other files show how each ansible-core runs them.
pytestmark = pytest.mark.one_core

ROOT = Path(__file__).resolve().parents[2]
LOCAL = str(ROOT / "inventories/local")
#: In place of ansible-playbook: writes down what it was given, and does what it is told.
STANDIN = """#!{python}
import json, os, signal, sys, time
told = {{"arguments": sys.argv[1:], "environment": dict(os.environ)}}
with open({seen!r}, "w") as stream:
    json.dump(told, stream)
{then}
"""


class Standin:
    """ansible-playbook that only tells what it got. ``then`` is what it does after that."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.seen = folder / "seen.json"
        self.environment = {
            **wrapper.environment(folder),
            "HOSTPROOF_REPORTS": str(folder / "reports"),
            "HOSTPROOF_RECORDS": str(folder / "records"),
            "HOSTPROOF_BASELINES": str(folder / "baselines"),
        }

    def run(self, *typed: str, then: str = "", **more: str) -> subprocess.CompletedProcess[str]:
        program = self.folder / "venv/bin/ansible-playbook"
        program.write_text(STANDIN.format(python=sys.executable, seen=str(self.seen), then=then))
        return subprocess.run(
            [wrapper.HOSTPROOF, *typed],
            env={**self.environment, **more},
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=600,
        )

    @property
    def told(self) -> dict[str, Any]:
        return json.loads(self.seen.read_text())


@pytest.fixture
def standin(tmp_path) -> Standin:
    return Standin(tmp_path)


def refused(capsys, *typed: str) -> str:
    """What is said of something that ends with 1 before anything runs."""
    assert command.main(typed) == 1
    streams = capsys.readouterr()
    assert streams.out == ""
    assert streams.err.startswith("hostproof: ")
    return str(streams.err.removeprefix("hostproof: ").strip())


class TestTheCommands:
    def test_options_of_each_are_named_once(self):
        for name, subcommand in commands().items():
            context = click.Context(subcommand, info_name=name, **subcommand.context_settings)
            words = [word for param in subcommand.get_params(context) for word in param.opts]
            assert len(set(words)) == len(words), name

    def test_help_names_every_command_and_every_exit_code(self, capsys, monkeypatch):
        monkeypatch.setenv("COLUMNS", "120")
        assert command.main(["--help"]) == 0
        printed = capsys.readouterr().out
        for name, summary in command.COMMANDS.items():
            assert re.search(rf"^  {name} +{re.escape(summary)}$", printed, re.MULTILINE)
        assert set(options.JUDGED) == {*EXIT_MEANINGS, 1, 130}
        for code, meaning in options.JUDGED.items():
            assert f"{code:<4} {meaning}" in printed
        for other in ([], ["-h"], ["help"]):
            assert command.main(other) == 0
            assert capsys.readouterr().out == printed

    def test_help_has_an_example_of_each_command_with_options_that_exist(self, capsys):
        assert set(examples.OF_COMMANDS) == set(commands())
        group_examples = [example.removeprefix("./hostproof ") for _, example in command.GROUPS]
        for typed in (*examples.OF_COMMANDS.values(), *group_examples):
            words = shlex.split(typed.partition(" -- ")[0])
            name = next(
                name for name in commands() if typed.split()[: len(name.split())] == name.split()
            )
            assert {word for word in words if word.startswith("-")} <= {*options_of(name)}
        assert command.main(["waive", "--help"]) == 0
        assert examples.OF_COMMANDS["waive"] in " ".join(capsys.readouterr().out.split())

    @cases("words", ["help", "diff"], ["--help", "diff"], ["-h", "diff"], ["diff", "-h"])
    def test_help_of_a_command(self, capsys, words):
        assert command.main(["diff", "--help"]) == 0
        printed = capsys.readouterr().out
        assert "Usage: hostproof diff " in printed
        assert command.main(words) == 0
        assert capsys.readouterr().out == printed

    def test_report_parses_what_the_command_passes_on(self):
        from hostproof_controller.report.__main__ import _parser

        theirs = {name for action in _parser()._actions for name in action.option_strings}
        assert theirs <= {*options_of("report"), "-h"}


class TestNamesThatDoNotExist:
    @cases(
        "typed said",
        (["adit"], "there is no command 'adit'; did you mean audit?"),
        (["AUDIT"], "there is no command 'AUDIT'; did you mean audit?"),
        (["xyzzy"], "there is no command 'xyzzy'; ./hostproof --help lists the commands"),
        (["--limit"], "hostproof has no option '--limit'; ./hostproof --help lists them"),
        (["help", "adit"], "there is no command 'adit'; did you mean audit?"),
        (["help", "audit", "x"], "there is no command 'x' of audit; ./hostproof audit --help"),
        (
            ["latency", "comprae"],
            "there is no command 'comprae' of latency; did you mean compare?",
        ),
        (
            ["diff", "a", "b", "--values"],
            "diff: the option --values is now called --all-changes",
        ),
        (
            ["report", "--readable"],
            "report: the option --readable is now called --world-readable",
        ),
        (["sign", "--who", "x"], "sign: the option --who is now called --signer"),
        (
            ["verify-report", "--signers", "x"],
            "the option --signers is now called --allowed-sig",
        ),
        (["audit", "--who", "x"], "audit has no option '--who'"),
        (["baseline"], "the command 'baseline' is now called latency baseline"),
        (
            ["compare", "--baseline", "x"],
            "compare has no option '--baseline'; it is an option of latency compare",
        ),
        (["detect_storage"], "the command 'detect_storage' is now called detect-storage"),
        (["help", "collection"], "the command 'collection' is now called build-collection"),
        (["audit\x1b[2J"], "did you mean audit?"),
        (["audit", "--evidense", "x"], "audit has no option '--evidense'; did you mean"),
        (["verify", "--tgas", "x"], "did you mean --tags?"),
        (["apply", "-Z"], "apply has no option '-Z'; ./hostproof apply --help lists them"),
        (["audit", "--evidence"], "audit: option '--evidence' requires an argument"),
        (["audit", "-i"], "audit: option '-i' requires an argument"),
        (["audit", "--strict=1"], "audit: option '--strict' does not take a value"),
        (["audit", "other.yml"], "audit: got unexpected extra argument (other.yml)"),
        (["diff", LOCAL, LOCAL, "x"], "diff: got unexpected extra argument (x)"),
        (["diff", LOCAL], "diff needs AFTER (report directory or findings file, later run)"),
        (["report"], "report needs DIR... (report directory of a run)"),
        (["sign", LOCAL], "sign needs --key FILE (SSH private key, or the public key"),
        (["history", "--last", "0"], "history: invalid value for '--last': 0 is not in the"),
        (["audit", "--waivers", "/x"], "audit: invalid value for '--waivers': File '/x' does"),
        (["audit", "--forks", "abc"], "audit: invalid value for '-f' / '--forks': 'abc' is"),
        (["revert", "--forks", "0"], "revert: invalid value for '-f' / '--forks': 0 is not"),
        (["revert", "-T", "x"], "revert: invalid value for '-T' / '--timeout': 'x' is not"),
        (
            ["revert", "-k", "--conn-pass-file", "x"],
            "ansible-playbook: argument --connection-password-file/--conn-pass-file: not "
            "allowed with argument -k/--ask-pass",
        ),
        (["audit", "--tags", "hugpages"], "there is no control 'hugpages'; did you mean huge"),
        (["audit", "-t", "nfs_mounts, hugpages"], "'hugpages'; did you mean hugepages?"),
        (["apply", "--skip-tags=latencies", "-C"], "--skip-tags: there is no control"),
        (["record", "--tags", "zzz"], f"'zzz'; there are {min(CONTROLS)}, "),
        (["audit", "-i", f"{LOCAL}s"], "did you mean local?"),
        (
            ["latency", "compare", "--baseline", LOCAL, "--evidence", "/"],
            "latency compare has no option '--evidence'; it is an option of audit and init",
        ),
        (
            ["record", "--gate"],
            "record has no option '--gate'; it is an option of apply and revert",
        ),
        (["report", "x", "--format", "cvs"], "'--format': 'cvs' is not one of 'csv', 'mark"),
        (["completion", "bsh"], "'SHELL': 'bsh' is not one of 'bash', 'zsh', 'fish'"),
    )
    def test_are_said_before_anything_runs(self, capsys, monkeypatch, typed, said):
        monkeypatch.setattr(play, "_wait_for", lambda *_: pytest.fail("something was run"))
        words = refused(capsys, *typed)
        assert said in words
        assert "\n" not in words
        assert "\x1b" not in words

    @cases(
        "limit said",
        ("db01.example.com", []),
        ("db1", ["'db1'; did you mean db01.example.com?"]),
        ("db01.example.com,db02x,web", ["'db02x'; did you mean db02.example.com?"]),
        ("databses", ["'databses'; did you mean databases?"]),
        ("databases:!db1", ["'db1'; did you mean db01.example.com?"]),
        (
            "all:&zzzzzz",
            ["'zzzzzz'; ./hostproof audit -i INVENTORY --list-hosts lists the hosts"],
        ),
        ("db0[1:2]*", []),
        ("*", []),
        ("~db.*", []),
        ("@retry", []),
        ("fe80::1", []),
        ("zz*", ["'zz*'; ./hostproof audit -i INVENTORY --list-hosts lists the hosts"]),
    )
    def test_words_of_limit(self, tmp_path, limit, said):
        (tmp_path / "hosts.ini").write_text(
            "[databases]\ndb01.example.com\ndb02.example.com\n[web]\nfe80::1\n"
        )
        inventory = InventoryManager(loader=DataLoader(), sources=[str(tmp_path / "hosts.ini")])
        sentences = hosts.unknown_of(inventory, limit)
        assert len(sentences) == len(said), sentences
        for sentence, words in zip(sentences, said, strict=True):
            assert sentence.endswith(words)

    def test_nothing_is_near(self):
        assert suggestions.did_you_mean("x", ["hugepages", "latency"]) == ""
        assert suggestions.did_you_mean("pool_covers", ["hugepages.pool_covers_sga"], -1).endswith(
            "hugepages.pool_covers_sga?"
        )

    def test_a_run_with_a_misspelt_host_among_others_asks_none(self, tmp_path):
        """As the wrapper runs it, with the real ansible-playbook."""
        marker = tmp_path / "asked"
        local = {"ansible_connection": "local", "ansible_python_interpreter": f"touch {marker};"}
        inventory = {"all": {"hosts": {"north": local, "south": local}}}
        (tmp_path / "hosts.json").write_text(json.dumps(inventory))
        for verb in ("audit", "verify", "record"):
            done = subprocess.run(
                [wrapper.HOSTPROOF, verb, "-i", "hosts.json", "--limit", "north,soth"],
                env={
                    **wrapper.environment(tmp_path / verb),
                    "HOSTPROOF_REPORTS": str(tmp_path / "reports"),
                    "HOSTPROOF_RECORDS": str(tmp_path / "records"),
                },
                cwd=tmp_path,
                capture_output=True,
                text=True,
                timeout=600,
            )
            assert "'soth'; did you mean south?" in done.stderr, done
            assert done.returncode == 1
            assert not marker.exists()
            assert not list((tmp_path / "reports").glob("*"))


class TestWhatIsRun:
    def test_options_arrive_as_they_were_typed(self, standin):
        typed = ["-i", LOCAL, "-e", "a=1", "-vv", "-e@x", "--check", "-D", "--ssh-extra-args=-R x"]
        done = standin.run("verify", *typed, "--strict", "--tags", "latency")
        assert done.returncode == 3, done.stdout
        playbook, *rest = standin.told["arguments"]
        assert playbook == str(ROOT / "playbooks/verify.yml")
        expected = [
            *(f"--inventory={LOCAL}", "--tags=latency", "--extra-vars=a=1", "--extra-vars=@x"),
            *("-C", "-D", "-v", "-v", "--ssh-extra-args=-R x"),
        ]
        # The exit code is that of the report, so that no task fails the hosts.
        assert rest[-4:] == [
            *("--skip-tags", "verdicts_of_hosts,outside_command"),
            *("-e", '{"hostproof_strict": true}'),
        ]
        # In the order of Ansible's own parser, which is another in another ansible-core.
        assert sorted(rest[:-4]) == sorted(expected)
        assert rest.index("--extra-vars=a=1") < rest.index("--extra-vars=@x")

    @cases(
        "typed told asked",
        *(("audit", None, "200"), ("audit --forks 7", None, None), ("audit -f7", None, None)),
        *(("audit", "7", "7"), ("audit", "", "200"), ("audit --evidence .", None, None)),
        *(("verify", None, None), ("apply -i hosts", None, None)),
    )
    def test_an_audit_asks_many_hosts_at_once_where_nobody_says_how_many(
        self, tmp_path, monkeypatch, typed, told, asked
    ):
        monkeypatch.chdir(tmp_path)
        (tmp_path / "hosts").touch()
        for name in ("REPORTS", "BASELINES"):
            monkeypatch.setenv(f"HOSTPROOF_{name}", str(tmp_path))
        monkeypatch.delenv("ANSIBLE_FORKS", raising=False)
        if told is not None:
            monkeypatch.setenv("ANSIBLE_FORKS", told)
        monkeypatch.setattr(forks, "in_this_memory", lambda: 200)
        seen = []

        def noted(command: list[str], environment: dict[str, str]) -> tuple[int, bool]:
            seen.append(environment.get("ANSIBLE_FORKS"))
            return 250, False

        monkeypatch.setattr(play, "_wait_for", noted)
        assert command.main(typed.split()) == 1
        assert seen == [asked]

    @cases("room ours", (None, True), (200, False))
    def test_ansible_cfg_says_how_many_where_memory_is_short_or_somebody_changed_it(
        self, tmp_path, monkeypatch, room, ours
    ):
        monkeypatch.setenv("HOSTPROOF_REPORTS", str(tmp_path))
        monkeypatch.delenv("ANSIBLE_FORKS", raising=False)
        monkeypatch.setattr(forks, "in_this_memory", lambda: room)
        monkeypatch.setattr(forks, "are_ours", lambda _: ours)
        seen = []
        monkeypatch.setattr(play, "_wait_for", lambda _, names: seen.extend(names) or (250, False))
        assert command.main(["audit"]) == 1
        assert seen
        assert "ANSIBLE_FORKS" not in seen

    def test_its_environment_is_the_caller_s(self, standin):
        standin.run("verify", "-i", LOCAL, PYTHONPATH="/mine")
        environment = standin.told["environment"]
        assert environment["PYTHONPATH"] == "/mine"
        assert environment["ANSIBLE_CONFIG"] == str(ROOT / "ansible.cfg")
        assert "HOSTPROOF_ENVIRONMENT" not in environment
        standin.run("verify", "-i", LOCAL)
        assert standin.told["environment"].get("PYTHONPATH") == os.environ.get("PYTHONPATH")

    def test_what_lies_where_it_is_typed_is_no_module_of_ours(self, standin):
        for name in ("click", "ansible", "json", "hostproof_controller"):
            (standin.folder / f"{name}.py").write_text("raise SystemExit('loaded')\n")
        assert "loaded" not in standin.run("--version").stdout
        assert standin.run("--version").returncode == 0

    @cases(
        "verb then code",
        ("verify", "os.kill(os.getppid(), signal.SIGINT); time.sleep(0.2); sys.exit(0)", 130),
        ("revert", "sys.exit(99)", 130),
        ("revert", "sys.exit(0)", 0),
        ("revert", "sys.exit(2)", 2),
        ("revert", "sys.exit(4)", 4),
        ("revert", "sys.exit(1)", 1),
        ("revert", "sys.exit(250)", 1),
        ("verify", "os.kill(os.getpid(), signal.SIGKILL)", 1),
        ("verify", "sys.exit(2)", 1),
        ("verify", "sys.exit(1)", 3),
        ("apply", "sys.exit(1)", 1),
        ("apply", "sys.exit(2)", 2),
        ("record", "sys.exit(4)", 4),
        ("detect-storage", "sys.exit(2)", 2),
    )
    def test_exit_codes(self, standin, verb, then, code):
        done = standin.run(verb, "-i", LOCAL, then=then)
        assert done.returncode == code, done.stdout

    def test_the_report_decides_where_there_is_one(self, standin):
        then = (
            "os.makedirs(os.environ['HOSTPROOF_REPORT'])\n"
            "with open(os.environ['HOSTPROOF_REPORT'] + '/report.json', 'w') as s:\n"
            """    s.write('{\\n "exit_code": 4,\\n "findings": [\\n "exit_code": 0,\\n]}')\n"""
            "sys.exit(0)"
        )
        assert standin.run("audit", "-i", LOCAL, then=then).returncode == 4

    def test_folders_of_a_run_are_named_and_are_the_owner_s(self, standin):
        standin.run("record", "-i", LOCAL)
        assert standin.told["environment"]["HOSTPROOF_RECORD"].startswith(
            str(standin.folder / "records/2")
        )
        assert not (standin.folder / "records").exists()
        standin.run("latency", "compare", "-i", LOCAL)
        environment = standin.told["environment"]
        assert environment["HOSTPROOF_BASELINE"].startswith(str(standin.folder / "baselines/2"))
        assert (standin.folder / "baselines").stat().st_mode & 0o777 == 0o700

    def test_a_folder_that_cannot_be_made_is_said(self, standin):
        (standin.folder / "file").write_text("")
        done = standin.run("audit", "-i", LOCAL, HOSTPROOF_REPORTS=str(standin.folder / "file/in"))
        assert done.returncode == 1
        assert "cannot be written; set another directory in HOSTPROOF_REPORTS" in done.stdout
        assert not standin.seen.exists()

    def test_apply_to_this_machine_is_asked_for(self, standin):
        done = standin.run("apply")
        assert done.returncode == 1
        assert "changes this machine and needs a terminal" in done.stdout
        assert not standin.seen.exists()
        assert standin.run("apply", "--check").returncode == 0
        assert standin.run("apply", "--list-tags").returncode == 0

    def test_looks_make_no_folder(self, standin):
        assert standin.run("audit", "--list-tasks").returncode == 0
        assert "--list-tasks" in standin.told["arguments"]
        assert not (standin.folder / "reports").exists()

    @cases("name", "a{{ 7 * 7 }}b", "a\nb", 'a"b')
    def test_a_path_that_ansible_would_take_for_more_is_refused(self, standin, name):
        (standin.folder / name).write_text("[]\n")
        done = standin.run("audit", "--waivers", name)
        assert done.returncode == 1
        assert "cannot be passed on" in done.stdout
        assert not standin.seen.exists()


class TestStart:
    @cases(
        "words expected",
        (["--help"], set()),
        (["help"], set()),
        (["record", "-i", LOCAL], {"ansible", "ansible.cli", "jinja2", "yaml"}),
        (["completion", "bash"], set()),
    )
    def test_a_command_loads_nothing_that_it_does_not_need(self, words, expected):
        """What shows tables and makes pages takes longer to load than all the rest."""
        script = (
            "import json, sys; from hostproof_controller.cli import command\n"
            "if 'record' in sys.argv:\n"
            "    from hostproof_controller.cli import play\n"
            "    play._wait_for = lambda *_: (250, False)\n"
            "command.main(sys.argv[1:])\n"
            "print(json.dumps(list(sys.modules)), file=sys.stderr)"
        )
        done = subprocess.run(
            [sys.executable, "-c", script, *words],
            env={**os.environ, "PYTHONPATH": str(ROOT / "plugin_utils")},
            capture_output=True,
            text=True,
            timeout=600,
        )
        slow = {
            *("rich", "jinja2", "yaml", "ansible"),
            *("ansible.cli", "hostproof_controller.report.html"),
        }
        loaded = slow & set(json.loads(done.stderr.splitlines()[-1]))
        assert loaded <= expected
        assert ("ansible.cli" in loaded) == bool(expected)

    def test_version(self, capsys):
        assert command.main(["--version"]) == 0
        output = capsys.readouterr().out
        assert output.startswith("hostproof 0.")
        assert "ansible-core 2." in output

    @pytest.mark.parametrize("name", [name for name in commands() if name != "test"])
    def test_each_command_tells_its_options_and_exit_codes(self, capsys, monkeypatch, name):
        monkeypatch.setenv("COLUMNS", "200")
        assert command.main([*name.split(), "--help"]) == 0
        printed = capsys.readouterr().out
        for param in commands()[name].params:
            assert param.opts[-1] in printed or isinstance(param, click.Argument), param
            assert " ".join(str(param.help).split()) in " ".join(printed.split()), param
        for code, meaning in commands()[name].exits.items():
            assert re.search(rf"^  {code} +{re.escape(meaning)}$", printed, re.MULTILINE)
        assert "Exit codes:" in printed

    def test_the_tests_parse_their_own_arguments(self, monkeypatch):
        seen = []
        monkeypatch.setattr(os, "execve", lambda *words: seen.append(words[1][2:]))
        with contextlib.suppress(TypeError):
            command.main(["test", "--help", "--quick", "--", "unit", "-x"])
        assert seen == [["--help", "--quick", "--", "unit", "-x"]]


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells a child of its parent's end")
@cases("number", signal.SIGKILL, signal.SIGTERM, signal.SIGHUP, ids=str)
@cases("options", [], ["--checks", "hugepages"], ids=["all", "checks"])
def test_no_process_survives_the_wrapper(standin, number, options):
    """Neither ansible-playbook, nor a worker that ignores the end of its parent."""
    program = standin.folder / "venv/bin/ansible-playbook"
    # As Ansible does: its end is that of its workers, which have separate sessions.
    then = f"""
import signal
import subprocess
worker = subprocess.Popen(["sleep", "300"], start_new_session=True)
with open({str(standin.folder / "new")!r}, "w") as stream:
    stream.write(f"{{os.getpid()}} {{worker.pid}}")
os.rename({str(standin.folder / "new")!r}, {str(standin.folder / "pids")!r})
try:
    time.sleep(300)
finally:
    worker.kill()
"""
    program.write_text(STANDIN.format(python=sys.executable, seen=str(standin.seen), then=then))
    started = subprocess.Popen(
        [wrapper.HOSTPROOF, "audit", *options],
        env=standin.environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        # Tests that nohup started ignore this signal.
        preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_DFL),
    )
    noted = standin.folder / "pids"
    until = time.monotonic() + 120
    while not noted.exists() and started.poll() is None and time.monotonic() < until:
        time.sleep(0.05)
    pids = [int(word) for word in noted.read_text().split()]
    started.send_signal(number)
    started.wait()
    while any(map(lives, pids)) and time.monotonic() < until:
        time.sleep(0.05)
    left = [pid for pid in pids if lives(pid)]
    for pid in left:
        os.kill(pid, signal.SIGKILL)
    assert left == []


def lives(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False

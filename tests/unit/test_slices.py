"""An audit in slices: how hosts are cut, jobs of ansible-runner here and on nodes, one that dies.

ssh is a stand-in: it runs what it is given on this machine, with a folder a node.
"""

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from ansible.module_utils.hostproof.errors import HostproofError
from cases import cases
from hostproof_controller.cli import slicing
from hostproof_controller.cli.errors import Refused
from hostproof_controller.cli.slicing import Slicing
from hostproof_controller.slices.gathering import gather
from hostproof_controller.slices.jobs import AuditRequest, Job
from hostproof_controller.slices.nodes import Node, read_nodes
from hostproof_controller.slices.splitting import split

#: The virtualenvs of other releases have no ansible-runner.
pytestmark = pytest.mark.one_core

ROOT = Path(__file__).resolve().parents[2]
HOSTS = [f"db{number}" for number in range(1, 7)]
CLUSTERS = {"rac1": ["db1", "db4"], "rac2": ["db2", "db5"]}
#: What two slices of them are: clusters first, then who is left.
FIRST, SECOND = ["db1", "db3", "db4"], ["db2", "db5", "db6"]

#: Of the stand-in of ssh: the node is the last word but one, what it runs there the last.
SSH = """\
#!{python}
import os, shutil, subprocess, sys, time
node, command = sys.argv[-2:]
here = {folder!r}
assert "BatchMode=yes" in sys.argv and sys.argv[-3] == "--"
if node == "gone":
    sys.exit("ssh: connect to host gone port 22: No route to host")
shutil.rmtree(f"{{here}}/{{node}}", ignore_errors=True)
command = f"exec {{command}} --private-data-dir {{here}}/{{node}}"
worker = subprocess.Popen(["/bin/sh", "-c", command])
while worker.poll() is None:
    if node == "doomed" and os.path.exists(f"{{here}}/asked"):
        worker.kill()
    time.sleep(0.05)
sys.exit(worker.returncode if worker.returncode >= 0 else 128 - worker.returncode)
"""

#: The Python of a host that says that it was asked, and answers when nobody holds it any more.
HELD = """\
#!/bin/sh
while [ -e {folder}/hold ]; do : >{folder}/asked; sleep 0.1; done
exec {python} "$@"
"""


class TestSplit:
    def test_clusters_stay_together(self):
        assert split(HOSTS, CLUSTERS, 2) == [FIRST, SECOND]

    def test_the_order_of_the_inventory_changes_nothing(self):
        groups = {name: CLUSTERS[name][::-1] for name in reversed(CLUSTERS)}
        assert split(HOSTS[::-1], groups, 2) == [FIRST, SECOND]

    def test_a_group_that_fits_into_no_slice_is_cut(self):
        slices = split(HOSTS, {"databases": HOSTS}, 3)
        assert slices == [["db1", "db4"], ["db2", "db5"], ["db3", "db6"]]

    def test_the_smallest_group_counts(self):
        groups = {"site": ["db1", "db2", "db3"], "rac": ["db1", "db2"], "primary": ["db1"]}
        assert split(["db1", "db2", "db3", "db4"], groups, 2) == [["db1", "db2"], ["db3", "db4"]]

    def test_hosts_that_the_limit_left_out_are_in_no_slice(self):
        assert split(["db1", "db2"], CLUSTERS, 2) == [["db1"], ["db2"]]

    def test_no_slice_is_empty(self):
        assert split(["db10", "db9"], {}, 5) == [["db9"], ["db10"]]

    def test_every_host_is_in_one_slice_and_none_is_much_larger(self):
        hosts = [f"node{number}" for number in range(1000)]
        groups = {f"rac{start}": hosts[start : start + 4] for start in range(0, 400, 4)}
        slices = split(hosts, groups, 7)
        assert sorted(host for part in slices for host in part) == sorted(hosts)
        assert max(map(len, slices)) - min(map(len, slices)) <= 4
        for members in groups.values():
            assert sum(bool(set(members) & set(part)) for part in slices) == 1


class TestNodes:
    def read(self, folder: Path, text: str) -> list[Node]:
        file = folder / "nodes"
        file.write_text(text)
        return read_nodes(file)

    def test_names_folders_and_comments(self, tmp_path):
        nodes = self.read(tmp_path, "# ours\nnode1\n\nops@node2 /opt/hostproof/.venv/bin  # slow\n")
        assert nodes == [Node("node1", None), Node("ops@node2", "/opt/hostproof/.venv/bin")]
        path = 'env PATH=/opt/hostproof/.venv/bin:"$PATH" ansible-runner worker'
        assert nodes[1].command[-3:] == ["--", "ops@node2", path]

    @cases("line", "-oProxyCommand=id", "node;id", "node1 bin", "node1 /bin;id", "node1 /bin more")
    def test_what_ssh_or_a_shell_would_take_for_more_is_refused(self, tmp_path, line):
        with pytest.raises(HostproofError, match="line 2: not NODE"):
            self.read(tmp_path, f"node0\n{line}\n")

    def test_a_file_without_nodes_is_refused(self, tmp_path):
        with pytest.raises(HostproofError, match="names 0 nodes"):
            self.read(tmp_path, "# none yet\n")

    def test_the_largest_file(self, tmp_path):
        comment = "#" * ((1 << 20) - len("node0\n"))
        assert self.read(tmp_path, "node0\n" + comment) == [Node("node0", None)]
        with pytest.raises(HostproofError, match="has more than 1048576 bytes"):
            self.read(tmp_path, "node0\n" + comment + "#")

    def test_a_file_that_is_not_there_is_refused(self, tmp_path):
        with pytest.raises(HostproofError, match="No such file"):
            read_nodes(tmp_path / "nodes")


class Audit(NamedTuple):
    """How one ended. ``judged`` is, by host, what each finding says."""

    code: int
    output: str
    report: Path

    @property
    def lines(self) -> list[dict[str, Any]]:
        text = (self.report / "findings.jsonl").read_text()
        return [json.loads(line) for line in text.splitlines()]

    @property
    def judged(self) -> dict[str, list[tuple[Any, ...]]]:
        document = json.loads((self.report / "report.json").read_text())
        fields = ("check", "title", "status", "severity", "desired", "fix", "commands")
        findings: dict[str, list[tuple[Any, ...]]] = {}
        for finding in document["findings"]:
            findings.setdefault(finding["host"], []).append(
                tuple(str(finding[field]) for field in fields)
            )
        return {host: sorted(findings[host]) for host in sorted(findings)}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("slices")
    for name, text in (("ssh", SSH), ("held-python", HELD)):
        (folder / name).write_text(text.format(folder=str(folder), python=sys.executable))
        (folder / name).chmod(0o755)
    (folder / "group_vars").mkdir()
    (folder / "group_vars/all.json").write_text(
        json.dumps(
            {
                "ansible_connection": "local",
                "ansible_python_interpreter": sys.executable,
                "hostproof_window_seconds": 0,
            }
        )
    )
    clusters = {
        name: {
            "hosts": dict.fromkeys(hosts, {}),
            "vars": {
                "cluster_nodes_name": name,
                "cluster_nodes_expected": f"{{{{ groups['{name}'] }}}}",
            },
        }
        for name, hosts in CLUSTERS.items()
    }
    held = {"ansible_python_interpreter": str(folder / "held-python")}
    hosts = {host: held if host == "db5" else {} for host in HOSTS}
    inventory = {"all": {"hosts": hosts, "children": clusters}}
    (folder / "hosts.json").write_text(json.dumps(inventory))
    (folder / "one-node").write_text("node1")
    flat = {
        host: {"cluster_nodes_name": name, "cluster_nodes_expected": hosts}
        for name, hosts in CLUSTERS.items()
        for host in hosts
    }
    (folder / "flat.json").write_text(
        json.dumps({"all": {"hosts": {**dict.fromkeys(HOSTS, {}), **flat}}})
    )
    (folder / "more.yml").write_text("somebodys_own: true\n")
    for nodes in ("node1 node2", "node1 doomed", "gone"):
        (folder / nodes.replace(" ", "-")).write_text(nodes.replace(" ", "\n"))
    return folder


@pytest.fixture(scope="module")
def audit(place: Path) -> Callable[..., Audit]:
    """audit(name, option...): an audit of all hosts, whose reports are in the folder ``name``.

    ``variables`` are the environment's."""

    def run(
        name: str,
        *options: str,
        interrupt: Path | None = None,
        inventory: str = "hosts.json",
        **variables: str,
    ) -> Audit:
        unwanted = ("ANSIBLE_", "HOSTPROOF_", "AWX_", "RUNNER_")
        kept = {key: value for key, value in os.environ.items() if not key.startswith(unwanted)}
        environment = {
            **kept,
            "PATH": f"{place}:{Path(sys.executable).parent}:{os.environ['PATH']}",
            "PYTHONPATH": str(ROOT / "plugin_utils"),
            "HOSTPROOF_REPORTS": str(place / "reports" / name),
            **variables,
        }
        words = ["-i", inventory, "-e", "@more.yml", "--tags", "io_pacing,cluster_nodes"]
        with subprocess.Popen(
            [sys.executable, "-m", "hostproof_controller", "audit", *words, *options],
            cwd=place,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        ) as running:
            if interrupt:
                wait_until(lambda: interrupt.exists() or running.poll() is not None)
                # What a terminal does with Ctrl-C: it tells all that run in it.
                os.killpg(running.pid, signal.SIGINT)
            output, _ = running.communicate(timeout=600)
        reports = list((place / "reports" / name).glob("*"))
        return Audit(running.returncode, output, reports[0] if reports else place)

    return run


@pytest.fixture(scope="module")
def plain(audit: Callable[..., Audit]) -> Audit:
    result = audit("plain")
    assert set(result.judged) >= set(HOSTS), result.output
    return result


@pytest.fixture
def hold(place: Path) -> Iterator[None]:
    """The Python of db5 does not answer, until whoever waits for it is gone."""
    (place / "hold").touch()
    yield
    (place / "hold").unlink()
    wait_until(lambda: not processes_with(str(place), "ansible-playbook", "held-python"))
    (place / "asked").unlink(missing_ok=True)


def wait_until(so: Callable[[], bool]) -> None:
    while not so():
        time.sleep(0.05)


def processes_with(*words: str) -> list[str]:
    """Commands of this machine with the first of these words and one of the others."""
    commands = []
    for file in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            command = file.read_bytes().replace(b"\0", b" ").decode(errors="replace")
            if words[0] in command and any(word in command for word in words[1:]):
                commands.append(command)
    return commands


def check_one_run(found: Audit, validate_line: Callable[[dict[str, Any]], None]) -> None:
    # The report adds what it has to say of clusters.
    hosts = [line["host"] for line in found.lines if not line["host"].startswith("(")]
    assert sorted(hosts) == HOSTS, found.output
    for line in found.lines:
        validate_line(line)
        assert line["run"] == {**line["run"], "id": found.report.name, "hosts": len(HOSTS)}


@pytest.mark.long
class TestAudits:
    @cases("cut", ("--slices", "auto", "--forks", "3"), ("--slice-nodes", "node1-node2"))
    def test_slices_together_are_the_audit_in_one_piece(self, audit, plain, cut, validate_line):
        result = audit(cut[1], *cut)
        check_one_run(result, validate_line)
        assert re.search(r"slice 2 of 2.*: 3 hosts", result.output)
        assert result.judged == plain.judged
        assert result.code == plain.code
        assert "(cluster rac1)" in result.judged
        assert not list(result.report.glob("*.log"))

    def test_a_cluster_that_no_group_tells_is_cut_and_compared_as_a_whole(self, audit):
        first, second = split(HOSTS, {}, 2)
        assert "db1" in first and "db4" in second
        whole = audit("flat", inventory="flat.json")
        result = audit("flat-cut", "--slices", "2", inventory="flat.json")
        assert {"(cluster rac1)", "(cluster rac2)"} <= set(result.judged), result.output
        assert result.judged == whole.judged
        assert result.code == whole.code

    @pytest.mark.usefixtures("hold")
    def test_a_worker_that_is_killed_loses_its_own_hosts_only(
        self, place, audit, plain, validate_line
    ):
        result = audit("killed", "--slice-nodes", "node1-doomed")
        check_one_run(result, validate_line)
        for host in FIRST:
            assert result.judged[host] == plain.judged[host]
        # ansible-runner would take any key for a host's, if nothing were said.
        variables = json.loads((place / "node1/env/envvars").read_text())
        assert variables["ANSIBLE_HOST_KEY_CHECKING"] == "True"
        assert result.judged["(cluster rac1)"] == plain.judged["(cluster rac1)"]
        lines = {line["host"]: line for line in result.lines}
        for host in SECOND:
            assert [finding[0] for finding in result.judged[host]] == ["host.audited"]
            assert lines[host]["outcome"] == "failed"
            why = lines[host]["message"]
            assert why.startswith("Lost with slice 2 of 2 on doomed: ssh doomed ended with 137"), (
                why
            )
        assert [path.name for path in result.report.glob("*.log")] == ["slice-2.log"]
        assert "slice 2 of 2 on doomed lost 3 of its 3 hosts" in result.output
        assert result.code == (2 if plain.code == 2 else 3)

    @pytest.mark.usefixtures("hold")
    @cases("cut", ("--slices", "2"), ("--slice-nodes", "node1-node2"))
    def test_an_interruption_ends_all_slices_and_names_who_was_not_judged(
        self, place, audit, cut, validate_line
    ):
        result = audit(f"interrupted-{cut[1]}", *cut, interrupt=place / "asked")
        check_one_run(result, validate_line)
        assert result.code == 130, result.output
        lines = {line["host"]: line for line in result.lines}
        assert lines["db5"]["outcome"] == "failed", result.output
        assert lines["db5"]["message"].startswith("Lost with slice 2 of 2")
        assert "the audit was interrupted" in lines["db5"]["message"]
        assert re.search(r"slice 2 of 2.* lost [123] of its 3 hosts", result.output)
        assert processes_with(str(place), "ansible-runner") == []
        if "--slices" in cut:
            # Not even what waits for the answer of a host.
            assert processes_with(str(place), "ansible-playbook", "held-python") == []

    @pytest.mark.usefixtures("hold")
    def test_after_an_interruption_no_slice_begins(self, place, audit, plain, validate_line):
        options = ("--slices", "3", "--slice-nodes", "one-node")
        result = audit("interrupted-early", *options, interrupt=place / "asked")
        check_one_run(result, validate_line)
        lines = {line["host"]: line for line in result.lines}
        for host in ("db1", "db4"):
            assert result.judged[host] == plain.judged[host], "it had ended by then"
        for host in ("db3", "db6"):
            assert lines[host]["message"] == (
                "Lost with slice 3 of 3 on node1: the audit was interrupted before it began"
            )
        assert "slice 3 of 3 on node1 lost 2 of its 2 hosts" in result.output
        assert "slice 3 of 3 on node1: 2 hosts" not in result.output
        assert not (result.report / "slice-3.log").exists()
        assert result.code == 130, result.output

    def test_a_node_that_does_not_answer_is_the_reason(self, audit):
        result = audit("gone", "--slice-nodes", "gone", "--limit", "db1,db2")
        reasons = {line["host"]: line["message"] for line in result.lines}
        assert sorted(reasons) == ["db1", "db2"], result.output
        assert "ssh gone ended with 1: ssh: connect to host gone port 22" in reasons["db2"]
        assert result.code == 3


class TestAuto:
    """--slices auto: as many hosts a slice as are asked at once."""

    def slicing(self, monkeypatch: pytest.MonkeyPatch, hosts: int, **given: Any) -> Slicing:
        names = [f"h{number}" for number in range(hosts)]
        monkeypatch.setattr(slicing, "hosts_and_groups", lambda *_: (names, {}))
        monkeypatch.setattr(slicing.os, "cpu_count", lambda: given.get("processors", 2))
        return Slicing(
            given.get("count", 0), given.get("forks", 0), given.get("nodes", []), ["hosts"], ""
        )

    @cases(
        "hosts given slices",
        (1000, {}, 10),
        (1001, {}, 11),
        (3, {}, 1),
        # Four at once have the forks of two; one has what an audit has.
        (1000, {"processors": 4}, 20),
        (1000, {"processors": 1}, 10),
        (1000, {"processors": 256}, 40),
        (1000, {"forks": 250}, 4),
        (1000, {"count": 7}, 7),
        (1000, {"nodes": [Node("a", ""), Node("b", "")]}, 10),
        (10, {"nodes": [Node("a", ""), Node("b", "")]}, 2),
    )
    def test_how_many(self, monkeypatch, hosts, given, slices):
        jobs = self.slicing(monkeypatch, hosts, **given).jobs()
        assert len(jobs) == slices
        assert max(len(job.hosts) for job in jobs) - min(len(job.hosts) for job in jobs) <= 1

    def test_more_than_can_be_made_is_refused(self, monkeypatch):
        with pytest.raises(Refused, match=r"3000 hosts, 2 at a time, would be 1500 slices"):
            self.slicing(monkeypatch, 3000, forks=2).jobs()


class TestRefusals:
    """One sentence, and nothing was run."""

    @cases(
        "options sentence",
        (["--slices", "many"], "--slices: many is neither a number of slices nor auto"),
        (["--slices", "0"], "1 to 1000 slices can be made, not 0"),
        (["--slices", "2", "--forks", "0"], "'--forks': 0 is not in the range x>=1"),
        (["--slices", "2", "-f", "x"], "'--forks': 'x' is not a valid integer"),
        (["--slices", "2", "--forks="], "'--forks': '' is not a valid integer"),
        (["--slices", "2", "-K"], "use --become-password-file with --slices"),
        (["--slices", "2", "--evidence", "."], "--evidence contacts no host"),
        (["--slices", "2", "-e", "@none.yml"], "there is no file none.yml"),
        (["--slices", "2", "--limit", "bd1"], "no host or group of the inventory is 'bd1'"),
        (
            ["--slices", "2", "--limit", "all,!db*"],
            "no host matches: nothing to split into slices",
        ),
        (["--slice-nodes", "none"], "'--slice-nodes': File 'none' does not exist"),
    )
    def test_what_cannot_be_done(self, place, refused, monkeypatch, options, sentence):
        monkeypatch.chdir(place)
        output = refused("audit", "-i", "hosts.json", "-e", "@more.yml", *options)
        # Ansible may have warned of it already.
        messages = [line for line in output.splitlines() if not line.startswith("[WARNING]")]
        assert len(messages) == 1, output
        assert sentence in messages[0]

    def test_forks_of_the_environment_are_read_as_typed_ones(self, place, audit):
        result = audit("refused", "--slices", "2", ANSIBLE_FORKS="0")
        assert "ANSIBLE_FORKS: 0 is not a number of parallel hosts: 1 to 9999" in result.output
        assert (result.code, result.report) == (1, place)
        result = audit("refused", "--slices", "2", ANSIBLE_FORKS="many")
        (sentence,) = result.output.splitlines()
        assert "Ansible cannot start: " in sentence
        assert "ANSIBLE_FORKS" in sentence
        assert (result.code, result.report) == (1, place)

    def test_ansible_runner_is_asked_for(self, monkeypatch, tmp_path, audit, place):
        """It is no part of what ./hostproof installs."""
        monkeypatch.setenv("HOSTPROOF_ENVIRONMENT", str(tmp_path))
        environment = {
            **os.environ,
            "PYTHONPATH": str(ROOT / "plugin_utils"),
            "HOSTPROOF_REPORTS": str(tmp_path / "reports"),
        }
        done = subprocess.run(
            [sys.executable, "-m", "hostproof_controller", "audit", "-i", "x,", "--slices", "2"],
            env=environment,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 1
        assert "python -m pip install -r requirements-slices.txt" in done.stderr
        assert not (tmp_path / "reports").exists()


class TestGather:
    """What a job brings back is not to be trusted further than its own hosts."""

    def run(self, folder: Path, lines: str) -> tuple[list[dict[str, Any]], Job]:
        """The merged lines where ansible-runner is a stand-in that brings back these."""
        (folder / "brought").write_text(lines)
        runner = folder / "ansible-runner"
        reports = "$2/artifacts/slice/reports/one"
        runner.write_text(
            f"#!/bin/sh\nmkdir -p {reports}\ncp {folder}/brought {reports}/findings.jsonl\n"
            "echo '\x1b[31mnothing more' >&2\nexit 4\n"
        )
        runner.chmod(0o755)
        job = Job(1, 1, ["db1", "db2"], None)
        job.run(folder, AuditRequest(["db1,db2,"], [], [], folder, dict(os.environ)), [])
        report = folder / "report"
        report.mkdir()
        gather(report, "2026-11-23T04:00:00Z", [job])
        text = (report / "findings.jsonl").read_text()
        return [json.loads(line) for line in text.splitlines()], job

    def line(self, host: str) -> str:
        return (
            json.dumps(
                {
                    "schema": 3,
                    "run": {"id": "other", "started": "2026-11-23T04:00:00Z", "hosts": 99},
                    "host": host,
                    "at": "2026-11-23T04:00:01Z",
                    "recorded_at": None,
                    "outcome": "unreachable",
                    "message": "no route",
                    "findings": [],
                    "evidence": None,
                }
            )
            + "\n"
        )

    def test_lines_of_other_hosts_and_lines_that_are_cut_do_not_count(self, tmp_path):
        brought = self.line("db1") + self.line("db9") + self.line("(run)") + self.line("db2")[:-40]
        lines, _ = self.run(tmp_path, brought)
        assert [(line["host"], line["outcome"]) for line in lines] == [
            ("db1", "unreachable"),
            ("db2", "failed"),
        ]
        assert [line["run"] for line in lines] == [
            {"id": "report", "started": "2026-11-23T04:00:00Z", "hosts": 2}
        ] * 2
        assert lines[1]["message"] == (
            r"Lost with slice 1 of 1: ansible-runner ended with 4: \x1b[31mnothing more"
        )

    def test_the_output_of_a_job_that_lost_hosts_is_kept_without_what_a_terminal_obeys(
        self, tmp_path
    ):
        self.run(tmp_path, "")
        kept = (tmp_path / "report/slice-1.log").read_text()
        assert r"\x1b[31mnothing more" in kept
        assert "\x1b" not in kept

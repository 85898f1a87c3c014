"""./hostproof from its command line to its report, with the virtualenv of the tests as its own.

A run takes more than a second, so that several tests look at the same one.
"""

import json
import shutil
import stat
import subprocess
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import packs
import pytest
import wrapper
import yaml
from ansible.module_utils.hostproof.collect import evidence
from cases import cases

ROOT = Path(__file__).resolve().parents[2]
FIXTURES = packs.FIXTURES / "hugepages"
FILES = {"findings.jsonl", "report.json", "report.xml", "report.prom", "report.html"}

#: Answers at once that nothing listens there.
UNREACHABLE = {
    "ansible_connection": "ssh",
    "ansible_host": "127.0.0.1",
    "ansible_port": 1,
    "ansible_ssh_common_args": "-o ControlMaster=no",
}


#: A check of a site without its comparison.
OWN_CHECK = {
    **{"id": "swap", "title": "t", "problem": "p", "severity": "low", "why": "w"},
    **{"reference": "r", "sysctl": "vm.swappiness"},
}


class Run(NamedTuple):
    """One run of ./hostproof: how it ended, and the folder of its report or record."""

    code: int
    output: str
    folder: Path

    @property
    def lines(self) -> list[dict[str, Any]]:
        text = (self.folder / "findings.jsonl").read_text()
        return [json.loads(line) for line in text.splitlines()]

    @property
    def report(self) -> dict[str, Any]:
        return json.loads((self.folder / "report.json").read_text())

    def statuses(self) -> dict[tuple[str, str], str]:
        """(host, check) to the status in report.json, that is, after the waivers."""
        return {
            (finding["host"], finding["check"]): finding["status"]
            for finding in self.report["findings"]
        }


@pytest.fixture(scope="module")
def environment(tmp_path_factory) -> dict[str, str]:
    """That of a user whose virtualenv is made already, and whose home is empty."""
    folder = tmp_path_factory.mktemp("hostproof")
    (folder / "home").mkdir()
    return {**wrapper.environment(folder), "HOME": str(folder / "home")}


@pytest.fixture(scope="module")
def hostproof(environment, tmp_path_factory) -> Callable[..., Run]:
    """hostproof(arguments..., VARIABLE=value): one run with a report folder of its own."""

    def run(*arguments: str, **variables: str) -> Run:
        reports = tmp_path_factory.mktemp("run") / "reports"
        ran = subprocess.run(
            [wrapper.HOSTPROOF, *arguments],
            env={
                **environment,
                "HOSTPROOF_REPORTS": str(reports),
                "HOSTPROOF_RECORDS": str(reports),
                **variables,
            },
            cwd=reports.parent,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=600,
        )
        folders = sorted(reports.iterdir()) if reports.exists() else []
        return Run(ran.returncode, ran.stdout, folders[0] if folders else reports / "none")

    return run


def checkout() -> set[str]:
    """What lies in the checkout, but for caches."""
    names = {path.name for path in ROOT.iterdir()}
    for folder in ("reports", "evidence"):
        if (ROOT / folder).exists():
            names |= {f"{folder}/{path.name}" for path in (ROOT / folder).iterdir()}
    return {name for name in names if not name.endswith("_cache")}


@pytest.fixture(scope="module")
def live(hostproof) -> Run:
    before = checkout()
    run = hostproof("audit", "-e", "hostproof_evidence=all")
    assert checkout() == before
    return run


@pytest.fixture(scope="module")
def seeds(hostproof, tmp_path_factory) -> Run:
    """The article's two hosts, with one waiver that holds and one that does not."""
    waivers = tmp_path_factory.mktemp("waivers") / "waivers.yml"
    entry = {"owner": "dba", "reason": "moves in spring"}
    waivers.write_text(
        yaml.safe_dump(
            [
                {
                    **entry,
                    "check": "hugepages.ram_share",
                    "hosts": "seed-35893-*",
                    "expires": "2999-12-31",
                },
                {
                    **entry,
                    "check": "hugepages.pool_covers_sga",
                    "hosts": "seed-1000-*",
                    "expires": "2020-01-01",
                },
            ]
        )
    )
    return hostproof(
        "audit",
        "--evidence",
        str(FIXTURES / "packs"),
        "-e",
        f"@{FIXTURES / 'seed-policy.yml'}",
        "--waivers",
        str(waivers),
    )


#: The rows "audit" of the matrix judge this machine with each ansible-core.
@pytest.mark.one_core
class TestThisMachine:
    def test_it_is_judged(self, live, validate_line):
        assert live.code in (2, 3, 5), live.output
        (line,) = live.lines
        validate_line(line)
        assert (line["host"], line["outcome"], line["run"]["hosts"]) == ("localhost", "judged", 1)
        judged = {finding["check"] for finding in line["findings"] if finding["status"] != "skip"}
        assert len(judged) >= 8

    def test_report_is_five_files_for_their_owner_alone(self, live):
        assert {path.name for path in live.folder.iterdir()} == FILES
        modes = {stat.S_IMODE(path.stat().st_mode) for path in live.folder.iterdir()}
        assert modes == {0o600}
        assert stat.S_IMODE(live.folder.stat().st_mode) == 0o700

    def test_every_format_can_be_read(self, live):
        assert live.report["exit_code"] == live.code
        assert ElementTree.parse(live.folder / "report.xml").getroot().tag == "testsuites"
        assert "hostproof_" in (live.folder / "report.prom").read_text()
        assert "<!doctype html>" in (live.folder / "report.html").read_text()[:100].lower()

    def test_summary_names_the_report(self, live):
        assert f"Report: {live.folder / 'report.html'}" in live.output

    def test_its_evidence_judged_again_gives_the_same_findings(self, live, hostproof, tmp_path):
        (line,) = live.lines
        readings = evidence.decode(line["evidence"])
        pack = {"schema": 1, "host": "localhost", "recorded_at": line["at"], "readings": readings}
        (tmp_path / "localhost.json").write_text(json.dumps(pack))
        again = hostproof("audit", "--evidence", str(tmp_path))
        assert again.lines[0]["findings"] == line["findings"]
        assert again.code == live.code


class TestRecord:
    def test_pack_is_what_audit_takes(self, hostproof, validate_line):
        recorded = hostproof("record", "-e", "hostproof_window_seconds=1")
        assert recorded.code == 0, recorded.output
        (pack,) = recorded.folder.iterdir()
        assert f"Evidence: {recorded.folder}" in recorded.output
        assert pack.name == "localhost.json"
        assert stat.S_IMODE(pack.stat().st_mode) == 0o600
        assert stat.S_IMODE(recorded.folder.stat().st_mode) == 0o700
        assert evidence.open_pack(str(pack))[0]["file:/proc/meminfo"]["text"].startswith(
            "MemTotal:"
        )


class TestEvidence:
    def test_verdicts_of_the_seed(self, seeds):
        assert seeds.code == 2, seeds.output
        statuses = seeds.statuses()
        assert statuses["seed-1000-pages", "hugepages.sga_in_huge_pages"] == "fail"
        assert statuses["seed-35893-pages", "hugepages.pool_covers_sga"] == "pass"
        assert statuses["seed-35893-pages", "hugepages.pool_not_wasted"] == "warn"

    def test_waiver_that_holds_waives(self, seeds):
        assert seeds.statuses()["seed-35893-pages", "hugepages.ram_share"] == "waived"

    def test_waiver_that_expired_does_not(self, seeds):
        assert seeds.statuses()["seed-1000-pages", "hugepages.pool_covers_sga"] == "fail"
        assert "waiver." in json.dumps(seeds.report)

    def test_lines_on_disk_agree_with_the_report(self, seeds, validate_line):
        for line in seeds.lines:
            validate_line(line)
        waivers = [finding["waiver"] for line in seeds.lines for finding in line["findings"]]
        (waiver,) = [waiver for waiver in waivers if waiver]
        assert (waiver["was"], waiver["expires"]) == ("warn", "2999-12-31")
        assert {line["host"] for line in seeds.lines} == {"seed-1000-pages", "seed-35893-pages"}

    @pytest.mark.one_core
    def test_one_pack_is_one_host_with_a_profile_of_the_command_line(self, hostproof):
        pack = ROOT / "docs/examples/evidence/db03.example.com.json"
        run = hostproof(
            "audit", "--evidence", str(pack), "--checks", "platform", "--profile", "oracle_19c_rac"
        )
        assert list({finding["host"] for finding in run.report["findings"]}) == [pack.stem]
        assert any("19c" in finding["title"] for finding in run.report["findings"])

    def test_warnings_fail_where_strict_says_so(self, hostproof):
        strict = hostproof("audit", "--evidence", str(FIXTURES / "laptop"), "--strict")
        assert strict.code == 2, strict.output
        assert "fail" not in {finding["status"] for finding in strict.lines[0]["findings"]}

    def test_what_hosts_sent_before_changes_nothing(self, hostproof, tmp_path):
        """Ansible starts the second worker before it has the result of the first one."""
        for number in range(4):
            shutil.copy(FIXTURES / "laptop/laptop.json", tmp_path / f"db{number}.json")
        run = hostproof("audit", "--evidence", str(tmp_path), "--forks", "1")
        texts = [json.dumps(line["findings"]).replace(line["host"], "HOST") for line in run.lines]
        assert len(texts) == 4 and len({*texts}) == 1 and "HOST" in texts[0]

    @pytest.mark.one_core
    def test_pack_of_which_nothing_can_be_read(self, hostproof, tmp_path):
        """Beside one that is fine: what could not be determined is neither red nor green."""
        shutil.copy(FIXTURES / "laptop/laptop.json", tmp_path)
        (tmp_path / "empty.json").write_text('{"schema": 1, "readings": {}}')
        (tmp_path / "broken.json").write_text("{")
        run = hostproof("audit", "--evidence", str(tmp_path))
        assert run.code == 3, run.output
        outcomes = {line["host"]: line["outcome"] for line in run.lines}
        assert outcomes == {"laptop": "judged", "empty": "judged", "broken": "failed"}
        statuses = {line["host"]: {f["status"] for f in line["findings"]} for line in run.lines}
        # Only what the policy does not ask for is no error, whatever the host says.
        assert statuses["empty"] == {"error", "skip"}
        (empty,) = (line["findings"] for line in run.lines if line["host"] == "empty")
        assert {f["control"] for f in empty if f["status"] == "skip"} == {
            *("asm_drivers", "block_devices", "firewall", "latency"),
            *("pool_validation", "storage_type"),
        }


class TestHostsThatDoNotAnswer:
    def test_unreachable_host_is_told_and_the_others_are_judged(self, hostproof, tmp_path):
        local = {
            "ansible_connection": "local",
            "ansible_python_interpreter": "{{ ansible_playbook_python }}",
        }
        hosts = {"gone": UNREACHABLE, "here": local}
        (tmp_path / "hosts.yml").write_text(yaml.safe_dump({"all": {"hosts": hosts}}))
        run = hostproof(
            "audit", "-i", str(tmp_path / "hosts.yml"), "-e", "hostproof_window_seconds=1"
        )
        outcomes = {line["host"]: line["outcome"] for line in run.lines}
        assert outcomes == {"gone": "unreachable", "here": "judged"}
        statuses = {finding["status"] for line in run.lines for finding in line["findings"]}
        assert run.code == (2 if "fail" in statuses else 4), run.output
        assert {path.name for path in run.folder.iterdir()} == FILES
        assert run.statuses()["gone", "host.reachable"] == "error"

    def test_no_host_at_all(self, hostproof, tmp_path):
        (tmp_path / "hosts.yml").write_text("all: {children: {db: {}}}\n")
        run = hostproof("audit", "-i", str(tmp_path / "hosts.yml"))
        assert run.code == 3, run.output
        assert {path.name for path in run.folder.iterdir()} == FILES
        assert "run.hosts_matched" in json.dumps(run.report)
        assert "could not be determined" in " ".join(run.output.split())


class TestLimit:
    @cases(
        "arguments message",
        (["audit", "--limit", "zz"], "'zz'; ./hostproof audit -i INVENTORY --list-hosts lists"),
        (["verify", "--limit", "all:!localhost"], "--limit: 'all:!localhost' leaves no host"),
    )
    def test_a_pattern_that_leaves_no_host_ends_with_1(self, hostproof, arguments, message):
        run = hostproof(*arguments)
        assert run.code == 1
        assert message in run.output
        assert not run.folder.exists()


@pytest.mark.one_core
class TestWrongUse:
    @cases(
        "arguments message",
        (
            ["audit", "--evidence", "/nonexistent"],
            "invalid value for '--evidence': Path '/nonexistent' does not exist",
        ),
        (
            ["verify", "--evidence", "/"],
            "verify has no option '--evidence'; it is an option of audit and init",
        ),
        (["audit", "-i", "/nonexistent"], "there is no /nonexistent"),
        (
            ["audit", "--profile", "oracle_19c_sngle"],
            "there is no profile 'oracle_19c_sngle'; did you mean oracle_19c_single?",
        ),
    )
    def test_ends_with_1_before_a_play(self, refused, arguments, message):
        assert message in refused(*arguments)

    @cases(
        "arguments message",
        (
            ["audit", "-e", '{"hugepages_instance": []}'],
            "-e: no control takes the variable hugepages_instance: did you mean "
            "hugepages_instances?; no host was contacted",
        ),
        (
            ["audit", "-e", "hostproof_profile=oracle_19c_sngle"],
            "-e: hostproof_profile cannot be 'oracle_19c_sngle': did you mean "
            "oracle_19c_single? Valid values: none, ",
        ),
        (
            ["audit", "--set", "preinstal"],
            "localhost: there is no set 'preinstal'; did you mean preinstall?; no host was",
        ),
        (
            ["audit", "-e", json.dumps({"custom_checks": [{**OWN_CHECK, "atmost": 1}]})],
            "custom_checks, entry 1: swap has an unknown key 'atmost'; did you mean at_most?",
        ),
    )
    def test_a_play_ends_with_1_before_it_contacts_a_host(self, hostproof, arguments, message):
        run = hostproof(*arguments)
        assert run.code == 1
        assert message in run.output
        assert not run.folder.exists()

    @cases("verb", "audit", "verify", "apply", "record")
    @cases(
        "entry message",
        ({"expires": "2027-03"}, "entry 1: expires must be a day, YYYY-MM-DD, not '2027-03'"),
        ({"expire": "2027-03-01"}, "entry 1: unknown key 'expire'; did you mean expires?"),
    )
    def test_a_waiver_file_is_read_before_anything_runs(
        self, refused, tmp_path, verb, entry, message
    ):
        waiver = {
            "check": "hugepages.shm_group",
            "hosts": "*",
            "owner": "o",
            "reason": "r",
            **entry,
        }
        (tmp_path / "waivers.yml").write_text(json.dumps([waiver]))
        output = refused(verb, "--waivers", str(tmp_path / "waivers.yml"), "-i", "localhost,")
        assert message in output

    def test_a_profile_of_the_environment_is_validated_too(self, hostproof):
        run = hostproof("audit", HOSTPROOF_PROFILE="oracle_19c")
        assert run.code == 1
        assert "environment: hostproof_profile cannot be 'oracle_19c': did you mean" in run.output
        assert not run.folder.exists()

    def test_help_fits_on_a_screen(self, hostproof):
        run = hostproof("--help")
        assert run.code == 0
        assert len(run.output.splitlines()) <= 60

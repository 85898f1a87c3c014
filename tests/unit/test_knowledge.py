"""./hostproof checks and explain: what is judged, as the registry and the documents say."""

import csv
import io
import json
import re
from pathlib import Path

import pytest
from ansible.module_utils.hostproof import VERSION
from ansible.module_utils.hostproof.controls.registry import CONTROLS, check_ids
from ansible.module_utils.hostproof.evaluate.profiles import PROFILES
from cases import cases
from hostproof_controller.cli import checks, command, explain, releases, terminal
from hostproof_controller.report.csv import as_csv
from hostproof_controller.report.markdown import as_markdown

#: The rules under test are ours; other files show how each ansible-core runs them.
pytestmark = pytest.mark.one_core

ROOT = Path(__file__).resolve().parents[2]
EVERY = [check for control in CONTROLS.values() for check in control.checks]


def printed(capsys, *typed: str) -> str:
    assert command.main(typed) == 0
    return str(capsys.readouterr().out)


class TestChecks:
    def test_lists_each_once(self, capsys):
        records = json.loads(printed(capsys, "checks", "--format", "json"))
        assert [row["id"] for row in records] == [check.id for check in EVERY]
        for record, check in zip(records, EVERY, strict=True):
            assert record["title"] == check.title
            assert record["control"] == check.control

    def test_of_one_control(self, capsys):
        rows = list(
            csv.reader(
                io.StringIO(printed(capsys, "checks", "--control", "io_pacing", "--format=csv"))
            )
        )
        assert rows[0] == list(checks.HEADS)
        assert [row[0] for row in rows[1:]] == [check.id for check in CONTROLS["io_pacing"].checks]

    def test_where_no_terminal_is_a_check_is_a_line(self, capsys, monkeypatch):
        monkeypatch.delenv("COLUMNS", raising=False)
        lines = printed(capsys, "checks").splitlines()
        assert len(lines) == len(EVERY) + 1
        for line, check in zip(lines[1:], EVERY, strict=True):
            assert line.startswith(f"{check.id} ")
            assert check.title in line
            assert "\x1b" not in line

    @cases("columns", 40, 60, 100)
    def test_fits_the_terminal(self, capsys, monkeypatch, columns):
        monkeypatch.setenv("COLUMNS", str(columns))
        text = printed(capsys, "checks", "--control", "pre_page_sga")
        assert max(map(len, text.splitlines())) <= columns
        assert "suits" in text

    def test_a_table_of_markdown(self, capsys):
        lines = printed(capsys, "checks", "--format", "markdown").splitlines()
        assert len(lines) == len(EVERY) + 2
        assert {line.count(" | ") for line in lines if " --- " not in line} == {4}

    @cases(
        "control said",
        ("hugpages", "did you mean hugepages?"),
        ("zzz", f"there are {min(CONTROLS)}, "),
    )
    def test_of_a_control_that_is_none(self, capsys, control, said):
        assert command.main(["checks", "--control", control]) == 1
        assert said in capsys.readouterr().err


class TestChecksOfAProfile:
    """./hostproof checks --profile P: what the profile requires."""

    def required(self, capsys, profile: str, *more: str) -> dict[tuple[str, str], dict[str, str]]:
        records = json.loads(
            printed(capsys, "checks", "--profile", profile, "--format", "json", *more)
        )
        requirements = {(record["check"], record["subject"]): record for record in records}
        assert len(requirements) == len(records)
        return requirements

    @pytest.mark.parametrize("profile", sorted(set(PROFILES) - {"none"}))
    def test_each_row_names_a_check_a_value_and_a_source(self, capsys, profile):
        requirements = self.required(capsys, profile)
        assert {check for check, _subject in requirements} <= check_ids()
        assert all(record["value"] and record["source"] for record in requirements.values())
        controls = {check.partition(".")[0] for check, _subject in requirements}
        required = {name for name, control in CONTROLS.items() if control.requirements}
        # A profile without a release leaves the platform and its packages to the host.
        of_release = set() if PROFILES[profile].release else {"packages", "platform"}
        assert controls == required - of_release

    def test_releases_differ(self, capsys):
        old = self.required(capsys, "oracle_19c_single")
        new = self.required(capsys, "oracle_26ai_single")
        panic = ("kernel_parameters.panic", "kernel.panic")
        assert panic not in old
        assert new[panic]["value"] == "not 0"
        assert ("platform.kernel", "OL 10 x86_64 UEK8") in new
        assert ("platform.kernel", "OL 10 x86_64 UEK8") not in old

    def test_kinds_differ(self, capsys):
        single = self.required(capsys, "oracle_19c_single")
        rac = self.required(capsys, "oracle_19c_rac")
        assert ("accounts.exists", "grid") not in single
        assert "asmadmin" in rac["accounts.groups", "grid"]["value"]
        assert ("process_limits.login", "grid nofile") in rac
        fragments = ("kernel_parameters.reassembly", "net.ipv4.ipfrag_high_thresh")
        assert fragments in rac
        assert fragments not in single

    def test_packages_and_ports(self, capsys):
        single = self.required(capsys, "oracle_19c_single")
        rac = self.required(capsys, "oracle_26ai_rac")
        packages = single["packages.installer", "OL 9 x86_64"]["value"].split(", ")
        assert {"fontconfig", "libnsl", "make"} <= set(packages)
        assert ("packages.required", "OL 10 x86_64") in rac
        assert ("packages.required", "OL 10 x86_64") not in single
        # Only roles and users list it for Oracle Linux 8: it is advice.
        assert ("packages.required", "OL 8 x86_64 (lists of others)") in single
        assert ("firewall.ports", "CTSS 42424/udp") in rac
        assert ("firewall.ports", "CTSS 42424/udp") not in single

    def test_of_one_control(self, capsys):
        requirements = self.required(capsys, "oracle_19c_single", "--control", "space")
        assert requirements["space.free", "/tmp"]["value"] == "1.0 GiB free"
        assert {check for check, _subject in requirements} == {"space.free"}

    def test_an_unknown_profile(self, capsys):
        assert command.main(["checks", "--profile", "oracle_18c"]) == 1
        assert "'oracle_18c'; did you mean oracle_19c_rac?" in capsys.readouterr().err
        assert command.main(["checks", "--profile", "x"]) == 1
        assert "; there are oracle_19c_rac, " in capsys.readouterr().err

    def test_of_a_set(self, capsys):
        assert command.main(["checks", "--set", "prepatch", "--format", "json"]) == 0
        listed = {entry["id"] for entry in json.loads(capsys.readouterr().out)}
        assert {"space.free", "kernel_parameters.consistent_sources"} <= listed
        assert not any(check.startswith("firewall.") for check in listed)
        assert command.main(["checks", "--set", "prepath"]) == 1
        assert "there is no set 'prepath'; did you mean prepatch?" in capsys.readouterr().err


class TestExplain:
    @pytest.mark.parametrize("check", EVERY, ids=lambda check: check.id)
    def test_says_what_the_page_says(self, check):
        explanation = explain.explained(check.id)
        page = (ROOT / f"docs/controls/{check.control}.md").read_text()
        text = re.split(r"\n#+ ", page.partition(f"### {check.id}\n")[2])[0].strip()
        # Only where a link leads differs: from the page, or from the checkout.
        without = re.compile(r"\]\([^)]*\)")
        assert without.sub("", explanation.text).startswith(without.sub("", text))
        for word in ("**Why**", "**Fix**", "**Reference**"):
            assert explanation.text.count(word) >= 1
        for target in re.findall(r"\]\((?!#|https?:)([^)#]+)", explanation.text):
            assert (ROOT / target).exists(), target

    def test_tells_variables_with_default_and_meaning(self, capsys):
        text = printed(capsys, "explain", "pre_page_sga.value")
        assert re.search(r"- `pre_page_sga_value` \(default `\"auto\"`\): \w+", text)
        assert "Since 0.2.0. Documentation: docs/controls/pre_page_sga.md" in text

    def test_names_the_control_s_where_the_page_names_none(self, capsys):
        text = printed(capsys, "explain", "pool_persisted")
        assert text.startswith("# hugepages.pool_persisted\n")
        assert "Variables: `hugepages_instances`" in text.replace("\n", " ")
        assert "Since 0.1.0." in text

    def test_tells_what_it_rests_on_and_what_rests_on_it(self, capsys):
        assert command.main(["explain", "nfs_mounts.options_in_force"]) == 0
        output = " ".join(capsys.readouterr().out.split())
        assert "Depends on: `nfs_mounts.mounted_as_persisted`, `nfs_mounts." in output
        assert command.main(["explain", "listener_rate_limit.listener_runs"]) == 0
        output = capsys.readouterr().out
        assert "Required by: `listener_rate_limit." in output and "because of: " not in output
        assert command.main(["explain", "listener_rate_limit.listener_runs", "--format=json"]) == 0
        record = json.loads(capsys.readouterr().out)
        assert record["because_of"] == [] and record["rests_on_it"]

    def test_as_json(self, capsys):
        record = json.loads(printed(capsys, "explain", "pre_page_sga.value", "--format", "json"))
        assert record["severity"] == "critical"
        assert "pre_page_sga_value" in {variable["name"] for variable in record["variables"]}

    @cases(
        "name",
        *("host.reachable", "host.audited", "run.finished", "run.results_readable"),
        *("waiver.expired", "latency.audited", "hugepages.applied"),
    )
    def test_explains_what_a_report_can_hold_beside_controls(self, capsys, name):
        text = printed(capsys, "explain", name)
        assert text.startswith(f"# {name}\n")
        assert "**Why**: " in text

    @cases(
        "name said",
        ("hugepages.pool_cover_sga", "did you mean hugepages.pool_covers_sga?"),
        # A control's name is one, too.
        ("hugpages", "did you mean hugepages?"),
        ("pool_cover", "did you mean hugepages.pool_covers_sga?"),
        ("pool", "did you mean one of pool_validation, hugepages.pool_"),
        ("swap", "memory_pressure.swap_size"),
        ("zzzz", "./hostproof checks lists them"),
        ("hugepages", "is a control; ./hostproof checks --control hugepages lists"),
        ("zzz.audited", "there is no check"),
        ("\x1b[2J", "there is no check"),
    )
    def test_what_is_no_check(self, capsys, name, said):
        assert command.main(["explain", name]) == 1
        error = capsys.readouterr().err
        assert said in error
        assert "\x1b" not in error


class TestSince:
    def test_names_checks_that_exist(self):
        others = {check.id for check in explain._OTHERS}
        listed = [check for ids in releases.released().values() for check in ids]
        assert set(listed) <= check_ids() | others
        assert len(set(listed)) == len(listed)

    def test_no_release_is_later_than_this_version(self):
        def numbers(text: str) -> list[int]:
            return [int(part) for part in text.split(".")]

        assert all(numbers(release) <= numbers(VERSION) for release in releases.released())
        assert releases.since("hugepages.pool_covers_sga") == "0.1.0"
        assert releases.since("nfs_mounts.safe_transport") == "0.2.0"


class TestTexts:
    @cases("text", "=1+1", "+1", "-1", "@x", "\tx", '=HYPERLINK("http://x")')
    def test_a_spreadsheet_calculates_nothing(self, text):
        ((cell,),) = list(csv.reader(io.StringIO(as_csv(["a"], [[text]]))))[1:]
        assert cell[0] == "'"

    @cases(
        "text",
        *("a|b", "<script>", "![x](http://x)", "a\nb", "`x`", "\\|"),
        *("[x](javascript:x)", "x\x1b[2J"),
    )
    def test_markdown_stays_a_row_of_text(self, text):
        row = as_markdown(["a", "b"], [[text, "end"]]).splitlines()[2]
        assert len(re.findall(r"(?<!\\)(?:\\\\)*\|", row)) == 3
        assert not re.search(r"(?<!\\)[<`\[]", row)
        assert "://" not in row

    def test_colour_is_for_a_terminal(self, monkeypatch, capsys):
        monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
        monkeypatch.setenv("TERM", "xterm-256color")
        monkeypatch.delenv("NO_COLOR", raising=False)
        terminal.table(["a"], [["fail"]])
        assert "\x1b[1;31mfail" in capsys.readouterr().out
        monkeypatch.setenv("NO_COLOR", "")
        terminal.table(["a"], [["fail"]])
        assert "31m" not in capsys.readouterr().out

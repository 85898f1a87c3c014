"""What the documents say is so: names, links, tables, exit codes, commands and examples."""

import os
import re
import shlex
import subprocess
from pathlib import Path
from types import ModuleType
from typing import Any

import jmespath
import pytest
import yaml
from ansible.module_utils.hostproof import controls
from ansible.module_utils.hostproof.finding import STATUSES
from ansible.module_utils.hostproof.host import RecordedHost
from ansible.module_utils.hostproof.report import verdict
from ansible.module_utils.hostproof.waivers import parse_waivers

ROOT = Path(__file__).resolve().parents[2]
#: Not looked into (docs/examples/evidence holds packs only).
GENERATED = {".git", ".cache", ".ansible", ".pytest_cache", "reports", "evidence"}


def pages() -> list[Path]:
    """Every Markdown file of the checkout, without what runs and virtualenvs left there."""
    found = []
    for folder, names, files in os.walk(ROOT):
        names[:] = [n for n in names if n not in GENERATED and not n.startswith(".venv")]
        found += [Path(folder, name) for name in files if name.endswith(".md")]
    return sorted(found)


PAGES = pages()
README = ROOT / "README.md"
CONTROLS = sorted(controls.CONTROLS)

#: Modules and pages that begin with the name of a control, and are none of its variables.
NO_VARIABLES = {path.stem for path in [*ROOT.glob("library/*.py"), *ROOT.glob("docs/*.md")]}

#: Exit codes that no finding decides: they are the wrapper's own.
OTHER_CODES = {1: "could not start", 130: "interrupted"}

LINK = re.compile(r"\]\(([^()\s]+)\)")
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def fences(page: Path, language: str) -> list[str]:
    return [text for name, text in FENCE.findall(page.read_text()) if name == language]


def anchors(page: Path) -> set[str]:
    """The anchors that headings get where Markdown is shown."""
    headings = re.findall(r"^#+ (.*)$", FENCE.sub("", page.read_text()), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def table(page: Path, heading: str) -> dict[str, list[str]]:
    """The first table below a heading: first cell to the other cells, without the marks of code."""
    after = page.read_text().split(f"\n{heading}\n", 1)[1]
    block = re.search(r"(?:^\|.*\n)+", after, re.MULTILINE)
    assert block
    rows = [row.strip("|").split(" | ") for row in block.group().splitlines()[2:]]
    return {cells[0].strip(" `"): [cell.strip() for cell in cells[1:]] for cells in rows}


def options(role: str, entry: str) -> dict[str, Any]:
    path = ROOT / "roles" / role / "meta/argument_specs.yml"
    return yaml.safe_load(path.read_text())["argument_specs"].get(entry, {}).get("options", {})


def policy_of(control: str, told: dict[str, Any]) -> Any:
    """The policy that a role's variables make, where some of them are told."""
    values = yaml.safe_load((ROOT / "roles" / control / "defaults/main.yml").read_text()) | told
    module = controls.CONTROLS[control]
    return module.policy_from({name: values[f"{control}_{name}"] for name in module.Policy._fields})


def in_markdown(option: dict[str, Any]) -> list[str]:
    """Default and meaning of a role's option as its row in the README shows them."""
    default = option.get("default")
    if isinstance(default, list):
        default = ", ".join(default) or "[]"
    elif isinstance(default, bool):
        default = str(default).lower()
    described = option["description"]
    text = described if isinstance(described, str) else " ".join(described)
    text = re.sub(r"\b[COV]\(([^()]*)\)", r"`\1`", text)
    if "choices" in option:
        text += " One of " + ", ".join(f"`{choice}`" for choice in option["choices"]) + "."
    return [f"`{default}`", text]


def commands() -> list[list[str]]:
    """Every ./hostproof command in a document, as words."""
    found = []
    for page in PAGES:
        for line in page.read_text().splitlines():
            for text in re.findall(r"(?:^\s*|`|=\S+ )(\./hostproof [^`\n]*)", line):
                found.append(shlex.split(text.replace("…", ""), comments=True))
    return found


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_relative_links_lead_somewhere(page):
    for target in LINK.findall(FENCE.sub("", page.read_text())):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        file = (page.parent / path).resolve() if path else page
        assert file.exists(), target
        assert not anchor or anchor in anchors(file), target


def test_readme_lists_every_control_and_counts_its_checks():
    rows = table(README, "## Controls")
    told = {re.sub(r"\W", "", LINK.sub("", name)): cells[0] for name, cells in rows.items()}
    assert told == {name: str(len(one.CHECKS)) for name, one in controls.CONTROLS.items()}


@pytest.mark.parametrize("control", CONTROLS)
class TestControlPage:
    def test_every_check_has_a_section_and_no_other_has(self, control):
        text = (ROOT / "docs/controls" / f"{control}.md").read_text()
        sections = re.findall(rf"^### ({control}\.\w+)$", text, re.MULTILINE)
        assert sections == [check.id for check in controls.CONTROLS[control].CHECKS]

    def test_a_section_tells_title_severity_and_when_it_takes_effect(self, control):
        text = (ROOT / "docs/controls" / f"{control}.md").read_text()
        for check in controls.CONTROLS[control].CHECKS:
            section = text.split(f"### {check.id}\n", 1)[1].split("\n#", 1)[0]
            words = " ".join(section.split())
            effect = check.takes_effect.replace("_", " ")
            assert check.title in words
            assert f"Severity {check.severity}" in words
            assert re.search(rf"takes effect (at )?{effect}", words), check.id

    def test_a_section_names_statuses_that_exist(self, control):
        text = (ROOT / "docs/controls" / f"{control}.md").read_text()
        bold = set(re.findall(r"^- \*\*([a-z]+)\*\*", text, re.MULTILINE))
        assert bold <= set(STATUSES)

    def test_every_variable_of_the_role_is_on_the_page_and_no_other(self, control):
        page = (ROOT / "docs/controls" / f"{control}.md").read_text()
        named = set(re.findall(rf"\b{control}_\w+", page)) - NO_VARIABLES
        assert named == set(options(control, "main"))


@pytest.mark.parametrize("role", CONTROLS)
class TestRoleReadme:
    def test_the_table_of_variables_is_the_specification(self, role):
        rows = table(ROOT / "roles" / role / "README.md", "## Variables")
        assert rows == {name: in_markdown(o) for name, o in options(role, "main").items()}

    def test_the_variables_of_revert_are_the_specification(self, role):
        if not options(role, "revert"):
            pytest.skip(f"{role} only looks: there is nothing to revert")
        rows = table(ROOT / "roles" / role / "README.md", "For `tasks_from: revert`:")
        assert rows == {name: in_markdown(o) for name, o in options(role, "revert").items()}

    def test_examples_set_variables_that_exist(self, role):
        known = set(options(role, "main"))
        blocks = fences(ROOT / "roles" / role / "README.md", "yaml")
        plays = [play for text in blocks for play in yaml.safe_load(text)]
        assert plays
        for play in plays:
            assert set(play.get("vars", {})) <= known


class TestExitCodes:
    def test_readme_has_each_code_and_no_other(self):
        rows = {int(code): cells[0] for code, cells in table(README, "## Exit codes").items()}
        assert set(rows) == set(verdict.EXIT_MEANINGS) | set(OTHER_CODES)
        for code, words in OTHER_CODES.items():
            assert words in rows[code]

    def test_readme_means_what_help_says(self):
        told = subprocess.run([ROOT / "hostproof", "--help"], capture_output=True, text=True)
        listed = re.search(r"^Exit codes.*?\n\n", told.stdout, re.MULTILINE | re.DOTALL)
        assert listed
        codes = re.findall(r"(?:^|\s{2})(\d+)  (.*?)(?=\s{3,}|\n)", listed.group())
        rows = table(README, "## Exit codes")
        assert {code for code, _ in codes} == set(rows)
        for code, words in codes:
            first = words.split(" (")[0].split(",")[0]
            assert first in rows[code][0] or code == "2"

    def test_precedence_is_as_told(self):
        assert "2 goes before 4, and 4 before 3" in README.read_text()


class TestCommands:
    def test_there_are_some(self):
        assert len(commands()) > 20

    def test_verbs_and_long_options_exist(self):
        script = (ROOT / "hostproof").read_text()
        wrapper = set(re.findall(r"--[a-z][a-z-]*", script))
        report = (ROOT / "module_utils/hostproof/report/__main__.py").read_text()
        known = wrapper | set(re.findall(r'"(--[a-z]+)"', report))
        verbs = set(re.search(r"case \$verb in\n  (audit [^)]*)\)", script).group(1).split(" | "))
        for words in commands():
            if len(words) > 1 and not words[1].startswith("-"):
                assert words[1] in verbs | {"report", "test", "help"}, words
            long_options = {word.split("=")[0] for word in words if word.startswith("--")}
            ansible = {"--become", "--limit", "--check", "--diff", "--tags", "--skip-tags"}
            assert long_options <= known | ansible, words

    def test_files_that_commands_name_are_there(self):
        for words in commands():
            for word in words[1:]:
                if word.startswith(("docs/", "inventories/", "tests/")) and "mine" not in word:
                    assert (ROOT / word).exists(), words

    def test_playbooks_and_requirements_that_the_readme_names_are_there(self):
        text = README.read_text()
        for name in re.findall(r"playbooks/\w+\.yml|requirements[\w-]*\.txt", text):
            assert (ROOT / name).exists(), name

    def test_queries_of_the_readme_are_jmespath(self):
        queries = re.findall(r'--query "([^"]+)"', README.read_text())
        assert len(queries) == 3
        for query in queries:
            jmespath.compile(query)


class TestExamples:
    def test_the_picture_is_small_enough(self):
        size = (ROOT / "docs/images/report.png").stat().st_size
        assert 20_000 < size < 250_000

    def test_waivers_name_checks_that_exist(self):
        loaded = yaml.safe_load((ROOT / "docs/examples/waivers.yml").read_text())
        assert {waiver.check for waiver in parse_waivers(loaded)} <= controls.check_ids()

    def test_waiver_in_the_page_is_one(self):
        (text,) = fences(ROOT / "docs/report.md", "yaml")
        assert parse_waivers(yaml.safe_load(text))

    @pytest.mark.parametrize("control", CONTROLS)
    def test_the_inventory_s_policies_are_accepted(self, control):
        policies = ROOT / "inventories/example/group_vars"
        assert (policies / f"databases/{control}.yml").exists()
        for path in policies.glob(f"*/{control}.yml"):
            assert policy_of(control, yaml.safe_load(path.read_text()))

    def test_policy_in_the_readme_is_accepted(self):
        (text,) = fences(README, "yaml")
        told = yaml.safe_load(text)
        known = [name for control in CONTROLS for name in options(control, "main")]
        assert set(told) <= set(known)
        for control in CONTROLS:
            assert policy_of(control, told)


class TestAddingAControl:
    PAGE = ROOT / "docs/adding-a-control.md"

    @pytest.fixture
    def example(self) -> ModuleType:
        """The control of the page, as it would stand in controls/."""
        (source,) = fences(self.PAGE, "python")
        module = ModuleType("ansible.module_utils.hostproof.controls.swappiness")
        module.__package__ = "ansible.module_utils.hostproof.controls"
        exec(compile(source, str(self.PAGE), "exec"), module.__dict__)
        return module

    @pytest.mark.parametrize(
        ("reading", "status", "changes"),
        [
            ({"kind": "file", "text": "10\n"}, "pass", 0),
            ({"kind": "file", "text": "60\n"}, "fail", 1),
            ({"kind": "file", "error": "absent"}, "skip", None),
            ({"kind": "file", "error": "denied"}, "error", None),
            ({"kind": "file", "text": ""}, "error", None),
        ],
    )
    def test_its_example_works(self, example, reading, status, changes):
        policy = example.policy_from({"maximum": 10})
        facts = example.read(RecordedHost({"file:" + example.VALUE_FILE: reading}), policy)
        (finding,) = example.judge(facts, policy)
        assert finding.status == status
        assert finding.check in {check.id for check in example.CHECKS}
        if changes is not None:
            assert len(example.plan(facts, policy).changes) == changes

    def test_files_that_it_names_are_there_for_the_model(self):
        named = re.findall(
            r"`((?:module_utils|roles|playbooks|tests|docs)/[^`<*]+)`", self.PAGE.read_text()
        )
        assert named
        for name in named:
            for path in expand(name.replace("swappiness", "hugepages")):
                assert (ROOT / path).exists(), path


def expand(name: str) -> list[str]:
    """The names that a pattern with one {a,b} means, as a shell reads it."""
    match = re.fullmatch(r"(.*)\{(.*)\}(.*)", name)
    if not match:
        return [name]
    return [match[1] + word + match[3] for word in match[2].split(",")]

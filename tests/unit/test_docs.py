"""What the documents say is so: names, links, tables, exit codes, commands and examples."""

import os
import re
import runpy
import shlex
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import jmespath
import packs
import pytest
import yaml
from ansible.module_utils.hostproof.controls import registry as controls
from ansible.module_utils.hostproof.evaluate.fields import fields_of
from ansible.module_utils.hostproof.evaluate.finding import STATUSES
from cases import cases
from cli_commands import commands as cli_commands
from cli_commands import options_of
from hostproof_controller import policies, variable_names
from hostproof_controller.cli.options import JUDGED
from hostproof_controller.report import verdict
from hostproof_controller.report.waivers import parse_waivers
from programs import imported_program

#: The rules under test are ours; other files show how each ansible-core runs them.
pytestmark = pytest.mark.one_core

role_files = imported_program("role_files", "tools")

ROOT = Path(__file__).resolve().parents[2]
#: Not looked into (docs/examples/evidence holds packs only).
GENERATED = {".git", ".cache", ".ansible", ".pytest_cache", "reports", "evidence"}


def pages() -> list[Path]:
    """Every Markdown file of the checkout, without what runs and virtualenvs left there."""
    paths = []
    for folder, names, files in os.walk(ROOT):
        names[:] = [n for n in names if n not in GENERATED and not n.startswith(".venv")]
        paths += [Path(folder, name) for name in files if name.endswith(".md")]
    return sorted(paths)


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
    role = policies.controls()[control]
    values = {name: told.get(role.variable(name), role.defaults[name]) for name in role.fields}
    return controls.CONTROLS[control].policy_from(values)


def commands() -> list[list[str]]:
    """Every ./hostproof command in a document, as words. The changelog names those of releases."""
    calls = []
    for page in PAGES:
        if page.name == "CHANGELOG.md":
            continue
        for line in page.read_text().splitlines():
            for text in re.findall(r"(?:^\s*|`|=\S+ )(\./hostproof [^`\n]*)", line):
                calls.append(shlex.split(text.replace("…", ""), comments=True))
    return calls


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
    counts = {re.sub(r"\W", "", LINK.sub("", name)): cells[0] for name, cells in rows.items()}
    assert counts == {name: str(len(control.checks)) for name, control in controls.CONTROLS.items()}


@pytest.mark.parametrize("control", CONTROLS)
class TestControlPage:
    def test_every_check_has_a_section_and_no_other_has(self, control):
        text = (ROOT / "docs/controls" / f"{control}.md").read_text()
        sections = re.findall(rf"^### ({control}\.\w+)$", text, re.MULTILINE)
        assert sections == [check.id for check in controls.CONTROLS[control].checks]

    def test_a_section_names_statuses_that_exist(self, control):
        text = (ROOT / "docs/controls" / f"{control}.md").read_text()
        bold = set(re.findall(r"^- \*\*([a-z]+)\*\*", text, re.MULTILINE))
        assert bold <= set(STATUSES)

    def test_a_section_says_more_than_what_is_written_for_it(self, control):
        text = (ROOT / "docs/controls" / f"{control}.md").read_text()
        for check in controls.CONTROLS[control].checks:
            section = text.split(f"### {check.id}\n", 1)[1].split("\n#", 1)[0]
            assert re.search(r"takes effect [\w\s]+\.\s*\S", section), check.id

    def test_no_variable_is_named_that_the_role_has_not(self, control):
        page = (ROOT / "docs/controls" / f"{control}.md").read_text()
        named = (
            set(
                re.findall(
                    rf"\b(?:{control}_\w+|hostproof_(?:window_seconds|profile|target_os|own_commands)\b)",
                    page,
                )
            )
            - NO_VARIABLES
        )
        assert named == set(options(control, "verify"))


@pytest.mark.parametrize("role", CONTROLS)
class TestRoleReadme:
    def test_examples_set_variables_that_exist(self, role):
        known = set(options(role, "verify"))
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
        rows = table(README, "## Exit codes")
        assert {str(code) for code in JUDGED} == set(rows)
        for code, meaning in JUDGED.items():
            first = meaning.split(",")[0]
            assert first in rows[str(code)][0] or code in (1, 2)

    def test_precedence_is_as_told(self):
        assert "2 goes before 4, 4 before 3, and 3 before 5" in README.read_text()


class TestCommands:
    def test_there_are_some(self):
        assert len(commands()) > 20

    def test_verbs_and_long_options_exist(self):
        table = cli_commands()
        groups = {verb.split()[0] for verb in table if " " in verb}
        for words in commands():
            if len(words) > 1 and not words[1].startswith("-"):
                assert words[1] in groups or words[1] in table, words
            verb = " ".join(words[1 : 3 if words[1:2] and words[1] in groups else 2])
            own = set(options_of(verb)) if verb in table else set()
            # What follows "--" is for another program or another verb.
            typed_words = words[: words.index("--")] if "--" in words else words
            typed = {word.split("=")[0] for word in typed_words if word.startswith("--")}
            assert typed <= own | {"--help", "--version"}, words

    def test_files_that_commands_name_are_there(self):
        for words in commands():
            for word in words[1:]:
                if word.startswith(("docs/", "inventories/", "tests/")) and "mine" not in word:
                    assert (ROOT / word).exists(), words

    def test_playbooks_and_requirements_that_the_readme_names_are_there(self):
        text = README.read_text()
        for name in re.findall(r"playbooks/\w+\.yml|requirements[\w-]*\.txt", text):
            assert (ROOT / name).exists(), name

    def test_queries_of_the_page_are_jmespath(self):
        queries = re.findall(r'--query "([^"]+)"', (ROOT / "docs/report.md").read_text())
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
        folder = ROOT / "inventories/example/group_vars"
        assert (folder / f"databases/{control}.yml").exists()
        for path in folder.glob(f"*/{control}.yml"):
            assert policy_of(control, yaml.safe_load(path.read_text()))

    def test_policy_in_the_readme_is_accepted(self):
        (text,) = fences(README, "yaml")
        variables = yaml.safe_load(text)
        known = [name for control in CONTROLS for name in options(control, "verify")]
        assert set(variables) <= set(known)
        for control in CONTROLS:
            assert policy_of(control, variables)


class TestAddingAControl:
    PAGE = ROOT / "docs/adding-a-control.md"

    EXAMPLE = ROOT / "docs/examples/swappiness"
    CONTROL = EXAMPLE / "module_utils/hostproof/controls/swappiness/control.py"
    ROLE = EXAMPLE / "roles/swappiness"
    RUNNING = "/proc/sys/vm/swappiness"

    @pytest.fixture
    def module(self) -> ModuleType:
        """The control of the page, as a file of controls/."""
        module = ModuleType("ansible.module_utils.hostproof.controls.swappiness.control")
        module.__package__ = "ansible.module_utils.hostproof.controls.swappiness"
        exec(compile(self.CONTROL.read_text(), str(self.CONTROL), "exec"), module.__dict__)
        return module

    @pytest.fixture
    def example(self, module) -> Any:
        return module.CONTROL

    @pytest.fixture
    def policy(self, example) -> Any:
        """What the role's defaults come to."""
        defaults = yaml.safe_load((self.ROLE / "defaults/main.yml").read_text())
        fields = fields_of(example.policy)
        return example.policy_from({name: defaults[f"swappiness_{name}"] for name in fields})

    def host(self, running: str, at_boot: str = "") -> packs.Machine:
        return packs.linux().file(self.RUNNING, running).file("/etc/sysctl.d/50.conf", at_boot)

    @cases(
        "running at_boot statuses changes",
        ("10\n", "vm.swappiness = 10\n", ["pass", "pass"], []),
        ("60\n", "vm.swappiness = 5\n", ["fail", "pass"], ["ValueChange"]),
        ("1\n", "", ["pass", "fail"], ["FileChange"]),
        ("60\n", "vm.swappiness = 60\n", ["fail", "fail"], ["FileChange", "ValueChange"]),
    )
    def test_its_example_judges_and_plans(
        self, module, example, policy, validate_finding, running, at_boot, statuses, changes
    ):
        facts = example.read(self.host(running, at_boot), policy)
        findings = example.judge(facts, policy)
        for finding in findings:
            validate_finding(finding.as_dict())
        assert [finding.status for finding in findings] == statuses
        assert [finding.check for finding in findings] == [check.id for check in example.checks]
        planned = module.plan(facts, policy)
        assert [type(change).__name__ for change in planned.changes] == changes
        assert not planned.refusals

    def test_its_example_does_not_guess(self, example, policy):
        host = self.host("60\n").deny(self.RUNNING, "/etc/sysctl.d/50.conf")
        findings = example.judge(example.read(host, policy), policy)
        assert [(finding.status, "--become" in str(finding.fix)) for finding in findings] == [
            ("error", True)
        ] * 2
        findings = example.judge(example.read(self.host("\n"), policy), policy)
        assert findings[0].status == "error"
        findings = example.judge(example.read(self.host("").remove(self.RUNNING), policy), policy)
        assert [finding.status for finding in findings] == ["skip", "skip"]

    def test_its_example_refuses_what_another_file_undoes(self, module, example, policy):
        host = self.host("60\n").file("/etc/sysctl.d/zzz.conf", "vm.swappiness = 60\n")
        (refusal,) = module.plan(example.read(host, policy), policy).refusals
        assert refusal.reason.startswith("/etc/sysctl.d/zzz.conf")

    def test_the_files_of_its_role_are_written_by_the_program(self, example):
        for path, text in role_files.files_of(example, self.CONTROL, self.ROLE):
            assert path.read_text() == text

    def test_its_example_is_short(self):
        """The files of the role are written by a program."""
        lines = [line for line in self.CONTROL.read_text().splitlines() if line.strip()]
        assert len(lines) <= 120

    def test_files_that_it_names_are_there_for_the_model(self):
        named = re.findall(
            r"`((?:module_utils|roles|playbooks|tests|docs)/[^`<*]+)`", self.PAGE.read_text()
        )
        assert named
        for name in named:
            for path in expand(name.replace("swappiness", "hugepages")):
                # A large control is a package of that name.
                package = ROOT / path.removesuffix(".py")
                assert (ROOT / path).exists() or (package / "__init__.py").exists(), path


def expand(name: str) -> list[str]:
    """The names that a pattern with one {a,b} means, as a shell reads it."""
    match = re.fullmatch(r"(.*)\{(.*)\}(.*)", name)
    if not match:
        return [name]
    return [match[1] + word + match[3] for word in match[2].split(",")]


class TestSettings:
    def test_variables_of_a_run_exist(self):
        named = table(ROOT / "docs/settings.md", "## Variables of a run")
        assert set(named) <= variable_names.OF_HOSTPROOF


class TestSite:
    def test_links_of_the_site_lead_to_pages_of_the_site(self):
        hook = runpy.run_path(str(ROOT / "docs/site_links.py"))
        outside = 0
        for page in ROOT.glob("docs/**/*.md"):
            name = page.relative_to(ROOT / "docs").as_posix()
            text = FENCE.sub("", page.read_text())
            file = SimpleNamespace(file=SimpleNamespace(src_uri=name))
            shown = hook["on_page_markdown"](text, file)
            outside += text.count("](../") - shown.count("](../")
            for target in LINK.findall(shown):
                path = target.partition("#")[0]
                if path and not re.match(r"[a-z]+:", path):
                    assert (page.parent / path).resolve().is_relative_to(ROOT / "docs"), target
        assert outside > 10

    def test_the_configuration_names_the_hook_and_the_plugins(self):
        site = yaml.safe_load((ROOT / "mkdocs.yml").read_text())
        assert site["plugins"] == ["search", "offline"]
        assert (ROOT / site["hooks"][0]).exists()

    def test_the_navigation_has_every_page_once(self):
        site = yaml.safe_load((ROOT / "mkdocs.yml").read_text())
        hook = runpy.run_path(str(ROOT / "docs/site_links.py"))
        groups = hook["on_config"](site)["nav"]
        assert [name for group in groups for name in group] == [
            *("Start", "Use", "Operate", "Controls", "Develop")
        ]
        entries = [entry for group in groups for entries in group.values() for entry in entries]
        pages = [
            entry if isinstance(entry, str) else next(iter(entry.values())) for entry in entries
        ]
        docs = ROOT / "docs"
        expected = [*docs.glob("*.md"), *docs.glob("controls/*.md")]
        assert sorted(pages) == sorted(path.relative_to(docs).as_posix() for path in expected)

    def test_a_link_to_a_file_that_does_not_exist_is_a_warning(self, caplog):
        hook = runpy.run_path(str(ROOT / "docs/site_links.py"))
        page = SimpleNamespace(file=SimpleNamespace(src_uri="report.md"))
        hook["on_page_markdown"]("[a](../README.md) [b](examples/waivers.yml)", page)
        assert not caplog.records
        hook["on_page_markdown"]("[a](../nothing.md)", page)
        assert [record.levelname for record in caplog.records] == ["WARNING"]

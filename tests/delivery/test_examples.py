"""Every example is run or validated: those of the modules (EXAMPLES), of the roles (README.md), and
each yaml, json, ini and console block of README and docs.

Playbooks run as they are written, with the collection installed and in check mode, because most of
them change a host or measure for minutes. Variables are validated as a policy. A block with a
comment ``not run: REASON`` before it is skipped. tests/delivery/test_documents.py runs the blocks
of sh.
"""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml
from ansible.module_utils.hostproof.controls import registry
from hostproof_controller import custom_checks, policies, selection, variable_names
from hostproof_controller.cli import command, project_file
from hostproof_controller.report.waivers import parse_waivers
from page_blocks import blocks

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = Path(sys.executable).parent

pytestmark = pytest.mark.skipif(
    not (PROGRAMS / "ansible-galaxy").exists(),
    reason="ansible-galaxy is not in the directory of this Python",
)

EXAMPLES = re.compile(r'^EXAMPLES = r"""\n(.*?)^"""$', re.MULTILINE | re.DOTALL)
RETURN = re.compile(r'^RETURN = r"""\n(.*?)^"""$', re.MULTILINE | re.DOTALL)
#: Keys of a result that any module may have.
OF_ANSIBLE = {"changed", "diff", "msg", "warnings", "reported", "skipped"}
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(ROOT.glob("docs/**/*.md"))]

#: Examples that require something of a host (a program, a file, a listener), and their error on a
#: host without it. On a host that has it, the example runs to its end.
MISSING_HERE = {
    "module aix_attributes": "lsattr",
    "module from_oracle_net": "listener.ora",
    "module latency_report": "/home/oracle/awrrpt_1_411_412.txt: No such file",
    "module oracle_parameter": "bin/sqlplus: No such file",
    "module render_report": "there is no report directory",
    "module show_findings": "hugepages: ",
    "role custom 1": "there is no check of your own",
    "role hugepages 2": "would reboot the control node|hugepages: rejected",
    "role listener_rate_limit 2": "listener LISTENER is not running",
    "role nfs_mounts 2": "nfs_mounts: rejected",
    "role packages 2": "packages: rejected",
    "role pool_validation 2": "/usr/lib/jvm/jre-11/bin/java: No such file",
    "role pre_page_sga 2": "bin/sqlplus: No such file",
    "docs/modules.md 1": "lsattr",
    "docs/modules.md 3": "/home/oracle/awrrpt_1_411_412.txt: No such file",
    "docs/modules.md 8": "bin/sqlplus: No such file",
    "docs/modules.md 13": "listener.ora",
    # These audit this machine, and fail its hosts.
    "docs/collection.md 2": r"; the run has exit code \d",
    "docs/runner.md 1": r"; the run has exit code \d",
    "docs/runner.md 2": r"; the run has exit code \d",
}

LOCAL = {
    "ansible_connection": "local",
    "ansible_become": False,
    "ansible_python_interpreter": sys.executable,
    "hostproof_window_seconds": 0,
    # The verification of an example does not fail because of the state of this machine.
    "hostproof_fail_on": "never",
    **{
        f"vault_{name}": "not-a-secret"
        for name in ("auth", "community", "priv", "snmp_auth", "snmp_community", "snmp_priv")
    },
}
HOSTS = {
    "all": {
        "vars": LOCAL,
        "hosts": {"db01": None, "db02": None},
        "children": {
            "aix": {"hosts": {"aix1": None}},
            "application_servers": {"hosts": {"app1": None}},
            "applications": {"hosts": {"app1": None}},
            "databases": {"hosts": {"database1": None}},
            "rac1": {"hosts": {"node1": None}},
        },
    }
}


class Example(NamedTuple):
    name: str
    kind: str
    text: str
    reason: str | None = None

    @property
    def data(self) -> Any:
        return yaml.safe_load(self.text)

    @property
    def is_play(self) -> bool:
        data = self.data if self.kind == "yaml" and not self.reason else None
        return isinstance(data, list) and bool(
            {"tasks", "roles", "import_playbook"} & data[0].keys()
        )


def of_modules() -> list[Example]:
    found = []
    for path in [*ROOT.glob("library/*.py"), *ROOT.glob("filter_plugins/*.py")]:
        match = EXAMPLES.search(path.read_text())
        assert match, path
        tasks = "".join(f"    {line}\n" if line else "\n" for line in match[1].splitlines())
        play = f"- hosts: databases\n  gather_facts: false\n  tasks:\n{tasks}"
        found.append(Example(f"module {path.stem}", "yaml", play))
    return found


def of_page(name: str, page: Path) -> list[Example]:
    return [
        Example(f"{name} {number}", block.kind, block.text, block.reason)
        for number, block in enumerate(
            (one for one in blocks(page) if one.kind not in ("sh", "text")), 1
        )
    ]


MODULES = of_modules()
ROLES = [
    example
    for path in sorted(ROOT.glob("roles/*/README.md"))
    for example in of_page(f"role {path.parent.name}", path)
]
OF_PAGES = [
    example
    for path in PAGES
    for example in of_page(path.relative_to(ROOT).as_posix(), path)
    # Parts of a module, which docs/examples/swappiness has whole.
    if example.kind != "python"
]
EVERY = [*MODULES, *ROLES, *OF_PAGES]
PLAYS = [example for example in EVERY if example.is_play]


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """A project with the collection, and a checkout in the directory that docs/runner.md names."""
    folder = tmp_path_factory.mktemp("project")
    assert command.main(["build-collection", "--out", str(folder)]) == 0
    (archive,) = folder.glob("*.tar.gz")
    words = ("collection", "install", str(archive), "--offline", "-p", "collections")
    done = ansible(folder, "ansible-galaxy", *words)
    assert done.returncode == 0, done.stderr
    (folder / "hosts.yml").write_text(yaml.safe_dump(HOSTS))
    (folder / "vendor").mkdir()
    (folder / "vendor/hostproof").symlink_to(ROOT)
    for example in PLAYS:
        path_of(folder, example).write_text(example.text)
    return folder


def path_of(folder: Path, example: Example) -> Path:
    return folder / (re.sub(r"\W+", "_", example.name) + ".yml")


def ansible(folder: Path, program: str, *words: str, **settings: str):
    kept = {name: os.environ[name] for name in ("PATH", "LANG", "HOME") if name in os.environ}
    kept |= {
        "ANSIBLE_COLLECTIONS_PATH": str(folder / "collections"),
        "ANSIBLE_PIPELINING": "true",
        "HOSTPROOF_REPORTS": str(folder / "reports"),
        "HOSTPROOF_RECORDS": str(folder / "evidence"),
    }
    return subprocess.run(
        [str(PROGRAMS / program), *words],
        cwd=folder,
        env=kept | settings,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
    )


def run(folder: Path, *playbooks: Path | str):
    return ansible(folder, "ansible-playbook", "--check", "-i", "hosts.yml", *map(str, playbooks))


def test_every_module_and_every_role_has_an_example_with_whole_names():
    for example in [*MODULES, *ROLES]:
        name = "hostproof.hostproof." + example.name.split()[1]
        assert re.search(rf"(?<![\w.]){re.escape(name)}\b", example.text), example.name
    roles = {example.name.split()[1] for example in ROLES}
    assert roles == {path.name for path in (ROOT / "roles").iterdir()}
    assert {example.name for example in PLAYS} >= MISSING_HERE.keys()
    assert all(len(example.reason or "long enough") > 10 for example in EVERY)


@pytest.fixture(scope="module")
def output(project):
    """The output of one run of all playbooks. It contains the result of each task."""
    playbooks = [
        {"import_playbook": path_of(project, example).name}
        for example in PLAYS
        if example.name not in MISSING_HERE
    ]
    assert len(playbooks) > 60
    (project / "all.yml").write_text(yaml.safe_dump(playbooks))
    done = run(project, project / "all.yml", "-v")
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    return done.stdout + done.stderr


def test_playbooks_run_as_they_are_written(output):
    assert "DEPRECAT" not in output


@pytest.mark.parametrize(
    "example", [one for one in MODULES if one.name not in MISSING_HERE], ids=lambda one: one.name
)
def test_tasks_return_what_is_documented(output, example):
    module = example.name.split()[1]
    text = (ROOT / "library" / f"{module}.py").read_text()
    documented = yaml.safe_load(RETURN.search(text)[1])
    expected = {
        name for name, value in documented.items() if value["returned"] in ("always", "success")
    }
    results: list[str] = []
    for task in example.data[0]["tasks"]:
        if f"hostproof.hostproof.{module}" in task:
            after = output.split(f"\nTASK [{task['name']}] ", 1)[1].split("\nTASK [", 1)[0]
            results += re.findall(r"^(?:ok|changed): \[.*?\] => (\{.*\})$", after, re.MULTILINE)
            # Some modules do nothing in check mode.
            assert results or "\nskipping: [" in after
    for result in map(json.loads, results):
        assert expected - result.keys() == set()
        assert result.keys() - documented.keys() <= OF_ANSIBLE


@pytest.mark.parametrize("name", MISSING_HERE)
def test_playbooks_end_with_a_sentence_about_what_is_missing(project, name):
    (example,) = (one for one in PLAYS if one.name == name)
    done = run(project, path_of(project, example))
    output = done.stdout + done.stderr
    if done.returncode:
        assert re.search(rf'"msg": "[^\n]*(?:{MISSING_HERE[name]})', output), output[-4000:]
        assert "Traceback" not in output


def test_the_settings_of_a_project_with_a_checkout(project):
    """The ini block of docs/runner.md, with the play of a role with its short name."""
    (example,) = (one for one in OF_PAGES if one.kind == "ini")
    (project / "vendor.cfg").write_text(example.text)
    (play,) = (one.text for one in ROLES if one.name == "role accounts 1")
    path = project / "short.yml"
    path.write_text(play.replace("hostproof.hostproof.", ""))
    done = ansible(
        project,
        *("ansible-playbook", "-i", "hosts.yml", str(path)),
        ANSIBLE_CONFIG=str(project / "vendor.cfg"),
        ANSIBLE_COLLECTIONS_PATH=str(project / "none"),
    )
    assert done.returncode == 0, done.stdout + done.stderr


def validate_policy(variables: dict[str, Any]) -> None:
    """Each name is a known variable, and each control accepts the values."""
    known = variable_names.known_variables()
    assert set(variables) <= known
    for control in policies.controls().values():
        values = {
            name: variables.get(control.variable(name), control.defaults[name])
            for name in control.fields
        }
        registry.CONTROLS[control.name].policy_from(values)
    selected = {name: value for name, value in variables.items() if name.startswith("hostproof_")}
    selection.selection_of(selected, lambda value, _variables=None: value)


def is_changelog(data: dict[str, Any]) -> bool:
    config = yaml.safe_load((ROOT / "changelogs/config.yaml").read_text())
    return set(data) <= {name for name, _ in config["sections"]}


#: The validation of a block, by the first key of the block or of its first entry.
VALIDATED = {
    "minor_changes": is_changelog,
    "inventory": lambda data: set(data) <= set(project_file.KEYS),
    "check": lambda data: bool(parse_waivers(data)),
    "id": lambda data: all(custom_checks.loaded("the page", one) for one in data),
}


@pytest.mark.parametrize(
    "example",
    [one for one in OF_PAGES if not (one.is_play or one.reason or one.kind == "ini")],
    ids=lambda one: one.name,
)
def test_other_blocks_are_valid(example):
    assert example.kind in ("yaml", "json")
    if example.kind == "json":
        assert json.loads(example.text)
        return
    data = example.data
    first = next(iter(data[0] if isinstance(data, list) else data))
    if first in VALIDATED:
        assert VALIDATED[first](data)
        return
    # The blocks of a page belong together: one names what another defines.
    page = example.name.rsplit(" ", 1)[0]
    others = [one.data for one in OF_PAGES if one.name.startswith(page) and one.kind == "yaml"]
    known = variable_names.known_variables()
    context = {
        name: value
        for one in others
        if isinstance(one, dict)
        for name, value in one.items()
        if name in known
    }
    validate_policy(context | data)

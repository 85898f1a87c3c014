"""Roles in a play of another project: the variables of other roles, the printed findings, the
result of a role in the next task, and the hosts that an audit fails."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from hostproof_controller.cli import command

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = Path(sys.executable).parent
PLAYS = ROOT / "tests/fixtures/foreign_plays"
PACK = ROOT / "docs/examples/evidence/db02.example.com.json"
CONFIG = str(ROOT / "ansible.cfg")

pytestmark = pytest.mark.skipif(
    not (PROGRAMS / "ansible-galaxy").exists(), reason="ansible-galaxy is not beside this Python"
)

#: Names that other roles use. latency_window is close to a variable of a control that is not
#: selected.
FOREIGN = {
    "firewall_allowed_tcp_ports": [22, 1521],
    "packages_common": ["vim"],
    "latency_window": 5,
    "hostproof_owner": "dba-team",
}
FREE_SPACE = {
    "name": "Free space before the deployment",
    "ansible.builtin.command": "df -h /",
    "changed_when": False,
    "register": "space_before",
}
USE_RESULT = {
    "name": "Use the result",
    "ansible.builtin.copy": {
        "dest": "{{ target }}/{{ inventory_hostname }}.json",
        "content": "{{ hostproof_custom | to_json }}",
        "mode": "0600",
    },
    "delegate_to": "localhost",
}
NOT_FAILED = {"ansible.builtin.debug": {"msg": "deploying on {{ inventory_hostname }}"}}


def check(name, least):
    """A check of the uid of root, which is 0 everywhere."""
    return {
        "id": name,
        "title": f"{name} is high enough",
        "problem": f"{name} is too low",
        "severity": "high",
        "why": "House standard.",
        "reference": "house standard 1",
        "file": "/etc/passwd",
        "pattern": "^root:x:([0-9]+):",
        "at_least": least,
        "fix": "raise it",
    }


HOSTS = {
    "all": {
        "vars": {
            "ansible_connection": "local",
            "ansible_python_interpreter": sys.executable,
            "hostproof_window_seconds": 0,
        },
        "hosts": {
            "good1": {"custom_checks": [check("low", 0)]},
            "bad2": {"custom_checks": [check("low", 0), check("high", 1)]},
        },
    }
}


def verify_play(prefix=""):
    role = {"name": f"{prefix}custom", "tasks_from": "verify"}
    block = {"block": [{"ansible.builtin.import_role": role}], "always": [USE_RESULT]}
    return [
        {"hosts": "all", "gather_facts": False, "vars": FOREIGN, "tasks": [FREE_SPACE, block]},
        {"hosts": "all", "gather_facts": False, "tasks": [NOT_FAILED]},
    ]


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """A project with the collection installed."""
    folder = tmp_path_factory.mktemp("project")
    assert command.main(["build-collection", "--out", str(folder)]) == 0
    (folder / "home").mkdir()
    (archive,) = folder.glob("*.tar.gz")
    words = ["collection", "install", str(archive), "--offline", "-p", "collections"]
    done = ansible(folder, "ansible-galaxy", *words)
    assert done.returncode == 0, done.stderr
    (folder / "hosts.yml").write_text(yaml.safe_dump(HOSTS))
    packs = {
        "hostproof_evidence": {"hosts": {path.stem: None for path in PACK.parent.iterdir()}},
        "databases": {"children": {"hostproof_evidence": None}},
    }
    (folder / "packs.yml").write_text(yaml.safe_dump(packs))
    return folder


def ansible(folder, program, *words, **settings):
    kept = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
    kept |= {"HOME": str(folder / "home"), "ANSIBLE_COLLECTIONS_PATH": str(folder / "collections")}
    return subprocess.run(
        [str(PROGRAMS / program), *words],
        cwd=folder,
        env=kept | {"HOSTPROOF_REPORTS": str(folder / "reports"), **settings},
        capture_output=True,
        text=True,
    )


@pytest.fixture(params=["collection", "checkout"])
def play(request, project, tmp_path):
    """Runs the plays in this way in; (its output, the results of the role)."""
    prefix = "hostproof.hostproof." if request.param == "collection" else ""
    # Without it, Ansible takes many seconds to send a module: test_collection.py has that.
    config = {"ANSIBLE_PIPELINING": "true"} if prefix else {"ANSIBLE_CONFIG": CONFIG}

    def run(make, *words, **settings):
        (tmp_path / "play.yml").write_text(yaml.safe_dump(make(prefix)))
        target = json.dumps({"target": str(tmp_path)})
        words = ("-i", "hosts.yml", str(tmp_path / "play.yml"), "-e", target, *words)
        done = ansible(project, "ansible-playbook", *words, **config, **settings)
        results = {path.stem: json.loads(path.read_text()) for path in tmp_path.glob("*.json")}
        return done.stdout + done.stderr, results

    return run


#: Each callback in one way in: how a role is found changes nothing of what is printed. The last two
#: print whole results in any case.
CALLBACKS = (
    ("collection", "default"),
    ("checkout", "hostproof_progress"),
    pytest.param("collection", "minimal", marks=pytest.mark.long),
    pytest.param("checkout", "oneline", marks=pytest.mark.long),
)


@pytest.mark.parametrize(("play", "callback"), CALLBACKS, indirect=["play"])
def test_findings_are_printed_and_returned(play, callback):
    is_ours = callback == "hostproof_progress"
    settings = {} if is_ours else {"ANSIBLE_STDOUT_CALLBACK": callback}
    output, results = play(verify_play, **settings)
    output = output.replace("\\n", "\n")
    # The object, the required and the actual value, and the fix.
    assert "required: at least 1; actual: " in output
    assert "FAIL high is too low (custom.high, high)" in output
    assert "fix: raise it" in output
    assert "custom: 1 passed" in output
    # The evidence of a task is one text in base64.
    assert '"evidence": "' not in output
    assert set(results) == {"good1", "bad2"}
    assert results["good1"]["status"] == "pass"
    assert results["bad2"]["status"] == "fail"
    assert results["bad2"]["counts"] == {"fail": 1, "pass": 1}
    assert results["bad2"]["failing"] == ["custom.high"]
    assert [one["check"] for one in results["bad2"]["findings"]] == ["custom.low", "custom.high"]
    if callback == "default":
        of_host = output[output.index("fatal: [bad2]") :].split("}", 1)[0]
        assert len(of_host.splitlines()) <= 40
    assert "deploying on good1" in output
    assert "deploying on bad2" not in output
    if callback == "oneline":
        return  # It prints no warnings of tasks.
    # Names of other roles: one warning of the run.
    names = [*sorted(FOREIGN), "space_before"]
    assert output.count("Hostproof: the variable") == 1
    sentence = " ".join(output.split())
    assert f"the variables {', '.join(names)} are not used by any control" in sentence


#: Keywords or variables of a play with which a task does not check its own host, and the reason
#: that is printed.
NOT_CHECKED = {
    "other_host": (
        {"apply": {"delegate_to": "good1"}},
        "delegate_to would run this on good1 with the policy of bad2",
    ),
    "one_for_all": ({"apply": {"run_once": True}}, "run_once would register the result of "),
    "no_python": (
        {"vars": {"ansible_python_interpreter": "/no/python"}},
        "no usable Python was found",
    ),
    "misspelt": (
        {"vars": {"custom_verify_fail_no": "never"}},
        "did you mean custom_verify_fail_on?",
    ),
}


@pytest.mark.parametrize(
    ("play", "name"),
    [*zip(["collection", "checkout"] * 2, NOT_CHECKED, strict=True)],
    indirect=["play"],
)
def test_a_host_that_was_not_checked_has_an_error(play, name):
    """With ignore_errors the next task has findings that are no pass."""
    keywords, reason = NOT_CHECKED[name]

    def make(prefix):
        role = {"name": f"{prefix}custom", "tasks_from": "verify"}
        if "apply" in keywords:
            role["apply"] = {"ignore_errors": True, **keywords["apply"]}
        task = {"ansible.builtin.include_role": role, "ignore_errors": True}
        if "vars" in keywords:
            role["apply"] = {"ignore_errors": True}
            task["vars"] = keywords["vars"]
        return [{"hosts": "all", "gather_facts": False, "tasks": [task, USE_RESULT]}]

    output, results = play(make, **{"ANSIBLE_STDOUT_CALLBACK": "default"})
    assert reason in output.replace("\n", " ")
    # delegate_to names good1, which checks itself.
    bad = results["bad2"]
    assert bad["status"] == "error"
    assert bad["counts"] == {"error": 1}
    assert [one["check"] for one in bad["findings"]] == bad["failing"] == ["custom.audited"]
    assert reason in bad["findings"][0]["why"]
    assert (results["good1"]["status"] == "pass") is (name == "other_host")


@pytest.mark.long
@pytest.mark.parametrize("play", ["checkout"], indirect=True)
def test_foreign_variables_can_be_ignored(play):
    output, _ = play(verify_play, "-e", "hostproof_unknown_variables=ignore")
    assert "Hostproof: the variable" not in output
    assert "deploying on good1" in output


def test_the_command_names_them_before_it_contacts_a_host(project):
    words = [str(ROOT / "hostproof"), "audit", "-i", "hosts.yml", "--tags", "custom"]
    done = subprocess.run(
        [*words, "-e", json.dumps(FOREIGN)], cwd=project, capture_output=True, text=True
    )
    output = " ".join((done.stdout + done.stderr).split())
    assert output.count("Hostproof: the variable") == 1
    assert f"the variables {', '.join(sorted(FOREIGN))} are not used" in output
    assert done.returncode == 2


def foreign_plays(prefix, *names):
    """The playbooks of these names, as they are used with this prefix of roles."""
    plays = []
    for name in names:
        text = (PLAYS / f"{name}.yml").read_text()
        if not prefix:
            text = text.replace("hostproof.hostproof.audit", str(ROOT / "playbooks/audit.yml"))
        plays += yaml.safe_load(text.replace("hostproof.hostproof.", prefix))
    return plays


def oracle_net_play(prefix):
    """With the expressions of docs/modules.md; json_query is in another collection."""
    (play,) = foreign_plays(prefix, "oracle_net_examples")
    page = (ROOT / "docs/modules.md").read_text()
    (query,) = re.findall(r"`(addresses\[.*?)`", page)
    (expression,) = re.findall(r"_net\)(\.addresses.*?) \}\}", page, re.DOTALL)
    with_query, with_jinja = play["tasks"]
    with_query["ansible.builtin.debug"]["msg"] = (
        "{{ net | community.general.json_query('" + query + "') }}"
    )
    with_jinja["ansible.builtin.debug"]["msg"] = "{{ net" + expression + " }}"
    if not any(Path(path, "ansible_collections/community/general").exists() for path in sys.path):
        play["tasks"] = [with_jinja]
    return play


def test_the_playbooks_of_others_have_the_right_answers(play, tmp_path):
    """The state of this machine decides what is found, but not how it is answered."""
    inventory = yaml.safe_load((PLAYS / "inventory.yml").read_text())
    inventory["all"]["vars"] |= {
        "ansible_python_interpreter": sys.executable,
        "hugepages_verify_fail_on": "never",
    }
    # No host has so many.
    unmet = {"kernel_parameters_values": [{"name": "fs.aio-max-nr", "value": 9_000_000_000}]}
    inventory["all"]["children"]["databases"]["hosts"]["bad2"] |= unmet
    (tmp_path / "databases.yml").write_text(yaml.safe_dump(inventory))
    (tmp_path / "listener.ora").write_text((PLAYS / "listener.ora").read_text())

    def make(prefix):
        names = ("foreign_variables", "use_result", "verify_role")
        return [oracle_net_play(prefix), *foreign_plays(prefix, *names)]

    output, _ = play(
        *(make, "-i", str(tmp_path / "databases.yml")), ANSIBLE_STDOUT_CALLBACK="default"
    )
    of_net, of_foreign, of_result, of_role = output.split("\nPLAY [")[1:5]
    answers = re.findall(r'"msg": \[\s*"1521"\s*\]', of_net)
    assert len(answers) == of_net.count("\nTASK [") > 0, of_net
    assert output.count("Hostproof: the variable") == 1
    names = sorted([*foreign_plays("", "foreign_variables")[0]["vars"], "space_before"])
    assert f"the variables {', '.join(names)} are not used" in " ".join(output.split())
    for text in (of_foreign, of_result):
        printed = text.split("Findings of hugepages", 1)[1]
        assert set(re.findall(r'\[(\w+)\] => \{\s+"changed"', printed)) == {"good1", "bad2"}
    shown = of_result.split("Show what is wrong", 1)[1]
    assert set(re.findall(r"^ok: \[(\w+)\]", shown, re.MULTILINE)) == {"good1", "bad2"}
    assert re.search(r'ok: \[good1\] => .*?"kernel_parameters: \d+ skipped', of_role, re.DOTALL)
    fatal = of_role[of_role.index("fatal: [bad2]") :]
    assert "FAIL fs.aio-max-nr: " in fatal
    assert re.search(r"required: at least 9000000000\b.*; actual: .*running \d+", fatal)
    assert "fix: " in fatal
    failed = dict(re.findall(r"^(\w+) +: ok=.* failed=(\d)", output, re.MULTILINE))
    assert failed == {"localhost": "0", "good1": "0", "bad2": "1"}


def test_a_failing_result_without_a_host_of_the_play_fails_the_run(project, tmp_path):
    """A pack whose name is not that of a host has no host that could fail."""
    (tmp_path / "bad name.json").write_text("x")
    (tmp_path / "db01.example.com.json").symlink_to(PACK.parent / "db01.example.com.json")
    words = ["-i", str(ROOT / "inventories/evidence.py"), str(ROOT / "playbooks/audit.yml")]
    variables = {"hostproof_evidence_folder": str(tmp_path), "ansible_connection": "local"}
    settings = {"ANSIBLE_CONFIG": CONFIG, "HOSTPROOF_EVIDENCE": str(tmp_path)}
    done = ansible(project, "ansible-playbook", *words, "-e", json.dumps(variables), **settings)
    assert done.returncode == 2, done.stdout
    assert "pack1_bad_name" in done.stdout + done.stderr


def test_exactly_the_hosts_with_a_failing_verdict_fail(play):
    """Example hosts of each verdict: ready, not ready and undetermined."""
    folder = str(PACK.parent)
    output, _ = play(
        lambda prefix: foreign_plays(prefix, "gate"),
        *("-i", "packs.yml", "-e", f"hostproof_evidence_folder={folder}"),
        *("-e", "ansible_connection=local", "--limit", "db01*,db02*,db06*"),
    )
    deployed = set(re.findall(r"deploying on (\w+)", output))
    failed = dict(re.findall(r"^(\S+) +: ok=.* failed=(\d)", output, re.MULTILINE))
    assert deployed == {"db01"}
    assert {host.split(".")[0] for host, count in failed.items() if count == "1"} == {
        "db02",
        "db06",
    }

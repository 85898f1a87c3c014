"""What remote/transport.py needs of ansible-core, and that nothing else needs it.

The first part is a contract: the stage "matrix" runs it with each supported ansible-core.
"""

import ast
import hashlib
import inspect
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from ansible.errors import AnsibleActionFail
from ansible.executor import task_executor
from ansible.module_utils.basic import AnsibleModule
from ansible.parsing.dataloader import DataLoader
from ansible.playbook.play_context import PlayContext
from ansible.playbook.task import Task as PlayTask
from ansible.plugins.action import ActionBase
from ansible.plugins.loader import connection_loader
from ansible.template import Templar
from hostproof_controller.remote import transport

ROOT = Path(__file__).resolve().parents[2]


class Asking(transport.Task):
    """Runs the function that a test gives it."""

    def perform(self):
        return self.asked(self)

    def ended(self, outcome, reason):
        self.reasons = [*getattr(self, "reasons", []), (outcome, str(reason))]


@pytest.fixture
def task(monkeypatch):
    """A task of this machine, with the variables ``a`` and the interpreter of the tests."""
    # The local connection starts a command as the user of the play.
    monkeypatch.setenv("ANSIBLE_PIPELINING", "true")
    loader = DataLoader()
    play_task = PlayTask()
    play_task.action = "ping"
    play_task.args = {"data": "x"}
    play_task.environment = [{"HOSTPROOF_TEST": "b c"}]
    context = PlayContext()
    connection = connection_loader.get("local", context, "/dev/null")
    connection.set_options(var_options={"ansible_pipelining": True})
    variables = {"inventory_hostname": "here", "a": "1", "ansible_python_interpreter": "/py{{ a }}"}
    action = Asking(
        task=play_task,
        connection=connection,
        play_context=context,
        loader=loader,
        templar=Templar(loader=loader, variables=variables),
        shared_loader_obj=None,
    )
    action.test_variables = variables
    return action


def run(task, asked):
    """What the function answers, asked within the task."""
    task.asked = lambda within: {"answer": asked(within)}
    return task.run(task_vars=task.test_variables)["answer"]


def trusted(text):
    """A template, as Ansible reads it from a file."""
    try:
        from ansible.template import trust_as_template
    except ImportError:
        return text
    return trust_as_template(text)


class TestContract:
    def test_a_command_gets_its_input_and_the_environment_of_the_task(self, task):
        output = run(task, lambda it: it.pipe("sh -c 'cat; echo \"[$HOSTPROOF_TEST]\"'", b"in\n"))
        assert output["rc"] == 0
        assert output["stdout"].splitlines() == ["in", "[b c]"]
        assert output["stderr"] == ""

    def test_input_of_a_payload_s_size_arrives_byte_by_byte(self, task):
        data = bytes(range(256)) * 2048
        output = run(task, lambda it: it.pipe(f"{sys.executable} -c '{DIGEST}'", data))
        assert output["stdout"].split() == [hashlib.sha256(data).hexdigest()]

    def test_pipelining_is_known_and_can_be_given_up(self, task):
        assert run(task, lambda it: it.can_pipe()) is True
        task.stop_piping()
        assert run(task, lambda it: it.can_pipe()) is False

    def test_the_task_is_known(self, task):
        assert run(task, lambda it: it.task_name) == "ping"
        assert run(task, lambda it: it.task_arguments) == {"data": "x"}
        flags = run(task, lambda it: [it.check_mode, it.diff_mode, it.is_async, it.runs_here])
        assert flags == [False, False, False, True]

    def test_templates_and_the_interpreter(self, task):
        task.test_variables["ansible_python_interpreter"] = trusted("/py{{ a }}")
        text = trusted("{{ a }}")
        assert str(run(task, lambda it: it.template(text))) == "1"
        assert str(run(task, lambda it: it.template(text, {"a": "2"}))) == "2"
        assert run(task, lambda it: it.interpreter()) == "/py1"
        task.test_variables["ansible_python_interpreter"] = "auto_silent"
        assert run(task, lambda it: it.interpreter()) is None

    def test_a_result_is_no_template(self, task):
        text = "{{ a }}"
        answer = run(task, lambda it: text)
        assert answer == text
        if transport.TRUST_IS_EXPLICIT:
            # Only what was marked as a template is one.
            assert task.template(answer) == text
        else:
            assert getattr(answer, "__UNSAFE__", False)

    def test_async_is_refused_unless_it_is_supported(self, task):
        task._task.async_val = 30
        with pytest.raises(AnsibleActionFail, match="async"):
            run(task, lambda it: 1)
        assert [outcome for outcome, _ in task.reasons] == ["failed"]

        class Supports(Asking):
            supports_async = True

        task.__class__ = Supports
        assert run(task, lambda it: it.is_async) is True

    def test_a_host_that_cannot_be_reached_and_a_task_that_is_late(self, task):
        def gone(_):
            raise transport.Unreachable("no route")

        with pytest.raises(transport.Unreachable):
            run(task, gone)
        late = task_timeout()

        def is_late(_):
            raise late("late")

        task._task.timeout = 6
        with pytest.raises(late):
            run(task, is_late)
        assert task.reasons == [
            ("unreachable", "no route"),
            ("failed", "the task took longer than its timeout of 6 s"),
        ]

    def test_the_connection_counts_what_a_command_prints(self, task):
        sizes = []
        with transport.watched_output(task.connection, lambda: None, sizes.append):
            run(task, lambda it: it.pipe("printf 12345", b""))
        assert sizes == [5]
        run(task, lambda it: it.pipe("printf 12345", b""))
        assert sizes == [5]

    def test_what_ansible_reads_of_a_module_is_what_the_task_lets_through(self, task):
        shown = '{"changed": false, "kept": 1}'
        task.module_output = lambda output: shown if output["stdout"] == "printed" else ""
        parameters = inspect.signature(ActionBase._parse_returned_data).parameters
        profile = ["legacy"] if "profile" in parameters else []
        printed = {"rc": 0, "stdout": "printed", "stderr": "noise", "stdout_lines": []}
        result = task._parse_returned_data(printed, *profile)
        # A dictionary, or from 2.21 on an object.
        assert "kept" in str(result)
        assert "noise" not in str(result)

    def test_a_module_is_sent_with_these_arguments(self):
        expected = {"module_name", "module_args", "task_vars", "wrap_async"}
        assert expected <= set(inspect.signature(ActionBase._execute_module).parameters)

    def test_the_timeout_of_a_task_uses_the_alarm(self):
        """shared_alarm() gives way to it."""
        source = inspect.getsource(task_executor)
        try:
            from ansible._internal._errors import _alarm_timeout
        except ImportError:
            pass
        else:
            source = inspect.getsource(_alarm_timeout)
        assert "SIGALRM" in source


DIGEST = "import hashlib, sys; print(hashlib.sha256(sys.stdin.buffer.read()).hexdigest())"


def task_timeout():
    """Ansible's exception, wherever it is."""
    try:
        from ansible._internal._errors._task_timeout import TaskTimeoutError
    except ImportError:
        from ansible.executor.task_executor import TaskTimeoutError
    return TaskTimeoutError


class TestAlarm:
    def test_it_is_called_again_and_again_and_is_gone_afterwards(self):
        before = signal.getsignal(signal.SIGALRM)
        passed = []
        with transport.shared_alarm(passed.append, 0.02):
            time.sleep(0.2)
        assert len(passed) >= 3
        assert passed == sorted(passed)
        assert signal.getsignal(signal.SIGALRM) is before
        assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)

    def test_the_time_that_is_left_of_another_alarm_goes_on(self):
        rung = []
        before = signal.signal(signal.SIGALRM, lambda *_: rung.append(time.monotonic()))
        signal.setitimer(signal.ITIMER_REAL, 0.5)
        began = time.monotonic()
        try:
            with transport.shared_alarm(lambda _: None, 0.02):
                time.sleep(0.1)
            assert not rung
            time.sleep(1.0)
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)
        assert len(rung) == 1
        assert 0.4 < rung[0] - began < 1.0


#: The files that use Ansible's Python interface, and what they import of it. Modules and plugins
#: may import ansible.module_utils and the base of callbacks; those are interfaces for developers.
TRANSPORT = "plugin_utils/hostproof_controller/remote/transport.py"
OF_COMMAND_LINE = {
    # The error for a Python that is too old.
    "plugin_utils/hostproof_controller/__init__.py": {"ansible.errors.AnsibleError"},
    "plugin_utils/hostproof_controller/cli/ansible_options.py": {
        "ansible.cli.playbook.PlaybookCLI",
        "ansible.errors.AnsibleError",
        "ansible.utils.display.Display",
    },
    "plugin_utils/hostproof_controller/run_options.py": {
        "ansible.context.CLIARGS",
        "ansible.parsing.splitter.parse_kv",
    },
    "plugin_utils/hostproof_controller/cli/hosts.py": {
        "ansible.errors.AnsibleError",
        "ansible.inventory.manager.InventoryManager",
        "ansible.parsing.dataloader.DataLoader",
    },
}
FILES = sorted(
    path
    for folder in ("plugin_utils", "action_plugins", "library")
    for path in (ROOT / folder).rglob("*.py")
    if str(path.relative_to(ROOT)) != TRANSPORT
)
#: ansible-core documents it for modules: what a user asked for with --diff.
DOCUMENTED = {"_diff"}


def imported_of_ansible(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and not node.level:
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        else:
            continue
        for name in names:
            if name.split(".")[0] == "ansible" and not name.startswith("ansible.module_utils."):
                yield name


def privates_of(*classes: type) -> set[str]:
    """The names with an underscore that Ansible's classes and their objects have."""
    names = set()
    for cls in classes:
        names |= set(dir(cls))
        tree = ast.parse(inspect.cleandoc("\n" + inspect.getsource(cls)))
        names |= {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    return {name for name in names if name.startswith("_") and not name.startswith("__")}


PRIVATE = privates_of(ActionBase, AnsibleModule) - DOCUMENTED


def private_of_ansible(tree: ast.AST) -> Iterator[str]:
    """Private names of Ansible that are used as an attribute or a text, or that a class redefines.

    A function of a module may have such a name by chance.
    """
    for node in ast.walk(tree):
        names = []
        if isinstance(node, ast.Attribute):
            names = [node.attr]
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            names = [node.value]
        elif isinstance(node, ast.ClassDef):
            names = [member.name for member in node.body if isinstance(member, ast.FunctionDef)]
            names += [
                target.id
                for member in node.body
                if isinstance(member, ast.Assign | ast.AnnAssign)
                for target in (
                    member.targets if isinstance(member, ast.Assign) else [member.target]
                )
                if isinstance(target, ast.Name)
            ]
        yield from (name for name in names if name in PRIVATE)


class TestNothingElse:
    def test_the_names_are_those_that_transport_uses(self):
        assert {
            *("_low_level_execute_command", "_is_pipelining_enabled", "_execute_module"),
            *("_task", "_connection", "_templar", "_parse_returned_data"),
            *("_compute_environment_string", "_supports_async", "_requires_connection"),
        } <= PRIVATE
        assert set(private_of_ansible(ast.parse((ROOT / TRANSPORT).read_text())))
        assert set(imported_of_ansible(ast.parse("import ansible.errors\nimport ansible")))
        names = private_of_ansible(ast.parse("getattr(a, '_task')\nb._connection.x\n"))
        assert set(names) == {"_task", "_connection"}
        names = private_of_ansible(ast.parse("class A(B):\n _supports_async = True\n"))
        assert set(names) == {"_supports_async"}

    @pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
    def test_imports(self, path):
        imports = set(imported_of_ansible(ast.parse(path.read_text())))
        assert imports <= OF_COMMAND_LINE.get(str(path.relative_to(ROOT)), set())

    @pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
    def test_private_names(self, path):
        assert set(private_of_ansible(ast.parse(path.read_text()))) == set()

    def test_nobody_else_freezes_memory_or_replaces_the_alarm_of_a_worker(self):
        stays = [path for path in FILES if path.is_relative_to(ROOT / "plugin_utils")]
        matches = [
            str(path.relative_to(ROOT))
            for path in stays
            for name in ("gc.freeze", "SIGALRM", "setitimer", "exec_command")
            if name in path.read_text()
        ]
        assert matches == []

"""/proc/PID/cgroup of both versions, and which service a process is of."""

import pytest
from ansible.module_utils.hostproof.errors import ParseError
from ansible.module_utils.hostproof.parsers.kernel import proc_cgroup
from cases import cases


def test_one_hierarchy():
    groups = proc_cgroup.parse("0::/system.slice/oracle-ohasd.service\n")
    assert groups == {"": "/system.slice/oracle-ohasd.service"}
    assert proc_cgroup.service_of(groups) == "oracle-ohasd.service"


def test_version_1_has_one_a_controller():
    """The order and names of the hierarchies differ from boot to boot (cgroups(7))."""
    text = "11:cpu,cpuacct:/a\n4:pids:/b:c\n1:name=systemd:/user.slice/session-1.scope\n0::/x\n"
    groups = proc_cgroup.parse(text)
    assert (groups["cpu"], groups["cpuacct"], groups["pids"]) == ("/a", "/a", "/b:c")
    assert proc_cgroup.path_of_unit(groups) == "/user.slice/session-1.scope"
    assert proc_cgroup.service_of(groups) is None


@cases(
    "path service",
    ("/system.slice/cron.service", None),
    ("/system.slice/sshd.service", None),
    ("/user.slice/user-1.slice/user@1.service/app.slice/x.service", None),
    ("/system.slice/x.service/sub", "x.service"),
    ("/", None),
)
def test_whose_a_process_is(path, service):
    assert proc_cgroup.service_of(proc_cgroup.parse(f"0::{path}\n")) == service


@cases("text", "x\n", "0:\n", "0::x\n", "a::/\n")
def test_what_is_no_group(text):
    with pytest.raises(ParseError):
        proc_cgroup.parse(text)


def test_no_groups_at_all():
    assert proc_cgroup.service_of(proc_cgroup.parse("")) is None

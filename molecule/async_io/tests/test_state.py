"""What the container is like after apply: an instance left alone, and no file of sysctl.d."""

import json

HOME = "/u01/app/oracle/product/19.0.0/dbhome_1"


def test_the_limit_is_left_to_kernel_parameters(host):
    assert not host.file("/etc/sysctl.d/99-zz-hostproof-async-io.conf").exists


def test_no_parameter_is_set_where_the_policy_does_not_let_it(host):
    """The default is false; the tests in tests/containers set it to true."""
    instance = json.loads(host.file(f"{HOME}/standin/ORCL.json").content_string)
    assert not [entry for entry in instance["stored"] if entry[1] == "filesystemio_options"]
    assert instance["status"] == "OPEN"

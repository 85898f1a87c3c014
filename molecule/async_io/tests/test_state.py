"""What the container is like after apply: the next boot's limit, and an instance left alone."""

import json

HOME = "/u01/app/oracle/product/19.0.0/dbhome_1"


def test_the_next_boot_has_the_limit(host):
    drop_in = host.file("/etc/sysctl.d/99-zz-hostproof-async-io.conf")
    assert drop_in.contains("^fs.aio-max-nr = 65536$")
    assert (drop_in.user, drop_in.mode) == ("root", 0o644)


def test_no_parameter_is_set_where_the_policy_does_not_let_it(host):
    """async_io_set_parameters is false by default; the story in tests/containers has it true."""
    instance = json.loads(host.file(f"{HOME}/standin/ORCL.json").content_string)
    assert not [entry for entry in instance["stored"] if entry[1] == "filesystemio_options"]
    assert instance["status"] == "OPEN"

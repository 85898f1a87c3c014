"""What the AIX host is like after apply: both marks, in its database and in its kernel."""

import json

import pytest

ODM = "/opt/hostproof-tests/aix/odm.py"


@pytest.mark.parametrize("layer", ["odm", "running"])
def test_the_marks_are_the_defaults_of_aix(host, layer):
    attributes = json.loads(host.check_output(f"{ODM} get sys0"))
    assert attributes["maxpout"][layer] == "8193"
    assert attributes["minpout"][layer] == "4096"


def test_revert_has_what_was_there(host):
    # testinfra knows no files of AIX, so ls tells.
    mode, _links, owner = host.check_output("ls -ld /var/lib/hostproof/journal").split()[:3]
    assert (mode[:10], owner) == ("drwx------", "root")

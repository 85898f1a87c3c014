"""Output of dmsetup about multipath maps."""

import pytest
from ansible.module_utils.hostproof.controls.block_devices.parsers import dm_multipath
from ansible.module_utils.hostproof.errors import ParseError
from cases import cases

#: The parser has no part that differs between releases of ansible-core.
pytestmark = pytest.mark.one_core


@cases("text", "", "\n", "No devices found\n")
def test_no_map(text):
    assert dm_multipath.tables(text) == {}
    assert dm_multipath.states(text) == {}
    assert dm_multipath.queueing("") == {}


@cases("text", "No devices\n", "mpatha: 0 2097152 linear 8:0\n", "mpatha: 0 2\n")
def test_another_line_is_an_error(text):
    with pytest.raises(ParseError, match="no multipath map"):
        dm_multipath.tables(text)

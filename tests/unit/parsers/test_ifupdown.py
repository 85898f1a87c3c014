"""/etc/network/interfaces after interfaces(5) and README.Debian of the package ethtool; TuneD."""

import pytest
from ansible.module_utils.hostproof.controls.flow_control.parsers import ifupdown
from ansible.module_utils.hostproof.errors import ParseError
from ansible.module_utils.hostproof.parsers.systemd import tuned
from cases import cases

TEXT = """\
source /etc/network/interfaces.d/*
auto lo ens4
allow-hotplug ens5
iface ens4 inet static
    ethernet-pause-autoneg off
    ethernet-pause-rx on
    ETHERNET_PAUSE_TX off
iface ens5 inet dhcp
source-directory more
"""


def test_what_is_set_and_what_is_brought_up():
    config = ifupdown.parse(TEXT)
    assert config.stanzas == [("ens4", False, True, False), ("ens5", None, None, None)]
    assert config.at_boot == ["lo", "ens4", "ens5"]
    assert (config.sources, config.folders) == (["/etc/network/interfaces.d/*"], ["more"])


@cases(
    "text",
    "ethernet-pause-rx on\n",
    "iface a inet dhcp\nethernet-pause-rx 1\n",
    "iface a inet dhcp\nethernet-pause-both on\n",
    "iface a inet dhcp\nauto b\nethernet-pause-rx on\n",
)
def test_a_pause_that_is_not_understood(text):
    with pytest.raises(ParseError, match="no PAUSE setting"):
        ifupdown.parse(text)


def test_only_lines_without_secrets_are_asked_for():
    """The pattern as grep -E reads it, in Python's words."""
    import re

    pattern = re.compile(ifupdown.LINES.replace("[[:space:]]", r"\s"))
    for line in TEXT.splitlines():
        assert pattern.match(line), line
    for line in ("  wpa-psk secret", "  address 192.0.2.1", "  up ethtool -A ens4 rx off"):
        assert not pattern.match(line)


@cases("rules fits",
("*", True), ("", True), ("ens4", True), ("eth*, ens*", True), ("ens5", False),
     ("!ens4", False), ("!ens5", True), ("ens* !ens4", False))  # fmt: skip
def test_devices_of_tuned(rules, fits):
    assert tuned.device_fits(rules, "ens4") is fits


def test_parameters_of_tuned():
    words = {"autoneg": "off", "rx": "on"}
    assert tuned.parameters("autoneg off rx on") == words
    assert tuned.parameters("autoneg: off, rx on") == words
    with pytest.raises(ParseError):
        tuned.parameters("autoneg")

"""What ethtool, bonds, .link files, NetworkManager, ifcfg, udev, ip and dcb say of PAUSE."""

import pytest
from ansible.module_utils.hostproof.controls.flow_control.parsers import (
    dcb,
    ethtool_settings,
    ifcfg,
    nm_keyfile,
)
from ansible.module_utils.hostproof.controls.flow_control.parsers.ethtool_settings import Offer
from ansible.module_utils.hostproof.errors import ParseError
from ansible.module_utils.hostproof.parsers.net import (
    bonding,
    ethtool_pause,
    ethtool_statistics,
    ip_neigh,
    ip_route,
)
from ansible.module_utils.hostproof.parsers.net.ethtool_pause import Direction, PauseCommand
from ansible.module_utils.hostproof.parsers.systemd import link_file, systemd_unit, udev_rules
from cases import cases
from nic_packs import fixture

ON_OFF = {True: "on", False: "off"}


@cases(
    "name autoneg rx tx negotiated frames",
    ("e1000e.txt", True, True, True, None, (None, None)),
    ("e1000.txt", True, True, False, None, (None, None)),
    ("e1000e.json", True, True, True, None, (None, None)),
    ("phy-guessed.txt", True, False, False, Direction(True, True), (0, 0)),
    ("hibmcge.txt", True, True, True, Direction(True, True), (100, 0)),
    ("ice.txt", True, True, True, Direction(True, True), (None, None)),
    ("spaced.txt", True, False, False, Direction(False, False), (None, None)),
    ("mlx5.txt", False, True, True, None, (None, None)),
)
def test_pause_settings_of_many_drivers(name, autoneg, rx, tx, negotiated, frames):
    pause = ethtool_pause.parse(fixture("pause-" + name))
    assert pause == (autoneg, rx, tx, negotiated, *frames)


def test_json_with_negotiated_and_statistics():
    text = (
        '[{"ifname":"eth0","autonegotiate":true,"rx":false,"tx":false,"negotiated":{"rx":true,'
        '"tx":false},"statistics":{"tx_pause_frames":1,"rx_pause_frames":2}}]'
    )
    pause = ethtool_pause.parse(text)
    assert pause.negotiated == Direction(True, False)
    assert (pause.rx_frames, pause.tx_frames) == (2, 1)


@cases("name", "virtio-stderr.txt", "old-unsupported.txt")
def test_a_driver_without_pause_is_told_from_other_failures(name):
    assert ethtool_pause.is_unsupported(fixture("pause-" + name))
    assert not ethtool_pause.is_unsupported("netlink error: No such device\n")


@cases(
    "text",
    *("", "[ ]", "[{}]", "Pause parameters for eth0:\n"),
    "Autonegotiate:\ton\nRX:\t\ton\nTX:\t\ton\n",
    "Pause parameters for eth0:\nAutonegotiate:\ton\nRX:\t\tmaybe\nTX:\t\ton\n",
    "Pause parameters for a:\nPause parameters for b:\n",
    '[{"autonegotiate":1,"rx":true,"tx":true}]',
)
def test_what_is_no_answer_is_an_error(text):
    with pytest.raises(ParseError):
        ethtool_pause.parse(text)


def test_commands_in_scripts():
    commands = ethtool_pause.commands_in(
        "/sbin/ethtool -A eth0 autoneg off rx on tx off; ethtool -K eth0 tso off; "
        "ethtool --pause $IFACE rx off && true"
    )
    assert commands == [
        PauseCommand("eth0", False, True, False),
        PauseCommand("$IFACE", None, False, None),
    ]


def test_settings():
    link = ethtool_settings.parse(fixture("settings-e1000e.txt"))
    assert link[:4] == (1000, "full", True, True)
    assert link.partner is None and link.partner_modes is None
    virtual = ethtool_settings.parse(fixture("settings-virtio.txt"))
    assert virtual[:4] == (None, None, False, True)
    partner = ethtool_settings.parse(fixture("settings-partner.txt"))
    assert (partner.offered, partner.partner) == (Offer(True, True), Offer(True, False))
    assert partner.partner_modes == "1000baseT/Full"


@cases(
    "ours theirs result",
    # IEEE 802.3 table 28B-3, seen from our end.
    ((False, False), (True, True), (False, False)),
    ((False, True), (True, False), (False, False)),
    ((False, True), (True, True), (False, True)),
    ((True, False), (False, True), (False, False)),
    ((True, False), (True, False), (True, True)),
    ((True, True), (False, False), (False, False)),
    ((True, True), (False, True), (True, False)),
    ((True, True), (True, False), (True, True)),
)
def test_what_comes_of_two_offers(ours, theirs, result):
    assert ethtool_settings.resolve(Offer(*ours), Offer(*theirs)) == Direction(*result)


@cases(
    "name driver rx tx",
    ("e1000e", "e1000e", "rx_flow_control_xoff", "tx_flow_control_xoff"),
    ("e1000", "e1000", "rx_flow_control_xoff", "tx_flow_control_xoff"),
    ("mlx5", "mlx5_core", "rx_pause_ctrl_phy", "tx_pause_ctrl_phy"),
    ("mlx5", "unheard_of", "rx_pause_ctrl_phy", "tx_pause_ctrl_phy"),
    ("ice", "ice", "link_xoff_rx.nic", "link_xoff_tx.nic"),
)
def test_each_driver_has_names_of_its_own(name, driver, rx, tx):
    counters = ethtool_statistics.parse(fixture(f"statistics-{name}.txt"))
    names = ethtool_statistics.names_of(driver, counters)
    assert (list(names.rx_pause), list(names.tx_pause)) == ([rx], [tx])


def test_a_direction_that_this_version_does_not_count_is_none():
    counters = ethtool_statistics.parse(fixture("statistics-tg3.txt"))
    names = ethtool_statistics.names_of("tg3", counters)
    assert (list(names.rx_pause), list(names.tx_pause)) == (["rx_xoff_pause_rcvd"], [])


def test_priority_counters():
    counters = ethtool_statistics.parse(fixture("statistics-mlx5-roce.txt"))
    assert ethtool_statistics.priority_names(counters) == ["rx_prio3_pause", "tx_prio3_pause"]
    counters = ethtool_statistics.parse(fixture("statistics-ice.txt"))
    assert len(ethtool_statistics.priority_names(counters)) == 2
    counters = ethtool_statistics.parse(fixture("statistics-e1000e.txt"))
    assert ethtool_statistics.priority_names(counters) == []


def test_statistics_as_json():
    assert ethtool_statistics.parse('[{"ifname":"a","rx_pause":3}]') == {"rx_pause": 3}


@cases("text", "", "NIC statistics:\n", "[]", "no stats available\n")
def test_no_statistics_is_an_error(text):
    with pytest.raises(ParseError):
        ethtool_statistics.parse(text)


def test_a_bond_in_lacp():
    bond = bonding.parse(fixture("bonding-lacp.txt"))
    assert (bond.mode, bond.up, bond.monitored, bond.aggregator) == ("802.3ad", True, True, 1)
    assert [member.name for member in bond.members] == ["ens8", "ens10"]
    assert [member.port for member in bond.members] == [1, 2]
    assert bond.members[0].permanent_mac == "52:54:00:0a:00:05"
    assert bond.works("ens8") and bond.works("ens10") and not bond.works("ens1")


def test_a_member_that_is_down_or_alone_does_not_work():
    text = fixture("bonding-lacp.txt")
    down = text.replace("ens8\nMII Status: up", "ens8\nMII Status: down")
    assert not bonding.parse(down).works("ens8")
    alone = text.replace(
        "Slave queue ID: 0\nAggregator ID: 1", "Slave queue ID: 0\nAggregator ID: 2"
    )
    assert not bonding.parse(alone).works("ens8")
    no_partner = text.replace("Mac Address: 52:54:00:0a:00:06", "Mac Address: 00:00:00:00:00:00")
    assert not bonding.parse(no_partner).works("ens8")


def unit(text: str) -> list[systemd_unit.Unit]:
    return [systemd_unit.parse(text, "/etc/systemd/network/x.link")]


DEVICE = link_file.Device("52:54:00:0a:00:01", "pci-0000:00:04.0", "e1000e", ("eth0", "eth1"))


@cases(
    "match answer",
    ("OriginalName=*", "yes"),
    ("", "no"),
    ("MACAddress=52:54:00:0A:00:01", "yes"),
    ("MACAddress=52-54-00-0a-00-01", "yes"),
    ("MACAddress=5254.000a.0001", "yes"),
    ("MACAddress=52:54:0:a:0:1", "yes"),
    ("MACAddress=5254.000a.0002 52-54-00-0a-00-03", "no"),
    ("MACAddress=52:54:00:0a:00:02", "no"),
    ("MACAddress=52:54:00:0a:00:01\nDriver=e1000e", "yes"),
    ("MACAddress=52:54:00:0a:00:01\nDriver=bonding", "no"),
    ("Driver=!e1000e igb", "no"),
    ("Driver=!igb", "yes"),
    ("Path=pci-0000:00:0?.*", "yes"),
    ("OriginalName=eth0", "unknown"),
    ("OriginalName=eth*", "yes"),
    ("OriginalName=wl*", "no"),
    ("Property=ID_BUS=usb", "unknown"),
    ("Property=ID_BUS=usb\nDriver=igb", "no"),
    ("Type=wlan", "no"),
    ("Driver=igb\nDriver=\nOriginalName=*", "yes"),
)
def test_which_interface_a_link_file_is_for(match, answer):
    assert link_file.fits(unit(f"[Match]\n{match}\n[Link]\nMTUBytes=9000\n"), DEVICE) == answer


def test_flow_control_of_a_link_file():
    text = "[Link]\nNamePolicy=path\nRxFlowControl=YES\nTxFlowControl=off\nMTUBytes=9000\n"
    assert link_file.flow_control(unit(text)) == {"RxFlowControl": True, "TxFlowControl": False}
    assert [setting.key for setting in link_file.link_settings(unit(text))] == [
        "NamePolicy",
        "MTUBytes",
    ]
    assert link_file.flow_control(unit("[Link]\nRxFlowControl=perhaps\n")) == {}


def test_a_profile_of_networkmanager():
    profile = nm_keyfile.parse(
        "[connection]\nid=storage\nuuid=1-2\ntype=ethernet\ninterface-name=ens4\n\n[ethtool]\n"
        "pause-autoneg=false\npause-rx=true\n"
    )
    assert profile[:4] == ("storage", "1-2", "ethernet", "ens4")
    assert (profile.autoneg, profile.rx, profile.tx) == (False, True, None)
    with pytest.raises(ParseError):
        nm_keyfile.parse("[connection]\nid=x\n[ethtool]\npause-rx=perhaps\n")


def test_ifcfg():
    config = ifcfg.parse(
        'DEVICE="eth0"\nONBOOT=yes\nNM_CONTROLLED=no\n'
        'ETHTOOL_OPTS="-K ${DEVICE} tso off; -A ${DEVICE} autoneg off rx on tx on"\n'
    )
    assert config.device == "eth0" and not config.nm_controlled
    assert config.pause == [PauseCommand("eth0", False, True, True)]


RULE = (
    'ACTION=="add", SUBSYSTEM=="net", ATTR{address}=="52:54:00:0a:00:01", '
    'RUN+="/usr/sbin/ethtool -A $name rx off tx off"\n'
)


def test_udev_rules():
    rules = udev_rules.parse(
        '# ethtool\nKERNEL=="lo", NAME="x"\n' + RULE.replace(", RUN", ", \\\n RUN")
    )
    assert [rule.line for rule in rules] == [3]
    assert rules[0].command == PauseCommand("$name", None, False, False)
    assert rules[0].fits(DEVICE, "ens4", "e1000e") == link_file.YES
    other = DEVICE._replace(mac="52:54:00:0a:00:02")
    assert rules[0].fits(other, "ens4", "e1000e") == link_file.NO
    with pytest.raises(ParseError):
        udev_rules.parse("RUN+=ethtool\n")


@cases(
    "conditions answer",
    ('ACTION=="add", SUBSYSTEM=="net"', link_file.YES),
    ('ACTION=="add|change"', link_file.YES),
    ('ACTION!="remove"', link_file.YES),
    # After an interface got its name udev tells that it moved.
    ('ACTION=="move"', link_file.UNKNOWN),
    ('ACTION=="change"', link_file.NO),
    # Its name of now, and not the one that the kernel gave it.
    ('KERNEL=="ens4"', link_file.UNKNOWN),
    ('KERNEL=="eth*|en*"', link_file.YES),
    ('ATTR{device/vendor}=="0x14e4"', link_file.UNKNOWN),
    ('ENV{ID_PATH}=="pci-0000:99:00.0"', link_file.NO),
    ('ENV{ID_NET_DRIVER}=="e1000e", DRIVERS=="igb"', link_file.NO),
    ('TEST=="/etc/no-pause"', link_file.UNKNOWN),
)
def test_for_which_interface_a_rule_of_udev_is(conditions, answer):
    rule = udev_rules.parse(f'{conditions}, RUN+="/sbin/ethtool -A $name rx off tx off"\n')[0]
    device = DEVICE._replace(path="pci-0000:00:04.0", names=("eth0", "eth1"))
    assert rule.fits(device, "ens4", "e1000e") == answer


def test_a_rule_that_may_be_jumped_over():
    assert udev_rules.jumps('SUBSYSTEM!="net", GOTO="end"\n')
    assert not udev_rules.jumps('# GOTO="end"\nLABEL="end"\n')


def test_routes_and_neighbours():
    route = ip_route.parse(
        "192.0.2.5 via 10.0.0.1 dev bond0.7 src 10.0.0.5 uid 0 \\    cache mtu 1400 "
    )
    assert route == ("bond0.7", "10.0.0.1", "10.0.0.5", 1400, False)
    assert ip_route.parse("local 10.0.0.5 dev lo src 10.0.0.5 uid 0 \\    cache <local> ").local
    with pytest.raises(ParseError):
        ip_route.parse("unreachable 192.0.2.1 uid 0\n")
    text = (
        "192.0.2.50 dev ens4 lladdr 00:a0:98:01:02:03 REACHABLE\n"
        "192.0.2.51 dev ens4  FAILED\nfe80::1 dev ens4 lladdr 00:a0:98:01:02:04 router STALE\n"
    )
    assert [neighbour.mac[-2:] for neighbour in ip_neigh.parse(text)] == ["03", "04"]


def test_priorities():
    assert dcb.parse_dcb(fixture("dcb-pfc.txt")) == {6, 7}
    assert dcb.parse_dcb(fixture("dcb-pfc.txt").replace(":on", ":off")) == set()
    assert dcb.parse_dcb(fixture("dcb-pfc-hns3.txt")) == set(range(8))
    assert dcb.parse_dcb(fixture("dcb-pfc-one-line.txt")) == {3}
    assert dcb.parse_lldptool(fixture("lldptool-pfc.txt")) == {1, 2, 5, 7}
    assert dcb.parse_lldptool(fixture("lldptool-pfc-none.txt")) == set()
    assert dcb.parse_lldptool("\tPFC enabled: 3\n") == {3}
    assert dcb.parse_lldptool("\t PFC enabled: none\n") == set()
    with pytest.raises(ParseError):
        dcb.parse_dcb("")

"""What udev rules assign to a device, and to which interface a rule of PAUSE belongs."""

from ansible.module_utils.hostproof.parsers.systemd import link_file, udev_rules
from cases import cases

VALUES = {
    "KERNEL": ["sdb"],
    "SUBSYSTEM": ["block"],
    "ENV{ID_SERIAL}": ["3600a"],
    "ACTION": ["add", "change"],
    "DRIVER": [],
}


def outcome(*texts, key="OWNER"):
    files = [(f"{number}.rules", text) for number, text in enumerate(texts, 1)]
    return udev_rules.outcome(files, [key], VALUES.get)[key]


def told(*texts, key="OWNER"):
    """(value that wins, values that may win instead)"""
    found = outcome(*texts, key=key)
    return found.winner and found.winner.value, [doubt.value for doubt in found.doubts]


@cases(
    "text expected",
    ('KERNEL=="sdb", OWNER="grid"', ("grid", [])),
    ('KERNEL=="sd[a-c]|vd*", OWNER="grid"', ("grid", [])),
    ('KERNEL=="sdc", OWNER="grid"', (None, [])),
    ('KERNEL!="sdc", OWNER="grid"', ("grid", [])),
    ('KERNEL!="sdb", OWNER="grid"', (None, [])),
    ('ACTION=="change", OWNER="grid"', ("grid", [])),
    ('DRIVER=="x", OWNER="grid"', (None, [])),
    # What is not known leaves a doubt, whatever else fits.
    ('ENV{X}=="1", OWNER="grid"', (None, ["grid"])),
    ('KERNEL=="sdb", ENV{X}!="1", OWNER="grid"', (None, ["grid"])),
    ('KERNEL=="sdc", ENV{X}=="1", OWNER="grid"', (None, [])),
    # A value that udev fills in is not known either.
    ('OWNER="$env{X}"', (None, ["$env{X}"])),
    ('OWNER="%k"', (None, ["%k"])),
    # Only an assignment assigns.
    ('OWNER=="grid"', (None, [])),
    # udev takes += of a single value for = (src/udev/udev-rules.c).
    ('OWNER+="grid"', ("grid", [])),
    ('OWNER-="grid"', (None, [])),
    # The last one wins, and a final one against the rest.
    ('OWNER="a"\nOWNER="b"', ("b", [])),
    ('OWNER:="a"\nOWNER="b"', ("a", [])),
    ('ENV{X}=="1", OWNER="a"\nOWNER="b"', ("b", [])),
    ('OWNER="a"\nENV{X}=="1", OWNER="b"', ("a", ["b"])),
    ('OWNER="a"\nENV{X}=="1", OWNER:="b"\nOWNER="c"', ("c", [])),
    # Programs and imports may fail.
    ('PROGRAM=="/x", OWNER="a"', (None, ["a"])),
    ('IMPORT{program}="/x", OWNER="a"', (None, ["a"])),
    ('TEST=="/x", OWNER="a"', (None, ["a"])),
    # scsi_id prints the serial number, other programs print what nobody knows.
    ('PROGRAM=="/lib/udev/scsi_id -g", RESULT=="3600a", OWNER="a"', ("a", [])),
    ('PROGRAM=="/lib/udev/scsi_id -g", RESULT=="3600b", OWNER="a"', (None, [])),
    ('PROGRAM=="/x scsi_id", RESULT=="3600a", OWNER="a"', (None, ["a"])),
    ('RESULT=="3600a", OWNER="a"', (None, ["a"])),
    # A jump leaves rules out, a doubtful one makes them doubtful.
    ('GOTO="end"\nOWNER="a"\nLABEL="end"', (None, [])),
    ('GOTO="end"\nOWNER="a"\nLABEL="other"\nOWNER="b"\nLABEL="end"', (None, [])),
    ('KERNEL=="sdc", GOTO="end"\nOWNER="a"\nLABEL="end"', ("a", [])),
    ('ENV{X}=="1", GOTO="end"\nOWNER="a"\nLABEL="end"\nOWNER="b"', ("b", [])),
    ('ENV{X}=="1", GOTO="end"\nOWNER="a"\nLABEL="end"', (None, ["a"])),
    (
        'ENV{X}=="1", GOTO="end"\nOWNER="a"\nLABEL="x"\nOWNER="b"\nLABEL="end"',
        (None, ["a", "b"]),
    ),
    ('GOTO="end"\nOWNER="a"\nLABEL="end", OWNER="b"', ("b", [])),
    # udev ignores a jump without a label behind it (udev-rules.c, rule_resolve_goto).
    ('GOTO="end"\nOWNER="a"\n', ("a", [])),
    ('LABEL="end"\nKERNEL=="sdb", GOTO="end"\nOWNER="a"', ("a", [])),
    ('ENV{X}=="1", GOTO="none"\nOWNER="a"', ("a", [])),
    # A program wins over an assignment, a final one too; RUN= replaces those before it.
    ('OWNER:="a"\nRUN+="/bin/chown b /dev/%k"', ("b", [])),
    ('RUN+="/bin/chown a $env{DEVNAME}"\nRUN="/bin/chgrp b /dev/%k"', (None, [])),
    ('RUN+="chown a /dev/%k"\nRUN="chown b /dev/%k"\nOWNER="c"', ("b", [])),
    ('RUN+="chown a /dev/%k"\nENV{X}=="1", RUN="/bin/true"', (None, ["a"])),
    ("RUN+=\"/bin/sh -c 'chown a:b /dev/%k'\"", ("a", [])),
    ('RUN+="/bin/chown a:b /dev/sdc"', (None, [])),
    ('RUN{program}+="/usr/bin/chown 54321:54322 /dev/$name"', ("54321", [])),
    ('RUN-="/bin/chown a /dev/%k"', (None, [])),
)
def test_what_rules_assign(text, expected):
    assert told(text + "\n") == expected


def test_a_jump_ends_with_its_file_and_places_name_file_and_line():
    found = outcome('# one\nGOTO="x"\nOWNER="a"\nLABEL="x"\n', '\nOWNER="b"\n')
    assert found.winner == udev_rules.Assigned("b", "2.rules:2", False)
    assert outcome('OWNER:="a"\n').final and not outcome('OWNER="a"\n').final


def test_chown_with_a_colon_at_the_end_takes_a_group_that_no_rule_names():
    rule = 'RUN+="/bin/chown grid: /dev/%k"\n'
    assert (told(rule), told(rule, key="GROUP")) == (("grid", []), (None, [""]))


@cases(
    "condition by_identity",
    *(('ENV{ID_SERIAL}=="3600a"', True), ('ENV{DM_NAME}!="x"', True)),
    *(('ATTR{wwid}!="x"', True), ('ATTRS{serial}!="x"', True), ('ATTR{size}!="x"', False)),
    *(('KERNEL=="sdb"', False), ('ENV{X}!="x"', False)),
)
def test_whether_a_rule_requires_which_device_it_is(condition, by_identity):
    found = outcome(condition + ', OWNER="a"\n')
    (assigned,) = (found.winner, *found.doubts)[-1:] if found.winner is None else (found.winner,)
    assert assigned.by_identity is by_identity


DEVICE = link_file.Device("00:11:22:33:44:55", "pci-0000:03:00.0", "ixgbe", ("eth0",))


@cases(
    "conditions command expected",
    ("", "ethtool -A $name rx off", "yes"),
    ("", "ethtool -A %k rx off", "yes"),
    ("", "ethtool -A ens1 rx off", "yes"),
    ("", "ethtool -A ens2 rx off", "no"),
    ("", "ethtool -A %E{INTERFACE} rx off", "yes"),
    ('ATTR{address}=="00:11:22:33:44:55", ', "ethtool -A $name rx off", "yes"),
    ('ATTR{address}=="00:11:22:33:44:5A", ', "ethtool -A $name rx off", "no"),
    ('ATTR{address}!="00:11:22:33:44:55", ', "ethtool -A $name rx off", "no"),
    ('SUBSYSTEM=="net", ACTION=="add", ', "ethtool -A $name rx off", "yes"),
    ('ACTION=="change", ', "ethtool -A $name rx off", "no"),
    ('ACTION!="add", ', "ethtool -A $name rx off", "unknown"),
    ('ACTION=="add|change", ', "ethtool -A $name rx off", "yes"),
    # It is eth0 first, then ens1.
    ('KERNEL=="ens*", ', "ethtool -A $name rx off", "unknown"),
    ('KERNEL=="e*", ', "ethtool -A $name rx off", "yes"),
    ('KERNEL=="wl*", ', "ethtool -A $name rx off", "no"),
    ('DRIVERS=="ixgbe", ', "ethtool -A $name rx off", "unknown"),
    ('ENV{ID_NET_DRIVER}=="IXGBE", ', "ethtool -A $name rx off", "yes"),
    ('ENV{X}=="1", ', "ethtool -A $name rx off", "unknown"),
    ('ENV{X}=="1", KERNEL=="wl*", ', "ethtool -A $name rx off", "no"),
)
def test_the_interface_of_a_pause_rule(conditions, command, expected):
    (rule,) = udev_rules.parse(f'{conditions}RUN+="/sbin/{command}"\n')
    words = {link_file.YES: "yes", link_file.NO: "no", link_file.UNKNOWN: "unknown"}
    assert words[rule.fits(DEVICE, "ens1", None)] == expected


def test_a_known_driver_of_sysfs():
    (rule,) = udev_rules.parse('DRIVERS=="ixgbe", RUN+="/sbin/ethtool -A $name rx off"\n')
    assert rule.fits(DEVICE, "ens1", "ixgbe") == link_file.YES
    assert rule.fits(DEVICE, "ens1", "e1000") == link_file.NO


@cases(
    "text lines",
    ('RUN+="ethtool -A eth0 rx off"', [1]),
    ('RUN{program}+="ethtool -A eth0 rx off"', [1]),
    ('PROGRAM="ethtool -A eth0 rx off"', [1]),
    ('IMPORT{program}="ethtool -A eth0 rx off"', [1]),
    ('RUN-="ethtool -A eth0 rx off"', []),
    ('ENV{X}="ethtool -A eth0 rx off"', []),
    ('# RUN+="ethtool -A eth0 rx off"', []),
    ('KERNEL=="x", \\\n  RUN+="ethtool -A eth0 rx off"\nRUN+="ethtool -A eth1 rx off"', [1, 3]),
)
def test_where_pause_is_set(text, lines):
    assert [rule.line for rule in udev_rules.parse(text + "\n")] == lines


@cases(
    "text expected",
    ('GOTO="end"', True),
    ('KERNEL=="x", GOTO = "end"', True),
    ('# GOTO="end"', False),
    ('LABEL="GOTO"', False),
    ('KERNEL=="x"\nGOTO="end"', True),
)
def test_jumps(text, expected):
    assert udev_rules.jumps(text + "\n") is expected

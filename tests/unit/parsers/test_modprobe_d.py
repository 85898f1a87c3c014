"""modprobe.d: read as kmod 30 reads it (tests/fixtures/modprobe_d)."""

import json
from pathlib import Path

import pytest
from ansible.module_utils.hostproof.parsers.kernel import modprobe_d
from ansible.module_utils.hostproof.parsers.systemd import conf_d
from cases import cases

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures" / "modprobe_d"
KMOD = json.loads((FIXTURES / "kmod-30.json").read_text())


def read(files):
    paths = conf_d.effective_files(
        modprobe_d.DIRECTORIES, [f"/etc/modprobe.d/{name}" for name in files]
    )
    parsed = [modprobe_d.parse(files[path.rpartition("/")[2]], path) for path in paths]
    return [option for p in parsed for option in p.options], [
        install for p in parsed for install in p.installs
    ]


def test_reads_what_modprobe_reads():
    options, installs = read(KMOD["files"])
    expected = []
    for line in KMOD["showconfig"]:
        word, module, rest = line.split(None, 2)
        if word == "options":
            expected += [(module, name, value) for name, value in parameters(rest)]
    assert [(option.module, option.name, option.value) for option in options] == expected
    assert [f"install {install.module} {install.command}" for install in installs] == [
        line for line in KMOD["showconfig"] if line.startswith("install")
    ]


def parameters(text):
    """Names and values of a line of the fixture, which has one with a blank."""
    text = text.replace('"b c"', "b~c")
    pairs = [word.split("=") for word in text.split()]
    return [(name.replace("-", "_"), value.replace("~", " ")) for name, value in pairs]


def test_names_the_lines_that_modprobe_complains_about():
    bad = [
        f"{name} line {line}"
        for name, text in KMOD["files"].items()
        for line in modprobe_d.parse(text, name).bad_lines
    ]
    complaints = [complaint.partition(":")[0] for complaint in KMOD["complaints"]]
    assert [line for line in bad if not line.startswith("README")] == complaints


def test_the_last_line_wins_and_the_first_command():
    options, installs = read(KMOD["files"])
    resolution = modprobe_d.resolve(options, "sunrpc", "tcp_slot_table_entries")
    winner = resolution.winner
    assert (winner.value, winner.path, winner.line) == ("128", "/etc/modprobe.d/90-b.conf", 1)
    assert [loser.value for loser in resolution.losers] == ["16"]
    assert modprobe_d.install(installs, "sunrpc").line == 4
    assert modprobe_d.install(installs, "sunlight").command == "/bin/false"
    assert modprobe_d.install(installs, "nfs") is None


def test_a_parameter_that_nobody_gives():
    assert modprobe_d.resolve([], "sunrpc", "x") == (None, [])


@cases("name", "tcp-max-slot-table-entries", "tcp_max_slot_table_entries")
def test_dash_and_underscore_are_one_letter(name):
    options, _ = read(KMOD["files"])
    assert modprobe_d.resolve(options, "sunrpc", name).winner.value == "64"


@pytest.mark.parametrize(
    ("higher", "lower"), list(zip(modprobe_d.DIRECTORIES, modprobe_d.DIRECTORIES[1:], strict=False))
)
def test_each_folder_masks_the_next(higher, lower):
    paths = [f"{lower}/sunrpc.conf", f"{higher}/sunrpc.conf", f"{lower}/a.conf"]
    assert conf_d.effective_files(modprobe_d.DIRECTORIES, paths) == [
        f"{lower}/a.conf",
        f"{higher}/sunrpc.conf",
    ]


def test_a_flag_has_no_value():
    assert modprobe_d.parse("options a b c=\n", "x").options == [
        ("a", "b", None, "x", 1),
        ("a", "c", "", "x", 1),
    ]


def test_a_distribution_s_file():
    parsed = modprobe_d.parse((FIXTURES / "debian-12-systemd.conf").read_text(), "x")
    assert [(option.module, option.name) for option in parsed.options] == [
        ("bonding", "max_bonds"),
        ("dummy", "numdummies"),
        ("ifb", "numifbs"),
    ]
    assert parsed.bad_lines == []

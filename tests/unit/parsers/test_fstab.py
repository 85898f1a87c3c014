"""fstab: read as systemd-fstab-generator reads it, and edited byte by byte."""

import json
import random
from pathlib import Path

import pytest
from ansible.module_utils.hostproof.errors import ParseError
from ansible.module_utils.hostproof.parsers.mounts import fstab
from ansible.module_utils.hostproof.parsers.systemd import systemd_unit
from cases import cases

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures"
GENERATED = json.loads((FIXTURES / "fstab/systemd-fstab-generator-252.json").read_text())

TEXT = (
    "# /etc/fstab: static file system information.\n"
    "\n"
    "UUID=2b1c-77aa\t/\text4\terrors=remount-ro\t0\t1\n"
    "filer:/vol/oradata   /u01/oradata  nfs\trw,bg,hard  0 0\t# data\n"
    "   # filer:/vol/old /u01/oradata nfs soft 0 0\n"
    "filer:/vol/a\\040b /u01/a\\040b/ nfs hard\n"
    "filer:/vol/redo /u01/redo nfs\n"
    "filer:/vol/oradata /u01/oradata nfs soft 0 0\n"
    "rubbish\n"
    "tmpfs /tmp tmpfs size=1g 0 0"
)


def mount_units(case):
    """The paths, sources, types and options of the units that systemd made of a text."""
    mounts = {}
    for name, text in case["units"].items():
        if name.endswith(".mount") and "Type=" in text:
            unit = systemd_unit.parse(text, name)
            what, path, fstype, options = (
                systemd_unit.last([unit], "Mount", key)
                for key in ("What", "Where", "Type", "Options")
            )
            source = what.value.replace("%%", "%")
            mounts[path.value] = (source, fstype.value, options.value if options else "")
    return mounts


@pytest.mark.parametrize("case", GENERATED, ids=lambda case: case["case"])
def test_reads_the_lines_that_systemd_reads(case):
    ours = {}
    for entry in fstab.parse(case["fstab"]):
        options = entry.options.rstrip(",")
        if "bg" in options.split(","):
            # systemd waits in place of mount.
            options = f"x-systemd.mount-timeout=infinity,retry=10000,nofail,{options},fg"
        ours.setdefault(entry.path, (entry.source, entry.fstype, options))
    assert ours == mount_units(case)


def test_an_entry_holds_its_fields_and_its_line():
    assert fstab.parse(TEXT)[1:4] == [
        (4, "filer:/vol/oradata", "/u01/oradata", "nfs", "rw,bg,hard", 0, 0),
        (6, "filer:/vol/a b", "/u01/a b", "nfs", "hard", 0, 0),
        (7, "filer:/vol/redo", "/u01/redo", "nfs", "", 0, 0),
    ]
    assert fstab.parse(TEXT)[0].passno == 1


@cases(
    "line bad",
    ("a:/b /c nfs hard 0 0", []),
    ("a:/b /c nfs hard", []),
    ("a:/b /c nfs", []),
    ("a:/b /c nfs hard 0 0 # comment", []),
    ("a:/b /c nfs hard # comment", []),
    ("a:/b /c", [1]),
    ("a:/b", [1]),
    ("a:/b /c nfs rw, hard 0 0", [1]),
    ("a:/b /c nfs hard 0 x", [1]),
    ("#a:/b", []),
    ("  \t", []),
)
def test_lines_that_mount_refuses_are_named(line, bad):
    assert fstab.bad_lines(line + "\n") == bad


def test_a_blank_within_the_options_cuts_them_off():
    assert fstab.parse("a:/b /c nfs rw,bg, hard 0 0\n")[0].options == "rw,bg,"


@cases(
    "path old new",
    ("/u01/oradata/", "nfs\trw,bg,hard  0 0\t# data", "nfs\tNEW  0 0\t# data"),
    ("/u01/a b", "nfs hard\n", "nfs NEW\n"),
    ("/u01/redo", "/u01/redo nfs\n", "/u01/redo nfs NEW\n"),
    ("/tmp", "size=1g 0 0", "NEW 0 0"),
)
def test_only_the_options_of_one_line_change(path, old, new):
    assert fstab.with_options(TEXT, path, "NEW") == TEXT.replace(old, new, 1)


def test_escapes_that_nobody_decodes_stay_as_they_are():
    text = "f:/v /u01 nfs context=a\\054b,soft 0 0\n"
    options = fstab.parse(text)[0].options
    assert options == "context=a\\054b,soft"
    assert fstab.with_options(text, "/u01", options.replace("soft", "hard")) == text.replace(
        "soft", "hard"
    )


def test_only_the_source_of_one_line_changes():
    old = "filer:/vol/oradata   /u01/oradata"
    assert fstab.with_source(TEXT, "/u01/oradata", "new:/a b") == TEXT.replace(
        old, "new:/a\\040b   /u01/oradata"
    )


@cases("newline", "\n", "\r\n")
def test_line_ends_stay(newline):
    text = TEXT.replace("\n", newline)
    edited = fstab.with_options(text, "/u01/redo", "hard")
    assert edited == text.replace("/u01/redo nfs", "/u01/redo nfs hard")
    assert fstab.parse(edited)[3].options == "hard"


def test_the_same_options_leave_the_text_as_it_is():
    assert fstab.with_options(TEXT, "/u01/oradata", "rw,bg,hard") == TEXT


def test_no_options_are_written_as_defaults():
    assert " nfs defaults\n" in fstab.with_options(TEXT, "/u01/a b", "")


def test_an_entry_that_is_not_there_cannot_be_edited():
    with pytest.raises(ParseError, match="no entry for /u02"):
        fstab.with_options(TEXT, "/u02", "hard")


@cases(
    "text start",
    ("", ""),
    ("a /b c d\n", "a /b c d\n"),
    ("a /b c d", "a /b c d\n"),
    ("# x\r\na /b c d", "# x\r\na /b c d\r\n"),
)
def test_a_new_entry_comes_last(text, start):
    newline = "\r\n" if "\r" in text else "\n"
    assert fstab.with_entry(text, "f:/v", "/u01", "nfs", "hard") == (
        f"{start}f:/v /u01 nfs hard 0 0{newline}"
    )


@cases("path", "/u01/a b", "/u01/tab\there", "/u01/back\\slash", "/u01/\\040")
def test_what_is_written_is_read_back(path):
    text = fstab.with_entry("", "#odd:/v 1", path, "nfs", "context=a b")
    assert fstab.parse(text) == [(1, "#odd:/v 1", path, "nfs", "context=a b", 0, 0)]


PIECES = [*TEXT.splitlines(keepends=True), "\r\n", "\t\n", "a:/b /c nfs rw, x\n", "é:/x /y nfs a\n"]


@pytest.mark.parametrize("seed", range(200))
def test_whatever_stands_there_an_edit_changes_one_field(seed):
    chance = random.Random(seed)
    text = "".join(chance.choice(PIECES) for _ in range(chance.randint(1, 12)))
    entries = fstab.parse(text)
    if not entries:
        return
    path = chance.choice(entries).path
    entry = next(item for item in entries if item.path == path)
    edited = fstab.with_options(text, path, "new,options")
    assert [item for item in fstab.parse(edited) if item.line != entry.line] == [
        item for item in entries if item.line != entry.line
    ]
    changed = next(item for item in fstab.parse(edited) if item.line == entry.line)
    assert changed == entry._replace(options="new,options")
    lines, edited_lines = text.split("\n"), edited.split("\n")
    assert len(lines) == len(edited_lines)
    assert [a for a, b in zip(lines, edited_lines, strict=True) if a != b] == [
        lines[entry.line - 1]
    ]
    if entry.options:
        assert fstab.with_options(edited, path, entry.options) == text

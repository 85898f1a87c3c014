"""The tables of Solaris and AIX that list what is mounted at boot."""

from pathlib import Path

import pytest
from ansible.module_utils.hostproof.errors import ParseError
from ansible.module_utils.hostproof.parsers.mounts import aix_filesystems, vfstab
from cases import cases

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures"


def test_vfstab():
    entries = vfstab.parse((FIXTURES / "vfstab/made-up.txt").read_text())
    assert [tuple(entry) for entry in entries if entry.fstype == "nfs"] == [
        (9, "filer:/vol/oradata", "/u01/oradata", "nfs", True, "rw,bg,hard,nointr,noac,vers=3"),
        (10, "filer:/vol/backup", "/backup", "nfs", False, ""),
    ]


@cases("line", "filer:/v - /u01 nfs - yes", "a b c d e f g h")
def test_vfstab_has_seven_fields(line):
    with pytest.raises(ParseError, match="line 2"):
        vfstab.parse("# x\n" + line + "\n")


def test_filesystems_of_aix():
    stanzas = aix_filesystems.parse((FIXTURES / "aix_filesystems/made-up.txt").read_text())
    assert [(stanza.name, stanza.line) for stanza in stanzas] == [
        ("default", 4),
        ("/", 9),
        ("/u01/oradata", 17),
        ("/backup", 26),
    ]
    assert stanzas[2].attributes == {
        "dev": "/vol/oradata",
        "vfs": "nfs",
        "nodename": "filer",
        "mount": "true",
        "type": "nfs_oracle",
        "options": "cio,rw,bg,hard,nointr,rsize=32768,wsize=32768,proto=tcp,noac,vers=3,timeo=600",
        "account": "false",
    }


@cases("text", "dev = /x\n", "/u01:\nnonsense\n", "/u01:\n= x\n")
def test_filesystems_of_aix_that_are_none(text):
    with pytest.raises(ParseError, match=f"line {text.count(chr(10))}"):
        aix_filesystems.parse(text)

"""The automounter's maps: the forms of auto.master(5) and autofs(5)."""

from pathlib import Path

from ansible.module_utils.hostproof.parsers.nfs import autofs_map
from cases import cases

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures" / "autofs_map"

MASTER = """\
# comment
/-      /etc/auto.direct        -rw,hard --timeout=60
/net    -hosts
/home   yp:auto.home            -nosuid nobrowse,soft
/mnt/   file,sun:/etc/auto.mnt  --ghost --timeout 300
/srv    auto.srv
/old    -null
/two    multi file:/etc/a -- yp:b
+dir:/etc/auto.master.d
+auto.master
relative /etc/auto.x
/alone
/long   \\
        /etc/auto.long
"""


def test_the_master_map():
    master = autofs_map.parse_master(MASTER)
    assert [tuple(entry) for entry in master.entries] == [
        ("/-", "", "/etc/auto.direct", "rw,hard", 2),
        ("/net", "builtin", "-hosts", "", 3),
        ("/home", "yp", "auto.home", "nosuid,soft", 4),
        ("/mnt", "file", "/etc/auto.mnt", "", 5),
        ("/srv", "", "auto.srv", "", 6),
        ("/old", "builtin", "-null", "", 7),
        ("/two", "multi", "multi", "", 8),
        ("/long", "", "/etc/auto.long", "", 13),
    ]
    assert [tuple(include) for include in master.includes] == [
        ("dir", "/etc/auto.master.d", 9),
        ("", "auto.master", 10),
    ]
    assert master.bad_lines == [11, 12]


@cases(
    "line mounts",
    ("data filer:/vol/data", [("data", "", "", "filer:/vol/data")]),
    ("data -rw,hard filer:/vol", [("data", "", "rw,hard", "filer:/vol")]),
    ("data -rw -hard filer:/vol", [("data", "", "rw,hard", "filer:/vol")]),
    ("/u01/x -fstype=nfs4,rw f:/v", [("/u01/x", "", "fstype=nfs4,rw", "f:/v")]),
    ("* -hard filer:/vol/&", [("*", "", "hard", "filer:/vol/&")]),
    ("d -nobrowse,hard a:/v b:/v", [("d", "", "hard", "a:/v b:/v")]),
    (
        "m -rw / f:/v /x -ro f:/x/ /y/z f:/y",
        [("m", "", "rw", "f:/v"), ("m", "/x", "rw,ro", "f:/x/"), ("m", "/y/z", "rw", "f:/y")],
    ),
    ("d -rw \\\n  f:/v", [("d", "", "rw", "f:/v")]),
    ('d "f:/with blank"', [("d", "", "", "f:/with blank")]),
    ("d f:/with\\ blank", [("d", "", "", "f:/with blank")]),
    ("\td\tf:/v\r", [("d", "", "", "f:/v")]),
    ("  # comment", []),
)
def test_a_line_of_a_map(line, mounts):
    parsed = autofs_map.parse_map(line + "\n")
    assert [tuple(mount[:4]) for mount in parsed.mounts] == mounts
    assert parsed.bad_lines == []


def test_lines_without_a_location_are_named():
    parsed = autofs_map.parse_map("a f:/v\nb\nc -rw\nd /x\n+auto.more\n+ldap:auto.other\n")
    assert parsed.bad_lines == [2, 3, 4]
    assert [tuple(include) for include in parsed.includes] == [
        ("", "auto.more", 5),
        ("ldap", "auto.other", 6),
    ]


def test_a_distribution_s_maps():
    master = autofs_map.parse_master((FIXTURES / "debian-12-auto.master").read_text())
    assert (master.entries, master.bad_lines) == ([], [])
    assert [include.name for include in master.includes] == ["/etc/auto.master.d", "auto.master"]
    misc = autofs_map.parse_map((FIXTURES / "debian-12-auto.misc").read_text())
    assert [tuple(mount[:4]) for mount in misc.mounts] == [
        ("cd", "", "fstype=iso9660,ro,nosuid,nodev", ":/dev/cdrom")
    ]

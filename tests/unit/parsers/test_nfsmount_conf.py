"""nfsmount.conf: the options that mount.nfs 2.6.2 handed to the kernel."""

import json
from pathlib import Path

import pytest
from ansible.module_utils.hostproof.parsers.nfs import nfs_options, nfsmount_conf

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures" / "nfsmount_conf"
CASES = json.loads((FIXTURES / "mount.nfs-2.6.2.json").read_text())
GLOBAL = "[ NFSMount_Global_Options ]\n"


def conf(*texts):
    return nfsmount_conf.parse([(f"/{number}", text) for number, text in enumerate(texts)])


def added(text, options="hard"):
    return nfsmount_conf.added(conf(text), options, "filer", "/u01")


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["case"])
def test_adds_what_mount_adds(case):
    names = [name for name in case["files"] if name != "main"]
    paths = [path.rpartition("/")[2] for path in nfsmount_conf.files(names)]
    texts = [case["files"].get(path.replace("nfsmount.conf", "main"), "") for path in paths]
    ours = nfsmount_conf.added(conf(*texts), case["options"], case["server"], case["path"])
    given = case["given_to_the_kernel"].split(",")
    negotiated = [] if "vers" in nfs_options.parse(ours) else ["vers=4.2"]
    assert ours.split(",") + negotiated == given[:-2]
    assert [word.partition("=")[0] for word in given[-2:]] == ["addr", "clientaddr"]


@pytest.mark.parametrize(
    ("default", "options", "result"),
    [
        ("Defaultvers=3", "hard", "hard,vers=3"),
        ("Defaultvers=3", "nfsvers=4.1", "nfsvers=4.1"),
        ("Defaultvers=4.1", "hard", "hard"),
        ("Defaultproto=udp", "hard", "hard,proto=udp"),
        ("Defaultproto=udp", "tcp", "tcp"),
    ],
)
def test_a_default_counts_where_it_decides(default, options, result):
    assert added(GLOBAL + default, options) == result


def test_the_nearest_default_counts():
    text = GLOBAL + 'Defaultvers=3\n[ Server "filer" ]\nDefaultvers=4\n'
    assert added(text) == "hard"


def test_odd_lines_are_named_and_the_others_kept():
    parsed = conf("rsize=1k\n" + GLOBAL + "nonsense\nrsize=2k\n[ broken\n")
    assert parsed.bad_lines == ["/0:1", "/0:3", "/0:5"]
    assert parsed.sections == {("nfsmount_global_options", ""): {"rsize": "2k"}}


def test_the_files_of_the_folder_by_name():
    names = ["b.conf", "a.conf", "x.rpmsave", ".a.conf"]
    assert nfsmount_conf.files(names) == [
        "/etc/nfsmount.conf",
        "/etc/nfsmount.conf.d/a.conf",
        "/etc/nfsmount.conf.d/b.conf",
    ]

"""nfsmount.conf: the options that mount.nfs 2.6.2 handed to the kernel."""

import json
from pathlib import Path

import pytest
from ansible.module_utils.hostproof.errors import ParseError
from ansible.module_utils.hostproof.parsers.nfs import nfs_options, nfsmount_conf
from cases import cases

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
    options = case["given_to_the_kernel"].split(",")
    negotiated = [] if "vers" in nfs_options.parse(ours) else ["vers=4.2"]
    assert ours.split(",") + negotiated == options[:-2]
    assert [word.partition("=")[0] for word in options[-2:]] == ["addr", "clientaddr"]


@cases(
    "default options result",
    ("Defaultvers=3", "hard", "hard,vers=3"),
    ("Defaultvers=3", "nfsvers=4.1", "nfsvers=4.1"),
    ("Defaultvers=4.1", "hard", "hard"),
    ("Defaultproto=udp", "hard", "hard,proto=udp"),
    ("Defaultproto=udp", "tcp", "tcp"),
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


class TestIncludes:
    """Source: nfs-utils, support/nfs/conffile.c, conf_parse_line()."""

    def test_an_included_file_goes_on_in_the_section_that_includes_it(self):
        text = (
            GLOBAL + 'Timeo=600\ninclude = extra/soft.conf\nInclude="-/etc/gone.conf"\nrsize=32k\n'
        )
        paths = nfsmount_conf.includes("/etc/nfsmount.conf", text)
        assert paths == ["/etc/extra/soft.conf", "/etc/gone.conf"]
        included = {paths[0]: 'Soft=True\n[ Server "filer" ]\nnconnect=2\n', paths[1]: None}
        conf = nfsmount_conf.parse([("/etc/nfsmount.conf", text)], included)
        assert conf.bad_lines == []
        words = set(nfsmount_conf.added(conf, "rw", "filer", "/u01").split(","))
        assert words == {"rw", "soft", "timeo=600", "rsize=32768", "nconnect=2"}

    def test_a_file_that_includes_itself_ends(self):
        text = GLOBAL + "include=/etc/nfsmount.conf\n" * 40
        with pytest.raises(ParseError, match="include= is used more than 32 times"):
            nfsmount_conf.parse([(nfsmount_conf.MAIN, text)], {nfsmount_conf.MAIN: text})

    def test_what_evidence_keeps_says_the_same(self):
        text = GLOBAL + "root:$6$secret:1\n# words\nSoft=True\n"
        assert "secret" not in nfsmount_conf.kept(text)
        assert added(nfsmount_conf.kept(text)) == added(text)

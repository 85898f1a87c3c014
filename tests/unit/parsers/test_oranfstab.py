"""oranfstab: what the guides show is right, and every mistake is found on its line."""

from ansible.module_utils.hostproof.controls.nfs_mounts.parsers import oranfstab
from cases import cases


def mistakes(*lines: str) -> list[tuple[int, str]]:
    """Those of a server that would be right without ``lines``."""
    text = "server: filer\npath: 192.0.2.1\nexport: /vol/a mount: /a\n" + "\n".join(lines)
    return [(mistake.line, mistake.problem) for mistake in oranfstab.parse(text).mistakes]


class TestRight:
    def test_example_of_the_guide(self, fixture_text):
        parsed = oranfstab.parse(fixture_text("oranfstab/guide.txt"))
        first, second = parsed.servers
        assert (first.name, first.line) == ("MyDataServer1", 1)
        assert first.paths == [("192.0.2.1", 3), ("192.0.100.1", 5)]
        assert first.locals == [("192.0.2.0", 2), ("192.0.100.0", 4)]
        assert first.exports == [("/vol/oradata1", "/mnt/oradata1", None, 8)]
        assert (first.version(), second.version()) == ("3", "4")
        assert len(second.exports) == 4
        assert [mistake.problem for mistake in parsed.mistakes] == []

    @cases("name", "backup-appliance", "no-space")
    def test_public_examples(self, fixture_text, name):
        parsed = oranfstab.parse(fixture_text(f"oranfstab/{name}.txt"))
        assert parsed.mistakes == []
        assert all(len(server.exports) == 2 for server in parsed.servers)

    @cases(
        "written version",
        ("NFSv3", "3"),
        ("nfsv4", "4"),
        ("NFSv4.1", "4.1"),
        ("pNFS", "pnfs"),
        ("pnfs", "pnfs"),
    )
    def test_versions(self, written, version):
        text = f"server: f\npath: 192.0.2.1\nnfs_version: {written}\nexport: /v mount: /m\n"
        parsed = oranfstab.parse(text)
        assert (parsed.servers[0].version(), parsed.mistakes) == (version, [])

    def test_version_3_is_the_default(self):
        assert oranfstab.parse("server: f\n").servers[0].version() == "3"

    def test_security_stands_on_the_line_of_the_export(self):
        lines = ("security_default: krb5i", "export: /vol/b mount: /b security: krb5p")
        assert mistakes(*lines) == []
        text = "server: f\npath: p\nexport: /v mount: /m security: krb5p"
        assert oranfstab.parse(text).servers[0].exports[0].security == "krb5p"

    def test_tabs_blank_lines_and_comments(self):
        assert mistakes("", "  \t", "# a comment: with a colon", "mnt_timeout:\t60") == []

    def test_an_ipv6_address(self):
        parsed = oranfstab.parse("server: f\npath: 2001:db8::1\nexport: /v mount: /m\n")
        assert parsed.servers[0].paths == [("2001:db8::1", 2)]
        assert parsed.mistakes == []


class TestPaths:
    """NetApp, Oracle Database on ONTAP, Direct NFS: no multipath with NFSv4.1."""

    @cases(
        "version certain",
        ("NFSv4.1", [True]),
        ("nfsv4.1", [True]),
        ("pNFS", [False]),
        ("NFSv3", []),
        ("NFSv4", []),
    )
    @cases("paths", 2, 3, 4)
    def test_one_path_an_export(self, version, certain, paths):
        lines = [f"path: 192.0.{number}.1" for number in range(paths)]
        text = "\n".join(
            ["server: f", f"nfs_version: {version}", *lines, "export: /v mount: /m", ""]
        )
        parsed = oranfstab.parse(text)
        assert [mistake.certain for mistake in parsed.mistakes] == certain
        assert all(
            mistake.line == 4 and "one path" in mistake.problem for mistake in parsed.mistakes
        )

    def test_the_version_may_stand_behind_the_paths(self):
        assert [line for line, _ in mistakes("path: 192.0.3.1", "nfs_version: NFSv4.1")] == [4]


class TestMistakes:
    def test_one_of_each(self, fixture_text):
        parsed = oranfstab.parse(fixture_text("oranfstab/mistakes.txt"))
        by_line = {}
        for mistake in parsed.mistakes:
            by_line.setdefault(mistake.line, []).append(mistake.problem)
        right = {2, 3, 7, 8, 9, 10}
        assert set(by_line) == set(range(1, 28)) - right
        assert by_line[1] == ["path: precedes any server:"]
        assert by_line[4] == ["unknown attribute 'sever', did you mean 'server'?"]
        assert by_line[11] == ["server filer1 has 5 path: lines, at most 4 are used"]
        assert by_line[27] == ["unknown word 'dontrout', did you mean 'dontroute'?"]

    @cases(
        "line problem",
        ("exprot: /b mount: /b", "unknown attribute 'exprot', did you mean 'export'?"),
        ("xyzzy: 1", "unknown attribute 'xyzzy'"),
        ("path 192.0.2.1", "no colon right after 'path'"),
        ("path : 192.0.2.1", "no colon right after 'path' (a space precedes it)"),
        ("path:", "path has no value"),
        ("export: /vol/b", "export: without mount: on the same line"),
        ("mount: /b", "mount: without export: on the same line"),
        ("export: vol/b mount: /b", "export: a word of 5 characters is not an absolute path"),
        ("export: /vol/b mount: b", "mount: a word of 1 character is not an absolute path"),
        ("mnt_timeout: 10m", "mnt_timeout is a word of 3 characters, not seconds"),
        (
            "nfs_version: v3",
            "nfs_version is a word of 2 characters, not NFSv3, NFSv4, NFSv4.1, pNFS",
        ),
        (
            "nfs_version: nfsv4.2",
            "nfs_version is a word of 7 characters, not NFSv3, NFSv4, NFSv4.1, pNFS",
        ),
        (
            "security_default: krb",
            "security_default is a word of 3 characters, not sys, krb5, krb5i, krb5p",
        ),
        (
            "path: 192.0.2.2 192.0.2.3",
            "a word of 9 characters after the value of path is too much",
        ),
        (
            "mnt_timeout: 60 # a minute",
            "a text of 10 characters after the value of mnt_timeout is too much",
        ),
        ("mnt_timeout: 60\r", "ends with a carriage return: the file has line ends of Windows"),
        ("export: /vol/b mount: /a", "mount /a is set twice: only line 3, the first, counts"),
    )
    def test_certain(self, line, problem):
        assert mistakes(line) == [(4, problem)]
        text = "server: filer\npath: 192.0.2.1\nexport: /vol/a mount: /a\n" + line
        assert all(mistake.certain for mistake in oranfstab.parse(text).mistakes)

    @cases(
        "line problem",
        ("Dontroute", "'Dontroute' is written 'dontroute'"),
        ("nfs_version: NFSV3", "nfs_version 'NFSV3' is written 'NFSv3' or 'nfsv3'"),
        ("uid: 1000", "uid: is for Windows only"),
        ("  # indented", "a comment that does not begin the line"),
        ("security: krb5", "security: is on the line of an export"),
        ("path: 192.0.2.1", "path 192.0.2.1 is set twice, first on line 2"),
        (
            "mnt_timeout: 5 nfs_version: nfsv3",
            "holds mnt_timeout and nfs_version: each belongs on its own line",
        ),
    )
    def test_perhaps_harmless(self, line, problem):
        assert mistakes(line) == [(4, problem)]
        text = "server: filer\npath: 192.0.2.1\nexport: /vol/a mount: /a\n" + line
        assert not any(mistake.certain for mistake in oranfstab.parse(text).mistakes)

    def test_a_setting_that_stands_twice(self):
        assert mistakes("mnt_timeout: 5", "mnt_timeout: 6") == [
            (5, "mnt_timeout is set twice, first on line 4")
        ]

    @cases("kind", "path", "local")
    def test_five_paths(self, kind):
        lines = [f"{kind}: 192.0.2.{number}" for number in range(11, 16)]
        problems = [text for _, text in mistakes(*lines) if "at most 4" in text]
        assert problems == [
            f"server filer has {5 + (kind == 'path')} {kind}: lines, at most 4 are used"
        ]

    def test_locals_and_paths_that_do_not_pair(self):
        assert mistakes("local: 192.0.2.10", "local: 192.0.2.11") == [
            (4, "server filer has 2 local: and 1 path: lines: they do not pair")
        ]

    def test_one_server_twice(self):
        lines = ("server: filer", "path: 192.0.2.2", "export: /vol/b mount: /b")
        assert mistakes(*lines) == [(4, "server filer is set twice, first on line 1")]

    def test_a_server_without_path_and_export(self):
        assert mistakes("server: other") == [
            (4, "server other has no export:"),
            (4, "server other has no path:"),
        ]

    def test_one_mistake_hides_no_other(self):
        assert [line for line, _ in mistakes("sever: x", "path 1", "export: /b")] == [4, 5, 6]

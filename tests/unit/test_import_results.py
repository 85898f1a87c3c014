"""Results of CVU and ORAchk as findings. The samples follow the format of real runs; real runs are
read where the shared data is there."""

import json
import os
import sys
from pathlib import Path

import packs
import pytest
from cases import cases
from hostproof_controller.cli import command
from hostproof_controller.other_tools import cvu, orachk, requirements
from hostproof_controller.other_tools.foreign_finding import (
    Foreign,
    NotUnderstood,
    as_findings,
    slug,
)

SHARED = Path(__file__).resolve().parents[3] / "shared/data/preinstall"

#: No ansible-core has a part in it.
pytestmark = pytest.mark.one_core

VERBOSE = """\
$ ./runcluvfy.sh stage -pre crsinst -n n1,n2 -verbose
  Physical Memory ...
  Node Name     Available                 Required                  Status
  ------------  ------------------------  ------------------------  ----------
  n2            19.0928GB (2.0E7KB)       8GB (8388608.0KB)         passed
  n1            4GB (4194304.0KB)         8GB (8388608.0KB)         failed
  Physical Memory ...FAILED (PRVF-7530)
  Free Space: n2:/usr ...
  Path              Node Name     Mount point   Available     Required      Status
  ----------------  ------------  ------------  ------------  ------------  ------------
  /usr              n2            /usr          8.2109GB      25MB          passed
  Free Space: n2:/usr ...PASSED
  User Equivalence ...APROVADO
  RPM Package Manager database ...INFORMATION (PRVG-11250)
  ORAchk checks ...INFORMATION (PRVH-1507)
  zeroconf check ...ZORGELOOS

Failures were encountered during execution of CVU verification request "stage -pre crsinst".

Physical Memory ...FAILED
n1: PRVF-7530 : Sufficient physical memory is not available on node "n1"
      [Required = 8GB ; Found = 4GB]

CVU version:                  19.27.0.0.0 (041025x8664)
"""
PLAIN = """\
Verifying Swap Size ...FAILED
rac2: PRVF-7573 : Sufficient swap size is not available on node "rac2"

Verifying Package: gcc-4.8.2 ...PASSED
Verifying Group Membership: asmadmin ...FAILED
PRVG-10460 : User "oracle" does not belong to group "asmadmin"
"""
PATCH = 'Check for Oracle patch "9706490 or 9413827" in home "/u01/app/11.2.0/grid"'
OLD = """\
Result: Node reachability check passed from node "n1"
Result: User "grid" is not part of "root" group. Check passed
Result: Kernel version check failed
"""


def statuses_text(run, name):
    return " ".join(entry.message for entry in run.foreign if entry.name == name)


def statuses(run):
    return {(entry.host, entry.name): entry.status for entry in run.foreign}


class TestCvu:
    def test_a_verbose_run_by_node(self):
        run = cvu.parse(VERBOSE)
        results = statuses(run)
        assert run.version == "19.27.0.0.0"
        assert {host for host, _name in results} == {"n1", "n2"}
        assert results["n1", "Physical Memory"] == "fail"
        assert results["n2", "Physical Memory"] == "pass"
        assert results["n2", "Free Space"] == "pass"
        assert ("n1", "Free Space") not in results
        assert results["n1", "User Equivalence"] == "pass"
        assert results["n1", "ORAchk checks"] == "skip"
        (memory,) = [entry for entry in run.foreign if (entry.host, entry.status) == ("n1", "fail")]
        assert memory.message.endswith('on node "n1" [Required = 8GB ; Found = 4GB]')
        assert memory.number == "PRVF-7530"

    def test_what_did_not_run_and_what_is_not_known_is_no_pass(self):
        results = statuses(cvu.parse(VERBOSE))
        assert results["n1", "RPM Package Manager database"] == "error"
        assert results["n1", "zeroconf check"] == "error"

    def test_a_short_run(self):
        results = statuses(cvu.parse(PLAIN, "db01"))
        assert results == {
            ("rac2", "Swap Size"): "fail",
            ("rac2", "Package"): "pass",
            ("rac2", "Group Membership"): "fail",
        }

    @cases(
        "words status",
        (("FAILED", "PASSED"), "fail"),
        (("PASSED", "FAILED"), "fail"),
        (("WARNING", "PASSED"), "warn"),
        (("SOMEHOW", "WARNING"), "error"),
        (("SOMEHOW", "FAILED"), "fail"),
        (("PASSED", "INFORMATION"), "warn"),
    )
    def test_the_worse_status_of_a_task_that_is_printed_twice(self, words, status):
        text = "".join(f"Verifying Swap Size ...{word}\n" for word in words)
        assert statuses(cvu.parse(text, "db01")) == {("db01", "Swap Size"): status}

    def test_a_node_with_a_problem_counts_beside_those_of_the_command(self):
        text = VERBOSE.replace("-n n1,n2", "-n n3")
        results = statuses(cvu.parse(text))
        assert results["n1", "Physical Memory"] == "fail"
        assert results["n3", "Physical Memory"] == "error"

    def test_a_failure_that_no_node_explains_is_of_all(self):
        rows = VERBOSE.replace("4GB (4194304.0KB) ", "9GB (9437184.0KB) ").replace(
            "         failed", "         passed"
        )
        text = rows.partition("Failures were")[0]
        results = statuses(cvu.parse(text))
        assert (results["n1", "Physical Memory"], results["n2", "Physical Memory"]) == (
            "fail",
            "fail",
        )
        assert results["n1", "User Equivalence"] == "pass"

    def test_a_row_that_is_no_node_hides_no_failure(self):
        text = VERBOSE.partition("Failures were")[0].replace(
            "  n1            4GB", "  eth0          4GB"
        )
        results = statuses(cvu.parse(text))
        assert {host for host, _name in results} == {"n1", "n2"}
        assert results["n1", "Physical Memory"] == "fail"
        assert results["n2", "Physical Memory"] == "fail"

    def test_names_with_an_underscore(self):
        text = VERBOSE.replace("n1", "rac_1").replace(
            "  rac_1            4GB", "  rac_1         4GB"
        )
        results = statuses(cvu.parse(text))
        assert results["rac_1", "Physical Memory"] == "fail"
        assert results["n2", "Physical Memory"] == "pass"

    @cases("list_of", "{0}", "\n\t{0}")
    def test_a_node_that_cvu_excluded_has_one_failure_and_no_pass(self, list_of):
        text = (packs.FIXTURES / "cvu/12.2-node-excluded.txt").read_text()
        remaining = "Verification will proceed with nodes: rac02"
        assert remaining in text
        lines = remaining.replace(" rac02", list_of.format(" rac02"))
        for changed in (
            text.replace(remaining, lines),
            text.replace("PRVF-4009 : User equivalence is not set for nodes: rac01\n", ""),
            # The list of remaining nodes in another language.
            text.replace("Verification will proceed with nodes", "A verificação continuará"),
        ):
            run = cvu.parse(changed)
            mine = [entry for entry in run.foreign if entry.host == "rac01"]
            assert [entry.name for entry in mine if entry.status == "fail"] == ["User Equivalence"]
            assert {entry.status for entry in mine} == {"fail", "error"}
            assert "Not checked: CVU excluded this node" in mine[3].message
            other = [entry for entry in run.foreign if entry.host == "rac02"]
            assert sum(entry.status == "pass" for entry in other) == 71
            assert {entry.name for entry in other if entry.status == "fail"} == {
                *("Physical Memory", "Package", "Network Time Protocol (NTP)"),
                *("(Linux) resolv.conf Integrity", "resolv.conf Integrity"),
                'Daemon "avahi-daemon" not configured and running',
                "/dev/shm mounted as temporary file system",
            }

    def test_a_name_of_two_lines_is_one_task(self):
        run = cvu.parse((packs.FIXTURES / "cvu/19c-wrapped-task.txt").read_text())
        chrony = "chrony daemon is synchronized with at least one external time source"
        assert {entry.host for entry in run.foreign} == {"rac1"}
        assert [entry.name for entry in run.foreign if entry.number == "PRVG-13606"] == [
            chrony,
            "Network Time Protocol (NTP)",
            "Clock Synchronization",
        ]
        assert "cvu.source" not in {f"cvu.{slug(entry.name)}" for entry in run.foreign}
        assert 'source on node "rac1".' in statuses_text(run, chrony)

    def test_the_log_of_the_installer(self):
        run = cvu.parse((packs.FIXTURES / "cvu/gridsetup-log.txt").read_text())
        assert {(entry.host, entry.status) for entry in run.foreign} == {
            ("rac1", "fail"),
            ("rac2", "fail"),
        }
        assert len(run.foreign) == 6
        assert len({entry.name for entry in run.foreign}) == 3

    def test_a_failure_names_what_is_required_and_our_check(self, tmp_path):
        run = cvu.parse(VERBOSE)
        (memory,) = [entry for entry in run.foreign if (entry.host, entry.status) == ("n1", "fail")]
        assert (memory.required, memory.actual) == ("8GB (8388608.0KB)", "4GB (4194304.0KB)")
        (finding,) = [
            finding
            for finding in as_findings("cvu", "Oracle CVU", run.foreign)["n1"]
            if finding["status"] == "fail"
        ]
        assert (finding["desired"], finding["running"]) == (memory.required, memory.actual)
        assert "memory_pressure.physical names the fix" in finding["fix"]
        assert finding["commands"] == ["./hostproof audit --tags memory_pressure --limit n1"]

    def test_the_old_format(self):
        results = statuses(cvu.parse(OLD, "db01"))
        assert list(results.values()) == ["pass", "pass", "fail"]

    @cases(
        "name passed failed",
        (
            "11.2-aix-pre-crsinst.txt",
            {
                ("rac1", "Kernel parameter check: tcp_ephemeral_low"),
                ("rac1", "Swap space check"),
            },
            {
                ("rac2", "Kernel parameter check: tcp_ephemeral_low"),
                *(
                    (node, name)
                    for node in ("rac1", "rac2")
                    for name in (
                        "Kernel parameter check: udp_ephemeral_low",
                        PATCH,
                        "Operating system patch check: Patch IZ97457",
                        "Check for Network parameter - ipqmaxlen",
                    )
                ),
            },
        ),
        (
            "10.2-post-crsinst.txt",
            {("rac01", "Node reachability check"), ("rac01", "User equivalence check: oracle")},
            {
                ("rac01", "Daemon status check: CSS daemon"),
                ("rac01", "Cluster manager integrity check"),
                ("rac01", "OCR integrity check"),
                ("rac01", "Liveness check: CRS daemon"),
                ("rac01", "CRS integrity check"),
            },
        ),
        (
            "11.2-post-nodedel.txt",
            {("rac1", "CRS integrity check"), ("rac2", "Node removal check")},
            set(),
        ),
        (
            "12.1-swap-verbose.txt",
            set(),
            {("rac1", "Swap space check"), ("rac2", "Swap space check")},
        ),
    )
    def test_sentences_of_10_2_to_12_1(self, name, passed, failed):
        run = cvu.parse((packs.FIXTURES / "cvu" / name).read_text())
        found = {"pass": set(), "fail": set(), "error": set()}
        for entry in run.foreign:
            name = f"{entry.name}: {entry.subject}" if entry.subject else entry.name
            found[entry.status].add((entry.host, name))
        assert found["fail"] == failed
        # "This check did not run on the following nodes(s)"
        not_run = {("rac01", "Cluster integrity check")} if "rac01" in str(failed) else set()
        assert found["error"] == not_run
        assert passed <= found["pass"]

    def test_a_message_before_its_sentence(self):
        text = (packs.FIXTURES / "cvu/11.2-aix-pre-crsinst.txt").read_text()
        wrapped = text.replace(' "en9" is not configured', ' "en9" is\nnot configured').replace(
            '/grid" failed', '/grid"\nfailed'
        )
        assert wrapped.count("\n") > text.count("\n")
        for log in (text, wrapped):
            entries = [entry for entry in cvu.parse(log).foreign if entry.number == "PRVE-0273"]
            assert [(entry.host, entry.required, entry.actual) for entry in entries] == [
                ("rac1", "512", "en9=100"),
                ("rac2", "512", "en9=100"),
            ]
        assert {entry[:4] for entry in cvu.parse(wrapped).foreign} == {
            entry[:4] for entry in cvu.parse(text).foreign
        }

    def test_a_node_on_which_a_check_did_not_run(self):
        text = (
            'Node reachability check passed from node "n1".\n'
            "Cluster integrity check failed. This check did not run on the following nodes(s): \n"
            "\tn2\n"
        )
        run = cvu.parse(f"$ cluvfy stage -post crsinst -n n1,n2\n{text}")
        assert statuses(run)["n2", "Cluster integrity check"] == "error"
        assert statuses(run)["n1", "Cluster integrity check"] == "fail"

    @cases("text words", ("hello\n", "not output of CVU"), (OLD, "--host"), ("", "not output"))
    def test_what_is_not_understood(self, text, words):
        with pytest.raises(NotUnderstood, match=words):
            cvu.parse(text)

    @pytest.mark.skipif(not SHARED.is_dir(), reason="the shared data is not here")
    def test_real_runs(self):
        for path in sorted((SHARED / "04-cvu/logs").glob("*.txt")):
            text = path.read_text()
            run = cvu.parse(text, "db01")
            assert {entry.status for entry in run.foreign} <= {
                "pass",
                "fail",
                "error",
                "skip",
                "warn",
            }
            lines = [line for line in text.splitlines() if line.rstrip().endswith("...PASSED")]
            passed = {entry.name for entry in run.foreign if entry.status == "pass"}
            assert bool(lines) <= bool(passed), path.name
        failed = cvu.parse(
            (SHARED / "04-cvu/logs/cvu-19.3-pre-crsinst-ol7-fragment-with-failures.txt").read_text()
        )
        assert sum(entry.status == "fail" for entry in failed.foreign) == 12


RECORDS = [
    {"orachkName": "Memory", "orachkStatus": "PASS", "orachkAlertType": "FAIL", "NodeName": "n1"},
    {
        **{"orachkName": "Jumbo frames", "orachkStatus": "CRITICAL", "orachkAlertType": "FAIL"},
        **{"NodeName": "n2", "DBName": "racdb", "orachkmessage": "MTU differs", "orachkID": "AA8C"},
    },
    {"orachkName": "Cluster", "orachkStatus": "WARNING", "orachkAlertType": "WARNING"},
    {"orachkName": "New", "orachkStatus": "SOMEHOW", "NodeName": "n1"},
    {"orachkName": "Notes", "orachkStatus": "INFO", "orachkAlertType": "INFO", "NodeName": "n1"},
]


class TestOrachk:
    @cases("between", ",", "\n", "")
    def test_with_and_without_commas(self, between):
        run = orachk.parse("[" + between.join(map(json.dumps, RECORDS)) + "]")
        assert statuses(run) == {
            ("n1", "Memory"): "pass",
            ("n2", "Jumbo frames"): "fail",
            ("n1", "Cluster"): "warn",
            ("n2", "Cluster"): "warn",
            ("n1", "New"): "error",
            ("n1", "Notes"): "skip",
        }
        jumbo = run.foreign[1]
        assert (jumbo.subject, jumbo.severity, jumbo.number) == ("racdb", "critical", "AA8C")

    @cases("text", "", "[]", "{", '{"a": 1}', "[1]", "<xml/>", "[" * 100_000)
    def test_what_is_not_understood(self, text):
        with pytest.raises(NotUnderstood):
            orachk.parse(text)

    @pytest.mark.skipif(not SHARED.is_dir(), reason="the shared data is not here")
    def test_both_files_of_a_real_run_say_the_same(self):
        files = sorted((SHARED / "05-orachk").glob("run-*/rac1_orachk_*results.json"))
        first, second = (orachk.parse(path.read_text(errors="replace")) for path in files)
        assert first == second
        assert sum(entry.status == "fail" for entry in first.foreign) == 23


class TestCommand:
    def test_it_makes_a_report_that_merges_with_an_audit(self, tmp_path, capsys):
        file = tmp_path / "cvu.txt"
        file.write_text(VERBOSE)
        out = tmp_path / "out"
        words = ["import-results", "--from", "cvu", "--out", str(out), str(file)]
        assert command.main(words) == 2
        report = json.loads((out / "report.json").read_text())
        assert report["exit_code"] == 2
        lines = [json.loads(line) for line in (out / "findings.jsonl").read_text().splitlines()]
        checks = {finding["check"]: finding for line in lines for finding in line["findings"]}
        assert checks["cvu.physical_memory"]["reference"] == "Oracle CVU 19.27.0.0.0, PRVF-7530"
        assert "n2:/usr: Free Space" in {
            finding["title"] for line in lines for finding in line["findings"]
        }
        assert command.main(words) == 1
        assert "exists already" in capsys.readouterr().err

    @cases(
        "text words says",
        (OLD, (), "name the host with --host"),
        (OLD, ("--host", "a b"), "is not a host name"),
        ("x", (), "not output of CVU"),
    )
    def test_what_cannot_be_used(self, tmp_path, capsys, text, words, says):
        file = tmp_path / "cvu.txt"
        file.write_text(text)
        out = tmp_path / "out"
        arguments = ["import-results", "--from", "cvu", "--out", str(out), *words, str(file)]
        assert command.main(arguments) == 1
        assert says in capsys.readouterr().err
        assert not out.exists()


def test_names_become_ids():
    assert slug("Free Space") == "free_space"
    assert slug("Memória Física") == "memoria_fisica"
    assert slug("/dev/shm mounted") == "dev_shm_mounted"
    assert slug("") == "check_without_name"
    assert slug("7zip") == "check_7zip"


def _of_nodes(count):
    return "".join(f"n{number}: PRVF-7573 : too little\n" for number in range(count))


def _tasks(count):
    return "".join(f"Verifying Task {number} ...PASSED\n" for number in range(count))


#: Inputs whose cost grew with the product of two parts, or with the square of one.
HOSTILE = {
    "tasks and nodes": ("cvu", "Verifying A ...FAILED\n" + _of_nodes(3000) + _tasks(3000)),
    "ids of one task": ("cvu", "Verifying A ...FAILED (PRVF-1, PRVF-2)\n" * 20000),
    "a long line": ("cvu", "Verifying " + " " * 200_000 + "...PASSED\n"),
    "many lines": ("cvu", "x\n" * 500_000),
    "lists of nodes": (
        "cvu",
        "Verifying A ...PASSED\n"
        + "Check will proceed with remaining nodes: "
        + ",".join(f"n{number}" for number in range(2000)),
    ),
    "results of all nodes": (
        "orachk",
        json.dumps(
            [
                {"orachkName": f"a{number}", "NodeName": f"n{number}"} if number % 2 else
                {"orachkName": f"a{number}"}
                for number in range(15000)
            ]
        ),
    ),
}  # fmt: skip


#: Lines that took minutes: each place of one part was tried with each place of the next.
HOSTILE |= {
    "dots in a line": ("cvu", "a" + " ... b" * 16000 + "(\n"),
    "different ids": ("cvu", f"a ...FAILED ({', '.join(f'PRVF-{n}' for n in range(7000))})\n"),
    "blanks in a line": ("cvu", "a ...b" + " " * 99000 + "(\n"),
    "short lines of dots": ("cvu", ("a" + " ... b" * 330 + "(\n") * 300),
    "a prefix of digits": ("cvu", ("A [" + "1" * 99000 + "\n") * 9),
}


def test_the_text_of_a_task_is_kept_once_for_all_nodes():
    nodes = ",".join(f"n{number}" for number in range(1900))
    notes = "".join("PRVG-1234 : " + "[Required" * 220 + "\n" for _ in range(20))
    (first, *others) = cvu.parse(f"cluvfy -n {nodes} \nT ...FAILED\n{notes}").foreign
    assert len(others) == 1899
    assert len(first.message) <= 4000
    assert all(each.message is first.message for each in others)


@pytest.mark.parametrize("name", HOSTILE)
def test_the_product_of_a_hostile_file_is_bounded_first(name):
    tool, text = HOSTILE[name]
    parse = {"cvu": cvu.parse, "orachk": orachk.parse}[tool]
    lines = 0

    def count(_frame, event, _argument):
        nonlocal lines
        lines += event == "call"
        assert lines < 3_000_000

    sys.setprofile(count)
    try:
        with pytest.raises(NotUnderstood) as raised:
            parse(text)
    finally:
        sys.setprofile(None)
    assert "\n" not in str(raised.value)


@cases("kind", "fifo", "zero", "directory", "link to a fifo", "gone")
def test_only_regular_files_are_read(tmp_path, capsys, kind):
    path = tmp_path / "x"
    if "fifo" in kind:
        os.mkfifo(tmp_path / "fifo")
    targets = {"fifo": "fifo", "link to a fifo": "fifo", "zero": "/dev/zero", "directory": "."}
    if kind in targets:
        path.symlink_to(targets[kind])
    code = command.main(["import-results", "--from", "cvu", "--host", "db1", str(path)])
    message = capsys.readouterr().err
    assert code != 0
    assert str(path) in message
    assert "Traceback" not in message


@cases(
    "name subject numbers check",
    ("OS Kernel Parameter", "semmsl", (), "kernel_parameters.semaphores"),
    ("Kernel parameter check", "shmmax", (), "kernel_parameters.shared_memory"),
    ("Kernel parameter", "tcp_ephemeral_high", (), "kernel_parameters.ephemeral_ports"),
    ("Group Membership", "asmdba", (), "accounts.groups"),
    ("Group Membership", "oinstall(Primary)", ("PRVF-7567",), "accounts.primary_group"),
    (
        'Membership check for user "oracle" in group "oinstall" [as Primary]',
        "",
        (),
        "accounts.primary_group",
    ),
    ('Membership check for user "grid" in group "dba"', "", (), "accounts.groups"),
    ("Package", "compat-libcap1-1.10", (), "packages.required"),
    ("Package existence", "gcc", (), "packages.required"),
    ("Swap Space check", "", (), "memory_pressure.swap_size"),
    ("Host name", "", (), "name_resolution.hostname"),
    ("Network Time Protocol (NTP)", "", ("PRVG-13606",), "time_sync.sources"),
    ('subnet mask consistency for subnet "192.0.2.0"', "", (), "cluster_nodes.network"),
    ("Check for parameter semmsl", "", (), "kernel_parameters.semaphores"),  # ORAchk
    ("Voting Disk", "", ("PRVF-5157",), ""),
    ("'/etc/chrony.conf'", "", (), ""),
    ("x" * 100_000, "y" * 100_000, (), ""),
)
def test_our_check_for_a_requirement(name, subject, numbers, check):
    assert requirements.check_of(name, subject, numbers) == check


@cases(
    "tool message required fix",
    ("cvu", "PRVF-5157 : voting disk", "", "correct the reason; then run CVU again"),
    ("cvu", "", "", "find the reason: run the same command of CVU with -verbose"),
    (
        "cvu",
        "",
        "1 GB",
        "set what the message names to the required value: 1 GB; then run CVU again",
    ),
    ("orachk", "x", "", "correct the reason; then run ORAchk again"),
)
def test_a_failure_without_a_check_of_ours_names_the_next_step(tool, message, required, fix):
    foreign = Foreign("n1", "Voting Disk", "", "fail", "medium", message, required=required)
    assert as_findings(tool, "a tool", [foreign])["n1"][0]["fix"] == fix


@cases(
    "message",
    *("sqlplus system/Ztiger9q@db1 failed", "DB_PASSWORD=Ztiger9q in the environment"),
    *("curl -u admin:Ztiger9q https://cell1/", "https://admin:Ztiger9q@cell1/ did not answer"),
    *("node.session.auth.password = Ztiger9q", "ipmitool -U root -P Ztiger9q: no answer"),
)
@cases("tool", "cvu", "orachk")
def test_a_message_holds_no_secret(tmp_path, capsys, tool, message):
    """Neither the findings nor a page of the report shows a password of a message."""
    text = f"Verifying A ...FAILED\ndb1: PRVF-1 : {message}\n"
    if tool == "orachk":
        text = json.dumps({"orachkName": "A", "orachkStatus": "FAIL", "orachkmessage": message})
    (tmp_path / "results").write_text(text)
    words = ["--from", tool, "--host", "db1", "--out", str(tmp_path / "out")]
    command.main(["import-results", *words, str(tmp_path / "results")])
    printed = capsys.readouterr()
    files = [path.read_text() for path in (tmp_path / "out").rglob("*") if path.is_file()]
    assert len(files) > 1
    assert not [text for text in (*files, printed.out, printed.err) if "Ztiger9q" in text]

"""Kernel parameters as they are judged: every row of the table at its edges, and each layer."""

import re
from typing import Any

import kernel_packs
import packs
import pytest
from ansible.module_utils.hostproof.collect.host import RecordedHost
from ansible.module_utils.hostproof.controls.kernel_parameters import formulas, required_parameters
from ansible.module_utils.hostproof.controls.kernel_parameters.control import (
    CONTROL as kernel_parameters,
)
from ansible.module_utils.hostproof.controls.kernel_parameters.parameter_table import ROWS, Row
from ansible.module_utils.hostproof.errors import PolicyError, Unanswered
from ansible.module_utils.hostproof.evaluate import audit, comparing
from ansible.module_utils.hostproof.evaluate.finding import Finding
from cases import cases
from default_policies import default_policy
from kernel_packs import after, plan_of, policy_of, proc, sets, stock, with_home

GIB = 1 << 30


@pytest.fixture
def judge(validate_finding):
    """judge(host, **changes of the policy): findings by "parameter: check", or by check alone."""

    def judge_host(host, **changes: Any) -> dict[str, Finding]:
        policy = {**default_policy("kernel_parameters"), **changes}
        findings = {}
        for finding in audit.judge_host(host, {"kernel_parameters": policy}):
            validate_finding(finding.as_dict())
            name = finding.title.partition(": ")[0] if ": " in finding.title else finding.check
            findings[name] = finding
        return findings

    return judge_host


def of_row(row: Row, machine: packs.Machine | None = None) -> required_parameters.Parameter:
    """What a row alone comes to on a host."""
    facts = kernel_parameters.read(machine or stock(), policy_of())
    return required_parameters._of_rows("x/y", [row], facts, None)


ids = [f"{row.name}-{'.'.join(map(str, row.since or row.until or (0,)))}" for row in ROWS]


@pytest.mark.parametrize("row", ROWS, ids=ids)
class TestRow:
    """Generated from the table: a row that is added is tested."""

    def test_its_comparison_at_the_edge_and_one_beside_it(self, row):
        parameter = of_row(row)
        value = parameter.demand.value
        edges = {
            "at_least": [(value, True)]
            + [(bumped(value, place, -1), False) for place in range(len(value))]
            + [(bumped(value, place, +1), True) for place in range(len(value))],
            "at_most": [(value, True), (bumped(value, 0, 1), False), (bumped(value, 0, -1), True)],
            "other_than": [
                (value, False),
                (bumped(value, 0, 1), True),
                (bumped(value, 0, -1), True),
            ],
            "exactly": [(value, True), (bumped(value, 0, 1), False), (bumped(value, 0, -1), False)],
            "within": [
                (value, True),
                ((value[0] - 1, value[-1]), False),
                ((value[0], value[-1] + 1), False),
                ((value[0] + 1, value[-1] - 1), True),
            ],
        }[row.compare]
        for numbers, is_met in edges:
            assert parameter.meets(numbers) is is_met, numbers
        assert not parameter.meets(None) and not parameter.meets(())

    def test_its_bounds_of_releases(self, row):
        def beside(bound: tuple[int, ...], step: int) -> tuple[int, ...]:
            return (*bound[:-1], bound[-1] + step)

        if row.since:
            assert required_parameters.is_for(row, row.since)
            assert required_parameters.is_for(row, (*row.since, 9))
            assert not required_parameters.is_for(row, beside(row.since, -1))
        if row.until:
            assert required_parameters.is_for(row, row.until)
            assert required_parameters.is_for(row, (*row.until, 9))
            assert not required_parameters.is_for(row, beside(row.until, 1))
        if not row.since and not row.until:
            assert required_parameters.is_for(row, (11, 2))
            assert required_parameters.is_for(row, (26,))

    def test_one_row_of_each_name_is_for_a_release(self, row):
        """Where rows divide the releases among them, none is in two rows or in none."""
        alike = [entry for entry in ROWS if (entry.name, entry.family) == (row.name, row.family)]
        if len(alike) > 1 and all(entry.since or entry.until for entry in alike):
            for release in ((11, 2), (11, 2, 0, 4), (12, 1), (12, 2), (18,), (19,), (21,), (23, 4)):
                assert (
                    len([entry for entry in alike if required_parameters.is_for(entry, release)])
                    == 1
                )

    def test_what_is_written_where_it_is_not_met_meets_it(self, row):
        parameter = of_row(row)
        demand = parameter.demand
        for bad in ([], [bumped(demand.value, 0, -1)], [bumped(demand.value, 0, 1)]):
            if not any(parameter.meets(value) for value in bad):
                good = comparing.to_write(parameter.compare, demand.value, demand.good, bad)
                assert parameter.meets(good)

    def test_it_says_who_asks_for_it(self, row):
        assert re.search("Oracle|MOS|TuneD", row.source)
        severities = {check.id: check.severity for check in kernel_parameters.checks}
        order = ["critical", "high", "medium", "low"]
        severity = severities[f"kernel_parameters.{row.family}"]
        assert order.index(severity) <= order.index(row.severity)

    def test_the_kernel_takes_its_name(self, row):
        assert row.name in kernel_packs.STOCK

    def test_it_is_found_on_a_host(self, row, judge):
        """Judged where its release is, with its severity, source and comparison."""
        release = ".".join(map(str, row.since or row.until or (19,)))
        bad = {"at_most": "99", "within": "0", "other_than": row.value, "at_least": "0"}
        bad = " ".join([bad.get(row.compare, "7")] * len(of_row(row).demand.value))
        bad += " 7" * (len(kernel_packs.STOCK[row.name].split()) - len(bad.split()))
        machine = stock().file("/sys/kernel/kexec_crash_loaded", "0\n")
        if row.only == "pool":
            text = machine.files["/proc/meminfo"]
            machine.file("/proc/meminfo", re.sub("(HugePages_Total: +)\\d+", "\\g<1>64", text))
        finding = judge(
            sets(machine, **{row.name.replace(".", "__"): bad}),
            releases=[release],
            profile="rac_nfs",
            interconnect=[],
        )[row.name]
        assert finding.severity == row.severity and row.source in finding.reference
        assert finding.status in ("fail", "warn")
        assert finding.desired.startswith((row.compare.replace("_", " "), "from "))


def bumped(value: tuple[int, ...], place: int, step: int) -> tuple[int, ...]:
    return (*value[:place], value[place] + step, *value[place + 1 :])


class TestTable:
    def test_rows_of_one_parameter_differ_only_by_release(self):
        for name in {row.name for row in ROWS}:
            rows = [row for row in ROWS if row.name == name]
            assert len({(row.family, row.compare, row.live) for row in rows}) == 1

    @cases("release", (11, 2), (12, 1), (12,), (18,), (19, 3), (21,), (23,))
    def test_one_row_of_a_parameter_is_for_a_release(self, release):
        names = [row.name for row in ROWS if required_parameters.is_for(row, release)]
        # (12,) may be 12.1 or 12.2, which are alike.
        assert len(names) == len(set(names))

    def test_every_family_has_a_check(self):
        families = {row.family for row in ROWS} | {
            "reverse_path",
            "additional",
            "consistent_sources",
            "aix_network",
        }
        assert {check.id.partition(".")[2] for check in kernel_parameters.checks} == families


def figures(**changes: Any) -> formulas.Figures:
    plain = {"memory": 64 * GIB, "huge": 0, "page": 4096, "sga": 0, "nodes": 1, "files": None}
    return formulas.Figures(**{"largest": 0, "segment": 4096, **plain, **changes})


class TestFormulas:
    @cases(
        "formula given value how",
        ("half_of_memory", {}, 32 * GIB, "half of 64.0 GiB memory is 34359738368 bytes"),
        ("half_of_memory", {"largest": 40 * GIB}, 40 * GIB, "the largest SGA is 40.0 GiB"),
        ("half_of_memory", {"sga": 40 * GIB, "largest": 20 * GIB}, 32 * GIB, "half of 64.0"),
        ("pages_11", {"sga": 8 * GIB}, 2097152, ""),
        ("pages_11", {"sga": 9 * GIB}, 2359296, "all SGAs together, 9663676416 bytes"),
        ("half_of_memory_11", {}, 4294967295, "of which 4294967295 are enough"),
        ("half_of_memory_11", {"memory": 4 * GIB}, 2 * GIB, "half of 4.0 GiB memory"),
        ("pages_of_memory", {}, 6710887, "are 6710887 pages of 4096 bytes"),
        ("pages_of_memory", {"page": 65536}, 419431, "are 419431 pages of 65536 bytes"),
        ("pages_of_memory", {"sga": 48 * GIB}, 12582912, "all SGAs together, 51539607552"),
        ("pages_of_largest", {}, 8388608, "which are 8388608 pages of 4096 bytes"),
        ("pages_of_largest", {"segment": 32 * GIB}, 8388608, "half of 64.0 GiB memory"),
        (
            *("pages_of_largest", {"segment": 32 * GIB + 1}, 8388609),
            "kernel.shmmax is 34359738369 bytes, which are 8388609 pages of 4096 bytes",
        ),
        ("free_for_receives", {}, 268435, "for each of 1 NUMA nodes, is 268435 kB"),
        ("free_for_receives", {"nodes": 2}, 536870, "for each of 2 NUMA nodes"),
        ("free_for_receives", {"huge": 32 * GIB}, 134217, "0.4% of 32.0 GiB without"),
        ("free_for_receives", {"nodes": 16}, 3355443, "no more than 5%"),
        ("files_by_kernel", {}, 6100805, "about a tenth of memory"),
        ("files_by_kernel", {"files": (1 << 63) - 1}, (1 << 63) - 1, "systemd raises it"),
        ("free_by_kernel", {}, 32768, "by memory"),
        ("free_by_kernel", {"memory": 1 << 50}, 65536, "by memory"),
    )
    def test_the_number_and_how_it_came_about(self, formula, given, value, how):
        amount = getattr(formulas, formula)(figures(**given))
        assert amount.value == (value,) and how in amount.how

    def test_after_apply_only_a_reboot_is_missing(self, judge):
        """apply does not raise vm.min_free_kbytes on a running host."""
        machine = after(stock(), plan_of(stock(), profile="rac_nfs"))
        memory = judge(machine, profile="rac_nfs")["vm.min_free_kbytes"]
        assert (memory.status, memory.fix, memory.commands) == ("fail", "reboot the host", ())
        assert memory.takes_effect == "reboot"

    def test_an_unknown_figure_is_an_unknown_demand(self, judge):
        findings = judge(with_home(stock().command("getconf PAGESIZE", "", 1)))
        assert findings["kernel.shmall"].status == "error"
        assert findings["kernel.shmmax"].status == "pass"


class TestWhereItCounts:
    def test_without_oracle_everything_is_skipped(self, judge):
        findings = judge(stock())
        assert {finding.status for finding in findings.values()} == {"skip"}
        assert "hostproof_profile" in findings["kernel_parameters.semaphores"].why

    def test_not_a_linux_host(self, judge):
        machine = stock().remove("/proc/meminfo").command("uname -s", "SunOS\n")
        findings = judge(machine, profile="rac_asm")
        assert {finding.status for finding in findings.values()} == {"skip"}

    def test_a_home_is_enough(self, judge):
        findings = judge(with_home(stock()))
        assert findings["fs.aio-max-nr"].status == "fail"
        assert findings["kernel.panic_on_oops"].status == "fail" and "vm.swappiness" not in findings
        assert "kernel.panic" not in findings

    def test_of_two_releases_the_strictest_number_counts(self, judge):
        machine = with_home(with_home(stock()), "23.0.0.0.0", "/u01/app/oracle/product/23")
        machine.file(proc("kernel.shmmax"), "1024\n")
        findings = judge(machine)
        assert findings["kernel.shmall"].desired.startswith("at least 8388608 (40%")
        assert findings["kernel.panic"].status == "fail"

    @cases("pages status", ("16777216", "pass"), ("16777215", "fail"), ids=["equal", "less"])
    def test_23ai_compares_shmall_with_the_shmmax_that_is_set(self, judge, pages, status):
        machine = with_home(stock(), "23.0.0.0.0").file(proc("kernel.shmmax"), f"{64 * GIB}\n")
        finding = judge(machine.file(proc("kernel.shmall"), f"{pages}\n"))["kernel.shmall"]
        assert finding.status == status
        assert "at least 16777216 (kernel.shmmax is 68719476736 bytes" in finding.desired

    def test_23ai_without_a_known_shmmax(self, judge):
        machine = with_home(stock(), "23.0.0.0.0").deny(proc("kernel.shmmax"))
        assert judge(machine)["kernel.shmall"].status == "error"

    def test_a_home_that_does_not_tell_its_release(self, judge):
        machine = with_home(stock()).command(f"sqlplus -V of {packs.HOME}", "", 1)
        assert judge(machine)["kernel_parameters.semaphores"].status == "error"
        assert judge(machine, releases=["19"])["kernel.sem"].status == "pass"

    def test_an_agent_s_home_is_no_database(self, judge):
        machine = stock().file("/etc/oratab", "agent:/u01/agent13c:N\n")
        assert {finding.status for finding in judge(machine).values()} == {"skip"}

    def test_an_instance_whose_home_is_not_known(self, judge):
        finding = judge(stock().instance("ORCL", asked=False))["kernel_parameters.semaphores"]
        assert finding.status == "error" and "kernel_parameters_releases" in finding.why

    @cases("name", "rac_nfs", "rac_asm")
    def test_a_cluster_of_no_release_yet_is_one_of_19c(self, name, judge):
        findings = judge(stock(), profile=name)
        assert "kernel.panic" not in findings
        assert findings["net.ipv4.ipfrag_high_thresh"].status == "fail"
        assert ("net.ipv4.tcp_rmem" in findings) is (name == "rac_nfs")

    def test_profiles_of_releases_differ_in_the_parameters_of_clusters(self, judge):
        assert "net.ipv4.ipfrag_high_thresh" in judge(stock(), profile="oracle_19c_rac")
        for name in ("oracle_19c_single", "oracle_19c_restart"):
            assert "net.ipv4.ipfrag_high_thresh" not in judge(stock(), profile=name)

    @cases(
        "local_only runs is_node",
        ("TRUE", True, False),
        ("TRUE", False, False),
        ("FALSE", False, True),
    )
    def test_local_only_tells_a_cluster_from_oracle_restart(self, judge, local_only, runs, is_node):
        machine = with_home(stock()).file("/etc/oracle/ocr.loc", f"local_only={local_only}\n")
        if runs:
            machine.process("/u01/grid/bin/ocssd.bin", "/u01/grid/bin/ocssd.bin")
        assert ("net.ipv4.ipfrag_high_thresh" in judge(machine)) is is_node

    def test_direct_nfs_without_a_profile(self, judge):
        machine = with_home(stock()).file("/etc/oranfstab", "server: filer\n")
        assert judge(machine)["net.ipv4.tcp_rmem"].status == "pass"

    def test_a_kernel_without_the_parameter(self, judge):
        finding = judge(with_home(stock().remove(proc("fs.aio-max-nr"))))["fs.aio-max-nr"]
        assert (finding.status, finding.why) == ("skip", "This kernel has no fs.aio-max-nr.")

    def test_what_may_not_be_read_is_an_error(self, judge):
        machine = with_home(stock())
        machine.file("/etc/sysctl.d/97-oracle.conf", "fs.aio-max-nr = 3145728\n")
        finding = judge(machine.deny(proc("fs.aio-max-nr")))["fs.aio-max-nr"]
        assert finding.status == "error" and "--become" in finding.fix

    def test_a_boot_that_is_wrong_fails_whatever_runs(self, judge):
        finding = judge(with_home(stock().deny(proc("fs.aio-max-nr"))))["fs.aio-max-nr"]
        assert (finding.status, finding.running) == ("fail", "unknown")
        assert "the value after a reboot does not meet it" in finding.why
        assert "Not known: running kernel: " in finding.why

    def test_a_running_value_that_is_wrong_fails_whatever_boots(self, judge):
        finding = judge(with_home(stock().deny("/proc/cmdline")))["fs.aio-max-nr"]
        assert (finding.status, finding.persisted) == ("fail", "unknown")
        assert "Not known: after a reboot: " in finding.why
        assert "apply cannot plan this" in finding.fix


class TestReleasesThatAreNotKnown:
    """A profile announces a database. Where its homes are not known no release may be left out."""

    def judged(self, judge, shmall: str, text: str = "kernel.panic_on_oops = 1\n"):
        machine = sets(stock(), kernel__shmall=shmall).deny("/etc/oratab")
        machine.file("/etc/sysctl.d/97-oracle.conf", f"kernel.shmall = {shmall}\n{text}")
        return judge(machine, profile="rac_asm")

    def test_what_every_release_demands_is_judged(self, judge):
        findings = self.judged(judge, "18446744073692774399")
        assert findings["fs.aio-max-nr"].status == "fail"
        assert findings["kernel.shmall"].status == "pass"

    def test_too_little_for_every_release_is_a_failure(self, judge):
        finding = self.judged(judge, "1")["kernel.shmall"]
        assert finding.status == "fail" and "apply cannot plan this" in finding.fix

    def test_enough_for_one_release_alone_is_not_known(self, judge):
        finding = self.judged(judge, "2097152")["kernel.shmall"]
        assert (finding.status, finding.evidence) == ("error", ("file:/etc/oratab",))

    def test_without_a_profile_nothing_says_that_a_database_is_here(self, judge):
        findings = judge(stock().deny("/etc/oratab"))
        assert findings.pop("kernel_parameters.aix_network").status == "skip"
        assert {finding.status for finding in findings.values()} == {"error"}


class TestLayers:
    def test_running_without_a_file_is_gone_after_the_boot(self, judge):
        finding = judge(with_home(sets(stock(), fs__aio_max_nr="1")))
        machine = with_home(stock()).file(proc("fs.aio-max-nr"), "3145728\n")
        finding = judge(machine)["fs.aio-max-nr"]
        assert finding.status == "fail"
        assert finding.persisted == "nothing sets it (the kernel's own is 65536)"
        assert "the value after a reboot does not meet it" in finding.why
        assert finding.commands == ("./hostproof apply --tags kernel_parameters",)

    def test_a_file_without_the_kernel(self, judge):
        machine = with_home(stock()).file("/etc/sysctl.conf", "fs.aio-max-nr=3145728\n")
        finding = judge(machine)["fs.aio-max-nr"]
        assert finding.why == "the running value does not meet it."
        # systemd reads it by the link, whose name orders it.
        assert finding.persisted == "3145728 from /etc/sysctl.d/99-sysctl.conf:1"

    def test_both(self, judge):
        machine = with_home(stock()).file("/etc/sysctl.conf", "fs.aio-max-nr=3145728\n")
        machine.file(proc("fs.aio-max-nr"), "3145728\n")
        assert judge(machine)["fs.aio-max-nr"].status == "pass"

    @cases(
        "line why",
        ("kernel.shmall = 4G", "'G' follows the number"),
        ("kernel.sem = 250,32000,100,128", "',' follows the number"),
        ("kernel.sem = 256 abc 100 128", "the 1 before it are set"),
    )
    def test_a_line_that_the_kernel_refuses(self, judge, line, why):
        findings = judge(with_home(stock()).file("/etc/sysctl.d/50.conf", line + "\n"))
        finding = findings[line.split(" ")[0]]
        assert finding.status == "fail" and why in finding.why

    @cases(
        "numbers status",
        ("300 40000", "pass"),
        ("250 32000 100", "pass"),
        ("250", "pass"),
        ("250 31999", "fail"),
        ("249", "fail"),
        ("250 32000 99", "fail"),
    )
    def test_a_line_leaves_the_numbers_that_it_does_not_have(self, judge, numbers, status):
        """proc_dointvec writes as many numbers as there are."""
        line = f"kernel.sem = {numbers}\n"
        finding = judge(with_home(stock()).file("/etc/sysctl.d/50.conf", line))["kernel.sem"]
        assert finding.status == status
        assert finding.persisted == f"{numbers} from /etc/sysctl.d/50.conf:1"

    def test_on_an_old_kernel_its_own_values_are_not_known(self, judge):
        machine = with_home(stock()).file("/proc/sys/kernel/osrelease", "3.10.0-1160.el7.x86_64\n")
        finding = judge(machine)["kernel.sem"]
        assert (finding.status, finding.running) == ("fail", "32000 1024000000 500 32000")
        assert "what the kernel starts with is not known" in finding.why

    def test_a_unit_that_may_set_it_is_no_pass(self, judge):
        machine = with_home(stock()).file(proc("fs.aio-max-nr"), "1048576\n")
        machine.file("/etc/sysctl.d/50.conf", "fs.aio-max-nr = 1048576\n")
        machine.file("/etc/cron.d/tune", "@reboot root sysctl -w fs.aio-max-nr=65536\n")
        assert judge(machine)["fs.aio-max-nr"].status == "error"

    @cases("used status", (734003, "pass"), (734004, "warn"), (1048575, "warn"), (1048576, "fail"))
    def test_what_is_used_up(self, judge, used, status):
        machine = with_home(sets(stock(), **{"fs__aio-nr": str(used)}))
        machine.file("/etc/sysctl.d/50.conf", "fs.aio-max-nr = 1048576\n")
        machine.file(proc("fs.aio-max-nr"), "1048576\n")
        finding = judge(machine)["fs.aio-max-nr"]
        assert finding.status == status
        assert finding.in_use == f"{used} of 1048576 asynchronous requests (reserved) are in use"

    @cases(
        "release sizes pages status",
        ("11.2.0.4.0", (6, 6), 12, "pass"),
        ("11.2.0.4.0", (6, 7), 12, "fail"),
        # 40% of 64 GiB, of which 94% are in use.
        ("19.0.0.0.0", (24,), 25.6, "pass"),
    )
    def test_shared_memory_for_just_the_sgas(self, judge, release, sizes, pages, status):
        limit = str(int(pages * GIB / 4096) + 1)
        machine = with_home(sets(stock(), kernel__shmall=limit), release)
        machine.file("/etc/sysctl.d/97.conf", f"kernel.shmall = {limit}\n")
        machine.link("/proc/self/ns/ipc", "ipc:[4026531839]")
        for number, size in enumerate(sizes):
            machine.instance(f"DB{number}", packs.Shm(size * GIB), pid=2101 + number)
            machine.link(f"/proc/{2101 + number}/ns/ipc", "ipc:[4026531839]")
        finding = judge(machine)["kernel.shmall"]
        assert (finding.status, "in use" in finding.in_use) == (status, True)

    def test_semaphores_run_out_by_sets(self, judge):
        """A larger limit is listed before the one apply."""
        machine = with_home(sets(stock(), kernel__sem="250\t32000\t100\t128"))
        machine.file("/etc/sysctl.d/97.conf", "kernel.sem = 250 32000 100 128\n")
        header = "key semid perms nsems uid gid cuid cgid otime ctime\n"
        rows = "".join(f"0 {n} 640 156 54321 1 1 1 0 0\n" for n in range(128))
        machine.file("/proc/sysvipc/sem", header + rows)
        finding = judge(machine, activation="now")["kernel.sem"]
        assert finding.status == "fail" and "128 of 128 sets of semaphores" in finding.in_use
        assert finding.failing_layer == "in_use"
        assert finding.fix == (
            "list kernel.sem with 250 39936 100 256 in kernel_parameters_values, because the limit "
            "is for the whole host: 128 of 128 sets of semaphores are in use and 19968 of "
            "32000 semaphores are in use; then apply kernel_parameters"
        )

    def test_the_listed_limit_is_never_below_the_required_one(self, judge):
        machine = with_home(sets(stock(), fs__file_max="2000", fs__file_nr="1950\t0\t2000"))
        finding = judge(machine, activation="now")["fs.file-max"]
        assert finding.status == "fail" and finding.fix == "apply the control"


class TestNamespaces:
    def host(self, own: str) -> packs.Machine:
        machine = with_home(stock().instance("ORCL")).link("/proc/self/ns/ipc", "ipc:[4026531839]")
        return machine.link("/proc/2101/ns/ipc", own)

    def test_an_instance_in_the_namespace_of_the_host(self, judge):
        assert judge(self.host("ipc:[4026531839]"))["kernel.sem"].status == "pass"

    def test_an_instance_in_a_namespace_of_its_own(self, judge):
        findings = judge(self.host("ipc:[4026532280]"))
        assert findings["kernel.sem"].status == findings["kernel.shmall"].status == "error"
        assert "ORCL runs in a separate IPC namespace" in findings["kernel.sem"].why
        # These are the host's for everybody.
        assert findings["fs.aio-max-nr"].status == "fail"


class TestReversePath:
    @cases(
        "everywhere own status",
        ("0", "0", "pass"),
        ("0", "2", "pass"),
        ("1", "2", "pass"),
        ("2", "0", "pass"),
        ("2", "1", "pass"),
        ("2", "2", "pass"),
        ("0", "1", "fail"),
        ("1", "1", "fail"),
        ("1", "0", "fail"),
    )
    def test_the_larger_counts(self, judge, everywhere, own, status):
        machine = with_home(sets(stock(), net__ipv4__conf__all__rp_filter=everywhere))
        machine.file(proc("net.ipv4.conf.eth1.rp_filter"), own + "\n")
        finding = judge(machine, interconnect=["eth1", "eth8"])["net.ipv4.conf.eth1.rp_filter"]
        assert finding.status == status

    @cases(
        "lines status",
        ("net.ipv4.conf.all.rp_filter = 1", "fail"),
        ("net.ipv4.conf.default.rp_filter = 1", "fail"),
        ("net.ipv4.conf.*.rp_filter = 2", "pass"),
        ("net.ipv4.conf.eth1.rp_filter = 1\nnet.ipv4.conf.all.rp_filter = 2", "pass"),
        ("net.ipv4.conf.default.rp_filter = 1\nnet.ipv4.conf.eth1.rp_filter = 0", "pass"),
    )
    def test_after_the_next_boot(self, judge, lines, status):
        machine = with_home(stock()).file(proc("net.ipv4.conf.eth1.rp_filter"), "0\n")
        machine.file("/etc/sysctl.d/50.conf", lines + "\n")
        finding = judge(machine, interconnect=["eth1", "eth8"])["net.ipv4.conf.eth1.rp_filter"]
        assert finding.status == status

    def test_a_single_private_interface_may_be_strict(self, judge):
        machine = with_home(sets(stock(), net__ipv4__conf__all__rp_filter="1"))
        machine.file(proc("net.ipv4.conf.eth1.rp_filter"), "1\n")
        finding = judge(machine, interconnect=["eth1"])["kernel_parameters.reverse_path"]
        assert finding.status == "skip"

    def test_private_interfaces_that_are_not_known(self, judge):
        machine = with_home(stock())
        machine.process("/u01/app/19.0.0/grid/bin/ocssd.bin", "/u01/app/19.0.0/grid/bin/ocssd.bin")
        finding = judge(machine, interconnect="auto")["kernel_parameters.reverse_path"]
        assert finding.status == "error", finding.why

    def test_an_interface_that_is_not_there(self, judge):
        findings = judge(with_home(stock()), interconnect=["eth9", "eth8"])
        assert findings["net.ipv4.conf.eth9.rp_filter"].status == "skip"

    def test_a_single_host_of_a_profile_has_none(self, judge):
        findings = judge(stock(), profile="oracle_19c_single")
        assert findings["kernel_parameters.reverse_path"].status == "skip"


class TestOwners:
    def test_places_that_disagree(self, judge):
        machine = with_home(stock()).file("/etc/sysctl.d/50.conf", "fs.aio-max-nr = 3145728\n")
        machine.file("/etc/sysctl.conf", "fs.aio-max-nr = 1048576\n")
        finding = judge(machine)["kernel_parameters.consistent_sources"]
        assert finding.status == "warn" and "/etc/sysctl.d/50.conf:1 = 3145728" in finding.persisted
        assert finding.fix.startswith(
            "keep fs.aio-max-nr in /etc/sysctl.d/99-sysctl.conf:1, and remove it from "
            "/etc/sysctl.d/50.conf:1 = 3145728, or list fs.aio-max-nr in kernel_"
        )

    def test_the_place_with_the_required_value_is_not_removed_first(self, judge):
        machine = with_home(stock()).file("/etc/sysctl.d/50.conf", "fs.aio-max-nr = 1048576\n")
        machine.file("/etc/sysctl.conf", "fs.aio-max-nr = 65536\n")
        finding = judge(machine)["kernel_parameters.consistent_sources"]
        assert finding.fix.startswith(
            "correct fs.aio-max-nr first in /etc/sysctl.d/99-sysctl.conf:1, which counts, and then "
            "remove it from /etc/sysctl.d/50.conf:1 = 1048576, or list"
        )

    def test_the_file_of_apply_is_not_removed_where_it_loses(self, judge):
        """The finding about the value advises to remove the other line: both would leave none."""
        machine = with_home(stock()).file(kernel_packs.DROP_IN, "net.core.rmem_max = 4194304\n")
        machine.file("/etc/sysctl.d/99-zzz.conf", "net.core.rmem_max = 1\n")
        finding = judge(machine)["kernel_parameters.consistent_sources"]
        assert finding.fix.startswith(
            "remove net.core.rmem_max from /etc/sysctl.d/99-zzz.conf:1, so that the file of apply "
            "counts, or list"
        )

    def test_places_that_agree(self, judge):
        machine = with_home(stock()).file("/etc/sysctl.d/50.conf", "fs.aio-max-nr = 1048576\n")
        machine.file("/etc/sysctl.conf", "fs.aio-max-nr = 1048576\n")
        assert judge(machine)["kernel_parameters.consistent_sources"].status == "pass"

    def test_tuned_and_saptune_are_named(self, judge):
        machine = with_home(stock()).file("/etc/tuned/active_profile", "oracle\n")
        machine.file("/etc/tuned/oracle/tuned.conf", "[sysctl]\nfs.aio-max-nr=1048576\n")
        machine.file("/var/lib/saptune/parameter/fs.aio-max-nr", "{}")
        finding = judge(machine)["kernel_parameters.consistent_sources"]
        assert finding.status == "warn"
        assert finding.running == "tuned profile oracle, saptune (/var/lib/saptune/parameter)"

    def test_what_is_unmanaged_is_skipped(self, judge):
        finding = judge(with_home(stock()), unmanaged=["fs.aio-max-nr"])["fs.aio-max-nr"]
        assert (finding.status, finding.why) == ("skip", "kernel_parameters_unmanaged names it.")


class TestPolicy:
    def test_a_value_counts_more_than_the_table(self, judge):
        own = [{"name": "fs.aio-max-nr", "value": 3145728}]
        finding = judge(with_home(stock()), values=own)["fs.aio-max-nr"]
        assert finding.desired == "at least 3145728 (by kernel_parameters_values)"

    def test_a_value_that_nobody_else_asks_for(self, judge):
        machine = stock().file("/proc/sys/vm/max_map_count", "65530\n")
        own = [{"name": "vm.max_map_count", "value": "262144", "compare": "at_least"}]
        finding = judge(machine, values=own)["vm.max_map_count"]
        assert (finding.check, finding.status) == ("kernel_parameters.additional", "fail")
        found = kernel_packs.drop_in(kernel_packs.plan_of(machine, values=own))
        assert found == {"vm.max_map_count": "262144"}

    def test_advice_that_the_policy_names_is_a_demand(self, judge):
        own = [{"name": "vm.swappiness", "value": 1}]
        assert judge(stock(), values=own)["vm.swappiness"].status == "fail"
        assert judge(stock(), profile="oracle_19c_single")["vm.swappiness"].status == "warn"

    def test_a_bad_entry_costs_no_more_than_itself(self, judge):
        own = [{"name": "vm.swappiness", "value": "low"}, {"name": "fs.aio-max-nr", "value": 7}]
        findings = judge(with_home(stock()), values=own)
        statuses = {finding.check: finding.status for finding in findings.values()}
        assert statuses["kernel_parameters.policy_entry"] == "error"
        assert findings["fs.aio-max-nr"].desired.startswith("at least 7 ")

    @cases(
        "changes words",
        ({"profile": "rac"}, "hostproof_profile must be one of none, rac_nfs"),
        ({"releases": []}, "must be auto or a list of releases"),
        ({"releases": ["99"]}, "must be auto or a list of releases"),
        ({"releases": "19"}, "must be auto or a list of releases"),
        ({"unmanaged": ["swappiness"]}, "must be a key such as vm.swappiness"),
        ({"unmanaged": ["vm.*"]}, "must be a key such as vm.swappiness"),
        ({"interconnect": ["../eth1"]}, "must be the name of an interface"),
        ({"interconnect": ["all"]}, "must be the name of an interface"),
        ({"total_sga": "much"}, "kernel_parameters_total_sga is not a size"),
        ({"sysctl_file": "/etc/sysctl.conf"}, "must be /etc/sysctl.d/NAME.conf"),
    )
    def test_what_nobody_can_mean(self, changes, words):
        with pytest.raises(PolicyError, match=re.escape(words)):
            policy_of(**changes)

    @cases(
        "entry words",
        ({"name": "vm.nr_hugepages", "value": 5}, "is for the control hugepages"),
        ({"name": "sunrpc.tcp_slot_table_entries", "value": 5}, "the control nfs_mounts"),
        ({"name": "../x.y", "value": 5}, "must be a key"),
        ({"name": "a.b", "value": "1,2"}, "must be numbers"),
        ({"name": "a.b", "value": True}, "must be numbers"),
        ({"name": "a.b", "value": 1, "compare": "about"}, "must be one of at_least"),
        ({"name": "a.b", "value": 1, "compare": "within"}, "the lowest and the highest"),
        ({"name": "a.b", "value": "5 1", "compare": "within"}, "the lowest and the highest"),
    )
    def test_entries_that_nobody_can_mean(self, entry, words):
        with pytest.raises(PolicyError, match=re.escape(words)):
            policy_of(values=[entry])

    def test_one_parameter_in_two_ways_of_writing(self):
        twice = [{"name": "vm.swappiness", "value": 1}, {"name": "vm/swappiness", "value": 2}]
        with pytest.raises(PolicyError, match="twice"):
            policy_of(values=twice)


def test_a_formula_that_needs_what_is_not_known_is_kept():
    parameter = of_row(
        next(row for row in ROWS if row.name == "kernel.shmmax"), stock().deny("/proc/sysvipc/shm")
    )
    with pytest.raises(Exception, match="denied"):
        parameter.meets((1,))
    assert not isinstance(parameter.demand, Unanswered)


OVERCOMMIT = {"name": "vm.overcommit_memory", "value": 0}


@cases(
    "parameter value changes status",
    ("kernel.panic", "0", {"crash": "0"}, "warn"),
    ("kernel.panic", "0", {"crash": None}, "warn"),
    ("kernel.panic", "0", {"crash": "1"}, None),
    ("kernel.panic", "10", {"crash": "0"}, "pass"),
    ("kernel.panic", "-1", {"crash": "0"}, "pass"),
    ("kernel.panic", "0", {"releases": ["23"]}, "fail"),
    ("kernel.panic", "-1", {"releases": ["23"]}, "pass"),
    ("kernel.panic", "0", {"crash": "denied"}, "error"),
    ("kernel.panic", "10", {"crash": "denied"}, "pass"),
    ("kernel.panic", "0", {"crash": "denied", "releases": ["23"]}, "fail"),
    ("kernel.panic", "-1", {"values": [{"name": "kernel.panic", "value": 10}]}, "fail"),
    ("vm.swappiness", "200", {"profile": "oracle_19c_single"}, "warn"),
    ("vm.swappiness", "0", {"profile": "oracle_19c_single"}, "warn"),
    ("vm.swappiness", "1", {"profile": "oracle_19c_single"}, "pass"),
    ("vm.swappiness", "10", {"profile": "oracle_19c_single"}, "pass"),
    ("vm.swappiness", "11", {"profile": "oracle_19c_single"}, "warn"),
    ("kernel.pid_max", "4096", {}, "fail"),
    ("kernel.pid_max", "32767", {}, "fail"),
    ("kernel.pid_max", "32768", {}, "pass"),
    ("kernel.pid_max", "4194304", {}, "pass"),
    ("kernel.pid_max", "32768", {"tasks": 22000}, "pass"),
    ("kernel.pid_max", "32768", {"tasks": 23000}, "warn"),
    ("kernel.pid_max", "32768", {"tasks": 32767}, "warn"),
    ("kernel.pid_max", "32768", {"tasks": 32768}, "fail"),
    ("kernel.pid_max", "4194304", {"tasks": 32769}, "pass"),
    ("vm.overcommit_memory", "2", {"pool": 100}, "warn"),
    ("vm.overcommit_memory", "1", {"pool": 100}, "pass"),
    ("vm.overcommit_memory", "2", {"pool": 0}, None),
    # The pool comes with the next reboot.
    ("vm.overcommit_memory", "2", {"pool": 0, "boot": 100}, "warn"),
    ("vm.overcommit_memory", "0", {"pool": 0, "boot": 100}, "pass"),
    ("vm.overcommit_memory", "2", {"Hugetlb": 1048576}, "warn"),
    ("vm.overcommit_memory", "2", {"pool": 9, "Committed_AS": 11 << 20}, "warn"),
    ("vm.overcommit_memory", "2", {"pool": 9, "Committed_AS": 99 << 20}, "fail"),
    ("vm.overcommit_memory", "1", {"pool": 9, "Committed_AS": 11 << 20}, "pass"),
    ("vm.overcommit_memory", "2", {"pool": None}, "error"),
    ("vm.overcommit_memory", "0", {"pool": None}, "pass"),
    ("vm.overcommit_memory", "0", {"values": [OVERCOMMIT]}, "pass"),
    ("net.ipv4.tcp_rmem", "4096 4096 4096", {}, None),
    ("net.ipv4.tcp_rmem", "4096 4096 4096", {"tab": "/etc/oranfstab"}, "fail"),
    ("net.ipv4.tcp_rmem", "4096 4096 4096", {"tab": packs.HOME + "/dbs/oranfstab"}, "fail"),
    ("net.ipv4.tcp_rmem", "4096 4096 4096", {"denied": "/etc/oranfstab"}, "error"),
    ("net.ipv4.tcp_rmem", "4096 4096 4096", {"denied": packs.HOME + "/dbs"}, "error"),
    ("net.ipv4.tcp_rmem", "4096 87380 4194304", {"denied": "/etc/oranfstab"}, "pass"),
    ("kernel.shm_rmid_forced", "1", {}, "warn"),
    ("kernel.shm_rmid_forced", "0", {}, "pass"),
)
def test_values_that_passed(judge, parameter, value, changes, status):
    """A host of 19c; the value is in a file of sysctl.d as well."""
    changes = dict(changes)
    machine = with_home(stock()).file("/etc/sysctl.d/90.conf", f"{parameter} = {value}\n")
    sets(machine, **{parameter.replace(".", "__"): value})
    crash = changes.pop("crash", "1")
    if crash is None:
        machine.remove("/sys/kernel/kexec_crash_loaded")
    elif crash == "denied":
        machine.deny("/sys/kernel/kexec_crash_loaded")
    else:
        machine.file("/sys/kernel/kexec_crash_loaded", crash + "\n")
    machine.file("/etc/sysctl.d/91.conf", f"vm.nr_hugepages = {changes.pop('boot', 0)}\n")
    pool = changes.pop("pool", 0)
    rows = {name: changes.pop(name) for name in ("Hugetlb", "Committed_AS") if name in changes}
    if pool is None:
        machine.deny("/proc/meminfo")
    else:
        machine.memory(HugePages_Total=pool, **rows)
    machine.file("/proc/loadavg", f"0.20 0.18 0.12 1/{changes.pop('tasks', 300)} 11206\n")
    if "tab" in changes:
        machine.file(changes.pop("tab"), "server: filer\n")
    machine.deny(*filter(None, [changes.pop("denied", "")]))
    finding = judge(machine, **changes).get(parameter)
    assert (finding.status if finding else None) == status


def test_rows_that_are_newer_than_the_recording_are_left_out(judge):
    """The others keep their verdict, and apply its plan."""
    machine = with_home(stock()).file("/etc/sysctl.d/90.conf", "kernel.shmmni = 1\n")
    assert "kernel.pid_max" in judge(machine)
    new = ("pid_max", "shm_rmid_forced", "overcommit_memory", "kexec_crash_loaded", "loadavg")
    evidence = {key: one for key, one in machine.evidence.items() if not key.endswith(new)}
    findings = judge(RecordedHost(evidence))
    assert "kernel.pid_max" not in findings and findings["kernel.shmmni"].fix == "apply the control"


@cases("parameter", "kernel.pid_max", "kernel.shm_rmid_forced")
def test_a_default_that_old_kernels_have_too(judge, parameter):
    machine = with_home(stock()).file("/proc/sys/kernel/osrelease", "3.10.0-1160.el7.x86_64\n")
    assert judge(machine)[parameter].status == "pass"

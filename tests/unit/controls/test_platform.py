"""The platform as it is judged: distribution, kernel, release update, SELinux, default target."""

import kernel_packs
import packs
import platform_packs
import pytest
from ansible.module_utils.hostproof.controls.packages import package_table as packages_table
from ansible.module_utils.hostproof.controls.platform import supported_systems
from ansible.module_utils.hostproof.controls.platform.subjects import line_of
from ansible.module_utils.hostproof.errors import PolicyError
from ansible.module_utils.hostproof.parsers.unix.distribution import Distribution, numbers
from cases import cases
from default_policies import changed_policy
from platform_packs import NOW, host, ol

SHARED = packs.ROOT.parent / "shared/data/preinstall/01-package-lists/hosts"


@pytest.fixture
def judge(validate_finding):
    def judge_host(machine, release="19c", **changes):
        findings = platform_packs.judged(machine, release=release, **changes)
        for finding in findings.values():
            validate_finding(finding.as_dict())
        return findings

    return judge_host


def oracle_linux(version, kernel, default=None):
    return host("rhel-9.4", kernel, default).file("/etc/os-release", ol(version))


CENTOS7 = ("centos-7", "3.10.0-957.1.3.el7.x86_64")
RHEL85 = ("rhel-8.5-edge", "4.18.0-348.23.1.el8_5.x86_64")
RHEL810 = ("rhel-8.10", "4.18.0-553.el8_10.x86_64")
SLES = ("sles-15.4", "5.14.21-150400.22-default")
RHEL94 = ("rhel-9.4", "5.14.0-426.13.1.el9_4.x86_64", "5.14.0-427.13.1.el9_4.x86_64")
IMAGE_MODE = ("rhel-9.4-image-mode", "5.14.0-427.4.1.el9_4.x86_64")
DEBIAN = ("debian-12", "6.1.0-56-amd64")


@cases(
    "machine release distribution kernel",
    (CENTOS7, "19c", "warn", "pass"),
    (CENTOS7, "23ai", "fail", "warn"),
    (CENTOS7, "26ai", "fail", "warn"),
    (RHEL810, "19c", "pass", "pass"),
    (SLES, "19c", "pass", "pass"),
    (RHEL85, "19c", "pass", "pass"),
    (RHEL85, "21c", "pass", "pass"),
    (RHEL85, "23ai", "fail", "fail"),
    (RHEL85, "26ai", "warn", "warn"),
    (RHEL94, "19c", "pass", "pass"),
    (RHEL94, "23ai", "pass", "pass"),
    (RHEL94, "26ai", "warn", "warn"),
    (IMAGE_MODE, "19c", "pass", "pass"),
    (DEBIAN, "19c", "warn", "warn"),
    (DEBIAN, "26ai", "warn", "warn"),
)
def test_recorded_hosts_against_the_books(judge, machine, release, distribution, kernel):
    findings = judge(host(*machine), release)
    assert findings["consistency"].status == "pass"
    assert (findings["distribution"].status, findings["kernel"].status) == (distribution, kernel)
    if distribution == "pass":
        assert "Installation Guide" in findings["distribution"].reference
        assert "read 2026-11-2" in findings["distribution"].reference


@cases(
    "version kernel release status",
    # Hosts of public CVU logs: CVU passed each of them.
    ("9.6", "6.12.0-105.51.5.el9uek.x86_64", "26ai", "pass"),
    ("8.10", "5.4.17-2136.335.4.el8uek.x86_64", "19c", "pass"),
    ("9.5", "5.14.0-503.11.1.el9_5.x86_64", "19c", "pass"),
    ("7.9", "5.4.17-2102.201.3.el7uek.x86_64", "19c", "pass"),
    # CVU asks for 5.15.0 here, the book for a build.
    ("9.2", "5.15.0-201.135.5.el9uek.x86_64", "23ai", "fail"),
    ("9.2", "5.15.0-201.135.6.el9uek.x86_64", "23ai", "pass"),
    ("9.2", "5.15.0-201.135.10.el9uek.x86_64", "23ai", "pass"),
    # The book lists UEK7 since 8.8 and UEK6 since 8.1.
    ("8.4", "5.15.0-206.153.7.1.el8uek.x86_64", "19c", "warn"),
    ("8.4", "5.4.17-2136.335.4.el8uek.x86_64", "19c", "pass"),
    # Kernels of ELRepo and for real time are of no listed line.
    ("9.4", "6.9.7-1.el9.elrepo.x86_64", "19c", "warn"),
    ("8.10", "5.4.278-1.el8.elrepo.x86_64", "19c", "warn"),
    ("9.2", "5.14.0-284.30.1.rt14.315.el9_2.x86_64", "19c", "warn"),
    ("9.4", "5.14.0-427.13.1.el9_4.x86_64+rt", "19c", "warn"),
    ("9.4", "5.14.0-427.13.1.el9_4.x86_64+debug", "19c", "pass"),
    ("9.6", "5.14.0-570.12.1.0.1.el9_6.x86_64", "26ai", "pass"),
    ("10.0", "6.12.0-55.9.1.0.1.el10_0.x86_64", "26ai", "fail"),
)
def test_kernel_builds_of_oracle_linux(judge, version, kernel, release, status):
    assert judge(oracle_linux(version, kernel), release)["kernel"].status == status


class TestWhereItCounts:
    def test_a_home_names_its_release(self, judge):
        machine = kernel_packs.with_home(host(*RHEL94), "19.22.0.0.0")
        assert judge(machine, "auto")["distribution"].status == "pass"

    def test_without_a_release_everything_is_skipped(self, judge):
        findings = judge(host(*RHEL94), "auto")
        assert {finding.status for finding in findings.values()} == {"skip"}
        assert "platform_release" in findings["kernel"].why

    def test_not_a_linux_host(self, judge):
        findings = judge(host(*RHEL94).remove("/proc/sys/kernel/osrelease"))
        assert {finding.status for finding in findings.values()} == {"skip"}

    @cases(
        "profile home label",
        ("oracle_19c_single", None, "19c"),
        ("rac_asm", None, "19c"),
        ("oracle_23ai_rac", None, "23ai"),
        ("oracle_26ai_restart", None, "26ai"),
        ("oracle_26ai_single", "19.22.0.0.0", "26ai"),
        ("rac_asm", "23.26.1.0.0", "26ai (23.26.1.0.0)"),
        ("rac_asm", "23.5.0.0.0", "23ai (23.5.0.0.0)"),
        ("oracle_19c_single", "19.22.0.0.0", "19c (19.22.0.0.0)"),
        ("oracle_19c_single", "21.3.0.0.0", "19c"),
    )
    def test_release_of_the_profile(self, judge, profile, home, label):
        machine = host(*RHEL94)
        if home:
            kernel_packs.with_home(machine, home)
        finding = judge(machine, "auto", profile=profile)["distribution"]
        assert finding.title == f"{label}: Oracle lists this distribution for the release"

    def test_a_home_that_does_not_tell_its_release(self, judge):
        machine = kernel_packs.with_home(host(*RHEL94))
        machine.command(f"sqlplus -V of {packs.HOME}", "Segmentation fault\n", rc=139)
        assert judge(machine, "auto", profile="rac_asm")["distribution"].status == "error"
        assert judge(machine, "26ai")["distribution"].status == "warn"
        assert judge(machine)["release_update"].status == "error"

    def test_a_bad_policy(self):
        from ansible.module_utils.hostproof.controls.platform.policy import policy_from

        with pytest.raises(PolicyError, match="platform_release must be one of auto, 19c"):
            policy_from(changed_policy("platform", release="18c"))


class TestContradictions:
    @cases(
        "name kernel",
        ("rhel-8.2", "5.14.18-100.fc33.x86_64"),
        ("rhel-9.4-image-mode", "4.18.0-240.el8.x86_64"),
        ("debian-12", "5.14.0-503.11.1.el9_5.x86_64"),
        ("rhel-9.4", "6.1.102-108.177.amzn2023.x86_64"),
    )
    def test_a_kernel_of_another_distribution_is_an_error(self, judge, name, kernel):
        findings = judge(host(name, kernel))
        for check in ("consistency", "distribution", "kernel"):
            assert findings[check].status == "error"
        assert kernel in findings["consistency"].why and "container" in findings["consistency"].why
        assert "platform.consistency" in findings["kernel"].because_of

    def test_a_kernel_without_a_tag_contradicts_nothing(self, judge):
        findings = judge(host("rhel-9.4", "6.9.1-custom"))
        assert (findings["consistency"].status, findings["kernel"].status) == ("pass", "warn")

    @cases("text", "", "VERSION_ID=9\n", "ID=rhel\n", 'ID="rhel\n')
    def test_os_release_that_says_too_little(self, judge, text):
        assert judge(host(*RHEL94).file("/etc/os-release", text))["distribution"].status == "error"

    def test_os_release_that_is_not_there_or_not_readable(self, judge):
        assert judge(host(*RHEL94).remove("/etc/os-release"))["distribution"].status == "error"
        assert judge(host(*RHEL94).deny("/etc/os-release"))["distribution"].status == "error"


class TestKernel:
    def test_the_next_boot_counts_too(self, judge):
        old = "5.14.0-70.13.1.el9_0.x86_64"
        finding = judge(host("rhel-9.4", RHEL94[1], old))["kernel"]
        assert (finding.status, finding.persisted) == ("fail", old)
        assert f"default boot kernel {old} is older" in finding.why
        finding = judge(host("rhel-9.4", old, RHEL94[1]))["kernel"]
        assert (finding.status, finding.running) == ("fail", old)

    def test_a_default_kernel_that_is_not_known(self, judge):
        for answer, rc in (("grubby: permission denied\n", 1), ("/boot/other\n", 0), ("", 0)):
            machine = host(*RHEL94).command("grubby --default-kernel", answer, rc=rc)
            assert judge(machine)["kernel"].status == "error"

    @cases("tag", "el10", "el8", "fc33")
    def test_a_default_kernel_of_another_distribution_is_of_no_listed_line(self, judge, tag):
        other = f"6.12.0-55.7.1.{tag}.x86_64"
        finding = judge(host("rhel-9.4", RHEL94[1], other))["kernel"]
        assert (finding.status, finding.persisted) == ("warn", other)
        assert f"default boot kernel {other} is not of a listed line" in finding.why

    def test_without_grubby_the_running_kernel_counts(self, judge):
        machine = host(*RHEL94)
        machine.commands.pop("grubby --default-kernel")
        finding = judge(machine)["kernel"]
        assert (finding.status, finding.persisted) == ("pass", None)

    def test_uek_on_rhel_is_of_no_listed_line(self, judge):
        assert judge(host("rhel-9.4", "5.15.0-205.el9uek.x86_64"))["kernel"].status == "warn"

    def test_another_architecture(self, judge):
        machine = host(*RHEL94).command("uname -m", "aarch64\n")
        finding = judge(machine)["distribution"]
        assert (finding.status, "aarch64" in finding.why) == ("warn", True)
        machine = host(*RHEL94).command("uname -m", "s390x\n")
        assert judge(machine)["distribution"].status == "pass"


class TestReleaseUpdate:
    @cases("home status", ("19.18.0.0.0", "fail"), ("19.19.0.0.0", "pass"), ("19.27.0.0.0", "pass"))
    def test_19c_on_el9(self, judge, home, status):
        finding = judge(kernel_packs.with_home(host(*RHEL94), home))["release_update"]
        assert (finding.status, finding.desired) == (status, "at least 19.19")

    @cases("home status", ("23.26.0.0.0", "fail"), ("23.26.1.0.0", "pass"))
    def test_26ai_on_ol9(self, judge, home, status):
        machine = oracle_linux("9.6", "6.12.0-105.51.5.el9uek.x86_64")
        finding = judge(kernel_packs.with_home(machine, home), "26ai")["release_update"]
        assert finding.status == status

    def test_skips(self, judge):
        assert "No home of 19c" in judge(host(*RHEL94))["release_update"].why
        assert "no minimum" in judge(host(*RHEL85), "21c")["release_update"].why


class TestHost:
    def test_page_size(self, judge):
        finding = judge(host(*RHEL94).command("getconf PAGESIZE", "65536\n"))["page_size"]
        assert (finding.status, "65536 bytes" in finding.running) == ("warn", True)
        assert judge(host(*RHEL94))["page_size"].status == "pass"

    @cases(
        "enforce config cmdline status layers",
        ("1", "enforcing", "ro", "pass", ("enforcing", "enforcing")),
        ("0", "enforcing", "ro", "warn", ("enforcing", "permissive")),
        ("0", "enforcing", "ro enforcing=0", "pass", ("permissive", "permissive")),
        ("0", "permissive", "ro", "pass", ("permissive", "permissive")),
        (None, "disabled", "ro", "pass", ("disabled", "disabled")),
        (None, "enforcing", "ro selinux=0", "pass", ("disabled", "disabled")),
        (None, "enforcing", "ro", "warn", ("enforcing", "disabled")),
        ("1", "enforcing # as the site requires", "ro", "pass", ("enforcing", "enforcing")),
        ("1", " Enforcing\r", "ro", "pass", ("enforcing", "enforcing")),
        # libselinux takes the first line that has a mode.
        ("1", "disabled\nSELINUX=enforcing", "ro", "warn", ("disabled", "enforcing")),
        ("1", "strict\nSELINUX=enforcing", "ro", "pass", ("enforcing", "enforcing")),
        ("1", "\n SELINUX=enforcing", "ro", "error", (None, None)),
        ("1", "enforcig", "ro", "error", (None, None)),
        ("1", "", "ro", "error", (None, None)),
        ("2", "enforcing", "ro", "error", (None, None)),
        ("2", "enforcig", "ro", "error", (None, None)),
    )
    def test_selinux(self, judge, enforce, config, cmdline, status, layers):
        machine = host(*RHEL94).file("/proc/cmdline", cmdline + "\n")
        machine.file("/etc/selinux/config", f"#SELINUX=x\nSELINUX={config}\n")
        if enforce is None:
            machine.remove("/sys/fs/selinux/enforce")
        else:
            machine.file("/sys/fs/selinux/enforce", enforce)
        finding = judge(machine)["selinux"]
        assert (finding.status, finding.persisted, finding.running) == (status, *layers)

    def test_selinux_that_is_not_there_or_not_readable(self, judge):
        machine = host(*RHEL94).remove("/sys/fs/selinux/enforce", "/etc/selinux/config")
        assert judge(machine)["selinux"].status == "skip"
        assert judge(host(*RHEL94).deny("/etc/selinux/config"))["selinux"].status == "error"

    @cases(
        "wanted enforce config status layer",
        ("enforcing", "1", "enforcing", "pass", None),
        ("permissive", "0", "permissive", "pass", None),
        ("permissive", "1", "enforcing", "warn", "running"),
        ("permissive", "0", "enforcing", "warn", "persisted"),
        ("disabled", "0", "disabled", "warn", "running"),
    )
    def test_selinux_that_the_policy_requires(self, judge, wanted, enforce, config, status, layer):
        machine = host(*RHEL94).file("/etc/selinux/config", f"SELINUX={config}\n")
        finding = judge(machine.file("/sys/fs/selinux/enforce", enforce), selinux=wanted)["selinux"]
        assert (finding.status, finding.desired) == (status, wanted)
        if layer:
            assert finding.failing_layer == layer and f"must be {wanted}" in finding.why

    @cases(
        "state status",
        # Texts of spectre.rst, arch/x86/kernel/cpu/bugs.c and s390's nospec-sysfs.c.
        (platform_packs.MITIGATED, "pass"),
        ("Mitigation: Retpolines", "pass"),
        ("Mitigation: etokens", "pass"),
        ("Not affected", "pass"),
        ("Vulnerable", "warn"),
        ("Vulnerable: Minimal generic ASM retpoline", "warn"),
        ("Vulnerable, IBPB: disabled, STIBP: disabled", "warn"),
        ("", "error"),
        ("Unknown: no mitigations", "error"),
    )
    def test_retpoline(self, judge, state, status):
        finding = judge(host(*RHEL94).file(platform_packs.SPECTRE, state + "\n"))["retpoline"]
        assert finding.status == status
        if status != "error":
            assert finding.running == state[:80]

    def test_a_kernel_that_does_not_show_its_mitigations(self, judge):
        assert judge(host(*RHEL94).remove(platform_packs.SPECTRE))["retpoline"].status == "skip"
        assert judge(host(*RHEL94).deny(platform_packs.SPECTRE))["retpoline"].status == "error"

    def test_ssh_and_scp_of_a_cluster(self, judge):
        cluster = {"profile": "oracle_19c_rac"}
        assert judge(host(*RHEL94), **cluster)["remote_copy"].status == "pass"
        assert judge(host(*RHEL94))["remote_copy"].status == "skip"
        finding = judge(host(*RHEL94).remove("/usr/bin/scp"), **cluster)["remote_copy"]
        assert (finding.status, finding.persisted) == ("fail", "/usr/bin/scp not executable")
        machine = host(*RHEL94).file("/usr/bin/ssh", "", mode=0o750)
        assert judge(machine, **cluster)["remote_copy"].status == "fail"
        machine = host(*RHEL94).deny("/usr/bin/ssh")
        assert judge(machine, **cluster)["remote_copy"].status == "error"

    def test_run_level(self, judge):
        assert judge(host(*RHEL94))["run_level"].status == "pass"
        machine = host(*RHEL94).command("systemctl get-default", "rescue.target\n")
        finding = judge(machine)["run_level"]
        assert (finding.status, finding.persisted) == ("fail", "rescue.target")
        active = "systemctl is-active multi-user.target graphical.target"
        machine = host(*RHEL94).command(active, "inactive\ninactive\n", rc=3)
        assert judge(machine)["run_level"].status == "fail"
        machine = host(*RHEL94).command(active, "", rc=1)
        assert judge(machine)["run_level"].status == "error"
        machine = host(*RHEL94)
        machine.commands.pop("systemctl get-default")
        assert judge(machine)["run_level"].status == "skip"


class TestTable:
    @cases("days status", (364, "pass"), (365, "warn"))
    def test_rows_older_than_a_year_are_noted(self, judge, days, status):
        machine = host(*RHEL94).command("date +%s %z", f"{NOW + days * 86400} +0000\n")
        assert judge(machine)["table_age"].status == status

    def test_every_row_can_match_a_kernel_of_its_own(self):
        for row in supported_systems.ROWS:
            version = numbers(row.version)
            assert row.architecture in ("x86_64", "s390x", "aarch64") and row.source
            distribution = Distribution(row.distribution, version, "", False)
            assert line_of(row.kernel, distribution) == row.line and len(numbers(row.kernel)) > 3

    def test_the_rows_of_each_checklist_are_those_of_the_page(self):
        """Transcribed per page (platform/checklists.tsv); architecture is that of the row."""
        lines = (packs.FIXTURES / "platform/checklists.tsv").read_text().splitlines()[1:]
        pages = {tuple(line.split("\t")) for line in lines}
        ours = {
            (row.source, row.release, row.distribution, row.version, row.architecture)
            + (row.line, row.kernel)
            for row in supported_systems.ROWS
        }
        assert ours <= pages and {row[1:] for row in pages} == {row[1:] for row in ours}

    def test_what_packages_of_a_book_list_is_listed_here_too(self):
        listed = {
            (row.release, row.distribution, numbers(row.version)[0], row.architecture)
            for row in supported_systems.ROWS
        }
        of_books = {
            (row.release, row.distribution, row.version, row.architecture)
            for row in packages_table.ROWS
            if row.need != "list" and row.source.endswith(("Distributions", "Linux 10", "(IBM Z)"))
        }
        # The packages of Oracle Linux count for RHEL as well (table.SAME_PACKAGES).
        assert {row for row in of_books if row[1] != "RHEL"} <= listed

    def test_lines_are_told_once(self):
        keys = [
            (*row[:2], numbers(row.version)[0], row.architecture, row.line)
            for row in supported_systems.ROWS
        ]
        assert len(keys) == len(set(keys))


@pytest.mark.skipif(not SHARED.is_dir(), reason="recorded hosts are not here: ../shared is absent")
def test_whole_recorded_hosts(judge):
    statuses = {
        folder.name: judge(platform_packs.recorded(folder))["distribution"].status
        for folder in sorted(SHARED.iterdir())
    }
    expected = {
        "centos-7.9-insights": "warn",
        "rhel-8.2": "error",
        "rhel-8.5-edge": "pass",
        "rhel-9.4": "pass",
        "rhel-9.4-image-mode": "pass",
    }
    assert {name: statuses.get(name) for name in expected} == expected


class TestMetricsHistory:
    @cases("age status", (3600, "pass"), (2 * 86400 - 1, "pass"), (2 * 86400, "warn"))
    @cases("folder", "/var/log/sa", "/var/log/sysstat")
    def test_files_of_sar(self, judge, folder, age, status):
        machine = host(*RHEL94).command(platform_packs.RECORDERS, "", rc=1).folder(folder)
        machine.modes[folder] = 0o755
        machine.mtimes[folder] = float(NOW - age)
        assert judge(machine)["metrics_history"].status == status

    def test_recorders_that_run(self, judge):
        answer = "901 OSWatcher.sh\n905 OSWatcher.sh\n77 osysmond.bin\n"
        finding = judge(host(*RHEL94).command(platform_packs.RECORDERS, answer))["metrics_history"]
        assert (finding.status, finding.running) == ("pass", "OSWatcher.sh, osysmond.bin")

    @cases(
        "names status",
        ("vim", "warn"),
        ("tail -f OSWatcher", "warn"),
        ("OSWatcher.sh.bak", "warn"),
        ("pmlogger_check", "warn"),
        ("ksh", "error"),
        ("pmlogger", "pass"),
        ("OSWatcher", "pass"),
    )
    def test_a_process_that_only_names_a_recorder(self, judge, names, status):
        machine = host(*RHEL94).command(platform_packs.RECORDERS, f"901 {names}\n")
        assert judge(machine)["metrics_history"].status == status

    def test_none(self, judge):
        machine = host(*RHEL94).command(platform_packs.RECORDERS, "", rc=1)
        finding = judge(machine)["metrics_history"]
        assert (finding.status, finding.running) == ("warn", "none")

    @cases("denied", True, False)
    def test_what_is_unknown_matters_only_if_nothing_is_found(self, judge, denied):
        def unknown(recorders, rc):
            machine = host(*RHEL94).command(platform_packs.RECORDERS, recorders, rc=rc)
            return machine.deny("/var/log/sa") if denied else machine

        assert judge(unknown("812 pmlogger\n", 0))["metrics_history"].status == "pass"
        assert judge(unknown("", 1 if denied else 3))["metrics_history"].status == "error"

    def test_files_of_sar_where_processes_are_unknown(self, judge):
        machine = host(*RHEL94).command(platform_packs.RECORDERS, "", rc=3).folder("/var/log/sa")
        machine.modes["/var/log/sa"] = 0o755
        machine.mtimes["/var/log/sa"] = float(NOW)
        assert judge(machine)["metrics_history"].status == "pass"

"""Required packages, their versions, cvuqdisk and the package database, as they are judged."""

from datetime import date

import kernel_packs
import package_packs
import packs
import platform_packs
import pytest
from ansible.module_utils.hostproof.collect.host import Output
from ansible.module_utils.hostproof.controls.packages import package_table
from ansible.module_utils.hostproof.errors import ParseError, PolicyError
from ansible.module_utils.hostproof.parsers.unix import package_list
from cases import cases
from default_policies import changed_policy
from hostproof_controller import commands
from package_packs import DPKG_COMMAND, FOLDER, RPM_COMMAND, host, lines_of, recorded, rpm_lines

SINGLE, RAC = "oracle_19c_single", "oracle_19c_rac"
BOOK9 = (
    *("bc", "binutils", "compat-openssl11", "elfutils-libelf", "fontconfig", "glibc"),
    *("glibc-devel", "ksh", "libaio", "libasan", "liblsan", "libX11", "libXau", "libXi"),
    *("libXrender", "libXtst", "libxcrypt-compat", "libgcc", "libibverbs", "libnsl"),
    *("librdmacm", "libstdc++", "libxcb", "libvirt-libs", "make", "policycoreutils"),
    *("policycoreutils-python-utils", "smartmontools", "sysstat"),
)


@pytest.fixture
def judge(validate_finding, monkeypatch):
    monkeypatch.setattr(commands, "_ADDITIONAL", set())

    def judge_host(machine, **changes):
        # As a run does before it judges: the packages of its policy may be in a command.
        commands.allow({"packages": changes})
        findings = package_packs.judged(machine, **{"profile": SINGLE, **changes})
        for finding in findings.values():
            validate_finding(finding.as_dict())
        return findings

    return judge_host


def missing(finding):
    return sorted((finding.persisted or "").removeprefix("missing: ").split(", "))


class TestRecordedHosts:
    def test_rhel_9_4(self, judge):
        findings = judge(recorded("rhel-9.4"))
        assert findings["listed"].status == "pass"
        assert missing(findings["installer"]) == [
            *("compat-openssl11", "fontconfig", "glibc-devel", "libaio", "libnsl", "make")
        ]
        assert missing(findings["required"]) == [
            *("bc", "ksh", "libX11", "libXau", "libXi", "libXrender", "libXtst", "libasan"),
            *("liblsan", "librdmacm", "libvirt-libs", "libxcb", "smartmontools", "sysstat"),
        ]
        for check in ("installer", "required"):
            assert findings[check].status == "fail"
            assert "Client Installation Guide 19c" in findings[check].reference
            assert "read 2026-11-25" in findings[check].reference
        assert findings["installer"].commands[0].startswith("dnf install -y compat-openssl11 ")
        assert findings["one_version"].status == findings["database"].status == "pass"

    def test_26ai_on_rhel_9_takes_the_rows_of_oracle_linux(self, judge):
        findings = judge(recorded("rhel-9.4"), profile="oracle_26ai_single")
        assert findings["listed"].status == "warn" and "checked as OL 9" in findings["listed"].why
        assert "compat-openssl11" in missing(findings["installer"])
        assert "Cluster Verification Utility 23.26.1" in findings["installer"].reference
        # glibc 2.34-100.el9_4 and policycoreutils 3.6 are new enough for CVU.
        assert findings["version"].status == "pass"

    def test_centos_7(self, judge):
        findings = judge(recorded("centos-7.9"))
        assert findings["listed"].status == "warn"
        assert findings["installer"].commands[0].startswith("yum install -y ")
        assert "ORAchk 18.4" in findings["installer"].reference
        assert "ksh" in missing(findings["required"]) and findings["required"].status == "fail"

    def test_rhel_8_has_only_lists_of_roles(self, judge):
        findings = judge(recorded("rhel-8.2"))
        assert findings["required"].status == "warn" and findings["installer"].status == "fail"
        assert "libnsl" in missing(findings["installer"])

    def test_image_mode_is_named(self, judge):
        findings = judge(recorded("rhel-9.4-image-mode").file("/run/ostree-booted", ""))
        assert findings["installer"].status == "fail" and "image mode" in findings["installer"].fix
        assert findings["installer"].commands == ()

    def test_debian(self, judge):
        findings = judge(recorded("debian-12"))
        assert findings["listed"].status == "warn"
        found = missing(findings["installer"])
        assert found == [*("binutils", "fontconfig", "libaio1", "libc6-dev", "make")]
        assert findings["installer"].commands[0].startswith("apt-get install -y ")
        assert findings["required"].status == "warn"
        assert "Debian 12 package index" in findings["required"].reference


def test_a_distribution_without_rows(judge):
    machine = recorded("debian-12")
    text = platform_packs.os_release("debian-12").replace("ID=debian", "ID=gentoo")
    findings = judge(machine.file("/etc/os-release", text))
    assert findings["listed"].status == "warn" and "0 packages" in findings["listed"].why
    assert findings["installer"].status == findings["required"].status == "skip"
    findings = judge(machine, additional=["unzip"])
    assert findings["required"].status == "skip" and findings["site"].status == "fail"
    assert missing(findings["site"]) == ["unzip"]


class TestRequired:
    def test_all_of_the_book(self, judge):
        findings = judge(host("rhel-9.4", lines_of(*BOOK9)))
        assert {finding.status for finding in findings.values()} == {"pass", "skip"}

    @pytest.mark.parametrize("name", BOOK9)
    def test_one_is_missing(self, judge, name):
        findings = judge(
            host("rhel-9.4", lines_of(*[package for package in BOOK9 if package != name]))
        )
        failing = [check for check, finding in findings.items() if finding.status == "fail"]
        needed = {"binutils", "compat-openssl11", "fontconfig", "glibc-devel", "libaio"}
        needed |= {"libnsl", "libxcrypt-compat", "make"}
        assert failing == ["installer" if name in needed else "required"]
        assert missing(findings[failing[0]]) == [name]

    def test_another_architecture_does_not_count(self, judge):
        lines = lines_of(*[package for package in BOOK9 if package != "libaio"])
        lines += lines_of("libaio", architecture="i686")
        finding = judge(host("rhel-9.4", lines))["installer"]
        assert finding.status == "fail" and "libaio (only i686)" in finding.why

    def test_noarch_counts(self, judge):
        lines = lines_of(
            *[package for package in BOOK9 if package != "policycoreutils-python-utils"]
        )
        lines += lines_of("policycoreutils-python-utils", architecture="noarch")
        assert judge(host("rhel-9.4", lines))["required"].status == "pass"

    def test_packages_of_the_site(self, judge):
        machine = host("rhel-9.4", lines_of(*BOOK9))
        finding = judge(machine, additional=["glibc.i686", "python3.11"])["site"]
        assert missing(finding) == ["glibc", "python3.11"] and "glibc (only x86_64)" in finding.why
        assert "glibc.i686" in finding.commands[0] and "packages_additional" in finding.reference

    def test_an_excluded_package(self, judge):
        lines = lines_of(*[package for package in BOOK9 if package != "smartmontools"])
        machine = host("rhel-9.4", lines)
        assert judge(machine)["required"].status == "fail"
        assert judge(machine, excluded=["smartmontools"])["required"].status == "pass"

    def test_grid_infrastructure_needs_more(self, judge):
        finding = judge(host("rhel-9.4", lines_of(*BOOK9)), profile=RAC)["required"]
        assert missing(finding) == ["net-tools", "psmisc"]

    def test_what_dpkg_has_removed_is_missing(self, judge):
        lines = [*package_packs.dpkg_lines(), "libaio1\t0.3.113-4\tamd64\tconfig-files"]
        findings = judge(host("debian-12", lines))
        assert "libaio1" in missing(findings["installer"]) and findings["database"].status == "pass"

    @cases(
        "states status",
        (["triggers-pending"], "warn"),
        (["triggers-awaited", "triggers-pending"], "warn"),
        (["triggers-pending", "unpacked"], "fail"),
        (["config-files"], "pass"),
    )
    def test_pending_triggers_are_no_damage(self, judge, states, status):
        lines = package_packs.dpkg_lines()
        lines += [f"package{number}\t1.0-1\tamd64\t{word}" for number, word in enumerate(states)]
        finding = judge(host("debian-12", lines))["database"]
        assert finding.status == status
        assert finding.commands == (("dpkg --audit",) if status != "pass" else ())

    @cases("state", "triggers-pending", "triggers-awaited")
    def test_a_package_whose_triggers_have_not_run_is_installed(self, judge, state):
        lines = [*package_packs.dpkg_lines(), f"libaio1\t0.3.113-4\tamd64\t{state}"]
        assert "libaio1" not in missing(judge(host("debian-12", lines))["installer"])


class TestVersions:
    def test_cvu_and_its_minimum(self, judge):
        new = lines_of("make", version="4.3-7.el9") + lines_of("sysstat", version="12.5.4-7.el9")
        finding = judge(host("rhel-9.4", new), release="26ai")["version"]
        assert finding.status == "pass"
        old = lines_of("make", version="4.2.1-11.el8") + new[1:]
        finding = judge(host("rhel-9.4", old), release="26ai")["version"]
        assert finding.status == "fail" and "make 4.2.1-11.el8, required 4.3" in finding.why
        assert "23.26.1" in finding.reference

    def test_no_minimum(self, judge):
        assert judge(host("rhel-9.4", lines_of(*BOOK9)))["version"].status == "skip"

    def test_two_versions(self, judge):
        lines = lines_of(*BOOK9) + lines_of("glibc", version="998-1")
        finding = judge(host("rhel-9.4", lines))["one_version"]
        assert finding.status == "warn" and "glibc 999-1, 998-1" in finding.why

    def test_an_epoch_is_read_and_compared(self, judge):
        lines = lines_of("cvuqdisk", version="(none):1.0.10-1")
        finding = judge(host("rhel-9.4", lines), profile="rac_asm")["cvuqdisk"]
        assert (finding.status, "(none)" in f"{finding.why} {finding.persisted}") == ("pass", False)


class TestWhereItCounts:
    def test_without_a_release_everything_is_skipped(self, judge):
        findings = judge(recorded("rhel-9.4"), profile="none")
        assert {finding.status for finding in findings.values()} == {"skip"}
        assert "packages_release" in findings["required"].why

    def test_the_release_of_a_home_counts_without_a_profile(self, judge):
        findings = judge(kernel_packs.with_home(recorded("rhel-9.4")), profile="none")
        assert findings["required"].title.startswith("19c (19")
        assert findings["installer"].status in ("pass", "fail")

    def test_not_a_linux_host(self, judge):
        findings = judge(recorded("rhel-9.4").remove("/proc/sys/kernel/osrelease"))
        assert {finding.status for finding in findings.values()} == {"skip"}

    @cases("name", "-y", "a b", "", "x" * 101, "a;b", "../a")
    def test_a_name_that_no_package_has(self, name):
        from ansible.module_utils.hostproof.controls.packages.policy import policy_from

        with pytest.raises(PolicyError, match="packages_additional"):
            policy_from(changed_policy("packages", additional=[name]))


class TestDatabase:
    def test_a_damaged_database(self, judge):
        text = (FOLDER / "rpm-damaged-database.txt").read_text()
        findings = judge(host("rhel-9.4", [], text, rc=1), release="26ai")
        assert findings["database"].status == "fail" and "BDB1507" in findings["database"].why
        for check in ("installer", "required", "version", "one_version", "preinstall"):
            assert findings[check].status == "error"

    def test_a_package_that_rpm_skips(self, judge):
        complaint = (FOLDER / "rpm-damaged-package.txt").read_text().splitlines()[0]
        findings = judge(host("rhel-9.4", lines_of(*BOOK9), complaint + "\n"))
        assert findings["database"].status == "fail" and findings["required"].status == "error"

    def test_a_remark_is_no_damage(self, judge):
        remark = "warning: Found bdb Packages database while attempting sqlite backend\n"
        findings = judge(host("rhel-9.4", lines_of(*BOOK9), remark))
        assert findings["database"].status == findings["required"].status == "pass"

    def test_a_half_installed_package(self, judge):
        lines = [*package_packs.dpkg_lines(), "sysstat\t12.6.1-1\tamd64\thalf-configured"]
        findings = judge(host("debian-12", lines))
        assert findings["database"].status == "fail"
        assert "sysstat is half-configured" in findings["database"].why

    def test_unknown_is_an_error(self, judge):
        findings = judge(host("rhel-9.4", [], rc=127))
        assert findings["database"].status == findings["required"].status == "error"
        machine = host("rhel-9.4", [])
        del machine.commands[RPM_COMMAND]
        findings = judge(machine)
        assert findings["database"].status == findings["required"].status == "error"

    def test_both_programs_and_the_full_database_counts(self, judge):
        machine = host("rhel-9.4", lines_of(*BOOK9))
        machine.commands[DPKG_COMMAND] = Output(0, "", "")
        assert judge(machine)["required"].status == "pass"
        machine = recorded("debian-12")
        machine.commands[RPM_COMMAND] = Output(0, "", "")
        assert "libaio1" in missing(judge(machine)["installer"])

    @cases("text", "glibc\n", "a\tb\tc\n", "a\tb\tc\td\te\n")
    def test_no_list(self, text):
        with pytest.raises(ParseError, match="line 1"):
            package_list.parse(text)


class TestCvuqdisk:
    def node(self, mode=0o4755, gid=54321, group="oinstall", version="1.0.10-1"):
        machine = host("rhel-9.4", lines_of(*BOOK9) + lines_of("cvuqdisk", version=version))
        machine.file("/usr/sbin/cvuqdisk", "", mode=mode)
        machine.gids["/usr/sbin/cvuqdisk"] = gid
        machine.file("/etc/oraInst.loc", "inventory_loc=/u01/oraInventory\ninst_group=oinstall\n")
        return machine.command(f"getent group {gid}", f"{group}:x:{gid}:\n")

    def test_as_the_book_installs_it(self, judge):
        findings = judge(self.node(), profile=RAC)
        assert findings["cvuqdisk"].status == findings["cvuqdisk_group"].status == "pass"
        assert findings["cvuqdisk_group"].persisted == "4755, uid 0, group oinstall"

    def test_an_old_package(self, judge):
        findings = judge(self.node(version="1.0.9-1"), profile=RAC)
        assert findings["cvuqdisk"].status == "fail" and findings["cvuqdisk_group"].status == "pass"

    @cases(
        "changes",
        {"gid": 54322, "group": "dba"},
        {"mode": 0o755},
        {"mode": 0o4757},
        {"mode": 0o4744},
    )
    def test_owner_and_mode(self, judge, changes):
        findings = judge(self.node(**changes), profile=RAC)
        assert findings["cvuqdisk"].status == "pass" and findings["cvuqdisk_group"].status == "fail"

    def test_without_an_inventory_it_is_oinstall(self, judge):
        assert judge(self.node().remove("/etc/oraInst.loc"), profile=RAC)[
            "cvuqdisk_group"
        ].status == ("pass")

    def test_missing(self, judge):
        findings = judge(host("rhel-9.4", lines_of(*BOOK9)), profile=RAC)
        assert findings["cvuqdisk"].status == "fail"
        assert findings["cvuqdisk"].persisted == "not installed"
        assert findings["cvuqdisk_group"].status == "skip"

    def test_only_for_a_cluster(self, judge):
        for profile in (SINGLE, "oracle_19c_restart"):
            findings = judge(self.node(), profile=profile)
            assert findings["cvuqdisk"].status == findings["cvuqdisk_group"].status == "skip"


class TestPreinstall:
    NAME = "oracle-database-preinstall-19c"
    LOG = f"/var/log/{NAME}/results/orakernel.log"
    #: Made up: no log of the package was at hand.
    PASSED = "Verifying & setting of kernel parameters passed\n"

    def machine(self):
        return host("rhel-9.4", lines_of(*BOOK9, self.NAME))

    def test_passed(self, judge):
        assert judge(self.machine().file(self.LOG, self.PASSED))["preinstall"].status == "pass"

    @cases(
        "line",
        "sysctl: permission denied on key 'kernel.sem'",
        'sysctl: setting key "kernel.shmall": Invalid argument',
        'error: "net.core.rmem_max" is an unknown key',
    )
    def test_messages_of_sysctl(self, judge, line):
        machine = self.machine().file(self.LOG, self.PASSED + line + "\n")
        assert judge(machine)["preinstall"].status == "warn"

    def test_failed(self, judge):
        text = self.PASSED + "Verifying & setting of user limits failed\n"
        finding = judge(self.machine().file(self.LOG, text))["preinstall"]
        assert finding.status == "warn"
        assert "1 lines, first: Verifying & setting of user limits failed" in finding.why

    def test_no_log(self, judge):
        assert judge(self.machine())["preinstall"].status == "warn"

    @cases("text", "", "\n \n")
    def test_an_empty_log(self, judge, text):
        finding = judge(self.machine().file(self.LOG, text))["preinstall"]
        assert (finding.status, "has no log" in finding.why) == ("warn", True)

    def test_a_log_that_may_not_be_read(self, judge):
        machine = self.machine().file(self.LOG, self.PASSED).deny(self.LOG)
        assert judge(machine)["preinstall"].status == "error"

    def test_not_installed(self, judge):
        assert judge(host("rhel-9.4", lines_of(*BOOK9)))["preinstall"].status == "skip"


class TestTable:
    def test_age(self, judge):
        assert judge(host("rhel-9.4", lines_of(*BOOK9)))["table_age"].status == "pass"
        year = platform_packs.NOW + 366 * 86400
        machine = host("rhel-9.4", lines_of(*BOOK9))
        finding = judge(machine.command("date +%s %z", f"{year} +0000\n"))["table_age"]
        assert finding.status == "warn" and "2026-11-25" in finding.why

    def test_rows(self):
        keys = [row[:5] for row in package_table.ROWS]
        assert len(keys) == len(set(keys))
        for row in package_table.ROWS:
            assert row.need in ("installer", "book", "grid", "list") and row.source
            assert date.fromisoformat(row.seen)

    def test_a_host_of_a_cvu_log_that_passed(self, judge):
        """CVU 23.26.1 passed a host with exactly the versions that it required."""
        rows = [
            row
            for row in package_table.ROWS
            if (row.release, row.distribution, row.version) == ("26ai", "OL", 9)
        ]
        lines = [line for row in rows for line in lines_of(row.package, version=row.minimum)]
        text = platform_packs.ol("9.6")
        machine = host("rhel-9.4", lines).file("/etc/os-release", text)
        findings = judge(machine, profile="oracle_26ai_rac")
        for check in ("listed", "installer", "required", "version", "one_version"):
            assert findings[check].status == "pass"


def test_rpm_lines_of_a_recorded_host():
    assert len(rpm_lines("rhel-9.4")) == 441
    assert packs.FIXTURES.exists()


class TestBash:
    @cases(
        "release version status",
        # EL 7, RHSA-2014:1306: the first correction (CVE-2014-6271) was not complete.
        ("centos-7", "4.2.45-5.el7", "fail"),
        ("centos-7", "4.2.45-5.el7_0.2", "fail"),
        ("centos-7", "4.2.45-5.el7_0.4", "pass"),
        ("centos-7", "4.2.46-35.el7_9", "pass"),
        ("rhel-9.4", "5.1.8-9.el9", "pass"),
        ("rhel-9.4", "4.3-1", "error"),
        ("debian-12", "5.2.15-2+b7", "pass"),
    )
    def test_version(self, validate_finding, release, version, status):
        machine = package_packs.host(release, package_packs.lines_of("bash", version=version))
        finding = package_packs.judged(machine, release="19c")["bash"]
        validate_finding(finding.as_dict())
        assert finding.status == status

    @cases(
        "system version status",
        ("rhel 6.5", "4.1.2-15.el6_5.1", "fail"),
        ("rhel 6.5", "4.1.2-15.el6_5.2", "pass"),
        ("sles 12.5", "4.2-83.3.1", "pass"),
        ("sles 12.5", "4.1-1", "fail"),
        ("sles 11.4", "3.2-147.35.1", "error"),
    )
    def test_version_of_other_systems(self, system, version, status):
        name, _, number = system.partition(" ")
        machine = package_packs.host(
            "rhel-9.4", package_packs.lines_of("bash", version=version)
        ).file("/etc/os-release", f'ID="{name}"\nVERSION_ID="{number}"\n')
        assert package_packs.judged(machine, release="19c")["bash"].status == status

    def test_without_bash(self):
        machine = package_packs.host("rhel-9.4", package_packs.lines_of("zsh"))
        assert package_packs.judged(machine, release="19c")["bash"].status == "skip"

    def test_recorded_hosts(self):
        for name in ("centos-7.9", "debian-12"):
            finding = package_packs.judged(package_packs.recorded(name), release="19c")["bash"]
            assert finding.status == "pass"

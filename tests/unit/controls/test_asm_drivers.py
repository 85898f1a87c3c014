"""ASMFD and ASMLIB against kernels and releases, as they are judged."""

import kernel_packs
import packs
import platform_packs
import pytest
from ansible.module_utils.hostproof.controls.asm_drivers.facts import (
    AFD_CONFIG,
    CONFIG,
    GRUBBY,
    IO_URING,
    RPM,
    UNIT,
    modinfo,
)
from cases import cases
from default_policies import changed_policy

#: Kernels of public hosts (tests/fixtures/platform/SOURCES.md, and the tables of Oracle's books).
UEK6 = "5.4.17-2136.335.4.el8uek.x86_64"
UEK7 = "5.15.0-306.177.4.el9uek.x86_64"
UEK8 = "6.12.0-104.43.4.2.el9uek.x86_64"
RHCK9 = "5.14.0-503.11.1.el9_5.x86_64"
#: What rpm answered on a public RAC of Oracle Linux 8.6 with 19.22, as this query prints it.
V2 = {"oracleasm-support": "2.1.12", "oracleasmlib": "2.0.17"}
V3 = {"oracleasm-support": "3.1.0", "oracleasmlib": "3.1.0"}
#: Lines of "oracleasm configure" of that host after "oracleasm configure -i".
CONFIGURED = "ORACLEASM_ENABLED=true\nORACLEASM_UID=grid\nORACLEASM_GID=asmadmin\n"


def host(packages=None, kernel=UEK6, default=None, version="8.6", modules=("oracleasm",)):
    """``modules`` are those that each of the two kernels has, by their names and kernels."""
    machine = packs.linux().file("/etc/os-release", platform_packs.ol(version))
    machine.file("/proc/sys/kernel/osrelease", kernel + "\n")
    machine.command(" ".join(GRUBBY), f"/boot/vmlinuz-{default or kernel}\n")
    lines = [
        f"{name} {packages[name]}"
        if name in (packages or {})
        else f"package {name} is not installed"
        for name in ("oracleasm-support", "oracleasmlib")
    ]
    machine.command(" ".join(RPM), "\n".join(lines) + "\n", rc=2 - len(packages or {}))
    for release in {kernel, default or kernel}:
        for module in ("oracleasm", "oracleafd"):
            has = module in modules or f"{module} {release}" in modules
            path = f"/lib/modules/{release}/extra/{module}.ko\n" if has else ""
            machine.command(" ".join(modinfo(release, module)), path, rc=0 if has else 1)
    machine.command(" ".join(UNIT), "UnitFileState=enabled\n")
    return machine.file(CONFIG, CONFIGURED)


@pytest.fixture
def judge(findings_of):
    def judge_host(machine, profile="none"):
        found = findings_of("asm_drivers", machine, changed_policy("asm_drivers", profile=profile))
        return {check: some[-1] for check, some in found.items()}

    return judge_host


class TestWhereItCounts:
    def test_neither_driver(self, judge):
        assert {finding.status for finding in judge(host()).values()} == {"skip"}

    def test_not_a_linux_host(self, judge):
        assert {finding.status for finding in judge(packs.Machine()).values()} == {"skip"}

    def test_a_host_without_rpm(self, judge):
        machine = host()
        machine.commands.pop(" ".join(RPM))
        assert {finding.status for finding in judge(machine).values()} == {"skip"}

    def test_a_damaged_database_of_packages(self, judge):
        findings = judge(host().command(" ".join(RPM), "error: rpmdb open failed\n", rc=1))
        assert findings["asmlib_module"].status == findings["asmlib_version"].status == "error"


class TestAsmlibModule:
    def test_version_2_on_a_kernel_with_the_module(self, judge):
        findings = judge(host(V2))
        assert findings["asmlib_module"].status == "pass" and findings["io_uring"].status == "skip"
        # The book has version 3 for EL 8, and a public RAC runs with version 2.
        assert findings["asmlib_version"].status == "warn"
        assert findings["asmlib_start"].status == "pass"

    def test_the_default_boot_kernel_has_no_module(self, judge):
        finding = judge(host(V2, default=UEK8, modules=(f"oracleasm {UEK6}",)))["asmlib_module"]
        assert (finding.status, finding.failing_layer) == ("fail", "persisted")
        assert UEK8 in finding.persisted
        assert f"grubby --set-default /boot/vmlinuz-{UEK6}" in finding.fix
        assert finding.running == f"module oracleasm, kernel {UEK6}"

    def test_an_unknown_default_boot_kernel(self, judge):
        machine = host(V2).command(" ".join(GRUBBY), "", rc=1)
        assert judge(machine)["asmlib_module"].status == "error"
        machine = host(V2)
        machine.commands.pop(" ".join(GRUBBY))
        assert judge(machine)["asmlib_module"].status == "pass"

    def test_a_default_boot_kernel_that_is_an_option(self, judge):
        machine = host(V2).command(" ".join(GRUBBY), "/boot/vmlinuz--F\n")
        assert judge(machine)["asmlib_module"].status == "error"

    def test_modinfo_fails(self, judge):
        machine = host(V2).command(" ".join(modinfo(UEK6, "oracleasm")), "", rc=127)
        assert judge(machine)["asmlib_module"].status == "error"


class TestVersions:
    """ASMLIB 3.0.0 is the first one of EL 8 and later, and runs without a module."""

    @cases(
        "asmlib version status",
        ("3.0.0", "8.6", "pass"),
        ("2.9.9", "8.6", "warn"),
        ("3.0.0", "7.9", "warn"),
        ("2.9.9", "7.9", "pass"),
        ("3.0.0", "9.6", "pass"),
    )
    def test_of_a_release(self, judge, asmlib, version, status):
        packages = dict.fromkeys(V3, asmlib)
        assert judge(host(packages, version=version))["asmlib_version"].status == status

    @cases("asmlib module io_uring", ("3.0.0", "pass", "fail"), ("2.9.9", "fail", "skip"))
    def test_without_a_module(self, judge, asmlib, module, io_uring):
        machine = host(dict.fromkeys(V3, asmlib), UEK8, version="9.6", modules=())
        findings = judge(machine.file(IO_URING, "2\n"))
        assert (findings["asmlib_module"].status, findings["io_uring"].status) == (module, io_uring)

    def test_of_another_distribution(self, judge):
        machine = host(V3).file("/etc/os-release", platform_packs.os_release("debian-12"))
        assert judge(machine)["asmlib_version"].status == "skip"

    def test_a_kernel_with_an_unusual_name(self, judge):
        finding = judge(host(V2).file("/proc/sys/kernel/osrelease", "../x\n"))["asmlib_module"]
        assert (finding.status, "unusual form" in finding.why) == ("error", True)

    def test_a_systemctl_that_fails_with_an_answer(self, judge):
        machine = host(V2).command(" ".join(UNIT), "UnitFileState=enabled\n", rc=1)
        assert judge(machine)["asmlib_start"].status == "error"


class TestIoUring:
    @cases("now status", ("0", "pass"), ("3", "fail"))
    def test_a_value_that_no_kernel_documents(self, judge, now, status):
        machine = host(V3, UEK8, version="9.6", modules=()).file(IO_URING, now + "\n")
        assert judge(machine)["io_uring"].status == status

    @cases(
        "now line status layer",
        (0, "", "pass", None),
        (2, "", "fail", "running"),
        (0, "kernel.io_uring_disabled = 2\n", "fail", "persisted"),
        (1, "kernel.io_uring_disabled = 1\n", "warn", "running"),
    )
    def test_version_3_without_a_module(self, judge, now, line, status, layer):
        machine = host(V3, UEK8, version="9.6", modules=())
        machine.file(IO_URING, f"{now}\n").file("/etc/sysctl.conf", line)
        findings = judge(machine)
        assert (findings["io_uring"].status, findings["io_uring"].failing_layer) == (status, layer)
        assert findings["asmlib_module"].status == findings["asmlib_version"].status == "pass"
        assert findings["asmlib_module"].running == f"io_uring, kernel {UEK8}"

    @cases(
        "now line later now_too",
        (2, "", False, True),
        (0, "kernel.io_uring_disabled = 2\n", True, False),
        (2, "kernel.io_uring_disabled = 2\n", True, True),
        (1, "kernel.io_uring_disabled = 0\n", False, True),
    )
    def test_the_fix_is_of_the_layer(self, judge, now, line, later, now_too):
        machine = host(V3, UEK8, version="9.6", modules=())
        machine.file(IO_URING, f"{now}\n").file("/etc/sysctl.conf", line)
        fix = judge(machine)["io_uring"].fix
        assert ("/etc/sysctl.d" in fix, "sysctl -w" in fix) == (later, now_too)

    @cases("unread", IO_URING, "/etc/sysctl.conf")
    def test_an_unknown_layer_hides_no_wrong_one(self, judge, unread):
        machine = host(V3, UEK8, version="9.6", modules=()).file(IO_URING, "2\n")
        machine.file("/etc/sysctl.conf", "kernel.io_uring_disabled = 2\n").deny(unread)
        assert judge(machine)["io_uring"].status == "fail"

    def test_a_kernel_that_cannot_disable_it(self, judge):
        assert judge(host(V3, UEK8, version="9.6", modules=()))["io_uring"].status == "skip"

    @cases(
        "module now line status layer",
        # Only the kernel of the next start uses io_uring.
        ("now", 2, "", "pass", None),
        ("now", 1, "kernel.io_uring_disabled = 0\n", "pass", None),
        ("now", 2, "kernel.io_uring_disabled = 2\n", "fail", "persisted"),
        ("now", 0, "kernel.io_uring_disabled = 1\n", "warn", "persisted"),
        # Only the running kernel uses it.
        ("later", 0, "kernel.io_uring_disabled = 2\n", "pass", None),
        ("later", 2, "", "fail", "running"),
        ("later", 1, "kernel.io_uring_disabled = 2\n", "warn", "running"),
    )
    def test_one_of_two_kernels_has_the_module(self, judge, module, now, line, status, layer):
        kernels = (UEK7, UEK8) if module == "now" else (UEK8, UEK7)
        machine = host(V3, *kernels, "9.6", (f"oracleasm {UEK7}",))
        machine.file(IO_URING, f"{now}\n").file("/etc/sysctl.conf", line)
        finding = judge(machine)["io_uring"]
        assert (finding.status, finding.failing_layer) == (status, layer)
        shown = finding.running if module == "now" else finding.persisted
        assert shown == "not used: module oracleasm"

    def test_a_switch_that_only_the_default_boot_kernel_has(self, judge):
        machine = host(V3, UEK6, UEK8, "9.6", (f"oracleasm {UEK6}",))
        machine.file("/etc/sysctl.conf", "kernel.io_uring_disabled = 2\n")
        finding = judge(machine)["io_uring"]
        assert (finding.status, finding.failing_layer) == ("fail", "persisted")


class TestStart:
    @cases(
        "config unit",
        ("ORACLEASM_ENABLED=false\n", "enabled"),
        ("", "enabled"),
        (CONFIGURED, "disabled"),
        (CONFIGURED, "enabled-runtime"),
        (CONFIGURED + "ORACLEASM_ENABLED=\n", "enabled"),
    )
    def test_not_at_boot(self, judge, config, unit):
        machine = host(V2).file(CONFIG, config).command(" ".join(UNIT), f"UnitFileState={unit}\n")
        finding = judge(machine)["asmlib_start"]
        assert finding.status == "fail"
        # The fix names only what is wrong.
        assert ("oracleasm configure" in finding.fix) == (config != CONFIGURED)
        assert bool(finding.commands) == (unit != "enabled")

    def test_an_unknown_half_hides_no_wrong_one(self, judge):
        machine = host(V2).deny(CONFIG).command(" ".join(UNIT), "UnitFileState=disabled\n")
        finding = judge(machine)["asmlib_start"]
        assert (finding.status, finding.fix) == ("fail", "enable the unit")
        assert "Not known: configuration" in finding.why

    def test_another_quote(self, judge):
        machine = host(V2).file(CONFIG, "ORACLEASM_ENABLED='true'\n")
        assert judge(machine)["asmlib_start"].status == "pass"

    def test_a_configuration_that_cannot_be_read(self, judge):
        assert judge(host(V2).deny(CONFIG))["asmlib_start"].status == "error"


class TestAsmfd:
    def with_asmfd(self, kernel=UEK6, default=None, modules=("oracleafd",)):
        return host(None, kernel, default, modules=modules).folder("/sys/module/oracleafd")

    def test_on_a_kernel_that_supports_it(self, judge):
        finding = judge(self.with_asmfd(), "oracle_19c_rac")["asmfd"]
        assert (finding.status, finding.running) == ("pass", "loaded")

    def test_26ai(self, judge):
        finding = judge(self.with_asmfd(), "oracle_26ai_rac")["asmfd"]
        assert (finding.status, finding.failing_layer) == ("fail", None)
        assert "26ai does not support ASMFD" in finding.why

    def test_it_runs_on_a_kernel_where_oracle_disabled_it(self, judge):
        """A public RAC: 19.27 on Oracle Linux 9.5 loads it with CV_ASSUME_DISTID."""
        finding = judge(self.with_asmfd(RHCK9), "oracle_19c_rac")["asmfd"]
        assert (finding.status, finding.failing_layer) == ("warn", "running")

    def test_a_home_of_which_the_release_is_not_known(self, judge):
        machine = kernel_packs.with_home(self.with_asmfd())
        machine.command(f"sqlplus -V of {packs.HOME}", "Segmentation fault\n", rc=139)
        assert judge(machine)["asmfd"].status == "error"
        machine = self.with_asmfd(RHCK9).deny("/etc/oratab")
        finding = judge(machine, "rac_asm")["asmfd"]
        assert (finding.status, "Not known: release" in finding.why) == ("warn", True)

    def test_the_default_boot_kernel_has_no_module(self, judge):
        machine = self.with_asmfd(UEK6, RHCK9, (f"oracleafd {UEK6}",))
        finding = judge(machine, "oracle_19c_rac")["asmfd"]
        assert (finding.status, finding.failing_layer) == ("fail", "persisted")

    def test_configured_and_not_loaded(self, judge):
        machine = host(modules=()).file(AFD_CONFIG, "afd_diskstring='/dev/sd*'\n")
        finding = judge(machine, "oracle_19c_rac")["asmfd"]
        assert (finding.status, finding.running) == ("fail", "not loaded")


def test_asmlib_3_on_a_kernel_without_io_uring(judge):
    """The kernel of EL 8 is 4.18. io_uring came with 5.1."""
    findings = judge(host(V3, "4.18.0-553.el8_10.x86_64", version="8.10", modules=()))
    assert findings["asmlib_module"].status == "fail" and findings["io_uring"].status == "fail"


@cases(
    "kernel now line status",
    (RHCK9, "0", "", "fail"),
    (RHCK9, "2", "", "fail"),
    (RHCK9, None, "", "fail"),
    (RHCK9, "0", "kernel.io_uring_disabled = 0\n", "pass"),
    (RHCK9, "2", "kernel.io_uring_disabled = 0\n", "fail"),
    ("6.12.0-55.el10.x86_64", "0", "", "error"),
)
def test_io_uring_that_nothing_allows_at_boot(judge, kernel, now, line, status):
    """Kernels of Red Hat 8 have none, those of 9 start with it disabled."""
    machine = host(V3, kernel, version="9.6", modules=())
    if now is not None:
        machine.file(IO_URING, now + "\n")
    if line:
        machine.file("/etc/sysctl.d/90.conf", line)
    assert judge(machine)["io_uring"].status == status


def test_a_damaged_package_database(judge):
    machine = host(V3, UEK8, version="9.6", modules=())
    answer = machine.commands[" ".join(RPM)]
    machine.commands[" ".join(RPM)] = answer._replace(
        stdout="".join(f"package {package} is not installed\n" for package in V3),
        stderr="error: cannot open Packages database in /var/lib/rpm\n",
    )
    assert judge(machine)["asmlib_version"].status == "error"

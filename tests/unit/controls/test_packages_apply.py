"""What apply installs, what it refuses, and how revert removes it."""

import subprocess

import package_packs
import pytest
from ansible.module_utils.hostproof.collect import command
from ansible.module_utils.hostproof.collect.host import Output
from ansible.module_utils.hostproof.controls.packages import plan as plan_module
from ansible.module_utils.hostproof.controls.packages.parsers import transaction
from ansible.module_utils.hostproof.controls.packages.parsers.transaction import Transaction
from ansible.module_utils.hostproof.errors import HostproofError, ParseError
from cases import cases
from package_packs import FOLDER, host, lines_of, plan_of, recorded

APT = "apt-get --simulate --no-install-recommends install "
DNF = "dnf --assumeno --setopt=install_weak_deps=False install "
#: Made up: no host with yum 3 was at hand.
YUM7 = """
================================================================================
 Package        Arch          Version                    Repository        Size
================================================================================
Installing:
 ksh            x86_64        20120801-143.el7_9         ol7_latest       885 k
Installing for dependencies:
 a-package-with-a-long-name
                x86_64        1-1.el7                    ol7_latest       1.2 M
Updating for dependencies:
 glibc          x86_64        2.17-326.el7_9             ol7_latest       3.6 M

Transaction Summary
================================================================================
Install  1 Package (+1 Dependent package)
"""
INST = "Inst {0} ({1} Debian:12.15/oldstable [amd64])\n"


def fixture(name):
    return (FOLDER / f"{name}.txt").read_text()


def debian(*names, simulated=None, rc=0, stderr=""):
    """A recorded Debian on which a policy of the site requires packages."""
    machine = recorded("debian-12")
    text = "".join(INST.format(name, "1.0-1") for name in names)
    command = APT + " ".join(names)
    machine.commands[command] = Output(rc, text if simulated is None else simulated, stderr)
    return machine


class TestParsers:
    def test_apt(self):
        result = transaction.parse_apt(fixture("apt-get-install"))
        assert result == Transaction(("debugedit:amd64",), ("unzip:amd64",), ())

    def test_apt_upgrades(self):
        result = transaction.parse_apt(fixture("apt-get-upgrade"))
        assert result.installed == () and "libssl3:amd64" in result.upgraded

    def test_apt_removes(self):
        result = transaction.parse_apt(fixture("apt-get-remove"))
        assert "libaio1" in result.removed and result.installed == result.upgraded == ()

    @cases("line", "Inst x", "Inst x (1.0)", "Inst  (1 [amd64])")
    def test_apt_odd(self, line):
        with pytest.raises(ParseError, match="line 1"):
            transaction.parse_apt(line + "\n")

    def test_dnf(self):
        result = transaction.parse_dnf(fixture("dnf-install"))
        assert result == Transaction(
            (
                *("compat-openssl11.x86_64", "glibc-devel.x86_64", "libxcrypt-compat.x86_64"),
                *("libxcrypt.x86_64",),
                "policycoreutils-python-utils-with-a-very-long-name-that-wraps.noarch",
            ),
            (),
            (),
        )

    def test_dnf_upgrades_and_replaces(self):
        result = transaction.parse_dnf(fixture("dnf-upgrade"))
        assert result == Transaction(
            ("glibc-devel.x86_64",), ("glibc.x86_64",), ("crypto-policies.noarch",)
        )

    def test_yum_breaks_long_lines(self):
        result = transaction.parse_dnf(YUM7)
        assert result.installed == ("a-package-with-a-long-name.x86_64", "ksh.x86_64")
        assert result.upgraded == ("glibc.x86_64",)

    @cases(
        "old new",
        ("Installing:", "Conjuring:"),
        ("local          5.5 k", "local"),
        (" Package ", " Paket "),
        ("local          5.5 k", "local 5.5 k more"),
    )
    def test_dnf_odd(self, old, new):
        text = fixture("dnf-upgrade").replace(old, new)
        with pytest.raises(ParseError):
            transaction.parse_dnf(text)

    def test_zypper(self):
        result = transaction.parse_zypper(fixture("zypper-install"))
        assert result == Transaction(
            (
                *("glibc-devel.x86_64", "glibc.x86_64", "libxcrypt-compat.x86_64"),
                "libxcrypt.x86_64",
            ),
            (),
            ("crypto-policies.noarch",),
        )

    @cases("old", 'name="glibc"', 'arch="noarch"', "<install-summary")
    def test_zypper_odd(self, old):
        with pytest.raises(ParseError):
            transaction.parse_zypper(fixture("zypper-install").replace(old, ""))

    @cases("line", "Remv ", "Purg ")
    def test_apt_without_a_name(self, line):
        assert transaction.parse_apt(line).removed == ("",)

    def test_dnf_replaces_nothing(self):
        text = fixture("dnf-upgrade").replace(" crypto-policies.noarch 20240202-1.el9", "")
        assert transaction.parse_dnf(text).removed == ("",)


class TestPlan:
    def test_one_transaction_with_what_comes_along(self):
        text = INST.format("libaio1", "0.3.113-4") + INST.format("unzip", "6.0-28")
        plan = plan_of(debian("unzip", simulated=text), additional=["unzip"])
        (change,) = plan.changes
        assert plan.refusals == []
        assert change.name == "packages libaio1:amd64 unzip:amd64" and change.before == ""
        assert change.after == "installed libaio1:amd64\ninstalled unzip:amd64\n"
        assert change.make[1].argv == (
            *("apt-get", "-y", "--no-install-recommends", "install", "unzip"),
        )
        assert [undo.argv for undo in change.undo] == [
            ("dpkg", "--no-act", "--purge", "libaio1:amd64", "unzip:amd64"),
            ("dpkg", "--purge", "libaio1:amd64", "unzip:amd64"),
        ]

    def test_nothing_is_missing(self):
        assert plan_of(recorded("debian-12"), additional=["bash"]).changes == []
        assert plan_of(recorded("debian-12")).changes == []

    def test_what_was_installed_is_not_planned_again(self):
        machine = host("debian-12", [*package_packs.dpkg_lines(), "unzip\t1\tamd64\tinstalled"])
        plan = plan_of(machine, additional=["unzip"])
        assert (plan.changes, plan.refusals, plan.pending) == ([], [], [])

    def test_only_where_the_policy_says_so(self):
        plan = plan_of(recorded("debian-12"), additional=["unzip"], install=False)
        assert plan.changes == plan.refusals == []
        assert "packages_install is false" in plan.pending[0]

    def test_the_packages_must_be_absent_when_apply_begins(self):
        """Revert would remove a package that was installed after the plan was made."""
        (change,) = plan_of(debian("unzip"), additional=["unzip"]).changes
        check = change.make[0].argv
        assert check[:2] == ("sh", "-c") and check[-1] == "unzip:amd64" and "dpkg-query" in check[2]


class TestRefusals:
    def test_configuration_files_of_a_removed_package(self):
        """Revert purges the package, and would delete these files."""
        lines = [*package_packs.dpkg_lines(), "unzip\t6.0\tamd64\tconfig-files"]
        machine = host("debian-12", lines)
        machine.commands[APT + "unzip"] = Output(0, INST.format("unzip", "6.0"), "")
        refusal = self.refusal(machine)
        assert refusal.override is None
        assert "unzip:amd64" in refusal.reason and "configuration files" in refusal.reason

    def refusal(self, machine, **changes):
        (refusal,) = plan_of(machine, **{"additional": ["unzip"], **changes}).refusals
        return refusal

    def test_image_mode(self):
        refusal = self.refusal(recorded("rhel-9.4-image-mode").file("/run/ostree-booted", ""))
        assert refusal.override is None and "belong to an image" in refusal.reason

    def test_no_repository_has_it(self):
        problem = "E: Unable to locate package unzip\n"
        refusal = self.refusal(debian("unzip", simulated="", rc=100, stderr=problem))
        assert "Unable to locate package unzip" in refusal.reason
        assert "packages_excluded" in refusal.reason

    def test_a_package_that_is_left_out(self):
        refusal = self.refusal(debian("unzip", simulated=INST.format("other", "1")))
        assert "No repository has unzip" in refusal.reason

    def test_another_version_of_what_is_there(self):
        text = INST.format("unzip", "1") + "Inst libc6 [2.35] (2.36 Debian:12 [amd64])\n"
        machine = debian("unzip", simulated=text)
        refusal = self.refusal(machine)
        assert refusal.override == "upgrades" and "libc6:amd64" in refusal.reason
        plan = plan_of(machine, additional=["unzip"], upgrades=True)
        assert plan.refusals == []
        # Revert leaves what was there before.
        assert plan.changes[0].name == "packages unzip:amd64"

    def test_a_removal(self):
        text = INST.format("unzip", "1") + "Remv libssl3 [3.0]\n"
        refusal = self.refusal(debian("unzip", simulated=text))
        assert refusal.override is None and "libssl3" in refusal.reason

    def test_a_damaged_database(self):
        machine = host("rhel-9.4", [], fixture("rpm-damaged-database"), rc=1)
        with pytest.raises(HostproofError, match="damaged"):
            plan_of(machine, additional=["unzip"])


class TestRpm:
    def test_looks_and_undo(self):
        machine = host("rhel-9.4", lines_of("glibc"))
        text = fixture("dnf-install")
        machine.commands[DNF + "glibc-devel libxcrypt-compat"] = Output(1, text, "")
        (change,) = plan_of(machine, additional=["glibc-devel", "libxcrypt-compat"]).changes
        assert change.make[1].argv[:2] == ("dnf", "-y")
        assert change.before.startswith("package compat-openssl11.x86_64 is not installed\n")
        assert change.after.startswith("compat-openssl11.x86_64\n")
        # As rpm answered with and without the packages.
        for state in (change.before, change.after):
            assert command.state_of(change.look, Output(1, state, "")) == state
        assert change.undo[0].argv[-len(change.after.split()) :] == tuple(change.after.split())

    def test_only_what_is_installed_is_erased(self, tmp_path):
        """rpm -e fails for a package that is not there: an interrupted installation left it out."""
        log = tmp_path / "erased"
        rpm = tmp_path / "rpm"
        rpm.write_text(
            "#!/bin/sh\n"
            f'if [ "$1" = -e ]; then echo "$@" >> {log}; else [ "$3" != absent.x86_64 ]; fi\n'
        )
        rpm.chmod(0o755)
        environment = {"PATH": f"{tmp_path}:/usr/bin:/bin"}
        for names in (["a.x86_64", "absent.x86_64", "b.noarch"], ["absent.x86_64"]):
            argv = ["sh", "-c", plan_module._ERASE, "sh", *names]
            subprocess.run(argv, env=environment, check=True, timeout=60)
        assert log.read_text() == "-e a.x86_64 b.noarch\n"

    @cases("release program", ("rhel-9.4", "dnf"), ("centos-7", "yum"))
    def test_a_package_manager_that_fails(self, release, program):
        machine = host(release, lines_of("glibc"))
        command = f"{program} --assumeno install unzip"
        command = DNF + "unzip" if program == "dnf" else command
        problem = "Error: Unable to find a match: unzip\n"
        machine.commands[command] = Output(1, "No match for argument: unzip\n", problem)
        (refusal,) = plan_of(machine, additional=["unzip"]).refusals
        assert f"{program}: Error: Unable to find a match: unzip" in refusal.reason


def test_suse_uses_zypper():
    machine = host("rhel-9.4", lines_of("glibc"))
    text = 'ID="sles"\nVERSION_ID="15.5"\nPRETTY_NAME="SUSE Linux Enterprise Server 15 SP5"\n'
    machine.file("/etc/os-release", text)
    zypper = "zypper --non-interactive --xmlout install --no-recommends --dry-run libxcrypt-compat"
    machine.commands[zypper] = Output(0, fixture("zypper-install"), "")
    plan = plan_of(machine, additional=["libxcrypt-compat"], upgrades=True)
    assert plan.changes[0].make[1].argv[0] == "zypper"
    assert "crypto-policies" in " ".join(refusal.reason for refusal in plan.refusals)


def test_the_advice_is_apply_where_apply_would_install():
    line = ("./hostproof apply --tags packages",)
    policy = {"additional": ["unzip"], "install": True}
    assert package_packs.judged(debian("unzip"), **policy)["site"].commands == line
    refused = debian("unzip", simulated=INST.format("other", "1"))
    finding = package_packs.judged(refused, **policy)["site"]
    assert finding.commands == () and "No repository has unzip" in finding.fix
    finding = package_packs.judged(debian("unzip"), additional=["unzip"])["site"]
    assert finding.commands == ("apt-get install -y unzip",)

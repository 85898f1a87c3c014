"""Hosts with recorded package lists, as the control packages reads them."""

import re
from typing import Any

import packs
import platform_packs
from ansible.module_utils.hostproof.apply.change import Plan
from ansible.module_utils.hostproof.collect.host import Output
from ansible.module_utils.hostproof.controls.packages.control import CONTROL as packages
from ansible.module_utils.hostproof.controls.registry import planner
from ansible.module_utils.hostproof.evaluate import audit
from ansible.module_utils.hostproof.evaluate.finding import Finding
from ansible.module_utils.hostproof.probes.unix.package_database import DPKG, RPM
from default_policies import changed_policy

FOLDER = packs.FIXTURES / "packages"
RPM_COMMAND, DPKG_COMMAND = " ".join(RPM), " ".join(DPKG)
_NEVRA = re.compile(r"(.+)-([^-]+-[^-]+)\.([^.]+)\Z")


def rpm_lines(name: str) -> list[str]:
    """A recorded list in the form that rpm is asked for."""
    lines = (FOLDER / f"rpm-{name}.txt").read_text().splitlines()
    matches = [_NEVRA.match(line) for line in lines]
    return ["\t".join([*match.groups(), "installed"]) for match in matches if match]


def dpkg_lines(name: str = "debian-12") -> list[str]:
    lines = (FOLDER / f"dpkg-{name}.txt").read_text().splitlines()
    pairs = [line.split("\t") for line in lines]
    return [f"{name.partition(':')[0]}\t{version}\tamd64\tinstalled" for name, version in pairs]


def lines_of(*names: str, architecture: str = "x86_64", version: str = "999-1") -> list[str]:
    """Packages that are made up for a test."""
    return [f"{name}\t{version}\t{architecture}\tinstalled" for name in names]


def host(release: str, lines: list[str], stderr: str = "", rc: int = 0) -> packs.Machine:
    """Nothing of Oracle is on it."""
    machine = platform_packs.supported(packs.linux(), release)
    machine.file("/proc/sys/kernel/osrelease", "5.14.0-427.13.1.el9_4.x86_64\n")
    machine.command("date +%s %z", f"{platform_packs.NOW} +0000\n")
    command = DPKG_COMMAND if release.startswith("debian") else RPM_COMMAND
    machine.commands[command] = Output(rc, "".join(f"{line}\n" for line in lines), stderr)
    return machine


def recorded(name: str) -> packs.Machine:
    if name.startswith("debian"):
        return host(name, dpkg_lines(name))
    return host({"centos-7.9": "centos-7"}.get(name, name), rpm_lines(name))


def judged(machine: packs.Machine, **changes: Any) -> dict[str, Finding]:
    """Findings by their checks, without the control's name; the first of each."""
    findings = audit.judge_host(machine, {"packages": changed_policy("packages", **changes)})
    return {finding.check.partition(".")[2]: finding for finding in reversed(findings)}


def plan_of(machine: packs.Machine, **changes: Any) -> Plan:
    policy = packages.policy_from(changed_policy("packages", **{"install": True, **changes}))
    return planner("packages")(packages.read(machine, policy), policy)

# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks from CVU and ORAchk that are not in the books: page size, SELinux, default target."""

from typing import Dict, Optional, Tuple

from ...collect.answer import Answer, known, unless_absent
from ...collect.host import Stat
from ...errors import Absent, HostproofError, Unanswered
from ...evaluate.advice import Advice, Ask, Edit, Run, Step, Wait
from ...evaluate.checking import Layer, Rules, Skip, Verdict, known_or_skip, layered
from ...evaluate.finding import FAIL, PASS, WARN, status_for
from ...parsers.unix.distribution import clean
from .facts import (
    ACTIVE_TARGETS,
    CMDLINE,
    DEFAULT_TARGET,
    ENFORCE,
    REMOTE_COPY,
    SELINUX,
    SPECTRE,
    UNAME,
    Facts,
)
from .policy import NAME, Policy

rules: Rules[Facts, Policy] = Rules(NAME)

_PAGE = 4096
_ANYBODY = 0o001
_MODES = {0: "permissive", 1: "enforcing"}
#: run levels 3 and 5, by their names of systemd and of System V.
_TARGETS = ("multi-user.target", "graphical.target", "runlevel3.target", "runlevel5.target")


@rules.check(
    "platform.page_size",
    "The kernel has pages of 4 KiB",
    "Kernel has pages of another size than 4 KiB",
    severity="medium",
    takes_effect="reboot",
    why="All listed platforms have pages of 4 KiB. Kernels with larger pages exist on ARM, and no "
    "book lists them.",
    reference="Oracle Database installation guides for Linux (supported_systems.py); getconf(1)",
)
def page_size(facts: Facts, _policy: Policy) -> Verdict:
    size = known(facts.page_size)
    return Verdict(
        PASS if size == _PAGE else WARN,
        f"The pages of this kernel have {size} bytes, which is not a listed size.",
        advice=Advice(
            [Ask("install a kernel with pages of 4 KiB, make it the default, and reboot")]
        ),
        desired=f"{_PAGE} bytes",
        running=f"{size} bytes, {clean(known(facts.architecture))}",
        values={"running": size, "unit": "bytes"},
        evidence=["command:getconf PAGESIZE", "command:" + " ".join(UNAME)],
    )


@rules.check(
    "platform.selinux",
    "SELinux has the required mode now and after reboot",
    "SELinux mode is not the required one, or changes at reboot",
    severity="medium",
    takes_effect="reboot",
    why="What was installed and tested in one mode can fail in the other after a reboot. ORAchk "
    "reports the mode, CVU does not check it.",
    reference="selinux(8); /etc/selinux/config; ORAchk, SELinux status",
)
def selinux(facts: Facts, policy: Policy) -> Verdict:
    if isinstance(facts.enforce, Absent) and isinstance(facts.selinux, Absent):
        raise Skip(f"This host has neither {ENFORCE} nor {SELINUX}.")
    enforce = unless_absent(facts.enforce, None)
    if enforce is not None and enforce not in _MODES:
        raise Unanswered("file:" + ENFORCE, f"{ENFORCE} holds {enforce}, which is not 0 or 1")
    running = "disabled" if enforce is None else _MODES[enforce]
    persisted = _selinux_at_boot(facts)
    expected = policy.selinux or running
    why = f"SELinux is {running} now, and {persisted} after a reboot"
    why += f", and must be {policy.selinux}." if policy.selinux else "."
    later, now = _selinux_steps(running, expected, dict(known(facts.cmdline)))
    return layered(
        persisted=Layer(persisted, status_for((), persisted != expected)),
        running=Layer(running, status_for((), running != expected)),
        why=why,
        advice=Advice(
            both=[later] if later == now else [later, now], persisted=[later], running=[now]
        ),
        desired=policy.selinux,
        evidence=["file:" + ENFORCE, "file:" + SELINUX, "file:" + CMDLINE],
    )


def _selinux_steps(
    running: str, expected: str, options: Dict[str, Optional[str]]
) -> Tuple[Step, Step]:
    """The step for the mode after a reboot, and that for the mode now."""
    if running == "disabled" and expected == "enforcing":
        # Files that were written without labels keep services from starting.
        relabel = Ask(
            f"reboot once with SELINUX=permissive in {SELINUX} and the file /.autorelabel; set "
            "enforcing when the log shows no denials of Oracle's programs"
        )
        return relabel, relabel
    place = f"SELINUX={expected} in {SELINUX}"
    if options.get("selinux") == "0" or "enforcing" in options:
        place += ", and remove selinux= and enforcing= from the kernel command line"
    later = Edit(SELINUX, what=f"set {place}")
    if "disabled" in (running, expected):
        return later, Wait("reboot")
    return later, Ask(f"switch the mode now (setenforce {int(expected == 'enforcing')})")


def _selinux_at_boot(facts: Facts) -> str:
    """Mode on the current kernel command line, which a reboot usually keeps, or in the file."""
    options = dict(known(facts.cmdline))
    if options.get("selinux") == "0":
        return "disabled"
    mode: Optional[str] = unless_absent(facts.selinux, None)
    if mode != "disabled" and options.get("enforcing") in ("0", "1"):
        return _MODES[int(str(options["enforcing"]))]
    if mode not in ("enforcing", "permissive", "disabled"):
        raise Unanswered("file:" + SELINUX, f"{SELINUX} does not set a valid mode")
    return str(mode)


@rules.check(
    "platform.run_level",
    "The system starts in run level 3 or 5",
    "System does not start in run level 3 or 5",
    severity="medium",
    takes_effect="reboot",
    why="Databases and Clusterware are started by these run levels only; CVU rejects any other.",
    reference="systemd.special(7); Cluster Verification Utility, Run Level",
)
def run_level(facts: Facts, _policy: Policy) -> Verdict:
    target = facts.target
    if isinstance(target, Absent):
        known_or_skip(target)
    is_wrong_later = isinstance(target, str) and clean(target) not in _TARGETS
    active = facts.active
    problems = []
    if is_wrong_later:
        problems.append(f"the default target is {clean(str(target))}")
    if active == []:
        problems.append("neither multi-user.target nor graphical.target is active")
    default = Run("systemctl", "set-default", "multi-user.target", text="set the default target")
    return layered(
        persisted=Layer(
            clean(target) if isinstance(target, str) else target,
            FAIL if is_wrong_later else PASS,
            "default target",
        ),
        running=Layer(
            active if isinstance(active, HostproofError) else ", ".join(active) or "neither",
            FAIL if active == [] else PASS,
            "active targets",
        ),
        why=f"{' and '.join(problems).capitalize()}.",
        advice=Advice(
            both=[default, Wait("reboot")], persisted=[default], running=[Wait("reboot")]
        ),
        desired="multi-user.target or graphical.target",
        evidence=["command:" + " ".join(DEFAULT_TARGET), "command:" + " ".join(ACTIVE_TARGETS)],
    )


@rules.check(
    "platform.retpoline",
    "The kernel mitigates Spectre v2 (retpoline)",
    "Kernel does not mitigate Spectre v2 (retpoline)",
    severity="low",
    takes_effect="reboot",
    why="A process can read memory of the instance, such as keys and passwords. Such a kernel was "
    "built without retpoline or started with the mitigation off.",
    reference="Cluster Verification Utility, Kernel retpoline support; kernel "
    "Documentation/admin-guide/hw-vuln/spectre.rst",
)
def retpoline(facts: Facts, _policy: Policy) -> Verdict:
    if isinstance(facts.spectre, Absent):
        raise Skip("The kernel does not show its mitigations.")
    state = clean(known(facts.spectre))
    if not state.startswith(("Not affected", "Mitigation", "Vulnerable")):
        raise Unanswered("file:" + SPECTRE, f"{SPECTRE} holds no known state")
    return Verdict(
        WARN if state.startswith("Vulnerable") else PASS,
        f"The kernel shows: {state}.",
        advice=Advice(
            [
                Ask(
                    "remove mitigations=off, nospectre_v2 and spectre_v2=off from the kernel "
                    "command line if it has them; otherwise install a kernel with retpoline"
                ),
                Wait("reboot"),
            ]
        ),
        desired="Mitigation, or Not affected",
        running=state,
        evidence=["file:" + SPECTRE],
    )


@rules.check(
    "platform.remote_copy",
    "ssh and scp are installed and executable",
    "ssh or scp is missing or not executable",
    severity="high",
    takes_effect="now",
    why="The installer of Clusterware runs commands on the other nodes with ssh, and copies the "
    "software to them with scp.",
    reference="Cluster Verification Utility, SCP binary check; PRVF-00046",
)
def remote_copy(facts: Facts, policy: Policy) -> Verdict:
    if policy.profile is None or not policy.profile.cluster:
        raise Skip("hostproof_profile names no cluster.")
    missing = [path for path, stat in facts.remote_copy.items() if not _is_executable(stat)]
    return Verdict(
        FAIL if missing else PASS,
        f"{' and '.join(missing)} cannot be executed by every account.",
        advice=Advice(
            [
                Ask(
                    f"install the client of OpenSSH that has {' and '.join(missing)} (RHEL, Oracle "
                    "Linux and SUSE: openssh-clients; Debian: openssh-client), and give a program "
                    "that is there mode 0755"
                )
            ]
        ),
        desired="executable by every account",
        persisted=f"{' and '.join(missing)} not executable" if missing else "both are executable",
        evidence=["stat:" + path for path in REMOTE_COPY],
    )


def _is_executable(program: Answer[Stat]) -> bool:
    stat = unless_absent(program, None)
    return stat is not None and bool(stat.mode & _ANYBODY)

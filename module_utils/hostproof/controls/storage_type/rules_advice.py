# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks of the storage vendor's recommendations: mount options and flow control of ports."""

from typing import List, Tuple

from ...collect.answer import known
from ...errors import Absent, HostproofError
from ...evaluate.advice import Advice, Ask
from ...evaluate.checking import Rules, Skip, Verdict, undetermined
from ...evaluate.finding import FAIL, PASS, WARN
from ...probes.nfs import nfs_mounted, storage_advice
from .facts import Facts, Server
from .policy import NAME, Policy
from .subjects import SERVERS, health_of, need_answer

rules: Rules[Facts, Policy] = Rules(NAME)


@rules.check(
    "storage_type.mount_options",
    "Mount options follow the storage vendor's advice",
    "Mount options differ from the storage vendor's advice",
    severity="medium",
    takes_effect="remount",
    why="The vendor recommends these options for every mount of this storage. nfs_mounts "
    "checks the options that depend on the files.",
    reference="docs/controls/storage_type.md, Advice of vendors",
    each=SERVERS,
    because_of=("storage_type.agent_answers",),
)
def mount_options(server: Server, _facts: Facts, _policy: Policy) -> Verdict:
    need_answer(server)
    if not server.mounts:
        raise Skip("This host has no mounts from this server.")
    advice = storage_advice.advice_of(server.storage.product)
    if advice is None or not advice.requirements:
        raise Skip(
            f"No vendor advice for mounts of {server.storage.title} is known: see nfs_mounts."
        )
    unlike, paths, small = _differences(advice, server)
    best = max(requirement.least for requirement in advice.requirements)
    transfers = storage_advice.judge_transfers(small, best)
    return Verdict(
        (FAIL if transfers.refused else WARN) if unlike else PASS,
        why=f"The storage is {server.storage.title}, and {len(unlike)} of its "
        f"{len(server.mounts)} mounts differ from the vendor's advice.{transfers.why}",
        advice=Advice(
            [
                # A mount made before the server grants more would stay small.
                *([Ask(f"if the mounts request more: {transfers.fix}")] if transfers.fix else []),
                Ask(
                    "set what differs in the options of {0} in nfs_mounts_mounts (or fstab); "
                    "nfs_mounts knows the options that the files need".format(", ".join(paths))
                ),
                Ask(f"stop what uses {' and '.join(paths)}, unmount and mount again"),
            ]
        ),
        desired=", ".join(requirement.text for requirement in advice.requirements),
        running="; ".join(unlike) or f"as desired on {len(server.mounts)} mounts",
        evidence=server.storage.evidence[:1] + ("file:" + nfs_mounted.MOUNTINFO,),
        reference=advice.source,
    )


def _differences(
    advice: storage_advice.Advice, server: Server
) -> Tuple[List[str], List[str], List[int]]:
    """(differences of mounts, their paths, small transfers). Raises what is unknown if no known
    mount differs."""
    unlike: List[str] = []
    paths: List[str] = []
    small: List[int] = []
    unknown: List[HostproofError] = []
    for mount in server.mounts:
        if isinstance(mount.settings, HostproofError):
            unknown.append(mount.settings)
            continue
        other = storage_advice.contradictions(advice, mount.settings)
        if other:
            unlike.append("{0}: {1}".format(mount.path, ", ".join(other)))
            paths.append(mount.path)
        small += storage_advice.small_transfers(advice, mount.settings)
    if unknown and not unlike:
        raise unknown[0]
    return unlike, paths, small


_ONTAP = "network port modify -node NODE -port PORT -flowcontrol-admin none"
#: How flow control is disabled, by product.
_PORT_COMMANDS = {
    "ONTAP": _ONTAP,
    "ThinkSystem DM": _ONTAP,
    "Data ONTAP 7-Mode": "ifconfig PORT flowcontrol none (and in /etc/rc)",
    "N series": "ifconfig PORT flowcontrol none (and in /etc/rc)",
}


@rules.check(
    "storage_type.flow_control",
    "Storage ports do not obey PAUSE frames",
    "Storage ports obey PAUSE frames",
    severity="medium",
    takes_effect="now",
    why="One slow host can pause the port for all other hosts.",
    reference="NetApp, Oracle Database on ONTAP: Ethernet, flow control",
    each=SERVERS,
    because_of=("storage_type.agent_answers",),
)
def flow_control(server: Server, _facts: Facts, _policy: Policy) -> Verdict:
    health = health_of(server)
    advice = storage_advice.advice_of(server.storage.product)
    if isinstance(health.ports, Absent):
        text = "; " + advice.flow_control if advice is not None else ""
        raise Skip(f"{health.ports}{text}.")
    ports = known(health.ports)
    obeying = sorted(name for name, state in ports.found.items() if state in ("receive", "full"))
    unknown = sorted(name for name, state in ports.found.items() if not state)
    verdict = Verdict(PASS)
    if obeying:
        why = "{0} of {1} ports obey PAUSE frames ({2}).".format(
            len(obeying), len(ports.found), ", ".join(obeying[:5])
        )
        verdict = Verdict(WARN, why)
    elif unknown:
        names = ", ".join(unknown[:5])
        verdict = undetermined(
            HostproofError(f"the agent does not report the flow control of {names}")
        )
    steps = [Ask(f"read the flow control of {', '.join(unknown[:5])} on the storage itself")]
    if obeying:
        how = _PORT_COMMANDS.get(server.storage.product or "", "the management of the storage")
        steps = [
            Ask(
                f"disable it for {', '.join(obeying[:5])}, one port after the other because the "
                f"link goes down for a moment, with {how}"
            ),
            Ask("disable it on the switch ports too; flow_control checks the host"),
        ]
    return verdict._replace(
        advice=Advice(steps),
        desired="none or send",
        running=", ".join(
            "{0} {1}".format(name, state or "unknown")
            for name, state in sorted(ports.found.items())[:20]
        ),
        evidence=ports.evidence,
    )

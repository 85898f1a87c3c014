# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The transfer sizes: what was required, and what the server granted."""

from typing import Dict, List, NamedTuple, Optional

from ...collect.answer import if_known, known
from ...errors import Unanswered
from ...evaluate.advice import Advice, Ask, Step
from ...evaluate.checking import Layer, Rules, Subjects, Verdict, layered
from ...evaluate.finding import FAIL, PASS, SKIP, WARN, worst
from ...parsers.nfs import nfs_options
from ...parsers.nfs.nfs_options import LINUX
from ...parsers.size import human
from ...probes.nfs import storage_advice
from .agreement import SIZES, contradictions, differences
from .facts import Facts
from .mount_fixes import remade, remount_step, verdict_on
from .mount_layers import Layers, persisted_answer, required, running_words, seen_in
from .options_table import EXACTLY, Requirement
from .policy import NAME, Policy
from .servers import Servers, granted_by_server, lowered, mounts_alike, size_of
from .subjects import MOUNTS, NETAPP, NFS_5, judged_layers, say_guess

rules: Rules[Facts, Policy] = Rules(NAME)

SMALLEST = nfs_options.LEAST_TRANSFER
#: The kernel rounds a requested size down to whole pages.
_PAGE = 4096


class _Sized(NamedTuple):
    """A mount, and what the servers of all mounts granted."""

    layers: Layers
    servers: Servers


def _sized(facts: Facts, policy: Policy) -> List[_Sized]:
    servers = granted_by_server(facts)
    return [_Sized(layers, servers) for layers in judged_layers(facts, policy)]


SIZED = Subjects(
    _sized,
    none=MOUNTS.none,
    name=lambda sized: str(sized.layers.path),
    finish=lambda finding, sized: say_guess(finding, sized.layers),
)


class _Size(NamedTuple):
    """``short`` is what was queried of the server, if that is more than it granted."""

    name: str
    granted: int
    wanted: int
    short: Optional[int]
    status: str


@rules.check(
    "nfs_mounts.transfer_size",
    "Server grants the requested transfer size",
    "Transfer size in use is smaller than requested",
    severity="high",
    takes_effect="remount",
    why="I/O is split into more and smaller requests. Oracle rejects less than 32 KiB (ORA-27054).",
    reference=NFS_5 + ", rsize and wsize; " + NETAPP + ", NFS transfer sizes",
    each=SIZED,
)
def transfer_size(sized: _Sized, _facts: Facts, policy: Policy) -> Verdict:
    layers = sized.layers
    running = layers.granted
    requirements = {
        requirement.name: requirement
        for requirement in layers.requirements
        if requirement.name in SIZES
    }
    desired = required(requirements.values())
    below = contradictions(requirements.values(), running)
    if layers.system != LINUX and not below:
        return verdict_on(
            layers,
            SKIP,
            SIZES,
            why=f"mount of {layers.system} shows what was requested; what the server granted "
            f"shows only: nfsstat -m {layers.path}",
            desired=desired,
            running=running_words(layers, SIZES) + " (asked)",
        )
    requested = (if_known(layers.requested, None) if below else known(layers.requested)) or {}
    sizes = [_size(requirements[name], running, requested, layers) for name in SIZES]
    short = any(size.short is not None for size in sizes)
    older = short and _is_older_than_requested(layers, requested, sized.servers)
    status = worst([size.status for size in sizes])
    steps = _raised(layers, sizes, policy) if short and not older else remade(layers)
    granted = {name: size.granted for name, size in zip(SIZES, sizes)}
    is_wrong_later = bool(contradictions(requirements.values(), requested))
    return layered(
        persisted=Layer(persisted_answer(layers, SIZES), status if is_wrong_later else PASS),
        running=Layer(running_words(layers, SIZES), status),
        why=_why(sizes, status, older, policy),
        advice=Advice(both=steps, running=steps),
        desired=desired,
        values=dict(granted, unit="bytes"),
        evidence=layers.evidence(),
    )


def _why(sizes: List[_Size], status: str, older: bool, policy: Policy) -> str:
    parts = [_sentence(size, older) for size in sizes if size.status != PASS]
    least = min(size.granted for size in sizes)
    if least < SMALLEST:
        parts.append("Oracle rejects files with less than 32 KiB (ORA-27054).")
    elif status == WARN and least < policy.transfer_size:
        parts.append(storage_advice.cost_of(least, policy.transfer_size))
    return " ".join(parts)


def _raised(layers: Layers, sizes: List[_Size], policy: Policy) -> List[Step]:
    """First the server, then the mount: its commands alone would change nothing."""
    # What the server grants now can be more than the policy requires.
    most = max(policy.transfer_size, *(size.short or 0 for size in sizes))
    return [Ask(storage_advice.raise_the_server(most)), Ask(remount_step(layers).text)]


def _size(
    requirement: Requirement, running: Dict[str, str], requested: Dict[str, str], layers: Layers
) -> _Size:
    granted, expected = size_of(running, requirement.name), int(requirement.value)
    if granted is None:
        raise Unanswered(
            seen_in(layers.system), f"the kernel shows no {requirement.name} for {layers.path}"
        )
    size = size_of(requested, requirement.name)
    is_short = size is not None and granted < size - size % _PAGE
    is_other = requirement.relation == EXACTLY and granted != expected
    status = WARN if is_short or granted < expected else PASS
    if granted < SMALLEST or is_other:
        status = FAIL
    return _Size(requirement.name, granted, expected, size if is_short else None, status)


def _sentence(size: _Size, older: bool) -> str:
    granted = human(size.granted)
    if size.short is not None and older:
        return f"{size.name}: mounted with {granted}, before {human(size.short)} was requested."
    if size.short is not None:
        return f"{size.name}: {human(size.short)} asked, the server grants {granted}."
    return f"{size.name}: mounted with {granted}, wanted is {human(size.wanted)}."


def _is_older_than_requested(layers: Layers, requested: Dict[str, str], servers: Servers) -> bool:
    """Whether the mount was made before its sizes were requested: they show no limit of the server.

    Then it differs in other settings too, or the server grants the sizes to a younger mount.
    """
    if layers.sharing:
        # Its settings are those of the first mount of its superblock.
        return False
    written = if_known(layers.written, None) or {}
    if set(differences(written, requested, layers.granted, layers.system)).difference(SIZES):
        return True
    own, alike = mounts_alike(layers.mount, servers)
    return own.age is not None and any(
        other.age is not None
        and other.age < own.age
        and all((other.sizes[name] or 0) >= (size_of(requested, name) or 0) for name in SIZES)
        for other in alike
    )


@rules.check(
    "nfs_mounts.transfer_size_lowered",
    "Server transfer size was not reduced below that of a mount",
    "Server transfer size was reduced below that of a mount",
    severity="critical",
    takes_effect="remount",
    why="The older mount can hang or corrupt data.",
    reference=NETAPP + ", NFS transfer sizes",
    each=SIZED,
)
def transfer_size_lowered(sized: _Sized, _facts: Facts, _policy: Policy) -> Verdict:
    """Whether a younger mount of the server got less, which puts an older one in danger."""
    result = lowered(sized.layers, sized.servers)
    return Verdict(
        result.status,
        why=result.words,
        advice=Advice(
            [
                Ask(
                    "put the server's maximum back to "
                    f"{max(result.own.sizes[name] or 0 for name in SIZES)} at once (ONTAP: vserver "
                    "nfs modify -tcp-max-xfer-size, which holds for every client of the SVM), or "
                    + remount_step(sized.layers).text
                )
            ]
        ),
        desired="no younger mount of the server gets less",
        running=str(result.own),
        in_use="; ".join(f"{other.path} {other}" for other in result.others[:4]),
        evidence=sized.layers.evidence(),
    )

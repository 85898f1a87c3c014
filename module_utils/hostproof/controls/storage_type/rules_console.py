# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks of read-ahead and aggregate space, from saved output of a filer."""

from typing import Dict, List, Optional

from ...collect.answer import if_known, known
from ...errors import Unanswered
from ...evaluate.advice import Advice, Ask
from ...evaluate.checking import Rules, Skip, Verdict
from ...evaluate.finding import FAIL, PASS, WARN
from .facts import Facts
from .policy import NAME, Policy
from .rules_layout import is_fragmented
from .rules_space import CAPACITY, limits_of, media_at, use_text
from .snmp import storage_rules
from .subjects import OUTPUTS, Output

rules: Rules[Facts, Policy] = Rules(NAME)

#: Values of read_realloc that reallocate blocks after sequential reads.
_REALLOCATES = ("on", "space_optimized")


@rules.check(
    "storage_type.read_ahead",
    "Volumes of the filer read ahead",
    "A volume of the filer reads ahead too little",
    severity="medium",
    takes_effect="now",
    why="With minra=on the filer reads ahead as little as possible, and full scans and backups are "
    "slow. Without read_realloc a fragmented volume stays fragmented.",
    reference="WAFL performance VS sequential reads, parts I and III (2011); Data ONTAP 7-Mode, "
    "na_vol(1)",
    each=OUTPUTS,
)
def read_ahead(output: Output, facts: Facts, policy: Policy) -> Verdict:
    entry, console = output[0], known(output[1])
    key = "file:" + entry.file
    if not console.volumes:
        raise Skip(f"{entry.file} has no output of vol options VOLUME.", [key])
    options = console.volumes
    missing = [volume for volume in options if "minra" not in options[volume]]
    minimal = [volume for volume in options if options[volume].get("minra", "off") != "off"]
    media = media_at(entry.address, facts, policy)
    scattered: List[str] = []
    if media != storage_rules.SSD:
        scattered = _fragmented(options, entry.address, facts)
    if scattered and not media and not minimal:
        raise Unanswered(
            key,
            "storage_type_media does not define the media of {0}, and the filer measured "
            "fragmentation in {1}".format(entry.address, ", ".join(scattered[:5])),
        )
    if missing and not minimal and not scattered:
        raise Unanswered(key, "vol options does not print minra for " + ", ".join(missing[:5]))
    why = _why_slow(minimal, scattered)
    return Verdict(
        WARN if why else PASS,
        why=why,
        advice=_advice(minimal, scattered),
        desired="minra=off; read_realloc=on where the filer measured fragmentation",
        running=", ".join(
            "{0}: minra={1}, read_realloc={2}".format(
                volume,
                options[volume].get("minra", "unknown"),
                options[volume].get("read_realloc", "-"),
            )
            for volume in list(options)[:5]
        ),
    )


def _why_slow(minimal: List[str], scattered: List[str]) -> Optional[str]:
    reasons = []
    if minimal:
        reasons.append("minra is on for {0}.".format(", ".join(minimal[:5])))
    if scattered:
        reasons.append(
            "The filer measured fragmentation (storage_type.layout), and read_realloc is off for "
            "{0}.".format(", ".join(scattered[:5]))
        )
    return " ".join(reasons) or None


def _advice(minimal: List[str], scattered: List[str]) -> Advice:
    commands = [f"vol options {volume} minra off" for volume in minimal[:5]]
    commands += [f"vol options {volume} read_realloc on" for volume in scattered[:5]]
    return Advice([Ask("on the filer: " + "; ".join(commands))])


def _fragmented(options: Dict[str, Dict[str, str]], address: str, facts: Facts) -> List[str]:
    """The volumes in which the filer measured fragmentation, and reads do not remove it."""
    paths = [
        layout.path + "/"
        for log, layouts in facts.layouts
        if log.address == address
        for layout in if_known(layouts, [])
        if is_fragmented(layout)
    ]
    return [
        volume
        for volume in options
        if options[volume].get("read_realloc") not in _REALLOCATES
        and any(path.startswith(f"/vol/{volume}/") for path in paths)
    ]


@rules.check(
    "storage_type.aggregates",
    "Aggregates of the filer have free space",
    "An aggregate of the filer is too full",
    severity="high",
    takes_effect="now",
    why="Disks slow down as their aggregate fills, whether the volumes in it are full or not.",
    reference=CAPACITY,
    each=OUTPUTS,
)
def aggregates(output: Output, facts: Facts, policy: Policy) -> Verdict:
    entry, console = output[0], known(output[1])
    if not console.aggregates:
        raise Skip(
            f"{entry.file} has no output of df -Ag or storage aggregate show.",
            ["file:" + entry.file],
        )
    limits = limits_of(media_at(entry.address, facts, policy), policy)
    fullest = sorted(console.aggregates, key=lambda aggregate: -aggregate.percent)
    full = [aggregate for aggregate in fullest if aggregate.percent >= limits.warn]
    is_critical = fullest[0].percent >= limits.critical
    return Verdict(
        (FAIL if is_critical else WARN) if full else PASS,
        why="{0} at {1} percent or more ({2}).".format(
            ", ".join(aggregate.name for aggregate in full[:5]), limits.warn, limits.text
        )
        if full
        else None,
        advice=Advice(
            [
                Ask(
                    "add disks to {0}, or move volumes to another aggregate".format(
                        ", ".join(aggregate.name for aggregate in full[:5])
                    )
                )
            ]
        ),
        desired="below {0} percent, {1} at most ({2})".format(*limits),
        running=", ".join(use_text(aggregate) for aggregate in fullest[:5]),
        values={"fullest": fullest[0].percent, "unit": "percent"},
    )

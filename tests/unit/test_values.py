"""Findings of checks that compare a number have it in ``values``, on every recorded pack."""

import re
from collections.abc import Iterator

import example_packs
from ansible.module_utils.hostproof.collect import evidence
from ansible.module_utils.hostproof.collect.host import RecordedHost
from ansible.module_utils.hostproof.controls.registry import NAMES
from ansible.module_utils.hostproof.evaluate import audit
from ansible.module_utils.hostproof.evaluate.finding import FAIL, PASS, WARN, Finding
from default_policies import default_policy
from recorded_packs import EXAMPLES, PACKS, controls_of

#: A limit with its number ("at least 4 GiB"), a number with its unit ("2.0 MiB", "x8"), or what it
#: is of ("maxpout=33").
COMPARED = re.compile(
    r"\b(?:at least|at most|below|above|within|about|exactly|from)\b[^,;]*?\b\d"
    r"|^(?:x|rx )?\d[\d,]*(?:\.\d+)?(?=[ %]|$)"
    r"|^\w+ ?= ?\d"
)
#: A number in a layer, and no part of a path, an address, a name or a line.
NUMBER = re.compile(r"(?<![\w./:-])\d+(?:\.\d+)?(?![\w.]*[/:-]|\.\d)")

#: Check id to the reason why its number is not in ``values``.
NOT_AMOUNTS = {
    "accounts.umask": "a mask of bits, as octal text",
    "hugepages.shm_group": "the id of a group",
    "nfs_mounts.options_persisted": "mount options, as text",
    "space.hidepid": "a mode, as the mount option names it",
}


def findings() -> Iterator[Finding]:
    defaults = {name: default_policy(name, secrets=True) for name in NAMES}
    for path in PACKS:
        policies = example_packs.policies() if path in EXAMPLES else defaults
        chosen = {name: policies[name] for name in controls_of(path) if name in policies}
        yield from audit.judge_host(RecordedHost(*evidence.open_pack(str(path))), chosen)


def compares_a_number(finding: Finding) -> bool:
    layers = (finding.persisted, finding.running, finding.in_use)
    return (
        finding.status in (PASS, WARN, FAIL)
        and COMPARED.search(finding.desired or "") is not None
        and any(NUMBER.search(layer) for layer in layers if layer is not None)
    )


def test_what_compares_a_number_has_it_in_values():
    """So that diff, history and --query compare numbers and not texts."""
    judged: set[str] = set()
    without: set[str] = set()
    for finding in findings():
        if compares_a_number(finding):
            judged.add(finding.check)
            if not any(isinstance(x, int | float) for x in (finding.values or {}).values()):
                without.add(finding.check)
    assert len(judged) > 50
    assert without == set(NOT_AMOUNTS)

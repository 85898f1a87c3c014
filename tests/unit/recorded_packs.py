"""Every evidence pack of this repository, and the controls that its readings are of."""

from collections.abc import Iterable
from pathlib import Path

import packs
from ansible.module_utils.hostproof.controls.registry import NAMES

EXAMPLES = sorted((packs.ROOT / "docs/examples/evidence").glob("*.json"))
#: Without those of releases, which are earlier states of the examples.
RECORDED = sorted(
    path
    for path in packs.FIXTURES.rglob("*.json")
    if "released_packs" not in path.parts and b'"readings"' in path.read_bytes()[:100_000]
)
PACKS = EXAMPLES + RECORDED


def controls_of(path: Path) -> Iterable[str]:
    """A host of docs/seeds.md has the readings of the control in its name; another pack of any."""
    return (path.stem.split("-")[1],) if path.parent.name == "seed_hosts" else NAMES

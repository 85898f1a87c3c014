"""Mutated evidence packs to the judges: findings, and no control's crash, within a second."""

import json
import random
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import example_packs  # type: ignore[import-not-found]
import packs  # type: ignore[import-not-found]
import seed_packs  # type: ignore[import-not-found]
from ansible.module_utils.hostproof.collect import evidence
from ansible.module_utils.hostproof.collect.host import RecordedHost
from ansible.module_utils.hostproof.errors import HostproofError
from ansible.module_utils.hostproof.evaluate import audit

from fuzz import Hung, cut_off
from fuzz.mutation import LEAVES, changed_tree, mutated

Readings = dict[str, dict[str, Any]]

#: Seconds of processor time that the judging of one pack may take.
MOST_SECONDS = 1.0
FOLDERS = (example_packs.FOLDER, seed_packs.FOLDER)
#: Of so many packs one is judged by all controls, the others by one that read what was changed.
_WHOLE = 25


class Pack(NamedTuple):
    """``read_by`` are the controls that ask for a key, by their policies."""

    name: str
    readings: Readings
    policies: dict[str, Any]
    read_by: dict[str, list[str]]


class Fault(NamedTuple):
    pack: str
    controls: tuple[str, ...]
    changed: Readings
    removed: tuple[str, ...]
    why: str


class _Noting(RecordedHost):
    """Notes what it is asked for."""

    def __init__(self, readings: Readings) -> None:
        super().__init__(readings)
        self.asked: set[str] = set()

    def _answer(self, key: str, kind: str, ask: Any, record: Any = None) -> dict[str, Any]:
        self.asked.add(key)
        return super()._answer(key, kind, ask, record)


def all_packs(*more: Path) -> list[Pack]:
    """The packs of the examples and of the fixtures, and those of further folders."""
    return [pack_of(*pack) for pack in recorded(*more)]


def recorded(*more: Path) -> list[tuple[str, Readings, dict[str, Any]]]:
    """Name, readings and policies of these packs, without what each control reads."""
    recordings = []
    for folder in (*FOLDERS, *more):
        for path in sorted(folder.glob("*.json")):
            policies = example_packs.policies()
            if folder == seed_packs.FOLDER:
                policies["hugepages"] = packs.hugepages_policy(**seed_packs.POLICY)
            recordings.append((path.stem, evidence.open_pack(str(path))[0], policies))
    return recordings


def pack_of(name: str, readings: Readings, policies: dict[str, Any]) -> Pack:
    read_by: dict[str, list[str]] = {}
    for control in policies:
        host = _Noting(dict(readings))
        audit.judge_host(host, {control: policies[control]})
        for key in host.asked & set(readings):
            read_by.setdefault(key, []).append(control)
    return Pack(name, readings, policies, read_by)


def faults(inputs: int, seed: int | str, every: list[Pack]) -> Iterator[Fault]:
    """Whatever ``inputs`` packs find, as it is found; the same for the same seed."""
    chance = random.Random(seed)
    for number in range(inputs):
        pack = chance.choice(every)
        keys = sorted(pack.read_by)
        keys = [chance.choice(keys) for _ in range(chance.choice((1, 1, 2, 3, 6)))]
        changed: Readings = {}
        removed = []
        for key in keys:
            if chance.random() < 0.05:
                removed.append(key)
            else:
                changed[key] = changed_reading(pack.readings[key], chance)
        controls = [chance.choice(pack.read_by[keys[0]])]
        if number % _WHOLE == 0:
            controls = sorted(pack.policies)
        fault = tried(pack, controls, changed, removed)
        if fault is not None:
            yield fault


def changed_reading(reading: dict[str, Any], chance: random.Random) -> dict[str, Any]:
    """Mostly what it tells, sometimes its shape."""
    way = chance.random()
    texts = [name for name in ("text", "stdout") if isinstance(reading.get(name), str)]
    if texts and way < 0.75:
        return {**reading, texts[0]: mutated(reading[texts[0]], chance)}
    if way < 0.8:
        error = chance.choice(("absent", "denied", "unanswered", "else"))
        return {
            "kind": reading.get("kind"),
            "at": reading.get("at"),
            "error": error,
            "message": error,
        }
    if way < 0.85:
        return {**reading, chance.choice(sorted(reading)): chance.choice(LEAVES)}
    new = changed_tree(reading, chance)
    return new if isinstance(new, dict) else {}


def tried(pack: Pack, controls: list[str], changed: Readings, removed: list[str]) -> Fault | None:
    """What is wrong with the judgement of the changed pack."""
    readings = {key: reading for key, reading in pack.readings.items() if key not in removed}
    readings.update(changed)
    host = RecordedHost(readings)
    policies = {name: pack.policies[name] for name in controls}
    began = time.process_time()
    why = ""
    try:
        with cut_off():
            findings = audit.judge_host(host, policies)
        json.dumps([finding.as_dict() for finding in findings], allow_nan=False)
        crashed = [finding for finding in findings if finding.check.endswith(".audited")]
        why = "; ".join(
            f"{finding.why} {host.evidence[finding.evidence[0]]['text']}" for finding in crashed
        )
    except HostproofError:
        pass
    except (Exception, Hung) as problem:
        why = f"{type(problem).__name__}: {str(problem)[:200]}"
    took = time.process_time() - began
    if not why and took > MOST_SECONDS:
        why = f"took {took:.1f} s"
    return Fault(pack.name, tuple(controls), changed, tuple(removed), why) if why else None

# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The network tunables that Oracle's installation guide for AIX requires."""

from typing import Dict, Iterable, List

from ...collect.answer import Answer, attempt, if_known, known
from ...evaluate.advice import Advice, Run, Step, Wait
from ...evaluate.checking import Rules, Skip, Verdict, by_layers, failing, known_or_skip
from ...evaluate.finding import FAIL, PASS
from ...probes.unix.aix_said import number
from .facts import IFCONFIG, NO, NO_AT_BOOT, Aix, Facts
from .policy import NAME, Policy
from .required_parameters import NO_ORACLE, is_announced

rules: Rules[Facts, Policy] = Rules(NAME)

_Values = Dict[str, int]

#: sb_max limits the buffers, so no has to set it first.
_LEAST: _Values = {
    "ipqmaxlen": 512,
    "rfc1323": 1,
    "sb_max": 4194304,
    "tcp_recvspace": 65536,
    "tcp_sendspace": 65536,
    "udp_recvspace": 655360,
    "udp_sendspace": 65536,
    "tcp_ephemeral_low": 9000,
    "udp_ephemeral_low": 9000,
}
_KEYS = ["command:" + " ".join(argv) for argv in (NO, NO_AT_BOOT, IFCONFIG)]
_SYSTEM, _LATER = "system", "after a reboot"


@rules.check(
    "kernel_parameters.aix_network",
    "AIX network tunables meet the minimums of Oracle",
    "AIX network tunables are below the minimums of Oracle",
    severity="medium",
    takes_effect="reboot",
    why="Interconnect datagrams are lost, or an outgoing connection takes the port of a listener.",
    reference="Oracle Database Installation Guide for AIX, Recommended Values for Network Tuning "
    "Parameters",
)
def aix_network(facts: Facts, policy: Policy) -> Verdict:
    aix: Aix = known_or_skip(facts.aix)
    if not is_announced(policy) and not known(aix.has_oracle):
        raise Skip(NO_ORACLE)
    now = attempt(_numbers, aix.now, _KEYS[0])
    at_boot = attempt(_numbers, aix.at_boot, _KEYS[1])
    interfaces = attempt(_interfaces, aix)
    own = if_known(interfaces, {})
    values = {_SYSTEM: if_known(now, {}), **own, _LATER: if_known(at_boot, {})}
    low = {place: _low(some) for place, some in values.items() if _low(some)}
    later = values.pop(_LATER)
    return by_layers(
        Verdict(
            FAIL if low else PASS,
            why=f"Too low: {_text(low)}.",
            advice=Advice(_steps(low, values[_SYSTEM], later)),
            desired=f"at least {_list(_LEAST)}, sb_max above udp_recvspace",
            persisted=_list(later) or None,
            running=_text(values) or None,
            values=dict(values[_SYSTEM]),
            evidence=_KEYS,
            failing_layer=failing(persisted=bool(low), running=bool({*low} - {_LATER})),
        ),
        (("running", now), ("persisted", at_boot), ("interfaces", interfaces)),
    )


def _numbers(answer: Answer[Dict[str, str]], key: str) -> _Values:
    return {name: number(known(answer), name, key) for name in _LEAST}


def _interfaces(aix: Aix) -> Dict[str, _Values]:
    """The options that override tunables: with use_isno, which is 1 by default."""
    if not number({"use_isno": "1", **known(aix.now)}, "use_isno", _KEYS[0]):
        return {}
    return {
        name: {option: number(options, option, _KEYS[2]) for option in options}
        for name, options in known(aix.interfaces).items()
        if name[:2] != "lo"
    }


def _low(values: _Values) -> _Values:
    return {
        name: values[name]
        for name in values
        if values[name] < _LEAST[name]
        or (name == "sb_max" and values[name] <= values["udp_recvspace"])
    }


def _steps(low: Dict[str, _Values], now: _Values, later: _Values) -> List[Step]:
    """A value that is higher, now or after a reboot, is kept. sb_max comes before the buffers."""
    good = {name: max(_LEAST[name], now.get(name, 0), later.get(name, 0)) for name in _LEAST}
    good["sb_max"] = max(good["sb_max"], 2 * good["udp_recvspace"])
    wrong = {**low.get(_LATER, {}), **low.get(_SYSTEM, {})}
    live = [name for name in _LEAST if name in wrong and name != "ipqmaxlen"]
    steps: List[Step] = []
    if live:
        text = f"set {_list({name: good[name] for name in live})} now and after a reboot"
        steps.append(Run("no", "-p", *_options("-o", live, good), text=text))
    if "ipqmaxlen" in wrong and later.get("ipqmaxlen", 0) < _LEAST["ipqmaxlen"]:
        text = f"set ipqmaxlen {good['ipqmaxlen']} after a reboot"
        steps.append(Run("no", "-r", *_options("-o", ["ipqmaxlen"], good), text=text))
    for place in low:
        if place not in (_SYSTEM, _LATER):
            text = f"set {_list({name: _LEAST[name] for name in low[place]})} of {place}"
            options = _options("-a", low[place], _LEAST)
            steps.append(Run("chdev", "-l", place, *options, text=text))
    return steps + ([Wait("reboot")] if "ipqmaxlen" in low.get(_SYSTEM, {}) else [])


def _options(option: str, names: Iterable[str], values: _Values) -> List[str]:
    return [word for name in names for word in (option, f"{name}={values[name]}")]


def _list(values: _Values) -> str:
    return ", ".join(f"{name} {values[name]}" for name in values)


def _text(values: Dict[str, _Values]) -> str:
    return "; ".join(f"{place}: {_list(values[place])}" for place in values if values[place])

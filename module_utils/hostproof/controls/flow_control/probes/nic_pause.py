# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""PAUSE settings and counters of an interface from ethtool.

Sources: ethtool(8); dcb-pfc(8); lldptool-pfc(8); kernel Documentation/networking/statistics.rst.
"""

from typing import Callable, Dict, List, NamedTuple, Optional, Sequence, Tuple, TypeVar

from ....collect.answer import Answer, attempt, if_known
from ....collect.command import PATH
from ....collect.host import Host, Output, Sample
from ....errors import Absent, HostproofError, Unanswered
from ....parsers.net import ethtool_pause, ethtool_statistics
from ....parsers.net.ethtool_pause import Direction, PauseSettings
from ....parsers.number import clipped
from ..parsers import dcb, ethtool_rings, ethtool_settings
from ..parsers.ethtool_rings import Rings
from ..parsers.ethtool_settings import Settings

SAMPLE = "pause"
#: Kernel counters of all drivers: frames lost because of full buffers, or received with errors.
KERNEL_COUNTERS = ("rx_missed_errors", "rx_fifo_errors", "rx_crc_errors", "tx_fifo_errors")

#: Drivers whose rx and tx in ethtool -a are the mode in force, also with negotiation
#: (hw->fc.current_mode in their get_pauseparam). While they negotiate, they always offer both
#: directions (hw->fc.requested_mode in their set_pauseparam).
OFFER_BOTH = frozenset(("e1000", "e1000e", "igb", "igc", "ixgbe"))
#: Drivers that reject a change of autoneg with ethtool -A: it is the autonegotiation of the link
#: (EOPNOTSUPP in i40e_set_pauseparam, ice_set_pauseparam).
NEGOTIATION_OF_LINK = frozenset(("i40e", "ice"))
#: Drivers that never negotiate PAUSE (EINVAL in mlx4_en_set_pauseparam, mlx5e_set_pauseparam).
NEVER_NEGOTIATE = frozenset(("mlx4_core", "mlx5_core"))

#: Drivers of virtual interfaces, which have no cable and no PAUSE. None: no driver.
VIRTUAL = (None, "virtio_net", "vmxnet3", "hv_netvsc", "vif", "ena", "gve", "ibmveth", "ixgbevf")


class Traffic(NamedTuple):
    """Frames counted in ``seconds``. None: the driver does not count this direction.

    ``drops`` are by the name of the counter. ``priority``: PAUSE by priority was counted since
    boot; None if the driver has no such counter. The last two fields are counters of PAUSE and of
    drops that were reset during the sample, so their values are unknown.
    """

    seconds: float
    rx_pause: Optional[int]
    tx_pause: Optional[int]
    drops: Dict[str, int]
    priority: Optional[bool]
    evidence: Tuple[str, ...]
    restarted: Tuple[str, ...] = ()
    restarted_drops: Tuple[str, ...] = ()


T = TypeVar("T")


def argv_pause(name: str) -> List[str]:
    return ["ethtool", "-a", name]


def read_pause(host: Host, name: str, driver: Optional[str]) -> PauseSettings:
    """PAUSE settings. Absent if the driver has no flow control."""
    argv = argv_pause(name)
    key = "command:" + " ".join(argv)
    if driver in VIRTUAL and isinstance(attempt(host.run, argv), Absent):
        raise Absent(key, "a virtual interface has no flow control")
    output = _run(host, argv)
    if output.rc != 0:
        text = output.stdout + output.stderr
        if ethtool_pause.is_unsupported(text):
            raise Absent(key, "the driver has no flow control (ethtool: Operation not supported)")
        raise Unanswered(key, "ethtool -a {0}: {1}".format(name, " ".join(text.split())[:200]))
    return ethtool_pause.parse(output.stdout)


def read_settings(host: Host, name: str) -> Settings:
    argv = ["ethtool", name]
    output = _run(host, argv)
    # Some values need root or are not supported by the driver; the other values are still valid.
    if output.rc != 0 and not output.stdout.startswith("Settings for "):
        raise Unanswered(
            "command:" + " ".join(argv),
            "ethtool {0}: {1}".format(name, " ".join(output.stderr.split())[:200]),
        )
    return ethtool_settings.parse(output.stdout)


def read_rings(host: Host, name: str) -> Rings:
    """Ring sizes. Absent if the driver does not show them."""
    argv = ["ethtool", "-g", name]
    key = "command:" + " ".join(argv)
    output = _run(host, argv)
    if output.rc != 0:
        text = output.stdout + output.stderr
        if ethtool_pause.is_unsupported(text):
            raise Absent(key, "the driver shows no rings (ethtool: Operation not supported)")
        raise Unanswered(key, "ethtool -g {0}: {1}".format(name, " ".join(text.split())[:200]))
    return ethtool_rings.parse(output.stdout)


def _run(host: Host, argv: List[str]) -> Output:
    output = attempt(host.run, argv)
    if isinstance(output, Absent):
        # A missing tool must not look like a driver without the feature.
        raise Unanswered(output.key, f"{argv[0]} was not found in {PATH}: install it")
    if isinstance(output, HostproofError):
        raise output
    return output


def in_force(pause: PauseSettings, settings: Answer[Settings], driver: Optional[str]) -> Direction:
    """The PAUSE mode in force. Raises Unanswered if the result of negotiation is unknown."""
    if not pause.autoneg or driver in OFFER_BOTH:
        return Direction(pause.rx, pause.tx)
    if pause.negotiated is not None:
        return pause.negotiated
    facts = if_known(settings, None)
    if facts is not None and facts.offered is not None and facts.partner is not None:
        return ethtool_settings.resolve(facts.offered, facts.partner)
    raise Unanswered(
        "command:ethtool -a",
        "PAUSE is negotiated, but neither the driver nor ethtool shows the result",
    )


def read_priorities(host: Host, name: str) -> List[int]:
    """The priorities with PAUSE. Absent without a tool, or if the driver has no DCB."""
    argv = ["dcb", "pfc", "show", "dev", name, "prio-pfc"]
    output = attempt(host.run, argv)
    if not isinstance(output, HostproofError):
        if output.rc == 0:
            return sorted(dcb.parse_dcb(output.stdout))
        text = (output.stdout + output.stderr).strip()
        if "not supported" in text or "No such file" in text or "not present" in text:
            raise Absent("command:" + " ".join(argv), "the driver has no DCB")
        raise Unanswered("command:" + " ".join(argv), f"dcb: {text[:200]}")
    if not isinstance(output, Absent):
        raise output
    argv = ["lldptool", "-t", "-i", name, "-V", "PFC"]
    output = attempt(host.run, argv)
    if isinstance(output, Absent):
        raise Absent(output.key, f"neither dcb nor lldptool was found in {PATH}")
    if isinstance(output, HostproofError):
        raise output
    if output.rc != 0:
        text = " ".join((output.stdout + output.stderr).split())[:200]
        raise Absent("command:" + " ".join(argv), f"lldptool ended with {output.rc}: {text}")
    return sorted(dcb.parse_lldptool(output.stdout))


# -- two readings ---------------------------------------------------------------------------------


def _commands(name: str) -> List[List[str]]:
    return [["ethtool", "-S", name], ["ethtool", "--json", "-I", "-a", name]]


def _file(name: str, counter: str) -> str:
    return f"/sys/class/net/{name}/statistics/{counter}"


def take_sample(host: Host, names: Sequence[str], seconds: float) -> Sample:
    """Read the counters of all interfaces twice, at the same two times."""
    files = [_file(name, counter) for name in names for counter in KERNEL_COUNTERS]
    commands = [argv for name in names for argv in _commands(name)]
    return host.sample(SAMPLE, files, commands, seconds)


def traffic_of(sample: Sample, name: str, driver: Optional[str]) -> Traffic:
    """Counters of one interface. Unanswered if none could be read."""
    restarted: List[str] = []
    restarted_drops: List[str] = []
    drops, is_read = _kernel_drops(sample, name, driver, restarted_drops)
    rx_pause: Optional[int] = None
    tx_pause: Optional[int] = None
    priority = None
    own, shared = ["command:" + " ".join(argv) for argv in _commands(name)]
    statistics = _twice(ethtool_statistics.parse, sample, own)
    if statistics is not None:
        first, second = statistics
        names = ethtool_statistics.names_of(driver or "", second)
        rx_pause = _difference(first, second, names.rx_pause, restarted)
        tx_pause = _difference(first, second, names.tx_pause, restarted)
        drops.update(_driver_drops(first, second, names.drops, restarted_drops))
        priority = _has_priority_frames(second)
    pause = _twice(ethtool_pause.parse, sample, shared)
    if pause is not None:
        before, after = pause
        if rx_pause is None:
            rx_pause = grown(RX_FRAMES, before.rx_frames, after.rx_frames, restarted)
        if tx_pause is None:
            tx_pause = grown(TX_FRAMES, before.tx_frames, after.tx_frames, restarted)
    if not drops and not is_read and rx_pause is None and tx_pause is None:
        raise Unanswered(
            "sample:" + SAMPLE,
            "no counter of {0} could be read twice{1}".format(
                name, ": they began again meanwhile" if restarted + restarted_drops else ""
            ),
        )
    evidence = ("sample:" + SAMPLE,)
    return Traffic(
        sample.seconds,
        rx_pause,
        tx_pause,
        drops,
        priority,
        evidence,
        tuple(restarted),
        tuple(restarted_drops),
    )


def _driver_drops(
    first: Dict[str, int], second: Dict[str, int], names: Sequence[str], restarted: List[str]
) -> Dict[str, int]:
    drops = {name: _difference(first, second, [name], restarted) for name in names}
    return {name: counted for name, counted in drops.items() if counted is not None}


def _has_priority_frames(statistics: Dict[str, int]) -> Optional[bool]:
    """Whether a counter of PAUSE by priority is above 0; None without such a counter."""
    names = ethtool_statistics.priority_names(statistics)
    return any(statistics[name] for name in names) if names else None


def _kernel_drops(
    sample: Sample, name: str, driver: Optional[str], restarted: List[str]
) -> Tuple[Dict[str, int], bool]:
    """The counters of the kernel, and whether one of them was read."""
    drops: Dict[str, int] = {}
    is_virtual = driver is not None and driver in VIRTUAL
    is_read = False
    for counter in KERNEL_COUNTERS:
        source = "file:" + _file(name, counter)
        if source in sample.first:
            counted = _grown_text(counter, sample.first[source], sample.second[source], restarted)
            is_read = is_read or counted is not None
            # Drivers of virtual machines never increase these counters, so 0 proves nothing.
            if counted is not None and (counted or not is_virtual):
                drops[counter] = counted
    return drops, is_read


def _twice(parse: Callable[[str], T], sample: Sample, key: str) -> Optional[Tuple[T, T]]:
    """Both outputs of a command; None where one of them is missing or not understood."""
    if key not in sample.first:
        return None
    first = attempt(parse, sample.first[key])
    second = attempt(parse, sample.second[key])
    if isinstance(first, HostproofError) or isinstance(second, HostproofError):
        return None
    return first, second


#: The counters of ethtool -I -a.
RX_FRAMES, TX_FRAMES = "rx_pause_frames", "tx_pause_frames"


def _grown_text(name: str, first: str, second: str, restarted: List[str]) -> Optional[int]:
    if not (first.strip().isdecimal() and second.strip().isdecimal()):
        return None
    return grown(name, clipped(first), clipped(second), restarted)


def grown(
    name: str, before: Optional[int], after: Optional[int], restarted: List[str]
) -> Optional[int]:
    """Difference of a counter between two readings, on any system.

    None if it was not read twice or was reset in between. Names of reset counters are appended to
    the list in the last argument."""
    if before is None or after is None:
        return None
    if after < before:
        restarted.append(name)
        return None
    return after - before


def _difference(
    first: Dict[str, int], second: Dict[str, int], names: Sequence[str], restarted: List[str]
) -> Optional[int]:
    for name in names:
        if name in first and name in second:
            return grown(name, first[name], second[name], restarted)
    return None

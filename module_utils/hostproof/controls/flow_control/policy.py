# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Flow control that the policy requires of network interfaces: validated role variables."""

from typing import Any, Dict, NamedTuple, Optional, Sequence, Tuple

from ...evaluate.fields import checked_by, decimal, flag, networks, reader, whole_number, window
from ...evaluate.policy import PolicyValues, is_whole
from ...parsers import glob_pattern
from ...snmp import tools as snmp
from ...snmp.tools import Credentials, Target
from .snmp.ethernet_port import FULL, HALF, Pause

NAME = "flow_control"

STORAGE, INTERCONNECT, PUBLIC = ROLES = ("storage", "interconnect", "public")

ON, OFF, KEEP, MATCH_PEER, AUTO = "on", "off", "keep", "match_peer", "auto"
DIRECTIONS = (ON, OFF, KEEP, MATCH_PEER)
#: ``auto``: keep autonegotiation if rx and tx can be as required with it, otherwise off.
NEGOTIATIONS = (ON, OFF, KEEP, AUTO)

#: Bytes. Every Ethernet port accepts frames of this size, so no test is necessary up to it.
STANDARD_MTU = 1500

#: The name of the credentials for every agent without its own.
DEFAULT = "default"


class Rule(NamedTuple):
    """Requirement for matching interfaces. A selector that is None matches all.

    ``name``, ``driver`` and ``bond`` are shell patterns. ``rx`` obeys PAUSE frames, ``tx`` sends
    them, as in ethtool.
    """

    role: Optional[str]
    name: Optional[str]
    driver: Optional[str]
    bond: Optional[str]
    rx: str
    tx: str
    autoneg: str

    def fits(
        self, roles: Sequence[str], name: str, driver: Optional[str], bond: Optional[str]
    ) -> bool:
        """Whether the rule matches this interface."""
        if self.role is not None and self.role not in roles:
            return False
        pairs = ((self.name, name), (self.driver, driver), (self.bond, bond))
        return all(
            pattern is None or (value is not None and glob_pattern.fits(value, pattern))
            for pattern, value in pairs
        )

    @property
    def keeps(self) -> bool:
        """Whether nothing is required."""
        return self.rx == self.tx == KEEP and self.autoneg in (KEEP, AUTO)

    @property
    def text(self) -> str:
        return f"rx {self.rx}, tx {self.tx}, autonegotiation {self.autoneg}"


#: Rules for ``auto``. In 2002, flow control on the whole path helped a 100 Mb host that a Gigabit
#: filer overran. Today filers and switches serve many hosts, and a stalled host that sends PAUSE
#: stops all of them. Vendors therefore require that storage ports do not obey PAUSE (NetApp, Oracle
#: Database on ONTAP, Ethernet flow control). A host that obeys PAUSE does not affect other hosts.
DEFAULT_RULES = (
    Rule(STORAGE, None, None, None, KEEP, OFF, AUTO),
    Rule(INTERCONNECT, None, None, None, KEEP, OFF, AUTO),
)

KEEP_ALL = Rule(None, None, None, None, KEEP, KEEP, KEEP)


class SwitchAgent(NamedTuple):
    """A switch to query. ``port`` is None for the default UDP port of the policy."""

    address: str
    port: Optional[int]
    credentials: str


class GivenPort(NamedTuple):
    """A port of a filer without agent, with values that were read on the filer. None: unknown."""

    name: str
    pause: Optional[Pause]
    speed: Optional[int]
    duplex: Optional[str]
    mtu: Optional[int]
    mac: str


class FilerAgent(NamedTuple):
    """A filer: ``address`` is the address that the host mounts from, ``agent`` is its SNMP agent.

    With ``ports``, no agent is queried.
    """

    address: str
    agent: str
    port: Optional[int]
    credentials: str
    ports: Tuple[GivenPort, ...]


# -- rules ----------------------------------------------------------------------------------------

_SELECTORS = ("role", "name", "driver", "bond")
_SETTINGS = ("rx", "tx", "autoneg")


def _rules(values: PolicyValues, variable: str) -> Tuple[Rule, ...]:
    rules = values[variable]
    if not isinstance(rules, (list, tuple)) or not all(isinstance(rule, dict) for rule in rules):
        raise values.error("rules", "must be auto or a list of dictionaries")
    if not rules:
        raise values.error("rules", "must be auto or a list of rules: an empty one wants nothing")
    # The first matching rule applies: without an invalid one, later rules would match instead.
    return tuple(_rule(values, rule) for rule in rules)


def _rule(values: PolicyValues, item: Dict[str, Any]) -> Rule:
    unknown = sorted(set(map(str, item)) - set(_SELECTORS + _SETTINGS))
    selectors = {name: item[name] for name in _SELECTORS if item.get(name) is not None}
    if unknown or not selectors:
        raise values.error(
            "rules",
            "has a rule with {0}: it must have one or more of {1}, and may have {2}".format(
                ", ".join(map(str, item)) or "nothing", ", ".join(_SELECTORS), ", ".join(_SETTINGS)
            ),
        )
    if not all(isinstance(selector, str) and selector for selector in selectors.values()):
        raise values.error("rules", f"has a rule whose {sorted(selectors)} must be texts")
    if "role" in selectors and selectors["role"] not in ROLES:
        raise values.error(
            "rules",
            "has the role {0!r}, which must be one of {1}".format(
                selectors["role"], ", ".join(ROLES)
            ),
        )
    if not any(item.get(name) is not None for name in _SETTINGS):
        raise values.error(
            "rules",
            "has a rule of {0} that sets none of {1}: set one, such as rx: keep".format(
                ", ".join(map(str, selectors.values())), ", ".join(_SETTINGS)
            ),
        )
    return Rule(
        role=selectors.get("role"),
        name=selectors.get("name"),
        driver=selectors.get("driver"),
        bond=selectors.get("bond"),
        rx=_choice(values, item, "rx", DIRECTIONS, KEEP),
        tx=_choice(values, item, "tx", DIRECTIONS, KEEP),
        autoneg=_choice(values, item, "autoneg", NEGOTIATIONS, AUTO),
    )


def _choice(
    values: PolicyValues, item: Dict[str, Any], name: str, choices: Sequence[str], otherwise: str
) -> str:
    value = switched(item.get(name, otherwise))
    if value not in choices:
        raise values.error(
            "rules",
            "{0} must be one of {1}, not {2!r}".format(name, ", ".join(choices), item[name]),
        )
    return str(value)


def switched(value: object) -> Any:
    """The word on or off. YAML reads them as booleans if they are not quoted."""
    if isinstance(value, bool):
        return ON if value else OFF
    return value


# -- agents ---------------------------------------------------------------------------------------


def _record(values: PolicyValues, name: str, item: object) -> Dict[str, Any]:
    if not isinstance(item, dict):
        raise values.error(name, f"must be a list of dictionaries, not {item!r}")
    return item


def _credentials(values: PolicyValues, variable: str) -> Dict[str, Credentials]:
    takes = "a dictionary of names, each with a dictionary"
    read = {}
    for name, entry in values.named(variable, takes):
        with values.entry(variable, name):
            if not isinstance(entry, dict):
                raise ValueError(f"{name}: must be a dictionary")
            try:
                read[str(name)] = snmp.credentials_from(entry)
            except ValueError as problem:
                raise ValueError(f"{name}: {problem}") from problem
    return read


def _switches(values: PolicyValues, variable: str) -> Tuple[SwitchAgent, ...]:
    credentials = _credentials(values, "snmp_credentials")
    return values.entries(
        variable,
        lambda item: _switch(values, _record(values, variable, item), credentials),
        key=lambda agent: (agent.address, agent.port),
        twice="lists {0[0]} twice",
    )


def _filers(values: PolicyValues, variable: str) -> Tuple[FilerAgent, ...]:
    credentials = _credentials(values, "snmp_credentials")
    return values.entries(
        variable,
        lambda item: _filer(values, _record(values, variable, item), credentials),
        key=lambda agent: agent.address,
    )


def _switch(
    values: PolicyValues, item: Dict[str, Any], credentials: Dict[str, Credentials]
) -> SwitchAgent:
    _only(values, "switches", item, ("address", "port", "credentials"))
    return SwitchAgent(
        _address(values, "switches", item, "address"),
        _port(values, "switches", item),
        _name_of_credentials(values, "switches", item, credentials),
    )


def _filer(
    values: PolicyValues, item: Dict[str, Any], credentials: Dict[str, Credentials]
) -> FilerAgent:
    _only(values, "filers", item, ("address", "agent", "port", "credentials", "ports"))
    address = _address(values, "filers", item, "address")
    ports = item.get("ports") or ()
    if not isinstance(ports, (list, tuple)) or not all(isinstance(port, dict) for port in ports):
        raise values.error("filers", f"{address}: ports must be a list of dictionaries")
    return FilerAgent(
        address=address,
        agent=_address(values, "filers", item, "agent") if item.get("agent") else address,
        port=_port(values, "filers", item),
        credentials="" if ports else _name_of_credentials(values, "filers", item, credentials),
        ports=tuple(_given_port(values, address, port) for port in ports),
    )


def _given_port(values: PolicyValues, address: str, item: Dict[str, Any]) -> GivenPort:
    where = f"{address}: ports"
    _only(values, "filers", item, ("name", "rx", "tx", "speed", "duplex", "mtu", "mac"), where)
    if not isinstance(item.get("name"), str) or not item["name"]:
        raise values.error("filers", where + " need a name each")
    sides = [switched(item.get(name)) for name in ("rx", "tx")]
    if sides.count(None) == 1 or not all(side in (ON, OFF, None) for side in sides):
        raise values.error(
            "filers", "{0}: rx and tx of {1} must both be on or off".format(where, item["name"])
        )
    duplex = item.get("duplex")
    if duplex not in (None, FULL, HALF):
        raise values.error("filers", f"{where}: duplex must be full or half")
    return GivenPort(
        name=item["name"],
        pause=None if sides[0] is None else Pause(sides[0] == ON, sides[1] == ON),
        speed=_number(values, where, item, "speed"),
        duplex=duplex,
        mtu=_number(values, where, item, "mtu"),
        mac=str(item.get("mac") or "").lower(),
    )


def _number(values: PolicyValues, where: str, item: Dict[str, Any], name: str) -> Optional[int]:
    value = item.get(name)
    if value is None:
        return None
    if not is_whole(value) or not int(value):
        raise values.error("filers", f"{where}: {name} must be a whole number")
    return int(value)


def _only(
    values: PolicyValues, variable: str, item: Dict[str, Any], names: Sequence[str], where: str = ""
) -> None:
    unknown = sorted(set(map(str, item)) - set(names))
    if unknown:
        raise values.error(
            variable,
            "{0}has unknown {1}; it takes {2}".format(
                where + " " if where else "", ", ".join(unknown), ", ".join(names)
            ),
        )


def _address(values: PolicyValues, variable: str, item: Dict[str, Any], name: str) -> str:
    if not item.get(name):
        raise values.error(variable, f"needs {name} for each")
    try:
        return snmp.check_address(str(item[name]))
    except ValueError as problem:
        raise values.error(variable, str(problem)) from problem


def _port(values: PolicyValues, variable: str, item: Dict[str, Any]) -> Optional[int]:
    port = item.get("port")
    if port is None:
        return None
    if not is_whole(port) or not 0 < int(port) < 65536:
        raise values.error(variable, "{0}: port must be 1 to 65535".format(item["address"]))
    return int(port)


def _name_of_credentials(
    values: PolicyValues, variable: str, item: Dict[str, Any], credentials: Dict[str, Credentials]
) -> str:
    name = str(item.get("credentials") or DEFAULT)
    if name not in credentials:
        raise values.error(
            variable,
            "{0}: flow_control_snmp_credentials does not have its name, or no entry that can be "
            "used".format(item["address"]),
        )
    return name


# -- the policy -----------------------------------------------------------------------------------


class Policy(NamedTuple):
    """The role's variables.

    ``rules`` is None for auto: DEFAULT_RULES are checked, and nothing is changed.
    ``interconnect`` is None for auto: the configuration of Clusterware.
    """

    snmp_credentials: Dict[str, Credentials] = checked_by(_credentials, "dict")
    """Name to how to ask; C(default) is for every agent that names none. Each has C(version) (C(1),
    C(2c), C(3)), C(community), or C(user), C(level), C(auth_protocol), C(auth_passphrase),
    C(priv_protocol), C(priv_passphrase), C(context).

    Default: {default: {version: 2c, community: public}}
    Secret: true
    """
    rules: Optional[Tuple[Rule, ...]] = checked_by(_rules, "list").none_for(AUTO)
    """A list of rules for interfaces. The first matching rule applies. A rule has one or more
    of C(role) (C(storage), C(interconnect), C(public)), C(name), C(driver) and C(bond)
    (patterns such as C(ens1f*)). It has C(rx) and C(tx) (each C("on"), C("off"), C(keep) or
    C(match_peer)) and C(autoneg) (C("on"), C("off"), C(keep) or C(auto)). C(rx) obeys PAUSE
    frames and C(tx) sends them, as in ethtool.

    C(auto) checks that interfaces to storage and interconnect send no PAUSE frames (C(tx) off),
    and has no effect.

    Default: auto
    """
    interconnect: Optional[Tuple[str, ...]] = networks().none_for(AUTO)
    """The interfaces of the interconnect, as names or networks such as C(192.0.2.0/24). C(auto)
    uses the configuration of Clusterware.

    Default: auto
    """
    switches: Tuple[SwitchAgent, ...] = checked_by(_switches, "list")
    """Switches to query, each with C(address) and optionally C(port) and C(credentials) (a
    name).

    Default: []
    """
    filers: Tuple[FilerAgent, ...] = checked_by(_filers, "list")
    """Filers. Each entry has C(address) (the address that the host mounts from). An entry with
    C(agent), C(port) or C(credentials) is queried over SNMP. An entry with C(ports) contains
    values that were read on the filer: each port has C(name) and optionally C(rx), C(tx),
    C(speed) in Mb/s, C(duplex), C(mtu) and C(mac).

    Default: []
    """
    snmp_port: int = whole_number(1, 65535)
    """The UDP port of every agent that names none.

    Default: 161
    """
    snmp_timeout: float = decimal(0.1, 60)
    """Seconds to wait for each try.

    Default: 2
    """
    snmp_retries: int = whole_number(0, 10)
    """Tries after the first.

    Default: 1
    """
    snmp_agent_timeout: float = decimal(1, 3600)
    """Total time in seconds for all requests to one SNMP agent. Missing responses are reported as
    C(error).

    Default: 60
    """
    snmp_total_timeout: float = decimal(1, 3600)
    """Total time in seconds for all SNMP agents. Missing responses are reported as C(error).

    Default: 120
    """
    window_seconds: float = window()
    """Sampling window in seconds, 1 to 600. PAUSE frames, drops and discards on host, switch
    and filer are read at its start and end. All controls share the window. C(0) reads once and
    checks no rates.

    Default: 10
    """
    pause_frames_limit: int = whole_number()
    """PAUSE frames that an interface may send or get between the two readings.

    Default: 0
    """
    drops_limit: int = whole_number()
    """Frames that an interface, or a port of a switch, may drop between the two readings.

    Default: 0
    """
    link_wait_seconds: int = whole_number(5, 300)
    """Seconds that apply waits for a link and, in a bond, for LACP after it changed an
    interface. If the link is still down, apply restores the previous state.

    Default: 30
    """
    allow_link_down: bool = flag()
    """Accept that the link of the running play, the last member that carries a bond, or an
    interconnect without a bond goes down for some seconds while it is changed. Many drivers take
    the link down for each change.

    Default: false
    """

    @property
    def names_interfaces(self) -> bool:
        """Whether a rule can match an interface that no known path uses."""
        return any(rule.role is None for rule in self.rules or ())

    def rule_for(
        self, roles: Sequence[str], name: str, driver: Optional[str], bond: Optional[str]
    ) -> Rule:
        """The first matching rule. Without one, a rule that keeps all settings."""
        for rule in DEFAULT_RULES if self.rules is None else self.rules:
            if rule.fits(roles, name, driver, bond):
                return rule
        return KEEP_ALL


policy_from = reader(NAME, Policy)


def switch_target(policy: Policy, switch: SwitchAgent) -> Target:
    return _target(policy, switch.address, switch.port, switch.credentials)


def filer_target(policy: Policy, filer: FilerAgent) -> Target:
    return _target(policy, filer.agent, filer.port, filer.credentials)


def _target(policy: Policy, address: str, port: Optional[int], credentials: str) -> Target:
    return Target(
        address,
        port or policy.snmp_port,
        policy.snmp_credentials[credentials],
        policy.snmp_timeout,
        policy.snmp_retries,
    )

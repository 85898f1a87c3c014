# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What PAUSE a host's network interfaces should use: the role's variables, checked."""

import ipaddress
from fnmatch import fnmatchcase
from typing import Any, Dict, List, NamedTuple, Optional, Sequence, Tuple

from ...policy import PolicyValues
from ...probes import snmp
from ...probes.ethernet_port import FULL, HALF, Pause
from ...probes.snmp import Credentials, Target

NAME = "flow_control"

STORAGE, INTERCONNECT, PUBLIC = ROLES = ("storage", "interconnect", "public")

ON, OFF, KEEP, MATCH_PEER, AUTO = "on", "off", "keep", "match_peer", "auto"
DIRECTIONS = (ON, OFF, KEEP, MATCH_PEER)
#: ``auto``: as it is where it lets rx and tx be as wanted, else off.
NEGOTIATIONS = (ON, OFF, KEEP, AUTO)

#: The name of the credentials for every agent that names none.
DEFAULT = "default"


class Rule(NamedTuple):
    """What is wanted of the interfaces that fit; what is None fits all.

    ``name``, ``driver`` and ``bond`` are patterns as a shell has them. ``rx`` obeys PAUSE frames,
    ``tx`` sends them, as ethtool means it.
    """

    role: Optional[str]
    name: Optional[str]
    driver: Optional[str]
    bond: Optional[str]
    rx: str
    tx: str
    autoneg: str

    def fits(self, roles, name, driver, bond):
        # type: (Sequence[str], str, Optional[str], Optional[str]) -> bool
        """Whether the rule is for this interface."""
        if self.role is not None and self.role not in roles:
            return False
        pairs = ((self.name, name), (self.driver, driver), (self.bond, bond))
        return all(
            pattern is None or (value is not None and fnmatchcase(value, pattern))
            for pattern, value in pairs
        )

    @property
    def keeps(self):
        # type: () -> bool
        """Whether nothing is wanted."""
        return self.rx == self.tx == KEEP and self.autoneg in (KEEP, AUTO)

    @property
    def text(self):
        # type: () -> str
        return "rx {0}, tx {1}, autonegotiation {2}".format(self.rx, self.tx, self.autoneg)


#: Where the policy says auto. In 2002 full flow control from end to end cured a 100 Mb host that a
#: Gigabit filer overran. Since then filers and switches serve many hosts: one host that stalls and
#: sends PAUSE makes them all wait, so today vendors want storage ports not to receive it (NetApp,
#: Oracle Database on ONTAP, Ethernet flow control). To obey what comes harms nobody else.
DEFAULT_RULES = (
    Rule(STORAGE, None, None, None, KEEP, OFF, AUTO),
    Rule(INTERCONNECT, None, None, None, KEEP, OFF, AUTO),
)

KEEP_ALL = Rule(None, None, None, None, KEEP, KEEP, KEEP)


class SwitchAgent(NamedTuple):
    """A switch to ask; ``port`` is None for the policy's own."""

    address: str
    port: Optional[int]
    credentials: str


class GivenPort(NamedTuple):
    """A port of a filer that has no agent, as ethtool showed it there. None is unknown."""

    name: str
    pause: Optional[Pause]
    speed: Optional[int]
    duplex: Optional[str]
    mtu: Optional[int]
    mac: str


class FilerAgent(NamedTuple):
    """A filer: ``address`` is what the host mounts from, ``agent`` whom to ask about it.

    With ``ports`` nobody is asked.
    """

    address: str
    agent: str
    port: Optional[int]
    credentials: str
    ports: Tuple[GivenPort, ...]


class Policy(NamedTuple):
    """The role's variables (roles/flow_control/meta/argument_specs.yml), checked.

    ``wanted`` is None for auto: DEFAULT_RULES are judged, and nothing is changed.
    ``interconnect`` is None for auto: what Clusterware says.
    """

    wanted: Optional[Tuple[Rule, ...]]
    interconnect: Optional[Tuple[str, ...]]
    switches: Tuple[SwitchAgent, ...]
    filers: Tuple[FilerAgent, ...]
    port: int
    timeout: float
    retries: int
    sample_seconds: float
    pause_frames_limit: int
    drops_limit: int
    link_wait_seconds: int
    link_bounce_ok: bool
    credentials: Dict[str, Credentials]

    @property
    def names_interfaces(self):
        # type: () -> bool
        """Whether a rule may be for an interface that no known path needs."""
        return any(rule.role is None for rule in self.wanted or ())

    def rule_for(self, roles, name, driver, bond):
        # type: (Sequence[str], str, Optional[str], Optional[str]) -> Rule
        """The first rule that fits; one that keeps all where none does."""
        for rule in DEFAULT_RULES if self.wanted is None else self.wanted:
            if rule.fits(roles, name, driver, bond):
                return rule
        return KEEP_ALL


def policy_from(values):
    # type: (Dict[str, Any]) -> Policy
    """A Policy from the role's variables without their prefix; PolicyError names the variable."""
    given = PolicyValues(NAME, values, Policy._fields)
    credentials = _credentials(given)
    return Policy(
        wanted=_wanted(given),
        interconnect=_interconnect(given),
        switches=tuple(_switch(given, one, credentials) for one in _records(given, "switches")),
        filers=tuple(_filer(given, one, credentials) for one in _records(given, "filers")),
        port=given.whole_number("port", 1, 65535),
        timeout=given.decimal("timeout", 0.1, 60),
        retries=given.whole_number("retries", 0, 10),
        sample_seconds=given.decimal("sample_seconds", 0, 600),
        pause_frames_limit=given.whole_number("pause_frames_limit"),
        drops_limit=given.whole_number("drops_limit"),
        link_wait_seconds=given.whole_number("link_wait_seconds", 5, 300),
        link_bounce_ok=given.flag("link_bounce_ok"),
        credentials=credentials,
    )


def switch_target(policy, switch):
    # type: (Policy, SwitchAgent) -> Target
    return _target(policy, switch.address, switch.port, switch.credentials)


def filer_target(policy, filer):
    # type: (Policy, FilerAgent) -> Target
    return _target(policy, filer.agent, filer.port, filer.credentials)


def _target(policy, address, port, credentials):
    # type: (Policy, str, Optional[int], str) -> Target
    return Target(
        address,
        port or policy.port,
        policy.credentials[credentials],
        policy.timeout,
        policy.retries,
    )


# -- rules ----------------------------------------------------------------------------------------

_SELECTORS = ("role", "name", "driver", "bond")
_SETTINGS = ("rx", "tx", "autoneg")


def _wanted(given):
    # type: (PolicyValues) -> Optional[Tuple[Rule, ...]]
    if given["wanted"] == AUTO:
        return None
    return tuple(_rule(given, one) for one in _records(given, "wanted"))


def _rule(given, item):
    # type: (PolicyValues, Dict[str, Any]) -> Rule
    unknown = sorted(set(map(str, item)) - set(_SELECTORS + _SETTINGS))
    selectors = {name: item[name] for name in _SELECTORS if item.get(name) is not None}
    if unknown or not selectors:
        raise given.error(
            "wanted",
            "has a rule with {0}: it must have one or more of {1}, and may have {2}".format(
                ", ".join(map(str, item)) or "nothing", ", ".join(_SELECTORS), ", ".join(_SETTINGS)
            ),
        )
    if not all(isinstance(one, str) and one for one in selectors.values()):
        raise given.error("wanted", "has a rule whose {0} must be texts".format(sorted(selectors)))
    if "role" in selectors and selectors["role"] not in ROLES:
        raise given.error(
            "wanted",
            "has the role {0!r}, which must be one of {1}".format(
                selectors["role"], ", ".join(ROLES)
            ),
        )
    return Rule(
        role=selectors.get("role"),
        name=selectors.get("name"),
        driver=selectors.get("driver"),
        bond=selectors.get("bond"),
        rx=_choice(given, item, "rx", DIRECTIONS, KEEP),
        tx=_choice(given, item, "tx", DIRECTIONS, KEEP),
        autoneg=_choice(given, item, "autoneg", NEGOTIATIONS, AUTO),
    )


def _choice(given, item, name, choices, otherwise):
    # type: (PolicyValues, Dict[str, Any], str, Sequence[str], str) -> str
    value = switched(item.get(name, otherwise))
    if value not in choices:
        raise given.error(
            "wanted",
            "{0} must be one of {1}, not {2!r}".format(name, ", ".join(choices), item[name]),
        )
    return str(value)


def switched(value):
    # type: (Any) -> Any
    """YAML makes a truth value of on and off without quotes."""
    if isinstance(value, bool):
        return ON if value else OFF
    return value


def _interconnect(given):
    # type: (PolicyValues) -> Optional[Tuple[str, ...]]
    """Names of interfaces, or networks as 192.0.2.0/24."""
    if given["interconnect"] == AUTO:
        return None
    found = []
    for item in given.names("interconnect"):
        if "/" in item:
            try:
                item = str(ipaddress.ip_network(item, strict=False))
            except ValueError as problem:
                raise given.error("interconnect", str(problem)) from problem
        found.append(item)
    return tuple(found)


# -- agents ---------------------------------------------------------------------------------------


def _records(given, name):
    # type: (PolicyValues, str) -> List[Dict[str, Any]]
    value = given[name]
    if not isinstance(value, (list, tuple)) or not all(isinstance(one, dict) for one in value):
        kinds = "auto or a list" if name == "wanted" else "a list"
        raise given.error(name, "must be {0} of dictionaries".format(kinds))
    return list(value)


def _credentials(given):
    # type: (PolicyValues) -> Dict[str, Credentials]
    value = given["credentials"]
    if not isinstance(value, dict) or not all(isinstance(one, dict) for one in value.values()):
        raise given.error("credentials", "must be a dictionary of names, each with a dictionary")
    read = {}
    for name, one in value.items():
        try:
            read[str(name)] = snmp.credentials_from(one)
        except ValueError as problem:
            raise given.error("credentials", "{0}: {1}".format(name, problem)) from problem
    return read


def _switch(given, item, credentials):
    # type: (PolicyValues, Dict[str, Any], Dict[str, Credentials]) -> SwitchAgent
    _only(given, "switches", item, ("address", "port", "credentials"))
    return SwitchAgent(
        _address(given, "switches", item, "address"),
        _port(given, "switches", item),
        _name_of_credentials(given, "switches", item, credentials),
    )


def _filer(given, item, credentials):
    # type: (PolicyValues, Dict[str, Any], Dict[str, Credentials]) -> FilerAgent
    _only(given, "filers", item, ("address", "agent", "port", "credentials", "ports"))
    address = _address(given, "filers", item, "address")
    ports = item.get("ports") or ()
    if not isinstance(ports, (list, tuple)) or not all(isinstance(one, dict) for one in ports):
        raise given.error("filers", "{0}: ports must be a list of dictionaries".format(address))
    return FilerAgent(
        address=address,
        agent=_address(given, "filers", item, "agent") if item.get("agent") else address,
        port=_port(given, "filers", item),
        credentials="" if ports else _name_of_credentials(given, "filers", item, credentials),
        ports=tuple(_given_port(given, address, one) for one in ports),
    )


def _given_port(given, address, item):
    # type: (PolicyValues, str, Dict[str, Any]) -> GivenPort
    where = "{0}: ports".format(address)
    _only(given, "filers", item, ("name", "rx", "tx", "speed", "duplex", "mtu", "mac"), where)
    if not isinstance(item.get("name"), str) or not item["name"]:
        raise given.error("filers", where + " need a name each")
    sides = [switched(item.get(name)) for name in ("rx", "tx")]
    if sides.count(None) == 1 or not all(side in (ON, OFF, None) for side in sides):
        raise given.error(
            "filers", "{0}: rx and tx of {1} must both be on or off".format(where, item["name"])
        )
    duplex = item.get("duplex")
    if duplex not in (None, FULL, HALF):
        raise given.error("filers", "{0}: duplex must be full or half".format(where))
    return GivenPort(
        name=item["name"],
        pause=None if sides[0] is None else Pause(sides[0] == ON, sides[1] == ON),
        speed=_number(given, where, item, "speed"),
        duplex=duplex,
        mtu=_number(given, where, item, "mtu"),
        mac=str(item.get("mac") or "").lower(),
    )


def _number(given, where, item, name):
    # type: (PolicyValues, str, Dict[str, Any], str) -> Optional[int]
    value = item.get(name)
    if value is None:
        return None
    if isinstance(value, bool) or not str(value).isdecimal() or not int(value):
        raise given.error("filers", "{0}: {1} must be a whole number".format(where, name))
    return int(value)


def _only(given, variable, item, names, where=""):
    # type: (PolicyValues, str, Dict[str, Any], Sequence[str], str) -> None
    unknown = sorted(set(map(str, item)) - set(names))
    if unknown:
        raise given.error(
            variable,
            "{0}has unknown {1}; it takes {2}".format(
                where + " " if where else "", ", ".join(unknown), ", ".join(names)
            ),
        )


def _address(given, variable, item, name):
    # type: (PolicyValues, str, Dict[str, Any], str) -> str
    if not item.get(name):
        raise given.error(variable, "needs {0} for each".format(name))
    try:
        return snmp.check_address(str(item[name]))
    except ValueError as problem:
        raise given.error(variable, str(problem)) from problem


def _port(given, variable, item):
    # type: (PolicyValues, str, Dict[str, Any]) -> Optional[int]
    port = item.get("port")
    if port is None:
        return None
    if isinstance(port, bool) or not (str(port).isdecimal() and 0 < int(port) < 65536):
        raise given.error(variable, "{0}: port must be 1 to 65535".format(item["address"]))
    return int(port)


def _name_of_credentials(given, variable, item, credentials):
    # type: (PolicyValues, str, Dict[str, Any], Dict[str, Credentials]) -> str
    name = str(item.get("credentials") or DEFAULT)
    if name not in credentials:
        raise given.error(
            variable,
            "{0}: flow_control_credentials has not the name it asks for".format(item["address"]),
        )
    return name

# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""How Tomcat's JDBC pool, DBCP 2, HikariCP and UCP interpret the settings of a file.

The number of validations was measured on the pools, with a driver that counts its calls
(tests/pools/test_other_pools.py). UCP calls Oracle's driver in a different way; its behavior is
taken from Oracle's documentation. The running state is not visible here: the file contains the
settings of the next start.
"""

from typing import Callable, Dict, List, NamedTuple, Optional, Tuple

from ...errors import Unanswered, kind_of
from ...evaluate.advice import Step, Wait
from ...evaluate.checking import Verdict
from ...parsers.number import decimal
from .parsers.pools import DATABASE, DBCP2, DEFAULTS, HIKARICP, TOMCAT_JDBC, UCP, PoolSource
from .validation_ways import (
    BACKGROUND,
    FOREGROUND,
    NOTHING,
    Hazards,
    Mode,
    Sizes,
    cut_by_firewall,
    statement_problem,
)

#: Where HikariCP does not check a connection that was used this number of ms ago
#: (com.zaxxer.hikari.aliveBypassWindowMs, a property of the Java that runs).
_HIKARI_TRUSTS = 500

_STATEMENTS = {
    TOMCAT_JDBC: "validationQuery",
    DBCP2: "validationQuery",
    HIKARICP: "connectionTestQuery",
    UCP: "sqlForValidateConnection",
}
#: Names of the minimum, the maximum, and what a request waits, with its milliseconds.
_SIZES = {
    TOMCAT_JDBC: ("minIdle", "maxActive", "maxWait", 1),
    DBCP2: ("minIdle", "maxTotal", "maxWaitMillis", 1),
    HIKARICP: ("minimumIdle", "maximumPoolSize", "connectionTimeout", 1),
    UCP: ("minPoolSize", "maxPoolSize", "connectionWaitTimeout", 1000),
}
#: Attribute that determines the minimum if the minimum is not set.
_MINIMUM = {TOMCAT_JDBC: "initialSize", HIKARICP: "maximumPoolSize"}
_REMEDIES = {
    TOMCAT_JDBC: "decide between testOnBorrow true and testWhileIdle true with "
    "timeBetweenEvictionRunsMillis above 0",
    DBCP2: "decide between testOnBorrow true and testWhileIdle true with "
    "timeBetweenEvictionRunsMillis above 0",
    UCP: "set validateConnectionOnBorrow to true",
}
#: Settings of the time in which a connection is handed out without a check.
_TRUSTS = {TOMCAT_JDBC: "validationInterval", UCP: "secondsToTrustIdleConnection"}
#: Both ways of each pool in its own words; an empty text: the pool has only one way.
_SIDES = {
    TOMCAT_JDBC: "testOnBorrow costs a round trip at a checkout, one in a validationInterval, "
    "and hands out no connection that was dead before it. testWhileIdle costs none, but hands out "
    "connections that died within timeBetweenEvictionRunsMillis; the application must then take a "
    "new connection and try again",
    DBCP2: "testOnBorrow costs a round trip at each checkout and hands out no dead connection. "
    "testWhileIdle costs none, but hands out connections that died since their last test: set "
    "testOnBorrow to false, timeBetweenEvictionRunsMillis to the interval and "
    "numTestsPerEvictionRun to -1, and let the application take a new connection and try again",
    HIKARICP: "HikariCP validates at the checkout of a connection that was not used for 500 ms; "
    "keepaliveTime also tests idle connections in the background",
    UCP: "validateConnectionOnBorrow costs a round trip at each checkout, or one in "
    "secondsToTrustIdleConnection. Fast connection failover costs none, but its events tell of an "
    "instance that went, not of a connection that a firewall cut: set validateConnectionOnBorrow "
    "for these",
}
_REFERENCES = {
    TOMCAT_JDBC: "The Tomcat JDBC Connection Pool, Attributes",
    DBCP2: "Apache Commons DBCP 2, BasicDataSource Configuration Parameters",
    HIKARICP: "HikariCP, Configuration",
    UCP: "Universal Connection Pool Developer's Guide, Validating Connections",
}
#: Where a negative number represents no bound.
_NO_BOUND = 2147483647.0


class FilePool(NamedTuple):
    """A pool of a file. ``place`` is the name of the file in the policy."""

    place: str
    path: str
    source: PoolSource

    @property
    def name(self) -> str:
        return f"{self.place} {self.source.name}"

    @property
    def policy_name(self) -> str:
        """As pool_validation_databases has it."""
        return self.name

    @property
    def better_checker(self) -> str:
        name = _STATEMENTS.get(self.source.kind, "")
        return f"remove {name}: the pool then uses the driver's own check, as its vendor recommends"

    def remedies(self) -> List[str]:
        """What to set where nothing is validated."""
        return [f"{_REMEDIES[self.source.kind]}: {self.sides}"]

    def taken_over(self) -> List[Step]:
        """The event after which the pool works by what was set."""
        return [Wait("service_restart", "the application in a quiet hour")]

    @property
    def trusts(self) -> str:
        """The setting of ``Mode.trusted_ms``."""
        return _TRUSTS.get(self.source.kind, "")

    @property
    def sides(self) -> str:
        return _SIDES.get(self.source.kind, "")

    @property
    def after_failure(self) -> str:
        return ""

    @property
    def reference(self) -> Optional[str]:
        return _REFERENCES.get(self.source.kind)

    def _is_oracle(self) -> bool:
        driver = self.source.values.get("driverClassName", "")
        factory = self.source.values.get("connectionFactoryClassName", "")
        is_url = self.source.values.get(DATABASE) == "jdbc:oracle"
        return is_url or driver.startswith("oracle.") or factory.startswith("oracle.")

    def statement_problem(self) -> Optional[str]:
        """Why the statement that validates fails, or that nothing runs it."""
        kind = self._kind()
        name = _STATEMENTS[kind]
        statement = self._value(name)
        if not statement or (kind == TOMCAT_JDBC and self._value("validatorClassName")):
            return None
        problem = statement_problem(statement) if self._is_oracle() else None
        if problem is not None:
            return f"{name} cannot work: {problem}"
        if kind == UCP and not self._is_set("validateConnectionOnBorrow"):
            return f"{name} is set, and nothing runs it without validateConnectionOnBorrow"
        return None

    @property
    def better_statement(self) -> str:
        if self.source.kind == UCP:
            return (
                "set validateConnectionOnBorrow to true and no sqlForValidateConnection: UCP then "
                "uses the ping of Oracle's driver"
            )
        return self.better_checker

    @property
    def evidence(self) -> Tuple[str, ...]:
        return ("file:" + self.path,)

    def _unknown(self, why: str) -> Unanswered:
        return Unanswered(self.evidence[0], why)

    def _kind(self) -> str:
        """One of DEFAULTS; Unanswered for any other."""
        if self.source.kind not in DEFAULTS:
            kind = self.source.kind or "no factory"
            raise self._unknown(f"what {kind[:200]} makes of it is not known")
        return self.source.kind

    def _value(self, name: str) -> str:
        """The configured value, or the default; Unanswered if only the server can resolve it."""
        text = self.source.values.get(name) or DEFAULTS[self._kind()][name]
        if "${" in text:
            raise self._unknown(f"{name} of {self.source.name} is an expression, not a value")
        return text

    def _number(self, name: str) -> float:
        text = self._value(name)
        if text != text.strip():
            raise self._unknown(f"{name} has blanks around its number, which Java rejects")
        try:
            return decimal(text)
        except ValueError:
            raise self._unknown(f"{name} is {kind_of(text)}") from None

    def _is_set(self, name: str) -> bool:
        """As java.lang.Boolean takes it: all but "true" is false."""
        return self._value(name).lower() == "true"

    def mode(self) -> Mode:
        return _MODES[self._kind()](self)

    def placed(self, verdict: Verdict, mode: Mode) -> Verdict:
        """With what the next start takes."""
        shown = [f"{name} {value}" for name, value in sorted(self.source.values.items())]
        of_kind = f"{self.source.kind}: {mode.name} ({mode.why}); "
        return verdict._replace(persisted=of_kind + "; ".join(shown))

    def hazards(self, mode: Mode, idle_minutes: Optional[int]) -> Hazards:
        hazards, to_set = [], []
        if self.source.kind == UCP:
            hazards.append("events tell of an instance that went, not of what a firewall cut")
            to_set.append("set validateConnectionOnBorrow to true")
        elif not self._is_set("testOnReturn"):
            hazards.append("a connection that failed goes back into the pool until the next round")
            to_set.append("set testOnReturn to true")
        cut = cut_by_firewall(mode.stale_ms, idle_minutes)
        if cut:
            to_set.append(
                "shorten timeBetweenEvictionRunsMillis until each connection is tested within "
                f"{idle_minutes} minutes"
            )
        return Hazards(hazards + cut, to_set)

    def checker(self) -> Tuple[Optional[str], str]:
        """What is wrong with what validates (None: nothing), and what it is."""
        kind = self._kind()
        statement = self._value(_STATEMENTS[kind])
        if kind == TOMCAT_JDBC and self._value("validatorClassName"):
            return None, self._value("validatorClassName")
        if not statement:
            return None, "a ping of Oracle's driver" if kind == UCP else "Connection.isValid"
        driver = "" if kind in (HIKARICP, UCP) else self._value("driverClassName")
        if kind in (HIKARICP, UCP) or driver.startswith("oracle."):
            return f"{_STATEMENTS[kind]} is set, where the driver's own ping is less.", "SQL"
        return None, "SQL"

    def sizes(self) -> Sizes:
        low, high, wait, ms = _SIZES[self._kind()]
        other = _MINIMUM.get(self.source.kind)
        least = self._number(other) if other and not self._value(low) else self._number(low)
        return Sizes(least, self._bound(high), self._bound(wait) * ms)

    def _bound(self, name: str) -> float:
        number = self._number(name)
        return number if number >= 0 else _NO_BOUND

    @property
    def most(self) -> str:
        """Its maximum size in a fix, "" where it has no bound."""
        most = self.sizes().maximum
        return "" if most >= _NO_BOUND else f"{most:g}"

    # -- the kinds ---------------------------------------------------------------------------------

    def _tomcat_jdbc(self) -> Mode:
        trusted = max(0.0, self._number("validationInterval"))
        if self._is_set("testOnBorrow"):
            why = f"testOnBorrow, at most once in {trusted:g} ms (validationInterval)"
            return Mode(FOREGROUND, why, trusted_ms=trusted)
        millis = self._number("timeBetweenEvictionRunsMillis")
        if self._is_set("testWhileIdle") and millis > 0:
            why = f"testWhileIdle every {millis:g} ms"
            return Mode(BACKGROUND, why, stale_ms=millis + trusted)
        return self._only_on_return("neither testOnBorrow nor testWhileIdle is true")

    def _dbcp2(self) -> Mode:
        if self._is_set("testOnBorrow"):
            return Mode(FOREGROUND, "testOnBorrow, which is true where it is not set")
        millis = self._number("timeBetweenEvictionRunsMillis")
        if not self._is_set("testWhileIdle"):
            return self._only_on_return("testOnBorrow is false, and testWhileIdle is not true")
        if millis <= 0:
            return self._only_on_return("testWhileIdle without timeBetweenEvictionRunsMillis")
        each = self._number("numTestsPerEvictionRun")
        idle = self._bound("maxIdle")
        # Below zero it is the share of the idle ones, one by that.
        rounds = -each if each < 0 else idle / each if each else _NO_BOUND
        why = f"testWhileIdle every {millis:g} ms, {each:g} connections a round"
        return Mode(BACKGROUND, why, stale_ms=millis * max(1.0, rounds))

    def _only_on_return(self, why: str) -> Mode:
        also = "; testOnReturn checks what worked a moment ago" * self._is_set("testOnReturn")
        return Mode(NOTHING, why + also)

    def _hikaricp(self) -> Mode:
        why = f"HikariCP checks what was not used for {_HIKARI_TRUSTS} ms"
        return Mode(FOREGROUND, why, trusted_ms=_HIKARI_TRUSTS)

    def _ucp(self) -> Mode:
        factory = self._value("connectionFactoryClassName")
        if not factory.startswith("oracle."):
            raise self._unknown(
                f"connectionFactoryClassName is {kind_of(factory)}: Oracle's documents "
                "describe only "
                "Oracle's driver"
            )
        trusted = 1000 * self._number("secondsToTrustIdleConnection")
        if self._is_set("validateConnectionOnBorrow"):
            why = "validateConnectionOnBorrow"
            if trusted:
                why += f", at most once in {trusted:g} ms (secondsToTrustIdleConnection)"
            return Mode(FOREGROUND, why, trusted_ms=trusted)
        if self._is_set("fastConnectionFailoverEnabled"):
            return Mode(BACKGROUND, "events of FAN (fastConnectionFailoverEnabled)")
        return Mode(NOTHING, "neither validateConnectionOnBorrow nor fast connection failover")


_MODES: Dict[str, Callable[[FilePool], Mode]] = {
    TOMCAT_JDBC: FilePool._tomcat_jdbc,
    DBCP2: FilePool._dbcp2,
    HIKARICP: FilePool._hikaricp,
    UCP: FilePool._ucp,
}

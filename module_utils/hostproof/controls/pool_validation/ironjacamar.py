# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What IronJacamar, the pool of WildFly and JBoss EAP, makes of a data source's attributes."""

from typing import List, NamedTuple, Optional, Tuple

from ...errors import HostproofError, Unanswered, kind_of
from ...evaluate.advice import Ask, Step
from ...evaluate.checking import Verdict, by_layers
from ...parsers.number import decimal
from .facts import App, Pool, is_stopped
from .sides import AFTER_FAILURE, BEHIND, BOTH_SIDES, CHECKER, FLUSH, MATCH, MILLIS, SORTER, SQL
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


class Known(NamedTuple):
    """A pool of a server that works by what it shows. ``old``: see facts.is_old."""

    app: App
    pool: Pool
    old: Optional[bool]
    evidence: Tuple[str, ...]
    #: The reason why only the file is known: nothing runs, or what runs is unknown.
    by_file: Optional[HostproofError] = None

    @property
    def name(self) -> str:
        return " ".join(
            part for part in (self.app.server.name, self.pool.node, self.pool.name) if part
        )

    def remedies(self) -> List[str]:
        """What to set where nothing is validated."""
        to_set = []
        if self._value(CHECKER) is None and self._value(SQL) is None:
            to_set.append(
                f"set {CHECKER} to the class for the database (Oracle: {_ORACLE_CHECKER})"
            )
        if self._is_set(MATCH):
            return to_set
        if self._is_set(BEHIND):
            is_timed = self._number(MILLIS, "0") > 0
            return to_set if is_timed else [*to_set, f"set {MILLIS} to an interval above 0"]
        if self.old is not False:
            to_set.append(f"decide between {MATCH} true and {BEHIND} true: {self.sides}")
        return to_set

    def taken_over(self) -> List[Step]:
        """The event after which the pool works by what was set."""
        if self.by_file is None and self.evidence[0].startswith("file:"):
            return [Ask("deploy the file again in a quiet hour: the sessions of its pool end")]
        if self.by_file is None:
            text = "reload the server in a quiet hour (jboss-cli.sh): its sessions end"
            return [Ask(text)]
        if is_stopped(self.by_file):
            return []
        return [Ask("reload the server in a quiet hour, if it runs: its sessions end")]

    @property
    def trusts(self) -> str:
        """The setting of ``Mode.trusted_ms``: this kind of pool has none."""
        return ""

    @property
    def sides(self) -> str:
        return BOTH_SIDES

    @property
    def after_failure(self) -> str:
        return AFTER_FAILURE

    @property
    def reference(self) -> Optional[str]:
        return None

    def statement_problem(self) -> Optional[str]:
        """Why the statement that validates fails."""
        statement = self._value(SQL)
        driver = (self._value("driver-name") or "").lower()
        if statement is None or self._value(CHECKER) is not None or not _is_oracle(driver):
            return None
        problem = statement_problem(statement)
        return None if problem is None else f"{SQL} cannot work: {problem}"

    @property
    def better_statement(self) -> str:
        return self.better_checker

    @property
    def better_checker(self) -> str:
        return (
            f"set {CHECKER} to {_ORACLE_CHECKER}: one round trip in any case; from IronJacamar "
            "3.0.16 on it is a statement again"
        )

    @property
    def policy_name(self) -> str:
        """As pool_validation_databases has it: a pool of a domain is one on each of its servers."""
        return f"{self.app.server.name} {self.pool.name}"

    def _value(self, name: str) -> Optional[str]:
        """What is set; Unanswered for an expression, of which the server alone knows the value."""
        if name in self.pool.values and self.pool.values[name] is None:
            raise Unanswered(
                self.evidence[0], f"{name} of {self.pool.name} is an expression, not a value"
            )
        return self.pool.values.get(name)

    def _number(self, name: str, default: str) -> float:
        text = self._value(name) or default
        try:
            return decimal(text)
        except ValueError:
            raise Unanswered(self.evidence[0], f"{name} is {kind_of(text)}") from None

    def _is_set(self, name: str) -> bool:
        return self._value(name) == "true"

    def mode(self) -> Mode:
        if self._value(CHECKER) is None and self._value(SQL) is None:
            return Mode(NOTHING, "neither a checker nor a statement is set")
        if self._is_set(MATCH):
            also = ", which wins over background-validation" if self._is_set(BEHIND) else ""
            return Mode(FOREGROUND, MATCH + also)
        if self._is_set(BEHIND):
            millis = self._number(MILLIS, "0")
            if millis > 0:
                why = f"{BEHIND} every {self._value(MILLIS)} ms"
                return Mode(BACKGROUND, why, stale_ms=1.5 * millis)
            return Mode(NOTHING, f"{BEHIND} without {MILLIS}, which is 0 then")
        if self.old:
            return Mode(NOTHING, f"neither {MATCH} nor {BEHIND} is true (before IronJacamar 1.2)")
        if self.old is None:
            raise Unanswered(
                self.evidence[0], "the product does not tell whether unset means on match"
            )
        return Mode(FOREGROUND, f"neither {MATCH} nor {BEHIND} is true: it validates on match")

    def placed(self, verdict: Verdict, mode: Mode) -> Verdict:
        """With what runs, as the server shows it."""
        shown = [f"{name} {value}" for name, value in sorted(self.pool.values.items())]
        text = f"{mode.name} ({mode.why}); " + "; ".join(shown)
        if self.by_file is None:
            return verdict._replace(running=text)
        stored = verdict._replace(persisted=text)
        if is_stopped(self.by_file):
            return stored._replace(running="nothing: the server does not run")
        return by_layers(stored, [("running", self.by_file)])

    def hazards(self, mode: Mode, idle_minutes: Optional[int]) -> Hazards:
        sorter, flush = self._value(SORTER), self._value(FLUSH)
        hazards: List[str] = []
        to_set: List[str] = []
        if sorter is None:
            hazards.append(
                "no exception sorter is set: a connection that failed goes back into the pool"
            )
            to_set.append(f"set {SORTER} to the class for the database (Oracle: {_ORACLE_SORTER})")
        elif sorter.endswith(".PostgreSQLExceptionSorter"):
            hazards.append(
                "PostgreSQLExceptionSorter knows SQLState 08006 alone, not 57P01 or 08003"
            )
            to_set.append(f"set {SORTER} to a class that knows all of them, or {MATCH} to true")
        if flush not in _FLUSHES:
            hazards.append(
                f"flush-strategy {flush or 'FailingConnectionOnly'} throws away one dead "
                "connection for each request that fails, as many as the pool has"
            )
            to_set.append(f"set {FLUSH} to EntirePool")
        cut = cut_by_firewall(mode.stale_ms, idle_minutes)
        if cut and idle_minutes is not None:
            to_set.append(f"set {MILLIS} to at most {idle_minutes * 40000}")
        return Hazards(hazards + cut, to_set, is_fatal=sorter is None)

    def checker(self) -> Tuple[Optional[str], str]:
        """What is wrong with what validates (None: nothing), and what it is."""
        name, driver = self._value(CHECKER), self._value("driver-name") or ""
        why = None
        if name is not None and name.endswith(".GoodForSecondsValidConnectionChecker"):
            why = "GoodForSecondsValidConnectionChecker counts the wrong way round."
        elif name is None and _is_oracle(driver.lower()):
            why = "A statement is set, and there is OracleValidConnectionChecker for this driver."
        return why, name or "SQL"

    def sizes(self) -> Sizes:
        return Sizes(
            self._number("min-pool-size", "0"),
            self._number("max-pool-size", "20"),
            self._number("blocking-timeout-wait-millis", "30000"),
        )

    @property
    def most(self) -> str:
        """What a fix prints of its size."""
        return self.pool.values.get("max-pool-size") or "20"


_ORACLE = "org.jboss.jca.adapters.jdbc.extensions.oracle"
_ORACLE_CHECKER = f"{_ORACLE}.OracleValidConnectionChecker"
_ORACLE_SORTER = f"{_ORACLE}.OracleExceptionSorter"


def _is_oracle(driver: str) -> bool:
    return any(word in driver for word in ("oracle", "ojdbc"))


#: What throws away more than the one connection that failed.
_FLUSHES = ("EntirePool", "AllConnections", "AllInvalidIdleConnections", "AllIdleConnections")

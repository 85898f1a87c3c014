# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Java connection pools other than IronJacamar, and the settings of one in any kind of file.

Sources: the setters of tomcat-jdbc 10.1.34, tomcat-dbcp 10.1.34, HikariCP 5.1.0 and ucp11 23.6.
Their defaults were read from the pools too (tests/pools/test_other_pools.py repeats that).
"""

import json
import re
from typing import Any, Dict, List, NamedTuple, Optional

from ....errors import ParseError

#: The name under which only the kind of database of a URL is kept: "jdbc:oracle".
DATABASE = "database"

#: Packages of Oracle's driver.
_OF_ORACLE = ("oracle.jdbc.", "oracle.ucp.")

TOMCAT_JDBC, DBCP2, HIKARICP, UCP = "tomcat_jdbc", "dbcp2", "hikaricp", "ucp"

#: Defaults of the attributes that the rules check; "" for none. Names are case-sensitive: the
#: pools ignore other spellings.
DEFAULTS: Dict[str, Dict[str, str]] = {
    TOMCAT_JDBC: {
        "driverClassName": "",
        "initialSize": "10",
        "maxActive": "100",
        "maxWait": "30000",
        "minIdle": "",
        "testOnBorrow": "false",
        "testOnReturn": "false",
        "testWhileIdle": "false",
        "timeBetweenEvictionRunsMillis": "5000",
        "validationInterval": "3000",
        "validationQuery": "",
        "validatorClassName": "",
    },
    DBCP2: {
        "driverClassName": "",
        "maxIdle": "8",
        "maxTotal": "8",
        "maxWaitMillis": "-1",
        "minIdle": "0",
        "numTestsPerEvictionRun": "3",
        "testOnBorrow": "true",
        "testOnReturn": "false",
        "testWhileIdle": "false",
        "timeBetweenEvictionRunsMillis": "-1",
        "validationQuery": "",
    },
    HIKARICP: {
        "connectionTestQuery": "",
        "connectionTimeout": "30000",
        "driverClassName": "",
        "keepaliveTime": "",
        "maximumPoolSize": "10",
        "minimumIdle": "",
    },
    UCP: {
        "connectionFactoryClassName": "",
        "connectionWaitTimeout": "3",
        "fastConnectionFailoverEnabled": "false",
        "maxPoolSize": "2147483647",
        "minPoolSize": "0",
        "secondsToTrustIdleConnection": "0",
        "sqlForValidateConnection": "",
        "validateConnectionOnBorrow": "false",
    },
}

#: Bounds of a file: its pools, and the characters of a value.
MOST, LONGEST = 1000, 4096


class PoolSource(NamedTuple):
    """A pool as a file has it. ``kind`` is one of DEFAULTS, or the name of what is none of them.

    ``values`` are those that the file sets, as text, of the names that DEFAULTS has, and DATABASE.
    """

    name: str
    kind: str
    values: Dict[str, str]


def database_of(url: str, *classes: str) -> Dict[str, str]:
    """The kind of database of a URL, or else of a class of its driver, without what may be secret.

    {} if neither states it.
    """
    match = re.match(r"jdbc:[a-z0-9]{1,32}(?=:)", url.strip())
    if match is not None:
        return {DATABASE: match.group()}
    is_oracle = any(name.strip().startswith(_OF_ORACLE) for name in classes)
    return {DATABASE: "jdbc:oracle"} if is_oracle else {}


def kept(sources: List[PoolSource]) -> str:
    """The part of a file with passwords that is recorded as evidence."""
    return json.dumps([dict(source._asdict()) for source in sources], sort_keys=True)


def from_kept(text: str) -> List[PoolSource]:
    """The pools of what ``kept`` gave."""
    sources: Optional[List[PoolSource]] = None
    try:
        rows = json.loads(text)
        if isinstance(rows, list) and len(rows) <= MOST:
            sources = [PoolSource(**fields) for fields in rows]
    except (RecursionError, TypeError, ValueError):
        pass
    if sources is None or not all(_is_fine(source) for source in sources):
        raise ParseError("pools of a file", "the record holds none")
    return sources


def _is_fine(source: Any) -> bool:
    if not isinstance(source.values, dict):
        return False
    texts = [source.name, source.kind, *source.values, *source.values.values()]
    return all(isinstance(text, str) and len(text) <= LONGEST for text in texts)

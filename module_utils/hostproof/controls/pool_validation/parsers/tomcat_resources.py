# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Data sources in Tomcat's files: server.xml, context.xml, conf/Catalina/HOST/APP.xml.

Sources: Apache Tomcat 10.1, JNDI Resources How-To (a javax.sql.DataSource without a factory is
made by DBCP 2); for the other factories the how-tos of their pools.
"""

from typing import Dict, List

from ....errors import ParseError
from ....parsers import xml_events
from .pools import (
    DBCP2,
    DEFAULTS,
    HIKARICP,
    LONGEST,
    MOST,
    TOMCAT_JDBC,
    UCP,
    PoolSource,
    database_of,
)

_WHAT = "XML of Tomcat's resources"

_FACTORIES = {
    "": DBCP2,
    "org.apache.tomcat.dbcp.dbcp2.BasicDataSourceFactory": DBCP2,
    "org.apache.commons.dbcp2.BasicDataSourceFactory": DBCP2,
    "org.apache.tomcat.jdbc.pool.DataSourceFactory": TOMCAT_JDBC,
    "com.zaxxer.hikari.HikariJNDIFactory": HIKARICP,
    "oracle.ucp.jdbc.PoolDataSourceImpl": UCP,
    "oracle.ucp.jdbc.PoolXADataSourceImpl": UCP,
}
_URLS = ("url", "jdbcUrl", "URL")
_CLASSES = ("driverClassName", "dataSourceClassName", "connectionFactoryClassName")
#: Elements of standalone.xml, domain.xml and *-ds.xml.
_OF_JBOSS = ("datasources", "datasource", "xa-datasource", "subsystem")
#: The only type that has a factory where none is named.
_DATA_SOURCE = "javax.sql.DataSource"


def parse(text: str) -> List[PoolSource]:
    """Every data source, in order; ParseError for what is no XML, or is beyond the bounds."""
    sources: List[PoolSource] = []

    def begin(name: str, attributes: Dict[str, str]) -> None:
        _refuse_others(name)
        kind, factory = attributes.get("type", ""), attributes.get("factory", "")
        if name != "Resource" or "DataSource" not in kind + factory:
            return
        if any(len(value) > LONGEST for value in attributes.values()) or len(sources) == MOST:
            raise ParseError(_WHAT, f"a value is longer than {LONGEST}, or there are over {MOST}")
        sources.append(_source(kind, factory, attributes))

    xml_events.read(_WHAT, text, begin, lambda _name: None, lambda _text: None)
    return sources


def _refuse_others(element: str) -> None:
    """ParseError of a file of another server."""
    if element == "jdbc-data-source":
        raise ParseError(
            _WHAT, "it is a file of WebLogic, which is not read: check its pool in the console"
        )
    if element in _OF_JBOSS:
        raise ParseError(
            _WHAT, "it is a file of JBoss or WildFly: name its server in pool_validation_servers"
        )


def _source(kind: str, factory: str, attributes: Dict[str, str]) -> PoolSource:
    # Other factories create OracleDataSource and similar classes, possibly without a pool.
    pool = _FACTORIES.get(factory) if factory or kind == _DATA_SOURCE else None
    known = DEFAULTS.get(pool or "", {})
    # Java trims neither a boolean nor a number: " true " is false.
    values = {key: value for key, value in attributes.items() if key in known}
    if known:
        url = next((attributes[key] for key in _URLS if key in attributes), "")
        values.update(database_of(url, *(attributes.get(key, "") for key in _CLASSES)))
    return PoolSource(attributes.get("name", ""), pool or factory or kind, values)

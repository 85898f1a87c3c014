# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Data sources in the files of WildFly and JBoss EAP: standalone*.xml, domain.xml, *-ds.xml.

Such a file contains passwords, also in URLs, so only the elements listed here are recorded. It is
untrusted: a DOCTYPE or an entity is rejected, and all sizes are limited. Sources: schema
jboss-as-datasources_7_0.xsd; ironjacamar datasources_1_1.xsd. Elements are identified only by their
names, because the namespace differs by release."""

import json
import re
from typing import Dict, List, NamedTuple, Optional, Tuple

from ....errors import ParseError
from ....parsers import xml_events

_WHAT = "XML of data sources"

#: Elements of a data source whose text is the attribute of the model.
TEXTS = {
    "driver": "driver-name",
    "check-valid-connection-sql": "check-valid-connection-sql",
    "validate-on-match": "validate-on-match",
    "background-validation": "background-validation",
    "background-validation-millis": "background-validation-millis",
    "use-fast-fail": "use-fast-fail",
    "flush-strategy": "flush-strategy",
    "min-pool-size": "min-pool-size",
    "max-pool-size": "max-pool-size",
    "blocking-timeout-millis": "blocking-timeout-wait-millis",
    "idle-timeout-minutes": "idle-timeout-minutes",
}
#: Elements whose attribute class-name is.
CLASSES = {
    "valid-connection-checker": "valid-connection-checker-class-name",
    "stale-connection-checker": "stale-connection-checker-class-name",
    "exception-sorter": "exception-sorter-class-name",
}
#: Names of the attributes in the management model, which facts use.
ATTRIBUTES = tuple(sorted(set(TEXTS.values()) | set(CLASSES.values())))

_SCHEMA = re.compile(r"urn:jboss:domain:([0-9]{1,3})\.")
_SOURCES = ("datasource", "xa-datasource")
_MOST = 1000
_LONGEST = 4096


class DataSource(NamedTuple):
    """``attributes`` are those of ATTRIBUTES that are set, as text. ``profile`` is of a domain."""

    name: str
    jndi: str
    xa: bool
    enabled: bool
    profile: Optional[str]
    attributes: Dict[str, str]
    #: Major version of the schema urn:jboss:domain: 1 up to JBoss AS 7 and EAP 6.
    schema: Optional[int] = None


class _Reader:
    """What expat calls."""

    def __init__(self) -> None:
        self.found: List[DataSource] = []
        self.path: List[str] = []
        self.profile: Optional[str] = None
        self.schema: Optional[int] = None
        self.source: Optional[DataSource] = None
        self.text: Optional[List[str]] = None

    def begin(self, name: str, attributes: Dict[str, str]) -> None:
        self.path.append(name)
        if len(self.path) == 1:
            schema = _SCHEMA.match(attributes.get("xmlns", ""))
            self.schema = None if schema is None else int(schema.group(1))
        if name == "profile" and len(self.path) == 3:
            self.profile = attributes.get("name")
        elif self.source is None:
            if name in _SOURCES and "datasources" in self.path[-2:-1]:
                self.source = DataSource(
                    attributes.get("pool-name") or attributes.get("jndi-name", ""),
                    attributes.get("jndi-name", ""),
                    name == "xa-datasource",
                    attributes.get("enabled", "true") != "false",
                    self.profile,
                    {},
                    self.schema,
                )
        elif name in CLASSES and "class-name" in attributes:
            self.source.attributes[CLASSES[name]] = attributes["class-name"]
        elif name in TEXTS:
            self.text = []

    def data(self, text: str) -> None:
        if self.text is not None:
            self.text.append(text)
            if sum(len(part) for part in self.text) > _LONGEST:
                raise ParseError(_WHAT, f"a value is longer than {_LONGEST} characters")

    def end(self, name: str) -> None:
        name = self.path.pop()
        if self.source is None:
            if name == "profile":
                self.profile = None
        elif name in _SOURCES:
            self.found.append(self.source)
            self.source = None
            if len(self.found) > _MOST:
                raise ParseError(_WHAT, f"it has more than {_MOST} data sources")
        elif self.text is not None and name in TEXTS:
            self.source.attributes[TEXTS[name]] = "".join(self.text).strip()
            self.text = None


def parse(text: str) -> List[DataSource]:
    """Every data source; ParseError for what is no XML, or is beyond the bounds."""
    reader = _Reader()
    xml_events.read(_WHAT, text, reader.begin, reader.end, reader.data)
    return reader.found


def kept(text: str) -> str:
    """The part of such a file that is recorded as evidence: its data sources as JSON, without
    secrets."""
    return json.dumps([dict(source._asdict()) for source in parse(text)], sort_keys=True)


def from_kept(text: str) -> List[DataSource]:
    """The data sources of what ``kept`` gave."""
    try:
        read = json.loads(text)
        sources = [DataSource(**fields) for fields in read]
        fine = isinstance(read, list) and all(_is_fine(source) for source in sources)
    except (RecursionError, TypeError, ValueError):
        raise ParseError(_WHAT, "its record holds no data sources") from None
    if not fine:
        raise ParseError(_WHAT, "its record holds no data sources")
    return sources


def _is_fine(source: DataSource) -> bool:
    texts: Tuple[object, ...] = (source.name, source.jndi) + tuple(source.attributes.values())
    return (
        all(isinstance(text, str) for text in texts)
        and set(source.attributes) <= set(ATTRIBUTES)
        and isinstance(source.xa, bool)
        and isinstance(source.enabled, bool)
        and (source.profile is None or isinstance(source.profile, str))
        and (source.schema is None or type(source.schema) is int)
    )

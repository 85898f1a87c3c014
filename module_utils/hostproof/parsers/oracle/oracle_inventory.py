# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The central inventory of Oracle Universal Installer: oraInst.loc and ContentsXML/inventory.xml.

Source: Oracle Universal Installer User's Guide, Oracle Universal Installer Inventory.
"""

import re
from typing import List, NamedTuple
from xml.etree import ElementTree

from ...errors import ParseError

#: Where root.sh puts the pointer to the inventory: Linux and AIX; Solaris and HP-UX.
POINTERS = ("/etc/oraInst.loc", "/var/opt/oracle/oraInst.loc")
FILE = "ContentsXML/inventory.xml"


class Home(NamedTuple):
    """An installed home. ``clusterware`` is whether it is one of Grid Infrastructure."""

    name: str
    path: str
    clusterware: bool


def parse_pointer(text: str) -> str:
    """The directory of the inventory that oraInst.loc names."""
    for line in text.split("\n"):
        name, _, value = line.partition("=")
        if name.strip() == "inventory_loc" and value.strip().startswith("/"):
            return value.strip().rstrip("/")
    raise ParseError("oraInst.loc", "no inventory_loc=/FOLDER")


def group_of(text: str) -> str:
    """The group of the inventory that oraInst.loc names, "" without one."""
    groups = re.findall(r"^\s*inst_group\s*=\s*(\S*)\s*$", text, re.MULTILINE)
    return str(groups[-1]) if groups else ""


def parse(text: str) -> List[Home]:
    """The homes that are installed; those that were removed are left out."""
    if "<!DOCTYPE" in text or "<!ENTITY" in text:
        # No inventory has them, and what they can do to a reader of XML is known.
        raise ParseError("inventory.xml", "it defines a document type")
    try:
        root = ElementTree.fromstring(text.encode("utf-8", "surrogateescape"))
    except (ElementTree.ParseError, LookupError, ValueError) as problem:
        raise ParseError("inventory.xml", str(problem)) from problem
    return [
        Home(
            name=home.get("NAME", ""),
            path=home.get("LOC", "").rstrip("/"),
            clusterware=home.get("CRS", "").lower() == "true",
        )
        for home in root.iter("HOME")
        if home.get("REMOVED") != "T" and home.get("LOC", "").startswith("/")
    ]

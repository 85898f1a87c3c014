# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The central inventory of Oracle Universal Installer: oraInst.loc and ContentsXML/inventory.xml.

Source: Oracle Universal Installer User's Guide, Oracle Universal Installer Inventory.
"""

from typing import List, NamedTuple

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
    path = _value(text, "inventory_loc")
    if not path.startswith("/"):
        raise ParseError("oraInst.loc", "no inventory_loc=/FOLDER")
    return path


def group_of(text: str) -> str:
    """The group of the inventory that oraInst.loc names, "" without one."""
    return _value(text, "inst_group")


def _value(text: str, wanted: str) -> str:
    pairs = [line.partition("=") for line in text.split("\n")]
    values = {value.strip().rstrip("/") for name, _, value in pairs if name.strip() == wanted}
    if len(values) > 1:
        # Which one counts is not documented.
        raise ParseError("oraInst.loc", f"{len(values)} values of {wanted}")
    return "".join(values)


def parse(text: str) -> List[Home]:
    """The homes that are installed; those that were removed are left out."""
    if "<!DOCTYPE" in text or "<!ENTITY" in text:
        # No inventory has them, and what they can do to a reader of XML is known.
        raise ParseError("inventory.xml", "it defines a document type")
    # Imported here: a host without an inventory does not need it, and the import takes 2 ms.
    from xml.etree import ElementTree

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

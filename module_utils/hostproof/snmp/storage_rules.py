# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""How storage is recognised over SNMP: one table, and nothing but data.

A rule says by which values a product is known (``by``), where its model, version and serial
number stand, and where each of these OIDs is documented (``source``). The first rule that holds
wins, so a product comes before what it is built on. To add a product, add a rule here and a
record of an agent to tests/fixtures/storage_type.
"""

from typing import NamedTuple, Tuple

# -- roles ----------------------------------------------------------------------------------------

NAS, SAN, BACKUP, TAPE, SAN_SWITCH = STORAGE_ROLES = ("nas", "san", "backup", "tape", "san_switch")
SERVER, NOT_STORAGE, UNKNOWN = "server", "not_storage", "unknown"
ROLES = STORAGE_ROLES + (SERVER, NOT_STORAGE, UNKNOWN)

#: How sure: the product's own OID answered; its text or enterprise number says so; a guess.
CERTAIN, LIKELY, WEAK = SURE = ("certain", "likely", "weak")

# -- the words of the table -----------------------------------------------------------------------

OBJECT_ID, TEXT, ANSWERS, NOTHING, ENGINE = "object_id", "text", "answers", "nothing", "engine"


class Clue(NamedTuple):
    """Something that is true of an agent.

    ``kind`` OBJECT_ID: sysObjectID is ``oid`` or below it. TEXT: the value matches ``pattern``.
    ANSWERS: there is a value. NOTHING: there is none, or an empty one. ENGINE: the engine ID has
    the enterprise number ``pattern``. An ``oid`` that ends with a dot is a column or a subtree.
    The text of sysDescr has "-" where a host's own name stood (``OWN_NAMES``).
    """

    kind: str
    oid: str
    pattern: str


class Way(NamedTuple):
    """Clues that must all be true, and how sure they make it."""

    sure: str
    clues: Tuple[Clue, ...]


class Place(NamedTuple):
    """Where a detail stands: the first group of ``pattern`` in the value, put into ``form``.

    An ``oid`` that ends with a dot is a column, of which the first row counts. Where there are
    ``names``, the value is looked up there.
    """

    oid: str
    pattern: str = "(.+)"
    form: str = "{0}"
    names: Tuple[Tuple[str, str], ...] = ()


class Rule(NamedTuple):
    vendor: str
    product: str
    role: str
    by: Tuple[Way, ...]
    model: Tuple[Place, ...]
    version: Tuple[Place, ...]
    serial: Tuple[Place, ...]
    source: str


def _rule(
    vendor: str,
    product: str,
    role: str,
    by: Tuple[Way, ...],
    source: str,
    model: Tuple[Place, ...] = (),
    version: Tuple[Place, ...] = (),
    serial: Tuple[Place, ...] = (),
) -> Rule:
    return Rule(vendor, product, role, by, tuple(model), tuple(version), tuple(serial), source)


def _by_id(*oids: str, **options: str) -> Tuple[Way, ...]:
    """Known by sysObjectID, one of several."""
    sure = options.get("sure", CERTAIN)
    return tuple(Way(sure, (Clue(OBJECT_ID, oid, ""),)) for oid in oids)


def _by_text(*patterns: str, **options: str) -> Tuple[Way, ...]:
    """Known by a value (sysDescr unless another OID is named) that matches one of several."""
    oid, sure = options.get("oid", DESCRIPTION), options.get("sure", LIKELY)
    return tuple(Way(sure, (Clue(TEXT, oid, pattern),)) for pattern in patterns)


def _by_value(*oids: str) -> Tuple[Way, ...]:
    """Known by an OID of its own that has a value."""
    return tuple(Way(CERTAIN, (Clue(ANSWERS, oid, ""),)) for oid in oids)


def _by_engine(*numbers: str) -> Tuple[Way, ...]:
    """Known by the enterprise number in its engine ID, where a generic agent says nothing else."""
    return tuple(Way(LIKELY, (Clue(ENGINE, "", number),)) for number in numbers)


# -- OIDs that any agent may have -----------------------------------------------------------------

DESCRIPTION = "1.3.6.1.2.1.1.1.0"
OBJECT = "1.3.6.1.2.1.1.2.0"
UPTIME = "1.3.6.1.2.1.1.3.0"
ENGINE_ID = "1.3.6.1.6.3.10.2.1.1.0"
ENTERPRISES = "1.3.6.1.4.1"
E = ENTERPRISES + "."

#: ENTITY-MIB (RFC 6933) entPhysicalTable: the first row is the chassis.
ENTITY = "1.3.6.1.2.1.47.1.1.1.1."
ENTITY_TEXT, ENTITY_NAME, ENTITY_FIRMWARE = ENTITY + "2.", ENTITY + "7.", ENTITY + "9."
ENTITY_VERSION, ENTITY_SERIAL = ENTITY + "10.", ENTITY + "11."
ENTITY_VENDOR, ENTITY_MODEL = ENTITY + "12.", ENTITY + "13."

#: What every chassis may say of itself, also where no rule knows it.
SAID_BY_ANY = (ENTITY_TEXT, ENTITY_VENDOR, ENTITY_MODEL, ENTITY_VERSION, ENTITY_SERIAL)

#: FCMGMT-MIB (Fibre Alliance) connUnitTable, indexed by World Wide Name.
UNIT = "1.3.6.1.3.94.1.6.1."
UNIT_TYPE, UNIT_PRODUCT, UNIT_SERIAL = UNIT + "3.", UNIT + "7.", UNIT + "8."
UNIT_INFO = UNIT + "21."

#: tcpListenerProcess (RFC 4022): what follows this is port 2049 where the agent serves NFS.
BEFORE_NFS = (
    "1.3.6.1.2.1.6.20.1.4.1.4.0.0.0.0.2048",
    "1.3.6.1.2.1.6.20.1.4.2.16.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.2048",
)

#: The name that people gave a host, where it stands in sysDescr. net-snmp has ``uname -a`` there
#: unless it is told otherwise. A name proves nothing: a proxy may be called "rubrik".
OWN_NAMES = (
    r"^(?:AIX|CYGWIN\S*|Darwin|DragonFly|FreeBSD|GNU/kFreeBSD|HP-UX|IRIX(?:64)?|Linux|NetBSD|OpenBSD|"
    r"OSF1|SCO_SV|SunOS|UnixWare|VMkernel) (\S+)(?= |$)",
    r"^Pure Storage (.+?)(?=, Purity)",
    r"^Nimble Storage (.+?)(?= running software)",
    r"^Isilon OneFS (\S+)(?= v\d)",
    r"^(\S+)(?= \d+ Isilon OneFS v\d)",
)

NAMES = {
    DESCRIPTION: "sysDescr",
    OBJECT: "sysObjectID",
    ENGINE_ID: "snmpEngineID",
    E + "42.2.225.1.4.2.0": "sunAkInfoProduct",
    ENTITY_VENDOR: "entPhysicalMfgName",
    ENTITY_MODEL: "entPhysicalModelName",
    ENTITY_TEXT: "entPhysicalDescr",
    ENTITY_VERSION: "entPhysicalSoftwareRev",
    ENTITY_SERIAL: "entPhysicalSerialNum",
    UNIT_TYPE: "connUnitType",
    UNIT_PRODUCT: "connUnitProduct",
    UNIT_INFO: "connUnitInfo",
}

# -- Oracle's own question ------------------------------------------------------------------------

#: What the database asks, with SNMPv1, before it allows Hybrid Columnar Compression on NFS.
#: Oracle ZFS Storage Appliance Administration Guide, "Configuring for Oracle Database Clients".
ORACLE_PRODUCT = E + "42.2.225.1.4.2.0"
#: "Sun Storage 7410" (Database Installation Guide, "Enabling HCC on Direct NFS Client"), "Sun ZFS
#: Storage 7420" and "Oracle ZFS Storage ..." are the prefixes, old and new.
ORACLE_PREFIX = r"^(?:Sun|Oracle) (?:ZFS )?Storage\b"
#: The simulator is an appliance, and no compression for it (bug 13362079, 11.2.0.3.1 and later).
ORACLE_SIMULATOR = r"VirtualBox|VMware|Simulator"

_AK = E + "42.2.225.1.4."
_ORACLE = "SUN-AK-MIB as Oracle's guide and a published walk of an appliance show it"

# -- products -------------------------------------------------------------------------------------

#: Clustered ONTAP began with 8.0, and from then on 7-Mode says so: "NetApp Release 7.3.7: Thu May 3
#: 04:32:51 PDT 2012" has no other mode to name.
_RELEASE_7_MODE = r"^NetApp Release (?:\S*?_)?(?:[1-7]\.\d|.*7-Mode)"

_PARTS_HP = r"(?:HPE? |Hewlett[- ]Packard )?(.+)"

#: Brocade's switch types are the last number of its sysObjectID (Fabric OS MIB Reference).
_BROCADE_TYPES = (
    ("32", "4100"),
    ("34", "200E"),
    ("42", "48000"),
    ("58", "5000"),
    ("62", "DCX"),
    ("64", "5300"),
    ("66", "5100"),
    ("71", "300"),
    ("77", "DCX-4S"),
    ("109", "6510"),
    ("118", "6505"),
    ("120", "DCX 8510-8"),
    ("121", "DCX 8510-4"),
    ("133", "6520"),
    ("162", "G620"),
    ("165", "X6-4"),
    ("166", "X6-8"),
    ("170", "G610"),
    ("173", "G630"),
    ("178", "7810"),
    ("179", "X7-4"),
    ("180", "X7-8"),
    ("181", "G720"),
    ("183", "G720"),
)

RULES = (
    # Oracle. The appliance is looked for before anything else: it is a Solaris beneath.
    _rule(
        "Oracle",
        "ZFS Storage Appliance",
        NAS,
        _by_text(ORACLE_PREFIX, oid=ORACLE_PRODUCT, sure=CERTAIN),
        _ORACLE,
        model=(Place(ORACLE_PRODUCT, r"Storage (?!Appliance$)(?:Appliance )?(\S.*)"),),
        version=(Place(_AK + "3.0"),),
        serial=(Place(_AK + "8.0"), Place(_AK + "7.0")),
    ),
    _rule(
        "Oracle",
        "Pillar Axiom",
        SAN,
        _by_value(E + "15548.2.1.1.4.1.1.14.") + _by_id(E + "15548") + _by_engine("15548"),
        "Zenoss ZenPacks.PillarAxiom; enterprise number 15548 (IANA)",
        version=(Place(E + "15548.2.2.3.2.1.11."), Place(E + "15548.2.2.3.2.1.10.")),
        serial=(Place(E + "15548.2.1.1.4.1.1.14."), Place(E + "15548.2.2.3.2.1.9.")),
    ),
    _rule(
        "Oracle",
        "StorageTek library",
        TAPE,
        _by_id(E + "1211.1.15", E + "1211.1.11", sure=LIKELY),
        "STREAMLINE-TAPE-LIBRARY-MIB; enterprise number 1211 (IANA)",
    ),
    # NetApp. What an ONTAP says in sysDescr is newer than what an upgrade left in 789.1.1.2.
    _rule(
        "NetApp",
        "E-Series",
        SAN,
        _by_id(E + "789.1123"),
        "LibreNMS record netapp_e2700",
        model=(Place(DESCRIPTION, r"NETAPP\s+(\S+)"),),
    ),
    _rule(
        "IBM",
        "N series",
        NAS,
        _by_text(r"^Data ONTAP Release .*\(IBM\)"),
        "Rapid7 recog, snmp_sysdescr",
        version=(Place(DESCRIPTION, r"Data ONTAP Release ([^\s:]+)"),),
        model=(Place(E + "789.1.1.5.0"),),
        serial=(Place(E + "789.1.1.9.0"),),
    ),
    _rule(
        "NetApp",
        "Data ONTAP 7-Mode",
        NAS,
        tuple(
            Way(CERTAIN, (Clue(OBJECT_ID, E + oid, ""), Clue(TEXT, DESCRIPTION, _RELEASE_7_MODE)))
            for oid in ("789.2.1", "789.2.3")
        )
        + _by_text(_RELEASE_7_MODE, r"^Data ONTAP Release ")
        # Where sysDescr names no release, the product's own object does.
        + tuple(
            Way(LIKELY, (Clue(TEXT, E + "789.1.1.2.0", _RELEASE_7_MODE), without))
            for without in (
                Clue(NOTHING, DESCRIPTION, ""),
                Clue(TEXT, DESCRIPTION, r"^(?!.*\bRelease \d)"),
            )
        ),
        "NETWORK-APPLIANCE-MIB",
        model=(Place(E + "789.1.1.5.0"),),
        version=(
            Place(DESCRIPTION, r"(?:NetApp|Data ONTAP) Release ([^\s:]+)"),
            Place(E + "789.1.1.2.0", r"Release ([^\s:]+)"),
        ),
        serial=(Place(E + "789.1.1.9.0"),),
    ),
    _rule(
        "NetApp",
        "ONTAP",
        NAS,
        _by_id(E + "789.2") + _by_text(r"^NetApp Release \S") + _by_engine("789"),
        "NETWORK-APPLIANCE-MIB",
        model=(Place(E + "789.1.25.2.1.4."), Place(E + "789.1.1.5.0")),
        version=(
            Place(DESCRIPTION, r"NetApp Release ([^\s:]+)"),
            Place(E + "789.1.1.2.0", r"Release ([^\s:]+)"),
        ),
        serial=(Place(E + "789.1.25.2.1.5."), Place(E + "789.1.1.9.0")),
    ),
    # Dell, EMC and what they bought.
    _rule(
        "Dell EMC",
        "Isilon OneFS",
        NAS,
        _by_id(E + "12124")
        + _by_text(r"^(?:- \d+ )?Isilon OneFS\b")
        + _by_value(E + "12124.1.1.3.0")
        + _by_engine("12124"),
        "ISILON-MIB",
        model=(Place(E + "12124.2.51.1.4."),),
        version=(Place(DESCRIPTION, r"OneFS (?:\S+ )?v(\d\S*)"),),
        serial=(Place(E + "12124.2.51.1.3."),),
    ),
    _rule(
        "Dell EMC",
        "Data Domain",
        BACKUP,
        _by_id(E + "19746") + _by_text(r"^Data Domain OS "),
        "DATA-DOMAIN-MIB",
        model=(Place(E + "19746.1.13.1.4.0"),),
        version=(
            Place(DESCRIPTION, r"Data Domain OS (\S+)"),
            Place(E + "19746.1.13.1.3.0", r"(?:Data Domain OS )?(\S+)"),
        ),
        serial=(Place(E + "19746.1.13.1.1.0"),),
    ),
    _rule(
        "Dell EMC",
        "CLARiiON/VNX",
        SAN,
        _by_id(E + "1981") + _by_text(r"^\S+ - Flare \d"),
        "LibreNMS and Rapid7 recog, snmp_sysdescr",
        model=(Place(DESCRIPTION, r"^(\S+) - Flare "),),
        version=(Place(DESCRIPTION, r" - Flare (\S+)"),),
    ),
    _rule(
        "Dell EMC",
        "Celerra/VNX File",
        NAS,
        _by_text(r"^Product: EMC (?:Celerra|VNX) File Server"),
        "Rapid7 recog, snmp_sysdescr",
        version=(Place(DESCRIPTION, r"Version:\s+T?(\S+)"),),
    ),
    _rule(
        "Dell EMC",
        "Unity/VNXe",
        SAN,
        _by_text(r"^(?:Dell )?EMC (?:Unity|VNXe)", r"^(?:UnityVSA|Unity|VNXe)\b"),
        "sysDescr only: no public record of an agent",
        model=(Place(DESCRIPTION, r"((?:Unity|VNXe)\S*(?: \d+\w*)?)"),),
    ),
    _rule(
        "Dell",
        "FluidFS",
        NAS,
        _by_value(E + "674.11000.2000.200.1.47.2") + _by_text(r"^FluidFS "),
        "FLUIDFS-MIB",
        model=(
            Place(E + "674.11000.2000.200.1.47.2", r"(?:Dell Storage )?(.+)"),
            Place(E + "674.11000.2000.200.1.47.2.0", r"(?:Dell Storage )?(.+)"),
        ),
        version=(
            Place(E + "674.11000.2000.200.1.47.1"),
            Place(E + "674.11000.2000.200.1.47.1.0"),
        ),
    ),
    _rule(
        "Dell",
        "Compellent",
        SAN,
        _by_text(r"Compellent", oid=E + "674.11000.2000.500.1.2.1.0", sure=CERTAIN)
        + _by_text(r"^FreeBSD .*/COMPELLEN"),
        "DELL-STORAGE-SC-MIB",
        model=(Place(E + "674.11000.2000.500.1.2.13.1.7."),),
        version=(
            Place(E + "674.11000.2000.500.1.2.4.0"),
            Place(DESCRIPTION, r"R(\d\d\.\d\d\.\d\d\.\d+)"),
        ),
        serial=(Place(E + "674.11000.2000.500.1.2.13.1.8."),),
    ),
    _rule(
        "Dell",
        "EqualLogic PS",
        SAN,
        _by_id(E + "12740"),
        "EQLMEMBER-MIB",
        model=(Place(E + "12740.2.1.11.1.1."),),
        serial=(Place(E + "12740.2.1.11.1.2."),),
    ),
    _rule(
        "Dell",
        "PowerVault ME4",
        SAN,
        _by_text(r"\bME[45]\d+", oid=UNIT_PRODUCT, sure=CERTAIN)
        + _by_text(r"^(?:DELL EMC |Dell )?ME[45]\d{3}\b"),
        "FCMGMT-MIB as LibreNMS records show it",
        model=(
            Place(UNIT_PRODUCT, r"\b(ME[45]\d+\w*)"),
            Place(DESCRIPTION, r"\b(ME[45]\d{3}\w*)"),
        ),
        serial=(Place(UNIT_SERIAL),),
    ),
    _rule(
        "Dell",
        "PowerVault tape library",
        TAPE,
        _by_id(E + "674.10893.2.102"),
        "LibreNMS os_detection/powervault",
    ),
    # HPE.
    _rule(
        "HPE",
        "3PAR/Primera",
        SAN,
        _by_id(E + "12925") + _by_text(r"^HPE?_3PAR ") + _by_engine("12925"),
        "THREEPAR-MIB; LibreNMS",
        model=(Place(DESCRIPTION, r"3PAR (\S+?),"),),
        version=(Place(DESCRIPTION, r"OS version: ([^,]+)"),),
        serial=(Place(DESCRIPTION, r"Serial number: ([^,\s]+)"),),
    ),
    _rule(
        "HPE",
        "Nimble",
        SAN,
        _by_id(E + "37447") + _by_text(r"^Nimble Storage ") + _by_engine("37447"),
        "NIMBLE-MIB",
        version=(Place(DESCRIPTION, r"software version (\S+)"),),
    ),
    _rule(
        "HPE",
        "StoreEver MSL",
        TAPE,
        _by_id(E + "11.10.2.1.3.25") + _by_text(r"^HPE? MSL"),
        "SEMI-MIB; LibreNMS",
        model=(Place(DESCRIPTION, r"^(?:HPE? )?(MSL.*?)(?: Series)?$"),),
        version=(Place(ENTITY_FIRMWARE),),
        serial=(Place(ENTITY_SERIAL),),
    ),
    _rule(
        "HPE",
        "StoreOnce",
        BACKUP,
        _by_text(r"^(?:HPE? )?(?:StorageWorks )?(?:StoreOnce|D2D Backup System)\b"),
        "Rapid7 recog, snmp_sysdescr",
        serial=(Place(DESCRIPTION, r"D2D Backup System (\S+)"),),
    ),
    _rule(
        "HPE",
        "MSA",
        SAN,
        _by_id(E + "11.2.51") + _by_text(r"^HPE? (?:StorageWorks )?(?:MSA|P2000)"),
        "HP MSA SNMP reference, sysObjectID 11.2.51; CPQSINFO-MIB; FCMGMT-MIB",
        model=(
            Place(E + "232.2.2.4.2.0", _PARTS_HP),
            Place(UNIT_PRODUCT, _PARTS_HP),
            Place(DESCRIPTION, _PARTS_HP),
        ),
        serial=(Place(E + "232.2.2.2.1.0"), Place(UNIT_SERIAL)),
    ),
    _rule(
        "HPE",
        "LeftHand/StoreVirtual",
        SAN,
        _by_id(E + "9804"),
        "LEFTHAND-NETWORKS-NSM-MIB; enterprise number 9804 (IANA)",
    ),
    # IBM.
    _rule(
        "IBM",
        "tape library",
        TAPE,
        _by_id(E + "2.6.210", E + "2.6.182")
        + _by_text(
            r"IBM .*(?:Tape Library|TS\d{4}|\b3584)", oid=E + "2.6.182.3.3.1.0", sure=CERTAIN
        )
        + _by_text(r"IBM .*(?:Tape Library|TS\d{4})", oid=E + "14851.3.1.4.2.0", sure=CERTAIN)
        + _by_text(r"^IBM .*Tape Library"),
        "SNIA-SML-MIB; IBM TS3500 MIB; LibreNMS os_discovery/ibmtl",
        model=(
            Place(E + "2.6.182.3.3.1.0", r"(?:IBM (?:System Storage )?)?(\S+)"),
            Place(E + "14851.3.1.4.2.0", r"(?:IBM (?:System Storage )?)?(\S+)"),
            Place(E + "2.6.210.3.1.1.8."),
            Place(E + "2.6.210.1.1.0"),
        ),
        version=(Place(E + "14851.3.1.3.4.0"), Place(E + "2.6.210.1.4.0")),
        serial=(Place(E + "14851.3.1.3.2.0"), Place(E + "2.6.210.3.1.1.10.")),
    ),
    _rule(
        "IBM",
        "Spectrum Scale",
        NAS,
        _by_value(E + "2.6.212.1.2.1.1."),
        "GPFS-MIB",
        version=(Place(E + "2.6.212.1.4.1.9."),),
    ),
    _rule(
        "IBM",
        "Storwize/SVC",
        SAN,
        _by_id(E + "2.6.190"),
        "IBM-SVC-MIB",
    ),
    # Hitachi.
    _rule(
        "Hitachi",
        "HNAS",
        NAS,
        _by_id(E + "11096"),
        "BLUEARC-SERVER-MIB; centreon-plugins",
    ),
    _rule(
        "Hitachi",
        "Content Platform",
        NAS,
        _by_id(E + "116.5.46") + _by_value(E + "116.5.46.1.1.1.1.1."),
        "HCP-MIB; centreon-plugins",
    ),
    _rule(
        "Hitachi",
        "VSP",
        SAN,
        _by_id(E + "116.3.11.4.1.1") + _by_value(E + "116.5.11.4.1.1.5.1.4."),
        "Hitachi SNMP Agent User Guide (sysObjectID); HITACHI-MIB raidMibs",
        model=(Place(E + "116.5.11.4.1.1.5.1.4."), Place(DESCRIPTION, r"^(\S+)$")),
        version=(Place(E + "116.5.11.4.1.1.5.1.3."),),
        serial=(Place(E + "116.5.11.4.1.1.5.1.1."),),
    ),
    # Others, by name.
    _rule(
        "Areca",
        "RAID subsystem",
        SAN,
        _by_id(E + "18928"),
        "ARECA-SNMP-MIB; LibreNMS",
    ),
    _rule(
        "BDT",
        "FlexStor II",
        TAPE,
        _by_id(E + "20884.10893.2.101") + _by_text(r"^BDT FlexStor"),
        "BDT-MIB; LibreNMS",
        model=(Place(E + "20884.10893.2.101.1.2.0", form="FlexStor II {0}"),),
        version=(Place(E + "20884.10893.2.101.4.4.0"),),
        serial=(Place(E + "20884.10893.2.101.4.1.0"),),
    ),
    _rule(
        "Buffalo",
        "TeraStation/LinkStation",
        NAS,
        _by_text(r"^BUFFALO \W?(?:Tera|Link)Station") + _by_id(E + "5227.27"),
        "LibreNMS os_detection/buffalo",
        model=(Place(DESCRIPTION, r'"([A-Z]+[\w-]*\d[\w-]*) Ver\.'),),
        version=(Place(DESCRIPTION, r"Ver\.(\S+)"),),
    ),
    _rule(
        "DDN",
        "SFA",
        SAN,
        _by_id(E + "6894") + _by_value(E + "6894.2.30.0"),
        "SFA-INFO MIB; LibreNMS os_detection/ddnos",
    ),
    _rule(
        "Huawei",
        "OceanStor",
        SAN,
        _by_id(E + "2011.2.91", E + "34774") + _by_value(E + "34774.4.1.1.1.0"),
        "ISM-STORAGE-SVC-MIB; LibreNMS os_detection/oceanstor",
        version=(Place(E + "34774.4.1.1.6.0"),),
        serial=(Place(E + "34774.4.1.1.1.0"),),
    ),
    _rule("Infortrend", "EonStor", SAN, _by_id(E + "1714"), "IFT-SNMP-MIB; LibreNMS"),
    _rule(
        "iXsystems",
        "TrueNAS",
        NAS,
        _by_id(E + "50536") + _by_text(r"^(?:True|Free)NAS-\d"),
        "TRUENAS-MIB; LibreNMS; Kentik profile",
        version=(Place(DESCRIPTION, r"NAS-(\d\S*?)\.?(?:\s|$)"),),
    ),
    _rule(
        "iXsystems",
        "FreeNAS",
        NAS,
        _by_text(r"^Hardware: \S+ .* Software: FreeBSD ") + _by_value(E + "25359.1.1."),
        "FREENAS-MIB; FreeNAS' own sysDescr",
    ),
    _rule(
        "Nasuni",
        "Filer",
        NAS,
        _by_id(E + "42040") + _by_value(E + "42040.1.1.0"),
        "NASUNI-FILER-MIB",
    ),
    _rule(
        "Netgear",
        "ReadyNAS",
        NAS,
        _by_id(E + "4526.100.12", E + "4526.18", E + "4526.22") + _by_value(E + "4526.22.1.0"),
        "READYNASOS-MIB; centreon-plugins",
        version=(Place(E + "4526.22.2.0"),),
    ),
    _rule(
        "Nexenta",
        "NexentaStor",
        NAS,
        _by_text(r"^SunOS - \S+ Nexenta(?:OS|Stor)", r"^NexentaStor\b") + _by_id(E + "40045"),
        "LibreNMS record opensolaris; enterprise number 40045 (IANA)",
        version=(Place(DESCRIPTION, r"NexentaOS_(\S+)"),),
    ),
    _rule("Nutanix", "AOS CVM", SAN, _by_id(E + "41263"), "NUTANIX-MIB; LibreNMS"),
    _rule("Open-E", "Open-E", NAS, _by_text(r"^Open-E\b"), "LibreNMS os_detection/open-e"),
    _rule(
        "OSNexus",
        "QuantaStor",
        SAN,
        _by_value(E + "39324.1.1.9.1.1.18.0"),
        "QUANTASTOR-SYS-STATS MIB; LibreNMS record quantastor",
    ),
    _rule("Panasas", "ActiveStor", NAS, _by_id(E + "10159"), "PANASAS-SYSTEM-MIB-V1"),
    _rule("Panzura", "Freedom", NAS, _by_id(E + "32853"), "enterprise number 32853 (IANA)"),
    _rule(
        "Pure Storage",
        "FlashBlade",
        NAS,
        _by_text(r"^(?:Pure Storage -, )?Purity//FB\b"),
        "PURESTORAGE-MIB",
        version=(Place(DESCRIPTION, r"(?:^|, )Purity//FB (\S+)"),),
    ),
    _rule(
        "Pure Storage",
        "FlashArray",
        SAN,
        _by_id(E + "40482") + _by_text(r"^(?:Pure Storage -, )?Purity//FA\b") + _by_engine("40482"),
        "PURESTORAGE-MIB; LibreNMS",
        version=(Place(DESCRIPTION, r"(?:^|, )Purity(?://FA)? v?(\d\S*)"),),
    ),
    _rule(
        "QNAP",
        "Turbo NAS",
        NAS,
        _by_id(E + "24681", E + "55062")
        + _by_text(r"^QNAP", oid=ENTITY_VENDOR, sure=CERTAIN)
        + _by_value(E + "24681.1.2.12.0", E + "55062.1.12.3.0")
        + _by_engine("24681"),
        "NAS-MIB of QNAP; ENTITY-MIB; LibreNMS",
        model=(
            Place(ENTITY_MODEL),
            Place(E + "24681.1.4.1.1.1.1.1.2.1.3."),
            Place(E + "24681.1.2.12.0"),
            # A series of models ("TS-X31"), which stands where others have their host's name.
            Place(DESCRIPTION, r"^Linux (T[A-Z]+-X\d+\w*) "),
        ),
        version=(
            Place(ENTITY_VERSION),
            Place(DESCRIPTION, r"^Linux \S+ (\d+\.\d+\.\d+)$"),
        ),
        serial=(Place(ENTITY_SERIAL), Place(E + "24681.1.4.1.1.1.1.1.2.1.4.")),
    ),
    _rule(
        "QSAN", "array", SAN, _by_id(E + "22274"), "QSAN-SNMP-MIB; enterprise number 22274 (IANA)"
    ),
    _rule(
        "Rubrik",
        "CDM",
        BACKUP,
        _by_text(r"^Linux - \d\S*-rubrik"),
        "LibreNMS record rubrik",
    ),
    # A router has the same subtree, and LibreNMS tells it by the same text.
    _rule(
        "Synology",
        "router",
        NOT_STORAGE,
        _by_text(r"^(?:RT|MR|WRX)\d", oid=E + "6574.1.5.1.0", sure=CERTAIN)
        + _by_text(r"^SRM\b", oid=E + "6574.1.5.3.0", sure=CERTAIN)
        + _by_text(r"\bsyno_hw_version=(?:RT|MR|WRX)\d", oid="1.3.6.1.2.1.25.1.4.0", sure=CERTAIN),
        "LibreNMS os_detection/srm; SYNOLOGY-SYSTEM-MIB",
        model=(
            Place(E + "6574.1.5.1.0"),
            Place("1.3.6.1.2.1.25.1.4.0", r"\bsyno_hw_version=(\S+)"),
        ),
        version=(Place(E + "6574.1.5.3.0", r"(?:SRM )?(\d\S*)"),),
        serial=(Place(E + "6574.1.5.2.0"),),
    ),
    _rule(
        "Synology",
        "DiskStation",
        NAS,
        _by_id(E + "6574") + _by_value(E + "6574.1.1.0", E + "6574.1.5.1.0") + _by_engine("6574"),
        "SYNOLOGY-SYSTEM-MIB (Synology DiskStation MIB Guide)",
        model=(
            Place(E + "6574.1.5.1.0"),
            Place("1.3.6.1.2.1.25.1.4.0", r"\bsyno_hw_version=(\S+)"),
        ),
        version=(
            Place(E + "6574.1.5.3.0", r"(?:DSM )?(\d\S*)"),
            Place(DESCRIPTION, r" #(\d+) ", "build {0}"),
        ),
        serial=(Place(E + "6574.1.5.2.0"),),
    ),
    _rule(
        "Tandberg",
        "Magnum",
        TAPE,
        _by_id(E + "3073.2.3") + _by_text(r"^MAGNUM \d"),
        "LibreNMS os_detection/magnum",
        model=(Place(DESCRIPTION, r"^MAGNUM (\d+)"),),
    ),
    _rule(
        "Unitrends",
        "Recovery appliance",
        BACKUP,
        _by_value(E + "21865.1.6.1.0"),
        "UNITRENDS-SNMP MIB; LibreNMS os_detection/recoveryos",
    ),
    _rule(
        "Western Digital",
        "My Cloud",
        NAS,
        _by_id(E + "5127"),
        "MYCLOUD MIBs; enterprise number 5127 (IANA)",
        version=(Place(E + "5127.1.1.1.", r"^(\d+\.\d+\.\d+)"),),
    ),
    # SAN switches.
    _rule(
        "Brocade",
        "Fabric OS switch",
        SAN_SWITCH,
        _by_id(E + "1588.2.1.1")
        + _by_value(E + "1588.2.1.1.1.1.6.0")
        + _by_text(r"^Connectrix ", oid=OBJECT, sure=LIKELY),
        "SW-MIB; Fabric OS MIB Reference (switch types)",
        model=(
            Place(OBJECT, r"^Connectrix (\S+)"),
            Place(OBJECT, r"1588\.2\.1\.1\.(\d+)$", names=_BROCADE_TYPES),
            Place(DESCRIPTION, r"^(?:Connectrix |Brocade\s?)?((?:DS[-_]|ED[-_]|G|X)\d\w*)$"),
        ),
        version=(Place(E + "1588.2.1.1.1.1.6.0"), Place(ENTITY_VERSION)),
        serial=(Place(ENTITY_SERIAL),),
    ),
    _rule(
        "Cisco",
        "MDS 9000",
        SAN_SWITCH,
        _by_text(r"^Cisco (?:NX-OS|SAN-OS)\(tm\) m\d", r"^Cisco .*\bMDS ?9\d{3}"),
        "Rapid7 recog, snmp_sysdescr",
        version=(Place(DESCRIPTION, r"Version ([^\s,]+)"),),
        serial=(Place(ENTITY_SERIAL),),
    ),
    _rule(
        "QLogic",
        "Fibre Channel switch",
        SAN_SWITCH,
        _by_id(E + "1663.1.1", E + "3873.1")
        + _by_text(
            r"^(?:(?:HPE?|QLogic) )?(?:StorageWorks )?"
            r"(?:SANbox\b|8/20q Fibre Channel Switch|SN6000 Fibre Channel)"
        ),
        "HP 8/20q and SN6000 SNMP Reference Guide",
    ),
    _rule(
        "McDATA",
        "Fibre Channel director",
        SAN_SWITCH,
        _by_id(E + "289.2.1"),
        "HP StorageWorks SNMP Reference for Directors and Edge Switches",
    ),
    # What says no more than what it is.
    _rule(
        "Seagate",
        "Exos/AssuredSAN",
        SAN,
        _by_id(E + "347.2.5730"),
        "FCMGMT-MIB; LibreNMS",
        model=(Place(UNIT_PRODUCT),),
        serial=(Place(UNIT_SERIAL),),
    ),
    _rule(
        "unknown vendor",
        "Fibre Channel storage",
        SAN,
        _by_text(r"^11$", oid=UNIT_TYPE),
        "FCMGMT-MIB connUnitType 11, storage-subsystem",
        model=(Place(UNIT_PRODUCT),),
        serial=(Place(UNIT_SERIAL),),
    ),
    _rule(
        "unknown vendor",
        "Fibre Channel switch",
        SAN_SWITCH,
        _by_text(r"^4$", oid=UNIT_TYPE),
        "FCMGMT-MIB connUnitType 4, switch",
        model=(Place(UNIT_PRODUCT),),
        serial=(Place(UNIT_SERIAL),),
    ),
    _rule(
        "unknown vendor",
        "tape library",
        TAPE,
        _by_value(E + "14851.3.1.4.2.0"),
        "SNIA-SML-MIB storageLibrary",
        model=(Place(E + "14851.3.1.4.2.0"),),
        version=(Place(E + "14851.3.1.3.4.0"),),
        serial=(Place(E + "14851.3.1.3.2.0"),),
    ),
    # Vendors of nothing but storage, known by their number (IANA enterprise numbers).
    _rule(
        "Qumulo",
        "Core",
        NAS,
        _by_id(E + "47017", sure=LIKELY) + _by_engine("47017"),
        "enterprise number (IANA)",
    ),
    _rule(
        "Tintri",
        "VMstore",
        NAS,
        _by_id(E + "41456", sure=LIKELY) + _by_engine("41456"),
        "enterprise number (IANA)",
    ),
    _rule(
        "WekaIO",
        "Weka",
        NAS,
        _by_id(E + "50414", sure=LIKELY) + _by_engine("50414"),
        "enterprise number (IANA)",
    ),
    _rule(
        "Infinidat",
        "InfiniBox",
        SAN,
        _by_id(E + "37814", sure=LIKELY) + _by_engine("37814"),
        "enterprise number (IANA)",
    ),
    _rule(
        "Dell EMC", "EMC storage", SAN, _by_id(E + "1139", sure=WEAK), "enterprise number (IANA)"
    ),
    _rule(
        "Fujitsu",
        "Celvin NAS",
        NAS,
        # snmpMPDCompliance of RFC 3412: any agent may give it by mistake, so it counts only where
        # the agent says nothing else.
        (
            Way(
                WEAK,
                (
                    Clue(OBJECT_ID, "1.3.6.1.6.3.11.2.3.1.1", ""),
                    Clue(NOTHING, DESCRIPTION, ""),
                ),
            ),
        ),
        "LibreNMS os_detection/celvin: the agent gives a MIB object for its sysObjectID",
    ),
)

# -- what is no storage ---------------------------------------------------------------------------

#: sysObjectID of the agents of operating systems: anything can hide behind these.
OPERATING_SYSTEMS = (
    (E + "8072.3.2.1", "HP-UX"),
    (E + "8072.3.2.2", "SunOS 4"),
    (E + "8072.3.2.3", "Solaris"),
    (E + "8072.3.2.7", "NetBSD"),
    (E + "8072.3.2.8", "FreeBSD"),
    (E + "8072.3.2.10", "Linux"),
    (E + "8072.3.2.12", "OpenBSD"),
    (E + "8072.3.2.13", "Windows"),
    (E + "8072.3.2.15", "AIX"),
    (E + "8072.3.2.16", "macOS"),
    (E + "8072", "net-snmp"),
    (E + "2021.250", "UCD-SNMP"),
    (E + "311.1.1.3", "Windows"),
    (E + "2.3.1.2", "AIX"),
    (E + "11.2.3.2", "HP-UX"),
    (E + "42.2.1.1", "Solaris"),
    (E + "42.2.12.3", "Solaris"),
    (E + "2238", "FreeBSD"),
    (E + "12325", "FreeBSD"),
    (E + "30155.23", "OpenBSD"),
    (E + "23", "NetWare"),
    (E + "6876.4", "VMware ESX"),
)

#: sysObjectID of what is known to be something else (enterprise numbers of IANA; for ILOM Oracle's
#: guide, for iDRAC and iLO their vendors' MIBs). A vendor that stands nowhere here is unknown.
OTHER_PRODUCTS = (
    (E + "42.2.200", "ILOM"),
    (E + "674.10892.2", "DRAC"),
    (E + "674.10892.5", "iDRAC"),
    (E + "232.9.4", "iLO"),
    (E + "9.1", "network device"),
    (E + "2636", "network device"),
    (E + "12356", "network device"),
    (E + "318.1", "power supply"),
    (E + "534.1", "power supply"),
    (E + "253.8.62", "printer"),
    (E + "641", "printer"),
    (E + "11.2.3.9", "printer"),
)

#: sysDescr of operating systems, where sysObjectID is missing or says nothing.
SYSTEM_TEXTS = (
    (r"^Linux ", "Linux"),
    (r"^FreeBSD |\bFreeBSD \d", "FreeBSD"),
    (r"^(?:Open|Net)BSD ", "BSD"),
    (r"^SunOS |^Sun SNMP Agent", "Solaris"),
    (r"Software: Windows", "Windows"),
    (r"^AIX |\bAIX version\b", "AIX"),
    (r"^HP-UX ", "HP-UX"),
    (r"^Darwin ", "macOS"),
    (r"Novell NetWare", "NetWare"),
)

# -- health ---------------------------------------------------------------------------------------


class Volumes(NamedTuple):
    """A table of volumes or file systems: columns (without the last dot) of one agent.

    ``used`` and ``size`` count in ``unit`` bytes, or in the column ``units``; ``percent`` stands
    instead of them. Only rows whose ``kind`` column matches ``kinds`` count. ``product`` is that
    of the rule, "" for every agent. ``form`` is the column that tells volumes from what they lie
    in (VOLUME_FORMS), "" where there is no such difference.
    """

    product: str
    name: str
    size: str
    used: str
    unit: int
    units: str
    percent: str
    kind: str
    kinds: str
    source: str
    form: str = ""


#: What is measured by how full its disks are (an aggregate, a traditional volume), what is carved
#: out of that and may be full by design, and a pool or file system of any other storage.
AGGREGATE, FLEXIBLE, POOL = VOLUME_KINDS = ("aggregate", "volume", "pool")
#: dfType: traditional, flexible, aggregate, striped aggregate, striped volume.
VOLUME_FORMS = {1: AGGREGATE, 2: FLEXIBLE, 3: AGGREGATE, 4: AGGREGATE, 5: FLEXIBLE}

#: Media, and the models of storage that has one kind alone.
SSD, HDD = MEDIA = ("ssd", "hdd")
ALL_FLASH = r"^(?:AFF|ASA)[- ]?\w|^FAS500f"
#: Clustered ONTAP's flash is younger than these.
BEFORE_FLASH = ("Data ONTAP 7-Mode", "N series")
FLASH_PRODUCTS = ("FlashArray", "FlashBlade")

_DF = E + "789.1.5.4.1."
_SHARES = E + "42.2.225.1.6.1."
_POOLS = E + "50536.1.1.1.1."
_SPACE = E + "19746.1.3.2.1.1."
_HOST_STORAGE = "1.3.6.1.2.1.25.2.3.1."

VOLUMES = tuple(
    Volumes(product, _DF + "2", _DF + "29", _DF + "30", 1024, "", "", "", "", source, _DF + "23")
    for product, source in (
        ("ONTAP", "NETWORK-APPLIANCE-MIB dfTable"),
        ("Data ONTAP 7-Mode", "NETWORK-APPLIANCE-MIB dfTable"),
        ("N series", "NETWORK-APPLIANCE-MIB dfTable"),
    )
) + (
    Volumes(
        "ZFS Storage Appliance",
        _SHARES + "2",
        _SHARES + "10",
        _SHARES + "11",
        1,
        "",
        "",
        "",
        "",
        "SUN-AK-MIB shares; centreon-plugins",
    ),
    Volumes(
        "TrueNAS",
        _POOLS + "2",
        _POOLS + "4",
        _POOLS + "5",
        0,
        _POOLS + "3",
        "",
        "",
        "",
        "FREENAS-MIB zpoolTable, until version 12",
    ),
    Volumes(
        "Data Domain",
        _SPACE + "3",
        "",
        "",
        0,
        "",
        _SPACE + "7",
        _SPACE + "3",
        r"post-comp",
        "DATA-DOMAIN-MIB fileSystemSpaceTable",
    ),
    Volumes(
        "",
        _HOST_STORAGE + "3",
        _HOST_STORAGE + "5",
        _HOST_STORAGE + "6",
        0,
        _HOST_STORAGE + "4",
        "",
        _HOST_STORAGE + "2",
        r"^1\.3\.6\.1\.2\.1\.25\.2\.1\.4$",
        "HOST-RESOURCES-MIB (RFC 2790) hrStorageTable, fixed disks",
    ),
)

#: Interfaces: (name, discarded in, discarded out), the first table that has rows.
INTERFACES = (
    (E + "789.1.22.1.2.1.2", E + "789.1.22.1.2.1.28", E + "789.1.22.1.2.1.34"),
    ("1.3.6.1.2.1.2.2.1.2", "1.3.6.1.2.1.2.2.1.13", "1.3.6.1.2.1.2.2.1.19"),
)
#: NETAPP-MIB netportTable: node, port, and the flow control that the port has now.
PORT_NODE, PORT_NAME = E + "789.1.22.2.1.1", E + "789.1.22.2.1.2"
PORT_FLOW_CONTROL = E + "789.1.22.2.1.24"
PORT_PRODUCTS = ("ONTAP",)
#: What that says; anything else is unknown.
FLOW_CONTROL = {1: "none", 2: "receive", 3: "send", 4: "full"}
#: Ports that carry no data: ONTAP's management port of a node.
PORTS_WITHOUT_DATA = ("e0M",)

INTERFACE_PRODUCTS = ("ONTAP", "Data ONTAP 7-Mode", "N series")

#: Objects with the percentage of time that the processors are busy, or idle.
CPU_BUSY, CPU_IDLE = E + "789.1.2.1.3.0", E + "2021.11.11.0"
#: hrProcessorLoad (RFC 2790): one row a processor.
CPU_LOADS = "1.3.6.1.2.1.25.3.3.1.2"

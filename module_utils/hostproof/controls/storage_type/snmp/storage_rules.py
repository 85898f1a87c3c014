# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Roles and OIDs to distinguish storage from other devices over SNMP.

storage_families.py defines the products and the OIDs that identify them.
"""

from typing import NamedTuple

# -- roles ----------------------------------------------------------------------------------------

NAS, SAN, BACKUP, TAPE, SAN_SWITCH = STORAGE_ROLES = ("nas", "san", "backup", "tape", "san_switch")
SERVER, NOT_STORAGE, UNKNOWN = "server", "not_storage", "unknown"
ROLES = STORAGE_ROLES + (SERVER, NOT_STORAGE, UNKNOWN)

#: Confidence: from an OID of the product; from its text or enterprise number; a guess.
CERTAIN, LIKELY, WEAK = SURE = ("certain", "likely", "weak")

#: Vendor of a family that is identified by the MIB of a standard.
ANY_VENDOR = "unknown vendor"
#: Roles in which one product has several brand names, and an agent has the objects of several.
SOLD_BY_MANY = (TAPE, SAN_SWITCH)
#: Products with the same technology: one agent may have the objects of all products in a set.
SAME_INSIDE = (
    {"N series", "ONTAP", "Data ONTAP 7-Mode", "ThinkSystem DM"},
    {"MSA", "PowerVault ME4", "Exos/AssuredSAN"},
    {"E-Series", "PowerVault MD3"},
    {"TrueNAS", "FreeNAS"},
    {"Celvin NAS", "Turbo NAS"},
)
#: Vendors that belong to another vendor today, by the first word of their name.
OTHER_NAMES = {
    "EMC": "Dell",
    "Compellent": "Dell",
    "Hewlett-Packard": "HPE",
    "Hewlett": "HPE",
    "Compaq": "HPE",
    "3PAR": "HPE",
    "Sun": "Oracle",
    "Engenio": "NetApp",
    "LSI": "NetApp",
}

# -- OIDs that any agent may have -----------------------------------------------------------------

DESCRIPTION = "1.3.6.1.2.1.1.1.0"
OBJECT = "1.3.6.1.2.1.1.2.0"
UPTIME = "1.3.6.1.2.1.1.3.0"
ENGINE_ID = "1.3.6.1.6.3.10.2.1.1.0"
ENTERPRISES = "1.3.6.1.4.1"
E = ENTERPRISES + "."

#: ENTITY-MIB (RFC 6933) entPhysicalTable, by entPhysicalIndex; the class of a chassis.
ENTITY = "1.3.6.1.2.1.47.1.1.1.1."
ENTITY_CLASS, CHASSIS = ENTITY + "5.", 3

#: FCMGMT-MIB (Fibre Alliance) connUnitTable, indexed by World Wide Name.
UNIT = "1.3.6.1.3.94.1.6.1."
UNIT_TYPE = UNIT + "3."
#: Values of connUnitType for the whole device, in order of preference: storage-subsystem, nas,
#: storage-device, storage-access-device, switch, hub, gateway, hba, host.
UNIT_TYPES = (11, 17, 9, 14, 4, 3, 5, 7, 10)

#: Names for the objects of the chassis and of the unit, with their columns.
OF_CHASSIS = {
    "chassis.text": ENTITY + "2.",
    "chassis.name": ENTITY + "7.",
    "chassis.firmware": ENTITY + "9.",
    "chassis.version": ENTITY + "10.",
    "chassis.serial": ENTITY + "11.",
    "chassis.vendor": ENTITY + "12.",
    "chassis.model": ENTITY + "13.",
}
#: An agent with ENTITY-MIB has rows in at least one of these columns.
SHOW_A_CHASSIS = ("chassis.text", "chassis.serial", "chassis.vendor", "chassis.model")
OF_UNIT = {
    "unit.type": UNIT_TYPE,
    "unit.product": UNIT + "7.",
    "unit.serial": UNIT + "8.",
    "unit.info": UNIT + "21.",
}
#: Names that a definition may use in place of OIDs.
PLACES = {"sysDescr": DESCRIPTION, "sysObjectID": OBJECT}
PLACES.update((name, name) for name in (*OF_CHASSIS, *OF_UNIT))

#: Another object that any agent may have: hrDeviceDescr (RFC 2790).
SAID_BY_ANY = ("1.3.6.1.2.1.25.3.2.1.3.",)

#: tcpListenerProcess (RFC 4022): on an NFS server, the next OID after this one is port 2049.
BEFORE_NFS = (
    "1.3.6.1.2.1.6.20.1.4.1.4.0.0.0.0.2048",
    "1.3.6.1.2.1.6.20.1.4.2.16.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.2048",
)

#: The hostname in sysDescr. By default, net-snmp returns ``uname -a``. A hostname proves nothing: a
#: proxy may be called "rubrik".
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
    "chassis.text": "entPhysicalDescr",
    "chassis.name": "entPhysicalName",
    "chassis.firmware": "entPhysicalFirmwareRev",
    "chassis.version": "entPhysicalSoftwareRev",
    "chassis.serial": "entPhysicalSerialNum",
    "chassis.vendor": "entPhysicalMfgName",
    "chassis.model": "entPhysicalModelName",
    "unit.type": "connUnitType",
    "unit.product": "connUnitProduct",
    "unit.serial": "connUnitSn",
    "unit.info": "connUnitInfo",
    SAID_BY_ANY[0]: "hrDeviceDescr",
}

#: Oracle allows Hybrid Columnar Compression on it; what the database queries is not public.
AXIOM = "Pillar Axiom"

# -- query of the database ------------------------------------------------------------------------

#: The database reads this object with SNMPv1 before it allows Hybrid Columnar Compression on NFS.
#: Oracle ZFS Storage Appliance Administration Guide, "Configuring for Oracle Database Clients".
ORACLE_PRODUCT = E + "42.2.225.1.4.2.0"
#: Old and new prefixes: "Sun Storage 7410" (Database Installation Guide, "Enabling HCC on Direct
#: NFS Client"), "Sun ZFS Storage 7420", "Oracle ZFS Storage ...".
ORACLE_PREFIX = r"^(?:Sun|Oracle) (?:ZFS )?Storage\b"
#: The complete names of products. Oracle Database Installation Guide
#: ("Sun Storage 7410"); documentation of the Sun ZFS Storage 7000 and of the Oracle ZFS Storage
#: ZS3, ZS4, ZS5, ZS7 and ZS9 Appliances; Administration Guide ("Oracle ZFS Storage
#: Appliance"); Cabling Guide, OS8.8 ("Oracle ZFS Storage Appliance Racked System ZS9-2 HE").
_7000 = ("7110", "7120", "7210", "7310", "7320", "7350", "7410", "7420", "7720")
_ZS = ("ZS3-2", "ZS3-4", "ZS3-BA", "ZS3-ES", "ZS4-4", "ZS5-2", "ZS5-4", "ZS7-2", "ZS9-2")
_RACKED = "Oracle ZFS Storage Appliance Racked System ZS9-2 "
ORACLE_NAMES = frozenset(
    f"{prefix} {form}".format(model)
    for prefix, models in (
        ("Sun Storage", _7000),
        ("Sun ZFS Storage", _7000 + _ZS),
        ("Oracle ZFS Storage", _7000 + _ZS),
    )
    for model in models
    for form in ("{0}", "Appliance {0}", "{0} Appliance", "Appliance")
) | {_RACKED + "HE", _RACKED + "MR"}
#: The simulator is an appliance, but the database rejects compression on it (bug 13362079,
#: 11.2.0.3.1 and later).
ORACLE_SIMULATOR = r"VirtualBox|VMware|Simulator"

# -- devices other than storage -------------------------------------------------------------------

#: sysObjectID of the agents of operating systems. Any type of device may use these agents.
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

#: sysObjectID of other devices (enterprise numbers of IANA; Oracle's guide for ILOM; the vendors'
#: MIBs for iDRAC and iLO). A vendor that is not listed here is unknown.
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

#: sysDescr of operating systems, if sysObjectID is missing or does not identify one.
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

    ``size``, and ``used`` or ``free``, are in units of ``unit`` bytes, or of the column ``units``.
    ``percent`` replaces them. Only rows whose ``kind`` column matches ``kinds`` count. ``product``
    is the product of the rule, "" for every agent. ``form`` is the column that distinguishes
    volumes from aggregates (VOLUME_FORMS), "" without such a distinction.
    """

    product: str
    name: str
    source: str
    size: str = ""
    used: str = ""
    free: str = ""
    unit: int = 1
    units: str = ""
    percent: str = ""
    kind: str = ""
    kinds: str = ""
    form: str = ""


#: An aggregate or traditional volume consists of disks. A flexible volume is part of an aggregate
#: and may be full by design. A pool is a pool or file system of any other storage.
AGGREGATE, FLEXIBLE, POOL = ("aggregate", "volume", "pool")
#: dfType: traditional, flexible, aggregate, striped aggregate, striped volume.
VOLUME_FORMS = {1: AGGREGATE, 2: FLEXIBLE, 3: AGGREGATE, 4: AGGREGATE, 5: FLEXIBLE}

#: Media, and the models with only flash.
SSD, HDD = MEDIA = ("ssd", "hdd")
ALL_FLASH = r"^(?:AFF|ASA)[- ]?\w|^FAS500f"
#: These products are older than all-flash models.
BEFORE_FLASH = ("Data ONTAP 7-Mode", "N series")
FLASH_PRODUCTS = ("FlashArray", "FlashBlade")

_MIB = 1 << 20

_DF = E + "789.1.5.4.1."
_SHARES = E + "42.2.225.1.6.1."
_POOLS = E + "50536.1.1.1.1."
_SPACE = E + "19746.1.3.2.1.1."
_OCEANSTOR = E + "34774.4.1."
_HNAS = E + "11096.6.1.1.1.3.5.2.1."
_NUTANIX = E + "41263.7.1."
_QNAP = E + "24681.1.4.1.1.1.2.3.2.1."
_LEFTHAND = E + "9804.3.1.1.2.12.48.1."
_ETERNUS = E + "211.1.21.1.{0}.14.5.2.1."
_IFS = E + "12124.1."
_HOST_STORAGE = "1.3.6.1.2.1.25.2.3.1."

#: Recordings refer to a table by its index. Add new tables at the end.
VOLUMES = (
    *(
        Volumes(
            product,
            _DF + "2",
            "NETWORK-APPLIANCE-MIB dfTable",
            size=_DF + "29",
            used=_DF + "30",
            unit=1024,
            form=_DF + "23",
        )
        for product in ("ONTAP", "Data ONTAP 7-Mode", "N series")
    ),
    Volumes(
        "ZFS Storage Appliance",
        _SHARES + "2",
        "SUN-AK-MIB shares; centreon-plugins",
        size=_SHARES + "10",
        used=_SHARES + "11",
    ),
    Volumes(
        "TrueNAS",
        _POOLS + "2",
        "FREENAS-MIB zpoolTable, until version 12",
        size=_POOLS + "4",
        used=_POOLS + "5",
        units=_POOLS + "3",
    ),
    Volumes(
        "Data Domain",
        _SPACE + "3",
        "DATA-DOMAIN-MIB fileSystemSpaceTable",
        percent=_SPACE + "7",
        kind=_SPACE + "3",
        kinds=r"post-comp",
    ),
    # The whole array: its serial number, totalCapacity and usedCapacity in MiB.
    Volumes(
        "OceanStor",
        _OCEANSTOR + "1.1",
        "ISM-STORAGE-SVC-MIB",
        size=_OCEANSTOR + "1.5",
        used=_OCEANSTOR + "1.4",
        unit=_MIB,
    ),
    Volumes(
        "",
        _HOST_STORAGE + "3",
        "HOST-RESOURCES-MIB (RFC 2790) hrStorageTable, fixed disks",
        size=_HOST_STORAGE + "5",
        used=_HOST_STORAGE + "6",
        units=_HOST_STORAGE + "4",
        kind=_HOST_STORAGE + "2",
        kinds=r"^1\.3\.6\.1\.2\.1\.25\.2\.1\.4$",
    ),
    # ifsTotalBytes and ifsAvailableBytes: the space of the virtual hot spare is not available.
    Volumes(
        "Isilon OneFS",
        _IFS + "1.1",
        "ISILON-MIB ifsFilesystem",
        size=_IFS + "3.1",
        free=_IFS + "3.3",
    ),
    # The MIB does not define the unit of pools. This is the unit of centreon-plugins.
    Volumes(
        "OceanStor",
        _OCEANSTOR + "23.4.2.1.2",
        "HUAWEI-STORAGE-SPACE-MIB hwInfoStoragePoolTable",
        size=_OCEANSTOR + "23.4.2.1.7",
        free=_OCEANSTOR + "23.4.2.1.9",
        unit=_MIB,
    ),
    Volumes(
        "HNAS",
        _HNAS + "3",
        "BLUEARC-SERVER-MIB volumeTable; Checkmk, centreon-plugins",
        size=_HNAS + "5",
        free=_HNAS + "6",
    ),
    Volumes(
        "AOS CVM",
        _NUTANIX + "3",
        "NUTANIX-MIB storagePoolInfoTable",
        size=_NUTANIX + "4",
        used=_NUTANIX + "5",
    ),
    Volumes(
        "Turbo NAS",
        _QNAP + "8",
        "NAS-MIB volumeTable",
        size=_QNAP + "3",
        free=_QNAP + "4",
    ),
    Volumes(
        "LeftHand/StoreVirtual",
        _LEFTHAND + "2",
        "LEFTHAND-NETWORKS-NSM-CLUSTERING-MIB clusClusterTable",
        percent=_LEFTHAND + "32",
    ),
    # Thin provisioning pools. Their names are numbers; sizes are in MB, as Checkmk reads them.
    *(
        Volumes(
            "ETERNUS DX/AF",
            table + "1",
            "FJDARY-E150 MIB fjdaryMgtTpPoolTable",
            size=table + "3",
            used=table + "4",
            unit=_MIB,
        )
        for table in (_ETERNUS.format("150"), _ETERNUS.format("153"))
    ),
    Volumes(
        "ThinkSystem DM",
        _DF + "2",
        "NETWORK-APPLIANCE-MIB dfTable",
        size=_DF + "29",
        used=_DF + "30",
        unit=1024,
        form=_DF + "23",
    ),
)

#: Tables of a product precede the generic table, and new tables precede old ones.
VOLUMES_IN_TURN = sorted(enumerate(VOLUMES), key=lambda entry: (not entry[1].product, -entry[0]))

#: Interfaces: (name, discarded in, discarded out), the first table that has rows.
INTERFACES = (
    (E + "789.1.22.1.2.1.2", E + "789.1.22.1.2.1.28", E + "789.1.22.1.2.1.34"),
    ("1.3.6.1.2.1.2.2.1.2", "1.3.6.1.2.1.2.2.1.13", "1.3.6.1.2.1.2.2.1.19"),
)
#: NETAPP-MIB netportTable: node, port, and current flow control of the port.
PORT_NODE, PORT_NAME = E + "789.1.22.2.1.1", E + "789.1.22.2.1.2"
PORT_FLOW_CONTROL = E + "789.1.22.2.1.24"
PORT_PRODUCTS = ("ONTAP", "ThinkSystem DM")
#: Values of PORT_FLOW_CONTROL. Other values are unknown.
FLOW_CONTROL = {1: "none", 2: "receive", 3: "send", 4: "full"}
#: Ports without data traffic: the management port of an ONTAP node.
PORTS_WITHOUT_DATA = ("e0M",)

INTERFACE_PRODUCTS = ("ONTAP", "Data ONTAP 7-Mode", "N series", "ThinkSystem DM")

#: Objects with the busy and the idle time of the processors in percent.
CPU_BUSY, CPU_IDLE = E + "789.1.2.1.3.0", E + "2021.11.11.0"
#: hrProcessorLoad (RFC 2790): one row per processor.
CPU_LOADS = "1.3.6.1.2.1.25.3.3.1.2"

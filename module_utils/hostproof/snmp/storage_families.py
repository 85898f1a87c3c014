# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The families of storage that are known over SNMP: one record each, and nothing but data.

Each is as JSON could hold it, in the form that storage_definitions.py reads and that
docs/storage_definitions.schema.json describes, so a user's own definitions look the same. "e." is
1.3.6.1.4.1 (enterprises). The first family that holds wins, so a product comes before what it is
built on. To add one: a record here, and one of an agent in tests/fixtures/storage_type.
"""

from typing import Any, Dict, List

#: The values of miscGlobalStatus, and of productIDGlobalStatus; of ScStatus.
_GLOBAL = {
    "good": {"3": "ok"},
    "warn": {"4": "not critical"},
    "bad": {"5": "critical", "6": "not recoverable"},
}
_UP = {"good": {"1": "up"}, "warn": {"3": "degraded"}, "bad": {"2": "down"}}
#: The values of every column of raidExMibDKCHWTable and raidExMibDKUHWTable.
_ACUTE = {
    "good": {"1": "no error"},
    "warn": {"4": "moderate", "5": "service"},
    "bad": {"2": "acute", "3": "serious"},
}

#: What Data ONTAP tells of itself: 7-Mode, and clustered where an address has it.
_ONTAP: List[Dict[str, Any]] = [
    dict(_GLOBAL, part="system", at="e.789.1.2.2.4.0", source="NETAPP-MIB miscGlobalStatus"),
    {
        "part": "disks",
        "at": "e.789.1.6.4.7.0",
        "counts": "failed disks",
        "source": "NETAPP-MIB diskFailedCount",
    },
    {
        "part": "rebuild",
        "at": "e.789.1.6.4.3.0",
        "counts": "disks being reconstructed",
        "source": "NETAPP-MIB diskReconstructingCount",
    },
    {
        "part": "controllers",
        "at": "e.789.1.2.3.1.0",
        "none": {"1": "not configured"},
        "good": {"2": "takeover enabled"},
        "warn": {"3": "takeover disabled", "4": "takeover by the partner disabled"},
        "bad": {"5": "this node is dead: taken over"},
        "source": "NETAPP-MIB cfSettings",
    },
    {
        "part": "paths",
        "at": "e.789.1.2.3.8.0",
        "none": {"1": "no interconnect"},
        "good": {"4": "interconnect up"},
        "warn": {"3": "one link of the interconnect down"},
        "bad": {"2": "interconnect down"},
        "source": "NETAPP-MIB cfInterconnectStatus",
    },
    {
        "part": "battery",
        "at": "e.789.1.2.5.1.0",
        "none": {"4": "not present"},
        "good": {"1": "ok", "9": "fully charged"},
        "warn": {"5": "near its end of life", "8": "overcharged"},
        "bad": {"2": "partially discharged", "3": "discharged", "6": "at its end of life"},
        "source": "NETAPP-MIB nvramBatteryStatus",
    },
]

#: Of MSA and ME4: the unit is the whole storage.
_UNITS: List[Dict[str, Any]] = [
    {
        "part": "system",
        "at": "1.3.6.1.3.94.1.6.1.6.",
        "none": {"2": "unused"},
        "good": {"3": "ok"},
        "warn": {"4": "needs attention"},
        "bad": {"5": "failed"},
        "source": "FCMGMT-MIB connUnitStatus",
    }
]

FAMILIES: List[Dict[str, Any]] = [
    {
        "vendor": "Oracle",
        "product": "ZFS Storage Appliance",
        "role": "nas",
        "known_by": [
            {
                "value": {
                    "at": "e.42.2.225.1.4.2.0",
                    "matches": r"^(?:Sun|Oracle) (?:ZFS )?Storage\b",
                },
            },
        ],
        "model": [
            {
                "at": "e.42.2.225.1.4.2.0",
                "pattern": r"^(?:Sun|Oracle) (?:ZFS )?Storage (?:Appliance )?(\S*[\dx].*)",
            },
        ],
        "version": ["e.42.2.225.1.4.3.0"],
        "serial": ["e.42.2.225.1.4.8.0", "e.42.2.225.1.4.7.0"],
        "source": "SUN-AK-MIB as Oracle's guide and a published walk of an appliance show it",
    },
    {
        "vendor": "Oracle",
        "product": "Pillar Axiom",
        "role": "san",
        "known_by": [
            {"answers": "e.15548.2.1.1.4.1.1.14."},
            {"object_id": "e.15548"},
            {"engine": 15548},
        ],
        "version": ["e.15548.2.2.3.2.1.11.", "e.15548.2.2.3.2.1.10."],
        "serial": ["e.15548.2.1.1.4.1.1.14.", "e.15548.2.2.3.2.1.9."],
        "source": "Zenoss ZenPacks.PillarAxiom; enterprise number 15548 (IANA)",
    },
    {
        "vendor": "Oracle",
        "product": "StorageTek library",
        "role": "tape",
        "known_by": [
            {"object_id": "e.1211.1.15", "sure": "likely"},
            {"object_id": "e.1211.1.11", "sure": "likely"},
        ],
        "source": "STREAMLINE-TAPE-LIBRARY-MIB; enterprise number 1211 (IANA)",
    },
    {
        "vendor": "NetApp",
        "product": "E-Series",
        "role": "san",
        "known_by": [{"object_id": "e.789.1123"}],
        "model": [{"at": "sysDescr", "pattern": r"^NETAPP\s+(\S+)"}],
        "source": (
            "ES-NETAPP-06-MIB, SM10-R3-MIB (eSeriesStorageSystem); NetApp's own, "
            "and those that IBM, Dell and Lenovo sold"
        ),
    },
    {
        "vendor": "IBM",
        "product": "N series",
        "role": "nas",
        "known_by": [{"description": r"^Data ONTAP Release .*\(IBM\)"}],
        "model": ["e.789.1.1.5.0"],
        "version": [{"at": "sysDescr", "pattern": r"^Data ONTAP Release ([^\s:]+)"}],
        "serial": ["e.789.1.1.9.0"],
        "source": "NETWORK-APPLIANCE-MIB; Rapid7 recog, snmp_sysdescr",
        "health": _ONTAP,
    },
    {
        "vendor": "NetApp",
        "product": "Data ONTAP 7-Mode",
        "role": "nas",
        "known_by": [
            {
                "object_id": "e.789.2.1",
                "description": r"^NetApp Release (?:\S*?_)?(?:[1-7]\.\d|.*7-Mode)",
            },
            {
                "object_id": "e.789.2.3",
                "description": r"^NetApp Release (?:\S*?_)?(?:[1-7]\.\d|.*7-Mode)",
            },
            {"description": r"^NetApp Release (?:\S*?_)?(?:[1-7]\.\d|.*7-Mode)"},
            {"description": "^Data ONTAP Release "},
            {
                "value": {
                    "at": "e.789.1.1.2.0",
                    "matches": r"^NetApp Release (?:\S*?_)?(?:[1-7]\.\d|.*7-Mode)",
                },
                "nothing": "sysDescr",
                "sure": "likely",
            },
            {
                "value": {
                    "at": "e.789.1.1.2.0",
                    "matches": r"^NetApp Release (?:\S*?_)?(?:[1-7]\.\d|.*7-Mode)",
                },
                "description_not": r"^.*\bRelease \d",
                "sure": "likely",
            },
        ],
        "model": ["e.789.1.1.5.0"],
        "version": [
            {"at": "sysDescr", "pattern": r"(?:NetApp|Data ONTAP) Release ([^\s:]+)"},
            {"at": "e.789.1.1.2.0", "pattern": r"Release ([^\s:]+)"},
        ],
        "serial": ["e.789.1.1.9.0"],
        "source": "NETWORK-APPLIANCE-MIB",
        "health": _ONTAP,
    },
    {
        "vendor": "NetApp",
        "product": "ONTAP",
        "role": "nas",
        "known_by": [
            {"object_id": "e.789.2"},
            {"description": r"^NetApp Release \S"},
            {"engine": 789},
        ],
        "model": [{"at": "e.789.1.25.2.1.4.", "rows": "each"}, "e.789.1.1.5.0"],
        "version": [
            {"at": "sysDescr", "pattern": r"NetApp Release ([^\s:]+)"},
            {"at": "e.789.1.1.2.0", "pattern": r"Release ([^\s:]+)"},
        ],
        "serial": [{"at": "e.789.1.25.2.1.5.", "rows": "each"}, "e.789.1.1.9.0"],
        "source": "NETWORK-APPLIANCE-MIB (NETAPP-MIB nodeTable)",
        "health": [
            *_ONTAP,
            dict(
                _GLOBAL,
                part="system",
                at="e.789.1.2.2.36.1.2.",
                source="NETAPP-MIB cDOTMiscGlobalStatus",
            ),
        ],
    },
    {
        "vendor": "Dell EMC",
        "product": "Isilon OneFS",
        "role": "nas",
        "known_by": [
            {"object_id": "e.12124"},
            {"description": r"^(?:- \d+ )?Isilon OneFS\b"},
            {"answers": "e.12124.1.1.3.0"},
            {"engine": 12124},
        ],
        "model": [{"at": "e.12124.2.51.1.4.", "rows": "each"}],
        "version": [{"at": "sysDescr", "pattern": r"OneFS (?:\S+ )?v(\d\S*)"}],
        "serial": [{"at": "e.12124.2.51.1.3.", "rows": "each"}],
        "source": "ISILON-MIB",
        "health": [
            {
                "part": "system",
                "at": "e.12124.1.1.2.0",
                "good": {"0": "ok"},
                "warn": {"1": "needs attention"},
                "bad": {"2": "down"},
                "source": "ISILON-MIB clusterHealth",
            },
            {
                "part": "disks",
                "at": "e.12124.2.52.1.5.",
                "good": {"HEALTHY": "healthy", "L3": "L3 cache"},
                "bad": {"DEAD": "dead", "SMARTFAIL": "smartfailed"},
                "source": "ISILON-MIB diskStatus",
            },
        ],
    },
    {
        "vendor": "Dell EMC",
        "product": "Data Domain",
        "role": "backup",
        "known_by": [{"object_id": "e.19746"}, {"description": "^Data Domain OS "}],
        "model": ["e.19746.1.13.1.4.0"],
        "version": [
            {"at": "sysDescr", "pattern": r"Data Domain OS (\S+)"},
            {"at": "e.19746.1.13.1.3.0", "pattern": r"(?:Data Domain OS )?(\S+)"},
        ],
        "serial": ["e.19746.1.13.1.1.0"],
        "source": "DATA-DOMAIN-MIB",
    },
    {
        "vendor": "Dell EMC",
        "product": "CLARiiON/VNX",
        "role": "san",
        "known_by": [{"object_id": "e.1981"}, {"description": r"^\S+ - Flare \d"}],
        "model": [{"at": "sysDescr", "pattern": r"^(\S+) - Flare "}],
        "version": [{"at": "sysDescr", "pattern": r" - Flare (\S+)"}],
        "source": "enterprise number 1981 (IANA); LibreNMS and Rapid7 recog, snmp_sysdescr",
    },
    {
        "vendor": "Dell EMC",
        "product": "Celerra/VNX File",
        "role": "nas",
        "known_by": [{"description": "^Product: EMC (?:Celerra|VNX) File Server"}],
        "version": [{"at": "sysDescr", "pattern": r"^Product: .*Version:\s+T?(\S+)"}],
        "source": "Rapid7 recog, snmp_sysdescr",
    },
    {
        "vendor": "Dell EMC",
        "product": "Unity/VNXe",
        "role": "san",
        "known_by": [
            {"object_id": "e.1139.103.1.18"},
            {"description": "^(?:Dell )?EMC (?:Unity|VNXe)"},
            {"description": r"^(?:UnityVSA|Unity|VNXe)\b"},
        ],
        "model": [
            {"at": "sysDescr", "pattern": r"^(?:Dell )?(?:EMC )?((?:Unity|VNXe)\S*(?: \w+)?)"}
        ],
        "source": "UNITY-MIB (1139.103.1.18); what sysDescr says is not documented",
    },
    {
        "vendor": "Dell",
        "product": "FluidFS",
        "role": "nas",
        "known_by": [{"answers": "e.674.11000.2000.200.1.47.2"}, {"description": "^FluidFS "}],
        "model": [
            {"at": "e.674.11000.2000.200.1.47.2", "pattern": "(?:Dell Storage )?(.+)"},
            {"at": "e.674.11000.2000.200.1.47.2.0", "pattern": "(?:Dell Storage )?(.+)"},
        ],
        "version": ["e.674.11000.2000.200.1.47.1", "e.674.11000.2000.200.1.47.1.0"],
        "source": "FLUIDFS-MIB",
    },
    {
        "vendor": "Dell",
        "product": "Compellent",
        "role": "san",
        "known_by": [
            {"value": {"at": "e.674.11000.2000.500.1.2.1.0", "matches": "^.*Compellent"}},
            {"description": "^FreeBSD .*/COMPELLEN"},
        ],
        "model": [{"at": "e.674.11000.2000.500.1.2.13.1.7.", "rows": "each"}],
        "version": [
            "e.674.11000.2000.500.1.2.4.0",
            {"at": "sysDescr", "pattern": r"R(\d\d\.\d\d\.\d\d\.\d+)"},
        ],
        "serial": [
            "e.674.11000.2000.500.1.2.5.0",
            {"at": "e.674.11000.2000.500.1.2.13.1.8.", "rows": "each"},
        ],
        "source": "DELL-STORAGE-SC-MIB",
        "health": [
            dict(
                _GLOBAL,
                part="system",
                at="e.674.11000.2000.500.1.2.6.0",
                source="DELL-STORAGE-SC-MIB productIDGlobalStatus",
            ),
            dict(
                _UP,
                part="controllers",
                at="e.674.11000.2000.500.1.2.13.1.3.",
                source="DELL-STORAGE-SC-MIB scCtlrStatus",
            ),
            dict(
                _UP,
                part="disks",
                at="e.674.11000.2000.500.1.2.14.1.3.",
                source="DELL-STORAGE-SC-MIB scDiskStatus",
            ),
        ],
    },
    {
        "vendor": "Dell",
        "product": "EqualLogic PS",
        "role": "san",
        "known_by": [{"object_id": "e.12740"}],
        "model": [{"at": "e.12740.2.1.11.1.1.", "rows": "each"}],
        "version": [
            {"at": "e.12740.2.1.1.1.21.", "more": ["e.12740.2.1.1.1.22.", "e.12740.2.1.1.1.23."]}
        ],
        "serial": [{"at": "e.12740.2.1.11.1.2.", "rows": "each"}],
        "source": "EQLMEMBER-MIB",
        "health": [
            {
                "part": "system",
                "at": "e.12740.2.1.5.1.1.",
                "good": {"1": "normal"},
                "warn": {"2": "warning"},
                "bad": {"3": "critical"},
                "source": "EQLMEMBER-MIB eqlMemberHealthStatus",
            },
            {
                "part": "disks",
                "at": "e.12740.3.1.1.1.8.",
                "good": {"1": "on-line", "2": "spare"},
                "warn": {
                    "4": "off-line",
                    "5": "of another system",
                    "6": "too small",
                    "7": "history of failures",
                    "8": "unsupported version",
                    "10": "replacement",
                    "11": "encrypted",
                    "12": "not approved",
                },
                "bad": {"3": "failed", "9": "unhealthy", "13": "off-line after errors"},
                "source": "EQLDISK-MIB eqlDiskStatus",
            },
            {
                "part": "battery",
                "at": "e.12740.4.1.1.1.5.",
                "good": {"1": "ok", "3": "good, charging"},
                "warn": {
                    "4": "low voltage",
                    "5": "low voltage, charging",
                    "7": "too hot",
                    "8": "too cold",
                    "10": "near its end of life",
                },
                "bad": {"2": "failed", "6": "missing", "9": "at its end of life"},
                "source": "EQLCONTROLLER-MIB eqlControllerBatteryStatus",
            },
        ],
    },
    {
        "vendor": "Dell",
        "product": "PowerVault ME4",
        "role": "san",
        "known_by": [
            {"value": {"at": "unit.product", "matches": r"^.*\bME[45]\d"}},
            {"description": r"^(?:DELL EMC |Dell )?ME[45]\d\d\d\b"},
        ],
        "model": [
            {"at": "unit.product", "pattern": r"\b(ME[45]\d+\w*)"},
            {"at": "sysDescr", "pattern": r"\b(ME[45]\d\d\d\w*)"},
        ],
        "serial": ["unit.serial"],
        "source": (
            "FCMGMT-MIB (Dell PowerVault ME4 and ME5 Administrator's Guide, SNMP reference)"
        ),
        "health": _UNITS,
    },
    {
        "vendor": "Dell",
        "product": "PowerVault tape library",
        "role": "tape",
        "known_by": [{"object_id": "e.674.10893.2.102"}],
        "model": ["e.674.10893.2.102.3.1.1.8."],
        "version": ["e.674.10893.2.102.3.1.1.9."],
        "serial": ["e.674.10893.2.102.3.1.1.10."],
        "source": "DELL-TL4000-MIB (TL2000, TL4000)",
    },
    {
        "vendor": "Dell EMC",
        "product": "PowerStore",
        "role": "san",
        "known_by": [{"object_id": "e.1139.205"}],
        "source": "PowerStore-MIB (1139.205)",
    },
    {
        "vendor": "Dell EMC",
        "product": "VPLEX",
        "role": "san",
        "known_by": [{"object_id": "e.1139.21"}, {"answers": "e.1139.21.2.2.8.1.1."}],
        "source": "VPLEX-MIB; Checkmk emc_vplex",
    },
    {
        "vendor": "Dell",
        "product": "PowerVault MD3",
        "role": "san",
        "known_by": [{"object_id": "e.674.10893.2.31"}],
        "model": ["e.674.10893.2.31.500.1.5.0"],
        "serial": ["e.674.10893.2.31.500.1.3.0"],
        "source": "MD storage array MIB as Dell's omsdk reads it",
    },
    {
        "vendor": "Dell EMC",
        "product": "Avamar",
        "role": "backup",
        "known_by": [{"object_id": "e.15597", "sure": "likely"}, {"engine": 15597}],
        "source": "enterprise number 15597 (IANA: Avamar)",
    },
    {
        "vendor": "HPE",
        "product": "3PAR/Primera",
        "role": "san",
        "known_by": [
            {"object_id": "e.12925"},
            {"description": "^(?:HPE?_3PAR|InServ) "},
            {"engine": 12925},
        ],
        "model": [{"at": "sysDescr", "pattern": r"^(?:HPE?_3PAR|InServ) (\S+?),"}],
        "version": [{"at": "sysDescr", "pattern": "OS version: ([^,]+)"}],
        "serial": [{"at": "sysDescr", "pattern": r"Serial number: ([^,\s]+)"}],
        "source": "THREEPAR-MIB; LibreNMS os_detection/informos",
    },
    {
        "vendor": "HPE",
        "product": "Nimble",
        "role": "san",
        "known_by": [
            {"object_id": "e.37447"},
            {"description": "^Nimble Storage "},
            {"engine": 37447},
        ],
        "version": [{"at": "sysDescr", "pattern": r"software version (\S+)"}],
        "source": "NIMBLE-MIB",
    },
    {
        "vendor": "HPE",
        "product": "StoreEver MSL",
        "role": "tape",
        "known_by": [{"object_id": "e.11.10.2.1.3.25"}, {"description": "^HPE? MSL"}],
        "model": [
            "e.11.2.36.1.1.5.1.1.8.",
            {"at": "sysDescr", "pattern": "^(?:HPE? )?(MSL.*?)(?: Series)?$"},
        ],
        "version": ["e.11.2.36.1.1.5.1.1.11.", "chassis.firmware"],
        "serial": ["e.11.2.36.1.1.5.1.1.10.", "chassis.serial"],
        "source": "SEMI-MIB hpHttpMgDeviceTable; LibreNMS os_detection/hpe-msl",
    },
    {
        "vendor": "HPE",
        "product": "tape library",
        "role": "tape",
        "known_by": [{"object_id": "e.11.10.2.1.3", "sure": "likely"}],
        "model": ["e.11.2.36.1.1.5.1.1.8."],
        "version": ["e.11.2.36.1.1.5.1.1.11."],
        "serial": ["e.11.2.36.1.1.5.1.1.10."],
        "source": (
            "SEMI-MIB hpHttpMgDeviceTable; Checkmk hp_eml (11.10.2.1.3.20), "
            "Open-AudIT (11.10.2.1.3.1)"
        ),
    },
    {
        "vendor": "HPE",
        "product": "StoreOnce",
        "role": "backup",
        "known_by": [
            {"description": r"^(?:HPE? )?(?:StorageWorks )?(?:StoreOnce|D2D Backup System)\b"}
        ],
        "serial": [{"at": "sysDescr", "pattern": r"D2D Backup System (\S+)"}],
        "source": "Rapid7 recog, snmp_sysdescr",
    },
    {
        "vendor": "HPE",
        "product": "MSA",
        "role": "san",
        "known_by": [
            {"object_id": "e.11.2.51"},
            {"description": "^HPE? (?:StorageWorks )?(?:MSA|P2000)"},
        ],
        "model": [
            {"at": "e.232.2.2.4.2.0", "pattern": "^(?:HPE? |Hewlett[- ]Packard )?(.+)"},
            {"at": "unit.product", "pattern": "^(?:HPE? |Hewlett[- ]Packard )?(.+)"},
            {"at": "sysDescr", "pattern": "^(?:HPE? |Hewlett[- ]Packard )?(.+)"},
        ],
        "serial": ["e.232.2.2.2.1.0", "unit.serial"],
        "source": "HP MSA SNMP reference, sysObjectID 11.2.51; CPQSINFO-MIB; FCMGMT-MIB",
        "health": _UNITS,
    },
    {
        "vendor": "HPE",
        "product": "LeftHand/StoreVirtual",
        "role": "san",
        "known_by": [{"object_id": "e.9804"}],
        "source": "LEFTHAND-NETWORKS-NSM-MIB; enterprise number 9804 (IANA)",
    },
    {
        "vendor": "IBM",
        "product": "tape library",
        "role": "tape",
        "known_by": [
            {"object_id": "e.2.6.182"},
            {"object_id": "e.2.6.210"},
            {"object_id": "e.2.6.211"},
            {"object_id": "e.2.6.219"},
            {
                "value": {
                    "at": "e.2.6.182.3.3.1.0",
                    "matches": r"^IBM .*(?:Tape Library|TS\d\d|\b3584)",
                },
            },
            {"value": {"at": "e.14851.3.1.4.2.0", "matches": r"^IBM .*(?:Tape Library|TS\d\d)"}},
            {"description": "^IBM .*Tape Library"},
        ],
        "model": [
            {"at": "e.2.6.182.3.3.1.0", "pattern": r"^(?:IBM (?:System Storage )?)?(\S+)"},
            {"at": "e.14851.3.1.4.2.0", "pattern": r"^(?:IBM (?:System Storage )?)?(\S+)"},
            "e.2.6.210.3.1.1.8.",
            "e.2.6.211.3.1.1.8.",
        ],
        "version": ["e.14851.3.1.3.4.0", "e.2.6.210.3.1.1.9.", "e.2.6.211.3.1.1.9."],
        "serial": ["e.14851.3.1.3.2.0", "e.2.6.210.3.1.1.10.", "e.2.6.211.3.1.1.10."],
        "source": "SNIA-SML-MIB; IBM-TS3500-MIB, IBM-3100-MIB, IBM-3200-MIB, TS2900 MIB",
    },
    {
        "vendor": "IBM",
        "product": "Spectrum Scale",
        "role": "nas",
        "known_by": [{"answers": "e.2.6.212.1.2.1.1."}],
        "version": ["e.2.6.212.1.4.1.9."],
        "source": "GPFS-MIB",
    },
    {
        "vendor": "IBM",
        "product": "Storwize/SVC",
        "role": "san",
        "known_by": [{"object_id": "e.2.6.190"}],
        "source": "IBM-SVC-MIB (Storwize, FlashSystem 5000 to 9500, Lenovo V series)",
    },
    {
        "vendor": "IBM",
        "product": "FlashSystem 840/900",
        "role": "san",
        "known_by": [{"object_id": "e.2.6.255"}, {"answers": "e.2.6.255.1.1.1.52.1.2."}],
        "source": "IBM-FLASHSYSTEM MIB; centreon-plugins",
    },
    {
        "vendor": "IBM",
        "product": "DS8000",
        "role": "san",
        "known_by": [{"object_id": "e.2.6.130", "sure": "likely"}],
        "source": "ibm2100-MIB (2.6.130)",
    },
    {
        "vendor": "IBM",
        "product": "RamSan",
        "role": "san",
        "known_by": [{"object_id": "e.8378", "sure": "likely"}, {"engine": 8378}],
        "source": "enterprise number 8378 (IANA: Texas Memory Systems)",
    },
    {
        "vendor": "Hitachi",
        "product": "HNAS",
        "role": "nas",
        "known_by": [{"object_id": "e.11096"}],
        "source": "BLUEARC-SERVER-MIB; centreon-plugins",
    },
    {
        "vendor": "Hitachi",
        "product": "Content Platform",
        "role": "nas",
        "known_by": [{"object_id": "e.116.5.46"}, {"answers": "e.116.5.46.1.1.1.1.1."}],
        "source": "HCP-MIB; centreon-plugins",
    },
    {
        "vendor": "Hitachi",
        "product": "VSP",
        "role": "san",
        "known_by": [
            {"object_id": "e.116.3.11.4.1.1"},
            {"object_id": "e.116.5.11"},
            {"answers": "e.116.5.11.4.1.1.5.1.4."},
        ],
        "model": ["e.116.5.11.4.1.1.5.1.4.", {"at": "sysDescr", "pattern": r"^(\S+)$"}],
        "version": ["e.116.5.11.4.1.1.5.1.3."],
        "serial": ["e.116.5.11.4.1.1.5.1.1."],
        "source": "Hitachi SNMP Agent User Guide (sysObjectID); HITACHI-MIB raidMibs",
        "health": [
            dict(_ACUTE, part=part, at="e.116.5.11.4.1.1." + at, source="HITACHI-MIB " + name)
            for part, at, name in (
                ("controllers", "6.1.2.", "dkcHWProcessor"),
                ("system", "6.1.4.", "dkcHWCache"),
                ("system", "6.1.6.", "dkcHWPS"),
                ("battery", "6.1.7.", "dkcHWBattery"),
                ("disks", "7.1.5.", "dkuHWDrive"),
            )
        ],
    },
    {
        "vendor": "Areca",
        "product": "RAID subsystem",
        "role": "san",
        "known_by": [{"object_id": "e.18928"}],
        "model": ["e.18928.1.2.1.2.0"],
        "version": ["e.18928.1.2.1.4.0"],
        "serial": ["e.18928.1.2.1.3.0"],
        "source": "ARECA-SNMP-MIB",
    },
    {
        "vendor": "BDT",
        "product": "FlexStor II",
        "role": "tape",
        "known_by": [{"object_id": "e.20884.10893.2.101"}, {"description": "^BDT FlexStor"}],
        "model": [{"at": "e.20884.10893.2.101.1.2.0", "form": "FlexStor II {0}"}],
        "version": ["e.20884.10893.2.101.4.4.0"],
        "serial": ["e.20884.10893.2.101.4.1.0"],
        "source": "BDT-MIB; LibreNMS",
    },
    {
        "vendor": "Buffalo",
        "product": "TeraStation/LinkStation",
        "role": "nas",
        "known_by": [
            {"description": r"^BUFFALO \W?(?:Tera|Link)Station"},
            {"object_id": "e.5227.27"},
        ],
        "model": [{"at": "sysDescr", "pattern": r"^BUFFALO \W?\w+\W+([\w-]+) Ver\."}],
        "version": [{"at": "sysDescr", "pattern": r"Ver\.(\S+)"}],
        "source": (
            "enterprise number 5227 (IANA: MELCO, today Buffalo); LibreNMS os_detection/buffalo"
        ),
    },
    {
        "vendor": "DDN",
        "product": "SFA",
        "role": "san",
        "known_by": [{"object_id": "e.6894"}, {"answers": "e.6894.2.30.0"}],
        "source": "SFA-INFO MIB",
    },
    {
        "vendor": "Fujitsu",
        "product": "ETERNUS DX/AF",
        "role": "san",
        "known_by": [{"object_id": "e.211.1.21.1.150"}, {"object_id": "e.211.1.21.1"}],
        "model": [
            {
                "at": "e.211.1.21.1.150.1.1.0",
                "pattern": "^..............(............)..(............)",
            },
        ],
        "serial": [
            {
                "at": "e.211.1.21.1.150.1.1.0",
                "pattern": "^..............(............)..(............)",
                "form": "{1}",
            },
        ],
        "source": "FJDARY-E150 (fjdarySspMachineId); Checkmk fjdarye (60, 100, 101, 153)",
    },
    {
        "vendor": "Huawei",
        "product": "OceanStor",
        "role": "san",
        "known_by": [
            {"object_id": "e.2011.2.91"},
            {"object_id": "e.34774"},
            {"answers": "e.34774.4.1.1.1.0"},
            {"description": "^ISM SNMP Agent$"},
        ],
        "version": ["e.34774.4.1.1.6.0"],
        "serial": ["e.34774.4.1.1.1.0"],
        "source": "ISM-STORAGE-SVC-MIB",
    },
    {
        "vendor": "Infortrend",
        "product": "EonStor",
        "role": "san",
        "known_by": [{"object_id": "e.1714"}],
        "model": ["e.1714.1.1.1.1.15.0"],
        "version": [{"at": "e.1714.1.1.1.1.4.0", "more": ["e.1714.1.1.1.1.5.0"]}],
        "serial": ["e.1714.1.1.1.1.10.0"],
        "source": "IFT-SNMP-MIB sysInformation",
    },
    {
        "vendor": "iXsystems",
        "product": "TrueNAS",
        "role": "nas",
        "known_by": [{"object_id": "e.50536"}, {"description": r"^(?:True|Free)NAS-\d"}],
        "version": [{"at": "sysDescr", "pattern": r"NAS-(\d\S*?)\.?(?:\s|$)"}],
        "source": "TRUENAS-MIB; LibreNMS; Kentik profile",
    },
    {
        "vendor": "iXsystems",
        "product": "FreeNAS",
        "role": "nas",
        "known_by": [
            {"description": r"^Hardware: \S+ .* Software: FreeBSD "},
            {"answers": "e.25359.1.1."},
        ],
        "source": "FREENAS-MIB; FreeNAS' own sysDescr",
    },
    {
        "vendor": "Nasuni",
        "product": "Filer",
        "role": "nas",
        "known_by": [{"object_id": "e.42040"}, {"answers": "e.42040.1.1.0"}],
        "source": "NASUNI-FILER-MIB",
    },
    {
        "vendor": "Netgear",
        "product": "ReadyNAS",
        "role": "nas",
        "known_by": [
            {"object_id": "e.4526.100.12"},
            {"object_id": "e.4526.18"},
            {"object_id": "e.4526.22"},
            {"answers": "e.4526.22.1.0"},
        ],
        "version": ["e.4526.22.2.0"],
        "source": "READYNASOS-MIB; centreon-plugins",
    },
    {
        "vendor": "Nexenta",
        "product": "NexentaStor",
        "role": "nas",
        "known_by": [
            {"description": r"^SunOS - \S+ Nexenta(?:OS|Stor)"},
            {"description": r"^NexentaStor\b"},
            {"object_id": "e.40045"},
        ],
        "version": [{"at": "sysDescr", "pattern": r"NexentaOS_(\S+)"}],
        "source": "enterprise number 40045 (IANA); the kernel's name in sysDescr",
    },
    {
        "vendor": "Nutanix",
        "product": "AOS CVM",
        "role": "san",
        "known_by": [{"object_id": "e.41263"}],
        "version": ["e.41263.502.0"],
        "source": "NUTANIX-MIB (clusterVersion)",
    },
    {
        "vendor": "Open-E",
        "product": "Open-E",
        "role": "nas",
        "known_by": [{"description": r"^Open-E\b"}],
        "source": (
            "sysDescr as the Open-E JovianDSS manual and LibreNMS os_detection/open-e have it"
        ),
    },
    {
        "vendor": "OSNexus",
        "product": "QuantaStor",
        "role": "san",
        "known_by": [{"answers": "e.39324.1.1.9.1.1.18.0"}],
        "source": "QUANTASTOR-SYS-STATS MIB",
    },
    {
        "vendor": "Panasas",
        "product": "ActiveStor",
        "role": "nas",
        "known_by": [{"object_id": "e.10159"}],
        "source": "PANASAS-SYSTEM-MIB-V1",
    },
    {
        "vendor": "Panzura",
        "product": "Freedom",
        "role": "nas",
        "known_by": [{"object_id": "e.32853"}],
        "source": "enterprise number 32853 (IANA)",
    },
    {
        "vendor": "Pure Storage",
        "product": "FlashBlade",
        "role": "nas",
        "known_by": [{"description": r"^(?:Pure Storage -, )?Purity//FB\b"}],
        "version": [{"at": "sysDescr", "pattern": r"(?:^|, )Purity//FB (\S+)"}],
        "source": "PURESTORAGE-MIB",
    },
    {
        "vendor": "Pure Storage",
        "product": "FlashArray",
        "role": "san",
        "known_by": [
            {"object_id": "e.40482"},
            {"description": r"^(?:Pure Storage -, )?Purity//FA\b"},
            {"engine": 40482},
        ],
        "version": [{"at": "sysDescr", "pattern": r"(?:^|, )Purity(?://FA)? v?(\d\S*)"}],
        "source": "PURESTORAGE-MIB",
    },
    {
        "vendor": "QNAP",
        "product": "Turbo NAS",
        "role": "nas",
        "known_by": [
            {"object_id": "e.24681"},
            {"object_id": "e.55062"},
            {"value": {"at": "chassis.vendor", "matches": "^QNAP"}},
            {"answers": "e.24681.1.2.12.0"},
            {"answers": "e.55062.1.12.3.0"},
            {"engine": 24681},
        ],
        "model": [
            "chassis.model",
            "e.24681.1.4.1.1.1.1.1.2.1.3.",
            "e.24681.1.2.12.0",
            {"at": "sysDescr", "pattern": r"^Linux (T[A-Z]+-X\d+\w*) "},
        ],
        "version": ["chassis.version", {"at": "sysDescr", "pattern": r"^Linux \S+ (\d[\d.]+)$"}],
        "serial": ["chassis.serial", "e.24681.1.4.1.1.1.1.1.2.1.4."],
        "source": "NAS-MIB of QNAP; ENTITY-MIB",
    },
    {
        "vendor": "QSAN",
        "product": "array",
        "role": "san",
        "known_by": [{"object_id": "e.22274"}],
        "model": ["e.22274.1.4.1.3."],
        "serial": ["e.22274.1.4.1.4."],
        "source": ("QSAN-SNMP-MIB as the Zenoss ZenPack reads it; enterprise number 22274 (IANA)"),
    },
    {
        "vendor": "Quantum",
        "product": "Scalar",
        "role": "tape",
        "known_by": [{"object_id": "e.3764.1"}, {"answers": "e.3764.1.10.10.1.8.0"}],
        "model": ["e.3764.1.1.10.3.0"],
        "serial": ["e.3764.1.1.10.10.0"],
        "source": (
            "ADIC-INTELLIGENT-STORAGE-MIB, ADIC-TAPE-LIBRARY-MIB (also Dell ML6000 and IBM TS3310)"
        ),
    },
    {
        "vendor": "Quantum",
        "product": "small tape library",
        "role": "tape",
        "known_by": [
            {"value": {"at": "e.3697.1.10.10.1.10.0", "matches": "^Quantum Small Library"}}
        ],
        "source": "QUANTUM-SMALL-TAPE-LIBRARY-MIB; Checkmk quantum_libsmall",
    },
    {
        "vendor": "Exagrid",
        "product": "EX",
        "role": "backup",
        "known_by": [{"object_id": "e.14941"}, {"answers": "e.14941.4.1.1.0"}, {"engine": 14941}],
        "source": "EXAGRID-MIB; centreon-plugins",
    },
    {
        "vendor": "Nexsan",
        "product": "NST",
        "role": "nas",
        "known_by": [{"object_id": "e.7247.1.1"}],
        "source": "enterprise number 7247 (IANA); Observium os/nestos",
    },
    {
        "vendor": "Violin Memory",
        "product": "flash array",
        "role": "san",
        "known_by": [
            {"object_id": "e.35897"},
            {"answers": "e.35897.1.2.2.3.17.1.7."},
            {"engine": 35897},
        ],
        "source": "VIOLIN-CHASSIS MIB; centreon-plugins",
    },
    {
        "vendor": "Rubrik",
        "product": "CDM",
        "role": "backup",
        "known_by": [
            {"object_id": "e.49929"},
            {"description": r"^Linux - \d\S*-rubrik"},
            {"engine": 49929},
        ],
        "source": "enterprise number 49929 (IANA), RUBRIK-MIB; the kernel's name in sysDescr",
    },
    {
        "vendor": "Synology",
        "product": "router",
        "role": "not_storage",
        "known_by": [
            {"value": {"at": "e.6574.1.5.1.0", "matches": r"^(?:RT|MR|WRX)\d"}},
            {"value": {"at": "e.6574.1.5.3.0", "matches": r"^SRM\b"}},
            {
                "value": {
                    "at": "1.3.6.1.2.1.25.1.4.0",
                    "matches": r"^.*\bsyno_hw_version=(?:RT|MR|WRX)\d",
                },
            },
        ],
        "model": [
            "e.6574.1.5.1.0",
            {"at": "1.3.6.1.2.1.25.1.4.0", "pattern": r"\bsyno_hw_version=(\S+)"},
        ],
        "version": [{"at": "e.6574.1.5.3.0", "pattern": r"(?:SRM )?(\d\S*)"}],
        "serial": ["e.6574.1.5.2.0"],
        "source": "SYNOLOGY-SYSTEM-MIB; LibreNMS os_detection/srm",
    },
    {
        "vendor": "Synology",
        "product": "DiskStation",
        "role": "nas",
        "known_by": [
            {"object_id": "e.6574"},
            {"answers": "e.6574.1.1.0"},
            {"answers": "e.6574.1.5.1.0"},
            {"engine": 6574},
        ],
        "model": [
            "e.6574.1.5.1.0",
            {"at": "1.3.6.1.2.1.25.1.4.0", "pattern": r"\bsyno_hw_version=(\S+)"},
        ],
        "version": [
            {"at": "e.6574.1.5.3.0", "pattern": r"(?:DSM )?(\d\S*)"},
            {"at": "sysDescr", "pattern": r" #(\d+) ", "form": "build {0}"},
        ],
        "serial": ["e.6574.1.5.2.0"],
        "source": "SYNOLOGY-SYSTEM-MIB (Synology DiskStation MIB Guide)",
        "health": [
            {
                "part": "system",
                "at": "e.6574.1.1.0",
                "good": {"1": "normal"},
                "bad": {"2": "a volume has crashed"},
                "source": "SYNOLOGY-SYSTEM-MIB systemStatus",
            },
            {
                "part": "system",
                "at": "e.6574.1.3.0",
                "good": {"1": "normal"},
                "bad": {"2": "a power supply has failed"},
                "source": "SYNOLOGY-SYSTEM-MIB powerStatus",
            },
            {
                "part": "disks",
                "at": "e.6574.2.1.1.5.",
                "good": {"1": "normal", "2": "initialized", "3": "not initialized"},
                "bad": {"4": "system partition failed", "5": "crashed"},
                "source": "SYNOLOGY-DISK-MIB diskStatus",
            },
            {
                # Creating, moving and checking takes no redundancy away; unknown (21) is no word.
                "part": "system",
                "at": "e.6574.3.1.1.3.",
                "good": dict(
                    dict.fromkeys(map(str, (3, 4, 5, 6, 8, 9, 10, *range(13, 21))), "at work"),
                    **{"1": "normal"},
                ),
                "warn": {"2": "repairing", "7": "syncing", "11": "degraded"},
                "bad": {"12": "crashed"},
                "source": "SYNOLOGY-RAID-MIB raidStatus",
            },
        ],
    },
    {
        "vendor": "Tandberg",
        "product": "Magnum",
        "role": "tape",
        "known_by": [{"object_id": "e.3073.2.3"}, {"description": r"^MAGNUM \d"}],
        "model": [{"at": "sysDescr", "pattern": r"^MAGNUM (\d+)"}],
        "source": (
            "enterprise number 3073 (IANA: Exabyte); sysDescr; LibreNMS os_detection/magnum"
        ),
    },
    {
        "vendor": "Unitrends",
        "product": "Recovery appliance",
        "role": "backup",
        "known_by": [{"answers": "e.21865.1.6.1.0"}],
        "source": "UNITRENDS-SNMP MIB",
    },
    {
        "vendor": "Western Digital",
        "product": "My Cloud",
        "role": "nas",
        "known_by": [{"object_id": "e.5127"}],
        "version": [{"at": "e.5127.1.1.1.", "pattern": r"^(\d+\.\d+\.\d+)"}],
        "source": "MYCLOUD MIBs; enterprise number 5127 (IANA)",
    },
    {
        "vendor": "Brocade",
        "product": "Fabric OS switch",
        "role": "san_switch",
        "known_by": [
            {"object_id": "e.1588.2.1.1"},
            {"answers": "e.1588.2.1.1.1.1.6.0"},
            {"value": {"at": "sysObjectID", "matches": "^Connectrix "}, "sure": "likely"},
        ],
        "model": [
            {"at": "sysObjectID", "pattern": r"^Connectrix (\S+)"},
            {
                "at": "sysObjectID",
                "pattern": r"1588\.2\.1\.1\.(\d+)$",
                "names": {
                    "32": "4100",
                    "34": "200E",
                    "42": "48000",
                    "58": "5000",
                    "62": "DCX",
                    "64": "5300",
                    "66": "5100",
                    "71": "300",
                    "77": "DCX-4S",
                    "109": "6510",
                    "118": "6505",
                    "120": "DCX 8510-8",
                    "121": "DCX 8510-4",
                    "133": "6520",
                    "162": "G620",
                    "165": "X6-4",
                    "166": "X6-8",
                    "170": "G610",
                    "173": "G630",
                    "178": "7810",
                    "179": "X7-4",
                    "180": "X7-8",
                    "181": "G720",
                    "183": "G720",
                },
            },
            {
                "at": "sysDescr",
                "pattern": r"^(?:Connectrix |Brocade\s?)?((?:DS[-_]|ED[-_]|G|X)\d\w*)$",
            },
        ],
        "version": ["e.1588.2.1.1.1.1.6.0", "chassis.version"],
        "serial": ["chassis.serial"],
        "source": "SW-MIB; Fabric OS MIB Reference (switch types)",
        "health": [
            {
                "part": "system",
                "at": "e.1588.2.1.1.1.1.7.0",
                "good": {"1": "online"},
                "warn": {"3": "testing"},
                "bad": {"2": "off-line", "4": "faulty"},
                "source": "SW-MIB swOperStatus",
            },
            {
                "part": "system",
                "at": "e.1588.2.1.1.1.1.22.1.3.",
                "none": {"6": "absent"},
                "good": {"4": "nominal"},
                "warn": {"3": "below the minimum", "5": "above the maximum"},
                "bad": {"2": "faulty"},
                "source": "SW-MIB swSensorStatus (fans, power supplies, temperatures)",
            },
        ],
    },
    {
        "vendor": "Cisco",
        "product": "MDS 9000",
        "role": "san_switch",
        "known_by": [
            {"description": r"^Cisco (?:NX-OS|SAN-OS)\(tm\) m\d"},
            {"description": r"^Cisco .*\bMDS ?9\d\d\d"},
        ],
        "model": ["chassis.model"],
        "version": [{"at": "sysDescr", "pattern": r"Version ([^\s,]+)"}],
        "serial": ["chassis.serial"],
        "source": "ENTITY-MIB; Rapid7 recog, snmp_sysdescr",
    },
    {
        "vendor": "QLogic",
        "product": "Fibre Channel switch",
        "role": "san_switch",
        "known_by": [
            {"object_id": "e.1663.1.1"},
            {"object_id": "e.3873.1"},
            {"description": r"^(?:(?:HPE?|QLogic) )?(?:StorageWorks )?SANbox\b"},
            {
                "description": (
                    "^(?:HPE? )?(?:StorageWorks )?(?:8/20q Fibre Channel Switch|SN6000 "
                    "Fibre Channel)"
                ),
            },
        ],
        "model": ["unit.product", "chassis.model"],
        "serial": ["unit.serial", "chassis.serial"],
        "source": "HP 8/20q and SN6000 SNMP Reference Guide; FCMGMT-MIB",
    },
    {
        "vendor": "McDATA",
        "product": "Fibre Channel director",
        "role": "san_switch",
        "known_by": [{"object_id": "e.289.2.1"}],
        "model": ["unit.product", "chassis.model"],
        "serial": ["unit.serial", "chassis.serial"],
        "source": "HP StorageWorks SNMP Reference for Directors and Edge Switches; FCMGMT-MIB",
    },
    {
        "vendor": "Seagate",
        "product": "Exos/AssuredSAN",
        "role": "san",
        "known_by": [{"object_id": "e.347.2.5730"}],
        "model": ["unit.product"],
        "serial": ["unit.serial"],
        "source": (
            "FCMGMT-MIB; enterprise number 347 (IANA), sysObjectID of Dot Hill's controllers"
        ),
    },
    {
        "vendor": "unknown vendor",
        "product": "Fibre Channel storage",
        "role": "san",
        "known_by": [{"value": {"at": "unit.type", "matches": "^(?:11|9|14)$"}, "sure": "likely"}],
        "model": ["unit.product"],
        "serial": ["unit.serial"],
        "source": (
            "FCMGMT-MIB connUnitType storage-subsystem, storage-device, storage-access-device"
        ),
    },
    {
        "vendor": "unknown vendor",
        "product": "Fibre Channel switch",
        "role": "san_switch",
        "known_by": [{"value": {"at": "unit.type", "matches": "^(?:4|3)$"}, "sure": "likely"}],
        "model": ["unit.product"],
        "serial": ["unit.serial"],
        "source": "FCMGMT-MIB connUnitType switch, hub",
    },
    {
        "vendor": "unknown vendor",
        "product": "tape library",
        "role": "tape",
        "known_by": [{"answers": "e.14851.3.1.4.2.0"}],
        "model": ["e.14851.3.1.4.2.0"],
        "version": ["e.14851.3.1.3.4.0"],
        "serial": ["e.14851.3.1.3.2.0"],
        "source": "SNIA-SML-MIB storageLibrary",
    },
    {
        "vendor": "Qumulo",
        "product": "Core",
        "role": "nas",
        "known_by": [{"object_id": "e.47017", "sure": "likely"}, {"engine": 47017}],
        "source": "enterprise number (IANA)",
    },
    {
        "vendor": "Tintri",
        "product": "VMstore",
        "role": "nas",
        "known_by": [{"object_id": "e.41456", "sure": "likely"}, {"engine": 41456}],
        "source": "enterprise number (IANA)",
    },
    {
        "vendor": "WekaIO",
        "product": "Weka",
        "role": "nas",
        "known_by": [{"object_id": "e.50414", "sure": "likely"}, {"engine": 50414}],
        "source": "enterprise number (IANA)",
    },
    {
        "vendor": "Infinidat",
        "product": "InfiniBox",
        "role": "san",
        "known_by": [{"object_id": "e.37814", "sure": "likely"}, {"engine": 37814}],
        "source": "enterprise number (IANA)",
    },
    {
        "vendor": "Dell EMC",
        "product": "EMC storage",
        "role": "san",
        "known_by": [{"object_id": "e.1139", "sure": "weak"}],
        "source": "enterprise number (IANA)",
    },
    {
        "vendor": "Fujitsu",
        "product": "Celvin NAS",
        "role": "nas",
        "known_by": [
            {"object_id": "1.3.6.1.6.3.11.2.3.1.1", "nothing": "sysDescr", "sure": "weak"}
        ],
        "source": (
            "RFC 3412 snmpMPDCompliance in place of a sysObjectID; LibreNMS os_detection/celvin"
        ),
    },
    {
        "vendor": "unknown vendor",
        "product": "Fibre Channel NAS",
        "role": "nas",
        "known_by": [{"value": {"at": "unit.type", "matches": "^17$"}, "sure": "likely"}],
        "model": ["unit.product"],
        "serial": ["unit.serial"],
        "source": "FCMGMT-MIB connUnitType nas",
    },
    {
        "vendor": "unknown vendor",
        "product": "printer",
        "role": "not_storage",
        "known_by": [{"answers": "1.3.6.1.2.1.43.5.1.1.17."}],
        "model": ["1.3.6.1.2.1.25.3.2.1.3."],
        "serial": ["1.3.6.1.2.1.43.5.1.1.17."],
        "source": "Printer-MIB (RFC 3805) prtGeneralSerialNumber",
    },
    {
        "vendor": "unknown vendor",
        "product": "power supply",
        "role": "not_storage",
        "known_by": [{"answers": "1.3.6.1.2.1.33.1.1.2.0"}],
        "model": ["1.3.6.1.2.1.33.1.1.2.0"],
        "version": ["1.3.6.1.2.1.33.1.1.3.0"],
        "source": "UPS-MIB (RFC 1628) upsIdentModel",
    },
]

# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Health objects of storage agents, as data in the format of "health" in a definition
(docs/storage_definitions.schema.json). storage_families.py assigns them to products.

The values and their names are from the vendor's MIB. Their classification as good or bad is ours. A
value that is not listed, such as "unknown", is an error and never a pass. A row with a value of
``none`` (an empty bay) does not count.
"""

from typing import Any, Dict, List

_States = List[Dict[str, Any]]


def _of(start: str, mib: str, words: Dict[str, Any], *rows: str) -> _States:
    """A record for each row ("part, OID after start, name of the object")."""
    records = []
    for row in rows:
        part, at, name = row.split()
        records.append(dict(words, part=part, at=start + at, source=f"{mib} {name}"))
    return records


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

#: The values of cfInterconnectStatus and of haInterconnectStatus.
_INTERCONNECT = {
    "part": "paths",
    "none": {"1": "no interconnect"},
    "good": {"4": "interconnect up"},
    "warn": {"3": "one link of the interconnect down"},
    "bad": {"2": "interconnect down"},
}

#: Data ONTAP 7-Mode, and clustered ONTAP if the address has these objects.
ONTAP: _States = [
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
        "part": "controllers",
        "at": "e.789.1.2.3.2.0",
        "unless": {"at": "e.789.1.2.3.1.0", "is": ["1"]},
        "good": {"2": "can take over"},
        "warn": {"3": "cannot take over"},
        "bad": {"1": "dead", "4": "has taken over its partner"},
        "source": "NETAPP-MIB cfState",
    },
    {
        "part": "controllers",
        "at": "e.789.1.2.3.4.0",
        "unless": {"at": "e.789.1.2.3.1.0", "is": ["1"]},
        "good": {"2": "partner ok"},
        "warn": {"1": "partner may be down"},
        "bad": {"3": "partner dead"},
        "source": "NETAPP-MIB cfPartnerStatus",
    },
    dict(_INTERCONNECT, at="e.789.1.2.3.8.0", source="NETAPP-MIB cfInterconnectStatus"),
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

#: MSA and ME4. The unit is the whole storage system.
UNITS: _States = [
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

CLUSTERED_ONTAP: _States = [
    *ONTAP,
    dict(
        _GLOBAL,
        part="system",
        at="e.789.1.2.2.36.1.2.",
        source="NETAPP-MIB cDOTMiscGlobalStatus",
    ),
    # One row per node. A node without an interconnect has no partner.
    {
        "part": "controllers",
        "at": "e.789.1.21.2.1.4.",
        "unless": {"at": "e.789.1.21.2.1.10.", "is": ["1"]},
        "good": {"2": "can take over"},
        "warn": {"3": "cannot take over", "5": "partial giveback"},
        "bad": {"1": "dead", "4": "has taken over its partner"},
        "source": "NETAPP-MIB haState",
    },
    {
        "part": "controllers",
        "at": "e.789.1.21.2.1.6.",
        "unless": {"at": "e.789.1.21.2.1.10.", "is": ["1"]},
        "good": {"2": "partner ok"},
        "warn": {"1": "partner may be down"},
        "bad": {"3": "partner dead"},
        "source": "NETAPP-MIB haPartnerStatus",
    },
    dict(_INTERCONNECT, at="e.789.1.21.2.1.10.", source="NETAPP-MIB haInterconnectStatus"),
]

ISILON: _States = [
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
    {
        "part": "controllers",
        "at": "e.12124.2.1.2.0",
        "good": {"0": "ok"},
        "warn": {"1": "needs attention"},
        "bad": {"2": "down"},
        "source": "ISILON-MIB nodeHealth (of the node that answers)",
    },
]

COMPELLENT: _States = [
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
    # A disk that is up but not healthy must be replaced.
    {
        "part": "disks",
        "at": "e.674.11000.2000.500.1.2.14.1.5.",
        "good": {"1": "healthy"},
        "bad": {"2": "not healthy"},
        "source": "DELL-STORAGE-SC-MIB scDiskHealthy",
    },
    *_of(
        "e.674.11000.2000.500.1.2.",
        "DELL-STORAGE-SC-MIB",
        _UP,
        "system 15.1.3. scEnclStatus",
        "system 16.1.3. scCtlrFanStatus",
        "system 17.1.3. scCtlrPowerStatus",
        "system 18.1.3. scCtlrVoltageStatus",
        "system 19.1.3. scCtlrTempStatus",
        "system 20.1.3. scEnclFanStatus",
        "system 21.1.3. scEnclPowerStatus",
        "system 22.1.3. scEnclIoModStatus",
        "system 28.1.3. scCacheStatus",
    ),
    {
        "part": "battery",
        "at": "e.674.11000.2000.500.1.2.28.1.5.",
        "none": {"0": "no battery"},
        "good": {"1": "normal"},
        "warn": {"2": "near its end of life"},
        "bad": {"3": "at its end of life"},
        "source": "DELL-STORAGE-SC-MIB scCacheBatStat",
    },
]

EQUALLOGIC: _States = [
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
]

VSP: _States = [
    dict(_ACUTE, part=part, at="e.116.5.11.4.1.1." + at, source="HITACHI-MIB " + name)
    for part, at, name in (
        ("controllers", "6.1.2.", "dkcHWProcessor"),
        ("system", "6.1.4.", "dkcHWCache"),
        ("system", "6.1.6.", "dkcHWPS"),
        ("battery", "6.1.7.", "dkcHWBattery"),
        ("disks", "7.1.5.", "dkuHWDrive"),
    )
]

DISKSTATION: _States = [
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
    *_of(
        "e.6574.1.4.",
        "SYNOLOGY-SYSTEM-MIB",
        {"good": {"1": "normal"}, "bad": {"2": "a fan has failed"}},
        "system 1.0 systemFanStatus",
        "system 2.0 cpuFanStatus",
    ),
    {
        "part": "disks",
        "at": "e.6574.2.1.1.5.",
        "good": {"1": "normal", "2": "initialized", "3": "not initialized"},
        "bad": {"4": "system partition failed", "5": "crashed"},
        "source": "SYNOLOGY-DISK-MIB diskStatus",
    },
    {
        "part": "disks",
        "at": "e.6574.2.1.1.13.",
        "good": {"1": "normal"},
        "warn": {"2": "warning"},
        "bad": {"3": "critical", "4": "failing"},
        "source": "SYNOLOGY-DISK-MIB diskHealthStatus",
    },
    {
        # Creating, moving and checking do not reduce redundancy. Unknown (21) is not listed.
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
]

FABRIC_OS: _States = [
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
]


_OK_2 = {"good": {"1": "ok"}, "bad": {"2": "failed"}}

DATA_DOMAIN: _States = [
    {
        "part": "disks",
        "at": "e.19746.1.6.1.1.1.8.",
        "none": {"3": "absent"},
        "good": {"1": "ok", "5": "spare", "6": "available"},
        "warn": {"2": "unknown to the system"},
        "bad": {"4": "failed"},
        "source": "DATA-DOMAIN-MIB diskPropState",
    },
    {
        "part": "system",
        "at": "e.19746.1.3.1.1.0",
        "good": {"1": "enabled", "3": "running", "6": "cleaning"},
        "bad": {"2": "disabled", "5": "error"},
        "source": "DATA-DOMAIN-MIB fileSystemStatus",
    },
    {
        "part": "battery",
        "at": "e.19746.1.2.3.1.1.3.",
        "good": {"0": "ok"},
        "warn": {"2": "discharged, charging", "3": "disabled by software"},
        "bad": {"1": "disabled"},
        "source": "DATA-DOMAIN-MIB nvramBatteryStatus",
    },
    {
        "part": "system",
        "at": "e.19746.1.1.1.1.1.1.4.",
        "none": {"0": "absent"},
        "good": {"1": "ok"},
        "bad": {"2": "failed", "3": "faulty", "4": "without power"},
        "source": "DATA-DOMAIN-MIB powerModuleStatus",
    },
    {
        "part": "system",
        "at": "e.19746.1.1.3.1.1.1.6.",
        "none": {"0": "not found"},
        "good": {"1": "ok"},
        "bad": {"2": "failed"},
        "source": "DATA-DOMAIN-MIB fanStatus",
    },
    {
        "part": "system",
        "at": "e.19746.1.1.2.1.1.1.6.",
        "none": {"2": "not found"},
        "good": {"1": "ok"},
        "warn": {"0": "sensor failed", "3": "hot"},
        "bad": {"4": "too hot"},
        "source": "DATA-DOMAIN-MIB tempSensorStatus",
    },
]

#: The MIB does not name the values of hwInfo...HealthStatus. The names are from
#: hwStorageControllerHealthStatus and from centreon-plugins. 8, 9, 10, 14 and 15 are not health.
_HUAWEI = {
    "good": {"1": "normal"},
    "warn": {
        "3": "about to fail",
        "4": "partially broken",
        "5": "degraded",
        "6": "bad sectors",
        "7": "bit errors",
        "12": "low battery",
        "13": "one link down",
    },
    "bad": {"2": "fault", "11": "no input"},
}
OCEANSTOR = [
    *_of(
        "e.34774.4.1.23.",
        "HUAWEI-STORAGE-HARDWARE-MIB",
        _HUAWEI,
        "disks 5.1.1.2. hwInfoDiskHealthStatus",
        "controllers 5.2.1.2. hwInfoControllerHealthStatus",
        "system 5.3.1.3. hwInfoPowerHealthStatus",
        "system 5.4.1.3. hwInfoFanHealthStatus",
        "battery 5.5.1.3. hwInfoBBUHealthStatus",
        "system 5.6.1.4. hwInfoEnclosureHealthStatus",
    ),
    *_of(
        "e.34774.4.1.23.",
        "HUAWEI-STORAGE-SPACE-MIB",
        _HUAWEI,
        "system 4.2.1.5. hwInfoStoragePoolHealthStatus",
    ),
    *_of(
        "e.34774.4.1.19.8.",
        "ISM-STORAGE-SVC-MIB",
        _HUAWEI,
        "controllers 12.1.4. hwStorageControllerHealthStatus",
    ),
    {
        "part": "paths",
        "at": "e.34774.4.1.19.8.11.1.3.",
        "good": {"1": "up"},
        "warn": {"0": "link down"},
        "bad": {"2": "fault"},
        "source": "ISM-STORAGE-SVC-MIB hwStorageFrontEndHostPortStatus",
    },
]

_ETERNUS = {
    "none": {"4": "not installed", "6": "undefined"},
    "good": {"1": "normal"},
    "warn": {"3": "warning", "5": "under maintenance"},
    "bad": {"2": "abnormal"},
}
#: All generations of models have the same values (Checkmk). The available MIB is that of 150.
_ETERNUS_MODELS = ("60", "100", "101", "150", "153")
ETERNUS = (
    _of(
        "e.211.1.21.1.",
        "FJDARY-E150 MIB",
        {
            "none": {"2": "unused"},
            "good": {"3": "ok"},
            "warn": {"4": "a part has failed"},
            "bad": {"5": "failed"},
        },
        *(f"system {model}.6.0 fjdaryUnitStatus" for model in _ETERNUS_MODELS),
    )
    + _of(
        "e.211.1.21.1.",
        "FJDARY-E150 MIB",
        _ETERNUS,
        *(f"controllers {model}.2.1.2.1.3. fjdaryCmStatus" for model in _ETERNUS_MODELS),
        "paths 150.2.3.2.1.3. fjdaryCaStatus",
        "battery 150.2.7.2.1.3. fjdaryBcuStatus",
        "battery 150.2.8.2.1.3. fjdaryBtuStatus",
        "battery 150.2.9.2.1.3. fjdaryScuStatus",
        "system 150.2.10.2.1.3. fjdaryCeStatus",
        "system 150.2.14.2.1.3. fjdaryDeStatus",
        "system 150.2.16.2.1.3. fjdaryPsuStatus",
    )
    + _of(
        "e.211.1.21.1.",
        "FJDARY-E150 MIB",
        {
            "none": {"68": "not there"},
            "good": {
                "1": "available",
                "3": "in no RAID group",
                "5": "present",
                "6": "getting ready",
                "66": "formatting",
                "67": "unformatted",
            },
            "warn": {
                "4": "not supported",
                "7": "recovering",
                "65": "a spare that is used",
                "69": "copying",
            },
            "bad": {"2": "broken", "64": "partly broken"},
        },
        "disks 60.2.12.2.1.3. fjdaryDiskStatus",
        *(f"disks {model}.2.19.2.1.3. fjdaryDiskStatus" for model in _ETERNUS_MODELS[1:]),
    )
    + _of(
        "e.211.1.21.1.",
        "FJDARY-E150 MIB",
        {
            "none": {"15": "dormant"},
            "good": {"2": "ok"},
            "warn": {"3": "degraded"},
            "bad": {"6": "error"},
        },
        "system 150.14.3.2.1.2. fjdaryMgtRaidGrpStatus",
    )
)

_NSM = "LEFTHAND-NETWORKS-NSM-"
LEFTHAND = (
    _of(
        "e.9804.3.1.1.2.4.",
        _NSM + "STORAGE-MIB",
        _OK_2,
        "system 11.0 storageRaidStatus",
        "disks 2.1.91. storageDeviceStatus",
        "controllers 4.1.91. storageRaidDeviceStatus",
    )
    + _of(
        "e.9804.3.1.1.2.1.",
        _NSM + "INFO-MIB",
        _OK_2,
        "battery 91.1.23. infoCacheBpsStatus",
        "system 91.1.91. infoCacheStatus",
        "system 111.1.91. infoFanStatus",
        "system 121.1.91. infoTemperatureSensorStatus",
        "system 131.1.91. infoPowerSupplyStatus",
    )
    + _of(
        "e.9804.3.1.1.2.12.",
        _NSM + "CLUSTERING-MIB",
        _OK_2,
        "controllers 46.1.10. clusModuleStorageStatus",
        "controllers 44.1.5. clusManagerStatus",
        "system 97.1.15. clusVolumeReplicationStatus",
    )
    + _of(
        "e.9804.3.1.1.2.12.",
        _NSM + "CLUSTERING-MIB",
        {
            "good": {"4": "ready"},
            "warn": {"1": "not ready", "3": "overloaded"},
            "bad": {"2": "inoperable"},
        },
        "controllers 46.1.19. clusModuleStorageCondition",
    )
    + _of(
        "e.9804.3.1.1.2.12.",
        _NSM + "CLUSTERING-MIB",
        {"good": {"1": "normal"}, "warn": {"2": "degraded", "3": "restriping"}},
        "rebuild 97.1.57. clusVolumeReplicationState",
    )
)

NIMBLE = _of(
    "e.37447.1.2.1.",
    "NIMBLE-MIB",
    {"good": {"1": "on-line"}, "warn": {"2": "volume off-line"}},
    "system 10. volOnline",
)

#: Objects of the fault manager. Without a fault, the table is empty and the count is 0.
ZFS_APPLIANCE: _States = [
    {
        "part": "system",
        "at": "e.42.2.195.1.4.0",
        "counts": "faulty resources",
        "source": "SUN-FM-MIB sunFmResourceCount",
    },
    {
        "part": "system",
        "at": "e.42.2.195.1.5.1.3.",
        "good": {"2": "ok"},
        "warn": {"3": "degraded"},
        "bad": {"5": "faulted"},
        "source": "SUN-FM-MIB sunFmResourceStatus",
    },
]

#: ssStorageArrayNeedsAttention of E-Series and of MD3.
_ATTENTION = {"good": {"0": "optimal"}, "bad": {"1": "needs attention"}}
E_SERIES = _of(
    "e.789.1123.2.500.1.",
    "ES-NETAPP-06-MIB",
    _ATTENTION,
    "system 7.0 ssStorageArrayNeedsAttention",
)
MD3 = _of(
    "e.674.10893.2.31.500.1.",
    "DELL-MD-SS-06-MIB",
    _ATTENTION,
    "system 7.0 ssStorageArrayNeedsAttention",
)

#: The MIB was not available. These are the values of Checkmk and centreon-plugins.
HNAS: _States = [
    {
        "part": "disks",
        "at": "e.11096.6.1.1.1.3.4.2.1.4.",
        "none": {"4": "not present"},
        "good": {"1": "on-line"},
        "warn": {"7": "initializing", "8": "formatting"},
        "bad": {"2": "corrupt", "3": "failed", "5": "disconnected", "6": "off-line"},
        "source": "BLUEARC-SERVER-MIB sysDriveStatus",
    },
    {
        "part": "controllers",
        "at": "e.11096.6.1.1.1.2.5.9.1.4.",
        "good": {"2": "up", "4": "on-line"},
        "warn": {"3": "not up"},
        "bad": {"5": "dead", "6": "dormant"},
        "source": "BLUEARC-SERVER-MIB clusterPNodeStatus",
    },
    {
        "part": "battery",
        "at": "e.11096.6.1.1.1.2.1.17.1.3.",
        "none": {"3": "not fitted"},
        "good": {"1": "ok", "4": "initializing", "5": "charging", "7": "cells being tested"},
        "warn": {"9": "low"},
        "bad": {"2": "fault", "6": "discharged", "8": "does not answer", "10": "very low"},
        "source": "BLUEARC-SERVER-MIB batteryStatus",
    },
    {
        "part": "system",
        "at": "e.11096.6.1.1.1.2.1.13.1.3.",
        "good": {"1": "ok"},
        "warn": {"3": "not fitted"},
        "bad": {"2": "failed"},
        "source": "BLUEARC-SERVER-MIB psuStatus",
    },
    {
        "part": "system",
        "at": "e.11096.6.1.1.1.2.1.11.1.4.",
        "good": {"1": "ok"},
        "warn": {"2": "warning"},
        "bad": {"3": "severe"},
        "source": "BLUEARC-SERVER-MIB fanSpeedStatus",
    },
]

NUTANIX = _of(
    "e.41263.",
    "NUTANIX-MIB",
    {"good": {"1": "on-line"}, "bad": {"2": "off-line"}},
    "disks 3.1.13. dstState",
)

QNAP: _States = [
    {
        "part": "disks",
        "at": "e.24681.1.2.11.1.4.",
        "none": {"-5": "no disk"},
        "good": {"0": "ready"},
        "bad": {"-6": "invalid", "-9": "errors of reading or writing"},
        "source": "NAS-MIB hdStatus",
    },
    {
        "part": "system",
        "at": "e.24681.1.4.1.1.1.2.2.2.1.5.",
        "good": {"0": "ready"},
        "warn": {"-1": "warning"},
        "bad": {"-2": "not ready", "-3": "error"},
        "source": "NAS-MIB poolStatus",
    },
    *_of(
        "e.24681.1.4.1.1.1.1.",
        "NAS-MIB",
        {"good": {"0": "ok"}, "bad": {"-1": "failed"}},
        "system 3.2.1.4. systemPowerStatus",
        "system 2.2.1.4. systemFanStatus",
    ),
]

BUFFALO: _States = [
    {
        "part": "disks",
        "at": "e.5227.27.1.2.1.2.",
        "none": {
            "-1": "no such bay",
            "6": "taken out by a user",
            "9": "taken out and disconnected",
        },
        "good": dict(
            dict.fromkeys(map(str, (2, 3, 10, 11, 13, 14)), "in an array"),
            **{"1": "by itself", "4": "spare", "12": "media cartridge"},
        ),
        "warn": {"7": "spare disconnected"},
        "bad": {"5": "removed from its array", "8": "removed from its array, disconnected"},
        "source": "BUFFALO-NAS-MIB nasDiskStatus",
    },
    {
        "part": "disks",
        "at": "e.5227.27.1.2.1.5.",
        "none": {"-2": "not available"},
        "good": {"1": "normal"},
        "warn": {"2": "caution"},
        "bad": {"3": "failed"},
        "source": "BUFFALO-NAS-MIB nasDiskSMARTStatus",
    },
    *_of("e.5227.27.1.", "BUFFALO-NAS-MIB", _OK_2, "system 8.1.2. nasRPSUStatus"),
]

#: The MIB has hexadecimal values. 128 to 143 (other devices) are not listed.
INFORTREND: _States = [
    {
        "part": "disks",
        "at": "e.1714.1.1.6.1.11.",
        "none": {"63": "absent"},
        "good": {
            "0": "new",
            "1": "on-line",
            "2": "used",
            "3": "spare",
            "4": "initializing",
            "6": "being added",
            "9": "global spare",
            "18": "clone",
        },
        "warn": {
            "5": "rebuilding",
            "17": "cloning another",
            "19": "copying from another",
            "252": "global spare missing",
            "253": "spare missing",
        },
        "bad": {"254": "missing", "255": "failed"},
        "source": "IFT-SNMP-MIB hddStatus",
    },
    {
        "part": "disks",
        "at": "e.1714.1.1.2.1.11.",
        "counts": "failed disks",
        "source": "IFT-SNMP-MIB ldFailedDrvCnt",
    },
    {
        # Bit 6: data not synchronized; bit 7: offline.
        "part": "system",
        "at": "e.1714.1.1.2.1.6.",
        "good": {"0": "good", "2": "initializing"},
        "warn": dict(
            dict.fromkeys(("1", "65"), "rebuilding"),
            **dict.fromkeys(("3", "67"), "degraded"),
            **{"64": "not synced", "66": "initializing, not synced"},
        ),
        "bad": dict(
            dict.fromkeys(map(str, (4, 68, 132)), "dead"),
            **dict.fromkeys(map(str, (5, 69, 133)), "invalid"),
            **dict.fromkeys(map(str, (6, 70, 134)), "incomplete"),
            **dict.fromkeys(map(str, (7, 71, 135)), "a drive is missing"),
            **{"128": "off-line"},
        ),
        "source": "IFT-SNMP-MIB ldStatus",
    },
]

#: OperationalStatus of CIM, with the values of SNIA-SML-MIB.
_CIM = {
    "good": {"2": "ok", "8": "starting", "11": "in service", "17": "completed"},
    "warn": {
        "3": "degraded",
        "4": "stressed",
        "5": "about to fail",
        "9": "stopping",
        "10": "stopped",
        "15": "dormant",
        "16": "needs something that has failed",
    },
    "bad": {
        "6": "error",
        "7": "not recoverable",
        "12": "no contact",
        "13": "no communication",
        "14": "aborted",
    },
}
TAPE_LIBRARY = _of(
    "e.14851.3.1.",
    "SNIA-SML-MIB",
    _CIM,
    "system 4.10.1.10. subChassis-OperationalStatus",
    "system 6.2.1.11. mediaAccessDevice-OperationalStatus",
) + _of(
    "e.14851.3.1.",
    "SNIA-SML-MIB",
    {"good": {"2": "clean"}, "warn": {"1": "needs cleaning"}},
    "system 6.2.1.6. mediaAccessDevice-NeedsCleaning",
)

_HP_HEALTH = {
    "none": {"2": "unused"},
    "good": {"3": "ok"},
    "warn": {"4": "warning"},
    "bad": {"5": "critical", "6": "not recoverable"},
}
HP_TAPE = _of("e.11.2.36.1.1.", "SEMI-MIB", _HP_HEALTH, "system 5.1.1.3. hpHttpMgDeviceHealth")

_RAS = {
    "good": {"1": "good", "5": "information"},
    "warn": {"3": "degraded", "4": "warning"},
    "bad": {"2": "failed"},
}
#: Objects of each of these libraries, below its own OID (Checkmk, centreon-plugins).
_RAS_PARTS = (
    "system {0}1.0 powerStatus",
    "system {0}2.0 coolingStatus",
    "controllers {0}3.0 controlStatus",
    "paths {0}4.0 connectivityStatus",
    "system {0}5.0 roboticsStatus",
    "system {0}6.0 mediaStatus",
    "system {0}7.0 driveStatus",
)
SCALAR = _of(
    "e.3764.1.1.",
    "ADIC-INTELLIGENT-STORAGE-MIB",
    _GLOBAL,
    "system 20.1.0 agentGlobalStatus",
) + _of(
    "e.3764.1.10.10.",
    "ADIC-TAPE-LIBRARY-MIB",
    _RAS,
    "system 1.8.0 libraryGlobalStatus",
    *(row.format("12.") for row in _RAS_PARTS),
)
SMALL_TAPE = _of(
    "e.3697.1.10.10.1.",
    "QUANTUM-SMALL-TAPE-LIBRARY-MIB",
    _RAS,
    "system 8.0 libraryGlobalStatus",
    *(row.format("15.10.") for row in _RAS_PARTS),
)

#: As centreon-plugins reads it.
STORAGETEK = _of(
    "e.1211.1.15.4.",
    "STREAMLINE-TAPE-LIBRARY-MIB",
    {
        "good": {"0": "ok", "3": "information", "4": "trace"},
        "warn": {"2": "warning"},
        "bad": {"1": "error"},
    },
    "paths 2.1.26. slHostInterfaceStatusEnum",
    "system 10.1.8. slRobotStatusEnum",
    "system 12.1.8. slElevatorStatusEnum",
    "system 22.1.8. slTurntableStatusEnum",
) + _of(
    "e.1211.1.15.4.",
    "STREAMLINE-TAPE-LIBRARY-MIB",
    {"good": {"2": "normal"}, "bad": {"1": "failed"}},
    "system 6.1.3. slFanOperational",
)

MDS: _States = [
    {
        "part": "controllers",
        "at": "e.9.9.117.1.2.1.1.2.",
        "none": {"3": "disabled", "13": "taken out of service"},
        "good": {
            "2": "ok",
            "5": "booting",
            "6": "self test",
            "16": "powered up",
            "21": "synchronizing",
            "22": "upgrading",
        },
        "warn": {
            "4": "diagnosis failed",
            "12": "dormant",
            "15": "powered down",
            "18": "power cycled",
            "19": "draws more power than it was given",
            "23": "authentication failed",
        },
        "bad": {
            "7": "failed",
            "8": "missing",
            "9": "does not fit its slot",
            "10": "does not fit the configuration",
            "11": "diagnosis failed",
            "14": "too hot",
            "17": "got no power",
            "20": "draws more power than it may",
        },
        "source": "CISCO-ENTITY-FRU-CONTROL-MIB cefcModuleOperStatus",
    },
    {
        "part": "system",
        "at": "e.9.9.117.1.1.2.1.2.",
        "none": {"3": "switched off"},
        "good": {"2": "on"},
        "warn": {"9": "on, a fan failed", "12": "on, inline power failed"},
        "bad": dict(dict.fromkeys(map(str, (1, 4, 5, 6, 7, 10, 11)), "off"), **{"8": "failed"}),
        "source": "CISCO-ENTITY-FRU-CONTROL-MIB cefcFRUPowerOperStatus",
    },
    {
        "part": "system",
        "at": "e.9.9.117.1.4.1.1.1.",
        "good": {"2": "up"},
        "warn": {"4": "warning"},
        "bad": {"3": "down"},
        "source": "CISCO-ENTITY-FRU-CONTROL-MIB cefcFanTrayOperStatus",
    },
]

#: The older FREENAS-MIB (15 columns) has numeric states in column 7. Its column 3 is the block
#: size; in TRUENAS-MIB, column 3 is the health.
_ZPOOL = {
    "ONLINE": "on-line",
    "DEGRADED": "degraded",
    "FAULTED": "faulted",
    "OFFLINE": "off-line",
    "UNAVAIL": "not available",
    "REMOVED": "removed",
}
TRUENAS: _States = [
    {
        "part": "system",
        "at": "e.50536.1.1.1.1.3.",
        "unless": {"at": "e.50536.1.1.1.1.15."},
        "good": {"ONLINE": "on-line"},
        "warn": {"DEGRADED": "degraded"},
        "bad": {word: _ZPOOL[word] for word in ("FAULTED", "OFFLINE", "UNAVAIL", "REMOVED")},
        "source": "TRUENAS-MIB zpoolHealth",
    },
    {
        "part": "system",
        "at": "e.50536.1.1.1.1.7.",
        "unless": {"at": "e.50536.1.1.1.1.3.", "is": list(_ZPOOL)},
        "good": {"0": "on-line"},
        "warn": {"1": "degraded"},
        "bad": {"2": "faulted", "3": "off-line", "4": "not available", "5": "removed"},
        "source": "FREENAS-MIB zpoolHealth",
    },
]

#: As centreon-plugins reads it.
EXAGRID = _of(
    "e.14941.4.",
    "EXAGRID-MIB",
    {"good": {"1": "ok"}, "warn": {"2": "warning"}, "bad": {"3": "error"}},
    "system 6.1.0 egServerAlarmState",
)

# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Health objects of storage agents by product, in the format of "health" in a definition
(docs/storage_definitions.schema.json). storage_families.py assigns them to products.

The values and their names are from the vendor's MIB. Their classification as good or bad is ours. A
value that is not listed, such as "unknown", is an error and never a pass. A row with a value of
``none`` (an empty bay) does not count.

A table has the name of a MIB in brackets, then one or more objects, one per line: the part of the
system, the OID and the name of the object. The indented lines below apply to these objects: their
values by class, ``counts`` for an object that counts faults, and ``unless`` for a condition.
"""

from typing import Any, Dict, List

_States = List[Dict[str, Any]]


def _states_of(table: str) -> _States:
    """A record for each object of a table."""
    states: _States = []
    mib = ""
    objects: _States = []
    words = ""
    for line in [*table.strip().splitlines(), "[]"]:
        if line.startswith(" "):
            words += " " + line.strip()
            continue
        if words:
            states += [dict(item, **_classes(words)) for item in objects]
            objects, words = [], ""
        if line.startswith("["):
            mib = line[1:-1]
        else:
            part, at, name = line.split(None, 2)
            objects.append({"part": part, "at": at, "source": mib + " " + name})
    return states


def _classes(words: str) -> Dict[str, Any]:
    """The fields of a record: "good 1,3 ok; 4 spare | bad 2 failed | unless OID is 1,2"."""
    fields: Dict[str, Any] = {}
    for field in words.split(" | "):
        name, rest = field.split(None, 1)
        if name == "counts":
            fields[name] = rest
        elif name == "unless":
            at, _, values = rest.partition(" is ")
            fields[name] = {"at": at, "is": values.split(",")} if values else {"at": at}
        else:
            fields[name] = {
                value: meaning
                for group in rest.split("; ")
                for values, meaning in [group.split(None, 1)]
                for value in values.split(",")
            }
    return fields


#: Data ONTAP 7-Mode, and clustered ONTAP if the address has these objects.
ONTAP = _states_of("""
[NETAPP-MIB]
system e.789.1.2.2.4.0 miscGlobalStatus
    good 3 ok | warn 4 not critical | bad 5 critical; 6 not recoverable
disks e.789.1.6.4.7.0 diskFailedCount
    counts failed disks
rebuild e.789.1.6.4.3.0 diskReconstructingCount
    counts disks being reconstructed
controllers e.789.1.2.3.1.0 cfSettings
    none 1 not configured | good 2 takeover enabled | warn 3 takeover disabled;
    4 takeover by the partner disabled | bad 5 this node is dead: taken over
controllers e.789.1.2.3.2.0 cfState
    unless e.789.1.2.3.1.0 is 1 | good 2 can take over | warn 3 cannot take over | bad 1 dead;
    4 has taken over its partner
controllers e.789.1.2.3.4.0 cfPartnerStatus
    unless e.789.1.2.3.1.0 is 1 | good 2 partner ok | warn 1 partner may be down |
    bad 3 partner dead
paths e.789.1.2.3.8.0 cfInterconnectStatus
    none 1 no interconnect | good 4 interconnect up | warn 3 one link of the interconnect down |
    bad 2 interconnect down
battery e.789.1.2.5.1.0 nvramBatteryStatus
    none 4 not present | good 1 ok; 9 fully charged | warn 5 near its end of life; 8 overcharged |
    bad 2 partially discharged; 3 discharged; 6 at its end of life
""")

#: MSA and ME4. The unit is the whole storage system.
UNITS = _states_of("""
[FCMGMT-MIB]
system 1.3.6.1.3.94.1.6.1.6. connUnitStatus
    none 2 unused | good 3 ok | warn 4 needs attention | bad 5 failed
""")

#: The objects of a node: one row per node. A node without an interconnect has no partner.
CLUSTERED_ONTAP = ONTAP + _states_of("""
[NETAPP-MIB]
system e.789.1.2.2.36.1.2. cDOTMiscGlobalStatus
    good 3 ok | warn 4 not critical | bad 5 critical; 6 not recoverable
controllers e.789.1.21.2.1.4. haState
    unless e.789.1.21.2.1.10. is 1 | good 2 can take over | warn 3 cannot take over;
    5 partial giveback | bad 1 dead; 4 has taken over its partner
controllers e.789.1.21.2.1.6. haPartnerStatus
    unless e.789.1.21.2.1.10. is 1 | good 2 partner ok | warn 1 partner may be down |
    bad 3 partner dead
paths e.789.1.21.2.1.10. haInterconnectStatus
    none 1 no interconnect | good 4 interconnect up | warn 3 one link of the interconnect down |
    bad 2 interconnect down
""")

ISILON = _states_of("""
[ISILON-MIB]
system e.12124.1.1.2.0 clusterHealth
    good 0 ok | warn 1 needs attention | bad 2 down
disks e.12124.2.52.1.5. diskStatus
    good HEALTHY healthy; L3 L3 cache | bad DEAD dead; SMARTFAIL smartfailed
controllers e.12124.2.1.2.0 nodeHealth (of the node that answers)
    good 0 ok | warn 1 needs attention | bad 2 down
""")

#: A disk that is up but not healthy must be replaced.
COMPELLENT = _states_of("""
[DELL-STORAGE-SC-MIB]
system e.674.11000.2000.500.1.2.6.0 productIDGlobalStatus
    good 3 ok | warn 4 not critical | bad 5 critical; 6 not recoverable
controllers e.674.11000.2000.500.1.2.13.1.3. scCtlrStatus
disks e.674.11000.2000.500.1.2.14.1.3. scDiskStatus
    good 1 up | warn 3 degraded | bad 2 down
disks e.674.11000.2000.500.1.2.14.1.5. scDiskHealthy
    good 1 healthy | bad 2 not healthy
system e.674.11000.2000.500.1.2.15.1.3. scEnclStatus
system e.674.11000.2000.500.1.2.16.1.3. scCtlrFanStatus
system e.674.11000.2000.500.1.2.17.1.3. scCtlrPowerStatus
system e.674.11000.2000.500.1.2.18.1.3. scCtlrVoltageStatus
system e.674.11000.2000.500.1.2.19.1.3. scCtlrTempStatus
system e.674.11000.2000.500.1.2.20.1.3. scEnclFanStatus
system e.674.11000.2000.500.1.2.21.1.3. scEnclPowerStatus
system e.674.11000.2000.500.1.2.22.1.3. scEnclIoModStatus
system e.674.11000.2000.500.1.2.28.1.3. scCacheStatus
    good 1 up | warn 3 degraded | bad 2 down
battery e.674.11000.2000.500.1.2.28.1.5. scCacheBatStat
    none 0 no battery | good 1 normal | warn 2 near its end of life | bad 3 at its end of life
""")

EQUALLOGIC = _states_of("""
[EQLMEMBER-MIB]
system e.12740.2.1.5.1.1. eqlMemberHealthStatus
    good 1 normal | warn 2 warning | bad 3 critical
[EQLDISK-MIB]
disks e.12740.3.1.1.1.8. eqlDiskStatus
    good 1 on-line; 2 spare | warn 4 off-line; 5 of another system; 6 too small;
    7 history of failures; 8 unsupported version; 10 replacement; 11 encrypted; 12 not approved |
    bad 3 failed; 9 unhealthy; 13 off-line after errors
[EQLCONTROLLER-MIB]
battery e.12740.4.1.1.1.5. eqlControllerBatteryStatus
    good 1 ok; 3 good, charging | warn 4 low voltage; 5 low voltage, charging; 7 too hot;
    8 too cold; 10 near its end of life | bad 2 failed; 6 missing; 9 at its end of life
""")

VSP = _states_of("""
[HITACHI-MIB]
controllers e.116.5.11.4.1.1.6.1.2. dkcHWProcessor
system e.116.5.11.4.1.1.6.1.4. dkcHWCache
system e.116.5.11.4.1.1.6.1.6. dkcHWPS
battery e.116.5.11.4.1.1.6.1.7. dkcHWBattery
disks e.116.5.11.4.1.1.7.1.5. dkuHWDrive
    good 1 no error | warn 4 moderate; 5 service | bad 2 acute; 3 serious
""")

#: Of raidStatus, creating, moving and checking do not reduce redundancy, and unknown (21) is not
#: listed.
DISKSTATION = _states_of("""
[SYNOLOGY-SYSTEM-MIB]
system e.6574.1.1.0 systemStatus
    good 1 normal | bad 2 a volume has crashed
system e.6574.1.3.0 powerStatus
    good 1 normal | bad 2 a power supply has failed
system e.6574.1.4.1.0 systemFanStatus
system e.6574.1.4.2.0 cpuFanStatus
    good 1 normal | bad 2 a fan has failed
[SYNOLOGY-DISK-MIB]
disks e.6574.2.1.1.5. diskStatus
    good 1 normal; 2 initialized; 3 not initialized | bad 4 system partition failed; 5 crashed
disks e.6574.2.1.1.13. diskHealthStatus
    good 1 normal | warn 2 warning | bad 3 critical; 4 failing
[SYNOLOGY-RAID-MIB]
system e.6574.3.1.1.3. raidStatus
    good 3,4,5,6,8,9,10,13,14,15,16,17,18,19,20 at work; 1 normal | warn 2 repairing; 7 syncing;
    11 degraded | bad 12 crashed
""")

FABRIC_OS = _states_of("""
[SW-MIB]
system e.1588.2.1.1.1.1.7.0 swOperStatus
    good 1 online | warn 3 testing | bad 2 off-line; 4 faulty
system e.1588.2.1.1.1.1.22.1.3. swSensorStatus (fans, power supplies, temperatures)
    none 6 absent | good 4 nominal | warn 3 below the minimum; 5 above the maximum |
    bad 2 faulty
""")

DATA_DOMAIN = _states_of("""
[DATA-DOMAIN-MIB]
disks e.19746.1.6.1.1.1.8. diskPropState
    none 3 absent | good 1 ok; 5 spare; 6 available | warn 2 unknown to the system |
    bad 4 failed
system e.19746.1.3.1.1.0 fileSystemStatus
    good 1 enabled; 3 running; 6 cleaning | bad 2 disabled; 5 error
battery e.19746.1.2.3.1.1.3. nvramBatteryStatus
    good 0 ok | warn 2 discharged, charging; 3 disabled by software | bad 1 disabled
system e.19746.1.1.1.1.1.1.4. powerModuleStatus
    none 0 absent | good 1 ok | bad 2 failed; 3 faulty; 4 without power
system e.19746.1.1.3.1.1.1.6. fanStatus
    none 0 not found | good 1 ok | bad 2 failed
system e.19746.1.1.2.1.1.1.6. tempSensorStatus
    none 2 not found | good 1 ok | warn 0 sensor failed; 3 hot | bad 4 too hot
""")

#: The MIB does not name the values of hwInfo...HealthStatus. The names are from
#: hwStorageControllerHealthStatus and from centreon-plugins. 8, 9, 10, 14 and 15 are not health.
OCEANSTOR = _states_of("""
[HUAWEI-STORAGE-HARDWARE-MIB]
disks e.34774.4.1.23.5.1.1.2. hwInfoDiskHealthStatus
controllers e.34774.4.1.23.5.2.1.2. hwInfoControllerHealthStatus
system e.34774.4.1.23.5.3.1.3. hwInfoPowerHealthStatus
system e.34774.4.1.23.5.4.1.3. hwInfoFanHealthStatus
battery e.34774.4.1.23.5.5.1.3. hwInfoBBUHealthStatus
system e.34774.4.1.23.5.6.1.4. hwInfoEnclosureHealthStatus
    good 1 normal | warn 3 about to fail; 4 partially broken; 5 degraded; 6 bad sectors;
    7 bit errors; 12 low battery; 13 one link down | bad 2 fault; 11 no input
[HUAWEI-STORAGE-SPACE-MIB]
system e.34774.4.1.23.4.2.1.5. hwInfoStoragePoolHealthStatus
    good 1 normal | warn 3 about to fail; 4 partially broken; 5 degraded; 6 bad sectors;
    7 bit errors; 12 low battery; 13 one link down | bad 2 fault; 11 no input
[ISM-STORAGE-SVC-MIB]
controllers e.34774.4.1.19.8.12.1.4. hwStorageControllerHealthStatus
    good 1 normal | warn 3 about to fail; 4 partially broken; 5 degraded; 6 bad sectors;
    7 bit errors; 12 low battery; 13 one link down | bad 2 fault; 11 no input
paths e.34774.4.1.19.8.11.1.3. hwStorageFrontEndHostPortStatus
    good 1 up | warn 0 link down | bad 2 fault
""")

#: All generations of models have the same values (Checkmk). The available MIB is that of 150.
ETERNUS = _states_of("""
[FJDARY-E150 MIB]
system e.211.1.21.1.60.6.0 fjdaryUnitStatus
system e.211.1.21.1.100.6.0 fjdaryUnitStatus
system e.211.1.21.1.101.6.0 fjdaryUnitStatus
system e.211.1.21.1.150.6.0 fjdaryUnitStatus
system e.211.1.21.1.153.6.0 fjdaryUnitStatus
    none 2 unused | good 3 ok | warn 4 a part has failed | bad 5 failed
controllers e.211.1.21.1.60.2.1.2.1.3. fjdaryCmStatus
controllers e.211.1.21.1.100.2.1.2.1.3. fjdaryCmStatus
controllers e.211.1.21.1.101.2.1.2.1.3. fjdaryCmStatus
controllers e.211.1.21.1.150.2.1.2.1.3. fjdaryCmStatus
controllers e.211.1.21.1.153.2.1.2.1.3. fjdaryCmStatus
paths e.211.1.21.1.150.2.3.2.1.3. fjdaryCaStatus
battery e.211.1.21.1.150.2.7.2.1.3. fjdaryBcuStatus
battery e.211.1.21.1.150.2.8.2.1.3. fjdaryBtuStatus
battery e.211.1.21.1.150.2.9.2.1.3. fjdaryScuStatus
system e.211.1.21.1.150.2.10.2.1.3. fjdaryCeStatus
system e.211.1.21.1.150.2.14.2.1.3. fjdaryDeStatus
system e.211.1.21.1.150.2.16.2.1.3. fjdaryPsuStatus
    none 4 not installed; 6 undefined | good 1 normal | warn 3 warning; 5 under maintenance |
    bad 2 abnormal
disks e.211.1.21.1.60.2.12.2.1.3. fjdaryDiskStatus
disks e.211.1.21.1.100.2.19.2.1.3. fjdaryDiskStatus
disks e.211.1.21.1.101.2.19.2.1.3. fjdaryDiskStatus
disks e.211.1.21.1.150.2.19.2.1.3. fjdaryDiskStatus
disks e.211.1.21.1.153.2.19.2.1.3. fjdaryDiskStatus
    none 68 not there | good 1 available; 3 in no RAID group; 5 present; 6 getting ready;
    66 formatting; 67 unformatted | warn 4 not supported; 7 recovering; 65 a spare that is used;
    69 copying | bad 2 broken; 64 partly broken
system e.211.1.21.1.150.14.3.2.1.2. fjdaryMgtRaidGrpStatus
    none 15 dormant | good 2 ok | warn 3 degraded | bad 6 error
""")

LEFTHAND = _states_of("""
[LEFTHAND-NETWORKS-NSM-STORAGE-MIB]
system e.9804.3.1.1.2.4.11.0 storageRaidStatus
disks e.9804.3.1.1.2.4.2.1.91. storageDeviceStatus
controllers e.9804.3.1.1.2.4.4.1.91. storageRaidDeviceStatus
    good 1 ok | bad 2 failed
[LEFTHAND-NETWORKS-NSM-INFO-MIB]
battery e.9804.3.1.1.2.1.91.1.23. infoCacheBpsStatus
system e.9804.3.1.1.2.1.91.1.91. infoCacheStatus
system e.9804.3.1.1.2.1.111.1.91. infoFanStatus
system e.9804.3.1.1.2.1.121.1.91. infoTemperatureSensorStatus
system e.9804.3.1.1.2.1.131.1.91. infoPowerSupplyStatus
    good 1 ok | bad 2 failed
[LEFTHAND-NETWORKS-NSM-CLUSTERING-MIB]
controllers e.9804.3.1.1.2.12.46.1.10. clusModuleStorageStatus
controllers e.9804.3.1.1.2.12.44.1.5. clusManagerStatus
system e.9804.3.1.1.2.12.97.1.15. clusVolumeReplicationStatus
    good 1 ok | bad 2 failed
controllers e.9804.3.1.1.2.12.46.1.19. clusModuleStorageCondition
    good 4 ready | warn 1 not ready; 3 overloaded | bad 2 inoperable
rebuild e.9804.3.1.1.2.12.97.1.57. clusVolumeReplicationState
    good 1 normal | warn 2 degraded; 3 restriping
""")

NIMBLE = _states_of("""
[NIMBLE-MIB]
system e.37447.1.2.1.10. volOnline
    good 1 on-line | warn 2 volume off-line
""")

#: Objects of the fault manager. Without a fault, the table is empty and the count is 0.
ZFS_APPLIANCE = _states_of("""
[SUN-FM-MIB]
system e.42.2.195.1.4.0 sunFmResourceCount
    counts faulty resources
system e.42.2.195.1.5.1.3. sunFmResourceStatus
    good 2 ok | warn 3 degraded | bad 5 faulted
""")

E_SERIES = _states_of("""
[ES-NETAPP-06-MIB]
system e.789.1123.2.500.1.7.0 ssStorageArrayNeedsAttention
    good 0 optimal | bad 1 needs attention
""")

MD3 = _states_of("""
[DELL-MD-SS-06-MIB]
system e.674.10893.2.31.500.1.7.0 ssStorageArrayNeedsAttention
    good 0 optimal | bad 1 needs attention
""")

#: The MIB was not available. These are the values of Checkmk and centreon-plugins.
HNAS = _states_of("""
[BLUEARC-SERVER-MIB]
disks e.11096.6.1.1.1.3.4.2.1.4. sysDriveStatus
    none 4 not present | good 1 on-line | warn 7 initializing; 8 formatting | bad 2 corrupt;
    3 failed; 5 disconnected; 6 off-line
controllers e.11096.6.1.1.1.2.5.9.1.4. clusterPNodeStatus
    good 2 up; 4 on-line | warn 3 not up | bad 5 dead; 6 dormant
battery e.11096.6.1.1.1.2.1.17.1.3. batteryStatus
    none 3 not fitted | good 1 ok; 4 initializing; 5 charging; 7 cells being tested | warn 9 low |
    bad 2 fault; 6 discharged; 8 does not answer; 10 very low
system e.11096.6.1.1.1.2.1.13.1.3. psuStatus
    good 1 ok | warn 3 not fitted | bad 2 failed
system e.11096.6.1.1.1.2.1.11.1.4. fanSpeedStatus
    good 1 ok | warn 2 warning | bad 3 severe
""")

NUTANIX = _states_of("""
[NUTANIX-MIB]
disks e.41263.3.1.13. dstState
    good 1 on-line | bad 2 off-line
""")

QNAP = _states_of("""
[NAS-MIB]
disks e.24681.1.2.11.1.4. hdStatus
    none -5 no disk | good 0 ready | bad -6 invalid; -9 errors of reading or writing
system e.24681.1.4.1.1.1.2.2.2.1.5. poolStatus
    good 0 ready | warn -1 warning | bad -2 not ready; -3 error
system e.24681.1.4.1.1.1.1.3.2.1.4. systemPowerStatus
system e.24681.1.4.1.1.1.1.2.2.1.4. systemFanStatus
    good 0 ok | bad -1 failed
""")

BUFFALO = _states_of("""
[BUFFALO-NAS-MIB]
disks e.5227.27.1.2.1.2. nasDiskStatus
    none -1 no such bay; 6 taken out by a user; 9 taken out and disconnected |
    good 2,3,10,11,13,14 in an array; 1 by itself; 4 spare; 12 media cartridge |
    warn 7 spare disconnected | bad 5 removed from its array;
    8 removed from its array, disconnected
disks e.5227.27.1.2.1.5. nasDiskSMARTStatus
    none -2 not available | good 1 normal | warn 2 caution | bad 3 failed
system e.5227.27.1.8.1.2. nasRPSUStatus
    good 1 ok | bad 2 failed
""")

#: The MIB has hexadecimal values. Of hddStatus, 128 to 143 (other devices) are not listed. Of
#: ldStatus, bit 6 means that data are not synchronized, and bit 7 offline.
INFORTREND = _states_of("""
[IFT-SNMP-MIB]
disks e.1714.1.1.6.1.11. hddStatus
    none 63 absent | good 0 new; 1 on-line; 2 used; 3 spare; 4 initializing; 6 being added;
    9 global spare; 18 clone | warn 5 rebuilding; 17 cloning another; 19 copying from another;
    252 global spare missing; 253 spare missing | bad 254 missing; 255 failed
disks e.1714.1.1.2.1.11. ldFailedDrvCnt
    counts failed disks
system e.1714.1.1.2.1.6. ldStatus
    good 0 good; 2 initializing | warn 1,65 rebuilding; 3,67 degraded; 64 not synced;
    66 initializing, not synced | bad 4,68,132 dead; 5,69,133 invalid; 6,70,134 incomplete;
    7,71,135 a drive is missing; 128 off-line
""")

#: OperationalStatus of CIM, with the values of SNIA-SML-MIB.
TAPE_LIBRARY = _states_of("""
[SNIA-SML-MIB]
system e.14851.3.1.4.10.1.10. subChassis-OperationalStatus
system e.14851.3.1.6.2.1.11. mediaAccessDevice-OperationalStatus
    good 2 ok; 8 starting; 11 in service; 17 completed | warn 3 degraded; 4 stressed;
    5 about to fail; 9 stopping; 10 stopped; 15 dormant; 16 needs something that has failed |
    bad 6 error; 7 not recoverable; 12 no contact; 13 no communication; 14 aborted
system e.14851.3.1.6.2.1.6. mediaAccessDevice-NeedsCleaning
    good 2 clean | warn 1 needs cleaning
""")

HP_TAPE = _states_of("""
[SEMI-MIB]
system e.11.2.36.1.1.5.1.1.3. hpHttpMgDeviceHealth
    none 2 unused | good 3 ok | warn 4 warning | bad 5 critical; 6 not recoverable
""")

#: The objects of both libraries are below their own OIDs (Checkmk, centreon-plugins).
SCALAR = _states_of("""
[ADIC-INTELLIGENT-STORAGE-MIB]
system e.3764.1.1.20.1.0 agentGlobalStatus
    good 3 ok | warn 4 not critical | bad 5 critical; 6 not recoverable
[ADIC-TAPE-LIBRARY-MIB]
system e.3764.1.10.10.1.8.0 libraryGlobalStatus
system e.3764.1.10.10.12.1.0 powerStatus
system e.3764.1.10.10.12.2.0 coolingStatus
controllers e.3764.1.10.10.12.3.0 controlStatus
paths e.3764.1.10.10.12.4.0 connectivityStatus
system e.3764.1.10.10.12.5.0 roboticsStatus
system e.3764.1.10.10.12.6.0 mediaStatus
system e.3764.1.10.10.12.7.0 driveStatus
    good 1 good; 5 information | warn 3 degraded; 4 warning | bad 2 failed
""")

SMALL_TAPE = _states_of("""
[QUANTUM-SMALL-TAPE-LIBRARY-MIB]
system e.3697.1.10.10.1.8.0 libraryGlobalStatus
system e.3697.1.10.10.1.15.10.1.0 powerStatus
system e.3697.1.10.10.1.15.10.2.0 coolingStatus
controllers e.3697.1.10.10.1.15.10.3.0 controlStatus
paths e.3697.1.10.10.1.15.10.4.0 connectivityStatus
system e.3697.1.10.10.1.15.10.5.0 roboticsStatus
system e.3697.1.10.10.1.15.10.6.0 mediaStatus
system e.3697.1.10.10.1.15.10.7.0 driveStatus
    good 1 good; 5 information | warn 3 degraded; 4 warning | bad 2 failed
""")

#: As centreon-plugins reads it.
STORAGETEK = _states_of("""
[STREAMLINE-TAPE-LIBRARY-MIB]
paths e.1211.1.15.4.2.1.26. slHostInterfaceStatusEnum
system e.1211.1.15.4.10.1.8. slRobotStatusEnum
system e.1211.1.15.4.12.1.8. slElevatorStatusEnum
system e.1211.1.15.4.22.1.8. slTurntableStatusEnum
    good 0 ok; 3 information; 4 trace | warn 2 warning | bad 1 error
system e.1211.1.15.4.6.1.3. slFanOperational
    good 2 normal | bad 1 failed
""")

MDS = _states_of("""
[CISCO-ENTITY-FRU-CONTROL-MIB]
controllers e.9.9.117.1.2.1.1.2. cefcModuleOperStatus
    none 3 disabled; 13 taken out of service | good 2 ok; 5 booting; 6 self test; 16 powered up;
    21 synchronizing; 22 upgrading | warn 4 diagnosis failed; 12 dormant; 15 powered down;
    18 power cycled; 19 draws more power than it was given; 23 authentication failed |
    bad 7 failed; 8 missing; 9 does not fit its slot; 10 does not fit the configuration;
    11 diagnosis failed; 14 too hot; 17 got no power; 20 draws more power than it may
system e.9.9.117.1.1.2.1.2. cefcFRUPowerOperStatus
    none 3 switched off | good 2 on | warn 9 on, a fan failed; 12 on, inline power failed |
    bad 1,4,5,6,7,10,11 off; 8 failed
system e.9.9.117.1.4.1.1.1. cefcFanTrayOperStatus
    good 2 up | warn 4 warning | bad 3 down
""")

#: The older FREENAS-MIB (15 columns) has numeric states in column 7. Its column 3 is the block
#: size; in TRUENAS-MIB, column 3 is the health.
TRUENAS = _states_of("""
[TRUENAS-MIB]
system e.50536.1.1.1.1.3. zpoolHealth
    unless e.50536.1.1.1.1.15. | good ONLINE on-line | warn DEGRADED degraded |
    bad FAULTED faulted; OFFLINE off-line; UNAVAIL not available; REMOVED removed
[FREENAS-MIB]
system e.50536.1.1.1.1.7. zpoolHealth
    unless e.50536.1.1.1.1.3. is ONLINE,DEGRADED,FAULTED,OFFLINE,UNAVAIL,REMOVED |
    good 0 on-line | warn 1 degraded | bad 2 faulted; 3 off-line; 4 not available; 5 removed
""")

#: As centreon-plugins reads it.
EXAGRID = _states_of("""
[EXAGRID-MIB]
system e.14941.4.6.1.0 egServerAlarmState
    good 1 ok | warn 2 warning | bad 3 error
""")

# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Vendors by enterprise number (IANA, Private Enterprise Numbers): the vendors of storage, servers,
switches, printers and power supplies.

The complete list has 60,000 entries and is too large to send to a host. If all SNMP agents of a
vendor are one type of device, the list also has this type: a storage role or another device.
"""

from typing import NamedTuple

from ....parsers.number import clipped
from .storage_rules import NOT_STORAGE, STORAGE_ROLES, UNKNOWN


class Maker(NamedTuple):
    """``name`` is "" for a number that is not in the list. ``kind`` is the type of all devices of
    the vendor, or ""."""

    number: int
    name: str
    kind: str

    @property
    def role(self) -> str:
        if self.kind in STORAGE_ROLES:
            return self.kind
        return NOT_STORAGE if self.kind else UNKNOWN


def maker_of(number: int) -> Maker:
    for line in _MAKERS.splitlines():
        digits, kind, name = line.split(" ", 2)
        if clipped(digits) == number:
            return Maker(number, name, kind.strip("-"))
    return Maker(number, "", "")


#: Enterprise number, type of device ("-": several types), and name of the vendor.
_MAKERS = """\
2 - IBM
9 - Cisco
11 - Hewlett-Packard
34 - Cray
36 - Digital Equipment
42 - Sun Microsystems
43 network 3Com
45 network SynOptics
52 network Enterasys
79 - Fujitsu Services
80 nas Auspex
94 network Nokia
106 - EMC Data General
108 - Emulex
111 - Oracle
116 - Hitachi
119 - NEC
161 - Motorola
171 network D-Link
186 - Toshiba
207 network Allied Telesis
211 - Fujitsu
216 - Tandberg Data
231 - Fujitsu Technology Solutions
232 - Compaq
253 printer Xerox
259 network Accton
311 - Microsoft
318 power APC
343 - Intel
347 - Seagate
367 printer Ricoh
388 network Symbol
476 power Vertiv
534 power Eaton
637 network Nokia
641 printer Lexmark
664 network Adtran
674 - Dell
705 power Merlin Gerin
789 - NetApp
795 - Adaptec
850 power Tripp Lite
890 network ZyXEL
935 power Phoenixtec
1123 - Engenio
1129 printer Toshiba TEC
1139 - EMC
1229 printer SEH
1248 printer Epson
1271 network Ciena
1302 - Veritas
1347 printer Kyocera
1372 - LSI Logic
1386 san Storage Computer
1588 - Brocade
1602 printer Canon
1608 - Mylex
1793 san nStor
1872 network Alteon
1916 network Extreme Networks
1981 - EMC CLARiiON
1991 network Brocade Foundry
1993 - Xyratex
2001 printer Oki Data
2011 - Huawei
2036 - Quantum
2254 power Delta Electronics
2272 network Avaya
2294 san Dot Hill
2312 - Red Hat
2366 san Xiotech
2385 printer Sharp
2435 printer Brother
2512 - Crossroads Systems
2590 printer Minolta
2636 network Juniper
2820 nas Procom Technology
2925 network Cyclades
2935 - Quantum Pathlight
3076 network Altiga
3149 san Winchester Systems
3224 network NetScreen
3320 network BDCOM
3351 tape Overland Data
3375 network F5
3417 network Blue Coat
3478 - Spectra Logic
3581 - Seagate
3582 - LSI Logic
3647 san Raidtec
3764 - Quantum ADIC
3808 power CyberPower
3902 network ZTE
3955 network Linksys
4526 - Netgear
4547 - ATTO Technology
4555 power Socomec
4769 - IBM
5003 network AudioCodes
5127 - Western Digital
5257 san Axus Microsystems
5491 power Riello
5624 network Enterasys
5651 network Maipu
5951 network NetScaler
6141 network Ciena
6302 power Vertiv
6411 nas Overland SnapServer
6486 network Alcatel-Lucent Enterprise
6520 san Dot Hill
6527 network Nokia
6876 - VMware
6889 network Avaya
7057 - SUSE
7244 - Quanta Computer
7247 san Nexsan
7368 - FalconStor
7652 san DataCore
7779 network Infoblox
7933 san Promise
8010 nas Exanet
8072 - net-snmp
8082 backup Sepaton
8741 network SonicWall
9148 network Acme Packet
9694 network Arbor Networks
10418 network Avocent
10876 - Supermicro
11369 - LenovoEMC
11622 san 3PAR
11863 network TP-Link
12276 network F5
12325 - Fraunhofer FOKUS
12356 network Fortinet
14179 network Airespace
14604 - Commvault
14752 san Proware
14823 network Aruba
14851 - SNIA
14988 network MikroTik
15156 san Accusys
15497 network IronPort
16114 tape Qualstar
16139 san Compellent
16394 power Schroff
17163 network Riverbed
17931 backup Diligent
18334 printer Konica Minolta
18997 nas Ibrix
19046 - Lenovo
20632 network Barracuda
20809 nas Agami Systems
21658 - Kashya
22536 backup Copan Systems
25053 network Ruckus
25461 network Palo Alto Networks
25506 - H3C
27669 san easyRAID
28698 - Teradata
29671 network Meraki
30065 network Arista
30976 - Netezza
31023 - Veeam
32331 san Nimbus Data
33049 network Mellanox
33186 nas Drobo
33508 nas Avere Systems
33715 backup Axcient
35687 san Proware
35904 san MacroSAN
36366 san Kaminario
37886 san Coraid
37945 - Inspur
38091 san SolidFire
38160 backup Datto
38243 nas Thecus
39549 san DataCore
41112 network Ubiquiti
42347 san Toyou
43660 san Zadara
43906 san Tegile
43943 power Voltronic Power
44064 nas Quobyte
44738 nas Asustor
44977 san Reduxio
46032 san AccelStor
47196 - Hewlett Packard Enterprise
47421 backup Cohesity
47811 san Pavilion Data
48328 - Veritas
48512 - Inspur
48683 nas Elastifile
49769 - YADRO
49876 san Vexata
49976 san E8 Storage
50495 - Ceph
52642 network FS.COM
54323 san Datera
"""

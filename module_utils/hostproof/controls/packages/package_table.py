# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Packages that Oracle's books, CVU and ORAchk require, by release and distribution.

A new Oracle release or distribution is a new block here. Each row has its source and the day on
which the source was read. A word of a block is a package, with its minimum version if any; "!"
marks a package without which the installer, DBCA or the link of the software fails.
"""

from itertools import product
from typing import Dict, Iterator, NamedTuple, Tuple


class Row(NamedTuple):
    """``version`` is the major version of the distribution, ``minimum`` is "" without one.

    ``need`` is "installer" (it fails without), "book" (a book, CVU or ORAchk requires it), "grid"
    (the same, with Grid Infrastructure only), "list" (only others who install Oracle list it) or
    "policy" (packages_additional)."""

    release: str
    distribution: str
    version: int
    architecture: str
    package: str
    minimum: str
    need: str
    source: str
    seen: str


_SOURCES = {
    "toolkit": "google/oracle-toolkit, roles/ora-host/defaults/main.yml (code)",
    "role": "oravirt/ansible-oracle, roles/orahost/defaults/main.yml (code)",
    "cvu23": "Cluster Verification Utility 23.7 on Oracle Linux 9, public log",
    "cvu26": "Cluster Verification Utility 23.26.1 on Oracle Linux 9, public log",
    "cvu19": "Cluster Verification Utility 19.27 on Oracle Linux 9, public log",
    "orachk": "ORAchk 18.4 on Oracle Linux 7 with 19c, public run",
    "user7": "a user's copy of the 19c list for Oracle Linux 7 (code)",
    "other8": "Oracle Session Report Manager 8.2, installation of 19c on Oracle Linux 8",
    "db19_ol9": "Database Client Installation Guide 19c for Linux, Oracle Linux 9 Distributions",
    "gi19_rhel9": "Grid Installation Guide 19c for Linux, Red Hat Enterprise Linux 9 Distributions",
    "gi19_z": "Grid Installation Guide 19c for Linux, Red Hat Enterprise Linux 9 (IBM Z)",
    "db23_ol9": "Database Client Installation Guide 23ai for Linux, Oracle Linux 9 Distributions",
    "ic26_ol10": "Database Client Installation Guide 26ai for Linux, Oracle Linux 10",
    "rac26": "public installation of 26ai RAC on Oracle Linux 10",
    "debian": "Debian 12 package index: the programs and libraries of the 19c packages for EL 9",
}

#: A block is "SOURCE NEED DATE: RELEASE.. on DISTRIBUTION.. VERSION ARCHITECTURE" and its packages.
_TABLE = """
orachk book 2026-11-25: 19c on OL RHEL 7 x86_64
  !binutils>=2.23.52.0.1-16.el7 compat-libcap1>=1.10-7.el7 gcc>=4.8.2-16.el7 gcc-c++>=4.8.2-16.el7
  glibc>=2.17-55.el7 !glibc-devel>=2.17-55.el7 ksh>=20120801-19.el7 libXi>=1.7.2-2.1.el7
  libXtst>=1.2.2-2.1.el7 !libaio>=0.3.109-12.el7 libaio-devel>=0.3.109-12.el7 libgcc>=4.8.2-16.el7
  libstdc++>=4.8.2-16.el7 libstdc++-devel>=4.8.2-16.el7 !make>=3.82-21.el7 sysstat>=10.1.5-4.el7
user7 list 2026-11-25: 19c on OL RHEL 7 x86_64
  bc compat-libstdc++-33 elfutils-libelf elfutils-libelf-devel fontconfig-devel libX11 libXau
  libXrender libxcb net-tools nfs-utils smartmontools
other8 list 2026-11-25: 19c on OL RHEL 8 x86_64
  elfutils-libelf-devel gcc gcc-c++ glibc-headers libnsl2
toolkit list 2026-11-25: 19c 21c 23ai on OL RHEL 8 x86_64
  bc !binutils elfutils-libelf !fontconfig glibc !glibc-devel ksh libX11 libXau libXi libXrender
  libXtst !libaio libaio-devel libasan libgcc libibverbs liblsan !libnsl librdmacm libstdc++
  libstdc++-devel libxcb !make policycoreutils policycoreutils-python-utils smartmontools sysstat
db19_ol9 book 2026-11-25: 19c on OL RHEL 9 x86_64
  bc !binutils !compat-openssl11 elfutils-libelf !fontconfig glibc !glibc-devel ksh !libaio
  libasan liblsan libX11 libXau libXi libXrender libXtst !libxcrypt-compat libgcc libibverbs
  !libnsl librdmacm libstdc++ libxcb libvirt-libs !make policycoreutils
  policycoreutils-python-utils smartmontools sysstat
gi19_rhel9 grid 2026-11-25: 19c on RHEL 9 x86_64
  net-tools
cvu19 grid 2026-11-25: 19c on OL RHEL 9 x86_64
  psmisc>=22.6-19
gi19_z book 2026-11-25: 19c on RHEL 9 s390x
  !glibc-devel ksh !libaio libasan liblsan libX11 libXau libXi libXrender libXtst
  !libxcrypt-compat libgcc libibverbs !libnsl librdmacm libstdc++ libxcb libvirt-libs !make
  policycoreutils policycoreutils-python-utils smartmontools sysstat
db23_ol9 book 2026-11-25: 23ai on OL 9 x86_64
  bc !compat-openssl11 elfutils-libelf glibc-headers ksh libasan liblsan libX11 libXau libXi
  libXrender libXtst libibverbs librdmacm libxcb libvirt-libs
cvu23 book 2026-11-25: 23ai on OL 9 x86_64
  !binutils>=2.35.2 !fontconfig>=2.14.0 glibc>=2.34 !glibc-devel>=2.34 !libaio>=0.3.111
  libgcc>=11.3.1 libstdc++>=11.3.1 !libxcrypt-compat>=4.4.18 !make>=4.3 policycoreutils>=3.5-1
  policycoreutils-python-utils>=3.5-1 smartmontools>=7.2-6 sysstat>=12.5.4
cvu23 grid 2026-11-25: 23ai on OL 9 x86_64
  kmod>=20-21 kmod-libs>=20-21 net-tools>=2.0-0.62 nfs-utils>=2.5.4 psmisc>=22.6-19
cvu26 book 2026-11-25: 26ai on OL 9 x86_64
  !compat-openssl11>=1.1.1 !binutils>=2.35.2 !fontconfig>=2.14.0 glibc>=2.34 !glibc-devel>=2.34
  !libaio>=0.3.111 libgcc>=11.3.1 libstdc++>=11.3.1 !libxcrypt-compat>=4.4.18 !make>=4.3
  policycoreutils>=3.5-1 policycoreutils-python-utils>=3.5-1 smartmontools>=7.2-6 sysstat>=12.5.4
cvu26 grid 2026-11-25: 26ai on OL 9 x86_64
  net-tools>=2.0-0.62 nfs-utils>=2.5.4 psmisc>=22.6-19
ic26_ol10 book 2026-11-25: 26ai on OL 10 x86_64
  bc !binutils elfutils-libelf !fontconfig glibc !glibc-devel glibc-headers ksh !libaio libgcc
  libibverbs liblsan !libnsl libstdc++ libvirt-libs libxcb libX11 libXau libXi libXrender libXtst
  !libxcrypt-compat !make policycoreutils policycoreutils-python-utils smartmontools sysstat
ic26_ol10 list 2026-11-25: 26ai on OL 10 x86_64
  compat-openssl11 libnsl2 libnsl2-devel
rac26 list 2026-11-25: 26ai on OL 10 x86_64
  net-tools nfs-utils
role list 2026-11-25: 19c on SLES 12 x86_64
  bc !binutils glibc !glibc-devel libaio-devel !libaio1 libcap-ng-utils libcap-ng0 libcap-progs
  libcap2 libgcc_s1 libpcap1 libpcre1 libpcre16-0 libpng16-16 libstdc++6 libtiff5 libXau6
  libXrender1 libXtst6 !make mksh pixz rdma-core rdma-core-devel smartmontools sysstat
  xorg-x11-libs xz
  libcap1 libelf-devel libjpeg-turbo libjpeg62 libjpeg62-turbo libX11
role list 2026-11-25: 19c 21c on SLES 15 x86_64
  bc !binutils glibc !glibc-devel libaio-devel !libaio1 libcap-ng-utils libcap-ng0 libcap-progs
  libcap2 libgcc_s1 libpcap1 libpcre1 libpcre16-0 libpng16-16 libstdc++6 libtiff5 libXau6
  libXrender1 libXtst6 !make mksh pixz rdma-core rdma-core-devel smartmontools sysstat
  xorg-x11-libs xz
  insserv-compat libelf1 libgfortran4 libjpeg8 libX11-6 libXext-devel libXext6 libXi-devel libXi6
  libXrender-devel
debian list 2026-11-25: 19c 21c 23ai 26ai on Debian 12 x86_64
  bc !binutils !fontconfig ksh !libaio1 libasan8 libc6 !libc6-dev !libcrypt1 libelf1 libgcc-s1
  libibverbs1 liblsan0 libnsl2 librdmacm1 libstdc++6 libvirt0 libx11-6 libxau6 libxcb1 libxi6
  libxrender1 libxtst6 !make smartmontools sysstat
"""


def _rows(text: str) -> Iterator[Row]:
    source = need = seen = releases = hosts = ""
    for line in text.strip().split("\n"):
        if not line.startswith(" "):
            begin, _colon, where = line.partition(": ")
            source, need, seen = begin.split()
            releases, _on, hosts = where.partition(" on ")
            continue
        *distributions, version, architecture = hosts.split()
        for word, release, distribution in product(line.split(), releases.split(), distributions):
            package, _sign, minimum = word.lstrip("!").partition(">=")
            kind = "installer" if word.startswith("!") else need
            yield Row(
                *(release, distribution, int(version), architecture, package, minimum, kind),
                *(_SOURCES[source], seen),
            )


ROWS: Tuple[Row, ...] = tuple(_rows(_TABLE))

#: The distribution whose rows count where a release has none for this one.
SAME_PACKAGES: Dict[str, str] = {"OL": "RHEL", "RHEL": "OL"}
#: Oracle's package that makes a host ready, by release, and where it writes what it did.
PREINSTALL: Dict[str, str] = {
    "19c": "oracle-database-preinstall-19c",
    "21c": "oracle-database-preinstall-21c",
    "23ai": "oracle-database-preinstall-23ai",
    "26ai": "oracle-ai-database-preinstall-26ai",
}
#: bash with the corrections for CVE-2014-6271 and CVE-2014-7169, by distribution and major
#: version (RHSA-2014:1306). SLES 12 was released after them.
BASH = {
    ("EL", 5): "3.2-33.el5_11.4",
    ("EL", 6): "4.1.2-15.el6_5.2",
    ("EL", 7): "4.2.45-5.el7_0.4",
    ("SLES", 12): "4.2",
}
#: The first version of GNU bash that never had the fault.
BASH_UPSTREAM = "4.4"
#: Minimum version that CVU 19.27 and 23.26.1 require (public logs).
CVUQDISK = "1.0.10-1"

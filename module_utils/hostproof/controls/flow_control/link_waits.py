# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Commands that wait until a link or a member of a bond carries its traffic.

They are steps of a change, and of its way back, so that the next interface is not touched before
this one is there again; a step that waits without effect ends the change. Sources: kernel
Documentation/networking/bonding.rst; drivers/net/bonding/bond_procfs.c; IEEE 802.1AX, actor state.
"""

from typing import List, Sequence

from ...collect.command import Command
from ...parsers.net.bonding import LACP, Bond

#: $1 is seconds, $2 the interface: until it has had a carrier for two seconds without a break. Of
#: one that somebody took down meanwhile the kernel shows no carrier: nobody waits for that.
WAIT_CARRIER = """
if [ "$(cat "/sys/class/net/$2/operstate" 2>/dev/null)" = down ] &&
  ! cat "/sys/class/net/$2/carrier" >/dev/null 2>&1
then echo "$2 was taken down"; echo carried; exit 0; fi
end=$(( $(date +%s) + $1 )); good=0
while [ "$good" -lt 4 ]; do
  good=$((good + 1))
  [ "$(cat "/sys/class/net/$2/carrier" 2>/dev/null)" = 1 ] || good=0
  [ "$(date +%s)" -lt "$end" ] || { echo "$2 has no link after $1 seconds"; exit 1; }
  sleep 0.5
done
echo carried
"""
#: $1 is seconds, $2 the bond, then its members that must all carry it for two seconds. In LACP
#: that is: up, in the aggregator in use, in sync, collecting and distributing at both ends (state
#: bits 8, 16 and 32), and known to a partner.
WAIT_BOND = r"""
limit=$1; bond=$2; shift 2
end=$(( $(date +%s) + limit )); good=0
while [ "$good" -lt 4 ]; do
  if awk -v wanted="$*" '
    /^Bonding Mode:/ { lacp = /802\.3ad/ }
    /^Slave Interface:/ { member = $3; side = "" }
    !member && /Aggregator ID:/ { active = $NF }
    !member && /Partner Mac Address:/ { partner = $NF }
    member && /^MII Status:/ { up[member] = ($3 == "up") }
    member && /^Aggregator ID:/ { group[member] = $3 }
    /^details actor/ { side = "actor" }
    /^details [Pp]artner/ { side = "partner" }
    /port state:/ { state[member, side] = $NF; seen[member, side] = 1 }
    function full(value) { return int(value / 8) % 8 == 7 }
    END {
      count = split(wanted, names, " ")
      for (at = 1; at <= count; at++) {
        name = names[at]
        if (!up[name]) exit 1
        if (!lacp) continue
        if (group[name] != active || partner == "" || partner == "00:00:00:00:00:00") exit 1
        if (seen[name, "actor"] && !full(state[name, "actor"])) exit 1
        if (seen[name, "partner"] && !full(state[name, "partner"])) exit 1
      }
    }' "/proc/net/bonding/$bond"
  then good=$((good + 1)); else good=0; fi
  [ "$(date +%s)" -lt "$end" ] || { echo "$* does not carry $bond after $limit seconds"; exit 1; }
  sleep 0.5
done
echo carried
"""


#: Before WAIT_BOND on the way back: an interface is restored as it was, also where the bond of
#: then, or its other members, are no more.
_THOSE_LEFT = r"""
seconds=$1; bond=$2; shift 2
if [ ! -e "/proc/net/bonding/$bond" ]; then echo "$bond is no more"; echo carried; exit 0; fi
count=$#
while [ "$count" -gt 0 ]; do
  member=$1; shift; count=$((count - 1))
  if grep -qx "Slave Interface: $member" "/proc/net/bonding/$bond"
  then set -- "$@" "$member"; else echo "$member is no more in $bond"; fi
done
[ $# -gt 0 ] || { echo carried; exit 0; }
set -- "$seconds" "$bond" "$@"
"""
WAIT_BOND_BACK = _THOSE_LEFT + WAIT_BOND


def for_link(name: str, seconds: int) -> Command:
    """Until the interface has a carrier."""
    return _wait(f"wait for the link of {name}", WAIT_CARRIER, [name], seconds)


def for_members(
    name: str, bond: Bond, members: Sequence[str], seconds: int, back: bool = False
) -> Command:
    """Until the bond can use all of these members; on the way ``back`` those that are left."""
    words = "wait until {0} carry {1}{2}".format(
        ", ".join(members), name, " in LACP" if bond.mode == LACP else ""
    )
    script = WAIT_BOND_BACK if back else WAIT_BOND
    return _wait(words, script, [name] + list(members), seconds)


def _wait(name: str, script: str, arguments: List[str], seconds: int) -> Command:
    return Command(
        name,
        tuple(["sh", "-c", script, "sh", str(seconds)] + arguments),
        expected="^carried$",
        timeout=seconds + 30.0,
    )

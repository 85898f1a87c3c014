# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Commands that wait until a link or a member of a bond carries traffic.

They are steps of a change and of its restore: the next interface is changed only after this one is
up again. A wait that times out ends the change. Sources: kernel
Documentation/networking/bonding.rst; drivers/net/bonding/bond_procfs.c; IEEE 802.1AX, actor state.
"""

from typing import List, Sequence

from ...collect.command import Command
from ...parsers.net.bonding import LACP, Bond

#: Waits at most $1 seconds until interface $2 has had a carrier for two seconds without a break.
#: An interface that was set down in the meantime has no carrier, so the wait ends at once.
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
#: Waits at most $1 seconds until the other arguments, members of bond $2, carry it for two seconds.
#: With LACP a member must be up and in the active aggregator, both ends must be in sync, collecting
#: and distributing (state bits 8, 16 and 32), and a partner must be known.
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


#: Runs before WAIT_BOND in a restore. An interface is also restored if its former bond, or other
#: members of it, no longer exist.
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
    """Wait until the interface has a carrier."""
    return _wait(f"wait for the link of {name}", WAIT_CARRIER, [name], seconds)


def for_members(
    name: str, bond: Bond, members: Sequence[str], seconds: int, back: bool = False
) -> Command:
    """Wait until the bond can use all of these members. ``back``: only those that still exist."""
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

"""The hosts behind real logs of CVU: Hostproof's verdict is that of CVU, or a page says why not."""

import datetime
import json
import os
import re
from typing import NamedTuple

import cluster_packs
import cvu_logs
import cvu_packs
import packs
import pytest
from ansible.module_utils.hostproof.controls.registry import check_ids
from ansible.module_utils.hostproof.evaluate import audit
from cvu_logs import Row
from hostproof_controller.report.render import render_folder
from report.report_samples import make_line

#: The rules under test are ours; other files show how each ansible-core runs them.
pytestmark = pytest.mark.one_core

PAGES = packs.ROOT / "docs/controls"
TODAY = datetime.date(2026, 11, 27)
#: Rows of tasks that compare nodes; the others judge one host.
OF_NODES = ("Interface",)


class Difference(NamedTuple):
    """``case``: the value that the log shows, the one that CVU requires, or a worse one.

    ``subject`` is "" for all of a task."""

    case: str
    task: str
    subject: str
    ours: str
    page: str
    sentence: str


DIFFERENCES = (
    Difference(
        *("shown", "tmpfs at /dev/shm", "/etc/fstab", "pass", "space.md"),
        "No line in `/etc/fstab` is needed: systemd mounts `/dev/shm`. CVU 19.3 fails a host",
    ),
    Difference(
        *("shown", "Jumbo frames", "", "fail", "interconnect.md"), "CVU 23.7 passes an MTU of 1500."
    ),
    Difference(
        *("shown", "VIP NIC bonding", "", "fail", "interconnect.md"),
        "CVU 23.7 passes a public interface that is no bond.",
    ),
    Difference(
        *("required", "Available Physical Memory", "", "fail", "memory_pressure.md"),
        "less than 50 MiB is available, the minimum of CVU. **Warn**: less than 3%.",
    ),
    Difference(
        *("required", "OS Kernel Version", "", "fail", "platform.md"),
        "This control requires the build, so it can fail a host that CVU passes.",
    ),
    Difference(
        *("required", "Package", "gcc-c++", "fail", "packages.md"),
        "an installed package is older than CVU or ORAchk requires.",
    ),
)


def by_node() -> dict[tuple[str, str], list[Row]]:
    nodes: dict[tuple[str, str], list[Row]] = {}
    for row in cvu_logs.rows():
        if row.task not in OF_NODES:
            nodes.setdefault((row.log, row.node), []).append(row)
    return nodes


def one_of_each_log() -> list[tuple[str, str]]:
    """The node with most rows: nodes differ in few values, and not in what CVU requires."""
    nodes = by_node()
    return [
        max((key for key in nodes if key[0] == log), key=lambda key: len(nodes[key]))
        for log in dict.fromkeys(log for log, _node in nodes)
    ]


def _is_about(entry: Difference, row: Row) -> bool:
    return entry.task == row.task and entry.subject in ("", row.subject)


def difference(case: str, row: Row, ours: str) -> str:
    """What is wrong with this verdict; "" where it is CVU's, or a page says why it is not."""
    cvu = {"shown": row.verdict, "required": "pass", "worse": "fail"}[case]
    explained = any(
        (entry.case, entry.ours) == (case, ours) and _is_about(entry, row) for entry in DIFFERENCES
    )
    return "" if ours == cvu or explained else f"{row.text} {row.shown}: CVU {cvu}, here {ours}"


def changed(rows: list[Row], row: Row, shown: str) -> list[Row]:
    """The rows of a node with another value of one; paths of a file system share its free space."""
    mount = row.subject.partition(" on ")[2]
    return [
        each._replace(shown=shown)
        if each == row
        or (mount and each.task == row.task and each.subject.endswith(f" on {mount}"))
        else each
        for each in rows
    ]


def verdict(rows: list[Row], row: Row, shown: str) -> str:
    control = cvu_packs.place_of(row)[0].partition(".")[0]
    return cvu_packs.status_of(row, cvu_packs.judged(changed(rows, row, shown), control))


def at_required(rows: list[Row], row: Row) -> list[str]:
    """The values with which CVU still passes a host."""
    if row.task == "Free Space":
        mount = row.subject.partition(" on ")[2]
        sums = [int(each.required) for each in rows if each.subject.endswith(f" on {mount}")]
        return [str(sum(sums))]
    if row.task == "OS Kernel Parameter":
        return [f"{row.required}, {row.required}"]
    if row.task == "OS Kernel Version":
        return [f"{row.required}-0.el9uek.x86_64"]
    if row.task == "Run Level":
        return row.required.split(",")
    if row.task == "tmpfs at /dev/shm" and row.subject:
        return ["a line"]
    return [row.required] if row.required else []


def below(row: Row) -> list[str]:
    """Values with which CVU fails a host."""
    task = row.task
    if task in ("Physical Memory", "Available Physical Memory", "Swap Size"):
        # CVU tolerates a little less than it requires.
        return [str(int(row.required) // 2)]
    if task in ("Free Space", "Limit"):
        return [str(int(row.required) - 1)]
    if task == "OS Kernel Parameter":
        first, _space, rest = row.required.partition(" ")
        lower = f"{int(first) - 1} {rest}".strip()
        return [f"{lower}, {row.required}", f"{row.required}, {lower}"]
    if task == "Package":
        return ["missing", *(["0-0"] if row.required else [])]
    if (task, row.subject) in (("User Existence", "root"), ("tmpfs at /dev/shm", "/etc/fstab")):
        return []
    return list(WORSE[task])


#: In the words of cvu_packs.host.
WORSE = {
    "User Existence": ("absent",),
    "Users With Same UID": ("second",),
    "Group Existence": ("no",),
    "Group Membership": ("no",),
    "Run Level": ("1", "2"),
    "Architecture": ("i686",),
    "OS Kernel Version": ("5.14.0-100.el9uek.x86_64",),
    "User Mask": ("0002", "0077"),
    'User Not In Group "root"': ("yes",),
    "chronyd": ("stopped",),
    "Synchronized": ("no",),
    "avahi-daemon": ("running", "configured"),
    "proxyt": ("running", "configured"),
    "tmpfs at /dev/shm": ("no",),
    "hidepid": ("hidepid=2",),
    "resolv.conf Integrity": ("silent",),
    "Jumbo frames": (),
    # The network of a log, and not a private one.
    "Non-routable network": ("192.160.6.0",),
    "VIP NIC bonding": (),
    "RemoveIPC": ("yes",),
    "NOZEROCONF": ("no",),
}


@pytest.mark.parametrize("node", by_node(), ids=" ".join)
def test_a_host_as_the_log_shows_it(node, validate_finding):
    rows = by_node()[node]
    controls = {cvu_packs.place_of(row)[0].partition(".")[0] for row in rows}
    findings = [finding for control in controls for finding in cvu_packs.judged(rows, control)]
    for finding in findings:
        validate_finding(finding.as_dict())
    assert [
        text
        for row in rows
        if (text := difference("shown", row, cvu_packs.status_of(row, findings)))
    ] == []


@pytest.mark.parametrize("node", one_of_each_log(), ids=" ".join)
def test_a_host_with_just_what_cvu_requires(node):
    rows = by_node()[node]
    assert [
        text
        for row in rows
        for shown in at_required(rows, row)
        if (text := difference("required", row._replace(shown=shown), verdict(rows, row, shown)))
    ] == []


@pytest.mark.parametrize("node", one_of_each_log(), ids=" ".join)
def test_a_host_with_less_than_cvu_requires(node):
    rows = by_node()[node]
    assert [
        text
        for row in rows
        for shown in below(row)
        if (text := difference("worse", row._replace(shown=shown), verdict(rows, row, shown)))
    ] == []


@pytest.mark.parametrize("entry", DIFFERENCES, ids=lambda entry: f"{entry.case} {entry.task}")
def test_a_difference_exists_and_its_page_states_it(entry):
    page = " ".join((PAGES / entry.page).read_text().split())
    assert entry.sentence in page
    ours = set()
    for node in one_of_each_log():
        rows = by_node()[node]
        for row in rows:
            if _is_about(entry, row):
                values = [row.shown]
                if entry.case != "shown":
                    values = at_required(rows, row) if entry.case == "required" else below(row)
                ours |= {verdict(rows, row, shown) for shown in values}
    assert entry.ours in ours


def nodes_of(log: str) -> dict[str, list[Row]]:
    nodes: dict[str, list[Row]] = {}
    for row in cvu_logs.rows():
        if row.log == log and row.task in OF_NODES:
            nodes.setdefault(row.node, []).append(row)
    return nodes


def networks(tmp_path, nodes: dict[str, list[Row]]) -> str:
    """The verdict of cluster_nodes on the interfaces of these nodes."""
    lines = []
    for name, rows in nodes.items():
        machine = cluster_packs.node(name)
        for path in [*machine.files, *machine.folders]:
            if path.startswith("/sys/class/net/eth"):
                machine.remove(path)
        params = cluster_packs.PARAMS.format(",".join(nodes))
        machine.file(f"{cluster_packs.GRID}/crs/install/crsconfig_params", params)
        addresses = ""
        for number, row in enumerate(rows, 2):
            subnet, mtu = row.shown.split()
            # The logs show no mask.
            address = re.sub(r"0$", f"{10 + int(name[-1])}/24", subnet)
            addresses += f"{number}: {row.subject}    inet {address} scope global {row.subject}\n"
            machine.folder(f"/sys/class/net/{row.subject}/device")
            machine.file(f"/sys/class/net/{row.subject}/mtu", f"{mtu}\n")
            machine.command(f"ethtool -i {row.subject}", cluster_packs.DRIVER.format("1"))
        machine.command("ip -o addr show", addresses)
        findings = audit.judge_host(machine, {"cluster_nodes": cluster_packs.policy()})
        lines.append(make_line(name, [finding.as_dict() for finding in findings]))
    path = tmp_path / "findings.jsonl"
    path.write_text("".join(json.dumps(dict(line)) + "\n" for line in lines))
    render_folder(str(tmp_path), today=TODAY, known_checks=check_ids)
    written = [json.loads(text) for text in path.read_text().splitlines()]
    (cluster,) = [line["findings"] for line in written if line["host"].startswith("(cluster ")]
    statuses = {
        finding["status"] for finding in cluster if finding["check"] == "cluster_nodes.network"
    }
    return "pass" if statuses == {"pass"} else "fail" if "fail" in statuses else str(statuses)


@pytest.mark.parametrize("log", [log for log in cvu_logs.FILES if nodes_of(log)])
def test_interfaces_of_the_nodes(log, tmp_path):
    nodes = nodes_of(log)
    assert {row.verdict for rows in nodes.values() for row in rows} == {"pass"}
    assert networks(tmp_path, nodes) == "pass"
    name, rows = next(iter(nodes.items()))
    other = [rows[0]._replace(shown=rows[0].shown.replace(" 1500", " 9000")), *rows[1:]]
    assert networks(tmp_path, {**nodes, name: other}) == "fail"


def test_the_rows_are_those_of_the_logs():
    """If they are not: HOSTPROOF_WRITE_FIXTURES=1 pytest -k cvu_hosts tests/unit"""
    if not cvu_logs.LOGS.is_dir():
        pytest.skip("the logs of ../shared are not on this machine")
    rows = [
        row
        for log, name in cvu_logs.FILES.items()
        for row in cvu_logs.facts_of(log, (cvu_logs.LOGS / name).read_text())
    ]
    if os.environ.get("HOSTPROOF_WRITE_FIXTURES"):
        cvu_logs.TABLE.write_text(cvu_logs.table_of(rows))
        cvu_logs.rows.cache_clear()
    assert cvu_logs.rows() == tuple(rows)
    assert {row.log for row in rows} == set(cvu_logs.FILES)

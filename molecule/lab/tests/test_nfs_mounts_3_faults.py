"""Each seeded fault is one finding, with the right status, layer and fix; and nothing else is."""

import re

import nfs_faults
import pytest


@pytest.fixture(scope="module")
def verified(nfs):
    nfs_faults.seed(nfs)
    yield nfs.play("verify", nfs_mounts_mounts=nfs_faults.wanted())
    nfs_faults.heal(nfs)


def test_every_fault_is_found_and_nothing_else(verified):
    assert verified.worse_than_pass() == nfs_faults.expected()
    assert len(verified.worse_than_pass()) >= 14


HEADING = re.compile(r"^\S (?:fail|error|warn) +lab-vm  (\S+?)(?: (.+?))?:(?: |$)", re.M)
RESOLVED = re.compile(r"also resolves \d+ findings?: ([^(]+?)(?=\n\S|\n\n|\Z)")


def printed_findings(output):
    """Each finding with a heading of its own, or named below the one that causes it."""
    printed = []
    for block in re.split(r"\n(?=\S)", output):
        if heading := HEADING.match(block):
            check, subject = heading.groups()
            suffix = f" {subject}" if subject else ""
            printed.append(check + suffix)
            for names in RESOLVED.findall(block):
                for name in " ".join(names.split()).split(", "):
                    printed.append(name if " " in name else name + suffix)
    return printed


def test_each_fault_is_named_for_the_reader(verified):
    """What ``./hostproof verify`` prints; .cache/logs/lab-molecule.log keeps it if this fails."""
    printed = printed_findings(verified.output)
    seeded = {
        f"nfs_mounts.{check} {fault.path}"
        for fault in nfs_faults.FAULTS
        for check in fault.findings
    }
    assert seeded <= set(printed)
    assert len(printed) == len(nfs_faults.expected())


@pytest.mark.parametrize(
    "fault",
    [fault for fault in nfs_faults.FAULTS if fault.findings],
    ids=lambda fault: fault.path[3:],
)
def test_the_finding_names_layer_and_fix(verified, fault):
    finding = verified.finding(f"{fault.path} nfs_mounts.{next(iter(fault.findings))}")
    for layer, words in fault.layer.items():
        assert words in finding[layer]
    assert fault.fix in "\n".join([finding["fix"], *finding["commands"]])

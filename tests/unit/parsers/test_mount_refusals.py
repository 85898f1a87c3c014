"""What mount refuses, against what a real mount.nfs and a real kernel answered."""

import json
from pathlib import Path

import pytest
from ansible.module_utils.hostproof.controls.nfs_mounts.parsers import mount_refusals
from ansible.module_utils.hostproof.controls.nfs_mounts.parsers.mount_refusals import refused
from ansible.module_utils.hostproof.parsers.kernel import kernel_release
from ansible.module_utils.hostproof.parsers.nfs import nfs_options
from cases import cases

RECORDED = json.loads(
    (Path(__file__).resolve().parents[2] / "fixtures/mount_nfs_options/debian-12.json").read_text()
)
KERNEL = kernel_release.parse(RECORDED["kernel"])
#: Not the words were refused, but what this server or this machine had not.
NOT_THE_WORDS = (
    "access denied by server",
    "requested NFS version or transport protocol is not supported",
    "No such device",
    "Failed to resolve server",
)
#: NFSv4 asks no mountd: mount.nfs4 fails on the port and the protocol of one.
WITHOUT_MOUNTD = ("rw,hard,mountproto=tcp", "rw,hard,mountport=20048")
ANSWERS = [
    answer
    for answer in RECORDED["answers"]
    if not any(part in answer.get("says", "") for part in NOT_THE_WORDS)
    and answer["options"] not in WITHOUT_MOUNTD
]
EL7 = kernel_release.parse("3.10.0-1160.el7.x86_64")
EL8 = kernel_release.parse("4.18.0-553.el8_10.x86_64")
EL9 = kernel_release.parse("5.14.0-503.11.1.el9_5.x86_64")
UEK7 = kernel_release.parse("5.15.0-302.167.6.el9uek.x86_64")
DEBIAN_10 = kernel_release.parse("4.19.0-27-amd64")


def words(text, kernel=KERNEL, fstype="nfs"):
    """The words that are refused for certain, and would not be passed over."""
    refusals = refused(text, fstype, kernel)
    return [refusal.word for refusal in refusals if refusal.certain and not refusal.passed_over]


def test_the_recording_is_large_enough():
    assert len(ANSWERS) > 300
    assert sum(not answer["mounted"] for answer in ANSWERS) > 150
    assert sum(answer["mounted"] for answer in ANSWERS) > 150


@pytest.mark.parametrize(
    "answer", ANSWERS, ids=[f"{answer['type']} {answer['options']}" for answer in ANSWERS]
)
def test_as_the_real_mount_answers(answer):
    refusals = refused(answer["options"], answer["type"], KERNEL)
    # Nothing but UDP rests on what the maker of a kernel chose.
    assert all(refusal.certain or "proto=udp" in refusal.word for refusal in refusals)
    counted = [refusal for refusal in refusals if not refusal.passed_over]
    assert bool(counted) is not answer["mounted"], (counted, answer)


@pytest.mark.parametrize(
    "answer",
    [answer for answer in ANSWERS if answer["mounted"]],
    ids=[answer["options"] for answer in ANSWERS if answer["mounted"]],
)
def test_numbers_are_what_the_kernel_reads(answer):
    """timeo=0600 was granted as 384, timeo=0x258 as 600."""
    granted = nfs_options.parse(answer["granted"].split(" ")[-1])
    requested = nfs_options.parse(answer["options"])
    if requested.get("timeo", "600") != "2147483647":  # the kernel has a largest one
        read = mount_refusals.value_read(requested.get("timeo", "600"), KERNEL)
        assert granted["timeo"] == read
    for name in ("retrans", "nconnect", "max_connect", "acdirmin"):
        # Seconds beyond what the kernel's ticks can hold are cut.
        if name in requested and name in granted and requested[name] != "999999999":
            assert granted[name] == mount_refusals.value_read(requested[name], KERNEL)


@cases(
    "text says",
    ("rw,hrad", "did you mean hard?"),
    ("rw,prto=tcp", "did you mean proto?"),
    ("rw,forcedirectio", "Solaris and HP-UX"),
    ("rw,llock", "Solaris and AIX"),
    ("rw,cio", "AIX"),
    ("rw,no_root_squash", "exports(5)"),
    ("rw,timeo=600s", "no unit"),
    ("rw,nconnect=17", "between 1 and 16"),
    ("rw,sec=kerberos", "krb5"),
    ("rw,vers=5", "4.2"),
    ("rw,hard=yes", "takes no value"),
    ("rw,timeo", "needs a value"),
    ("rw,vers=3,nfsvers=4", "only one version"),
)
def test_it_says_what_is_wrong(text, says):
    (refusal,) = refused(text, "nfs", KERNEL)
    assert says in refusal.why


#: nconnect came with Linux 5.3, write= with 5.13, softerr with 5.2, xprtsec with 6.5; RHEL 8 has
#: carried nconnect back to 4.18, so nobody can tell by the number of a vendor's kernel.
@cases(
    "text kernel certain doubtful",
    ("nconnect=4", EL7, ["nconnect=4"], []),
    ("nconnect=4", EL8, [], ["nconnect=4"]),
    ("nconnect=4", DEBIAN_10, ["nconnect=4"], []),
    ("nconnect=4", EL9, [], []),
    ("nconnect=4", None, [], ["nconnect=4"]),
    ("nconnect=99", None, [], ["nconnect=99"]),
    ("softerr", EL7, ["softerr"], []),
    ("write=eager", EL9, [], []),
    ("xprtsec=tls", EL9, [], ["xprtsec=tls"]),
    ("xprtsec=tls", UEK7, [], ["xprtsec=tls"]),
    ("proto=udp,vers=3", EL8, [], []),
    ("proto=udp,vers=3", EL9, [], ["proto=udp"]),
    ("hrad", None, ["hrad"], []),
    ("timeo=0x258", EL8, ["timeo=0x258"], []),
    ("timeo=0x258", EL9, [], []),
    ("v4.2", EL7, [], ["v4.2"]),
    ("v4.2", kernel_release.parse("3.2.0-4-amd64"), ["v4.2"], []),
    ("v4.1", EL7, [], []),
)
def test_by_kernel(text, kernel, certain, doubtful):
    refusals = refused(text, "nfs", kernel)
    assert [refusal.word for refusal in refusals if refusal.certain] == certain
    assert [refusal.word for refusal in refusals if not refusal.certain] == doubtful


def test_octal_came_with_the_parser_of_5_6():
    assert mount_refusals.value_read("0600", EL9) == "384"
    assert mount_refusals.value_read("0600", None) == "384"
    assert mount_refusals.value_read("0600", EL8) == "600"
    assert mount_refusals.value_read("0800", EL9) == "0800"  # no octal: refused
    assert words("timeo=0800", EL9) == ["timeo=0800"]


def test_sloppy_saves_only_what_is_unknown():
    assert [refusal.passed_over for refusal in refused("hrad,sloppy,timeo=0", "nfs", KERNEL)] == [
        True,
        False,
    ]


def test_a_comma_within_quotes_is_no_end():
    assert words('context="system_u:object_r:nfs_t:s0,c1",hard') == []

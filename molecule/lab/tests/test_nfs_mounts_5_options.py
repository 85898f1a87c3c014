"""What the machine's own mount.nfs and kernel refuse is judged so, and what they take is not.

The texts are some of those that a real mount was asked once (tests/fixtures/mount_nfs_options), and
are asked here again, of whatever kernel and nfs-utils the machine has.
"""

import json

import ansible.module_utils
import pytest
from machines.machine import TOOLS
from machines.needs import ROOT

ansible.module_utils.__path__.append(str(ROOT / "module_utils"))

from ansible.module_utils.hostproof.controls.nfs_mounts.parsers.mount_refusals import refused  # noqa: E402
from ansible.module_utils.hostproof.parsers.kernel import kernel_release  # noqa: E402

#: No mount of this export is there when the story of NFS mounts has ended.
EXPORT, FOLDER = "filer:/vol/redo", "/mnt/asked"
#: For one text; each takes about half a second where nothing accelerates the machine.
SECONDS = 15

TEXTS = (
    # slips of the finger, and options of AIX, Solaris, HP-UX, of the server, of local file systems
    "nfs rw,hrad,vers=3",
    "nfs rw,vers=3,prto=tcp",
    "nfs rw,vers=3,wsise=65536",
    "nfs rw,vers=3,Hard",
    "nfs rw, hard,vers=3",
    "nfs rw,vers=3,forcedirectio",
    "nfs rw,vers=3,llock",
    "nfs rw,vers=3,cio",
    "nfs rw,vers=3,no_root_squash",
    "nfs rw,vers=3,errors=remount-ro",
    "nfs rw,vers=3,noactimeo",
    "nfs4 rw,hrad",
    # versions, protocols, security
    "nfs rw,vers=3.1",
    "nfs rw,vers=5",
    "nfs rw,vers=3,nfsvers=3",
    "nfs rw,vers=3,proto=tpc",
    "nfs rw,vers=3,sec=kerberos",
    # values that are none or out of range, with sloppy too
    "nfs rw,vers=3,timeo=600s",
    "nfs rw,vers=3,timeo=0",
    "nfs rw,vers=3,rsize=256K",
    "nfs rw,vers=3,rsize=08192",
    "nfs rw,vers=3,nconnect=17",
    "nfs rw,vers=3,hard=yes",
    "nfs rw,vers=3,sloppy,nconnect=99",
    # what is taken
    "nfs rw,hard,vers=3,proto=tcp,timeo=600,rsize=262144,wsize=262144,nointr",
    "nfs rw,hard,vers=4.1",
    "nfs rw,hard,v4.2",
    "nfs rw,hard,nfsvers=03",
    "nfs rw,vers=3,sec=sys",
    "nfs rw,vers=3,sloppy,hrad",
    "nfs rw,vers=3,timeo=0600",
    "nfs rw,vers=3,timeo=0x258",
    "nfs rw,vers=3,rsize=0",
    "nfs rw,vers=3,nconnect=16",
    "nfs rw,vers=3,actimeo=0,noac",
    "nfs rw,vers=3,nocto",
    "nfs rw,vers=3,nolock,local_lock=all",
    "nfs rw,vers=3,lookupcache=pos",
    "nfs rw,vers=3,intr",
    "nfs rw,vers=3,retry=abc",
    "nfs rw,vers=3,nosharecache,resvport",
    "nfs rw,vers=3,nordirplus,noacl",
    "nfs rw,,vers=3,",
    "nfs default,_netdev,nofail,vers=3",
    "nfs vers=3,noatime,nodiratime,nosuid,nodev,noexec",
    "nfs vers=3,hard,soft",
    "nfs4 rw,hard,minorversion=1",
    "nfs4 rw,hard,namlen=255",
)


@pytest.fixture(scope="module")
def answers(nfs, nfs_untouched):
    """The kernel's release, and what the mount answered to each text, all in one command."""
    before = nfs.mounts()
    nfs.send(ROOT / "tests/fixtures/mount_nfs_options/ask.py")
    texts = "\n".join(TEXTS)
    # In a mount namespace of its own and with notes of its own: nobody sees the mounts.
    own = "unshare --mount sh -c 'mount -t tmpfs tmpfs /run/mount && exec \"$@\"' sh"
    ask = f"{own} python3 {TOOLS}/ask.py {EXPORT} {FOLDER} {SECONDS}"
    output = nfs.run(
        f"uname -r; mkdir {FOLDER} && {ask} <<'EOF' && rmdir {FOLDER}\n{texts}\nEOF",
        timeout=SECONDS * len(TEXTS),
    )
    assert nfs.mounts() == before
    release, *lines = output.splitlines()
    print(output)
    return kernel_release.parse(release), [json.loads(line) for line in lines]


def test_the_mount_refuses_half_of_the_texts(answers):
    _release, replies = answers
    assert [f"{reply['type']} {reply['options']}" for reply in replies] == list(TEXTS)
    # Each was answered: none is counted as refused because nothing answered.
    assert not [reply for reply in replies if reply.get("says", "").startswith("no answer")]
    taken = sum(reply["mounted"] for reply in replies)
    assert taken >= 20, replies
    assert len(replies) - taken >= 20, replies


def test_each_text_is_judged_as_the_mount_answered(answers):
    release, replies = answers
    wrong = []
    for reply in replies:
        words = refused(reply["options"], reply["type"], release)
        if any(not word.passed_over for word in words) is reply["mounted"]:
            wrong.append((reply, words))
    assert wrong == []

"""The path and the server, made bad for real: each diagnosis names the right one of them."""

from collections.abc import Iterator
from contextlib import contextmanager

from lab_machine import LOGIN
from nfs_lab import NfsLab

#: Enough requests for a verdict although each takes long.
SECONDS = 5

#: What a real host is judged by (the role's defaults), and not what a busy one may do by itself.
LOSSES = {
    "nfs_mounts_tcp_retransmission_warn_percent": 0.1,
    "nfs_mounts_tcp_retransmission_fail_percent": 1,
}

#: Milliseconds that a write to the filer's disk takes more, and requests enough for a verdict.
SLOW, FEW = 250, 5

BUSY = ("/u02/oradata", "/u03/redo")


@contextmanager
def lossy_path(nfs: NfsLab) -> Iterator[None]:
    """One of twenty segments that the database host sends to the filer is lost."""
    nfs.run("tc qdisc replace dev san0 root netem loss 5%")
    try:
        yield
    finally:
        nfs.run("tc qdisc del dev san0 root")


@contextmanager
def slow_filer(nfs: NfsLab, volume: str) -> Iterator[None]:
    """Each write to the disk takes longer, of which a write of NFS needs several."""
    nfs.filer("slow", volume, SLOW)
    try:
        yield
    finally:
        nfs.filer("slow", volume, 0)


def test_losses_are_blamed_on_the_path(nfs):
    """No mount is listed: those are judged on which a database has files open."""
    files = "--open /u02/oradata/users01.dbf --open /u03/redo/redo01.log"
    nfs.start_stand_in("LAB1", f"--process lgwr {files}", login=LOGIN)
    with lossy_path(nfs), nfs.traffic(*BUSY):
        verified = nfs.verify(nfs_mounts_mounts="auto", hostproof_window_seconds=SECONDS, **LOSSES)
    nfs.stop_instance("LAB1")
    mounted = {name for name in verified.statuses() if name.endswith(" nfs_mounts.mounted")}
    assert mounted == {f"{path} nfs_mounts.mounted" for path in BUSY}
    for path in BUSY:
        finding = verified.finding(f"{path} nfs_mounts.retransmissions")
        assert finding["status"] == "fail"
        assert "segments are lost on the way (network)" in finding["why"]
        assert "server is slow" not in finding["why"]
        assert "ports of the switches" in finding["fix"]


def test_slow_writes_are_blamed_on_the_server(nfs):
    with slow_filer(nfs, "oradata"), nfs.traffic(*BUSY):
        verified = nfs.verify(
            hostproof_window_seconds=2 * SECONDS, nfs_mounts_sample_minimum_ops=FEW
        )
    assert verified.worse_than_pass() == {"/u02/oradata nfs_mounts.latency": "fail"}
    finding = verified.finding("/u02/oradata nfs_mounts.latency")
    assert "WRITE of /u02/oradata" in finding["why"]
    assert "the server is slow" in finding["why"]
    assert "check the server" in finding["fix"]

"""The counters of NFS mounts: real ones of three kernels, and every form that the kernel writes."""

import pytest
from ansible.module_utils.hostproof.errors import ParseError
from ansible.module_utils.hostproof.parsers.nfs import mountstats
from cases import cases

KERNELS = ["5.10", "6.1", "6.12"]


def block(
    *xprts,
    device="filer:/vol",
    path="/u02",
    fstype="nfs",
    ops="READ: 10 12 1 1000 82000 5 40 46 0",
    head="",
):
    lines = [f"device {device} mounted on {path} with fstype {fstype} statvers=1.1"]
    lines += ["\topts:\trw,vers=3,hard,proto=tcp,timeo=600", "\tage:\t100"]
    lines += ["\tcaps:\tcaps=0x3fc7,wtmult=512", head, "\tsec:\tflavor=1,pseudoflavor=1"]
    lines += ["\tRPC iostats version: 1.1  p/v: 100003/3 (nfs)"]
    lines += [f"\txprt:\t{xprt}" for xprt in xprts or ["tcp 877 1 2 0 3 40 39 1 50 7 16 0 0"]]
    lines += ["\tper-op statistics", "\t        NULL: 1 1 0 44 24 0 0 0 0", f"\t{ops:>12}"]
    return "\n".join(line for line in lines if line) + "\n\n"


def only(text):
    (mount,) = mountstats.parse(text).values()
    return mount


class TestRealKernels:
    @cases("kernel count", ("5.10", 3), ("6.1", 9), ("6.12", 3))
    def test_every_nfs_mount_and_nothing_else(self, kernel, count, fixture_text):
        mounts = mountstats.parse(fixture_text(f"mountstats/linux-{kernel}-load-2.txt"))
        assert "/u10/with space" in mounts and "/" not in mounts and "/proc" not in mounts
        assert len(mounts) == count

    @pytest.mark.parametrize("kernel", KERNELS)
    def test_four_connections(self, kernel, fixture_text):
        mounts = mountstats.parse(fixture_text(f"mountstats/linux-{kernel}-load-2.txt"))
        assert [transport.proto for transport in mounts["/u09/nconnect"].transports] == ["tcp"] * 4
        assert len({transport.port for transport in mounts["/u09/nconnect"].transports}) == 4

    def test_numbers_of_both_versions(self, fixture_text):
        mounts = mountstats.parse(fixture_text("mountstats/linux-6.1-load-2.txt"))
        three, four = mounts["/u01/oradata"], mounts["/u03/redo"]
        assert three.named["READ"] == mountstats.Operation(
            1100, 1100, 0, 127600, 9152000, 275, 1371, 1767, 0
        )
        assert three.transports == (mountstats.Transport("tcp", 723, 2, 3611, 3609, 0, 0, 4),)
        assert (three.version, four.version, three.age) == ("3", "4", 18)
        assert (three.lease_time, four.lease_time, four.lease_expired) == (None, 10, 0)
        requests, sent, _ = [sum(column) for column in zip(*three.counts.values(), strict=True)]
        assert requests == sent > 1100 + 633

    def test_a_kernel_before_errors_were_counted(self):
        # NFS over TCP of a kernel before 5.3, and UDP of 2.6.17, both from public mails.
        text = block("udp 1023 0 560 560 0 1832 176", ops="READ: 193 193 0 0 5977864 176 424 600")
        mount = only(text)
        assert mount.transports == (mountstats.Transport("udp", 1023, 0, 560, 560, 0, 176, None),)
        assert mount.named["READ"].errors is None


class TestTransports:
    @cases(
        "line transport",
        ("udp 840 1 100 90 2 300 5", ("udp", 840, 0, 100, 90, 2, 5, None)),
        ("udp 840 1 100 90 2 300 5 16 0 0", ("udp", 840, 0, 100, 90, 2, 5, 16)),
        ("tcp 766 1 3 0 9 100 90 2 300 5", ("tcp", 766, 3, 100, 90, 2, 5, None)),
        ("tcp 766 1 3 0 9 100 90 2 300 5 31 4 4", ("tcp", 766, 3, 100, 90, 2, 5, 31)),
        ("tcp 766 1 3 0 -1 100 90 2 300 5 31 4 4 7", ("tcp", 766, 3, 100, 90, 2, 5, 31)),
        (
            "rdma 0 0 1 0 9 100 90 2 300 5 1 2 3 4 5 6 7 8 9 10 11 12",
            ("rdma", 0, 1, 100, 90, 2, 5, None),
        ),
        ("local 1 2 0 9 100 90 2 300 5 31 4 4", ("local", 0, 2, 100, 90, 2, 5, 31)),
    )
    def test_forms(self, line, transport):
        assert only(block(line)).transports == (mountstats.Transport(*transport),)

    @cases("line", "sctp 1 2 3", "tcp 766 1 3 0 9", "tcp a b c d e f g h i j", "")
    def test_no_transport(self, line):
        with pytest.raises(ParseError, match="line 7"):
            mountstats.parse(block(line))


class TestForms:
    def test_every_operation_is_counted_on_its_own(self):
        counts = only(block()).counts
        assert [sum(column) for column in zip(*counts.values(), strict=True)] == [11, 13, 1]
        assert len(counts) > 1

    def test_only_operations_that_somebody_judges_are_kept(self):
        assert list(only(block(ops="GETATTR: 5 6 0 1 1 1 1 1 0")).named) == []

    def test_an_operation_that_was_never_used(self):
        mount = only(block(ops="READ: 0 0 0 0 0 0 0 0 0"))
        assert [ops for ops, _, _ in mount.counts.values()] == [1] and mount.named == {}

    def test_an_operation_without_a_name(self):
        assert only(block(ops="63: 5 6 0 1 1 1 1 1 0")).counts["63"] == (5, 6, 0)

    def test_names_with_spaces(self):
        text = block(device=r"filer:/vol\040one", path=r"/u02/with\040space")
        mount = only(text)
        assert (mount.source, mount.path) == ("filer:/vol one", "/u02/with space")

    def test_the_last_mount_of_a_path_counts(self):
        text = block(device="old:/vol") + block(device="new:/vol")
        assert only(text).source == "new:/vol"

    def test_another_file_system_over_the_mount(self):
        text = block() + "device tmpfs mounted on /u02 with fstype tmpfs\n"
        assert mountstats.parse(text) == {}

    def test_a_mount_without_counters_is_left_out(self):
        text = "device filer:/vol mounted on /u02 with fstype nfs statvers=1.1\n\tage:\t5\n"
        assert mountstats.parse(text) == {}

    def test_a_device_without_a_name(self):
        text = "no device mounted on /sys with fstype sysfs\n" + block()
        assert list(mountstats.parse(text)) == ["/u02"]

    def test_a_lease_that_ran_out(self):
        head = "\tnfsv4:\tbm0=0xfdff,pnfs=not configured,lease_time=90,lease_expired=12"
        mount = only(block(head=head))
        assert (mount.lease_time, mount.lease_expired) == (90, 12)

    @cases(
        "text",
        "",
        "something else\n",
        block().replace("age:\t100", "age:\tsoon"),
        block(head="\tnfsv4:\tlease_time=x"),
        block(ops="READ: 1 2"),
        block(ops="READ: 1 2 3 4 5 6 7"),
        block(ops="READ: 1 2 3 x 5 6 7 8"),
        block().replace("p/v: 100003/3", "p/v: ?"),
    )
    def test_not_mountstats(self, text):
        with pytest.raises(ParseError):
            mountstats.parse(text)

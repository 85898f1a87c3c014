"""What /proc says of one process: limits, maps, smaps, numa_maps, and the host's segments."""

import pytest
from ansible.module_utils.hostproof.errors import ParseError
from ansible.module_utils.hostproof.parsers.kernel import (
    numa_maps,
    proc_limits,
    proc_maps,
    smaps,
    sysvipc_shm,
)
from cases import cases

KIB = 1024
MIB = 1 << 20


class TestLimits:
    def test_numbers_and_unlimited(self, fixture_text):
        limits = proc_limits.parse(fixture_text("proc_limits/linux-6.18.txt"))
        assert limits["Max locked memory"] == (8388608, 8388608, "bytes")
        assert limits["Max stack size"] == (8388608, None, "bytes")
        assert limits["Max nice priority"] == (0, 0, "")
        assert limits["Max realtime timeout"] == (None, None, "us")
        assert len(limits) == 16

    @cases("cut", 0, 1)
    def test_nothing_below_the_header_is_an_error(self, fixture_text, cut):
        lines = fixture_text("proc_limits/linux-6.18.txt").splitlines()
        with pytest.raises(ParseError):
            proc_limits.parse("\n".join(lines[:cut]))

    def test_a_cut_row_is_named(self, fixture_text):
        lines = fixture_text("proc_limits/linux-6.18.txt").splitlines()
        with pytest.raises(ParseError) as caught:
            proc_limits.parse("\n".join([*lines[:3], lines[3][:40]]))
        assert caught.value.line == 4

    @cases("name", "Min processes", "max processes", "Max           ")
    def test_a_row_of_another_name_is_an_error(self, fixture_text, name):
        text = fixture_text("proc_limits/linux-6.18.txt")
        assert "Max processes" in text
        with pytest.raises(ParseError, match="not a limit"):
            proc_limits.parse(text.replace("Max processes", name))


class TestMaps:
    def test_the_segment_has_its_id_as_inode(self, fixture_text):
        mappings = proc_maps.parse(fixture_text("proc_maps/sysv-segment-4k.txt"))
        (segment,) = [mapping for mapping in mappings if mapping.shmid is not None]
        assert segment.shmid == 2
        assert segment.size == 4 * MIB
        assert (segment.perms, segment.device) == ("rw-s", "00:01")
        assert segment.path == "/SYSV00000000 (deleted)"

    def test_every_line_is_a_mapping(self, fixture_text):
        text = fixture_text("proc_maps/sysv-segment-4k.txt")
        mappings = proc_maps.parse(text)
        assert len(mappings) == len(text.splitlines())
        assert mappings[-1].path == "[vsyscall]"
        assert mappings[-1].end == 0xFFFFFFFFFF601000
        assert "" in {mapping.path for mapping in mappings}

    @cases(
        "path shmid",
        ("/SYSV1a2b3c4d", 7),
        ("/SYSV1a2b3c4d (deleted)", 7),
        ("/tmp/SYSV00000000", None),
    )
    def test_shmid(self, path, shmid):
        assert proc_maps.parse(f"1000-2000 rw-s 00000000 00:01 7 {path}\n")[0].shmid == shmid

    def test_no_mapping_is_no_answer(self):
        with pytest.raises(ParseError):
            proc_maps.parse("")


class TestSmaps:
    def test_small_pages(self, fixture_text):
        segments = smaps.parse(fixture_text("smaps/sysv-segment-4k.txt"))
        assert len(segments) == 4
        (segment,) = [segment for segment in segments if segment.mapping.shmid is not None]
        assert (segment.page_size, segment.rss, segment.hugetlb) == (4 * KIB, MIB, 0)
        assert not segment.huge
        assert "sh" in segment.flags

    def test_huge_pages(self, fixture_text):
        (segment,) = smaps.parse(fixture_text("smaps/sysv-segment-huge.txt"))
        assert segment.mapping.size == 64 * MIB
        assert (segment.page_size, segment.rss, segment.hugetlb) == (2 * MIB, 0, 20 * MIB)
        assert segment.huge

    def test_shared_and_private_are_one(self, fixture_text):
        text = fixture_text("smaps/sysv-segment-huge.txt")
        text = text.replace("Shared_Hugetlb:        0 kB", "Shared_Hugetlb:     2048 kB")
        assert smaps.parse(text)[0].hugetlb == 22 * MIB

    @cases("row", "KernelPageSize", "Rss", "Shared_Hugetlb", "Private_Hugetlb", "VmFlags")
    def test_a_missing_row_is_an_error(self, fixture_text, row):
        lines = fixture_text("smaps/sysv-segment-huge.txt").splitlines()
        text = "\n".join(line for line in lines if not line.startswith(row))
        with pytest.raises(ParseError, match=row):
            smaps.parse(text)

    @cases("text", "", "Rss: 4 kB\n", "rubbish\n")
    def test_no_mapping_is_no_answer(self, text):
        with pytest.raises(ParseError):
            smaps.parse(text)


class TestNumaMaps:
    def test_huge_and_small_pages(self, fixture_text):
        huge, small = numa_maps.parse(fixture_text("numa_maps/sysv-segment-huge.txt"))
        assert (huge.huge, huge.page_size, huge.node_pages) == (True, 2 * MIB, {0: 10})
        assert (huge.start, huge.policy) == (0x7F35A1800000, "default")
        assert (small.huge, small.page_size) == (False, 4 * KIB)

    def test_a_real_process(self, fixture_text):
        text = fixture_text("numa_maps/sysv-segment-4k.txt")
        ranges = numa_maps.parse(text)
        assert len(ranges) == len(text.splitlines())
        assert {area.page_size for area in ranges} == {None, 4 * KIB}

    @cases(
        "line policy nodes",
        (
            "1000 interleave:0-1 N0=3 N1=4 kernelpagesize_kB=2048",
            "interleave:0-1",
            {0: 3, 1: 4},
        ),
        ("1000 prefer=static:1 N1=4 kernelpagesize_kB=4", "prefer=static:1", {1: 4}),
        ("1000 prefer (many):0-1 N0=1 kernelpagesize_kB=4", "prefer (many):0-1", {0: 1}),
        ("1000 weighted interleave:0 stack", "weighted interleave:0", {}),
        ("1000 bind:0 heap ", "bind:0", {}),
    )
    def test_policies(self, line, policy, nodes):
        (area,) = numa_maps.parse(line + "\n")
        assert (area.policy, area.node_pages) == (policy, nodes)

    @cases(
        "text",
        "",
        "1000\n",
        "1000 default N0=x\n",
        "1000 default N0=4\n",
        "1000 default enormous\n",
    )
    def test_not_numa_maps(self, text):
        with pytest.raises(ParseError):
            numa_maps.parse(text)


class TestShm:
    def test_segments(self, fixture_text):
        unattached, attached = sysvipc_shm.parse(
            fixture_text("sysvipc_shm/linux-6.18-two-segments.txt")
        )
        assert (unattached.shmid, unattached.size, unattached.nattch) == (1, 64 * MIB, 0)
        assert (attached.shmid, attached.nattch) == (2, 1)
        assert (attached.uid, attached.gid) == (0, 0)

    @cases("columns", 9, 14)
    def test_columns_are_found_by_name(self, fixture_text, columns):
        header, first, _ = fixture_text("sysvipc_shm/linux-6.18-two-segments.txt").splitlines()
        old = [" ".join(line.split()[:columns]) for line in (header, first)]
        assert sysvipc_shm.parse("\n".join(old)) == sysvipc_shm.parse(f"{header}\n{first}\n")

    def test_no_segment_is_an_answer_and_no_header_is_not(self, fixture_text):
        header = fixture_text("sysvipc_shm/linux-6.18-two-segments.txt").splitlines()[0]
        assert sysvipc_shm.parse(header + "\n") == []
        with pytest.raises(ParseError):
            sysvipc_shm.parse("")

    @cases("row", "0 1 600", "x " * 16)
    def test_a_broken_row(self, fixture_text, row):
        header = fixture_text("sysvipc_shm/linux-6.18-two-segments.txt").splitlines()[0]
        with pytest.raises(ParseError) as caught:
            sysvipc_shm.parse(f"{header}\n{row}\n")
        assert caught.value.line == 2

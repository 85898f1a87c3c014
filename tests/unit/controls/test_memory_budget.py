"""The budget of memory: each part, its sum against the memory, and what is not known of it."""

import memory_packs
import packs
import pytest
from cases import cases
from packs import GIB, MIB, Shm

SGA = 16 * GIB
POOL = 8200
#: 16 GiB in huge pages, 2 GiB of sessions at most and 300 processes.
RUNNING = {
    "sga_max_size": str(SGA),
    "sga_target": str(SGA),
    "pga_aggregate_target": str(GIB),
    "pga_aggregate_limit": str(2 * GIB),
    "processes": "300",
}
STORED = tuple(("*", name, value) for name, value in RUNNING.items())


@pytest.fixture
def judge(valid):
    def judge_budget(machine, **changes):
        return valid(memory_packs.judged)(machine, **changes)["budget"]

    return judge_budget


def stored(**changes):
    """The entries of the spfile; None takes one out."""
    values = {**RUNNING, **changes}
    return [("*", name, value) for name, value in values.items() if value is not None]


def with_database(running=None, entries=STORED, segments=None, pool=POOL, version="19.0.0.0.0"):
    machine = memory_packs.host().account("oracle", 54321, "oinstall").pool(pool, 0)
    machine.file("/proc/sys/vm/min_free_kbytes", "67584\n")
    machine.instance("A", *([Shm(SGA)] if segments is None else segments))
    values = {**RUNNING, **(running or {})}
    parameters = {name: value for name, value in values.items() if value is not None}
    return machine.parameters("A", parameters, *entries, release=(version, "\\0"))


class TestParts:
    def test_each_part_has_its_bytes(self, judge):
        finding = judge(with_database())
        huge, kernel = POOL * 2 * MIB, (36832 + 688 + 67584) * 1024
        processes = 300 * (MIB + SGA // (2 * MIB) * 8)
        parts = {
            "huge_pages": huge,
            "sga": 0,
            "pga": 2 * GIB,
            "processes": processes,
            "kernel": kernel,
            "page_cache": 64 * GIB * 2 // 100,
        }
        assert finding.status == "pass"
        assert finding.values == {
            "memory": 64 * GIB,
            "unit": "bytes",
            **{f"{when}_{name}": size for when in ("now", "next") for name, size in parts.items()},
        }

    def test_page_tables_depend_on_the_pages_of_the_sga(self, judge):
        small = judge(with_database(segments=[Shm(SGA, False)], pool=0)).values
        assert small["now_sga"] == SGA and small["now_processes"] == 300 * (MIB + SGA // 512)
        assert small["next_sga"] == SGA

    def test_what_the_pool_lacks_at_the_next_start_gets_ordinary_pages(self, judge):
        values = judge(with_database(entries=stored(sga_max_size=str(20 * GIB)))).values
        assert values["now_sga"] == 0 and values["next_sga"] == 20 * GIB - POOL * 2 * MIB

    def test_an_instance_that_refuses_huge_pages(self, judge):
        machine = with_database(entries=[*STORED, ("*", "use_large_pages", "FALSE")])
        assert judge(machine).values["next_sga"] == SGA

    def test_memory_target_holds_sga_and_pga(self, judge):
        machine = with_database(
            {"memory_target": str(20 * GIB), "memory_max_target": str(24 * GIB)},
            stored(memory_target=str(20 * GIB)),
            segments=[Shm(packs.SMALL_SEGMENT, False)],
            pool=0,
        )
        values = judge(machine).values
        assert (values["now_sga"], values["now_pga"]) == (24 * GIB, 0)
        assert (values["next_sga"], values["next_pga"]) == (20 * GIB, 0)


class TestPga:
    @cases(
        "version limit wanted",
        ("19.0.0.0.0", str(3 * GIB), 3 * GIB),
        ("19.0.0.0.0", "0", 2 * GIB),
        ("11.2.0.4.0", None, 3 * GIB),
    )
    def test_now(self, judge, version, limit, wanted):
        machine = with_database({"pga_aggregate_limit": limit}, version=version)
        assert judge(machine).values["now_pga"] == wanted

    @cases(
        "changes wanted",
        ({"pga_aggregate_limit": None}, 2 * GIB),
        ({"pga_aggregate_limit": None, "pga_aggregate_target": str(4 * GIB)}, 8 * GIB),
        ({"pga_aggregate_limit": None, "processes": "1000"}, 1000 * 3 * MIB),
        ({"pga_aggregate_limit": "0"}, 2 * GIB),
        ({"pga_aggregate_limit": "0", "pga_aggregate_target": None}, SGA // 5 * 2),
    )
    def test_defaults_of_the_next_start(self, judge, changes, wanted):
        assert judge(with_database(entries=stored(**changes))).values["next_pga"] == wanted


class TestVerdict:
    @cases(
        "running entries layer",
        ({"pga_aggregate_limit": str(50 * GIB)}, STORED, "running"),
        ({}, stored(pga_aggregate_limit=str(50 * GIB)), "persisted"),
    )
    def test_more_than_the_host_has(self, judge, running, entries, layer):
        finding = judge(with_database(running, entries))
        assert (finding.status, finding.failing_layer) == ("fail", layer)
        assert finding.desired == "at most 64.0 GiB"

    @cases("gib status", (46, "pass"), (47, "warn"), (49, "fail"))
    def test_the_edge(self, judge, gib, status):
        assert judge(with_database({"pga_aggregate_limit": str(gib * GIB)})).status == status

    def test_databases_that_only_clusterware_knows(self, judge):
        """Clusterware runs here: oratab of 12.2 and later lists no database."""
        grid = {"argv0": "/u01/grid/bin/ocssd.bin", "exe": "/u01/grid/bin/ocssd.bin"}
        name = "list the databases of Clusterware (crsctl stat res -w TYPE = ora.database.type)"

        def node(**changes):
            machine = with_database(**changes).file("/etc/oratab", "+ASM1:/u01/grid:N\n")
            machine.command("getent passwd", "grid:x:54322:1::/:/bin/sh\n")
            machine.running.append({"pid": 901, "uid": 54322, "gid": 1, "started": 61.5, **grid})
            return machine

        assert judge(node().command(name, "NAME=ora.a.db\n")).status == "pass"
        finding = judge(node().command(name, "NAME=ora.a.db\nNAME=ora.dev.db\n"))
        assert (finding.status, "(dev)" in finding.why) == ("error", True)
        large = {"running": {"pga_aggregate_limit": str(64 * GIB)}}
        finding = judge(node(**large).command(name, "NAME=ora.dev.db\n"))
        assert (finding.status, finding.failing_layer) == ("fail", "running")
        finding = judge(node().command(name, "", 1))
        assert finding.status == "error"

    def test_without_a_database(self, judge):
        assert judge(memory_packs.host()).status == "skip"
        olr = memory_packs.host().file("/etc/oracle/olr.loc", "crs_home=/u01/grid\n")
        assert judge(olr).status == "error"
        assert judge(with_database(), query_instances=False).status == "skip"
        assert judge(with_database(), skip_checks=["budget"]).status == "skip"


class TestUnknown:
    @cases(
        "running part",
        ({"pga_aggregate_target": None, "pga_aggregate_limit": None}, "pga of A"),
        ({"processes": None}, "processes of A"),
    )
    def test_the_part_is_named(self, judge, running, part):
        finding = judge(with_database(running))
        assert (finding.status, f"the part {part} is unknown" in finding.why) == ("error", True)

    def test_an_instance_that_does_not_answer(self, judge):
        machine = with_database()
        machine.command("sqlplus A: release and parameters", "ORA-01034: not available\n", 1)
        finding = judge(machine)
        assert (finding.status, "of A is unknown" in finding.why) == ("error", True)

    def test_segments_that_may_not_be_read(self, judge):
        machine = with_database()
        pid = machine.running[-1]["pid"]
        finding = judge(machine.deny(f"/proc/{pid}/maps"))
        assert (finding.status, "the part huge_pages of A" in finding.why) == ("error", True)

    def test_the_reserve_of_the_kernel(self, judge):
        finding = judge(with_database().deny("/proc/sys/vm/min_free_kbytes"))
        assert (finding.status, "the part kernel is unknown" in finding.why) == ("error", True)

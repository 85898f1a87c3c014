"""Who runs here, where each SGA lies, and what the accounts may do."""

import packs
import pytest
from ansible.module_utils.hostproof.collect.answer import known
from ansible.module_utils.hostproof.errors import Absent, Denied, HostproofError, Unanswered
from ansible.module_utils.hostproof.probes.kernel import numa
from ansible.module_utils.hostproof.probes.oracle import instances
from ansible.module_utils.hostproof.probes.unix import limits
from cases import cases
from packs import GIB, MIB, Shm


class TestInstances:
    @cases(
        "kind sid",
        *(("ora", "ORCL"), ("db", "FREE"), ("asm", "+ASM1"), ("mdb", "-MGMTDB")),
        *(("apx", "+APX1"), ("ora", "my_pmon_db")),
    )
    def test_every_kind_is_known_by_its_monitor(self, kind, sid):
        machine = packs.linux().instance(sid, Shm(2 * MIB), kind=kind)
        (instance,) = instances.find_instances(machine)
        assert (instance.kind, instance.sid) == (kind, sid)

    @cases("name", "ora_smon_ORCL", "/bin/grep ora_pmon_X", "xora_pmon_X")
    def test_other_processes_are_not(self, name):
        machine = packs.linux()
        process = {"pid": 1, "uid": 0, "gid": 0, "started": 0.0, "argv0": name}
        machine.running.append(process)
        assert instances.find_instances(machine) == []

    def test_ordered_by_sid(self):
        machine = packs.linux().instance("B", Shm(2 * MIB), pid=5)
        machine.instance("A", Shm(2 * MIB), pid=9)
        assert [instance.sid for instance in instances.find_instances(machine)] == ["A", "B"]

    def test_segments_with_their_nodes(self):
        (instance,) = instances.find_instances(packs.database_host())
        assert known(instance.segments) == [
            (0, 8 * MIB, True, {0: 4}),
            (1, 16 * GIB - 8 * MIB, True, {0: 4094, 1: 4094}),
            (2, 20480, False, {0: 5}),
        ]

    def test_huge_segment_that_nobody_touched_is_huge(self):
        (instance,) = instances.find_instances(packs.linux().instance("A", Shm(4 * MIB, True)))
        assert [segment.huge for segment in known(instance.segments)] == [True]

    def test_mapping_that_came_in_between(self):
        machine = packs.database_host()
        text = machine.files["/proc/2101/numa_maps"]
        machine.file("/proc/2101/numa_maps", "".join(text.splitlines(keepends=True)[:-1]))
        (instance,) = instances.find_instances(machine)
        with pytest.raises(Unanswered, match="changed while they were read"):
            known(instance.segments)

    def test_what_may_not_be_read_stands_for_itself(self):
        (instance,) = instances.find_instances(packs.database_host().deny("/proc/2101/maps"))
        assert isinstance(instance.segments, Denied)
        assert known(instance.user) == "oracle"

    def test_owner_without_an_account(self):
        machine = packs.linux().instance("A", Shm(2 * MIB), uid=4711)
        (instance,) = instances.find_instances(machine)
        assert isinstance(instance.user, Absent)


class TestLimits:
    def test_groups_of_accounts_that_exist(self):
        machine = packs.database_host()
        accounts = limits.read_accounts(machine, ["oracle", "grid"])
        assert list(accounts) == ["oracle"]
        assert accounts["oracle"].groups == ["oinstall", "dba"]
        assert (accounts["oracle"].uid, accounts["oracle"].gid) == (54321, 54321)

    def test_id_that_fails_is_no_answer(self):
        machine = packs.database_host()
        machine.command("id -Gn oracle", "", rc=1)
        with pytest.raises(Unanswered):
            limits.read_accounts(machine, ["oracle"])

    def test_files_in_the_order_of_pam_limits(self):
        machine = packs.linux()
        machine.file("/etc/security/limits.conf", "a - memlock 1\n")
        machine.file("/etc/security/limits.d/b.conf", "a - memlock 3\n")
        machine.file("/etc/security/limits.d/a.conf", "a - memlock 2\n")
        machine.file("/etc/security/limits.d/a.conf.rpmsave", "a - memlock 9\n")
        assert [entry.value for entry in limits.read_entries(machine)] == ["1", "2", "3"]

    def test_no_file_at_all(self):
        machine = packs.linux().remove("/etc/security/limits.conf", "/etc/security/limits.d")
        assert limits.read_entries(machine) == []


class TestNodes:
    def test_by_number_not_by_name(self):
        machine = packs.linux().nodes(*range(11))
        assert [pool.pages for pool in numa.read_node_pools(machine, 2 * MIB)] == list(range(11))

    def test_only_nodes_with_a_pool_of_that_size(self):
        machine = packs.linux().nodes(5, 6)
        assert numa.read_node_pools(machine, GIB) == []
        machine.file("/sys/devices/system/node/node7/cpulist", "8\n")
        assert len(numa.read_node_pools(machine, 2 * MIB)) == 2

    def test_kernel_without_numa(self):
        machine = packs.linux()
        for path in list(machine.files):
            if path.startswith("/sys/devices/system/node"):
                machine.remove(path)
        assert numa.read_node_pools(machine, 2 * MIB) == []

    def test_unreadable_pool_is_not_left_out(self):
        machine = packs.linux().nodes(5, 6).deny("/sys/devices/system/node/node1")
        with pytest.raises(HostproofError):
            numa.read_node_pools(machine, 2 * MIB)

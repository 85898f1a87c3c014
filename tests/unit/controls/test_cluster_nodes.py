"""The control cluster_nodes: what a node says of itself."""

import os

import cluster_packs
import pytest
from ansible.module_utils.hostproof.errors import PolicyError
from ansible.module_utils.hostproof.evaluate import audit
from cluster_packs import node, policy


def judged(machine, **changes):
    found = audit.judge_host(machine, {"cluster_nodes": policy(**changes)})
    return {one.check.split(".")[1]: one for one in found}


def test_a_node_says_of_which_cluster_it_is_and_what_it_is():
    found = judged(node("db1"))
    assert {one.status for one in found.values()} == {"skip"}
    assert found["complete"].values == {
        "cluster": "rac1",
        "node": "db1.example.com",
        "nodes": "db1, db2, db3, db4",
    }
    assert found["software"].values == {
        "kernel": "5.15.0-209.161.7.2.el9uek.x86_64",
        "os": "Oracle Linux 9.4",
        "core_pattern": "|/usr/lib/systemd/systemd-coredump %P %u %g %s %t %c %h",
        "core_uses_pid": 1,
        "oracle_homes": "/u01/app/oracle/product/19",
        "patches /u01/app/oracle/product/19": "35642822, 35643107",
    }
    assert found["hardware"].values == {
        "cpu_model": "Intel(R) Xeon(R) Gold 6354 CPU @ 3.00GHz",
        "cpus": 4,
        "memory_mib": 65536,
    }
    assert found["huge_pages"].values == {
        "huge_pages": 20480,
        "huge_page_size_kib": 2048,
        "huge_pages_by_numa_node": "node0 20480",
    }
    assert found["network"].values == {
        "mtu eth0": 1500,
        "driver eth0": "ixgbe",
        "firmware eth0": "0x800008a4",
        "mtu eth1": 9000,
        "driver eth1": "ixgbe",
        "firmware eth1": "0x800008a4",
        "subnets eth0": "192.0.2.0/24",
        "subnets eth1": "10.0.0.0/24",
    }
    assert found["clock"].values == {
        "clock_source": "tsc",
        "time_daemon": "chronyd",
        "time_zone": "Europe/Berlin",
    }


def test_how_a_bond_spreads_packets_is_a_trait():
    machine = node("db1")
    machine.folder("/sys/class/net/bond0", "/sys/class/net/bond0/bonding")
    machine.file("/sys/class/net/bond0/mtu", "9000\n")
    machine.file("/sys/class/net/bond0/bonding/mode", "active-backup 1\n")
    values = judged(machine)["network"].values
    assert (values["mtu bond0"], values["bonding bond0"]) == (9000, "active-backup")
    machine.file("/sys/class/net/bond0/bonding/mode", "\n")
    machine.evidence.clear()
    assert judged(machine)["network"].status == "error"


def test_without_clusterware_and_without_a_name_it_does_not_apply():
    alone = node("db1").remove("/etc/oracle/olr.loc")
    found = judged(alone)
    assert {one.status for one in found.values()} == {"skip"}
    assert not any(one.values for one in found.values())


def test_oracle_restart_is_no_cluster():
    alone = node("db1")
    params = cluster_packs.GRID + "/crs/install/crsconfig_params"
    alone.file(params, "CLUSTER_NAME=\nNODE_NAME_LIST=\n")
    assert judged(alone)["complete"].values is None


def test_none_is_no_cluster_whatever_is_installed():
    assert judged(node("db1"), name="none")["complete"].values is None


def test_the_policy_names_the_cluster_and_its_nodes():
    alone = node("db1").remove("/etc/oracle/olr.loc")
    found = judged(alone, name="sap", expected=["db1", "db2"])
    assert found["complete"].values["cluster"] == "sap"
    assert found["complete"].values["nodes"] == "db1, db2"


def test_what_may_not_be_read_is_an_error_and_not_no_cluster():
    found = judged(node("db1").deny(cluster_packs.GRID))
    assert {one.status for one in found.values()} == {"error"}
    assert "--become" in found["complete"].fix


@pytest.mark.parametrize(
    ("denied", "check", "trait"),
    [
        ("/proc/sys/kernel/osrelease", "software", "kernel"),
        ("/proc/cpuinfo", "hardware", "cpus"),
        ("/proc/sys/kernel/core_pattern", "software", "core_pattern"),
        ("/proc/sys/kernel/core_uses_pid", "software", "core_uses_pid"),
        ("/sys/class/net/eth1/mtu", "network", "mtu eth1"),
        (cluster_packs.HOME + "/inventory", "software", f"patches {cluster_packs.HOME}"),
    ],
)
def test_a_trait_that_is_not_known_is_null_and_makes_an_error(denied, check, trait):
    found = judged(node("db1").deny(denied))[check]
    assert (found.status, found.values[trait]) == ("error", None)
    assert len([one for one in found.values.values() if one is not None])


def test_interfaces_that_come_and_go_are_left_out():
    machine = node("db1")
    machine.file("/sys/class/net/docker0/mtu", "1500\n").file("/sys/class/net/bonding_masters", "")
    machine.file("/sys/class/net/eth1.7/mtu", "1500\n")
    machine.file("/sys/class/net/eth1.7/uevent", "DEVTYPE=vlan\nINTERFACE=eth1.7\n")
    machine.file("/sys/class/net/bond0/mtu", "9000\n").folder("/sys/class/net/bond0/bonding")
    names = {name.split(" ")[1] for name in judged(machine)["network"].values}
    assert names == {"eth0", "eth1", "eth1.7", "bond0"}


def test_subnets_are_of_every_address_of_cards_bonds_and_vlans():
    machine = node("db1")
    machine.file("/sys/class/net/eth1.7/mtu", "1500\n")
    machine.file("/sys/class/net/eth1.7/uevent", "DEVTYPE=vlan\nINTERFACE=eth1.7\n")
    lines = [
        "4: eth1.7@eth1    inet 10.7.0.5/16 scope global eth1.7",
        "4: eth1.7@eth1    inet 10.7.0.6/16 scope global secondary eth1.7:1",
        "4: eth1.7@eth1    inet6 2001:db8:7::5/64 scope global",
        "5: virbr0    inet 192.168.122.1/24 scope global virbr0",
    ]
    machine.command("ip -o addr show", "\n".join(lines))
    values = judged(machine)["network"].values
    assert {name: one for name, one in values.items() if name.startswith("subnets ")} == {
        "subnets eth1.7": "10.7.0.0/16, 2001:db8:7::/64"
    }


@pytest.mark.parametrize(("text", "rc"), [("", 1), ("2: eth0    inet 192.0.2.300/24", 0)])
def test_subnets_that_are_not_known_are_an_error(text, rc):
    found = judged(node("db1").command("ip -o addr show", text, rc))["network"]
    assert (found.status, found.values["subnets"]) == ("error", None)


@pytest.mark.parametrize("value", ["", 5, ["rac1"], "a\nb", None])
def test_a_name_that_is_none_is_refused(value):
    with pytest.raises(PolicyError, match="cluster_nodes_name must be auto, none or the name"):
        judged(node("db1"), name=value)


def test_cluster_packs_hold_what_todays_controls_read():
    """If they do not: HOSTPROOF_WRITE_FIXTURES=1 pytest -k cluster_packs tests/unit"""
    for name, text in cluster_packs.cluster_packs().items():
        if os.environ.get("HOSTPROOF_WRITE_FIXTURES"):
            (cluster_packs.FOLDER / name).write_text(text)
        assert (cluster_packs.FOLDER / name).read_text() == text

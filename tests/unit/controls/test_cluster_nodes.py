"""The control cluster_nodes: what a node says of itself."""

import os

import cluster_packs
import pytest
from ansible.module_utils.hostproof.collect.host import Output
from ansible.module_utils.hostproof.errors import PolicyError
from ansible.module_utils.hostproof.evaluate import audit
from cases import cases
from cluster_packs import node, policy


def judged(machine, **changes):
    findings = audit.judge_host(machine, {"cluster_nodes": policy(**changes)})
    return {finding.check.split(".")[1]: finding for finding in findings}


def test_a_node_says_of_which_cluster_it_is_and_what_it_is():
    findings = judged(node("db1"))
    assert {finding.status for finding in findings.values()} == {"skip"}
    assert findings["complete"].values == {
        "cluster": "rac1",
        "node": "db1.example.com",
        "nodes": "db1, db2, db3, db4",
    }
    assert findings["software"].values == {
        "kernel": "5.15.0-209.161.7.2.el9uek.x86_64",
        "os": "Oracle Linux 9.4",
        "core_pattern": "|/usr/lib/systemd/systemd-coredump %P %u %g %s %t %c %h",
        "core_uses_pid": 1,
        "oracle_homes": "/u01/app/oracle/product/19",
        "Grid home": cluster_packs.GRID,
        "patches of Grid Infrastructure": "35642822, 35643107",
        "patches /u01/app/oracle/product/19": "35642822, 35643107",
    }
    assert findings["hardware"].values == {
        "cpu_model": "Intel(R) Xeon(R) Gold 6354 CPU @ 3.00GHz",
        "cpus": 4,
        "memory_mib": 65536,
    }
    assert findings["huge_pages"].values == {
        "huge_pages": 20480,
        "huge_page_size_kib": 2048,
        "huge_pages_by_numa_node": "node0 20480",
    }
    assert findings["network"].values == {
        "mtu eth0": 1500,
        "driver eth0": "ixgbe",
        "firmware eth0": "0x800008a4",
        "mtu eth1": 9000,
        "driver eth1": "ixgbe",
        "firmware eth1": "0x800008a4",
        "subnets eth0": "192.0.2.0/24",
        "subnets eth1": "10.0.0.0/24",
    }
    assert findings["clock"].values == {
        "clock_source": "tsc",
        "time_daemon": "chronyd",
        "time_zone": "Europe/Berlin",
        "TZ of Clusterware and instances": "none",
    }


class TestTimeZonesOfOracle:
    ENV = cluster_packs.GRID + "/crs/install/s_crsconfig_db1_env.txt"

    def zones(self, machine):
        finding = judged(machine)["clock"]
        return finding.status, finding.values["TZ of Clusterware and instances"]

    def running(self, pid, name, **variables):
        """A node on which a process runs with these variables."""
        machine = node("db1")
        program = cluster_packs.GRID + "/bin/ocssd.bin"
        machine.process(program if name == "ocssd" else name, pid=pid, uid=54322)
        machine.environments[pid] = variables
        return machine

    def test_the_file_from_which_clusterware_starts_instances(self):
        machine = node("db1").file(self.ENV, "#comment\nTZ=Europe/Berlin\nNLS_LANG=any\n")
        assert self.zones(machine) == ("skip", "Europe/Berlin")

    def test_a_file_without_it(self):
        assert self.zones(node("db1").file(self.ENV, "NLS_LANG=\n")) == ("skip", "not set")

    def test_a_daemon_that_was_started_with_another(self):
        machine = self.running(901, "ocssd", TZ="UTC").file(self.ENV, "TZ=Europe/Berlin\n")
        assert self.zones(machine) == ("skip", "Europe/Berlin, UTC")

    def test_an_instance_without_it(self):
        assert self.zones(self.running(902, "ora_pmon_RAC1")) == ("skip", "not set")

    def test_an_environment_that_may_not_be_read_is_an_error(self):
        machine = self.running(903, "ora_pmon_RAC1")
        del machine.environments[903]
        assert self.zones(machine) == ("error", None)


@cases("uid status", (0, "skip"), (500, "fail"))
def test_root_has_the_uid_0(uid, status):
    machine = node("db1").account("root", uid, "root").command("id -G root", "0\n")
    finding = judged(machine)["accounts"]
    assert finding.status == status and finding.values["uid_gid root"].startswith(f"{uid}:")


def test_how_a_bond_spreads_packets_is_a_trait():
    machine = node("db1").folder("/sys/class/net/bond0", "/sys/class/net/bond0/bonding")
    machine.file("/sys/class/net/bond0/mtu", "9000\n")
    machine.file("/sys/class/net/bond0/bonding/mode", "active-backup 1\n")
    values = judged(machine)["network"].values
    assert (values["mtu bond0"], values["bonding bond0"]) == (9000, "active-backup")
    machine.file("/sys/class/net/bond0/bonding/mode", "\n")
    machine.evidence.clear()
    assert judged(machine)["network"].status == "error"


def test_without_clusterware_and_without_a_name_it_does_not_apply():
    findings = judged(node("db1").remove("/etc/oracle/olr.loc"))
    assert {finding.status for finding in findings.values()} == {"skip"}
    assert not any(finding.values for finding in findings.values())


def test_oracle_restart_is_no_cluster():
    alone = node("db1")
    params = cluster_packs.GRID + "/crs/install/crsconfig_params"
    alone.file(params, "CLUSTER_NAME=\nNODE_NAME_LIST=\n")
    assert judged(alone)["complete"].values is None


def test_none_is_no_cluster_whatever_is_installed():
    assert judged(node("db1"), name="none")["complete"].values is None


def test_the_policy_names_the_cluster_and_its_nodes():
    alone = node("db1").remove("/etc/oracle/olr.loc")
    findings = judged(alone, name="sap", expected=["db1", "db2"])
    assert findings["complete"].values["cluster"] == "sap"
    assert findings["complete"].values["nodes"] == "db1, db2"


@cases(
    "oratab crs_homes patches",
    ("+ASM1:{grid}:N\n", [], "35642822, 35643107"),
    ("", ["{grid}"], "35642822, 35643107"),
    ("+ASM1:{grid}:N\n", ["{grid}"], "35642822, 35643107"),
    ("", ["{grid}", "/u01/app/grid2"], None),
)
def test_the_grid_home_without_olr_loc(oratab, crs_homes, patches):
    """The inventory and oratab name it too; two homes are no answer."""
    alone = node("db1").remove("/etc/oracle/olr.loc")
    alone.file("/etc/oratab", oratab.format(grid=cluster_packs.GRID))
    alone.file("/etc/oraInst.loc", "inventory_loc=/u01/inv\n")
    rows = "".join(
        f'<HOME NAME="a" LOC="{home.format(grid=cluster_packs.GRID)}" CRS="true"/>'
        for home in crs_homes
    )
    alone.file("/u01/inv/ContentsXML/inventory.xml", f"<INVENTORY>{rows}</INVENTORY>")
    for finding in (judged(alone)["software"], judged(alone, name="rac1")["software"]):
        assert (finding.values or {}).get("patches of Grid Infrastructure") == patches
        assert finding.status == ("skip" if patches else "error")


@cases("crs_homes", (), ("/u01/app/old",), (cluster_packs.GRID, "/u01/app/old"))
def test_the_grid_home_that_runs(crs_homes):
    """It decides where no file names the home, whatever the inventory lists."""
    machine = node("db1").remove("/etc/oracle/olr.loc")
    machine.process(cluster_packs.GRID + "/bin/ocssd.bin", pid=7, uid=54322)
    machine.file("/etc/oraInst.loc", "inventory_loc=/u01/inv\n")
    rows = "".join(f'<HOME NAME="a" LOC="{home}" CRS="true"/>' for home in crs_homes)
    machine.file("/u01/inv/ContentsXML/inventory.xml", f"<INVENTORY>{rows}</INVENTORY>")
    machine.folder("/u01/app/old/inventory")
    values = judged(machine)["software"].values
    assert values["Grid home"] == cluster_packs.GRID
    assert values["patches of Grid Infrastructure"] == "35642822, 35643107"


def test_patches_of_the_grid_home_without_a_readable_inventory_of_the_host():
    machine = node("db1").file("/etc/oraInst.loc", "inventory_loc=/u01/inv\n")
    machine.file("/u01/inv/ContentsXML/inventory.xml", "").deny("/u01/inv")
    finding = judged(machine)["software"]
    assert (finding.status, finding.values["oracle_homes"]) == ("error", None)
    assert finding.values["patches of Grid Infrastructure"] == "35642822, 35643107"


def test_a_grid_home_that_is_not_there_is_unknown():
    """Its file system is not mounted. Without patches it has an inventory."""
    machine = node("db1", patches=())
    machine.folder(f"{cluster_packs.HOME}/inventory", f"{cluster_packs.GRID}/inventory")
    assert judged(machine)["software"].values["patches of Grid Infrastructure"] == ""
    machine.folders.discard(f"{cluster_packs.GRID}/inventory")
    machine.evidence.clear()
    finding = judged(machine)["software"]
    assert finding.status == "error" and finding.values["patches of Grid Infrastructure"] is None


def test_what_may_not_be_read_is_an_error_and_not_no_cluster():
    findings = judged(node("db1").deny(cluster_packs.GRID))
    assert {finding.status for finding in findings.values()} == {"error"}
    assert "--become" in findings["complete"].fix


@cases(
    "denied check trait",
    ("/proc/sys/kernel/osrelease", "software", "kernel"),
    ("/proc/cpuinfo", "hardware", "cpus"),
    ("/proc/sys/kernel/core_pattern", "software", "core_pattern"),
    ("/proc/sys/kernel/core_uses_pid", "software", "core_uses_pid"),
    ("/sys/class/net/eth1/mtu", "network", "mtu eth1"),
    (cluster_packs.HOME + "/inventory", "software", f"patches {cluster_packs.HOME}"),
)
def test_a_trait_that_is_not_known_is_null_and_makes_an_error(denied, check, trait):
    finding = judged(node("db1").deny(denied))[check]
    assert (finding.status, finding.values[trait]) == ("error", None)
    assert len([value for value in finding.values.values() if value is not None])


def test_interfaces_that_come_and_go_are_left_out():
    machine = node("db1")
    machine.file("/sys/class/net/docker0/mtu", "1500\n").file("/sys/class/net/bonding_masters", "")
    machine.file("/sys/class/net/eth1.7/mtu", "1500\n")
    machine.file("/sys/class/net/eth1.7/uevent", "DEVTYPE=vlan\nINTERFACE=eth1.7\n")
    machine.file("/sys/class/net/bond0/mtu", "9000\n").folder("/sys/class/net/bond0/bonding")
    names = {name.split(" ")[1] for name in judged(machine)["network"].values}
    assert names == {"eth0", "eth1", "eth1.7", "bond0"}


@cases("name counts", ("br-ic", True), ("br-0123456789ab", False))
def test_a_bridge_of_docker_has_a_number_for_a_name(name, counts):
    machine = node("db1").folder(f"/sys/class/net/{name}/lower_eth1")
    machine.file(f"/sys/class/net/{name}/mtu", "9000\n")
    assert (f"mtu {name}" in judged(machine)["network"].values) == counts


@cases(
    "link zone",
    ("posix/Europe/Berlin", "Europe/Berlin"),
    ("right/Europe/Berlin", "right/Europe/Berlin"),
    ("posix/Etc/UTC", "UTC"),
)
def test_a_zone_of_another_directory(link, zone):
    machine = node("db1").file(f"/usr/share/zoneinfo/{link}", "TZif2")
    machine.link("/etc/localtime", f"/usr/share/zoneinfo/{link}")
    assert judged(machine)["clock"].values["time_zone"] == zone


def test_subnets_are_of_every_address_of_cards_bonds_and_vlans():
    machine = node("db1").file("/sys/class/net/eth1.7/mtu", "1500\n")
    machine.file("/sys/class/net/eth1.7/uevent", "DEVTYPE=vlan\nINTERFACE=eth1.7\n")
    lines = [
        "4: eth1.7@eth1    inet 10.7.0.5/16 scope global eth1.7",
        "4: eth1.7@eth1    inet 10.7.0.6/16 scope global secondary eth1.7:1",
        "4: eth1.7@eth1    inet6 2001:db8:7::5/64 scope global",
        "5: virbr0    inet 192.168.122.1/24 scope global virbr0",
    ]
    machine.command("ip -o addr show", "\n".join(lines))
    values = judged(machine)["network"].values
    found = {name: value for name, value in values.items() if name.startswith("subnets ")}
    assert found == {"subnets eth1.7": "10.7.0.0/16, 2001:db8:7::/64"}


@cases("text rc", ("", 1), ("2: eth0    inet 192.0.2.300/24", 0))
def test_subnets_that_are_not_known_are_an_error(text, rc):
    finding = judged(node("db1").command("ip -o addr show", text, rc))["network"]
    assert (finding.status, finding.values["subnets"]) == ("error", None)


@cases("value", "", 5, ["rac1"], "a\nb", None)
def test_a_name_that_is_none_is_refused(value):
    with pytest.raises(PolicyError, match="cluster_nodes_name must be auto, none or the name"):
        judged(node("db1"), name=value)


def test_cluster_packs_hold_what_todays_controls_read():
    """If they do not: HOSTPROOF_WRITE_FIXTURES=1 pytest -k cluster_packs tests/unit"""
    for name, text in cluster_packs.cluster_packs().items():
        if os.environ.get("HOSTPROOF_WRITE_FIXTURES"):
            (cluster_packs.FOLDER / name).write_text(text)
        assert (cluster_packs.FOLDER / name).read_text() == text


def with_logins(**results):
    """db1, on which grid logs in on the other nodes: exit code, output and errors by node."""
    machine = node("db1").file("/usr/bin/scp", "")
    for name in ("db2", "db3", "db4"):
        rc, out, err = results.get(name, (0, "", ""))
        machine.commands[f"log in on {name} as grid with ssh"] = Output(rc, out, err)
    return machine


class TestSsh:
    GRID = {"ssh_accounts": ["grid"]}

    def test_without_accounts_an_audit_logs_in_nowhere(self):
        machine = with_logins()
        assert judged(machine)["ssh"].status == "skip"
        assert not [key for key in machine.evidence if "ssh" in key]

    def test_grid_logs_in_on_all_other_nodes(self):
        finding = judged(with_logins(), **self.GRID)["ssh"]
        assert (finding.status, finding.running) == ("pass", "3 of 3 logins")

    @cases(
        "result problem",
        ((255, "", "grid@db3: Permission denied (publickey).\r\n"), "Permission denied"),
        ((255, "", "Host key verification failed.\r\n"), "Host key verification failed"),
        ((1, "", ""), "ssh ended with 1"),
        ((0, "Welcome\n", ""), "its profile prints text"),
    )
    def test_the_node_without_a_login_is_named(self, result, problem):
        finding = judged(with_logins(db3=result), **self.GRID)["ssh"]
        assert finding.status == "fail"
        assert finding.why.startswith("grid on db3: ") and problem in finding.why
        assert "db2" not in finding.why

    def test_a_login_that_could_not_be_tried_is_an_error(self):
        machine = with_logins().deny("command:log in on db3 as grid with ssh")
        assert judged(machine, **self.GRID)["ssh"].status == "error"

    def test_other_nodes_are_not_known(self):
        findings = judged(with_logins(), name="rac1", expected=["db1.example.com"], **self.GRID)
        assert findings["ssh"].status == "error"

    def test_a_name_that_is_an_option_of_ssh_is_never_used(self):
        finding = judged(with_logins(), expected=["db1", "-oProxyCommand=id"], **self.GRID)["ssh"]
        assert finding.status == "error"

    def test_a_host_without_scp(self):
        finding = judged(with_logins().remove("/usr/bin/scp"))["ssh"]
        assert (finding.status, finding.why) == ("fail", "this host has no /usr/bin/scp.")

    @cases("account", "-l", "grid oracle", "", "../x")
    def test_an_account_is_a_name(self, account):
        with pytest.raises(PolicyError, match="ssh_accounts"):
            judged(node("db1"), ssh_accounts=[account])

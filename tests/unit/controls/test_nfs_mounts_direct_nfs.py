"""Direct NFS: every status of its four checks, on hosts with a real-looking Oracle home."""

from typing import Any

import nfs_packs
import packs
from ansible.module_utils.hostproof.collect.host import Output
from ansible.module_utils.hostproof.controls.nfs_mounts import rules_oranfstab
from ansible.module_utils.hostproof.controls.nfs_mounts.control import CONTROL as nfs_mounts
from ansible.module_utils.hostproof.evaluate.finding import Finding
from ansible.module_utils.hostproof.probes.nfs import direct_nfs_processes
from cases import cases
from nfs_packs import NfsMachine

HOME = "/u01/app/oracle/product/19.0.0/dbhome_1"
ODM = f"{HOME}/rdbms/lib/odm/libnfsodm19.so"
PLAIN = f"{HOME}/lib/libodm19.so"
TAB = "/etc/oranfstab"
OWN_TAB = f"{HOME}/dbs/oranfstab"
DATAFILE = "/u02/oradata/ORCL/system01.dbf"
GOOD = "server: filer1\npath: 10.0.0.5\nexport: /vol/u02 mount: /u02\n"
TCP = (packs.FIXTURES / "proc_net_tcp/linux-6.18-tcp.txt").read_text()
#: The inode of the connection to port 2049 in the fixture.
CHANNEL = "socket:[80853]"
ADDRESSES = (packs.FIXTURES / "ip_addr/iproute2-6.1.txt").read_text()


def home(machine: NfsMachine, linked: bool, path: str = HOME, sid: str = "ORCL") -> NfsMachine:
    """A home of 19c with a database in oratab."""
    oratab = machine.files.get("/etc/oratab", "")
    machine.file("/etc/oratab", f"{oratab}{sid}:{path}:N\n")
    machine.file(f"{path}/lib/libodm19.so", "stub").file(f"{path}/lib/libnfsodm19.so", "direct")
    machine.file(f"{path}/bin/oracle", "").folder(f"{path}/dbs", f"{path}/rdbms/lib/odm")
    if linked:
        machine.file(f"{path}/rdbms/lib/odm/libnfsodm19.so", "direct")
    return machine


def host(linked: bool = True, *holds: str, tab: str | None = None) -> NfsMachine:
    """A host with NFS, one home and its instance ORCL, whose writer holds what it is told to."""
    machine = home(nfs_packs.nfs_host(), linked).persisted_mount("/u02", "filer1:/vol/u02")
    machine.file("/proc/net/tcp", TCP).command("ip -o addr show", ADDRESSES)
    mapped = (PLAIN, ODM) if linked else (PLAIN,)
    machine.process("ora_dbw0_ORCL", f"{HOME}/bin/oracle", *(holds or mapped), pid=2102)
    if tab is not None:
        machine.file(TAB, tab)
    return machine


def judge(machine: NfsMachine, check: str, **policy: Any) -> list[Finding]:
    host_policy = nfs_mounts.policy_from(nfs_packs.nfs_policy(**(nfs_packs.listed() | policy)))
    facts = nfs_mounts.read(machine, host_policy)
    findings = [
        one for one in nfs_mounts.judge(facts, host_policy) if one.check.endswith("." + check)
    ]
    unseen = {key for finding in findings for key in finding.evidence} - set(machine.evidence)
    assert not unseen
    return findings


def statuses(findings: list[Finding]) -> list[str]:
    return [finding.status for finding in findings]


class TestLibrary:
    def only(self, machine: NfsMachine, mode: str = "auto") -> Finding:
        (finding,) = judge(machine, "direct_nfs_library", direct_nfs=mode)
        return finding

    @cases(
        "linked mode status",
        (True, "required", "pass"),
        (False, "required", "fail"),
        (True, "forbidden", "fail"),
        (False, "forbidden", "pass"),
        (True, "auto", "pass"),
        (False, "auto", "skip"),
        (True, "unmanaged", "skip"),
    )
    def test_policy(self, linked, mode, status):
        assert self.only(host(linked), mode).status == status

    def test_every_layer_and_the_command(self):
        finding = self.only(host(False), "required")
        assert finding.title.startswith(f"{HOME}: ")
        assert finding.desired == "Direct NFS (nfs_mounts_direct_nfs is required)"
        assert finding.persisted.startswith("off (")
        assert finding.running == "ORCL without Direct NFS"
        # Root must not run a makefile that the owner of the home can change.
        assert finding.commands == ()
        assert f"as its owner, with this ORACLE_HOME: make -C {HOME}/rdbms/lib -f" in finding.fix

    @cases(
        "check linked holds mode fix",
        # The library is wrong: it is linked the other way, also for the instance.
        ("direct_nfs_library", False, (PLAIN,), "required", "dnfs_on, then start"),
        ("direct_nfs_library", True, (PLAIN, ODM), "forbidden", "dnfs_off, then start"),
        ("direct_nfs_library", True, (PLAIN,), "forbidden", "dnfs_off, then start"),
        ("direct_nfs_in_use", True, (PLAIN, ODM, CHANNEL), "forbidden", "dnfs_off, then start"),
        ("direct_nfs_in_use", False, (PLAIN, DATAFILE), "required", "dnfs_on, then start"),
        # Only the instance is older than the library.
        ("direct_nfs_library", True, (PLAIN,), "required", "restart ORCL"),
        ("direct_nfs_library", False, (PLAIN, ODM), "forbidden", "restart ORCL"),
        ("direct_nfs_in_use", True, (PLAIN, DATAFILE), "required", "restart ORCL"),
        ("direct_nfs_in_use", False, (PLAIN, ODM, CHANNEL), "forbidden", "restart ORCL"),
    )
    def test_the_fix_is_of_the_layer_that_is_wrong(self, check, linked, holds, mode, fix):
        (finding,) = judge(host(linked, *holds), check, direct_nfs=mode)
        assert finding.status == "fail" and fix in finding.fix
        assert finding.fix == fix or not fix.startswith("restart")
        assert finding.commands == ()

    @cases("how", "link", "copy")
    def test_11_2_has_it_in_place_of_libodm(self, how):
        machine = home(nfs_packs.nfs_host(), False)
        lib = f"{HOME}/lib"
        machine.remove(f"{lib}/libodm19.so", f"{lib}/libnfsodm19.so")
        machine.file(f"{lib}/libnfsodm11.so", "direct")
        if how == "link":
            machine.link(f"{lib}/libodm11.so", f"{lib}/libnfsodm11.so")
        else:
            machine.file(f"{lib}/libodm11.so", "direct")
        mapped = f"{lib}/libnfsodm11.so" if how == "link" else f"{lib}/libodm11.so"
        machine.process("ora_dbw0_ORCL", f"{HOME}/bin/oracle", mapped, pid=2102)
        finding = self.only(machine, "required")
        assert (finding.status, finding.running) == ("pass", "ORCL with Direct NFS")
        assert f"{lib}/libodm11.so" in finding.persisted

    def test_a_library_of_the_same_size_is_another_one(self):
        assert self.only(host(False).file(PLAIN, "DIRECT"), "required").status == "fail"

    def test_23ai_has_no_number_in_the_name(self):
        machine = home(nfs_packs.nfs_host(), False).file(f"{HOME}/lib/libnfsodm.so", "direct")
        machine.file(f"{HOME}/rdbms/lib/odm/libnfsodm.so", "direct")
        assert self.only(machine, "required").status == "pass"

    def test_linked_after_the_instance_started(self):
        assert self.only(host(True, PLAIN)).status == "warn"
        finding = self.only(host(True, PLAIN), "required")
        assert (finding.status, finding.fix) == ("fail", "restart ORCL")
        text = "ORCL started before the library was changed and runs without Direct NFS."
        assert finding.why == text

    def test_unlinked_after_the_instance_started(self):
        finding = self.only(host(False, PLAIN, f"{ODM} (deleted)"), "forbidden")
        assert finding.status == "fail"
        text = "ORCL started before the library was changed and runs with Direct NFS."
        assert finding.why == text
        assert self.only(host(False), "required").why.startswith("The policy requires it on: ")
        assert self.only(host(True), "forbidden").why.startswith("The policy requires it off: ")

    def test_a_replaced_library_tells_nothing(self):
        finding = self.only(host(False, f"{PLAIN} (deleted)"), "forbidden")
        assert (finding.status, finding.running) == ("warn", "ORCL library replaced")

    def test_a_stand_in_that_maps_no_library_tells_nothing(self):
        machine = home(nfs_packs.nfs_host(), True, sid="LAB1")
        machine.process("ora_dbw0_LAB1", "socket:[5]", pid=2102)
        finding = self.only(machine, "required")
        assert (finding.status, finding.running) == ("pass", None)

    def test_one_home_behind_two_names(self):
        machine = host(True).link("/u01/app/oracle/product/19", HOME)
        machine.file("/etc/oratab", f"ORCL:/u01/app/oracle/product/19:N\nTEST:{HOME}:N\n")
        assert self.only(machine, "required").status == "pass"

    def test_a_home_of_the_policy_that_is_none(self):
        findings = judge(host(True), "direct_nfs_library", oracle_homes=["/u01/typo"])
        statuses = [(finding.title.split(":")[0], finding.status) for finding in findings]
        assert statuses == [(HOME, "pass"), ("/u01/typo", "error")]

    def test_oranfstab_without_the_library(self):
        finding = self.only(host(False, tab=GOOD))
        assert finding.status == "warn" and TAB in finding.why

    def test_processes_that_may_not_be_looked_at(self):
        assert self.only(host(True).deny("open_files:direct_nfs"), "required").status == "error"
        assert self.only(host(False).deny("open_files:direct_nfs"), "required").status == "fail"

    def test_a_home_that_may_not_be_read(self):
        finding = self.only(host(True).deny(f"{HOME}/lib"), "required")
        assert finding.status == "error" and "rerun with --become" in finding.fix

    def test_a_server_that_does_not_answer(self):
        """The home lies on NFS: its commands run into their limit, and that is no verdict."""
        machine = host(True)
        line = f"ls -Lin {HOME}/lib/"
        machine.evidence[f"command:{line}"] = {
            "kind": "command",
            "at": packs.RECORDED_AT,
            "error": "unanswered",
            "message": f"command:{line}: timed out after 5.0 seconds",
        }
        assert self.only(machine, "required").status == "error"

    @cases("mode status", ("required", "error"), ("auto", "skip"))
    def test_no_home(self, mode, status):
        finding = self.only(nfs_packs.ready_host(), mode)
        assert finding.status == status and "nfs_mounts_oracle_homes" in finding.why

    def test_homes_of_clusterware_and_clients_are_not_judged(self):
        machine = host(True).file("/etc/oraInst.loc", "inventory_loc=/inv\n")
        grid, client = "/u01/app/19.0.0/grid", "/u01/client"
        machine.file(f"{grid}/lib/libnfsodm19.so", "direct").folder(f"{client}/lib")
        machine.file(
            "/inv/ContentsXML/inventory.xml",
            f'<I><HOME NAME="G" LOC="{grid}" CRS="true"/><HOME NAME="C" LOC="{client}"/></I>',
        )
        assert self.only(machine, "required").title.startswith(HOME)

    def test_homes_that_are_not_known(self):
        assert self.only(host(True).deny("/etc/oratab"), "required").status == "error"


class TestOranfstab:
    def all(self, tab: str, machine: NfsMachine | None = None, **policy: Any) -> list[Finding]:
        return judge((machine or host()).file(TAB, tab), "oranfstab", **policy)

    def test_right(self):
        (finding,) = self.all(GOOD)
        assert (finding.status, finding.persisted) == ("pass", "filer1 for /u02")

    @cases("mode", "forbidden", "unmanaged")
    def test_not_judged(self, mode):
        assert statuses(self.all("rubbish", direct_nfs=mode)) == ["skip"]

    def test_each_mistake_on_its_line(self):
        findings = self.all(GOOD + "sever: x\npath 1\nuid: 5\n")
        statuses = [(finding.status, finding.title.split(": ")[0]) for finding in findings]
        assert statuses == [("fail", f"{TAB}:4"), ("fail", f"{TAB}:5"), ("warn", f"{TAB}:6")]
        assert findings[0].why == "unknown attribute 'sever', did you mean 'server'?"
        assert findings[0].fix == (
            f"correct {TAB}:4: unknown attribute 'sever', did you mean 'server'?; then restart the "
            "instances that use Direct NFS by this file"
        )

    def test_a_file_that_is_something_else(self):
        findings = self.all("\n".join(f"word{number}" for number in range(500)))
        assert len(findings) == rules_oranfstab.MOST_SHOWN + 1
        assert "480 more mistakes" in findings[-1].why

    def test_mount_that_is_none(self):
        (finding,) = self.all(GOOD.replace("mount: /u02", "mount: /u02/oradata"))
        assert finding.status == "fail"
        assert "mount /u02/oradata is not an NFS mount of this host" in finding.why

    def test_mount_with_a_typo(self):
        machine = host().persisted_mount("/u03/oradata", "filer1:/vol/u03")
        tab = GOOD + "export: /vol/u03 mount: /u03/oradta\n"
        (finding,) = self.all(tab, machine)
        assert finding.why.endswith("did you mean /u03/oradata?")

    def test_mount_with_a_slash(self):
        (finding,) = self.all(GOOD.replace("mount: /u02", "mount: /u02/"))
        assert finding.status == "warn"

    def test_export_that_is_another(self):
        (finding,) = self.all(GOOD.replace("/vol/u02", "/vol/u20"))
        assert finding.status == "fail"
        assert "export /vol/u20 is not what is mounted on /u02: filer1:/vol/u02" in finding.why

    def test_server_that_may_be_another(self):
        (finding,) = self.all("server: x\npath: 10.9.9.9\nexport: /vol/u02 mount: /u02\n")
        assert finding.status == "warn"
        assert "nothing shows that 10.9.9.9 is the same server" in finding.why

    @cases("path", "filer1", "10.0.0.5", "nas")
    def test_server_that_is_the_same(self, path):
        machine = host().command("getent ahostsv4 nas", "10.0.0.5 STREAM nas\n10.0.0.5 DGRAM\n")
        machine.command("getent ahostsv4 filer1", "10.0.0.5 STREAM filer1\n")
        tab = f"server: x\npath: {path}\nexport: /vol/u02 mount: /u02\n"
        assert statuses(self.all(tab, machine)) == ["pass"]

    @cases(
        "direct kernel status",
        (None, "3", "pass"),
        ("nfsv3", "3", "pass"),
        ("nfsv4.1", "4.1", "pass"),
        ("pnfs", "4.2", "pass"),
        ("nfsv4", "4.0", "pass"),
        ("nfsv4", "4.1", "warn"),
        ("nfsv4.1", "3", "warn"),
        (None, "4.1", "warn"),
    )
    def test_version_of_the_kernels_mount(self, direct, kernel, status):
        machine = host().mount("/u02", "filer1:/vol/u02", nfs_packs.shown(kernel))
        line = f"nfs_version: {direct}\n" if direct else ""
        assert statuses(self.all(GOOD + line, machine)) == [status]

    def test_round_robin(self):
        machine = host()
        answer = "10.0.0.5 STREAM nas\n10.0.0.5 DGRAM\n10.0.0.6 STREAM\n"
        machine.command("getent ahostsv4 nas", answer)
        (finding,) = self.all(GOOD.replace("10.0.0.5", "nas"), machine)
        assert finding.status == "fail"
        assert "path nas is a DNS round robin of 10.0.0.5, 10.0.0.6" in finding.why

    def test_unknown_name_and_name_without_answer(self):
        tab = "server: filer1\npath: nas\nexport: /vol/u02 mount: /u02\n"
        (finding,) = self.all(tab)
        assert (finding.status, finding.why) == ("fail", "path nas is not the name of a host.")
        machine = host().command("getent ahosts nas", "2001:db8::1 STREAM nas\n")
        assert statuses(self.all(tab, machine)) == ["pass"]
        machine = host()
        machine.commands["getent ahostsv4 nas"] = Output(1, "", "")
        assert statuses(self.all(tab, machine)) == ["error"]

    def test_five_paths(self):
        tab = "server: filer1\n" + "".join(f"path: 10.0.{net}.5\n" for net in range(5))
        (finding,) = self.all(tab + "export: /vol/u02 mount: /u02\n")
        assert finding.status == "fail" and "5 path: lines, at most 4" in finding.why

    def test_two_locals_in_one_network(self):
        tab = (
            "server: filer1\nlocal: 192.0.2.10\npath: 10.0.0.5\nlocal: 192.0.2.20\npath: 10.0.1.5\n"
            "export: /vol/u02 mount: /u02\n"
        )
        (finding,) = self.all(tab)
        assert (finding.status, finding.title.split(": ")[0]) == ("warn", f"{TAB}:4")
        assert "192.0.2.20 is in the network 192.0.2.0/24" in finding.why

    def test_two_paths_in_one_network(self):
        tab = "server: filer1\npath: 192.0.2.5\npath: 192.0.2.6\nexport: /vol/u02 mount: /u02\n"
        assert "192.0.2.6 is in the network 192.0.2.0/24" in self.all(tab)[0].why

    @cases(
        "answer expected",
        ("192.0.2.6 STREAM nas\n192.0.2.6 DGRAM\n", ["warn"]),
        ("10.0.0.5 STREAM nas\n", ["pass"]),
        # Several addresses, and none: the check of names says it.
        ("192.0.2.6 STREAM nas\n192.0.2.7 STREAM\n", ["fail"]),
        (None, ["fail"]),
    )
    def test_a_path_by_its_name(self, answer, expected):
        machine = host()
        if answer:
            machine.command("getent ahostsv4 nas", answer)
        tab = "server: filer1\npath: 192.0.2.5\npath: nas\nexport: /vol/u02 mount: /u02\n"
        findings = self.all(tab, machine)
        assert statuses(findings) == expected
        if expected == ["warn"]:
            assert "nas is in the network 192.0.2.0/24" in findings[0].why

    @cases("address expected", ("192.0.2.10", ["pass"]), ("192.0.2.99", ["fail"]))
    def test_a_local_by_its_name(self, address, expected):
        machine = host().command("getent ahostsv4 us", f"{address} STREAM us\n")
        tab = "server: filer1\nlocal: us\npath: 10.0.0.5\nexport: /vol/u02 mount: /u02\n"
        assert statuses(self.all(tab, machine)) == expected

    def test_two_networks_are_two_paths(self):
        tab = (
            "server: filer1\nlocal: 192.0.2.10\npath: 10.0.0.5\nlocal: 198.51.100.10\n"
            "path: 10.0.1.5\nexport: /vol/u02 mount: /u02\n"
        )
        assert statuses(self.all(tab)) == ["pass"]

    def test_local_that_is_not_here(self):
        tab = "server: filer1\nlocal: 192.0.2.99\npath: 10.0.0.5\nexport: /vol/u02 mount: /u02\n"
        (finding,) = self.all(tab)
        assert finding.status == "fail"
        assert finding.why == "local 192.0.2.99 is not an address of this host."

    def test_networks_that_are_not_known(self):
        machine = host()
        del machine.commands["ip -o addr show"]
        tab = "server: filer1\npath: 10.0.0.5\npath: 10.0.1.5\nexport: /vol/u02 mount: /u02\n"
        assert statuses(self.all(tab, machine)) == ["error"]
        machine.evidence.clear()
        assert statuses(self.all(GOOD, machine)) == ["pass"], "one path needs no network"

    def test_the_community_is_kept_out_of_the_evidence(self):
        machine = host()
        assert statuses(self.all(GOOD + "community: s3cret\n", machine)) == ["pass"]
        assert "s3cret" not in str(machine.evidence)

    def test_both_files_are_judged(self):
        machine = host().file(OWN_TAB, GOOD + "rubbish\n")
        assert statuses(self.all(GOOD, machine)) == ["pass", "fail"]

    def test_a_file_that_may_not_be_read(self):
        assert statuses(judge(host().file(TAB, GOOD).deny(TAB), "oranfstab")) == ["error"]

    def test_none_is_fine_for_version_3_only(self):
        assert statuses(judge(host(), "oranfstab")) == ["skip"]
        machine = host().mount("/u02", "filer1:/vol/u02", nfs_packs.shown("4.1"))
        (finding,) = judge(machine, "oranfstab")
        assert finding.status == "warn" and "speaks NFSv3 to /u02" in finding.why


class TestOrder:
    def only(self, machine: NfsMachine, **policy: Any) -> Finding:
        (finding,) = judge(machine, "oranfstab_order", **policy)
        return finding

    def test_one_file(self):
        finding = self.only(host(tab=GOOD))
        assert (finding.status, finding.persisted) == ("pass", f"{TAB} counts")
        finding = self.only(host().file(OWN_TAB, GOOD))
        assert (finding.status, finding.persisted) == ("pass", f"{OWN_TAB} counts")

    def test_none(self):
        assert self.only(host()).status == "skip"

    def test_the_same_mount_in_both(self):
        finding = self.only(host(tab=GOOD).file(OWN_TAB, "# ours\n" + GOOD))
        assert finding.status == "warn"
        assert finding.why == f"/u02 is in both; {OWN_TAB} counts, line 3 of {TAB} is shadowed."

    def test_a_second_file_that_nobody_needs(self):
        other = GOOD.replace("/u02", "/u03")
        assert self.only(host(tab=other).file(OWN_TAB, GOOD)).status == "warn"

    def test_a_second_file_for_another_home(self):
        machine = host(tab=GOOD.replace("/u02", "/u03")).file(OWN_TAB, GOOD)
        home(machine, True, "/u01/other", "TEST")
        assert statuses(judge(machine, "oranfstab_order")) == ["pass", "pass"]

    def test_read_only_home(self):
        machine = host().file(OWN_TAB, GOOD)
        base = "/u01/app/oracle/homes/OraDB19Home1/dbs/oranfstab"
        tab = (packs.FIXTURES / "orabasetab/read-only.txt").read_text()
        machine.file(f"{HOME}/install/orabasetab", tab)
        finding = self.only(machine)
        assert finding.status == "warn"
        assert finding.fix.startswith(f"move {OWN_TAB} to {base}; then restart the instances")
        # A move would replace the file that counts.
        machine.evidence.clear()
        (both,) = judge(machine.file(base, GOOD), "oranfstab_order")
        assert both.fix.startswith(f"write what is missing in {base}, then remove {OWN_TAB}")
        machine.evidence.clear()
        machine.remove(OWN_TAB).file(base, GOOD)
        finding = self.only(machine)
        assert (finding.status, finding.persisted) == ("pass", f"{base} counts")

    def test_what_may_not_be_read(self):
        machine = host(tab=GOOD).file(OWN_TAB, GOOD).deny(OWN_TAB)
        assert self.only(machine).status == "error"
        machine = host(tab=GOOD).file(f"{HOME}/install/orabasetab", f"{HOME}:broken\n")
        assert self.only(machine).status == "error"

    def test_not_judged(self):
        assert self.only(host(tab=GOOD), direct_nfs="forbidden").status == "skip"


class TestInUse:
    def only(self, machine: NfsMachine, mode: str = "auto") -> Finding:
        (finding,) = judge(machine, "direct_nfs_in_use", direct_nfs=mode)
        return finding

    @cases("mode status", ("auto", "pass"), ("required", "pass"), ("forbidden", "fail"))
    def test_channels(self, mode, status):
        finding = self.only(host(True, PLAIN, ODM, CHANNEL, "socket:[5]"), mode)
        assert finding.status == status and finding.in_use == "1 connections to 192.0.2.20"

    def test_channels_of_an_instance_whose_home_nobody_knows(self):
        machine = nfs_packs.ready_host().file("/proc/net/tcp", TCP)
        machine.process("ora_lgwr_LAB1", CHANNEL, pid=2200)
        assert [
            (finding.title.split(":")[0], finding.status)
            for finding in judge(machine, "direct_nfs_in_use", direct_nfs="auto")
        ] == [("LAB1", "pass"), ("ORCL", "skip")]

    def test_a_listener_or_a_kernel_mount_is_no_channel(self):
        """The kernel's own connections belong to no process; inode 80852 listens."""
        assert self.only(host(True, PLAIN, ODM, DATAFILE, "socket:[80852]")).status == "error"

    @cases("mode", "auto", "required", "forbidden")
    def test_only_the_database_can_tell(self, mode):
        finding = self.only(host(True, PLAIN, ODM, DATAFILE), mode)
        assert finding.status == "error" and "v$dnfs_servers" in finding.fix
        assert "v$dnfs_channels" in finding.fix

    @cases("mode status", ("auto", "skip"), ("required", "fail"), ("forbidden", "pass"))
    def test_the_kernels_nfs_without_the_library(self, mode, status):
        finding = self.only(host(False, PLAIN, DATAFILE), mode)
        assert finding.status == status and finding.in_use == "the kernel's NFS for /u02"

    def test_what_is_mapped_counts_more_than_the_file(self):
        assert self.only(host(True, PLAIN, DATAFILE), "required").status == "fail"
        assert self.only(host(False, f"{PLAIN} (deleted)", DATAFILE)).status == "error"

    @cases("mode status", ("auto", "skip"), ("required", "error"))
    def test_home_that_is_not_known(self, mode, status):
        assert self.only(nfs_packs.ready_host().file("/proc/net/tcp", TCP), mode).status == status

    def test_nothing_on_nfs(self):
        assert self.only(host(True, PLAIN, ODM, "/data/x.dbf"), "required").status == "skip"

    def test_files_of_a_home_on_nfs_are_no_database(self):
        machine = home(nfs_packs.nfs_host(), True).mount("/u01", "filer1:/vol/u01")
        machine.file("/proc/net/tcp", TCP)
        machine.process("ora_dbw0_ORCL", f"{HOME}/bin/oracle", f"{HOME}/dbs/hc_ORCL.dat")
        assert self.only(machine, "required").status == "skip"

    def test_no_instance(self):
        machine = nfs_packs.nfs_host().file("/proc/net/tcp", TCP)
        assert self.only(machine, "required").status == "skip"

    def test_unknowns(self):
        for denied in ("open_files:direct_nfs", "/proc/net/tcp"):
            assert self.only(host(True, PLAIN, ODM, CHANNEL).deny(denied)).status == "error"

    def test_sockets_over_ipv6(self):
        tcp6 = (packs.FIXTURES / "proc_net_tcp/linux-6.18-tcp6.txt").read_text()
        machine = host(True, PLAIN, ODM, "socket:[80856]", "socket:[80858]")
        finding = self.only(machine.file("/proc/net/tcp6", tcp6))
        assert finding.in_use == "2 connections to 192.0.2.20, 2001:db8::10"


def test_other_systems_are_not_judged():
    mounts = (packs.FIXTURES / "mount/aix-mount.txt").read_text()
    machine = packs.Machine().command("uname -s", "AIX\n").command("mount", mounts)
    for check in ("direct_nfs_library", "oranfstab", "oranfstab_order", "direct_nfs_in_use"):
        (finding,) = judge(machine, check, direct_nfs="required")
        assert finding.status == "skip" and "Linux only" in finding.why


def test_database_processes_with_connections_of_their_own():
    ((process, address),) = direct_nfs_processes.read_users(host(True, PLAIN, ODM, CHANNEL))
    assert (process.sid, process.pid, address) == ("ORCL", 2102, "192.0.2.20")
    assert direct_nfs_processes.read_users(host(True, PLAIN, ODM)) == []
    assert direct_nfs_processes.read_users(nfs_packs.nfs_host()) == []

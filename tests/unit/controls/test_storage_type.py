"""storage_type: the policy, every check in every status, and that it only looks."""

import json
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from ansible.module_utils.hostproof.collect.answer import attempt
from ansible.module_utils.hostproof.collect.host import Host, LiveHost, RecordedHost, Secret
from ansible.module_utils.hostproof.controls.registry import planner
from ansible.module_utils.hostproof.controls.storage_type.control import CONTROL as storage_type
from ansible.module_utils.hostproof.controls.storage_type.snmp import (
    database_snmp,
    snmp_targets,
    storage_rules,
)
from ansible.module_utils.hostproof.controls.storage_type.snmp.storage_families import FAMILIES
from ansible.module_utils.hostproof.errors import Absent, PolicyError, Unanswered
from ansible.module_utils.hostproof.evaluate import audit
from ansible.module_utils.hostproof.evaluate.finding import Finding
from ansible.module_utils.hostproof.probes.nfs import storage_advice
from ansible.module_utils.hostproof.snmp import tools as snmp
from cases import cases
from packs import FIXTURES, Output
from snmp_agents import NO_SUCH, PAST_END, Agent, Filers, key_of
from snmp_agents import storage_policy as policy

E = "1.3.6.1.4.1."
IF = "1.3.6.1.2.1.2.2.1."
HR = "1.3.6.1.2.1.25.2.3.1."
ADDRESS = "10.0.0.5"
TRACES = "/u01/app/oracle/diag/rdbms"
SECRET = "correct horse"

Judge = Callable[..., dict[str, list[Finding]]]


@pytest.fixture
def judge(findings_of) -> Judge:
    def judge_host(host: Host, **changes: Any) -> dict[str, list[Finding]]:
        findings = findings_of("storage_type", host, policy(**changes))
        assert set(findings) == {check.id.split(".")[1] for check in storage_type.checks}
        return findings

    return judge_host


def database_host(agent: Agent | None = None, **mounts: str) -> Filers:
    """A host that mounts /u02 from ADDRESS, where this agent is."""
    host = Filers()
    rows = ["25 1 8:1 / / rw - ext4 /dev/sda1 rw"]
    for number, (path, source) in enumerate((mounts or {"u02": "filer:/export/u02"}).items(), 45):
        options = f"rw,vers=3,addr={ADDRESS}"
        rows.append(f"{number} 25 0:{number} / /{path} rw - nfs {source} {options}")
    host.file("/proc/self/mountinfo", "\n".join(rows) + "\n")
    host.command("ldconfig -p", "0 libs found in cache `/etc/ld.so.cache'\n")
    if agent is not None:
        host.agent(ADDRESS, agent)
    return host


def plain_host() -> Filers:
    return database_host().file("/proc/self/mountinfo", "25 1 8:1 / / rw - ext4 /dev/sda1 rw\n")


def agent(name: str, **rows: Any) -> Agent:
    """A record with more rows: dots of an OID are underscores behind "_"."""
    device = Agent.of(name)
    device.rows.update(
        {tuple(map(int, oid.strip("_").split("_"))): value for oid, value in rows.items()}
    )
    return device


def rows(table: dict[str, Any]) -> dict[str, tuple[str, str]]:
    """OID to value, as a record has them: numbers are INTEGER."""
    return {
        "_" + oid.replace(".", "_"): ("2" if isinstance(value, int) else "4", str(value))
        for oid, value in table.items()
    }


def silent_where(asked: Callable[[list[str]], bool], device: Agent) -> Agent:
    """An agent whose answers to some requests never arrive."""
    reply, late = device.reply, (1, "", "Timeout: No Response from x.\n")
    device.reply = lambda argv: late if asked(argv) else reply(argv)
    return device


def only(findings: list[Finding]) -> Finding:
    (finding,) = findings
    return finding


class TestNothingToAsk:
    def test_every_check_says_so(self, judge):
        findings = judge(plain_host())
        assert {finding.status for all_of in findings.values() for finding in all_of} == {"skip"}

    def test_exadata_is_named_and_its_cells_are_never_asked(self, judge):
        host = plain_host()
        host.file("/etc/oracle/cell/network-config/cellip.ora", 'cell="192.168.10.3"\n')
        assert "Exadata (1 cells)" in only(judge(host, addresses=["192.168.10.3"])["hcc"]).why
        assert host.asked == []

    def test_both_addresses_of_a_cell_are_known(self, judge):
        host = plain_host()
        host.file("/etc/oracle/cell/network-config/cellip.ora", 'cell="10.1.0.3;10.1.0.4"\n')
        judge(host, addresses=["10.1.0.3", "10.1.0.4"])
        assert host.asked == []

    def test_mounts_that_cannot_be_read_are_an_error(self, judge):
        findings = judge(Filers().deny("/proc/self/mountinfo"))
        assert {finding.status for finding in findings["identified"] + findings["hcc"]} == {"error"}

    def test_nfs_servers_can_be_left_out(self, judge):
        host = database_host(Agent.of("zfs-7420"))
        assert only(judge(host, query_nfs_servers=False)["hcc"]).status == "skip"
        assert host.asked == []


class TestWhoIsAsked:
    def test_the_address_that_the_kernel_uses_is_asked_once(self, judge):
        host = database_host(
            Agent.of("linux-nfs"), u02="filer:/export/u02", u03="filer:/export/u03"
        )
        assert only(judge(host)["identified"]).title == f"{ADDRESS}: Storage product is known"

    def test_an_address_of_the_policy_may_have_port_and_credentials(self, judge):
        host = database_host().agent(ADDRESS, Agent.of("netapp-7mode"), port=1161)
        findings = judge(
            host,
            addresses=[{"address": ADDRESS, "port": 1161, "credentials": "filers"}],
            snmp_credentials={
                "default": {"community": "public"},
                "filers": {"version": "3", "user": "monitor", "auth_passphrase": SECRET},
            },
        )
        assert only(findings["identified"]).status == "pass"
        text = host.asked[0].secret.text
        assert f'defAuthPassphrase "{SECRET}"\n' in text and "defSecurityLevel authNoPriv\n" in text
        assert SECRET not in json.dumps(host.evidence)

    def test_every_agent_of_one_address_is_judged(self, judge):
        host = plain_host()
        names = ["3par", "nimble", "flasharray", "equallogic", "isilon-7", "e-series", "vsp", "ddn"]
        for port, name in enumerate(names, 1161):
            host.agent("proxy", Agent.of(name), port=port)
        host.agent("proxy", Agent.of("linux"))
        ports = range(1161, 1161 + len(names))
        findings = judge(host, addresses=["proxy", *(f"proxy:{port}" for port in ports)])
        titles = {finding.title.partition(": ")[0] for finding in findings["identified"]}
        assert titles == {"proxy", *(f"proxy:{port}" for port in ports)}
        assert len(findings["agent_answers"]) == len(findings["hcc"]) == 9

    @cases(
        "addresses of_mounts",
        ([ADDRESS + ":1161", ADDRESS], ADDRESS),
        ([ADDRESS + ":1161", ADDRESS + ":1162"], ADDRESS + ":1161"),
    )
    def test_a_mount_belongs_to_one_of_the_agents_of_its_address(self, judge, addresses, of_mounts):
        host = database_host(Agent.of("linux-nfs"))
        for port in (1161, 1162):
            host.agent(ADDRESS, Agent.of("netapp-7mode"), port=port)
        findings = judge(host, addresses=addresses)
        mounted = [one for one in findings["mount_options"] if "has no mounts" not in one.why]
        assert [finding.title.partition(": ")[0] for finding in mounted] == [of_mounts]
        assert len(findings["identified"]) == 2

    @cases(
        "name address",
        ("10.0.0.5:1161", "10.0.0.5"),
        ("[fd00::5]:1161", "fd00::5"),
        ("fd00::5", "fd00::5"),
    )
    def test_the_address_in_a_name_of_an_agent(self, name, address):
        assert snmp_targets.bare_address(name) == address

    def test_other_storage_is_asked_as_well(self, judge):
        host = plain_host().agent("array1", Agent.of("3par"))
        finding = only(judge(host, addresses=["array1"])["identified"])
        assert (finding.status, finding.title) == ("pass", "array1: Storage product is known")
        assert finding.running.startswith("HPE 3PAR/Primera 7200c 3.2.2 (MU3), serial 1612345; san")


class TestAnswer:
    def test_pass(self, judge):
        assert only(judge(database_host(Agent.of("linux")))["agent_answers"]).status == "pass"

    @cases(
        "errors status fix",
        ("Timeout: No Response from x.\n", "error", "allow UDP port 161"),
        ("snmpget: Timeout\n", "error", "allow UDP port 161"),
        ("snmpget: Unknown user name\n", "fail", "set the user"),
        ("snmpget: Authentication failure\n", "fail", "set passphrase and protocol"),
        ("snmpget: Unsupported security level\n", "fail", "set the level"),
        ("snmpget: Unknown host (x)\n", "error", "correct the name"),
        ("snmpget: what\n", "error", f"of {ADDRESS} manually with snmpget"),
    )
    def test_none(self, judge, errors, status, fix):
        findings = judge(database_host(Agent({}, silent=errors)))
        assert only(findings["agent_answers"]).status == status
        assert fix in only(findings["agent_answers"]).fix
        for check in ("identified", "hcc", "space", "discards", "cpu_busy"):
            assert only(findings[check]).status == "skip"
            assert only(findings[check]).why == "Not checked: see storage_type.agent_answers."

    def test_compression_that_is_required_is_not_skipped(self, judge):
        assert only(judge(database_host(), require_hcc=True)["hcc"]).status == "error"

    def test_version_3_silence_is_asked_once(self, judge):
        host = database_host(Agent({}, silent="snmpget: Timeout\n"))
        judge(host, snmp_credentials={"default": {"version": "3", "user": "monitor"}})
        assert len(host.asked) == 1

    def test_closed_port_is_a_warning(self, judge):
        closed = Agent({})
        closed.closed = True
        assert only(judge(database_host(closed))["agent_answers"]).status == "warn"

    def test_agent_that_refuses_us_is_a_failure(self, judge):
        refusing = Agent({}, silent="Timeout: No Response from x.\n")
        refusing.engine = bytes.fromhex("8000031503c0a80001")
        finding = only(judge(database_host(refusing))["agent_answers"])
        assert finding.status == "fail" and "allow this host" in finding.fix

    def test_missing_tool(self, judge):
        host = database_host()
        host.has_tools = False
        findings = judge(host, addresses=["array1", "array2"])
        finding = only(findings["agent_answers"])
        assert finding.status == "error" and "net-snmp-utils" in finding.fix
        assert [entry.status for entry in findings["space"]] == ["skip"] * 3


class TestIdentity:
    @cases(
        "name status",
        ("zfs-7420", "pass"),
        ("linux-nfs", "pass"),
        ("ilom", "warn"),
        ("celvin", "warn"),
        ("says-nothing", "error"),
    )
    def test_status(self, judge, name, status):
        assert only(judge(database_host(Agent.of(name)))["identified"]).status == status

    def test_an_agent_of_two_families_is_a_warning_and_no_compression(self, judge):
        proxy = Agent.of("zfs-7420")
        proxy.rows[key_of("1.3.6.1.2.1.1.2.0")] = ("6", E + "789.2.5")
        findings = judge(database_host(proxy))
        finding = only(findings["identified"])
        assert finding.status == "warn"
        assert "Oracle ZFS Storage Appliance, and NetApp ONTAP" in finding.why
        assert only(findings["hcc"]).status == "error"

    def test_says_which_oid_said_what(self, judge):
        finding = only(judge(database_host(Agent.of("zfs-7420")))["identified"])
        assert "sunAkInfoProduct (1.3.6.1.4.1.42.2.225.1.4.2.0) = Sun ZFS Storage 7420" in (
            finding.running
        )
        questions = ("probe", "details", "oracle", "further")
        assert finding.evidence == tuple(f"snmp:{ADDRESS} {question}" for question in questions)


class TestCompression:
    @cases(
        "name required status",
        ("zfs-7420", False, "pass"),
        ("zfs-7420", True, "pass"),
        ("zfs-simulator", False, "warn"),
        ("zfs-simulator", True, "fail"),
        ("ontap-cluster", False, "skip"),
        ("ontap-cluster", True, "fail"),
        ("axiom", False, "error"),
        ("axiom", True, "error"),
    )
    def test_status(self, judge, name, required, status):
        findings = judge(database_host(Agent.of(name)), require_hcc=required)
        assert only(findings["hcc"]).status == status
        fix = str(only(findings["hcc"]).fix)
        # Only a ZFS Storage Appliance has that object.
        assert storage_rules.ORACLE_PRODUCT not in fix or name.startswith("zfs")
        assert ("ORA-64307" in fix) == (name == "axiom")

    def test_the_database_s_own_community_is_used(self, judge):
        host = database_host(Agent.of("zfs-7420"))
        database = {"version": "1", "community": "b"}
        judge(host, snmp_credentials={"default": {"community": "a"}, "database": database})
        secrets = {
            one.secret.text for one in host.asked if one.argv[one.argv.index("-v") + 1] == "1"
        }
        assert secrets == {'defCommunity "b"\n'}


def at_mgmt(host: Filers) -> Filers:
    return host.agent("mgmt", Agent.of("zfs-7420"))


class TestDatabaseHost:
    def with_library(self, *lines: str) -> Filers:
        host = database_host(Agent.of("zfs-7420"))
        text = "".join(f"\t{line}\n" for line in lines)
        host.command("ldconfig -p", f"{len(lines)} libs found in cache `/etc/ld.so.cache'\n{text}")
        return host

    def test_library_under_its_name(self, judge):
        host = self.with_library("libnetsnmp.so (libc6,x86-64) => /usr/lib64/libnetsnmp.so")
        host.file("/usr/lib64/libnetsnmp.so.40", "")
        host.link("/usr/lib64/libnetsnmp.so", "/usr/lib64/libnetsnmp.so.40")
        assert only(judge(host)["snmp_library"]).status == "pass"

    def test_library_without_the_name_is_the_article_s_missing_link(self, judge):
        host = self.with_library("libnetsnmp.so.10 (libc6,x86-64) => /usr/lib64/libnetsnmp.so.10")
        finding = only(judge(host)["snmp_library"])
        assert finding.status == "fail"
        (command,) = finding.commands
        assert command == "ln -sfn /usr/lib64/libnetsnmp.so.10 /usr/lib64/libnetsnmp.so"

    def test_no_library(self, judge):
        finding = only(judge(self.with_library())["snmp_library"])
        assert finding.status == "fail"
        assert finding.commands == ("dnf install -y net-snmp-libs net-snmp-devel",)

    @cases(
        "host changes status",
        # Nobody knows whether it matters.
        (database_host(), {}, "warn"),
        (database_host(), {"require_hcc": True}, "fail"),
        (
            database_host(Agent.of("zfs-7420")).command("ldconfig -p", "no such option\n"),
            {},
            "error",
        ),
        # It does not matter for other storage, nor for an array.
        (database_host(Agent.of("ontap-cluster")), {}, "skip"),
        (plain_host().agent("mgmt", Agent.of("3par")), {"addresses": ["mgmt"]}, "skip"),
        # An appliance may answer on another address than NFS.
        (at_mgmt(database_host(Agent.of("linux-nfs"))), {"addresses": ["mgmt"]}, "fail"),
        # An appliance from which nothing is mounted, and a management address that is silent.
        (at_mgmt(plain_host()), {"addresses": ["mgmt"]}, "warn"),
        (at_mgmt(plain_host()), {"addresses": ["mgmt"], "require_hcc": True}, "fail"),
        (plain_host(), {"addresses": ["mgmt"]}, "skip"),
        (plain_host(), {"addresses": ["mgmt"], "require_hcc": True}, "fail"),
    )
    def test_whether_the_library_matters(self, judge, host, changes, status):
        assert only(judge(host, **changes)["snmp_library"]).status == status

    @pytest.fixture
    def traced(self) -> Callable[[str], Filers]:
        def host_with(lines: str) -> Filers:
            host = self.with_library().folder(TRACES)
            argv = "grep -r -s -E -m 5 --include=*_dbw*.trc skgnfs_(setup|query)_snmp " + TRACES
            return host.command(argv, lines, rc=0 if lines else 1)

        return host_with

    SETUP = (
        f"{TRACES}/test/test/trace/test_dbw0_11626.trc:[1332587314469093] skgnfs_setup_snmp:250: "
        "dlopen errno = 0, errstr = libnetsnmp.so: cannot open shared object file: No such file "
        "or directory\n"
    )
    QUERY = (
        f"{TRACES}/test/test/trace/test_dbw0_3575.trc:[1334661892496086] skgnfs_query_snmp:1831: "
        "Timeout error 2 for server {}\n"
    )

    def test_no_trace_lines(self, judge, traced):
        assert only(judge(traced(""))["snmp_trace"]).status == "pass"

    def test_no_trace_folder(self, judge):
        assert only(judge(self.with_library())["snmp_trace"]).status == "skip"

    def test_without_a_server_no_trace_is_read(self, judge):
        host = plain_host()
        assert "no storage that the database would query" in only(judge(host)["snmp_trace"]).why
        assert not [key for key in host.evidence if TRACES in key]

    def test_a_trace_folder_on_a_dead_server_blocks_nothing(self, judge, traced):
        """The folder is resolved by a command that can be ended, never by this program."""
        host = traced("")
        line = f"readlink -v -e {TRACES}"
        host.evidence[f"command:{line}"] = {
            "kind": "command",
            "error": "unanswered",
            "message": "x",
        }
        assert only(judge(host)["snmp_trace"]).status == "error"
        assert not [
            key for key in host.evidence if key.startswith(("file:", "dir:")) and "diag" in key
        ]
        assert not [key for key in host.evidence if key.startswith("command:grep")]

    def test_a_trace_folder_that_may_not_be_read_is_an_error(self, judge, traced):
        host = traced("").deny(TRACES)
        line = f"readlink -v -e {TRACES}"
        host.commands[line] = Output(1, "", f"readlink: {TRACES}: Permission denied\n")
        assert only(judge(host)["snmp_trace"]).status == "error"

    def test_a_search_that_fails_is_an_error(self, judge, traced):
        host = traced("")
        argv = " ".join(database_snmp.trace_argv(TRACES))
        host.commands[argv] = Output(2, "", "grep: x: Input/output error\n")
        assert only(judge(host)["snmp_trace"]).status == "error"

    def test_a_real_folder_is_searched(self, tmp_path):
        """By the tools of this machine, through a link, and only the database writers' files."""
        folder = tmp_path / "diag/test/test/trace"
        folder.mkdir(parents=True)
        (tmp_path / "link").symlink_to(tmp_path / "diag")
        text = (
            "x\n" + self.SETUP.partition(":")[2] + self.QUERY.partition(":")[2].format("10.1.1.1")
        )
        (folder / "test_dbw0_1.trc").write_text(text)
        (folder / "test_lgwr_1.trc").write_text(text)
        for name in ("diag", "link"):
            lines = database_snmp.read_trace(LiveHost(), f"{tmp_path}/{name}/test")
            assert [line.server for line in lines] == ["", "10.1.1.1"]
            assert all(line.path.endswith("test_dbw0_1.trc") for line in lines)
        with pytest.raises(Absent):
            database_snmp.read_trace(LiveHost(), f"{tmp_path}/none")

    def test_library_that_could_not_be_loaded(self, judge, traced):
        finding = only(judge(traced(self.SETUP))["snmp_trace"])
        assert finding.status == "fail" and "library is still not found" in finding.why
        unread = traced(self.SETUP).deny("/usr/lib64/libnetsnmp.so", "/lib64/libnetsnmp.so")
        finding = only(judge(unread.deny("/usr/lib/libnetsnmp.so"))["snmp_trace"])
        assert (finding.status, "not found" in finding.why) == ("fail", False)
        assert "not known whether the library is found now" in finding.why

    @cases("server status", (ADDRESS, "warn"), ("10.10.10.60", "fail"))
    def test_server_that_did_not_answer(self, judge, traced, server, status):
        finding = only(judge(traced(self.QUERY.format(server)))["snmp_trace"])
        assert finding.status == status and server in finding.why
        said = "It answers Hostproof now." if status == "warn" else "Hostproof did not query it."
        assert said in finding.why

    @cases(
        "agent has_tools said",
        (Agent({}, silent="Timeout: No Response from x.\n"), True, "queried it and got no answer"),
        (None, False, "Hostproof could not query it: "),
        (Agent({}, silent="snmpget: Unknown user name\n"), True, "query of Hostproof failed: "),
    )
    def test_what_the_query_of_hostproof_got(self, judge, traced, agent, has_tools, said):
        """A missing tool queries nobody, and a rejected login is an answer."""
        host = traced(self.QUERY.format(ADDRESS))
        host.has_tools = has_tools
        if agent is not None:
            host.agent(ADDRESS, agent)
        finding = only(judge(host)["snmp_trace"])
        assert (finding.status, said in finding.why) == ("fail", True), finding.why
        assert finding.fix == "see storage_type.agent_answers"


GOOD = "rw,vers=3,rsize=262144,wsize=262144,hard,proto=tcp,timeo=600"


def mounting(options: str, agent: Agent | None) -> Filers:
    host = database_host(agent)
    rows = ["25 1 8:1 / / rw - ext4 /dev/sda1 rw"]
    rows.append(f"45 25 0:45 / /u02 rw - nfs filer:/u02 {options},addr={ADDRESS}")
    return host.file("/proc/self/mountinfo", "\n".join(rows) + "\n") or host


class TestMountOptions:
    @cases(
        "options status text",
        (GOOD, "pass", "as desired on 1 mounts"),
        (GOOD.replace("vers=3", "vers=4.1"), "pass", "as desired on 1 mounts"),
        (GOOD.replace("vers=3", "vers=4.0"), "warn", "/u02: vers 4.0"),
        (GOOD.replace("hard", "soft"), "warn", "/u02: recovery soft"),
        (GOOD.replace("timeo=600", "timeo=14"), "warn", "/u02: timeo 14"),
        (GOOD.replace("rsize=262144", "rsize=32768"), "warn", "/u02: rsize 32768"),
        (GOOD.replace("wsize=262144,", ""), "warn", "/u02: wsize not shown"),
        (GOOD.replace("262144", "65536"), "warn", "/u02: rsize 65536, wsize 65536"),
        (GOOD.replace("rsize=262144", "rsize=16384"), "fail", "/u02: rsize 16384"),
    )
    def test_of_an_ontap(self, judge, options, status, text):
        finding = only(judge(mounting(options, Agent.of("ontap-cluster")))["mount_options"])
        assert (finding.status, finding.running) == (status, text)
        assert finding.reference.startswith("NetApp, Oracle Database on ONTAP")

    def test_another_product_of_the_vendor_differs(self, judge):
        options = GOOD.replace("262144", "32768")
        finding = only(judge(mounting(options, Agent.of("netapp-7mode")))["mount_options"])
        assert finding.status == "pass"

    @cases(
        "name options most",
        ("ontap-cluster", GOOD.replace("hard", "soft"), None),
        ("ontap-cluster", GOOD.replace("262144", "65536"), 262144),
        # 7-Mode grants no more than 64 KiB.
        ("netapp-7mode", GOOD.replace("262144", "16384"), 32768),
    )
    def test_the_server_grants_more_before_the_mount_is_made_again(
        self, judge, name, options, most
    ):
        fix = only(judge(mounting(options, Agent.of(name)))["mount_options"]).fix
        assert "set what differs in the options of /u02 in nfs_mounts_mounts" in fix
        assert fix.endswith("; then stop what uses /u02, unmount and mount again")
        raised = f"if the mounts request more: raise the server's maximum to {most} "
        assert fix.startswith(raised if most else "set what differs")

    @cases("name", "zfs-7420", "linux-nfs", "synology", "isilon-8")
    def test_who_gives_no_advice_of_its_own(self, judge, name):
        finding = only(judge(mounting(GOOD, Agent.of(name)))["mount_options"])
        assert finding.status == "skip" and "see nfs_mounts" in finding.why

    def test_nothing_is_mounted_from_an_array(self, judge):
        host = plain_host().agent("array", Agent.of("ontap-cluster"))
        finding = only(judge(host, addresses=["array"])["mount_options"])
        assert finding.status == "skip"
        assert finding.why == "This host has no mounts from this server."

    def test_the_products_are_those_of_the_rules(self):
        known = {family["product"] for family in FAMILIES}
        assert {name for advice in storage_advice.ADVICE for name in advice.products} <= known


def ports(*states: int | None, names: str = "abcdef") -> Agent:
    table: dict[str, Any] = {}
    for number, state in enumerate(states):
        row = f"110.111.{number}"
        table |= {
            f"{E}789.1.22.2.1.1.{row}": "n1",
            f"{E}789.1.22.2.1.2.{row}": f"e0{names[number]}",
        }
        if state is not None:
            table[f"{E}789.1.22.2.1.24.{row}"] = state
    return agent("ontap-cluster", **rows(table))


def test_the_report_names_the_address_first(judge):
    """The summary takes what stands before the first ": " for the thing that is judged."""
    host = database_host(ports(4)).agent("array", Agent.of("3par"))
    findings = judge(host, addresses=["array", "fd00::5", "10.0.0.7:1161"])
    for check in ("agent_answers", "identified", "hcc", "flow_control", "mount_options", "space"):
        subjects = [finding.title.partition(": ")[0] for finding in findings[check]]
        assert subjects == [ADDRESS, "10.0.0.7:1161", "array", "fd00::5"]


class TestFlowControl:
    """NETAPP-MIB: 0 undefined, 1 none, 2 receive, 3 send, 4 full."""

    @cases(
        "filer status text",
        (ports(1, 3), "pass", "n1:e0a none, n1:e0b send"),
        (ports(1, 2), "warn", "n1:e0a none, n1:e0b receive"),
        (ports(4, 4), "warn", "n1:e0a full, n1:e0b full"),
        (ports(1, 0), "error", "n1:e0a none, n1:e0b unknown"),
        (ports(0, 4), "warn", "n1:e0a unknown, n1:e0b full"),
        (ports(1, None), "error", "n1:e0a none, n1:e0b unknown"),
        (ports(1, 9), "error", "n1:e0a none, n1:e0b unknown"),
        (ports(1, 4, names="aM"), "pass", "n1:e0a none"),
    )
    def test_of_an_ontap(self, judge, filer, status, text):
        finding = only(judge(database_host(filer))["flow_control"])
        assert (finding.status, finding.running) == (status, text)
        # Where it is not known, nothing is known to be wrong.
        begin = {"error": "read the flow control of n1:e0b on", "warn": "disable it for n1:e0"}
        assert (finding.fix or "").startswith(begin.get(status, ""))

    @cases(
        "name text",
        ("ontap-cluster", "NetApp: no flow control on storage ports"),
        ("netapp-7mode", "NetApp: no flow control on storage ports"),
        ("zfs-7420", "has no EtherLike-MIB"),
        ("synology", "does not report the flow control"),
    )
    def test_an_agent_that_does_not_tell(self, judge, name, text):
        finding = only(judge(database_host(Agent.of(name)))["flow_control"])
        assert finding.status == "skip" and text in finding.why

    def test_a_table_that_goes_silent_is_an_error(self, judge):
        filer = silent_where(lambda argv: argv[-1].endswith("789.1.22.2.1.24"), ports(1, 1))
        assert only(judge(database_host(filer))["flow_control"]).status == "error"


def df(base: str = "netapp-7mode", **fill: float) -> Agent:
    """An ONTAP with its dfTable: "a_N" is an aggregate, all else a FlexVol of the same size."""
    table: dict[str, Any] = {}
    for row, (name, percent) in enumerate(fill.items(), 1):
        column = E + "789.1.5.4.1."
        aggregate = name.startswith("a_")
        table |= {
            f"{column}2.{row}": name if aggregate else f"/vol/{name}/",
            f"{column}23.{row}": 3 if aggregate else 2,
            f"{column}29.{row}": 1000,
            f"{column}30.{row}": int(percent * 10),
        }
    return agent(base, **rows(table))


#: nodeModel, by the node's name: the record has one node, "n1-1".
NODE_MODEL = E + "789.1.25.2.1.4."


def fill_of(name: str, columns: tuple[str, ...], numbers: tuple[int | str, ...]) -> Agent:
    """An agent with one row of the table of volumes that storage_rules.py has for its family."""
    start = {
        "isilon-8": E + "12124.1.",
        "oceanstor": E + "34774.4.1.",
        "hnas": E + "11096.6.1.1.1.3.5.2.1.",
        "nutanix": E + "41263.7.1.",
        "qnap": E + "24681.1.4.1.1.1.2.3.2.1.",
        "eternus": E + "211.1.21.1.",
        "lefthand": E + "9804.3.1.1.2.12.48.1.",
    }[name]
    row = ".0" if name == "isilon-8" else ".1"
    return agent(
        name, **rows({start + at + row: to for at, to in zip(columns, numbers, strict=True)})
    )


def all_flash(**fill: float) -> Agent:
    filer = df("ontap-cluster", **fill)
    filer.rows[key_of(NODE_MODEL + "4.110.49.45.49")] = ("4", "AFF-A400")
    return filer


class TestSpace:
    """NetApp, capacity limits: 10 % free on flash, 15 % on disks; a FlexVol is no aggregate."""

    @cases(
        "filer percent status",
        (df, 84, "pass"),
        (df, 85, "warn"),
        (df, 89.9, "warn"),
        (df, 90, "fail"),
        (df, 100, "fail"),
        (all_flash, 89, "pass"),
        (all_flash, 90, "warn"),
        (all_flash, 97, "warn"),
        (all_flash, 98, "fail"),
        (partial(df, "ontap-cluster"), 84, "pass"),
        (partial(df, "ontap-cluster"), 85, "warn"),
        (partial(df, "ontap-cluster"), 97, "warn"),
        (partial(df, "ontap-cluster"), 98, "fail"),
    )
    def test_limits_by_media(self, judge, filer, percent, status):
        finding = only(judge(database_host(filer(a_1=percent)))["space"])
        assert finding.status == status
        assert finding.running.startswith(f"a_1 {percent:.0f} percent of 1000.0 KiB")

    def test_the_policy_names_the_media(self, judge):
        host = database_host(df("ontap-cluster", a_1=90))
        assert only(judge(host, media={ADDRESS: "hdd"})["space"]).status == "fail"
        assert "storage_type_media" in only(judge(host)["space"]).why

    def test_limits_are_the_policy_s(self, judge):
        host = database_host(df(a_1=50))
        finding = only(judge(host, space_warn_percent=40, space_fail_percent=45)["space"])
        assert finding.status == "fail"
        assert only(judge(host, space_warn_percent=51)["space"]).status == "pass"
        assert only(judge(host, space_fail_percent=50)["space"]).status == "fail"

    @cases("filer", df, partial(df, "ontap-cluster"), all_flash)
    @cases(
        "percent policy status",
        (10, {}, "pass"),
        (97, {}, "pass"),
        (98, {}, "warn"),
        (100, {}, "warn"),
        (79, {"space_warn_percent": 80}, "pass"),
        (80, {"space_warn_percent": 80}, "warn"),
        (98, {"space_warn_percent": 99}, "pass"),
        (99, {"space_warn_percent": 99}, "warn"),
    )
    def test_a_volume_of_luns_counts(self, judge, filer, percent, policy, status):
        """A FlexVol at 100 % in an aggregate at 61 %, and no NFS mount uses it (part I, 2011)."""
        finding = only(judge(database_host(filer(a_1=61, luns=percent)), **policy)["space"])
        assert finding.status == status
        limit = policy.get("space_warn_percent", 98)
        assert finding.desired.endswith(f"; volumes below {limit} percent")
        text = f"/vol/luns/ is at {limit} percent or more and is not mounted here"
        assert (text in (finding.why or "")) == (status == "warn")

    def test_a_volume_of_luns_counts_beside_a_mounted_volume(self, judge):
        host = database_host(all_flash(a_1=61, v=20, luns=100), u02="filer:/vol/v")
        finding = only(judge(host)["space"])
        assert (finding.status, "/vol/v/ is" in finding.why) == ("warn", False)
        both = only(judge(database_host(df(a_1=95, v=100, luns=100)))["space"])
        assert (both.status, "/vol/v/, /vol/luns/ is at 98" in both.why) == ("fail", True)

    @cases("percent", 10, 97)
    def test_where_only_volumes_are_told_nothing_is_known_of_the_disks(self, judge, percent):
        finding = only(judge(database_host(all_flash(v=percent), u02="filer:/vol/v"))["space"])
        assert finding.status == "skip" and "not of their aggregates" in finding.why

    def test_a_mounted_volume_without_room_is_a_warning(self, judge):
        filer = all_flash(a_1=20, v=98)
        assert only(judge(database_host(filer, u02="filer:/vol/v/u02"))["space"]).status == "warn"
        mounted = only(judge(database_host(filer, u02="filer:/vol/v/u02"))["space"])
        assert "/vol/v/ is mounted here and is at 98 percent" in mounted.why
        policy = {"space_warn_percent": 60}
        below = database_host(all_flash(a_1=20, v=60), u02="filer:/vol/v")
        assert only(judge(below, **policy)["space"]).status == "warn"

    @cases("filer status", (df, "warn"), (all_flash, "pass"))
    def test_seventy_percent_of_a_volume_is_advice_for_disks(self, judge, filer, status):
        host = database_host(filer(a_1=20, v=70), u02="filer:/vol/v")
        assert only(judge(host)["space"]).status == status

    @cases(
        "fill begin",
        # A larger volume takes more of an aggregate that is full.
        ({"a_1": 98, "v": 20}, "add disks to the aggregate or pool, or move data away from it"),
        ({"a_1": 20, "v": 98}, "enlarge the volume, if its aggregate or pool has space"),
        ({"a_1": 98, "v": 98}, "add disks to the aggregate or pool, or move data away from it"),
    )
    def test_only_what_is_full_is_enlarged(self, judge, fill, begin):
        fix = only(judge(database_host(all_flash(**fill), u02="filer:/vol/v"))["space"]).fix
        assert fix.startswith(begin) and ("enlarge" in fix) == (fill["v"] == 98)

    @cases("filer advised", (df, True), (all_flash, False))
    def test_fragments_are_a_matter_of_disks(self, judge, filer, advised):
        """Part III (2011) of the articles on sequential reads: never on AFF."""
        fix = only(judge(database_host(filer(a_1=98, v=98), u02="filer:/vol/v"))["space"]).fix
        assert ("reallocate measure -o" in fix, "never on AFF" in fix) == (advised, advised)

    @cases("other status", ("AFF-A250", "pass"), ("FAS2720", "warn"))
    def test_a_cluster_is_flash_if_all_of_its_nodes_are(self, judge, other, status):
        filer = all_flash(a_1=87)
        filer.rows[key_of(NODE_MODEL + "4.110.49.45.50")] = ("4", other)
        assert only(judge(database_host(filer))["space"]).status == status

    @cases("used status", (800, "pass"), (900, "warn"), (990, "warn"))
    def test_of_an_oceanstor_the_whole_array_counts(self, judge, used, status):
        array = agent(
            "oceanstor", **rows({E + "34774.4.1.1.4.0": used, E + "34774.4.1.1.5.0": 1000})
        )
        finding = only(judge(database_host(array))["space"])
        percent = used // 10
        text = f"2102350HYS10H1000010 {percent} percent of 1000.0 MiB"
        assert (finding.status, finding.running) == (status, text)

    @cases(
        "name columns numbers percent",
        ("isilon-8", ("1.1", "3.1", "3.3"), ("cluster", 1000, 40), 96),
        ("oceanstor", ("23.4.2.1.2", "23.4.2.1.7", "23.4.2.1.9"), ("pool", 200, 150), 25),
        ("hnas", ("3", "5", "6"), ("span", 1000, 20), 98),
        ("nutanix", ("3", "4", "5"), ("pool", 1000, 400), 40),
        ("qnap", ("8", "3", "4"), ("volume", 1000, 990), 1),
        ("eternus", ("150.14.5.2.1.1", "150.14.5.2.1.3", "150.14.5.2.1.4"), (0, 10, 5), 50),
        ("lefthand", ("2", "32"), ("cluster", 97), 97),
    )
    def test_fill_by_the_family_s_own_table(self, judge, name, columns, numbers, percent):
        finding = only(judge(database_host(fill_of(name, columns, numbers)))["space"])
        status = "warn" if percent > 95 else "pass"
        assert (finding.status, round(finding.values["fullest"])) == (status, percent)

    @cases(
        "name columns numbers",
        ("hnas", ("3", "5", "6"), ("span", 1000, 1001)),
        ("lefthand", ("2", "32"), ("cluster", -1)),
        ("nutanix", ("3", "4", "5"), ("pool", 1000, "x")),
        # Only where units are told a negative number is one of more than 31 bits.
        ("qnap", ("8", "3", "4"), ("volume", -1, 0)),
        ("hnas", ("3", "5", "6"), ("span", -1, -1)),
        ("nutanix", ("3", "4", "5"), ("pool", 1000, -400)),
    )
    def test_fill_that_cannot_be_is_no_fill(self, judge, name, columns, numbers):
        finding = only(judge(database_host(fill_of(name, columns, numbers)))["space"])
        assert finding.status == "error"

    def test_recordings_find_the_tables_at_their_old_places(self):
        old = ["ONTAP", "Data ONTAP 7-Mode", "N series", "ZFS Storage Appliance", "TrueNAS"]
        old += ["Data Domain", "OceanStor", ""]
        assert [table.product for table in storage_rules.VOLUMES[: len(old)]] == old
        turn = [table.name for _number, table in storage_rules.VOLUMES_IN_TURN]
        assert turn[-1].startswith("1.3.6.1.2.1.25.")
        pools, array = (E + "34774.4.1." + column for column in ("23.4.2.1.2", "1.1"))
        assert turn.index(pools) < turn.index(array)

    def test_what_thick_volumes_do_not_use_is_free(self, judge):
        thick = only(judge(database_host(df(a_1=95, v=10)))["space"])
        assert (thick.status, "Thick volumes" in thick.why) == ("warn", True)
        assert only(judge(database_host(df(a_1=95, v=100)))["space"]).status == "fail"

    def test_without_a_type_the_name_tells(self, judge):
        """A FlexVol at 95 % is a warning only if it is taken for an aggregate."""
        filer = df(a_1=20, v=95)
        for row in (1, 2):
            del filer.rows[key_of(f"{E}789.1.5.4.1.23.{row}")]
        assert only(judge(database_host(filer, u02="filer:/vol/w"))["space"]).status == "pass"

    def test_a_row_without_its_numbers(self, judge):
        filer = df(a_1=20, v=10)
        del filer.rows[key_of(f"{E}789.1.5.4.1.30.2")]
        for export in ("filer:/vol/v", "filer:/vol/w"):
            finding = only(judge(database_host(filer, u02=export))["space"])
            assert (finding.status, "/vol/v/" in finding.why) == ("error", True)

    def test_an_aggregate_without_its_numbers_may_hold_what_is_mounted(self, judge):
        filer = df(a_1=20, a_2=30)
        del filer.rows[key_of(f"{E}789.1.5.4.1.30.2")]
        finding = only(judge(database_host(filer, u02="filer:/vol/w"))["space"])
        assert (finding.status, "a_2" in finding.why) == ("error", True)

    def test_roots_of_an_ontap_are_full_by_design(self, judge):
        full = df(a_1=10, vol0=97, svm1_root=99)
        full.rows[key_of(f"{E}789.1.5.4.1.2.4")] = ("4", "aggr0_n1")
        full.rows[key_of(f"{E}789.1.5.4.1.29.4")] = ("2", "1000")
        full.rows[key_of(f"{E}789.1.5.4.1.30.4")] = ("2", "970")
        finding = only(judge(database_host(full))["space"])
        assert (finding.status, finding.running) == ("pass", "a_1 10 percent of 1000.0 KiB")

    @cases("name", "vol0", "u02_root")
    def test_a_root_that_is_mounted_here_counts(self, judge, name):
        filer = df(a_1=10, **{name: 99.5})
        finding = only(judge(database_host(filer, u02=f"filer:/vol/{name}/u02"))["space"])
        assert (finding.status, f"/vol/{name}/ is mounted here" in finding.why) == ("warn", True)
        assert only(judge(database_host(filer, u02="filer:/vol/w"))["space"]).status == "pass"

    @cases("percent status", (80, "pass"), (95, "fail"))
    def test_the_only_aggregate_holds_the_data_too(self, judge, percent, status):
        filer = df(a_1=percent, vol0=20)
        filer.rows[key_of(f"{E}789.1.5.4.1.2.1")] = ("4", "aggr0")
        filer.rows[key_of(f"{E}789.1.5.4.1.30.2")] = ("2", "1000")
        finding = only(judge(database_host(filer))["space"])
        assert (finding.status, "aggr0" in finding.running) == (status, True)

    def test_snapshot_reserve_is_no_volume(self, judge):
        full = df(v=120)
        full.rows[key_of(f"{E}789.1.5.4.1.2.1")] = ("4", "/vol/a/.snapshot")
        assert only(judge(database_host(full))["space"]).status == "skip"

    def test_agent_that_tells_nothing(self, judge):
        assert only(judge(database_host(Agent.of("flasharray")))["space"]).status == "skip"

    def test_of_a_server_only_what_is_mounted_counts(self, judge):
        table: dict[str, Any] = {}
        for row, (name, percent) in enumerate([("/boot", 95), ("/", 20), ("/export", 88)], 1):
            table |= {
                f"{HR}3.{row}": name,
                f"{HR}4.{row}": 4096,
                f"{HR}5.{row}": 1000,
                f"{HR}6.{row}": percent * 10,
            }
        server = agent("linux-nfs", **rows(table))
        for row in (1, 2, 3):
            server.rows[(1, 3, 6, 1, 2, 1, 25, 2, 3, 1, 2, row)] = ("6", "1.3.6.1.2.1.25.2.1.4")
        finding = only(judge(database_host(server))["space"])
        assert (finding.status, finding.running) == ("warn", "/export 88 percent of 3.9 MiB")

    @cases(
        "source text",
        ("filer:/share/DATA/ora", "/share/DATA 86 percent of 35.0 TiB"),
        ("filer:/ora", "/share/MORE 89 percent of 35.0 TiB, /share/DATA 86 percent of 35.0 TiB"),
        ids=["of the export", "large ones"],
    )
    def test_small_file_systems_of_a_filer_are_its_own(self, judge, source, text):
        filer = Agent.of("synology")
        named = [("/mnt/ext", 355 << 8, 93)]
        named += [("/share/DATA", 35 << 28, 86), ("/share/MORE", 35 << 28, 89)]
        for row, (name, size, percent) in enumerate(named, 1):
            column = (1, 3, 6, 1, 2, 1, 25, 2, 3, 1)
            filer.rows[(*column, 2, row)] = ("6", "1.3.6.1.2.1.25.2.1.4")
            filer.rows[(*column, 3, row)] = ("4", name)
            filer.rows[(*column, 4, row)] = ("2", "4096")
            filer.rows[(*column, 5, row)] = ("2", str(size))
            filer.rows[(*column, 6, row)] = ("2", str(size * percent // 100))
        finding = only(judge(database_host(filer, u02=source))["space"])
        assert (finding.status, finding.running) == ("warn", text)

    def test_table_that_goes_silent_is_an_error(self, judge):
        filer = silent_where(lambda argv: argv[0] == "snmpbulkwalk", Agent.of("netapp-7mode"))
        assert only(judge(database_host(filer))["space"]).status == "error"


NETAPP = E + "789.1."
EQUALLOGIC = E + "12740."
SYSTEM, CF = NETAPP + "2.2.4.0", NETAPP + "2.3.1.0"
FAILED, REBUILT, LINK = NETAPP + "6.4.7.0", NETAPP + "6.4.3.0", NETAPP + "2.3.8.0"
BATTERY = NETAPP + "2.5.1.0"
HITACHI = E + "116.5.11.4.1.1."
SENSOR = E + "1588.2.1.1.1.1.22.1.3."
EQL_DISK, EQL_BATTERY = EQUALLOGIC + "3.1.1.1.8.1.7.", EQUALLOGIC + "4.1.1.1.5.1.7."
SC = E + "674.11000.2000.500.1.2."
UNIT_STATUS = "1.3.6.1.3.94.1.6.1.6.1"
DATA_DOMAIN, DISK = E + "19746.1.", E + "19746.1.6.1.1.1.8."
HUAWEI, ETERNUS, NSM = E + "34774.4.1.", E + "211.1.21.1.", E + "9804.3.1.1."
HNAS, MODULE = E + "11096.6.1.1.1.", E + "9.9.117.1.2.1.1.2."
PARTS = ("system_state", "disks", "controllers", "controller_interconnect", "battery", "rebuild")


class TestParts:
    """By the values of the vendors' MIBs: NETAPP-MIB, EQLDISK-MIB, ISILON-MIB and so on."""

    @cases(
        "name oid value check status",
        ("netapp-7mode", SYSTEM, 3, "system_state", "pass"),
        ("netapp-7mode", SYSTEM, 4, "system_state", "warn"),
        ("netapp-7mode", SYSTEM, 5, "system_state", "fail"),
        ("netapp-7mode", SYSTEM, 2, "system_state", "error"),
        ("ibm-n-series", FAILED, 0, "disks", "pass"),
        ("netapp-7mode", FAILED, 1, "disks", "fail"),
        ("netapp-7mode", FAILED, -1, "disks", "error"),
        ("netapp-7mode", CF, 2, "controllers", "pass"),
        ("netapp-7mode", CF, 1, "controllers", "skip"),
        ("netapp-7mode", CF, 3, "controllers", "warn"),
        ("netapp-7mode", CF, 5, "controllers", "fail"),
        ("netapp-7mode", LINK, 4, "controller_interconnect", "pass"),
        ("netapp-7mode", LINK, 3, "controller_interconnect", "warn"),
        ("netapp-7mode", LINK, 2, "controller_interconnect", "fail"),
        ("ontap-cluster", BATTERY, 9, "battery", "pass"),
        ("ontap-cluster", BATTERY, 5, "battery", "warn"),
        ("ontap-cluster", BATTERY, 3, "battery", "fail"),
        ("ontap-cluster", BATTERY, 7, "battery", "error"),
        ("netapp-7mode", REBUILT, 0, "rebuild", "pass"),
        ("netapp-7mode", REBUILT, 2, "rebuild", "warn"),
        ("ontap-cluster", NETAPP + "2.2.36.1.2.2.110.49", 5, "system_state", "fail"),
        ("equallogic", EQUALLOGIC + "2.1.5.1.1.1.7", 2, "system_state", "warn"),
        ("equallogic", EQL_DISK + "2", 3, "disks", "fail"),
        ("equallogic", EQL_DISK + "2", 2, "disks", "pass"),
        ("equallogic", EQL_BATTERY + "1", 6, "battery", "fail"),
        ("compellent", SC + "13.1.3.2", 2, "controllers", "fail"),
        ("compellent", SC + "14.1.3.9", 3, "disks", "warn"),
        ("isilon-7", E + "12124.2.52.1.5.3", "SMARTFAIL", "disks", "fail"),
        ("isilon-7", E + "12124.2.52.1.5.3", "L3", "disks", "pass"),
        ("isilon-7", E + "12124.2.52.1.5.3", "PREPARING", "disks", "error"),
        ("isilon-7", E + "12124.1.1.2.0", 1, "system_state", "warn"),
        ("powervault-me4", UNIT_STATUS, 5, "system_state", "fail"),
        ("vsp", HITACHI + "6.1.2.4711", 1, "controllers", "pass"),
        ("vsp", HITACHI + "6.1.2.4711", 3, "controllers", "fail"),
        ("vsp", HITACHI + "6.1.7.4711", 5, "battery", "warn"),
        ("vsp", HITACHI + "6.1.7.4711", 0, "battery", "error"),
        ("vsp", HITACHI + "6.1.4.4711", 2, "system_state", "fail"),
        ("vsp", HITACHI + "7.1.5.4711", 4, "disks", "warn"),
        ("synology", E + "6574.1.1.0", 2, "system_state", "fail"),
        ("synology", E + "6574.2.1.1.5.0", 3, "disks", "pass"),
        ("synology", E + "6574.2.1.1.5.0", 5, "disks", "fail"),
        ("synology", E + "6574.3.1.1.3.0", 21, "system_state", "error"),
        ("brocade-6520", SENSOR + "1", 2, "system_state", "fail"),
        ("brocade-6520", SENSOR + "1", 5, "system_state", "warn"),
        ("brocade-6520", SENSOR + "1", 1, "system_state", "error"),
        ("brocade-6520", E + "1588.2.1.1.1.1.7.0", 4, "system_state", "fail"),
        ("isilon-8", E + "12124.2.1.2.0", 1, "controllers", "warn"),
        ("datadomain-77", DISK + "1.3", 4, "disks", "fail"),
        ("datadomain-77", DISK + "1.3", 3, "disks", "skip"),
        ("datadomain-77", DATA_DOMAIN + "2.3.1.1.3.1", 0, "battery", "pass"),
        ("datadomain-77", DATA_DOMAIN + "2.3.1.1.3.1", 1, "battery", "fail"),
        ("datadomain-77", DATA_DOMAIN + "3.1.1.0", 2, "system_state", "fail"),
        ("datadomain-77", DATA_DOMAIN + "3.1.1.0", 4, "system_state", "error"),
        ("datadomain-77", DATA_DOMAIN + "1.1.1.1.1.4.1.1", 4, "system_state", "fail"),
        ("datadomain-77", DATA_DOMAIN + "1.1.1.1.1.4.1.1", 99, "system_state", "error"),
        ("oceanstor", HUAWEI + "23.5.1.1.2.48", 1, "disks", "pass"),
        ("oceanstor", HUAWEI + "23.5.1.1.2.48", 6, "disks", "warn"),
        ("oceanstor", HUAWEI + "23.5.2.1.2.48", 2, "controllers", "fail"),
        ("oceanstor", HUAWEI + "23.5.5.1.3.48", 12, "battery", "warn"),
        ("oceanstor", HUAWEI + "23.4.2.1.5.48", 14, "system_state", "error"),
        ("oceanstor", HUAWEI + "19.8.11.1.3.1", 2, "controller_interconnect", "fail"),
        ("oceanstor", HUAWEI + "19.8.11.1.3.1", 0, "controller_interconnect", "warn"),
        ("oceanstor", HUAWEI + "19.8.11.1.3.1", 3, "controller_interconnect", "error"),
        ("exagrid", E + "14941.4.6.1.0", 3, "system_state", "fail"),
        ("lenovo-dm", NETAPP + "21.2.1.6.1", 3, "controllers", "fail"),
        ("netapp-7mode", NETAPP + "2.3.2.0", 2, "controllers", "pass"),
        ("netapp-7mode", NETAPP + "2.3.2.0", 1, "controllers", "fail"),
        ("netapp-7mode", NETAPP + "2.3.2.0", 3, "controllers", "warn"),
        ("netapp-7mode", NETAPP + "2.3.2.0", 4, "controllers", "fail"),
        ("ibm-n-series", NETAPP + "2.3.4.0", 3, "controllers", "fail"),
        ("netapp-7mode", NETAPP + "2.3.4.0", 1, "controllers", "warn"),
        ("netapp-7mode", NETAPP + "2.3.4.0", 9, "controllers", "error"),
        ("ontap-cluster", NETAPP + "21.2.1.4.2.110.49", 4, "controllers", "fail"),
        ("ontap-cluster", NETAPP + "21.2.1.4.2.110.49", 5, "controllers", "warn"),
        ("ontap-cluster", NETAPP + "21.2.1.6.2.110.49", 3, "controllers", "fail"),
        ("ontap-cluster", NETAPP + "21.2.1.10.2.110.49", 2, "controller_interconnect", "fail"),
        ("compellent", SC + "14.1.5.9", 1, "disks", "pass"),
        ("compellent", SC + "14.1.5.9", 2, "disks", "fail"),
        ("compellent", SC + "14.1.5.9", 0, "disks", "error"),
        ("compellent", SC + "28.1.5.1", 3, "battery", "fail"),
        ("compellent", SC + "28.1.5.1", 0, "battery", "skip"),
        ("compellent-new", SC + "14.1.5.9", 2, "disks", "fail"),
        ("synology", E + "6574.2.1.1.13.0", 1, "disks", "pass"),
        ("synology", E + "6574.2.1.1.13.0", 2, "disks", "warn"),
        ("synology", E + "6574.2.1.1.13.0", 3, "disks", "fail"),
        ("synology", E + "6574.2.1.1.13.0", 4, "disks", "fail"),
        ("synology", E + "6574.2.1.1.13.0", 5, "disks", "error"),
        ("eternus", ETERNUS + "150.6.0", 3, "system_state", "pass"),
        ("eternus", ETERNUS + "150.6.0", 4, "system_state", "warn"),
        ("eternus", ETERNUS + "150.6.0", 1, "system_state", "error"),
        ("eternus", ETERNUS + "153.2.1.2.1.3.0", 2, "controllers", "fail"),
        ("eternus", ETERNUS + "150.2.3.2.1.3.1", 4, "controller_interconnect", "skip"),
        ("eternus", ETERNUS + "150.2.9.2.1.3.1", 2, "battery", "fail"),
        ("eternus", ETERNUS + "60.2.12.2.1.3.7", 64, "disks", "fail"),
        ("eternus", ETERNUS + "101.2.19.2.1.3.7", 7, "disks", "warn"),
        ("eternus", ETERNUS + "150.2.19.2.1.3.7", 68, "disks", "skip"),
        ("lefthand", NSM + "2.4.2.1.91.1", 2, "disks", "fail"),
        ("lefthand", NSM + "2.1.91.1.23.1", 1, "battery", "pass"),
        ("lefthand", NSM + "2.12.46.1.19.1", 3, "controllers", "warn"),
        ("lefthand", NSM + "2.12.46.1.10.1", 2, "controllers", "fail"),
        ("lefthand", NSM + "2.12.97.1.57.1", 3, "rebuild", "warn"),
        ("lefthand", NSM + "2.12.97.1.15.1", 2, "system_state", "fail"),
        ("nimble", E + "37447.1.2.1.10.5", 1, "system_state", "pass"),
        ("nimble", E + "37447.1.2.1.10.5", 2, "system_state", "warn"),
        ("zfs-zs5", E + "42.2.195.1.4.0", 0, "system_state", "pass"),
        ("zfs-zs5", E + "42.2.195.1.4.0", 2, "system_state", "fail"),
        ("zfs-zs5", E + "42.2.195.1.5.1.3.7", 3, "system_state", "warn"),
        ("zfs-zs5", E + "42.2.195.1.5.1.3.7", 4, "system_state", "error"),
        ("e-series", E + "789.1123.2.500.1.7.0", 1, "system_state", "fail"),
        ("powervault-md3", E + "674.10893.2.31.500.1.7.0", 0, "system_state", "pass"),
        ("hnas", HNAS + "3.4.2.1.4.1", 3, "disks", "fail"),
        ("hnas", HNAS + "2.5.9.1.4.1", 4, "controllers", "pass"),
        ("hnas", HNAS + "2.5.9.1.4.1", 1, "controllers", "error"),
        ("hnas", HNAS + "2.1.17.1.3.1", 9, "battery", "warn"),
        ("hnas", HNAS + "2.1.13.1.3.1", 2, "system_state", "fail"),
        ("nutanix", E + "41263.3.1.13.1", 2, "disks", "fail"),
        ("qnap", E + "24681.1.2.11.1.4.1", 0, "disks", "pass"),
        ("qnap", E + "24681.1.2.11.1.4.1", -9, "disks", "fail"),
        ("qnap", E + "24681.1.2.11.1.4.1", -5, "disks", "skip"),
        ("qnap", E + "24681.1.2.11.1.4.1", -4, "disks", "error"),
        ("qnap", E + "24681.1.4.1.1.1.2.2.2.1.5.1", -1, "system_state", "warn"),
        ("buffalo", E + "5227.27.1.2.1.2.1", 2, "disks", "pass"),
        ("buffalo", E + "5227.27.1.2.1.2.1", 5, "disks", "fail"),
        ("buffalo", E + "5227.27.1.2.1.5.1", 2, "disks", "warn"),
        ("infortrend", E + "1714.1.1.6.1.11.1", 252, "disks", "warn"),
        ("infortrend", E + "1714.1.1.6.1.11.1", 128, "disks", "error"),
        ("infortrend", E + "1714.1.1.2.1.11.1", 1, "disks", "fail"),
        ("infortrend", E + "1714.1.1.2.1.6.1", 0, "system_state", "pass"),
        ("infortrend", E + "1714.1.1.2.1.6.1", 64, "system_state", "warn"),
        ("infortrend", E + "1714.1.1.6.1.11.1", 19, "disks", "warn"),
        ("eternus", ETERNUS + "150.2.19.2.1.3.7", 65, "disks", "warn"),
        ("infortrend", E + "1714.1.1.2.1.6.1", 71, "system_state", "fail"),
        ("ibm-ts4300", E + "14851.3.1.6.2.1.11.1", 3, "system_state", "warn"),
        ("other-tape", E + "14851.3.1.4.10.1.10.1", 6, "system_state", "fail"),
        ("other-tape", E + "14851.3.1.4.10.1.10.1", 0, "system_state", "error"),
        ("hp-eml", E + "11.2.36.1.1.5.1.1.3.1", 5, "system_state", "fail"),
        ("storever-msl", E + "11.2.36.1.1.5.1.1.3.1", 3, "system_state", "pass"),
        ("scalar", E + "3764.1.1.20.1.0", 4, "system_state", "warn"),
        ("scalar", E + "3764.1.10.10.12.3.0", 2, "controllers", "fail"),
        ("quantum-small", E + "3697.1.10.10.1.15.10.4.0", 6, "controller_interconnect", "error"),
        ("quantum-small", E + "3697.1.10.10.1.15.10.4.0", 1, "controller_interconnect", "pass"),
        ("storagetek-sl150", E + "1211.1.15.4.10.1.8.1", 1, "system_state", "fail"),
        ("storagetek-sl150", E + "1211.1.15.4.2.1.26.1", 0, "controller_interconnect", "pass"),
        ("mds", MODULE + "22", 2, "controllers", "pass"),
        ("mds", MODULE + "22", 7, "controllers", "fail"),
        ("mds", MODULE + "22", 13, "controllers", "skip"),
        ("mds", E + "9.9.117.1.1.2.1.2.470", 5, "system_state", "fail"),
        ("mds", E + "9.9.117.1.4.1.1.1.534", 4, "system_state", "warn"),
    )
    def test_status(self, judge, name, oid, value, check, status):
        finding = only(judge(database_host(agent(name, **rows({oid: value}))))[check])
        assert finding.status == status
        if status in ("pass", "warn", "fail"):
            assert sum(finding.values.values()) == 1 and "MIB" in finding.reference

    @cases("value status", (13, "pass"), (2, "warn"), (11, "warn"), (12, "fail"))
    def test_a_volume_counts_beside_what_the_system_says_of_itself(self, judge, value, status):
        volume = rows({E + "6574.3.1.1.3.0": value})
        finding = only(judge(database_host(agent("synology", **volume)))["system_state"])
        assert (finding.status, finding.values["good"]) == (status, 2 if status == "pass" else 1)

    def test_the_worst_row_counts_and_is_named(self, judge):
        table = {EQL_DISK + "1": 1, EQL_DISK + "2": 9, EQL_DISK + "3": 4, EQL_DISK + "4": 99}
        finding = only(judge(database_host(agent("equallogic", **rows(table))))["disks"])
        assert finding.status == "fail"
        assert finding.running.startswith("disks 1.7.2: unhealthy, disks 1.7.3: off-line")
        assert finding.values == {"bad": 1, "warn": 1, "good": 1}
        assert "Some states could not be determined" in finding.why

    @cases(
        "name good bad check status",
        ("synology", E + "6574.2.1.1.5.0", {E + "6574.2.1.1.13.0": 4}, "disks", "fail"),
        ("netapp-7mode", CF, {NETAPP + "2.3.2.0": 3}, "controllers", "warn"),
        ("netapp-7mode", CF, {NETAPP + "2.3.2.0": 4}, "controllers", "fail"),
        ("netapp-7mode", CF, {NETAPP + "2.3.4.0": 3}, "controllers", "fail"),
        ("compellent", SC + "14.1.3.9", {SC + "14.1.5.9": 2}, "disks", "fail"),
        ("compellent", SC + "6.0", {SC + "21.1.3.1.1": 2}, "system_state", "fail"),
        ("synology", E + "6574.1.3.0", {E + "6574.1.4.1.0": 2}, "system_state", "fail"),
    )
    def test_a_bad_object_beside_a_good_one_is_no_pass(self, judge, name, good, bad, check, status):
        value = {CF: 2, SC + "6.0": 3}.get(good, 1)
        finding = only(judge(database_host(agent(name, **rows({good: value, **bad}))))[check])
        assert finding.status == status

    @cases("states", (1, 0, 0), (0, 0, 0))
    def test_ports_without_a_link_are_no_pass_and_no_skip(self, judge, states):
        table = {f"{HUAWEI}19.8.11.1.3.{at}": state for at, state in enumerate(states, 1)}
        finding = only(
            judge(database_host(agent("oceanstor", **rows(table))))["controller_interconnect"]
        )
        assert (finding.status, finding.values["warn"]) == ("warn", states.count(0))
        assert "link down" in finding.running

    @cases(
        "word status",
        ("ONLINE", "pass"),
        ("DEGRADED", "warn"),
        ("FAULTED", "fail"),
        ("SUSPENDED", "error"),
    )
    def test_a_pool_of_truenas(self, judge, word, status):
        nas = agent("truenas-scale", **rows({E + "50536.1.1.1.1.3.2": word}))
        assert only(judge(database_host(nas))["system_state"]).status == status

    @cases("number status", (0, "pass"), (1, "warn"), *((bad, "fail") for bad in range(2, 6)))
    @cases("product", "TrueNAS", "FreeNAS")
    def test_a_pool_of_an_older_truenas(self, judge, product, number, status):
        pool = E + "50536.1.1.1.1."
        table = {pool + "2.1": "tank", pool + "3.1": 4096, pool + "7.1": number, pool + "15.1": 0}
        nas = agent("says-nothing", **rows(table))
        if product == "TrueNAS":
            nas.rows[key_of("1.3.6.1.2.1.1.2.0")] = ("6", E + "50536.3.2")
        else:
            # FreeNAS 9 to 11.2: net-snmp's own sysObjectID, and the machine in sysDescr.
            nas.rows[key_of("1.3.6.1.2.1.1.2.0")] = ("6", E + "8072.3.2.8")
            text = (
                "Hardware: amd64 Intel(R) Xeon(R) CPU running at 2000 Software: FreeBSD 11.1-STABLE"
            )
            nas.rows[key_of("1.3.6.1.2.1.1.1.0")] = ("4", text)
        assert only(judge(database_host(nas))["system_state"]).status == status

    def test_the_space_of_a_newer_truenas_is_that_of_its_file_systems(self, judge):
        table = {
            HR + "2.1": "1.3.6.1.2.1.25.2.1.4", HR + "3.1": "/export/u02", HR + "4.1": 4096,
            HR + "5.1": 26214400, HR + "6.1": 1000,
        }  # fmt: skip
        nas = agent("truenas-scale", **rows(table))
        nas.rows[key_of(HR + "2.1")] = ("6", "1.3.6.1.2.1.25.2.1.4")
        finding = only(judge(database_host(nas))["space"])
        assert (finding.status, "/export/u02" in finding.running) == ("pass", True)

    def test_a_filer_without_a_partner_is_not_judged_by_it(self, judge):
        alone = {CF: 1, NETAPP + "2.3.2.0": 1, NETAPP + "2.3.4.0": 3}
        finding = only(judge(database_host(agent("netapp-7mode", **rows(alone))))["controllers"])
        assert finding.status == "skip"
        assert finding.why == "Not available: the agent reports not configured."

    def test_each_node_of_a_cluster_is_judged_by_its_own_row(self, judge):
        ha = NETAPP + "21.2.1."
        table = {ha + "4.1": 1, ha + "10.1": 1, ha + "4.2": 2, ha + "10.2": 4}
        cluster = agent("ontap-cluster", **rows(table))
        assert only(judge(database_host(cluster))["controllers"]).status == "pass"
        cluster.rows[key_of(ha + "4.2")] = ("2", "4")
        assert only(judge(database_host(cluster))["controllers"]).status == "fail"

    def test_limits_are_the_policy_s(self, judge):
        host = database_host(agent("netapp-7mode", **rows({FAILED: 2, REBUILT: 1})))
        findings = judge(host, failed_disks_limit=2, rebuilding_limit=1)
        assert only(findings["disks"]).status == "pass"
        assert only(findings["rebuild"]).status == "pass"
        findings = judge(host, failed_disks_limit=1)
        assert only(findings["disks"]).status == "fail"
        assert "storage_type_failed_disks_limit" in only(findings["disks"]).fix

    def test_what_the_mib_does_not_have_is_not_available(self, judge):
        findings = judge(database_host(Agent.of("flasharray")))
        for check in PARTS:
            finding = only(findings[check])
            assert (finding.status, "Not available" in finding.why) == ("skip", True)

    def test_what_the_agent_does_not_have_is_not_available(self, judge):
        filer = agent("netapp-7mode")
        for oid in (SYSTEM, FAILED, REBUILT, CF, LINK, BATTERY):
            filer.rows.pop(key_of(oid), None)
        findings = judge(database_host(filer))
        for check in PARTS:
            assert only(findings[check]).status == "skip"

    def test_of_an_unknown_product_nobody_knows(self, judge):
        finding = only(judge(database_host(Agent.of("says-nothing")))["disks"])
        assert (finding.status, "No definition" in finding.why) == ("skip", True)

    @cases("name", "netapp-7mode", "equallogic")
    def test_what_does_not_answer_is_an_error(self, judge, name):
        filer = silent_where(
            lambda argv: argv[0] == "snmpbulkwalk" or FAILED in argv, Agent.of(name)
        )
        assert only(judge(database_host(filer))["disks"]).status == "error"

    def test_of_a_device_of_the_user_s_own(self, judge):
        disks = {"part": "disks", "at": "e.99999.4.1.2.", "source": "ACME-STORAGE-MIB diskState"}
        disks |= {"good": {"1": "ok"}, "bad": {"3": "failed"}, "none": {"0": "empty"}}
        mine = {"vendor": "ACME", "product": "Frobnicator", "role": "san"}
        mine |= {"known_by": [{"object_id": "e.99999.1"}], "health": [disks]}
        mine["source"] = "ACME-STORAGE-MIB"
        column = E + "99999.4.1.2."
        device = agent("says-nothing", **rows({column + "1": 1, column + "2": 3, column + "3": 0}))
        device.rows[key_of("1.3.6.1.2.1.1.2.0")] = ("6", E + "99999.1")
        findings = judge(database_host(device), definitions=[mine])
        disks = only(findings["disks"])
        assert (disks.status, disks.running) == ("fail", "disks 2: failed, disks 1: ok")
        assert disks.reference == "ACME-STORAGE-MIB diskState"
        assert only(findings["battery"]).status == "skip"


def interfaces(received: int, sent: int, uptime: int = 1000) -> Agent:
    table = {
        "1.3.6.1.2.1.1.3.0": uptime,
        **{f"{IF}2.{n}": name for n, name in ((1, "e0a"), (2, "e0b"))},
        **{f"{IF}13.1": received, f"{IF}13.2": 7, f"{IF}19.1": sent, f"{IF}19.2": 0},
    }
    return agent("synology", **rows(table))


class TestDiscards:
    def after(self, before: Agent, after: Agent) -> Filers:
        host = database_host(before)
        host.later[f"udp:{ADDRESS}:161"] = after
        return host

    @cases("received sent status", (5, 5, "pass"), (6, 5, "warn"), (5, 9, "warn"))
    def test_only_the_difference_counts(self, judge, received, sent, status):
        host = self.after(interfaces(5, 5), interfaces(received, sent, 1250))
        finding = only(judge(host)["discards"])
        assert finding.status == status and "within 2.5 s" in finding.running
        assert host.paused == 10

    def test_counter_that_starts_again_at_zero(self, judge):
        host = self.after(interfaces(2**32 - 1, 0), interfaces(1, 0, 1100))
        assert "e0a: 2 received" in only(judge(host)["discards"]).running

    def test_interfaces_of_one_name_are_two(self, judge):
        before, after = interfaces(0, 0), interfaces(9, 0, 1100)
        for device in (before, after):
            device.rows[(1, 3, 6, 1, 2, 1, 2, 2, 1, 2, 2)] = ("4", "e0a")
        finding = only(judge(self.after(before, after))["discards"])
        assert finding.status == "warn" and "on 2 interfaces" in finding.running

    def test_limit_is_the_policy_s(self, judge):
        host = self.after(interfaces(0, 0), interfaces(3, 0, 1100))
        assert only(judge(host, discards_limit=3)["discards"]).status == "pass"

    def test_agent_that_was_restarted_is_an_error(self, judge):
        host = self.after(interfaces(5, 5, 1000), interfaces(0, 0, 10))
        assert only(judge(host)["discards"]).status == "error"

    def test_without_a_second_reading_there_is_no_verdict(self, judge):
        host = database_host(interfaces(5, 5))
        assert only(judge(host, window_seconds=0)["discards"]).status == "skip" and host.paused == 0


class TestLoad:
    @cases(
        "table status text",
        ({E + "789.1.2.1.3.0": 79}, "pass", "79 percent"),
        ({E + "789.1.2.1.3.0": 80}, "warn", "80 percent"),
        ({E + "2021.11.11.0": 5}, "warn", "95 percent"),
        (
            {f"1.3.6.1.2.1.25.3.3.1.2.{n}": load for n, load in ((1, 10), (2, 30))},
            "pass",
            "20 percent",
        ),
        ({E + "2021.11.11.0": -900}, "skip", None),
        ({}, "skip", None),
    )
    def test_status(self, judge, table, status, text):
        finding = only(judge(database_host(agent("synology", **rows(table))))["cpu_busy"])
        assert (finding.status, finding.running) == (status, text)


class TestOffline:
    @cases("name", "zfs-7420", "netapp-7mode", "truenas-core", "linux-nfs")
    def test_a_recording_is_judged_alike(self, judge, name):
        host = database_host(Agent.of(name))
        live = judge(host)
        assert judge(RecordedHost(host.evidence)) == live

    def test_a_recording_needs_no_credentials(self, judge):
        host = database_host(Agent.of("zfs-7420"))
        live = judge(host, snmp_credentials={"default": {"version": "3", "user": "monitor"}})
        assert judge(RecordedHost(host.evidence)) == live

    @cases("error", "denied", "unanswered", "absent")
    def test_nothing_gets_better_by_knowing_less(self, judge, error):
        host = database_host(Agent.of("zfs-7420"))
        before = {
            check: {finding.status for finding in all_of} for check, all_of in judge(host).items()
        }
        for key in list(host.evidence):
            spoilt = dict(host.evidence, **{key: {"kind": "command", "error": error}})
            for check, all_of in judge(RecordedHost(spoilt)).items():
                better = [finding for finding in all_of if finding.status == "pass"]
                assert not better or "pass" in before[check], (key, check)


class TestPolicy:
    @cases(
        "changes message",
        ({"snmp_port": 0}, "storage_type_snmp_port must be 1 to 65535, not 0"),
        ({"snmp_timeout": 0}, "storage_type_snmp_timeout must be 0.1 to 60, not 0"),
        (
            {"space_warn_percent": 95, "space_fail_percent": 90},
            "storage_type_space_fail_percent must not be below",
        ),
        ({"media": ["ssd"]}, "storage_type_media must be a dictionary"),
        ({"media": {"a": "tape"}}, "storage_type_media must be a dictionary"),
        ({"media": {"a": ["ssd"]}}, "storage_type_media must be a dictionary"),
        ({"snmp_agent_timeout": 0}, "storage_type_snmp_agent_timeout must be 1 to 3600"),
        ({"trace_dir": "diag"}, "storage_type_trace_dir must be a whole path"),
        ({"addresses": "filer"}, "storage_type_addresses must be a list of addresses"),
        ({"addresses": ["-oProxy"]}, "'-oProxy' is not a hostname or IP address"),
        ({"addresses": ["a b"]}, "is not a hostname or IP address"),
        ({"addresses": ["a", "a"]}, "storage_type_addresses lists a twice"),
        ({"addresses": ["a", "a:161"]}, "storage_type_addresses lists a twice"),
        ({"addresses": ["a:1161", "a:1161"]}, "storage_type_addresses lists a:1161 twice"),
        (
            {"addresses": ["a:1161", {"address": "a", "port": 1161}]},
            "storage_type_addresses lists a:1161 twice",
        ),
        ({"addresses": ["a:b"]}, "'a:b' is not a hostname or IP address"),
        ({"addresses": ["a:99999"]}, "a:99999: port must be 1 to 65535"),
        ({"addresses": ["a:-1"]}, "a:-1: port must be 1 to 65535"),
        ({"addresses": [{"address": "a:1161", "port": 1}]}, "a:1161: the port is set twice"),
        ({"addresses": [{"port": 1}]}, "must be an address, or a dictionary with address"),
        ({"addresses": [{"address": "a", "port": 70000}]}, "a: port must be 1 to 65535"),
        (
            {"addresses": [{"address": "a", "credentials": "x"}]},
            "storage_type_addresses a: the named credentials do not exist",
        ),
        ({"snmp_credentials": []}, "storage_type_snmp_credentials must be a dictionary"),
        ({"snmp_credentials": {}}, "must have the name default"),
    )
    def test_what_is_wrong_is_told(self, changes, message):
        with pytest.raises(PolicyError) as problem:
            storage_type.policy_from(policy(**changes))
        assert message in str(problem.value)

    @cases(
        "text address port",
        ("filer1", "filer1", None),
        ("filer1:1161", "filer1", 1161),
        ("10.0.0.5:1161", "10.0.0.5", 1161),
        ("fd00::5", "fd00::5", None),
        ("[fd00::5]", "fd00::5", None),
        ("[fd00::5]:1161", "fd00::5", 1161),
        ("fe80::1%eth0", "fe80::1%eth0", None),
    )
    def test_an_address_may_be_written_with_its_port(self, text, address, port):
        (read,) = storage_type.policy_from(policy(addresses=[text])).addresses
        assert (read.address, read.port) == (address, port)

    @cases(
        "how message",
        ({"version": "2"}, "version must be one of 1, 2c, 3"),
        ({"version": "2c"}, "version 2c needs community"),
        ({"community": SECRET, "user": "u"}, "user needs version 3"),
        ({"community": SECRET + "\n"}, "community holds a control character"),
        ({"comunity": SECRET}, "has unknown comunity"),
        ({"version": "3"}, "version 3 needs user"),
        ({"version": "3", "user": "u", "community": SECRET}, "community is for version 1"),
        ({"version": "3", "user": "u", "auth_passphrase": "short"},
         "auth_passphrase must have at least 8 characters"),
        ({"version": "3", "user": "u", "level": "authPriv", "auth_passphrase": SECRET},
         "priv_passphrase must have"),
        ({"version": "3", "user": "u", "level": "noAuthNoPriv", "auth_passphrase": SECRET},
         "level noAuthNoPriv uses no auth_passphrase"),
        ({"version": "3", "user": "u", "auth_passphrase": SECRET, "auth_protocol": "X"},
         "auth_protocol must be one of"),
        ({"version": "3", "user": "u", "level": "high"}, "level must be one of"),
    )  # fmt: skip
    def test_wrong_credentials_are_told_without_them(self, how, message):
        with pytest.raises(PolicyError) as problem:
            storage_type.policy_from(policy(snmp_credentials={"default": how}))
        assert f"storage_type_snmp_credentials default: {message}" in str(problem.value)
        assert SECRET not in str(problem.value)

    def test_quotes_and_backslashes_reach_the_tool_as_they_are(self, judge):
        host = database_host(Agent.of("linux"))
        judge(host, snmp_credentials={"default": {"community": 'a "b" \\c'}})
        assert host.asked[0].secret.text == 'defCommunity "a \\"b\\" \\\\c"\n'

    def test_secrets_come_packed(self):
        assert audit.unpack("storage_type", "eyJjcmVkZW50aWFscyI6IHt9fQ==") == {"credentials": {}}
        for wrong in ("{}", "####", "WzFd"):
            with pytest.raises(PolicyError) as problem:
                audit.unpack("storage_type", wrong)
            assert wrong not in str(problem.value)


def test_it_plans_nothing():
    plan = planner("storage_type")(None, None)
    assert not (plan.changes or plan.refusals or plan.pending or plan.at_boot)


def test_a_missing_object_is_not_taken_for_an_answer():
    assert NO_SUCH not in json.dumps(list(Agent.of("linux").rows.values()))


class Late(Filers):
    """Keeps how long each question may take."""

    def __init__(self) -> None:
        super().__init__()
        self.longest: list[float] = []

    def run_with_secret(self, key: str, argv: list[str], secret: Any, timeout: float = 20.0):
        self.longest.append(timeout)
        if timeout <= 0:
            raise Unanswered(key, "not asked: the time for it was over before")
        return super().run_with_secret(key, argv, secret, timeout)


class TestHalfDead:
    """An agent that answers some requests costs two timeouts, each with its tries, and no more."""

    @cases("name", "netapp-7mode", "synology", "compellent", "zfs-7420", "linux")
    @cases("answered", 1, 2, 3, 5, 8)
    def test_it_is_given_up_after_two_timeouts(self, judge, name, answered):
        class HalfDead(Agent):
            left, timeouts = answered, 0

            def reply(self, argv: list[str]) -> tuple[int, str, str]:
                if self.left:
                    self.left -= 1
                    return super().reply(argv)
                self.timeouts += 1
                return 1, "", "Timeout: No Response from x.\n"

        host = Late().like(database_host())
        host.longest = []
        half = HalfDead.of(name)
        host.agent(ADDRESS, half)
        findings = judge(host)
        assert half.timeouts <= snmp.Patience.MOST_TIMEOUTS
        waits = [wait for wait in host.longest if wait > 0]
        assert len(waits) == answered - half.left + half.timeouts
        if half.timeouts:
            assert only(findings["cpu_busy"]).status in ("error", "skip")
        if answered < 4:
            assert only(findings["hcc"]).status != "pass"

    def test_a_table_that_breaks_off_counts_too(self):
        patience = snmp.Patience(60, snmp.Deadline(60))
        torn = Agent.of("netapp-7mode")
        host = Late().agent(ADDRESS, torn)
        target = snmp.Target(ADDRESS, 161, snmp.Credentials("2c", "public"), 2, 1, patience)
        reply = torn.reply
        torn.reply = lambda argv: (1, reply(argv)[1], "Timeout: No Response from x\n")
        for number in range(5):
            attempt(snmp.walk, host, target, f"volumes {number}", E + "789.1.5.4.1.2")
        assert len(host.asked) == 2
        assert "2 requests timed out" in patience.why_over()


class TestDeadline:
    """One agent that answers slowly has its time, and so have all agents together."""

    def ask(self, patience: snmp.Patience) -> tuple[Late, Any]:
        host = Late().agent(ADDRESS, Agent.of("netapp-7mode"))
        target = snmp.Target(ADDRESS, 161, snmp.Credentials("2c", "public"), 2, 1, patience)
        return host, attempt(snmp.walk, host, target, "volumes", E + "789.1.5.4.1.2")

    def test_a_question_gets_what_is_left(self):
        patience = snmp.Patience(60, snmp.Deadline(3600))
        host, _answer = self.ask(patience)
        assert host.longest == [pytest.approx(60, abs=1)]
        patience.spend(50)
        host, answer = self.ask(patience)
        assert host.longest[0] <= 10
        assert isinstance(answer, dict)

    @cases(
        "spent all_seconds words",
        (60, 3600, "its answers took longer than the limit of 60 s per agent"),
        (0, 0, "the limit of 0 s for all agents is exceeded"),
    )
    def test_then_nothing_more_is_asked(self, spent, all_seconds, words):
        patience = snmp.Patience(60, snmp.Deadline(all_seconds))
        patience.spend(spent)
        host, answer = self.ask(patience)
        assert host.longest == [0] and host.asked == []
        assert isinstance(answer, snmp.NoAnswer) and answer.hopeless and words in str(answer)

    def test_time_between_two_readings_is_nobody_s(self):
        deadline = snmp.Deadline(0)
        deadline.put_off(100)
        assert deadline.left() > 99

    def test_a_real_host_does_not_start_what_has_no_time(self, tmp_path):
        ran = tmp_path / "ran"
        with pytest.raises(Unanswered, match="not asked"):
            LiveHost().run_with_secret(
                "snmp:x probe", ["touch", str(ran)], Secret("snmp.conf", "", ()), 0
            )
        assert not ran.exists()

    def test_what_was_not_asked_is_an_error(self, judge):
        class Slow(Filers):
            """Each answer takes as long as it may: nobody waits any longer then."""

            def run_with_secret(self, key: str, argv: list[str], secret: Any, timeout: float = 20):
                if "volumes" in key or "discards" in key:
                    raise Unanswered(key, "timed out")
                return super().run_with_secret(key, argv, secret, timeout)

        findings = judge(Slow().like(database_host(Agent.of("netapp-7mode"))))
        assert only(findings["space"]).status == only(findings["discards"]).status == "error"


class TestCutShort:
    """What a tool shows of a walk that did not end well (tests/snmp has real agents)."""

    TABLE = "1.3.6.1.4.1.789.1.5.4.1.2"

    @cases(
        "rc more errors words",
        (1, "", "Timeout: No Response from udp:10.0.0.5:161.\n", "Timeout"),
        (2, "", "Error in packet.\nReason: (genError) A general failure\n", "genError"),
        (1, "", "Error: OID not increasing: .1.3.6.1\n", "not increasing"),
        (0, f".{TABLE}.9 = INTEGER: 4", "", "in the middle of a line"),
        (0, f".{TABLE}.1 = {PAST_END}\n", "", "reported the end of its tree, but has more"),
        (3, "", "", "the tool ended with 3"),
    )
    def test_half_a_table_is_none(self, judge, rc, more, errors, words):
        class Cut(Agent):
            def reply(self, argv: list[str]) -> tuple[int, str, str]:
                if argv[-1] != TestCutShort.TABLE or argv[0] != "snmpbulkwalk":
                    return super().reply(argv)
                return rc, super().reply(argv)[1] + more, errors

        filer = Cut({})
        filer.rows = df(a_1=10, v=20).rows
        finding = only(judge(database_host(filer))["space"])
        assert (finding.status, words in finding.why) == ("error", True), finding.why

    def test_the_true_end_of_a_tree_is_an_end(self, judge):
        class Last(Agent):
            def reply(self, argv: list[str]) -> tuple[int, str, str]:
                code, output, errors = super().reply(argv)
                if argv[0] == "snmpbulkwalk" and f".{argv[-1]}." in output:
                    output += f".{argv[-1]} = {PAST_END}\n"
                if argv[0] == "snmpgetnext" and argv[-1] == "1.3.6.1.6":
                    output = "".join(f".{oid} = {PAST_END}\n" for oid in argv[-2:])
                return code, output, errors

        filer = Last({})
        filer.rows = df(a_1=10, v=20).rows
        assert only(judge(database_host(filer))["space"]).status == "pass"
        # Where nothing more tells, the rows of the table do.
        del filer.rows[key_of(f"{E}789.1.5.4.1.30.2")]
        assert only(judge(database_host(filer))["space"]).status == "error"

    def test_a_clock_that_stands_still_gives_no_rate(self, judge):
        host = database_host(interfaces(5, 5))
        host.later[f"udp:{ADDRESS}:161"] = interfaces(900, 5)
        finding = only(judge(host)["discards"])
        assert (finding.status, "did not advance" in finding.why) == ("error", True)

    def test_an_interface_that_the_second_reading_lacks(self, judge):
        host = database_host(interfaces(5, 5))
        later = interfaces(5, 5, 1250)
        for column in (2, 13, 19):
            del later.rows[key_of(f"{IF}{column}.2")]
        host.later[f"udp:{ADDRESS}:161"] = later
        assert only(judge(host)["discards"]).status == "error"


class TestUnknownProduct:
    def test_its_health_is_judged(self, judge):
        rows_of_it = {"1.3.6.1.2.1.1.2.0": ("6", E + "99999.1")}
        filer = interfaces(5, 5)
        filer.rows.update({key_of(oid): row for oid, row in rows_of_it.items()})
        filer.rows = {
            key: row for key, row in filer.rows.items()
            if ".".join(map(str, key)).startswith(("1.3.6.1.2.1.1.2.0", "1.3.6.1.2.1.1.3.0", IF))
        }  # fmt: skip
        host = database_host(filer)
        host.later[f"udp:{ADDRESS}:161"] = Agent({})
        host.later[f"udp:{ADDRESS}:161"].rows = dict(filer.rows) | {
            key_of("1.3.6.1.2.1.1.3.0"): ("67", "1250"),
            key_of(f"{IF}13.1"): ("2", "500"),
        }
        findings = judge(host)
        identified = only(findings["identified"])
        assert (identified.status, "unknown" in str(identified.running)) == ("error", True)
        assert only(findings["discards"]).status == "warn"


class TestLayout:
    """What the messages of a filer say of fragments; the texts are in tests/fixtures/ontap_ems."""

    LOG = "/var/log/netapp/filer1.log"
    VALUE = (
        "Thu Jul  7 03:32:20 EDT [X: wafl.reallocate.check.value:info]: Allocation measurement "
        "check on '/vol/u02/lun' is {0}.\n"
    )
    HIGH = (
        "[filer: wafl_scan_worker: wafl.reallocate.check.high:info]: Allocation check on "
        "'/vol/u02' is {0}, hotspot 19 (threshold {1}), so will reallocate.\n"
    )

    def one(self, judge: Judge, text: str | None, media: str | None = "hdd") -> Finding:
        host = plain_host()
        if text is not None:
            host.file(self.LOG, text)
        logs = [{"file": self.LOG, "address": "192.0.2.10"}]
        known = {"192.0.2.10": media} if media else {}
        return only(judge(host, ems_logs=logs, media=known)["layout"])

    @cases(
        "text media status",
        (VALUE.format(3), "hdd", "pass"),
        (VALUE.format(4), "hdd", "warn"),
        (VALUE.format(9) + VALUE.format(3), "hdd", "pass"),
        (HIGH.format(6, 4), "hdd", "warn"),
        # A small part that lies far worse is enough for the filer to say so.
        (HIGH.format(2, 3), "hdd", "warn"),
        (HIGH.format(6, 7) + VALUE.format(3).replace("/lun", ""), "hdd", "pass"),
        (VALUE.format(3) + VALUE.format("many"), "hdd", "error"),
        (VALUE.format(3).replace(".value:", ".other:"), "hdd", "error"),
        # Flash has no heads to move.
        (HIGH.format(10, 4), "ssd", "skip"),
        # Where nothing lies in fragments it does not matter what it is made of.
        (VALUE.format(3), None, "pass"),
        (HIGH.format(6, 4), None, "error"),
        ("", "hdd", "skip"),
        (None, "hdd", "error"),
    )
    def test_each_status(self, judge, text, media, status):
        assert self.one(judge, text, media).status == status

    def test_says_what_and_what_to_do(self, judge):
        finding = self.one(judge, self.HIGH.format(6, 4))
        assert "/vol/u02 6, reported as high (3 is good, 10 is worst)" in str(finding.why)
        assert "only if the file is read sequentially" in str(finding.fix)

    def test_without_a_log(self, judge):
        finding = only(judge(plain_host())["layout"])
        assert finding.status == "skip" and "storage_type_ems_logs is empty" in str(finding.why)

    def test_an_agent_that_was_asked_tells_the_media(self, judge):
        host = database_host(Agent.of("netapp-7mode"))
        logs = [{"file": self.LOG, "address": ADDRESS}]
        host.file(self.LOG, self.HIGH.format(6, 4))
        assert only(judge(host, ems_logs=logs)["layout"]).status == "warn"


class TestConsole:
    """Saved output of vol options and df -Ag; its first form is that of the article."""

    FILE = "/var/log/netapp/filer1.txt"
    TEXT = (FIXTURES / "ontap_console/seed-7.3.2.txt").read_text()
    OPTIONS = "X> vol options u02\nminra={0}, read_realloc={1}\n"

    def found(
        self, judge: Judge, text: str | None, media: str = "hdd", ems: str = "", **policy: int
    ) -> Any:
        host = plain_host()
        if text is not None:
            host.file(self.FILE, text)
        logs = []
        if ems:
            host.file(TestLayout.LOG, ems)
            logs = [{"file": TestLayout.LOG, "address": "192.0.2.10"}]
        files = [{"file": self.FILE, "address": "192.0.2.10"}]
        known = {"192.0.2.10": media} if media else {}
        return judge(host, console_files=files, ems_logs=logs, media=known, **policy)

    HIGH = TestLayout.HIGH.format(6, 4)

    @cases(
        "text media ems status",
        (TEXT, "hdd", "", "pass"),
        (OPTIONS.format("on", "off"), "hdd", "", "warn"),
        (OPTIONS.format("on", "off"), "ssd", "", "warn"),
        (OPTIONS.format("off", "off"), "hdd", HIGH, "warn"),
        (OPTIONS.format("off", "on"), "hdd", HIGH, "pass"),
        (OPTIONS.format("off", "space_optimized"), "hdd", HIGH, "pass"),
        (OPTIONS.format("off", "off"), "ssd", HIGH, "pass"),
        (OPTIONS.format("off", "off"), "hdd", TestLayout.VALUE.format(3), "pass"),
        # Nobody knows whether it is on disks, where fragments count.
        (OPTIONS.format("off", "off"), "", HIGH, "error"),
        # A volume whose name only begins alike.
        (OPTIONS.replace("u02", "u0").format("off", "off"), "hdd", HIGH, "pass"),
        ("X> vol options u02\nread_realloc=off\n", "hdd", "", "error"),
        ("X> df -Ag\nAggregate total used avail capacity\na 1GB 0GB 1GB 3%\n", "hdd", "", "skip"),
        ("nothing", "hdd", "", "error"),
        (None, "hdd", "", "error"),
    )
    def test_read_ahead(self, judge, text, media, ems, status):
        finding = only(self.found(judge, text, media, ems)["read_ahead"])
        assert finding.status == status
        if status == "warn":
            assert "on the filer: vol options u02 " in str(finding.fix)

    @cases(
        "percent media policy status",
        (61, "hdd", {}, "pass"),
        (84, "hdd", {}, "pass"),
        (85, "hdd", {}, "warn"),
        (90, "hdd", {}, "fail"),
        (89, "ssd", {}, "pass"),
        (98, "ssd", {}, "fail"),
        (85, "", {}, "warn"),
        (61, "hdd", {"space_warn_percent": 60}, "warn"),
        (61, "hdd", {"space_warn_percent": 50, "space_fail_percent": 60}, "fail"),
    )
    def test_aggregates(self, judge, percent, media, policy, status):
        text = self.TEXT.replace("61%", f"{percent}%")
        finding = only(self.found(judge, text, media, **policy)["aggregates"])
        assert (finding.status, finding.values["fullest"]) == (status, percent)
        assert f"aggr_used {percent} % (668GB of 1102GB)" in str(finding.running)

    DF = (FIXTURES / "ontap_console/seed-7.3.2-df-g.txt").read_text()
    SHOW = (FIXTURES / "ontap_console/ontap-9-volume-show.txt").read_text()

    @cases(
        "text media policy status",
        (DF, "hdd", {}, "pass"),
        (DF.replace("40%", "69%"), "hdd", {}, "pass"),
        (DF.replace("40%", "70%"), "hdd", {}, "warn"),
        (DF.replace("40%", "97%"), "hdd", {}, "warn"),
        (DF.replace("40%", "97%"), "", {}, "warn"),
        (DF.replace("40%", "97%"), "ssd", {}, "pass"),
        (DF.replace("40%", "98%"), "ssd", {}, "warn"),
        (DF.replace("40%", "75%"), "hdd", {"space_warn_percent": 80}, "pass"),
        (DF.replace("40%", "85%"), "hdd", {"space_warn_percent": 80}, "warn"),
        # Without a prompt; in other units; of ONTAP 9; beside other commands.
        (DF.replace("X> df -g full_aggr_test\n", "").replace("40%", "90%"), "hdd", {}, "warn"),
        ((FIXTURES / "ontap_console/7-mode-df-h.txt").read_text(), "hdd", {}, "warn"),
        (SHOW, "", {}, "pass"),
        (SHOW.replace("9.50GB    0%", "0.30GB   97%", 1), "", {}, "warn"),
        (TEXT + DF.replace("40%", "97%"), "hdd", {}, "warn"),
        (TEXT, "hdd", {}, "skip"),
        (DF.replace("40%", "many"), "hdd", {}, "error"),
        (None, "hdd", {}, "error"),
    )
    def test_space(self, judge, text, media, policy, status):
        finding = only(self.found(judge, text, media, **policy)["space"])
        assert finding.status == status and finding.title.startswith("192.0.2.10 (file): ")
        if status == "warn":
            assert str(finding.fix).startswith("enlarge ")

    def test_root_volumes_are_full_by_design(self, judge):
        text = self.DF.replace("full_aggr_test", "vol0").replace("40%", "99%")
        assert only(self.found(judge, text)["space"]).status == "skip"

    def test_without_a_file(self, judge):
        findings = judge(plain_host())
        for check in ("read_ahead", "aggregates"):
            finding = only(findings[check])
            assert finding.status == "skip"
            assert "storage_type_console_files is empty" in str(finding.why)

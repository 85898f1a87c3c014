"""Every check of listener_rate_limit in every status, and what stays unknown."""

import re
from collections.abc import Callable
from typing import Any

import listener_packs
import pytest
from ansible.module_utils.hostproof.collect.host import Host, RecordedHost
from ansible.module_utils.hostproof.controls.listener_rate_limit.control import (
    CONTROL as listener_rate_limit,
)
from ansible.module_utils.hostproof.controls.process_limits.facts import SHOW_MANAGER
from ansible.module_utils.hostproof.errors import PolicyError
from ansible.module_utils.hostproof.evaluate.finding import Finding
from cases import cases
from listener_packs import (
    ADMIN,
    AGENT,
    ESTABLISH,
    FILE,
    GRID,
    HOME,
    LIMITED,
    LISTENER_ORA,
    LOG,
    OPEN,
    REACHED,
    linux,
    ready_host,
    wants,
)

Judge = Callable[..., dict[str, list[Finding]]]
CHECKS = [check.id.removeprefix("listener_rate_limit.") for check in listener_rate_limit.checks]


@pytest.fixture
def judge(findings_of) -> Judge:
    """judge(host, **changes of the policy): findings by check."""
    return lambda host, **changes: findings_of(
        "listener_rate_limit", host, listener_packs.listener_policy(**changes)
    )


@pytest.fixture
def one(judge) -> Callable[..., Finding]:
    """one(check, host, **changes of the policy): the only finding of the check."""

    def judge_one(check: str, host: Host, **changes: Any) -> Finding:
        (finding,) = judge(host, **changes)[check]
        return finding

    return judge_one


class TestAll:
    def test_host_that_is_ready(self, judge):
        findings = judge(ready_host(), **wants())
        assert list(findings) == CHECKS
        assert {name: finding.status for name, (finding,) in findings.items()} == dict.fromkeys(
            CHECKS, "pass"
        )

    def test_auto_without_a_limit(self, judge):
        findings = judge(linux().listener(OPEN).socket(1521, 128))
        assert {finding.status for (finding,) in findings.values()} == {"pass", "skip"}
        skipped = {name for name, (finding,) in findings.items() if finding.status == "skip"}
        assert skipped == {
            "lost_connections",
            "valid_nodes",
            "rate",
            "rate_enabled",
            "one_rate",
            "drain_time",
            "version",
            "delayed",
        }

    def test_host_without_a_listener(self, judge):
        machine = linux()
        findings = judge(machine)
        assert list(findings) == CHECKS
        assert {finding.status for (finding,) in findings.values()} == {"skip"}
        assert not [key for key in machine.evidence if key.startswith("sample:")]

    def test_recorded_as_live(self, judge):
        machine = ready_host()
        live = judge(machine, **wants())
        assert judge(RecordedHost(machine.evidence), **wants()) == live

    def test_two_listeners_of_one_name(self, judge):
        other = "/u01/app/oracle/product/12.2.0/dbhome_1"
        machine = ready_host().listener(
            OPEN.replace("1521", "1522"), home=other, pid=4002, release="12.2.0.1.0"
        )
        findings = judge(machine, listeners=[{"name": "listener", "home": other, "rate": 5}])
        (finding,) = findings["rate"]
        assert finding.status == "fail" and finding.title.startswith(f"LISTENER ({other}): ")

    def test_every_unreadable_fact_is_an_error_or_skips_for_a_reason(self, judge):
        """Nothing passes because something could not be read."""
        for key in list(_evidence(judge)):
            machine = ready_host()
            machine.refused[key] = "denied"
            by_check = judge(machine, **wants())
            statuses = {finding.status for findings in by_check.values() for finding in findings}
            assert statuses & {"error", "fail"}, key


def _evidence(judge: Judge) -> dict[str, Any]:
    machine = ready_host()
    judge(machine, **wants())
    optional = ["/etc/listener.ora", "/var/opt", "orabasetab", "olr.loc", "getent"]
    optional += ["/limits", "/cgroup"]  # for the plan alone
    return {
        key: reading
        for key, reading in machine.evidence.items()
        if not any(name in key for name in optional)
    }


class TestRuns:
    def test_listed_and_not_running(self, judge):
        machine = linux().ora(OPEN).file("/etc/oratab", f"ORCL:{HOME}:Y\n")
        machine.command(f"stat -L -c %U {HOME}/bin/sqlplus", "oracle\n")
        findings = judge(machine, **wants())
        (finding,) = findings["listener_runs"]
        assert finding.status == "fail" and finding.persisted == f"defined in {FILE}"
        (rate,) = findings["rate"]
        assert rate.status == "fail"
        assert rate.fix == "start the listener LISTENER, then apply the policy"
        assert findings["syntax"][0].status == "pass"
        assert findings["loaded"][0].status == findings["delayed"][0].status == "skip"

    def test_one_that_does_not_run_is_not_to_be_restarted(self, judge):
        machine = linux().ora(LISTENER_ORA.format(more="(QUEUESIZE = 512)"))
        machine.file("/etc/oratab", f"ORCL:{HOME}:Y\n")
        machine.command(f"stat -L -c %U {HOME}/bin/sqlplus", "oracle\n")
        machine.file("/proc/sys/net/core/somaxconn", "128\n")
        machine.sqlnet("TCP.VALIDNODE_CHECKING = yes\nTCP.INVITED_NODES = (192.0.2.9)\n")
        findings = judge(machine, **wants())
        first = "correct listener_rate_limit.valid_nodes first: the listener would not start; then "
        for check in ("listener_runs", "rate"):
            assert findings[check][0].fix.startswith(f"{first}start the listener LISTENER")
        (queue,) = findings["queue_size"]
        assert queue.status == "fail" and "set net.core.somaxconn to at least 512" in queue.fix
        assert "restart" not in queue.fix

    @cases(
        "service runs status persisted",
        (f"ExecStart={HOME}/bin/lsnrctl start", True, "pass", "by x.service"),
        (f"ExecStart={HOME}/bin/lsnrctl start", False, "warn", "by x.service"),
        (f"ExecStart={HOME}/bin/dbstart {HOME}", False, "warn", "by x.service"),
        ("ExecStart=/bin/su - oracle -c 'lsnrctl start LISTENER'", True, "pass", "x.service"),
        ("ExecStart=/bin/sh -c 'dbstart $ORACLE_HOME'", True, "pass", "by x.service"),
        ("User=oracle\nExecStart=/home/oracle/up", True, "pass", "by x.service"),
        ("User=oracle\nExecStart=/bin/lsnrctl start $NAME", True, "pass", "by x.service"),
        # Without an argument, dbstart starts no listener.
        (f"ExecStart={HOME}/bin/dbstart", True, "warn", "nothing starts it"),
        (f"ExecStart={HOME}/bin/lsnrctl start OTHER", True, "warn", "nothing starts it"),
        ("ExecStart=/u02/home/bin/lsnrctl start LISTENER", True, "warn", "nothing starts it"),
        ("ExecStart=/bin/true", True, "warn", "nothing starts it"),
    )
    def test_what_starts_at_boot_time(self, judge, service, runs, status, persisted):
        machine = ready_host() if runs else linux().ora(OPEN)
        machine.folder("/run/systemd/system").file("/etc/oratab", f"ORCL:{HOME}:Y\n")
        machine.command(f"stat -L -c %U {HOME}/bin/sqlplus", "oracle\n")
        machine.file("/etc/systemd/system/x.service", f"[Service]\n{service}\n")
        link = "/etc/systemd/system/multi-user.target.wants/x.service"
        machine.link(link, "/etc/systemd/system/x.service")
        machine.command(f"systemctl show {SHOW_MANAGER}", "DefaultLimitMEMLOCK=65536\n")
        findings = judge(machine)
        (finding,) = (
            one for one in findings["listener_runs"] if not re.search("OTHER|/u02", one.title)
        )
        assert (finding.status, persisted in finding.persisted) == (status, True), finding

    def test_a_file_that_stops_the_next_start(self, judge):
        """The listener is down, and cron starts it: its file and its lists of nodes count."""
        machine = linux().file("/etc/oratab", f"ORCL:{HOME}:Y\n").folder("/run/systemd/system")
        machine.command(f"stat -L -c %U {HOME}/bin/sqlplus", "oracle\n")
        line = f"@reboot TNS_ADMIN=/etc/net {HOME}/bin/lsnrctl start L2\n"
        machine.file("/var/spool/cron/oracle", line)
        machine.ora("L2 = (ADDRESS = (PROTOCOL = TCP)(PORT = 1522)\n", "/etc/net/listener.ora")
        machine.command(f"systemctl show {SHOW_MANAGER}", "DefaultLimitMEMLOCK=65536\n")
        (finding,) = judge(machine)["syntax"]
        assert (finding.status, finding.title.partition(":")[0]) == ("fail", "L2")
        machine.evidence.clear()
        machine.ora("L2 = (ADDRESS = (PROTOCOL = TCP)(PORT = 1522))\n", "/etc/net/listener.ora")
        nodes = "TCP.VALIDNODE_CHECKING = yes\nTCP.INVITED_NODES = (app1)\n"
        machine.sqlnet(nodes, app1="").file("/etc/net/sqlnet.ora", nodes)
        assert judge(machine)["valid_nodes"][0].status == "fail"

    def test_a_start_that_may_not_be_read(self, judge):
        machine = ready_host().file("/etc/oratab", f"ORCL:{HOME}:Y\n")
        machine.folder("/run/systemd/system").command(f"stat -L -c %U {HOME}/bin/sqlplus", "x\n")
        machine.file("/etc/systemd/system/x.service", "[Service]\nExecStart=/opt/up\n")
        link = "/etc/systemd/system/multi-user.target.wants/x.service"
        machine.link(link, "/etc/systemd/system/x.service")
        machine.file("/opt/up", "#!/bin/sh\n").deny("/opt/up")
        assert judge(machine)["listener_runs"][0].status == "error"

    def test_hidden_processes(self, judge):
        machine = ready_host()
        machine.refused["processes:tnslsnr"] = "denied"
        assert {finding.status for (finding,) in judge(machine, **wants()).values()} == {"error"}


class TestFile:
    def test_files_are_read_as_the_owner(self, judge):
        """Who owns the process says where its files are: root would read any for him."""
        machine = ready_host().ora(f"IFILE={ADMIN}/more.ora\n" + LIMITED)
        machine.ora("", f"{ADMIN}/more.ora")
        judge(machine)
        read = [name for name in machine.asked_as if name.startswith(("cat ", "tail ", "stat "))]
        assert {FILE, f"{ADMIN}/more.ora", LOG} <= {name.rpartition(" ")[2] for name in read}
        assert {machine.asked_as[name] for name in read} == {"oracle"}
        files = ("listener.ora", "more.ora", "listener.log")
        touched = [key for key in machine.evidence if key.endswith(files)]
        assert {key.partition(":")[2] for key in touched} <= set(machine.asked_as)

    def test_tns_admin(self, one):
        machine = linux().listener(LIMITED, path="/etc/net/listener.ora", TNS_ADMIN="/etc/net/")
        finding = one("config_file", machine)
        assert finding.persisted == "/etc/net/listener.ora (TNS_ADMIN of its process)"

    def test_read_only_home(self, one):
        base = "/u01/app/oracle/homes/OraDB19Home1/network/admin/listener.ora"
        machine = linux().listener(LIMITED, path=base)
        machine.file(f"{HOME}/install/orabasetab", f"{HOME}:/u01/app/oracle:OraDB19Home1:Y:\n")
        assert one("config_file", machine).persisted == f"{base} (the home is read-only)"

    def test_the_one_in_etc_counts_where_the_home_has_none(self, one):
        finding = one("config_file", linux().listener(LIMITED, path="/etc/listener.ora"))
        assert finding.persisted == "/etc/listener.ora (there is none in its home)"
        assert finding.status == "pass"

    def test_another_that_people_may_edit(self, one):
        machine = linux().listener(LIMITED, path="/etc/net/listener.ora", TNS_ADMIN="/etc/net")
        machine.ora(OPEN)
        finding = one("config_file", machine)
        assert finding.status == "warn" and FILE in finding.why

    def test_environment_that_may_not_be_seen(self, one):
        finding = one("config_file", ready_host().deny("environment:4001"))
        assert finding.status == "error" and "--become" in str(finding.fix)

    def test_no_file_at_all(self, judge):
        findings = judge(linux().listener(None).socket(1521, 128), **wants())
        assert findings["config_file"][0].status == "pass"
        assert "defaults are in use" in findings["config_file"][0].persisted
        assert findings["syntax"][0].status == "skip" and findings["rate"][0].status == "fail"

    def test_broken(self, judge):
        findings = judge(ready_host().ora(LIMITED.replace("\n  )\n", "\n\n")), **wants())
        (finding,) = findings["syntax"]
        assert finding.status == "fail" and f"{FILE}, line 9, column 1: expected" in finding.why
        assert findings["rate"][0].status == "error"

    def test_a_parenthesis_in_the_first_column(self, judge):
        findings = judge(ready_host().ora(LIMITED.replace("\n  )\n", "\n)\n")), **wants())
        (finding,) = findings["syntax"]
        assert (finding.status, finding.severity) == ("warn", "low")
        assert "listener.ora, line 8: no blank" in finding.why
        assert findings["rate"][0].status == "pass"

    def test_ifile(self, judge):
        machine = ready_host().ora(f"IFILE={ADMIN}/more.ora\n" + OPEN)
        machine.ora("CONNECTION_RATE_LISTENER=10\n", f"{ADMIN}/more.ora", changed=900)
        findings = judge(machine)
        assert findings["rate_enabled"][0].status == "fail"
        assert findings["loaded"][0].status == "fail" and "more.ora" in findings["loaded"][0].why

    def test_ifile_that_is_missing_is_unknown(self, one):
        machine = ready_host().ora("IFILE=/none.ora\n" + LIMITED)
        assert one("rate_enabled", machine).status == "error"

    def test_ifile_without_end(self, one):
        finding = one("syntax", ready_host().ora(f"IFILE={FILE}\n" + LIMITED))
        assert finding.status == "fail" and "three levels" in finding.why

    def test_parameter_twice(self, one):
        finding = one("duplicate_parameters", ready_host().ora(LIMITED + LIMITED))
        assert (finding.status, finding.persisted) == ("warn", "twice: LISTENER")


class TestRate:
    @cases(
        "more end status why",
        ("(RATE_LIMIT=10)", "", "pass", ""),
        ("(rate_limit=yes)", "CONNECTION_RATE_LISTENER=10\n", "pass", ""),
        ("(RATE_LIMIT=20)", "", "fail", "tcp:1521 has 20 per second, not 10 per second."),
        ("", "", "fail", "tcp:1521 has no limit, not 10 per second."),
        ("", "CONNECTION_RATE_LISTENER=10\n", "fail", "tcp:1521 has no limit"),
        ("(RATE_LIMIT=yes)", "", "fail", "tcp:1521 has no limit"),
        ("(RATE_LIMIT=no)", "CONNECTION_RATE_LISTENER=10\n", "fail", "tcp:1521 has no limit"),
        ("(RATE_LIMIT=10)", "connection_rate_listener=30\n", "fail", "has 30 per second"),
        ("(RATE_LIMIT=maybe)", "", "error", "not yes, no or a number"),
        ("(RATE_LIMIT=yes)", "CONNECTION_RATE_LISTENER=x\n", "error", "not a number"),
        ("(RATE_LIMIT=0)", "", "fail", "tcp:1521 has no limit, not 10 per second."),
        ("(RATE_LIMIT=0)", "CONNECTION_RATE_LISTENER=10\n", "error", "RATE_LIMIT is 0 with"),
        ("(RATE_LIMIT=yes)", "CONNECTION_RATE_LISTENER=0\n", "error", "is 0, and Oracle"),
        ("(RATE_LIMIT=10)(rate_limit=20)", "", "error", "RATE_LIMIT 2 times (10, 20)"),
        ("(RATE_LIMIT=10)(RATE_LIMIT=10)", "", "pass", ""),
    )
    def test_what_counts(self, one, more, end, status, why):
        finding = one("rate", ready_host().ora(LISTENER_ORA.format(more=more) + end), **wants())
        assert finding.status == status
        if status != "pass":
            assert why in finding.why

    def test_twice_in_one_address_is_told(self, one):
        machine = ready_host().ora(LISTENER_ORA.format(more="(RATE_LIMIT=10)(RATE_LIMIT=10)"))
        finding = one("duplicate_parameters", machine)
        assert (finding.status, finding.persisted) == ("warn", "twice: RATE_LIMIT in one address")

    def test_a_fix_is_nothing_that_apply_refuses(self, one):
        open_host = ready_host().ora(OPEN)
        assert one("rate", open_host, **wants()).commands == (
            "./hostproof apply --tags listener_rate_limit",
        )
        pools = [{"name": "a", "connections": 1000, "timeout_seconds": 5}]
        slow = one("rate", open_host, **wants(pools=pools))
        assert (slow.status, slow.commands) == ("fail", ())
        assert "a rate of at least 201" in str(slow.fix)
        assert one("rate", open_host, **wants(ports=[1599])).commands == ()

    def test_only_some_ports_may_be_limited(self, one):
        second = "      (ADDRESS = (PROTOCOL = TCP)(HOST = db01)(PORT = 1522){0})\n    )\n  )\n"
        text = LIMITED.replace("    )\n  )\n", second)
        free = ready_host().ora(text.format(""))
        assert one("rate", free, **wants(ports=[1521])).status == "pass"
        assert one("rate", free, **wants()).status == "fail"
        limited = ready_host().ora(text.format("(RATE_LIMIT = 10)"))
        finding = one("rate", limited, **wants(ports=[1521]))
        assert finding.why == "tcp:1522 has 10 per second, not no limit."
        assert "port 1599" in one("rate", free, **wants(ports=[1599])).why

    def test_no_limit_is_a_wish_too(self, one):
        assert one("rate", ready_host(), **wants(rate=0)).status == "fail"
        assert one("rate", ready_host().ora(OPEN), **wants(rate=0)).status == "pass"

    @cases(
        "more end status",
        ("", "CONNECTION_RATE_LISTENER=10\n", "fail"),
        ("(RATE_LIMIT=yes)", "", "fail"),
        ("(RATE_LIMIT=no)", "", "skip"),
        ("(RATE_LIMIT=yes)", "CONNECTION_RATE_LISTENER=10\n", "pass"),
        ("(RATE_LIMIT=3)", "", "pass"),
        ("(RATE_LIMIT=0)", "", "fail"),
        ("", "", "skip"),
        ("", "CONNECTION_RATE_OTHER=10\nOther=(ADDRESS=(PROTOCOL=IPC)(KEY=a))\n", "skip"),
        # A rate for no listener of the file.
        ("", "Connection_Rate_LISTNER=10\n", "warn"),
        ("(RATE_LIMIT=3)", "CONNECTION_RATE_LISTNER=10\n", "warn"),
        ("(RATE_LIMIT=yes)", "CONNECTION_RATE_LISTNER=10\n", "fail"),
        ("", "CONNECTION_RATE_LISTNER=10\nSID_LIST_LISTNER=(SID_DESC=(SID_NAME=a))\n", "warn"),
        # Next to the address, and inside of one of its pairs.
        (")(RATE_LIMIT=5", "", "fail"),
        ("(PROTOCOL_STACK=(RATE_LIMIT=5))", "", "fail"),
        ("(RATE_LIMIT=(5))", "", "error"),
    )
    def test_bound_to_an_endpoint(self, one, more, end, status):
        finding = one("rate_enabled", ready_host().ora(LISTENER_ORA.format(more=more) + end))
        assert finding.status == status
        assert ("CONNECTION_RATE_LISTNER belongs to no listener" in finding.why) == (
            "LISTNER" in end.upper()
        )

    def test_a_rate_is_raised_before_it_has_an_effect(self, one):
        for rate, first in ((1, "set CONNECTION_RATE_LISTENER to at least "), (100, "set RATE_")):
            text = LISTENER_ORA.format(more="") + f"CONNECTION_RATE_LISTENER={rate}\n"
            finding = one("rate_enabled", ready_host().ora(text), **wants())
            assert finding.fix.startswith(first), finding.fix
            assert f"set RATE_LIMIT=yes at each address of LISTENER in {FILE}" in finding.fix

    def test_a_rate_of_a_listener_without_an_address(self, judge):
        rates = "CONNECTION_RATE_LISTENER=10\nCONNECTION_RATE_LSNR2=10\n"
        text = LIMITED.replace("LISTENER =", "LSNR1 =") + rates
        machine = linux().listener(text, name="LSNR1")
        assert judge(machine)["rate_enabled"][0].status == "warn"
        machine = linux().listener(text, name="LSNR1").listener(text, name="LSNR2", pid=4002)
        assert judge(machine)["rate_enabled"][0].status == "pass"

    @cases(
        "more end rate",
        ("", "", 0),
        ("(RATE_LIMIT=no)", "", 0),
        ("(RATE_LIMIT=yes)", "", 0),
        ("(RATE_LIMIT=3)", "", 3),
        ("(RATE_LIMIT=yes)", "CONNECTION_RATE_LISTENER=10\n", 10),
        # The slowest endpoint counts, and one without a limit is none of them.
        ("(RATE_LIMIT=9))(ADDRESS=(PROTOCOL=TCP)(PORT=1522)(RATE_LIMIT=4)", "", 4),
        ("(RATE_LIMIT=9))(ADDRESS=(PROTOCOL=TCP)(PORT=1522)", "", 9),
    )
    def test_the_rate_that_a_cluster_compares(self, one, more, end, rate):
        machine = ready_host().ora(LISTENER_ORA.format(more=more) + end)
        assert one("rate_enabled", machine).values == {"rate_per_second": rate}

    def test_global_beats_local(self, one):
        finding = one("one_rate", ready_host().ora(LIMITED + "CONNECTION_RATE_LISTENER=10\n"))
        assert finding.status == "warn"
        assert finding.why.startswith("CONNECTION_RATE_LISTENER=10 overrides RATE_LIMIT=10")

    def test_manuals_disagree_about_several_endpoints(self, one):
        text = LISTENER_ORA.format(
            more="(RATE_LIMIT=yes))(ADDRESS=(PROTOCOL=tcps)(HOST=a)(PORT=2484)(RATE_LIMIT=yes)"
        )
        finding = one("one_rate", ready_host().ora(text + "CONNECTION_RATE_LISTENER=10\n"))
        assert finding.status == "warn" and "2 endpoints" in finding.why


class TestLoaded:
    @cases("changed status", (400, "pass"), (501, "pass"), (502, "fail"), (90000, "fail"))
    def test_older_than_its_file(self, one, changed, status):
        assert one("loaded", ready_host().ora(LIMITED, changed=changed)).status == status

    def test_a_file_that_was_put_in_its_place_keeps_its_time(self, one):
        for moment, status in ((400, "pass"), (501, "pass"), (502, "warn"), (90000, "warn")):
            machine = ready_host()
            machine.replaced[FILE] = moment
            finding = one("loaded", machine)
            assert finding.status == status, moment
        assert "mv, cp -p, rsync -a or chmod" in finding.why
        machine = ready_host().deny(f"command:stat -c %Z {FILE}")
        assert one("loaded", machine).status == "error"

    def test_a_port_of_the_file_that_nobody_listens_on(self, one):
        for protocol in ("TCP", "TCPS"):
            text = LIMITED.replace("= TCP)", f"= {protocol})").replace("1521)", "1621)", 1)
            machine = linux().listener(text).socket(1521, 512)
            finding = one("loaded", machine)
            assert finding.status == "fail", finding
            assert f"{protocol.lower()}:1621" in finding.why
            assert one("loaded", machine.socket(1621, 512)).status == "fail", "is evidence by now"
            machine.evidence.clear()
            machine.commands.pop("ss -ltn")
            assert one("loaded", machine).status == "pass"

    def test_endpoints_of_infiniband_are_endpoints(self, one):
        for protocol in ("SDP", "EXADIRECT"):
            text = LIMITED.replace("= TCP)", f"= {protocol})").replace("(RATE_LIMIT = 10)", "")
            machine = linux().listener(text)
            assert one("loaded", machine).status == "pass", "the kernel shows no socket of it"
            finding = one("queue_size", machine)
            assert f"{protocol.lower()}:1521 512" in finding.persisted

    def test_file_that_the_agent_writes_meanwhile(self, one):
        machine = (
            linux()
            .listener(AGENT, home=GRID)
            .ora(AGENT, f"{GRID}/network/admin/listener.ora", 90000)
        )
        assert one("loaded", machine).status == "skip"

    def test_says_by_how_much_and_what_to_do(self, one):
        finding = one("loaded", ready_host().ora(LIMITED, changed=8000))
        assert "2 hours before" in finding.why
        home = "/u01/app/oracle/product/19.0.0/dbhome_1"
        as_owner = f"runuser -u oracle -- env ORACLE_HOME={home} {home}/bin/lsnrctl"
        assert finding.commands == (f"{as_owner} stop LISTENER", f"{as_owner} start LISTENER")
        assert finding.running == "started 2026-11-18 11:15:00 UTC"

    def test_service_of_systemd(self, one):
        machine = linux().listener(
            LIMITED, changed=900, cgroup="0::/system.slice/oracle-listener.service\n"
        )
        assert one("loaded", machine).commands == ("systemctl restart oracle-listener.service",)


class TestDrainTime:
    def test_the_pools_fit(self, one):
        finding = one("drain_time", ready_host(), **wants())
        assert finding.persisted == "200 connections ÷ 10 per second = 20 s"
        assert finding.values == {"drain_seconds": 20}
        assert finding.desired == "below 60 s (INBOUND_CONNECT_TIMEOUT) and 30 s (the pools)"

    def test_clients_give_up(self, one):
        pools = [
            {"name": "shop", "connections": 200, "timeout_seconds": 30},
            {"name": "batch", "connections": 150, "timeout_seconds": 120},
        ]
        finding = one("drain_time", ready_host(), **wants(pools=pools))
        assert finding.status == "fail" and "pool shop waits 30 s" in finding.why
        assert "batch" not in finding.why
        assert str(finding.fix).startswith("set a rate of at least 12,")

    def test_edge(self, one):
        pools = [{"name": "shop", "connections": 300, "timeout_seconds": 30}]
        assert one("drain_time", ready_host(), **wants(pools=pools)).status == "fail"
        pools[0]["connections"] = 299
        assert one("drain_time", ready_host(), **wants(pools=pools)).status == "pass"

    def test_the_listener_gives_up(self, one):
        machine = ready_host().ora(LIMITED + "INBOUND_CONNECT_TIMEOUT_LISTENER=15\n")
        finding = one("drain_time", machine, **wants())
        assert finding.status == "fail"
        assert finding.why == (
            "INBOUND_CONNECT_TIMEOUT_LISTENER is 15 s, and a burst of all pools takes 20 s."
        )

    def test_nothing_to_reckon_with(self, one):
        assert one("drain_time", ready_host(), **wants(pools=[])).status == "skip"
        assert one("drain_time", ready_host().ora(OPEN), **wants(rate=None)).status == "skip"


class TestVersion:
    @cases(
        "release cluster status",
        ("11.2.0.3.0", False, "warn"),
        ("11.2.0.4.0", False, "pass"),
        ("11.2.0.4.0", True, "fail"),
        ("11.2.0.3.0", True, "fail"),
        ("12.1.0.2.0", True, "pass"),
        ("10.2.0.5.0", False, "warn"),
        ("23.0.0.0.0", False, "pass"),
    )
    def test_release(self, one, release, cluster, status):
        machine = linux().listener(LIMITED, release=release)
        if cluster:
            machine.process(f"{GRID}/bin/ohasd.bin", pid=900).process("crsd.bin", pid=901)
        finding = one("version", machine)
        assert finding.status == status
        # 11gR2 does not support rate limits in a cluster.
        is_enough = release < "11.2.0.4" and not cluster
        assert status == "pass" or ("11.2.0.4" in finding.fix) == is_enough

    def test_oracle_restart_is_no_cluster(self, one):
        machine = linux().listener(LIMITED, release="11.2.0.4.0")
        machine.process(f"{GRID}/bin/ohasd.bin", pid=900).process(f"{GRID}/bin/ocssd.bin", pid=901)
        assert one("version", machine).status == "pass"

    def test_lsnrctl_that_tells_nothing(self, one):
        machine = ready_host().command(f"release of lsnrctl in {HOME}", "Message 1070 not found\n")
        assert one("version", machine).status == "error"


class TestEditable:
    def test_lines_of_the_agent(self, one):
        finding = one("editable", linux().listener(AGENT, home=GRID))
        assert finding.status == "warn" and "the agent wrote line 1, 2 of" in finding.why
        assert "no TCP address" in finding.why
        assert "a listener of the database home" in str(finding.fix)
        rate = one("rate", linux().listener(AGENT, home=GRID), **wants())
        assert (rate.status, rate.fix, rate.commands) == ("fail", finding.fix, ())

    def test_home_of_grid_infrastructure(self, one):
        machine = linux().listener(LIMITED, home=GRID)
        machine.file("/etc/oracle/olr.loc", f"olrconfig_loc=/x\ncrs_home={GRID}\n")
        assert one("editable", machine).status == "warn"

    def test_other_home_beside_grid_infrastructure(self, one):
        machine = ready_host().process(f"{GRID}/bin/ohasd.bin", pid=900)
        machine.file("/etc/oracle/olr.loc", f"crs_home={GRID}\n")
        finding = one("editable", machine)
        assert finding.status == "pass"
        assert "Infrastructure, which runs in another home" in str(finding.persisted)

    def test_lines_of_the_agent_about_another_listener(self, one):
        text = LIMITED + AGENT.replace("LISTENER=", "LISTENER_SCAN1=")
        assert one("editable", ready_host().ora(text)).status == "pass"


class TestQueues:
    def test_somaxconn_cuts_it(self, one):
        machine = ready_host().file("/proc/sys/net/core/somaxconn", "128\n")
        finding = one("queue_size", machine, **wants())
        assert finding.status == "fail" and "net.core.somaxconn reduces it to 128" in finding.why

    def test_socket_of_an_older_start(self, one):
        finding = one("queue_size", linux().listener(LIMITED).socket(1521, 128), **wants())
        assert finding.status == "fail" and "listens with a queue of 128, not 512" in finding.why

    def test_not_as_the_policy_wants(self, one):
        finding = one("queue_size", ready_host().ora(OPEN), **wants(pools=[]))
        assert finding.why == "tcp:1521 has QUEUESIZE not set, not 512."
        longer = LISTENER_ORA.format(more="(RATE_LIMIT = 10)(QUEUESIZE = 1024)")
        machine = linux().listener(longer).socket(1521, 1024)
        machine.file("/proc/sys/net/core/somaxconn", "4096\n")
        assert one("queue_size", machine, **wants()).status == "pass"

    def test_more_clients_than_fit(self, one):
        machine = linux().listener(OPEN).socket(1521, 128)
        finding = one("queue_size", machine, **wants(queuesize=None))
        assert finding.status == "warn"
        assert "200 clients can connect at the same time" in finding.why

    def test_ss_is_missing(self, one):
        machine = ready_host()
        machine.refused["command:ss -ltn"] = "absent"
        assert one("queue_size", machine).status == "error"

    def test_full_now(self, one):
        finding = one("queue_overflows", linux().listener(LIMITED).socket(1521, 512, queued=513))
        assert finding.status == "fail" and "513 connections wait, the limit is 512" in finding.why

    def test_dropped_meanwhile(self, one):
        finding = one("queue_overflows", ready_host().overflows(7, 19))
        assert finding.status == "warn"
        assert finding.in_use == "12 in 10 s, 19 since boot (the whole host)"

    def test_long_ago_is_no_matter(self, one):
        assert one("queue_overflows", ready_host().overflows(7000)).status == "pass"

    def test_not_sampled(self, one):
        assert one("queue_overflows", ready_host(), window_seconds=0).status == "skip"

    def test_no_counter(self, one):
        machine = ready_host().sampled(
            "listener_queues", "file:/proc/net/netstat", "TcpExt: A\nTcpExt: 1\n"
        )
        assert one("queue_overflows", machine).status == "error"


class TestDelayed:
    def logged(self, reached: int) -> str:
        lines = [ESTABLISH.format(minute=n // 10, second=n % 10, code=0) for n in range(100)]
        return "".join(lines + [REACHED.format(minute=9, second=n % 60) for n in range(reached)])

    @cases("reached status", (0, "pass"), (5, "pass"), (6, "warn"))
    def test_share_of_the_connections(self, one, reached, status):
        finding = one("delayed", ready_host().log(self.logged(reached)), **wants())
        assert finding.status == status
        assert str(finding.in_use).startswith(f"{reached} times TNS-01158 and 100 connections")

    def test_seen_although_nothing_is_written(self, one):
        finding = one("delayed", ready_host().ora(OPEN).log(self.logged(50)))
        assert finding.status == "warn" and "33.3% of the connections" in finding.why

    def test_no_log(self, one):
        assert one("delayed", linux().listener(LIMITED)).status == "skip"

    def test_log_that_is_none(self, one):
        assert one("delayed", ready_host().log("<msg/>\n")).status == "error"

    @cases(
        "end path",
        ("DIAG_ADR_ENABLED_LISTENER=OFF\n", f"{HOME}/network/log/listener.log"),
        (
            "DIAG_ADR_ENABLED_LISTENER=off\nLOG_DIRECTORY_LISTENER=/var/log\n"
            "LOG_FILE_LISTENER=net\n",
            "/var/log/net.log",
        ),
        ("ADR_BASE_LISTENER=/adr\n", "/adr/diag/tnslsnr/db01/listener/trace/listener.log"),
    )
    def test_where_it_is(self, one, end, path):
        machine = linux().listener(LIMITED + end).log(self.logged(90), path)
        assert one("delayed", machine).status == "warn"


class TestPolicy:
    def policy(self, **changes: Any) -> listener_rate_limit.policy:
        return listener_rate_limit.policy_from(listener_packs.listener_policy(**changes))

    def test_defaults(self):
        assert self.policy().listeners is None

    def test_names_are_in_capitals(self):
        (listener,) = (
            self.policy(listeners=[{"name": "listener_a", "home": "/u01/"}]).listeners or ()
        )
        assert (listener.name, listener.home, listener.scope) == ("LISTENER_A", "/u01", "endpoint")

    @cases(
        "changes problem",
        ({"listeners": "all"}, "must be auto or a list"),
        ({"listeners": ["LISTENER"]}, "needs a name"),
        (wants(name="my listener"), "not the name of a listener"),
        (wants(port=1), "has unknown port"),
        (wants(home="u01"), "LISTENER: home must be absolute, not 'u01'"),
        (wants(rate=-1), "LISTENER: rate must be a whole number, not -1"),
        (wants(rate=True), "rate must be a whole number"),
        (wants(scope="all"), "scope must be one of endpoint, listener"),
        (wants(queuesize=0), "LISTENER: queuesize must be 1 to 65535, not 0"),
        (wants(ports=[]), "ports must be a list"),
        (wants(ports=[0]), "ports must be whole numbers from 1 to 65535, not 0"),
        (wants(pools=5), "pools must be a list"),
        (wants(pools=[{"name": "a"}]), "LISTENER: pools has {'name': 'a'}, which needs"),
        (
            wants(pools=[{"name": "a", "connections": 0, "timeout_seconds": 1}]),
            "LISTENER: pools a: connections must be 1 to 1000000, not 0",
        ),
        ({"listeners": [{"name": "A"}, {"name": "a"}]}, "lists A twice"),
        ({"listeners": [{"name": "A"}, {"name": "a", "home": "/u"}]}, "lists A twice"),
        ({"oracle_homes": ["u01"]}, "must hold absolute paths"),
        ({"log_tail": "9M"}, "must be at most 8M"),
        ({"delayed_warn_percent": 101}, "must be 0 to 100"),
        ({"window_seconds": 601}, "must be 0 or 1 to 600"),
        ({"allow_restart": "yes"}, "must be true or false"),
    )
    def test_what_is_refused(self, changes, problem):
        with pytest.raises(
            PolicyError, match=r"^(listener_rate_limit|hostproof_window)_"
        ) as refused:
            self.policy(**changes)
        assert problem in str(refused.value)

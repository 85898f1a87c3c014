"""The control pool_validation: which setting wins on a real server's answers, and each status."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from ansible.module_utils.hostproof.collect.host import Host, LiveHost, RecordedHost
from ansible.module_utils.hostproof.collect.measured import Window
from ansible.module_utils.hostproof.controls.pool_validation.control import (
    CONTROL as pool_validation,
)
from ansible.module_utils.hostproof.controls.pool_validation.parsers import datasources_xml
from ansible.module_utils.hostproof.errors import PolicyError
from ansible.module_utils.hostproof.evaluate import audit
from ansible.module_utils.hostproof.evaluate.finding import Finding
from cases import cases
from default_policies import default_policy
from latency_packs import HANDSHAKE_NAME, network
from packs import FIXTURES, Machine
from spoilers import SPOILERS, spoilt_recordings

SERVER = {"name": "shop", "home": "/opt/wildfly", "user": "wildfly"}
DOMAIN = {**SERVER, "mode": "domain"}
FILE = "/opt/wildfly/standalone/configuration/standalone.xml"
KEY = "jboss-cli shop: data sources"
JAVA = "/usr/lib/jvm/java-17/bin/java"

#: The messages of a client whose server does not run, and of Java in a home without a server.
STOPPED = (
    "Failed to connect to the controller: The controller is not available at 127.0.0.1:9990: "
    "java.net.ConnectException: WFLYPRT0053: Could not connect to remote+http://127.0.0.1:9990. "
    "The connection failed: WFLYPRT0053: ... : Connection refused",
    "Error: Unable to access jarfile /opt/wildfly/jboss-modules.jar",
)

Findings = dict[str, dict[str, Finding]]
Judge = Callable[..., Findings]


def fixture(name: str) -> str:
    return (FIXTURES / "pool_validation" / name).read_text()


def machine(answers: str, file: str = FILE, text: str = "standalone.xml") -> Machine:
    """A host whose server answers that; its file is kept as a live host keeps it."""
    host = Machine().link("/usr/bin/java", JAVA).folder("/opt/wildfly/standalone/deployments")
    host.file(JAVA, "").command(KEY, answers)
    return host.file(file, datasources_xml.kept(fixture(text)))


def standalone(answers: str = "answers.json", text: str = "standalone.xml") -> Machine:
    return machine(fixture(answers), text=text)


def domain(answers: str) -> Machine:
    file = "/opt/wildfly/domain/configuration/domain.xml"
    return machine(fixture(answers), file, "domain.xml")


def deploy(host: Machine, name: str, state: str) -> Machine:
    folder = "/opt/wildfly/standalone/deployments/"
    host.file(folder + name, datasources_xml.kept(fixture(name)))
    return host.file(f"{folder}{name}.{state}", "")


@pytest.fixture
def judge(validate_finding) -> Judge:
    """judge(host, *servers, **changes): findings by check and by subject."""

    def judge_host(host: Host, *servers: dict[str, Any], **changes: Any) -> Findings:
        policy = (
            default_policy("pool_validation") | {"servers": list(servers or (SERVER,))} | changes
        )
        findings: Findings = {}
        for finding in audit.judge_host(host, {"pool_validation": policy}):
            validate_finding(finding.as_dict())
            subject = finding.title.rpartition(": ")[0]
            findings.setdefault(finding.check.removeprefix("pool_validation."), {})[subject] = (
                finding
            )
        return findings

    return judge_host


def statuses(findings: dict[str, Finding]) -> dict[str, str]:
    return {subject: finding.status for subject, finding in findings.items()}


class TestWhichWins:
    """What a real server answered beside its files (SOURCES.md)."""

    def test_file_and_server_agree(self, judge):
        finding = judge(standalone())["running"]["shop"]
        assert (finding.status, finding.persisted, finding.running) == ("pass", FILE, "running")

    def test_the_file_was_edited_while_the_server_ran(self, judge):
        host = deploy(
            standalone("answers-edited.json", "standalone-edited.xml"), "one-ds.xml", "deployed"
        )
        finding = judge(deploy(host, "two-ds.xml", "failed"))["running"]["shop"]
        assert finding.status == "warn"
        assert (
            finding.why is not None
            and "BG: background-validation-millis is 20000 in the server" in finding.why
        )
        assert (
            "90000 in the file" in finding.why
            and "the server wins until it starts again" in finding.why
        )

    def test_a_server_that_waits_for_a_reload_shows_what_its_pools_do_not_do(self, judge):
        findings = judge(standalone("answers-reload.json", "standalone-reload.xml"))
        assert findings["running"]["shop"].status == "warn"
        assert "is reload-required: it shows what will be" in str(findings["running"]["shop"].why)
        for check in ("validated", "foreground", "background", "checker"):
            assert [finding.status for finding in findings[check].values()] == ["error"]

    def test_a_deployment_of_its_own_name_is_judged_by_its_file(self, judge):
        findings = judge(deploy(standalone("answers-edited.json"), "one-ds.xml", "deployed"))
        assert findings["deployments"]["shop"].status in ("pass", "warn")
        assert findings["foreground"]["shop one"].evidence[0].endswith("/one-ds.xml")

    def test_a_deployment_with_the_name_of_the_server_s_own_loses(self, judge):
        host = deploy(standalone("answers-edited.json"), "two-ds.xml", "failed")
        findings = [
            finding
            for finding in audit.judge_host(
                host, {"pool_validation": default_policy("pool_validation") | {"servers": [SERVER]}}
            )
            if finding.check == "pool_validation.deployments"
        ]
        assert [finding.status for finding in findings] == ["warn", "warn"]
        assert "java:/FG, which FG of the server has too: the server's own wins" in str(
            findings[0].why
        )
        # The other is known to the server and lies in no folder.
        assert "one-ds.xml was deployed through the management" in str(findings[1].why)
        assert "shop two" not in judge(host)["foreground"]

    def test_a_domain_with_two_servers(self, judge):
        findings = judge(domain("answers-domain.json"), DOMAIN)
        assert findings["running"]["shop"].status == "pass"
        assert set(findings["background"]) == {
            f"shop master/server-{number} {name}"
            for number in ("one", "two")
            for name in ("BG", "ExampleDS")
        }

    def test_a_domain_that_waits_for_a_reload(self, judge):
        findings = judge(domain("answers-domain-reload.json"), DOMAIN)
        why = str(findings["running"]["shop"].why)
        assert "master/server-one is reload-required" in why and "server-two is reload" in why
        assert findings["deployments"]["shop"].status == "skip"

    def test_what_is_in_one_of_both_alone(self, judge):
        text = fixture("standalone.xml").replace('pool-name="NONE"', 'pool-name="OTHER"')
        why = str(judge(standalone().file(FILE, datasources_xml.kept(text)))["running"]["shop"].why)
        assert "OTHER is only in the file" in why and "NONE is in the server alone" in why


class TestModes:
    """Data sources of the real server, each made for one way to validate."""

    def test_each(self, judge):
        findings = judge(standalone())
        assert statuses(findings["validated"]) == {
            "shop ExampleDS": "fail",
            "shop FG": "pass",
            "shop BG": "pass",
            "shop UNSET": "pass",
            "shop NONE": "fail",
            "shop ZERO": "fail",
            "shop XA1": "pass",
        }
        running = {name: str(finding.running) for name, finding in findings["validated"].items()}
        assert running["shop UNSET"].startswith("foreground (neither")
        assert "without background-validation-millis" in running["shop ZERO"]
        assert statuses(findings["background"])["shop BG"] == "fail"
        assert "no exception sorter" in str(findings["background"]["shop BG"].why)
        xa = findings["background"]["shop XA1"]
        assert xa.status == "warn" and "08006 alone" in str(xa.why)

    def pool(self, judge: Judge, check: str, **changes: Any) -> Finding:
        """UNSET of the real server with other attributes; None takes one away."""
        values = {
            name.replace("_", "-"): value for name, value in changes.items() if name[0].islower()
        }
        policy = {name.lower(): value for name, value in changes.items() if name[0].isupper()}
        answers = "[" + fixture("answers.json").replace("\n}\n{", "\n},{") + "]"
        replies = json.loads(answers)
        for resource in replies[1]["result"]:
            if resource["address"][-1] == {"data-source": "UNSET"}:
                resource["result"].update(values)
        text = "\n".join(json.dumps(reply, indent=1) for reply in replies)
        return judge(machine(text), **policy)[check]["shop UNSET"]

    def test_both_is_the_foreground(self, judge):
        both = {"validate_on_match": True, "background_validation": True}
        finding = self.pool(judge, "foreground", **both, background_validation_millis=1000)
        assert finding.status == "warn" and "wins over background-validation" in str(finding.why)

    def test_both_false_is_the_foreground(self, judge):
        both = {"validate_on_match": False, "background_validation": False}
        assert self.pool(judge, "foreground", **both).status == "warn"

    @cases(
        "trip status said",
        (None, "warn", "the probe that pool_validation_round_trip_probe names"),
        (6, "warn", "6 ms more: one session with a statement a request does at most 83 a"),
        (1, "pass", None),
        (1.1, "warn", "1.1 ms more"),
    )
    def test_what_the_foreground_costs(self, judge, trip, status, said):
        finding = self.pool(judge, "foreground", Round_trip_ms=trip)
        assert finding.status == status
        assert said is None or said in str(finding.why)
        # Both sides stand beside each other.
        assert "hands out no dead connection" in str(finding.fix) or status == "pass"

    def measured(self, judge: Judge, *windows: Window, trip: object = None) -> Finding:
        host = standalone().windows_of(HANDSHAKE_NAME, *windows)
        policy = {"round_trip_probe": HANDSHAKE_NAME, "round_trip_ms": trip}
        return judge(host, **policy)["foreground"]["shop UNSET"]

    def test_what_was_measured_counts(self, judge):
        finding = self.measured(judge, network("net", *[6.0] * 45), trip=0.2)
        assert (finding.status, "6 ms more" in str(finding.why)) == ("warn", True)
        assert f"windows:{HANDSHAKE_NAME}" in finding.evidence
        assert self.measured(judge, network("net", *[0.5] * 45)).status == "pass"

    def test_a_probe_that_saw_nothing_is_no_pass(self, judge):
        finding = self.measured(judge)
        assert (finding.status, "saw no round trip" in str(finding.why)) == ("error", True)
        # The round trip of the policy replaces the measurement.
        assert self.measured(judge, trip=0.2).status == "pass"

    def test_a_probe_that_nobody_measured_is_no_pass(self, judge):
        policy = {"round_trip_probe": "tcp db1:1521 handshake"}
        assert judge(standalone(), **policy)["foreground"]["shop UNSET"].status == "error"

    @cases(
        "changes status said",
        ({}, "pass", None),
        ({"exception_sorter_class_name": None}, "fail", "no exception sorter"),
        ({"flush_strategy": None}, "warn", "FailingConnectionOnly"),
        ({"Firewall_idle_minutes": 30}, "pass", None),
        ({"Firewall_idle_minutes": 29}, "warn", "for up to 30 minutes"),
    )
    def test_what_the_background_lets_through(self, judge, changes, status, said):
        good = {
            "background_validation": True,
            "background_validation_millis": 1200000,
            "exception_sorter_class_name": "org.example.OracleExceptionSorter",
            "flush_strategy": "EntirePool",
        }
        finding = self.pool(judge, "background", **{**good, **changes})
        assert finding.status == status
        assert said is None or said in str(finding.why)

    @cases(
        "check changes fix",
        ("background", {"exception_sorter_class_name": None}, "set exception-sorter-class-nam"),
        ("background", {"flush_strategy": None}, "set flush-strategy to EntirePool; then"),
        (
            "background",
            {"Firewall_idle_minutes": 29},
            "set background-validation-millis to at most 1160000; then",
        ),
        (
            "validated",
            {"background_validation_millis": None},
            "set background-validation-millis to an interval above 0; then",
        ),
    )
    def test_a_fix_names_only_what_is_missing(self, judge, check, changes, fix):
        good = {
            "background_validation": True,
            "background_validation_millis": 1200000,
            "exception_sorter_class_name": "org.example.OracleExceptionSorter",
            "flush_strategy": "EntirePool",
        }
        finding = self.pool(judge, check, **{**good, **changes})
        assert finding.fix.startswith(fix), finding.fix
        assert finding.fix.count("; then set ") == 0
        assert "reload the server in a quiet hour" in finding.fix

    @cases(
        "changes status",
        ({}, "pass"),
        ({"driver_name": "ojdbc8.jar"}, "warn"),
        ({"driver_name": "oracle", "valid_connection_checker_class_name": "a.B"}, "pass"),
        ({"valid_connection_checker_class_name": "a.GoodForSecondsValidConnectionChecker"}, "warn"),
    )
    def test_the_checker(self, judge, changes, status):
        assert self.pool(judge, "checker", **changes).status == status

    def test_an_expression_is_unknown(self, judge):
        finding = self.pool(
            judge, "foreground", validate_on_match={"EXPRESSION_VALUE": "${x:true}"}
        )
        assert finding.status == "error" and "is an expression" in str(finding.why)

    @cases(
        "product status",
        ('"product-name" : "EAP",\n "product-version" : "6.4.0.GA"', "fail"),
        ('"product-name" : "JBoss EAP",\n "product-version" : "7.4.0.GA"', "pass"),
        ('"product-name" : "JBoss EAP XP",\n "product-version" : "3.0.0.GA"', "pass"),
        ('"product-name" : "WildFly Full",\n "product-version" : "10.1.0.Final"', "pass"),
        ('"product-name" : null,\n "product-version" : null', "error"),
    )
    def test_that_nothing_is_set_depends_on_the_release(self, judge, product, status):
        old = '"product-name" : "WildFly Full",\n        "product-version" : "26.1.3.Final"'
        text = fixture("answers.json")
        assert old in text
        findings = judge(machine(text.replace(old, product)))
        assert findings["validated"]["shop UNSET"].status == status


class TestUnknowns:
    def test_without_a_server_nothing_is_judged(self, judge):
        outcomes = {
            finding.status
            for finding in audit.judge_host(
                Machine(), {"pool_validation": default_policy("pool_validation")}
            )
        }
        assert outcomes == {"skip"}

    @cases(
        "answers",
        "",
        "Failed to connect to the controller",
        '{\n"outcome" : "failed",\n"failure-description" : "WFLYCTL0201"\n}',
        "[" * 100000,
    )
    def test_an_answer_that_is_none_leaves_what_the_file_contradicts(self, judge, answers):
        for check, findings in judge(machine(answers)).items():
            wrong = {finding.status for finding in findings.values()} - {"error", "skip"}
            assert wrong <= {"fail", "warn"}, check

    def test_a_server_that_cannot_be_asked_says_why(self, judge):
        message = "Failed to connect to the controller: The controller is not available"
        findings = judge(standalone().command(KEY, message, rc=1))
        assert "fail" in statuses(findings["validated"]).values()
        for each in findings.values():
            assert "pass" not in {finding.status for finding in each.values()}
            assert all(message in str(one.why) for one in each.values() if one.status != "skip")

    @pytest.mark.parametrize("message", STOPPED)
    def test_a_server_that_does_not_run_is_judged_by_its_file(self, judge, message):
        def stopped(text: str) -> Machine:
            return machine("").command(KEY, message, rc=1).file(FILE, text)

        text = datasources_xml.kept(fixture("standalone-stopped.xml"))
        findings = judge(stopped(text))
        (finding,) = findings["validated"].values()
        assert (finding.status, finding.evidence[0]) == ("fail", "file:" + FILE)
        assert (
            finding.persisted
            == "nothing (neither a checker nor a statement is set); driver-name oracle"
        )
        assert finding.running == "nothing: the server does not run"
        for check in ("running", "deployments"):
            assert statuses(findings[check]) == {"shop": "skip"}
        validated = {"valid-connection-checker-class-name": "a.B"}
        (source,) = datasources_xml.from_kept(text)
        assert source.schema == 1
        # IronJacamar before 1.2 validates nothing unless it is told when.
        for schema, status in ((1, "fail"), (4, "pass"), (None, "error")):
            changed = source._replace(attributes=validated, schema=schema)._asdict()
            (finding,) = judge(stopped(json.dumps([dict(changed)])))["validated"].values()
            assert finding.status == status

    def test_another_file_of_a_stopped_server(self, judge):
        text = datasources_xml.kept(fixture("standalone-stopped.xml"))
        folder = FILE.rpartition("/")[0]
        for names, status in ((["full"], "fail"), (["full", "ha"], "error")):
            host = Machine().link("/usr/bin/java", JAVA).file(JAVA, "")
            host.folder("/opt/wildfly/standalone/deployments").command(KEY, STOPPED[0], rc=1)
            for name in names:
                host.file(f"{folder}/standalone-{name}.xml", text)
            (finding,) = judge(host)["validated"].values()
            assert finding.status == status

    @pytest.mark.parametrize("spoil", SPOILERS)
    def test_what_is_lost_makes_nothing_better(self, judge, spoil):
        host = deploy(standalone("answers-edited.json"), "one-ds.xml", "deployed")
        before = judge(host)
        for key, spoilt in spoilt_recordings(host.evidence, spoil, ("dir:",)):
            for check, findings in judge(spoilt).items():
                for subject, finding in findings.items():
                    assert finding.status != "pass" or before[check][subject].status == "pass", key

    def test_a_recording_is_judged_as_the_host_was(self, judge):
        host = standalone()
        live = judge(host)
        assert judge(RecordedHost(host.evidence)) == live


def test_a_password_reaches_no_evidence(tmp_path):
    """Through a live host: its file holds passwords and the URL of the database."""
    base = tmp_path / "base"
    (base / "deployments").mkdir(parents=True)
    (base / "deployments/one-ds.xml").write_text(fixture("one-ds.xml"))
    host = LiveHost()
    server = {**SERVER, "base": str(base), "user": "no-such-user"}
    policy = default_policy("pool_validation") | {"servers": [server]}
    findings = audit.judge_host(host, {"pool_validation": policy})
    text = json.dumps(host.evidence) + json.dumps([finding.as_dict() for finding in findings])
    assert f"file:{base}/deployments/one-ds.xml" in host.evidence
    assert "java:/ONE" in text and "Geheim" not in text and "25432" not in text


@cases(
    "changes said",
    ({"home": "opt"}, "home"),
    ({"controller": "--commands=x"}, "controller must be an address and a port"),
    ({"user": "a b"}, "user must be a name"),
    ({"mode": "cluster"}, "mode"),
    ({"password": "x"}, "password"),
)
def test_a_mistake_in_a_server_names_it(changes, said):
    policy = default_policy("pool_validation") | {"servers": [{**SERVER, **changes}]}
    with pytest.raises(PolicyError, match=said):
        pool_validation.policy_from(policy)


@cases(
    "path", "/proc/kmsg", "/etc/shadow", "/opt/wildfly/standalone/../../../etc/x.xml", "x.xml", ""
)
def test_the_server_does_not_choose_what_root_reads(judge, path):
    host = machine(
        fixture("answers.json").replace(FILE, path), file=path or "/", text="standalone.xml"
    )
    assert judge(host)["running"]["shop"].status == "error"
    assert not any(key == f"file:{path}" for key in host.evidence)

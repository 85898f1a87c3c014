"""pool_validation on pools of files, against what the pools themselves were seen to do."""

import json
from typing import Any

import pytest
from ansible.module_utils.hostproof.collect.host import LiveHost
from ansible.module_utils.hostproof.controls.pool_validation.parsers import (
    pool_properties,
    pools,
    tomcat_resources,
)
from ansible.module_utils.hostproof.evaluate import audit
from ansible.module_utils.hostproof.evaluate.finding import Finding
from cases import cases
from default_policies import default_policy
from packs import FIXTURES, Machine

FOLDER = FIXTURES / "pool_validation"
CASES = json.loads((FOLDER / "checkouts.json").read_text())
FACTORIES = {
    "tomcat_jdbc": "org.apache.tomcat.jdbc.pool.DataSourceFactory",
    "dbcp2": "org.apache.tomcat.dbcp.dbcp2.BasicDataSourceFactory",
    "hikaricp": "com.zaxxer.hikari.HikariJNDIFactory",
    "ucp": "oracle.ucp.jdbc.PoolDataSourceImpl",
}
ORACLE = {"connectionFactoryClassName": "oracle.jdbc.pool.OracleDataSource"}
UCP = {"validateConnectionOnBorrow": "true", **ORACLE}
ON_BORROW = {"testOnBorrow": "true", "driverClassName": "oracle.jdbc.OracleDriver"}


def judge(text: str, file: str = "/opt/tomcat/conf/context.xml", **changes: Any) -> dict[str, Any]:
    parse = tomcat_resources.parse if file.endswith(".xml") else pool_properties.parse
    host = Machine().file(file, pools.kept(parse(text)))
    policy = default_policy("pool_validation") | {"files": [{"name": "web", "file": file}]}
    findings: dict[str, dict[str, Finding]] = {}
    for finding in audit.judge_host(host, {"pool_validation": policy | changes}):
        subject = finding.title.rpartition(": ")[0]
        findings.setdefault(finding.check.removeprefix("pool_validation."), {})[subject] = finding
    return findings


@cases("name", "context.xml", "application.properties")
def test_the_name_of_a_file_decides_how_it_is_read(tmp_path, name):
    """Nothing stands in for the parser: the file is read as on a host."""
    fixtures = {"context.xml": "tomcat-context-made-up.xml"}
    text = (FOLDER / fixtures.get(name, "application-made-up.properties")).read_text()
    (tmp_path / name).write_text(text)
    policy = default_policy("pool_validation")
    policy |= {"files": [{"name": "web", "file": str(tmp_path / name)}]}
    findings = audit.judge_host(LiveHost(), {"pool_validation": policy})
    parse = tomcat_resources.parse if name == "context.xml" else pool_properties.parse
    titles = [finding.title for finding in findings if finding.check == "pool_validation.validated"]
    assert {pool.name for pool in parse(text)} == {
        title.partition(": ")[0].removeprefix("web ") for title in titles
    }


def resource(kind: str, /, **attributes: str) -> str:
    defaults = {"name": "jdbc/a", "type": "javax.sql.DataSource", "factory": FACTORIES[kind]}
    shown = " ".join(f'{name}="{value}"' for name, value in {**defaults, **attributes}.items())
    return f"<Context><Resource {shown}/></Context>"


def one_of(
    check: str, kind: str, changes: dict[str, Any] | None = None, /, **given: str
) -> Finding:
    return judge(resource(kind, **given), **(changes or {}))[check]["web jdbc/a"]


@pytest.mark.parametrize(
    "case",
    CASES,
    ids=lambda case: " ".join([case["kind"], *map("=".join, case["attributes"].items())]),
)
def test_a_pool_does_what_the_control_says(case: dict[str, Any]) -> None:
    at_once, rested, behind = case["counted"]
    findings = judge(resource(case["kind"], **case["attributes"]))
    validated, foreground = (findings[name]["web jdbc/a"] for name in ("validated", "foreground"))
    if case["kind"] == "ucp":
        # Counted with another driver than Oracle's, of which Oracle's documents say nothing.
        assert validated.status == foreground.status == "error"
        return
    persisted = str(validated.persisted)
    if "testOnReturn" in case["attributes"]:
        assert "nothing (" in persisted and "testOnReturn checks what worked" in persisted
        return
    trusted = case["kind"] == "tomcat_jdbc" and case["attributes"].get("testOnBorrow") == "true"
    if behind:
        assert (foreground.status, ": background (" in persisted) == ("skip", True)
    elif at_once:
        # Nobody knows the round trip, which each checkout waits for.
        assert (foreground.status, ": foreground (" in persisted) == ("warn", True)
    elif rested or trusted:
        assert (foreground.status, ": foreground (" in persisted) == ("pass", True)
        assert "a round trip a connection in" in str(foreground.in_use)
    else:
        assert (validated.status, ": nothing (" in persisted) == ("fail", True)


@cases(
    "given mode",
    ({}, "nothing ("),
    ({"validateConnectionOnBorrow": "TRUE"}, "foreground (validateConnectionOnBorrow)"),
    (
        {"validateConnectionOnBorrow": "true", "secondsToTrustIdleConnection": "60"},
        "foreground (validateConnectionOnBorrow, at most once in 60000 ms",
    ),
    ({"fastConnectionFailoverEnabled": "true"}, "background (events of FAN"),
    ({"validateconnectiononborrow": "true"}, "nothing ("),
)
def test_ucp_by_oracle_s_documents(given, mode):
    assert f"ucp: {mode}" in str(one_of("validated", "ucp", **ORACLE, **given).persisted)


@cases(
    "kind given idle status said",
    ("tomcat_jdbc", {"testWhileIdle": "true"}, 30, "warn", "goes back into the pool"),
    ("tomcat_jdbc", {"testWhileIdle": "true", "testOnReturn": "true"}, 30, "pass", None),
    (
        "tomcat_jdbc",
        {
            "testWhileIdle": "true",
            "testOnReturn": "true",
            "timeBetweenEvictionRunsMillis": "1800000",
        },
        30,
        "warn",
        "idle for up to 30.1 minutes",
    ),
    # Three of eight a round: the last one waits for the third.
    (
        "dbcp2",
        {
            "testOnBorrow": "false",
            "testWhileIdle": "true",
            "testOnReturn": "true",
            "timeBetweenEvictionRunsMillis": "600000",
        },
        26,
        "warn",
        "idle for up to 26.7 minutes",
    ),
    ("ucp", {"fastConnectionFailoverEnabled": "true", **ORACLE}, 30, "warn", "a firewall cut"),
)
def test_what_the_background_lets_through(kind, given, idle, status, said):
    finding = one_of("background", kind, {"firewall_idle_minutes": idle}, **given)
    assert finding.status == status
    assert said is None or said in str(finding.why)


@cases("minutes status", (60, "pass"), (59, "warn"), (None, "pass"))
def test_what_is_trusted_for_longer_than_the_firewall_does(minutes, status):
    trusting = {"validateConnectionOnBorrow": "true", "secondsToTrustIdleConnection": "3600"}
    finding = one_of("foreground", "ucp", {"firewall_idle_minutes": minutes}, **ORACLE, **trusting)
    assert finding.status == status


@cases(
    "kind given status",
    ("hikaricp", {"connectionTestQuery": "select 1 from dual"}, "warn"),
    ("hikaricp", {}, "pass"),
    ("dbcp2", {"validationQuery": "select 1"}, "pass"),
    ("dbcp2", {"validationQuery": "x", "driverClassName": "oracle.jdbc.OracleDriver"}, "warn"),
    ("tomcat_jdbc", {**ON_BORROW, "validationQuery": "x", "validatorClassName": "a.B"}, "pass"),
    ("ucp", {**UCP, "sqlForValidateConnection": "x"}, "warn"),
    ("ucp", UCP, "pass"),
    ("tomcat_jdbc", {}, "skip"),
)
def test_a_statement_where_the_driver_can_be_asked(kind, given, status):
    assert one_of("checker", kind, **given).status == status


@cases(
    "kind given sizes",
    ("tomcat_jdbc", {}, (10, 100, 30000)),
    ("tomcat_jdbc", {"initialSize": "3", "maxActive": "-1"}, (3, 2147483647, 30000)),
    ("tomcat_jdbc", {"minIdle": "4", "maxWait": "10"}, (4, 100, 10)),
    # DBCP 2 has no maxActive, and waits for ever.
    ("dbcp2", {"maxActive": "50"}, (0, 8, 2147483647)),
    ("dbcp2", {"maxTotal": "50", "maxWaitMillis": "5000"}, (0, 50, 5000)),
    ("hikaricp", {"maximumPoolSize": "15"}, (15, 15, 30000)),
    ("hikaricp", {"minimumIdle": "2"}, (2, 10, 30000)),
    ("ucp", {"maxPoolSize": "30", "connectionWaitTimeout": "4"}, (0, 30, 4000)),
)
def test_what_each_brings_to_the_database(kind, given, sizes):
    database = {"name": "SHOP", "hosts": ["db1"], "clients": ["app1"], "pools": ["web jdbc/a"]}
    values = one_of("sessions", kind, {"databases": [database]}, **given).values
    assert values is not None
    assert tuple(values[name] for name in ("minimum", "maximum", "wait_ms")) == sizes


@cases(
    "text said",
    (resource("dbcp2", testOnBorrow="${check}"), "is an expression"),
    (resource("tomcat_jdbc", testOnBorrow="true", validationInterval="3s"), "Interval is a word"),
    (resource("dbcp2", factory="a.B"), "what a.B makes of it is not known"),
)
def test_what_is_not_known_is_no_pass(text, said):
    finding = judge(text)["foreground"]["web jdbc/a"]
    assert finding.status == "error" and said in str(finding.why)


def test_java_does_not_trim():
    for value, status in (
        ("true", "pass"),
        (" true ", "fail"),
        ("TRUE", "pass"),
        ("true ", "fail"),
    ):
        findings = judge(resource("tomcat_jdbc", testOnBorrow=value))
        assert findings["validated"]["web jdbc/a"].status == status, repr(value)
    findings = judge(resource("tomcat_jdbc", testOnBorrow="true", validationInterval=" 3000 "))
    assert findings["validated"]["web jdbc/a"].status == "error"


def test_files_that_cannot_be_read_or_hold_none():
    findings = judge("<Context/>")
    assert "has no data source that is known here" in str(findings["validated"])
    assert "error" in {finding.status for check in findings.values() for finding in check.values()}
    policy = default_policy("pool_validation") | {"files": [{"name": "web", "file": "/no.xml"}]}
    host = Machine().file("/no.xml", "no JSON")
    by_check = {
        one.check: one.status for one in audit.judge_host(host, {"pool_validation": policy})
    }
    assert by_check["pool_validation.validated"] == "error"


def test_the_made_up_files():
    context = judge((FOLDER / "tomcat-context-made-up.xml").read_text())
    assert {name: finding.status for name, finding in context["validated"].items()} == {
        "web jdbc/orders": "pass",
        "web jdbc/shop": "pass",
        "web jdbc/hikari": "pass",
        "web jdbc/ucp": "fail",
        "web jdbc/plain": "error",
    }
    spring = judge(
        (FOLDER / "application-made-up.properties").read_text(), "/srv/application.properties"
    )
    statuses = {name: finding.status for name, finding in spring["validated"].items()}
    assert statuses == {"web spring.datasource": "error"}


#: Words that belong to one kind of pool.
WORDS = {
    "ironjacamar": ("exception sorter", "flush-strategy", "EntirePool", "IronJacamar", "org.jboss"),
    "tomcat_jdbc": ("validationInterval",),
    "dbcp2": ("numTestsPerEvictionRun", "BasicDataSource"),
    "hikaricp": ("HikariCP", "keepaliveTime"),
    "ucp": ("validateConnectionOnBorrow", "secondsToTrustIdleConnection"),
}


@pytest.mark.parametrize("kind", FACTORIES)
@cases(
    "attributes",
    {},
    {"testOnBorrow": "false", "testWhileIdle": "true", "timeBetweenEvictionRunsMillis": "900000"},
    {"testOnBorrow": "false"},
    {"fastConnectionFailoverEnabled": "true"},
    {"validateConnectionOnBorrow": "true", "secondsToTrustIdleConnection": "9000"},
    {"testOnBorrow": "true", "validationInterval": "9000000"},
)
def test_each_fix_uses_the_words_of_its_own_pool(kind, attributes):
    own = ORACLE if kind == "ucp" else {"driverClassName": "oracle.jdbc.OracleDriver"}
    findings = judge(resource(kind, **own, **attributes), firewall_idle_minutes=10)
    others = [word for other, words in WORDS.items() if other != kind for word in words]
    for check in ("validated", "foreground", "background", "checker"):
        for finding in findings[check].values():
            if finding.status in ("skip", "error"):
                continue
            texts = (finding.why, finding.fix, finding.reference)
            assert not [word for word in others for text in texts if text and word in text]


def test_the_file_of_a_real_report():
    (finding,) = judge((FOLDER / "dbcp2-context.xml").read_text())["foreground"].values()
    assert "numTestsPerEvictionRun to -1" in str(finding.fix)


@cases(
    "sql status",
    ("SELECT 1", "fail"),
    ("select 1 ", "fail"),
    ("SELECT 1 FROM DUAL", "pass"),
    ("select 1 from dual;", "fail"),
    ("begin null; end;", "pass"),
)
@cases(
    "more", {"driverClassName": "oracle.jdbc.OracleDriver"}, {"url": "jdbc:oracle:thin:@db:1521/x"}
)
def test_a_statement_that_oracle_rejects_validates_nothing(sql, status, more):
    for kind, name in (("dbcp2", "validationQuery"), ("hikaricp", "connectionTestQuery")):
        (finding,) = judge(resource(kind, **{name: sql}, **more))["validated"].values()
        assert finding.status == status
    (finding,) = judge(resource("dbcp2", validationQuery=sql, url="jdbc:postgresql://db/x"))[
        "validated"
    ].values()
    assert finding.status == "pass"


def test_select_1_in_the_file_of_spring():
    text = (FOLDER / "select-1.properties").read_text()
    (finding,) = judge(text, "/opt/app/application.properties")["validated"].values()
    assert finding.status == "fail" and "ORA-00923" in str(finding.why)
    assert "remove connectionTestQuery" in str(finding.fix)
    assert "192.0.2.10" not in pools.kept(pool_properties.parse(text))


def test_a_statement_of_ucp_that_nothing_runs():
    text = resource(
        "ucp",
        **ORACLE,
        fastConnectionFailoverEnabled="true",
        sqlForValidateConnection="select 1 from dual",
    )
    (finding,) = judge(text)["validated"].values()
    assert finding.status == "warn" and "nothing runs it" in str(finding.why)
    assert "set validateConnectionOnBorrow to true" in str(finding.fix)

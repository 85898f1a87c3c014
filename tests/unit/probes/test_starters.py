"""Units that start Oracle's software at boot time, by what they run."""

import limit_packs
import packs
import pytest
from ansible.module_utils.hostproof.probes.oracle import starters
from cases import cases

HOME = packs.HOME
SYSTEM = "/etc/systemd/system"
VENDOR = "/usr/lib/systemd/system"
SCRIPT = "/opt/local/start-all.sh"


def machine() -> packs.Machine:
    host = limit_packs.with_oracle().file("/etc/oratab", f"ORCL:{HOME}:Y\n")
    return host.command(f"stat -L -c %U {HOME}/bin/sqlplus", "oracle\n")


def found(host: packs.Machine) -> dict[str, starters.Starter]:
    return {starter.unit: starter for starter in starters.read(host)}


@cases(
    "name service starts",
    ("oracle", f"ExecStart={HOME}/bin/dbstart {HOME}", ("database",)),
    ("oracledb", "Type=forking\nUser=oracle\nExecStart=/bin/bash -lc dbstart", ("database",)),
    ("orcl@oracledb", "User=oracle\nExecStart=/usr/bin/start %i", ()),
    ("rdbms@ORCL", f"ExecStart={HOME}/bin/srvctl start database -d %i", ("database",)),
    ("lsnr", f"User=oracle\nExecStart={HOME}/bin/lsnrctl start", ("listener",)),
    ("x", f"ExecStartPre={HOME}/bin/lsnrctl start\nExecStart=sqlplus / as sysdba @/a", None),
    ("y", f"ExecStart={HOME}/own/start", ()),
    ("z", "ExecStart=/etc/init.d/oracle start", ()),
    ("ohasd", "ExecStart=/etc/init.d/init.ohasd run", ("clusterware",)),
    ("u", "User=%i\nExecStart=/bin/x", "none"),
    ("u@oracle", "User=%i\nExecStart=/bin/x", ()),
    ("n", "User=54321\nExecStart=/bin/x", ()),
)
def test_a_unit_by_its_commands_or_its_account(name, service, starts):
    host = limit_packs.starter(machine(), f"{name}.service", f"[Service]\n{service}\n")
    units = found(host)
    assert list(units) == ([] if starts == "none" else [f"{name}.service"])
    if starts != "none":
        assert units[f"{name}.service"].starts == (starts or units[f"{name}.service"].starts)


@cases(
    "service",
    "ExecStart=/usr/libexec/oracle-cloud-agent/agent\nUser=oracle-cloud-agent",
    "ExecStart=/usr/sbin/oracleasm.init start",
    "ExecStart=/opt/oracle.ahf/bin/tfa",
    f"ExecStart=/bin/true\nExecStop={HOME}/bin/dbshut",
    f"ExecStart=/bin/true\nExecStop={SCRIPT} stop",
    f"ExecStart=/bin/x\nExecStart=\n#ExecStart={HOME}/bin/dbstart",
    f"ExecStart={HOME}/bin/dbstart\nExecStart=\nExecStart=/bin/x",
    f"Environment=ORACLE_HOME={HOME}\nExecStart=/usr/bin/exporter",
    "ExecStart=/usr/bin/check lsnrctl status",
)
def test_what_starts_no_database(service):
    host = limit_packs.starter(machine(), "dbora.service", f"[Service]\n{service}\n")
    assert found(host.file(SCRIPT, f"#!/bin/sh\n{HOME}/bin/dbshut\n")) == {}


def test_what_no_boot_starts():
    host = machine()
    text = f"[Service]\nExecStart={HOME}/bin/dbstart\n"
    host.file(f"{SYSTEM}/off.service", text)
    host.link(f"{SYSTEM}/rescue.target.wants/off.service", f"{SYSTEM}/off.service")
    host.link(f"{SYSTEM}/masked.service", "/dev/null")
    host.link(f"{SYSTEM}/multi-user.target.wants/masked.service", "/dev/null")
    assert found(host) == {}


@cases(
    "file text",
    (f"{SYSTEM}/app.service", "[Unit]\nWants=net.target db.service\n[Service]\n"),
    (f"{SYSTEM}/app.service.d/a.conf", "[Unit]\nRequires=db.service\n"),
    (f"{SYSTEM}/app.service.wants/db.service", ""),
    ("/usr/lib/systemd/system/multi-user.target.wants/db.service", ""),
    (f"{SYSTEM}/oracle.target.wants/db.service", ""),
    (f"{SYSTEM}/app.service", "[Service]\nExecStart=/usr/bin/systemctl --no-block start db\n"),
    (f"{SYSTEM}/app.service", f"[Service]\nExecStart={SCRIPT}\n"),
    (f"{SYSTEM}/app.service.d/a.conf", "[Service]\nExecStartPost=/sbin/service db start\n"),
)
def test_a_unit_that_another_wants(file, text):
    host = machine().file(f"{SYSTEM}/app.service", "[Service]\n")
    host.link(f"{SYSTEM}/multi-user.target.wants/app.service", f"{SYSTEM}/app.service")
    host.file(f"{SYSTEM}/db.service", f"[Service]\nExecStart={HOME}/bin/dbstart\n")
    host.file(SCRIPT, "#!/bin/sh\nsystemctl restart -q db.service\n")
    assert list(found(host.file(file, text))) == ["db.service"]


def test_a_path_that_exists_and_rc_local_that_can_be_executed():
    host = machine().file(f"{SYSTEM}/db.path", "[Path]\nPathExists=/u01\n")
    host.link(f"{SYSTEM}/multi-user.target.wants/db.path", f"{SYSTEM}/db.path")
    host.file(f"{SYSTEM}/db.service", f"[Service]\nExecStart={HOME}/bin/dbstart\n")
    host.file("/etc/rc.d/rc.local", "#!/bin/sh\nlsnrctl start\n", mode=0o755)
    host.file(f"{VENDOR}/rc-local.service", "[Service]\nExecStart=/etc/rc.d/rc.local start\n")
    assert list(found(host)) == ["db.service", "rc-local.service"]
    host.evidence.clear()
    host.file("/etc/rc.d/rc.local", "#!/bin/sh\nlsnrctl start\n", mode=0o644)
    host.file(f"{SYSTEM}/db.path", "[Path]\nPathChanged=/u01\n")
    assert list(found(host)) == []


def test_a_timer_of_the_boot_and_one_of_the_clock():
    for line, names in (
        ("OnBootSec=60", ["db.service"]),
        ("OnActiveSec=1min", ["db.service"]),
        ("OnCalendar=daily", []),
    ):
        host = machine().file(f"{SYSTEM}/db.timer", f"[Timer]\n{line}\n")
        host.link(f"{SYSTEM}/timers.target.wants/db.timer", f"{SYSTEM}/db.timer")
        host.file(f"{SYSTEM}/db.service", f"[Service]\nExecStart={HOME}/bin/dbstart\n")
        assert list(found(host)) == names


@cases(
    "script session",
    ("su - oracle -c dbstart", "su"),
    ("daemon --user oracle dbstart", "runuser"),
    ("runuser -l oracle -c 'lsnrctl start'\nsu oracle -c dbstart", "runuser"),
    ("su - oracle <<EOF\nsqlplus / as sysdba\nEOF", "su"),
    ("su - oracle -c /home/oracle/up.sh", "su"),
    ("su - oracle -c 'lsnrctl start'\ndbstart", ""),
    ("setpriv --reuid oracle dbstart", ""),
    ("/home/oracle/up.sh", ""),
    ("dbstart # as if by su - oracle", ""),
)
def test_the_session_of_what_a_script_starts(script, session):
    host = machine().file(SCRIPT, f"#!/bin/sh\n{script}\n")
    host.file("/home/oracle/up.sh", "#!/bin/sh\nsqlplus / as sysdba @up\n")
    host = limit_packs.starter(host, "a.service", f"[Service]\nExecStart={SCRIPT} start\n")
    assert found(host)["a.service"].session.partition(" ")[0] == session


def test_two_units_with_one_script():
    host = machine().file(SCRIPT, "#!/bin/sh\n/home/oracle/up.sh\n")
    host.file("/home/oracle/up.sh", "#!/bin/sh\nulimit -l unlimited\ndbstart\n")
    for name in ("a.service", "b.service"):
        limit_packs.starter(host, name, f"[Service]\nExecStart={SCRIPT} %n\n")
    units = found(host)
    assert list(units) == ["a.service", "b.service"]
    assert [change[:3] for change in units["b.service"].changed] == [("", "l", "unlimited")]


def test_several_limits_of_one_ulimit():
    host = machine().file(SCRIPT, "#!/bin/sh\nulimit -n 65536 -Hl 64 -Sl 32\ndbstart\n")
    host = limit_packs.starter(host, "a.service", f"[Service]\nExecStart={SCRIPT}\n")
    changes = [change[:3] for change in found(host)["a.service"].changed]
    assert changes == [("", "n", "65536"), ("H", "l", "64"), ("S", "l", "32")]


def test_a_script_of_sysv_becomes_a_unit():
    host = machine().file("/etc/rc.d/init.d/orcl", "#!/bin/sh\nsu - oracle -c dbstart\n")
    host.link("/etc/rc.d/rc3.d/S99orcl", "/etc/rc.d/init.d/orcl")
    assert found(host)["orcl.service"].session.startswith("su (/etc/rc.d/rc3.d/S99orcl:2")
    host.file(f"{SYSTEM}/orcl.service", "[Service]\nExecStart=/bin/x\n")
    host.evidence.clear()
    assert found(host) == {}


def test_a_unit_that_may_not_be_read_is_not_known():
    host = limit_packs.starter(machine(), "a.service", f"[Service]\nExecStart={SCRIPT}\n")
    host.file(SCRIPT, "#!/bin/sh\n").deny(SCRIPT)
    with pytest.raises(starters.Denied, match="it may start a database"):
        starters.read(host)


@cases(
    "table line starts",
    ("/etc/crontab", "@reboot root su - oracle -c dbstart", [("root", ("database",))]),
    ("/etc/cron.d/db", "@reboot oracle lsnrctl start", [("oracle", ("listener",))]),
    ("/var/spool/cron/oracle", f"@reboot {SCRIPT} >/tmp/x", [("oracle", ("database",))]),
    ("/var/spool/cron/crontabs/oracle", "@reboot dbstart", [("oracle", ("database",))]),
    (
        "/var/spool/cron/tabs/oracle",
        "  @reboot  dbstart $ORACLE_HOME",
        [("oracle", ("database",))],
    ),
    ("/var/spool/cron/oracle", f"0 3 * * * {SCRIPT}", []),
    ("/var/spool/cron/oracle", "#@reboot dbstart", []),
    ("/var/spool/cron/oracle", "@reboot /usr/bin/collect", []),
)
def test_a_line_of_cron(table, line, starts):
    host = machine().file(table, line + "\n").file(SCRIPT, "#!/bin/sh\nsqlplus / as sysdba @up\n")
    lines = starters.read_cron(host)
    assert [(starter.user, starter.starts) for starter in lines] == starts
    assert all(starter.session.startswith("crond (") for starter in lines) or "su -" in line


@cases(
    "text sids",
    ("Environment=ORACLE_SID=ORCL\nExecStart=/bin/sh -c 'sqlplus / as sysdba @up'", ("ORCL",)),
    (f"ExecStart={SCRIPT}", ("A", "B")),
    ("Environment=ORACLE_SID=%i\nExecStart=/usr/bin/sqlplus / @up", ("TEST",)),
    ("ExecStart=/bin/sh -c 'export ORACLE_SID=$1; sqlplus / @up'", ()),
    ("ExecStart=/bin/sh -c 'for ORACLE_SID in A C; do sqlplus / @up; done'", ("A", "C")),
    (
        "ExecStart=/bin/sh -c 'for db in C D; do ORACLE_SID=${db} dbup; done; lsnrctl start'",
        ("C", "D"),
    ),
    ("ExecStart=/bin/sh -c 'for sid in $ALL; do ORACLE_SID=$sid sqlplus / @up; done'", ()),
    (f"ExecStart={HOME}/bin/dbstart {HOME}", ()),
)
def test_the_instances_that_a_unit_names(text, sids):
    host = machine().file(SCRIPT, '#!/bin/sh\nORACLE_SID=B dbstart\nexport ORACLE_SID="A"\n')
    unit = "db@TEST.service" if "%i" in text else "db.service"
    limit_packs.starter(host, unit, f"[Service]\n{text}\n")
    assert found(host)[unit].sids == sids


def test_a_variable_of_a_script_is_not_kept():
    """A line NAME=VALUE is a setting in a unit only; in a script it can hold a password."""
    text = f"T0=Kq7zTr2pWx {HOME}/bin/dbstart {HOME}"
    for path in ("/etc/rc.local", "/etc/init.d/dbora", "/opt/start.sh"):
        kept = starters._kept([HOME], path, text)
        assert "Kq7zTr2pWx" not in kept
        assert f"{HOME}/bin/dbstart" in kept
    setting = "LimitMEMLOCK=infinity"
    assert starters._kept([], "/etc/systemd/system/dbora.service", setting) == setting

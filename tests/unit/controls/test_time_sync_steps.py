"""Every spelling that lets a daemon step the clock."""

from typing import Any

from ansible.module_utils.hostproof.collect.host import RecordedHost
from ansible.module_utils.hostproof.controls.time_sync.control import CONTROL as time_sync
from ansible.module_utils.hostproof.controls.time_sync.facts import NTP_CONF, SHOW, WANTED
from ansible.module_utils.hostproof.evaluate import audit
from ansible.module_utils.hostproof.evaluate.finding import Finding
from cases import cases
from clock_packs import CONF, bare, daemon, shown, with_chrony
from default_policies import changed_policy
from packs import Machine
from test_time_sync import with_ntpd

RAC = {"profile": "rac_asm"}


def judged(machine: Machine, **changes: Any) -> dict[str, Finding]:
    policy = changed_policy("time_sync", **RAC, **changes)
    findings = audit.judge_host(machine, {time_sync.name: policy})
    return {finding.check.partition(".")[2]: finding for finding in findings}


def conf(*lines: str) -> Machine:
    return with_chrony("\n".join(["server ntp1 iburst", "makestep 1 3", *lines, ""]))


def test_a_leap_second_that_chronyd_steps():
    finding = judged(conf("leapsecmode slew", "LeapSecMode step"))["never_steps"]
    assert (finding.status, finding.failing_layer) == ("fail", "persisted")
    assert f"{CONF}:4 (leapsecmode step)" in finding.why


@cases("line", "leapsecmode slew", "leapsecmode system", "# leapsecmode step")
def test_a_leap_second_that_it_does_not_step(line):
    assert judged(conf(line))["never_steps"].status == "pass"
    assert judged(conf("leapsecmode step", "leapsecmode slew"))["never_steps"].status == "pass"


def test_a_step_at_the_start_where_none_is_allowed():
    machine = with_chrony("server ntp1\ninitstepslew 30 ntp1\n")
    finding = judged(machine, max_step_updates=0)["never_steps"]
    assert (finding.status, finding.persisted) == ("fail", f"{CONF}:2 (initstepslew 30)")
    assert judged(with_chrony("initstepslew 30 ntp1\n"))["never_steps"].status == "pass"


@cases(
    "argv status",
    ("phc2sys -a -r -S0.1", "fail"),
    ("phc2sys -a -r --step_threshold=0.1", "fail"),
    ("phc2sys -a -r --step_threshold 0.1", "fail"),
    ("phc2sys -a -r -S 0.0", "pass"),
    ("phc2sys -a -r -f /etc/phc2sys.conf", "error"),
    ("phc2sys -a -r", "pass"),
    ("ptp4l -S -i eth0", "pass"),
    ("phc2sys -arS 0.5", "fail"),
    ("phc2sys -arS0", "pass"),
    ("phc2sys -a -r --step_thresh=1", "fail"),
    ("phc2sys -arf /etc/x.conf", "error"),
    ("phc2sys -a -r --first_step_threshold=0.1", "pass"),
    ("ptp4l -i eth0 -S --step_threshold=1", "fail"),
    ("ptp4l -S -f /etc/ptp4l.conf", "error"),
)
def test_ptp(argv, status):
    machine = daemon(bare(), "/usr/sbin/" + argv)
    unit = argv.partition(" ")[0]
    machine.command(" ".join(SHOW), shown(**{unit: f"enabled /usr/sbin/{unit}"}))
    assert judged(machine)["never_steps"].status == status


@cases(
    "options running",
    ("-i eth0 -S", "chronyd, ptp"),
    ("-i eth0 -mS", "chronyd, ptp"),
    ("-Si eth0", "chronyd, ptp"),
    ("-2mSi eth0", "chronyd, ptp"),
    ("-i eth0 --time_stamping=software", "chronyd, ptp"),
    ("-i eth0 --time_stamping software", "chronyd, ptp"),
    ("-i eth0 --time_st=software", "chronyd, ptp"),
    ("-i eth0 --time_stamping=hardware", "chronyd"),
    ("-i eth0 -H -s", "chronyd"),
)
def test_ptp4l_with_software_stamps_sets_the_clock_too(options, running):
    finding = judged(daemon(with_chrony(), "/usr/sbin/ptp4l " + options, pid=701))["one_daemon"]
    assert finding.running == running and finding.status == ("fail" if "ptp" in running else "pass")


def test_a_chronyd_that_sets_no_clock_by_joined_options():
    assert judged(with_chrony(argv="/usr/sbin/chronyd -nx"))["one_daemon"].running == "none"


OTHER_FILE = "/etc/chrony/lan.conf"


def in_another_unit(unit: str, argv: str, state: str = "enabled") -> Machine:
    """A chronyd of a unit that no package of a distribution enables by default."""
    machine = with_chrony(argv="/usr/sbin/chronyd")
    machine.running[0]["unit"] = unit
    machine.command(" ".join(SHOW), shown(chrony="disabled /usr/sbin/chronyd $DAEMON_OPTS"))
    block = shown(x=f"{state} {argv}").replace("x.service", unit)
    machine.command(" ".join([*SHOW[:3], unit]), block.partition("\n\n")[0] + "\n")
    return machine.file(OTHER_FILE, "server ntp1\nmakestep 1 -1\n")


@cases("unit", "chronyd@lan.service", "chronyd-restricted.service")
def test_a_unit_of_another_name_is_started_by_the_next_reboot(unit):
    argv = "/usr/sbin/chronyd -U"
    finding = judged(in_another_unit(unit, argv))["one_daemon"]
    assert (finding.status, finding.persisted) == ("pass", unit)
    finding = judged(in_another_unit(unit, argv, "disabled"))["one_daemon"]
    assert (finding.status, finding.failing_layer) == ("fail", "persisted")
    assert "the next reboot starts none" in finding.why


def wanted_at_boot(*units: tuple[str, str]) -> Machine:
    """A host on which no daemon runs, with links of ``systemctl enable`` and their commands."""
    machine = bare().command(" ".join(SHOW), shown())
    for unit, argv in (*units, ("sshd.service", "/usr/sbin/sshd")):
        machine.link(f"{WANTED}/{unit}", f"/usr/lib/systemd/system/{unit}")
        block = shown(x=f"enabled {argv}").replace("x.service", unit).partition("\n\n")[0]
        machine.command(" ".join([*SHOW[:3], unit]), block + "\n")
    return machine


@cases(
    "unit",
    "chronyd-restricted.service",
    "chronyd@lan.service",
    "ptp4l@eth0.service",
    "phc2sys@ens1f0.service",
    "ntpd@site.service",
)
def test_no_second_daemon_is_advised_where_a_unit_is_enabled(unit):
    program = unit.partition("@")[0].partition("-")[0].partition(".")[0]
    finding = judged(wanted_at_boot((unit, f"/usr/sbin/{program} -f /etc/x.conf -S")))["one_daemon"]
    assert (finding.status, finding.persisted) == ("fail", unit)
    assert f"why {unit} does not run" in finding.fix and "install" not in finding.fix


def test_two_daemons_of_which_one_is_a_template():
    units = (
        ("chronyd-restricted.service", "/usr/sbin/chronyd"),
        ("ntpd@a.service", "/usr/sbin/ntpd"),
    )
    finding = judged(wanted_at_boot(*units))["one_daemon"]
    assert finding.fix.startswith("keep one of them, and stop and disable the others of chronyd-")
    assert finding.status == "fail"


def test_the_unit_that_runs_is_enabled():
    finding = judged(in_another_unit("chronyd@lan.service", "/usr/sbin/chronyd", "disabled"))[
        "one_daemon"
    ]
    assert finding.commands == ("systemctl enable chronyd@lan.service",)


def test_units_of_the_next_boot_that_may_not_be_read():
    assert judged(with_chrony().deny(WANTED))["one_daemon"].status == "error"


def test_a_unit_of_another_name_that_systemctl_does_not_show():
    machine = in_another_unit("chronyd@lan.service", "/usr/sbin/chronyd")
    machine.command(" ".join([*SHOW[:3], "chronyd@lan.service"]), "", rc=1)
    assert judged(machine)["one_daemon"].status == "error"


@cases("option", "-f %s", "-f%s", "-4f %s", "-f /etc/x.conf -f %s")
def test_the_file_that_an_option_names(option):
    argv = "/usr/sbin/chronyd -u chrony " + option % OTHER_FILE
    finding = judged(in_another_unit("chronyd@lan.service", argv))["never_steps"]
    assert finding.status == "fail" and f"{OTHER_FILE}:2" in finding.why


@cases("words", "makestep", "--unknown", "-Z")
def test_directives_and_unknown_options(words):
    """chronyd takes directives as arguments, and then reads no file (chronyd(8))."""
    machine = in_another_unit("chronyd@lan.service", "/usr/sbin/chronyd -n " + words)
    assert judged(machine)["never_steps"].status == "error"


@cases(
    "path line",
    ("/etc/cron.d/ntp", "0 3 * * * root /usr/sbin/ntpdate -u ntp-prod >/dev/null"),
    ("/etc/crontab", "@daily root ntpdate -b ntp1"),
    ("/var/spool/cron/root", "*/5 * * * * chronyc -a makestep"),
    ("/etc/cron.hourly/ntp", "rdate -s ntp1"),
    ("/etc/cron.daily/ntp", "/usr/sbin/ntpd -gq"),
    ("/var/spool/cron/oracle", "0 3 * * * sudo ntpdate ntp1"),
    ("/etc/crontab", "@hourly root /sbin/hwclock --hctosys"),
    ("/etc/crontab", "@hourly root hwclock -u -s"),
    ("/etc/crontab", '@daily root date -s "$(ssh ntp1 date)"'),
    ("/etc/crontab", "@daily root date --set=@$(cat /opt/now)"),
    ("/etc/crontab", "@daily root timedatectl set-time 03:00"),
)
def test_cron_steps_the_clock(path, line):
    machine = conf().file(path, line + "\n", mode=0o755)
    finding = judged(machine)["never_steps"]
    assert (finding.status, finding.failing_layer) == ("fail", "persisted")
    assert f"{path}:1" in finding.why
    assert judged(RecordedHost(machine.evidence, "0.2.0"))["never_steps"].why == finding.why


@cases(
    "path line",
    ("/etc/cron.d/ntp", "#0 3 * * * root /usr/sbin/ntpdate -u ntp1"),
    ("/etc/cron.d/ntp", "0 3 * * * root ntpdate -q ntp1 | logger"),
    ("/etc/cron.d/ntp", "0 3 * * * root chronyc tracking"),
    ("/etc/crontab", "@hourly root /sbin/hwclock --systohc -u"),
    ("/etc/crontab", "@daily root date -Is >/tmp/a; date -u +%s"),
    ("/var/spool/cron/oracle", "0 3 * * * ntpdate ntp1"),
)
def test_cron_does_not_step_it(path, line):
    assert judged(conf().file(path, line + "\n"))["never_steps"].status == "pass"


def test_a_table_of_cron_that_may_not_be_read():
    machine = conf().file("/var/spool/cron/root", "").deny("/var/spool/cron/root")
    assert judged(machine)["never_steps"].status == "error"


def test_a_recording_of_an_earlier_release_without_cron():
    machine = conf()
    judged(machine)
    del machine.evidence["lines:clock_steps"]
    assert judged(RecordedHost(machine.evidence))["never_steps"].status == "pass"


STEP = "/etc/ntp.conf:2 (tinker step 0.128)"


@cases(
    "options line status why",
    ("-g -x", "tinker panic 0 step 0.128", "fail", f"{STEP} overrides -x"),
    ("-g -x", "tinker step 0.128  # 128 ms", "fail", f"{STEP} overrides -x"),
    ("-g -x", "tinker stepback 0.5", "fail", "(tinker stepback 0.5) overrides -x"),
    ("-g -x", "tinker step 0", "pass", ""),
    ("-g -x", "tinker panic 0", "pass", ""),
    ("-g -x", "tos minclock 3", "pass", ""),
    ("-g -x", "# tinker step 0.128", "pass", ""),
    ("-g -x", "tinker step some", "error", "/etc/ntp.conf, line 2: step"),
    ("-g", "tinker step 0", "warn", "(tinker step 0) keeps ntpd from steps"),
    ("-g", "tinker step 900", "warn", "(tinker step 900) keeps ntpd from steps"),
    ("-g", "tinker stepfwd 0", "fail", "ntpd runs without -x"),
    ("-g", "tinker panic 0", "fail", "ntpd runs without -x"),
    ("-g", "tinker step 1", "fail", "ntpd runs without -x"),
)
def test_the_threshold_of_ntp_conf(options, line, status, why):
    machine = with_ntpd(f"/usr/sbin/ntpd -u ntp:ntp {options}", options)
    machine.file("/etc/ntp.conf", f"driftfile /x\n{line}\nserver ntp1\n")
    finding = judged(machine)["never_steps"]
    assert (finding.status, why in (finding.why or "")) == (status, True)
    recorded = judged(RecordedHost(machine.evidence))["never_steps"]
    assert (recorded.why, recorded.fix) == (finding.why, finding.fix)
    if "overrides" in why:
        assert (finding.fix or "").startswith("remove /etc/ntp.conf:2")


@cases("option", "-c /opt/n.conf", "-gc /opt/n.conf", "--configfile=/opt/n.conf")
def test_the_file_of_ntpd(option):
    machine = with_ntpd(f"/usr/sbin/ntpd -u ntp:ntp -x {option}", f"-x {option}")
    machine.file("/opt/n.conf", "tinker step 0.1\n").file("/etc/ntp.conf", "tinker step 0.2\n")
    finding = judged(machine)["never_steps"]
    assert (finding.status, "/opt/n.conf:1 (tinker step 0.1)" in finding.why) == ("fail", True)
    assert "ntp.conf" not in finding.fix
    assert judged(RecordedHost(machine.evidence))["never_steps"].why == finding.why


def test_a_file_that_ntp_conf_includes():
    machine = with_ntpd("/usr/sbin/ntpd -u ntp:ntp -x", "-x")
    machine.file("/etc/ntp.conf", 'includefile etc/ntp/a\nincludefile "/etc/ntp/none"\n')
    machine.file("/etc/ntp/a", "crypto pw tiger\nincludefile /etc/ntp/a\ntinker step 0.1\n")
    finding = judged(machine)["never_steps"]
    assert (finding.status, "/etc/ntp/a:3 (tinker step 0.1)" in finding.why) == ("fail", True)
    assert judged(RecordedHost(machine.evidence))["never_steps"].why == finding.why
    machine.evidence.clear()
    assert judged(machine.deny("/etc/ntp/a"))["never_steps"].status == "error"


def test_a_threshold_of_ntp_conf_that_may_not_be_read_or_was_not_recorded():
    machine = with_ntpd("/usr/sbin/ntpd -u ntp:ntp -x", "-x")
    assert judged(machine)["never_steps"].status == "pass"
    for path in NTP_CONF:
        del machine.evidence[f"file:{path}"]
    assert judged(RecordedHost(machine.evidence))["never_steps"].status == "pass"
    machine = with_ntpd("/usr/sbin/ntpd -u ntp:ntp -x", "-x").file("/etc/ntp.conf", "")
    assert judged(machine.deny("/etc/ntp.conf"))["never_steps"].status == "error"

"""Places that set a kernel value at the next boot and that are easy to miss.

Each of them passed before: the drop-in sets vm.swappiness to 1, and the place sets it to 60 later.
"""

import packs
import pytest
from ansible.module_utils.hostproof.collect.host import RecordedHost
from ansible.module_utils.hostproof.controls.hugepages.probes import transparent_hugepages as thp
from ansible.module_utils.hostproof.errors import HostproofError, Unanswered
from ansible.module_utils.hostproof.parsers.shell import (
    command_effects,
    script_lines,
    shell_words,
    started_commands,
)
from ansible.module_utils.hostproof.probes.systemd import boot
from cases import cases
from packs import Machine

KEY = "vm.swappiness"
PROC = "/proc/sys/vm/swappiness"
FILE = "/etc/sysctl.d/90-a.conf"
OWN = "/etc/systemd/system"


def host() -> Machine:
    return packs.linux().file(FILE, f"{KEY} = 1\n")


def at_boot(machine: Machine) -> boot.SysctlAtBoot:
    outcome = boot.sysctl_at_boot(boot.read_boot(machine), KEY)
    outcome.settled()
    return outcome


def rc_local(*lines: str) -> Machine:
    return host().file("/etc/rc.local", "\n".join(["#!/bin/sh", *lines, ""]), mode=0o755)


def is_unknown(machine: Machine, place: str) -> None:
    with pytest.raises(HostproofError, match=place):
        at_boot(machine)


class TestRcLocal:
    @cases(
        "lines",
        ("cd /proc/sys/vm", "echo 60 > swappiness"),
        ("cd //proc/sys/vm", "echo 60 > swappiness"),
        ("cd /proc/sys/vm && echo 60 > swappiness",),
        ("pushd /proc/sys", "echo 60 > vm/swappiness"),
        ("cd /proc", "echo 60 > sys/vm/swappiness"),
        ("cd /", "echo 60 > proc/sys/vm/swappiness"),
        ("cd / && cd proc/sys/vm && echo 60 > swappiness",),
        ("D=/proc/sys/vm", "cd $D", "echo 60 > swappiness"),
        ("export D=/proc/sys/vm", "cd $D", "echo 60 > swappiness"),
        ("readonly F=/proc/sys/vm/swappiness", "echo 60 > $F"),
        ("PATH=/opt/tune:$PATH", "tune.sh"),
        ("cd /etc/oracle", "sysctl -p tune.conf"),
        ("sysctl -p /etc/oracle/*.conf",),
        ("cd /opt/tune", "./tune.sh"),
        ("cd /opt/tune && ./tune.sh --all",),
        ("cd /opt", "tune/tune.sh"),
        ("cd /opt", "sh tune.sh"),
        (". ./tune.sh",),
        ("TUNE=/opt/tune.sh", "$TUNE start"),
        ("nohup ../tune.sh &",),
    )
    def test_what_it_writes_by_a_relative_path_is_unknown(self, lines):
        is_unknown(rc_local(*lines), "/etc/rc.local:")

    @cases(
        "lines",
        ("cd /opt", "touch /var/lock/subsys/local"),
        ("cd /proc/sys/net/ipv4", "echo 0 > ip_forward"),
        ("cd /sys/block/sda", "echo none > queue/scheduler"),
        ("sh -c 'true'",),
        ("# ./tune.sh",),
        ("exit 0", "./tune.sh"),
        ("echo ./tune.sh",),
    )
    def test_what_cannot_set_it_changes_nothing(self, lines):
        assert at_boot(rc_local(*lines)).winner == ("1", f"{FILE}:1")

    def test_a_file_that_sysctl_loads(self):
        machine = rc_local("sysctl -p /opt/tune.conf").file("/opt/tune.conf", f"{KEY}=60\n")
        assert at_boot(machine).winner == ("60", "/opt/tune.conf:1")

    def test_the_part_that_evidence_keeps_leads_to_the_same(self):
        machine = rc_local("cd /opt && ./tune.sh --password tiger", "sysctl -w vm.swappiness=2")
        with pytest.raises(HostproofError) as error:
            at_boot(machine)
        assert "tiger" not in str(error.value)


class TestUnits:
    def test_an_instance_of_a_template_sets_what_its_name_says(self):
        machine = host().file(f"{OWN}/tune@.service", f"[Service]\nExecStart=sysctl -w {KEY}=%i\n")
        machine.command("systemctl is-enabled tune@.service", "enabled\n")
        is_unknown(machine, "tune@.service")

    def test_a_percent_sign_is_written_twice(self):
        command = started_commands.of_unit("ExecStart=-sysctl -w a.b=%%i%i")
        assert command == f"sysctl -w a.b=%i{shell_words.UNKNOWN}"

    @cases("state", "made-up", "enabled disabled")
    def test_a_state_that_systemd_does_not_have(self, state):
        machine = host().file(f"{OWN}/tune.service", f"[Service]\nExecStart=sysctl -w {KEY}=60\n")
        machine.command("systemctl is-enabled tune.service", state + "\n", 1)
        is_unknown(machine, f"systemctl answered {state!r} about tune.service")

    @cases(
        "starter text",
        ("late.timer", "[Timer]\nOnBootSec=60\nUnit=tune.service\n"),
        ("x.path", "[Path]\nPathExists=/x\nUnit=tune.service\n"),
        ("x.socket", "[Socket]\nListenStream=1\nService=tune.service\n"),
        ("tune.socket", "[Socket]\nListenStream=1\n"),
        ("tune.path", "[Path]\nPathExists=/x\n"),
        ("tune.timer", "[Timer]\nOnBootSec=60\nUnit=%N.service\n"),
        ("late@.timer", "[Timer]\nOnBootSec=60\nUnit=%i.service\n"),
    )
    def test_a_starter_of_another_name(self, starter, text):
        machine = host().file(f"{OWN}/tune.service", f"[Service]\nExecStart=sysctl -w {KEY}=60\n")
        machine.file(f"{OWN}/{starter}", text)
        machine.command("systemctl is-enabled tune.service", "disabled\n", 1)
        machine.command(f"systemctl is-enabled {starter}", "enabled\n")
        is_unknown(machine, "tune.service")

    @cases(
        "path text",
        (f"{OWN}/app.service", "[Unit]\nWants=net.target tune.service\n[Service]\n"),
        (f"{OWN}/app.service", "[Unit]\nRequires=net.target \\\n  tune.service\n"),
        (f"{OWN}/app.service.d/a.conf", "[Unit]\nBindsTo=tune.service\n"),
        ("/usr/lib/systemd/system/app.service", "[Unit]\nOnSuccess=tune.service\n"),
        (f"{OWN}/app.service", "[Unit]\nOnFailure = tune.service\n"),
        (f"{OWN}/app.service", "[Unit]\nUpholds=mid.target\n"),
        (f"{OWN}/app.service", "[Service]\nExecStart=/bin/systemctl start tune\n"),
        (f"{OWN}/multi-user.target.d/a.conf", "[Unit]\nWants=tune.service\n"),
        ("/etc/cron.d/a", "@reboot root systemctl --no-block restart tune.service\n"),
        ("/etc/rc.d/boot.local", "service tune start\n"),
    )
    def test_another_unit_or_a_script_that_starts_one(self, path, text):
        machine = host().file(f"{OWN}/tune.service", f"[Service]\nExecStart=sysctl -w {KEY}=60\n")
        machine.file(f"{OWN}/mid.target", "[Unit]\nWants=tune.service\n")
        for unit in ("tune.service", "mid.target", "mid.timer"):
            machine.command(f"systemctl is-enabled {unit}", "disabled\n", 1)
        assert at_boot(machine).winner == ("1", f"{FILE}:1")
        machine.evidence.clear()
        machine.command("systemctl is-enabled app.service", "enabled\n")
        machine.command("systemctl is-enabled multi-user.target", "static\n")
        is_unknown(machine.file(path, text), "tune.service:2")

    @cases(
        "path text",
        (f"{OWN}/app.service", "[Unit]\nAfter=tune.service\nPartOf=tune.service\n"),
        (f"{OWN}/app.service", "[Unit]\nWants=tune-x.service x-tune.service\n"),
        (f"{OWN}/app.service", "[Unit]\n#Wants=tune.service\n"),
        (f"{OWN}/off.service", "[Unit]\nWants=tune.service\n"),
        ("/etc/cron.d/a", "# systemctl start tune.service\n@daily root systemctl stop tune\n"),
    )
    def test_what_starts_no_other_unit(self, path, text):
        machine = host().file(f"{OWN}/tune.service", f"[Service]\nExecStart=sysctl -w {KEY}=60\n")
        machine.file(f"{OWN}/tune.service", f"[Service]\nExecStart=sysctl -w {KEY}=60\n")
        machine.command("systemctl is-enabled app.service", "enabled\n").file(path, text)
        for unit in ("tune.service", "off.service"):
            machine.command(f"systemctl is-enabled {unit}", "disabled\n", 1)
        assert at_boot(machine).winner == ("1", f"{FILE}:1")

    @cases("unit", "tune.service", "tune.timer")
    @cases("kind", "wants", "requires")
    def test_a_link_of_a_package(self, kind, unit):
        """systemctl 252 tells "disabled" of a unit with [Install] that such a link starts."""
        text = f"[Service]\nExecStart=sysctl -w {KEY}=60\n[Install]\nWantedBy=x.target\n"
        folder = "/usr/lib/systemd/system"
        machine = host().file(f"{folder}/tune.service", text)
        machine.file(f"{folder}/tune.timer", "[Timer]\nOnBootSec=60\n")
        machine.link(f"{folder}/app.target.{kind}/{unit}", f"../{unit}")
        for name in ("tune.service", "tune.timer", "app.target", "app.timer"):
            machine.command(f"systemctl is-enabled {name}", "disabled\n", 1)
        assert at_boot(machine).winner == ("1", f"{FILE}:1")
        machine.evidence.clear()
        machine.command("systemctl is-enabled app.target", "static\n")
        is_unknown(machine, "tune.service:2")

    @cases("line", "EnvironmentFile=-/etc/tune.env", "EnvironmentFile = /etc/tune.env")
    @cases(
        "variable is_known",
        (f'CMD="sysctl -w {KEY}=60"', False),
        (f"CMD=sysctl -w {KEY}=60", False),
        (f"export CMD='/sbin/sysctl -w {KEY}=60'", False),
        ("CMD=/opt/tune.sh", False),
        ("FILE=/proc/sys/vm/swappiness", False),
        (f'#CMD="sysctl -w {KEY}=60"', True),
        ('CMD="sysctl -w vm.dirty_ratio=60"', True),
        ("CMD=/usr/sbin/sysctl", True),
    )
    def test_a_command_in_a_variable(self, line, variable, is_known):
        text = f'[Service]\n{line}\nExecStart=/bin/sh -c "$CMD"\n'
        machine = host().file(f"{OWN}/tune.service", text).file("/etc/tune.env", variable + "\n")
        machine.file("/opt/tune.sh", f"#!/bin/sh\necho 60 > {PROC}\n", 0o755)
        machine.command("systemctl is-enabled tune.service", "enabled\n")
        if is_known:
            assert at_boot(machine).winner == ("1", f"{FILE}:1")
        else:
            is_unknown(machine, "/etc/tune.env:1|/opt/tune.sh:2")

    def test_a_command_in_a_variable_of_the_unit(self):
        text = f'[Service]\nEnvironment="CMD=sysctl -w {KEY}=60"\nExecStart=/bin/sh -c "$CMD"\n'
        machine = host().file(f"{OWN}/tune.service", text)
        is_unknown(machine.command("systemctl is-enabled tune.service", "enabled\n"), "service:2")

    def test_units_that_start_each_other(self):
        machine = host().file(f"{OWN}/a.service", f"[Service]\nExecStart=sysctl -w {KEY}=60\n")
        machine.file(f"{OWN}/b.service", "[Unit]\nWants=a.service\n")
        machine.file(f"{OWN}/a.service.d/x.conf", "[Unit]\nWants=b.service\n")
        for unit in ("a.service", "b.service"):
            machine.command(f"systemctl is-enabled {unit}", "disabled\n", 1)
        assert at_boot(machine).winner == ("1", f"{FILE}:1")

    @cases(
        "parameter is_known",
        ("systemd.wants=tune.service", False),
        ("systemd.wants=tune", False),
        ('systemd.wants="tune"', False),
        ("systemd.wants=tune-x.service", True),
        ("systemd.wants=x-tune", True),
        ("systemd.mask=tune", True),
    )
    def test_a_unit_that_the_kernel_command_line_starts(self, parameter, is_known):
        machine = host().file(f"{OWN}/tune.service", f"[Service]\nExecStart=sysctl -w {KEY}=60\n")
        machine.command("systemctl is-enabled tune.service", "disabled\n", 1)
        machine.file("/proc/cmdline", f"ro {parameter}\n")
        if is_known:
            assert at_boot(machine).winner == ("1", f"{FILE}:1")
        else:
            is_unknown(machine, "tune.service:2")

    @cases("kind", "path", "socket")
    def test_a_disabled_starter_of_the_same_name(self, kind):
        machine = host().file(f"{OWN}/tune.service", f"[Service]\nExecStart=sysctl -w {KEY}=60\n")
        machine.file(f"{OWN}/tune.{kind}", f"[{kind.capitalize()}]\n")
        for unit in ("tune.service", f"tune.{kind}"):
            machine.command(f"systemctl is-enabled {unit}", "disabled\n", 1)
        assert at_boot(machine).winner == ("1", f"{FILE}:1")

    def test_a_disabled_timer_of_another_name(self):
        machine = host().file(f"{OWN}/tune.service", f"[Service]\nExecStart=sysctl -w {KEY}=60\n")
        machine.file(f"{OWN}/late.timer", "[Timer]\nUnit=tune.service\n")
        machine.command("systemctl is-enabled tune.service", "disabled\n", 1)
        machine.command("systemctl is-enabled late.timer", "disabled\n", 1)
        assert at_boot(machine).winner == ("1", f"{FILE}:1")


class TestCloudInit:
    @cases(
        "line",
        f"  - sysctl -w {KEY}=60",
        f"  - [ sysctl, -w, {KEY}=60 ]",
        f"bootcmd: [[sysctl, -w, '{KEY}=60']]",
        f"  - 'echo 60 > {PROC}'",
        f'  - ["sh", "-c", "echo 60 > {PROC}"]',
        f"  - [ cloud-init-per, always, tune, sysctl, -w, {KEY}=60 ]",
        f"  - cloud-init-per always tune sysctl -w {KEY}=60",
    )
    @cases("path", "/etc/cloud/cloud.cfg.d/90-x.cfg", "/var/lib/cloud/instance/cloud-config.txt")
    def test_its_commands(self, path, line):
        is_unknown(host().file(path, f"#cloud-config\nbootcmd:\n{line}\n"), path)

    def test_a_comment(self):
        text = f"#cloud-config\n#  - sysctl -w {KEY}=60\n"
        assert at_boot(host().file("/etc/cloud/cloud.cfg", text)).winner == ("1", f"{FILE}:1")

    def test_its_scripts(self):
        path = "/var/lib/cloud/scripts/per-boot/tune.sh"
        is_unknown(host().file(path, f"#!/bin/sh\nsysctl -w {KEY}=60\n"), path)


@cases("path", "/etc/sysfs.conf", "/etc/sysfs.d/a.conf")
@cases("slash", "", "/", " /")
def test_sysfs_conf(path, slash):
    text = slash + "kernel/mm/transparent_hugepage/enabled = always"
    machine = packs.linux().file(path, text)
    with pytest.raises(Unanswered, match=f"{path}:1 may set transparent huge pages"):
        thp.at_boot(boot.read_boot(machine), None)


class TestTmpfiles:
    @cases(
        "line",
        "w~ {0} - - - - NjA=",
        "w!~ {0} - - - - NjA=",
        "w~ {0} - - - - not-base64",
        "w^ {0} - - - - swappiness",
        "w {0} - - - - %m",
    )
    def test_what_a_line_writes_is_unknown(self, line):
        path = "/etc/tmpfiles.d/a.conf"
        is_unknown(host().file(path, line.format(PROC) + "\n"), path)

    def test_a_line_that_writes_the_same_changes_nothing(self):
        machine = host().file("/etc/tmpfiles.d/a.conf", f"w~ {PROC} - - - - MQ==\n")
        assert at_boot(machine).winner == ("1", f"{FILE}:1")

    def test_a_line_that_appends_writes(self):
        machine = host().file("/etc/tmpfiles.d/a.conf", f"w+ {PROC} - - - - 60\n")
        assert at_boot(machine).winner == ("60", "/etc/tmpfiles.d/a.conf:1")


def tuned(mode: str, active: str = "mine") -> Machine:
    machine = host().file("/etc/tuned/active_profile", active + "\n")
    machine.file("/etc/tuned/profile_mode", mode + "\n")
    machine.file("/usr/lib/tuned/mine/tuned.conf", "[main]\nsummary=x\n[x]\ntype=audio\n")
    return machine.file("/usr/lib/tuned/guest/tuned.conf", f"[sysctl]\n{KEY}=60\n")


class TestTuned:
    def test_in_the_mode_auto_it_starts_with_what_it_recommends(self):
        machine = tuned("auto").command("tuned-adm recommend", "guest\n")
        assert at_boot(machine).losers == ["tuned profile /usr/lib/tuned/guest/tuned.conf = 60"]
        assert at_boot(tuned("auto").command("tuned-adm recommend", "mine\n")).losers == []

    def test_what_it_recommends_is_unknown(self):
        with pytest.raises(HostproofError, match="tuned-adm recommend"):
            at_boot(tuned("auto").command("tuned-adm recommend", "", 1))

    def test_in_the_mode_manual_it_starts_with_the_active_profile(self):
        assert at_boot(tuned("manual")).losers == []

    @cases(
        "option cmdline is_known",
        ("cmdline_x=+sysctl.vm.swappiness=60", "ro", False),
        ("cmdline_x=+sysctl/vm/swappiness=60", "ro", False),
        ("cmdline=${more}", "ro", False),
        ("cmdline=+systemd.mask=systemd-sysctl.service", "ro", False),
        ("cmdline=+systemd.wants=tune.service", "ro", False),
        ("cmdline=+sysctl.vm.swappiness=1", "ro sysctl.vm.swappiness=1", True),
        ("cmdline=+audit=0", "ro", True),
        ("cmdline_x=-sysctl.vm.swappiness=1", "ro sysctl.vm.swappiness=1", False),
        ("cmdline_x=-sysctl.vm.swappiness=1", "ro", True),
        # One parameter makes no other setting unknown.
        ("cmdline=+hugepages=10", "ro", True),
        ("cmdline_x=transparent_hugepage=always", "ro", True),
        ("cmdline_x=+sysctl.vm.dirty_ratio=60", "ro", True),
    )
    def test_a_parameter_of_the_kernel_that_the_next_reboot_adds(self, option, cmdline, is_known):
        machine = tuned("manual").file("/proc/cmdline", cmdline + "\n")
        path = "/usr/lib/tuned/mine/tuned.conf"
        machine.file(path, f"[variables]\nmore=+sysctl.vm.swappiness=60\n[bootloader]\n{option}\n")
        if is_known:
            assert at_boot(machine).winner == ("1", f"{FILE}:1")
        else:
            is_unknown(machine, f"{path} changes .* on the kernel command line")


class TestCredentials:
    @cases("folder", "/etc", "/usr/local/lib", "/usr/lib")
    def test_a_credential_that_sets_it(self, folder):
        machine = host().file(f"{folder}/credstore/sysctl.extra", f"{KEY} = 60\n")
        is_unknown(machine, f"{folder}/credstore/sysctl.extra")

    def test_a_credential_that_sets_another_key(self):
        machine = host().file("/etc/credstore/sysctl.extra", "vm.dirty_ratio = 60\n")
        assert at_boot(machine).winner == ("1", f"{FILE}:1")

    @cases("folder", "/etc", "/usr/local/lib", "/usr/lib")
    def test_an_encrypted_credential(self, folder):
        path = f"{folder}/credstore.encrypted/sysctl.extra"
        is_unknown(host().file(path, "x"), path)

    def test_a_credential_of_the_kernel_command_line(self):
        text = f"ro systemd.set_credential=sysctl.extra:{KEY}=60\n"
        is_unknown(host().file("/proc/cmdline", text), "set_credential=sysctl.extra")


ENABLED = ("systemctl is-enabled tune.service", "enabled\n")


def unit(*lines: str, path: str = f"{OWN}/tune.service") -> Machine:
    text = "\n".join(["[Service]", *lines, ""])
    return host().file(path, text).command(*ENABLED)


class TestUnitSettings:
    @cases(
        "lines",
        ("WorkingDirectory=/proc/sys/vm", "ExecStart=/bin/sh -c 'echo 60 > swappiness'"),
        ("WorkingDirectory=-/proc/sys", "ExecStart=/bin/sh -c 'echo 60 > vm/swappiness'"),
        ("WorkingDirectory=/proc", "ExecStart=/bin/sh -c 'echo 60 > sys/vm/swappiness'"),
        ("WorkingDirectory = //proc/sys/vm/", "ExecStart=/usr/bin/tee swappiness"),
        ("BindPaths=/proc/sys/vm:/mnt", "ExecStart=/bin/sh -c 'echo 60 > /mnt/swappiness'"),
        ("BindPaths=-/proc/sys", "ExecStart=/opt/tune"),
        (f"StandardOutput=file:{PROC}", "ExecStart=/bin/echo 60"),
        (f"StandardOutput=append:{PROC}", "ExecStart=/bin/echo 60"),
        (f"StandardOutput = truncate:{PROC}", "ExecStart=/bin/echo 60"),
        (f"StandardError=file:{PROC}", "ExecStart=/bin/sh -c 'echo 60 >&2'"),
        (f"Environment=KEY={PROC}", "ExecStart=/bin/sh -c 'echo 60 > $KEY'"),
        (f'Environment="A=1" "KEY={PROC}"', "ExecStart=/opt/tune"),
        (f"ExecStop=/sbin/sysctl -w {KEY}=60", "Type=oneshot", "ExecStart=/bin/true"),
        (f"ExecStopPost=/sbin/sysctl -w {KEY}=60", "ExecStart=/bin/true"),
    )
    def test_what_a_unit_may_write(self, lines):
        is_unknown(unit(*lines), f"{OWN}/tune.service:")

    @cases(
        "lines",
        ("WorkingDirectory=/sys/block/sda/queue", "ExecStart=/bin/sh -c 'echo 1 > rotational'"),
        ("WorkingDirectory=/proc/sys/net/ipv4", "ExecStart=/bin/sh -c 'echo 1 > ip_forward'"),
        ("BindReadOnlyPaths=/proc/sys/vm", "ExecStart=/opt/tune"),
        ("ReadWritePaths=/proc/sys/vm", "ExecStart=/opt/tune"),
        ("StandardOutput=file:/proc/sys/kernel/panic", "ExecStart=/bin/echo 1"),
        (f"StandardInput=file:{PROC}", "ExecStart=/bin/cat"),
        ("Environment=KEY=/proc/sys/kernel/panic", "ExecStart=/opt/tune"),
        (f"ExecStop=/sbin/sysctl -w {KEY}=60", "RemainAfterExit=yes", "ExecStart=/bin/true"),
        (f"ExecStop=/sbin/sysctl -w {KEY}=60", "Type=forking", "ExecStart=/opt/daemon"),
        (f"ExecReload=/sbin/sysctl -w {KEY}=60", "ExecStart=/opt/daemon"),
    )
    def test_what_cannot_set_it_changes_nothing(self, lines):
        assert at_boot(unit(*lines)).winner == ("1", f"{FILE}:1")

    def test_what_a_recording_keeps_leads_to_the_same(self):
        live = unit(f"ExecStop=/sbin/sysctl -w {KEY}=60", "RemainAfterExit=yes", "ExecStart=/x")
        assert at_boot(live).losers == []
        assert at_boot(RecordedHost(live.evidence)).losers == []

    def test_a_socket(self):
        machine = unit(f"ExecStartPost=/sbin/sysctl -w {KEY}=60", path=f"{OWN}/x.socket")
        is_unknown(machine.command("systemctl is-enabled x.socket", "enabled\n"), "x.socket:2")


class TestDropIns:
    @cases(
        "folder",
        f"{OWN}/service.d",
        "/usr/lib/systemd/system/service.d",
        f"{OWN}/tune-.service.d",
        f"{OWN}/systemd-sysctl.service.d",
        f"{OWN}/rc-local.service.d",
    )
    def test_what_one_for_several_units_or_a_known_unit_adds(self, folder):
        text = f"[Service]\nExecStartPost=/sbin/sysctl -w {KEY}=60\n"
        machine = host().file(f"{folder}/x.conf", text)
        machine.file(f"{OWN}/tune-pages.service", "[Service]\nExecStart=/bin/true\n")
        machine.command("systemctl is-enabled tune-pages.service", "enabled\n")
        is_unknown(machine, f"{folder}/x.conf:2")

    @cases("other", "tune-pages.service", "other-pages.service")
    def test_one_for_a_prefix_that_no_unit_has_that_runs(self, other):
        text = f"[Service]\nExecStartPost=/sbin/sysctl -w {KEY}=60\n"
        machine = host().file(f"{OWN}/tune-.service.d/x.conf", text)
        machine.file(f"{OWN}/{other}", "[Service]\nExecStart=/bin/true\n")
        for name in (other, "tune-pages.timer"):
            machine.command(f"systemctl is-enabled {name}", "disabled\n", 1)
        assert at_boot(machine).winner == ("1", f"{FILE}:1")

    def test_one_that_sets_nothing(self):
        machine = host().file(f"{OWN}/service.d/x.conf", "[Service]\nTimeoutStartSec=9\n")
        assert at_boot(machine).winner == ("1", f"{FILE}:1")


class TestGenerators:
    @cases(
        "folder",
        "/etc/systemd/system-generators",
        "/usr/local/lib/systemd/system-generators",
        "/etc/systemd/system-environment-generators",
    )
    def test_one_of_the_administrator(self, folder):
        path = f"{folder}/tune-generator"
        is_unknown(host().file(path, "#!/bin/sh\ntrue\n", mode=0o755), f"{path} runs at boot")

    def test_one_of_a_package(self):
        path = "/usr/lib/systemd/system-generators/systemd-fstab-generator"
        machine = host().file(path, "\x7fELF", mode=0o755)
        assert at_boot(machine).winner == ("1", f"{FILE}:1")

    def test_what_masks_one_or_is_no_program(self):
        folder = "/etc/systemd/system-generators"
        machine = host().file("/dev/null", "").link(f"{folder}/a-generator", "/dev/null")
        machine.file(f"{folder}/b-generator", "", mode=0o755).file(f"{folder}/README", "text")
        assert at_boot(machine).winner == ("1", f"{FILE}:1")

    def test_a_directory_that_may_not_be_listed(self):
        is_unknown(host().deny("/etc/systemd/system-generators"), "system-generators")

    def test_a_recording_of_an_earlier_release(self):
        live = host()
        at_boot(live)
        old = {key: finding for key, finding in live.evidence.items() if "generators" not in key}
        assert len(old) < len(live.evidence)
        assert at_boot(RecordedHost(old, "0.2.0")).winner == ("1", f"{FILE}:1")


@cases(
    "path",
    "/etc/networkd-dispatcher/routable.d/50-tune",
    "/usr/lib/networkd-dispatcher/routable.d/50-tune",
    *("/etc/NetworkManager/dispatcher.d/pre-up.d/tune", "/sbin/ifup-local"),
    *("/sbin/ifup-pre-local", "/etc/network/if-pre-up.d/tune", "/etc/network/if-up.d/tune"),
    *("/etc/sysconfig/network/scripts/tune", "/etc/dhcp/dhclient-exit-hooks"),
    *("/etc/dhcp/dhclient-exit-hooks.d/tune", "/etc/dhcp/dhclient-enter-hooks.d/tune"),
    *("/etc/dhcp/dhclient.d/tune.sh", "/etc/dhclient-exit-hooks", "/etc/dhcpcd.exit-hook"),
)
def test_what_runs_when_the_network_starts(path):
    is_unknown(host().file(path, f"#!/bin/sh\nsysctl -w {KEY}=60\n", mode=0o755), f"{path}:2")


class TestCrontabsOfAccounts:
    @cases(
        "line",
        f"@reboot sudo sysctl -w {KEY}=60",
        f"@reboot echo 60 | sudo tee {PROC}",
        f"@reboot sudo sh -c 'echo 60 > {PROC}'",
        f"*/5 * * * * doas sysctl -w {KEY}=60",
    )
    @cases("folder", "", "crontabs/", "tabs/")
    def test_a_line_with_the_rights_of_root(self, folder, line):
        path = f"/var/spool/cron/{folder}oracle"
        is_unknown(host().file(path, line + "\n"), f"{path}:1")

    @cases("line", f"sysctl -w {KEY}=60", f"sudo -u grid sysctl -w {KEY}=60")
    def test_a_line_without_them(self, line):
        machine = host().file("/var/spool/cron/oracle", f"@reboot {line}\n")
        assert at_boot(machine).winner == ("1", f"{FILE}:1")

    def test_one_that_may_not_be_read(self):
        is_unknown(host().deny("/var/spool/cron/oracle"), "/var/spool/cron/oracle")


class TestJobsOfAt:
    FOLDERS = cases("folder", "at", "atjobs", "cron/atjobs")

    @FOLDERS
    def test_one_that_waits(self, folder):
        path = f"/var/spool/{folder}/a0000101bb3f2a"
        lines = ["#!/bin/sh", "# atrun uid=0 gid=0", "cd /root || {", "}", f"sysctl -w {KEY}=60"]
        is_unknown(host().file(path, "\n".join([*lines, ""])), f"{path}:5")

    @FOLDERS
    def test_one_that_sets_nothing(self, folder):
        path = f"/var/spool/{folder}/a0000101bb3f2a"
        machine = host().file(path, "#!/bin/sh\ncat /proc/sys/vm/swappiness\n")
        assert at_boot(machine).winner == ("1", f"{FILE}:1")


class TestMorePlaces:
    """Each of these passed: the value of the drop-in counted."""

    @cases(
        "path line",
        ("/etc/anacrontab", f"1 5 tune sysctl -w {KEY}=60"),
        ("/etc/anacrontab", f"@monthly 5 tune sysctl -w {KEY}=60"),
        ("/usr/local/lib/udev/rules.d/9.rules", f'SUBSYSTEM=="cpu", SYSCTL{{{KEY}}}="60"'),
        ("/usr/local/lib/modprobe.d/a.conf", f"install dm sysctl -w {KEY}=60"),
        ("/etc/init/tune.conf", f"exec sysctl -w {KEY}=60"),
        ("/var/lib/cloud/instance/vendor-cloud-config.txt", f"bootcmd: [sysctl -w {KEY}=60]"),
        ("/etc/cloud/cloud.cfg.d/a.cfg", "  - - sysctl\n    - -w\n    - vm.swappiness=60"),
        ("/etc/cloud/cloud.cfg.d/a.cfg", "  - [ sysctl,\n      -w, vm.swappiness=60 ]"),
    )
    def test_what_they_set(self, path, line):
        is_unknown(host().file(path, line + "\n"), path + ":1")

    @cases(
        "line",
        "P=/proc/sys",
        "sysctl -p /dev/stdin < /opt/tune.conf",
        "sysctl -p <(cat /opt/tune.conf)",
        f"echo 'sysctl -w {KEY}=60' | at now + 1 minute",
        f"echo 'sysctl -w {KEY}=60' | bash",
        "run-parts /etc/tune.d",
        "sh -c 'cd /opt; ./tune.sh'",
        "tuned-adm profile other",
        "tuned-adm off",
    )
    def test_lines_of_rc_local(self, line):
        is_unknown(rc_local(line, "echo 60 > $P/vm/swappiness"), "/etc/rc.local:2")

    @cases("line", "tuned-adm profile mine", "tuned-adm active", f": sysctl -w {KEY}=60")
    def test_lines_that_change_nothing(self, line):
        machine = tuned("manual").file("/etc/rc.local", f"#!/bin/sh\n{line}\n", mode=0o755)
        assert at_boot(machine).winner == at_boot(tuned("manual")).winner

    def test_a_script_that_a_script_of_tuned_runs(self):
        machine = tuned("manual").file(
            "/usr/lib/tuned/mine/tuned.conf", "[script]\nscript=set.sh\n"
        )
        machine.file("/usr/lib/tuned/mine/set.sh", "#!/bin/sh\n$(dirname $0)/other.sh\n")
        is_unknown(machine, "/usr/lib/tuned/mine/set.sh:2")


class TestScriptsOfTuned:
    """Each of these passed: only the script of the profile counted, and only by a fixed path."""

    def scripted(self, option: str, script: str = "#!/bin/sh\ntrue\n") -> Machine:
        machine = tuned("manual").file(
            "/usr/lib/tuned/mine/tuned.conf", f"[variables]\nwhere=/opt\n[script]\n{option}\n"
        )
        machine.file("/usr/lib/tuned/mine/set.sh", script)
        machine.file("/usr/lib/tuned/functions", f"x() {{\nsysctl -w {KEY}=9\n}}\n")
        return machine.file("/opt/x.sh", f"#!/bin/sh\nsysctl -w {KEY}=60\n")

    @cases(
        "option script place",
        ("script=/opt/x.sh", "", "/opt/x.sh:2"),
        ("script_pre=../../../../opt/x.sh", "", "/opt/x.sh:2"),
        ("script=${where}/x.sh", "", "mine/tuned.conf runs a script by a variable"),
        ("script=set.sh", "#!/bin/sh\n/opt/x.sh --all\n", "/opt/x.sh:2"),
        ("script=${i:PROFILE_DIR}/set.sh", "#!/bin/sh\n. /opt/x.sh\n", "/opt/x.sh:2"),
    )
    def test_what_they_may_set_is_unknown(self, option, script, place):
        machine = self.scripted(option, script)
        is_unknown(machine, place)
        with pytest.raises(HostproofError, match=place):
            at_boot(RecordedHost(machine.evidence))

    @cases("script", "true", ". /usr/lib/tuned/functions", "/opt/none.sh")
    def test_what_they_do_not_set(self, script):
        machine = self.scripted("script=set.sh", f"#!/bin/sh\n{script}\n")
        assert at_boot(machine).winner == ("1", f"{FILE}:1")
        del machine.evidence["lines:called by TuneD"]
        assert at_boot(RecordedHost(machine.evidence)).winner == ("1", f"{FILE}:1")

    def test_a_called_script_that_may_not_be_read(self):
        machine = self.scripted("script=set.sh", "#!/bin/sh\n/opt/x.sh\n").deny("/opt/x.sh")
        is_unknown(machine, "/opt/x.sh may not be read")


def linked(machine: Machine, name: str, target: str) -> Machine:
    machine.file(f"{packs.UNITS}/{name}", "[Unit]\n")
    return machine.file(target, "").link(f"{OWN}/{name}", target)


class TestServicesThatDoNotStart:
    def test_rc_local_whose_service_is_masked(self):
        machine = linked(rc_local(f"sysctl -w {KEY}=60"), "rc-local.service", "/dev/null")
        assert at_boot(machine).winner == ("1", f"{FILE}:1")

    @cases("name", "rc-local", "rc-local.service")
    def test_rc_local_whose_service_the_kernel_masks(self, name):
        machine = rc_local(f"sysctl -w {KEY}=60").file("/proc/cmdline", f"systemd.mask={name}\n")
        assert at_boot(machine).winner == ("1", f"{FILE}:1")

    @cases("drop_in", "[Unit]\nConditionPathExists=/nowhere\n", "[Unit]\nAssertPathExists=/no\n")
    def test_conditions_of_tuned(self, drop_in):
        machine = tuned("manual").file(f"{packs.UNITS}/tuned.service", "[Unit]\n")
        machine.file(f"{OWN}/tuned.service.d/a.conf", drop_in)
        assert at_boot(machine).winner == ("1", f"{FILE}:1")

    @cases(
        "setting",
        f"SetCredential=sysctl.extra:{KEY}=60",
        "LoadCredentialEncrypted=sysctl.extra:/etc/x",
    )
    def test_a_credential_that_a_drop_in_gives(self, setting):
        path = f"{OWN}/systemd-sysctl.service.d/a.conf"
        is_unknown(host().file(path, f"[Service]\n{setting}\n"), path)


class TestUnitsThatMayNotSetIt:
    """A unit with the right value counted as one that surely sets it."""

    @cases(
        "setting",
        *("User=oracle", "ProtectKernelTunables=yes", "ExecStartPre=/bin/false", "ExecStart="),
        *("[Unit]\nRequires=other.service", "[Unit]\nConditionPathExists=/nowhere"),
        "[Install]\nWantedBy=rescue.target",
    )
    @cases("is_drop_in", False, True)
    def test_other_settings(self, setting, is_drop_in):
        command = f"[Service]\nExecStart=/sbin/sysctl -w {KEY}=60\n"
        machine = host().file(f"{OWN}/a.service", command + setting * (not is_drop_in) + "\n")
        if is_drop_in:
            machine.file(f"{OWN}/a.service.d/b.conf", f"[Service]\n{setting}\n")
        machine.command("systemctl is-enabled a.service", "enabled\n")
        is_unknown(machine, f"{OWN}/a.service:2")
        with pytest.raises(HostproofError, match=f"{OWN}/a.service:2"):
            at_boot(RecordedHost(machine.evidence))

    def test_settings_that_change_nothing(self):
        text = (
            "[Unit]\nDescription=Tune\nAfter=network.target\n[Service]\nType=oneshot\n"
            f"ExecStart=/sbin/sysctl -w {KEY}=60\n[Install]\nWantedBy=multi-user.target\n"
        )
        machine = host().file(f"{OWN}/a.service", text)
        machine.command("systemctl is-enabled a.service", "enabled\n")
        assert at_boot(machine).winner == ("60", f"{OWN}/a.service:6")

    def test_a_second_command_of_a_line(self):
        text = f"[Service]\nExecStart=/bin/true ; /sbin/sysctl -w {KEY}=60\n"
        machine = host().file(f"{OWN}/a.service", text)
        machine.command("systemctl is-enabled a.service", "enabled\n")
        is_unknown(machine, f"{OWN}/a.service:2")


def test_a_rule_that_writes_to_the_pool_of_a_node():
    rule = 'SUBSYSTEM=="node", ATTR{hugepages/hugepages-2048kB/nr_hugepages}="10"'
    [effect] = command_effects.effects(started_commands.of_udev(rule))
    assert effect.target.endswith("/node0/hugepages/hugepages-2048kB/nr_hugepages")
    assert effect.value == "10"
    assert started_commands.of_udev(rule.replace("}=", "}==")) == ""


class TestSpellings:
    """Each of these passed: the value of the drop-in counted."""

    @cases(
        "line",
        *("echo 60 > /proc//sys/vm/swappiness", "echo 60 > /proc/./sys/vm/swappiness"),
        *("echo 60 > /proc/sys//vm/./swappiness", "echo 60 > /proc/sys/net/../vm/swappiness"),
        *('eval "echo 60 > /proc/sys/vm/swappiness"', 'eval "sysctl -w vm.swappiness=60"'),
        "su - -c 'sysctl -w vm.swappiness=60'",
    )
    def test_lines_that_surely_set_it(self, line):
        assert at_boot(rc_local(line)).winner == ("60", "/etc/rc.local:2")

    @cases(
        "line",
        *("cp /opt/x /proc//sys/vm/swappiness", "P=/proc/.//sys"),
        "cd -P /proc//sys/vm; echo 60 > swappiness",
        "bash <<< 'sysctl -w vm.swappiness=60'",
        *('sh <<<"echo 60 > /proc/sys/vm/swappiness"', "tee /proc/sys/vm/swappiness <<< 60"),
        "sh <<EOF\nsysctl -w vm.swappiness=60\nEOF",
        *("echo 60 | tee /proc//sys/vm/swappiness", 'eval "cd /opt; ./tune.sh"'),
        'eval "cat /opt/60 > /proc/sys/vm/swappiness"',
        "find /proc/sys/vm -name swappiness -exec sh -c 'echo 60 > {}' \\;",
        "find /proc/sys -name swappiness -exec sh -c 'echo 60 > {}' \\;",
        "find /proc//sys/ -name swappiness | xargs -I@ sh -c 'echo 60 > @'",
        "ls /proc/sys/vm/* | grep swappi | xargs tee < /opt/60",
        *("find /etc/oracle -name '*.conf' -exec sysctl -p {} +", "su -c ./tune.sh"),
        *("su - root -c scripts/tune.sh", "su -c 'sysctl -w $KEY=60'"),
        *("runuser -l root -c 'cd /opt; ./tune.sh'", "echo ./tune.sh | sh"),
        *("printf 'cd /opt\\n./tune.sh\\n' | sudo bash", "cat tune.sh | bash"),
        *("bash < tune.sh", "sh -s <$TUNE", "curl -s http://tune.example.com/x | bash"),
        *("bash -lc ./tune.sh", "chroot / sysctl -w vm.swappiness=60"),
        "systemd-run --on-active=9 sysctl -w vm.swappiness=60",
        "nsenter -t 1 -a /sbin/sysctl -qw vm.swappiness=60",
        *("unshare sh -c 'sysctl -w vm.swappiness=60'", "busybox sysctl -w vm/swappiness=60"),
        "awk 'BEGIN{print 60 > \"/proc/sys/vm/swappiness\"}'",
        "awk 'BEGIN{system(\"sysctl -w vm.swappiness=60\")}'",
        "python3 -c \"import os; os.system('sysctl -w vm.swappiness=60')\"",
        'python3 -c \'run(["sysctl", "-w", "vm.swappiness=60"])\'',
    )
    def test_commands_in_commands(self, line):
        is_unknown(rc_local(line), "/etc/rc.local:")
        machine = rc_local(line)
        at_boot_of = [boot.read_boot(machine), boot.read_boot(RecordedHost(machine.evidence))]
        assert at_boot_of[0].rc_local == at_boot_of[1].rc_local

    @cases(
        "line",
        "find /proc/sys/net -name rp_filter -exec sh -c 'echo 0 > {}' \\;",
        "find /proc/sys/vm -type f -exec cat {} +",
        "find /proc/sys/vm -name swappiness | xargs grep 1",
        *("bash <<< 'sysctl -w vm.dirty_ratio=60'", "su - oracle -c 'scripts/tune.sh'"),
        *("su - oracle -c 'sysctl -w vm.swappiness=60'", "cat /proc/sysvipc/shm"),
        *("wget http://proc//sysctl", "bash -lc 'sysctl -w vm.dirty_ratio=60'"),
        *("echo /opt/tune.sh | sh", "cat /opt/tune.sh | sh", "bash < /opt/tune.sh"),
        *("while read name; do echo $name; done < names", "bash -c 'echo a' < names"),
        "chroot / sysctl -w vm.dirty_ratio=60",
        "systemctl status systemd-sysctl vm.swappiness=60",
        *("awk '{print $1}' /proc/sys/vm/swappiness", "export PATH=/usr/sbin:/proc/sys/net"),
    )
    def test_what_sets_another_value_or_none(self, line):
        assert at_boot(rc_local(line)).winner == ("1", f"{FILE}:1")

    @cases(
        "line", f"bash -lc 'sysctl -w {KEY}=60'", f"sysctl -w {KEY}=60 < /dev/null > /dev/null 2>&1"
    )
    def test_what_surely_sets_it(self, line):
        assert at_boot(rc_local(line)).winner == ("60", "/etc/rc.local:2")

    def test_a_script_without_a_first_line_that_a_shell_reads_as_its_input(self):
        machine = rc_local("bash < /opt/tune.sh").file("/opt/tune.sh", f"sysctl -w {KEY}=60\n")
        is_unknown(machine, "/opt/tune.sh:1")

    def test_a_long_line_of_eval(self):
        line = "eval A=1 " * 5000
        assert isinstance(command_effects.effects(line), list)
        assert script_lines.calls_unread(line) is False

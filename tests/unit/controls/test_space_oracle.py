"""oradism of each home, and sockets that no process uses."""

import oracle_packs
import packs
import pytest
from ansible.module_utils.hostproof.controls.space import facts
from ansible.module_utils.hostproof.evaluate import audit
from cases import cases
from default_policies import changed_policy
from space_packs import mounted, usage, with_home

ORADISM = packs.HOME + "/bin/oradism"
NFS = f"40 27 0:50 / {packs.HOME} rw - nfs4 filer:/home rw\n"
STAT = f"stat -L -c %u %a {ORADISM}"
SOCKETS = "/var/tmp/.oracle"


@pytest.fixture
def judge(validate_finding):
    def judge_check(machine, check):
        policy = changed_policy("space", profile="oracle_19c_single")
        findings = audit.judge_host(machine, {"space": policy})
        for entry in findings:
            validate_finding(entry.as_dict())
        (finding,) = [item for item in findings if item.check == f"space.{check}"]
        return finding

    return judge_check


class TestOradism:
    @cases(
        "uid mode status",
        *((0, 0o4750, "pass"), (0, 0o4755, "pass"), (0, 0o750, "fail")),
        *((54321, 0o4750, "fail"), (0, 0o4757, "fail"), (0, 0o4640, "fail")),
    )
    def test_owner_and_mode(self, judge, uid, mode, status):
        machine = with_home(mounted(packs.linux())).file(ORADISM, "", mode)
        machine.uids[ORADISM] = uid
        finding = judge(machine, "oradism")
        assert (finding.status, finding.persisted) == (status, f"uid {uid}, mode {mode:04o}")

    def test_a_home_without_it_and_no_home(self, judge):
        assert judge(with_home(mounted(packs.linux())), "oradism").status == "skip"
        assert judge(mounted(packs.linux()), "oradism").status == "skip"

    @cases(
        "answer code status",
        ("0 4750\n", 0, "pass"),
        ("0 750\n", 0, "fail"),
        ("", 124, "error"),
        ("0 9x\n", 0, "error"),
    )
    def test_a_network_file_system_is_read_by_a_command(self, judge, answer, code, status):
        machine = with_home(mounted(packs.linux(), NFS)).command(STAT, answer, code)
        # stat(2) on a dead server would not return.
        machine.file(ORADISM, "", 0o644)
        assert judge(machine, "oradism").status == status


class TestSockets:
    def test_none(self, judge):
        assert judge(mounted(packs.linux()), "sockets").status == "pass"
        assert judge(mounted(packs.linux()).folder(SOCKETS), "sockets").status == "pass"

    @cases("there status", (False, "pass"), (True, "error"))
    def test_a_directory_that_any_account_could_create(self, judge, there, status):
        machine = mounted(packs.linux()).folder("/var/tmp", *[SOCKETS] * there)
        machine.refused[f"dir:{SOCKETS}"] = "any account may create it"
        assert judge(machine, "sockets").status == status

    def test_left(self, judge):
        machine = mounted(packs.linux()).file(f"{SOCKETS}/s#2101.1", "")
        machine.file("/tmp/.oracle/sEXTPROC1521", "")
        finding = judge(machine, "sockets")
        assert (finding.status, finding.running) == ("warn", "2 entries")

    def test_in_use(self, judge):
        machine = mounted(packs.linux()).file(f"{SOCKETS}/s#2101.1", "").instance("A")
        assert judge(machine, "sockets").status == "skip"

    def test_unknown(self, judge):
        assert judge(mounted(packs.linux()).deny(SOCKETS), "sockets").status == "error"
        network = "41 27 0:51 / /var/tmp rw - nfs4 filer:/tmp rw\n"
        assert judge(mounted(packs.linux(), network), "sockets").status == "error"


def with_grid():
    """Clusterware as root.sh leaves it."""
    machine = mounted(packs.linux()).file("/etc/oracle/olr.loc", "crs_home=/u01/grid\n")
    machine.folder(facts.SYSTEMD)
    for path in facts.INIT_SCRIPTS:
        machine.file(path, "#!/bin/sh\n", 0o755)
    for path in facts.BOOT_LINKS:
        machine.file(path, "[Unit]\n", 0o644)
    return machine


class TestGridStartup:
    def test_intact_and_not_configured(self, judge):
        assert judge(with_grid(), "grid_startup").status == "pass"
        assert judge(mounted(packs.linux()), "grid_startup").status == "skip"

    @pytest.mark.parametrize("path", facts.INIT_SCRIPTS)
    def test_scripts(self, judge, path):
        assert judge(with_grid().remove(path), "grid_startup").status == "fail"
        assert judge(with_grid().file(path, "", 0o644), "grid_startup").status == "fail"
        assert judge(with_grid().file(path, "", 0o757), "grid_startup").status == "fail"
        machine = with_grid()
        machine.uids[path] = 54321
        finding = judge(machine, "grid_startup")
        assert (finding.status, "uid 54321 and mode 0755" in finding.why) == ("fail", True)

    def test_one_link_suffices(self, judge):
        first, second = facts.BOOT_LINKS
        assert judge(with_grid().remove(first), "grid_startup").status == "pass"
        assert judge(with_grid().remove(first).remove(second), "grid_startup").status == "fail"
        assert judge(with_grid().file(first, "", 0o646), "grid_startup").status == "fail"

    def test_unknown(self, judge):
        for path in (facts.INIT_SCRIPTS[0], "/etc/oracle/olr.loc"):
            assert judge(with_grid().deny(path), "grid_startup").status == "error"


FRA = "41 27 0:51 / /fra rw - ext4 /dev/vdb rw\n"


def starting(parameters: dict[str, str], spfile: bool = True, fra_free: int = 0) -> packs.Machine:
    """A database that is down, and /fra, which its parameters may name."""
    machine = usage(mounted(with_home(packs.linux()), FRA), "/fra", fra_free)
    for suffix in ("mount", "automount"):
        machine.command(f"systemctl is-enabled fra.{suffix}", "disabled\n", 1)
    machine.folder(packs.HOME + "/dbs").modes[packs.HOME + "/dbs"] = 0o755
    machine.command(f"stat -L -c %U {packs.HOME}/bin/sqlplus", "oracle\n")
    stored = tuple(("*", name, value) for name, value in parameters.items())
    for path in ("/fra", "/fra/ORCL", "/fra/diag", "/link"):
        machine.command(f"readlink -m -- {path}", path.replace("/link", "/fra/audit") + "\n")
    if spfile:
        return machine.file(f"{packs.HOME}/dbs/spfileORCL.ora", oracle_packs.spfile_text(stored))
    text = "".join(f"*.{name}={value}\n" for _all, name, value in stored)
    return machine.file(f"{packs.HOME}/dbs/initORCL.ora", text)


def places(machine: packs.Machine) -> dict[str, str]:
    findings = audit.judge_host(machine, {"space": changed_policy("space")})
    return {
        item.title.partition(":")[0]: f"{item.status} {item.why}"
        for item in findings
        if item.check == "space.free"
    }


@cases(
    "parameters status",
    ({"db_recovery_file_dest": "/fra"}, "fail"),
    ({"diagnostic_dest": "/fra"}, "fail"),
    ({"audit_file_dest": "/link"}, "fail"),
    ({"log_archive_dest_1": "LOCATION=/fra/@ MANDATORY"}, "fail"),
    ({"log_archive_dest_3": "location=/fra/ORCL/", "log_archive_dest_state_3": "defer"}, None),
    ({"log_archive_dest_2": "SERVICE=standby LGWR"}, None),
    ({"log_archive_dest_1": "LOCATION=USE_DB_RECOVERY_FILE_DEST"}, None),
    ({"db_recovery_file_dest": "+FRA", "audit_file_dest": "?/rdbms/audit"}, None),
    ({"sga_target": "1G"}, None),
    ({"audit_file_dest": "$ORACLE_BASE/adump"}, "error"),
    ({"diagnostic_dest": "/fra/../etc"}, "error"),
)
@cases("spfile", True, False)
def test_the_destinations_of_the_next_start(parameters, status, spfile):
    machine = starting({name: f"'{value}'" for name, value in parameters.items()}, spfile)
    machine.command(f"readlink -m -- {packs.HOME}/rdbms/audit", f"{packs.HOME}/rdbms/audit\n")
    found = places(machine)
    where = "/fra" if status == "fail" else "file system"
    assert found.pop(where, "").partition(" ")[0] == (status or ""), found
    assert list(found) == ["/"]


def test_a_destination_that_is_mounted_by_nobody_at_boot_or_is_read_only():
    machine = starting({"audit_file_dest": "/link"}, fra_free=50 << 30)
    findings = audit.judge_host(machine, {"space": changed_policy("space")})
    found = {item.check: item.status for item in findings if item.title.startswith("/fra: ")}
    assert found["space.free"] == "pass" and found["space.mounted_at_boot"] == "fail"


def test_an_spfile_in_asm_and_one_that_may_not_be_read_are_not_known():
    path = f"{packs.HOME}/dbs/initORCL.ora"
    machine = starting({}).file(path, "spfile=+DATA/orcl/spfile\n")
    machine.remove(f"{packs.HOME}/dbs/spfileORCL.ora")
    assert "error" in " ".join(places(machine).values())
    machine = starting({"sga_target": "1G"}).deny(f"{packs.HOME}/dbs/spfileORCL.ora")
    assert "error" in " ".join(places(machine).values())

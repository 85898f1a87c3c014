"""Files of Grid Infrastructure, planned paths and /tmp, as they are judged.

The paths are those of a public CVU log of 23.7; owners and modes are made up. That the Grid home
holds the scripts in crs/init is from memory: no Grid home was available.
"""

import packs
import pytest
from ansible.module_utils.hostproof.controls.space import facts
from ansible.module_utils.hostproof.evaluate import audit
from cases import cases
from default_policies import changed_policy
from space_packs import mounted
from test_space_oracle import with_grid

HOME = "/u01/grid"
WALLET, OTHER_WALLET, PROFILE = (f"{HOME}/{path}" for path in facts.GRID_FILES)
ADR = "/u01/app/grid/diag/crs/db1/crs"
GRID = 54331
NFS = f"40 27 0:50 / {HOME} rw - nfs4 filer:/home rw\n"
SCRIPT = facts.INIT_SCRIPTS[0]
SHIPPED = f"{HOME}/crs/init/init.ohasd"


@pytest.fixture
def judge(validate_finding):
    def judge_check(machine, check, **changes):
        policy = changed_policy("space", profile="oracle_19c_rac", **changes)
        findings = audit.judge_host(machine, {"space": policy})
        for finding in findings:
            validate_finding(finding.as_dict())
        return next(entry for entry in findings if entry.check == f"space.{check}")

    return judge_check


def owned(machine, path, mode, uid=GRID):
    machine.file(path, "", mode) if "." in path.rpartition("/")[2] else machine.folder(path)
    machine.modes[path] = mode
    machine.uids[path] = uid
    return machine


def installed(machine=None):
    """What the installer leaves, of the account grid."""
    machine = machine or with_grid()
    machine.file("/proc/sys/kernel/hostname", "db1.example.com\n")
    machine.file(f"{HOME}/crs/install/crsconfig_params", "ORACLE_BASE=/u01/app/grid\n")
    owned(machine, HOME, 0o755)
    owned(owned(machine, WALLET, 0o600), OTHER_WALLET, 0o600)
    owned(owned(machine, PROFILE, 0o644), ADR, 0o775)
    return owned(machine, f"{ADR}/trace", 0o1775)


class TestGridFiles:
    def test_as_installed(self, judge):
        finding = judge(installed(), "grid_files")
        assert (finding.status, finding.persisted) == ("pass", "5 files and directories")

    @cases(
        "path mode uid status",
        (WALLET, 0o640, GRID, "pass"),
        (WALLET, 0o600, 0, "pass"),
        (WALLET, 0o644, GRID, "warn"),
        (WALLET, 0o602, GRID, "fail"),
        (WALLET, 0o600, 1000, "fail"),
        (PROFILE, 0o646, GRID, "fail"),
        (f"{ADR}/trace", 0o777, GRID, "fail"),
        (ADR, 0o775, 1000, "fail"),
    )
    def test_owner_and_mode(self, judge, path, mode, uid, status):
        finding = judge(owned(installed(), path, mode, uid), "grid_files")
        assert finding.status == status
        if status != "pass":
            assert f"{path} has uid {uid} and mode {mode:04o}" in finding.why

    def test_no_clusterware_and_an_empty_home(self, judge):
        assert judge(mounted(packs.linux()), "grid_files").status == "skip"
        assert judge(owned(with_grid(), HOME, 0o755), "grid_files").status == "skip"

    def test_unknown(self, judge):
        assert judge(installed().deny(WALLET), "grid_files").status == "error"
        assert judge(owned(installed().deny(WALLET), PROFILE, 0o666), "grid_files").status == "fail"
        assert judge(installed().deny(HOME), "grid_files").status == "error"

    def test_a_home_on_a_network_file_system_is_not_touched(self, judge):
        machine = installed()
        machine.file("/proc/self/mountinfo", machine.files["/proc/self/mountinfo"] + NFS)
        assert judge(machine, "grid_files").status == "error"


class TestContentOfScripts:
    @cases("rc status", (0, "pass"), (1, "fail"), (2, "error"))
    def test_compared_with_the_home(self, judge, rc, status):
        machine = with_grid().file(SHIPPED, "#!/bin/sh\n")
        finding = judge(machine.command(f"cmp -s {SCRIPT} {SHIPPED}", "", rc), "grid_startup")
        assert finding.status == status
        assert (f"{SCRIPT} differs" in finding.why) == (status == "fail")

    def test_the_script_for_suse_counts_too(self, judge):
        machine = with_grid().file(SHIPPED, "#!/bin/sh\n").file(SHIPPED + ".sles", "#!/bin/sh\n")
        machine.command(f"cmp -s {SCRIPT} {SHIPPED}", "", 1)
        machine.command(f"cmp -s {SCRIPT} {SHIPPED}.sles", "", 0)
        assert judge(machine, "grid_startup").status == "pass"

    def test_a_home_without_scripts(self, judge):
        assert judge(with_grid(), "grid_startup").status == "pass"

    def test_what_is_unknown_does_not_hide_a_missing_script(self, judge):
        machine = with_grid().file(SHIPPED, "#!/bin/sh\n").remove(facts.INIT_SCRIPTS[1])
        assert judge(machine, "grid_startup").status == "fail"


class TestPlanned:
    PLAN = [{"path": "/u01/app/oracle", "free": "1G"}]

    @cases(
        "path mode uid gid status",
        ("/u01/app/oracle", 0o775, 54321, 54321, "pass"),
        ("/u01/app/oracle", 0o775, 0, 54321, "pass"),
        ("/u01/app/oracle", 0o755, 0, 54321, "fail"),
        ("/u01/app/oracle", 0o775, 0, 0, "fail"),
        ("/u01/app/oracle", 0o555, 54321, 54321, "fail"),
        ("/u01/app", 0o775, 54321, 54321, "pass"),
        ("/u01/app", 0o755, 0, 0, "warn"),
        ("/u01", 0o755, 0, 0, "warn"),
    )
    def test_the_path_or_what_is_above_it(self, judge, path, mode, uid, gid, status):
        machine = owned(mounted(packs.linux()), path, mode, uid)
        machine.gids[path] = gid
        finding = judge(machine, "planned", planned=self.PLAN)
        assert finding.status == status
        assert finding.persisted == f"{path} has uid {uid}, gid {gid} and mode {mode:04o}"
        assert finding.commands == (("mkdir -p /u01/app/oracle",) if status == "warn" else ())

    def test_nothing_is_planned(self, judge):
        assert judge(mounted(packs.linux()), "planned").status == "skip"

    def test_unknown(self, judge):
        machine = owned(mounted(packs.linux()), "/u01", 0o755, 0).deny("/u01")
        assert judge(machine, "planned", planned=self.PLAN).status == "error"
        network = mounted(packs.linux(), "41 27 0:51 / /u01 rw - nfs4 filer:/u01 rw\n")
        assert judge(network, "planned", planned=self.PLAN).status == "error"


class TestTmp:
    def test_part_of_another_file_system(self, judge):
        finding = judge(mounted(packs.linux()), "tmp")
        assert (finding.status, finding.running) == ("warn", "not mounted")

    def test_its_own(self, judge):
        machine = mounted(packs.linux(), "33 27 0:60 / /tmp rw,nosuid - tmpfs tmpfs rw\n")
        finding = judge(machine, "tmp")
        assert (finding.status, finding.failing_layer) == ("warn", "persisted")
        machine.evidence.clear()
        machine.command("systemctl is-enabled tmp.mount", "static\n")
        finding = judge(machine, "tmp")
        assert (finding.status, finding.running) == ("pass", "tmpfs, rw,nosuid")

    def test_unknown(self, judge):
        assert judge(packs.linux().deny("/proc/self/mountinfo"), "tmp").status == "error"

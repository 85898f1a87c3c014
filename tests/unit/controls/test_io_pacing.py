"""io_pacing: the policy, and every check in every status."""

import re
from collections.abc import Callable
from typing import Any

import aix_packs
import packs
import pytest
from aix_packs import aix
from ansible.module_utils.hostproof.collect.host import Host, RecordedHost
from ansible.module_utils.hostproof.controls.io_pacing.control import CONTROL as io_pacing
from ansible.module_utils.hostproof.controls.io_pacing.policy import PROFILES, Pair, rule_problem
from ansible.module_utils.hostproof.errors import PolicyError
from ansible.module_utils.hostproof.evaluate.finding import Finding
from cases import cases

Judge = Callable[..., dict[str, Finding]]


@pytest.fixture
def judge(findings_of) -> Judge:
    """judge(host, **changes of the policy): the finding of each check."""

    def judge_host(host: Host, **changes: Any) -> dict[str, Finding]:
        findings = findings_of("io_pacing", host, aix_packs.io_pacing_policy(**changes))
        assert [f"io_pacing.{check}" for check in findings] == [one.id for one in io_pacing.checks]
        return {check: only for check, (only,) in findings.items()}

    return judge_host


def policy(**changes: Any) -> io_pacing.policy:
    return io_pacing.policy_from(aix_packs.io_pacing_policy(**changes))


class TestPolicy:
    @cases(
        "profile pair",
        ("default", (8193, 4096)),
        ("intermediate", (513, 256)),
        ("legacy_hacmp", (33, 24)),
        ("off", (0, 0)),
    )
    def test_profile(self, profile, pair):
        assert policy(profile=profile).wanted == pair
        host_policy = policy(profile=profile, maxpout=str(pair[0]), minpout=str(pair[1]))
        assert (host_policy.profile, host_policy.wanted) == (profile, pair)
        assert PROFILES[profile].trade

    def test_off_without_quotes_is_false_in_yaml(self):
        assert policy(profile=False).profile == "off"

    def test_every_profile_keeps_the_rule(self):
        assert not [profile for profile in PROFILES.values() if rule_problem(profile.pair)]

    def test_custom(self):
        assert policy(profile="custom", maxpout=1025, minpout=512).wanted == Pair(1025, 512)

    def test_marks_that_are_given_are_the_policy(self):
        host_policy = policy(maxpout=513, minpout=256)
        assert (host_policy.profile, host_policy.wanted) == ("custom", Pair(513, 256))
        with pytest.raises(PolicyError, match="io_pacing_maxpout .*must be a multiple of 4 plus 1"):
            policy(maxpout=8192, minpout=4096)

    @cases("profile", "default", "custom", "legacy_hacmp")
    def test_one_mark_alone(self, profile):
        with pytest.raises(PolicyError, match="io_pacing_minpout must be given, too"):
            policy(profile=profile, maxpout=513)
        with pytest.raises(PolicyError, match="io_pacing_maxpout must be given, too"):
            policy(profile=profile, minpout=256)

    def test_custom_without_marks(self):
        with pytest.raises(PolicyError, match="io_pacing_maxpout must be given, too"):
            policy(profile="custom")

    @cases("profile", "intermediate", "legacy_hacmp", "off", False)
    def test_a_profile_and_other_marks(self, profile):
        with pytest.raises(PolicyError, match="io_pacing_profile is .* leave one of them out"):
            policy(profile=profile, maxpout=1025, minpout=512)

    @cases(
        "maxpout minpout said",
        (8192, 4096, "io_pacing_maxpout .*maxpout 8192 must be a multiple of 4 plus 1"),
        (33, 33, "io_pacing_minpout .*minpout 33 must be below maxpout 33"),
        (33, 36, "io_pacing_minpout .*must be below maxpout 33"),
        (33, 22, "io_pacing_minpout .*must be a multiple of 4"),
        (33, 32, "io_pacing_minpout .*at least 4 below maxpout 33"),
        (0, 24, "both are 0"),
        (33, 0, "both are 0"),
        (-1, 0, "io_pacing_maxpout must be a whole number"),
        ("many", 0, "io_pacing_maxpout must be a whole number"),
        (True, 0, "io_pacing_maxpout must be a whole number"),
    )
    def test_custom_against_the_rule(self, maxpout, minpout, said):
        with pytest.raises(PolicyError, match=said):
            policy(profile="custom", maxpout=maxpout, minpout=minpout)

    @cases(
        "changes said",
        ({"profile": "fast"}, "io_pacing_profile must be one of auto"),
        ({"profile": True}, "io_pacing_profile must be one of"),
        ({"powerha_version": "7"}, "io_pacing_powerha_version must be auto, none or"),
        ({"powerha_version": 7.1}, None),
        ({"powerha_version": False}, "io_pacing_powerha_version"),
        ({"cpu_headroom": 101}, "io_pacing_cpu_headroom must be 0 to 100"),
        ({"cpu_headroom": "much"}, "io_pacing_cpu_headroom must be a whole number"),
        ({"allow_deadman_risk": "yes"}, "io_pacing_allow_deadman_risk must be true or false"),
        ({"dirty_limit": "many"}, "io_pacing_dirty_limit is not a size"),
        ({"filesystems": "/fs"}, "io_pacing_filesystems must be a list"),
        ({"filesystems": [{"path": "/fs"}]}, "needs path, maxpout and minpout"),
        ({"filesystems": ["/fs"]}, "needs path, maxpout and minpout"),
    )
    def test_values(self, changes, said):
        if said is None:
            policy(**changes)
            return
        with pytest.raises(PolicyError, match=said):
            policy(**changes)

    @cases(
        "listed said",
        ([("fs", 33, 24)], "'fs' must be a mount point"),
        ([("/fs", 33, 24), ("/fs/", 33, 24)], "lists a path twice: /fs"),
        ([("/fs", 60, 40)], "/fs: maxpout 60 must be a multiple of 4 plus 1"),
        ([("/fs", "x", 40)], "/fs: maxpout must be a whole number"),
    )
    def test_file_systems(self, listed, said):
        with pytest.raises(PolicyError, match=said):
            policy(filesystems=[own(*entry) for entry in listed])

    def test_missing_and_unknown_names(self):
        values = aix_packs.io_pacing_policy()
        with pytest.raises(PolicyError, match="missing dirty_limit"):
            io_pacing.policy_from({k: v for k, v in values.items() if k != "dirty_limit"})
        with pytest.raises(PolicyError, match="unknown maxpot"):
            io_pacing.policy_from(values | {"maxpot": 1})


def own(path: str, maxpout: Any, minpout: Any) -> dict[str, Any]:
    return {"path": path, "maxpout": maxpout, "minpout": minpout}


class TestSystems:
    def test_aix_as_it_comes(self, judge):
        findings = judge(aix())
        statuses = {name: finding.status for name, finding in findings.items()}
        expected = dict.fromkeys(statuses, "pass") | {
            "deadman_risk": "skip",
            "buffered_writers": "skip",
        }
        assert statuses == expected
        assert findings["buffered_writers"].why == "Not a Linux host (AIX)."
        assert "no PowerHA heartbeat" in findings["deadman_risk"].why

    def test_linux(self, judge):
        findings = judge(linux())
        assert {
            finding.status for name, finding in findings.items() if name != "buffered_writers"
        } == {"skip"}
        assert findings["persisted"].why == "Not an AIX host (Linux)."
        assert findings["buffered_writers"].status == "pass"

    def test_solaris(self, judge):
        machine = packs.Machine().command("uname -s", "SunOS\n")
        assert {finding.status for finding in judge(machine).values()} == {"skip"}

    def test_no_system(self, judge):
        assert {finding.status for finding in judge(packs.Machine()).values()} == {"error"}

    def test_nothing_but_a_system(self, judge):
        """An AIX without answers: no check may pass."""
        findings = judge(aix_packs.AixMachine().command("uname -s", "AIX\n"))
        assert {finding.status for finding in findings.values()} == {"error", "skip"}
        assert findings["buffered_writers"].status == "skip"

    def test_empty_answers(self, judge):
        machine = aix()
        for line in list(machine.commands):
            if line != "uname -s":
                machine.command(line, "")
        machine.file("/etc/filesystems", "")
        assert {finding.status for finding in judge(machine).values()} == {"error", "skip"}

    def test_offline_as_live(self, judge):
        machine = aix().marks(33, 24).powerha("6.1.0.0")
        live = judge(machine)
        assert judge(RecordedHost(machine.evidence)) == live


class TestEvidence:
    def test_what_is_cited_was_read(self, judge):
        old = aix().marks(33, 24).powerha("6.1.0.0")
        unknown = aix().marks(33, 24).failing(aix_packs.LSLPP, "0504-081")
        for machine in (aix(), old, unknown, aix().powerha("7.2.3.1", "SP1")):
            findings = judge(machine, powerha_version="6.1" if machine is unknown else "auto")
            cited = {key for finding in findings.values() for key in finding.evidence}
            assert cited <= set(machine.evidence)
            assert f"command:{aix_packs.LSLPP}" in findings["deadman_risk"].evidence


class TestPersistedAndRunning:
    def test_legacy(self, judge):
        findings = judge(aix().marks(33, 24))
        assert findings["persisted"].status == findings["running"].status == "fail"
        assert findings["persisted"].persisted == "maxpout=33 minpout=24"
        assert findings["persisted"].desired == "maxpout=8193 minpout=4096"
        apply, chdev = findings["persisted"].commands
        assert apply == "./hostproof apply --tags io_pacing"
        assert chdev == "chdev -l sys0 -a maxpout=8193 -a minpout=4096"
        assert findings["running"].commands[1] == chdev + " -T"

    def test_the_kernel_goes_by_other_marks(self, judge):
        findings = judge(aix().kernel(33, 24))
        assert findings["persisted"].status == "pass" and findings["running"].status == "fail"
        assert "chdev -P or chdev -T" in findings["running"].why

    def test_the_next_boot_brings_other_marks(self, judge):
        findings = judge(aix().odm(33, 24))
        assert findings["persisted"].status == "fail" and findings["running"].status == "pass"

    def test_a_kernel_that_does_not_tell(self, judge):
        findings = judge(aix().failing(aix_packs.SYS_PARM, "ModuleNotFoundError: ctypes"))
        assert findings["persisted"].status == "pass"
        for name in ("running", "valid_pair", "legacy_values"):
            assert findings[name].status == "error", name
        assert "lsattr shows the ODM only" in findings["running"].why
        assert "ctypes" in findings["running"].why

    @cases("text", "", "maxpout=33\n", "x\n", "maxpout=33\nminpout=24\nx\n")
    def test_a_kernel_that_tells_too_little(self, judge, text):
        assert judge(aix().command(aix_packs.SYS_PARM, text))["running"].status == "error"

    def test_lsattr_that_fails(self, judge):
        machine = aix().failing(aix_packs.LSATTR, "lsattr: 0514-519 not found in the database")
        findings = judge(machine)
        for name in ("persisted", "valid_pair", "legacy_values"):
            assert findings[name].status == "error", name
        assert "0514-519" in findings["persisted"].why and findings["running"].status == "pass"

    def test_lsattr_that_tells_one_only(self, judge):
        machine = aix().command(aix_packs.LSATTR, "maxpout 8193 HIGH water mark True\n")
        assert judge(machine)["persisted"].status == "error"

    def test_a_mark_that_is_no_number(self, judge):
        assert judge(aix().odm("none", 4096))["persisted"].status == "error"

    def test_off(self, judge):
        findings = judge(aix().marks(0, 0), profile="off")
        assert findings["persisted"].status == findings["running"].status == "pass"
        assert findings["valid_pair"].status == findings["legacy_values"].status == "pass"


class TestLegal:
    @cases(
        "pair status said",
        ((8193, 4096), "pass", ""),
        ((0, 0), "pass", ""),
        ((8192, 4096), "warn", "maxpout 8192 must be a multiple of 4 plus 1"),
        ((33, 22), "warn", "minpout 22 must be a multiple of 4"),
        ((24, 32), "fail", "minpout 32 must be below maxpout 24"),
        ((33, 33), "fail", "must be below"),
        ((33, 0), "fail", "both are 0"),
        ((0, 24), "fail", "both are 0"),
        ((65537, 4096), "fail", "maxpout must be 0 to 32769"),
    )
    def test_pair(self, judge, pair, status, said):
        finding = judge(aix().marks(*pair))["valid_pair"]
        assert finding.status == status
        assert status == "pass" or said in finding.why

    @cases("name", "maxpout", "minpout")
    def test_range_that_nobody_tells(self, judge, name):
        machine = aix().failing(f"lsattr -R -l sys0 -a {name}", "0514-530 Cannot display")
        finding = judge(machine)["valid_pair"]
        assert finding.status == "error" and "0514-530" in finding.why
        machine = aix().failing(f"lsattr -R -l sys0 -a {name}", "0514-530").kernel(24, 32)
        assert judge(machine)["valid_pair"].status == "fail"

    def test_level(self, judge):
        finding = judge(aix())["valid_pair"]
        assert (finding.status, finding.in_use) == ("pass", "AIX 7.2 TL 5 SP 3")
        machine = aix().command("oslevel -s", "5300-12-04-1119\n")
        old = judge(machine)["valid_pair"]
        assert old.status == "warn" and "AIX 5.3 TL 12 SP 4 is older than AIX 6.1" in old.why
        assert "upgrade AIX" in str(old.fix)
        machine = aix().command("oslevel -s", "7300-01-02-2320\n")
        assert judge(machine)["valid_pair"].status == "pass"
        assert judge(aix().failing("oslevel -s", "no"))["valid_pair"].status == "error"

    def test_in_the_kernel_alone(self, judge):
        finding = judge(aix().kernel(24, 32))["valid_pair"]
        assert finding.status == "fail" and finding.why.startswith("In the kernel: ")


class TestLegacyValues:
    COST = "213.55 MB/s with 8193/4096, 109.64 MB/s with 33/24"

    @cases("pair", (33, 24), (33, 20), (17, 8))
    def test_without_powerha(self, judge, pair):
        finding = judge(aix().marks(*pair))["legacy_values"]
        assert finding.status == "fail" and self.COST in finding.why and "no PowerHA" in finding.why

    @cases(
        "pair said unsaid",
        ((33, 24), "is what HACMP up to 5.4 requested", "not measured"),
        ((17, 8), "33/24 of HACMP up to 5.4, or tighter", "49%"),
    )
    def test_only_what_was_measured_is_said_to_be(self, judge, pair, said, unsaid):
        finding = judge(aix().marks(*pair))["legacy_values"]
        assert said in finding.why and unsaid not in finding.why

    def test_cost_is_what_the_article_printed(self):
        text = (packs.FIXTURES / "io_pacing/seed-orion.txt").read_text()
        measured = re.findall(r"Large MBPS=([\d.]+)", text)
        assert [f"{rate} MB/s" in self.COST for rate in measured] == [True, True]
        assert round(100 - 100 * float(measured[1]) / float(measured[0])) == 49

    def test_with_a_powerha_that_does_not_need_them(self, judge):
        finding = judge(aix().marks(33, 24).powerha("7.1.3.0", "SP5"))["legacy_values"]
        assert finding.status == "fail"
        assert "PowerHA 7.1.3 SP5 (active), which does not need it" in finding.why

    def test_what_the_verdict_rests_on(self, judge):
        marks = [f"command:{aix_packs.LSATTR}", "command:sys_parm: maxpout minpout"]
        cpu = "command:lparstat"
        mounts = ["file:/etc/filesystems", "command:mount"]
        none = f"command:{aix_packs.LSLPP}"
        installed = [none, "command:lssrc -s clstrmgrES"]
        result = judge(aix().powerha("7.1.3.0"))
        assert list(result["legacy_values"].evidence) == marks
        assert list(result["deadman_risk"].evidence) == [*installed, *marks]
        assert list(result["cpu_headroom"].evidence) == [*installed, cpu, *marks]
        result = judge(aix().marks(33, 24))
        assert list(result["legacy_values"].evidence) == [*marks, none]
        assert list(result["cpu_headroom"].evidence) == [none, cpu]
        result = judge(aix().powerha("6.1.0.0"))["deadman_risk"]
        assert list(result.evidence) == [*installed, *marks, cpu, *mounts]

    def test_wanted_all_the_same(self, judge):
        finding = judge(aix().marks(33, 24), profile="legacy_hacmp")["legacy_values"]
        assert finding.status == "warn" and self.COST in finding.why

    def test_with_an_old_hacmp(self, judge):
        findings = judge(aix().marks(33, 24).powerha("5.4.1.0"), profile="legacy_hacmp")
        assert findings["legacy_values"].status == "pass"
        assert findings["deadman_risk"].status == "pass"

    def test_one_layer_is_enough(self, judge):
        assert judge(aix().kernel(33, 24))["legacy_values"].status == "fail"
        assert judge(aix().odm(33, 24))["legacy_values"].status == "fail"

    def test_intermediate_is_none(self, judge):
        assert judge(aix().marks(513, 256))["legacy_values"].status == "pass"

    def test_powerha_not_known(self, judge):
        machine = aix().marks(33, 24).failing(aix_packs.LSLPP, "lslpp: 0504-081 cannot open")
        findings = judge(machine)
        assert findings["legacy_values"].status == "error"
        assert findings["deadman_risk"].status == "error"
        with_version = judge(machine, powerha_version="7.2.3")
        assert with_version["legacy_values"].status == "fail"
        assert with_version["deadman_risk"].status == "pass"


class TestMarksByPowerHa:
    """Article 000: 8193/4096 by default, and 513/256 between both where HACMP 5.4.1 runs."""

    @cases(
        "level marks",
        ("5.4.1.0", (513, 256)),
        ("6.1.0.0", (513, 256)),
        ("7.1.0.0", (8193, 4096)),
        (None, (8193, 4096)),
    )
    def test_the_default_follows_the_release(self, judge, level, marks):
        machine = aix().marks(*marks)
        findings = judge(machine if level is None else machine.powerha(level))
        assert findings["persisted"].status == findings["running"].status == "pass"
        assert findings["running"].desired == str(Pair(*marks))
        other = (8193, 4096) if marks == (513, 256) else (513, 256)
        machine = aix().marks(*other)
        findings = judge(machine if level is None else machine.powerha(level))
        assert findings["persisted"].status == findings["running"].status == "fail"

    def test_an_unknown_release_is_unknown(self, judge):
        findings = judge(aix().failing(aix_packs.LSLPP, "0504-081"))
        assert findings["persisted"].status == "error"
        findings = judge(aix().failing(aix_packs.LSLPP, "0504-081"), powerha_version="5.4.1")
        assert findings["persisted"].desired == "maxpout=513 minpout=256"


class TestDeadmanRisk:
    def test_raised_under_an_old_hacmp(self, judge):
        finding = judge(aix().powerha("6.1.0.0"))["deadman_risk"]
        assert finding.status == "fail"
        assert "maxpout=8193 minpout=4096 with PowerHA 6.1.0.0 (active)" in finding.why
        assert "CPU headroom 32% (average since the start" in finding.why

    def test_taken_by_name(self, judge):
        finding = judge(aix().powerha("6.1.0.0"), allow_deadman_risk=True)["deadman_risk"]
        assert finding.status == "warn" and "io_pacing_allow_deadman_risk" in finding.why

    def test_no_pacing_at_all_is_raised_too(self, judge):
        findings = judge(aix().marks(0, 0).powerha("5.4.1.0"), profile="off")
        assert findings["deadman_risk"].status == "fail"

    def test_wanted_but_not_there_yet(self, judge):
        finding = judge(aix().marks(33, 24).powerha("6.1.0.0"))["deadman_risk"]
        assert finding.status == "warn"
        assert "The policy requires maxpout=513 minpout=256" in finding.why
        taken = judge(aix().marks(33, 24).powerha("6.1.0.0"), allow_deadman_risk=True)[
            "deadman_risk"
        ]
        assert "The risk is taken" in taken.why

    @cases(
        "version status",
        ("7.0", "fail"),
        ("6.1.0.0", "fail"),
        ("7.1", "pass"),
        ("7.1.0", "pass"),
        ("none", "skip"),
    )
    def test_which_release_is_old(self, judge, version, status):
        machine = aix().failing(aix_packs.LSLPP, "lslpp: 0504-081 cannot open")
        finding = judge(machine, powerha_version=version)["deadman_risk"]
        assert finding.status == status and f"command:{aix_packs.LSLPP}" in finding.evidence
        if version != "none":
            assert judge(aix().powerha(version))["deadman_risk"].status == status

    @cases(
        "marks status",
        ((33, 24), "pass"),
        ((37, 24), "warn"),
        ((65, 48), "warn"),
        ((513, 256), "warn"),
        ((517, 256), "fail"),
        ((8193, 4096), "fail"),
        ((0, 0), "fail"),
    )
    def test_the_middle_is_a_warning_with_its_price(self, judge, marks, status):
        machine = aix().marks(*marks).powerha("6.1.0.0")
        finding = judge(machine, profile="legacy_hacmp")["deadman_risk"]
        assert finding.status == status
        if status == "warn":
            assert "109.64 MB/s with 33/24" in finding.why
        # Whoever is told to set 33/24 is told what it costs.
        assert status == "pass" or "halves large writes" in str(finding.fix)

    def test_every_way_to_33_24_says_what_it_costs(self, judge):
        findings = judge(aix().powerha("6.1.0.0"), profile="legacy_hacmp")
        for check in ("persisted", "running", "deadman_risk"):
            assert findings[check].status == "fail"
            assert "halves large writes" in str(findings[check].fix)
            assert findings[check].commands[0] == "./hostproof apply --tags io_pacing"

    def test_a_middle_beside_something_unknown_is_unknown(self, judge):
        machine = aix().marks(513, 256).powerha("6.1.0.0").failing(aix_packs.SYS_PARM, "no ctypes")
        assert judge(machine)["deadman_risk"].status == "error"

    @cases(
        "options status", ("maxpout=513,minpout=256", "warn"), ("maxpout=1025,minpout=256", "fail")
    )
    def test_the_middle_of_a_file_system(self, judge, options, status):
        findings = judge(self.old(mount=options), profile="legacy_hacmp")
        assert findings["deadman_risk"].status == status

    @cases(
        "installed told",
        ("6.1.0.0", "7.2.3"),
        ("6.1.0.0", "none"),
        ("7.2.3.1", "6.1"),
        ("7.2.3.1", "none"),
    )
    @cases("marks", (33, 24), (8193, 4096))
    def test_policy_and_host_contradict(self, judge, installed, told, marks):
        """One of them is wrong, and either may be: neither overrules the other."""
        findings = judge(aix().marks(*marks).powerha(installed), powerha_version=told)
        finding = findings["deadman_risk"]
        assert finding.status == findings["cpu_headroom"].status == "error"
        name = "no PowerHA" if told == "none" else f"PowerHA {told}"
        assert f"io_pacing_powerha_version says {name}, and the host has" in finding.why
        assert f"PowerHA {installed} (active)" in finding.why
        assert finding.evidence == (f"command:{aix_packs.LSLPP}",)
        assert findings["legacy_values"].status == ("error" if marks == (33, 24) else "pass")

    def test_policy_tells_of_an_old_one_that_is_not_installed(self, judge):
        assert judge(aix(), powerha_version="6.1")["deadman_risk"].status == "error"

    def test_host_knows_its_release_better(self, judge):
        finding = judge(aix().powerha("7.2.5.0"), powerha_version="7.1")["deadman_risk"]
        assert (finding.status, finding.in_use) == ("pass", "PowerHA 7.2.5.0 (active)")
        assert judge(aix(), powerha_version="7.2.3")["deadman_risk"].status == "skip"

    def old(self, mount: str = "", filesystems: str = "") -> aix_packs.AixMachine:
        """An old HACMP with the marks that it needs, and a file system with its own."""
        machine = aix().marks(33, 24).powerha("6.1.0.0")
        if mount:
            machine.command("mount", aix_packs.PLAIN_MOUNTS + row("/backup", f"rw,{mount}"))
        if filesystems:
            machine.file("/etc/filesystems", f"/backup:\n\toptions = rw,{filesystems}\n")
        return machine

    @cases("options", "minpout=0,maxpout=0", "maxpout=8193,minpout=4096")
    @cases("where", "mount", "filesystems")
    def test_a_file_system_that_is_not_held_back(self, judge, where, options):
        pair = {"maxpout": 0, "minpout": 0} if "=0," in options else PAIR
        finding = judge(
            self.old(**{where: options}),
            profile="legacy_hacmp",
            filesystems=[{"path": "/backup"} | pair],
        )["deadman_risk"]
        assert finding.status == "fail"
        assert f"/backup: maxpout={pair['maxpout']} minpout={pair['minpout']} " in finding.why
        assert "out of the options of /backup" in str(finding.fix)
        assert {"command:mount", "file:/etc/filesystems"} <= set(finding.evidence)

    def test_a_file_system_that_is_held_back_as_well(self, judge):
        machine = self.old("maxpout=17,minpout=8", "maxpout=17,minpout=8")
        finding = judge(machine, profile="legacy_hacmp", filesystems=[own("/backup", 17, 8)])
        assert finding["deadman_risk"].status == "pass"

    def test_half_an_override_is_no_protection(self, judge):
        assert judge(self.old("minpout=0"), profile="legacy_hacmp")["deadman_risk"].status == "fail"

    @cases("what", "mount", "/etc/filesystems")
    def test_mounts_not_known(self, judge, what):
        for kernel, status in (((33, 24), "error"), ((8193, 4096), "fail")):
            machine = self.old().kernel(*kernel)
            machine = machine.failing("mount", "no") if what == "mount" else machine.deny(what)
            assert judge(machine, profile="legacy_hacmp")["deadman_risk"].status == status

    @cases("layer", aix_packs.SYS_PARM, aix_packs.LSATTR)
    def test_a_layer_that_is_not_known_may_be_raised(self, judge, layer):
        assert judge(self.old().failing(layer, "no"))["deadman_risk"].status == "error"

    def test_no_finding_hands_out_what_apply_refuses(self, judge):
        """Who pastes the chdev of a finding gets round the guard."""
        for machine in (
            aix().marks(33, 24).powerha("6.1.0.0"),
            aix().marks(33, 24).failing(aix_packs.LSLPP, "0504-081"),
            aix().odm(33, 24).powerha("6.1.0.0").failing(aix_packs.SYS_PARM, "no ctypes"),
        ):
            findings = judge(machine, profile="default")
            assert not [one.check for one in findings.values() if "chdev" in str(one.commands)]
            assert "legacy_hacmp" in str(findings["persisted"].fix)
            assert "io_pacing_allow_deadman_risk" in str(findings["persisted"].fix)
            taken = judge(machine, profile="default", allow_deadman_risk=True)
            assert "chdev -l sys0 -a maxpout=8193" in taken["persisted"].commands[1]

    def test_little_cpu_left(self, judge):
        finding = judge(aix().powerha("6.1.0.0"), cpu_headroom=12)["deadman_risk"]
        assert "CPU headroom 12% (io_pacing_cpu_headroom), below the 20% to keep" in finding.why

    def test_cpu_not_known(self, judge):
        finding = judge(aix().powerha("6.1.0.0").failing("lparstat", "no"))["deadman_risk"]
        assert finding.status == "fail" and "CPU headroom not known" in finding.why

    def test_halevel_contradicts_lslpp(self, judge):
        machine = aix().powerha("6.1.0.0").command(aix_packs.HALEVEL, "7.2.3 GA\n")
        finding = judge(machine)["deadman_risk"]
        assert finding.status == "error"
        assert "lslpp says PowerHA 6.1.0.0, halevel says 7.2.3" in finding.why


PAIR = {"maxpout": 8193, "minpout": 4096}


class TestCpuHeadroom:
    @cases(
        "level marks profile free status",
        ("7.2.3.1", (33, 24), "default", 12, "warn"),
        ("7.2.3.1", (8193, 4096), "default", 12, "warn"),
        ("7.2.3.1", (8193, 4096), "legacy_hacmp", 12, "warn"),
        ("7.2.3.1", (33, 24), "legacy_hacmp", 12, "pass"),
        ("7.2.3.1", (33, 24), "default", 20, "pass"),
        ("6.1.0.0", (33, 24), "default", 12, "warn"),
    )
    def test_with_powerha(self, judge, level, marks, profile, free, status):
        machine = aix().marks(*marks).powerha(level)
        finding = judge(machine, profile=profile, cpu_headroom=free)["cpu_headroom"]
        assert finding.status == status
        assert f"CPU headroom {free}% (io_pacing_cpu_headroom)" in str(finding.in_use)

    @cases("free status", (19, "warn"), (20, "pass"))
    def test_without_powerha(self, judge, free, status):
        finding = judge(aix(), cpu_headroom=free)["cpu_headroom"]
        assert finding.status == status
        assert f"CPU headroom {free}% (io_pacing_cpu_headroom)" in finding.in_use

    @cases("idle status shown", (199, "warn", "19.9"), (200, "pass", "20"))
    def test_linux_with_an_instance(self, judge, idle, status, shown):
        """Article 000: no system should use more than 80 % of its CPUs."""
        finding = judge(cpus(linux().instance("ORCL"), idle, 1000))["cpu_headroom"]
        assert finding.status == status and finding.in_use == f"CPU headroom {shown}% (in 10 s)"

    def test_linux_without_an_instance_or_a_window(self, judge):
        assert judge(cpus(linux(), 10, 1000))["cpu_headroom"].status == "skip"
        machine = cpus(linux().instance("ORCL"), 10, 1000)
        assert judge(machine, window_seconds=0)["cpu_headroom"].status == "skip"
        assert judge(machine, window_seconds=0, cpu_headroom=5)["cpu_headroom"].status == "warn"

    @cases("text", "", "cpu0 1 2 3 4 5 6 7 8\n", "cpu  100 0 0 100 0 0 0 0\n")
    def test_linux_that_does_not_tell(self, judge, text):
        machine = linux().instance("ORCL").sampled("cpu_use", "file:/proc/stat", text)
        assert judge(machine)["cpu_headroom"].status == "error"

    def test_not_known(self, judge):
        machine = aix().powerha("7.2.3.1").failing("lparstat", "no")
        finding = judge(machine)["cpu_headroom"]
        assert finding.status == "error" and "give io_pacing_cpu_headroom" in finding.why
        assert judge(machine, cpu_headroom=40)["cpu_headroom"].status == "pass"


class TestFilesystems:
    def override(self, live: bool = True, persisted: bool = True) -> aix_packs.AixMachine:
        machine = aix()
        if live:
            text = (packs.FIXTURES / "io_pacing/mount-override.txt").read_text()
            machine.command("mount", text)
        if persisted:
            text = (packs.FIXTURES / "io_pacing/filesystems-override.txt").read_text()
            machine.file("/etc/filesystems", text)
        return machine

    def test_nobody_asked_for_it(self, judge):
        finding = judge(self.override())["filesystems"]
        assert finding.status == "fail"
        assert "/fs: maxpout=60 minpout=40 in /etc/filesystems" in finding.why
        assert "/fs: maxpout=60 minpout=40 as mounted" in finding.why
        assert finding.commands == ("chfs -a options=rw /fs", "umount /fs", "mount /fs")

    def test_allowed(self, judge):
        machine = aix()
        machine.command("mount", aix_packs.PLAIN_MOUNTS + row("/fs", "rw,maxpout=513,minpout=256"))
        text = "/fs:\n\tvfs = jfs2\n\toptions = rw,maxpout=513,minpout=256\n"
        machine.file("/etc/filesystems", text)
        assert judge(machine)["filesystems"].status == "fail"
        allowed = judge(machine, filesystems=[own("/fs", 513, 256)])["filesystems"]
        assert allowed.status == "pass" and allowed.running == "/fs: maxpout=513 minpout=256"
        assert judge(machine, filesystems=[own("/fs", 33, 24)])["filesystems"].status == "fail"
        assert judge(machine, profile="intermediate")["filesystems"].status == "pass"

    def test_the_next_mount_differs(self, judge):
        machine = aix()
        machine.command("mount", aix_packs.PLAIN_MOUNTS + row("/fs", "rw,maxpout=513,minpout=256"))
        finding = judge(machine, filesystems=[own("/fs", 513, 256)])["filesystems"]
        assert finding.status == "warn" and finding.persisted == "none"

    def test_allowed_and_not_there(self, judge):
        """The policy allows it; nobody says that it must be."""
        finding = judge(aix(), filesystems=[own("/fs", 513, 256)])["filesystems"]
        assert finding.status == "pass"
        assert finding.desired == "allowed: /fs: maxpout=513 minpout=256"

    def test_options_of_the_default_stanza(self, judge):
        machine = aix()
        machine.file(
            "/etc/filesystems",
            "default:\n\tvol = AIX\n\toptions = rw,maxpout=33,minpout=24\n"
            "/backup:\n\tdev = /dev/b\n/home:\n\toptions = rw\n",
        )
        finding = judge(machine)["filesystems"]
        assert finding.status == "fail" and finding.persisted == "/backup: maxpout=33 minpout=24"
        assert finding.commands == ("chfs -a options=rw /backup",)

    def test_a_name_that_a_shell_would_run_is_quoted(self, judge):
        machine = aix()
        machine.file("/etc/filesystems", "/u03/$(id):\n\toptions = rw,maxpout=33,minpout=24\n")
        assert judge(machine)["filesystems"].commands == ("chfs -a options=rw '/u03/$(id)'",)

    def test_live_or_persisted_alone(self, judge):
        assert judge(self.override(persisted=False))["filesystems"].status == "fail"
        assert judge(self.override(live=False))["filesystems"].status == "fail"

    def test_half_an_override(self, judge):
        machine = aix().command("mount", aix_packs.PLAIN_MOUNTS + row("/fs", "rw,maxpout=8193"))
        finding = judge(machine)["filesystems"]
        assert finding.status == "fail" and "/fs: maxpout=8193 as mounted" in finding.why

    def test_names_that_only_begin_so(self, judge):
        machine = aix()
        machine.command("mount", aix_packs.PLAIN_MOUNTS + row("/fs", "rw,maxpouts=1,xminpout=2"))
        assert judge(machine)["filesystems"].status == "pass"

    def test_not_readable(self, judge):
        assert judge(aix().failing("mount", "no"))["filesystems"].status == "error"
        assert judge(aix().deny("/etc/filesystems"))["filesystems"].status == "error"


def row(path: str, options: str) -> str:
    return f"         /dev/fslv07      {path:<16} jfs2   Jul 15 11:06 {options}\n"


class TestInformation:
    def test_mounts_that_bypass_the_cache(self, judge):
        machine = aix()
        rows = row("/u02", "rw,cio,log=INLINE") + row("/u03", "rw,dio") + row("/u04", "rw,cio2")
        machine.command("mount", aix_packs.PLAIN_MOUNTS + rows)
        finding = judge(machine)["unpaced_mounts"]
        assert finding.status == "pass" and "/u02 (cio); /u03 (dio)" in finding.title
        assert "/u04" not in str(finding.in_use) and "filesystemio_options" in str(finding.in_use)

    def test_tunables(self, judge):
        finding = judge(aix())["related_tunables"]
        assert finding.status == "pass"
        assert "j2_nPagesPerWriteBehindCluster=32" in str(finding.running)

    def test_tunables_that_nobody_tells(self, judge):
        refused = judge(aix().failing("ioo -a", "ioo: not root"))["related_tunables"]
        assert refused.status == "error" and "run it as root" in refused.why
        machine = aix().command("ioo -a", "maxpgahead = 8\n")
        assert judge(machine)["related_tunables"].status == "error"


# -- Linux ----------------------------------------------------------------------------------------


def cpus(machine: packs.Machine, idle: int, total: int) -> packs.Machine:
    """A window in which the CPUs had so many ticks, of which half of the idle ones were iowait."""
    first = "cpu  5000 0 2000 90000 400 0 10 0 0 0\ncpu0 1 2 3 4 5 6 7 8 9 0\n"
    user, half = 5000 + total - idle, idle // 2
    second = f"cpu  {user} 0 2000 {90000 + idle - half} {400 + half} 0 10 0 0 0\n"
    return machine.sampled("cpu_use", "file:/proc/stat", first, second)


def linux(**dirty: int) -> packs.Machine:
    """64 GiB, of which 30 GiB are available; the kernel's defaults of the dirty limits."""
    machine = packs.linux().memory(MemAvailable=30 * packs.MIB)
    machine.file("/proc/self/mountinfo", "25 1 254:0 / / rw,relatime - ext4 /dev/vda rw\n")
    values = {
        "dirty_background_bytes": 0,
        "dirty_background_ratio": 10,
        "dirty_bytes": 0,
        "dirty_ratio": 20,
    }
    for name, value in (values | dirty).items():
        machine.file(f"/proc/sys/vm/{name}", f"{value}\n")
    machine.file("/sys/block/vda/queue/wbt_lat_usec", "75000\n")
    machine.file("/sys/block/loop0/queue/wbt_lat_usec", "2000\n")
    return machine


class TestBufferedWriters:
    def test_within_the_limit(self, judge):
        finding = judge(linux())["buffered_writers"]
        assert finding.status == "pass"
        assert finding.running == "write back from about 3.0 GiB, writers wait from about 6.0 GiB"
        assert finding.in_use == "writeback throttle (wbt_lat_usec): vda 75000 µs"

    def test_above_the_limit(self, judge):
        finding = judge(linux(dirty_ratio=40))["buffered_writers"]
        assert finding.status == "warn" and "about 12.0 GiB may be dirty" in finding.why
        assert "A database with direct I/O is not governed by it." in finding.why
        assert "vm.dirty_bytes = 8589934592" in finding.commands[1]
        # The file can hold settings of others.
        assert all(" >> " in command for command in finding.commands[:2])

    def test_bytes_win_over_the_ratio(self, judge):
        machine = linux(dirty_bytes=1 << 30, dirty_ratio=0, dirty_background_bytes=1 << 28)
        machine.file(
            "/etc/sysctl.d/90-dirty.conf",
            "vm.dirty_bytes = 1073741824\nvm.dirty_background_bytes = 268435456\n",
        )
        finding = judge(machine)["buffered_writers"]
        assert finding.status == "pass", finding.why
        assert finding.running == "write back from about 256.0 MiB, writers wait from about 1.0 GiB"
        assert "/etc/sysctl.d/90-dirty.conf:1" in str(finding.persisted)

    def test_never_a_failure(self, judge):
        machine = linux(dirty_ratio=100, dirty_background_ratio=100)
        finding = judge(machine, dirty_limit="1M")["buffered_writers"]
        assert finding.status == "warn" and "writing back begins" in finding.why

    def test_unmanaged(self, judge):
        machine = linux(dirty_background_ratio=10, dirty_ratio=20).memory(MemAvailable=60 << 20)
        assert judge(machine)["buffered_writers"].status == "warn"
        assert judge(machine, dirty_limit="unmanaged")["buffered_writers"].status == "pass"

    def test_a_boot_changes_it(self, judge):
        machine = linux().file("/etc/sysctl.d/90-dirty.conf", "vm.dirty_ratio = 5\n")
        finding = judge(machine)["buffered_writers"]
        assert finding.status == "warn"
        assert "vm.dirty_ratio is 20 now and 5 after a reboot" in finding.why
        # The running value is within the limit. A reboot must keep it.
        assert finding.fix == "put vm.dirty_ratio = 20 in place of /etc/sysctl.d/90-dirty.conf:1"
        assert (finding.failing_layer, finding.commands) == ("persisted", ())

    @cases(
        "path text status says",
        # Linux, mm/page-writeback.c: refused, so that the value stays as it is.
        ("/etc/sysctl.d/90.conf", "vm.dirty_ratio = 256M\n", "warn", "the kernel rejects it"),
        ("/etc/sysctl.d/90.conf", "vm.dirty_ratio = 0x14\n", "pass", "dirty_ratio=20"),
        ("/etc/sysctl.d/90.conf", "vm.dirty_ratio = 024\n", "pass", "dirty_ratio=20"),
        # TuneD, plugin_vm.py since 2.25: nothing applies sysctl.d again after it.
        ("/usr/lib/tuned/site/tuned.conf", "[vm]\ndirty_bytes=40%\n", "warn", "20 now and 40"),
        ("/usr/lib/tuned/site/tuned.conf", "[x]\ntype=sysctl\nvm.dirty_ratio=5\n", "warn", "5"),
        ("/etc/cron.d/x", "@reboot root sysctl -w vm.dirty_ratio=5\n", "error", "/etc/cron.d/x:1"),
        ("/etc/cron.d/x", "@reboot root sysctl -w vm.dirty_ratio=20\n", "error", "nothing else"),
    )
    def test_what_else_decides_the_next_boot(self, judge, path, text, status, says):
        machine = (
            linux()
            .file("/etc/tuned/active_profile", "site\n")
            .file("/usr/lib/tuned/site/tuned.conf", "[cpu]\ngovernor=performance\n")
        )
        finding = judge(machine.file(path, text))["buffered_writers"]
        assert (finding.status, says in f"{finding.why} {finding.persisted}") == (status, True)
        is_tuned = "/tuned/" in path
        assert ("in a TuneD profile below /etc/tuned" in str(finding.fix)) == is_tuned

    def test_set_by_hand(self, judge):
        finding = judge(linux(dirty_background_ratio=5))["buffered_writers"]
        assert finding.status == "warn"
        assert "vm.dirty_background_ratio is 5, which no file sets" in finding.why
        assert finding.fix.startswith("put 'vm.dirty_background_ratio = 5' into /etc/sysctl.d/")

    def test_both_of_a_pair_at_boot(self, judge):
        machine = linux(dirty_bytes=1 << 30, dirty_ratio=0, dirty_background_ratio=1)
        text = "vm.dirty_ratio = 5\nvm.dirty_bytes = 1073741824\n"
        machine.file("/etc/sysctl.d/90-dirty.conf", text)
        finding = judge(machine)["buffered_writers"]
        assert "each makes the other 0" in finding.why
        assert finding.fix.startswith("remove vm.dirty_bytes (/etc/sysctl.d/90-dirty.conf:2) or ")

    def test_throttle_off_and_absent(self, judge):
        machine = linux().file("/sys/block/vda/queue/wbt_lat_usec", "0\n")
        assert judge(machine)["buffered_writers"].in_use.endswith("vda off")
        machine = linux().remove("/sys/block/vda/queue/wbt_lat_usec")
        assert judge(machine)["buffered_writers"].in_use is None

    @cases("path", "/proc/sys/vm/dirty_bytes", "/proc/meminfo")
    def test_not_readable(self, judge, path):
        assert judge(linux().deny(path))["buffered_writers"].status == "error"

    def test_the_throttle_decides_nothing(self, judge):
        finding = judge(linux().deny("/sys/block/vda/queue/wbt_lat_usec"))["buffered_writers"]
        assert (finding.status, finding.in_use) == (judge(linux())["buffered_writers"].status, None)

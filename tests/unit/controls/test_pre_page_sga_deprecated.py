"""pre_page_sga from 19.22 on and in 23ai: advised to be taken out, and never set.

Oracle Database Reference 19c, PRE_PAGE_SGA: deprecated since release update 19.22; 23ai has the
same note, 21c has none.
"""

import oracle_packs
import packs
import pytest
from ansible.module_utils.hostproof.controls.pre_page_sga.control import CONTROL as pre_page_sga
from ansible.module_utils.hostproof.controls.registry import planner
from ansible.module_utils.hostproof.errors import Unanswered
from cases import cases
from oracle_packs import down, story

ONLY = ("*", "use_large_pages", "ONLY")


def looked_at(machine, **changes):
    policy = pre_page_sga.policy_from(oracle_packs.policy(**changes))
    return pre_page_sga.read(machine, policy), policy


def setting(machine, **changes):
    findings = pre_page_sga.judge(*looked_at(machine, **changes))
    (finding,) = [finding for finding in findings if finding.check == "pre_page_sga.value"]
    return finding


def plan(machine, **changes):
    return planner("pre_page_sga")(*looked_at(machine, **changes))


def entry(value, sid="*"):
    return (sid, "pre_page_sga", value)


@cases(
    "version update",
    ("19.0.0.0.0", "19.22.0.0.0"),
    ("19.0.0.0.0", "19.28.0.0.0"),
    ("23.0.0.0.0", "23.4.0.24.5"),
    ("23.0.0.0.0", None),
    ("23.0.0.0.0", "23.26.1.0.0"),
)
@cases("value", "TRUE", "FALSE")
def test_whatever_is_set_is_advised_to_be_taken_out(version, update, value):
    machine = story(version, stored=(entry(value), entry(value, "ORCL"), ONLY), update=update)
    finding = setting(machine)
    assert finding.status == "warn" and finding.desired == f"not set (release {update or version})"
    assert "ALTER SYSTEM RESET pre_page_sga SCOPE=SPFILE SID='*'" in finding.fix
    assert "ALTER SYSTEM RESET pre_page_sga SCOPE=SPFILE SID='ORCL'" in finding.fix
    assert "SYSTEM SET" not in finding.fix and finding.commands == ()


@cases("wanted", "TRUE", "FALSE")
@cases("stored", (), (entry("TRUE"),), (entry("FALSE"),))
def test_apply_refuses_to_set_it(wanted, stored):
    machine = story(stored=(*stored, ONLY), update="19.22.0.0.0")
    finding = setting(machine, value=wanted)
    assert finding.status == "warn" and "apply rejects" in finding.why
    assert finding.fix.endswith("set pre_page_sga_value to auto")
    planned = plan(machine, value=wanted)
    assert planned.changes == []
    # TRUE is the default that it has without the entry.
    assert ("restart" in finding.fix) == (stored == (entry("FALSE"),))
    differs = wanted != (stored[0][2] if stored else "TRUE")
    assert [refusal.override for refusal in planned.refusals] == [None] * differs
    assert all("must not be set" in refusal.reason for refusal in planned.refusals)


@cases("update", "19.22.0.0.0", "19.21.0.0.0", None)
def test_what_is_not_set_needs_no_release_update(update):
    finding = setting(story(update=update))
    assert (finding.status, finding.fix) == ("pass", None)


@cases(
    "version update",
    ("19.0.0.0.0", "19.21.0.0.0"),
    ("21.0.0.0.0", "21.15.0.0.0"),
    ("18.0.0.0.0", "18.14.0.0.0"),
)
def test_before_it_the_old_rule_holds(version, update):
    finding = setting(story(version, stored=(entry("FALSE"), ONLY), update=update))
    assert finding.status == "warn" and "Since 12.1 the default is TRUE" in finding.why
    # The default needs no entry: advice that a later release update makes wrong is none.
    assert "RESET" in finding.fix and " SET pre_page_sga=" not in finding.fix


def test_an_update_that_nobody_tells_is_no_pass():
    machine = story(stored=(entry("TRUE"), ONLY), update=None)
    finding = setting(machine)
    assert finding.status == "error" and "release update of 19.0.0.0.0 is not known" in finding.why
    with pytest.raises(Unanswered, match="release update of 19.0.0.0.0 is not known"):
        plan(machine, value="FALSE")
    listed = [{"sid": "ORCL", "version": "19.21"}]
    assert setting(machine, instances=listed).status == "pass"
    listed = [{"sid": "ORCL", "version": "19.22"}]
    assert setting(machine, instances=listed).status == "warn"


def test_sqlplus_of_the_home_tells_the_update_of_one_that_is_down():
    machine = down(stored=(entry("TRUE"), ONLY))
    home = oracle_packs.HOME
    output = "\nSQL*Plus: Release 19.0.0.0.0 - Production\nVersion {}\n\n"
    for update, status in (("19.21.0.0.0", "pass"), ("19.23.0.0.0", "warn")):
        machine.command(f"sqlplus -V of {home}", output.format(update))
        machine.evidence.clear()
        assert setting(machine).status == status


def test_the_sga_of_an_instance_is_in_every_story_of_these():
    """Else the next start would change it, and other checks would speak."""
    assert ("*", "sga_target", str(16 * packs.GIB)) in oracle_packs.SGA_ENTRIES

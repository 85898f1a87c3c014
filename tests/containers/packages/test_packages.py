"""The story of packages in a container: every test goes on where the last ended.

apt-get and dpkg are real, the packages of the only repository are empty (prepare.sh).
The policy is molecule/packages/inventory/group_vars/container/packages.yml.
"""

import pytest

LISTED = "dpkg-query -W -f '${db:Status-Status} ${Package} ${Version}\\n'"


def listed(box):
    return set(box.run(LISTED).splitlines())


@pytest.fixture(scope="session")
def untouched(box):
    """What the container looked like before Hostproof changed anything."""
    return {"packages": listed(box), "files": box.files()}


def test_verify_names_what_is_missing(box, untouched):
    run = box.play("verify")
    statuses = run.statuses()
    assert statuses["19c packages.installer"] == "fail"
    finding = run.finding("19c packages.installer")
    assert finding["persisted"] == "missing: binutils, fontconfig, libaio1, libc6-dev, make"
    assert "Debian 12 package index" in finding["reference"]
    assert statuses["packages.database"] == "pass"


def test_check_mode_shows_the_plan_and_changes_nothing(box, untouched):
    planned = box.play("apply", "--check", "--diff")
    assert (planned.rc, planned.changed) == (0, 1)
    assert "+installed libaio1:amd64" in planned.output
    assert "+installed hp-dependency:amd64" in planned.output
    assert listed(box) == untouched["packages"]
    box.run("! test -e /var/lib/hostproof")


def test_a_package_that_no_repository_has_is_refused(box, untouched):
    refused = box.apply(packages_additional=["hp-nowhere"])
    assert refused.rc == 2
    assert "hp-nowhere" in refused.output
    assert listed(box) == untouched["packages"]


def test_an_installation_that_fails_is_taken_back(box, untouched):
    failed = box.apply(packages_additional=["hp-broken"])
    assert failed.rc == 2
    assert "the old state is restored" in failed.output
    assert listed(box) == untouched["packages"]


def test_apply_installs_what_is_missing(box, untouched):
    applied = box.play("apply", "--diff")
    assert (applied.rc, applied.changed) == (0, 1)
    added = listed(box) - untouched["packages"]
    assert {"installed libaio1 99", "installed hp-dependency 99", "installed make 99"} <= added
    assert untouched["packages"] <= listed(box)
    run = box.verify()
    worse = run.worse_than_pass()
    # Oracle supports no Debian.
    assert worse == {"19c packages.listed": "warn"}


def test_a_second_apply_changes_nothing(box):
    before = listed(box)
    assert box.apply().changed == 0
    assert listed(box) == before


def test_revert_is_refused_while_another_package_needs_one(box, untouched):
    box.run("apt-get -y install hp-dependent")
    before = listed(box)
    refused = box.revert()
    assert refused.rc == 2
    assert "hp-dependent" in refused.output
    assert listed(box) == before
    box.run("dpkg --purge hp-dependent")


def test_revert_removes_what_apply_installed_and_no_more(box, untouched):
    box.run("dpkg -i /srv/repository/hp-companion.deb")
    reverted = box.play("revert", "--diff")
    assert (reverted.rc, reverted.changed) == (0, 1)
    assert listed(box) - untouched["packages"] == {"installed hp-companion 99"}
    assert untouched["packages"] <= listed(box)
    box.run("dpkg --purge hp-companion")
    assert listed(box) == untouched["packages"]
    assert box.files() == untouched["files"]


def test_a_second_revert_finds_nothing_to_remove(box, untouched):
    again = box.revert()
    assert (again.rc, again.changed) == (0, 0)
    assert listed(box) == untouched["packages"]

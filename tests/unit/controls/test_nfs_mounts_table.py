"""The options table, spelt out by hand from its sources: NetApp's pages and MOS 359515.1."""

import itertools

import nfs_packs
import pytest
from ansible.module_utils.hostproof.controls.nfs_mounts import options_table
from ansible.module_utils.hostproof.controls.nfs_mounts.control import CONTROL as nfs_mounts
from ansible.module_utils.hostproof.controls.nfs_mounts.options_table import NOT, Requirement
from ansible.module_utils.hostproof.controls.nfs_mounts.policy import CLASSES, USES, WantedMount
from ansible.module_utils.hostproof.parsers.nfs import nfs_options
from cases import cases

LINUX, AIX, SOLARIS, HPUX = "Linux", "AIX", "SunOS", "HP-UX"
SYSTEMS = (LINUX, AIX, SOLARIS, HPUX)

#: On every system, for everything.
ALWAYS = "rw,bg,hard,proto=tcp,timeo=600,rsize=262144,wsize=262144"

#: What comes to that. intr and nointr do nothing on Linux and are not asked for there.
TABLE = {
    (LINUX, "datafiles", "single"): "",
    (LINUX, "datafiles", "rac"): "actimeo=0",
    (LINUX, "datafiles", "failover"): "",
    (LINUX, "oracle_home", "single"): "",
    (LINUX, "oracle_home", "rac"): "actimeo=0",
    (LINUX, "oracle_home", "failover"): "",
    (LINUX, "crs_voting", "rac"): "noac,actimeo=0",
    (LINUX, "adr", "single"): "",
    (LINUX, "adr", "rac"): "",
    (LINUX, "adr", "failover"): "",
    (LINUX, "backup", "single"): "",
    (LINUX, "backup", "rac"): "",
    (LINUX, "backup", "failover"): "",
    (AIX, "datafiles", "single"): "",
    (AIX, "datafiles", "rac"): "nointr,noac",
    (AIX, "datafiles", "failover"): "",
    (AIX, "oracle_home", "single"): "intr",
    (AIX, "oracle_home", "rac"): "nointr",
    (AIX, "oracle_home", "failover"): "intr",
    (AIX, "crs_voting", "rac"): "nointr,noac",
    (AIX, "adr", "single"): "",
    (AIX, "adr", "rac"): "",
    (AIX, "adr", "failover"): "",
    (AIX, "backup", "single"): "",
    (AIX, "backup", "rac"): "",
    (AIX, "backup", "failover"): "",
    (SOLARIS, "datafiles", "single"): "nointr,llock,suid",
    (SOLARIS, "datafiles", "rac"): "nointr,noac,forcedirectio",
    (SOLARIS, "datafiles", "failover"): "nointr,suid",
    (SOLARIS, "oracle_home", "single"): "suid",
    (SOLARIS, "oracle_home", "rac"): "nointr,noac,suid",
    (SOLARIS, "oracle_home", "failover"): "suid",
    (SOLARIS, "crs_voting", "rac"): "nointr,noac,forcedirectio",
    (SOLARIS, "adr", "single"): "",
    (SOLARIS, "adr", "rac"): "",
    (SOLARIS, "adr", "failover"): "",
    (SOLARIS, "backup", "single"): "nointr,llock,suid",
    (SOLARIS, "backup", "rac"): "nointr,suid",
    (SOLARIS, "backup", "failover"): "nointr,suid",
    (HPUX, "datafiles", "single"): "forcedirectio,nointr,suid",
    (HPUX, "datafiles", "rac"): "nointr,noac,forcedirectio,suid",
    (HPUX, "datafiles", "failover"): "forcedirectio,nointr,suid",
    (HPUX, "oracle_home", "single"): "suid",
    (HPUX, "oracle_home", "rac"): "nointr,noac,suid",
    (HPUX, "oracle_home", "failover"): "suid",
    (HPUX, "crs_voting", "rac"): "nointr,noac,forcedirectio,suid",
    (HPUX, "adr", "single"): "suid",
    (HPUX, "adr", "rac"): "suid",
    (HPUX, "adr", "failover"): "suid",
    (HPUX, "backup", "single"): "forcedirectio,nointr,suid",
    (HPUX, "backup", "rac"): "forcedirectio,nointr,suid",
    (HPUX, "backup", "failover"): "forcedirectio,nointr,suid",
}
#: Redo logs are database files; voting files are for several hosts whatever the database does.
for system, use in itertools.product(SYSTEMS, USES):
    TABLE[system, "redo", use] = TABLE[system, "datafiles", use]
    TABLE[system, "crs_voting", use] = TABLE[system, "crs_voting", "rac"]

#: adr_actimeo_zero: what NetApp's table says for the ADR under RAC, against its own advice.
ADR_UNDER_RAC = {LINUX: "actimeo=0", AIX: "", SOLARIS: "noac", HPUX: "noac,suid"}

NEVER_CACHED = {"noac", "sync", "actimeo=0"}


def mount(file_class: str, use: str = "single", **changes: object) -> WantedMount:
    return WantedMount("/u02", "filer1:/vol/u02", file_class, use, None, {})._replace(**changes)


def requirements(system: str, wanted: WantedMount, **policy: object) -> list[Requirement]:
    checked = nfs_mounts.policy_from(nfs_packs.nfs_policy(**policy))
    return options_table.requirements(system, wanted, checked)


def asked_for(found: list[Requirement]) -> set[str]:
    return set(options_table.new_options(found).split(","))


def forbidden(found: list[Requirement]) -> set[str]:
    return set(nfs_options.words({one.name: one.value for one in found if one.relation == NOT}))


def test_every_cell_is_told():
    assert set(TABLE) == set(itertools.product(SYSTEMS, CLASSES, USES))


@pytest.mark.parametrize(("system", "file_class", "use"), TABLE)
def test_cell(system, file_class, use):
    cell = TABLE[system, file_class, use]
    demands = requirements(system, mount(file_class, use))
    assert asked_for(demands) == {*ALWAYS.split(","), *cell.split(",")} - {""}
    assert all(requirement.source for requirement in demands)


@pytest.mark.parametrize("system", SYSTEMS)
@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("file_class", CLASSES)
def test_where_nothing_is_switched_off_caching_must_be_on(system, file_class, use):
    """Only AIX's row of a home that hosts share names no way to agree, and is left alone."""
    options = forbidden(requirements(system, mount(file_class, use))) & NEVER_CACHED
    row = TABLE[system, file_class, use]
    if "noac" in row or "actimeo" in row or (file_class == "oracle_home" and use == "rac"):
        assert options == set()
    else:
        assert options == NEVER_CACHED


@pytest.mark.parametrize("system", SYSTEMS)
def test_adr_under_rac_is_a_switch(system):
    demands = requirements(system, mount("adr", "rac"), adr_actimeo_zero=True)
    options = ADR_UNDER_RAC[system].split(",")
    assert asked_for(demands) == {*ALWAYS.split(","), *options} - {""}
    single = requirements(system, mount("adr", "single"), adr_actimeo_zero=True)
    assert asked_for(single) == asked_for(requirements(system, mount("adr", "single")))


@cases("file_class", "datafiles", "redo")
@cases("use", "single", "failover")
def test_single_instance_actimeo_zero_is_a_switch(file_class, use):
    demands = requirements(LINUX, mount(file_class, use), single_actimeo_zero=True)
    assert "actimeo=0" in asked_for(demands) and not forbidden(demands) & NEVER_CACHED
    assert any("MOS 359515.1" in one.source for one in demands if one.name == "acregmin")


@cases("file_class", "oracle_home", "adr", "backup")
def test_the_switch_of_single_instances_is_for_database_files_only(file_class):
    demands = requirements(LINUX, mount(file_class), single_actimeo_zero=True)
    assert demands == requirements(LINUX, mount(file_class))


class TestLocks:
    @cases("use", "rac", "failover")
    def test_shared_files_need_locks_at_the_server(self, use):
        demands = options_table.lock_requirements(LINUX, mount("datafiles", use))
        granted = nfs_options.effective(nfs_options.parse("hard"), LINUX)
        assert all(options_table.is_fulfilled(requirement, granted) for requirement in demands)
        for words in ("nolock", "local_lock=all", "local_lock=flock", "nocto"):
            local = nfs_options.effective(nfs_options.parse(words), LINUX)
            assert not all(options_table.is_fulfilled(one, local) for one in demands), words

    @cases("system", AIX, SOLARIS, HPUX)
    def test_llock(self, system):
        demands = options_table.lock_requirements(system, mount("redo", "failover"))
        plain, local = (
            nfs_options.effective(nfs_options.parse(words), system) for words in ("rw", "llock")
        )
        assert all(options_table.is_fulfilled(requirement, plain) for requirement in demands)
        assert not all(options_table.is_fulfilled(requirement, local) for requirement in demands)

    def test_files_of_one_host_need_none(self):
        assert options_table.lock_requirements(LINUX, mount("datafiles")) == []

    def test_voting_files_are_shared_whatever_the_use(self):
        assert options_table.lock_requirements(LINUX, mount("crs_voting", "single"))


class TestOverrides:
    def test_one_replaces_the_table(self):
        demands = requirements(
            LINUX, mount("datafiles", overrides=nfs_options.parse("fg,timeo=300"))
        )
        assert {"fg", "timeo=300"} <= asked_for(demands)
        assert not {"bg", "timeo=600"} & asked_for(demands)

    def test_a_size_is_meant_exactly(self):
        demands = requirements(LINUX, mount("datafiles", overrides={"rsize": "65536"}))
        requirement = next(requirement for requirement in demands if requirement.name == "rsize")
        assert not options_table.is_fulfilled(requirement, {"rsize": "262144"})

    def test_one_adds_what_the_table_does_not_name(self):
        demands = requirements(LINUX, mount("datafiles", overrides={"nconnect": "4"}))
        assert "nconnect=4" in asked_for(demands)

    def test_noac_silences_the_caching_of_the_table(self):
        demands = requirements(LINUX, mount("backup", overrides={"noac": "yes"}))
        granted = nfs_options.effective(nfs_options.parse(f"{ALWAYS},noac"), LINUX)
        granted["background"] = "bg"
        assert [one for one in demands if not options_table.is_fulfilled(one, granted)] == []

    def test_longer_times_replace_actimeo_zero(self):
        demands = requirements(
            LINUX, mount("datafiles", "rac", overrides=nfs_options.parse("actimeo=3"))
        )
        assert "actimeo=3" in asked_for(demands)

    @cases("words", "nolock", "local_lock=all")
    def test_local_locks_by_name(self, words):
        demands = requirements(LINUX, mount("datafiles", "rac", overrides=nfs_options.parse(words)))
        assert words in asked_for(demands)
        granted = nfs_options.effective(nfs_options.parse(f"{ALWAYS},actimeo=0,{words}"), LINUX)
        assert [one.name for one in demands if not options_table.is_fulfilled(one, granted)] == []

    def test_a_version_is_asked_for_exactly(self):
        demands = requirements(LINUX, mount("datafiles", version="4.1"))
        assert "vers=4.1" in asked_for(demands)
        requirement = next(requirement for requirement in demands if requirement.name == "vers")
        assert not options_table.is_fulfilled(requirement, {"vers": "4.2"})


class TestFulfilled:
    def test_a_larger_size_is_fine_and_a_smaller_is_not(self):
        requirement = next(
            one for one in requirements(LINUX, mount("datafiles")) if one.name == "rsize"
        )
        assert options_table.is_fulfilled(requirement, {"rsize": "1048576"})
        assert options_table.is_fulfilled(requirement, {})
        assert not options_table.is_fulfilled(requirement, {"rsize": "131072"})
        assert not options_table.is_fulfilled(requirement, {"rsize": "large"})

    def test_noac_fulfils_actimeo_zero(self):
        demands = requirements(LINUX, mount("datafiles", "rac"))
        granted = nfs_options.effective(nfs_options.parse("bg,noac"), LINUX)
        assert all(options_table.is_fulfilled(requirement, granted) for requirement in demands)


class TestCorrections:
    @cases(
        "file_class use before after",
        ("datafiles", "single", "rw,bg,hard", "rw,bg,hard"),
        ("datafiles", "single", "fg,soft,udp", "bg,hard,proto=tcp"),
        ("datafiles", "single", "bg,timeo=14,rsize=8192", "bg,timeo=600,rsize=262144"),
        ("datafiles", "single", "bg,rsize=1048576", "bg,rsize=1048576"),
        ("datafiles", "rac", "bg,nolock,_netdev", "bg,lock,_netdev,actimeo=0"),
        ("datafiles", "rac", "bg,noac,nocto", "bg,noac,cto"),
        ("backup", "single", "bg,noac", "bg,ac"),
        ("backup", "single", "bg,sync", "bg,async"),
        ("crs_voting", "rac", "bg", "bg,actimeo=0,noac"),
    )
    def test_no_more_is_changed_than_is_wrong(self, file_class, use, before, after):
        demands = requirements(LINUX, mount(file_class, use))
        changes = options_table.corrections(demands, nfs_options.parse(before), LINUX)
        assert nfs_options.edit(before, changes) == after

    @pytest.mark.parametrize("file_class", CLASSES)
    @pytest.mark.parametrize("use", USES)
    @cases(
        "before",
        "defaults",
        "soft,udp,timeo=7,retrans=3,rsize=8192,wsize=8192,ro",
        "noac,actimeo=0,sync,nolock,nocto",
        "actimeo=0,local_lock=all,vers=4.1",
    )
    def test_what_is_corrected_is_right(self, file_class, use, before):
        demands = requirements(LINUX, mount(file_class, use))
        changes = options_table.corrections(demands, nfs_options.parse(before), LINUX)
        text = nfs_options.edit(before, changes)
        meant = nfs_options.effective(nfs_options.parse(text), LINUX)
        assert [one for one in demands if not options_table.is_fulfilled(one, meant)] == []
        assert options_table.corrections(demands, nfs_options.parse(text), LINUX) == {}

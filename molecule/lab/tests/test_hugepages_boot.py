"""What was foretold of a boot is what the boot does: with a real TuneD, and a unit that is enabled.

One restart for four settings, each with a place that looks as if it decided and one that does:

- the pool: our drop-in is the last of sysctl.d, and TuneD applies /etc/sysctl.conf once more after
  it (``reapply_sysctl``);
- surplus pages: /usr/lib/sysctl.d, which TuneD does not apply again, loses to its profile;
- transparent huge pages: TuneD's plugin vm in a section of another name, over the kernel's default;
- the group: a unit loads a file of its own with ``sysctl -p``.

The story begins where test_hugepages_aborted.py ended, and leaves the machine as it found it.
"""

from typing import NamedTuple

import pytest
from lab_machine import HugePagesLab, changed
from machines import vm

#: What an apply for LAB1 and LAB2 asks for, and what it has left behind here.
POOL, GROUP = 200, 54321
DROP_IN = "/etc/sysctl.d/99-zz-hostproof-hugepages.conf"
LIMITS = "/etc/security/limits.d/zz-hostproof-hugepages.conf"
OWN_HEADER = "# Written by Hostproof (role hugepages): change the policy, not this file."

SYSCTL_CONF = "/etc/sysctl.conf"
VENDOR = "/usr/lib/sysctl.d/60-lab-vendor.conf"
PROFILE = "/etc/tuned/lab-oracle/tuned.conf"
LOADED = "/etc/lab-oracle.sysctl"
UNIT = "/etc/systemd/system/lab-oracle.service"

FILES = {
    DROP_IN: f"{OWN_HEADER}\nvm.nr_hugepages = {POOL}\n",
    VENDOR: f"vm.hugetlb_shm_group = {GROUP}\nvm.nr_overcommit_hugepages = 0\n",
    PROFILE: """\
[main]
summary=Somebody's settings for the database

[variables]
lab_surplus=7

[lab-pages]
type=sysctl
vm.nr_hugepages=24
vm.nr_overcommit_hugepages=${lab_surplus}

[lab-modes]
type=vm
transparent_hugepages=madvise
""",
    LOADED: "vm.hugetlb_shm_group = 54399\n",
    UNIT: f"""\
[Unit]
Description=Somebody's settings for the database
After=systemd-sysctl.service

[Service]
Type=oneshot
ExecStart=/usr/sbin/sysctl -p {LOADED}

[Install]
WantedBy=multi-user.target
""",
    # As tuned-adm profile leaves them.
    "/etc/tuned/active_profile": "lab-oracle\n",
    "/etc/tuned/profile_mode": "manual\n",
}

#: Where the administrator's own files wait for the end.
KEPT = "/root/kept"

SURPLUS = "/proc/sys/vm/nr_overcommit_hugepages"
TUNED_LOG = "/var/log/tuned/tuned.log"
#: Seconds; where nothing accelerates the machine TuneD takes some twenty to act.
TUNED_SECONDS = 300


class Foretold(NamedTuple):
    """What a boot leaves, by the name of the value; and the place that decides, or decided."""

    check: str
    value: str
    place: str


FORETOLD = {
    "pool": Foretold("hugepages.pool_persisted", "40", f"{SYSCTL_CONF}:"),
    "surplus": Foretold("hugepages.no_overcommit", "7", f"tuned profile {PROFILE}"),
    "transparent": Foretold(
        "hugepages.transparent_hugepages", "madvise", f"tuned profile {PROFILE}"
    ),
    "group": Foretold("hugepages.shm_group", "54399", f"{LOADED}:1"),
}


def state(lab: HugePagesLab) -> dict[str, object]:
    surplus = lab.run(f"cat {SURPLUS}").strip()
    vendor = lab.run("ls /usr/lib/sysctl.d")
    return {"files": lab.files(), "values": {**lab.values(), "surplus": surplus}, "vendor": vendor}


@pytest.fixture(scope="module")
def untouched(lab: HugePagesLab) -> dict[str, object]:
    return state(lab)


@pytest.fixture(scope="module")
def settings(lab: HugePagesLab, untouched: dict[str, object]) -> dict[str, object]:
    """The machine with the settings of everybody."""
    lab.run(f"mkdir {KEPT} && cp -a /etc/tuned /etc/sysctl.d {SYSCTL_CONF} {KEPT}")
    for path, text in FILES.items():
        lab.run(f"mkdir -p $(dirname {path}) && cat > {path} <<'EOF'\n{text}EOF")
    lab.run(
        f"echo 'vm.nr_hugepages = 40' >> {SYSCTL_CONF} && systemctl daemon-reload && "
        f"systemctl --quiet enable tuned lab-oracle && rm -f {TUNED_LOG} && "
        # As the apply left the running kernel.
        f"sysctl -q -w vm.nr_hugepages={POOL} vm.hugetlb_shm_group={GROUP}"
    )
    return state(lab)


@pytest.fixture(scope="module")
def foretold(lab: HugePagesLab, settings: dict[str, object]) -> dict[str, str]:
    """What verify says of the next boot, by the name of the value."""
    with lab.own_python():
        verified = lab.verify()
    assert all(
        verified.finding(forecast.check)["status"] in ("fail", "warn")
        for forecast in FORETOLD.values()
    ), verified.statuses()
    return {
        name: verified.finding(forecast.check)["persisted"] for name, forecast in FORETOLD.items()
    }


@pytest.fixture(scope="module")
def booted(lab: HugePagesLab, foretold: dict[str, str]) -> dict[str, str]:
    """The kernel's values after the boot that was foretold, when TuneD has done its part."""
    vm.reboot()
    lab.run(
        f"for i in $(seq {TUNED_SECONDS}); do grep -q 'static tuning from profile' {TUNED_LOG} && "
        f"exit; sleep 1; done; cat {TUNED_LOG}; exit 1",
        timeout=TUNED_SECONDS + 60,
    )
    values = {**lab.values(), "surplus": lab.run(f"cat {SURPLUS}").strip()}
    values["transparent"] = values["transparent"].partition("[")[2].partition("]")[0]
    return values


@pytest.mark.parametrize("name", FORETOLD)
def test_verify_foretells_value_and_place(foretold, name):
    value, place = FORETOLD[name].value, FORETOLD[name].place
    text = foretold[name].partition("; not used: ")[0].replace(" pages", "", 1)
    assert text.startswith(f"{value} from {place}"), foretold[name]


def test_what_looks_as_if_it_decided_is_named_as_what_loses(foretold):
    losers = {name: text.partition("; not used: ")[2] for name, text in foretold.items()}
    assert f"{DROP_IN}:2 = {POOL}" in losers["pool"]
    assert f"tuned profile {PROFILE} = 24" in losers["pool"]
    assert f"{VENDOR}:2 = 0" in losers["surplus"]
    assert f"{VENDOR}:1 = {GROUP}" in losers["group"]
    assert "TuneD applies it after its own values (reapply_sysctl)" in foretold["pool"]
    assert f"{UNIT}:7" in foretold["group"]


def test_an_apply_that_would_lose_to_tuned_is_refused(lab, settings):
    """A rejected pool does not block the limits. A revert restores the state."""
    refused = lab.apply(hugepages_group="")
    assert refused.rc == 2
    output = " ".join(refused.output.split())
    assert f"{DROP_IN} would not win at boot, {SYSCTL_CONF}:" in output
    assert "(vm.nr_hugepages = 40) comes later: TuneD applies it after its own values" in output
    after = state(lab)
    assert changed(settings["files"], after["files"]) == {LIMITS}
    assert after == {**settings, "files": after["files"]}
    lab.revert()
    assert state(lab) == settings


def test_an_apply_that_the_unit_could_undo_is_refused_and_writes_nothing(lab, settings):
    """TuneD would apply our line again, and nothing says if before the unit or after it."""
    refused = lab.apply()
    assert refused.rc == 2
    output = " ".join(refused.output.split())
    assert f"{LOADED}:1 may set vm.hugetlb_shm_group to 54399" in output
    assert f"{UNIT}:7" in output
    assert "it is unknown which one is applied last" in output
    assert state(lab) == settings


def test_the_boot_does_what_was_foretold(lab, booted):
    assert booted == {name: forecast.value for name, forecast in FORETOLD.items()}
    assert "lab-oracle" in lab.run("tuned-adm active")
    assert lab.run("systemctl is-active tuned").strip() == "active"


def test_the_same_is_foretold_of_the_next(lab, foretold, booted):
    verified = lab.verify()
    assert {
        name: verified.finding(forecast.check)["persisted"] for name, forecast in FORETOLD.items()
    } == foretold


def test_the_machine_is_as_before(lab, booted, untouched):
    """The values come last: TuneD takes its own back when it ends."""
    values = untouched["values"]
    mode = values["transparent"].partition("[")[2].partition("]")[0]
    lab.run(
        "systemctl --quiet disable --now tuned lab-oracle && "
        f"rm {VENDOR} {UNIT} {LOADED} && rm -r /etc/tuned /etc/sysctl.d {SYSCTL_CONF} && "
        f"cp -a {KEPT}/* /etc && rm -r {KEPT} && systemctl daemon-reload && "
        f"sysctl -q -w vm.nr_hugepages={values['pool']} vm.hugetlb_shm_group={values['group']} "
        f"vm.nr_overcommit_hugepages={values['surplus']} && "
        f"echo {mode} > /sys/kernel/mm/transparent_hugepage/enabled"
    )
    assert state(lab) == untouched

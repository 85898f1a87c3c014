"""What the variables of nfs_mounts may hold, and what is said of what they may not."""

from typing import Any

import nfs_packs
import pytest
from ansible.module_utils.hostproof.controls.nfs_mounts.control import CONTROL as nfs_mounts
from ansible.module_utils.hostproof.errors import PolicyError
from cases import cases
from nfs_packs import DATAFILES


def policy(**changes: Any) -> nfs_mounts.policy:
    return nfs_mounts.policy_from(nfs_packs.nfs_policy(**changes))


def refused(**changes: Any) -> str:
    with pytest.raises(PolicyError) as problem:
        policy(**changes)
    return str(problem.value)


def listed(**changes: Any) -> dict[str, Any]:
    return {name: value for name, value in (DATAFILES | changes).items() if value is not None}


def test_defaults_of_the_role_judge_whatever_is_mounted():
    checked = policy()
    assert checked.mounts is None and (checked.sharing, checked.version) == (None, None)
    assert checked.transfer_size == 262144
    assert not (checked.single_actimeo_zero or checked.adr_actimeo_zero or checked.allow_remount)
    assert checked.slot_table_entries == 128


def test_numbers_may_come_as_text():
    """Ansible templates numbers into text."""
    checked = policy(rtt_fail_ms="40", retransmission_warn_percent="0.25", window_seconds="10")
    assert checked.rtt_fail_ms == 40.0 and checked.retransmission_warn_percent == 0.25
    assert checked.window_seconds == 10


class TestWanted:
    def test_a_mount(self):
        (mount,) = policy(mounts=[listed(options="nconnect=4,actimeo=0", version=4.1)]).mounts
        assert (mount.path, mount.source) == ("/u02", "filer1:/vol/u02")
        assert (mount.file_class, mount.sharing, mount.version) == ("datafiles", "single", "4.1")
        assert mount.overrides["nconnect"] == "4" and mount.overrides["acdirmax"] == "0"

    def test_paths_are_written_as_the_kernel_writes_them(self):
        (mount,) = policy(mounts=[listed(path="/u02//oradata/")]).mounts
        assert mount.path == "/u02/oradata"

    def test_what_one_leaves_out_is_that_of_all(self):
        checked = policy(mounts=[listed(sharing=None)], sharing="rac", version="3")
        assert checked.mounts[0].sharing == "rac" and checked.mounts[0].version == "3"

    def test_one_may_leave_open_what_all_others_have(self):
        (mount,) = policy(
            mounts=[listed(sharing="auto", version="any")], sharing="rac", version=3
        ).mounts
        assert (mount.sharing, mount.version) == (None, None)

    def test_an_address_of_ipv6(self):
        assert policy(mounts=[listed(source="[fd00::5]:/vol/u02")]).mounts

    def test_none_is_not_auto(self):
        assert policy(mounts=[]).mounts == ()

    @cases(
        "changes says",
        ({"path": None}, "needs path, source and class"),
        ({"source": None}, "needs path, source and class"),
        ({"class": None}, "needs path, source and class"),
        ({"path": "u02"}, "must be absolute"),
        ({"path": "/"}, "must be absolute, and not /"),
        ({"source": "/vol/u02"}, "must be SERVER:/EXPORT"),
        ({"source": "filer1:vol"}, "must be SERVER:/EXPORT"),
        ({"source": "filer1:/vol u02"}, "must be SERVER:/EXPORT"),
        ({"class": "data"}, "class must be one of datafiles, redo"),
        ({"sharing": "cluster"}, "sharing must be one of auto, single, rac, failover"),
        ({"version": "4"}, "name the minor version"),
        ({"version": "5"}, "must be any, 3, 4.0"),
        ({"size": "32K"}, "unknown size"),
        ({"options": "hrad"}, "unknown hrad"),
        ({"options": ["hard"]}, "must be a text such as nconnect=4"),
    )
    def test_mistakes_name_the_mount_and_the_variable(self, changes, says):
        problem = refused(mounts=[listed(**changes)])
        assert says in problem and problem.startswith(("nfs_mounts_mounts", "nfs_mounts_version"))

    @cases("value", "all", {"path": "/u02"}, None, 5)
    def test_it_is_auto_or_a_list(self, value):
        assert "nfs_mounts_mounts must be auto or a list" in refused(mounts=value)

    def test_a_path_twice(self):
        twice = [listed(), listed(path="/u02/", source="filer2:/x")]
        assert "lists a path twice: /u02" in refused(mounts=twice)


@cases(
    "changes says",
    ({"sharing": "cluster"}, "nfs_mounts_sharing must be one of auto, single, rac, failover"),
    ({"version": "4"}, "nfs_mounts_version"),
    ({"transfer_size": "1000"}, "must be a multiple of 1024 up to 1M"),
    ({"transfer_size": "2M"}, "must be a multiple of 1024 up to 1M"),
    ({"transfer_size": "large"}, "nfs_mounts_transfer_size is not a size"),
    ({"single_actimeo_zero": "perhaps"}, "nfs_mounts_single_actimeo_zero must be true or"),
    ({"slot_table_entries": 65537}, "nfs_mounts_slot_table_entries must be 0 to 65536"),
    ({"direct_nfs": "on"}, "nfs_mounts_direct_nfs must be one of auto, required"),
    ({"oracle_homes": ["product/19"]}, "nfs_mounts_oracle_homes must hold absolute paths"),
    ({"window_seconds": -1}, "hostproof_window_seconds must be 0 or 1 to 600 seconds"),
    ({"sample_minimum_ops": 0}, "nfs_mounts_sample_minimum_ops must be 1 or more"),
    ({"retransmission_warn_percent": 101}, "must be 0 to 100, not 101"),
    ({"rtt_warn_ms": "soon"}, "nfs_mounts_rtt_warn_ms must be a number such as 0.5"),
    ({"rtt_warn_ms": True}, "nfs_mounts_rtt_warn_ms must be a number such as 0.5"),
    ({"queue_warn_ms": "-1"}, "nfs_mounts_queue_warn_ms must be a number such as 0.5"),
    ({"rtt_warn_ms": 31}, "nfs_mounts_rtt_warn_ms must not be above nfs_mounts_rtt_fail_ms"),
    ({"modprobe_file": "/etc/modprobe.conf"}, "must be /etc/modprobe.d/NAME.conf"),
    ({"sysctl_file": "/etc/sysctl.conf"}, "must be /etc/sysctl.d/NAME.conf"),
)
def test_values_out_of_bounds(changes, says):
    assert says in refused(**changes)


def test_a_name_that_is_none_is_no_default():
    values = nfs_packs.nfs_policy()
    with pytest.raises(PolicyError, match="unknown remount"):
        nfs_mounts.policy_from(values | {"remount": True})
    del values["allow_remount"]
    with pytest.raises(PolicyError, match="missing allow_remount"):
        nfs_mounts.policy_from(values)

"""What apply of async_io would do, and what it refuses."""

import io_packs
import pytest
from ansible.module_utils.hostproof.apply.change import CommandChange
from ansible.module_utils.hostproof.controls.async_io.control import CONTROL as async_io
from ansible.module_utils.hostproof.controls.registry import planner
from cases import cases
from io_packs import BUFFERED, asm, story
from packs import MIB


@pytest.fixture
def plan():
    def plan_host(host, **changes):
        policy = async_io.policy_from(io_packs.policy(**changes))
        return planner("async_io")(async_io.read(host, policy), policy)

    return plan_host


def buffered(cache=2, **running):
    """An instance with an SGA of 16 GiB that reads through a page cache of so many GiB."""
    machine = story(flags=BUFFERED, stored=(), filesystemio_options="none", **running)
    return machine.memory(Cached=cache * MIB, Shmem=0)


def test_a_host_that_is_ready_stays_as_it_is(plan):
    planned = plan(story())
    assert (planned.changes, planned.refusals) == ([], [])


def test_the_limit_is_for_kernel_parameters(plan):
    planned = plan(story(used=1000000, limit=1048576, persisted=None), growth_factor=3.0)
    assert (planned.changes, planned.refusals) == ([], [])


def test_a_host_without_an_instance_gets_nothing(plan):
    planned = plan(story(limit=65536, persisted=None).stop_instances())
    assert (planned.changes, planned.refusals) == ([], [])
    assert "Nothing is changed" in planned.pending[0]


def test_the_parameter_stays_unless_the_policy_lets_it(plan):
    planned = plan(buffered())
    assert planned.changes == []
    assert "async_io_set_filesystemio_options is false" in planned.pending[0]


def test_the_parameter_in_the_spfile(plan):
    planned = plan(buffered(), set_filesystemio_options=True)
    (change,) = planned.changes
    assert isinstance(change, CommandChange)
    assert (change.before, change.after) == ("*=unset ORCL=unset", "*=setall ORCL=unset")
    assert planned.refusals == []
    assert "ORCL runs with filesystemio_options none until it is restarted." in planned.pending
    assert (
        "ORCL has an SGA of 16.0 GiB, and the page cache of the host holds 2.0 GiB now, from which "
        "its files are read: with setall they are not." in planned.pending
    )


@cases("cache refused", (8, False), (9, True))
def test_a_cache_that_is_large_beside_the_sga(plan, cache, refused):
    """At the default of 50 percent of 16 GiB."""
    planned = plan(buffered(cache), set_filesystemio_options=True)
    assert bool(planned.refusals) is refused
    if refused:
        (refusal,) = planned.refusals
        assert refusal.override == "allow_cache_loss"
        assert "(56 percent of the SGA, async_io_cache_limit_percent is 50)" in refusal.reason
        planned = plan(buffered(cache), set_filesystemio_options=True, allow_cache_loss=True)
        assert planned.refusals == []


def test_nothing_is_lost_that_is_direct_already(plan):
    machine = story(stored=(), filesystemio_options="directio").memory(Cached=60 * MIB, Shmem=0)
    planned = plan(machine, set_filesystemio_options=True)
    assert (len(planned.changes), planned.refusals) == (1, [])


def test_an_instance_with_a_text_file_is_refused(plan):
    machine = buffered(spfile=None).file(io_packs.oracle_packs.PFILE, "*.sga_target=16G\n")
    (refusal,) = plan(machine, set_filesystemio_options=True).refusals
    assert "was started with a text file" in refusal.reason


def test_in_asm_the_parameter_is_left(plan):
    assert plan(asm(), set_filesystemio_options=True, filesystemio_options="none").changes == []


def test_on_another_system_nothing_is_set(plan):
    machine = story().remove("/proc/self/mountinfo").command("uname -s", "AIX\n")
    planned = plan(machine, set_filesystemio_options=True)
    assert (planned.changes, planned.refusals) == ([], [])

# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Every parameter that Oracle's documents or the policy ask for, by what it is about."""

from ...evaluate.checking import Rules, Verdict
from .facts import Facts
from .layers import judge_parameter
from .policy import NAME, Policy
from .subjects import NETWORK, PROC, family
from .wanted import OF_POLICY, REVERSE_PATH, Parameter

rules = Rules(NAME)


@rules.check(
    "kernel_parameters.semaphores",
    "There are semaphores for every instance",
    severity="critical",
    takes_effect="now",
    why="Without a free set of semaphores an instance does not start (ORA-27154, ORA-27300: semget "
    "failed with status 28, no space left on device).",
    reference=PROC,
    each=family("semaphores"),
)
def semaphores(one: Parameter, facts: Facts, policy: Policy) -> Verdict:
    return judge_parameter(one, facts, policy)


@rules.check(
    "kernel_parameters.shared_memory",
    "Shared memory is large enough for every SGA",
    severity="high",
    takes_effect="now",
    why="An SGA beyond the limits does not start (ORA-27102 with error 28) though memory is free.",
    reference=PROC,
    each=family("shared_memory"),
)
def shared_memory(one: Parameter, facts: Facts, policy: Policy) -> Verdict:
    return judge_parameter(one, facts, policy)


@rules.check(
    "kernel_parameters.open_files",
    "The host can open enough files",
    severity="medium",
    takes_effect="now",
    why="Without a free file handle every program of the host fails, instances too.",
    reference=PROC,
    each=family("open_files"),
)
def open_files(one: Parameter, facts: Facts, policy: Policy) -> Verdict:
    return judge_parameter(one, facts, policy)


@rules.check(
    "kernel_parameters.asynchronous_io",
    "Asynchronous requests can be reserved",
    severity="high",
    takes_effect="now",
    why="Where none are left, processes fail with ORA-27090 or write one block after the other.",
    reference=PROC,
    each=family("asynchronous_io"),
)
def asynchronous_io(one: Parameter, facts: Facts, policy: Policy) -> Verdict:
    return judge_parameter(one, facts, policy)


@rules.check(
    "kernel_parameters.ephemeral_ports",
    "Outgoing connections keep off the ports of Oracle's services",
    severity="medium",
    takes_effect="now",
    why="An outgoing connection takes the port that a listener or an agent is to have.",
    reference=NETWORK,
    each=family("ephemeral_ports"),
)
def ephemeral_ports(one: Parameter, facts: Facts, policy: Policy) -> Verdict:
    return judge_parameter(one, facts, policy)


@rules.check(
    "kernel_parameters.socket_buffers",
    "Socket buffers hold what comes in at once",
    severity="medium",
    takes_effect="instance_restart",
    why="Datagrams of the interconnect that find no buffer are lost, and blocks are sent again; a "
    "small buffer of TCP slows Direct NFS down.",
    reference=NETWORK,
    each=family("socket_buffers"),
)
def socket_buffers(one: Parameter, facts: Facts, policy: Policy) -> Verdict:
    return judge_parameter(one, facts, policy)


@rules.check(
    "kernel_parameters.panic",
    "A kernel that failed restarts the host",
    severity="high",
    takes_effect="now",
    why="A node that hangs after an oops keeps its locks, and the cluster waits for it.",
    reference=PROC,
    each=family("panic"),
)
def panic(one: Parameter, facts: Facts, policy: Policy) -> Verdict:
    return judge_parameter(one, facts, policy)


@rules.check(
    "kernel_parameters.memory",
    "Memory is reclaimed in time, and not from the database",
    severity="high",
    takes_effect="now",
    why="A kernel without free memory drops datagrams (ORA-27301: no buffer space available), and "
    "one that swaps early takes the PGA.",
    reference=PROC,
    each=family("memory", "Neither is it a node of a cluster, nor does a policy advise it."),
)
def memory(one: Parameter, facts: Facts, policy: Policy) -> Verdict:
    return judge_parameter(one, facts, policy)


@rules.check(
    "kernel_parameters.reverse_path",
    "The filter of the interconnect is not strict",
    severity="critical",
    takes_effect="now",
    why="With several private interfaces a strict filter drops what comes in by another than "
    "answers leave by, and the node is evicted.",
    reference=NETWORK,
    each=family(REVERSE_PATH, "Fewer than two private interfaces are known here."),
)
def reverse_path(one: Parameter, facts: Facts, policy: Policy) -> Verdict:
    return judge_parameter(one, facts, policy)


@rules.check(
    "kernel_parameters.reassembly",
    "There is memory to put fragments together",
    severity="high",
    takes_effect="now",
    why="A block of a database is more than one frame: where fragments find no memory, blocks are "
    "lost, and in the end the node.",
    reference=NETWORK,
    each=family("reassembly", "No cluster runs here, and no policy announces one."),
)
def reassembly(one: Parameter, facts: Facts, policy: Policy) -> Verdict:
    return judge_parameter(one, facts, policy)


@rules.check(
    "kernel_parameters.additional",
    "What the policy asks for beside Oracle's documents",
    severity="medium",
    takes_effect="now",
    why="The policy names this value for the host.",
    reference="the policy, kernel_parameters_values",
    each=family(OF_POLICY, "kernel_parameters_values names nothing that the table does not have."),
)
def additional(one: Parameter, facts: Facts, policy: Policy) -> Verdict:
    return judge_parameter(one, facts, policy)

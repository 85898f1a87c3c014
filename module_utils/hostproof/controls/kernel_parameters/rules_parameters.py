# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Every parameter that Oracle's documents or the policy requires, by what it is about."""

from ...evaluate.checking import Rules
from .facts import Facts
from .parameter_layers import judge_parameter
from .policy import NAME, Policy
from .required_parameters import OF_POLICY, REVERSE_PATH
from .subjects import NETWORK, PROC, family

rules: Rules[Facts, Policy] = Rules(NAME)


rules.check(
    "kernel_parameters.semaphores",
    "Semaphore limits are sufficient for every instance",
    "Semaphore limits are too low or nearly used up",
    severity="critical",
    takes_effect="now",
    why="An instance without a free semaphore set does not start (ORA-27154, ORA-27300: semget "
    "failed with status 28, no space left on device).",
    reference=PROC,
    each=family("semaphores"),
)(judge_parameter)
rules.check(
    "kernel_parameters.shared_memory",
    "Shared memory limits cover every SGA",
    "Shared memory limits are too low or nearly used up",
    severity="high",
    takes_effect="now",
    why="An instance with a larger SGA does not start (ORA-27102 with error 28), even if "
    "memory is free.",
    reference=PROC,
    each=family("shared_memory"),
)(judge_parameter)
rules.check(
    "kernel_parameters.processes",
    "Process number limit of the host is sufficient",
    "Process number limit of the host is too low",
    severity="high",
    takes_effect="now",
    why="fork fails with status 11 (ORA-27300) before an account reaches its own limit: all "
    "processes and threads of the host share the numbers.",
    reference=PROC,
    each=family("processes"),
)(judge_parameter)
rules.check(
    "kernel_parameters.open_files",
    "File handle limit of the host is sufficient",
    "File handle limit of the host is too low or nearly used up",
    severity="medium",
    takes_effect="now",
    why="Every program on the host fails when no file handle is free, including instances.",
    reference=PROC,
    each=family("open_files"),
)(judge_parameter)
rules.check(
    "kernel_parameters.asynchronous_io",
    "AIO request limit of the host is sufficient",
    "AIO request limit of the host is too low or nearly used up",
    severity="high",
    takes_effect="now",
    why="Processes fail with ORA-27090 or write one block after another.",
    reference=PROC,
    each=family("asynchronous_io"),
)(judge_parameter)
rules.check(
    "kernel_parameters.ephemeral_ports",
    "Ephemeral port range is within 9000 to 65535",
    "Ephemeral port range is not within 9000 to 65535",
    severity="medium",
    takes_effect="now",
    why="An outgoing connection can take the port of a listener or an agent.",
    reference=NETWORK,
    each=family("ephemeral_ports"),
)(judge_parameter)
rules.check(
    "kernel_parameters.socket_buffers",
    "Socket buffer limits are sufficient",
    "Socket buffer limits are too low",
    severity="medium",
    takes_effect="instance_restart",
    why="Interconnect datagrams without a buffer are lost, and their blocks are sent again. "
    "Small TCP buffers slow down Direct NFS.",
    reference=NETWORK,
    each=family("socket_buffers"),
)(judge_parameter)
rules.check(
    "kernel_parameters.panic",
    "Kernel panics on an oops and restarts the host",
    "Kernel does not panic or restart after a failure",
    severity="high",
    takes_effect="now",
    why="A node that hangs after a kernel oops keeps its locks, and the cluster waits for it.",
    reference=PROC,
    each=family("panic"),
)(judge_parameter)
rules.check(
    "kernel_parameters.memory",
    "Memory reclaim settings protect the database",
    "Memory reclaim settings do not protect the database",
    severity="high",
    takes_effect="now",
    why="A kernel without free memory drops datagrams (ORA-27301: no buffer space available). "
    "A kernel that swaps early swaps out the PGA.",
    reference=PROC,
    each=family("memory", "No sign of a cluster was found, and no policy advises it."),
)(judge_parameter)
rules.check(
    "kernel_parameters.reverse_path",
    "Reverse path filter of the interconnect is not strict",
    "Reverse path filter of the interconnect is strict",
    severity="critical",
    takes_effect="now",
    why="With several private interfaces, packets that arrive on a different interface than "
    "replies use are dropped, and the node is evicted.",
    reference=NETWORK,
    each=family(REVERSE_PATH, "Fewer than two private interfaces are known here."),
)(judge_parameter)
rules.check(
    "kernel_parameters.reassembly",
    "Fragment reassembly memory is sufficient",
    "Fragment reassembly memory is too small",
    severity="high",
    takes_effect="now",
    why="Database blocks on the interconnect are lost, and finally the node is evicted. A "
    "block is larger than a frame and arrives in fragments.",
    reference=NETWORK,
    each=family("reassembly", "No sign of a cluster was found, and no policy announces one."),
)(judge_parameter)
rules.check(
    "kernel_parameters.additional",
    "Additional kernel parameters match the policy",
    "An additional kernel parameter differs from the policy",
    severity="medium",
    takes_effect="now",
    why="The host does not run with a value that your policy requires. This value does not "
    "come from Oracle's documentation.",
    reference="the policy, kernel_parameters_values",
    each=family(OF_POLICY, "kernel_parameters_values names nothing that the table does not have."),
)(judge_parameter)

# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the control listener_rate_limit checks: most once for each listener, with its name."""

from ...finding import Check

_NETRF = "Oracle Database Net Services Reference, listener.ora"
_NETAG = "Oracle Database Net Services Administrator's Guide"
_PAPER = "Oracle white paper, Oracle Net Listener Connection Rate Limiter"

LISTENER_RUNS = Check(
    "listener_rate_limit.listener_runs",
    "The listener runs",
    "high",
    "listener_restart",
    "A listener that the policy lists and that does not run limits nothing and serves nobody.",
    _NETAG + ", Starting Oracle Net Listener",
)
FILE_READ = Check(
    "listener_rate_limit.file_read",
    "It is known which listener.ora the listener reads",
    "medium",
    "listener_restart",
    "TNS_ADMIN, a read-only home or Grid Infrastructure move the file: the one that people edit "
    "may be one that no listener reads.",
    _NETRF + ", Overview; Parameters and their default locations (TNS_ADMIN)",
)
FILE_UNDERSTOOD = Check(
    "listener_rate_limit.file_understood",
    "listener.ora can be read to its end",
    "critical",
    "listener_restart",
    "A listener does not start with a file that it cannot read, and that shows at its next start.",
    _NETRF + "; Syntax Rules for Configuration Files",
)
PARAMETERS_ONCE = Check(
    "listener_rate_limit.parameters_once",
    "No parameter stands twice in listener.ora",
    "medium",
    "listener_restart",
    "Only one of two values counts, and the documentation does not say which.",
    _NETRF + "; Syntax Rules for Configuration Files",
)
RATE_AS_WANTED = Check(
    "listener_rate_limit.rate_as_wanted",
    "Each endpoint has the rate that the policy wants",
    "high",
    "listener_restart",
    "Without a limit, pools that fill all at once take the CPU from the work of those that are "
    "connected already.",
    _PAPER + "; " + _NETRF + ", RATE_LIMIT and CONNECTION_RATE_listener_name",
)
RATE_BOUND = Check(
    "listener_rate_limit.rate_bound",
    "The rate is bound to an endpoint",
    "high",
    "listener_restart",
    "CONNECTION_RATE limits only endpoints with RATE_LIMIT, and RATE_LIMIT=yes only together with "
    "CONNECTION_RATE: one without the other limits nothing.",
    _NETRF + ", Listener Rate Limiting (CONNECTION_RATE_listener_name, RATE_LIMIT)",
)
ONE_RATE = Check(
    "listener_rate_limit.one_rate",
    "Only one place sets the rate",
    "medium",
    "listener_restart",
    "CONNECTION_RATE overrides every number at an endpoint, so the number that people read there "
    "is not the one that counts.",
    _NETRF + ", CONNECTION_RATE_listener_name",
)
LOADED = Check(
    "listener_rate_limit.loaded",
    "The listener was started after its file changed",
    "high",
    "listener_restart",
    "A listener reads its endpoints and their rate when it starts: it does not know what was "
    "written after.",
    _NETAG + ", Listener Control utility, RELOAD and START",
)
DRAIN_TIME = Check(
    "listener_rate_limit.drain_time",
    "Every client gets its connection before it gives up",
    "high",
    "listener_restart",
    "A burst waits clients ÷ rate seconds; a client that gives up before that comes again, and the "
    "queue never ends.",
    _PAPER + "; " + _NETRF + ", INBOUND_CONNECT_TIMEOUT_listener_name (60 s by default)",
)
VERSION = Check(
    "listener_rate_limit.version",
    "This release of the listener can limit rates without harm",
    "medium",
    "listener_restart",
    "Before 11.2.0.4 a listener that limits often leaks memory, and 11gR2 does not support it in a "
    "cluster.",
    "MOS 1568591.1; bug 16409926",
)
EDITABLE = Check(
    "listener_rate_limit.editable",
    "listener.ora belongs to its administrator, not to Grid Infrastructure",
    "medium",
    "listener_restart",
    "The agent of Grid Infrastructure writes the file anew and adds the endpoints at run time: "
    "edits get lost, and there is no address that could carry a rate.",
    "MOS 1292915.1; bug 11782958",
)
QUEUE_SIZE = Check(
    "listener_rate_limit.queue_size",
    "The queue of each endpoint is as long as the policy wants",
    "medium",
    "listener_restart",
    "What does not fit into the queue is lost before the listener sees it, limit or not.",
    _NETRF + ", QUEUESIZE; listen(2), backlog and net.core.somaxconn",
)
DELAYED = Check(
    "listener_rate_limit.delayed",
    "The limit delays few connections",
    "low",
    "now",
    "A limit that is reached all the time is too low for the load, or clients connect too often.",
    _NETRF + ", Listener Rate Limiting; TNS-01158",
)
QUEUE_OVERFLOWS = Check(
    "listener_rate_limit.queue_overflows",
    "The kernel drops no connection before the listener accepts it",
    "high",
    "now",
    "Clients whose connection was dropped wait for a second or more and try again, or fail.",
    "kernel Documentation/networking/snmp_counter.rst, TcpExtListenOverflows",
)

CHECKS = (
    LISTENER_RUNS,
    FILE_READ,
    FILE_UNDERSTOOD,
    PARAMETERS_ONCE,
    RATE_AS_WANTED,
    RATE_BOUND,
    ONE_RATE,
    LOADED,
    DRAIN_TIME,
    VERSION,
    EDITABLE,
    QUEUE_SIZE,
    DELAYED,
    QUEUE_OVERFLOWS,
)

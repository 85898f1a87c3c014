# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which servers are queried for names, and for how long: nsswitch.conf and resolv.conf."""

from typing import Iterator, List, Optional

from ...collect.answer import known
from ...errors import Absent, Unanswered
from ...evaluate.advice import Advice, Ask, Edit, Step
from ...evaluate.checking import Rules, Skip, Verdict
from ...evaluate.finding import FAIL, PASS, WARN, status_for
from .facts import NSSWITCH, RESOLV_CONF, Facts
from .parsers.nsswitch import Source
from .parsers.resolv_conf import SERVERS, Resolver
from .policy import NAME, Policy
from .probes.name_service import key_of
from .subjects import GUIDE, asks_dns, listed, skip_unmanaged

rules: Rules[Facts, Policy] = Rules(NAME)

#: Sources that answer for .local alone, and say nothing of other names.
_MINIMAL = ("mdns4_minimal", "mdns6_minimal", "mdns_minimal")
#: Addresses of systemd-resolved: a local server that forwards to other servers.
_STUB = ("127.0.0.53", "127.0.0.54")
_ORDER = "files before dns"
#: As glibc before 2.26.
_MOST_DOMAINS = 6
#: authselect writes the file from its profile on Red Hat.
_LINE = [
    Edit(
        NSSWITCH,
        what=f"set 'hosts: files dns myhostname' in {NSSWITCH}; where authselect writes it, set "
        "the line in /etc/authselect/user-nsswitch.conf and run authselect apply-changes",
    )
]
#: Response codes of a healthy server: the name exists, or it does not.
_ANSWERS = (0, 3)


@rules.check(
    "name_resolution.search_order",
    "Search order is /etc/hosts, then DNS",
    "Search order of name resolution is wrong",
    severity="medium",
    takes_effect="instance_restart",
    why="With DNS first, every local lookup waits for a server. A source that ends the search "
    "hides SCAN and VIP names, which only DNS knows.",
    reference="nsswitch.conf(5); nss-myhostname(8); nss-resolve(8); " + GUIDE + "name resolution",
)
def search_order(facts: Facts, policy: Policy) -> Verdict:
    skip_unmanaged("search_order", policy)
    sources: Optional[List[Source]] = known(facts.order)
    if sources is None:
        return Verdict(
            WARN,
            "There is no line hosts: - glibc before 2.35 asks DNS first then, and later ones last.",
            advice=Advice(_LINE),
            desired=_ORDER,
            persisted="no line hosts:",
            evidence=["file:" + NSSWITCH],
        )
    names = [entry.name for entry in sources]
    files, dns = _first(names, "files"), _first(names, "dns", "resolve")
    faults, remarks = [], []
    # Without both sources, each is the number of names.
    if files >= dns:
        faults.append("/etc/hosts is not asked before DNS")
    if dns == len(names):
        faults.append("DNS is not asked")
    faults += _ends(
        sources[:dns], [name for name in facts.found if name.lower().endswith(".local")]
    )
    if "files" in names and _first(names, "myhostname") < files:
        remarks.append("myhostname is queried before /etc/hosts")
    if _first(names, "nis") < dns:
        remarks.append("nis is queried before DNS, which Clusterware does not support")
    order = " ".join(entry.name + (" [NOTFOUND=return]" if entry.ends else "") for entry in sources)
    why = "; ".join(faults + remarks)
    return Verdict(
        status_for(faults, remarks),
        f"{why}.",
        advice=Advice(_LINE),
        desired=_ORDER,
        persisted=order[:300],
        evidence=["file:" + NSSWITCH],
    )


def _first(names: List[str], *wanted: str) -> int:
    """The index of the first name in ``wanted``; without one, the number of names."""
    return min((names.index(name) for name in wanted if name in names), default=len(names))


def _ends(sources: List[Source], local: List[str]) -> Iterator[str]:
    """The sources that end the search before DNS; ``local`` are the names below .local."""
    for source in sources:
        if source.ends and source.name not in _MINIMAL:
            yield f"what {source.name} does not know is not asked of DNS"
        elif source.ends and local:
            yield f"{source.name} ends the search for {listed(local)}"


@rules.check(
    "name_resolution.resolv_conf",
    "resolv.conf has enough name servers and short timeouts",
    "resolv.conf has too few name servers or long timeouts",
    severity="medium",
    takes_effect="instance_restart",
    why="While a name server is down, every connection waits for the timeout in resolv.conf.",
    reference="resolv.conf(5): MAXNS, timeout, attempts; PRVF-5636 (15 seconds)",
)
def resolv_conf(facts: Facts, policy: Policy) -> Verdict:
    skip_unmanaged("resolv_conf", policy)
    resolver: Resolver = known(facts.resolver)
    if not asks_dns(facts):
        raise Skip("The line hosts: of nsswitch.conf does not ask DNS.")
    stub = bool(resolver.servers) and set(resolver.servers) <= set(_STUB)
    problems = _resolver_problems(resolver, policy, stub)
    servers = listed(resolver.servers, "no server")
    return Verdict(
        WARN if problems else PASS,
        f"{'; '.join(problems)}.",
        advice=Advice(_resolver_steps(resolver, policy, facts.writer, stub)),
        desired=f"2 or {SERVERS} servers, at most {policy.max_wait_seconds:g} seconds",
        persisted=f"{servers}; search {listed(resolver.search)}; timeout:{resolver.timeout} "
        f"attempts:{resolver.attempts}{' rotate' if resolver.rotate else ''}; written by "
        f"{facts.writer or 'hand'}",
        values={"servers": len(resolver.servers), "longest_seconds": resolver.longest},
        evidence=["file:" + RESOLV_CONF, "link:" + RESOLV_CONF],
    )


def _resolver_problems(resolver: Resolver, policy: Policy, is_stub: bool) -> List[str]:
    problems = []
    if not resolver.servers:
        problems.append("it names no server, so this host itself is queried")
    elif len(set(resolver.servers)) == 1 and not is_stub:
        problems.append(f"{resolver.servers[0]} is the only server")
    if resolver.longest > policy.max_wait_seconds and not is_stub:
        problems.append(
            f"a name takes up to {resolver.longest} seconds where no server answers "
            f"({resolver.timeout} s, "
            f"{resolver.attempts} times, {max(1, len(resolver.servers))} servers)"
        )
    if resolver.passed_over:
        lines = listed([str(number) for number in resolver.passed_over])
        problems.append(f"lines that count for nothing: {lines} (at most {SERVERS} servers count)")
    if len(resolver.search) > _MOST_DOMAINS:
        problems.append(
            f"of {len(resolver.search)} domains to search glibc before 2.26 takes {_MOST_DOMAINS}"
        )
    return problems


def _resolver_steps(resolver: Resolver, policy: Policy, writer: str, is_stub: bool) -> List[Step]:
    """A step for each problem, at the program that writes the file."""
    place = f"the configuration of {writer}" if writer else RESOLV_CONF
    steps: List[Step] = []
    if len(set(resolver.servers)) < 2 and not is_stub:
        steps.append(Edit(place, what=f"name a second name server in {place}"))
    if resolver.passed_over:
        what = f"keep at most {SERVERS} name servers and valid lines in {place}"
        steps.append(Edit(place, what=what))
    if resolver.longest > policy.max_wait_seconds and not is_stub:
        steps.append(Edit(place, what=f"set options timeout:1 attempts:2 in {place}"))
    if len(resolver.search) > _MOST_DOMAINS:
        what = f"keep at most {_MOST_DOMAINS} domains to search in {place}"
        steps.append(Edit(place, what=what))
    return steps


@rules.check(
    "name_resolution.name_servers",
    "Every name server answers",
    "A name server does not answer",
    severity="high",
    takes_effect="now",
    why="Each lookup that reaches this server first waits for its timeout. The cluster queries "
    "all of them.",
    reference=GUIDE + "confirming the DNS configuration; resolv.conf(5)",
)
def name_servers(facts: Facts, policy: Policy) -> Verdict:
    skip_unmanaged("name_servers", policy)
    resolver: Resolver = known(facts.resolver)
    if not resolver.servers or not asks_dns(facts):
        raise Skip("No name server is queried.")
    known(facts.own)
    names = [form for forms in facts.asked.values() for form in forms]
    if not names:
        raise Unanswered("file:" + RESOLV_CONF, "there is no name to query")
    problems, responders, keys = [], [], []
    for server in resolver.servers:
        for name in names:
            reply = facts.replies[server, name]
            keys.append(key_of(server, name))
            if isinstance(reply, Absent):
                problems.append(f"{server}: {str(reply).rstrip('.')}")
                break
            code = known(reply).code
            if code not in _ANSWERS:
                problems.append(f"{server} answers with code {code} for {name}")
                break
        else:
            responders.append(server)
    return Verdict(
        FAIL if problems else PASS,
        f"{'; '.join(problems)}.",
        advice=Advice(
            [
                Ask(
                    "start the name server that does not answer, or open port 53 to it; if it was "
                    "removed, name another one in its place in "
                    + (f"the configuration of {facts.writer}" if facts.writer else RESOLV_CONF)
                )
            ]
        ),
        desired=listed(resolver.servers),
        running=f"{listed(responders, 'none')} answer",
        evidence=keys,
    )

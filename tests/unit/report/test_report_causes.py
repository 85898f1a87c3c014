"""Fix first: what stands below its cause, and which actions make most hosts ready."""

import yaml
from cases import cases
from hostproof_controller.report import html
from hostproof_controller.report.causes import DENIED, First, groups_of
from hostproof_controller.report.policy_entry import entry_of
from hostproof_controller.report.store import merge
from hostproof_controller.report.summary import Summary
from report_samples import finding, make_line
from whole_reports import render_html


def told(check, status="fail", *causes, **changes):
    named = {"check": f"c.{check}", "control": "c", "title": f"Title {check}", "fix": None}
    return finding(**named | {"status": status, "because_of": [f"c.{x}" for x in causes]} | changes)


def shown(*findings):
    """{cause: what stands below it}, in their order."""
    name = lambda entry: entry["check"][2:]  # noqa: E731
    return [
        (name(group.cause), [name(rest) for rest in group.rests]) for group in groups_of(findings)
    ]


def test_what_rests_on_a_cause_stands_below_it_and_the_cause_of_the_cause_above_all():
    chain = [told("c", "fail", "b"), told("b", "warn", "a"), told("a", "fail"), told("x", "warn")]
    assert shown(*chain) == [("a", ["c", "b"]), ("x", [])]


def test_a_cause_that_is_well_or_waived_hides_nothing():
    assert shown(told("a", "pass"), told("b", "fail", "a")) == [("b", [])]
    waived = told(
        "a", "waived", waiver={"owner": "o", "reason": "r", "expires": "2", "was": "fail"}
    )
    assert shown(waived, told("b", "fail", "a")) == [("b", []), ("a", [])]


def test_causes_in_a_circle_end():
    groups = groups_of([told("a", "fail", "b"), told("b", "fail", "a")])
    assert sum(1 + len(group.rests) for group in groups) == 2


def test_a_cause_of_the_same_subject_counts():
    causes = [told("a", title="one: A"), told("a", title="two: A")]
    groups = groups_of([*causes, told("b", "fail", "a", title="two: B")])
    assert [group.cause["title"] for group in groups if group.rests] == ["two: A"]


def test_what_is_unknown_for_one_reason_stands_below_the_first_that_says_so():
    errors = [told("a", "error", why="no answer"), told("b", "error", why="no answer")]
    assert shown(*errors, told("c", "error", why="other")) == [("a", ["b"]), ("c", [])]


def test_an_error_stands_below_the_error_that_causes_it():
    errors = [told("b", "error", "a", why="no table"), told("a", "error", why="no answer")]
    assert shown(*errors) == [("a", ["b"])]
    # An error explains no failure, and no failure an error.
    assert shown(told("b", "fail", "a"), errors[1]) == [("b", []), ("a", [])]
    assert shown(told("a", "fail"), errors[0]) == [("a", []), ("b", [])]


def test_what_root_may_read_is_one_thing_to_do():
    errors = [told("a", "error", why="no home"), told("b", "error", why="denied", fix=DENIED)]
    assert shown(*errors, told("c", "error", why="x", fix="install it")) == [
        ("b", ["a"]),
        ("c", []),
    ]


def test_no_finding_is_folded_below_one_of_lesser_severity():
    """A critical failure below a low cause would not be seen."""
    low = told("low", "fail", severity="low")
    chain = [told("top", "fail", "low", severity="critical"), low]
    assert shown(*chain) == [("top", []), ("low", [])]
    # The chain is followed past the lesser cause to one that is as grave.
    low = told("low", "fail", "root", severity="low")
    root = told("root", "fail", severity="critical")
    assert shown(chain[0], low, root) == [("root", ["top", "low"])]
    errors = [
        told("a", "error", why="no answer", severity="low"),
        told("b", "error", why="no answer", severity="critical"),
    ]
    assert shown(*errors) == [("b", ["a"])]
    denied = told("d", "error", why="denied", fix=DENIED, severity="medium")
    unknown = [told(x, "error", why=x, severity=x) for x in ("critical", "low")]
    assert shown(denied, *unknown) == [("critical", []), ("d", ["low"])]


def test_failures_of_one_host_are_ordered_by_severity_before_effect():
    findings = [
        told("n", severity="low", takes_effect="now"),
        told("c", severity="critical", takes_effect="reboot"),
        told("e", "error", severity="critical"),
    ]
    assert [cause for cause, _ in shown(*findings)] == ["c", "n", "e"]


def test_the_order_is_what_failed_then_by_when_it_can_be_done():
    effects = ["reboot", "cluster_restart", "remount", "now"]
    findings = [told(f"f{n}", takes_effect=effect) for n, effect in enumerate(effects)]
    findings += [told("w", "warn", takes_effect="now"), told("e", "error", takes_effect="reboot")]
    assert [cause for cause, _ in shown(*findings)] == ["f3", "f2", "f1", "f0", "e", "w"]


def first_of(*hosts):
    first = First()
    for state in merge(
        [make_line(f"db{number}", list(findings)) for number, findings in enumerate(hosts)]
    ).hosts:
        first.add(state)
    return first


def apply_of(control, host):
    return [f"./hostproof apply --tags {control} --limit {host}"]


def test_one_command_is_one_action_on_all_hosts():
    hosts = [
        [
            told("a", commands=apply_of("hugepages", "db0")),
            told("b", commands=apply_of("hugepages", "db0")),
        ],
        [told("a", commands=apply_of("hugepages", "db1"))],
        [told("x", "pass")],
    ]
    first = first_of(*hosts)
    ready, (action,) = first.actions()
    assert (first.waiting, ready) == (2, 2)
    assert (action.what, action.kind) == (
        "./hostproof apply --tags hugepages --limit db0,db1", "command"
    )  # fmt: skip
    assert (action.findings, action.on) == (3, 2)
    assert action.caption == "This resolves 3 findings of c; the gravest: Title a (c.a)."
    assert action.hosts == ["db0", "db1"]


def test_an_action_repeats_the_options_of_its_run():
    options = "-i 'my hosts' -e hostproof_profile=oracle_19c_rac --become"
    printed = [f"./hostproof apply --tags hugepages {options} --limit db0"]
    first = first_of([told("a", commands=printed), told("b"), told("d", "error", fix=DENIED)])
    _, actions = first.actions()
    assert {action.what for action in actions if action.kind == "command"} == {
        f"./hostproof apply --tags hugepages {options} --limit db0",
        f"./hostproof audit {options} --limit db0",
    }
    (again,) = [action.again for action in actions if action.again]
    assert again == f"./hostproof audit {options} --limit db0"


@cases(
    "finding_",
    told("a", "error", why="no answer", fix="query it manually"),
    told("a", "error", fix=DENIED),
    told("a", commands=["./hostproof audit --tags hugepages -vvv --limit db0"]),
    told("a", commands=["./hostproof apply --check --diff --tags hugepages --limit db0"]),
)
def test_what_only_shows_something_makes_no_host_ready(finding_):
    ready, (action,) = first_of([finding_]).actions()
    assert ready == 0
    assert action.caption == "This shows the reason: Title a (c.a)."


def test_a_consequence_of_another_action_is_no_action():
    """Not even one that is graver than its cause, which is shown above it elsewhere."""
    cause = told("low", severity="low", commands=apply_of("hugepages", "db0"))
    ready, (action,) = first_of([told("top", "fail", "low", severity="critical"), cause]).actions()
    assert (ready, action.findings, action.kind) == (1, 2, "command")


def test_the_first_actions_resolve_most_findings_of_the_gravest():
    """An apply that resolves ten findings is not behind three that resolve one each."""
    many = [told(f"m{n}", severity="medium", commands=apply_of("space", "db0")) for n in range(10)]
    lesser = [told(x, severity=x) for x in ("low", "medium", "high", "critical")]
    ready, actions = first_of([*lesser, *many]).actions()
    assert ready == 0
    assert {action.check for action in actions} == {"c.m0", "c.high", "c.critical"}
    text = render_html(merge([make_line("db0", [*lesser, *many])]), "2026-11-21T04:00:00Z")
    assert "3 of 5 actions, those that resolve most (1 not ready)" in text
    assert "./hostproof apply --tags space --limit db0" in text


def test_the_actions_are_in_the_order_of_what_they_resolve():
    """An apply first, whatever takes effect sooner; a restart after it."""
    many = [
        told(f"m{n}", severity="medium", takes_effect="reboot", commands=apply_of("space", "db0"))
        for n in range(10)
    ]
    lesser = [told("now", severity="low"), told("start", takes_effect="instance_restart")]
    _, actions = first_of([*lesser, *many]).actions()
    assert [action.check for action in actions] == ["c.m0", "c.start", "c.now"]


def test_an_entry_of_the_policy_is_yaml_with_its_file():
    fix = "list the planned instances with their SGA in hugepages_instances, and apply the control"
    (alone,) = first_of([told("a", fix=fix)]).actions()[1]
    assert alone.entry == (
        "# host_vars/db0/hugepages.yml, for example:\n"
        "hugepages_instances:\n- sid: SALES\n  sga: 60G\n  version: 19\n"
    )
    (both,) = first_of([told("a", fix=fix)], [told("a", fix=fix)]).actions()[1]
    assert both.entry.startswith("# group_vars/all/hugepages.yml, for example:\n")
    results = merge([make_line("db0", [told("a", fix=fix)])])
    assert f"<pre>{both.entry.replace('group_vars/all', 'host_vars/db0')}</pre>" in render_html(
        results, "2026-11-21T04:00:00Z"
    )
    summary = Summary(results)
    for state in results.states:
        summary.add(state)
    assert "\n        hugepages_instances:\n        - sid: SALES\n" in summary.text()
    assert not first_of([told("a", fix="raise vm_swappiness or a_b")]).actions()[1][0].entry


def test_an_entry_has_what_the_fix_names_where_this_machine_reads_it():
    fix = (
        "list it in accounts_accounts with the groups oinstall, dba, oper, and the missing groups "
        "oper, dba in accounts_groups"
    )
    assert entry_of(fix, ["localhost"]) == (
        "# inventories/local/host_vars/localhost/accounts.yml, for example:\n"
        "accounts_accounts:\n- name: oracle\n  uid: 54321\n  group: oinstall\n  groups:\n"
        "  - dba\n  - oper\n"
        "accounts_groups:\n- name: oinstall\n  gid: 54321\n"
        "- name: dba\n  gid: 54322\n- name: oper\n  gid: 54323\n"
    )
    assert entry_of(fix, ["localhost"], "-i mine").startswith("# host_vars/localhost/accounts.yml")


def test_an_entry_is_for_all_accounts_of_the_action():
    """The printed entry of a cluster node had neither grid nor the groups of ASM."""
    fixes = [
        "(getent passwd oracle); list it in accounts_accounts with the groups oinstall, dba, "
        "racdba, and these groups in accounts_groups",
        "(getent passwd grid); list it in accounts_accounts with the groups oinstall, asmadmin, "
        "and these groups in accounts_groups",
    ]
    title = "Account does not exist"
    accounts = [
        told("a", title=f"{name}: {title}", problem=f"{name}: {title}", fix=fix)
        for name, fix in zip(("oracle", "grid"), fixes, strict=True)
    ]
    (action,) = first_of(accounts).actions()[1]
    entry = yaml.safe_load(action.entry)
    assert [(one["name"], one["groups"]) for one in entry["accounts_accounts"]] == [
        ("oracle", ["dba", "racdba"]), ("grid", ["racdba", "asmadmin"])
    ]  # fmt: skip
    assert {one["name"] for one in entry["accounts_groups"]} == {
        "oinstall", "dba", "racdba", "asmadmin"
    }  # fmt: skip


def test_the_commands_of_an_action_are_those_of_all_its_hosts():
    one, other = [told("a", fix="install it", commands=[line]) for line in ("yum a", "yum b")]
    (same,) = first_of([one], [one]).actions()[1]
    assert same.commands == ("yum a",)
    assert first_of([one], [other]).actions()[1][0].commands == ()
    results = merge([make_line("db0", [one])])
    summary = Summary(results)
    for state in results.states:
        summary.add(state)
    assert "1.  install it\n        yum a\n    then: " in summary.text()
    assert "<pre>yum a</pre>" in render_html(results, "2026-11-21T04:00:00Z").partition("then:")[0]


def test_the_actions_are_those_that_make_most_hosts_ready():
    """Not those that most hosts need: "a" is needed by all, and makes none ready."""
    hosts = [[told("a"), told(f"only{n}"), told(f"other{n}"), told(f"third{n}")] for n in range(4)]
    hosts += [[told("b")], [told("b")], [told("c"), told("d")]]
    ready, actions = first_of(*hosts).actions()
    assert ready == 3
    assert {action.check for action in actions} == {"c.b", "c.c", "c.d"}


@cases("hosts", [[told("x", "pass")]], [[told("x", "warn")]], [])
def test_where_all_are_ready_nothing_is_first(hosts):
    assert first_of(*hosts).waiting == 0
    lines = [make_line(f"db{number}", findings) for number, findings in enumerate(hosts)]
    assert "Fix first" not in render_html(merge(lines), "2026-11-21T04:00:00Z")


def test_what_nobody_knows_how_to_find_out_is_no_action():
    first = first_of([told("a", "error", why="odd")], [told("b", "error", why="odd"), told("c")])
    assert first.actions() == (0, [first.actions()[1][0]])
    assert first.actions()[1][0].check == "c.c"


def test_a_fleet_of_hosts_that_have_nothing_in_common_is_bounded(monkeypatch):
    monkeypatch.setattr("hostproof_controller.report.causes._MOST_ACTIONS", 5)
    first = first_of(*[[told(f"x{n}")] for n in range(40)])
    assert first.waiting == 40
    assert len(first.actions()[1]) == 3


def test_the_page_says_how_many_become_ready():
    lines = [make_line("db1", [told("a")]), make_line("db2", [told("b"), told("c", "fail", "b")])]
    text = render_html(merge(lines), "2026-11-21T04:00:00Z")
    assert "These 2 actions make 2 of 2 hosts ready (2 not ready)" in text
    assert "Also resolves 1 finding <small>c.c</small>" in text


def test_fix_first_for_results_of_another_tool():
    """An audit does not repeat a run of CVU; a failure of CVU is no undetermined finding."""
    audit = "./hostproof audit --tags memory_pressure --limit db0"
    named = {"control": "cvu", "fix": "audit the host", "commands": [audit]}
    swap = {**told("swap", **named), "check": "cvu.swap"}
    disk = {**swap, "check": "cvu.disk", "fix": "correct it; then run CVU again", "commands": []}
    actions = {action.check: action for action in first_of([swap, disk]).actions()[1]}
    assert actions["cvu.disk"].again == ""
    assert actions["cvu.swap"].caption == "This names the fix of 1 finding of cvu."
    unknown = told("time", "error", **named)
    (action,) = first_of([swap, unknown]).actions()[1]
    assert action.caption == "This shows more about 2 findings of cvu."


def test_every_cause_is_listed_by_how_many_hosts_have_it(monkeypatch):
    """What a fleet lacks, cause by cause: on 38 hosts the pool is not persisted."""
    lines = [make_line(f"db{n}", [told(x) for x in "abcde"[: 1 + n // 2]]) for n in range(9)]
    first = First()
    for state in merge(lines).hosts:
        first.add(state)
    assert [(cause.check, cause.on) for cause in first.by_hosts()] == [
        ("c.a", 9), ("c.b", 7), ("c.c", 5), ("c.d", 3), ("c.e", 1)
    ]  # fmt: skip
    page = render_html(merge(lines), "2026-11-21T04:00:00Z")
    assert "All 5 causes by number of hosts" in page
    assert "<tr><td>7<td>This resolves 7 findings: Title b (c.b)." in page
    monkeypatch.setattr(html, "MOST_CAUSES", 4)
    page = render_html(merge(lines), "2026-11-21T04:00:00Z")
    assert "All 5 causes by number of hosts (first 4 shown)" in page
    assert "<small>c.e</small>" not in page


def test_what_the_actions_tell_already_is_not_listed_again():
    lines = [make_line(f"db{n}", [told(x) for x in "abc"]) for n in range(2)]
    assert " causes by number of hosts" not in render_html(merge(lines), "2026-11-21T04:00:00Z")


def test_hosts_that_gave_no_answer_are_one_action():
    lost = [f"db{number:02}" for number in range(5)]
    lines = [
        make_line(name, [], outcome="unreachable", message=f"{name}: refused") for name in lost
    ]
    lines += [make_line(f"ok{number:02}", [told("a")]) for number in range(15)]
    results = merge(lines)
    first = First()
    for state in results.states:
        first.add(state)
    ready, actions = first.actions()
    assert ready == 15
    (action,) = [action for action in actions if "db00" in action.what]
    assert action.what == (
        f"./hostproof audit -i INVENTORY --limit {','.join(lost)} -vvv   # shows how it connects"
    )
    assert (action.hosts, action.caption) == (lost, "5 hosts gave no answer")
    summary = Summary(results)
    for state in results.states:
        summary.add(state)
    text = summary.text()
    assert "5 hosts gave no answer: db00, db01, db02" in " ".join(text.split())
    first = First()
    for state in merge(lines[:5]).states:
        first.add(state)
    assert first.actions()[0] == 0

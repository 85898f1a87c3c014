"""The one loop that judges, and what it makes of whatever a rule does."""

import pytest
from ansible.module_utils.hostproof.collect.answer import known
from ansible.module_utils.hostproof.collect.host import RecordedHost
from ansible.module_utils.hostproof.errors import (
    Absent,
    Denied,
    HostproofError,
    ParseError,
    PolicyError,
    Unanswered,
)
from ansible.module_utils.hostproof.evaluate import audit
from ansible.module_utils.hostproof.evaluate.checking import (
    Rules,
    Skip,
    Subjects,
    Verdict,
    by_layers,
    known_or_skip,
    verdict_or_error,
)
from ansible.module_utils.hostproof.evaluate.control import Control
from ansible.module_utils.hostproof.evaluate.finding import ERROR, FAIL, PASS, SKIP, WARN
from cases import cases

#: What stands above a rule besides its id and title.
REST = {
    "severity": "high",
    "takes_effect": "reboot",
    "why": "It breaks.",
    "reference": "a book, page 1",
}


def control_of(*groups, applies=None):
    """The control "c" with these files of rules."""
    return Control(
        "c",
        policy=dict,
        policy_from=dict,
        facts=dict,
        read=lambda *_: None,
        rules=groups,
        applies=applies,
    )


def rules_of(*functions, applies=None, **options):
    """A control whose checks are c.0, c.1, ..."""
    rules = Rules("c")
    for number, function in enumerate(functions):
        rules.check(f"c.{number}", f"Title {number}", f"Problem {number}", **REST, **options)(
            function
        )
    return control_of(rules, applies=applies)


def one(function, facts=None, policy=None, crashed=None, **options):
    (finding,) = rules_of(function, **options).judge(facts, policy, crashed)
    return finding


def raising(problem):
    def rule(*_arguments):
        raise problem

    return rule


class TestOneRule:
    def test_a_verdict_is_a_finding_with_the_words_of_its_check(self):
        finding = one(lambda facts, policy: Verdict(PASS if facts == policy else FAIL), 1, 2)
        assert (finding.control, finding.check, finding.title) == ("c", "c.0", "Title 0")
        assert (finding.status, finding.severity, finding.takes_effect) == (
            "fail",
            "high",
            "reboot",
        )
        assert (finding.why, finding.reference) == ("It breaks.", "a book, page 1")

    def test_what_a_verdict_says_is_in_the_finding(self):
        texts = {
            "why": "So.",
            "fix": "do",
            "commands": ("do it",),
            "desired": "a",
            "persisted": "b",
            "running": "c",
            "in_use": "d",
            "evidence": ("file:/x",),
            "values": {"pages": 3},
            "because_of": ("c.1",),
            "reference": "another book",
        }
        fields = one(lambda *_: Verdict(WARN, **texts))._asdict()
        assert {name: fields[name] for name in texts} == texts

    def test_a_title_of_its_own_and_whose_it_is(self):
        assert one(lambda *_: Verdict(PASS, title="Other")).title == "Other"
        assert one(lambda *_: Verdict(PASS, of="ora1")).title == "ora1: Title 0"

    def test_several_verdicts_stand_in_their_order(self):
        rules = rules_of(lambda *_: [Verdict(PASS, of="b"), Verdict(FAIL, of="a")])
        assert [finding.title for finding in rules.judge(0, 0)] == ["b: Title 0", "a: Title 0"]

    def test_a_rule_that_says_nothing_is_a_fault(self):
        with pytest.raises(ValueError, match="returns nothing"):
            one(lambda *_: [])
        assert one(lambda *_: [], crashed=lambda *_: Verdict(ERROR, "!")).status == "error"

    def test_skip_has_its_reason_and_its_evidence(self):
        finding = one(raising(Skip("Not here.", ["file:/x"])))
        assert (finding.status, finding.why, finding.evidence) == (
            "skip",
            "Not here.",
            ("file:/x",),
        )

    @cases(
        "problem why evidence",
        (Unanswered("command:x", "x hangs."), "x hangs.", ("command:x",)),
        (Absent("file:/x", "no /x"), "no /x.", ("file:/x",)),
        (ParseError("meminfo", "no number", 3), "meminfo, line 3: no number.", ()),
        (PolicyError("c_x must be 1"), "c_x must be 1.", ()),
        (Unanswered("policy", "it is not enough"), "it is not enough.", ()),
        (Absent("", "nothing"), "nothing.", ()),
    )
    def test_what_is_unknown_is_an_error(self, problem, why, evidence):
        finding = one(lambda facts, policy: known(facts), problem)
        assert (finding.status, finding.why) == ("error", f"Could not be determined: {why}")
        assert (finding.evidence, finding.fix) == (evidence, None)

    def test_who_may_not_read_is_told_of_become(self):
        finding = one(raising(Denied("file:/x", "/x may not be read")))
        assert "--become" in finding.fix

    def test_what_the_host_has_not_can_be_a_reason_to_skip(self):
        finding = one(lambda facts, policy: known_or_skip(facts), Absent("file:/x", "no /x here"))
        assert (finding.status, finding.why) == ("skip", "no /x here.")
        assert one(lambda facts, _: known_or_skip(facts), Unanswered("k", "x")).status == "error"
        assert known_or_skip(3) == 3

    def test_parts_of_a_rule_do_not_hide_each_other(self):
        problems = {"a": Skip("No."), "b": Denied("file:/b", "b")}

        def part(name):
            if name in problems:
                raise problems[name]
            return Verdict(PASS)

        rules = rules_of(lambda *_: [verdict_or_error(part, name, of=name) for name in "abc"])
        findings = {finding.title[0]: finding for finding in rules.judge(0, 0)}
        assert {name: f.status for name, f in findings.items()} == {
            "a": SKIP,
            "b": ERROR,
            "c": PASS,
        }
        assert findings["b"].evidence == ("file:/b",)


class TestCrash:
    def test_it_is_raised_where_nobody_takes_it(self):
        with pytest.raises(ZeroDivisionError):
            one(lambda *_: 1 / 0)

    @pytest.fixture
    def audited(self, monkeypatch):
        """Findings and evidence of a control with these rules."""

        def audited(control, secrets=None):
            monkeypatch.setattr(audit, "CONTROLS", {"c": control})
            host = RecordedHost({})
            return audit.judge_host(host, {"c": {}}, secrets), host.evidence

        return audited

    def test_it_is_the_error_of_its_check_and_the_others_are_judged(self, audited):
        findings, evidence = audited(rules_of(lambda *_: 1 / 0, lambda *_: Verdict(PASS)))
        assert [(f.check, f.status) for f in findings] == [("c.0", ERROR), ("c.1", PASS)]
        assert findings[0].why.startswith(
            "c.0 could not be evaluated because of an error in Hostproof: ZeroDivisionError: "
        )
        assert findings[0].evidence == ("trace:c.0",)
        assert "test_checking.py" in evidence["trace:c.0"]["text"]

    def test_of_one_subject_it_leaves_the_others(self, audited):
        each = Subjects(lambda *_: [0, 1], name=lambda subject: f"s{subject}")
        rules = rules_of(lambda subject, *_: Verdict(PASS if 1 / subject else FAIL), each=each)
        findings, _ = audited(rules)
        assert [(f.title, f.status) for f in findings] == [
            ("s0: Title 0", ERROR),
            ("s1: Title 0", PASS),
        ]

    def test_of_the_subjects_it_is_the_error_of_each_check(self, audited):
        rules = rules_of(print, print, each=Subjects(raising(KeyError("x"))))
        findings, evidence = audited(rules)
        assert [f.status for f in findings] == [ERROR, ERROR]
        assert set(evidence) == {"trace:c.0", "trace:c.1"}

    def test_it_keeps_the_secrets_of_the_policy(self, audited):
        packed = audit.base64.b64encode(b'{"community": "opensesame"}').decode()
        findings, evidence = audited(
            rules_of(raising(ValueError("opensesame is not a number"))), {"c": packed}
        )
        assert "*** is not a number" in findings[0].why
        assert "opensesame" not in repr(findings) + repr(evidence)

    @cases("problem", KeyboardInterrupt, audit.TimeIsUp, SystemExit)
    def test_what_ends_the_run_is_nobodys_error(self, problem):
        with pytest.raises(problem):
            one(raising(problem()), crashed=lambda *_: Verdict(ERROR))


class TestSubjects:
    EACH = Subjects(
        lambda facts, _policy: known(facts),
        none="Nobody is here.",
        name=str,
        evidence=lambda subject: [f"processes:{subject}"],
        unknown="the others",
    )

    def judge(self, rule, facts, each=EACH):
        return rules_of(rule, each=each).judge(facts, "policy")

    def test_a_rule_is_asked_for_each(self):
        calls = []

        def rule(*arguments):
            calls.append(arguments)
            return Verdict(PASS)

        findings = self.judge(rule, ["a", "b"])
        assert calls == [("a", ["a", "b"], "policy"), ("b", ["a", "b"], "policy")]
        assert [finding.title for finding in findings] == ["a: Title 0", "b: Title 0"]

    def test_a_verdict_without_evidence_has_its_subjects(self):
        def rule(subject, *_):
            return Verdict(PASS, evidence=["file:/x"] if subject == "b" else ())

        findings = self.judge(rule, ["a", "b"])
        assert [finding.evidence for finding in findings] == [("processes:a",), ("file:/x",)]

    def test_what_is_unknown_of_one_does_not_hide_the_others(self):
        def rule(subject, *_):
            if subject == "a":
                raise Unanswered("command:a", "a hangs")
            if subject == "b":
                raise Skip("b is down.")
            return Verdict(PASS)

        findings = self.judge(rule, ["a", "b", "c"])
        assert [finding.status for finding in findings] == [ERROR, SKIP, PASS]
        assert [finding.evidence[0] for finding in findings] == [
            "command:a",
            "processes:b",
            "processes:c",
        ]

    def test_of_nobody_there_is_a_name_of_nobody(self):
        (finding,) = self.judge(lambda *_: Verdict(PASS, of=""), ["a"])
        assert finding.title == "Title 0"

    def test_where_there_is_none_nothing_is_judged(self):
        (finding,) = self.judge(print, [])
        assert (finding.status, finding.why, finding.title) == (SKIP, "Nobody is here.", "Title 0")
        each = Subjects(self.EACH.find, none=lambda facts, policy: f"{policy} has none.")
        assert self.judge(print, [], each)[0].why == "policy has none."

    def test_where_nobody_knows_them_each_check_is_an_error(self):
        rules = rules_of(print, print, each=self.EACH)
        findings = rules.judge(Denied("dir:/proc", "/proc may not be read"), "policy")
        assert [(finding.check, finding.status) for finding in findings] == [
            ("c.0", ERROR),
            ("c.1", ERROR),
        ]
        assert findings[0].evidence == ("dir:/proc",)

    def test_they_can_be_a_reason_to_skip(self):
        each = Subjects(raising(Skip("Not a Linux host.")))
        (finding,) = self.judge(print, None, each)
        assert (finding.status, finding.why) == (SKIP, "Not a Linux host.")

    def test_one_that_is_not_known_stands_among_them(self):
        problem = PolicyError("c_wanted: x is not a name")
        findings = self.judge(lambda *_: Verdict(PASS), ["a", problem])
        assert [(finding.title, finding.status) for finding in findings] == [
            ("a: Title 0", PASS),
            ("the others: Title 0", ERROR),
        ]
        assert findings[1].why == "Could not be determined: c_wanted: x is not a name."

    def test_what_is_true_of_any_finding_on_it(self):
        each = Subjects(
            self.EACH.find,
            finish=lambda finding, subject: finding._replace(why=f"{finding.why} ({subject})"),
        )
        assert self.judge(lambda *_: Verdict(FAIL), ["a"], each)[0].why == "It breaks. (a)"

    def test_they_are_looked_for_once(self):
        calls = []

        def find(*_arguments):
            calls.append(1)
            return iter(["a"])

        rules_of(*[lambda *_: Verdict(PASS)] * 3, each=Subjects(find)).judge(0, 0)
        assert calls == [1]


class TestRules:
    def test_where_no_rule_can_judge(self):
        findings = rules_of(print, print, applies=raising(Skip("Not here."))).judge(0, 0)
        assert [(finding.status, finding.why) for finding in findings] == [(SKIP, "Not here.")] * 2
        findings = rules_of(print, applies=raising(Unanswered("k", "x"))).judge(0, 0)
        assert [finding.status for finding in findings] == [ERROR]

    def test_where_they_can(self):
        assert one(lambda *_: Verdict(PASS), applies=lambda facts, policy: None).status == PASS

    def add(self, rules, name, **options):
        return rules.check(name, "Title", "Problem", **REST, **options)(lambda *_: Verdict(PASS))

    def test_checks_are_in_the_order_of_the_files_and_of_their_rules(self):
        late, early = Rules("c"), Rules("c")
        for name, group in (("a", late), ("b", early), ("c", late), ("d", early)):
            self.add(group, f"c.{name}")
        control = control_of(early, late)
        order = ["c.b", "c.d", "c.a", "c.c"]
        assert [check.id for check in control.checks] == order
        assert [finding.check for finding in control.judge(0, 0)] == order

    def test_a_check_of_another_control_is_refused(self):
        for name in ("d.a", "a"):
            with pytest.raises(ValueError, match="is not a check of c"):
                self.add(Rules("c"), name)
        with pytest.raises(ValueError, match="check of another control"):
            control_of(Rules("d"))

    def test_a_check_that_is_there_twice_is_refused(self):
        first, second = Rules("c"), Rules("c")
        self.add(first, "c.there")
        self.add(second, "c.there")
        with pytest.raises(ValueError, match="c has a check twice"):
            control_of(first, second)

    def test_a_rule_can_be_called_and_knows_its_check(self):
        rule = self.add(Rules("c"), "c.a")
        assert rule(1, 2) == Verdict(PASS)
        assert rule.check.id == "c.a"

    def test_an_error_of_ours_is_what_a_rule_may_raise(self):
        assert issubclass(PolicyError, HostproofError) and not issubclass(Skip, HostproofError)


class TestLayers:
    """What a known layer shows to be wrong stays wrong whatever the others hold."""

    LAYERS = (("running", "1"), ("boot", Denied("file:/b", "/b may not be read.")))

    @cases("status", FAIL, WARN)
    def test_a_known_problem_stands_and_the_unknown_is_named(self, status):
        finding = one(lambda *_: by_layers(Verdict(status, "It is 1."), self.LAYERS))
        assert (finding.status, finding.why) == (
            status,
            "It is 1. Not known: boot: /b may not be read.",
        )

    def test_the_words_of_the_check_come_first(self):
        finding = one(lambda *_: by_layers(Verdict(FAIL), self.LAYERS))
        assert finding.why == "It breaks. Not known: boot: /b may not be read."

    @cases("status", PASS, SKIP)
    def test_nothing_passes_by_a_part_of_its_layers(self, status):
        finding = one(lambda *_: by_layers(Verdict(status, "It is 1."), self.LAYERS))
        assert (finding.status, finding.evidence) == (ERROR, ("file:/b",))

    def test_where_all_is_known_nothing_changes(self):
        verdict = Verdict(PASS, "It is 1.")
        assert by_layers(verdict, self.LAYERS[:1]) is verdict

"""report.html: what it holds, with and without a script, and how large it gets."""

import base64
import hashlib
import re
from html.parser import HTMLParser
from urllib.parse import urlsplit

from cases import cases
from hostproof_controller.report.store import merge
from report_samples import finding, fleet, make_line, pack
from whole_reports import render_html

NOW = "2026-11-21T04:00:00Z"


class Page(HTMLParser):
    """Elements and text of a page, as a browser without a script shows it."""

    def __init__(self, text):
        super().__init__()
        self.tags = []
        self.ids = []
        self.links = []
        self.cells = []
        self.shown = []
        self.scripts = []
        self.styles = []
        self._raw = None
        self.feed(text)
        self.text = " ".join("".join(self.shown).split())

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self._raw = {"script": self.scripts, "style": self.styles}.get(tag)
        for name, value in attrs:
            if name == "id":
                self.ids.append(value)
            if name == "href":
                self.links.append(value)
            assert not name.startswith("on"), "an event handler"
        if tag == "td":
            self.cells.append("")

    def handle_endtag(self, tag):
        self._raw = None

    def handle_data(self, data):
        if self._raw is not None:
            self._raw.append(data)
        else:
            self.shown.append(data)
            if self.cells:
                self.cells[-1] += data


def page_of(lines):
    return Page(render_html(merge(lines), NOW))


def test_a_small_report_holds_everything_in_line():
    lines = fleet(6, 11, evidence=True)
    page = page_of(lines)
    for line in lines:
        for item in line["findings"]:
            # A passed or skipped check is one line, the first below its control.
            loud = ("check", "why", "fix", "reference", "desired", "running")
            quiet = {"pass": (), "skip": ("check", "why")}
            if item["status"] == "pass":
                assert item["check"].partition(".")[2] in page.text
            for name in ("title", *quiet.get(item["status"], loud)):
                assert " ".join((item[name] or "").split()) in page.text
    assert "MemTotal: 131915804 kB" in page.text
    assert "2026-11-21T03:15:20Z, exit code 0" in page.text
    assert len(page.scripts) == 1


@cases(
    "statuses headline",
    ([], "No host was audited"),
    (["pass"], "The host is ready"),
    (["fail"], "The host is not ready"),
    (["warn"], "The host is ready with warnings"),
    (["error"], "The host is undetermined"),
    (["pass", "pass"], "All 2 hosts are ready"),
    (["warn", "pass"], "1 of 2 hosts is ready with warnings"),
    (["warn", "warn"], "All 2 hosts are ready with warnings"),
    (["error", "pass", "pass"], "1 of 3 hosts is undetermined"),
    (["skip", "pass"], "1 of 2 hosts is not a database host"),
    (["skip", "skip"], "All 2 hosts are not database hosts"),
    (["fail", "fail", "error"], "2 of 3 hosts are not ready"),
)
def test_the_headline(statuses, headline):
    # Of what is skipped, a check of time_sync shows that there is no database.
    checks = {"skip": {"control": "time_sync", "check": "time_sync.ctss"}}
    lines = [
        make_line(f"db{n}", [finding(status=status, **checks.get(status, {}))])
        for n, status in enumerate(statuses)
    ]
    page = page_of(lines)
    assert f"Host readiness report{headline}Evidence recorded" in page.text


@cases(
    "severities options",
    (["low"], ["low"]),
    (["low", "critical", "medium", "low"], ["critical", "medium", "low"]),
)
def test_the_filter_offers_the_severities_of_the_findings(severities, options):
    findings = [
        finding(check=f"hugepages.x{n}", severity=one, status=("fail", "pass")[n % 2])
        for n, one in enumerate(severities)
    ]
    text = render_html(merge([make_line("db01", findings)]), NOW)
    offered = text.partition("<select name=severity>")[2].partition("</select>")[0]
    assert re.findall(r"<option>(\w+)", offered) == options


def test_status_is_never_told_by_colour_alone():
    text = render_html(merge(fleet(12, 11)), NOW)
    marked = re.findall(r"<tbody class=([FEWVSP])[ >][^<]*<tr><th scope=row><b>(. \w+)</b>", text)
    assert {("F", "✗ fail"), ("E", "? error")} < set(marked) and len(set(marked)) == 4
    lists = re.findall('<dl class="q ([PS])".*?>(.*?)</dl>', text)
    listed = [
        (kind, word) for kind, inner in lists for word in re.findall("<dt.*?><b>(.*?)</b>", inner)
    ]
    assert set(listed) == {("P", "✓ pass"), ("S", "– skip")}
    counts = re.findall(r"\((\d+)\)(?: <small>on [^<]*</small>)?<dd>", text)
    assert len(counts) == len(listed) == sum(inner.count("<dt") for _, inner in lists)


def test_the_page_is_self_contained_and_its_policy_lets_nothing_else_run():
    text = render_html(merge(fleet(5, 11, evidence=True)), NOW)
    page = Page(text)
    documents = {link for link in page.links if link.startswith("https:")}
    assert {urlsplit(link).netloc for link in documents} <= DOCUMENT_HOSTS
    within = [link for link in page.links if link not in documents]
    assert all(link.startswith(("#", "?first=")) for link in within)
    assert all(link.partition("#")[2] in page.ids for link in within)
    assert len(page.ids) == len(set(page.ids))
    assert not {tag for tag, _ in page.tags} & {"img", "link", "iframe", "object", "base"}
    assert not any("src" in attributes or "style" in attributes for _, attributes in page.tags)
    assert "http:" not in text and "@import" not in text
    assert text.count("https:") == len([link for link in page.links if link in documents])
    (policy,) = [a["content"] for t, a in page.tags if a.get("http-equiv")]
    for kind, (content,) in (("style", page.styles), ("script", page.scripts)):
        digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
        assert f"{kind}-src 'sha256-{digest}'" in policy
    assert policy.startswith("default-src 'none'")


#: Servers with the documents that references name. A page loads nothing from them.
DOCUMENT_HOSTS = {
    *("docs.oracle.com", "support.oracle.com", "www.rfc-editor.org", "docs.kernel.org")
}

NASTY = "<script>alert(1)</script>'\"><img src=x onerror=alert(2)>&amp;\x1b\udcff\u202e"


def test_every_value_is_escaped():
    names = ("title", "desired", "persisted", "running", "in_use", "why", "fix", "reference")
    item = finding(evidence=[NASTY], **dict.fromkeys(names, NASTY))
    waiver = {"owner": NASTY, "reason": NASTY, "expires": "2026-12-31", "was": "fail"}
    run = {"id": NASTY, "started": "2026-11-21T03:15:00Z", "hosts": 3}
    reading = {"kind": NASTY, "at": NASTY, "text": NASTY}
    findings = [item, dict(item, status="waived", waiver=waiver), dict(item, status="skip")]
    line = make_line(NASTY, findings, run=run, evidence=pack({NASTY: reading}))
    lost = make_line(NASTY + "2", [], run=run, message=NASTY, outcome="unreachable")
    text = render_html(merge([line, lost], [NASTY]), NOW)
    page = Page(text)
    assert len([tag for tag, _ in page.tags if tag == "script"]) == 1
    assert not [tag for tag, _ in page.tags if tag == "img"]
    assert "<script>alert(1)</script>'\"><img src=x onerror=alert(2)>&amp;" in page.text
    assert "\\x1b\\xff\\u202e" in page.text
    assert not re.search("[\x1b\ud800-\udfff\u202e]", text)


def test_broken_evidence_is_said_and_does_not_end_the_report():
    page = page_of([make_line("db01", [finding()], evidence="AAAA")])
    assert "evidence cannot be unpacked" in page.text


def test_all_kinds_of_readings_are_shown():
    evidence = {
        "stat:/x": {"kind": "stat", "at": "then", "stat": {"mode": 384}},
        "file:/y": {"kind": "file", "at": "then", "error": "denied", "message": "not yours"},
        "command:z": {"kind": "command", "rc": 3, "stdout": "out", "stderr": "bad"},
        "sample:w": {
            "kind": "sample",
            "at": "t",
            "seconds": 5.1,
            "first": {"file:/n": "one"},
            "second": {"file:/n": "two"},
            "errors": {"command:ss": "absent"},
        },
        "file:/empty": {"kind": "file", "at": "then", "text": ""},
        "odd": 7,
    }
    item = finding(evidence=[*evidence, "file:/unknown"])
    text = page_of([make_line("db01", [item], evidence=pack(evidence))]).text
    for shown in ('"mode": 384', "denied: not yours", "out [stderr] bad", "(empty)", "exit code 3"):
        assert shown in text
    assert "[first] file:/n one [second] file:/n two [errors] command:ss absent" in text
    assert "two readings 5.1 s apart" in text


def test_what_passed_or_was_skipped_is_one_line_and_shared_by_hosts():
    readings = {name: {"text": f"it is {name}"} for name in ("bad", "both", "good", "other")}
    findings = [
        finding(status="fail", evidence=["bad", "both"]),
        finding(status="skip", check="hugepages.b", evidence=["other"], why="No pool is needed."),
        finding(
            status="pass",
            check="hugepages.c",
            evidence=["good", "both"],
            running="7",
            in_use=None,
            why="Because",
        ),
    ]
    text = render_html(
        merge([make_line(f"db{n}", findings, evidence=pack(readings)) for n in (1, 2)]), NOW
    )
    page = Page(text)
    assert page.text.count("it is bad") == page.text.count("it is both") == 2
    assert "it is other" not in page.text
    assert "it is good" not in page.text
    assert "Because" not in page.text
    first, second, skipped = re.findall("<details class=o>.*?</details>", text)
    assert first == second
    title = finding()["title"]
    assert f"<dt><b>✓ pass</b> hugepages (1)<dd>{title} <i>c · critical</i> 7</dl>" in first
    head = "</b> No pool is needed. (1) <small>on all 2 hosts</small>"
    assert (
        f'<dt data-h="0 1"><b>– skip{head}<dd>{title} <i>hugepages.b · critical</i></dl>' in skipped
    )
    assert text.count('<a href="#skips">– 1 not applicable</a>') == 2
    # On a page of one host the reasons are with its other findings.
    (only,) = re.findall(
        "<details class=o>.*?</details>", render_html(merge([make_line("db01", findings)]), NOW)
    )
    assert f"No pool is needed. (1)<dd>{title} <i>hugepages.b" in only


def test_the_commands_of_a_fix_stand_apart_from_its_prose():
    item = finding(status="fail", fix="Set it.", commands=["first -a", "second"])
    text = render_html(merge([make_line("db01", [item])]), NOW)
    assert "<p class=x>Set it.<pre class=x>\nfirst -a\nsecond</pre>" in text


YESTERDAY = "2026-11-20T09:30:00Z"


def test_evidence_of_yesterday_does_not_read_as_of_today():
    lines = [make_line("db01", [finding()], recorded_at=YESTERDAY), make_line("db02", [finding()])]
    text = page_of(lines).text
    sentence = "Evidence recorded 2026-11-20 09:30:00 UTC (1 of 2 hosts), audited later"
    assert sentence in text
    assert text.count("evidence recorded 2026-11-20 09:30:00 UTC") == 1
    assert "audited 2026-11-21 03:15:20 UTC; evidence recorded 2026-11-20 09:30:00 UTC" in text


def test_evidence_of_several_days_is_said_from_the_first_to_the_last():
    lines = [
        make_line(f"db0{day}", [finding()], recorded_at=YESTERDAY.replace("20T", f"{day}T"))
        for day in (12, 19, 15)
    ]
    sentence = "2026-11-12 09:30:00 UTC to 2026-11-19 09:30:00 UTC (3 of 3 hosts), audited later"
    assert sentence in page_of(lines).text


def test_evidence_that_does_not_say_when_it_was_recorded():
    line = make_line("db01", [finding(evidence=["a"])], recorded_at=None, evidence=pack({"a": {}}))
    text = page_of([line]).text
    assert "evidence recorded at an unknown time" in text
    assert "Evidence recorded at an unknown time (1 of 1 hosts)" in text


@cases(
    "changes",
    {"recorded_at": "2026-11-21T03:15:18Z"},
    {"recorded_at": None},
    {"recorded_at": None, "outcome": "unreachable"},
)
def test_what_was_judged_as_it_was_read_has_one_instant(changes):
    text = page_of([make_line("db01", [finding()], **changes)]).text
    assert "Evidence recorded 2026-11-21 03:15:20 UTC" in text
    assert text.count("recorded") == 1


def test_clusters_are_below_the_hosts():
    lines = [
        make_line("db01", [finding(status="fail")]),
        make_line("(run)", [finding(status="warn", title="About the run")]),
        make_line("(cluster rac)", [finding(status="fail", title="About the cluster")]),
    ]
    text = render_html(merge(lines), "2026-11-21T04:00:00Z")
    places = [text.index(words) for words in ("About the run", "id=matrix", "About the cluster")]
    assert places == sorted(places)


def test_many_columns_of_the_matrix_have_vertical_heads():
    lines = fleet(3)
    page = render_html(merge(lines), NOW)
    names = [f"control{number:02}" for number in range(12)]
    entries = [finding(control=name, check=f"{name}.check", status="fail") for name in names]
    wide = render_html(merge([make_line("db01", entries)]), NOW)
    assert 'class="m many"' in wide and 'class="m many"' not in page

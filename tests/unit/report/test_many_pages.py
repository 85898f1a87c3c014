"""The report of many hosts: an index, a page for each host, and a page for old links."""

import datetime
import html as markup
import json
import os
import re
import signal
import stat

import pytest
from ansible.module_utils.hostproof.errors import HostproofError
from cases import cases
from hostproof_controller.report import formats, html, many_pages
from hostproof_controller.report import render as render_module
from hostproof_controller.report.anchors import host_anchor, page_names
from hostproof_controller.report.render import render_folder
from hostproof_controller.report.store import merge
from report_samples import finding, fleet, make_line, pack, write_folder
from test_report_html import NASTY, Page

#: The rules under test are ours; other files show how each ansible-core runs them.
pytestmark = pytest.mark.one_core

HOSTS = html.ALL_IN_ONE + 1


def render(folder, **options):
    today = datetime.date(2026, 11, 21)
    return render_folder(str(folder), today=today, known_checks=set, **options)


def rendered(tmp_path, lines):
    folder = write_folder(tmp_path / "run", lines)
    render(folder)
    return folder


def contents(folder):
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


# Names of files


NAMES = [
    "db01",
    "DB01",
    "db01.example.com",
    "db02.EXAMPLE.com",
    "",
    ".",
    "..",
    "../../etc/passwd",
    "/etc/passwd",
    "-rf",
    "a b",
    "con",
    "NUL.example.com",
    "com1",
    "x" * 300,
    "x" * 299,
    "db\x00",
    "db\n01",
    "db\udcff",
    "dbé",
    "dbe\u0301",
    "<script>",
    "%2e%2e",
    "db:01",
    "db\\01",
    "db~1",
    "index",
    NASTY,
]


#: Names that a host may have, and no plain name of a file, or one that differs in case alone.
ODD = ["web", "WEB", "con", "NUL.example.com", "fe80::1%eth0", "::1", "_x", "y" * 250]


def test_names_of_pages_are_safe_and_differ_without_regard_to_case():
    names = page_names(NAMES)
    assert sorted(names) == sorted(NAMES)
    for name in names.values():
        assert re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9._-]*\.html", name)
        assert len(name) < 130
        assert name.split(".")[0].lower() not in {"con", "nul", "com1"}
    assert len({name.lower() for name in names.values()}) == len(NAMES)
    assert names["db01"] == "db01.html"
    assert names["db02.EXAMPLE.com"] == "db02.EXAMPLE.com.html"


def test_a_host_that_is_called_like_the_page_of_another_keeps_its_own():
    odd = page_names(["a b"])["a b"].removesuffix(".html")
    names = page_names(["a b", odd, odd.upper()])
    assert len({name.lower() for name in names.values()}) == 3
    assert names[odd] == f"{odd}.html"


def test_the_name_of_a_page_does_not_depend_on_the_other_hosts():
    whole = page_names(NAMES)
    for name in NAMES:
        if name != "DB01":
            assert page_names([name]) == {name: whole[name]}


# Which files there are


def test_up_to_a_hundred_hosts_are_one_page(tmp_path):
    folder = rendered(tmp_path, fleet(HOSTS - 1, 2, evidence=True))
    assert sorted(contents(folder)) == [
        "findings.jsonl",
        "report.html",
        "report.json",
        "report.prom",
        "report.xml",
    ]
    page = (folder / "report.html").read_text()
    assert page.count("<section class=h ") == HOSTS - 1
    assert "MemTotal:" in page


def test_more_hosts_have_an_index_and_a_page_each(tmp_path):
    lines = fleet(HOSTS, 11, evidence=True)
    folder = write_folder(tmp_path / "run", lines)
    answer = render(folder)
    assert answer.page == str(folder / "index.html")
    assert sorted(os.listdir(folder / "hosts")) == sorted(
        f"{entry['host']}.html" for entry in lines
    )
    assert stat.S_IMODE((folder / "hosts").stat().st_mode) == 0o700
    assert {stat.S_IMODE(path.stat().st_mode) for path in (folder / "hosts").iterdir()} == {0o600}
    for line in lines:
        text = (folder / "hosts" / f"{line['host']}.html").read_text()
        page = Page(text)
        assert text.count("<section class=h ") == 1
        for item in line["findings"]:
            # A passed or skipped check is one line, the first below its control.
            loud = ("desired", "running", "reference")
            quiet = {"pass": (), "skip": ("check",)}
            for name in ("title", *quiet.get(item["status"], ("check", *loud))):
                assert " ".join((item[name] or "").split()) in page.text
        is_loud = any(item["status"] not in ("pass", "skip") for item in line["findings"])
        assert ("MemTotal: 131915804 kB" in page.text) is (bool(line["evidence"]) and is_loud)
        within = {link for link in page.links if not link.startswith("https:")}
        assert within - {f"#{name}" for name in page.ids} == {"../index.html"}
        assert len(page.ids) == len(set(page.ids))


def attention_of(lines):
    """(host, check, status) of each finding that needs attention, however often it is there."""
    return sorted(
        (line["host"], item["check"], item["status"])
        for line in lines
        for item in line["findings"]
        if item["status"] in ("fail", "error", "warn")
    )


def test_the_index_has_every_finding_that_needs_attention_with_a_link_to_it(tmp_path):
    lines = fleet(HOSTS, 11, evidence=True)
    folder = rendered(tmp_path, lines)
    text = (folder / "index.html").read_text()
    findings = []
    for row in re.findall(r"<tr data-v=.*?(?=<tr data-v|</table>)", text, re.S):
        (check,) = re.findall(r"data-k=([a-z0-9_.]+)>", row)
        (status,) = re.findall(r"<b>. (\w+)</b>", row)
        for address, host in re.findall(r'<a href="([^"]+)">([^<]+)</a>', row):
            page, anchor = address.split("#")
            assert page == f"hosts/{host}.html"
            assert f'id="{anchor}"' in (folder / page).read_text()
            assert anchor.startswith(f"h:{host}/{check}")
            findings.append((host, check, status))
    assert sorted(item for item in findings if item[1] != "host.reachable") == attention_of(lines)
    assert ("db03", "host.reachable", "error") in findings
    assert f"{len(findings)} findings need attention" in Page(text).text


def test_what_rests_on_a_cause_stands_with_it_and_subjects_are_told_apart(tmp_path):
    pool = finding()
    rests = [
        finding(
            check="hugepages.sga_in_huge_pages",
            title=f"{name}: The SGA lies in huge pages",
            because_of=["hugepages.pool_covers_sga"],
        )
        for name in ("ORCL", "CRM", "ORCL")
    ]
    lines = [make_line(f"db{n:03d}", [*rests, pool]) for n in range(HOSTS)]
    folder = rendered(tmp_path, lines)
    text = (folder / "index.html").read_text()
    (cause,) = re.findall(r"<details class=\"k F\".*?</details>", text, re.S)
    assert f"{HOSTS} hosts, {4 * HOSTS} findings" in cause
    # Another host may need another value.
    assert f"<p class=y>On db000: {pool['fix']}<table" in cause
    assert cause.index("hugepages.pool_covers_sga") < cause.index("hugepages.sga_in_huge_pages")
    anchor = "hosts/db007.html#h:db007/hugepages.sga_in_huge_pages"
    for end in ("/ORCL", "/ORCL~2", "/CRM"):
        assert cause.count(f'<a href="{anchor}{end}">db007 ({end[1:].split("~")[0]})</a>') == 1
        assert (
            f'id="h:db007/hugepages.sga_in_huge_pages{end}"'
            in (folder / "hosts/db007.html").read_text()
        )


def test_old_links_lead_to_the_page_of_the_host_with_and_without_a_script(tmp_path):
    lines = [make_line(name, [finding()]) for name in (*ODD, *map(str, range(HOSTS)))]
    folder = rendered(tmp_path, lines)
    text = (folder / "report.html").read_text()
    page = Page(text)
    names = page_names([line["host"] for line in lines])
    for line in lines:
        anchor, name = host_anchor(line["host"]), names[line["host"]]
        assert f'<a id="{anchor}" href="hosts/{name}">' in text
        assert (folder / "hosts" / name).exists()
    assert "index.html" in page.links
    assert len(page.scripts) == 1 and "location.replace" in page.scripts[0]


def test_what_hosts_say_is_text_on_every_page(tmp_path):
    names = ("title", "desired", "persisted", "running", "in_use", "why", "fix", "reference")
    item = finding(evidence=[NASTY], **dict.fromkeys(names, NASTY))
    reading = {"kind": NASTY, "at": NASTY, "text": NASTY}
    waiver = {"owner": NASTY, "reason": NASTY, "expires": "2026-12-31", "was": "fail"}
    lines = [
        make_line(
            f"db{number}",
            [item, dict(item, status="waived", waiver=waiver)],
            evidence=pack({NASTY: reading}),
        )
        for number in range(HOSTS)
    ]
    folder = rendered(tmp_path, lines)
    assert sorted(os.listdir(tmp_path)) == ["run"]
    pages = [folder / "index.html", folder / "report.html", *list((folder / "hosts").iterdir())[:9]]
    for path in pages:
        text = path.read_text()
        page = Page(text)
        assert [tag for tag, _ in page.tags].count("script") == 1
        assert not {tag for tag, _ in page.tags} & {"img", "link", "iframe", "object", "base"}
        assert not any("style" in attributes or "src" in attributes for _, attributes in page.tags)
        assert not re.search("[\x1b\ud800-\udfff\u202e]", text)
        if path.name != "report.html":
            assert markup.escape("<script>alert(1)</script>") in text
        (policy,) = [
            attributes["content"] for _, attributes in page.tags if attributes.get("http-equiv")
        ]
        assert policy.startswith("default-src 'none'") and "unsafe" not in policy


# Rendering again


def test_rendering_again_gives_the_same_pages(tmp_path):
    folder = write_folder(tmp_path / "run", fleet(HOSTS, 3))
    render(folder, generated="2026-11-21T04:00:00Z")
    before = contents(folder)
    render(folder, generated="2026-11-21T04:00:00Z")
    assert contents(folder) == before


def test_pages_of_hosts_that_are_gone_go_and_what_is_not_ours_stays(tmp_path):
    folder = rendered(tmp_path, fleet(HOSTS, 2))
    (folder / "hosts" / "notes.txt").write_text("the reader's own")
    (folder / "hosts" / "mine.html").write_text("<p>the reader's own")
    others = [make_line(f"web{number}", [finding()]) for number in range(HOSTS)]
    write_folder(folder, others)
    render(folder)
    names = {path.name for path in (folder / "hosts").iterdir()}
    assert names == {f"web{number}.html" for number in range(HOSTS)} | {"notes.txt", "mine.html"}
    write_folder(folder, others[:3])
    render(folder)
    assert not (folder / "index.html").exists()
    assert {path.name for path in (folder / "hosts").iterdir()} == {"notes.txt", "mine.html"}
    (folder / "index.html").write_text("<p>the reader's own")
    render(folder)
    assert (folder / "index.html").exists()


def test_a_folder_without_other_files_goes_with_its_pages(tmp_path):
    folder = rendered(tmp_path, fleet(HOSTS, 2))
    write_folder(folder, fleet(3, 2))
    render(folder)
    assert not (folder / "hosts").exists()


def fails(*_):
    raise OSError(28, "No space left on device")


@cases(
    "where what",
    (render_module.JUnit, "end"),
    (many_pages.HostPages, "_add"),
    (many_pages, "host_section"),
    (os, "fsync"),
)
def test_a_report_that_cannot_be_written_leaves_all_pages_as_they_were(
    tmp_path, monkeypatch, where, what
):
    folder = rendered(tmp_path, fleet(HOSTS, 2))
    write_folder(folder, fleet(HOSTS, 2, seed=2))
    before = contents(folder)
    with monkeypatch.context() as patched:
        patched.setattr(where, what, fails)
        with pytest.raises((HostproofError, OSError), match="No space left"):
            render(folder)
    after = contents(folder)
    if what == "fsync":
        # The pages of hosts stand before the first file is forced to the disk.
        after = {name: text for name, text in after.items() if "hosts" not in name}
        before = {name: text for name, text in before.items() if "hosts" not in name}
    assert after == before
    assert not [name for name in os.listdir(folder) if name.startswith(".")]


def test_pages_that_a_process_did_not_write_are_written_all_the_same(tmp_path, monkeypatch):
    for name in ("whole", "died"):
        (tmp_path / name).mkdir()
    whole = rendered(tmp_path / "whole", fleet(HOSTS, 2))
    here, write = os.getpid(), many_pages.HostPages._add

    def dies(pages, state):
        if os.getpid() != here:
            os.kill(os.getpid(), signal.SIGKILL)
        write(pages, state)

    monkeypatch.setattr(many_pages.HostPages, "_add", dies)
    folder = rendered(tmp_path / "died", fleet(HOSTS, 2))
    names = sorted(os.listdir(whole / "hosts"))
    assert sorted(os.listdir(folder / "hosts")) == names and len(names) == HOSTS


def test_pages_are_written_where_no_process_can_be_made(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "fork", fails)
    folder = rendered(tmp_path, fleet(HOSTS, 2))
    assert len(os.listdir(folder / "hosts")) == HOSTS


@cases("kind", "link", "file")
def test_pages_are_written_into_no_folder_of_others(tmp_path, kind):
    folder = write_folder(tmp_path / "run", fleet(HOSTS, 2))
    (tmp_path / "other").mkdir()
    if kind == "link":
        (folder / "hosts").symlink_to(tmp_path / "other")
    else:
        (folder / "hosts").write_text("")
    with pytest.raises(HostproofError, match="hosts is not a directory"):
        render(folder)
    assert os.listdir(tmp_path / "other") == []
    assert not (folder / "report.html").exists()


def test_a_link_in_place_of_pages_is_not_followed_where_none_are_due(tmp_path):
    other = rendered(tmp_path, fleet(HOSTS, 2)) / "hosts"
    few = write_folder(tmp_path / "few", fleet(2, 2))
    (few / "hosts").symlink_to(other)
    render(few)
    assert len(os.listdir(other)) == HOSTS


def test_a_page_that_is_printed_holds_every_host():
    page = formats._rendered(merge(fleet(HOSTS, 2)), "report.html", False)
    assert page.count("<section class=h ") == HOSTS


def test_every_finding_is_in_findings_jsonl_as_it_was(tmp_path):
    folder = write_folder(tmp_path / "run", fleet(HOSTS, 5, evidence=True))
    before = (folder / "findings.jsonl").read_bytes()
    render(folder)
    assert (folder / "findings.jsonl").read_bytes() == before
    document = json.loads((folder / "report.json").read_text())
    assert len(document["hosts"]) == HOSTS

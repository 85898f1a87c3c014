"""report.html in a real browser: the script, the filters, the evidence, paper."""

import json
import re

import pytest
from browsing import BROWSER, PATIENCE, ask, browse
from hostproof_controller.report import html
from hostproof_controller.report.store import merge
from report_samples import fleet
from whole_reports import render_html

pytestmark = pytest.mark.skipif(
    BROWSER is None, reason="no Chromium: the page's script is untested"
)

#: What a reader does, and what the page then says; runs after the page's own script.
PROBE = """<script>(async () => {
  const rest = (time) => new Promise((done) => setTimeout(done, time));
  const form = document.getElementById('filter');
  const output = async () => {
    form.dispatchEvent(new Event('input'));
    await rest(300);
    return form.querySelector('output').textContent;
  };
  const said = {all: form.querySelector('output').textContent, hidden: form.hidden};
  form.elements.all.checked = true;
  await output();
  dispatchEvent(new Event('beforeprint'));
  said.unfolded = document.querySelectorAll('details.o:not([open])').length;
  dispatchEvent(new Event('afterprint'));
  said.folded = document.querySelectorAll('details.o:not([open])').length;
  form.elements.all.checked = false;
  said.copy = document.querySelectorAll('pre.x button').length;
  const evidence = document.querySelector('section.h details.e');
  evidence.open = true;
  while (!evidence.querySelector('pre')?.textContent) await rest(50);
  said.evidence = evidence.querySelector('pre').textContent;
  said.finding = document.querySelector('section.h tbody').textContent;
  form.elements.host.value = 'DB05';
  said.host = await output();
  form.elements.host.value = 'nosuchhost';
  said.none = await output();
  form.elements.host.value = '';
  form.querySelectorAll('input[type=checkbox]').forEach((b) => { b.checked = b.value === 'F'; });
  said.fail = await output();
  const shown = document.querySelectorAll('section.h:not([hidden]) tbody:not([hidden])');
  said.failing = Array.from(shown).map((finding) => finding.className).join('');
  form.reset();
  form.elements.control.value = 'host';
  said.control = await output();
  said.columns = document.querySelectorAll('.m thead th:not([hidden])').length;
  const told = document.createElement('p');
  told.id = 'said';
  told.textContent = JSON.stringify(said);
  document.body.append(told);
})();</script>"""


@pytest.fixture(params=["small", "large"])
def page(request, monkeypatch):
    if request.param == "large":
        monkeypatch.setattr(html, "INLINE_FINDINGS", 0)
        monkeypatch.setattr(html, "INLINE_EVIDENCE", 0)
    return render_html(merge(fleet(12, 11, evidence=True)), "2026-11-21T04:00:00Z")


def test_the_script_does_what_it_says(page, tmp_path):
    open_policy = re.sub(r"script-src '[^']*'", "script-src 'unsafe-inline'", page)
    done = browse(tmp_path, open_policy + PROBE, PATIENCE, "--dump-dom")
    said = json.loads(re.search(r'<p id="said">(.*?)</p>', done.stdout).group(1))
    assert said["hidden"] is False
    assert said["all"] == "122 findings on 12 of 12 hosts shown"
    assert said["unfolded"] == 0 < said["folded"]
    assert said["copy"] == 17
    assert said["evidence"].startswith("MemTotal:       131915804 kB\n")
    for text in ("✗ fail", "No instance uses automatic memory management", "MOS 749851.1"):
        assert said["finding"].count(text) == 1
    assert said["host"] == "11 findings on 1 of 12 hosts shown"
    assert said["none"] == "0 findings on 0 of 12 hosts shown"
    assert said["fail"] == "6 findings on 3 of 12 hosts shown"
    assert said["failing"] == "FFFFFF"
    assert said["control"] == "1 findings on 1 of 12 hosts shown"
    assert said["columns"] == 3


def test_the_page_keeps_to_its_own_policy(page, tmp_path):
    done = browse(tmp_path, page, "--dump-dom")
    assert '<form id="filter" role="search"' in done.stdout, "the script did not run"
    assert "CONSOLE" not in done.stderr


def test_the_policy_refuses_a_script_that_a_host_slipped_in(page, tmp_path):
    done = browse(tmp_path, page + "<script>document.title='owned'</script>", "--dump-dom")
    assert "<title>owned" not in done.stdout
    assert "Content Security Policy" in done.stderr


def test_the_page_prints(page, tmp_path):
    browse(tmp_path, page, "--no-pdf-header-footer", f"--print-to-pdf={tmp_path / 'report.pdf'}")
    pages = (tmp_path / "report.pdf").read_bytes().count(b"/Type /Page\n")
    assert pages > 5


@pytest.fixture
def packed_page(monkeypatch):
    """A large report of which only the worst hosts stand in line."""
    monkeypatch.setattr(html, "INLINE_FINDINGS", 0)
    monkeypatch.setattr(html, "INLINE_EVIDENCE", 0)
    monkeypatch.setattr(html, "INLINE_SECTIONS", 12_000)
    return render_html(merge(fleet(12, 11, evidence=True)), "2026-11-21T04:00:00Z")


def test_findings_that_are_packed_unfold_as_one_comes_to_them(packed_page, tmp_path):
    said = ask(
        tmp_path,
        packed_page,
        """
        const form = document.getElementById('filter');
        const last = document.querySelector('section.h:last-of-type');
        const said = {
          all: form.querySelector('output').textContent,
          before: last.querySelectorAll('tbody').length,
          packed: all('section.h[data-p]').length,
        };
        form.elements.control.value = 'hugepages';
        all('input[type=checkbox]', form).forEach((box) => { box.checked = box.value === 'P'; });
        form.dispatchEvent(new Event('input'));
        await rest(300);
        said.passed = form.querySelector('output').textContent;
        said.shown = '';
        said.hidden = 0;
        for (const section of all('section.h[data-p]:not([hidden])')) {
          section.scrollIntoView();
          while (!section.querySelector('tbody')) await rest(50);
          all('tbody:not([hidden])', section).forEach((one) => { said.shown += one.className; });
          said.hidden += all('tbody[hidden]', section).length;
        }
        form.dispatchEvent(new Event('input'));
        await rest(300);
        said.again = form.querySelector('output').textContent;
        const evidence = last.querySelector('details.e');
        evidence.open = true;
        while (!evidence.querySelector('pre')?.textContent) await rest(50);
        said.evidence = evidence.querySelector('pre').textContent;
        said.why = last.querySelector('p.y').textContent;
        return said;
        """,
    )
    assert said["all"] == "122 findings on 12 of 12 hosts shown"
    assert 0 < said["packed"] < 12 and said["before"] == 0
    assert set(said["shown"]) == {"P"} and said["hidden"]
    assert said["again"] == said["passed"]
    assert said["evidence"].startswith("MemTotal:       131915804 kB\n")
    assert said["why"]


def test_what_is_packed_says_where_else_it_stands_when_it_cannot_be_unpacked(packed_page, tmp_path):
    broken = re.sub(r'"chunks":\["....', '"chunks":["AAAA', packed_page)
    assert broken != packed_page
    said = ask(
        tmp_path,
        broken,
        """
        const last = document.querySelector('section.h:last-of-type');
        last.scrollIntoView();
        while (!last.querySelector('p.dim')) await rest(50);
        return last.querySelector('p.dim').textContent;
        """,
    )
    assert "could not be unpacked" in said and "see report.json" in said


def test_findings_that_are_packed_and_were_not_seen_take_no_paper(packed_page, tmp_path):
    browse(
        tmp_path,
        packed_page,
        "--no-pdf-header-footer",
        f"--print-to-pdf={tmp_path / 'report.pdf'}",
    )
    assert (tmp_path / "report.pdf").read_bytes().count(b"/Type /Page\n") > 2

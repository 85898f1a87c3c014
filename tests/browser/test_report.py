"""report.html in a real browser: the script, the filters, the evidence, paper."""

import json
import re

import pytest
from browsing import BROWSER, PATIENCE, browse
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
  const link = document.querySelector('section.h p.ev a');
  link.click();
  await rest(100);
  const reading = document.getElementById(link.hash.slice(1));
  said.evidence = reading.checkVisibility() && reading.textContent;
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
  const only = (status) => form.querySelectorAll('input[name=status]')
    .forEach((box) => { box.checked = box.value === status; });
  form.reset();
  only('S');
  said.skips = await output();
  said.lines = Array.from(document.querySelectorAll('dl.q>dd'))
    .filter((one) => one.checkVisibility()).length;
  form.elements.host.value = 'db05';
  said.skipsOfHost = await output();
  form.reset();
  form.elements.check.value = 'hugepages.pool_persisted';
  only('P');
  said.check = await output();
  said.heads = Array.from(new Set(Array.from(document.querySelectorAll('dl.q>dt'))
    .filter((one) => one.checkVisibility()).map((one) => one.textContent.replace(/ \\(.*/, ''))));
  form.reset();
  form.elements.control.value = 'host';
  await output();
  said.columns = document.querySelectorAll('.m thead th:not([hidden])').length;
  const told = document.createElement('p');
  told.id = 'said';
  told.textContent = JSON.stringify(said);
  document.body.append(told);
})();</script>"""


@pytest.fixture(scope="module")
def page():
    lines = fleet(12, 11, evidence=True)
    for finding in failures(lines):
        finding["commands"] = ["systemctl daemon-reload"]
    return render_html(merge(lines), "2026-11-21T04:00:00Z")


def failures(lines):
    return [one for line in lines for one in line["findings"] if one["status"] == "fail"]


def test_the_script_does_what_it_says(page, tmp_path):
    open_policy = re.sub(r"script-src '[^']*'", "script-src 'unsafe-inline'", page)
    done = browse(tmp_path, open_policy + PROBE, PATIENCE, "--dump-dom")
    result = json.loads(re.search(r'<p id="said">(.*?)</p>', done.stdout).group(1))
    assert result["hidden"] is False
    assert result["all"] == "122 findings on 12 of 12 hosts shown"
    assert result["unfolded"] == 0 < result["folded"]
    # Only commands have a button: the other fixes are sentences.
    assert result["copy"] == len(failures(fleet(12, 11, evidence=True))) > 0
    assert result["evidence"].startswith("MemTotal:       131915804 kB\n")
    for text in ("✗ fail", "No instance uses automatic memory management", "MOS 749851.1"):
        assert result["finding"].count(text) == 1
    assert result["host"] == "11 findings on 1 of 12 hosts shown"
    assert result["none"] == "0 findings on 0 of 12 hosts shown"
    assert result["fail"] == "6 findings on 3 of 12 hosts shown"
    assert result["failing"] == "FFFFFF"
    assert result["control"] == "1 findings on 1 of 12 hosts shown"
    assert result["columns"] == 3
    findings = [
        (line["host"], one) for line in fleet(12, 11, evidence=True) for one in line["findings"]
    ]
    skips = [host for host, one in findings if one["status"] == "skip"]
    hosts = len(set(skips))
    assert result["skips"] == f"{len(skips)} findings on {hosts} of 12 hosts shown"
    assert 0 < result["lines"] <= len(skips)
    of_host = sum(host.startswith("db05") for host in skips)
    assert result["skipsOfHost"].startswith(f"{of_host} findings on ")
    passed = [one for _, one in findings if one["status"] == "pass"]
    count = sum(one["check"].startswith("hugepages.pool_persisted") for one in passed)
    assert result["check"].startswith(f"{count} findings on ") and count
    assert result["heads"] == ["✓ pass hugepages"]


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

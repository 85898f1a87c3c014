"""The report as people meet it: what first, by link, by filter, on a phone, on paper, for all."""

import functools
import os
import re
import shutil
import subprocess

import example_packs
import pytest
import shared_cache
from ansible.module_utils.hostproof.collect import evidence
from ansible.module_utils.hostproof.collect.host import RecordedHost
from ansible.module_utils.hostproof.evaluate import audit
from browsing import BROWSER, ask, pages_of
from hostproof_controller.report.store import merge
from machines.needs import has
from report_samples import finding, fleet, make_line, pack
from whole_reports import render_html

pytestmark = pytest.mark.skipif(BROWSER is None, reason="no Chromium: the page is not looked at")

NOW = "2026-11-21T04:00:00Z"
AXE = "4.10.3"


@functools.cache
def examples():
    """The report of the six example packs."""
    policies = example_packs.policies()
    lines = []
    for path in sorted(example_packs.FOLDER.glob("*.json")):
        host = RecordedHost(*evidence.open_pack(str(path)))
        findings = [entry.as_dict() for entry in audit.judge_host(host, policies)]
        lines.append(make_line(path.stem, findings, evidence=pack(host.evidence)))
    return render_html(merge(lines), NOW)


def rested_lines():
    """Two hosts: a pool that is too small and what rests on it; one that is well."""
    pool = finding()
    start = finding(
        check="hugepages.sga_in_huge_pages",
        title="ORCL: The SGA lies in huge pages",
        why="It lies in small pages, a needle.",
        because_of=["hugepages.pool_covers_sga"],
    )
    other = finding(check="latency.disk", control="latency", severity="low", status="warn")
    return [
        make_line("db01.example.com", [start, other, pool]),
        make_line("db02", [finding(status="pass")]),
    ]


@pytest.fixture(scope="module")
def page():
    return render_html(merge(rested_lines()), NOW)


SHOWN = """
  const output = document.querySelector('#filter output').textContent;
  const section = document.querySelector('section.h');
"""


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("", "4 findings on 2 of 2 hosts shown"),
        ("?status=W", "1 findings on 1 of 2 hosts shown"),
        ("?severity=low", "1 findings on 1 of 2 hosts shown"),
        ("?check=sga_in", "1 findings on 1 of 2 hosts shown"),
        ("?text=a%20NEEDLE", "1 findings on 1 of 2 hosts shown"),
        ("?host=db01&control=hugepages", "2 findings on 1 of 2 hosts shown"),
        ("?text=nosuchtext", "0 findings on 0 of 2 hosts shown"),
    ],
)
def test_the_address_says_what_is_filtered(page, tmp_path, query, said):
    script = (
        "await rest(400);"
        + SHOWN
        + "return [output, location.search, document.getElementById('filter').hidden];"
    )
    assert ask(tmp_path, page, script, address=query)[0] == said


def node(cluster):
    return finding(
        check="cluster_nodes.complete",
        control="cluster_nodes",
        status="pass",
        values={"cluster": cluster, "node": None, "nodes": None},
    )


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("?cluster=rac1", "3 findings on 2 of 4 hosts shown"),
        ("?cluster=rac2", "1 findings on 1 of 4 hosts shown"),
        ("?cluster=rac1&status=F", "1 findings on 1 of 4 hosts shown"),
        ("?cluster=nosuch", "5 findings on 4 of 4 hosts shown"),
    ],
)
def test_one_cluster_of_many_is_shown(tmp_path, query, said):
    nodes = [("a1", "rac1"), ("a2", "rac1"), ("b1", "rac2")]
    lines = [make_line(host, [node(cluster)]) for host, cluster in nodes]
    lines[0]["findings"].append(finding())
    page = render_html(merge([*lines, make_line("alone", [finding(status="pass")])]), NOW)
    script = "await rest(400);" + SHOWN + "return output;"
    assert ask(tmp_path, page, script, address=query) == said


def test_without_clusters_there_is_no_filter_for_them():
    page = render_html(merge([make_line("alone", [finding()])]), NOW)
    assert "name=cluster" not in page


def test_what_is_filtered_stands_in_the_address(page, tmp_path):
    script = """
      const form = document.getElementById('filter');
      form.elements.severity.value = 'low';
      form.elements.check.value = 'latency';
      form.dispatchEvent(new Event('input'));
      await rest(400);
      return location.search;"""
    assert ask(tmp_path, page, script) == "?severity=low&check=latency"


def test_what_rests_on_a_cause_unfolds_where_the_filter_or_a_link_leads_to_it(page, tmp_path):
    script = """
      await rest(600);
      const cause = document.getElementById('h:db01.example.com/hugepages.pool_covers_sga');
      const id = 'h:db01.example.com/hugepages.sga_in_huge_pages/ORCL';
      const symptom = document.getElementById(id);
      return [cause.contains(symptom), cause.querySelector('.k').open, symptom.checkVisibility(),
        Math.round(symptom.getBoundingClientRect().top) < 900];"""
    anchor = "#h:db01.example.com/hugepages.sga_in_huge_pages/ORCL"
    assert ask(tmp_path, page, script, address=anchor) == [True, True, True, True]
    script = """
      const section = document.querySelector('section.h');
      section.scrollIntoView();
      while (!section.querySelector('.k')) await rest(50);
      return [section.querySelector('.k').open, section.querySelector('.k summary').textContent];"""
    folded = ask(tmp_path, page, script)
    text = "Also resolves 1 finding hugepages.sga_in_huge_pages ORCL"
    assert folded == [False, text]
    assert ask(tmp_path, page, script, address="?text=needle") == [True, text]


def test_the_ids_are_the_same_in_another_report(tmp_path):
    """Hosts that come, go or get better change no link to the others."""

    def ids(lines):
        script = "return all('section.h [id^=\"h:db07\"]').map((one) => one.id);"
        return ask(tmp_path, render_html(merge(lines), NOW), script)

    lines = fleet(12, 11)
    whole = ids(lines)
    # Passed and skipped checks are lines without an id.
    assert whole == ["h:db07/hugepages.transparent_hugepages"]
    assert ids([line for line in lines if line["host"] in ("db07", "db12")]) == whole


#: A phone's width: a window of the headless browser is never so narrow, a frame is.
PHONE = """
  const frame = document.createElement('iframe');
  frame.style = 'width:390px;height:844px;border:0';
  const style = document.querySelector('style');
  const body = document.body.cloneNode(true);
  all('script', body).forEach((one) => one.remove());
  document.body.replaceChildren(frame);
  const inner = frame.contentDocument;
  inner.open();
  inner.write('<!doctype html><meta name=viewport content="width=device-width">');
  inner.close();
  inner.head.append(style.cloneNode(true));
  inner.body.replaceWith(inner.importNode(body, true));
"""


def on_a_phone(tmp_path, page, script):
    """The page without its own policy, which would refuse a frame, and without its script."""
    return ask(
        tmp_path,
        page.replace("Content-Security-Policy", "x-no-policy"),
        PHONE + script,
        "--window-size=800,900",
        "--hide-scrollbars",
    )


def test_the_first_thing_to_do_is_on_the_first_screen_of_a_phone(tmp_path):
    script = """
      const first = inner.querySelector('#first li').getBoundingClientRect();
      const page = inner.documentElement;
      const hint = inner.querySelector('#matrix .sideways');
      return {
        width: page.clientWidth, bottom: first.bottom, beyond: page.scrollWidth - page.clientWidth,
        hint: hint.checkVisibility() && hint.textContent,
        hidden: document.querySelector('.sideways'),
      };"""
    result = on_a_phone(tmp_path, examples(), script)
    assert result["width"] == 390
    assert 200 < result["bottom"] < 844
    assert result["beyond"] == 0
    assert "all columns" in result["hint"]


def test_a_wide_screen_says_nothing_of_scrolling(tmp_path):
    script = "return document.querySelector('#matrix .sideways').checkVisibility();"
    assert ask(tmp_path, examples(), script, "--window-size=1280,900") is False


def test_six_hosts_take_ten_pages_at_most_and_a_filter_less(tmp_path):
    assert 7 <= pages_of(tmp_path, examples()) <= 10
    assert pages_of(tmp_path, examples(), address="?host=db02") == 2
    assert pages_of(tmp_path, examples(), "--virtual-time-budget=5000", address="?all=1") > 10


def test_the_summary_to_sign_is_one_page_however_many_hosts_there_are(tmp_path):
    """The worst hosts are printed, and the page says how many there are."""
    page = render_html(merge(fleet(200, 2)), NOW)
    assert "Printed: the worst 14 of 200 hosts" in page
    # Nobody's findings but one host's: a page to sign, and one for the host.
    assert pages_of(tmp_path, page, address="?host=db007&status=P") <= 2


def test_the_matrix_and_the_actions_follow_the_filters(tmp_path):
    """A cell counts what the filters leave; the number of hosts of an action filters its hosts."""
    script = """
      const form = document.getElementById('filter');
      const shown = (nodes) => Array.from(nodes).filter((node) => !node.hidden);
      const look = async (change) => {
        change();
        form.dispatchEvent(new Event('input'));
        await new Promise((done) => setTimeout(done, 300));
        const rows = shown(document.querySelectorAll('.m tbody tr'));
        const cells = rows.flatMap((row) => shown(row.cells).slice(2));
        return {rows: rows.length, heads: shown(document.querySelectorAll('.m thead th')).length,
                kinds: [...new Set(cells.map((cell) => cell.className))].sort().join(''),
                texts: [...new Set(cells.map((cell) => cell.textContent))].sort(),
                causes: !document.getElementById('causes').hidden};
      };
      const boxes = form.querySelectorAll('input[name=status]');
      const link = document.querySelector('#first li a');
      const said = {number: parseInt(link.textContent), href: link.getAttribute('href')};
      said.all = await look(() => {});
      said.warn = await look(() => boxes.forEach((box) => { box.checked = box.value === 'W'; }));
      said.again = await look(() => boxes.forEach((box) => { box.checked = true; }));
      said.first = await look(() => { form.elements.first.value = '1'; });
      return said;
    """
    result = ask(tmp_path, examples(), script)
    assert result["again"] == result["all"]
    assert result["all"]["causes"] and not result["warn"]["causes"]
    assert result["warn"]["kinds"] == "W"
    assert all("warn" in text for text in result["warn"]["texts"] if text)
    assert result["warn"]["heads"] < result["all"]["heads"]
    assert result["href"] == "?first=1#matrix"
    assert result["first"]["rows"] == result["number"] < result["all"]["rows"]


def test_paper_holds_every_column_of_the_matrix(tmp_path):
    """A sheet has no scroll bar: what is wider than it is lost. Letter is narrower than A4."""
    # A headless browser answers for the screen only, so that the rules for paper are made its own.
    page = examples().replace("@media print{", "@media all{")
    page = re.sub(r"style-src '[^']*'", "style-src 'unsafe-inline'", page)
    # The columns of 25 controls, whatever the examples skip.
    script = """
      for (const row of document.querySelectorAll('.m tr')) {
        while (row.cells.length < 27) row.append(row.cells[row.cells.length - 1].cloneNode(true));
      }
      const box = document.querySelector('.m table').getBoundingClientRect();
      return {columns: document.querySelectorAll('.m thead th').length, right: box.right,
              sheet: document.documentElement.clientWidth,
              overflow: document.documentElement.scrollWidth};
    """
    # 11 inches less the margins of 12 mm on both sides.
    result = ask(tmp_path, page, script, "--window-size=965,700", "--hide-scrollbars")
    assert result["columns"] == 27
    assert result["sheet"] == 965
    assert result["right"] <= 965
    assert result["overflow"] <= 965


@pytest.fixture(scope="session")
def axe():
    """axe-core, by npm; where neither the file nor npm is there, the tests say so."""
    path = shared_cache.folder() / f"axe-core-{AXE}.min.js"
    if not path.exists():
        if not has("npm"):
            pytest.skip("no npm: axe-core cannot be had")
        folder = shared_cache.folder() / f"axe-{os.getpid()}"
        command = ["npm", "install", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix"]
        done = subprocess.run([*command, str(folder), f"axe-core@{AXE}"], capture_output=True)
        if done.returncode:
            shutil.rmtree(folder, ignore_errors=True)
            pytest.skip("npm cannot fetch axe-core")
        os.replace(folder / "node_modules/axe-core/axe.min.js", path)
        shutil.rmtree(folder, ignore_errors=True)
    return path.read_text()


@functools.cache
def samples():
    return render_html(merge([*rested_lines(), *fleet(6, 9, evidence=True)[2:]]), NOW)


@pytest.mark.parametrize(
    ("scheme", "size", "content"),
    [
        ("light", "1280,900", samples),
        ("light", "390,844", samples),
        ("dark", "1280,900", samples),
        ("dark", "390,844", samples),
        ("light", "1280,900", examples),
        ("dark", "390,844", examples),
    ],
)
def test_axe_finds_nothing(axe, tmp_path, scheme, size, content):
    """All details are open, on a wide screen and on a phone.

    A few findings of each status and host stay: axe takes minutes for all of the examples.
    """
    unfold = """
      for (const section of all('section.h')) {
        for (const status of ['F', 'W', 'S', 'P', 'E']) {
          all('tbody.' + status, section).slice(4).forEach((finding) => finding.remove());
        }
      }
      for (let before = -1; before < all('details').length;) {
        before = all('details').length;
        all('details').forEach((box) => { box.open = true; });
        for (const section of all('section.h')) { section.scrollIntoView(); await rest(50); }
      }
      const found = await axe.run(document, {resultTypes: ['violations']});
      return [found.passes.length, found.violations.map((one) =>
        [one.id, one.nodes.slice(0, 3).map((node) => node.html.slice(0, 200))])];"""
    page = content()
    page = page.replace("Content-Security-Policy", "x-no-policy")
    page += f"<script>{axe}</script>"
    options = ["--blink-settings=preferredColorScheme=0"] if scheme == "dark" else []
    options.append(f"--window-size={size}")
    passes, violations = ask(tmp_path, page, unfold, *options)
    assert violations == []
    assert passes > 15

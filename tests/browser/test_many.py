"""The report of many hosts in a real browser: index, pages of hosts, and links of old reports."""

import datetime
import functools
import re
import subprocess

import pytest
from browsing import BROWSER, OPTIONS, PATIENCE, ask, browse, pages_of
from hostproof_controller.report.render import render_folder
from report_samples import finding, fleet, make_line, write_folder
from test_first import axe, on_a_phone  # noqa: F401

pytestmark = pytest.mark.skipif(
    BROWSER is None, reason="no Chromium: the script of the pages is untested"
)

HOSTS = 600
#: Made like all others, it passes everything but this.
HOST = "db432"
NASTY = "Clip <script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\">"


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    folder = tmp_path_factory.mktemp("many") / "run"
    lines = fleet(HOSTS, 11, evidence=True)
    line = lines[431]
    assert line["host"] == HOST
    line["findings"] = [
        *(dict(entry, status="pass", fix=None, waiver=None) for entry in line["findings"]),
        finding(check="hugepages.odd_one", title=NASTY, status="warn", running=NASTY),
    ]
    lines.append(make_line("fe80::1%eth0", [finding(check="hugepages.odd_one", status="warn")]))
    write_folder(folder, lines)
    render_folder(str(folder), today=datetime.date(2026, 11, 21), known_checks=set)
    return folder


@functools.cache
def text_of(path):
    return path.read_text()


@pytest.fixture
def index(report):
    return text_of(report / "index.html")


@pytest.fixture
def host_page(report):
    return text_of(report / "hosts" / f"{HOST}.html")


def test_the_index_lays_out_the_worst_hosts_and_more_when_asked(tmp_path, index):
    script = """
      const rows = () => all('.m tbody tr').filter((row) => row.offsetParent !== null).length;
      const more = document.getElementById('more');
      const said = {
        output: document.querySelector('#filter output').textContent,
        rows: [rows()],
        more: [more.textContent],
      };
      more.click();
      said.rows.push(rows());
      said.more.push(more.textContent);
      const box = document.querySelector('.m');
      box.scrollTop = box.scrollHeight;
      await rest(300);
      said.rows.push(rows());
      return said;"""
    result = ask(tmp_path, index, script)
    assert result["output"].endswith(" findings on 601 of 601 hosts shown")
    assert result["rows"] == [200, 400, 600]
    assert result["more"] == ["Show 200 more of 401 hosts", "Show 200 more of 201 hosts"]


FOUND = """
    await rest(400);
    const shown = all('.causes a').filter((link) => !link.closest('[hidden]'));
    return {
      output: document.querySelector('#filter output').textContent,
      links: shown.length,
      first: shown[0] && shown[0].getAttribute('href'),
      rows: all('.m tbody tr:not([hidden])').map((row) => row.cells[0].textContent).slice(0, 3),
      images: all('.causes img,.causes script').length,
      title: document.title,
    };
"""


@pytest.mark.parametrize(
    ("address", "output", "rows"),
    [
        ("?check=odd_one", "2 findings on 2 of 601 hosts shown", ["fe80::1%eth0", HOST]),
        ("?text=clip", "1 findings on 1 of 601 hosts shown", [HOST]),
        (f"?host={HOST}", "1 findings on 1 of 601 hosts shown", [HOST]),
        (f"?host={HOST}&status=F", "0 findings on 0 of 601 hosts shown", []),
        ("?check=odd_one&severity=low", "0 findings on 0 of 601 hosts shown", []),
        ("?text=nosuchtext", "0 findings on 0 of 601 hosts shown", []),
    ],
)
def test_the_index_is_filtered_by_cause_and_by_host(tmp_path, index, address, output, rows):
    result = ask(tmp_path, index, FOUND, address=address)
    assert result["output"] == output
    assert sorted(result["rows"]) == sorted(rows)
    assert result["links"] == int(output.split()[0])
    assert result["images"] == 0 and "owned" not in result["title"]
    if address == "?text=clip":
        assert result["first"].startswith(f"hosts/{HOST}.html#h:{HOST}/hugepages.odd_one")


def test_a_filter_that_is_taken_back_shows_everything_again(tmp_path, index):
    script = """
      const output = () => document.querySelector('#filter output').textContent;
      const form = document.getElementById('filter');
      const hidden = () => all('.causes [hidden], .m [hidden]').length;
      const before = [output(), hidden()];
      form.elements.check.value = 'odd_one';
      form.elements.control.value = 'hugepages';
      form.dispatchEvent(new Event('input'));
      await rest(400);
      const narrow = [output(), hidden() > 100];
      form.reset();
      await rest(400);
      return [before, narrow, [output(), hidden()]];"""
    before, narrow, after = ask(tmp_path, index, script)
    assert narrow == ["2 findings on 2 of 601 hosts shown", True]
    assert before == after and before[1] == 0


def opened(path, address, *options):
    """The document that a browser ends with, which may be another page."""
    profile = f"--user-data-dir={path.parent / 'profile'}"
    command = [BROWSER, *OPTIONS, profile, PATIENCE, "--dump-dom", *options]
    done = subprocess.run(
        [*command, path.as_uri() + address], capture_output=True, text=True, timeout=600, check=True
    )
    return done.stdout


def test_an_old_link_leads_to_the_page_of_its_host(report):
    page = report / "report.html"
    shown = opened(page, f"#h:{HOST}/hugepages.odd_one")
    assert f"<title>Hostproof: {HOST}: ready with warnings</title>" in shown
    assert "601 findings" not in shown
    (odd,) = re.findall(r'<a id="([^"]+)" href="hosts/fe80__1_eth0-', text_of(page))
    assert "<title>Hostproof: fe80::1%eth0: ready with warnings</title>" in opened(page, f"#{odd}")
    for address in ("", "#h:nosuch", "#%E0%A4%A", '#h:db1"onload=alert(1)'):
        assert 'class="causes"' in opened(page, address)
    assert "1 findings on 1 of 601 hosts" in opened(page, f"?host={HOST}")


def test_a_link_into_a_page_unfolds_what_it_leads_to(tmp_path, host_page):
    script = """
      await rest(300);
      const id = decodeURIComponent(location.hash.slice(1));
      const target = document.getElementById(id);
      return [target.checkVisibility(), Math.round(target.getBoundingClientRect().top) < 900,
        document.querySelector('#filter output').textContent];"""
    output = "12 findings shown"
    for anchor in (f"#h:{HOST}/hugepages.odd_one", f"#h:{HOST}/e1"):
        assert ask(tmp_path, host_page, script, address=anchor) == [True, True, output]


def test_a_page_of_a_host_is_filtered_by_itself(tmp_path, host_page):
    script = """
      await rest(300);
      return [document.querySelector('#filter output').textContent,
        all('.g>tbody').filter((one) => one.checkVisibility()).length,
        all('section.h img,section.h script').length, document.title];"""
    output, shown, slipped, title = ask(tmp_path, host_page, script, address="?text=CLIP")
    assert output == "1 findings shown"
    assert (shown, slipped) == (1, 0)
    assert title == f"Hostproof: {HOST}: ready with warnings"


@pytest.mark.parametrize("name", ["index.html", f"hosts/{HOST}.html", "report.html"])
def test_every_page_keeps_to_its_policy_and_refuses_what_was_slipped_in(tmp_path, report, name):
    page = text_of(report / name)
    if name != "report.html":
        assert "CONSOLE" not in browse(tmp_path, page, PATIENCE, "--dump-dom").stderr
    slipped = page.replace("<script>", "<script>document.title='owned'</script><script>", 1)
    done = browse(tmp_path, slipped, "--dump-dom")
    assert "<title>owned" not in done.stdout
    assert "Content Security Policy" in done.stderr


@pytest.mark.parametrize("name", ["index.html", f"hosts/{HOST}.html", "report.html"])
def test_every_page_is_whole_without_a_script(tmp_path, report, name):
    page = re.sub("<script>.*</script>", "", text_of(report / name), flags=re.DOTALL)
    shown = ask(
        tmp_path,
        page,
        """return {
          text: document.body.textContent,
          filter: document.getElementById('filter') && !document.getElementById('filter').hidden,
          rows: all('.m tbody tr').length,
          links: all('a').length,
        };""",
    )
    assert not shown["filter"]
    if name == "index.html":
        assert shown["rows"] == HOSTS + 1
        assert "Findings by cause" in shown["text"]
    elif name == "report.html":
        assert shown["links"] > HOSTS
    else:
        assert "hugepages.odd_one" in shown["text"]


def test_paper_has_a_summary_to_sign_and_what_a_filter_leaves(tmp_path, index, host_page):
    summary = pages_of(tmp_path, index, PATIENCE, address="?text=nosuchtext")
    assert pages_of(tmp_path, index, PATIENCE) > summary
    assert pages_of(tmp_path, host_page) <= 2
    assert pages_of(tmp_path, host_page, PATIENCE, address="?all=1") >= 1


@pytest.mark.parametrize("name", ["index.html", f"hosts/{HOST}.html"])
def test_a_phone_scrolls_down_only(tmp_path, report, name):
    script = """
      const page = inner.documentElement;
      return [page.clientWidth, page.scrollWidth - page.clientWidth];"""
    assert on_a_phone(tmp_path, text_of(report / name), script) == [390, 0]


@pytest.mark.parametrize("name", ["index.html", f"hosts/{HOST}.html", "report.html"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_on_any_page(axe, tmp_path, report, name, scheme):  # noqa: F811
    script = """
      all('.causes>details').slice(3).forEach((one) => one.remove());
      all('details').forEach((box) => { box.open = true; });
      const found = await axe.run(document, {resultTypes: ['violations']});
      return [found.passes.length, found.violations.map((one) =>
        [one.id, one.nodes.slice(0, 3).map((node) => node.html.slice(0, 200))])];"""
    page = text_of(report / name).replace("Content-Security-Policy", "x-no-policy")
    page = page.replace("location.replace(", "void (")
    page += f"<script>{axe}</script>"
    options = ["--blink-settings=preferredColorScheme=0"] if scheme == "dark" else []
    passes, violations = ask(tmp_path, page, script, *options)
    assert violations == []
    assert passes > 10

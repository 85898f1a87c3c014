"""report.html of 5,000 hosts in a real browser: what is not unfolded stands in files beside it."""

import datetime
import shutil

import pytest
from browsing import BROWSER, PATIENCE, ask, browse, pages_of
from hostproof_controller.report.render import render_folder
from report_samples import finding, fleet, write_folder

pytestmark = pytest.mark.skipif(
    BROWSER is None, reason="no Chromium: the page's script is untested"
)

HOSTS = 5000
#: Made like all others, it passes everything but this; the worst hosts stand in the page itself.
HOST, WORD = "db4321", "Zwischenablage"
NASTY = (
    f"{WORD} <script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\">"
)


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    """A report folder; the page's text is beside it."""
    folder = tmp_path_factory.mktemp("many") / "run"
    lines = fleet(HOSTS, 11, evidence=True)
    line = lines[4320]
    assert line["host"] == HOST
    line["findings"] = [
        *(dict(one, status="pass", fix=None, waiver=None) for one in line["findings"]),
        finding(check="hugepages.odd_one", title=NASTY, status="warn", running=NASTY),
    ]
    write_folder(folder, lines)
    render_folder(str(folder), today=datetime.date(2026, 11, 21), known_checks=set)
    return folder


@pytest.fixture
def opened(report, tmp_path):
    """The report as a folder of the test's own, and the text of its page."""
    (tmp_path / "report.d").symlink_to(report / "report.d")
    return tmp_path, (report / "report.html").read_text()


def test_it_opens_with_what_stands_in_the_page(opened):
    said = ask(
        *opened,
        """
        const rows = () => all('.m tbody tr').filter((row) => row.offsetParent !== null).length;
        const more = document.getElementById('more');
        const said = {
          output: document.querySelector('#filter output').textContent,
          loaded: all('section.h[data-p][data-full]').length,
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
        return said;
        """,
    )
    assert said["output"].endswith("findings on 5000 of 5000 hosts shown")
    assert said["loaded"] == 0
    assert said["rows"] == [200, 400, 600]
    assert said["more"] == ["Show 200 more of 4800 hosts", "Show 200 more of 4600 hosts"]


LOOK = f"""
    const section = document.getElementById('h:{HOST}');
    for (let i = 0; i < 200 && !section.querySelector('tbody.W'); i += 1) await rest(50);
    const finding = section.querySelector('tbody.W');
    return {{
      output: document.querySelector('#filter output').textContent,
      text: finding.textContent,
      images: all('img,script', section).length,
      title: document.title,
      open: all('section.h:not([hidden])').length,
    }};
"""


def test_a_link_to_a_finding_loads_its_host(opened):
    said = ask(*opened, LOOK, address=f"#h:{HOST}/hugepages.odd_one")
    assert said["text"].count(NASTY) == 2, "what a host says is text"
    assert (said["images"], said["open"]) == (0, HOSTS)
    assert "owned" not in said["title"]


@pytest.mark.parametrize("address", [f"?host={HOST}", f"?text={WORD}", "?check=odd_one"])
def test_a_filter_finds_what_is_not_loaded(opened, address):
    said = ask(
        *opened,
        "while (document.querySelector('#filter output').textContent"
        ".indexOf(' 1 of ') < 0) await rest(50);" + LOOK,
        address=address,
    )
    found = 12 if "host=" in address else 1
    assert said["output"] == f"{found} findings on 1 of 5000 hosts shown"
    assert NASTY in said["text"]
    assert (said["images"], said["open"]) == (0, 1)


def test_evidence_unfolds_from_the_files_too(opened):
    said = ask(
        *opened,
        f"""
        const section = document.getElementById('h:{HOST}');
        for (let i = 0; i < 200 && !section.querySelector('.e'); i += 1) await rest(50);
        const box = section.querySelector('.e');
        box.open = true;
        for (let i = 0; i < 200 && !box.querySelector('pre'); i += 1) await rest(50);
        return box.querySelector('pre').textContent;
        """,
        address=f"#h:{HOST}",
    )
    assert said.startswith("MemTotal:       131915804 kB\n")


def test_what_a_filter_leaves_is_printed(opened):
    folder, page = opened
    summary = pages_of(folder, page, PATIENCE, address="?host=nosuchhost")
    assert pages_of(folder, page, PATIENCE, address=f"?host={HOST}") == summary + 1


UNREADABLE = f"""
    const section = document.getElementById('h:{HOST}');
    for (let i = 0; i < 200 && !section.querySelector('p.dim'); i += 1) await rest(50);
    return [section.querySelector('p.dim').textContent, document.title];
"""


@pytest.mark.parametrize(
    ("call", "said"),
    [
        ("", "beside this page cannot be read"),
        ('hostproof("another","AAAA")', "beside this page cannot be read"),
        ('hostproof("NAME",{toString() { return "<b>"; }})', "could not be unpacked"),
    ],
)
def test_a_file_of_another_form_is_no_finding(report, tmp_path, call, said):
    (tmp_path / "report.d").mkdir()
    for one in (report / "report.d").iterdir():
        (tmp_path / "report.d" / one.name).write_text(call.replace("NAME", one.stem))
    page = (report / "report.html").read_text()
    text, _ = ask(tmp_path, page, UNREADABLE, address=f"#h:{HOST}")
    assert said in text and "see report.json" in text


def test_a_missing_file_is_said(report, tmp_path):
    shutil.copy(report / "report.html", tmp_path / "copy.html")
    done = browse(
        tmp_path,
        (report / "report.html").read_text(),
        PATIENCE,
        "--dump-dom",
        address=f"#h:{HOST}",
    )
    assert "beside this page cannot be read): see report.json" in done.stdout


def test_the_policy_refuses_a_file_that_a_host_slipped_in(report, tmp_path):
    page = (report / "report.html").read_text()
    assert "'strict-dynamic'" in page
    (tmp_path / "report.d").mkdir()
    (tmp_path / "report.d" / "x.js").write_text("document.title = 'owned'")
    slipped = page.replace("<section id=findings>", "<script src=report.d/x.js></script>" * 2, 1)
    done = browse(tmp_path, slipped, "--dump-dom")
    assert "<title>owned" not in done.stdout
    assert "Content Security Policy" in done.stderr

"""The files beside the page of many hosts: which there are, what they hold, when they go."""

import base64
import datetime
import json
import os
import re
import stat
import zlib

import pytest
from ansible.module_utils.hostproof.errors import HostproofError
from hostproof_controller.cli import report_formats
from hostproof_controller.report import html
from hostproof_controller.report import render as render_module
from hostproof_controller.report.beside import Beside
from hostproof_controller.report.render import Draft, render_folder
from hostproof_controller.report.store import merge
from report_samples import finding, fleet, make_line, write_folder

HOSTS = 40
NASTY = '</script><script>alert(1)</script>");alert(2);("\u2028*/'


@pytest.fixture(autouse=True)
def many(monkeypatch):
    """Forty hosts are very many; none of them stands in line."""
    monkeypatch.setattr(html, "BESIDE_HOSTS", HOSTS - 1)
    for name in ("INLINE_FINDINGS", "INLINE_EVIDENCE", "INLINE_SECTIONS"):
        monkeypatch.setattr(html, name, 0)


def render(folder, **options):
    today = datetime.date(2026, 11, 21)
    return render_folder(str(folder), today=today, known_checks=set, **options)


def lines_of(seed=1, hosts=HOSTS):
    return fleet(hosts, 11, evidence=True, seed=seed)


def files_of(folder):
    return sorted(path.name for path in (folder / "report.d").iterdir())


def index_of(folder):
    page = (folder / "report.html").read_text()
    return json.loads(re.search(r"<script type=application/json id=ev>(.*?)</script>", page)[1])


def loaded(folder, name):
    """What the page gets of a file."""
    text = (folder / "report.d" / f"{name}.js").read_text()
    called, packed = re.fullmatch(
        r'hostproof\("([0-9a-f]{20})","([A-Za-z0-9+/=]+)"\)\n', text
    ).groups()
    assert called == name
    return json.loads(zlib.decompress(base64.b64decode(packed)))


def test_each_host_has_its_findings_and_evidence_in_a_file(tmp_path):
    folder = write_folder(tmp_path / "run", lines_of())
    render(folder)
    index = index_of(folder)
    assert index["beside"] is True and len(index["sections"]) == HOSTS
    assert {f"{name}.js" for name in index["chunks"]} == set(files_of(folder))
    chunks = [loaded(folder, name) for name in index["chunks"]]
    for host, (chunk, place) in index["sections"].items():
        assert f'id="{host}/' in chunks[chunk][place][1]
    texts = [
        chunks[chunk][place][1] for one in index["hosts"].values() for chunk, place in one.values()
    ]
    assert any(text.startswith("MemTotal:") for text in texts)
    page = (folder / "report.html").read_text()
    assert "files of report.d beside this page" in page and "packed into this page" not in page


def test_a_host_writes_no_name_and_no_code(tmp_path):
    lines = [
        make_line(f"db{number}", [finding(title=NASTY, running=NASTY, why=NASTY)])
        for number in range(HOSTS)
    ]
    folder = write_folder(tmp_path / "run", lines)
    render(folder)
    assert all(re.fullmatch(r"[0-9a-f]{20}\.js", name) for name in files_of(folder))
    for name in index_of(folder)["chunks"]:
        for _, text in loaded(folder, name):
            assert "alert(1)" in text and "<script" not in text
    assert sorted(path.name for path in tmp_path.iterdir()) == ["run"]


def test_the_files_are_for_their_owner_and_the_page_lets_only_its_script_load_them(tmp_path):
    folder = write_folder(tmp_path / "run", lines_of())
    render(folder)
    assert stat.S_IMODE((folder / "report.d").stat().st_mode) == 0o700
    assert {stat.S_IMODE(one.stat().st_mode) for one in (folder / "report.d").iterdir()} == {0o600}
    page = (folder / "report.html").read_text()
    (policy,) = re.findall(r'content="(default-src[^"]*)"', page)
    assert re.search(r";script-src 'sha256-[^']+' 'strict-dynamic';", policy)
    assert policy.startswith("default-src 'none';")


def test_as_many_hosts_as_one_mails_stay_one_file(tmp_path):
    folder = write_folder(tmp_path / "run", lines_of(hosts=HOSTS - 1))
    render(folder)
    assert not (folder / "report.d").exists()
    assert index_of(folder)["beside"] is False
    assert "strict-dynamic" not in (folder / "report.html").read_text().split("<body>")[0]


def test_rendering_again_keeps_the_files_and_other_findings_replace_them(tmp_path):
    folder = write_folder(tmp_path / "run", lines_of())
    render(folder)
    before = files_of(folder)
    render(folder)
    assert files_of(folder) == before
    (folder / "report.d" / "notes.txt").write_text("the reader's own")
    (folder / "findings.jsonl").write_text(
        "".join(json.dumps(one) + "\n" for one in lines_of(seed=2))
    )
    render(folder)
    assert "notes.txt" in files_of(folder) and not set(before) & set(files_of(folder))
    assert {f"{name}.js" for name in index_of(folder)["chunks"]} < set(files_of(folder))


def test_a_report_of_few_hosts_removes_the_files_of_the_one_before(tmp_path):
    folder = write_folder(tmp_path / "run", lines_of())
    render(folder)
    few = lines_of(hosts=3)
    (folder / "findings.jsonl").write_text("".join(json.dumps(one) + "\n" for one in few))
    render(folder)
    assert not (folder / "report.d").exists()


def fails(*_):
    raise OSError(28, "No space left on device")


@pytest.mark.parametrize(
    ("where", "what"), [(render_module.JUnit, "end"), (Beside, "add"), (os, "fsync")]
)
def test_a_report_that_cannot_be_written_leaves_page_and_files_as_they_were(
    tmp_path, monkeypatch, where, what
):
    folder = write_folder(tmp_path / "run", lines_of())
    render(folder)
    before = {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    (folder / "findings.jsonl").write_text(
        "".join(json.dumps(one) + "\n" for one in lines_of(seed=2))
    )
    before[str(folder / "findings.jsonl")] = (folder / "findings.jsonl").read_bytes()
    with monkeypatch.context() as patched:
        patched.setattr(where, what, fails)
        with pytest.raises((HostproofError, OSError), match="No space left"):
            render(folder)
    assert {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before


def test_the_old_page_finds_its_files_until_the_new_one_stands(tmp_path, monkeypatch):
    folder = write_folder(tmp_path / "run", lines_of())
    render(folder)
    old = set(files_of(folder))
    (folder / "findings.jsonl").write_text(
        "".join(json.dumps(one) + "\n" for one in lines_of(seed=2))
    )
    seen = []
    replace = Draft.replace

    def looked(draft, *arguments):
        if draft.path.endswith("report.html"):
            seen.append(set(files_of(folder)))
        replace(draft, *arguments)

    monkeypatch.setattr(Draft, "replace", looked)
    render(folder)
    assert seen[0] == old | set(files_of(folder)) and not old & set(files_of(folder))


def test_a_page_that_is_printed_is_whole(tmp_path):
    page = report_formats._rendered(merge(lines_of()), "report.html", False)
    (text,) = re.findall(r"<script type=application/json id=ev>(.*?)</script>", page)
    assert json.loads(text)["beside"] is False

"""Rendering a folder, and the command line around it."""

import datetime
import json
import os
import re
import stat

import pytest
from cases import cases
from hostproof_controller.report import __main__ as command
from hostproof_controller.report.render import render_folder, write_private
from hostproof_controller.report.waivers import parse_waivers
from report_samples import finding, fleet, make_line, write_folder

TODAY = datetime.date(2026, 11, 21)
NOW = "2026-11-21T04:00:00Z"
KNOWN = {"hugepages.pool_covers_sga"}
FORMS = ["report.html", "report.json", "report.prom", "report.xml"]

WAIVERS = """\
- check: hugepages.pool_covers_sga
  hosts: db*
  owner: dba-team@example.com
  reason: CHG0041
  expires: 2099-01-31
"""

#: Two to the power of thirty of one word.
BOMB = "- &a0 [x]\n" + "".join(f"- &a{n} [*a{n - 1}, *a{n - 1}]\n" for n in range(1, 31))


def render(folder, **options):
    return render_folder(
        str(folder), today=TODAY, known_checks=lambda: KNOWN, generated=NOW, **options
    )


def waivers(**changes):
    entry = {
        "check": "hugepages.pool_covers_sga",
        "hosts": "db*",
        "owner": "dba",
        "reason": "CHG0041",
        "expires": "2099-01-31",
    }
    return parse_waivers([dict(entry, **changes)])


def content(folder):
    return {path.name: path.read_text() for path in folder.iterdir()}


def test_every_form_is_written_privately(tmp_path):
    folder = write_folder(tmp_path / "run", fleet(6))
    rendered = render(folder)
    assert sorted(rendered.paths) == FORMS
    assert sorted(content(folder)) == ["findings.jsonl", *FORMS]
    for name in FORMS:
        assert stat.S_IMODE((folder / name).stat().st_mode) == 0o600
    assert rendered.exit_code == json.loads((folder / "report.json").read_text())["exit_code"]
    assert list(rendered.verdicts) == [f"db0{number}" for number in range(1, 7)]
    assert "Findings: " in rendered.summary


def test_a_folder_without_findings_is_a_run_without_results(tmp_path):
    rendered = render(tmp_path)
    assert rendered.exit_code == 3
    assert "run.hosts_matched" in rendered.summary
    assert sorted(content(tmp_path)) == FORMS


def test_rendering_again_changes_nothing(tmp_path):
    folder = write_folder(tmp_path / "run", fleet(6))
    render(folder, waivers=waivers())
    once = content(folder)
    render(folder, waivers=waivers())
    assert content(folder) == once
    render(folder)
    assert content(folder) == once


def test_a_waiver_turns_the_exit_code_and_all_files_agree(tmp_path, validate):
    folder = write_folder(tmp_path / "run", [make_line("db01", [finding()])])
    assert render(folder).exit_code == 2
    rendered = render(folder, waivers=waivers())
    assert rendered.exit_code == 0
    assert rendered.verdicts == {"db01": "ready"}
    (line,) = [json.loads(text) for text in (folder / "findings.jsonl").read_text().splitlines()]
    validate(line)
    assert line["findings"][0]["status"] == "waived"
    texts = content(folder)
    assert json.loads(texts["report.json"])["totals"]["findings"]["waived"] == 1
    assert 'status="waived"' in texts["report.prom"]
    assert "waived until 2099-01-31" in texts["report.xml"]
    assert "~ waived" in texts["report.html"]


def test_an_expired_waiver_does_not_waive(tmp_path, validate):
    folder = write_folder(tmp_path / "run", [make_line("db01", [finding()])])
    rendered = render(folder, waivers=waivers(expires="2026-11-20"))
    assert rendered.exit_code == 2
    line = json.loads((folder / "findings.jsonl").read_text())
    validate(line)
    assert [(f["check"], f["status"]) for f in line["findings"]] == [
        ("hugepages.pool_covers_sga", "fail"),
        ("waiver.expired", "warn"),
    ]


def test_findings_about_waivers_count_but_are_no_host(tmp_path, validate):
    folder = write_folder(tmp_path / "run", [make_line("db01", [finding(status="pass")])])
    rendered = render(folder, waivers=waivers(check="hugepages.nonsense"))
    assert rendered.verdicts == {"db01": "ready"}
    assert rendered.exit_code == 3
    lines = [json.loads(text) for text in (folder / "findings.jsonl").read_text().splitlines()]
    assert [line["host"] for line in lines] == ["db01", "(waivers)"]
    for line in lines:
        validate(line)
    assert "<h2>Waivers" in (folder / "report.html").read_text()
    assert render(folder, waivers=[]).exit_code == 0
    assert len((folder / "findings.jsonl").read_text().splitlines()) == 1


def test_strict_counts_warnings(tmp_path):
    folder = write_folder(tmp_path / "run", [make_line("db01", [finding(status="warn")])])
    assert render(folder).exit_code == 0
    assert render(folder, strict=True).exit_code == 2


def test_any_bytes_can_be_written(tmp_path):
    nasty = "\ud800\udcff\x00\uffff"
    line = make_line("db01", [finding(why=nasty, running=nasty, fix=nasty, title=nasty)])
    folder = write_folder(tmp_path / "run", [line])
    assert render(folder, waivers=waivers()).exit_code == 0
    for text in content(folder).values():
        text.encode("utf-8")


def test_a_failed_write_leaves_the_old_file_and_no_draft(tmp_path, monkeypatch):
    path = tmp_path / "report.json"
    write_private(str(path), "old")

    def refuse(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", refuse)
    with pytest.raises(Exception, match=r"report.json: No space left on device"):
        write_private(str(path), "new")
    assert content(tmp_path) == {"report.json": "old"}


# The command line


@pytest.fixture
def elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_one_folder_is_rendered_in_place(elsewhere, capsys):
    folder = write_folder(elsewhere / "run", fleet(3))
    before = (folder / "findings.jsonl").read_bytes()
    code = command.main([str(folder)])
    assert code in (0, 2, 3)
    assert (folder / "findings.jsonl").read_bytes() == before
    assert capsys.readouterr().out.endswith(f"\nReport: {folder}/report.html\n")
    assert [path.name for path in elsewhere.iterdir()] == ["run"]


def test_several_folders_make_a_new_one(elsewhere, capsys):
    lines = fleet(4)
    first = write_folder(elsewhere / "one", [dict(lines[0], run=dict(lines[0]["run"], hosts=1))])
    two = write_folder(
        elsewhere / "two", [dict(lines[1], run=dict(lines[0]["run"], id="other", hosts=1))]
    )
    command.main([str(first), str(two), "--quiet"])
    assert capsys.readouterr().out == ""
    (folder,) = (elsewhere / "reports").iterdir()
    assert re.fullmatch(r"\d{8}T\d{6}Z-[0-9a-f]{4}", folder.name)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    document = json.loads((folder / "report.json").read_text())
    assert [host["host"] for host in document["hosts"]] == ["db01", "db02"]
    assert len(document["runs"]) == 2
    assert document["complete"] is True
    assert sorted(content(first)) == ["findings.jsonl"]


def test_out_is_never_overwritten(elsewhere, capsys):
    folder = write_folder(elsewhere / "run", fleet(2))
    assert command.main([str(folder), "--out", "new", "--quiet"]) != 1
    assert command.main([str(folder), "--out", "new", "--quiet"]) == 1
    assert capsys.readouterr().err == (
        "hostproof report: new exists already; a report is never overwritten\n"
    )


def test_a_query_prints_json_and_writes_nothing(elsewhere, capsys):
    folder = write_folder(elsewhere / "run", [make_line("db01", [finding()])])
    assert command.main([str(folder), "--query", "[?status=='fail'].[host, check]"]) == 0
    assert json.loads(capsys.readouterr().out) == [["db01", "hugepages.pool_covers_sga"]]
    assert sorted(content(folder)) == ["findings.jsonl"]


@cases(
    "query said",
    ("[?statu=='fail'].host", ["has a field 'statu'; did you mean status?"]),
    ("[?status=='none'].{a: host, b: zzzz} | [].a", ["has a field 'zzzz'"]),
    ("[?status=='fail'].{what: check} | [].what", []),
)
def test_a_field_that_no_finding_has_is_said_beside_what_is_found(elsewhere, capsys, query, said):
    folder = write_folder(elsewhere / "run", [make_line("db01", [finding()])])
    assert command.main([str(folder), "--query", query]) == 0
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == len(said)
    assert all(line.endswith(words) for line, words in zip(lines, said, strict=True))


@cases("query", "[?status=", "nosuchfunction(@)", "length(`1`)")
def test_a_wrong_query_is_said_in_one_line(elsewhere, capsys, query):
    folder = write_folder(elsewhere / "run", fleet(1))
    assert command.main([str(folder), "--query", query]) == 1
    error = capsys.readouterr().err
    assert error.startswith(f"hostproof report: --query {query!r}: ")
    assert error.count("\n") == 1


@cases(
    "query message",
    ("(" * 100_000, "it has 100000 characters, and 4096 are the most"),
    ("(" * 4000, "it is nested deeper than can be read"),
    ("[" * 4000, "it is nested deeper than can be read"),
    ("!" * 4000 + "a", "it is nested deeper than can be read"),
    (" | ".join(["[@,@]"] * 40), "it gives more than 200000 values"),
    (" | ".join(["[@,@][]"] * 40), "it gives more than 200000 values"),
    (" | ".join(["{a:@,b:@}"] * 40), "it gives more than 200000 values"),
    ("`" + "[" * 4000 + "`", "it is nested deeper than can be read"),
    ("`" + "9" * 4000 + "`[", "Invalid"),
)
def test_a_query_that_asks_for_more_than_there_is_room_is_refused(
    elsewhere, capsys, query, message
):
    folder = write_folder(elsewhere / "run", fleet(1))
    assert command.main([str(folder), "--query", query]) == 1
    error = capsys.readouterr().err
    assert error.startswith("hostproof report: --query ")
    assert message in error
    assert error.count("\n") == 1
    assert len(error) < 1000


def test_what_a_host_said_does_not_reach_the_terminal_as_it_is(elsewhere, capsys):
    evil = "\x1b]0;owned\x07\x1b[2J\x9b31m\u202egnp\u2066\x7f\x08\u200b"
    fields = dict.fromkeys(("title", "why", "fix", "running", "desired"), "ok" + evil)
    bad = make_line("db02", [finding()], message=evil)
    bad["findings"][0]["status"] = evil
    named = make_line("db03" + evil, [finding()])
    lines = [make_line("db01", [finding(**fields, commands=["true" + evil])]), named, bad]
    folder = write_folder(elsewhere / "run", lines)
    assert command.main([str(folder)]) == 2
    assert command.main([str(folder), "--query", "[]"]) == 0
    assert command.main([str(folder), "--out", "new"]) == 2
    assert command.main([str(folder), "--query", evil]) == 1
    assert command.main([evil]) == 1
    printed = capsys.readouterr()
    assert not set(evil) - set("]0;owned[2J31mgnp") & set(printed.out + printed.err)
    assert "\\x1b]0;owned" in printed.out
    assert "\\x1b]0;owned" in printed.err


def test_waivers_are_read_from_yaml(elsewhere, capsys):
    folder = write_folder(elsewhere / "run", [make_line("db01", [finding()])])
    (elsewhere / "waivers.yml").write_text(WAIVERS)
    assert command.main([str(folder)]) == 2
    assert command.main([str(folder), "--waivers", "waivers.yml"]) == 0
    query = ["--query", "[].waiver.owner"]
    capsys.readouterr()
    assert command.main([str(folder), *query]) == 0
    assert json.loads(capsys.readouterr().out) == ["dba-team@example.com"]
    (elsewhere / "none.yml").write_text("[]")
    assert command.main([str(folder), "--waivers", "none.yml", *query]) == 0
    assert json.loads(capsys.readouterr().out) == []


@cases(
    "text message",
    ("- check: [", "waivers.yml: while parsing"),
    ("- owner: x", "waivers.yml: waivers, entry 1: check is missing"),
    (None, "waivers.yml: "),
    ("[" * 100_000, "waivers.yml: it is nested deeper than 10 levels\n"),
    ("{" * 5000, "waivers.yml: it is nested deeper than 10 levels"),
    ("- " * 5000 + "a", "waivers.yml: it is nested deeper than 10 levels"),
    (BOMB, "waivers.yml: it expands to more than 50000 values\n"),
    ("- &a [x, *a]", "waivers.yml: it expands to more than 50000 values\n"),
    ("- &a {<<: *a}", "waivers.yml: it expands to more than 50000 values\n"),
    ("- check: !!int " + "9" * 5000, "waivers.yml: Exceeds the limit"),
    ("- check: !!python/object/apply:os.getcwd []", "waivers.yml: could not determine"),
    ("- check: \x1b[31m", "waivers.yml: unacceptable character #x001b"),
    ('- check: [x, "\\e[31m\\u202e"]', "waivers.yml: waivers, entry 1: "),
    ("#" * 1_100_000, "waivers.yml: it has more than 1048576 bytes, which are not read\n"),
)
def test_wrong_waivers_are_said_in_one_line(elsewhere, capsys, text, message):
    folder = write_folder(elsewhere / "run", fleet(1))
    if text is not None:
        (elsewhere / "waivers.yml").write_text(text)
    assert command.main([str(folder), "--waivers", "waivers.yml"]) == 1
    error = capsys.readouterr().err
    assert error.startswith(f"hostproof report: {message}")
    assert error.count("\n") == 1
    assert not set("\x1b\u202e") & set(error)


def test_an_alias_may_save_a_word(elsewhere, capsys):
    folder = write_folder(elsewhere / "run", [make_line("db01", [finding()])])
    again = re.sub("owner: .*", "owner: *owner", WAIVERS.replace("pool_covers", "other"))
    text = WAIVERS.replace("owner: ", "owner: &owner ") + again
    (elsewhere / "waivers.yml").write_text(text)
    assert command.main([str(folder), "--waivers", "waivers.yml", "--query", "[].status"]) == 0
    assert "waived" in json.loads(capsys.readouterr().out)


def test_a_waiver_file_that_would_never_end_is_refused(elsewhere, capsys):
    folder = write_folder(elsewhere / "run", fleet(1))
    os.mkfifo(elsewhere / "waivers.yml")
    assert command.main([str(folder), "--waivers", "waivers.yml"]) == 1
    assert "waivers.yml: it is not a regular file" in capsys.readouterr().err


def test_a_folder_that_is_no_report_is_said(elsewhere, capsys):
    assert command.main([str(elsewhere)]) == 1
    assert "findings.jsonl: No such file or directory" in capsys.readouterr().err
    assert list(elsewhere.iterdir()) == []


def test_a_cut_line_is_said_when_merging(elsewhere, capsys):
    folder = write_folder(elsewhere / "run", fleet(2))
    path = folder / "findings.jsonl"
    path.write_bytes(path.read_bytes()[:-9])
    assert command.main([str(folder), "--out", "new", "--quiet"]) in (2, 3)
    assert "findings.jsonl, line 2 is truncated" in capsys.readouterr().err


@cases("arguments", [], ["--nonsense", "x"])
def test_wrong_usage_exits_with_1(arguments, capsys):
    with pytest.raises(SystemExit) as stop:
        command.main(arguments)
    assert stop.value.code == 1
    assert capsys.readouterr().err.startswith("usage: hostproof report")


def test_an_interrupt_exits_with_130(elsewhere, monkeypatch):
    def interrupt(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(command, "render_folder", interrupt)
    folder = write_folder(elsewhere / "run", fleet(1))
    assert command.main([str(folder)]) == 130


def test_templates_are_compiled_once_and_what_was_kept_is_not_believed(monkeypatch, tmp_path):
    from hostproof_controller import cache
    from hostproof_controller.report import templating

    monkeypatch.setattr(cache, "folder_of", lambda *_: tmp_path)

    def footer():
        return templating._environment.__wrapped__().get_template("parts.html.j2").module.footer()

    first = footer()
    contents = {path: path.read_bytes() for path in tmp_path.iterdir()}
    assert contents
    for path, content in contents.items():
        path.write_bytes(content[:-1] + b"x")
    assert footer() == first
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == contents
    # Nothing can be kept here.
    monkeypatch.setattr(cache, "folder_of", lambda *_: tmp_path / "gone")
    assert footer() == first

"""An audit every night: timer, retention, and messages about new findings."""

import contextlib
import http.server
import json
import os
import shlex
import shutil
import socket
import subprocess
import threading
import traceback
from pathlib import Path

import pytest
from ansible import constants
from cases import cases
from hostproof_controller.cli import command, notify, schedule
from hostproof_controller.notify import message, sending
from test_diffing import finding, line, report

#: The rules under test are ours; other files show how each ansible-core runs them.
pytestmark = pytest.mark.one_core

ROOT = Path(__file__).resolve().parents[2]
SEALED = "seal.json.sig"


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    """run(*words) gives exit code, output and errors; systemctl is a stand-in that keeps argv."""
    programs = tmp_path / "bin"
    programs.mkdir()
    calls = tmp_path / "calls"
    stand_in = programs / "systemctl"
    stand_in.write_text(f'#!/bin/sh\necho "$*" >> {calls}\n')
    stand_in.chmod(0o755)
    work = tmp_path / "work"
    work.mkdir(mode=0o755)
    monkeypatch.chdir(work)
    monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setattr(os, "environ", dict(os.environ))

    def call(*words):
        code = command.main([str(word) for word in words])
        streams = capsys.readouterr()
        return code, streams.out, streams.err

    call.calls = lambda: calls.read_text().splitlines() if calls.exists() else []
    call.units = tmp_path / "config/systemd/user"
    call.work = work
    return call


class TestTimer:
    WORDS = ("schedule", "--user", "--on-calendar", "Mon..Fri 02:30")

    def test_it_is_written_and_removed(self, run):
        code, out, _ = run(*self.WORDS, "--keep", 30, "--", "--limit", "db*", "-e", "x=50%")
        assert code == 0 and "hostproof.timer" in out
        service = (run.units / "hostproof.service").read_text()
        assert f'ExecStart={ROOT}/hostproof audit --limit "db*" -e x=50%%\n' in service
        assert f"ExecStartPost={ROOT}/hostproof prune --keep 30\n" in service
        assert f"WorkingDirectory={run.work}\n" in service
        # A host without a database (exit code 5) is a result of an audit as well.
        assert "SuccessExitStatus=2 3 4 5\n" in service
        assert "OnCalendar=Mon..Fri 02:30\n" in (run.units / "hostproof.timer").read_text()
        # Everyone may read a unit, whatever the umask is, as systemd wants it.
        assert {path.stat().st_mode & 0o777 for path in run.units.iterdir()} == {0o644}
        assert run.calls() == ["--user daemon-reload", "--user enable --now hostproof.timer"]
        assert run(*self.WORDS)[0] == 0
        assert run("schedule", "--user", "--remove")[0] == 0
        assert list(run.units.iterdir()) == []
        assert run.calls()[-2:] == ["--user disable --now hostproof.timer", "--user daemon-reload"]
        assert "There is no" in run("schedule", "--user", "--remove")[1]

    @pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="systemd is not installed")
    def test_systemd_accepts_the_units(self, run):
        file = run.work / "hook"
        file.write_text("https://hooks.example.com/x")
        words = (*self.WORDS, "--webhook-file", file, "--mail", "dba@example.com", "--delay", 60)
        assert run(*words, "--", "-e", 'a="b c" $HOME %n')[0] == 0
        units = [str(run.units / f"hostproof.{kind}") for kind in ("service", "timer")]
        done = subprocess.run(
            ["systemd-analyze", "verify", "--user", "--man=no", *units],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        messages = [line for line in done.stderr.splitlines() if "hostproof" in line]
        assert messages == []
        assert '"a=\\"b c\\" $$HOME %%n"' in Path(units[0]).read_text()

    def test_a_unit_of_somebody_else_is_kept(self, run):
        run.units.mkdir(parents=True)
        unit = run.units / "hostproof.timer"
        unit.write_text("[Timer]\n")
        for words in (self.WORDS, ("schedule", "--user", "--remove")):
            code, _, err = run(*words)
            assert (code, "choose another --name" in err) == (1, True)
        assert unit.read_text() == "[Timer]\n"
        assert run.calls() == []

    def test_nothing_is_written_for_print(self, run):
        code, out, _ = run(*self.WORDS, "--print")
        assert code == 0 and "OnCalendar=Mon..Fri 02:30" in out
        assert not run.units.exists()

    @cases(
        "words says",
        (("schedule", "--user"), "needs --on-calendar EXPR"),
        ((*WORDS[:3], "a\nb"), "is not a time"),
        ((*WORDS, "--name", "../x"), "lower case letters"),
        ((*WORDS, "--", "a\nb"), "control character"),
    )
    def test_what_cannot_be_used(self, run, words, says):
        code, _, err = run(*words)
        assert (code, says in err, err.count("\n")) == (1, True, 1)
        assert not run.units.exists()

    @pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="systemd is not installed")
    def test_systemd_checks_the_time(self, run):
        code, _, err = run(*self.WORDS[:3], "every night")
        assert (code, "does not know the time 'every night'" in err) == (1, True)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
class TestTimerOfRoot:
    """Root's timer uses nothing that another account can change, now and at each run."""

    #: Place, owner and mode of each, in a site that is root's otherwise.
    FOREIGN = (
        ("own", 0, 0o775),
        ("own", 1234, 0o755),
        ("own", 0, 0o1777),
        ("own/hostproof", 1234, 0o755),
        ("own/hostproof", 0, 0o666),
        ("own/hostproof", 0, 0o775),
        ("own/ansible.cfg", 1234, 0o644),
        ("own/module_utils", 1234, 0o755),
        ("own/module_utils/hostproof/errors.py", 0, 0o666),
        ("own/plugin_utils", 0, 0o1777),
        ("own/playbooks/audit.yml", 1234, 0o644),
        ("own/.venv", 1234, 0o755),
        ("own/.venv/lib/site.py", 0, 0o664),
        ("own/roles", 0, 0o777),
        ("own/inventories/local", 1234, 0o755),
        ("python/python3", 1234, 0o755),
        ("python", 0, 0o777),
        ("python/lib/os.py", 1234, 0o644),
        ("home", 1234, 0o755),
        ("home/work", 0, 0o775),
        ("home/work", 0, 0o1777),
        ("home/work/hostproof.yml", 0, 0o664),
        ("home/work/group_vars/all.yml", 1234, 0o644),
        ("home/work/reports", 1234, 0o755),
        ("named", 0, 0o1777),
        ("named/hosts", 1234, 0o644),
        ("named/hosts", 0, 0o662),
        ("named/host_vars", 1234, 0o755),
        ("named/vars.yml", 1234, 0o644),
        ("named/checks.d", 0, 0o775),
        ("project", 1234, 0o755),
        ("project/waivers.yml", 1234, 0o644),
        ("hook", 1234, 0o600),
        ("editable/module.py", 0, 0o664),
        ("linked/target", 1234, 0o755),
        ("linked", 1234, 0o755),
    )

    @pytest.fixture
    def site(self, run, tmp_path, monkeypatch):
        """A small installation, a working directory, an inventory and a webhook file of root."""
        tmp_path = tmp_path / "site"
        for name in sorted({place for place, _, _ in self.FOREIGN}):
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            folders = ("own", "reports", ".venv", "roles", "work", "local", "target", "checks.d")
            if path.name in folders or path.name.endswith(("_vars", "_utils", ".d")):
                path.mkdir(exist_ok=True)
            elif not path.exists() and path.name not in ("home", "named", "project", "linked"):
                path.touch() if path.name != "python" else path.mkdir()
        (tmp_path / "home/work/hostproof.yml").write_text(
            f"waivers: {tmp_path}/project/waivers.yml\n"
        )
        (tmp_path / "hook").chmod(0o600)
        (tmp_path / "own/library").symlink_to(tmp_path / "linked/target")
        (tmp_path / "own/.venv/python3").symlink_to(tmp_path / "python/python3")
        monkeypatch.setattr(schedule, "ROOT", tmp_path / "own")
        # The real one is checked by the tests of TestTimer where root runs them; it is large.
        monkeypatch.setattr(schedule.sysconfig, "get_path", lambda _: str(tmp_path / "python/lib"))
        monkeypatch.setattr(schedule, "_imported", lambda: [str(tmp_path / "editable")])
        monkeypatch.setattr(schedule, "_directory", lambda _user: tmp_path / "units")
        monkeypatch.chdir(tmp_path / "home/work")
        return tmp_path

    @pytest.mark.skipif(os.geteuid() != 0, reason="another account has other directories")
    def test_every_directory_in_which_ansible_searches_is_one_of_them(self):
        """Also for the kinds of plugins that our ansible.cfg does not set."""
        trees = [os.path.expanduser(tree) for tree in schedule._OF_ANSIBLE]
        settings = [name for name in dir(constants) if name.endswith(("_PATH", "_PATHS"))]
        values = [getattr(constants, name) for name in settings]
        paths = {path for value in values if isinstance(value, list) for path in value}
        assert any("plugins/vars" in path for path in paths)
        inside = [path for path in paths if path.startswith(("/etc/", "/usr/share/", "/root/"))]
        assert [one for one in inside if not any(one.startswith(tree) for tree in trees)] == []

    def words(self, site):
        audit = ("-i", "../../named/hosts", "-e", f"@{site}/named/vars.yml", "-e", "x=/tmp/x")
        hook = ("--webhook-file", site / "hook")
        return ("schedule", "--on-calendar", "daily", *hook, "--", *audit)

    @staticmethod
    def check(site):
        """What ExecStartPre= does, as systemd splits it, in a directory that decides nothing."""
        unit = (site / "units/hostproof.service").read_text()
        assert "\nTimeoutStartSec=12h\n" in unit
        (line,) = [line for line in unit.splitlines() if line.startswith("ExecStartPre=")]
        argv = shlex.split(line.partition("=")[2])
        return subprocess.run(argv, capture_output=True, text=True, check=False, cwd="/")

    def test_nothing_that_others_can_change(self, run, site):
        tried = 0
        for name, owner, mode in self.FOREIGN:
            place = site / name
            before = place.stat().st_mode & 0o7777
            os.chown(place, owner, -1)
            place.chmod(mode)
            for option in ((), ("--user",), ("--print",)) if tried < 6 else ((),):
                call = self.words(site)
                code, out, err = run(*call[:1], *option, *call[1:])
                # The project file has its own check, which is stricter about its group.
                named = (f"another account can change {place},", "hostproof.yml is not used")
                assert code == 1 and any(text in err for text in named), (name, option, err)
                assert "ExecStart" not in out
                tried += 1
            os.chown(place, 0, -1)
            place.chmod(before)
        assert tried == len(self.FOREIGN) + 4
        assert not (site / "units").exists()

    def test_the_same_at_each_run(self, run, site):
        assert run(*self.words(site))[0] == 0
        assert self.check(site).returncode == 0
        for name, owner, mode in (*self.FOREIGN, ("units/hostproof.check.py", 1234, 0o644)):
            place = site / name
            before = place.stat().st_mode & 0o7777
            os.chown(place, owner, -1)
            place.chmod(mode)
            done = self.check(site)
            assert (done.returncode, done.stderr) == (
                1,
                f"hostproof: no audit by root, because another account can change {place}\n",
            )
            os.chown(place, 0, -1)
            place.chmod(before)
        # Paths that did not exist when the timer was written count too.
        (site / "own/filter_plugins").mkdir()
        (site / "units/hostproof.service.d").mkdir()
        assert self.check(site).returncode == 0
        for name in ("own/filter_plugins", "units/hostproof.service.d"):
            os.chown(site / name, 1234, -1)
            assert self.check(site).returncode == 1
            os.chown(site / name, 0, -1)

    @cases(
        "words",
        ("-i", "~oracle/hosts"),
        ("-i", "$HOME_OF_ORACLE/hosts"),
        ("-e", "@~oracle/vars.yml"),
        ("--vault-id", "dev@~oracle/vault"),
        ("--private-key", "~oracle/key"),
        ("--ssh-common-args", "-F {0}/ssh_config"),
        ("--ssh-common-args=-o IdentityFile=~oracle/key -o UserKnownHostsFile=/dev/null",),
        ("--ssh-extra-args=-oProxyCommand='{0}/proxy %h'",),
        ("-e", "ansible_ssh_common_args='-F {0}/ssh_config'"),
        ("-e", '{{"ansible_python_interpreter": "{0}/python3"}}'),
    )
    def test_paths_as_ansible_and_ssh_take_them(self, run, site, monkeypatch, words):
        """No shell replaces ~ and $ in a unit; ssh runs what its options name."""
        home = site / "oracle"
        home.mkdir()
        os.chown(home, 1234, -1)
        monkeypatch.setenv("HOME_OF_ORACLE", str(home))
        monkeypatch.setattr(
            os.path, "expanduser", lambda path: path.replace("~oracle", str(home), 1)
        )
        options = [word.format(home) for word in words]
        code, _, err = run(*self.words(site), *options)
        assert (code, f"another account can change {home}," in err) == (1, True), err

    def test_what_options_name_of_root(self, run, site):
        words = ("--ssh-common-args", "-o UserKnownHostsFile=/dev/null -o ProxyJump=a@b")
        assert run(*self.words(site), *words)[0] == 0
        assert self.check(site).returncode == 0

    def test_lists_of_paths_in_the_project_file(self, run, site):
        folder = site / "home/work/inventory"
        folder.mkdir()
        (folder / "hosts").touch()
        os.chown(folder, 1234, -1)
        (site / "home/work/hostproof.yml").write_text("inventory: inventory/hosts,db02\n")
        code, _, err = run(*self.words(site))
        assert (code, f"another account can change {folder}," in err) == (1, True), err

    def test_the_program_of_a_script(self, run, site):
        """An inventory can be a script, and its first line names what runs it."""
        (site / "named/hosts").write_text(f"#!/usr/bin/env -S {site}/oracle/python3 -I\n")
        (site / "named/hosts").chmod(0o755)
        (site / "oracle").mkdir()
        assert run(*self.words(site))[0] == 0
        assert self.check(site).returncode == 0
        os.chown(site / "oracle", 1234, -1)
        assert self.check(site).returncode == 1
        code, _, err = run(*self.words(site))
        assert (code, f"another account can change {site}/oracle," in err) == (1, True)

    @cases("place", "named", "own/module_utils/hostproof")
    @cases("user kind", (1234, "fuse.x"), (1234, "fuse"), (0, "fuse.x"))
    def test_a_file_system_of_another_account(self, site, monkeypatch, place, user, kind):
        """FUSE: its owner is who mounted it, whatever owner the files show."""
        mounts = site / "mountinfo"
        row = f"36 25 0:32 / {site}/{place} rw - {kind} x rw,user_id={user},group_id=0\n"
        mounts.write_text("35 25 0:3 / /proc rw - proc proc rw\n" + row)
        monkeypatch.setattr(schedule.owned_by_root, "_MOUNTS", str(mounts))
        try:
            schedule.owned_by_root.refuse([str(site / "named/hosts")], [str(site / "own")])
            result = ""
        except schedule.owned_by_root.Foreign as problem:
            result = str(problem)
        assert result == (f"another account can change {site}/{place}" if user else "")

    def test_a_directory_that_a_unit_cannot_have(self, run, site, monkeypatch):
        """A backslash at its end would join the line with the next one."""
        (site / "home/work\\").mkdir()
        monkeypatch.chdir(site / "home/work\\")
        code, _, err = run(*self.words(site)[:3])
        assert (code, "ends with a blank or a backslash" in err) == (1, True), err

    def test_directories_of_python_that_a_pth_file_names(self, monkeypatch):
        monkeypatch.undo()
        monkeypatch.setenv("PYTHONPATH", "/home/x")
        monkeypatch.setattr(schedule.sys, "path", ["/bin", "/home/x", "/srv/editable", "relative"])
        assert [*schedule._imported()] == ["/srv/editable"]

    def test_the_check_imports_nothing_of_others(self, run, site, monkeypatch):
        """Not from its directory, the environment or the working directory."""
        evil = site / "evil"
        evil.mkdir()
        for module in ("os", "re", "stat", "typing", "sitecustomize", "usercustomize"):
            (evil / f"{module}.py").write_text(f"open({str(evil / 'ran')!r}, 'w')\n")
        assert run(*self.words(site))[0] == 0
        unit = (site / "units/hostproof.service").read_text()
        assert "\nEnvironment=PATH=/usr/sbin:/usr/bin:/sbin:/bin\n" in unit
        assert "\nUser=" not in unit
        for name in ("PYTHONPATH", "PYTHONUSERBASE", "PYTHONSTARTUP", "PYTHONHOME"):
            monkeypatch.setenv(name, str(evil))
        for module in evil.glob("*.py"):
            (site / "units" / module.name).write_bytes(module.read_bytes())
        monkeypatch.chdir(evil)
        assert self.check(site).returncode == 0
        assert not (evil / "ran").exists()

    def test_units_in_a_directory_of_others(self, run, site):
        (site / "units").mkdir()
        os.chown(site / "units", 1234, -1)
        code, _, err = run(*self.words(site))
        assert (code, f"another account can change {site}/units," in err) == (1, True)
        assert not list((site / "units").iterdir())

    def test_links_of_others_and_in_circles(self, run, site):
        link = site / "own/callback_plugins"
        link.symlink_to(site / "linked/target")
        os.chown(link, 1234, -1, follow_symlinks=False)
        code, _, err = run(*self.words(site))
        assert (code, f"another account can change {link}," in err) == (1, True)
        link.unlink()
        link.symlink_to(link)
        code, _, err = run(*self.words(site))
        assert (code, "too many links" in err) == (1, True)


class TestPrune:
    def test_the_oldest_runs_go(self, run):
        reports = run.work / "reports"
        names = [f"2026112{day}T010203Z-00a{day}" for day in range(6)]
        for name in (*names, "keep-me", "20261101"):
            (reports / name).mkdir(parents=True)
        (reports / names[0] / SEALED).write_text("")
        assert run("prune", "--keep", 2, "--dry-run", reports)[0] == 0
        assert len(list(reports.iterdir())) == 8
        code, out, _ = run("prune", "--keep", 2, reports)
        assert (code, out.count("Deleted")) == (0, 3)
        left = {path.name for path in reports.iterdir()}
        assert left == {names[0], *names[4:], "keep-me", "20261101"}


@pytest.fixture
def server():
    """A real HTTP server: it answers with the next of ``codes`` and keeps what it was sent."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            body = self.rfile.read(int(self.headers["Content-Length"]))
            self.server.received.append((self.path, self.headers["Content-Type"], json.loads(body)))
            code = self.server.codes.pop(0) if self.server.codes else 200
            self.send_response(code)
            if code == 302:
                self.send_header("Location", "http://127.0.0.1:1/elsewhere")
            self.end_headers()

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.received, server.codes = [], []
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


NEW = message.Message(
    "20261125T010203Z-00aa",
    "/reports/x",
    (message.New("db01", "hugepages.memlock", "fail", "high", "Limit <memlock> & co is too low"),),
    2,
)


class TestWebhook:
    def address(self, server, path="/hook/secret"):
        return f"http://127.0.0.1:{server.server_port}{path}"

    def test_each_form_arrives(self, server):
        for form in message.FORMS.values():
            sending.post(self.address(server), form(NEW))
        generic, slack, teams = (content for _path, _kind, content in server.received)
        assert generic["new"][0]["check"] == "hugepages.memlock"
        assert generic["counts"] == {"new": 1, "fixed": 2}
        assert "Limit &lt;memlock&gt; &amp; co is too low" in slack["text"]
        card = teams["attachments"][0]["content"]
        assert card["body"][0]["text"] == "Hostproof: 1 new finding on 1 host"
        assert {kind for _path, kind, _content in server.received} == {"application/json"}

    def test_a_busy_server_is_tried_again(self, server):
        server.codes = [503, 429]
        sending.post(self.address(server), {}, pauses=(0, 0, 0))
        assert len(server.received) == 3

    @cases("code attempts", (404, 1), (302, 1), (500, 3))
    def test_what_was_not_taken_is_an_error_without_the_address(self, server, code, attempts):
        server.codes = [code] * 5
        with pytest.raises(sending.NotSent, match=f"HTTP status {code}") as problem:
            sending.post(self.address(server), {}, pauses=(0, 0))
        assert "secret" not in str(problem.value)
        assert len(server.received) == attempts

    def test_a_server_that_is_not_there(self):
        with pytest.raises(sending.NotSent, match="did not take the message: Connection refused"):
            sending.post("http://127.0.0.1:1/secret", {}, pauses=(0,))

    def test_no_proxy_gets_the_address_of_this_machine(self, server, monkeypatch):
        for name in ("http_proxy", "HTTP_PROXY", "all_proxy"):
            monkeypatch.setenv(name, "http://127.0.0.1:1")
        for name in ("no_proxy", "NO_PROXY"):
            monkeypatch.delenv(name, raising=False)
        sending.post(self.address(server), {}, pauses=())
        assert len(server.received) == 1

    #: Answers that http.client raises on, in its own ways; the last ones never end.
    ANSWERS = (
        b"garbage-s3cret\r\n\r\n",
        b"HTTP/1.1 abc\r\n\r\n",
        b"HTTP/1.1 200 " + b"x" * 70000,
        b"HTTP/1.1 200 OK\r\n" + b"a: b\r\n" * 200 + b"\r\n",
        b"HTTP/1.1 302 Found\r\nLocation: http://[s3cret\r\n\r\n",
        b"HTTP/1.1 307 Found\r\nLocation: file:///s3cret\r\n\r\n",
        b"\x00\xff",
        b"",
    )

    @pytest.fixture
    def answering(self):
        """answering(first, rest) is the address of a server that sends ``rest`` without an end."""
        ended = threading.Event()
        listening = socket.create_server(("127.0.0.1", 0))

        def serve(first, rest):
            while True:
                try:
                    connection = listening.accept()[0]
                except OSError:
                    return
                with connection, contextlib.suppress(OSError):
                    connection.recv(65536)
                    connection.sendall(first)
                    while rest and not ended.wait(0.01):
                        connection.sendall(rest)

        def start(first, rest=b""):
            threading.Thread(target=serve, args=(first, rest), daemon=True).start()
            return f"http://127.0.0.1:{listening.getsockname()[1]}/t0ken"

        yield start
        ended.set()
        listening.shutdown(socket.SHUT_RDWR)
        listening.close()

    @pytest.mark.parametrize("answer", ANSWERS, ids=range(len(ANSWERS)))
    def test_an_answer_that_is_not_http(self, answering, answer):
        with pytest.raises(sending.NotSent) as problem:
            sending.post(answering(answer), {}, pauses=(0,))
        text = "".join(traceback.format_exception(problem.value))
        assert not any(part in text for part in ("t0ken", "s3cret", "http://")), text

    @cases(
        "first rest",
        (b"", b"H"),
        (b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
        (b"HTTP/1.1 200 OK\r\n", b"a:b\r\n "),
    )
    def test_a_server_that_never_ends(self, answering, first, rest):
        with pytest.raises(sending.NotSent, match=r"^the webhook did not take the message"):
            sending.post(answering(first, rest), {}, pauses=(0,), deadline=0.3)

    @cases(
        "address",
        "https://user:s3cret@hooks.example.com/x",
        "https://s3cret@hooks.example.com",
        "https://hooks.example.com\\@s3cret/x",
        "https://hooks.example.com:99999/s3cret",
        "https://hooks.example.com:0/s3cret",
        "https://hooks.example.com:s3cret/",
        "https://hooks.example.com:/s3cret",
        "https://hooks.example.com/s3cret\x01",
        "https://hooks.example.com/\x7fs3cret",
        "https://hooks.example.com/s3cret\x00",
        "https://hooks.example.com/s3cr\xe9t",
        "https://hooks.example.com/x#s3cret",
        "https://[s3cret/x",
        "https://[::g]/s3cret",
        "https://[1:2:3]/s3cret",
        "https://..s3cret/",
        "https://a..s3cret/",
        "https://" + "s3cret" * 12 + ".com/",
        "https:///s3cret",
        "ftp://s3cret/",
        "HTTPS//s3cret",
        "https://hooks.example.com/" + "s3cret" * 1000,
        "http://127.0.0.1.s3cret.example.com/",
        "http://s3cret@127.0.0.1/",
    )
    def test_no_part_of_a_wrong_address_is_printed(self, run, tmp_path, address):
        file = tmp_path / "hook"
        file.write_bytes(address.encode("latin-1"))
        file.chmod(0o600)
        (run.work / "reports").mkdir()
        report(run.work / "reports/20261124T010203Z-0001", line("db01"))
        code, out, err = run("notify", "--webhook-file", file, "--try", run.work / "reports")
        assert (code, err.count("\n"), "s3cr" in out + err) == (1, 1, False), err

    def test_a_webhook_file_is_a_regular_file(self, tmp_path):
        os.mkfifo(tmp_path / "fifo", 0o600)
        for path in (tmp_path / "fifo", Path("/dev/zero"), tmp_path):
            with pytest.raises(sending.NotSent, match="regular file|cannot be read"):
                sending.webhook_in(str(path))

    @cases(
        "text mode says",
        ("https://hooks.example.com/x\n", 0o644, "chmod 600"),
        ("http://hooks.example.com/x", 0o600, "only https://"),
        ("hooks.example.com", 0o600, "begins with https://"),
        ("https://a.b/c d", 0o600, "one address"),
        ("", 0o600, "one address"),
    )
    def test_a_file_that_cannot_be_used(self, tmp_path, text, mode, says):
        file = tmp_path / "hook"
        file.write_text(text)
        file.chmod(mode)
        with pytest.raises(sending.NotSent, match=says):
            sending.webhook_in(str(file))

    def test_a_name_of_a_host_is_no_link(self):
        named = NEW._replace(new=(NEW.new[0]._replace(problem="[free](https://x.example)"),))
        text = json.dumps(message.as_teams(named))
        assert "](" not in text

    def test_many_findings_are_counted(self):
        many = NEW._replace(new=NEW.new * 60)
        assert many.lines()[-2:] == ["and 10 more", "Report: /reports/x"]
        assert len(message.as_json(many)["new"]) == message.MOST_FINDINGS


class TestNotify:
    @pytest.fixture
    def reports(self, run):
        """Two runs: a pool got too small, and a limit was corrected."""
        folder = run.work / "reports"
        folder.mkdir()
        for name, pool, limit in (
            ("4T010203Z-0001", "pass", "fail"),
            ("5T010203Z-0002", "fail", "pass"),
        ):
            findings = [
                finding("hugepages.pool_covers_sga", pool, problem="Pool is small", running="1234"),
                finding("hugepages.memlock", limit),
            ]
            report(folder / f"2026112{name}", line("db01", *findings))
        return folder

    def test_only_new_findings_are_sent(self, run, reports, server):
        hook = run.work / "hook"
        hook.write_text(f"http://127.0.0.1:{server.server_port}/hook\n")
        hook.chmod(0o600)
        code, out, err = run("notify", "--webhook-file", hook, reports)
        assert (code, out) == (0, "Sent: Hostproof: 1 new finding on 1 host\n"), err
        ((_path, _kind, content),) = server.received
        assert content["new"] == [
            {
                "host": "db01",
                "check": "hugepages.pool_covers_sga",
                "status": "fail",
                "severity": "high",
                "problem": "Pool is small",
            }
        ]
        assert content["counts"]["fixed"] == 1
        assert "1234" not in json.dumps(content)

    def test_nothing_new_is_not_sent(self, run, reports, server):
        shutil.rmtree(reports / "20261124T010203Z-0001")
        hook = run.work / "hook"
        hook.write_text(f"http://127.0.0.1:{server.server_port}/hook\n")
        hook.chmod(0o600)
        assert "Nothing is new" in run("notify", "--webhook-file", hook, reports)[1]
        assert server.received == []
        assert run("notify", "--webhook-file", hook, "--try", reports)[0] == 0
        assert len(server.received) == 1

    def test_mail_goes_through_sendmail(self, run, reports, monkeypatch):
        sent = run.work / "sent"
        program = run.work / "sendmail"
        program.write_text(f"#!/bin/sh\ncat > {sent}\n")
        program.chmod(0o755)
        monkeypatch.setattr(sending, "_SENDMAIL", (str(program),))
        assert run("notify", "--mail", "dba@example.com", reports)[0] == 0
        text = sent.read_text()
        assert "To: dba@example.com\n" in text
        assert "Subject: Hostproof: 1 new finding on 1 host\n" in text
        program.write_text("no program")
        code, _, err = run("notify", "--mail", "dba@example.com", reports)
        assert (code, "does not run: Exec format error" in err) == (1, True)
        # What sendmail starts in the background holds nothing; itself it has its time.
        program.write_text("#!/bin/sh\nread -r line\nkill -STOP $$\n")
        monkeypatch.setattr(sending, "DEADLINE", 0.2)
        code, _, err = run("notify", "--mail", "dba@example.com", reports)
        assert (code, "did not take the message within 0.2 s" in err) == (1, True), err
        monkeypatch.setattr(sending, "DEADLINE", 60)
        program.write_text("#!/bin/sh\necho no route >&2\nexit 75\n")
        code, _, err = run("notify", "--mail", "dba@example.com", reports)
        assert (code, "sendmail ended with exit code 75: no route" in err) == (1, True)

    @cases(
        "words says",
        ((), "needs --webhook-file, --mail or --print"),
        (("--mail", "a b@c\nBcc: x"), "is not an e-mail address"),
    )
    def test_what_cannot_be_used(self, run, reports, words, says):
        code, _, err = run("notify", *words, reports)
        assert (code, says in err, err.count("\n")) == (1, True, 1)

    def test_a_directory_without_a_run(self, run):
        with pytest.raises(notify.Refused, match="has no run"):
            notify.message_of(run.work)

"""tests/bench/pool_requests.py: requests to a server with both kinds of validation."""

import http.server
import json
import threading

import pytest
from test_benchmarks import loaded


@pytest.fixture
def program(monkeypatch):
    return loaded("pool_requests", monkeypatch)


@pytest.fixture
def server():
    asked = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            asked.append(self.path)
            self.send_response(500 if self.path == "/broken" else 200)
            self.end_headers()
            self.wfile.write(b"42")

        def log_message(self, *words):
            pass

    running = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    # With the default interval of 0.5 s, the shutdown waits for most of it.
    threading.Thread(target=running.serve_forever, args=(0.01,), daemon=True).start()
    yield f"http://127.0.0.1:{running.server_address[1]}", asked
    running.shutdown()
    running.server_close()


def test_two_applications_take_turns(program, server, tmp_path, capsys):
    url, asked = server
    saved = tmp_path / "both.json"
    targets = [f"foreground={url}/front", f"background={url}/back"]
    assert program.main([*targets, "--requests", "20", "--save", str(saved)]) == 0
    assert asked == ["/front", "/back"] * 22
    assert {name: len(times) for name, times in json.loads(saved.read_text()).items()} == {
        "foreground": 20,
        "background": 20,
    }
    assert "requests      20            20" in capsys.readouterr().out


def test_files_of_one_application_are_compared(program, tmp_path, capsys):
    """17 and 11 ms: a round trip of 6 ms less, as in article 000."""
    files = []
    for name, milliseconds in (("foreground", 17.0), ("background", 11.0)):
        files.append(tmp_path / f"{name}.json")
        times = [milliseconds] * 98 + [2 * milliseconds] * 2
        files[-1].write_text(json.dumps({name: times}))
    assert program.main(["--compare", *map(str, files)]) == 0
    shown = capsys.readouterr().out
    assert "p50 ms        17.00         11.00" in shown
    assert "p99 ms        34.00         22.00" in shown
    assert "background saves 6.00 ms of a request (p50)" in shown


def test_a_failed_request_is_one_sentence(program, server, capsys):
    assert program.main([f"foreground={server[0]}/broken", "--requests", "1"]) == 1
    assert "a request failed: HTTP Error 500" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        program.main(["foreground=file:///etc/passwd"])

#!/usr/bin/env python3
"""What a report of many hosts costs: rendering it, opening its first page, and filtering.

Usage: tests/bench/report_page.py [HOSTS[,HOSTS...] [CHECKS]]   (500,5000 hosts, 30 checks each)

Rendering is a whole report folder, every form of it, in a process of its own, whose peak memory
is told. Opening, in headless Chromium and from disk, is from the
navigation to the first frame after the load event, with the filters there; filtering is from the
input event to the next frame, with the wait for the next key in it. The best of five is what
counts: a busy machine only adds.
"""

import datetime
import http.server
import json
import re
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [
    str(ROOT / "plugin_utils"),
    str(ROOT / "tests" / "unit" / "report"),
    str(ROOT / "tests" / "browser"),
    str(ROOT / "tests"),
]

from browsing import BROWSER, OPTIONS  # noqa: E402
from hostproof_controller.report.render import render_folder  # noqa: E402
from report_samples import fleet, write_folder  # noqa: E402

ROUNDS = 5
#: Milliseconds, by the most hosts for which they hold.
FILTERS = ("status", "check", "host", "severity")
LIMITS = {
    500: {"render": 12000, "open": 1000, **dict.fromkeys(FILTERS, 200)},
    5000: {"render": 120000},
}

PROBE = """<script>addEventListener('load', async () => {
  const frame = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
  await frame();
  const said = {open: performance.now(), elements: document.querySelectorAll('*').length};
  const form = document.getElementById('filter');
  const output = form.querySelector('output');
  const filtered = async (name, change) => {
    form.reset();
    await new Promise((done) => setTimeout(done, 400));
    const begun = performance.now();
    const before = output.textContent;
    change();
    form.dispatchEvent(new Event('input'));
    while (output.textContent === before) await frame();
    said[name] = performance.now() - begun;
  };
  const boxes = [...form.querySelectorAll('input[name=status]')];
  await filtered('status', () => boxes.forEach((box) => { box.checked = box.value === 'F'; }));
  await filtered('check', () => { form.elements.check.value = 'pool'; });
  await filtered('host', () => { form.elements.host.value = 'db07'; });
  await filtered('severity', () => { form.elements.severity.value = 'critical'; });
  const body = JSON.stringify(said);
  await fetch('http://127.0.0.1:PORT/', {method: 'POST', mode: 'no-cors', body});
});</script>"""


class Said(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        self.server.said = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.send_response(204)
        self.end_headers()
        self.server.told.set()

    def log_message(self, *_):
        pass


def rendered(report):
    """Seconds, peak MB and CPU seconds of rendering a folder in a process of its own."""
    code = f"import report_page; report_page.render({str(report)!r})"
    here = str(Path(__file__).parent)
    done = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path.insert(0, {here!r}); {code}"],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return map(float, done.stdout.split())


def render(report):
    started = time.perf_counter()
    render_folder(report, today=datetime.date(2026, 11, 21), known_checks=set)
    seconds = time.perf_counter() - started
    # Not ru_maxrss: it begins with what the process had that started this one.
    status = Path("/proc/self/status").read_text()
    print(seconds, int(re.search(r"VmHWM:\s+(\d+) kB", status)[1]) / 1000, time.process_time())


def first_page(report):
    index = report / "index.html"
    return index if index.exists() else report / "report.html"


def measured(report, folder):
    """{what: milliseconds} of one opening."""
    server = http.server.HTTPServer(("127.0.0.1", 0), Said)
    server.told = threading.Event()
    threading.Thread(target=server.serve_forever, daemon=True).start()
    path = Path(folder) / "page.html"
    page = first_page(report).read_text()
    opened = re.sub(r'content="default-src[^"]*"', "content=\"img-src 'none'\"", page, count=1)
    path.write_text(opened + PROBE.replace("PORT", str(server.server_port)))
    profile = f"--user-data-dir={folder}/profile"
    command = [BROWSER, *OPTIONS, "--remote-debugging-port=0", profile, path.as_uri()]
    browser = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        if not server.told.wait(120):
            raise SystemExit("the page said nothing within two minutes")
    finally:
        browser.terminate()
        browser.wait()
        server.shutdown()
    return server.said


def bench(hosts, checks):
    """Print what a report of so many hosts costs; whether it keeps its limits."""
    with tempfile.TemporaryDirectory(prefix="hostproof-", ignore_cleanup_errors=True) as above:
        report = write_folder(Path(above) / "report", fleet(hosts, checks, evidence=True))
        seconds, memory, cpu = rendered(report)
        size = first_page(report).stat().st_size / 1e6
        pages = [path.stat().st_size for path in report.glob("hosts/*")]
        cost = f"{seconds:.1f} s ({cpu:.1f} s of a processor), {memory:.0f} MB"
        print(f"{hosts} hosts, {checks} checks each: rendered in {cost}")
        print(f"page {size:.2f} MB, {len(pages)} pages of hosts {sum(pages) / 1e6:.2f} MB")
        rounds = []
        for number in range(ROUNDS):
            (Path(above) / str(number)).mkdir()
            rounds.append(measured(report, Path(above) / str(number)))
    print(f"{rounds[0]['elements']} elements")
    limits = next((limits for most, limits in LIMITS.items() if hosts <= most), {})
    met = True
    for name in ("render", "open", *FILTERS):
        best = seconds * 1000 if name == "render" else min(turn[name] for turn in rounds)
        verdict = ""
        if name in limits:
            met = met and best < limits[name]
            verdict = f", less than {limits[name]}: {'met' if best < limits[name] else 'MISSED'}"
        print(f"{name:<10} {best:>8.0f} ms{verdict}", flush=True)
    return met


def main():
    if BROWSER is None:
        raise SystemExit("there is no Chromium: nothing was measured")
    sizes, checks = (sys.argv[1:3] + ["500,5000", "30"][len(sys.argv[1:3]) :])[:2]
    met = [bench(int(hosts), int(checks)) for hosts in sizes.split(",")]
    sys.exit(0 if all(met) else 1)


if __name__ == "__main__":
    main()

"""A page in headless Chromium."""

import base64
import hashlib
import json
import re
import shutil
import subprocess
from urllib.parse import unquote

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "chrome"))), None)

OPTIONS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update"),
    *("--disable-sync", "--enable-logging=stderr"),
)

#: Milliseconds of the page's clock, which runs ahead of ours: enough for a machine under load.
PATIENCE = "--virtual-time-budget=600000"


def browse(tmp_path, page, *options, address=""):
    path = tmp_path / "report.html"
    path.write_text(page)
    profile = f"--user-data-dir={tmp_path / 'profile'}"
    return subprocess.run(
        [BROWSER, *OPTIONS, profile, *options, path.as_uri() + address],
        capture_output=True,
        text=True,
        timeout=600,
        check=True,
    )


def pages_of(tmp_path, page, *options, address=""):
    """How many pages it takes on paper."""
    paper = tmp_path / "report.pdf"
    print_to = ("--no-pdf-header-footer", f"--print-to-pdf={paper}")
    browse(tmp_path, page, *print_to, *options, address=address)
    return paper.read_bytes().count(b"/Type /Page\n")


def _let_in(page, probe):
    """The page with a policy that lets this script in too, and is as strict as before else."""
    content = probe.removeprefix("<script>").removesuffix("</script>").encode()
    hashed = base64.b64encode(hashlib.sha256(content).digest()).decode()
    return page.replace("script-src '", f"script-src 'sha256-{hashed}' '", 1)


def ask(tmp_path, page, script, *options, address=""):
    """What ``script`` (the body of an async function) returns, run after the page's own one.

    ``address`` follows the name of the page: a query, or where in it to go.
    """
    probe = """<script>(async () => {
      const rest = (time) => new Promise((done) => setTimeout(done, time));
      const all = (selector, node) => Array.from((node || document).querySelectorAll(selector));
      const said = await (async () => {SCRIPT})().catch((problem) => String(problem));
      const told = document.createElement('p');
      told.id = 'said';
      told.textContent = encodeURIComponent(JSON.stringify(said));
      document.body.append(told);
    })();</script>"""
    probe = probe.replace("SCRIPT", script)
    done = browse(
        tmp_path, _let_in(page, probe) + probe, PATIENCE, "--dump-dom", *options, address=address
    )
    match = re.search(r'<p id="said">(.*?)</p>', done.stdout)
    assert match, done.stderr
    assert "CONSOLE" not in done.stderr, done.stderr
    return json.loads(unquote(match.group(1)))

"""Run the command blocks of README and docs in a minimal Debian.

A block with a comment ``not run: REASON`` before it is skipped. The blocks of one section share a
shell, in a root that has only Python, git and ssh. The output that the page shows is compared.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest
from page_blocks import blocks
from test_tour import is_shown

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))

from machines import images, needs  # noqa: E402 (the folder is none of pytest's)

#: No ansible-core has a part in it but the pinned one, which the first start installs.
pytestmark = pytest.mark.one_core

#: Pages that another test covers. It runs all of their blocks.
ELSEWHERE = {"docs/tour.md": "tests/delivery/test_tour.py"}
#: The page that makes the checkout is the first.
PAGES = [ROOT / "docs/installation.md", ROOT / "README.md"]
PAGES += sorted({*ROOT.glob("docs/**/*.md"), ROOT / "CONTRIBUTING.md"} - {*PAGES})

#: The exit codes that an audit of this machine may have.
VERDICTS = {0, 2, 3, 4, 5}
BARE = ("python3-venv", "git", "ca-certificates", "openssh-client")
ENTER = """
set -e
mount --rbind /dev "$1/dev"
mount -t proc proc "$1/proc"
exec chroot "$1" /usr/bin/env -i PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin HOME=/root \
  "$@" bash /root/run
"""
#: The variables with which pip reaches an index.
PASSED = re.compile(r"PIP_\w+|\w+_(?:proxy|PROXY)|SSL_CERT_FILE|SSL_CERT_DIR|REQUESTS_CA_BUNDLE")
COPIED = ("/etc/resolv.conf", "/etc/hosts", "/etc/pip.conf", "/etc/ssl/certs/ca-certificates.crt")


class Commands(NamedTuple):
    page: str
    section: str
    commands: str
    reason: str | None
    shown: list[str]

    @property
    def codes(self) -> set[int]:
        stated = re.findall(r"# exits with (\d+)", self.commands)
        if stated:
            return {int(stated[-1])}
        audits = re.search(r"hostproof (audit|verify)\b[^\n]*\n\Z", self.commands)
        return VERDICTS if audits else {0}


def commands() -> list[Commands]:
    found: list[Commands] = []
    for path in PAGES:
        page = path.relative_to(ROOT).as_posix()
        for block in blocks(path):
            if block.kind == "text":
                if found and found[-1][:2] == (page, block.section):
                    found[-1].shown.extend(block.text.splitlines())
            elif block.kind == "sh" and page not in ELSEWHERE:
                found.append(Commands(page, block.section, block.text, block.reason, []))
    return found


RUN = [block for block in commands() if block.reason is None]


def test_the_pages_have_blocks_of_both_kinds():
    assert len(RUN) >= 8
    reasons = [block.reason for path in PAGES for block in blocks(path) if block.reason is not None]
    assert all(len(reason) > 10 for reason in reasons)
    marks = sum(path.read_text().count("\n<!-- not run: ") for path in PAGES)
    assert marks == len(reasons)


@pytest.fixture(scope="module")
def bare(tmp_path_factory):
    """The bare root with a clone of this checkout to clone from."""
    if os.geteuid() != 0:
        pytest.skip("only root enters a bare root")
    if subprocess.run(["unshare", "--mount", "true"], capture_output=True).returncode:
        pytest.skip("unshare --mount is not permitted here")
    try:
        image = images.ensure(images.Recipe("bare", BARE, {}, images.pack_archive))
    except needs.Skip as reason:
        pytest.skip(str(reason))
    root = tmp_path_factory.mktemp("bare")
    subprocess.run(["tar", "-C", root, "-xf", image / "rootfs.tar"], check=True)
    for name in COPIED:
        if Path(name).exists():
            target = root / name.lstrip("/")
            target.parent.mkdir(parents=True, exist_ok=True)
            target.unlink(missing_ok=True)
            shutil.copyfile(name, target)
    copy = root / "srv/hostproof"
    subprocess.run(["git", "clone", "--quiet", "--no-hardlinks", ROOT, copy], check=True)
    return root


def script() -> str:
    lines = ["git config --global --add safe.directory '*'"]
    number = 0
    while number < len(RUN):
        same = [b for b in RUN[number:] if b[:2] == RUN[number][:2]]
        lines.append("(\nset -u\ncd /root/hostproof 2>/dev/null || cd /root")
        for place, block in enumerate(same, number):
            commands = block.commands.replace("clone URL", "clone --quiet /srv/hostproof")
            lines.append(f"exec >/root/{place}.out 2>&1\n{commands}\necho $? >/root/{place}.code")
        lines.append(")")
        number += len(same)
    return "\n".join(lines) + "\n"


def test_every_block_ends_and_prints_as_its_page_says(bare):
    (bare / "root/run").write_text(script())
    passed = [f"{name}={text}" for name, text in os.environ.items() if PASSED.fullmatch(name)]
    command = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "bash", "-c"]
    enter = ENTER.replace('"$@"', '"${@:2}"')
    subprocess.run([*command, enter, "bash", bare, *passed], stdin=subprocess.DEVNULL, timeout=900)
    problems = []
    for place, block in enumerate(RUN):
        code, out = bare / f"root/{place}.code", bare / f"root/{place}.out"
        printed = out.read_text(errors="replace") if out.exists() else ""
        ended = code.read_text().strip() if code.exists() else "not at all"
        if ended not in {str(number) for number in block.codes}:
            problems.append(f"{block.page}: ended {ended}\n{block.commands}{printed[-2000:]}")
            continue
        missing = is_shown(block.shown, printed.splitlines())
        if missing is not None:
            problems.append(
                f"{block.page}: not printed: {missing}\n{block.commands}{printed[:3000]}"
            )
    assert not problems, "\n\n".join(problems)

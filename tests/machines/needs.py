"""What the real tests need on this host, and the one line that says why a test cannot run."""

import fcntl
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import shared_cache
from runner.packages import has

ROOT = Path(__file__).resolve().parents[2]
#: Of this checkout.
CACHE = ROOT / ".cache"

#: Exit code for "could not run here", as automake and meson use it.
SKIPPED = 77


class Skip(Exception):
    """A real test cannot run on this host. The message is one line for the person who reads it."""


def say(message: str) -> None:
    """Show progress at once, also through a pipe."""
    print(message, flush=True)


def finish(main: Callable[[], int]) -> None:
    """Leave the process with what ``main`` answers; a Skip prints its line and leaves with 77.

    SIGTERM counts as an interruption, so that a machine is taken down all the same.
    """
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        code = main()
    except Skip as reason:
        say(f"skipped: {reason}")
        code = SKIPPED
    except subprocess.CalledProcessError as problem:
        say(f"failed: {' '.join(map(str, problem.cmd))} ended with {problem.returncode}")
        code = 1
    except RuntimeError as problem:
        say(f"failed: {problem}")
        code = 1
    except KeyboardInterrupt:
        code = 130
    sys.exit(code)


def release() -> tuple[str, str]:
    """This distribution's id and code name, for example ``("debian", "bookworm")``."""
    fields = {}
    for line in Path("/etc/os-release").read_text().splitlines():
        name, separator, value = line.partition("=")
        if separator:
            fields[name] = value.strip("\"'")
    return fields.get("ID", ""), fields.get("VERSION_CODENAME", "")


def install(packages: dict[str, str], purpose: str) -> None:
    """Install the packages whose command (the key) is missing: apt-get, as root.

    Raises Skip where that is not possible; nothing is changed if every command is there.
    """
    missing = sorted({package for command, package in packages.items() if not has(command)})
    if not missing:
        return
    if os.geteuid() != 0:
        raise Skip(f"{purpose} needs {', '.join(missing)}, and only root may install packages")
    if not has("apt-get"):
        raise Skip(f"{purpose} needs {', '.join(missing)}; install them (no apt-get here)")
    say(f"  installing {' '.join(missing)}")
    refresh_package_lists()
    with only_installer():
        apt_get("install", "--no-install-recommends", "--yes", *missing)


@contextmanager
def only_installer() -> Iterator[None]:
    """Hold the right to call apt-get, which would not wait: stages run side by side."""
    with (shared_cache.folder() / "apt-get.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def refresh_package_lists() -> None:
    """Fetch the package lists where this machine has none (as in a fresh container image)."""
    with only_installer():
        if not any(Path("/var/lib/apt/lists").glob("*_Packages*")):
            apt_get("update")


def apt_get(*arguments: str) -> None:
    """Run apt-get without questions; its output is shown only where it fails."""
    environment = dict(os.environ, DEBIAN_FRONTEND="noninteractive")
    command = ["apt-get", "--quiet", *arguments]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    if done.returncode and arguments[0] == "install":
        # Lists that are older than the archive name versions that are gone.
        subprocess.run(["apt-get", "--quiet", "update"], env=environment, capture_output=True)
        done = subprocess.run(command, env=environment, capture_output=True, text=True)
    if done.returncode:
        printed = done.stdout[-3000:] + done.stderr[-3000:]
        say(printed)
        reason = (printed.strip().splitlines() or ["it printed nothing"])[-1]
        raise RuntimeError(f"{' '.join(command)} ended with {done.returncode}: {reason}")

"""The container of the file tests: unprivileged, without an init, without a network.

``python tests/machines/container.py start|stop`` is what the molecule scenario calls. Podman, or
Docker where only that works; the image is built here, so that no registry is asked. Somebody who
has an image names it in HOSTPROOF_CONTAINER_IMAGE (it needs Python 3 and useradd);
HOSTPROOF_CONTAINER_ENGINE names an engine.
"""

import argparse
import hashlib
import json
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

if __package__ in (None, ""):
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from machines import images
from machines.needs import ROOT, Skip, finish, has, install, say

FOLDER = ROOT / ".cache" / "machines" / "container"
STATE = FOLDER / "container.json"

#: One container a checkout, found again also after a killed run.
NAME = f"hostproof-{hashlib.sha256(str(ROOT).encode()).hexdigest()[:8]}"
CONNECTIONS = {"podman": "containers.podman.podman", "docker": "community.docker.docker"}

#: No network and no privilege is needed, and what is not given cannot fail on an awkward host.
#: Its first process ignores SIGTERM, which would make every end take ten seconds.
OPTIONS = ("--network=none", "--security-opt=no-new-privileges", "--stop-signal=KILL")

#: Where an engine's defaults are refused: hosts without CAP_SYS_RESOURCE cannot raise limits, and
#: crun does not start on hybrid cgroups. Each is tried only when the one before it failed.
LIMITS = '[containers]\ndefault_ulimits = ["nofile=1024:1024", "nproc=1024:1024"]\n'
OVERRIDES = ("", LIMITS, LIMITS + '[engine]\nruntime = "runc"\n')


#: Podman and what it does not answer without, by the file that tells whether it is there. runc is
#: for the hosts where crun does not start.
PODMAN = {"podman": "podman", "runc": "runc", "/usr/lib/podman/netavark": "netavark"}


class Engine(NamedTuple):
    """A way to run containers that works here. ``executable`` is a wrapper where one is needed."""

    name: str
    executable: str
    image: str


def find_engine() -> Engine:
    """The first engine that runs the image, with the image in its store; Skip if there is none."""
    wanted = os.environ.get("HOSTPROOF_CONTAINER_ENGINE")
    if wanted not in (None, *CONNECTIONS):
        raise RuntimeError(f"HOSTPROOF_CONTAINER_ENGINE is {wanted}, not podman or docker")
    names = [wanted] if wanted else [name for name in CONNECTIONS if answers(name)]
    if not names or "podman" in names:
        install(PODMAN, "the container scenario")
    reasons = []
    for name in names or ["podman"]:
        if not answers(name):
            reasons.append(f"{name} does not answer")
            continue
        for number, override in enumerate(OVERRIDES if name == "podman" else OVERRIDES[:1]):
            if "runc" in override:
                install({"runc": "runc"}, "podman on this host")
            engine = with_image(name, wrapper(name, number, override))
            problem = try_out(engine)
            if problem is None:
                return engine
        reasons.append(f"{name}: {problem}")
    if "HOSTPROOF_CONTAINER_IMAGE" in os.environ:
        raise RuntimeError(f"HOSTPROOF_CONTAINER_IMAGE does not run ({'; '.join(reasons)})")
    raise Skip(f"no container engine runs a container here ({'; '.join(reasons)})")


def answers(name: str) -> bool:
    """Whether an engine is installed and there (Docker's client may have no daemon to talk to)."""
    if not has(name):
        return False
    return subprocess.run([name, "info"], capture_output=True, timeout=60).returncode == 0


def wrapper(name: str, number: int, override: str) -> str:
    """The engine's executable, or a script that calls it with another containers.conf."""
    real = shutil.which(name)
    if real is None:
        raise Skip(f"{name} is not installed")
    if not override:
        return real
    folder = FOLDER / f"override-{number}"
    folder.mkdir(parents=True, exist_ok=True)
    settings = folder / "containers.conf"
    settings.write_text(override)
    script = folder / name
    environment = f"CONTAINERS_CONF={shlex.quote(str(settings))}"
    script.write_text(f'#!/bin/sh\n{environment} exec {shlex.quote(real)} "$@"\n')
    script.chmod(0o755)
    return str(script)


def with_image(name: str, executable: str) -> Engine:
    """The engine with the image in its store: the named one, or ours, imported once."""
    named = os.environ.get("HOSTPROOF_CONTAINER_IMAGE")
    if named:
        return Engine(name, executable, named)
    folder = images.ensure(images.container_recipe())
    image = f"localhost/hostproof-{folder.name.replace('container-', 'container:')}"
    known = subprocess.run([executable, "image", "inspect", image], capture_output=True)
    if known.returncode != 0:
        say(f"  importing {image}")
        command = [executable, "import", str(folder / "rootfs.tar"), image]
        subprocess.run(command, check=True, capture_output=True)
    return Engine(name, executable, image)


def try_out(engine: Engine) -> str | None:
    """Why the engine cannot run a container of the image; None if it can."""
    command = [engine.executable, "run", "--rm", *OPTIONS, engine.image, "true"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    except subprocess.TimeoutExpired:
        return "no answer"
    return None if done.returncode == 0 else (done.stderr.strip().splitlines() or ["failed"])[-1]


def start() -> None:
    """Start a fresh container in place of an older one."""
    stop()
    FOLDER.mkdir(parents=True, exist_ok=True)
    engine = find_engine()
    remove(engine.executable)
    command = [engine.executable, "run", "--detach", "--name", NAME, *OPTIONS, engine.image]
    subprocess.run([*command, "sleep", "infinity"], check=True, capture_output=True)
    STATE.write_text(
        json.dumps(
            {
                "name": NAME,
                "engine": engine.name,
                "executable": engine.executable,
                "image": engine.image,
                "connection": CONNECTIONS[engine.name],
            },
            indent=2,
        )
        + "\n"
    )
    say(f"  {engine.name} runs {engine.image}")


def stop() -> None:
    """Remove the container, also one that a killed run left, and what was noted about it."""
    if STATE.exists():
        remove(json.loads(STATE.read_text())["executable"])
    if FOLDER.exists():
        shutil.rmtree(FOLDER)


def remove(executable: str) -> None:
    """Remove the container of this checkout, if there is one."""
    subprocess.run([executable, "rm", "--force", NAME], capture_output=True)


def command(shell: str) -> list[str]:
    """The argv that runs a shell command in the container as root; standard input goes to it."""
    state = json.loads(STATE.read_text())
    return [state["executable"], "exec", "--interactive", NAME, "sh", "-c", shell]


def main() -> int:
    parser = argparse.ArgumentParser(description="The container of the file tests.")
    parser.add_argument("action", choices=("prepare", "start", "stop"))
    {"prepare": find_engine, "start": start, "stop": stop}[parser.parse_args().action]()
    return 0


if __name__ == "__main__":
    finish(main)

"""The containers of the file tests: unprivileged, without an init, without a network.

One for each scenario that has an inventory in its folder, all of one image.
``python tests/machines/container.py start|prepare|stop SCENARIO`` is what molecule calls.
Podman, or Docker where only that works; the image is built here, so that no registry is asked.
Somebody who has an image names it in HOSTPROOF_CONTAINER_IMAGE (it needs Python 3, ss and useradd);
HOSTPROOF_CONTAINER_ENGINE names an engine.
"""

import argparse
import hashlib
import io
import json
import os
import shlex
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import Any, NamedTuple

if __package__ in (None, ""):
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from machines import images
from machines.needs import ROOT, Skip, finish, has, install, say

FOLDER = ROOT / ".cache" / "machines" / "container"
SCENARIOS = sorted(path.parent.name for path in (ROOT / "molecule").glob("*/inventory"))
CONNECTIONS = {"podman": "containers.podman.podman", "docker": "community.docker.docker"}

#: No network and no privilege is needed, and what is not given cannot fail on an awkward host.
#: Its first process ignores SIGTERM, which would make every end take ten seconds.
OPTIONS = ("--network=none", "--security-opt=no-new-privileges", "--stop-signal=KILL")

#: What root of a scenario's container needs of what root of a host has: to look into processes of
#: other accounts (the environment that a listener was started with, what a writer holds open).
CAPABILITIES = {
    "async_io": ("--cap-add=SYS_PTRACE",),
    "listener_rate_limit": ("--cap-add=SYS_PTRACE",),
}

#: Where an engine's defaults are refused: hosts without CAP_SYS_RESOURCE cannot raise limits, and
#: crun does not start on hybrid cgroups. Each is tried only when the one before it failed.
LIMITS = '[containers]\ndefault_ulimits = ["nofile=1024:1024", "nproc=1024:1024"]\n'
OVERRIDES = ("", LIMITS, LIMITS + '[engine]\nruntime = "runc"\n')

#: What a scenario's prepare.sh finds in its working folder, beside the scenario's own ("scenario").
GIVEN = {"standins": "tests/standins", "fixtures/alert_log": "tests/fixtures/alert_log"}
PREPARING = "/tmp/preparing"

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


def name_of(scenario: str) -> str:
    """One container a scenario and checkout, found again also after a killed run."""
    return f"hostproof-{hashlib.sha256(str(ROOT).encode()).hexdigest()[:8]}-{scenario}"


def state_file(scenario: str) -> Path:
    """Where it is noted that the scenario's container runs, and by what."""
    return FOLDER / f"{scenario}.json"


def state(scenario: str) -> dict[str, str]:
    noted: dict[str, str] = json.loads(state_file(scenario).read_text())
    return noted


def start(scenario: str) -> None:
    """Start a fresh container in place of an older one."""
    stop(scenario)
    FOLDER.mkdir(parents=True, exist_ok=True)
    engine = find_engine()
    remove(engine.executable, scenario)
    name = name_of(scenario)
    options = (*OPTIONS, *CAPABILITIES.get(scenario, ()))
    command = [engine.executable, "run", "--detach", "--name", name, *options, engine.image]
    subprocess.run([*command, "sleep", "infinity"], check=True, capture_output=True)
    state_file(scenario).write_text(
        json.dumps(
            {
                "name": name,
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


def stop(scenario: str) -> None:
    """Remove the container, also one that a killed run left, and what was noted about it."""
    if state_file(scenario).exists():
        remove(state(scenario)["executable"], scenario)
        state_file(scenario).unlink()


def remove(executable: str, scenario: str) -> None:
    """Remove the scenario's container of this checkout, if there is one."""
    subprocess.run([executable, "rm", "--force", name_of(scenario)], capture_output=True)


def command(scenario: str, shell: str) -> list[str]:
    """The argv that runs a shell command in the container as root; standard input goes to it."""
    noted = state(scenario)
    return [noted["executable"], "exec", "--interactive", noted["name"], "sh", "-c", shell]


def prepare(scenario: str) -> None:
    """Carry out molecule/SCENARIO/prepare.sh in its container: in one command, for an engine takes
    a second for each, and a task of a play is several."""
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w") as archive:
        for name, source in {"scenario": f"molecule/{scenario}", **GIVEN}.items():
            archive.add(ROOT / source, name, filter=without_caches)
    unpack = f"mkdir {PREPARING} && cd {PREPARING} && tar -xf - --no-same-owner"
    shell = f"{unpack} && sh -eu scenario/prepare.sh && cd / && rm -r {PREPARING}"
    subprocess.run(command(scenario, shell), input=content.getvalue(), check=True, timeout=300)


def without_caches(member: tarfile.TarInfo) -> tarfile.TarInfo | None:
    return None if "__pycache__" in member.name else member


def inventory(scenario: str) -> dict[str, Any]:
    """The scenario's container as the host "box" of the group "container"; none if none runs."""
    if not state_file(scenario).exists():
        return {"container": {"hosts": []}, "_meta": {"hostvars": {}}}
    noted = state(scenario)
    variables = {
        "ansible_connection": noted["connection"],
        "ansible_host": noted["name"],
        # Docker's connection needs none: only Podman's defaults are ever overridden.
        "ansible_podman_executable": noted["executable"],
        # It is root in there, and has no sudo.
        "hostproof_become": False,
    }
    return {"container": {"hosts": ["box"]}, "_meta": {"hostvars": {"box": variables}}}


def main() -> int:
    parser = argparse.ArgumentParser(description="The containers of the file tests.")
    parser.add_argument("action", choices=("start", "prepare", "stop"))
    parser.add_argument("scenario", choices=SCENARIOS)
    options = parser.parse_args()
    {"start": start, "prepare": prepare, "stop": stop}[options.action](options.scenario)
    return 0


if __name__ == "__main__":
    finish(main)

"""The containers of the file tests: unprivileged, without an init, without a network.

A container has a name, and a folder that says what is in it: a scenario of molecule, or what a
story of tests/containers starts from. All are of one image.
``python tests/machines/container.py start|prepare|stop|login NAME`` is what molecule calls.
Podman, or Docker where only that works; the image is built here, so that no registry is asked.
Somebody who has an image names it in HOSTPROOF_CONTAINER_IMAGE (it needs Python 3, ss and useradd);
HOSTPROOF_CONTAINER_ENGINE names an engine.
"""

import argparse
import contextlib
import hashlib
import io
import json
import os
import re
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
NOTED_ENGINE = FOLDER / "engine"
NAME = re.compile(r"[a-zA-Z0-9][a-zA-Z0-9_.-]{0,99}")
ENGINES = ("podman", "docker")

#: What Ansible starts as ssh, with options, the host and a command. As on a real host the input of
#: a command gets through: with the connection of Ansible's collection for Podman it does not, and
#: Ansible sends each module with all files that it may need, for several times the work of a play.
SSH = """#!/bin/sh
for command do :; done
exec {executable} exec --interactive {name} sh -c "$command"
"""

#: No network and no privilege is needed, and what is not given cannot fail on an awkward host.
#: Its first process ignores SIGTERM, which would make every end take ten seconds.
OPTIONS = ("--network=none", "--security-opt=no-new-privileges", "--stop-signal=KILL")

#: A file of this name in a scenario's folder lists more options of "run" for its container, one a
#: line: a capability that root of a host has, for example.
MORE_OPTIONS = "container-options"

#: Where an engine's defaults are refused: hosts without CAP_SYS_RESOURCE cannot raise limits, and
#: crun does not start on hybrid cgroups. Each is tried only when the one before it failed.
LIMITS = '[containers]\ndefault_ulimits = ["nofile=1024:1024", "nproc=1024:1024"]\n'
OVERRIDES = ("", LIMITS, LIMITS + '[engine]\nruntime = "runc"\n')

#: Story without a scenario, to the scenario that prepares its container.
STARTS_FROM = {"latency_gate": "process_limits"}

#: Of tests/fixtures.
RECORDED = ("alert_log", "block_devices", "pool_validation")
#: What a scenario's prepare.sh finds in its working folder, beside the scenario's own ("scenario").
GIVEN = {
    "standins": "tests/standins",
    **{f"fixtures/{name}": f"tests/fixtures/{name}" for name in RECORDED},
}
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
    requested = os.environ.get("HOSTPROOF_CONTAINER_ENGINE")
    if requested not in (None, *ENGINES):
        raise RuntimeError(f"HOSTPROOF_CONTAINER_ENGINE is {requested}, not podman or docker")
    names = [requested] if requested else [name for name in ENGINES if answers(name)]
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
                note_engine(engine)
                return engine
        reasons.append(f"{name}: {problem}")
    if "HOSTPROOF_CONTAINER_IMAGE" in os.environ:
        raise RuntimeError(f"HOSTPROOF_CONTAINER_IMAGE does not run ({'; '.join(reasons)})")
    raise Skip(f"no container engine runs a container here ({'; '.join(reasons)})")


def note_engine(engine: Engine) -> None:
    """For the next container: to find an engine takes longer than to start one."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    whole = NOTED_ENGINE.with_name(f"{NOTED_ENGINE.name}.{os.getpid()}")
    whole.write_text(json.dumps({"asked": asked_for(), "engine": engine}))
    whole.replace(NOTED_ENGINE)


def noted_engine() -> Engine | None:
    """The engine that was found last, if the same one would be looked for now."""
    with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
        noted = json.loads(NOTED_ENGINE.read_text())
        if noted["asked"] == asked_for():
            return Engine(*noted["engine"])
    return None


def asked_for() -> list[str]:
    """What decides which engine and which image."""
    variables = ("HOSTPROOF_CONTAINER_ENGINE", "HOSTPROOF_CONTAINER_IMAGE", "PATH")
    recipe = images.container_recipe().folder().name
    return [*(os.environ.get(name, "") for name in variables), recipe]


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
    environment = f"CONTAINERS_CONF={shlex.quote(str(settings))}"
    script = folder / name
    write_program(script, f'#!/bin/sh\n{environment} exec {shlex.quote(real)} "$@"\n')
    return str(script)


def write_program(path: Path, text: str) -> None:
    """Replace a program that another run may be starting: one open for writing does not start."""
    new = path.with_name(f"{path.name}-{os.getpid()}")
    new.write_text(text)
    new.chmod(0o755)
    new.replace(path)


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


def name_of(name: str) -> str:
    """One container a name and checkout, found again also after a killed run."""
    return f"hostproof-{hashlib.sha256(str(ROOT).encode()).hexdigest()[:8]}-{name}"


def inventory_file(name: str) -> Path:
    """An inventory with the container as host "box" of the group "container", while it runs."""
    return FOLDER / f"{name}.json"


def ssh_file(name: str) -> Path:
    """The program that runs the commands of Ansible's ssh in the container."""
    return FOLDER / f"{name}-ssh"


def scenario_folder(scenario: str) -> Path:
    return ROOT / "molecule" / STARTS_FROM.get(scenario, scenario)


class Running(NamedTuple):
    """A container that runs. ``name`` is the engine's name of it."""

    name: str
    engine: str
    executable: str
    image: str


def state(name: str) -> Running:
    host = json.loads(inventory_file(name).read_text())["container"]["hosts"]["box"]
    return Running(*(host[f"container_{field}"] for field in Running._fields))


def start(name: str, folder: Path) -> None:
    """Start a fresh container in place of an older one, with the options of its folder."""
    stop(name)
    FOLDER.mkdir(parents=True, exist_ok=True)
    engine = noted_engine()
    if engine is None or not started(engine, name, folder):
        engine = find_engine()
        if not started(engine, name, folder):
            raise RuntimeError(f"{engine.name} does not start a container of {engine.image}")
    running = Running(name_of(name), *engine)
    executable = shlex.quote(running.executable)
    write_program(ssh_file(name), SSH.format(executable=executable, name=running.name))
    hosts = {"container": {"hosts": {"box": variables(name, running)}}}
    inventory_file(name).write_text(json.dumps(hosts, indent=2) + "\n")
    say(f"  {engine.name} runs {engine.image}")


def started(engine: Engine, name: str, folder: Path) -> bool:
    """Whether the engine runs the container now, in place of an older one."""
    remove(engine.executable, name)
    options = (*OPTIONS, *more_options(folder))
    command = [
        engine.executable,
        "run",
        "--detach",
        "--name",
        name_of(name),
        *options,
        engine.image,
    ]
    done = subprocess.run([*command, "sleep", "infinity"], capture_output=True, text=True)
    if done.returncode:
        say(f"  {engine.name}: {done.stderr.strip()[-500:]}")
    return done.returncode == 0


def more_options(folder: Path) -> list[str]:
    file = folder / MORE_OPTIONS
    lines = file.read_text().splitlines() if file.exists() else []
    return [line for line in lines if line and not line.startswith("#")]


def variables(name: str, running: Running) -> dict[str, Any]:
    """How Ansible reaches the container."""
    return {
        "ansible_connection": "ssh",
        "ansible_host": running.name,
        "ansible_ssh_executable": str(ssh_file(name)),
        # Nothing of ssh's own: no connection that is shared, no sftp.
        "ansible_ssh_args": "",
        "ansible_ssh_transfer_method": "piped",
        # It is root in there, and has no sudo.
        "hostproof_become": False,
        **{f"container_{key}": value for key, value in running._asdict().items()},
    }


def stop(name: str) -> None:
    """Remove the container, also one that a killed run left, and what was noted about it."""
    if inventory_file(name).exists():
        # What another version of this file noted is not read: start() looks for the container, too.
        with contextlib.suppress(ValueError, KeyError):
            remove(state(name).executable, name)
        inventory_file(name).unlink()
        ssh_file(name).unlink(missing_ok=True)


def remove(executable: str, name: str) -> None:
    """Remove this checkout's container of that name, if there is one."""
    subprocess.run([executable, "rm", "--force", name_of(name)], capture_output=True)


def command(name: str, shell: str) -> list[str]:
    """The argv that runs a shell command in the container as root; standard input goes to it."""
    running = state(name)
    return [running.executable, "exec", "--interactive", running.name, "sh", "-c", shell]


def prepare(name: str, folder: Path) -> None:
    """Carry out the folder's prepare.sh in the container: in one command, for an engine takes a
    second for each, and a task of a play is several. A folder without one leaves it as it is."""
    if not (folder / "prepare.sh").exists():
        return
    content = io.BytesIO()
    sources = {"scenario": folder, **{key: ROOT / source for key, source in GIVEN.items()}}
    with tarfile.open(fileobj=content, mode="w", dereference=True) as archive:
        for inside, source in sources.items():
            archive.add(source, inside, filter=without_caches)
    unpack = f"mkdir {PREPARING} && cd {PREPARING} && tar -xf - --no-same-owner"
    shell = f"{unpack} && sh -eu scenario/prepare.sh && cd / && rm -r {PREPARING}"
    subprocess.run(command(name, shell), input=content.getvalue(), check=True, timeout=300)


def without_caches(member: tarfile.TarInfo) -> tarfile.TarInfo | None:
    return None if "__pycache__" in member.name else member


def login(name: str) -> None:
    """Become a shell in the container."""
    if not inventory_file(name).exists():
        raise Skip("the container does not run; molecule create starts it")
    running = state(name)
    os.execvp(running.executable, [running.executable, "exec", "-it", running.name, "sh", "-l"])


def name(text: str) -> str:
    if not NAME.fullmatch(text):
        raise argparse.ArgumentTypeError(f"{text!r} is no name for a container")
    return text


def main() -> int:
    parser = argparse.ArgumentParser(description="The containers of the file tests.")
    actions = parser.add_subparsers(dest="action", required=True)
    for action in ("start", "prepare", "stop", "login"):
        subparser = actions.add_parser(action)
        subparser.add_argument("name", type=name)
        if action in ("start", "prepare"):
            subparser.add_argument("folder", type=Path, help="the scenario's folder")
    options = parser.parse_args()
    if options.action == "start":
        start(options.name, options.folder)
    elif options.action == "prepare":
        prepare(options.name, options.folder)
    elif options.action == "stop":
        stop(options.name)
    else:
        login(options.name)
    return 0


if __name__ == "__main__":
    finish(main)

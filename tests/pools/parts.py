"""A stock WildFly, PostgreSQL behind a proxy that adds a known delay, and an application between.

All of it lies in one folder, runs as a plain account on free ports of the loopback interface, and
is ended by whoever started it. What is fetched by its Maven coordinates is kept in the cache.
"""

import contextlib
import hashlib
import json
import os
import pwd
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import shared_cache
from machines.needs import Skip, install, say

HERE = Path(__file__).resolve().parent

VERSION = "26.1.3.Final"
WILDFLY = f"org.wildfly:wildfly-dist:{VERSION}:zip"
DRIVER = "org.postgresql:postgresql:42.7.3"
#: The one that takes coordinates and copies a file without a project.
COPY = "org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy"

#: Neither PostgreSQL nor the control's commands are run as root.
ACCOUNT = "nobody" if os.geteuid() == 0 else pwd.getpwuid(os.geteuid()).pw_name
DELAY_MS = 6
POOL = 5
#: Of the management's test account, which is made for the run and goes with its folder.
USER, WORD, REALM = "tester", "wildfly-tests", "ManagementRealm"
#: A slow machine starts a domain in two minutes.
PATIENCE = 240.0


def provide() -> None:
    """Installs what is missing, and fetches what is started; Skip says what cannot be had."""
    install({"java": "openjdk-17-jre-headless", "mvn": "maven"}, "a real WildFly")
    if not list(Path("/usr/lib/postgresql").glob("*/bin/initdb")):
        install({"initdb": "postgresql"}, "a real database")
    for coordinates in (WILDFLY, DRIVER):
        fetch(coordinates)


def fetch(coordinates: str) -> Path:
    """The file of these Maven coordinates, from the cache or the repository that mvn knows."""
    _group, name, version, *kind = coordinates.split(":")
    file = shared_cache.folder() / "maven" / f"{name}-{version}.{kind[0] if kind else 'jar'}"
    if file.exists():
        return file
    say(f"  fetching {coordinates}")
    coming = file.parent / f"coming-{os.getpid()}"
    command = ["mvn", "-q", "-B", COPY, f"-Dartifact={coordinates}", f"-DoutputDirectory={coming}"]
    try:
        # What Maven has already needs no network.
        for offline in (["-o"], []):
            done = subprocess.run([*command, *offline], capture_output=True, text=True, timeout=900)
            if done.returncode == 0:
                # Under its name a file is whole.
                os.replace(coming / file.name, file)
                return file
    except subprocess.TimeoutExpired as late:
        raise Skip(f"Maven did not bring {coordinates} within {late.timeout:.0f} s") from late
    finally:
        shutil.rmtree(coming, ignore_errors=True)
    reason = next(iter(re.findall(r"ERROR\S* (.+)", done.stdout)), "no reason given")
    raise Skip(f"Maven does not bring {coordinates}: {reason[:200]}")


def free_ports(*wanted: int) -> int:
    """An offset at which all these ports are free."""
    for offset in range(10000, 40000, 977):
        with contextlib.ExitStack() as held, contextlib.suppress(OSError):
            for port in wanted:
                held.enter_context(socket.create_server(("127.0.0.1", port + offset)))
            return offset
    raise RuntimeError(f"no offset at which {wanted} are free")


def wait_until(ready: Callable[[], Any], what: str, seconds: float = PATIENCE) -> Any:
    """What ``ready`` answers as soon as it is true; an answer that is refused is none."""
    deadline = time.monotonic() + seconds
    reason: object = "not yet"
    while time.monotonic() < deadline:
        try:
            if result := ready():
                return result
        except (OSError, RuntimeError, ValueError) as problem:
            reason = problem
        time.sleep(0.2)
    raise RuntimeError(f"{what} within {seconds:.0f} s: it did not come to that ({reason})")


def owned(folder: Path) -> Path:
    """The folder and all in it, given to the account that runs the servers."""
    if os.geteuid() == 0:
        for path in (folder, *folder.rglob("*")):
            shutil.chown(path, ACCOUNT, pwd.getpwnam(ACCOUNT).pw_gid)
    return folder


@contextlib.contextmanager
def folder() -> Iterator[Path]:
    """A new folder that the plain account reaches, with one for each of its servers."""
    with tempfile.TemporaryDirectory(prefix="hostproof-pools-") as name:
        root = Path(name)
        root.chmod(0o755)
        for part in ("database", "proxy", "standalone", "domain"):
            (root / part).mkdir()
            owned(root / part)
        yield root


@contextlib.contextmanager
def running(
    argv: list[Any], log: Path, *, user: str | None = ACCOUNT, **environment: str
) -> Iterator[subprocess.Popen[bytes]]:
    """A server of the plain account (None: ours), in the group of the tests: it ends with them."""
    as_user: dict[str, Any] = {}
    if user is not None and os.geteuid() == 0:
        account = pwd.getpwnam(user)
        as_user = {"user": account.pw_uid, "group": account.pw_gid}
    with log.open("ab") as stream:
        server = subprocess.Popen(
            [str(word) for word in argv],
            stdin=subprocess.DEVNULL,
            stdout=stream,
            stderr=subprocess.STDOUT,
            cwd="/",
            env={"PATH": os.environ["PATH"], "LC_ALL": "C", "HOME": str(log.parent), **environment},
            **as_user,
        )
    try:
        yield server
    finally:
        # PostgreSQL and the script of WildFly end with what they started.
        server.send_signal(2 if "postgres" in str(argv[0]) else 15)
        try:
            server.wait(timeout=60)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()


# -- the database ----------------------------------------------------------------------------------


class Database:
    """PostgreSQL, which writes down every statement."""

    def __init__(self, port: int, log: Path, psql: Path) -> None:
        self.port, self._log, self._psql = port, log, psql

    def ask(self, sql: str) -> str:
        """On a connection of its own, past the proxy."""
        at = ["-h", "127.0.0.1", "-p", str(self.port), "-U", "pools", "-d", "postgres"]
        done = subprocess.run(
            [self._psql, "-XAtq", *at, "-c", sql], capture_output=True, text=True, check=True
        )
        return done.stdout.strip()

    def kill_sessions(self) -> int:
        """Ends every session of the pools, as a failover does; how many they were."""
        output = self.ask(
            "select count(pg_terminate_backend(pid)) from pg_stat_activity "
            "where pid <> pg_backend_pid() and backend_type = 'client backend'"
        )
        return int(output)

    def statements(self) -> list[str]:
        """All of the pools' so far, in their order."""
        return re.findall(r"LOG:  (?:statement|execute [^:]*): (.*)", self._log.read_text())


def programs_of_postgresql() -> Path:
    """Where the newest server's are: Debian puts them into no folder of PATH."""
    paths = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    if not paths:
        raise Skip("PostgreSQL's server is not installed")
    return paths[-1].parent


@contextlib.contextmanager
def database(folder: Path) -> Iterator[Database]:
    programs, log = programs_of_postgresql(), folder / "postgresql.log"
    data = folder / "data"
    with running(
        [programs / "initdb", "-D", data, "-U", "pools", "-A", "trust", "-N"], log
    ) as making:
        if making.wait(timeout=PATIENCE):
            raise RuntimeError(f"initdb: {log.read_text()[-500:]}")
    port = 5432 + free_ports(5432)
    settings = ("fsync=off", "log_statement=all", "unix_socket_directories=", "max_connections=60")
    options = [word for setting in settings for word in ("-c", setting)]
    with running([programs / "postgres", "-D", data, "-h", "127.0.0.1", "-p", port, *options], log):
        instance = Database(port, log, programs / "psql")

        def answers() -> bool:
            with contextlib.suppress(subprocess.CalledProcessError):
                return instance.ask("select 1") == "1"
            return False

        wait_until(answers, "PostgreSQL answers")
        yield instance


@contextlib.contextmanager
def delayed(target: int, folder: Path, milliseconds: float = DELAY_MS) -> Iterator[int]:
    """The port of a proxy that holds each request for so long."""
    log = folder / "proxy.log"
    port = 6432 + free_ports(6432)
    argv: list[Any] = [sys.executable, HERE / "proxy.py", port, target, milliseconds]
    with running(argv, log, user=None):
        wait_until(lambda: "listening" in log.read_text(), "the proxy listens", 60)
        yield port


# -- the application server ------------------------------------------------------------------------


class WildFly:
    """A server that runs, standalone or the controller of a domain.

    ``web`` are the ports of the application, by server ("" for a standalone one).
    """

    def __init__(self, home: Path, base: Path, mode: str, management: int, web: dict[str, int]):
        self.home, self.base, self.mode = home, base, mode
        self.management, self.web = management, web
        self._address = f"http://127.0.0.1:{management}/management"

    def policy(self) -> dict[str, Any]:
        """As pool_validation_servers has it."""
        return {
            "name": "shop",
            "home": str(self.home),
            "base": str(self.base),
            "user": ACCOUNT,
            "mode": self.mode,
            "java": shutil.which("java"),
            "controller": f"127.0.0.1:{self.management}",
        }

    def tell(self, operation: str, at: list[str], **more: Any) -> Any:
        """The result of an operation; RuntimeError with what the server says where it fails."""
        payload = {"operation": operation, "address": at, **more}
        request = urllib.request.Request(
            self._address, json.dumps(payload).encode(), {"Content-Type": "application/json"}
        )
        manager = urllib.request.HTTPPasswordMgrWithDefaultRealm()
        manager.add_password(None, self._address, USER, WORD)
        # One for each: it counts refusals, and those of a server that starts would be too many.
        # A domain's controller wants the basic form, out of the box.
        opener = urllib.request.build_opener(
            urllib.request.ProxyHandler({}),
            urllib.request.HTTPDigestAuthHandler(manager),
            urllib.request.HTTPBasicAuthHandler(manager),
        )
        try:
            with opener.open(request, timeout=120) as answer:
                return json.load(answer).get("result")
        except urllib.error.HTTPError as problem:
            raise RuntimeError(f"{payload}: {problem.read().decode()[:500]}") from problem

    def add(self, name: str, port: int, at: list[str] | None = None, **values: Any) -> None:
        """A data source java:/NAME, whose check can be told from others' in the statements."""
        attributes = {
            "jndi-name": f"java:/{name}",
            "connection-url": f"jdbc:postgresql://127.0.0.1:{port}/postgres",
            "driver-name": "postgresql.jar",
            "user-name": "pools",
            "max-pool-size": POOL,
            "check-valid-connection-sql": f"select 'check {name}'",
            **{key.replace("_", "-"): value for key, value in values.items()},
        }
        where = [*(at or []), "subsystem", "datasources", "data-source", name]
        self.tell("add", where, **attributes)

    def write(self, source: str, at: list[str] | None = None, **values: Any) -> None:
        """Sets attributes of a data source (``_`` for ``-``); they wait for a reload."""
        where = [*(at or []), "subsystem", "datasources", "data-source", source]
        for name, value in values.items():
            self.tell("write-attribute", where, name=name.replace("_", "-"), value=value)

    def reload(self) -> None:
        self.tell("reload", [])
        self.wait()

    def wait(self) -> None:
        wait_until(lambda: self._states() == {"running"}, "WildFly runs")

    def _states(self) -> set[str]:
        if self.mode == "standalone":
            return {self.tell("read-attribute", [], name="server-state")}
        nodes = [["host", "master", "server", name] for name in self.web]
        return {self.tell("read-attribute", node, name="server-state") for node in nodes}

    def checkouts(
        self, jndi: str, n: int, sql: str | None = None, server: str = ""
    ) -> list[list[float] | str]:
        """What the application says of ``n`` checkouts in one request, or of each of their own:
        milliseconds of the checkout and of the statement, or what failed."""
        query = urllib.parse.urlencode(
            {"jndi": jndi, "n": n, **({} if sql is None else {"sql": sql})}
        )
        address = f"http://127.0.0.1:{self.web[server]}/pools/index.jsp?{query}"
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open(address, timeout=120) as answer:
            lines = answer.read().decode().split("\n")
        return [
            line if line.startswith("failed") else [int(word) / 1000 for word in line.split()]
            for line in map(str.strip, lines)
            if line
        ]


def unpack(folder: Path) -> Path:
    """The home of a stock WildFly: everybody reads it, root or the account owns it."""
    with zipfile.ZipFile(fetch(WILDFLY)) as packed:
        packed.extractall(folder)
        for entry in packed.infolist():
            if entry.filename.endswith(".sh"):
                (folder / entry.filename).chmod(0o755)
    return folder / f"wildfly-{VERSION}"


def application(folder: Path) -> Path:
    """The application as an archive."""
    file = folder / "pools.war"
    with zipfile.ZipFile(file, "w") as packed:
        packed.write(HERE / "app/index.jsp", "index.jsp")
    return file


def _prepare(home: Path, base: Path, mode: str) -> Path:
    """A base of its own for a server, which lets the test account in."""
    shutil.copytree(home / mode, base)
    secret = hashlib.md5(f"{USER}:{REALM}:{WORD}".encode(), usedforsecurity=False).hexdigest()
    with (base / "configuration/mgmt-users.properties").open("a") as stream:
        stream.write(f"\n{USER}={secret}\n")
    return base


def _started(home: Path, base: Path, mode: str, *options: str) -> Any:
    environment = {
        "JAVA_OPTS": "-Xms64m -Xmx384m -XX:MaxMetaspaceSize=256m -Djava.net.preferIPv4Stack=true "
        "-XX:TieredStopAtLevel=1",
        # Then it hands the signals on, and waits for the server.
        "LAUNCH_JBOSS_IN_BACKGROUND": "true",
        "JBOSS_HOME": str(home),
    }
    argv = ["/bin/sh", home / f"bin/{mode}.sh", *options]
    return running(argv, base.parent / f"{base.name}.log", **environment)


@contextlib.contextmanager
def standalone(home: Path, base: Path, config: str) -> Iterator[WildFly]:
    """A server with the driver and the application, and no data source but the stock one.

    It is started from a copy of standalone.xml of the name ``config``.
    """
    _prepare(home, base, "standalone")
    shutil.copy(base / "configuration/standalone.xml", base / "configuration" / config)
    shutil.copy(fetch(DRIVER), base / "deployments/postgresql.jar")
    application(base / "deployments")
    owned(base)
    offset = free_ports(8009, 8080, 8443, 9990, 9993, 4712, 4713)
    server = WildFly(home, base, "standalone", 9990 + offset, {"": 8080 + offset})
    where = (f"-Djboss.server.base.dir={base}", f"-Djboss.socket.binding.port-offset={offset}")
    with _started(home, base, "standalone", *where, f"--server-config={config}"):
        server.wait()
        wait_until(lambda: (base / "deployments/pools.war.deployed").exists(), "it is deployed")
        yield server


@contextlib.contextmanager
def domain(home: Path, base: Path) -> Iterator[WildFly]:
    """A domain whose host.xml puts each of two servers into a group of another profile.

    server-one has the profile "default", server-three "other", a copy of it: which pools a server
    has is decided by both files together.
    """
    _prepare(home, base, "domain")
    offset = free_ports(8080, 8180, 9990)
    file = base / "configuration/host.xml"
    text = file.read_text()
    servers = "".join(
        f'<server name="{name}" group="{group}" auto-start="false"><jvm name="default"/>'
        f'<socket-bindings port-offset="{offset + more}"/></server>'
        for name, group, more in (
            ("server-one", "main-server-group", 0),
            ("server-three", "other-server-group", 100),
        )
    )
    text = re.sub(r"<servers>.*</servers>", f"<servers>{servers}</servers>", text, flags=re.DOTALL)
    file.write_text(text)
    owned(base)
    web = {"server-one": 8080 + offset, "server-three": 8180 + offset}
    server = WildFly(home, base, "domain", 9990 + offset, web)
    options = (f"-Djboss.domain.base.dir={base}", f"-Djboss.management.http.port={9990 + offset}")
    with _started(home, base, "domain", *options):
        master = ["host", "master"]
        wait_until(
            lambda: server.tell("read-attribute", master, name="host-state") == "running",
            "the domain's controller runs",
        )
        server.tell("clone", ["profile", "default"], **{"to-profile": "other"})
        for group, profile in (("main-server-group", "default"), ("other-server-group", "other")):
            where = ["server-group", group]
            server.tell("write-attribute", where, name="profile", value=profile)
            attribute = {"name": "socket-binding-group", "value": "standard-sockets"}
            server.tell("write-attribute", where, **attribute)
        deployed = base.parent / "deployed"
        deployed.mkdir()
        shutil.copy(fetch(DRIVER), deployed / "postgresql.jar")
        application(deployed)
        owned(deployed)
        for archive in sorted(deployed.iterdir()):
            content = [{"url": archive.as_uri()}]
            server.tell("add", ["deployment", archive.name], content=content)
            for group in ("main-server-group", "other-server-group"):
                where = ["server-group", group, "deployment", archive.name]
                server.tell("add", where, enabled=archive.suffix == ".jar")
        yield server


def start_servers(controller: WildFly) -> None:
    """Those of the domain, which were not started with it, and their application."""
    for name in controller.web:
        controller.tell("start", ["host", "master", "server-config", name], blocking=True)
    controller.wait()
    for group in ("main-server-group", "other-server-group"):
        controller.tell("deploy", ["server-group", group, "deployment", "pools.war"])

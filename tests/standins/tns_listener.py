#!/usr/bin/env python3
"""STAND-IN for Oracle's listener, $ORACLE_HOME/bin/tnslsnr. Python 3.6, standard library only.

    ORACLE_HOME=/u01/app/oracle/product/19.0.0/dbhome_1 $ORACLE_HOME/bin/tnslsnr LISTENER -inherit

with bin/tnslsnr a copy of this file. It is real in what the kernel and the network see: argv (the
first is $ORACLE_HOME/bin/tnslsnr, the second the listener's name), owner, environment, start time,
the TCP sockets with their backlog, the TNS handshake, listener.log. No database is behind it.

It reads listener.ora where the listener would: TNS_ADMIN, else the read-only home of orabasetab,
else $ORACLE_HOME/network/admin; with a reader of its own, which shares nothing with Hostproof.
What it takes from the file, when it starts and never again (``lsnrctl reload`` rereads the services
alone, as published tests of RATE_LIMIT saw it: "stop and start the listener"):

    RATE_LIMIT of an ADDRESS        a number: so many connections a second. The one too many is
                                    accepted and waits for the next second, those after it wait in
                                    the kernel's queue, nobody is refused; one line
                                    "* establish * 1158" of listener.log for each such second
    CONNECTION_RATE_<listener>      replaces the number of every ADDRESS that has a RATE_LIMIT, and
                                    is one total of all of them (the older text of the manual); it
                                    limits nothing where no ADDRESS has RATE_LIMIT
    QUEUESIZE of an ADDRESS         the backlog of its socket, 128 without
    INBOUND_CONNECT_TIMEOUT_<l.>    seconds until a client that says nothing is dropped, 60 without

That the second begins with its first connection, and that the listener holds one accepted
connection at a time, are assumptions.

What it answers: a ping with ERR=0, other commands over the network with ERR=1189, an unknown
service or SID with ERR=12514 or 12505. A service of SID_LIST_<listener> is answered as if a server
process took over: RESEND, and ACCEPT to the second CONNECT; with (SERVER=shared) REDIRECT, and
ACCEPT at the address of the redirection. Then the connection is closed.

lsnrctl, next to this file, gives orders through $ORACLE_HOME/.standin/<listener>.sock. The release
that it claims to be is in $ORACLE_HOME/.standin/release, 19.0.0.0.0 without.
"""

import collections
import ctypes
import json
import os
import re
import selectors
import shutil
import signal
import socket
import struct
import sys
import time

CONNECT, ACCEPT, REFUSE, REDIRECT, DATA, RESEND = 1, 2, 4, 5, 6, 11
HEAD = 8
#: Flag of a CONNECT that follows a REDIRECT.
AFTER_REDIRECT = 0x04
#: No native encryption: what a client of either kind agrees to.
NO_NATIVE_ENCRYPTION = 0x04
#: 19c.
PROTOCOL_VERSION = 318
DEFAULT_QUEUE = 128
DEFAULT_INBOUND_TIMEOUT = 60
MESSAGES = {
    1158: "TNS-01158: Internal connection limit reached, preventing dispatcher from connecting",
    1189: "TNS-01189: The listener could not authenticate the user",
    12502: "TNS-12502: TNS:listener received no CONNECT_DATA from client",
    12505: "TNS-12505: TNS:listener does not currently know of SID given in connect descriptor",
    12514: "TNS-12514: TNS:listener does not currently know of service requested in connect"
    " descriptor",
    12525: "TNS-12525: TNS:listener has not received client's request in time allowed",
}
YEARS = {"11": 2013, "12": 2016, "18": 2018, "19": 2019, "21": 2021, "23": 2024}

TOKEN = re.compile(
    r"""\s*(?:(?P<mark>[()=,])|(?P<quoted>"[^"]*"|'[^']*')|(?P<word>[^\s()=,"']+))"""
)


class Unusable(Exception):
    """listener.ora says nothing that a listener could be started with; ``lines`` say why."""

    def __init__(self, *lines):
        super().__init__("\n".join(lines))
        self.lines = lines


# listener.ora


def parameter_file(home, environment):
    """Where this home's listener.ora is, whether there is one or not."""
    folder = environment.get("TNS_ADMIN") or os.path.join(base_home(home), "network", "admin")
    return os.path.join(folder, "listener.ora")


def base_home(home):
    """Where a home keeps what is written: elsewhere, if orabasetab says that it is read-only."""
    try:
        with open(os.path.join(home, "install", "orabasetab")) as stream:
            lines = stream.read().splitlines()
    except OSError:
        return home
    for line in lines:
        fields = line.strip().split(":")
        if fields[0] == home and fields[3:4] == ["Y"]:
            return os.path.join(fields[1], "homes", fields[2])
    return home


def read_parameters(path):
    """Name in capitals to value: a text, or a list of (name, value) pairs."""
    try:
        with open(path, encoding="utf-8", errors="surrogateescape") as stream:
            text = stream.read()
    except FileNotFoundError:
        return {}
    parameters = {}
    for line in logical_lines(text):
        tokens = tokens_of(line)
        name = next(tokens, None)
        if name in ("(", ")", "=", ",") or next(tokens, None) != "=":
            raise Unusable("NL-00303: syntax error in NV string", " " + line.strip()[:60])
        rest = list(tokens)
        value, used = read_value(rest, 0)
        if used != len(rest) and isinstance(value, list):
            raise Unusable("NL-00303: syntax error in NV string", " " + line.strip()[:60])
        parameters[name.upper()] = value
    return parameters


def logical_lines(text):
    """Lines without comments; one that begins with a blank belongs to the one before it."""
    joined = []
    for line in text.split("\n"):
        bare = re.sub(r"""("[^"]*"|'[^']*')|#.*""", lambda m: m.group(1) or "", line).rstrip()
        if not bare:
            continue
        if bare[0] in " \t" and joined:
            joined[-1] += " " + bare
        else:
            joined.append(bare)
    return joined


def tokens_of(line):
    position = 0
    while line[position:].strip():
        match = TOKEN.match(line, position)
        if match is None:
            raise Unusable("NL-00303: syntax error in NV string", " " + line[position:][:60])
        position = match.end()
        yield match.group("mark") or match.group("word") or match.group("quoted")[1:-1]


def read_value(tokens, at):
    """The value that begins at a token, and the place after it."""
    if at < len(tokens) and tokens[at] != "(":
        return tokens[at], at + 1
    pairs = []
    while at < len(tokens) and tokens[at] == "(":
        if tokens[at + 2 : at + 3] == ["="]:
            value, end = read_value(tokens, at + 3)
            pairs.append((tokens[at + 1].upper(), value))
        else:
            # A bare list, as in (ENVS='A=b') written without a name.
            value, end = read_value(tokens, at + 1)
            pairs.append(("", value))
        if tokens[end : end + 1] != [")"]:
            raise Unusable("NL-00303: syntax error in NV string")
        at = end + 1
    if not pairs:
        raise Unusable("NL-00303: syntax error in NV string")
    return pairs, at


def find_all(value, name):
    """Every value of that name, at any depth."""
    values = []
    for key, inner in value if isinstance(value, list) else ():
        if key == name:
            values.append(inner)
        else:
            values += find_all(inner, name)
    return values


def field(pairs, name, default=None):
    return next((value for key, value in pairs if key == name and value), default)


# Packets


def packet(kind, body, flags=0):
    return struct.pack(">HHBBH", HEAD + len(body), 0, kind, flags, 0) + body


def refuse(text):
    data = text.encode()
    return packet(REFUSE, struct.pack(">BBH", 0x22, 0, len(data)) + data)


def refuse_with(error, release_number):
    stack = "(ERROR_STACK=(ERROR=(CODE={0})(EMFI=4)))".format(error)
    return refuse(
        "(DESCRIPTION=(TMP=)(VSNNUM={0})(ERR={1}){2})".format(release_number, error, stack)
    )


def redirect(address, connect_data):
    """The address in a packet of its own, which is what python-oracledb waits for."""
    data = address.encode() + b"\0" + connect_data.encode()
    head = packet(REDIRECT, struct.pack(">H", len(data)), flags=0x02)
    return head + packet(DATA, b"\0\0" + data)


def accept(client_version, sdu):
    version = min(client_version, PROTOCOL_VERSION)
    flags = NO_NATIVE_ENCRYPTION
    small = min(sdu, 0xFFFF)
    long_form = version >= 315
    offset = 45 if long_form else 32
    body = struct.pack(">HHHHHHH", version, 0, small, small, 0x0100, 0, offset)
    body += struct.pack(">BB8x", flags, flags)
    if long_form:
        body += struct.pack(">IIBI", sdu, sdu, 0, 0)
    return packet(ACCEPT, body)


def release_number(release):
    """VSNNUM of a release: 318767104 for 19.0.0.0.0."""
    parts = [int(part) for part in release.split(".")] + [0] * 5
    return parts[0] << 24 | parts[1] << 20 | parts[2] << 12 | parts[3] << 8 | parts[4]


def now_text():
    return time.strftime("%d-%b-%Y %H:%M:%S").upper()


# The listener


class Limit:
    """So many connections in the second that begins with its first one."""

    def __init__(self, rate):
        self.rate = rate
        self.began = 0.0
        self.taken = 0
        self.told = False

    def wait(self, now):
        """Seconds until one more may be taken."""
        if self.taken < self.rate:
            return 0.0
        return max(0.0, self.began + 1.0 - now)

    def take(self, now):
        if now - self.began >= 1.0:
            self.began, self.taken, self.told = now, 0, False
        self.taken += 1

    def tell(self):
        """Whether this is the first to wait in this second."""
        first, self.told = not self.told, True
        return first


class Endpoint:
    """An ADDRESS that is listened on. ``held`` is the connection that waits for the next second."""

    def __init__(self, server, text, limit):
        self.server = server
        self.text = text
        self.limit = limit
        self.held = None


class Client:
    """A connection. ``want`` is the CONNECT whose data come in a packet of their own."""

    def __init__(self, stream, peer, endpoint):
        self.stream = stream
        self.peer = peer
        self.endpoint = endpoint
        self.began = time.monotonic()
        self.buffer = b""
        self.want = None
        self.resent = False
        self.done = False


Request = collections.namedtuple("Request", "version sdu flags data")


class Listener:
    def __init__(self, name, home, environment):
        self.name = name
        self.home = home
        self.file = parameter_file(home, environment)
        self.folder = os.path.join(home, ".standin")
        self.release = read_release(home)
        self.started = time.time()
        self.selector = selectors.DefaultSelector()
        self.endpoints = []
        self.clients = {}
        self.stopping = False
        parameters = read_parameters(self.file)
        self.services = static_services(parameters, name)
        self.inbound_timeout = int(
            parameters.get("INBOUND_CONNECT_TIMEOUT_" + name.upper(), DEFAULT_INBOUND_TIMEOUT)
        )
        self.addresses = addresses_of(parameters, name)
        self.total = parameters.get("CONNECTION_RATE_" + name.upper())
        self.log_file, self.log_shown = log_files(parameters, name, home, environment)
        os.makedirs(os.path.dirname(self.log_file), exist_ok=True)

    def open(self, say):
        """Listen; what the listener prints while it does goes to ``say``. Unusable if it cannot."""
        shared = Limit(int(self.total)) if self.total else None
        for address in self.addresses:
            if field(address, "PROTOCOL", "").lower() not in ("tcp", "tcps"):
                continue
            limit = limit_of(address, shared)
            host, port = field(address, "HOST", ""), int(field(address, "PORT", "1521"))
            text = "(ADDRESS=(PROTOCOL=tcp)(HOST={0})(PORT={1}))".format(
                host or socket.gethostname(), port
            )
            server = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
            server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                server.bind((host, port))
                server.listen(int(field(address, "QUEUESIZE", DEFAULT_QUEUE)))
            except OSError as problem:
                raise Unusable(*cannot_listen(text, problem)) from problem
            server.setblocking(False)
            endpoint = Endpoint(server, text, limit)
            self.endpoints.append(endpoint)
            self.selector.register(server, selectors.EVENT_READ, (self.take, endpoint))
            say("Listening on: (DESCRIPTION={0})".format(text))
        orders = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        path = socket_path(self.home, self.name)
        if os.path.exists(path):
            os.unlink(path)
        orders.bind(path)
        os.chmod(path, 0o666)
        orders.listen(5)
        self.selector.register(orders, selectors.EVENT_READ, (self.obey, orders))

    def serve(self):
        self.log("{0} * start * 0".format(now_text()))
        while not self.stopping:
            for key, _ in self.selector.select(self.next_event()):
                call, argument = key.data
                call(argument)
            self.release_held()
            self.drop_silent()
        os.unlink(socket_path(self.home, self.name))

    def next_event(self):
        now = time.monotonic()
        waits = [1.0]
        waits += [e.limit.wait(now) for e in self.endpoints if e.held]
        return max(0.0, min(waits))

    def take(self, endpoint):
        """Accept a connection, and serve or hold it."""
        stream, peer = endpoint.server.accept()
        now = time.monotonic()
        if endpoint.limit is not None and endpoint.limit.wait(now) > 0:
            endpoint.held = (stream, peer)
            self.selector.unregister(endpoint.server)
            if endpoint.limit.tell():
                self.log("{0} * establish * 1158\n{1}".format(now_text(), MESSAGES[1158]))
            return
        self.begin(endpoint, stream, peer)

    def begin(self, endpoint, stream, peer):
        if endpoint.limit is not None:
            endpoint.limit.take(time.monotonic())
        stream.setblocking(False)
        client = Client(stream, peer, endpoint)
        self.clients[stream] = client
        self.selector.register(stream, selectors.EVENT_READ, (self.hear, client))

    def release_held(self):
        for endpoint in self.endpoints:
            if endpoint.held and endpoint.limit.wait(time.monotonic()) <= 0:
                (stream, peer), endpoint.held = endpoint.held, None
                self.selector.register(endpoint.server, selectors.EVENT_READ, (self.take, endpoint))
                self.begin(endpoint, stream, peer)

    def drop_silent(self):
        limit = time.monotonic() - self.inbound_timeout
        for client in [c for c in self.clients.values() if c.began < limit]:
            line = "{0} * <unknown connect data> * {1} * establish * <unknown sid> * 12525\n{2}"
            self.log(line.format(now_text(), address_of(client.peer), MESSAGES[12525]))
            self.drop(client)

    def hear(self, client):
        try:
            piece = client.stream.recv(65536)
        except OSError:
            piece = b""
        if not piece or client.done:
            self.drop(client)
            return
        client.buffer += piece
        while len(client.buffer) >= HEAD:
            length, _, kind, flags, _ = struct.unpack_from(">HHBBH", client.buffer)
            if length < HEAD:
                self.drop(client)
                return
            if len(client.buffer) < length:
                return
            body, client.buffer = client.buffer[HEAD:length], client.buffer[length:]
            self.answer(client, kind, flags, body)
            if client.stream not in self.clients:
                return

    def answer(self, client, kind, flags, body):
        if kind == CONNECT and len(body) >= 26:
            version, _, _, sdu, _, _, _, _, length, offset = struct.unpack_from(">10H", body)
            data = body[offset - HEAD : offset - HEAD + length]
            request = Request(version, sdu, flags, data.decode("utf-8", "replace"))
            if length > len(data):
                client.want = request
                return
            self.decide(client, request)
        elif kind == DATA and client.want is not None:
            request, client.want = client.want, None
            self.decide(client, request._replace(data=body[2:].decode("utf-8", "replace")))
        else:
            self.drop(client)

    def decide(self, client, request):
        fields = dict(re.findall(r"\(\s*([A-Z_]+)\s*=\s*([^()\s]+)\s*\)", request.data, re.I))
        fields = {name.upper(): value for name, value in fields.items()}
        number = release_number(self.release)
        command = fields.get("COMMAND", "").lower()
        if command == "ping":
            text = "(DESCRIPTION=(TMP=)(VSNNUM=0)(ERR=0)(ALIAS={0}))".format(self.name)
            self.log("{0} * ping * 0".format(now_text()))
            self.reply(client, refuse(text), last=True)
        elif command:
            self.log("{0} * {1} * 1189\n{2}".format(now_text(), command, MESSAGES[1189]))
            self.reply(client, refuse_with(1189, number), last=True)
        else:
            self.connect(client, request, fields, number)

    def connect(self, client, request, wanted, number):
        service, sid = wanted.get("SERVICE_NAME"), wanted.get("SID")
        known = (service or sid or "").lower() in self.services
        error = 0 if known else 12514 if service else 12505 if sid else 12502
        name = service or sid or ""
        if error:
            self.log_establish(client, request, name, error)
            self.reply(client, refuse_with(error, number), last=True)
        elif request.flags & AFTER_REDIRECT:
            self.take_over(client, request)
        elif wanted.get("SERVER", "").lower() == "shared":
            self.log_establish(client, request, name, 0)
            self.reply(client, redirect(client.endpoint.text, request.data), last=True)
        elif not client.resent:
            self.log_establish(client, request, name, 0)
            client.resent = True
            self.reply(client, packet(RESEND, b""))
        else:
            self.take_over(client, request)

    def take_over(self, client, request):
        """What a server process would answer; the next thing that the client says ends it."""
        client.done = True
        self.reply(client, accept(request.version, request.sdu))

    def log_establish(self, client, request, name, error):
        data = connect_data_of(request.data) or "<unknown connect data>"
        line = "{0} * {1} * {2} * establish * {3} * {4}".format(
            now_text(), data, address_of(client.peer), name, error
        )
        self.log(line + ("\n" + MESSAGES[error] if error else ""))

    def reply(self, client, answer, last=False):
        try:
            client.stream.sendall(answer)
        except OSError:
            last = True
        if last:
            self.drop(client)

    def drop(self, client):
        self.selector.unregister(client.stream)
        del self.clients[client.stream]
        client.stream.close()

    def obey(self, orders):
        """An order of lsnrctl. As since 10g, only who started the listener may give one."""
        stream, _ = orders.accept()
        with stream:
            stream.settimeout(5)
            credentials = stream.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)
            uid = struct.unpack("3i", credentials)[1]
            try:
                command = json.loads(stream.recv(4096).decode())["command"]
            except (OSError, ValueError, KeyError):
                return
            if uid != os.getuid():
                answer = {"error": 1190}
            else:
                answer = self.execute(command)
                self.log("{0} * {1} * 0".format(now_text(), command))
            stream.sendall(json.dumps(answer).encode() + b"\n")

    def execute(self, command):
        if command == "reload":
            try:
                self.services = static_services(read_parameters(self.file), self.name)
            except Unusable as problem:
                return {"error": 1, "lines": problem.lines}
        self.stopping = command == "stop"
        return {
            "alias": self.name,
            "release": self.release,
            "started": self.started,
            "file": self.file if os.path.exists(self.file) else None,
            "log": self.log_shown,
            "endpoints": [endpoint.text for endpoint in self.endpoints],
            "services": sorted(set(self.services.values())),
        }

    def log(self, line):
        with open(self.log_file, "a") as stream:
            stream.write(line + "\n")


def limit_of(address, shared):
    """The Limit of an ADDRESS, or None. The total wins over the number of the address."""
    value = field(address, "RATE_LIMIT", "no").lower()
    if value in ("no", "off", "false", "0"):
        return None
    if shared is not None:
        return shared
    return Limit(int(value)) if value.isdigit() else None


def cannot_listen(text, problem):
    number = problem.errno or 0
    words = {98: (12542, "address already in use", 512, "Address already in use")}
    code, message, inner, inner_said = words.get(
        number, (12545, "Connect failed because target host or object does not exist", 515, "")
    )
    return (
        "Error listening on: " + text,
        "TNS-{0}: TNS:{1}".format(code, message),
        " TNS-12560: TNS:protocol adapter error",
        "  TNS-{0:05d}: {1}".format(inner, inner_said or problem.strerror),
        "   Linux Error: {0}: {1}".format(number, problem.strerror),
    )


def addresses_of(parameters, name):
    """Every ADDRESS of the listener; the default one where listener.ora does not name it."""
    value = parameters.get(name.upper())
    if value is None and name.upper() == "LISTENER":
        return [[("PROTOCOL", "tcp"), ("PORT", "1521")]]
    addresses = [a for a in find_all(value, "ADDRESS") if isinstance(a, list)]
    if not addresses:
        raise Unusable(
            "TNS-01151: Missing listener name, {0}, in LISTENER.ora".format(name.upper())
        )
    return addresses


def static_services(parameters, name):
    """What SID_LIST_<listener> registers: name in small letters to name."""
    names = []
    for entry in find_all(parameters.get("SID_LIST_" + name.upper(), []), "SID_DESC"):
        names += [field(entry, key) for key in ("GLOBAL_DBNAME", "SID_NAME")]
    return {text.lower(): text for text in names if text}


def log_files(parameters, name, home, environment):
    """Where listener.log is written, and what lsnrctl shows (with ADR: the XML beside it)."""
    if str(parameters.get("DIAG_ADR_ENABLED_" + name.upper(), "on")).lower() in ("off", "false"):
        folder = parameters.get("LOG_DIRECTORY_" + name.upper()) or home + "/network/log"
        file = parameters.get("LOG_FILE_" + name.upper()) or name.lower() + ".log"
        log = os.path.join(folder, file)
        return log, log
    base = parameters.get("ADR_BASE_" + name.upper()) or environment.get("ORACLE_BASE")
    host = socket.gethostname().split(".")[0].lower()
    folder = "/".join((base or home + "/log", "diag/tnslsnr", host, name.lower()))
    return folder + "/trace/" + name.lower() + ".log", folder + "/alert/log.xml"


def read_release(home):
    try:
        with open(os.path.join(home, ".standin", "release")) as stream:
            return stream.read().strip()
    except FileNotFoundError:
        return "19.0.0.0.0"


def copyright_line(release):
    year = YEARS.get(release.split(".")[0], 2019)
    return "Copyright (c) 1991, {0}, Oracle.  All rights reserved.".format(year)


def socket_path(home, name):
    return os.path.join(home, ".standin", name.upper() + ".sock")


def connect_data_of(text):
    """The (CONNECT_DATA=...) of what a client asked for, to the parenthesis that closes it."""
    match = re.search(r"\(\s*CONNECT_DATA\s*=", text, re.I)
    depth = 0
    for at in range(match.start(), len(text)) if match else ():
        depth += {"(": 1, ")": -1}.get(text[at], 0)
        if depth == 0:
            return text[match.start() : at + 1]
    return ""


def address_of(peer):
    return "(ADDRESS=(PROTOCOL=tcp)(HOST={0})(PORT={1}))".format(*peer)


def own_program(home):
    """A copy of the interpreter in the home, so that /proc/PID/exe is the home's, of its owner.

    It has the name that a relink leaves of the program before it.
    """
    program = home + "/bin/tnslsnr0"
    if not os.path.exists(program):
        unfinished = "{0}.{1}".format(program, os.getpid())
        shutil.copy(os.path.realpath(sys.executable), unfinished)
        os.rename(unfinished, program)
    return program


def take_name(home, name):
    """Be a process with the listener's own argv, as ps and /proc show it.

    Python needs its script among the arguments. The kernel shows what stands in the stack, between
    two places that it tells, so the script is overwritten there.
    """
    argv = [home + "/bin/tnslsnr", name, "-inherit"]
    with open("/proc/self/cmdline", "rb") as stream:
        have = stream.read().split(b"\0")
    if have[0].decode() != argv[0]:
        os.execv(own_program(home), [argv[0], os.path.realpath(__file__)] + argv[1:])
    with open("/proc/self/stat") as stream:
        fields = stream.read().rpartition(")")[2].split()
    # Fields 48 and 49 of proc(5); this list begins with field 3.
    begin, end = int(fields[45]), int(fields[46])
    text = b"".join(word.encode() + b"\0" for word in argv)
    ctypes.memmove(begin, text.ljust(end - begin, b"\0"), end - begin)
    with open("/proc/self/comm", "w") as stream:
        stream.write("tnslsnr")


def main():
    home = os.environ.get("ORACLE_HOME")
    if not home or len(sys.argv) < 2:
        sys.exit("usage: ORACLE_HOME=... tnslsnr LISTENER -inherit")
    name = sys.argv[1]
    take_name(home, name)
    os.makedirs(os.path.join(home, ".standin"), exist_ok=True)

    def say(line):
        print(line)
        sys.stdout.flush()

    try:
        listener = Listener(name, home, os.environ)
        say("TNSLSNR for Linux: Version {0} - Production".format(listener.release))
        if os.path.exists(listener.file):
            say("System parameter file is " + listener.file)
        say("Log messages written to " + listener.log_shown)
        listener.open(say)
    except Unusable as problem:
        say("\n".join(problem.lines))
        sys.exit(1)
    # Who started it waits for the end of what it says.
    with open(os.devnull, "r+b") as nowhere:
        for number in (0, 1, 2):
            os.dup2(nowhere.fileno(), number)

    def stop(*_):
        listener.stopping = True

    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGINT, stop)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    listener.serve()


if __name__ == "__main__":
    main()

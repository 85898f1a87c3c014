"""What real runs of CVU showed of their hosts, and how CVU judged each value.

The logs have no licence, so they are not in the repository: rows.tsv holds their facts and numbers.
test_cvu_hosts.py compares them with the logs if they are next to the checkout. To write them:
HOSTPROOF_WRITE_FIXTURES=1 pytest -k cvu_hosts tests/unit
"""

import functools
import re
from collections.abc import Iterator
from typing import NamedTuple

import packs

LOGS = packs.ROOT / "../shared/data/preinstall/04-cvu/logs"
TABLE = packs.FIXTURES / "cvu/rows.tsv"
TITLE = "log\tnode\ttask\tsubject\tshown\trequired\tverdict"

#: A word for each log, and its file.
FILES = {
    "11.2": "cvu-11.2.0.3-post-nodeadd-ol6-verbose.txt",
    "19.3": "cvu-19.3-pre-crsinst-ol7-fragment-with-failures.txt",
    "19.23": "cvu-19.23-pre-nodeadd-ol8-uek6-fixup-verbose.txt",
    "19.27": "cvu-19.27-pre-crsinst-ol9.5-rhck-verbose.txt",
    "23.7": "cvu-23.7-pre-crsinst-ol9-verbose-root-pt.txt",
    "23.7-post": "cvu-23.7-post-crsinst-ol9-verbose-pt.txt",
    "23.26": "cvu-23.26.1-pre-crsinst-ol9-uek8-verbose-root-passed.txt",
}


class Row(NamedTuple):
    """A value of a host. ``subject`` is the path, parameter, package, account or group.

    ``shown`` and ``required`` have units that are left out: kB for sizes, MB for free space.
    """

    log: str
    node: str
    task: str
    subject: str
    shown: str
    required: str
    verdict: str

    @property
    def text(self) -> str:
        return " ".join(part for part in self[:4] if part)


@functools.cache
def rows() -> tuple[Row, ...]:
    lines = TABLE.read_text().splitlines()
    assert lines[0] == TITLE
    return tuple(Row(*line.split("\t")) for line in lines[1:])


def table_of(found: list[Row]) -> str:
    return "".join("\t".join(line) + "\n" for line in (TITLE.split("\t"), *found))


#: The names of tasks in the Portuguese logs, and in those of 11.2.
_ENGLISH = {
    "Memória Física": "Physical Memory",
    "Memória Física Disponível": "Available Physical Memory",
    "Tamanho de Swap": "Swap Size",
    "Espaço Livre": "Free Space",
    "Existência de Usuário": "User Existence",
    "Usuários com o Mesmo UID": "Users With Same UID",
    "Existência de Grupo": "Group Existence",
    "Participação em Grupos": "Group Membership",
    "Nível da Execução": "Run Level",
    "Arquitetura": "Architecture",
    "Versão do Kernel do SO": "OS Kernel Version",
    "Parâmetro de Kernel do SO": "OS Kernel Parameter",
    "Pacote": "Package",
    "Máscara do Usuário": "User Mask",
    'O Usuário Não Está no Grupo "root"': 'User Not In Group "root"',
    "O daemon chrony está sincronizado com pelo menos uma origem de tempo externa": "Synchronized",
    "chrony daemon is synchronized with at least one external time source": "Synchronized",
    'O daemon "avahi-daemon" não está configurado e em execução': "avahi-daemon",
    'Daemon "avahi-daemon" not configured and running': "avahi-daemon",
    'O daemon "proxyt" não está configurado e em execução': "proxyt",
    'Daemon "proxyt" not configured and running': "proxyt",
    "/dev/shm montado como sistema de arquivos temporários": "tmpfs at /dev/shm",
    "/dev/shm mounted as temporary file system": "tmpfs at /dev/shm",
    "Opção de montagem do sistema de arquivos hidepid para o sistema de arquivos proc": "hidepid",
    "File system mount option hidepid for proc filesystem": "hidepid",
    "Parâmetro IPC do gerenciador de log-in no systemd": "RemoveIPC",
    "Systemd login manager IPC parameter": "RemoveIPC",
    "zeroconf check": "NOZEROCONF",
    "Integridade de resolv.conf": "resolv.conf Integrity",
}
#: Tasks without a table, and the state of the host that they pass.
_STATES = {
    "Users With Same UID": "none",
    "Synchronized": "yes",
    "tmpfs at /dev/shm": "yes",
    "hidepid": "no",
    "RemoveIPC": "no",
    "NOZEROCONF": "yes",
}
_STATUS = {"passed": "pass", "aprovado": "pass", "failed": "fail"}
_TASK = re.compile(r"^\s*(?:Verifying )?(\S.*?) \.\.\.\s*(?:([A-Z]\w+)\b.*)?$")
_MESSAGE = re.compile(r"^(\w+): (PR[A-Z]{2}-\d+) : ")
_LIMIT = re.compile(r"(Hard|Soft) Limit: maximum (open file descriptors|user processes|stack size)")
_ITEMS = {"open file descriptors": "nofile", "user processes": "nproc", "stack size": "stack"}
_ADDRESS = re.compile(r"^\s*(\w+) +(\d+(?:\.\d+){3}) +(\d+(?:\.\d+){3}) +0\.0\.0\.0 .* (\d+) *$")
_CONNECTED = re.compile(
    r"^\s*(?:Node Connectivity \.\.\.PASSED|Conectividade de Nó \.\.\.APROVADO|"
    r"Result: Node connectivity check passed)$",
    re.MULTILINE,
)
_NODE_OF_INTERFACES = re.compile(r'^\s*(?:Interface information for node|.* o nó) "(\w+)"')


def _kilobytes(cell: str) -> str:
    match = re.search(r"\(([0-9.E]+)KB\)", cell)
    assert match, cell
    return str(round(float(match[1])))


def _megabytes(cell: str) -> str:
    match = re.match(r"([0-9.,]+)(GB|MB)$", cell)
    assert match, cell
    size = float(match[1].replace(",", ".")) * (1024 if match[2] == "GB" else 1)
    return str(round(size))


def _version(cell: str, name: str) -> str:
    """Of "libgcc(x86_64)-11.5.0-2.0.1.el9"; "" where the cell names the package only."""
    return cell.replace("(x86_64)", "").removeprefix(name).removeprefix("-")


def _subject(task: str, name: str) -> tuple[str, str]:
    """The English name of a task, and what it is about."""
    limit = _LIMIT.match(name)
    if limit:
        return "Limit", f"{limit[1].lower()} {_ITEMS[limit[2]]}"
    return task, name.partition(": ")[2]


def _row(task: str, subject: str, cells: list[str]) -> tuple[str, str, str, str] | None:
    """(node, subject, shown, required) of a line of a table."""
    if task in ("Physical Memory", "Available Physical Memory", "Swap Size"):
        return cells[0], "", _kilobytes(cells[1]), _kilobytes(cells[2])
    if task == "Free Space":
        return cells[1], f"{cells[0]} on {cells[2]}", _megabytes(cells[3]), _megabytes(cells[4])
    if task == "User Existence":
        return cells[0], subject, re.sub(r"\D", "", cells[2]), ""
    if task == "Group Existence":
        return cells[0], subject, "yes", ""
    if task == "Group Membership":
        group, _, primary = subject.partition("(")
        yes = all(cell in ("yes", "sim") for cell in cells[1:-1])
        return cells[0], f"{group} primary" if primary else group, "yes" if yes else "no", "yes"
    if task in ("Run Level", "Architecture", "OS Kernel Version", "User Mask"):
        return cells[0], "", cells[1], "3,5" if task == "Run Level" else cells[2]
    if task == "Limit":
        return cells[0], subject, cells[2], cells[3]
    if task == "OS Kernel Parameter":
        now, later, required = (re.sub(r"between | &|at least ", "", cell) for cell in cells[1:4])
        return cells[0], subject, f"{now}, {later}", required
    if task == "Package":
        name = re.sub(r"-\d.*| .*", "", subject)
        return cells[0], name, _version(cells[1], name) or "any", _version(cells[2], name)
    if task == 'User Not In Group "root"':
        return cells[0], subject, "no", "no"
    if task in ("avahi-daemon", "proxyt"):
        return cells[0], "", "no" if cells[1] in ("no", "não") else "yes", "no"
    if task == "resolv.conf Integrity" and len(cells) == 4:
        return cells[0], cells[1], "answers", ""
    return None


def facts_of(log: str, text: str) -> list[Row]:
    """The rows of a log, in its order; a row for each node."""
    all_rows = [*_of_tasks(log, text), *_old_format(log, text)]
    all_rows += _of_orachk(log, text, [row for row in all_rows if row.task == "Interface"])
    return list(dict.fromkeys(all_rows))


def _of_tasks(log: str, text: str) -> Iterator[Row]:
    nodes = _nodes(text)
    connected = "pass" if _CONNECTED.search(text) else ""
    task = name = subject = place = ""
    for line in text.splitlines():
        begun, message = _TASK.match(line), _MESSAGE.match(line)
        of_interfaces, address = _NODE_OF_INTERFACES.match(line), _ADDRESS.match(line)
        cells = re.split(r"\s{2,}", line.strip())
        if begun:
            name, word = begun[1], begun[2]
            head = name if name in _ENGLISH else name.partition(": ")[0]
            task, subject = _subject(_ENGLISH.get(head, head), name)
            verdict = _STATUS.get((word or "").lower())
            if task in _STATES and verdict == "pass":
                for node in nodes:
                    yield Row(log, node, task, subject, _STATES[task], "", verdict)
        elif of_interfaces:
            place = of_interfaces[1]
        elif address and place:
            yield Row(
                log, place, "Interface", address[1], f"{address[3]} {address[4]}", "", connected
            )
        elif message:
            yield from _failed(log, message[1], message[2], task, subject, text)
        elif cells[-1] in _STATUS or (len(cells) > 2 and cells[1] in _STATUS):
            row = _row(task, subject, cells)
            if row is not None:
                verdict = _STATUS[cells[1] if cells[1] in _STATUS else cells[-1]]
                yield Row(log, row[0], task, *row[1:], verdict)
        elif task == "Daemon 'chronyd'" and cells[-1] in ("yes", "sim"):
            yield Row(log, cells[0], "chronyd", "", "runs", "runs", "pass")


def _nodes(text: str) -> list[str]:
    named = re.search(r"\s-n (\S+)", text)
    nodes = named[1].split(",") if named else []
    shown = re.findall(r"^ *(\w+) +\S+ \([0-9.E]+KB\) ", text, re.MULTILINE)
    # A run about a new node shows the node on which it ran too.
    return sorted({*shown, *re.findall(r"^(\w+): PR", text, re.MULTILINE)} or set(nodes))


def _failed(log: str, node: str, number: str, task: str, subject: str, text: str) -> Iterator[Row]:
    """A message of a failed task: its number decides its meaning."""
    if number == "PRVF-7573":
        sizes = re.search(
            rf'on node "{node}"\s+\[Required = \S+ (\(\S+\)) ; Found = \S+ (\(\S+\))\]', text
        )
        assert sizes
        yield Row(log, node, task, "", _kilobytes(sizes[2]), _kilobytes(sizes[1]), "fail")
    elif number == "PRVG-10460":
        yield Row(log, node, task, subject, "no", "yes", "fail")
    elif number == "PRVF-7532":
        name, _, version = subject.rpartition("-")
        yield Row(log, node, task, name, "missing", version, "fail")
    elif number == "PRVE-0421":
        yield Row(log, node, "tmpfs at /dev/shm", "/etc/fstab", "no line", "a line", "fail")


def _old_format(log: str, text: str) -> Iterator[Row]:
    """11.2: "Checking to make sure user X is not in "root" group", and a table."""
    match = re.search(
        r'user "(\w+)" is not in "root" group\n.*\n.*\n +(\w+) +passed +does not exist', text
    )
    if match:
        yield Row(log, match[2], 'User Not In Group "root"', match[1], "no", "no", "pass")


#: Checks of ORAchk that CVU 23.7 runs: English in every locale.
_ORACHK = {
    "Jumbo frames configuration for interconnect": "Jumbo frames",
    "Non-routable network for interconnect": "Non-routable network",
    "VIP NIC bonding config.": "VIP NIC bonding",
}


def _of_orachk(log: str, text: str, interfaces: list[Row]) -> Iterator[Row]:
    """Their values are in the tables of interfaces: private is what the table of the MTU says."""
    private = re.search(r'das interfaces privadas da sub-rede "(\S+)"', text)
    for name, task in _ORACHK.items():
        match = re.search(rf"^\s*{re.escape(name)} \.\.\.(\w+)$", text, re.MULTILINE)
        for row in interfaces if match and private else ():
            subnet, mtu = row.shown.split()
            shown = {"Jumbo frames": mtu, "Non-routable network": subnet}.get(task, "no bond")
            if (subnet == private[1]) != (task == "VIP NIC bonding"):
                verdict = _STATUS[match[1].lower()]
                yield Row(log, row.node, task, row.subject, shown, "", verdict)

# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The one table of verbs: what the command takes, its help, its man page and its completion.

Nothing but the standard library is imported here, and no module of a verb before the verb is run.
"""

from __future__ import annotations

from typing import NamedTuple

#: What a value is, for completion: files, folders, and names that Hostproof knows.
FILE, FOLDER, CHECK, CONTROL, VERB = "file", "folder", "check", "control", "verb"


class Option(NamedTuple):
    """``value`` is how help names the value; None: the option is a flag.

    ``passed`` options are ansible-playbook's and go there as they are. ``only`` are the verbs that
    an option goes with, where others refuse it by name. ``ours`` are options of report that this
    package sees to.
    """

    names: tuple[str, ...]
    help: str
    value: str | None = None
    kind: str | None = None
    choices: tuple[str, ...] = ()
    hidden: bool = False
    passed: bool = False
    only: tuple[str, ...] = ()
    ours: bool = False

    @property
    def key(self) -> str:
        """Under which its value is given to the verb."""
        return max(self.names, key=len).lstrip("-").replace("-", "_")


class Argument(NamedTuple):
    """A word without an option. ``most`` None: as many as there are."""

    name: str
    help: str
    least: int = 0
    most: int | None = 1
    kind: str | None = None
    choices: tuple[str, ...] = ()


class Verb(NamedTuple):
    """``run`` is module:function in this package. ``raw`` verbs parse what follows themselves."""

    name: str
    summary: str
    run: str
    about: str = ""
    options: tuple[Option, ...] = ()
    arguments: tuple[Argument, ...] = ()
    raw: bool = False
    exits: tuple[tuple[int, str], ...] = ()


#: Exit codes of what judges.
JUDGED = (
    (0, "nothing failed"),
    (1, "could not start (usage, set-up)"),
    (2, "a finding (or a change) failed"),
    (3, "nothing failed, but something could not be determined"),
    (4, "nothing failed, but a host was unreachable"),
    (130, "interrupted"),
)
#: Of what is Ansible's to tell.
ANSIBLE = (
    (0, "fine"),
    (1, "could not start (usage, set-up)"),
    (2, "a host failed"),
    (4, "a host was unreachable"),
    (130, "interrupted"),
)
DONE = ((0, "done"), (1, "could not be done; the message says why"))


def _ansible(names: str, text: str, value: str | None = None, hidden: bool = True) -> Option:
    kind = FILE if value in ("FILE", "INVENTORY") else None
    return Option(tuple(names.split()), text, value, kind=kind, hidden=hidden, passed=True)


#: Those of ansible-playbook, all of them. Help shows the ones that most runs need.
ANSIBLE_OPTIONS = (
    _ansible("-i --inventory", "your hosts: a file, a folder or a list", "INVENTORY", hidden=False),
    _ansible("-l --limit", "only these hosts or groups", "HOSTS", hidden=False),
    Option(("-t", "--tags"), "only these controls", "CONTROL", kind=CONTROL, passed=True),
    Option(("--skip-tags",), "all controls but these", "CONTROL", kind=CONTROL, passed=True),
    _ansible("-e --extra-vars", "variables: name=value, JSON, or @FILE", "VARS", hidden=False),
    _ansible("-C --check", "change nothing, tell what would be done", hidden=False),
    _ansible("-D --diff", "show what changes in files", hidden=False),
    _ansible("-b --become", "be root on the hosts", hidden=False),
    _ansible("-K --ask-become-pass", "ask for the password of that", hidden=False),
    _ansible("-f --forks", "how many hosts at once", "N", hidden=False),
    _ansible("-v --verbose", "tell more; -vvv tells most", hidden=False),
    _ansible("--inventory-file", "the old name of --inventory", "INVENTORY"),
    _ansible("--private-key --key-file", "the key of the connection", "FILE"),
    _ansible("-u --user", "connect as this user", "USER"),
    _ansible("-c --connection", "how to connect", "NAME"),
    _ansible("-T --timeout", "seconds that a connection may take", "SECONDS"),
    _ansible("--ssh-common-args", "for sftp, scp and ssh", "ARGS"),
    _ansible("--sftp-extra-args", "for sftp alone", "ARGS"),
    _ansible("--scp-extra-args", "for scp alone", "ARGS"),
    _ansible("--ssh-extra-args", "for ssh alone", "ARGS"),
    _ansible("-k --ask-pass", "ask for the password of the connection"),
    _ansible("--connection-password-file --conn-pass-file", "where that password stands", "FILE"),
    _ansible("--force-handlers", "run handlers even if a task fails"),
    _ansible("--become-method", "how to be root", "NAME"),
    _ansible("--become-user", "whom to be instead of root", "USER"),
    _ansible("--become-password-file --become-pass-file", "where the password stands", "FILE"),
    _ansible("--list-hosts", "list the hosts, do nothing"),
    _ansible("--flush-cache", "forget the facts of every host"),
    _ansible("--vault-id", "which vault identity to use", "ID"),
    _ansible("-J --ask-vault-password --ask-vault-pass", "ask for the password of the vault"),
    _ansible("--vault-password-file --vault-pass-file", "where that password stands", "FILE"),
    _ansible("-M --module-path", "where more modules are", "FOLDERS"),
    _ansible("--syntax-check", "read the playbook, do nothing"),
    _ansible("--list-tasks", "list the tasks, do nothing"),
    _ansible("--list-tags", "list the tags, do nothing"),
    _ansible("--step", "ask before each task"),
    _ansible("--start-at-task", "begin at this task", "NAME"),
    _ansible("--version", "the version of ansible-playbook"),
)

#: With these a run only tells what it would do.
LOOKS = ("version", "syntax_check", "list_hosts", "list_tasks", "list_tags")

_WAIVERS = Option(("--waivers",), "accept findings that this YAML file waives", "FILE", kind=FILE)
_STRICT = Option(("--strict",), "a warning counts like a failure")
#: What every run of a playbook parses, so that the wrong verb can say where an option goes.
RUN_OPTIONS = (
    Option(
        ("--evidence",),
        "judge these evidence packs instead of hosts",
        "DIR",
        kind=FOLDER,
        only=("audit",),
    ),
    _WAIVERS,
    _STRICT,
    Option(("--baseline",), "the baseline to compare with", "DIR", kind=FOLDER, only=("compare",)),
    Option(("--slices",), "in so many jobs of ansible-runner, or auto", "N", only=("audit",)),
    Option(
        ("--slice-nodes",),
        "these nodes run the slices, over ssh (docs/runner.md)",
        "FILE",
        kind=FILE,
        only=("audit",),
    ),
)
_GATE = "in batches, each measured before and after, and only kept if no slower"
_GATE_ONLY = ("apply", "revert")


def _play(
    name: str,
    summary: str,
    about: str = "",
    exits: tuple[tuple[int, str], ...] = JUDGED,
    gate: Option | None = None,
) -> Verb:
    gate = gate or Option(("--gate",), _GATE, only=_GATE_ONLY)
    own = tuple(
        one._replace(hidden=bool(one.only) and name not in one.only) for one in (*RUN_OPTIONS, gate)
    )
    return Verb(name, summary, "play:run", about, own + ANSIBLE_OPTIONS, exits=exits)


_FORMAT = Option(
    ("--format",), "how it is printed", "FORMAT", choices=("text", "json", "csv", "markdown")
)
_REPORTS = Argument("DIR", "report folder of a run", 1, None, FOLDER)

VERBS = (
    _play(
        "audit",
        "judge every control, read-only (this machine unless -i is given)",
        "Reads each host once, judges it, and writes a report to reports/.",
    ),
    _play("verify", "the same of hosts alone, as after an apply"),
    _play(
        "apply",
        "change what the policy asks; --check --diff prints the plan",
        "Plans, refuses what would hurt the host, changes, then verifies.",
    ),
    _play(
        "revert",
        "put back what apply changed, from the host's change journal",
        exits=ANSIBLE,
        gate=Option(
            ("--gate",),
            "put back what that gated apply did not keep",
            "DIR",
            kind=FOLDER,
            only=_GATE_ONLY,
        ),
    ),
    _play("baseline", "measure latency, to compare with later", exits=ANSIBLE),
    _play("compare", "measure again after a change, and compare"),
    _play("record", "write an evidence pack for each host to evidence/", exits=ANSIBLE),
    _play(
        "detect_storage",
        "ask storage over SNMP what it is (docs/controls/storage_type.md)",
        exits=ANSIBLE,
    ),
    Verb(
        "init",
        "write a first policy from what runs on a host",
        "init:run",
        "Looks at one host (this machine unless -i and --limit name another) and writes an "
        "inventory with its instances and mounts, and comments on its listeners and links. It "
        "overwrites nothing.",
        (
            Option(("--out",), "new folder for the inventory, as inventories/mine", "DIR"),
            Option(("--evidence",), "look at this evidence pack instead", "FILE", FILE),
            *ANSIBLE_OPTIONS,
        ),
        exits=DONE,
    ),
    Verb(
        "report",
        "render, merge, query reports; --format FORMAT, --fixes DIR",
        "report_formats:run",
        "Render the report of a run again, or one report of several runs or shards, without "
        "touching a host. By host and control the latest result counts. With one DIR and no --out "
        "it is rendered in place; otherwise a new folder is made.",
        (
            Option(("--out",), "new folder for the report", "DIR"),
            Option(("--query",), "print what a JMESPath expression finds", "EXPR"),
            _WAIVERS,
            _STRICT,
            Option(("--quiet",), "print no summary"),
            Option(
                ("--format",),
                "print the findings in this form (with --out: to this new file)",
                "FORMAT",
                choices=("csv", "markdown", "sarif", "junit", "json", "prometheus", "html"),
                ours=True,
            ),
            Option(
                ("--readable",),
                "let everybody read the file of --out, which is replaced: for an exporter",
                ours=True,
            ),
            Option(
                ("--fixes",),
                "write a script and a playbook a host to this new folder, to be read and run",
                "DIR",
                ours=True,
            ),
        ),
        (_REPORTS,),
        exits=(*JUDGED, (0, "with --query and --fixes, whatever failed")),
    ),
    Verb(
        "diff",
        "compare two reports: new, fixed, changed, gone",
        "diff:run",
        "What is new (a failure, an error or a warning that was none), fixed, changed (from one "
        "status to another) and gone (no longer judged) between two reports, by host and check.",
        (
            Option(("--values",), "also what is found otherwise at the same status"),
            _FORMAT,
        ),
        (Argument("REPORT", "report folder or findings file: before, after", 2, 2, FOLDER),),
        exits=(
            (0, "no difference"),
            (1, "could not be compared"),
            (2, "something is new, worse or gone"),
            (3, "something differs, nothing is worse"),
        ),
    ),
    Verb(
        "history",
        "what all runs say: ready hosts, what stays broken; --html FILE",
        "history:run",
        "Reads the runs below a folder (reports/): ready hosts after each, what stays broken, the "
        "mean time to fix, waivers that end soon.",
        (
            Option(("--html",), "write the trend as a page to this file", "FILE", FILE),
            Option(("--last",), "read this many of the newest runs (50)", "N"),
            Option(("--format",), "how it is printed", "FORMAT", choices=("text", "json", "csv")),
        ),
        (Argument("REPORTS", "the folder above the runs", 0, 1, FOLDER),),
        exits=DONE,
    ),
    Verb(
        "sign",
        "seal a report with your ssh key",
        "signing:sign",
        "Writes seal.json, a hash of every file of the report, of the policy and of the code, with "
        "who and when, and its signature by ssh-keygen.",
        (
            Option(("--key",), "your ssh key, or its .pub where an agent holds it", "FILE", FILE),
            Option(("--who",), "the name that you sign with (USER@HOST)", "NAME"),
            Option(("--policy",), "an inventory whose files are part of the seal", "PATH", FILE),
        ),
        (Argument("DIR", "report folder of a run", 1, 1, FOLDER),),
        exits=DONE,
    ),
    Verb(
        "verify-report",
        "tell whether a sealed report is as it was signed",
        "signing:verify",
        "One changed byte, an added or a missing file, or a signer who is not named: it does not "
        "verify.",
        (
            Option(("--signers",), "who may sign: NAME KEY, a line each", "FILE", FILE),
            Option(("--who",), "it must be this signer", "NAME"),
        ),
        (Argument("DIR", "report folder of a run", 1, 1, FOLDER),),
        exits=(
            (0, "as it was signed"),
            (1, "could not be looked at"),
            (2, "not sealed, or not as it was signed"),
        ),
    ),
    Verb(
        "checks",
        "list what is judged (--control NAME)",
        "explain:checks",
        "Every check: id, title, severity, when its fix takes effect, control.",
        (
            Option(("--control",), "of this control alone", "CONTROL", kind=CONTROL),
            _FORMAT,
        ),
        exits=DONE,
    ),
    Verb(
        "explain",
        "tell a check's rule, layers, why, fix, sources and variables",
        "explain:explain",
        "What docs/controls says of a check, and the variables that it names with their defaults. "
        "The second part of its id is enough where no other check has it.",
        (Option(("--format",), "how it is printed", "FORMAT", choices=("text", "json")),),
        (Argument("CHECK", "id of a check, as reports show it", 1, 1, CHECK),),
        exits=DONE,
    ),
    Verb(
        "completion",
        "print the completion of your shell (bash, zsh, fish)",
        "completion:run",
        "For bash: source <(./hostproof completion bash), in your ~/.bashrc with the whole path. "
        "For zsh: write it to _hostproof in a folder of $fpath. For fish: to "
        "~/.config/fish/completions/hostproof.fish.",
        arguments=(Argument("SHELL", "whose completion", 1, 1, choices=("bash", "zsh", "fish")),),
        exits=DONE,
    ),
    Verb(
        "collection",
        "build the collection hostproof.hostproof for other projects",
        "collection:run",
        "Writes hostproof-hostproof-VERSION.tar.gz. In another project: ansible-galaxy collection "
        "install FILE, then hostproof.hostproof.hugepages and the other roles, modules and "
        "playbooks.",
        (Option(("--out",), "folder for the file, here unless given", "DIR", FOLDER),),
        exits=DONE,
    ),
    Verb(
        "test",
        "run Hostproof's own tests (--quick: without machines)",
        "testing:run",
        options=(
            Option(("--all",), "also the long stages, every story and every row"),
            Option(("--quick",), "without machines"),
        ),
        arguments=(Argument("STAGE", "only these stages", 0, None),),
        raw=True,
        exits=((0, "nothing failed"), (1, "something failed")),
    ),
)


def by_name(name: str) -> Verb | None:
    return next((verb for verb in VERBS if verb.name == name), None)

"""Run under a target's Python, 3.6 included: what does Hostproof's target code answer here?

Prints one JSON object on standard output, the same under every Python that the code supports:

  modules   every module of the package, each of which has been imported
  parsed    what each parser makes of each of its fixtures: a value, or the error it raises
  judged    the findings on each evidence pack

Standard input is a JSON object: ``policies`` (control to policy), ``packs`` (paths), and
``record``, null or the path to which an evidence pack of this machine goes first.
"""

import importlib
import inspect
import json
import os
import pkgutil
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
FIXTURES = os.path.join(ROOT, "tests", "fixtures")

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(ROOT, "module_utils"))


def is_imported_here(name):
    """Programs would start. The base of the modules needs Ansible, which a target lacks."""
    return not name.endswith((".__main__", ".host_module"))


def import_all():
    """Import the modules of the package that a target can import; their names."""
    package = importlib.import_module("hostproof")
    modules = pkgutil.walk_packages(package.__path__, "hostproof.")
    names = sorted(module.name for module in modules if is_imported_here(module.name))
    for name in names:
        importlib.import_module(name)
    return names


def plain(value):
    """``value`` as JSON that looks alike under every Python: sets sorted, tuples by name."""
    if isinstance(value, (set, frozenset)):
        return sorted((plain(item) for item in value), key=repr)
    if hasattr(value, "_asdict"):
        return plain(dict(value._asdict()))
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    return value if isinstance(value, (str, int, float, bool, type(None))) else repr(value)


def parsers_of(module):
    """(name, function of text and path) for each public function that parses a whole text."""
    for name, function in inspect.getmembers(module, inspect.isfunction):
        if name.startswith("_") or function.__module__ != module.__name__:
            continue
        parameters = inspect.signature(function).parameters.values()
        needed = [p.name for p in parameters if p.default is p.empty]
        if needed == ["text"]:
            yield name, lambda text, _path, function=function: function(text)
        elif needed == ["text", "path"]:
            yield name, function


def fixtures_of(parser):
    """Paths of a parser's fixtures, relative to its folder. JSON and Markdown are about them."""
    top = os.path.join(FIXTURES, parser)
    for folder, _, names in sorted(os.walk(top)):
        for name in sorted(names):
            if os.path.splitext(name)[1] not in (".json", ".md"):
                yield os.path.relpath(os.path.join(folder, name), top)


def _reads(name):
    """Whether formats are read there."""
    return name.startswith(("hostproof.parsers.", "hostproof.snmp."))


def parse_fixtures():
    """{"parser.function fixture": value or error}, for every parser with a folder of fixtures."""
    from hostproof.errors import HostproofError

    answers = {}
    known = {
        name.rpartition(".")[2]: module for name, module in sys.modules.items() if _reads(name)
    }
    for parser in sorted(os.listdir(FIXTURES)):
        module = known.get(parser)
        if module is None:
            continue
        for fixture in fixtures_of(parser):
            text = read(os.path.join(FIXTURES, parser, fixture))
            for name, function in parsers_of(module):
                try:
                    answer = plain(function(text, fixture))
                except HostproofError as problem:
                    answer = "{0}: {1}".format(type(problem).__name__, problem)
                answers["{0}.{1} {2}".format(parser, name, fixture)] = answer
    return answers


def read(path):
    with open(path, "rb") as stream:
        return stream.read().decode("utf-8", "surrogateescape")


def record_pack(path, policies):
    """What the controls read here, as an evidence pack."""
    from hostproof.collect import host
    from hostproof.evaluate import audit

    machine = host.LiveHost()
    audit.read_host(machine, policies)
    with open(path, "w") as stream:
        json.dump({"schema": 1, "readings": machine.evidence}, stream)


def judge_packs(packs, policies):
    from hostproof.collect import evidence, host
    from hostproof.evaluate import audit

    answers = {}
    for path in packs:
        recorded = host.RecordedHost(*evidence.open_pack(path))
        findings = audit.judge_host(recorded, policies)
        answers[os.path.basename(path)] = [finding.as_dict() for finding in findings]
    return answers


def main():
    request = json.loads(sys.stdin.read())
    modules = import_all()
    if request["record"]:
        record_pack(request["record"], request["policies"])
    answer = {
        "modules": modules,
        "parsed": parse_fixtures(),
        "judged": judge_packs(request["packs"], request["policies"]),
    }
    json.dump(answer, sys.stdout, indent=1, sort_keys=True)


if __name__ == "__main__":
    main()

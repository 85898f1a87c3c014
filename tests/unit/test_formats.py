"""The register of formats: each reader is in it, its real samples are read as stored."""

import hashlib
import importlib
import inspect
import json
import os
import runpy

import packs
import pytest
from ansible.module_utils.hostproof.errors import HostproofError

REGISTER = runpy.run_path(str(packs.ROOT / "tests/format_register"))
ROWS = REGISTER["rows"]()
VALUES = packs.FIXTURES / "format_values.json"
HOSTPROOF = packs.ROOT / "module_utils/hostproof"
#: Modules next to the readers that read no separate format.
HELPERS = {
    "parsers/glob_pattern.py",
    "parsers/kept_lines.py",
    "parsers/net/address.py",
    "parsers/number.py",
    "parsers/oracle/oracle_net_data.py",
    "parsers/shell/command_effects.py",
    "parsers/shell/script_lines.py",
    "parsers/shell/shell_words.py",
    "parsers/size.py",
    "parsers/systemd/conf_d.py",
    "parsers/xml_events.py",
    "controls/firewall/parsers/packets.py",
    "controls/pool_validation/parsers/pools.py",
    "other_tools/foreign_finding.py",
    "other_tools/requirements.py",
    # Parts of the readers of AWR and Statspack.
    *(
        f"controls/latency/parsers/{name}.py"
        for name in (
            *("awr_layouts", "dashed_table", "ellipsis_marks", "event_histogram", "idle_events"),
            *("report_form", "report_head", "report_parameters", "wait_events"),
        )
    ),
}
#: Samples of several nodes, paths, members, sources or pools of which one failed, and its words.
WITH_A_FAILURE = {
    "other_tools/cvu.py": {
        "cvu/10.2-post-crsinst.txt": "check failed",
        "cvu/11.2-aix-pre-crsinst.txt": "Check failed on nodes:",
        "cvu/12.1-swap-verbose.txt": "failed",
        "cvu/12.2-node-excluded.txt": "PRVF-4009",
        "cvu/19c-wrapped-task.txt": "FAILED",
        "cvu/gridsetup-log.txt": "FAILED",
    },
    "controls/block_devices/parsers/dm_multipath.py": {
        "block_devices/one-path-down-queues.json": "failed"
    },
    "controls/name_resolution/parsers/dns_message.py": {"dns/dnsmasq-2.90-none.hex": "81830001"},
    "controls/time_sync/parsers/time_sources.py": {
        "chrony/chrony-4.3-sources-none-reached.csv": "^,?,"
    },
    "parsers/jboss/cli_answers.py": {"pool_validation/answers-edited.json": "two-ds.xml"},
    "parsers/net/bonding.py": {
        "flow_control/bonding-member-down.txt": "MII Status: down",
        "flow_control/bonding-no-aggregator.txt": "no active aggregator",
    },
    "parsers/unix/package_list.py": {"packages/rpm-damaged-package.txt": "error"},
}
#: Characters of a value that are stored; its digest covers all of it.
KEPT = 400


def readers() -> set[str]:
    folders = [HOSTPROOF / "parsers", *HOSTPROOF.glob("controls/*/parsers")]
    files = {
        str(path.relative_to(HOSTPROOF))
        for folder in folders
        for path in folder.rglob("*.py")
        if path.name != "__init__.py"
    }
    other = packs.ROOT / "plugin_utils/hostproof_controller/other_tools"
    return files | {
        f"other_tools/{path.name}" for path in other.glob("*.py") if path.name[0] != "_"
    }


def samples(row):
    return sorted(path for words in row.samples.split() for path in packs.FIXTURES.glob(words))


def test_each_reader_is_in_the_register_once():
    registered = [row.reader for row in ROWS]
    assert len(registered) == len(set(registered))
    assert set(registered) | HELPERS == readers()
    assert not set(registered) & HELPERS


def test_each_row_has_real_samples_or_states_what_it_was_made_from():
    for row in ROWS:
        assert bool(row.samples) != row.origin.startswith("none: "), row.reader
        for words in row.samples.split():
            assert list(packs.FIXTURES.glob(words)), (row.reader, words)
            assert "made-up" not in words, (row.reader, words)


def test_formats_of_several_objects_have_a_sample_in_which_one_failed():
    by_reader = {row.reader: samples(row) for row in ROWS}
    for reader, failures in WITH_A_FAILURE.items():
        for sample, words in failures.items():
            path = packs.FIXTURES / sample
            assert path in by_reader[reader], (reader, sample)
            assert words in path.read_text(), sample


def test_the_page_has_the_table():
    text = REGISTER["PAGE"].read_text()
    assert REGISTER["page"](text) == text, "run tests/format_register"


def plain(value):
    """Tuples, dictionaries and lists, whose text is the same in each process."""
    if isinstance(value, dict):
        return {str(key): plain(each) for key, each in value.items()}
    if isinstance(value, set | frozenset):
        return sorted((plain(each) for each in value), key=repr)
    if hasattr(value, "_asdict"):
        return {type(value).__name__: plain(value._asdict())}
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    return plain(vars(value)) if hasattr(value, "__dict__") else value


def takes_one_text(read) -> bool:
    """Readers that take more are tested on their samples elsewhere."""
    first, *others = inspect.signature(read).parameters.values()
    return first.annotation in (str, "str") and all(
        other.default is not inspect.Parameter.empty for other in others
    )


def values_of(row) -> dict[str, str]:
    """The values that the reader takes from each sample, for readers of one text."""
    package = "ansible.module_utils.hostproof"
    if row.reader.startswith("other_tools"):
        package = "hostproof_controller"
    module = importlib.import_module(f"{package}.{row.reader[:-3].replace('/', '.')}")
    read = getattr(module, "as_text", None) or getattr(module, "parse", None)
    if read is None or not takes_one_text(read):
        return {}
    values = {}
    for path in samples(row):
        if path.suffix in (".json", ".hex", ".tsv") or path.parent.name == "packages":
            continue
        text = path.read_bytes().decode("utf-8", "surrogateescape")
        try:
            value = repr(plain(read(text)))
        except HostproofError as problem:
            value = f"{type(problem).__name__}: {problem}"
        digest = hashlib.sha256(value.encode("utf-8", "surrogateescape")).hexdigest()[:16]
        values[str(path.relative_to(packs.FIXTURES))] = f"{value[:KEPT]} [{digest}]"
    return values


def test_the_values_of_each_sample_are_those_stored():
    """HOSTPROOF_WRITE_FIXTURES=1 writes them; each change is then to be looked at."""
    found = {row.reader: values for row in ROWS if (values := values_of(row))}
    if os.environ.get("HOSTPROOF_WRITE_FIXTURES"):
        VALUES.write_text(json.dumps(found, indent=1, ensure_ascii=True, sort_keys=True) + "\n")
        pytest.skip("the values were written")
    stored = json.loads(VALUES.read_text())
    for reader in sorted({*found, *stored}):
        assert found.get(reader) == stored.get(reader), reader

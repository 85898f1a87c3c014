"""Evidence holds the part of a file that a control needs, and every finding stays the same."""

import json
import random
from pathlib import Path
from typing import Any

import packs
import pytest
from ansible.module_utils.hostproof.collect import evidence
from ansible.module_utils.hostproof.collect.host import LiveHost, RecordedHost
from ansible.module_utils.hostproof.controls.block_devices.parsers import dm_multipath
from ansible.module_utils.hostproof.controls.time_sync.parsers import (
    chrony_conf,
    ntp_conf,
    unit_properties,
)
from ansible.module_utils.hostproof.errors import ParseError
from ansible.module_utils.hostproof.evaluate import audit
from ansible.module_utils.hostproof.parsers.mounts import fstab
from ansible.module_utils.hostproof.parsers.nfs import autofs_map
from ansible.module_utils.hostproof.parsers.oracle import (
    crsconfig_params,
    oracle_net,
    oracle_net_data,
    pfile,
)
from ansible.module_utils.hostproof.parsers.shell import script_lines, shell_words
from ansible.module_utils.hostproof.parsers.systemd import systemd_unit, udev_rules
from ansible.module_utils.hostproof.probes.nfs import automounts
from ansible.module_utils.hostproof.probes.systemd import boot_scripts
from cases import cases
from fuzz import judging
from fuzz.mutation import mutated

FIXTURES = packs.ROOT / "tests/fixtures"
SHARED = Path(packs.ROOT).parent / "shared/data/packs"
SECRET = "tiger7Q"
WANTED_VARIABLES = unit_properties.variables(("/usr/sbin/chronyd", "$OPTIONS", "${MORE}"))


def outcome(parse: Any, text: str) -> Any:
    try:
        return parse(text)
    except ParseError as problem:
        return str(problem)


def of_chrony(text: str) -> Any:
    return [
        directive
        for directive in chrony_conf.parse(text, "x")
        if directive.name in chrony_conf._KEPT
    ]


def of_script(text: str) -> Any:
    lines = shell_words.joined(text)
    return [
        (number, boot_scripts._effects(line), script_lines.reached(lines, number))
        for number, line in enumerate(lines, 1)
        if boot_scripts._effects(line)
    ]


def of_unit(text: str) -> Any:
    unit = systemd_unit.parse(text, "x")
    return [assignment for assignment in unit.assignments if assignment.key in systemd_unit._KEPT]


def of_conditions(text: str) -> Any:
    return [bool(pattern.search(text)) for pattern in (boot_scripts._UNSURE, boot_scripts._STAYS)]


def of_environment(text: str) -> Any:
    return unit_properties.expanded(("/usr/sbin/chronyd", "$OPTIONS", "${MORE}"), [text])


def of_map(text: str) -> Any:
    return autofs_map.parse_map(text), autofs_map.parse_master(text)


def of_settings(text: str) -> Any:
    return [automounts._setting([text], name) for name in ("master_map_name", "append_options")]


def of_fstab(text: str) -> Any:
    return fstab.parse(text), fstab.bad_lines(text)


def of_rules(text: str) -> Any:
    tokens = [
        (rule.line, [token for token in rule.tokens if not token[0].startswith("RUN")])
        for rule in udev_rules.rules(text)
    ]
    return udev_rules.jumps(text), udev_rules.parse(text), tokens


def of_listener(text: str) -> Any:
    net = oracle_net.parse(text)
    parameters = [
        (
            parameter.name,
            parameter.value,
            net.line_of(parameter.start),
            oracle_net_data._tree(parameter, []),
        )
        for parameter in net.parameters
        if oracle_net._KEPT.match(parameter.name) or parameter.inside("ADDRESS")
    ]
    places = [
        (parameter.name, net.line_of(parameter.start), net.line_of(parameter.end))
        for parameter in net.parameters
    ]
    lines = net.text.split("\n")
    agent = [number for number, line in enumerate(lines) if oracle_net.AGENT.search(line)]
    inside = [number for number in agent if any(a - 1 <= number <= b - 1 for _name, a, b in places)]
    return parameters, places, inside, net.repeated(), net.included()


#: Filter, what the control makes of a text, and a text with a secret in each part that goes.
CASES: dict[str, tuple[Any, Any, str]] = {
    "chrony.conf": (
        chrony_conf.kept,
        of_chrony,
        f"# {SECRET}\n! {SECRET}\npool ntp.example.com key 7\ncmdallow {SECRET}\n\n"
        "makestep 1.0 3\nconfdir /etc/chrony/conf.d\ninclude /etc/chrony.d/*.conf\n"
        f"   MakeStep 0.1 -1\nkeyfile /etc/{SECRET}\n",
    ),
    "ntp.conf": (
        ntp_conf.kept,
        lambda text: ntp_conf.thresholds(text, "x"),
        f"# {SECRET}\ncrypto pw {SECRET}\n  tinker panic 0 step 0.5\ntinker stepback 1 # x\n",
    ),
    "multipathd show config": (
        dm_multipath.kept_config,
        dm_multipath.polling_interval,
        f"defaults {{\n\tuser_friendly_names yes\n\tpolling_interval 5\n"
        f"\treservation_key {SECRET}\n"
        f'}}\nprotocol {{\n\tauth "{SECRET}"\n}}\n',
    ),
    "crsconfig_params": (
        crsconfig_params.kept,
        crsconfig_params.parse,
        f"# {SECRET}\nORACLE_OWNER=grid\nCLUSTER_NAME=rac1\nASM_PW={SECRET}\n"
        "NODE_NAME_LIST=db1,db2\nCRS_NODEVIPS='db1-vip/255.255.255.0/eth0'\nSCAN_NAME=rac-scan\n",
    ),
    "environment file": (
        WANTED_VARIABLES,
        of_environment,
        f'# {SECRET}\nOPTIONS="-u chrony -x"\nDB_PASSWORD={SECRET}\n'
        f" MORE = -F 2\n;OPTIONS={SECRET}\n"
        f"export X={SECRET}\n",
    ),
    "rc.local": (
        script_lines.kept,
        of_script,
        f"#!/bin/sh -u\n# {SECRET}\nmount //f/s /mnt -o password={SECRET}\n"
        "sysctl -w vm.nr_hugepages=512\necho 1 \\\n  > /proc/sys/vm/overcommit_memory\n"
        f"if curl -u scott:{SECRET} http://x; then\n  sysctl -p\nfi\nmysql \\\n -p{SECRET}\n"
        f"exit 0 # {SECRET}\nsysctl -w vm.nr_hugepages=4\n",
    ),
    "service unit": (
        boot_scripts._kept_unit,
        of_conditions,
        f"[Unit]\n# {SECRET}\nConditionPathExists=/etc/{SECRET}\n[Service]\n"
        f"Environment=PW={SECRET}\nExecStart=/usr/bin/app --password {SECRET}\n"
        f"RemainAfterExit=yes{SECRET}\n",
    ),
    "mount unit": (
        systemd_unit.kept_mount,
        of_unit,
        f"[Unit]\nDescription={SECRET}\n; {SECRET}\nSourcePath=/etc/fstab\n\n[Mount]\nWhat=f:/v\n"
        f"Where=/u01\nType=nfs\nOptions=rw,\\\n  # {SECRET}\n  hard\nEnvironment=A={SECRET}\n",
    ),
    "automounter map": (
        autofs_map.kept,
        of_map,
        f'# {SECRET}\n/u01/a -rw,hard f:/v \\\n g:/v\n* -hard "f:/a b/&"\n+more\n'
        f'"#k" -rw f:/v\\ w\nkey\n/- /etc/auto.direct -rw,hard\n/m file,sun:/etc/x --timeout=5\n',
    ),
    "autofs.conf": (
        automounts._kept_settings,
        of_settings,
        f"# {SECRET}\n[ autofs ]\nmaster_map_name = /etc/auto.x\nldap_secret = {SECRET}\n"
        'APPEND_OPTIONS="no"\n',
    ),
    "fstab": (
        fstab.kept,
        of_fstab,
        f"# {SECRET}\nf:/a\\040b /u01/a\\040b nfs rw,bg, hard 0 0\n{SECRET}\n"
        "UUID=1 / xfs defaults 0 0"
        f" # {SECRET}\nf:/v /u02 nfs\n\n/dev/sda2 none swap sw 0 0\r\n{SECRET} x\n",
    ),
    "udev rules": (
        udev_rules.kept,
        of_rules,
        f'# {SECRET}\nKERNEL=="sd*", RUN+="/bin/curl -u a:{SECRET} \\"x\\"", OWNER="grid"\n'
        'ACTION=="add", SUBSYSTEM=="net", \\\n  RUN+="/sbin/ethtool -A %k rx off"\n'
        f'GOTO="end"\nKERNEL=="sunrpc", RUN+="/sbin/sysctl -q -p"\nRUN="{SECRET}"\nLABEL="end"\n',
    ),
    "listener.ora": (
        oracle_net.kept,
        of_listener,
        f"# {SECRET}\nLISTENER =\n  (DESCRIPTION = # {SECRET}\n"
        "    (ADDRESS = (PROTOCOL = TCP)(HOST = db1)(PORT = 1521)(RATE_LIMIT = 5))\n  )\n"
        f"PASSWORDS_LISTENER = ({SECRET})\nWALLET_LOCATION =\n  (SOURCE = (METHOD = FILE)\n"
        f"   (METHOD_DATA = (DIRECTORY = /etc/{SECRET})))  # line added by Agent\n"
        f"SID_LIST_LISTENER = (SID_LIST = (SID_DESC = (ENVS = PW={SECRET})(SID_NAME = A)))\n"
        "CONNECTION_RATE_LISTENER = 10\t# line added by Agent\nIFILE = /etc/more.ora\n",
    ),
    "init.ora": (
        pfile.kept,
        pfile.parse,
        f"# {SECRET}\n*.sga_target=4G # {SECRET}\ndb_name='a#b'\n"
        f"control_files=('/a',\n '/b') #{SECRET}\n"
        f"dispatchers='(PROTOCOL=TCP) \\\n (SERVICE=x)'\na=1 \\ # {SECRET}\n",
    ),
}
CASE = pytest.mark.parametrize("name", CASES)


@CASE
def test_a_secret_in_a_part_that_no_control_needs_is_not_kept(name):
    keep, _parse, text = CASES[name]
    assert SECRET in text
    assert SECRET not in keep(text)


@CASE
def test_the_parser_returns_the_same_for_the_part_that_is_kept(name):
    keep, parse, text = CASES[name]
    assert outcome(parse, keep(text)) == outcome(parse, text)
    assert keep(keep(text)) == keep(text)


@CASE
def test_the_parser_returns_the_same_for_any_text(name):
    keep, parse, text = CASES[name]
    chance = random.Random(7)
    for _number in range(1500):
        changed = mutated(text, chance)
        kept = keep(changed)
        assert outcome(parse, kept) == outcome(parse, changed), (changed, kept)
        assert keep(kept) == kept, changed


@cases(
    "keep text left",
    (
        fstab.kept,
        f"//f/s /mnt cifs rw,username=a,password={SECRET},vers=3.0 0 0\n",
        "//f/s /mnt cifs rw 0 0",
    ),
    (
        fstab.kept,
        f"//f/s /mnt cifs username=a,password={SECRET} 0 0\n",
        "//f/s /mnt cifs defaults 0 0",
    ),
    (
        autofs_map.kept,
        f"data -fstype=cifs,rw,username=a,password={SECRET} ://f/s\n",
        "data -fstype=cifs,rw ://f/s",
    ),
    (
        systemd_unit.kept_mount,
        f"[Mount]\nOptions=rw,pass={SECRET}\nType=smb3\n",
        "[Mount]\nOptions=rw\nType=smb3",
    ),
)
def test_options_of_other_network_file_systems_are_kept_without_values(keep, text, left):
    assert keep(text) == left
    assert keep(left) == left


def test_what_cannot_be_parsed_is_kept_for_the_masking():
    assert oracle_net.kept("LISTENER = (\n") == "LISTENER = (\n"


# -- on a live host ------------------------------------------------------------------------------


def test_the_caller_gets_the_whole_text_and_evidence_the_part(tmp_path):
    path = str(tmp_path / "chrony.conf")
    text = f"# {SECRET}\nmakestep 1 3\n"
    Path(path).write_text(text)
    host = LiveHost()
    for _time in range(2):
        assert host.read_text(path, record=chrony_conf.kept) == text
    assert host.evidence["file:" + path]["text"] == "\nmakestep 1 3\n"
    recorded = RecordedHost(host.evidence)
    assert recorded.read_text(path, record=chrony_conf.kept) == "\nmakestep 1 3\n"


def test_a_second_control_that_needs_other_lines_gets_them_in_the_evidence_too(tmp_path):
    path = str(tmp_path / "file")
    Path(path).write_text("makestep 1 3\nother\n")
    host = LiveHost()
    host.read_text(path, record=chrony_conf.kept)
    assert host.read_text(path) == "makestep 1 3\nother\n"
    assert host.evidence["file:" + path]["text"] == "makestep 1 3\nother\n"
    host.read_text(path, record=chrony_conf.kept)
    assert host.evidence["file:" + path]["text"] == "makestep 1 3\nother\n"


def test_equal_filters_of_two_units_are_one(tmp_path):
    path = str(tmp_path / "env")
    Path(path).write_text(f"OPTIONS=-x\nPW={SECRET}\n")
    host = LiveHost()
    for _time in range(2):
        host.read_text(path, record=unit_properties.variables(("chronyd", "$OPTIONS")))
    assert host.evidence["file:" + path]["text"] == "OPTIONS=-x\n\n"


def test_output_of_a_command_is_recorded_in_part(tmp_path):
    path = tmp_path / "crsconfig_params"
    path.write_text(f"PW={SECRET}\nSCAN_NAME=s\n")
    host = LiveHost()
    output = host.run(["cat", str(path)], record=crsconfig_params.kept)
    assert SECRET in output.stdout
    assert SECRET not in json.dumps(host.evidence)


def test_a_missing_file_stays_an_error(tmp_path):
    host = LiveHost()
    path = str(tmp_path / "none")
    with pytest.raises(Exception, match="No such file"):
        host.read_text(path, record=chrony_conf.kept)
    assert host.evidence["file:" + path]["error"] == "absent"


# -- every recorded host -------------------------------------------------------------------------


def all_packs() -> list[tuple[str, judging.Readings, dict[str, Any]]]:
    packs = judging.recorded()
    if SHARED.is_dir():
        packs += [
            (path.stem, evidence.open_pack(str(path))[0], packs[0][2])
            for path in sorted(SHARED.rglob("*.json"))
            if '"readings"' in path.read_text()
        ]
    return packs


def test_every_recorded_host_has_the_same_findings_with_the_kept_parts(monkeypatch):
    used = set()
    real = RecordedHost._answer

    def reduced(self, key, kind, ask, record=None):
        reading = real(self, key, kind, ask, record)
        if record is None:
            return reading
        used.add(getattr(record, "__module__", "").rpartition(".")[2])
        field = "text" if "text" in reading else "stdout"
        return dict(reading, **{field: record(reading[field])})

    for name, readings, policies in all_packs():
        whole = audit.judge_host(RecordedHost(readings), policies)
        with monkeypatch.context() as patch:
            patch.setattr(RecordedHost, "_answer", reduced)
            part = audit.judge_host(RecordedHost(readings), policies)
        assert part == whole, name
        assert not [finding for finding in whole if finding.check.endswith(".audited")], name
    assert {"chrony_conf", "fstab", "systemd_unit", "oracle_net", "pfile"} <= used

"""How real processes write, by /proc alone: each of the eight ways is told from the others."""

import itertools
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from ansible.module_utils.hostproof.collect.host import LiveHost
from ansible.module_utils.hostproof.controls.async_io.control import CONTROL as async_io
from ansible.module_utils.hostproof.controls.async_io.parsers import io_messages
from ansible.module_utils.hostproof.controls.async_io.probes import io_logs
from ansible.module_utils.hostproof.errors import Absent
from ansible.module_utils.hostproof.evaluate.finding import Finding
from ansible.module_utils.hostproof.probes.oracle import io_writers
from cases import cases
from default_policies import default_policy
from packs import FIXTURES, ROOT

STAND_IN = ROOT / "tests/standins/instance.py"
#: (context, O_DIRECT, O_DSYNC) by the SID of the stand-in.
WAYS = {
    f"WAY{number}": way
    for number, way in enumerate(itertools.product((False, True), repeat=3), start=1)
}
NAMES = {
    (False, False): "none",
    (True, False): "asynch",
    (False, True): "directio",
    (True, True): "setall",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("oradata")
    try:
        os.close(os.open(path / "direct", os.O_RDWR | os.O_CREAT | os.O_DIRECT))
    except OSError:
        pytest.skip(f"{path} lies in a file system without O_DIRECT")
    return path


@pytest.fixture(scope="module")
def instances(folder: Path) -> Iterator[None]:
    """Eight instances of real processes: a monitor, DBWR with a data file, LGWR with redo."""
    running = []
    for sid, (context, direct, synced) in WAYS.items():
        flags = "+".join(
            [word for word, is_set in (("direct", direct), ("dsync", synced)) if is_set]
        )
        for process, name in (("pmon", None), ("dbw0", "users01.dbf"), ("lgwr", "redo01.log")):
            argv = [sys.executable, str(STAND_IN), "--sid", sid, "--process", process]
            argv += ["--hold", f"{flags}:{folder}/{sid}_{name}"] if name else []
            argv += ["--context", "16"] if context and name else []
            null, pipe = subprocess.DEVNULL, subprocess.PIPE
            running.append(subprocess.Popen(argv, stdout=pipe, stderr=null, text=True))
    for writer in running:
        assert writer.stdout is not None
        assert writer.stdout.readline().startswith("ready ")
    yield
    for writer in running:
        writer.terminate()
        writer.communicate()


@pytest.fixture(scope="module")
def judged(instances: None) -> dict[tuple[str, str], Finding]:
    """The findings of one look at all of them, by SID and check."""
    policy = async_io.policy_from({**default_policy("async_io"), "query_instances": False})
    facts = async_io.read(LiveHost(), policy)
    findings = async_io.judge(facts, policy)
    return {
        (finding.title.partition(":")[0], finding.check.rpartition(".")[2]): finding
        for finding in findings
        if finding.title.partition(":")[0] in WAYS
    }


@pytest.mark.parametrize("sid", WAYS)
def test_each_way_is_told(judged, sid):
    context, direct, synced = WAYS[sid]
    in_use = judged[sid, "durable_files"].in_use
    assert ("synchronous (no AIO context)" in in_use) is not context
    assert ("past the page cache" in in_use) is direct
    assert ("each write to disk" in in_use) is synced


@pytest.mark.parametrize("sid", WAYS)
def test_each_way_is_judged(judged, sid):
    """The policy wants setall, and nobody was asked what the parameter is."""
    context, direct, synced = WAYS[sid]
    assert judged[sid, "contexts"].status == ("pass" if context else "warn")
    assert judged[sid, "direct_files"].status == ("pass" if direct else "fail")
    durable = "pass" if synced else "warn" if direct else "fail"
    assert judged[sid, "durable_files"].status == durable
    assert judged[sid, "filesystemio_options"].status == "error"
    if not direct:
        why = judged[sid, "direct_files"].why
        assert f"1 data and 1 redo files of {sid} are open without O_DIRECT" in why
        assert "the page cache of the host holds" in why.lower()


@pytest.mark.parametrize("sid", WAYS)
def test_each_way_has_the_name_of_the_parameter(instances, sid):
    host = LiveHost()
    holders = io_writers.read_holders(host)
    writers = io_writers.writers(host, holders, io_writers.machine_of(host))
    ones = io_writers.of_instance(writers, sid)
    assert sorted(writer.process for writer in ones) == ["dbw0", "lgwr"]
    has_context = all(writer.rings for writer in ones)
    direct = all(file.flags.direct for writer in ones for file in writer.files)
    context, is_direct, _synced = WAYS[sid]
    assert NAMES[has_context, direct] == NAMES[context, is_direct]
    assert {file.kind for writer in ones for file in writer.files} == {"data", "redo"}


def test_awk_keeps_what_the_parser_finds(tmp_path):
    """The program that reads alert logs gives of each text what the parser finds in all of it."""
    for path in sorted((FIXTURES / "io_messages").glob("*.txt")):
        text = path.read_text()
        host = LiveHost()
        log = tmp_path / "alert_A.log"
        log.write_text("Thu Jan  1 00:00:00 1998\nStarting ORACLE instance\n" * 50 + text)
        messages = io_logs.read_alert_log(host, str(log), own_name(), 0)
        whole = io_messages.parse(log.read_text(), 0)
        assert [message._replace(at=None) for message in messages] == [
            message._replace(at=None) for message in whole
        ]


def test_traces_of_the_writers_alone(tmp_path):
    text = (FIXTURES / "io_messages/10.2.0.5-maxaio.txt").read_text()
    stamp = "*** 2014-09-10T09:58:17.159123+00:00\n"
    for name in ("A_dbw0_12.trc", "A_lgwr_13.trc", "A_ora_14.trc", "B_dbw0_15.trc"):
        (tmp_path / name).write_text(stamp + text)
    messages = io_logs.read_traces(LiveHost(), str(tmp_path), "A", 7, own_name(), 0)
    assert {message.process for message in messages} == {"A_dbw0_12", "A_lgwr_13"}
    assert {message.at for message in messages} == {1410343097.0}
    assert len(messages) == 8


def test_an_alert_log_that_is_not_there(tmp_path):
    with pytest.raises(Absent):
        io_logs.read_alert_log(LiveHost(), str(tmp_path / "none"), own_name(), 0)


@cases(
    "path process kind",
    ("/u02/oradata/ORCL/users01.dbf", "dbw0", "data"),
    ("/u02/oradata/ORCL/temp01.dbf", "dbw0", "temporary"),
    ("/u02/oradata/ORCL/contemporary01.dbf", "dbw0", "data"),
    ("/u02/oradata/ORCL/control01.ctl", "lgwr", "control"),
    ("/u02/ORCL/controlfile/o1_mf_abc_.ctl", "lgwr", "control"),
    ("/u02/ORCL/onlinelog/o1_mf_1_abc_.log", "lgwr", "redo"),
    ("/u02/ORCL/datafile/o1_mf_users_abc_.dbf", "lgwr", "data"),
    ("/u02/oradata/ORCL/redo01.rdo", "dbw0", "redo"),
    ("/dev/dm-3", "dbw0", "device"),
    ("/u02/oradata/ORCL/who_knows", "dbw0", "data"),
    ("/u02/oradata/ORCL/who_knows", "lgwr", "redo"),
    ("/u02/oradata/ORCL/gone01.dbf (deleted)", "lgwr", "data"),
)
def test_kinds_of_files(path, process, kind):
    assert io_writers.kind_of(path, process) == kind


def own_name() -> str:
    return subprocess.run(["id", "-un"], capture_output=True, text=True).stdout.strip()

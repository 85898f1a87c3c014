"""The agents that the tests share."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import agents
import pytest

ROOT = Path(__file__).resolve().parents[2]
RECORDS = ROOT / "tests/fixtures/storage_type/records"


@pytest.fixture(scope="session")
def snmpd(tmp_path_factory) -> Iterator[int]:
    with agents.snmpd(tmp_path_factory.mktemp("snmpd")) as port:
        yield port


@pytest.fixture(scope="session")
def records(tmp_path_factory) -> Iterator[int]:
    """The project's own records, and the appliance of the article under the community public."""
    folder = tmp_path_factory.mktemp("records")
    for path in RECORDS.glob("*.snmprec"):
        shutil.copy(path, folder)
    shutil.copy(RECORDS / "zfs-7420.snmprec", folder / "public.snmprec")
    with agents.snmpsim(folder, tmp_path_factory.mktemp("cache")) as port:
        yield port


@pytest.fixture(autouse=True)
def private_folder(tmp_path, monkeypatch) -> Path:
    """Where temporary files go during a test, to see that none stays."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    return folder

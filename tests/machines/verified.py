"""A plugin of pytest for the tests of molecule's scenarios: the container is testinfra's ``host``.

molecule/<scenario>/tests gets it by PYTEST_PLUGINS (.config/molecule/config.yml).
"""

import os

import pytest
import testinfra

from machines import container
from machines.box import testinfra_host


@pytest.fixture
def host(monkeypatch: pytest.MonkeyPatch) -> testinfra.host.Host:
    """The container of the scenario that molecule verifies."""
    name = f"molecule-{os.environ['MOLECULE_SCENARIO_NAME']}"
    if not container.inventory_file(name).exists():
        pytest.fail("the container does not run; molecule create starts it", pytrace=False)
    return testinfra_host(name, monkeypatch)

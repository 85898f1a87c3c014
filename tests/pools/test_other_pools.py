"""Tomcat's JDBC pool, DBCP 2, HikariCP and UCP themselves: how often each asks its driver.

The pools are real, and made as Tomcat makes them of the attributes of a Resource; the database
behind them is a stand-in, a driver that counts what it is asked (CheckoutProbe.java). What is
counted here is what tests/unit compares the control with.
"""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import parts
import pytest

HERE = Path(__file__).resolve().parent
CASES = json.loads((HERE.parent / "fixtures/pool_validation/checkouts.json").read_text())

COMPILER = "org.eclipse.jdt:ecj:3.40.0"
COMMON = ("org.slf4j:slf4j-api:2.0.16", "org.slf4j:slf4j-nop:2.0.16")
#: What Maven calls it, its factory, the type of the Resource, and what names the driver.
POOLS: dict[str, tuple[tuple[str, ...], str, str, dict[str, str]]] = {
    "tomcat_jdbc": (
        ("org.apache.tomcat:tomcat-jdbc:10.1.34", "org.apache.tomcat:tomcat-juli:10.1.34"),
        "org.apache.tomcat.jdbc.pool.DataSourceFactory",
        "javax.sql.DataSource",
        # A second idle connection would be counted beside the one that is asked for.
        {"driverClassName": "CheckoutProbe$CountingDriver", "initialSize": "1", "minIdle": "1"},
    ),
    "dbcp2": (
        ("org.apache.tomcat:tomcat-dbcp:10.1.34", "org.apache.tomcat:tomcat-juli:10.1.34"),
        "org.apache.tomcat.dbcp.dbcp2.BasicDataSourceFactory",
        "javax.sql.DataSource",
        {"driverClassName": "CheckoutProbe$CountingDriver"},
    ),
    "hikaricp": (
        ("com.zaxxer:HikariCP:5.1.0",),
        "com.zaxxer.hikari.HikariJNDIFactory",
        "javax.sql.DataSource",
        {"driverClassName": "CheckoutProbe$CountingDriver", "jdbcUrl": "jdbc:counting:"},
    ),
    "ucp": (
        (
            "com.oracle.database.jdbc:ucp11:23.6.0.24.10",
            "com.oracle.database.jdbc:ojdbc11:23.6.0.24.10",
        ),
        "oracle.ucp.jdbc.PoolDataSourceImpl",
        "oracle.ucp.jdbc.PoolDataSource",
        {"connectionFactoryClassName": "CheckoutProbe$CountingDriver", "user": "x"},
    ),
}


@pytest.fixture(scope="module")
def classes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program, compiled: a runtime of Java has no compiler of its own."""
    made = tmp_path_factory.mktemp("classes")
    compile_it = ["java", "-jar", str(parts.fetch(COMPILER)), "-17", "-nowarn", "-d", str(made)]
    subprocess.run([*compile_it, str(HERE / "CheckoutProbe.java")], check=True, timeout=300)
    return made


def counted(classes: Path, kind: str, attributes: dict[str, str]) -> list[int]:
    """Validations in ten checkouts at once, in one after a rest, and in the background."""
    coordinates, factory, of_type, own = POOLS[kind]
    path = [str(classes), *(str(parts.fetch(artifact)) for artifact in (*COMMON, *coordinates))]
    properties = {"url": "jdbc:counting:", **own, **attributes}
    done = subprocess.run(
        ["java", "-cp", os.pathsep.join(path), "CheckoutProbe", factory, of_type]
        + [f"{name}={value}" for name, value in properties.items()],
        capture_output=True,
        text=True,
        timeout=240,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return [int(word) for word in done.stdout.split()]


@pytest.mark.parametrize(
    "case",
    CASES,
    ids=lambda case: " ".join([case["kind"], *map("=".join, case["attributes"].items())]),
)
def test_how_often_a_pool_asks(classes: Path, case: dict[str, Any]) -> None:
    at_once, rested, behind = counted(classes, case["kind"], case["attributes"])
    # How many rounds the background makes in two seconds, a busy machine decides.
    assert [at_once, rested, int(behind > 0)] == case["counted"]

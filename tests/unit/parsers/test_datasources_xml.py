"""Data sources in XML: what is read of real files, and what hostile ones do."""

import pytest
from ansible.module_utils.hostproof.controls.pool_validation.parsers import datasources_xml
from ansible.module_utils.hostproof.errors import ParseError
from cases import cases
from packs import FIXTURES

BOMB = """<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;">]>
<datasources><datasource jndi-name="&b;"/></datasources>"""
RECORD = (
    '[{"name": %s, "jndi": "", "xa": false, "enabled": true, "profile": null, "attributes": {%s}}]'
)
OUTSIDE = '<!DOCTYPE x SYSTEM "file:///etc/passwd"><datasources/>'


def source(inner: str) -> str:
    return f'<datasources><datasource jndi-name="java:/A">{inner}</datasource></datasources>'


def test_a_real_file():
    sources = {
        entry.name: entry
        for entry in datasources_xml.parse(
            (FIXTURES / "pool_validation/standalone.xml").read_text()
        )
    }
    assert list(sources) == ["ExampleDS", "FG", "BG", "UNSET", "NONE", "ZERO", "XA1"]
    assert sources["XA1"].xa and sources["XA1"].jndi == "java:/XA1"
    assert sources["XA1"].attributes["flush-strategy"] == "EntirePool"
    assert (
        sources["XA1"]
        .attributes["exception-sorter-class-name"]
        .endswith(".PostgreSQLExceptionSorter")
    )
    assert sources["ZERO"].attributes["max-pool-size"] == "5"
    assert sources["FG"].profile is None


def test_the_profiles_of_a_domain():
    text = (FIXTURES / "pool_validation/domain.xml").read_text()
    names = [(entry.profile, entry.name) for entry in datasources_xml.parse(text)]
    assert names == [("default", "ExampleDS"), ("full", "ExampleDS"), ("full", "BG")]


@cases("name", "standalone.xml", "domain.xml", "one-ds.xml")
def test_what_is_kept_is_the_same_without_a_secret(name):
    text = (FIXTURES / "pool_validation" / name).read_text()
    assert "Geheim" in text
    kept = datasources_xml.kept(text)
    assert "Geheim" not in kept and "jdbc:" not in kept
    assert datasources_xml.from_kept(kept) == datasources_xml.parse(text)


@cases(
    "text",
    BOMB,
    OUTSIDE,
    "<a>" * 65,
    source(f"<driver>{'x' * 5000}</driver>"),
    "<datasources>" + "<datasource/>" * 1001 + "</datasources>",
    "<datasources><datasource password='Geheim",
    "",
)
def test_what_is_beyond_the_bounds_is_refused_without_showing_it(text):
    with pytest.raises(ParseError) as refused:
        datasources_xml.parse(text)
    assert "Geheim" not in str(refused.value)


@cases(
    "text",
    "",
    "{}",
    "[1]",
    '[{"name": "a"}]',
    RECORD % ("1", ""),
    RECORD % ('""', '"password": "x"'),
    "[" * 100000,
)
def test_a_record_that_somebody_edited(text):
    with pytest.raises(ParseError):
        datasources_xml.from_kept(text)

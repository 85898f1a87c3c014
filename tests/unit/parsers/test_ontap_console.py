"""Saved output of a 7-Mode filer; the text of the fixture is the one that the article shows."""

import pytest
from ansible.module_utils.hostproof.controls.storage_type.parsers import ontap_console
from ansible.module_utils.hostproof.controls.storage_type.parsers.ontap_console import Aggregate
from ansible.module_utils.hostproof.errors import ParseError
from packs import FIXTURES

TEXT = (FIXTURES / "ontap_console/seed-7.3.2.txt").read_text()
VOL = "filer1*> vol options vol1\n"
DF = "filer1> df -Ag\nAggregate total used avail capacity\n"


def test_the_output_of_the_article():
    console = ontap_console.parse(TEXT)
    options = console.volumes["full_aggr_test"]
    assert (options["minra"], options["read_realloc"], len(options)) == ("off", "off", 24)
    assert console.aggregates == [Aggregate("aggr_used", "1102GB", "668GB", 61)]


def test_what_is_kept_reads_the_same_and_holds_nothing_else():
    text = (
        "X> options ldap.passwd secret\nsecret\n\n" + TEXT + "X> snap list\nNo snapshots exist.\n"
    )
    kept = ontap_console.kept(text)
    assert "secret" not in kept and "snap list" not in kept and "exist" not in kept
    assert ontap_console.parse(kept) == ontap_console.parse(text)
    assert ontap_console.kept(kept) == kept


@pytest.mark.parametrize(
    ("text", "volumes", "percents"),
    [
        (VOL + "minra=on\n", {"vol1": {"minra": "on"}}, []),
        (VOL.replace("\n", "\r\n") + "minra=on\r\n", {"vol1": {"minra": "on"}}, []),
        (
            "> vol  options  vol1\nminra=on,\nread_realloc=on\n>\n",
            {"vol1": {"minra": "on", "read_realloc": "on"}},
            [],
        ),
        (VOL + "minra=on\n" + VOL + "minra=off\n", {"vol1": {"minra": "off"}}, []),
        (DF + "a 1GB 1GB 0GB 100%\nb 2TB 1TB 1TB 50%\n", {}, [100, 50]),
        # Over-committed: more is used than there is.
        (DF + "a 1GB 2GB -1GB 200%\n", {}, [200]),
        (
            "f(takeover)> df -g -A aggr0\nAggregate total used avail capacity\na 1GB 0GB 1GB 3%\n",
            {},
            [3],
        ),
    ],
)
def test_forms_of_output(text, volumes, percents):
    console = ontap_console.parse(text)
    assert console.volumes == volumes
    assert [aggregate.percent for aggregate in console.aggregates] == percents


@pytest.mark.parametrize(
    "text",
    [
        "",
        "minra=on\n",
        "Aggregate total used avail capacity\na 1GB 1GB 0GB 100%\n",
        "f> df -g\nFilesystem total used avail capacity Mounted on\n",
        VOL,
        VOL + "vol options: No volume named 'vol1' exists.\n",
        VOL + "minra\n",
        DF,
        "f> df -Ag\na 1GB 1GB 0GB 100%\n",
        DF + "a 1GB 1GB 0GB ---%\n",
        DF + "a 1GB 1GB 100%\n",
        DF + "a 1GB 1GB 0GB 1000%\n",
        DF + "df: no such aggregate\n",
        DF + "a/.snapshot 0GB 0GB 0GB ---%\n",
    ],
)
def test_what_is_not_understood_is_an_error(text):
    with pytest.raises(ParseError):
        ontap_console.parse(text)


def test_more_than_a_filer_has():
    rows = "".join(f"a{number} 1GB 1GB 0GB 1%\n" for number in range(ontap_console.MOST + 1))
    with pytest.raises(ParseError, match="more than 2000"):
        ontap_console.parse(DF + rows)

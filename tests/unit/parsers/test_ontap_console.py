"""Saved output of a 7-Mode filer; the text of the fixture is the one that the article shows."""

import pytest
from ansible.module_utils.hostproof.controls.storage_type.parsers import ontap_console
from ansible.module_utils.hostproof.controls.storage_type.parsers.ontap_console import Filled
from ansible.module_utils.hostproof.errors import ParseError
from cases import cases
from packs import FIXTURES

TEXT = (FIXTURES / "ontap_console/seed-7.3.2.txt").read_text()
VOL = "filer1*> vol options vol1\n"
SHOW = "Vserver Volume Aggregate State Type Size Available Used%\n--- --- --- --- --- --- --- ---\n"
DF = "filer1> df -Ag\nAggregate total used avail capacity\n"


def test_the_output_of_the_article():
    console = ontap_console.parse(TEXT)
    options = console.volumes["full_aggr_test"]
    assert (options["minra"], options["read_realloc"], len(options)) == ("off", "off", 24)
    assert console.aggregates == [Filled("aggr_used", "1102GB", "668GB", 61)]


def test_what_is_kept_reads_the_same_and_holds_nothing_else():
    text = (
        "X> options ldap.passwd secret\nsecret\n\n" + TEXT + "X> snap list\nNo snapshots exist.\n"
    )
    kept = ontap_console.kept(text)
    assert "secret" not in kept and "snap list" not in kept and "exist" not in kept
    assert ontap_console.parse(kept) == ontap_console.parse(text)
    assert ontap_console.kept(kept) == kept


@cases(
    "text volumes percents",
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
)
def test_forms_of_output(text, volumes, percents):
    console = ontap_console.parse(text)
    assert console.volumes == volumes
    assert [aggregate.percent for aggregate in console.aggregates] == percents


def used(text: str) -> list[tuple[str, int]]:
    return [(volume.name, volume.percent) for volume in ontap_console.parse(text).filled]


FS = "Filesystem total used avail capacity Mounted on\n"


@cases(
    "text expected",
    ("seed-7.3.2-df-g.txt", [("/vol/full_aggr_test", 40)]),
    (
        "7-mode-df-h.txt",
        [("/vol/ora_iscsi_logs", 76), ("/vol/vol0", 3), ("/vol/ora_iscsi_vm", 98)]
        + [("/vol/ora_cifs_01", 60)],
    ),
    (
        "ontap-9-volume-show.txt",
        [("cluster1-01:vol0", 6), ("svm_database1:oradata1", 0), ("svm_database1:oradata2", 0)]
        + [("svm_database1:svm_database1_root", 0)],
    ),
    ("f> df -g\n" + FS + "/vol/a/ 50GB 48GB 1GB 97% /vol/a/\n", [("/vol/a", 97)]),
    # Without a prompt, as ssh saves it, and with other text behind it.
    (
        FS + "/vol/a/ 50GB 48GB 1GB 97% /vol/a/\nConnection to filer1 closed.\n",
        [("/vol/a", 97)],
    ),
    (
        "c1::> df -g\n" + FS.strip() + " Vserver\n/vol/a/ 5GB 4GB 1GB 80% /a svm1\n",
        [("/vol/a", 80)],
    ),
    # A long name fills a separate line.
    (
        "$ df -h -volume ora* -vserver svm1\n" + FS + "/vol/ora_with_a_long_name/\n"
        "       8192MB 316KB 8191MB 0% /ora\n/vol/ora_with_a_long_name/.snapshot\n"
        "       0B 0B 0B 0% /ora/.snapshot\n2 entries were displayed.\n",
        [("/vol/ora_with_a_long_name", 0)],
    ),
    (
        "f> df\n" + FS.replace("total", "kbytes") + "/vol/a/ 900 855 45 95% /vol/a/\n",
        [("/vol/a", 95)],
    ),
    (
        SHOW + "s1 v1 aggr1 online RW 10GB 1GB 90%\ns1 v2 aggr1 offline RW 10GB - -\n",
        [("s1:v1", 90)],
    ),
)
def test_use_of_volumes(text, expected):
    if text.endswith(".txt"):
        text = (FIXTURES / "ontap_console" / text).read_text()
    assert used(text) == expected
    assert used(ontap_console.kept(text)) == expected


def test_aggregates_of_ontap_9():
    text = (
        "::> storage aggregate show\n"
        "Aggregate     Size Available Used% State   #Vols  Nodes            RAID Status\n"
        "--------- -------- --------- ----- ------- ------ ---------------- ------------\n"
        "aggr_nvme_1 2.45TB  850.4GB   65%   online       6 node1            raid_dp,\n"
        "                                                                    normal\n"
        "aggr_ssd_2  4.80TB  1.20TB    75%   online       4 node2            raid_dp, normal\n"
    )
    for saved in (text, ontap_console.kept(text)):
        aggregates = ontap_console.parse(saved).aggregates
        assert [(one.name, one.percent) for one in aggregates] == [
            ("aggr_nvme_1", 65),
            ("aggr_ssd_2", 75),
        ]


@cases(
    "text",
    "",
    "minra=on\n",
    "f> df -g\n/vol/a/ 1GB 1GB 0GB 100% /vol/a/\n",
    "f> df -g\nFilesystem total used avail capacity Mounted on\n/vol/a/ 1GB x 0GB 9% /vol/a/\n",
    "f> df -g\nFilesystem total used avail capacity Mounted on\n/vol/a/ 1GB 0GB 0GB ---% ---\n",
    "f> df -g\ndf: /vol/a: no such volume\n",
    SHOW + "svm1 vol1 aggr1 online RW 1GB 1GB many%\n",
    SHOW + "svm1 vol1 aggr1 online RW\n",
    SHOW,
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
)
def test_what_is_not_understood_is_an_error(text):
    with pytest.raises(ParseError):
        ontap_console.parse(text)


def test_more_than_a_filer_has():
    rows = "".join(f"a{number} 1GB 1GB 0GB 1%\n" for number in range(ontap_console.MOST + 1))
    with pytest.raises(ParseError, match="more than 2000"):
        ontap_console.parse(DF + rows)

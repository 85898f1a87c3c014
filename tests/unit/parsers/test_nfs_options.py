"""NFS options: every spelling has one meaning, and an edit changes nothing but what it must."""

import random

import pytest
from ansible.module_utils.hostproof.parsers.nfs import nfs_options
from ansible.module_utils.hostproof.parsers.nfs.nfs_options import (
    AIX,
    HPUX,
    LINUX,
    SOLARIS,
    edit,
    effective,
    parse,
    words,
)
from cases import cases

ORACLE = "rw,bg,hard,nointr,rsize=32768,wsize=32768,tcp,vers=3,timeo=600,actimeo=0"
#: As kernels show a mount made with ORACLE and rsize, wsize of 262144.
SHOWN_V3 = (
    "rw,relatime,vers=3,rsize=262144,wsize=262144,namlen=255,acregmin=0,acregmax=0,acdirmin=0,"
    "acdirmax=0,hard,proto=tcp,timeo=600,retrans=2,sec=sys,mountaddr=192.0.2.10,mountvers=3,"
    "mountport=20048,mountproto=udp,local_lock=none,addr=192.0.2.10"
)
CACHE_OFF = {"acregmin": "0", "acregmax": "0", "acdirmin": "0", "acdirmax": "0"}


@cases("text settings",

        ("", {}),
        (",,", {}),
        ("defaults,_netdev", {"defaults": "yes", "_netdev": "yes"}),
        ("tcp", {"proto": "tcp"}),
        ("proto=rdma", {"proto": "rdma"}),
        ("udp6", {"udp6": "yes"}),
        ("proto=tcp6", {"proto": "tcp6"}),
        ("soft,hard", {"recovery": "hard"}),
        ("softerr", {"recovery": "softerr"}),
        ("ro", {"access": "ro"}),
        ("fg", {"background": "fg"}),
        ("nfsvers=3", {"vers": "3"}),
        ("v4.1", {"vers": "4.1"}),
        ("vers=4,minorversion=1", {"vers": "4.1"}),
        ("minorversion=2,nfsvers=4", {"vers": "4.2"}),
        ("vers=4.1,minorversion=2", {"vers": "4.2"}),
        ("vers=4.1,vers=3", {"vers": "3"}),
        ("minorversion=1", {"minorversion": "1"}),
        ("actimeo=0", CACHE_OFF),
        ("actimeo=00,acregmax=30", {**CACHE_OFF, "acregmax": "30"}),
        # Linux reads 030 as octal: what a kernel makes of it is not known here.
        ("acregmax=030", {"acregmax": "030"}),
        ("vers=03", {"vers": "3"}),
        ("noac", {"noac": "yes"}),
        ("noac,ac", {"noac": "no"}),
        ("sync", {"sync": "yes"}),
        ("async", {"sync": "no"}),
        ("nolock,nocto,nosharecache", {"lock": "no", "cto": "no", "sharecache": "no"}),
        ("nointr", {"intr": "no"}),
        ("fsc=tag", {"fsc": "tag"}),
        ("lookupcache=positive", {"lookupcache": "pos"}),
        ("llock,cio,forcedirectio", {"llock": "yes", "cio": "yes", "forcedirectio": "yes"}),
        ("nosuid", {"suid": "no"}),
        ('context="a,b",hard', {"context": '"a,b"', "recovery": "hard"}),
        # Our own names are no options: mount would refuse them.
        ("recovery=hard", {"recovery=hard": "yes"}),
        ("x-systemd.idle-timeout=1min", {"x-systemd.idle-timeout": "1min"}),
    )  # fmt: skip
def test_one_name_for_every_spelling(text, settings):
    assert parse(text) == settings


def test_settings_stand_in_the_order_of_the_text():
    assert list(parse("tcp,hard,udp,actimeo=3,vers=4,minorversion=1"))[:3] == [
        "proto",
        "recovery",
        "acregmin",
    ]


def test_asked_and_shown_mean_the_same():
    requested, shown = effective(parse(ORACLE), LINUX), effective(parse(SHOWN_V3), LINUX)
    requested["rsize"] = requested["wsize"] = "262144"
    compared = sorted(nfs_options.GRANTED)
    assert {name: requested.get(name) for name in compared} == {
        name: shown.get(name) for name in compared
    }
    assert "intr" not in requested


@cases(
    "asked shown",
    # fs/nfs/super.c, nfs_show_mount_options(): defaults of the attribute cache are not shown.
    ("vers=3", "vers=3,hard,proto=tcp,timeo=600,retrans=2,sec=sys,local_lock=none"),
    ("vers=3,udp", "vers=3,hard,proto=udp,timeo=11,retrans=3,sec=sys,local_lock=none"),
    ("vers=3,noac", "sync,vers=3,acregmin=0,acregmax=0,acdirmin=0,acdirmax=0,hard,noac"),
    ("vers=3,nolock", "vers=3,hard,nolock,proto=tcp,local_lock=all"),
    ("vers=3,local_lock=all", "vers=3,hard,proto=tcp,local_lock=all"),
    # NFSv4 has no lock manager that could be left out.
    ("vers=4.1,nolock,noacl", "vers=4.1,hard,proto=tcp,local_lock=none"),
    ("vers=4.2,softerr", "vers=4.2,softerr,proto=tcp6"),
    ("vers=3,fsc=tag", "vers=3,fsc"),
    ("vers=3,nconnect=1", "vers=3"),
    ("vers=3,sec=none", "vers=3,sec=null"),
    ("vers=3,rsize=4194304", "vers=3,rsize=1048576"),
    ("vers=3,intr", "vers=3"),
)
def test_what_is_not_said_is_the_default(asked, shown):
    assert effective(parse(asked), LINUX) == effective(parse(shown), LINUX)


def test_what_the_server_decides_is_left_open():
    meant = effective(parse("sec=krb5:sys"), LINUX)
    assert not {"vers", "rsize", "wsize", "sec"} & set(meant)


def test_noac_is_more_than_actimeo_0():
    noac, actimeo = (effective(parse(text), LINUX) for text in ("noac", "actimeo=0"))
    assert {name for name in noac if noac[name] != actimeo[name]} == {"noac", "sync"}


@cases("system", AIX, SOLARIS, HPUX)
def test_other_systems_keep_their_own_options(system):
    meant = effective(parse("bg,intr,llock,noac"), system)
    assert (meant["intr"], meant["llock"], meant["forcedirectio"]) == ("yes", "yes", "no")
    assert {name: meant[name] for name in CACHE_OFF} == CACHE_OFF
    assert "lock" not in meant and "sync" not in meant


@cases(
    "text written",
    (ORACLE, "rw,bg,hard,nointr,rsize=32768,wsize=32768,proto=tcp,vers=3,timeo=600,actimeo=0"),
    ("acregmin=0,acregmax=0,acdirmin=0,acdirmax=1", None),
    ("ac,async,nolock,nocto,nosharecache,llock,cio", None),
    ("v4.1,rdma", "vers=4.1,proto=rdma"),
    ("acdirmax=7,acdirmin=7,acregmax=7,acregmin=7,tcp", "actimeo=7,proto=tcp"),
    ("noatime,x-systemd.idle-timeout=1min,context=a", None),
    ("recovery=hard", None),
)
def test_the_words_that_mount_takes(text, written):
    assert ",".join(words(parse(text))) == (text if written is None else written)


def test_no_word_says_no_for_what_other_systems_only_switch_on():
    assert words({"llock": "no", "cio": "no", "dio": "no", "forcedirectio": "no"}) == [
        "noforcedirectio"
    ]


@cases(
    "text wanted edited",
    ("rw,soft,udp,x", {"recovery": "hard", "proto": "tcp"}, "rw,hard,proto=tcp,x"),
    ("defaults", {"recovery": "hard"}, "defaults,hard"),
    ("", {"recovery": "hard"}, "hard"),
    ("soft,_netdev,soft", {"recovery": "hard"}, "hard,_netdev"),
    ("nfsvers=4,minorversion=1,hard", {"vers": "3"}, "vers=3,hard"),
    ("minorversion=1", {"vers": "4.2"}, "vers=4.2"),
    ("bg,actimeo=30,fg", dict.fromkeys(CACHE_OFF, "0"), "bg,actimeo=0,fg"),
    ("acregmin=1,bg,acdirmax=9", CACHE_OFF, "actimeo=0,bg"),
    ("actimeo=30,bg", {"acregmin": "0"}, "acregmin=0,acregmax=30,acdirmin=30,acdirmax=30,bg"),
    ("llock,bg", {"llock": "no"}, "bg"),
    ("bg", {"llock": "no"}, "bg"),
    ("nocto,nolock", {"cto": "yes", "lock": "yes"}, "cto,lock"),
    ('context="a,soft",soft', {"recovery": "hard"}, 'context="a,soft",hard'),
    ("a,,b", {"background": "bg"}, "a,,b,bg"),
)
def test_an_edit_replaces_in_place_and_appends(text, wanted, edited):
    assert edit(text, wanted) == edited


@cases("text", ORACLE, "soft,hard,udp,tcp", "nfsvers=3,v3,a,,b,", " hard")
def test_a_text_that_agrees_is_returned_as_it_is(text):
    assert edit(text, parse(text)) == text


OPTIONS = """
rw ro bg fg hard soft softerr tcp udp rdma proto=tcp proto=udp6
vers=3 nfsvers=4 v4.1 vers=4.2 minorversion=1 timeo=600 timeo=0050 retrans=2
rsize=32768 wsize=1 nconnect=4 actimeo=0 actimeo=30 acregmin=0 acregmax=60
acdirmin=5 acdirmax=5 noac ac sync async cto nocto lock nolock local_lock=all
local_lock=none sharecache nosharecache noresvport sec=krb5 intr nointr fsc=x
llock forcedirectio noforcedirectio cio dio suid nosuid defaults _netdev
nofail noauto x-systemd.automount noatime recovery=soft = noac=1
"""
WORDS = ["", 'context="a,soft"', *OPTIONS.split()]


def random_text(chance):
    return ",".join(chance.choice(WORDS) for _ in range(chance.randint(0, 9)))


def random_wish(chance):
    wish = parse(random_text(chance))
    wish.pop("minorversion", None)
    return wish


@pytest.mark.parametrize("seed", range(400))
def test_any_edit_keeps_the_promises(seed):
    chance = random.Random(seed)
    text, wish = random_text(chance), random_wish(chance)
    edited = edit(text, wish)
    before, after = parse(text), parse(edited)
    assert {name: after.get(name) for name in wish} == wish
    assert edit(edited, wish) == edited
    if {name: before.get(name) for name in wish} == wish:
        assert edited == text
    kept = [name for name in before if name not in wish and name != "minorversion"]
    assert {name: after.get(name) for name in kept} == {name: before[name] for name in kept}
    # Words that have nothing to do with the wish stand there as before, in the same order.
    untouched = [word for word in WORDS if word and not set(parse(word)) & groups_of(wish)]
    assert [w for w in edited.split(",") if w in untouched] == [
        w for w in text.split(",") if w in untouched
    ]


def groups_of(wanted):
    touched = set(wanted)
    if touched & set(CACHE_OFF):
        touched |= set(CACHE_OFF)
    if "vers" in touched:
        touched.add("minorversion")
    return touched


@pytest.mark.parametrize("seed", range(50))
def test_words_are_read_as_what_they_were_written_for(seed):
    settings = parse(random_text(random.Random(seed)))
    assert parse(",".join(words(settings))) == settings


def test_a_policy_can_ask_for_all_that_is_judged():
    assert nfs_options.GRANTED < nfs_options.KNOWN
    assert not nfs_options.GRANTED & nfs_options.NEVER_GRANTED
    assert set(effective({}, LINUX)) - {"background"} <= nfs_options.GRANTED

"""A unit that cannot start its instance is foretold before the reboot, and the reboot shows it.

The instance is a stand-in: as with USE_LARGE_PAGES=ONLY it starts only if its memlock limit covers
its SGA. It is down, so that nothing that runs shows the limit of the unit. The unit has none of the
names that packages use. The story leaves the machine as it found it.
"""

import pytest
from lab_machine import HugePagesLab
from machines import vm
from machines.machine import TOOLS

SID, UNIT = "LAB9", "lab-rdbms.service"
HOME = "/u01/app/oracle/product/19/lab9"
FOUND = f"{SID} hugepages.memlock_in_force"
PLACE = f"/etc/systemd/system/{UNIT}"
#: 32 MiB are 16 huge pages of 2 MiB.
FILES = {
    "/etc/sysctl.d/99-lab9.conf": "vm.nr_hugepages = 40\nvm.hugetlb_shm_group = 54321\n",
    PLACE: f"""\
[Unit]
Description=Somebody's database
After=systemd-sysctl.service

[Service]
User=oracle
LimitMEMLOCK=64K
ExecStart={HOME}/bin/dbstart {HOME}

[Install]
WantedBy=multi-user.target
""",
    f"{HOME}/bin/dbstart": f"#!/bin/sh\nexec {{tools}}/instance.py --sid {SID} --sga 32M "
    "--pages huge --only\n",
    f"{HOME}/bin/sqlplus": "#!/bin/sh\necho 'SQL*Plus: Release 19.0.0.0.0 - Production'\n",
    f"{HOME}/dbs/init{SID}.ora": "*.sga_target=32M\n*.use_large_pages=ONLY\n",
}


@pytest.fixture(scope="module")
def unit(lab: HugePagesLab):
    """The enabled unit and the database that it starts, which is down."""
    before = lab.values()
    lab.run("touch /etc/oratab && cp -a /etc/oratab /root/oratab-of-before")
    for path, text in FILES.items():
        text = text.replace("{tools}", str(TOOLS))
        lab.run(f"mkdir -p $(dirname {path}) && cat > {path} <<'EOF'\n{text}EOF")
    lab.run(
        f"chmod 755 {HOME}/bin/* && chown -R oracle:oinstall {HOME} && "
        f"echo {SID}:{HOME}:Y > /etc/oratab && "
        "sysctl -q -w vm.nr_hugepages=40 vm.hugetlb_shm_group=54321 && "
        f"systemctl daemon-reload && systemctl --quiet enable {UNIT}"
    )
    yield
    lab.run(
        f"systemctl --quiet disable --now {UNIT}; rm -rf {PLACE} {PLACE}.d {HOME} "
        "/etc/sysctl.d/99-lab9.conf; mv /root/oratab-of-before /etc/oratab; "
        "[ -s /etc/oratab ] || rm /etc/oratab; systemctl daemon-reload; "
        f"sysctl -q -w vm.nr_hugepages={before['pool']} vm.hugetlb_shm_group={before['group']}"
    )


def judged(lab: HugePagesLab):
    return lab.verify(hugepages_instances="auto", hugepages_query_instances=True).finding(FOUND)


@pytest.fixture(scope="module")
def foretold(lab: HugePagesLab, unit: None):
    return judged(lab)


def test_the_limit_of_the_unit_is_foretold(foretold):
    assert (foretold["status"], foretold["failing_layer"]) == ("fail", "persisted")
    assert f"After a reboot {UNIT} starts it with 64.0 KiB of locked memory" in foretold["why"]
    assert foretold["fix"] == (
        f"run systemctl edit {UNIT}, and put '[Service]' and 'LimitMEMLOCK=32768K' into it"
    )


def test_the_reboot_leaves_the_database_down(lab, foretold):
    vm.reboot()
    lab.run(f"for i in $(seq 60); do systemctl is-failed -q {UNIT} && exit; sleep 1; done; exit 1")
    assert "locked memory is 65536 bytes" in lab.run(f"journalctl -b -u {UNIT} --no-pager")


def test_the_fix_starts_it(lab, foretold):
    limit = foretold["fix"].split("'")[3]
    lab.run(
        f"mkdir {PLACE}.d && printf '[Service]\\n{limit}\\n' > {PLACE}.d/override.conf && "
        f"systemctl daemon-reload && systemctl start {UNIT} && sleep 2"
    )
    assert lab.run(f"systemctl is-active {UNIT}").strip() == "active"
    # The stand-in has no SQL*Plus. After a stop the next start is read from its files.
    lab.run(f"systemctl stop {UNIT}")
    finding = judged(lab)
    assert (finding["status"], finding["persisted"]) == ("pass", f"33554432 bytes ({UNIT})")

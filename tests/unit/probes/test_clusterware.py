"""Whether a host is a node of a cluster, by each of its signs."""

import packs
import pytest
from ansible.module_utils.hostproof.collect.host import RecordedHost
from ansible.module_utils.hostproof.errors import Denied
from ansible.module_utils.hostproof.probes.oracle import clusterware
from cases import cases

GRID = "/u01/app/19.0.0/grid"
OCR, OLR = "/etc/oracle/ocr.loc", "/etc/oracle/olr.loc"
LOCATION = "ocrconfig_loc=+DATA/rac/OCRFILE/registry.255.1\n"


@cases(
    "processes path text announced expected",
    ((), OCR, None, None, None),
    ((), OCR, LOCATION, None, None),
    ((), OCR, LOCATION + "local_only=FALSE\n", None, True),
    ((), OCR, "local_only=false", None, True),
    ((), OLR, "crs_home=/u01/grid\n local_only = False \n", None, True),
    ((), "/var/opt/oracle/ocr.loc", "local_only=FALSE\n", None, True),
    ((), OCR, LOCATION + "local_only=TRUE\n", None, False),
    ((), OCR, "#local_only=FALSE\n", None, None),
    ((), OCR, None, True, True),
    ((), OCR, None, False, False),
    ((), OCR, "local_only=TRUE\n", True, True),
    ((), OCR, "local_only=FALSE\n", False, True),
    ((f"{GRID}/bin/crsd.bin",), OCR, None, None, True),
    ((f"{GRID}/bin/octssd.bin",), OCR, None, False, True),
    ((f"{GRID}/bin/ocssd.bin", f"{GRID}/bin/ohasd.bin"), OCR, None, None, None),
    (("ora_lms0_ORCL1",), OCR, None, None, True),
    (("ora_lmsa_ORCL1",), OCR, None, None, True),
    (("ora_lmon_ORCL1",), OCR, None, None, True),
    (("db_lmon_ORCL1",), OCR, None, None, True),
    (("asm_lmon_+ASM1",), OCR, "local_only=TRUE\n", None, True),
    (("ora_lmhb_ORCL", "ora_pmon_ORCL", "ora_lreg_ORCL"), OCR, None, None, None),
)
def test_signs_of_a_cluster(processes, path, text, announced, expected):
    host = packs.linux()
    for name in processes:
        host.process(name, name)
    if text is not None:
        host.file(path, text)
    assert clusterware.in_cluster(host, announced) is expected


def test_an_unread_file_hides_no_sign_of_a_cluster():
    def host():
        return packs.linux().file(OCR, "local_only=FALSE\n").deny(OCR)

    with pytest.raises(Denied):
        clusterware.in_cluster(host(), False)
    assert clusterware.in_cluster(host(), True) is True
    assert clusterware.in_cluster(host().process("ora_lms0_A", "ora_lms0_A")) is True


def test_a_recording_of_before_has_fewer_signs():
    host = packs.linux()
    host.processes("clusterware", "x", packs.Kind())
    assert clusterware.in_cluster(RecordedHost(host.evidence), True) is True
    assert clusterware.in_cluster(RecordedHost(host.evidence)) is None

"""The example packs have the verdicts of their page."""

import re

import example_packs
import packs
import pytest
from ansible.module_utils.hostproof.collect import evidence
from ansible.module_utils.hostproof.collect.host import RecordedHost
from ansible.module_utils.hostproof.evaluate import audit
from hostproof_controller.report.verdict import host_verdict

PAGE = packs.ROOT / "docs/examples/README.md"


def test_the_page_tells_the_verdict_on_each():
    rows = re.findall(r"^\| `(db\S+)` \| .* \| (.*) \|$", PAGE.read_text(), re.MULTILINE)
    policies = example_packs.policies()
    verdicts = {}
    for path in sorted(example_packs.FOLDER.glob("*.json")):
        host = RecordedHost(*evidence.open_pack(str(path)))
        verdicts[path.stem] = host_verdict([f.as_dict() for f in audit.judge_host(host, policies)])
    assert dict(rows) == verdicts


def test_the_aix_pack_shows_both_controls_that_judge_one():
    host = RecordedHost(
        *evidence.open_pack(str(example_packs.FOLDER / f"{example_packs.AIX}.json"))
    )
    findings = audit.judge_host(host, example_packs.policies())
    statuses = {(finding.check, finding.status) for finding in findings}
    assert ("io_pacing.running", "fail") in statuses
    assert ("io_pacing.legacy_values", "fail") in statuses
    assert ("flow_control.configured", "warn") in statuses
    assert ("flow_control.persisted", "warn") in statuses


@pytest.mark.parametrize(
    "path", sorted(example_packs.FOLDER.glob("*.json")), ids=lambda path: path.stem
)
def test_no_finding_of_an_example_asks_for_another_recording(path):
    findings = audit.judge_host(
        RecordedHost(*evidence.open_pack(str(path))), example_packs.policies()
    )
    assert [finding.check for finding in findings if "record it again" in finding.why] == []


#: A number with what it counts or measures, as findings write it for people.
QUANTITY = re.compile(
    r"(?<![\w./:-])\d[\d,.]* ?(?:%|percent|pages|bytes|[KMG]iB|ms|s|seconds|frames|times)\b"
)

#: Wrong by a word; the pages are told beside it.
BY_A_WORD = {"pre_page_sga.value", "pre_page_sga.use_large_pages"}


def test_what_is_wrong_by_a_number_tells_it_as_a_number():
    """So that --query can compare it."""
    policies = example_packs.policies()
    judged, without = 0, set()
    for path in sorted(example_packs.FOLDER.glob("*.json")):
        host = RecordedHost(*evidence.open_pack(str(path)))
        for finding in audit.judge_host(host, policies):
            if finding.status in ("fail", "warn") and QUANTITY.search(
                f"{finding.running} {finding.in_use}"
            ):
                judged += 1
                numbers = [n for n in (finding.values or {}).values() if isinstance(n, int | float)]
                if not numbers:
                    without.add(finding.check)
    assert judged > 10
    assert without == BY_A_WORD

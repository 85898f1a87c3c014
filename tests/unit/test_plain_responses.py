"""An answer whose texts are all printable is known at once; any other is gone through."""

import base64
import json
import zlib

import pytest
from cases import cases
from hostproof_controller.remote import payload, response_validation


def unpacked(value, *, ascii_only=True):
    text = json.dumps(value, ensure_ascii=ascii_only).encode()
    return payload.unpack(base64.b64encode(zlib.compress(text)).decode())


@cases(
    "text",
    *("plain", 'C:\\new\\table "quoted"', "two\nlines\tand a tab", "p99 ≥ 5 ms – Größe"),
    *("\\u0041 is written out", "\\\\", "\\\\\\n"),
)
def test_what_can_be_shown_is_plain(text):
    assert unpacked({"why": text, text: 1}).plain


@cases(
    "text",
    *("\x1b[2J", "\r", "\b", "\x7f", "\u202e", "\x9b", "\u200b", "\ud800", "\\\x1b", '\\"\x00'),
    "😀",
)
def test_what_cannot_be_shown_is_not(text):
    """An emoji can, but is written as two halves: it only takes longer."""
    assert not unpacked({"why": text}).plain
    assert not unpacked({"findings": [{text: "x"}]}).plain


HOSTILE = {"evidence": "x", "msg": "\x1b]0;owned\x07"}


def test_what_is_not_plain_is_made_printable():
    assert (
        response_validation.checked("verify_controls", unpacked(HOSTILE))["msg"]
        == "\\x1b]0;owned\\x07"
    )


def test_numbers_of_a_plain_answer_are_bounded_too():
    finding = response_validation.error_of("hugepages", "hugepages.audited", "T", "W")
    for values in ({"pool": 1 << 70}, {"pool": 1e300}):
        answer = unpacked({"findings": [{**finding, "values": values}]})
        assert answer.plain
        (result,) = response_validation.checked("verify_controls", answer)["findings"]
        assert result["values"] is None


def test_depth_of_a_plain_answer_is_bounded_too():
    deep: list = []
    for _ in range(200):
        deep = [deep]
    for name, module in (("windows", "measure_latency"), ("diff", "apply_control")):
        answer = unpacked({name: [{"before": deep}]})
        assert answer.plain
        with pytest.raises(response_validation.Invalid):
            response_validation.checked(module, answer)
    finding = response_validation.error_of("hugepages", "hugepages.audited", "T", "W")
    answer = unpacked({"findings": [{**finding, "evidence": deep}]})
    (result,) = response_validation.checked("verify_controls", answer)["findings"]
    assert result["evidence"] == []

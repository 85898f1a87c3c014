"""Numbers of one or more parts that are compared, and the words for what is required."""

from ansible.module_utils.hostproof.evaluate import comparing
from ansible.module_utils.hostproof.evaluate.comparing import AT_LEAST, AT_MOST, EXACTLY, WITHIN
from cases import cases


@cases(
    "compare required room words",
    (AT_LEAST, (250, 32000, 100, 128), 0, "at least 250 32000 100 128"),
    (AT_MOST, (10,), 0, "at most 10"),
    (EXACTLY, (1,), 0, "exactly 1"),
    (WITHIN, (9000, 65535), 0, "from 9000 to 65535"),
    (WITHIN, (9000, 65535), 28232, "from 9000 to 65535, at least 28232 numbers"),
)
def test_words(compare, required, room, words):
    assert comparing.words(compare, required, *([room] if room else [])) == words


@cases(
    "compare required value met",
    (AT_LEAST, (250, 100), (250, 100), True),
    (AT_LEAST, (250, 100), (249, 100), False),
    (AT_LEAST, (250, 100), (250, 99), False),
    (AT_MOST, (10,), (10,), True),
    (AT_MOST, (10,), (11,), False),
    (EXACTLY, (10,), (10,), True),
    (EXACTLY, (10,), (9,), False),
    (WITHIN, (9000, 65535), (9000, 65535), True),
    (WITHIN, (9000, 65535), (8999, 65535), False),
    (WITHIN, (9000, 65535), (9000, 65536), False),
)
def test_is_met(compare, required, value, met):
    assert comparing.is_met(compare, required, value) is met


def test_the_strictest_of_several():
    several = [(1, 9), (2, 8)]
    assert comparing.strictest(AT_LEAST, several) == (2, 9)
    assert comparing.strictest(AT_MOST, several) == (1, 8)

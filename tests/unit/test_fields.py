"""Fields of policies: what each takes, and what it says of anything else."""

from typing import Any, NamedTuple

import pytest
from ansible.module_utils.hostproof.errors import BadEntry, PolicyError
from ansible.module_utils.hostproof.evaluate import fields
from ansible.module_utils.hostproof.evaluate.policy import LEFT_OUT
from cases import cases


def even(given, name, value):
    if value % 2:
        raise given.error(name, f"must be even, not {value}")
    return value


class Pool(NamedTuple):
    name: str = fields.one_of("small", "large")
    connections: int = fields.whole_number(1, 10)


class Listener(NamedTuple):
    name: str = fields.checked_by(lambda values, name: str(values[name]).upper(), "str")
    file_class: str = fields.one_of("data", "redo").called("class")
    rate: int | None = fields.whole_number(0, 100).optional()
    scope: str = fields.one_of("one", "all").optional("one")
    pools: tuple[Pool, ...] = fields.entries(Pool).optional(())


class Policy(NamedTuple):
    low: int = fields.whole_number(1, 9)
    high: int = fields.whole_number().then(even)
    share: float | None = fields.decimal(0, 1).none_for("auto")
    mode: str | None = fields.one_of("now", "later", "auto").none_for("auto")
    yes: bool = fields.flag()
    room: int = fields.size()
    users: tuple[str, ...] = fields.names()
    file: str = fields.drop_in("/etc/x.d")
    window_seconds: float = fields.window()
    wanted: tuple[Listener, ...] | None = fields.entries(Listener).none_for("auto")


def together(policy, given):
    if policy.low > policy.high:
        raise given.error("low", "must not be above x_high")
    return policy._replace(low=policy.low + 100)


VALUES: dict[str, Any] = {
    "low": 1,
    "high": "2",
    "share": 0.5,
    "mode": "now",
    "yes": True,
    "room": "2M",
    "users": ["a"],
    "file": "/etc/x.d/a.conf",
    "window_seconds": 10,
    "wanted": [],
}
read = fields.reader("x", Policy)


def wanted(*items, **options):
    class Of(NamedTuple):
        wanted: Any = fields.entries(Listener, **options)

    return fields.reader("x", Of)({"wanted": list(items)}).wanted


def test_a_policy_is_made_of_its_fields():
    assert read(VALUES) == Policy(
        1, 2, 0.5, "now", True, 2 << 20, ("a",), "/etc/x.d/a.conf", 10.0, ()
    )


def test_words_that_leave_it_to_the_host():
    policy = read(VALUES | {"share": "auto", "mode": "auto", "wanted": "auto"})
    assert (policy.share, policy.mode, policy.wanted) == (None, None, None)


def test_what_concerns_several_fields():
    both = fields.reader("x", Policy, together)
    assert both(VALUES).low == 101
    with pytest.raises(PolicyError, match="x_low must not be above x_high"):
        both(VALUES | {"low": 4})


@cases(
    "changes problem",
    ({"low": 0}, "x_low must be 1 to 9, not 0"),
    ({"high": 3}, "x_high must be even, not 3"),
    ({"high": "a"}, "x_high must be a whole number, not 'a'"),
    ({"share": 2}, "x_share must be 0 to 1, not 2"),
    ({"mode": "never"}, "x_mode must be one of now, later, auto, not 'never'"),
    ({"yes": "yes"}, "x_yes must be true or false, not 'yes'"),
    ({"room": "x"}, "x_room is not a size"),
    ({"users": "a"}, "x_users must be a list of names"),
    ({"file": "/etc/y.d/a.conf"}, "x_file must be /etc/x.d/NAME.conf"),
    ({"window_seconds": 0.5}, "hostproof_window_seconds must be 0 or 1 to 600 seconds"),
    ({"wanted": "a"}, "x_wanted must be auto or a list of {name, class, rate, scope, pools}"),
    ({"nosuch": 1}, "x policy: unknown nosuch"),
)
def test_what_no_field_takes(changes, problem):
    with pytest.raises(PolicyError) as raised:
        read(VALUES | changes)
    assert str(raised.value).startswith(problem)


def test_none_stays_whatever_comes_after():
    class Of(NamedTuple):
        number: int | None = fields.whole_number().none_for("auto").then(even)

    assert fields.reader("x", Of)({"number": "auto"}).number is None


class TestEntries:
    ITEM: dict[str, Any] = {"name": "a", "class": "data"}

    def test_an_entry_is_made_of_its_fields(self):
        (entry,) = wanted(self.ITEM | {"pools": [{"name": "small", "connections": 3}]})
        assert entry == Listener("A", "data", None, "one", (Pool("small", 3),))

    @cases("empty", None, "")
    def test_what_may_be_left_out_may_be_empty(self, empty):
        assert wanted(self.ITEM | {"rate": empty, "scope": empty}) == (
            Listener("A", "data", None, "one", ()),
        )

    @cases(
        "item problem",
        ("a", "x_wanted has 'a', which needs name and class"),
        ({"name": "a"}, "x_wanted has {'name': 'a'}, which needs name and class"),
        (ITEM | {"name": ""}, "x_wanted has {'name': '', "),
        (ITEM | {"nmae": 1}, "x_wanted a has unknown nmae"),
        (ITEM | {"class": "x"}, "x_wanted a: class must be one of data, redo, not 'x'"),
        (ITEM | {"rate": 101}, "x_wanted a: rate must be 0 to 100, not 101"),
        (ITEM | {"rate": True}, "x_wanted a: rate must be a whole number, not True"),
        (ITEM | {"pools": 3}, "x_wanted a: pools must be a list of {name, connections}"),
        (
            ITEM | {"pools": [{"name": "small", "connections": 0}]},
            "x_wanted a: pools small: connections must be 1 to 10, not 0",
        ),
        (
            ITEM | {"pools": [{"name": "tiny", "connections": 1}]},
            "x_wanted a: pools must be one of small, large, not 'tiny'",
        ),
    )
    def test_what_no_entry_takes(self, item, problem):
        with pytest.raises(PolicyError) as raised:
            wanted(item)
        assert str(raised.value).startswith(problem)

    def test_two_of_one_name_as_they_are_read(self):
        with pytest.raises(PolicyError, match="x_wanted lists a name twice: A"):
            wanted(self.ITEM, self.ITEM | {"name": "A"})

    def test_what_tells_entries_apart_can_be_more_than_the_name(self):
        options = {
            "key": lambda entry: (entry.name, entry.file_class),
            "twice": "lists {0[0]} of one class",
        }
        other = self.ITEM | {"class": "redo"}
        assert [entry.file_class for entry in wanted(self.ITEM, other, **options)] == [
            "data",
            "redo",
        ]
        with pytest.raises(BadEntry, match="x_wanted lists A of one class"):
            wanted(self.ITEM, other, other | {"rate": 5}, **options)

    def test_an_empty_list_where_it_means_nothing(self):
        assert wanted() == ()
        with pytest.raises(PolicyError, match="x_wanted must be a list of"):
            wanted(empty=False)

    def test_which_one_is_bad_is_told(self):
        with pytest.raises(BadEntry) as raised:
            wanted(self.ITEM, self.ITEM | {"name": "b", "rate": -1})
        assert (raised.value.field, raised.value.places) == ("wanted", (1,))
        assert str(raised.value).startswith("x_wanted b: rate must be a who")

    def test_of_two_that_differ_both_are(self):
        with pytest.raises(BadEntry, match="lists a name twice: A") as raised:
            wanted(self.ITEM, self.ITEM | {"rate": 77})
        assert raised.value.places == (0, 1)

    def test_those_that_are_left_out_are_passed_over(self):
        assert [entry.name for entry in wanted(LEFT_OUT, self.ITEM, LEFT_OUT)] == ["A"]

    def test_keys_that_are_no_texts(self):
        with pytest.raises(PolicyError, match="has unknown 3"):
            wanted(self.ITEM | {3: 4})

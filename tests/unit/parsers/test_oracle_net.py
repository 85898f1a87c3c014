"""Oracle Net files: what is read, what is refused and where, and edits that touch nothing else."""

import json
import random
import string
from pathlib import Path
from typing import Any

import jmespath
import pytest
from ansible.module_utils.hostproof.errors import ParseError
from ansible.module_utils.hostproof.parsers.oracle import oracle_net, oracle_net_data
from ansible.module_utils.hostproof.parsers.oracle.oracle_net import Edit, NetFile, Pair
from cases import cases

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures/oracle_net"
GOOD = sorted((FIXTURES / "good").glob("*.ora"))
BROKEN = json.loads((FIXTURES / "broken.json").read_text())


def read(path: Path) -> str:
    """As host.py reads a file: every byte survives."""
    return path.read_bytes().decode("utf-8", "surrogateescape")


def good(name: str) -> NetFile:
    (path,) = FIXTURES.glob(f"good/{name}*")
    return oracle_net.parse(read(path))


def values(net: NetFile) -> Any:
    return oracle_net_data.as_data(net)["by_name"]


class TestGoodFiles:
    @cases(
        "name lines",
        ("31", [4]),
        ("32", [2]),
        ("33", [5]),
        ("34", [1]),
        ("35", [2, 7]),
        ("36", [20, 25]),
    )
    def test_lines_that_no_listener_is_known_to_reject(self, name, lines):
        assert [int(note.split(":")[0].split()[1]) for note in good(name).style] == lines
        assert [each for each in GOOD if oracle_net.parse(read(each)).style][:1] == [
            FIXTURES / "good/31-parenthesis-in-first-column.ora"
        ]

    @pytest.mark.parametrize("path", GOOD, ids=lambda path: path.stem)
    def test_written_back_identical(self, path):
        net = oracle_net.parse(read(path))
        assert oracle_net.edited(net, []).text.encode("utf-8", "surrogateescape") == (
            path.read_bytes()
        )

    @pytest.mark.parametrize("path", GOOD, ids=lambda path: path.stem)
    def test_every_place_is_where_it_says(self, path):
        net = oracle_net.parse(read(path))
        for parameter in net.parameters:
            check_places(net, parameter, top=True)

    @pytest.mark.parametrize("path", GOOD, ids=lambda path: path.stem)
    def test_pairs_stand_apart_and_in_order(self, path):
        net = oracle_net.parse(read(path))
        ends = 0
        for parameter in net.parameters:
            assert parameter.start >= ends
            ends = parameter.end


def check_places(net: NetFile, pair: Pair, *, top: bool) -> None:
    whole = net.text[pair.start : pair.end]
    if top:
        assert whole.startswith(pair.name)
    else:
        assert whole[0] + whole[-1] == "()"
    assert net.text[: pair.name_end].endswith((pair.name, *pair.aliases))
    written = net.text[pair.value_start : pair.value_end]
    if pair.value is not None and not written.startswith(("'", '"')) and "\\" not in written:
        assert written.split() == pair.value.split()
    for item in pair.items:
        assert item.text.strip("\"'") in net.text[item.start : item.end]
    for inner in pair.pairs:
        assert pair.value_start <= inner.start < inner.end <= pair.value_end
        check_places(net, inner, top=False)


class TestWhatIsRead:
    def test_endpoints(self):
        data = oracle_net_data.as_data(good("05"))
        ports = jmespath.search("addresses[?parameter=='LISTENER'].[PORT, RATE_LIMIT]", data)
        assert ports == [["1521", "5"], ["1522", None]]

    def test_static_services(self):
        names = jmespath.search(
            "by_name.SID_LIST_LISTENER[].SID_LIST[].SID_DESC[].SID_NAME[]",
            oracle_net_data.as_data(good("01")),
        )
        assert names == ["sales", "plsextproc"]

    def test_comments_hold_nothing(self):
        assert values(good("13")) == {
            "LISTENER": [
                {
                    "DESCRIPTION": [
                        {"ADDRESS": [{"PROTOCOL": ["TCP"], "HOST": ["db01"], "PORT": ["1521"]}]}
                    ]
                }
            ]
        }

    def test_quotes(self):
        data = oracle_net_data.as_data(good("14"))
        assert [address.get("HOST", address.get("KEY")) for address in data["addresses"]] == [
            "db01.example.com",
            "with blank",
        ]
        (services,) = data["by_name"]["SID_LIST_LISTENER"][0]["SID_LIST"][0]["SID_DESC"]
        assert services["ENVS"] == [
            "EXTPROC_DLLS=ONLY:/home/app/lib.so,LD_LIBRARY_PATH=/private/xpm/lib:/usr/lib"
        ]

    def test_paths_of_windows(self):
        homes = jmespath.search(
            "by_name.SID_LIST_LISTENER[].SID_LIST[].SID_DESC[].ORACLE_HOME[]",
            oracle_net_data.as_data(good("15")),
        )
        assert homes == [r"C:\oracle\product\12.2.0\dbhome_1"]

    def test_escaped_characters_and_several_words(self):
        data = values(good("30"))
        assert data["LISTENER"][0]["ADDRESS"][0]["KEY"] == ["a=b(c)#d"]
        assert data["TRACE_FILE_LISTENER"] == ["trace files of the listener"]
        assert data["NAMES"] == ["first", "second", "third"]

    def test_case_of_names_does_not_matter(self):
        net = good("20")
        assert net.all("CONNECTION_RATE_LISTENER")[-1].value == "10"
        (address,) = net.all("listener")[0].inside("address")
        assert (address.text("rate_limit"), address.text("HOST")) == ("Yes", "Db01")

    def test_parameters_twice(self):
        net = good("19")
        assert net.repeated() == ["LISTENER", "CONNECTION_RATE_LISTENER"]
        assert net.all("connection_rate_listener")[-1].value == "20"

    def test_ifile_may_stand_more_than_once(self):
        net = good("18")
        assert net.repeated() == []
        assert len(net.included()) == 3

    def test_lines(self):
        data = oracle_net_data.as_data(good("02"))
        assert [parameter["line"] for parameter in data["parameters"]] == [4, 12, 19, 20]
        assert [address["line"] for address in data["addresses"]] == [7, 8, 15]

    def test_crlf(self):
        net = good("10")
        assert net.newline() == "\r\n"
        assert net.all("INBOUND_CONNECT_TIMEOUT_LISTENER")[-1].value == "30"

    def test_tnsnames(self):
        net = oracle_net.parse(
            "sales, sales.example.com=\n (DESCRIPTION=(ADDRESS=(PROTOCOL=tcp)(HOST=a)(PORT=1521))\n"
            "  (CONNECT_DATA=(SERVICE_NAME=sales)))\n"
        )
        assert len(net.all("SALES")) == len(net.all("sales.example.com")) == 1
        assert oracle_net_data.as_data(net)["parameters"][0]["aliases"] == ["SALES.EXAMPLE.COM"]

    def test_sqlnet(self):
        net = oracle_net.parse(
            "NAMES.DIRECTORY_PATH= (TNSNAMES, EZCONNECT)\n"
            "SQLNET.ENCRYPTION_TYPES_SERVER=(AES256,AES192)\n"
            "SSL_VERSION = 1.2 or 1.1\nTCP.INVITED_NODES=(a,\n  10.0.0.*, 2001:DB8::/32)\n"
        )
        assert values(net) == {
            "NAMES.DIRECTORY_PATH": ["TNSNAMES", "EZCONNECT"],
            "SQLNET.ENCRYPTION_TYPES_SERVER": ["AES256", "AES192"],
            "SSL_VERSION": ["1.2 or 1.1"],
            "TCP.INVITED_NODES": ["a", "10.0.0.*", "2001:DB8::/32"],
        }


class TestBrokenFiles:
    def test_each_has_its_answer(self):
        assert len(BROKEN) == len(list(FIXTURES.glob("broken/*.ora"))) == 19

    @pytest.mark.parametrize("name", BROKEN)
    def test_line_column_and_what_was_expected(self, name):
        with pytest.raises(ParseError) as problem:
            oracle_net.parse(read(FIXTURES / "broken" / name), what="listener.ora")
        case = BROKEN[name]
        assert (problem.value.line, problem.value.column) == (case["line"], case["column"])
        assert str(problem.value) == (
            f"listener.ora, line {case['line']}, column {case['column']}: {case['says']}"
        )
        assert case["says"].startswith("expected ")

    def test_deep_nesting(self):
        deep = "A=" + "(B=" * 100000
        with pytest.raises(ParseError, match="at most 64 parentheses inside each other"):
            oracle_net.parse(deep)
        shallow = "A=" + "(B=" * 60 + "x" + ")" * 60
        assert oracle_net.parse(shallow).text == shallow

    @cases(
        "text",
        "A=(" + "b " * 100000,
        "#" * 300000,
        "\n" * 300000,
        "A=" + "(B=1)" * 30000,
        '"' * 100000,
        ids=["words", "comment", "lines", "pairs", "quotes"],
    )
    def test_long_files_take_no_long_time(self, text):
        try:
            oracle_net_data.as_data(oracle_net.parse(text))
        except ParseError as problem:
            assert problem.line


class TestEdits:
    TEXT = (
        "# first\nLISTENER =\n  (DESCRIPTION =\n"
        "    (ADDRESS = (PROTOCOL = TCP)(HOST = db01)(PORT = 1521)) # kept\n"
        "    (ADDRESS=(PROTOCOL=tcp)(PORT=1522)(QUEUESIZE=20))\n  ) # end\nLAST=1"
    )

    @pytest.fixture
    def net(self) -> NetFile:
        return oracle_net.parse(self.TEXT)

    def test_add_a_pair_in_the_manner_of_its_neighbours(self, net):
        spaced, tight = net.parameters[0].inside("ADDRESS")
        new = oracle_net.edited(
            net,
            [
                oracle_net.add_pair(net, spaced, "RATE_LIMIT", "10"),
                oracle_net.add_pair(net, tight, "RATE_LIMIT", "10", tight.all("QUEUESIZE")[0]),
            ],
        )
        assert new.text == self.TEXT.replace(
            "(PORT = 1521))", "(PORT = 1521)(RATE_LIMIT = 10))"
        ).replace("(QUEUESIZE", "(RATE_LIMIT=10)(QUEUESIZE")

    def test_add_a_parameter(self, net):
        after = oracle_net.add_parameter(net, "CONNECTION_RATE_LISTENER", "10", net.parameters[0])
        last = oracle_net.add_parameter(net, "B", "a b")
        new = oracle_net.edited(net, [after, last])
        assert new.text == (
            self.TEXT.replace("# end\n", "# end\nCONNECTION_RATE_LISTENER = 10\n") + '\nB = "a b"\n'
        )

    def test_lines_end_as_they_did(self):
        net = good("10")
        edit = oracle_net.add_parameter(net, "X", "1", net.parameters[0])
        assert oracle_net.edited(net, [edit]).text.count("\r\n") == net.text.count("\r\n") + 1

    def test_set_a_value(self, net):
        port = net.parameters[0].inside("PORT")[0]
        assert oracle_net.edited(net, [oracle_net.set_value(port, "1599")]).text == (
            self.TEXT.replace("1521", "1599")
        )

    def test_set_an_empty_value(self):
        net = oracle_net.parse("A=(HOST=)")
        edit = oracle_net.set_value(net.parameters[0].pairs[0], "x y")
        assert oracle_net.edited(net, [edit]).text == 'A=(HOST="x y")'

    def test_remove(self, net):
        spaced, tight = net.parameters[0].inside("ADDRESS")
        pair = oracle_net.edited(net, [oracle_net.remove(net, tight.all("QUEUESIZE")[0])])
        assert pair.text == self.TEXT.replace("(QUEUESIZE=20)", "")
        line = oracle_net.edited(net, [oracle_net.remove(net, tight)])
        assert line.text == self.TEXT.replace(
            "    (ADDRESS=(PROTOCOL=tcp)(PORT=1522)(QUEUESIZE=20))\n", ""
        )
        assert "# kept" in oracle_net.edited(net, [oracle_net.remove(net, spaced)]).text
        last = oracle_net.edited(net, [oracle_net.remove(net, net.parameters[1])])
        assert last.text == self.TEXT.removesuffix("LAST=1")

    def test_outcome_that_is_no_file_is_refused(self, net):
        with pytest.raises(ParseError):
            oracle_net.edited(net, [Edit(net.parameters[0].end - 1, net.parameters[0].end, "")])

    def test_edits_that_overlap(self, net):
        with pytest.raises(ValueError, match="overlap"):
            oracle_net.edited(net, [Edit(0, 5, ""), Edit(3, 8, "")])

    @cases("value", "a\nb", 'it\'s "both"', "\0")
    def test_value_that_no_quotes_help(self, value):
        with pytest.raises(ValueError, match="is not allowed in"):
            oracle_net.quoted(value)


# -- random trees, random layouts, random edits ----------------------------------------------------

Tree = tuple[str, Any]


def random_tree(chance: random.Random, depth: int) -> Tree:
    """(name, value): a text, a list of texts, or a list of trees."""
    name = "".join(chance.choices(string.ascii_letters + "_.", k=chance.randint(1, 8)))
    kind = chance.random()
    if depth == 0 or kind < 0.4:
        return name, random_value(chance)
    if kind < 0.5:
        return name, [random_value(chance) or "x" for _ in range(chance.randint(2, 4))]
    return name, [random_tree(chance, depth - 1) for _ in range(chance.randint(1, 4))]


def random_value(chance: random.Random) -> str:
    letters = chance.choice([string.ascii_letters, "ab ()=#'", 'a"\\b,', "äöü/.-:", "\\dir"])
    return "".join(chance.choices(letters, k=chance.randint(1, 10))).strip() or "x"


def write(tree: Tree, chance: random.Random, *, top: bool = False) -> str:
    name, value = tree
    case = chance.choice([str, str.upper, str.lower])
    equals = space(chance) + "=" + space(chance)
    if isinstance(value, str):
        inside = spell(value, chance)
    elif isinstance(value[0], str):
        comma = space(chance) + "," + space(chance)
        inside = (
            f"({space(chance)}{comma.join(spell(item, chance) for item in value)}{space(chance)})"
        )
    else:
        inside = space(chance).join(write(child, chance) for child in value)
    if top:
        return f"{case(name)}{equals}{inside}"
    return f"({space(chance)}{case(name)}{equals}{inside}{space(chance)})"


def spell(value: str, chance: random.Random) -> str:
    """A value as somebody may write it."""
    ways = [f"{quote}{value}{quote}" for quote in "'\"" if quote not in value]
    if not set(value) & set(" ,"):
        escaped = "".join(
            "\\" + character if character in "()=\\\"'#" else character for character in value
        )
        ways.append(escaped)
    return chance.choice(ways) if ways else '"x"'


def space(chance: random.Random) -> str:
    line = chance.choice(["\n", "\r\n", ' # a comment ( with = "\n', "\n\n", "\n# ( ' first\n"])
    return chance.choice(["", "", "", " ", "  ", "\t", line + " ", line + "\t "])


def plain(tree: Tree) -> Any:
    name, value = tree
    if isinstance(value, list) and not isinstance(value[0], str):
        value = [plain(child) for child in value]
    return name.upper(), value


def tree_of(pair: Pair) -> Any:
    if pair.pairs:
        return pair.name.upper(), [tree_of(child) for child in pair.pairs]
    if pair.items:
        items = [item.text for item in pair.items]
        return pair.name.upper(), items
    return pair.name.upper(), pair.value


def spellable(tree: Tree) -> Tree:
    """The tree without values that cannot be written (both quotes and a blank)."""
    name, value = tree
    if isinstance(value, str):
        both = "'" in value and '"' in value
        return name, "x" if both else value
    return name, [spellable(child) if isinstance(child, tuple) else child for child in value]


@pytest.mark.parametrize("seed", range(150))
def test_random_edits_of_random_trees(seed):
    chance = random.Random(seed)
    trees = [spellable(random_tree(chance, 4)) for _ in range(chance.randint(1, 5))]
    newline = chance.choice(["\n", "\r\n"])
    text = newline.join(write(tree, chance, top=True) for tree in trees)
    text += chance.choice(["", newline, "\n# end"])
    net = oracle_net.parse(text)
    assert [tree_of(parameter) for parameter in net.parameters] == [plain(tree) for tree in trees]
    assert oracle_net.edited(net, []).text == text
    for _ in range(6):
        edit, expected = random_edit(net, chance)
        new = oracle_net.edited(net, [edit])
        kept = len(net.text) - edit.end
        assert new.text[: edit.start] == net.text[: edit.start]
        assert new.text[len(new.text) - kept :] == net.text[edit.end :]
        assert [tree_of(parameter) for parameter in new.parameters] == expected
        net = new


def random_edit(net: NetFile, chance: random.Random) -> tuple[Edit, Any]:
    """An edit, and the trees that must be there after it."""
    trees = [tree_of(parameter) for parameter in net.parameters]
    number = chance.randrange(len(net.parameters)) if net.parameters else -1
    what = chance.choice(["set", "add", "remove", "parameter"]) if number >= 0 else "parameter"
    value = chance.choice(["10", "a b", "x=(y)", "#1", "C:\\dir\\"])
    if what == "parameter":
        after = net.parameters[number] if number >= 0 and chance.random() < 0.5 else None
        place = number + 1 if after is not None else len(trees)
        expected = [*trees[:place], ("NEW_ONE", value), *trees[place:]]
        return oracle_net.add_parameter(net, "NEW_ONE", value, after), expected
    pair, tree, path = descend(net.parameters[number], trees[number], chance)
    if what == "add" and pair.pairs:
        before = chance.choice([None, *range(len(pair.pairs))])
        neighbour = None if before is None else pair.pairs[before]
        inner = list(tree[1])
        inner.insert(len(inner) if before is None else before, ("RATE_LIMIT", value))
        edit = oracle_net.add_pair(net, pair, "RATE_LIMIT", value, neighbour)
        return edit, replaced(trees, [number, *path], (tree[0], inner))
    if what == "remove" and not path:
        return oracle_net.remove(net, pair), trees[:number] + trees[number + 1 :]
    return (oracle_net.set_value(pair, value), replaced(trees, [number, *path], (tree[0], value)))


def descend(pair: Pair, tree: Any, chance: random.Random) -> tuple[Pair, Any, list[int]]:
    path: list[int] = []
    while pair.pairs and chance.random() < 0.7:
        at = chance.randrange(len(pair.pairs))
        pair, tree = pair.pairs[at], tree[1][at]
        path.append(at)
    return pair, tree, path


def replaced(trees: Any, path: list[int], new: Any) -> Any:
    if len(path) == 1:
        return [*trees[: path[0]], new, *trees[path[0] + 1 :]]
    name, inner = trees[path[0]]
    changed = (name, replaced(inner, path[1:], new))
    return [*trees[: path[0]], changed, *trees[path[0] + 1 :]]


class TestEnvironment:
    """ENVS of a SID_DESC, as Oracle's gateway guides write it."""

    @cases(
        "written value",
        ("LD_LIBRARY_PATH=/a:/b", "LD_LIBRARY_PATH=/a:/b"),
        ("LD_LIBRARY_PATH = /a/lib:/b/lib", "LD_LIBRARY_PATH=/a/lib:/b/lib"),
        ("A=/x,B=/y", "A=/x,B=/y"),
        ("A=/x , B=/y:$ORACLE_HOME/lib", "A=/x,B=/y:$ORACLE_HOME/lib"),
        ("LD_LIBRARY_PATH=/a:\n      /b", "LD_LIBRARY_PATH=/a: /b"),
        ("A=", "A="),
        ('A="/with blank"', "A=/with blank"),
        ("'A=/x,B=/y'", "A=/x,B=/y"),
        ('"A=/x,B=/y"', "A=/x,B=/y"),
    )
    def test_unquoted_assignments_are_a_value(self, written, value):
        text = (
            "SID_LIST_L =\n (SID_LIST =\n  (SID_DESC =\n   (SID_NAME = dg4odbc)\n"
            f"   (ENVS={written})\n   (PROGRAM = dg4odbc)))\nL = (ADDRESS=(PROTOCOL=tcp)(PORT=1))\n"
        )
        net = oracle_net.parse(text)
        (envs,) = net.all("SID_LIST_L")[0].inside("ENVS")
        assert envs.value == value
        assert net.text[envs.start : envs.end] == f"(ENVS={written})"
        # Whatever is edited beside it, it stays byte for byte.
        (port,) = net.all("L")[0].inside("PORT")
        edited = oracle_net.edited(net, [oracle_net.set_value(port, "1521")])
        assert edited.text == text.replace("(PORT=1)", "(PORT=1521)")

    @cases("text", "A = (B=C=D)\n", "A = B=C\n", "A = (ENVS=(X=Y\n", "A = (ENVS=X=Y\n")
    def test_nothing_else_may_hold_a_second_sign(self, text):
        with pytest.raises(ParseError):
            oracle_net.parse(text)

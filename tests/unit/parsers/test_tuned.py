"""TuneD: the profile that rewrites half of what we set, and the switch that stops it."""

import pytest
from ansible.module_utils.hostproof.errors import ParseError
from ansible.module_utils.hostproof.parsers.systemd import tuned
from cases import cases


def test_the_oracle_profile(fixture_text):
    profile = tuned.parse_profile(fixture_text("tuned/oracle.conf"), "oracle/tuned.conf")
    assert profile.includes == ["throughput-performance"]
    assert profile.sections["vm"] == {"transparent_hugepages": "never"}
    assert profile.sections["sysctl"]["kernel.sem"] == "250 32000 100 128"
    assert len(profile.sections["sysctl"]) == 18


def test_a_profile_with_variables_and_comments(fixture_text):
    text = fixture_text("tuned/throughput-performance.conf")
    profile = tuned.parse_profile(text, "tuned.conf")
    assert profile.includes == []
    assert profile.sections["sysctl"]["vm.dirty_ratio"] == "40"


def test_several_includes_are_kept_in_order():
    profile = tuned.parse_profile("[main]\ninclude = a, b;c\n", "tuned.conf")
    assert profile.includes == ["a", "b", "c"]


def test_names_keep_their_case_and_values_lose_comments():
    profile = tuned.parse_profile("[sysctl]\nnet.X:y = 1 # why\nnet.X:y = %2\n", "tuned.conf")
    assert profile.sections == {"sysctl": {"net.X:y": "%2"}}


@cases("text line", ("", 0), ("vm.x = 1\n", 1), ("[sysctl]\nvm.x\n", 2), ("# only\n", 0))
def test_not_a_profile(text, line):
    with pytest.raises(ParseError, match=r"here\.conf") as caught:
        tuned.parse_profile(text, "here.conf")
    assert caught.value.line == line


@cases(
    "text profiles",
    ("oracle\n", ["oracle"]),
    ("", []),
    ("balanced my-oracle\n", ["balanced", "my-oracle"]),
)
def test_active_profiles(text, profiles):
    assert tuned.active_profiles(text) == profiles


def test_sysctl_files_are_reapplied_by_default(fixture_text):
    assert tuned.reapply_sysctl(fixture_text("tuned/tuned-main.conf"))
    assert tuned.reapply_sysctl("")
    assert tuned.reapply_sysctl("# reapply_sysctl = 0\n")


@cases("value answer", ("0", False), ("No", False), ("true", True), ("Y", True))
def test_sysctl_files_are_reapplied_as_told(value, answer):
    assert tuned.reapply_sysctl(f"daemon = 1\nreapply_sysctl={value}\n") is answer


@cases("text", "reapply_sysctl = maybe\n", "reapply_sysctl\n", "reapply_sysctl=\n")
def test_no_yes_or_no(text):
    with pytest.raises(ParseError):
        tuned.reapply_sysctl(text)


def merged(*texts):
    return tuned.merge(
        [
            (f"/p/{number}/tuned.conf", tuned.parse_profile(text, "x"))
            for number, text in enumerate(texts)
        ]
    )


def test_sections_of_one_name_go_on_where_the_first_stands():
    units = merged("[a]\ntype=sysctl\nx=1\ny=1\n[b]\nz=1\n", "[a]\ntype=vm\ny=2\n")
    assert [(unit.name, unit.type) for unit in units] == [("a", "vm"), ("b", "b")]
    assert units[0].options == {"x": ("1", "/p/0/tuned.conf"), "y": ("2", "/p/1/tuned.conf")}


def test_what_describes_a_section_is_no_option_of_its_plugin():
    [unit] = merged("[net]\ndevices=eth0\nuname_regex=x\nchannels=1\n", "[net]\nchannels=2\n")
    assert set(unit.about) == {"uname_regex"}
    assert list(unit.options) == ["channels"]


def test_the_folder_of_a_profile():
    [unit] = merged("[script]\nscript=${i:PROFILE_DIR}/a.sh\n")
    assert unit.options["script"].value == "/p/0/a.sh"


def test_a_priority_that_is_none():
    with pytest.raises(ParseError, match="priority is not a number: a word of 4 characters"):
        merged("[a]\npriority=high\n")


def test_variables_from_a_file_and_of_each_other():
    files = {"/etc/tuned/v.conf": "cores=2\nalone\n[more]\nb=${cores}1\n"}
    units = merged("[variables]\ninclude=/etc/tuned/v.conf\nc=${b}x ${none}\n")
    assert tuned.variables(units, files.get) == {"cores": "2", "b": "21", "c": "21x ${none}"}
    gone = merged("[variables]\ninclude=/gone\na=1\n")
    assert tuned.variables(gone, files.get) == {"a": "1"}


@cases(
    "text answer",
    ("a ${x} b", "a 1 b"),
    ("\\${x}", "${x}"),
    ("${y}", "${y}"),
    ("${f:exec:date}", "${f:exec:date}"),
)
def test_expanding(text, answer):
    assert tuned.expand(text, {"x": "1"}) == answer
    assert tuned.uses_function(answer) is answer.startswith("${f:")


@cases(
    "text current written",
    *(("5", 3, "5"), (">5", 3, "5"), (">5", 5, None), ("<5", 6, "5"), ("<5", 5, None)),
    *((">x", 1, ">x"), (">5", None, ">5"), (">", 1, ">")),
)
def test_assignments_that_depend_on_the_value(text, current, written):
    assert tuned.assigned(text, current) == written


def test_folders_of_profiles():
    assert tuned.folders("", ["/a", "/b"]) == ["/a", "/b"]
    assert tuned.folders("profile_dirs = /x,/y\n", ["/a"]) == ["/y", "/x"]


@cases("look", tuned.reapply_sysctl, lambda text: tuned.folders(text, ()))
def test_the_line_of_tuned_main_that_is_none(look):
    with pytest.raises(ParseError) as error:
        look("daemon = 1\n\nno option\n")
    assert error.value.line == 3


def test_the_line_of_a_file_of_variables_that_is_none():
    unit = tuned.Unit("variables", "variables", True, {}, {"include": tuned.Option("/x", "/y")})
    with pytest.raises(ParseError) as error:
        tuned.variables([unit], lambda _path: "a = 1\n= 2\n")
    assert error.value.line == 2

"""What becomes of a host's findings on the controller, before they are written."""

from pathlib import Path

from cases import cases
from hostproof_controller.remote import response_validation

ROOT = Path(__file__).resolve().parents[2]


def completed(line: str, *inventories: str) -> str:
    (finding,) = response_validation.completed([{"commands": [line]}], "db01", inventories)
    (command,) = finding["commands"]
    return command


@cases(
    "line expected",
    ("./hostproof apply", "./hostproof apply -i prod --limit db01"),
    ("./hostproof apply --limit db01", "./hostproof apply --limit db01 -i prod"),
    ("./hostproof apply --limit=db01", "./hostproof apply --limit=db01 -i prod"),
    ("./hostproof apply -l db01", "./hostproof apply -l db01 -i prod"),
    ("./hostproof audit -i test -vvv", "./hostproof audit -i test -vvv --limit db01"),
    ("./hostproof audit --inventory=test", "./hostproof audit --inventory=test --limit db01"),
    ("./hostproof revert -i test -l db01", "./hostproof revert -i test -l db01"),
    ("./hostproof report reports/x", "./hostproof report reports/x"),
    ("./hostproof", "./hostproof"),
    ("umount /u01", "umount /u01"),
)
def test_an_own_command_names_the_inventory_and_the_host(line, expected):
    assert completed(line, "prod") == expected


def test_the_inventory_that_is_taken_without_a_word_is_not_named():
    line = completed("./hostproof apply", str(ROOT / "inventories/local"))
    assert line == "./hostproof apply --limit db01"


def test_every_inventory_is_named_as_a_shell_takes_it():
    line = completed("./hostproof apply --limit db01", "a b", "c")
    assert line == "./hostproof apply --limit db01 -i 'a b' -i c"

"""./hostproof sign and verify-report: what was changed after the signature is told."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from cases import cases
from hostproof_controller.cli import command, signing
from hostproof_controller.report.html import ALL_IN_ONE
from test_diffing import finding, line, report

#: No ansible-core has a part in it.
pytestmark = [
    pytest.mark.one_core,
    pytest.mark.skipif(shutil.which("ssh-keygen") is None, reason="ssh-keygen is not installed"),
]


@pytest.fixture(scope="module")
def keys(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("keys")
    for name in ("dana", "eve"):
        subprocess.run(
            ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", name, "-f", str(folder / name)],
            check=True,
        )
    key = (folder / "dana.pub").read_text().rsplit(" ", 1)[0]
    (folder / "signers").write_text(f'dana@example.com namespaces="hostproof-report" {key}\n')
    return folder


@pytest.fixture
def sealed(tmp_path, keys, capsys) -> Path:
    folder = Path(report(tmp_path / "report", line("db1", finding("hugepages.a", "fail"))))
    (folder / "report.html").write_text("<p>\n")
    (folder / "windows").mkdir()
    (folder / "windows/db1.json").write_text("{}\n")
    (tmp_path / "inventory").mkdir()
    (tmp_path / "inventory/hosts.yml").write_text("all:\n")
    code, output = sign(folder, keys / "dana", capsys, "--policy", str(tmp_path / "inventory"))
    assert code == 0, output
    assert "Signed: " in output
    assert 'dana@example.com namespaces="hostproof-report" ssh-ed25519 ' in output
    return folder


def sign(folder: Path, key: Path, capsys, *more: str) -> tuple[int, str]:
    code = command.main(
        ["sign", str(folder), "--key", str(key), "--signer=dana@example.com", *more]
    )
    streams = capsys.readouterr()
    return code, streams.out + streams.err


def verified(folder: Path, keys: Path, capsys, *more: str) -> tuple[int, str]:
    code = command.main(
        ["verify-report", str(folder), "--allowed-signers", str(keys / "signers"), *more]
    )
    streams = capsys.readouterr()
    return code, streams.out + streams.err


def rendered(folder: Path) -> str:
    command.main(["report", str(folder), "--quiet"])
    return (folder / "report.html").read_text()


def test_the_page_says_by_whom_it_is_sealed(tmp_path, keys, capsys):
    folder = Path(report(tmp_path / "report", line("db1", finding("hugepages.a", "fail"))))
    assert "<p id=seal>Not signed.</p>" in rendered(folder)
    assert sign(folder, keys / "dana", capsys)[0] == 0
    page = (folder / "report.html").read_text()
    manifest = json.loads((folder / "seal.json").read_text())
    assert "Not signed" not in page and "Signed by dana@example.com, 2" in page
    assert f"findings sha256 {manifest['files']['findings.jsonl']}" in page
    assert verified(folder, keys, capsys)[0] == 0
    (folder / "report.html").write_text(page.replace("dana@", "eve@"))
    code, output = verified(folder, keys, capsys)
    assert (code, "report.html was changed" in output) == (2, True)


def test_a_page_that_could_not_be_sealed_does_not_say_so(tmp_path, keys, capsys):
    folder = Path(report(tmp_path / "report", line("db1", finding("hugepages.a", "fail"))))
    before = rendered(folder)
    (tmp_path / "nokey").write_text("none\n")
    code, output = sign(folder, tmp_path / "nokey", capsys)
    assert code == 1 and "cannot sign" in output
    assert (folder / "report.html").read_text() == before


def test_what_is_as_it_was_signed_verifies(sealed, keys, capsys):
    code, output = verified(sealed, keys, capsys)
    assert code == 0, output
    assert "Valid: report, 3 files unchanged since signing" in output
    assert "signed by  dana@example.com, 2" in output
    assert (
        f"inventory, sha256 {signing._policy(str(sealed.parent / 'inventory'))['sha256']}" in output
    )
    assert verified(sealed, keys, capsys, "--signer", "dana@example.com")[0] == 0


def test_a_moved_report_verifies(sealed, keys, capsys, tmp_path):
    shutil.copytree(sealed, tmp_path / "elsewhere")
    assert verified(tmp_path / "elsewhere", keys, capsys)[0] == 0


@cases("name", "findings.jsonl", "report.html", "windows/db1.json")
def test_one_changed_byte_no_longer_verifies(sealed, keys, capsys, name):
    content = bytearray((sealed / name).read_bytes())
    content[0] ^= 1
    (sealed / name).write_bytes(content)
    code, output = verified(sealed, keys, capsys)
    assert code == 2
    assert f"{name} was changed" in output


@cases("name", "findings.jsonl", "windows/db1.json")
def test_a_missing_file_no_longer_verifies(sealed, keys, capsys, name):
    (sealed / name).unlink()
    code, output = verified(sealed, keys, capsys)
    assert code == 2
    assert f"{name} is missing" in output


@cases("name", "new", ".hidden", "windows/x", "sub/seal.json", "a\nb\x1b[2J")
def test_an_added_file_no_longer_verifies(sealed, keys, capsys, name):
    (sealed / name).parent.mkdir(exist_ok=True)
    (sealed / name).write_text("")
    code, output = verified(sealed, keys, capsys)
    assert code == 2
    assert "was added" in output
    assert "\x1b" not in output


def test_a_link_in_place_of_a_file_no_longer_verifies(sealed, keys, capsys, tmp_path):
    shutil.move(sealed / "report.html", tmp_path / "report.html")
    (sealed / "report.html").symlink_to(tmp_path / "report.html")
    code, output = verified(sealed, keys, capsys)
    assert (code, "report.html is missing" in output) == (2, True)


@cases("name", signing.MANIFEST, signing.SIGNATURE)
def test_a_seal_that_was_changed_or_taken_away_no_longer_verifies(sealed, keys, capsys, name):
    content = bytearray((sealed / name).read_bytes())
    content[len(content) // 2] ^= 1
    (sealed / name).write_bytes(content)
    assert verified(sealed, keys, capsys)[0] == 2
    (sealed / name).unlink()
    code, output = verified(sealed, keys, capsys)
    assert (code, "the report is not signed" in output) == (2, True)


def test_a_signature_with_one_changed_byte_does_not_verify(sealed, keys, capsys):
    """Where ssh-keygen itself forgives it too: in line breaks, and in unused bits at the end."""
    path = sealed / "seal.json.sig"
    whole = path.read_bytes()
    breaks = [at for at, byte in enumerate(whole) if byte == ord("\n")]
    tried = [*breaks, *range(breaks[-2] - 4, breaks[-2])]
    for at in tried:
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
        assert verified(sealed, keys, capsys)[0] == 2, at
    for changed in (whole + b"\n", whole.replace(b"\n", b"\r\n"), whole[:-1], b""):
        path.write_bytes(changed)
        assert verified(sealed, keys, capsys)[0] == 2
    path.write_bytes(whole)
    assert verified(sealed, keys, capsys)[0] == 0


def test_a_manifest_that_was_made_anew_no_longer_verifies(sealed, keys, capsys):
    (sealed / "report.html").write_text("other\n")
    manifest = json.loads((sealed / signing.MANIFEST).read_text())
    manifest["files"]["report.html"] = signing._hash(str(sealed / "report.html"))
    (sealed / signing.MANIFEST).write_text(json.dumps(manifest, indent=1, sort_keys=True) + "\n")
    code, output = verified(sealed, keys, capsys)
    assert (code, "the signature does not verify" in output) == (2, True)


def test_somebody_else_s_signature_does_not_verify(sealed, keys, capsys):
    for name in (signing.MANIFEST, signing.SIGNATURE):
        (sealed / name).unlink()
    assert sign(sealed, keys / "eve", capsys)[0] == 0
    code, output = verified(sealed, keys, capsys)
    assert (code, "not signed by an allowed signer" in output) == (2, True)
    assert verified(sealed, keys, capsys, "--signer", "dana@example.com")[0] == 2


def test_a_signature_for_another_purpose_does_not_verify(sealed, keys, capsys):
    (sealed / signing.SIGNATURE).unlink()
    subprocess.run(
        ["ssh-keygen", "-q", "-Y", "sign", "-f", keys / "dana", "-n", "file", sealed / "seal.json"],
        check=True,
        capture_output=True,
    )
    assert verified(sealed, keys, capsys)[0] == 2


def test_the_name_in_the_manifest_is_the_signer_s(sealed, keys, capsys):
    for name in (signing.MANIFEST, signing.SIGNATURE):
        (sealed / name).unlink()
    assert sign(sealed, keys / "dana", capsys, "--signer", "boss@example.com")[0] == 0
    code, output = verified(sealed, keys, capsys)
    assert (code, "names the signer boss@example.com" in output) == (2, True)


class TestWhatIsRefused:
    def test_a_second_seal(self, sealed, keys, capsys):
        code, output = sign(sealed, keys / "dana", capsys)
        assert (code, "is already signed" in output) == (1, True)

    def test_a_folder_that_is_no_report(self, tmp_path, keys, capsys):
        code, output = sign(tmp_path, keys / "dana", capsys)
        assert (code, "is not a report directory" in output) == (1, True)

    def test_a_key_that_is_none(self, tmp_path, keys, capsys):
        folder = Path(report(tmp_path / "report", line("db1")))
        code, output = sign(folder, keys / "signers", capsys)
        assert (code, "cannot sign" in output) == (1, True)
        assert os.listdir(folder) == ["findings.jsonl"]

    def test_a_link_in_a_report(self, tmp_path, keys, capsys):
        folder = Path(report(tmp_path / "report", line("db1")))
        (folder / "link").symlink_to("/etc/passwd")
        code, output = sign(folder, keys / "dana", capsys)
        assert (code, "link is not a regular file" in output) == (1, True)

    @cases("command_of", "sign", "verify-report")
    def test_too_many_levels_of_directories(self, sealed, tmp_path, keys, capsys, command_of):
        folder = sealed
        if command_of == "sign":
            folder = Path(report(tmp_path / "other", line("db1")))
        deep = folder
        for _ in range(1500):
            deep = deep / "a"
            os.mkdir(str(deep))
        try:
            if command_of == "sign":
                code, output = sign(folder, keys / "dana", capsys)
            else:
                code, output = verified(folder, keys, capsys)
        finally:
            # pytest cannot remove so many levels.
            subprocess.run(["rm", "-rf", str(folder / "a")], check=True)
        assert (code, "too many levels" in output) == (1, True), output

    def test_rendering_a_sealed_report_in_place(self, sealed, capsys):
        assert command.main(["report", str(sealed)]) == 1
        assert "is signed" in capsys.readouterr().err

    @cases(
        "typed said",
        (["sign", "DIR"], "sign needs --key FILE"),
        (
            ["sign", "DIR", "--key", "/nonexistent"],
            "'--key': File '/nonexistent' does not exist",
        ),
        (["sign", "DIR", "--key", "/"], "'--key': File '/' is a directory"),
        (["sign", "DIR", "--key", __file__, "--signer", "a b"], "is not a name"),
        (["verify-report", "DIR"], "verify-report needs --allowed-signers FILE"),
        (
            ["verify-report", "DIR", "--allowed-signers", "/nonexistent"],
            "'/nonexistent' does not exist",
        ),
        (
            ["verify-report", "/nonexistent", "--allowed-signers", __file__],
            "there is no directory",
        ),
    )
    def test_wrong_use(self, capsys, tmp_path, typed, said):
        words = [str(tmp_path) if word == "DIR" else word for word in typed]
        assert command.main(words) == 1
        assert said in capsys.readouterr().err


def test_the_hash_of_a_policy_is_of_its_files(tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "a/x.yml").write_text("1\n")
    before = signing._policy(str(tmp_path / "a"))["sha256"]
    assert signing._policy(str(tmp_path / "a"))["sha256"] == before
    (tmp_path / "a/x.yml").write_text("2\n")
    assert signing._policy(str(tmp_path / "a"))["sha256"] != before


def test_the_code_has_a_hash_and_a_release():
    code = signing.code()
    assert len(code["sha256"]) == 64
    assert code["version"]


def test_the_pages_of_many_hosts_are_sealed_too(tmp_path, keys, capsys):
    hosts = [
        line(f"db{number}", finding("hugepages.a", "fail")) for number in range(ALL_IN_ONE + 1)
    ]
    folder = Path(report(tmp_path / "report", *hosts))
    rendered(folder)
    pages = sorted((folder / "hosts").iterdir())
    assert len(pages) == ALL_IN_ONE + 1
    assert sign(folder, keys / "dana", capsys)[0] == 0
    assert verified(folder, keys, capsys)[0] == 0
    assert "<p id=seal>Signed by dana@example.com" in (folder / "index.html").read_text()
    pages[0].write_bytes(pages[0].read_bytes() + b" ")
    pages[1].unlink()
    (folder / "hosts" / "other.html").write_text("")
    code, output = verified(folder, keys, capsys)
    assert code == 2
    assert f"hosts/{pages[0].name} was changed" in output
    assert f"hosts/{pages[1].name} is missing" in output
    assert "hosts/other.html was added" in output


@cases("name", "new", "windows/new", "new/inside")
def test_an_added_empty_directory_no_longer_verifies(sealed, keys, capsys, name):
    (sealed / name).mkdir(parents=True)
    code, output = verified(sealed, keys, capsys)
    assert (code, f"{name} was added" in output) == (2, True)


def test_a_directory_that_was_empty_when_it_was_signed_verifies(tmp_path, keys, capsys):
    folder = Path(report(tmp_path / "report", line("db1", finding("hugepages.a", "fail"))))
    (folder / "empty").mkdir()
    assert sign(folder, keys / "dana", capsys)[0] == 0
    assert verified(folder, keys, capsys)[0] == 0


@cases(
    "change",
    lambda manifest: manifest.pop("code"),
    lambda manifest: manifest.update(code="x"),
    lambda manifest: manifest["code"].pop("sha256"),
    lambda manifest: manifest["files"].pop("findings.jsonl"),
    lambda manifest: manifest.pop("policy"),
    lambda manifest: manifest.update(policy=[{"path": "x"}]),
    lambda manifest: manifest.update(policy=5),
    lambda manifest: manifest.pop("report"),
    lambda manifest: manifest.pop("signed"),
    lambda manifest: manifest.update(empty_directories=[5]),
    lambda manifest: manifest.update(empty_directories=5),
    lambda manifest: manifest.update(files=[]),
    lambda manifest: manifest.pop("who"),
)
def test_a_signed_manifest_of_another_form_is_one_sentence(sealed, keys, capsys, change):
    place = sealed / signing.MANIFEST
    manifest = json.loads(place.read_text())
    change(manifest)
    text = json.dumps(manifest) + "\n"
    place.write_text(text)
    done = signing._ssh_keygen(
        "sign", "-f", str(keys / "dana"), "-n", signing.NAMESPACE, content=text.encode()
    )
    (sealed / signing.SIGNATURE).write_bytes(done.stdout)
    code, output = verified(sealed, keys, capsys)
    assert (code, "unknown format" in output, "Traceback" in output) == (2, True, False)

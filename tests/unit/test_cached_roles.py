"""What the next run is told of the roles is what their YAML says."""

import yaml
from hostproof_controller import cache, policies
from hostproof_controller.layout import ROLES


def test_what_is_kept_is_what_the_files_say(tmp_path, monkeypatch):
    monkeypatch.setattr(cache, "folder_of", lambda kind, version: tmp_path)
    made = policies._roles()
    assert (tmp_path / "roles.json").exists()
    again = policies._roles()
    assert made == again
    assert len(made) == len([*ROLES.glob("*/meta/argument_specs.yml")])
    for name, (options, defaults) in again.items():
        role = ROLES / name
        specs = yaml.safe_load((role / "meta/argument_specs.yml").read_text())
        assert options == (specs["argument_specs"]["verify"].get("options") or {})
        assert defaults == (yaml.safe_load((role / "defaults/main.yml").read_text()) or {})


def test_a_role_that_was_edited_is_read_anew(tmp_path, monkeypatch):
    role = tmp_path / "roles/one"
    (role / "meta").mkdir(parents=True)
    (role / "defaults").mkdir()
    role.joinpath("meta/argument_specs.yml").write_text("argument_specs: {verify: {}}")
    defaults = role / "defaults/main.yml"
    defaults.write_text("one_a: 1")
    monkeypatch.setattr(policies, "ROLES", tmp_path / "roles")
    assert policies._roles() == {"one": [{}, {"one_a": 1}]}
    defaults.write_text("one_a: 2")
    assert policies._roles() == {"one": [{}, {"one_a": 2}]}

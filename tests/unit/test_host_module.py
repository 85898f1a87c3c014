"""What a module says of its failure is masked, in our own execution and in Ansible's."""

from pathlib import Path

import pytest
from ansible.module_utils.hostproof.collect import host_module

ROOT = Path(__file__).resolve().parents[2]

#: They run on the controller, and only say so.
OF_THE_CONTROLLER = {
    *("compare_latency", "latency_baseline", "latency_gate", "render_report", "show_findings")
}


def test_the_text_of_a_failure_holds_no_secret(monkeypatch):
    failure = {}

    def remember(_self, msg, **result):
        failure.update(result, msg=msg)
        raise SystemExit(1)

    monkeypatch.setattr(host_module.PlainModule, "fail_json", remember)
    module = object.__new__(host_module.AnsibleModule)
    with pytest.raises(SystemExit):
        module.fail_json(msg="sqlplus scott/Zq7tiger9xW@db ended with 1", diff=[])
    assert "Zq7tiger9xW" not in failure["msg"]
    assert failure["msg"].startswith("sqlplus scott/")
    assert failure["diff"] == []


@pytest.mark.parametrize("path", sorted(ROOT.glob("library/*.py")), ids=lambda path: path.stem)
def test_every_module_of_hosts_fails_that_way(path):
    text = path.read_text()
    plain = "from ansible.module_utils.basic import AnsibleModule" in text
    assert plain == (path.stem in OF_THE_CONTROLLER)

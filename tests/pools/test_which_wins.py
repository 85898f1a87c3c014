"""Which of several settings wins: what the control says of real servers, and what their pools do.

What a pool does is what four checkouts of an application make it ask the database.
"""

import os
import pwd
import shutil
from pathlib import Path

import parts
import pytest

CHECKS_OF_POOLS = ("validated", "foreground", "background", "checker")


def edit(file: Path, old: str, new: str) -> None:
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new))


def deploy(server: parts.WildFly, port: int, name: str, jndi: str) -> Path:
    """NAME-ds.xml, whose source validates on match, once the server has taken or refused it."""
    file = server.base / f"deployments/{name.lower()}-ds.xml"
    coming = file.with_suffix(".coming")
    coming.write_text(
        '<datasources xmlns="http://www.jboss.org/ironjacamar/schema">'
        f'<datasource jndi-name="{jndi}" pool-name="{name}">'
        f"<connection-url>jdbc:postgresql://127.0.0.1:{port}/postgres</connection-url>"
        "<driver>postgresql.jar</driver><security><user-name>pools</user-name></security>"
        f"<validation><check-valid-connection-sql>select 'check {name}'"
        "</check-valid-connection-sql><validate-on-match>true</validate-on-match></validation>"
        "</datasource></datasources>"
    )
    if os.geteuid() == 0:
        shutil.chown(coming, parts.ACCOUNT, pwd.getpwnam(parts.ACCOUNT).pw_gid)
    coming.rename(file)
    ends = [file.with_name(f"{file.name}.{state}") for state in ("deployed", "failed")]
    parts.wait_until(
        lambda: any(path.exists() for path in ends), f"{file.name} is taken or refused"
    )
    return file


def undeploy(file: Path) -> None:
    file.unlink()
    left = [file.with_name(f"{file.name}.{state}") for state in ("deployed", "failed")]
    left[1].unlink(missing_ok=True)
    parts.wait_until(lambda: not any(path.exists() for path in left), f"{file.name} is undeployed")


class TestStandalone:
    def test_1_the_file_that_it_was_started_from(self, shop, judge, validations):
        """Not standalone.xml, which lies beside it and says other things."""
        findings = judge(shop)
        finding = findings["running"]["shop"]
        file = str(shop.base / "configuration/shop.xml")
        assert (finding.status, finding.persisted, finding.running) == ("pass", file, "running"), (
            finding
        )
        running = {name: str(each.running) for name, each in findings["validated"].items()}
        assert running["shop FG"].startswith("foreground (validate-on-match)")
        assert running["shop BG"].startswith("background")
        assert running["shop UNSET"].startswith("foreground (neither")
        counts = {name: validations(shop, name) for name in ("FG", "BG", "UNSET")}
        assert counts == {"FG": 4, "BG": 0, "UNSET": 4}

    def test_2_the_server_wins_over_a_file_that_was_edited_beside_it(
        self, shop, judge, validations
    ):
        file = shop.base / "configuration/shop.xml"
        on = "<validate-on-match>true</validate-on-match>"
        edit(file, on, on.replace("true", "false"))
        findings = judge(shop)
        finding = findings["running"]["shop"]
        assert finding.status == "warn"
        assert "FG: validate-on-match is true in the server, false in the file" in str(finding.why)
        assert "the server wins until it starts again" in str(finding.why)
        assert str(findings["validated"]["shop FG"].running).startswith("foreground")
        assert validations(shop, "FG") == 4
        # And writes its file anew when it is changed.
        shop.write("UNSET", blocking_timeout_wait_millis=20000)
        assert on in file.read_text()
        assert judge(shop)["running"]["shop"].status == "pass"

    def test_3_the_old_values_win_until_a_reload(self, shop, judge, validations):
        shop.write("FG", validate_on_match=False, **{"background-validation": True})
        shop.write("FG", background_validation_millis=3600000)
        findings = judge(shop)
        assert findings["running"]["shop"].status == "warn"
        assert "is reload-required: it shows what will be" in str(findings["running"]["shop"].why)
        for check in CHECKS_OF_POOLS:
            assert {finding.status for finding in findings[check].values()} == {"error"}
        assert validations(shop, "FG") == 4
        shop.reload()
        findings = judge(shop)
        assert findings["running"]["shop"].status == "pass"
        assert str(findings["validated"]["shop FG"].running).startswith("background")
        assert validations(shop, "FG") == 0
        shop.write("FG", validate_on_match=True, background_validation=False)
        shop.reload()

    def test_4_a_file_of_its_own_name_is_judged_by_itself(self, shop, database, judge, validations):
        file = deploy(shop, database.port, "OWN", "java:/OWN")
        findings = judge(shop)
        assert findings["deployments"]["shop"].status == "pass"
        assert str(findings["validated"]["shop OWN"].running).startswith("foreground")
        assert findings["validated"]["shop OWN"].evidence[0] == f"file:{file}"
        assert validations(shop, "OWN") == 4
        undeploy(file)
        assert "shop OWN" not in judge(shop)["validated"]

    def test_5_the_server_s_own_wins_over_a_file_of_its_name(
        self, shop, database, judge, validations
    ):
        file = deploy(shop, database.port, "LATE", "java:/BG")
        findings = judge(shop)
        finding = findings["deployments"]["shop"]
        assert finding.status == "warn"
        assert "java:/BG, which BG of the server has too: the server's own wins" in str(finding.why)
        assert str(findings["validated"]["shop BG"].running).startswith("background")
        assert "shop LATE" not in findings["validated"]
        counts = [validations(shop, "BG", name=name) for name in ("BG", "LATE")]
        assert counts == [0, 0]
        undeploy(file)

    def test_6_a_file_wins_over_one_that_is_disabled(self, shop, database, judge, validations):
        shop.write("BG", enabled=False)
        shop.reload()
        deploy(shop, database.port, "LATE", "java:/BG")
        findings = judge(shop)
        assert findings["deployments"]["shop"].status == "pass"
        assert str(findings["validated"]["shop LATE"].running).startswith("foreground")
        assert "shop BG" not in findings["validated"]
        assert validations(shop, "BG", name="LATE") == 4

    def test_7_both_at_a_start(self, shop, database, judge, validations):
        """One of both is enabled while the other is deployed: the next start decides."""
        shop.write("BG", enabled=True)
        shop.reload()
        file = shop.base / "deployments/late-ds.xml"
        findings = judge(shop)
        counts = {name: validations(shop, "BG", name=name) for name in ("BG", "LATE")}
        finding = findings["deployments"]["shop"]
        assert "the server's own wins" in str(finding.why)
        assert counts == {"BG": 0, "LATE": 0}
        assert "shop LATE" not in findings["validated"]
        undeploy(file)
        shop.reload()


class TestDomain:
    def test_1_each_server_by_the_profile_that_its_host_gives_it(self, two, judge, validations):
        findings = judge(two)
        finding = findings["running"]["shop"]
        file = str(two.base / "configuration/domain.xml")
        assert (finding.status, finding.persisted) == ("pass", file), finding
        running = {name: str(each.running) for name, each in findings["validated"].items()}
        assert running["shop master/server-one FG"].startswith("foreground (validate-on-match)")
        assert running["shop master/server-three FG"].startswith("background")
        assert "shop master/server-three UNSET" not in running
        assert validations(two, "FG", at="server-one") == 4
        assert validations(two, "FG", at="server-three") == 0

    def test_2_the_server_wins_over_domain_xml(self, two, judge, validations):
        file = two.base / "configuration/domain.xml"
        on = "<validate-on-match>true</validate-on-match>"
        edit(file, on, on.replace("true", "false"))
        finding = judge(two)["running"]["shop"]
        assert finding.status == "warn"
        why = "master/server-one FG: validate-on-match is true in the server, false in the file"
        assert why in str(finding.why) and "server-three FG" not in str(finding.why)
        assert validations(two, "FG", at="server-one") == 4
        edit(file, on.replace("true", "false"), on)

    def test_3_a_server_that_waits_beside_one_that_does_not(self, two, judge, validations):
        two.write("FG", ["profile", "default"], validate_on_match=False)
        two.write("FG", ["profile", "default"], **{"background-validation": True})
        findings = judge(two)
        why = str(findings["running"]["shop"].why)
        assert "master/server-one is reload-required" in why and "server-three" not in why
        states = {name: finding.status for name, finding in findings["validated"].items()}
        assert states["shop master/server-three FG"] == "pass"
        assert "error" in states.values() and "shop master/server-one FG" not in states
        assert validations(two, "FG", at="server-one") == 4
        assert validations(two, "FG", at="server-three") == 0


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may look as another account")
def test_what_the_account_of_the_server_owns_is_read_by_it(shop, judge):
    """All that was found was found as root, on files of a plain account."""
    assert (shop.base / "configuration/shop.xml").stat().st_uid != 0
    assert judge(shop)["running"]["shop"].status == "pass"

"""Accounts: every check in its statuses, the plan, its guards and its bad policies."""

import re

import pytest
from account_packs import (
    GROUPS,
    PASSWD,
    POLICY,
    STOCK,
    bare,
    host,
    instance,
    inventory,
    judged,
    plan_of,
)
from ansible.module_utils.hostproof.collect import command
from ansible.module_utils.hostproof.collect.host import RecordedHost
from ansible.module_utils.hostproof.controls.accounts.parsers import shared_uids, shell_profile
from ansible.module_utils.hostproof.errors import PolicyError
from cases import cases


def statuses(found):
    return {name: finding.status for name, finding in found.items()}


def test_where_it_counts(validate_finding):
    assert set(statuses(judged(bare())).values()) == {"skip"}
    assert set(statuses(judged(bare().remove("/proc/meminfo"))).values()) == {"skip"}
    findings = judged(host())
    for finding in findings.values():
        validate_finding(finding.as_dict())
    assert statuses(findings) == {
        **dict.fromkeys(
            ("exists", "primary_group", "not_in_root", "one_account_per_uid", "umask"), "pass"
        ),
        **{"groups": "skip", "environment": "pass", "inventory": "skip", "silent_start": "pass"},
    }
    assert judged(host().deny("processes:oracle"))["exists"].status == "error"


def test_a_profile_names_accounts_and_groups():
    findings = judged(host(), profile="oracle_19c_single")
    assert (findings["exists"].status, findings["groups"].status) == ("pass", "pass")
    # The last subject is grid, which the host does not have.
    findings = judged(host(), profile="rac_asm")
    assert (findings["exists"].status, findings["groups"].status) == ("fail", "skip")
    # Oracle Restart has Grid Infrastructure without a cluster: grid has to be in racdba there too.
    for name in ("oracle_26ai_restart", "oracle_23ai_rac"):
        assert judged(host(), profile=name)["exists"].status == "fail"
    machine = host(*GROUPS, "racdba", "asmdba").account("grid", 54331, "oinstall", "asmadmin")
    machine.command("id -G grid", "54321 54342\n")
    for number, group in enumerate(("racdba", "asmdba", "asmadmin"), 54340):
        machine.group(group, number)
    findings = judged(machine, profile="oracle_26ai_restart")
    assert (findings["groups"].status, "not in racdba" in findings["groups"].why) == ("fail", True)
    assert judged(bare(), profile="oracle_26ai_single")["exists"].status == "fail"
    findings = judged(host("oinstall", "dba"), profile="oracle_19c_single")
    assert findings["groups"].status == "fail" and "not in oper" in findings["groups"].why
    exists = judged(bare().group("dba", 54322), profile="oracle_19c_single")["exists"]
    assert exists.persisted == "no account"
    assert "the missing groups oinstall, oper, backupdba, dgdba, kmdba in" in exists.fix


@cases(
    "line status why",
    ("oracle:x:54321:54321::/home/oracle:/bin/bash\n", "pass", "uid 54321"),
    ("oracle:x:500:54321::/home/oracle:/bin/bash\n", "fail", "the policy requires 54321"),
    ("oracle:x:54321:54321::/home/oracle:/sbin/nologin\n", "fail", "ends a login"),
    ("oracle:x:54321:54321::/home/oracle:/bin/true\n", "fail", "ends a login"),
    ("oracle:x:0:54321::/home/oracle:/bin/bash\n", "fail", "it is root"),
    ("oracle:x:54321\n", "error", "7 fields"),
)
def test_exists(line, status, why):
    machine = host().command("getent passwd oracle", line)
    home = f"directory {line.split(':')[2].strip()} 700\n"
    machine.command("stat -L -c %F %u %a /home/oracle", home)
    finding = judged(machine, accounts=[{"name": "oracle", "uid": 54321}])["exists"]
    assert (finding.status, why in f"{finding.why} {finding.persisted}") == (status, True)


def test_groups_of_the_account_and_of_what_runs():
    assert judged(instance(host()))["primary_group"].status == "pass"
    assert judged(instance(host(), gid=54322))["primary_group"].status == "fail"
    assert judged(host("dba"))["primary_group"].status == "warn"
    assert judged(host("dba"), accounts=[{"name": "oracle"}])["primary_group"].status == "fail"
    stale = judged(instance(host(), gids="54321"), profile="oracle_19c_single")["groups"]
    assert (stale.status, "runs without dba" in stale.why) == ("warn", True)
    assert judged(host("oinstall", "root"))["not_in_root"].status == "fail"
    assert judged(instance(host(), gids="54321 0"))["not_in_root"].status == "fail"
    assert judged(instance(host()).deny("/proc/3101/status"))["not_in_root"].status == "error"


def test_one_account_per_uid():
    rows = "root:x:0:0::/:/bin/sh\ntoor:x:0:0::/:/bin/sh\na:x:54321:1::/:/x\nb:x:54321:1::/:/x\n"
    finding = judged(host().file("/etc/passwd", rows))["one_account_per_uid"]
    assert finding.status == "fail"
    assert finding.persisted == "uid 0: root, toor; uid 54321: a, b, oracle"
    rows = "root:x:0:0::/:/bin/sh\na:x:7:1::/:/x\nb:x:7:1::/:/x\n+::::::\n"
    assert judged(host().file("/etc/passwd", rows))["one_account_per_uid"].status == "pass"
    assert shared_uids.kept(rows, {"oracle": 9}) == "a::7:\nb::7:"
    assert judged(host().deny("/etc/passwd"))["one_account_per_uid"].status == "error"


def test_a_local_account_with_the_uid_of_one_in_a_directory_service():
    rows = PASSWD.split("\n")[0] + "\ntomcat:x:54321:91::/:/sbin/nologin\n"
    finding = judged(host().file("/etc/passwd", rows))["one_account_per_uid"]
    assert (finding.status, finding.persisted) == ("fail", "uid 54321: tomcat, oracle")
    kept = shared_uids.kept(rows, {"oracle": 54321})
    assert shared_uids.parse(kept, {"oracle": 54321}) == {54321: ["tomcat", "oracle"]}


def test_an_instance_of_a_uid_without_an_account():
    """The account was removed, or the directory service does not answer."""
    machine = instance(bare())
    finding = judged(machine.command("getent passwd 54321", "", rc=2))["exists"]
    assert (finding.status, finding.title.partition(":")[0]) == ("fail", "54321")
    assert "SSSD or LDAP, is down (" in finding.fix
    # A missing account of the policy can be the one of the instance.
    machine = instance(bare()).command("getent passwd 54321", "", rc=2)
    found = judged(machine, **POLICY)["exists"]
    assert "create no local account" in found.fix and not found.commands
    assert any("no account" in refusal.reason for refusal in plan_of(machine, **POLICY).refusals)
    assert judged(instance(host()).command("getent passwd 54321", "x\n"))["umask"].status == "error"


def test_names_of_groups_that_hold_blanks():
    """id -Gn separates names by blanks: "dba team" of a directory service is not dba."""
    names = ("oinstall", "dba", "team", "root", "users", "oper", "backupdba", "dgdba", "kmdba")
    numbers = "54321 70000 70001 54323 54324 54325 54326\n"
    findings = judged(host(*names).command("id -G oracle", numbers), profile="oracle_19c_single")
    assert findings["groups"].why == "not in dba." and findings["not_in_root"].status == "pass"


def test_a_recording_of_an_older_version_has_names_of_groups_only():
    machine = instance(host())
    judged(machine, profile="oracle_19c_single")
    assert "command:id -G oracle" in machine.evidence
    del machine.evidence["command:id -G oracle"]
    findings = judged(RecordedHost(machine.evidence, "0.2.0"), profile="oracle_19c_single")
    assert (findings["groups"].status, findings["umask"].status) == ("pass", "pass")


@cases("text rc", ("", 1), ("", 0), ("54321 x\n", 0), ("54321\n", 1))
def test_gids_that_are_unknown(text, rc):
    """Names of groups alone do not decide: those with blanks are ambiguous."""
    findings = judged(host().command("id -G oracle", text, rc=rc), profile="oracle_19c_single")
    assert (findings["groups"].status, findings["not_in_root"].status) == ("error", "error")


def test_a_group_without_a_name():
    machine = host().command("id -Gn oracle", "54399 dba\n", rc=1)
    finding = judged(machine, accounts=[{"name": "oracle"}])["primary_group"]
    assert (finding.status, "is 54399, not oinstall" in finding.why) == ("fail", True)
    machine = host().command("id -Gn oracle", "", rc=1)
    assert judged(machine)["primary_group"].status == "error"


@cases(
    "profile mask status",
    (None, "0022", "pass"),
    ("umask 022\n", "0022", "pass"),
    ("umask 22;export A=b\n", "0022", "pass"),
    ("# umask 077\n", "0022", "pass"),
    ("umask 077\n", "0022", "fail"),
    ("if x; then umask 027; else umask 022; fi\n", "0022", "warn"),
    ("umask u=rwx,g=rx,o=rx\n", "0022", "pass"),
    ("umask a=rx,u=rwx\n", "0022", "pass"),
    ("umask u=rwx,g=rwx,o=rx\n", "0022", "fail"),
    ("umask g-w,o-w\n", "0022", "warn"),
    ("umask u=rwx,g=rx\n", "0022", "warn"),
    ("umask u=rwx,g=u,o=\n", "0022", "warn"),
    ("umask '077'\n", "0022", "fail"),
    ('eval "umask 077"\n', "0022", "fail"),
    ("umask -S u=rwx,go=\n", "0022", "fail"),
    ("command umask -p 077\n", "0022", "fail"),
    ("case $- in *i*) umask 077;; esac\n", "0022", "fail"),
    ("umask $MASK\n", "0022", "warn"),
    ("umask -- 077\n", "0022", "fail"),
    ("(umask 077; touch x)\n", "0022", "pass"),
    ("old=$(umask); umask 077\n", "0022", "fail"),
    ("[ $(umask) -eq 22 ] && umask 077\n", "0022", "fail"),
    ('[ "$(umask)" = "0000" ] && umask 077\n', "0022", "pass"),
    # A here-document is text, except for a file that this shell reads.
    ("cat > /tmp/x <<EOF\numask 077\nEOF\n", "0022", "pass"),
    ("cat <<'EOF' >> ~/x\numask 077\nexport TZ=x\nEOF\numask 022\n", "0022", "pass"),
    ('cat << "E O F"\numask 077\nE O F\n', "0022", "pass"),
    ("cat <<-\\END\n\tumask 077\n\tEND\n", "0022", "pass"),
    ("cat <<A <<B\numask 077\nA\numask 027\nB\n", "0022", "pass"),
    (": <<'COMMENT'\numask 077\nCOMMENT\n", "0022", "pass"),
    ("bash <<EOF\numask 077\nEOF\n", "0022", "pass"),
    ("sqlplus -s / as sysdba <<!\nexit\n!\numask 077\n", "0022", "fail"),
    ("sqlplus / as sysdba <<!\numask 077\n!\n", "0022", "pass"),
    ("cat <<EOF\nx\nEOF\numask 077\n", "0022", "fail"),
    ("cat <<EOF\nEOF umask\n EOF\numask 027\nEOF\numask 077\n", "0022", "fail"),
    (". /dev/stdin <<EOF\numask 077\nEOF\n", "0022", "fail"),
    ('eval "$(cat <<EOF\numask 077\nEOF\n)"\n', "0022", "fail"),
    ("read A <<< umask\numask 077\numask\n", "0022", "fail"),
    ("N=$((1<<M))\numask 077\nM\n", "0022", "fail"),
    ("echo '<<EOF'\numask 077\nEOF\n", "0022", "fail"),
    ("# cat <<EOF\numask 077\n# EOF\nEOF\n", "0022", "fail"),
    ("cat <<EOF\numask 077\n", "0022", "fail"),
    # Quoted text over several lines, and a line that goes on.
    ('MSG="hello\numask 077\nbye"\n', "0022", "pass"),
    ("alias x='\numask 077\n'\n", "0022", "pass"),
    ('export A="x\n don\'t\numask 077 "\numask 027\n', "0022", "fail"),
    ('MSG="a; umask 077"\n', "0022", "pass"),
    ("umask \\\n 077\n", "0022", "fail"),
    ("# don't\numask 077\n", "0022", "fail"),
    ("echo it\\'s\numask 077\n", "0022", "fail"),
    ('eval "\numask 077\n"\n', "0022", "fail"),
    ("A=$#; umask 077\n", "0022", "fail"),
    # A subshell, and the output of a command.
    ("(\numask 077\ntouch x\n)\n", "0022", "pass"),
    ("(cd /x; umask 077; touch x)\n", "0022", "pass"),
    ("X=$(umask 077\nmktemp)\n", "0022", "pass"),
    ("X=`umask 077; mktemp`\n", "0022", "pass"),
    ("A=(a\nb)\numask 077\n", "0022", "fail"),
    ("case $x in\n a) umask 022;;\n b) umask 077;;\nesac\n", "0022", "warn"),
    # An umask under a condition: that of before is possible too.
    ("if [ x = y ]; then umask 077; fi\n", "0022", "warn"),
    ("[ x = y ] && umask 077\n", "0022", "warn"),
    ("if a; then\numask 077\nelse\numask 027\nfi\n", "0022", "fail"),
    ("if a; then\numask 077\nelif b; then\numask 027\nfi\n", "0022", "warn"),
    ("if a; then\numask 077\nelif b; then\nx=1\nelse\numask 027\nfi\n", "0022", "warn"),
    ("if [ -t 0 ]; then umask 077; fi\n", "0022", "fail"),
    ("f() {\n umask 077\n}\nf\n", "0022", "fail"),
    ("f() { umask 077; }\nx && f\n", "0022", "warn"),
    # The results of bash 5.2.
    ("f() { umask 077; }; f\n", "0022", "fail"),
    ("{ umask 077; }\n", "0022", "fail"),
    ("x && { umask 077; }\n", "0022", "warn"),
    ("A=1 umask 077\n", "0022", "fail"),
    ("! umask 077\n", "0022", "fail"),
    ("umask 077 | cat\n", "0022", "pass"),
    ("umask 077 &\n", "0022", "pass"),
    ("umask 077 >/dev/null 2>&1\n", "0022", "fail"),
    ("umask 077; return 0; umask 022\n", "0022", "fail"),
    ("return\numask 077\n", "0022", "pass"),
    ("if x; then return; fi\numask 077\n", "0022", "fail"),
    ("g () ( umask 077 )\ng\n", "0022", "pass"),
    ("umask 022\n", "0077", "fail"),
    ("umask 022\n", None, "pass"),
)
def test_umask(profile, mask, status):
    machine = instance(host(), mask)
    if profile is not None:
        machine.file("/home/oracle/.bash_profile", profile)
    machine.file("/home/oracle/.profile", "umask 077\n" if profile else "")
    assert judged(machine)["umask"].status == status


def test_umask_of_the_system():
    machine = host().remove("/etc/profile", "/etc/bashrc").file("/etc/login.defs", "UMASK\t027\n")
    assert judged(machine)["umask"].status == "fail"
    assert judged(host().deny("/etc/profile"))["umask"].status == "error"
    # An account with a group of its own gets 002 from the stock files.
    assert judged(host("oracle"))["umask"].status == "warn"


#: /etc/bashrc of RHEL 9, where pam_umask sets the umask of a login from login.defs.
ONLY_ZERO = "if [ -z $S ]; then\n    [ `umask` -eq 0 ] && umask 022\nfi\n"


@cases(
    "defs group status persisted",
    ("UMASK 022\n", "oinstall", "pass", "022"),
    ("UMASK\t027 # site\n", "oinstall", "fail", "027"),
    ("UMASK 0077\nUSERGROUPS_ENAB yes\n", "oinstall", "fail", "077"),
    ("UMASK 022\nUSERGROUPS_ENAB yes\n", "oracle", "fail", "002"),
    ("UMASK 022\nUSERGROUPS_ENAB no\n", "oracle", "pass", "022"),
)
def test_umask_of_pam(defs, group, status, persisted):
    machine = host(group).file("/etc/profile", "").file("/etc/bashrc", ONLY_ZERO)
    finding = judged(machine.file("/etc/login.defs", defs))["umask"]
    assert (finding.status, finding.persisted) == (status, f"{persisted} (/etc/login.defs)")


@cases(
    "shell status",
    ("/bin/bash", "pass"),
    ("/bin/ksh93", "fail"),
    ("/bin/sh", "fail"),
    ("", "fail"),
    ("/bin/tcsh", "error"),
    ("/usr/bin/zsh", "error"),
)
def test_each_shell_has_its_own_start_files(shell, status):
    machine = host().command("getent passwd oracle", f"oracle:x:1:54321::/home/oracle:{shell}\n")
    machine.file("/home/oracle/.bash_profile", "umask 022\n")
    machine.file("/home/oracle/.profile", "umask 077\nORA_CRS_HOME=/u01\n")
    findings = judged(machine)
    assert (findings["umask"].status, findings["environment"].status) == (status, status)


def test_environment_and_what_evidence_keeps():
    machine = host().file("/home/oracle/.bash_profile", "export ORACLE_HOME=/u01 PW=tiger\n")
    finding = judged(machine)["environment"]
    assert finding.status == "warn" and "ORACLE_HOME (/home/oracle/.bash_profile)" in finding.why
    assert shell_profile.kept("umask 077; export ORACLE_HOME=/u01 PW=tiger\n") == (
        shell_profile.MARK + "\numask 077\nORACLE_HOME="
    )
    installed = inventory(machine, "54321 54321 770\n")
    installed.evidence.clear()
    assert judged(installed)["environment"].status == "pass"
    machine = host().file("/etc/profile.d/grid.sh", "ORA_CRS_HOME=/u01/grid\n")
    assert judged(machine)["environment"].status == "fail"


@cases(
    "profile status",
    (". $SCRIPTS/env.sh\n", "error"),
    (". $SCRIPTS/env.sh\numask 022\n", "error"),
    (". ~/.bash_profile\numask 022\n", "pass"),
    (". $SCRIPTS/env.sh\numask 022\nORA_CRS_HOME=/u01/grid\n", "fail"),
    (". ~/.gone\numask 022\n", "pass"),
)
def test_a_file_that_is_not_read_may_set_variables(profile, status):
    machine = host().file("/home/oracle/.bash_profile", profile)
    assert judged(machine)["environment"].status == status


#: A variable that breaks an installation, and a command that breaks scp.
BAD = "export ORA_CRS_HOME=/u01/grid\necho hello\n"
HOME, SITE = "/home/oracle", "/etc/profile.d/site.sh"


@cases(
    "own files status",
    ("".join(f". ~/f{n}\n" for n in range(40)), {f"{HOME}/f{n}": BAD for n in (39,)}, "fail"),
    (
        "".join(f". ~/f{n}\n" for n in range(40)),
        {f"{HOME}/f{n}": "A=1\n" if n < 39 else BAD for n in range(40)},
        "error",
    ),
    (f". {SITE}\n", {SITE: ". $HOME/.site\n", f"{HOME}/.site": BAD}, "fail"),
    (f". {SITE}\n", {SITE: "for f in /opt/*.sh; do . $f; done\n", "/opt/a.sh": BAD}, "fail"),
    (f". {SITE}\n", {SITE: ". /opt/a\n", "/opt/a": ". /opt/b\n", "/opt/b": BAD}, "fail"),
    (
        f". {SITE}\n",
        {f"/etc/profile.d/{n}.sh": "A=1\n" for n in range(40)} | {SITE: ". /x\n", "/x": BAD},
        "fail",
    ),
    (
        f". {SITE}\n",
        {SITE: "".join(f". /opt/{n}\n" for n in range(40))}
        | {f"/opt/{n}": "A=1\n" if n < 39 else BAD for n in range(40)},
        "error",
    ),
    (". /etc/profile.d/ora.env\n", {"/etc/profile.d/ora.env": BAD}, "fail"),
    (f". {SITE}\n", {SITE: ". /etc/profile.d/a\n", "/etc/profile.d/a": BAD}, "fail"),
    (". ~/.env.d*/x.sh\n", {f"{HOME}/.env.d1/x.sh": BAD}, "error"),
    (". ~/.x\n" * 200 + ". ~/.late\n", {f"{HOME}/.late": BAD}, "error"),
    ("f() {\n. ~/.x\n. ~/.x\n}\n" + "f\n" * 101 + ". ~/.late\n", {f"{HOME}/.late": BAD}, "error"),
    # The loop of EL 9; bash does not match hidden files with a plain pattern.
    (
        'for rc in ~/rc.d/*; do\n  if [ -f "$rc" ]; then\n    . "$rc"\n  fi\ndone\n',
        {f"{HOME}/rc.d/a": "A=1\n", f"{HOME}/rc.d/.b": BAD},
        "pass",
    ),
    ("for f in ~/rc.d/.b*; do . $f; done\n", {f"{HOME}/rc.d/.b": BAD}, "fail"),
    ("[ -s ~/.x ] && \\. ~/.x\n", {f"{HOME}/.x": BAD}, "fail"),
    (". /etc/sysconfig/oracle\n", {"/etc/sysconfig/oracle": BAD}, "fail"),
    (f". {SITE}\n", {SITE: ". /etc/sysconfig/clock\n", "/etc/sysconfig/clock": BAD}, "pass"),
    (". /usr/lib/oracle/env.sh\n", {"/usr/lib/oracle/env.sh": BAD}, "fail"),
    (". /usr/share/../../opt/x\n", {"/usr/share/../../opt/x": BAD}, "fail"),
    ("umask `cat ~/.u`\n. ~/.x\numask `cat ~/.v`\n", {f"{HOME}/.x": BAD}, "fail"),
)
def test_files_that_are_hard_to_find(own, files, status):
    machine = host().command("ls -1Apb /opt", "a.sh\n")
    machine.command(f"ls -1Apb {HOME}/rc.d", ".b\na\nold/\n")
    every = {f"{HOME}/.bash_profile": own, f"{HOME}/.bashrc": own, **files}
    for path, text in every.items():
        machine.file(path, text)
        assert shell_profile.parse(shell_profile.kept(text)) == shell_profile.parse(text)
    findings = judged(machine)
    assert [findings[name].status for name in ("environment", "silent_start")] == [status] * 2


@cases(
    "profile",
    # Of Debian 12 and of Debian 13 (bash, etc.profile).
    "for i in /etc/profile.d/*.sh; do\n  if [ -r $i ]; then\n    . $i\n  fi\ndone\n",
    "for i in $(run-parts --list --regex '^[a-zA-Z0-9_][a-zA-Z0-9._-]*\\.sh$' /etc/profile.d); do\n"
    "  if [ -r $i ]; then\n    . $i\n  fi\ndone\n",
)
def test_how_debian_lists_the_files_of_the_system(profile):
    machine = host().file("/etc/profile", profile).file(SITE, f"umask 077\n{BAD}")
    findings = judged(machine)
    assert [findings[name].status for name in ("umask", "environment")] == ["fail", "fail"]


def test_a_condition_runs_what_it_reads():
    machine = host().file(f"{HOME}/.bashrc", "if . ~/.x; then\nA=1\nfi\n")
    assert judged(machine.file(f"{HOME}/.x", BAD))["silent_start"].status in ("fail", "warn")


def test_what_an_account_does_not_read_is_no_error():
    machine = host().file(f"{HOME}/.bash_profile", "A=1\n").file(f"{HOME}/.profile", ". ~/.x\n")
    assert judged(machine.deny(f"{HOME}/.x"))["environment"].status == "pass"


@cases("names status", ("a\\ b.sh\n", "fail"), ("a\\nb.sh\n", "error"), ("", "pass"))
def test_names_as_ls_writes_them(names, status):
    machine = host().command("ls -1Apb /opt", names).command("cat /opt/a b.sh", BAD)
    machine.file(f"{HOME}/.bash_profile", "for f in /opt/*.sh; do . $f; done\n")
    assert judged(machine)["environment"].status == status


def test_the_number_of_tried_files_is_bounded():
    names = "".join(f"n{number}\n" for number in range(600))
    machine = host().command("ls -1Apb /opt", names).file(f"{HOME}/.bashrc", "")
    machine.file(f"{HOME}/.bash_profile", "for f in /opt/n*; do . $f; done\n. /opt/m*\n" * 20)
    assert judged(machine)["environment"].status == "error"
    assert len([key for key in machine.evidence if key.startswith("command:cat /opt/")]) <= 100


def test_a_variable_that_is_set_is_a_failure_beside_a_file_that_is_not_read():
    machine = host().file(f"{HOME}/.bash_profile", BAD).deny(f"{HOME}/.bashrc")
    finding = judged(machine)["environment"]
    assert finding.status == "fail" and "Not known: start files" in finding.why


def test_bash_reads_a_file_of_the_system_over_ssh():
    machine = host().file("/etc/bash.bashrc", "echo hello\n").file(f"{HOME}/.bashrc", "A=1\n")
    finding = judged(machine)["silent_start"]
    assert (finding.status, finding.why) == ("fail", "/etc/bash.bashrc runs echo.")
    machine.evidence.clear()
    machine.file("/etc/bash.bashrc", '[ -z "$PS1" ] && return\necho hello\n')
    assert judged(machine)["silent_start"].status == "pass"


#: From aaa_base of openSUSE, https://github.com/openSUSE/aaa_base, shortened to what reads files.
SUSE = {
    "/etc/profile": (
        'if test -z "$PROFILEREAD" ; then\n    readonly PROFILEREAD=true\n'
        "    for s in /etc/profile.d/*.sh ; do\n\ttest -r $s && . $s\n    done\nfi\n"
        'if test "$is" = "bash" -a -z "$_SOURCED_FOR_SSH" ; then\n    . /etc/bash.bashrc\nfi\n'
    ),
    "/etc/bash.bashrc": 'if test -z "$PROFILEREAD" ; then\n    . /etc/profile\nfi\n',
    f"{HOME}/.profile": 'test -z "$PROFILEREAD" && . /etc/profile || true\n',
    f"{HOME}/.bashrc": "test -s ~/.alias && . ~/.alias || true\n",
}


@cases("more status", ("", "pass"), ("umask 022\n", "pass"), ("umask 077\n", "fail"))
def test_start_files_of_suse_that_read_each_other(more, status):
    machine = host().remove("/etc/bashrc")
    for path, text in SUSE.items():
        machine.file(path, text + (more if path.endswith("/.profile") else ""))
    findings = judged(machine)
    assert [findings[name].status for name in ("umask", "silent_start", "environment")] == [
        *(status, "pass", "pass")
    ]


@cases(
    "profile others status sources",
    # A file that another one reads: the last that sets the umask wins.
    (". ~/.db_env\n", {".db_env": "umask 077\n"}, "fail", ".db_env"),
    ("source $HOME/.env\n", {".env": "umask 077\n"}, "fail", ".env"),
    ('[ -f "${HOME}/.env" ] && . "${HOME}/.env"\n', {".env": "umask 027\n"}, "fail", ".env"),
    ("umask 077\n. /home/oracle/.db_env\n", {".db_env": "umask 022\n"}, "pass", ".db_env"),
    (". ~/.db_env\numask 022\n", {".db_env": "umask 077\n"}, "pass", ".bash_profile"),
    (". ~/.a\n", {".a": ". ~/.b\n", ".b": "umask 027\n"}, "fail", ".b"),
    (". ~/.bashrc\n", {".bashrc": "umask 027\n"}, "fail", ".bashrc"),
    ("PATH=/x\n", {".bashrc": "umask 027\n"}, "pass", "/etc/profile"),
    (". ~/.bashrc\numask 022\n", {".bashrc": "umask 027\n"}, "pass", ""),
    (". ~/.gone\n", {}, "pass", "/etc/profile"),
    (". $SCRIPTS/env.sh\n", {}, "error", "only the shell knows"),
    (". $SCRIPTS/env.sh\numask 022\n", {}, "pass", ".bash_profile"),
    ("umask 022; . ./env\n", {}, "error", "only the shell knows"),
    (". oraenv\n. /usr/local/bin/oraenv\n", {}, "pass", "/etc/profile"),
    ("umask 022\n. ~/.bash_profile\n", {}, "error", "is read by itself"),
    (". ~/.bash_profile\n" * 60, {}, "pass", "/etc/profile"),
    (". ~/.a\n" * 60, {".a": ". ~/.b\n" * 60, ".b": "A=1\n"}, "error", "more than 1000 times"),
    (". ~/.1\n", {f".{n}": f". ~/.{n + 1}\n" for n in range(1, 7)}, "error", "6 deep"),
    ("test -r ~/.a && source ~/.a\n", {".a": "umask 077\n"}, "fail", ".a"),
    ("if x; then . ~/.a; fi\n", {".a": "umask 077\n"}, "warn", ".a"),
    ("if [ -f ~/.a ]; then\n. ~/.a\nelse\n. ~/.b\nfi\n", {".b": "umask 077\n"}, "warn", ".b"),
    ("for f in ~/.a ~/.b; do [ -r $f ] && . $f; done\n", {".b": "umask 077\n"}, "fail", ".b"),
    ("(. ~/.a)\nX=$(. ~/.a; echo x)\n", {".a": "umask 077\n"}, "pass", ""),
    ("f() {\n. ~/.a\n}\nf\n", {".a": "umask 077\n"}, "fail", ".a"),
    ("MSG='\n. ~/.a\n'\n", {".a": "umask 077\n"}, "pass", ""),
)
def test_files_that_start_files_read(profile, others, status, sources):
    machine, files = instance(host()), {".bash_profile": profile, **others}
    for name, text in files.items():
        machine.file(f"/home/oracle/{name}", text)
    finding = judged(machine)["umask"]
    assert (finding.status, sources in f"{finding.persisted} {finding.why}") == (status, True)
    if status == "fail":
        assert finding.fix == f"set umask 022 in /home/oracle/{sources}"
    for text in files.values():
        assert shell_profile.parse(shell_profile.kept(text)) == shell_profile.parse(text)


def test_a_file_that_is_not_read_is_unknown_unless_an_instance_is_wrong():
    def machine(mask):
        profile = host().file("/home/oracle/.bash_profile", ". ~/.db_env\n")
        return instance(profile, mask).deny("/home/oracle/.db_env")

    assert judged(machine("0022"))["umask"].status == "error"
    finding = judged(machine("0077"))["umask"]
    assert (finding.status, finding.failing_layer) == ("fail", "in_use")
    assert "UMask=0022 in the unit" in finding.fix


#: /etc/bashrc of EL 8 sets the umask only for a shell that is not one of a login.
BASHRC = "if ! shopt -q login_shell ; then\n" + STOCK + "fi\n"
LOOP = 'for i in /etc/profile.d/*.sh /etc/profile.d/sh.local ; do\n  . "$i" >/dev/null\ndone\n'
OWN = {".bash_profile": ". ~/.bashrc\n", ".bashrc": ". /etc/bashrc\n"}


@cases(
    "profile site status place",
    (STOCK + LOOP, {"cis.sh": "umask 027\n"}, "fail", "027 (/etc/profile.d/cis.sh)"),
    (STOCK + LOOP, {"sh.local": "umask 077\n"}, "fail", "077 (/etc/profile.d/sh.local)"),
    (LOOP + STOCK, {"cis.sh": "umask 027\n"}, "pass", "022 (/etc/profile)"),
    (STOCK + LOOP, {"cis.sh": "PATH=$PATH:/x\n"}, "pass", "022 (/etc/profile)"),
    ("umask 027\n" + LOOP, {"cis.sh": "umask 022\n"}, "pass", "022 (/etc/profile.d/cis.sh)"),
    (STOCK + LOOP + ". /opt/site.env\n", {}, "fail", "077 (/opt/site.env)"),
)
def test_the_file_of_the_system_that_decides(profile, site, status, place):
    """Real bash 5.2 gives 0027 for the first: tests/fixtures are the files of EL 8."""
    machine = host().file("/etc/profile", profile).file("/etc/bashrc", BASHRC)
    machine.file("/opt/site.env", "umask 077\n")
    for name, text in OWN.items():
        machine.file(f"/home/oracle/{name}", text)
    for name, text in site.items():
        machine.file(f"/etc/profile.d/{name}", text)
    finding = judged(machine)["umask"]
    assert (finding.status, finding.persisted) == (status, place)
    if status == "fail":
        assert finding.fix == "add the line umask 022 at the end of /home/oracle/.bash_profile"


@cases(
    "gecos pam group masks",
    ("", "session optional pam_umask.so umask=0077\n", "oinstall", "0077 (/etc/pam.d/sshd)"),
    ("", "session optional pam_umask.so\n", "oinstall", "022 (/etc/login.defs)"),
    ("", "#session optional pam_umask.so umask=027\n", "oinstall", "022 (/etc/login.defs)"),
    ("Oracle,umask=027", "", "oinstall", "027 (umask= of oracle in /etc/passwd)"),
    ("umask=022", "session optional pam_umask.so umask=077\n", "oinstall", "022 (umask= of"),
    ("", "-session  required  pam_umask.so nousergroups umask=002\n", "dba", "002 (/etc/pam.d"),
    # Neither module nor gecos distinguish letters; a comment counts nowhere; the last counts.
    ("", "SESSION optional pam_umask.so UMASK=077\n", "dba", "077 (/etc/pam.d/sshd)"),
    ("Oracle,,UMASK=027,", "", "dba", "027 (umask= of"),
    ("", "session optional pam_umask.so # umask=077\n", "dba", "022 (/etc/login.defs)"),
    ("", "session optional pam_umask.so umask=077 umask=022\n", "dba", "022 (/etc/pam.d"),
    ("", "session optional pam_umask.so umask=022 usergroups\n", "oracle", "002 (/etc/pam.d"),
    ("", "session [default=1 success=ok] pam_umask.so \\\n  umask=027\n", "dba", "027 (/etc"),
)
def test_umask_of_pam_and_of_the_account(gecos, pam, group, masks):
    machine = host(group).file("/etc/profile", "").file("/etc/pam.d/sshd", pam)
    machine.file("/etc/login.defs", "UMASK 022\n")
    line = f"oracle:x:54321:54321:{gecos}:/home/oracle:/bin/bash\n"
    finding = judged(machine.command("getent passwd oracle", line))["umask"]
    assert masks in finding.persisted
    assert finding.status == ("pass" if masks.startswith("022") else "fail")
    # The start files of a shell come later.
    machine = host(group).file("/etc/profile", "umask 022\n").file("/etc/pam.d/sshd", pam)
    assert judged(machine.command("getent passwd oracle", line))["umask"].status == "pass"


@cases(
    "files status persisted",
    # Each service has the last line of its stack.
    ({"sshd": "x", "x": "umask=077"}, "fail", "077 (/etc/pam.d/x)"),
    ({"sshd": "x", "x": "", "vsftpd": "umask=077"}, "fail", "027 (/etc/login.defs)"),
    ({"sshd": "x", "x": "", "su": "umask=022"}, "warn", "027 (/etc/login.defs); 022 (/etc/"),
    ({"sshd": "umask=077 x", "x": "umask=022"}, "pass", "022 (/etc/pam.d/x)"),
    ({"sshd": "x umask=022", "x": "umask=077"}, "pass", "022 (/etc/pam.d/sshd)"),
    ({"sshd": "sshd x", "x": "umask=022"}, "pass", "022 (/etc/pam.d/x)"),
)
def test_umask_of_the_services_of_a_login(files, status, persisted):
    """A word is an include; umask= is an argument of pam_umask, and "" is a line without it."""
    machine = host().file("/etc/profile", "").file("/etc/login.defs", "UMASK 027\n")
    for name, words in files.items():
        rows = [
            f"session optional pam_umask.so {word}"
            if not word or "=" in word
            else f"@include {word}"
            for word in words.split(" ")
        ]
        machine.file(f"/etc/pam.d/{name}", "\n".join(rows) + "\n")
    finding = judged(machine)["umask"]
    assert (finding.status, persisted in finding.persisted) == (status, True)


@cases(
    "bashrc status command",
    ("PATH=/x\n", "pass", ""),
    ('echo "Welcome"\n', "fail", "echo"),
    ("stty erase ^H\n", "fail", "stty"),
    ("if [ -t 0 ]; then\n  stty intr ^C\nfi\n", "pass", ""),
    ("[ -t 1 ] && echo hi\n", "pass", ""),
    ('[ -z "$PS1" ] && return\necho hi\n', "pass", ""),
    ("case $- in\n  *i*) ;;\n  *) return;;\nesac\necho hi\n", "pass", ""),
    ("if [ -f /etc/motd ]; then cat /etc/motd; fi\n", "warn", "cat"),
    ("show() {\n  echo hi\n}\n", "pass", ""),
    ("echo x >/dev/null\nA=$(hostname)\nalias a='echo x'\n", "pass", ""),
    (". oraenv\n", "fail", "oraenv"),
    (". oraenv >/dev/null\n", "pass", ""),
    (". ~/.env\n", "fail", "printf"),
    (". ~/.env >/dev/null\n", "pass", ""),
    (". $X/env\n", "error", "only the shell knows"),
    (". $X/env\numask 022\n", "error", "only the shell knows"),
    # Text of a session without a terminal alone.
    ("if [[ $- != *i* ]]; then\n  echo batch\nfi\n", "fail", "echo"),
    ("[ -t 0 ] || echo batch\n", "fail", "echo"),
    ('[ -z "$PS1" ] && echo batch\n', "fail", "echo"),
    ("tty -s || hostname\n", "fail", "hostname"),
    ("if [ -t 1 ]; then\n  x=1\nelse\n  echo batch\nfi\n", "fail", "echo"),
    ("case $- in\n  *i*) echo a;;\n  *) echo b;;\nesac\n", "fail", "echo"),
    ("case $- in *i*) ;; *) echo b;; esac\n", "fail", "echo"),
    ('[ -n "$PS1" ] && return\necho batch\n', "fail", "echo"),
    ("case $- in *i*) return;; esac\necho batch\n", "fail", "echo"),
    ("if [ ! -t 0 ]; then return; fi\necho hi\n", "pass", ""),
    ("[[ $- == *i* ]] || return\necho hi\n", "pass", ""),
    ("[[ $- != *i* ]] && return\necho hi\n", "pass", ""),
    ('if [ "${-#*i}" != "$-" ]; then\n  echo hi\nfi\n', "pass", ""),
    ("if tty -s; then\n  echo hi\nelif x; then\n  y=1\nfi\n", "pass", ""),
    ("MSG='\necho hi\n'\n", "pass", ""),
    ("A=$(\necho x\n)\n", "pass", ""),
    ("(\necho x\n)\n", "fail", "echo"),
    ("show() {\n  echo hi\n}\nshow\n", "fail", "echo"),
    ("[ -t 0 ] && show() { echo hi; }\nx=show\n", "pass", ""),
)
def test_what_start_files_print(bashrc, status, command):
    machine = host().file("/home/oracle/.bashrc", bashrc)
    machine.file("/home/oracle/.env", "printf 'SID: %s\\n' $ORACLE_SID\n")
    finding = judged(machine)["silent_start"]
    assert (finding.status, command in f"{finding.why} {finding.persisted}") == (status, True)
    if status in ("fail", "warn"):
        assert f"put {command} in /home/oracle/" in finding.fix and "[ -t 0 ]" in finding.fix
    assert shell_profile.parse(shell_profile.kept(bashrc)) == shell_profile.parse(bashrc)


def test_a_recording_without_output_is_unknown():
    machine = host().file("/home/oracle/.bashrc", "umask 022")
    assert judged(machine)["silent_start"].status == "error"
    machine = host().command("getent passwd oracle", "oracle:x:1:1::/home/oracle:/bin/ksh93\n")
    machine.file("/home/oracle/.bashrc", "echo hi\n")
    assert judged(machine)["silent_start"].status == "skip"


def test_ksh_reads_profile_and_env():
    def machine():
        line = "oracle:x:54321:54321::/home/oracle:/bin/ksh93\n"
        one = host().command("getent passwd oracle", line)
        return one.file("/home/oracle/.bash_profile", "umask 022\n")

    finding = judged(machine().file("/etc/profile", "umask 027\n"))["umask"]
    assert finding.fix == "add the line umask 022 at the end of /home/oracle/.profile"
    one = machine().file("/home/oracle/.profile", "export ENV=$HOME/.kshrc\n")
    finding = judged(one.file("/home/oracle/.kshrc", "umask 077\n"))["umask"]
    assert (finding.status, finding.fix) == ("fail", "set umask 022 in /home/oracle/.kshrc")
    one = machine().file("/etc/profile", "ENV=$HOME/.kshrc\n").file("/home/oracle/.profile", "")
    assert judged(one.file("/home/oracle/.kshrc", "umask 077\n"))["umask"].status == "fail"


@cases(
    "path stat status fix",
    ("/bin/bash", None, "fail", "install the package that has /bin/bash"),
    ("/bin/bash", "regular file 0 644\n", "fail", "usermod -s /bin/bash oracle"),
    ("/bin/bash", "directory 0 755\n", "fail", "usermod -s /bin/bash oracle"),
    ("/bin/bash", "?\n", "error", ""),
    ("/home/oracle", None, "fail", "mount the file system of /home/oracle if there is one"),
    ("/home/oracle", "regular file 54321 700\n", "fail", "set a directory as the home"),
    ("/home/oracle", "directory 54331 700\n", "fail", "(chown oracle /home/oracle)"),
    ("/home/oracle", "directory 0 755\n", "warn", "(chown oracle /home/oracle)"),
    ("/home/oracle", "directory 54321 1750\n", "pass", ""),
)
def test_the_files_of_shell_and_home(path, stat, status, fix):
    machine = host().command(f"stat -L -c %F %u %a {path}", stat or "")
    if stat is None:
        machine.commands.pop(f"stat -L -c %F %u %a {path}")
    finding = judged(machine)["exists"]
    assert (finding.status, fix in (finding.fix or "")) == (status, True)


def in_zone(profile, zone="Europe/Berlin"):
    """A host in a time zone, whose account oracle has this .bash_profile."""
    machine = host().file("/home/oracle/.bash_profile", profile)
    machine.file(f"/usr/share/zoneinfo/{zone}", "TZif2")
    return machine.link("/etc/localtime", f"/usr/share/zoneinfo/{zone}").command(
        "uname -n", "db1\n"
    )


OTHER = "TZ=UTC (/home/oracle/.bash_profile), and the system has Europe/Berlin."


@cases(
    "profile status why",
    ("export TZ=UTC\n", "warn", OTHER),
    ("TZ='UTC'; export TZ\n", "warn", OTHER),
    ("if a; then export LANG=C TZ=UTC; fi\n", "warn", OTHER),
    ("export TZ=Europe/Berlin\n", "pass", ""),
    ('export TZ=":Europe/Berlin"\n', "pass", ""),
    ("TZ=/usr/share/zoneinfo/Europe/Berlin LANG=C\n", "pass", ""),
    ("export TZ=:/etc/localtime\n", "pass", ""),
    ("export TZ=\n", "warn", "the system has Europe/Berlin"),
    ("declare -gx TZ=UTC\n", "warn", OTHER),
    ("export 'TZ=UTC'\n", "warn", OTHER),
    ("export 'ORA_CRS_HOME=/u01'\n", "fail", "ORA_CRS_HOME"),
    ("test x||ORA_CRS_HOME=/u01\n", "fail", "ORA_CRS_HOME"),
    ("a && TZ=UTC; TZ=Europe/Berlin\n", "warn", "TZ=UTC, Europe/Berlin"),
    ("TZ=UTC date\nalias now='TZ=UTC date'\n# TZ=UTC\n", "pass", ""),
    ("export TZ=$(cat /etc/timezone)\n", "error", "only the shell knows"),
    ("TZ=`cat /etc/timezone`; export TZ\n", "error", "only the shell knows"),
    ("TZ=UTC\nORA_CRS_HOME=/u01\n", "fail", "ORA_CRS_HOME"),
)
def test_time_zone_of_start_files(profile, status, why):
    finding = judged(in_zone(profile))["environment"]
    assert (finding.status, why in finding.why) == (status, True)
    kept = shell_profile.kept(profile)
    assert "timezone" not in kept and shell_profile.parse(kept) == shell_profile.parse(profile)


def test_etc_utc_is_utc_and_the_last_file_decides():
    machine = in_zone("export TZ=Etc/UTC\n", "UTC")
    assert judged(machine)["environment"].status == "pass"
    machine = in_zone("", "UTC").file("/etc/profile.d/zone.sh", "export TZ=Asia/Tokyo\n")
    assert "Asia/Tokyo (/etc/profile.d/zone.sh)" in judged(machine)["environment"].why
    machine.file("/home/oracle/.bash_profile", "export TZ=UTC\n").evidence.clear()
    assert judged(machine)["environment"].status == "pass"


def test_a_system_zone_that_is_not_known():
    machine = in_zone("export TZ=UTC\n").remove("/etc/localtime").file("/etc/localtime", "TZif2")
    assert judged(machine)["environment"].status == "error"


def test_time_zone_of_clusterware():
    machine = in_zone("export TZ=Europe/Berlin\n")
    machine.file("/etc/oracle/olr.loc", "crs_home=/u01/grid\n")
    assert judged(machine)["environment"].status == "pass"
    path = "/u01/grid/crs/install/s_crsconfig_db1_env.txt"
    machine.file(path, "NLS_LANG=any\nTZ=America/New_York\n")
    machine.evidence.clear()
    finding = judged(machine)["environment"]
    assert finding.status == "warn"
    assert finding.why.startswith(
        "TZ=Europe/Berlin (/home/oracle/.bash_profile), and Clusterware has America/New_York."
    )


@cases(
    "stat group status",
    ("54321 54321 770\n", "oinstall", "pass"),
    ("54321 54321 770\n", "dba", "warn"),
    ("0 0 755\n", "oinstall", "fail"),
    ("54321 54321 777\n", "oinstall", "fail"),
    ("54321 54321 555\n", "oinstall", "fail"),
    ("0 54322 770\n", "oinstall", "pass"),
    ("0 54322 750\n", "oinstall", "fail"),
    ("x\n", "oinstall", "error"),
)
def test_inventory(stat, group, status):
    machine = host().command("id -G oracle", "54321 54322\n")
    assert judged(inventory(machine, stat, group))["inventory"].status == status


@cases(
    "group status why",
    ("install", "pass", None),
    ("dba", "pass", None),
    ("oinstall", "fail", "inst_group is oinstall, not dba or install."),
)
def test_inventory_and_the_groups_of_the_policy(group, status, why):
    accounts = [{"name": "oracle", "group": "install"}, {"name": "grid", "group": "dba"}]
    finding = judged(inventory(host(), "54321 54321 770\n", group), accounts=accounts)["inventory"]
    assert finding.status == status
    assert finding.desired.partition(",")[0] == "inst_group dba or install"
    assert why is None or finding.why == why


@cases(
    "text why",
    ("inventory_loc=/u01/oraInventory\n", "/etc/oraInst.loc has no inst_group"),
    ("inventory_loc=/u01/oraInventär\ninst_group=oinstall\n", "characters that are not ASCII"),
    ("inventory_loc=/u01/ora~Inventory\ninst_group=oinstall\n", None),
)
def test_inventory_by_its_pointer(text, why):
    machine = host().file("/etc/oraInst.loc", text)
    path = text.partition("=")[2].partition("\n")[0]
    machine.command(f"stat -L -c %u %g %a {path}", "54321 54321 770\n")
    finding = judged(machine)["inventory"]
    assert (finding.status, why is None or why in finding.why) == ("fail" if why else "pass", True)


@cases("home", "relative", "/home/\x01oracle")
def test_start_files_of_a_home_that_is_no_path(home):
    machine = host().command("getent passwd oracle", f"oracle:x:54321:54321::{home}:/bin/bash\n")
    findings = judged(machine)
    assert not [key for key in machine.evidence if ".bash_profile" in key]
    assert findings["umask"].status in ("pass", "error")


@cases("line", "inventory_loc=/u02/oraInventory", "inst_group=dba")
def test_a_pointer_to_two_inventories(line):
    machine = inventory(host(), "54321 54321 770\n")
    text = machine.files["/etc/oraInst.loc"]
    finding = judged(machine.file("/etc/oraInst.loc", text + line + "\n"))["inventory"]
    assert finding.status == "error"


def test_inventory_without_the_grid_home():
    machine = inventory(host(), "54321 54321 770\n")
    machine.file("/etc/oracle/olr.loc", "crs_home=/u01/grid\n")
    home = '<HOME NAME="g" LOC="{0}" TYPE="O" CRS="true"/>'
    path = "/u01/oraInventory/ContentsXML/inventory.xml"
    machine.file(path, f"<INVENTORY>{home.format('/u01/grid')}</INVENTORY>")
    assert judged(machine)["inventory"].status == "pass"
    machine.file(path, f"<INVENTORY>{home.format('/u01/old')}</INVENTORY>").evidence.clear()
    assert judged(machine)["inventory"].status == "fail"


def names(plan):
    return [change.name for change in plan.changes]


def state(change, text):
    return command.state_of(change.look, command.Output(0 if text else 2, text, ""))


def test_plan_creates_what_is_missing():
    plan = plan_of(bare(), **POLICY)
    assert names(plan) == ["group oinstall", "group dba", "account oracle"] and plan.refusals == []
    group, _, account = plan.changes
    assert [state(group, text) for text in ("", "oinstall:x:54321:a,b\n")] == ["", "54321"]
    line = "oracle:x:54321:54321::/home/oracle:/bin/bash\n"
    assert [state(account, text) for text in ("", line)] == [account.before, account.after]
    assert not any("-r" in step.argv for step in account.undo)
    assert plan_of(host("oinstall", "dba"), **POLICY).changes == []


def test_plan_adds_memberships():
    plan = plan_of(host("oinstall"), **POLICY)
    (change,) = plan.changes
    assert change.name == "oracle in group dba"
    assert plan.pending == ["Sessions and instances of oracle get new groups at a new login."]
    assert plan_of(host("oinstall", "dba"), **POLICY).pending == []
    for members, expected in (
        ("", ""),
        ("oracle", "oracle"),
        ("oracle2", ""),
        ("a,oracle", "oracle"),
    ):
        assert state(change, f"dba:x:54322:{members}\n") == expected


def test_plan_without_a_list_changes_nothing():
    plan = plan_of(bare(), profile="rac_asm")
    assert (plan.changes, "accounts_accounts" in plan.pending[0]) == ([], True)


@cases(
    "machine reason",
    (host().command("getent passwd oracle", "oracle:x:500:1::/:/bin/sh\n"), "uid is never"),
    (host().group("dba", 700), "A gid is never changed"),
    (bare().group("54322", 54322), "gid 54322 belongs to"),
    (bare().account("other", 54321, "x"), "uid 54321 belongs to the account other"),
)
def test_guards(machine, reason):
    refusals = plan_of(machine, **POLICY).refusals
    assert any(reason in refusal.reason and refusal.override is None for refusal in refusals)


def test_a_group_that_nobody_creates_is_refused():
    (refusal,) = plan_of(bare().group("oinstall", 54321), **{**POLICY, "groups": []}).refusals
    assert "The group dba does not exist: add it" in refusal.reason
    (refusal,) = plan_of(bare(), **{**POLICY, "groups": []}).refusals
    assert "The groups oinstall, dba do not exist: add them to" in refusal.reason


@cases(
    "policy",
    {"groups": [{"name": "-g"}]},
    {"groups": [{"name": "a b"}]},
    {"groups": [{"name": "a", "gid": 0}]},
    {"groups": [{"name": "a", "gid": 700}, {"name": "b", "gid": 700}]},
    {"accounts": [{"name": "root"}]},
    {"accounts": [{"name": "a", "uid": 5}]},
    {"accounts": [{"name": "a", "groups": ["$(x)"]}]},
    {"accounts": [{"name": "a", "home": "/home/../etc"}]},
    {"accounts": [{"name": "a", "home": "relative"}]},
    {"accounts": "oracle"},
)
def test_bad_policies(policy):
    with pytest.raises(PolicyError, match=re.compile("accounts_(groups|accounts)")):
        plan_of(bare(), **policy)

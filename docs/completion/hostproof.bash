# Completion of hostproof for bash. Made from the table of verbs: python -m hostproof_controller.cli.pages
# shellcheck shell=bash
_hostproof_word() {
  [[ $current == -* ]] && mapfile -t COMPREPLY < <(compgen -W "$1" -- "$current")
}

_hostproof_of() {
  mapfile -t COMPREPLY < <(compgen -W "$("$@")" -- "$current")
}

_hostproof_paths() {
  mapfile -t COMPREPLY < <(compgen "$1" -- "$current")
  compopt -o filenames 2>/dev/null
}

_hostproof_checks() {
  sed -n 's/^### \([a-z0-9_]*\.[a-z0-9_]*\)$/\1/p' "$root"/docs/controls/*.md 2>/dev/null
}

_hostproof_controls() {
  ls "$root/roles" 2>/dev/null
}

_hostproof() {
  local current=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} root
  root=$(type -P -- "${COMP_WORDS[0]/#\~/$HOME}")
  root=$(dirname -- "$(readlink -f -- "$root")")
  COMPREPLY=()
  if [[ $COMP_CWORD == 1 ]]; then
    _hostproof_of echo 'audit verify apply revert baseline compare record detect_storage init report diff history sign verify-report checks explain completion collection test help --help --version'
    return
  fi
  case ${COMP_WORDS[1]}/$before in
    audit/--evidence) _hostproof_paths -d ;;
    audit/--waivers) _hostproof_paths -f ;;
    audit/--slices) true ;;
    audit/--slice-nodes) _hostproof_paths -f ;;
    audit/-i|audit/--inventory) _hostproof_paths -f ;;
    audit/-l|audit/--limit) true ;;
    audit/-t|audit/--tags) _hostproof_of _hostproof_controls ;;
    audit/--skip-tags) _hostproof_of _hostproof_controls ;;
    audit/-e|audit/--extra-vars) true ;;
    audit/-f|audit/--forks) true ;;
    audit/--inventory-file) _hostproof_paths -f ;;
    audit/--private-key|audit/--key-file) _hostproof_paths -f ;;
    audit/-u|audit/--user) true ;;
    audit/-c|audit/--connection) true ;;
    audit/-T|audit/--timeout) true ;;
    audit/--ssh-common-args) true ;;
    audit/--sftp-extra-args) true ;;
    audit/--scp-extra-args) true ;;
    audit/--ssh-extra-args) true ;;
    audit/--connection-password-file|audit/--conn-pass-file) _hostproof_paths -f ;;
    audit/--become-method) true ;;
    audit/--become-user) true ;;
    audit/--become-password-file|audit/--become-pass-file) _hostproof_paths -f ;;
    audit/--vault-id) true ;;
    audit/--vault-password-file|audit/--vault-pass-file) _hostproof_paths -f ;;
    audit/-M|audit/--module-path) true ;;
    audit/--start-at-task) true ;;
    audit/*) _hostproof_word '--evidence --waivers --strict --slices --slice-nodes -i --inventory -l --limit -t --tags --skip-tags -e --extra-vars -C --check -D --diff -b --become -K --ask-become-pass -f --forks -v --verbose --inventory-file --private-key --key-file -u --user -c --connection -T --timeout --ssh-common-args --sftp-extra-args --scp-extra-args --ssh-extra-args -k --ask-pass --connection-password-file --conn-pass-file --force-handlers --become-method --become-user --become-password-file --become-pass-file --list-hosts --flush-cache --vault-id -J --ask-vault-password --ask-vault-pass --vault-password-file --vault-pass-file -M --module-path --syntax-check --list-tasks --list-tags --step --start-at-task --version -h --help' || true ;;
    verify/--waivers) _hostproof_paths -f ;;
    verify/-i|verify/--inventory) _hostproof_paths -f ;;
    verify/-l|verify/--limit) true ;;
    verify/-t|verify/--tags) _hostproof_of _hostproof_controls ;;
    verify/--skip-tags) _hostproof_of _hostproof_controls ;;
    verify/-e|verify/--extra-vars) true ;;
    verify/-f|verify/--forks) true ;;
    verify/--inventory-file) _hostproof_paths -f ;;
    verify/--private-key|verify/--key-file) _hostproof_paths -f ;;
    verify/-u|verify/--user) true ;;
    verify/-c|verify/--connection) true ;;
    verify/-T|verify/--timeout) true ;;
    verify/--ssh-common-args) true ;;
    verify/--sftp-extra-args) true ;;
    verify/--scp-extra-args) true ;;
    verify/--ssh-extra-args) true ;;
    verify/--connection-password-file|verify/--conn-pass-file) _hostproof_paths -f ;;
    verify/--become-method) true ;;
    verify/--become-user) true ;;
    verify/--become-password-file|verify/--become-pass-file) _hostproof_paths -f ;;
    verify/--vault-id) true ;;
    verify/--vault-password-file|verify/--vault-pass-file) _hostproof_paths -f ;;
    verify/-M|verify/--module-path) true ;;
    verify/--start-at-task) true ;;
    verify/*) _hostproof_word '--waivers --strict -i --inventory -l --limit -t --tags --skip-tags -e --extra-vars -C --check -D --diff -b --become -K --ask-become-pass -f --forks -v --verbose --inventory-file --private-key --key-file -u --user -c --connection -T --timeout --ssh-common-args --sftp-extra-args --scp-extra-args --ssh-extra-args -k --ask-pass --connection-password-file --conn-pass-file --force-handlers --become-method --become-user --become-password-file --become-pass-file --list-hosts --flush-cache --vault-id -J --ask-vault-password --ask-vault-pass --vault-password-file --vault-pass-file -M --module-path --syntax-check --list-tasks --list-tags --step --start-at-task --version -h --help' || true ;;
    apply/--waivers) _hostproof_paths -f ;;
    apply/-i|apply/--inventory) _hostproof_paths -f ;;
    apply/-l|apply/--limit) true ;;
    apply/-t|apply/--tags) _hostproof_of _hostproof_controls ;;
    apply/--skip-tags) _hostproof_of _hostproof_controls ;;
    apply/-e|apply/--extra-vars) true ;;
    apply/-f|apply/--forks) true ;;
    apply/--inventory-file) _hostproof_paths -f ;;
    apply/--private-key|apply/--key-file) _hostproof_paths -f ;;
    apply/-u|apply/--user) true ;;
    apply/-c|apply/--connection) true ;;
    apply/-T|apply/--timeout) true ;;
    apply/--ssh-common-args) true ;;
    apply/--sftp-extra-args) true ;;
    apply/--scp-extra-args) true ;;
    apply/--ssh-extra-args) true ;;
    apply/--connection-password-file|apply/--conn-pass-file) _hostproof_paths -f ;;
    apply/--become-method) true ;;
    apply/--become-user) true ;;
    apply/--become-password-file|apply/--become-pass-file) _hostproof_paths -f ;;
    apply/--vault-id) true ;;
    apply/--vault-password-file|apply/--vault-pass-file) _hostproof_paths -f ;;
    apply/-M|apply/--module-path) true ;;
    apply/--start-at-task) true ;;
    apply/*) _hostproof_word '--waivers --strict --gate -i --inventory -l --limit -t --tags --skip-tags -e --extra-vars -C --check -D --diff -b --become -K --ask-become-pass -f --forks -v --verbose --inventory-file --private-key --key-file -u --user -c --connection -T --timeout --ssh-common-args --sftp-extra-args --scp-extra-args --ssh-extra-args -k --ask-pass --connection-password-file --conn-pass-file --force-handlers --become-method --become-user --become-password-file --become-pass-file --list-hosts --flush-cache --vault-id -J --ask-vault-password --ask-vault-pass --vault-password-file --vault-pass-file -M --module-path --syntax-check --list-tasks --list-tags --step --start-at-task --version -h --help' || true ;;
    revert/--waivers) _hostproof_paths -f ;;
    revert/--gate) _hostproof_paths -d ;;
    revert/-i|revert/--inventory) _hostproof_paths -f ;;
    revert/-l|revert/--limit) true ;;
    revert/-t|revert/--tags) _hostproof_of _hostproof_controls ;;
    revert/--skip-tags) _hostproof_of _hostproof_controls ;;
    revert/-e|revert/--extra-vars) true ;;
    revert/-f|revert/--forks) true ;;
    revert/--inventory-file) _hostproof_paths -f ;;
    revert/--private-key|revert/--key-file) _hostproof_paths -f ;;
    revert/-u|revert/--user) true ;;
    revert/-c|revert/--connection) true ;;
    revert/-T|revert/--timeout) true ;;
    revert/--ssh-common-args) true ;;
    revert/--sftp-extra-args) true ;;
    revert/--scp-extra-args) true ;;
    revert/--ssh-extra-args) true ;;
    revert/--connection-password-file|revert/--conn-pass-file) _hostproof_paths -f ;;
    revert/--become-method) true ;;
    revert/--become-user) true ;;
    revert/--become-password-file|revert/--become-pass-file) _hostproof_paths -f ;;
    revert/--vault-id) true ;;
    revert/--vault-password-file|revert/--vault-pass-file) _hostproof_paths -f ;;
    revert/-M|revert/--module-path) true ;;
    revert/--start-at-task) true ;;
    revert/*) _hostproof_word '--waivers --strict --gate -i --inventory -l --limit -t --tags --skip-tags -e --extra-vars -C --check -D --diff -b --become -K --ask-become-pass -f --forks -v --verbose --inventory-file --private-key --key-file -u --user -c --connection -T --timeout --ssh-common-args --sftp-extra-args --scp-extra-args --ssh-extra-args -k --ask-pass --connection-password-file --conn-pass-file --force-handlers --become-method --become-user --become-password-file --become-pass-file --list-hosts --flush-cache --vault-id -J --ask-vault-password --ask-vault-pass --vault-password-file --vault-pass-file -M --module-path --syntax-check --list-tasks --list-tags --step --start-at-task --version -h --help' || true ;;
    baseline/--waivers) _hostproof_paths -f ;;
    baseline/-i|baseline/--inventory) _hostproof_paths -f ;;
    baseline/-l|baseline/--limit) true ;;
    baseline/-t|baseline/--tags) _hostproof_of _hostproof_controls ;;
    baseline/--skip-tags) _hostproof_of _hostproof_controls ;;
    baseline/-e|baseline/--extra-vars) true ;;
    baseline/-f|baseline/--forks) true ;;
    baseline/--inventory-file) _hostproof_paths -f ;;
    baseline/--private-key|baseline/--key-file) _hostproof_paths -f ;;
    baseline/-u|baseline/--user) true ;;
    baseline/-c|baseline/--connection) true ;;
    baseline/-T|baseline/--timeout) true ;;
    baseline/--ssh-common-args) true ;;
    baseline/--sftp-extra-args) true ;;
    baseline/--scp-extra-args) true ;;
    baseline/--ssh-extra-args) true ;;
    baseline/--connection-password-file|baseline/--conn-pass-file) _hostproof_paths -f ;;
    baseline/--become-method) true ;;
    baseline/--become-user) true ;;
    baseline/--become-password-file|baseline/--become-pass-file) _hostproof_paths -f ;;
    baseline/--vault-id) true ;;
    baseline/--vault-password-file|baseline/--vault-pass-file) _hostproof_paths -f ;;
    baseline/-M|baseline/--module-path) true ;;
    baseline/--start-at-task) true ;;
    baseline/*) _hostproof_word '--waivers --strict -i --inventory -l --limit -t --tags --skip-tags -e --extra-vars -C --check -D --diff -b --become -K --ask-become-pass -f --forks -v --verbose --inventory-file --private-key --key-file -u --user -c --connection -T --timeout --ssh-common-args --sftp-extra-args --scp-extra-args --ssh-extra-args -k --ask-pass --connection-password-file --conn-pass-file --force-handlers --become-method --become-user --become-password-file --become-pass-file --list-hosts --flush-cache --vault-id -J --ask-vault-password --ask-vault-pass --vault-password-file --vault-pass-file -M --module-path --syntax-check --list-tasks --list-tags --step --start-at-task --version -h --help' || true ;;
    compare/--waivers) _hostproof_paths -f ;;
    compare/--baseline) _hostproof_paths -d ;;
    compare/-i|compare/--inventory) _hostproof_paths -f ;;
    compare/-l|compare/--limit) true ;;
    compare/-t|compare/--tags) _hostproof_of _hostproof_controls ;;
    compare/--skip-tags) _hostproof_of _hostproof_controls ;;
    compare/-e|compare/--extra-vars) true ;;
    compare/-f|compare/--forks) true ;;
    compare/--inventory-file) _hostproof_paths -f ;;
    compare/--private-key|compare/--key-file) _hostproof_paths -f ;;
    compare/-u|compare/--user) true ;;
    compare/-c|compare/--connection) true ;;
    compare/-T|compare/--timeout) true ;;
    compare/--ssh-common-args) true ;;
    compare/--sftp-extra-args) true ;;
    compare/--scp-extra-args) true ;;
    compare/--ssh-extra-args) true ;;
    compare/--connection-password-file|compare/--conn-pass-file) _hostproof_paths -f ;;
    compare/--become-method) true ;;
    compare/--become-user) true ;;
    compare/--become-password-file|compare/--become-pass-file) _hostproof_paths -f ;;
    compare/--vault-id) true ;;
    compare/--vault-password-file|compare/--vault-pass-file) _hostproof_paths -f ;;
    compare/-M|compare/--module-path) true ;;
    compare/--start-at-task) true ;;
    compare/*) _hostproof_word '--waivers --strict --baseline -i --inventory -l --limit -t --tags --skip-tags -e --extra-vars -C --check -D --diff -b --become -K --ask-become-pass -f --forks -v --verbose --inventory-file --private-key --key-file -u --user -c --connection -T --timeout --ssh-common-args --sftp-extra-args --scp-extra-args --ssh-extra-args -k --ask-pass --connection-password-file --conn-pass-file --force-handlers --become-method --become-user --become-password-file --become-pass-file --list-hosts --flush-cache --vault-id -J --ask-vault-password --ask-vault-pass --vault-password-file --vault-pass-file -M --module-path --syntax-check --list-tasks --list-tags --step --start-at-task --version -h --help' || true ;;
    record/--waivers) _hostproof_paths -f ;;
    record/-i|record/--inventory) _hostproof_paths -f ;;
    record/-l|record/--limit) true ;;
    record/-t|record/--tags) _hostproof_of _hostproof_controls ;;
    record/--skip-tags) _hostproof_of _hostproof_controls ;;
    record/-e|record/--extra-vars) true ;;
    record/-f|record/--forks) true ;;
    record/--inventory-file) _hostproof_paths -f ;;
    record/--private-key|record/--key-file) _hostproof_paths -f ;;
    record/-u|record/--user) true ;;
    record/-c|record/--connection) true ;;
    record/-T|record/--timeout) true ;;
    record/--ssh-common-args) true ;;
    record/--sftp-extra-args) true ;;
    record/--scp-extra-args) true ;;
    record/--ssh-extra-args) true ;;
    record/--connection-password-file|record/--conn-pass-file) _hostproof_paths -f ;;
    record/--become-method) true ;;
    record/--become-user) true ;;
    record/--become-password-file|record/--become-pass-file) _hostproof_paths -f ;;
    record/--vault-id) true ;;
    record/--vault-password-file|record/--vault-pass-file) _hostproof_paths -f ;;
    record/-M|record/--module-path) true ;;
    record/--start-at-task) true ;;
    record/*) _hostproof_word '--waivers --strict -i --inventory -l --limit -t --tags --skip-tags -e --extra-vars -C --check -D --diff -b --become -K --ask-become-pass -f --forks -v --verbose --inventory-file --private-key --key-file -u --user -c --connection -T --timeout --ssh-common-args --sftp-extra-args --scp-extra-args --ssh-extra-args -k --ask-pass --connection-password-file --conn-pass-file --force-handlers --become-method --become-user --become-password-file --become-pass-file --list-hosts --flush-cache --vault-id -J --ask-vault-password --ask-vault-pass --vault-password-file --vault-pass-file -M --module-path --syntax-check --list-tasks --list-tags --step --start-at-task --version -h --help' || true ;;
    detect_storage/--waivers) _hostproof_paths -f ;;
    detect_storage/-i|detect_storage/--inventory) _hostproof_paths -f ;;
    detect_storage/-l|detect_storage/--limit) true ;;
    detect_storage/-t|detect_storage/--tags) _hostproof_of _hostproof_controls ;;
    detect_storage/--skip-tags) _hostproof_of _hostproof_controls ;;
    detect_storage/-e|detect_storage/--extra-vars) true ;;
    detect_storage/-f|detect_storage/--forks) true ;;
    detect_storage/--inventory-file) _hostproof_paths -f ;;
    detect_storage/--private-key|detect_storage/--key-file) _hostproof_paths -f ;;
    detect_storage/-u|detect_storage/--user) true ;;
    detect_storage/-c|detect_storage/--connection) true ;;
    detect_storage/-T|detect_storage/--timeout) true ;;
    detect_storage/--ssh-common-args) true ;;
    detect_storage/--sftp-extra-args) true ;;
    detect_storage/--scp-extra-args) true ;;
    detect_storage/--ssh-extra-args) true ;;
    detect_storage/--connection-password-file|detect_storage/--conn-pass-file) _hostproof_paths -f ;;
    detect_storage/--become-method) true ;;
    detect_storage/--become-user) true ;;
    detect_storage/--become-password-file|detect_storage/--become-pass-file) _hostproof_paths -f ;;
    detect_storage/--vault-id) true ;;
    detect_storage/--vault-password-file|detect_storage/--vault-pass-file) _hostproof_paths -f ;;
    detect_storage/-M|detect_storage/--module-path) true ;;
    detect_storage/--start-at-task) true ;;
    detect_storage/*) _hostproof_word '--waivers --strict -i --inventory -l --limit -t --tags --skip-tags -e --extra-vars -C --check -D --diff -b --become -K --ask-become-pass -f --forks -v --verbose --inventory-file --private-key --key-file -u --user -c --connection -T --timeout --ssh-common-args --sftp-extra-args --scp-extra-args --ssh-extra-args -k --ask-pass --connection-password-file --conn-pass-file --force-handlers --become-method --become-user --become-password-file --become-pass-file --list-hosts --flush-cache --vault-id -J --ask-vault-password --ask-vault-pass --vault-password-file --vault-pass-file -M --module-path --syntax-check --list-tasks --list-tags --step --start-at-task --version -h --help' || true ;;
    init/--out) true ;;
    init/--evidence) _hostproof_paths -f ;;
    init/-i|init/--inventory) _hostproof_paths -f ;;
    init/-l|init/--limit) true ;;
    init/-t|init/--tags) _hostproof_of _hostproof_controls ;;
    init/--skip-tags) _hostproof_of _hostproof_controls ;;
    init/-e|init/--extra-vars) true ;;
    init/-f|init/--forks) true ;;
    init/--inventory-file) _hostproof_paths -f ;;
    init/--private-key|init/--key-file) _hostproof_paths -f ;;
    init/-u|init/--user) true ;;
    init/-c|init/--connection) true ;;
    init/-T|init/--timeout) true ;;
    init/--ssh-common-args) true ;;
    init/--sftp-extra-args) true ;;
    init/--scp-extra-args) true ;;
    init/--ssh-extra-args) true ;;
    init/--connection-password-file|init/--conn-pass-file) _hostproof_paths -f ;;
    init/--become-method) true ;;
    init/--become-user) true ;;
    init/--become-password-file|init/--become-pass-file) _hostproof_paths -f ;;
    init/--vault-id) true ;;
    init/--vault-password-file|init/--vault-pass-file) _hostproof_paths -f ;;
    init/-M|init/--module-path) true ;;
    init/--start-at-task) true ;;
    init/*) _hostproof_word '--out --evidence -i --inventory -l --limit -t --tags --skip-tags -e --extra-vars -C --check -D --diff -b --become -K --ask-become-pass -f --forks -v --verbose --inventory-file --private-key --key-file -u --user -c --connection -T --timeout --ssh-common-args --sftp-extra-args --scp-extra-args --ssh-extra-args -k --ask-pass --connection-password-file --conn-pass-file --force-handlers --become-method --become-user --become-password-file --become-pass-file --list-hosts --flush-cache --vault-id -J --ask-vault-password --ask-vault-pass --vault-password-file --vault-pass-file -M --module-path --syntax-check --list-tasks --list-tags --step --start-at-task --version -h --help' || true ;;
    report/--out) true ;;
    report/--query) true ;;
    report/--waivers) _hostproof_paths -f ;;
    report/--format) _hostproof_of echo 'csv markdown sarif junit json prometheus html' ;;
    report/--fixes) true ;;
    report/*) _hostproof_word '--out --query --waivers --strict --quiet --format --readable --fixes -h --help' || _hostproof_paths -d ;;
    diff/--format) _hostproof_of echo 'text json csv markdown' ;;
    diff/*) _hostproof_word '--values --format -h --help' || _hostproof_paths -d ;;
    history/--html) _hostproof_paths -f ;;
    history/--last) true ;;
    history/--format) _hostproof_of echo 'text json csv' ;;
    history/*) _hostproof_word '--html --last --format -h --help' || _hostproof_paths -d ;;
    sign/--key) _hostproof_paths -f ;;
    sign/--who) true ;;
    sign/--policy) _hostproof_paths -f ;;
    sign/*) _hostproof_word '--key --who --policy -h --help' || _hostproof_paths -d ;;
    verify-report/--signers) _hostproof_paths -f ;;
    verify-report/--who) true ;;
    verify-report/*) _hostproof_word '--signers --who -h --help' || _hostproof_paths -d ;;
    checks/--control) _hostproof_of _hostproof_controls ;;
    checks/--format) _hostproof_of echo 'text json csv markdown' ;;
    checks/*) _hostproof_word '--control --format -h --help' || true ;;
    explain/--format) _hostproof_of echo 'text json' ;;
    explain/*) _hostproof_word '--format -h --help' || _hostproof_of _hostproof_checks ;;
    completion/*) _hostproof_word ' -h --help' || _hostproof_of echo 'bash zsh fish' ;;
    collection/--out) _hostproof_paths -d ;;
    collection/*) _hostproof_word '--out -h --help' || true ;;
    test/*) _hostproof_word '--all --quick -h --help' || true ;;
    help/*) _hostproof_of echo 'audit verify apply revert baseline compare record detect_storage init report diff history sign verify-report checks explain completion collection test' ;;
  esac
}

complete -F _hostproof hostproof

"""Policies that nobody can mean: what is set, for which control, and what must be said of it.

One name a case; each is one host's variables. ``says`` are pieces of the one sentence: the variable
and what it takes. An ``entry`` is left out and is the control's error; everything else stops the
host. A row of the table is NAME | CONTROL | VARIABLES | SAYS..., with a + behind the control for an
entry; the variables are YAML.
"""

import re
from typing import Any, NamedTuple

import yaml


class Bad(NamedTuple):
    control: str
    variables: dict[str, Any]
    says: tuple[str, ...]
    entry: bool = False


def nested(depth: int) -> Any:
    value: Any = "x"
    for _ in range(depth):
        value = [value]
    return value


TABLE = r"""
custom_own_commands | custom | custom_checks: [{id: x, title: x}], hostproof_own_commands: maybe |
  hostproof_own_commands must be true or false
asm_drivers_name | asm_drivers | asm_drivers_verify_failon: warn | asm_drivers_verify_failon
firewall_ports | firewall | firewall_ports: 1521 | firewall_ports
package_option | packages | packages_additional: [-y] | packages_additional | name of a package
platform_old | platform | platform_release: 18c | platform_release must be one of auto, 19c
planned_space | space + | space_planned: [{path: u01, free: 1G}] | space_planned | must be an
  absolute path
# Names.
one_letter | hugepages | hugepages_instance: [] | hugepages_instance: | mean hugepages_instances?
prefix | nfs_mounts | nfs_mount_mounts: [] | nfs_mount_mounts: | mean nfs_mounts_mounts?
prefix_letters | nfs_mounts | nsf_mounts_mounts: [] | nsf_mounts_mounts: | mean nfs_mounts_mounts?
prefix_joined | hugepages | huge_pages_users: [] | huge_pages_users: | mean hugepages_users?
prefix_short | flow_control | flowcontrol_switches: [] | flowcontrol_switches: | mean
  flow_control_switches?
prefix_first_letter | io_pacing | o_pacing_profile: 'off' | o_pacing_profile: | mean
  io_pacing_profile?
capitals | hugepages | HUGEPAGES_GROUP: dba | HUGEPAGES_GROUP: | mean hugepages_group?
of_nobody | hugepages | hugepages_x: 1, hostproof_unknown_variables: fail | no control takes the
  variable hugepages_x
of_no_mode | hugepages | space_before: 1, hostproof_unknown_variables: strict |
  hostproof_unknown_variables must be one of warn, fail, ignore, not 'strict'
of_hostproof | hugepages | hostproof_waiver: x | hostproof_waiver: | mean hostproof_waivers?
of_window | latency | hostproof_window_second: 3 | hostproof_window_second: | mean
  hostproof_window_seconds?
listener_letter | listener_rate_limit | listner_rate_limit_listeners: [] |
  listner_rate_limit_listeners: | mean listener_rate_limit_listeners?
sga_joined | pre_page_sga | prepage_sga_instances: [] | prepage_sga_instances: | mean
  pre_page_sga_instances?
moved | latency | latency_seconds: 3 | latency_seconds is now hostproof_window_seconds
moved_nfs | nfs_mounts | nfs_mounts_sample_seconds: 3 | nfs_mounts_sample_seconds is now
  hostproof_window_seconds
# Truth values.
bool_word | hugepages | hugepages_allow_low_memory: maybe | must be true or false, not 'maybe'
bool_number | nfs_mounts | nfs_mounts_allow_remount: 2 | nfs_mounts_allow_remount must be true or
  false
bool_null | storage_type | storage_type_require_hcc: null | storage_type_require_hcc must be true or
  false
bool_list | io_pacing | io_pacing_allow_deadman_risk: [true] | io_pacing_allow_deadman_risk must be
# Templates.
undefined | hugepages | hugepages_group: '{{ no_such_thing }}' | hugepages_group | no_such_thing
undefined_within | hugepages | hugepages_instances: [{sid: A, sga: '{{ sga_of.nobody }}'}] |
  hugepages_instances cannot be templated | sga_of
template_fails | io_pacing | io_pacing_maxpout: '{{ 1 / 0 }}' | io_pacing_maxpout cannot be
  templated | division
template_syntax | latency | latency_release: '{{ 19' | latency_release cannot be templated
template_loop | latency | latency_release: '{{ latency_release }}' | latency_release cannot be
  templated
# Size.
infinite | latency | hostproof_window_seconds: .inf | window_seconds
no_number | latency | hostproof_window_seconds: .nan | window_seconds
# HugePages.
version_x | hugepages + | hugepages_instances: [{sid: A, sga: 1G, version: 19.x}] |
  hugepages_instances | 19.x | must be a number such as 19
version_99 | hugepages + | hugepages_instances: [{sid: A, sga: 1G, version: '99'}] |
  hugepages_instances | 99 | must be a number such as 19
version_bool | hugepages + | hugepages_instances: [{sid: A, sga: 1G, version: true}] |
  hugepages_instances | True | must be a number such as 19
no_instances | hugepages | hugepages_instances: [] | hugepages_instances | auto or a list
sid_list | hugepages + | hugepages_instances: [{sid: [A], sga: 1G}] | hugepages_instances | is not a
  SID
same_sid | hugepages + | hugepages_instances: [&id001 {sid: A, sga: 1G}, *id001] |
  hugepages_instances lists a sid twice
no_sga | hugepages + | hugepages_instances: [{sid: A}] | hugepages_instances | sid and sga
sga_word | hugepages + | hugepages_instances: [{sid: A, sga: much}] | hugepages_instances | is not a
  size
page_3m | hugepages | hugepages_page_size: 3M | hugepages_page_size | power of
users_text | hugepages | hugepages_users: oracle | hugepages_users | a list of
users_numbers | hugepages | hugepages_users: [54321] | hugepages_users | a list of names
users_none | hugepages | hugepages_users: [] | hugepages_users | at least one
group_list | hugepages | hugepages_group: [dba] | hugepages_group | a name
group_false | hugepages | hugepages_group: false | hugepages_group | a name
share_0 | hugepages | hugepages_memory_limit_percent: 0 | must be 1 to 100, not 0
negative | hugepages | hugepages_spare_pages: -1 | hugepages_spare_pages must be a whole number
file_elsewhere | hugepages | hugepages_sysctl_file: /etc/passwd | must be /etc/sysctl.d/NAME.conf
file_lines | hugepages | hugepages_sysctl_file: "/etc/sysctl.d/a\nb.conf" | must be
  /etc/sysctl.d/NAME.conf
transparent | hugepages | hugepages_transparent: always | hugepages_transparent must be one of
transparent_list | hugepages | hugepages_transparent: [never] | hugepages_transparent must be one of
# NFS mounts.
nfs_version | nfs_mounts | nfs_mounts_version: 4 | name the minor version
mount_key | nfs_mounts + | nfs_mounts_mounts: [{path: /u02, source: 'filer:/vol/u02', class:
  datafiles, opts: ro}] | has unknown opts
mount_class | nfs_mounts + | nfs_mounts_mounts: [{path: /u02, source: 'filer:/vol/u02', class:
  data}] | class must be one of
mount_class_list | nfs_mounts + | nfs_mounts_mounts: [{path: /u02, source: 'filer:/vol/u02', class:
  [redo]}] | class must be one
mount_option | nfs_mounts + | nfs_mounts_mounts: [{path: /u02, source: 'filer:/vol/u02', class:
  datafiles, options: nconect=4}] | options has unknown nconect
transfer | nfs_mounts | nfs_mounts_transfer_size: 2M | multiple of 1024 up to
limits_crossed | nfs_mounts | nfs_mounts_rtt_warn_ms: 99 | must not be above nfs_mounts_rtt_fail_ms
relative_home | nfs_mounts + | nfs_mounts_oracle_homes: [oracle] | must hold absolute paths
# Flow control.
rule_of_nothing | flow_control | flow_control_rules: [{rx: 'on'}] | flow_control_rules has a rule
rules_none | flow_control | flow_control_rules: [] | flow_control_rules | auto or a list
rule_side | flow_control | flow_control_rules: [{role: storage, rx: yes please}] | rx must be one of
  on, off
rule_without_effect | flow_control | flow_control_rules: [{role: storage}] | flow_control_rules |
  rx, tx
network | flow_control | flow_control_interconnect: [192.0.2.0/99] | 192.0.2.0/99
interconnect_text | flow_control | flow_control_interconnect: eth1 | interconnect must be | list of
switch_key | flow_control + | flow_control_switches: [{address: 192.0.2.1, comunity: x}] | has
  unknown
switch_port | flow_control + | flow_control_switches: [{address: 192.0.2.1, port: 70000}] | 1 to
  65535
credentials | flow_control + | flow_control_snmp_credentials: {default: {version: '4'}} |
  flow_control_snmp_credentials | version
# I/O pacing.
profile | io_pacing | io_pacing_profile: fast | io_pacing_profile must be one of
half_a_pair | io_pacing | io_pacing_maxpout: 33 | io_pacing_minpout must be given
powerha | io_pacing | io_pacing_powerha_version: 7.x | a release such as 7.2.3
powerha_99 | io_pacing | io_pacing_powerha_version: '99.1' | a release such as 7.2.3
headroom | io_pacing | io_pacing_cpu_headroom: 101 | io_pacing_cpu_headroom must be
dirty | io_pacing | io_pacing_dirty_limit: lots | io_pacing_dirty_limit is no
# Latency.
release_x | latency | latency_release: 19.x | a release such as 19 or 12.2
release_99 | latency | latency_release: '99' | a release such as 19 or 12.2
multitenant | latency | latency_multitenant: perhaps | must be auto, yes or no
multitenant_list | latency | latency_multitenant: ['yes'] | must be auto, yes or no
probe | latency + | latency_probes: [{probe: disc}] | latency_probes
probes_text | latency | latency_probes: disk | latency_probes
threshold | latency | latency_extra_thresholds: [{probe: disk, figure: p51, warn_ms: 10, source:
  ours}] | latency_extra_thresholds, item 1 | figure
budget | latency | latency_budget: {round_trip: 3} | latency_budget must be a
budget_half | latency | latency_budget: {round_trips: 3} | needs think_time_ms
window_half | latency | hostproof_window_seconds: 0.5 | must be 0 or 1 to 600
# The listener.
rate | listener_rate_limit + | listener_rate_limit_listeners: [{name: L, rate: fast}] | L: rate must
  be a whole number
listeners_none | listener_rate_limit | listener_rate_limit_listeners: [] |
  listener_rate_limit_listeners | auto or a list
scope_list | listener_rate_limit + | listener_rate_limit_listeners: [{name: L, rate: 5, scope: []}]
  | L: scope must be one of
log_tail | listener_rate_limit | listener_rate_limit_log_tail: 9M | must be at most 8M
# Kernel parameters.
profile_word | kernel_parameters | hostproof_profile: rac | hostproof_profile must be one of
profile_letter | kernel_parameters | hostproof_profil: rac_asm | hostproof_profil: | mean
  hostproof_profile?
parameter_numbers | kernel_parameters + | kernel_parameters_values: [{name: kernel.sem, value:
  '250,32000'}] | kernel.sem: value must be numbers
parameter_of_another | kernel_parameters + | kernel_parameters_values: [{name: vm.nr_hugepages,
  value: 5}] | vm.nr_hugepages is for the control hugepages
parameter_left | kernel_parameters | kernel_parameters_unmanaged: [swappiness] |
  kernel_parameters_unmanaged | a key such as
# Accounts and groups.
account_root | accounts + | accounts_accounts: [{name: root}] | must not be root
# Limits of accounts.
limit_of_nobody | process_limits | process_limits_accounts: ['@dba'] | must be the name of an
  account
limit_crossing | process_limits + | process_limits_values: [{name: nofile, soft: 9, hard: 8}] |
  nofile: soft must not be above hard
limit_left | process_limits | process_limits_unmanaged: [core] | must be one of nofile
# Memory.
swap_words | memory_pressure | memory_pressure_swap: much | 'much' is not a size
memory_left | memory_pressure | memory_pressure_skip_checks: [swap] | must be one of budget,
  swap_size
# Names.
names_option | name_resolution | name_resolution_scan_names: [-h] | '-h' must be a name of a host
names_left | name_resolution | name_resolution_skip_checks: [dns] | must be one of hostname
# Disks.
disk_mode | block_devices + | block_devices_devices: [{name: asm*, mode: rw}] | asm*: mode must be a
  text
disk_injection | block_devices + | block_devices_devices: [{name: 'asm", RUN+="/bin/sh'}] | must be
  a name such as
disk_owner | block_devices + | block_devices_devices: [{name: asm*, owner: 'grid", RUN+="x'}] |
  asm*: owner must be an account
disk_redundancy | block_devices + | block_devices_devices: [{name: asm*, redundancy: mirror}] |
  asm*: redundancy must be one of normal, high, external
disk_rules_file | block_devices | block_devices_rules_file: /etc/udev/rules.d/x.conf |
  block_devices_rules_file must be /etc/udev/rules.d/NAME.rules
# The SGA.
instance_version | pre_page_sga + | pre_page_sga_instances: [{sid: A, version: 19.x}] | a release
  such as 19 or
instance_version_99 | pre_page_sga + | pre_page_sga_instances: [{sid: A, version: '99'}] | a release
  such as 19 or
choice | pre_page_sga | pre_page_sga_lock_sga: perhaps | lock_sga must be one of
sqlplus | pre_page_sga | pre_page_sga_sqlplus_timeout: 0 | must be 1 to 600
# What writes, nodes of a cluster, pools of application servers.
growth | async_io | async_io_growth_factor: 0 | async_io_growth_factor must be
cluster | cluster_nodes | cluster_nodes_name: '' | cluster_nodes_name must be auto, none or the name
  of a cluster
time_daemon | time_sync | time_sync_daemon: openntpd | time_sync_daemon must be one of
time_sources | time_sync | time_sync_min_sources: 0 | time_sync_min_sources must be
time_offset | time_sync | time_sync_max_offset_ms: 1s | time_sync_max_offset_ms must be
time_steps | time_sync | time_sync_max_step_updates: -1 | time_sync_max_step_updates must be
nodes | cluster_nodes | cluster_nodes_expected: rac1 | must be a list of names
pool_wanted | pool_validation | pool_validation_pools: [{pool: DS, server: gone, validation:
  foreground}] | names gone, which is none of the servers
peer | interconnect + | interconnect_peers: [{address: db2-priv}] | interconnect_peers 'db2-priv'
  must be an IP address
bonding_mode | interconnect | interconnect_bonding_modes: [lacp] | interconnect_bonding_modes 'lacp'
  must be one of balance-rr
private_network | interconnect | interconnect_interfaces: [192.168.10.300/24] |
  interconnect_interfaces '192.168.10.300/24' does not appear to be
pool_database | pool_validation + | pool_validation_databases: [{name: SALES, hosts: db1, clients:
  [app1]}] | SALES: hosts must be a list of names
pool_file | pool_validation + | pool_validation_files: [{name: web, file: /srv/app/application.yml}]
  | must end in .xml or .properties | application.yml
pool_probe | pool_validation | pool_validation_round_trip_probe: 'db1:1521' |
  pool_validation_round_trip_probe must be the name of a probe
pool_seconds | pool_validation | pool_validation_answer_seconds: 0 | pool_validation_answer_seconds
  must be
# Storage type.
address | storage_type + | storage_type_addresses: [not an address] | storage_type_addresses
address_port | storage_type + | storage_type_addresses: [{address: 192.0.2.1, port: true}] |
  storage_type_addresses | 1 to 65535
space | storage_type | storage_type_space_warn_percent: 90, storage_type_space_fail_percent: 10 |
  must not be below
trace | storage_type | storage_type_trace_dir: diag | must be a whole path
timeout | storage_type | storage_type_snmp_timeout: 0 | storage_type_snmp_timeout must be
# What ends with a line is no name: re's $ would let it pass.
sid_with_a_line | hugepages + | hugepages_instances: [{sid: "SALES\n", sga: 1G}] | is not a SID
pool_with_a_line | pool_validation + | pool_validation_servers: [{name: "shop\n", home: /opt/w,
  user: w}] | must be a name of letters, digits
address_with_a_line | storage_type + | storage_type_addresses: ["192.0.2.1\n"] | is not a hostname
  or IP address
ems_log | storage_type + | storage_type_ems_logs: [{file: filer.log, address: 192.0.2.1}] | must be
  an absolute path
snmp_port | storage_type | storage_type_snmp_port: 65536 | storage_type_snmp_port must be
snmp_retries | storage_type | storage_type_snmp_retries: 11 | storage_type_snmp_retries must be
definitions | storage_type | storage_type_definitions: [{name: mine, ways: []}] |
  storage_type_definitions
definitions_pattern | storage_type | storage_type_definitions: [{family: Ours, role: array, ways:
  [(a+)+$]}] | storage_type_definitions
failed_disks | storage_type | storage_type_failed_disks_limit: -1 | storage_type_failed_disks_limit
rebuilding | storage_type | storage_type_rebuilding_limit: two | storage_type_rebuilding_limit
storage_discards | storage_type | storage_type_discards_limit: -1 | storage_type_discards_limit
storage_cpu | storage_type | storage_type_cpu_limit: 101 | storage_type_cpu_limit
agent_seconds | storage_type | storage_type_snmp_agent_timeout: 0 | storage_type_snmp_agent_timeout
agents_seconds | storage_type | storage_type_snmp_total_timeout: 3601 |
  storage_type_snmp_total_timeout
media | storage_type + | storage_type_media: {10.0.0.5: tape} | storage_type_media | each ssd or hdd
"""


def of_table(text: str) -> dict[str, Bad]:
    cases = {}
    for row in re.sub(r"\n +", " ", text).strip().split("\n"):
        if not row.startswith("#"):
            name, control, variables, *says = row.split(" | ")
            entry = control.endswith(" +")
            variables = yaml.safe_load("{" + variables + "}")
            cases[name] = Bad(control.removesuffix(" +"), variables, tuple(says), entry)
    return cases


CASES = {
    **of_table(TABLE),
    "deep": Bad(
        "hugepages", {"hugepages_users": nested(30)}, ("hugepages_users is nested deeper",)
    ),
    "long": Bad("hugepages", {"hugepages_group": "x" * 2_000_000}, ("hugepages_group holds more",)),
    "huge_number": Bad(
        "hugepages", {"hugepages_spare_pages": 1 << 4000}, ("hugepages_spare_pages",)
    ),
    "digits": Bad(
        "hugepages", {"hugepages_spare_pages": "9" * 5000}, ("hugepages_spare_pages must be a",)
    ),
    "many_digits_of_ms": Bad("nfs_mounts", {"nfs_mounts_rtt_fail_ms": "9" * 400}, ("rtt_fail_ms",)),
    "rate_digits": Bad(
        "listener_rate_limit",
        {"listener_rate_limit_listeners": [{"name": "L", "rate": "9" * 5000}]},
        ("L: rate must be a whole number",),
        entry=True,
    ),
    "memlock_digits": Bad(
        "hugepages", {"hugepages_memlock": "9" * 5000}, ("hugepages_memlock must",)
    ),
    "names_many": Bad(
        "name_resolution",
        {"name_resolution_cluster_names": ["rac"] * 65},
        ("at most 64 are looked up",),
    ),
}

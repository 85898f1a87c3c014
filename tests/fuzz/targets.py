"""Every parser with a text that it takes: what the fuzzing begins with."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import snmp_agents  # type: ignore[import-not-found]
from ansible.module_utils.hostproof.controls.async_io.parsers import (
    io_messages,
    kernel_log,
    nfs_silence,
)
from ansible.module_utils.hostproof.controls.block_devices.parsers import dm_multipath
from ansible.module_utils.hostproof.controls.cluster_nodes.parsers import cpuinfo, ethtool_driver
from ansible.module_utils.hostproof.controls.firewall.parsers import (
    firewalld_zone,
    iptables_save,
    nft_json,
    nft_text,
    sockets,
)
from ansible.module_utils.hostproof.controls.flow_control.parsers import (
    dcb,
    dladm,
    entstat,
    ethtool_rings,
    ethtool_settings,
    ifcfg,
    ifupdown,
    nm_keyfile,
    route_get,
)
from ansible.module_utils.hostproof.controls.hugepages.parsers import buddyinfo, kernel_config
from ansible.module_utils.hostproof.controls.io_pacing.parsers import (
    halevel,
    lparstat,
    lslpp,
    lssrc,
    oslevel,
    proc_stat,
)
from ansible.module_utils.hostproof.controls.kernel_parameters.parsers import sysvipc_sem
from ansible.module_utils.hostproof.controls.latency.parsers import (
    apachebench,
    awr,
    awr_global,
    dashed_table,
    devio_stats,
    diskstats,
    ellipsis_marks,
    fio,
    idle_events,
    iolstats,
    oratcptest,
    orion,
    report_head,
    rtnetlink,
    slob,
    slob_conf,
    statspack,
    tcp_info,
)
from ansible.module_utils.hostproof.controls.memory_pressure.parsers import proc_swaps, vmstat
from ansible.module_utils.hostproof.controls.name_resolution.parsers import (
    dns_message,
    hosts_file,
    nsswitch,
    resolv_conf,
)
from ansible.module_utils.hostproof.controls.nfs_mounts.parsers import mount_refusals, oranfstab
from ansible.module_utils.hostproof.controls.packages.parsers import transaction
from ansible.module_utils.hostproof.controls.pool_validation.parsers import (
    datasources_xml,
    pool_properties,
    pools,
    tomcat_resources,
)
from ansible.module_utils.hostproof.controls.process_limits.parsers import pid_stat
from ansible.module_utils.hostproof.controls.space.facts import parse_usage
from ansible.module_utils.hostproof.controls.storage_type.parsers import ldconfig, ontap_ems
from ansible.module_utils.hostproof.controls.time_sync.parsers import (
    chrony_conf,
    time_sources,
    unit_properties,
)
from ansible.module_utils.hostproof.errors import ParseError
from ansible.module_utils.hostproof.parsers import glob_pattern, number, size
from ansible.module_utils.hostproof.parsers.jboss import cli_answers
from ansible.module_utils.hostproof.parsers.kernel import (
    bracketed,
    kernel_cmdline,
    kernel_release,
    meminfo,
    modprobe_d,
    numa_maps,
    open_flags,
    proc_cgroup,
    proc_limits,
    proc_maps,
    proc_status,
    smaps,
    sysctl_number,
    sysvipc_shm,
)
from ansible.module_utils.hostproof.parsers.mounts import (
    aix_filesystems,
    aix_mount_options,
    fstab,
    mount_command,
    mountinfo,
    vfstab,
)
from ansible.module_utils.hostproof.parsers.net import (
    bonding,
    ethtool_pause,
    ethtool_permanent,
    ethtool_statistics,
    ip_addr,
    ip_neigh,
    ip_route,
    listening_sockets,
    proc_net_snmp,
    proc_net_tcp,
    socket_info,
)
from ansible.module_utils.hostproof.parsers.nfs import (
    autofs_map,
    mountstats,
    nfs_options,
    nfsmount_conf,
    proc_net_rpc_nfs,
)
from ansible.module_utils.hostproof.parsers.oracle import (
    alert_log,
    alert_log_large_pages,
    crsconfig_params,
    listener_log,
    orabasetab,
    oracle_inventory,
    oracle_net,
    oracle_net_data,
    oratab,
    pfile,
    spfile,
    sqlplus_rows,
    tns_packet,
)
from ansible.module_utils.hostproof.parsers.shell import (
    command_effects,
    script_lines,
    shell_words,
    started_commands,
)
from ansible.module_utils.hostproof.parsers.systemd import (
    conf_d,
    link_file,
    sysctl_d,
    systemd_unit,
    tmpfiles_d,
    tuned,
    udev_rules,
)
from ansible.module_utils.hostproof.parsers.unix import (
    getent,
    ioo,
    limits_conf,
    lsattr,
    os_release,
    package_list,
)
from ansible.module_utils.hostproof.snmp import snmp_message, snmp_output

FIXTURES = Path(__file__).resolve().parents[1] / "fixtures"


def _size(text: str) -> int:
    """What a person writes: its errors are for the policy (PolicyValues.size_of)."""
    try:
        return size.parse_size(text)
    except ValueError as problem:
        raise ParseError("size", str(problem)) from problem


#: Each parser with a text that it takes: the name of a fixture, or the text itself.
def _dashed_table(text: str) -> list[Any]:
    lines = text.split("\n")
    columns = dashed_table.columns(lines[0])
    return [dashed_table.cells(line, columns) for line in lines]


PARSERS: list[tuple[Callable[[str], Any], str]] = [
    (firewalld_zone.parse_zone, "firewall/public.xml"),
    (iptables_save.parse, "firewall/hashlimit.save"),
    (nft_json.parse, "firewall/limited.json"),
    (nft_text.parse, "firewall/limited.nft"),
    (sockets.parse, "firewall/ss.txt"),
    (bonding.parse, "flow_control/bonding-lacp.txt"),
    (dcb.parse_dcb, "flow_control/dcb-pfc.txt"),
    (dcb.parse_lldptool, "PFC enabled: 3 4\n"),
    (ethtool_pause.parse, "flow_control/pause-hibmcge.txt"),
    (ethtool_permanent.parse, "Permanent address: 52:54:00:00:01:01\n"),
    (ethtool_pause.parse, "flow_control/pause-e1000e.json"),
    (ethtool_pause.commands_in, "ethtool -A eth0 autoneg off rx on; ethtool --pause $a tx off"),
    (ethtool_rings.parse, "flow_control/rings-e1000.txt"),
    (ethtool_settings.parse, "flow_control/settings-partner.txt"),
    (ethtool_statistics.parse, "flow_control/statistics-mlx5.txt"),
    (ifcfg.parse, 'DEVICE=eth0\nETHTOOL_OPTS="-A ${DEVICE} rx on tx off"\n'),
    (ip_neigh.parse, "192.0.2.50 dev ens4 lladdr 00:a0:98:01:02:03 REACHABLE\n"),
    (
        ifupdown.parse,
        "auto ens4\niface ens4 inet dhcp\n ethernet-pause-rx on\nsource interfaces.d/*\n",
    ),
    (entstat.parse, "entstat/etherchannel-backup.txt"),
    (entstat.parse, "entstat/link-aggregation.txt"),
    (entstat.parse, "entstat/lnc2ent-dcbx.txt"),
    (route_get.parse, "route_get/solaris-gateway.txt"),
    (dladm.parse_links, "dladm/show-link.txt"),
    (dladm.parse_physical, "dladm/show-phys.txt"),
    (dladm.parse_addresses, "dladm/show-phys-m.txt"),
    (dladm.parse_flow_control, "dladm/linkprop-solaris11.txt"),
    (ip_route.parse, "192.0.2.5 via 10.0.0.1 dev bond0.7 src 10.0.0.5 uid 0 \\ cache mtu 1400\n"),
    (
        lambda text: link_file.fits(
            [systemd_unit.parse(text, "x")], link_file.Device("52:54:00:0a:00:01", None, "igb", ())
        ),
        "[Match]\nDriver=igb !x\nOriginalName=*\nProperty=A=B\n[Link]\nRxFlowControl=no\n",
    ),
    (nm_keyfile.parse, "[connection]\nid=a\ninterface-name=ens4\n[ethtool]\npause-rx=true\n"),
    (
        udev_rules.parse,
        'ACTION=="add", ATTR{address}=="52:54", RUN+="/usr/sbin/ethtool -A $name rx off tx off"\n',
    ),
    (udev_rules.rules, "block_devices/50-udev-default.rules"),
    (
        dm_multipath.tables,
        "mpatha: 0 65536 multipath 1 queue_if_no_path 1 alua 1 1 service-time 0\n",
    ),
    (
        dm_multipath.states,
        "a: 0 6 multipath 2 0 1 0 2 1 A 0 1 2 8:0 A 0 0 1 E 0 1 2 8:16 F 1 0 1\n",
    ),
    (dm_multipath.queueing, "uuid queueing\n1Linux_scsi_debug_2000 24 chk  \n"),
    (ldconfig.parse, "ldconfig/debian-12.txt"),
    (apachebench.parse, "latency/apachebench-foreground-check.txt"),
    (awr.parse, "latency/awr-11.2.0.1-shortened.txt"),
    (awr.parse, "latency/awr-11.2.0.3-top-and-statistics-cache.txt"),
    (awr.parse, "latency/awr-11.2-rac-waits.txt"),
    (awr.parse, "latency/awr-19c-pdb-shortened.txt"),
    (awr.parse, "latency/awr-19c-made-up.txt"),
    (awr.parse, "latency/awr-19c-securefiles-made-up.txt"),
    (statspack.parse, "latency/statspack-11.2-lobs-made-up.txt"),
    (awr_global.parse, "latency/awr-global-11.2-top.txt"),
    (awr_global.parse, "latency/awr-global-11.2-system.txt"),
    (devio_stats.parse, "latency/devio_stats-seed.txt"),
    (iolstats.parse, "latency/iolstats-seed-long.txt"),
    (iolstats.parse, "latency/iolstats-seed-smartscan.txt"),
    (oratcptest.parse, "latency/oratcptest-250-bytes.txt"),
    (orion.parse, "latency/orion-19.3.txt"),
    (orion.parse, "latency/orion-11.1-grep-default.txt"),
    (slob.parse_db_stats, "latency/slob-db_stats.txt"),
    (slob.parse_grep, "latency/slob-grep-single-block.txt"),
    (slob.parse_grep, "latency/slob-grep-physical-reads.txt"),
    (slob.parse_info, "latency/slob-awr_info-made-up.txt"),
    (slob_conf.parse, "latency/slob-made-up.conf"),
    (datasources_xml.parse, "pool_validation/standalone.xml"),
    (datasources_xml.from_kept, "[]"),
    (tomcat_resources.parse, "pool_validation/tomcat-context-made-up.xml"),
    (pool_properties.parse, "pool_validation/application-made-up.properties"),
    (pools.from_kept, "[]"),
    (lambda text: cli_answers.parse(text, 5), "pool_validation/answers.json"),
    (statspack.parse, "latency/statspack-made-up.txt"),
    (statspack.parse, "latency/statspack-11.2-lobs-made-up.txt"),
    (awr.parse, "latency/awr-19c-securefiles-made-up.txt"),
    (ontap_ems.parse, "ontap_ems/made-up.log"),
    (snmp_output.parse, "snmp_output/net-snmp-5.9.3-get.txt"),
    (aix_filesystems.parse, "aix_filesystems/made-up.txt"),
    (aix_mount_options.parse, "rw,maxpout=60,minpout=40,log=/dev/loglv01,cio"),
    (halevel.parse, "7.2.3 SP1\n"),
    (ioo.parse, "ioo/aix-6.1.txt"),
    (ioo.parse_interfaces, "ifconfig/aix-two-interfaces.txt"),
    (lparstat.parse, "lparstat/aix-shared.txt"),
    (proc_stat.parse, "cpu  5000 0 2000 90000 400 0 10 0 0 0\n"),
    (lsattr.parse, "lsattr/sys0-aix-5.txt"),
    (lsattr.parse_legal, "0...32769 (+4)\nany\n"),
    (lslpp.parse, "lslpp/powerha-7.2.2.txt"),
    (lssrc.parse, "lssrc/powerha.txt"),
    (oslevel.parse, "7200-05-03-2148\n"),
    (alert_log_large_pages.parse, "alert_log/11.2.0.3-short.txt"),
    (alert_log_large_pages.parse, "alert_log/11.2.0.2-refused.txt"),
    (alert_log_large_pages.parse, "alert_log/12.1-short.txt"),
    (autofs_map.parse_map, "/u01/a -rw,hard f:/v \\\n g:/v\n* -hard f:/&\n+more\n"),
    (autofs_map.parse_master, "/- /etc/auto.direct -rw,hard\n+dir:/etc/auto.master.d\n"),
    (fstab.bad_lines, "f:/a\\040b /u01/a\\040b nfs rw,bg, hard 0 0\nrubbish\n"),
    (
        lambda text: fstab.with_entry(fstab.with_options(text, "/u01", "x"), "a", "/b", "c", "d"),
        "# x\nf:/a /u01 nfs rw,bg,hard 0 0\n",
    ),
    (lambda text: modprobe_d.parse(text, "x"), "options sunrpc a=1 \\\n b=2\ninstall nfs x\n"),
    (
        lambda text: nfs_options.effective(nfs_options.parse(text), "Linux"),
        'rw,bg,soft,vers=4,minorversion=1,actimeo=0,timeo=600,rsize=32768,context="a,b"',
    ),
    (
        lambda text: nfs_options.edit(text, {"recovery": "hard", "vers": "3", "acregmin": "0"}),
        "rw,bg,soft,vers=4,minorversion=1,actimeo=7",
    ),
    (
        lambda text: nfsmount_conf.added(nfsmount_conf.parse([("x", text)]), "hard", "f", "/u01"),
        '[ NFSMount_Global_Options ]\nrsize=32k\nSoft=True\n[ Server "f" ]\nDefaultvers=3\n',
    ),
    (lambda text: systemd_unit.parse(text, "x"), "[Mount]\nWhat=f:/v\nOptions=a,\\\n b\n"),
    (systemd_unit.unit_path, "u01-with\\x20space.mount"),
    (systemd_unit.unit_name, "/u01/with space"),
    (vfstab.parse, "vfstab/made-up.txt"),
    (bracketed.parse, "always [madvise] never\n"),
    (buddyinfo.parse, "buddyinfo/linux-6.18-one-node.txt"),
    (diskstats.parse, "diskstats/linux-6.18-reads-1.txt"),
    (fio.parse, "fio/fio-3.33-libaio-8k-depth-8.json"),
    (fio.parse, "fio/fio-2-layout.json"),
    (getent.parse_group, "dba:x:54322:oracle,grid\n"),
    (getent.parse_passwd, "oracle:x:54321:54322::/home/oracle:/bin/bash\n"),
    (lambda text: chrony_conf.parse(text, "x"), "chrony/debian-12-chrony.conf"),
    (
        lambda text: [
            chrony_conf.makestep(directive) for directive in chrony_conf.parse(text, "x")
        ],
        "makestep 1.0 3\n",
    ),
    (
        lambda text: chrony_conf.follow("/a", lambda path: text, lambda folder: ["b.conf"]),
        "makestep 1.0 -1\nconfdi /etc/x\ninclud /etc/x\n",
    ),
    (lambda text: [*getent.parse_ahosts(text)], "hosts/glibc-2.36-ahosts-own.txt"),
    (hosts_file.parse, "hosts/man-pages-6.03-example.txt"),
    (nsswitch.parse_hosts, "hosts/debian-12-nsswitch.conf"),
    (resolv_conf.parse, "search a b\noptions timeout:1 attempts:2 rotate\nnameserver ::1\n"),
    (
        lambda text: dns_message.parse(text.encode("latin-1", "replace"), "rac-scan"),
        "\xf4\x26\x81\x80\0\x01\0\x01\0\0\0\0\x08rac-scan\0\0\x01\0\x01"
        "\xc0\x0c\0\x01\0\x01\0\0\0<\0\x04\xc0\0\x02\x15",
    ),
    (time_sources.parse_chrony_sources, "chrony/chrony-4.3-sources.csv"),
    (time_sources.parse_tracking, "chrony/chrony-4.3-tracking.csv"),
    (time_sources.parse_ntpq, "chrony/ntpq-made-up.txt"),
    (
        lambda text: [
            unit_properties.expanded(unit_properties.argv(unit), [text])
            for unit in unit_properties.parse(text)
        ],
        "Id=a\nExecStart={ path=/a ; argv[]=/a $B ; x }\nB=-x\nEnvironmentFiles=/b (x)\n\nId=c\n",
    ),
    (ip_addr.parse, "ip_addr/iproute2-6.1.txt"),
    (
        lambda text: orabasetab.parse(text, "/u01/app/oracle/product/19.0.0/dbhome_1"),
        "orabasetab/read-only.txt",
    ),
    (oracle_inventory.parse, "oracle_inventory/inventory.xml"),
    (lambda text: oracle_net_data.as_data(oracle_net.parse(text)), "oracle_net/good/14-quotes.ora"),
    (
        lambda text: oracle_net_data.as_data(oracle_net.parse(text)),
        "oracle_net/good/29-parenthesis-before-the-keyword.ora",
    ),
    (oracle_inventory.parse_pointer, "inventory_loc=/u01/app/oraInventory\n"),
    (oranfstab.parse, "oranfstab/guide.txt"),
    (oratab.parse, "oratab/root-sh.txt"),
    (proc_net_tcp.parse, "proc_net_tcp/linux-6.18-tcp6.txt"),
    (cpuinfo.parse, "processor\t: 0\nmodel name\t: Intel(R) Xeon(R)\n\nprocessor\t: 1\n"),
    (crsconfig_params.parse, "ORACLE_OWNER=grid\nCLUSTER_NAME=rac1\nNODE_NAME_LIST=db1,db2\n"),
    (ethtool_driver.parse, "driver: ixgbe\nversion: 5.15.0\nfirmware-version: 0x800008a4\n"),
    (parse_usage, "4096 66053021 16653679 16777216 15572116\n"),
    (package_list.parse, "glibc\t2.34-100.el9\tx86_64\tinstalled\n"),
    (transaction.parse_apt, "packages/apt-get-upgrade.txt"),
    (transaction.parse_dnf, "packages/dnf-upgrade.txt"),
    (transaction.parse_zypper, "packages/zypper-install.txt"),
    (os_release.parse, 'NAME="Oracle Linux Server"\n# x\nPRETTY_NAME="Oracle Linux 9.4"\n'),
    (kernel_cmdline.parse, 'ro a="b c" hugepagesz=1G hugepages=0:4,1:4\n'),
    (
        lambda text: kernel_cmdline.hugepages(kernel_cmdline.parse(text), 2 << 20),
        "default_hugepagesz=2M hugepages=3 hugepagesz=1G hugepages=0:4,1:4\n",
    ),
    (kernel_release.parse, "5.15.0-100.96.32.el8uek.x86_64\n"),
    (
        lambda text: limits_conf.resolve(
            limits_conf.parse(text, "x").entries, "oracle", ["dba"], "memlock", 1, 1
        ),
        "oracle soft memlock 64\n@1:2 - memlock 65\n:1 - memlock 66\n",
    ),
    (limits_conf.kilobytes, "3145728"),
    (listener_log.parse, "listener_log/limited.log"),
    (listening_sockets.parse, "listening_sockets/iproute2-6.1.txt"),
    (meminfo.parse, "meminfo/linux-6.18-no-pool.txt"),
    (partial(mount_command.parse, nfs_options.AIX), "mount/aix-mount.txt"),
    (partial(mount_command.parse, nfs_options.HPUX), "mount/hpux-mount-v.txt"),
    (partial(mount_command.parse, nfs_options.SOLARIS), "mount/solaris-mount-v.txt"),
    (lambda text: mountinfo.visible(mountinfo.parse(text)), "mountinfo/linux-6.1-nfs.txt"),
    (mountstats.parse, "mountstats/linux-6.1-load-1.txt"),
    (numa_maps.parse, "numa_maps/sysv-segment-4k.txt"),
    (pfile.parse, "pfile/initORCL.ora"),
    (pfile.parse, "pfile/hand-written.ora"),
    (proc_cgroup.parse, "0::/user.slice/user-54321.slice/session-3.scope\n"),
    (proc_limits.parse, "proc_limits/linux-6.18.txt"),
    (pid_stat.parse, "pid_stat/linux-6.18-rr.txt"),
    (proc_net_rpc_nfs.parse, "proc_net_rpc_nfs/linux-6.1-load-1.txt"),
    (proc_net_snmp.parse, "proc_net_snmp/linux-6.1-netstat-load-1.txt"),
    (lambda text: open_flags.parse(text, "x86_64"), "0140002"),
    (kernel_log.of_journal, "1795231561.123456 db1 kernel: nfs: server 10.9.0.2 OK\n"),
    (lambda text: kernel_log.of_dmesg(text, 0.0), "kernel_log/dmesg-nfs.txt"),
    (
        lambda text: nfs_silence.silences((0.0, line) for line in text.split("\n")),
        "kernel_log/dmesg-nfs.txt",
    ),
    (lambda text: alert_log.moment(text, 0), "*** 2014-09-10T09:58:17.159123+02:00"),
    (lambda text: io_messages.parse(text, 0), "io_messages/solaris-ora-27063.txt"),
    (
        proc_swaps.parse,
        "Filename\tType\tSize\tUsed\tPriority\n/dev/dm-1 partition 8388604 1024 -2\n",
    ),
    (vmstat.parse, "pswpin 12\npswpout 7\n"),
    (proc_maps.parse, "proc_maps/sysv-segment-4k.txt"),
    (socket_info.parse, "socket_info/linux-6.1-load-2.txt"),
    (smaps.parse, "smaps/sysv-segment-4k.txt"),
    (
        lambda text: spfile.parse(text + "\0" * (-len(text) % 512)),
        "\1" + "\0" * 511 + "*.pre_page_sga=TRUE\n",
    ),
    (sqlplus_rows.parse, "hostproof-begin\n|v|a\\pb|\\0|\nhostproof-end\n"),
    (
        lambda text: sysctl_d.resolve(sysctl_d.parse(text, "x").assignments, "vm.nr_hugepages"),
        "vm.nr_hugepages = 5\nvm.nr_h[u]ge* = 6\n-vm.nr_hugepages\n",
    ),
    (sysvipc_sem.parse, "sysvipc_sem/linux-6.18-two-sets.txt"),
    (sysvipc_shm.parse, "sysvipc_shm/linux-6.18-two-segments.txt"),
    (
        lambda text: tmpfiles_d.writes(tmpfiles_d.parse(text, "x"), "/a"),
        "w /a - - - - \\x41\nw+ /[a] - - - - b\n",
    ),
    (
        lambda text: rtnetlink.parse(text.encode("utf-8", "surrogateescape"), 1),
        "H\0\0\0\x18\0\0\0\1\0\0\0\0\0\0\0\2 \0\0\0\2\0\1\0\0\0\0\x08\0\4\0\2\0\0\0"
        "\x08\0\5\0\x0a\1\1\1\x0a\0\x12\0\2\0AAAA\0\0\x10\0\x09\0\x0c\0\0\0\2\0\0\0\0\0\0\0",
    ),
    (
        lambda text: tns_packet.answer(
            tns_packet.split(text.encode("utf-8", "surrogateescape"))[0]
        ),
        '\0A\0\0\4\0\0\0"\0\x005(DESCRIPTION=(TMP=)(VSNNUM=0)(ERR=0)(ALIAS=LISTENER))',
    ),
    (
        lambda text: tns_packet.answer(
            tns_packet.split(text.encode("utf-8", "surrogateescape"))[0]
        ),
        "\0\n\0\0\5\2\0\0\0\x1a\0$\0\0\6\0\0\0\0\0(HOST=db2)(PORT=1523)\0ping",
    ),
    (tuned.active_profiles, "oracle\n"),
    (partial(tuned.parse_profile, path="x"), "tuned/oracle.conf"),
    (tuned.reapply_sysctl, "tuned/tuned-main.conf"),
    # What reads a part of another's text.
    (
        lambda text: [command_effects.effects(line) for line in shell_words.joined(text)],
        "#!/bin/sh -e\nif true; then echo 5 > /proc/sys/vm/nr_hugepages; fi\n"
        "sysctl -w a.b=1 c=2 \\\n && mount -a | tee \"$x\" 'y' >>/dev/null &\n",
    ),
    (
        lambda text: script_lines.reached(text.split("\n"), text.count("\n") + 1),
        "#!/bin/sh -e\nsysctl -p\n",
    ),
    (
        lambda text: started_commands.of_exec(started_commands.of_unit(text) or ""),
        "ExecStart=-/bin/sh -c 'echo 1 > /sys/x; mount -o rw /u01'",
    ),
    (lambda text: started_commands.of_crontab(text, True), "@reboot root sysctl -w vm.x=1"),
    (lambda text: started_commands.of_udev(text), 'RUN+="/sbin/x", SYSCTL{a/b}="1"'),
    (
        lambda text: conf_d.effective_files(conf_d.directories("sysctl.d"), text.split("\n")),
        "/etc/sysctl.d/a.conf\n/usr/lib/sysctl.d/a.conf\n/run/sysctl.d/b.conf",
    ),
    (_dashed_table, "----- ------ ---\nabc   1,234  35.9K\n"),
    (lambda text: glob_pattern.fits("nr_hugepages", text), "nr_[!a-g]*?[]a-g]*s"),
    (dashed_table.number, "1.718E+08"),
    (lambda text: idle_events.is_idle(text, 20), "SQL*Net message from"),
    (kernel_config.parse, 'CONFIG_A=y\n# CONFIG_B is not set\nCONFIG_C="x"\n'),
    (
        lambda text: mount_refusals.refused(text, "nfs", kernel_release.parse("5.15.0")),
        "rw,hard,vers=3,timeo=600,nosuch=1,rsize=x,sec=krb5,noac",
    ),
    (lambda text: mount_refusals.value_read(text, None), "0x10"),
    (number.integer, "1234"),
    (number.clipped, "00012"),
    (lambda text: number.json_tree("x", text), '{"a": [1, 2.5, {"b": null}]}'),
    (
        proc_status.parse,
        "Name:\tora_pmon_A\nUid:\t1\t2\t3\t4\nGid:\t1\t2\t3\t4\nGroups:\t5 6\n"
        "HugetlbPages:\t 2048 kB\n",
    ),
    (
        lambda text: report_head.parse(text.split("\n")),
        "DB Name DB Id Instance\n------- ----- --------\nORCL 1 orcl\nBegin Snap: 1 01-Jan-20 1\n",
    ),
    (lambda text: [ellipsis_marks.is_mark(line) for line in text.split("\n")], "  [...]\nsnip\n"),
    (lambda text: _size(text), "1.5T"),
    (
        lambda text: snmp_message.engine_id(text.encode("latin-1", "replace")),
        snmp_agents.report(bytes.fromhex("80001f8880938d6b00e061016b00000000")).decode("latin-1"),
    ),
    (lambda text: sysctl_number.read(text, sysctl_number.SLOTS), " 0x80 \n"),
    (lambda text: sysctl_number.read_parameter(text, sysctl_number.SLOTS), "+128\n"),
    (lambda text: sysctl_number.read_decimal(text, sysctl_number.SLOTS), "+128\n"),
    (lambda text: tcp_info.parse(text.encode("latin-1", "replace")), "\1" * 104 + "\0\2\0\4" * 32),
]

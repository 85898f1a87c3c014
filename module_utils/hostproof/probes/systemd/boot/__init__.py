# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a reboot will set: every place that can hold a kernel setting, in the order of boot.

Sources: sysctl.d(5) and tmpfiles.d(5) of systemd; tuned-main.conf(5) (``reapply_sysctl``) and
TuneD, tuned/plugins/plugin_sysctl.py, plugin_sysfs.py and plugin_vm.py; sysctl(8) of procps;
kernel-parameters.rst (``sysctl.*``). The numbers are read as the kernel does (sysctl_number).

``reading`` reads all places once (read_boot), with ``sysctl_files`` and ``tuned_profile``;
``writes`` lists what each place writes, in order; ``winner`` decides what is left after them.
"""

from .model import (
    NO_TUNED,
    OF_SERVICES,
    PROC_SYS,
    Boot,
    Setting,
    SysctlTree,
    Tuned,
    Write,
    parameters,
)
from .reading import (
    read_boot,
)
from .sysctl_files import (
    SYSCTL_CREDENTIALS,
    with_sysctl_file,
)
from .tuned_profile import (
    read_tuned,
)
from .winner import (
    SysctlAtBoot,
    outcome,
    read_decimal,
    read_value,
    setting_text,
    sysctl_at_boot,
    unseen,
    why_it_loses,
)
from .writes import (
    later_writes,
    tmpfiles_writes,
)

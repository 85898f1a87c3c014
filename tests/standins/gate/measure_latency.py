#!/usr/bin/python
"""Stands in for the module measure_latency: windows of a network whose delay a file tells.

Every probe is of mode request_response; the file PORT in the folder that the environment variable
GATE_DELAYS names holds milliseconds, and behind them the MTU of the path if it is to be told. The
windows scatter by 1 %, the same way in each run, so that a verdict rests on no clock. A file that
is missing is a probe that could not be measured.
"""

import os

from ansible.module_utils.basic import AnsibleModule
from ansible.module_utils.hostproof.collect.measured import window_from_samples


def main():
    module = AnsibleModule(
        argument_spec={
            "probes": {"type": "list", "elements": "dict", "required": True},
            "windows": {"type": "int", "required": True},
            "seconds": {"type": "float", "required": True},
            "pause": {"type": "float", "required": True},
        },
        supports_check_mode=True,
    )
    if module.check_mode:
        module.exit_json(changed=False, windows=[], remarks=[], table=[])
    windows = []
    remarks = []
    for probe in module.params["probes"]:
        name = "{0}:{1}".format(probe["host"], probe["port"])
        path = os.path.join(os.environ["GATE_DELAYS"], str(probe["port"]))
        if not os.path.exists(path):
            remarks.append("tcp: no answer from {0}".format(name))
            continue
        with open(path) as stream:
            delay, mtu = (stream.read().split() + [None])[:2]
        for number in range(module.params["windows"]):
            # In steps of half a per cent: 0, 2, -1, 1, -2 and again. Neighbours are not alike.
            scatter = 1 + 0.005 * ((number * 2 + 2) % 5 - 2)
            level = (300000 + float(delay) * 1000000) * scatter
            samples = [int(level * (0.9 + step / 500.0)) for step in range(100)]
            conditions = {"mode": "request_response", "cpus": 4, "load": 0.5}
            if mtu:
                conditions["mtu"] = int(mtu)
            window = window_from_samples(
                "tcp", name, "user", 12, 1000.0 + 3 * number, 3.0, samples, conditions
            )
            windows.append(window.to_json())
    if not windows:
        module.fail_json(msg="nothing could be measured: {0}".format("; ".join(remarks)))
    module.exit_json(changed=False, windows=windows, remarks=remarks, table=[])


if __name__ == "__main__":
    main()

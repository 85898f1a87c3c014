#!/bin/sh
# The disks of a machine with dm-multipath, as it was recorded: a map with two paths to one unit.
python3 standins/recorded_host.py fixtures/block_devices/two-paths.json
mkdir -p /etc/udev/rules.d

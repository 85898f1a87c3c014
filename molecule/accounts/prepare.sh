#!/bin/sh
# One group and one account exist already; apply adds the account to the missing group.
groupadd -g 64321 hpinstall
useradd -m -u 64331 -g hpinstall -s /bin/bash hpgrid

#!/bin/sh
# What your hosts have before Hostproof comes: accounts, and files of packages and administrators.
getent group oinstall > /dev/null || groupadd --gid 54321 oinstall
getent passwd oracle > /dev/null || useradd --uid 54321 --gid oinstall --create-home oracle
getent passwd grid > /dev/null || useradd --uid 54331 --gid oinstall --create-home grid

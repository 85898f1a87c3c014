#!/bin/sh
# A chronyd that may step for ever. The program is a stand-in, for a container may not set the clock:
# only its name, its owner and its age count.
mkdir -p /etc/chrony/conf.d
cat > /etc/chrony/chrony.conf <<'CONF'
pool ntp.example.com iburst
makestep 0.5 -1
confdir /etc/chrony/conf.d
CONF
cp "$(command -v cat)" /usr/sbin/chronyd
mkfifo /run/chronyd.standin
setsid /usr/sbin/chronyd <> /run/chronyd.standin > /dev/null 2>&1 &

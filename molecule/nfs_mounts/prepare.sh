#!/bin/sh
# What an administrator left before Hostproof came, and what stands in for an init.
# An fstab of odd shape, without a newline at its end.
install -m 0640 scenario/fstab /etc/fstab

# Mount points, and systemd's folder, which says that systemd runs.
mkdir -p /u02/oradata /backup /etc/modprobe.d /etc/systemd/system /run/systemd/system

# A stand-in of systemctl that notes what it was asked.
cat > /usr/local/bin/systemctl <<'EOF'
#!/bin/sh
echo "$*" >> /run/systemctl.log
[ "$1" != is-enabled ] || {
  test -e /run/autofs-is-enabled && echo enabled || { echo disabled; exit 1; }
}
EOF
chmod 0755 /usr/local/bin/systemctl

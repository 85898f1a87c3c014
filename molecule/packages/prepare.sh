#!/bin/sh
# The container has no network: its only repository holds empty packages with the names of the real ones.
set -e
repository=/srv/repository
mkdir -p $repository

package() { # name, dependencies, postinst
  folder=/tmp/package/$1
  mkdir -p "$folder/DEBIAN"
  printf 'Package: %s\nVersion: 99\nArchitecture: amd64\nMaintainer: test\nDescription: test\nDepends: %s\n' \
    "$1" "$2" | sed '/^Depends: $/d' > "$folder/DEBIAN/control"
  if [ -n "${3:-}" ]; then
    printf '#!/bin/sh\n%s\n' "${3:-}" > "$folder/DEBIAN/postinst"
    chmod 0755 "$folder/DEBIAN/postinst"
  fi
  dpkg-deb --build "$folder" "$repository/$1.deb" > /dev/null
}

for name in bc binutils fontconfig ksh libasan8 libc6-dev libelf1 libibverbs1 liblsan0 libnsl2 librdmacm1 libvirt0 \
  libx11-6 libxau6 libxcb1 libxi6 libxrender1 libxtst6 make smartmontools sysstat; do
  package $name ''
done
# A package that comes along, one that another package needs, and one whose installation fails.
package libaio1 hp-dependency
package hp-dependency ''
package hp-dependent libaio1
package hp-broken hp-companion 'exit 1'
package hp-companion ''

cd $repository
for file in *.deb; do
  dpkg-deb --field "$file"
  printf 'Filename: ./%s\nSize: %s\nSHA256: %s\n\n' "$file" "$(stat -c %s "$file")" "$(sha256sum < "$file" | cut -d' ' -f1)"
done > Packages
rm -f /etc/apt/sources.list /etc/apt/sources.list.d/*
echo "deb [trusted=yes] file:$repository ./" > /etc/apt/sources.list
echo 'APT::Sandbox::User "root";' > /etc/apt/apt.conf.d/sandbox
apt-get update > /dev/null

#!/bin/sh
# A database home and a Grid home with the stand-ins of the listener and its tools.
home=/u01/app/oracle/product/19.0.0/dbhome_1
grid=/u01/app/19.0.0/grid
getent passwd grid >/dev/null || useradd --uid 54331 --gid oinstall --create-home grid

# Copies of the owner: what a link leads to is not run.
for owner_home in "oracle:$home" "grid:$grid"; do
  owner=${owner_home%%:*} home_of=${owner_home#*:}
  install -d -m 0755 -o "$owner" -g oinstall "/u01/app/$owner" "$home_of" "$home_of/bin" \
    "$home_of/network" "$home_of/network/admin"
  for tool in tns_listener.py lsnrctl crsctl srvctl; do
    install -m 0755 -o "$owner" -g oinstall "standins/$tool" "$home_of/bin/$tool"
  done
  install -m 0755 -o "$owner" -g oinstall standins/tns_listener.py "$home_of/bin/tnslsnr"
done

# A listener.ora of odd shape, and one as the agent of Grid Infrastructure writes it.
install -m 0640 -o oracle -g oinstall scenario/files/listener.ora "$home/network/admin/listener.ora"
install -m 0640 -o grid -g oinstall scenario/files/grid-listener.ora "$grid/network/admin/listener.ora"

start() {
  (cd / && ORACLE_HOME=$2 ORACLE_BASE=/u01/app/$1 TNS_ADMIN='' \
    setpriv "--reuid=$1" --regid=oinstall --clear-groups "$2/bin/lsnrctl" start "$3")
}
start oracle "$home" LISTENER
start grid "$grid" GRIDL

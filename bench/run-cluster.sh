#!/usr/bin/env bash
# bench/run-cluster.sh [SECONDS]: two nodes on loopback, 64 callers: proposals decided where they are made, and proposals
# decided by the other node over TLS; then how soon a journal entry of one is seen on the other. Wants a finished build/.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
. scripts/common.sh
. scripts/three-devices.sh
seconds=${1:-10}
witan=build/witan demo=$(mktemp -d)
trap 'stopDevices; rm -rf "$demo"' EXIT
port=$(freePort 7700)
w front-desk init --name front-desk --listen "127.0.0.1:$port" >/dev/null
startDevice front-desk
w lab join "$(w front-desk device invite 2>/dev/null)" --name lab --listen "127.0.0.1:$(freePort $((port + 1)))" >/dev/null
startDevice lab
w lab status --wait connected >/dev/null
of() { sed -n "s/.*\"$2\":\"\([^\"]*\)\".*/\1/p" "$demo/$1"; }
for device in front-desk lab; do
  for callers in 1 64 256; do
    printf '%-10s ' "$device"
    build/bench/witan_cluster_bench --url "$(of $device/control.json address)" --token "$(of $device/control.tokens operator)" \
      --callers $callers --seconds "$seconds" --run "$device-$callers"
  done
done

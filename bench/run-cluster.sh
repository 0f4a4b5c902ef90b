#!/usr/bin/env bash
# bench/run-cluster.sh [SECONDS]: what an idle node takes; two nodes on loopback: proposals decided where they are made, and
# by the other node over TLS, in turns; how soon a change of one is seen on the other; what 10,000 agents take. Wants a
# finished build/.
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
of() { sed -n "s/.*\"$2\":\"\([^\"]*\)\".*/\1/p" "$demo/$1"; }
bench() { local device=$1; shift; build/bench/witan_cluster_bench --url "$(of $device/control.json address)" --token "$(of $device/control.tokens operator)" "$@"; }
# Resident memory (of which not shared), and the share of a core over some seconds.
ticks() { awk '{ print $14 + $15 }' "/proc/$1/stat"; }
takes() {
  local pid=$1 over=$2 before
  before=$(ticks "$pid")
  sleep "$over"
  awk -v ticks=$(($(ticks "$pid") - before)) -v hz="$(getconf CLK_TCK)" -v over="$over" '
    /^Rss:/ { rss = $2 } /^Private_/ { own += $2 }
    END { printf "%.1f MB resident, %.1f MB of it its own; %.2f%% of a core over %d s\n", rss / 1000, own / 1000, 100 * ticks / hz / over, over }' "/proc/$pid/smaps_rollup"
}
printf 'an idle node: '
takes "${pids[0]}" 20
w lab join "$(w front-desk device invite --role ledger --role '*' 2>/dev/null)" --name lab --listen "127.0.0.1:$(freePort $((port + 1)))" >/dev/null
startDevice lab
w lab status --wait connected >/dev/null
for callers in 1 64 256; do
  for device in front-desk lab front-desk lab; do
    printf '%-10s ' "$device"
    bench $device --callers $callers --seconds "$seconds" --run "$device-$callers-$RANDOM"
  done
done
bench front-desk --live 500 --see "$(of lab/control.json address)" --see-token "$(of lab/control.tokens operator)"
w alone init --name alone --listen "127.0.0.1:$(freePort $((port + 2)))" >/dev/null
startDevice alone
bench alone --agents 10000
printf 'a node with 10,000 agents: '
takes "${pids[2]}" 20
kill -TERM "${pids[2]}"
wait "${pids[2]}" || true
unset 'pids[2]'
startDevice alone
printf 'started again: '
takes "${pids[-1]}" 20

#!/usr/bin/env bash
# bench/run-mesh.sh [NODES] [EDITS] [PROGRAM]: so many nodes on loopback with eight links each: their memory, what they
# take when nothing happens, and how soon an edit of one is on all. Wants a finished build/, or PROGRAM.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
. scripts/common.sh
. scripts/three-devices.sh
nodes=${1:-50} edits=${2:-100} witan=${3:-build/witan} demo=$(mktemp -d)
trap 'stopDevices; rm -rf "$demo"' EXIT
port=$(freePort 17700)
w d0 init --name d0 --listen "127.0.0.1:$port" >/dev/null
startDevice d0
for ((n = 1; n < nodes; ++n)); do
  port=$(freePort $((port + 1)))
  w "d$n" join "$(w d0 device invite --role ledger --role '*' 2>/dev/null)" --name "d$n" --listen "127.0.0.1:$port" >/dev/null
  startDevice "d$n"
done
printf '%d nodes up after %d s\n' "$nodes" "$SECONDS"
for ((n = 0; n < nodes; ++n)); do w "d$n" status --wait connected --timeout 120 >/dev/null || true; done
sleep 30
memory() { for pid in "${pids[@]}"; do cat "/proc/$pid/smaps_rollup"; done | awk -v what="$1" '
  /^Rss:/ { rss += $2 } /^Pss:/ { pss += $2 } END { printf "%s: %.0f MB (shared pages once), %.0f MB resident summed\n", what, pss / 1000, rss / 1000 }'; }
ticks() { local all=0 pid; for pid in "${pids[@]}"; do all=$((all + $(awk '{ print $14 + $15 }' "/proc/$pid/stat"))); done; echo $all; }
memory "memory of $nodes nodes"
before=$(ticks)
sleep 30
printf 'idle: %.1f %% of a core for all\n' "$(awk -v n=$(($(ticks) - before)) -v hz="$(getconf CLK_TCK)" 'BEGIN { print 100 * n / hz / 30 }')"
bench/mesh_latency.py "$demo" "$edits"
memory "memory after $edits edits"

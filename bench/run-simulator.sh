#!/usr/bin/env bash
# How fast the simulator is: simulated time over wall time on one core, seeds a minute on two, and memory.
#
#   bench/run-simulator.sh [PROGRAM]        default: build/witan
set -euo pipefail
witan=${1:-$(dirname "$0")/../build/witan}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cat >"$work/twenty-devices.toml" <<'TOML'
extends = "calm"
title = "Twenty devices, a thousand agents"
[cluster]
devices = 20
agents = 50
[work]
agentWrites = 12_000
TOML

# NAME SCENARIO SEEDS JOBS: a line of the table.
measure() {
  local out=$work/out
  "$witan" sim run "$2" --seeds "$3" --jobs "$4" --json 2>/dev/null | tail -n 1 >"$out"
  jq -r --arg name "$1" --arg jobs "$4" \
    '"| \($name) | \($jobs) | \(.seeds) | \(.failed | length) | \(.simulatedSeconds / .wallSeconds | floor)x | \(.seeds * 60 / .wallSeconds | floor) |"' "$out"
}

echo "| scenario | cores | seeds | failed | simulated / wall | seeds a minute |"
echo "|---|---|---|---|---|---|"
measure calm calm 1..100 1
measure everything everything 1..200 1
measure "RocksDB" rocksdb 1..40 1
measure "a month offline" month-offline 1..2 1
measure everything everything 1..400 2
measure "twenty devices" "$work/twenty-devices.toml" 1..1 1

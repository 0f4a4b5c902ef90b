#!/usr/bin/env bash
# How fast the simulator is: simulated time over wall time on one core, seeds a minute on two; and what an edit costs
# where twenty devices do nothing else.
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

cat >"$work/edits.toml" <<'TOML'
extends = "calm"
title = "Twenty devices edit"
[cluster]
devices = 20
agents = 2
entities = 1
partitions = 1
domains = "budget"
[time]
seconds = "5m"
[work]
agentWrites = 1_200
journalEdits = 0
messages = 0
batches = 0
summaries = 0
removals = 0
scopedWrites = 0
proposals = 0
repeats = 0
misuses = 0
decisions = 0
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
"$witan" sim run "$work/edits.toml" --seeds 1..1 --jobs 1 --json 2>/dev/null | tail -n 1 |
  jq -r '"\nTwenty devices that only edit: \(.frames / .commits | floor) frames and \(.bytes / .commits | floor) bytes an edit"'

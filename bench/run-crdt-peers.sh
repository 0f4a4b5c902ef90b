#!/bin/bash
# Replication beside Yjs, Loro and Automerge (Node, npm) on one workload, in one session: interleaved rounds, medians.
#
#   bench/run-crdt-peers.sh --peers DIR [--rounds N] [--build DIR] [--quick]
#
# DIR holds the peers' scripts (bench-w1.mjs, bench-w2.mjs, libs.mjs, workload.mjs, package.json); it is copied, and
# nothing is written to it. --quick leaves out the modes that take minutes. Without node, npm or DIR: one clear line.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
rounds=3 build=$root/build peers= quick=no
while [ $# -gt 0 ]; do
  case $1 in
    --peers) peers=$2; shift ;;
    --rounds) rounds=$2; shift ;;
    --build) build=$2; shift ;;
    --quick) quick=yes ;;
    *) sed -n '2,8s/^# \{0,1\}//p' "$0"; exit 2 ;;
  esac
  shift
done
[ -n "$peers" ] && [ -f "$peers/bench-w1.mjs" ] || { echo "no peers' scripts: give --peers DIR"; exit 2; }
command -v npm > /dev/null || { echo "node and npm are missing: apt-get install nodejs npm"; exit 2; }
cmake -S "$root" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DWITAN_BENCH=ON > /dev/null
ninja -C "$build" witan_replication_bench > /dev/null

dir=$(mktemp -d /var/tmp/witan-crdt.XXXXXX)
trap 'rm -rf "$dir"' EXIT
cp "$peers"/*.mjs "$peers"/package*.json "$dir"
(cd "$dir" && npm ci --silent --no-audit --no-fund > /dev/null)
node_flags="--max-old-space-size=8000 --initial-old-space-size=2048 --min-semi-space-size=64"

w1=("yjs map" "yjs docs" "loro map")
w2=("yjs 100000" "loro 100000")
if [ "$quick" = no ]; then
  w1+=("automerge map")
  w2+=("automerge-batch100 100000")
fi
: > "$dir/results"
for round in $(seq "$rounds"); do
  echo "round $round of $rounds"
  rm -rf "$dir/stores"
  "$build/bench/witan_replication_bench" w1 --dir "$dir/stores" | sed 's/^/w1 witan /' >> "$dir/results"
  "$build/bench/witan_replication_bench" w2 | sed 's/^/w2 witan /' >> "$dir/results"
  # shellcheck disable=SC2086  # both are lists of words
  for job in "${w1[@]}"; do
    (cd "$dir" && node $node_flags bench-w1.mjs $job) | tail -n 1 | sed "s/^/w1 ${job/ /-} /" >> "$dir/results"
  done
  # shellcheck disable=SC2086
  for job in "${w2[@]}"; do
    (cd "$dir" && node $node_flags bench-w2.mjs $job) | tail -n 1 | sed "s/^/w2 ${job%% *} /" >> "$dir/results"
  done
done
node - "$dir/results" << 'JS'
const lines = require('fs').readFileSync(process.argv[2], 'utf8').trim().split('\n');
const groups = {};
for (const line of lines) {
  const [w, lib, ...json] = line.split(' ');
  (groups[w + ' ' + lib] ??= []).push(JSON.parse(json.join(' ')));
}
const median = (rows, f) => rows.map(f).sort((a, b) => a - b)[rows.length >> 1];
const table = {};
for (const [name, rows] of Object.entries(groups)) {
  const heal = (o) => o.healCpuMs ?? o.syncCpuMs, all = (o) => heal(o) + (o.commitCpuMs ?? 0);
  table[name] = name.startsWith('w1')
    ? { heal: median(rows, heal), withCommits: median(rows, all), bytes: median(rows, (o) => o.bytes), rss: median(rows, (o) => o.peakRssMB) }
    : { applied: median(rows, (o) => o.applied_s), perUpdate: median(rows, (o) => o.bytesPerUpdate), rss: median(rows, (o) => o.peakRssMB) };
  if (!rows.every((o) => o.equal ?? o.ok)) throw new Error(name + ': replicas differ');
}
console.log('W1, heal: CPU ms (with store commits) | bytes | peak RSS MB | Witan is ... times faster (with commits) | ... times smaller');
const me = table['w1 witan'];
for (const [name, t] of Object.entries(table)) if (t.heal !== undefined)
  console.log(`  ${name.slice(3).padEnd(16)} ${t.heal.toFixed(1)} (${t.withCommits.toFixed(1)}) | ${t.bytes} | ${Math.round(t.rss)} | ${(t.heal / me.heal).toFixed(1)} (${(t.withCommits / me.withCommits).toFixed(1)}) | ${(t.bytes / me.bytes).toFixed(1)}`);
console.log('W2, one register: updates applied/s | bytes an update | peak RSS MB | Witan is ... times faster');
const my = table['w2 witan'];
for (const [name, t] of Object.entries(table)) if (t.applied !== undefined)
  console.log(`  ${name.slice(3).padEnd(20)} ${Math.round(t.applied)} | ${t.perUpdate} | ${Math.round(t.rss)} | ${(my.applied / t.applied).toFixed(1)}`);
JS

#!/bin/bash
# Durable two-step work beside Restate and DBOS (Node, npm), in one session: interleaved rounds, medians, ratios.
#
#   bench/run-durable-peers.sh --peers DIR [--rounds N] [--seconds N] [--kills N] [--build DIR] [--offline]
#
# DIR holds the peers' scripts: restate/{load,svc,crash-svc}.mjs, dbos/{bench,crash}.mjs, a package.json each, and
# medians.tsv with what they made elsewhere. It is copied, and nothing is written to it. A peer that cannot run here is
# named with the reason, and its recorded figures stand in its row, marked so. --offline: nothing is fetched; a peer runs
# if DIR has its node_modules. PostgreSQL, for DBOS, is Debian's, on a port of its own.
#
# The second table: 200 under way, SIGKILL, a new process; how long until all have finished, and how many steps had their
# effect twice. The peers' steps take 0.3 s each by themselves, ours none.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
rounds=3 seconds=5 kills=20 build=$root/build peers="" offline=no
while [ $# -gt 0 ]; do
  case $1 in
    --peers) peers=$2; shift ;;
    --rounds) rounds=$2; shift ;;
    --seconds) seconds=$2; shift ;;
    --kills) kills=$2; shift ;;
    --build) build=$2; shift ;;
    --offline) offline=yes ;;
    *) sed -n '2,13s/^# \{0,1\}//p' "$0"; exit 2 ;;
  esac
  shift
done
[ -n "$peers" ] && [ -f "$peers/restate/load.mjs" ] && [ -f "$peers/dbos/bench.mjs" ] || {
  echo "no peers' scripts: give --peers DIR"; exit 2; }
cmake -S "$root" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DWITAN_BENCH=ON > /dev/null
ninja -C "$build" witan_saga_bench witan_saga_kill_bench > /dev/null

dir=$(mktemp -d /var/tmp/witan-durable.XXXXXX)
chmod 755 "$dir"
pids=()
stopAll() { # of what this script started
  for pid in "${pids[@]}"; do kill -9 "$pid" 2> /dev/null || true; done
  pids=()
}
as=()
bin=$(ls -d /usr/lib/postgresql/*/bin 2> /dev/null | sort -V | tail -1)
finish() {
  stopAll
  if [ -s "$dir/pg/data/postmaster.pid" ]; then (cd "$dir/pg" && "${as[@]}" "$bin/pg_ctl" -D "$dir/pg/data" -m fast -w -s stop); fi
  rm -rf "$dir"
}
trap finish EXIT
results=$dir/results
: > "$results"
export RESTATE_DISABLE_TELEMETRY=true DO_NOT_TRACK=1

# --- which of them can run

installed() { # PEER MODULE: whether its modules are there; else says why not
  local peer=$1 module=$2
  cp -r "$peers/$peer" "$dir/$peer"
  chmod -R u+w "$dir/$peer"
  [ -d "$dir/$peer/node_modules/$module" ] && return 0
  command -v npm > /dev/null || { echo "node and npm are missing"; return 1; }
  [ "$offline" = no ] || { echo "$module is not in DIR/$peer/node_modules, and --offline fetches nothing"; return 1; }
  (cd "$dir/$peer" && npm install --silent --no-audit --no-fund > npm.log 2>&1) && [ -d "$dir/$peer/node_modules/$module" ] && return 0
  echo "npm could not install $module: $(tail -n 1 "$dir/$peer/npm.log" 2> /dev/null)"
  return 1
}
whyNoRestate=$(installed restate @restatedev/restate-server) || true
whyNoDbos=$(installed dbos @dbos-inc/dbos-sdk) || true
[ -n "$whyNoDbos" ] || [ -n "$bin" ] || whyNoDbos="PostgreSQL is missing: apt-get install postgresql"

# --- how fast

json() { node -e 'for (const l of require("fs").readFileSync(0, "utf8").trim().split("\n")) console.log(JSON.parse(l)[process.argv[1]])' "$1"; }
note() { while read -r rate; do echo "$1 $rate" >> "$results"; echo "  $1: $rate/s"; done; }

startRestate() { # SERVICE PORT
  (cd "$dir/restate" && rm -rf data && mkdir data
   exec node_modules/@restatedev/restate-server-linux-x64/bin/restate-server -c cfg.toml --base-dir "$PWD/data" --no-logo) >> "$dir/restate.log" 2>&1 &
  pids+=($!)
  (cd "$dir/restate" && SVC_PORT=$2 NODE_ENV=production exec node "$1") >> "$dir/restate.log" 2>&1 &
  pids+=($!)
  for _ in $(seq 60); do curl -sf http://127.0.0.1:19070/health > /dev/null && break; sleep 0.5; done
  curl -s -XPOST http://127.0.0.1:19070/deployments -H 'content-type: application/json' -d "{\"uri\":\"http://127.0.0.1:$2\"}" > /dev/null
}
restate() {
  startRestate svc.mjs 19080
  (cd "$dir/restate" && node load.mjs two 8 3 > /dev/null)
  for callers in 1 64; do (cd "$dir/restate" && node load.mjs two "$callers" "$seconds") | json wf_per_s | note "restate-$callers"; done
  stopAll
}
startPostgres() {
  [ ! -d "$dir/pg" ] || return 0
  mkdir "$dir/pg"
  if [ "$(id -u)" = 0 ]; then as=(runuser -u postgres --); chown postgres "$dir/pg"; fi
  cd "$dir/pg"
  "${as[@]}" "$bin/initdb" -D "$dir/pg/data" -A trust -U postgres --no-locale -E UTF8 > /dev/null
  "${as[@]}" "$bin/pg_ctl" -D "$dir/pg/data" -w -s -l "$dir/pg/log" -o \
    "-p 15432 -c listen_addresses=127.0.0.1 -c unix_socket_directories=$dir/pg -c fsync=on -c synchronous_commit=on" start
  cd "$root"
}
sql() { psql -qAt -h 127.0.0.1 -p 15432 -U postgres "$@"; }
dbos() {
  startPostgres
  sql -c "drop database if exists dbos_bench" -c "create database dbos_bench" 2> /dev/null
  for callers in 1 64; do (cd "$dir/dbos" && REPS=1 node bench.mjs "$callers" "$seconds") | json wf_per_s | note "dbos-$callers"; done
}
witan() {
  for callers in 1 64; do
    rm -rf "$dir/witan"
    "$build/bench/witan_saga_bench" --dir "$dir/witan" --callers "$callers" --seconds "$seconds" > "$dir/out"
    sed -n 's/.*: \([0-9]*\) sagas\/s.*/\1/p' "$dir/out" | note "witan-$callers"
    sed -n 's/two plain.*: \([0-9]*\)\/s/\1/p' "$dir/out" | note "plain-$callers"
  done
}
recorded() { awk -F'\t' -v n="$1" '$1 == n { sub("median=", "", $2); print $2 }' "$peers/medians.tsv"; }
for round in $(seq "$rounds"); do
  echo "round $round of $rounds ($(cut -d' ' -f1 /proc/loadavg) load)"
  witan
  [ -n "$whyNoRestate" ] || restate
  [ -n "$whyNoDbos" ] || dbos
done

# --- after a kill

stepsTwice() { awk '{ if (c[$1 " " $2]++ == 1) twice++ } END { print twice + 0 }' "$1"; }
restateKilled() {
  (cd "$dir/restate" && rm -f side.log && : > done.log)
  startRestate crash-svc.mjs 19081
  (cd "$dir/restate" && node -e 'Promise.all(Array.from({length:200},(_,i)=>fetch("http://127.0.0.1:18080/crash/c2/send",{method:"POST",headers:{"content-type":"application/json","idempotency-key":"k"+i},body:JSON.stringify({id:"w"+i})}).then(r=>r.text()))).then(()=>process.exit(0))')
  until grep -q agent "$dir/restate/side.log" 2> /dev/null; do sleep 0.02; done
  local begin; begin=$(date +%s%3N)
  kill -9 "${pids[1]}"; wait "${pids[1]}" 2> /dev/null || true
  (cd "$dir/restate" && exec node crash-svc.mjs) >> "$dir/restate.log" 2>&1 &
  pids+=($!)
  while [ "$(sort -u "$dir/restate/done.log" | wc -l)" -lt 200 ] && [ $(($(date +%s%3N) - begin)) -lt 60000 ]; do sleep 0.05; done
  restateKill="$(($(date +%s%3N) - begin)) $(stepsTwice "$dir/restate/side.log")"
  stopAll
}
dbosKilled() {
  sql -c "drop database if exists dbos_crash with (force)" -c "create database dbos_crash" 2> /dev/null
  rm -f "$dir/dbos/side.log"
  (cd "$dir/dbos" && exec node crash.mjs start 200) > /dev/null 2>&1 &
  local pid=$!; pids+=("$pid")
  until grep -q agent "$dir/dbos/side.log" 2> /dev/null; do sleep 0.02; done
  local begin; begin=$(date +%s%3N)
  kill -9 "$pid"; wait "$pid" 2> /dev/null || true
  (cd "$dir/dbos" && node crash.mjs recover 200) > /dev/null 2>&1
  dbosKill="$(($(date +%s%3N) - begin)) $(stepsTwice "$dir/dbos/side.log")"
  stopAll
}
ourKill=$("$build/bench/witan_saga_kill_bench" --dir "$dir/killed" --kills "$kills" | tail -n 1)
[ -n "$whyNoRestate" ] || restateKilled
[ -n "$whyNoDbos" ] || dbosKilled

# --- the tables

median() { awk -v n="$1" '$1 == n { print $2 }' "$results" | sort -g | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'; }
row() { # NAME RATE-1 RATE-64 NOTE
  awk -v n="$1" -v a="$2" -v b="$3" -v x="$(median witan-1)" -v y="$(median witan-64)" -v t="$4" \
    'BEGIN { printf "%-28s %9.0f %9.0f   %6.1fx %6.1fx   %s\n", n, a, b, x / a, y / b, t }'
}
echo
printf '%-28s %9s %9s   %15s\n' "medians of $rounds rounds" "1 caller" "64" "Witan is faster"
row "Witan, sagas/s" "$(median witan-1)" "$(median witan-64)" ""
row "two plain synced batches/s" "$(median plain-1)" "$(median plain-64)" "RocksDB alone"
if [ -z "$whyNoRestate" ]; then row "Restate, workflows/s" "$(median restate-1)" "$(median restate-64)" ""
else row "Restate, workflows/s" "$(recorded 'restate two C=1')" "$(recorded 'restate two C=64')" "RECORDED ELSEWHERE: $whyNoRestate"; fi
if [ -z "$whyNoDbos" ]; then row "DBOS, workflows/s" "$(median dbos-1)" "$(median dbos-64)" ""
else row "DBOS, workflows/s" "$(recorded 'dbos C=1')" "$(recorded 'dbos C=64')" "RECORDED ELSEWHERE: $whyNoDbos"; fi
echo
echo "Witan, killed: $ourKill"
[ -n "$whyNoRestate" ] || echo "Restate, service killed: all 200 after ${restateKill% *} ms, steps whose effect came twice: ${restateKill#* } of 400"
[ -n "$whyNoDbos" ] || echo "DBOS, killed: all 200 after ${dbosKill% *} ms, steps whose effect came twice: ${dbosKill#* } of 400"

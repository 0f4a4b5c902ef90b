#!/bin/bash
# Durable adjudication beside PostgreSQL and SQLite, in one session: interleaved rounds, medians, ratios, targets.
#
#   bench/run-peers.sh [--seconds N] [--rounds N] [--build DIR] [--dir DIR]
#
# Installs what is missing (Debian: postgresql, libsqlite3-dev), builds the programs, and leaves nothing running.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
seconds=5 rounds=3 build=$root/build dir=
while [ $# -gt 0 ]; do
  case $1 in
    --seconds) seconds=$2 ;;
    --rounds) rounds=$2 ;;
    --build) build=$2 ;;
    --dir) dir=$2 ;;
    *) sed -n '2,6s/^# \{0,1\}//p' "$0"; exit 2 ;;
  esac
  shift 2
done

need=()
command -v pgbench > /dev/null || need+=(postgresql postgresql-contrib)
[ -e /usr/include/sqlite3.h ] || need+=(libsqlite3-dev)
dpkg -s libbenchmark-dev > /dev/null 2>&1 || need+=(libbenchmark-dev)
if [ ${#need[@]} -gt 0 ]; then
  [ "$(id -u)" = 0 ] || { echo "missing: ${need[*]} (install them, or run as root)"; exit 1; }
  apt-get install -y -q --no-install-recommends "${need[@]}" > /dev/null
fi
cmake -S "$root" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DWITAN_BENCH=ON > /dev/null
ninja -C "$build" witan_durable_bench witan_sqlite_bench > /dev/null

made=
if [ -z "$dir" ]; then dir=$(mktemp -d /var/tmp/witan-peers.XXXXXX); made=$dir; fi
chmod 755 "$dir"
trap '[ -z "$made" ] || rm -rf "$made"' EXIT
results=$dir/results
: > "$results"

rate() { sed -n 's/.*: \([0-9]*\) decisions\/s.*/\1/p' | head -1; }
witan() { # NAME ARGUMENTS...
  local name=$1; shift
  rm -rf "$dir/witan"
  local out; out=$("$build/bench/witan_durable_bench" --dir "$dir/witan" --seconds "$seconds" "$@")
  echo "$out" | sed "s/^/  $name: /"
  echo "$name $(rate <<< "$out")" >> "$results"
}
sqlite() { # NAME ARGUMENTS...
  local name=$1; shift
  rm -f "$dir"/sqlite.db*
  local out; out=$("$build/bench/witan_sqlite_bench" --file "$dir/sqlite.db" --seconds "$seconds" "$@")
  echo "  $name: $out"
  echo "$name $(rate <<< "$out")" >> "$results"
}

for round in $(seq "$rounds"); do
  echo "round $round of $rounds ($(cut -d' ' -f1 /proc/loadavg) load)"
  "$root/bench/postgres/run.sh" "$dir/postgres" "$seconds" | while read -r _ variant budgets clients tps retried; do
    echo "  postgres $variant, $budgets budgets, $clients clients: $tps decisions/s, $retried retried"
    echo "pg-$variant-$budgets-$clients $tps" >> "$results"
  done
  witan witan-1-64 --budgets 1 --proposers 64
  witan witan-64-64 --budgets 64 --proposers 64
  for batch in 1 10 100; do
    sqlite "sqlite-$batch" --batch $batch
    witan "witan-batch-$batch" --batch $batch
    witan "witan-pipeline-$batch" --batch $batch --pipeline 1
  done
done

median() { awk -v n="$1" '$1 == n { print $2 }' "$results" | sort -g | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'; }
best() { for name in "$@"; do median "$name"; done | sort -g | tail -1; }
ratio() { # TEXT OURS THEIRS TARGET
  awk -v t="$1" -v a="$2" -v b="$3" -v g="$4" 'BEGIN { r = a / b; printf "%-66s %9.0f : %8.0f = %7.2fx  (target %sx) %s\n", t, a, b, r, g, (r >= g ? "met" : "MISSED") }'
}
echo "medians of $rounds rounds, decisions/s"
one=$(median witan-1-64) many=$(median witan-64-64)
ratio "one hot budget, 64 proposers : SERIALIZABLE with retries, 64" "$one" "$(median pg-serializable-1-64)" 100
ratio "one hot budget, 64 proposers : row lock, 64" "$one" "$(median pg-rowlock-1-64)" 30
ratio "one hot budget, 64 proposers : row lock, its best client count" "$one" "$(best pg-rowlock-1-1 pg-rowlock-1-16 pg-rowlock-1-64)" 30
ratio "64 budgets, 64 proposers : the better of both, 64 clients" "$many" "$(best pg-serializable-64-64 pg-rowlock-64-64)" 10
ratio "64 budgets, 64 proposers : PostgreSQL's best of all" "$many" "$(best pg-{serializable,rowlock}-64-{1,16,64})" 10
for batch in 100 10 1; do
  ratio "one writer, $batch a batch : SQLite, $batch a transaction" "$(median witan-batch-$batch)" "$(median sqlite-$batch)" 1
  ratio "the same, next batch decided meanwhile" "$(median witan-pipeline-$batch)" "$(median sqlite-$batch)" 1
done

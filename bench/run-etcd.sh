#!/bin/bash
# The etcd engine with three members on loopback: decisions per second beside plain transactions, and the time from the
# SIGKILL of an owner to the next decision elsewhere.
#
#   bench/run-etcd.sh [--seconds N] [--rounds N] [--kills N] [--in-flight "N N ..."] [--build DIR]
#
# Installs etcd-server (Debian) if it is missing, builds the programs, and leaves nothing running.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
seconds=5 rounds=3 kills=10 inFlight="256 1024" build=$root/build
while [ $# -gt 0 ]; do
  case $1 in
    --seconds) seconds=$2 ;;
    --rounds) rounds=$2 ;;
    --kills) kills=$2 ;;
    --in-flight) inFlight=$2 ;;
    --build) build=$2 ;;
    *) sed -n '2,7s/^# \{0,1\}//p' "$0"; exit 2 ;;
  esac
  shift 2
done
. "$root/scripts/common.sh"
command -v etcd >/dev/null || needPackages etcd-server
[ -n "${WITAN_NO_BUILD:-}" ] || ninja -C "$build" witan witan_etcd_bench >/dev/null
witan=$build/witan

dir=$(mktemp -d /var/tmp/witan-etcd.XXXXXX)
pids=()
declare -A up
cleanUp() {
  for pid in "${pids[@]}" "${up[@]}"; do kill -KILL "$pid" 2>/dev/null || true; done
  wait 2>/dev/null || true
  rm -rf "$dir"
}
trap cleanUp EXIT
trap 'exit 130' INT TERM

port=$((20000 + RANDOM % 20000))
next() { # a port that nobody listens on, in $port
  port=$((port + 1))
  while (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; do port=$((port + 1)); done
}
clients=() peers=() cluster=
for i in 0 1 2; do
  next; clients+=("127.0.0.1:$port")
  next; peers+=("http://127.0.0.1:$port")
  cluster+="${cluster:+,}m$i=${peers[i]}"
done
for i in 0 1 2; do
  etcd --name "m$i" --data-dir "$dir/m$i" --listen-client-urls "http://${clients[i]}" \
    --advertise-client-urls "http://${clients[i]}" --listen-peer-urls "${peers[i]}" \
    --initial-advertise-peer-urls "${peers[i]}" --initial-cluster "$cluster" --logger zap --log-level error \
    --quota-backend-bytes 8000000000 >"$dir/m$i.log" 2>&1 &
  pids+=($!)
done
endpoints=$(IFS=,; echo "${clients[*]}")

echo "three members of $(etcd --version | head -1), $(nproc) cores, load $(cut -d' ' -f1 /proc/loadavg)"
for round in $(seq "$rounds"); do
  for n in $inFlight; do
    echo "round $round, $n in flight, load $(cut -d' ' -f1 /proc/loadavg)"
    "$build/bench/witan_etcd_bench" --dir "$dir/bench-$round-$n" --etcd "$endpoints" --in-flight "$n" --seconds "$seconds"
    rm -rf "$dir/bench-$round-$n"
  done
done
[ "$kills" -gt 0 ] || exit 0

# Three nodes with a lease of 3 s.
urls=$(printf '"http://%s", ' "${clients[@]}")
startNode() {
  "$witan" up --dir "$dir/$1" 2>>"$dir/$1.log" &
  up[$1]=$!
  disown
  "$witan" status --dir "$dir/$1" --wait ready --timeout 60 >/dev/null
}
for node in a b c; do
  next
  mkdir "$dir/$node"
  printf '[node]\nlisten = ["127.0.0.1:%s"]\n[ledger]\nengine = "etcd"\netcd = [%s]\nlease_seconds = 3\n' \
    "$port" "${urls%, }" >"$dir/$node/witan.toml"
  if [ $node = a ]; then
    "$witan" init --dir "$dir/a" --name a --partitions 1 --listen "127.0.0.1:$port" >/dev/null
  else
    "$witan" join "$("$witan" device invite --dir "$dir/a" 2>/dev/null)" --dir "$dir/$node" --name $node \
      --listen "127.0.0.1:$port" >/dev/null
  fi
  startNode $node
done
for node in a b c; do "$witan" status --dir "$dir/$node" --wait connected --timeout 60 >/dev/null; done
"$witan" begin budget x --dir "$dir/a" >/dev/null
owner() { "$witan" partition list --dir "$dir/$1" 2>/dev/null | awk '$1 == "budget/0" { print $2 }'; }

times=()
for kill in $(seq "$kills"); do
  victim=$(owner a)
  asked=a; [ "$victim" != a ] || asked=b
  "$witan" propose budget x A '{"type":"SpendA","n":1}' --dir "$dir/$asked" --operation-id "before-$kill" >/dev/null
  began=$(date +%s%N)
  kill -KILL "${up[$victim]}"
  until "$witan" propose budget x A '{"type":"SpendA","n":1}' --dir "$dir/$asked" --operation-id "after-$kill" \
    2>/dev/null | grep -q approved; do :; done
  times+=($((($(date +%s%N) - began) / 1000000)))
  startNode "$victim"
done
mapfile -t sorted < <(printf '%s\n' "${times[@]}" | sort -n)
echo "$kills kills of an owner, lease 3 s: the next decision after ${sorted[$((kills / 2))]} ms (median; ${sorted[0]} to ${sorted[-1]})"
missing=0
entries=$("$witan" ledger tail -n 0 --json --dir "$dir/a")
for kill in $(seq "$kills"); do
  for id in "before-$kill" "after-$kill"; do
    [ "$(grep -c "\"operationId\":\"$id\"" <<<"$entries")" = 1 ] || missing=$((missing + 1))
  done
done
for node in a b c; do "$witan" ledger verify --replay --dir "$dir/$node"; done
echo "acknowledged decisions that are not in the ledger exactly once: $missing"
[ "$missing" = 0 ]

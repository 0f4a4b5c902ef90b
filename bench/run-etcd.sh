#!/bin/bash
# The etcd engine with three members on loopback: decisions per second beside plain transactions, and the time from the
# SIGKILL of an owner, or its SIGSTOP, to the next decision elsewhere, while proposals come on every node.
#
#   bench/run-etcd.sh [--seconds N] [--rounds N] [--kills N] [--freezes N] [--minutes N] [--in-flight "N N ..."]
#                     [--build DIR]
#
# Kills and freezes end after so many minutes, however many there were. Fails if a decision that was acknowledged is not
# in the ledger exactly once. Installs etcd-server (Debian) if it is missing, builds the programs, and leaves nothing running.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
seconds=5 rounds=3 kills=10 freezes=3 minutes=15 inFlight="256 1024" build=$root/build
while [ $# -gt 0 ]; do
  case $1 in
    --seconds) seconds=$2 ;;
    --rounds) rounds=$2 ;;
    --kills) kills=$2 ;;
    --freezes) freezes=$2 ;;
    --minutes) minutes=$2 ;;
    --in-flight) inFlight=$2 ;;
    --build) build=$2 ;;
    *) sed -n '2,10s/^# \{0,1\}//p' "$0"; exit 2 ;;
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
[ $((kills + freezes)) -gt 0 ] || exit 0

# Three nodes with a lease of 3 s.
urls=$(printf '"http://%s", ' "${clients[@]}")
startNode() {
  "$witan" up --dir "$dir/$1" 2>>"$dir/$1.log" &
  up[$1]=$!
  disown
  "$witan" status --dir "$dir/$1" --wait ready --timeout 60 >/dev/null
}
declare -A metrics
for node in a b c; do
  next; listen=127.0.0.1:$port
  next; metrics[$node]=$port
  mkdir -m 700 "$dir/$node"
  printf '[node]\nlisten = ["%s"]\n[metrics]\nlisten = "127.0.0.1:%s"\n[ledger]\nengine = "etcd"\netcd = [%s]\nlease_seconds = 3\n' \
    "$listen" "$port" "${urls%, }" >"$dir/$node/witan.toml"
  if [ $node = a ]; then
    "$witan" init --dir "$dir/a" --name a --partitions 1 --listen "$listen" >/dev/null
  else
    "$witan" join "$("$witan" device invite --role ledger --role '*' --dir "$dir/a" 2>/dev/null)" --dir "$dir/$node" --name $node \
      --listen "$listen" >/dev/null
  fi
  startNode $node
done
for node in a b c; do "$witan" status --dir "$dir/$node" --wait connected --timeout 60 >/dev/null; done
"$witan" begin budget x --dir "$dir/a" >/dev/null
owner() { # as node a has it
  local name=
  while [ -z "$name" ]; do
    name=$("$witan" partition list --dir "$dir/a" 2>/dev/null | awk '$1 == "budget/0" { print $2 }')
  done
  echo "$name"
}
metric() { # NODE NAME
  exec 3<>"/dev/tcp/127.0.0.1/${metrics[$1]}"
  printf 'GET /metrics HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n' >&3
  awk -v name="witan_$2" '$1 == name { print $2 }' <&3
  exec 3>&-
}
spend() { # NODE ID: whether it was decided
  "$witan" propose budget x A '{"type":"SpendA","n":1}' --dir "$dir/$1" --operation-id "$2" 2>/dev/null | grep -q approved
}
# Proposals, one after the other, each until it is answered.
loads=()
for node in a b c; do
  (
    n=0
    while [ ! -e "$dir/stop" ]; do
      if spend $node "load.$node.$n"; then
        echo "load.$node.$n" >>"$dir/acknowledged.$node"
        n=$((n + 1))
      else
        sleep 0.1
      fi
    done
  ) &
  loads+=($!)
  pids+=($!)
done
nanos() { date +%s%N; }
# The time until a node other than the victim has a decision.
until_decided() { # NODE ID BEGAN
  until spend "$1" "$2"; do :; done
  echo "$2" >>"$dir/acknowledged"
  echo $((($(nanos) - $3) / 1000000))
}
say() { # WHAT TIMES...
  local what=$1 sorted
  shift
  mapfile -t sorted < <(printf '%s\n' "$@" | sort -n)
  echo "$# $what, lease 3 s: the next decision after ${sorted[$(($# / 2))]} ms (median; ${sorted[0]} to ${sorted[-1]})"
}

deadline=$(($(date +%s) + 60 * minutes))
times=()
for kill in $(seq "$kills"); do
  [ "$(date +%s)" -lt "$deadline" ] || break
  victim=$(owner)
  asked=a; [ "$victim" != a ] || asked=b
  began=$(nanos)
  kill -KILL "${up[$victim]}"
  times+=("$(until_decided $asked "after-kill-$kill" "$began")")
  startNode "$victim"
done
[ ${#times[@]} -eq 0 ] || say "kills of an owner" "${times[@]}"
times=()
for freeze in $(seq "$freezes"); do
  [ "$(date +%s)" -lt "$deadline" ] || break
  victim=$(owner)
  asked=a; [ "$victim" != a ] || asked=b
  began=$(nanos)
  kill -STOP "${up[$victim]}"
  times+=("$(until_decided $asked "after-freeze-$freeze" "$began")")
  kill -CONT "${up[$victim]}"
  until spend "$victim" "thawed-$freeze"; do :; done
  echo "thawed-$freeze" >>"$dir/acknowledged"
done
[ ${#times[@]} -eq 0 ] || say "freezes of an owner" "${times[@]}"
for node in a b c; do
  echo "$node: $(metric $node etcd_late_writes_refused_total) late writes refused, $(metric $node etcd_partitions_lost_total) partitions lost since its last start"
done
touch "$dir/stop"
wait "${loads[@]}"

cat "$dir"/acknowledged* | sort >"$dir/all"
"$witan" ledger tail -n 0 --json --dir "$dir/a" | grep -o '"operationId":"[^"]*"' | cut -d'"' -f4 | sort | uniq -c >"$dir/ledger"
missing=$(awk '{ print $2 }' "$dir/ledger" | sort | comm -23 "$dir/all" - | wc -l)
twice=$(awk '$1 > 1' "$dir/ledger" | wc -l)
for node in a b c; do "$witan" ledger verify --replay --dir "$dir/$node"; done
echo "$(wc -l <"$dir/all") decisions were acknowledged; not in the ledger: $missing; there more than once: $twice"
[ "$missing" = 0 ] && [ "$twice" = 0 ]

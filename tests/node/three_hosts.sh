#!/usr/bin/env bash
# three_hosts.sh WITAN DIR: three devices deployed on three hosts as README.md says ("On your own devices"), with the
# firewall of docs/OPERATIONS.md. The hosts are network namespaces on one bridge; the network is cut by nftables, in one
# direction and in both. Exit code 77, with a line that says why, where that is not permitted.
#
# Everything is in namespaces of its own (network, mounts, processes): nothing is left behind, whatever happens.
set -euo pipefail

skip() { echo "skipped: $1"; exit 77; }

if [ "${1:-}" != --inside ]; then
  [ "$(id -u)" = 0 ] || skip "only root may make network namespaces"
  for tool in ip nft unshare; do
    command -v "$tool" >/dev/null || skip "there is no $tool here (Debian: iproute2, nftables, util-linux)"
  done
  unshare --net --mount --pid --fork true 2>/dev/null || skip "namespaces are not permitted here"
  exec unshare --net --mount --pid --fork --kill-child --mount-proc "$0" --inside "$@"
fi
shift
witan=$1 root=$2
hosts=(front-desk lab clinic)
declare -A address=([front-desk]=192.168.1.10 [lab]=192.168.1.11 [clinic]=192.168.1.12)

fail() {
  echo "three_hosts.sh: $1" >&2
  for host in "${hosts[@]}"; do echo "--- $host"; tail -n 15 "$root/$host.log" 2>/dev/null; done >&2
  exit 1
}

# --- three hosts

mount -t tmpfs none /run 2>/dev/null && mkdir -p /run/netns || skip "mounting is not permitted here"
{ ip link add switch type bridge && ip link set switch up; } 2>/dev/null || skip "there are no bridges here"
for host in "${hosts[@]}"; do
  ip netns add "$host"
  ip link add "to-$host" type veth peer name eth0 netns "$host"
  ip link set "to-$host" master switch up
  ip -n "$host" link set lo up
  ip -n "$host" link set eth0 up
  ip -n "$host" address add "${address[$host]}/24" dev eth0
done

at() { local host=$1; shift; ip netns exec "$host" "$@"; }
# As its user types it there.
w() { local host=$1; shift; at "$host" env WITAN_DIR="$root/$host" "$witan" "$@"; }

# TCP 7600 among the devices and what belongs to their own connections, nothing else.
firewall() {
  at "$1" nft -f - <<'RULES'
table inet filter {
  chain input {
    type filter hook input priority 0; policy drop;
    iif lo accept
    ct state established,related accept
    ip saddr 192.168.1.0/24 tcp dport 7600 accept
    ip saddr 192.168.1.0/24 icmp type echo-request accept
  }
}
RULES
}
for host in "${hosts[@]}"; do firewall "$host" 2>/dev/null || skip "nftables does not work in a namespace here"; done

declare -A pid
up() {
  local host=$1
  shift
  (exec ip netns exec "$host" env WITAN_DIR="$root/$host" "$witan" up "$@") >>"$root/$host.log" 2>&1 &
  pid[$host]=$!
}

# Until a command's output has a text; 60 s at most.
until_says() {
  local what=$1 text=$2 tries=600
  shift 2
  until "$@" 2>/dev/null | grep -qF -- "$text"; do
    tries=$((tries - 1))
    [ $tries -gt 0 ] || fail "$what did not happen within 60 s: $("$@" 2>&1 | tail -n 3)"
    sleep 0.1
  done
}

spend() {  # HOST OPERATION [MORE...]
  local host=$1 operation=$2
  shift 2
  w "$host" propose budget team A '{"type":"SpendA","n":10}' --operation-id "$operation" --json "$@" 2>&1
}

# --- README.md, "On your own devices"

rm -rf "$root"
mkdir -p "$root"
w front-desk init --name front-desk --listen 192.168.1.10:7600 >/dev/null
up front-desk
w front-desk status --wait ready >/dev/null || fail "the front desk did not start"
for host in lab clinic; do
  token=$(w front-desk device invite --ttl 15m --role ledger --role '*' 2>/dev/null)
  w "$host" join "$token" --name "$host" --listen "${address[$host]}:7600" >/dev/null || fail "$host could not join"
done
up lab --agent udt-lab
up clinic
for host in "${hosts[@]}"; do w "$host" status --wait connected --timeout 60 >/dev/null || fail "$host does not find the others"; done
w front-desk device roster

w front-desk begin budget team >/dev/null
for host in "${hosts[@]}"; do
  [[ $(spend "$host" "first-$host") == *approved* ]] || fail "a proposal from $host was not approved"
done

# --- the network is cut: clinic hears nobody, then nobody hears clinic

at clinic nft insert rule inet filter input ip saddr 192.168.1.0/24 drop
[[ $(spend clinic deaf --wait-ms 1000) == *waiting* ]] || fail "the clinic, deaf, had an answer"
[[ $(spend lab meanwhile) == *approved* ]] || fail "the lab was disturbed by the clinic's trouble"
at clinic nft flush ruleset
firewall clinic
until_says "the deaf clinic's proposal" '"duplicate":true' spend clinic deaf --wait-ms 2000

at front-desk nft insert rule inet filter input ip saddr 192.168.1.12 drop
at lab nft insert rule inet filter input ip saddr 192.168.1.12 drop
[[ $(spend clinic mute --wait-ms 1000) == *waiting* ]] || fail "the clinic, mute, had an answer"
for host in front-desk lab; do at "$host" nft flush ruleset && firewall "$host"; done
until_says "the mute clinic's proposal" '"duplicate":true' spend clinic mute --wait-ms 2000

# --- a host fails while it decides, and comes back

kill -KILL "${pid[front-desk]}"
wait "${pid[front-desk]}" 2>/dev/null || true
[[ $(spend lab patient --wait-ms 1000) == *waiting* ]] || fail "somebody else decided"
up front-desk
until_says "the patient proposal" '"duplicate":true' spend lab patient --wait-ms 2000

# --- nothing was lost, and all are equal

for host in "${hosts[@]}"; do w "$host" status --wait quiet --timeout 60 >/dev/null || fail "$host does not come to rest"; done
for host in "${hosts[@]}"; do
  until_says "the ledger of $host" "ok 7 " w "$host" ledger verify --replay
  w "$host" ledger verify --replay
done | sort -u | tee "$root/verdicts"
[ "$(wc -l <"$root/verdicts")" = 1 ] || fail "the ledgers differ"
echo "three hosts, deployed by the README, cut and healed: 7 decisions, one ledger"

#!/usr/bin/env bash
# Agents on two devices that were cut off from each other, as real processes: two_devices.sh PROGRAM FOLDER.
# Exit code 0: nobody's work is lost, nothing stays in conflict, and every device says that all is well.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
. scripts/common.sh
. scripts/three-devices.sh
witan=$1 root=$2
today=$(date -u +%F)
trap stopDevices EXIT

expect() { [ "$2" = "$3" ] || fail "$1: expected $3, got $2"; }
put() { w "$1" journal put "$2" --type note --text "$3" >/dev/null; }
work() { w "$1" agent run --agent journal-summariser --feed /dev/null --quiet >/dev/null; }
digest() { w "$1" journal get "digest/$today" --json; }
lines() { digest "$1" | sed -n 's/.*"lines":\(\[[^]]*\]\).*/\1/p'; }
inConflict() { digest "$1" | grep -o '"conflict":[a-z]*'; }
well() { w "$1" agent check >/dev/null || fail "agent check on $1: $(w "$1" agent check 2>&1 || true)"; }

# two STORY: two data directories of one cluster.
two() {
  demo=$root/$1
  mkdir -p "$demo"
  w laptop device init --device laptop --json >"$demo/made"
  w phone device init --device phone --cluster "$(sed -n 's/.*"cluster":"\([^"]*\)".*/\1/p' "$demo/made")" \
    --key-file "$demo/laptop/cluster.key" >/dev/null
  meet
}
# One whole session over a pair of pipes.
meet() {
  rm -f "$demo/back"
  mkfifo "$demo/back"
  w laptop sync pipe <"$demo/back" 2>"$demo/laptop.sync" | w phone sync pipe 2>"$demo/phone.sync" >"$demo/back" ||
    fail "the devices did not meet: $(cat "$demo/laptop.sync" "$demo/phone.sync")"
}
workAndMeet() {
  for _ in 1 2; do
    work laptop
    work phone
    meet
  done
}

rm -rf "$root"

# 1. A note each, a digest each: in the end one digest that has both.
two each-a-note
put laptop note-1 first
put phone note-2 second
work laptop
work phone
meet
workAndMeet
for device in laptop phone; do
  expect "both notes on $device" "$(lines $device)" '["first","second"]'
  expect "the digest on $device" "$(inConflict $device)" '"conflict":false'
  well $device
done

# 2. Both carried out one plan, and one built upon what came of it: that stands, without a conflict.
two built-upon
put laptop note-1 first
meet
work laptop
work phone
put phone note-2 second
work phone
meet
for device in laptop phone; do
  expect "what was built upon, on $device" "$(lines $device)" '["first","second"]'
  expect "the digest on $device" "$(inConflict $device)" '"conflict":false'
done
workAndMeet

# 3. That plan was carried out twice, once by each device: nobody complains.
for device in laptop phone; do well $device; done

# 4. Two running nodes that were cut off wrote a digest each: it settles, and no later note is lost to it.
demo=$root/running
mkdir -p "$demo"
port=$(freePort 7700)
w laptop init --name laptop --listen "127.0.0.1:$port" >/dev/null
startDevice laptop journal-summariser
token=$(w laptop device invite --role ledger --role '*' --ttl 5m 2>/dev/null)
w phone join "$token" --name phone --listen "127.0.0.1:$(freePort $((port + 1)))" >/dev/null
startDevice phone journal-summariser
for device in laptop phone; do w $device status --wait connected --timeout 30 >/dev/null || fail "$device is alone"; done
w laptop peers cut phone >/dev/null
put laptop note-1 first
put phone note-2 second
waitFor "the digest of the laptop" '["first"]' lines laptop
waitFor "the digest of the phone" '["second"]' lines phone
w laptop peers heal phone >/dev/null
waitFor "the digest of both" '["first","second"]' lines laptop
for n in 3 4 5 6 7 8; do
  device=laptop
  [ $((n % 2)) = 1 ] || device=phone
  put $device "note-$n" "number $n"
done
all='["first","second","number 3","number 4","number 5","number 6","number 7","number 8"]'
for device in laptop phone; do
  waitFor "the digest of all notes on $device" "$all" lines $device
  w $device status --wait quiet --timeout 30 >/dev/null || fail "$device does not come to rest"
  expect "the digest on $device" "$(inConflict $device)" '"conflict":false'
  expect "failed runs on $device" "$(w $device wake list --failed)" "no run failed"
  expect "the inbox of $device" "$(w $device inbox)" "nothing waits for a person"
  well $device
done
printf 'the four stories of two devices end right\n'

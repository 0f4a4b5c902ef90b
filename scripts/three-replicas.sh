#!/usr/bin/env bash
# Syncs three devices, first in one process over a transport in memory, then as three data directories whose processes
# exchange frames over pipes: cut, edits on all sides, heal. Prints the digests. Exit code 1 if they differ.
#
#   scripts/three-replicas.sh [PROGRAM]        default: build/witan
set -euo pipefail

witan=${1:-$(dirname "$0")/../build/witan}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

echo "== one process"
"$witan" sync demo

echo "== three processes"
# One session of two processes. Each reads the other's output.
mkfifo "$work/back"
talk() { "$witan" sync pipe --dir "$work/$1" <"$work/back" | "$witan" sync pipe --dir "$work/$2" >"$work/back"; }
on() { "$witan" "${@:2}" --dir "$work/$1"; }

printf '%064d\n' 7 >"$work/key"
on laptop device init --device laptop --cluster garden --key-file "$work/key" >"$work/log"
for device in phone tablet; do
  on $device device init --device $device --cluster garden --key-file "$work/laptop/cluster.key" >>"$work/log"
done
on laptop agent create gardener --goal "keep it alive"
on laptop journal put plot-4 --type plot --text empty
talk laptop phone
talk phone tablet

echo "-- cut: each continues alone"
for device in laptop phone tablet; do
  on $device journal put plot-4 --text "beans, says the $device"
  on $device journal put "note-$device" --type note --text "seen on the $device only"
  on $device agent set gardener --goal "grow what the $device says" --failures 1
done
talk laptop phone
echo "-- the laptop's process is killed during a session"
on laptop journal put late --type note --text "written after the first meeting"
mkfifo "$work/dead" "$work/heard"
exec 9<>"$work/dead" # a peer that never answers
"$witan" sync pipe --dir "$work/laptop" <"$work/dead" >"$work/heard" &
head -c 8 "$work/heard" >/dev/null
kill -9 $! && { wait $! 2>/dev/null || true; }
exec 9>&-
echo "-- heal: the tablet meets the phone only"
talk laptop phone
talk phone tablet
talk laptop phone

digests() { on "$1" sync status --json | grep -o '"digest":"[0-9a-f]*"' | tr '\n' ' '; }
for device in laptop phone tablet; do echo "$device $(digests $device)"; done
for device in phone tablet; do
  [ "$(digests $device)" = "$(digests laptop)" ] || { echo "DIFFERENT digests" >&2; exit 1; }
  cmp <(on $device state show gardener) <(on laptop state show gardener) ||
    { echo "DIFFERENT agents" >&2; exit 1; }
done
on laptop journal get plot-4
echo "EQUAL on all three"

#!/usr/bin/env bash
# bench/run-bare.sh [FOLDER]: what a newcomer waits. Makes a bare Debian 12 in FOLDER (default: a temporary one; debootstrap),
# clones this checkout's HEAD into it, and measures ./run --once and then ./test there, with an empty compiler cache.
# Prints wall time, processor time and exit code of each. Needs root, debootstrap, and an hour on two idle cores.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
[ "$(id -u)" = 0 ] || { echo "run-bare.sh: chroot needs root" >&2; exit 1; }
command -v debootstrap >/dev/null || { echo "run-bare.sh: install the package debootstrap" >&2; exit 1; }

root=${1:-$(mktemp -d)/debian}
mounted=()
release() { for at in "${mounted[@]}"; do umount -l "$at"; done; }
trap release EXIT
[ -x "$root/usr/bin/apt-get" ] || debootstrap --variant=minbase --include=git,ca-certificates bookworm "$root" >/dev/null
for kind in proc sysfs; do
  mount -t "$kind" "$kind" "$root/${kind%fs}" && mounted+=("$root/${kind%fs}")
done
mount --rbind /dev "$root/dev" && mount --make-rslave "$root/dev" && mounted+=("$root/dev")
cp /etc/resolv.conf /etc/hosts "$root/etc/"

rm -rf "$root/root/witan" "$root/root/.cache/ccache"
git clone --quiet . "$root/root/witan"

# measure COMMAND...: runs it in the clone, its output in $root/root/COMMAND.log.
measure() {
  local log=$root/root/${1#./}.log times code=0
  times=$(mktemp)
  chroot "$root" env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 TMPDIR=/tmp \
    bash -c 'cd /root/witan && TIMEFORMAT="%0R %0U %0S" && time "$@" >"/root/${1#./}.log" 2>&1' measure "$@" 2>"$times" || code=$?
  awk -v what="$*" -v code="$code" '{ printf "%-14s exit %d: %d min %02d s wall, %d core-seconds\n", what, code, $1 / 60, $1 % 60, $2 + $3 }' "$times"
  tail -n 3 "$log" | sed 's/^/    /'
}
measure ./run --once
measure ./test

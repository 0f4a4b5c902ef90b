#!/usr/bin/env bash
# Checks that a seed gives the same run with every compiler. Builds the program with g++ -O2 (as ./run does), with
# g++ -O0 and with clang++ -O0, runs the same seeds in each, the first one also without randomised addresses, and
# compares the digests of all traces. Needs clang++. The builds take some minutes and are kept for the next time.
#
#   scripts/same-everywhere.sh [SCENARIO [FIRST..LAST]]        default: everything 1..100
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=scripts/common.sh
. scripts/common.sh

scenario=${1:-everything} seeds=${2:-1..100}
command -v clang++ >/dev/null || fail "clang++ is needed: apt-get install clang"
command -v jq >/dev/null || fail "jq is needed: apt-get install jq"

build() {  # NAME COMPILER FLAGS
  cmake -S . -B "build-same/$1" -G Ninja -DCMAKE_CXX_COMPILER="$2" -DCMAKE_BUILD_TYPE=Same -DCMAKE_CXX_FLAGS_SAME="$3" \
    -DWITAN_BENCH=OFF >/dev/null
  say "building build-same/$1"
  cmake --build "build-same/$1" --parallel "$(cores)" --target witan witan-sim >/dev/null
}
digestOf() { "$@" sim run "$scenario" --seeds "$seeds" --jobs "$(cores)" --json 2>/dev/null | tail -n 1 | jq -r .traceDigest; }

configureAndBuild release witan witan-sim
build gcc-O0 g++ "-O0"
build clang-O0 clang++ "-O0"

status=0 first=$(digestOf build/witan)
check() {  # WHAT COMMAND...
  local digest
  digest=$(digestOf "${@:2}")
  if [ "$digest" = "$first" ]; then say "$1: $digest"
  else say "$1: $digest, but g++ -O2 gives $first"; status=1; fi
}
say "g++ -O2: $first"
check "g++ -O2, fixed addresses" setarch -R build/witan
check "g++ -O0" build-same/gcc-O0/witan
check "clang++ -O0" build-same/clang-O0/witan
[ $status = 0 ] && echo "$scenario $seeds: the same everywhere" || echo "$scenario $seeds: NOT the same everywhere"
exit $status

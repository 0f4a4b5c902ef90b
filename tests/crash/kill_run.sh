#!/bin/sh
# Kills `witan run --store` with SIGKILL at 200 random moments (or as many as the first argument says) and checks after
# each: no acknowledged outcome lost, none decided twice, `ledger verify --replay` ok, and in the end the same ledger,
# entry for entry, as without kills. The second argument is a seed. Needs a build: cmake --build build --target node_test
set -eu
build=${WITAN_BUILD:-$(dirname "$0")/../../build}
WITAN_KILLS=${1:-200} WITAN_KILL_SEED=${2:-1} exec "$build/tests/node_test" --gtest_filter='KillTest.*'

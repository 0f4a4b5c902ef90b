#!/bin/sh
# Kills a node whose agents are at work at 500 random moments of a clinic's days (or as many as the first argument says;
# virtual hours, compressed) and checks in the end that every operation has exactly one effect in each store, that every
# run has an end and that the ledgers verify. The second argument is a seed. Needs a build: cmake --build build --target
# node_test
set -eu
build=${WITAN_BUILD:-$(dirname "$0")/../../build}
WITAN_KILLS=${1:-500} WITAN_KILL_SEED=${2:-1} exec "$build/tests/node_test" --gtest_filter='AgentKill.*'

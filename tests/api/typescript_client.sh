#!/usr/bin/env bash
# typescript_client.sh PROGRAM FOLDER: generates a TypeScript client from the OpenAPI document of a live node, type-checks
# a program that uses it, and runs the program against the node. Exit code 77, with the reason: it cannot be tried here.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
witan=$1 work=$2
skip() { echo "skipped: $1"; exit 77; }
step() { echo "$SECONDS s: $1"; }

command -v node >/dev/null || skip "node is not installed"
command -v npm >/dev/null || skip "npm is not installed"
[ "$(node -p 'parseInt(process.versions.node)')" -ge 20 ] || skip "node is older than version 20"

rm -rf "$work" && mkdir -p "$work"
cp "$here"/client/* "$work"
cd "$work"
step "installing the packages of the lock file"
code=0
timeout 60 npm ci --prefer-offline --no-audit --no-fund --ignore-scripts --fetch-retries=1 --fetch-timeout=15000 \
  >npm.log 2>&1 || code=$?
if [ "$code" -ne 0 ]; then
  [ "$code" -ne 124 ] || skip "the npm registry does not answer within a minute"
  ! grep -qE 'ENOTFOUND|EAI_AGAIN|ECONN|ETIMEDOUT|ENETUNREACH|EHOSTUNREACH' npm.log || skip "the npm registry cannot be reached"
  cat npm.log
  exit 1
fi

step "starting a node"
export WITAN_DIR=$work/node
"$witan" init --name api --partitions 1 --listen 127.0.0.1:0 >init.log
WITAN_CONTROL_LISTEN=127.0.0.1:0 "$witan" up >up.log 2>&1 &
node=$!
trap 'kill "$node" 2>/dev/null; wait "$node" 2>/dev/null || true' EXIT
"$witan" status --wait ready --timeout 30 >/dev/null
member() { node -p "JSON.parse(require('fs').readFileSync('$WITAN_DIR/$1', 'utf8')).$2"; }
WITAN_URL=http://$(member control.json address)
WITAN_TOKEN=$(member control.tokens admin)
export WITAN_URL WITAN_TOKEN

step "generating the client"
node fetch-openapi.mjs
npm run --silent generate >generate.log 2>&1 || { cat generate.log; exit 1; }
step "checking the types"
npm run --silent check
step "running the program"
node built/program.js || { tail -20 up.log; exit 1; }
step "done"

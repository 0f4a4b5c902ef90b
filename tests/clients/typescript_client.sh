#!/usr/bin/env bash
# typescript_client.sh PROGRAM FOLDER: installs clients/typescript without a network, and runs a program that uses it
# against a real node; checks the program's types where a TypeScript compiler is installed or can be. Exit code 77, with
# the reason: it cannot be tried here.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
witan=$1 work=$2
skip() { echo "skipped: $1"; exit 77; }

command -v node >/dev/null || skip "node is not installed"
command -v npm >/dev/null || skip "npm is not installed"
[ "$(node -p 'parseInt(process.versions.node)')" -ge 20 ] || skip "node is older than version 20"
rm -rf "$work" && mkdir -p "$work" && cp -r "$here/../../clients/typescript" "$work/client"
cp "$here/program.mjs" "$here/example.mjs" "$work"
python3 -c 'import sys; sys.exit(open(sys.argv[1]).read() not in open(sys.argv[2]).read())' \
  "$here/example.mjs" "$here/../../docs/clients.md" || { echo "docs/clients.md does not have example.mjs as it is"; exit 1; }
cd "$work"
echo '{"private":true,"type":"module"}' >package.json
npm install --offline --no-audit --no-fund ./client >npm.log 2>&1 || { cat npm.log; exit 1; }

export WITAN_DIR=$work/node
"$witan" init --name ts --partitions 2 --listen 127.0.0.1:0 >init.log 2>&1 || { cat init.log; exit 1; }
up() {
  WITAN_CONTROL_LISTEN=$1 "$witan" up >>up.log 2>&1 &
  echo $! >pid
  "$witan" status --wait ready --timeout 30 >/dev/null
}
up 127.0.0.1:0
trap 'kill "$(cat pid)" 2>/dev/null; wait 2>/dev/null || true' EXIT
member() { node -p "JSON.parse(require('fs').readFileSync('$WITAN_DIR/$1', 'utf8')).$2"; }
WITAN_URL=http://$(member control.json address)
WITAN_TOKEN=$(member control.tokens admin)
export WITAN_URL WITAN_TOKEN
node program.mjs
node example.mjs >example.out
diff example.out - <<<$'approved\nrejected spent 120000, the cap is 100000\n60000'

code=0
timeout 60 npm install --prefer-offline --no-audit --no-fund --ignore-scripts --no-save --fetch-retries=1 \
  --fetch-timeout=15000 typescript@5.9.3 @types/node@20.19.25 >npm.log 2>&1 || code=$?
if [ "$code" -ne 0 ]; then
  echo "the types were not checked: npm cannot install the TypeScript compiler"
else
  node node_modules/typescript/bin/tsc --noEmit --strict --noUncheckedIndexedAccess --exactOptionalPropertyTypes \
    --allowJs --checkJs --module nodenext --target es2022 --lib es2023,dom,dom.asynciterable --types node program.mjs example.mjs
fi

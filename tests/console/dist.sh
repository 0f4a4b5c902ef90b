#!/usr/bin/env bash
# dist.sh PROGRAM FOLDER: console/dist and the types of the API are those that the sources give, the types of the sources
# hold, their unit tests pass, and the first page has at most 150 kB. Exit code 77, with the reason: it cannot be tried.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=tests/console/packages.sh
. "$here/packages.sh"
witan=$1 work=$2
installPackages "$work"
export WITAN_DIR=$work/node
"$witan" init --name api --partitions 1 --listen 127.0.0.1:0 --advertise 127.0.0.1:1 >"$work/init.log"
"$witan" up >"$work/up.log" 2>&1 &
node=$!
trap 'kill "$node" 2>/dev/null; wait "$node" 2>/dev/null || true' EXIT
"$witan" status --wait ready --timeout 30 >/dev/null
token=$(node -p "JSON.parse(require('fs').readFileSync('$WITAN_DIR/control.tokens', 'utf8')).observer")
cd "$work/console"
curl -sS --fail --unix-socket "$WITAN_DIR/control.sock" -H "Authorization: Bearer $token" http://localhost/v1/openapi.json >openapi.json
npx openapi-typescript openapi.json -o openapi.d.ts >/dev/null
diff -q openapi.d.ts src/api/openapi.d.ts || { echo "console/src/api/openapi.d.ts is not of this API: see console/README.md"; exit 1; }
npm run --silent check >check.log || { cat check.log; exit 1; }
npm test --silent >test.log 2>&1 || { cat test.log; exit 1; }
mv dist committed
npm run --silent build >build.log 2>&1 || { cat build.log; exit 1; }
diff -r dist committed || { echo "console/dist is not what console/src gives: npm run build in console/, and commit"; exit 1; }
size=0
while IFS= read -r file; do size=$((size + $(gzip -9nc "$file" | wc -c))); done < <(find dist -type f)
echo "all files have $size bytes, compressed; the first page needs a part of them"
[ "$size" -le 150000 ] || { echo "that is more than 150,000"; exit 1; }

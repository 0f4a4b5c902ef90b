#!/usr/bin/env bash
# python_client.sh PROGRAM FOLDER: installs clients/python without a network, runs its tests against real nodes, and
# compares the generated types of both clients with a node's OpenAPI document. Exit code 77, with the reason: it cannot
# be tried here.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$here/../..
witan=$1 work=$2
skip() { echo "skipped: $1"; exit 77; }

python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))' || skip "python3 is older than 3.11"
rm -rf "$work" && mkdir -p "$work/source"
if python3 -m pip --version >/dev/null 2>&1; then
  cp -r "$root/clients/python" "$work/source"
  python3 -m pip install --quiet --no-index --disable-pip-version-check --root-user-action=ignore \
    --target "$work/installed" "$work/source/python"
else
  echo "pip is not installed: the tests run on the sources"
  mkdir "$work/installed" && cp -r "$root/clients/python/witan" "$work/installed"
fi
export PYTHONPATH=$work/installed PYTHONDONTWRITEBYTECODE=1 PROGRAM_UNDER_TEST=$witan

export WITAN_DIR=$work/node
"$witan" init --name types --partitions 1 --listen 127.0.0.1:0 >"$work/init.log" 2>&1 || { cat "$work/init.log"; exit 1; }
"$witan" up >"$work/up.log" 2>&1 &
node=$!
trap 'kill "$node" 2>/dev/null; wait "$node" 2>/dev/null || true' EXIT
"$witan" status --wait ready --timeout 30 >/dev/null
python3 -c "import json, witan; print(json.dumps(witan.connect().get('/v1/openapi.json')))" >"$work/openapi.json"
python3 "$root/clients/generate.py" "$work/openapi.json" --into "$work/generated"
for types in python/witan/types.py typescript/types.d.ts; do
  diff "$root/clients/$types" "$work/generated/$types" ||
    { echo "clients/$types differs from the node's document: clients/generate.py"; exit 1; }
done
unset WITAN_DIR
cd "$work" && python3 -W error::ResourceWarning "$here/test_python_client.py"

# For the tests of the console: its npm packages, where they can be had. Sourced; $here is this folder.
# shellcheck shell=bash disable=SC2154

skip() { echo "skipped: $1"; exit 77; }

# installPackages FOLDER: a copy of console/ with the packages of its lock file in FOLDER/console.
installPackages() {
  local code=0
  command -v node >/dev/null || skip "node is not installed"
  command -v npm >/dev/null || skip "npm is not installed"
  [ "$(node -p 'parseInt(process.versions.node)')" -ge 20 ] || skip "node is older than version 20"
  rm -rf "$1" && mkdir -p "$1/console"
  tar -C "$here/../../console" --exclude=node_modules -cf - . | tar -C "$1/console" -xf -
  timeout 120 npm ci --prefix "$1/console" --prefer-offline --no-audit --no-fund --fetch-retries=1 \
    --fetch-timeout=15000 >"$1/npm.log" 2>&1 || code=$?
  [ "$code" -ne 0 ] || return 0
  [ "$code" -ne 124 ] || skip "the npm registry does not answer within two minutes"
  ! grep -qE 'ENOTFOUND|EAI_AGAIN|ECONN|E?TIMEDOUT|ENETUNREACH|EHOSTUNREACH|ERR_SOCKET|EPIPE|network|code E(429|5[0-9][0-9])' "$1/npm.log" || skip "the npm registry cannot be reached"
  cat "$1/npm.log"
  exit 1
}

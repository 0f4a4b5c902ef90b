# Shared by ./run, ./test and scripts/lint, which source it from the repository's root. Sourcing it changes nothing.
# shellcheck shell=bash disable=SC2034  # the lists are for those who source this

fail() {
  printf '%s: %s\n' "$(basename "$0")" "$1" >&2
  exit "${2:-1}"
}

# A line of progress, on stderr so that it never mixes with data.
say() { printf -- '-- %s\n' "$1" >&2; }

# Debian packages, without recommends. Installed packages are skipped, so a second run needs no network.
BUILD_PACKAGES=(g++ cmake ninja-build pkg-config ccache lld libboost1.81-dev libboost-json1.81-dev libcapnp-dev
  capnproto librocksdb-dev libssl-dev libcli11-dev libtomlplusplus-dev libxxhash-dev libz3-dev libserd-dev
  zlib1g-dev libzstd-dev)
TEST_PACKAGES=(libgtest-dev libgmock-dev librapidcheck-dev libbenchmark-dev clang-format etcd-server iproute2
  nftables python3 python3-cryptography curl chromium golang-go golang-golang-x-mod-dev)

# Runs a command as root, with sudo if necessary. Returns 127 without sudo.
asRoot() {
  if [ "$(id -u)" = 0 ]; then "$@"
  elif command -v sudo >/dev/null; then sudo "$@"
  else return 127; fi
}

missingPackages() {
  local package
  for package in "$@"; do
    dpkg-query -W -f '${db:Status-Status}\n' "$package" 2>/dev/null | grep -qx installed || printf '%s\n' "$package"
  done
}

aptGet() { asRoot env DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=300 -o Acquire::Retries=2 "$@"; }

# Installs the missing packages. Fetches the package lists only if the install fails without them.
needPackages() {
  command -v dpkg-query >/dev/null || fail "this is not Debian (no dpkg-query): install the packages named in scripts/common.sh by hand, then see README.md, \"Building by hand\""
  local missing log
  mapfile -t missing < <(missingPackages "$@")
  [ ${#missing[@]} -gt 0 ] || return 0
  if [ "$(id -u)" != 0 ] && ! command -v sudo >/dev/null; then
    fail "packages are missing and neither root nor sudo is at hand: as root, run apt-get install --no-install-recommends ${missing[*]}"
  fi
  say "installing ${#missing[@]} Debian packages: ${missing[*]}"
  log=$(mktemp)
  # shellcheck disable=SC2024  # the log is ours, not root's
  if ! aptGet install -y --no-install-recommends "${missing[@]}" >"$log" 2>&1; then
    say "fetching Debian's package lists"
    if ! { aptGet -o APT::Update::Error-Mode=any update && aptGet install -y --no-install-recommends "${missing[@]}"; } >"$log" 2>&1; then
      tail -n 5 "$log" >&2
      rm -f "$log"
      fail "could not install ${missing[*]}: is the network there, and Debian 12 (main) in the apt sources?"
    fi
  fi
  rm -f "$log"
}

cores() { nproc 2>/dev/null || echo 2; }

# configureAndBuild PRESET [TARGET...]: configures build folder and presets of CMakePresets.json, and builds.
configureAndBuild() {
  local preset=$1 dir=build log
  shift
  [ "$preset" = release ] || dir=build-$preset
  local cache=$dir/CMakeCache.txt
  if [ -f "$cache" ] && ! grep -q "^CMAKE_HOME_DIRECTORY:INTERNAL=$PWD\$" "$cache"; then
    fail "$dir/ was made for a checkout at another place: remove it and start again"
  fi
  log=$(mktemp)
  say "configuring $dir/"
  if ! cmake --preset "$preset" >"$log" 2>&1; then
    cat "$log" >&2
    rm -f "$log"
    fail "cmake could not configure $dir/ (see above); if the folder is an old one, remove it and start again"
  fi
  rm -f "$log"
  say "building in $dir/ on $(cores) cores"
  cmake --build "$dir" --parallel "$(cores)" ${1:+--target "$@"} >&2 || fail "the build in $dir/ failed (see above)"
}

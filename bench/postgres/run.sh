#!/bin/bash
# Budget decisions in Debian's PostgreSQL, durable (fsync on), from interactive clients over loopback.
#
#   bench/postgres/run.sh DIR [SECONDS]      one round; lines "postgres VARIANT BUDGETS CLIENTS TPS RETRIED"
#
# Starts a private server in DIR (made if needed) on a loopback port of its own, as a user that is not root, and stops
# it at the end. WITAN_PG_CLIENTS and WITAN_PG_PORT change the defaults.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
dir=${1:?usage: run.sh DIR [SECONDS]}
seconds=${2:-5}
port=${WITAN_PG_PORT:-25439}
bin=$(ls -d /usr/lib/postgresql/*/bin | sort -V | tail -1)
as=()
if [ "$(id -u)" = 0 ]; then as=(runuser -u postgres --); fi

mkdir -p "$dir"
if [ "$(id -u)" = 0 ]; then chown postgres "$dir"; fi
cd "$dir"
if [ ! -s "$dir/data/PG_VERSION" ]; then
  "${as[@]}" "$bin/initdb" -D "$dir/data" -A trust -U postgres --no-locale -E UTF8 > "$dir/initdb.log"
fi
"${as[@]}" "$bin/pg_ctl" -D "$dir/data" -w -s -l "$dir/server.log" -o \
  "-p $port -c listen_addresses=127.0.0.1 -c unix_socket_directories=$dir -c fsync=on -c synchronous_commit=on -c shared_buffers=256MB -c max_connections=100" start
trap '"${as[@]}" "$bin/pg_ctl" -D "$dir/data" -m fast -w -s stop' EXIT
pg=(-h 127.0.0.1 -p "$port" -U postgres)

for budgets in 1 64; do
  for clients in ${WITAN_PG_CLIENTS:-1 16 64}; do
    for variant in serializable rowlock; do
      PGOPTIONS="-c client_min_messages=warning" psql "${pg[@]}" -q -v ON_ERROR_STOP=1 -v cap=1000000000000 -f "$here/schema.sql"
      psql "${pg[@]}" -qc checkpoint
      # --max-tries=0: a serialization failure is tried again until it succeeds.
      out=$(pgbench "${pg[@]}" -n -f "$here/$variant.sql" -D budgets=$budgets -c "$clients" -j 2 -T "$seconds" --max-tries=0 postgres 2>&1)
      tps=$(sed -n 's/^tps = \([0-9.]*\).*/\1/p' <<< "$out")
      retried=$(sed -n 's/^number of transactions retried: [0-9]* (\(.*\))/\1/p' <<< "$out")
      echo "postgres $variant $budgets $clients ${tps:?pgbench failed: $out} ${retried:-0%}"
    done
  done
done

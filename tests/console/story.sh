#!/usr/bin/env bash
# story.sh PROGRAM FOLDER: plays David's story in the web console, in Debian's Chromium against live nodes. Screenshots
# go to FOLDER; those of docs/console/ are of FOLDER/docs. Exit code 77, with the reason: it cannot be tried here.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=tests/console/packages.sh
. "$here/packages.sh"
witan=$(realpath "$1") work=$2
chromium=$(command -v chromium) || skip "chromium is not installed"
export CHROMIUM=$chromium
installPackages "$work"
cp "$here"/{story,market,prefix,hostile,trial}.mjs "$work/console"

export WITAN_DIR=$work/node
freeFrom() { local port=$1; while (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; do port=$((port + 1)); done; echo "$port"; }
port=$(freeFrom $((20000 + RANDOM % 12000)))
export CONTROL=127.0.0.1:$(freeFrom $((port + 1))) # the same after a restart
"$witan" init --name front-desk --partitions 1 --listen "127.0.0.1:$port" >"$work/init.log"
"$witan" up --agent udt-clinical --agent udt-lab --control "$CONTROL" >"$work/up.log" 2>&1 &
pids=($!)
echo $! >"$work/node.pid"
trap 'kill "${pids[@]}" $(cat "$work"/*.pid "$work"/market/*.pid 2>/dev/null) 2>/dev/null || true; wait 2>/dev/null || true' EXIT
# Three organisations of a market, up to a delivery that its buyer is to accept; the story goes on with it.
{ "$here/../../scripts/market.sh" --leave review --dir "$work/market" "$witan" >"$work/market.log" 2>&1 && touch "$work/market.ready"; } &
pids+=($!)
"$witan" status --wait ready --timeout 30 >/dev/null
# A second device asks to join, and goes up when the story has approved it.
{ "$witan" join --address "127.0.0.1:$port" --name lab --listen 127.0.0.1:0 --advertise 127.0.0.1:1 --dir "$work/lab" \
    --fingerprint "$("$witan" status --json | node -p 'JSON.parse(require("fs").readFileSync(0)).fingerprint')" &&
  { "$witan" up --dir "$work/lab" & echo $! >"$work/lab.pid"; wait; }; } >"$work/lab.log" 2>&1 &
pids+=($!)
# A node of its own runs graphs: their policy would stop the agents of the first.
"$witan" init --name ward --dir "$work/ward" --partitions 1 --listen 127.0.0.1:0 --advertise 127.0.0.1:1 >>"$work/init.log"
cp "$here/../../docs/examples/graphs-policy.toml" "$work/ward/policy.toml"
"$witan" up --dir "$work/ward" >"$work/ward.log" 2>&1 &
pids+=($!)
# Who answers has a key, in a file that the words open.
echo 'right horse battery' >"$work/words.txt"
WITAN_PASSPHRASE_FILE=$work/words.txt "$witan" person add dr.supervising --role udt.counselor --out "$work/dr.person.pem" >/dev/null
today=$(date -u +%F)
before=$(date -u -d '3 days ago' +%F)
"$witan" begin udt David --init "{\"baselinePositiveOn\":\"$(date -u -d '115 days ago' +%F)\"}" >/dev/null
p() { "$witan" propose udt David "$1" "$2" >>"$work/proposals.log"; }
p LabOrder '{"type":"DocumentRationale","order":"O1","text":"treatment plan: random monitoring"}'
p LabOrder "{\"type\":\"OrderTest\",\"order\":\"O1\",\"kind\":\"DEFINITIVE\",\"code\":\"G0480\",\"method\":\"LCMS\",\"dos\":\"$before\"}"
p Clinical "{\"type\":\"RecordResult\",\"order\":\"O1\",\"outcome\":\"NEGATIVE\",\"on\":\"$before\"}"
p LabOrder '{"type":"DocumentRationale","order":"O2","text":"treatment plan: random monitoring"}'
p LabOrder "{\"type\":\"OrderTest\",\"order\":\"O2\",\"kind\":\"PRESUMPTIVE\",\"code\":\"80307\",\"method\":\"IMMUNOASSAY\",\"dos\":\"$today\"}"
p Clinical "{\"type\":\"RecordResult\",\"order\":\"O2\",\"outcome\":\"POSITIVE\",\"on\":\"$today\"}"
# What agents do: Eve gets a file and a test.
"$witan" feed - >/dev/null <<END
{"id":"udt/Eve/patient","type":"udt.patient","payload":{"patient":"Eve","fields":{"baselinePositiveOn":"$(date -u -d '115 days ago' +%F)"}}}
{"id":"udt/Eve/order/E1","type":"udt.order","payload":{"patient":"Eve","order":"E1","kind":"PRESUMPTIVE","code":"80307","method":"IMMUNOASSAY","dos":"$before","rationale":"treatment plan: random monitoring"}}
END
"$witan" status --dir "$work/ward" --wait ready --timeout 30 >/dev/null
"$witan" graph deploy "$here/../../docs/examples/intake.graph.toml" --dir "$work/ward" >/dev/null
tokenOf() { node -p "JSON.parse(require('fs').readFileSync('$1/control.tokens', 'utf8')).admin"; }
send() {
  curl -sS --fail --unix-socket "$work/ward/control.sock" -H "Authorization: Bearer $(tokenOf "$work/ward")" http://localhost/v1/graphs/send \
    -d "{\"graph\":\"examples.intake\",\"ingress\":\"referrals\",\"id\":\"$1\",\"body\":{\"patient\":\"$1\",\"urgency\":\"$2\",\"text\":\"$3\"}}" >/dev/null
}
send r-1 routine 'annual review'
send r-3 urgent 'chest pain since yesterday'
send r-4 urgent 'the same, entered twice'
ward=$("$witan" console --no-open --dir "$work/ward" | head -n 1)
link=$("$witan" console --no-open | head -n 1)
observer=$("$witan" console --no-open --role observer | head -n 1)
token=$(tokenOf "$WITAN_DIR")
cd "$work/console"
node story.mjs "${link%/console/*}" "$link" "$observer" "$token" "$ward" "$work" "$witan" || { tail -n 20 "$work/up.log" "$work/market.log"; exit 1; }

#!/usr/bin/env bash
# scripts/market.sh [--kills N] [--seed S] [--dir DIR] [--leave STEP] [--deliver SECONDS] [PROGRAM]: three organisations on loopback, each a cluster of one
# device with a root of its own. A clinic buys readings of a laboratory, an escrow house holds the money: one call is
# accepted, one is disputed and ruled; the evidence is exported, verified by a program that shares no code with Witan,
# altered by a byte and refused. --kills: N more calls, and in each of them a random party is killed at a random moment.
# --leave: ends after that step (deployed, offered, agreed, delivered, review), and leaves the three running.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=scripts/common.sh
. "$root/scripts/common.sh"

kills=0 seed=1 leave= deliver=600 demo=$root/build/market witan=$root/build/witan
while [ $# -gt 0 ]; do
  case $1 in
    --kills) kills=$2; shift 2 ;;
    --seed) seed=$2; shift 2 ;;
    --dir) demo=$2; shift 2 ;;
    --leave) leave=$2; shift 2 ;;
    --deliver) deliver=$2; shift 2 ;;
    -*) fail "unknown option $1: scripts/market.sh [--kills N] [--seed S] [--dir DIR] [--leave STEP] [PROGRAM]" 2 ;;
    *) witan=$1; shift ;;
  esac
done
[ -x "$witan" ] || fail "there is no program $witan: ./run builds it"
witan=$(realpath "$witan")
RANDOM=$seed

orgs=(clinic lab notary)
declare -A pid port
stub= reader=

title() { printf '\n%s\n' "$1"; }
note() { printf '  %s\n' "$1"; }
w() { local org=$1; shift; "$witan" "$@" --dir "$demo/$org"; }
# The command as it is typed, then what it prints.
tell() { local org=$1; shift; note "$org\$ witan $*"; w "$org" "$@" | sed 's/^/    /'; }
member() { sed -n "s/.*\"$1\":\"\\([^\"]*\\)\".*/\\1/p"; }

freePort() {
  local try
  for try in $(seq "$1" $(($1 + 500))); do
    if ! (exec 3<>"/dev/tcp/127.0.0.1/$try") 2>/dev/null; then printf '%s' "$try"; return; fi
  done
  fail "no free port on 127.0.0.1 from $1 on"
}

start() {
  "$witan" up --dir "$demo/$1" 2>>"$demo/$1.log" &
  pid[$1]=$!
  printf '%s\n' "${pid[$1]}" >"$demo/$1.pid"
  w "$1" status --wait ready --timeout 60 >/dev/null || { tail -n 5 "$demo/$1.log" >&2; fail "$1 did not start (its log: $demo/$1.log)"; }
}

# leaveAt STEP: the processes go on, as those of the caller.
leaveAt() {
  [ "$leave" = "$1" ] || return 0
  trap - EXIT
  disown -a
  exit 0
}

stopAll() {
  local org
  for org in "${!pid[@]}"; do kill -TERM "${pid[$org]}" 2>/dev/null || true; done
  [ -z "$stub$reader" ] || kill -TERM $stub $reader 2>/dev/null || true
  wait 2>/dev/null || true
}

# until WHAT COMMAND...: asks again until it is so, at most 60 s.
until_() {
  local what=$1 tries=600
  shift
  while ! "$@" 2>/dev/null; do
    tries=$((tries - 1))
    [ $tries -gt 0 ] || fail "$what: not within 60 s (the logs: $demo/*.log)"
    sleep 0.1
  done
}
connected() { [ "$(w "$1" market partners --json | grep -o '"connected":true' | wc -l)" -ge 2 ]; }
callIs() { w clinic market contract show K1 --json | grep -q "\"call\":\"$1\",\"contract\":\"[0-9a-f]*\",\"end\":\"$2\""; }
callAt() { w clinic market contract show K1 --json | grep -q "\"call\":\"$1\".*\"step\":\"$2\""; }
reviewed() { callAt "$1" review || callIs "$1" accepted; }
asked() { w notary queue list | grep -q "$1"; }
streamed() { grep -q "\"call\":\"$1\".*\"end\":\"$2\"" "$demo/stream"; }
settled() { w notary market show "$entity" | grep -q "call $1 \(RELEASED\|REFUNDED\)"; }

found() {
  local from=$1 to
  for to in "${orgs[@]}"; do
    [ "$from" = "$to" ] || w "$from" market trust "$to" "$(member adminKey <"$demo/$to/cluster.json")" >/dev/null
  done
}

deploy() {
  local org base=$((20000 + $$ % 10000)) partners other
  rm -rf "$demo"
  mkdir -p "$demo"
  trap stopAll EXIT
  trap 'exit 130' INT TERM
  for org in "${orgs[@]}"; do
    port[$org]=$(freePort $base)
    base=$((${port[$org]} + 1))
  done
  mkfifo "$demo/model"
  printf '%s\n' '{"calls":[{"name":"emit.Reading","arguments":{"sample":"S-1","rhythm":"sinus","text":"A regular rhythm of 62 a minute."}}]}' >"$demo/answers"
  "$witan" model-stub --listen 127.0.0.1:0 --script "$demo/answers" >"$demo/model" &
  stub=$!
  printf '%s\n' "$stub" >"$demo/model.pid"
  local model
  read -r model <"$demo/model"
  for org in "${orgs[@]}"; do
    partners=
    for other in "${orgs[@]}"; do [ "$org" = "$other" ] || partners+="${partners:+, }\"$other=127.0.0.1:${port[$other]}\""; done
    mkdir -p -m 700 "$demo/$org"
    printf '[node]\nlisten = ["127.0.0.1:0"]\n\n[market]\norg = "%s"\nlisten = "127.0.0.1:%s"\npartners = [%s]\nescrows = ["notary"]\n' "$org" "${port[$org]}" "$partners" >"$demo/$org/witan.toml"
    w "$org" init --name "$org" >/dev/null
  done
  cat >>"$demo/lab/witan.toml" <<EOF

[agents]
run = ["reader"]

[tool.llm]
kind = "model"
format = "openai"
provider = "stub"
model = "reader-1"
url = "$model"
looks = ["chat"]
locales = ["eu"]
tokens = 100
EOF
  mkdir -p "$demo/lab/agents"
  cp "$root/docs/examples/market/reader.agent.toml" "$demo/lab/agents/"
  cp "$root/docs/examples/market/lab-policy.toml" "$demo/lab/policy.toml"
  cp "$root/docs/examples/market/clinic-policy.toml" "$demo/clinic/policy.toml"
  w lab receipt confirm --agent reader --boundary llm --provider stub --model reader-1 --by dr.lab >/dev/null
  for org in "${orgs[@]}"; do found "$org"; done
  for org in "${orgs[@]}"; do start "$org"; done
  for org in "${orgs[@]}"; do until_ "$org is connected to both" connected "$org"; done
}

# A person of the clinic repeats what has got no answer.
order() { until_ "the order $1 is taken" w clinic market order K1 --input "$demo/sample.json" --call "$1" >/dev/null; }

killOne() {
  local org=${orgs[$((RANDOM % 3))]} call=$1
  order "$call" &
  local ordering=$!
  sleep "0.$(printf '%03d' $((RANDOM % 400)))"
  kill -KILL "${pid[$org]}"
  wait "${pid[$org]}" 2>/dev/null || true
  start "$org"
  wait "$ordering"
  until_ "call $call is accepted" callIs "$call" accepted
  note "call $call: $org was killed; accepted"
}

say "three organisations in $demo"
deploy
title "The laboratory offers readings; the clinic finds them."
note "lab\$ witan graph deploy docs/examples/market/reading.graph.toml"
w lab graph deploy "$root/docs/examples/market/reading.graph.toml" | sed 's/^/    /'
leaveAt deployed
tell lab market publish reading --price 100 --currency EUR.cent --deliver "$deliver" --window 600
tell clinic market find --at lab
leaveAt offered
tell clinic market quote reading --at lab --tokens 2000
quote=$(w clinic market quote reading --at lab --tokens 2000 --json | grep -o '"offer":"[0-9a-f]*"' | head -n 1 | member offer)

title "A contract: signed by both, opened at the escrow house, paid for."
tell clinic market contract propose "${quote:0:16}" --at lab --escrow notary --id K1
entity=$(w clinic market contract show K1 --json | grep -o '"contract":"[0-9a-f]\{64\}"' | head -n 1 | member contract)
deposit=$((400 + kills * 100))
tell notary propose escrow "$entity" Holder "{\"type\":\"Deposit\",\"reference\":\"bank-1\",\"amount\":$deposit}"
printf '{"sample":"S-1","signal":"0 1 7 2 0 0 1"}\n' >"$demo/sample.json"
leaveAt agreed

# What the clinic's event stream tells meanwhile.
curl -sN --unix-socket "$demo/clinic/control.sock" -H "Authorization: Bearer $(member observer <"$demo/clinic/control.tokens")" \
  http://localhost/v1/market/stream >"$demo/stream" &
reader=$!

title "A call that is accepted."
tell clinic market order K1 --input "$demo/sample.json" --call C1 --wait 60
tell clinic market evidence K1/C1 --out "$demo/bundle.json"
leaveAt delivered

title "A call that is disputed. The arbiter of the escrow house rules: the laboratory gets 40 of 100."
tell clinic market order K1 --input "$demo/sample.json" --call C2 --review --wait 60
leaveAt review
tell clinic market dispute K1/C2 --reason "of another patient"
until_ "the arbiter is asked" asked "$entity"
digest=$(w notary queue show "$entity" --json | grep -o "\"digest\":\"[0-9a-f]*\"" | head -n 1 | member digest)
tell notary queue approve "$entity" --counselor human.arbiter --digest "$digest" --reason "half of it is usable" --edit '{"call.ruling":{"C2":40}}'
tell lab market claim K1/C2
until_ "C2 is settled" settled C2

title "A call that a graph of the clinic makes."
printf '{"ingress":"sample","id":"r-1","body":%s}\n' "$(cat "$demo/sample.json")" >"$demo/referrals.jsonl"
note "clinic\$ witan graph run docs/examples/market/referral.graph.toml --input referrals.jsonl"
w clinic graph run "$root/docs/examples/market/referral.graph.toml" --input "$demo/referrals.jsonl" --wait 60 | sed 's/^/    /'

for each in C1,accepted C2,disputed; do until_ "the event stream tells of ${each%,*}" streamed "${each%,*}" "${each#*,}"; done
note "clinic: the event stream has told of K1, C1 and C2"

if [ "$kills" -gt 0 ]; then
  title "$kills calls in which one of the three is killed (seed $seed)."
  for n in $(seq 1 "$kills"); do killOne "K$n"; done
fi

title "The evidence, verified by both programs; altered by a byte, refused."
roots=()
for org in clinic lab; do roots+=("$org=$(member adminKey <"$demo/$org/cluster.json")"); done
note "witan market verify bundle.json"
w notary market verify "$demo/bundle.json" 2>&1 | sed 's/^/    /'
note "tests/market/verify_bundle.py bundle.json"
"$root/tests/market/verify_bundle.py" "$demo/bundle.json" "${roots[@]}" | sed 's/^/    /'
sed 's/sinus/sinuS/' "$demo/bundle.json" >"$demo/altered.json"
note "witan market verify altered.json"
if w notary market verify "$demo/altered.json" >"$demo/refused" 2>/dev/null; then fail "the altered bundle passed"; fi
sed 's/^/    /' "$demo/refused"
if "$root/tests/market/verify_bundle.py" "$demo/altered.json" "${roots[@]}" >/dev/null; then fail "the altered bundle passed in Python"; fi

title "The end: paid out, and the ledgers verified."
seller=$((240 + kills * 100))
tell notary propose escrow "$entity" Holder "{\"type\":\"PayOut\",\"reference\":\"bank-2\",\"party\":\"seller\",\"amount\":$seller}"
tell notary market show "$entity"
view=$(w notary market show "$entity" --json)
for want in "\"deposited\":$deposit" '"held":0' '"buyer":160' '"seller":0' "\"paidSeller\":$seller" '"paidBuyer":0'; do
  printf '%s' "$view" | grep -q -- "$want" || fail "the balances are others: $view has no $want"
done
runs=$(w lab graph list --runs | grep -c completed || true)
[ "$runs" = $((kills + 3)) ] || fail "the laboratory ran $runs times for $((kills + 3)) calls"
stopAll
for org in "${orgs[@]}"; do note "$org: $(w "$org" ledger verify 2>&1 | tail -n 1)"; done
say "done: $((kills + 3)) calls, $kills kills, balances as agreed"

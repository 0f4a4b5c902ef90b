# The demo of ./run: three devices of one clinic as three processes on loopback, each with its own directory and keys.
# ./run sources it after scripts/common.sh. Needs $witan (the program) and $demo (a folder for all files).
# shellcheck shell=bash

title() { printf '\n%s\n' "$1"; }
note() { printf '  %s\n' "$1"; }

devices=(front-desk lab clinic)
pids=()

w() { local device=$1; shift; "$witan" "$@" --dir "$demo/$device"; }

freePort() {
  local port
  for port in $(seq "$1" $(($1 + 500))); do
    if ! (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; then printf '%s' "$port"; return; fi
  done
  fail "no free port on 127.0.0.1 from $1 on"
}

# startDevice NAME [AGENT...]
startDevice() {
  local device=$1 arguments=() agent
  shift
  for agent in "$@"; do arguments+=(--agent "$agent"); done
  "$witan" up --dir "$demo/$device" "${arguments[@]}" 2>"$demo/$device.log" &
  pids+=($!)
  w "$device" status --wait ready --timeout 30 >/dev/null || { tail -n 5 "$demo/$device.log" >&2; fail "$device did not start (its log: $demo/$device.log)"; }
}

stopDevices() {
  local pid
  for pid in "${pids[@]}"; do kill -TERM "$pid" 2>/dev/null || true; done
  for pid in "${pids[@]}"; do wait "$pid" 2>/dev/null || true; done
  pids=()
}

# Waits until a command's output contains a text, at most 30 s.
waitFor() {
  local what=$1 text=$2 tries=300
  shift 2
  while [ $tries -gt 0 ]; do
    if "$@" 2>/dev/null | grep -qF -- "$text"; then return 0; fi
    tries=$((tries - 1))
    sleep 0.1
  done
  fail "$what did not happen within 30 s: the logs are in $demo/*.log"
}

# enter DEVICE ID TYPE PAYLOAD: writes a person's entry into the journal of that device.
enter() { printf '{"id":"%s","type":"%s","payload":%s}\n' "$2" "$3" "$4" | w "$1" feed - >/dev/null || fail "the entry $2 was not taken"; }

# waitEntries DEVICE NUMBER [PATIENT]: until the device has so many entries about the patient.
entries() { w "$1" ledger tail -n 0 --json --entity "${2:-David}" 2>/dev/null | wc -l; }
waitEntries() {
  local patient=${3:-David} tries=300
  while [ "$(entries "$1" "$patient")" -lt "$2" ]; do
    tries=$((tries - 1))
    [ $tries -gt 0 ] || fail "$1 has $(entries "$1" "$patient") of $2 entries about $patient after 30 s: the logs are in $demo/*.log"
    sleep 0.1
  done
}
# answerRelapse PATIENT ORDER: the doctor answers, on the clinic's device, exactly what she was shown.
answerRelapse() {
  local digest response
  waitFor "the escalation on the clinic's copy" "$1" w clinic queue list
  digest=$(w clinic queue show "$1" --json | sed -n 's/.*"digest":"\([0-9a-f]*\)".*/\1/p')
  response="[\"dr.supervising\",\"$(date -u +%F)T10:00:00Z\",\"increase monitoring\"]"
  note "witan queue approve $1 --counselor dr.supervising --digest ${digest:0:12}... --edit '{\"relapse.response\":...}'"
  w clinic queue approve "$1" --counselor dr.supervising --digest "$digest" --reason "seen today" \
    --edit "{\"relapse.response\":{\"$2\":$response}}" | sed 's/^/    /'
}
lastEntry() { w "$1" ledger tail -n 1 --entity David | sed 's/^/    /'; }

deployThree() {
  local port=7600 device token
  rm -rf "$demo"
  mkdir -p "$demo"
  trap stopDevices EXIT
  trap 'exit 130' INT TERM
  title "Three devices, each with its own directory and keys"
  port=$(freePort $port)
  w front-desk init --name front-desk --listen "127.0.0.1:$port" >/dev/null
  cp docs/examples/graphs-policy.toml "$demo/front-desk/policy.toml"
  startDevice front-desk
  note "front-desk begins the cluster and listens on 127.0.0.1:$port"
  for device in lab clinic; do
    token=$(w front-desk device invite --ttl 5m --role ledger --role '*' 2>/dev/null)
    port=$(freePort $((port + 1)))
    w "$device" join "$token" --name "$device" --listen "127.0.0.1:$port" >/dev/null
    note "$device joins with an invitation (good once, for five minutes) and listens on 127.0.0.1:$port"
  done
  startDevice lab udt-lab udt-results
  startDevice clinic udt-clinical udt-billing udt-planner udt-reviewer
  for device in "${devices[@]}"; do w "$device" status --wait connected --timeout 30 >/dev/null || fail "$device does not find the others"; done
  w front-desk device roster | sed 's/^/    /'
}

tellStory() {
  local today before baseline
  today=$(date -u +%F)
  before=$(date -u -d '3 days ago' +%F)
  baseline=$(date -u -d '115 days ago' +%F)

  title "A day at the clinic: the front desk writes into the journal, agents on lab and clinic propose"
  enter front-desk udt/David/patient udt.patient "{\"patient\":\"David\",\"fields\":{\"baselinePositiveOn\":\"$baseline\"}}"
  waitFor "David's file" '"entity":"David"' w clinic slice udt David --json
  note "David, $((($(date -u +%s) - $(date -u -d "$baseline" +%s)) / 86400)) days abstinent, has a file"
  enter front-desk udt/David/order/O1 udt.order "{\"patient\":\"David\",\"order\":\"O1\",\"kind\":\"DEFINITIVE\",\"code\":\"G0480\",\"method\":\"LCMS\",\"dos\":\"$before\",\"rationale\":\"treatment plan: random monitoring\"}"
  waitEntries lab 2
  enter front-desk udt/David/result/O1 udt.result "{\"patient\":\"David\",\"order\":\"O1\",\"outcome\":\"NEGATIVE\",\"on\":\"$before\"}"
  waitEntries lab 3
  enter front-desk udt/David/bill/C1 udt.bill '{"patient":"David","order":"O1","claim":"C1","entry":"udt/David/order/O1"}'
  waitEntries front-desk 4
  w front-desk ledger tail --entity David | sed 's/^/    /'

  title "Ruth's screening is followed by a graph of episodes: result, relapse, plan, at most three revisions, doctor"
  enter front-desk udt/Ruth/patient udt.patient "{\"patient\":\"Ruth\",\"fields\":{\"baselinePositiveOn\":\"$baseline\"}}"
  waitFor "Ruth's file" '"entity":"Ruth"' w clinic slice udt Ruth --json
  enter front-desk udt/Ruth/order/R1 udt.order "{\"patient\":\"Ruth\",\"order\":\"R1\",\"kind\":\"PRESUMPTIVE\",\"code\":\"80307\",\"method\":\"IMMUNOASSAY\",\"dos\":\"$today\",\"rationale\":\"treatment plan: random monitoring\"}"
  waitEntries front-desk 2 Ruth
  printf '{"ingress":"orders","id":"R1","body":{"patient":"Ruth","order":"R1","test":"screening"}}\n' |
    w front-desk graph run docs/examples/clinic.graph.toml --input - --wait 0 >/dev/null || [ $? = 3 ] || fail "the graph did not take Ruth's order"
  waitFor "the graph's question to the laboratory" '"Deliver"' w lab graph show R1 --json
  w front-desk graph list | sed 's/^/    /'
  note "its run R1 waits for the laboratory's result"

  title "The network is cut: no device reaches another"
  w front-desk peers cut lab >/dev/null
  w front-desk peers cut clinic >/dev/null
  w lab peers cut clinic >/dev/null
  w clinic peers | sed 's/^/    /'
  enter lab udt/David/order/O2 udt.order "{\"patient\":\"David\",\"order\":\"O2\",\"kind\":\"PRESUMPTIVE\",\"code\":\"80307\",\"method\":\"IMMUNOASSAY\",\"dos\":\"$today\",\"rationale\":\"treatment plan: random monitoring\"}"
  enter lab lab/Ruth/R1 lab.result "{\"outcome\":\"POSITIVE\",\"on\":\"$today\"}"
  enter clinic note/1 note '"David came by, cut off from everybody"'
  waitFor "the lab's proposal" '"outbox":1' w lab status --json
  note "the lab orders a screening all the same: its proposal waits in its outbox, durably"
  w lab status | grep -E '^(peers|waiting)' | sed 's/^/    /'

  title "The network heals"
  w front-desk peers heal lab >/dev/null
  w front-desk peers heal clinic >/dev/null
  w lab peers heal clinic >/dev/null
  waitEntries front-desk 6
  waitFor "the note" 'note/1' w front-desk journal list
  note "the proposal has reached its owner and was decided; the clinic's note is on the front desk"
  lastEntry front-desk

  title "Ruth's run goes on: the result is a relapse, the plan was sent back twice, and waits for the doctor"
  waitFor "the question about Ruth's plan" '"node":"doctor"' w clinic graph list --runs --json
  w clinic graph list --runs | sed 's/^/    /'
  answerRelapse Ruth R1
  note "witan graph answer R1 doctor approve --by dr.supervising --digest (what was shown)"
  asked=$(w clinic graph show R1 --json | sed -n 's/.*"questions":\[{[^]]*"digest":"\([0-9a-f]*\)".*/\1/p')
  w clinic graph answer R1 doctor approve --by dr.supervising --digest "$asked" >/dev/null
  waitFor "the end of Ruth's run" '"status":"completed"' w front-desk graph list --runs --json
  waitFor "Ruth's plan in the journal" 'examples.clinic/plans/' w lab journal list
  w front-desk graph show R1 | sed 's/^/    /'

  title "David's screening is positive: a relapse, which no agent may decide"
  enter clinic udt/David/result/O2 udt.result "{\"patient\":\"David\",\"order\":\"O2\",\"outcome\":\"POSITIVE\",\"on\":\"$today\"}"
  waitFor "the escalation" David w front-desk queue list
  w front-desk queue list | sed 's/^/    /'
  note "the supervising doctor looks at it on the clinic's device and answers exactly what she was shown:"
  answerRelapse David O2
  waitEntries lab 8

  title "The lab, which sees no results, orders a second definitive test"
  enter front-desk udt/David/order/O3 udt.order "{\"patient\":\"David\",\"order\":\"O3\",\"kind\":\"DEFINITIVE\",\"code\":\"G0480\",\"method\":\"LCMS\",\"dos\":\"$today\",\"rationale\":\"confirm the positive screening\",\"confirms\":\"O2\"}"
  waitEntries front-desk 10
  lastEntry front-desk
  w front-desk ledger tail -n 1 --entity David | grep -q 'rejected by UDT_DEFINITIVE_LIMIT' || fail "David's second definitive test was not rejected for the stated reason"
}

# For the console: a relapse that waits for its doctor.
leaveQuestion() {
  enter front-desk udt/Eve/patient udt.patient "{\"patient\":\"Eve\",\"fields\":{\"baselinePositiveOn\":\"$(date -u -d '115 days ago' +%F)\"}}"
  waitFor "Eve's file" '"entity":"Eve"' w clinic slice udt Eve --json
  enter front-desk udt/Eve/order/E1 udt.order "{\"patient\":\"Eve\",\"order\":\"E1\",\"kind\":\"PRESUMPTIVE\",\"code\":\"80307\",\"method\":\"IMMUNOASSAY\",\"dos\":\"$(date -u +%F)\",\"rationale\":\"treatment plan: random monitoring\"}"
  waitEntries clinic 2 Eve
  enter clinic udt/Eve/result/E1 udt.result "{\"patient\":\"Eve\",\"order\":\"E1\",\"outcome\":\"POSITIVE\",\"on\":\"$(date -u +%F)\"}"
  waitFor "the escalation" Eve w clinic queue list
}

# On every device the ledger verifies, with each entry decided again. All devices have the same ledger.
compareThree() {
  local device verdicts=() journals=()
  title "Every device checks its ledger and decides each entry again (entries, one hash over all ledgers)"
  for device in "${devices[@]}"; do
    waitEntries "$device" 10
    w "$device" status --wait quiet --timeout 30 >/dev/null || fail "$device does not come to rest"
    verdicts+=("$(w "$device" ledger verify --replay)") || fail "the ledger of $device does not verify: ${verdicts[-1]}"
    journals+=("$(w "$device" sync status --json | tr ',' '\n' | grep -E '"digest"' | tr '\n' ' ')")
    printf '    %-11s %s\n' "$device" "${verdicts[-1]}"
  done
  [ "${verdicts[0]}" = "${verdicts[1]}" ] && [ "${verdicts[0]}" = "${verdicts[2]}" ] || fail "the ledgers differ"
  [ "${journals[0]}" = "${journals[1]}" ] && [ "${journals[0]}" = "${journals[2]}" ] || fail "the replicated states differ"
  note "the replicated states of all three are equal (digests of journal and agents' state)"
  w front-desk agent check | sed 's/^/    /'
}

# Somebody who trusts none of the three devices, nor Witan: what was kept outside says whether an export is genuine.
strangerProof() {
  local partition device outside=$demo/outside with=() said
  local export=$outside/david.jsonl altered=$outside/altered.jsonl verifier=tests/node/stranger/verify_export.py
  title "A stranger checks David's ledger with an export, a checkpoint with two cosignatures, and the keys of the devices"
  mkdir -p "$outside"
  partition=$(w front-desk slice udt David --json | sed -n 's/.*"partition":"\([^"]*\)".*/\1/p')
  for device in "${devices[@]}"; do
    cp "$demo/$device/device.vkey" "$outside/$device.vkey"
    with+=(--vkey "$outside/$device.vkey")
  done
  with+=(--checkpoint "$outside/checkpoint" --require 3)
  published() {
    w front-desk ledger export --partition "$partition" >"$export"
    w front-desk ledger checkpoint --partition "$partition" >"$outside/checkpoint"
    "$witan" ledger verify --export "$export" "${with[@]}" --signed
  }
  waitFor "a checkpoint of all entries with two cosignatures" "ok " published
  sed 's/^/    /' "$outside/checkpoint"
  note "witan ledger verify --export david.jsonl ${#devices[@]} keys, --require 3: $(published)"
  # One of the signed bytes of the second entry.
  sed -E '2{s/("bytes":".{200})A/\1B/;t;s/("bytes":".{200})./\1A/}' "$export" >"$altered"
  said=$("$witan" ledger verify --export "$altered" "${with[@]}" 2>&1) && fail "an altered export verifies"
  note "with one byte changed: ${said%%$'\n'*}"
  if ! command -v python3 >/dev/null; then
    note "$verifier, which shares no code with Witan, was not run: there is no python3"
    return
  fi
  note "$verifier, which shares no code with Witan: $(python3 "$verifier" "$export" "${with[@]}")" || fail "the stranger's verifier refuses the export"
  said=$(python3 "$verifier" "$altered" "${with[@]}" 2>&1) && fail "an altered export passes the stranger's verifier"
  note "with one byte changed: $said"
}

// `witan status`, `witan peers`, `witan partition`, `witan propose`, `witan begin`, `witan feed`, `witan slice`: a
// running node, seen and used from outside.
#include <chrono>
#include <cstdio>
#include <thread>

#include "base/bytes.h"
#include "base/json.h"
#include "base/seams.h"
#include "base/string_util.h"
#include "cli/client/device_names.h"
#include "cli/client/verb.h"
#include "cli/commands/commands.h"
#include "node/cluster/roster.h"
#include "program/error_report.h"
#include "program/line_reader.h"
#include "program/option_checks.h"
#include "program/progress.h"
#include "replica/core/operation_names.h"

namespace witan::node {

namespace {

struct StatusArguments : LiveArguments {
  std::string wait;
  std::int64_t timeoutSeconds = 30;
};

std::string statusWords(const json::value& s) {
  const json::value peers = s.at("peers"), partitions = s.at("partitions");
  std::vector<std::vector<std::string>> rows{
      {"node", shown(s, "name") + "  (" + shown(s, "device") + ")"},
      {"cluster", shown(s, "cluster") + ", roster " + shown(s, "rosterVersion")},
      {"fingerprint", shown(s, "fingerprint")},
      {"roles", shown(s, "roles")},
      {"up", shown(s, "uptimeSeconds") + " s, version " + shown(s, "version") + ", writer " + shown(s, "writer")},
      {"peers", shown(peers, "connected") + " of " + shown(peers, "known") + " connected"},
      {"ledgers", shown(partitions, "kept") + " kept, " + shown(partitions, "owned") + " decided here, " +
                      shown(s, "entries") + " entries, " + shown(s, "entities") + " entities"},
      {"waiting", shown(s, "waitingForCounselor") + " for a counselor, " + shown(s, "outbox") + " in the outbox"}};
  if (const json::value* runs = s.get_object().if_contains("agentRuns"); runs != nullptr && runs->is_object()) {
    rows.push_back({"agents", shown(*runs, "started") + " runs, " + shown(*runs, "failed") + " failed"});
    if (const json::value& last = runs->get_object().at("lastFailure"); last.is_object())
      rows.push_back({"", "last " + shown(last, "at") + " " + shown(last, "agent") + ": " + shown(last, "cause") +
                              " (witan wake list --failed)"});
  }
  for (const json::value& graph : rowsOf(s, "graphs"))
    rows.push_back({"graph", concat(shown(graph, "graph"), " version ", shown(graph, "version"), ": ",
                                    shown(graph, "runs"), " runs open, ", shown(graph, "running"), " spans at work, ",
                                    shown(graph, "asking"), " questions, ", shown(graph, "queued"), " messages wait")});
  for (const json::value& check : rowsOf(s, "checks"))
    if (!isTrue(check, "ok") || shown(check, "todo") != "-" || shown(check, "name") == "owners" ||
        shown(check, "name") == "witnesses" || shown(check, "name") == "disk")
      rows.push_back(
          {shown(check, "name"), concat(isTrue(check, "ok") ? "" : "NOT OK: ", shown(check, "what"),
                                        shown(check, "todo") == "-" ? "" : "; do: " + shown(check, "todo"))});
  if (shown(s, "incidents") != "0") rows.push_back({"incidents", shown(s, "incidents") + ": witan incidents"});
  return columns(rows);
}

bool reached(const json::value& status, const std::string& wait) {
  for (const json::value& check : rowsOf(status, "checks"))
    if (!isTrue(check, "ok")) return false;
  if (wait == "quiet") return isTrue(status, "quiet");
  if (wait == "connected") return shown(status.at("peers"), "connected") == shown(status.at("peers"), "known");
  return true;
}

Result<int> waitFor(const StatusArguments& a) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(a.timeoutSeconds);
  std::string last = "it does not answer";
  while (true) {
    WITAN_TRY(dir, replicaDirPath(a.dir));
    if (auto client = ControlClient::open(dir); client.ok())
      if (auto status = client->get("/v1/status"); status.ok()) {
        if (reached(*status, a.wait)) return print(*status, a.json, statusWords);
        last = "it answers";
      }
    if (std::chrono::steady_clock::now() >= until)
      return unavailable(concat("the node was not ", a.wait, " within ", a.timeoutSeconds, " s (", last, ")"),
                         "see: witan status");
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
}

Result<int> status(const StatusArguments& a) {
  if (!a.wait.empty()) return waitFor(a);
  return onLiveNode(a, [&](const ControlClient& client) -> Result<int> {
    WITAN_TRY(answer, client.get("/v1/status"));
    return print(answer, a.json, statusWords);
  });
}

void addStatus(Command& app) {
  const auto [command, a] =
      addVerb<StatusArguments>(app, "status", "How the node is", "witan status --wait connected --timeout 30", status);
  command
      ->option(
          "--wait", a->wait,
          "Return when it is ready, connected (to all members that it keeps links with) or quiet (nothing under way)")
      ->oneOf({"ready", "connected", "quiet"});
  command->option("--timeout", a->timeoutSeconds, "Seconds to wait; after that, exit code 4")
      ->showDefault()
      ->check(wholeNumber(0, kMostWaitSeconds));
  addLiveVerb<LiveArguments>(app, "incidents", "What an operator should know", "witan incidents",
                             [](const ControlClient& client, const LiveArguments& args) -> Result<int> {
                               WITAN_TRY(answer, client.get("/v1/incidents"));
                               return print(answer, args.json, [&](const json::value& list) {
                                 std::string text;
                                 for (const json::value& i : rowsOf(list, "incidents"))
                                   text += shown(i, "kind") + "  " + shown(i, "peer") + "  " + shown(i, "what") + "\n";
                                 return text.empty() ? std::string("none\n") : deviceNames(client).in(text);
                               });
                             });
}

// --- peers

struct PeerArguments : LiveArguments {
  std::string device;
};

std::string peersWords(const json::value& answer, const DeviceNames& names) {
  std::vector<std::vector<std::string>> rows;
  for (const json::value& peer : rowsOf(answer, "peers")) {
    const bool connected = isTrue(peer, "connected");
    std::string state = connected ? "connected" : isTrue(peer, "cut") ? "cut by an operator" : "not connected";
    if (connected && isTrue(peer, "inSync")) state += ", in sync";
    if (peer.get_object().contains("seconds")) state += ", for " + shown(peer, "seconds") + " s";
    rows.push_back({names.in(shown(peer, "device")), names.in(shown(peer, "address")), state,
                    connected ? "" : names.in(shown(peer, "lastEnd"))});
  }
  return rows.empty() ? "no other devices\n" : columns(rows);
}

void addPeers(Command& app) {
  Command* peers = app.command("peers", "Links to the other devices");
  peers->requireCommand(true);
  const auto listed = std::make_shared<PeerArguments>();
  addLiveOptions(peers, *listed, "witan peers");
  peers->callback([listed] {
    return onLiveNode(*listed, [&](const ControlClient& client) -> Result<int> {
      WITAN_TRY(answer, client.get("/v1/peers"));
      return print(answer, listed->json,
                   [&](const json::value& list) { return peersWords(list, deviceNames(client)); });
    });
  });
  const auto drill = [&](const char* name, const char* what, const char* example) {
    const auto [command, a] = addLiveVerb<PeerArguments>(
        *peers, name, what, example, [name](const ControlClient& client, const PeerArguments& args) -> Result<int> {
          WITAN_TRY(answer, client.post(concat("/v1/peers/", name), {{"device", args.device}}));
          return print(answer, args.json,
                       [&](const json::value&) { return args.device + " " + name + (*name == 'c' ? "\n" : "ed\n"); });
        });
    command->option("DEVICE", a->device, "Its name or id")->required();
  };
  drill("cut", "Drop the link to a device and keep it down, for drills", "witan peers cut lab");
  drill("heal", "Let the link come back", "witan peers heal lab");
}

// --- partitions

struct PartitionArguments : LiveArguments {
  std::string partition, device, reason, domain;
  std::uint64_t copies = 0, entries = 0, days = 0, whole = kLeastCopies;
  bool allLost = false, all = false;
};

// Each by itself: what one copy lacks keeps no other from being seized.
Result<int> seizeAllLost(const ControlClient& client, const PartitionArguments& a) {
  WITAN_TRY(all, client.get("/v1/partitions"));
  int done = 0, failed = 0;
  for (const json::value& row : rowsOf(all, "partitions")) {
    if (!isTrue(row, "lost")) continue;
    const std::string partition = shown(row, "partition");
    const auto seized = client.post("/v1/partitions/seize", {{"partition", partition}, {"reason", a.reason}});
    ++(seized.ok() ? done : failed);
    if (!seized.ok()) putErr(concat("witan: ", partition, ": ", seized.error().message, "\n"));
  }
  const json::value answer{{"seized", done}, {"failed", failed}};
  const int code = print(answer, a.json, [](const json::value& one) {
    return concat(shown(one, "seized"), " partitions are decided here now, ", shown(one, "failed"), " failed\n");
  });
  return failed > 0 ? kExitFailed : code;
}

std::string keptWords(std::uint64_t entries, std::uint64_t days) {
  if (entries == 0 && days == 0) return "every entry";
  return concat(entries > 0 ? concat("the newest ", entries) : "", entries > 0 && days > 0 ? " and " : "",
                days > 0 ? concat("those of ", days, " days") : "");
}

std::string retentionWords(const json::value& partition, const DeviceNames& names) {
  const json::value* const retention = partition.get_object().if_contains("retention");
  if (retention == nullptr) return "";
  const auto number = [&](const char* member) -> std::uint64_t {
    const json::value* const value = retention->get_object().if_contains(member);
    return value == nullptr ? 0 : value->to_number<std::uint64_t>();
  };
  std::vector<std::string> whole;
  for (const json::value& device : rowsOf(*retention, "whole")) whole.push_back(names.in(device.as_string()));
  return concat("keeps ", keptWords(number("entries"), number("days")), "; all on ", joined(whole));
}

std::string partitionsWords(const json::value& answer, const DeviceNames& names) {
  std::vector<std::vector<std::string>> rows;
  for (const json::value& p : rowsOf(answer, "partitions")) {
    std::string owner = names.in(shown(p, "owner"));
    const std::string retention = retentionWords(p, names);
    const auto add = [&](std::vector<std::string> row) {
      if (!retention.empty()) row.push_back(retention);
      rows.push_back(std::move(row));
    };
    if (isTrue(p, "here"))
      owner += " (this device)";
    else if (!isTrue(p, "ownerConnected"))
      owner += " (not connected)";
    if (!p.get_object().contains("entries") && p.get_object().contains("keepers")) {
      std::vector<std::string> keepers;
      for (const json::value& keeper : rowsOf(p, "keepers")) keepers.push_back(names.in(keeper.as_string()));
      add({shown(p, "partition"), owner, "epoch " + shown(p, "epoch"), "copies: " + joined(keepers), "", ""});
      continue;
    }
    const std::string from = shown(p, "firstEntry") == "-" ? "" : ", here from " + shown(p, "firstEntry") + " on";
    add({shown(p, "partition"), owner, "epoch " + shown(p, "epoch"), shown(p, "entries") + " entries" + from,
         shown(p, "entities") + " entities",
         shown(p, "pending") == "0" || shown(p, "pending") == "-" ? "" : shown(p, "pending") + " pending"});
  }
  return columns(rows);
}

Result<int> retain(const ControlClient& client, const PartitionArguments& a) {
  const bool some = a.entries > 0 || a.days > 0;
  if (some == a.all)
    return reportUsage(some ? invalid("--all keeps every entry: no --entries or --days goes with it")
                            : invalid("nothing says what stays", "give --entries, --days or both, or --all"),
                       a.json);
  json::object body{{"domain", a.domain}};
  if (a.entries > 0) body["entries"] = a.entries;
  if (a.days > 0) body["days"] = a.days;
  if (some) body["whole"] = a.whole;
  WITAN_TRY(answer, client.post("/v1/partitions/retention", body));
  for (const json::value& warning : rowsOf(answer, "warnings"))
    if (!a.json) putErr(concat("witan: warning: ", warning.as_string(), "\n"));
  return print(answer, a.json, [&](const json::value& done) {
    return concat("copies of ", a.domain, " keep ", keptWords(a.entries, a.days),
                  some ? concat("; ", a.whole, " of each partition keep every entry") : "", "; roster ",
                  shown(done, "version"), "\n");
  });
}

void addRetain(Command& partition) {
  const auto [command, a] = addLiveVerb<PartitionArguments>(
      partition, "retain", "Which entries copies of a domain's partitions keep, but for the few that keep all",
      "witan partition retain udt --entries 100000 --days 365", retain);
  command->option("DOMAIN", a->domain, "The domain")->required();
  command->option("--entries", a->entries, "Keep the newest so many entries")->check(wholeNumber(1));
  command->option("--days", a->days, "Keep the entries of so many days")->check(wholeNumber(1, 36'500));
  command->option("--whole", a->whole, "So many copies of each partition keep every entry")
      ->showDefault()
      ->check(wholeNumber(kLeastCopies));
  command->flag("--all", a->all, "Each copy keeps every entry again");
}

void addPartition(Command& app) {
  Command* partition = app.noun("partition", "Who decides for what", "witan partition list --domain udt");
  const auto verb = [&](const char* name, const char* what, const char* example, auto work) {
    return addLiveVerb<PartitionArguments>(*partition, name, what, example, work);
  };
  const auto [list, listed] = verb(
      "list", "All partitions", "witan partition list --domain udt",
      [](const ControlClient& client, const PartitionArguments& a) -> Result<int> {
        WITAN_TRY(answer, client.get("/v1/partitions" +
                                     (a.domain.empty() ? std::string() : "?domain=" + net::percentEncoded(a.domain))));
        return print(answer, a.json, [&](const json::value& all) { return partitionsWords(all, deviceNames(client)); });
      });
  list->option("--domain", listed->domain, "Of this domain only");
  const auto change = [&](const char* name, const char* what, const char* example, bool toDevice) {
    const auto [command, a] = verb(
        name, what, example,
        [name, toDevice](const ControlClient& client, const PartitionArguments& args) -> Result<int> {
          if (args.partition.empty() != args.allLost)
            return reportUsage(invalid("give either a PARTITION or --all-lost"), args.json);
          if (args.allLost) return seizeAllLost(client, args);
          json::object body{{"partition", args.partition}, {"reason", args.reason}};
          if (toDevice) body["device"] = args.device;
          WITAN_TRY(answer, client.post(concat("/v1/partitions/", name), body));
          return print(answer, args.json, [&](const json::value&) {
            return args.partition + (toDevice ? " goes to " + args.device : std::string(" is decided here now")) + "\n";
          });
        });
    Option* partitionName = command->option("PARTITION", a->partition, "DOMAIN/NUMBER");
    if (toDevice)
      partitionName->required();
    else
      command->flag("--all-lost", a->allLost, "Each one whose owner was revoked, or has lost its ledgers");
    if (toDevice) command->option("DEVICE", a->device, "Its name or id")->required();
    command->option("--reason", a->reason, "For the ledger");
  };
  const auto [copies, a] = verb(
      "copies", "How many copies of each partition there are, on devices with the role ledger",
      "witan partition copies udt 3", [](const ControlClient& client, const PartitionArguments& args) -> Result<int> {
        WITAN_TRY(answer, client.post("/v1/partitions/copies", {{"domain", args.domain}, {"copies", args.copies}}));
        for (const json::value& warning : rowsOf(answer, "warnings"))
          if (!args.json) putErr(concat("witan: warning: ", warning.as_string(), "\n"));
        return print(answer, args.json, [&](const json::value& done) {
          return concat("copies of ", args.domain, ": ", args.copies == 0 ? "everywhere" : std::to_string(args.copies),
                        "; roster ", shown(done, "version"), "\n");
        });
      });
  copies->option("DOMAIN", a->domain, "The domain")->required();
  copies->option("COPIES", a->copies, "2 or more, and the owner's; 0: on each device with the role ledger")->required();
  addRetain(*partition);
  change("move", "Hand a partition over to another device", "witan partition move udt/3 server --reason maintenance",
         true);
  change("seize", "Take a partition over without its owner, which is gone for good",
         "witan partition seize udt/3 --reason 'laptop stolen'", false);
}

// --- asking

struct AskArguments : LiveArguments {
  std::string domain, entity, role, key, action = "{}", file = "-";
  std::optional<std::string> operationId;
  std::uint64_t waitMs = 10'000;
  bool exitCode = false, dryRun = false;
};

std::string outcomeWords(const json::value& answer) {
  std::string text = shown(answer, "outcome");
  if (shown(answer, "ledgerSeq") != "-") text += ", entry " + shown(answer, "ledgerSeq");
  if (isTrue(answer, "duplicate")) text += " (decided before)";
  if (shown(answer, "invariant") != "-") text += " by " + shown(answer, "invariant");
  if (shown(answer, "message") != "-") text += ": " + shown(answer, "message");
  const json::value* resolved = answer.is_object() ? answer.get_object().if_contains("resolved") : nullptr;
  if (resolved != nullptr && resolved->is_object())
    text += concat("\n", shown(*resolved, "outcome"), " by counselor ", shown(*resolved, "counselor"), ", entry ",
                   shown(*resolved, "ledgerSeq"));
  return text + "\n";
}

// Of propose and begin with --exit-code, beyond those of all commands (program/error_report.h).
constexpr std::uint64_t kMostWaitMs = 120'000;  // as the node has it
constexpr int kExitRejected = 5, kExitEscalated = 6;

// With --exit-code. Asked again, an operation has the outcome that was recorded.
int exitCodeOf(const std::string& outcome) {
  if (outcome == "rejected" || outcome == "cRejected") return kExitRejected;
  if (outcome == "escalated" || outcome == "frozen") return kExitEscalated;
  return outcome == "waiting" ? kExitWaiting : kExitOk;
}

// Drawn here and not by the node, so that it is known whatever becomes of the node.
std::string drawnId() {
  SystemRandom random;
  return drawnName("cli:", random);
}

// Without an answer it may have been taken on all the same.
Error ofUnknownEnd(Error error, const std::string& operation) {
  if (error.code == ErrorCode::unavailable || error.code == ErrorCode::ioFailed)
    error.hint += (error.hint.empty() ? "" : "; ") + ("the same again, and no second act: --operation-id " + operation);
  return error;
}

std::string previewWords(const json::value& preview) {
  std::string text = "would be " + shown(preview, "outcome") + "\n";
  for (const json::value& one : rowsOf(preview, "invariants")) {
    text += "  " + shown(one, "id") + ": " + shown(one, "verdict");
    if (shown(one, "message") != "-") text += ": " + shown(one, "message");
    if (shown(one, "passesAt") != "-") text += "; passes from " + shown(one, "passesAt");
    text += "\n";
  }
  return text;
}

Result<int> preview(const ControlClient& client, const AskArguments& a) {
  WITAN_TRY(action, parseJson(a.action));
  WITAN_TRY(answer, client.post("/v1/preview",
                                {{"domain", a.domain}, {"entity", a.entity}, {"role", a.role}, {"action", action}}));
  (void)print(answer, a.json, previewWords);
  return a.exitCode ? exitCodeOf(shown(answer, "outcome")) : kExitOk;
}

Result<int> ask(const ControlClient& client, const AskArguments& a, bool begin) {
  if (a.dryRun) return preview(client, a);
  WITAN_TRY(value, parseJson(a.action));
  json::object body{{"domain", a.domain}, {"entity", a.entity}, {"waitMs", a.waitMs}};
  body[begin ? "init" : "action"] = value;
  if (!begin) body["role"] = a.role;
  const std::string operation = a.operationId ? *a.operationId : drawnId();
  body["operationId"] = operation;
  const auto answer = client.post(begin ? "/v1/entities" : "/v1/propose", body);
  if (!answer.ok()) return ofUnknownEnd(answer.error(), operation);
  const std::string outcome = shown(*answer, "outcome");
  (void)print(*answer, a.json, outcomeWords);
  if (std::fflush(stdout) != 0)  // it was decided, and the id is what finds it again
    return std::clearerr(stdout), ofUnknownEnd(ioFailed("the answer could not be written: " + outcome), operation);
  return outcome == "refused" ? kExitFailed : a.exitCode ? exitCodeOf(outcome) : kExitOk;
}

// Line by line; a bad one is reported and the others go in.
Result<int> feed(const ControlClient& client, const AskArguments& a) {
  std::size_t entered = 0, unchanged = 0;
  ImportErrors refusals(a.json);
  Progress progress("feeding", "lines");
  const Status read = forEachLine(a.file, 1 << 20, [&](const InputLine& line) -> Status {
    progress.count(line.number);
    if (!line.overlong && line.text.find_first_not_of(" \t\r") == std::string_view::npos) return okStatus();
    auto value = line.overlong ? Result<json::value>(invalid("longer than 1 MiB")) : parseJson(line.text);
    if (value.ok() && !value->is_object()) value = invalid("no object");
    if (const Status kept = value.ok() ? checkIntegersKept(line.text) : okStatus(); !kept.ok()) value = kept.error();
    auto answer = value.ok() ? client.post("/v1/feed", value->get_object()) : value;
    if (answer.ok()) return ++(isTrue(*answer, "entered") ? entered : unchanged), okStatus();
    Error why = answer.error();
    why.message = concat("line ", line.number, ": ", why.message);
    refusals.add(why);
    return why.code == ErrorCode::unavailable ? Status(answer.error()) : okStatus();
  });
  refusals.finish();
  WITAN_DO(read);
  const std::size_t refused = refusals.count();
  const json::object sum{{"entered", entered}, {"unchanged", unchanged}, {"refused", refused}};
  (void)print(sum, a.json, [&](const json::value&) {
    return concat(entered, " entered", unchanged > 0 ? concat(", ", unchanged, " as they were") : "",
                  refused > 0 ? concat(", ", refused, " refused") : "", "\n");
  });
  return refused > 0 ? kExitSomeRefused : kExitOk;
}

void addAsking(Command& app) {
  const auto common = [](Command* command, AskArguments& a) {
    command->option("--operation-id", a.operationId, "The same again is answered, not done again")
        ->check(notEmpty())
        ->check(idText("the operation id"));
    command->option("--wait-ms", a.waitMs, "How long to wait for the answer; at most two minutes")
        ->showDefault()
        ->check(wholeNumber(0, kMostWaitMs));
    command->flag("--exit-code", a.exitCode,
                  "Exit with 5 if it was rejected, 6 if a counselor is asked first, 7 if there is no answer yet");
  };
  const auto [propose, proposed] = addLiveVerb<AskArguments>(
      app, "propose", "Propose an action; the answer is durable",
      "witan propose udt David LabOrder '{\"type\":\"DocumentRationale\",\"order\":\"O1\",\"text\":\"treatment "
      "plan\"}'",
      [](const ControlClient& client, const AskArguments& a) { return ask(client, a, false); });
  propose->option("DOMAIN", proposed->domain, "Which")->required();
  propose->option("ENTITY", proposed->entity, "Of which")->required();
  propose->option("ROLE", proposed->role, "In which role")->required();
  propose->option("ACTION", proposed->action, "{\"type\":...}")->required()->check(jsonText());
  common(propose, *proposed);
  propose->flag("--dry-run", proposed->dryRun,
                "Propose nothing: show what every invariant would return, and when those that fail would pass");
  const auto [begin, begun] = addLiveVerb<AskArguments>(
      app, "begin", "Begin an entity", "witan begin udt David --init '{\"baselinePositiveOn\":\"2025-12-01\"}'",
      [](const ControlClient& client, const AskArguments& a) { return ask(client, a, true); });
  begin->option("DOMAIN", begun->domain, "Which")->required();
  begin->option("ENTITY", begun->entity, "Its id")->required();
  begin->option("--init", begun->action, "Its first fields; the others take their defaults")
      ->showDefault()
      ->check(jsonText());
  common(begin, *begun);
  const auto [feeding, fed] = addLiveVerb<AskArguments>(
      app, "feed", "Entries to the journal, or words to agents, as JSON Lines (docs/agents.md)",
      "witan feed clinic-day.jsonl", feed);
  feeding->option("FILE", fed->file, "JSON Lines; - for standard input")->showDefault();
  const auto [slice, seen] = addLiveVerb<AskArguments>(
      app, "slice", "What a role sees of an entity", "witan slice udt David --role Billing",
      [](const ControlClient& client, const AskArguments& a) -> Result<int> {
        std::string target =
            "/v1/slice?domain=" + net::percentEncoded(a.domain) + "&entity=" + net::percentEncoded(a.entity);
        if (!a.role.empty()) target += "&role=" + net::percentEncoded(a.role);
        if (!a.key.empty()) target += "&key=" + net::percentEncoded(a.key);
        WITAN_TRY(answer, client.get(target));
        return print(answer, a.json, [](const json::value& s) { return shown(s, "state") + "\n"; });
      });
  slice->option("DOMAIN", seen->domain, "Which")->required();
  slice->option("ENTITY", seen->entity, "Of which")->required();
  slice->option("--role", seen->role, "Which role; none: everything, where the ledger is kept");
  slice->option("--key", seen->key, "Only the rows that belong to it, an organisation for example");
}

}  // namespace

void addStatusCommands(Command& app) {
  addStatus(app);
  addPeers(app);
  addPartition(app);
  addAsking(app);
}

}  // namespace witan::node

// `witan graph`: graphs of episodes (docs/graphs.md): checks, pictures and scripted runs from files alone; graphs that
// a running node hosts.
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <thread>

#include "base/bytes.h"
#include "base/quote.h"
#include "base/seams.h"
#include "cli/client/answer_signature.h"
#include "cli/client/verb.h"
#include "cli/commands/commands.h"
#include "cli/format/graph_drawing.h"
#include "cli/format/graph_run.h"
#include "domains/registry.h"
#include "kernel/graph/checks.h"
#include "kernel/graph/script.h"
#include "program/json_file.h"
#include "program/line_reader.h"
#include "program/output.h"
#include "program/policy_file.h"

namespace witan::node {

using namespace graph;

namespace {

constexpr TableForm kGraphTable{"graph", false};
constexpr std::size_t kMostEnvironmentBytes = std::size_t{16} << 20;
constexpr std::size_t kLeastDigest = 16;  // digits that name what was shown
constexpr std::size_t kMostReportBytes = std::size_t{64} << 20;

struct GraphArguments {
  std::string file;
  std::string environment;
  std::string script;
  bool json = false;
};

json::array findingsJson(const std::vector<Finding>& findings) {
  json::array list;
  for (const Finding& one : findings) list.push_back({{"id", one.id}, {"place", one.place}, {"message", one.message}});
  return list;
}

std::string findingWords(const std::vector<Finding>& findings) {
  std::string words;
  for (const Finding& one : findings)
    words += one.id + " " + (one.place.empty() ? "" : one.place + ": ") + one.message + "\n";
  return words;
}

// Without a file: the domains of this build with their roles, and nothing else.
Result<graph::Environment> environmentOf(const std::string& file) {
  if (!file.empty()) {
    WITAN_TRY(text, readInput(file, kMostEnvironmentBytes));
    auto environment = parseEnvironment(text);
    if (!environment.ok()) return named(file, environment.error());
    return environment;
  }
  graph::Environment environment;
  for (const std::string_view name : domains::domainNames()) {
    WITAN_TRY(module, domains::makeDomain(name));
    RegisteredDomain& domain = environment.domains[std::string(name)];
    for (const auto& role : module->signature().roles) domain.roles.push_back(role.name);
  }
  return environment;
}

// What policies, agents, tools and other graphs say.
bool asksEnvironment(const Finding& finding) {
  static constexpr std::array kSuch{"GL09", "GL19", "GL20", "GL23"};
  return std::ranges::find(kSuch, std::string_view(finding.id)) != kSuch.end();
}

Result<int> lint(const GraphArguments& a) {
  WITAN_TRY(document, readTableFile(a.file, kGraphTable));
  WITAN_TRY(environment, environmentOf(a.environment));
  const Checked checked = checkGraph(document, environment);
  const int exitCode = checked.errors.empty() ? kExitOk : kExitFailed;
  if (a.json) {
    putWords(
        canonicalJson(json::object{{"errors", findingsJson(checked.errors)},
                                   {"warnings", findingsJson(checked.warnings)},
                                   {"bound", checked.bound ? json::value(*checked.bound) : json::value(nullptr)}}) +
        "\n");
    return exitCode;
  }
  putWords(findingWords(checked.errors) + findingWords(checked.warnings));
  if (checked.bound == std::numeric_limits<std::int64_t>::max())
    putWords("the most deliveries of a run are beyond what can be counted\n");
  else if (checked.bound)
    putWords("a run makes at most " + std::to_string(*checked.bound) + " deliveries\n");
  putWords(checked.errors.empty() ? "the graph may be deployed\n" : "the graph may not be deployed\n");
  if (a.environment.empty() && std::ranges::any_of(checked.errors, asksEnvironment))
    putWords(
        "it was checked against the domains of this build alone: a node also knows its policy, agents, tools, rule "
        "files and graphs.\nname them with --env, or let the node check: witan graph deploy\n");
  return exitCode;
}

std::string lineWords(const json::object& line) {
  std::string words = std::to_string(line.at("atMs").as_int64()) + " ms  " + std::string(line.at("event").as_string());
  for (const auto& [member, value] : line) {
    if (member == "n" || member == "atMs" || member == "event") continue;
    std::string shown = value.is_string() ? std::string(value.get_string()) : canonicalJson(value);
    const bool isHash = shown.size() == 64 && shown.find_first_not_of("0123456789abcdef") == shown.npos;
    words += "  " + std::string(member) + " " + (isHash ? shown.substr(0, 8) : shown);
  }
  return words + "\n";
}

std::string endWords(const json::object& result) {
  std::string words;
  for (const json::value& each : result.at("runs").as_array()) {
    const json::object& run = each.as_object();
    words += "run " + std::string(run.at("external").as_string()) + ": " + std::string(run.at("status").as_string()) +
             ", " + std::to_string(run.at("deliveries").as_int64()) + " deliveries, " +
             std::to_string(run.at("dead").as_int64()) + " dead letters\n";
  }
  for (const json::value& lane : result.at("waiting").as_array())
    words += "a person is asked at " + std::string(lane.as_string()) + "\n";
  return words;
}

Result<int> run(const GraphArguments& a) {
  WITAN_TRY(from, readJsonFile(a.script, kScriptLimits));
  const auto scripted = readCase(from);
  if (!scripted.ok()) return named(a.script, scripted.error());
  const auto print = [&](const json::object& line) { putWords(a.json ? canonicalJson(line) + "\n" : lineWords(line)); };
  const auto result = runScript(*scripted, {.line = print});
  if (!result.ok()) return named(a.script, result.error());
  putWords(a.json ? canonicalJson(*result) + "\n" : endWords(*result));
  return kExitOk;
}

// ---- graphs of a running node

struct HostedArguments : LiveArguments {
  std::string file, input, run, span, message, by, answer, why, digest, sign, format = "mermaid";
  std::string kind = "graph", version, suite, report, result = "pass";
  bool runs = false, artefacts = false;
  std::int64_t waitSeconds = 60;
  std::uint64_t waitMs = 10'000;
};

Result<json::value> deployOn(const ControlClient& node, const std::string& file) {
  WITAN_TRY(document, readTableFile(file, kGraphTable));
  return node.post("/v1/graphs/deploy", {{"document", document}});
}

std::string deployedWords(const json::value& made) {
  std::string words = shown(made, "graph") + " version " + shown(made, "version") + " is deployed\n";
  for (const json::value& warning : rowsOf(made, "warnings")) words += std::string(warning.as_string()) + "\n";
  return words;
}

Result<int> deploy(const ControlClient& node, const HostedArguments& a) {
  WITAN_TRY(made, deployOn(node, a.file));
  return print(made, a.json, deployedWords);
}

// What the answer has to name, then what is asked.
std::string questionWords(const json::value& one) {
  return concat("  digest ", shown(one, "digest"), "\n  ", oneLine(shown(one, "node")), " asks ", shown(one, "who"),
                " about ", shown(one, "body"), ": span ", shown(one, "span").substr(0, 16), "\n");
}

std::string runWords(const json::value& run) {
  std::string words = shown(run, "graph") + "  " + shown(run, "external") + "  " + shown(run, "status") + "  " +
                      shown(run, "deliveries") + " deliveries, " + shown(run, "dead") + " dead letters  " +
                      shown(run, "run").substr(0, 16) + "\n";
  for (const json::value& one : rowsOf(run, "questions")) words += questionWords(one);
  return words;
}

Result<json::value> runNamed(const ControlClient& node, const std::string& run) {
  return node.get("/v1/graphs/run" + queryOf({{"run", run}}));
}

struct Sent {
  std::string id;
  std::string outcome, message;
};

struct InputMessage {
  std::string place;
  json::object request;
};
// Each line {"ingress","id","body"}. All of them are read before the first one enters.
Result<std::vector<InputMessage>> readMessages(const std::string& graph, const std::string& file) {
  WITAN_TRY(text, readInput(file, std::size_t{64} << 20));
  std::vector<InputMessage> all;
  std::size_t number = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = std::string_view(text).substr(at, end - at);
    at = end + 1;
    ++number;
    if (line.empty()) continue;
    const std::string place = inputName(file) + ":" + std::to_string(number) + ": ";
    const auto value = parseJson(line, {.bytes = 1 << 20, .depth = 64});
    if (!value.ok()) return invalid(place + value.error().message);
    if (!value->is_object()) return invalid(place + "no object {\"ingress\",\"id\",\"body\"}");
    all.push_back({place, value->get_object()});
    all.back().request["graph"] = graph;
  }
  return all;
}

// One that is refused stays with the producer.
Result<std::vector<Sent>> feed(const ControlClient& node, const std::vector<InputMessage>& messages) {
  std::vector<Sent> all;
  for (const InputMessage& one : messages) {
    auto sent = node.post("/v1/graphs/send", one.request);
    // A graph runs a moment after it was deployed, and again a moment after its owner has changed.
    for (int tries = 0; tries < 250 && sent.ok() && shown(*sent, "message").starts_with("unavailable: "); ++tries) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      sent = node.post("/v1/graphs/send", one.request);
    }
    if (!sent.ok()) return Error{sent.error().code, one.place + sent.error().message, sent.error().hint};
    all.push_back({shown(json::value(one.request), "id"), shown(*sent, "outcome"), shown(*sent, "message")});
  }
  return all;
}

std::string refusedWords(const Sent& one) {
  const bool later = one.message == "backpressure" || one.message.starts_with("unavailable");
  return concat("witan: ", one.id, " did not enter (", one.message, ")",
                later ? ": send it again\n" : ": it never will as it is\n");
}

// Deploys if it is new, feeds, waits for the ends.
Result<int> runHosted(const ControlClient& node, const HostedArguments& a) {
  WITAN_TRY(made, deployOn(node, a.file));
  WITAN_TRY(messages, readMessages(shown(made, "graph"), a.input));
  WITAN_TRY(sent, feed(node, messages));
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(a.waitSeconds);
  bool clean = true;
  for (const Sent& one : sent) {
    if (one.outcome == "refused") {
      putErr(refusedWords(one));
      clean = false;
      continue;
    }
    if (one.outcome == "duplicate") putErr("witan: " + one.id + " entered before: this is its run\n");
    WITAN_TRY(run, runNamed(node, one.id));
    while (shown(run.at("run"), "status") == "running" && std::chrono::steady_clock::now() < until) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      WITAN_SET(run, runNamed(node, one.id));
    }
    const json::value& row = run.at("run");
    clean = clean && shown(row, "status") == "completed";
    if (a.json) {
      putWords(canonicalJson(
                   json::object{{"id", one.id}, {"status", shown(row, "status")}, {"outputs", run.at("outputs")}}) +
               "\n");
      continue;
    }
    putWords(runWords(row));
    for (const json::value& output : rowsOf(run, "outputs"))
      putWords("  " + shown(output, "node") + ": " + shown(output, "body") + "\n");
  }
  return clean ? kExitOk : kExitSomeRefused;
}

// Of any device that may send to the graph, also one that keeps no ledgers: how runs end is asked where they are.
Result<int> sendHosted(const ControlClient& node, const HostedArguments& a) {
  WITAN_TRY(messages, readMessages(a.run, a.input));
  WITAN_TRY(sent, feed(node, messages));
  bool clean = true;
  for (const Sent& one : sent) {
    const bool refused = one.outcome == "refused";
    clean = clean && !refused;
    if (a.json)
      putWords(canonicalJson(json::object{{"id", one.id}, {"message", one.message}, {"outcome", one.outcome}}) + "\n");
    else if (refused)
      putErr(refusedWords(one));
    else
      putWords(concat(one.id, one.outcome == "duplicate" ? " entered before\n" : " has begun a run\n"));
  }
  return clean ? kExitOk : kExitSomeRefused;
}

std::string artefactWords(const json::value& one) {
  return shown(one, "kind") + " " + shown(one, "id") + " " + shown(one, "version") + ": " + shown(one, "result") +
         ", by " + shown(one, "suite") + " at " + shown(one, "at") + "\n";
}

// A graph is a file, and its checks are its validation; of anything else somebody brings the report.
Result<int> registerArtefact(const ControlClient& node, const HostedArguments& a) {
  json::object asked{{"kind", a.kind}};
  if (a.kind == "graph") {
    WITAN_TRY(document, readTableFile(a.file, kGraphTable));
    asked["document"] = std::move(document);
  } else {
    if (a.report.empty()) return invalid("--report is missing", "the file that says how it was validated");
    WITAN_TRY(report, readInput(a.report, kMostReportBytes));
    asked["id"] = a.file, asked["suite"] = a.suite, asked["result"] = a.result;
    asked["report"] = toHex(sha256(report));
    if (!a.version.empty()) asked["version"] = a.version;
    if (!a.digest.empty()) asked["digest"] = a.digest;
  }
  WITAN_TRY(made, node.post("/v1/artefacts/register", asked));
  print(made, a.json, artefactWords);
  return shown(made, "result") == "pass" || a.kind != "graph" ? kExitOk : kExitFailed;
}

Result<int> listArtefacts(const ControlClient& node, const HostedArguments& a) {
  WITAN_TRY(all, node.get("/v1/artefacts"));
  return print(all, a.json, [](const json::value& rows) {
    std::string words;
    for (const json::value& one : rowsOf(rows, "artefacts")) words += artefactWords(one);
    return words.empty() ? std::string("nothing is registered\n") : words;
  });
}

Result<int> list(const ControlClient& node, const HostedArguments& a) {
  if (a.artefacts) return listArtefacts(node, a);
  if (a.runs) {
    WITAN_TRY(rows, node.get("/v1/graphs/runs"));
    return print(rows, a.json, [](const json::value& all) {
      std::string words;
      for (const json::value& run : rowsOf(all, "runs")) words += runWords(run);
      return words;
    });
  }
  WITAN_TRY(rows, node.get("/v1/graphs"));
  return print(rows, a.json, [](const json::value& all) {
    std::vector<std::vector<std::string>> table;
    for (const json::value& one : rowsOf(all, "graphs"))
      table.push_back({shown(one, "graph"), "version " + shown(one, "version"), shown(one, "open") + " runs open",
                       shown(one, "ended") + " ended",
                       shown(one, "why") != "-"  ? shown(one, "why")
                       : isTrue(one, "runsHere") ? "runs here"
                                                 : "runs at the owner of " + shown(one, "partition")});
    return columns(table);
  });
}

std::string letterWords(const json::value& one) {
  return concat("dead   ", shown(one, "message"), " at ", oneLine(shown(one, "node")), ", key ",
                oneLine(shown(one, "key")), ": ", oneLine(shown(one, "reason")),
                isTrue(one, "again") ? "\n" : " (it was not kept, and cannot be sent again)\n");
}

// How far the guards of a run were used, and its budget; nothing of a document that is not here.
std::string limitsWords(const ControlClient& node, const json::value& run) {
  const auto kept = node.get("/v1/graphs/body" + queryOf({{"digest", shown(run, "digest")}}));
  if (!kept.ok()) return "";
  const auto document = readDocument(kept->at("body")).document;
  if (document == nullptr) return "";
  std::string words;
  const RunCounts counts = countsOf(rowsOf(run, "steps"));
  for (const Edge& edge : document->edges)
    if (edge.guard)
      words += "guard  " + edge.name + counts.ofEdge(edge.name) +
               (edge.bound() ? " of " + std::to_string(*edge.bound()) : " while it falls") + "\n";
  std::int64_t tokens = 0;
  for (const json::value& step : rowsOf(run, "steps"))
    if (const json::value* spent = step.at("action").as_object().if_contains("tokens")) tokens += spent->as_int64();
  if (document->budget && document->budget->contains("tokens"))
    words += "tokens " + std::to_string(tokens) + " of " + std::to_string(document->budget->at("tokens")) + "\n";
  return words;
}

Result<int> show(const ControlClient& node, const HostedArguments& a) {
  WITAN_TRY(run, runNamed(node, a.run));
  return print(run, a.json, [&](const json::value& all) {
    std::string words = runWords(all.at("run")) + "document " + shown(all, "digest").substr(0, 16) + ", at most " +
                        shown(all, "bound") + " deliveries\n" + limitsWords(node, all);
    for (const json::value& one : rowsOf(all, "outputs"))
      words += "output " + shown(one, "node") + ": " + shown(one, "body") + "\n";
    for (const json::value& one : rowsOf(all, "letters")) words += letterWords(one);
    for (const json::value& one : rowsOf(all, "lacking"))
      words += concat("waits  ", shown(one, "message"), " at ", oneLine(shown(one, "node")), ": its body ",
                      shown(one, "digest"), " is lost; it goes on when that is back, or: witan graph cancel\n");
    return words + spanTree(rowsOf(all, "steps"));
  });
}

Result<int> drawn(const json::value& from, const RunCounts& counts, const HostedArguments& a) {
  const Checked checked = checkGraph(from, {});
  for (const Finding& one : checked.errors)
    if (one.id == "GL01" || one.id == "GL02" || one.id == "GL03")
      return invalid(inputName(a.file) + ": " + one.id + " at " + one.place + ": " + one.message,
                     "see all findings: witan graph lint " + a.file);
  const Document& document = *checked.document;
  const std::string text = a.format == "dot"   ? drawDot(document, counts)
                           : a.format == "svg" ? drawSvg(document, counts)
                                               : drawMermaid(document, counts);
  putOut(a.json ? canonicalJson(json::object{{"format", a.format}, {"text", text}}) + "\n" : text);
  return kExitOk;
}

// A file, or a run of the running node under the document that it keeps.
Result<int> draw(const HostedArguments& a) {
  std::error_code none;
  if (a.file == "-" || a.file.ends_with(".toml") || a.file.ends_with(".json") ||
      std::filesystem::exists(a.file, none)) {
    WITAN_TRY(from, readTableFile(a.file, kGraphTable));
    return drawn(from, {}, a);
  }
  return onLiveNode(a, [&](const ControlClient& node) -> Result<int> {
    WITAN_TRY(run, runNamed(node, a.file));
    WITAN_TRY(document, node.get("/v1/graphs/body" + queryOf({{"digest", shown(run, "digest")}})));
    return drawn(document.at("body"), countsOf(rowsOf(run, "steps")), a);
  });
}

std::string replayWords(const json::value& made) {
  std::string words;
  for (const json::value& one : rowsOf(made, "missing")) words += "not here: " + std::string(one.as_string()) + "\n";
  if (!isTrue(made, "ok")) return words + "entry " + shown(made, "entry") + " differs: " + shown(made, "why") + "\n";
  return words + "ok: " + shown(made, "entries") + " entries, " + shown(made, "episodes") + " transcripts\n";
}

Result<int> replay(const ControlClient& node, const HostedArguments& a) {
  WITAN_TRY(made, node.get("/v1/graphs/replay" + queryOf({{"run", a.run}})));
  print(made, a.json, replayWords);
  return isTrue(made, "ok") ? kExitOk : kExitFailed;
}

// What became of an act on a run. Without its owner it waits in the outbox, and counts later.
Result<int> entered(const json::value& made, const HostedArguments& a) {
  const std::string outcome = shown(made, "outcome");
  if (outcome != "approved" && outcome != "waiting")
    return conflict("it was not taken: " + shown(made, "message"), "see: witan graph show " + a.run);
  print(made, a.json, [&](const json::value&) {
    return outcome == "waiting" ? "waiting in the outbox: " + shown(made, "message") + "\n" : std::string("entered\n");
  });
  return outcome == "waiting" ? kExitWaiting : kExitOk;
}

Result<int> operate(const ControlClient& node, const json::value& run, const json::object& action,
                    const HostedArguments& a) {
  WITAN_TRY(made, node.post("/v1/propose", {{"domain", "graph"},
                                            {"entity", run.at("run").at("graph")},
                                            {"role", "Operator"},
                                            {"action", action},
                                            {"waitMs", a.waitMs}}));
  return entered(made, a);
}

Result<int> cancel(const ControlClient& node, const HostedArguments& a) {
  WITAN_TRY(run, runNamed(node, a.run));
  return operate(node, run, {{"type", "Cancel"}, {"run", run.at("run").at("run")}, {"why", a.why}}, a);
}

// The one row that is named without doubt: by its node, or by the beginning of its id. `words`: of a row, for who has
// to choose.
Result<json::value> rowNamed(const json::array& rows, const char* id, const std::string& named, const std::string& what,
                             const std::string& run, std::string (*words)(const json::value&)) {
  std::vector<json::value> all;
  for (const json::value& one : rows)
    if (!named.empty() && (shown(one, "node") == named || shown(one, id).starts_with(named))) all.push_back(one);
  if (all.size() == 1) return all.front();
  if (all.empty())
    return notFound(concat("the run has no ", what, " ", inQuotes(named)), "see: witan graph show " + run);
  for (const json::value& one : all) putErr(words(one));
  return conflict(concat(inQuotes(named), " names ", all.size(), " ", what, "s"),
                  concat("name one by the beginning of its ", id));
}

Result<int> redrive(const ControlClient& node, const HostedArguments& a) {
  WITAN_TRY(run, runNamed(node, a.run));
  WITAN_TRY(one, rowNamed(rowsOf(run, "letters"), "message", a.message, "dead letter", a.run, letterWords));
  if (!isTrue(one, "again"))
    return conflict(concat("the message was not kept: ", shown(one, "reason")),
                    "send the run's first message again, under another id");
  return operate(node, run, {{"type", "Redrive"}, {"run", run.at("run").at("run")}, {"message", one.at("message")}}, a);
}

// An answer is bound to what was shown: the digest of it has to come back.
Result<int> answer(const ControlClient& node, const HostedArguments& a) {
  WITAN_TRY(run, runNamed(node, a.run));
  WITAN_TRY(one, rowNamed(rowsOf(run.at("run"), "questions"), "span", a.span, "open question", a.run, questionWords));
  const std::string digest = shown(one, "digest");
  if (a.digest.empty()) {
    putErr(questionWords(one));
    return invalid("the answer does not say what it answers", "if it is to this message: --digest " + digest);
  }
  if (a.digest.size() < kLeastDigest || !digest.starts_with(a.digest))
    return conflict(concat("what is asked now has the digest ", digest, ", and the answer is to ", inQuotes(a.digest)),
                    "look at it again: witan graph show " + a.run);
  json::object answer{{"graph", run.at("run").at("graph")},
                      {"run", run.at("run").at("run")},
                      {"node", one.at("node")},
                      {"span", one.at("span")},
                      {"digest", digest},
                      {"by", a.by},
                      {"approve", a.answer == "approve"}};
  if (!a.sign.empty()) WITAN_SET(answer["signature"], signGraphAnswer(node, answer, a.sign));
  answer["waitMs"] = a.waitMs;  // no part of what is signed
  WITAN_TRY(made, node.post("/v1/graphs/answer", answer));
  return entered(made, a);
}

template <class Act>
Command* addFileVerb(Command& noun, const char* verb, const char* about,
                     const std::shared_ptr<GraphArguments>& arguments, Act act) {
  Command* command = noun.command(verb, about);
  command->flag("--json", arguments->json, "JSON output");
  runs(command, arguments, act);
  return command;
}

// Scripted with --script, else on the running node.
Result<int> runEither(const HostedArguments& a, const GraphArguments& scripted) {
  if (!scripted.script.empty()) {
    GraphArguments arguments = scripted;
    arguments.json = a.json;
    return run(arguments);
  }
  if (a.file.empty() || a.input.empty())
    return reportUsage(invalid("neither FILE with --input nor --script", "witan graph run --help"), a.json);
  return onLiveNode(a, [&](const ControlClient& node) { return runHosted(node, a); });
}

void addRun(Command& noun) {
  const auto script = std::make_shared<GraphArguments>();
  const auto [command, a] =
      addVerb<HostedArguments>(noun, "run", "Run a graph on the running node, or a scripted case in virtual time",
                               "witan graph run docs/examples/intake.graph.toml --input docs/examples/intake.jsonl",
                               [script](const HostedArguments& arguments) { return runEither(arguments, *script); });
  command->option("FILE", a->file, "The graph, TOML or (.json) JSON: it is deployed if it is new");
  command->option("--input", a->input, "Lines {\"ingress\",\"id\",\"body\"}; - for standard input")->typeName("FILE");
  command->option("--wait", a->waitSeconds, "Seconds to wait for the ends of the runs")->showDefault();
  command->option("--script", script->script, "A case: graph, monitor, script and events, in virtual time")
      ->typeName("CASE.json");
}

void addHosted(Command& noun) {
  using A = HostedArguments;
  addRun(noun);
  {
    const auto [command, a] = addLiveVerb<A>(noun, "deploy", "Check a graph against the node and deploy it",
                                             "witan graph deploy docs/examples/intake.graph.toml", deploy);
    command->option("FILE", a->file, "The graph, TOML or (.json) JSON")->required();
  }
  {
    const auto [command, a] =
        addLiveVerb<A>(noun, "send", "Send messages to a graph that is deployed, from any device that may",
                       "witan graph send examples.intake --input docs/examples/intake.jsonl", sendHosted);
    command->option("GRAPH", a->run, "Id of the graph")->required();
    command->option("--input", a->input, "Lines {\"ingress\",\"id\",\"body\"}; - for standard input")
        ->typeName("FILE")
        ->required();
  }
  {
    const auto [command, a] =
        addLiveVerb<A>(noun, "list", "List the graphs of the node, or their runs", "witan graph list --runs", list);
    command->flag("--runs", a->runs, "The runs, with what people are asked");
    command->flag("--artefacts", a->artefacts, "What was validated: agents, models, adapters, graphs");
  }
  {
    const auto [command, a] =
        addLiveVerb<A>(noun, "register", "Sign that a graph passes its checks, or that something else was validated",
                       "witan graph register docs/examples/intake.graph.toml", registerArtefact);
    command->option("WHAT", a->file, "The graph, TOML or (.json) JSON; else the id of what --kind names")->required();
    command->option("--kind", a->kind, "graph, agent, model or adapter")
        ->oneOf({"graph", "agent", "model", "adapter"})
        ->showDefault();
    command->option("--suite", a->suite, "Of another than a graph: what it was validated with");
    command->option("--report", a->report, "Likewise: the report, whose digest is signed")->typeName("FILE");
    command->option("--result", a->result, "Likewise: pass or fail")->oneOf({"pass", "fail"})->showDefault();
    command->option("--version", a->version, "Of a model or adapter");
    command->option("--digest", a->digest, "Of a model or adapter: its SHA-256, in hex");
  }
  const auto one = [&](const char* name, const char* what, const char* example, auto work) {
    const auto verb = addLiveVerb<A>(noun, name, what, example, work);
    verb.first->option("RUN", verb.second->run, "Id of the run, or the external id that began it")->required();
    return verb;
  };
  one("show", "Show a run: state, outputs, dead letters, entries", "witan graph show r-3", show);
  one("replay", "Make a run anew from its messages, transcripts and answers, and compare", "witan graph replay r-3",
      replay);
  {
    const auto [command, a] =
        addVerb<A>(noun, "draw", "Draw a graph or a run, as text for Mermaid or Graphviz, or as SVG",
                   "witan graph draw docs/examples/writer-critic.graph.toml --format svg", draw);
    command->option("FILE", a->file, "The graph, TOML or (.json) JSON; or a run of the node, with counts")->required();
    command->option("--format", a->format, "mermaid, dot or svg")->oneOf({"mermaid", "dot", "svg"})->showDefault();
  }
  const auto act = [&](const char* name, const char* what, const char* example, auto work) {
    const auto verb = one(name, what, example, work);
    verb.first->option("--wait-ms", verb.second->waitMs, "How long to wait for the owner; at most two minutes")
        ->showDefault();
    return verb;
  };
  {
    const auto [command, a] = act("cancel", "Cancel a run", "witan graph cancel r-3 --why 'referred twice'", cancel);
    command->option("--why", a->why, "Why, for the ledger");
  }
  {
    const auto [command, a] = act("answer", "Answer what a run asks a person",
                                  "witan graph answer r-3 doctor approve --by dr.supervising --digest 9f...", answer);
    command->option("SPAN", a->span, "The node that asks, or the beginning of its span")->required();
    command->option("ANSWER", a->answer, "approve or deny")->oneOf({"approve", "deny"})->required();
    command->option("--by", a->by, "Who answers")->required();
    command->option("--digest", a->digest, "Of the message that was shown; without it the question is printed");
    command->option("--sign", a->sign, "Key file of the person (`witan person add`); asks for its passphrase");
  }
  {
    const auto [command, a] = act("redrive", "Send a dead message again", "witan graph redrive r-3 doctor", redrive);
    command->option("MESSAGE", a->message, "The node at which it died, or the beginning of the id of the message")
        ->required();
  }
}

}  // namespace

void addGraphCommand(Command& app) {
  Command* noun = app.command("graph", "Graphs of episodes: check, draw, run");
  noun->requireCommand();
  noun->footer("Example: witan graph lint docs/examples/writer-critic.graph.toml --env docs/examples/graph-env.json");

  const auto linted = std::make_shared<GraphArguments>();
  Command* command = addFileVerb(*noun, "lint", "Check a graph: errors forbid deployment", linted, lint);
  command->option("FILE", linted->file, "The graph, TOML or (.json) JSON")->required();
  command
      ->option(
          "--env", linted->environment,
          "Registered agents, tools, domains, boundaries and graphs (JSON); without it the domains of this build alone")
      ->typeName("ENV.json");
  command->footer(
      "Exit code 1: there are errors. docs/graphs.md explains each check.\n"
      "Example: witan graph lint docs/examples/writer-critic.graph.toml --env docs/examples/graph-env.json");

  addHosted(*noun);
}

}  // namespace witan::node

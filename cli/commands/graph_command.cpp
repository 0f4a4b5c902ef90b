// `witan graph`: checks, pictures and scripted runs of graphs of episodes (docs/graphs.md), from files alone.
#include <algorithm>

#include "cli/commands/commands.h"
#include "cli/format/graph_drawing.h"
#include "domains/registry.h"
#include "kernel/graph/checks.h"
#include "kernel/graph/script.h"
#include "program/line_reader.h"
#include "program/output.h"
#include "program/policy_file.h"

namespace witan::node {

using namespace graph;

namespace {

constexpr TableForm kGraphTable{"graph", false};
constexpr std::size_t kMostEnvironmentBytes = std::size_t{16} << 20;

struct GraphArguments {
  std::string file;
  std::string environment;
  std::string format = "mermaid";
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
Result<Environment> environmentOf(const std::string& file) {
  if (!file.empty()) {
    WITAN_TRY(text, readInput(file, kMostEnvironmentBytes));
    auto environment = parseEnvironment(text);
    if (!environment.ok())
      return invalid(inputName(file) + ": " + environment.error().message, environment.error().hint);
    return environment;
  }
  Environment environment;
  for (const std::string_view name : domains::domainNames()) {
    WITAN_TRY(module, domains::makeDomain(name));
    RegisteredDomain& domain = environment.domains[std::string(name)];
    for (const auto& role : module->signature().roles) domain.roles.push_back(role.name);
  }
  return environment;
}

Result<int> lint(const GraphArguments& a) {
  WITAN_TRY(document, readTableFile(a.file, kGraphTable));
  WITAN_TRY(environment, environmentOf(a.environment));
  const Checked checked = checkGraph(document, environment);
  const int exitCode = checked.errors.empty() ? kExitOk : kExitFailed;
  if (a.json) {
    putOut(canonicalJson(json::object{{"errors", findingsJson(checked.errors)},
                                      {"warnings", findingsJson(checked.warnings)},
                                      {"bound", checked.bound ? json::value(*checked.bound) : json::value(nullptr)}}) +
           "\n");
    return exitCode;
  }
  putWords(findingWords(checked.errors) + findingWords(checked.warnings));
  if (checked.bound) putWords("a run makes at most " + std::to_string(*checked.bound) + " deliveries\n");
  putWords(checked.errors.empty() ? "the graph may be deployed\n" : "the graph may not be deployed\n");
  return exitCode;
}

Result<int> draw(const GraphArguments& a) {
  WITAN_TRY(from, readTableFile(a.file, kGraphTable));
  const Checked checked = checkGraph(from, {});
  for (const Finding& one : checked.errors)
    if (one.id == "GL01" || one.id == "GL02" || one.id == "GL03")
      return invalid(inputName(a.file) + ": " + one.id + " at " + one.place + ": " + one.message,
                     "see all findings: witan graph lint " + a.file);
  const Document& document = *checked.document;
  const std::string text = a.format == "dot"   ? drawDot(document)
                           : a.format == "svg" ? drawSvg(document)
                                               : drawMermaid(document);
  putOut(a.json ? canonicalJson(json::object{{"format", a.format}, {"text", text}}) + "\n" : text);
  return kExitOk;
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
  WITAN_TRY(text, readInput(a.script, kScriptLimits.bytes));
  const auto named = [&](const Error& error) {
    return Error{error.code, inputName(a.script) + ": " + error.message, error.hint};
  };
  const auto from = parseJson(text, kScriptLimits);
  if (!from.ok()) return named(from.error());
  const auto scripted = readCase(*from);
  if (!scripted.ok()) return named(scripted.error());
  const auto print = [&](const json::object& line) {
    a.json ? putOut(canonicalJson(line) + "\n") : putWords(lineWords(line));
  };
  const auto result = runScript(*scripted, {.line = print});
  if (!result.ok()) return named(result.error());
  a.json ? putOut(canonicalJson(*result) + "\n") : putWords(endWords(*result));
  return kExitOk;
}

template <class Act>
Command* addVerb(Command& noun, const char* verb, const char* about, const std::shared_ptr<GraphArguments>& arguments,
                 Act act) {
  Command* command = noun.command(verb, about);
  command->flag("--json", arguments->json, "JSON output");
  runs(command, arguments, act);
  return command;
}

}  // namespace

void addGraphCommand(Command& app) {
  Command* noun = app.command("graph", "Graphs of episodes: check, draw, run from a script");
  noun->requireCommand();
  noun->footer("Example: witan graph lint docs/examples/writer-critic.graph.toml --env docs/examples/graph-env.json");

  const auto linted = std::make_shared<GraphArguments>();
  Command* command = addVerb(*noun, "lint", "Check a graph: errors forbid deployment", linted, lint);
  command->option("FILE", linted->file, "The graph, TOML or (.json) JSON")->required();
  command
      ->option(
          "--env", linted->environment,
          "Registered agents, tools, domains, boundaries and graphs (JSON); without it the domains of this build alone")
      ->typeName("ENV.json");
  command->footer(
      "Exit code 1: there are errors. docs/graphs.md explains each check.\n"
      "Example: witan graph lint docs/examples/writer-critic.graph.toml --env docs/examples/graph-env.json");

  const auto drawn = std::make_shared<GraphArguments>();
  command = addVerb(*noun, "draw", "Draw a graph, as text for Mermaid or Graphviz, or as SVG", drawn, draw);
  command->option("FILE", drawn->file, "The graph, TOML or (.json) JSON")->required();
  command->option("--format", drawn->format, "mermaid, dot or svg")->oneOf({"mermaid", "dot", "svg"})->showDefault();
  command->footer(
      "Guarded edges are dashed and show their bound; nodes at a boundary have a double border.\n"
      "Example: witan graph draw docs/examples/writer-critic.graph.toml --format svg > writer-critic.svg");

  const auto ran = std::make_shared<GraphArguments>();
  command = addVerb(*noun, "run", "Run a graph in virtual time, its nodes and its monitor scripted", ran, run);
  command->option("--script", ran->script, "The case: graph, monitor, script and events; - for standard input")
      ->required()
      ->typeName("CASE.json");
  command->footer(
      "With --json a line of the ledger a line, then one object with counts, runs, world and waiting.\n"
      "Example: witan graph run --script docs/examples/writer-critic.case.json");
}

}  // namespace witan::node

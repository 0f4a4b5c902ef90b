// `witan policy check`: is this file a policy of agents (agents/policy/policy.h), and what of a payload would cross?
// `witan policy simulate`: what would have been judged otherwise under it.
// (A domain's policy is another thing: `witan domain`, program/policy_file.h.)
#include <memory>
#include "program/command_line.h"

#include "agents/policy/monitor.h"
#include "base/bytes.h"
#include "base/json_codec.h"
#include "base/quote.h"
#include "base/time.h"
#include "cli/client/verb.h"
#include "cli/commands/commands.h"
#include "node/daemon/agents_policy_file.h"
#include "node/operations/policy_simulate.h"
#include "program/json_file.h"
#include "program/option_checks.h"
#include "program/output.h"

namespace witan::node {

using agents::Monitor;

namespace {

struct PolicyArguments {
  std::string dir, file, payload, boundary, operation;
  bool json = false;
};

std::size_t operationsOf(const agents::Policy& policy) {
  std::size_t count = 0;
  for (const agents::Boundary& boundary : policy.boundary) count += boundary.operation.size();
  return count;
}

json::array namesOf(const agents::NamedFields& fields) { return json::array(fields.names.begin(), fields.names.end()); }

Result<int> shownPolicy(const Monitor& monitor, bool asJson) {
  const agents::Policy& policy = *monitor.policy();
  return print(json::object{{"boundaries", policy.boundary.size()},
                            {"digest", toHex(monitor.digest())},
                            {"grants", policy.grant.size()},
                            {"name", policy.name},
                            {"operations", operationsOf(policy)},
                            {"version", policy.version}},
               asJson, [](const json::value& p) {
                 return "ok " + shown(p, "name") + " version " + shown(p, "version") + ": " + shown(p, "boundaries") +
                        " boundaries, " + shown(p, "operations") + " operations, " + shown(p, "grants") +
                        " grants\ndigest " + shown(p, "digest") + "\n";
               });
}

// What the monitor's last gate would do; the gates before it are not asked.
Result<int> projected(const Monitor& monitor, const PolicyArguments& a) {
  const agents::OperationRule* rule = monitor.rule(a.boundary, a.operation);
  if (rule == nullptr)
    return Error{
        ErrorCode::notFound,
        "out_of_scope: the policy has no operation " + inQuotes(a.operation) + " at boundary " + inQuotes(a.boundary),
        ""};
  WITAN_TRY(payload, readJsonFile(a.payload, {.bytes = 1 << 20}));
  const agents::Projection projection = agents::project(*monitor.allowlist(a.boundary, a.operation), payload);
  const bool blocked = projection.leftOut.count > 0 && rule->excess == agents::Excess::block;
  const bool changed = projection.leftOut.count + projection.masked.count > 0;
  const char* verdict = blocked ? "deny" : rule->requireHuman ? "requireHuman" : changed ? "redact" : "allow";
  const std::string token(blocked ? enumName(agents::PolicyToken::overshared_payload_blocked) : "");
  const json::object answer{{"leftOut", namesOf(projection.leftOut)},
                            {"masked", namesOf(projection.masked)},
                            {"payload", blocked ? json::value(nullptr) : projection.payload},
                            {"token", blocked ? json::value(token) : json::value(nullptr)},
                            {"verdict", verdict}};
  (void)print(answer, a.json, [&](const json::value&) {
    std::string words = concat(verdict, blocked ? ": " + token : "", "\n");
    if (projection.leftOut.count > 0) words += "not allowed  " + projection.leftOut.words() + "\n";
    if (projection.masked.count > 0) words += "masked       " + projection.masked.words() + "\n";
    return blocked ? words : words + "would cross  " + canonicalJson(projection.payload) + "\n";
  });
  return blocked ? kExitSomeRefused : kExitOk;
}

Result<int> check(const PolicyArguments& a) {
  if (a.payload.empty() != a.boundary.empty() || a.payload.empty() != a.operation.empty())
    return reportUsage(invalid("--payload, --boundary and --operation belong together"), a.json);
  std::string file = a.file;
  if (file.empty()) {
    WITAN_TRY(dir, replicaDirPath(a.dir));
    file = (dir / kAgentsPolicyFile).string();
  }
  WITAN_TRY(policy, readAgentsPolicy(file));
  WITAN_TRY(monitor, Monitor::compile(std::move(policy)));
  return a.payload.empty() ? shownPolicy(monitor, a.json) : projected(monitor, a);
}

struct SimulateArguments : ReplicaArguments {
  std::string file, since;
};

Printed simulationWords(const operations::PolicySimulation& made, const SimulateArguments&) {
  Printed answer{concat(made.transcripts, " transcripts, ", made.calls, " calls judged again: "),
                 made.changes.empty() ? kExitOk : kExitSomeRefused};
  std::uint64_t calls = 0;
  for (const operations::PolicyChange& change : made.changes) calls += change.calls;
  answer.text += calls == 0 ? std::string("all as they were\n") : concat(calls, " otherwise\n");
  for (const operations::PolicyChange& change : made.changes)
    answer.text += concat(change.calls, "  ", change.agent, "  ", change.tool, "  ", change.before, " -> ", change.now,
                          "\n  run ", change.run, change.why.empty() ? "" : ": " + change.why, "\n");
  if (made.unknown > 0) answer.text += concat(made.unknown, " calls of tools that their transcripts do not describe\n");
  return answer;
}

Result<operations::PolicySimulateRequest> simulateRequest(const SimulateArguments& a) {
  WITAN_TRY(policy, readAgentsPolicy(a.file));
  WITAN_TRY(value, parseJson(toJson(policy), kOwnJson));
  operations::PolicySimulateRequest request{std::move(value.get_object()), {}, given(a.scope)};
  if (!a.since.empty()) {
    WITAN_TRY(since, parseTime(a.since));
    request.since = since;
  }
  return request;
}

void addSimulate(Command* policy) {
  const auto [command, a] = addOperationVerb<SimulateArguments>(
      *policy, "simulate", "What agents did, judged again under another policy", "", Missing::refuse,
      operations::kPolicySimulate, simulateRequest, simulationWords);
  command->option("FILE", a->file, "The policy: TOML, or JSON if it ends in .json")->required();
  addScopeOption(command, *a);
  command->option("--since", a->since, "Calls from this time on only")->check(readBy(parseTime));
  command->footer(
      "Nothing is carried out, and the policy is not loaded. Exit code 3: some call would be judged otherwise.\n"
      "Example: witan policy simulate docs/examples/clinic-policy.toml --dir data --since 2026-03-23T00:00:00Z");
}

}  // namespace

void addPolicyCommand(Command& app) {
  Command* policy = app.noun("policy", "What agents may do, ask and show (not a domain's policy)",
                             "witan policy check docs/examples/agents-policy.toml");
  const auto arguments = std::make_shared<PolicyArguments>();
  Command* command = policy->command("check", "Is this file a policy, and what of a payload would cross?");
  command->option("FILE", arguments->file,
                  "TOML, or JSON if it ends in .json; - is standard input; default policy.toml of the data "
                  "directory, the one that its agents work under");
  command->option("--dir", arguments->dir, "Data directory; default $WITAN_DIR, else $XDG_DATA_HOME/witan")
      ->typeName("DIR");
  command->option("--payload", arguments->payload, "JSON that is about to cross; - is standard input")
      ->typeName("FILE");
  command->option("--boundary", arguments->boundary, "Which boundary");
  command->option("--operation", arguments->operation, "Which of its operations");
  command->flag("--json", arguments->json, "JSON output");
  command->footer(
      "Exit code 3: the payload is blocked.\n"
      "Example: witan policy check docs/examples/agents-policy.toml --payload visit.json --boundary cloud-llm "
      "--operation summarise");
  runs(command, arguments, check);
  addSimulate(policy);
}

}  // namespace witan::node

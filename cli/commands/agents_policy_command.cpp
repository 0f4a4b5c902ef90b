// `witan policy check`: is this file a policy of agents (agents/policy/policy.h), and what of a payload would cross?
// (A domain's policy is another thing: `witan domain`, program/policy_file.h.)
#include <cstdio>
#include <memory>
#include "program/command_line.h"

#include "agents/policy/monitor.h"
#include "base/bytes.h"
#include "base/quote.h"
#include "cli/client/operation_verb.h"
#include "cli/commands/commands.h"
#include "node/daemon/agents_policy_file.h"
#include "program/line_reader.h"
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

Printed shown(const Monitor& monitor, bool json) {
  const agents::Policy& policy = *monitor.policy();
  if (json)
    return {"{\"boundaries\":" + std::to_string(policy.boundary.size()) + ",\"digest\":\"" + toHex(monitor.digest()) +
            "\",\"grants\":" + std::to_string(policy.grant.size()) + ",\"name\":" + toJson(policy.name) +
            ",\"operations\":" + std::to_string(operationsOf(policy)) +
            ",\"version\":" + std::to_string(policy.version) + "}\n"};
  return {"ok " + policy.name + " version " + std::to_string(policy.version) + ": " +
          std::to_string(policy.boundary.size()) + " boundaries, " + std::to_string(operationsOf(policy)) +
          " operations, " + std::to_string(policy.grant.size()) + " grants\ndigest " + toHex(monitor.digest()) + "\n"};
}

std::string namesJson(const agents::NamedFields& fields) {
  std::string out = "[";
  for (const std::string& name : fields.names) out += (out.size() == 1 ? "" : ",") + toJson(name);
  return out + "]";
}

// What the monitor's last gate would do; the gates before it are not asked.
Result<Printed> projected(const Monitor& monitor, const PolicyArguments& a) {
  const agents::OperationRule* rule = monitor.rule(a.boundary, a.operation);
  if (rule == nullptr)
    return Error{
        ErrorCode::notFound,
        "out_of_scope: the policy has no operation " + inQuotes(a.operation) + " at boundary " + inQuotes(a.boundary),
        ""};
  WITAN_TRY(text, readInput(a.payload, 1 << 20));
  auto payload = parseJson(text);
  if (!payload.ok()) return invalid(inputName(a.payload) + ": " + payload.error().message);
  const agents::Projection projection = agents::project(*monitor.allowlist(a.boundary, a.operation), *payload);
  const bool blocked = projection.leftOut.count > 0 && rule->excess == agents::Excess::block;
  const bool changed = projection.leftOut.count + projection.masked.count > 0;
  const char* verdict = blocked ? "deny" : rule->requireHuman ? "requireHuman" : changed ? "redact" : "allow";
  const std::string token(blocked ? enumName(agents::PolicyToken::overshared_payload_blocked) : "");
  const std::string kept = canonicalJson(projection.payload);
  Printed answer{{}, blocked ? kExitSomeRefused : kExitOk};
  if (a.json) {
    answer.text = "{\"leftOut\":" + namesJson(projection.leftOut) + ",\"masked\":" + namesJson(projection.masked) +
                  ",\"payload\":" + (blocked ? "null" : kept) + ",\"token\":" + (blocked ? toJson(token) : "null") +
                  ",\"verdict\":\"" + verdict + "\"}\n";
    return answer;
  }
  answer.text = std::string(verdict) + (blocked ? ": " + token : "") + "\n";
  if (projection.leftOut.count > 0) answer.text += "not allowed  " + projection.leftOut.words() + "\n";
  if (projection.masked.count > 0) answer.text += "masked       " + projection.masked.words() + "\n";
  if (!blocked) answer.text += "would cross  " + kept + "\n";
  return answer;
}

Result<Printed> check(const PolicyArguments& a) {
  const bool some = !a.payload.empty();
  std::string file = a.file;
  if (file.empty()) {
    WITAN_TRY(dir, replicaDirPath(a.dir));
    file = (dir / kAgentsPolicyFile).string();
  }
  WITAN_TRY(policy, readAgentsPolicy(file));
  WITAN_TRY(monitor, Monitor::compile(std::move(policy)));
  return some ? projected(monitor, a) : Result<Printed>(shown(monitor, a.json));
}

}  // namespace

void addPolicyCommand(Command& app, int& exitCode) {
  Command* policy = app.command("policy", "What agents may do, ask and show (not a domain's policy)");
  policy->requireCommand();
  policy->footer("Example: witan policy check docs/examples/agents-policy.toml");
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
  command->callback([arguments, &exitCode] {
    const PolicyArguments& a = *arguments;
    if (a.payload.empty() != a.boundary.empty() || a.payload.empty() != a.operation.empty()) {
      exitCode = reportUsage(invalid("--payload, --boundary and --operation belong together"), a.json);
      return;
    }
    const Result<Printed> answer = check(*arguments);
    if (answer.ok()) arguments->json ? putOut(answer->text) : putWords(answer->text);
    exitCode = answer.ok() ? answer->exitCode : reportError(answer.error(), arguments->json);
  });
}

}  // namespace witan::node

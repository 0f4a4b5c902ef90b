// `witan receipt confirm|list|show|withdraw`: what people have confirmed about agents' use of models and boundaries
// (replication/records/receipt.h). Names and digests; nothing of what crosses.
#include "cli/commands/commands.h"
#include "replication/records/receipt.h"

#include <algorithm>

#include "agents/host/agent_host.h"
#include "agents/policy/receipts.h"
#include "base/bytes.h"
#include "base/json.h"
#include "base/quote.h"
#include "base/seams.h"
#include "base/time.h"
#include "cli/client/replica_verb.h"
#include "node/daemon/agents_policy_file.h"
#include "program/option_checks.h"
#include "replica/replica.h"
#include "replica/replica_effects.h"

namespace witan::node {

using namespace replication;

namespace {

constexpr std::size_t kMinDigestDigits = 8;

struct ReceiptArguments : ReplicaArguments {
  std::string key, agent, boundary, provider, model, by, policy;
};

std::string line(const PrivacyReceipt& r, bool asJson) {
  if (asJson)
    return canonicalJson(json::object{{"key", receiptKey(r)},
                                      {"agent", r.agentId},
                                      {"boundary", r.boundary},
                                      {"provider", r.provider},
                                      {"model", r.model},
                                      {"policy", r.policyName},
                                      {"version", r.policyVersion},
                                      {"digest", toHex(r.policyDigest)},
                                      {"by", r.confirmedBy},
                                      {"atMs", r.confirmedAtMs}}) +
           "\n";
  return receiptKey(r) + "  " + r.agentId + "  " + r.boundary +
         (r.model.empty() ? "" : "  " + r.provider + "/" + r.model) + "  " + r.policyName + " " +
         std::to_string(r.policyVersion) + "  by " + r.confirmedBy + ", " + formatTime(Time{r.confirmedAtMs * 1000}) +
         "\n";
}

Result<std::vector<PrivacyReceipt>> all(ReplicaDir& dir, const ReceiptArguments& a) {
  Space* space = dir.replica().database(DatabaseName::agents).find(a.scope);
  return space == nullptr ? Result<std::vector<PrivacyReceipt>>(std::vector<PrivacyReceipt>{}) : receiptsIn(*space);
}

Result<Printed> list(ReplicaDir& dir, const ReceiptArguments& a) {
  WITAN_TRY(receipts, all(dir, a));
  Printed answer;
  for (const PrivacyReceipt& receipt : receipts) answer.text += line(receipt, a.json);
  if (answer.text.empty() && !a.json) answer.text = "nobody has confirmed anything\n";
  return answer;
}

// The key may be given by as many of its first digits as tell it apart.
Result<PrivacyReceipt> chosen(ReplicaDir& dir, const ReceiptArguments& a) {
  WITAN_TRY(receipts, all(dir, a));
  std::vector<std::string> keys;
  for (const PrivacyReceipt& receipt : receipts) keys.push_back(receiptKey(receipt));
  WITAN_TRY(key, chosenByPrefix(a.key, keys, "receipt", "see: witan receipt list"));
  std::erase_if(receipts, [&](const PrivacyReceipt& receipt) { return receiptKey(receipt) != key; });
  return std::move(receipts.front());
}

Result<Printed> show(ReplicaDir& dir, const ReceiptArguments& a) {
  WITAN_TRY(receipt, chosen(dir, a));
  if (a.json) return Printed{line(receipt, true)};
  return Printed{line(receipt, false) + "  policy digest " + toHex(receipt.policyDigest) + "\n"};
}

// What would count for nothing is not taken: people must not believe that they have confirmed something.
Status checkUse(const agents::Policy& policy, const ReceiptArguments& a, const agents::ModelName* model) {
  const auto boundary = std::find_if(policy.boundary.begin(), policy.boundary.end(),
                                     [&](const agents::Boundary& b) { return b.name == a.boundary; });
  const std::string named = "policy " + policy.name + " version " + std::to_string(policy.version);
  if (boundary == policy.boundary.end()) return invalid(named + " has no boundary " + inQuotes(a.boundary));
  const bool asked =
      std::any_of(boundary->operation.begin(), boundary->operation.end(), [&](const agents::OperationRule& rule) {
        return model != nullptr ? rule.inference : rule.confirm && !rule.inference;
      });
  if (!asked)
    return invalid("no operation of boundary " + inQuotes(a.boundary) + " asks for a confirmation " +
                       (model != nullptr ? "of a model" : "without a model"),
                   model != nullptr ? "leave --provider and --model out" : "give --provider and --model");
  const bool granted = std::any_of(policy.grant.begin(), policy.grant.end(), [&](const agents::Grant& grant) {
    const auto has = [](const auto& list, const auto& one) {
      return std::find(list.begin(), list.end(), one) != list.end();
    };
    return grant.agent == a.agent && has(grant.boundaries, a.boundary) &&
           (model == nullptr || has(grant.models, *model));
  });
  return granted ? okStatus()
                 : Status(invalid(named + " does not grant this use to " + inQuotes(a.agent),
                                  "a confirmation would count for nothing"));
}

// Which policy a receipt names is for the person to know: the one that was read, and the one that is in force.
Status checkPolicyIs(const agents::Policy& policy, const std::string& wanted) {
  const std::string digest = toHex(agents::policyDigest(policy));
  const std::string here = policy.name + " " + std::to_string(policy.version) + " " + digest;
  if (!wanted.empty() && (wanted.size() < kMinDigestDigits || !digest.starts_with(wanted)))
    return Error{ErrorCode::conflict, "the policy is another one by now: " + here + ", not " + inQuotes(wanted),
                 "read it (witan policy check), then confirm it by its digest"};
  const Replica* node = ambientNode();
  if (node == nullptr || node->agents() == nullptr || node->agents()->policyEpoch() == here) return okStatus();
  return Error{ErrorCode::conflict,
               "the file says " + here + ", and the node works under " + node->agents()->policyEpoch(),
               "let the node read it again (SIGHUP, systemctl reload), or put the former file back"};
}

Result<Printed> confirmUse(ReplicaDir& dir, const ReceiptArguments& a) {
  const agents::ModelName named{a.provider, a.model};
  const agents::ModelName* model = a.model.empty() ? nullptr : &named;
  WITAN_TRY(policy, readAgentsPolicy((dir.path() / kAgentsPolicyFile).string()));
  WITAN_DO(checkPolicyIs(policy, a.policy));
  WITAN_DO(checkUse(policy, a, model));
  const PrivacyReceipt receipt =
      agents::confirm(policy, a.agent, model, a.boundary, a.by, SystemClock().now().micros / 1000);
  WITAN_TRY(body, encodeReceipt(receipt));
  const Write write{Kind::receipt, receiptKey(receipt), std::move(body), false};
  WITAN_DO(dir.replica().commit(DatabaseName::agents, a.scope, {&write, 1}));
  return Printed{a.json ? line(receipt, true) : "confirmed " + line(receipt, false)};
}

Result<Printed> withdraw(ReplicaDir& dir, const ReceiptArguments& a) {
  WITAN_TRY(receipt, chosen(dir, a));
  const Write write{Kind::receipt, receiptKey(receipt), "", true};
  WITAN_DO(dir.replica().commit(DatabaseName::agents, a.scope, {&write, 1}));
  return Printed{a.json ? line(receipt, true) : "withdrawn " + line(receipt, false)};
}

}  // namespace

void addReceiptCommand(Command& app, int& exitCode) {
  Command* noun = app.command("receipt", "What people confirmed about agents' use of models and boundaries");
  noun->requireCommand();
  noun->footer("Example: witan receipt list");
  const auto verb = [&](const char* name, const char* what, const char* example, auto work) {
    const auto arguments = std::make_shared<ReceiptArguments>();
    Command* command = addReplicaVerb(*noun, name, what, example, arguments, Missing::refuse, work, exitCode);
    addScopeOption(command, *arguments);
    return std::pair(command, arguments);
  };
  const auto [confirming, use] =
      verb("confirm", "Confirm one use under the policy of this data directory (policy.toml)",
           "witan receipt confirm --agent journal-summariser --boundary local-llm --provider local --model "
           "llama-3.1-8b --by dr.supervising",
           confirmUse);
  confirming->option("--agent", use->agent, "Which agent")->required();
  confirming->option("--boundary", use->boundary, "Which boundary of the policy")->required();
  Option* provider = confirming->option("--provider", use->provider, "Of the model that is asked");
  provider->needs(confirming->option("--model", use->model, "The model that is asked")->needs(provider));
  confirming->option("--policy", use->policy,
                     "Digest of the policy that was read (witan policy check), or its first digits, at least 8: "
                     "refused if another one is there by now");
  confirming->option("--by", use->by, "Who confirms")->required();
  verb("list", "All that stand", "witan receipt list", list);
  const auto one = [](const auto& made) {
    made.first->option("KEY", made.second->key, "Its key, or as many of the first digits as tell it apart")
        ->required()
        ->check(firstDigits("receipt's key", "witan receipt list"));
  };
  one(verb("show", "One of them", "witan receipt show 2214b124", show));
  one(verb("withdraw", "Take one back, on every device", "witan receipt withdraw 2214b124", withdraw));
}

}  // namespace witan::node

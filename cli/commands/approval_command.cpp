// `witan approval list|approve|deny`: what agents may do only when a person says so (seed 004, require-human). An
// answer is given to exactly what was shown: it names the digest (docs/FINDINGS.md, F17).
#include <algorithm>

#include "base/bytes.h"
#include "base/json.h"
#include "base/quote.h"
#include "base/seams.h"
#include "cli/client/replica_verb.h"
#include "cli/commands/commands.h"
#include "program/option_checks.h"
#include "replication/records/approval.h"

namespace witan::node {

using namespace replication;

namespace {

struct ApprovalArguments : ReplicaArguments {
  std::string operation;
  std::string digest;
  std::string by;
  std::string reason;
  bool all = false;
};

Result<Space*> spaceOf(ReplicaDir& dir, const ApprovalArguments& a) {
  return dir.replica().database(DatabaseName::agents).find(a.scope);
}

std::string listed(const std::string& key, const ApprovalBody& body, bool asJson) {
  if (asJson) {
    auto what = parseJson(body.what);
    return canonicalJson(json::object{{"operation", key},
                                      {"digest", toHex(body.digest)},
                                      {"agentId", body.agentId},
                                      {"run", toHex(body.runKey)},
                                      {"what", what.ok() ? *what : json::value(nullptr)},
                                      {"verdict", std::string(enumName(body.verdict))},
                                      {"by", body.by},
                                      {"reason", body.reason},
                                      {"atMs", body.atMs}}) +
           "\n";
  }
  std::string text = key + "  " + body.agentId + "  " + std::string(enumName(body.verdict));
  if (!body.by.empty()) text += " by " + body.by;
  return text + "\n  " + body.what + "\n  digest " + toHex(body.digest) + "\n";
}

Result<Printed> list(ReplicaDir& dir, const ApprovalArguments& a) {
  Printed answer;
  WITAN_TRY(space, spaceOf(dir, a));
  if (space == nullptr) return answer;
  for (const std::string& key : space->keys(Kind::approval)) {
    WITAN_TRY(operation, OperationId::parse(key));
    WITAN_TRY(versions, space->versions(Kind::approval, key));
    const ApprovalView view = approvalViewOf(operation, versions);
    if (view.shown && (a.all || view.shown->body.verdict == ApprovalVerdict::waiting))
      answer.text += listed(key, view.shown->body, a.json);
  }
  if (answer.text.empty() && !a.json) answer.text = "nothing waits for a person\n";
  return answer;
}

// 64 hex digits, as of an operation.
Result<OperationId> digestOf(const std::string& text) {
  if (auto digest = OperationId::parse(text); digest.ok()) return digest;
  return invalid(inQuotes(text) + " is no digest", "take it from: witan approval list");
}

Result<Printed> answer(ReplicaDir& dir, const ApprovalArguments& a, ApprovalVerdict verdict) {
  WITAN_TRY(space, spaceOf(dir, a));
  const std::vector<std::string> ids = space == nullptr ? std::vector<std::string>{} : space->keys(Kind::approval);
  WITAN_TRY(id, chosenByPrefix(a.operation, ids, "operation id", "see: witan approval list"));
  auto operation = OperationId::parse(id);
  if (!operation.ok()) return operation.error();
  WITAN_TRY(digest, digestOf(a.digest));
  WITAN_TRY(versions, space->versions(Kind::approval, id));
  const std::string by = a.by.empty() ? dir.replica().device() : a.by;
  WITAN_TRY(body, answerTo(approvalViewOf(*operation, versions), digest.value, verdict, by, a.reason,
                           SystemClock().now().micros / 1000));
  WITAN_TRY(bytes, encodeRecord(body));
  const Write write{Kind::approval, operation->hex(), std::move(bytes), false};
  WITAN_DO(dir.replica().commit(DatabaseName::agents, a.scope, {&write, 1}));
  if (a.json) return Printed{listed(operation->hex(), body, true)};
  return Printed{std::string(enumName(verdict)) + " " + operation->hex() + "\n"};
}

void addAnswer(Command& noun, const char* name, const char* what, ApprovalVerdict verdict, int& exitCode) {
  const auto arguments = std::make_shared<ApprovalArguments>();
  const std::string example = std::string("witan approval ") + name + " OPERATION --digest DIGEST --by dr.supervising";
  Command* command = addReplicaVerb(
      noun, name, what, example.c_str(), arguments, Missing::refuse,
      [verdict](ReplicaDir& dir, const ApprovalArguments& a) { return answer(dir, a, verdict); }, exitCode);
  addScopeOption(command, *arguments);
  command->option("OPERATION", arguments->operation, "Which effect: its operation id, or the first digits of it")
      ->required()
      ->check(firstDigits("operation id", "witan approval list"));
  command->option("--digest", arguments->digest, "Of what was shown")->required()->check(readBy(digestOf));
  command->option("--by", arguments->by, "Who answers; default the device");
  command->option("--reason", arguments->reason, "Kept with the answer");
}

}  // namespace

void addApprovalCommand(Command& app, int& exitCode) {
  Command* noun = app.command("approval", "Effects of agents that wait for a person");
  noun->requireCommand();
  noun->footer("Example: witan approval list");
  const auto arguments = std::make_shared<ApprovalArguments>();
  Command* listing = addReplicaVerb(*noun, "list", "What waits for a person", "witan approval list --all", arguments,
                                    Missing::refuse, list, exitCode);
  addScopeOption(listing, *arguments);
  listing->flag("--all", arguments->all, "Also what was answered");
  addAnswer(*noun, "approve", "Let an effect happen", ApprovalVerdict::approved, exitCode);
  addAnswer(*noun, "deny", "Refuse an effect", ApprovalVerdict::denied, exitCode);
}

}  // namespace witan::node

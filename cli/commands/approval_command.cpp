// `witan approval list|approve|deny`: what agents may do only when a person says so (seed 004, require-human). An
// answer is given to exactly what was shown: it names the digest (docs/FINDINGS.md, F17).
#include "cli/client/operation_verb.h"
#include "cli/commands/commands.h"
#include "node/operations/approval.h"
#include "program/option_checks.h"

namespace witan::node {

using namespace operations;

namespace {

struct ApprovalArguments : ReplicaArguments {
  std::string operation;
  std::string digest;
  std::string by;
  std::string reason;
  bool all = false;
};

Printed listAnswer(const Approvals& list, const ApprovalArguments& a) {
  if (a.json) return {jsonLines(list.approvals)};
  if (list.approvals.empty()) return {"nothing waits for a person\n"};
  Printed answer;
  for (const ApprovalRow& row : list.approvals)
    answer.text += row.operation + "  " + row.agentId + "  " + row.verdict + (row.by.empty() ? "" : " by " + row.by) +
                   "\n  " + canonicalJson(row.what) + "\n  digest " + row.digest + "\n";
  return answer;
}

Printed answered(const ApprovalRow& row, const ApprovalArguments& a) {
  return {a.json ? toJson(row) + "\n" : row.verdict + " " + row.operation + "\n"};
}

void addAnswer(Command& noun, const char* name, const char* what,
               const Operation<ApprovalAnswerRequest, ApprovalRow>& operation, int& exitCode) {
  const auto arguments = std::make_shared<ApprovalArguments>();
  const std::string example = std::string("witan approval ") + name + " OPERATION --digest DIGEST --by dr.supervising";
  const auto fill = [](const ApprovalArguments& a) {
    return Result(ApprovalAnswerRequest{a.operation, a.digest, given(a.by), given(a.reason), given(a.scope)});
  };
  Command* command = addOperationVerb(noun, name, what, example.c_str(), arguments, Missing::refuse, operation, fill,
                                      answered, exitCode);
  addScopeOption(command, *arguments);
  command->option("OPERATION", arguments->operation, "Which effect: its operation id, or the first digits of it")
      ->required()
      ->check(firstDigits("operation id", "witan approval list"));
  command->option("--digest", arguments->digest, "Of what was shown")->required()->check(readBy(approvalDigest));
  command->option("--by", arguments->by, "Who answers; default the device");
  command->option("--reason", arguments->reason, "Kept with the answer");
}

}  // namespace

void addApprovalCommand(Command& app, int& exitCode) {
  Command* noun = app.command("approval", "Effects of agents that wait for a person");
  noun->requireCommand();
  noun->footer("Example: witan approval list");
  const auto arguments = std::make_shared<ApprovalArguments>();
  Command* listing = addOperationVerb(
      *noun, "list", "What waits for a person", "witan approval list --all", arguments, Missing::refuse, kApprovalList,
      [](const ApprovalArguments& a) {
        return Result(ApprovalListRequest{a.all, given(a.scope)});
      },
      listAnswer, exitCode);
  addScopeOption(listing, *arguments);
  listing->flag("--all", arguments->all, "Also what was answered");
  addAnswer(*noun, "approve", "Let an effect happen", kApprovalApprove, exitCode);
  addAnswer(*noun, "deny", "Refuse an effect", kApprovalDeny, exitCode);
}

}  // namespace witan::node

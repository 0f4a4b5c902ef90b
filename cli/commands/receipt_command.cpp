// `witan receipt confirm|list|show|withdraw`: what people have confirmed about agents' use of models and boundaries
// (replication/receipt.h). Names and digests; nothing of what crosses.
#include "base/time.h"
#include "cli/client/operation_verb.h"
#include "cli/commands/commands.h"
#include "node/operations/receipt.h"
#include "program/option_checks.h"

namespace witan::node {

using namespace operations;

namespace {

struct ReceiptArguments : ReplicaArguments {
  std::string key, agent, boundary, provider, model, by, policy;
};

std::string line(const ReceiptRow& r, const ReceiptArguments& a) {
  if (a.json) return toJson(r) + "\n";
  return r.key + "  " + r.agent + "  " + r.boundary + (r.model.empty() ? "" : "  " + r.provider + "/" + r.model) +
         "  " + r.policy + " " + std::to_string(r.version) + "  by " + r.by + ", " + formatTime(Time{r.atMs * 1000}) +
         "\n";
}

Printed listAnswer(const Receipts& list, const ReceiptArguments& a) {
  Printed answer;
  for (const ReceiptRow& receipt : list.receipts) answer.text += line(receipt, a);
  if (answer.text.empty() && !a.json) answer.text = "nobody has confirmed anything\n";
  return answer;
}

Printed showAnswer(const ReceiptRow& receipt, const ReceiptArguments& a) {
  return {line(receipt, a) + (a.json ? "" : "  policy digest " + receipt.digest + "\n")};
}

auto doneAnswer(const char* done) {
  return [done](const ReceiptRow& receipt, const ReceiptArguments& a) {
    return Printed{(a.json ? "" : std::string(done) + " ") + line(receipt, a)};
  };
}

Result<ReceiptRequest> requestOf(const ReceiptArguments& a) { return ReceiptRequest{a.key, given(a.scope)}; }

}  // namespace

void addReceiptCommand(Command& app, int& exitCode) {
  Command* noun = app.command("receipt", "What people confirmed about agents' use of models and boundaries");
  noun->requireCommand();
  noun->footer("Example: witan receipt list");
  const auto verb = [&](const char* name, const char* what, const char* example, const auto& operation, auto fill,
                        auto format) {
    const auto arguments = std::make_shared<ReceiptArguments>();
    Command* command =
        addOperationVerb(*noun, name, what, example, arguments, Missing::refuse, operation, fill, format, exitCode);
    addScopeOption(command, *arguments);
    return std::pair(command, arguments);
  };
  const auto [confirming, use] = verb(
      "confirm", "Confirm one use under the policy of this data directory (policy.toml)",
      "witan receipt confirm --agent journal-summariser --boundary local-llm --provider local --model "
      "llama-3.1-8b --by dr.supervising",
      kReceiptConfirm,
      [](const ReceiptArguments& a) {
        return Result(ReceiptConfirmRequest{a.agent, a.boundary, a.by, given(a.provider), given(a.model),
                                            given(a.policy), given(a.scope)});
      },
      doneAnswer("confirmed"));
  confirming->option("--agent", use->agent, "Which agent")->required();
  confirming->option("--boundary", use->boundary, "Which boundary of the policy")->required();
  Option* provider = confirming->option("--provider", use->provider, "Of the model that is asked");
  provider->needs(confirming->option("--model", use->model, "The model that is asked")->needs(provider));
  confirming->option("--policy", use->policy,
                     "Digest of the policy that was read (witan policy check), or its first digits, at least 8: "
                     "refused if another one is there by now");
  confirming->option("--by", use->by, "Who confirms")->required();
  verb(
      "list", "All that stand", "witan receipt list", kReceiptList,
      [](const ReceiptArguments& a) { return Result(ReceiptListRequest{given(a.scope)}); }, listAnswer);
  const auto one = [](const auto& made) {
    made.first->option("KEY", made.second->key, "Its key, or as many of the first digits as tell it apart")
        ->required()
        ->check(firstDigits("receipt's key", "witan receipt list"));
  };
  one(verb("show", "One of them", "witan receipt show 2214b124", kReceiptShow, requestOf, showAnswer));
  one(verb("withdraw", "Take one back, on every device", "witan receipt withdraw 2214b124", kReceiptWithdraw, requestOf,
           doneAnswer("withdrawn")));
}

}  // namespace witan::node

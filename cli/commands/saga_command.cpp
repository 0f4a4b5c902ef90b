// `witan saga list|show|retry|compensate`: operations of agents that are under way on this device, wait for a person,
// or ended lately. Retrying and compensation are begun here and carried out by the next `witan agent run`.
#include "base/time.h"
#include "cli/client/operation_verb.h"
#include "cli/commands/commands.h"
#include "node/operations/saga.h"
#include "program/option_checks.h"

namespace witan::node {

using namespace operations;

namespace {

struct SagaArguments : ReplicaArguments {
  std::string operation;
  bool all = false;
};

std::string words(const SagaLine& saga) {
  return formatTime(Time{saga.updatedAtMs * 1000}) + "  " + saga.status + "  " + saga.agentId + "  " + saga.tool +
         "  " + saga.operation + (saga.lastError ? "\n  " + *saga.lastError : "") + "\n";
}

Printed listAnswer(const Sagas& list, const SagaArguments& a) {
  if (a.json) return {jsonLines(list.sagas)};
  if (list.sagas.empty()) return {a.all ? "no sagas\n" : "nothing is under way or waits for a person\n"};
  Printed answer;
  for (const SagaLine& saga : list.sagas) answer.text += words(saga);
  return answer;
}

Printed showAnswer(const SagaLine& saga, const SagaArguments& a) {
  if (a.json) return {toJson(saga) + "\n"};
  return {words(saga) + "  phase " + saga.phase + ", attempts " + std::to_string(saga.attempts) + ", run " + saga.run +
          "\n  arguments " + canonicalJson(saga.arguments) + "\n" +
          (saga.result ? "  " + *saga.outcome + " " + canonicalJson(*saga.result) + "\n" : "")};
}

Printed begunAnswer(const SagaBegun& begun, const SagaArguments& a) {
  if (a.json) return {toJson(begun) + "\n"};
  return {std::string(begun.begun == "retry" ? "will be tried again" : "will be undone") +
          " when agents run: " + begun.operation + "\n"};
}

Result<SagaRequest> requestOf(const SagaArguments& a) { return SagaRequest{a.operation}; }

}  // namespace

void addSagaCommand(Command& app, int& exitCode) {
  Command* noun = app.command("saga", "Operations of agents that cross the device's databases");
  noun->requireCommand();
  noun->footer("Example: witan saga list");
  const auto verb = [&](const char* name, const char* what, const char* example, const auto& operation, auto fill,
                        auto format) {
    const auto arguments = std::make_shared<SagaArguments>();
    return std::pair(
        addOperationVerb(*noun, name, what, example, arguments, Missing::refuse, operation, fill, format, exitCode),
        arguments);
  };
  const auto [listing, listed] = verb(
      "list", "What is under way, and what waits for a person", "witan saga list --all", kSagaList,
      [](const SagaArguments& a) { return Result(SagaListRequest{a.all}); }, listAnswer);
  listing->flag("--all", listed->all, "Also what ended lately");
  const auto one = [&](const char* name, const char* what, const char* example, const auto& operation, auto format) {
    const auto [command, arguments] = verb(name, what, example, operation, requestOf, format);
    command
        ->option("OPERATION", arguments->operation, "Its operation id, or as many of the first digits as tell it apart")
        ->required()
        ->check(firstDigits("operation id", "witan saga list --all"));
  };
  one("show", "One of them", "witan saga show OPERATION", kSagaShow, showAnswer);
  one("retry", "Try again what was put aside", "witan saga retry OPERATION", kSagaRetry, begunAnswer);
  one("compensate", "Undo what was carried out, or give up what was put aside", "witan saga compensate OPERATION",
      kSagaCompensate, begunAnswer);
}

}  // namespace witan::node

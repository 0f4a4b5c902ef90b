// `witan saga list|show|retry|compensate`: operations of agents that are under way on this device, wait for a person,
// or ended lately. Retrying and undoing are begun here and carried out by the next `witan agent run`.
#include "agents/host/agent_host.h"
#include "base/bytes.h"
#include "base/json.h"
#include "base/quote.h"
#include "base/seams.h"
#include "base/time.h"
#include "cli/client/replica_verb.h"
#include "cli/commands/commands.h"
#include "program/option_checks.h"
#include "saga/saga_engine.h"

namespace witan::node {

using namespace replication;
using saga::SagaRow;

namespace {

struct SagaArguments : ReplicaArguments {
  std::string operation;
  bool all = false;
};

// Begins what a person asks for and carries out nothing.
class Desk final : public saga::SagaEnvironment {
 public:
  Result<saga::JournalEffect> journalEffect(const SagaRow&) override { return unavailable(); }
  Status call(const SagaRow&, Now) override { return unavailable(); }
  Result<std::vector<Write>> record(const SagaRow&, const saga::Outcome&) override { return std::vector<Write>{}; }
  void finished(const SagaRow&) override {}

 private:
  static Error unavailable() { return {ErrorCode::unavailable, "no agents work here", ""}; }
};

Now clockNow() {
  const Time wall = SystemClock().now();
  return {wall, wall.micros / 1000};
}

std::string line(const SagaRow& row, bool asJson) {
  if (asJson) return saga::rowJson(row) + "\n";
  return formatTime(Time{row.updatedAtMs * 1000}) + "  " + std::string(enumName(row.status)) + "  " +
         row.intent.agentId + "  " + row.intent.tool + "  " + row.id().hex() +
         (row.lastError.empty() ? "" : "\n  " + row.lastError) + "\n";
}

Result<Printed> list(ReplicaDir& dir, const SagaArguments& a) {
  saga::SagaRows rows(dir.replica().database(DatabaseName::agents), saga::SagaOptions{}.keepDone);
  Printed answer;
  const auto visit = [&](SagaRow&& row) { answer.text += line(row, a.json); };
  WITAN_DO(rows.visitHeld(visit));
  WITAN_DO(rows.visitOpen(visit));
  if (a.all) WITAN_DO(rows.visitDone(visit));
  if (answer.text.empty() && !a.json)
    answer.text = a.all ? "no sagas\n" : "nothing is under way or waits for a person\n";
  return answer;
}

Result<OperationId> operationOf(saga::SagaRows& rows, const SagaArguments& a) {
  if (auto whole = OperationId::parse(a.operation); whole.ok()) return *whole;  // perhaps of another device
  std::vector<std::string> ids;
  const auto visit = [&](SagaRow&& row) { ids.push_back(row.id().hex()); };
  WITAN_DO(rows.visitHeld(visit));
  WITAN_DO(rows.visitOpen(visit));
  WITAN_DO(rows.visitDone(visit));
  WITAN_TRY(id, chosenByPrefix(a.operation, ids, "operation id", "see: witan saga list --all"));
  return OperationId::parse(id);
}

Result<Printed> show(ReplicaDir& dir, const SagaArguments& a) {
  saga::SagaRows rows(dir.replica().database(DatabaseName::agents), saga::SagaOptions{}.keepDone);
  WITAN_TRY(operation, operationOf(rows, a));
  WITAN_TRY(row, rows.find(operation));
  if (a.json) return Printed{saga::rowJson(row) + "\n"};
  std::string text = line(row, false);
  text += "  phase " + std::string(enumName(row.phase)) + ", attempts " + std::to_string(row.attempts) + ", run " +
          toHex(row.intent.run) + "\n  arguments " + row.intent.arguments + "\n";
  if (!row.result.empty()) text += "  " + std::string(enumName(row.outcome)) + " " + row.result + "\n";
  return Printed{text};
}

Result<Printed> repair(ReplicaDir& dir, const SagaArguments& a, bool again) {
  saga::SagaRows rows(dir.replica().database(DatabaseName::agents), saga::SagaOptions{}.keepDone);
  WITAN_TRY(operation, operationOf(rows, a));
  Desk desk;
  saga::SagaEngine own(dir.replica(), desk);
  saga::SagaEngine& engine = dir.agents() != nullptr ? dir.agents()->sagas() : own;
  WITAN_DO(again ? engine.retry(operation, clockNow()) : engine.compensate(operation, clockNow()));
  if (a.json)
    return Printed{
        canonicalJson(json::object{{"operation", operation.hex()}, {"begun", again ? "retry" : "compensate"}}) + "\n"};
  return Printed{std::string(again ? "will be tried again" : "will be undone") +
                 " when agents run: " + operation.hex() + "\n"};
}

}  // namespace

void addSagaCommand(Command& app, int& exitCode) {
  Command* noun = app.command("saga", "Operations of agents that cross the device's databases");
  noun->requireCommand();
  noun->footer("Example: witan saga list");
  const auto verb = [&](const char* name, const char* what, const char* example, auto work) {
    const auto arguments = std::make_shared<SagaArguments>();
    return std::pair(addReplicaVerb(*noun, name, what, example, arguments, Missing::refuse, work, exitCode), arguments);
  };
  const auto [listing, listed] =
      verb("list", "What is under way, and what waits for a person", "witan saga list --all", list);
  listing->flag("--all", listed->all, "Also what ended lately");
  const auto one = [&](const char* name, const char* what, const char* example, auto work) {
    const auto [command, arguments] = verb(name, what, example, work);
    command
        ->option("OPERATION", arguments->operation, "Its operation id, or as many of the first digits as tell it apart")
        ->required()
        ->check(firstDigits("operation id", "witan saga list --all"));
  };
  one("show", "One of them", "witan saga show OPERATION", show);
  one("retry", "Try again what was put aside", "witan saga retry OPERATION",
      [](ReplicaDir& dir, const SagaArguments& a) { return repair(dir, a, true); });
  one("compensate", "Undo what was carried out, or give up what was put aside", "witan saga compensate OPERATION",
      [](ReplicaDir& dir, const SagaArguments& a) { return repair(dir, a, false); });
}

}  // namespace witan::node

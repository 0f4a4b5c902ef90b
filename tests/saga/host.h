// A host of sagas for tests: a replica, an engine, tools whose doubled effects would be seen, and the outside world
// that tools act on.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "base/json.h"
#include "replication/local_replica.h"
#include "replication/records/record_views.h"
#include "saga/saga_engine.h"

namespace witan::saga::test {

using namespace replication;

inline constexpr const char* kScope = "main";

// What tools did outside of the device: it survives every crash. Receivers treat equal ids as one.
struct World {
  std::map<Hash, int> calls;
  bool reachable = true;
};

inline RunKey runOf(const std::string& turn) { return *userRunKey("agent-1", "session-1", turn); }

// tools: count (adds one to an entity, whatever it says: a second time shows), put, remove, call, propose, poison,
// refused, forbidden
inline PlanAction action(const std::string& tool, const std::string& target, std::string arguments = "{}") {
  return {tool, std::move(arguments), {}, {target}};
}

inline EffectKind kindOf(const std::string& tool) {
  return tool == "call" ? EffectKind::tool : tool == "propose" ? EffectKind::proposal : EffectKind::journal;
}

inline std::vector<Intent> intentsOf(const PlanBody& plan) {
  std::vector<Intent> intents;
  const auto operations = operationsOf(plan).value();
  for (std::size_t i = 0; i < operations.size(); ++i) {
    const PlanAction& a = plan.actions[i];
    intents.push_back({operations[i].value, plan.runKey, plan.agentId, a.toolName, kindOf(a.toolName), kScope,
                       a.arguments, a.targets, std::nullopt});
  }
  return intents;
}

class Host final : public SagaEnvironment {
 public:
  Host(LocalReplica& replica, World& world, SagaOptions options = {})
      : replica_(replica), world_(world), engine(replica, *this, options) {}

  // Flush, tell, hand out; false: a store failed, or the power went.
  bool round() {
    if (!replica_.database(DatabaseName::journal).flush().ok()) return false;
    engine.journalDurable(now);
    if (!replica_.database(DatabaseName::agents).flush().ok()) return false;
    engine.agentsDurable(now);
    engine.tick(now);
    ++rounds;
    std::vector<Hash> asked;
    asked.swap(asked_);
    for (const Hash& operation : asked) engine.answered({operation}, answer(operation), now);
    return true;
  }
  // Rounds until nothing goes on by itself; time jumps to what is due. False as above.
  bool run(int most = 1000) {
    for (int i = 0; i < most; ++i) {
      if (!round()) return false;
      if (!engine.quiet() || !asked_.empty()) continue;
      const std::int64_t next = engine.nextTickMs();
      if (next == std::numeric_limits<std::int64_t>::max()) return true;
      advance(std::max<std::int64_t>(0, next - now.ms));
    }
    ADD_FAILURE() << "it never came to rest";
    return true;
  }
  void advance(std::int64_t ms) {
    now.ms += ms;
    now.wall.micros += ms * 1000;
  }

  Result<JournalEffect> journalEffect(const SagaRow& row) override {
    const Intent& intent = row.intent;
    if (intent.tool == "poison") return Error{ErrorCode::unavailable, "it never works", ""};
    if (intent.tool == "refused") return invalid("nobody can do that");
    if (intent.tool == "forbidden") return Error{ErrorCode::unauthorised, "not for you", ""};
    WITAN_TRY(space, replica_.database(DatabaseName::journal).space(kScope));
    JournalEffect effect;
    for (const std::string& key : intent.targets) {
      WITAN_TRY(view, journalViewIn(*space, key));
      JournalChange change{key, std::nullopt, "", ChangeOrigin::local};
      if (intent.tool != "remove") {
        std::string payload = intent.arguments;
        if (intent.tool == "count")
          payload = std::to_string(1 + (view.shown ? std::stoi(view.siblings[*view.shown].body->payload) : 0));
        WITAN_TRY(body, journalEdit(view, {"note", payload, "agent-1", now.wallMs(), intent.id()}));
        change.body = std::move(body);
      }
      effect.changes.push_back(std::move(change));
    }
    effect.result = "{\"ok\":true}";
    return effect;
  }
  Status call(const SagaRow& row, Now) override {
    if (!world_.reachable) return Error{ErrorCode::unavailable, "the tool is not reachable", ""};
    ++world_.calls[row.intent.operation];
    asked_.push_back(row.intent.operation);
    return okStatus();
  }
  Result<std::vector<Write>> record(const SagaRow& row, const Outcome& outcome) override {
    if (failRecords > 0) {
      --failRecords;
      return Error{ErrorCode::unavailable, "not now", ""};
    }
    MessageBody message;
    message.id = toHex(row.intent.run).substr(0, 8) + "/" + replica_.device() + "/" + row.id().hex();
    message.agentId = row.intent.agentId;
    message.threadId = "main";
    message.kind = MessageKind::toolResult;
    message.content = outcome.result;
    message.operationId = row.intent.operation;
    WITAN_TRY(bytes, encodeRecord(message));
    return std::vector<Write>{{Kind::message, message.id, std::move(bytes), false}};
  }
  void finished(const SagaRow& row) override { ended.push_back(row); }
  void parked(const SagaRow& row) override { aside.push_back(row); }
  Result<Intent> compensation(const OperationBody& body) override {
    if (body.toolName != "call") return Error{ErrorCode::conflict, "a " + body.toolName + " cannot be called back", ""};
    Intent intent;
    intent.kind = EffectKind::tool;
    intent.tool = "call";
    intent.arguments = "{\"undo\":true}";
    return intent;
  }

  // What the entity says; "-": nothing.
  std::string says(const std::string& key) {
    Space* space = replica_.database(DatabaseName::journal).find(kScope);
    if (space == nullptr) return "-";
    const JournalView view = *journalViewIn(*space, key);
    return (view.shown ? view.siblings[*view.shown].body->payload : std::string("-")) +
           (view.inConflict() ? " (conflict)" : "");
  }
  // How many records of an operation each database holds.
  std::size_t recordsIn(DatabaseName database, const OperationId& operation) {
    Space* space = replica_.database(database).find(kScope);
    return space == nullptr ? 0 : space->versions(Kind::operation, operation.hex())->size();
  }
  std::size_t messagesOf(const OperationId& operation) {
    Space* space = replica_.database(DatabaseName::agents).find(kScope);
    std::size_t count = 0;
    for (const std::string& key : space->keys(Kind::message)) count += key.ends_with(operation.hex()) ? 1 : 0;
    return count;
  }
  std::vector<std::string> operationsIn(DatabaseName database) {
    Space* space = replica_.database(database).find(kScope);
    return space == nullptr ? std::vector<std::string>{} : space->keys(Kind::operation);
  }

  // A plan, committed with its rows.
  PlanBody plan(const std::string& turn, std::vector<PlanAction> actions) {
    const PlanBody body{runOf(turn).value, "agent-1", std::move(actions)};
    const Write write{Kind::plan, runOf(turn).hex(), encodeRecord(body).value(), false};
    EXPECT_TRUE(replica_.commit(DatabaseName::agents, kScope, {&write, 1}).ok());
    EXPECT_TRUE(engine.begin(intentsOf(body), now).ok());
    return body;
  }
  PlanView planView(const std::string& turn) {
    Space* space = replica_.database(DatabaseName::agents).find(kScope);
    if (space == nullptr) return {};
    return planViewOf(runOf(turn), *space->versions(Kind::plan, runOf(turn).hex()));
  }
  // A person writes, on top of what is shown.
  void write(const std::string& key, const std::string& payload) {
    Space* space = *replica_.database(DatabaseName::journal).space(kScope);
    const JournalBody body = *journalEdit(*journalViewIn(*space, key), {"note", payload, "person-1", 5, std::nullopt});
    const std::vector<JournalChange> changes{{key, body, "", ChangeOrigin::local}};
    EXPECT_TRUE(replica_.commit(DatabaseName::journal, kScope, *journalWrites(*space, changes)).ok());
  }

 private:
  Result<Outcome> answer(const Hash&) { return Outcome{OperationOutcome::applied, "{\"called\":true}"}; }

  LocalReplica& replica_;
  World& world_;
  std::vector<Hash> asked_;

 public:
  SagaEngine engine;
  Now now{{1'767'225'600'000'000}, 0};
  int rounds = 0;
  int failRecords = 0;
  std::vector<SagaRow> ended, aside;
};

}  // namespace witan::saga::test

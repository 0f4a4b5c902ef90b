#include "replication/records/record_schemas.h"

#include <array>

#include "base/bytes.h"
#include "base/sha256.h"
#include "replication/records/agent_state.h"
#include "replication/records/record_views.h"
#include "replication/statement.h"

namespace witan::replication {

namespace {

struct Row {
  Kind kind;
  KindTraits traits;
};

constexpr KindTraits with(bool KindTraits::*special, KindTraits traits) {
  traits.*special = true;
  return traits;
}

// name, journal, agents, resident, digested, register, removable
constexpr std::array kKinds{
    Row{Kind::agentState, with(&KindTraits::deltas, {"agentState", false, true, true, true, true, true})},
    Row{Kind::message, {"message", false, true, false, true, false, true}},
    Row{Kind::link, {"link", false, true, false, true, false, true}},
    Row{Kind::batch, with(&KindTraits::event, {"batch", true, true, false, false, false, true})},
    Row{Kind::wakeRun, with(&KindTraits::guarded, {"wakeRun", false, true, true, true, true, true})},
    Row{Kind::plan, with(&KindTraits::contested, {"plan", false, true, false, true, false, true})},
    Row{Kind::summary, {"summary", false, true, false, true, false, true}},
    Row{Kind::journal, {"journal", true, false, true, true, true, true}},
    Row{Kind::policy, {"policy", false, true, true, true, false, false}},
    Row{Kind::statement, {"statement", false, true, true, true, false, false}},
    Row{Kind::operation, with(&KindTraits::guarded, {"operation", true, true, false, true, false, true})},
    Row{Kind::approval, {"approval", false, true, true, true, true, true}},
    Row{Kind::receipt, {"receipt", false, true, true, true, true, true}},
    Row{Kind::graphMessage, with(&KindTraits::guarded, {"graphMessage", false, true, false, true, false, true})},
    Row{Kind::artefact, {"artefact", false, true, true, true, true, true}},
    Row{Kind::activation, {"activation", false, true, true, true, true, true}},
    Row{Kind::sealedCopy, {"sealedCopy", true, true, false, true, true, true}},
};

constexpr KindTraits kUnknown{"unknown", true, true, true, true, true, true};

// The error of a result, without its value.
template <class T>
Status statusOf(const Result<T>& result) {
  return result.ok() ? okStatus() : Status(result.error());
}

// An operation's record never changes. But what was carried out here is said also where another device was refused it.
Status mayStandBeside(std::string_view key, std::span<const Version> held, std::string_view body) {
  WITAN_TRY(operation, OperationId::parse(key));
  WITAN_TRY(next, decodeRecord<OperationBody>(body));
  const OperationView view = operationViewOf(operation, held);
  if (view.record && view.record->body.outcome != OperationOutcome::applied &&
      next.outcome == OperationOutcome::applied)
    return okStatus();
  return conflict(concat("operation ", key, " exists and never changes"));
}

// The body of a message never changes. But what is not that of its digest, damaged or a stranger's, is none.
Status mayReplaceBodies(std::string_view key, std::span<const Version> held) {
  for (const Version& version : held) {
    if (version.tombstone) continue;
    const auto body = decodeRecord<GraphMessageBody>(version.body);
    if (body.ok() && toHex(sha256(body->content)) == key)
      return conflict(concat("graphMessage ", key, " exists and never changes"));
  }
  return okStatus();
}

class WitanRecords final : public RecordSchemas {
 public:
  const KindTraits& traits(Kind kind) const override { return traitsOf(kind); }

  Status check(Kind kind, std::string_view body, std::string_view writer) const override {
#define WITAN_CHECK_BODY(Body) \
  case Body::recordKind: return statusOf(decodeRecord<Body>(body));
    switch (kind) {
      WITAN_RECORD_BODIES(WITAN_CHECK_BODY)
      case Kind::agentState: return statusOf(decodeAgentState(body, writer));
      case Kind::statement: return statusOf(decodeStatement(body));
    }
#undef WITAN_CHECK_BODY
    return okStatus();
  }

  Status checkSuccession(Kind kind, std::string_view key, std::span<const Version> held,
                         std::string_view body) const override {
    if (held.empty()) return okStatus();
    if (kind == Kind::operation) return mayStandBeside(key, held, body);
    if (kind == Kind::graphMessage) return mayReplaceBodies(key, held);
    if (kind != Kind::wakeRun) return okStatus();
    WITAN_TRY(runKey, RunKey::parse(key));
    WITAN_TRY(next, decodeRecord<WakeRunBody>(body));
    return mayRecord(wakeRunViewOf(runKey, held), next);
  }

  Result<std::vector<Dot>> causes(std::string_view event) const override {
    WITAN_TRY(body, decodeRecord<BatchBody>(event));
    std::vector<Dot> dots;
    dots.reserve(body.deps.size());
    for (DotEntry& dep : body.deps) dots.push_back({std::move(dep.host), dep.counter});
    return dots;
  }

  std::uint32_t changedFields(std::string_view before, std::string_view after) const override {
    return replication::changedFields(before, after);
  }
  void appendDelta(std::string& out, std::string_view body, std::uint32_t fields) const override {
    appendFieldDelta(out, body, fields);
  }
  Result<std::string> applyDelta(std::string_view base, std::string_view delta) const override {
    return applyFieldDelta(base, delta);
  }
  // A state's bytes name their writer by a mark.
  Result<std::string> withAuthor(std::string_view body, std::string_view from, std::string_view to) const override {
    WITAN_TRY(state, decodeAgentState(body, from));
    return encodeAgentState(state, to);
  }
};

}  // namespace

const KindTraits& traitsOf(Kind kind) {
  for (const Row& row : kKinds)
    if (row.kind == kind) return row.traits;
  return kUnknown;
}

const RecordSchemas& recordSchemas() {
  static const WitanRecords schemas;
  return schemas;
}

}  // namespace witan::replication

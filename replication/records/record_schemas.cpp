#include "replication/records/record_schemas.h"

#include "replication/records/agent_state_codec.h"
#include "replication/records/kind.h"
#include "replication/records/receipt.h"
#include "replication/records/records.h"
#include "replication/records/wake_run.h"
#include "replication/statement.h"

namespace witan::replication {

namespace {

template <class Body>
Status readable(std::string_view body) {
  auto decoded = decodeRecord<Body>(body);
  return decoded.ok() ? okStatus() : Status(decoded.error());
}

class WitanRecords final : public RecordSchemas {
 public:
  const KindTraits& traits(Kind kind) const override { return traitsOf(kind); }

  Status check(Kind kind, std::string_view body, std::string_view writer) const override {
    switch (kind) {
      case Kind::agentState: {
        auto state = decodeAgentState(body, writer);
        return state.ok() ? okStatus() : Status(state.error());
      }
      case Kind::message: return readable<MessageBody>(body);
      case Kind::link: return readable<LinkBody>(body);
      case Kind::batch: return readable<BatchBody>(body);
      case Kind::wakeRun: return readable<WakeRunBody>(body);
      case Kind::plan: return readable<PlanBody>(body);
      case Kind::summary: return readable<SummaryBody>(body);
      case Kind::journal: return readable<JournalBody>(body);
      case Kind::policy: return readable<SignedDocumentBody>(body);
      case Kind::operation: return readable<OperationBody>(body);
      case Kind::approval: return readable<ApprovalBody>(body);
      case Kind::receipt: {
        auto receipt = readReceipt(body);
        return receipt.ok() ? okStatus() : Status(receipt.error());
      }
      case Kind::statement: {
        auto statement = decodeStatement(body);
        return statement.ok() ? okStatus() : Status(statement.error());
      }
    }
    return okStatus();
  }

  Status checkSuccession(Kind kind, std::string_view key, std::span<const Version> held,
                         std::string_view body) const override {
    if (kind != Kind::wakeRun || held.empty()) return okStatus();
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

const RecordSchemas& recordSchemas() {
  static const WitanRecords schemas;
  return schemas;
}

}  // namespace witan::replication

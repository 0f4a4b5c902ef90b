// Checker "effects": what stands of the work of agents is there. For that it keeps what everybody wrote into the
// entries that many write, and what they had seen of them.
#include "agents/host/record_audit.h"
#include "agents/wake/host_choice.h"
#include "replication/arrivals.h"
#include "replication/writer.h"
#include "saga/saga_rows.h"
#include "sim/check/agent_rules.h"
#include "sim/checkers/checker.h"
#include "sim/sim_agents.h"

namespace witan::sim {

using namespace replication;

namespace {

class EffectChecker final : public Checker {
 public:
  explicit EffectChecker(Cluster& cluster) : Checker(cluster) {}
  void onStarted(Seat& at) override {
    looked_[at].reset();
    records_[at].reset();
  }
  void onDiskLost(Seat& at) override {
    had_[at].clear();
    for (auto& [operation, by] : onceBy_) by.erase(at.index());
  }
  void beforeDrain(Seat& at) override { look(at); }  // what has arrived, before agents write
  void onDurable(Seat& at) override { look(at); }
  // A tool that acts at each call is called once: by no device again, and by none that knows the plan of another one,
  // which may have called. Devices that are cut off from one another may both call.
  void onToolCall(Seat& at, const agents::ToolCall& call, const std::string& name) override {
    if (!isOnce(call.tool)) return;
    c_.probe("call of a tool that is called once");
    std::set<std::size_t>& by = onceBy_[name];
    if (!by.empty()) c_.probe("call of a tool that is called once, by two that are cut off");
    if (!by.insert(at.index()).second)
      return c_.failed("operations", concat(at.name(), " calls ", call.tool, " under operation ", name,
                                            " again, and that would do it again"));
    Space* records = at.replica().data().findSpace("agents/main");
    auto versions = records == nullptr ? Result<std::vector<Version>>(std::vector<Version>())
                                       : records->versions(Kind::plan, call.run.hex());
    if (!versions.ok()) return c_.failed("store", at.name() + ": " + versions.error().message);
    const PlanView plans = planViewOf(call.run, *versions);
    if (plans.winner && deviceOf(plans.winner->dot.host) != at.name())
      c_.failed("operations", concat(at.name(), " calls ", call.tool, " under operation ", name, ", and ",
                                     deviceOf(plans.winner->dot.host), ", whose plan it has, may have called"));
  }

  void atEnd() override {
    if (c_.plan().options.cluster.hosts == 0) return;
    AgentRuleOptions options;
    options.wholeDisks = c_.history().losses().empty();
    options.shared = kDeskFolder;
    for (const auto& at : c_.seats()) options.deadLettered.insert(at->gaveUp.begin(), at->gaveUp.end());
    for (Seat* at : c_.members()) {
      saga::SagaRows rows(at->replica().data().database(DatabaseName::agents), 0);
      const Status held = rows.visitHeld([&](saga::SagaRow&& row) {
        options.deadLettered.insert(row.id());
        if (!row.intent.compensates && row.intent.kind == saga::EffectKind::tool && row.attempts < kSagaAttempts &&
            !at->gaveUp.contains(row.id()) && !isOnce(row.intent.tool))
          c_.failed("sagas", concat(at->name(), " has put operation ", row.id().hex(), " aside after ", row.attempts,
                                    " attempts: ", row.lastError));
        if (row.intent.compensates && row.attempts < kSagaAttempts)
          undoings_.push_back({row.id(), {*row.intent.compensates}, at->name(), true, {}});
      });
      if (!held.ok()) return c_.failed("store", at->name() + ": " + held.error().message);
    }
    if (const std::string wrong = unhosted(); !wrong.empty()) return c_.failed("runs", wrong);
    auto records = agentRecordsOf(c_.members().front()->replica().data());
    if (!records.ok()) return c_.failed("store", records.error().message);
    for (Seat* at : c_.members())
      if (const std::string wrong = doneAndUndone(*at, *records); !wrong.empty())
        return c_.failed("sagas", at->name() + " " + wrong);
    addPeople();
    if (const std::string wrong = checkEffects(*records, writes_, options); !wrong.empty())
      return c_.failed("effects", wrong);
    if (const std::string wrong = options.wholeDisks ? checkUndoings(*records, writes_, undoings_) : ""; !wrong.empty())
      return c_.failed("sagas", wrong);
    if (const std::string wrong = besideRepeats(*records); !wrong.empty()) return c_.failed("effects", wrong);
    // What wakes the sealer is the work of clerks, and what wakes these people have written.
    if (const std::string wrong = checkHops(*records, kSimAgents[1], 1); !wrong.empty())
      return c_.failed("runs", wrong);
    if (options.wholeDisks) countUnwanted(*records);
    countRareOnes(*records);
  }

 private:
  bool isOnce(std::string_view tool) const { return tool == kOnceTool && paysOnce(c_.plan().options.seed); }
  // What this device has undone itself is not among its ended operations as if it stood.
  static std::string doneAndUndone(Seat& at, const AgentRecords& records) {
    LocalReplica& data = at.replica().data();
    std::set<OperationId> undone;
    for (const auto& [operation, view] : records.agents)
      if (view.record && view.record->dot.host == data.writer() && view.record->body.compensates &&
          view.record->body.outcome == OperationOutcome::applied)
        undone.insert({*view.record->body.compensates});
    std::map<OperationId, saga::SagaStatus> latest;  // one may end several times
    const Status read = saga::SagaRows(data.database(DatabaseName::agents), 0).visitDone([&](saga::SagaRow&& row) {
      latest[row.id()] = row.status;
    });
    if (!read.ok()) return read.error().message;
    for (const auto& [operation, status] : latest)
      if (status == saga::SagaStatus::completed && undone.contains(operation))
        return concat("lists operation ", operation.hex(), " as completed, and has undone it");
    return {};
  }

  // Others know of each device which agents work there: who does not say so is passed over.
  std::string unhosted() {
    for (Seat* at : c_.members()) {
      if (std::as_const(at->replica()).agents() == nullptr) continue;
      for (Seat* there : c_.members())
        for (const std::string_view agent : {kSimAgents[0], kSimAgents[2]})
          if (Space* space = there->replica().data().findSpace("agents/main");
              space != nullptr && agents::hostsAmong(*space, agent, std::array{at->name()}).empty())
            return concat(at->name(), " hosts ", agent, ", and ", there->name(), " does not know");
    }
    return {};
  }

  void countUnwanted(const AgentRecords& records) {
    LocalReplica& data = c_.members().front()->replica().data();
    const auto audit = agents::auditRecords(data, "main");
    if (!audit.ok()) return c_.failed("store", audit.error().message);
    Space* space = data.findSpace("agents/main");
    std::set<OperationId> denied;
    for (const auto& [operation, view] : records.agents)
      if (auto versions = space->versions(Kind::approval, operation.hex()); versions.ok() && isDenied(*versions))
        denied.insert(operation);
    if (!denied.empty()) c_.probe("denial on record");
    if (const std::string wrong = checkUnwanted(records, denied, audit->unwanted); !wrong.empty())
      c_.failed("operations", wrong);
  }

  using Seen = std::map<std::string, std::set<Dot>>;  // by entry: every version that was ever here

  void look(Seat& at) {
    if (c_.plan().options.cluster.hosts == 0) return;
    Space* space = at.replica().data().database(DatabaseName::journal).find("main");
    if (space == nullptr || looked_[at] == space->changes()) return;
    looked_[at] = space->changes();
    lookAtRecords(at, *space);
    for (const std::string& id : space->keys(Kind::journal, kDeskFolder)) {
      auto versions = space->versions(Kind::journal, id);
      if (!versions.ok()) return c_.failed("store", at.name() + ": " + versions.error().message);
      std::set<Dot>& seen = seen_[at][id];
      const std::set<Dot> before = seen;
      for (const Version& version : *versions)
        if (seen.insert(version.dot).second && deviceOf(version.dot.host) == at.name()) note(at, id, version, before);
    }
  }

  // Which operations of a run a device has records of, and in which order it undoes them.
  void lookAtRecords(Seat& at, Space& space) {
    std::set<std::string> fresh;
    if (!records_[at]) records_[at].emplace(Kind::operation);
    records_[at]->look(space, [&](const Record& record) { fresh.emplace(record.key()); });
    std::map<Dot, std::pair<OperationId, OperationBody>> own;  // in their order
    std::map<RunKey, std::set<OperationId>>& had = had_[at];
    for (const std::string& key : fresh) {
      auto operation = OperationId::parse(key);
      auto versions = space.versions(Kind::operation, key);
      if (!operation.ok() || !versions.ok()) return c_.failed("store", at.name() + ": an operation cannot be read");
      for (const Version& version : *versions) {
        auto body = version.tombstone ? Result<OperationBody>(Error{}) : decodeRecord<OperationBody>(version.body);
        if (!body.ok()) continue;
        const RunKey run{body->runKey};
        if (version.dot.host == at.replica().data().writer() && !had[run].contains(*operation))
          own.try_emplace(version.dot, *operation, *std::move(body));
        else
          had[run].insert(*operation);
      }
    }
    for (const auto& [dot, one] : own) {
      const auto& [operation, body] = one;
      std::set<OperationId>& before = had[RunKey{body.runKey}];
      if (body.compensates) undoings_.push_back({operation, {*body.compensates}, at.name(), false, before});
      before.insert(operation);
    }
  }

  void note(Seat& at, const std::string& id, const Version& version, const std::set<Dot>& seen) {
    std::vector<SharedWrite>& writes = writes_[id];
    if (std::ranges::any_of(writes, [&](const SharedWrite& one) { return one.dot == version.dot; })) return;
    SharedWrite write{version.dot, seen, {}, {}};
    if (!version.tombstone) {
      auto body = decodeRecord<JournalBody>(version.body);
      if (!body.ok()) return c_.failed("store", id + ": " + body.error().message);
      write.content = contentOf(body->type, body->payload);
      write.operation = body->operationId;
    }
    c_.trace(at.index(), "agents", "writes",
             concat(id, " ", version.dot.host, ":", version.dot.counter, " ", write.content, " of ",
                    write.operation ? OperationId{*write.operation}.hex() : "nobody's operation"));
    writes.push_back(std::move(write));
  }

  // Of people it is known exactly what they had seen.
  void addPeople() {
    for (auto& [id, writes] : writes_) {
      const auto known = c_.history().writes().find({"journal/main", {static_cast<int>(Kind::journal), id}});
      if (known == c_.history().writes().end()) continue;
      for (SharedWrite& write : writes)
        for (const WriteRecord& record : known->second)
          if (record.dot == write.dot) {
            write.seen.insert(record.seen.begin(), record.seen.end());
            write.kept = record.durable && !record.mayBeLost;
          }
    }
  }

  std::string besideRepeats(const AgentRecords& records) {
    Space* journal = c_.members().front()->replica().data().database(DatabaseName::journal).find("main");
    for (const auto& [id, writes] : writes_) {
      auto read = journal == nullptr ? Result<JournalView>(JournalView()) : journalViewIn(*journal, id);
      if (!read.ok()) return read.error().message;
      if (std::string wrong = checkRepeats(records, id, *read, writes); !wrong.empty()) return wrong;
    }
    return {};
  }

  void countRareOnes(const AgentRecords& records) {
    std::map<std::pair<std::string, std::string>, std::size_t> claims;
    for (const auto& [id, writes] : writes_)
      for (const SharedWrite& write : writes)
        if (write.operation && ++claims[{id, write.content}] == 2) c_.probe("effect claimed by several operations");
    for (const auto& [id, view] : records.entries)
      if (id.starts_with(kDeskFolder) && view.inConflict()) c_.probe("desk in conflict");
    for (const auto& [run, view] : records.plans)
      if (view.winner && std::ranges::count_if(view.winner->body.actions, [](const PlanAction& action) {
                           return !action.targets.empty() && action.targets.front().starts_with(kDeskFolder);
                         }) > 1)
        c_.probe("entry written twice by a plan");
  }

  PerDevice<std::optional<std::uint64_t>> looked_;  // at which changes of the journal
  PerDevice<Seen> seen_;
  SharedWrites writes_;
  PerDevice<std::optional<Arrivals>> records_;
  PerDevice<std::map<RunKey, std::set<OperationId>>> had_;  // operations, and undoings of them, with a record here
  std::vector<Undoing> undoings_;
  std::map<std::string, std::set<std::size_t>> onceBy_;  // devices, by operation
};

}  // namespace

std::unique_ptr<Checker> makeEffectChecker(Cluster& cluster) { return std::make_unique<EffectChecker>(cluster); }

}  // namespace witan::sim

// Good histories of a partition, made by a real one: clients that ask at the same time, requests and answers that are
// lost, delivered late or twice, proposals that are sent again. The checkers must accept all of them, and none of the
// altered ones.
//
// The world owns its partition; the module outlives it.
#pragma once

#include <deque>
#include <map>

#include "base/bytes.h"
#include "sim/check/operation.h"
#include "tests/kernel/history.h"
#include "tests/kernel/toy_domain.h"

namespace witan::sim::test {

using kernel::Outcome;
namespace chest = kernel::chest;

struct MadeOptions {
  std::size_t clients = 4;
  std::size_t entities = 2;
  std::size_t operations = 60;
  bool trouble = true;  // losses, repeated frames, retries
  std::int64_t ttl = 0;
  bool counselors = true;
  bool runs = true;  // of some proposals, now and then with two plans (F3)
};

class MadeHistory {
 public:
  MadeHistory(const kernel::DomainModule& module, std::uint64_t seed, MadeOptions options = {})
      : module_(module),
        options_(options),
        random_(seed),
        runs_(seed + 7),
        partition_(module, {.pendingTtlMicros = options.ttl}, &log_) {
    for (std::size_t i = 0; i < options_.entities; ++i) begin("e" + std::to_string(i));
    while (operations.size() < options_.operations) step();
    while (!toOwner_.empty()) arrive();
    while (!toClient_.empty()) answer();
    collect();
    log = readLog(batches).value();
    ledger = log.lines;
  }

  std::vector<Operation> operations;
  PartitionLog log;
  std::vector<LedgerLine> ledger;
  std::vector<std::string> batches;

  std::vector<Operation> stamped() const {
    auto out = operations;
    stampFromLog(out, log);
    return out;
  }
  // As the clients saw it: no ledger, only the times.
  std::vector<Operation> unnumbered() const {
    auto out = operations;
    for (std::size_t i = 0; i < out.size(); ++i) {
      if (const auto at = times_.find(out[i].operationId + out[i].plan); at != times_.end())
        out[i].stamp = Stamp{at->second};
      if (out[i].kind == OperationKind::init) out[i].stamp = Stamp{kStart};
    }
    return out;
  }

 private:
  static constexpr Time kStart{1'000'000};

  void begin(const std::string& entity) {
    Operation operation;
    operation.kind = OperationKind::init;
    operation.entity = entity;
    operation.invoked = ++now_;
    operation.answer.decision = partition_.init(entity, {}, kStart);
    operation.returned = ++now_;
    operations.push_back(std::move(operation));
  }

  void step() {
    ++now_;
    const std::uint64_t draw = random_.below(4);
    if (draw == 0 && !toOwner_.empty()) return arrive();
    if (draw == 1 && !toClient_.empty()) return answer();
    if (options_.ttl > 0 && random_.below(20) == 0) return expire();
    if (toOwner_.size() + toClient_.size() < options_.clients) ask();
  }

  void ask() {
    Operation operation;
    operation.client = static_cast<std::uint32_t>(random_.below(options_.clients));
    operation.invoked = now_;
    operation.entity = "e" + std::to_string(random_.below(options_.entities));
    if (random_.below(30) == 0) operation.entity = "nobody";
    operation.operationId = "op-" + std::to_string(operations.size());
    const bool counsel = options_.counselors && partition_.frozen(operation.entity) && random_.below(2) == 0;
    counsel ? decide(operation) : propose(operation);
    if (options_.trouble && !operations.empty() && random_.below(8) == 0) retry(operation);
    operations.push_back(std::move(operation));
    if (options_.trouble && random_.below(10) == 0) return;  // lost on the way
    toOwner_.push_back(operations.size() - 1);
    if (options_.trouble && random_.below(10) == 0) toOwner_.push_back(operations.size() - 1);
  }
  void propose(Operation& operation) {
    const kernel::EntityState* state = partition_.state(operation.entity);
    const auto action = module_.sample(state != nullptr ? *state : *partition_.state("e0"), random_, Time{now_});
    operation.role = module_.signature().processes[action->process].role;
    operation.device = "device";
    operation.agent = "agent";
    module_.writeAction(operation.action, *action);
    if (!options_.runs || runs_.below(2) == 0) return;
    operation.run = asView(sha256("run " + std::to_string(runs_.below(3))));
    operation.plan = asView(sha256("plan " + std::to_string(runs_.below(4) / 3)));
  }
  void decide(Operation& operation) {
    operation.kind = OperationKind::decide;
    operation.counselor = random_.below(6) == 0 ? "stranger" : "captain";
    operation.reason = "because";
    operation.commit = random_.below(2) == 0;
    operation.base = random_.below(2) == 0 ? kernel::CommitBase::candidate : kernel::CommitBase::current;
    const auto pending = partition_.pending(operation.entity);
    if (random_.below(2) == 0) operation.escalation = pending->seq - (random_.below(8) == 0 ? 1 : 0);
    if (random_.below(2) == 0) operation.pendingDigest = pending->digest;
  }
  // The same act once more; now and then another act under its name.
  void retry(Operation& operation) {
    const Operation& first = operations[random_.below(operations.size())];
    if (first.kind == OperationKind::init) return;
    const Operation fresh = operation;
    operation = first;
    operation.client = fresh.client;
    operation.invoked = fresh.invoked;
    operation.returned.reset();
    operation.answer = {};
    if (random_.below(6) == 0) operation.entity = "e0";
    if (!operation.run.empty() && runs_.below(2) == 0)  // an act that both plans hold
      operation.plan = asView(sha256("plan " + std::to_string(runs_.below(2))));
  }

  // One request reaches the owner: any of those under way.
  void arrive() {
    const std::size_t which = random_.below(toOwner_.size());
    const std::size_t index = toOwner_[which];
    toOwner_.erase(toOwner_.begin() + static_cast<std::ptrdiff_t>(which));
    const kernel::Decision decision = feed(operations[index]);
    collect();
    if (options_.trouble && random_.below(10) == 0) return;
    toClient_.emplace_back(index, decision);
  }
  void answer() {
    const std::size_t which = random_.below(toClient_.size());
    auto [index, decision] = std::move(toClient_[which]);
    toClient_.erase(toClient_.begin() + static_cast<std::ptrdiff_t>(which));
    Operation& operation = operations[index];
    if (operation.returned) return;  // the second answer to a frame that came twice
    operation.returned = ++now_;
    operation.answer = {std::move(decision), {1, "owner"}};
  }
  kernel::Decision feed(const Operation& operation) {
    const Time at{kStart.micros + now_};
    times_.emplace(operation.operationId + operation.plan, at);
    if (operation.kind == OperationKind::propose) {
      const auto action = kernel::test::actionOf(module_, operation.action);
      kernel::Proposal proposal{
          operation.entity,  operation.role, operation.operationId, operation.device, operation.agent, action.get(), at,
          operation.remember};
      std::copy(operation.run.begin(), operation.run.end(), proposal.runKey.begin());
      std::copy(operation.plan.begin(), operation.plan.end(), proposal.planDigest.begin());
      return partition_.propose(proposal);
    }
    const json::object edit = kernel::test::objectOf(operation.fields);
    kernel::CounselorDecision d;
    d.entity = operation.entity;
    d.counselor = operation.counselor;
    d.operationId = operation.operationId;
    d.commit = operation.commit;
    d.base = operation.base;
    d.edit = &edit;
    d.reason = operation.reason;
    d.escalation = operation.escalation;
    d.pendingDigest = operation.pendingDigest;
    d.at = at;
    return partition_.decide(d);
  }
  void expire() {
    now_ += options_.ttl;
    (void)partition_.expire(Time{kStart.micros + now_});
    collect();
  }
  void collect() {
    if (!partition_.hasOpenBatch()) return;
    batches.push_back(partition_.takeBatch().value);
    auto read = kernel::readLogBatch(batches.back(), [&](const kernel::LogRecord& record) {
      if (record.kind == kernel::RecordKind::entry) log_.bytes.emplace_back(record.payload);
      return okStatus();
    });
    WITAN_CHECK(read.ok(), "our own batch is readable");
  }

  const kernel::DomainModule& module_;
  const MadeOptions options_;
  SeededRandom random_;
  SeededRandom runs_;
  kernel::test::Entries log_;
  kernel::Partition partition_;
  std::int64_t now_ = 0;
  std::vector<std::size_t> toOwner_;
  std::vector<std::pair<std::size_t, kernel::Decision>> toClient_;
  std::map<std::string, Time> times_;  // when each id was first decided about, under its plan
};

}  // namespace witan::sim::test

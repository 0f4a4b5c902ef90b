// Checkers "ledger-rules", "fences", "no-decision-lost", "answers" and "linearizability": the ledgers at the end of a
// run, their rows, rules and epochs, and the answers that clients got.
#include "agents/host/builtin_tools.h"
#include "kernel/ledger/ledger_verify.h"
#include "replica/graph_runtime.h"
#include "saga/saga_rows.h"
#include "sim/check/agent_rules.h"
#include "sim/check/answers.h"
#include "sim/check/ledger_rules.h"
#include "sim/check/linearizability.h"
#include "sim/check/operation.h"
#include "sim/checkers/checker.h"
#include "sim/history.h"

namespace witan::sim {

namespace {

// All copies of a partition hold one state of each entity, whether it was decided, followed or read. "" or a
// difference.
std::string copiesDiffer(Cluster& cluster, const std::string& id) {
  struct Held {
    std::string device, text;
  };
  std::map<std::string, Held, std::less<>> first;
  for (Seat* at : cluster.members()) {
    node::PartitionHost* host = at->replica().host(id);
    if (host == nullptr) continue;
    for (const std::string& entity : host->partition().entities()) {
      std::string text;
      host->module().writeState(text, *host->partition().state(entity));
      if (const auto pending = host->partition().pending(entity))
        text += concat(" waits for a counselor since entry ", pending->seq, " ", toHex(pending->digest));
      const auto [held, fresh] = first.try_emplace(entity, Held{at->name(), text});
      if (!fresh && held->second.text != text)
        return entity + " is " + held->second.text + " on " + held->second.device + ", and " + text + " on " +
               at->name();
    }
  }
  return {};
}

std::optional<RequestRecord> requestOf(const kernel::DomainModule& module, const replication::Plan& plan,
                                       std::size_t n) {
  saga::SagaRow row;
  row.intent.operation = plan.operations[n].value;
  row.intent.run = plan.body.runKey;
  row.intent.agentId = plan.body.agentId;
  row.intent.tool = plan.body.actions[n].toolName;
  row.intent.arguments = plan.body.actions[n].arguments;
  auto call = agents::proposalOf(row);
  if (!call.ok() || call->domain != module.signature().domain) return std::nullopt;
  auto action = module.parseAction(call->body);
  if (!action.ok()) return std::nullopt;
  RequestRecord booked;
  booked.request.domain = call->domain;
  booked.request.entity = call->entity;
  booked.request.role = call->role;
  booked.request.operationId = call->operation.hex();
  booked.request.agent = call->agentId;
  booked.request.actionType = module.signature().processes[(*action)->process].name;
  const std::string bytes = module.encodeAction(**action);
  booked.request.action.assign(bytes.begin(), bytes.end());
  booked.request.runKey = plan.body.runKey;
  booked.request.planDigest = plan.digest.value;
  return booked;
}

// Requests that agents made of the ledgers: they stand in their plans. When they were made, and whether the answer
// arrived, is nowhere.
std::vector<RequestRecord> agentRequests(Cluster& cluster, const kernel::DomainModule& module) {
  std::vector<RequestRecord> asked;
  if (cluster.plan().options.cluster.hosts == 0) return asked;
  for (Seat* at : cluster.members()) {
    auto records = agentRecordsOf(at->replica().data());
    if (!records.ok()) return asked;
    for (const auto& [run, view] : records->plans) {
      const auto add = [&](const replication::Plan& plan) {
        for (std::size_t i = 0; i < plan.operations.size(); ++i)
          if (plan.body.actions[i].toolName == "propose")
            if (auto one = requestOf(module, plan, i)) asked.push_back(*std::move(one));
      };
      if (view.winner) add(*view.winner);
      for (const replication::Plan& loser : view.losers) add(loser);
    }
    break;  // all devices hold the same
  }
  return asked;
}

class LedgerChecker final : public Checker {
 public:
  explicit LedgerChecker(Cluster& cluster) : Checker(cluster) {}

  void onStarted(Seat& at) override {
    if (!at.rolledBack) return;
    for (const auto& [id, host] : at.replica().hosts())
      rolledBack_[id].push_back({at.replica().ownerName(), LostRange{host->epoch(), host->partition().size() + 1}});
  }

  void onNotice(Seat& at, const node::Notice& notice) override {
    if (notice.kind == "seizure") seized_[notice.partition].emplace(notice.what, at.name());
  }

  void atEnd() override {
    for (const auto& [module, id] : c_.partitions())
      if (!c_.hasFailed()) checkLedger(*module, id);
  }

 private:
  void checkLedger(const kernel::DomainModule& module, const std::string& id) {
    if (const std::string problem = rowsSound(module, id); !problem.empty()) return c_.failed("ledger-rules", problem);
    if (const std::string problem = copiesDiffer(c_, id); !problem.empty())
      return c_.failed("copies", id + ": " + problem);
    std::vector<PartitionLog> logs;
    std::vector<const Seat*> holders;
    for (Seat* at : c_.members()) {
      // What is pruned somewhere stands elsewhere: rowsSound() and the checker "keepers".
      if (const node::PartitionHost* host = at->replica().host(id); host == nullptr || host->first() > 0) continue;
      auto log = logAt(*at, id);
      if (!log.ok()) return c_.failed("ledger-rules", at->name() + " " + id + ": " + log.error().message);
      logs.push_back(*std::move(log));
      holders.push_back(at);
    }
    if (logs.empty()) return;
    const PartitionLog& log = logs.front();
    if (const std::string problem =
            sim::checkLedger(module, log.lines, c_.plan().options.cluster.pendingTtlSeconds * kSecond);
        !problem.empty())
      return c_.failed("ledger-rules", id + ": " + problem);

    std::vector<DeviceLog> of;
    for (std::size_t i = 0; i < logs.size(); ++i) of.push_back({holders[i]->name(), &logs[i]});
    // Nobody asks for the steps of a graph; what they must be, the checker "graphs" knows.
    if (module.signature().domain == node::kGraphDomain) {
      if (const std::string problem = checkFences(of, {}); !problem.empty() && c_.history().losses().empty())
        c_.failed("fences", id + ": " + problem);
      return;
    }
    std::vector<RequestRecord> asked = agentRequests(c_, module);
    asked.insert(asked.begin(), c_.history().requests().begin(), c_.history().requests().end());
    std::vector<Operation> operations = operationsOf(asked, module, [&](const node::Request& request) {
      return request.domain == module.signature().domain &&
             node::partitionOf(request.domain, request.entity,
                               static_cast<std::uint32_t>(c_.plan().options.cluster.partitions)) == id;
    });
    std::vector<LostRange> lost = lossesOf(operations, log, c_.history().losses());
    for (const auto& [owner, since] : rolledBack_[id])
      for (const Operation& operation : operations)
        if (const Epoch& epoch = operation.answer.epoch; epoch.owner == owner && !(epoch < since.epoch))
          lost.push_back({epoch, epoch == since.epoch ? since.fromSeq : 0});
    // What the owner that lies told of its own epochs need be nowhere.
    for (const Operation& operation : operations)
      if (const Epoch& epoch = operation.answer.epoch; c_.history().liarOwned.contains({id, epoch}))
        lost.push_back({epoch, 0});
    if (c_.etcd()) lost.clear();  // whatever happens to disks: etcd has what they have not
    if (const std::string problem = checkFences(of, lost); !problem.empty())
      return c_.failed("fences", id + ": " + problem);
    if (const std::string problem = lostDecision(operations, log, id); !problem.empty())
      return c_.failed("no-decision-lost", id + ": " + problem);
    if (const std::string problem = unreported(id, log); !problem.empty())
      return c_.failed("no-decision-lost", id + ": " + problem);
    if (const std::string problem = checkAnswers(operations, log.lines, lost); !problem.empty())
      return c_.failed("answers", id + ": " + problem);
    stampFromLog(operations, log);
    HistoryOptions options;
    options.pendingTtlMicros = c_.plan().options.cluster.pendingTtlSeconds * kSecond;
    options.maxStates = 200'000;
    options.lost = lost;
    const HistoryReport report = checkLinearizability(module, operations, options);
    if (report.verdict == HistoryVerdict::notLinearizable)
      return c_.failed("linearizability", id + ": " + report.reason);
    if (report.verdict == HistoryVerdict::undecided) c_.probe("linearizability undecided");
  }

  // Every copy's rows and checkpoints, and that all copies have the same root.
  std::string rowsSound(const kernel::DomainModule& module, const std::string& id) {
    const node::PartitionHost* first = nullptr;
    bool replayed = false;
    for (Seat* at : c_.members()) {
      const node::PartitionHost* host = at->replica().host(id);
      if (host == nullptr) continue;
      const std::string where = at->name() + " " + id;
      host->partition().checkInvariants();
      store::PrefixStore rows(at->device->disk(2), "p/" + id + "/");
      const bool replay = host->first() > 0 || !std::exchange(replayed, true);
      auto report = kernel::verifyLedger(rows, {replay ? &module : nullptr, std::nullopt});
      if (!report.ok()) return where + ": " + report.error().message;
      if (!report->ok()) return where + ": " + report->problem;
      if (first == nullptr) first = host;
      if (host->partition().size() != first->partition().size() ||
          host->partition().tree().root() != first->partition().tree().root())
        return concat(where, ": another log than elsewhere (", host->partition().size(), " entries, ",
                      first->partition().size(), " there)");
    }
    return {};
  }

  // The entries that devices took out of their logs and kept.
  std::vector<LedgerLine> keptAside(const std::string& id) {
    std::vector<LedgerLine> kept;
    for (auto& at : c_.seats()) {
      const Status scanned =
          at->device->disk(2).scan("x/" + id + "/", {}, [&](std::string_view, std::string_view value) {
            const std::string batch(value);
            auto log = readLog({&batch, 1});
            if (log.ok()) std::move(log->lines.begin(), log->lines.end(), std::back_inserter(kept));
            return true;
          });
      if (!scanned.ok()) c_.trace(at->index(), "check", "what was set aside is unreadable", scanned.error().message);
    }
    return kept;
  }

  // Entries that were taken out of a log were reported there, each tail with their number, so that people can look
  // after them; and none was taken out that stands there again in the end, where no disk was lost and one seizure made
  // that nobody else's epoch of its number has beaten. "" or what was not.
  std::string unreported(const std::string& id, const PartitionLog& atEnd) {
    for (auto& at : c_.seats()) {
      if (!at->running()) continue;
      struct Tail {
        std::string epoch;
        std::uint64_t entries = 0;
      };
      std::map<std::string, Tail, std::less<>> tails;
      std::string again;
      const std::string prefix = "x/" + id + "/";
      node::PartitionHost* host = at->replica().host(id);
      const Status scanned = at->device->disk(2).scan(prefix, {}, [&](std::string_view key, std::string_view value) {
        const std::string batch(value);
        const auto log = readLog({&batch, 1});
        if (!log.ok() || key.size() < prefix.size() + 17) return true;
        std::uint64_t number = 0;
        for (unsigned i = 0; i < 8; ++i) number = number << 8 | static_cast<unsigned char>(key[prefix.size() + i]);
        const std::string_view tail = key.substr(0, key.size() - 9);
        std::string_view owner = tail.substr(prefix.size() + 8);
        owner = owner.substr(0, owner.find('~'));  // then the number of the tail
        Tail& of = tails[std::string(tail)];
        of.epoch = concat("epoch ", number, " of ", owner);
        of.entries += log->lines.size();
        std::uint64_t place = 0;
        for (const char byte : key.substr(key.size() - 8)) place = place << 8 | static_cast<unsigned char>(byte);
        if (host != nullptr && place < host->ledger().batches())
          if (const auto standing = host->ledger().batch(place); standing.ok() && *standing == batch)
            again = concat(at->name(), " set aside batch ", place, " of ", of.epoch, ", which stands in its log");
        return true;
      });
      // A second seizure, or a handover by an owner that had not heard of the first, may bring back what that had
      // ended.
      std::uint64_t seizures = 0;
      for (const auto& one : c_.seats()) seizures += one->device->counters().seizures;
      if (!again.empty() && seizures < 2 && !wasBeaten(id, atEnd) && c_.history().losses().empty() && !c_.etcd())
        return again;
      const auto incidents = at->replica().data().incidents();
      if (!scanned.ok() || !incidents.ok()) continue;
      if (tails.size() > 1) c_.probe("surplus tail");
      for (const auto& [key, tail] : tails)
        if (tail.entries > 0 &&
            std::ranges::none_of(*incidents, [&, &of = tail](const replication::Incident& incident) {
              return incident.kind == "surplus" &&
                     incident.what.starts_with(concat(id, ": ", of.entries, " entries of ", of.epoch));
            }))
          return concat(at->name(), " set aside ", tail.entries, " entries of ", tail.epoch, " and reported nothing");
    }
    return {};
  }

  // Whether somebody else's epoch of the number that a seizure took stands in the log.
  bool wasBeaten(const std::string& id, const PartitionLog& log) {
    return std::ranges::any_of(log.epochs, [&](const kernel::EpochRecord& epoch) {
      const auto by = seized_[id].find(concat("epoch ", epoch.number));
      return by != seized_[id].end() && by->second != replication::deviceOf(epoch.owner);
    });
  }

  // What somebody was told is decided stands in the log, or was set aside and reported, or the only disk that need have
  // had it is gone.
  std::string lostDecision(const std::vector<Operation>& operations, const PartitionLog& log, const std::string& id) {
    std::vector<const Operation*> all;
    for (const Operation& operation : operations) all.push_back(&operation);
    std::vector<const Operation*> gone = toldAndGone(all, log.lines);
    if (!gone.empty()) gone = toldAndGone(gone, keptAside(id));
    for (const Operation* operation : gone) {
      if (!c_.etcd() && diskLostSince(c_.history().losses(), *operation)) {
        c_.probe("decision lost with its disk");
        continue;
      }
      return concat(nameOf(*operation), " was told of entry ", operation->answer.decision.seq, " in ",
                    nameOf(operation->answer.epoch), "; it is in no log, and nobody reported it as set aside");
    }
    return {};
  }

  // By partition, for each disk that went back: its name as an owner, and where it stood. From there on it may decide
  // again, and begin epochs again that it had begun before.
  std::map<std::string, std::vector<std::pair<std::string, LostRange>>> rolledBack_;
  std::map<std::string, std::map<std::string, std::string>> seized_;  // by partition: which epoch, by which device
};

}  // namespace

std::unique_ptr<Checker> makeLedgerChecker(Cluster& cluster) { return std::make_unique<LedgerChecker>(cluster); }

}  // namespace witan::sim

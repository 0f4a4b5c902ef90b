#include "tests/long/judge.h"

#include <algorithm>
#include <set>

#include "base/seams.h"
#include "domains/registry.h"
#include "node/data_dir/node_dir.h"
#include "sim/check/answers.h"
#include "sim/check/ledger_rules.h"
#include "sim/check/linearizability.h"

namespace witan::node::test {

using sim::LedgerLine;
using sim::Operation;
using sim::PartitionLog;

namespace {

Result<PartitionLog> logOf(PartitionHost& host) {
  std::vector<std::string> batches;
  for (std::uint64_t n = 0; n < host.ledger().batches(); ++n) {
    WITAN_TRY(batch, host.ledger().batch(n));
    batches.push_back(std::move(batch));
  }
  return sim::readLog(batches);
}

std::string copiesDiffer(const PartitionStory& story) {
  const PartitionLog& first = story.logs.front();
  for (std::size_t i = 1; i < story.logs.size(); ++i) {
    const PartitionLog& log = story.logs[i];
    const std::string where = story.nodes[i] + " and " + story.nodes[0] + ": ";
    if (log.lines.size() != first.lines.size())
      return where + std::to_string(log.lines.size()) + " entries and " + std::to_string(first.lines.size());
    for (std::size_t n = 0; n < log.lines.size(); ++n)
      if (log.lines[n].leaf != first.lines[n].leaf) return where + "entry " + std::to_string(n + 1) + " differs";
    if (log.beginnings != first.beginnings) return where + "other beginnings";
  }
  return {};
}

std::string notEverywhere(const PartitionStory& story) {
  for (std::size_t i = 0; i < story.logs.size(); ++i) {
    std::map<std::uint64_t, std::string_view> ids;
    for (const LedgerLine& line : story.logs[i].lines) ids[line.entry.seq] = line.entry.operationId;
    for (const Operation& operation : story.operations) {
      const std::uint64_t seq = operation.returned ? operation.answer.decision.seq : 0;
      if (seq == 0) continue;
      const auto at = ids.find(seq);
      if (at == ids.end() || at->second != operation.operationId)
        return nameOf(operation) + " was told of entry " + std::to_string(seq) + ", which " + story.nodes[i] +
               " does not have";
    }
  }
  return {};
}

std::string notLinearizable(const kernel::DomainModule& module, const PartitionStory& story) {
  std::vector<Operation> operations = story.operations;
  stampFromLog(operations, story.logs.front());
  const sim::HistoryReport report = checkLinearizability(module, operations, {});
  return report.verdict == sim::HistoryVerdict::linearizable ? "" : report.reason;
}

std::string fencesBroken(const PartitionStory& story) {
  std::vector<sim::DeviceLog> logs;
  for (std::size_t i = 0; i < story.logs.size(); ++i) logs.push_back({story.nodes[i], &story.logs[i]});
  return sim::checkFences(logs);
}

}  // namespace

Result<Stories> readLogs(const std::vector<std::string>& dirs, unsigned partitions, const Book& book) {
  Stories stories;
  const Time wall = SystemClock().now();
  for (const std::string& dir : dirs) {
    NodeSetup setup;
    setup.partitions = partitions;
    WITAN_TRY(node, NodeDir::open(dir, std::move(setup), {wall, wall.micros / 1000}));
    for (const auto& [id, host] : node->replica().hosts()) {
      WITAN_TRY(log, logOf(*host));
      PartitionStory& story = stories[id];
      story.domain = host->module().signature().domain;
      story.nodes.push_back(dir.substr(dir.rfind('/') + 1));
      story.logs.push_back(std::move(log));
    }
    WITAN_DO(node->close({wall, wall.micros / 1000}));
  }
  for (const auto& [domain, operations] : book.operations())
    for (const Operation& operation : operations)
      stories[partitionOf(domain, operation.entity, partitions)].operations.push_back(operation);
  std::erase_if(stories, [](const auto& item) {
    const PartitionStory& story = item.second;
    return story.operations.empty() &&
           std::all_of(story.logs.begin(), story.logs.end(), [](const PartitionLog& log) { return log.lines.empty(); });
  });
  return stories;
}

std::vector<Objection> judge(const PartitionStory& story) {
  const auto module = domains::makeDomain(story.domain).value();
  const PartitionLog& log = story.logs.front();
  std::vector<Objection> objections;
  const auto hear = [&](const char* checker, std::string what) {
    if (!what.empty()) objections.push_back({checker, std::move(what)});
  };
  hear("copies", copiesDiffer(story));
  hear("acknowledged", notEverywhere(story));
  hear("ledger-rules", sim::checkLedger(*module, log.lines));
  hear("fences", fencesBroken(story));
  hear("answers", sim::checkAnswers(story.operations, log.lines));
  hear("linearizability", notLinearizable(*module, story));
  return objections;
}

// --- the judge is judged

namespace {

struct Tampering {
  const char* name;
  std::vector<const char*> noticedBy;  // at least
  void (*change)(PartitionStory&);
};

Operation& someTold(PartitionStory& story, kernel::Outcome outcome) {
  for (Operation& operation : story.operations)
    if (operation.returned && operation.answer.decision.outcome == outcome) return operation;
  WITAN_CHECK(false, "a story with an act that was answered " + std::string(enumName(outcome)));
}
LedgerLine& lineOf(PartitionStory& story, std::size_t node, std::uint64_t seq) {
  return story.logs[node].lines[seq - 1];
}

void forgetOnOneNode(PartitionStory& story) { story.logs.back().lines.pop_back(); }
void forgetEverywhere(PartitionStory& story) {
  const std::uint64_t seq = someTold(story, kernel::Outcome::approved).answer.decision.seq;
  for (PartitionLog& log : story.logs) {
    log.lines.erase(log.lines.begin() + static_cast<std::ptrdiff_t>(seq - 1));
    for (std::size_t n = seq - 1; n < log.lines.size(); ++n) --log.lines[n].entry.seq;
  }
}
void decideTwice(PartitionStory& story) {
  for (PartitionLog& log : story.logs) {
    log.lines.push_back(log.lines.front());
    log.lines.back().entry.seq = log.lines.size();
  }
}
void answerOtherwise(PartitionStory& story) {
  kernel::Decision& told = someTold(story, kernel::Outcome::approved).answer.decision;
  told.outcome = kernel::Outcome::rejected;
  told.invariant = "BUDGET_CAP";
}
void decideOtherwise(PartitionStory& story) {
  const std::uint64_t seq = someTold(story, kernel::Outcome::rejected).answer.decision.seq;
  for (std::size_t node = 0; node < story.logs.size(); ++node) {
    kernel::Entry& entry = lineOf(story, node, seq).entry;
    entry.tag = kernel::Tag::approved;
    entry.invariant.clear();
    entry.message.clear();
  }
}
void answerWithoutDeciding(PartitionStory& story) {
  Operation made = someTold(story, kernel::Outcome::approved);
  made.operationId = "nobody-asked";
  made.answer.decision.seq = story.logs.front().lines.size() + 1;
  story.operations.push_back(made);
}
// What was asked last changes places in time with what was asked first.
void reorder(PartitionStory& story) {
  Operation *first = nullptr, *last = nullptr;
  for (Operation& operation : story.operations) {
    if (!operation.returned || operation.answer.decision.seq == 0) continue;
    if (operation.answer.decision.outcome == kernel::Outcome::duplicate) continue;
    if (first == nullptr || *operation.returned < *first->returned) first = &operation;
    if (last == nullptr || operation.invoked > last->invoked) last = &operation;
  }
  WITAN_CHECK(first != last && *first->returned < last->invoked, "two acts, one after the other");
  std::swap(first->invoked, last->invoked);
  std::swap(first->returned, last->returned);
}
void freezeWithoutCause(PartitionStory& story) {
  Operation made = someTold(story, kernel::Outcome::approved);
  made.operationId = "frozen-out";
  made.answer.decision = {.outcome = kernel::Outcome::frozen};
  story.operations.push_back(made);
}
// An epoch that two copies have: the last one may still be known to its owner alone.
void anotherOwner(PartitionStory& story) {
  const auto& others = story.logs.front().epochs;
  auto& epochs = story.logs.back().epochs;
  const auto shared = std::find_if(epochs.rbegin(), epochs.rend(), [&](const kernel::EpochRecord& epoch) {
    return std::any_of(others.begin(), others.end(), [&](const auto& other) { return other.number == epoch.number; });
  });
  WITAN_CHECK(shared != epochs.rend(), "an epoch in the logs of two nodes");
  shared->owner = "stranger@00000000";
}

const Tampering kTamperings[] = {
    {"an entry is missing on one node", {"copies", "acknowledged"}, forgetOnOneNode},
    {"a decision is missing everywhere", {"acknowledged", "answers"}, forgetEverywhere},
    {"an operation was decided twice", {"ledger-rules", "answers"}, decideTwice},
    {"a client was told otherwise than it is", {"answers", "linearizability"}, answerOtherwise},
    {"a rejected proposal counts as approved", {"ledger-rules", "answers"}, decideOtherwise},
    {"a client was told of what was never decided", {"acknowledged", "answers"}, answerWithoutDeciding},
    {"what came last was decided first", {"answers", "linearizability"}, reorder},
    {"frozen, while nothing was pending", {"answers", "linearizability"}, freezeWithoutCause},
    {"two owners of one epoch", {"fences"}, anotherOwner},
};

}  // namespace

bool canBeTamperedWith(const PartitionStory& story) {
  const auto has = [&](kernel::Outcome outcome) {
    return std::any_of(story.operations.begin(), story.operations.end(), [&](const Operation& operation) {
      return operation.returned && operation.answer.decision.outcome == outcome;
    });
  };
  return has(kernel::Outcome::approved) && has(kernel::Outcome::rejected);
}

TamperReport tamper(const PartitionStory& story) {
  TamperReport report;
  for (const Tampering& tampering : kTamperings) {
    ++report.tried;
    PartitionStory changed = story;
    tampering.change(changed);
    std::set<std::string> heard;
    for (const Objection& objection : judge(changed)) heard.insert(objection.checker);
    for (const char* checker : tampering.noticedBy)
      if (!heard.contains(checker))
        report.unnoticed.push_back(std::string(tampering.name) + ": not noticed by " + checker);
  }
  return report;
}

}  // namespace witan::node::test

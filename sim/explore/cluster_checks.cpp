// What must hold in every state of a cluster, and what when everything has been told to everybody.
#include <algorithm>
#include <set>

#include "base/json.h"
#include "sim/check/ledger_rules.h"
#include "sim/explore/cluster_model.h"

namespace witan::sim {

namespace {

constexpr int kRounds = 12;  // of telling everything, with time going on in between
constexpr std::uint32_t kRoundMs = 30'000;

std::string dotName(const replication::Dot& dot) { return dot.host.substr(0, 1) + ":" + std::to_string(dot.counter); }

std::vector<std::string> split(const std::string& text, char at) {
  std::vector<std::string> parts;
  std::size_t from = 0;
  for (std::size_t end; (end = text.find(at, from)) != std::string::npos; from = end + 1)
    parts.push_back(text.substr(from, end - from));
  return parts;
}

}  // namespace

// --- promises: "w host counter removal (host counter)*\n" and "a text\n" for each, in their order

ClusterModel::Promises ClusterModel::promisesOf(std::uint32_t number) const {
  Promises promises;
  for (const std::string& line : split(promises_.text(number), '\n')) {
    if (line[0] == 'a') {
      promises.answers.push_back(line.substr(1));
      continue;
    }
    const std::vector<std::string> words = split(line.substr(1), ' ');
    Written written{{words[0], std::stoull(words[1])}, words[2] == "1", {}};
    for (std::size_t n = 3; n + 1 < words.size(); n += 2) written.context.set(words[n], std::stoull(words[n + 1]));
    promises.writes.push_back(std::move(written));
  }
  return promises;
}

std::uint32_t ClusterModel::numberOf(const Promises& promises) {
  std::string text;
  for (const Written& written : promises.writes) {
    text += "w" + written.dot.host + " " + std::to_string(written.dot.counter) + " " + (written.removal ? "1 " : "0 ");
    for (const auto& [host, counter] : written.context.entries()) text += host + " " + std::to_string(counter) + " ";
    text += "\n";
  }
  for (const std::string& answer : promises.answers) text += "a" + answer + "\n";
  return promises_(text);
}

void ClusterModel::promiseWrite(Cluster& cluster, std::uint32_t, const replication::Dot& dot, bool removal,
                                const Observed& before) {
  Promises promises = promisesOf(cluster.promises);
  Written written{dot, removal, {}};
  for (const Written& other : promises.writes) {
    if (other.dot == dot) cluster.broken = problems_("the dot " + dotName(dot) + " is given twice");
    if (std::find(before.held.begin(), before.held.end(), other.dot) != before.held.end())
      written.context.join(other.context);
  }
  written.context.raise(dot.host, dot.counter);
  promises.writes.push_back(std::move(written));
  std::sort(promises.writes.begin(), promises.writes.end(), [](const auto& a, const auto& b) { return a.dot < b.dot; });
  cluster.promises = numberOf(promises);
}

void ClusterModel::promiseAnswer(Cluster& cluster, const std::string& answer) {
  Promises promises = promisesOf(cluster.promises);
  if (std::find(promises.answers.begin(), promises.answers.end(), answer) != promises.answers.end()) return;
  promises.answers.push_back(answer);
  std::sort(promises.answers.begin(), promises.answers.end());
  cluster.promises = numberOf(promises);
}

// --- every state

std::string ClusterModel::problem(const Explored& state) {
  const Cluster cluster = parse(state, bounds_);
  if (std::string problem = problemOf(cluster); !problem.empty()) return problem;
  return atRest(cluster) ? endingProblem(cluster) : "";
}

std::string ClusterModel::problemOf(const Cluster& cluster) {
  if (cluster.broken != 0) return problems_.text(cluster.broken);
  for (std::uint32_t i = 0; i < bounds_.devices; ++i) {
    const Observed& seen = table_.observed(cluster.local[i]);
    const std::string who = DeviceTable::nameOf(i) + ": ";
    if (!seen.problem.empty()) return who + seen.problem;
    for (const std::string& incident : seen.incidents)
      if (!incident.starts_with("surplus")) return who + incident;
  }
  return bounds_.ledgers ? logProblem(cluster) : replicationProblem(cluster, promisesOf(cluster.promises));
}

// The promise of the vector (replication/space.h), against contexts that are never shortened; equal vectors, equal
// contents.
std::string ClusterModel::replicationProblem(const Cluster& cluster, const Promises& promises) {
  for (std::uint32_t i = 0; i < bounds_.devices; ++i) {
    const Observed& seen = table_.observed(cluster.local[i]);
    const auto holds = [&](const Written& w) {
      return std::find(seen.held.begin(), seen.held.end(), w.dot) != seen.held.end();
    };
    for (const Written& w : promises.writes) {
      const Written* later = nullptr;
      for (const Written& other : promises.writes)
        if (other.dot != w.dot && other.context.covers(w.dot) && holds(other)) later = &other;
      const std::string what = DeviceTable::nameOf(i) + ": " + dotName(w.dot);
      if (later != nullptr && holds(w))
        return what + " is held beside " + dotName(later->dot) + ", which supersedes it";
      if (later == nullptr && !holds(w) && seen.clock.covers(w.dot)) return what + " is covered, and is lost";
    }
    for (std::uint32_t k = 0; k < i; ++k) {
      const Observed& other = table_.observed(cluster.local[k]);
      if (seen.settled && other.settled && seen.clock == other.clock && seen.digest != other.digest)
        return DeviceTable::nameOf(k) + " and " + DeviceTable::nameOf(i) +
               " have equal vectors and hold different things";
    }
  }
  return {};
}

// No epoch has two histories: logs are equal as far as their epochs are.
std::string ClusterModel::logProblem(const Cluster& cluster) {
  for (std::uint32_t i = 0; i < bounds_.devices; ++i) {
    const Observed& seen = table_.observed(cluster.local[i]);
    const std::string who = DeviceTable::nameOf(i);
    if (seen.owns && seen.lineage.last().owner.substr(0, 1) != who)
      return who + " decides in an epoch that is not its own";
    std::uint64_t number = 0;
    for (const node::EpochMark& mark : seen.lineage.epochs) {
      if (mark.number <= number) return who + " has an epoch " + std::to_string(mark.number) + " out of order";
      number = mark.number;
    }
    for (std::uint32_t k = 0; k < i; ++k) {
      const Observed& other = table_.observed(cluster.local[k]);
      const std::uint64_t common = node::commonBatches(seen.lineage, other.lineage);
      for (std::uint64_t n = 0; n < common; ++n)
        if (seen.batches[n] != other.batches[n])
          return DeviceTable::nameOf(k) + " and " + who + " hold different batches " + std::to_string(n) +
                 " of one epoch";
      if (seen.owns && other.owns && seen.lineage.last() == other.lineage.last())
        return DeviceTable::nameOf(k) + " and " + who + " both decide in one epoch";
    }
  }
  return {};
}

// --- the ending

bool ClusterModel::atRest(const Cluster& cluster) const {
  for (const Line& line : cluster.lines)
    if (!line.towards[0].empty() || !line.towards[1].empty() || (!line.alive && (line.up[0] || line.up[1])))
      return false;
  return true;
}

std::string ClusterModel::endingProblem(const Cluster& from) {
  Cluster cluster = from;
  for (std::uint32_t b = 1; b < bounds_.devices; ++b)
    for (std::uint32_t a = 0; a < b; ++a)
      if (!line(cluster, a, b).alive) connect(cluster, a, b);
  std::string problem;
  for (int round = 0; round < kRounds; ++round) {
    settle(cluster);
    if (problem = problemOf(cluster); !problem.empty()) break;
    if (problem = disagreement(cluster); problem.empty()) return {};
    for (std::uint32_t i = 0; i < bounds_.devices; ++i)
      happen(cluster, i, {Happening::Kind::tick, 0, 255, kRoundMs, 0});
  }
  return "when all is told to everybody: " + problem + "\n" + describe(numbers(cluster));
}

std::string ClusterModel::disagreement(const Cluster& cluster) {
  const Promises promises = promisesOf(cluster.promises);
  if (bounds_.ledgers) return ledgerDisagreement(cluster, promises);
  replication::VectorClock everything;
  for (const Written& written : promises.writes) everything.raise(written.dot.host, written.dot.counter);
  for (std::uint32_t i = 0; i < bounds_.devices; ++i) {
    const Observed& seen = table_.observed(cluster.local[i]);
    if (!(seen.clock == everything)) return DeviceTable::nameOf(i) + " did not hear of everything";
    if (!promises.writes.empty() && seen.digest != table_.observed(cluster.local[0]).digest)
      return DeviceTable::nameOf(i) + " holds something else than a";
  }
  return {};
}

// One owner; equal logs that keep the rules; nobody waits; and every answer is in the log, or is kept aside and
// reported.
std::string ClusterModel::ledgerDisagreement(const Cluster& cluster, const Promises& promises) {
  std::size_t owners = 0;
  std::vector<PartitionLog> logs;
  std::set<std::string> kept;
  const auto answersOf = [](const PartitionLog& log, std::set<std::string>& out) {
    for (const LedgerLine& line : log.lines)
      out.insert(line.entry.operationId + " " + std::string(enumName(line.entry.tag)) + " " +
                 std::to_string(line.entry.seq));
  };
  const auto logOf = [&](const std::vector<std::uint32_t>& batches) {
    std::vector<std::string> values;
    for (const std::uint32_t n : batches) values.push_back(table_.text(n));
    return readLog(values);
  };
  for (std::uint32_t i = 0; i < bounds_.devices; ++i) {
    const Observed& seen = table_.observed(cluster.local[i]);
    const std::string who = DeviceTable::nameOf(i);
    owners += seen.owns ? 1 : 0;
    if (!seen.waiting.empty()) return who + " still waits for an answer to " + seen.waiting.front();
    if (seen.batches != table_.observed(cluster.local[0]).batches) return who + " has another log than a";
    auto aside = logOf(seen.aside);
    if (!aside.ok()) return who + ", set aside: " + aside.error().message;
    if (!aside->lines.empty() && !seen.reported) return who + " has set entries aside and reports nothing";
    answersOf(*aside, kept);
  }
  if (owners != 1) return "the partition has " + std::to_string(owners) + " owners";
  auto log = logOf(table_.observed(cluster.local[0]).batches);
  if (!log.ok()) return log.error().message;
  if (std::string broken = checkLedger(table_.module(), log->lines); !broken.empty()) return broken;
  answersOf(*log, kept);
  for (const std::string& answer : promises.answers)
    if (!answer.starts_with("init ") && !kept.contains(answer))
      return "the answer \"" + answer + "\" was given, and is neither in the log nor set aside";
  return {};
}

}  // namespace witan::sim

// Devices with agents, for tests: what node/ does every round, by hand.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "agents/wake/wake_center.h"
#include "agents/wake/wake_checks.h"
#include "agents/wake/wake_job.h"
#include "replication/records/journal_entity.h"
#include "tests/replication/cluster.h"

namespace witan::agents::test {

using replication::DatabaseName;
using replication::Dot;
using replication::WakeReason;
using replication::WakeStatus;
using replication::test::Device;

inline constexpr std::int64_t kWall = 1'700'000'000'000;

// Both clocks run together.
inline Now at(std::int64_t ms) { return {{(kWall + ms) * 1000}, ms}; }
inline Now at(std::int64_t ms, std::int64_t wallMs) { return {{wallMs * 1000}, ms}; }

inline NotificationToken typeToken(std::string type) {
  return {TokenClass::subtypeToken, std::string(replication::kJournalNamespace), std::move(type)};
}

// Woken by every entry of a type.
inline AgentSpec agentFor(std::string id, std::string type) {
  AgentSpec spec;
  spec.id = std::move(id);
  spec.version = "1";
  spec.subscriptions.push_back({"entries", "", {{typeToken(std::move(type))}, {}}, {}, false});
  return spec;
}

// With one timer, and woken by nothing else.
inline AgentSpec timed(std::int64_t everyMs) {
  AgentSpec spec = agentFor("timed", "never");
  spec.timers.push_back({"tick", everyMs});
  return spec;
}

class Host {
 public:
  Host(std::string name, std::vector<const AgentSpec*> specs, WakeOptions options = {})
      : device_(std::move(name)), specs_(std::move(specs)), options_(std::move(options)) {
    open(at(0));
  }

  void open(Now now) {
    center_ = std::make_unique<WakeCenter>(device_.replica(), options_);
    const Status loaded = center_->load(now);
    ASSERT_TRUE(loaded.ok()) << loaded.error().message;
    for (const AgentSpec* spec : specs_) {
      const Status added = center_->add(*spec);
      ASSERT_TRUE(added.ok()) << added.error().message;
    }
    center_->setDevices(members_, live_, now);
  }
  void crash(Now now) {
    center_.reset();
    running_.clear();
    device_.crash();
    open(now);
  }
  // Its disks are new, and empty.
  void wipe(Now now) {
    center_.reset();
    running_.clear();
    device_.lose();
    device_.journalStore().wipe();
    device_.agentStore().wipe();
    device_.open();
    open(now);
  }
  // Its disks as they are, and as they were: it goes on from there, and nothing tells it so.
  using Disks = std::pair<std::shared_ptr<const store::DiskImage>, std::shared_ptr<const store::DiskImage>>;
  Disks disks() { return {device_.journalStore().image(), device_.agentStore().image()}; }
  void goBack(const Disks& to, Now now) {
    center_.reset();
    running_.clear();
    device_.lose();
    device_.journalStore().restoreImage(*to.first);
    device_.agentStore().restoreImage(*to.second);
    device_.open();
    open(now);
  }
  void sees(std::vector<std::string> members, std::set<std::string> live, Now now) {
    members_ = std::move(members);
    live_ = std::move(live);
    center_->setDevices(members_, live_, now);
  }

  // One round of the loop. What was started is durable when this returns true; false: a store has failed.
  bool round(Now now) {
    if (!center_->takeEvents(now).ok() || !center_->tick(now).ok()) return false;
    auto started = center_->takeRunnable(now);
    if (!started.ok() || !device_.replica().flush().ok()) return false;
    center_->durable();
    for (WakeJob& job : *started) {
      ++starts_[job.key()];
      running_.emplace(job.key(), std::move(job));
    }
    return true;
  }
  // Ends all that runs here. What it changed is durable when this returns true.
  bool endAll(Now now, WakeStatus status = WakeStatus::completed) {
    for (const auto& [key, job] : running_)
      if (!center_->ended(key, status, "", now).ok()) return false;
    running_.clear();
    return device_.replica().flush().ok();
  }
  // Rounds until nothing is started any more.
  bool settle(Now now) {
    for (int i = 0; i < 10'000; ++i) {
      if (!round(now)) return false;
      if (running_.empty()) return true;
      if (!endAll(now)) return false;
    }
    return false;
  }

  // A person's edit, or a run's with `more`. Durable when this returns true.
  bool tryEdit(const std::string& id, const std::string& type, std::vector<NotificationToken> more = {}) {
    replication::Space& space = device_.journal();
    const auto view = replication::journalViewIn(space, id);
    if (!view.ok()) return false;
    auto body = replication::journalEdit(*view, {type, "{}", "person", 0, {}});
    const replication::JournalChange change{id, *body, type};
    auto writes = replication::journalWrites(space, {&change, 1}, {}, more);
    return device_.replica().commit(DatabaseName::journal, "main", *writes).ok() && device_.replica().flush().ok();
  }
  void edit(const std::string& id, const std::string& type, std::vector<NotificationToken> more = {}) {
    ASSERT_TRUE(tryEdit(id, type, std::move(more)));
  }
  template <class Change>
  void state(const std::string& agent, Change change) {
    device_.write(agent, [&](replication::AgentState& s, const std::string&) { change(s); });
    device_.flush();
  }

  // What ran here does not any more; the test has seen to it.
  void forgetRunning() { running_.clear(); }
  std::vector<WakeJob> running() const {
    std::vector<WakeJob> out;
    for (const auto& [key, job] : running_) out.push_back(job);
    return out;
  }
  std::vector<KnownRun> runs() { return *knownRuns(device_.agents()); }
  std::vector<WakeStatus> statuses() {
    std::vector<WakeStatus> out;
    for (const KnownRun& run : runs()) out.push_back(run.view.run->body.status);
    return out;
  }
  std::size_t starts() const {
    std::size_t n = 0;
    for (const auto& [key, count] : starts_) n += count;
    return n;
  }
  const std::map<RunKey, std::size_t>& startsByRun() const { return starts_; }

  Device& device() { return device_; }
  WakeCenter& center() { return *center_; }
  const std::string& name() const { return device_.name(); }

 private:
  Device device_;
  std::vector<const AgentSpec*> specs_;
  WakeOptions options_;
  std::vector<std::string> members_;
  std::set<std::string> live_;
  std::unique_ptr<WakeCenter> center_;
  std::map<RunKey, WakeJob> running_;
  std::map<RunKey, std::size_t> starts_;
};

// Invariant 4: the run key of every run by subscription follows from a batch's logical change key and the parts of the
// run's record. `batches`: those of all spaces.
inline Findings runsOfNoChange(std::span<const KnownRun> runs,
                               std::span<const replication::NotificationBatch> batches) {
  std::set<LogicalChangeKey> changes;
  for (const auto& batch : batches)
    if (const auto key = logicalChangeKey(batch.changeUnitKeys); key.ok()) changes.insert(*key);
  Findings out;
  for (const KnownRun& run : runs) {
    if (!run.view.run || run.view.run->body.reason != replication::WakeReason::subscription) continue;
    const auto& body = run.view.run->body;
    const bool known = std::any_of(changes.begin(), changes.end(), [&](const LogicalChangeKey& change) {
      const auto key = subscriptionRunKey(body.agentId, body.subject, change);
      return key.ok() && *key == run.key;
    });
    if (!known) out.push_back("run " + run.key.hex() + " of " + body.agentId + " follows from no change that is known");
  }
  return out;
}

// No run begins on a device that knows of its end (seed 003, 6.1).
class RunWatch {
 public:
  // The device has flushed: it knows the contents of its log.
  Status observe(std::string_view device, replication::Space& runs) {
    WITAN_TRY(known, knownRuns(runs));
    for (const KnownRun& run : known)
      if (run.view.run && replication::isTerminal(run.view.run->body.status)) ended_.emplace(device, run.key);
    return okStatus();
  }
  // A run was handed out to be executed.
  void started(std::string_view device, const RunKey& key) {
    ++starts_[key];
    if (ended_.contains({std::string(device), key}))
      findings_.push_back("device " + std::string(device) + " starts run " + key.hex().substr(0, 12) +
                          " although it knows of its end");
  }
  const Findings& findings() const { return findings_; }
  // The number of starts of the run, on all devices.
  std::size_t starts(const RunKey& key) const {
    const auto found = starts_.find(key);
    return found == starts_.end() ? 0 : found->second;
  }

 private:
  std::set<std::pair<std::string, RunKey>> ended_;
  std::map<RunKey, std::size_t> starts_;
  Findings findings_;
};

// Everything said here under seed 003, section 10, invariants 3 to 5, at a device that has come to rest.
inline Findings checkAtRest(Host& host, const std::vector<const AgentSpec*>& specs) {
  Findings all = *wakesWithoutEnd(host.device().replica(), "main", specs);
  const auto runs = host.runs();
  std::vector<replication::NotificationBatch> batches = *batchesOf(host.device().journal());
  for (Findings more : {runsWithoutEnd(runs), runsOfNoChange(runs, batches), untypedTokens(batches)})
    all.insert(all.end(), more.begin(), more.end());
  return all;
}

// They meet, exchange everything and know it.
inline void meet(Host& a, Host& b, Now now) {
  const std::vector<std::string> members{a.name(), b.name()};
  replication::test::sync(a.device(), b.device());
  a.sees(members, {b.name()}, now);
  b.sees(members, {a.name()}, now);
}
inline void part(Host& a, Host& b, Now now) {
  const std::vector<std::string> members{a.name(), b.name()};
  a.sees(members, {}, now);
  b.sees(members, {}, now);
}

}  // namespace witan::agents::test

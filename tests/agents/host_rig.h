// An AgentHost on a device whose disks can fail, with a meta-agent and tools that the test plays.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "agents/entry_agent.h"
#include "agents/episode/gate.h"
#include "agents/host/agent_host.h"
#include "replication/records/journal_entity.h"
#include "replication/records/record_views.h"
#include "tests/replication/cluster.h"

namespace witan::agents::test {

using namespace replication;

class HostRig {
 public:
  explicit HostRig(std::string name, std::vector<const Agent*> with)
      : agents(std::move(with)), device_(std::move(name)) {
    options.wake.graceMs = 1'000;
    options.saga.maxAttempts = 3;
  }

  std::vector<const Agent*> agents;  // of the next start
  // Answers of tools; the default applies everything.
  std::function<Result<saga::Outcome>(const ToolCall&)> tool = [](const ToolCall&) { return saga::Outcome{}; };
  std::function<episode::Observation(const ToolCall&)> looker;
  std::function<saga::Outcome(const ProposalCall&)> metaAgent = [](const ProposalCall&) { return saga::Outcome{}; };
  std::vector<ToolCall> calls;
  std::vector<ProposalCall> proposals;
  std::vector<HostNotice> notices;
  const episode::Gate* gate = nullptr;
  bool mute = false;  // tools never answer
  HostOptions options;
  std::int64_t ms = 1'774'252'800'000;
  std::int64_t aheadMs = 0;  // the wall clock, of the steady one

  replication::test::Device& device() { return device_; }
  AgentHost& host() { return *host_; }
  Now now() const { return {Time{(ms + aheadMs) * 1000}, ms}; }

  Status open() {
    host_ = std::make_unique<AgentHost>(device_.replica(), gate != nullptr ? *gate : local_, options);
    return host_->load(agents, now());
  }
  // The power goes; disks come back with what `keep` of the un-synced batches survived.
  void crash(std::size_t keep = 0) {
    host_.reset();
    device_.lose();
    device_.journalStore().crash({.keepUnsynced = keep, .tearLastValue = {}});
    device_.agentStore().crash({.keepUnsynced = keep, .tearLastValue = {}});
    device_.open();
  }

  // Its disks are new, and empty.
  void wipe() {
    host_.reset();
    device_.lose();
    device_.journalStore().wipe();
    device_.agentStore().wipe();
    device_.open();
  }

  // One round as Replica::drain() has it.
  Status round() {
    HostEffects out;
    WITAN_DO(host_->work(now()));
    WITAN_DO(device_.replica().database(DatabaseName::journal).flush());
    host_->journalDurable(now());
    WITAN_DO(device_.replica().database(DatabaseName::agents).flush());
    WITAN_DO(host_->agentsDurable(now(), out));
    for (const ProposalCall& call : out.proposals) {
      proposals.push_back(call);
      host_->answered(call.operation, metaAgent(call), now());
    }
    for (const ToolCall& call : out.calls) WITAN_DO(answer(call));
    for (HostNotice& notice : out.notices) notices.push_back(std::move(notice));
    return okStatus();
  }
  // Until nothing is left to do; time passes as needed. Errors: a store's.
  Status settle(std::int64_t withinMs = 3'600'000) {
    const std::int64_t until = ms + withinMs;
    for (;;) {
      WITAN_DO(round());
      if (host_->quiet()) return okStatus();
      const auto next = host_->nextMs(now());
      if (!next || *next > until) return okStatus();
      ms = std::max(ms, *next);
    }
  }

  // A person edits the journal.
  Status enter(const std::string& id, const std::string& type, const std::string& payload) {
    Space& space = device_.journal();
    WITAN_TRY(view, journalViewIn(space, id));
    WITAN_TRY(body, journalEdit(view, {type, payload, "ann", ms, std::nullopt}));
    const std::array change{JournalChange{id, std::move(body), "", ChangeOrigin::local}};
    WITAN_TRY(writes, journalWrites(space, change));
    auto dot = device_.replica().commit(DatabaseName::journal, "main", writes);
    return dot.ok() ? device_.replica().flush() : Status(dot.error());
  }

  std::string shown(const std::string& id) {
    auto view = journalViewIn(device_.journal(), id);
    return view.ok() && view->shown ? view->siblings[*view->shown].body->payload : "";
  }
  // How many records each operation has in a database.
  std::map<std::string, std::size_t> effects(DatabaseName database) {
    Space& space = database == DatabaseName::journal ? device_.journal() : device_.agents();
    std::map<std::string, std::size_t> counts;
    for (const std::string& key : space.keys(Kind::operation))
      counts[key] = space.versions(Kind::operation, key)->size();
    return counts;
  }
  std::map<std::string, WakeStatus> runs() {
    std::map<std::string, WakeStatus> ends;
    for (const std::string& key : device_.agents().keys(Kind::wakeRun)) {
      const WakeRunView view = wakeRunViewOf(*RunKey::parse(key), *device_.agents().versions(Kind::wakeRun, key));
      if (view.run) ends[key] = view.run->body.status;
    }
    return ends;
  }

 private:
  Status answer(const ToolCall& call) {
    calls.push_back(call);
    if (mute) return okStatus();
    if (!call.operation) return host_->observed(call.run, call.span, looker(call));
    auto outcome = tool(call);
    if (outcome.ok())
      host_->answered(*call.operation, *outcome, now());
    else
      host_->failed(*call.operation, outcome.error(), now());
    return okStatus();
  }

  replication::test::Device device_;
  episode::LocalGate local_;
  std::unique_ptr<AgentHost> host_;
};

}  // namespace witan::agents::test

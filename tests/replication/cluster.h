// Devices in one process, for tests: each with two stores in memory whose disks can fail, joined by sessions whose
// frames the test carries, cuts, repeats or loses.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "base/seams.h"
#include "replication/local_replica.h"
#include "replication/records/agent_state.h"
#include "replication/records/agent_view.h"
#include "replication/records/record_schemas.h"
#include "replication/records/records.h"
#include "replication/sync_session.h"
#include "store/memory_store.h"

namespace witan::replication::test {

// The frames in a string of them.
inline std::vector<std::string> framesOf(std::string_view bytes) {
  std::vector<std::string> frames;
  while (!bytes.empty()) {
    auto header = readFrameHeader(bytes, kMaxFrameBytes);
    WITAN_CHECK(header.ok(), "our own frames are well formed");
    const std::size_t size = kFrameHeaderBytes + header->length;
    frames.emplace_back(bytes.substr(0, size));
    bytes.remove_prefix(size);
  }
  return frames;
}

class Device {
 public:
  explicit Device(std::string name, std::uint32_t firstTag = 1) : name_(std::move(name)), nextTag_(firstTag) { open(); }

  void open(bool trustStore = true) {
    replica_.reset();
    ReplicaOptions options;
    options.cluster = "test";
    options.clusterKey = "key";
    options.device = name_;
    options.trustStore = trustStore;
    options.freshTag = [this] { return nextTag_++; };
    auto opened = LocalReplica::open(*journal_, *agents_, recordSchemas(), std::move(options));
    ASSERT_TRUE(opened.ok()) << opened.error().message;
    replica_ = *std::move(opened);
    flush();
  }
  // What was in memory is gone.
  void lose() { replica_.reset(); }
  // The power goes: what was not synced is lost, what was in memory too.
  void crash() {
    replica_.reset();
    journal_->crash();
    agents_->crash();
    open();
  }

  LocalReplica& replica() { return *replica_; }
  store::MemoryStore& journalStore() { return *journal_; }
  store::MemoryStore& agentStore() { return *agents_; }
  const std::string& name() const { return name_; }
  void flush() { ASSERT_TRUE(replica_->flush().ok()); }

  Space& agents(std::string_view scope = "main") { return **replica_->database(DatabaseName::agents).space(scope); }
  Space& journal(std::string_view scope = "main") { return **replica_->database(DatabaseName::journal).space(scope); }

  // The agent's state as this device sees it: none if it holds nothing of it.
  std::vector<AgentSnapshot> antichain(const std::string& agent) {
    std::vector<AgentSnapshot> out;
    auto versions = agents().versions(Kind::agentState, agent);
    EXPECT_TRUE(versions.ok());
    for (const Version& version : *versions) {
      if (version.tombstone) continue;
      auto snapshot = toSnapshot(agent, version);
      EXPECT_TRUE(snapshot.ok()) << snapshot.error().message;
      if (snapshot.ok()) out.push_back(*std::move(snapshot));
    }
    return out;
  }
  // One local write of an agent: the state it sees, changed by `change`.
  template <class Change>
  Dot write(const std::string& agent, Change change) {
    AgentState state = view(agent);
    change(state, replica_->writer());
    const Write write{Kind::agentState, agent, encodeAgentState(state, replica_->writer()), false};
    auto dot = replica_->commit(DatabaseName::agents, "main", {&write, 1});
    EXPECT_TRUE(dot.ok()) << dot.error().message;
    return dot.ok() ? *dot : Dot{};
  }
  AgentState view(const std::string& agent);
  std::vector<Incident> incidents() {
    auto incidents = replica_->incidents();
    EXPECT_TRUE(incidents.ok());
    return incidents.ok() ? *std::move(incidents) : std::vector<Incident>{};
  }

 private:
  std::string name_;
  std::uint32_t nextTag_;
  std::unique_ptr<store::MemoryStore> journal_ = std::make_unique<store::MemoryStore>();
  std::unique_ptr<store::MemoryStore> agents_ = std::make_unique<store::MemoryStore>();
  std::unique_ptr<LocalReplica> replica_;
};

// Two devices in a session. Frames wait in two queues until the test lets them through.
class Link {
 public:
  Link(Device& a, Device& b, SessionOptions options = {}) : Link(a, b, options, options) {}
  Link(Device& a, Device& b, SessionOptions ofA, SessionOptions ofB)
      : a_(a),
        b_(b),
        toB_(std::make_unique<SyncSession>(a.replica(), std::move(ofA), 0)),
        toA_(std::make_unique<SyncSession>(b.replica(), std::move(ofB), 0)) {}

  // One step: both sides say what they have to say, then everything under way arrives. False: nobody said anything.
  bool step(std::size_t budget = std::size_t{1} << 30) {
    say(budget);
    const bool any = !queueToA_.empty() || !queueToB_.empty();
    while (!queueToB_.empty()) deliverToB();
    while (!queueToA_.empty()) deliverToA();
    return any;
  }
  // Until both are quiet. Returns the number of steps.
  std::size_t run(std::size_t most = 10'000) {
    std::size_t steps = 0;
    while (step() && steps < most) ++steps;
    EXPECT_LT(steps, most) << "the session never came to rest";
    return steps;
  }
  // As run(), but the stream dies after `frames` frames have arrived. Returns whether it did.
  bool runUntilCut(std::size_t frames) {
    for (;;) {
      say(std::size_t{1} << 30);
      if (queueToA_.empty() && queueToB_.empty()) return false;
      while (!queueToB_.empty() || !queueToA_.empty()) {
        if (frames-- == 0) return true;
        queueToB_.empty() ? deliverToA() : deliverToB();
      }
    }
  }

  void say(std::size_t budget) {
    std::string out;
    toB_->produce(out, budget, now_);
    a_.flush();
    for (std::string& frame : framesOf(out)) bytes_ += frame.size(), queueToB_.push_back(std::move(frame));
    out.clear();
    toA_->produce(out, budget, now_);
    b_.flush();
    for (std::string& frame : framesOf(out)) bytes_ += frame.size(), queueToA_.push_back(std::move(frame));
  }
  void deliverToB() {
    const std::string frame = take(queueToB_);
    if (toA_->state() != SessionState::closed) lastStatus_ = toA_->receive(frame, now_);
  }
  void deliverToA() {
    const std::string frame = take(queueToA_);
    if (toB_->state() != SessionState::closed) lastStatus_ = toB_->receive(frame, now_);
  }

  // The sessions of a and of b.
  SyncSession& ofA() { return *toB_; }
  SyncSession& ofB() { return *toA_; }
  std::deque<std::string>& queueToA() { return queueToA_; }
  std::deque<std::string>& queueToB() { return queueToB_; }
  std::size_t bytes() const { return bytes_; }
  std::int64_t now_ = 0;

 private:
  static std::string take(std::deque<std::string>& queue) {
    std::string frame = std::move(queue.front());
    queue.pop_front();
    return frame;
  }

  Device& a_;
  Device& b_;
  std::unique_ptr<SyncSession> toB_, toA_;
  std::deque<std::string> queueToA_, queueToB_;
  std::size_t bytes_ = 0;
  Status lastStatus_ = okStatus();
};

inline std::size_t sync(Device& a, Device& b, SessionOptions options = {}) {
  Link link(a, b, options);
  link.run();
  EXPECT_NE(link.ofA().state(), SessionState::closed) << link.ofA().closeCode() << ": " << link.ofA().closeReason();
  EXPECT_NE(link.ofB().state(), SessionState::closed) << link.ofB().closeCode() << ": " << link.ofB().closeReason();
  return link.bytes();
}

inline std::size_t count(const std::vector<Incident>& incidents, std::string_view kind) {
  return static_cast<std::size_t>(std::ranges::count(incidents, kind, &Incident::kind));
}

inline AgentState Device::view(const std::string& agent) {
  const auto held = antichain(agent);
  if (held.empty()) return {};
  return viewOf(held, nullptr).state;
}

// Equal contents, as a person would compare them: every version of every record, and the vectors.
inline void expectEqual(Device& a, Device& b) {
  for (const std::string& id : a.replica().spaceIds()) {
    Space* mine = a.replica().findSpace(id);
    Space* other = b.replica().findSpace(id);
    ASSERT_NE(other, nullptr) << id;
    EXPECT_EQ(mine->clock(), other->clock()) << id;
    EXPECT_EQ(mine->digest(), other->digest()) << id;
    for (int kind = 1; kind <= 12; ++kind) {
      const auto keys = mine->keys(static_cast<Kind>(kind));
      EXPECT_EQ(keys, other->keys(static_cast<Kind>(kind))) << id;
      for (const std::string& key : keys) {
        auto left = mine->versions(static_cast<Kind>(kind), key);
        auto right = other->versions(static_cast<Kind>(kind), key);
        ASSERT_TRUE(left.ok() && right.ok());
        ASSERT_EQ(left->size(), right->size()) << key;
        for (std::size_t i = 0; i < left->size(); ++i) {
          EXPECT_EQ((*left)[i].dot, (*right)[i].dot) << key;
          EXPECT_EQ((*left)[i].body, (*right)[i].body) << key;
        }
      }
    }
    EXPECT_TRUE(mine->checkIntegrity().ok()) << id;
    EXPECT_TRUE(other->checkIntegrity().ok()) << id;
  }
}

// A change of one number.
inline auto failures(std::uint64_t n) {
  return [n](AgentState& state, const std::string&) { state.consecutiveFailureCount = n; };
}

}  // namespace witan::replication::test

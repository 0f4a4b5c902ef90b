// TestCluster: the replicas of some devices in one process, on stores in memory whose power the test cuts. The test
// carries, loses, repeats or reorders the frames between them, and moves their clocks. tests/sim/etcd_owner.h adds
// etcd.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <deque>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "domains/registry.h"
#include "replica/core/log_head.h"
#include "replica/replica.h"
#include "replica/replica_effects.h"
#include "store/memory_store.h"

namespace witan::node::test {

inline constexpr std::string_view kPartition = "budget/0";
inline constexpr std::int64_t kStartOfTime = 1'774'252'800'000'000;

inline Now at(std::int64_t ms) { return {Time{kStartOfTime + ms * 1000}, ms}; }

inline const kernel::DomainModule& budget() {
  static const std::unique_ptr<kernel::DomainModule> module = *domains::makeDomain("budget");
  return *module;
}

// A proposal to spend from the entity "e"; the domain's cap is 100,000.
inline Request spend(const std::string& id, std::int64_t n, const std::string& role = "A") {
  auto json = parseJson(R"({"type":"Spend)" + role + R"(","n":)" + std::to_string(n) + "}");
  auto action = budget().parseAction(*json);
  const std::string bytes = budget().encodeAction(**action);
  Request request;
  request.domain = "budget";
  request.entity = "e";
  request.role = role;
  request.operationId = id;
  request.actionType = "Spend" + role;
  request.action.assign(bytes.begin(), bytes.end());
  return request;
}

inline Request beginning(const std::string& entity = "e") {
  Request request;
  request.kind = RequestKind::init;
  request.domain = "budget";
  request.entity = entity;
  request.operationId = "init-" + entity;
  return request;
}

// The frames in a string of them.
inline std::vector<std::string> framesOf(std::string_view bytes) {
  std::vector<std::string> frames;
  while (!bytes.empty()) {
    auto header = replication::readFrameHeader(bytes, kMaxAdjudicationFrame);
    WITAN_CHECK(header.ok(), "our own frames are well formed");
    const std::size_t size = replication::kFrameHeaderBytes + header->length;
    frames.emplace_back(bytes.substr(0, size));
    bytes.remove_prefix(size);
  }
  return frames;
}
inline bool isAdjudication(const std::string& frame) {
  return static_cast<std::uint8_t>(frame[4]) >= kFirstAdjudicationFrame;
}
inline AdjudicationFrame typeOf(const std::string& frame) {
  return static_cast<AdjudicationFrame>(static_cast<std::uint8_t>(frame[4]));
}

// Keys of the devices "a", "b", ..., and what a device remembers of what it signed, as a disk that no crash takes
// anything from.
inline SigningKey keyOfDevice(std::string_view device) {
  return *SigningKey::fromSeed(std::string(32, device.empty() ? '?' : device.front()));
}

class TestKeys final : public HeadKeys {
 public:
  explicit TestKeys(std::string_view device) : key_(keyOfDevice(device)) {}
  const SigningKey& key() const override { return key_; }
  std::vector<PublicKey> keysOf(std::string_view device) const override {
    return device.size() == 1 ? std::vector{keyOfDevice(device).publicKey()} : std::vector<PublicKey>{};
  }
  std::string deviceOf(const PublicKey& key) const override {
    for (char name = 'a'; name <= 'z'; ++name)
      if (keyOfDevice({&name, 1}).publicKey() == key) return std::string(1, name);
    return {};
  }
  bool sealsRows(std::string_view device) const override { return sealing.find(device.front()) != std::string::npos; }
  Takeover mayTakeOver(std::string_view device) const override {
    return takers.find(device.front()) == std::string::npos ? Takeover::no : Takeover::yes;
  }
  Result<std::string> remembered() const override { return memory; }
  Status remember(std::string_view text) override {
    if (!fails) memory = text;
    return fails ? Status(ioFailed("the disk is full")) : okStatus();
  }

  std::string takers = "abcz";  // who may take partitions over, as this device knows
  std::string sealing;          // who has sealed all its rows, as this device knows
  std::string memory;
  bool fails = false;

 private:
  SigningKey key_;
};

// Completes the configuration at each start of a device.
using Configure = std::function<void(ReplicaConfig&)>;

// For tests that make entries by hand, without seals.
inline void withoutKeys(std::size_t, ReplicaConfig& config) { config.heads = nullptr; }

// One device. It has one partition of each domain, which is budget, and keys, unless `configure` says otherwise.
class Device {
 public:
  explicit Device(std::string name, Configure configure = {})
      : name_(std::move(name)), configure_(std::move(configure)) {
    start();
  }

  void start() {
    replica_.reset();
    auto opened = node::Replica::open({stores[0], stores[1], stores[2]}, config(), at(ms));
    ASSERT_TRUE(opened.ok()) << opened.error().message;
    replica_ = *std::move(opened);
  }
  ReplicaConfig config() {
    ReplicaConfig config;
    config.replication.cluster = "test";
    config.replication.clusterKey = "key";
    config.replication.device = name_;
    config.replication.trustStore = true;
    config.replication.freshTag = [this] { return ++tags_; };
    config.domains = {&budget()};
    config.partitions = 1;
    config.snapshotEvery = snapshotEvery;
    config.heads = std::make_shared<TestKeys>(name_);
    if (configure_) configure_(config);
    // What it signed last outlives its stores, whichever keys it is given.
    const auto keys = std::dynamic_pointer_cast<TestKeys>(config.heads);
    if (keys && keys_ && keys != keys_ && keys->memory.empty()) keys->memory = keys_->memory;
    keys_ = keys;
    return config;
  }
  void losePower() {
    replica_.reset();
    for (store::MemoryStore& disk : stores) disk.crash();
    start();
  }
  // Collects the effects of one round.
  Status drain() {
    Effects effects;
    const Status drained = replica_->drain(at(ms), effects);
    for (Outgoing& out : effects.sends) sends.push_back(std::move(out));
    for (Answered& answer : effects.answers) answers.push_back(std::move(answer.answer));
    for (Notice& notice : effects.notices) notices.push_back(std::move(notice));
    for (EtcdRequest& request : effects.etcd) etcdRequests.push_back(std::move(request));
    for (agents::ToolCall& call : effects.toolCalls) toolCalls.push_back(std::move(call));
    return drained;
  }
  void submit(Request request) {
    const Status accepted = replica_->submit(std::move(request), at(ms));
    ASSERT_TRUE(accepted.ok()) << accepted.error().message;
  }
  void passTime(std::int64_t by) {
    ms += by;
    replica_->tick(at(ms));
  }

  const std::string& name() const { return name_; }
  node::Replica& replica() { return *replica_; }
  PartitionHost& host() { return *replica_->host(kPartition); }
  bool owns() { return replica_->owns(host()); }
  // Operation ids in the log, in order.
  std::vector<std::string> decided() {
    std::vector<std::string> ids;
    for (std::uint64_t seq = 1; seq <= host().partition().size(); ++seq)
      ids.push_back(kernel::readEntry(*host().ledger().entryBytes(seq))->operationId);
    return ids;
  }
  const Answer* answered(std::string_view id) const {
    const Answer* found = nullptr;
    for (const Answer& answer : answers)
      if (answer.operationId == id) found = &answer;
    return found;
  }
  bool noticed(std::string_view kind) const {
    for (const Notice& notice : notices)
      if (notice.kind == kind) return true;
    return false;
  }
  bool hasIncident(std::string_view kind) const {
    const auto incidents = replica_->data().incidents();
    for (const replication::Incident& incident : *incidents)
      if (incident.kind == kind) return true;
    return false;
  }
  std::size_t aside() {
    std::size_t n = 0;
    const Status walked = stores[2].scan("x/", {}, [&](std::string_view, std::string_view) { return ++n, true; });
    EXPECT_TRUE(walked.ok());
    return n;
  }

  std::array<store::MemoryStore, 3> stores;  // journal, agents, ledgers
  std::int64_t ms = 0;
  std::uint64_t snapshotEvery = kernel::kSnapshotEvery;  // from the next start on
  std::vector<Outgoing> sends;
  std::vector<Answer> answers;
  std::vector<Notice> notices;
  std::vector<EtcdRequest> etcdRequests;
  std::vector<agents::ToolCall> toolCalls;  // outside, which nobody answers

 private:
  std::string name_;
  std::shared_ptr<TestKeys> keys_;  // of the last start
  Configure configure_;
  std::uint32_t tags_ = 0;
  std::unique_ptr<node::Replica> replica_;
};

class TestCluster {
 public:
  // `configure` as above, for the device of this number.
  explicit TestCluster(std::size_t devices, std::function<void(std::size_t, ReplicaConfig&)> configure = {}) {
    for (std::size_t n = 0; n < devices; ++n)
      devices_.push_back(std::make_unique<Device>(
          std::string(1, static_cast<char>('a' + n)),
          configure ? Configure([configure, n](ReplicaConfig& config) { configure(n, config); }) : Configure()));
  }
  Device& a() { return *devices_[0]; }
  Device& b() { return *devices_[1]; }
  Device& c() { return *devices_[2]; }

  // Connects all. Device a owns the partition and has begun the entity "e", and all hold that.
  void found() {
    ASSERT_TRUE(a().replica().bootstrap(at(0)).ok());
    ASSERT_TRUE(a().replica().submit(beginning(), at(0)).ok());
    for (std::size_t i = 0; i < devices_.size(); ++i)
      for (std::size_t k = 0; k < i; ++k) connect(*devices_[k], *devices_[i]);
    run();
    for (const auto& device : devices_) ASSERT_EQ(device->host().ledger().batches(), a().host().ledger().batches());
  }
  void connect(Device& one, Device& other) {
    one.replica().connected(other.name(), at(one.ms));
    other.replica().connected(one.name(), at(other.ms));
    lines_.insert({std::min(one.name(), other.name()), std::max(one.name(), other.name())});
  }
  void cut(Device& one, Device& other) {
    lines_.erase({std::min(one.name(), other.name()), std::max(one.name(), other.name())});
    one.replica().disconnected(other.name());
    other.replica().disconnected(one.name());
    std::erase_if(underWay, [&](const Frame& frame) {
      return (frame.from == one.name() && frame.to == other.name()) ||
             (frame.from == other.name() && frame.to == one.name());
    });
  }
  void losePower(Device& device) {
    for (const auto& other : devices_)
      if (other.get() != &device) cut(device, *other);
    device.losePower();
  }

  // Takes up what every device sends.
  void collect() {
    for (const auto& device : devices_) {
      if (const Status drained = device->drain(); !drained.ok() && died) {
        died(*device);
        continue;
      } else {
        ASSERT_TRUE(drained.ok()) << drained.error().message;
      }
      for (Outgoing& out : device->sends) {
        if (!lines_.contains({std::min(device->name(), out.peer), std::max(device->name(), out.peer)})) continue;
        for (std::string& frame : framesOf(out.frames))
          underWay.push_back({device->name(), out.peer, std::move(frame)});
        if (out.close) closed.push_back(device->name() + " to " + out.peer);
      }
      device->sends.clear();
    }
  }
  // Until no device sends anything more. No time passes.
  void run(std::size_t most = 1000) {
    for (std::size_t round = 0; round < most; ++round) {
      collect();
      if (underWay.empty()) return;
      while (!underWay.empty()) {
        Frame frame = std::move(underWay.front());
        underWay.pop_front();
        if (lose && lose(frame)) continue;
        hand(frame);
      }
    }
    collect();
    std::string frames;
    for (const Frame& frame : underWay)
      frames += " " + frame.from + frame.to + ":" + std::to_string(static_cast<int>(frame.bytes[4]));
    ADD_FAILURE() << "the cluster never came to rest:" << frames;
  }

  struct Frame {
    std::string from, to, bytes;
  };
  void hand(const Frame& frame) { of(frame.to).replica().received(frame.from, frame.bytes, at(of(frame.to).ms)); }
  Device& of(const std::string& name) { return *devices_[static_cast<std::size_t>(name[0] - 'a')]; }

  std::deque<Frame> underWay;
  std::function<bool(const Frame&)> lose;
  std::function<void(Device&)> died;  // a round failed. Not set: then the test fails
  std::vector<std::string> closed;

 private:
  std::vector<std::unique_ptr<Device>> devices_;
  std::set<std::pair<std::string, std::string>> lines_;
};

}  // namespace witan::node::test

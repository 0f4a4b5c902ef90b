// Three nodes and a real etcd, all as processes: adjudication.md, "Partitions, owners, and past one machine": nothing
// acknowledged is lost, nothing is decided twice, whoever is killed, frozen or cut off.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <deque>
#include <map>
#include <mutex>
#include <set>

#include "base/bytes.h"
#include "tests/net/proxy.h"
#include "tests/node/etcd_servers.h"
#include "tests/node/node_process.h"

namespace witan::node::etcd_cluster_test {
namespace {

using test::EtcdServers;
using test::Finished;
using test::Node;
using test::until;
using ::testing::HasSubstr;

std::string configFor(const std::vector<std::string>& urls) {
  std::string list;
  for (const std::string& url : urls) list += (list.empty() ? "\"" : ", \"") + url + "\"";
  return "[ledger]\nengine = \"etcd\"\nlease_seconds = 2\netcd = [" + list + "]\n";
}

class EtcdCluster : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!test::haveEtcd()) GTEST_SKIP() << "no etcd here (Debian: etcd-server)";
  }

  // One partition of each domain. `proxied`: the first node, which gets them, reaches etcd through proxy_.
  void begin(std::size_t members, bool proxied = false) {
    etcd_.emplace(members);
    ASSERT_TRUE(etcd_->ready());
    if (proxied) proxy_.emplace(etcd_->url(0).substr(7));
    nodes_.emplace_back(scratch_, "a",
                        configFor(proxied ? std::vector<std::string>{"http://" + proxy_->address()} : etcd_->urls()));
    for (const char* name : {"b", "c"}) nodes_.emplace_back(scratch_, name, configFor(etcd_->urls()));
    ASSERT_TRUE(nodes_[0].init(1).exitCode == 0);
    ASSERT_TRUE(nodes_[0].up());
    for (std::size_t i : {1u, 2u}) {
      ASSERT_TRUE(nodes_[i].joins(nodes_[0]));
      ASSERT_TRUE(nodes_[i].up());
    }
    for (Node& node : nodes_) ASSERT_TRUE(until([&] { return node.connectedTo(2); }));
    ASSERT_TRUE(until([&] { return ownerOf("budget/0") != nullptr; }));
    const Finished begun = nodes_[1].run({"begin", "budget", "x"});
    ASSERT_EQ(begun.exitCode, 0) << begun.err;
  }

  // The node that decides for it, by its own word; null: nobody does now.
  Node* ownerOf(std::string_view partition) {
    for (Node& node : nodes_) {
      if (!node.running() || frozen_ == &node) continue;
      const json::value all = node.get("/v1/partitions");
      if (!all.is_object()) continue;
      for (const json::value& row : all.at("partitions").as_array())
        if (row.at("partition").as_string() == partition && row.as_object().contains("here") &&
            row.at("here").as_bool())
          return &node;
    }
    return nullptr;
  }
  Node& anotherThan(const Node& node) { return &node == &nodes_[0] ? nodes_[1] : nodes_[0]; }

  static Result<json::value> spend(const Node& node, const std::string& id, std::int64_t waitMs = 30'000) {
    return node.post("/v1/propose", {{"domain", "budget"},
                                     {"entity", "x"},
                                     {"role", "A"},
                                     {"action", {{"type", "SpendA"}, {"n", 1}}},
                                     {"operationId", id},
                                     {"waitMs", waitMs}});
  }
  static bool approved(const Result<json::value>& answer) {
    return answer.ok() && answer->at("outcome").as_string() == "approved";
  }

  // Proposals, one after the other at each node, asked for again until answered.
  class Load {
   public:
    explicit Load(std::vector<const Node*> nodes) {
      for (std::size_t i = 0; i < nodes.size(); ++i)
        threads_.emplace_back([this, i, node = nodes[i]] { run(i, *node); });
    }
    ~Load() { (void)stop(); }
    std::set<std::string> stop() {
      stopped_ = true;
      for (std::thread& thread : threads_)
        if (thread.joinable()) thread.join();
      return acknowledged_;
    }
    std::size_t acknowledged() {
      const std::lock_guard lock(mutex_);
      return acknowledged_.size();
    }

   private:
    void run(std::size_t thread, const Node& node) {
      for (std::size_t n = 0; !stopped_; ++n) {
        const std::string id = "load:" + std::to_string(thread) + "." + std::to_string(n);
        while (!approved(spend(node, id)) && !stopped_) {
        }
        if (stopped_) return;  // whether that one was acknowledged is not looked at
        const std::lock_guard lock(mutex_);
        acknowledged_.insert(id);
      }
    }
    std::atomic<bool> stopped_{false};
    std::mutex mutex_;
    std::set<std::string> acknowledged_;
    std::vector<std::thread> threads_;
  };

  // Operation ids about x in a node's ledger, with how often each is there.
  static std::map<std::string, int> ledgerOf(const Node& node) {
    std::map<std::string, int> found;
    const json::value ledger = node.get("/v1/ledger?domain=budget&limit=10000");
    if (ledger.is_object())
      for (const json::value& row : ledger.at("entries").as_array()) {
        const json::object& entry = row.at("entry").as_object();
        if (const json::value* id = entry.if_contains("operationId")) ++found[std::string(id->as_string())];
      }
    return found;
  }

  // Every node has the same ledgers, each entry follows from those before it, and what was acknowledged is there once.
  void expectNothingLost(const std::set<std::string>& acknowledged) {
    for (Node& node : nodes_) ASSERT_TRUE(node.running() || node.up());
    std::map<std::string, int> found;
    std::string root;
    ASSERT_TRUE(until([&] {
      std::set<std::string> roots;
      for (const Node& node : nodes_) {
        const json::value report = node.get("/v1/ledger/verify?replay=true");
        if (!report.is_object() || !report.at("ok").as_bool()) return false;
        roots.emplace(report.at("root").as_string());
      }
      root = *roots.begin();
      found = ledgerOf(nodes_[0]);
      return roots.size() == 1 &&
             std::includes(found.begin(), found.end(), acknowledged.begin(), acknowledged.end(), Before());
    })) << root;
    for (const auto& [id, times] : found) EXPECT_EQ(times, 1) << id;
  }
  struct Before {
    static const std::string& of(const std::string& id) { return id; }
    static const std::string& of(const std::pair<const std::string, int>& entry) { return entry.first; }
    template <class A, class B>
    bool operator()(const A& a, const B& b) const {
      return of(a) < of(b);
    }
  };

  test::Scratch scratch_;
  std::optional<EtcdServers> etcd_;
  std::optional<net::test::Proxy> proxy_;
  std::deque<Node> nodes_;
  Node* frozen_ = nullptr;
};

TEST_F(EtcdCluster, InitFoundsNothingAndTheFirstToAskOwns) {
  begin(1);
  Node* owner = ownerOf("budget/0");
  ASSERT_NE(owner, nullptr);
  const Finished proposed = anotherThan(*owner).run({"propose", "budget", "x", "A", R"({"type":"SpendA","n":5})"});
  EXPECT_EQ(proposed.exitCode, 0) << proposed.err;
  EXPECT_THAT(proposed.out, HasSubstr("approved"));
  EXPECT_THAT(owner->check("etcd"), HasSubstr("connected to " + etcd_->url(0)));
  EXPECT_EQ(owner->metric("etcd_up"), 1);
  const Finished moved = owner->run({"partition", "move", "budget/0", anotherThan(*owner).name()});
  EXPECT_NE(moved.exitCode, 0);
  EXPECT_THAT(moved.err, HasSubstr("etcd gives partitions their owners"));
  expectNothingLost({});
}

TEST_F(EtcdCluster, AnOwnerThatIsKilledIsReplacedAndNothingAcknowledgedIsLost) {
  begin(3);
  for (int kill = 0; kill < 2; ++kill) {
    Node* owner = ownerOf("budget/0");
    ASSERT_NE(owner, nullptr);
    std::vector<const Node*> others;
    for (const Node& node : nodes_)
      if (&node != owner) others.insert(others.end(), {&node, &node});
    Load load(others);
    ASSERT_TRUE(until([&] { return load.acknowledged() > 20; }));
    owner->kill();
    const std::size_t before = load.acknowledged();
    ASSERT_TRUE(until([&] { return load.acknowledged() > before + 20; }));
    EXPECT_NE(ownerOf("budget/0"), nullptr);
    expectNothingLost(load.stop());
  }
}

TEST_F(EtcdCluster, AnOwnerThatIsFrozenIsReplacedAndDecidesNothingLate) {
  begin(1);
  Node* owner = ownerOf("budget/0");
  ASSERT_NE(owner, nullptr);
  Node& other = anotherThan(*owner);
  std::set<std::string> acknowledged;
  {
    Load load({&other, &other, owner});
    ASSERT_TRUE(until([&] { return load.acknowledged() > 20; }));
    owner->freeze();
    frozen_ = owner;
    // A third try within the lease's end and the rivals' spread; twice the lease is the promise.
    const auto frozenAt = std::chrono::steady_clock::now();
    ASSERT_TRUE(until([&] { return ownerOf("budget/0") != nullptr; }));
    const std::size_t before = load.acknowledged();
    ASSERT_TRUE(until([&] { return load.acknowledged() > before + 20; }));
    const auto took = std::chrono::steady_clock::now() - frozenAt;
    RecordProperty("takeoverMs", std::chrono::duration_cast<std::chrono::milliseconds>(took).count());
    owner->thaw();
    frozen_ = nullptr;
    // It finds out, and what its people ask goes to the new owner.
    ASSERT_TRUE(until([&] { return owner->metric("etcd_partitions_lost_total") >= 1; }));
    ASSERT_TRUE(approved(spend(*owner, "late")));
    acknowledged = load.stop();
    acknowledged.insert("late");
  }
  EXPECT_NE(ownerOf("budget/0"), owner);
  expectNothingLost(acknowledged);
}

TEST_F(EtcdCluster, AMinorityOfEtcdMayGoAndAMajorityMayComeBack) {
  begin(3);
  const Node& asked = nodes_[1];
  std::set<std::string> acknowledged;
  // The leader goes: the hardest minority.
  std::optional<std::size_t> leader;
  ASSERT_TRUE(until([&] { return (leader = etcd_->leader()).has_value(); }));
  etcd_->kill(*leader);
  for (int i = 0; i < 20; ++i) {
    const std::string id = "minority." + std::to_string(i);
    ASSERT_TRUE(until([&] { return approved(spend(asked, id)); })) << id;
    acknowledged.insert(id);
  }
  // A majority is gone: nothing is decided, and whoever asks hears why.
  const std::size_t second = (*leader + 1) % 3;
  etcd_->kill(second);
  ASSERT_TRUE(until([&] { return asked.check("etcd").starts_with("out of reach"); })) << asked.check("etcd");
  const auto waiting = spend(asked, "majority", 300);
  ASSERT_TRUE(waiting.ok());
  EXPECT_EQ(waiting->at("outcome").as_string(), "waiting");
  EXPECT_THAT(std::string(waiting->at("message").as_string()), HasSubstr("etcd is unavailable"));
  EXPECT_EQ(asked.metric("etcd_up"), 0);
  EXPECT_FALSE(asked.ready()) << "who asks it for decisions should ask elsewhere, or wait";
  EXPECT_EQ(asked.run({"status"}).exitCode, 0);  // it reads on
  // It comes back: what waited is decided.
  etcd_->start(second);
  ASSERT_TRUE(until([&] { return approved(spend(asked, "majority")); }));
  EXPECT_TRUE(until([&] { return asked.ready(); }));
  acknowledged.insert("majority");
  etcd_->start(*leader);
  expectNothingLost(acknowledged);
}

TEST_F(EtcdCluster, AnyOneMemberMayStopAtAnyTime) {
  begin(3);
  Load load({&nodes_[0], &nodes_[1], &nodes_[2], &nodes_[2]});
  for (std::size_t member = 0; member < 3; ++member) {
    ASSERT_TRUE(until([&, before = load.acknowledged()] { return load.acknowledged() > before + 20; }));
    etcd_->kill(member);
    ASSERT_TRUE(until([&, before = load.acknowledged()] { return load.acknowledged() > before + 20; })) << member;
    etcd_->start(member);
    ASSERT_TRUE(etcd_->ready());
  }
  expectNothingLost(load.stop());
}

// It is alive and well, but does not hear that it has been replaced.
TEST_F(EtcdCluster, TheLateWritesOfAnOwnerAreRefusedAndCounted) {
  begin(1, true);
  const Node& old = nodes_[0];
  ASSERT_TRUE(until([&] { return old.owned() > 0; }));
  // Without a pause, so that it writes before its next keepalive tells it.
  Load load({&nodes_[0]});
  ASSERT_TRUE(until([&] { return load.acknowledged() > 20; }));
  EXPECT_EQ(old.metric("etcd_late_writes_refused_total"), 0);
  proxy_->mute("POST /v3/watch");
  const auto keys = parseJson(etcd_->post(
      0, "/v3/kv/range", R"({"key":")" + toBase64("witan/") + R"(","range_end":")" + toBase64("witan0") + "\"}"));
  ASSERT_TRUE(keys.ok());
  for (const json::value& kv : keys->at("kvs").as_array())
    if (const json::value* lease = kv.as_object().if_contains("lease"))
      (void)etcd_->post(0, "/v3/lease/revoke", R"({"ID":")" + std::string(lease->as_string()) + "\"}");
  ASSERT_TRUE(until([&] { return nodes_[1].owned() + nodes_[2].owned() > 0; }));
  EXPECT_TRUE(until([&] { return old.metric("etcd_late_writes_refused_total") >= 1; }));
  EXPECT_TRUE(until([&, before = load.acknowledged()] { return load.acknowledged() > before + 5; }))
      << "by the new owner";
  proxy_->heal();
  expectNothingLost(load.stop());
}

// What an owner has decided and etcd has not confirmed may come to nothing: it is shown to nobody.
TEST_F(EtcdCluster, WhatIsNotConfirmedIsNotShown) {
  begin(1, true);
  const Node& owner = nodes_[0];
  ASSERT_TRUE(until([&] { return owner.owned() > 0; }));
  ASSERT_TRUE(approved(spend(owner, "sure")));
  const auto spent = [](const Node& node) {
    const json::value slice = node.get("/v1/slice?domain=budget&entity=x");
    return slice.is_object() ? slice.at("state").at("spentA").to_number<int>() : -1;
  };
  const auto entries = [&] {
    const json::value all = owner.get("/v1/partitions?domain=budget");
    return all.is_object() ? all.at("partitions").as_array().front().at("entries").to_number<int>() : -1;
  };
  ASSERT_EQ(spent(owner), 1);
  proxy_->mute("POST /v3/kv");  // it arrives at etcd, whose answers do not arrive
  const auto unsure = spend(owner, "unsure", 300);
  ASSERT_TRUE(unsure.ok());
  EXPECT_EQ(unsure->at("outcome").as_string(), "waiting");
  EXPECT_EQ(spent(owner), 1);
  EXPECT_EQ(entries(), 1);
  EXPECT_EQ(owner.metric("ledger_entries"), 1);
  EXPECT_EQ(owner.get("/v1/status").at("entries").to_number<int>(), 1);
  EXPECT_EQ(owner.get("/v1/ledger?domain=budget").at("entries").as_array().size(), 1u);
  EXPECT_THAT(owner.run({"queue", "list"}).exitCode, 0);
  proxy_->heal();
  ASSERT_TRUE(until([&] { return approved(spend(owner, "unsure")); }));
  for (const Node& node : nodes_) EXPECT_TRUE(until([&] { return spent(node) == 2; }));
  expectNothingLost({"sure", "unsure"});
}

// Two engines would have two owners.
TEST_F(EtcdCluster, ADeviceWithAnotherEngineIsNotTalkedTo) {
  begin(1);
  Node stranger(scratch_, "d", "");
  ASSERT_TRUE(stranger.joins(nodes_[0]));
  ASSERT_TRUE(stranger.up());
  for (const Node* node : std::initializer_list<const Node*>{&nodes_[0], &stranger}) {
    ASSERT_TRUE(until([&] { return node->check("engine").find("[ledger]") != std::string::npos; })) << node->name();
    EXPECT_FALSE(node->ready());
  }
  EXPECT_THAT(stranger.check("engine"), HasSubstr(R"(is "etcd", this device's is "embedded")"));
  EXPECT_THAT(stranger.run({"doctor"}).out, HasSubstr("ledger engine"));
  EXPECT_FALSE(stranger.connectedTo(3));
  ASSERT_TRUE(nodes_[0].run({"device", "revoke", "d", "--reason", "wrong engine"}).exitCode == 0);
  EXPECT_TRUE(until([&] { return nodes_[0].ready(); }));
  expectNothingLost({});
}

TEST_F(EtcdCluster, AWatchThatIsCompactedAwayBeginsAnew) {
  begin(1);
  ASSERT_TRUE(approved(spend(nodes_[1], "before")));
  // A node that was away long enough has to find its place again.
  nodes_[2].freeze();
  const auto revision = [&] {
    const std::string range = etcd_->post(0, "/v3/kv/range", R"({"key":"AA=="})");
    return parseJson(range)->at("header").at("revision").as_string();
  };
  ASSERT_TRUE(approved(spend(nodes_[1], "meanwhile")));
  EXPECT_THAT(etcd_->post(0, "/v3/kv/compaction", R"({"physical":true,"revision":")" + std::string(revision()) + "\"}"),
              HasSubstr("header"));
  nodes_[2].thaw();
  ASSERT_TRUE(approved(spend(nodes_[2], "after")));
  expectNothingLost({"before", "meanwhile", "after"});
}

TEST_F(EtcdCluster, ACleanStopHandsOverAtOnce) {
  begin(1);
  Node* owner = ownerOf("budget/0");
  ASSERT_NE(owner, nullptr);
  ASSERT_TRUE(approved(spend(*owner, "before")));
  Node& other = anotherThan(*owner);
  EXPECT_EQ(owner->stop(), 0);
  ASSERT_TRUE(approved(spend(other, "after")));
  EXPECT_THAT(etcd_->post(0, "/v3/lease/leases", "{}"), HasSubstr("leases"));
  expectNothingLost({"before", "after"});
}

}  // namespace
}  // namespace witan::node::etcd_cluster_test

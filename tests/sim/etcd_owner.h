// A replica alone whose partitions etcd gives, against the model of etcd: the test carries what they say to each other,
// or does not. Entity "e" of each domain has begun.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "domains/registry.h"
#include "replica/agent_runtime.h"
#include "replica/core/messages.h"
#include "replica/replica.h"
#include "replica/replica_effects.h"
#include "sim/etcd_model.h"
#include "store/memory_store.h"

namespace witan::sim {

using namespace node;

inline Now at(std::int64_t ms) { return {Time{1'774'252'800'000'000 + ms * 1000}, ms}; }

class Owner {
 public:
  struct Setup {
    EtcdOptions etcd;
    std::vector<std::string> domains = {"budget"};
    std::int64_t pendingTtlMicros = 0;
    std::shared_ptr<const AgentSetup> agents;
    std::function<bool(std::string_view)> keepsLedgers;
  };
  explicit Owner(EtcdOptions options = {}) : Owner(Setup{options, {"budget"}, 0, nullptr, {}}) {}
  explicit Owner(Setup setup) : setup_(std::move(setup)) {
    for (const std::string& domain : setup_.domains) modules_.push_back(*domains::makeDomain(domain));
    start();
    pass(5'000);
    for (std::size_t i = 0; i < modules_.size(); ++i) {
      EXPECT_TRUE(replica->owns(host(i)));
      submit(initRequest(module(i), "e", "begin" + std::string(i, '+'), json::object{}));
    }
    pass(3'000);
    EXPECT_NE(answered("begin"), nullptr);
  }
  const kernel::DomainModule& module(std::size_t n = 0) const { return *modules_[n]; }
  PartitionHost& host(std::size_t n = 0) { return *replica->host(setup_.domains[n] + "/0"); }

  void start() {
    ReplicaConfig config;
    config.replication.cluster = "c";
    config.replication.clusterKey = "key";
    config.replication.device = "a";
    config.replication.trustStore = true;
    config.replication.freshTag = [this] { return ++tags_; };
    for (const auto& module : modules_) config.domains.push_back(module.get());
    config.partitions = 1;
    config.etcd = setup_.etcd;
    config.pendingTtlMicros = setup_.pendingTtlMicros;
    config.agents = setup_.agents;
    config.keepsLedgers = setup_.keepsLedgers;
    replica.reset();
    watch_ = {};
    auto opened = Replica::open({stores_[0], stores_[1], stores_[2]}, std::move(config), at(ms));
    ASSERT_TRUE(opened.ok()) << opened.error().message;
    replica = *std::move(opened);
    replica->etcdConnected(at(ms));
  }
  void losePower() {
    replica.reset();
    for (store::MemoryStore& disk : stores_) disk.crash();
    start();
  }

  Request spend(const std::string& id, const std::string& agent = "") {
    Request request = *proposalRequest(module(), "e", "A", id, json::value{{"type", "SpendA"}, {"n", 1}});
    request.agent = agent;
    return request;
  }
  // Proposes in the role that the action is for, and lets half a second pass.
  void propose(const std::string& entity, const std::string& id, const std::string& action) {
    const json::value parsed = *parseJson(action);
    const std::string role = module().signature().processes[(*module().parseAction(parsed))->process].role;
    submit(*proposalRequest(module(), entity, role, entity + id, parsed));
    pass(500);
  }
  void submit(Request request) {
    const Status accepted = replica->submit(std::move(request), at(ms));
    EXPECT_TRUE(accepted.ok()) << accepted.error().message;
  }
  std::size_t answersTo(const std::string& id) const {
    return static_cast<std::size_t>(
        std::count_if(answers.begin(), answers.end(), [&](const Answer& answer) { return answer.operationId == id; }));
  }
  // One round, and what it asks of etcd.
  std::vector<EtcdRequest> drain() {
    replica->tick(at(ms));
    Effects effects;
    EXPECT_TRUE(replica->drain(at(ms), effects).ok());
    for (Answered& answer : effects.answers) answers.push_back(std::move(answer.answer));
    for (Notice& notice : effects.notices) notices.push_back(std::move(notice));
    for (Outgoing& send : effects.sends) sends.push_back(std::move(send));
    return std::move(effects.etcd);
  }
  // Carries everything to etcd and back, until nothing is said any more.
  void talk() {
    for (bool more = true; more;) {
      const auto requests = drain();
      more = !requests.empty() || replica->nextTickMs() <= ms;
      for (const EtcdRequest& request : requests) carry(request);
      more = tellWatch() || more;
    }
  }
  // One request to etcd, and its answer back.
  void carry(const EtcdRequest& request) {
    if (request.call == EtcdCall::watch) {
      watch_ = request;
      return;
    }
    EtcdAnswer answer = etcd.apply(tooLarge(request) ? EtcdRequest{} : request, ms * 1000);
    answer.id = request.id;
    if (tooLarge(request)) answer.error = EtcdError::tooLarge;
    replica->etcdReceived(answer, at(ms));
  }
  void pass(std::int64_t time) {
    for (const std::int64_t end = ms + time; ms < end; ms += 100) talk();
  }
  const Answer* answered(std::string_view id) const {
    for (const Answer& answer : answers)
      if (answer.operationId == id) return &answer;
    return nullptr;
  }

  store::Store& ledgers() { return stores_[2]; }

  EtcdModel etcd;
  std::size_t serverTakes = ~std::size_t{0};
  std::int64_t ms = 0;
  std::unique_ptr<Replica> replica;
  std::vector<Answer> answers;
  std::vector<Notice> notices;
  std::vector<Outgoing> sends;

 private:
  bool tellWatch() {
    if (watch_.id == 0 || watch_.from > etcd.revision()) return false;
    EtcdAnswer answer;
    answer.id = watch_.id;
    answer.revision = etcd.revision();
    answer.changes = *etcd.changes(watch_.keys, watch_.from);
    watch_.from = etcd.revision() + 1;
    replica->etcdReceived(answer, at(ms));
    return true;
  }
  bool tooLarge(const EtcdRequest& request) const {
    std::size_t bytes = 0;
    for (const EtcdOp& op : request.then) bytes += op.value.size();
    return bytes > serverTakes;
  }

  const Setup setup_;
  EtcdRequest watch_;
  std::vector<std::unique_ptr<kernel::DomainModule>> modules_;
  std::uint32_t tags_ = 0;
  store::MemoryStore stores_[3];
};

}  // namespace witan::sim

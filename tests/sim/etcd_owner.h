// A replica alone whose partitions etcd gives, against the model of etcd: the test carries what they say to each other,
// or does not. Entity "e" of each domain has begun.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "replica/agent_runtime.h"
#include "replica/core/messages.h"
#include "replica/replica.h"
#include "replica/replica_effects.h"
#include "sim/etcd_model.h"
#include "tests/replica/test_cluster.h"

namespace witan::sim {

using namespace node;

using node::test::at;

struct OwnerSetup {
  EtcdOptions etcd;
  std::vector<std::string> domains = {"budget"};
  std::int64_t pendingTtlMicros = 0;
  std::shared_ptr<const AgentSetup> agents;
  std::function<bool(std::string_view)> keepsLedgers;
};
// Outlives the replica that is made from it.
struct OwnerModules {
  explicit OwnerModules(OwnerSetup given) : setup(std::move(given)) {
    for (const std::string& domain : setup.domains) modules.push_back(*domains::makeDomain(domain));
  }
  void configure(ReplicaConfig& config) const {
    config.replication.cluster = "c";
    config.domains.clear();
    for (const auto& module : modules) config.domains.push_back(module.get());
    config.etcd = setup.etcd;
    config.heads = nullptr;
    config.pendingTtlMicros = setup.pendingTtlMicros;
    config.agents = setup.agents;
    config.keepsLedgers = setup.keepsLedgers;
  }
  const OwnerSetup setup;
  std::vector<std::unique_ptr<kernel::DomainModule>> modules;
};

class Owner : private OwnerModules, public node::test::Device {
 public:
  using Setup = OwnerSetup;
  explicit Owner(EtcdOptions options = {}) : Owner(Setup{options, {"budget"}, 0, nullptr, {}}) {}
  explicit Owner(Setup given)
      : OwnerModules(std::move(given)), Device("a", [this](ReplicaConfig& config) { configure(config); }) {
    replica().etcdConnected(at(ms));
    pass(5'000);
    for (std::size_t i = 0; i < modules.size(); ++i) {
      EXPECT_TRUE(replica().owns(host(i)));
      submit(initRequest(module(i), "e", "begin" + std::string(i, '+'), json::object{}));
    }
    pass(3'000);
    EXPECT_NE(answered("begin"), nullptr);
  }
  const kernel::DomainModule& module(std::size_t n = 0) const { return *modules[n]; }
  PartitionHost& host(std::size_t n = 0) { return *replica().host(setup.domains[n] + "/0"); }

  void losePower() {
    watch_ = {};
    Device::losePower();
    replica().etcdConnected(at(ms));
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
  std::size_t answersTo(const std::string& id) const {
    return static_cast<std::size_t>(std::count_if(
        answers.begin(), answers.end(), [&](const node::Answer& answer) { return answer.operationId == id; }));
  }
  // One round, and what it asks of etcd.
  std::vector<EtcdRequest> drain() {
    replica().tick(at(ms));
    EXPECT_TRUE(Device::drain().ok());
    return std::exchange(etcdRequests, {});
  }
  // Carries everything to etcd and back, until nothing is said any more.
  void talk() {
    for (bool more = true; more;) {
      const auto requests = drain();
      more = !requests.empty() || replica().nextTickMs() <= ms;
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
    replica().etcdReceived(answer, at(ms));
  }
  // The first partition is not its any more, as if its lease had ended, and it is told so at once.
  void takeAway() {
    EtcdRequest remove;
    remove.then = {{EtcdAct::remove, {"c/owner/" + setup.domains[0] + "/0", ""}, "", 0, 0}};
    (void)etcd.apply(remove, ms * 1000);
    tellWatch();
  }
  void pass(std::int64_t time) {
    for (const std::int64_t end = ms + time; ms < end; ms += 100) talk();
  }

  store::Store& ledgers() { return stores[2]; }

  EtcdModel etcd;
  std::size_t serverTakes = ~std::size_t{0};

 private:
  bool tellWatch() {
    if (watch_.id == 0 || watch_.from > etcd.revision()) return false;
    EtcdAnswer answer;
    answer.id = watch_.id;
    answer.revision = etcd.revision();
    answer.changes = *etcd.changes(watch_.keys, watch_.from);
    watch_.from = etcd.revision() + 1;
    replica().etcdReceived(answer, at(ms));
    return true;
  }
  bool tooLarge(const EtcdRequest& request) const {
    std::size_t bytes = 0;
    for (const EtcdOp& op : request.then) bytes += op.value.size();
    return bytes > serverTakes;
  }

  EtcdRequest watch_;
};

}  // namespace witan::sim

// Graphs at work on some devices in one process: a test deploys, sends, answers, cuts and answers what tools are asked.
#pragma once

#include <gmock/gmock.h>

#include "tests/replica/graph_world.h"

namespace witan::node::test {

inline const kernel::DomainModule& moduleOf(const char* name) {
  static std::map<std::string, std::unique_ptr<kernel::DomainModule>> modules;
  auto& module = modules[name];
  if (module == nullptr) module = *domains::makeDomain(name);
  return *module;
}

inline std::shared_ptr<AgentSetup> setupOf(std::vector<const agents::Agent*> agents,
                                           std::optional<agents::Policy> policy) {
  auto setup = std::make_shared<AgentSetup>();
  setup->agents = std::move(agents);
  setup->policy = policy ? std::make_shared<agents::DeviceGate>(agents::Monitor::compile(*policy).value())
                         : std::make_shared<agents::DeviceGate>();
  setup->options.wake.graceMs = 0;
  return setup;
}

// These graphs may cross intake, and journal if something may be put there.
inline agents::Policy graphPolicy(const std::vector<std::string>& graphs, std::vector<std::string> admitted,
                                  std::vector<std::string> put = {}, bool asks = false) {
  agents::Policy policy{.name = "test", .version = 1};
  policy.boundary = {{"intake", {"device"}, {{"admit", std::move(admitted)}}}};
  if (!put.empty()) policy.boundary.push_back({"journal", {"device"}, {{"put", std::move(put)}}});
  if (asks) policy.boundary.at(1).operation[0].requireHuman = true;
  std::vector<std::string> crossed;
  for (const agents::Boundary& boundary : policy.boundary) crossed.push_back(boundary.name);
  for (const std::string& graph : graphs) policy.grant.push_back({graph, "graph", {"device"}, {"graph"}, crossed});
  return policy;
}

// The graph "gate": in -> doctor, who is asked for `askMs` -> out. Texts of any length, as lint permits.
inline json::object gateDocument(std::int64_t askMs, std::int64_t version = 1, const std::string& more = "") {
  return parseJson(concat(R"({"graph":{"id":"gate","version":)", version,
                          R"(,"format":1,"locales":["device"],"timeoutMs":3000000,"horizonMs":3600000},
     "monitor":{"boundaries":["intake"]},
     "type":[{"name":"T","schema":{"type":"object","required":["k"],"properties":{"k":{"type":"string"}}}}],
     "node":[{"id":"in","kind":"ingress","out":["T"],"key":"k","monitor":{"boundary":"intake","operation":"admit"}},
      {"id":"doctor","kind":"counselor","who":["dr"],"timeoutMs":)",
                          askMs, R"(,"in":["T"],"out":["T"]},
      {"id":"out","kind":"egress","in":["T"],"monitor":{"boundary":"intake","operation":"admit"}}],
     "edge":[{"from":"in","to":"doctor","type":"T"},{"from":"doctor","to":"out","type":"T"})",
                          more, "]}"))
      .value()
      .as_object();
}
inline std::shared_ptr<AgentSetup> gateSetup() { return setupOf({}, graphPolicy({"gate"}, {"k"})); }

// What a test's agent emits for a message.
class Emitter final : public agents::Agent {
 public:
  using Emit = std::function<agents::Emission(const json::object& body)>;
  Emitter(const char* id, agents::Capability held, Emit emit) : emit_(std::move(emit)) {
    spec_.id = id, spec_.version = "1", spec_.what = "emits", spec_.category = "test", spec_.locale = {"device"};
    spec_.inGraphs = true;
    spec_.capabilities = {std::move(held)};
  }
  const agents::AgentSpec& spec() const override { return spec_; }
  agents::Turn step(const json::value&, const agents::Input& input) const override {
    agents::Finish finish;
    finish.emits = {emit_(input.content.at("graph").at("body").as_object())};
    return {nullptr, {}, std::move(finish)};
  }

 private:
  agents::AgentSpec spec_;
  Emit emit_;
};

// Devices of one cluster that run graphs. Device a owns them.
class Stage {
 public:
  Stage(json::object of, std::vector<std::shared_ptr<const AgentSetup>> setups,
        std::vector<const kernel::DomainModule*> domains,
        const std::function<void(std::size_t, ReplicaConfig&)>& more = {})
      : cluster(setups.size(), [=](std::size_t n, ReplicaConfig& config) {
          if (more) more(n, config);
          config.domains = domains;
          config.domains.push_back(&budget());
          config.domains.push_back(&graphs());
          config.agents = setups[n];
        }) {
    cluster.found();
    for (std::size_t n = 0; n < setups.size(); ++n) devices.push_back(&cluster.of(std::string(1, char('a' + n))));
    document = std::move(of);
    graph = std::string(document.at("graph").at("id").as_string());
  }

  void deploy() { deploy(document); }
  void deploy(const json::object& of) {
    const auto read = graph::readDocument(of);
    ASSERT_NE(read.document, nullptr);
    const std::string id = read.document->id;
    submit(cluster.a(), initRequest(graphs(), id, operation(), json::object{}));
    step();
    submit(cluster.a(), deployRequest(graphs(), *read.document, of, operation()).value());
    ASSERT_TRUE(rounds([&] { return cluster.a().replica().graphs()->runtime(id) != nullptr; })) << words(cluster.a());
  }
  void propose(Device& device, const kernel::DomainModule& module, const std::string& entity, const std::string& role,
               const json::object& action) {
    const auto request = proposalRequest(module, entity, role, operation(), action);
    ASSERT_TRUE(request.ok()) << request.error().message;
    submit(device, *request);
  }
  void submit(Device& device, const Request& request) {
    ASSERT_TRUE(device.replica().submit(request, at(device.ms)).ok());
  }
  void send(Device& device, const std::string& ingress, const std::string& id, const json::object& body) {
    submit(device, ingressRequest(graph, ingress, id, operation(), canonicalJson(body)));
  }
  void answer(Device& device, const std::string& by, const std::string& node, bool approve = true) {
    const json::object action = answerOf(device, by, approve);
    ASSERT_EQ(action.at("node"), json::value(node));
    propose(device, graphs(), graph, "Person", action);
  }
  // To the one question that is open.
  json::object answerOf(Device& device, const std::string& by, bool approve) const {
    const auto questions = domains::graph::questionsIn(state(device));
    EXPECT_THAT(questions, ::testing::SizeIs(1));
    const domains::graph::Question asked = questions.empty() ? domains::graph::Question() : questions[0];
    return {{"type", "Answer"}, {"run", asked.run},       {"node", asked.node}, {"span", asked.span},
            {"by", by},         {"digest", asked.digest}, {"approve", approve}};
  }
  void connectAll(bool connected) {
    for (std::size_t i = 0; i < devices.size(); ++i)
      for (std::size_t k = 0; k < i; ++k)
        connected ? cluster.connect(*devices[k], *devices[i]) : cluster.cut(*devices[k], *devices[i]);
  }
  template <class Until>
  bool rounds(Until until, int most = 600) {
    for (int round = 0; round < most && !until(); ++round) step();
    return until();
  }
  void step() {
    cluster.collect();
    for (std::deque<TestCluster::Frame> frames = std::exchange(cluster.underWay, {}); !frames.empty();
         frames.pop_front())
      cluster.hand(frames.front());
    std::int64_t wait = 1'000;
    for (Device* device : devices) {
      for (const agents::ToolCall& call : std::exchange(device->toolCalls, {})) onCall(*device, call);
      wait = std::min(wait, device->replica().nextTickMs() - device->ms);
    }
    for (Device* device : devices) device->passTime(std::max<std::int64_t>(1, wait));
  }

  const kernel::EntityState* state(Device& device) const {
    return device.replica().host("graph/0")->partition().state(graph);
  }
  std::string statusOf(Device& device, const std::string& external) const {
    for (const domains::graph::Run& run : domains::graph::runsIn(state(device)))
      if (run.external == external) return run.status;
    return "";
  }
  // Of the runs with this end (and external id, if one is given), in order.
  std::vector<json::value> outputsOf(Device& device, const std::string& status, const std::string& external = "") {
    std::vector<json::value> bodies;
    GraphBodies all(device.replica().data(), "main");
    for (const domains::graph::Run& run : domains::graph::runsIn(state(device)))
      if (run.status == status && (external.empty() || run.external == external))
        for (const domains::graph::Output& one : domains::graph::outputsIn(state(device), run.id))
          bodies.push_back(*all.find(one.digest));
    return bodies;
  }
  bool asks(Device& device) const { return !domains::graph::questionsIn(state(device)).empty(); }
  json::object bodyAsked(Device& device) const {
    const graph::Body body =
        GraphBodies(device.replica().data(), "main").find(domains::graph::questionsIn(state(device)).at(0).digest);
    return body == nullptr ? json::object() : body->as_object();
  }
  std::string words(Device& device) const {
    std::string all;
    for (const Notice& notice : device.notices) all += notice.kind + ": " + notice.what + "\n";
    for (const Answer& answer : device.answers)
      all += answer.operationId + ": " + answer.invariant + " " + answer.message + "\n";
    return all;
  }
  std::vector<std::string> journal(Device& device, const std::string& prefix) const {
    auto ids = (*device.replica().data().database(replication::DatabaseName::journal).space("main"))
                   ->keys(replication::Kind::journal);
    std::erase_if(ids, [&](const std::string& id) { return !id.starts_with(prefix); });
    return ids;
  }

  TestCluster cluster;
  std::vector<Device*> devices;
  json::object document;
  std::string graph;
  std::function<void(Device&, const agents::ToolCall&)> onCall = [](Device&, const agents::ToolCall& call) {
    ADD_FAILURE() << "a call of " << call.tool;
  };

 private:
  std::string operation() { return "stage-" + std::to_string(++operations_); }
  int operations_ = 0;
};

}  // namespace witan::node::test

// A graph with an agent, a person, and an effect in the journal, on a device whose power the test cuts.
#pragma once

#include <gtest/gtest.h>

#include "agents/policy/policy.h"
#include "domains/graph/steps.h"
#include "replica/agent_runtime.h"
#include "replica/graph_runtime.h"
#include "replication/records/journal_entity.h"
#include "replication/records/record_write.h"
#include "tests/replica/test_cluster.h"

namespace witan::node::test {

inline const kernel::DomainModule& graphs() {
  static const std::unique_ptr<kernel::DomainModule> module = *domains::makeDomain("graph");
  return *module;
}

// in -> writer (again, while `left` falls) -> doctor, who is asked -> out, into the journal.
inline std::string loopDocument(std::int64_t version = 1) {
  std::string text = R"({"graph":{"id":"loop","version":VERSION,"format":1,"locales":["device"],
    "budget":{"steps":50,"tokens":1000,"seconds":60},"timeoutMs":86400000,"onCancel":"compensate"},
   "monitor":{"boundaries":["intake","journal"]},
   "type":[{"name":"T","schema":{"type":"object","required":["topic","left"],"properties":{"topic":{"type":"string",
     "maxLength":50},"left":{"type":"integer","minimum":0,"maximum":9}}}},
    {"name":"Done","schema":{"type":"object","required":["topic"],"properties":{"topic":{"type":"string","maxLength":50}}}}],
   "node":[{"id":"in","kind":"ingress","out":["T"],"key":"topic","monitor":{"boundary":"intake","operation":"admit"}},
    {"id":"writer","kind":"agent","agent":"writer","version":"1","in":["T"],"out":["T","Done"]},
    {"id":"doctor","kind":"counselor","who":["ada"],"timeoutMs":36000000,"in":["Done"],"out":["Done"]},
    {"id":"out","kind":"egress","in":["Done"],"monitor":{"boundary":"journal","operation":"put"},
     "sink":{"tool":"journal.put","undo":"journal.remove"},
     "capabilities":[{"resource":"journal.put"},{"resource":"journal.remove"}]}],
   "edge":[{"from":"in","to":"writer","type":"T"},{"from":"writer","to":"writer","type":"T","guard":{"measure":"left"}},
    {"from":"writer","to":"doctor","type":"Done"},{"from":"doctor","to":"out","type":"Done"}]})";
  return text.replace(text.find("VERSION"), 7, std::to_string(version));
}

class Writer final : public agents::Agent {
 public:
  const agents::AgentSpec& spec() const override {
    static const agents::AgentSpec kSpec{
        .id = "writer", .version = "1", .what = "writes", .category = "test", .locale = {"device"}, .inGraphs = true};
    return kSpec;
  }
  agents::Turn step(const json::value&, const agents::Input& input) const override {
    json::object body = input.content.at("graph").at("body").as_object();
    const std::int64_t left = body.at("left").as_int64();
    agents::Finish finish;
    body["left"] = left - 1;
    if (left > 0) finish.emits = {{"T", std::move(body)}};
    if (left == 0) finish.emits = {{"Done", json::object{{"topic", body.at("topic")}}}};
    return {nullptr, {}, std::move(finish)};
  }
};

inline std::shared_ptr<const AgentSetup> graphSetup() {
  static const Writer writer;
  agents::Policy policy{.name = "test", .version = 1};
  policy.boundary = {{"intake", {"device"}, {{"admit", {"topic", "left"}}}},
                     {"journal", {"device"}, {{"put", {"topic"}}}}};
  policy.grant = {{"loop", "graph", {"device"}, {"graph"}, {"intake", "journal"}}};
  auto setup = std::make_shared<AgentSetup>();
  setup->agents = {&writer};
  setup->policy = std::make_shared<agents::DeviceGate>(agents::Monitor::compile(policy).value());
  setup->options.wake.graceMs = 0;
  return setup;
}

inline void configureGraphs(ReplicaConfig& config) {
  config.domains = {&budget(), &graphs()};
  config.agents = graphSetup();
}

// What people and a producer do, again and again until it is done.
class GraphDriver {
 public:
  explicit GraphDriver(std::string external = "x") : external_(std::move(external)) {}

  static const kernel::EntityState* state(Device& device) {
    return device.replica().host("graph/0")->partition().state("loop");
  }
  std::optional<domains::graph::Run> run(Device& device) const {
    for (const domains::graph::Run& run : domains::graph::runsIn(state(device)))
      if (run.external == external_) return run;
    return std::nullopt;
  }
  std::string operation() { return "drive-" + external_ + "-" + std::to_string(++operations_); }

  void propose(Device& device, const std::string& role, const json::object& action) {
    auto request = proposalRequest(graphs(), "loop", role, operation(), action);
    ASSERT_TRUE(request.ok()) << request.error().message;
    (void)device.replica().submit(*request, at(device.ms));
  }
  static Status deploy(Device& device, const std::string& text, GraphDriver& driver) {
    WITAN_TRY(document, graph::parseDocument(text));
    WITAN_TRY(request, deployRequest(graphs(), *document, parseJson(text).value(), driver.operation()));
    return device.replica().submit(request, at(device.ms));
  }
  // One thing that is to be done.
  void act(Device& device) {
    if (state(device) == nullptr) {
      (void)device.replica().submit(initRequest(graphs(), "loop", operation(), json::object{}), at(device.ms));
    } else if (!domains::graph::deployedIn(state(device))) {
      (void)deploy(device, loopDocument(), *this);
    } else if (!run(device)) {
      (void)device.replica().submit(ingressRequest("loop", "in", external_, operation(), R"({"left":2,"topic":"tea"})"),
                                    at(device.ms));
    }
    for (const domains::graph::Question& question : domains::graph::questionsIn(state(device)))
      propose(device, "Person",
              {{"type", "Answer"},
               {"run", question.run},
               {"node", question.node},
               {"span", question.span},
               {"digest", question.digest},
               {"by", "ada"},
               {"approve", true}});
  }

 private:
  const std::string external_;
  int operations_ = 0;
};

// The spans that finished, each as often as it did, and the ids of what stands in the journal.
inline std::vector<std::string> finishedSpans(Device& device) {
  std::vector<std::string> spans;
  PartitionHost& host = *device.replica().host("graph/0");
  for (std::uint64_t seq = 1; seq <= host.partition().size(); ++seq) {
    const auto entry = kernel::readEntry(*host.ledger().entryBytes(seq));
    const auto action = parseJson(entry->action, {.bytes = kernel::kRecordMax, .depth = 64});
    if (action->at("type") == "Finish" && entry->tag == kernel::Tag::approved)
      spans.emplace_back(action->at("span").as_string());
  }
  std::sort(spans.begin(), spans.end());
  return spans;
}
inline std::vector<std::string> journalOf(Device& device) {
  auto space = device.replica().data().database(replication::DatabaseName::journal).space("main");
  std::vector<std::string> ids;
  for (const std::string& id : (*space)->keys(replication::Kind::journal)) {
    // Devices that were apart may each have carried it out, as one operation: that is one edit.
    std::set<std::optional<Hash>> operations;
    const auto versions = (*space)->versions(replication::Kind::journal, id);
    for (const replication::Version& version : *versions)
      operations.insert(replication::decodeRecord<replication::JournalBody>(version.body)->operationId);
    if (operations.size() == 1 && *operations.begin()) ids.push_back(id);
  }
  return ids;
}

}  // namespace witan::node::test

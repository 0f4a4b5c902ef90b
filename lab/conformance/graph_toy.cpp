#include "lab/conformance/graph_toy.h"

#include "base/check.h"
#include "kernel/graph/checks.h"
#include "lab/conformance/toy.h"

namespace witan::agents::conformance {

using namespace graph;

namespace {

constexpr std::uint64_t kArrivals = 4;
constexpr int kPatience = 10'000;  // instants

constexpr const char* kToy = R"({"graph":{"id":"toy","version":1,"format":1},
  "monitor":{"boundaries":["intake","journal"]},
  "type":[{"name":"T","schema":{"type":"object","required":["k"],"properties":{"k":{"type":"string","maxLength":9}}}}],
  "node":[
    {"id":"in","kind":"ingress","out":["T"],"key":"k","monitor":{"boundary":"intake","operation":"admit"}},
    {"id":"first","kind":"agent","agent":"toy","version":"1","in":["T"],"out":["T"],"concurrency":2,
     "retry":{"firstBackoffMs":1,"maxBackoffMs":4}},
    {"id":"second","kind":"agent","agent":"toy","version":"1","in":["T"],"out":["T"],
     "retry":{"firstBackoffMs":1,"maxBackoffMs":4}},
    {"id":"beside","kind":"function","function":"identity","in":["T"],"out":["T"]},
    {"id":"out","kind":"egress","in":["T"],"monitor":{"boundary":"journal","operation":"put"},
     "sink":{"tool":"put"},"capabilities":[{"resource":"put"}]}],
  "edge":[{"from":"in","to":"first","type":"T"},{"from":"first","to":"second","type":"T","capacity":2},
    {"from":"second","to":"beside","type":"T"},{"from":"beside","to":"out","type":"T"},
    {"from":"second","to":"first","type":"T"},{"from":"second","to":"second","type":"T"}]})";

Environment toyEnvironment() {
  Environment environment;
  environment.agents["toy"] = {"1", {}, "toy", true};
  environment.tools["put"] = {"journal", {}};
  environment.boundaries = {{"intake", {"admit"}}, {"journal", {"put"}}};
  return environment;
}

class GraphHost {
 public:
  GraphHost(std::uint64_t seed, const GraphLife& life) : seed_(seed), life_(life) {
    lived_.document = toyGraph(seed);
    start();
    WITAN_CHECK(runtime_->deploy(lived_.document, 0).ok(), "a first document");
    collect();
  }

  GraphLived live() {
    for (now_ = 1; now_ < kPatience && !isOver(); ++now_) step();
    lived_.stuck = !isOver();
    lived_.runs = runtime_->runs();
    for (const Entry& entry : durable_) lived_.ledger.insert(lived_.ledger.end(), entry.begin(), entry.end());
    return std::move(lived_);
  }

 private:
  void start() { runtime_.emplace(life_.hasPolicy ? allowAll() : denyAll()); }

  // The producer keeps what was not taken in, and offers all of it again.
  void step() {
    const std::vector<Work> ready = std::exchange(work_, {});
    for (const Work& one : ready)
      if (!finish(one)) return;
    runtime_->expire(now_);
    for (std::uint64_t i = 0; i < kArrivals; ++i)
      runtime_->admit("in", "m" + std::to_string(i), json::object{{"k", i % 2 == 0 ? "a" : "b"}}, now_);
    if (!collect()) return;
    runtime_->dispatch(now_);
    collect();
  }

  bool isOver() const {
    std::size_t ended = 0;
    for (const RunView& run : runtime_->runs()) ended += run.status == "running" ? 0 : 1;
    return ended == kArrivals;
  }

  // False: the process died.
  bool finish(const Work& one) {
    if (!runtime_->isRunning(one.span, one.attempt)) return true;
    const std::uint64_t choice = mix(seed_, one.span + std::to_string(one.attempt)) % 8;
    if (one.node == "out") {
      const bool found = life_.checksRecords && lived_.world.contains(one.span);
      if (!found) ++lived_.world[one.span];
      runtime_->finishEffect(one.span, one.attempt, found, now_);
    } else if (choice == 0) {
      runtime_->fail(one.span, one.attempt, "unavailable", false, now_);
    } else {
      runtime_->finish(one.span, one.attempt, {{"T", *one.body}}, now_);
    }
    return collect();
  }

  // Entries become durable one by one, then the work may begin. False: the process died.
  bool collect() {
    Taken taken = runtime_->take();
    for (Entry& entry : taken.entries) {
      const std::uint64_t number = lived_.writes++;
      if (life_.dieAt != 2 * number) durable_.push_back(std::move(entry));
      if (life_.dieAt == 2 * number || life_.dieAt == 2 * number + 1) return die();
    }
    work_.insert(work_.end(), taken.work.begin(), taken.work.end());
    return true;
  }

  bool die() {
    work_.clear();
    start();
    for (const Entry& entry : durable_) runtime_->apply(entry);
    if (durable_.empty()) WITAN_CHECK(runtime_->deploy(lived_.document, now_).ok(), "a first document");
    runtime_->recover(now_);
    collect();
    return false;
  }

  const std::uint64_t seed_;
  const GraphLife life_;
  std::optional<Runtime> runtime_;
  std::vector<Entry> durable_;
  std::vector<Work> work_;
  GraphLived lived_;
  std::int64_t now_ = 0;
};

}  // namespace

std::shared_ptr<const Document> toyGraph(std::uint64_t seed) {
  json::value from = parseJson(kToy).value();
  json::array& edges = from.as_object().at("edge").as_array();
  for (const std::size_t at : {4, 5})
    edges[at].as_object()["guard"] =
        json::object{{"bound", std::int64_t(1 + mix(seed, "bound" + std::to_string(at)) % 3)}};
  Checked checked = checkGraph(from, toyEnvironment());
  WITAN_CHECK(checked.errors.empty(), "the toy passes the checks");
  return checked.document;
}

Monitor allowAll() {
  return [](const Crossing&, const json::value&) { return Decision{"allow", "", {}}; };
}
Monitor denyAll() {
  return [](const Crossing&, const json::value&) { return Decision(); };
}

GraphLived liveGraph(std::uint64_t seed, const GraphLife& life) { return GraphHost(seed, life).live(); }

}  // namespace witan::agents::conformance

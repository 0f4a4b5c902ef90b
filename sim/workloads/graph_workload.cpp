// A graph at work: messages at its ingress, some of them again; what people answer, cancel and send again; new
// versions.
#include "domains/graph/steps.h"
#include "replica/graph_runtime.h"
#include "sim/sim_graph.h"
#include "sim/workloads/workload.h"

namespace witan::sim {

using domains::graph::Question;

namespace {

const kernel::EntityState* stateOf(Clients& clients, const kernel::DomainModule& module, const Seat& at) {
  const kernel::Partition* copy = clients.someCopy(at, module, kSimGraph);
  return copy == nullptr ? nullptr : copy->state(kSimGraph);
}

void propose(Cluster& c, Clients& clients, Seat& at, const std::string& role, const std::string& operation,
             const json::object& action) {
  const kernel::DomainModule& module = *clients.moduleOf(node::kGraphDomain);
  auto request = node::proposalRequest(module, std::string(kSimGraph), role, operation, action);
  WITAN_CHECK(request.ok(), "the simulator's actions on graphs are actions");
  c.trace(at.index(), "work", "graph", canonicalJson(action));
  clients.submit(at, *std::move(request), false);
}

// The body of the document, which must be durable before the entry that names it.
void keepDocument(Cluster& c, Seat& at, std::int64_t version, bool hears) {
  node::GraphBodies bodies(at.replica().data(), "main");
  const auto document = std::make_shared<const json::value>(simGraph(c.plan().options.seed, version, hears));
  if (const Status kept = bodies.keep({document}); !kept.ok())
    c.trace(at.index(), "work", "commit refused", kept.error().message);
}

void deploy(Cluster& c, Clients& clients, Seat& at, const json::value& source, const std::string& operation) {
  const auto read = graph::readDocument(source);
  WITAN_CHECK(read.document != nullptr, "the simulator's graphs are graphs");
  auto request = node::deployRequest(*clients.moduleOf(node::kGraphDomain), *read.document, source, operation);
  WITAN_CHECK(request.ok(), "the simulator's deployments are deployments");
  c.trace(at.index(), "work", "graph", concat("deploy ", read.document->version));
  clients.submit(at, *std::move(request), false);
}

json::object answerTo(const Question& question, const char* by, bool approve) {
  return {{"type", "Answer"},      {"run", question.run},       {"node", question.node},
          {"span", question.span}, {"digest", question.digest}, {"by", by},
          {"approve", approve}};
}

class GraphWorkload final : public Workload {
 public:
  GraphWorkload(Cluster& cluster, Clients& clients)
      : Workload(cluster, clients), module_(clients.moduleOf(node::kGraphDomain)) {}

  void onFounded() override {
    if (module_ == nullptr) return;
    Seat& at = c_.seat(0);
    node::Request begin = node::initRequest(*module_, std::string(kSimGraph), "init-graph", json::object{});
    clients_.submit(at, std::move(begin), true);
    announce(at, 1);
  }
  void onStopped(Seat& at) override { announced_[at].clear(); }
  void onDurable(Seat& at) override {
    for (Announced& one : announced_[at])
      if (!std::exchange(one.durable, true)) c_.agenda().add(c_.agenda().now() + 1'000, StepKind::alarm, at.index());
  }
  void beforeDrain(Seat& at) override {
    std::vector<Announced>& waiting = announced_[at];
    if (waiting.empty() || !waiting.front().durable || c_.settling()) return;
    for (const Announced& one : std::exchange(waiting, {}))
      deploy(c_, clients_, at, simGraph(c_.plan().options.seed, one.version, hears()),
             concat("deploy-", one.version, "-", at.name()));
  }

  void onEvent(Seat& at, const Event& event) override {
    if (module_ == nullptr) return;
    switch (event.kind) {
      case EventKind::graphSend: return send(at, event);
      case EventKind::graphAct: return act(at, event);
      case EventKind::graphDeploy:
        announce(at, deployed(at) + 1);
        c_.probe("graph: broken version");
        return deploy(
            c_, clients_, at,
            brokenSimGraph(c_.plan().options.seed, deployed(at) + 1 + std::int64_t(event.m % 2), event.seed, hears()),
            "deploy-broken-" + hexDigest(event.seed));
      default: return;
    }
  }

 private:
  struct Announced {
    std::int64_t version = 0;
    bool durable = false;
  };

  bool hears() const { return clients_.moduleOf(kHeardDomain) != nullptr; }
  std::int64_t deployed(const Seat& at) {
    const auto version = domains::graph::deployedIn(stateOf(clients_, *module_, at));
    return version ? version->number : 0;
  }
  void announce(Seat& at, std::int64_t version) {
    keepDocument(c_, at, version, hears());
    announced_[at].push_back({version});
  }

  // Now and then a message that was sent before.
  void send(Seat& at, const Event& event) {
    const bool again = !sent_.empty() && event.n % 6 == 0;
    if (!again) sent_.push_back({"x-" + hexDigest(event.seed), event.seed});
    const auto& [external, content] = again ? sent_[event.m % sent_.size()] : sent_.back();
    if (again) c_.probe("graph: message repeated");
    clients_.submit(at,
                    node::ingressRequest(std::string(kSimGraph), "in", external, "graph-" + hexDigest(event.seed),
                                         canonicalJson(simGraphMessage(content))),
                    false);
  }

  void act(Seat& at, const Event& event) {
    const kernel::EntityState* state = stateOf(clients_, *module_, at);
    const std::string operation = "graph-act-" + hexDigest(event.seed);
    if (event.n % 8 == 7) return intervene(at, event, state, operation);
    const std::vector<Question> questions = domains::graph::questionsIn(state);
    if (questions.empty()) return;
    Question question = questions[event.m % questions.size()];
    if (event.n % 8 == 6) {  // who may not, or about another body
      if (event.m % 2 == 0) question.digest = toHex(sha256(question.digest));
      c_.probe("graph: answer that does not count");
      return propose(c_, clients_, at, "Person", operation, answerTo(question, event.m % 2 == 0 ? "ada" : "eve", true));
    }
    propose(c_, clients_, at, "Person", operation, answerTo(question, "ada", event.n % 8 != 5));
  }

  void intervene(Seat& at, const Event& event, const kernel::EntityState* state, const std::string& operation) {
    const std::vector<domains::graph::Run> runs = domains::graph::runsIn(state);
    if (runs.empty()) return;
    // Mostly one that waits for a person: it may have had effects.
    std::size_t which = event.m % runs.size();
    if (const auto questions = domains::graph::questionsIn(state); !questions.empty() && event.seed % 4 != 0)
      for (std::size_t n = 0; n < runs.size(); ++n)
        if (runs[n].id.hex() == questions[event.m % questions.size()].run) which = n;
    const domains::graph::Run& run = runs[which];
    if (run.status == "running")
      return propose(c_, clients_, at, "Operator", operation,
                     {{"type", "Cancel"}, {"run", run.id.hex()}, {"why", "a test"}});
    const auto letters = domains::graph::lettersIn(state, run.id);
    if (letters.empty()) return;
    c_.probe("graph: dead letter sent again");
    propose(
        c_, clients_, at, "Operator", operation,
        {{"type", "Redrive"}, {"run", run.id.hex()}, {"message", letters[event.m % letters.size()].message.id.hex()}});
  }

  const kernel::DomainModule* const module_;  // null: no graph runs
  PerDevice<std::vector<Announced>> announced_;
  std::vector<std::pair<std::string, std::uint64_t>> sent_;  // external ids, and of what content
};

}  // namespace

void attendToGraphs(Cluster& c, Clients& clients, Seat& at, std::uint64_t turn) {
  const kernel::DomainModule* module = clients.moduleOf(node::kGraphDomain);
  if (module == nullptr) return;
  node::PartitionHost* host = at.replica().host(at.replica().partitionFor(node::kGraphDomain, kSimGraph));
  if (host == nullptr || !at.replica().owns(*host)) return;
  const kernel::EntityState* state = host->partition().state(kSimGraph);
  if (state == nullptr) return;
  if (const auto version = domains::graph::deployedIn(state))
    for (std::int64_t n = 1; n <= version->number; ++n)
      keepDocument(c, at, n, clients.moduleOf(kHeardDomain) != nullptr);
  for (const Question& question : domains::graph::questionsIn(state))
    propose(c, clients, at, "Person", concat("graph-settle-", turn, "-", question.span),
            answerTo(question, "ada", true));
  c.put(at.index(), {});
}

std::unique_ptr<Workload> makeGraphWorkload(Cluster& cluster, Clients& clients) {
  return std::make_unique<GraphWorkload>(cluster, clients);
}

}  // namespace witan::sim

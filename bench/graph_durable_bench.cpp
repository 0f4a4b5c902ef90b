// Graphs on a device with disks: each step is an entry of the ledger, durable before what rests on it leaves.
//
//   witan_graph_durable_bench --dir DIR [--in-flight N] [--loops N] [--seconds N]   deliveries a second, group commit
//   witan_graph_durable_bench --dir DIR --open N                                    N runs that wait for a person: a
//       child makes them and is killed; how long until a new process has all of them at work, and what they weigh
//
// DIR must not exist.
#include <malloc.h>
#include <signal.h>
#include <sys/wait.h>

#include <filesystem>

#include "agents/policy/policy.h"
#include "bench/bench_tools.h"
#include "domains/graph/steps.h"
#include "domains/registry.h"
#include "replica/core/partition_host.h"
#include "replica/graph_runtime.h"
#include "replica/replica.h"
#include "replica/replica_effects.h"
#include "store/rocks_store.h"

namespace {

using namespace witan;
using namespace witan::bench;
using namespace witan::node;
using Steady = std::chrono::steady_clock;

// in -> a -> b -> a while `n` falls; in -> who, who is asked.
constexpr std::string_view kDocument = R"({"graph":{"id":"g","version":1,"format":1,"timeoutMs":360000000,
  "horizonMs":604800000,"maxDeliveries":1000},"monitor":{"boundaries":["intake"]},
 "type":[{"name":"T","schema":{"type":"object","required":["k","n"],"properties":{"k":{"type":"string","maxLength":50},
   "n":{"type":"integer","minimum":0,"maximum":1000}}}}],
 "node":[{"id":"in","kind":"ingress","out":["T"],"key":"k","capacity":1000000,
   "monitor":{"boundary":"intake","operation":"admit"}},
  {"id":"ask","kind":"ingress","out":["T"],"key":"k","capacity":1000000,
   "monitor":{"boundary":"intake","operation":"admit"}},
  {"id":"a","kind":"function","function":"identity","in":["T"],"out":["T"],"concurrency":64},
  {"id":"b","kind":"function","function":"decrement","args":{"field":"n"},"in":["T"],"out":["T"],"concurrency":64},
  {"id":"who","kind":"counselor","who":["ada"],"timeoutMs":300000000,"retry":{"maxAttempts":1},"in":["T"],"out":["T"],"concurrency":64}],
 "edge":[{"from":"in","to":"a","type":"T","capacity":1000000},{"from":"a","to":"b","type":"T","capacity":1000000},
  {"from":"b","to":"a","type":"T","guard":{"measure":"n"}},{"from":"ask","to":"who","type":"T","capacity":1000000},{"from":"who","to":"a","type":"T","capacity":1000000}]})";

class Node {
 public:
  explicit Node(const std::string& dir) : module_(must(domains::makeDomain("graph"), "domain")) {
    for (const char* name : {"journal", "agents", "ledgers"})
      stores_.push_back(must(store::openRocksStore(dir + "/" + name, {}), "store"));
    agents::Policy policy{.name = "bench", .version = 1};
    policy.boundary = {{"intake", {"device"}, {{"admit", {"k", "n"}}}}};
    policy.grant = {{"g", "graph", {"device"}, {"graph"}, {"intake"}}};
    auto setup = std::make_shared<AgentSetup>();
    setup->policy = std::make_shared<agents::DeviceGate>(must(agents::Monitor::compile(policy), "policy"));
    ReplicaConfig config;
    config.replication.cluster = "bench", config.replication.clusterKey = "key", config.replication.device = "a";
    config.replication.trustStore = true;
    config.replication.freshTag = [] { return static_cast<std::uint32_t>(Steady::now().time_since_epoch().count()); };
    config.domains = {module_.get()};
    config.partitions = 1;
    config.agents = std::move(setup);
    replica_ = must(Replica::open({*stores_[0], *stores_[1], *stores_[2]}, std::move(config), now()), "replica");
  }

  static Now now() {
    const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(Steady::now().time_since_epoch()).count();
    return {SystemClock().now(), ms};
  }
  Replica& replica() { return *replica_; }
  const graph::Runtime* runtime() const { return replica_->graphs()->runtime("g"); }
  // Answers of this round.
  std::vector<Answered> round() {
    Effects effects;
    must(replica_->drain(now(), effects), "round");
    replica_->tick(now());
    return std::move(effects.answers);
  }
  void begin() {
    must(replica_->bootstrap(now()), "bootstrap");
    const json::value document = parseJson(kDocument).value();
    must(replica_->submit(initRequest(*module_, "g", "init", json::object{}), now()), "init");
    round();
    must(replica_->submit(
             must(deployRequest(*module_, *graph::readDocument(document).document, document, "deploy"), "deploy"),
             now()),
         "deploy");
    for (int tries = 0; runtime() == nullptr; ++tries)
      if (round(), tries > 100) fail("the graph does not run: " + replica_->graphs()->waitsFor("g"));
  }
  void send(const char* ingress, std::uint64_t number, std::int64_t n) {
    const std::string id = std::to_string(number);
    must(replica_->submit(
             ingressRequest("g", ingress, id, "send-" + id, canonicalJson(json::object{{"k", "key-" + id}, {"n", n}})),
             now()),
         "message");
  }
  // The ledger's state of the graph once more.
  kernel::EntityPtr copyOfState() { return module_->clone(*replica_->host("graph/0")->partition().state("g")); }

 private:
  std::unique_ptr<kernel::DomainModule> module_;
  std::vector<std::unique_ptr<store::Store>> stores_;
  std::unique_ptr<Replica> replica_;
};

void measureRate(const std::string& dir, std::uint64_t inFlight, std::int64_t loops, double seconds) {
  Node node(dir);
  node.begin();
  const std::uint64_t perRun = 1 + 2 * static_cast<std::uint64_t>(loops + 1);
  std::uint64_t begun = 0, ended = 0, rounds = 0;
  const Stopwatch watch;
  const ThreadStopwatch processor(CLOCK_PROCESS_CPUTIME_ID);
  while (watch.seconds() < seconds || ended < begun) {
    for (; watch.seconds() < seconds && begun < ended + inFlight; ++begun) node.send("in", begun, loops);
    node.round();
    ++rounds;
    ended = begun - std::min<std::uint64_t>(begun, std::uint64_t(node.runtime()->running()));
  }
  const double deliveries = static_cast<double>(ended * perRun);
  std::printf(
      "%llu runs in flight, a loop of three nodes: %.0f deliveries/s, %.0f a second of processor time, %llu rounds\n",
      static_cast<unsigned long long>(inFlight), deliveries / watch.seconds(), deliveries / processor.seconds(),
      static_cast<unsigned long long>(rounds));
}

// By malloc, from the heap and from the system.
double heldBytes() {
  const auto held = mallinfo2();
  return static_cast<double>(held.uordblks + held.hblkhd);
}

[[noreturn]] void makeOpenRuns(const std::string& dir, std::uint64_t runs, int told) {
  Node node(dir);
  node.begin();
  for (std::uint64_t sent = 0; sent < runs;) {
    for (int i = 0; i < 1'000 && sent < runs; ++i) node.send("ask", sent++, 1);
    node.round();
  }
  while (std::uint64_t(node.runtime()->asking()) < runs) node.round();
  if (write(told, "k", 1) != 1) fail("the parent is gone");
  for (;;) pause();
}

void measureResume(const std::string& dir, std::uint64_t runs) {
  int told[2];
  if (pipe(told) != 0) fail("no pipe");
  const Stopwatch making;
  const pid_t child = fork();
  if (child == 0) makeOpenRuns(dir, runs, told[1]);
  close(told[1]);
  char word = 0;
  if (read(told[0], &word, 1) != 1) fail("the child failed");
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  std::printf("%llu open runs made in %.1f s, killed\n", static_cast<unsigned long long>(runs), making.seconds());
  const double before = heldBytes();
  const Stopwatch watch;
  const ThreadStopwatch processor;
  Node node(dir);
  const double opened = watch.seconds(), openedOf = processor.seconds();
  const double held = heldBytes();
  while (node.runtime() == nullptr || std::uint64_t(node.runtime()->asking()) < runs) node.round();
  const double ready = watch.seconds(), readyOf = processor.seconds();
  const double all = heldBytes();
  const kernel::EntityPtr copy = node.copyOfState();
  const double copied = heldBytes() - all;
  const auto each = [&](double bytes) { return bytes / static_cast<double>(runs); };
  std::printf(
      "resumed after SIGKILL: %.2f s, of which stores and ledgers %.2f s; of processor time %.2f s and %.2f s\n", ready,
      opened, readyOf, openedOf);
  std::printf(
      "%.0f bytes of state a run: %.0f in the runtime of the graph, %.0f in the ledger; with buffers of stores, "
      "operation ids and the index of bodies %.0f\n",
      each(all - held + copied), each(all - held), each(copied), each(all - before));
}

}  // namespace

int main(int argc, char** argv) {
  const Arguments args(argc, argv, {"--dir", "--in-flight", "--loops", "--seconds", "--open"});
  const std::string dir = args.text("--dir", "");
  if (dir.empty() || std::filesystem::exists(dir)) fail("--dir must name a folder that does not exist yet");
  std::filesystem::create_directories(dir);
  if (const std::uint64_t open = args.number("--open", 0); open > 0)
    measureResume(dir, open);
  else
    measureRate(dir, args.number("--in-flight", 64), static_cast<std::int64_t>(args.number("--loops", 9)),
                static_cast<double>(args.number("--seconds", 5)));
}

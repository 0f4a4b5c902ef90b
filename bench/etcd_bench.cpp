// Decisions whose batches etcd keeps, beside plain transactions of the same etcd in the same run.
//
//   witan_etcd_bench --dir DIR --etcd HOST:PORT,HOST:PORT,... [--in-flight N] [--seconds N] [--partitions N]
//                    [--pipeline N] [--transactions N]
//
// First a node's replica with N budget proposals in flight over the gateway of the daemon: an answer counts when it is
// durable in etcd, and then the next proposal is made. Then, one after the other, transactions that put one value of
// the size of the average batch, and such with as many values as the node's average one, of its size together; and 32
// at a time with a value of the size of one decision's share. DIR must not exist; afterwards the ledger on the disk is
// compared with what was answered.
#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "bench/bench_tools.h"
#include "domains/registry.h"
#include "node/data_dir/node_dir.h"
#include "node/data_dir/replica_dir.h"
#include "node/etcd/etcd_gateway.h"
#include "replica/core/messages.h"

namespace {

using namespace witan;
using namespace witan::bench;
using namespace witan::node;

constexpr std::size_t kEntities = 256;

Now nowIs() { return {SystemClock().now(), net::Loop::nowMs()}; }

struct Tally {
  std::uint64_t answered = 0;
  std::vector<double> latencies;  // milliseconds
  double seconds = 0;
  void print(const char* what) const {
    std::printf("%-44s %9.0f /s   p50 %8.2f ms   p99 %8.2f ms\n", what, static_cast<double>(answered) / seconds,
                quantile(latencies, 0.5), quantile(latencies, 0.99));
  }
};

std::size_t putsOf(const EtcdRequest& request) {
  return static_cast<std::size_t>(
      std::ranges::count_if(request.then, [](const EtcdOp& op) { return op.act == EtcdAct::put; }));
}

// The part of Daemon that is between replica and gateway.
class Node {
 public:
  Node(net::Loop& loop, const std::string& dir, const std::vector<std::string>& endpoints, std::uint32_t partitions,
       EtcdOptions etcd)
      : loop_(loop),
        log_(
            LogLevel::warn, false, [] { return SystemClock().now(); },
            [](std::string_view line) { std::fwrite(line.data(), 1, line.size(), stderr); }) {
    NewReplica made;
    made.device = "bench";
    must(ReplicaDir::create(dir, made), "directory");
    NodeSetup setup;
    setup.domainNames = {"budget"};
    setup.partitions = partitions;
    setup.etcd = etcd;
    setup.etcd->copies = 1;
    dir_ = must(NodeDir::open(dir, std::move(setup), nowIs()), "node");
    EtcdGatewayOptions options;
    for (const std::string& address : endpoints) options.endpoints.push_back({.address = address});
    EtcdGateway::Events events;
    events.connected = [this] { replica().etcdConnected(nowIs()), scheduleTick(); };
    events.disconnected = [this] { replica().etcdDisconnected(), scheduleTick(); };
    events.received = [this](const EtcdAnswer& answer) {
      if (const auto at = sent_.find(answer.id); at != sent_.end()) {
        transactions.push_back(1e3 * at->second.seconds());
        sent_.erase(at);
      }
      replica().etcdReceived(answer, nowIs()), scheduleTick();
    };
    gateway_ = std::make_unique<EtcdGateway>(loop, log_, options, std::move(events));
    gateway_->start();
    scheduleTick();
  }

  Replica& replica() { return dir_->replica(); }
  const EtcdGateway& gateway() const { return *gateway_; }
  std::function<void(const Answer&)> onAnswer;
  std::vector<double> rounds, transactions;  // milliseconds, while there is onAnswer
  std::size_t puts = 0;                      // of those transactions

  void scheduleTick() {
    if (std::exchange(due_, true)) return;
    loop_.post([this] {
      due_ = false;
      const Stopwatch watch;
      replica().tick(nowIs());
      Effects effects;
      must(dir_->drain(nowIs(), effects), "drain");
      for (const EtcdRequest& request : effects.etcd)
        if (onAnswer && request.call == EtcdCall::txn) sent_[request.id] = {}, puts += putsOf(request);
      gateway_->send(std::move(effects.etcd));
      if (onAnswer) rounds.push_back(1e3 * watch.seconds());
      for (const Answered& answered : effects.answers)
        if (onAnswer) onAnswer(answered.answer);
      wakeUp();
    });
  }
  bool ownsAll() {
    for (const auto& [id, host] : replica().hosts())
      if (!replica().owns(*host)) return false;
    return true;
  }
  std::uint64_t entries() {
    std::uint64_t all = 0;
    for (const auto& [id, host] : replica().hosts()) all += host->partition().size();
    return all;
  }
  std::uint64_t batches() {
    std::uint64_t all = 0;
    for (const auto& [id, host] : replica().hosts()) all += host->position().batches;
    return all;
  }

 private:
  // As Daemon::armTimer.
  void wakeUp() {
    if (timer_ != 0) loop_.cancel(timer_);
    timer_ = loop_.after(std::clamp<std::int64_t>(replica().nextTickMs() - net::Loop::nowMs(), 1, 20), [this] {
      timer_ = 0;
      scheduleTick();
    });
  }
  net::Loop& loop_;
  Log log_;
  std::unique_ptr<NodeDir> dir_;
  std::unique_ptr<EtcdGateway> gateway_;
  std::map<std::uint64_t, Stopwatch> sent_;  // transactions
  net::Loop::TimerId timer_ = 0;
  bool due_ = false;
};

// Keeps `inFlight` requests that `next` makes on their way, for so many seconds, then waits for the rest.
Tally decide(net::Loop& loop, Node& node, std::size_t inFlight, double seconds,
             const std::function<Request(std::uint64_t)>& next, std::uint64_t most = ~std::uint64_t{0}) {
  Tally tally;
  std::map<std::string, Stopwatch, std::less<>> sent;
  std::uint64_t made = 0;
  const Stopwatch watch;
  const auto submit = [&] {
    Request request = next(made++);
    sent.emplace(request.operationId, Stopwatch());
    must(node.replica().submit(std::move(request), nowIs()), "submit");
  };
  node.onAnswer = [&](const Answer& answer) {
    const auto at = sent.find(answer.operationId);
    if (at == sent.end()) return;
    if (answer.kind != AnswerKind::decided || answer.outcome == kernel::Outcome::refused)
      fail("not decided: " + answer.message);
    tally.latencies.push_back(1e3 * at->second.seconds());
    sent.erase(at);
    ++tally.answered;
    if (watch.seconds() < seconds && made < most) submit(), node.scheduleTick();
  };
  while (made < std::min<std::uint64_t>(inFlight, most)) submit();
  node.scheduleTick();
  if (!loop.runUntil([&] { return sent.empty(); }, static_cast<std::int64_t>(1e3 * seconds) + 60'000))
    fail(concat(sent.size(), " proposals were not answered: ", node.gateway().state().problem));
  tally.seconds = watch.seconds();
  node.onAnswer = {};
  return tally;
}

// Transactions that put so many values under keys of their own, of so many bytes together.
Tally plain(net::Loop& loop, const std::string& address, std::size_t puts, std::size_t bytes, std::size_t inFlight,
            double seconds) {
  net::HttpClientOptions options;
  options.connections = inFlight;
  net::HttpClient client(loop, {.address = address}, options);
  Tally tally;
  std::uint64_t made = 0;
  std::size_t under = 0;
  const Stopwatch watch;
  const std::string run = "plain/" + formatTime(SystemClock().now()) + "/";
  std::string value(bytes / puts, '\0');
  SeededRandom(1).fill({reinterpret_cast<std::uint8_t*>(value.data()), value.size()});
  const std::function<void()> put = [&] {
    EtcdRequest request;
    for (std::size_t i = 0; i < puts; ++i) {
      const std::string key = concat(run, made++);
      request.compares.push_back({key, 0});
      request.then.push_back({EtcdAct::put, {key, ""}, value, 0, 0});
    }
    const EtcdCallText text = etcdCallText(request);
    ++under;
    client.request({.method = "POST", .target = text.path, .body = text.body},
                   [&, expected = EtcdExpected(request), sent = Stopwatch()](const Result<net::HttpResponse>& answer) {
                     --under;
                     const auto reply = readEtcdReply(expected, must(answer, "plain transaction").status, answer->body);
                     if (!must(reply, "plain transaction").answer.succeeded) fail("a plain transaction did not hold");
                     ++tally.answered;
                     tally.latencies.push_back(1e3 * sent.seconds());
                     if (watch.seconds() < seconds) put();
                   });
  };
  for (std::size_t i = 0; i < inFlight; ++i) put();
  if (!loop.runUntil([&] { return under == 0; }, 120'000)) fail("plain transactions hang");
  tally.seconds = watch.seconds();
  return tally;
}

std::vector<std::string> split(std::string_view text) {
  std::vector<std::string> items;
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    items.emplace_back(text.substr(0, comma));
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return items;
}

}  // namespace

int main(int argc, char** argv) {
  const Arguments arguments(
      argc, argv, {"--dir", "--etcd", "--in-flight", "--seconds", "--partitions", "--pipeline", "--transactions"});
  const std::string dir = arguments.text("--dir", "");
  const auto endpoints = split(arguments.text("--etcd", "127.0.0.1:2379"));
  const std::size_t inFlight = arguments.number("--in-flight", 256);
  const auto seconds = static_cast<double>(arguments.number("--seconds", 5));
  if (dir.empty() || std::filesystem::exists(dir)) fail("--dir must name a directory that does not exist");
  net::Loop loop;
  EtcdOptions etcd;
  etcd.pipeline = arguments.number("--pipeline", etcd.pipeline);
  etcd.transactions = arguments.number("--transactions", etcd.transactions);
  Node node(loop, dir, endpoints, static_cast<std::uint32_t>(arguments.number("--partitions", 4)), etcd);
  if (!loop.runUntil([&] { return node.ownsAll(); }, 60'000)) fail("no partition after a minute");
  const kernel::DomainModule& module = *node.replica().moduleOf("budget");
  const auto entity = [](std::uint64_t n) { return concat("budget-", n % kEntities); };
  (void)decide(
      loop, node, kEntities, 1,
      [&](std::uint64_t n) { return initRequest(module, entity(n), concat("init:", n), json::object{}); }, kEntities);
  const json::value action{{"type", "SpendA"}, {"n", 1}};
  const std::uint64_t entriesBefore = node.entries(), batchesBefore = node.batches();
  const std::uint64_t bytesBefore = node.gateway().state().bytesOut;
  const Tally witan = decide(loop, node, inFlight, seconds, [&](std::uint64_t n) {
    return must(proposalRequest(module, entity(n), "A", concat("spend:", n), action), "proposal");
  });
  const std::uint64_t entries = node.entries() - entriesBefore;
  const std::uint64_t batches = std::max<std::uint64_t>(1, node.batches() - batchesBefore);
  if (entries != witan.answered)
    fail(concat("the ledger has ", entries, " new entries, answered were ", witan.answered));
  const double ofBatch = static_cast<double>(node.gateway().state().bytesOut - bytesBefore) * 3 / 4 /
                         static_cast<double>(batches);  // base64
  const double each = ofBatch * static_cast<double>(batches) / static_cast<double>(std::max<std::uint64_t>(1, entries));
  const std::size_t transactions = std::max<std::size_t>(1, node.transactions.size());
  const std::size_t puts = std::max<std::size_t>(1, (node.puts + transactions / 2) / transactions);
  const double ofTransaction = ofBatch * static_cast<double>(batches) / static_cast<double>(transactions);
  const Tally one = plain(loop, endpoints[0], 1, static_cast<std::size_t>(ofBatch), 1, seconds / 2);
  const Tally same = plain(loop, endpoints[0], puts, static_cast<std::size_t>(ofTransaction), 1, seconds / 2);
  const Tally many = plain(loop, endpoints[0], 1, static_cast<std::size_t>(each), 32, seconds / 2);
  witan.print((concat("witan, ", inFlight, " in flight")).c_str());
  std::printf("  %llu batches of %.0f decisions, %.1f KiB each, %.0f bytes a decision\n",
              static_cast<unsigned long long>(batches), static_cast<double>(entries) / static_cast<double>(batches),
              ofBatch / 1024, each);
  const EtcdGatewayState& state = node.gateway().state();
  const ReplicaCounters& counters = node.replica().counters();
  std::printf(
      "  %llu requests to etcd, %llu unanswered, %llu refused, %llu connections; %llu requests tried again, %llu "
      "commits\n",
      static_cast<unsigned long long>(state.requests), static_cast<unsigned long long>(state.unanswered),
      static_cast<unsigned long long>(state.refused), static_cast<unsigned long long>(state.connections),
      static_cast<unsigned long long>(counters.retries), static_cast<unsigned long long>(counters.etcd.askedAgain));
  std::printf("  %zu transactions: p50 %.2f ms, p99 %.2f ms; %llu batches came before their predecessors\n",
              node.transactions.size(), quantile(node.transactions, 0.5), quantile(node.transactions, 0.99),
              static_cast<unsigned long long>(counters.etcd.outOfOrder));
  std::printf("  %zu rounds of the replica: p50 %.2f ms, p99 %.2f ms\n", node.rounds.size(), quantile(node.rounds, 0.5),
              quantile(node.rounds, 0.99));
  one.print("plain, the batch's size, one in flight");
  same.print((concat("plain, ", puts, " puts, a transaction's size")).c_str());
  many.print("plain, one decision's size, 32 in flight");
  std::printf("  p50 of a decision : p50 of a plain transaction of its batch's size = %.2f\n",
              quantile(witan.latencies, 0.5) / quantile(one.latencies, 0.5));
  std::printf("  p50 of a decision : p50 of a plain transaction of the average one's size and puts = %.2f\n",
              quantile(witan.latencies, 0.5) / quantile(same.latencies, 0.5));
  std::printf(
      "  decisions/s : plain transactions/s of one decision's size = %.1f\n",
      static_cast<double>(witan.answered) / witan.seconds / (static_cast<double>(many.answered) / many.seconds));
  return 0;
}

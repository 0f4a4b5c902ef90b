// witan-long [--minutes M] [--seed S] [--engine embedded|etcd|both] [--keep DIR]: the long test of issue 6.
//
// Two clusters of five nodes side by side, one that names its owners itself and one with three members of etcd, are
// used by clients while nodes are killed and frozen, lines cut and slowed, members of etcd killed. In the end
// everything is healed and must come to rest; then the whole history is judged (tests/long/judge.h), and so is the
// judge, by histories that were tampered with. M covers all of that. Prints a report; the exit code is 1 if a promise
// was broken.
#include <csignal>
#include <cstdio>
#include <iostream>

#include "node/api/control_tokens.h"
#include "tests/long/clients.h"
#include "tests/long/judge.h"
#include "tests/long/trouble.h"

namespace witan::node::test {
namespace {

using std::chrono::seconds;

// Of a run: coming to rest, closing and judging.
constexpr seconds kEnd{45};

struct Order {
  double minutes = 3;
  std::uint64_t seed = 1;
  std::string engine = "both", keep;
};

class Run {
 public:
  Run(const Order& order, bool etcd) : order_(order), name_(etcd ? "etcd" : "embedded"), etcd_(etcd) {}

  void go() {
    const auto began = std::chrono::steady_clock::now();
    const auto end = began + seconds(static_cast<std::int64_t>(order_.minutes * 60)) - kEnd;
    LongCluster cluster(etcd_);
    if (const std::string why = cluster.start(); !why.empty()) {
      wrong("the cluster did not start: " + why);
      return keepWhatHelps(cluster);
    }
    Trouble trouble(cluster, order_.seed * 2 + (etcd_ ? 1 : 0));
    {
      Clients clients(doorsOf(cluster), book_, order_.seed, 4, 2, std::chrono::milliseconds(100));
      trouble.run(end);
      trouble.heal();
      if (!cluster.allConnected()) wrong("not everybody is connected, 90 s after everything was healed");
      if (!clients.finish(seconds(60))) wrong("somebody was not answered within 60 s after everything was healed");
    }
    made_ = trouble.made();
    for (const std::string& problem : trouble.problems()) wrong(problem);
    for (const std::string& complaint : book_.complaints()) wrong(complaint);
    rest(cluster);
    close(cluster);
    judgeAll(cluster);
    took_ = std::chrono::duration_cast<seconds>(std::chrono::steady_clock::now() - began);
    if (!problems_.empty()) keepWhatHelps(cluster);
  }

  bool good() const { return problems_.empty(); }
  void report(std::ostream& out) const {
    out << "\n"
        << name_ << ": five nodes" << (etcd_ ? ", three members of etcd" : "") << ", " << took_.count() << " s, seed "
        << order_.seed << "\n";
    const auto list = [&](const char* what, const std::map<std::string, std::size_t>& counts) {
      out << "  " << what;
      const char* between = "  ";
      for (const auto& [name, count] : counts) out << std::exchange(between, ", ") << count << " " << name;
      out << "\n";
    };
    list("trouble ", made_);
    list("answers ", book_.told());
    out << "  journal   " << book_.journal().size() << " entries taken\n";
    out << "  ledgers   " << entries_ << " entries, " << epochs_ << " epochs in " << partitions_ << " partitions\n";
    if (good()) {
      out << "  verdict   nothing acknowledged was lost, one order explains all answers, all nodes are equal; "
          << tampered_ << " of " << tampered_ << " tampered histories were refused\n";
    } else {
      for (const std::string& problem : problems_) out << "  BROKEN    " << problem << "\n";
    }
  }

 private:
  void wrong(std::string what) { problems_.push_back(std::move(what)); }

  Doors doorsOf(LongCluster& cluster) {
    Doors doors;
    for (const Node& node : cluster.nodes()) {
      const auto tokens = ControlTokens::read(node.dir());
      WITAN_CHECK(tokens.ok(), "the tokens of a node that runs");
      doors.push_back(ControlClient::at("unix:" + node.dir() + "/control.sock", tokens->of(ControlRole::admin)));
    }
    return doors;
  }

  // Nothing is under way any more, and every node has the same ledgers and records.
  void rest(LongCluster& cluster) {
    for (const Node& node : cluster.nodes())
      if (!node.waitUntil("quiet")) wrong(node.name() + " does not come to rest");
    const auto same = [&](const auto& of) {
      return until([&] {
        std::set<std::string> all;
        for (const Node& node : cluster.nodes()) all.insert(of(node));
        return all.size() == 1 && !all.contains("");
      });
    };
    if (!same([](const Node& node) { return node.run({"ledger", "verify"}).out; })) wrong("the ledgers differ");
    if (!same([](const Node& node) { return digests(node); })) wrong("the journals or the agents' states differ");
  }
  // Of its replicated records.
  static std::string digests(const Node& node) {
    std::string all;
    const json::value status = node.runJson({"sync", "status"});
    const json::value* spaces = status.is_object() ? status.get_object().if_contains("spaces") : nullptr;
    if (spaces == nullptr || !spaces->is_array()) return "";
    for (const json::value& space : spaces->get_array())
      all += canonicalJson(space.at("space")) + " " + canonicalJson(space.at("digest")) + "\n";
    return all;
  }

  void close(LongCluster& cluster) {
    std::set<std::string> verdicts;
    for (Node& node : cluster.nodes())
      if (const int code = node.stop(); code != 0) wrong(node.name() + " ended with " + std::to_string(code));
    for (const Node& node : cluster.nodes()) {
      const Finished verified = node.run({"ledger", "verify", "--replay"});
      if (verified.exitCode != 0) wrong(node.name() + ": ledger verify: " + verified.out + verified.err);
      verdicts.insert(verified.out);
      const std::string kept = node.run({"journal", "list", "--json"}).out;
      for (const std::string& id : book_.journal())
        if (kept.find("\"" + id + "\"") == std::string::npos) wrong(node.name() + " does not have the entry " + id);
    }
    if (verdicts.size() != 1) wrong("the ledgers differ at rest");
  }

  void judgeAll(LongCluster& cluster) {
    std::vector<std::string> dirs;
    for (const Node& node : cluster.nodes()) dirs.push_back(node.dir());
    const auto stories = readLogs(dirs, LongCluster::kPartitions, book_);
    if (!stories.ok()) return wrong(stories.error().message);
    const PartitionStory* fullest = nullptr;
    for (const auto& [partition, story] : *stories) {
      ++partitions_;
      entries_ += story.logs.front().lines.size();
      epochs_ += story.logs.front().epochs.size();
      for (const Objection& objection : judge(story))
        wrong(partition + ": " + objection.checker + ": " + objection.what);
      if (canBeTamperedWith(story) && (fullest == nullptr || fullest->operations.size() < story.operations.size()))
        fullest = &story;
    }
    if (!good()) return;
    if (fullest == nullptr) return wrong("too little happened to judge anything by it");
    const TamperReport tampered = tamper(*fullest);
    tampered_ = tampered.tried;
    for (const std::string& what : tampered.unnoticed) wrong("the judge is blind: " + what);
  }

  void keepWhatHelps(LongCluster& cluster) {
    if (order_.keep.empty()) return;
    std::error_code ec;
    for (Node& node : cluster.nodes()) {
      node.kill();
      const std::filesystem::path to = std::filesystem::path(order_.keep) / name_;
      std::filesystem::create_directories(to, ec);
      std::filesystem::copy(node.dir(), to / node.name(), std::filesystem::copy_options::recursive, ec);
      std::filesystem::copy(node.dir() + ".log", to, ec);
    }
  }

  const Order& order_;
  const std::string name_;
  const bool etcd_;
  Book book_;
  std::map<std::string, std::size_t> made_;
  std::vector<std::string> problems_;
  std::size_t entries_ = 0, epochs_ = 0, partitions_ = 0, tampered_ = 0;
  seconds took_{0};
};

// False: not as above.
bool read(int argc, char** argv, Order& order) {
  for (int i = 1; i < argc; i += 2) {
    const std::string name = argv[i], value = i + 1 < argc ? argv[i + 1] : "";
    char* end = nullptr;
    if (name == "--minutes")
      order.minutes = std::strtod(value.c_str(), &end);
    else if (name == "--seed")
      order.seed = std::strtoull(value.c_str(), &end, 10);
    else if (name == "--engine" && (value == "embedded" || value == "etcd" || value == "both"))
      order.engine = value;
    else if (name == "--keep")
      order.keep = value;
    else
      return false;
    if (value.empty() || (end != nullptr && *end != '\0')) return false;
  }
  return order.minutes >= 1 && order.minutes <= 24 * 60;
}

int runAll(Order order) {
  if (order.engine != "embedded" && !haveEtcd()) {
    std::cout << "no etcd here (Debian: etcd-server): the cluster that names its owners itself runs alone" << std::endl;
    if (order.engine == "etcd") return 1;
    order.engine = "embedded";
  }
  Run embedded(order, false), etcd(order, true);
  std::vector<Run*> runs;
  if (order.engine != "etcd") runs.push_back(&embedded);
  if (order.engine != "embedded") runs.push_back(&etcd);
  std::vector<std::thread> threads;  // processes end with the thread that made them
  for (Run* run : runs) threads.emplace_back([run] { run->go(); });
  for (std::thread& thread : threads) thread.join();
  bool good = true;
  for (const Run* run : runs) run->report(std::cout), good = good && run->good();
  return good ? 0 : 1;
}

}  // namespace
}  // namespace witan::node::test

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);
  witan::node::test::Order order;
  if (!witan::node::test::read(argc, argv, order)) {
    std::cerr << "witan-long [--minutes 1..1440] [--seed N] [--engine embedded|etcd|both] [--keep DIR]\n";
    return 2;
  }
  return witan::node::test::runAll(order);
}

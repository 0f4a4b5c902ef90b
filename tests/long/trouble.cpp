#include "tests/long/trouble.h"

#include <algorithm>
#include <thread>

namespace witan::node::test {

namespace {

using std::chrono::milliseconds;

// At most so many at a time are killed or frozen: of five nodes two, of three members one, and seldom two.
constexpr std::size_t kMostNodesDown = 2;

std::string nodeName(std::size_t i) { return "node " + std::to_string(i); }
std::string lineName(std::size_t i, std::size_t j) {
  return "line " + std::to_string(std::min(i, j)) + " " + std::to_string(std::max(i, j));
}
std::string memberName(std::size_t m) { return "member " + std::to_string(m); }

}  // namespace

void Trouble::run(Clock::time_point end) {
  for (auto next = Clock::now(); next < end;) {
    std::this_thread::sleep_until(next);  // the plan's own time
    mendDue(Clock::now());
    begin();
    next = Clock::now() + milliseconds(200 + random_.below(1'300));
    for (const Fault& fault : faults_) next = std::min(next, fault.until);
  }
}

void Trouble::heal() {
  mendDue(Clock::time_point::max());
  for (std::size_t i = 0; i < LongCluster::kNodes; ++i)
    if (!cluster_.nodes()[i].running()) problems_.push_back(nodeName(i) + " has ended by itself");
}

void Trouble::mendDue(Clock::time_point now) {
  std::vector<Fault> over;
  const auto due = std::stable_partition(faults_.begin(), faults_.end(), [&](const Fault& f) { return f.until > now; });
  std::move(due, faults_.end(), std::back_inserter(over));
  faults_.erase(due, faults_.end());
  for (Fault& fault : over) {
    fault.mend();
    for (const std::string& target : fault.targets) troubled_.erase(target);
  }
}

bool Trouble::take(std::vector<std::string> targets, std::function<void()> mend) {
  for (const std::string& target : targets)
    if (troubled_.contains(target)) return false;
  troubled_.insert(targets.begin(), targets.end());
  const auto lasts = milliseconds(300 + random_.below(5'000));
  faults_.push_back({Clock::now() + lasts, std::move(targets), std::move(mend)});
  return true;
}

std::size_t Trouble::down() const {
  return static_cast<std::size_t>(
      std::count_if(troubled_.begin(), troubled_.end(), [](const std::string& t) { return t.starts_with("node "); }));
}

void Trouble::begin() {
  const std::size_t i = random_.below(LongCluster::kNodes);
  const std::size_t j = (i + 1 + random_.below(LongCluster::kNodes - 1)) % LongCluster::kNodes;
  switch (random_.below(cluster_.etcd() != nullptr ? 10 : 8)) {
    case 0:
    case 1: return stopNode(i, true);
    case 2: return stopNode(i, false);
    case 3:
    case 4: return cutLine(i, j);  // survived by way of a third node, unless its lines are in trouble too
    case 5:
    case 6: return cutOff(i);
    case 7: return cluster_.etcd() != nullptr ? cutLine(i, j) : handOver();
    case 8: return stopMember(random_.below(LongCluster::kMembers));
    default: return cutFromEtcd(i);
  }
}

void Trouble::start(std::size_t i) {
  if (!cluster_.nodes()[i].up()) problems_.push_back(nodeName(i) + " did not start again");
}

void Trouble::stopNode(std::size_t i, bool kill) {
  if (down() >= kMostNodesDown) return;
  Node& node = cluster_.nodes()[i];
  const auto mend = [this, i, kill, &node] { kill ? start(i) : node.thaw(); };
  if (!take({nodeName(i)}, mend)) return;
  if (!node.running()) problems_.push_back(nodeName(i) + " has ended by itself");
  kill ? node.kill() : node.freeze();
  ++made_[kill ? "nodes killed" : "nodes frozen"];
}

void Trouble::cutLine(std::size_t i, std::size_t j) {
  net::test::Proxy& line = cluster_.link(i, j);
  if (!take({lineName(i, j)}, [&line] { line.heal(); })) return;
  switch (random_.below(4)) {
    case 0: return line.swallow(), void(++made_["lines that swallowed"]);
    case 1:
      line.delay(static_cast<std::int64_t>(20 + random_.below(400)));
      line.throttle(20'000 + random_.below(200'000));
      return void(++made_["lines slowed"]);
    case 2: return line.reset(), void(++made_["lines reset"]);
    default: return line.cut(), void(++made_["lines cut"]);
  }
}

void Trouble::cutOff(std::size_t i) {
  std::vector<std::string> lines;
  for (std::size_t j = 0; j < LongCluster::kNodes; ++j)
    if (j != i) lines.push_back(lineName(i, j));
  const auto each = [this, i](const std::function<void(net::test::Proxy&)>& act) {
    for (std::size_t j = 0; j < LongCluster::kNodes; ++j)
      if (j != i) act(cluster_.link(i, j));
  };
  if (!take(lines, [each] { each([](net::test::Proxy& line) { line.heal(); }); })) return;
  each([](net::test::Proxy& line) { line.cut(); });
  ++made_["nodes cut off"];
}

void Trouble::handOver() {
  const std::size_t from = random_.below(LongCluster::kNodes), to = random_.below(LongCluster::kNodes);
  if (from == to || troubled_.contains(nodeName(from))) return;
  const std::vector<std::string> owned = cluster_.ownedBy(from);
  if (!owned.empty() && cluster_.move(from, owned[random_.below(owned.size())], to)) ++made_["partitions handed over"];
}

void Trouble::stopMember(std::size_t m) {
  const bool another = std::any_of(troubled_.begin(), troubled_.end(),
                                   [](const std::string& target) { return target.starts_with("member "); });
  if (another && random_.below(4) != 0) return;
  EtcdServers& etcd = *cluster_.etcd();
  if (!take({memberName(m)}, [&etcd, m] { etcd.start(m); })) return;
  etcd.kill(m);
  ++made_[another ? "majorities of etcd killed" : "members of etcd killed"];
}

void Trouble::cutFromEtcd(std::size_t i) {
  const auto each = [this, i](const std::function<void(net::test::Proxy&)>& act) {
    for (std::size_t m = 0; m < LongCluster::kMembers; ++m) act(cluster_.etcdLine(i, m));
  };
  if (!take({"etcd of node " + std::to_string(i)}, [each] { each([](net::test::Proxy& line) { line.heal(); }); }))
    return;
  const bool silently = random_.below(2) == 0;
  each([&](net::test::Proxy& line) { silently ? line.swallow() : line.cut(); });
  ++made_["nodes cut off from etcd"];
}

}  // namespace witan::node::test

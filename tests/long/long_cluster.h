// LongCluster: five nodes as processes, each pair linked through a proxy of the tests, and with etcd three members that
// each node reaches through proxies of its own. It does what it is told to nodes and lines; tests/long/trouble.h tells.
//
// Of one thread, which must outlive the processes (tests/node/process.h).
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tests/net/proxy.h"
#include "tests/node/etcd_servers.h"
#include "tests/node/node_process.h"

namespace witan::node::test {

class LongCluster {
 public:
  static constexpr std::size_t kNodes = 5, kMembers = 3;
  static constexpr unsigned kPartitions = 4;  // of each domain

  explicit LongCluster(bool etcd) {
    if (etcd) etcd_.emplace(kMembers);
    for (std::size_t i = 0; i < kNodes * kNodes; ++i) links_.push_back(std::make_unique<net::test::Proxy>(kNowhere));
    for (std::size_t i = 0; etcd && i < kNodes * kMembers; ++i)
      etcdLines_.push_back(std::make_unique<net::test::Proxy>(etcd_->url(i % kMembers).substr(7)));
    for (std::size_t i = 0; i < kNodes; ++i) nodes_.emplace_back(scratch_, "n" + std::to_string(i), configOf(i));
    for (std::size_t i = 0; i < kNodes; ++i)
      for (std::size_t j = i + 1; j < kNodes; ++j) link(i, j).retarget(nodes_[j].address());
  }

  // Whether all run and are connected. Then each owns something, at least with the embedded engine.
  // What did not come up, with the words of who should have; empty: all is there.
  std::string start() {
    if (etcd_ && !etcd_->ready()) return "etcd has no majority that answers";
    const std::vector<std::string> hidden{"--advertise", kHidden};
    for (std::size_t i = 0; i < kNodes; ++i) {
      const auto made = i == 0 ? nodes_[0].init(kPartitions, hidden)
                               : nodes_[i].join(nodes_[0].invite({"--address", nodes_[0].address()}), hidden);
      if (made.exitCode != 0) return nodes_[i].name() + " is not enrolled: " + made.err;
      if (!nodes_[i].up()) return nodes_[i].name() + " does not start: " + nodes_[i].log();
    }
    if (!allConnected()) return "not everybody is connected";
    return etcd_ || until([&] { return spread(); }) ? "" : "the partitions are not spread";
  }
  bool allConnected() const {
    return until([&] {
      return std::all_of(nodes_.begin(), nodes_.end(), [](const Node& node) { return node.connectedTo(kNodes - 1); });
    });
  }

  std::deque<Node>& nodes() { return nodes_; }
  // The line between two nodes, whoever dials.
  net::test::Proxy& link(std::size_t i, std::size_t j) { return *links_[std::min(i, j) * kNodes + std::max(i, j)]; }
  // Null: the embedded engine.
  EtcdServers* etcd() { return etcd_ ? &*etcd_ : nullptr; }
  net::test::Proxy& etcdLine(std::size_t node, std::size_t member) { return *etcdLines_[node * kMembers + member]; }
  // Its owner hands a partition over; false: it could not now.
  bool move(std::size_t from, const std::string& partition, std::size_t to) {
    const json::object order{{"partition", partition}, {"device", nodes_[to].name()}, {"reason", "drill"}};
    return nodes_[from].post("/v1/partitions/move", order).ok();
  }
  // What a node decides for, by its own word.
  std::vector<std::string> ownedBy(std::size_t i) const {
    std::vector<std::string> owned;
    const json::value all = nodes_[i].get("/v1/partitions");
    if (all.is_object())
      for (const json::value& row : all.at("partitions").as_array())
        if (const json::value* here = row.as_object().if_contains("here"); here != nullptr && here->as_bool())
          owned.emplace_back(row.at("partition").as_string());
    return owned;
  }

 private:
  static constexpr const char* kNowhere = "127.0.0.1:1";
  static constexpr const char* kHidden = "127.0.0.1:1";  // nobody listens there: nobody goes past the proxies

  std::string configOf(std::size_t i) {
    const auto quoted = [](const std::string& text) { return "\"" + text + "\","; };
    std::string dial, endpoints;
    for (std::size_t j = i + 1; j < kNodes; ++j) dial += quoted(link(i, j).address());
    for (std::size_t m = 0; etcd_ && m < kMembers; ++m) endpoints += quoted("http://" + etcdLine(i, m).address());
    return "advertise = [\"" + std::string(kHidden) + "\"]\n[peers]\ndial = [" + dial + "]\n" +
           (etcd_ ? "[ledger]\nengine = \"etcd\"\nlease_seconds = 2\netcd = [" + endpoints + "]\n" : "");
  }
  // A move is refused while its node is still new to the owner.
  bool spread() {
    std::size_t next = 0;
    bool done = true;
    for (const std::string& partition : ownedBy(0))
      if (const std::size_t to = next++ % kNodes; to != 0) done = move(0, partition, to) && done;
    return done;
  }

  Scratch scratch_;
  std::optional<EtcdServers> etcd_;
  std::vector<std::unique_ptr<net::test::Proxy>> links_, etcdLines_;
  std::deque<Node> nodes_;  // go first
};

}  // namespace witan::node::test

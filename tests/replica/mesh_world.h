// A world of devices that each decide for themselves whom to link with, with the time that links take and that it takes
// to notice that one is dead. For tests of replica/mesh.h.
#pragma once

#include <algorithm>
#include <memory>
#include <queue>

#include "base/concat.h"
#include "replica/mesh.h"

namespace witan::node {
namespace mesh_test {

class World {
 public:
  static constexpr std::int64_t kStepMs = 1'000, kDeadAfterMs = 20'000;

  World(std::size_t size, std::size_t links, std::size_t keepers = 0) : links_(links) {
    for (std::size_t i = 0; i < size; ++i) {
      members_.push_back({concat("device-", i), {}});
      if (i < keepers || keepers == 0) members_.back().groups.emplace(kLedgerGroup);
    }
    for (std::size_t i = 0; i < size; ++i) add(i);
  }

  void add(std::size_t i) {
    nodes_.push_back(std::make_unique<Node>(Mesh(members_[i].device, links_, 1'000 + i)));
    index_[members_[i].device] = i;
    nodes_.back()->mesh.setMembers(members_);
  }
  void join(std::set<std::string, std::less<>> groups = {}) {
    members_.push_back({concat("device-", members_.size()), std::move(groups)});
    for (auto& node : nodes_) node->mesh.setMembers(members_), node->changed = true;
    add(nodes_.size());
  }
  // Without a word: others notice after kDeadAfterMs.
  void kill(std::size_t i) { nodes_[i]->dead = true, nodes_[i]->diedMs = now_; }
  void revive(std::size_t i) {
    for (const std::string& peer : std::set(nodes_[i]->links)) unlink(i, index_.at(peer));
    nodes_[i] = std::make_unique<Node>(Mesh(members_[i].device, links_, 5'000 + i));
    nodes_[i]->mesh.setMembers(members_);
  }
  // No link between the two can be made.
  void wall(std::size_t a, std::size_t b) { walls_.insert(std::minmax(a, b)), unlink(a, b); }
  // This device dials each other one, every ten seconds, and ends no link itself.
  void flood(std::size_t i) { nodes_[i]->floods = true; }

  void run(std::int64_t ms) {
    for (const std::int64_t until = now_ + ms; now_ < until; now_ += kStepMs) step();
  }

  bool connected() const {
    std::set<std::size_t> seen;
    std::queue<std::size_t> open;
    for (std::size_t i = 0; i < nodes_.size() && open.empty(); ++i)
      if (!nodes_[i]->dead) open.push(i), seen.insert(i);
    while (!open.empty()) {
      const std::size_t at = open.front();
      open.pop();
      for (const std::string& peer : nodes_[at]->links)
        if (const std::size_t to = index_.at(peer); !nodes_[to]->dead && seen.insert(to).second) open.push(to);
    }
    return seen.size() == alive();
  }
  std::size_t alive() const {
    return std::ranges::count_if(nodes_, [](const auto& node) { return !node->dead; });
  }
  std::size_t links(std::size_t i) const { return nodes_[i]->links.size(); }
  std::size_t mostLinks() const {
    std::size_t most = 0;
    for (const auto& node : nodes_) most = std::max(most, node->dead ? 0 : node->links.size());
    return most;
  }
  double meanLinks() const {
    double sum = 0;
    for (const auto& node : nodes_) sum += node->dead ? 0.0 : static_cast<double>(node->links.size());
    return sum / static_cast<double>(alive());
  }
  bool linked(std::size_t a, std::size_t b) const { return nodes_[a]->links.contains(members_[b].device); }
  std::uint64_t ended() const { return ended_; }
  // Links of the first so many devices among themselves.
  std::set<std::pair<std::size_t, std::size_t>> pairs(std::size_t devices) const {
    std::set<std::pair<std::size_t, std::size_t>> all;
    for (std::size_t a = 0; a < devices; ++a)
      for (std::size_t b = 0; b < a; ++b)
        if (linked(a, b)) all.emplace(a, b);
    return all;
  }
  void need(std::size_t i, std::set<std::string, std::less<>> devices) {
    nodes_[i]->mesh.need(std::move(devices));
    nodes_[i]->changed = true;
  }
  std::string address(std::size_t i) const { return addresses_.contains(i) ? addresses_.at(i) : concat("10.0.0.", i); }
  std::map<std::size_t, std::string> addresses_;

 private:
  struct Node {
    explicit Node(Mesh made) : mesh(std::move(made)) {}
    Mesh mesh;
    std::set<std::string, std::less<>> links, dialled;
    bool dead = false, floods = false, changed = true;
    std::int64_t diedMs = 0;
  };

  void step() {
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      Node& node = *nodes_[i];
      if (node.dead && now_ == node.diedMs + kDeadAfterMs)
        for (const std::string& peer : std::set(node.links)) unlink(i, index_.at(peer));
      if (node.dead) continue;
      if (!node.changed && now_ < node.mesh.nextMs()) continue;
      node.changed = false;
      const Mesh::Changes changes = node.mesh.update(now_);
      for (const std::string& device : changes.dial) node.dialled.insert(device);
      for (const std::string& device : changes.rest) node.dialled.erase(device);
      for (const std::string& device : changes.end)
        if (node.links.contains(device) && !node.floods) unlink(i, index_.at(device)), ++ended_;
    }
    for (std::size_t i = 0; i < nodes_.size(); ++i) dial(i);
  }
  void dial(std::size_t i) {
    Node& node = *nodes_[i];
    if (node.dead) return;
    const bool floods = node.floods && now_ % 10'000 == 0;
    if (!node.mesh.full() && !floods) {
      for (const std::string& device : node.dialled) link(i, index_.at(device));
      return;
    }
    for (std::size_t to = 0; to < nodes_.size(); ++to) link(i, to);
  }
  void link(std::size_t i, std::size_t to) {
    const std::string& device = members_[to].device;
    if (to == i || nodes_[i]->links.contains(device) || nodes_[to]->dead || walls_.contains(std::minmax(i, to))) return;
    for (const auto& [at, other] : {std::pair(i, to), std::pair(to, i)}) {
      nodes_[at]->links.insert(members_[other].device);
      nodes_[at]->mesh.linked(members_[other].device, {address(other), ""}, now_);
      nodes_[at]->changed = true;
    }
  }
  void unlink(std::size_t a, std::size_t b) {
    for (const auto& [at, other] : {std::pair(a, b), std::pair(b, a)})
      if (nodes_[at]->links.erase(members_[other].device) > 0) {
        nodes_[at]->mesh.unlinked(members_[other].device, now_);
        nodes_[at]->changed = true;
      }
  }

  const std::size_t links_;
  std::vector<MeshMember> members_;
  std::vector<std::unique_ptr<Node>> nodes_;
  std::map<std::string, std::size_t, std::less<>> index_;
  std::set<std::pair<std::size_t, std::size_t>> walls_;
  std::int64_t now_ = 0;
  std::uint64_t ended_ = 0;
};

// Nobody ends a link. True: after an hour the device has chosen another one than in the beginning.
inline bool ownChoicesChange() {
  std::vector<MeshMember> members;
  for (int i = 0; i < 100; ++i) members.push_back({concat("device-", i), {std::string(kLedgerGroup)}});
  Mesh mesh("device-0", kUsualLinks, 1);
  mesh.setMembers(members);
  for (const std::string& device : mesh.update(0).dial) mesh.linked(device, {}, 0);
  return !mesh.update(2 * Mesh::kOwnMs).dial.empty();
}

// Nine of ten are off. True: the others find each other, though each has to pass over many.
inline bool fewOfManyFindEachOther() {
  World world(200, kUsualLinks);
  for (std::size_t i = 0; i < 200; ++i)
    if (i % 10 != 0) world.kill(i);
  world.run(40'000);
  return world.connected();
}

}  // namespace mesh_test
}  // namespace witan::node

#include "replication/records/message_graph.h"

#include <algorithm>
#include <set>
#include <tuple>

namespace witan::replication {

namespace {

// One half of a search for a way between two nodes: breadth first, one edge a step.
class Side {
 public:
  explicit Side(std::uint32_t start) : queue_{start} {}

  // Whether there is an edge left; `edges` of the node at the front.
  template <class EdgesOf>
  bool more(EdgesOf edgesOf) {
    while (head_ < queue_.size() && edge_ >= edgesOf(queue_[head_]).size()) ++head_, edge_ = 0;
    return head_ < queue_.size();
  }
  // Follows one edge. Requires: more(). Whether it led to `goal`.
  bool step(const std::vector<std::uint32_t>& edges, std::uint32_t goal) {
    const std::uint32_t next = edges[edge_++];
    if (next == goal) return true;
    if (cameFrom_.try_emplace(next, queue_[head_]).second) queue_.push_back(next);
    return false;
  }
  std::uint32_t front() const { return queue_[head_]; }
  // From the front back to the start.
  std::vector<std::uint32_t> trail() const {
    std::vector<std::uint32_t> out{front()};
    while (out.back() != queue_[0]) out.push_back(cameFrom_.at(out.back()));
    return out;
  }

 private:
  std::vector<std::uint32_t> queue_;
  std::map<std::uint32_t, std::uint32_t> cameFrom_;
  std::size_t head_ = 0, edge_ = 0;
};

}  // namespace

Result<Message> messageOf(const Version& version) {
  if (version.tombstone) return invalid("a message cannot be deleted");
  WITAN_TRY(body, decodeRecord<MessageBody>(version.body));
  return Message{version.dot, std::move(body)};
}

Result<Link> linkOf(const Version& version) {
  if (version.tombstone) return invalid("a link cannot be deleted");
  WITAN_TRY(body, decodeRecord<LinkBody>(version.body));
  return Link{version.dot, std::move(body)};
}

MessageGraph::Index MessageGraph::intern(const std::string& id) {
  if (const auto known = lookup(id)) return *known;
  const auto index = static_cast<Index>(nodes_.size());
  nodes_.push_back({id, std::nullopt, {}, {}, {}});
  byId_.emplace(nodes_.back().id, index);
  return index;
}

std::optional<MessageGraph::Index> MessageGraph::lookup(std::string_view id) const {
  const auto found = byId_.find(id);
  if (found == byId_.end()) return std::nullopt;
  return found->second;
}

InsertResult MessageGraph::insert(Message message) {
  const Index self = intern(message.body.id);
  if (nodes_[self].message) return {*nodes_[self].message == message ? Insertion::duplicate : Insertion::conflict, {}};
  std::vector<Index> parents;
  for (const std::string& parent : message.body.parents) parents.push_back(intern(parent));
  std::ranges::sort(parents);
  parents.erase(std::unique(parents.begin(), parents.end()), parents.end());
  for (const Index parent : parents) {
    nodes_[self].parents.push_back(parent);
    nodes_[parent].children.push_back(self);
  }
  InsertResult result = refuseIfCyclic(self, parents.size());
  if (result.outcome != Insertion::inserted) return result;
  nodes_[self].message = std::move(message);
  ++messages_;
  return result;
}

InsertResult MessageGraph::insert(Link link) {
  if (const auto found = linkById_.find(link.body.id); found != linkById_.end())
    return {links_[found->second] == link ? Insertion::duplicate : Insertion::conflict, {}};
  const Index from = intern(link.body.from);
  const Index to = intern(link.body.to);
  if (link.body.relation == kParentRelation) {
    nodes_[from].parents.push_back(to);
    nodes_[to].children.push_back(from);
    InsertResult result = refuseIfCyclic(from, 1);
    if (result.outcome != Insertion::inserted) return result;
  }
  const auto index = static_cast<Index>(links_.size());
  links_.push_back(std::move(link));
  linkById_.emplace(links_.back().body.id, index);
  nodes_[from].links.push_back(index);
  return {};
}

InsertResult MessageGraph::refuseIfCyclic(Index child, std::size_t added) {
  const std::vector<Index> cycle = path(child, child);
  if (cycle.empty()) return {};
  dropParents(child, added);
  InsertResult result{Insertion::cycle, {}};
  for (const Index node : cycle) result.path.push_back(nodes_[node].id);
  return result;
}

// They were the last that was added anywhere, so they end their parents' lists too.
void MessageGraph::dropParents(Index child, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    const Index parent = nodes_[child].parents.back();
    nodes_[child].parents.pop_back();
    WITAN_CHECK(nodes_[parent].children.back() == child, "the edge added last is the last in both lists");
    nodes_[parent].children.pop_back();
  }
}

// Both ends search towards each other's start, an edge in turn, until one meets its goal or has nowhere left to go. So
// the cost is that of the smaller side: nothing at all for a message that nobody refers to yet.
std::vector<MessageGraph::Index> MessageGraph::path(Index from, Index to) const {
  const auto parents = [&](Index i) -> const std::vector<Index>& { return nodes_[i].parents; };
  const auto children = [&](Index i) -> const std::vector<Index>& { return nodes_[i].children; };
  Side up(to), down(from);
  while (up.more(parents) && down.more(children)) {
    if (up.step(parents(up.front()), from)) {
      std::vector<Index> way{from};
      for (const Index i : up.trail()) way.push_back(i);
      return way;
    }
    if (down.step(children(down.front()), to)) {
      std::vector<Index> way = down.trail();
      std::ranges::reverse(way);
      way.push_back(to);
      return way;
    }
  }
  return {};
}

const Message* MessageGraph::message(std::string_view id) const {
  const auto index = lookup(id);
  return index && nodes_[*index].message ? &*nodes_[*index].message : nullptr;
}

std::vector<const Link*> MessageGraph::linksFrom(std::string_view id) const {
  std::vector<const Link*> out;
  if (const auto index = lookup(id))
    for (const Index link : nodes_[*index].links) out.push_back(&links_[link]);
  std::ranges::sort(out, [](const Link* a, const Link* b) { return a->body.id < b->body.id; });
  return out;
}

std::vector<const Message*> MessageGraph::order() const {
  const auto byHostAndId = [&](Index a, Index b) {
    const Message &x = *nodes_[a].message, &y = *nodes_[b].message;
    return std::tie(x.dot.host, x.body.id) < std::tie(y.dot.host, y.body.id);
  };
  std::set<Index, decltype(byHostAndId)> ready(byHostAndId);
  std::vector<std::size_t> before(nodes_.size());
  for (Index i = 0; i < nodes_.size(); ++i) {
    if (!nodes_[i].message) continue;
    const auto& parents = nodes_[i].parents;
    before[i] = static_cast<std::size_t>(
        std::ranges::count_if(parents, [&](Index p) { return nodes_[p].message.has_value(); }));
    if (before[i] == 0) ready.insert(i);
  }
  std::vector<const Message*> out;
  out.reserve(messages_);
  while (!ready.empty()) {
    const Index next = *ready.begin();
    ready.erase(ready.begin());
    out.push_back(&*nodes_[next].message);
    for (const Index child : nodes_[next].children)
      if (nodes_[child].message && --before[child] == 0) ready.insert(child);
  }
  WITAN_CHECK(out.size() == messages_, "a graph into which no cycle was let has an order");
  return out;
}

std::vector<MissingParent> MessageGraph::missingParents() const {
  std::vector<MissingParent> out;
  for (const Node& node : nodes_)
    if (!node.message)
      for (const Index child : node.children)
        if (nodes_[child].message) out.push_back({node.id, nodes_[child].id});
  std::ranges::sort(out);
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

std::optional<Dot> MessageGraph::find(std::string_view id) const {
  const Message* found = message(id);
  if (found == nullptr) return std::nullopt;
  return found->dot;
}

bool MessageGraph::isAncestor(std::string_view a, std::string_view b) const {
  const auto from = lookup(a), to = lookup(b);
  return from && to && *from != *to && !path(*from, *to).empty();
}

std::optional<MessageAncestry::Message> GraphAncestry::find(std::string_view id) const {
  const auto dot = graph_.find(id);
  if (!dot) return std::nullopt;
  return Message{dot->counter, dot->host};
}

MessageGraph messageGraphOf(std::vector<Message> messages, std::vector<Link> links,
                            std::vector<RefusedMessage>* refused) {
  MessageGraph graph;
  const auto take = [&](auto& items) {
    std::ranges::sort(
        items, [](const auto& a, const auto& b) { return std::tie(a.dot, a.body.id) < std::tie(b.dot, b.body.id); });
    for (auto& item : items) {
      const Dot dot = item.dot;
      const std::string id = item.body.id;
      InsertResult result = graph.insert(std::move(item));
      if (refused != nullptr && (result.outcome == Insertion::conflict || result.outcome == Insertion::cycle))
        refused->push_back({dot, id, std::move(result)});
    }
  };
  take(messages);
  take(links);
  return graph;
}

}  // namespace witan::replication

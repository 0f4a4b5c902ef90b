// MessageGraph: an agent's messages and the links between them, as a causal graph with one order for display.
//
// Messages are immutable and only ever added; each names its parents, and a link of the relation "parent" adds one.
// They may come in any order, so a parent may still be missing: it is reported and does not hold up the order. A cycle
// cannot come from honest writers, since a parent is older; what would close one is refused, with the path.
//
// Order: Kahn's algorithm, of the messages that are ready always the one with the smallest (hostId, id). It depends on
// the set of messages only. Nothing recurses: a chain of a million is as good as any. Not thread-safe; a pointer to a
// message holds until the graph is destroyed.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "replication/records/agent_view.h"
#include "replication/records/records.h"

namespace witan::replication {

inline constexpr std::string_view kParentRelation = "parent";

// Its hostId and counter are the dot's.
struct Message {
  Dot dot;
  MessageBody body;
  friend bool operator==(const Message&, const Message&) = default;
};

struct Link {
  Dot dot;
  LinkBody body;
  friend bool operator==(const Link&, const Link&) = default;
};

Result<Message> messageOf(const Version& version);
Result<Link> linkOf(const Version& version);

enum class Insertion {
  inserted,
  duplicate,  // the same is there
  conflict,   // something else has this id
  cycle,      // it would come after itself
};

struct InsertResult {
  Insertion outcome = Insertion::inserted;
  std::vector<std::string> path;  // of a cycle: from the message to itself, each a parent of the next
};

struct MissingParent {
  std::string parent;
  std::string child;
  friend auto operator<=>(const MissingParent&, const MissingParent&) = default;
};

class MessageGraph {
 public:
  MessageGraph() = default;
  MessageGraph(MessageGraph&&) = default;
  MessageGraph& operator=(MessageGraph&&) = default;

  // O(parents) for a message whose children are not there yet; else also the smaller of its ancestors and descendants.
  InsertResult insert(Message message);
  InsertResult insert(Link link);

  std::size_t size() const { return messages_; }
  const Message* message(std::string_view id) const;
  // Links that begin at this message, by id.
  std::vector<const Link*> linksFrom(std::string_view id) const;

  // All messages, parents first. O(n log n).
  std::vector<const Message*> order() const;
  // By parent, then child. O(n log n).
  std::vector<MissingParent> missingParents() const;

  // Which commit wrote the message; none if it has not arrived.
  std::optional<Dot> find(std::string_view id) const;
  // Whether `a` comes before `b` by parents; a message is not its own ancestor. O(the smaller of what lies below `a`
  // and above `b`).
  bool isAncestor(std::string_view a, std::string_view b) const;

 private:
  using Index = std::uint32_t;
  struct Node {
    std::string id;
    std::optional<Message> message;
    std::vector<Index> parents, children;  // twice, if a link repeats a parent
    std::vector<Index> links;
  };

  Index intern(const std::string& id);
  std::optional<Index> lookup(std::string_view id) const;
  // From `from` to `to` by at least one step from parent to child, both ends included; empty: there is no way.
  std::vector<Index> path(Index from, Index to) const;
  // Takes the last `count` parents of `child` away again.
  void dropParents(Index child, std::size_t count);
  InsertResult refuseIfCyclic(Index child, std::size_t added);

  std::deque<Node> nodes_;
  std::deque<Link> links_;
  std::map<std::string_view, Index> byId_;      // views of Node::id
  std::map<std::string_view, Index> linkById_;  // views of Link::body.id
  std::size_t messages_ = 0;
};

// The graph as the ancestry that agent_view.h asks. The graph must outlive it.
class GraphAncestry final : public MessageAncestry {
 public:
  explicit GraphAncestry(const MessageGraph& graph) : graph_(graph) {}
  std::optional<Message> find(std::string_view id) const override;
  bool isAncestor(std::string_view ancestor, std::string_view descendant) const override {
    return graph_.isAncestor(ancestor, descendant);
  }

 private:
  const MessageGraph& graph_;
};

struct RefusedMessage {
  Dot dot;
  std::string id;
  InsertResult why;
};

// The graph of a set of messages and links: by dot, then id, so the same for any order of the arguments, even where an
// id was given twice or a cycle must be broken. What could not be taken is listed in `refused` in that order.
MessageGraph messageGraphOf(std::vector<Message> messages, std::vector<Link> links,
                            std::vector<RefusedMessage>* refused = nullptr);

}  // namespace witan::replication

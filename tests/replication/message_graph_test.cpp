// Messages and links as a causal graph: one order for all, cycles refused, a million deep.
#include "replication/records/message_graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <set>

#include "tests/replication/record_history.h"

namespace witan::replication::message_graph_test {
namespace {

Message messageWith(std::string id, std::vector<std::string> parents, Dot dot = {"A", 1}) {
  return {std::move(dot), {std::move(id), "agent-1", "thread-1", MessageKind::thought, std::move(parents), "", 0, {}}};
}
Link linkWith(std::string id, std::string from, std::string to, std::string relation = "parent") {
  return {{"A", 1}, {std::move(id), "agent-1", std::move(from), std::move(to), std::move(relation)}};
}

std::vector<std::string> idsOf(const std::vector<const Message*>& messages) {
  std::vector<std::string> out;
  for (const Message* m : messages) out.push_back(m->body.id);
  return out;
}

template <class T>
std::vector<T> shuffledItems(std::vector<T> items) {
  for (std::size_t i = items.size(); i > 1; --i) std::swap(items[i - 1], items[test::uniform<std::size_t>(0, i)]);
  return items;
}

// An honest history: parents are older messages. Some messages have not arrived.
std::vector<Message> generatedMessages() {
  std::vector<Message> all;
  const int count = test::uniform(1, 25);
  for (int i = 0; i < count; ++i) {
    std::vector<std::string> parents;
    for (int p = test::uniform(0, 4); p > 0 && i > 0; --p) parents.push_back("m" + std::to_string(test::uniform(0, i)));
    all.push_back(messageWith("m" + std::to_string(i), parents,
                              {std::string(1, test::uniform('A', 'D')), static_cast<std::uint64_t>(i + 1)}));
  }
  std::erase_if(all, [](const Message&) { return test::uniform(0, 6) == 0; });
  return all;
}

// By the definition: again and again the smallest (host, id) of those all of whose parents that arrived are out.
std::vector<std::string> orderByDefinition(std::vector<Message> left) {
  std::vector<std::string> out;
  while (!left.empty()) {
    auto best = left.end();
    for (auto m = left.begin(); m != left.end(); ++m) {
      const bool ready = std::none_of(left.begin(), left.end(), [&](const Message& other) {
        return std::count(m->body.parents.begin(), m->body.parents.end(), other.body.id) > 0;
      });
      if (ready && (best == left.end() || std::tie(m->dot.host, m->body.id) < std::tie(best->dot.host, best->body.id)))
        best = m;
    }
    out.push_back(best->body.id);
    left.erase(best);
  }
  return out;
}

RC_GTEST_PROP(MessageGraph, OrderIsThatOfTheDefinitionForAnyOrderOfArrival, ()) {
  test::onManyHistories([] {
    const auto all = generatedMessages();
    MessageGraph graph;
    for (const Message& m : shuffledItems(all)) {
      RC_ASSERT(graph.insert(m).outcome == Insertion::inserted);
      RC_ASSERT(graph.insert(m).outcome == Insertion::duplicate);
    }
    RC_ASSERT(idsOf(graph.order()) == orderByDefinition(all));

    std::set<MissingParent> missing;
    for (const Message& m : all)
      for (const std::string& parent : m.body.parents)
        if (graph.message(parent) == nullptr) missing.insert({parent, m.body.id});
    RC_ASSERT(graph.missingParents() == std::vector<MissingParent>(missing.begin(), missing.end()));
  });
}

RC_GTEST_PROP(MessageGraph, IsAncestorIsReachabilityByParents, ()) {
  test::onManyHistories([] {
    const auto all = generatedMessages();
    MessageGraph graph;
    for (const Message& m : shuffledItems(all)) graph.insert(m);
    // Transitive closure; parents have smaller numbers, so one pass in that order is enough.
    std::map<std::string, std::set<std::string>> ancestors;
    for (const Message& m : all)
      for (const std::string& p : m.body.parents) {
        ancestors[m.body.id].insert(p);
        ancestors[m.body.id].insert(ancestors[p].begin(), ancestors[p].end());
      }
    const GraphAncestry ancestry(graph);
    for (const Message& a : all) {
      RC_ASSERT(ancestry.find(a.body.id)->counter == a.dot.counter);
      for (const Message& b : all)
        RC_ASSERT(ancestry.isAncestor(a.body.id, b.body.id) == (ancestors[b.body.id].count(a.body.id) > 0));
    }
    RC_ASSERT(!ancestry.find("nobody"));
    RC_ASSERT(!ancestry.isAncestor("nobody", all.empty() ? "x" : all[0].body.id));
  });
}

// Whatever is in it, ids given twice and cycles too, a set has one graph.
RC_GTEST_PROP(MessageGraph, TheGraphOfASetDoesNotDependOnItsOrder, ()) {
  test::onManyHistories([] {
    std::vector<Message> messages;
    std::vector<Link> links;
    const auto name = [] { return "m" + std::to_string(test::uniform(0, 6)); };
    for (int i = test::uniform(1, 10); i > 0; --i)
      messages.push_back(messageWith(name(), {name(), name()}, {"A", static_cast<std::uint64_t>(i)}));
    for (int i = test::uniform(0, 6); i > 0; --i)
      links.push_back({{"B", static_cast<std::uint64_t>(i)},
                       {"l" + std::to_string(test::uniform(0, 4)), "agent-1", name(), name(), "parent"}});
    std::vector<RefusedMessage> refused, refusedAgain;
    const auto one = messageGraphOf(messages, links, &refused);
    const auto two = messageGraphOf(shuffledItems(messages), shuffledItems(links), &refusedAgain);
    RC_ASSERT(idsOf(one.order()) == idsOf(two.order()));
    RC_ASSERT(one.missingParents() == two.missingParents());
    RC_ASSERT(refused.size() == refusedAgain.size());
    for (std::size_t i = 0; i < refused.size(); ++i) {
      RC_ASSERT(refused[i].id == refusedAgain[i].id);
      RC_ASSERT(refused[i].why.path == refusedAgain[i].why.path);
    }
  });
}

TEST(MessageGraph, CyclesAreRefusedWithThePath) {
  MessageGraph graph;
  EXPECT_THAT(graph.insert(messageWith("x", {"x"})).path, testing::ElementsAre("x", "x"));
  ASSERT_EQ(graph.insert(messageWith("b", {"a"})).outcome, Insertion::inserted);
  ASSERT_EQ(graph.insert(messageWith("c", {"b"})).outcome, Insertion::inserted);
  const auto result = graph.insert(messageWith("a", {"root", "c"}));
  EXPECT_EQ(result.outcome, Insertion::cycle);
  EXPECT_THAT(result.path, testing::ElementsAre("a", "b", "c", "a"));
  // Nothing of it stays; the honest one still fits in.
  EXPECT_EQ(graph.size(), 2u);
  EXPECT_THAT(graph.missingParents(), testing::ElementsAre(MissingParent{"a", "b"}));
  EXPECT_EQ(graph.insert(messageWith("a", {"root"})).outcome, Insertion::inserted);
  EXPECT_EQ(graph.insert(linkWith("l", "a", "c")).outcome, Insertion::cycle);
  EXPECT_THAT(graph.insert(linkWith("l", "a", "c")).path, testing::ElementsAre("a", "b", "c", "a"));
  EXPECT_THAT(idsOf(graph.order()), testing::ElementsAre("a", "b", "c"));
}

TEST(MessageGraph, ParentLinksOrderAndOthersDoNot) {
  MessageGraph graph;
  graph.insert(linkWith("l1", "m1", "m2"));
  graph.insert(messageWith("m1", {}));
  graph.insert(messageWith("m2", {}));
  graph.insert(linkWith("l2", "m2", "m1", "quotes"));
  EXPECT_THAT(idsOf(graph.order()), testing::ElementsAre("m2", "m1"));
  EXPECT_TRUE(graph.isAncestor("m2", "m1"));
  ASSERT_EQ(graph.linksFrom("m2").size(), 1u);
  EXPECT_EQ(graph.linksFrom("m2")[0]->body.relation, "quotes");
  EXPECT_EQ(graph.insert(linkWith("l2", "m2", "m1", "quotes")).outcome, Insertion::duplicate);
  EXPECT_EQ(graph.insert(linkWith("l2", "m2", "m3", "quotes")).outcome, Insertion::conflict);
  EXPECT_EQ(graph.insert(messageWith("m1", {"m9"})).outcome, Insertion::conflict);
}

TEST(MessageGraph, AMillionDeepIsAsGoodAsAny) {
  constexpr int kDepth = 1'000'000;
  MessageGraph graph;
  // Newest first, so that every message arrives before its parent.
  for (int i = kDepth - 1; i >= 0; --i) {
    std::vector<std::string> parents;
    if (i > 0) parents.push_back(std::to_string(i - 1));
    ASSERT_EQ(graph.insert(messageWith(std::to_string(i), std::move(parents))).outcome, Insertion::inserted);
  }
  const auto order = graph.order();
  ASSERT_EQ(order.size(), static_cast<std::size_t>(kDepth));
  EXPECT_EQ(order.front()->body.id, "0");
  EXPECT_EQ(order.back()->body.id, std::to_string(kDepth - 1));
  EXPECT_TRUE(graph.isAncestor("0", std::to_string(kDepth - 1)));
  EXPECT_FALSE(graph.isAncestor(std::to_string(kDepth - 1), "0"));
  EXPECT_EQ(graph.insert(linkWith("l", "0", std::to_string(kDepth - 1))).outcome, Insertion::cycle);
}

TEST(MessageGraph, ReadsFromVersionsAndRefusesTombstones) {
  const Message m = messageWith("m1", {"m0"}, {"A", 3});
  const auto read = messageOf({m.dot, {}, *encodeRecord(m.body), false});
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(*read, m);
  const Link l = linkWith("l1", "m1", "m0");
  EXPECT_EQ(*linkOf({l.dot, {}, *encodeRecord(l.body), false}), l);
  EXPECT_FALSE(messageOf({m.dot, {}, "", true}).ok());
  EXPECT_FALSE(linkOf({m.dot, {}, "", true}).ok());
}

}  // namespace
}  // namespace witan::replication::message_graph_test

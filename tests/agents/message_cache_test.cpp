// What the cache gives is what reading everything gives, whatever happens to the space.
#include "agents/memory/thread.h"

#include <gmock/gmock.h>
#include <rapidcheck/gtest.h>

#include "tests/replication/cluster.h"

namespace witan::agents::message_cache_test {
namespace {

using replication::DatabaseName;
using replication::Kind;
using replication::LinkBody;
using replication::MessageBody;
using replication::MessageGraph;
using replication::MessageKind;
using replication::Write;
using replication::test::Device;
using replication::test::sync;

void put(Device& device, std::vector<Write> writes) {
  ASSERT_TRUE(device.replica().commit(DatabaseName::agents, "main", writes).ok());
}
Write message(const std::string& id, const std::string& agent, std::vector<std::string> parents,
              const std::string& content) {
  const MessageBody body{id, agent, "main", MessageKind::thought, std::move(parents), content, 7, {}};
  return {Kind::message, id, *replication::encodeRecord(body), false};
}
Write link(const std::string& id, const std::string& agent, const std::string& from, const std::string& to,
           const std::string& relation) {
  return {Kind::link, id, *replication::encodeRecord(LinkBody{id, agent, from, to, relation}), false};
}

// Everything that a graph tells of itself.
std::string text(const MessageGraph& graph) {
  std::string out;
  for (const replication::Message* m : graph.order()) {
    out += m->body.id + "@" + m->dot.host + ":" + std::to_string(m->dot.counter) + "=" + m->body.content + "(";
    for (const std::string& parent : parentsOf(graph, *m)) out += parent + " ";
    out += ")";
    for (const replication::Link* l : graph.linksFrom(m->body.id)) out += l->body.id + ">" + l->body.to + " ";
  }
  for (const replication::MissingParent& missing : graph.missingParents())
    out += " -" + missing.parent + "<" + missing.child;
  return out;
}

std::string cached(MessageCache& cache, Device& device, const std::string& agent) {
  auto graph = cache.graph(device.agents(), agent);
  return graph.ok() ? text(**graph) : graph.error().message;
}
std::string full(Device& device, const std::string& agent) { return text(*agentGraph(device.agents(), agent)); }

TEST(MessageCache, ReadsEverythingOnceAndThenOnlyWhatIsNew) {
  Device a("a");
  MessageCache cache;
  for (int i = 0; i < 20; ++i)
    put(a, {message("m" + std::to_string(i), "lab", {}, "x"), message("o" + std::to_string(i), "other", {}, "y")});
  a.flush();
  EXPECT_EQ(cached(cache, a, "lab"), full(a, "lab"));
  put(a, {message("m20", "lab", {"m19", "m3"}, "z"), link("l", "lab", "m5", "m4", "parent")});
  EXPECT_EQ(cached(cache, a, "lab"), full(a, "lab")) << "before the flush";
  a.flush();
  EXPECT_EQ(cached(cache, a, "lab"), full(a, "lab"));
  EXPECT_EQ(cache.fullReads(), 1u);
  EXPECT_EQ(cached(cache, a, "other"), full(a, "other"));
  EXPECT_EQ(cached(cache, a, "nobody"), "");
  EXPECT_EQ(cache.fullReads(), 3u);
}

// Two devices say at once where an agent works: that is no conflict among its messages.
TEST(MessageCache, OnlyLinksBetweenMessagesAreOfTheGraph) {
  Device a("a"), b("b");
  for (Device* device : {&a, &b}) put(*device, {link("h", "lab", "lab", "c", "hosts")});
  put(a, {message("m", "lab", {}, "x")});
  sync(a, b);
  ASSERT_EQ(a.agents().versions(Kind::link, "h")->size(), 2u);
  std::vector<replication::RefusedMessage> refused;
  const auto graph = agentGraph(a.agents(), "lab", &refused);
  ASSERT_TRUE(graph.ok());
  EXPECT_TRUE(refused.empty());
  EXPECT_EQ(graph->order().size(), 1u);
}

TEST(MessageCache, StaysWithinItsBytes) {
  Device a("a");
  MessageCache cache(22'000);
  for (const char* agent : {"a1", "a2", "a3"})
    put(a, {message(std::string("m-") + agent, agent, {}, std::string(9'000, 'x'))});
  for (const char* agent : {"a1", "a2", "a1", "a3", "a1"}) EXPECT_EQ(cached(cache, a, agent), full(a, agent));
  EXPECT_EQ(cache.fullReads(), 3u) << "a1 was asked for lately, a2 goes";
  EXPECT_EQ(cached(cache, a, "a2"), full(a, "a2"));
  EXPECT_EQ(cache.fullReads(), 4u);
  // One that is too large by itself is read each time.
  put(a, {message("large", "a1", {}, std::string(30'000, 'x'))});
  for (int i = 0; i < 3; ++i) EXPECT_EQ(cached(cache, a, "a1"), full(a, "a1"));
  EXPECT_GE(cache.fullReads(), 6u);
  put(a, {message("small", "a3", {}, "x")});
  EXPECT_EQ(cached(cache, a, "a3"), full(a, "a3"));
  EXPECT_LE(cache.bytes(), 22'000u);
}

// What goes in a repair leaves nothing behind that a walk would meet.
TEST(MessageCache, NoticesWhatIsDropped) {
  Device a("a");
  MessageCache cache;
  put(a, {message("m1", "lab", {}, "x")});
  put(a, {message("m2", "lab", {}, "y")});
  EXPECT_EQ(cached(cache, a, "lab"), full(a, "lab"));
  replication::Space& space = a.agents();
  space.drop(*space.table().find(Kind::message, "m1")->versions.front());
  EXPECT_EQ(cached(cache, a, "lab"), full(a, "lab"));
}

// A tombstone that comes and is forgotten, since everybody has it, before anybody walked over it.
TEST(MessageCache, NoticesWhatATombstoneTookThatIsGoneItself) {
  Device a("a"), b("b");
  put(a, {message("m1", "lab", {}, "x")});
  put(a, {message("m2", "lab", {"m1"}, "y")});
  put(a, {message("m3", "lab", {"m2"}, "z")});
  sync(a, b);
  MessageCache cache;
  EXPECT_EQ(cached(cache, b, "lab"), full(b, "lab"));
  // As retention does it: a whole prefix, the newest first.
  put(a, {{Kind::message, "m2", "", true}, {Kind::message, "m1", "", true}});
  sync(a, b);
  b.agents().stabilise(b.agents().vector());
  EXPECT_EQ(b.agents().table().find(Kind::message, "m1"), nullptr) << "the tombstone is forgotten";
  EXPECT_EQ(cached(cache, b, "lab"), full(b, "lab"));
  EXPECT_EQ((*cache.graph(b.agents(), "lab"))->message("m1"), nullptr) << "a removed parent is shown no more";
}

struct Story {
  Device a{"a"}, b{"b"};
  MessageCache ofA{4'000}, ofB;
  int made = 0;

  std::string any() { return "m" + std::to_string(*rc::gen::inRange(0, made + 2)); }
  void step() {
    Device& at = *rc::gen::arbitrary<bool>() ? a : b;
    const std::string agent = *rc::gen::element<std::string>("lab", "other");
    switch (*rc::gen::inRange(0, 9)) {
      case 0: sync(a, b); break;
      case 8:  // what both have is forgotten, if it was taken away
        sync(a, b);
        for (Device* device : {&a, &b}) device->agents().stabilise(device->agents().vector());
        break;
      case 1: at.flush(); break;
      case 2: {
        const std::string id = any();
        if (at.agents().table().find(Kind::message, id) != nullptr) put(at, {{Kind::message, id, "", true}});
        break;
      }
      case 3: {
        const std::string id = "l" + std::to_string(*rc::gen::inRange(0, 6));
        if (at.agents().table().find(Kind::link, id) == nullptr)
          put(at, {link(id, agent, any(), any(), *rc::gen::element<std::string>("parent", "about"))});
        break;
      }
      default: {
        // The two devices give the same ids now and then, with the same or other contents; parents make cycles too.
        const std::string id = "m" + std::to_string(made++ / 2);
        if (at.agents().table().find(Kind::message, id) == nullptr)
          put(at, {message(id, agent, {any()}, *rc::gen::element<std::string>("x", "y"))});
      }
    }
  }
};

TEST(MessageCache, IsAlwaysWhatReadingEverythingGives) {
  rc::check([] {
    Story story;
    const int steps = *rc::gen::inRange(1, 60);
    for (int i = 0; i < steps; ++i) {
      story.step();
      for (const char* agent : {"lab", "other"}) {
        if (*rc::gen::inRange(0, 3) != 0) continue;
        RC_ASSERT(cached(story.ofA, story.a, agent) == full(story.a, agent));
        RC_ASSERT(cached(story.ofB, story.b, agent) == full(story.b, agent));
      }
    }
  });
}

}  // namespace
}  // namespace witan::agents::message_cache_test

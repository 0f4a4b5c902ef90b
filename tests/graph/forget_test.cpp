// What a runtime forgets, what it lets lie on the disk, and what it never forgets: an id is not given twice.
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "kernel/graph/script.h"

namespace witan::graph {
namespace {

constexpr std::int64_t kHorizonMs = 1000;

std::shared_ptr<const Document> documentOf(std::int64_t version, const std::string& middle) {
  const json::value from =
      parseJson(R"({"graph":{"id":"g","version":)" + std::to_string(version) +
                R"(,"format":1,"horizonMs":1000,"timeoutMs":900},"monitor":{"boundaries":["intake"]},
    "type":[{"name":"T","schema":{"type":"object"}}],
    "node":[{"id":"in","kind":"ingress","out":["T"],"monitor":{"boundary":"intake","operation":"admit"}},
            {"id":")" +
                middle + R"(","kind":"function","function":"identity","in":["T"],"out":["T"]}],
    "edge":[{"from":"in","to":")" +
                middle + R"(","type":"T"}]})")
          .value();
  const ReadDocument read = readDocument(from);
  EXPECT_TRUE(read.document) << read.findings.at(0).place << ": " << read.findings.at(0).message;
  return read.document;
}

Decision letPass(const Crossing&, const json::value& body) { return {"allow", "", body}; }

class Forgetting : public ::testing::Test {
 protected:
  Forgetting() : runtime(letPass) { EXPECT_TRUE(runtime.deploy(documentOf(1, "a"), 0).ok()); }
  void arrive(const std::string& external, std::int64_t at) {
    runtime.admit("in", external, json::object(), at);
    runtime.dispatch(at);
  }
  std::vector<std::string> idsOfRuns() {
    std::vector<std::string> ids;
    for (const RunView& run : runtime.runs()) ids.push_back(run.run);
    return ids;
  }
  Runtime runtime;
};

std::string runId(const std::string& rest) { return identityOf("v1|graph-run|g|in|" + rest); }

TEST_F(Forgetting, EndedRunsGoAfterAHorizon) {
  arrive("x", 0);
  arrive("y", kHorizonMs);
  EXPECT_EQ(idsOfRuns(), (std::vector<std::string>{runId("x"), runId("y")}));
  arrive("z", kHorizonMs + 1);
  EXPECT_EQ(idsOfRuns(), (std::vector<std::string>{runId("y"), runId("z")}));
}

// Its id would be that of the forgotten run, and its effects would pass for made.
TEST_F(Forgetting, ARecurrenceHasAnIdOfItsOwn) {
  arrive("x", 0);
  arrive("x", kHorizonMs);
  EXPECT_EQ(idsOfRuns().size(), 1u) << "within the horizon it is a duplicate";
  arrive("x", kHorizonMs + 1);
  EXPECT_EQ(idsOfRuns(), std::vector<std::string>{runId("x#1")});
  arrive("x", 3 * kHorizonMs);
  EXPECT_EQ(idsOfRuns(), std::vector<std::string>{runId("x#2")});
}

TEST_F(Forgetting, AStrangerCannotTakeTheIdOfARecurrence) {
  arrive("x#1", 0);
  EXPECT_TRUE(idsOfRuns().empty());
  const Taken taken = runtime.take();
  ASSERT_EQ(taken.notices.size(), 1u);
  EXPECT_EQ(std::get<Refused>(taken.notices[0].fact).why, "external_id");
}

TEST_F(Forgetting, AMessageComesAgainWithinTheHorizonOnly) {
  arrive("x", 0);
  std::string message;
  for (const Entry& entry : runtime.take().entries)
    for (const Line& line : entry)
      if (const auto* sent = std::get_if<Sent>(&line.fact)) message = sent->message;
  EXPECT_TRUE(runtime.redeliver(runId("x"), message, kHorizonMs).ok());
  EXPECT_FALSE(runtime.redeliver(runId("x"), message, kHorizonMs + 1).ok());
  arrive("y", 2 * kHorizonMs);
  EXPECT_FALSE(runtime.redeliver(runId("x"), message, kHorizonMs).ok()) << "it is forgotten";
}

// in -> `node`, of kind `kind`.
std::shared_ptr<const Document> oneNode(std::int64_t version, const std::string& node, const std::string& kind) {
  const json::value from =
      parseJson(concat(R"({"graph":{"id":"g","version":)", version, R"(,"format":1},"monitor":{"boundaries":["intake"]},
    "type":[{"name":"T","schema":{"type":"object"}}],
    "node":[{"id":"in","kind":"ingress","out":["T"],"monitor":{"boundary":"intake","operation":"admit"}},
            {"id":")",
                       node, R"(",)", kind, R"(,"in":["T"],"out":["T"]}],
    "edge":[{"from":"in","to":")",
                       node, R"(","type":"T"}]})"))
          .value();
  const ReadDocument read = readDocument(from);
  EXPECT_TRUE(read.document) << read.findings.at(0).place << ": " << read.findings.at(0).message;
  return read.document;
}
constexpr const char* kAgent = R"("kind":"agent","agent":"a","version":"1")";
constexpr const char* kPerson = R"("kind":"counselor","who":["dr"],"timeoutMs":60000)";

template <class F>
std::optional<F> lastOf(const std::vector<Entry>& entries) {
  std::optional<F> last;
  for (const Entry& entry : entries)
    for (const Line& line : entry)
      if (const auto* fact = std::get_if<F>(&line.fact)) last = *fact;
  return last;
}

// What died in the hands of an agent can be sent again, once.
TEST(Redriven, AMessageThatAnAgentFailed) {
  Runtime runtime(letPass);
  ASSERT_TRUE(runtime.deploy(oneNode(1, "a", kAgent), 0).ok());
  runtime.admit("in", "x", json::object(), 0);
  runtime.dispatch(0);
  const auto given = lastOf<Delivered>(runtime.take().entries);
  ASSERT_TRUE(given);
  EXPECT_FALSE(runtime.redrive(runId("x"), given->message, identityOf("again"), 1).ok()) << "it lives";
  runtime.fail(given->span, given->attempt, "cannot", true, 1);
  EXPECT_EQ(runtime.runs().at(0).dead, 1);
  ASSERT_TRUE(runtime.redrive(runId("x"), given->message, identityOf("again"), 2).ok());
  runtime.dispatch(2);
  EXPECT_EQ(runtime.runs().at(0).open, 1);
  EXPECT_FALSE(runtime.redrive(runId("x"), given->message, identityOf("once more"), 3).ok());
}

// The run has ended and another node was served last, so the state of its node went with a later version. It comes
// back with the message.
TEST(Redriven, OfANodeThatALaterVersionLacks) {
  Runtime runtime(letPass);
  std::vector<Entry> entries;
  const auto take = [&] {
    Taken taken = runtime.take();
    entries.insert(entries.end(), taken.entries.begin(), taken.entries.end());
  };
  ASSERT_TRUE(runtime.deploy(oneNode(1, "a", kAgent), 0).ok());
  runtime.admit("in", "x", json::object(), 0);
  runtime.dispatch(0);
  take();
  const auto given = lastOf<Delivered>(entries);
  ASSERT_TRUE(given);
  runtime.fail(given->span, given->attempt, "cannot", true, 1);
  runtime.dispatch(1);
  EXPECT_EQ(runtime.runs().at(0).status, "degraded");
  ASSERT_TRUE(runtime.deploy(oneNode(2, "b", kAgent), 2).ok());
  runtime.admit("in", "y", json::object(), 2);
  runtime.dispatch(2);
  ASSERT_TRUE(runtime.deploy(oneNode(3, "c", kAgent), 2).ok());
  ASSERT_EQ(runtime.nodes(), 3u) << "in, c and b: the node a is gone";
  ASSERT_TRUE(runtime.redrive(runId("x"), given->message, identityOf("again"), 3).ok());
  runtime.dispatch(3);
  EXPECT_EQ(runtime.nodes(), 4u);
  take();
  EXPECT_EQ(lastOf<Delivered>(entries)->node, "a");
  const auto again = *lastOf<Delivered>(entries);
  runtime.finish(again.span, again.attempt, {}, 4);
  runtime.dispatch(4);
  EXPECT_EQ(runtime.runs().at(0).open, 0);
  take();
  Runtime rebuilt{Monitor()};
  for (const Entry& entry : entries) rebuilt.apply(entry);
  EXPECT_EQ(rebuilt.fingerprint(), runtime.fingerprint());
}

// in -> out, whose effect can be undone, and in -> a.
std::shared_ptr<const Document> undoable() {
  const json::value from = parseJson(R"({"graph":{"id":"g","version":1,"format":1,"onCancel":"compensate"},
    "monitor":{"boundaries":["intake","journal"]},"type":[{"name":"T","schema":{"type":"object"}}],
    "node":[{"id":"in","kind":"ingress","out":["T"],"monitor":{"boundary":"intake","operation":"admit"}},
            {"id":"out","kind":"egress","in":["T"],"monitor":{"boundary":"journal","operation":"put"},
             "sink":{"tool":"journal.put","undo":"journal.remove"}},
            {"id":"a","kind":"agent","agent":"a","version":"1","in":["T"],"out":[]}],
    "edge":[{"from":"in","to":"out","type":"T"},{"from":"in","to":"a","type":"T"}]})")
                               .value();
  const ReadDocument read = readDocument(from);
  EXPECT_TRUE(read.document) << read.findings.at(0).place << ": " << read.findings.at(0).message;
  return read.document;
}

// A run that stops, is sent on and stops again: what the first stop has undone stays so.
TEST(Redriven, WhatIsUndoneIsUndoneOnce) {
  Runtime runtime(letPass);
  std::vector<Entry> entries;
  const auto take = [&] {
    Taken taken = runtime.take();
    entries.insert(entries.end(), taken.entries.begin(), taken.entries.end());
  };
  ASSERT_TRUE(runtime.deploy(undoable(), 0).ok());
  runtime.admit("in", "x", json::object(), 0);
  runtime.dispatch(0);
  take();
  std::map<std::string, Delivered> given;
  for (const Entry& entry : entries)
    for (const Line& line : entry)
      if (const auto* fact = std::get_if<Delivered>(&line.fact)) given.emplace(fact->node, *fact);
  ASSERT_TRUE(given.contains("out") && given.contains("a"));
  runtime.finishEffect(given.at("out").span, 1, true, 1);
  runtime.cancel("x", 2);
  ASSERT_TRUE(runtime.redrive(runId("x"), given.at("a").message, identityOf("again"), 3).ok());
  runtime.dispatch(3);
  runtime.cancel("x", 4);
  take();
  std::multiset<std::string> undone;
  for (const Entry& entry : entries)
    for (const Line& line : entry)
      if (const auto* fact = std::get_if<Compensated>(&line.fact)) undone.insert(fact->span);
  EXPECT_EQ(undone, std::multiset<std::string>{given.at("out").span});
  Runtime rebuilt{Monitor()};
  for (const Entry& entry : entries) rebuilt.apply(entry);
  EXPECT_EQ(rebuilt.fingerprint(), runtime.fingerprint());
}

// An entry that no ledger could hold kills its message, not the graph.
TEST(Limits, OfWhatOneSpanSends) {
  const auto split = [](std::size_t items) {
    const json::value from =
        parseJson(R"({"graph":{"id":"g","version":1,"format":1},"monitor":{"boundaries":["intake"]},
      "type":[{"name":"L","schema":{"type":"object","required":["l"],
               "properties":{"l":{"type":"array","items":{"type":"object"}}}}},{"name":"T","schema":{"type":"object"}}],
      "node":[{"id":"in","kind":"ingress","out":["L"],"monitor":{"boundary":"intake","operation":"admit"}},
              {"id":"s","kind":"function","function":"split","args":{"field":"l"},"maxOut":100000,"in":["L"],"out":["T"]},
              {"id":"a","kind":"agent","agent":"a","version":"1","in":["T"],"out":[]}],
      "edge":[{"from":"in","to":"s","type":"L"},{"from":"s","to":"a","type":"T","capacity":100000}]})")
            .value();
    const ReadDocument read = readDocument(from);
    EXPECT_TRUE(read.document) << read.findings.at(0).place << ": " << read.findings.at(0).message;
    Runtime runtime(letPass);
    EXPECT_TRUE(runtime.deploy(read.document, 0).ok());
    runtime.admit("in", "x", json::object{{"l", json::array(items, json::object())}}, 0);
    runtime.dispatch(0);
    const RunView run = runtime.runs().at(0);
    return std::pair(run.queued + run.open, run.dead);
  };
  EXPECT_EQ(split(kMaxOut), std::pair(kMaxOut, std::int64_t(0)));
  EXPECT_EQ(split(kMaxOut + 1), std::pair(std::int64_t(0), std::int64_t(1)));
}

class Shelf final : public Bodies {
 public:
  Body find(const std::string& digest) override {
    ++reads;
    return bodies.contains(digest) ? bodies.at(digest) : nullptr;
  }
  bool has(const std::string& digest) override { return bodies.contains(digest); }
  std::map<std::string, Body> bodies;
  int reads = 0;
};

// What waits for a person is not in memory, neither before a restart nor after it; the answer brings it back.
TEST(Sleeping, AQuestionKeepsNoBody) {
  Shelf shelf;
  Runtime runtime(letPass, {}, &shelf);
  ASSERT_TRUE(runtime.deploy(oneNode(1, "doctor", kPerson), 0).ok());
  runtime.admit("in", "x", json::object(), 0);
  runtime.dispatch(0);
  std::vector<Entry> entries = runtime.take().entries;
  const auto asked = lastOf<Asked>(entries);
  ASSERT_TRUE(asked);
  const std::string digest = digestOf(*asked->body);
  EXPECT_EQ(runtime.wake(asked->span).value().digest, digest) << "it is nowhere";
  shelf.bodies[digest] = asked->body;

  // As a ledger has it: digests for bodies.
  for (Entry& entry : entries)
    for (Line& line : entry) {
      if (auto* begun = std::get_if<Begun>(&line.fact)) begun->body = Runtime::unread(digest);
      if (auto* sent = std::get_if<Sent>(&line.fact)) sent->body = Runtime::unread(digest);
    }
  shelf.reads = 0;
  Runtime folded(letPass, {}, &shelf);
  for (const Entry& entry : entries) folded.apply(entry);
  EXPECT_EQ(folded.fingerprint(), runtime.fingerprint());
  EXPECT_TRUE(folded.fill().empty());
  EXPECT_EQ(shelf.reads, 0);
  shelf.bodies.clear();
  EXPECT_EQ(folded.fill().at(0).digest, digest);
  shelf.bodies[digest] = asked->body;
  EXPECT_FALSE(folded.wake(asked->span));
  EXPECT_EQ(shelf.reads, 1);
  folded.answerSpan(asked->span, "dr", false, 1);
  folded.dispatch(1);
  EXPECT_EQ(folded.runs().at(0).status, "degraded");
  EXPECT_FALSE(folded.wake(lastOf<Dead>(folded.take().entries)->message))
      << "the dead letter is read again before it is sent again";
  EXPECT_EQ(shelf.reads, 2);
}

// Each version brings another node; the state holds no more of them than the runs need.
TEST_F(Forgetting, NodesOfOldVersionsGo) {
  for (int version = 2; version < 50; ++version) {
    ASSERT_TRUE(runtime.deploy(documentOf(version, "n" + std::to_string(version)), version).ok());
    arrive("x" + std::to_string(version), version);
  }
  const std::string state = runtime.fingerprint();
  Runtime rebuilt{Monitor()};
  for (const Entry& entry : runtime.take().entries) rebuilt.apply(entry);
  EXPECT_EQ(rebuilt.fingerprint(), state);
  EXPECT_LE(runtime.nodes(), 4u);
}

}  // namespace
}  // namespace witan::graph

// Folding a recorded log: the same partition again, and a well-framed forgery is refused with the number of its entry.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "kernel/partition.h"
#include "tests/kernel/ledger_crash.h"
#include "tests/kernel/toy_domain.h"

namespace witan::kernel::test::fold_test {
namespace {

using ::testing::HasSubstr;

class Fold : public testing::Test {
 protected:
  Fold() {
    history.init("e1");
    history.init("e2");
    history.run(150);
  }

  Status foldAll(Partition& into, const std::vector<std::string>& batches) {
    for (const std::string& batch : batches) {
      auto info = into.fold(batch, how);
      if (!info.ok()) return info.error();
    }
    return okStatus();
  }

  // The log with the first entry that `is` this altered, encoded and framed anew; what folding says of it.
  std::string forged(const std::function<bool(const Entry&)>& is, const std::function<void(Entry&)>& alter,
                     std::uint64_t* seq = nullptr) {
    bool done = false;
    std::vector<std::string> batches;
    for (const std::string& value : history.batches) {
      LogBatch* out = nullptr;
      LogBatch batch;
      EXPECT_TRUE(readLogBatch(value, [&](const LogRecord& r) {
                    if (out == nullptr) {
                      std::uint64_t first = 0;
                      std::memcpy(&first, value.data() + 8, 8);
                      batch.reset(first);
                      out = &batch;
                    }
                    std::string payload(r.payload);
                    if (r.kind == RecordKind::entry && !done) {
                      Entry entry = readEntry(payload).value();
                      if (is(entry)) {
                        done = true;
                        if (seq != nullptr) *seq = entry.seq;
                        alter(entry);
                        WordWriter writer;
                        payload = writer.message(entry);
                      }
                    }
                    batch.add(r.kind, payload, leafHash(payload));
                    return okStatus();
                  }).ok());
      batches.push_back(batch.take());
    }
    EXPECT_TRUE(done) << "no such entry";
    Partition partition(*module);
    const Status status = foldAll(partition, batches);
    return status.ok() ? "" : status.error().message;
  }

  kernel::Fold how = kernel::Fold::trusted;
  std::unique_ptr<DomainModule> module = chest::module();
  History history{*module, 77, {.unsafeEdits = true, .keepAudits = false}};
};

TEST_F(Fold, MakesTheSamePartition) {
  Partition folded(*module);
  ASSERT_TRUE(foldAll(folded, history.batches).ok());
  folded.checkInvariants();
  EXPECT_EQ(picture(folded), picture(history.partition()));
  // ... and goes on in the same way.
  const ActionPtr action = actionOf(*module, R"({"type":"Earn","n":1})");
  const Proposal next{"e1", "Treasurer", "next", "d", "a", action.get(), Time{std::int64_t{1} << 51}, false};
  EXPECT_EQ(told(folded.propose(next)), told(history.partition().propose(next)));
  EXPECT_EQ(picture(folded), picture(history.partition()));
}

TEST_F(Fold, RememberedOperationsAnswerAsBefore) {
  Partition folded(*module, {}, &history.entries);
  ASSERT_TRUE(foldAll(folded, history.batches).ok());
  for (const Step& step : history.steps) {
    if (step.kind == Step::Kind::init || step.decision.seq == 0) continue;
    const Decision again = feed(folded, step);
    ASSERT_EQ(again.outcome, Outcome::duplicate);
    ASSERT_EQ(told(again), told(step.decision));
  }
  EXPECT_EQ(folded.size(), history.partition().size());
}

TEST_F(Fold, BatchesOutOfOrderAreRefused) {
  std::vector<std::string> batches = history.batches;
  std::swap(batches[4], batches[5]);
  Partition partition(*module);
  const Status status = foldAll(partition, batches);
  ASSERT_FALSE(status.ok());
  std::uint64_t first = 0;
  std::memcpy(&first, batches[4].data() + 8, 8);
  EXPECT_EQ(status.error().message,
            concat("a batch starts at entry ", first, " where entry ", partition.size() + 1, " is due"));
}

auto tagged(Tag tag) {
  return [tag](const Entry& e) { return e.tag == tag; };
}
auto writing() {
  return [](const Entry& e) { return e.tag == Tag::approved && e.writes.size() > 2; };
}

TEST_F(Fold, AForgeryIsRefusedWithItsNumber) {
  std::uint64_t seq = 0;
  const auto expect = [&](const std::string& message, const char* why) {
    EXPECT_EQ(message.find("entry " + std::to_string(seq) + ": "), 0u) << message;
    EXPECT_NE(message.find(why), std::string::npos) << message;
  };
  expect(forged(
             writing(), [](Entry& e) { e.seq += 1; }, &seq),
         "says it is entry");
  expect(forged(
             writing(), [](Entry& e) { e.entity = "nobody"; }, &seq),
         "has no beginning");
  expect(forged(
             writing(), [](Entry& e) { e.writes = R"({"gold":77})"; }, &seq),
         "state digest");
  expect(forged(
             writing(), [](Entry& e) { e.writes = "?"; }, &seq),
         "unreadable");
  expect(forged(
             writing(), [](Entry& e) { e.writes = R"({"silver":1})"; }, &seq),
         "unknown field");
  expect(forged(
             writing(), [](Entry& e) { e.time.micros += 1; }, &seq),
         "state digest");
  expect(forged(
             writing(), [](Entry& e) { e.stateDigest[0] ^= 1; }, &seq),
         "state digest");
  expect(forged(
             writing(), [](Entry& e) { e.tag = Tag::rejected; }, &seq),
         "state digest");
  expect(forged(
             writing(), [](Entry& e) { e.tag = Tag::cCommitted; }, &seq),
         "resolves nothing");
  expect(forged([](const Entry& e) { return !e.genesis.empty(); }, [](Entry& e) { e.genesis.clear(); }, &seq),
         "beginning");
  expect(forged(
             tagged(Tag::cCommitted), [](Entry& e) { e.escalation += 1; }, &seq),
         "which is not pending");
  expect(forged(
             tagged(Tag::cRejected), [](Entry& e) { e.tag = Tag::rejected; }, &seq),
         "decides a frozen entity");
  expect(forged(
             tagged(Tag::escalated), [](Entry& e) { e.findings.at(0).invariant = "?"; }, &seq),
         "none of this domain's");
}

// An escalation turned into a rejection is found at the next step of the chain: its resolution resolves nothing.
// Nobody writes what no rule gives into members that entries of a kind do not have.
TEST_F(Fold, WhatEntriesOfAKindDoNotHaveIsRefused) {
  how = kernel::Fold::checked;
  const auto is = [](Tag tag) { return [tag](const Entry& entry) { return entry.tag == tag; }; };
  EXPECT_THAT(forged(is(Tag::approved), [](Entry& e) { e.message = "thanks"; }), HasSubstr("has no reason for"));
  EXPECT_THAT(forged(is(Tag::approved), [](Entry& e) { e.reason = "thanks"; }), HasSubstr("has no part of a couns"));
  EXPECT_THAT(forged(is(Tag::approved), [](Entry& e) { e.decision = "{}"; }), HasSubstr("has no decision"));
  EXPECT_THAT(forged(is(Tag::rejected), [](Entry& e) { e.writes = "{}"; }), HasSubstr("has no write set"));
  EXPECT_THAT(forged(is(Tag::rejected), [](Entry& e) { e.findings.emplace_back(); }), HasSubstr("has no detection"));
  EXPECT_THAT(forged(is(Tag::escalated), [](Entry& e) { e.escalation = 1; }), HasSubstr("has no part of a couns"));
  EXPECT_THAT(forged(is(Tag::cRejected), [](Entry& e) { e.message = "no"; }), HasSubstr("has no reason for"));
  EXPECT_THAT(forged(is(Tag::cRejected), [](Entry& e) { e.action += " "; }),
              HasSubstr("the action that was escalated"));
}

TEST_F(Fold, AHiddenEscalationIsFoundAtItsResolution) {
  const std::string message =
      forged(tagged(Tag::escalated), [](Entry& e) { e.tag = Tag::rejected, e.findings.clear(); });
  EXPECT_NE(message.find("resolves nothing"), std::string::npos) << message;
}

}  // namespace
}  // namespace witan::kernel::test::fold_test

// Operations and approvals: symmetric views of what several devices have said.
#include "replication/records/record_views.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

namespace witan::replication::operation_test {
namespace {

const OperationId kOperation{sha256("operation")};

OperationBody body(std::string result = "{}") {
  return {kOperation.value,
          sha256("run"),
          "agent-1",
          "journal.put",
          OperationOutcome::applied,
          std::move(result),
          {{"main", "task-1", "note", R"("before")"}, {"main", "task-2", "", ""}},
          std::nullopt};
}

Version version(std::string host, std::uint64_t counter, std::string bytes) {
  Version v;
  v.dot = {std::move(host), counter};
  v.body = std::move(bytes);
  return v;
}

TEST(Operation, RecordsAreReadBack) {
  const auto bytes = encodeRecord(body());
  ASSERT_TRUE(bytes.ok()) << bytes.error().message;
  EXPECT_EQ(*decodeRecord<OperationBody>(*bytes), body());
}

TEST(Operation, WhatStoodThereBeforeIsWholeOrNothing) {
  OperationBody half = body();
  half.undo[0].payload.clear();
  EXPECT_FALSE(checkRecord(half).ok());
  half = body();
  half.result = "{ }";
  EXPECT_FALSE(checkRecord(half).ok());
}

TEST(Operation, TwoDevicesThatDidItShowOneRecord) {
  const std::string bytes = *encodeRecord(body());
  const std::vector<Version> one{version("b", 1, bytes), version("a", 9, bytes)}, other{one[1], one[0]};
  const OperationView view = operationViewOf(kOperation, one);
  ASSERT_TRUE(view.record);
  EXPECT_EQ(view.record->dot, (Dot{"a", 9}));
  EXPECT_EQ(view.repeats, (std::vector<Dot>{{"b", 1}}));
  EXPECT_EQ(view, operationViewOf(kOperation, other));
}

// A device that was refused what another had carried out does not hide the effect.
TEST(Operation, OfRecordsThatDifferAnAppliedOneIsShown) {
  OperationBody refused = body();
  refused.outcome = OperationOutcome::failed;
  refused.undo.clear();
  const std::vector<Version> versions{version("a", 1, *encodeRecord(refused)), version("c", 1, *encodeRecord(body())),
                                      version("b", 1, *encodeRecord(body()))};
  std::vector<Version> reversed(versions.rbegin(), versions.rend());
  const OperationView view = operationViewOf(kOperation, versions);
  ASSERT_TRUE(view.record);
  EXPECT_EQ(view.record->dot, (Dot{"b", 1}));
  EXPECT_EQ(view.record->body.outcome, OperationOutcome::applied);
  EXPECT_EQ(view.repeats, (std::vector<Dot>{{"a", 1}, {"c", 1}}));
  EXPECT_EQ(view, operationViewOf(kOperation, reversed));
}

TEST(Operation, ARecordOfAnotherOperationIsUnreadable) {
  const OperationView view =
      operationViewOf(OperationId{sha256("other")}, std::vector{version("a", 1, *encodeRecord(body()))});
  EXPECT_FALSE(view.record);
  EXPECT_EQ(view.unreadable.size(), 1u);
}

ApprovalBody question(std::string_view effect = "effect") {
  ApprovalBody asked;
  asked.operationId = kOperation.value;
  asked.digest = sha256(effect);
  asked.runKey = sha256("run");
  asked.agentId = "agent-1";
  asked.what = R"({"tool":"mail.send"})";
  return asked;
}

ApprovalView viewOfBodies(const std::vector<ApprovalBody>& bodies) {
  std::vector<Version> versions;
  for (std::size_t i = 0; i < bodies.size(); ++i)
    versions.push_back(version("host-" + std::to_string(i), 1, *encodeRecord(bodies[i])));
  return approvalViewOf(kOperation, versions);
}

// F17: an approval must be of exactly what was shown.
TEST(Approval, OfAChangedProposalIsRefused) {
  const ApprovalView view = viewOfBodies({question("changed")});
  const auto answer = answerTo(view, sha256("effect"), ApprovalVerdict::approved, "dr.supervising", "", 5);
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(answer.error().code, ErrorCode::conflict);
}

TEST(Approval, CountsOnlyForWhatItIsAbout) {
  const auto answer =
      answerTo(viewOfBodies({question()}), sha256("effect"), ApprovalVerdict::approved, "ann", "fine", 5);
  ASSERT_TRUE(answer.ok()) << answer.error().message;
  const ApprovalView view = viewOfBodies({*answer});
  EXPECT_EQ(verdictFor(view, sha256("effect")), ApprovalVerdict::approved);
  EXPECT_EQ(verdictFor(view, sha256("another")), ApprovalVerdict::waiting);
}

TEST(Approval, OfAnswersSideBySideADenialStands) {
  const ApprovalView asked = viewOfBodies({question()});
  const auto yes = answerTo(asked, sha256("effect"), ApprovalVerdict::approved, "ann", "", 5);
  const auto no = answerTo(asked, sha256("effect"), ApprovalVerdict::denied, "bob", "", 5);
  EXPECT_EQ(verdictFor(viewOfBodies({*yes, *no}), sha256("effect")), ApprovalVerdict::denied);
  EXPECT_EQ(verdictFor(viewOfBodies({*no, *yes}), sha256("effect")), ApprovalVerdict::denied);
}

TEST(Approval, IsGivenOnce) {
  const auto yes = answerTo(viewOfBodies({question()}), sha256("effect"), ApprovalVerdict::approved, "ann", "", 5);
  const auto again = answerTo(viewOfBodies({*yes}), sha256("effect"), ApprovalVerdict::denied, "bob", "", 6);
  EXPECT_EQ(again.error().code, ErrorCode::conflict);
  EXPECT_EQ(answerTo(ApprovalView{}, sha256("effect"), ApprovalVerdict::denied, "bob", "", 6).error().code,
            ErrorCode::notFound);
}

TEST(Approval, AnAnswerHasAnAuthor) {
  ApprovalBody anonymous = question();
  anonymous.verdict = ApprovalVerdict::approved;
  EXPECT_FALSE(checkRecord(anonymous).ok());
}

RC_GTEST_PROP(Approval, ViewsDoNotDependOnTheOrder, ()) {
  const auto verdicts = *rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 3));
  std::vector<Version> versions;
  for (std::size_t i = 0; i < verdicts.size(); ++i) {
    ApprovalBody asked = question();
    asked.verdict = static_cast<ApprovalVerdict>(verdicts[i]);
    if (verdicts[i] != 0) asked.by = "person-" + std::to_string(i);
    versions.push_back(version("host-" + std::to_string(i), 1, *encodeRecord(asked)));
  }
  const ApprovalView view = approvalViewOf(kOperation, versions);
  std::reverse(versions.begin(), versions.end());
  RC_ASSERT(view == approvalViewOf(kOperation, versions));
}

}  // namespace
}  // namespace witan::replication::operation_test

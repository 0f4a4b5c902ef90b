// A daemon in the test's own process, round by round: whose answer is whose, and what a request that is not taken is
// told.
#include "node/daemon/daemon.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/seams.h"
#include "net/http_client.h"
#include "node/api/control_api.h"
#include "node/enrolment/new_node.h"
#include "replica/core/messages.h"
#include "tests/node/scratch.h"

namespace witan::node::daemon_test {
namespace {

using kernel::Outcome;
using ::testing::HasSubstr;

class DaemonTest : public ::testing::Test {
 protected:
  void begin(DaemonConfig config) {
    config.listen.clear();
    NewNode made;
    made.name = "a";
    made.partitions = 1;
    const Status begun = beginCluster(dir_, made, {SystemClock().now(), net::Loop::nowMs()});
    ASSERT_TRUE(begun.ok()) << begun.error().message;
    auto opened = Daemon::open(loop_, log_, dir_, std::move(config), wall_);
    ASSERT_TRUE(opened.ok()) << opened.error().message;
    daemon_ = *std::move(opened);
    const Status started = daemon_->start();
    ASSERT_TRUE(started.ok()) << started.error().message;
  }
  Request spend(const std::string& id, int n) {
    return *proposalRequest(*daemon_->replica().moduleOf("budget"), "x", "A", id,
                            json::value{{"type", "SpendA"}, {"n", n}});
  }
  // Asks, and gives the answer a place.
  std::shared_ptr<std::optional<Result<Answer>>> ask(Request request, std::int64_t waitMs = 30'000) {
    const auto answer = std::make_shared<std::optional<Result<Answer>>>();
    const Status taken =
        daemon_->ask(std::move(request), waitMs, [answer](Result<Answer> given) { *answer = std::move(given); });
    EXPECT_TRUE(taken.ok()) << taken.error().message;
    return answer;
  }

  test::Scratch scratch_;
  const std::string dir_ = scratch_ / "a";
  net::Loop loop_;
  Log log_{LogLevel::error, false, [] { return SystemClock().now(); }, [](std::string_view) {}};
  Clock* wall_ = nullptr;
  std::unique_ptr<Daemon> daemon_;
};

TEST_F(DaemonTest, TwoRequestsUnderOneOperationIdGetEachItsOwnAnswer) {
  begin({});
  const auto begun = ask(initRequest(*daemon_->replica().moduleOf("budget"), "x", "begin", json::object{}));
  const auto one = ask(spend("same", 1)), two = ask(spend("same", 2)), again = ask(spend("same", 1));
  ASSERT_TRUE(loop_.runUntil([&] { return *begun && *one && *two && *again; }, 30'000));
  EXPECT_EQ((**one)->outcome, Outcome::approved);
  EXPECT_EQ((**two)->outcome, Outcome::refused);
  EXPECT_THAT((**two)->message, HasSubstr("same"));
  EXPECT_NE((**again)->outcome, Outcome::refused) << "the first one, once more";
  EXPECT_EQ(daemon_->waitingAnswers(), 0u);
}

// Seen with SIGTERM: callers got an empty reply, and the operation was carried out after the restart.
TEST_F(DaemonTest, WhoWaitsAtAStopIsToldWhereItsRequestIs) {
  DaemonConfig config;
  config.engine = "etcd";
  config.etcd = {"http://127.0.0.1:1"};  // nobody
  begin(std::move(config));
  ControlApi api(loop_, *daemon_, ControlTokens::open(dir_).value(), ProgramTokens::open(dir_).value());
  const auto address = api.listen("unix:" + scratch_ / "control.sock");
  ASSERT_TRUE(address.ok()) << address.error().message;
  net::HttpClient client(loop_, {.address = *address}, {});
  net::HttpRequest request{.method = "POST", .target = "/v1/propose"};
  request.headers["authorization"] = "Bearer " + ControlTokens::open(dir_)->of(ControlRole::admin);
  request.body = R"({"domain":"budget","entity":"x","role":"A","action":{"type":"SpendA","n":1},"operationId":"one"})";
  std::optional<net::HttpResponse> answer;
  client.request(std::move(request), [&](const Result<net::HttpResponse>& given) {
    EXPECT_TRUE(given.ok());
    answer = given.ok() ? *given : net::HttpResponse{};
  });
  ASSERT_TRUE(loop_.runUntil([&] { return daemon_->waitingAnswers() == 1; }, 30'000));
  bool stopped = false;
  daemon_->stop([&] { stopped = true; });
  ASSERT_TRUE(loop_.runUntil([&] { return stopped && answer.has_value(); }, 30'000));
  EXPECT_EQ(answer->status, 202);
  EXPECT_THAT(answer->body, HasSubstr("the node is stopping"));
  EXPECT_THAT(answer->body, HasSubstr("it waits in the outbox"));
  EXPECT_EQ(daemon_->waitingAnswers(), 0u);
  api.close();
}

TEST_F(DaemonTest, WhatIsNotTakenIsUnavailableAndDoesNotWait) {
  DaemonConfig config;
  config.engine = "etcd";
  config.etcd = {"http://127.0.0.1:1"};  // nobody
  begin(std::move(config));
  for (std::size_t i = 0; i + 1 < kMaxOutbox; ++i)
    ASSERT_TRUE(daemon_->replica().enqueue(spend("op-" + std::to_string(i), 1), daemon_->now()).ok());
  ControlApi api(loop_, *daemon_, ControlTokens::open(dir_).value(), ProgramTokens::open(dir_).value());
  const auto address = api.listen("unix:" + scratch_ / "control.sock");
  ASSERT_TRUE(address.ok()) << address.error().message;
  net::HttpClient client(loop_, {.address = *address}, {});
  const auto propose = [&](const std::string& id) {
    net::HttpRequest request{.method = "POST", .target = "/v1/propose"};
    request.headers["authorization"] = "Bearer " + ControlTokens::open(dir_)->of(ControlRole::admin);
    request.headers["content-type"] = "application/json";
    request.body = canonicalJson(json::object{{"domain", "budget"},
                                              {"entity", "x"},
                                              {"role", "A"},
                                              {"action", {{"type", "SpendA"}, {"n", 1}}},
                                              {"operationId", id},
                                              {"waitMs", 1}});
    std::optional<net::HttpResponse> got;
    client.request(std::move(request), [&](const Result<net::HttpResponse>& answer) {
      EXPECT_TRUE(answer.ok());
      got = answer.ok() ? *answer : net::HttpResponse{};
    });
    EXPECT_TRUE(loop_.runUntil([&] { return got.has_value(); }, 30'000));
    return *got;
  };
  // The last place: it waits.
  const net::HttpResponse waits = propose("last");
  EXPECT_EQ(waits.status, 202);
  EXPECT_THAT(waits.body, HasSubstr(R"("outcome":"waiting")"));
  // No place: it does not wait, and its proposer must not believe that it does.
  const net::HttpResponse full = propose("one-more");
  EXPECT_EQ(full.status, 503);
  EXPECT_THAT(full.body, HasSubstr(R"("code":"unavailable")"));
  EXPECT_THAT(full.body, HasSubstr("the outbox is full"));
  EXPECT_FALSE(daemon_->replica().outbox().all().contains("one-more"));
  api.close();
}

// A person has an hour to decide, and the clock is two days ahead for a moment.
TEST_F(DaemonTest, AClockThatJumpsAndComesBackEndsNoQuestion) {
  ManualClock wall(SystemClock().now());
  wall_ = &wall;
  DaemonConfig config;
  config.pendingTtlSeconds = 3'600;
  begin(std::move(config));
  const auto day = [&](std::int64_t ago) { return formatDate(dateOf(Time{wall.now().micros - ago * kMicrosPerDay})); };
  const kernel::DomainModule& udt = *daemon_->replica().moduleOf("udt");
  const auto outcome = [&](Request request) {
    const auto answer = ask(std::move(request));
    EXPECT_TRUE(loop_.runUntil([&] { return answer->has_value(); }, 30'000));
    EXPECT_TRUE((**answer).ok());
    return (**answer)->outcome;
  };
  const auto propose = [&](const char* role, const std::string& id, json::value action) {
    return outcome(*proposalRequest(udt, "B", role, id, action));
  };
  const std::string today = day(0);
  ASSERT_EQ(outcome(initRequest(udt, "B", "begin", json::object{{"baselinePositiveOn", day(112)}})),
            Outcome::initialised);
  ASSERT_EQ(propose("LabOrder", "1", {{"type", "DocumentRationale"}, {"order", "O"}, {"text", "individual plan"}}),
            Outcome::approved);
  ASSERT_EQ(propose("LabOrder", "2",
                    {{"type", "OrderTest"},
                     {"order", "O"},
                     {"kind", "PRESUMPTIVE"},
                     {"code", "80307"},
                     {"method", "IA"},
                     {"dos", today}}),
            Outcome::approved);
  ASSERT_EQ(
      propose("Clinical", "3", {{"type", "RecordResult"}, {"order", "O"}, {"outcome", "POSITIVE"}, {"on", today}}),
      Outcome::escalated);

  const json::value next{{"type", "AdvanceAbstinence"}};
  wall.advance(2 * kMicrosPerDay);
  EXPECT_EQ(propose("Clinical", "4", next), Outcome::frozen);
  wall.advance(-2 * kMicrosPerDay);
  EXPECT_EQ(propose("Clinical", "5", next), Outcome::frozen) << "and it can still be decided";
  std::size_t jumps = 0;
  const auto incidents = daemon_->replica().data().incidents().value();
  for (const replication::Incident& one : incidents) {
    if (one.kind != "clockJumped") continue;
    ++jumps;
    EXPECT_THAT(one.what, HasSubstr("2 d 0 h ahead"));
  }
  EXPECT_EQ(jumps, 1u);
}

}  // namespace
}  // namespace witan::node::daemon_test

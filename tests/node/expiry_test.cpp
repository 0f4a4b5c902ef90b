// F17: pending proposals can expire. Feeding the same lines again must not expire anything anew.
#include <gtest/gtest.h>

#include "domains/registry.h"
#include "node/events/event_runner.h"

namespace witan::node::expiry_test {
namespace {

const char* const kLines[] = {
    R"({"at":"2026-03-23T08:00:00Z","entity":"B","init":{"baselinePositiveOn":"2025-12-01"}})",
    R"({"at":"2026-03-30T08:00:00Z","entity":"A","init":{"baselinePositiveOn":"2025-12-01"}})",
    R"({"at":"2026-03-30T09:00:00Z","entity":"A","role":"Clinical","action":{"type":"AdvanceAbstinence"}})",
    R"({"at":"2026-03-23T09:00:00Z","entity":"B","role":"LabOrder","action":{"type":"DocumentRationale","order":"O","text":"individual plan"}})",
    R"({"at":"2026-03-23T09:00:00Z","entity":"B","role":"LabOrder","action":{"type":"OrderTest","order":"O","kind":"PRESUMPTIVE","code":"80307","method":"IA","dos":"2026-03-23"}})",
    R"({"at":"2026-03-23T10:00:00Z","entity":"B","role":"Clinical","action":{"type":"RecordResult","order":"O","outcome":"POSITIVE","on":"2026-03-23"}})",
    R"({"at":"2026-03-23T11:00:00Z","entity":"B","counselor":"dr.supervising","decision":"reject","reason":"specimen mix-up"})",
};
constexpr std::int64_t kTwoDays = 2 * kMicrosPerDay;

struct Desk {
  explicit Desk(std::int64_t ttl)
      : module(domains::makeDomain("udt").value()),
        partition(*module, {ttl, false}),
        runner(partition, false, [this](const std::string& t) { notes += t; }) {}
  std::string feed(std::size_t i) { return runner.feed(i + 1, kLines[i]); }
  std::unique_ptr<kernel::DomainModule> module;
  kernel::Partition partition;
  std::string notes;
  EventRunner runner;
};

TEST(Expiry, AFileFedAgainExpiresNothingAnew) {
  Desk desk(kTwoDays);
  for (std::size_t i = 0; i < 6; ++i) desk.feed(i);  // stopped before the last line
  for (std::size_t i = 0; i < 6; ++i) EXPECT_NE(desk.feed(i).find("\"duplicate\""), std::string::npos) << i;
  EXPECT_NE(desk.feed(6).find("\"cRejected\""), std::string::npos);
  EXPECT_EQ(desk.notes, "");
}

TEST(Expiry, TheEntitysNextLineFindsItThawed) {
  Desk desk(kTwoDays);
  for (std::size_t i = 0; i < 6; ++i) desk.feed(i);
  const std::string late = desk.runner.feed(
      7, R"({"at":"2026-03-26T10:00:00Z","entity":"B","role":"Clinical","action":{"type":"AdvanceAbstinence"}})");
  EXPECT_NE(late.find("\"approved\""), std::string::npos) << late;
  EXPECT_NE(desk.notes.find("expired: no counselor decided by 2026-03-25T10:00:00Z"), std::string::npos) << desk.notes;
}

TEST(Expiry, WithoutATimeToLiveNothingExpires) {
  Desk desk(0);
  for (std::size_t i = 0; i < 6; ++i) desk.feed(i);
  EXPECT_NE(
      desk.runner
          .feed(7,
                R"({"at":"2036-03-26T10:00:00Z","entity":"B","role":"Clinical","action":{"type":"AdvanceAbstinence"}})")
          .find("\"frozen\""),
      std::string::npos);
}

}  // namespace
}  // namespace witan::node::expiry_test

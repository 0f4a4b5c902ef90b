// All entries of several ledgers by time, however few a page holds.
#include "cli/ledgers/ledger_source.h"

#include <gmock/gmock.h>

#include "base/time.h"

namespace witan::node::ledger_pages_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

json::object rowOf(const std::string& partition, std::uint64_t seq, std::int64_t second) {
  return {{"partition", partition},
          {"seq", seq},
          {"entry", {{"time", formatTime(Time{1'774'252'800'000'000 + second * 1'000'000 + 60'000})}}}};
}

struct Ledgers {
  std::map<std::string, std::vector<std::int64_t>> times;
  std::size_t page = 2, fetched = 0;

  Result<json::array> operator()(const std::string& partition, std::uint64_t after) {
    ++fetched;
    json::array rows;
    const std::vector<std::int64_t>& all = times[partition];
    for (std::uint64_t seq = after + 1; seq <= all.size() && rows.size() < page; ++seq)
      rows.push_back(rowOf(partition, seq, all[seq - 1]));
    return rows;
  }
};

TEST(LedgerPages, AllEntriesComeByTimeAndEachOnce) {
  Ledgers ledgers{{{"a/0", {1, 4, 5, 9, 9}}, {"b/0", {}}, {"c/0", {2, 3, 5, 10, 11, 12, 13}}}};
  LedgerPages pages({"a/0", "b/0", "c/0"}, std::ref(ledgers));
  std::vector<std::string> seen;
  for (;;) {
    const auto row = pages.next();
    ASSERT_TRUE(row.ok()) << row.error().message;
    if (!*row) break;
    seen.push_back(std::string((*row)->at("partition").as_string()) + ":" +
                   std::to_string((*row)->at("seq").to_number<int>()));
  }
  EXPECT_THAT(seen, ElementsAre("a/0:1", "c/0:1", "c/0:2", "a/0:2", "a/0:3", "c/0:3", "a/0:4", "a/0:5", "c/0:4",
                                "c/0:5", "c/0:6", "c/0:7"));
  EXPECT_EQ(ledgers.fetched, (3u + 1) + (0 + 1) + (4 + 1)) << "once more a ledger than it has pages";
  EXPECT_FALSE(pages.next()->has_value());
}

// A server that answers with what was asked before would be asked for ever.
TEST(LedgerPages, WhatIsNotInOrderEndsIt) {
  const auto problem = [](const json::array& answer) {
    LedgerPages pages({"a/0"}, [&](const std::string&, std::uint64_t) { return Result<json::array>(answer); });
    for (int i = 0; i < 5; ++i)
      if (const auto row = pages.next(); !row.ok()) return row.error().message;
    return std::string("fine");
  };
  EXPECT_THAT(problem({rowOf("a/0", 1, 1)}), HasSubstr("not in order"));
  EXPECT_THAT(problem({json::object{{"seq", 1}}}), HasSubstr("without a time"));
  EXPECT_THAT(problem({json::value("row")}), HasSubstr("without a time"));
}

}  // namespace
}  // namespace witan::node::ledger_pages_test

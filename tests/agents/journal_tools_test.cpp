#include "agents/tools/journal_tools.h"

#include <gtest/gtest.h>

#include "agents/episode/turn_check.h"
#include "replication/records/journal_entity.h"
#include "tests/replication/cluster.h"

namespace witan::agents::journal_tools_test {
namespace {

using replication::DatabaseName;

// A day of many notes: what is listed is always what an agent may be told, and says that there is more.
TEST(JournalList, FitsIntoWhatAnAgentIsTold) {
  replication::test::Device a("a");
  for (int i = 0; i < 1'000; ++i) {
    replication::JournalBody body;
    body.type = "note", body.author = "anna", body.lamport = 1;
    body.payload = R"({"text":")" + std::string(static_cast<std::size_t>(i % 90), 'x') + R"("})";
    const replication::JournalChange change{"note/" + std::to_string(i), body, ""};
    const auto writes = *replication::journalWrites(a.journal(), {&change, 1});
    ASSERT_TRUE(a.replica().commit(DatabaseName::journal, "main", writes).ok());
  }
  const auto listed = listEntries(a.replica(), {{"type", "note"}});
  ASSERT_TRUE(listed.ok());
  EXPECT_TRUE(episode::checkValue(*listed, "what was listed").ok());
  EXPECT_GT(listed->at("entries").as_array().size(), 250u);
  EXPECT_TRUE(listed->at("more").as_bool());
  // Page by page, all of them.
  std::size_t seen = 0;
  std::string last;
  for (bool more = true; more;) {
    const auto page = listEntries(a.replica(), {{"type", "note"}, {"after", last}});
    ASSERT_TRUE(page.ok());
    for (const json::value& entry : page->at("entries").as_array()) {
      EXPECT_LT(last, entry.at("id").as_string());
      last = entry.at("id").as_string();
      ++seen;
    }
    more = page->at("more").as_bool();
  }
  EXPECT_EQ(seen, 1'000u);
  const auto few = listEntries(a.replica(), {{"type", "note"}, {"prefix", "note/99"}});
  ASSERT_TRUE(few.ok());
  EXPECT_EQ(few->at("entries").as_array().size(), 11u);
  EXPECT_FALSE(few->at("more").as_bool());
}

// An entry that nobody can be told hides none of those after it.
TEST(JournalList, AnEntryThatIsTooLargeIsLeftOut) {
  replication::test::Device a("a");
  for (const auto& [id, size] : {std::pair{"note/1", 10}, std::pair{"note/2", 70'000}, std::pair{"note/3", 10}}) {
    replication::JournalBody body;
    body.type = "note", body.author = "anna", body.lamport = 1;
    body.payload = R"({"text":")" + std::string(static_cast<std::size_t>(size), 'x') + R"("})";
    const replication::JournalChange change{id, body, ""};
    const auto writes = *replication::journalWrites(a.journal(), {&change, 1});
    ASSERT_TRUE(a.replica().commit(DatabaseName::journal, "main", writes).ok());
  }
  const auto listed = listEntries(a.replica(), {{"type", "note"}});
  ASSERT_TRUE(listed.ok());
  EXPECT_EQ(listed->at("entries").as_array().size(), 2u);
  EXPECT_FALSE(listed->at("more").as_bool()) << "nothing is behind the last";
  EXPECT_EQ(listed->at("tooLarge").to_number<int>(), 1);
}

// One that fills a page by itself is on one: who goes on after the last of a page comes to an end.
TEST(JournalList, AnEntryOfAllThatAPageHoldsIsListed) {
  replication::test::Device a("a");
  const auto write = [&](std::size_t size) {
    replication::JournalBody body;
    body.type = "note", body.author = "anna", body.lamport = 1;
    body.payload = R"({"text":")" + std::string(size, 'x') + R"("})";
    const replication::JournalChange change{"note/1", body, ""};
    const auto writes = *replication::journalWrites(a.journal(), {&change, 1});
    ASSERT_TRUE(a.replica().commit(DatabaseName::journal, "main", writes).ok());
  };
  const auto listed = [&] { return listEntries(a.replica(), {{"type", "note"}}).value(); };
  write(0);
  const json::array empty = listed().at("entries").as_array();
  const std::size_t around = canonicalJson(empty.front()).size() + 1;
  write(kMostListedBytes - around);
  const json::value page = listed();
  ASSERT_EQ(page.at("entries").as_array().size(), 1u) << canonicalJson(page).size();
  EXPECT_EQ(canonicalJson(page.at("entries").as_array().front()).size() + 1, kMostListedBytes);
  EXPECT_FALSE(page.at("more").as_bool());
}

}  // namespace
}  // namespace witan::agents::journal_tools_test

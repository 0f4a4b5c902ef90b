// What recordWrite() makes is not read again by a commit: it must be what the commit would have accepted; and the rows
// that a commit leaves to the end of its batch must be there.
#include "replication/records/record_write.h"

#include <gtest/gtest.h>

#include "replication/records/journal_entity.h"
#include "replication/records/record_schemas.h"
#include "tests/replication/cluster.h"

namespace witan::replication::record_write_test {
namespace {

using test::Device;

JournalBody noteOf(std::string payload) {
  JournalBody body;
  body.type = "note", body.author = "anna", body.lamport = 1, body.payload = std::move(payload);
  return body;
}

TEST(RecordWrite, IsWhatACommitAcceptsAndPlainWritesAreStillRead) {
  Device a("a");
  const JournalChange change{"e", noteOf(R"({"text":"x"})"), ""};
  auto writes = *journalWrites(a.journal(), {&change, 1});
  for (const Write& write : writes) {
    EXPECT_TRUE(write.check.done());
    EXPECT_TRUE(recordSchemas().check(write.kind, write.body, a.journal().selfName()).ok());
  }
  EXPECT_FALSE(recordWrite("e", noteOf("{ }")).ok()) << "not canonical";
  // The same bytes said by anybody else are checked, and so are damaged ones.
  const Write plain{Kind::journal, "e", writes[0].body, false};
  EXPECT_FALSE(plain.check.done());
  EXPECT_TRUE(a.journal().commit({&plain, 1}).ok());
  const Write damaged{Kind::journal, "f", writes[0].body.substr(8), false};
  EXPECT_FALSE(a.journal().commit({&damaged, 1}).ok());
}

// Many commits of one batch write one vector, the last; what is read back covers all of them.
TEST(RecordWrite, ABatchOfManyCommitsHasOneVector) {
  Device a("a");
  Database& database = a.replica().database(DatabaseName::journal);
  for (int i = 0; i < 5; ++i) {
    const JournalChange change{"e" + std::to_string(i), noteOf("1"), ""};
    const auto writes = *journalWrites(a.journal(), {&change, 1});
    ASSERT_TRUE(a.replica().commit(DatabaseName::journal, "main", writes).ok());
  }
  const auto vectors = [&] {
    std::size_t count = 0;
    for (std::size_t i = 0; i < database.pending().size(); ++i)
      count += database.pending().op(i).key == std::string_view("smain\0v", 7) ? 1 : 0;
    return count;
  };
  EXPECT_LE(vectors(), 1u);
  a.flush();
  const VectorClock before = a.journal().clock();
  a.crash();
  EXPECT_EQ(a.journal().clock(), before);
  EXPECT_TRUE(a.journal().settled());
  EXPECT_TRUE(a.journal().checkIntegrity().ok());
}

// A body stays readable between the commit and the flush, and after it, also if its version goes meanwhile.
TEST(RecordWrite, BodiesAreThereBeforeAndAfterTheFlush) {
  Device a("a");
  Space& space = a.agents();
  const auto message = [&](const std::string& id, bool tombstone) {
    const MessageBody body{id, "lab", "main", MessageKind::thought, {}, "text of " + id, 7, {}};
    const Write write{Kind::message, id, tombstone ? "" : *encodeRecord(body), tombstone};
    ASSERT_TRUE(a.replica().commit(DatabaseName::agents, "main", {&write, 1}).ok());
  };
  const auto says = [&](const std::string& id) {
    const auto versions = *space.versions(Kind::message, id);
    return versions.empty() || versions[0].tombstone ? "" : decodeRecord<MessageBody>(versions[0].body)->content;
  };
  message("m1", false), message("m2", false), message("m3", false);
  EXPECT_EQ(says("m2"), "text of m2");
  message("m1", true);
  space.drop(*space.table().find(Kind::message, "m3")->versions.front());
  EXPECT_EQ(says("m1"), "");
  EXPECT_EQ(says("m2"), "text of m2");
  a.flush();
  EXPECT_EQ(says("m2"), "text of m2");
  EXPECT_EQ(says("m1") + says("m3"), "");
  EXPECT_TRUE(space.checkIntegrity().ok());
}

}  // namespace
}  // namespace witan::replication::record_write_test

#include "replication/statement.h"

#include <capnp/schema.h>
#include <gtest/gtest.h>

#include <functional>

#include "base/bytes.h"
#include "base/capnp_codec.h"
#include "replication/membership.capnp.h"
#include "tests/same_layout.h"

namespace witan::replication::statement_test {
namespace {

Statement sample() {
  std::vector<Statement> known{admit({}, "a@00000001", "a", 1, "Anna's phone")};
  known.push_back(admit(known, "a@00000001", "b", 1, "desk"));
  known.push_back(proposeRetire(known, "b@00000002", "a", 1));
  return retireAck(known, "b@00000002", "a", 1, {{"state", "a@00000001", 7}, {"journal", "a@00000001", 3}});
}

using witan::layout::expectSameLayout;

TEST(Statement, LayoutIsTheSchemas) {
  expectSameLayout<wire::Statement, Statement>();
  expectSameLayout<wire::SeenStatements, SeenStatements>();
  expectSameLayout<wire::AckedCounter, AckedCounter>();
  const auto enumerants = capnp::Schema::from<wire::StatementKind>().getEnumerants();
  ASSERT_EQ(enumerants.size(), enumNames<StatementKind>().size());
  for (unsigned i = 0; i < enumerants.size(); ++i)
    EXPECT_EQ(std::string_view(enumerants[i].getProto().getName().cStr()), enumNames<StatementKind>()[i]);
}

TEST(Statement, CapnProtoItselfReadsTheBytes) {
  const std::string bytes = encodeStatement(sample());
  const auto words = *alignedWords(bytes);
  FlatMessage message({reinterpret_cast<const char*>(words.data()), bytes.size()});
  const auto read = message.root().getAs<wire::Statement>();
  EXPECT_EQ(std::string(read.getWriter().cStr()), "b@00000002");
  EXPECT_EQ(read.getNumber(), 2u);
  EXPECT_EQ(read.getKind(), wire::StatementKind::RETIRE_ACK);
  EXPECT_EQ(read.getAcked().size(), 2u);
  EXPECT_EQ(std::string(read.getAcked()[0].getSpace().cStr()), "journal");
  EXPECT_EQ(read.getAcked()[1].getCounter(), 7u);
}

TEST(Statement, RoundTripAndEveryTruncationIsRefused) {
  const std::string bytes = encodeStatement(sample());
  const auto back = decodeStatement(bytes);
  ASSERT_TRUE(back.ok()) << back.error().message;
  EXPECT_EQ(*back, sample());
  for (std::size_t cut = 0; cut < bytes.size(); ++cut) EXPECT_FALSE(decodeStatement(bytes.substr(0, cut)).ok()) << cut;
  EXPECT_FALSE(decodeStatement(bytes + std::string(8, '\0')).ok());
}

// The wire format cannot change by accident.
TEST(Statement, GoldenBytes) {
  const Statement statement = proposeRetire(std::vector<Statement>{admit({}, "a@00000001", "a", 1, "")}, "b", "a", 1);
  EXPECT_EQ(toHex(sha256(encodeStatement(statement))),
            "6075eb0ebb0ef26ee90249ba4ed5f3ae3682a5bde52cb052f742bd3adf37005c");
  EXPECT_EQ(toHex(sha256(encodeStatement(sample()))),
            "23dfc8e1f389b4daf6b3d7de7cdc44a4b0fd1eda3ed9eee343e47852d343fba9");
}

TEST(Statement, NumbersFollowWhatItsWriterHadRead) {
  const Statement s = sample();
  EXPECT_EQ(s.number, 2u);
  EXPECT_EQ(s.seen, (std::vector<SeenStatements>{{"a@00000001", 2}, {"b@00000002", 1}}));
}

TEST(Statement, RefusesWhatAnHonestDeviceWouldNotSay) {
  ASSERT_TRUE(validateStatement(sample()).ok());
  const auto refused = [](const std::function<void(Statement&)>& spoil) {
    Statement s = sample();
    spoil(s);
    const bool refusedIt = !validateStatement(s).ok();
    return refusedIt && !decodeStatement(encodeStatement(s)).ok();
  };
  EXPECT_TRUE(refused([](Statement& s) { s.writer = "a@b"; }));
  EXPECT_TRUE(refused([](Statement& s) { s.number = 0; }));
  EXPECT_TRUE(refused([](Statement& s) { s.number = 3; }));  // has seen only one of its own
  EXPECT_TRUE(refused([](Statement& s) { s.number = kMaxStatements + 1; }));
  EXPECT_TRUE(refused([](Statement& s) { s.device = "a@00000001"; }));
  EXPECT_TRUE(refused([](Statement& s) { s.device = "b"; }));  // itself
  EXPECT_TRUE(refused([](Statement& s) { s.admission = 0; }));
  EXPECT_TRUE(refused([](Statement& s) { s.admission = kMaxAdmission + 1; }));
  EXPECT_TRUE(refused([](Statement& s) { s.name = "named"; }));
  EXPECT_TRUE(refused([](Statement& s) { std::swap(s.seen[0], s.seen[1]); }));
  EXPECT_TRUE(refused([](Statement& s) { s.seen[0].number = 0; }));
  EXPECT_TRUE(refused([](Statement& s) { std::swap(s.acked[0], s.acked[1]); }));
  EXPECT_TRUE(refused([](Statement& s) { s.acked[0].counter = 0; }));
  EXPECT_TRUE(refused([](Statement& s) { s.acked[0].space = ""; }));
  EXPECT_TRUE(refused([](Statement& s) { s.acked.push_back(s.acked.back()); }));
  EXPECT_TRUE(refused([](Statement& s) { s.kind = StatementKind::proposeRetire; }));  // with counters
  EXPECT_TRUE(refused([](Statement& s) {
    s.kind = StatementKind::admit;
    s.acked.clear();
    s.name = std::string(kMaxDeviceNameBytes + 1, 'n');
  }));
}

}  // namespace
}  // namespace witan::replication::statement_test

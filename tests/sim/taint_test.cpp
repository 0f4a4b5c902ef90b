// The taint search: markers in every form that bytes take, in rows and frames; only those that may not be there.
#include "sim/check/taint.h"

#include <gtest/gtest.h>

#include "base/capnp_codec.h"
#include "base/dense.h"
#include "tests/replication/cluster.h"

namespace witan::sim::test::taint_test {
namespace {

const std::vector<std::string> kScopes{"main", "secret", "secret-too"};

TEST(Taint, FindsEveryMarker) {
  const std::string text =
      "x" + taintMarker("secret", 12) + " " + taintMarker("main", 7) + taintMarker("secret-too", 3);
  const auto found = findTaint(text, kScopes);
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(found[0].scope, "secret");
  EXPECT_EQ(found[0].number, "12");
  EXPECT_EQ(found[0].offset, 1u);
  EXPECT_EQ(found[1].scope, "main");
  EXPECT_EQ(found[2].scope, "secret-too");
  EXPECT_EQ(found[2].number, "3");
  EXPECT_TRUE(findTaint("taint, tainted, tain", kScopes).empty());
  EXPECT_TRUE(findTaint("", kScopes).empty());
}

TEST(Taint, WhatNamesNoScope) {
  const auto found = findTaint("taint-elsewhere-3 and taint-", kScopes);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].scope, "");
  EXPECT_EQ(found[1].scope, "");
}

// As keys and ids travel: their trailing digits are packed.
TEST(Taint, InPackedIds) {
  std::string bytes;
  DenseWriter(bytes).idText(taintMarker("secret", 1234));
  EXPECT_EQ(bytes.find("1234"), std::string::npos);
  const auto found = findTaint(bytes, kScopes);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].scope, "secret");
}

TEST(Taint, InCapnProtoAndJson) {
  using replication::JournalBody;
  JournalBody body{"note", "{\"text\":\"" + taintMarker("secret", 9) + "\"}", 1, "person", 5, std::nullopt, {}};
  const auto record = replication::encodeRecord(body);
  ASSERT_TRUE(record.ok());
  const auto found = findTaint(*record, kScopes);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].scope, "secret");
  EXPECT_EQ(found[0].number, "9");
}

Confinement publicOnly() {
  return Confinement(kScopes,
                     [](std::string_view device, std::string_view scope) { return device == "a" || scope == "main"; });
}

TEST(Confined, Rows) {
  const Confinement confinement = publicOnly();
  EXPECT_EQ(confinement.checkRow("a", "journal", "k", taintMarker("secret", 1)), "");
  EXPECT_EQ(confinement.checkRow("b", "journal", "k", taintMarker("main", 1)), "");
  EXPECT_EQ(
      confinement.checkRow("b", "journal", "key\n", "xx" + taintMarker("secret", 1)),
      "b holds taint-secret-1, of scope secret which it may not have, in the value of its store journal, row key., "
      "byte 2");
  EXPECT_NE(confinement.checkRow("b", "journal", taintMarker("secret", 1), "").find("the key of"), std::string::npos);
  EXPECT_NE(confinement.checkRow("a", "journal", "k", "taint-nothing").find("of no scope"), std::string::npos);
  EXPECT_EQ(confinement.markersSeen(), 5u);
}

// RocksDB begins each block of 32 KiB of a log with a header of seven bytes, also amid a marker.
TEST(Confined, LogsOfBlocks) {
  const Confinement confinement = publicOnly();
  for (const std::string scope : {"main", "secret"})
    for (std::size_t cut = 0; cut <= taintMarker(scope, 1).size(); ++cut) {
      const std::string marker = taintMarker(scope, 1);
      const std::string log =
          std::string(32 * 1024 - cut, '.') + marker.substr(0, cut) + "HEADER." + marker.substr(cut);
      EXPECT_EQ(confinement.checkRow("b", "journal", "/store/000031.log", log + "...").empty(), scope == "main") << cut;
    }
}

// A marker that arrives in two pieces, cut anywhere; and beginnings that come to nothing.
TEST(Confined, Streams) {
  const std::string text = "..." + taintMarker("secret-too", 5) + "...";
  for (std::size_t cut = 0; cut <= text.size(); ++cut) {
    Confinement confinement = publicOnly();
    const std::string first = confinement.checkReceived("b", "a", text.substr(0, cut));
    const std::string second = confinement.checkReceived("b", "a", text.substr(cut));
    EXPECT_NE((first + second).find("what a sent it, byte 3"), std::string::npos) << "cut at " << cut;
    EXPECT_TRUE(first.empty() || second.empty()) << "found twice, cut at " << cut;
  }
  Confinement confinement = publicOnly();
  EXPECT_EQ(confinement.checkReceived("b", "a", "taint-se"), "");
  confinement.closed("b", "a");
  EXPECT_EQ(confinement.checkReceived("b", "a", "cret-5"), "");
  EXPECT_EQ(confinement.checkReceived("b", "a", "tain"), "");
  EXPECT_EQ(confinement.checkReceived("b", "c", "t-secret-1"), "");
}

// Two devices in sync: one that may have every scope, and one that was given what it may not have.
TEST(Confined, ARealSession) {
  using replication::Kind;
  for (const bool obeys : {true, false}) {
    replication::test::Device a("a"), b("b");
    for (const std::string scope : {"main", "secret"}) {
      const std::string payload = "\"" + taintMarker(scope, 1) + "\"";
      const replication::JournalBody body{"note", payload, 1, "person", 5, std::nullopt, {}};
      const replication::Write write{Kind::journal, "entity-" + scope, *replication::encodeRecord(body), false};
      ASSERT_TRUE(a.replica().commit(replication::DatabaseName::journal, scope, {&write, 1}).ok());
      a.flush();
    }
    Confinement confinement = publicOnly();
    replication::SessionOptions towardsB;
    if (obeys) towardsB.mayHave = [](replication::DatabaseName, std::string_view scope) { return scope != "secret"; };
    replication::test::Link link(a, b, towardsB);
    std::string problem;
    for (bool more = true; more;) {
      link.say(1u << 20);
      more = !link.queueToA().empty() || !link.queueToB().empty();
      for (const std::string& frame : link.queueToB()) {
        const std::string here = confinement.checkReceived("b", "a", frame);
        if (problem.empty()) problem = here;
      }
      while (!link.queueToB().empty()) link.deliverToB();
      while (!link.queueToA().empty()) link.deliverToA();
    }
    b.flush();
    std::string onDisk;
    b.journalStore().visitBytes([&](std::string_view key, std::string_view value) {
      if (onDisk.empty()) onDisk = confinement.checkRow("b", "journal", key, value);
      return true;
    });
    EXPECT_EQ(problem.empty(), obeys) << problem;
    EXPECT_EQ(onDisk.empty(), obeys) << onDisk;
    EXPECT_GT(confinement.markersSeen(), 1u);
  }
}

}  // namespace
}  // namespace witan::sim::test::taint_test

// `witan journal`: concurrent edits stay side by side until a person settles on one; each write tells of itself in its
// own commit; an import takes what it can, and loses nothing that it answered.
#include <gmock/gmock.h>

#include <map>
#include <set>

#include "base/seams.h"
#include "node/data_dir/replica_dir.h"
#include "program/error_report.h"
#include "replication/records/notification.h"
#include "replication/records/records.h"
#include "tests/node/replica.h"

namespace witan::node::journal_command_test {
namespace {

using namespace replication;
using test::Child;
using test::Finished;
using test::Garden;
using test::meet;
using test::Replica;
using ::testing::HasSubstr;
using ::testing::Not;

std::vector<std::string> dotsOf(const json::value& view) {
  std::vector<std::string> dots;
  for (const json::value& sibling : view.at("siblings").as_array())
    dots.push_back(std::string(sibling.at("dot").at("host").as_string()) + ":" +
                   std::to_string(sibling.at("dot").at("counter").to_number<int>()));
  return dots;
}

// The bodies of all notification batches in a directory that nobody has open.
std::vector<BatchBody> batchesOf(const Replica& replica) {
  auto dir = ReplicaDir::open(replica.dir());
  EXPECT_TRUE(dir.ok());
  Space* space = (*dir)->replica().database(DatabaseName::journal).find("main");
  std::vector<BatchBody> bodies;
  for (const std::string& key : space->keys(Kind::batch)) {
    const auto versions = space->versions(Kind::batch, key);
    for (const Version& version : *versions) bodies.push_back(*decodeRecord<BatchBody>(version.body));
  }
  EXPECT_TRUE((*dir)->close().ok());
  return bodies;
}

TEST(JournalCommand, PutGetList) {
  Garden garden;
  const Replica laptop = garden.join("laptop");
  EXPECT_THAT(laptop.run({"journal", "put", "plot-4", "--text", "x"}).err, HasSubstr("--type"));
  laptop.ok({"journal", "put", "plot-4", "--type", "plot", "--text", "beans"});
  EXPECT_THAT(laptop.ok({"journal", "put", "plot-4", "--text", "beans"}), HasSubstr("says that already"));
  laptop.ok({"journal", "put", "plot-5", "--type", "plot", "--json-payload", "-", "--author", "ann"},
            R"({ "rows": 3, "crop": "peas" })");
  EXPECT_THAT(laptop.ok({"journal", "get", "plot-4"}), HasSubstr("beans  (plot, laptop, "));
  EXPECT_THAT(laptop.ok({"journal", "get", "plot-5"}), HasSubstr(R"({"crop":"peas","rows":3}  (plot, ann, )"));
  const json::value got = laptop.asJson({"journal", "get", "plot-5"});
  EXPECT_FALSE(got.at("conflict").as_bool());
  EXPECT_EQ(canonicalJson(got.at("siblings").as_array().at(0).at("payload")), R"({"crop":"peas","rows":3})");
  EXPECT_THAT(laptop.ok({"journal", "list"}), HasSubstr("plot-4  beans"));
  EXPECT_THAT(laptop.run({"journal", "get", "plot-6"}).err, HasSubstr("witan journal list"));
  EXPECT_THAT(laptop.run({"journal", "put", "plot-4"}).err, HasSubstr("--text TEXT or --json-payload"));
  EXPECT_THAT(laptop.run({"journal", "put", "plot-4", "--json-payload", "-"}, "{").err,
              HasSubstr("standard input: JSON at byte 1"));
  EXPECT_THAT(laptop.run({"journal", "put", "a|b", "--type", "t", "--text", "x"}).err, HasSubstr("journal entity"));
}

// A journal write and the batch that tells of it are one commit (docs/FINDINGS.md, F15).
TEST(JournalCommand, EachWriteTellsOfItselfInItsOwnCommit) {
  Garden garden;
  const Replica laptop = garden.join("laptop");
  laptop.ok({"journal", "put", "plot-4", "--type", "plot", "--text", "beans"});
  laptop.ok({"journal", "import", "-"}, R"({"id":"plot-5","type":"plot","text":"peas"})");
  std::map<std::string, BatchBody> byEntity;
  for (BatchBody& body : batchesOf(laptop)) byEntity[body.changes.at(0).payloadId] = std::move(body);
  ASSERT_EQ(byEntity.size(), 2u);
  EXPECT_EQ(byEntity["plot-4"].changes.at(0).origin, ChangeOrigin::local);
  EXPECT_EQ(byEntity["plot-5"].changes.at(0).origin, ChangeOrigin::sync);
  EXPECT_EQ(byEntity["plot-5"].sourceCursor, "line 1");
  EXPECT_EQ(byEntity["plot-4"].changes.at(0).payloadType, "journalEntity");
  EXPECT_EQ(byEntity["plot-4"].tokens.size(), 2u);
  EXPECT_EQ(laptop.asJson({"sync", "status"})
                .at("spaces")
                .as_array()
                .back()
                .at("vector")
                .as_object()
                .begin()
                ->value()
                .to_number<int>(),
            2);
}

TEST(JournalCommand, APersonSettlesWhatWasWrittenSideBySide) {
  Garden garden;
  const Replica laptop = garden.join("laptop"), phone = garden.join("phone"), tablet = garden.join("tablet");
  laptop.ok({"journal", "put", "plot-4", "--type", "plot", "--text", "beans"});
  meet(laptop, phone);
  meet(laptop, tablet);
  laptop.ok({"journal", "put", "plot-4", "--text", "peas"});
  phone.ok({"journal", "put", "plot-4", "--text", "kale"});
  meet(laptop, phone);
  EXPECT_EQ(laptop.ok({"journal", "get", "plot-4"}), phone.ok({"journal", "get", "plot-4"}));
  EXPECT_THAT(laptop.run({"journal", "put", "plot-4", "--text", "leek"}).err, HasSubstr("journal resolve plot-4"));
  const json::value shown = laptop.asJson({"journal", "resolve", "plot-4"}).at("entity");
  const std::vector<std::string> dots = dotsOf(shown);
  ASSERT_EQ(dots.size(), 2u);
  EXPECT_THAT(laptop.run({"journal", "resolve", "plot-4", "--choose", dots[0]}).err, HasSubstr("copy the command"));
  EXPECT_THAT(laptop.run({"journal", "resolve", "plot-4", "--seen", dots[0], "--text", "x"}).err,
              HasSubstr("changed since they were shown"));
  EXPECT_THAT(laptop.run({"journal", "resolve", "plot-4", "--seen", "nonsense", "--text", "x"}).err,
              HasSubstr("names no version"));

  // While the person was looking, a third edit arrived.
  tablet.ok({"journal", "put", "plot-4", "--text", "chard"});
  meet(laptop, tablet);
  EXPECT_THAT(
      laptop.run({"journal", "resolve", "plot-4", "--seen", dots[0], "--seen", dots[1], "--choose", dots[0]}).err,
      HasSubstr("changed since they were shown"));
  const std::vector<std::string> now = dotsOf(laptop.asJson({"journal", "resolve", "plot-4"}).at("entity"));
  ASSERT_EQ(now.size(), 3u);
  std::vector<std::string> command{"journal", "resolve", "plot-4", "--choose", now[1]};
  for (const std::string& dot : now) command.insert(command.end(), {"--seen", dot});
  laptop.ok(command);
  meet(laptop, phone);
  meet(phone, tablet);
  for (const Replica* device : {&laptop, &phone, &tablet}) {
    const json::value settled = device->asJson({"journal", "get", "plot-4"});
    EXPECT_FALSE(settled.at("conflict").as_bool());
    EXPECT_EQ(settled.at("siblings").as_array().size(), 1u);
  }
  EXPECT_THAT(laptop.run({"journal", "resolve", "plot-4", "--seen", now[0], "--text", "x"}).err,
              HasSubstr("no conflict to resolve"));
}

TEST(JournalImport, BadLinesAreReportedAndTheRestGoesIn) {
  Garden garden;
  const Replica laptop = garden.join("laptop");
  const std::string lines =
      "{\"id\":\"a\",\"type\":\"t\",\"text\":\"1\"}\n"
      "not json\n"
      "\n"
      "{\"id\":\"b\",\"type\":\"t\",\"payload\":[1,2]}\r\n"
      "{\"id\":\"c\",\"type\":\"t\"}\n"
      "{\"id\":\"d d\",\"type\":\"t\",\"text\":\"x\"}\n"
      "{\"id\":\"e\",\"type\":\"t\",\"text\":\"x\",\"colour\":1}\n"
      "{\"id\":\"f\",\"type\":\"t\",\"text\":7}\n"
      "{\"id\":\"g\",\"type\":\"t\",\"text\":\"x\",\"payload\":1}\n" +
      std::string(3 << 20, ' ') + "x\n{\"id\":\"h\",\"type\":\"t\",\"text\":\"last\"}";
  const Finished done = laptop.run({"journal", "import", "-"}, lines);
  EXPECT_EQ(done.exitCode, kExitSomeRefused);
  EXPECT_EQ(done.out, "3 imported, 0 unchanged, 7 refused\n");
  for (const char* part : {"line 2: refused", "line 5: refused (text or payload is missing)", "line 6: refused",
                           "unknown member \"colour\"", "line 8: refused (text", "both", "line 10: refused (longer"})
    EXPECT_THAT(done.err, HasSubstr(part));
  const Finished again = laptop.run({"journal", "import", "-", "--json"}, lines);
  EXPECT_EQ(again.exitCode, kExitSomeRefused);
  EXPECT_THAT(again.out, HasSubstr(R"({"dot":null,"id":"a","line":1,"message":null,"outcome":"unchanged"})"));
  EXPECT_THAT(again.out, Not(HasSubstr("\"imported\"")));
  EXPECT_THAT(laptop.ok({"journal", "list"}), HasSubstr("h  last"));
  EXPECT_EQ(laptop.run({"journal", "import", garden / "nowhere.jsonl"}).exitCode, kExitFailed);
}

// SIGKILL in the middle: whatever was answered is there, the store is sound, and running it again completes it.
TEST(JournalImport, AKillLosesNothingThatWasAnswered) {
  Garden garden;
  SeededRandom random(7);
  const Replica laptop = garden.join("laptop");
  constexpr int kLines = 3000;
  std::string lines;
  for (int i = 0; i < kLines; ++i)
    lines += "{\"id\":\"n" + std::to_string(i) + "\",\"type\":\"t\",\"text\":\"line " + std::to_string(i) + "\"}\n";
  const std::string writer = laptop.writer();
  for (int kill = 0; kill < 4; ++kill) {
    Child child(laptop.words({"journal", "import", "-", "--json"}));
    const std::size_t after = 1 + random.below(150'000);
    std::string answered;
    child.pump(lines, {}, [&](const std::string& out) { return out.size() >= after; });
    child.kill();
    const Finished done = child.wait();
    const std::string list = laptop.ok({"journal", "list", "--json"});
    std::size_t at = 0;
    for (std::size_t end; (end = done.out.find('\n', at)) != std::string::npos; at = end + 1) {
      const json::value answer = *parseJson(std::string_view(done.out).substr(at, end - at));
      ASSERT_THAT(list, HasSubstr("\"id\":" + canonicalJson(answer.at("id")) + ","));
    }
    EXPECT_EQ(laptop.writer(), writer);
  }
  EXPECT_EQ(laptop.run({"journal", "import", "-"}, lines).exitCode, kExitOk);
  auto dir = ReplicaDir::open(laptop.dir());
  ASSERT_TRUE(dir.ok());
  Space& space = *(*dir)->replica().database(DatabaseName::journal).find("main");
  EXPECT_TRUE(space.checkIntegrity().ok());
  EXPECT_EQ(space.keys(Kind::journal).size(), std::size_t{kLines});
  EXPECT_EQ(space.clock().at(writer), std::uint64_t{kLines}) << "no line went in twice";
}

}  // namespace
}  // namespace witan::node::journal_command_test

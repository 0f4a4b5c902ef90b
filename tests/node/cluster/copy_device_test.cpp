// A device with the role `copy` among nodes over TLS: two that are never up together meet through it, it reads nothing
// of what it keeps, decides and writes nothing, and what is altered on its disk is noticed.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cinttypes>
#include <cstdio>
#include <filesystem>

#include "node/data_dir/replica_store.h"
#include "tests/node/node_process.h"

namespace witan::node::copy_device_test {
namespace {

using namespace test;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

const std::string kMark = "zSECRETz";

std::string reads(const Node& node, const std::string& key) { return node.run({"journal", "get", key}).out; }

bool puts(const Node& node, const std::string& key, const std::string& text) {
  return node.run({"journal", "put", key, "--type", "plot", "--text", text}).exitCode == 0;
}

// The files of a node in which the mark stands.
std::vector<std::string> filesWithMark(const Node& node) {
  std::vector<std::string> found;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(node.dir()))
    if (entry.is_regular_file() && contentOf(entry.path()).find(kMark) != std::string::npos)
      found.push_back(entry.path().string());
  if (node.log().find(kMark) != std::string::npos) found.emplace_back("log");
  return found;
}

// Whether the mark stands in the memory of a process that this one started. None: the system does not show it.
std::optional<bool> memoryHasMark(pid_t pid) {
  const std::string process = "/proc/" + std::to_string(pid);
  std::ifstream maps(process + "/maps");
  const int memory = open((process + "/mem").c_str(), O_RDONLY | O_CLOEXEC);
  if (memory < 0) return std::nullopt;
  bool found = false;
  std::string line, piece;
  while (!found && std::getline(maps, line)) {
    std::uintptr_t from = 0, to = 0;
    char access[5] = {};
    if (std::sscanf(line.c_str(), "%" SCNxPTR "-%" SCNxPTR " %4s", &from, &to, access) != 3 || access[0] != 'r' ||
        access[1] != 'w' || to - from > (std::size_t{1} << 30))
      continue;
    piece.resize(to - from);
    const ssize_t got = pread(memory, piece.data(), piece.size(), static_cast<off_t>(from));
    found =
        got > 0 && std::string_view(piece).substr(0, static_cast<std::size_t>(got)).find(kMark) != std::string::npos;
  }
  close(memory);
  return found;
}

bool keeps(const Node& node) {
  const json::value status = node.runJson({"sync", "status"});
  if (!status.as_object().contains("spaces")) return false;
  for (const json::value& space : status.at("spaces").as_array())
    if (canonicalJson(space).find("journal/sealed.main") != std::string::npos &&
        canonicalJson(space).find("\"vector\":{}") == std::string::npos)
      return true;
  return false;
}

std::string accused(const Node& node, std::string_view kind) {
  const json::value list = node.runJson({"incident", "list"});
  if (list.as_object().contains("incidents"))
    for (const json::value& one : list.at("incidents").as_array())
      if (one.at("kind").as_string() == kind) return std::string(one.at("peer").as_string());
  return "";
}

// Changes the last byte of each part of a copy on a stopped node's disk. How many there were.
std::size_t alterCopies(const Node& node) {
  auto store = openReplicaStore(std::filesystem::path(node.dir()) / "journal");
  if (!store.ok()) return 0;
  store::WriteBatch batch;
  std::size_t altered = 0;
  const Status walked = (*store)->scan("", {}, [&](std::string_view key, std::string_view value) {
    if (key.find(":0") == std::string_view::npos || value.size() < 100) return true;
    std::string other(value);
    other.back() = static_cast<char>(other.back() ^ 1);
    batch.put(key, other);
    return ++altered, true;
  });
  return walked.ok() && (*store)->writeSynced(batch).ok() ? altered : 0;
}

TEST(CopyDevice, TwoThatAreNeverUpTogetherMeetThroughItAndItReadsNothing) {
  const Scratch scratch;
  Node first(scratch, "first"), keeper(scratch, "keeper"), second(scratch, "second"), third(scratch, "third");
  ASSERT_TRUE(begin(first)) << first.log();
  ASSERT_TRUE(enrol(first, keeper, {"--role", "copy"})) << keeper.log();
  ASSERT_TRUE(second.joins(first) && third.joins(first));
  EXPECT_NE(first.run({"device", "roles", "keeper", "--role", "ledger"}).exitCode, 0);
  ASSERT_TRUE(puts(first, "plot-" + kMark, kMark + " beans"));
  ASSERT_EQ(first.run({"begin", "budget", kMark}).exitCode, 0);
  ASSERT_EQ(first.run({"propose", "budget", kMark, "A", R"({"type":"SpendA","n":5})"}).exitCode, 0);
  ASSERT_TRUE(until([&] { return keeps(keeper); })) << keeper.log();
  ASSERT_TRUE(first.waitUntil("quiet"));
  const auto plain = memoryHasMark(first.pid());
  if (plain) {
    EXPECT_TRUE(*plain) << "the search finds what is there";
  }
  ASSERT_EQ(first.stop(), 0);

  ASSERT_TRUE(second.up()) << second.log();
  EXPECT_TRUE(until([&] { return reads(second, "plot-" + kMark).find("beans") != std::string::npos; }))
      << second.log() << keeper.log();
  ASSERT_TRUE(puts(second, "plot-" + kMark, kMark + " peas"));
  ASSERT_TRUE(second.waitUntil("quiet"));
  ASSERT_EQ(second.stop(), 0);
  ASSERT_TRUE(first.up()) << first.log();
  EXPECT_TRUE(until([&] { return reads(first, "plot-" + kMark).find("peas") != std::string::npos; })) << first.log();

  // Nothing plain is on it.
  const auto inMemory = memoryHasMark(keeper.pid());
  if (inMemory) {
    EXPECT_FALSE(*inMemory);
  }

  // It decides nothing, and writes nothing.
  EXPECT_NE(keeper.run({"propose", "budget", "e", "A", R"({"type":"SpendA","n":5})"}).exitCode, 0);
  EXPECT_NE(keeper.run({"partition", "seize", "budget/0", "--reason", "mine"}).exitCode, 0);
  EXPECT_FALSE(puts(keeper, "weeds", "weeds"));
  // It says that it cannot read, rather than that there is nothing.
  using Words = std::vector<std::string>;
  for (const Words& words : {Words{"ledger", "export"}, Words{"ledger", "checkpoint"}, Words{"journal", "list"},
                             Words{"journal", "get", "plot-" + kMark}, Words{"inbox"}})
    EXPECT_EQ(keeper.run(words).exitCode, 1) << words.front() << " " << words.back();
  EXPECT_THAT(keeper.run({"ledger", "export"}).err, HasSubstr("keeps no ledgers"));
  EXPECT_THAT(keeper.run({"journal", "get", "plot-" + kMark}).err, HasSubstr("cannot read"));
  EXPECT_EQ(keeper.owned(), 0u);
  EXPECT_EQ(accused(first, "forgedRow") + accused(first, "badCopy") + accused(second, "badCopy"), "");

  ASSERT_EQ(keeper.stop(), 0);
  EXPECT_THAT(filesWithMark(keeper), IsEmpty()) << "on its disk";
  EXPECT_THAT(filesWithMark(first), Not(IsEmpty()));
  ASSERT_EQ(first.stop(), 0);

  // What is altered on its disk is noticed by who reads it.
  ASSERT_GT(alterCopies(keeper), 0u);
  ASSERT_TRUE(keeper.up() && third.up()) << keeper.log();
  EXPECT_TRUE(until([&] { return !accused(third, "forgedRow").empty(); })) << third.log();
  EXPECT_THAT(reads(third, "plot-" + kMark), Not(HasSubstr("beans")));
  EXPECT_THAT(reads(third, "plot-" + kMark), Not(HasSubstr("peas")));
  ASSERT_TRUE(first.up()) << first.log();
  EXPECT_TRUE(until([&] { return reads(third, "plot-" + kMark).find("peas") != std::string::npos; })) << third.log();

  // No agent works on it.
  ASSERT_EQ(keeper.stop(), 0);
  std::string config = contentOf(keeper.dir() + "/witan.toml");
  const std::size_t none = config.find("run = []");
  ASSERT_NE(none, std::string::npos);
  config.replace(none, 8, "run = [\"all\"]");
  std::ofstream(keeper.dir() + "/witan.toml") << config;
  EXPECT_FALSE(keeper.up());
  EXPECT_THAT(keeper.log(), HasSubstr("keeps encrypted copies only"));
}

}  // namespace
}  // namespace witan::node::copy_device_test

// Ledgers as tiles (C2SP tlog-tiles): the files, what a node serves, and Go's own reader of transparency logs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <map>

#include "net/http_client.h"
#include "node/ledgers/ledger_tiles.h"
#include "tests/node/node_process.h"

namespace witan::node::tiles_test {
namespace {

namespace fs = std::filesystem;
using namespace test;
using ::testing::HasSubstr;

using Files = std::map<std::string, std::string>;

std::string entryOf(std::uint64_t n) { return "entry " + std::to_string(n); }

Files writtenFor(std::uint64_t size) {
  Files files;
  TileWriter writer([&](const std::string& path, std::string_view content) {
    EXPECT_TRUE(files.emplace(path, content).second) << path;
    return okStatus();
  });
  for (std::uint64_t n = 0; n < size; ++n) EXPECT_TRUE(writer.append(entryOf(n)).ok());
  EXPECT_TRUE(writer.finish().ok());
  return files;
}

TEST(Tiles, AreThoseOfTheTree) {
  for (const std::uint64_t size : {1, 255, 256, 257, 600, 65'536, 65'800}) {
    kernel::MemoryTree tree;
    for (std::uint64_t n = 0; n < size; ++n) tree.append(kernel::leafHash(entryOf(n)));
    const Files files = writtenFor(size);
    std::size_t hashTiles = 0;
    for (const auto& [path, content] : files) {
      const auto name = tileNamed(path);
      ASSERT_TRUE(name) << path;
      EXPECT_TRUE(hasTile(*name, size)) << path;
      if (!name->level) continue;
      ++hashTiles;
      EXPECT_EQ(*hashTile(*name, tree), content) << path << " of " << size;
    }
    EXPECT_EQ(files.size() - hashTiles, (size + 255) / 256);
  }
}

TEST(Tiles, AreCalledAsTheSpecificationSays) {
  EXPECT_EQ(tilePath({0, 0}), "tile/0/000");
  EXPECT_EQ(tilePath({2, 1'234'067, 8}), "tile/2/x001/x234/067.p/8");
  EXPECT_EQ(tilePath({std::nullopt, 1'000}), "tile/entries/x001/000");
  for (const char* path : {"tile/0/000", "tile/7/x001/x234/067.p/255", "tile/entries/999"})
    EXPECT_EQ(tilePath(*tileNamed(path)), path);
  for (const char* path :
       {"", "tile/", "tile/0", "tile/0/", "tile/0/0", "tile/0/1000", "tile/0/x000/001", "tile/0/001/002", "tile/8/000",
        "tile/-1/000", "tile/0/000.p/0", "tile/0/000.p/256", "tile/0/000.p/01", "tile/0/../../x",
        "tile/0/x999/x999/x999/x999/x999/x999/x999/999", "checkpoint"})
    EXPECT_FALSE(tileNamed(path)) << path;
  EXPECT_TRUE(hasTile({0, 0, 3}, 5)) << "a part of a part";
  EXPECT_FALSE(hasTile({0, 0, 6}, 5));
  EXPECT_FALSE(hasTile({0, 0, 256}, 255));
  EXPECT_TRUE(hasTile({1, 0, 1}, 256));
  EXPECT_FALSE(hasTile({7, 0, 1}, 1'000'000));
}

TEST(Tiles, HoldNoEntryThatABundleCannotSay) {
  TileWriter writer([](const std::string&, std::string_view) { return okStatus(); });
  EXPECT_TRUE(writer.append(std::string(kMaxTiledEntry, 'x')).ok());
  EXPECT_THAT(writer.append(std::string(kMaxTiledEntry + 1, 'x')).error().message,
              HasSubstr("entry 2 has 65536 bytes"));
}

// Two entries more than a tile has.
TEST(Tiles, OfANodeAreReadByGo) {
  const Scratch scratch;
  Node node(scratch, "a", "\n");
  ASSERT_EQ(node.init(1).exitCode, 0);
  ASSERT_TRUE(node.up()) << node.log();
  ASSERT_EQ(node.run({"begin", "budget", "team"}).exitCode, 0);
  const auto client = ControlClient::open(node.dir());
  for (int n = 0; n < 258; ++n)
    ASSERT_TRUE(
        client
            ->post(
                "/v1/propose",
                {{"domain", "budget"}, {"entity", "team"}, {"role", "A"}, {"action", {{"type", "SpendA"}, {"n", 1}}}},
                60'000)
            .ok());
  ASSERT_TRUE(until([&] { return node.run({"ledger", "checkpoint"}).out.find("\n258\n") != std::string::npos; }));
  const Finished made = node.run({"ledger", "export", "--tiles", scratch / "t"});
  ASSERT_EQ(made.exitCode, 0) << made.err;
  EXPECT_THAT(made.err, HasSubstr("258 entries of witan/"));
  EXPECT_EQ(contentOf(scratch / "t/checkpoint"), node.run({"ledger", "checkpoint"}).out);

  // The node serves the same to who may read.
  const auto served = [&](const std::string& path, const std::string& token) {
    net::HttpRequest request{.target = "/tiles/budget/0/" + path};
    if (!token.empty()) request.headers["authorization"] = "Bearer " + token;
    return *net::httpCall({.address = "unix:" + node.dir() + "/control.sock"}, request, 30'000);
  };
  const std::string observer(parseJson(contentOf(node.dir() + "/control.tokens"))->at("observer").as_string());
  for (const char* path :
       {"checkpoint", "tile/0/000", "tile/0/001.p/2", "tile/1/000.p/1", "tile/entries/000", "tile/entries/001.p/2"})
    EXPECT_EQ(served(path, observer).body, contentOf(scratch / "t/" + path)) << path;
  EXPECT_EQ(served("tile/0/001.p/1", observer).body, contentOf(scratch / "t/tile/0/001.p/2").substr(0, 32));
  EXPECT_EQ(served("checkpoint", "").status, 401);
  for (const char* path : {"tile/0/002", "tile/0/001", "tile/2/000.p/1", "../../device.key", "nothing"})
    EXPECT_EQ(served(path, observer).status, 404) << path;
  EXPECT_EQ(node.stop(), 0);
  EXPECT_EQ(node.run({"ledger", "export", "--tiles", scratch / "rest"}).exitCode, 0) << "at rest the same";
  EXPECT_EQ(contentOf(scratch / "rest/tile/0/000"), contentOf(scratch / "t/tile/0/000"));

  const std::string packages = "/usr/share/gocode";
  if (std::system("command -v go >/dev/null 2>&1") != 0 || !fs::exists(packages + "/src/golang.org/x/mod/sumdb/tlog"))
    GTEST_SKIP() << "Go and golang-golang-x-mod-dev are not installed";
  const std::string source = std::string(witan::tests::kSourceDir) + "/tests/node/stranger/read_tiles.go";
  const std::string go = "GO111MODULE=off GOPATH=" + packages + " GOCACHE=" + (scratch / "cache") +
                         " GOFLAGS= go build -o " + (scratch / "read_tiles") + " " + source;
  ASSERT_EQ(std::system(go.c_str()), 0);
  const auto reads = [&] {
    return std::system(
               ((scratch / "read_tiles") + " " + (scratch / "t") + " " + node.dir() + "/device.vkey").c_str()) == 0;
  };
  EXPECT_TRUE(reads());
  std::string altered = contentOf(scratch / "t/tile/entries/000");
  altered[100] = static_cast<char>(altered[100] ^ 1);
  scratch.write("t/tile/entries/000", altered);
  EXPECT_FALSE(reads()) << "one bit";
}

}  // namespace
}  // namespace witan::node::tiles_test

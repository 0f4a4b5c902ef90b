// The tree keeps its own rules; and each rule's check has a case in which it fires.
#include "tests/tidy/tidy.h"
#include "tests/paths.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

namespace {

using namespace witan::tidy;
namespace fs = std::filesystem;

const fs::path kRoot = witan::tests::kSourceDir;

std::string read(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

bool isSource(const fs::path& path) {
  const std::string end = path.extension().string();
  return end == ".h" || end == ".cpp" || end == ".inc" || end == ".capnp" || end == ".cmake" || end == ".sh" ||
         path.filename() == "CMakeLists.txt";
}

// Calls visit(path below the root, text) for every source file of the tree, in order.
template <class Visit>
void forEachSource(Visit visit) {
  std::vector<fs::path> paths;
  for (const char* folder : {"base",        "store",        "program", "mcp",    "net",     "rdf",    "kernel",
                             "replication", "coordination", "saga",    "agents", "domains", "market", "replica",
                             "lab",         "node",         "sim",     "cli",    "tests",   "bench",  "scripts"})
    for (const auto& entry : fs::recursive_directory_iterator(kRoot / folder))
      if (entry.is_regular_file() && isSource(entry.path())) paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  ASSERT_GT(paths.size(), 100u) << "the sources were not found";
  for (const fs::path& path : paths) visit(fs::relative(path, kRoot).string(), read(path));
}

void expectNone(const Findings& findings) {
  for (const std::string& finding : findings) ADD_FAILURE() << finding;
}

TEST(Tidy, PathsInDocumentsExist) {
  for (const char* document : {"README.md",          "docs/ARCHITECTURE.md", "docs/FINDINGS.md",
                               "docs/GLOSSARY.md",   "docs/ADD_A_DOMAIN.md", "docs/ONTOLOGY.md",
                               "docs/OPERATIONS.md", "docs/SIMULATION.md",   "docs/ledger-format.md",
                               "docs/CLI.md",        "docs/HTTP_API.md",     "docs/TOUR.md",
                               "docs/etcd.md",       "docs/coordination.md", "docs/replication.md",
                               "docs/agents.md",     "docs/tools.md",        "docs/PROOFS.md",
                               "docs/clients.md",    "docs/RULES.md",        "docs/SCALE.md"}) {
    const fs::path path = kRoot / document;
    ASSERT_TRUE(fs::exists(path)) << document;
    expectNone(missingPaths(document, read(path), [&](const std::string& named) {
      return fs::exists(kRoot / named) || fs::exists(path.parent_path() / named);
    }));
  }
}

TEST(Tidy, TestsNamedInDocumentsExist) {
  std::string sources;
  forEachSource([&](const std::string& path, const std::string& text) {
    if (path.starts_with("tests/")) sources += text;
  });
  for (const char* document : {"docs/FINDINGS.md", "docs/PROOFS.md", "docs/SECURITY.md"})
    expectNone(missingTests(document, read(kRoot / document), sources));
}

TEST(Tidy, FilesAreShort) {
  forEachSource([](const std::string& path, const std::string& text) { expectNone(tooLong(path, text)); });
}

TEST(Tidy, NoPromisesAndNoPathsOfOneMachine) {
  forEachSource([](const std::string& path, const std::string& text) { expectNone(forbiddenWords(path, text)); });
}

TEST(Tidy, LowerRoomsKnowNothingOfHigherOnes) {
  forEachSource([](const std::string& path, const std::string& text) { expectNone(forbiddenIncludes(path, text)); });
}

TEST(Tidy, NoFoldersIncludeEachOther) {
  std::map<std::string, std::string> sources;
  forEachSource([&](const std::string& path, const std::string& text) { sources[path] = text; });
  expectNone(folderCycles(sources));
}

TEST(Tidy, NothingIsMadeInBracesWhileAwaiting) {
  forEachSource([](const std::string& path, const std::string& text) { expectNone(awaitedBraces(path, text)); });
}

// ---- each check fires ----

TEST(TidyFires, AwaitedBraces) {
  const auto with = [](const std::string& rest) {
    return awaitedBraces("a.cpp",
                         "\nx = co_"
                         "await " +
                             rest);
  };
  for (const char* bad : {"send(Fault{408, text});", "send({408, text});", "run(1,\n  {2});"})
    EXPECT_EQ(with(bad).size(), 1u) << bad;
  EXPECT_EQ(with("send({1});").front().substr(0, 8), "a.cpp:2:");
  for (const char* good : {"send(std::move(fault));", "read(buffer);\nT t{1};", "read(buffer)) {\n  go();", "next"})
    EXPECT_TRUE(with(good).empty()) << good;
}

TEST(TidyFires, MissingPath) {
  const auto exists = [](const std::string& path) { return path == "kernel/field.h"; };
  const std::string text =
      "See `kernel/field.h`, `kernel/gone.h`, [this](docs/gone.md#part), `domains/<name>/`, `build/witan`.";
  EXPECT_EQ(missingPaths("README.md", text, exists),
            (Findings{"README.md: names docs/gone.md, which does not exist",
                      "README.md: names kernel/gone.h, which does not exist"}));
}

TEST(TidyFires, MissingTest) {
  const std::string sources =
      "TEST(Suite, Case) {}\nRC_GTEST_PROP(Suite, Property, (int n)) {}\nTEST(Suite, Longer) {}";
  EXPECT_TRUE(missingTests("F.md", "`Suite.Case`, `Suite.Property`, `README.md`", sources).empty());
  EXPECT_EQ(missingTests("F.md", "`Suite.Gone`", sources),
            Findings{"F.md: names the test Suite.Gone, which does not exist"});
  EXPECT_EQ(missingTests("F.md", "`Suite.Long`", sources).size(), 1u);
}

TEST(Tidy, EveryMutantIsCompiledIn) {
  const std::string list = read(kRoot / "sim/mutants.cmake");
  forEachSource(
      [&](const std::string& path, const std::string& text) { expectNone(unlistedMutants(path, text, list)); });
}

TEST(TidyFires, UnlistedMutants) {
  const std::string list = "set(X\n  kernel/a.cpp\n  kernel/b.cpp)\n", asks = R"(if (mutated("noGate")) return;)";
  EXPECT_TRUE(unlistedMutants("kernel/a.cpp", asks, list).empty());
  EXPECT_TRUE(unlistedMutants("kernel/b.cpp", asks, list).empty());
  EXPECT_TRUE(unlistedMutants("kernel/c.cpp", "int x;", list).empty());
  EXPECT_EQ(unlistedMutants("kernel/c.cpp", asks, list).size(), 1u);
  EXPECT_EQ(unlistedMutants("kernel/a.c", asks, list).size(), 1u);
  EXPECT_EQ(unlistedMutants("kernel/a.h", asks, list).size(), 1u);
}

TEST(TidyFires, LongFile) {
  EXPECT_TRUE(tooLong("a.cpp", std::string(700, '\n')).empty());
  EXPECT_EQ(tooLong("a.cpp", std::string(701, '\n')).size(), 1u);
}

TEST(TidyFires, Words) {
  EXPECT_EQ(forbiddenWords("a.cpp",
                           "int x;\n// TO"
                           "DO later\n"),
            Findings{"a.cpp:2: \"TO"
                     "DO\" does not belong into the tree"});
  EXPECT_EQ(forbiddenWords("a.cpp",
                           "read(\"/wo"
                           "rk/x\")")
                .size(),
            1u);
  EXPECT_TRUE(forbiddenWords("a.cpp", "// HACKNEY, framework/x, ../work/x").empty());
}

TEST(TidyFires, FolderCycles) {
  const std::string a = "#include \"node/b/y.h\"\n", b = "#include \"node/a/x.h\"\n", c = "#include \"base/json.h\"\n";
  EXPECT_TRUE(folderCycles({{"node/a/x.h", a}, {"node/b/y.h", c}}).empty());
  EXPECT_EQ(folderCycles({{"node/a/x.h", a}, {"node/b/y.h", b}}),
            Findings{"node/a/ and node/b/ include each other: node/a/x.h includes node/b/y.h; "
                     "node/b/y.h includes node/a/x.h"});
  // Over a third folder, and between a folder and one below it.
  EXPECT_EQ(folderCycles({{"node/a/x.h", a}, {"node/b/y.h", "#include \"node/c/z.h\"\n"}, {"node/c/z.h", b}}).size(),
            2u);
  EXPECT_EQ(folderCycles({{"node/x.h", a}, {"node/b/y.h", "#include \"node/x.h\"\n"}}).size(), 1u);
  // Between rooms, although each pair of subfolders is free of cycles.
  EXPECT_EQ(
      folderCycles({{"node/a/x.h", "#include \"cli/a/x.h\"\n"}, {"cli/b/y.h", "#include \"node/b/y.h\"\n"}}).size(),
      1u);
}

TEST(TidyFires, Includes) {
  EXPECT_EQ(forbiddenIncludes("kernel/a.h", "#include \"base/json.h\"\n#include \"cli/commands/cli.h\"\n"),
            Findings{"kernel/a.h:2: kernel/ may not know cli/commands/cli.h"});
  EXPECT_EQ(forbiddenIncludes("node/a.h", "#include \"sim/run.h\"\n").size(), 1u);
  EXPECT_EQ(forbiddenIncludes("cli/a.h", "#include <CLI/CLI.hpp>\n").size(), 1u);
  EXPECT_EQ(forbiddenIncludes("base/a.h", "#  include \"store/store.h\"\n").size(), 1u);
  EXPECT_EQ(forbiddenIncludes("domains/x/a.cpp",
                              "#include <boost/asio/io_context.hpp>\n#include <thread>\n#include <sys/socket.h>\n")
                .size(),
            3u);
  EXPECT_EQ(forbiddenIncludes("kernel/a.cpp", "#include \"store/rocks_store.h\"\n").size(), 1u);
  EXPECT_EQ(forbiddenIncludes("node/a.cpp", "#include <rocksdb/db.h>\n#include <openssl/evp.h>\n").size(), 2u);
  EXPECT_EQ(forbiddenIncludes("node/a.cpp", "#include <boost/asio/ip/tcp.hpp>\n#include <boost/beast.hpp>\n").size(),
            2u);
  EXPECT_TRUE(forbiddenIncludes("net/a.cpp", "#include <boost/asio/ip/tcp.hpp>\n").empty());
  EXPECT_EQ(forbiddenIncludes("agents/decision/a.h", "#include <z3++.h>\n").size(), 1u);
  EXPECT_TRUE(forbiddenIncludes("lab/proof/a.h", "#include <z3++.h>\n").empty());
  EXPECT_TRUE(forbiddenIncludes("store/a.cpp", "#include <rocksdb/db.h>\n").empty());
  EXPECT_TRUE(forbiddenIncludes("node/a.cpp", "#include <thread>\n#include \"kernel/field.h\"\n").empty());
  EXPECT_TRUE(forbiddenIncludes("kernel/a.cpp", "#include \"kernel/field.h\"\n#include <vector>\n").empty());
}

}  // namespace

// `witan incident verify` of files of evidence, as a stranger runs it: without a node, with the keys that it was given.
// The files are of a test cluster (tests/replica/names_test.cpp, rows_test.cpp) in which device a, or c, lied.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/bytes.h"
#include "base/crypto.h"
#include "base/json.h"
#include "kernel/record/signed_note.h"
#include "tests/node/program.h"
#include "tests/paths.h"

namespace witan::incident_command_test {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;
using witan::node::test::Finished;
using witan::node::test::runWitan;
namespace fs = std::filesystem;

const std::string kFiles = std::string(witan::tests::kSourceDir) + "/tests/fuzz/corpus/evidence/";

class IncidentCommand : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "witan-incident-XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder = name;
    std::ifstream in(kFiles + GetParam());
    std::stringstream all;
    all << in.rdbuf();
    text = all.str();
  }
  void TearDown() override { fs::remove_all(folder); }
  std::string file(const std::string& name, const std::string& content) const {
    std::ofstream(folder / name) << content;
    return (folder / name).string();
  }
  // The vkey of the device of this letter.
  std::string vkey(char device) const {
    const std::string name = concat("witan/test/", std::string(1, device));
    const auto key = SigningKey::fromSeed(std::string(32, device));
    return file(std::string(1, device) + ".vkey",
                kernel::verifierKeyText(*kernel::makeNoteVerifier(name, key->publicKey())) + "\n");
  }
  std::string liars() const { return vkey(std::string_view(GetParam()) == "forgedRow" ? 'c' : 'a'); }
  static Finished verify(const std::string& path, std::vector<std::string> more) {
    more.insert(more.begin(), {"incident", "verify", path});
    return runWitan(more);
  }

  fs::path folder;
  std::string text;
};

TEST_P(IncidentCommand, AFileOfEvidenceProvesWhoLied) {
  ASSERT_FALSE(text.empty()) << kFiles << GetParam();
  const Finished known = verify(kFiles + GetParam(), {"--vkey", liars()});
  EXPECT_EQ(known.exitCode, 0) << known.out << known.err;
  EXPECT_THAT(known.out, testing::AnyOf(StartsWith("proven witan/test/a sealed "),
                                        StartsWith("proven witan/test/c sealed the row")));
  const Finished other = verify(kFiles + GetParam(), {"--vkey", vkey('b')});
  EXPECT_EQ(other.exitCode, 1);
  EXPECT_THAT(other.out, HasSubstr("none of the given keys"));
  // The name in the file is what its writer says; an id that is not of the key proves nothing.
  const Finished unknown = verify(kFiles + GetParam(), {});
  EXPECT_EQ(unknown.exitCode, 1);
  EXPECT_THAT(unknown.out, HasSubstr("--vkey"));
}

TEST_P(IncidentCommand, AFileOfWhichOneByteChangedProvesNothing) {
  for (const char* member :
       {"\"seal\":\"", "\"batch\":\"", "\"row\":\"", "\"answer\":\"", "\"proof\":\"", "\"head\":\""}) {
    const std::size_t at = text.find(member);
    if (at == std::string::npos) continue;
    std::string changed = text;
    char& digit = changed[at + std::string_view(member).size() + 30];
    digit = digit == '1' ? '2' : '1';
    const Finished done = verify(file("changed.json", changed), {"--vkey", liars()});
    EXPECT_EQ(done.exitCode, 1) << member;
    EXPECT_THAT(done.out, StartsWith("bad ")) << member;
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, IncidentCommand,
                         ::testing::Values("unsigned", "forgedName", "beginning", "unlawful", "falseAnswer",
                                           "forgedRow"),
                         [](const auto& kind) { return std::string(kind.param); });

}  // namespace
}  // namespace witan::incident_command_test

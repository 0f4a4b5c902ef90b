// What a mistyped command line is answered.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "node/commands/cli.h"
#include "tests/node/program.h"
#include "tests/node/scratch.h"

namespace witan::node {
namespace {

using ::testing::EndsWith;
using testing::Finished;
using ::testing::HasSubstr;
using testing::runWitan;
using testing::Scratch;

TEST(Usage, TheHelpThatIsNamedIsThatOfTheCommand) {
  const std::pair<std::vector<std::string>, const char*> lines[] = {
      {{}, "see witan --help\n"},
      {{"frobnicate"}, "see witan --help\n"},
      {{"coordinate"}, "see witan coordinate --help\n"},
      {{"coordinate", "run"}, "see witan coordinate run --help\n"},
      {{"domain", "generate", "budget", "--days", "x"}, "see witan domain generate --help\n"},
      {{"device", "invite", "--frobnicate"}, "see witan device invite --help\n"},
      {{"run"}, "see witan run --help\n"},
  };
  for (const auto& [words, hint] : lines) {
    const Finished run = runWitan(words);
    EXPECT_EQ(run.exitCode, kExitUsage) << hint;
    EXPECT_THAT(run.err, EndsWith(hint));
  }
  EXPECT_THAT(runWitan({"coordinate", "run", "--json"}).err, HasSubstr(R"("hint":"see witan coordinate run --help")"));
}

TEST(Usage, AShareThatIsNoneIsAUsageError) {
  const Finished run = runWitan({"ontology", "derive", WITAN_SOURCE_DIR "/domains/udt/udt.ttl", "--max-excess", "3/2"});
  EXPECT_EQ(run.exitCode, kExitUsage);
  EXPECT_THAT(run.err, HasSubstr("--max-excess: \"3/2\" is no share (write it as N/M, for example 2/3)"));
}

TEST(Usage, FingerprintTakesTheDomainInBothWays) {
  const std::vector<std::string> few{"--steps", "50", "--traces", "5", "--json"};
  const auto with = [&](std::vector<std::string> words) {
    words.insert(words.begin(), {"domain", "fingerprint"});
    words.insert(words.end(), few.begin(), few.end());
    return runWitan(words);
  };
  const Finished named = with({"--domain", "budget"}), placed = with({"budget"});
  EXPECT_EQ(placed.exitCode, 0) << placed.err;
  EXPECT_EQ(placed.out, named.out);
  EXPECT_THAT(placed.out, HasSubstr("budget"));
}

TEST(Usage, AFileOfScenariosThatIsNotThereIsCalledAFile) {
  const Finished missing = runWitan({"domain", "test", "nofile.jsonl"});
  EXPECT_EQ(missing.exitCode, kExitFailed);
  EXPECT_THAT(missing.err, HasSubstr("cannot open nofile.jsonl (No such file or directory)"));
  const Scratch scratch;
  scratch.write("mine.jsonl", "");
  const Finished strange = runWitan({"domain", "test", scratch / "mine.jsonl"});
  EXPECT_EQ(strange.exitCode, kExitFailed);
  EXPECT_THAT(strange.err, HasSubstr("there is no domain \"mine\", which the file is called after: name the domain "
                                     "with --domain"));
}

}  // namespace
}  // namespace witan::node

// `witan market` as people and scripts run it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "base/json.h"
#include "tests/node/program.h"
#include "tests/paths.h"

namespace witan::market_command_test {
namespace {

using ::testing::HasSubstr;
using witan::node::test::Finished;
using witan::node::test::runWitan;
namespace fs = std::filesystem;

const std::string kExamples = std::string(witan::tests::kSourceDir) + "/docs/examples/market/";
const std::string kClinic = "a77ed765bce2766963d6e3b3425f03daac11711fc2f20d4fbd825b807a849b5a";
const std::string kLab = "e560d90a3b72b928bb92401e8077662fb92f68c578a45d293affe5268710f999";

class MarketCommand : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "witan-market-XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string dir() const { return (folder_ / "data").string(); }
  static Finished verify(const std::string& file, const std::string& lab = kLab) {
    return runWitan({"market", "verify", file, "--root", "clinic=" + kClinic, "--root", "lab=" + lab, "--json"});
  }

  fs::path folder_;
};

TEST_F(MarketCommand, ABundleVerifiesAndSaysWhatIsNotProven) {
  const Finished run = verify(kExamples + "bundle.json");
  EXPECT_EQ(run.exitCode, 0);
  EXPECT_EQ(run.out, "{\"result\":\"ok\"}\n");
  EXPECT_THAT(run.err, HasSubstr("not proven"));
}

TEST_F(MarketCommand, AFailingCheckIsNamed) {
  const Finished run = verify(kExamples + "bundle.json", kClinic);
  EXPECT_EQ(run.exitCode, 1);
  EXPECT_EQ(parseJson(run.out)->at("result"), "EB02");
  EXPECT_EQ(parseJson(run.out)->as_object().size(), 2u);
  EXPECT_EQ(verify(kExamples + "contract-a.json").exitCode, 1);
  EXPECT_EQ(runWitan({"market", "verify", kExamples + "bundle.json", "--root", "lab"}).exitCode, 2);
}

TEST_F(MarketCommand, TrustedRootsServeAndAnotherRootIsRefused) {
  const std::string bundle = kExamples + "bundle.json";
  EXPECT_EQ(runWitan({"market", "verify", bundle, "--dir", dir()}).exitCode, 1) << "nobody is trusted";
  EXPECT_EQ(runWitan({"market", "trust", "clinic", kClinic, "--dir", dir()}).exitCode, 0);
  EXPECT_EQ(runWitan({"market", "trust", "lab", kLab, "--dir", dir()}).exitCode, 0);
  EXPECT_EQ(runWitan({"market", "verify", bundle, "--dir", dir()}).exitCode, 0);
  const Finished other = runWitan({"market", "trust", "lab", kClinic, "--dir", dir()});
  EXPECT_EQ(other.exitCode, 1);
  EXPECT_THAT(other.err, HasSubstr("another root"));
  EXPECT_EQ(runWitan({"market", "untrust", "lab", "--dir", dir()}).exitCode, 0);
  EXPECT_EQ(runWitan({"market", "untrust", "lab", "--dir", dir()}).exitCode, 1);
  const Finished run = runWitan({"market", "verify", bundle, "--dir", dir(), "--json"});
  EXPECT_EQ(parseJson(run.out)->at("result"), "EB02");
  EXPECT_EQ(runWitan({"market", "trust", "lab", "12", "--dir", dir()}).exitCode, 2);
  for (const char* name : {"''", "new/org", "..", ""})
    EXPECT_EQ(runWitan({"market", "trust", name, kLab, "--dir", dir()}).exitCode, 2) << name;
}

// 0 is none of the defaults.
TEST_F(MarketCommand, NumbersOfOffersAndContractsAreOneAtLeast) {
  for (const char* option : {"--deliver", "--window", "--days", "--calls"}) {
    const Finished run = runWitan({"market", "publish", "reading", "--price", "100", option, "0", "--dir", dir()});
    EXPECT_EQ(run.exitCode, 2) << option;
    EXPECT_THAT(run.err, HasSubstr("no whole number")) << option;
  }
}

TEST_F(MarketCommand, AFileThatIsNoJsonIsNamed) {
  const std::string file = (folder_ / "bad.json").string();
  std::ofstream(file) << "nonsense";
  for (const std::vector<std::string>& words : {std::vector<std::string>{"market", "equivocation", file, file},
                                                {"market", "grant", file, "--dir", dir()},
                                                {"admin", "apply", file, "--dir", dir()},
                                                {"admin", "sign", file, "--dir", dir()},
                                                {"incident", "verify", file},
                                                {"model-stub", "--script", file}}) {
    const Finished run = runWitan(words);
    EXPECT_EQ(run.exitCode, 1) << words[1];
    EXPECT_THAT(run.out + run.err, HasSubstr("bad.json")) << words[1];
    EXPECT_THAT(run.out + run.err, HasSubstr("JSON at byte 0")) << words[1];
  }
}

TEST_F(MarketCommand, AnEscrowIsShown) {
  const std::string store = (folder_ / "ledger").string();
  ASSERT_EQ(
      runWitan({"run", "--domain", "escrow", "--events", kExamples + "dispute.jsonl", "--check", "--store", store})
          .exitCode,
      0);
  const Finished run = runWitan({"market", "show", "K1", "--store", store, "--json"});
  ASSERT_EQ(run.exitCode, 0) << run.err;
  EXPECT_EQ(*parseJson(run.out), *parseJson(R"({"phase":"OPEN","deposited":1000,"buyer":900,"seller":100,"held":0,
    "paidBuyer":0,"paidSeller":0,"calls":{"C1":"RELEASED"}})"));
  EXPECT_EQ(runWitan({"market", "show", "K2", "--store", store}).exitCode, 1);
}

TEST_F(MarketCommand, EquivocationIsProven) {
  const Finished run =
      runWitan({"market", "equivocation", kExamples + "contract-a.json", kExamples + "contract-b.json", "--json"});
  ASSERT_EQ(run.exitCode, 0) << run.err;
  EXPECT_EQ(parseJson(run.out)->at("result"), "proven");
  EXPECT_EQ(parseJson(run.out)->at("keys").as_array().size(), 2u);
  EXPECT_EQ(runWitan({"market", "equivocation", kExamples + "contract-a.json", kExamples + "contract-a.json"}).exitCode,
            1);
}

// The vectors of the specification, as files. SPECIFICATION_DIR names the folder of the specification if it is not
// ../shared.
TEST_F(MarketCommand, TheSpecificationsVectors) {
  const char* named = std::getenv("SPECIFICATION_DIR");
  const fs::path vectors =
      (named != nullptr ? fs::path(named) : fs::path(witan::tests::kSourceDir) / "../shared") / "vectors" / "market";
  if (!fs::exists(vectors)) GTEST_SKIP() << "skipped: there are no vectors in " << vectors.string();
  int histories = 0;
  for (const auto& file : fs::directory_iterator(vectors)) {
    if (file.path().extension() != ".jsonl") continue;
    ++histories;
    const Finished run = runWitan({"run", "--domain", "escrow", "--events", file.path().string(), "--check"});
    EXPECT_EQ(run.exitCode, 0) << file.path() << "\n" << run.err;
  }
  EXPECT_GE(histories, 41);
}

}  // namespace
}  // namespace witan::market_command_test

// Random documents and runs, compared with the reference model of the specification. Without the model the tests are
// skipped. GRAPH_CASES: how many of each, 300 by default. SPECIFICATION_DIR: the folder of the specification, if it is
// not ../shared.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "kernel/graph/checks.h"
#include "kernel/graph/script.h"
#include "tests/graph/random_graph.h"
#include "tests/graph/vectors.h"

namespace witan::graph {
namespace {

namespace fs = std::filesystem;

int casesWanted() {
  const char* wanted = std::getenv("GRAPH_CASES");
  return wanted != nullptr ? std::max(1, std::atoi(wanted)) : 300;
}

fs::path modelFolder() {
  const char* named = std::getenv("SPECIFICATION_DIR");
  return (named != nullptr ? fs::path(named) : fs::path(witan::tests::kSourceDir) / "../shared") / "model";
}

// Hands cases with our answers to the model, some hundred at a time.
class ModelComparison : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!fs::exists(modelFolder() / "graph_run.py"))
      GTEST_SKIP() << "skipped: there is no reference model in " << modelFolder().string();
    std::string name = (fs::temp_directory_path() / "witan-model-XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override {
    if (!folder_.empty()) fs::remove_all(folder_);
  }

  void compare(const json::object& line) {
    lines_ += canonicalJson(line) + "\n";
    if (++held_ == 500) flush();
  }
  void flush() {
    if (held_ == 0) return;
    EXPECT_TRUE(agrees()) << "the model says otherwise, see above";
  }
  bool agrees() {
    const fs::path file = folder_ / "cases.jsonl";
    std::ofstream(file) << lines_;
    const std::string command = "python3 -B " + std::string(witan::tests::kSourceDir) +
                                "/tests/graph/compare_with_model.py " + modelFolder().string() + " " + file.string();
    lines_.clear();
    held_ = 0;
    return std::system(command.c_str()) == 0;
  }

  fs::path folder_;
  std::string lines_;
  int held_ = 0;
};

// The model takes any table as sink, any value as targets and locales of a capability, and a number as its resource.
// Here they have a form: an effect without a tool would be none.
bool isStricter(const std::vector<Finding>& errors) {
  return std::any_of(errors.begin(), errors.end(), [](const Finding& one) {
    return one.id == "GL01" &&
           (one.place.find(".sink.") != one.place.npos || one.place.find(".capabilities[") != one.place.npos);
  });
}

TEST_F(ModelComparison, ChecksFindTheSame) {
  std::map<std::string, json::value> environments;
  auto vectors = tests::vectorsOf("checks.jsonl");
  std::map<std::string, int> seen;
  for (int i = 0; i < casesWanted() && !HasFailure(); ++i) {
    tests::Draw draw{std::uint32_t(i)};
    const json::object& vector = draw.oneOf(vectors);
    json::value environment = parseJson(tests::vectorText(std::string(vector.at("env").as_string()))).value();
    if (draw.chance(20)) environment = tests::changedEnvironment(draw, std::move(environment));
    const json::value document = tests::changedDocument(draw, vector.at("document"));
    const auto read = parseEnvironment(canonicalJson(environment));
    ASSERT_TRUE(read.ok()) << read.error().message;
    const Checked checked = checkGraph(document, *read);
    if (isStricter(checked.errors)) continue;
    for (const auto* list : {&checked.errors, &checked.warnings})
      for (const json::value& id : tests::idsOf(*list)) ++seen[std::string(id.as_string())];
    compare({{"case", i},
             {"document", document},
             {"environment", environment},
             {"errors", tests::idsOf(checked.errors)},
             {"warnings", tests::idsOf(checked.warnings)},
             {"bound", checked.bound ? json::value(*checked.bound) : json::value(nullptr)}});
  }
  flush();
  EXPECT_GE(seen.size(), 20u) << "the drawn documents are too much alike";
}

TEST_F(ModelComparison, RunsWriteTheSameLedger) {
  std::map<std::string, int> seen;
  for (int i = 0; i < casesWanted() && !HasFailure(); ++i) {
    tests::Draw draw{std::uint32_t(i)};
    json::object scripted = tests::drawCase(draw);
    const auto read = readCase(scripted);
    ASSERT_TRUE(read.ok()) << "case " << i << ": " << read.error().message;
    json::array ledger;
    Runtime rebuilt{Monitor()};
    bool same = true;
    const auto result = runScript(*read, {.line =
                                              [&](const json::object& line) {
                                                ledger.push_back(line);
                                                ++seen[std::string(line.at("event").as_string())];
                                              },
                                          .entry =
                                              [&](const Entry& entry, const Runtime& live) {
                                                rebuilt.apply(entry);
                                                same = same && rebuilt.fingerprint() == live.fingerprint();
                                              }});
    EXPECT_TRUE(same) << "case " << i << ": the fold of the entries is another state";
    json::object line{{"case", i}, {"scripted", std::move(scripted)}, {"ledger", std::move(ledger)}};
    if (result.ok())
      line["result"] = *result;
    else
      line["error"] = result.error().message;
    compare(line);
  }
  flush();
  std::string names;
  for (const auto& [name, count] : seen) names += name + " " + std::to_string(count) + ", ";
  EXPECT_EQ(seen.size(), 17u) << "each event occurs in some run: " << names;
}

// The comparison sees one wrong finding, and one wrong line of a ledger.
TEST_F(ModelComparison, Fires) {
  const json::object vector = tests::vectorsOf("checks.jsonl").at(0);
  compare({{"case", 0},
           {"document", vector.at("document")},
           {"environment", parseJson(tests::vectorText(std::string(vector.at("env").as_string()))).value()},
           {"errors", json::array{"GL99"}},
           {"warnings", json::array()},
           {"bound", nullptr}});
  EXPECT_FALSE(agrees());
  json::object scripted = tests::vectorsOf("runs.jsonl").at(0);
  json::object expected = scripted.at("expect").as_object();
  json::array ledger = expected.at("ledger").as_array();
  expected.erase("ledger");
  scripted.erase("expect");
  compare({{"case", 1}, {"scripted", scripted}, {"ledger", ledger}, {"result", expected}});
  EXPECT_TRUE(agrees());
  ledger.at(1).as_object()["atMs"] = 77;
  compare({{"case", 1}, {"scripted", scripted}, {"ledger", ledger}, {"result", expected}});
  EXPECT_FALSE(agrees());
}

}  // namespace
}  // namespace witan::graph

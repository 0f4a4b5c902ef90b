// `witan ledger tail -f` on a running node: earlier entries, then new ones as they are decided, filtered as asked.
#include <gtest/gtest.h>

#include "tests/node/node_process.h"

namespace witan::ledger_follow_test {
namespace {

using namespace witan::node::test;
namespace json = boost::json;

bool spend(const Node& node, const std::string& entity, int amount) {
  return node
      .post("/v1/propose",
            {{"domain", "budget"}, {"entity", entity}, {"role", "A"}, {"action", {{"type", "SpendA"}, {"n", amount}}}})
      .ok();
}

TEST(LedgerFollow, ShowsEntriesAsTheyAreDecided) {
  const Scratch scratch;
  Node node(scratch, "solo");
  ASSERT_TRUE(begin(node));
  for (const char* entity : {"first", "second"})
    ASSERT_TRUE(node.post("/v1/entities", {{"domain", "budget"}, {"entity", entity}}).ok());
  ASSERT_TRUE(spend(node, "first", 1));
  const json::value rows = node.get("/v1/ledger?domain=budget&entity=first");
  ASSERT_TRUE(rows.is_object());
  const std::string partition(rows.at("entries").as_array().back().at("partition").as_string());

  const std::string all = scratch / "all.log", one = scratch / "one.log";
  const std::vector<std::string> tail{witan::tests::kProgram, "ledger", "tail", "-f", "--json", "--dir", node.dir()};
  const Process following(tail, all);
  std::vector<std::string> filtered = tail;
  filtered.insert(filtered.end(), {"--domain", "budget", "--partition", partition, "--entity", "first"});
  const Process narrow(filtered, one);
  const auto has = [](const std::string& log, const std::string& text) {
    return contentOf(log).find(text) != std::string::npos;
  };
  ASSERT_TRUE(until([&] { return has(all, "\"first\"") && has(one, "\"first\""); }))
      << contentOf(all) << contentOf(one);
  // The streams begin after the entries that were shown; each try is another entry.
  int amount = 2;
  ASSERT_TRUE(until([&] {
    return spend(node, "second", amount) && spend(node, "first", amount++) && has(all, "\"second\"") &&
           has(all, "\"n\":" + std::to_string(amount - 1)) && has(one, "\"n\":" + std::to_string(amount - 1));
  })) << contentOf(all)
      << contentOf(one);
  EXPECT_FALSE(has(one, "\"second\"")) << contentOf(one);
}

}  // namespace
}  // namespace witan::ledger_follow_test

// A disk without room under a running node: whoever waits is told, the node ends, and nothing acknowledged is lost.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include "tests/node/node_process.h"

namespace witan::node::full_disk_test {
namespace {

using test::Node;
using test::Scratch;
using test::until;

// No file of it may grow beyond so many bytes: as on a disk that is full, writing fails from one moment on.
void limitFiles(pid_t process, rlim_t bytes) {
  const rlimit limit{bytes, bytes};
  ASSERT_EQ(::prlimit(process, RLIMIT_FSIZE, &limit, nullptr), 0);
}

json::object spend(const std::string& id) {
  return {{"domain", "budget"}, {"entity", "e"},   {"role", "A"}, {"action", {{"type", "SpendA"}, {"n", 1}}},
          {"operationId", id},  {"waitMs", 60'000}};
}

TEST(FullDisk, EndsTheNodeWithItsReasonAndLosesNothingAcknowledged) {
  const Scratch scratch;
  Node node(scratch, "a");
  ASSERT_TRUE(begin(node));
  ASSERT_EQ(node.run({"begin", "budget", "e"}).exitCode, 0);
  limitFiles(node.pid(), 64 << 10);
  std::vector<std::string> acknowledged;
  std::string why;
  for (int n = 0; n < 5'000 && why.empty(); ++n) {
    const std::string id = "spend-" + std::to_string(n);
    const auto answer = node.post("/v1/propose", spend(id));
    if (answer.ok())
      acknowledged.push_back(id);
    else
      why = answer.error().message;
  }
  EXPECT_NE(why.find("ledgers failed"), std::string::npos) << why;
  EXPECT_NE(why.find("File too large"), std::string::npos) << why;
  ASSERT_TRUE(until([&] { return !node.running(); }));
  EXPECT_EQ(node.stop(), 1) << node.log();
  EXPECT_NE(node.log().find("nothing more is acknowledged; what was, is on disk"), std::string::npos) << node.log();
  ASSERT_GT(acknowledged.size(), 10u);

  ASSERT_TRUE(node.up()) << node.log();
  for (const std::string& id : acknowledged) {
    const auto again = node.post("/v1/propose", spend(id));
    ASSERT_TRUE(again.ok()) << again.error().message;
    EXPECT_TRUE(again->at("duplicate").as_bool()) << id;
  }
  const auto fresh = node.post("/v1/propose", spend("fresh"));
  ASSERT_TRUE(fresh.ok()) << fresh.error().message;
  EXPECT_FALSE(fresh->at("duplicate").as_bool());
}

}  // namespace
}  // namespace witan::node::full_disk_test

// Folds that wait for a person: listed, tried again, and settled where devices wrote different texts.
#include "node/operations/memory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "agents/memory/compactor.h"
#include "replication/records/record_views.h"
#include "replication/records/record_write.h"
#include "tests/replication/cluster.h"

namespace witan::node::memory_operation_test {
namespace {

using namespace operations;
using agents::Compactor;
using replication::DatabaseName;
using replication::test::Device;
using replication::test::sync;

Now at(std::int64_t ms) { return {{ms * 1000}, ms}; }

class Model final : public agents::Summariser {
 public:
  explicit Model(Result<std::string> says) : says_(std::move(says)) {}
  std::string version() const override { return "model-1"; }
  Result<std::string> summarise(const agents::SummaryRequest&) const override { return says_; }

 private:
  const Result<std::string> says_;
};

agents::CompactionOptions small() {
  agents::CompactionOptions options;
  options.triggerBytes = 40, options.keepBytes = 20, options.attempts = 1;
  return options;
}

void chain(Device& device) {
  std::vector<std::string> parents;
  for (int i = 1; i <= 6; ++i) {
    const std::string id = "m" + std::to_string(i);
    const replication::MessageBody body{id,      "lab",        "main", replication::MessageKind::thought,
                                        parents, "ten bytes!", 7,      {}};
    const auto write = replication::recordWrite(id, body);
    ASSERT_TRUE(write.ok() && device.replica().commit(DatabaseName::agents, "main", {&*write, 1}).ok());
    parents = {id};
  }
  device.flush();
}

void fold(Device& device, const Model& model) {
  Compactor compactor(device.replica(), small());
  ASSERT_TRUE(compactor.plan("lab", "main", model, at(1)).ok());
  ASSERT_TRUE(compactor.run(model, at(1)).ok());
  device.flush();
}

class Folds : public testing::Test {
 protected:
  static OperationContext contextOf(Device& device) {
    static const std::filesystem::path none;
    return {.dir = none, .replica = device.replica(), .now = Time{5'000'000}, .flush = [&device] {
              device.flush();
              return okStatus();
            }};
  }
  static std::vector<FoldRow> list(Device& device, bool all = false) {
    OperationContext context = contextOf(device);
    const auto made = listFolds(context, {all, {}});
    EXPECT_TRUE(made.ok());
    return made.ok() ? made->folds : std::vector<FoldRow>{};
  }
  static Result<FoldRow> retry(Device& device, const std::string& id) {
    OperationContext context = contextOf(device);
    auto made = retryFold(context, {id, {}});
    device.flush();
    return made;
  }
};

TEST_F(Folds, OneThatFailedIsListedAndTriedAgain) {
  Device a("a");
  chain(a);
  EXPECT_TRUE(list(a).empty());
  fold(a, Model(Error{ErrorCode::unavailable, "the model is away", ""}));
  const auto folds = list(a);
  ASSERT_EQ(folds.size(), 1u);
  EXPECT_EQ(folds[0].status, "failed");
  EXPECT_EQ(folds[0].error, "the model is away");
  EXPECT_EQ(folds[0].attempts, 1u);
  EXPECT_EQ(retry(a, "0000000000").error().code, ErrorCode::notFound);
  const auto again = retry(a, folds[0].id.substr(0, 12));
  ASSERT_TRUE(again.ok()) << again.error().message;
  EXPECT_EQ(again->status, "waiting");
  EXPECT_TRUE(list(a).empty());
  EXPECT_EQ(list(a, true).size(), 1u);
  Compactor later(a.replica(), small());
  ASSERT_TRUE(later.load(at(9)).ok());
  EXPECT_EQ(*later.run(Model(std::string("said")), at(9)), 1u);
  EXPECT_TRUE(list(a, true).empty());
}

// F4: no summary changes, and the first text counts everywhere.
TEST_F(Folds, OneThatIsDivergentIsListedAndTheFirstTextCountsOnEachDevice) {
  Device a("a"), b("b");
  chain(a);
  sync(a, b);
  fold(a, Model(std::string("what a's model says")));
  fold(b, Model(std::string("what b's model says")));
  sync(a, b);
  const auto folds = list(a);
  ASSERT_EQ(folds.size(), 1u);
  EXPECT_EQ(folds[0].status, "divergent");
  EXPECT_EQ(folds[0].texts, 2u);
  const SummaryId id = *SummaryId::parse(folds[0].id);
  const auto counts = [&](Device& device) {
    return replication::summaryViewOf(id, *device.agents().versions(replication::Kind::summary, id.hex()))
        .winner->body.text;
  };
  EXPECT_EQ(counts(a), counts(b));
  EXPECT_EQ(retry(a, folds[0].id).error().code, ErrorCode::conflict);
}

}  // namespace
}  // namespace witan::node::memory_operation_test

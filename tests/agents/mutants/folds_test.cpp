// A memory whose folds are not tried again, noticed on a short story that the real one passes.
#include <gtest/gtest.h>

#include "agents/memory/compactor.h"
#include "tests/replication/cluster.h"
#include "tests/with_mutant.h"

namespace witan::agents::folds_test {
namespace {

using replication::Kind;
using witan::tests::WithMutant;

Now at(std::int64_t ms) { return {{ms * 1000}, ms}; }

// Away at first, then here.
class Moody final : public Summariser {
 public:
  std::string version() const override { return "moody"; }
  Result<std::string> summarise(const SummaryRequest&) const override {
    if (++asked_ < 3) return unavailable("it is away");
    return std::string("what was said");
  }

 private:
  mutable int asked_ = 0;  // for the test; it decides nothing but when
};

// A thread that has grown too long is short in the end, although its first folds failed and one was asked for
// elsewhere.
bool theThreadIsFoldedInTheEnd(bool elsewhere) {
  replication::test::Device a("a");
  for (int i = 0; i < 6; ++i) {
    const std::vector<std::string> parents = i > 0 ? std::vector{concat("m", i - 1)} : std::vector<std::string>{};
    const replication::MessageBody body{concat("m", i), "lab",        "main", replication::MessageKind::user,
                                        parents,        "ten bytes.", 7,      {}};
    const replication::Write write{Kind::message, body.id, *replication::encodeRecord(body), false};
    if (!a.replica().commit(replication::DatabaseName::agents, "main", {&write, 1}).ok()) return false;
  }
  CompactionOptions options;
  options.triggerBytes = 40, options.keepBytes = 20;
  Compactor compactor(a.replica(), options);
  const Moody moody;
  if (!compactor.plan("lab", "main", moody, at(0)).ok()) return false;
  if (elsewhere) compactor.defer(compactor.jobs().begin()->first, 60'000, at(0));
  for (std::int64_t ms = 0; ms < 600'000; ms += 500)
    if (!compactor.run(moody, at(ms)).ok()) return false;
  return compactor.jobs().empty() && a.agents().keys(Kind::summary).size() == 1;
}

TEST(FoldMutants, AFoldThatIsNotTriedAgainIsNoticed) {
  for (const bool elsewhere : {false, true}) {
    EXPECT_TRUE(theThreadIsFoldedInTheEnd(elsewhere));
    const WithMutant with("forgetFolds");
    EXPECT_FALSE(theThreadIsFoldedInTheEnd(elsewhere)) << elsewhere;
  }
}

}  // namespace
}  // namespace witan::agents::folds_test

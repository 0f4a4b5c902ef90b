// What a signature says of itself, and when two candidates meet.
#include "kernel/domain_module.h"

#include <gtest/gtest.h>

namespace witan::kernel::domain_module_test {
namespace {

// Stored ledgers bear the digest of this text: another text closes them to the program.
TEST(Signature, CanonicalTextIsGolden) {
  Signature signature;
  signature.domain = "clinic";
  EXPECT_EQ(signature.canonical("{}"), R"({"domain":"clinic","fields":[],"invariants":[],"policy":{},"processes":[]})");
  signature.title = "not in it";
  signature.fields = {{"state", "Map<Text>"}, {"seal", "Map<Bool>"}, {"visit", "Log<Visit>"}};
  signature.fields[1].human = 1;
  signature.fields[2].instances = true;
  signature.processes.resize(2);
  signature.processes[0].name = "Admit";
  signature.processes[0].role = "Clerk";
  signature.processes[1].name = "Waive";
  signature.invariants.resize(2);
  signature.invariants[0].id = "ONE_BED";
  signature.invariants[1].id = "SEALED";
  signature.counselors = {"Ruth"};
  EXPECT_EQ(signature.canonical(R"({"beds":3})"),
            R"({"domain":"clinic","fields":[["state","Map<Text>"],["seal","Map<Bool>","human"],)"
            R"(["visit","Log<Visit>","instances"]],"invariants":["ONE_BED","SEALED"],"policy":{"beds":3},)"
            R"("processes":[["Admit","Clerk"],["Waive",""]]})");
}

TEST(Signature, NamesTheFieldsOfAMask) {
  Signature signature;
  signature.fields = {{"a", "Text"}, {"b", "Text"}, {"c", "Text"}};
  EXPECT_EQ(signature.fieldNames(0b101), (std::vector<std::string>{"a", "c"}));
  EXPECT_FALSE(signature.freezesByKey());
  signature.fields[2].instances = true;
  EXPECT_TRUE(signature.freezesByKey());
}

TEST(Touch, MeetsWhereOneWritesWhatTheOtherNames) {
  const Touch one{{"i1"}, {"r1", "r2"}, {"r1"}};
  EXPECT_TRUE(one.meets({{"i1"}, {}, {}}));  // the same instance
  EXPECT_TRUE(one.meets({{"i2"}, {"r1"}, {}}));
  EXPECT_TRUE(one.meets({{"i2"}, {"r2"}, {"r2"}}));
  EXPECT_FALSE(one.meets({{"i2"}, {"r2"}, {}}));  // both only look at r2
  EXPECT_FALSE(one.meets({{"i2"}, {"r3"}, {"r3"}}));
  EXPECT_TRUE(one.meets({}));  // the whole entity
  EXPECT_TRUE(Touch{}.meets(one));
}

}  // namespace
}  // namespace witan::kernel::domain_module_test

// Table, Mutator and Journal: undo gives back the very state, and the write set says exactly what was written.
#include "kernel/mutator.h"

#include <gtest/gtest.h>

#include <map>

#include "tests/kernel/history.h"
#include "tests/kernel/toy_domain.h"

namespace witan::kernel::mutator_test {
namespace {

using chest::Fields;
using chest::kItems;
using chest::State;

// Table against std::map, with insertions and removals of the newest row.
TEST(Table, BehavesLikeAMap) {
  SeededRandom random(5);
  Table<chest::ItemRow> table;
  std::map<std::string, std::int64_t> model;
  std::vector<std::string> newest;
  for (int i = 0; i < 5000; ++i) {
    if (random.below(3) == 0 && !newest.empty()) {
      table.removeLast();
      model.erase(newest.back());
      newest.pop_back();
    } else {
      const std::string key(1 + random.below(3), static_cast<char>('a' + random.below(4)));
      bool inserted = false;
      const Slot slot = table.findOrInsert(key, inserted);
      ASSERT_EQ(inserted, !model.contains(key));
      if (inserted) newest.push_back(key);
      table.row(slot).value = i;
      model[key] = i;
    }
    ASSERT_EQ(table.size(), model.size());
    auto at = model.begin();
    for (Slot slot : table.byKey()) {
      ASSERT_EQ(table.key(slot), at->first);
      ASSERT_EQ(table.row(slot).value, at->second);
      ASSERT_EQ(table.find(at->first), slot);
      ++at;
    }
  }
  EXPECT_EQ(table.find("zz"), kNoSlot);
}

TEST(Table, KeysAreOrderedAsUnsignedBytes) {
  Table<chest::ItemRow> table;
  bool inserted = false;
  for (const char* key : {"\xc3\xa9", "z", "", "a", "aa"}) table.findOrInsert(key, inserted);
  std::vector<std::string> keys;
  for (Slot slot : table.byKey()) keys.push_back(table.key(slot));
  EXPECT_EQ(keys, (std::vector<std::string>{"", "a", "aa", "z", "\xc3\xa9"}));
}

using Module = TypedModule<chest::Chest<>>;

std::string dump(const State& state) {
  std::string out;
  StateCodec<Fields>::write(out, state, {}, ~FieldMask{0});
  return out + std::to_string(state.items.size());
}

class MutatorTest : public testing::Test {
 protected:
  State state;
  Journal<Fields> journal;
  chest::Policy policy;
};

// Undo after any writes, on any state: nothing is left, not even an empty row. Clearing keeps them.
TEST_F(MutatorTest, UndoGivesBackTheStateBefore) {
  SeededRandom random(11);
  for (int round = 0; round < 2000; ++round) {
    const std::string before = dump(state);
    Mutator<Fields> m(state, journal, policy);
    for (std::uint64_t i = random.below(4); i > 0; --i)
      chest::Scribble{static_cast<std::int64_t>(random.next() >> 1)}.apply(m, Time{1});
    if (random.below(2) == 0) {
      journal.undo(state);
      ASSERT_EQ(dump(state), before);
    } else {
      journal.clear();
    }
    ASSERT_EQ(journal.touched(), 0u);
  }
  EXPECT_GT(state.items.size(), 3u);
}

// The write set, folded into the state before, makes the state after.
TEST(Writes, FoldToTheStateAfter) {
  const auto module = chest::module();
  SeededRandom random(12);
  const EntityPtr entity = module->create({}, Time{}).value();
  const EntityPtr follower = module->clone(*entity);
  Evaluation out;
  for (int round = 0; round < 2000; ++round) {
    const ActionPtr action = Module::makeAction(chest::Scribble{static_cast<std::int64_t>(random.next() >> 1)});
    ASSERT_TRUE(module->counselorCommit(*entity, CommitBase::candidate, action.get(), {}, {}, Time{round}, out).ok());
    ASSERT_TRUE(module->applyWrites(*follower, test::objectOf(out.writes)).ok());
    follower->shared.clock = Time{round};
    ASSERT_EQ(test::stateJson(*module, follower.get()), test::stateJson(*module, entity.get()));
    ASSERT_EQ(canonicalJson(parseJson(out.writes).value()), out.writes) << "canonical";
  }
}

TEST_F(MutatorTest, WritesNameEveryWrittenCellOnce) {
  Mutator<Fields> m(state, journal, policy);
  m.set<chest::Gold>(1);
  m.set<chest::Gold>(2);
  m.edit<kItems>("b").set<chest::ItemValue>(1).set<chest::ItemValue>(7);
  m.edit<kItems>("a").set<chest::ItemValue>(3).erase<chest::ItemValue>();
  std::string writes;
  StateCodec<Fields>::appendWrites(writes, journal, state);
  EXPECT_EQ(writes, R"({"gold":2,"item.value":{"a":null,"b":7}})");
  const FieldMask gold = maskOf<Fields, Footprint<chest::Gold>>, value = maskOf<Fields, Footprint<chest::ItemValue>>;
  EXPECT_EQ(journal.touched(), gold | value);
}

TEST_F(MutatorTest, TouchedKnowsWhatWasThereBefore) {
  Mutator<Fields> m(state, journal, policy);
  m.edit<kItems>("old").set<chest::ItemValue>(1);
  journal.clear();
  m.edit<kItems>("old").set<chest::ItemValue>(2).set<chest::ItemOwner>("x");
  m.edit<kItems>("new").set<chest::ItemValue>(3).set<chest::ItemValue>(4);
  const Touched<chest::ItemLawful, Fields> touched(state, journal);
  const auto rows = touched.rows<kItems>();
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].key(), "new");
  EXPECT_FALSE(touched.existedBefore<chest::ItemValue>(rows[0]));
  EXPECT_TRUE(touched.existedBefore<chest::ItemValue>(rows[1]));
  EXPECT_FALSE(touched.existedBefore<chest::ItemOwner>(rows[1]));
  EXPECT_TRUE(touched.changed<chest::ItemOwner>(rows[1]));
  EXPECT_FALSE(touched.changed<chest::ItemOwner>(rows[0]));
  EXPECT_FALSE(touched.scalars());
  m.set<chest::Gold>(3);
  EXPECT_FALSE(touched.scalars()) << "gold is not of this footprint";
}

TEST_F(MutatorTest, ImpossibleKeysAreFaults) {
  Mutator<Fields> m(state, journal, policy);
  EXPECT_THROW(m.edit<kItems>(""), Fault);
  EXPECT_THROW(m.edit<kItems>(std::string(257, 'k')), Fault);
  EXPECT_NO_THROW(m.edit<kItems>(std::string(256, 'k')));
}

TEST_F(MutatorTest, TheStepBudgetEnds) {
  Mutator<Fields> m(state, journal, policy);
  for (std::uint32_t i = 0; i < kStepBudget; ++i) (void)m.get<chest::Gold>();
  EXPECT_THROW((void)m.get<chest::Gold>(), Fault);
}

// JSON of actions: strict, canonical, and the same act again.
TEST(Actions, JsonAndCapnpRoundTrip) {
  const auto module = chest::module();
  SeededRandom random(3);
  const EntityPtr entity = module->create({}, Time{}).value();
  for (int i = 0; i < 500; ++i) {
    const ActionPtr action = module->sample(*entity, random, Time{});
    const std::string text = test::jsonOf(*module, *action);
    EXPECT_EQ(canonicalJson(parseJson(text).value()), text);
    EXPECT_EQ(test::jsonOf(*module, *test::actionOf(*module, text)), text);
    const std::string bytes = module->encodeAction(*action);
    const auto words = alignedWords(bytes).value();
    ASSERT_TRUE(withMessage({reinterpret_cast<const char*>(words.data()), words.size() * 8},
                            [&](capnp::AnyStruct::Reader root) -> Status {
                              WITAN_TRY(decoded, module->decodeAction(
                                                     module->signature().processes[action->process].name, root));
                              EXPECT_EQ(test::jsonOf(*module, *decoded), text);
                              return okStatus();
                            })
                    .ok());
  }
}

TEST(Actions, WrongOnesNameTheirPlace) {
  const auto module = chest::module();
  const auto errorOf = [&](const char* text) { return module->parseAction(parseJson(text).value()).error().message; };
  EXPECT_EQ(errorOf("7"), "action: expected an object, found an integer");
  EXPECT_EQ(errorOf("{}"), "action: \"type\" is missing");
  EXPECT_EQ(errorOf(R"({"type":"Fly"})"), "unknown action \"Fly\"");
  EXPECT_EQ(errorOf(R"({"type":"Earn"})"), "Earn: \"n\" is missing");
  EXPECT_EQ(errorOf(R"({"type":"Earn","n":1,"m":2})"), "Earn: unknown argument \"m\"");
  EXPECT_EQ(errorOf(R"({"type":"Earn","n":"1"})"), "Earn.n: expected an integer, found text");
  EXPECT_EQ(errorOf(R"({"type":"Earn","n":1.5})"), "Earn.n: expected an integer, found a number with a fraction");
}

}  // namespace
}  // namespace witan::kernel::mutator_test

// HashIndex and logs: what an index finds is what a scan finds, after any writes and any undo.
#include "kernel/table.h"

#include <gtest/gtest.h>

#include "kernel/state_codec.h"
#include "tests/kernel/history.h"

namespace witan::kernel::index_test {
namespace {

struct Fact {
  std::string what;
  std::int64_t n = 0;
  WITAN_MEMBERS(Fact, what, n)
};
struct PersonRow {
  Cell<std::string> city;
  Cell<std::string> trade;
  Cell<std::int64_t> age;
};
struct FactRow {
  Cell<Fact> fact;
};
using ByCity = HashIndex<Key<&PersonRow::city>>;
using ByCityAndTrade = HashIndex<Key<&PersonRow::city>, Key<&PersonRow::trade>>;
using ByWhat = HashIndex<Key<&FactRow::fact, &Fact::what>>;
struct NoPolicy {
  WITAN_NO_MEMBERS
};
struct State {
  using Policy = NoPolicy;
  Table<PersonRow, ByCity, ByCityAndTrade> people;
  Table<FactRow, ByWhat> facts;
};
constexpr auto kPeople = &State::people;
constexpr auto kFacts = &State::facts;
struct City : Column<"city", kPeople, &PersonRow::city> {};
struct Trade : Column<"trade", kPeople, &PersonRow::trade> {};
struct Age : Column<"age", kPeople, &PersonRow::age> {};
struct Facts : LogColumn<"facts", kFacts, &FactRow::fact> {};
using Fields = FieldList<City, Trade, Age, Facts>;

struct Everything {
  using Reads = Footprint<City, Trade, Age, Facts>;
};
struct CitiesOnly {
  using Reads = Footprint<City>;
};
template <class Reader, class Index, auto TablePointer, class... Text>
concept CanLookUp = requires(const View<Reader>& v, const Text&... texts) {
  v.template matching<TablePointer, Index>(texts...);
};
static_assert(CanLookUp<CitiesOnly, ByCity, kPeople, std::string>);
static_assert(!CanLookUp<CitiesOnly, ByCityAndTrade, kPeople, std::string, std::string>,
              "an index shows no more than its footprint");

class Index : public testing::Test {
 protected:
  Mutator<Fields> mutator() { return {state, journal, policy}; }

  // Compares the indexes with scans, for every text in use.
  void expectComplete() {
    const View<Everything> view(state, shared, policy);
    const auto names = [](const auto& rows) {
      std::vector<std::string> all;
      for (const auto& row : rows) all.emplace_back(row.key());
      return all;
    };
    for (const std::string city : {"a", "b", "c"}) {
      std::vector<std::string> here;
      for (auto row : view.rows<kPeople>())
        if (row.get<City>() == city) here.emplace_back(row.key());
      ASSERT_EQ((names(view.matching<kPeople, ByCity>(city))), here);
      for (const std::string trade : {"x", "y"}) {
        here.clear();
        for (auto row : view.rows<kPeople>())
          if (row.get<City>() == city && row.get<Trade>() == trade) here.emplace_back(row.key());
        ASSERT_EQ((names(view.matching<kPeople, ByCityAndTrade>(city, trade))), here);
      }
      here.clear();
      for (auto row : view.rows<kFacts>())
        if (row.get<Facts>()->what == city) here.emplace_back(row.key());
      ASSERT_EQ((names(view.matching<kFacts, ByWhat>(city))), here);
    }
  }

  State state;
  Journal<Fields> journal;
  PublicFields shared;
  NoPolicy policy;
};

TEST_F(Index, FindsWhatAScanFinds_RandomWritesAndUndo) {
  SeededRandom random(11);
  const auto one = [&](std::initializer_list<const char*> of) {
    return std::string(of.begin()[random.below(of.size())]);
  };
  for (int round = 0; round < 400; ++round) {
    auto m = mutator();
    for (std::uint64_t i = 0; i < 1 + random.below(6); ++i) {
      auto row = m.edit<kPeople>("p" + std::to_string(random.below(12)));
      switch (random.below(5)) {
        case 0: row.set<City>(one({"a", "b", "c"})); break;
        case 1: row.set<Trade>(one({"x", "y"})); break;
        case 2: row.erase<City>(); break;
        case 3: row.erase<Trade>(); break;
        default: m.append<Facts>({one({"a", "b", "c"}), round});
      }
    }
    expectComplete();
    if (random.below(2) == 0)
      journal.undo(state);
    else
      journal.clear();
    expectComplete();
  }
}

// interfaces.md: an edit of "a set or log field" is {"add":[...]}.
TEST_F(Index, LogsTakeFactsAtTheirEnd) {
  auto m = mutator();
  const auto set = [&](std::string_view text) {
    return StateCodec<Fields>::setField(m, "facts", parseJson(text).value(), "edit");
  };
  ASSERT_TRUE(set(R"([{"what":"a","n":1}])").ok());
  ASSERT_TRUE(set(R"({"add":[{"what":"b","n":2},{"what":"c","n":3}]})").ok());
  std::string written;
  StateCodec<Fields>::write(written, state, shared, ~FieldMask{0});
  EXPECT_NE(written.find(R"("facts":{"0000000001":{"n":1,"what":"a"},"0000000002":{"n":2,"what":"b"},"0000000003":)"),
            std::string::npos)
      << written;
  ASSERT_TRUE(set(R"({"0000000007":{"what":"a","n":7}})").ok());
  m.append<Facts>({"a", 8});
  EXPECT_NE(state.facts.find("0000000008"), kNoSlot) << "after the last, not after the count";
  for (const char* bad : {R"({"x":{"what":"a","n":1}})", R"({"add":{}})", R"("a")", R"({"0000000001":{"what":"a"}})",
                          R"({"add":[],"0000000001":null})"})
    EXPECT_FALSE(set(bad).ok()) << bad;
}

}  // namespace
}  // namespace witan::kernel::index_test

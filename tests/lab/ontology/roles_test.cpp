// Procedure 1 (seed 000, section 2.2): roles by overlap of footprints, as the reference words it, held against a second
// writing of it that does nothing clever.
#include "lab/ontology/roles.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "tests/lab/ontology/turtle_texts.h"

namespace witan::ontology::roles_test {
namespace {

using namespace test;

using Names = std::vector<std::vector<std::string>>;

Names rolesOf(const Model& model, const Derivation& d) {
  Names all;
  for (const DerivedRole& role : d.roles) {
    all.emplace_back();
    for (const std::size_t p : role.processes) all.back().push_back(model.processes[p].name);
  }
  return all;
}

Names rolesOf(const std::string& text, std::optional<Share> cap = std::nullopt) {
  const Model model = modelOf(text);
  return rolesOf(model, deriveRoles(model, cap));
}

// p0, p1, ... with these fields, all read and written.
std::string domainOf(const std::vector<std::vector<std::string>>& footprints) {
  std::set<std::string> fields;
  std::string text = kHead;
  for (std::size_t i = 0; i < footprints.size(); ++i) {
    fields.insert(footprints[i].begin(), footprints[i].end());
    text += processText("p" + std::to_string(i), footprints[i], footprints[i]);
  }
  for (const std::string& f : fields) text += fieldText(f);
  return text;
}

TEST(Procedure1, HalfOfTheSmallerIsEnough) {
  EXPECT_EQ(rolesOf(domainOf({{"a", "b"}, {"b", "x", "y"}})), (Names{{"p0", "p1"}}));
  EXPECT_EQ(rolesOf(domainOf({{"a", "b", "e"}, {"b", "x", "y"}})), (Names{{"p0"}, {"p1"}}));
}

TEST(Procedure1, TheLargestOverlapIsMergedFirst) {
  // p0 and p1 share 1/2; p1 and p2 share 2/2. Merging (p1, p2) first leaves 1 of min(2, 3): still half. But with p0
  // wider the union keeps it out.
  EXPECT_EQ(rolesOf(domainOf({{"a", "e", "f", "b"}, {"b", "k"}, {"b", "k", "m", "n", "o"}})),
            (Names{{"p0"}, {"p1", "p2"}}));
}

TEST(Procedure1, LifecycleAndPublicFieldsAreNotMeasured) {
  EXPECT_EQ(rolesOf(domainOf({{"l1", "c1", "a"}, {"l1", "c1", "b"}})), (Names{{"p0"}, {"p1"}}));
}

// 2 * 0 >= 0 holds, but the similarity is 0 by definition, which is less than theta.
TEST(Procedure1, NothingMeasuredMergesWithNothing) {
  EXPECT_EQ(rolesOf(domainOf({{"l1"}, {"l1"}, {"a"}})), (Names{{"p0"}, {"p1"}, {"p2"}}));
}

TEST(Procedure1, TheFullFootprintHoldsTheLifeCycleAndNoPublicField) {
  const Model model = modelOf(domainOf({{"a", "l1", "c1"}}));
  const Derivation d = deriveRoles(model);
  EXPECT_EQ(model.namesOf(d.roles.at(0).footprint), (std::vector<std::string>{"a", "l1"}));
}

TEST(Procedure1, CounselorsProcessesAreLeftOut) {
  std::string text = domainOf({{"a"}, {"a"}});
  EXPECT_EQ(rolesOf(text), (Names{{"p0", "p1"}}));
  EXPECT_EQ(rolesOf(text + "d:p1 ar:performedBy ar:Counselor ."), (Names{{"p0"}}));
  EXPECT_EQ(rolesOf(text + "d:p1 ar:performedBy d:boss . d:boss a ar:Counselor ."), (Names{{"p0"}}));
}

// The middle one shares half of itself with each neighbour. Joined with the small one it is too wide for the large one;
// joined with the large one it still holds half of the small one.
const std::vector<std::string> kSmall{"a", "b", "e", "f"}, kMiddle{"a", "b", "x", "y"},
    kLarge{"x", "y", "g", "h", "i", "j", "k", "m"};

TEST(Procedure1, TiesGoToTheLeastIris) {
  EXPECT_EQ(rolesOf(domainOf({kSmall, kMiddle, kLarge})), (Names{{"p0", "p1"}, {"p2"}}));
  EXPECT_EQ(rolesOf(domainOf({kLarge, kMiddle, kSmall})), (Names{{"p0", "p1", "p2"}}));
}

TEST(Procedure1, TiesThatDecideAreTold) {
  EXPECT_TRUE(deriveRoles(modelOf(domainOf({kSmall, kMiddle, kLarge}))).dependsOnIris);
  EXPECT_TRUE(deriveRoles(modelOf(domainOf({kLarge, kMiddle, kSmall}))).dependsOnIris);
  EXPECT_FALSE(deriveRoles(modelOf(domainOf({kSmall, kLarge}))).dependsOnIris);
}

TEST(Procedure1, ACapMakesFinerRoles) {
  const std::string text = domainOf({{"a", "b"}, {"b", "x", "y"}});  // union of 4: p0 does not need 2, p1 not 1
  EXPECT_EQ(rolesOf(text, Share{1, 2}), (Names{{"p0", "p1"}}));
  EXPECT_EQ(rolesOf(text, Share{1, 3}), (Names{{"p0"}, {"p1"}}));
  const Model model = modelOf(domainOf({{"a"}, {"a", "b", "e", "f"}}));  // contained: merged with theta 1 too
  EXPECT_TRUE(deriveRoles(model, Share{1, 10}).capExceeded);
  EXPECT_FALSE(deriveRoles(model).capExceeded);
}

TEST(Procedure1, NamesComeFromDeclaredRolesOrFromWhatIsWritten) {
  const std::string text = domainOf({{"a", "b"}, {"b", "a"}, {"e"}});
  const auto names = [](const std::string& t) {
    std::vector<std::string> all;
    for (const DerivedRole& role : deriveRoles(modelOf(t)).roles) all.push_back(role.name);
    return all;
  };
  EXPECT_EQ(names(text), (std::vector<std::string>{"A", "E"}));
  EXPECT_EQ(names(text + "d:r_Both a ar:Role ; ar:performs d:p0 , d:p1 ."), (std::vector<std::string>{"Both", "E"}));
  EXPECT_EQ(names(text + "d:r a ar:Role ; ar:name \"A\" ; ar:performs d:p2 ."), (std::vector<std::string>{"B", "A"}));
}

// ---- against the reference's words, one after the other ----

Names naive(const std::vector<std::set<std::string>>& measured) {
  struct G {
    std::size_t least;
    std::set<std::size_t> processes;
    std::set<std::string> fields;
  };
  std::vector<G> groups;
  for (std::size_t i = 0; i < measured.size(); ++i) groups.push_back({i, {i}, measured[i]});
  for (;;) {
    std::optional<std::tuple<std::size_t, std::size_t>> best;
    std::size_t bestShared = 0, bestSmaller = 1;
    for (std::size_t i = 0; i < groups.size(); ++i)
      for (std::size_t j = i + 1; j < groups.size(); ++j) {
        std::vector<std::string> both;
        std::set_intersection(groups[i].fields.begin(), groups[i].fields.end(), groups[j].fields.begin(),
                              groups[j].fields.end(), std::back_inserter(both));
        const std::size_t smaller = std::min(groups[i].fields.size(), groups[j].fields.size());
        if (smaller == 0 || 2 * both.size() < smaller) continue;
        if (best && both.size() * bestSmaller <= bestShared * smaller) continue;
        best = {i, j};
        bestShared = both.size();
        bestSmaller = smaller;
      }
    if (!best) break;
    const auto [i, j] = *best;
    groups[i].processes.insert(groups[j].processes.begin(), groups[j].processes.end());
    groups[i].fields.insert(groups[j].fields.begin(), groups[j].fields.end());
    groups.erase(groups.begin() + static_cast<std::ptrdiff_t>(j));
    std::sort(groups.begin(), groups.end(), [](const G& a, const G& b) { return a.least < b.least; });
  }
  Names all;
  for (const G& g : groups) {
    all.emplace_back();
    for (const std::size_t p : g.processes) all.back().push_back("p" + std::to_string(p));
    std::sort(all.back().begin(), all.back().end());
  }
  std::sort(all.begin(), all.end());
  return all;
}

// Numbers below `bound`; drawn with repetitions, since a set of all numbers could not grow.
std::set<int> someFields(int bound) {
  const auto drawn =
      *rc::gen::container<std::vector<int>>(*rc::gen::inRange<std::size_t>(0, 9), rc::gen::inRange(0, bound));
  return {drawn.begin(), drawn.end()};
}

RC_GTEST_PROP(Procedure1, PropAgreesWithThePlainWording, ()) {
  const std::size_t n = *rc::gen::inRange<std::size_t>(1, 10);  // p0 to p9: IRIs sort as numbers
  std::vector<std::vector<std::string>> footprints;
  std::vector<std::set<std::string>> measured;
  for (std::size_t i = 0; i < n; ++i) {
    const auto chosen = someFields(12);
    footprints.emplace_back();
    measured.emplace_back();
    for (const int f : chosen) {
      const std::string name = (f == 0 ? "l" : f == 1 ? "c" : "f") + std::to_string(f);
      footprints.back().push_back(name);
      if (f > 1) measured.back().insert(name);
    }
  }
  const Model model = modelOf(domainOf(footprints));
  RC_ASSERT(rolesOf(model, deriveRoles(model)) == naive(measured));
}

// Every process in one role, every role the union of its processes, no role without one: Def. A.6 and A.8.
RC_GTEST_PROP(Procedure1, PropDefA8RolesAreWellFormed, ()) {
  std::vector<std::vector<std::string>> footprints;
  const std::size_t n = *rc::gen::inRange<std::size_t>(1, 40);
  for (std::size_t i = 0; i < n; ++i) {
    footprints.emplace_back();
    for (const int f : someFields(30)) footprints.back().push_back("f" + std::to_string(f));
  }
  const Model model = modelOf(domainOf(footprints));
  std::set<std::size_t> seen;
  for (const DerivedRole& role : deriveRoles(model).roles) {
    FieldSet all;
    RC_ASSERT(!role.processes.empty());
    for (const std::size_t p : role.processes) {
      RC_ASSERT(seen.insert(p).second);
      all = all | model.processes[p].footprint();
    }
    RC_ASSERT(all == role.footprint);
  }
  RC_ASSERT(seen.size() == model.processes.size());
}

}  // namespace
}  // namespace witan::ontology::roles_test

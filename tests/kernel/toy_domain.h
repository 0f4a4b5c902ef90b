// The chest: a toy domain for the tests of the kernel, with everything a domain can have and every fault a mutation or
// an invariant can have. Variants with planted mistakes show that the checkers fire.
//
// One entity is a chest of gold with a list of items. The Treasurer moves gold, the Keeper items, neither sees the
// other's part; what the items cost is covered by the gold (cross-cutting). The Imp's processes are the faulty ones.
#pragma once

#include <stdexcept>
#include <variant>

#include "base/seams.h"
#include "kernel/typed_module.h"

namespace witan::kernel::chest {

struct Policy {
  static constexpr std::size_t required = 0;
  std::int64_t high = 60;
  WITAN_MEMBERS(Policy, high)
};

struct ItemRow {
  Cell<std::string> owner;
  Cell<std::int64_t> value;
  Cell<Time> at;
  Cell<std::string> secret;
};

struct State {
  using Policy = chest::Policy;
  std::int64_t gold = 40;
  std::string sealedBy;
  std::string diary;  // no invariant and no worker but the Imp looks at it
  Table<ItemRow> items;
};

struct Gold : Scalar<"gold", &State::gold> {};
struct SealedBy : Scalar<"sealedBy", &State::sealedBy> {};
struct Diary : Scalar<"diary", &State::diary> {};
struct ItemOwner : Column<"item.owner", &State::items, &ItemRow::owner> {};
struct ItemValue : Column<"item.value", &State::items, &ItemRow::value> {};
struct ItemAt : Column<"item.at", &State::items, &ItemRow::at> {};
struct ItemSecret : Column<"item.secret", &State::items, &ItemRow::secret> {};
using Fields = FieldList<Gold, SealedBy, Diary, ItemOwner, ItemValue, ItemAt, ItemSecret>;
using EveryField = Footprint<Gold, SealedBy, Diary, ItemOwner, ItemValue, ItemAt, ItemSecret>;
inline constexpr auto kItems = &State::items;

// ---- lawful processes ----

struct Earn {
  static constexpr std::string_view name = "Earn";
  using Reads = Footprint<Gold>;
  using Writes = Footprint<Gold>;
  std::int64_t n = 0;
  WITAN_MEMBERS(Earn, n)
  void apply(Mutator<Fields>& m, Time) const { m.set<Gold>(m.get<Gold>() + n); }
};

struct PutItem {
  static constexpr std::string_view name = "PutItem";
  static constexpr std::size_t required = 2;
  using Reads = Footprint<ItemOwner, ItemValue, ItemAt>;
  using Writes = Footprint<ItemOwner, ItemValue, ItemAt>;
  std::string item;
  std::int64_t value = 0;
  std::string owner = "crew";
  WITAN_MEMBERS(PutItem, item, value, owner)
  void apply(Mutator<Fields>& m, Time t) const {
    m.edit<kItems>(item).set<ItemOwner>(owner).set<ItemValue>(value).set<ItemAt>(t);
  }
};

struct DropItem {
  static constexpr std::string_view name = "DropItem";
  using Reads = Footprint<ItemOwner, ItemValue, ItemAt>;
  using Writes = Footprint<ItemOwner, ItemValue, ItemAt>;
  std::string item;
  WITAN_MEMBERS(DropItem, item)
  void apply(Mutator<Fields>& m, Time) const {
    auto row = m.find<kItems>(item);
    if (!row || !row->has<ItemValue>()) throw Fault{"no item " + item};
    row->erase<ItemOwner>().erase<ItemValue>().erase<ItemAt>();
  }
};

// ---- faulty ones ----

// Replaces any mutation by arbitrary writes.
struct Scribble {
  static constexpr std::string_view name = "Scribble";
  using Reads = EveryField;
  using Writes = EveryField;
  std::int64_t seed = 0;
  WITAN_MEMBERS(Scribble, seed)
  void apply(Mutator<Fields>& m, Time t) const {
    SeededRandom random(static_cast<std::uint64_t>(seed));
    for (std::uint64_t i = 1 + random.below(5); i > 0; --i) writeOne(m, random, t);
  }

 private:
  static void writeOne(Mutator<Fields>& m, Random& random, Time t) {
    const auto number = static_cast<std::int64_t>(random.below(300)) - 100;
    const std::uint64_t draw = random.below(10);
    if (draw == 0) return m.set<Gold>(number);
    if (draw == 1) return m.set<SealedBy>(random.below(2) == 0 ? "" : "imp");
    if (draw == 2) return m.set<Diary>("page " + std::to_string(number));
    auto row = m.edit<kItems>("i" + std::to_string(random.below(8)));
    if (draw <= 4)
      row.set<ItemValue>(number);
    else if (draw == 5)
      row.erase<ItemValue>();
    else if (draw == 6)
      row.set<ItemOwner>("imp");
    else if (draw == 7)
      row.erase<ItemOwner>();
    else if (draw == 8)
      row.set<ItemAt>(Time{t.micros + number});
    else
      row.set<ItemSecret>("hidden " + std::to_string(number));
  }
};

// Writes, then throws: a Fault, a standard exception, or something that is neither.
struct Throw {
  static constexpr std::string_view name = "Throw";
  using Reads = EveryField;
  using Writes = EveryField;
  std::string what;
  WITAN_MEMBERS(Throw, what)
  void apply(Mutator<Fields>& m, Time) const {
    m.set<Gold>(-1);
    m.edit<kItems>("broken").set<ItemValue>(-1);
    if (what == "fault") throw Fault{"as told"};
    if (what == "std") throw std::runtime_error("as told");
    throw 42;
  }
};

// Declares one field and writes another.
struct Stray {
  static constexpr std::string_view name = "Stray";
  using Reads = Footprint<Diary>;
  using Writes = Footprint<Diary>;
  static constexpr std::size_t required = 0;
  std::int64_t n = 1;
  WITAN_MEMBERS(Stray, n)
  void apply(Mutator<Fields>& m, Time) const {
    m.set<Diary>("nothing happened");
    m.set<Gold>(m.get<Gold>() + n);
  }
};

struct Endless {
  static constexpr std::string_view name = "Endless";
  using Reads = EveryField;
  using Writes = EveryField;
  static constexpr std::size_t required = 0;
  std::int64_t n = 7;
  WITAN_MEMBERS(Endless, n)
  void apply(Mutator<Fields>& m, Time) const {
    m.set<Gold>(n);
    for (;;) (void)m.get<Gold>();
  }
};

struct Treasurer {
  static constexpr std::string_view name = "Treasurer";
  using Processes = ProcessList<Earn>;
};
struct Keeper {
  static constexpr std::string_view name = "Keeper";
  using Processes = ProcessList<PutItem, DropItem>;
};
struct Imp {
  static constexpr std::string_view name = "Imp";
  using Processes = ProcessList<Scribble, Throw, Stray, Endless>;
};

// ---- invariants ----

struct GoldPositive {
  static constexpr std::string_view id = "GOLD_POSITIVE";
  static constexpr std::string_view rule = "gold is not negative";
  using Reads = Footprint<Gold>;
  static Verdict check(const View<GoldPositive>& s) {
    return s.get<Gold>() >= 0 ? Verdict::pass() : Verdict::reject("gold is " + std::to_string(s.get<Gold>()));
  }
};

// More gold than `high` needs a seal, or the waiver of a human.
struct GoldHigh {
  static constexpr std::string_view id = "GOLD_HIGH";
  static constexpr std::string_view rule = "much gold is sealed by a human";
  static constexpr InvResult onFailure = InvResult::escalate;
  using Reads = Footprint<Gold, SealedBy>;
  static Verdict check(const View<GoldHigh>& s) {
    if (s.get<Gold>() <= s.policy().high || !s.get<SealedBy>().empty() || s.waived(id, "gold")) return Verdict::pass();
    return Verdict::escalate("gold is " + std::to_string(s.get<Gold>()) + " and not sealed");
  }
};

// Throws where it can't think; so it fails closed.
struct Shy {
  static constexpr std::string_view id = "SHY";
  static constexpr std::string_view rule = "gold is not 13";
  using Reads = Footprint<Gold>;
  static Verdict check(const View<Shy>& s) {
    if (s.get<Gold>() == 13) throw std::out_of_range("thirteen");
    return Verdict::pass();
  }
};

struct ItemLawful {
  static constexpr std::string_view id = "ITEM_LAWFUL";
  static constexpr std::string_view rule = "an item has a value from 0, an owner, and a time that is not ahead";
  static constexpr auto table = kItems;
  using Reads = Footprint<ItemOwner, ItemValue, ItemAt>;
  static Verdict checkRow(const View<ItemLawful>& s, const RowView<ItemLawful, table>& row) {
    if (!row.has<ItemValue>() || !row.has<ItemOwner>())
      return Verdict::reject("item " + std::string(row.key()) + " is torn");
    if (*row.get<ItemValue>() < 0) return Verdict::reject("item " + std::string(row.key()) + " is worth less than 0");
    if (row.has<ItemAt>() && *row.get<ItemAt>() > s.clock())
      return Verdict::reject("item " + std::string(row.key()) + " is from the future");
    return Verdict::pass();
  }
};

inline std::int64_t coveredBy(std::int64_t gold) { return 2 * gold + 10; }

// Cross-cutting: neither worker sees both.
struct ItemsCovered {
  static constexpr std::string_view id = "ITEMS_COVERED";
  static constexpr std::string_view rule = "the items together cost at most twice the gold, and ten";
  using Reads = Footprint<Gold, ItemValue>;
  static Verdict check(const View<ItemsCovered>& s) {
    std::int64_t total = 0;
    for (auto row : s.rows<kItems>()) total += *row.get<ItemValue>();
    if (total <= coveredBy(s.get<Gold>())) return Verdict::pass();
    return Verdict::reject("items of " + std::to_string(total) + " over gold of " + std::to_string(s.get<Gold>()));
  }
  // A new item that costs nothing can't break it. (An item dropped could: after an unsafe commit its value may have
  // been negative. WrongItemsCovered below forgets that.)
  static bool stillPasses(const View<ItemsCovered>&, const Touched<ItemsCovered, Fields>& touched) {
    if (touched.scalars()) return false;
    for (auto row : touched.rows<kItems>())
      if (touched.existedBefore<ItemValue>(row) || (row.has<ItemValue>() && *row.get<ItemValue>() > 0)) return false;
    return true;
  }
};

// The last one escalates or rejects, so that an escalation can hide it (F16).
struct OwnerKnown {
  static constexpr std::string_view id = "OWNER_KNOWN";
  static constexpr std::string_view rule = "nothing belongs to the imp while there is much gold";
  using Reads = Footprint<ItemOwner, Gold>;
  static Verdict check(const View<OwnerKnown>& s) {
    for (auto row : s.rows<kItems>())
      if (row.get<ItemOwner>() == "imp" && s.get<Gold>() > 30)
        return Verdict::reject("item " + std::string(row.key()) + " belongs to the imp");
    return Verdict::pass();
  }
};

// ---- planted mistakes ----

// "Dropping an item makes the sum smaller": true only while no item has a negative value.
struct WrongItemsCovered {
  static constexpr std::string_view id = ItemsCovered::id;
  static constexpr std::string_view rule = ItemsCovered::rule;
  using Reads = ItemsCovered::Reads;
  static Verdict check(const View<WrongItemsCovered>& s) {
    std::int64_t total = 0;
    for (auto row : s.rows<kItems>()) total += *row.get<ItemValue>();
    if (total <= coveredBy(s.get<Gold>())) return Verdict::pass();
    return Verdict::reject("items of " + std::to_string(total) + " over gold of " + std::to_string(s.get<Gold>()));
  }
  static bool stillPasses(const View<WrongItemsCovered>&, const Touched<WrongItemsCovered, Fields>& touched) {
    if (touched.scalars()) return false;
    for (auto row : touched.rows<kItems>())
      if (row.has<ItemValue>()) return false;
    return true;
  }
};

// Fails by the mere passing of time: not time-stable (F5).
struct ItemFresh {
  static constexpr std::string_view id = "ITEM_FRESH";
  static constexpr std::string_view rule = "no item is older than 30 days";
  using Reads = Footprint<ItemAt>;
  static Verdict check(const View<ItemFresh>& s) {
    for (auto row : s.rows<kItems>())
      if (s.clock().micros - row.get<ItemAt>()->micros > 30 * 86'400'000'000) return Verdict::reject("an old item");
    return Verdict::pass();
  }
};

// Declares the diary and looks at the gold through a global: C++ can't forbid that, the run-time probe finds it.
inline const State* peepHole = nullptr;
struct Peeper {
  static constexpr std::string_view id = "PEEPER";
  static constexpr std::string_view rule = "the diary is honest";
  using Reads = Footprint<Diary>;
  static Verdict check(const View<Peeper>&) {
    if (peepHole != nullptr && peepHole->gold > 50) return Verdict::reject("I know about the gold");
    return Verdict::pass();
  }
};

using Lawful = InvariantList<GoldPositive, GoldHigh, Shy, ItemLawful, ItemsCovered, OwnerKnown>;

template <class InvariantsOfIt = Lawful>
struct Chest {
  static constexpr std::string_view name = "chest";
  using Fields = chest::Fields;
  using Roles = RoleList<Treasurer, Keeper, Imp>;
  using Invariants = InvariantsOfIt;
  static std::vector<std::string> counselors() { return {"captain", "mate"}; }

  static std::variant<Earn, PutItem, DropItem, Scribble, Throw, Stray, Endless> sample(const State&, Random& random,
                                                                                       Time) {
    const std::string item = "i" + std::to_string(random.below(8));
    const std::uint64_t draw = random.below(200);
    if (draw < 60) return Earn{static_cast<std::int64_t>(random.below(80)) - 40};
    if (draw < 120) return PutItem{item, static_cast<std::int64_t>(random.below(40)) - 4, "crew"};
    if (draw < 140) return DropItem{item};
    if (draw < 190) return Scribble{static_cast<std::int64_t>(random.below(1'000'000))};
    if (draw < 195) return Throw{draw % 3 == 0 ? "fault" : draw % 3 == 1 ? "std" : "other"};
    return Stray{};  // Endless costs a million steps: it has a test of its own
  }
  static std::string sampleInit(Random& random, Time) {
    return "{\"gold\":" + std::to_string(20 + random.below(30)) + "}";
  }
};

template <class D = Chest<>>
std::unique_ptr<DomainModule> module() {
  return makeModule<D>().value();
}

}  // namespace witan::kernel::chest

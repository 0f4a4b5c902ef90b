// What must not compile: reading outside of a footprint (seed 000, Def. A.7 and A.9). With WITAN_CASE 0 it compiles, so
// that a failure of the others is the failure meant. Built by tests/kernel/compile_fail.cmake.
#include "tests/kernel/toy_domain.h"

namespace witan::kernel::chest {

using Row = RowView<ItemLawful, kItems>;

inline Verdict cheat(const View<GoldHigh>& s, const Row& row, const Slice<Keeper>& keeper, Mutator<Fields>& m) {
#if WITAN_CASE == 0
  (void)row, (void)keeper, (void)m;
  return s.get<Gold>() > 0 ? Verdict::pass() : Verdict::reject("none");
#elif WITAN_CASE == 1
  return s.get<Diary>().empty() ? Verdict::pass() : Verdict::reject("");  // a scalar outside of the footprint
#elif WITAN_CASE == 2
  return row.get<ItemSecret>() ? Verdict::pass() : Verdict::reject("");  // a column outside of the footprint
#elif WITAN_CASE == 3
  return keeper.get<Gold>() > 0 ? Verdict::pass() : Verdict::reject("");  // a slice of another role
#elif WITAN_CASE == 4
  return row.get<Gold>() > 0 ? Verdict::pass() : Verdict::reject("");  // a scalar through a row
#elif WITAN_CASE == 5
  s.get<Gold>() = 7;  // writing through a view
  return Verdict::pass();
#elif WITAN_CASE == 6
  m.set<ItemValue>(7);  // a column as a scalar
  return Verdict::pass();
#elif WITAN_CASE == 7
  struct NoInvariant {};  // neither id, rule, footprint nor predicate
  static_assert(Invariant<NoInvariant>, "constraints not satisfied");
  return Verdict::pass();
#elif WITAN_CASE == 8
  struct Signed : HumanColumn<"item.secret", kItems, &ItemRow::secret> {};
  m.edit<kItems>("x").set<Signed>("me");  // a human field by a process
  return Verdict::pass();
#endif
}

}  // namespace witan::kernel::chest

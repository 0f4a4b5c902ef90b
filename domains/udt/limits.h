// The rolling-window limits on covered tests, for both kinds (UDT_PRESUMPTIVE_LIMIT, UDT_DEFINITIVE_LIMIT).
//
// For each covered order o of the kind, not waived: let (n, W) be the limit of the tier that was known when o was
// ordered, and L the covered orders of the kind ordered no later than o. Every window of W days that contains o's
// date of service and ends at a date of service in L holds at most n orders of L. (Looking only at the window that
// ends at o would let a back-dated order dodge the limit.) The stored tier is not trusted.
#pragma once

#include <boost/container/small_vector.hpp>
#include <string>

#include "domains/udt/state.h"

namespace witan::domains::udt {

inline constexpr auto kOrders = &State::orders;

template <class I>
bool isCovered(const RowView<I, kOrders>& row, Kind kind) {
  return row.template get<OrderKind>() == kind && row.template get<OrderCoverage>() == Coverage::AHCCCS &&
         row.template has<OrderDos>() && row.template has<OrderedAt>();
}

// The tier as known when `order` was ordered: later results, and results dated after its date of service, don't count.
template <class I>
Tier knownTier(const View<I>& s, const RowView<I, kOrders>& order) {
  Date last = s.template get<BaselinePositiveOn>();
  const Date dos = *order.template get<OrderDos>();
  for (auto row : s.template rows<kOrders>())
    if (row.template get<ResultOutcome>() == Outcome::POSITIVE && row.template has<ResultOn>() &&
        row.template has<ResultRecordedAt>() &&
        *row.template get<ResultRecordedAt>() <= *order.template get<OrderedAt>() &&
        *row.template get<ResultOn>() <= dos)
      last = std::max(last, *row.template get<ResultOn>());
  return s.policy().tierOf(daysBetween(last, dos));
}

// O(n) for n orders, plus the square of those within a window of the order.
template <class I>
Verdict checkLimitOf(const View<I>& s, const RowView<I, kOrders>& order) {
  if (!isCovered(order, I::kind) || s.waived(I::id, order.key())) return Verdict::pass();
  const Tier tier = knownTier(s, order);
  const Limit& limit = s.policy().limits.of(I::kind).of(tier);
  const std::int64_t dos = order.template get<OrderDos>()->days;
  boost::container::small_vector<std::int64_t, 32> near;  // dates of service in L that a window with `dos` can hold
  for (auto row : s.template rows<kOrders>()) {
    if (!isCovered(row, I::kind) || *row.template get<OrderedAt>() > *order.template get<OrderedAt>()) continue;
    const std::int64_t day = row.template get<OrderDos>()->days;
    if (day > dos - limit.days && day < dos + limit.days) near.push_back(day);
  }
  for (std::int64_t end : near) {
    if (end < dos) continue;
    const auto held =
        std::count_if(near.begin(), near.end(), [&](std::int64_t day) { return end - limit.days < day && day <= end; });
    if (held > limit.count)
      return Verdict::reject(std::to_string(held) + " covered " + std::string(enumName(I::kind)) + " tests in " +
                             std::to_string(limit.days) + " days, tier " + std::string(enumName(tier)) + " allows " +
                             std::to_string(limit.count));
  }
  return Verdict::pass();
}

template <class I>
Verdict checkLimit(const View<I>& s) {
  for (auto row : s.template rows<kOrders>())
    if (Verdict verdict = checkLimitOf(s, row); !verdict.passed()) return verdict;
  return Verdict::pass();
}

// A new order of the kind can only break the limit of orders ordered no earlier than it, and a new positive result can
// only change the tier known to orders ordered no earlier than its recording; other new orders and results change
// nothing here. Anything overwritten calls for the full check.
template <class I>
bool limitStillPasses(const View<I>& s, const Touched<I, Fields>& touched) {
  if (touched.scalars()) return false;
  Time since{std::numeric_limits<std::int64_t>::max()};
  for (auto row : touched.template rows<kOrders>()) {
    if (touched.template existedBefore<OrderedAt>(row) != touched.template existedBefore<OrderKind>(row)) return false;
    const bool newOrder = !touched.template existedBefore<OrderedAt>(row) && row.template has<OrderedAt>();
    const bool newResult =
        !touched.template existedBefore<ResultRecordedAt>(row) && row.template has<ResultRecordedAt>();
    const bool orderWritten =
        touched.template existedBefore<OrderedAt>(row) &&
        (touched.template changed<OrderKind>(row) || touched.template changed<OrderDos>(row) ||
         touched.template changed<OrderCoverage>(row) || touched.template changed<OrderedAt>(row));
    const bool resultWritten =
        touched.template existedBefore<ResultRecordedAt>(row) &&
        (touched.template changed<ResultOutcome>(row) || touched.template changed<ResultOn>(row) ||
         touched.template changed<ResultRecordedAt>(row));
    if (orderWritten || resultWritten) return false;
    if (newOrder && isCovered(row, I::kind)) since = std::min(since, *row.template get<OrderedAt>());
    if (newResult && row.template get<ResultOutcome>() == Outcome::POSITIVE)
      since = std::min(since, *row.template get<ResultRecordedAt>());
  }
  if (since.micros == std::numeric_limits<std::int64_t>::max()) return true;
  for (auto row : s.template rows<kOrders>())
    if (isCovered(row, I::kind) && *row.template get<OrderedAt>() >= since && !checkLimitOf(s, row).passed())
      return false;
  return true;
}

}  // namespace witan::domains::udt

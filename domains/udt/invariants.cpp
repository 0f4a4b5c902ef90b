#include "domains/udt/invariants.h"

#include <array>
#include <boost/container/small_vector.hpp>
#include <map>
#include <string>

#include "base/utf8.h"
#include "domains/vocabulary.h"

namespace witan::domains::udt {

namespace {

template <class I>
bool isCovered(const RowView<I, kOrders>& row, Kind kind) {
  return row.template get<OrderKind>() == kind && row.template get<OrderCoverage>() == Coverage::AHCCCS &&
         row.template has<OrderDos>() && row.template has<OrderedAt>();
}

// The rolling-window limits on covered tests, for both kinds (UDT_PRESUMPTIVE_LIMIT, UDT_DEFINITIVE_LIMIT).
//
// For each covered order o of the kind, not waived: let (n, W) be the limit of the tier that was known when o was
// ordered, and L the covered orders of the kind ordered no later than o. Every window of W days that contains o's
// date of service and ends at a date of service in L holds at most n orders of L. (Looking only at the window that
// ends at o would let a back-dated order dodge the limit.) The stored tier is not trusted.

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
Verdict checkLimit(const View<I>& s, const RowView<I, kOrders>& order) {
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

// A new order of the kind can only break the limit of orders ordered no earlier than it, and a new positive result can
// only change the tier known to orders ordered no earlier than its recording; other new orders and results change
// nothing here. Anything overwritten calls for the full check.
template <class I>
bool limitOfOthersStands(const View<I>& s, const Touched<I, Fields>& touched) {
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
    if (isCovered(row, I::kind) && *row.template get<OrderedAt>() >= since && !checkLimit(s, row).passed())
      return false;
  return true;
}

constexpr std::array<std::string_view, 3> kPresumptiveCodes{"80305", "80306", "80307"};
constexpr std::array<std::string_view, 5> kDefinitiveCodes{"G0480", "G0481", "G0482", "G0483", "G0659"};

template <class Codes>
bool in(const Codes& codes, std::string_view code) {
  return std::find(codes.begin(), codes.end(), code) != codes.end();
}

std::string named(std::string_view what, std::string_view key) { return std::string(what) + " " + std::string(key); }

template <class I>
bool isLive(const RowView<I, kClaims>& claim) {
  return claim.template get<ClaimStatusOf>() == ClaimStatus::SUBMITTED;
}

// A date of service further ahead is a slip of the pen.
constexpr std::int64_t kMostDaysAhead = 366;

Verdict checkOrderRow(const View<RefIntegrity>& s, const RowView<RefIntegrity, kOrders>& row) {
  if (!shareKey<OrderKind, OrderCode, OrderMethod, OrderDos, OrderCoverage, OrderedAt>(row))
    return Verdict::reject(named("order", row.key()) + " is incomplete");
  if (!shareKey<ResultOutcome, ResultOn, ResultRecordedAt>(row))
    return Verdict::reject(named("the result of order", row.key()) + " is incomplete");
  if (row.has<ResultOutcome>() && !row.has<OrderKind>())
    return Verdict::reject(named("a result for the unknown order", row.key()));
  if (row.has<OrderDos>() && daysBetween(dateOf(*row.get<OrderedAt>()), *row.get<OrderDos>()) > kMostDaysAhead)
    return Verdict::reject(named("order", row.key()) + " is for " + formatDate(*row.get<OrderDos>()) + ", more than " +
                           std::to_string(kMostDaysAhead) + " days ahead");
  if (row.has<ResultOn>() && *row.get<ResultOn>() < *row.get<OrderDos>())
    return Verdict::reject(named("the result of order", row.key()) + " is of " + formatDate(*row.get<ResultOn>()) +
                           ", before the service on " + formatDate(*row.get<OrderDos>()));
  if (row.has<OrderConfirms>()) {
    if (!row.has<OrderKind>()) return Verdict::reject(named("order", row.key()) + " is incomplete");
    const auto target = s.row<kOrders>(*row.get<OrderConfirms>());
    if (!target || !target->has<OrderKind>())
      return Verdict::reject(named("order", row.key()) +
                             named(" confirms the unknown order", *row.get<OrderConfirms>()));
  }
  return Verdict::pass();
}

Verdict checkClaimRow(const View<RefIntegrity>& s, const RowView<RefIntegrity, kClaims>& row) {
  if (!shareKey<ClaimOrder, ClaimCode, ClaimDos, ClaimUnits, ClaimStatusOf>(row))
    return Verdict::reject(named("claim", row.key()) + " is incomplete");
  const auto order = s.row<kOrders>(*row.get<ClaimOrder>());
  if (!order || !order->has<OrderKind>())
    return Verdict::reject(named("claim", row.key()) + named(" bills the unknown order", *row.get<ClaimOrder>()));
  return Verdict::pass();
}

bool isEarlierPresumptiveOf(const RowView<SameDayDefinitive, kOrders>& p,
                            const RowView<SameDayDefinitive, kOrders>& o) {
  return isCovered(p, Kind::PRESUMPTIVE) && *p.get<OrderDos>() == *o.get<OrderDos>() &&
         *p.get<OrderedAt>() < *o.get<OrderedAt>();
}

}  // namespace

Verdict RefIntegrity::check(const View<RefIntegrity>& s) {
  Verdict orders = firstFailing(s.rows<kOrders>(), [&](auto row) { return checkOrderRow(s, row); });
  if (!orders.passed()) return orders;
  return firstFailing(s.rows<kClaims>(), [&](auto row) { return checkClaimRow(s, row); });
}

bool RefIntegrity::stillPasses(const View<RefIntegrity>& s, const Touched<RefIntegrity, Fields>& touched) {
  for (auto row : touched.rows<kOrders>()) {
    if (touched.existedBefore<OrderKind>(row) && !row.has<OrderKind>()) return false;  // others may point at it
    if (!checkOrderRow(s, row).passed()) return false;
  }
  for (auto row : touched.rows<kClaims>())
    if (row.visible() && !checkClaimRow(s, row).passed()) return false;
  return true;
}

Verdict CodeKind::checkRow(const View<CodeKind>&, const RowView<CodeKind, table>& row) {
  if (!row.has<OrderKind>()) return Verdict::pass();
  const std::string_view code = row.has<OrderCode>() ? std::string_view(*row.get<OrderCode>()) : std::string_view{};
  const bool presumptive = row.get<OrderKind>() == Kind::PRESUMPTIVE;
  if (in(kPresumptiveCodes, code) == presumptive && in(kDefinitiveCodes, code) == !presumptive) return Verdict::pass();
  return Verdict::reject(named("order", row.key()) + ": code " + std::string(clip(code, 32)) + " is not for " +
                         std::string(enumName(*row.get<OrderKind>())) + " tests");
}

Verdict NoImmunoassayConfirmation::checkRow(const View<NoImmunoassayConfirmation>& s,
                                            const RowView<NoImmunoassayConfirmation, table>& row) {
  const bool definitive = row.get<OrderKind>() == Kind::DEFINITIVE;
  const auto& method = row.get<OrderMethod>();
  if (definitive && !parseEnum<DefinitiveMethod>(method.value_or(std::string())))
    return Verdict::reject(named("order", row.key()) + ": \"" + std::string(clip(method.value_or(std::string()), 32)) +
                           "\" is no DEFINITIVE method, those are " + JsonCodec<DefinitiveMethod>::words());
  if (!row.has<OrderConfirms>()) return Verdict::pass();
  const auto target = s.row<kOrders>(*row.get<OrderConfirms>());
  if (!definitive) return Verdict::reject(named("order", row.key()) + " confirms but is not DEFINITIVE");
  if (!target || target->get<OrderKind>() != Kind::PRESUMPTIVE)
    return Verdict::reject(named("order", row.key()) + named(" confirms", *row.get<OrderConfirms>()) +
                           ", which is not PRESUMPTIVE");
  return Verdict::pass();
}

// Other orders may confirm it.
bool NoImmunoassayConfirmation::othersStand(const View<NoImmunoassayConfirmation>&,
                                            const Touched<NoImmunoassayConfirmation, Fields>& touched) {
  return noneOf(touched.rows<kOrders>(), [&](auto row) {
    return touched.template existedBefore<OrderKind>(row) && touched.template changed<OrderKind>(row);
  });
}

Verdict ClinicalRationale::checkRow(const View<ClinicalRationale>& s, const RowView<ClinicalRationale, table>& row) {
  if (!row.has<OrderKind>()) return Verdict::pass();
  if (!row.has<RationaleText>()) return Verdict::reject(named("order", row.key()) + " has no rationale");
  const std::int64_t length = trimmedLength(*row.get<RationaleText>());
  if (length == 0 || length < s.policy().minRationale)
    return Verdict::reject(named("the rationale of order", row.key()) + " has " + std::to_string(length) +
                           " characters, at least " +
                           std::to_string(std::max<std::int64_t>(1, s.policy().minRationale)) + " are needed");
  if (row.get<RationaleKindOf>() == RationaleKind::STANDING)
    return Verdict::reject(named("order", row.key()) + " rests on a standing order");
  return Verdict::pass();
}

namespace {

// What is recorded has happened.
Verdict checkRecorded(const RowView<AbstinenceDerivation, kOrders>& row) {
  if (!row.has<ResultOn>() || !row.has<ResultRecordedAt>() ||
      *row.get<ResultOn>() <= dateOf(*row.get<ResultRecordedAt>()))
    return Verdict::pass();
  return Verdict::reject(named("the result of order", row.key()) + " is of " + formatDate(*row.get<ResultOn>()) +
                         " and was recorded on " + formatDate(dateOf(*row.get<ResultRecordedAt>())));
}

Verdict checkDerived(const View<AbstinenceDerivation>& s) {
  const Date last = s.get<LastPositiveOn>();
  const std::int64_t days = daysBetween(last, s.get<AbstinenceAsOf>());
  if (s.get<ConsecutiveDays>() != days || days < 0)
    return Verdict::reject("consecutiveDays is " + std::to_string(s.get<ConsecutiveDays>()) + ", the dates give " +
                           std::to_string(days));
  if (s.get<TierOf>() != s.policy().tierOf(days))
    return Verdict::reject("tier is " + std::string(enumName(s.get<TierOf>())) + ", " + std::to_string(days) +
                           " days make " + std::string(enumName(s.policy().tierOf(days))));
  if (s.get<AbstinenceAsOf>() > dateOf(s.clock()))
    return Verdict::reject("abstinenceAsOf " + formatDate(s.get<AbstinenceAsOf>()) + " lies after the clock");
  return Verdict::pass();
}

}  // namespace

Verdict AbstinenceDerivation::check(const View<AbstinenceDerivation>& s) {
  Date last = s.get<BaselinePositiveOn>();
  for (auto row : s.rows<kOrders>()) {
    if (Verdict verdict = checkRecorded(row); !verdict.passed()) return verdict;
    if (row.get<ResultOutcome>() == Outcome::POSITIVE && row.has<ResultOn>())
      last = std::max(last, *row.get<ResultOn>());
  }
  if (s.get<LastPositiveOn>() != last)
    return Verdict::reject("lastPositiveOn is " + formatDate(s.get<LastPositiveOn>()) + ", the results say " +
                           formatDate(last));
  return checkDerived(s);
}

// The last positive was right before; a new result that is not a later positive leaves it so.
bool AbstinenceDerivation::stillPasses(const View<AbstinenceDerivation>& s,
                                       const Touched<AbstinenceDerivation, Fields>& touched) {
  if (touched.wrote<BaselinePositiveOn>() || touched.wrote<LastPositiveOn>()) return false;
  for (auto row : touched.rows<kOrders>()) {
    if (touched.existedBefore<ResultOutcome>(row) || touched.existedBefore<ResultOn>(row)) return false;
    if (!checkRecorded(row).passed()) return false;
    if (row.get<ResultOutcome>() == Outcome::POSITIVE && row.has<ResultOn>() &&
        *row.get<ResultOn>() > s.get<LastPositiveOn>())
      return false;
  }
  return checkDerived(s).passed();
}

Verdict OnePerDos::check(const View<OnePerDos>& s) {
  std::map<std::pair<Kind, Date>, int> held;
  for (auto row : s.rows<kOrders>()) {
    if (row.get<OrderCoverage>() != Coverage::AHCCCS || !row.has<OrderKind>() || !row.has<OrderDos>()) continue;
    if (++held[{*row.get<OrderKind>(), *row.get<OrderDos>()}] > 1)
      return Verdict::reject("2 covered " + std::string(enumName(*row.get<OrderKind>())) + " tests on " +
                             formatDate(*row.get<OrderDos>()));
  }
  return Verdict::pass();
}

bool OnePerDos::stillPasses(const View<OnePerDos>& s, const Touched<OnePerDos, Fields>& touched) {
  for (auto changed : touched.rows<kOrders>()) {
    if (changed.get<OrderCoverage>() != Coverage::AHCCCS) continue;
    for (auto row : s.rows<kOrders>())
      if (row.slot() != changed.slot() && row.get<OrderCoverage>() == Coverage::AHCCCS &&
          row.get<OrderKind>() == changed.get<OrderKind>() && row.get<OrderDos>() == changed.get<OrderDos>())
        return false;
  }
  return true;
}

Verdict PresumptiveLimit::checkRow(const View<PresumptiveLimit>& s, const RowView<PresumptiveLimit, table>& order) {
  return checkLimit(s, order);
}
bool PresumptiveLimit::othersStand(const View<PresumptiveLimit>& s, const Touched<PresumptiveLimit, Fields>& touched) {
  return limitOfOthersStands(s, touched);
}
Verdict DefinitiveLimit::checkRow(const View<DefinitiveLimit>& s, const RowView<DefinitiveLimit, table>& order) {
  return checkLimit(s, order);
}
bool DefinitiveLimit::othersStand(const View<DefinitiveLimit>& s, const Touched<DefinitiveLimit, Fields>& touched) {
  return limitOfOthersStands(s, touched);
}

Verdict ClaimUnique::check(const View<ClaimUnique>& s) {
  std::map<std::string_view, std::string_view> liveClaimOf;
  for (auto row : s.rows<kClaims>()) {
    if (!isLive(row) || !row.has<ClaimOrder>()) continue;
    const auto [other, first] = liveClaimOf.emplace(*row.get<ClaimOrder>(), row.key());
    if (!first)
      return Verdict::reject(named("order", *row.get<ClaimOrder>()) + named(" has two live claims:", other->second) +
                             named(" and", row.key()));
  }
  return Verdict::pass();
}

bool ClaimUnique::stillPasses(const View<ClaimUnique>& s, const Touched<ClaimUnique, Fields>& touched) {
  for (auto changed : touched.rows<kClaims>()) {
    if (!isLive(changed)) continue;
    for (auto row : s.rows<kClaims>())
      if (row.slot() != changed.slot() && isLive(row) && row.get<ClaimOrder>() == changed.get<ClaimOrder>())
        return false;
  }
  return true;
}

Verdict ClaimAfterResult::checkRow(const View<ClaimAfterResult>& s, const RowView<ClaimAfterResult, table>& claim) {
  if (!isLive(claim)) return Verdict::pass();
  if (!claim.has<ClaimOrder>()) return Verdict::reject(named("claim", claim.key()) + " names no order");
  const auto order = s.row<kOrders>(*claim.get<ClaimOrder>());
  if (order && order->has<ResultOutcome>()) return Verdict::pass();
  return Verdict::reject(named("claim", claim.key()) +
                         named(": no result is recorded for order", *claim.get<ClaimOrder>()));
}

// A claim may rest on a result that goes away.
bool ClaimAfterResult::othersStand(const View<ClaimAfterResult>&, const Touched<ClaimAfterResult, Fields>& touched) {
  return noneOf(touched.rows<kOrders>(), [&](auto row) {
    return touched.template existedBefore<ResultOutcome>(row) && !row.template has<ResultOutcome>();
  });
}

Verdict ClaimMatchesOrder::checkRow(const View<ClaimMatchesOrder>& s, const RowView<ClaimMatchesOrder, table>& claim) {
  if (!isLive(claim)) return Verdict::pass();
  if (!claim.has<ClaimOrder>()) return Verdict::reject(named("claim", claim.key()) + " names no order");
  const auto order = s.row<kOrders>(*claim.get<ClaimOrder>());
  if (!order)
    return Verdict::reject(named("claim", claim.key()) + named(" bills the unknown order", *claim.get<ClaimOrder>()));
  const auto differs = [&](std::string_view what) {
    return Verdict::reject(named("claim", claim.key()) + ": " + std::string(what) + named(" of order", order->key()));
  };
  if (order->get<OrderCoverage>() != Coverage::AHCCCS) return differs("AHCCCS is not the coverage");
  if (order->get<OrderCode>() != claim.get<ClaimCode>()) return differs("the code is not that");
  if (order->get<OrderDos>() != claim.get<ClaimDos>()) return differs("the date of service is not that");
  if (claim.get<ClaimUnits>() != 1)
    return Verdict::reject(named("claim", claim.key()) + " bills " +
                           std::to_string(claim.get<ClaimUnits>().value_or(0)) + " units, one is payable");
  return Verdict::pass();
}

// Claims may rest on an order that was rewritten (an incomplete one, after an unsafe commit).
bool ClaimMatchesOrder::othersStand(const View<ClaimMatchesOrder>&, const Touched<ClaimMatchesOrder, Fields>& touched) {
  return noneOf(touched.rows<kOrders>(), [&](auto row) {
    return touched.template existedBefore<OrderKind>(row) || touched.template existedBefore<OrderCode>(row) ||
           touched.template existedBefore<OrderDos>(row) || touched.template existedBefore<OrderCoverage>(row);
  });
}

Verdict SameDayDefinitive::checkRow(const View<SameDayDefinitive>& s, const RowView<SameDayDefinitive, table>& o) {
  if (!isCovered(o, Kind::DEFINITIVE)) return Verdict::pass();
  const auto& reason = o.get<RationaleKindOf>();
  if (reason == RationaleKind::IA_NOT_AVAILABLE || reason == RationaleKind::UNEXPECTED_RESULT) return Verdict::pass();
  for (auto p : s.rows<kOrders>()) {
    if (!isEarlierPresumptiveOf(p, o)) continue;
    const bool confirmsPositive = o.get<OrderConfirms>() == p.key() && p.get<ResultOutcome>() == Outcome::POSITIVE;
    if (!confirmsPositive && !s.waived(SameDayDefinitive::id, o.key()))
      return Verdict::escalate(named("DEFINITIVE order", o.key()) + named(" on the day of PRESUMPTIVE order", p.key()) +
                               ": neither a confirmation of a positive result nor separately justified");
  }
  return Verdict::pass();
}

// It may be the earlier one of another, unless all that is new is its rationale or its result.
bool SameDayDefinitive::othersStand(const View<SameDayDefinitive>& s,
                                    const Touched<SameDayDefinitive, Fields>& touched) {
  for (auto changed : touched.rows<kOrders>()) {
    if (!isCovered(changed, Kind::PRESUMPTIVE)) continue;
    const bool orderWritten = touched.changed<OrderKind>(changed) || touched.changed<OrderDos>(changed) ||
                              touched.changed<OrderCoverage>(changed) || touched.changed<OrderedAt>(changed);
    if (!orderWritten && !touched.existedBefore<ResultOutcome>(changed)) continue;
    for (auto row : s.rows<kOrders>())
      if (isCovered(row, Kind::DEFINITIVE) && isEarlierPresumptiveOf(changed, row) && !checkRow(s, row).passed())
        return false;
  }
  return true;
}

Verdict RelapseResponseGiven::checkRow(const View<RelapseResponseGiven>&,
                                       const RowView<RelapseResponseGiven, table>& row) {
  const auto& response = row.get<RelapseResponseOf>();
  const auto& recorded = row.get<ResultRecordedAt>();
  if (row.get<ResultOutcome>() != Outcome::POSITIVE) return Verdict::pass();
  // A response of before the result was given for something else.
  if (response && isStated(response->plan) && (!recorded || response->time >= *recorded)) return Verdict::pass();
  return Verdict::escalate(named("the positive result of order", row.key()) + " has no human response yet");
}

}  // namespace witan::domains::udt

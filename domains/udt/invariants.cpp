#include "domains/udt/invariants.h"

#include <array>
#include <map>

#include "base/utf8.h"

namespace witan::domains::udt {

namespace {

constexpr auto kClaims = &State::claims;
constexpr std::array<std::string_view, 3> kPresumptiveCodes{"80305", "80306", "80307"};
constexpr std::array<std::string_view, 5> kDefinitiveCodes{"G0480", "G0481", "G0482", "G0483", "G0659"};

template <class Codes>
bool in(const Codes& codes, std::string_view code) {
  return std::find(codes.begin(), codes.end(), code) != codes.end();
}

std::string named(std::string_view what, std::string_view key) { return std::string(what) + " " + std::string(key); }

// White space as Unicode has it (and as people paste it): it makes no rationale.
bool isBlank(char32_t c) {
  return (c >= 0x09 && c <= 0x0D) || (c >= 0x1C && c <= 0x20) || c == 0x85 || c == 0xA0 || c == 0x1680 ||
         (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 || c == 0x202F || c == 0x205F || c == 0x3000;
}

// Characters from the first to the last that is not white space. The text is valid UTF-8: it came through a codec.
std::int64_t trimmedLength(std::string_view text) {
  std::int64_t position = 0;
  std::int64_t first = -1;
  std::int64_t last = -1;
  for (std::size_t i = 0; i < text.size(); ++position) {
    const auto lead = static_cast<unsigned char>(text[i]);
    const std::size_t length = lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
    char32_t c = length == 1 ? lead : lead & (0x7Fu >> length);
    for (std::size_t k = 1; k < length && i + k < text.size(); ++k)
      c = c << 6 | (static_cast<unsigned char>(text[i + k]) & 0x3Fu);
    if (!isBlank(c)) {
      if (first < 0) first = position;
      last = position;
    }
    i += length;
  }
  return first < 0 ? 0 : last - first + 1;
}

template <class I>
bool isLive(const RowView<I, kClaims>& claim) {
  return claim.template get<ClaimStatusOf>() == ClaimStatus::SUBMITTED;
}

// All of F exist in the row, or none.
template <class... F, class Row>
bool shareKey(const Row& row) {
  const int held = (static_cast<int>(row.template has<F>()) + ...);
  return held == 0 || held == static_cast<int>(sizeof...(F));
}

Verdict checkOrderRow(const View<RefIntegrity>& s, const RowView<RefIntegrity, kOrders>& row) {
  if (!shareKey<OrderKind, OrderCode, OrderMethod, OrderDos, OrderCoverage, OrderedAt>(row))
    return Verdict::reject(named("order", row.key()) + " is incomplete");
  if (!shareKey<ResultOutcome, ResultOn, ResultRecordedAt>(row))
    return Verdict::reject(named("the result of order", row.key()) + " is incomplete");
  if (row.has<ResultOutcome>() && !row.has<OrderKind>())
    return Verdict::reject(named("a result for the unknown order", row.key()));
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

Verdict checkConfirmation(const View<NoImmunoassayConfirmation>& s,
                          const RowView<NoImmunoassayConfirmation, kOrders>& row) {
  const bool definitive = row.get<OrderKind>() == Kind::DEFINITIVE;
  const auto& method = row.get<OrderMethod>();
  if (definitive && (method == "IMMUNOASSAY" || method == "ENZYMATIC"))
    return Verdict::reject(named("order", row.key()) + " is DEFINITIVE by " + *method);
  if (!row.has<OrderConfirms>()) return Verdict::pass();
  const auto target = s.row<kOrders>(*row.get<OrderConfirms>());
  if (!definitive) return Verdict::reject(named("order", row.key()) + " confirms but is not DEFINITIVE");
  if (!target || target->get<OrderKind>() != Kind::PRESUMPTIVE)
    return Verdict::reject(named("order", row.key()) + named(" confirms", *row.get<OrderConfirms>()) +
                           ", which is not PRESUMPTIVE");
  return Verdict::pass();
}

bool isEarlierPresumptiveOf(const RowView<SameDayDefinitive, kOrders>& p,
                            const RowView<SameDayDefinitive, kOrders>& o) {
  return isCovered(p, Kind::PRESUMPTIVE) && *p.get<OrderDos>() == *o.get<OrderDos>() &&
         *p.get<OrderedAt>() < *o.get<OrderedAt>();
}

Verdict checkSameDay(const View<SameDayDefinitive>& s, const RowView<SameDayDefinitive, kOrders>& o) {
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

}  // namespace

Verdict RefIntegrity::check(const View<RefIntegrity>& s) {
  for (auto row : s.rows<kOrders>())
    if (Verdict verdict = checkOrderRow(s, row); !verdict.passed()) return verdict;
  for (auto row : s.rows<kClaims>())
    if (Verdict verdict = checkClaimRow(s, row); !verdict.passed()) return verdict;
  return Verdict::pass();
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

Verdict NoImmunoassayConfirmation::check(const View<NoImmunoassayConfirmation>& s) {
  for (auto row : s.rows<kOrders>())
    if (Verdict verdict = checkConfirmation(s, row); !verdict.passed()) return verdict;
  return Verdict::pass();
}

bool NoImmunoassayConfirmation::stillPasses(const View<NoImmunoassayConfirmation>& s,
                                            const Touched<NoImmunoassayConfirmation, Fields>& touched) {
  for (auto row : touched.rows<kOrders>()) {
    if (touched.existedBefore<OrderKind>(row) && touched.changed<OrderKind>(row))
      return false;  // others may confirm it
    if (!checkConfirmation(s, row).passed()) return false;
  }
  return true;
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
  for (auto row : s.rows<kOrders>())
    if (row.get<ResultOutcome>() == Outcome::POSITIVE && row.has<ResultOn>())
      last = std::max(last, *row.get<ResultOn>());
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

namespace {

Verdict checkClaimResult(const View<ClaimAfterResult>& s, const RowView<ClaimAfterResult, kClaims>& claim) {
  if (!isLive(claim)) return Verdict::pass();
  if (!claim.has<ClaimOrder>()) return Verdict::reject(named("claim", claim.key()) + " names no order");
  const auto order = s.row<kOrders>(*claim.get<ClaimOrder>());
  if (order && order->has<ResultOutcome>()) return Verdict::pass();
  return Verdict::reject(named("claim", claim.key()) +
                         named(": no result is recorded for order", *claim.get<ClaimOrder>()));
}

Verdict checkClaimOrder(const View<ClaimMatchesOrder>& s, const RowView<ClaimMatchesOrder, kClaims>& claim) {
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

}  // namespace

Verdict ClaimAfterResult::check(const View<ClaimAfterResult>& s) {
  for (auto claim : s.rows<kClaims>())
    if (Verdict verdict = checkClaimResult(s, claim); !verdict.passed()) return verdict;
  return Verdict::pass();
}

bool ClaimAfterResult::stillPasses(const View<ClaimAfterResult>& s, const Touched<ClaimAfterResult, Fields>& touched) {
  for (auto row : touched.rows<kOrders>())
    if (touched.existedBefore<ResultOutcome>(row) && !row.has<ResultOutcome>()) return false;  // a claim may rest on it
  for (auto claim : touched.rows<kClaims>())
    if (!checkClaimResult(s, claim).passed()) return false;
  return true;
}

Verdict ClaimMatchesOrder::check(const View<ClaimMatchesOrder>& s) {
  for (auto claim : s.rows<kClaims>())
    if (Verdict verdict = checkClaimOrder(s, claim); !verdict.passed()) return verdict;
  return Verdict::pass();
}

bool ClaimMatchesOrder::stillPasses(const View<ClaimMatchesOrder>& s,
                                    const Touched<ClaimMatchesOrder, Fields>& touched) {
  for (auto row : touched.rows<kOrders>())
    if (touched.existedBefore<OrderKind>(row) || touched.existedBefore<OrderCode>(row) ||
        touched.existedBefore<OrderDos>(row) || touched.existedBefore<OrderCoverage>(row))
      return false;  // an order that claims may rest on was rewritten (an incomplete one, after an unsafe commit)
  for (auto claim : touched.rows<kClaims>())
    if (!checkClaimOrder(s, claim).passed()) return false;
  return true;
}

Verdict SameDayDefinitive::check(const View<SameDayDefinitive>& s) {
  for (auto row : s.rows<kOrders>())
    if (Verdict verdict = checkSameDay(s, row); !verdict.passed()) return verdict;
  return Verdict::pass();
}

bool SameDayDefinitive::stillPasses(const View<SameDayDefinitive>& s,
                                    const Touched<SameDayDefinitive, Fields>& touched) {
  for (auto changed : touched.rows<kOrders>()) {
    if (!checkSameDay(s, changed).passed()) return false;
    if (!isCovered(changed, Kind::PRESUMPTIVE)) continue;
    // It may be the earlier one of another, unless all that is new is its rationale or its result.
    const bool orderWritten = touched.changed<OrderKind>(changed) || touched.changed<OrderDos>(changed) ||
                              touched.changed<OrderCoverage>(changed) || touched.changed<OrderedAt>(changed);
    if (!orderWritten && !touched.existedBefore<ResultOutcome>(changed)) continue;
    for (auto row : s.rows<kOrders>())
      if (isCovered(row, Kind::DEFINITIVE) && isEarlierPresumptiveOf(changed, row) && !checkSameDay(s, row).passed())
        return false;
  }
  return true;
}

Verdict RelapseResponseGiven::checkRow(const View<RelapseResponseGiven>&,
                                       const RowView<RelapseResponseGiven, table>& row) {
  if (row.get<ResultOutcome>() != Outcome::POSITIVE || row.has<RelapseResponseOf>()) return Verdict::pass();
  return Verdict::escalate(named("the positive result of order", row.key()) + " has no human response yet");
}

}  // namespace witan::domains::udt

#include "market/letters.h"

#include <algorithm>
#include <set>

#include "base/base64url.h"
#include "base/identity.h"

namespace witan::market {

namespace {

// [salt, name, value]; null: it is none.
json::value disclosed(const std::string& disclosure) {
  const auto bytes = fromBase64Url(disclosure);
  auto parts = bytes.ok() ? parseJson(*bytes) : Result<json::value>(bytes.error());
  const bool good = parts.ok() && parts->is_array() && parts->get_array().size() == 3 && parts->at(0).is_string() &&
                    parts->at(1).is_string();
  return good ? std::move(*parts) : json::value();
}

}  // namespace

std::string textOf(const json::object& body, std::string_view member) {
  const json::value* value = body.if_contains(member);
  return value != nullptr && value->is_string() ? std::string(value->get_string()) : std::string();
}

std::optional<std::int64_t> numberOf(const json::object& body, std::string_view member) {
  const json::value* value = body.if_contains(member);
  return value != nullptr && value->is_int64() ? std::optional(value->get_int64()) : std::nullopt;
}

std::string callNameFlaw(std::string_view call) {
  if (call.size() > kMostCallBytes) return concat("a call's name has 1 to ", kMostCallBytes, " bytes");
  if (call.find('/') != call.npos) return "a call's name has no /";
  const Status valid = validateId("a call's name", call);
  return valid.ok() ? "" : valid.error().message;
}

std::string timesFlaw(Natural deliverWithinSeconds, Natural disputeWindowSeconds) {
  if (deliverWithinSeconds > Natural(kMostSeconds) || disputeWindowSeconds > Natural(kMostSeconds))
    return "a delivery or a dispute has ten years at most";
  if (deliverWithinSeconds < 1) return "nothing can be delivered within no time";
  if (disputeWindowSeconds < Natural(kLeastWindowSeconds))
    return concat("a buyer needs ", kLeastWindowSeconds, " s at least for a dispute");
  return "";
}

std::string disclosuresFlaw(const std::vector<std::string>& disclosures) {
  std::size_t bytes = 0;
  for (const std::string& each : disclosures) bytes += each.size();
  if (bytes > kMostInputBytes) return concat("the input has more than ", kMostInputBytes, " bytes");
  std::set<std::string> names;
  for (const std::string& each : disclosures) {
    const json::value parts = disclosed(each);
    if (parts.is_null()) return "a disclosure is not base64url of [salt, name, value]";
    if (!names.emplace(parts.at(1).get_string()).second) return "two disclosures have one name";
  }
  return "";
}

json::object membersOf(const std::vector<std::string>& disclosures) {
  json::object members;
  for (const std::string& each : disclosures) {
    const json::value parts = disclosed(each);
    if (!parts.is_null()) members[parts.at(1).get_string()] = parts.at(2);
  }
  return members;
}

json::value valueOf(const std::string& text) {
  auto parsed = parseJson(text, kBundleLimits);
  return parsed.ok() ? std::move(*parsed) : json::value();
}

std::string externalId(std::string_view contract, std::string_view call) { return concat(contract, "/", call); }

std::string stepId(std::string_view external, std::string_view step, std::uint64_t attempt) {
  return attempt == 0 ? concat(external, "/", step) : concat(external, "/", step, "/", attempt);
}

void Retry::tried(Moment now, std::int64_t most) {
  last_ = now;
  next_ = {now.seconds + std::min(std::int64_t{1} << std::min(tries_, 20u), most)};
  ++tries_;
}

bool Allowance::admits(const std::string& org, Moment now, Out& out) {
  Count& count = counts_[org];
  if (count.second != now) {
    count.second = now;
    count.requests = 0;
  }
  if (++count.requests <= kRequestsPerSecond) return true;
  if (tells("flood " + org, now))
    out.incidents.push_back({"flood", org, concat("more than ", kRequestsPerSecond, " requests in a second"), {}});
  return false;
}

bool Allowance::tells(const std::string& what, Moment now) {
  std::erase_if(told_, [&](const auto& each) { return now.seconds - each.second.seconds >= 60; });
  return told_.emplace(what, now).second;
}

}  // namespace witan::market

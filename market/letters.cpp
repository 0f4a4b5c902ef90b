#include "market/letters.h"

#include <algorithm>

namespace witan::market {

std::string textOf(const json::object& body, std::string_view member) {
  const json::value* value = body.if_contains(member);
  return value != nullptr && value->is_string() ? std::string(value->get_string()) : std::string();
}

json::value valueOf(const std::string& text) {
  auto parsed = parseJson(text, kBundleLimits);
  return parsed.ok() ? std::move(*parsed) : json::value();
}

std::string externalId(std::string_view contract, std::string_view call) { return concat(contract, "/", call); }

std::string stepId(std::string_view external, std::string_view step, std::uint64_t attempt) {
  return attempt == 0 ? concat(external, "/", step) : concat(external, "/", step, "/", attempt);
}

void Retry::tried(Moment now) {
  next_ = {now.seconds + (std::int64_t{1} << std::min(tries_, 6u))};
  if (tries_ >= 6) next_.seconds = now.seconds + 60;
  ++tries_;
}

bool Allowance::admits(const std::string& org, Moment now, Out& out) {
  Count& count = counts_[org];
  if (count.second != now) {
    count.second = now;
    count.requests = 0;
  }
  if (++count.requests <= kRequestsPerSecond) return true;
  if (count.told.seconds == 0 || now.seconds - count.told.seconds >= 60) {
    count.told = now;
    out.incidents.push_back({"flood", org, concat("more than ", kRequestsPerSecond, " requests in a second"), {}});
  }
  return false;
}

}  // namespace witan::market

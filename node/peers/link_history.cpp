#include "node/peers/link_history.h"

#include <algorithm>

namespace witan::node {

namespace {

constexpr std::int64_t kShortLifeMs = 1'000;

}  // namespace

std::int64_t LinkHistory::recordEnd(const std::string& device, std::string reason, std::int64_t sinceMs,
                                    std::int64_t nowMs) {
  Past& past = past_[device];
  past.shortLived = nowMs - sinceMs < kShortLifeMs ? past.shortLived + 1 : 0;
  past.reason = std::move(reason);
  past.endedMs = nowMs;
  return past.shortLived > 2 ? 1'000LL << std::min(past.shortLived, 6u) : 0;
}

const LinkHistory::Past* LinkHistory::of(const std::string& device) const {
  const auto at = past_.find(device);
  return at == past_.end() ? nullptr : &at->second;
}

}  // namespace witan::node

// InboxClaims: who is at which item of the inbox, so that two people do not answer the same. A claim is a courtesy: it
// ends by itself, another person may take it over, and it keeps nobody from deciding.
//
// Nothing is written: a restart ends all of them, and a claim is seen at this node alone. Bounded: the claim that would
// end first makes room. For the control API; main thread only; time is an argument.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "base/message.h"
#include "base/result.h"
#include "base/time.h"

namespace witan::node {

inline constexpr std::size_t kMaxInboxClaims = 1'024;
inline constexpr std::uint64_t kMaxClaimSeconds = 120;

WITAN_STRUCT(InboxClaim, (std::string, by, "Name of the person who looks at it"),
             (std::string, window, "Where: as that window named itself; one person may have two"),
             (Time, until, "When the claim ends"))

class InboxClaims {
 public:
  // Begins or renews, of `by` in `window`; `until` is ignored. Errors: conflict, it is claimed from elsewhere and
  // `takeOver` is false.
  Result<InboxClaim> claim(const std::string& item, InboxClaim wanted, std::uint64_t seconds, bool takeOver, Time now);
  // What is claimed from elsewhere is left alone.
  void release(const std::string& item, const InboxClaim& held);
  std::optional<InboxClaim> find(const std::string& item, Time now) const;

 private:
  std::map<std::string, InboxClaim> claims_;  // by item
};

}  // namespace witan::node

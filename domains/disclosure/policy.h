// Vulnerability disclosure: the constants of the domain. An embargo regime is one of four presets, any number of which
// may be replaced: {"preset":"P0","baseDays":60}.
#pragma once

#include <cstdint>
#include <optional>

#include "base/reflect.h"
#include "base/result.h"
#include "base/time.h"

namespace witan::domains::disclosure {

// When an embargo permits disclosure; D is its deadline, P the release of the patch if it was before the disclosure.
//   LATER_OF       P ? max(D, P) : D             seed 000, Table 2
//   FIRST_OF       P ? min(D, P) : D             whichever comes first
//   P0_90_30       P and P <= D ? P + buffer : D
//   DEADLINE_ONLY  D
WITAN_ENUM(Combine, LATER_OF, FIRST_OF, P0_90_30, DEADLINE_ONLY)
// PAPER: seed 000. CERTCC: 45 days, extensions by negotiation. P0: Google Project Zero's 90+30 without its grace case.
// ANTHROPIC: its policy of 2026-03-06 without the later stage of full technical details.
WITAN_ENUM(Preset, PAPER, CERTCC, P0, ANTHROPIC)

// An embargo regime, resolved.
struct EmbargoSpec {
  std::int64_t baseDays = 90;
  std::optional<std::int64_t> maxExtensionDays = 14;  // none: by negotiation
  Combine combine = Combine::LATER_OF;
  std::int64_t bufferDays = 30;  // between patch and details, where the regime has one

  // The first instant at which the regime permits disclosure, as known at `disclosedAt`.
  Time releaseAt(Time deadline, std::optional<Time> patchReleasedAt, Time disclosedAt) const;
};

EmbargoSpec specOf(Preset preset);

// At most N reports to one maintainer of one organisation in any W days (MAINTAINER_RATE_LIMIT).
struct RateLimit {
  static constexpr std::size_t required = 0;
  std::int64_t N = 3;
  std::int64_t W = 7;
  WITAN_MEMBERS(RateLimit, N, W)
};

struct Policy {
  static constexpr std::size_t required = 0;
  Preset preset = Preset::PAPER;
  // Instead of the preset's.
  std::optional<std::int64_t> baseDays;
  std::optional<std::int64_t> maxExtensionDays;
  std::optional<Combine> combine;
  std::optional<std::int64_t> bufferDays;
  RateLimit rate;
  WITAN_MEMBERS(Policy, preset, baseDays, maxExtensionDays, combine, bufferDays, rate)

  EmbargoSpec embargo() const;
  Status validate() const;
};

}  // namespace witan::domains::disclosure

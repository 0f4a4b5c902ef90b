// Equivocation: two texts that one key has signed and that cannot both be meant. Both together are the proof.
//
// Who may call: whoever holds both texts. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kernel/market/documents.h"

namespace witan::market {

struct Equivocation {
  std::string what;               // "contract", "evidence" or "checkpoint"
  std::vector<std::string> keys;  // that signed both: hex, or of a checkpoint its verifier key
};

// Two contracts of one id between the same two; two statements of one order; two checkpoints of one size. Each text is
// an envelope, an evidence bundle or a signed checkpoint. A contract names its keys and a bundle's contract the others;
// `keys` adds evidence keys (hex) and verifier keys. Errors: a text is of none of these forms; nothing is proven.
Result<Equivocation> findEquivocation(std::string_view a, std::string_view b, const std::vector<std::string>& keys);

}  // namespace witan::market

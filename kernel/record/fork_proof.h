// ForkProof: that a device signed two heads of one log that no log which only grows can have. Whoever holds the file
// and trusts neither the cluster nor the program checks it: two signatures, and a path between two trees.
//
// Pure functions; any thread. docs/ledger-format.md, section 9, has the file.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/reflect.h"
#include "base/result.h"
#include "kernel/record/checkpoint.h"
#include "kernel/record/signed_note.h"

namespace witan::kernel {

inline constexpr std::size_t kMaxForkProofBytes = 64 * 1024;

struct ForkProof {
  std::string kind = "fork";
  std::string key;    // the signer's verifier key
  std::string first;  // the signed head of the smaller tree, or of the same size
  std::string second;
  std::string root;               // hex: that of the smaller size in the tree of `second`
  std::vector<std::string> path;  // hex: the consistency proof for that; none if both have one size
  WITAN_MEMBERS(ForkProof, kind, key, first, second, root, path)
};

// Who signed, and of which log, as the origin names it.
struct ProvenFork {
  NoteVerifier signer;
  std::string origin;
  std::string what;  // one sentence
};

// Errors: no such file; a signature or a path that does not hold; heads that one log can have. What passes proves that
// the key signed both heads; whose key it is, the caller knows from elsewhere.
Result<ProvenFork> verifyForkProof(std::string_view file);

}  // namespace witan::kernel

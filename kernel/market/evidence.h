// Evidence: what an escrow asks of contracts and statements (contractFlaw, evidenceFlaw), and what a stranger asks of a
// whole bundle, offline (verifyBundle). docs/market.md has the checks EB01 to EB17.
//
// Who may call: the domain `escrow`, `witan market verify`, the desks of buyer and seller. Pure functions: keys and
// roots come from the caller and never from a document. Input is bounded and parsed strictly before any signature is
// looked at.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "kernel/market/documents.h"

namespace witan::market {

inline constexpr std::int64_t kClockSkewSeconds = 300;  // by which the clocks of two organisations may differ

// What is proven is what the seller committed to. Part of every verification's output.
inline constexpr std::string_view kNotProven =
    "not proven: that the model ran, or that the output is right; only what the seller has signed and recorded";

// The keys that the holder has enrolled the two under.
struct Parties {
  std::string buyer, buyerKey, seller, sellerKey;
};

struct ContractReading {
  std::string flaw;  // empty, "form", "parties", "signature" or "terms"
  std::optional<Opened<Contract>> contract;
};
ContractReading readContract(std::string_view envelope, const Parties& parties);

// What a run must keep to.
struct RunLimits {
  std::vector<Model> models;
  Word policyEpoch;
  Words locales;
  Budget budget;
  Natural amount = 0;
  Moment begun, end;
};

// The call that a statement must be about.
struct CallFacts {
  std::string contract, order, call, input;
  Capability capability;
  Hex evidenceKey;
  RunLimits limits;
};

struct EvidenceReading {
  std::string flaw;    // empty, or the id of the first check that fails
  std::string digest;  // of the payload; of a text that is no envelope, of the text
  Natural charge = 0;
};
// EB01 (envelope), 07, 08, 09, 10, 11, 12, 13, in this order.
EvidenceReading readEvidence(std::string_view envelope, const CallFacts& call);

struct Verification {
  std::string id;       // empty: all checks hold
  std::string message;  // what fails
  bool ok() const { return id.empty(); }
};

inline constexpr JsonLimits kBundleLimits{.bytes = std::size_t{16} << 20, .depth = 32};
inline constexpr std::size_t kMostGrants = 64;

using Roots = std::map<std::string, PublicKey>;  // by organisation; from the verifier and from nowhere else

// Whether a grant of the organisation's trusted root is for this key and use at that moment. What is no grant does not
// count, and a list of more than kMostGrants is none.
bool isGranted(const json::value& grants, const Roots& roots, const Word& org, const Hex& key, GrantUse use, Moment at);

// The first check that fails. Total. 1,000 records take some milliseconds.
Verification verifyBundle(const json::value& bundle, const Roots& roots);
Verification verifyBundleText(std::string_view bundle, const Roots& roots);

// What the transcript lacks (EB14), or nothing. `output` is the subject's digest.
std::optional<std::string> transcriptProblem(const json::array& records, const Predicate& predicate, const Hex& output);

// RFC 6962 over the records' canonical bytes.
TranscriptHead transcriptHead(const json::array& records);

// SD-JWT (RFC 9901): base64url([salt, name, value]), its digest, and what commits to all of them.
std::string disclosureOf(std::string_view salt, std::string_view name, const json::value& value);
std::string disclosureDigest(std::string_view disclosure);
json::value commitmentTo(const std::vector<std::string>& disclosures);

// The digest of any JSON: hex of SHA-256 of its canonical text.
Hex jsonDigest(const json::value& value);

}  // namespace witan::market

// The documents of the market (docs/market.md): offers, contracts, orders, grants, statements of evidence.
//
// Who may call: the domain `escrow`, whoever verifies a bundle, whoever makes documents. Values. They are read through
// openEnvelope (kernel/market/envelope.h), which refuses everything that is not exactly of these forms.
#pragma once

#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/json_codec.h"
#include "kernel/field.h"
#include "kernel/market/envelope.h"

namespace witan::market {

// 1 to kMostCharacters characters.
inline constexpr std::size_t kMostCharacters = 4096;
struct Word : std::string {
  using std::string::string;
  Word() = default;
  Word(std::string text) : std::string(std::move(text)) {}  // NOLINT: implicit by design
};
// Sorted, each once.
struct Words : std::vector<Word> {
  using std::vector<Word>::vector;
};
// Lower-case hex of 32 bytes: a digest or a public key. Kept as text, as the ledger shows it.
struct Hex : std::string {
  using std::string::string;
  Hex() = default;
  Hex(std::string text) : std::string(std::move(text)) {}  // NOLINT: implicit by design
};
bool isHex(std::string_view text);
// The bytes. Requires: isHex.
PublicKey keyOf(const Hex& hex);

// RFC 3339, whole seconds, Z.
struct Moment {
  std::int64_t seconds = 0;
  auto operator<=>(const Moment&) const = default;
};
inline Time timeOf(Moment moment) { return Time{moment.seconds * kMicrosPerSecond}; }
inline Moment momentOf(Time time) { return {time.micros / kMicrosPerSecond}; }

// One text and no other.
template <kernel::FixedString Text>
struct Fixed {};

}  // namespace witan::market

namespace witan {

template <>
struct JsonCodec<market::Word> : JsonCodec<std::string> {
  static Status read(const json::value& v, market::Word& out, std::string_view where);
};
template <>
struct JsonCodec<market::Words> : JsonCodec<std::vector<market::Word>> {
  static Status read(const json::value& v, market::Words& out, std::string_view where);
};
template <>
struct JsonCodec<market::Hex> : JsonCodec<std::string> {
  static Status read(const json::value& v, market::Hex& out, std::string_view where);
  static std::string typeName() { return "64 hex digits"; }
};
template <>
struct JsonCodec<market::Moment> {
  static Status read(const json::value& v, market::Moment& out, std::string_view where);
  static void write(std::string& out, market::Moment v) { writeJson(out, market::timeOf(v)); }
  static std::string typeName() { return "time"; }
};
template <kernel::FixedString Text>
struct JsonCodec<market::Fixed<Text>> {
  static Status read(const json::value& v, market::Fixed<Text>&, std::string_view where) {
    if (v.is_string() && std::string_view(v.get_string()) == Text.view()) return okStatus();
    return invalid(concat(where, ": must be \"", Text.view(), "\""));
  }
  static void write(std::string& out, market::Fixed<Text>) { appendJsonString(out, Text.view()); }
  static std::string typeName() { return std::string(Text.view()); }
};

}  // namespace witan

namespace witan::market {

using Natural = std::uint64_t;  // below 2^63, as JsonCodec reads it

struct Capability {
  Word graph;
  Natural version = 0;
  Hex digest;
  WITAN_MEMBERS(Capability, graph, version, digest)
  friend bool operator==(const Capability&, const Capability&) = default;
};

struct Model {
  Word name;
  Hex digest;
  WITAN_MEMBERS(Model, name, digest)
  friend auto operator<=>(const Model&, const Model&) = default;
};

struct Budget {
  Natural steps = 0, tokens = 0, seconds = 0;
  WITAN_MEMBERS(Budget, steps, tokens, seconds)
  friend bool operator==(const Budget&, const Budget&) = default;
};

struct Offer {
  static constexpr std::string_view payloadType = "application/vnd.witan.offer+json";
  Fixed<"witan.offer/v1"> type;
  Word id, seller;
  Capability capability;
  Word policyEpoch;
  std::vector<Model> models;
  Words locales;
  Word currency;
  Natural perCall = 0;
  Budget budget;
  Moment validFrom, validUntil;
  Natural maxCalls = 0, deliverWithinSeconds = 0, disputeWindowSeconds = 0;
  WITAN_MEMBERS(Offer, type, id, seller, capability, policyEpoch, models, locales, currency, perCall, budget, validFrom,
                validUntil, maxCalls, deliverWithinSeconds, disputeWindowSeconds)
};

struct Buyer {
  Word org;
  Hex key;
  WITAN_MEMBERS(Buyer, org, key)
};

struct Seller {
  Word org;
  Hex key, evidenceKey;
  Word log;  // verifier key of its ledger (C2SP)
  WITAN_MEMBERS(Seller, org, key, evidenceKey, log)
};

struct Contract {
  static constexpr std::string_view payloadType = "application/vnd.witan.contract+json";
  Fixed<"witan.contract/v1"> type;
  Word id;
  Hex offer;
  Buyer buyer;
  Seller seller;
  Word escrow;
  Capability capability;
  Word policyEpoch;
  std::vector<Model> models;
  Words locales;
  Word currency;
  Natural perCall = 0;
  Budget budget;
  Natural total = 0, calls = 0;
  Moment signedAt, notBefore, expiry;
  Natural deliverWithinSeconds = 0, disputeWindowSeconds = 0;
  WITAN_MEMBERS(Contract, type, id, offer, buyer, seller, escrow, capability, policyEpoch, models, locales, currency,
                perCall, budget, total, calls, signedAt, notBefore, expiry, deliverWithinSeconds, disputeWindowSeconds)
};

struct Order {
  static constexpr std::string_view payloadType = "application/vnd.witan.order+json";
  Fixed<"witan.order/v1"> type;
  Hex contract;
  Word call;
  Hex input;
  Natural amount = 0;
  Words locales;
  Budget budget;
  Moment issuedAt, deliverBy;
  WITAN_MEMBERS(Order, type, contract, call, input, amount, locales, budget, issuedAt, deliverBy)
};

WITAN_ENUM(GrantUse, contract, evidence, card)

struct Grant {
  static constexpr std::string_view payloadType = "application/vnd.witan.grant+json";
  Fixed<"witan.grant/v1"> type;
  Word org;
  Hex key;
  GrantUse use = GrantUse::contract;
  Moment notBefore, notAfter;
  WITAN_MEMBERS(Grant, type, org, key, use, notBefore, notAfter)
};

struct SubjectDigest {
  Hex sha256;
  WITAN_MEMBERS(SubjectDigest, sha256)
};

struct Subject {
  Fixed<"output"> name;
  SubjectDigest digest;
  WITAN_MEMBERS(Subject, name, digest)
};

struct TranscriptHead {
  Hex root;
  Natural size = 0;
  WITAN_MEMBERS(TranscriptHead, root, size)
};

WITAN_ENUM(RunOutcome, completed, failed)

struct Predicate {
  Hex contract, order;
  Word call;
  Hex run;
  Capability capability;
  Hex input;
  Word policyEpoch;
  std::vector<Model> models;
  Words locales;
  Budget usage;
  Natural charge = 0;
  RunOutcome outcome = RunOutcome::completed;
  Moment startedAt, endedAt;
  TranscriptHead transcript;
  WITAN_MEMBERS(Predicate, contract, order, call, run, capability, input, policyEpoch, models, locales, usage, charge,
                outcome, startedAt, endedAt, transcript)
};

// In-toto v1.
struct Statement {
  static constexpr std::string_view payloadType = "application/vnd.in-toto+json";
  Fixed<"https://in-toto.io/Statement/v1"> _type;
  std::vector<Subject> subject;  // exactly one: the output
  Fixed<"urn:witan:evidence:v1"> predicateType;
  Predicate predicate;
  WITAN_MEMBERS(Statement, _type, subject, predicateType, predicate)
  const Hex& output() const { return subject.front().digest.sha256; }
};

Result<Opened<Statement>> openStatement(const json::value& from);

// Narrowing (M-03): what is inside lies within what is outside.
bool isWithin(const Words& inner, const Words& outer);
bool isWithin(const std::vector<Model>& inner, const std::vector<Model>& outer);
bool isWithin(const Budget& inner, const Budget& outer);

// Empty, or what of the contract is wider than the offer, or not equal to it. `digest` is the offer's.
std::string widerThanOffer(const Contract& contract, const Offer& offer, std::string_view digest);
// Empty, or what of the order is wider than the contract. `digest` is the contract's.
std::string widerThanContract(const Order& order, const Contract& contract, std::string_view digest);

}  // namespace witan::market

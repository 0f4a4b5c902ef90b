#include "kernel/market/evidence.h"

#include <algorithm>
#include <set>

#include "base/base64url.h"
#include "kernel/market/record.h"
#include "kernel/record/checkpoint.h"
#include "kernel/record/entry.h"
#include "kernel/record/merkle.h"

namespace witan::market {

using kernel::leafHash;

namespace {

constexpr std::size_t kMostPath = 64;

struct Receipt {
  Word entry;  // base64
  Natural index = 0;
  std::vector<std::string> path;  // base64
  Word checkpoint;
  WITAN_MEMBERS(Receipt, entry, index, path, checkpoint)
};

struct Commitment {
  Words _sd;
  Fixed<"sha-256"> _sd_alg;
  WITAN_MEMBERS(Commitment, _sd, _sd_alg)
};

// What a run kept to, or the id of the first check that it did not (EB09 to EB13).
Verification checkRun(const Predicate& p, const RunLimits& limits) {
  if (p.models.empty() || !isWithin(p.models, limits.models))
    return {"EB09", p.models.empty() ? "no model is named" : "a model ran that the contract does not allow"};
  if (p.policyEpoch != limits.policyEpoch) return {"EB10", "the policy epoch is not the contract's"};
  if (!isWithin(p.locales, limits.locales)) return {"EB11", "it ran in a locale that the order does not allow"};
  if (!isWithin(p.usage, limits.budget)) return {"EB12", "the usage exceeds the budget"};
  if (p.charge > limits.amount) return {"EB12", "the charge exceeds the amount"};
  if (p.outcome == RunOutcome::failed && p.charge != 0) return {"EB12", "a failed run is charged"};
  if (p.startedAt.seconds < limits.begun.seconds - kClockSkewSeconds || p.startedAt > p.endedAt ||
      p.endedAt.seconds > limits.end.seconds + kClockSkewSeconds)
    return {"EB13", "the run did not take place in its time"};
  return {};
}

bool holdsFloat(const json::value& value) {
  if (value.is_double()) return true;
  if (const json::array* list = value.if_array()) return std::ranges::any_of(*list, holdsFloat);
  if (const json::object* object = value.if_object())
    return std::ranges::any_of(*object, [](const auto& member) { return holdsFloat(member.value()); });
  return false;
}

std::optional<std::string> receiptProblem(const json::value& from, const std::string& log,
                                          const std::string& statement) {
  Receipt receipt;
  if (const Status read = readJson(from, receipt, "receipt"); !read.ok()) return read.error().message;
  if (receipt.path.size() > kMostPath) return "receipt.path: too long";
  const auto bytes = fromBase64(receipt.entry);
  if (!bytes.ok()) return "receipt.entry: " + bytes.error().message;
  const auto entry = kernel::readEntry(*bytes);
  if (!entry.ok()) return "receipt.entry: " + entry.error().message;
  if (entry->operationId != "evidence:" + statement) return "the entry is not of this statement";
  const auto verifier = kernel::parseVerifierKey(log);
  if (!verifier.ok()) return "the contract's log: " + verifier.error().message;
  const auto opened = kernel::openCheckpoint(receipt.checkpoint, verifier->name, {&*verifier, 1});
  if (!opened.ok()) return "receipt.checkpoint: " + opened.error().message;
  std::vector<Hash> path;
  for (const std::string& each : receipt.path) {
    const auto node = fromBase64(each);
    if (!node.ok() || node->size() != sizeof(Hash)) return "receipt.path: no list of hashes";
    std::copy_n(node->begin(), sizeof(Hash), path.emplace_back().begin());
  }
  const kernel::Checkpoint& head = opened->checkpoint;
  if (!kernel::verifyInclusion(leafHash(*bytes), receipt.index, head.size, path, head.root))
    return "the path does not lead from the entry to the checkpoint";
  return std::nullopt;
}

std::optional<std::string> inputProblem(const json::value& input, const Commitment& commitment,
                                        const json::array& disclosures, const Hex& digest) {
  if (jsonDigest(input) != digest) return "the commitment is not the order's input";
  for (const json::value& each : disclosures) {
    if (!each.is_string()) return "a disclosure is no text";
    const std::string text(each.get_string());
    const auto bytes = fromBase64Url(text);
    const auto parts = bytes.ok() ? parseJson(*bytes, kBundleLimits) : Result<json::value>(bytes.error());
    Word salt, name;
    if (!parts.ok() || !parts->is_array() || parts->get_array().size() != 3 || holdsFloat(*parts) ||
        !readJson(parts->at(0), salt, "salt").ok() || !readJson(parts->at(1), name, "name").ok())
      return "a disclosure is no [salt, name, value]";
    if (!std::ranges::binary_search(commitment._sd, Word(disclosureDigest(text))))
      return "a disclosure is not among those that the input commits to: " + std::string(clip(name));
  }
  return std::nullopt;
}

bool covers(const Opened<Grant>& grant, const PublicKey& root, const Word& org, const Hex& key, GrantUse use,
            Moment at) {
  const Grant& g = grant.document;
  return g.org == org && g.key == key && g.use == use && g.notBefore <= at && at < g.notAfter &&
         isSignedBy(grant.text, root);
}

// The documents of a bundle, each of its form (EB01).
struct Documents {
  Opened<Offer> offer;
  Opened<Contract> contract;
  Opened<Order> order;
  Opened<Statement> evidence;
  std::vector<Opened<Grant>> grants;
  Commitment commitment;
};

template <class D>
Status openAs(const json::object& bundle, const char* member, Opened<D>& into) {
  auto opened = openEnvelope<D>(bundle.at(member));
  if (!opened.ok()) return invalid(concat(member, ": ", opened.error().message));
  into = std::move(*opened);
  return okStatus();
}

constexpr const char* kMembers[] = {"type",    "grants",     "offer", "contract",    "order", "evidence",
                                    "receipt", "transcript", "input", "disclosures", "output"};

Result<Documents> readDocuments(const json::object& bundle) {
  for (const char* member : kMembers)
    if (!bundle.contains(member)) return invalid(concat("\"", member, "\" is missing"));
  if (bundle.size() != std::size(kMembers)) return invalid("there is an unknown member");
  Fixed<"witan.evidence-bundle/v1"> type;
  WITAN_DO(readJson(bundle.at("type"), type, "type"));
  for (const char* member : {"grants", "transcript", "disclosures"})
    if (!bundle.at(member).is_array()) return invalid(concat(member, ": must be a list"));
  Documents all;
  WITAN_DO(openAs(bundle, "offer", all.offer));
  WITAN_DO(openAs(bundle, "contract", all.contract));
  WITAN_DO(openAs(bundle, "order", all.order));
  WITAN_DO(openAs(bundle, "evidence", all.evidence));
  if (all.evidence.document.subject.size() != 1) return invalid("evidence: exactly one subject");
  const json::array& grants = bundle.at("grants").get_array();
  if (grants.size() > kMostGrants) return invalid(concat("grants: at most ", kMostGrants));
  for (const json::value& each : grants) {
    auto grant = openEnvelope<Grant>(each);
    if (!grant.ok()) return invalid("grants: " + grant.error().message);
    all.grants.push_back(std::move(*grant));
  }
  WITAN_DO(readJson(bundle.at("input"), all.commitment, "input"));
  if (std::ranges::any_of(bundle, [](const auto& member) { return holdsFloat(member.value()); }))
    return invalid("a number is no integer");
  return all;
}

// The checks that need no more than the signed documents: EB02 to EB13.
class DocumentChecks {
 public:
  DocumentChecks(const Documents& all, const Roots& roots) : all_(all), roots_(roots) {}

  Verification run() const {
    for (const auto check : {&DocumentChecks::grants, &DocumentChecks::offer, &DocumentChecks::contract,
                             &DocumentChecks::order, &DocumentChecks::evidence})
      if (Verification found = (this->*check)(); !found.ok()) return found;
    return {};
  }

 private:
  bool granted(const Word& org, const Hex& key, GrantUse use, Moment at) const {
    const auto root = roots_.find(org);
    return root != roots_.end() && std::ranges::any_of(all_.grants, [&](const Opened<Grant>& each) {
             return covers(each, root->second, org, key, use, at);
           });
  }

  Verification grants() const {
    const auto lacks = [](const Word& org, const char* what) {
      return Verification{"EB02", concat("no root that is trusted has granted the ", what, " key of ", clip(org))};
    };
    if (!granted(c_.buyer.org, c_.buyer.key, GrantUse::contract, c_.signedAt)) return lacks(c_.buyer.org, "contract");
    if (!granted(c_.seller.org, c_.seller.key, GrantUse::contract, c_.signedAt))
      return lacks(c_.seller.org, "contract");
    if (!granted(c_.seller.org, c_.seller.evidenceKey, GrantUse::evidence, p_.endedAt))
      return lacks(c_.seller.org, "evidence");
    return {};
  }

  Verification offer() const {
    const Offer& offer = all_.offer.document;
    if (offer.seller != c_.seller.org) return {"EB03", "the offer is of another seller"};
    if (!isSignedBy(all_.offer.text, keyOf(c_.seller.key))) return {"EB03", "the seller has not signed the offer"};
    if (c_.signedAt < offer.validFrom || c_.signedAt >= offer.validUntil)
      return {"EB03", "the offer was not valid when the contract was signed"};
    return {};
  }

  Verification contract() const {
    if (!isSignedBy(all_.contract.text, keyOf(c_.buyer.key))) return {"EB04", "the buyer has not signed the contract"};
    if (!isSignedBy(all_.contract.text, keyOf(c_.seller.key)))
      return {"EB04", "the seller has not signed the contract"};
    const std::string wider = widerThanOffer(c_, all_.offer.document, all_.offer.digest);
    return wider.empty() ? Verification{} : Verification{"EB05", wider};
  }

  Verification order() const {
    if (!isSignedBy(all_.order.text, keyOf(c_.buyer.key))) return {"EB06", "the buyer has not signed the order"};
    const std::string wider = widerThanContract(o_, c_, all_.contract.digest);
    return wider.empty() ? Verification{} : Verification{"EB06", wider};
  }

  Verification evidence() const {
    if (!isSignedBy(all_.evidence.text, keyOf(c_.seller.evidenceKey)))
      return {"EB07", "the contract's evidence key has not signed the evidence"};
    if (p_.contract != all_.contract.digest || p_.order != all_.order.digest || p_.call != o_.call ||
        p_.input != o_.input || p_.capability != c_.capability)
      return {"EB08", "the evidence is of another contract, order, call, input or capability"};
    return checkRun(p_, {c_.models, c_.policyEpoch, o_.locales, o_.budget, o_.amount, o_.issuedAt, o_.deliverBy});
  }

  const Documents& all_;
  const Roots& roots_;
  const Contract& c_ = all_.contract.document;
  const Order& o_ = all_.order.document;
  const Predicate& p_ = all_.evidence.document.predicate;
};

}  // namespace

bool isGranted(const json::value& grants, const Roots& roots, const Word& org, const Hex& key, GrantUse use,
               Moment at) {
  const auto root = roots.find(org);
  const json::array* list = grants.if_array();
  return root != roots.end() && list != nullptr && list->size() <= kMostGrants &&
         std::ranges::any_of(*list, [&](const json::value& each) {
           const auto grant = openEnvelope<Grant>(each);
           return grant.ok() && covers(*grant, root->second, org, key, use, at);
         });
}

Hex jsonDigest(const json::value& value) { return toHex(sha256(canonicalJson(value))); }

ContractReading readContract(std::string_view envelope, const Parties& parties) {
  const auto from = parseJson(envelope, {.bytes = kMostEnvelopeBytes});
  auto opened = from.ok() ? openEnvelope<Contract>(*from) : Result<Opened<Contract>>(from.error());
  if (!opened.ok()) return {"form", {}};
  const Contract& c = opened->document;
  if (!kernel::parseVerifierKey(c.seller.log).ok()) return {"form", {}};
  if (c.buyer.org != parties.buyer || c.buyer.key != parties.buyerKey || c.seller.org != parties.seller ||
      c.seller.key != parties.sellerKey)
    return {"parties", {}};
  if (!isSignedBy(opened->text, keyOf(c.buyer.key)) || !isSignedBy(opened->text, keyOf(c.seller.key)))
    return {"signature", {}};
  if (c.notBefore >= c.expiry || c.perCall < 1 || c.total < 1 || c.calls < 1) return {"terms", {}};
  return {"", std::move(*opened)};
}

EvidenceReading readEvidence(std::string_view envelope, const CallFacts& call) {
  const auto from = parseJson(envelope, {.bytes = kMostEnvelopeBytes});
  const auto opened = from.ok() ? openStatement(*from) : Result<Opened<Statement>>(from.error());
  if (!opened.ok()) return {"EB01", toHex(sha256(envelope)), 0};
  const Predicate& p = opened->document.predicate;
  EvidenceReading reading{"", opened->digest, p.charge};
  if (!isSignedBy(opened->text, keyOf(call.evidenceKey)))
    reading.flaw = "EB07";
  else if (p.contract != call.contract || p.call != call.call || p.order != call.order || p.input != call.input ||
           p.capability != call.capability)
    reading.flaw = "EB08";
  else
    reading.flaw = checkRun(p, call.limits).id;
  return reading;
}

Verification verifyBundle(const json::value& from, const Roots& roots) {
  if (!from.is_object()) return {"EB01", "the bundle is no object"};
  const json::object& bundle = from.get_object();
  const auto all = readDocuments(bundle);
  if (!all.ok()) return {"EB01", all.error().message};
  if (Verification found = DocumentChecks(*all, roots).run(); !found.ok()) return found;
  const Statement& statement = all->evidence.document;
  const Predicate& p = statement.predicate;
  if (auto problem = transcriptProblem(bundle.at("transcript").get_array(), p, statement.output()))
    return {"EB14", *std::move(problem)};
  if (const json::value& output = bundle.at("output"); !output.is_null() && jsonDigest(output) != statement.output())
    return {"EB15", "the output is another than the evidence names"};
  if (auto problem = receiptProblem(bundle.at("receipt"), all->contract.document.seller.log, all->evidence.digest))
    return {"EB16", *std::move(problem)};
  if (auto problem = inputProblem(bundle.at("input"), all->commitment, bundle.at("disclosures").get_array(), p.input))
    return {"EB17", *std::move(problem)};
  return {};
}

Verification verifyBundleText(std::string_view text, const Roots& roots) {
  const auto bundle = parseJson(text, kBundleLimits);
  if (!bundle.ok()) return {"EB01", bundle.error().message};
  return verifyBundle(*bundle, roots);
}

std::string disclosureOf(std::string_view salt, std::string_view name, const json::value& value) {
  return toBase64Url(canonicalJson(json::array{salt, name, value}));
}

std::string disclosureDigest(std::string_view disclosure) { return toBase64Url(asView(sha256(disclosure))); }

json::value commitmentTo(const std::vector<std::string>& disclosures) {
  std::set<std::string> digests;
  for (const std::string& each : disclosures) digests.insert(disclosureDigest(each));
  return json::object{{"_sd", json::array(digests.begin(), digests.end())}, {"_sd_alg", "sha-256"}};
}

TranscriptHead transcriptHead(const json::array& records) {
  kernel::MerkleFrontier tree;
  std::string bytes;
  for (const json::value& each : records) {
    bytes.clear();
    appendCanonicalJson(bytes, each);
    tree.append(leafHash(bytes));
  }
  return {toHex(tree.root()), tree.size()};
}

}  // namespace witan::market

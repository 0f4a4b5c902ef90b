#include "kernel/market/equivocation.h"

#include <algorithm>
#include <set>

#include "kernel/market/evidence.h"
#include "kernel/record/checkpoint.h"

namespace witan::market {

namespace {

using kernel::NoteVerifier;

// What one text holds, and the keys by which the rest of it can be judged.
struct Exhibit {
  std::vector<Opened<Contract>> contracts;
  std::vector<Opened<Statement>> statements;
  std::vector<std::string> notes;
};

struct Keys {
  std::set<std::string> evidence;
  std::vector<NoteVerifier> logs;

  void add(const Contract& contract) {
    evidence.insert(contract.seller.evidenceKey);
    if (const auto log = kernel::parseVerifierKey(contract.seller.log); log.ok()) logs.push_back(*log);
  }
};

void addEnvelope(Exhibit& exhibit, const json::value& envelope) {
  if (auto contract = openEnvelope<Contract>(envelope); contract.ok())
    exhibit.contracts.push_back(std::move(*contract));
  if (auto statement = openStatement(envelope); statement.ok()) exhibit.statements.push_back(std::move(*statement));
}

Result<Exhibit> readExhibit(std::string_view text) {
  Exhibit exhibit;
  const auto parsed = parseJson(text, kBundleLimits);
  if (!parsed.ok()) {
    if (text.find("\n\n") == text.npos)
      return invalid("no envelope, bundle or signed checkpoint: " + parsed.error().message);
    exhibit.notes.emplace_back(text);
    return exhibit;
  }
  addEnvelope(exhibit, *parsed);
  const json::object* bundle = parsed->if_object();
  if (bundle != nullptr && bundle->contains("contract") && bundle->contains("evidence")) {
    addEnvelope(exhibit, bundle->at("contract"));
    addEnvelope(exhibit, bundle->at("evidence"));
    const json::value* receipt = bundle->if_contains("receipt");
    const json::object* members = receipt != nullptr ? receipt->if_object() : nullptr;
    const json::value* note = members != nullptr ? members->if_contains("checkpoint") : nullptr;
    if (note != nullptr && note->is_string()) exhibit.notes.emplace_back(std::string_view(note->get_string()));
  }
  if (exhibit.contracts.empty() && exhibit.statements.empty())
    return invalid("it holds no contract, no statement of evidence and no signed checkpoint");
  return exhibit;
}

template <class D>
std::vector<std::string> signersOfBoth(const Opened<D>& a, const Opened<D>& b, const std::set<std::string>& keys) {
  std::vector<std::string> both;
  for (const std::string& key : keys)
    if (isHex(key) && isSignedBy(a.text, keyOf(Hex(key))) && isSignedBy(b.text, keyOf(Hex(key)))) both.push_back(key);
  return both;
}

std::vector<std::string> twoContracts(const Opened<Contract>& a, const Opened<Contract>& b) {
  const Contract &c = a.document, &d = b.document;
  if (a.digest == b.digest || c.id != d.id || c.buyer.org != d.buyer.org || c.seller.org != d.seller.org) return {};
  return signersOfBoth(a, b, {c.buyer.key, c.seller.key});
}

std::vector<std::string> twoStatements(const Opened<Statement>& a, const Opened<Statement>& b,
                                       const std::set<std::string>& keys) {
  const Predicate &p = a.document.predicate, &q = b.document.predicate;
  if (a.digest == b.digest || p.contract != q.contract || p.order != q.order) return {};
  return signersOfBoth(a, b, keys);
}

std::vector<std::string> twoHeads(const std::string& a, const std::string& b, const std::vector<NoteVerifier>& logs) {
  std::vector<std::string> both;
  for (const NoteVerifier& log : logs) {
    const auto one = kernel::openCheckpoint(a, log.name, {&log, 1});
    const auto other = kernel::openCheckpoint(b, log.name, {&log, 1});
    if (one.ok() && other.ok() && one->checkpoint.size == other->checkpoint.size &&
        one->checkpoint.root != other->checkpoint.root)
      both.push_back(kernel::verifierKeyText(log));
  }
  return both;
}

// The first pair of the two lists that somebody has signed both of.
template <class T, class Test>
std::vector<std::string> firstPair(const std::vector<T>& a, const std::vector<T>& b, Test test) {
  for (const T& one : a)
    for (const T& other : b)
      if (auto keys = test(one, other); !keys.empty()) return keys;
  return {};
}

}  // namespace

Result<Equivocation> findEquivocation(std::string_view a, std::string_view b, const std::vector<std::string>& given) {
  WITAN_TRY(one, readExhibit(a));
  WITAN_TRY(other, readExhibit(b));
  Keys keys;
  for (const Exhibit* exhibit : {&one, &other})
    for (const auto& contract : exhibit->contracts) keys.add(contract.document);
  for (const std::string& each : given) {
    if (isHex(each)) {
      keys.evidence.insert(each);
      continue;
    }
    WITAN_TRY(log, kernel::parseVerifierKey(each));
    keys.logs.push_back(std::move(log));
  }
  if (auto both = firstPair(one.contracts, other.contracts, twoContracts); !both.empty())
    return Equivocation{"contract", std::move(both)};
  const auto statements = [&](const auto& x, const auto& y) { return twoStatements(x, y, keys.evidence); };
  if (auto both = firstPair(one.statements, other.statements, statements); !both.empty())
    return Equivocation{"evidence", std::move(both)};
  const auto heads = [&](const auto& x, const auto& y) { return twoHeads(x, y, keys.logs); };
  if (auto both = firstPair(one.notes, other.notes, heads); !both.empty())
    return Equivocation{"checkpoint", std::move(both)};
  return notFound("no key that is known has signed two texts that exclude each other",
                  "name the key of evidence or ledger with --key");
}

}  // namespace witan::market

#include "market/testing/market_toy.h"

#include <array>

#include "base/capnp_codec.h"
#include "kernel/record/checkpoint.h"
#include "kernel/record/entry.h"
#include "kernel/record/merkle.h"

namespace witan::market {

namespace {

constexpr const char* kLogName = "witan/lab";

json::value parsed(std::string_view text) { return parseJson(text, kBundleLimits).value(); }

json::object record(std::size_t n, std::string_view kind) {
  return {{"n", std::int64_t(n)}, {"kind", kind}, {"policyEpoch", "lab-policy-5"}};
}

json::object looked(std::size_t n) {
  json::object look = record(n, "look");
  look["span"] = "l" + std::to_string(n);
  look["tool"] = "journal.read";
  look["input"] = toyDigest("question " + std::to_string(n));
  look["output"] = toyDigest("answer " + std::to_string(n));
  look["locales"] = json::array{"eu"};
  return look;
}

}  // namespace

SigningKey toyKey(std::string_view name) {
  return SigningKey::fromSeed(asView(sha256(concat("witan toy ", name)))).value();
}

Hex hexOf(const SigningKey& key) { return toHex(key.publicKey()); }

Moment momentAt(std::string_view time) { return momentOf(parseTime(time).value()); }

MarketToy::MarketToy() {
  offer.id = "offer-7";
  offer.seller = "lab";
  offer.capability = {"lab.summarise", 3, toyDigest("graph")};
  offer.policyEpoch = "lab-policy-5";
  offer.models = {{"summariser", toyDigest("summariser")}, {"checker", toyDigest("checker")}};
  offer.locales = {"ch", "eu"};
  offer.currency = "EUR.cent";
  offer.perCall = 500;
  offer.budget = {200'000, 5'000, 600};
  offer.validFrom = momentAt("2026-03-01T00:00:00Z");
  offer.validUntil = momentAt("2026-04-01T00:00:00Z");
  offer.maxCalls = 50;
  offer.deliverWithinSeconds = 3'600;
  offer.disputeWindowSeconds = 86'400;
  contract.id = "contract-1";
  contract.offer = jsonDigest(parsed(toJson(offer)));
  contract.buyer = {"clinic", hexOf(clinic)};
  const auto verifier = kernel::makeNoteVerifier(kLogName, log.publicKey()).value();
  contract.seller = {"lab", hexOf(lab), hexOf(evidence), kernel::verifierKeyText(verifier)};
  contract.escrow = "notary";
  contract.capability = offer.capability;
  contract.policyEpoch = offer.policyEpoch;
  contract.models = {offer.models.front()};
  contract.locales = {"eu"};
  contract.currency = offer.currency;
  contract.perCall = 400;
  contract.budget = {100'000, 2'000, 600};
  contract.total = 1'000;
  contract.calls = 5;
  contract.signedAt = contract.notBefore = momentAt("2026-03-02T00:00:00Z");
  contract.expiry = momentAt("2026-03-20T00:00:00Z");
  contract.deliverWithinSeconds = 3'600;
  contract.disputeWindowSeconds = 86'400;
}

Roots MarketToy::roots() const { return {{"clinic", clinicRoot.publicKey()}, {"lab", labRoot.publicKey()}}; }

json::object MarketToy::partyFields() const {
  return {{"party.buyer", "clinic"},
          {"party.buyerKey", contract.buyer.key},
          {"party.seller", "lab"},
          {"party.sellerKey", contract.seller.key}};
}

std::string MarketToy::contractEnvelope() const {
  const std::array keys{clinic, lab};
  return sealedDocument(contract, keys);
}

std::string MarketToy::contractDigest() const { return toHex(sha256(toJson(contract))); }

std::vector<std::string> MarketToy::disclosures() const {
  return {disclosureOf("s4lt-one-0001", "patient", "P-17"),
          disclosureOf("s4lt-two-0002", "text", "three relapses since March")};
}

json::value MarketToy::input() const { return commitmentTo(disclosures()); }

Order MarketToy::order(std::string_view call) const {
  Order order;
  order.contract = contractDigest();
  order.call = std::string(call);
  order.input = jsonDigest(input());
  order.amount = 300;
  order.locales = {"eu"};
  order.budget = {50'000, 1'500, 300};
  order.issuedAt = momentAt("2026-03-03T09:00:00Z");
  order.deliverBy = momentAt("2026-03-03T10:00:00Z");
  return order;
}

json::value MarketToy::output() const { return json::object{{"summary", "relapses are documented"}, {"count", 3}}; }

json::array MarketToy::transcript(std::size_t looks) const {
  json::array records;
  records.push_back(record(0, "begin"));
  records.back().as_object()["input"] = jsonDigest(input());
  while (records.size() <= looks) records.push_back(looked(records.size()));
  json::object model = record(records.size(), "model");
  model["span"] = "m1";
  model["model"] = parsed(toJson(contract.models.front()));
  model["input"] = toyDigest("prompt");
  model["output"] = toyDigest("completion");
  model["tokens"] = 900;
  model["locales"] = json::array{"eu"};
  records.push_back(std::move(model));
  json::object act = record(records.size(), "act");
  act["span"] = "a1";
  act["tool"] = "journal.put";
  act["input"] = toyDigest("written");
  act["locales"] = json::array{"eu"};
  records.push_back(std::move(act));
  json::object outcome = record(records.size(), "outcome");
  outcome["span"] = "a1";
  outcome["result"] = "applied";
  outcome["output"] = toyDigest("receipt");
  records.push_back(std::move(outcome));
  records.push_back(record(records.size(), "end"));
  records.back().as_object()["output"] = jsonDigest(output());
  return records;
}

Statement MarketToy::statement(const Order& order, const json::array& records) const {
  Statement statement;
  statement.subject.push_back({{}, {jsonDigest(output())}});
  Predicate& p = statement.predicate;
  p.contract = order.contract;
  p.order = toHex(sha256(toJson(order)));
  p.call = order.call;
  p.run = toyDigest("run " + order.call);
  p.capability = contract.capability;
  p.input = order.input;
  p.policyEpoch = contract.policyEpoch;
  p.models = contract.models;
  p.locales = {"eu"};
  p.usage = {records.size() - 3, 900, 40};  // but begin, outcome and end
  p.charge = 250;
  p.startedAt = momentAt("2026-03-03T09:01:00Z");
  p.endedAt = momentAt("2026-03-03T09:02:00Z");
  p.transcript = transcriptHead(records);
  return statement;
}

std::string MarketToy::evidenceEnvelope(const Statement& statement) const {
  return sealedDocument(statement, {&evidence, 1});
}

json::object MarketToy::receipt(std::string_view statementDigest) const {
  WordWriter writer;
  kernel::MemoryTree tree;
  std::string entry;
  for (int n = 0; n < 5; ++n) {
    kernel::Entry each;
    each.seq = std::uint64_t(n) + 1;
    each.operationId = n == 3 ? concat("evidence:", statementDigest) : "other " + std::to_string(n);
    const std::string bytes(writer.message(each));
    tree.append(kernel::leafHash(bytes));
    if (n == 3) entry = bytes;
  }
  json::array path;
  const auto proof = kernel::inclusionProof(3, tree.size(), tree).value();
  for (const Hash& node : proof) path.emplace_back(toBase64(asView(node)));
  const std::string head = kernel::signCheckpoint({kLogName, tree.size(), tree.root(), {}}, log).value();
  return {{"entry", toBase64(entry)}, {"index", 3}, {"path", std::move(path)}, {"checkpoint", head}};
}

json::object MarketToy::bundleOf(const Order& order, const Statement& statement, json::array records) const {
  const auto grant = [](std::string_view org, const SigningKey& key, GrantUse use, const SigningKey& root) {
    Grant g;
    g.org = std::string(org);
    g.key = hexOf(key);
    g.use = use;
    g.notBefore = momentAt("2026-01-01T00:00:00Z");
    g.notAfter = momentAt("2027-01-01T00:00:00Z");
    return parsed(sealedDocument(g, {&root, 1}));
  };
  const auto given = disclosures();
  return {{"type", "witan.evidence-bundle/v1"},
          {"grants", json::array{grant("clinic", clinic, GrantUse::contract, clinicRoot),
                                 grant("lab", lab, GrantUse::contract, labRoot),
                                 grant("lab", evidence, GrantUse::evidence, labRoot)}},
          {"offer", parsed(sealedDocument(offer, {&lab, 1}))},
          {"contract", parsed(contractEnvelope())},
          {"order", parsed(sealedDocument(order, {&clinic, 1}))},
          {"evidence", parsed(evidenceEnvelope(statement))},
          {"receipt", receipt(toHex(sha256(toJson(statement))))},
          {"transcript", std::move(records)},
          {"input", input()},
          {"disclosures", json::array(given.begin(), given.end())},
          {"output", output()}};
}

json::object MarketToy::bundle(std::size_t looks) const {
  const Order ordered = order("C1");
  json::array records = transcript(looks);
  const Statement made = statement(ordered, records);
  return bundleOf(ordered, made, std::move(records));
}

SellerSetup sellerOf(const MarketToy& toy) {
  const json::object bundle = toy.bundle();
  const json::array& grants = bundle.at("grants").as_array();
  return {"lab",
          toy.lab,
          toy.evidence,
          toy.contract.seller.log,
          {sealedDocument(toy.offer, {&toy.lab, 1})},
          json::array(grants.begin() + 1, grants.end()),
          toy.roots(),
          {"notary"}};
}

json::value filledUp(const std::string& envelope, std::size_t signatures, std::size_t bytes) {
  json::value full = parsed(envelope);
  json::array& list = full.at("signatures").as_array();
  while (list.size() < signatures) list.push_back(list.front());
  const std::size_t size = canonicalJson(full).size();
  json::value& hint = list.back().at("keyid");
  if (bytes > size) hint = std::string(bytes - size + hint.get_string().size(), 'k');
  return full;
}

// ---- random lives

namespace {

class Life {
 public:
  Life(std::uint64_t seed, int unsafePercent) : random_(seed), unsafePercent_(unsafePercent) {}

  std::vector<json::object> lines() {
    push({{"init", toy().partyFields()}});
    say("Buyer", "OpenContract", {{"envelope", kOpening}});
    if (percent(10)) say("Buyer", "OpenContract", {{"envelope", kOpening}});
    say("Holder", "Deposit", {{"reference", "first"}, {"amount", 1000}});
    for (std::uint64_t n = 10 + random_.below(30); n > 0; --n) {
      constexpr std::int64_t kSteps[] = {0, 1, 30, 60, 60, 300, 600, 600, 1'800, 80'000};
      at_.seconds += kSteps[random_.below(std::size(kSteps))];
      const std::string call = "C" + std::to_string(1 + random_.below(3));
      percent(60) ? next(call) : step(call);
      if (percent(3)) rule(call);
    }
    return std::move(lines_);
  }

 private:
  static const MarketToy& toy() {
    static const MarketToy toy;
    return toy;
  }
  static inline const std::string kOpening = toy().contractEnvelope();

  bool percent(std::uint64_t n) { return random_.below(100) < n; }
  template <class T>
  T oneOf(std::initializer_list<T> all) {
    return *(all.begin() + random_.below(all.size()));
  }
  void push(json::object line) {
    line["at"] = formatTime(timeOf(at_));
    line["entity"] = "K";
    const bool twice = line.contains("role") && percent(5);
    if (twice) line["operationId"] = "op-" + std::to_string(lines_.size());
    if (twice) lines_.push_back(line);
    lines_.push_back(std::move(line));
  }
  void say(std::string_view role, std::string_view type, json::object action) {
    action["type"] = type;
    push({{"role", role}, {"action", std::move(action)}});
  }
  void sayOf(std::string_view role, std::string_view type, const std::string& call, json::object action = {}) {
    action["call"] = call;
    say(role, type, std::move(action));
  }

  // What comes next in a call that goes well, or is disputed.
  void next(const std::string& call) {
    const int stage = stages_[call]++;
    if (stage == 0) return reserve(call);
    if (stage == 1) return deliver(call);
    if (stage == 2 && percent(70)) return sayOf("Buyer", "Dispute", call, {{"reason", "r"}});
    if (stage == 3) {
      sayOf("Holder", "RequestRuling", call);
      return rule(call);
    }
    sayOf("Holder", "Settle", call);
  }
  void step(const std::string& call) {
    switch (random_.below(16)) {
      case 0:
        return say("Holder", "Deposit",
                   {{"reference", "p" + std::to_string(random_.below(10))}, {"amount", oneOf<int>({100, 400, 0, -1})}});
      case 1:
      case 2:
      case 3: return reserve(call);
      case 4:
      case 5:
      case 6: return deliver(call);
      case 7: return sayOf("Buyer", "Accept", call);
      case 8: return sayOf("Buyer", "Dispute", call, {{"reason", "r"}});
      case 9: return percent(70) ? sayOf("Seller", "Claim", call) : sayOf("Seller", "Decline", call, {{"reason", "x"}});
      case 10: return sayOf("Buyer", "Reclaim", call);
      case 11: return sayOf("Holder", "Settle", call);
      case 12:
        return say("Holder", "PayOut",
                   {{"reference", "o" + std::to_string(random_.below(10))},
                    {"party", percent(5) ? "holder" : oneOf<const char*>({"buyer", "seller"})},
                    {"amount", oneOf<int>({10, 300})}});
      case 13: return sayOf("Holder", "RequestRuling", call);
      case 14: return sayOf(percent(10) ? "Seller" : "Buyer", "Dispute", call, {{"reason", "again"}});
      default: return end();
    }
  }
  void end() {
    if (percent(20)) return say("Holder", "Close", {});
    if (percent(10)) return say("Seller", "SellerStop", {});
    if (percent(10)) return say("Buyer", "BuyerStop", {});
  }
  void reserve(const std::string& call) {
    Order order = toy().order(call);
    order.amount = oneOf<Natural>({100, 300, 400, 401});
    orders_.emplace(call, order);
    sayOf("Buyer", "Reserve", call,
          {{"amount", std::int64_t(order.amount)},
           {"input", order.input},
           {"order", percent(3) ? "x" : toHex(sha256(toJson(order)))}});
  }
  void deliver(const std::string& call) {
    const auto found = orders_.find(call);
    const Order order = found == orders_.end() ? toy().order(call) : found->second;
    static const json::array records = toy().transcript();
    Statement statement = toy().statement(order, records);
    Predicate& p = statement.predicate;
    p.charge = oneOf<Natural>({0, 50, order.amount, order.amount + 1});
    p.startedAt = p.endedAt = at_;
    switch (random_.below(30)) {
      case 0: p.locales = {"us"}; break;
      case 1: p.models.clear(); break;
      case 2: p.policyEpoch = "another"; break;
      case 3: p.outcome = RunOutcome::failed; break;
      case 4: p.usage.tokens = 2'001; break;
      case 5: p.endedAt.seconds += 301; break;
      case 6: p.call = "C9"; break;
      case 7: return sayOf("Seller", "Deliver", call, {{"evidence", "{}"}});
    }
    sayOf("Seller", "Deliver", call,
          {{"evidence",
            percent(90) ? toy().evidenceEnvelope(statement) : sealedDocument(statement, {&toy().stranger, 1})}});
  }
  // An arbiter, who mostly rules within the charge.
  void rule(const std::string& call) {
    json::object line{{"counselor", percent(5) ? "clinic.boss" : "human.arbiter"}, {"reason", "judged"}};
    line["decision"] = percent(70) ? "commit" : "reject";
    json::object edit{{"call.ruling", json::object{{call, oneOf<int>({0, 0, 0, 50, 999})}}}};
    if (percent(std::uint64_t(unsafePercent_))) edit[oneOf<const char*>({"money.seller", "money.paidBuyer"})] = 500;
    if (line["decision"] == "commit") line["edit"] = std::move(edit);
    push(std::move(line));
  }

  SeededRandom random_;
  int unsafePercent_;
  Moment at_ = momentAt("2026-03-03T09:00:00Z");
  std::map<std::string, Order> orders_;
  std::map<std::string, int> stages_;
  std::vector<json::object> lines_;
};

}  // namespace

std::vector<json::object> randomEscrowHistory(std::uint64_t seed, int unsafePercent) {
  return Life(seed, unsafePercent).lines();
}

}  // namespace witan::market

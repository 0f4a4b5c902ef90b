#include "lab/conformance/market_world.h"

#include <array>
#include <functional>
#include <queue>

#include "base/capnp_codec.h"
#include "domains/registry.h"
#include "kernel/ledger/ledger.h"
#include "kernel/record/merkle.h"
#include "lab/conformance/market_toy.h"
#include "market/buyer_desk.h"
#include "market/holder_desk.h"
#include "market/seller_desk.h"
#include "store/memory_store.h"

namespace witan::market {

namespace {

constexpr int kBuyer = 0, kSeller = 1, kHolder = 2;
constexpr const char* kOrgs[] = {"clinic", "lab", "notary"};
constexpr const char* kEntity = "K";

struct Died {};

// The documents of the toy with short times.
MarketToy shortToy() {
  MarketToy toy;
  toy.offer.deliverWithinSeconds = toy.contract.deliverWithinSeconds = 60;
  toy.offer.disputeWindowSeconds = toy.contract.disputeWindowSeconds = 120;
  toy.contract.offer = toHex(sha256(toJson(toy.offer)));
  toy.contract.total = 2'000;
  return toy;
}

class World {
 public:
  explicit World(const WorldOptions& options) : o_(options), random_(options.seed) {
    grants_ = toy_.bundle().at("grants").as_array();
    for (int party = 0; party < 3; ++party) start(party);
  }

  WorldResult live() {
    open();
    for (int n = 0; n < o_.calls; ++n) at(1'000 + n * 3'000, [this, n] { wish(n); });
    for (int second = 0; second < o_.seconds; ++second)
      for (int party = 0; party < 3; ++party) at(second * 1'000 + party, [this, party] { tick(party); });
    while (!events_.empty()) {
      auto event = events_.top();
      events_.pop();
      ms_ = event.at;
      event.act();
    }
    return result();
  }

 private:
  struct Event {
    std::int64_t at;
    std::uint64_t seq;
    std::function<void()> act;
    friend bool operator<(const Event& a, const Event& b) { return std::tie(b.at, b.seq) < std::tie(a.at, a.seq); }
  };

  void at(std::int64_t ms, std::function<void()> act) { events_.push({ms, seq_++, std::move(act)}); }
  Moment now(int party) const { return {momentAt("2026-03-03T09:00:00Z").seconds + ms_ / 1'000 + o_.clockOff[party]}; }

  // ---- hosts

  // The process of a party begins: what was volatile is gone.
  void start(int party) {
    if (party == kBuyer) {
      buyer_ = std::make_unique<BuyerDesk>("clinic", toy_.clinic, toy_.roots());
      for (const auto& [key, value] : disk_[party]) buyer_->restore({key, value});
    } else if (party == kSeller) {
      SellerSetup setup{"lab",
                        toy_.lab,
                        toy_.evidence,
                        toy_.contract.seller.log,
                        {sealedDocument(toy_.offer, {&toy_.lab, 1})},
                        json::array(grants_.begin() + 1, grants_.end()),
                        toy_.roots(),
                        {"notary"}};
      seller_ = std::make_unique<SellerDesk>(std::move(setup));
      for (const auto& [key, value] : disk_[party]) seller_->restore({key, value});
    } else {
      ledger_.reset();
      ledger_ = kernel::Ledger::open(store_, *module_, {.origin = "witan/notary"}).value();
      holder_ = std::make_unique<HolderDesk>(
          "notary", [this](const std::string& entity) { return ledger_->partition().state(entity); });
      holder_->watch(kEntity, now(kHolder));
    }
  }

  void tick(int party) {
    if (party == kBuyer && o_.passiveBuyer) return;
    hosted(party, [&] {
      carryOut(party, party == kBuyer    ? buyer_->tick(now(party))
                      : party == kSeller ? seller_->tick(now(party))
                                         : holder_->tick(now(party)));
    });
  }

  void hosted(int party, const std::function<void()>& work) {
    try {
      work();
    } catch (const Died&) {
      start(party);
    }
  }

  // A write that is durable at once, and the two places at which one can die.
  void write(int party, const std::function<void()>& make) {
    const int boundary = 2 * writes_[party]++;
    if (o_.death == std::pair(party, boundary)) throw Died{};
    make();
    if (o_.death == std::pair(party, boundary + 1)) throw Died{};
  }

  void carryOut(int party, Out out) {
    for (const Row& row : out.rows) write(party, [&] { disk_[party][row.key] = row.value; });
    for (MarketIncident& incident : out.incidents) incidents_.push_back(std::move(incident));
    for (Letter& letter : out.letters) post(party, std::move(letter));
    for (const RunRequest& run : out.runs) runOf(run);
    for (const RecordRequest& record : out.records) recordOf(record);
    for (const EscrowAct& act : out.acts) decide(act);
  }

  void post(int from, Letter letter) {
    if (from == kSeller && o_.seller == SellerHabit::silent && letter.kind != "answer") return;
    const std::uint64_t copies = chance(o_.lossPercent) ? 0 : chance(o_.doublePercent) ? 2 : 1;
    for (std::uint64_t n = 0; n < copies; ++n)
      at(ms_ + 5 + std::int64_t(random_.below(chance(10) ? 4'000 : 100)), [this, letter] { deliver(letter); });
  }
  bool chance(int percent) { return int(random_.below(100)) < percent; }

  void deliver(const Letter& letter) {
    const int party = letter.to == kOrgs[kBuyer] ? kBuyer : letter.to == kOrgs[kSeller] ? kSeller : kHolder;
    if (party == kHolder && ms_ < o_.holderSilentFor * 1'000) return;
    hosted(party, [&] {
      carryOut(party, party == kBuyer    ? buyer_->onLetter(letter, now(party))
                      : party == kSeller ? seller_->onLetter(letter, now(party))
                                         : holder_->onLetter(letter, now(party)));
    });
  }

  // ---- the buyer's wishes, which its caller repeats until they are stored

  void wish(int n) {
    const std::string call = "C" + std::to_string(n + 1);
    OrderWish wanted{toy_.contractDigest(), call, 300, toy_.disclosures(), {"eu"}, {50'000, 1'500, 300}};
    hosted(kBuyer, [&] {
      if (auto out = buyer_->order(wanted, now(kBuyer)); out.ok()) carryOut(kBuyer, std::move(*out));
    });
    if (buyer_->find(wanted.contract, call) == nullptr) at(ms_ + 1'000, [this, n] { wish(n); });
  }

  // ---- the seller's graph and ledger: both know what they did under a name

  void runOf(const RunRequest& request) {
    if (!done_.contains(request.externalId)) {
      write(kSeller, [&] {
        ++runs_[request.externalId];
        done_.insert(request.externalId);
        started_[request.externalId] = now(kSeller);
      });
    }
    at(ms_ + 500, [this, id = request.externalId] {
      hosted(kSeller, [&] { carryOut(kSeller, seller_->runEnded(id, resultOf(id), now(kSeller))); });
    });
  }

  RunResult resultOf(const std::string& id) {
    RunResult run{toy_.output(), toy_.transcript(), {3, 900, 40}, 250, {"eu"}, toy_.contract.models};
    run.startedAt = run.endedAt = started_.at(id);
    if (o_.seller == SellerHabit::failing) {
      run.outcome = RunOutcome::failed;
      run.charge = 0;
    }
    if (o_.seller == SellerHabit::overcharging) run.charge = 301;
    return run;
  }

  void recordOf(const RecordRequest& request) {
    if (!entries_.contains(request.operationId)) {
      kernel::Entry entry;
      entry.seq = tree_.size() + 1;
      entry.operationId = request.operationId;
      const std::string bytes(WordWriter().message(entry));
      write(kSeller, [&] {
        entries_[request.operationId] = {tree_.size(), bytes};
        tree_.append(kernel::leafHash(bytes));
      });
    }
    const auto& [index, bytes] = entries_.at(request.operationId);
    json::array path;
    const auto proof = kernel::inclusionProof(index, tree_.size(), tree_).value();
    for (const Hash& node : proof) path.emplace_back(toBase64(asView(node)));
    const std::string head = kernel::signCheckpoint({"witan/lab", tree_.size(), tree_.root(), {}}, toy_.log).value();
    carryOut(kSeller, seller_->recorded(request.externalId,
                                        json::object{{"entry", toBase64(bytes)},
                                                     {"index", std::int64_t(index)},
                                                     {"path", std::move(path)},
                                                     {"checkpoint", head}},
                                        now(kSeller)));
  }

  // ---- the holder's ledger

  void decide(EscrowAct act) {
    if (o_.seller == SellerHabit::forging && act.role == "Seller" && textOf(act.action, "type") == "Deliver")
      act.action["evidence"] = forged(textOf(act.action, "evidence"));
    const auto action = module_->parseAction(act.action);
    kernel::Decision decision;
    write(kHolder, [&] {
      if (action.ok())
        decision = ledger_->partition().propose(
            {act.entity, act.role, act.operationId, "", "", action->get(), timeOf(now(kHolder)), true});
      (void)ledger_->commit();
    });
    carryOut(kHolder, holder_->decided(act, decision, now(kHolder)));
    if (decision.outcome == kernel::Outcome::escalated)
      at(ms_ + 5'000, [this, act] { hosted(kHolder, [&] { rule(textOf(act.action, "call")); }); });
  }

  std::string forged(const std::string& evidence) const {
    const auto statement = openStatement(valueOf(evidence));
    return sealed(Statement::payloadType, statement->text.body, {&toy_.stranger, 1});
  }

  // The arbiter gives the seller nothing.
  void rule(const std::string& call) {
    const json::object edit{{"call.ruling", json::object{{call, 0}}}};
    write(kHolder, [&] {
      kernel::CounselorDecision ruling{.entity = kEntity, .counselor = "human.arbiter"};
      const std::string id = "ruled-" + call;
      ruling.operationId = id;
      ruling.commit = true;
      ruling.edit = &edit;
      ruling.reason = "judged";
      ruling.at = timeOf(now(kHolder));
      ruling.remember = true;
      (void)ledger_->partition().decide(ruling);
      (void)ledger_->commit();
    });
    holder_->watch(kEntity, now(kHolder));
  }

  // The contract: proposed, countersigned, opened, paid for.
  void open() {
    const Letter proposal{"clinic",
                          "lab",
                          "p",
                          "propose",
                          {{"contract", valueOf(sealedDocument(toy_.contract, {&toy_.clinic, 1}))},
                           {"entity", kEntity},
                           {"grants", json::array{grants_.front()}}}};
    Out answered = seller_->onLetter(proposal, toy_.contract.signedAt);
    for (const Row& row : answered.rows) disk_[kSeller][row.key] = row.value;
    const std::string envelope = canonicalJson(answered.letters.at(0).body.at("contract"));
    Out added = buyer_->addContract(envelope, kEntity).value();
    for (const Row& row : added.rows) disk_[kBuyer][row.key] = row.value;
    kernel::Partition& partition = ledger_->partition();
    partition.init(kEntity, toy_.partyFields(), timeOf(toy_.contract.signedAt));
    const auto say = [&](const char* role, json::object action, const char* id) {
      const auto parsed = module_->parseAction(action).value();
      partition.propose({kEntity, role, id, "", "", parsed.get(), timeOf(toy_.contract.signedAt), true});
    };
    say("Buyer", {{"type", "OpenContract"}, {"envelope", envelope}}, "open");
    say("Holder", {{"type", "Deposit"}, {"reference", "pay-1"}, {"amount", 2'000}}, "pay-1");
    (void)ledger_->commit();
  }

  WorldResult result() {
    WorldResult r;
    r.view = domains::escrow::viewOf(*ledger_->partition().state(kEntity));
    r.runs = runs_;
    r.incidents = incidents_;
    r.roots = toy_.roots();
    std::copy_n(writes_.begin(), 3, r.writes);
    for (int n = 0; n < o_.calls; ++n) {
      const BuyerCall* call = buyer_->find(toy_.contractDigest(), "C" + std::to_string(n + 1));
      r.buyerEnds.push_back(call == nullptr ? "" : call->end);
      if (call == nullptr) continue;
      r.bundles.push_back(call->bundle);
      if (call->end == "refunded") r.compensated.push_back(call->endedAt->seconds - call->failedAt->seconds);
    }
    return r;
  }

  const WorldOptions o_;
  SeededRandom random_;
  const MarketToy toy_ = shortToy();
  json::array grants_;
  std::priority_queue<Event> events_;
  std::uint64_t seq_ = 0;
  std::int64_t ms_ = 0;
  std::array<int, 3> writes_{};
  std::vector<MarketIncident> incidents_;
  // Durable.
  std::map<std::string, std::string> disk_[2];
  std::set<std::string> done_;
  std::map<std::string, Moment> started_;
  std::map<std::string, int> runs_;
  std::map<std::string, std::pair<std::uint64_t, std::string>> entries_;
  kernel::MemoryTree tree_;
  const std::unique_ptr<kernel::DomainModule> module_ = domains::makeDomain("escrow").value();
  store::MemoryStore store_;
  // Volatile.
  std::unique_ptr<BuyerDesk> buyer_;
  std::unique_ptr<SellerDesk> seller_;
  std::unique_ptr<kernel::Ledger> ledger_;
  std::unique_ptr<HolderDesk> holder_;
};

}  // namespace

WorldResult liveMarket(const WorldOptions& options) { return World(options).live(); }

Status judgeWorld(const WorldResult& r, const WorldOptions& o) {
  const auto of = [&](const char* member) { return r.view.at(member).as_int64(); };
  if (of("deposited") != of("buyer") + of("seller") + of("held") + of("paidBuyer") + of("paidSeller"))
    return invalid("money came from nowhere");
  const json::object& calls = r.view.at("calls").as_object();
  if (calls.size() != std::size_t(o.calls)) return invalid(concat(calls.size(), " calls were reserved"));
  std::size_t paid = 0, verified = 0;
  for (const auto& [call, state] : calls) {
    if (state != "RELEASED" && state != "REFUNDED")
      return invalid("call " + std::string(call) + " is " + std::string(state.as_string()));
    paid += state == "RELEASED" ? 1 : 0;
  }
  for (const auto& [id, count] : r.runs)
    if (count > 1) return invalid(id + " ran twice");
  for (const std::string& bundle : r.bundles)
    if (!bundle.empty()) verified += verifyBundleText(bundle, r.roots).ok() ? 1 : 0;
  if (paid > verified) return invalid("a call is paid without evidence that verifies");
  for (const std::string& end : r.buyerEnds)
    if (end.empty()) return invalid("the buyer waits for ever");
  return okStatus();
}

}  // namespace witan::market

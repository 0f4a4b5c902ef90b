#include "market/testing/market_world.h"

#include <array>
#include <functional>
#include <queue>

#include "base/capnp_codec.h"
#include "domains/registry.h"
#include "kernel/ledger/ledger.h"
#include "kernel/record/merkle.h"
#include "market/buyer_desk.h"
#include "market/holder_desk.h"
#include "market/seller_desk.h"
#include "market/testing/market_lies.h"
#include "market/testing/market_people.h"
#include "market/testing/market_toy.h"
#include "store/memory_store.h"

namespace witan::market {

namespace {

constexpr std::int64_t kTickMs = 1'000;

struct Died {};

// The documents of the toy with short times. In half of the worlds the window is over before deliverBy.
MarketToy shortToy(const WorldOptions& o) {
  MarketToy toy;
  toy.offer.deliverWithinSeconds = toy.contract.deliverWithinSeconds = 60;
  toy.offer.disputeWindowSeconds = toy.contract.disputeWindowSeconds =
      o.window > 0 ? Natural(o.window) : Natural(o.seed % 2 == 0 ? 40 : 120);
  toy.contract.calls = std::max<Natural>(40, Natural(o.calls));
  toy.offer.maxCalls = std::max(toy.offer.maxCalls, toy.contract.calls);
  toy.contract.total = std::max<Natural>(2'000, toy.contract.perCall * Natural(o.calls));
  toy.contract.offer = toHex(sha256(toJson(toy.offer)));
  return toy;
}

}  // namespace

class MarketWorld::World {
 public:
  explicit World(const WorldOptions& options) : o_(options), random_(options.seed), power_(options.seed) {
    grants_ = toy_.bundle().at("grants").as_array();
    std::copy_n(options.clockOff, 3, clockOff_.begin());
    if (options.death) deaths_.insert(*options.death);
    silentUntil_[kHolder] = options.holderSilentFor * 1'000;
    silences_ = options.holderSilentFor > 0 || options.passiveBuyer;
    for (int party = 0; party < 3; ++party) start(party);
    open();
    for (int party = 0; party < 3; ++party) tickFrom(party, party);
  }

  std::int64_t nextAt() const { return events_.top().at; }
  void runUntil(std::int64_t ms) {
    while (nextAt() <= ms) {
      const Event event = events_.top();
      events_.pop();
      ms_ = event.at;
      event.act();
    }
    ms_ = ms;
  }

  void order() {
    if (o_.people) people_.mayLookAt(nameOf(wishes_));
    wish(wishes_++);
  }
  void die(int party, int writes, bool after) {
    deaths_.insert({party, 2 * (writes_[std::size_t(party)] + writes) + (after ? 1 : 0)});
  }
  void silence(int party, std::int64_t ms) {
    silentUntil_[std::size_t(party)] = ms_ + ms;
    silences_ = true;
  }
  void setClock(int party, std::int64_t secondsOff) { clockOff_[std::size_t(party)] = secondsOff; }

  void lie(MarketLie lie) {
    if (lie >= kFirstHolderLie) {
      holderLies_.next(lie);
    } else if (lie >= kFirstSellerLie) {
      sellerLies_.next(lie);
    } else if (lie >= kFirstPaidLie) {
      paidLie(lie);
    } else if (const auto letter = lyingOrder(lie)) {
      post(kBuyer, *letter, lie);
    }
  }

  std::string unsettled() const {
    const auto calls = standings();
    for (const auto& [call, standing] : calls)  // those of a liar too
      if (standing.settleAt) return call + " is " + std::string(standing.state);
    for (int n = 0; n < wishes_; ++n) {
      const std::string call = nameOf(n);
      const BuyerCall* asked = buyer_->find(toy_.contractDigest(), call);
      if (asked == nullptr) return "the buyer does not know " + call;
      const auto at = calls.find(call);
      if (at == calls.end() && asked->end != "refused") return call + " is not reserved";
      if (asked->end.empty()) return "the buyer of " + call + " waits";
    }
    return {};
  }

  WorldResult result() const;

 private:
  struct Event {
    std::int64_t at;
    std::uint64_t seq;
    std::function<void()> act;
    friend bool operator<(const Event& a, const Event& b) { return std::tie(b.at, b.seq) < std::tie(a.at, a.seq); }
  };

  void at(std::int64_t ms, std::function<void()> act) { events_.push({ms, seq_++, std::move(act)}); }
  Moment now(int party) const {
    return {momentAt("2026-03-03T09:00:00Z").seconds + ms_ / 1'000 + clockOff_[std::size_t(party)]};
  }
  static std::string nameOf(int n) { return "C" + std::to_string(n + 1); }
  bool silent(int party) const { return ms_ < silentUntil_[std::size_t(party)]; }

  // ---- hosts

  // The process of a party begins: what was volatile is gone.
  void start(int party) {
    if (party == kBuyer) {
      buyer_ = buyersDesk();
      for (const auto& [key, value] : disk_[party]) buyer_->restore({key, value}).value();
    } else if (party == kSeller) {
      seller_ = sellersDesk();
      for (const auto& [key, value] : disk_[party]) seller_->restore({key, value}).value();
    } else {
      ledger_.reset();
      ledger_ = kernel::Ledger::open(store_, *module_, {.origin = "witan/notary"}).value();
      holder_ = std::make_unique<HolderDesk>(
          "notary", [this](const std::string& entity) { return ledger_->partition().state(entity); });
      holder_->watch(entity_, now(kHolder));
    }
  }

  std::unique_ptr<BuyerDesk> buyersDesk() const {
    return std::make_unique<BuyerDesk>("clinic", toy_.clinic, toy_.roots());
  }
  std::unique_ptr<SellerDesk> sellersDesk() const { return std::make_unique<SellerDesk>(sellerOf(toy_)); }

  // A desk of the next process reads what this one has just written.
  void readBack(int party, const Row& row) {
    const auto read = [&](auto desk) {
      for (const auto& [key, value] : disk_[party])
        if (key.starts_with(kAgreed)) (void)desk->restore({key, value});
      return desk->restore(row);
    };
    if (const Status status = party == kBuyer ? read(buyersDesk()) : read(sellersDesk()); !status.ok())
      unreadable_.push_back(concat(row.key.substr(0, 20), ": ", status.error().message));
  }

  void tickFrom(std::int64_t ms, int party) {
    at(ms, [this, ms, party] {
      tick(party);
      tickFrom(ms + kTickMs, party);
    });
  }

  void tick(int party) {
    if ((party == kBuyer && o_.passiveBuyer) || silent(party)) return;
    hosted(party, [&] {
      if (party == kHolder) ruleOnWhatWaits();
      if (party == kBuyer) peopleSpeak();
      carryOut(party, party == kBuyer    ? buyer_->tick(now(party))
                      : party == kSeller ? seller_->tick(now(party))
                                         : holder_->tick(now(party)));
    });
  }

  void hosted(int party, const std::function<void()>& work) {
    try {
      work();
    } catch (const Died&) {
      losePower(party);
      start(party);
    }
  }

  // The newest rows that were not durable: none of them, or some, or all.
  void losePower(int party) {
    if (party == kHolder) return;
    auto& rows = unsynced_[party];
    std::size_t lost = o_.losesPower ? (*o_.losesPower ? rows.size() : 0) : power_.below(2 * rows.size() + 1);
    for (lost = std::min(lost, rows.size()); lost > 0; --lost) {
      auto& [key, before] = rows.back();
      before ? void(disk_[party][key] = *before) : void(disk_[party].erase(key));
      rows.pop_back();
    }
  }

  // A write, and the two places at which one can die.
  void write(int party, const std::function<void()>& make) {
    const int boundary = 2 * writes_[std::size_t(party)]++;
    if (deaths_.contains({party, boundary})) throw Died{};
    make();
    if (deaths_.contains({party, boundary + 1})) throw Died{};
  }

  void carryOut(int party, Out out) {
    // Incidents are as durable as the first row of what they were seen at.
    const bool firm = out.firm || !out.incidents.empty();
    const auto tell = [&] {
      for (MarketIncident& incident : std::exchange(out.incidents, {}))
        incidents_.push_back({std::move(incident), party});
    };
    for (const Row& row : out.rows)
      write(party, [&] {
        const auto at = disk_[party].find(row.key);
        unsynced_[party].emplace_back(row.key,
                                      at == disk_[party].end() ? std::nullopt : std::optional<std::string>(at->second));
        disk_[party][row.key] = row.value;
        readBack(party, row);
        if (!firm) return;
        unsynced_[party].clear();
        tell();
      });
    tell();
    for (Letter& letter : out.letters) post(party, std::move(letter));
    for (const RunRequest& run : out.runs) runOf(run);
    for (const RecordRequest& record : out.records) recordOf(record);
    for (const EscrowAct& act : out.acts) decide(act);
  }

  void post(int from, Letter letter, std::optional<MarketLie> lie = {}) {
    if (from == kSeller && o_.seller == SellerHabit::silent && letter.kind != "answer") return;
    if (from == kSeller && o_.seller == SellerHabit::hiding && letter.kind == "evidence") return;
    if (from == kSeller) lie = sellerLies_.twist(letter);
    if (from == kHolder && !lie) lie = holderLies_.twist(letter);
    if (from == kBuyer) people_.see(letter);
    if ((lie == MarketLie::withheldBundle || lie == MarketLie::longDecline) && letter.kind == "evidence") return;
    if (lie == MarketLie::lateEvidence) return at(ms_ + kLateMs, [this, letter, lie] { deliver(letter, lie); });
    const std::uint64_t copies = chance(o_.lossPercent) ? 0 : chance(o_.doublePercent) ? 2 : 1;
    for (std::uint64_t n = 0; n < copies; ++n)
      at(ms_ + 5 + std::int64_t(random_.below(chance(10) ? 4'000 : 100)),
         [this, letter, lie] { deliver(letter, lie); });
  }
  bool chance(int percent) { return int(random_.below(100)) < percent; }

  void deliver(const Letter& letter, std::optional<MarketLie> lie) {
    const int party = letter.to == kParties[kBuyer] ? kBuyer : letter.to == kParties[kSeller] ? kSeller : kHolder;
    if (silent(party)) return;
    if (letter.kind == "evidence") noteShown(letter);
    if (auto answer = party == kHolder ? holderLies_.answerInstead(letter) : std::nullopt)
      return post(kHolder, std::move(*answer), MarketLie::refusedDelivery);
    const bool inTime = party == kHolder && disputesInTime(letter);
    hosted(party, [&] {
      if (lie && !matters(*lie, letter)) lie.reset();
      Out out = party == kBuyer    ? buyer_->onLetter(letter, now(party))
                : party == kSeller ? seller_->onLetter(letter, now(party))
                                   : holder_->onLetter(letter, now(party));
      const bool busy = std::ranges::any_of(out.letters, [](const Letter& each) { return each.body.contains("busy"); });
      carryOut(party, std::move(out));
      if (inTime && !busy) disputed_.insert(textOf(letter.body.at("action").as_object(), "call"));
      if (lie && (!busy || kTakenFirst.contains(*lie))) ++lies_[*lie];
    });
  }

  // Whether it is the first that is heard of a dispute, which nothing holds up, in the window of a call that is open.
  bool disputesInTime(const Letter& letter) {
    const json::value* action = letter.body.if_contains("action");
    if (action == nullptr || textOf(action->as_object(), "type") != "Dispute") return false;
    const auto delivered = deliveredAt_.find(textOf(action->as_object(), "call"));
    return heard_.insert(letter.id).second && delivered != deliveredAt_.end() &&
           !settledBy_.contains(delivered->first) && ledger_->partition().queue().empty() &&
           latest().seconds + 2 < delivered->second.seconds + std::int64_t(toy_.contract.disputeWindowSeconds);
  }
  // A ledger does not go back in time with its clock (replica/core/partition_host.h).
  Moment latest() { return latest_ = std::max(latest_, now(kHolder)); }
  Moment latest_;

  void noteShown(const Letter& letter) {
    const json::object& bundle = letter.body.at("bundle").as_object();
    const auto statement = openStatement(bundle.at("evidence")).value();
    shown_.push_back({statement.document.predicate.call, toHex(sha256(statement.text.body))});
  }

  // ---- lies

  // Whether it is a lie where it arrives: a second order needs a first, and a call that has ended is over.
  bool matters(MarketLie lie, const Letter& letter) const {
    if (lie >= kFirstHolderLie) return holderLies_.matters(lie, letter, *buyer_, *seller_);
    if (lie == MarketLie::secondOrder) {
      const auto order = openEnvelope<Order>(letter.body.at("order"));
      const SellerCall* known = seller_->find(order->document.contract, order->document.call);
      return known != nullptr && openEnvelope<Order>(valueOf(known->order))->digest != order->digest;
    }
    if (lie == MarketLie::longDecline) {
      const BuyerCall* call = buyer_->find(entity_, externalIdOf(letter.id).substr(entity_.size() + 1));
      return call != nullptr && call->step == BuyerStep::order;
    }
    if (lie != MarketLie::alteredBundle && lie != MarketLie::withheldOutput) return true;
    const auto order = openEnvelope<Order>(letter.body.at("bundle").at("order"));
    const BuyerCall* call = buyer_->find(order->document.contract, order->document.call);
    return call != nullptr && (call->step == BuyerStep::await || call->step == BuyerStep::order);
  }

  // A letter of a buyer that lies; none: there is nothing yet to lie about.
  std::optional<Letter> lyingOrder(MarketLie lie) {
    const std::string name = concat("L", lieNumber_++);
    Order order = toy_.order(name);
    order.contract = toy_.contractDigest();
    order.issuedAt = now(kBuyer);
    order.deliverBy = {order.issuedAt.seconds + std::int64_t(toy_.contract.deliverWithinSeconds)};
    if (lie == MarketLie::secondContract) {
      Contract other = toy_.contract;
      other.perCall -= 1 + lieNumber_;
      return Letter{"clinic",
                    "lab",
                    name,
                    "propose",
                    {{"contract", valueOf(sealedDocument(other, {&toy_.clinic, 1}))},
                     {"entity", entity_},
                     {"grants", json::array{grants_.front()}}}};
    }
    if (lie == MarketLie::manySignatures) {
      Contract other = toy_.contract;
      other.id = Word("contract-" + name);
      json::value full = filledUp(sealedDocument(other, {&toy_.clinic, 1}), kMostSignatures, 0);
      return Letter{
          "clinic", "lab", name, "propose", {{"contract", std::move(full)}, {"grants", json::array{grants_.front()}}}};
    }
    if (lie == MarketLie::widerOrder) order.locales = {"ch", "eu"};
    if (lie == MarketLie::orderAgain || lie == MarketLie::secondOrder) {
      const auto calls = buyer_->calls();
      if (calls.empty()) return {};
      const BuyerCall& known = *calls[random_.below(calls.size())];
      order = openEnvelope<Order>(valueOf(known.order)).value().document;
      if (lie == MarketLie::secondOrder) order.amount -= 1;
    }
    return orderLetter(order, toy_.disclosures());
  }

  Letter orderLetter(const Order& order, const std::vector<std::string>& given) const {
    return {"clinic",
            "lab",
            "lie/" + order.call,
            "order",
            {{"order", valueOf(sealedDocument(order, {&toy_.clinic, 1}))},
             {"disclosures", json::array(given.begin(), given.end())}}};
  }
  void actAs(const std::string& id, json::object action) {
    post(kBuyer, {"clinic", "notary", id, "act", {{"entity", entity_}, {"action", std::move(action)}}});
  }

  // An order of a buyer that lies, with money that is held for it.
  void paidLie(MarketLie lie) {
    std::string name = concat("L", lieNumber_++);
    if (lie == MarketLie::longName) name.resize(185, 'C');
    std::vector<std::string> given = toy_.disclosures();
    if (lie == MarketLie::oddDisclosures) given.emplace_back("%%%");
    Order order = toy_.order(name);
    order.input = jsonDigest(commitmentTo(given));
    order.contract = entity_;
    std::int64_t wait = 1'000;                                      // from the reservation to the order
    std::int64_t signedIn = 0;                                      // seconds
    if (lie == MarketLie::lateOrder) wait = 50'000, signedIn = 50;  // ten seconds are left
    if (lie == MarketLie::futureOrder) signedIn = 3'600;
    order.issuedAt = {now(kBuyer).seconds + signedIn};
    order.deliverBy = {order.issuedAt.seconds + std::int64_t(toy_.contract.deliverWithinSeconds)};
    if (lie == MarketLie::emptyBudget) order.budget = {};
    if (lie == MarketLie::foreignEscrow) {
      Contract other = toy_.contract;
      other.id = Word("contract-" + name);
      order.contract = toHex(sha256(toJson(other)));
      post(kBuyer, {"clinic",
                    "lab",
                    name,
                    "propose",
                    {{"contract", valueOf(sealedDocument(other, {&toy_.clinic, 1}))},
                     {"entity", entity_},
                     {"grants", json::array{grants_.front()}}}});
    }
    const auto go = [this, lie, name, order, given, wait] {
      actAs("reserve/" + name, {{"type", "Reserve"},
                                {"call", name},
                                {"amount", std::int64_t(order.amount)},
                                {"input", order.input},
                                {"order", toHex(sha256(toJson(order)))}});
      at(ms_ + wait, [this, lie, order, given] {
        Letter letter = orderLetter(order, given);
        if (lie == MarketLie::fullEnvelope)
          letter.body["order"] = filledUp(canonicalJson(letter.body.at("order")), kMostSignatures, kMostEnvelopeBytes);
        post(kBuyer, std::move(letter), lie);
      });
    };
    if (lie != MarketLie::frozenCall) return go();
    // A call before it, which is delivered and then disputed.
    Order first = order;
    first.call = Word(name + "a");
    actAs("reserve/" + std::string(first.call), {{"type", "Reserve"},
                                                 {"call", first.call},
                                                 {"amount", std::int64_t(first.amount)},
                                                 {"input", first.input},
                                                 {"order", toHex(sha256(toJson(first)))}});
    at(ms_ + 500, [this, first, given] { post(kBuyer, orderLetter(first, given)); });
    at(ms_ + 9'000, go);
    at(ms_ + 9'500, [this, first] {
      actAs("dispute/" + std::string(first.call),
            {{"type", "Dispute"}, {"call", first.call}, {"reason", "nothing is wrong"}});
    });
  }

  // ---- the buyer's wishes, which its caller repeats until they are stored

  void wish(int n) {
    const std::string call = nameOf(n);
    OrderWish wanted{toy_.contractDigest(), call, 300, toy_.disclosures(), {"eu"}, {50'000, 1'500, 300}};
    wanted.review = people_.lookAt(call);
    hosted(kBuyer, [&] {
      if (auto out = buyer_->order(wanted, now(kBuyer)); out.ok()) carryOut(kBuyer, std::move(*out));
    });
    if (buyer_->find(wanted.contract, call) == nullptr) at(ms_ + 1'000, [this, n] { wish(n); });
  }

  void peopleSpeak() {
    for (const MarketPeople::Word& word : people_.say(*buyer_, entity_, ms_)) {
      auto out = buyer_->decide(entity_, word.call, word.says, "a person says so", now(kBuyer));
      if (!out.ok()) continue;
      carryOut(kBuyer, std::move(*out));
      people_.heard(word.call);
    }
  }

  // ---- the seller's graph and ledger: both know what they did under a name

  void runOf(const RunRequest& request) {
    if (!done_.contains(request.externalId)) {
      const std::string call = request.externalId.substr(request.externalId.find('/') + 1);
      const auto calls = standings();
      const auto known = calls.find(call);
      const std::int64_t least = std::int64_t(toy_.contract.deliverWithinSeconds) / 4;
      if (known != calls.end() && known->second.settleAt && !silences_ &&
          momentOf(*known->second.settleAt).seconds < now(kHolder).seconds + least)
        lateRuns_.push_back(call);
      write(kSeller, [&] {
        unsynced_[kSeller].clear();  // one store, one sync
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
        unsynced_[kSeller].clear();
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
    const std::string type = textOf(act.action, "type"), call = textOf(act.action, "call");
    kernel::Decision decision;
    write(kHolder, [&] {
      if (action.ok())
        decision = ledger_->partition().propose(
            {act.entity, act.role, act.operationId, "", "", action->get(), timeOf(latest()), true});
      (void)ledger_->commit();
      if (decision.outcome != kernel::Outcome::approved) return;
      if (type == "Deliver") deliveredAt_.emplace(call, latest());
      if (kSettling.contains(type)) settledBy_.emplace(call, type);
    });
    const auto calls = standings();
    const auto known = calls.find(call);
    if (decision.outcome == kernel::Outcome::frozen && known != calls.end() &&
        (type == "Deliver" ? known->second.state == "RESERVED"
                           : type == "Dispute" && known->second.state == "DELIVERED") &&
        momentOf(*known->second.settleAt) >= now(kHolder))
      frozen_.push_back(call);
    carryOut(kHolder, holder_->decided(act, decision, now(kHolder)));
  }

  std::string forged(const std::string& evidence) const {
    const auto statement = openStatement(valueOf(evidence));
    return sealed(Statement::payloadType, statement->text.body, {&toy_.stranger, 1});
  }

  // The arbiter looks at what waits for some seconds.
  void ruleOnWhatWaits() {
    for (const kernel::PendingView& pending : ledger_->partition().queue())
      if (now(kHolder).seconds >= momentOf(pending.at).seconds + o_.arbiterSeconds)
        rule(textOf(valueOf(pending.action).as_object(), "call"));
  }

  // It gives the seller nothing, or a part.
  void rule(const std::string& call) {
    const std::int64_t share = o_.people ? standings().at(call).charge * std::int64_t(random_.below(3)) / 2 : 0;
    const json::object edit{{"call.ruling", json::object{{call, share}}}};
    write(kHolder, [&] {
      kernel::CounselorDecision ruling{.entity = entity_, .counselor = "human.arbiter"};
      const std::string id = "ruled-" + call;
      ruling.operationId = id;
      ruling.commit = true;
      ruling.edit = &edit;
      ruling.reason = "judged";
      ruling.at = timeOf(latest());
      ruling.remember = true;
      if (ledger_->partition().decide(ruling).outcome == kernel::Outcome::cCommitted) ruled_[call] = share;
      (void)ledger_->commit();
    });
    holder_->watch(entity_, now(kHolder));
  }

  // The contract: proposed, countersigned, opened, paid for.
  void open() {
    const Letter proposal{"clinic",
                          "lab",
                          "p",
                          "propose",
                          {{"contract", valueOf(sealedDocument(toy_.contract, {&toy_.clinic, 1}))},
                           {"entity", entity_},
                           {"grants", json::array{grants_.front()}}}};
    Out answered = seller_->onLetter(proposal, toy_.contract.signedAt);
    for (const Row& row : answered.rows) disk_[kSeller][row.key] = row.value;
    const std::string envelope = canonicalJson(answered.letters.at(0).body.at("contract"));
    Out added = buyer_->addContract(envelope).value();
    for (const Row& row : added.rows) disk_[kBuyer][row.key] = row.value;
    kernel::Partition& partition = ledger_->partition();
    partition.init(entity_, toy_.partyFields(), timeOf(toy_.contract.signedAt));
    const auto say = [&](const char* role, json::object action, const char* id) {
      const auto parsed = module_->parseAction(action).value();
      partition.propose({entity_, role, id, "", "", parsed.get(), timeOf(toy_.contract.signedAt), true});
    };
    say("Buyer", {{"type", "OpenContract"}, {"envelope", envelope}}, "open");
    say("Holder", {{"type", "Deposit"}, {"reference", "pay-1"}, {"amount", std::int64_t(toy_.contract.total)}},
        "pay-1");
    (void)ledger_->commit();
  }

  std::map<std::string, domains::escrow::CallStanding> standings() const {
    std::map<std::string, domains::escrow::CallStanding> calls;
    for (auto& call : domains::escrow::standingOf(*ledger_->partition().state(entity_)).calls)
      calls.emplace(call.call, std::move(call));
    return calls;
  }

  static inline const std::set<std::string> kSettling{"Accept", "Claim", "Reclaim", "Settle"};
  static constexpr std::int64_t kLateMs = 90'000;  // beyond deliverBy
  static constexpr MarketLie kFirstPaidLie = MarketLie::longName;
  // Lies that the seller's desk finds out from the holder only, after it has answered "busy".
  static inline const std::set<MarketLie> kTakenFirst{MarketLie::unpaidOrder, MarketLie::foreignEscrow,
                                                      MarketLie::lateOrder, MarketLie::frozenCall,
                                                      MarketLie::fullEnvelope};

  const WorldOptions o_;
  SeededRandom random_, power_;
  const MarketToy toy_ = shortToy(o_);
  const std::string entity_ = toy_.contractDigest();
  json::array grants_;
  std::priority_queue<Event> events_;
  std::uint64_t seq_ = 0;
  std::int64_t ms_ = 0;
  std::array<int, 3> writes_{};
  std::array<std::int64_t, 3> clockOff_{}, silentUntil_{};
  std::set<std::pair<int, int>> deaths_;
  int wishes_ = 0;
  Natural lieNumber_ = 1;
  SellerLies sellerLies_{toy_, entity_};
  HolderLies holderLies_{entity_};
  MarketPeople people_{o_.seed, toy_.contract.disputeWindowSeconds};
  std::map<MarketLie, int> lies_;
  std::vector<ToldIncident> incidents_;
  std::map<std::string, std::int64_t> ruled_;  // the seller's share, by call
  std::map<std::string, Moment> deliveredAt_;  // this and the next two by call; heard_: letters
  std::map<std::string, std::string> settledBy_;
  std::set<std::string> heard_, disputed_;
  std::vector<ShownBundle> shown_;
  std::vector<std::string> lateRuns_, frozen_;
  bool silences_ = false;
  std::vector<std::string> unreadable_;
  // Durable.
  std::map<std::string, std::string> disk_[2];
  std::vector<std::pair<std::string, std::optional<std::string>>> unsynced_[2];  // newest rows, and what was before
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

// What the holder's ledger says, entry by entry.
WorldResult MarketWorld::World::result() const {
  WorldResult r;
  r.view = domains::escrow::viewOf(*ledger_->partition().state(entity_));
  r.runs = runs_;
  r.incidents = incidents_;
  r.roots = toy_.roots();
  r.lies = lies_, r.shown = shown_;
  r.lateRuns = lateRuns_, r.frozen = frozen_;
  r.silences = silences_;
  r.unreadable = unreadable_;
  for (const SellerCall* call : seller_->calls())
    if (call->end == "declined" && call->statement.empty() && !call->disclosures.empty())
      r.keptInputs.push_back(call->call);
  for (const auto& [call, lie] : sellerLies_.calls()) r.liedAbout.push_back(call);
  for (const auto& [call, lie] : holderLies_.calls())
    if (lie <= MarketLie::otherTime) r.unheld.push_back(call);
  std::copy_n(writes_.begin(), 3, r.writes);
  for (auto& [call, standing] : standings()) {
    CallResult& c = r.calls[call];
    c = {false, std::string(standing.state), standing.order, standing.evidence, standing.charge, standing.share};
    c.word = people_.wordOf(call);
    if (const auto ruling = ruled_.find(call); ruling != ruled_.end()) c.ruling = ruling->second;
    c.disputedInTime = disputed_.contains(call);
    if (const auto by = settledBy_.find(call); by != settledBy_.end()) c.settledBy = by->second;
  }
  for (int n = 0; n < wishes_; ++n) {
    CallResult& c = r.calls[nameOf(n)];
    c.wished = true;
    const BuyerCall* call = buyer_->find(toy_.contractDigest(), nameOf(n));
    if (call == nullptr) continue;
    c.buyerEnd = call->end;
    c.bundle = call->bundle;
    if (call->end == "refunded") r.compensated.push_back(call->endedAt->seconds - call->failedAt->seconds);
  }
  for (std::uint64_t seq = 1; seq <= ledger_->partition().size(); ++seq) {
    const auto entry = kernel::readEntry(ledger_->entryBytes(seq).value()).value();
    const json::value parsed = valueOf(entry.action);
    const json::object* action = parsed.if_object();
    if (action == nullptr) continue;
    const std::string type = textOf(*action, "type"), call = textOf(*action, "call");
    if (type == "Deliver") r.deliveries.push_back({call, textOf(*action, "evidence"), entry.invariant});
    if (kSettling.contains(type) && entry.tag == kernel::Tag::approved) ++r.calls[call].settlements;
  }
  return r;
}

MarketWorld::MarketWorld(const WorldOptions& options) : world_(std::make_unique<World>(options)) {}
MarketWorld::~MarketWorld() = default;
std::int64_t MarketWorld::nextAt() const { return world_->nextAt(); }
void MarketWorld::runUntil(std::int64_t ms) { world_->runUntil(ms); }
void MarketWorld::order() { world_->order(); }
void MarketWorld::die(int party, int writes, bool after) { world_->die(party, writes, after); }
void MarketWorld::silence(int party, std::int64_t ms) { world_->silence(party, ms); }
void MarketWorld::setClock(int party, std::int64_t secondsOff) { world_->setClock(party, secondsOff); }
void MarketWorld::lie(MarketLie lie) { world_->lie(lie); }
std::string MarketWorld::unsettled() const { return world_->unsettled(); }
WorldResult MarketWorld::result() const { return world_->result(); }

WorldResult liveMarket(const WorldOptions& options) {
  MarketWorld world(options);
  for (int n = 0; n < options.calls; ++n) {
    world.runUntil(1'000 + n * 3'000);
    world.order();
  }
  world.runUntil(options.seconds * std::int64_t{1'000} + 5'000);
  return world.result();
}

}  // namespace witan::market

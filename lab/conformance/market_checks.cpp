#include "lab/conformance/market_checks.h"

#include <algorithm>
#include <functional>

#include "domains/escrow/escrow.h"
#include "domains/registry.h"
#include "kernel/ledger/ledger.h"
#include "kernel/typed_module.h"
#include "market/testing/market_toy.h"
#include "market/testing/market_world.h"
#include "store/memory_store.h"

namespace witan::agents::conformance {

using namespace market;

namespace {

constexpr std::uint64_t kLives = 60;

Finding failed(std::string detail) { return {false, std::move(detail)}; }
Finding held(std::uint64_t n, const char* what) { return {true, std::to_string(n) + " " + what}; }

// ---- M-01

using Verifier = std::function<bool(const json::object&)>;

// A bundle whose seller signs and records what these records are, whatever they lack.
json::object committedTo(const MarketToy& toy, json::array records) {
  const Order order = toy.order("C1");
  Statement statement = toy.statement(order, toy.transcript());
  statement.predicate.transcript = transcriptHead(records);
  return toy.bundleOf(order, statement, std::move(records));
}

// A record left out, a member of it left out or altered, by somebody on the way and by the seller itself. Altered
// digests of what nobody else has seen are the seller's word: those it can only alter before it signs.
Finding judgeCompleteness(const Verifier& verifies) {
  const MarketToy toy;
  const json::object whole = toy.bundle();
  if (!verifies(whole)) return failed("a valid bundle does not verify");
  const json::array records = whole.at("transcript").as_array();
  std::uint64_t forged = 0;
  const auto passes = [&](json::array altered, bool bySeller) {
    ++forged;
    if (bySeller) return verifies(committedTo(toy, std::move(altered)));
    json::object bundle = whole;
    bundle["transcript"] = std::move(altered);
    return verifies(bundle);
  };
  for (std::size_t i = 0; i < records.size(); ++i) {
    json::array lacking = records;
    lacking.erase(lacking.begin() + std::ptrdiff_t(i));
    if (passes(lacking, false) || passes(lacking, true)) return failed("record " + std::to_string(i) + " is left out");
    for (const auto& [member, value] : records[i].as_object()) {
      const auto what = [&] { return "record " + std::to_string(i) + ": " + std::string(member); };
      json::array without = records, altered = records;
      without[i].as_object().erase(member);
      altered[i].as_object()[member] = value.is_string() ? json::value("x" + std::string(value.get_string())) : 77;
      if (passes(without, false) || passes(without, true)) return failed(what() + " is left out");
      if (passes(altered, false)) return failed(what() + " is altered");
    }
  }
  return held(forged, "incomplete or altered transcripts, none verifies");
}

}  // namespace

Finding evidenceIsComplete() {
  const Roots roots = MarketToy().roots();
  return judgeCompleteness([&](const json::object& bundle) { return verifyBundle(bundle, roots).ok(); });
}

Finding rootAloneShows() {
  const Finding found = judgeCompleteness([](const json::object& bundle) {
    const auto statement = openStatement(bundle.at("evidence"));
    const TranscriptHead head = transcriptHead(bundle.at("transcript").as_array());
    return statement.ok() && statement->document.predicate.transcript.root == head.root;
  });
  return found.pass ? failed("a verifier of the root alone was not noticed") : Finding{true, found.detail};
}

// ---- M-02, M-04: lives of escrows

namespace {

// The domain without the rules that keep a settlement single and money whole.
struct Careless : domains::escrow::Escrow {
  using Invariants =
      kernel::InvariantList<domains::escrow::ContractSigned, domains::escrow::Phase, domains::escrow::PaymentOnce,
                            domains::escrow::Terms, domains::escrow::EvidenceValid, domains::escrow::DeliveredOnce,
                            domains::escrow::InTime, domains::escrow::DisputeRuled>;
};

using ModulePtr = std::unique_ptr<kernel::DomainModule>;
ModulePtr running() { return domains::makeDomain("escrow").value(); }
ModulePtr careless() { return kernel::makeModule<Careless>().value(); }

// One escrow on a ledger in memory, which can be closed and opened again.
class EscrowLife {
 public:
  explicit EscrowLife(const kernel::DomainModule& module) : module_(module) { open(); }

  void reopen() {
    (void)ledger_->commit();
    ledger_.reset();
    open();
  }

  kernel::Decision feed(const json::object& line, std::string_view id) {
    kernel::Partition& partition = ledger_->partition();
    const Time at = parseTime(std::string_view(line.at("at").as_string())).value();
    if (const json::value* init = line.if_contains("init")) return partition.init("K", init->as_object(), at);
    if (const json::value* role = line.if_contains("role")) {
      const auto action = module_.parseAction(line.at("action"));
      if (!action.ok()) return {};
      return partition.propose({"K", std::string_view(role->as_string()), id, "", "", action->get(), at, true});
    }
    kernel::CounselorDecision ruling{.entity = "K", .counselor = std::string_view(line.at("counselor").as_string())};
    ruling.operationId = id;
    ruling.commit = line.at("decision") == "commit";
    ruling.edit = line.contains("edit") ? &line.at("edit").as_object() : nullptr;
    ruling.reason = "judged";
    ruling.at = at;
    ruling.remember = true;
    return partition.decide(ruling);
  }
  json::object view() const {
    const auto* state = ledger_->partition().state("K");
    return state == nullptr ? json::object{} : domains::escrow::viewOf(*state);
  }

 private:
  void open() { ledger_ = kernel::Ledger::open(store_, module_, {.origin = "witan/toy"}).value(); }

  const kernel::DomainModule& module_;
  store::MemoryStore store_;
  std::unique_ptr<kernel::Ledger> ledger_;
};

std::string idOf(std::size_t line) { return "op-" + std::to_string(line); }

kernel::Decision settleAgain(EscrowLife& life, const std::string& call, Time at) {
  const json::object line{
      {"at", formatTime(at)}, {"role", "Holder"}, {"action", json::object{{"type", "Settle"}, {"call", call}}}};
  return life.feed(line, "again-" + call);
}

// Once; each line twice; from the start again after a restart behind each seventh line. Then each settled call again.
Finding judgeSettlement(const kernel::DomainModule& module) {
  std::uint64_t settlements = 0;
  for (std::uint64_t seed = 0; seed < kLives; ++seed) {
    const auto lines = randomEscrowHistory(seed);
    EscrowLife once(module), twice(module);
    for (std::size_t i = 0; i < lines.size(); ++i) {
      once.feed(lines[i], idOf(i));
      for (int n = 0; n < 2; ++n) twice.feed(lines[i], idOf(i));
    }
    const std::string where = "life " + std::to_string(seed) + ": ";
    if (once.view() != twice.view()) return failed(where + "lines that came twice changed a balance");
    for (std::size_t death = seed % 7; death < lines.size(); death += 7) {
      EscrowLife crashed(module);
      for (std::size_t i = 0; i <= death; ++i) crashed.feed(lines[i], idOf(i));
      crashed.reopen();
      for (std::size_t i = 0; i < lines.size(); ++i) crashed.feed(lines[i], idOf(i));
      if (crashed.view() != once.view()) return failed(where + "a restart changed a balance");
    }
    const json::object before = once.view();
    const Time late = parseTime(std::string_view(lines.back().at("at").as_string())).value();
    for (const auto& [call, state] : before.at("calls").as_object()) {
      if (state != "RELEASED" && state != "REFUNDED") continue;
      ++settlements;
      const kernel::Decision again = settleAgain(once, call, late);
      // A closed escrow, and one that waits for its arbiter, turn it away before.
      const bool turnedAway = again.outcome == kernel::Outcome::frozen ||
                              (before.at("phase") == "CLOSED" && again.invariant == "ESCROW_PHASE");
      if (!turnedAway && again.invariant != "ESCROW_SETTLED_ONCE")
        return failed(where + "a second settlement meets \"" + again.invariant + "\" " + again.message);
    }
    if (once.view() != before) return failed(where + "a second settlement changed a balance");
  }
  return held(settlements, "settlements, each once");
}

bool conserves(const json::object& view) {
  const auto of = [&](const char* member) { return view.at(member).as_int64(); };
  return of("deposited") == of("buyer") + of("seller") + of("held") + of("paidBuyer") + of("paidSeller");
}

// Every state conserves, or the commit that broke it was named and nothing was decided upon it since.
Finding judgeConservation(const kernel::DomainModule& module) {
  std::uint64_t states = 0, named = 0;
  for (std::uint64_t seed = 0; seed < kLives; ++seed) {
    EscrowLife life(module);
    bool broken = false;
    const auto lines = randomEscrowHistory(seed, 30);
    for (std::size_t i = 0; i < lines.size(); ++i, ++states) {
      const kernel::Decision decision = life.feed(lines[i], idOf(i));
      if (decision.outcome == kernel::Outcome::cCommitted) {
        broken = std::ranges::count(decision.violated, "ESCROW_CONSERVATION") > 0;
        named += broken ? 1 : 0;
      }
      const json::object view = life.view();
      if (!view.empty() && conserves(view) == broken)
        return failed("life " + std::to_string(seed) + ", line " + std::to_string(i) +
                      (broken ? ": it was named and conserves" : ": money came from nowhere"));
    }
  }
  if (named == 0) return failed("no arbiter was careless");
  return {true, std::to_string(states) + " states, " + std::to_string(named) + " unsafe commits named"};
}

}  // namespace

Finding settlementIsIdempotent() { return judgeSettlement(*running()); }
Finding doubleSettlementShows() {
  const Finding found = judgeSettlement(*careless());
  return found.pass ? failed("a domain that pays twice was not noticed") : Finding{true, found.detail};
}

Finding moneyIsConserved() { return judgeConservation(*running()); }
Finding madeMoneyShows() {
  const Finding found = judgeConservation(*careless());
  return found.pass ? failed("a domain that makes money was not noticed") : Finding{true, found.detail};
}

// ---- M-03

namespace {

Words drawLocales(Random& random) {
  Words drawn;
  for (const char* each : {"ch", "eu", "us"})
    if (std::string_view(each) == "eu" || random.below(3) == 0) drawn.push_back(each);
  return drawn;
}

struct Chain {
  Words offer, contract, order, run;
};

json::object bundleAlong(const Chain& chain) {
  MarketToy toy;
  toy.offer.locales = chain.offer;
  toy.contract.offer = toHex(sha256(toJson(toy.offer)));
  toy.contract.locales = chain.contract;
  Order order = toy.order("C1");
  order.locales = chain.order;
  json::array records = toy.transcript();
  Statement statement = toy.statement(order, records);
  statement.predicate.locales = chain.run;
  return toy.bundleOf(order, statement, std::move(records));
}

std::string firstWider(const Chain& chain) {
  if (!isWithin(chain.contract, chain.offer)) return "EB05";
  if (!isWithin(chain.order, chain.contract)) return "EB06";
  return isWithin(chain.run, chain.order) ? "" : "EB11";
}

}  // namespace

Finding localesNarrowAcrossOrganisations() {
  const Roots roots = MarketToy().roots();
  SeededRandom random(7);
  std::uint64_t narrow = 0;
  constexpr std::uint64_t kChains = 100;
  for (std::uint64_t n = 0; n < kChains; ++n) {
    const Chain chain{drawLocales(random), drawLocales(random), drawLocales(random), drawLocales(random)};
    const std::string found = verifyBundle(bundleAlong(chain), roots).id, wider = firstWider(chain);
    if (found != wider) return failed("a chain of locales that is " + wider + " is judged " + found);
    narrow += wider.empty() ? 1 : 0;
  }
  if (narrow == 0 || narrow == kChains) return failed("the chains are too much alike");
  return {true, std::to_string(kChains) + " chains, " + std::to_string(narrow) + " of them narrow"};
}

Finding widerDocumentShows() {
  const Roots roots = MarketToy().roots();
  const Words narrow{"eu"}, wide{"eu", "us"};
  const std::pair<Chain, std::string> forged[] = {{{narrow, wide, narrow, narrow}, "EB05"},
                                                  {{wide, narrow, wide, narrow}, "EB06"},
                                                  {{wide, wide, narrow, wide}, "EB11"}};
  for (const auto& [chain, id] : forged)
    if (const Verification found = verifyBundle(bundleAlong(chain), roots); found.id != id)
      return failed("a wider document that must be " + id + " is judged \"" + found.id + "\"");
  return {true, "EB05, EB06 and EB11 fire"};
}

// ---- E-6: from a failure that the buyer sees to its refund, on a network that loses and doubles letters

namespace {

Finding judgeCompensation(bool passive) {
  std::vector<std::int64_t> seconds;
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    const WorldOptions options{.seed = seed, .seller = SellerHabit::silent, .passiveBuyer = passive};
    const WorldResult result = liveMarket(options);
    if (result.compensated.size() != std::size_t(options.calls))
      return failed("life " + std::to_string(seed) + ": the buyer has taken back " +
                    std::to_string(result.compensated.size()) + " of " + std::to_string(options.calls) + " calls");
    seconds.insert(seconds.end(), result.compensated.begin(), result.compensated.end());
  }
  std::ranges::sort(seconds);
  const auto at = [&](std::size_t percent) { return std::to_string(seconds[(seconds.size() - 1) * percent / 100]); };
  return {true,
          std::to_string(seconds.size()) + " refunds, p50 " + at(50) + " s, p99 " + at(99) + " s of simulated time"};
}

}  // namespace

Finding compensationsAreFast() { return judgeCompensation(false); }
Finding passiveBuyerShows() {
  const Finding found = judgeCompensation(true);
  return found.pass ? failed("a buyer that compensates nothing was not noticed") : Finding{true, found.detail};
}

}  // namespace witan::agents::conformance

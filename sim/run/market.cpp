#include "sim/run/market.h"

#include "sim/draw.h"

namespace witan::sim {

namespace {
constexpr Micros kMilli = 1'000;
}  // namespace

void Market::begin(const Event& event) {
  const Options& options = c_.plan().options;
  if (!world_) {
    market::WorldOptions how;
    how.seed = streamSeed(options.seed, "market");
    how.arbiterSeconds = how.seed % 3 == 0 ? 90 : 5;  // longer than a delivery may take
    how.people = how.seed / 6 % 2 == 0;
    how.lossPercent = options.network.lossPerMillion > 0 ? 10 : 0;
    world_ = std::make_unique<market::MarketWorld>(how);
  }
  world_->runUntil(c_.agenda().now() / kMilli);
  const int party = static_cast<int>(event.n % 3);
  const std::string_view name = enumName(event.kind);
  if (isFault(event.kind)) c_.probe(concat("fault: ", name));
  if (c_.tracing())
    c_.trace(kNobody, isFault(event.kind) ? "fault" : "work", name, market::kParties[party], event.lasts);
  switch (event.kind) {
    case EventKind::marketOrder: world_->order(); break;
    case EventKind::marketDeath: world_->die(party, static_cast<int>(event.m % 64), (event.seed & 1) != 0); break;
    case EventKind::marketSilence: world_->silence(party, event.lasts / kMilli); break;
    case EventKind::marketClock: {
      const auto off = static_cast<std::int64_t>(event.m % 10'000);
      world_->setClock(party, (event.seed & 1) != 0 ? off : -off);
      break;
    }
    default: lie(event.n); break;
  }
  schedule();
}

// Only who lies in this run, and one of its own lies.
void Market::lie(std::uint64_t n) {
  constexpr std::uint64_t kFirst[] = {0, static_cast<std::uint64_t>(market::kFirstSellerLie),
                                      static_cast<std::uint64_t>(market::kFirstHolderLie),
                                      static_cast<std::uint64_t>(market::kLastLie) + 1};
  if (liar() < 0) return;
  const std::uint64_t first = kFirst[liar()];
  world_->lie(static_cast<market::MarketLie>(first + n % (kFirst[liar() + 1] - first)));
}

void Market::step() {
  if (c_.agenda().now() != scheduledAt_) return;  // another step came before it
  world_->runUntil(c_.agenda().now() / kMilli);
  schedule();
}

void Market::schedule() {
  const Micros next = world_->nextAt() * kMilli;
  if (scheduledAt_ > c_.agenda().now() && scheduledAt_ <= next) return;
  scheduledAt_ = next;
  c_.agenda().add(next, StepKind::market, 0);
}

void Market::check() {
  if (!world_) return;
  const market::WorldResult result = world_->result();
  for (const auto& [name, call] : result.calls) {
    if (call.state == "RELEASED" || call.state == "REFUNDED")
      c_.probe(call.share > 0 ? "market call released" : "market call refunded");
    if (!call.word.empty()) c_.probe(concat("market person says: ", call.word));
    if (call.ruling) c_.probe(*call.ruling > 0 ? "market ruling for a part" : "market ruling for nothing");
    c_.trace(kNobody, "check", name, concat(call.state, ", ", call.share, " for the seller, buyer ", call.buyerEnd));
  }
  for (const auto& [lie, count] : result.lies) c_.probe(concat("market lie: ", enumName(lie)));
  for (const market::ToldIncident& told : result.incidents) {
    c_.probe("market incident: " + told.kind);
    c_.trace(kNobody, "check", told.kind, concat(market::kParties[told.by], " tells of ", told.org, ": ", told.what));
  }
  for (const int writes : result.writes) c_.digest().add(static_cast<std::uint64_t>(writes));
  if (const Status judged = market::judgeWorld(result, liar()); !judged.ok())
    c_.failed("market", judged.error().message);
}

}  // namespace witan::sim

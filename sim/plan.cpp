#include "sim/plan.h"

#include <algorithm>

#include "sim/catalog.h"
#include "sim/draw.h"
#include "sim/plan_budget.h"

namespace witan::sim {

namespace {

constexpr std::uint64_t kMarketClockSeconds = 1'200;
constexpr std::uint64_t kChoice = 1 << 20;  // for what is taken modulo a number that only the run knows

// Draws what the events of one kind have beside their time.
class Chooser {
 public:
  Chooser(const Options& options, Random& random) : o_(options), random_(random) {}

  Event draw(EventKind kind, Micros at) {
    Event e{.at = at, .kind = kind};
    e.device = below32(o_.cluster.devices);
    e.seed = random_.below(std::uint64_t{1} << 53);  // every JSON reader keeps these whole
    if (isFault(kind))
      fault(e);
    else
      work(e);
    e.lasts = std::min(e.lasts, o_.time.seconds * 1'000'000 - at);
    return e;
  }

  // The copy to which a store goes back; and every other time a while alone, so that its device decides before it meets
  // anybody who knows more.
  void aroundRestore(const Event& restore, std::vector<Event>& out) {
    Event copy = restore;
    copy.at = std::max<Micros>(restore.at - static_cast<Micros>(restore.n) * 1'000'000, 0);
    copy.m = 1;
    copy.lasts = 0;
    out.push_back(copy);
    if (random_.below(2) != 0) return;
    Event alone = restore;
    alone.kind = EventKind::isolate;
    alone.n = 0;
    alone.lasts = std::min(restore.lasts + static_cast<Micros>(20 + random_.below(160)) * 1'000'000,
                           o_.time.seconds * 1'000'000 - restore.at);
    out.push_back(alone);
  }

 private:
  std::uint32_t below32(std::int64_t bound) {
    return static_cast<std::uint32_t>(random_.below(static_cast<std::uint64_t>(std::max<std::int64_t>(bound, 1))));
  }
  std::uint64_t oneOf(std::int64_t count) { return below32(count); }
  std::uint64_t any() { return random_.below(kChoice); }
  // Within a twentieth and five times of the mean: shorter ones are no event, longer ones fill the whole run.
  Micros length(std::int64_t mean, std::int64_t unit = 1'000'000) {
    const auto m = static_cast<std::uint64_t>(mean * unit);
    return static_cast<Micros>(std::clamp(exponential(random_, m), m / 20, m * 5));
  }
  void another(Event& e) {
    e.other = o_.cluster.devices < 2
                  ? 0
                  : (e.device + 1 + below32(o_.cluster.devices - 1)) % static_cast<std::uint32_t>(o_.cluster.devices);
  }

  void work(Event& e) {
    const ClusterOptions& c = o_.cluster;
    switch (e.kind) {
      case EventKind::agentWrite:
      case EventKind::message: e.n = oneOf(c.agents); break;
      case EventKind::journalEdit:
      case EventKind::batch: e.n = oneOf(c.entities); break;
      case EventKind::scopedWrite: e.n = oneOf(c.scopes); break;
      case EventKind::propose:
      case EventKind::request:
        e.n = oneOf(c.entities);
        e.m = any();
        return;
      default: e.n = any(); break;
    }
    e.m = any();
  }

  void fault(Event& e) {
    const FaultOptions& f = o_.faults;
    switch (e.kind) {
      case EventKind::cut:
      case EventKind::oneWayCut:
      case EventKind::clog:
        another(e);
        e.lasts = length(f.cutSeconds);
        break;
      case EventKind::flap:
        another(e);
        e.m = 500 + random_.below(4'500);
        e.lasts = length(f.cutSeconds);
        break;
      case EventKind::split:
        e.n = split();
        e.lasts = length(f.cutSeconds);
        break;
      case EventKind::offline: e.lasts = length(f.offlineHours, 3'600'000'000); break;
      case EventKind::pause: e.lasts = length(f.pauseSeconds); break;
      case EventKind::crash:
      case EventKind::loseDisk:
      case EventKind::fullDisk: e.lasts = length(f.downSeconds); break;
      case EventKind::writeCrash:
      case EventKind::sagaCrash:
      case EventKind::ioError:
        e.n = 1 + random_.below(40);
        e.m = any();
        e.lasts = length(f.downSeconds);
        break;
      case EventKind::restoreLedgers:
      case EventKind::restore:
        e.n = 30 + random_.below(270);
        e.lasts = length(f.downSeconds);
        break;
      case EventKind::bitRot:
        e.n = any();
        e.m = any();
        break;
      case EventKind::clockJump:
        e.n = static_cast<std::uint64_t>(length(f.clockJumpSeconds) / 1'000);
        e.m = random_.below(2);
        break;
      case EventKind::movePartition: another(e); [[fallthrough]];
      case EventKind::seizePartition:
        e.n = oneOf(o_.cluster.partitions);
        e.m = any();
        break;
      case EventKind::retire: another(e); break;
      case EventKind::comeback:
      case EventKind::readmit: e.n = any(); break;
      case EventKind::join: break;
      case EventKind::hostile:
        another(e);
        e.lasts = length(f.cutSeconds);
        break;
      case EventKind::marketDeath:
        e.n = random_.below(3);
        e.m = random_.below(16);
        break;
      case EventKind::marketSilence:
        e.n = random_.below(3);
        e.lasts = length(f.cutSeconds);
        break;
      case EventKind::marketClock:
        e.n = random_.below(3);
        e.m = random_.below(random_.below(4) == 0 ? kMarketClockSeconds : 200);
        break;
      case EventKind::marketLie:
      case EventKind::lie: e.n = any(); break;
      case EventKind::engineOutage:
        e.n = random_.below(4) == 0 ? 2 : 1;  // of three
        e.lasts = length(f.cutSeconds);
        break;
      default: e.lasts = length(f.cutSeconds); break;  // isolate, slowDisk, toolOutage
    }
  }

  // Neither side empty.
  std::uint64_t split() {
    const std::uint64_t all = (std::uint64_t{1} << std::min<std::int64_t>(o_.cluster.devices, 63)) - 1;
    return all <= 1 ? 0 : 1 + random_.below(all - 1);
  }

  const Options& o_;
  Random& random_;
};

void drawKind(const Options& options, EventKind kind, std::vector<Event>& out) {
  const std::int64_t rate = eventInfo(kind).rate.in(options);
  if (rate <= 0) return;
  SeededRandom times(streamSeed(options.seed, concat("when ", enumName(kind))));
  SeededRandom choices(streamSeed(options.seed, concat("what ", enumName(kind))));
  Chooser chooser(options, choices);
  const Micros end = options.time.seconds * 1'000'000;
  const auto unit = static_cast<std::uint64_t>(kind == EventKind::offline ? kMicrosPerDay : kMicrosPerHour);
  const std::uint64_t gap = unit / static_cast<std::uint64_t>(rate);
  for (Micros at = static_cast<Micros>(exponential(times, gap)); at < end && out.size() < kMaxEvents;
       at += static_cast<Micros>(exponential(times, gap)) + 1) {
    out.push_back(chooser.draw(kind, at));
    if (kind == EventKind::restoreLedgers || kind == EventKind::restore) chooser.aroundRestore(Event(out.back()), out);
  }
}

}  // namespace

std::vector<Event> repeated(const Options& options, const Event& first, Micros every) {
  SeededRandom random(streamSeed(options.seed, concat("again ", enumName(first.kind), " ", first.at, " ", every)));
  Chooser chooser(options, random);
  const Micros end = options.time.seconds * 1'000'000;
  std::vector<Event> out;
  for (Micros at = first.at; at < end && out.size() < kMaxEvents; at += every) {
    Event event = chooser.draw(first.kind, at);
    const auto take = [](auto& drawn, auto said) {
      if (said != 0) drawn = said;
    };
    take(event.device, first.device), take(event.other, first.other);
    take(event.n, first.n), take(event.m, first.m), take(event.seed, first.seed);
    take(event.lasts, std::min(first.lasts, end - at));
    out.push_back(event);
  }
  return out;
}

Plan makePlan(const Options& options, const std::vector<Event>& fixed) {
  std::vector<Event> drawn;
  for (std::size_t kind = 0; kind < enumNames<EventKind>().size(); ++kind)
    drawKind(options, static_cast<EventKind>(kind), drawn);
  return {options, withinBudget(options.cluster, std::move(drawn), fixed)};
}

}  // namespace witan::sim

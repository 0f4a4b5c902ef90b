#include "sim/plan_budget.h"

#include <algorithm>
#include <limits>

namespace witan::sim {

namespace {

constexpr Micros kForEver = std::numeric_limits<Micros>::max();

struct Outage {
  std::uint32_t device = 0;
  Micros from = 0, until = 0;
  bool keepsDisk = true;
};

bool makesOut(const Event& event) {
  switch (event.kind) {
    case EventKind::crash:
    case EventKind::writeCrash:
    case EventKind::sagaCrash:
    case EventKind::ioError:
    case EventKind::fullDisk:
    case EventKind::loseDisk:
    case EventKind::bitRot:
    case EventKind::retire: return true;
    case EventKind::restore:
    case EventKind::restoreLedgers: return event.m != 1;  // 1: makes the copy only
    default: return false;
  }
}

Outage outageOf(const Event& event, std::int64_t devices) {
  const auto count = static_cast<std::uint32_t>(devices);
  const std::uint32_t victim = (event.kind == EventKind::retire ? event.other : event.device) % count;
  Micros until = event.at + event.lasts;
  if (event.kind == EventKind::retire) until = kForEver;
  const bool losesDisk = event.kind == EventKind::loseDisk || event.kind == EventKind::restore ||
                         event.kind == EventKind::restoreLedgers || event.kind == EventKind::bitRot;
  if (losesDisk) until += kRefill;
  if (event.kind == EventKind::writeCrash || event.kind == EventKind::ioError || event.kind == EventKind::sagaCrash)
    until += kStrikeWithin;
  return {victim, event.at, until, !losesDisk && event.kind != EventKind::retire};
}

class Budget {
 public:
  explicit Budget(const ClusterOptions& cluster)
      : devices_(cluster.devices), replicas_(std::min(cluster.ledgerReplicas, cluster.devices)) {
    if (const auto liar = liarOf(cluster)) liar_ = bit(*liar);
  }

  std::int64_t devices() const { return devices_; }
  void take(const Outage& outage) { outages_.push_back(outage); }

  bool allows(const Outage& wanted) const {
    // The most are out at the beginning of one of the outages that overlap.
    if (!allowsAt(wanted, wanted.from)) return false;
    for (const Outage& other : outages_)
      if (other.from > wanted.from && other.from < wanted.until && !allowsAt(wanted, other.from)) return false;
    return true;
  }

  // Outages that ended before are of no interest any more.
  void forget(Micros before) {
    std::erase_if(outages_, [&](const Outage& o) { return o.until <= before; });
  }

 private:
  bool allowsAt(const Outage& wanted, Micros at) const {
    if (!wanted.keepsDisk && wanted.from < kFounding) return false;
    std::uint64_t out = bit(wanted.device), retired = 0, lost = wanted.keepsDisk ? 0 : out;
    for (const Outage& other : outages_) {
      if (other.from > at || other.until <= at) continue;
      if (other.device == wanted.device) return false;  // one thing at a time
      out |= bit(other.device);
      if (!other.keepsDisk) lost |= bit(other.device);
      if (other.until == kForEver) retired |= bit(other.device);
    }
    if (wanted.until == kForEver) retired |= bit(wanted.device) | liar_;
    if (lost != 0) out |= liar_;
    const auto oneWithItsDisk = [&](std::int64_t of) { return count(out, of) == 1 && count(lost, of) == 0; };
    return (count(out, devices_) < devices_ || oneWithItsDisk(devices_)) &&
           (minority(out, replicas_) || oneWithItsDisk(replicas_)) && minority(retired, devices_);
  }
  static std::uint64_t bit(std::uint32_t device) { return std::uint64_t{1} << device; }
  static std::int64_t count(std::uint64_t bits, std::int64_t first) {
    return __builtin_popcountll(bits & ((std::uint64_t{1} << first) - 1));
  }
  static bool minority(std::uint64_t bits, std::int64_t of) { return 2 * count(bits, of) < of || count(bits, of) == 0; }

  std::int64_t devices_, replicas_;
  std::uint64_t liar_ = 0;
  std::vector<Outage> outages_;
};

bool earlier(const Event& a, const Event& b) { return a.at < b.at; }

}  // namespace

std::vector<Event> withinBudget(const ClusterOptions& cluster, std::vector<Event> drawn,
                                const std::vector<Event>& fixed) {
  Budget budget(cluster);
  std::vector<Event> out;
  for (const Event& event : fixed) {
    if (makesOut(event)) budget.take(outageOf(event, budget.devices()));
    out.push_back(event);
  }
  std::ranges::stable_sort(out, earlier);
  std::ranges::stable_sort(drawn, earlier);
  const auto isOver = [&](const Event& event) {
    if (!makesOut(event)) return false;
    const Outage outage = outageOf(event, budget.devices());
    budget.forget(event.at);
    if (!budget.allows(outage)) return true;
    budget.take(outage);
    return false;
  };
  std::erase_if(drawn, isOver);  // visits them in their order
  const auto middle = static_cast<std::ptrdiff_t>(out.size());
  out.insert(out.end(), drawn.begin(), drawn.end());
  std::inplace_merge(out.begin(), out.begin() + middle, out.end(), earlier);
  return out;
}

}  // namespace witan::sim

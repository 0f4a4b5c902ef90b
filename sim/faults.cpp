// What the plan lets go wrong, and what operators do about partitions and members.
#include <algorithm>

#include "base/quote.h"
#include "kernel/ledger/ledger_verify.h"
#include "replication/statement.h"
#include "sim/event_info.h"
#include "sim/plan_budget.h"
#include "sim/world.h"

namespace witan::sim {

namespace {
constexpr Micros kBurst = 5 * kSecond;  // between the bursts of a hostile member
}

void World::fault(const Event& original, std::uint64_t number) {
  Event event = original;
  event.device %= founders();
  event.other %= founders();
  Seat& at = seat(event.device);
  const Micros until = agenda_.now() + event.lasts;
  const auto ends = [&] { agenda_.add(until, StepKind::faultEnd, event.device, number); };
  const std::string_view name = enumName(event.kind);
  if (tracing_) trace(event.device, "fault", name, faultWords(event), event.lasts);
  probe("fault: " + std::string(name));
  switch (event.kind) {
    case EventKind::cut:
    case EventKind::oneWayCut:
    case EventKind::clog:
      if (event.device == event.other) return;
      [[fallthrough]];
    case EventKind::split:
    case EventKind::isolate:
    case EventKind::offline: blockAll(event, true); return ends();
    case EventKind::flap: return flap(event, number, 0);
    case EventKind::crash: return switchOff(event.device, true, until);
    case EventKind::writeCrash:
      at.device->disk(event.m % kStores)
          .crashAt(event.n % 6, (event.seed & 1) != 0 ? store::Moment::before : store::Moment::after);
      return;
    case EventKind::ioError:
      at.device->disk(event.m % kStores)
          .failAt(event.n % 6, (event.seed & 1) != 0 ? store::Moment::before : store::Moment::after);
      return;
    case EventKind::sagaCrash:
      at.strike = Strike{event.m % 2, event.n % 6, (event.seed & 1) != 0 ? store::Moment::before : store::Moment::after,
                         agenda_.now() + kStrikeWithin};
      return;
    case EventKind::toolOutage: ++at.toolsDown; return ends();
    case EventKind::pause:
      if (!at.device->running() || at.device->paused) return;
      at.device->paused = true;
      agenda_.add(until, StepKind::resume, event.device);
      return;
    case EventKind::loseDisk:
      switchOff(event.device, true, until);
      diskLost(at, 0);
      at.device->wipe();
      at.imageAt = -1;
      return;
    case EventKind::restore:
      if (at.imageAt < 0 || event.m == 1) {  // makes the copy that a later one goes back to
        if (!at.device->running()) return;
        at.device->keepImage();
        at.imageAt = agenda_.now();
        return;
      }
      switchOff(event.device, true, until);
      diskLost(at, at.imageAt);
      recordWentBack_ = recordWentBack_ || (event.seed & 1) != 0;
      at.device->restoreImage((event.seed & 1) != 0);
      at.wentBack = true;
      return;
    case EventKind::restoreLedgers:
      if (event.m == 1 || !at.device->hasLedgersImage()) {
        if (at.device->running()) at.device->keepLedgersImage();
        return;
      }
      switchOff(event.device, true, until);
      diskLost(at, agenda_.now());  // of its writes nothing is
      at.device->restoreLedgersImage();
      at.wentBack = true;
      return;
    case EventKind::fullDisk:
      for (std::size_t n = 0; n < kStores; ++n) at.device->disk(n).setFull(true);
      return ends();
    case EventKind::slowDisk: at.device->setSlowDisk(true); return ends();
    case EventKind::bitRot: return rot(event);
    case EventKind::clockJump:
      at.device->jumpClock((event.m == 1 ? -1 : 1) * static_cast<Micros>(event.n) * 1000);
      return;
    case EventKind::movePartition:
    case EventKind::seizePartition:
    case EventKind::retire:
    case EventKind::join: {
      Arrival arrival;
      arrival.kind = Arrival::Kind::event;
      arrival.event = number;
      return put(event.device, std::move(arrival));
    }
    case EventKind::hostile: return hostile(event, number, 0);
    case EventKind::engineOutage:
      if (!etcd_) return;
      etcd_->outage(event.n, event.seed, true);
      return ends();
    default: return;
  }
}

// One bit of the ledgers' store. The log has checks of its own: a restart must find it, or where a snapshot spares it
// the reading, verification of the ledger. Then the disk is given up. What RocksDB's checksums find elsewhere, this
// twin of it cannot; there the operator is taken to have seen the report.
void World::rot(const Event& event) {
  Seat& at = seat(event.device);
  const auto key = at.device->disk(2).rot(event.n, event.seed);
  if (!key) return;
  switchOff(event.device, false, -1);
  // "p/udt/0/" and then 'l' with eight bytes of a number.
  const std::size_t row = key->size() - std::min<std::size_t>(key->size(), 9);
  const bool inLog = key->starts_with("p/") && (*key)[row] == 'l' && (*key)[row - 1] == '/';
  if (inLog && at.device->start(agenda_.now()).ok()) {
    at.device->stop();
    store::PrefixStore rows(at.device->disk(2), key->substr(0, row));
    auto report = kernel::verifyLedger(rows, {nullptr, std::nullopt});
    if (report.ok() && report->ok())
      return failed("bit-rot",
                    at.device->name() + " starts from, and verifies, a log with a flipped bit in " + inQuotes(*key));
  }
  probe(inLog ? "bit rot found" : "bit rot beside the log");
  diskLost(at, 0);
  at.device->wipe();
  at.imageAt = -1;
  agenda_.add(agenda_.now() + event.lasts, StepKind::start, event.device);
}

void World::blockAll(const Event& event, bool block) {
  if (etcd_ && !blockEtcd(event, block)) return;
  const auto devices = static_cast<std::uint32_t>(seats_.size());
  const auto set = [&](std::uint32_t from, std::uint32_t to) {
    if (from == to) return;
    block ? network_.block(from, to) : network_.unblock(from, to);
  };
  const auto both = [&](std::uint32_t a, std::uint32_t b) { set(a, b), set(b, a); };
  const std::uint32_t a = event.device % founders(), b = event.other % founders();
  switch (event.kind) {
    case EventKind::oneWayCut: return set(a, b);
    case EventKind::split:
      for (std::uint32_t i = 0; i < devices; ++i)
        for (std::uint32_t j = 0; j < i; ++j)
          if ((event.n >> i & 1) != (event.n >> j & 1)) both(i, j);
      return;
    case EventKind::isolate:
    case EventKind::offline:
      for (std::uint32_t i = 0; i < devices; ++i) both(a, i);
      return;
    default: return both(a, b);
  }
}

void World::endFault(std::uint64_t number) {
  const Event& event = plan_.events[number];
  Seat& at = seat(event.device % founders());
  switch (event.kind) {
    case EventKind::flap: return flap(event, number, 1);
    case EventKind::fullDisk:
      for (std::size_t n = 0; n < kStores; ++n) at.device->disk(n).setFull(false);
      return;
    case EventKind::slowDisk: return at.device->setSlowDisk(false);
    case EventKind::toolOutage: --at.toolsDown; return;
    case EventKind::hostile:
      return hostile(event, number, static_cast<std::uint64_t>((agenda_.now() - event.at) / kBurst));
    case EventKind::engineOutage: return etcd_->outage(event.n, event.seed, false);
    default: trace(event.device % founders(), "fault", "heals", enumName(event.kind)); return blockAll(event, false);
  }
}

// Down and up every few seconds. Rounds alternate; the end finds the link up.
void World::flap(const Event& event, std::uint64_t number, std::uint64_t round) {
  const std::uint32_t a = event.device % founders(), b = event.other % founders();
  if (a == b) return;
  const Micros half = static_cast<Micros>(event.m % 20'000 + 500) * 1000;
  const Micros passed = agenda_.now() - event.at;
  const bool goesDown = round == 0 || (passed / half) % 2 == 0;
  if (goesDown && passed >= event.lasts) return;
  if (goesDown)
    network_.block(a, b), network_.block(b, a);
  else
    network_.unblock(a, b), network_.unblock(b, a);
  agenda_.add(event.at + (passed / half + 1) * half, StepKind::faultEnd, a, number);
}

// A burst now and then, until it is over.
void World::hostile(const Event& event, std::uint64_t number, std::uint64_t round) {
  const Micros passed = static_cast<Micros>(round) * kBurst;
  if (round > 0 && (passed >= event.lasts || settling_)) return;
  hostileFrames(event.device % founders(), event.other % founders(), event.seed + round);
  agenda_.add(event.at + passed + kBurst, StepKind::faultEnd, event.device, number);
}

// A member whose software has gone mad: garbage, frames cut short, frames from before, lengths that lie. What it says
// is well formed enough to be read, and wrong. (Forging statements and claims in the name of others takes signatures.)
void World::hostileFrames(std::uint32_t device, std::uint32_t other, std::uint64_t seed) {
  SeededRandom random(seed);
  for (unsigned i = 0; i < 6; ++i) {
    std::string frame = network_.seen(device, other, random.next());
    switch (random.below(4)) {
      case 0:
        frame.assign(64, '\0');
        for (char& c : frame) c = static_cast<char>(random.next());
        frame[0] = 56, frame[1] = frame[2] = frame[3] = 0;
        break;
      case 1:
        if (frame.size() > 24) frame.resize(frame.size() / 16 * 8);
        // A marker that is cut in two would be one of no scope.
        if (const std::size_t at = frame.rfind(kTaintPrefix); at != std::string::npos) frame[at] = 'T';
        break;
      case 2:
        if (frame.size() > 4) frame[4] = static_cast<char>(64 + random.below(64));  // a type that nobody knows
        break;
      default: break;  // a repetition, within the connection: from an earlier one it would speak of other spaces
    }
    if (!frame.empty() && device != other) network_.forge(device, other, std::move(frame));
  }
}

// --- operators

void World::operate(Seat& at, const Event& event) {
  node::Replica& replica = at.device->replica();
  const Now now = at.device->now(agenda_.now());
  const kernel::DomainModule& module = *modules_[event.m % modules_.size()];
  const auto partitions = static_cast<std::uint64_t>(plan_.options.cluster.partitions);
  const std::string partition =
      node::partitionId(module.signature().domain, static_cast<std::uint32_t>(event.n % partitions));
  const std::uint32_t other = event.other % founders();
  std::string what = partition;
  Status done = okStatus();
  switch (event.kind) {
    case EventKind::movePartition:
      done = replica.transferOwnership(partition, ClusterSetup::deviceName(other), "rebalanced", now);
      break;
    case EventKind::seizePartition: done = replica.forceTakeover(partition, "its owner is out of reach", now); break;
    case EventKind::retire:
      what = ClusterSetup::deviceName(other);
      done = retire(replica, other);
      break;
    case EventKind::join:
      what = ClusterSetup::deviceName(static_cast<std::uint32_t>(seats_.size()));
      done = join(replica);
      break;
    default: return;
  }
  trace(at.device->index(), "ledger", enumName(event.kind), done.ok() ? what : done.error().message);
  probe(std::string(enumName(event.kind)) + (done.ok() ? " done" : " refused"));
}

// A device that leaves is switched off for good; what only it had is gone with it.
Status World::retire(node::Replica& by, std::uint32_t leaving) {
  Seat& out = seat(leaving);
  if (out.retired || out.device->name() == by.device())
    return Error{ErrorCode::conflict, out.device->name() + " cannot be retired here", ""};
  replication::LocalReplica& data = by.data();
  WITAN_TRY(members, data.membership());
  WITAN_TRY(statements, data.statements());
  for (const std::string& device : {by.device(), out.device->name()})
    if (members.standing(device) != replication::Standing::active)
      return Error{ErrorCode::conflict, device + " is no member, as far as " + by.device() + " knows", ""};
  WITAN_DO(data.addStatement(replication::proposeRetire(statements, data.writer(), out.device->name(), 1)));
  out.retired = true;
  diskLost(out, 0);
  switchOff(leaving, false, -1);
  return okStatus();
}

Status World::join(node::Replica& by) {
  if (seats_.size() >= kMostDevices) return Error{ErrorCode::unavailable, "the cluster has all its devices", ""};
  WITAN_DO(admit(by, ClusterSetup::deviceName(static_cast<std::uint32_t>(seats_.size()))));
  const std::uint32_t index = addSeat();
  agenda_.add(agenda_.now() + kSecond, StepKind::start, index);
  return okStatus();
}

Status World::admit(node::Replica& by, const std::string& device) {
  replication::LocalReplica& data = by.data();
  WITAN_TRY(members, data.membership());
  WITAN_TRY(statements, data.statements());
  return data.addStatement(
      replication::admit(statements, data.writer(), device, members.nextAdmission(device), "device"));
}

}  // namespace witan::sim

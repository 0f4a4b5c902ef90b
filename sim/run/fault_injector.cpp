#include "sim/run/fault_injector.h"

#include "base/quote.h"
#include "kernel/ledger/ledger_verify.h"
#include "replication/incarnation.h"
#include "replication/membership.h"
#include "replication/records/record_schemas.h"
#include "replication/sync_messages.h"
#include "sim/check/taint.h"
#include "sim/draw.h"
#include "sim/duration.h"
#include "sim/plan_budget.h"
#include "sim/trace_format.h"

namespace witan::sim {

namespace {
constexpr Micros kBurst = 5 * kSecond;  // between the bursts of a hostile member
constexpr std::uint64_t kAlone = 3;     // the seed of a strike that scenarios say
}  // namespace

void FaultInjector::endAll() {
  c_.network().calm();
  for (auto& at : c_.seats()) {
    at->device->setFullDisk(false);
    at->device->setSlowDisk(false);
    strikes_[*at].reset();
    clockBy_[*at] = 0;
  }
}

void FaultInjector::begin(const Event& original, std::uint64_t number) {
  Event event = original;
  event.device %= c_.founders();
  event.other %= c_.founders();
  if (event.kind == EventKind::hostile && c_.liar() != nullptr) event.device = c_.liar()->index();  // no other is
  Seat& at = c_.seat(event.device);
  const Micros until = c_.agenda().now() + event.lasts;
  const auto ends = [&] { c_.agenda().add(until, StepKind::faultEnd, event.device, number); };
  const store::Moment moment = (event.seed & 1) != 0 ? store::Moment::before : store::Moment::after;
  const std::string_view name = enumName(event.kind);
  if (c_.tracing()) c_.trace(event.device, "fault", name, faultWords(event), event.lasts);
  c_.probe(concat("fault: ", name));
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
    case EventKind::crash: clockBy_[at] = clockBy(event); return c_.switchOff(event.device, true, until);
    case EventKind::writeCrash: at.device->disk(event.m % kStores).crashAt(event.n % 6, moment); return;
    case EventKind::ioError: at.device->disk(event.m % kStores).failAt(event.n % 6, moment); return;
    case EventKind::sagaCrash:
      strikes_[at] = Strike{event.m % 2, event.n % 6, moment, c_.agenda().now() + kStrikeWithin};
      strikes_[at]->clockBy = clockBy(event);
      if (event.seed % 4 == 3 && at.running() && std::as_const(at.replica()).agents() != nullptr) {
        strikes_[at]->held = at.replica().agents()->sagas().rows().heldChanges();
        strikes_[at]->alone = event.seed == kAlone;
        strikes_[at]->until += kStrikeWithin;
      }
      return;
    case EventKind::toolOutage: ++at.toolsDown; return ends();
    case EventKind::pause:
      if (!at.running() || at.device->paused) return;
      at.device->paused = true;
      c_.agenda().add(until, StepKind::resume, event.device);
      return;
    case EventKind::loseDisk:
      c_.switchOff(event.device, true, until);
      c_.diskLost(at, 0);
      at.device->wipe();
      imageAt_[at].at = -1;
      return;
    case EventKind::restore:
      if (imageAt_[at].at < 0 || event.m == 1) {  // makes the copy that a later one goes back to
        if (!at.running()) return;
        at.device->keepImage();
        imageAt_[at].at = c_.agenda().now();
        return;
      }
      c_.switchOff(event.device, true, until);
      c_.diskLost(at, imageAt_[at].at);
      at.sidecarRolledBack = at.sidecarRolledBack || (event.seed & 1) != 0;
      at.device->restoreImage((event.seed & 1) != 0);
      at.rolledBack = true;
      return;
    case EventKind::restoreLedgers:
      if (event.m == 1 || !at.device->hasLedgersImage()) {
        if (at.running()) at.device->keepLedgersImage();
        return;
      }
      c_.switchOff(event.device, true, until);
      c_.diskLost(at, c_.agenda().now());  // of its writes nothing is
      at.device->restoreLedgersImage();
      at.rolledBack = true;
      return;
    case EventKind::fullDisk: at.device->setFullDisk(true); return ends();
    case EventKind::slowDisk: at.device->setSlowDisk(true); return ends();
    case EventKind::bitRot: return rot(event);
    case EventKind::clockJump:
      at.device->jumpClock((event.m == 1 ? -1 : 1) * static_cast<Micros>(event.n) * 1000);
      return;
    case EventKind::movePartition:
    case EventKind::seizePartition:
    case EventKind::retire:
    case EventKind::readmit:
    case EventKind::join: {
      return c_.put(event.device, {.kind = Arrival::Kind::event, .event = number});
    }
    case EventKind::comeback: return comeBack(event);
    case EventKind::hostile: return hostile(event, number, 0);
    case EventKind::engineOutage:
      if (!c_.etcd()) return;
      c_.etcd()->outage(event.n, event.seed, true);
      return ends();
    default: return;
  }
}

// A retired device is found in a drawer. Only once every member has heard that it is retired, and nobody new comes who
// has not.
void FaultInjector::comeBack(const Event& event) {
  std::vector<Seat*> retired;
  for (auto& at : c_.seats())
    if (at->retired && !at->running()) retired.push_back(at.get());
  if (retired.empty() || c_.plan().options.faults.joins > 0 || c_.etcd()) return;
  Seat& back = *retired[event.n % retired.size()];
  for (Seat* at : c_.members()) {
    if (!at->works()) return;
    const auto members = at->replica().data().membership();
    if (!members.ok() || members->standing(back.name()) != replication::Standing::retired) return;
  }
  back.returned = true;
  c_.probe("retired device returns");
  c_.agenda().add(c_.agenda().now(), StepKind::start, back.index());
}

// One bit of the ledgers' store. The log has checks of its own: a restart must find it, or where a snapshot spares it
// the reading, verification of the ledger. Then the disk is given up. What RocksDB's checksums find elsewhere, this
// twin of it cannot; there the operator is taken to have seen the report.
void FaultInjector::rot(const Event& event) {
  Seat& at = c_.seat(event.device);
  const auto key = at.device->disk(2).rot(event.n, event.seed);
  if (!key) return;
  c_.switchOff(event.device, false, -1);
  // "p/udt/0/" and then 'l' with eight bytes of a number.
  const std::size_t row = key->size() - std::min<std::size_t>(key->size(), 9);
  const bool inLog = key->starts_with("p/") && (*key)[row] == 'l' && (*key)[row - 1] == '/';
  if (inLog && at.device->start(c_.agenda().now()).ok()) {
    at.device->stop();
    store::PrefixStore rows(at.device->disk(2), key->substr(0, row));
    auto report = kernel::verifyLedger(rows, {nullptr, std::nullopt});
    if (report.ok() && report->ok())
      return c_.failed("bit-rot",
                       at.name() + " starts from, and verifies, a log with a flipped bit in " + inQuotes(*key));
  }
  c_.probe(inLog ? "bit rot found" : "bit rot beside the log");
  c_.diskLost(at, 0);
  at.device->wipe();
  imageAt_[at].at = -1;
  c_.agenda().add(c_.agenda().now() + event.lasts, StepKind::start, event.device);
}

void FaultInjector::blockAll(const Event& event, bool block) {
  if (c_.etcd() && !blockEtcd(event, block)) return;
  const auto devices = static_cast<std::uint32_t>(c_.seats().size());
  const auto set = [&](std::uint32_t from, std::uint32_t to) {
    if (from == to) return;
    block ? c_.network().block(from, to) : c_.network().unblock(from, to);
  };
  const auto both = [&](std::uint32_t a, std::uint32_t b) { set(a, b), set(b, a); };
  const std::uint32_t a = event.device % c_.founders(), b = event.other % c_.founders();
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

// Etcd stands somewhere: on one side of a split, and with an isolated device or with all others. Whether the devices
// are cut off from each other as well; a device may lose its way to etcd alone.
bool FaultInjector::blockEtcd(const Event& event, bool block) {
  const auto set = [&](std::uint32_t device) { block ? c_.etcd()->block(device) : c_.etcd()->unblock(device); };
  switch (event.kind) {
    case EventKind::split:
      for (std::uint32_t i = 0; i < c_.founders(); ++i)
        if ((event.n >> i & 1) != (event.seed & 1)) set(i);
      return true;
    case EventKind::offline: set(event.device % c_.founders()); return true;
    case EventKind::isolate:
      if (event.seed % 3 != 0) set(event.device % c_.founders());
      return event.seed % 3 != 1;
    default: return true;
  }
}

void FaultInjector::end(std::uint64_t number) {
  const Event& event = c_.plan().events[number];
  Seat& at = c_.seat(event.device % c_.founders());
  switch (event.kind) {
    case EventKind::flap: return flap(event, number, 1);
    case EventKind::fullDisk: at.device->setFullDisk(false); return;
    case EventKind::slowDisk: return at.device->setSlowDisk(false);
    case EventKind::toolOutage: --at.toolsDown; return;
    case EventKind::hostile:
      return hostile(event, number, static_cast<std::uint64_t>((c_.agenda().now() - event.at) / kBurst));
    case EventKind::engineOutage: return c_.etcd()->outage(event.n, event.seed, false);
    default:
      c_.trace(event.device % c_.founders(), "fault", "heals", enumName(event.kind));
      return blockAll(event, false);
  }
}

// Down and up every few seconds. Rounds alternate; the end finds the link up.
void FaultInjector::flap(const Event& event, std::uint64_t number, std::uint64_t round) {
  const std::uint32_t a = event.device % c_.founders(), b = event.other % c_.founders();
  if (a == b) return;
  const Micros half = static_cast<Micros>(event.m % 20'000 + 500) * 1000;
  const Micros passed = c_.agenda().now() - event.at;
  const bool goesDown = round == 0 || (passed / half) % 2 == 0;
  if (goesDown && passed >= event.lasts) return;
  if (goesDown)
    c_.network().block(a, b), c_.network().block(b, a);
  else
    c_.network().unblock(a, b), c_.network().unblock(b, a);
  c_.agenda().add(event.at + (passed / half + 1) * half, StepKind::faultEnd, a, number);
}

// A burst now and then, until it is over.
void FaultInjector::hostile(const Event& event, std::uint64_t number, std::uint64_t round) {
  const Micros passed = static_cast<Micros>(round) * kBurst;
  if (round > 0 && (passed >= event.lasts || c_.settling())) return;
  const std::uint32_t by = c_.liar() == nullptr ? event.device % c_.founders() : c_.liar()->index();
  const std::uint32_t to = event.other % c_.founders();
  SeededRandom random(event.seed + round);
  // Of some the connection lasts.
  std::string quiet = event.seed % 3 == 0 && by != to ? acknowledgement(by, to, random) : std::string();
  if (!quiet.empty())
    c_.network().forge(by, to, std::move(quiet));
  else
    hostileFrames(by, to, event.seed + round);
  c_.agenda().add(event.at + passed + kBurst, StepKind::faultEnd, event.device, number);
}

// Well formed, and impossible: numbers at the end of what fits.
std::string FaultInjector::absurdFrame(std::uint32_t device, std::uint32_t other, Random& random) {
  SimDevice& by = *c_.seat(device).device;
  if (!by.running()) return {};
  c_.probe("absurd frame");
  constexpr std::uint64_t kOfNone = std::uint64_t{1} << 40;  // claimed of a partition that no device has
  constexpr std::uint64_t kNumbers[] = {~std::uint64_t{0}, std::uint64_t{1} << 63, (std::uint64_t{1} << 62) + 1,
                                        kOfNone};
  const std::uint64_t number = kNumbers[random.below(std::size(kNumbers))];
  const std::string& partition = c_.partitions()[random.below(c_.partitions().size())].second;
  const std::string claimed = number == kOfNone ? concat(partition, "000") : partition;
  const std::string owner = random.below(2) == 0 || !c_.seat(other).running() ? by.replica().ownerName()
                                                                              : c_.seat(other).replica().ownerName();
  node::PeerAdvertisement standing{.owner = by.replica().ownerName()};
  if (c_.etcd()) standing.engine = "etcd";
  std::string frame;
  WordWriter words;
  switch (random.below(4)) {
    case 3: return random.below(12) == 0 ? context(device, other, random) : acknowledgement(device, other, random);
    case 0: standing.claims.push_back({claimed, number, owner, kernel::EpochCause::seizure, number, number, {}}); break;
    case 1:
      standing.positions.push_back({.partition = partition, .batches = number, .entries = number});
      standing.positions.back().epochs.push_back({number, owner, random.below(2) == 0 ? 0 : number});
      break;
    default: {
      node::Answer answer{.operationId = "op-0", .outcome = kernel::Outcome::approved, .seq = number};
      answer.epochNumber = number, answer.epochOwner = owner, answer.asked = number;
      appendFrame(frame, words, answer);
      return frame;
    }
  }
  appendFrame(frame, words, standing);
  if (!c_.etcd()) c_.seat(other).absurd[device].insert(frame);
  return frame;
}

// That an agent's state was taken away by its author, which knew commits that no device can have made.
std::string FaultInjector::context(std::uint32_t device, std::uint32_t other, Random& random) {
  const replication::Space* own = c_.seat(device).device->replica().data().findSpace("agents/main");
  if (own == nullptr || hasKeys(c_.plan().options.cluster)) return {};
  const auto& names = own->writers().byName();
  const auto self = names.find(own->selfName());
  if (self == names.end() || names.size() < 2) return {};
  const auto mine = static_cast<std::uint64_t>(std::distance(names.begin(), self));
  const std::uint64_t number = replication::kMaxCounterJump * (2 + random.below(200));
  std::string rows, frame;
  replication::appendVersionRow(rows, {.kind = replication::Kind::agentState,
                                       .key = "agent-0",
                                       .writer = mine,
                                       .seq = own->vector().at(own->self()) + 1,
                                       .tombstone = true,
                                       .context = {{mine == 0 ? 1 : 0, number}}});
  WordWriter words;
  replication::appendFrame(frame, words, replication::Segment{.space = 1, .rows = replication::asData(rows)});
  c_.probe("absurd context");
  c_.seat(other).absurd[device].insert(frame);
  return frame;
}

// Of more batches than there are, by a few or by all that a number can say.
std::string FaultInjector::acknowledgement(std::uint32_t device, std::uint32_t other, Random& random) {
  Seat& at = c_.seat(other);
  if (!at.running() || c_.etcd()) return {};
  const std::string& partition = c_.partitions()[random.below(c_.partitions().size())].second;
  const node::PartitionHost* host = at.replica().host(partition);
  if (host == nullptr || !c_.seat(device).device->isLedgerReplica()) return {};
  const std::uint64_t beyond = random.below(4) == 0 ? std::uint64_t{1} << 40 : 1 + random.below(20);
  std::string frame;
  WordWriter words;
  appendFrame(frame, words, node::Followed{partition, host->ledger().batches() + beyond});
  c_.probe("acknowledged beyond the log");
  return frame;
}

// A member whose software has gone mad: garbage, frames cut short, frames from before, lengths that lie. What it says
// is well formed enough to be read, and wrong. (Forging statements and claims in the name of others takes signatures.)
void FaultInjector::hostileFrames(std::uint32_t device, std::uint32_t other, std::uint64_t seed) {
  if (device == other) return;
  SeededRandom random(seed);
  for (unsigned i = 0; i < 6; ++i) {
    std::string frame = c_.network().seen(device, other, random.next());
    switch (random.below(5)) {
      case 4: frame = absurdFrame(device, other, random); break;
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
    if (!frame.empty()) c_.network().forge(device, other, std::move(frame));
  }
}

// Power fails while a saga is under way: at one of the next writes of either database.
void FaultInjector::beforeDrain(Seat& at) {
  if (!strikes_[at]) return;
  if (c_.agenda().now() > strikes_[at]->until) return strikes_[at].reset();
  const agents::AgentHost* host = std::as_const(at.replica()).agents();
  if (host == nullptr || (at.replica().agents()->sagas().open() == 0 && !strikes_[at]->alone)) return;
  if (strikes_[at]->held && at.replica().agents()->sagas().rows().heldChanges() <= *strikes_[at]->held) return;
  at.device->disk(strikes_[at]->store).crashAt(strikes_[at]->steps, strikes_[at]->moment);
  c_.probe(strikes_[at]->held ? "power fails after something was put aside" : "power fails in a saga");
  clockBy_[at] = strikes_[at]->clockBy;
  strikes_[at].reset();
}

// Where clocks jump, one in three finds its own minutes or hours off when its power is back.
Micros FaultInjector::clockBy(const Event& event) const {
  SeededRandom random(streamSeed(event.seed, "clock while off"));
  if (c_.plan().options.faults.clockJumps == 0 || event.seed == 0 || random.below(3) != 0) return 0;
  const Micros by = random.below(2) == 0 ? static_cast<Micros>(1 + random.below(60)) * 60 * kSecond
                                         : static_cast<Micros>(1 + random.below(12)) * kMicrosPerHour;
  return random.below(3) == 0 ? by : -by;
}

void FaultInjector::onStopped(Seat& at) {
  const Micros by = std::exchange(clockBy_[at], 0);
  if (by == 0) return;
  at.device->jumpClock(by);
  c_.probe(by < 0 ? "clock set back while off" : "clock set ahead while off");
  if (c_.tracing()) c_.trace(at.index(), "fault", "clock set while off", formatDuration(by));
}

}  // namespace witan::sim

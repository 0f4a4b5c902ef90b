#include "sim/etcd_service.h"

#include <algorithm>
#include <utility>

#include "sim/network.h"

namespace witan::sim {

using namespace node;

namespace {

constexpr Micros kTick = kSecond / 2;          // as often as etcd looks after its leases
constexpr Micros kApply = 2'000;               // mean, to reach a majority's disks
constexpr Micros kApplyDegraded = 20'000;      // with a member less
constexpr Micros kStall = 10 * kSecond;        // until a cut connection dies
constexpr Micros kCompactEvery = 5 * kSecond;  // far more often than anybody would
constexpr Micros kWatchLag = 500'000;          // now and then

std::size_t bytesIn(const EtcdRequest& request) {
  std::size_t bytes = 0;
  for (const EtcdOp& op : request.then) bytes += op.value.size();
  return bytes;
}

}  // namespace

EtcdService::EtcdService(const NetworkOptions& options, std::uint64_t seed, std::uint32_t devices, Agenda& agenda,
                         EtcdHooks& hooks, std::size_t takes)
    : options_(options), random_(seed ^ 0x65746364u), agenda_(agenda), hooks_(hooks), takes_(takes), links_(devices) {
  put({}, agenda_.now() + 1'000);
}

// --- parcels

void EtcdService::put(Parcel parcel, Micros when) {
  const std::uint64_t id = nextParcel_++;
  agenda_.add(when, StepKind::etcd, parcel.device, id);
  parcels_.emplace(id, std::move(parcel));
}

Micros EtcdService::delay() { return options_.delayMinMicros + drawExponential(random_, options_.delayMeanMicros); }

void EtcdService::step(std::uint64_t id) {
  const auto at = parcels_.find(id);
  if (at == parcels_.end()) return;
  Parcel& parcel = at->second;
  const bool onTheLink = parcel.kind == Parcel::Kind::request || parcel.kind == Parcel::Kind::answer;
  if (onTheLink && links_[parcel.device].blocked > 0) {
    links_[parcel.device].held.push_back(id);
    return;
  }
  Parcel mine = std::move(parcel);
  parcels_.erase(at);
  hand(mine);
}

void EtcdService::hand(Parcel& parcel) {
  Link& link = links_[parcel.device];
  switch (parcel.kind) {
    case Parcel::Kind::tick: return tick();
    case Parcel::Kind::request: return atServer(parcel);
    case Parcel::Kind::apply: {
      EtcdAnswer done = apply(parcel.request);
      answer(parcel.device, parcel.session, std::move(done));
      return tellWatchers();
    }
    case Parcel::Kind::answer:
      if (link.session == parcel.session) hooks_.onEtcdAnswer(parcel.device, std::move(parcel.answer));
      return;
    case Parcel::Kind::connected:
      if (link.session == parcel.session) hooks_.onEtcdConnected(parcel.device);
      return;
    case Parcel::Kind::disconnected:
      if (link.session == 0) hooks_.onEtcdDisconnected(parcel.device);
      return;
  }
}

void EtcdService::send(std::uint32_t device, EtcdRequest request, Micros when) {
  Link& link = links_[device];
  if (link.session == 0) return;
  put({.kind = Parcel::Kind::request, .device = device, .session = link.session, .request = std::move(request)},
      when + delay());
}

EtcdAnswer EtcdService::apply(const EtcdRequest& request) {
  EtcdAnswer done = model_.apply(request, agenda_.now());
  if (done.succeeded) hooks_.onEtcdApplied(request);
  return done;
}

void EtcdService::atServer(Parcel& parcel) {
  Link& link = links_[parcel.device];
  if (parcel.request.call == EtcdCall::watch) {
    if (link.session != parcel.session) return;
    link.watch = parcel.request.id;
    link.watched = parcel.request.keys;
    link.watchFrom = parcel.request.from;
    return tellWatchers();
  }
  const auto refuse = [&](EtcdError why) {
    EtcdAnswer no{.id = parcel.request.id, .error = why};
    answer(parcel.device, parcel.session, std::move(no));
  };
  if (takes_ != 0 && bytesIn(parcel.request) > takes_) return refuse(EtcdError::tooLarge);
  if (!leader_) {
    if (random_.below(2) == 0) refuse(EtcdError::unavailable);
    return;
  }
  const bool degraded = std::any_of(std::begin(gone_), std::end(gone_), [](int n) { return n > 0; });
  parcel.kind = Parcel::Kind::apply;
  put(std::move(parcel), agenda_.now() + drawExponential(random_, degraded ? kApplyDegraded : kApply));
}

void EtcdService::answer(std::uint32_t device, std::uint64_t session, EtcdAnswer said) {
  if (links_[device].session != session) return;
  put({.kind = Parcel::Kind::answer, .device = device, .session = session, .answer = std::move(said)},
      agenda_.now() + delay());
}

void EtcdService::tellWatchers() {
  for (std::uint32_t device = 0; device < links_.size(); ++device) {
    Link& link = links_[device];
    if (link.session == 0 || link.watch == 0 || link.watchFrom > model_.revision()) continue;
    auto changes = model_.changes(link.watched, link.watchFrom);
    Parcel parcel;
    parcel.kind = Parcel::Kind::answer;
    parcel.device = device;
    parcel.session = link.session;
    parcel.answer.id = link.watch;
    parcel.answer.revision = model_.revision();
    if (!changes) {
      parcel.answer.error = EtcdError::compacted;
      link.watch = 0;
    } else {
      link.watchFrom = model_.revision() + 1;
      if (changes->empty()) continue;
      parcel.answer.changes = *std::move(changes);
    }
    const Micros lag = random_.below(50) == 0 ? drawExponential(random_, kWatchLag) : 0;
    link.watchArrival = std::max(link.watchArrival + 1, agenda_.now() + delay() + lag);
    const Micros when = link.watchArrival;
    put(std::move(parcel), when);
  }
}

// --- connections

void EtcdService::block(std::uint32_t device) {
  if (device >= links_.size()) return;
  if (links_[device].blocked++ == 0) links_[device].blockedAt = agenda_.now();
}

void EtcdService::unblock(std::uint32_t device) {
  if (device >= links_.size() || --links_[device].blocked > 0) return;
  // What waited comes now, if anybody waits for it.
  for (const std::uint64_t id : std::exchange(links_[device].held, {}))
    agenda_.add(agenda_.now() + delay(), StepKind::etcd, device, id);
}

void EtcdService::kill(std::uint32_t device, std::string_view why) {
  Link& link = links_[device];
  if (link.session == 0) return;
  hooks_.onEtcd(device, why, {});
  link.session = 0;
  link.watch = 0;
  // Of what the cut holds back, requests may yet get through: the last gasp of a dying connection.
  for (const std::uint64_t id : std::exchange(link.held, {})) {
    const auto at = parcels_.find(id);
    if (at->second.kind == Parcel::Kind::request && random_.below(2) == 0)
      agenda_.add(agenda_.now() + drawExponential(random_, kSecond), StepKind::etcd, device, id);
    else
      parcels_.erase(at);
  }
  put({.kind = Parcel::Kind::disconnected, .device = device}, agenda_.now() + delay());
}

void EtcdService::stopped(std::uint32_t device) {
  if (device >= links_.size()) return;
  links_[device].session = 0;
  links_[device].watch = 0;
}

void EtcdService::dial(std::uint32_t device) {
  Link& link = links_[device];
  if (link.session != 0 || link.blocked > 0 || !hooks_.etcdReachable(device)) return;
  const std::uint64_t choice = random_.below(kMembers);
  for (std::uint32_t i = 0; i < kMembers; ++i) {
    const auto member = static_cast<std::uint32_t>((choice + i) % kMembers);
    if (gone_[member] > 0) continue;
    link.session = nextSession_++;
    link.member = member;
    link.watchArrival = 0;
    return put({.kind = Parcel::Kind::connected, .device = device, .session = link.session}, agenda_.now() + delay());
  }
}

// --- members

bool EtcdService::hasQuorum() const {
  return std::count_if(std::begin(gone_), std::end(gone_), [](int n) { return n > 0; }) * 2 <
         static_cast<std::ptrdiff_t>(kMembers);
}

void EtcdService::outage(std::uint64_t count, std::uint64_t choice, bool begins) {
  for (std::uint64_t i = 0; i < std::min<std::uint64_t>(count, kMembers); ++i) {
    const auto member = static_cast<std::uint32_t>((choice + i) % kMembers);
    gone_[member] += begins ? 1 : -1;
    if (!begins) continue;
    for (std::uint32_t device = 0; device < links_.size(); ++device)
      if (links_[device].member == member) kill(device, "member of etcd gone");
  }
  if (leader_ && (gone_[leaderMember_] > 0 || !hasQuorum())) loseLeader();
}

void EtcdService::loseLeader() {
  leader_ = false;
  electedAt_ = -1;
  hooks_.onEtcd(~std::uint32_t{0}, "etcd without a leader", {});
  // What it was about to do is done or is not; who asked is not told.
  std::vector<std::uint64_t> applying;
  for (const auto& [id, parcel] : parcels_)
    if (parcel.kind == Parcel::Kind::apply) applying.push_back(id);
  for (const std::uint64_t id : applying) {
    if (random_.below(2) == 0) {
      (void)apply(parcels_.find(id)->second.request);
      hooks_.onEtcd(parcels_.find(id)->second.device, "etcd applied without an answer", {});
    }
    parcels_.erase(id);
  }
}

// Elections, leases, compaction, dead connections, new ones.
void EtcdService::tick() {
  const Micros now = agenda_.now();
  if (!leader_ && hasQuorum()) {
    if (electedAt_ < 0) electedAt_ = now + kSecond + drawExponential(random_, kSecond);
    if (now >= electedAt_) {
      leader_ = true;
      electedAt_ = -1;
      while (gone_[leaderMember_] > 0) leaderMember_ = (leaderMember_ + 1) % kMembers;
      model_.renewLeases(now);
      hooks_.onEtcd(~std::uint32_t{0}, "etcd has a leader", {});
    }
  }
  if (leader_) {
    model_.expire(now);
    if (now >= compactAt_) {
      compactAt_ = now + kCompactEvery;
      model_.compact(model_.revision());
    }
    tellWatchers();
  }
  for (std::uint32_t device = 0; device < links_.size(); ++device) {
    if (links_[device].blocked > 0 && now - links_[device].blockedAt > kStall) kill(device, "etcd connection dies");
    dial(device);
  }
  put({}, now + kTick);
}

}  // namespace witan::sim

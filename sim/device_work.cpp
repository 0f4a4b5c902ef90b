// A device at work: what it finds in its inbox, what leaves it when that is durable, its timer, and its power.
#include <algorithm>

#include "sim/decision_words.h"
#include "sim/frame_words.h"
#include "sim/world.h"

namespace witan::sim {

namespace {

constexpr Micros kRetryStart = 5 * kSecond;
constexpr std::size_t kMaxInbox = 100'000;

}  // namespace

bool World::reachable(std::uint32_t device) const {
  const Seat& at = *seats_[device];
  return at.device->running() && !at.device->paused;
}

void World::onConnected(std::uint32_t device, std::uint32_t peer) {
  confinement_->closed(ClusterSetup::deviceName(device), ClusterSetup::deviceName(peer));
  Arrival arrival;
  arrival.kind = Arrival::Kind::connected;
  arrival.peer = peer;
  put(device, std::move(arrival));
}
void World::onDisconnected(std::uint32_t device, std::uint32_t peer) {
  Arrival arrival;
  arrival.kind = Arrival::Kind::disconnected;
  arrival.peer = peer;
  put(device, std::move(arrival));
}
void World::onFrames(std::uint32_t device, std::uint32_t peer, std::string frames) {
  digest_.add(frames);
  const std::string leak =
      confinement_->checkReceived(ClusterSetup::deviceName(device), ClusterSetup::deviceName(peer), frames);
  if (!leak.empty()) failed("confinement", leak);
  Arrival arrival;
  arrival.kind = Arrival::Kind::frames;
  arrival.peer = peer;
  arrival.frames = std::move(frames);
  put(device, std::move(arrival));
}
void World::onNetwork(std::uint32_t device, std::string_view what, std::uint32_t peer) {
  probe(what);
  if (tracing_) trace(device, "net", what, "with " + ClusterSetup::deviceName(peer));
}

void World::onDeparture(std::uint32_t device, std::uint32_t peer, std::string_view frames, std::uint64_t number) {
  if (tracing_)
    trace(device, "net", kSends, "to " + ClusterSetup::deviceName(peer) + ": " + frameWords(frames), 0, number);
}
void World::onArrival(std::uint32_t device, std::uint32_t peer, std::string_view frames, std::uint64_t number) {
  if (tracing_)
    trace(device, "net", kArrives, "from " + ClusterSetup::deviceName(peer) + ": " + frameWords(frames), 0, number);
}

void World::put(std::uint32_t device, Arrival arrival) {
  Seat& at = seat(device);
  if (!at.device->running()) return;
  at.inbox.push_back(std::move(arrival));
  if (at.inbox.size() > kMaxInbox)
    return failed("bounded-memory", at.device->name() + "'s inbox holds 100,000 arrivals");
  scheduleWork(device);
}

void World::scheduleWork(std::uint32_t device) {
  Seat& at = seat(device);
  if (at.workDue || at.releasing || at.device->paused || at.inbox.empty() || !at.device->running()) return;
  at.workDue = true;
  agenda_.add(at.device->busyUntil, StepKind::work, device);
}

// Everything that waits, then one drain: what came together is made durable together.
void World::work(std::uint32_t device) {
  Seat& at = seat(device);
  at.workDue = false;
  if (!at.device->running() || at.device->paused) return;
  const std::uint64_t life = at.device->life();
  while (!at.inbox.empty()) {
    Arrival arrival = std::move(at.inbox.front());
    at.inbox.pop_front();
    take(at, arrival);
    if (!at.device->running() || at.device->life() != life) return;
  }
  strikeSaga(at);
  watchConfirmation(at);  // as its agents find it
  Micros cost = 0;
  at.held.clear();
  const Status drained = at.device->drain(agenda_.now(), at.held, cost);
  if (!drained.ok()) return fail(device, drained.error());
  book_.madeDurable(device, [&](const node::Request& request) {
    const auto& all = at.device->replica().outbox().all();
    const auto found = all.find(request.operationId);
    return found != all.end() && found->second.saved && found->second.request == request;
  });
  rememberStanding(at);
  checkFenced(at);
  checkShown(at);
  checkPutOff(at);
  checkSuccession(at);
  watchRuns(at);
  if (tracing_) tellDecisions(at);
  at.device->busyUntil = agenda_.now() + cost;
  at.releasing = true;
  if (cost == 0) return release(device);
  agenda_.add(at.device->busyUntil, StepKind::release, device, life);
}

void World::take(Seat& at, Arrival& arrival) {
  node::Replica& replica = at.device->replica();
  const Now now = at.device->now(agenda_.now());
  const std::uint32_t self = at.device->index();
  switch (arrival.kind) {
    case Arrival::Kind::connected:
      trace(self, "net", "connected", ClusterSetup::deviceName(arrival.peer));
      return replica.connected(ClusterSetup::deviceName(arrival.peer), now);
    case Arrival::Kind::disconnected:
      trace(self, "net", "disconnected", ClusterSetup::deviceName(arrival.peer));
      return replica.disconnected(ClusterSetup::deviceName(arrival.peer));
    case Arrival::Kind::frames: {
      const std::string peer = ClusterSetup::deviceName(arrival.peer);
      std::string_view bytes = arrival.frames;
      while (bytes.size() >= replication::kFrameHeaderBytes) {
        std::uint32_t length = 0;
        for (unsigned i = 0; i < 4; ++i)
          length |= static_cast<std::uint32_t>(static_cast<unsigned char>(bytes[i])) << (8 * i);
        const std::size_t size = std::min<std::size_t>(bytes.size(), replication::kFrameHeaderBytes + length);
        replica.received(peer, bytes.substr(0, size), now);
        noteShown(at, arrival.peer, bytes.substr(0, size));
        bytes.remove_prefix(size);
      }
      return;
    }
    case Arrival::Kind::event:
      if (arrival.event < plan_.events.size()) {
        const Event& event = plan_.events[arrival.event];
        return isFault(event.kind) ? operate(at, event) : act(at, event);
      }
      return;
    case Arrival::Kind::tick: return replica.tick(now);
    case Arrival::Kind::etcdConnected: return replica.etcdConnected(now);
    case Arrival::Kind::etcdDisconnected: return replica.etcdDisconnected();
    case Arrival::Kind::etcdAnswer: return replica.etcdReceived(arrival.answer, now);
    case Arrival::Kind::tool: return hearTool(at, toolAnswers_[arrival.event]);
  }
}

// What was made durable leaves the device.
void World::release(std::uint32_t device) {
  Seat& at = seat(device);
  if (!at.releasing || !at.device->running() || agenda_.now() < at.device->busyUntil) return;
  at.releasing = false;
  for (node::Outgoing& send : at.held.sends) {
    const std::uint32_t peer = ClusterSetup::deviceIndex(send.peer);
    if (!send.frames.empty()) {
      network_.send(device, peer, std::move(send.frames), agenda_.now());
      at.spokenAs = at.device->replica().ownerName();
    }
    if (send.close) network_.close(device, peer);
  }
  sendToEtcd(device, std::move(at.held.etcd));
  for (node::Answered& answered : at.held.answers) {
    BookedRequest* request = book_.open(device, answered.answer.operationId, answered.answer.asked);
    digest_.add(answered.answer.operationId);
    digest_.add(answered.answer.seq);
    if (tracing_) trace(device, "ledger", "answer", answerWords(answered.answer));
    if (request == nullptr) continue;
    if (answered.answer.kind == node::AnswerKind::unavailable)
      book_.answerLost(*request);  // no decision: it may come yet
    else
      book_.answered(*request, agenda_.now(), std::move(answered.answer));
  }
  for (agents::ToolCall& call : at.held.toolCalls) callTool(device, std::move(call));
  for (const node::Notice& notice : at.held.notices) {
    probe("notice: " + notice.kind);
    trace(device, "ledger", notice.kind, notice.partition + " " + notice.what);
  }
  at.held.clear();
  setTimer(device);
  scheduleWork(device);
}

// What its owner has decided in this step, and why.
void World::tellDecisions(Seat& at) {
  for (const auto& [id, host] : at.device->replica().hosts()) {
    const std::uint64_t entries = host->position().entries;
    std::uint64_t& told = at.told[id];
    if (host->epoch().owner != at.device->replica().ownerName()) told = entries;
    told = std::min(told, entries);  // it may have gone back
    while (told < entries) {
      const auto bytes = host->ledger().entryBytes(++told);
      const auto entry = bytes.ok() ? kernel::readEntry(*bytes) : Result<kernel::Entry>(bytes.error());
      trace(at.device->index(), "ledger", "decides",
            id + " " + (entry.ok() ? entryWords(*entry) : entry.error().message));
    }
  }
}

void World::setTimer(std::uint32_t device) {
  SimDevice& at = *seat(device).device;
  const std::int64_t dueMs = at.replica().nextTickMs();
  const std::int64_t nowMs = at.now(agenda_.now()).ms;
  // A millisecond more than enough, since a drifting clock rounds.
  const Micros due = agenda_.now() + std::max<std::int64_t>(0, dueMs - nowMs) * 1000 + 2000;
  if (at.tickAt >= 0 && at.tickAt <= due) return;
  at.tickAt = due;
  agenda_.add(due, StepKind::tick, device);
}

// --- power

void World::start(std::uint32_t device) {
  Seat& at = seat(device);
  if (at.device->running() || at.down > 0 || at.retired) return;
  at.inbox.clear();
  at.workDue = at.releasing = false;
  at.held.clear();
  at.fenced.clear();
  at.shown.clear();
  if (Status started = at.device->start(agenda_.now()); !started.ok()) {
    trace(device, "fault", "does not start", started.error().message);
    if (started.error().code == ErrorCode::corrupt) {
      // Nothing may be guessed: an operator gives the disk up, and the others fill a new one.
      probe("disk given up");
      diskLost(at, 0);
      at.device->wipe();
    } else {
      probe("start refused");
      for (std::size_t n = 0; n < kStores; ++n) at.device->disk(n).reopen();
    }
    agenda_.add(agenda_.now() + kRetryStart, StepKind::start, device);
    return;
  }
  trace(device, "fault", "starts");
  for (const auto& [id, host] : at.device->replica().hosts()) at.told[id] = host->position().entries;
  checkRestart(at);
  checkCopies(at);
  if (std::exchange(at.wentBack, false))
    for (const auto& [id, host] : at.device->replica().hosts())
      goneBack_[id].push_back(
          {at.device->replica().ownerName(), LostRange{host->epoch(), host->partition().size() + 1}});
  network_.started(device);
  put(device, {});
}

// Stops at once. With `power`: what was not synced is lost.
void World::switchOff(std::uint32_t device, bool power, Micros backAt) {
  Seat& at = seat(device);
  if (at.device->running()) {
    ++result_.statistics.crashes;
    at.device->stop();
    network_.stopped(device);
    if (etcd_) etcd_->stopped(device);
  }
  if (power) at.device->losePower();
  for (const node::Answered& answered : at.held.answers)
    if (BookedRequest* request = book_.open(device, answered.answer.operationId, answered.answer.asked))
      book_.answerLost(*request);
  book_.stopped(device);
  forgetRuns(at, false);
  at.inbox.clear();
  at.workDue = at.releasing = false;
  at.device->paused = false;
  at.held.clear();
  if (backAt >= 0) agenda_.add(backAt, StepKind::start, device);
}

// A store failed under the device: what is in memory is ahead of the disk, so it starts again.
void World::fail(std::uint32_t device, const Error& why) {
  Seat& at = seat(device);
  trace(device, "fault", "store fails", why.message);
  probe("store failed");
  bool power = false;
  for (std::size_t n = 0; n < kStores; ++n) power = power || at.device->disk(n).struck();
  book_.answersLost(device, [&](const std::string& id, std::uint64_t asked) {
    const auto& all = at.device->replica().outbox().all();
    const auto found = all.find(id);
    return found != all.end() && fingerprintOf(found->second.request) == asked;
  });
  switchOff(device, false, -1);
  if (power)
    at.device->losePower();
  else
    for (std::size_t n = 0; n < kStores; ++n) at.device->disk(n).reopen();
  agenda_.add(agenda_.now() + kRetryStart, StepKind::start, device);
}

}  // namespace witan::sim

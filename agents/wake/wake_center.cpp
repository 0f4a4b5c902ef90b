#include "agents/wake/wake_center.h"

#include <algorithm>

#include "agents/json_members.h"
#include "agents/memory/thread.h"
#include "agents/wake/host_choice.h"
#include "agents/wake/wake_job.h"
#include "base/mutant.h"
#include "base/quote.h"
#include "replication/records/agent_state.h"
#include "replication/records/agent_view.h"
#include "replication/records/journal_entity.h"
#include "replication/records/record_views.h"
#include "replication/writer.h"

namespace witan::agents {

using replication::AgentState;
using replication::DatabaseName;
using replication::Kind;
using replication::Lifecycle;
using replication::LocalReplica;
using replication::WakeReason;
using replication::WakeStatus;

namespace {

constexpr std::size_t kSweepAtOnce = 64, kClaimsAtOnce = 64;
constexpr std::int64_t kUnattendedMs = 1'000;  // between two looks at whether an agent can think
constexpr std::int64_t kNoRoomMs = 1'000;      // likewise at whether there is room for a timer's wake
// The agents of the last start; and the marks, by space and writer, up to which one that left had seen the batches.
constexpr std::string_view kHereRow = "intake/here";
std::string leftRow(const std::string& agentId) { return "intake/left/" + agentId; }
// The cause of a run that was not started yet and waits on the device that says so.
constexpr std::string_view kQueued = "queued";

// The entities of the batch's own space; what agents keep for themselves are none.
replication::EntityFetch entitiesOf(LocalReplica& replica, std::string_view spaceId) {
  return [&replica, spaceId](const std::string& id) -> Result<std::optional<replication::Entity>> {
    replication::Space* space = replica.findSpace(spaceId);
    if (space == nullptr) return std::optional<replication::Entity>();
    WITAN_TRY(versions, space->versions(Kind::journal, id));
    const auto view = replication::journalViewOf(versions);
    if (!view.shown || !view.siblings[*view.shown].body) return std::optional<replication::Entity>();
    const auto& body = *view.siblings[*view.shown].body;
    return std::optional(replication::Entity{id, body.type, body.payload});
  };
}

std::string_view scopeOf(std::string_view spaceId) {
  const auto slash = spaceId.find('/');
  return slash == std::string_view::npos ? spaceId : spaceId.substr(slash + 1);
}

// Said of a wake that waits; a start has a time.
bool isClaim(const replication::WakeRunBody& body) {
  return body.status == WakeStatus::started && body.startedAtMs == 0 && body.cause == kQueued;
}

bool isSelfTimer(const WakeJob& job) { return job.reason == WakeReason::timer && job.subject == kSelfTimer; }

// Seed 003, 2.1: what every end of a run changes.
void reduceAtEnd(AgentState& state, const WakeJob& job, WakeStatus status) {
  if (isSelfTimer(job)) {
    auto& schedule = state.schedule;
    schedule.firedThrough = std::max(schedule.firedThrough, static_cast<std::uint64_t>(job.scheduledAtMs));
    if (schedule.nextWakeAt && *schedule.nextWakeAt <= schedule.firedThrough) schedule.nextWakeAt.reset();
  } else if (auto& timers = state.schedule.timers;
             job.reason == WakeReason::timer &&
             (timers.size() < replication::kMaxTimers || timers.contains(job.subject))) {
    // Not the greatest: a clock that was ahead for a while would silence the timer until then.
    timers[job.subject].firedThrough = static_cast<std::uint64_t>(std::max<std::int64_t>(0, job.scheduledAtMs));
  }
  if (!job.batchHost.empty()) state.processedCounterByHost.raise(job.batchHost, job.batchCounter);
  if (status == WakeStatus::completed && !mutated("keepFailures")) state.consecutiveFailureCount = 0;
  if (status == WakeStatus::failedTerminal && state.consecutiveFailureCount < replication::kMaxStateCounter)
    ++state.consecutiveFailureCount;
}

void keepEarliest(std::optional<std::int64_t>& into, std::int64_t ms) { into = into ? std::min(*into, ms) : ms; }

}  // namespace

WakeCenter::WakeCenter(LocalReplica& replica, WakeOptions options)
    : replica_(replica),
      options_(std::move(options)),
      queue_(replica.database(DatabaseName::agents), options_.limits),
      members_{replica.device()} {}

Result<replication::Space*> WakeCenter::space() {
  return replica_.database(DatabaseName::agents).space(options_.scope);
}

Status WakeCenter::load(Now now) {
  bootMs_ = now.ms;
  WITAN_DO(queue_.load(now.ms));
  return noteWhoIsHere();
}

Status WakeCenter::add(const AgentSpec& spec) {
  WITAN_DO(validateId("agentId", spec.id));
  if (agents_.contains(spec.id)) return conflict("agent " + inQuotes(spec.id) + " is there already");
  Registered agent;
  agent.spec = &spec;
  for (const TimerSpec& timer : spec.timers) {
    WITAN_DO(validateId("timerId", timer.id));
    WITAN_DO(checkTimer(timer.everyMs));
    if (timer.id == kSelfTimer) return invalid("a timer may not be called " + inQuotes(kSelfTimer));
    if (!agent.seen.emplace(timer.id, -1).second) return invalid("two timers are called " + inQuotes(timer.id));
  }
  std::vector<std::string> added;
  for (const SubscriptionSpec& one : spec.subscriptions) {
    Status status = index_.add({one.id, spec.id, one.scope, one.tokens, one.entities});
    if (!status.ok()) {
      for (const std::string& id : added) index_.remove(spec.id, id);
      return status;
    }
    added.push_back(one.id);
    if (one.ownChanges) agent.ownChanges.insert(one.id);
    if (one.authors != Authors::anyone) agent.authors.emplace(one.id, one.authors);
  }
  agents_.emplace(spec.id, std::move(agent));
  allChanged_ = true;
  return okStatus();
}

void WakeCenter::setDevices(std::vector<std::string> members, std::set<std::string> live, Now now) {
  for (const std::string& device : live_)
    if (!live.contains(device)) leftMs_[device] = now.ms;
  live_ = std::move(live);
  live_.erase(replica_.device());
  devicesKnown_ = true;
  const std::vector<std::string> before = std::move(members_);
  members_ = std::move(members);
  members_.push_back(replica_.device());
  members_.insert(members_.end(), live_.begin(), live_.end());
  std::ranges::sort(members_);
  members_.erase(std::unique(members_.begin(), members_.end()), members_.end());
  allChanged_ = allChanged_ || members_ != before;
  // Another device may be the first now, or have left.
  for (const RunKey& key : std::exchange(aside_, {})) release(key, now);
  unclaimed_.clear();
  for (const auto& [key, entry] : queue_.all()) mayClaim(key, entry.sinceMs);
}

// --- intake

Status WakeCenter::takeEvents(Now now) {
  WITAN_DO(takeMissed(now));
  WITAN_DO(takeAgain(now));
  for (const std::string& id : replica_.spaceIds()) {
    replication::Space* from = replica_.findSpace(id);
    Intake& intake = intake_[id];
    // Batches stay in their space until the ones before them have found room.
    if (intake.next == intake.waiting.size()) {
      WITAN_TRY(events, from->takeEvents());
      if (events.empty()) continue;
      intake = {std::move(events), 0, from->vector(), true, 0};
    }
    while (intake.next < intake.waiting.size()) {
      WITAN_TRY(taken, wakeBy(id, intake.waiting[intake.next], now));
      if (taken == Taken::full) break;
      ++intake.next;
    }
    intake.mark = replica_.database(DatabaseName::agents).mark();
  }
  durable();
  return okStatus();
}

void WakeCenter::durable() {
  const std::uint64_t durable = replica_.database(DatabaseName::agents).durable();
  for (auto& [id, intake] : intake_) {
    if (!intake.taken || intake.next < intake.waiting.size()) continue;
    // In the agent database the mark goes into the batch that has the jobs; in the journal it must come after it.
    const bool together = id.starts_with(toString(DatabaseName::agents));
    if (!together && intake.mark > durable && !mutated("consumeEarly")) continue;
    const bool marked = together || !mutated("offerAgain");
    if (replication::Space* from = replica_.findSpace(id); from != nullptr && marked) from->consumed(intake.upTo);
    intake = {};
  }
}

std::size_t WakeCenter::backlog() const {
  std::size_t n = 0;
  for (const auto& [id, intake] : intake_) n += intake.waiting.size() - intake.next;
  for (const auto& [agent, missed] : missed_) n += missed.events.size() - missed.next;
  return n;
}

Status WakeCenter::batchEvents(std::string_view space, const std::vector<replication::BatchEvent>& events, Now now) {
  for (const replication::BatchEvent& event : events) {
    WITAN_TRY(taken, wakeBy(space, event, now));
    if (taken == Taken::full)
      return unavailable(concat("the wake queue is full (", queue_.size(), " wait)"),
                         "offer the batch again when some have run");
  }
  return okStatus();
}

// All agents here share one mark a space, up to which batches were consumed. One that this device ran without has marks
// of its own, from when it left: none, if it was never here.
Status WakeCenter::noteWhoIsHere() {
  replication::Database& rows = replica_.database(DatabaseName::agents);
  WITAN_TRY(before, rows.meta(kHereRow));
  json::array here;
  for (const auto& [id, agent] : agents_) here.emplace_back(id);
  const std::string now = canonicalJson(here);
  // A device of an earlier build goes on from where it is.
  if (before && *before != now) {
    WITAN_TRY(list, parseJson(*before));
    std::set<std::string, std::less<>> were;
    for (const json::value& id : list.get_array()) were.emplace(id.get_string());
    json::object marks;
    for (const std::string& id : replica_.spaceIds()) {
      replication::Space& space = *replica_.findSpace(id);
      json::object counters;
      const replication::VectorClock seen = withNames(space.delivered(), space.writers());
      for (const auto& [host, counter] : seen.entries()) counters[host] = counter;
      marks[id] = std::move(counters);
    }
    for (const std::string& id : were) {
      WITAN_TRY(missing, rows.meta(leftRow(id)));
      if (!agents_.contains(id) && !missing) rows.putMeta(leftRow(id), canonicalJson(marks));
    }
    for (const auto& [id, agent] : agents_) {
      WITAN_TRY(left, rows.meta(leftRow(id)));
      if (!were.contains(id) && !left) rows.putMeta(leftRow(id), "{}");
    }
  }
  if (!before || *before != now) rows.putMeta(kHereRow, now);
  for (const auto& [id, agent] : agents_) {
    WITAN_TRY(row, rows.meta(leftRow(id)));
    if (row && !mutated("forgetMissed")) WITAN_DO(findMissed(id, *row));
  }
  return okStatus();
}

// The agent's marks go with the jobs, in one batch.
Status WakeCenter::takeMissed(Now now) {
  for (auto at = missed_.begin(); at != missed_.end();) {
    auto& [agentId, missed] = *at;
    while (missed.next < missed.events.size()) {
      const auto& [space, event] = missed.events[missed.next];
      WITAN_TRY(taken, wakeBy(space, event, now, agentId));
      if (taken == Taken::full) break;
      ++missed.next;
    }
    if (missed.next < missed.events.size()) {
      ++at;
      continue;
    }
    if (!mutated("keepLeftRow")) replica_.database(DatabaseName::agents).eraseMeta(leftRow(agentId));
    at = missed_.erase(at);
  }
  return okStatus();
}

Result<WakeCenter::Taken> WakeCenter::wakeBy(std::string_view space, const replication::BatchEvent& event, Now now,
                                             std::string_view only, const std::set<RunKey>* among) {
  auto news = batchNews(event.dot, event.body);
  if (!news.ok()) {
    replica_.note({"badBatch", std::string(replication::deviceOf(event.dot.host)),
                   concat("batch ", event.dot.host, ":", event.dot.counter, " of ", space,
                          " wakes nobody: ", news.error().message)});
    return Taken::yes;
  }
  const auto from = provenanceOf(news->batch);
  const auto eligible = [&](const replication::Subscription& s) {
    if (!only.empty() && s.agentId != only) return false;
    const Registered& agent = agents_.find(s.agentId)->second;
    if (const auto at = agent.authors.find(s.id); at != agent.authors.end() && !mutated("anyAuthor"))
      if ((at->second == Authors::agents) != from.has_value()) return false;
    return !from || from->agentId != s.agentId || agent.ownChanges.contains(s.id);
  };
  WITAN_TRY(wakes, index_.match(news->batch, scopeOf(space), entitiesOf(replica_, space), eligible));
  for (const replication::Wake& wake : wakes) {
    if (among != nullptr && !among->contains(wake.runKey)) continue;
    WITAN_TRY(job, subscriptionJob(wake.agentId, wake.subscriptionId, space, *news));
    WITAN_TRY(enqueued, enqueue(std::move(job), now));
    if (enqueued == Enqueued::full && !mutated("fullDropsWakes")) return Taken::full;
    if (mutated("firstWakeOnly")) break;
  }
  return Taken::yes;
}

Result<bool> WakeCenter::ledgerFact(std::string_view agentId, std::string_view subscriptionId, const LedgerFact& fact,
                                    Now now) {
  WITAN_TRY(job, mutated("factWithoutKey")
                     ? ledgerJob(agentId, subscriptionId, {fact.domain, fact.entity, fact.field, "", fact.value})
                     : ledgerJob(agentId, subscriptionId, fact));
  return offer(std::move(job), now);
}

Result<bool> WakeCenter::activation(const replication::ActivationBody& activation, Now now) {
  WITAN_TRY(job, graphJob(activation));
  return offer(std::move(job), now);
}

Result<bool> WakeCenter::offer(WakeJob job, Now now) {
  WITAN_TRY(enqueued, enqueue(std::move(job), now));
  return enqueued != Enqueued::full;
}

Result<Enqueued> WakeCenter::enqueue(WakeJob job, Now now) {
  WITAN_TRY(runs, space());
  WITAN_TRY(over, hasEnded(*runs, job.key()));
  if (over && !mutated("wakeTwice")) return Enqueued::duplicate;
  job.enqueuedAtMs = std::max<std::int64_t>(0, now.wallMs());
  const RunKey key = job.key();
  const std::string agentId = job.agentId;
  const Enqueued enqueued = queue_.enqueue(std::move(job), now.ms);
  if (enqueued != Enqueued::queued) return enqueued;
  mayClaim(key, now.ms);
  // While a run of a paused agent goes on, no wake behind it waits for the resume. A planned one goes on after it.
  const bool planned = runs->table().find(Kind::plan, key.hex()) != nullptr;
  if (devicesKnown_ && !planned && queue_.head(agentId) == nullptr && !mutated("ignorePause")) {
    WITAN_TRY(state, stateOf(agentId));
    if (state.lifecycle == Lifecycle::dormant) WITAN_DO(tryStart(key, now));
  }
  return enqueued;
}

Result<RunKey> WakeCenter::userTurn(std::string_view agentId, std::string_view sessionId, std::string_view turnId,
                                    std::string_view text, Now now) {
  if (!agents_.contains(agentId)) return notFound("no agent " + inQuotes(agentId) + " runs on this device");
  WITAN_TRY(job, userJob(agentId, mutated("turnsOfAll") ? agentId : sessionId, mutated("keyFromWords") ? text : turnId,
                         text));
  const RunKey key = job.key();
  if (mutated("dropSecondTurn") &&
      std::ranges::any_of(queue_.all(), [&](const std::pair<const RunKey, WakeQueue::Entry>& one) {
        return one.second.job.agentId == agentId && one.second.job.state == JobState::queued;
      }))
    return key;
  WITAN_TRY(enqueued, enqueue(std::move(job), now));
  if (enqueued == Enqueued::full)
    return unavailable("the wake queue of agent " + inQuotes(agentId) + " is full", "try again when some have run");
  return key;
}

// --- time

// Only of what has come; a link that goes does not say whose it was.
Status WakeCenter::noticeChanges(Now now) {
  WITAN_TRY(records, space());
  bool all = std::exchange(allChanged_, false);
  std::set<std::string, std::less<>> changed;
  if (states_.look(*records, [&](const replication::Record& one) { changed.emplace(one.key()); })) all = true;
  if (links_.look(*records, [&](const replication::Record& one) { all = all || one.key().starts_with(kHostingLinks); }))
    all = true;
  const auto notice = [&](const std::string& id, Registered& agent) -> Status {
    if (all) {
      const auto hosts = hostsAmong(*records, id, members_);
      agent.hosts = rankedHosts(id, hosts.empty() ? members_ : hosts);
    }
    WITAN_TRY(state, stateOf(id));
    agent.asleep = state.lifecycle == Lifecycle::destroyed;
    agent.nextWakeAt = agent.asleep ? std::nullopt : state.schedule.nextWakeAt;
    agent.timers = std::move(state.schedule.timers);
    file(id, agent, now);
    if (state.lifecycle != Lifecycle::dormant || !devicesKnown_ || mutated("ignorePause")) return okStatus();
    std::vector<RunKey> behind;  // its run, perhaps
    for (const auto& [key, entry] : queue_.all())
      if (entry.job.agentId == id && entry.job.state == JobState::queued && entry.job.startedAtMs == 0)
        behind.push_back(key);
    for (const RunKey& key : behind)
      if (records->table().find(Kind::plan, key.hex()) == nullptr) WITAN_DO(tryStart(key, now));
    return okStatus();
  };
  if (all) {
    for (const RunKey& key : std::exchange(aside_, {})) release(key, now);
    for (auto& [id, agent] : agents_) WITAN_DO(notice(id, agent));
    return okStatus();
  }
  for (const std::string& id : changed)
    if (const auto at = agents_.find(id); at != agents_.end()) WITAN_DO(notice(id, at->second));
  return okStatus();
}

Result<AgentState> WakeCenter::stateOf(std::string_view agentId) {
  WITAN_TRY(records, space());
  WITAN_TRY(versions, records->versions(Kind::agentState, agentId));
  WITAN_TRY(view, replication::viewOf(versions, nullptr));
  return view ? std::move(view->state) : AgentState{};
}

Status WakeCenter::tick(Now now) {
  WITAN_DO(noticeChanges(now));
  const std::int64_t wallMs = now.wallMs();
  if (wallMs < tickedMs_)  // the clock was set back
    for (auto& [id, agent] : agents_) file(id, agent, now);
  tickedMs_ = wallMs;
  std::vector<std::string> due;
  for (auto at = due_.begin(); at != due_.end() && at->first <= wallMs; ++at) due.push_back(at->second);
  for (const std::string& id : due) WITAN_DO(tickTimers(id, agents_.find(id)->second, now));
  WITAN_DO(sweepEnded(now));
  WITAN_DO(claimDue(now));
  return giveUpAbandoned(now);
}

Status WakeCenter::sweepEnded(Now now) {
  WITAN_TRY(runs, space());
  std::vector<RunKey> over;
  auto at = sweptTo_ ? queue_.all().upper_bound(*sweptTo_) : queue_.all().begin();
  sweptTo_.reset();
  for (std::size_t n = 0; at != queue_.all().end() && n < kSweepAtOnce; ++at, ++n) {
    sweptTo_ = at->first;
    if (at->second.job.state == JobState::running) continue;
    WITAN_TRY(ended, hasEnded(*runs, at->first));
    if (!ended && aside_.contains(at->first)) {
      WITAN_TRY(run, runView(*runs, at->first));
      noteSaid(at->first, run, now);
    }
    if (!ended || mutated("wakeTwice")) continue;
    WITAN_TRY(left, leavesWork(at->second.job));
    if (!left) over.push_back(at->first);
  }
  if (at == queue_.all().end()) sweptTo_.reset();
  for (const RunKey& key : over) queue_.remove(key), aside_.erase(key);
  return okStatus();
}

bool WakeCenter::firstOfSeveral(const Registered& agent) const {
  std::size_t here = 0;
  std::string_view first;
  for (const std::string& host : agent.hosts) {
    if (host != replica_.device() && !live_.contains(host)) continue;
    if (here++ == 0) first = host;
  }
  return here > 1 && first == replica_.device();
}

void WakeCenter::mayClaim(const RunKey& key, std::int64_t sinceMs) {
  if (!live_.empty()) unclaimed_.emplace(sinceMs + options_.graceMs / 2, key);
}

Status WakeCenter::claimDue(Now now) {
  WITAN_TRY(runs, space());
  std::vector<replication::Write> claims;
  for (std::size_t n = 0; n < kClaimsAtOnce && !unclaimed_.empty() && unclaimed_.begin()->first <= now.ms; ++n) {
    const RunKey key = unclaimed_.begin()->second;
    unclaimed_.erase(unclaimed_.begin());
    const WakeQueue::Entry* entry = queue_.find(key);
    // Other devices do not know of a user's turn. A timer's wake gives way to the next one, without an end. A start is
    // a claim by itself.
    if (entry == nullptr || entry->job.attempts > 0 || entry->job.reason != WakeReason::subscription) continue;
    const auto agent = agents_.find(entry->job.agentId);
    if (agent == agents_.end() || !firstOfSeveral(agent->second) || mutated("graceFromArrival")) continue;
    if (!attended(agent->first)) continue;
    WITAN_TRY(run, runView(*runs, key));
    if (run.run) continue;
    WITAN_TRY(write, runWrite(runBody(entry->job, WakeStatus::started, kQueued, 0)));
    claims.push_back(std::move(write));
  }
  if (claims.empty()) return okStatus();
  WITAN_DO(replica_.commit(DatabaseName::agents, options_.scope, claims));
  return okStatus();
}

Status WakeCenter::giveUpAbandoned(Now now) {
  if (now.ms < nextOrphanScanMs_) return okStatus();
  nextOrphanScanMs_ = now.ms + std::max<std::int64_t>(1, options_.abandonMs / 4);
  WITAN_TRY(runs, space());
  std::map<RunKey, std::int64_t> orphans;
  for (const std::string& name : runs->keys(Kind::wakeRun)) {  // one after the other: there may be very many
    const auto key = RunKey::parse(name);
    if (!key.ok()) continue;
    WITAN_TRY(view, runView(*runs, *key));
    const KnownRun run{*key, std::move(view)};
    if (!run.view.run || replication::isTerminal(run.view.run->body.status) || queue_.find(run.key)) continue;
    const std::string starter(replication::deviceOf(run.view.run->dot.host));
    if (starter != replica_.device() && live_.contains(starter)) continue;
    // It was not begun, and waits in the queue of its device until that is back.
    const bool member = std::ranges::binary_search(members_, starter);
    if (isClaim(run.view.run->body) && starter != replica_.device() && member) continue;
    const auto before = orphans_.find(run.key);
    const std::int64_t since = before == orphans_.end() ? now.ms : before->second;
    // One of those that see each other says so; of a device that is there and has forgotten it, that device.
    const bool first =
        starter == replica_.device() || std::ranges::none_of(live_, [&](auto& d) { return d < replica_.device(); });
    if (now.ms - since < options_.abandonMs || !first) {
      orphans.emplace(run.key, since);
      continue;
    }
    replication::WakeRunBody body = run.view.run->body;
    body.status = WakeStatus::failedTerminal;
    body.cause = "abandoned: device " + starter + " did not end it and nobody else had it";
    body.finishedAtMs = std::max<std::int64_t>(0, now.wallMs());
    WITAN_TRY(write, runWrite(body));
    WITAN_DO(replica_.commit(DatabaseName::agents, options_.scope, {&write, 1}));
  }
  orphans_ = std::move(orphans);
  return okStatus();
}

std::optional<std::int64_t> WakeCenter::nextMs(Now now) const {
  std::optional<std::int64_t> next = queue_.nextDueMs(now.ms);
  if (nextTurnMs_) keepEarliest(next, *nextTurnMs_);
  if (!unclaimed_.empty()) keepEarliest(next, unclaimed_.begin()->first);
  if (!due_.empty()) {
    // What is due since the last tick found no room.
    const std::int64_t due = due_.begin()->first, wallMs = now.wallMs();
    keepEarliest(next, now.ms + (due <= tickedMs_ ? kNoRoomMs : std::max<std::int64_t>(0, due - wallMs)));
  }
  if (!orphans_.empty()) keepEarliest(next, nextOrphanScanMs_);
  return next;
}

// --- runs

WakeCenter::Turn WakeCenter::turnOf(const WakeQueue::Entry& entry, const replication::WakeRunView& run) const {
  // Other devices do not know of it.
  if (entry.job.reason == WakeReason::user || mutated("noGrace")) return {false, entry.dueMs};
  const auto leftAt = [&](const std::string& device) {
    const auto left = leftMs_.find(device);
    return left == leftMs_.end() ? bootMs_ : left->second;
  };
  const auto first = first_.find(entry.job.agentId);
  std::int64_t since = entry.sinceMs;
  if (first != first_.end() && first->second.key == entry.job.key() && !mutated("graceFromArrival"))
    since = std::max(since, first->second.sinceMs);
  const std::vector<std::string>& hosts = agents_.find(entry.job.agentId)->second.hosts;
  const auto me = std::ranges::find(hosts, replica_.device());
  if (me == hosts.end()) return {true, 0};
  Turn turn{false, entry.dueMs};
  std::int64_t before = 0;
  for (auto host = hosts.begin(); host != me; ++host) {
    if (live_.contains(*host))
      ++before;
    else  // it may have run it just before it left
      turn.atMs = std::max(turn.atMs, leftAt(*host) + options_.graceMs);
  }
  turn.atMs = std::max(turn.atMs, since + before * options_.graceMs);
  if (run.run) {
    const std::string starter(replication::deviceOf(run.run->dot.host));
    // A device that does not host the agent any more will not start the wakes that wait there.
    const bool over = isClaim(run.run->body) && std::ranges::find(hosts, starter) == hosts.end();
    if (starter != replica_.device() && !over && !mutated("ignoreStarter")) {
      const bool here = live_.contains(starter);
      // One that waits there for its budget says so now and then.
      if (!mutated("abandonWaiting")) since = std::max(since, entry.saidMs);
      turn.atMs = std::max(turn.atMs, here ? since + options_.abandonMs : leftAt(starter) + options_.graceMs);
    }
  }
  return turn;
}

Result<bool> WakeCenter::leavesWork(const WakeJob& job) {
  if (job.attempts == 0) return false;
  WITAN_TRY(records, space());
  WITAN_TRY(view, replication::planViewIn(*records, job.key()));
  if (!view.winner || view.losers.empty() || replication::deviceOf(view.winner->dot.host) != replica_.device())
    return false;
  return std::ranges::any_of(view.winner->operations, [&](const OperationId& one) {
    return records->table().find(Kind::operation, one.hex()) == nullptr;
  });
}

Result<std::vector<WakeJob>> WakeCenter::takeRunnable(Now now) {
  std::vector<WakeJob> started;
  if (!devicesKnown_) return started;
  WITAN_DO(noticeChanges(now));
  nextTurnMs_.reset();
  for (const RunKey& first : queue_.heads(now.ms)) {
    if (queue_.running() >= options_.running) break;
    const std::string agentId = queue_.find(first)->job.agentId;
    // A wake that ends here makes room for the next one of its agent.
    for (;;) {
      const WakeQueue::Entry* head = queue_.head(agentId);
      if (head == nullptr || head->dueMs > now.ms) break;
      const RunKey key = head->job.key();
      if (First& next = first_[agentId]; next.key != key) next = {key, now.ms};
      WITAN_TRY(job, tryStart(key, now));
      if (job) started.push_back(std::move(*job));
      const WakeQueue::Entry* next = queue_.head(agentId);
      if (job || (next != nullptr && next->job.key() == key)) break;
    }
  }
  return started;
}

// Seed 003, 3.5: mode and policy. What an agent itself has left behind, it may always put in order.
std::string WakeCenter::barredBy(const AgentState& state, const WakeJob& job) const {
  if (job.subject == kConflictSubject || job.subject == kFoldSubject) return {};
  const bool itself = job.reason == WakeReason::subscription || job.reason == WakeReason::timer;
  if (state.mode == replication::AgentMode::interactive && itself)
    return "the agent is interactive: only people wake it";
  const auto agent = agents_.find(job.agentId);
  return options_.barred ? options_.barred(*agent->second.spec, job.reason) : std::string();
}

void WakeCenter::noteSaid(const RunKey& key, const replication::WakeRunView& run, Now now) {
  if (run.run && replication::deviceOf(run.run->dot.host) != replica_.device()) queue_.says(key, run.run->dot, now.ms);
}

// What another device has put off, for the budget of a day perhaps, is in nobody's way here: two devices might each
// wait for what the other has put off.
bool WakeCenter::waitsElsewhere(const replication::WakeRunBody& run, std::string_view device) const {
  const bool putOff = run.status == WakeStatus::started && !run.cause.empty() && !isClaim(run);
  return putOff && device != replica_.device() && live_.contains(std::string(device)) && !mutated("waitBehind");
}

Result<std::optional<WakeJob>> WakeCenter::tryStart(const RunKey& key, Now now) {
  const std::optional<WakeJob> none;
  const WakeQueue::Entry& entry = *queue_.find(key);
  if (!agents_.contains(entry.job.agentId)) return none;
  if (!attended(entry.job.agentId)) {
    keepEarliest(nextTurnMs_, now.ms + kUnattendedMs);
    return none;
  }
  WITAN_TRY(runs, space());
  WITAN_TRY(run, runView(*runs, key));
  const bool over = run.run && replication::isTerminal(run.run->body.status) && !mutated("wakeTwice");
  if (over) {
    WITAN_TRY(left, leavesWork(entry.job));
    if (!left) {
      queue_.remove(key);
      return none;
    }
  }
  noteSaid(key, run, now);
  const Turn turn = over ? Turn{false, entry.dueMs} : turnOf(entry, run);
  if (turn.never) return none;
  if (turn.atMs > now.ms) {
    keepEarliest(nextTurnMs_, turn.atMs);
    if (run.run && waitsElsewhere(run.run->body, replication::deviceOf(run.run->dot.host)))
      queue_.requeue(key, turn.atMs), aside_.insert(key);
    return none;
  }
  WITAN_TRY(state, stateOf(entry.job.agentId));
  const WakeJob job = entry.job;
  const auto end = [&](WakeStatus status, const std::string& cause) -> Result<std::optional<WakeJob>> {
    WITAN_DO(finish(job, status, cause, now, {}, {}));
    if (job.reason == WakeReason::user && !mutated("unheardUntold")) unheard_.push_back({job.agentId, cause});
    return none;
  };
  const std::int64_t wallMs = std::max<std::int64_t>(0, now.wallMs());
  if (state.lifecycle == Lifecycle::destroyed) return end(WakeStatus::skippedDestroyed, "the agent is destroyed");
  // What keeps wakes from an agent ends no run: what was begun here, or planned anywhere, goes on after a restart too.
  if (job.startedAtMs == 0 && runs->table().find(Kind::plan, key.hex()) == nullptr) {
    if (state.lifecycle == Lifecycle::dormant && !mutated("ignorePause"))
      return end(WakeStatus::skippedSleeping, "the agent is dormant");
    if (state.schedule.sleepUntil > static_cast<std::uint64_t>(wallMs) && !mutated("ignoreSleep"))
      return end(WakeStatus::skippedSleeping, concat("the agent sleeps until ", state.schedule.sleepUntil));
    if (const std::string why = barredBy(state, job); !why.empty()) return end(WakeStatus::skippedSleeping, why);
  }
  if (job.hops >= options_.hops)
    return end(WakeStatus::failedTerminal,
               concat("a loop: ", job.hops, " runs woke each other (at most ", options_.hops, ")"));
  if (job.attempts >= options_.attempts)
    return end(WakeStatus::failedTerminal, concat("given up after ", job.attempts, " starts"));
  const WakeJob& startedJob = queue_.start(key, wallMs);
  if (over) return std::optional(startedJob);  // an end is not written over
  WITAN_TRY(write, runWrite(runBody(startedJob, WakeStatus::started, "", 0)));
  WITAN_DO(replica_.commit(DatabaseName::agents, options_.scope, {&write, 1}));
  return std::optional(startedJob);
}

Status WakeCenter::ended(const RunKey& key, WakeStatus status, std::string_view cause, Now now,
                         const StateChange& change, std::vector<replication::Write> also) {
  const WakeQueue::Entry* entry = queue_.find(key);
  if (entry == nullptr) return notFound("no run " + key.hex() + " is under way here");
  if (!replication::isTerminal(status)) return invalid("a run does not end by being started");
  const WakeJob job = entry->job;
  return finish(job, status, cause, now, change, std::move(also));
}

Status WakeCenter::finish(const WakeJob& job, WakeStatus status, std::string_view cause, Now now,
                          const StateChange& change, std::vector<replication::Write> also) {
  WITAN_TRY(records, space());
  WITAN_TRY(over, hasEnded(*records, job.key()));
  std::vector<replication::Write> writes;
  if (!over) {
    WakeJob dated = job;
    const std::int64_t wallMs = std::max<std::int64_t>(0, now.wallMs());
    if (dated.startedAtMs == 0) dated.startedAtMs = wallMs;
    WITAN_TRY(record, runWrite(runBody(dated, status, cause, wallMs)));
    if (!mutated("dropRunLog")) writes.push_back(std::move(record));
    if (status != WakeStatus::skippedDestroyed) {
      WITAN_TRY(state, agentStateToWrite(*records, job.agentId));
      reduceAtEnd(state, job, status);
      if (change) change(state, replica_.writer());
      writes.push_back({Kind::agentState, job.agentId, replication::encodeAgentState(state, replica_.writer()), false});
    }
  }
  writes.insert(writes.end(), std::make_move_iterator(also.begin()), std::make_move_iterator(also.end()));
  if (!writes.empty()) WITAN_DO(replica_.commit(DatabaseName::agents, options_.scope, writes));
  queue_.remove(job.key());
  return okStatus();
}

}  // namespace witan::agents

// Checker "retention": what runs leave goes once the horizon has passed and not before, and no device keeps more of it
// from week to week. And of the checker "runs" what needs months: timers by the interval that all devices share, and
// capabilities used no more often than their rates, and no run begun where the budget of the day is spent. Only where
// something goes (cluster.retentionDays).
//
// Each device is looked at once a week, before the cuts that a scenario of months has at its end.
#include <map>
#include <set>

#include "agents/wake/wake_job.h"
#include "replication/writer.h"
#include "sim/check/level_rules.h"
#include "sim/checkers/checker.h"
#include "sim/sim_agents.h"

namespace witan::sim {

using namespace replication;

namespace {

constexpr std::int64_t kDayMs = kMicrosPerDay / 1'000, kHourMs = kMicrosPerHour / 1'000;
constexpr Micros kWeek = 7 * kMicrosPerDay, kFirstLook = kMicrosPerDay * 9 / 2;
// All devices have met within so long; and what goes is gone so long after the horizon.
constexpr std::int64_t kMeetMs = 3 * kDayMs, kLateMs = 7 * kDayMs;

constexpr Micros kHeardInTime = 10 * kSecond;  // half of what a tool has

class RetentionChecker final : public Checker {
 public:
  explicit RetentionChecker(Cluster& cluster)
      : Checker(cluster), days_(cluster.plan().options.cluster.retentionDays), levels_(days_) {}

  // By device: what one has spent others hear when they meet.
  void onToolCall(Seat& at, const agents::ToolCall& call, const std::string&) override {
    if (!hasDayBudget(days_) || call.operation || call.agentId != kSimAgents[0] ||
        !asked_[at].try_emplace(call.run, c_.agenda().now()).second)
      return;
    const std::int64_t day = at.device->now(c_.agenda().now()).wallMs() / kDayMs;
    const auto spent = spentOn(at, day);
    if (!spent.ok()) return c_.failed("store", at.name() + ": " + spent.error().message);
    c_.probe(*spent > 0 ? "another run of the day" : "first run of the day");
    if (*spent >= kClerkDay)
      c_.failed("runs", concat(at.name(), ": run ", call.run.hex().substr(0, 16), " of ", call.agentId,
                               " asks its model, and those of the day have spent ", *spent, " of ", kClerkDay));
  }
  void onToolAnswer(Seat& at, const ToolAnswer& answer) override {
    if (!hasDayBudget(days_) || answer.call.operation || answer.says != ToolSays::done) return;
    if (c_.agenda().now() - asked_[at][answer.call.run] > kHeardInTime) return;  // it may have been given up
    const auto [known, first] = took_[at].try_emplace(answer.call.run, answer.tokens);
    if (!first) known->second = std::min(known->second, answer.tokens);
  }

  void onDurable(Seat& at) override {
    const Micros now = c_.agenda().now();
    if (days_ == 0 || c_.settling() || now < kFirstLook + looks_[at] * kWeek) return;
    ++looks_[at];
    if (at.replica().agents() == nullptr) return;
    auto wrong = look(at, now);
    if (!wrong.ok()) return c_.failed("store", at.name() + ": " + wrong.error().message);
  }

 private:
  struct Kept {
    Space *agents = nullptr, *journal = nullptr;
    std::int64_t wallMs = 0;
  };

  // By runs of this device that ended on that day.
  Result<std::int64_t> spentOn(Seat& at, std::int64_t day) {
    std::int64_t spent = 0;
    WITAN_TRY(records, at.replica().data().database(DatabaseName::agents).space("main"));
    for (const auto& [run, tokens] : took_[at]) {
      WITAN_TRY(versions, records->versions(Kind::wakeRun, run.hex()));
      for (const Version& version : versions) {
        if (version.tombstone || deviceOf(version.dot.host) != at.name()) continue;
        WITAN_TRY(body, decodeRecord<WakeRunBody>(version.body));
        if (isTerminal(body.status) && body.finishedAtMs / kDayMs == day) spent += tokens;
      }
    }
    return spent;
  }

  Status look(Seat& at, Micros now) {
    LocalReplica& data = at.replica().data();
    Kept kept;
    WITAN_SET(kept.agents, data.database(DatabaseName::agents).space("main"));
    WITAN_SET(kept.journal, data.database(DatabaseName::journal).space("main"));
    kept.wallMs = at.device->now(now).wallMs();
    const KeptLevel level = levelOf(at, kept);
    const std::int64_t day = now / kMicrosPerDay;
    c_.probe("level of a week");
    if (c_.tracing()) c_.trace(at.index(), "check", "level", concat("day ", day, ": ", wordsOf(level)));
    if (const std::string wrong = levels_.looked(at.name(), day, level); !wrong.empty())
      return c_.failed("retention", wrong), okStatus();
    WITAN_DO(tooOld(at, kept));
    WITAN_DO(forgotten(at, kept, now));
    WITAN_DO(timers(at, kept));
    return rates(at, kept);
  }

  static KeptLevel levelOf(Seat& at, const Kept& kept) {
    KeptLevel level;
    const auto count = [&](Space& space, Kind kind, std::uint64_t& standing) {
      for (const std::string& key : space.keys(kind)) {
        const auto& versions = space.table().find(kind, key)->versions;
        const bool gone = std::ranges::all_of(versions, [](const Held* one) { return one->tombstone; });
        ++(gone ? level.tombstones : standing);
      }
    };
    count(*kept.agents, Kind::message, level.entries);
    count(*kept.agents, Kind::plan, level.plans);
    count(*kept.agents, Kind::wakeRun, level.runs);
    count(*kept.agents, Kind::operation, level.operations);
    count(*kept.journal, Kind::operation, level.operations);
    count(*kept.agents, Kind::approval, level.approvals);
    count(*kept.agents, Kind::batch, level.batches);
    count(*kept.journal, Kind::batch, level.batches);
    const auto kilobytes = [&](std::size_t disk) {
      std::uint64_t bytes = 0;
      at.device->disk(disk).visitBytes([&](std::string_view key, std::string_view value) {
        bytes += key.size() + value.size();
        return true;
      });
      return bytes / 1'000;
    };
    level.journalKb = kilobytes(0), level.agentsKb = kilobytes(1);
    return level;
  }

  // What has a time and is long over.
  Status tooOld(Seat& at, const Kept& kept) {
    const std::int64_t before = kept.wallMs - days_ * kDayMs - kLateMs;
    std::size_t old = 0;
    std::string first;
    for (const std::string& id : kept.agents->keys(Kind::message)) {
      WITAN_TRY(versions, kept.agents->versions(Kind::message, id));
      for (const Version& version : versions) {
        if (version.tombstone) continue;
        WITAN_TRY(body, decodeRecord<MessageBody>(version.body));
        if (body.createdAtMs < before && !endedLater(kept, id, before) && ++old == 1)
          first = id + " of " + body.agentId;
      }
    }
    for (const std::string& key : kept.agents->keys(Kind::wakeRun)) {
      WITAN_TRY(run, RunKey::parse(key));
      WITAN_TRY(view, agents::runView(*kept.agents, run));
      // A fact of a ledger comes again.
      if (!view.run || !isTerminal(view.run->body.status) || view.run->body.agentId == kSimAgents[2]) continue;
      // What says of a batch's run that it has ended outlasts the batch.
      const std::int64_t longer = view.run->body.reason == WakeReason::subscription ? days_ * kDayMs : 0;
      if (view.run->body.finishedAtMs < before - longer && ++old == 1)
        first = "run " + key + " of " + view.run->body.agentId;
    }
    if (old > 0)
      c_.failed("retention", concat(at.name(), " still keeps ", old, " records of runs that ended more than ",
                                    days_ + kLateMs / kDayMs, " days ago: ", first));
    return okStatus();
  }

  // Of a device whose clock was ahead the end of a run has a later time.
  static bool endedLater(const Kept& kept, const std::string& entry, std::int64_t beforeMs) {
    const auto run = RunKey::parse(entry.substr(0, entry.find('/')));
    const auto view = run.ok() ? agents::runView(*kept.agents, *run) : Result<WakeRunView>(run.error());
    return view.ok() && view->run && view->run->body.finishedAtMs >= beforeMs;
  }

  bool waits(const RunKey& run) {
    return std::ranges::any_of(c_.members(), [&](Seat* at) {
      const agents::AgentHost* host = at->works() ? std::as_const(at->replica()).agents() : nullptr;
      return host != nullptr && host->wakes().queue().find(run) != nullptr;
    });
  }

  // Within the horizon nothing is forgotten; what has not ended waits for the budget of a day.
  Status forgotten(Seat& at, const Kept& kept, Micros now) {
    for (const auto& [key, run] : c_.history().agents.requests) {
      const WriteRecord& entered = c_.history().writes().find(key)->second.front();
      const Micros age = now - entered.at;
      if (!entered.durable || age >= days_ * kMicrosPerDay || age <= kMeetMs * 1'000) continue;
      WITAN_TRY(ended, agents::hasEnded(*kept.agents, run));
      if (!ended && !waits(run))
        return c_.failed("retention", concat(at.name(), " knows of no end of the run of ", key.second.second,
                                             ", which was entered ", age / kMicrosPerDay, " days ago")),
               okStatus();
      c_.probe("run within the horizon");
    }
    return okStatus();
  }

  // A person set another interval on one device when the cluster began.
  Status timers(Seat& at, const Kept& kept) {
    const std::int64_t since = std::max(kept.wallMs - days_ * kDayMs, at.device->now(0).wallMs() + kDayMs);
    for (std::int64_t due = since / kHourMs * kHourMs + kHourMs; due < kept.wallMs - kMeetMs; due += kHourMs) {
      WITAN_TRY(job, agents::timerJob(kSimWarden, kWardenTimer, due));
      WITAN_TRY(ended, agents::hasEnded(*kept.agents, job.key()));
      if (ended == (due % kWardenSetMs == 0)) continue;
      const std::string when = formatTime(Time{due * 1'000});
      return c_.failed("runs", at.name() +
                                   (ended ? ": a timer woke its agent at an interval that is not the set one, "
                                          : ": a timer did not wake its agent, ") +
                                   when),
             okStatus();
    }
    return okStatus();
  }

  // By device and hour: of two that are cut off each has what is left.
  Status rates(Seat& at, const Kept& kept) {
    std::map<std::pair<std::string, std::int64_t>, std::set<std::string>> written;
    std::vector<std::string> all = kept.journal->keys(Kind::journal, kWardenFolder);
    for (std::string& id : kept.journal->keys(Kind::journal, kWardenOther)) all.push_back(std::move(id));
    for (const std::string& id : all) {
      WITAN_TRY(versions, kept.journal->versions(Kind::journal, id));
      for (const Version& version : versions) {
        if (version.tombstone) continue;
        WITAN_TRY(body, decodeRecord<JournalBody>(version.body));
        auto& ids = written[{std::string(deviceOf(version.dot.host)), body.editedAtMs / kHourMs}];
        ids.insert(id);
        if (ids.size() > kWardenPerHour)
          return c_.failed("runs",
                           concat(at.name(), ": in one hour ", deviceOf(version.dot.host), " wrote ", ids.size(),
                                  " entries for an agent that may write ", kWardenPerHour, ": ", id)),
                 okStatus();
      }
    }
    if (!written.empty()) c_.probe("rate of an hour");
    return okStatus();
  }

  PerDevice<std::map<RunKey, Micros>> asked_;       // when for the first time
  PerDevice<std::map<RunKey, std::int64_t>> took_;  // of tokens, the least that its model was told to have taken
  const std::int64_t days_;
  LevelRules levels_;
  PerDevice<std::int64_t> looks_;
};

}  // namespace

std::unique_ptr<Checker> makeRetentionChecker(Cluster& cluster) { return std::make_unique<RetentionChecker>(cluster); }

}  // namespace witan::sim

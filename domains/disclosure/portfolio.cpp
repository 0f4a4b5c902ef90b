#include <algorithm>
#include <queue>

#include "base/json_codec.h"
#include "domains/disclosure/disclosure.h"
#include "domains/disclosure/rules.h"
#include "kernel/partition.h"
#include "kernel/typed_module.h"

namespace witan::domains::disclosure {

namespace {

using Module = TypedModule<DisclosureDomain>;

constexpr std::string_view kEntity = "portfolio";
constexpr std::string_view kCounselor = "psirt.lead";
constexpr std::int64_t kMinute = 60 * kMicrosPerSecond;
constexpr std::int64_t kHour = 60 * kMinute;
constexpr int kMostTries = 30;  // days on which one vulnerability's turn comes to nothing

// What will happen outside about one vulnerability, and when the lab hears of it.
struct Story {
  std::string name;
  std::string org;
  News news;  // so far
  Time foundAt;
  std::optional<Time> ackAt, developAt, reviewAt, fixAt, promiseAt, cveAt, severityAt, publicAt, exploitAt;
  std::string cve;
  std::size_t partner = 0;  // of a joint disclosure; itself: none
  std::optional<Time> groupAt;
  bool early = false;  // exploited: the lab asks to disclose before the embargo ends
  int tries = 0;
};

Time days(Time from, std::uint64_t n) { return Time{from.micros + static_cast<std::int64_t>(n) * kMicrosPerDay}; }

class Year {
 public:
  Year(const kernel::DomainModule& module, std::size_t count, std::size_t length, std::uint64_t seed)
      : module_(static_cast<const Module&>(module)),
        partition_(module),
        random_(seed),
        end_(days(kSampleStart, length)) {
    lines_ = "{\"at\":" + toJson(kSampleStart) + ",\"entity\":\"portfolio\",\"init\":{}}\n";
    partition_.init(kEntity, {}, kSampleStart);
    const std::size_t orgs = std::clamp<std::size_t>(count / 33, 1, 300);
    for (std::size_t i = 0; i < count; ++i) stories_.push_back(invent(i, orgs, length));
    for (std::size_t i = 0; i < count; ++i) schedule(i);
  }

  std::string run() {
    while (!visits_.empty() && visits_.top().at < end_) {
      const Visit next = visits_.top();
      visits_.pop();
      now_ = std::max(now_, next.at);
      visit(next.story);
    }
    return std::move(lines_);
  }

 private:
  struct Visit {
    Time at;
    std::size_t story;
    bool operator<(const Visit& o) const { return std::tie(o.at, o.story) < std::tie(at, story); }
  };

  bool chance(std::uint64_t percent) { return random_.below(100) < percent; }
  // `least` to `most` days after `from`, at some minute of a working day.
  Time later(Time from, std::uint64_t least, std::uint64_t most) {
    const Time day = days(from, least + random_.below(most - least + 1));
    return Time{day.micros / kMicrosPerDay * kMicrosPerDay + 8 * kHour +
                static_cast<std::int64_t>(random_.below(600)) * kMinute};
  }

  Story invent(std::size_t i, std::size_t orgs, std::size_t length) {
    Story s;
    s.name = "V-" + std::to_string(10'000 + i);
    const std::string org = std::to_string(i % orgs);
    s.org = "org-" + org + ".example";
    s.news.maintainer = "team-" + std::to_string(random_.below(4)) + "@" + s.org;
    s.foundAt = later(kSampleStart, 0, std::max<std::size_t>(length * 6 / 10, 1));
    s.news.artifact = "report on " + s.name;
    random_.fill(s.news.nonce);
    s.news.credits = {"Example Lab"};
    if (chance(30)) s.news.credits.push_back("finder " + std::to_string(random_.below(40)));
    s.ackAt = chance(96) ? std::optional(later(s.foundAt, 1, 6)) : std::nullopt;
    s.severityAt = later(s.foundAt, 2, 9);
    if (chance(90)) {
      s.developAt = later(s.foundAt, 8, 20);
      s.reviewAt = later(*s.developAt, 3, 20);
      s.fixAt = later(*s.reviewAt, 2, 75);
      s.promiseAt = *s.reviewAt;
    }
    if (chance(80)) s.cveAt = later(s.foundAt, 10, 45);
    s.cve = "CVE-2026-" + std::to_string(20'000 + i);
    // The numbering authority is wrong about one in four hundred.
    if (i > 0 && random_.below(400) == 0) s.cve = stories_[random_.below(i)].cve;
    if (chance(3)) s.publicAt = later(s.foundAt, 7, 80);
    if (chance(2)) s.exploitAt = later(s.foundAt, 10, 80);
    s.partner = i;
    if (i % 2 == 1 && chance(4)) pairUp(s, i);
    return s;
  }
  void pairUp(Story& s, std::size_t i) {
    s.partner = i - 1;
    s.groupAt = later(std::max(s.foundAt, stories_[i - 1].foundAt), 10, 15);
  }

  void schedule(std::size_t i) {
    const Story& s = stories_[i];
    visits_.push({s.foundAt, i});
    for (const auto& at :
         {s.ackAt, s.developAt, s.reviewAt, s.fixAt, s.cveAt, s.severityAt, s.publicAt, s.exploitAt, s.groupAt})
      if (at) visits_.push({*at, i});
  }

  const VulnRow* rowOf(const Story& s) const {
    const State& state = stateOf(*partition_.state(kEntity));
    const Slot slot = state.vulns.find(s.name);
    return slot == kNoSlot ? nullptr : &state.vulns.row(slot);
  }

  void hear(Story& s) {
    const auto by = [&](const std::optional<Time>& at) { return at && *at <= now_; };
    s.news.acknowledged = by(s.ackAt);
    if (by(s.developAt)) s.news.patch = PatchStatus::IN_DEVELOPMENT;
    if (by(s.reviewAt)) s.news.patch = PatchStatus::UNDER_REVIEW;
    if (by(s.fixAt)) {
      s.news.patch = PatchStatus::RELEASED;
      s.news.fix = "https://git." + s.org + "/c/" + s.name;
    }
    s.news.fixExpected = by(s.promiseAt) && !by(s.fixAt) ? s.fixAt : std::nullopt;
    s.news.cve = by(s.cveAt) ? std::optional(s.cve) : std::nullopt;
    s.news.severity = by(s.severityAt) ? std::optional<std::string>("HIGH") : std::nullopt;
    s.news.publiclyKnown = by(s.publicAt);
    if (by(s.exploitAt) && !s.news.exploited) s.news.exploited = s.early = true;
  }

  // The calendar: has the embargo's regime let go, or is there reason not to wait for it?
  bool isDue(const Story& s) const {
    const VulnRow* row = rowOf(s);
    if (row == nullptr || row->phase != Phase::EMBARGOED) return false;
    if (s.early || row->pubKnownAt) return true;
    return row->deadline && module_.policy().embargo().releaseAt(*row->deadline, row->patchReleasedAt, now_) <= now_;
  }

  void visit(std::size_t i) {
    Story& s = stories_[i];
    hear(s);
    const VulnRow* row = rowOf(s);
    if (row == nullptr) act("ReporterCoordination", Intake{s.name, {s.org}}, s);
    if (s.groupAt && *s.groupAt <= now_) formGroup(s);
    s.news.due = isDue(s);
    const bool acted = work<PatchTracking>(s) | work<CommitmentManagement>(s) | work<ReporterCoordination>(s);
    s.news.due = isDue(s);
    if (s.news.due) {
      work<CommitmentManagement>(s);
      work<Disclosure>(s);
    }
    again(i, acted);
  }

  void formGroup(Story& s) {
    const Story& other = stories_[s.partner];
    const VulnRow *own = rowOf(s), *peer = rowOf(other);
    s.groupAt.reset();
    if (own == nullptr || peer == nullptr || own->discAt || peer->discAt) return;
    act("Disclosure", FormCoDisclosureGroup{"joint/" + s.name, {other.name, s.name}, days(now_, 80)}, s);
  }

  // Until the rules have nothing to propose, or a proposal comes to nothing.
  template <class R>
  bool work(Story& s) {
    bool acted = false;
    for (int turn = 0; turn < 8; ++turn) {
      const auto& box = Module::boxOf(*partition_.state(kEntity));
      const kernel::Slice<R> slice(box.state, box.shared, module_.policy());
      const auto proposal = propose(Instance<R>(slice, s.name), s.news, now_);
      const bool approved = std::visit(
          [&](const auto& action) {
            if constexpr (std::is_same_v<std::decay_t<decltype(action)>, std::monostate>)
              return false;
            else
              return act(R::name, action, s);
          },
          proposal);
      if (!approved) break;
      acted = true;
    }
    return acted;
  }

  // The next look at a vulnerability whose day is still to come.
  void again(std::size_t i, bool acted) {
    Story& s = stories_[i];
    const VulnRow* row = rowOf(s);
    if (row == nullptr || row->discAt || row->phase == Phase::WITHDRAWN) return;
    if (row->phase == Phase::EMBARGOED && row->deadline) {
      const Time release = module_.policy().embargo().releaseAt(*row->deadline, row->patchReleasedAt, now_);
      if (now_ < release && (acted || now_ >= *row->deadline)) {
        const Time askForMore{row->deadline->micros - 2 * kMicrosPerDay};
        if (now_ < askForMore) visits_.push({askForMore, i});
        visits_.push({release, i});
        return;
      }
    }
    const bool waits = row->phase == Phase::TRIAGED || s.news.due;
    if (waits && ++s.tries < kMostTries) visits_.push({days(now_, 1), i});
  }

  template <class Process>
  bool act(std::string_view role, const Process& process, Story& s) {
    now_.micros += kMicrosPerSecond;
    const ActionPtr action = Module::makeAction(process);
    const std::string id = "op" + std::to_string(++operations_);
    const Decision d =
        partition_.propose({.entity = kEntity, .role = role, .operationId = id, .action = action.get(), .at = now_});
    std::string line = "{\"action\":";
    JsonCodec<Process>::write(line, process, Process::name);
    lines_ += line + ",\"at\":" + toJson(now_) + ",\"entity\":\"portfolio\",\"role\":\"" + std::string(role) + "\"}\n";
    (void)partition_.takeBatch();
    if (d.outcome != Outcome::escalated) return d.outcome == Outcome::approved;
    return answer(process, s);
  }

  // The human: hours later, mostly yes, with the waiver or the id that makes it safe.
  bool answer(const DisclosureDomain::AnyAction& pending, Story& s) {
    now_.micros += static_cast<std::int64_t>(1 + random_.below(8)) * kHour;
    const bool yes = chance(80);
    const std::string edit =
        DisclosureDomain::sampleEdit(stateOf(*partition_.state(kEntity)), pending, kCounselor, random_, now_);
    const json::value fields = parseJson(edit).value();
    const std::string id = "human" + std::to_string(++operations_);
    partition_.decide({.entity = kEntity,
                       .counselor = kCounselor,
                       .operationId = id,
                       .commit = yes,
                       .edit = &fields.get_object(),
                       .reason = "looked at it",
                       .at = now_});
    (void)partition_.takeBatch();
    lines_ += "{\"at\":" + toJson(now_) + ",\"counselor\":\"psirt.lead\",\"decision\":\"" +
              (yes ? "commit" : "reject") + "\"" + (yes ? ",\"edit\":" + edit : "") +
              ",\"entity\":\"portfolio\",\"reason\":\"looked at it\"}\n";
    if (!yes) {  // nobody asks the same again
      s.early = false;
      s.promiseAt.reset();
      if (std::holds_alternative<ObserveExternalFact>(pending)) s.cveAt.reset();
      hear(s);
    }
    return yes;
  }

  const Module& module_;
  kernel::Partition partition_;
  SeededRandom random_;
  Time end_;
  Time now_ = kSampleStart;
  std::vector<Story> stories_;
  std::priority_queue<Visit> visits_;
  std::uint64_t operations_ = 0;
  std::string lines_;
};

}  // namespace

std::string DisclosureDomain::generate(const DomainModule& module, std::size_t vulnerabilities, std::size_t days,
                                       std::uint64_t seed) {
  return Year(module, vulnerabilities, days, seed).run();
}

}  // namespace witan::domains::disclosure

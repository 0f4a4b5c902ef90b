#include "cli/events/event_generator.h"

#include <map>

#include "kernel/partition.h"

namespace witan::node {

using namespace kernel;

namespace {

constexpr std::int64_t kStart = kSampleStart.micros + 8 * kMicrosPerHour;

class EventGenerator {
 public:
  EventGenerator(const DomainModule& module, const GenerateOptions& options)
      : module_(module), options_(options), partition_(module), random_(options.seed) {}

  Result<std::string> run() {
    for (std::size_t i = 1; i <= options_.entities; ++i) WITAN_DO(begin(concat(module_.signature().domain, "-", i)));
    while (!agenda_.empty()) {
      const auto [when, entity] = *agenda_.begin();
      agenda_.erase(agenda_.begin());
      if (partition_.frozen(entity))
        answer(Time{when.first}, entity);
      else if (!propose(Time{when.first}, entity))
        return notFound("domain " + module_.signature().domain + " offers no sample actions",
                        "give it a sample function (docs/ADD_A_DOMAIN.md)");
    }
    return std::move(lines_);
  }

 private:
  void plan(Time when, const std::string& entity) { agenda_.emplace(std::pair(when.micros, ++planned_), entity); }

  Status begin(const std::string& entity) {
    Decision made;
    for (int attempt = 0; attempt < 20 && made.outcome != Outcome::initialised; ++attempt) {
      const std::string text = module_.sampleInit(random_, Time{kStart});
      WITAN_TRY(init, parseJson(text, kOwnJson));
      if (!init.is_object()) return invalid("the domain's sample of an init is not an object");
      made = partition_.init(entity, init.get_object(), Time{kStart});
      if (made.outcome == Outcome::initialised) write(Time{kStart}, entity, "\"init\":" + text);
    }
    if (made.outcome != Outcome::initialised)
      return invalid("the domain's samples of an init are refused (" + made.message + ")");
    for (std::size_t day = 0; day < options_.days; ++day)
      for (std::uint64_t n = random_.below(4); n > 0; --n)
        plan(Time{kStart + static_cast<std::int64_t>(day) * kMicrosPerDay +
                  static_cast<std::int64_t>(1 + random_.below(36'000)) * kMicrosPerSecond},
             entity);
    return okStatus();
  }

  // Mostly something that will do: people know their work.
  ActionPtr pick(const EntityState& state, Time when) {
    ActionPtr action;
    for (std::uint64_t tries = 1 + random_.below(4); tries > 0; --tries) {
      action = module_.sample(state, random_, when);
      if (!action) return nullptr;
      EntityPtr candidate = module_.clone(state);
      module_.evaluate(*candidate, roleOf(*action), *action, when, evaluation_);
      if (evaluation_.tag != Evaluation::Tag::rejected) break;
    }
    return action;
  }

  const std::string& roleOf(const Action& action) const { return module_.signature().processes[action.process].role; }

  bool propose(Time when, const std::string& entity) {
    const ActionPtr action = pick(*partition_.state(entity), when);
    if (!action) return false;
    std::string text;
    module_.writeAction(text, *action);
    write(when, entity, "\"role\":\"" + roleOf(*action) + "\",\"action\":" + text);
    const std::string id = concat("line-", written_);
    Proposal p{.entity = entity, .role = roleOf(*action), .operationId = id, .action = action.get(), .at = when};
    const Decision made = partition_.propose(p);
    if (partition_.hasOpenBatch()) partition_.takeBatch();
    if (made.outcome == Outcome::escalated && !module_.signature().counselors.empty())
      plan(Time{when.micros + static_cast<std::int64_t>(1'200 + random_.below(60'000)) * kMicrosPerSecond}, entity);
    return true;
  }

  // Whoever comes next to a frozen entity is its counselor; the proposal that was planned then is dropped.
  void answer(Time when, const std::string& entity) {
    const auto& counselors = module_.signature().counselors;
    if (counselors.empty()) return;
    const PendingView pending = partition_.pending(entity).value();
    const ActionPtr action = module_.parseAction(parseJson(pending.action, kOwnJson).value()).value();
    const std::string edit = module_.sampleEdit(*partition_.state(entity), *action, counselors.front(), random_, when);
    const json::value parsed = parseJson(edit, kOwnJson).value();
    EntityPtr candidate = module_.clone(*partition_.state(entity));
    const Status tried = module_.counselorCommit(*candidate, CommitBase::candidate, action.get(), parsed.as_object(),
                                                 counselors.front(), when, evaluation_);
    const bool commit = tried.ok() && evaluation_.findings.empty() && random_.below(10) != 0;
    write(when, entity,
          "\"counselor\":\"" + counselors.front() + "\",\"decision\":\"" +
              (commit ? "commit\",\"base\":\"candidate\",\"edit\":" + edit : std::string("reject\"")) +
              ",\"reason\":\"" + (commit ? "reviewed" : "not justified") + "\"");
    const std::string id = concat("line-", written_);
    CounselorDecision d{.entity = entity,
                        .counselor = counselors.front(),
                        .operationId = id,
                        .commit = commit,
                        .edit = &parsed.get_object(),
                        .at = when};
    const Decision made = partition_.decide(d);
    WITAN_CHECK(made.outcome != Outcome::refused, "the counselor's answer is taken: " + made.message);
    partition_.takeBatch();
  }

  void write(Time when, const std::string& entity, const std::string& rest) {
    ++written_;
    lines_ += "{\"at\":\"" + formatTime(when) + "\",\"entity\":\"" + entity + "\"," + rest + "}\n";
  }

  const DomainModule& module_;
  const GenerateOptions options_;
  Partition partition_;
  SeededRandom random_;
  Evaluation evaluation_;
  std::map<std::pair<std::int64_t, std::uint64_t>, std::string> agenda_;  // by time, then as planned
  std::uint64_t planned_ = 0;
  std::uint64_t written_ = 0;
  std::string lines_;
};

}  // namespace

Result<std::string> generateEvents(const DomainModule& module, const GenerateOptions& options) {
  if (std::string own = module.generate(options.entities, options.days, options.seed); !own.empty()) return own;
  return EventGenerator(module, options).run();
}

}  // namespace witan::node

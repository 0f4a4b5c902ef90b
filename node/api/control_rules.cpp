// Rule files and scenarios, tried in place: what `witan domain check` and `witan domain test` do, for the console. The
// loop goes on meanwhile: the work comes in pieces of some milliseconds, one job at a time, and ends after ten seconds.
#include "kernel/domain_description.h"
#include "kernel/history_check.h"
#include "node/api/control_routes.h"
#include "node/events/event_runner.h"
#include "rules/domain/rule_module.h"

namespace witan::node::api {

namespace {

WITAN_STRUCT(TryRequest, (Omittable<std::string>, domain, "A domain of this node; or give `text`"),
             (Omittable<std::string>, text, "A rule file, at most 262144 bytes (docs/RULES.md)"),
             (Omittable<std::string>, scenarios,
              "Event lines, at most 262144 bytes; default: those that the domain ships with"),
             (Omittable<std::uint64_t>, histories, "Random histories to try, at most 100; default: 0"))

WITAN_STRUCT(TriedLine, (std::uint64_t, line, "Number of the line"), (std::string, event, "The line"),
             (Omittable<json::value>, answer, "What was decided"),
             (std::string, difference, "What was expected instead; empty: it came out so"))

WITAN_STRUCT(TriedProperty, (std::string, name, "The property"), (std::uint64_t, checked, "How often it was tried"),
             (std::string, failure, "The first counterexample; empty: it held"))

WITAN_STRUCT(Tried, (bool, holds, "Whether the file reads, and all that was tried came out as expected"),
             (std::string, problem, "Why the file does not read, with line and column; empty: it reads"),
             (Omittable<kernel::DomainDescription>, description, "The domain that it declares"),
             (std::vector<TriedLine>, lines, "The first 2000 scenario lines that have an answer"),
             (std::uint64_t, expectations, "Expectations that were compared"),
             (std::vector<TriedProperty>, properties, "What random histories showed"),
             (bool, ended, "False: the time ended before everything was tried"))

constexpr std::size_t kMostText = 256 * 1024;
constexpr std::size_t kMostLines = 2'000;
constexpr std::uint64_t kMostHistories = 100;
constexpr std::int64_t kPieceMs = 10, kPauseMs = 2, kMostMs = 10'000;

class Trial : public std::enable_shared_from_this<Trial> {
 public:
  Trial(Daemon& daemon, const TryRequest& asked, Later<Tried> later, std::unique_ptr<kernel::DomainModule> made,
        const kernel::DomainModule& module)
      : daemon_(daemon),
        later_(std::move(later)),
        made_(std::move(made)),
        module_(module),
        partition_(module),
        runner_(partition_, true, [this](const std::string& what) { differences_ += what + "\n"; }),
        text_(asked.scenarios.value_or(std::string(module.scenarios()))),
        rest_(text_),
        histories_(asked.histories.value_or(0)),
        endsMs_(daemon.now().ms + kMostMs) {
    tried_.holds = tried_.ended = true;
    tried_.description = kernel::describeDomain(module);
  }

  void work() {
    const std::int64_t untilMs = daemon_.now().ms + kPieceMs;
    do {
      if (!rest_.empty())
        nextLine();
      else if (seed_ < histories_)
        nextHistory();
      else
        return later_.answer(tried_);
    } while (daemon_.now().ms < untilMs);
    if (daemon_.stopping()) return later_.refuse({ErrorCode::unavailable, "the node is stopping", ""});
    if (daemon_.now().ms < endsMs_) return daemon_.later(kPauseMs, [self = shared_from_this()] { self->work(); });
    tried_.ended = false;
    later_.answer(tried_);
  }

 private:
  void nextLine() {
    const std::size_t end = std::min(rest_.find('\n'), rest_.size());
    const std::string_view line = rest_.substr(0, end);
    rest_.remove_prefix(std::min(end + 1, rest_.size()));
    const std::uint64_t refused = runner_.tally().unexpectedRefusals;
    differences_.clear();
    const std::string answer = runner_.feed(++number_, line);
    if (answer.empty()) return;
    if (runner_.tally().unexpectedRefusals > refused) differences_ += "it was refused";
    tried_.expectations = runner_.tally().expectations;
    tried_.holds = tried_.holds && differences_.empty();
    if (tried_.lines.size() < kMostLines)
      tried_.lines.push_back({number_, std::string(line), parseJson(answer, kOwnJson).value(), differences_});
  }

  void nextHistory() {
    const auto found = kernel::checkHistories(module_, {.seed = ++seed_, .histories = 1});
    tried_.properties.resize(found.size());
    for (std::size_t i = 0; i < found.size(); ++i) {
      TriedProperty& property = tried_.properties[i];
      property.name = found[i].name;
      property.checked += found[i].checked;
      if (property.failure.empty()) property.failure = found[i].failure;
      tried_.holds = tried_.holds && property.failure.empty();
    }
  }

  Daemon& daemon_;
  const Later<Tried> later_;
  const std::unique_ptr<kernel::DomainModule> made_;  // null: the node's
  const kernel::DomainModule& module_;
  kernel::Partition partition_;
  EventRunner runner_;
  const std::string text_;
  std::string_view rest_;
  std::string differences_;  // of the line
  std::uint64_t number_ = 0, seed_ = 0;
  const std::uint64_t histories_;
  const std::int64_t endsMs_;
  Tried tried_;
};

Status checkSizes(const TryRequest& asked) {
  if (asked.domain.has_value() == asked.text.has_value()) return invalid("give either domain or text");
  for (const auto* text : {&asked.text, &asked.scenarios})
    if (*text && (*text)->size() > kMostText)
      return invalid(concat("a text has at most ", kMostText, " bytes"), "use: witan domain check FILE");
  if (asked.histories.value_or(0) > kMostHistories)
    return invalid(concat("at most ", kMostHistories, " histories"), "use: witan domain test");
  return okStatus();
}

void tryDomain(const ApiContext& context, const TryRequest& asked, Later<Tried> later) {
  if (const Status sizes = checkSizes(asked); !sizes.ok()) return later.refuse(sizes.error());
  if (!context.console.trial.expired())
    return later.refuse({ErrorCode::unavailable, "another trial is under way", "try again in some seconds"});
  std::unique_ptr<kernel::DomainModule> made;
  const kernel::DomainModule* module = nullptr;
  if (asked.text) {
    auto read = rules::makeRuleModule(*asked.text, "the file");
    if (!read.ok()) return later.answer(Tried{false, read.error().message, {}, {}, 0, {}, true});
    made = *std::move(read);
    module = made.get();
  } else {
    const auto known = moduleNamed(context.daemon, *asked.domain);
    if (!known.ok()) return later.refuse(known.error());
    module = *known;
  }
  const auto trial = std::make_shared<Trial>(context.daemon, asked, later, std::move(made), *module);
  context.console.trial = trial;
  trial->work();
}

}  // namespace

std::vector<ControlRoute> ruleRoutes() {
  return {post("/v1/domains/try", "tryDomain", "domains", ControlRole::operator_,
               "Reads a rule file, runs scenarios and random histories on it; changes nothing", tryDomain, {404, 503})};
}

}  // namespace witan::node::api

// Advice: what a built-in agent of a role does next about one vulnerability, by the rules of domains/disclosure/rules.h
// on its instance's slice (Table 3): the face of those rules for whoever speaks JSON (replica/agent_runtime.h).
//
// Pure. The rules are asked again after each step, on a copy on which the step was made, so that one plan holds all
// that a role has to say now. Nothing but the instance of the role is read.
#include "agents/json_members.h"
#include "agents/tools/ledger_tool.h"
#include "base/bytes.h"
#include "base/json_codec.h"
#include "domains/disclosure/disclosure.h"
#include "domains/disclosure/embargo_seal.h"
#include "domains/disclosure/rules.h"
#include "kernel/typed_module.h"

namespace witan::domains::disclosure {

namespace {

// One vulnerability as the world outside shows it: what people, trackers and mail bring. Facts, and no role's state.
struct Case {
  static constexpr std::size_t required = 3;
  std::string portfolio;
  std::string v;
  Texts orgs;
  std::string maintainer;  // whom its organisation named for reports
  bool acknowledged = false;
  std::optional<PatchStatus> patch;  // what the maintainer's repository shows
  std::string fix;                   // where the released fix is, and since when
  std::optional<Time> fixedAt;
  std::optional<Time> fixExpected;  // promised
  std::optional<std::string> cve, severity;
  bool publiclyKnown = false;
  bool exploited = false;
  std::string artifact;  // to commit to; and its nonce, 64 hex digits
  std::string nonce;
  Texts credits;
  WITAN_MEMBERS(Case, portfolio, v, orgs, maintainer, acknowledged, patch, fix, fixedAt, fixExpected, cve, severity,
                publiclyKnown, exploited, artifact, nonce, credits)
};

// What agents of other roles have said of it, since no slice shows it: its day has come; its commitment is opened.
struct Said {
  bool due = false;
  bool opened = false;
};

struct Advice {
  std::vector<std::string> actions;  // canonical JSON, in order
  std::string due;                   // of ReporterCoordination: why its day has come; empty: it has not
  bool over = false;                 // as far as the role sees: disclosed or withdrawn
  WITAN_MEMBERS(Advice, actions, due, over)
};

using Module = TypedModule<DisclosureDomain>;

constexpr int kMostSteps = 8;  // of one role about one vulnerability

Result<News> newsOf(const Case& about, Said said) {
  if (about.patch == PatchStatus::RELEASED && (about.fix.empty() || !about.fixedAt))
    return invalid("case " + about.v + ": a patch that is RELEASED has a \"fix\" and \"fixedAt\"");
  News news;
  news.maintainer = canonicalName(about.maintainer);
  news.acknowledged = about.acknowledged;
  news.patch = about.patch;
  news.fix = about.fix;
  news.fixExpected = about.fixExpected;
  if (about.cve) news.cve = canonicalCveId(*about.cve);
  news.severity = about.severity;
  news.publiclyKnown = about.publiclyKnown;
  news.exploited = about.exploited;
  news.due = said.due;
  news.artifact = about.artifact;
  news.credits = about.credits;
  if (about.artifact.empty()) return news;
  auto nonce = hashFromHex(about.nonce);
  if (!nonce.ok()) return invalid("case " + about.v + ": an artifact needs a \"nonce\" of 64 hex digits");
  news.nonce = *nonce;
  return news;
}

// A copy of the portfolio on which a role tries what it is about to propose.
template <class R>
class Desk {
 public:
  Desk(const Module& module, const EntityState& portfolio, const Case& about, Time now)
      : module_(module), copy_(module.clone(portfolio)), about_(about), now_(now) {}

  Instance<R> instance() {
    auto& box = Module::boxOf(*copy_);
    slice_.emplace(box.state, box.shared, module_.policy());
    return Instance<R>(*slice_, about_.v);
  }
  // False: it cannot be done, and is not proposed.
  template <class Process>
  bool make(const Process& process) {
    Journal<Fields> journal;
    Mutator<Fields> m(Module::boxOf(*copy_).state, journal, module_.policy());
    try {
      process.apply(m, now_);
    } catch (const Fault&) {
      return false;
    }
    JsonCodec<Process>::write(advice.actions.emplace_back(), process, Process::name);
    return true;
  }
  // All that the rules want now; `last`: whether nothing may follow an action.
  template <class Last>
  void work(const News& news, Last last) {
    for (int step = 0; step < kMostSteps; ++step) {
      const auto proposal = propose(instance(), news, now_);
      const bool goesOn = std::visit(
          [&](const auto& action) {
            if constexpr (std::is_same_v<std::decay_t<decltype(action)>, std::monostate>)
              return false;
            else
              return !last(action) && make(action);
          },
          proposal);
      if (!goesOn) return;
    }
  }

  Advice advice;

 private:
  const Module& module_;
  EntityPtr copy_;
  const Case& about_;
  Time now_;
  std::optional<Slice<R>> slice_;
};

constexpr auto kNever = [](const auto&) { return false; };

// The calendar: has the embargo's regime let go, or is there reason not to wait for it?
template <class Row>
std::string whyDue(const Row& v, const Policy& policy, const Case& about, Time now) {
  if (v.template get<VulnPhase>() != Phase::EMBARGOED) return {};
  if (about.publiclyKnown) return "it is publicly known";
  const auto& deadline = v.template get<EmbargoDeadline>();
  const auto fixedAt = about.patch == PatchStatus::RELEASED ? about.fixedAt : std::nullopt;
  if (deadline && policy.embargo().releaseAt(*deadline, fixedAt, now) <= now) return "the embargo permits it";
  return about.exploited ? "it is being exploited" : "";
}

template <class Row>
bool isOver(const Row& v) {
  return v.template get<VulnPhase>() == Phase::DISCLOSED || v.template get<VulnPhase>() == Phase::WITHDRAWN;
}

Advice reporter(const Module& module, const EntityState& portfolio, const Case& about, const News& news, Time now) {
  Desk<ReporterCoordination> desk(module, portfolio, about, now);
  const auto known = [&] {
    const auto v = desk.instance().vulnerability();
    return v && v->has<VulnPhase>();
  };
  if (!known()) desk.make(Intake{about.v, about.orgs});
  desk.work(news, kNever);
  if (const auto v = desk.instance().vulnerability()) {
    desk.advice.due = whyDue(*v, module.policy(), about, now);
    desk.advice.over = isOver(*v);
  }
  return std::move(desk.advice);
}

Advice publisher(const Module& module, const EntityState& portfolio, const Case& about, const News& news, Said said,
                 Time now) {
  Desk<Disclosure> desk(module, portfolio, about, now);
  const bool waits = !about.artifact.empty() && !said.opened;
  desk.work(news, [&](const auto& action) {
    return waits && std::is_same_v<std::decay_t<decltype(action)>, ExecuteDisclosure>;
  });
  if (const auto v = desk.instance().vulnerability()) desk.advice.over = isOver(*v);
  return std::move(desk.advice);
}

template <class R>
Advice worker(const Module& module, const EntityState& portfolio, const Case& about, const News& news, Time now) {
  Desk<R> desk(module, portfolio, about, now);
  desk.work(news, kNever);
  return std::move(desk.advice);
}

// Requires: a disclosure module made the state. Errors: no such role; a case that cannot be (a released patch without
// its place and time, an artifact without its nonce). O(state), for the copy.
Result<Advice> adviseOn(const DomainModule& module, const EntityState& portfolio, std::string_view role,
                        const Case& about, Said said, Time now) {
  WITAN_TRY(news, newsOf(about, said));
  const auto& typed = static_cast<const Module&>(module);
  if (role == ReporterCoordination::name) return reporter(typed, portfolio, about, news, now);
  if (role == PatchTracking::name) return worker<PatchTracking>(typed, portfolio, about, news, now);
  if (role == CommitmentManagement::name) return worker<CommitmentManagement>(typed, portfolio, about, news, now);
  if (role == Disclosure::name) return publisher(typed, portfolio, about, news, said, now);
  return invalid("the domain disclosure has no role " + std::string(clip(role)));
}

bool isSet(const json::object& arguments, std::string_view member) {
  const json::value* value = arguments.if_contains(member);
  return value != nullptr && value->is_bool() && value->get_bool();
}

// The ledger tool of this domain's agents.
//
//   disclosure.next  {"role", "case", "due", "opened"}    what the role's rules propose next about one vulnerability,
//                                                         from its instance's slice: {"actions": [...], "due": text,
//                                                         "over": bool}
class AdviceTool final : public agents::LedgerTool {
 public:
  std::string_view name() const override { return "disclosure.next"; }
  std::string_view operation() const override { return "next"; }

  std::optional<agents::LedgerEntity> subject(const json::object& arguments) const override {
    const json::value* about = arguments.if_contains("case");
    if (about == nullptr || !about->is_object()) return std::nullopt;
    const auto portfolio = agents::textOf(about->get_object(), "portfolio");
    return portfolio.ok() ? std::optional(agents::LedgerEntity{"disclosure", *portfolio}) : std::nullopt;
  }

  Result<json::value> look(const agents::FindState& find, const json::object& arguments,
                           const agents::ContentSeals& seals, Now now) const override {
    WITAN_TRY(role, agents::textOf(arguments, "role"));
    const json::value* given = arguments.if_contains("case");
    if (given == nullptr) return invalid("it has no \"case\"");
    Case about;
    WITAN_TRY(whole, seals.opened(kCaseType, *given));
    WITAN_DO(readJson(whole, about, "case"));
    WITAN_TRY(seen, find({"disclosure", about.portfolio}));
    WITAN_TRY(advice, adviseOn(*seen.module, *seen.state, role, about,
                               {isSet(arguments, "due"), isSet(arguments, "opened")}, now.wall));
    json::array actions;
    for (const std::string& action : advice.actions) {
      WITAN_TRY(parsed, parseJson(action));
      actions.push_back(std::move(parsed));
    }
    return json::value(json::object{{"actions", std::move(actions)}, {"due", advice.due}, {"over", advice.over}});
  }
};

}  // namespace

const agents::LedgerTool& adviceTool() {
  static const AdviceTool tool;
  return tool;
}

}  // namespace witan::domains::disclosure

#include "sim/sim_agents.h"

#include "agents/entry_agent.h"
#include "agents/episode/gate.h"
#include "agents/host/device_gate.h"
#include "base/check.h"
#include "sim/check/agent_rules.h"
#include "sim/sim_graph.h"

namespace witan::sim {

namespace {

using namespace agents;

std::string textIn(const json::value& value, std::string_view member) {
  return value.is_object() ? std::string(stringOf(value.get_object(), member)) : std::string();
}

// The same for one run on every device.
std::string seedIn(const json::value& wake) { return std::to_string(integerOf(wake, "seed").value_or(0)); }

replication::PlanAction put(const std::string& id, const char* type, json::object payload) {
  return action("journal.put", {{"id", id}, {"type", type}, {"payload", std::move(payload)}}, {id});
}

Finish saying(std::string answer, bool failed = false) { return {std::move(answer), {}, {}, {}, failed}; }

// Told the results, an agent is done.
Finish resulting(const json::value& results) {
  bool failed = false;
  if (const json::array* list = results.if_array())
    for (const json::value& one : *list) failed |= textIn(one, "outcome") != "applied";
  return saying(failed ? "not all of it was done" : "done", failed);
}

class SimClerk final : public Agent {
 public:
  const AgentSpec& spec() const override {
    static const AgentSpec kSpec{
        .id = "sim-clerk",
        .version = "1",
        .what = "works on requests",
        .category = "office",
        .subscriptions = {onEntries("request")},
        .capabilities = {{"journal.read"},
                         {"journal.put", 10, {"done/", "said/", "desk/"}, {}},
                         {"propose"},
                         {"sim.*"}},
        .locale = {"here"},
        .budget = {.tokens = kClerkTokens},
    };
    return kSpec;
  }

  Turn step(const json::value& sigma, const Input& input) const override {
    if (input.kind == InputKind::wake) return onWake(input.content);
    if (input.kind == InputKind::results) return {nullptr, {}, resulting(input.content)};
    return onAnswers(sigma, input.content);
  }

 private:
  static Turn onWake(const json::value& wake) {
    const std::string seed = seedIn(wake);
    if (textIn(wake, "reason") == "user")
      return {nullptr, {}, Actions{put("said/" + seed, "said", {{"text", textIn(wake, "user")}})}};
    const json::array* changes = wake.is_object() ? arrayOf(wake.get_object(), "changes") : nullptr;
    const std::string id = changes != nullptr && !changes->empty() ? textIn(changes->front(), "id") : std::string();
    if (id.empty()) return {nullptr, {}, saying("nothing to do")};
    if (id.starts_with(kContraryRequest))
      return {nullptr,
              {},
              Actions{put(concat(kContraryFolder, id.substr(kContraryRequest.size(), 1)), "desk", {{"text", seed}})}};
    return {json::object{{"id", id}, {"seed", seed}},
            {},
            Looks{{"journal.read", {{"id", id}}, 0}, {"sim.ask", {{"about", id}}, 10}}};
  }

  static Turn onAnswers(const json::value& sigma, const json::value& seen) {
    const json::array* list = seen.if_array();
    if (list == nullptr || list->size() != 2) return {nullptr, {}, saying("nothing was seen", true)};
    const json::object& read = list->front().get_object();
    const json::value* entry = read.if_contains("content");
    const std::string answer = textIn(list->back(), "content");
    if (entry == nullptr || !entry->is_object()) return {nullptr, {}, saying("the request is gone")};
    if (answer.empty()) return {nullptr, {}, saying(std::string(kSimSilent), true)};
    const json::value& payload = entry->get_object().at("payload");
    const std::string id = textIn(sigma, "id"), name = textIn(sigma, "seed") + "-" + answer;
    Actions actions{put("done/" + name, "done", {{"request", id}, {"answer", answer}})};
    json::object mail{{"to", id}, {"text", answer}, {"subject", concat(kNeedToKnow, id)}};
    if (const std::string hidden = textIn(payload, "private"); !hidden.empty()) mail["private"] = hidden;
    const auto pay = action("sim.pay", {{"to", id}, {"text", answer}}, {"pay/" + name});
    if (const std::string slip = textIn(payload, "slip"); !slip.empty()) {
      const std::string written = concat(slip, "-", answer);
      actions.push_back(put(concat(slip, "-open"), "desk", {{"open", true}}));  // of all plans of the run
      actions.push_back(put(written, "desk", {{"text", answer}}));
      if (payload.get_object().contains("pay"))
        actions.push_back(pay);
      else
        actions.push_back(action("sim.mail", mail, {"mail/" + name}));
      actions.push_back(put(written, "desk", {{"sent", true}, {"text", answer}}));
      return {nullptr, {}, std::move(actions)};
    }
    if (payload.is_object() && payload.get_object().contains("proposal"))
      actions.push_back(action("propose", payload.get_object().at("proposal").as_object(), {}));
    const std::string desk = textIn(payload, "desk");
    if (!desk.empty() && !(desk.starts_with(kBoardFolder) && answer == "brief")) {
      const bool twice = payload.get_object().contains("twice");
      if (twice) actions.push_back(put(desk, "desk", {{"text", "open"}}));
      for (int n = 0; n < (twice ? 2 : 1); ++n) actions.push_back(put(desk, "desk", {{"text", answer}}));
    }
    if (payload.is_object() && payload.get_object().contains("pay")) actions.push_back(pay);
    if (answer != "brief")  // what the policy does not let out must be taken out of it on the way
      actions.push_back(action("sim.mail", mail, {"mail/" + name}));
    return {nullptr, {}, std::move(actions)};
  }
};

// Keeps what it is told, and folds it into the marks of the remarks.
class SimKeeper final : public Agent {
 public:
  const AgentSpec& spec() const override {
    static const AgentSpec kSpec{
        .id = std::string(kSimKeeper),
        .version = "1",
        .what = "remembers what it is told",
        .category = "office",
        .subscriptions = {onEntries("remark")},
        .capabilities = {{std::string(kSumTool)}},
        .locale = {"here"},
        .remembers = true,
        .foldsBy = "sim.sum/1",
    };
    return kSpec;
  }

  Turn step(const json::value&, const Input& input) const override {
    if (input.kind == InputKind::observation) {
      const json::array* seen = input.content.if_array();
      const std::string text = seen != nullptr && seen->size() == 1 ? textIn(seen->front(), "content") : "";
      return {nullptr, {}, saying(text, text.empty())};
    }
    const json::value* fold = input.content.is_object() ? input.content.get_object().if_contains("fold") : nullptr;
    if (fold == nullptr || !fold->is_object()) return {nullptr, {}, saying("")};
    if (integerOf(*fold, "leftOut").value_or(0) > 0) return {nullptr, {}, saying("it cannot read all of it", true)};
    json::array lines;
    const auto take = [&](const std::string& text) {
      for (const std::string& mark : marksIn(text)) lines.emplace_back(mark);
    };
    take(textIn(*fold, "summary"));
    if (const json::array* messages = arrayOf(fold->get_object(), "messages"))
      for (const json::value& message : *messages) take(textIn(message, "content"));
    return {nullptr, {}, Looks{{std::string(kSumTool), {{"lines", std::move(lines)}}, 10}}};
  }
};

// Wakes, and writes one entry: what it is woken by is in its description.
class SimScribe final : public Agent {
 public:
  SimScribe(AgentSpec spec, const char* folder, const char* type, const char* member)
      : spec_(std::move(spec)), folder_(folder), type_(type), member_(member) {}
  const AgentSpec& spec() const override { return spec_; }
  Turn step(const json::value&, const Input& input) const override {
    if (input.kind != InputKind::wake) return {nullptr, {}, resulting(input.content)};
    const std::string seed = seedIn(input.content);
    Actions actions{put(folder_ + seed, type_, {{member_, true}})};
    // Of the runs of an agent with a rate some use it twice: by one capability, or by both that share it.
    if (const int kind = seed.back() % 3; spec_.capabilities.front().perHour && kind != 0)
      actions.push_back(
          put(kind == 1 ? concat(folder_, seed, "/again") : concat(kWardenOther, seed), type_, {{member_, true}}));
    return {nullptr, {}, std::move(actions)};
  }

 private:
  const AgentSpec spec_;
  const std::string folder_;
  const char* const type_;
  const char* const member_;
};

SubscriptionSpec byAgents(SubscriptionSpec spec) {
  spec.authors = Authors::agents;
  return spec;
}

AgentSpec sealerSpec() {
  return {.id = "sim-sealer",
          .version = "1",
          .what = "seals what was done",
          .category = "office",
          .subscriptions = {byAgents(onEntries("done"))},
          .capabilities = {{"journal.put", 1, {"seal/"}, {}}},
          .locale = {"here"}};
}

AgentSpec heraldSpec() {
  return {.id = "sim-herald",
          .version = "1",
          .what = "tells what became of findings",
          .category = "office",
          .ledgers = {{"triaged", "verification", "finding.phase", "TRIAGED"},
                      {"verified", "verification", "finding.phase", "VERIFIED"}},
          .capabilities = {{"journal.put", 1, {"told/"}, {}}},
          .locale = {"here"}};
}

AgentSpec wardenSpec() {
  AgentSpec spec{.id = std::string(kSimWarden),
                 .version = "1",
                 .what = "notes that it was woken",
                 .category = "office",
                 .subscriptions = {onEntries("request")},
                 .timers = {{std::string(kWardenTimer), kWardenEveryMs}},
                 .capabilities = {{"journal.put", 2, {std::string(kWardenFolder)}, {}},
                                  {"journal.put", 1, {std::string(kWardenOther)}, {}}},
                 .locale = {"here"}};
  for (agents::Capability& one : spec.capabilities) one.perHour = kWardenPerHour;
  return spec;
}

// A clerk pays only what a person has approved. Versions differ in nothing that matters, but each counts for itself.
Monitor tillPolicy(std::uint64_t version) {
  OperationRule pay{"pay", {"to", "text"}, {}};
  pay.requireHuman = true;
  Policy policy{.name = "till", .version = version};
  policy.boundary = {{"till", {"here"}, {pay}}};
  agents::Grant grant{.agent = "sim-clerk", .category = "office"};
  grant.locales = {"here"};
  grant.tools = {"sim.pay"};
  grant.boundaries = {"till"};
  policy.grant = {grant};
  auto monitor = Monitor::compile(std::move(policy));
  WITAN_CHECK(monitor.ok(), "the policy over payments is one");
  return *std::move(monitor);
}

// Everything but the tools outside stays on the device.
class SimGate final : public episode::Gate {
 public:
  explicit SimGate(std::uint64_t policy) : till(tillPolicy(policy)) {}
  episode::GateVerdict judge(const episode::GateRequest& request) const override {
    if (request.tool->boundary.empty()) return local_.judge(request);
    return request.tool->boundary == "till" ? till.judge(request) : outside.judge(request);
  }
  episode::AnswerVerdict judgeAnswer(const episode::GateRequest& request, const json::value& answer) const override {
    return request.tool->boundary == "outside" ? outside.judgeAnswer(request, answer) : episode::AnswerVerdict{};
  }
  std::string barred(std::string_view agent, std::string_view category, std::string_view reason) const override {
    return outside.barred(agent, category, reason);
  }
  std::string epoch() const override { return till.epoch(); }

  static const Monitor& monitor() {
    static const Monitor kMonitor = compiled();
    return kMonitor;
  }

  DeviceGate outside{monitor()}, till;

 private:
  static Monitor compiled() {
    OperationRule ask{"ask", {"about"}, {}};
    ask.ensure.emplace(R"({"enum":["brief","long","strange"]})");
    OperationRule mail{"mail", {"to", "text", "subject"}, {"subject"}};
    mail.excess = Excess::redact;
    mail.confirm = true;
    Policy policy{.name = "simulated", .version = 1};
    policy.boundary = {{"outside", {"here"}, {ask, mail}}};
    agents::Grant grant{.agent = "sim-clerk", .category = "office"};
    grant.locales = {"here"};
    grant.tools = {"sim.ask", "sim.mail"};
    grant.boundaries = {"outside"};
    // What the policy lets it do, its node in the graph does not grant it.
    agents::Grant weaver = grant;
    weaver.agent = kSimWeaver;
    weaver.tools = {"sim.ask"};
    // Nobody talks to the herald.
    agents::Grant herald{.agent = std::string(kSimAgents[2]), .category = "office"};
    herald.wakes = std::vector<std::string>{"subscription"};
    policy.grant = {grant, weaver, herald};
    auto monitor = Monitor::compile(std::move(policy));
    WITAN_CHECK(monitor.ok(), "the simulator's policy is one");
    return *std::move(monitor);
  }

  episode::LocalGate local_;
};

episode::ToolInfo outside(const char* name, episode::ToolKind kind, const char* operation,
                          const char* boundary = "outside") {
  episode::ToolInfo tool{.name = name, .kind = kind, .boundary = boundary, .operation = operation};
  tool.locale = {"here"};
  return tool;
}

}  // namespace

PrivacyReceipt simReceipt(std::string_view person, std::int64_t atMs) {
  return confirm(*SimGate::monitor().policy(), kSimAgents[0], nullptr, "outside", person, atMs);
}

std::string remarkText(std::string_view mark) { return concat(mark, " ", std::string(24'000, 'w')); }

std::vector<std::string> marksIn(std::string_view text) {
  std::vector<std::string> marks;
  for (std::size_t at = 0; (at = text.find(kMark, at)) != std::string_view::npos;) {
    const std::size_t end = std::min(text.find_first_of(" \n", at), text.size());
    marks.emplace_back(text.substr(at, end - at));
    at = end;
  }
  return marks;
}

std::string simSummary(const json::object& arguments) {
  std::string text;
  if (const json::array* lines = arrayOf(arguments, "lines"))
    for (const json::value& line : *lines) text += concat(text.empty() ? "" : "\n", std::string(line.as_string()));
  return text;
}

std::string deskName(std::uint64_t n) { return concat(kDeskFolder, n); }

void usePolicy(agents::DeviceGate& till, std::uint64_t policy) { till.use(tillPolicy(policy)); }

SimAgents simAgents(const SimAgentsOptions& options) {
  const std::int64_t retentionDays = options.retentionDays;
  static const SimClerk clerk;
  static const SimKeeper keeper;
  static const SimScribe sealer(sealerSpec(), "seal/", "seal", "sealed");
  static const SimScribe herald(heraldSpec(), "told/", "told", "told");
  static const SimScribe warden(wardenSpec(), "watch/", "watch", "watched");
  struct OfDevice {
    explicit OfDevice(std::uint64_t version) : gate(version) {}
    SimGate gate;
    node::AgentSetup setup;
  };
  const auto made = std::make_shared<OfDevice>(options.policy);
  node::AgentSetup* const setup = &made->setup;
  setup->agents = {&clerk, &herald, &simWeaver()};
  if (options.all) setup->agents.push_back(&sealer);
  setup->policy = simGraphGate();
  setup->graphEnvironment = simGraphEnvironment;
  setup->gate = &made->gate;
  setup->options.wake.graceMs = 5'000;
  if (hasLittleRoom(options.seed)) setup->options.wake.limits = {.jobs = 3, .perAgent = 2};
  if (paysOnce(options.seed)) setup->options.onceTools.emplace(kOnceTool);
  setup->options.wake.abandonMs = kAbandonMs;
  setup->options.wake.attempts = 20;  // crashes count
  setup->options.saga.maxAttempts = kSagaAttempts;
  setup->options.saga.lastBackoffMs = 30'000;
  if (retentionDays > 0) {
    setup->agents.push_back(&warden);
    constexpr std::int64_t kDay = kMicrosPerDay / 1'000;
    setup->options.retentionMs = setup->options.saga.retryMs = retentionDays * kDay;
    setup->options.wake.abandonMs = kDay;  // longer than a run waits for its rate
    if (hasDayBudget(retentionDays)) {
      setup->options.standing = {{.name = "clerk", .agent = std::string(kSimAgents[0]), .tokens = kClerkDay}};
      setup->options.wake.abandonMs = 2 * kDay;
    }
  }
  setup->options.callTimeoutMs = 20'000;
  setup->options.approvalTtlMs = 60'000;
  setup->options.tools = {outside("sim.ask", episode::ToolKind::look, "ask"),
                          outside("sim.mail", episode::ToolKind::action, "mail"),
                          outside("sim.pay", episode::ToolKind::action, "pay", "till")};
  if (options.remembers) {
    setup->agents.push_back(&keeper);
    setup->options.tools.push_back({.name = std::string(kSumTool)});
  }
  return {{made, setup}, {made, &made->gate.outside}, {made, &made->gate.till}};
}

}  // namespace witan::sim

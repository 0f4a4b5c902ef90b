#include "lab/conformance/toy.h"

#include <stdexcept>

#include "agents/entry_agent.h"

namespace witan::agents::conformance {

using episode::Effect;
using episode::Entry;
using episode::Episode;
using replication::OperationOutcome;

namespace {

std::uint64_t splitmix(std::uint64_t z) {
  z += 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

// The n-th draw below `bound`.
std::uint64_t draw(std::uint64_t random, unsigned n, std::uint64_t bound) { return splitmix(random + n) % bound; }

constexpr const char* kAnyTool[] = {"look.near", "look.near", "look.us", "look.us",
                                    "look.eu",   "act.put",   "act.us",  "no.such.tool"};

constexpr unsigned kMaxRounds = 100'000;

}  // namespace

std::uint64_t mix(std::uint64_t seed, std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325u ^ seed;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return splitmix(hash);
}

episode::ToolTable toyTools() {
  using episode::ToolKind;
  episode::ToolTable table;
  const auto add = [&](const char* name, ToolKind kind, std::int64_t tokens, std::vector<std::string> locale) {
    episode::ToolInfo tool{.name = name,
                           .kind = kind,
                           .tokens = tokens,
                           .seconds = 1,
                           .locale = std::move(locale),
                           .targetArgument = "id"};
    const Status added = table.add(std::move(tool));
    WITAN_CHECK(added.ok(), "the toys are well made");
  };
  add("look.near", ToolKind::look, 1, {});
  add("look.us", ToolKind::look, 3, {"us"});
  add("look.eu", ToolKind::look, 3, {"eu"});
  add("act.put", ToolKind::action, 2, {});
  add("act.us", ToolKind::action, 5, {"us"});
  return table;
}

ToyAgent::ToyAgent(std::uint64_t seed, ToyTraits traits) : seed_(seed), traits_(traits) {
  spec_.id = "toy";
  spec_.version = std::to_string(seed);
  spec_.what = "does anything";
  spec_.category = "toys";
  spec_.subscriptions = {onEntries("toy")};
  spec_.capabilities = {{"look.*", 12, {}, {}}, {"act.put", 5, {"a", "b/"}, {}}, {"act.*", 3, {}, {"us"}}};
  spec_.locale = {"us"};
  spec_.budget = {static_cast<std::int64_t>(2 + draw(seed, 1, 6)), static_cast<std::int64_t>(5 + draw(seed, 2, 60)),
                  static_cast<std::int64_t>(3 + draw(seed, 3, 40))};
}

Turn ToyAgent::looks(std::uint64_t random, json::value sigma) const {
  Looks looks;
  for (unsigned i = 0; i <= draw(random, 10, 3); ++i) {
    const char* tool = kAnyTool[draw(random, 11 + i, std::size(kAnyTool))];
    looks.push_back({tool, {{"q", draw(random, 20 + i, 50)}}, static_cast<std::int64_t>(draw(random, 30 + i, 6))});
  }
  return {std::move(sigma), {"let me look"}, std::move(looks)};
}

Turn ToyAgent::plan(std::uint64_t random, json::value sigma) const {
  static const char* const kIds[] = {"a1", "a2", "b/1", "c1"};
  Actions actions;
  for (unsigned i = 0; i < draw(random, 40, 5); ++i) {
    const std::string id = kIds[draw(random, 41 + i, std::size(kIds))];
    const json::object arguments{{"id", id}, {"n", draw(random, 50 + i, 2)}};
    const char* tool = kAnyTool[4 + draw(random, 60 + i, 4)];
    actions.push_back({draw(random, 70 + i, 3) == 0 ? tool : "act.put", canonicalJson(arguments), {"toys"}, {id}});
  }
  return {std::move(sigma), {}, std::move(actions)};
}

Turn ToyAgent::step(const json::value& sigma, const Input& input) const {
  const std::string told = concat(canonicalJson(sigma), static_cast<int>(input.kind), canonicalJson(input.content));
  const std::uint64_t random = mix(seed_, told);
  // All that it was told so far, as a number.
  json::value next = json::object{
      {"told", static_cast<std::int64_t>(random >> 12)},
      {"planned", input.kind == InputKind::results || (sigma.is_object() && sigma.at("planned").as_bool())}};
  if (traits_.throws && draw(random, 1, 12) == 0) throw std::runtime_error("a toy breaks");
  if (traits_.malformed && draw(random, 2, 12) == 0) return {next, {}, Looks{{"not an id", {}, 0}}};
  const std::uint64_t what = draw(random, 3, 10);
  const bool planned = next.at("planned").as_bool();
  if (what < 5) return looks(random, std::move(next));
  if (traits_.plans && (planned ? what == 5 && draw(random, 4, 8) == 0 : what < 9))
    return plan(random, std::move(next));
  return {std::move(next),
          {"done"},
          Finish{concat("seen ", random % 1000),
                 {{replication::SlotName::extension, json::object{{"last", random % 7}}}},
                 {},
                 {},
                 draw(random, 5, 6) == 0}};
}

Turn ImpureAgent::step(const json::value& sigma, const Input& input) const {
  Turn turn = ToyAgent::step(sigma, input);
  turn.thoughts.push_back(concat("call ", ++calls_));
  return turn;
}

episode::GateVerdict ToyGate::judge(const episode::GateRequest& request) const {
  using episode::GateKind;
  const std::uint64_t random = mix(seed_, concat(request.tool->name, canonicalJson(*request.arguments)));
  switch (draw(random, 1, 8)) {
    case 0: return {GateKind::deny, "overshared_payload_blocked", "a toy's whim", {}, {}};
    case 1: {
      json::object less = *request.arguments;
      less.erase("q");
      less.erase("n");
      return {GateKind::redact, {}, "left out: n, q", std::move(less), {}};
    }
    case 2: {
      const Hash digest = sha256(concat(epoch(), request.tool->name, request.span, canonicalJson(*request.arguments)));
      if (request.approved != nullptr && *request.approved == digest) return {GateKind::allow, {}, {}, {}, {}};
      return {GateKind::requireHuman, {}, "a person must agree", {}, digest};
    }
    default: return {GateKind::allow, {}, {}, {}, {}};
  }
}

// ---- the host

RunKey toyRun(std::uint64_t seed) {
  auto run = userRunKey("toy", "session", std::to_string(seed));
  WITAN_CHECK(run.ok(), "the toys are well made");
  return *run;
}

// The process dies before whatever stands behind this line.
void ToyHost::boundary() {
  if (!options_.crashAt.contains(boundary_++)) return;
  episode_.reset();
  disk_.history.push_back({StepKind::crashed, options_.device, 0, {}});
  throw Died{};
}

Status ToyHost::run() {
  for (std::size_t lives = 0; lives <= options_.crashAt.size(); ++lives) {
    WITAN_TRY(ended, live());
    if (ended) return okStatus();
  }
  return invalid("it died more often than it was told to");
}

Result<bool> ToyHost::live() {
  try {
    WITAN_DO(goOn());
    return true;
  } catch (const Died&) {
    return false;
  }
}

Status ToyHost::open() {
  const std::vector<std::string>& transcript = disk_.transcripts[options_.device];
  if (!transcript.empty()) {
    WITAN_SET(episode_, Episode::resume(agent_, gate_, transcript));
    return okStatus();
  }
  static const episode::ToolTable kTools = toyTools();
  WITAN_TRY(beginning, episode::beginningOf(agent_.spec(), kTools, toyRun(options_.run), options_.device,
                                            {{"reason", "user"}, {"nowMs", 1000}}));
  WITAN_SET(episode_, Episode::begin(agent_, gate_, std::move(beginning)));
  return okStatus();
}

Status ToyHost::goOn() {
  WITAN_DO(open());
  for (unsigned round = 0; round < kMaxRounds; ++round) {
    if (disk_.plan) WITAN_DO(episode_->planned(*disk_.plan));
    if (episode_->wantsPlan() != nullptr) {
      writePlan();
      WITAN_DO(episode_->planned(*disk_.plan));
    }
    writeEntries();
    if (episode_->ended() != nullptr) return okStatus();
    for (const Effect& effect : episode_->takeEffects()) WITAN_DO(carryOut(effect));
    for (const episode::Question& question : episode_->questions()) WITAN_DO(answer(question));
  }
  return invalid("the run does not come to an end");
}

void ToyHost::writePlan() {
  boundary();
  disk_.plan = *episode_->wantsPlan();
  disk_.history.push_back({StepKind::planWritten, options_.device, 0, {}});
}

// One by one, so that the process can die between any two.
void ToyHost::writeEntries() {
  std::uint64_t number = 0;
  std::vector<std::string>& transcript = disk_.transcripts[options_.device];
  for (const Entry& entry : episode_->takeEntries(number)) {
    boundary();
    transcript.push_back(entry.content);
    disk_.history.push_back({StepKind::entryWritten, options_.device, transcript.size() - 1, {}});
  }
  episode_->durable(transcript.size());
}

Status ToyHost::carryOut(const Effect& effect) {
  boundary();
  const std::uint64_t world = mix(options_.worldSeed, concat(effect.span(), attempts_++));
  if (!effect.operation()) {
    disk_.history.push_back({StepKind::looked, options_.device, 0, effect.span()});
    boundary();
    if (world % 5 == 0) return episode_->observed(effect.span(), {false, {}, "tool-error: it is down", 0, 0});
    return episode_->observed(effect.span(), {true,
                                              json::object{{"seen", world % 100}},
                                              {},
                                              static_cast<std::int64_t>(world % 7),
                                              static_cast<std::int64_t>(world % 4)});
  }
  const OperationId& operation = *effect.operation();
  if (!options_.checkRecords || !disk_.applied.contains(operation)) {
    ++disk_.mutations[operation];
    disk_.applied.emplace(operation, world % 100);
    disk_.history.push_back({StepKind::acted, options_.device, 0, effect.span()});
  }
  boundary();
  return episode_->outcome(operation, OperationOutcome::applied, json::object{{"made", disk_.applied.at(operation)}});
}

Status ToyHost::answer(const episode::Question& question) {
  boundary();
  const bool yes = mix(options_.worldSeed, question.span) % 3 != 0;
  return episode_->answered(question.span, question.digest, yes, "person-1");
}

}  // namespace witan::agents::conformance

#include "lab/conformance/toy_host.h"

namespace witan::agents::conformance {

using episode::Effect;
using episode::Entry;
using episode::Episode;
using replication::OperationOutcome;

namespace {
inline constexpr unsigned kMaxRounds = 100'000;
}  // namespace

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
    WITAN_TRY(episode, Episode::resume(agent_, gate_, transcript));
    episode_ = std::move(episode);
    return okStatus();
  }
  static const episode::ToolTable kTools = toyTools();
  WITAN_TRY(beginning, episode::beginningOf(agent_.spec(), kTools, toyRun(options_.run), options_.device,
                                            {{"reason", "user"}, {"nowMs", 1000}}));
  WITAN_TRY(episode, Episode::begin(agent_, gate_, std::move(beginning)));
  episode_ = std::move(episode);
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
  const std::uint64_t world = mix(options_.worldSeed, effect.span() + std::to_string(attempts_++));
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

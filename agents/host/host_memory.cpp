// Memory that has grown too long, in agents/host/agent_host.h: folded at once to the first words of each message, or,
// for an agent that does it itself (AgentSpec::foldsBy), by a run of that agent: so the call of its model is recorded,
// judged by the policy, charged to the run's budget, and replayed like any other. What such a run does not give is
// folded to the first words, under their own contract. And what a run adds to the memory of its agent.
#include "agents/host/agent_host.h"
#include "agents/host/fold_job.h"
#include "agents/memory/memory_context.h"
#include "replication/records/record_write.h"

namespace witan::agents {

using namespace replication;

namespace {

constexpr std::int64_t kFoldLookMs = 60'000, kFoldQueueFullMs = 1'000;

// Only for its contract: nobody asks it.
class RunOfTheAgent final : public Summariser {
 public:
  explicit RunOfTheAgent(std::string contract) : contract_(std::move(contract)) {}
  std::string version() const override { return contract_; }
  Result<std::string> summarise(const SummaryRequest&) const override {
    return unavailable("a run of the agent gives it");
  }

 private:
  const std::string contract_;
};

}  // namespace

Status AgentHost::planFold(const AgentSpec& spec, Now now) {
  if (spec.foldsBy.empty())
    WITAN_DO(memory_.plan(spec.id, spec.thread, summariser_, now));
  else
    WITAN_DO(memory_.plan(spec.id, spec.thread, RunOfTheAgent(spec.foldsBy), now));
  return foldDue(now);
}

Status AgentHost::foldDue(Now now) {
  WITAN_DO(memory_.run(summariser_, now));
  WITAN_TRY(requests, memory_.due(now));
  WITAN_TRY(records, space());
  for (const SummaryRequest& request : requests) {
    const auto agent = agents_.find(request.agentId);
    if (agent == agents_.end() || agent->second->spec().foldsBy != request.contract) {
      WITAN_DO(foldByFirstWords(request.id, request.agentId, "it does not fold it so any more", now));
      continue;
    }
    WITAN_TRY(job, foldJob(memory_.jobs().at(request.id).job));
    WITAN_TRY(over, hasEnded(*records, job.key()));
    if (over) {
      WITAN_DO(foldByFirstWords(request.id, request.agentId, "its run has ended without one", now));
      continue;
    }
    WITAN_TRY(taken, wakes_.offer(std::move(job), now));
    memory_.defer(request.id, taken ? kFoldLookMs : kFoldQueueFullMs, now);
    again_ = true;
  }
  return okStatus();
}

Status AgentHost::foldByFirstWords(const SummaryId& id, const std::string& agentId, std::string_view why, Now now) {
  out_.notices.push_back(
      {"folded", concat(agentId, ": the first words of each message stand for its memory, and no summary: ", why)});
  WITAN_DO(memory_.recast(id, summariser_, now));
  WITAN_DO(memory_.run(summariser_, now));
  return okStatus();
}

std::optional<SummaryId> AgentHost::foldOf(const WakeJob& job) const {
  if (!isFold(job)) return std::nullopt;
  for (const auto& [id, waiting] : memory_.jobs())
    if (waiting.job.agentId == job.agentId)
      if (const auto fold = foldJob(waiting.job); fold.ok() && fold->key() == job.key()) return id;
  return std::nullopt;
}

// The run's end and its summary are one batch of the store.
Status AgentHost::endFold(const WakeJob& job, const episode::Ending& ending, Now now) {
  WITAN_DO(wakes_.ended(job.key(), ending.status, ending.cause, now));
  const auto id = foldOf(job);
  if (!id) return okStatus();
  const std::string& text = ending.finish.answer;
  if (ending.status == replication::WakeStatus::completed && !text.empty()) return memory_.answered(*id, text, now);
  return foldByFirstWords(*id, job.agentId,
                          ending.status == replication::WakeStatus::completed ? "it is empty" : ending.cause, now);
}

// The user's text and the agent's answer, as messages of its thread.
Result<std::vector<Write>> AgentHost::lastWords(const Running& run, Now now, std::optional<std::string>& head) {
  std::vector<Write> writes;
  const AgentSpec& spec = run.agent->spec();
  std::vector<std::string> parents;
  if (spec.remembers) {
    WITAN_TRY(graph, memory_.graphOf(spec.id));
    parents = headsOf(*graph, threadMessages(*graph, spec.thread));
  }
  const auto say = [&](const char* what, MessageKind kind, std::string text) -> Status {
    const MessageBody said{run.episode.run().hex() + "/" + replica_.device() + "/" + what,
                           spec.id,
                           spec.thread,
                           kind,
                           parents,
                           std::move(text),
                           now.wallMs(),
                           std::nullopt};
    WITAN_TRY(write, recordWrite(said.id, said));
    WITAN_TRY(records, space());
    if (records->table().find(Kind::message, said.id) != nullptr) return okStatus();  // said in an earlier life
    writes.push_back(std::move(write));
    parents = {said.id};
    head = said.id;
    return okStatus();
  };
  if (run.job.reason == WakeReason::user) {
    auto input = parseJson(run.job.input);
    const json::value* text = input.ok() && input->is_object() ? input->get_object().if_contains("user") : nullptr;
    if (text != nullptr && text->is_string()) WITAN_DO(say("said", MessageKind::user, std::string(text->get_string())));
  }
  if (const std::string& answer = run.episode.ended()->finish.answer; !answer.empty())
    WITAN_DO(say("answer", MessageKind::thought, answer));
  return writes;
}

}  // namespace witan::agents

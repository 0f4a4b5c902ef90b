// AgentHost: what a run asks people.
#include "agents/host/agent_host.h"
#include "agents/host/denials.h"
#include "agents/memory/thread.h"
#include "base/json_codec.h"
#include "base/mutant.h"
#include "replication/records/record_views.h"
#include "replication/records/record_write.h"

namespace witan::agents {

using namespace replication;

namespace {

// For a broken variant.
bool isYes(const Version& version) {
  const auto body = decodeRecord<ApprovalBody>(version.body);
  return body.ok() && body->verdict == ApprovalVerdict::approved;
}

}  // namespace

Status AgentHost::askPeople(Running& run, Now now) {
  const std::vector<episode::Question> questions = run.episode.questions();
  if (questions.empty()) return okStatus();
  WITAN_TRY(records, space());
  WITAN_TRY(lifecycle, lifecycleIn(*records, run.job.agentId));
  const bool destroyed = lifecycle == Lifecycle::destroyed;
  for (const episode::Question& question : questions) {
    const std::string key = question.operation.hex();
    WITAN_TRY(versions, records->versions(Kind::approval, key));
    const ApprovalView view = approvalViewOf(question.operation, versions);
    const bool asked = view.shown && view.shown->body.digest == question.digest;
    ApprovalVerdict verdict = verdictFor(view, question.digest);
    if (asked && mutated("anyYes") && std::ranges::any_of(versions, isYes)) verdict = ApprovalVerdict::approved;
    if (view.shown && (mutated("anyDigest") || (asked && mutated("approveLate")))) verdict = view.shown->body.verdict;
    if (verdict != ApprovalVerdict::waiting || (destroyed && !asked)) {
      const bool approved = verdict == ApprovalVerdict::approved && !destroyed;
      if (approved && lifecycle == Lifecycle::dormant && !mutated("actPaused")) continue;  // until it is resumed
      const bool byPerson = asked && !destroyed && !isLate(view.shown->body);
      WITAN_DO(run.episode.answered(
          question.span, question.digest, approved,
          byPerson || (asked && mutated("blamePerson")) ? view.shown->body.by : std::string(kNobodyAnswered)));
      again_ = true;
      continue;
    }
    ApprovalBody body;
    if (asked) {
      const ApprovalBody& open = view.shown->body;  // an older build's has no end
      const bool over = now.wallMs() >= (open.untilMs != 0 ? open.untilMs : open.atMs + options_.approvalTtlMs);
      if ((!over || mutated("openForEver")) && !destroyed) continue;
      // Nobody answered: it is denied (docs/FINDINGS.md, F17). On every device, so that nobody is asked any more.
      WITAN_SET(body, answerTo(view, question.digest, ApprovalVerdict::denied, kNobodyAnswered,
                               destroyed ? kAgentDestroyed : kNotInTime, now.wallMs()));
    } else {
      body.operationId = question.operation.value;
      body.digest = question.digest;
      body.runKey = run.episode.run().value;
      body.agentId = run.job.agentId;
      body.what = canonicalJson(json::object{{"tool", question.tool}, {"arguments", question.arguments}});
      body.atMs = now.wallMs();
      body.untilMs = body.atMs + options_.approvalTtlMs;
      ++counters_.questions;
      out_.notices.push_back({"question", run.job.agentId + " asks to " + question.tool + ": " + body.what});
    }
    WITAN_TRY(write, recordWrite(key, body));
    WITAN_DO(replica_.commit(DatabaseName::agents, options_.wake.scope, {&write, 1}));
    again_ = true;
  }
  return okStatus();
}

}  // namespace witan::agents

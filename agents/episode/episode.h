// Episode: the K-12 execution of one wake on one device (seed 004, section 3), as a state machine that is told what
// happened and says what it wants. It does no I/O, asks no clock, and keeps nothing that is not in its transcript:
//
//   begin() or resume()  ->  takeEntries()  -- write them, in order, to the agent's database
//                            durable(n)     -- the first n entries are on disk
//                            takeEffects()  -- looks and actions that may be carried out now: observed(), outcome()
//                            wantsPlan()    -- make this plan durable, unless the run has one: planned() with the
//                            winner questions()    -- actions that wait for a person: answered() ended()        --
//                            write the run's terminal status
//
// Laws of the seed, and by what they hold:
//   1, effect containment      the agent gets values and returns values; only an Effect permits a call
//   2, audit before mutation   an Effect is given out only when its announcing entry is durable; its outcome is a
//   second
//                              entry (docs/FINDINGS.md, F11)
//   3, monotone quota          Quota (agents/episode/context.h); a call beyond it is denied, and the denial recorded
//   4, locale narrowing        checked at every call and every fork (agents/episode/context.h)
//   5, least privilege         a call that no capability covers is denied
//
// Durable execution by replay: all entries follow from those that came from outside (transcript.h), so any prefix of a
// transcript continues to the same whole. There is one plan a run: the first that was made durable, whoever made it; a
// run that has one never plans again. Every run ends, in bounded steps, with a status and a cause.
//
// The agent and the gate outlive the episode. Not thread-safe. After an error of a call nothing has changed.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "agents/agent.h"
#include "agents/episode/context.h"
#include "agents/episode/gate.h"
#include "agents/episode/learner.h"
#include "agents/episode/transcript.h"

namespace witan::agents::episode {

inline constexpr std::size_t kMaxInputBytes = 384 * 1024;       // of what woke it
inline constexpr std::size_t kMaxKeptBytes = 160 * 1024;        // of an agent's slots, so that its next input has room
inline constexpr std::size_t kMaxObservationBytes = 64 * 1024;  // of one answer
inline constexpr std::size_t kMaxTranscriptBytes = 64u << 20;

// The rules by which a transcript follows from what came from outside: it is replayed by those that it was made by.
//   1   a run that was denied everything ends as completed
//   2   it ends as failed, and one that was denied something says so
//   3   results name what was asked, as observations do: the plan that stands may be another device's
//   4   actions that failed count as those that were denied; a question without an answer is denied as approval_expired
//   5   the end has what the run emits into its graph
//   6   actions are charged the time that they took
//   7   what answers tell is judged, and the verdict stands beside them
//   8   looks do not repeat what the run was given (agents/episode/sparing.h); the agent is told the rules; the end
//       says how much of what it knows found no room; a run that would keep too much in the slots fails
inline constexpr std::int64_t kRules = 8;

// The content of the first entry.
struct Beginning {
  RunKey run;
  std::string device;
  json::object input;     // Input::content of the wake, without "seed"
  std::int64_t seed = 0;  // R
  Grant grant;            // C, Lambda, kappa
  std::vector<ToolInfo> tools;
  std::optional<RunKey> parent;  // of a sub-episode
  std::int64_t rules = kRules;
};

// With what the agent declares, and a seed that is the same on every device.
Result<Beginning> beginningOf(const AgentSpec& spec, const ToolTable& tools, const RunKey& run, std::string device,
                              json::object input);

// The permission to do one thing, and the only way to do it (seed 004, Law 1: all that reaches the outside goes through
// E). Only an Episode makes one, when the entry that announces it is durable (Law 2); so code that carries out calls
// takes an Effect and nothing else. It can be moved, not copied: one permission, one call. After a crash the same call
// is permitted again, unless its outcome is in the transcript.
class Effect {
 public:
  Effect(Effect&&) = default;
  Effect& operator=(Effect&&) = default;

  const std::string& span() const { return span_; }  // what the answer must name
  const RunKey& run() const { return run_; }
  const std::string& agentId() const { return agentId_; }
  const ToolInfo& tool() const { return tool_; }
  // As the gate let them pass.
  const json::object& arguments() const { return arguments_; }
  // For an action: its idempotency key, and its declared scope and targets.
  const std::optional<OperationId>& operation() const { return operation_; }
  const std::vector<std::string>& scope() const { return scope_; }
  const std::vector<std::string>& targets() const { return targets_; }

 private:
  friend class Episode;
  Effect() = default;

  std::string span_, agentId_;
  RunKey run_;
  ToolInfo tool_;
  json::object arguments_;
  std::optional<OperationId> operation_;
  std::vector<std::string> scope_, targets_;
};

// The answer to a look. `tokens` and `seconds`: what it did cost, if more than estimated.
struct Observation {
  bool ok = false;
  json::value content;
  std::string error;
  std::int64_t tokens = 0, seconds = 0;
};

// An action that waits for a person, who must be shown it and the digest (replication/records/record_views.h).
struct Question {
  std::string span;
  OperationId operation;
  std::string tool;
  json::object arguments;  // what would cross
  Hash digest{};
};

struct Ending {
  replication::WakeStatus status = replication::WakeStatus::failedTerminal;
  std::string cause;
  Finish finish;  // of a run that failed before its answer: empty
};

struct Sub {
  RunKey run;
  Grant grant;
};

class Episode {
 public:
  // Calls the agent for the first time. Errors: the beginning is no valid one.
  static Result<Episode> begin(const Agent& agent, const Gate& gate, Beginning beginning);
  // Goes on from the entries that are durable; none of them is written again. Errors: corrupt, naming the first entry
  // that does not follow; conflict, it was another agent or version. O(transcript).
  static Result<Episode> resume(const Agent& agent, const Gate& gate, std::span<const std::string> contents);

  const RunKey& run() const { return beginning_.run; }
  TranscriptName name() const;
  const std::vector<Entry>& entries() const { return entries_; }
  const Context& context() const { return context_; }
  const Learner& learner() const { return learner_; }
  // The most of what the agent knows that found no room in a question of it.
  std::size_t leftOut() const { return leftOut_; }

  // --- what it wants
  // Entries that were not taken yet, with the number of the first.
  std::span<const Entry> takeEntries(std::uint64_t& first);
  void durable(std::uint64_t count);
  std::vector<Effect> takeEffects();
  const replication::PlanBody* wantsPlan() const;
  std::vector<Question> questions() const;
  // Whether there are questions and nothing else is under way.
  bool waitsForPeople() const;
  const Ending* ended() const { return ending_ ? &*ending_ : nullptr; }

  // --- what happened. Told twice, or after the end, it changes nothing. Errors: notFound, nothing such was announced.
  // An answer beyond the limits counts as a failure of the tool.
  Status observed(std::string_view span, Observation observation);
  // The plan that stands for this run (replication/records/record_views.h), before or after the agent has made one;
  // also when another turns out to stand, while its actions are under way: those that only the former had are no longer
  // waited for. Errors: another run's, malformed; conflict, the agent has been told the results of another.
  Status planned(const replication::PlanBody& plan);
  // `approved`: a person's answer to the question with this digest. Errors also: conflict, another digest.
  Status answered(std::string_view span, const Hash& digest, bool approved, std::string_view by);
  // Later actions on a target of one that failed are denied: a plan's actions on one target build on each other. One
  // that waits for a person ("waiting" in its result) has not failed.
  // `seconds`: what it took, if more than estimated.
  Status outcome(const OperationId& operation, replication::OperationOutcome outcome, const json::value& result,
                 std::int64_t seconds = 0);
  // Whether an action that was given out is still to be carried out.
  bool waitsFor(const OperationId& operation) const;
  // Ends the run as failed; actions under way are no longer waited for.
  Status abort(std::string_view cause);
  // A sub-episode of `agentId` with a part of what this one holds. Errors: unauthorised, beyond what it holds.
  Result<Sub> fork(std::string_view agentId, Grant wish);

 private:
  enum class Phase { looking, planning, acting, ended };
  struct Ruling {
    GateVerdict verdict;
    bool byGate = false;  // else by the episode itself
    std::string policy;   // epoch
    std::optional<std::size_t> capability;
  };
  // One announced call, a look or an action.
  struct Call {
    std::string span;
    ToolInfo tool;
    json::object planned;    // arguments as the agent gave them
    json::object arguments;  // as they may cross
    std::vector<std::string> scope, targets;
    std::optional<OperationId> operation;
    Budget cost{0, 0, 0};
    std::string goal;                  // of a look: what its tool is chosen for
    std::int64_t estimate = 0;         // the agent's own, in tokens
    std::set<std::string> tried = {};  // tools that were asked before this one
    bool met = false;                  // the agent's goals are met already
    bool allowed = false, asked = false, given = false;
    std::optional<Hash> digest;          // of what a person is asked
    std::optional<std::string> denial;   // its token
    std::optional<json::object> answer;  // body of the observation or outcome
    std::uint64_t entry = 0;             // that announced it, or that let it pass
  };
  struct Bound {
    replication::PlanBody body;
    std::vector<OperationId> operations;
    PlanDigest digest;
  };

  Episode(const Agent& agent, const Gate& gate, Beginning beginning);

  // --- the turns
  void start();
  void advance();
  void turn(const Input& input);
  bool keepsShown() const;
  void take(Looks looks);
  void take(Actions actions);
  void take(const Finish& finish);
  void bind(Bound bound);
  void carryOut();
  void tellObservations();
  void tellResults();
  void fail(std::string cause);
  void end(replication::WakeStatus status, std::string cause, const Finish& finish);
  void append(EntryKind kind, json::object body);

  // --- one call
  Ruling rule(const Call& call);
  GateVerdict judge(const GateRequest& request, std::uint64_t entry) const;
  // What the agent is told of a good answer, and what the transcript says of that. False: it counts as a failure.
  bool judgeAnswer(const Call& call, bool good, json::value& content, json::object& body) const;
  void announce(Call& call, json::object body);
  bool lookFor(Call& call);
  void apply(Call& call, const GateVerdict& verdict);
  void deny(Call& call, const std::string& token, const std::string& why);
  Ending endingOf(const Finish& finish) const;
  std::string tooMuchToKeep(const Finish& finish) const;
  void settle(Call& call, json::object answer);
  void denyAfter(const Call& failed);
  GateRequest requestOf(const Call& call) const;
  std::string epochAt(std::uint64_t entry) const;
  ToolInfo toolNamed(const std::string& name) const;
  // The open call with this span; null: it is settled. Errors: notFound.
  Result<Call*> openCall(std::vector<Call>& calls, std::string_view span);

  // --- replay.cpp
  Status feed(const Entry& entry);
  friend class Follower;

  const Agent* agent_;
  const Gate* gate_;
  Beginning beginning_;
  Context context_;
  Learner learner_;
  std::vector<Entry> recorded_;  // of a transcript that is being read: its verdicts count
  std::vector<Entry> entries_;
  std::size_t bytes_ = 0;
  Hash chain_{};
  std::uint64_t taken_ = 0, durable_ = 0;

  Phase phase_ = Phase::looking;
  bool told_ = false;  // the agent has the results of its plan
  std::optional<Input> next_;
  json::value sigma_;
  std::vector<Call> looks_;                     // of this round
  std::vector<Call> actions_;                   // announced, of the plan that stands
  std::set<std::string, std::less<>> settled_;  // spans that nothing more is expected of
  replication::PlanBody proposal_;
  std::optional<Bound> bound_;
  std::uint64_t forks_ = 0;
  std::size_t leftOut_ = 0;
  struct Tally {
    std::size_t calls = 0, denied = 0, failed = 0, untried = 0;  // untried: after another action failed
    std::string firstDenial, firstFailure;
    void count(const Call& call);
  };
  static constexpr std::string_view kAfterFailure = "after_failure";  // denied, because another action failed
  Tally seen_;                                                        // of looks
  std::optional<Ending> ending_;
};

}  // namespace witan::agents::episode

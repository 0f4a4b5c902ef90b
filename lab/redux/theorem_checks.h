// The theorems of seed 000 (sections A.2 and A.3) as checkers of a recorded history. Each returns "" when the history
// keeps the statement and else the first step that breaks it. theorem_test.cpp proves of each that it can fire.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "lab/redux/history.h"

namespace witan::kernel::redux {

using Steps = std::vector<Step>;

inline std::string at(std::size_t i, const std::string& why) { return "step " + std::to_string(i) + ": " + why; }

// The reduction rule that a step is an instance of; other: none of the five that append to the audit.
enum class StepRule { approve, reject, escalate, counselorCommit, counselorReject, other };
inline StepRule ruleOf(const Step& step) {
  switch (step.decision.outcome) {
    case Outcome::approved: return StepRule::approve;
    case Outcome::rejected: return StepRule::reject;
    case Outcome::escalated: return StepRule::escalate;
    case Outcome::cCommitted: return StepRule::counselorCommit;
    case Outcome::cRejected: return StepRule::counselorReject;
    default: return StepRule::other;
  }
}

inline std::string firstNonPass(const std::vector<Verdict>& verdicts) {
  for (std::size_t i = 0; i < verdicts.size(); ++i)
    if (!verdicts[i].passed()) return "invariant " + std::to_string(i) + " says " + verdicts[i].message();
  return {};
}

// "every reachable domain state satisfies invariants_D" (Theorem 1), "if every step that is an instance of
// E-Counselor-Commit produces a post-state s_{j+1} with s_{j+1}.domain |= invariants_D" (Theorem 1+): up to an entity's
// first unsafe commit, and again from its next approval on (Lemma A.48).
inline std::string theorem1(const DomainModule&, const Steps& steps) {
  std::set<std::string> poisoned;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const Step& step = steps[i];
    const std::string violated = firstNonPass(step.onStateAfter);
    if (ruleOf(step) == StepRule::counselorCommit && !violated.empty())
      poisoned.insert(step.entity);
    else if (ruleOf(step) == StepRule::approve || violated.empty())
      poisoned.erase(step.entity);
    if (!violated.empty() && !poisoned.contains(step.entity)) return at(i, "a reachable state violates: " + violated);
  }
  return {};
}

// "E-Adjudicate-Approve is the sole route by which s.domain can change in the base calculus" (Lemma A.47), with
// E-Counselor-Commit in the extended one (Remark A.67).
inline std::string lemmaA47(const DomainModule&, const Steps& steps) {
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const StepRule rule = ruleOf(steps[i]);
    if (rule == StepRule::approve || rule == StepRule::counselorCommit ||
        steps[i].decision.outcome == Outcome::initialised)
      continue;
    if (steps[i].stateBefore != steps[i].stateAfter) return at(i, "the domain state changed without a commit");
  }
  return {};
}

// (i) "the sole entry appended to s_{j+1}.audit is tagged approved, carries action a and timestamp t, and has witness
// slot None."
inline std::string theorem4i(const DomainModule& module, const Steps& steps) {
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const Step& s = steps[i];
    if (ruleOf(s) != StepRule::approve) continue;
    if (s.appended.size() != 1) return at(i, "not one entry");
    const Entry& e = s.appended[0];
    if (e.tag != Tag::approved || e.action != s.action || e.time != s.at) return at(i, "another tag, action or time");
    if (e.entity != s.entity || e.role != s.role || e.operationId != s.operationId) return at(i, "another act");
    if (!e.invariant.empty() || !e.message.empty()) return at(i, "an approval with a witness");
    if (s.onCandidate.size() != module.signature().invariants.size() || !firstNonPass(s.onCandidate).empty())
      return at(i, "approved against an invariant");
  }
  return {};
}

// (ii) "tagged rejected (resp. escalated), carries action a and timestamp t, and has witness slot Some(id(i_k), m)
// where i_k satisfies i_k(applyMutation(s_j.domain, a, t)) = reject(m) (resp. escalate(m))"; and A.18: "the failure
// witness is the first invariant i_k in list order". KERNEL_INTEGRITY is the invariant before the list.
inline std::string theorem4ii(const DomainModule& module, const Steps& steps) {
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const Step& s = steps[i];
    const bool rejected = ruleOf(s) == StepRule::reject;
    if (!rejected && ruleOf(s) != StepRule::escalate) continue;
    if (s.appended.size() != 1) return at(i, "not one entry");
    const Entry& e = s.appended[0];
    if (e.tag != (rejected ? Tag::rejected : Tag::escalated) || e.action != s.action || e.time != s.at)
      return at(i, "another tag, action or time");
    if (s.onCandidate.empty()) {
      if (!rejected || e.invariant != kKernelIntegrity || e.message.empty())
        return at(i, "an unlawful proposal without KERNEL_INTEGRITY");
      continue;
    }
    std::size_t k = 0;
    while (k < s.onCandidate.size() && s.onCandidate[k].passed()) ++k;
    if (k == s.onCandidate.size()) return at(i, "refused though every invariant passes");
    if (e.invariant != module.signature().invariants[k].id || e.message != s.onCandidate[k].message())
      return at(i, "witness " + e.invariant + ", but the first non-pass is " + module.signature().invariants[k].id);
    if (s.onCandidate[k].result() != (rejected ? InvResult::reject : InvResult::escalate))
      return at(i, "the witness says otherwise");
  }
  return {};
}

// (iii+) "For every reduction step that is not an instance of any of [the five rules]: s_{j+1}.audit = s_j.audit."
inline std::string theorem4iii(const DomainModule&, const Steps& steps) {
  for (std::size_t i = 0; i < steps.size(); ++i)
    if (ruleOf(steps[i]) == StepRule::other &&
        (steps[i].auditBefore != steps[i].auditAfter || !steps[i].appended.empty()))
      return at(i, "an entry came from nowhere");
  return {};
}

// (iv) "For every reduction step in the execution, s_j.audit is a prefix of s_{j+1}.audit."
inline std::string theorem4iv(const DomainModule&, const Steps& steps) {
  std::vector<std::string> last;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const auto& before = steps[i].auditBefore;
    const auto& after = steps[i].auditAfter;
    if (before != last) return at(i, "the audit changed between steps");
    if (after.size() < before.size() || !std::equal(before.begin(), before.end(), after.begin()))
      return at(i, "an entry was changed or lost");
    last = after;
  }
  return {};
}

// (v+) "For every reduction step that is an instance of any of the five rules: |s_{j+1}.audit| = |s_j.audit| + 1."
inline std::string theorem4v(const DomainModule&, const Steps& steps) {
  for (std::size_t i = 0; i < steps.size(); ++i)
    if (ruleOf(steps[i]) != StepRule::other && steps[i].auditAfter.size() != steps[i].auditBefore.size() + 1)
      return at(i, "a decision without exactly one entry");
  return {};
}

// The pending proposal's id when step i was taken: the entity's last escalation, if nothing resolved it.
inline std::uint64_t pendingAt(const Steps& steps, std::size_t i) {
  std::uint64_t pending = 0;
  for (std::size_t j = 0; j < i; ++j)
    for (const Entry& e : steps[j].appended)
      if (e.entity == steps[i].entity && e.tag != Tag::approved && e.tag != Tag::rejected)
        pending = e.tag == Tag::escalated ? e.seq : 0;
  return pending;
}

// (vi) "the sole entry appended is a CommitEntry with tag cCommitted, counselor c, committed state s_c,
// escalation-reference p.id, and detection vector [(id(i_k), i_k(s_c))]; and authorized(c) = true."
inline std::string theorem4vi(const DomainModule& module, const Steps& steps) {
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const Step& s = steps[i];
    if (ruleOf(s) != StepRule::counselorCommit) continue;
    if (s.appended.size() != 1 || s.appended[0].tag != Tag::cCommitted) return at(i, "not one commit entry");
    const Entry& e = s.appended[0];
    if (e.counselor != s.counselor || !module.authorised(e.counselor)) return at(i, "not by an authorised counselor");
    if (e.escalation == 0 || e.escalation != pendingAt(steps, i)) return at(i, "refers to what was not pending");
    // s_c: the write set makes the state after out of the state before.
    auto rebuilt = module.readState(objectOf(s.stateBefore));
    if (!rebuilt.ok() || !module.applyWrites(**rebuilt, objectOf(e.writes)).ok())
      return at(i, "its writes can't be applied");
    (*rebuilt)->shared.clock = e.time;
    if (stateJson(module, rebuilt->get()) != s.stateAfter) return at(i, "its writes make another state");
    if (e.verdicts.size() != s.onStateAfter.size() + 1) return at(i, "no whole detection vector");
    std::size_t next = 0;
    for (std::size_t k = 0; k < s.onStateAfter.size(); ++k) {
      const Verdict& verdict = s.onStateAfter[k];
      if (e.verdicts[k + 1] != static_cast<std::uint8_t>(verdict.result())) return at(i, "a wrong verdict");
      if (verdict.passed()) continue;
      if (next >= e.findings.size()) return at(i, "a finding is missing");
      const auto& f = e.findings[next++];
      if (f.invariant != module.signature().invariants[k].id ||
          f.result != static_cast<std::uint16_t>(verdict.result()) || f.message != verdict.message())
        return at(i, "a wrong finding");
    }
    if (next != e.findings.size()) return at(i, "a finding too many");
    if (s.decision.safe != e.findings.empty()) return at(i, "safe is told wrongly");
  }
  return {};
}

// (vii) "the sole entry appended is a RejectEntry with tag cRejected, counselor c, reason m, and escalation-reference
// p.id; and authorized(c) = true." (The system counselor of an expiry is authorised by the kernel, F17.)
inline std::string theorem4vii(const DomainModule& module, const Steps& steps) {
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const Step& s = steps[i];
    if (ruleOf(s) != StepRule::counselorReject) continue;
    if (s.appended.size() != 1 || s.appended[0].tag != Tag::cRejected) return at(i, "not one reject entry");
    const Entry& e = s.appended[0];
    const bool system = s.kind == Step::Kind::expire && e.counselor == "system";
    if (!system && (e.counselor != s.counselor || !module.authorised(e.counselor) || e.reason != s.reason))
      return at(i, "another counselor or reason");
    if (system && e.reason.empty()) return at(i, "an expiry without a reason");
    if (e.escalation == 0 || e.escalation != pendingAt(steps, i)) return at(i, "refers to what was not pending");
    if (!e.writes.empty()) return at(i, "a rejection that writes");
  }
  return {};
}

// (viii) "the entry's escalation-reference field is the Id of a unique earlier audit entry of tag escalated, and no
// other counselor entry in the entire execution shares that escalation-reference value." A function of the ledger
// alone.
inline std::string theorem4viii(const DomainModule&, const Steps& steps) {
  std::map<std::uint64_t, std::string> open;  // escalated entries and their entity
  std::set<std::uint64_t> ids;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    for (const Entry& e : steps[i].appended) {
      if (!ids.insert(e.seq).second) return at(i, "an id twice");
      if (e.tag == Tag::escalated) open.emplace(e.seq, e.entity);
      const bool counselor = e.tag == Tag::cCommitted || e.tag == Tag::cRejected;
      if (counselor != (e.escalation != 0)) return at(i, "a reference where none belongs, or none where one does");
      if (!counselor) continue;
      const auto found = open.find(e.escalation);
      if (found == open.end()) return at(i, "resolves no earlier open escalation");
      if (found->second != e.entity) return at(i, "resolves another entity's escalation");
      open.erase(found);
    }
  }
  return {};
}

// "every reachable configuration s_j satisfies |s_j.queue| <= 1" (Lemma A.65); and while it is not empty "the four base
// architecture rules do not fire" (A.3.1).
inline std::string lemmaA65(const DomainModule& module, const Steps& steps) {
  const bool byKey = module.signature().freezesByKey();  // F22: what the pending proposal does not touch goes on
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const Step& s = steps[i];
    if (s.queueAfter > 1 || s.frozenAfter != (s.queueAfter == 1))
      return at(i, "a queue of " + std::to_string(s.queueAfter));
    const StepRule rule = ruleOf(s);
    const bool goesOn = !byKey && (rule == StepRule::approve || rule == StepRule::reject);
    if (s.frozenBefore && (goesOn || rule == StepRule::escalate)) return at(i, "a frozen entity moved");
    if ((rule == StepRule::counselorCommit || rule == StepRule::counselorReject) && (!s.frozenBefore || s.frozenAfter))
      return at(i, "a counselor without a pending proposal");
  }
  return {};
}

struct NamedCheck {
  const char* name;
  std::string (*run)(const DomainModule&, const Steps&);
};
inline const std::vector<NamedCheck>& everyCheck() {
  static const std::vector<NamedCheck> all{{"theorem 1", theorem1},          {"lemma A.47", lemmaA47},
                                           {"theorem 4 (i)", theorem4i},     {"theorem 4 (ii)", theorem4ii},
                                           {"theorem 4 (iii)", theorem4iii}, {"theorem 4 (iv)", theorem4iv},
                                           {"theorem 4 (v)", theorem4v},     {"theorem 4 (vi)", theorem4vi},
                                           {"theorem 4 (vii)", theorem4vii}, {"theorem 4 (viii)", theorem4viii},
                                           {"lemma A.65", lemmaA65}};
  return all;
}

}  // namespace witan::kernel::redux

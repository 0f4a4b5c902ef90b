#include "kernel/preview.h"

namespace witan::kernel {

namespace {

constexpr int kDays = 400;

// What fails of the candidate at that time, by invariant; nothing: it cannot be made then.
std::optional<std::vector<Finding>> failing(const DomainModule& module, const EntityState& state, const Action& action,
                                            Time at) {
  const EntityPtr copy = module.clone(state);
  Evaluation found;
  if (!module.counselorCommit(*copy, CommitBase::candidate, &action, {}, {}, at, found).ok()) return std::nullopt;
  return std::move(found.findings);
}

bool fails(const std::vector<Finding>& findings, std::size_t invariant) {
  for (const Finding& one : findings)
    if (one.invariant == invariant) return true;
  return false;
}

// Fills in when those that fail would pass: at the beginning of a day if they do then, else at the hour of `at`.
void findTimes(const DomainModule& module, const EntityState& state, const Action& action, Time at, Preview& preview) {
  std::size_t open = 0;
  for (const PreviewedInvariant& one : preview.invariants) open += one.verdict != InvResult::pass ? 1 : 0;
  for (int day = 1; day <= kDays && open > 0; ++day) {
    const std::int64_t morning = (dateOf(at).days + std::int64_t{day}) * kMicrosPerDay;
    for (const Time then : {Time{morning}, Time{at.micros + day * kMicrosPerDay}}) {
      if (!isCalendarTime(then)) return;
      const auto findings = failing(module, state, action, then);
      if (!findings) continue;
      for (std::size_t i = 1; i < preview.invariants.size(); ++i) {
        PreviewedInvariant& one = preview.invariants[i];
        if (one.verdict == InvResult::pass || one.passesAt || fails(*findings, i)) continue;
        one.passesAt = then;
        --open;
      }
    }
  }
}

}  // namespace

Preview previewOf(const DomainModule& module, const EntityState& state, bool frozen, std::string_view role,
                  const Action& action, Time at) {
  const EntityPtr copy = module.clone(state);
  Evaluation found;
  module.evaluate(*copy, role, action, at, found);
  Preview preview;
  preview.outcome = found.tag == Evaluation::Tag::approved   ? Outcome::approved
                    : found.tag == Evaluation::Tag::rejected ? Outcome::rejected
                                                             : Outcome::escalated;
  if (frozen) preview.outcome = Outcome::frozen;
  const bool lawful = found.tag == Evaluation::Tag::approved || found.witness != 0;
  const auto findings = lawful ? failing(module, state, action, at) : std::nullopt;
  if (!findings) {
    preview.invariants.push_back({std::string(kKernelIntegrity), InvResult::reject, found.message, std::nullopt});
    return preview;
  }
  preview.invariants.push_back({std::string(kKernelIntegrity), InvResult::pass, std::nullopt, std::nullopt});
  for (const InvariantInfo& invariant : module.signature().invariants)
    preview.invariants.push_back({invariant.id, InvResult::pass, std::nullopt, std::nullopt});
  for (const Finding& one : *findings) {
    preview.invariants[one.invariant].verdict = one.result;
    preview.invariants[one.invariant].message = one.message;
  }
  findTimes(module, state, action, at, preview);
  return preview;
}

}  // namespace witan::kernel

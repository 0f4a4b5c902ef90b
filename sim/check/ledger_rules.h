// LedgerRules: the theorems of seed 000 (A.2, A.3) that a ledger alone can show, and the fences between its epochs.
//
// Every decision is made again on the state before it, with every invariant evaluated, and the state is folded a second
// time from what the entries say was written; the whole invariant list is walked on it after each commit. So a ledger
// passes only if what was recorded, what the rules say, and what everybody else sees of it are one thing:
//   theorem 4: numbers without gaps, one entry a decision, one decision an operation id, the witness the first that
//   fails, resolutions that resolve what is pending, by who may (i, ii, v to viii; that it only grows is checkFences);
//   theorems 1 and 1+: after every approval, and every commit that is safe, all invariants hold;
//   lemma A.47: nothing but commits changes a state (its digest); lemma A.65: at most one proposal waits;
//   finding F17: a counselor decides before the time of what is pending is over, and it expires then;
//   finding F3: a run acts by one plan, that of the first entry which names it;
//   docs/ledger-format.md, section 6: canonical bytes, beginnings, times, digests.
// kernel/ledger/ledger_verify.h holds a store's rows and checkpoints against the same rules.
//
// Pure; the module outlives it. Not thread-safe.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "kernel/decision_check.h"
#include "kernel/domain_module.h"
#include "sim/check/operation.h"

namespace witan::sim {

class LedgerRules {
 public:
  // `pendingTtlMicros`: how long a proposal waits for a counselor; 0: for ever; -1: not known.
  explicit LedgerRules(const kernel::DomainModule& module, std::int64_t pendingTtlMicros = -1);
  ~LedgerRules();

  // The next line; "" or what is wrong with it. Nothing may be added after that. O(state of its entity).
  std::string add(const LedgerLine& line);
  std::uint64_t entries() const { return entries_; }
  // What the entities have come to, by the domain's own words (sim/check/domain_rules.h); "" or what is wrong.
  std::string states() const;

 private:
  struct Entity;

  std::string check(const kernel::Entry& entry, Entity& entity);
  std::string plan(const kernel::Entry& entry);
  std::string begin(const kernel::Entry& entry, Entity& entity);
  std::string resolution(const kernel::Entry& entry, Entity& entity) const;
  std::string members(const kernel::Entry& entry) const;
  std::string fold(const kernel::Entry& entry, Entity& entity) const;
  std::string invariants(const kernel::Entry& entry, Entity& entity) const;

  const kernel::DomainModule& module_;
  const std::int64_t pendingTtlMicros_;
  kernel::Replay replay_;
  std::uint64_t entries_ = 0;
  std::map<std::string, bool, std::less<>> operations_;  // whether the last of that id was turned away for its plan
  std::map<std::vector<std::uint8_t>, std::vector<std::uint8_t>> plans_;  // by run
  std::map<std::string, std::unique_ptr<Entity>, std::less<>> entities_;
  WordWriter words_;
};

// The whole of a ledger: "" or the first line that breaks a rule, or an entity whose state does.
std::string checkLedger(const kernel::DomainModule& module, std::span<const LedgerLine> lines,
                        std::int64_t pendingTtlMicros = -1);

// A log as one device holds it in the end.
struct DeviceLog {
  std::string device;
  const PartitionLog* log = nullptr;
};

// The fences of one partition: in each log epochs rise in number and never go back in position; an epoch begins at one
// place, and no number has two owners, but for an epoch that was declared lost; of any two logs one begins with the
// other, decisions and epochs. "" or the first difference.
std::string checkFences(std::span<const DeviceLog> logs, std::span<const LostRange> lost = {});

}  // namespace witan::sim

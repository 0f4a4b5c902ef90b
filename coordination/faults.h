// Faults: the deliberately broken kernels, so that each auditor can be seen to fire (finding F20). Run asks at the
// points where a kernel could go wrong; without an injection every answer leaves the epoch as it is.
#pragma once

#include <map>

#include "coordination/admissibility.h"
#include "coordination/epoch_record.h"

namespace witan::kernel::joint {

class Faults {
 public:
  // `run` is how many runs this process has made before: what a kernel that remembers would know.
  Faults(const Setup& setup, const AuthorityTable& authorities, std::uint32_t run)
      : setup_(&setup), authorities_(&authorities), injection_(setup.injection), run_(run) {}

  void afterFirstPass(EpochRecord& record, const std::vector<bool>& active) const;
  void afterSecondPass(EpochRecord& record);
  void beforeObserving(EpochRecord& record) const;

  bool keepsScopeViolations() const { return injection_ == Injection::keep_scope_violation; }
  bool ignoresLivelock() const { return injection_ == Injection::infinite_retry; }
  std::uint32_t maxEpochs() const {
    return setup_->maxEpochs + (injection_ == Injection::nonterminating_condition ? 1 : 0);
  }

 private:
  void breakTies(EpochRecord& record, bool lastFirst) const;
  void favourOne(EpochRecord& record) const;
  void inherit(EpochRecord& record, const std::vector<bool>& active) const;
  void relax(EpochRecord& record);

  const Setup* setup_;
  const AuthorityTable* authorities_;
  Injection injection_;
  std::uint32_t run_;
  std::map<std::pair<AgentIndex, const Request*>, std::uint32_t> refusals_;
};

}  // namespace witan::kernel::joint

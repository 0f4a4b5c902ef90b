// Four ways to run a domain, on the same proposals: what each commits, denies, breaks and asks (witan compare).
//
// A round is what several roles propose after they have looked at the same state. A proposal is *lawful* on a state if
// it breaks no invariant that holds there. The module outlives an architecture; one strand.
#pragma once

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/seams.h"
#include "kernel/domain_module.h"

namespace witan::compare {

struct Act {
  std::string role;
  const kernel::Action* action = nullptr;
  Time at;
};

// What a person writes who is asked about an act and sees this state.
using Person = std::function<json::object(const kernel::EntityState& seen, const Act&)>;

struct Tally {
  std::uint64_t committed = 0, denied = 0;
  std::uint64_t wrongDenials = 0;  // denied, although lawful on the architecture's own state
  std::uint64_t violations = 0;    // invariants that were broken, each time anew
  std::uint64_t compensations = 0;
  std::uint64_t escalations = 0;  // questions to people
  std::vector<double> latencyMs;  // from the proposal to its answer
};

// How long what is not computed here takes.
struct Latencies {
  double hopMs = 1;      // a message between two services
  double judgeMs = 800;  // a judge's answer
};

class Architecture {
 public:
  virtual ~Architecture() = default;
  virtual void round(const std::vector<Act>& acts) = 0;
  virtual const kernel::EntityState& state() const = 0;
  const Tally& tally() const { return tally_; }

 protected:
  Architecture(const kernel::DomainModule& module, Latencies latencies, Person person)
      : module_(module), latencies_(latencies), person_(std::move(person)) {}
  // Counts the invariants that do not hold now and did before.
  void noteBroken();
  bool wouldBeLawful(const Act& act) const;

  const kernel::DomainModule& module_;
  const Latencies latencies_;
  const Person person_;
  Tally tally_;
  std::set<std::size_t> broken_;
};

// Each role checks what it sees and writes; nobody sees all.
std::unique_ptr<Architecture> naiveServices(const kernel::DomainModule&, kernel::EntityPtr, Latencies, Person);
// One judge sees all and decides one proposal after the other. With this probability it decides the wrong way round:
// it denies what is lawful, or commits what is not.
std::unique_ptr<Architecture> judge(const kernel::DomainModule&, kernel::EntityPtr, Latencies, Person, double errorRate,
                                    std::uint64_t seed);
// As naive services, but after a round the whole is checked, and the newest commits are undone until it holds.
std::unique_ptr<Architecture> sagas(const kernel::DomainModule&, kernel::EntityPtr, Latencies, Person);
// The meta-agent: every proposal against all invariants, one at a time.
std::unique_ptr<Architecture> adjudication(const kernel::DomainModule&, kernel::EntityPtr, Latencies, Person);

}  // namespace witan::compare

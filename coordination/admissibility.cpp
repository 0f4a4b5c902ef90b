#include "coordination/admissibility.h"

#include <algorithm>

namespace witan::kernel::joint {

namespace {
std::size_t slot(Key key, ActionType operation) { return std::size_t{key} * 2 + static_cast<std::size_t>(operation); }
}  // namespace

AuthorityTable::AuthorityTable(const Setup& setup) : setup_(&setup), denied_(setup.keys.size() * 2) {
  for (const Authority& authority : setup.authorities)
    if (authority.commitment == Commitment::DENY)
      for (const Atom& atom : authority.scope) denied_[slot(atom.key, atom.operation)] = true;
}

bool AuthorityTable::holdsAllCited(AgentIndex agent, const Request& request) const {
  return std::ranges::all_of(request.cited, [&](std::uint32_t cited) {
    return cited != kUnknown && setup_->authorities[cited].holder == agent;
  });
}

bool AuthorityTable::covers(std::uint32_t authority, Atom atom) const {
  const Authority& a = setup_->authorities[authority];
  return a.commitment == Commitment::ALLOW && std::ranges::binary_search(a.scope, atom);
}

bool AuthorityTable::covered(const Request& request, std::span<const std::uint32_t> authorities) const {
  return std::ranges::all_of(request.scope, [&](Key key) {
    return std::ranges::any_of(authorities, [&](std::uint32_t authority) {
      return authority != kUnknown && covers(authority, {key, request.type});
    });
  });
}

bool AuthorityTable::vetoed(const Request& request) const {
  return std::ranges::any_of(request.scope, [&](Key key) { return denied_[slot(key, request.type)]; });
}

FirstPass AuthorityTable::firstPass(AgentIndex agent, const Request& request) const {
  if (!holdsAllCited(agent, request)) return FirstPass::fault;
  return covered(request, request.cited) && !vetoed(request) ? FirstPass::pass : FirstPass::fail;
}

void Interference::add(const Request& request) {
  for (Key key : request.scope) {
    Touched& touched = touched_[key];
    if (touched.epoch != epoch_) touched = {epoch_, 0, 0};
    ++(request.type == ActionType::WRITE ? touched.writers : touched.readers);
  }
}

bool Interference::refuses(const Request& request) const {
  return std::ranges::any_of(request.scope, [&](Key key) {
    const Touched& touched = touched_[key];
    return touched.writers > 0 && touched.writers + touched.readers > 1;
  });
}

bool violatesScope(const Request& request, std::span<const Value> before) {
  return std::ranges::any_of(request.delta, [&](const auto& change) {
    return before[change.first] != change.second && !std::ranges::binary_search(request.scope, change.first);
  });
}

}  // namespace witan::kernel::joint

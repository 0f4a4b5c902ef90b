// Clients: people and agents at the devices of a cluster: what they commit and ask, entered into the history.
#pragma once

#include <string>
#include <vector>

#include "replication/space.h"
#include "sim/cluster/cluster.h"

namespace witan::sim {

class Clients {
 public:
  explicit Clients(Cluster& cluster);

  // A commit that is refused changes nothing.
  void write(Seat& at, replication::DatabaseName database, std::string scope, std::vector<replication::Write> writes);
  // `plain`: a proposal as agents make them, with nothing in it to be refused.
  void submit(Seat& at, node::Request request, bool plain);
  // The last requests of a device, oldest first.
  const std::vector<node::Request>& recent(const Seat& at) { return recent_[at]; }

  std::string entityName(const kernel::DomainModule& module, std::uint64_t n) const;
  const kernel::DomainModule* moduleOf(std::string_view domain) const;  // null: none
  // Those that people propose to; the steps of graphs are their runtimes'.
  const std::vector<const kernel::DomainModule*>& domains() const { return domains_; }
  // One of them. Null: there is none.
  const kernel::DomainModule* domainOf(std::uint64_t n) const {
    return domains_.empty() ? nullptr : domains_[n % domains_.size()];
  }
  // Any ledger replica that runs and has the entity, the given device first; for plausible actions only.
  const kernel::Partition* someCopy(const Seat& at, const kernel::DomainModule& module, std::string_view entity);

 private:
  Cluster& c_;
  std::vector<const kernel::DomainModule*> domains_;
  PerDevice<std::vector<node::Request>> recent_;
};

}  // namespace witan::sim

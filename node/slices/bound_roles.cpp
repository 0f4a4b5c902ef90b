#include "node/slices/bound_roles.h"

#include <algorithm>

#include "kernel/proposal_message.h"

namespace witan::node {

std::vector<std::string> keysOf(const RosterDevice& device, std::string_view domain, std::string_view role) {
  const std::string bound = concat(domain, ".", role, ":");
  std::vector<std::string> keys;
  for (const std::string& one : device.roles)
    if (one.starts_with(bound) && !one.ends_with(kReads)) keys.push_back(one.substr(bound.size()));
  return keys;
}

bool isBound(const RosterDevice& device) {
  return !device.keepsLedgers() && std::ranges::any_of(device.roles, [](const std::string& role) {
    return role.find(':') != std::string::npos && !role.ends_with(kReads);
  });
}

Result<const kernel::BoundSlices*> slicesOf(const kernel::DomainModule& module) {
  if (const kernel::BoundSlices* slices = kernel::boundSlicesOf(module)) return slices;
  return invalid("key: the domain " + module.signature().domain + " does not say to whom its rows belong");
}

bool staysWithin(const PartitionHost& host, const Request& request, std::span<const std::string> keys, Time now) {
  const kernel::BoundSlices* slices = kernel::boundSlicesOf(host.module());
  const kernel::EntityState* state = host.partition().state(request.entity);
  kernel::ProposalMessage message;
  message.actionType = request.actionType;
  message.action = request.action;
  const auto action = kernel::actionOf(host.module(), message);
  if (state == nullptr || !action.ok()) return true;  // refused for that
  const Time at = std::max(now, host.partition().latest());
  return slices != nullptr && std::ranges::any_of(keys, [&](const std::string& key) {
           return slices->staysWithin(*state, **action, at, key);
         });
}

bool frozenFor(const PartitionHost& host, std::string_view entity, std::string_view key) {
  const kernel::Partition& partition = host.partition();
  const auto pending = partition.pending(entity);
  if (!pending || !host.module().signature().freezesByKey()) return pending.has_value();
  const kernel::BoundSlices* slices = kernel::boundSlicesOf(host.module());
  const auto action = host.module().parseAction(parseJson(pending->action, kOwnJson).value());
  return slices != nullptr && action.ok() &&
         slices->staysWithin(*partition.state(entity), **action, partition.latest(), key);
}

}  // namespace witan::node

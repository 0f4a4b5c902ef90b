// Roles of devices that are bound to a key: "disclosure.PatchTracking:acme" is confined to the rows that belong to acme
// (kernel/bound_slices.h). Their slices stand under the role with its key, "PatchTracking:acme". The word "read" is no
// key: it makes a role that only sees.
//
// Pure functions; main thread, as what they read.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernel/bound_slices.h"
#include "node/cluster/roster.h"
#include "replica/core/messages.h"
#include "replica/core/partition_host.h"

namespace witan::node {

// The keys to which a device is bound in a role.
std::vector<std::string> keysOf(const RosterDevice& device, std::string_view domain, std::string_view role);
// Whether a role confines the device to rows of a key, so that no sentence may name others to it.
bool isBound(const RosterDevice& device);
// Errors: invalidInput; the domain does not say to whom its rows belong.
Result<const kernel::BoundSlices*> slicesOf(const kernel::DomainModule& module);
// An empty request asks for words alone: may the device be told why a request of its was decided so?
inline bool asksForWords(const Request& request) { return request.domain.empty(); }
// Whether the proposal stays within the rows of one of these keys, as this copy has them.
bool staysWithin(const PartitionHost& host, const Request& request, std::span<const std::string> keys, Time now);
// Whether what is pending of an entity is about rows of the key.
bool frozenFor(const PartitionHost& host, std::string_view entity, std::string_view key);

}  // namespace witan::node

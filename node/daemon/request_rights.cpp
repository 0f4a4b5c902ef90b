#include "node/daemon/request_rights.h"

#include <algorithm>

#include "base/string_util.h"
#include "node/slices/bound_roles.h"
#include "replica/graph_runtime.h"

namespace witan::node {

namespace {

Status no(const std::string& what) {
  return Error{ErrorCode::unauthorised, "this device may not " + what, "its roles: witan device roster"};
}

bool hasAnyRole(const RosterDevice& device) { return std::ranges::find(device.roles, kAnyRole) != device.roles.end(); }

}  // namespace

Status RequestRights::allowed(const RosterDevice& device, const Request& request) const {
  switch (request.kind) {
    case RequestKind::propose:
      if (request.domain == kGraphDomain && request.role == "Runtime")
        return no("write the steps of a graph's runtime");
      if (device.mayAct(request.domain, request.role)) return okStatus();
      if (const auto keys = keysOf(device, request.domain, request.role); !keys.empty())
        return within_(request, keys) ? okStatus()
                                      : no("propose that: it names or writes rows that do not belong to " +
                                           joined(keys, "", " or ") + ", or cannot be made");
      // A role that the domain does not have is for the meta-agent to reject, on record.
      return no("propose as " + request.domain + "." + request.role);
    case RequestKind::ingress:
      return device.mayAct(request.domain, kIngressRole) || device.mayAct(request.domain, "Operator")
                 ? okStatus()
                 : no("send messages to graphs: that needs the role graph.ingress");
    case RequestKind::init:
      return device.mayAct(request.domain, kBeginRole)
                 ? okStatus()
                 : no(concat("begin entities of ", request.domain, ": that needs the role ", request.domain, ".",
                             kBeginRole));
    case RequestKind::commit:
    case RequestKind::reject:
      return device.mayAct(request.domain, kCounselorRole) ? okStatus()
                                                           : no("bring a counselor's decisions of " + request.domain);
  }
  return no("ask that");
}

Status RequestRights::mayAsk(std::string_view device, const Request& request, std::int64_t nowMs) {
  const RosterDevice* known = rosters_.current().member(device);
  if (known != nullptr && asksForWords(request)) return isBound(*known) ? no("know rows of others") : okStatus();
  Status may = known == nullptr ? no("ask for anything") : allowed(*known, request);
  if (device == self_ || known == nullptr) return may;
  Limits& limits = limits_.try_emplace(std::string(device)).first->second;
  if (may.ok() && request.kind == RequestKind::init && !hasAnyRole(*known) && !limits.begun.take(nowMs))
    may = Error{ErrorCode::unavailable, "this device has begun as many entities as it may for now", "try again later"};
  if (!may.ok()) refused(device, nowMs);
  return may;
}

void RequestRights::refused(std::string_view device, std::int64_t nowMs) {
  if (!limits_.try_emplace(std::string(device)).first->second.refused.take(nowMs)) abuse_(std::string(device));
}

}  // namespace witan::node

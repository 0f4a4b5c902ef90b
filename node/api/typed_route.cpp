#include "node/api/typed_route.h"

#include "base/json_codec.h"
#include "base/quote.h"
#include "base/string_util.h"
#include "node/cluster/roster.h"
#include "replica/core/placement.h"

namespace witan::node {

int statusOf(ErrorCode code) {
  switch (code) {
    case ErrorCode::invalidInput: return 400;
    case ErrorCode::notFound: return 404;
    case ErrorCode::conflict: return 409;
    case ErrorCode::unauthorised: return 403;
    case ErrorCode::corrupt:
    case ErrorCode::ioFailed: return 500;
    case ErrorCode::unavailable: return 503;
  }
  return 500;
}

net::HttpResponse jsonResponse(std::string text, int status) {
  net::HttpResponse response;
  response.status = status;
  response.body = std::move(text) + "\n";
  return response;
}

net::HttpResponse errorResponse(const Error& error, int status) {
  const json::object body{
      {"error", {{"code", toString(error.code)}, {"message", error.message}, {"hint", error.hint}}}};
  net::HttpResponse response = jsonResponse(canonicalJson(body), status);
  if (status == 401) response.headers["www-authenticate"] = "Bearer";
  return response;
}

void Responder::refuse(const Error& error) const {
  DeviceNames names;
  for (const RosterDevice& device : daemon.roster().current().devices) names.add(device.device, device.name);
  send(errorResponse({error.code, names.in(error.message), names.in(error.hint)}, statusOf(error.code)));
}

Result<const kernel::DomainModule*> moduleNamed(Daemon& daemon, const std::string& domain) {
  if (const kernel::DomainModule* known = daemon.replica().moduleOf(domain); known != nullptr) return known;
  return Error{ErrorCode::notFound, "there is no domain " + inQuotes(domain), "see: witan domain list"};
}

Status needsCopy(Daemon& daemon, const std::string& partition) {
  if (daemon.replica().host(partition) != nullptr) return okStatus();
  std::vector<std::string> names;
  for (const std::string& device : daemon.replica().placement().keepers(partition))
    if (const RosterDevice* keeper = daemon.roster().current().find(device)) names.push_back(keeper->name);
  return Error{ErrorCode::unavailable, "this device keeps no copy of partition " + partition,
               names.empty() ? "see: witan partition list" : "ask one that does: " + joined(names)};
}

Status needsLedgers(Daemon& daemon) {
  if (!daemon.replica().hosts().empty()) return okStatus();
  return Error{ErrorCode::unavailable, "this device keeps no ledgers", "ask one that does: witan device roster"};
}

}  // namespace witan::node

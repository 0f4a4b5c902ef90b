#include "node/api/mcp_api.h"

#include "base/json_codec.h"
#include "kernel/domain_description.h"
#include "node/api/control_routes.h"

namespace witan::node {

namespace {

constexpr std::int64_t kBurst = 200, kPerSecond = 500;  // calls of one authority

}  // namespace

McpApi::Seat::Seat(mcp::Catalogue made, ControlRole held, const Perform& work)
    : catalogue(std::move(made)),
      offer(catalogue.offer()),
      role(held),
      perform(work),
      calls(kBurst, kPerSecond),
      door(offer, calls, random,
           [this](const mcp::Call& call, McpDoor::Progress progress) { carryOut(call, std::move(progress)); }) {}

void McpApi::Seat::carryOut(const mcp::Call& call, McpDoor::Progress progress) const {
  const mcp::Tool& tool = *catalogue.find(call.name());
  const json::object* arguments = mcp::objectIn(call.params, "arguments");
  const auto request = mcp::requestOf(tool, arguments == nullptr ? json::object() : *arguments);
  if (!request.ok()) return progress.done(mcp::failedTool(request.error().message));
  perform(role, *request, [&tool, done = std::move(progress.done)](const Result<json::value>& answer) {
    done(mcp::outcomeOf(tool, answer));
  });
}

Result<McpApi::Seat*> McpApi::seatOf(ControlRole role, const std::string& participant) {
  std::unique_ptr<Seat>& seat = seats_[wordOf(role) + std::string(" ") + participant];
  if (seat) return seat.get();
  mcp::Authority authority{wordOf(role), {}, {}};
  if (!participant.empty()) WITAN_DO(mcp::narrow(authority, participant));
  std::vector<json::value> domains;
  for (const kernel::DomainModule* module : daemon_.replica().domains()) {
    WITAN_TRY(domain, parseJson(toJson(kernel::describeDomain(*module)), kOwnJson));
    domains.push_back(std::move(domain));
  }
  WITAN_TRY(catalogue, mcp::Catalogue::make(openApi(), domains, authority));
  seat = std::make_unique<Seat>(std::move(catalogue), role, perform_);
  return seat.get();
}

Status McpApi::serve(const net::HttpRequest& request, std::shared_ptr<net::HttpReply> reply, ControlRole role,
                     const std::string& participant) {
  WITAN_TRY(seat, seatOf(role, participant));
  seat->door.serve(request, std::move(reply));
  return okStatus();
}

}  // namespace witan::node

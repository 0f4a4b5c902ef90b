#include "node/api/mcp_api.h"

#include "base/json_codec.h"
#include "kernel/domain_description.h"
#include "mcp/act.h"
#include "mcp/resource_uri.h"
#include "mcp/watch.h"
#include "node/api/control_routes.h"
#include "node/api/mcp_door.h"

namespace witan::node {

namespace {

constexpr std::int64_t kBurst = 200, kPerSecond = 500;  // calls of one authority
constexpr std::int64_t kLookMs = 500, kPollMs = 1'000;
constexpr std::size_t kMostTouched = 10'000;  // beyond that all are read again

}  // namespace

// What the holders of one authority share.
struct McpApi::Seat {
  Seat(mcp::Catalogue made, ControlRole held, StreamPlaces& streams, const Perform& work)
      : catalogue(std::move(made)),
        offer(catalogue.offer()),
        role(held),
        perform(work),
        seals(random),
        calls(kBurst, kPerSecond),
        door(
            offer, calls, random, [this, &streams] { return streams.take(role); },
            [this](const mcp::Call& call, const McpDoor::Progress& progress) {
              const auto act = std::make_shared<mcp::Act>(catalogue, seals, call);
              go(act, act->begin(net::Loop::nowMs()), progress.done);
            }) {}

  void go(const std::shared_ptr<mcp::Act>& act, mcp::Step step, const std::function<void(mcp::Outcome)>& done) {
    if (auto* outcome = std::get_if<mcp::Outcome>(&step)) return done(std::move(*outcome));
    const auto& request = std::get<mcp::ApiRequest>(step);
    perform(request.counselor ? ControlRole::counselor : role, request,
            [this, seat = std::weak_ptr(alive), act, done](const Result<json::value>& answer) {
              if (!seat.expired()) go(act, act->answered(answer, net::Loop::nowMs()), done);
            });
  }

  // Reads what the entries touched, and what was never read.
  void look(const Touched* touched) {
    const std::set<std::string> uris = door.subscribed();
    seen.keep(uris);
    for (const std::string& uri : uris) {
      const auto parts = mcp::parseResource(uri);
      const bool read = touched == nullptr || !seen.knows(uri) || touched->contains({parts->domain, parts->entity});
      if (!read) continue;
      const auto act = std::make_shared<mcp::Act>(catalogue, seals, mcp::readingOf(uri));
      go(act, act->begin(net::Loop::nowMs()), [this, uri](const mcp::Outcome& outcome) {
        if (seen.changed(uri, outcome)) door.updated(uri);
      });
    }
  }

  const mcp::Catalogue catalogue;
  const mcp::Offer offer;
  const ControlRole role;
  const Perform& perform;
  SystemRandom random;
  mcp::Seals seals;
  mcp::RateLimit calls;
  mcp::Watch seen;
  McpDoor door;
  const std::shared_ptr<bool> alive = std::make_shared<bool>(true);
};

McpApi::McpApi(net::Loop& loop, Daemon& daemon, StreamPlaces& streams, Perform perform)
    : loop_(loop), daemon_(daemon), streams_(streams), perform_(std::move(perform)) {}

McpApi::~McpApi() {
  if (following_ != 0) daemon_.unfollow(following_);
  loop_.cancel(timer_);
}

Result<McpApi::Seat*> McpApi::seatOf(ControlRole role, const std::string& participant) {
  const std::string key = wordOf(role) + std::string(" ") + participant;
  if (const auto known = seats_.find(key); known != seats_.end()) return known->second.get();
  mcp::Authority authority{wordOf(role)};
  if (!participant.empty()) WITAN_DO(mcp::narrow(authority, participant));
  std::vector<json::value> domains;
  for (const kernel::DomainModule* module : daemon_.replica().domains()) {
    WITAN_TRY(domain, parseJson(toJson(kernel::describeDomain(*module)), kOwnJson));
    domains.push_back(std::move(domain));
  }
  WITAN_TRY(catalogue, mcp::Catalogue::make(openApi(), domains, authority));
  return (seats_[key] = std::make_unique<Seat>(std::move(catalogue), role, streams_, perform_)).get();
}

Status McpApi::serve(const net::HttpRequest& request, std::shared_ptr<net::HttpReply> reply, ControlRole role,
                     const std::string& participant) {
  WITAN_TRY(seat, seatOf(role, participant));
  if (seat->door.serve(request, std::move(reply))) {
    seat->look(&touched_);  // at once, so that no later change is missed
    watch();
  }
  return okStatus();
}

void McpApi::watch() {
  if (following_ == 0)
    following_ = daemon_.follow([this](PartitionHost& host, const StoredEntry& entry) {
      if (touched_.size() <= kMostTouched) touched_.emplace(host.module().signature().domain, entry.entry.entity);
    });
  if (timer_ != 0) return;
  timer_ = loop_.after(daemon_.replica().hosts().empty() ? kPollMs : kLookMs, [this] {
    timer_ = 0;
    look();
  });
}

void McpApi::look() {
  const bool all = daemon_.replica().hosts().empty() || touched_.size() > kMostTouched;
  const Touched touched = std::exchange(touched_, {});
  bool any = false;
  for (const auto& [key, seat] : seats_) {
    any = any || !seat->door.subscribed().empty();
    seat->look(all ? nullptr : &touched);
  }
  if (any) return watch();
  daemon_.unfollow(following_);
  following_ = 0;
}

}  // namespace witan::node

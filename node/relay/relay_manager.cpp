#include "node/relay/relay_manager.h"

#include <algorithm>

#include "node/cluster/device_key.h"

namespace witan::node {

namespace {

constexpr std::int64_t kAnswerMs = 10'000;  // from asking a relay to its answer

}  // namespace

RelayManager::RelayManager(net::Loop& loop, net::PeerNetwork& network, const RosterStore& rosters, Log& log,
                           Options options, Hooks hooks)
    : loop_(loop),
      network_(network),
      rosters_(rosters),
      log_(log),
      hooks_(std::move(hooks)),
      table_(options.device, options.carries),
      search_(options.device, options.seed != 0 ? options.seed : SystemRandom().next()) {}

RelayManager::~RelayManager() {
  if (timer_ != 0) loop_.cancel(timer_);
}

// --- links

void RelayManager::linked(const std::string& device) {
  table_.linked(device);
  search_.relayCame(device, net::Loop::nowMs());
  armSearch();
}

void RelayManager::unlinked(const std::string& device, std::string_view why) {
  search_.relayWent(device);
  applying([&](TunnelEffects& effects) { table_.unlinked(device, why, effects); });
  armSearch();
}

void RelayManager::frame(std::string device, std::string_view bytes) {
  Status taken = okStatus();
  applying([&](TunnelEffects& effects) { taken = table_.received(device, bytes, net::Loop::nowMs(), effects); });
  if (taken.ok()) return;
  log_.warn("relay", taken.error().message, {{"from", device}});
  hooks_.breakLink(device, "bad frame: " + taken.error().message);
}

// --- looking for a way

void RelayManager::missing(const std::string& device, std::int64_t delayMs, const std::string& last) {
  search_.want(device, net::Loop::nowMs(), delayMs, last);
  armSearch();
}

void RelayManager::settled(const std::string& device) {
  search_.leave(device);
  refusals_.erase(device);
  std::vector<TunnelId> unanswered;
  for (const auto& [id, ask] : asks_)
    if (ask.device == device && !pipes_.contains(id)) unanswered.push_back(id);
  std::erase_if(asks_, [&](const auto& one) { return one.second.device == device; });  // they fail no later ask
  for (const TunnelId id : unanswered) closeTunnel(id, TunnelWhy::closed, "not needed any more");
  armSearch();
}

// That a relay has no link with the device either says least: it takes no other reason's place.
void RelayManager::refused(const TunnelGone& gone) {
  const auto at = refusals_.find(gone.other);
  if (at != refusals_.end() && gone.why == TunnelWhy::noLink && at->second.why != TunnelWhy::noLink &&
      at->second.relay != gone.relay)
    return;
  const bool news = at == refusals_.end() || at->second.why != gone.why || at->second.reason != gone.reason;
  refusals_.insert_or_assign(gone.other, Refusal{gone.relay, gone.why, gone.reason});
  const std::string why = concat(enumName(gone.why), ": ", gone.reason);
  log_.line(news ? LogLevel::info : LogLevel::debug, "relay", "no way",
            {{"to", gone.other}, {"via", gone.relay}, {"why", why}});
}

std::string RelayManager::noWay(std::string_view device) const {
  const auto at = refusals_.find(device);
  if (at == refusals_.end()) return "";
  const RosterDevice* relay = rosters_.current().find(at->second.relay);
  const std::string through = "no way through " + (relay != nullptr ? relay->name : at->second.relay) + ": ";
  if (at->second.why == TunnelWhy::noLink) return through + "it has no direct link with it";
  if (at->second.why == TunnelWhy::doesNotCarry) return through + "it carries for nobody";
  return through + at->second.reason;
}

// From the loop, never from inside a call: what is asked for has effects of its own.
void RelayManager::armSearch() {
  if (timer_ != 0) loop_.cancel(std::exchange(timer_, 0));
  const auto next = search_.nextMs();
  if (!next) return;
  timer_ = loop_.after(std::max<std::int64_t>(0, *next - net::Loop::nowMs()), [this] {
    timer_ = 0;
    search();
  });
}

void RelayManager::search() {
  while (const auto next = search_.next(net::Loop::nowMs())) ask(*next);
  armSearch();
}

void RelayManager::ask(const RelaySearch::Ask& ask) {
  TunnelEffects effects;
  const TunnelId id = table_.ask(ask.relay, ask.device, effects);
  if (id == 0) return search_.failed(ask, net::Loop::nowMs());
  asks_[id] = ask;
  log_.debug("relay", "asks for a way", {{"to", ask.device}, {"via", ask.relay}});
  apply(std::move(effects));
  loop_.after(kAnswerMs, [this, id, alive = std::weak_ptr<int>(alive_)] {
    if (!alive.expired() && asks_.contains(id) && !pipes_.contains(id))
      closeTunnel(id, TunnelWhy::noAnswer, "no answer");
  });
}

// --- tunnels that end here

void RelayManager::closeTunnel(TunnelId id, TunnelWhy why, std::string_view reason) {
  applying([&](TunnelEffects& effects) { table_.close(id, why, reason, effects); });
}

Status RelayManager::openPipe(TunnelId id, const std::string& relay, const std::string& other, bool dials) {
  const RosterDevice* device = rosters_.current().member(other);
  if (device == nullptr) return Error{ErrorCode::unauthorised, "no member any more", ""};
  net::CarriedLink link;
  link.via = relay;
  if (dials) link.name = "relay/" + other;
  WITAN_SET(link.key, publicKeyFromHex(device->keys.back(), "key"));
  net::PipeEvents events;
  events.came = [this, id](std::string_view bytes) {
    applying([&](TunnelEffects& effects) { table_.send(id, bytes, effects); });
    allow(id);
  };
  events.delivered = [this, id](std::size_t bytes) {
    applying([&](TunnelEffects& effects) { table_.taken(id, bytes, effects); });
  };
  events.ended = [this, id] { closeTunnel(id, TunnelWhy::closed, "its link has ended"); };
  WITAN_SET(pipes_[id], network_.carry(link, std::move(events)));
  return okStatus();
}

void RelayManager::allow(TunnelId id) {
  if (const auto at = pipes_.find(id); at != pipes_.end()) at->second->allow(table_.room(id));
}

// --- effects

void RelayManager::apply(TunnelEffects effects) {
  for (TunnelEffect& effect : effects) std::visit([this](auto& one) { on(one); }, effect);
}

void RelayManager::applying(const std::function<void(TunnelEffects&)>& call) {
  TunnelEffects effects;
  call(effects);
  apply(std::move(effects));
}

void RelayManager::on(TunnelSend& send) { hooks_.send(send.device, std::move(send.frames)); }

void RelayManager::on(TunnelOffered& offered) {
  Status wanted = hooks_.welcome(offered.other);
  if (wanted.ok()) wanted = openPipe(offered.id, offered.relay, offered.other, false);
  if (!wanted.ok()) return closeTunnel(offered.id, TunnelWhy::notWanted, wanted.error().message);
  applying([&](TunnelEffects& effects) { table_.accept(offered.id, effects); });
  allow(offered.id);
}

void RelayManager::on(TunnelStands& stands) {
  if (Status opened = openPipe(stands.id, stands.relay, stands.other, true); !opened.ok())
    return closeTunnel(stands.id, TunnelWhy::closed, opened.error().message);
  allow(stands.id);
}

void RelayManager::on(TunnelArrived& arrived) {
  if (const auto at = pipes_.find(arrived.id); at != pipes_.end()) at->second->deliver(std::move(arrived.bytes));
}

void RelayManager::on(TunnelRoom& room) { allow(room.id); }

void RelayManager::on(TunnelGone& gone) {
  const bool stood = pipes_.contains(gone.id);
  if (stood && gone.why == TunnelWhy::linkEnded) hooks_.cutOff(gone.other, gone.relay, gone.reason);
  pipes_.erase(gone.id);
  const auto ask = asks_.find(gone.id);
  if (ask == asks_.end()) return;
  if (!stood) refused(gone);
  search_.failed(ask->second, net::Loop::nowMs(), gone.why == TunnelWhy::noLink);
  asks_.erase(ask);
  armSearch();
}

std::set<std::string, std::less<>> RelayManager::carriesFor() const { return {carriesFor_.begin(), carriesFor_.end()}; }

void RelayManager::on(TunnelCarried& carried) {
  for (const std::string& end : {carried.from, carried.to})
    if (!carried.ended)
      carriesFor_.insert(end);
    else if (const auto at = carriesFor_.find(end); at != carriesFor_.end())
      carriesFor_.erase(at);
  if (!carried.ended) return log_.info("relay", "carries a link", {{"from", carried.from}, {"to", carried.to}});
  log_.info(
      "relay", "carries a link no more",
      {{"from", carried.from}, {"to", carried.to}, {"bytes", std::to_string(carried.bytes)}, {"why", carried.reason}});
}

}  // namespace witan::node

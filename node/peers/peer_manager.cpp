#include "node/peers/peer_manager.h"

#include <algorithm>

#include "base/bytes.h"
#include "base/quote.h"
#include "base/seams.h"
#include "base/string_util.h"
#include "node/cluster/device_key.h"
#include "replica/core/messages.h"

namespace witan::node {

namespace {

constexpr std::int64_t kGraceMs = 1'000;  // for the next dial, or for the other end's, before a relay is asked
constexpr std::int64_t kMeshMostMs = 600'000;
constexpr std::string_view kSpared = "this link is not needed";
constexpr std::string_view kReplaced = "another link took its place";

net::PeerNetworkOptions networkOptions(const PeerManager::Options& wanted) {
  net::PeerNetworkOptions options;
  options.heartbeatMs = wanted.heartbeatMs;
  options.deadAfterMs = wanted.deadAfterMs;
  options.maxFrameBytes = kMaxAdjudicationFrame;
  // A follower that catches up has so much under way: 32 batches of an owner, and a window of replication.
  options.maxQueuedBytes = 96 * 1024 * 1024;
  return options;
}

bool isClusterFrame(std::string_view frame) {
  const auto type = static_cast<std::uint8_t>(frame[4]);
  return type >= kFirstClusterFrame && type <= kLastClusterFrame;
}

bool isHostOfMember(const Roster& roster, std::string_view host) {
  const auto at = [&](const std::string& address) { return address.substr(0, address.rfind(':')) == host; };
  return std::ranges::any_of(roster.devices, [&](const RosterDevice& device) {
    return device.active() && std::ranges::any_of(device.addresses, at);
  });
}

}  // namespace

PeerManager::PeerManager(net::Loop& loop, const net::TlsIdentity& identity, RosterStore& rosters,
                         EnrolmentService& enrolment, Log& log, Options options, Events events)
    : loop_(loop),
      rosters_(rosters),
      enrolment_(enrolment),
      log_(log),
      options_(std::move(options)),
      events_(std::move(events)),
      admission_(rosters, options_.device),
      probation_(options_.heartbeatMs),
      gossip_(rosters, options_.device),
      mesh_(options_.device, options_.links, SystemRandom().next()),
      network_(loop, identity, networkOptions(options_), networkEvents()),
      relay_(loop, network_, rosters, log, {options_.device, options_.carry}, relayHooks()) {}

PeerManager::~PeerManager() = default;

void PeerManager::later(std::int64_t ms, std::function<void()> call) {
  loop_.after(ms, [call = std::move(call), alive = std::weak_ptr<int>(alive_)] {
    if (!alive.expired()) call();
  });
}

net::PeerEvents PeerManager::networkEvents() {
  net::PeerEvents events;
  events.admit = [this](const net::LinkInfo& info) { return admit(info); };
  events.up = [this](const net::LinkInfo& info) { onUp(info); };
  events.frame = [this](net::LinkId id, std::string_view bytes) { onFrame(id, bytes); };
  events.quiet = [this](net::LinkId id) {
    if (PeerLink* link = links_.find(id)) link->quiet = true;
  };
  events.down = [this](net::LinkId id, std::string_view reason) { onDown(id, reason); };
  events.room = [this](net::LinkId id) {
    if (const PeerLink* link = links_.find(id); link != nullptr && !link->device.empty()) events_.room(link->device);
  };
  events.missed = [this](const std::string& dial) { seekRelay(Dialer::deviceOf(dial)); };
  events.log = [this](std::string_view level, std::string_view what) {
    level == "warning" ? log_.warn("net", what) : log_.debug("net", what);
  };
  return events;
}

RelayManager::Hooks PeerManager::relayHooks() {
  RelayManager::Hooks hooks;
  hooks.send = [this](const std::string& device, std::string frames) { send(device, std::move(frames), false); };
  hooks.breakLink = [this](const std::string& device, std::string_view why) {
    if (const PeerLink* link = links_.of(device)) end(link->info.id, why);
  };
  hooks.welcome = [this](const std::string& device) { return wantsRelayedLink(device); };
  hooks.cutOff = [this](const std::string& device, const std::string& relay, std::string_view why) {
    PeerLink* link = links_.of(device);
    if (link != nullptr && link->info.via == relay) link->tunnelReason = "through " + relay + ": " + std::string(why);
  };
  return hooks;
}

Result<std::string> PeerManager::listen(const std::string& address) { return network_.listen(address); }

void PeerManager::close() { network_.close(); }

// --- links

Status PeerManager::wantsRelayedLink(const std::string& device) const {
  WITAN_DO(admission_.mayLink(device));
  const PeerLink* link = links_.of(device);
  if (link == nullptr || !link->direct()) return okStatus();
  return Error{ErrorCode::unauthorised, "there is a direct link already", ""};
}

Status PeerManager::admit(const net::LinkInfo& info) {
  Status admitted = admission_.admit(info);
  if (admitted.ok()) return admitted;
  ++refused_;
  if (network_.mayLog())
    log_.warn("net", "refused a link",
              {{"from", info.address}, {"device", deviceIdOf(info.key)}, {"why", admitted.error().message}});
  return admitted;
}

void PeerManager::onUp(const net::LinkInfo& info) {
  if (info.purpose == net::kJoinPurpose) {
    links_.add({.device = "", .info = info, .sinceMs = events_.steadyMs()});
    if (pending_.size() < kMaxLargeFrames) network_.trust(info.id);  // a roster may come
    return limitPending(info.id);
  }
  const auto device = admission_.confirm(info.key);
  if (!device.ok()) return network_.close(info.id, device.error().message);
  onMemberUp(info, (*device)->device);
}

void PeerManager::onMemberUp(const net::LinkInfo& info, const std::string& device) {
  const bool direct = info.via.empty();
  if (direct) endQuietProbation(device);
  const PeerLink* old = links_.of(device);
  if (const auto trial = probation_.linkOf(device); trial && direct) {
    old = links_.find(*trial);
    // Another address of the same device: two addresses in turns would end each other's probation for ever.
    if (old->info.dialled == info.dialled) return network_.close(info.id, "another link is on trial");
  }
  if (old != nullptr && !replacesLink(old->info, info, options_.device < device))
    return network_.close(info.id, "there is a link already");
  network_.trust(info.id);
  links_.add({.device = device, .info = info, .sinceMs = events_.steadyMs()});
  direct&& needsProbation(device) ? startProbation(info, device) : choose(info.id);
}

void PeerManager::choose(net::LinkId id) {
  const net::LinkInfo info = links_.find(id)->info;
  const std::string device = links_.find(id)->device;
  const bool direct = info.via.empty();
  if (direct) {
    if (probation_.linkOf(device) == id) probation_.end(device);
    endProbation(device, kReplaced);
  }
  if (const PeerLink* old = links_.of(device)) {
    noticeTakeover(*old, info);
    const auto trial = probation_.end(device);  // a link on probation must not replace the old one meanwhile
    end(old->info.id, kReplaced);
    if (trial) probation_.start(device, *trial);
  }
  links_.choose(id);
  mesh_.linked(device,
               {direct ? info.address.substr(0, info.address.rfind(':')) : "", info.via,
                info.dialled && Dialer::isConfigured(info.name)},
               events_.steadyMs());
  followMeshLater(0);
  relay_.settled(device);
  if (direct) {
    apply(dialer_.linked(device, info.dialled ? info.name : ""));
    relay_.linked(device);
  }
  log_.info("peers", "connected",
            {{"device", rosters_.current().find(device)->name}, {"id", device}, {"address", info.address}});
  sendRoster(id);
  if (stale())
    return log_.warn("peers", kStaleRoster, {{"id", device}, {"hint", "it is not served until a newer one is here"}});
  if (PeerLink* link = links_.find(id)) link->served = true;
  events_.connected(device);
}

void PeerManager::noticeTakeover(const PeerLink& old, const net::LinkInfo& fresh) {
  if (!old.direct() || !fresh.via.empty() || network_.quiet(old.info.id)) return;
  if (!history_.recordTakeover(old.device, old.sinceMs, events_.steadyMs())) return;
  const auto hostOf = [](const std::string& address) { return address.substr(0, address.rfind(':')); };
  const std::string one = hostOf(old.info.address), other = hostOf(fresh.address);
  events_.alarm("cloned", old.device,
                concat("links of ", old.device, " take each other's place again and again (from ", std::min(one, other),
                       " and ", std::max(one, other), "): two machines seem to run with its key"));
}

void PeerManager::end(net::LinkId id, std::string_view reason) {
  onDown(id, reason);
  network_.close(id, reason);
}

void PeerManager::onDown(net::LinkId id, std::string_view reason) {
  pending_.remove(id);
  const auto removed = links_.remove(id);
  if (!removed || removed->device.empty()) return;
  const PeerLink& link = *removed;
  if (link.direct()) recordDirectEnd(link);
  if (probation_.linkOf(link.device) == id) {
    probation_.end(link.device);
    log_.debug("peers", "a link on trial has ended", {{"id", link.device}, {"why", std::string(reason)}});
    if (const RosterDevice* device = rosters_.current().find(link.device)) dial(*device);
    return;
  }
  const std::string why =
      link.tunnelReason.empty() || !reason.starts_with("connection lost") ? std::string(reason) : link.tunnelReason;
  mesh_.unlinked(link.device, events_.steadyMs());
  followMeshLater(0);
  const std::int64_t redialMs = history_.recordEnd(link.device, why, link.sinceMs, events_.steadyMs());
  log_.info("peers", "disconnected", {{"id", link.device}, {"why", why}});
  if (link.direct()) relay_.unlinked(link.device, why);
  if (link.served) events_.disconnected(link.device);
  if (redialMs == 0) return findOtherWay(link);
  relay_.settled(link.device);
  dialLater(link.device, redialMs);
}

void PeerManager::findOtherWay(const PeerLink& ended) {
  // Through another relay, or around a direct path that carries nothing.
  if ((!ended.direct() || ended.quiet) && mesh_.dials(ended.device) && wantsRelayedLink(ended.device).ok())
    relay_.missing(ended.device, 0, ended.info.via);
  if (const auto trial = probation_.linkOf(ended.device)) {
    probation_.lostOther(ended.device, events_.steadyMs());
    if (!probation_.suspects(ended.device)) choose(*trial);  // else it stays on probation: a relay is preferred
    return;
  }
  if (const RosterDevice* device = rosters_.current().find(ended.device)) dial(*device);
}

// --- probation

bool PeerManager::needsProbation(const std::string& device) const {
  if (const PeerLink* link = links_.of(device)) return !link->direct();
  return probation_.suspects(device) && links_.mayBeRelayed(device);
}

void PeerManager::startProbation(const net::LinkInfo& info, const std::string& device) {
  endProbation(device, kReplaced);
  probation_.start(device, {info.id, events_.steadyMs()});
  if (!info.dialled) apply(dialer_.stop(device));  // until it ends
  log_.debug("peers", "a direct link is on trial", {{"id", device}, {"address", info.address}});
  network_.probe(info.id);
  checkProbationLater(device, info.id);
}

void PeerManager::checkProbationLater(const std::string& device, net::LinkId id) {
  later(probation_.checkEveryMs(), [this, device, id] { checkProbation(device, id); });
}

void PeerManager::checkProbation(const std::string& device, net::LinkId id) {
  const auto stats = network_.stats(id);
  if (probation_.linkOf(device) != id || !stats) return;  // its end is under way
  const bool passes = probation_.passes(device, links_.of(device) != nullptr, stats->pongs, links_.find(id)->sinceMs,
                                        events_.steadyMs());
  passes ? choose(id) : checkProbationLater(device, id);
}

void PeerManager::endProbation(const std::string& device, std::string_view why) {
  const auto trial = probation_.end(device);
  if (!trial) return;
  links_.remove(trial->link);
  network_.close(trial->link, why);
}

// Its other end may have lost power and be back before this end notices: a quiet trial must not delay the new link.
void PeerManager::endQuietProbation(const std::string& device) {
  const auto trial = probation_.linkOf(device);
  if (!trial || !network_.quiet(*trial)) return;
  PeerLink& link = *links_.find(*trial);
  link.quiet = true;
  recordDirectEnd(link);
  endProbation(device, "it went quiet, and there is another link");
}

void PeerManager::recordDirectEnd(const PeerLink& link) {
  probation_.recordEnd(link.device, link.quiet, events_.steadyMs() - link.sinceMs);
}

// --- dialling

// What a scope, and what the copies of the ledgers need, each device of them passes on: they are groups of the mesh.
void PeerManager::tellMesh() {
  const Roster& roster = rosters_.current();
  std::set<std::string, std::less<>> scopes{"*"};  // a name that no scope has: who has all of them
  for (const RosterDevice& device : roster.devices) scopes.insert(device.scopes.begin(), device.scopes.end());
  std::vector<MeshMember> members;
  for (const RosterDevice& device : roster.devices) {
    if (!device.active()) continue;
    MeshMember& member = members.emplace_back();
    member.device = device.device;
    if (device.keepsLedgers()) member.groups.emplace(kLedgerGroup);
    for (const std::string& scope : scopes)
      if (device.mayHave(scope)) member.groups.insert("scope " + scope);
  }
  mesh_.setMembers(members);
  followMeshLater(0);
}

void PeerManager::need(std::set<std::string, std::less<>> devices) {
  if (mesh_.full() || needs_ == devices) return;
  needs_ = std::move(devices);
  followMeshLater(0);
}

Status PeerManager::seek(const std::set<std::string, std::less<>>& devices) {
  const std::int64_t nowMs = events_.steadyMs();
  std::string lacking;
  for (const std::string& device : devices) {
    const RosterDevice* known = rosters_.current().find(device);
    if (mesh_.full() || connected(device) || known == nullptr || !admission_.mayDial(*known)) continue;
    Sought& sought = sought_.try_emplace(device, Sought{nowMs, 0}).first->second;
    sought.untilMs = nowMs + kSeekForMs;
    if (nowMs - sought.sinceMs < kSeekMs) lacking = known->name;
  }
  followMeshLater(0);
  if (lacking.empty()) return okStatus();
  return Error{ErrorCode::conflict,
               "this device keeps few links and has none with " + lacking + " yet; it looks for one",
               concat("run this again in ", kSeekMs / 1'000, " s")};
}

void PeerManager::tellNeeds() {
  std::erase_if(sought_, [nowMs = events_.steadyMs()](const auto& one) { return one.second.untilMs <= nowMs; });
  auto all = needs_;
  for (const auto& [device, sought] : sought_) all.insert(device);
  mesh_.need(std::move(all));
}

void PeerManager::followMeshLater(std::int64_t ms) {
  const std::int64_t dueMs = events_.steadyMs() + ms;
  if (meshDueMs_ >= 0 && meshDueMs_ <= dueMs) return;
  meshDueMs_ = dueMs;
  later(ms, [this, dueMs] {
    if (meshDueMs_ == dueMs) followMesh();
  });
}

void PeerManager::followMesh() {
  meshDueMs_ = -1;
  if (mesh_.full()) return;
  mesh_.carries(relay_.carriesFor());
  tellNeeds();
  const std::int64_t nowMs = events_.steadyMs();
  const Mesh::Changes changes = mesh_.update(nowMs);
  for (const std::string& device : changes.rest) {
    apply(dialer_.stop(device));
    if (!connected(device)) relay_.settled(device);
  }
  for (const std::string& device : changes.end)
    if (const PeerLink* link = links_.of(device)) end(link->info.id, kSpared);
  for (const std::string& device : changes.dial)
    if (const RosterDevice* known = rosters_.current().find(device)) dial(*known);
  std::int64_t nextMs = std::min(mesh_.nextMs(), nowMs + kMeshMostMs);
  for (const auto& [device, sought] : sought_) nextMs = std::min(nextMs, sought.untilMs);
  followMeshLater(std::max<std::int64_t>(nextMs - nowMs, 1));
}

void PeerManager::dialAll() {
  tellMesh();
  for (const RosterDevice& device : rosters_.current().devices) {
    gossip_.apply(device);
    dial(device);
  }
  for (const std::string& address : options_.dial) apply({{Dialer::configured(address)}, {}});
  keepLease();
}

void PeerManager::dial(const RosterDevice& device) {
  const PeerLink* link = links_.of(device.device);
  const bool linked = (link != nullptr && link->direct()) || probation_.linkOf(device.device);
  if (linked || !mesh_.dials(device.device) || !admission_.mayDial(device) || dialer_.isPaused(device.device)) return;
  apply(dialer_.start(device));
  seekRelay(device.device);
}

void PeerManager::dialLater(const std::string& device, std::int64_t ms) {
  apply(dialer_.pause(device));
  later(ms, [this, device] {
    if (!dialer_.resume(device)) return;
    if (const RosterDevice* known = rosters_.current().find(device)) dial(*known);
  });
}

void PeerManager::apply(const DialChanges& changes) {
  for (const std::string& name : changes.stop) network_.undial(name);
  for (const DialStart& dial : changes.start)
    network_.dial(dial.name, dial.address, dial.key, std::string(net::kMemberPurpose));
}

// If all dials of a device fail, or it has none, another device may have a link with it. The dials go on.
void PeerManager::seekRelay(const std::string& device) {
  if (connected(device) || dialer_.isPaused(device) || !wantsRelayedLink(device).ok()) return;
  if (dialer_.allFailed(device, network_.dials())) relay_.missing(device, kGraceMs);
}

void PeerManager::cut(const std::string& device) { shutOff(device, "an operator has cut this link"); }

void PeerManager::suspend(const std::string& device, const std::string& why, std::int64_t ms) {
  if (isCut(device)) return;
  log_.warn("peers", "a link was cut for a while", {{"id", device}, {"why", why}, {"ms", std::to_string(ms)}});
  shutOff(device, why);
  later(ms, [this, device, why] {
    if (admission_.whyBlocked(device) == why) heal(device);
  });
}

void PeerManager::shutOff(const std::string& device, const std::string& why) {
  admission_.block(device, why);
  apply(dialer_.stop(device));
  relay_.settled(device);
  endProbation(device, why);
  if (const PeerLink* link = links_.of(device)) {
    const net::LinkId id = link->info.id;
    onDown(id, why);
    network_.drop(id);
  }
}

void PeerManager::heal(const std::string& device) {
  if (!admission_.unblock(device)) return;
  if (const RosterDevice* known = rosters_.current().find(device)) dial(*known);
}

// --- frames

void PeerManager::send(const std::string& device, std::string frames, bool close) {
  PeerLink* link = links_.of(device);
  if (link == nullptr) return;
  const net::LinkId id = link->info.id;
  if (!frames.empty()) {
    link->bytesOut += frames.size();
    if (!network_.send(id, std::move(frames))) return;
  }
  if (close) network_.close(id, "the conversation has ended");
}

void PeerManager::onFrame(net::LinkId id, std::string_view bytes) {
  if (probation_.contains(id)) choose(id);  // the other end has chosen it
  PeerLink* link = links_.find(id);
  if (link == nullptr) return;
  ++link->framesIn;
  link->bytesIn += bytes.size();
  if (isClusterFrame(bytes)) return onClusterFrame(*link, bytes);
  if (link->device.empty()) return network_.close(id, "only enrolment is spoken here");
  if (!link->served) return;  // it is told nothing and is not heard: stale()
  events_.received(link->device, bytes);
}

void PeerManager::onClusterFrame(PeerLink& link, std::string_view bytes) {
  const auto type = static_cast<ClusterFrame>(bytes[4]);
  const bool member = !link.device.empty();
  if (!member && type == ClusterFrame::joinRequest) return onJoin(link, bytes);
  if (type == ClusterFrame::roster) return member ? onRoster(link, bytes) : onOffer(link, bytes);
  if (member && !link.served) return;
  if (member && type == ClusterFrame::rotateKey) return onRotate(link, bytes);
  if (isTunnelFrame(static_cast<std::uint8_t>(bytes[4]))) {
    if (member && link.direct()) return relay_.frame(link.device, bytes);
    return network_.close(link.info.id, "tunnels are for direct links between members");
  }
  if (member && type != ClusterFrame::joinRequest && type != ClusterFrame::joinAnswer)
    return events_.received(link.device, bytes);
  network_.close(link.info.id, "a frame that does not belong here");
}

// --- the roster

void PeerManager::sendRoster(net::LinkId id) {
  enrolment_.stampRoster(events_.wall());
  (void)network_.send(id, gossip_.frame(events_.wall()));
  if (const std::string parted = gossip_.partedFrame(); !parted.empty()) (void)network_.send(id, parted);
}

// A roster may end the very link over which it came: nothing of `link` is read once it counts.
void PeerManager::onRoster(const PeerLink& link, std::string_view bytes) {
  const net::LinkId id = link.info.id;
  const std::string device = link.device, address = link.info.address;
  const auto heard = gossip_.receive(bytes, events_.wall());
  tellLeftOut();
  unite();
  if (!heard.ok()) {
    const auto& [code, why, hint] = heard.error();
    heardWell_.erase(device);
    if (device.empty())
      log_.warn("roster", why, {{"from", address}});
    else
      events_.alarm("rosterRefused", device, concat(why, hint.empty() ? "" : "; ", hint));
    return network_.close(id, "a roster that does not count: " + why);
  }
  if (!device.empty() && heardWell_.insert(device).second) events_.over("rosterRefused", device);
  const std::string from = device.empty() ? "an offer" : device;
  compareClocks(device, *heard);
  if (heard->roster) applyRoster(from);
  if (heard->date) dateChanged(from);
  if (!heard->roster) return;
  if (!gossip_.startSaving()) return;
  log_.error("roster", "applied, but could not be written; retrying", {{"why", rosters_.kept().error().message}});
  saveRosterLater();
}

void PeerManager::saveRosterLater() {
  later(options_.heartbeatMs, [this] {
    if (!gossip_.retrySaving()) return saveRosterLater();
    log_.info("roster", "is written now");
    events_.rosterChanged();  // some of its consequences wait until the roster is on disk
  });
}

void PeerManager::tellLeftOut() {
  for (const RosterStore::LeftOut& one : rosters_.newlyLeftOut()) events_.alarm("leftOut", one.device, one.words());
}

// The device that signs rosters went back to an older copy: what it forgot comes from the others.
void PeerManager::unite() {
  const auto united = enrolment_.unite(
      events_.wall(), [this](const std::string& words) { events_.alarm(kRosterPartedIncident, "", words); });
  if (united.ok() && !*united) {
    const bool apart = rosters_.parted() != nullptr;
    if (std::exchange(apart_, apart) == apart) return;
    if (!apart && enrolment_.isAdmin()) return;  // what its union took stays until people have read it
    return apart ? events_.alarm(kRosterPartedIncident, "",
                                 "the key that signs rosters has signed two of which neither follows the other, since "
                                 "its disk went back: run that device beside this one, it unites both")
                 : events_.over(kRosterPartedIncident, "");
  }
  if (united.ok()) return rosterPublished();
  events_.alarm(kRosterPartedIncident, "",
                concat("two rosters part: ", united.error().message,
                       united.error().hint.empty() ? "" : "; " + united.error().hint));
}

void PeerManager::rosterPublished() {
  tellLeftOut();
  enrolment_.stampRoster(events_.wall());
  applyRoster("");
  unite();  // what stood in the way may be mended
}

void PeerManager::applyRoster(std::string_view from) {
  const Roster& roster = rosters_.current();
  log_.info("roster", "version " + std::to_string(roster.version),
            {{"devices", std::to_string(roster.activeCount())}, {"from", std::string(from.empty() ? "here" : from)}});
  // Devices that were revoked lose their links before anything else happens; those with other rights begin again.
  std::vector<std::pair<net::LinkId, std::string>> ending;
  for (const auto& [device, id] : links_.chosen())
    if (std::string why = gossip_.whyLinksEnd(device); !why.empty()) ending.emplace_back(id, std::move(why));
  for (const auto& [device, trial] : std::map(probation_.all()))
    if (const std::string why = gossip_.whyLinksEnd(device); !why.empty()) endProbation(device, why);
  for (const auto& [device, id] : links_.chosen()) {
    if (roster.member(device) == nullptr)
      (void)network_.send(id, gossip_.farewell(device));
    else if (device != from)
      sendRoster(id);
  }
  for (const auto& [id, why] : ending) end(id, why);
  tellMesh();
  for (const RosterDevice& device : roster.devices) {
    if (!device.active()) relay_.settled(device.device), clocks_.forget(device.device);
    if (gossip_.dialsEnd(device)) apply(dialer_.stop(device.device));
    gossip_.apply(device);
    dial(device);
    if (!device.active()) apply(dialer_.forget(device.device));
  }
  events_.rosterChanged();
}

// --- enrolment

void PeerManager::limitPending(net::LinkId pending) {
  if (const auto oldest = pending_.add(pending, events_.steadyMs()))
    reject(*oldest, "too many devices would like to join");
  later(options_.joinMs, [this, pending] { reject(pending, "the time for joining is over: ask again"); });
}

void PeerManager::reject(net::LinkId pending, std::string_view why) {
  if (!pending_.remove(pending)) return;
  links_.remove(pending);
  network_.close(pending, why);
}

void PeerManager::onJoin(PeerLink& link, std::string_view bytes) {
  const net::LinkInfo& info = link.info;
  JoinRequest request;
  if (!pending_.countRequest(info.id)) return reject(info.id, "too many requests to join");
  if (Status read = readClusterFrame(bytes, request); !read.ok()) return network_.close(info.id, read.error().message);
  const std::uint64_t before = rosters_.current().version;
  const JoinAnswer answer = enrolment_.onJoin(request, info.key, info.address, events_.wall());
  const bool changed = rosters_.current().version != before;
  const std::string device = deviceIdOf(info.key);
  // Each change is logged. Unenrolled devices can cause the other lines as often as they like, so those are limited.
  const bool logged = changed || network_.mayLog();
  if (logged && answer.verdict == JoinVerdict::refused)
    log_.warn("enrolment", "refused", {{"device", device}, {"from", info.address}, {"why", answer.reason}});
  else if (logged)
    log_.info("enrolment", std::string(enumName(answer.verdict)),
              {{"device", device}, {"name", request.name}, {"from", info.address}});
  (void)network_.send(info.id, clusterFrame(answer));
  if (changed) applyRoster("");
}

// Of a member whose key is not known here: the roster that names it proves itself, whoever brings it.
void PeerManager::onOffer(PeerLink& link, std::string_view bytes) {
  const net::LinkId id = link.info.id;
  const std::string host = link.info.address.substr(0, link.info.address.rfind(':'));
  if (!pending_.takesOffer(host, isHostOfMember(rosters_.current(), host), events_.steadyMs()))
    return reject(id, "too many rosters are offered: offer it later");
  onRoster(link, bytes);
  reject(id, "that was all");
}

// A thief of a key could ask, too: a person decides.
void PeerManager::onRotate(PeerLink& link, std::string_view bytes) {
  RotateKey request;
  const std::string device = link.device;
  Status done = readClusterFrame(bytes, request);
  const auto inVain = [&] {
    if (events_.askedInVain) events_.askedInVain(device);
  };
  if (done.ok() && !enrolment_.isAdmin()) return inVain();  // the device with the admin's key gets the request too
  if (done.ok()) {
    const auto asked = enrolment_.onRotate(device, request, events_.wall());
    if (asked.ok() && asked->empty()) return inVain();
    if (asked.ok()) return events_.alarm("keyAsked", device, *asked);
    done = asked.error();
  }
  inVain();
  network_.close(link.info.id, "the key was not taken: " + done.error().message);
}

// --- reading

std::size_t PeerManager::queuedBytes(std::string_view device) const {
  const PeerLink* link = links_.of(device);
  return link == nullptr ? 0 : network_.queuedBytes(link->info.id);
}

std::vector<PeerStatus> PeerManager::status() const {
  std::vector<PeerStatus> all;
  for (const RosterDevice& device : rosters_.current().devices) {
    if (device.device == options_.device || !device.active()) continue;
    PeerStatus status;
    status.device = device.device;
    status.name = device.name;
    status.blocked = isCut(device.device);
    if (!device.addresses.empty()) status.address = device.addresses.front();
    if (const LinkHistory::Past* past = history_.of(device.device))
      status.lastEnd = past->reason, status.sinceMs = past->endedMs;
    status.wanted = connected(device.device) || wants(device.device);
    if (!status.wanted) status.lastEnd = "not needed: this device keeps few links ([network] links)";
    if (const std::string why = relay_.noWay(device.device); !why.empty())
      status.lastEnd += (status.lastEnd.empty() ? "" : "; ") + why;
    if (const PeerLink* link = links_.of(device.device)) {
      status.connected = true;
      status.dialled = link->info.dialled;
      status.address = link->info.address;
      status.via = link->info.via;
      status.framesIn = link->framesIn;
      status.bytesIn = link->bytesIn;
      status.bytesOut = link->bytesOut;
      status.queuedBytes = network_.queuedBytes(link->info.id);
      status.sinceMs = link->sinceMs;
    }
    all.push_back(std::move(status));
  }
  return all;
}

}  // namespace witan::node

#include "node/peers/peer_desk.h"

#include <algorithm>
#include <limits>

#include "base/bytes.h"
#include "node/cluster/device_key.h"
#include "replica/core/messages.h"

namespace witan::node {

namespace {

constexpr std::int64_t kShortLifeMs = 1'000;
constexpr std::size_t kMaxStrangers = 16;  // links of devices that would like to join
constexpr unsigned kMaxJoinRequests = 4;   // on one of them: a device that waits to be approved comes again
constexpr std::int64_t kGraceMs = 1'000;   // for the next dial, or for the other end's, before a relay is asked
constexpr std::string_view kConfigured = "config/";  // names of dials of Options::dial: so, and the address

net::PeerNetworkOptions networkOptions(const PeerDesk::Options& wanted) {
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

}  // namespace

PeerDesk::PeerDesk(net::Loop& loop, const net::TlsIdentity& identity, RosterBook& book, EnrolmentDesk& desk, Log& log,
                   Options options, Events events)
    : loop_(loop),
      book_(book),
      desk_(desk),
      log_(log),
      options_(std::move(options)),
      events_(std::move(events)),
      network_(loop, identity, networkOptions(options_),
               {.admit = [this](const net::LinkInfo& info) { return admit(info); },
                .up = [this](const net::LinkInfo& info) { up(info); },
                .frame = [this](net::LinkId id, std::string_view bytes) { frame(id, bytes); },
                .quiet =
                    [this](net::LinkId id) {
                      if (const auto at = links_.find(id); at != links_.end()) at->second.quiet = true;
                    },
                .down = [this](net::LinkId id, std::string_view reason) { down(id, reason); },
                .room =
                    [this](net::LinkId id) {
                      if (const auto at = links_.find(id); at != links_.end() && !at->second.device.empty())
                        events_.room(at->second.device);
                    },
                .missed = [this](const std::string& dial) { seek(dial.substr(0, dial.find('/'))); },
                .log =
                    [this](std::string_view level, std::string_view what) {
                      level == "warning" ? log_.warn("net", what) : log_.debug("net", what);
                    }}),
      relay_(loop, network_, book, log, {options_.device, options_.carry}, relayHooks()) {}

PeerDesk::~PeerDesk() = default;

Result<std::string> PeerDesk::listen(const std::string& address) { return network_.listen(address); }

RelayDesk::Hooks PeerDesk::relayHooks() {
  RelayDesk::Hooks hooks;
  hooks.send = [this](const std::string& device, std::string frames) { send(device, std::move(frames), false); };
  hooks.breakLink = [this](const std::string& device, std::string_view why) {
    const auto at = byDevice_.find(device);
    if (at == byDevice_.end()) return;
    const net::LinkId id = at->second;
    down(id, why);
    network_.close(id, why);
  };
  hooks.welcome = [this](const std::string& device) { return welcome(device); };
  hooks.cutOff = [this](const std::string& device, const std::string& relay, std::string_view why) {
    const auto at = byDevice_.find(device);
    if (at == byDevice_.end()) return;
    Link& link = links_.find(at->second)->second;
    if (link.info.via == relay) link.cutOff = "through " + relay + ": " + std::string(why);
  };
  return hooks;
}

// --- who may

Status PeerDesk::welcome(const std::string& device) const {
  const auto no = [](const char* why) -> Status { return Error{ErrorCode::unauthorised, why, ""}; };
  const RosterDevice* known = book_.current().find(device);
  if (known == nullptr || !known->active()) return no("no member of the cluster");
  if (cut_.contains(device)) return no("an operator has cut this link");
  const Link* link = linkOf(device);
  return link != nullptr && link->info.via.empty() ? no("there is a direct link already") : okStatus();
}

Status PeerDesk::admit(const net::LinkInfo& info) {
  const auto refuse = [&](std::string why) -> Status {
    ++refused_;
    if (network_.mayLog())
      log_.warn("net", "refused a link", {{"from", info.address}, {"device", deviceIdOf(info.key)}, {"why", why}});
    return Error{ErrorCode::unauthorised, std::move(why), ""};
  };
  if (info.purpose == net::kJoinPurpose && !info.via.empty()) return refuse("only members have links through others");
  if (info.purpose == net::kJoinPurpose) return info.dialled ? refuse("this device is a member already") : okStatus();
  if (info.purpose != net::kMemberPurpose) return refuse("unknown purpose " + info.purpose);
  const RosterDevice* device = book_.current().byKey(info.key);
  if (device == nullptr) return refuse("no member of the cluster " + book_.current().cluster + " has this key");
  if (!device->active())
    return refuse("this device was revoked" + (device->reason.empty() ? "" : ": " + device->reason));
  if (device->device == options_.device) return refuse("this is the device itself");
  if (cut_.contains(device->device)) return refuse("an operator has cut this link");
  return okStatus();
}

// Of two links between the same devices both sides keep the direct one; else the one that the smaller id dialled.
bool PeerDesk::keepsNew(const Link& old, const net::LinkInfo& info, const std::string& device) const {
  if (old.info.via.empty() != info.via.empty()) return info.via.empty();
  const bool smaller = options_.device < device;
  const auto preferred = [&](const net::LinkInfo& link) { return link.dialled == smaller; };
  return preferred(info) || !preferred(old.info);
}

void PeerDesk::up(const net::LinkInfo& info) {
  Link link;
  link.info = info;
  link.sinceMs = events_.steadyMs();
  if (info.purpose == net::kJoinPurpose) {
    links_[info.id] = std::move(link);
    return hearOut(info.id);
  }
  const RosterDevice* device = book_.current().byKey(info.key);
  // The roster, or an operator, may have spoken since admit(): a link that is coming up is in no list that they see.
  if (device == nullptr || !device->active()) return network_.close(info.id, "no member any more");
  if (cut_.contains(device->device)) return network_.close(info.id, "an operator has cut this link");
  link.device = device->device;
  const std::string name = link.device;
  if (info.via.empty()) endQuietTrial(name);
  const Link* old = linkOf(name);
  if (const auto trial = trials_.find(name); trial != trials_.end() && info.via.empty()) {
    old = &links_.find(trial->second.link)->second;
    // Another of its addresses: two in turns would end each other's trials for ever.
    if (old->info.dialled == info.dialled) return network_.close(info.id, "another link is on trial");
  }
  if (old != nullptr && !keepsNew(*old, info, name)) return network_.close(info.id, "there is a link already");
  network_.trust(info.id);
  links_[info.id] = std::move(link);
  info.via.empty() && needsTrial(name) ? tryOut(info, name) : take(info.id);
}

void PeerDesk::take(net::LinkId id) {
  const net::LinkInfo info = links_.find(id)->second.info;
  const std::string name = links_.find(id)->second.device;
  if (info.via.empty()) {
    if (onTrial(id)) trials_.erase(name);
    endTrial(name, "another link took its place");
  }
  if (const auto old = byDevice_.find(name); old != byDevice_.end()) {
    const net::LinkId replaced = old->second;
    auto trial = trials_.extract(name);  // of two carried links: it is not to take this place meanwhile
    down(replaced, "another link took its place");
    network_.close(replaced, "another link took its place");
    trials_.insert(std::move(trial));
  }
  byDevice_[name] = id;
  relay_.settled(name);
  if (info.via.empty()) {
    // The other side found this one: no need to look for it, until the link ends. Nor at its other addresses: their
    // links and this one would take each other's place for ever.
    if (info.dialled && info.name.starts_with(kConfigured)) {
      configured_[name].insert(info.name);
      dialling_[name].insert(info.name);
    }
    undial(name, info.dialled ? info.name : "");
    relay_.linked(name);
  }
  const RosterDevice* device = book_.current().find(name);
  log_.info("peers", "connected", {{"device", device->name}, {"id", name}, {"address", info.address}});
  tellRoster(id);
  events_.connected(name);
}

void PeerDesk::down(net::LinkId id, std::string_view reason) {
  const auto at = links_.find(id);
  if (at == links_.end()) return;
  const Link link = std::move(at->second);
  links_.erase(at);
  if (link.device.empty()) return;
  const bool direct = link.info.via.empty();
  if (direct) countQuiet(link);
  if (const auto trial = trials_.find(link.device); trial != trials_.end() && trial->second.link == id) {
    trials_.erase(trial);
    log_.debug("peers", "a link on trial has ended", {{"id", link.device}, {"why", std::string(reason)}});
    if (const RosterDevice* device = book_.current().find(link.device)) dial(*device);
    return;
  }
  Past& past = past_[link.device];
  past.shortLived = events_.steadyMs() - link.sinceMs < kShortLifeMs ? past.shortLived + 1 : 0;
  past.end = link.cutOff.empty() || !reason.starts_with("connection lost") ? std::string(reason) : link.cutOff;
  past.atMs = events_.steadyMs();
  if (const auto current = byDevice_.find(link.device); current != byDevice_.end() && current->second == id)
    byDevice_.erase(current);
  log_.info("peers", "disconnected", {{"id", link.device}, {"why", past.end}});
  if (direct) relay_.unlinked(link.device, past.end);
  events_.disconnected(link.device);
  // Two that cannot talk to each other do not try ten times a second.
  if (past.shortLived > 2) {
    relay_.settled(link.device);
    return dialLater(link.device, 1'000LL << std::min(past.shortLived, 6u));
  }
  // Another way, at once: through another relay, or around a direct path that is a hole.
  if ((!direct || link.quiet) && welcome(link.device).ok()) relay_.missing(link.device, 0, link.info.via);
  if (const auto trial = trials_.find(link.device); trial != trials_.end()) {
    trial->second.aloneMs = events_.steadyMs();
    return past.quiet == 0 ? take(trial->second.link) : void();  // else it is judged, and a relay comes first
  }
  if (const RosterDevice* device = book_.current().find(link.device)) dial(*device);
}

// --- dialling

void PeerDesk::dialLater(const std::string& device, std::int64_t ms) {
  undial(device);
  waiting_.insert(device);
  loop_.after(ms, [this, device, alive = std::weak_ptr<int>(alive_)] {
    if (alive.expired() || waiting_.erase(device) == 0) return;
    if (const RosterDevice* known = book_.current().find(device)) dial(*known);
  });
}

void PeerDesk::dialAll() {
  for (const RosterDevice& device : book_.current().devices) {
    applied_[device.device] = device;
    dial(device);
  }
  for (const std::string& address : options_.dial) dialConfigured(std::string(kConfigured) + address);
}

void PeerDesk::dialConfigured(const std::string& name) {
  network_.dial(name, name.substr(kConfigured.size()), std::nullopt, std::string(net::kMemberPurpose));
}

void PeerDesk::dial(const RosterDevice& device) {
  if (!device.active() || device.device == options_.device || cut_.contains(device.device)) return;
  const Link* link = linkOf(device.device);
  if ((link != nullptr && link->info.via.empty()) || trials_.contains(device.device)) return;
  if (waiting_.contains(device.device)) return;
  auto key = publicKeyFromHex(device.keys.back(), "key");
  if (!key.ok()) return;
  for (const std::string& address : device.addresses) {
    const std::string name = device.device + "/" + address;
    if (!dialling_[device.device].insert(name).second) continue;
    network_.dial(name, address, *key, std::string(net::kMemberPurpose));
  }
  for (const std::string& name : configured_[device.device])
    if (dialling_[device.device].insert(name).second) dialConfigured(name);
  seek(device.device);
}

// If each of its addresses has failed, or it has none, somebody else may have a link with it. The dials go on.
void PeerDesk::seek(const std::string& device) {
  if (byDevice_.contains(device) || waiting_.contains(device) || !welcome(device).ok()) return;
  if (const auto dials = dialling_.find(device); dials != dialling_.end()) {
    const auto failing = [&](const net::DialInfo& dial) {
      return dial.failures > 0 && dials->second.contains(dial.name);
    };
    const auto all = network_.dials();
    if (std::count_if(all.begin(), all.end(), failing) < std::ssize(dials->second)) return;
  }
  relay_.missing(device, kGraceMs);
}

const PeerDesk::Link* PeerDesk::linkOf(std::string_view device) const {
  const auto at = byDevice_.find(device);
  return at == byDevice_.end() ? nullptr : &links_.find(at->second)->second;
}

void PeerDesk::undial(const std::string& device, const std::string& except) {
  const auto at = dialling_.find(device);
  if (at == dialling_.end()) return;
  std::erase_if(at->second, [&](const std::string& name) {
    if (name != except) network_.undial(name);
    return name != except;
  });
  if (at->second.empty()) dialling_.erase(at);
}

void PeerDesk::cut(const std::string& device) {
  cut_.insert(device);
  undial(device);
  relay_.settled(device);
  endTrial(device, "an operator has cut it");
  if (const auto at = byDevice_.find(device); at != byDevice_.end()) {
    const net::LinkId id = at->second;
    down(id, "an operator has cut it");
    network_.drop(id);
  }
}

void PeerDesk::heal(const std::string& device) {
  if (cut_.erase(device) == 0) return;
  if (const RosterDevice* known = book_.current().find(device)) dial(*known);
}

// --- frames

void PeerDesk::send(const std::string& device, std::string frames, bool close) {
  const auto at = byDevice_.find(device);
  if (at == byDevice_.end()) return;
  const net::LinkId id = at->second;
  if (!frames.empty()) {
    links_[id].bytesOut += frames.size();
    if (!network_.send(id, std::move(frames))) return;
  }
  if (close) network_.close(id, "the conversation has ended");
}

void PeerDesk::frame(net::LinkId id, std::string_view bytes) {
  if (onTrial(id)) take(id);  // the other end has chosen it
  const auto at = links_.find(id);
  if (at == links_.end()) return;
  Link& link = at->second;
  ++link.framesIn;
  link.bytesIn += bytes.size();
  if (isClusterFrame(bytes)) return clusterFrame(link, bytes);
  if (link.device.empty()) return network_.close(id, "only enrolment is spoken here");
  events_.received(link.device, bytes);
}

void PeerDesk::clusterFrame(Link& link, std::string_view bytes) {
  const auto type = static_cast<ClusterFrame>(bytes[4]);
  if (link.device.empty() && type == ClusterFrame::joinRequest) return onJoin(link, bytes);
  if (!link.device.empty() && type == ClusterFrame::roster) return onRoster(link, bytes);
  if (!link.device.empty() && type == ClusterFrame::rotateKey) return onRotate(link, bytes);
  if (isTunnelFrame(static_cast<std::uint8_t>(bytes[4]))) {
    if (!link.device.empty() && link.info.via.empty()) return relay_.frame(link.device, bytes);
    return network_.close(link.info.id, "tunnels are for direct links between members");
  }
  if (!link.device.empty() && type != ClusterFrame::joinRequest && type != ClusterFrame::joinAnswer)
    return events_.received(link.device, bytes);
  network_.close(link.info.id, "a frame that does not belong here");
}

// --- the roster

void PeerDesk::tellRoster(net::LinkId id) {
  RosterMessage message;
  message.document.assign(book_.document().begin(), book_.document().end());
  (void)network_.send(id, node::clusterFrame(message));
}

void PeerDesk::onRoster(Link& link, std::string_view bytes) {
  RosterMessage message;
  Status read = readClusterFrame(bytes, message);
  Result<bool> adopted = read.ok() ? book_.adopt(asView(message.document)) : Result<bool>(read.error());
  if (!adopted.ok()) {
    log_.warn("roster", adopted.error().message, {{"from", link.device}});
    return network_.close(link.info.id, "a roster that does not count: " + adopted.error().message);
  }
  if (!*adopted) return;
  applyRoster(link.device);
  if (book_.kept().ok() || keepsLater_) return;
  log_.error("roster", "counts, but could not be written; it is tried again", {{"why", book_.kept().error().message}});
  keepRosterLater();
}

void PeerDesk::keepRosterLater() {
  keepsLater_ = true;
  loop_.after(options_.heartbeatMs, [this, alive = std::weak_ptr<int>(alive_)] {
    if (alive.expired()) return;
    if (!book_.kept().ok() && !book_.keep().ok()) return keepRosterLater();
    keepsLater_ = false;
    log_.info("roster", "is written now");
    events_.rosterChanged();  // what waited for it
  });
}

void PeerDesk::rosterPublished() { applyRoster(""); }

void PeerDesk::applyRoster(std::string_view from) {
  const Roster& roster = book_.current();
  log_.info("roster", "version " + std::to_string(roster.version),
            {{"devices", std::to_string(roster.activeCount())}, {"from", std::string(from.empty() ? "here" : from)}});
  // Who may no more is cut off before anything else happens; whose rights have changed begins again.
  const auto whyEnds = [&](const std::string& name) {
    const RosterDevice* now = roster.find(name);
    const RosterDevice& before = applied_[name];
    if (now == nullptr || !now->active()) return "this device was revoked";
    return now->keys != before.keys || now->roles != before.roles || now->scopes != before.scopes
               ? "its rights have changed"
               : "";
  };
  std::vector<std::pair<net::LinkId, std::string>> ending;
  for (const auto& [name, id] : byDevice_)
    if (const std::string why = whyEnds(name); !why.empty()) ending.emplace_back(id, why);
  for (const auto& [name, trial] : std::map(trials_))
    if (const std::string why = whyEnds(name); !why.empty()) endTrial(name, why);
  for (const auto& [name, id] : byDevice_)
    if (name != from) tellRoster(id);  // the revoked one hears it too, as the last thing
  for (const auto& [id, why] : ending) {
    down(id, why);
    network_.close(id, why);
  }
  for (const RosterDevice& device : roster.devices) {
    const RosterDevice& before = applied_[device.device];
    if (!device.active()) relay_.settled(device.device);
    if (!device.active() || device.addresses != before.addresses || device.keys != before.keys) undial(device.device);
    applied_[device.device] = device;
    dial(device);
    if (device.active()) continue;
    if (const auto known = configured_.extract(device.device))  // somebody else may be there
      for (const std::string& name : known.mapped()) dialConfigured(name);
  }
  events_.rosterChanged();
}

// --- enrolment

// Links without a device take no place from members. The one that came up first goes: it has had the most time to ask,
// and strangers that only stay keep nobody from joining.
void PeerDesk::hearOut(net::LinkId stranger) {
  std::size_t strangers = 0;
  net::LinkId oldest = 0;
  std::int64_t sinceMs = std::numeric_limits<std::int64_t>::max();
  for (const auto& [id, link] : links_) {
    if (!link.device.empty()) continue;
    ++strangers;
    if (id != stranger && link.sinceMs < sinceMs) oldest = id, sinceMs = link.sinceMs;
  }
  if (strangers > kMaxStrangers) turnAway(oldest, "too many devices would like to join");
  loop_.after(options_.joinMs, [this, stranger, alive = std::weak_ptr<int>(alive_)] {
    if (!alive.expired()) turnAway(stranger, "the time for joining is over: ask again");
  });
}

void PeerDesk::turnAway(net::LinkId stranger, std::string_view why) {
  if (links_.erase(stranger) > 0) network_.close(stranger, why);
}

void PeerDesk::onJoin(Link& link, std::string_view bytes) {
  JoinRequest request;
  if (++link.requests > kMaxJoinRequests) return turnAway(link.info.id, "too many requests to join");
  if (Status read = readClusterFrame(bytes, request); !read.ok())
    return network_.close(link.info.id, read.error().message);
  const std::uint64_t before = book_.current().version;
  const JoinAnswer answer = desk_.onJoin(request, link.info.key, link.info.address, events_.wall());
  const std::string device = deviceIdOf(link.info.key);
  // What changed is always told. The rest a stranger may bring about as often as it likes.
  const bool told = book_.current().version != before || network_.mayLog();
  if (told && answer.verdict == JoinVerdict::refused)
    log_.warn("enrolment", "refused", {{"device", device}, {"from", link.info.address}, {"why", answer.reason}});
  else if (told)
    log_.info("enrolment", std::string(enumName(answer.verdict)),
              {{"device", device}, {"name", request.name}, {"from", link.info.address}});
  const net::LinkId id = link.info.id;
  (void)network_.send(id, node::clusterFrame(answer));
  if (book_.current().version != before) applyRoster("");
}

Status PeerDesk::rotate(const std::string& device, const RotateKey& request) {
  WITAN_TRY(next, publicKeyFromBytes(request.key, "key"));
  if (!verifySignature(next, rotationText(device, next), request.proof))
    return Error{ErrorCode::unauthorised, "a key that its owner does not prove to have", ""};
  if (book_.current().find(device)->keys.back() == toHex(next)) return okStatus();
  WITAN_DO(desk_.rotate(device, next));
  log_.warn("enrolment", "a member has another key", {{"id", device}, {"fingerprint", fingerprintOf(next)}});
  applyRoster("");
  return okStatus();
}

void PeerDesk::onRotate(Link& link, std::string_view bytes) {
  RotateKey request;
  const std::string device = link.device;
  const net::LinkId id = link.info.id;
  Status done = readClusterFrame(bytes, request);
  if (done.ok() && !desk_.isAdmin()) return;  // another one will hear it
  if (done.ok()) done = rotate(device, request);
  if (!done.ok()) network_.close(id, "the key was not taken: " + done.error().message);
}

// --- reading

std::size_t PeerDesk::queuedBytes(std::string_view device) const {
  const auto at = byDevice_.find(device);
  return at == byDevice_.end() ? 0 : network_.queuedBytes(at->second);
}

std::vector<PeerStatus> PeerDesk::status() const {
  std::vector<PeerStatus> all;
  for (const RosterDevice& device : book_.current().devices) {
    if (device.device == options_.device || !device.active()) continue;
    PeerStatus status;
    status.device = device.device;
    status.name = device.name;
    status.blocked = cut_.contains(device.device);
    if (!device.addresses.empty()) status.address = device.addresses.front();
    if (const auto past = past_.find(device.device); past != past_.end())
      status.lastEnd = past->second.end, status.sinceMs = past->second.atMs;
    if (const std::string why = relay_.noWay(device.device); !why.empty())
      status.lastEnd += (status.lastEnd.empty() ? "" : "; ") + why;
    if (const auto at = byDevice_.find(device.device); at != byDevice_.end()) {
      const Link& link = links_.find(at->second)->second;
      status.connected = true;
      status.dialled = link.info.dialled;
      status.address = link.info.address;
      status.via = link.info.via;
      status.framesIn = link.framesIn;
      status.bytesIn = link.bytesIn;
      status.bytesOut = link.bytesOut;
      status.queuedBytes = network_.queuedBytes(at->second);
      status.sinceMs = link.sinceMs;
    }
    all.push_back(std::move(status));
  }
  return all;
}

void PeerDesk::close() { network_.close(); }

}  // namespace witan::node

#include "node/market/market_door.h"

#include <algorithm>

#include "base/frame.h"
#include "base/quote.h"
#include "base/utf8.h"

namespace witan::node {

namespace {

using market::Letter;

constexpr std::uint8_t kPassFrame = 80, kLetterFrame = 81, kFrameVersion = 1;
constexpr std::int64_t kPassWithinMs = 10'000;
constexpr std::int64_t kAccuseAgainMs = 3'600'000;        // of one organisation
constexpr std::size_t kLinksOfADevice = 2;                // both ends may dial
constexpr std::size_t kWaitingLinks = 4;                  // of an organisation
constexpr std::size_t kMostLinks = 256, kStrangers = 32;  // of them without a pass
// A bundle, and what a letter adds to it.
constexpr JsonLimits kLetterLimits{.bytes = market::kBundleLimits.bytes + 4096,
                                   .depth = market::kBundleLimits.depth + 2};
constexpr std::size_t kMostKind = 32, kMostId = 512;
constexpr std::size_t kLargeBytes = market::kMostLetterBytes + kFrameHeaderBytes + 512;
constexpr std::size_t kUnreadBytes = std::size_t{32} << 20;  // of a second, until the link ends
constexpr std::size_t kMostPass = std::size_t{64} << 10;

// No lies of the organisation: one of the clocks is wrong, or it is the one that has said so.
constexpr const char* kEnded = "the pass has ended";
constexpr const char* kRevoked = "the device is revoked";
constexpr const char* kWaits = ": another device of this organisation speaks with it";

std::string frameOf(std::uint8_t type, std::string text) {
  text.resize((text.size() + 7) / 8 * 8, ' ');
  std::string frame;
  appendFrame(frame, type, kFrameVersion, text);
  return frame;
}

net::PeerNetworkOptions doorOptions() {
  net::PeerNetworkOptions options;
  options.maxFrameBytes = kLetterLimits.bytes + 8;
  options.maxQueuedBytes = 2 * kLetterLimits.bytes;
  options.maxLinks = kMostLinks;
  options.backoffMostMs = 5'000;
  options.purposes = {std::string(kMarketPurpose)};
  return options;
}

}  // namespace

MarketDoor::MarketDoor(net::Loop& loop, Log& log, const net::TlsIdentity& identity, std::string org, std::string pass,
                       Events events)
    : loop_(loop), log_(log), org_(std::move(org)), pass_(std::move(pass)), events_(std::move(events)) {
  net::PeerEvents network;
  network.up = [this](const net::LinkInfo& info) { onUp(info); };
  network.frame = [this](net::LinkId id, std::string_view frame) { onFrame(id, frame); };
  network.knowsFrame = [](std::string_view, std::uint8_t type) { return type == kPassFrame || type == kLetterFrame; };
  network.down = [this](net::LinkId id, std::string_view reason) { onDown(id, reason); };
  network.log = [this](std::string_view level, std::string_view what) {
    log_.line(level == "warning" ? LogLevel::warn : LogLevel::debug, "market", what, {});
  };
  network_ = std::make_unique<net::PeerNetwork>(loop, identity, doorOptions(), std::move(network));
}

MarketDoor::~MarketDoor() { *self_ = nullptr; }

void MarketDoor::dial(const std::string& org, const std::string& address) {
  network_->dial(org, address, std::nullopt, std::string(kMarketPurpose));
}

bool MarketDoor::isConnected(const std::string& org) const {
  return std::ranges::any_of(links_, [&](const auto& each) { return each.second.org == org && !each.second.waits; });
}

bool MarketDoor::send(const Letter& letter) {
  std::string text = canonicalJson(json::object{{"id", letter.id}, {"kind", letter.kind}, {"body", letter.body}});
  if (text.size() > kLetterLimits.bytes) return false;
  // The newest link: an older one may be dead without this end knowing it.
  for (auto at = links_.rbegin(); at != links_.rend(); ++at)
    if (at->second.org == letter.to && !at->second.waits && network_->send(at->first, frameOf(kLetterFrame, text)))
      return true;
  return false;
}

void MarketDoor::show(std::string pass) {
  pass_ = std::move(pass);
  for (const auto& [id, link] : links_)
    if (!link.org.empty()) network_->send(id, frameOf(kPassFrame, pass_));
}

void MarketDoor::keepTo(const market::Roots& roots) {
  std::vector<std::pair<net::LinkId, const char*>> over;
  for (const auto& [id, link] : links_) {
    if (link.org.empty()) continue;
    const auto root = roots.find(link.org);
    if (root == roots.end() || root->second != link.root)
      over.emplace_back(id, "its root is trusted no more");
    else if (link.until <= events_.now())
      over.emplace_back(id, "its pass has ended");
    else if (events_.isRevoked(link.root, link.key))
      over.emplace_back(id, kRevoked);
  }
  for (const auto& [id, why] : over) network_->close(id, why);
}

void MarketDoor::onUp(const net::LinkInfo& info) {
  const net::LinkId id = info.id;
  Link& link = links_[id];
  link.expected = info.name, link.key = info.key;
  // Strangers do not take the places of partners: the oldest one that this end has not dialled gives way.
  std::vector<net::LinkId> strangers;
  for (const auto& [other, known] : links_)
    if (known.org.empty() && known.expected.empty()) strangers.push_back(other);
  if (strangers.size() > kStrangers) network_->close(strangers.front(), "too many links without a pass");
  network_->send(id, frameOf(kPassFrame, pass_));
  loop_.after(kPassWithinMs, [self = self_, id] {
    if (*self == nullptr) return;
    MarketDoor& door = **self;
    if (const auto at = door.links_.find(id); at != door.links_.end() && at->second.org.empty())
      door.network_->close(id, "no pass was shown");
  });
}

// The device that has waited longest speaks from now on.
void MarketDoor::onDown(net::LinkId id, std::string_view reason) {
  const auto at = links_.find(id);
  if (at == links_.end()) return;
  const Link ended = std::move(at->second);
  links_.erase(at);
  if (ended.org.empty()) return;
  log_.info("market", "a link has ended", {{"org", ended.org}, {"why", std::string(reason)}});
  if (ended.waits || isConnected(ended.org)) return;
  const auto next = std::ranges::find_if(links_, [&](const auto& each) { return each.second.org == ended.org; });
  if (next == links_.end()) return;
  for (auto& [other, link] : links_)
    if (link.org == ended.org && link.key == next->second.key) link.waits = false, network_->trust(other);
  log_.info("market", "another device of an organisation is connected", {{"org", ended.org}});
  events_.connected(ended.org);
}

void MarketDoor::onFrame(net::LinkId id, std::string_view frame) {
  const auto at = links_.find(id);
  if (at == links_.end()) return;
  Link& link = at->second;
  const bool pass = static_cast<std::uint8_t>(frame[4]) == kPassFrame;
  if (!pass && link.org.empty()) return network_->close(id, "a letter before the pass");
  if (pass && frame.size() > kMostPass) return network_->close(id, "a pass is too large");
  if (!link.org.empty() && !mayRead(id, link, frame.size())) return;  // before it is parsed
  const auto text = parseJson(frame.substr(kFrameHeaderBytes), kLetterLimits);
  if (!text.ok()) return network_->close(id, "a frame is no JSON");
  pass ? onPass(id, link, *text) : onLetter(id, link, *text);
}

// Reading costs more than sending: an organisation has so many letters and bytes a second, and a large letter only
// where evidence is awaited of it.
bool MarketDoor::mayRead(net::LinkId id, Link& link, std::size_t bytes) {
  Pace& pace = link.waits ? link.pace : paces_[link.org];
  const int most = link.waits ? kLettersOfAWaiting : kLettersPerSecond;
  const std::int64_t now = net::Loop::nowMs() / 1'000;
  if (const std::int64_t since = std::clamp<std::int64_t>(now - pace.second, 0, 60); since > 0)
    pace = {now, 0, std::min(pace.left + std::size_t(since) * kBytesPerSecond, kBytesAtOnce), 0, pace.largeAt};
  const bool large = bytes > kLargeBytes;
  if (large && !(events_.awaitsEvidence && events_.awaitsEvidence(link.org))) {
    network_->close(id, "a letter is too large");
    return false;
  }
  if (++pace.letters <= most && large && now >= pace.largeAt) {
    pace.largeAt = now + 1 + std::int64_t(bytes / kBytesPerSecond);
    return true;
  }
  if (pace.letters <= most && !large && bytes <= pace.left) {
    pace.left -= bytes;
    return true;
  }
  pace.unread += bytes;
  if (pace.unread > kUnreadBytes) network_->close(id, "too many letters");
  return false;
}

// Empty, or why the other end is not believed.
std::string MarketDoor::passFlaw(Link& link, const json::value& frame, std::string& org) {
  const auto pass = market::openEnvelope<DevicePass>(frame);
  if (!pass.ok()) return "no pass: " + pass.error().message;
  const market::Roots roots = events_.roots();
  const auto root = roots.find(pass->document.org);
  if (root == roots.end()) return concat("the root of ", inQuotes(pass->document.org), " is not trusted here");
  org = pass->document.org;
  if (!market::isSignedBy(pass->text, root->second)) return "the pass is of another root than the trusted one";
  if (market::keyOf(pass->document.key) != link.key) return "the pass is of another key than the link's";
  if (pass->document.until <= events_.now()) return kEnded;
  if (events_.isRevoked(root->second, link.key)) return kRevoked;
  if (!link.expected.empty() && link.expected != org) return concat("here is ", org, ", not ", link.expected);
  if (!link.org.empty() && link.org != org) return concat("the link is of ", link.org);
  link.root = root->second;
  link.until = pass->document.until;
  return "";
}

void MarketDoor::onPass(net::LinkId id, Link& link, const json::value& frame) {
  std::string org;
  const std::string flaw = passFlaw(link, frame, org);
  if (!flaw.empty()) {
    if (network_->mayLog()) log_.warn("market", "a link is refused", {{"why", flaw}});
    // What a stranger says fills no records, nor does one who uses a partner's name again and again.
    const std::int64_t now = net::Loop::nowMs();
    const auto last = accusedMs_.find(org);
    const bool lie = !org.empty() && flaw != kEnded && flaw != kRevoked;
    if (lie && (last == accusedMs_.end() || now - last->second >= kAccuseAgainMs)) {
      accusedMs_[org] = now;
      events_.incident({"pass", org, flaw, {canonicalJson(frame)}});
    }
    return network_->close(id, flaw);
  }
  if (link.org.empty()) join(id, link, org);  // else it is the next pass of the same
}

void MarketDoor::join(net::LinkId id, Link& link, const std::string& org) {
  link.waits = std::ranges::any_of(links_, [&](const auto& each) {
    return each.second.org == org && !each.second.waits && each.second.key != link.key;
  });
  std::vector<net::LinkId> older;
  for (const auto& [other, known] : links_)
    if (known.org == org && known.waits == link.waits) older.push_back(other);
  const std::size_t most = link.waits ? kWaitingLinks : kLinksOfADevice;
  for (std::size_t i = 0; i + most <= older.size(); ++i) network_->close(older[i], "a newer link");
  link.org = org;
  if (link.waits) return log_.info("market", "another device of an organisation waits", {{"org", org}});
  network_->trust(id);
  log_.info("market", "an organisation is connected", {{"org", org}});
  events_.connected(org);
}

// Of each link, so that none takes another's place by telling much.
bool MarketDoor::mayTell(Link& link) {
  const std::int64_t now = net::Loop::nowMs() / 1'000;
  if (std::exchange(link.listsAt, now) != now) link.lists = 0;
  return ++link.lists <= kLettersOfAWaiting;
}

void MarketDoor::onLetter(net::LinkId id, Link& link, const json::value& frame) {
  const json::object* members = frame.if_object();
  const json::value* body = members == nullptr ? nullptr : members->if_contains("body");
  if (body == nullptr || !body->is_object()) return;
  Letter letter{link.org, org_, market::textOf(*members, "id"), market::textOf(*members, "kind"), body->get_object()};
  if (letter.id.empty() || letter.id.size() > kMostId || letter.kind.empty() || letter.kind.size() > kMostKind) return;
  if (const std::string why = market::textOf(letter.body, "because"); !why.empty() && network_->mayLog())
    log_.warn("market", "a partner is busy", {{"org", link.org}, {"why", std::string(clip(why))}});
  const bool list = letter.kind == kRevokedLetter;
  if (list && !mayTell(link)) return;
  if (list || !link.waits) return events_.letter(letter);
  if (letter.kind == "answer") return;
  const json::object busy{{"busy", true}, {"because", kWaits}};
  network_->send(
      id, frameOf(kLetterFrame, canonicalJson(json::object{{"id", letter.id}, {"kind", "answer"}, {"body", busy}})));
}

}  // namespace witan::node

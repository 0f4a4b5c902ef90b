#include "overlay/partial_view.h"

#include <algorithm>

namespace witan::overlay {

namespace {

constexpr std::size_t kMostWalks = 256;    // shuffles that came through and were not answered
constexpr std::size_t kMostWaits = 1'024;  // devices that are not asked again yet
constexpr std::int64_t kTickMs = 1'000;    // while something is to be done
constexpr std::size_t kDraws = 8;          // for one candidate

// Of `size` places, for one of `kinds` sites or addresses. With one kind there is nothing to spread over.
std::size_t shareOf(std::size_t size, std::size_t kinds) {
  return kinds <= 1 ? size : std::max<std::size_t>(2, (2 * size + kinds - 1) / kinds);
}

template <class Item>
const std::string& nameOf(const Item& item) {
  if constexpr (requires { item.first; })
    return item.first;
  else
    return item;
}

bool isWalk(ViewKind kind) {
  return kind == ViewKind::join || kind == ViewKind::forwardJoin || kind == ViewKind::shuffle ||
         kind == ViewKind::shuffleAnswer;
}

ViewMessage asking(ViewKind kind, bool urgent) { return {.kind = kind, .urgent = urgent}; }

}  // namespace

PartialView::PartialView(std::string self, ViewLimits limits, const Directory& directory, Random& random,
                         std::int64_t nowMs)
    : self_(std::move(self)), limits_(limits), directory_(directory), random_(random) {
  shuffleDueMs_ = nowMs + jittered(limits_.shuffleMs);
  rotateDueMs_ = nowMs + jittered(limits_.rotateMs);
}

void PartialView::join(const std::string& contact, std::int64_t nowMs, ViewEffects& out) {
  if (mayHave(contact) && !active_.contains(contact))
    request(contact, {.urgent = true, .joins = true, .sinceMs = nowMs}, out);
}

void PartialView::prefer(std::set<std::string, std::less<>> devices, std::int64_t nowMs, ViewEffects& out) {
  std::erase_if(devices, [&](const std::string& device) { return !mayHave(device); });
  while (devices.size() > limits_.links / 2) devices.erase(std::prev(devices.end()));
  preferred_ = std::move(devices);
  fill(nowMs, out);
}

void PartialView::directoryChanged(std::int64_t nowMs, ViewEffects& out) {
  std::erase_if(passive_, [&](const std::string& device) { return directory_.find(device) == nullptr; });
  std::erase_if(preferred_, [&](const std::string& device) { return directory_.find(device) == nullptr; });
  std::vector<std::string> gone;
  for (const auto& [device, link] : links_)
    if (directory_.find(device) == nullptr) gone.push_back(device);
  for (const std::string& device : gone) {
    if (active_.erase(device) > 0) out.emplace_back(Gone{device});
    requests_.erase(device);
    out.emplace_back(HangUp{device, "it is no member any more"});
  }
  fill(nowMs, out);
}

// --- links

void PartialView::linkUp(const std::string& device, bool dialled, std::int64_t nowMs, ViewEffects& out) {
  links_[device] = {.dialled = dialled, .sinceMs = nowMs, .windowMs = nowMs};
  nextMs_ = std::min(nextMs_, nowMs + kTickMs);
  if (!mayHave(device)) return out.emplace_back(HangUp{device, "it is no member"}), void();
  if (const auto at = requests_.find(device); at != requests_.end()) ask(device, at->second, out);
}

void PartialView::linkDown(const std::string& device, std::int64_t nowMs, ViewEffects& out) {
  links_.erase(device);
  if (requests_.erase(device) > 0) later(device, nowMs + limits_.refusedMs);
  if (active_.erase(device) > 0) {
    out.emplace_back(Gone{device});
    put(device);
  }
  fill(nowMs, out);
}

void PartialView::dialFailed(const std::string& device, std::int64_t nowMs, ViewEffects& out) {
  if (links_.contains(device)) return;
  requests_.erase(device);
  passive_.erase(device);
  later(device, nowMs + limits_.failedMs);
  fill(nowMs, out);
}

void PartialView::roundTrip(std::string_view device, std::int64_t micros) {
  if (const auto at = active_.find(device); at != active_.end()) at->second.micros = micros;
}

Status PartialView::received(const std::string& device, const ViewMessage& message, std::int64_t nowMs,
                             ViewEffects& out) {
  const auto at = links_.find(device);
  if (at == links_.end()) return okStatus();
  if (message.devices.size() > kMostNamed) return invalid(concat("a view of more than ", kMostNamed, " devices"));
  if (message.ttl > std::max(limits_.joinWalk, limits_.shuffleWalk))
    return invalid(concat("a walk of ", message.ttl, " steps"));
  if (isWalk(message.kind)) {
    Link& link = at->second;
    if (nowMs - link.windowMs >= limits_.windowMs) link.windowMs = nowMs, link.walks = 0;
    if (++link.walks > limits_.floods) return invalid("a flood of walks");
    if (link.walks > limits_.walks) return ++counters_.dropped, okStatus();
  }
  switch (message.kind) {
    case ViewKind::join:
    case ViewKind::neighbour: onRequest(device, message, nowMs, out); break;
    case ViewKind::neighbourAnswer: return onAnswer(device, message.accepted, nowMs, out);
    case ViewKind::disconnect:
      if (active_.erase(device) > 0) out.emplace_back(Gone{device}), put(device);
      later(device, nowMs + limits_.refusedMs);
      out.emplace_back(HangUp{device, "its view has no place for this device"});
      fill(nowMs, out);
      break;
    case ViewKind::forwardJoin:
      if (active_.contains(device)) onForwardJoin(device, message, nowMs, out);
      break;
    case ViewKind::shuffle:
      if (active_.contains(device)) onShuffle(device, message, nowMs, out);
      break;
    case ViewKind::shuffleAnswer: onShuffleAnswer(message, out);
  }
  return okStatus();
}

void PartialView::tick(std::int64_t nowMs, ViewEffects& out) {
  std::vector<std::string> late;
  for (const auto& [device, request] : requests_)
    if (nowMs - request.sinceMs >= limits_.answerMs) late.push_back(device);
  for (const std::string& device : late) {
    requests_.erase(device);
    passive_.erase(device);
    later(device, nowMs + limits_.failedMs);
    out.emplace_back(HangUp{device, "it did not answer"});
  }
  for (const auto& [device, link] : links_)
    if (!active_.contains(device) && !requests_.contains(device) && nowMs - link.sinceMs >= limits_.answerMs)
      out.emplace_back(HangUp{device, "it is in no view"});
  std::erase_if(walks_, [&](const auto& walk) { return nowMs - walk.second.sinceMs >= limits_.windowMs; });
  std::erase_if(notBefore_, [&](const auto& wait) { return wait.second <= nowMs; });
  if (nowMs >= shuffleDueMs_) shuffle(nowMs, out);
  if (nowMs >= rotateDueMs_) rotate(nowMs, out);
  fill(nowMs, out);
  const bool busy = !requests_.empty() || active_.size() < limits_.target || links_.size() > active_.size();
  nextMs_ = busy ? nowMs + kTickMs : std::min(shuffleDueMs_, rotateDueMs_);
}

void PartialView::leave(ViewEffects& out) {
  leaving_ = true;
  for (const auto& [device, neighbour] : active_)
    out.emplace_back(Say{device, {.kind = ViewKind::disconnect}}), out.emplace_back(Gone{device});
  active_.clear();
  requests_.clear();
}

std::vector<std::string> PartialView::active() const {
  std::vector<std::string> devices;
  for (const auto& [device, neighbour] : active_) devices.push_back(device);
  return devices;
}

// --- who

bool PartialView::mayHave(std::string_view device) const {
  return device != self_ && directory_.find(device) != nullptr;
}

template <class View>
bool PartialView::fitsPlace(const View& view, std::size_t size, std::string_view device,
                            std::string_view leaving) const {
  const Place* place = directory_.find(device);
  if (place == nullptr) return false;
  std::size_t site = shareOf(size, directory_.sites()), host = shareOf(size, directory_.hosts());
  for (const auto& item : view) {
    const std::string& other = nameOf(item);
    const Place* known = other == leaving || other == device ? nullptr : directory_.find(other);
    if (known == nullptr) continue;
    if (known->site == place->site && --site == 0) return false;
    if (!place->host.empty() && known->host == place->host && --host == 0) return false;
  }
  return true;
}

template <class Map>
std::string PartialView::drawFrom(const Map& map, const std::set<std::string_view>& except) {
  std::vector<const std::string*> names;
  for (const auto& item : map)
    if (!except.contains(nameOf(item))) names.push_back(&nameOf(item));
  return names.empty() ? std::string() : *names[random_.below(names.size())];
}

bool PartialView::isCandidate(const std::string& device, std::int64_t nowMs) const {
  const auto wait = notBefore_.find(device);
  return mayHave(device) && !active_.contains(device) && !requests_.contains(device) &&
         (wait == notBefore_.end() || wait->second <= nowMs) && fitsPlace(active_, limits_.links, device);
}

// Empty: none now.
std::string PartialView::candidate(std::int64_t nowMs) {
  fromDirectory_ = !fromDirectory_;
  for (const bool directory : {fromDirectory_, !fromDirectory_})
    for (std::size_t i = 0; i < kDraws; ++i)
      if (std::string device = directory ? directory_.draw(random_) : drawFrom(passive_); isCandidate(device, nowMs))
        return device;
  return {};
}

std::size_t PartialView::theirs() const {
  return static_cast<std::size_t>(std::ranges::count_if(active_, [](const auto& one) { return !one.second.ours; }));
}

// --- changes

void PartialView::fill(std::int64_t nowMs, ViewEffects& out) {
  if (leaving_) return;
  for (const std::string& device : preferred_)
    if (isCandidate(device, nowMs)) request(device, {.urgent = true, .sinceMs = nowMs}, out);
  const auto wants = [&] {
    const std::size_t coming = requests_.size();
    return coming < limits_.dials && (active_.size() + coming < limits_.target || ownNow() + coming < limits_.own);
  };
  while (wants()) {
    const std::string device = candidate(nowMs);
    if (device.empty()) break;
    request(device, {.urgent = active_.empty(), .sinceMs = nowMs}, out);
  }
  nextMs_ = std::min(nextMs_, nowMs + kTickMs);
}

void PartialView::request(const std::string& device, Request request, ViewEffects& out) {
  if (leaving_) return;
  requests_[device] = request;
  if (links_.contains(device)) return ask(device, request, out);
  ++counters_.dials;
  out.emplace_back(Dial{device});
}

void PartialView::ask(const std::string& device, const Request& request, ViewEffects& out) {
  out.emplace_back(Say{device, asking(request.joins ? ViewKind::join : ViewKind::neighbour, request.urgent)});
}

void PartialView::enter(const std::string& device, bool ours, std::int64_t nowMs, ViewEffects& out) {
  active_[device] = {.ours = ours, .sinceMs = nowMs};
  passive_.erase(device);
  out.emplace_back(Entered{device});
}

void PartialView::dismiss(const std::string& device, std::string_view why, std::int64_t nowMs, ViewEffects& out) {
  if (active_.erase(device) == 0) return;
  put(device);
  later(device, nowMs + limits_.refusedMs);
  out.emplace_back(Say{device, {.kind = ViewKind::disconnect}});
  out.emplace_back(Gone{device});
  out.emplace_back(HangUp{device, std::string(why)});
}

void PartialView::put(const std::string& device) {
  if (!mayHave(device) || active_.contains(device) || passive_.contains(device)) return;
  if (!fitsPlace(passive_, limits_.passive, device)) return;
  if (passive_.size() >= limits_.passive) passive_.erase(drawFrom(passive_));
  passive_.insert(device);
}

void PartialView::later(const std::string& device, std::int64_t untilMs) {
  if (notBefore_.size() >= kMostWaits) notBefore_.erase(drawFrom(notBefore_));
  notBefore_[device] = untilMs;
}

// For one more that this device did not choose.
bool PartialView::makeRoom(const std::string& device, bool urgent, std::int64_t nowMs, ViewEffects& out) {
  const bool full = active_.size() >= limits_.links || theirs() >= limits_.links - limits_.own;
  if (!full) return fitsPlace(active_, limits_.links, device);
  if (!urgent || nowMs - displacedMs_ < limits_.displaceMs) return false;
  std::set<std::string_view> stay(preferred_.begin(), preferred_.end());
  for (const auto& [name, neighbour] : active_)
    if (neighbour.ours) stay.insert(name);
  const std::string leaving = drawFrom(active_, stay);
  if (leaving.empty() || !fitsPlace(active_, limits_.links, device, leaving)) return false;
  displacedMs_ = nowMs;
  ++counters_.displaced;
  dismiss(leaving, "another device needs the place", nowMs, out);
  return true;
}

// Asks one from the Directory to take the place of a link.
void PartialView::rotate(std::int64_t nowMs, ViewEffects& out) {
  rotateDueMs_ = nowMs + jittered(limits_.rotateMs);
  if (leaving_ || active_.size() < limits_.target) return;
  for (std::size_t i = 0; i < kDraws; ++i)
    if (const std::string device = directory_.draw(random_); isCandidate(device, nowMs))
      return request(device, {.rotates = true, .sinceMs = nowMs}, out);
}

void PartialView::shuffle(std::int64_t nowMs, ViewEffects& out) {
  shuffleDueMs_ = nowMs + jittered(limits_.shuffleMs);
  if (active_.empty() || walks_.size() >= kMostWalks) return;
  const std::uint64_t nonce = random_.next();
  walks_[nonce] = {.sinceMs = nowMs};
  out.emplace_back(Say{drawFrom(active_),
                       {.kind = ViewKind::shuffle, .ttl = limits_.shuffleWalk, .nonce = nonce, .devices = sample()}});
}

// This device, some of its neighbours, and for the rest of its passive view.
std::vector<std::string> PartialView::sample() {
  std::vector<std::string> devices{self_};
  std::set<std::string_view> taken;
  const auto take = [&](const auto& from, std::size_t most) {
    for (std::size_t i = 0; i < most; ++i) {
      const auto at = from.find(drawFrom(from, taken));
      if (at == from.end()) return;
      taken.insert(nameOf(*at));
      devices.push_back(nameOf(*at));
    }
  };
  take(active_, (limits_.shuffled - 1) / 2);
  take(passive_, limits_.shuffled - devices.size());
  return devices;
}

void PartialView::integrate(const std::vector<std::string>& devices) {
  for (std::size_t i = 0; i < std::min(devices.size(), limits_.shuffled); ++i) put(devices[i]);
}

// Half to one and a half times as long, so that devices that began together do not go on in step.
std::int64_t PartialView::jittered(std::int64_t ms) {
  return ms / 2 + static_cast<std::int64_t>(random_.below(static_cast<std::uint64_t>(ms) + 1));
}

// --- messages

void PartialView::onRequest(const std::string& device, const ViewMessage& message, std::int64_t nowMs,
                            ViewEffects& out) {
  const bool known = active_.contains(device);
  const bool asked = requests_.erase(device) > 0;  // both ends ask
  const bool accepted = !leaving_ && mayHave(device) &&
                        (known || (asked && active_.size() < limits_.links) ||
                         makeRoom(device, message.urgent || message.kind == ViewKind::join, nowMs, out));
  out.emplace_back(Say{device, {.kind = ViewKind::neighbourAnswer, .accepted = accepted}});
  if (!accepted) return ++counters_.refused, put(device);
  if (known) return;
  enter(device, asked && links_[device].dialled, nowMs, out);
  if (message.kind != ViewKind::join) return;
  for (const auto& [other, neighbour] : active_)
    if (other != device)
      out.emplace_back(Say{other, {.kind = ViewKind::forwardJoin, .device = device, .ttl = limits_.joinWalk}});
}

Status PartialView::onAnswer(const std::string& device, bool accepted, std::int64_t nowMs, ViewEffects& out) {
  const auto at = requests_.find(device);
  if (at == requests_.end()) return okStatus();  // after its time
  const Request request = at->second;
  requests_.erase(at);
  if (accepted && request.rotates) {
    std::set<std::string_view> stay(preferred_.begin(), preferred_.end());
    std::string slowest;
    std::int64_t most = -1;
    for (const auto& [name, neighbour] : active_) {
      if (!neighbour.ours) stay.insert(name);
      if (!stay.contains(name) && neighbour.micros > most) slowest = name, most = neighbour.micros;
    }
    // Every second time the slowest; else any, so that not all links become short ones.
    if (++counters_.rotated % 2 == 0) slowest = drawFrom(active_, stay);
    if (!slowest.empty()) dismiss(slowest, "another device takes its place", nowMs, out);
  }
  if (accepted && active_.size() < limits_.links && fitsPlace(active_, limits_.links, device)) {
    enter(device, true, nowMs, out);
  } else {
    if (accepted) out.emplace_back(Say{device, {.kind = ViewKind::disconnect}});
    later(device, nowMs + limits_.refusedMs);
    out.emplace_back(HangUp{device, accepted ? "its place was taken meanwhile" : "it has no place for this device"});
  }
  fill(nowMs, out);
  return okStatus();
}

void PartialView::onForwardJoin(const std::string& device, const ViewMessage& message, std::int64_t nowMs,
                                ViewEffects& out) {
  if (!mayHave(message.device)) return;
  const std::string next = drawFrom(active_, {device, message.device});
  if (message.ttl == 0 || next.empty()) {
    if (isCandidate(message.device, nowMs) && active_.size() < limits_.links && requests_.size() < limits_.dials)
      request(message.device, {.sinceMs = nowMs}, out);
    return;
  }
  if (message.ttl == limits_.passiveWalk) put(message.device);
  ViewMessage forward = message;
  --forward.ttl;
  out.emplace_back(Say{next, std::move(forward)});
}

void PartialView::onShuffle(const std::string& device, const ViewMessage& message, std::int64_t nowMs,
                            ViewEffects& out) {
  if (walks_.contains(message.nonce) || walks_.size() >= kMostWalks) return;
  const std::string next = message.ttl == 0 ? std::string() : drawFrom(active_, {device});
  if (next.empty()) {
    out.emplace_back(Say{device, {.kind = ViewKind::shuffleAnswer, .nonce = message.nonce, .devices = sample()}});
    return integrate(message.devices);
  }
  walks_[message.nonce] = {device, nowMs};
  ViewMessage forward = message;
  --forward.ttl;
  out.emplace_back(Say{next, std::move(forward)});
}

void PartialView::onShuffleAnswer(const ViewMessage& message, ViewEffects& out) {
  const auto at = walks_.find(message.nonce);
  if (at == walks_.end()) return;
  const std::string back = std::move(at->second.back);
  walks_.erase(at);
  if (back.empty()) return integrate(message.devices);
  if (active_.contains(back)) out.emplace_back(Say{back, message});
}

}  // namespace witan::overlay

#include "replica/mesh.h"

#include <algorithm>

#include "base/concat.h"
#include "base/mutant.h"
#include "base/sha256.h"

namespace witan::node {

Mesh::Order Mesh::ranked(const Order& devices, const std::string& prefix) const {
  std::vector<std::pair<Hash, std::uint32_t>> all;
  for (const std::uint32_t device : devices) all.emplace_back(sha256(prefix + members_[device]), device);
  std::ranges::sort(all);
  Order order;
  for (const auto& [rank, device] : all) order.push_back(device);
  return order;
}

Mesh::Order Mesh::waysOf(std::string_view device) const { return ranked(keepers_, concat("witan way|", device, "|")); }

void Mesh::setMembers(const std::vector<MeshMember>& members) {
  if (full_) {  // they may become too many
    dialled_ = others_;
    for (auto& [device, link] : held_) link.wasWanted = true;
  }
  std::map<std::string, Order, std::less<>> groups;
  Order all;
  std::set<std::string, std::less<>> mine;
  members_.clear(), others_.clear();
  for (const MeshMember& member : members) {
    const auto index = static_cast<std::uint32_t>(members_.size());
    members_.push_back(member.device);
    all.push_back(index);
    for (const std::string& group : member.groups) groups[group].push_back(index);
    if (member.device == self_)
      me_ = index, mine = member.groups;
    else
      others_.insert(member.device);
  }
  full_ = links_ == 0 || others_.size() <= links_;
  rings_.clear(), walks_.clear(), always_.clear(), entitled_.clear();
  keepers_ = groups[std::string(kLedgerGroup)];
  keeper_ = mine.contains(kLedgerGroup);
  if (full_ || others_.size() == members_.size()) return;
  addRings(all, "");
  std::set<Order> done{all};
  for (const std::string& group : mine)
    if (done.insert(groups[group]).second) addRings(groups[group], group);
  if (!keeper_) addWalk({waysOf(self_), std::min(kWays, keepers_.size())});
  addOwn();
}

void Mesh::addOwn() {
  Order others;
  for (std::uint32_t at = 0; at < members_.size(); ++at)
    if (at != me_) others.push_back(at);
  std::erase_if(walks_, [](const Walk& one) { return one.own; });
  if (mutated("chooseNobody")) return;
  addWalk({ranked(others, concat("own|", seed_, "|", turn_, "|")), std::max<std::size_t>(1, links_ / 8), false, true});
}

void Mesh::addWalk(Walk walk) {
  if (walk.order.empty()) return;
  walk.reach = walk.count;
  walks_.push_back(std::move(walk));
}

void Mesh::addRings(const Order& members, std::string_view group) {
  if (members.size() <= links_ + 1) {
    for (const std::uint32_t member : members)
      if (member != me_) always_.insert(members_[member]);
    return;
  }
  for (std::size_t ring = 0; ring < rings(); ++ring) {
    Order order = ranked(members, concat("witan ring|", group, "|", ring, "|"));
    if (group.empty()) rings_.push_back(order);
    std::rotate(order.begin(), std::ranges::find(order, me_), order.end());
    order.erase(order.begin());
    addWalk({order});
    std::ranges::reverse(order);
    addWalk({std::move(order)});
  }
}

void Mesh::linked(const std::string& device, Link link, std::int64_t nowMs) {
  const auto [at, fresh] = held_.try_emplace(device);
  static_cast<Link&>(at->second) = std::move(link);
  if (!fresh) return;
  at->second.sinceMs = nowMs;
  at->second.wasWanted = dialled_.contains(device);  // perhaps not any more, when it is up
}

void Mesh::unlinked(const std::string& device, std::int64_t nowMs) {
  const auto at = held_.find(device);
  if (at == held_.end()) return;
  if (own_.contains(device) && nowMs - at->second.sinceMs < kRefusedMs) refused_[device] = nowMs + kRefusedMs;
  held_.erase(at);
  const auto ledTo = [&](const Walk& one) {
    const auto found = std::ranges::find(one.order, device, [&](std::uint32_t index) { return members_[index]; });
    return found - one.order.begin() < static_cast<std::ptrdiff_t>(one.reach);
  };
  if (mutated("neverHeal")) std::erase_if(walks_, ledTo);
}

// --- what is wanted

void Mesh::walk(Walk& walk, Names& wanted, std::int64_t nowMs) {
  while (true) {
    std::vector<std::string> found, untried;
    for (const std::uint32_t at : walk.order) {
      const std::string& device = members_[at];
      if (found.size() + untried.size() == walk.reach || found.size() == walk.count) break;
      if (walk.own && (wanted.contains(device) || refused_.contains(device))) continue;
      (held_.contains(device) ? found : untried).push_back(device);
    }
    const bool enough = found.size() == walk.count;
    const bool further = !enough && walk.reach < walk.order.size() && !mutated("passOverNobody");
    if (enough) walk.lacksMs = -1, walk.reach = found.size() + untried.size();
    if (!enough && walk.lacksMs < 0) walk.lacksMs = nowMs;
    if (further && nowMs - walk.lacksMs >= kPatienceMs) {
      walk.reach *= 2, walk.lacksMs = nowMs;
      continue;
    }
    if (further) dueAt(walk.lacksMs + kPatienceMs);
    if (enough && !walk.nearest) untried.clear();
    found.insert(found.end(), untried.begin(), untried.end());
    if (walk.own) own_.insert(found.begin(), found.end());
    return wanted.insert(found.begin(), found.end());
  }
}

std::vector<std::string> Mesh::neighboursOf(std::string_view device) const {
  std::vector<std::string> all;
  for (const Order& ring : rings_) {
    const auto found = std::ranges::find(ring, device, [&](std::uint32_t at) { return members_[at]; });
    if (found == ring.end()) continue;
    const auto at = static_cast<std::size_t>(found - ring.begin());
    all.push_back(members_[ring[(at + 1) % ring.size()]]);
    all.push_back(members_[ring[(at + ring.size() - 1) % ring.size()]]);
  }
  std::erase(all, self_);
  return all;
}

void Mesh::wantNeeds(Names& wanted, std::int64_t nowMs) {
  std::erase_if(neededMs_, [&](const auto& one) { return !needs_.contains(one.first); });
  for (const std::string& device : needs_) {
    if (!others_.contains(device)) continue;
    wanted.insert(device);
    std::int64_t& sinceMs = neededMs_.try_emplace(device, nowMs).first->second;
    if (held_.contains(device)) {
      sinceMs = nowMs;
      continue;
    }
    if (nowMs - sinceMs < kPatienceMs) {
      dueAt(sinceMs + kPatienceMs);
      continue;
    }
    for (const std::string& neighbour : neighboursOf(device)) wanted.insert(neighbour);
  }
}

Mesh::Changes Mesh::update(std::int64_t nowMs) {
  Changes changes;
  nextMs_ = std::numeric_limits<std::int64_t>::max();
  if (full_) return changes;
  std::erase_if(refused_, [&](const auto& one) { return one.second <= nowMs; });
  if (turnMs_ <= nowMs) {
    if (turnMs_ >= 0 && !mutated("chooseOnce")) ++turn_, addOwn();
    turnMs_ = nowMs + kOwnMs / 2 + static_cast<std::int64_t>(random_.below(kOwnMs));
  }
  dueAt(turnMs_);
  Names wanted = always_;
  own_.clear();
  wantNeeds(wanted, nowMs);
  for (const auto& [device, link] : held_)
    if (link.pinned) wanted.insert(device);
  for (Walk& one : walks_) walk(one, wanted, nowMs);
  for (const auto& [device, link] : held_)  // whoever carries a link that is wanted
    if (!link.via.empty() && wanted.contains(device)) wanted.insert(link.via);
  for (const std::string& device : wanted)
    if (!dialled_.contains(device)) changes.dial.push_back(device);
  for (const std::string& device : dialled_)
    if (!wanted.contains(device)) changes.rest.push_back(device);
  dialled_ = wanted;
  endUnwanted(wanted, nowMs, changes.end);
  return changes;
}

// --- what may end

// A device without copies of the ledgers may have its way to them through this one: both compute which.
bool Mesh::entitled(const std::string& device) {
  if (!keeper_) return false;
  const auto [at, fresh] = entitled_.try_emplace(device, false);
  const auto keeps = [&](std::uint32_t keeper) { return members_[keeper] == device; };
  if (fresh && others_.contains(device) && std::ranges::none_of(keepers_, keeps)) {
    const Order ways = waysOf(device);
    at->second = std::ranges::find(ways, me_) - ways.begin() < std::ptrdiff_t{kWays};
  }
  return at->second;
}

void Mesh::endUnwanted(const Names& wanted, std::int64_t nowMs, std::vector<std::string>& out) {
  std::vector<std::string> guests;
  std::size_t kept = 0;
  for (auto& [device, link] : held_) {
    if (wanted.contains(device) || carried_.contains(device) || entitled(device)) {
      link.wasWanted = link.wasWanted || wanted.contains(device);
      link.unwantedMs = -1;
      ++kept;
      continue;
    }
    if (link.unwantedMs < 0) link.unwantedMs = nowMs;
    if (!link.wasWanted)
      guests.push_back(device);
    else if (nowMs - link.unwantedMs >= kLingerMs)
      out.push_back(device);
    else
      dueAt(link.unwantedMs + kLingerMs);
  }
  const std::size_t room = std::max(links_ / 4, links_ - std::min(links_, kept));
  while (guests.size() > kMostGuests) out.push_back(crowdingGuest(guests));
  if (guests.size() <= room || held_.size() - out.size() <= links_) return;
  if (nowMs - endedMs_ < kLingerMs) return dueAt(endedMs_ + kLingerMs);
  if (const std::string guest = surplusGuest(guests, nowMs); !guest.empty()) {
    out.push_back(guest);
    endedMs_ = nowMs;
    dueAt(nowMs + kLingerMs);
  }
}

namespace {

// Addresses that one owner has as a rule: the first three numbers of an IPv4 address, the first four of an IPv6 one.
std::string_view siteOf(std::string_view address) {
  if (const std::size_t dot = address.rfind('.'); dot != std::string_view::npos) return address.substr(0, dot);
  std::size_t end = 0;
  for (int number = 0; number < 4 && end != std::string_view::npos; ++number) end = address.find(':', end + 1);
  return address.substr(0, end);
}

// Of `all` those whose name, as `nameOf` says, most of them have; where several names are so frequent, of each.
template <class Name>
std::vector<std::string> mostFrequent(const std::vector<std::string>& all, Name nameOf) {
  std::map<std::string_view, std::size_t> counts;
  std::size_t most = 0;
  for (const std::string& one : all) most = std::max(most, ++counts[nameOf(one)]);
  std::vector<std::string> out;
  std::ranges::copy_if(all, std::back_inserter(out),
                       [&](const std::string& one) { return counts[nameOf(one)] == most; });
  return out;
}

}  // namespace

// Those at the site that has most, and there at the address that has most.
std::vector<std::string> Mesh::crowd(const std::vector<std::string>& guests) const {
  const auto addressOf = [&](const std::string& guest) -> std::string_view {
    return held_.find(guest)->second.address;
  };
  return mostFrequent(mostFrequent(guests, [&](const std::string& guest) { return siteOf(addressOf(guest)); }),
                      addressOf);
}

// By chance, so that nobody can tell whose link goes; not the newest, so that there is a way in.
std::string Mesh::crowdingGuest(std::vector<std::string>& guests) {
  const auto sinceMs = [&](const std::string& guest) { return held_.find(guest)->second.sinceMs; };
  std::vector<std::string> older = guests;
  older.erase(std::ranges::max_element(older, {}, sinceMs));
  const std::vector<std::string> most = crowd(older);
  const std::string chosen = most[random_.below(most.size())];
  std::erase(guests, chosen);
  return chosen;
}

// Empty: none of the crowd has been here for long enough. Who links anew again and again spares only itself by that,
// and not at the cost of another address.
std::string Mesh::surplusGuest(const std::vector<std::string>& guests, std::int64_t nowMs) {
  std::vector<std::string> most = crowd(guests);
  std::erase_if(most, [&](const std::string& guest) {
    const std::int64_t untilMs = held_.find(guest)->second.sinceMs + kGuestMs;
    if (untilMs > nowMs) dueAt(untilMs);
    return untilMs > nowMs;
  });
  return most.empty() ? "" : most[random_.below(most.size())];
}

}  // namespace witan::node

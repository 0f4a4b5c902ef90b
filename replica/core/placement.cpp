#include "replica/core/placement.h"

#include <algorithm>
#include <tuple>

#include "base/concat.h"
#include "base/crypto.h"
#include "base/mutant.h"
#include "replica/core/messages.h"

namespace witan::node {

namespace {

std::string_view domainOf(std::string_view partition) { return partition.substr(0, partition.rfind('/')); }

// No partition, device or lot has a line end in it.
std::uint64_t scoreOf(std::string_view partition, const LedgerMember& member) {
  return firstWord(sha256(concat(partition, "\n", member.device, member.lot.empty() ? "" : "\n", member.lot)));
}

}  // namespace

Placement::Placement(std::vector<LedgerMember> members, const std::vector<DomainCopies>& copies, std::uint64_t version,
                     const std::vector<DomainRetention>& retention)
    : version_(version), members_(std::move(members)) {
  std::ranges::sort(members_, {}, &LedgerMember::device);
  for (const DomainCopies& of : copies)
    if (const std::uint64_t most = std::max(of.copies, kLeastCopies); most < members_.size()) copies_[of.domain] = most;
  for (const DomainRetention& of : retention)
    if (of.entries > 0 || of.days > 0) retention_[of.domain] = of;
}

bool Placement::partial(std::string_view partition) const { return copies_.contains(domainOf(partition)); }

bool Placement::keeps(std::string_view device, std::string_view partition) const {
  return !partial(partition) || std::ranges::binary_search(keepers(partition), device);
}

const std::vector<std::string>& Placement::keepers(std::string_view partition) const {
  static const std::vector<std::string> none;
  const auto most = copies_.find(domainOf(partition));
  return most == copies_.end() ? none : chosen(chosen_, partition, most->second);
}

const DomainRetention* Placement::retention(std::string_view partition) const {
  const auto at = retention_.find(domainOf(partition));
  return at == retention_.end() ? nullptr : &at->second;
}

const std::vector<std::string>& Placement::whole(std::string_view partition) const {
  static const std::vector<std::string> none;
  const DomainRetention* const of = retention(partition);
  if (of == nullptr) return none;
  const auto copies = copies_.find(domainOf(partition));
  return chosen(whole_, partition, copies == copies_.end() ? of->whole : std::min(of->whole, copies->second));
}

bool Placement::keepsWhole(std::string_view device, std::string_view partition) const {
  return retention(partition) == nullptr || std::ranges::binary_search(whole(partition), device);
}

const std::vector<std::string>& Placement::chosen(Chosen& known, std::string_view partition, std::size_t most) const {
  const auto at = known.find(partition);
  return at != known.end() ? at->second : known.emplace(partition, choose(partition, most)).first->second;
}

// Each member's place within its site comes before its score: the best of every site, then the second of every site.
std::vector<std::string> Placement::choose(std::string_view partition, std::size_t most) const {
  std::vector<std::pair<std::uint64_t, const LedgerMember*>> ranked;
  for (const LedgerMember& member : members_) ranked.emplace_back(scoreOf(partition, member), &member);
  std::ranges::sort(ranked, [](const auto& one, const auto& other) {
    return std::tie(other.first, one.second->device) < std::tie(one.first, other.second->device);
  });
  std::map<std::string_view, std::size_t> ofSite;
  std::vector<std::pair<std::size_t, const LedgerMember*>> order;
  for (const auto& [score, member] : ranked)
    order.emplace_back(member->site.empty() || mutated("ignoreSites") ? 0 : ofSite[member->site]++, member);
  std::ranges::stable_sort(order, {}, &std::pair<std::size_t, const LedgerMember*>::first);
  std::vector<std::string> chosen;
  for (const auto& [place, member] : std::span(order).first(std::min(most, order.size())))
    chosen.push_back(member->device);
  std::ranges::sort(chosen);
  return chosen;
}

}  // namespace witan::node

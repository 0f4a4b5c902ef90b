// Placement: which devices keep copies of which partitions, when not all do; and which of them keep each entry, where
// others may prune.
//
// Each device computes it from the same members and numbers (the signed roster), so all agree without a word.
// Rendezvous hashing: every pair of a member and a partition has a score, and the best keep it, of each site one before
// a second of any. So partitions spread evenly, and one member that comes or goes moves only what it gets or had.
//
// A value; one thread at a time, since it remembers what it computed.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/reflect.h"

namespace witan::node {

// Fewer would make the loss of one disk the loss of decisions.
inline constexpr std::uint64_t kLeastCopies = 2;

struct LedgerMember {
  std::string device;
  std::string site;   // of one place: one fire, one thief, one power line; empty: a site of its own
  std::string lot{};  // drawn after it chose its name, so that no device names itself a keeper; the same everywhere
  friend bool operator==(const LedgerMember&, const LedgerMember&) = default;
};

// How many copies of each partition of a domain there are.
struct DomainCopies {
  std::string domain;
  std::uint64_t copies = 0;
  WITAN_MEMBERS(DomainCopies, domain, copies)
  friend bool operator==(const DomainCopies&, const DomainCopies&) = default;
};

// What copies of a domain's partitions may prune. An entry stays that either number keeps; 0: that number keeps none.
// With both 0 all stays.
struct DomainRetention {
  std::string domain;
  std::uint64_t whole = kLeastCopies;  // so many copies of each partition keep every entry
  std::uint64_t entries = 0;           // the newest so many
  std::uint64_t days = 0;              // those of so many days
  WITAN_MEMBERS(DomainRetention, domain, whole, entries, days)
  friend bool operator==(const DomainRetention&, const DomainRetention&) = default;
};

class Placement {
 public:
  // Every member keeps everything.
  Placement() = default;
  // `members`: all that may keep ledgers, each once. Of domains that `copies` does not name they all keep everything.
  // `retention`: of domains that it does not name no copy prunes. `version`: of what all come from. It grows.
  Placement(std::vector<LedgerMember> members, const std::vector<DomainCopies>& copies, std::uint64_t version = 1,
            const std::vector<DomainRetention>& retention = {});

  std::uint64_t version() const { return version_; }

  // Whether some member is not to keep the partition ("{domain}/{number}"). O(log domains).
  bool partial(std::string_view partition) const;
  // Whether a device is to keep it. Where it is not partial, every device is.
  bool keeps(std::string_view device, std::string_view partition) const;
  // Who is to keep it, by name. Empty: it is not partial. O(members log members) the first time.
  const std::vector<std::string>& keepers(std::string_view partition) const;

  // Null: every copy keeps every entry.
  const DomainRetention* retention(std::string_view partition) const;
  // Who is to keep every entry, by name: the best of its keepers. Empty: all are. O(members log members) the first
  // time.
  const std::vector<std::string>& whole(std::string_view partition) const;
  bool keepsWhole(std::string_view device, std::string_view partition) const;

 private:
  using Chosen = std::map<std::string, std::vector<std::string>, std::less<>>;
  std::vector<std::string> choose(std::string_view partition, std::size_t most) const;
  const std::vector<std::string>& chosen(Chosen& known, std::string_view partition, std::size_t most) const;

  std::uint64_t version_ = 0;
  std::vector<LedgerMember> members_;                       // by device
  std::map<std::string, std::size_t, std::less<>> copies_;  // fewer than there are members
  std::map<std::string, DomainRetention, std::less<>> retention_;
  mutable Chosen chosen_, whole_;
};

}  // namespace witan::node

// LedgerPlace: how far a reader has come in a partition's ledger, as a text that it keeps and gives back. A number
// alone is no place: when a takeover parts a log, others get the numbers of the entries that were set aside. So a place
// also says what the last entry was, and under which epochs it came.
//
//   DOMAIN/NUMBER/SEQ.LEAF[.EPOCH-OWNER-BEFORE]...
//
// SEQ 0, alone: before the first entry. LEAF: the first 16 hex digits of the entry's leaf hash. Then up to four epochs
// that have entries, oldest first: the number, 8 hex digits of the SHA-256 of the owner's name, and how many entries
// lay before it.
//
// Values, and functions on a copy of the partition.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/quote.h"
#include "base/sha256.h"
#include "base/utf8.h"
#include "node/ledgers/ledger_reader.h"
#include "replica/core/partition_host.h"

namespace witan::node {

struct LedgerPlace {
  struct Epoch {
    std::uint64_t number = 0;
    std::string owner;  // digits
    std::uint64_t before = 0;
  };
  std::uint64_t seq = 0;
  std::string leaf;           // digits
  std::vector<Epoch> epochs;  // oldest first

  // Without DOMAIN/NUMBER/.
  std::string text() const;
};

namespace place_parts {

inline constexpr std::size_t kLeafDigits = 16, kOwnerDigits = 8, kMostEpochs = 4;

inline std::string leafDigits(const Hash& leaf) { return toHex(leaf).substr(0, kLeafDigits); }
inline std::string ownerDigits(std::string_view owner) { return toHex(sha256(owner)).substr(0, kOwnerDigits); }

inline bool takeNumber(std::string_view text, std::uint64_t& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
}

inline bool takeDigits(std::string_view text, std::size_t count, std::string& digits) {
  digits = text;
  return text.size() == count && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

// The part before `mark`, which is taken from the text with it.
inline std::string_view next(std::string_view& text, char mark) {
  const std::string_view part = text.substr(0, text.find(mark));
  text.remove_prefix(std::min(text.size(), part.size() + 1));
  return part;
}

inline bool takeEpochs(std::string_view text, LedgerPlace& place) {
  while (!text.empty()) {
    std::string_view one = next(text, '.');
    LedgerPlace::Epoch epoch;
    if (!takeNumber(next(one, '-'), epoch.number) || !takeDigits(next(one, '-'), kOwnerDigits, epoch.owner) ||
        !takeNumber(one, epoch.before))
      return false;
    const std::uint64_t least = place.epochs.empty() ? 0 : place.epochs.back().before + 1;
    if (epoch.before < least || epoch.before >= place.seq || place.epochs.size() == kMostEpochs) return false;
    place.epochs.push_back(std::move(epoch));
  }
  return true;
}

inline bool same(const kernel::EpochRecord& here, const LedgerPlace::Epoch& theirs) {
  return here.number == theirs.number && here.entries == theirs.before && ownerDigits(here.owner) == theirs.owner;
}

}  // namespace place_parts

inline std::string LedgerPlace::text() const {
  if (seq == 0) return "0";
  std::string text = concat(seq, ".", leaf);
  for (const Epoch& epoch : epochs) text += concat(".", epoch.number, "-", epoch.owner, "-", epoch.before);
  return text;
}

inline LedgerPlace placeOf(const PartitionHost& host, const StoredEntry& entry) {
  LedgerPlace place{entry.seq, place_parts::leafDigits(entry.leaf), {}};
  std::uint64_t after = entry.seq;  // entries up to this one, less those of the epochs that were taken
  const auto& epochs = host.partition().epochs();
  for (auto at = epochs.rbegin(); at != epochs.rend() && place.epochs.size() < place_parts::kMostEpochs; ++at) {
    if (at->entries >= after) continue;  // later, or without an entry
    place.epochs.insert(place.epochs.begin(), {at->number, place_parts::ownerDigits(at->owner), at->entries});
    after = at->entries;
  }
  return place;
}

// After entry `seq`; where that was pruned, before all that stands. Errors: notFound; of reading the log.
inline Result<LedgerPlace> placeAt(const PartitionHost& host, std::uint64_t seq) {
  LedgerPlace place;
  if (seq < host.firstEntry()) return place;
  WITAN_TRY(found, visitEntry(host.rows(), seq, [&](const StoredEntry& entry) { place = placeOf(host, entry); }));
  if (!found) return notFound(concat("no entry ", seq, " in ", host.id()), "see: witan ledger tail");
  return place;
}

// The partition and the place in it. Errors: invalid, of no such form.
inline Result<std::pair<std::string, LedgerPlace>> readPlace(std::string_view text) {
  const auto refused = [&](std::string_view why) {
    return invalid(
        concat(inQuotes(clip(text, 100)), " ", why),
        "give back the id of an event; or DOMAIN/NUMBER/SEQ. and the first 16 digits of the entry's leafHash");
  };
  const std::size_t slash = text.rfind('/');
  if (slash == text.npos || text.substr(0, slash).find('/') == text.npos) return refused("is no place in a ledger");
  std::string_view rest = text.substr(slash + 1);
  LedgerPlace place;
  if (!place_parts::takeNumber(place_parts::next(rest, '.'), place.seq)) return refused("is no place in a ledger");
  const bool bare = rest.empty() && !text.ends_with('.');
  if (bare && place.seq > 0) return refused("does not say what that entry was, and entries may get other numbers");
  if (!bare &&
      (place.seq == 0 || !place_parts::takeDigits(place_parts::next(rest, '.'), place_parts::kLeafDigits, place.leaf) ||
       !place_parts::takeEpochs(rest, place)))
    return refused("is no place in a ledger");
  return std::pair(std::string(text.substr(0, slash)), std::move(place));
}

// Number of the last durable entry; 0: there is none.
inline Result<std::uint64_t> lastDurable(const PartitionHost& host) {
  std::uint64_t last = 0;
  for (std::uint64_t n = host.durableBatches(); n > host.first() && last == 0; --n)
    WITAN_DO(visitBatch(host.rows(), n - 1, [&](const StoredEntry& entry) { last = entry.seq; }));
  return last > 0 ? last : host.firstEntry() - 1;
}

// From which entry on the reader's entries are not those of this log. None: it has them all. What lies before is the
// same in both, unless an owner forked an epoch of its own, which is an incident. O(log batches + epochs). Requires:
// its entry was not pruned.
inline Result<std::optional<std::uint64_t>> partedFrom(const PartitionHost& host, const LedgerPlace& place) {
  using From = std::optional<std::uint64_t>;
  if (place.seq == 0) return From();
  WITAN_TRY(last, lastDurable(host));
  bool stands = false;
  if (place.seq <= last) {
    WITAN_TRY(found, visitEntry(host.rows(), place.seq, [&](const StoredEntry& entry) {
                stands = place_parts::leafDigits(entry.leaf) == place.leaf;
              }));
    if (found && stands) return From();
  }
  const auto& here = host.partition().epochs();
  std::uint64_t theirEnd = place.seq;
  for (auto theirs = place.epochs.rbegin(); theirs != place.epochs.rend(); ++theirs) {
    const auto at = std::ranges::find_if(here, [&](const auto& record) { return place_parts::same(record, *theirs); });
    if (at == here.end()) {
      theirEnd = theirs->before;
      continue;
    }
    const std::uint64_t end = at + 1 == here.end() ? last : std::min(last, (at + 1)->entries);
    const bool forked = theirs == place.epochs.rbegin() && end >= place.seq;  // the owner decided twice
    return From(forked ? at->entries + 1 : std::min(end, theirEnd) + 1);
  }
  return From(1);
}

}  // namespace witan::node

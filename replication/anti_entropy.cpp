#include "replication/anti_entropy.h"

#include <algorithm>
#include <map>

#include "replication/space_rows.h"
#include "replication/writer.h"

namespace witan::replication {

namespace {

constexpr std::uint64_t kFewRecords = 32;  // listed rather than split
constexpr std::uint64_t kParts = 16;
constexpr std::size_t kItemsBytes = 256 * 1024;
constexpr std::size_t kAnswerBytes = 1024 * 1024;   // of LISTs in an answer
constexpr std::size_t kQueuedHashes = 1024 * 1024;  // that a peer may have asked for and not read
constexpr std::size_t kNeedHashes = 1024;
constexpr std::size_t kListEntryBytes = 16;
constexpr Seq kEventsAgain = 65'536;  // of a writer, the latest
// Shorter ranges are always listed: records that share so many bits of a hash are the same one.
constexpr std::uint64_t kShortRange = 1 << 12;

Digest digestOf(const Range& range) { return {range.count, static_cast<Uint128>(range.sumHigh) << 64 | range.sumLow}; }

Range rangeOf(SpaceSync& sync, std::uint64_t first, std::uint64_t last) {
  const Digest digest = sync.space().table().digest(first, last);
  return {first, last, digest.count, static_cast<std::uint64_t>(digest.sum >> 64),
          static_cast<std::uint64_t>(digest.sum)};
}

void split(SpaceSync& sync, std::uint64_t first, std::uint64_t last, std::vector<Range>& parts) {
  const std::uint64_t step = (last - first) / kParts;
  for (std::uint64_t i = 0; i < kParts; ++i)
    parts.push_back(
        rangeOf(sync, first + i * (step + 1), i + 1 == kParts ? last : std::min(last, first + i * (step + 1) + step)));
}

Digest digestOf(const RecordSchemas& schemas, const Record& record) {
  Digest digest;
  for (const Held* held : record.versions)
    if (!held->tombstone && schemas.traits(record.kind).digested) digest.add(held->fingerprint());
  return digest;
}

// The records of a range that count, as a LIST has them.
std::map<std::uint64_t, std::uint64_t> listOf(Space& space, std::uint64_t first, std::uint64_t last) {
  std::map<std::uint64_t, std::uint64_t> out;
  space.table().visit(first, last, [&](Record& record) {
    if (const Digest digest = digestOf(space.schemas(), record); digest.count > 0)
      out[record.hash] += static_cast<std::uint64_t>(digest.sum);
    return true;
  });
  return out;
}

std::string bytesOf(const std::map<std::uint64_t, std::uint64_t>& list) {
  std::string out;
  for (const auto& [hash, sum] : list) {
    rows::putBigEndian(out, __builtin_bswap64(hash), 8);
    rows::putBigEndian(out, __builtin_bswap64(sum), 8);
  }
  return out;
}

std::uint64_t littleEndian(std::string_view bytes) { return __builtin_bswap64(rows::bigEndian(bytes.substr(0, 8))); }

Status checkRanges(const std::vector<Range>& ranges) {
  if (ranges.size() > kMaxRanges) return invalid(concat("more than ", kMaxRanges, " ranges"));
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    if (ranges[i].first > ranges[i].last) return invalid("a range that ends before it begins");
    if (i > 0 && ranges[i].first <= ranges[i - 1].last) return invalid("ranges that overlap or are out of order");
  }
  return okStatus();
}

void appendRanges(std::string& out, WordWriter& words, std::uint16_t space, bool question, std::vector<Range> ranges) {
  appendFrame(out, words, Ranges{space, question, std::move(ranges)});
}

void appendList(SpaceSync& sync, std::uint16_t space, std::uint64_t first, std::uint64_t last, std::string& out,
                WordWriter& words) {
  const std::string records = bytesOf(listOf(sync.space(), first, last));
  const std::string clock = sync.wholeClock();
  appendFrame(out, words, RangeList{space, first, last, asData(records), asData(clock)});
}

std::vector<Kind> eventKinds(const RecordSchemas& schemas) {
  std::vector<Kind> out;
  for (unsigned kind = 0; kind < 256; ++kind)
    if (schemas.traits(static_cast<Kind>(kind)).event) out.push_back(static_cast<Kind>(kind));
  return out;
}

}  // namespace

std::string tookBackRow(std::string_view space, Kind kind, std::string_view key) {
  return concat(kTookBackRow, space, "|", static_cast<unsigned>(kind), "|", key);
}

void AntiEntropy::start(std::string& out, WordWriter& words) {
  std::vector<Range> parts;
  split(sync_, 0, ~std::uint64_t{0}, parts);
  ++outstanding_;
  appendRanges(out, words, space_, true, std::move(parts));
}

Status AntiEntropy::onRanges(const Ranges& answer, std::string& out, WordWriter& words) {
  WITAN_DO(checkRanges(answer.ranges));
  if (outstanding_ == 0) return invalid("an answer to no question");
  --outstanding_;
  std::vector<Range> next;
  for (const Range& range : answer.ranges) {
    const Range mine = rangeOf(sync_, range.first, range.last);
    if (digestOf(mine) == digestOf(range)) continue;
    // Few over there: the same range again is answered by a list.
    if (range.count <= kFewRecords || range.last - range.first < kShortRange)
      next.push_back(mine);
    else
      split(sync_, range.first, range.last, next);
  }
  for (std::size_t at = 0; at < next.size(); at += kMaxRanges) {
    const auto end = next.begin() + static_cast<std::ptrdiff_t>(std::min(next.size(), at + kMaxRanges));
    ++outstanding_;
    appendRanges(out, words, space_, true, {next.begin() + static_cast<std::ptrdiff_t>(at), end});
  }
  return okStatus();
}

Status answerRanges(SpaceSync& sync, std::uint16_t space, const Ranges& question, std::string& out, WordWriter& words) {
  WITAN_DO(checkRanges(question.ranges));
  const std::size_t before = out.size();
  std::vector<Range> parts;
  for (const Range& range : question.ranges) {
    const Range mine = rangeOf(sync, range.first, range.last);
    if (digestOf(mine) == digestOf(range)) continue;
    if (out.size() - before > kAnswerBytes)
      parts.push_back(mine);
    else if (mine.count <= kFewRecords || range.last - range.first < kShortRange)
      appendList(sync, space, range.first, range.last, out, words);
    else if (parts.size() + kParts <= kMaxRanges)
      split(sync, range.first, range.last, parts);
    else
      parts.push_back(mine);
  }
  appendRanges(out, words, space, false, std::move(parts));
  return okStatus();
}

Status AntiEntropy::onList(const RangeList& list, ItemsQueue& mine, std::string& out, WordWriter& words) {
  if (outstanding_ == 0) return invalid("a LIST without a question");
  WITAN_TRY(applied, sync_.readClockRows(asText(list.rows)));
  if (!applied.clock || list.first > list.last) return invalid("a LIST without a vector, or of no range");
  std::vector<std::uint64_t> wanted;
  Doubts doubts;
  WITAN_DO(compare(list, *applied.clock, wanted, doubts, mine));
  for (std::size_t at = 0; at < wanted.size(); at += kNeedHashes) {
    std::string hashes;
    ++needs_, ++outstanding_;
    for (std::size_t i = at; i < std::min(wanted.size(), at + kNeedHashes); ++i) {
      rows::putBigEndian(hashes, __builtin_bswap64(wanted[i]), 8);
      for (auto of = doubts.lower_bound({wanted[i]}); of != doubts.end() && of->hash == wanted[i]; ++of)
        doubts_[needs_].insert(*of);
    }
    appendFrame(out, words, Need{space_, asData(hashes)});
  }
  return okStatus();
}

// Collects what to ask for and what to send; in `adopt` drops or doubts what the other may have outlived.
Status AntiEntropy::compare(const RangeList& list, const VersionVector& theirs, std::vector<std::uint64_t>& wanted,
                            Doubts& doubts, ItemsQueue& mine) {
  const std::string_view bytes = asText(list.records);
  if (bytes.size() % kListEntryBytes != 0) return invalid("a LIST with part of an entry");
  std::map<std::uint64_t, std::uint64_t> other;
  for (std::size_t at = 0; at < bytes.size(); at += kListEntryBytes)
    other[littleEndian(bytes.substr(at))] = littleEndian(bytes.substr(at + 8));
  const auto here = listOf(sync_.space(), list.first, list.last);
  const auto differs = [&](std::uint64_t hash) {
    std::vector<Record*> records;
    sync_.space().table().visit(hash, hash, [&](Record& record) {
      records.push_back(&record);
      return true;
    });
    if (mode_ == RepairMode::unite && !records.empty()) return mine.push(hash);
    // What the other does hold comes back with its ITEMS.
    for (Record* record : records) dropCovered(*record, theirs, other.contains(hash) ? &doubts : nullptr);
  };
  for (const auto& [hash, sum] : other) {
    const auto at = here.find(hash);
    if (at == here.end() || at->second != sum) wanted.push_back(hash);
    // There may be a tombstone here, of a commit that the other takes for one that it has.
    if (at == here.end()) differs(hash);
  }
  for (const auto& [hash, sum] : here) {
    const auto at = other.find(hash);
    if (at != other.end() && at->second == sum) continue;
    if (at == other.end()) wanted.push_back(hash);  // there may be a tombstone
    differs(hash);
  }
  wantEvents(wanted);
  return okStatus();
}

// No digest counts events, so each is asked for by its name.
void AntiEntropy::wantEvents(std::vector<std::uint64_t>& wanted) {
  Space& space = sync_.space();
  const std::vector<Kind> kinds = events_.empty() ? std::vector<Kind>() : eventKinds(space.schemas());
  for (auto& [writer, events] : events_) {
    const Seq last = events.asked == 0 ? space.vector().at(writer) : events.asked - 1;
    const Seq first = std::max(events.from, last - std::min(last, kEventsAgain) + 1);
    if (first > last) continue;
    for (Seq seq = first; seq <= last; ++seq)
      for (const Kind kind : kinds)
        wanted.push_back(space.table().hashOf(kind, concat(space.writers().name(writer), ":", seq)));
    events.asked = events.from;
  }
}

bool AntiEntropy::isOwn(const Held& held) const {
  const Space& space = sync_.space();
  return deviceOf(space.writers().name(held.writer)) == deviceOf(space.selfName());
}

void AntiEntropy::dropCovered(Record& record, const VersionVector& theirs, Doubts* doubts) {
  const std::vector<Held*> versions(record.versions.begin(), record.versions.end());
  Space& space = sync_.space();
  for (Held* held : versions) {
    if (!theirs.covers(held->writer, held->seq)) continue;
    const auto [writer, seq] = std::pair(held->writer, held->seq);
    const bool stays = doubts != nullptr;
    if (isOwn(*held)) {
      if (tookBack_ && !stays) tookBack_(record);
      const auto known = events_.try_emplace(writer, Events{seq}).first;
      known->second.from = std::min(known->second.from, seq);
    }
    if (!stays)
      space.drop(*held);  // the last one takes the record along
    else if (const Doubted doubted{record.hash, writer, seq}; doubted_.insert(doubted).second)
      doubts->insert(doubted);
  }
}

void AntiEntropy::drop(const Doubted& one, const std::function<bool(const Held&)>& gone) {
  Held* found = nullptr;
  sync_.space().table().visit(one.hash, one.hash, [&](Record& record) {
    for (Held* held : record.versions)
      if (held->writer == one.writer && held->seq == one.seq && gone(*held)) found = held;
    return true;
  });
  if (found == nullptr) return;
  if (tookBack_ && isOwn(*found)) tookBack_(*found->record);
  sync_.space().drop(*found);
}

Status ItemsQueue::add(const Need& need) {
  const std::string_view hashes = asText(need.hashes);
  if (hashes.empty() || hashes.size() % 8 != 0 || hashes.size() > 8 * kNeedHashes)
    return invalid(concat("a NEED of ", hashes.size(), " bytes"));
  if (bytes_ + hashes.size() > 8 * kQueuedHashes) return invalid("it asks for more records than it reads");
  bytes_ += hashes.size();
  lots_.push_back({std::string(hashes), true});
  return okStatus();
}

void ItemsQueue::push(std::uint64_t hash) {
  if (lots_.empty() || lots_.back().asked) lots_.emplace_back();
  rows::putBigEndian(lots_.back().hashes, __builtin_bswap64(hash), 8);
  bytes_ += 8;
}

Status ItemsQueue::send(SpaceSync& sync, std::uint16_t space, std::string& out, WordWriter& words, std::size_t limit) {
  std::string rows;
  const auto cut = [&](bool more) {
    sync.putSeals(rows);
    appendFrame(out, words, Items{space, more, asData(rows)});
    rows.clear();
  };
  while (!lots_.empty() && out.size() < limit) {
    const Lot& lot = lots_.front();
    const std::uint64_t hash = littleEndian(std::string_view(lot.hashes).substr(at_));
    Status status = okStatus();
    sync.space().table().visit(hash, hash, [&](Record& record) {
      for (const Held* held : record.versions) {
        if (status.ok()) status = sync.versionRows(rows, *held);
        if (rows.size() >= kItemsBytes) cut(true);  // one version at most beyond it, so it fits into a frame
      }
      return status.ok();
    });
    WITAN_DO(status);
    at_ += 8;
    bytes_ -= 8;
    if (at_ < lot.hashes.size()) continue;
    if (lot.asked || !rows.empty()) cut(!lot.asked);
    at_ = 0;
    lots_.pop_front();
  }
  if (!rows.empty()) cut(true);
  return okStatus();
}

void AntiEntropy::onItem(const Incoming& item) {
  const auto of = doubts_.find(answered_ + 1);
  if (of == doubts_.end()) return;
  const std::uint64_t hash = sync_.space().table().hashOf(item.kind, item.key);
  const Doubted known{hash, item.writer, item.seq};
  // Under its dot, or one that has replaced it here, the other has something else.
  const auto gone = [&](const Held& held) {
    return held.record->kind == item.kind && held.record->key() == item.key && held.saw(item.writer, item.seq);
  };
  for (auto at = of->second.lower_bound({hash}); at != of->second.end() && at->hash == hash; ++at) drop(*at, gone);
  of->second.erase(known), doubted_.erase(known);
}

void AntiEntropy::onItems(bool more, bool outrun) {
  if (more || outstanding_ == 0) return;
  --outstanding_;
  const auto of = doubts_.find(++answered_);
  if (of == doubts_.end()) return;
  for (const Doubted& one : of->second) {
    doubted_.erase(one);
    if (!outrun) drop(one, [](const Held&) { return true; });
  }
  doubts_.erase(of);
}

}  // namespace witan::replication

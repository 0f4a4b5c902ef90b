#include "replication/incarnation.h"

#include <charconv>

#include "base/bytes.h"
#include "base/quote.h"
#include "replication/writer.h"

namespace witan::replication {

namespace {

// Describes a counter outside of its lease.
std::string outside(std::string_view space, std::uint64_t counter, const Lease& lease) {
  return concat("space ", space, ": the store's last counter is ", counter, ", the record beside it says ",
                lease.from == lease.to ? concat("exactly ", lease.to) : concat(lease.from, " to ", lease.to));
}

IncarnationDecision decideForWriter(const StoreIncarnation& store, const HighWater& record) {
  for (const auto& [space, lease] : record.spaces) {
    const auto at = store.counters.find(space);
    const std::uint64_t counter = at == store.counters.end() ? 0 : at->second;
    if (counter < lease.from)
      return {IncarnationCause::storeBehind, outside(space, counter, lease) + ": the store went back in time"};
  }
  for (const auto& [space, counter] : store.counters) {
    const auto at = record.spaces.find(space);
    const Lease lease = at == record.spaces.end() ? Lease{} : at->second;
    if (counter > lease.to)
      return {IncarnationCause::storeAhead, outside(space, counter, lease) + ": the record went back in time"};
  }
  return {};
}

constexpr std::string_view kFirstLine = "witan highwater 1\n";
constexpr std::string_view kChecksum = "sha256 ";
constexpr std::size_t kLastLineBytes = kChecksum.size() + 64 + 1;

Error damaged(std::string why) {
  return corrupt("high-water record: " + std::move(why),
                 "the device takes a new incarnation; nothing in the store is lost");
}

// The next word or line; both end where `text` has `end`.
std::optional<std::string_view> take(std::string_view& text, char end) {
  const std::size_t at = text.find(end);
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view word = text.substr(0, at);
  text.remove_prefix(at + 1);
  return word;
}

std::optional<std::uint64_t> number(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || std::to_string(value) != text) return std::nullopt;
  return value;
}

Status readLease(std::string_view line, HighWater& into) {
  const std::string quoted = inQuotes(line);
  if (line.substr(0, 6) != "lease ") return damaged("expected a lease, found " + quoted);
  line.remove_prefix(6);
  const auto space = take(line, ' ');
  const auto from = take(line, ' ');
  if (!space || !from) return damaged("a lease has a space and two counters: " + quoted);
  if (const Status valid = validateId("space", *space); !valid.ok()) return damaged(valid.error().message);
  const auto first = number(*from), last = number(line);
  if (!first || !last || *first > *last) return damaged("no ascending counters in " + quoted);
  if (!into.spaces.empty() && !(into.spaces.rbegin()->first < *space))
    return damaged("the spaces are not in order at " + quoted);
  if (into.spaces.size() == kMaxHighWaterSpaces) return damaged("more than 16384 spaces");
  into.spaces[std::string(*space)] = {*first, *last};
  return okStatus();
}

}  // namespace

const char* toString(IncarnationCause cause) {
  switch (cause) {
    case IncarnationCause::none: return "none";
    case IncarnationCause::freshStore: return "fresh store";
    case IncarnationCause::noRecord: return "no high-water record";
    case IncarnationCause::damagedRecord: return "damaged high-water record";
    case IncarnationCause::otherWriter: return "high-water record of another incarnation";
    case IncarnationCause::storeBehind: return "store behind its high-water record";
    case IncarnationCause::storeAhead: return "store ahead of its high-water record";
  }
  return "?";
}

Lease leaseFrom(std::uint64_t counter) { return {counter, counter + kLeaseCounters}; }
Lease closedLease(std::uint64_t counter) { return {counter, counter}; }
bool leaseIsDue(const Lease& lease, std::uint64_t counter) { return counter + kLeaseCounters / 2 >= lease.to; }
bool leaseCovers(const Lease& lease, std::uint64_t counter) { return counter > lease.from && counter <= lease.to; }

IncarnationDecision decideIncarnation(const StoreIncarnation& store, const std::optional<Result<HighWater>>& record) {
  // A record that is not believed is a record all the same: this store stands in the place of another.
  if (!store.writer && record && !record->ok()) return {IncarnationCause::damagedRecord, record->error().message};
  if (!store.writer) return {IncarnationCause::freshStore, "the store has no writer yet"};
  if (!record) {
    return {IncarnationCause::noRecord,
            "there is no high-water record beside the store of " + *store.writer + ": it may be a copy or a restore"};
  }
  if (!record->ok()) return {IncarnationCause::damagedRecord, record->error().message};
  const HighWater& highWater = **record;
  if (highWater.writer != *store.writer) {
    return {IncarnationCause::otherWriter, "the store is of " + *store.writer +
                                               ", the high-water record beside it of " + highWater.writer +
                                               ": they do not belong together"};
  }
  return decideForWriter(store, highWater);
}

const char* toString(ClaimVerdict verdict) {
  switch (verdict) {
    case ClaimVerdict::plausible: return "plausible";
    case ClaimVerdict::rolledBack: return "rolled back";
    case ClaimVerdict::lie: return "lie";
  }
  return "?";
}

ClaimJudgement judgeOwnClaim(const OwnClaim& claim) {
  if (claim.claimed <= claim.issued) return {};
  const std::string facts = concat(claim.peer, " says that it has ", claim.claimed, " commits of ", claim.writer,
                                   " in space ", claim.space, ", which issued ", claim.issued);
  if (claim.claimed - claim.issued > kMaxCounterJump)
    return {ClaimVerdict::lie, facts + ": more than 2^40 ahead, which no device reaches"};
  if (claim.bornHere) {
    return {ClaimVerdict::lie, facts +
                                   ": this writer was made by the running process, so nobody can know more of it, "
                                   "unless this machine runs twice (a copied virtual machine)"};
  }
  if (claim.rollbacksByPeer >= kMaxRollbacksByPeer) {
    return {ClaimVerdict::lie,
            concat(facts, ": it was believed ", claim.rollbacksByPeer, " times already, and new writers were taken")};
  }
  return {ClaimVerdict::rolledBack, facts + ": this store went back in time"};
}

ClaimJudgement judgeClock(std::string_view peer, std::string_view space, const VectorClock& known,
                          const VectorClock& claimed) {
  for (const auto& [writer, counter] : claimed.entries()) {
    const std::uint64_t here = known.at(writer);
    if (counter <= here || counter - here <= kMaxCounterJump) continue;
    return {ClaimVerdict::lie, concat(peer, " says that it has ", counter, " commits of ", writer, " in space ", space,
                                      ", of which ", here, " are known here: more than 2^40 ahead")};
  }
  return {};
}

std::string formatHighWater(const HighWater& record) {
  std::string text(kFirstLine);
  text += "writer " + record.writer + '\n';
  for (const auto& [space, lease] : record.spaces)
    text += concat("lease ", space, ' ', lease.from, ' ', lease.to, '\n');
  text += "sha256 " + toHex(sha256(text)) + '\n';
  return text;
}

Result<HighWater> parseHighWater(std::string_view text) {
  if (text.size() > kMaxHighWaterBytes) return damaged(concat(text.size(), " bytes, too many"));
  if (text.size() < kFirstLine.size() + kLastLineBytes || text.substr(0, kFirstLine.size()) != kFirstLine)
    return damaged("it does not begin with \"witan highwater 1\" or is cut off");
  const std::string_view signedPart = text.substr(0, text.size() - kLastLineBytes);
  const std::string checksum = concat(kChecksum, toHex(sha256(signedPart)), '\n');
  if (text.substr(signedPart.size()) != checksum) return damaged("its checksum does not match");

  std::string_view rest = signedPart.substr(kFirstLine.size());
  const auto writerLine = take(rest, '\n');
  if (!writerLine || writerLine->substr(0, 7) != "writer ") return damaged("its second line names no writer");
  HighWater record{std::string(writerLine->substr(7)), {}};
  if (const Status valid = validateWriter("writer", record.writer); !valid.ok()) return damaged(valid.error().message);
  while (!rest.empty()) {
    const auto line = take(rest, '\n');
    if (!line) return damaged("its last lease has no end");
    WITAN_DO(readLease(*line, record));
  }
  return record;
}

}  // namespace witan::replication

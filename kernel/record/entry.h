// Entry and its neighbours: the records of a ledger as structs (kernel/record/ledger.capnp documents every member).
//
// EntryView borrows its texts and is what is written and verified at speed; Entry owns them. Members are listed in
// the order of their ordinals.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/capnp_codec.h"
#include "base/reflect.h"
#include "base/sha256.h"
#include "base/time.h"

namespace witan::kernel {

WITAN_ENUM(Tag, approved, rejected, escalated, cCommitted, cRejected)

// A person's key and signature, one behind the other.
inline constexpr std::size_t kPersonSignature = 32 + 64;

// Texts of stored records hold whole states and write sets.
inline constexpr std::size_t kRecordTextMax = 4 << 20;

template <class Text>
struct BasicFinding {
  static constexpr std::size_t textMax = kRecordTextMax;
  Text invariant{};
  std::uint16_t result = 0;
  Text message{};
  WITAN_MEMBERS(BasicFinding, invariant, result, message)
};

template <class Text, class Bytes>
struct BasicEntry {
  static constexpr std::size_t textMax = kRecordTextMax;
  std::uint64_t seq = 0;
  Time time;
  Tag tag = Tag::approved;
  std::uint64_t escalation = 0;
  Text entity{};
  Text role{};
  Text device{};
  Text agent{};
  Text operationId{};
  Text action{};
  Text invariant{};
  Text message{};
  Text writes{};
  Bytes verdicts{};
  std::vector<BasicFinding<Text>> findings;
  Text counselor{};
  Text reason{};
  Text decision{};
  Hash stateDigest{};
  Text genesis{};
  Bytes runKey{};  // 32 bytes, or none; then no plan either
  Bytes planDigest{};
  std::uint64_t epoch = 0;  // format 2: of the first entry of an epoch, the epoch's number and owner
  Text owner{};
  Bytes shown{};      // 32 bytes: the digest of what a counselor was shown, or none
  Bytes signature{};  // a counselor's key and signature of the answer (kernel/record/statement.h), or none
  Bytes proof{};      // format 2: of the proposer's device (kernel/record/signed_leaves.h)
  WITAN_MEMBERS(BasicEntry, seq, time, tag, escalation, entity, role, device, agent, operationId, action, invariant,
                message, writes, verdicts, findings, counselor, reason, decision, stateDigest, genesis, runKey,
                planDigest, epoch, owner, shown, signature, proof)
};

using Entry = BasicEntry<std::string, std::vector<std::uint8_t>>;
using EntryView = BasicEntry<std::string_view, std::span<const std::uint8_t>>;

template <class Text, class Bytes>
struct BasicGenesis {
  static constexpr std::size_t textMax = kRecordTextMax;
  Text entity{};
  Text genesis{};
  // Format 3: who asked for it, for which fields (canonical JSON), and the proof of that device.
  Text operationId{};
  Text device{};
  Text agent{};
  Text fields{};
  Bytes proof{};
  WITAN_MEMBERS(BasicGenesis, entity, genesis, operationId, device, agent, fields, proof)
};
using Genesis = BasicGenesis<std::string, std::vector<std::uint8_t>>;
using GenesisView = BasicGenesis<std::string_view, std::span<const std::uint8_t>>;

template <class Text>
struct BasicNote {
  static constexpr std::size_t textMax = kRecordTextMax;
  Text operationId{};
  std::uint16_t outcome = 0;
  Text message{};
  WITAN_MEMBERS(BasicNote, operationId, outcome, message)
};
using NoteView = BasicNote<std::string_view>;

// What a proposer, a counselor or an input line is told.
WITAN_ENUM(Outcome, initialised, approved, rejected, escalated, cCommitted, cRejected, refused, frozen, duplicate)

inline Outcome outcomeOf(Tag tag) { return static_cast<Outcome>(static_cast<std::uint8_t>(tag) + 1); }

// Reads an entry from 8-aligned bytes; the view borrows them. Errors name the member. A run key and a plan digest have
// 32 bytes each, or there are none; a proof has its form.
Result<EntryView> readEntryView(std::string_view alignedBytes);
// The same of a beginning.
Result<GenesisView> readGenesis(std::string_view alignedBytes);
// Reads and copies from bytes of any alignment.
Result<Entry> readEntry(std::string_view bytes);
// Are these the canonical bytes of the entry they encode? A second encoding of the same entry would be a second leaf.
bool isCanonicalEntry(const EntryView& entry, std::string_view bytes);

// The chain over an entity's states (Entry::stateDigest).
Hash firstStateDigest(std::string_view genesis);
Hash nextStateDigest(const Hash& before, Time time, std::string_view writes);

// The entry as JSON for people and exports; `invariantIds` names the verdicts (KERNEL_INTEGRITY first).
std::string entryJson(const EntryView& entry, const std::vector<std::string>& invariantIds);

}  // namespace witan::kernel

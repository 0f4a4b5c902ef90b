// The messages of replica/adjudication.capnp as plain structs, and their frames.
//
// Pure functions, any thread. What was read owns its bytes. Structs have the members of the schema in the order of its
// ordinals; a test holds both against each other.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/capnp_codec.h"
#include "base/json.h"
#include "kernel/domain_module.h"
#include "kernel/epoch.h"
#include "kernel/record/entry.h"
#include "replication/sync_messages.h"

namespace witan::node {

inline constexpr std::uint8_t kFirstAdjudicationFrame = 32;
enum class AdjudicationFrame : std::uint8_t {
  request = 32,
  answer = 33,
  standing = 34,
  entries = 35,
  followed = 36,
  askPast = 37,
  past = 38,
  askFolded = 39,
  folded = 40,
  askBase = 41,
  base = 42
};

// A batch of a log must fit into a frame.
inline constexpr std::size_t kMaxAdjudicationFrame = 24 * 1024 * 1024;
inline constexpr std::size_t kMaxPartitions = 4096;  // in one standing
inline constexpr std::size_t kMaxEpochs = 65'536;    // of one partition
inline constexpr std::size_t kMaxLogProbes = 65;     // in one position

// ingress: a message for the ingress `role` of a graph; `text` is its body, `reason` its external id.
WITAN_ENUM(RequestKind, propose, init, commit, reject, ingress)

struct Request {
  static constexpr auto kFrame = AdjudicationFrame::request;
  static constexpr std::size_t textMax = kernel::kRecordTextMax;
  RequestKind kind = RequestKind::propose;
  kernel::CommitBase base = kernel::CommitBase::candidate;
  std::string domain;
  std::string entity;
  std::string role;
  std::string operationId;
  std::string device;
  std::string agent;
  std::string actionType;
  std::vector<std::uint8_t> action;
  std::string text;
  std::string counselor;
  std::string reason;
  std::uint64_t escalation = 0;
  Hash pendingDigest{};
  Hash runKey{};
  Hash planDigest{};
  std::vector<std::uint8_t> signature;
  std::vector<std::uint8_t> proof;
  WITAN_MEMBERS(Request, kind, base, domain, entity, role, operationId, device, agent, actionType, action, text,
                counselor, reason, escalation, pendingDigest, runKey, planDigest, signature, proof)
  friend bool operator==(const Request&, const Request&) = default;
};

WITAN_ENUM(AnswerKind, decided, frozen, notOwner, unavailable)
WITAN_ENUM(Safety, none, unsafe, safe)

struct Answer {
  static constexpr auto kFrame = AdjudicationFrame::answer;
  static constexpr std::size_t textMax = kernel::kRecordTextMax;
  std::string operationId;
  AnswerKind kind = AnswerKind::decided;
  kernel::Outcome outcome = kernel::Outcome::refused;
  kernel::Outcome recorded = kernel::Outcome::refused;
  Safety safe = Safety::none;
  std::uint64_t seq = 0;
  std::uint64_t epochNumber = 0;
  std::string epochOwner;
  std::string invariant;
  std::string message;
  std::uint64_t asked = 0;
  std::vector<std::uint8_t> entry;
  std::vector<std::uint8_t> proof;
  std::uint64_t run = 0;
  WITAN_MEMBERS(Answer, operationId, kind, outcome, recorded, safe, seq, epochNumber, epochOwner, invariant, message,
                asked, entry, proof, run)
};

struct OwnershipRecord {
  std::string partition;
  std::uint64_t number = 0;
  std::string owner;
  kernel::EpochCause cause = kernel::EpochCause::founding;
  std::uint64_t batches = 0;
  std::uint64_t entries = 0;
  Hash root{};
  std::uint64_t previousNumber = 0;
  std::string previousOwner;
  std::string successor;
  Hash chain{};
  std::vector<std::uint8_t> signature;
  WITAN_MEMBERS(OwnershipRecord, partition, number, owner, cause, batches, entries, root, previousNumber, previousOwner,
                successor, chain, signature)
  kernel::Epoch epoch() const { return {number, owner}; }
  kernel::Epoch previous() const { return {previousNumber, previousOwner}; }
};

struct EpochMark {
  std::uint64_t number = 0;
  std::string owner;
  std::uint64_t start = 0;
  WITAN_MEMBERS(EpochMark, number, owner, start)
  friend bool operator==(const EpochMark&, const EpochMark&) = default;
};

struct LogProbe {
  std::uint64_t batches = 0;
  Hash chain{};
  WITAN_MEMBERS(LogProbe, batches, chain)
  friend bool operator==(const LogProbe&, const LogProbe&) = default;
};

struct LogPosition {
  std::string partition;
  bool follow = false;
  std::uint64_t batches = 0;
  std::uint64_t entries = 0;
  Hash root{};
  std::vector<EpochMark> epochs;
  Hash chain{};
  std::uint64_t low = 0;
  std::uint64_t high = 0;
  std::vector<LogProbe> probes;
  std::vector<std::uint8_t> seal;
  std::uint64_t keeps = 0;
  std::uint64_t first = 0;
  WITAN_MEMBERS(LogPosition, partition, follow, batches, entries, root, epochs, chain, low, high, probes, seal, keeps,
                first)
};

struct PeerAdvertisement {
  static constexpr auto kFrame = AdjudicationFrame::standing;
  std::string owner;
  std::vector<OwnershipRecord> claims;
  std::vector<LogPosition> positions;
  std::string engine;
  std::uint64_t etcdCluster = 0;
  std::vector<std::string> heads;
  std::vector<std::string> proofs;
  std::uint64_t claimsDigest = 0;  // OwnerTable::digest(), told now and then; 0: not told
  WITAN_MEMBERS(PeerAdvertisement, owner, claims, positions, engine, etcdCluster, heads, proofs, claimsDigest)
};

struct Entries {
  static constexpr auto kFrame = AdjudicationFrame::entries;
  std::string partition;
  std::uint64_t batch = 0;
  std::uint64_t epochNumber = 0;
  std::string epochOwner;
  std::uint64_t previousNumber = 0;
  std::string previousOwner;
  std::vector<std::uint8_t> value;
  Hash previousRoot{};
  Hash previousChain{};
  std::vector<std::uint8_t> seal;
  WITAN_MEMBERS(Entries, partition, batch, epochNumber, epochOwner, previousNumber, previousOwner, value, previousRoot,
                previousChain, seal)
};

struct Followed {
  static constexpr auto kFrame = AdjudicationFrame::followed;
  std::string partition;
  std::uint64_t batches = 0;
  WITAN_MEMBERS(Followed, partition, batches)
};

struct AskPast {
  static constexpr auto kFrame = AdjudicationFrame::askPast;
  std::string partition;
  std::uint64_t from = 0;
  std::uint64_t to = 0;
  WITAN_MEMBERS(AskPast, partition, from, to)
};

struct PastBatch {
  std::vector<std::uint8_t> value;
  std::vector<std::uint8_t> seal;
  WITAN_MEMBERS(PastBatch, value, seal)
};

struct Past {
  static constexpr auto kFrame = AdjudicationFrame::past;
  std::string partition;
  std::uint64_t from = 0;
  std::vector<PastBatch> batches;
  WITAN_MEMBERS(Past, partition, from, batches)
};

struct AskFolded {
  static constexpr auto kFrame = AdjudicationFrame::askFolded;
  std::string partition;
  std::uint64_t least = 0;
  WITAN_MEMBERS(AskFolded, partition, least)
};

struct Folded {
  static constexpr auto kFrame = AdjudicationFrame::folded;
  std::string partition;
  std::string note;
  WITAN_MEMBERS(Folded, partition, note)
};

struct AskBase {
  static constexpr auto kFrame = AdjudicationFrame::askBase;
  std::string partition;
  std::uint64_t batches = 0;
  std::vector<std::uint8_t> after;
  WITAN_MEMBERS(AskBase, partition, batches, after)
};

struct BaseRow {
  std::vector<std::uint8_t> key;
  std::vector<std::uint8_t> value;
  WITAN_MEMBERS(BaseRow, key, value)
};

struct Base {
  static constexpr auto kFrame = AdjudicationFrame::base;
  std::string partition;
  std::uint64_t batches = 0;
  std::vector<BaseRow> rows;
  bool last = false;
  WITAN_MEMBERS(Base, partition, batches, rows, last)
};

// One frame, header included.
template <class T>
void appendFrame(std::string& out, WordWriter& words, const T& message) {
  replication::appendFrameBytes(out, static_cast<replication::FrameType>(T::kFrame), words.message(message));
}

// Whether the request can be what it says: kind, sizes, ids. Errors name the member.
Status checkRequest(const Request& request);

// The first bytes of SHA-256 over its canonical bytes without the proof: tells requests under one operation id apart.
std::uint64_t fingerprintOf(const Request& request);
// Whether both ask the same, whatever proves it.
bool sameRequest(const Request& one, const Request& other);

// The answer to a request without a decision on record.
Answer answerTo(const Request& request, AnswerKind kind, std::string message);

// The first eight bytes, big-endian.
std::uint64_t firstWord(const Hash& hash);

// ---- requests from JSON, as people and agents write them
// A proposal of `action` ({"type":...}), encoded as the owner decodes it. Errors: an action the domain does not know,
// arguments it cannot read.
Result<Request> proposalRequest(const kernel::DomainModule& module, std::string entity, std::string role,
                                std::string operationId, const json::value& action);
// The beginning of an entity, with the fields it names.
Request initRequest(const kernel::DomainModule& module, std::string entity, std::string operationId,
                    const json::value& fields);

// A message at an ingress of a graph. Under `external` it enters once within the graph's horizon.
Request ingressRequest(std::string graph, std::string ingress, std::string external, std::string operationId,
                       std::string body);

}  // namespace witan::node

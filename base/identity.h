// Identities: every id that Witan derives instead of drawing, so that two devices, or one device twice, derive the
// same.
//
// Each is SHA-256 of a canonical string whose components are joined with '|' (the string stands above each function).
// The components are free text in principle; two different tuples could then join to one string (docs/FINDINGS.md,
// F13). So each must match [A-Za-z0-9._:@/+-]{1,256}: neither '|' nor ',' nor '#' can occur in one. Anything else is an
// Error that names the component and the character. Pure functions, any thread. Canonical strings of integers are
// decimal without leading zeros.
#pragma once

#include <compare>
#include <cstdint>
#include <cstring>
#include <functional>
#include <optional>
#include <ostream>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/json.h"
#include "base/result.h"

namespace witan {

// An id of one kind cannot be passed where another kind is expected: StrongId wraps free text (an agent, a device, a
// subscription); DigestId wraps a SHA-256 value (a run key, an operation id) and prints as 64 lower-case hex digits.
// Values. `Tag` is any type, complete or not. Neither validates.
template <class Tag>
class StrongId {
 public:
  StrongId() = default;
  explicit StrongId(std::string text) : text_(std::move(text)) {}

  const std::string& str() const { return text_; }
  bool empty() const { return text_.empty(); }

  friend auto operator<=>(const StrongId&, const StrongId&) = default;
  friend bool operator==(const StrongId&, const StrongId&) = default;
  friend std::ostream& operator<<(std::ostream& out, const StrongId& id) { return out << id.text_; }

 private:
  std::string text_;
};

template <class Tag>
struct DigestId {
  Hash value{};

  std::string hex() const { return toHex(value); }
  static Result<DigestId> parse(std::string_view hex) {
    WITAN_TRY(hash, hashFromHex(hex));
    return DigestId{hash};
  }

  friend auto operator<=>(const DigestId&, const DigestId&) = default;
  friend bool operator==(const DigestId&, const DigestId&) = default;
  friend std::ostream& operator<<(std::ostream& out, const DigestId& id) { return out << id.hex(); }
};

inline constexpr std::size_t kMaxIdBytes = 256;
inline constexpr std::size_t kMaxIdList = 65'536;  // change units in a batch, scopes, targets

// ok when `id` matches [A-Za-z0-9._:@/+-]{1,256}. `what` names the component in the message ("agentId").
Status validateId(std::string_view what, std::string_view id);

using ChangeUnitKey = DigestId<struct ChangeUnitKeyTag>;
using LogicalChangeKey = DigestId<struct LogicalChangeKeyTag>;
using RunKey = DigestId<struct RunKeyTag>;
using ArgsHash = DigestId<struct ArgsHashTag>;
using ActionStableId = DigestId<struct ActionStableIdTag>;
using OperationId = DigestId<struct OperationIdTag>;
using SummaryId = DigestId<struct SummaryIdTag>;
using PlanDigest = DigestId<struct PlanDigestTag>;
using TokenKey = StrongId<struct TokenKeyTag>;

// Where a change was committed first. A property of the change, set once by its author and replicated with it (F15): a
// device that receives an edit through replication keeps `local`; `sync` is for what came into the cluster from outside
// (an import, a bridge). Were it the receiver's view, two devices would derive different keys for one edit.
enum class ChangeOrigin { local, sync };

const char* toString(ChangeOrigin origin);
Result<ChangeOrigin> parseChangeOrigin(std::string_view text);

struct ChangeUnit {
  ChangeOrigin origin = ChangeOrigin::local;  // the author's
  std::string hostId;                         // the author's
  std::uint64_t counter = 0;
  std::string payloadType;
  std::string payloadId;

  friend bool operator==(const ChangeUnit&, const ChangeUnit&) = default;
};

// v1|{origin}|{hostId}|{counter}|{payloadType}|{payloadId}
Result<ChangeUnitKey> changeUnitKey(const ChangeUnit& unit);

// v1|{keys, sorted and unique, joined by ','}. The order and repetition of the argument do not matter; at least one
// key.
Result<LogicalChangeKey> logicalChangeKey(std::span<const ChangeUnitKey> keys);

// v1|run|subscription|{agentId}|{subscriptionId}|{LCK}
Result<RunKey> subscriptionRunKey(std::string_view agentId, std::string_view subscriptionId,
                                  const LogicalChangeKey& change);

// v1|run|timer|{agentId}|{timerId}|{scheduledAtMs}. Milliseconds since 1970, not negative.
Result<RunKey> timerRunKey(std::string_view agentId, std::string_view timerId, std::int64_t scheduledAtMs);

// v1|run|user|{agentId}|{sessionId}|{turnId}
Result<RunKey> userRunKey(std::string_view agentId, std::string_view sessionId, std::string_view turnId);

// v1|run|graph|{agentId}|{span}, from attempt 2 on with #{attempt}
Result<RunKey> graphRunKey(std::string_view agentId, std::string_view span, std::int64_t attempt);

// The canonical JSON of the arguments (base/json.h: integers exact).
ArgsHash argsHash(const json::value& args);

// v1|action|{toolName}|{argsHash}|{H(scope sorted, joined by ',')}|{H(targets sorted, joined by ',')}
// The order of scope and targets does not matter, repetition does; either may be empty.
Result<ActionStableId> actionStableId(std::string_view toolName, const ArgsHash& args,
                                      std::span<const std::string> scope, std::span<const std::string> targets);

// v1|op|{runKey}|{actionStableId}, and for the n-th further occurrence of one action in a plan (n >= 1) ...#{n}
OperationId operationId(const RunKey& run, const ActionStableId& action, std::uint64_t furtherOccurrence = 0);

// The operation ids of a plan's actions, in order, with repetitions counted.
std::vector<OperationId> planOperationIds(const RunKey& run, std::span<const ActionStableId> actions);

// v1|compensate|{operationId}
OperationId compensationOperationId(const OperationId& operation);

// v1|summary|{agentId}|{threadId}|{startMessageId}|{endMessageId}|{summarizerContractVersion}
struct SummaryRange {
  std::string agentId;
  std::string threadId;
  std::string startMessageId;
  std::string endMessageId;
  std::string summarizerContractVersion;
};
Result<SummaryId> summaryId(const SummaryRange& range);

// The canonical JSON array of the plan's operation ids, in order; an empty plan has a digest too.
PlanDigest planDigest(std::span<const OperationId> operations);

// What a subscription matches on. The namespace is required for subtypeToken and refused for the others.
enum class TokenClass { semanticKey, subtypeToken, entityId };

const char* toString(TokenClass tokenClass);
Result<TokenClass> parseTokenClass(std::string_view text);

struct NotificationToken {
  TokenClass tokenClass = TokenClass::entityId;
  std::optional<std::string> tokenNamespace;
  std::string value;

  friend bool operator==(const NotificationToken&, const NotificationToken&) = default;
};

// {class}|{namespace or -}|{value}: the text itself, not hashed.
Result<TokenKey> tokenKey(const NotificationToken& token);

}  // namespace witan

template <class Tag>
struct std::hash<witan::StrongId<Tag>> {
  std::size_t operator()(const witan::StrongId<Tag>& id) const noexcept { return std::hash<std::string>{}(id.str()); }
};

template <class Tag>
struct std::hash<witan::DigestId<Tag>> {
  // The digest is uniform already: eight of its bytes are a hash.
  std::size_t operator()(const witan::DigestId<Tag>& id) const noexcept {
    std::size_t word = 0;
    std::memcpy(&word, id.value.data(), sizeof word);
    return word;
  }
};

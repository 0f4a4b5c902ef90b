#include "base/identity.h"

#include <algorithm>
#include <array>
#include <map>

#include "base/quote.h"

namespace witan {
namespace {

constexpr std::array<bool, 256> kIdCharacter = [] {
  std::array<bool, 256> known{};
  for (const char c : std::string_view("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._:@/+-"))
    known[static_cast<unsigned char>(c)] = true;
  return known;
}();
bool isIdCharacter(char c) { return kIdCharacter[static_cast<unsigned char>(c)]; }

// A canonical string under construction. Keeps the first error, so that the callers read as the formats do.
class Canonical {
 public:
  explicit Canonical(std::string_view kind) {
    text_.reserve(192);
    text_ = kind;
  }

  Canonical& id(std::string_view what, std::string_view component) {
    if (!error_) {
      if (const Status valid = validateId(what, component); !valid.ok()) error_ = valid.error();
    }
    (text_ += '|').append(component);
    return *this;
  }
  Canonical& number(std::uint64_t component) {
    (text_ += '|').append(std::to_string(component));
    return *this;
  }
  Canonical& digest(const Hash& component) {
    appendHex(text_ += '|', component);
    return *this;
  }

  const std::string& text() const { return text_; }

  template <class Id>
  Result<Id> hashed() const {
    if (error_) return *error_;
    return Id{sha256(text_)};
  }

 private:
  std::string text_;
  std::optional<Error> error_;
};

Status validateCount(std::string_view what, std::size_t count) {
  if (count <= kMaxIdList) return okStatus();
  return invalid(concat(what, " has ", count, " entries, more than ", kMaxIdList));
}

// H(ids sorted, joined by ','). The bytes' order is the order of the ASCII that the ids are made of.
Result<Hash> hashOfSorted(std::string_view what, std::span<const std::string> ids) {
  WITAN_DO(validateCount(what, ids.size()));
  for (const std::string& id : ids) WITAN_DO(validateId(what, id));
  std::vector<std::string_view> sorted(ids.begin(), ids.end());
  std::sort(sorted.begin(), sorted.end());
  std::string joined;
  for (const std::string_view id : sorted) {
    if (!joined.empty()) joined += ',';
    joined += id;
  }
  return sha256(joined);
}

}  // namespace

Status validateId(std::string_view what, std::string_view id) {
  static const std::string kHint = "use 1 to 256 characters of A-Z a-z 0-9 . _ : @ / + -";
  if (id.empty()) return invalid(concat(what, " is empty"), kHint);
  if (id.size() > kMaxIdBytes)
    return invalid(concat(what, " has ", id.size(), " characters, more than ", kMaxIdBytes), kHint);
  const auto wrong = std::find_if_not(id.begin(), id.end(), isIdCharacter);
  if (wrong == id.end()) return okStatus();
  const auto at = static_cast<std::size_t>(wrong - id.begin());
  return invalid(concat(what, " ", inQuotes(id), " has the character ", inQuotes(id.substr(at, 1)), " at byte ", at),
                 kHint);
}

const char* toString(ChangeOrigin origin) { return origin == ChangeOrigin::local ? "local" : "sync"; }

Result<ChangeOrigin> parseChangeOrigin(std::string_view text) {
  if (text == "local") return ChangeOrigin::local;
  if (text == "sync") return ChangeOrigin::sync;
  return invalid("origin " + inQuotes(text) + " is not known", "use local or sync");
}

Result<ChangeUnitKey> changeUnitKey(const ChangeUnit& unit) {
  return Canonical("v1")
      .id("origin", toString(unit.origin))
      .id("hostId", unit.hostId)
      .number(unit.counter)
      .id("payloadType", unit.payloadType)
      .id("payloadId", unit.payloadId)
      .hashed<ChangeUnitKey>();
}

Result<LogicalChangeKey> logicalChangeKey(std::span<const ChangeUnitKey> keys) {
  if (keys.empty()) return invalid("a logical change has no change unit", "give at least one change unit key");
  WITAN_DO(validateCount("a logical change", keys.size()));
  std::vector<ChangeUnitKey> sorted(keys.begin(), keys.end());
  std::sort(sorted.begin(), sorted.end());  // the order of the bytes is the order of their hex
  sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
  std::string text = "v1|";
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    if (i > 0) text += ',';
    appendHex(text, sorted[i].value);
  }
  return LogicalChangeKey{sha256(text)};
}

Result<RunKey> subscriptionRunKey(std::string_view agentId, std::string_view subscriptionId,
                                  const LogicalChangeKey& change) {
  return Canonical("v1|run|subscription")
      .id("agentId", agentId)
      .id("subscriptionId", subscriptionId)
      .digest(change.value)
      .hashed<RunKey>();
}

Result<RunKey> graphRunKey(std::string_view agentId, std::string_view span, std::int64_t attempt) {
  WITAN_DO(validateId("agentId", agentId));
  WITAN_DO(validateId("span", span));
  if (attempt < 1) return invalid(concat("attempt ", attempt, " (attempts begin with 1)"));
  std::string text = concat("v1|run|graph|", agentId, "|", span);
  if (attempt > 1) text += concat("#", attempt);
  return RunKey{sha256(text)};
}

Result<RunKey> timerRunKey(std::string_view agentId, std::string_view timerId, std::int64_t scheduledAtMs) {
  if (scheduledAtMs < 0) return invalid(concat("scheduledAtMs ", scheduledAtMs, " is negative"));
  return Canonical("v1|run|timer")
      .id("agentId", agentId)
      .id("timerId", timerId)
      .number(static_cast<std::uint64_t>(scheduledAtMs))
      .hashed<RunKey>();
}

Result<RunKey> userRunKey(std::string_view agentId, std::string_view sessionId, std::string_view turnId) {
  return Canonical("v1|run|user")
      .id("agentId", agentId)
      .id("sessionId", sessionId)
      .id("turnId", turnId)
      .hashed<RunKey>();
}

ArgsHash argsHash(const json::value& args) { return {sha256(canonicalJson(args))}; }

Result<ActionStableId> actionStableId(std::string_view toolName, const ArgsHash& args,
                                      std::span<const std::string> scope, std::span<const std::string> targets) {
  WITAN_TRY(scopeHash, hashOfSorted("scope", scope));
  WITAN_TRY(targetsHash, hashOfSorted("target", targets));
  return Canonical("v1|action")
      .id("toolName", toolName)
      .digest(args.value)
      .digest(scopeHash)
      .digest(targetsHash)
      .hashed<ActionStableId>();
}

OperationId operationId(const RunKey& run, const ActionStableId& action, std::uint64_t furtherOccurrence) {
  std::string text = Canonical("v1|op").digest(run.value).digest(action.value).text();
  if (furtherOccurrence > 0) (text += '#').append(std::to_string(furtherOccurrence));
  return {sha256(text)};
}

std::vector<OperationId> planOperationIds(const RunKey& run, std::span<const ActionStableId> actions) {
  std::map<ActionStableId, std::uint64_t> seen;
  std::vector<OperationId> ids;
  ids.reserve(actions.size());
  for (const ActionStableId& action : actions) ids.push_back(operationId(run, action, seen[action]++));
  return ids;
}

OperationId compensationOperationId(const OperationId& operation) {
  return {sha256(Canonical("v1|compensate").digest(operation.value).text())};
}

Result<SummaryId> summaryId(const SummaryRange& range) {
  return Canonical("v1|summary")
      .id("agentId", range.agentId)
      .id("threadId", range.threadId)
      .id("startMessageId", range.startMessageId)
      .id("endMessageId", range.endMessageId)
      .id("summarizerContractVersion", range.summarizerContractVersion)
      .hashed<SummaryId>();
}

PlanDigest planDigest(std::span<const OperationId> operations) {
  std::string text = "[";
  for (std::size_t i = 0; i < operations.size(); ++i) {
    if (i > 0) text += ',';
    appendHex(text += '"', operations[i].value);
    text += '"';
  }
  return {sha256(text += ']')};
}

const char* toString(TokenClass tokenClass) {
  switch (tokenClass) {
    case TokenClass::semanticKey: return "semanticKey";
    case TokenClass::subtypeToken: return "subtypeToken";
    case TokenClass::entityId: return "entityId";
  }
  return "unknown";
}

Result<TokenClass> parseTokenClass(std::string_view text) {
  for (const TokenClass known : {TokenClass::semanticKey, TokenClass::subtypeToken, TokenClass::entityId}) {
    if (text == toString(known)) return known;
  }
  return invalid("token class " + inQuotes(text) + " is not known", "use semanticKey, subtypeToken or entityId");
}

Result<TokenKey> tokenKey(const NotificationToken& token) {
  const bool needed = token.tokenClass == TokenClass::subtypeToken;
  const std::string name = toString(token.tokenClass);
  if (needed && !token.tokenNamespace) return invalid("a token of class " + name + " has no namespace", "name one");
  if (!needed && token.tokenNamespace)
    return invalid("a token of class " + name + " has a namespace", "only subtypeToken takes one");
  if (needed) WITAN_DO(validateId("namespace", *token.tokenNamespace));
  WITAN_DO(validateId("value", token.value));
  return TokenKey(name + '|' + token.tokenNamespace.value_or("-") + '|' + token.value);
}

}  // namespace witan

#include "replication/records/notification.h"

#include <algorithm>

#include "base/quote.h"

namespace witan::replication {

namespace {

struct KeyedToken {
  TokenKey key;
  NotificationToken token;
};

Result<std::vector<KeyedToken>> keyed(std::vector<NotificationToken> tokens) {
  std::vector<KeyedToken> out;
  out.reserve(tokens.size());
  for (NotificationToken& token : tokens) {
    WITAN_TRY(key, tokenKey(token));
    out.push_back({std::move(key), std::move(token)});
  }
  std::ranges::sort(out, [](const KeyedToken& a, const KeyedToken& b) { return a.key < b.key; });
  out.erase(
      std::unique(out.begin(), out.end(), [](const KeyedToken& a, const KeyedToken& b) { return a.key == b.key; }),
      out.end());
  return out;
}

Result<std::vector<ChangeUnitKey>> unitKeys(const Dot& dot, const std::vector<BatchChange>& changes) {
  std::vector<ChangeUnitKey> keys;
  keys.reserve(changes.size());
  for (const BatchChange& c : changes) {
    WITAN_TRY(key, changeUnitKey({c.origin, dot.host, dot.counter, c.payloadType, c.payloadId}));
    keys.push_back(key);
  }
  std::ranges::sort(keys);
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  return keys;
}

Error malformed(std::string_view text, std::string why) {
  return invalid("token " + inQuotes(text) + ": " + std::move(why), "a token is {class}|{namespace or -}|{value}");
}

}  // namespace

Result<BatchBody> batchBodyOf(const BatchDraft& draft) {
  BatchBody body{.localBatchId = draft.localBatchId, .changes = draft.changes};
  std::ranges::sort(body.changes);
  body.changes.erase(std::unique(body.changes.begin(), body.changes.end()), body.changes.end());
  WITAN_TRY(tokens, keyed(draft.tokens));
  for (KeyedToken& t : tokens)
    body.tokens.push_back({t.token.tokenClass, std::move(t.token.tokenNamespace), std::move(t.token.value)});
  for (const auto& [host, counter] : draft.deps.entries()) body.deps.push_back({host, counter});
  body.sourceCursor = draft.sourceCursor;
  return body;
}

Result<NotificationBatch> batchOf(const Version& version) {
  if (version.tombstone) return invalid("a notification batch cannot be deleted");
  WITAN_TRY(body, decodeRecord<BatchBody>(version.body));
  NotificationBatch batch{.dot = version.dot, .localBatchId = std::move(body.localBatchId)};
  WITAN_SET(batch.changeUnitKeys, unitKeys(version.dot, body.changes));
  WITAN_SET(batch.logicalChangeKey, logicalChangeKey(batch.changeUnitKeys));
  std::vector<NotificationToken> tokens;
  for (BatchToken& t : body.tokens) tokens.push_back({t.tokenClass, std::move(t.tokenNamespace), std::move(t.value)});
  WITAN_TRY(sorted, keyed(std::move(tokens)));
  for (KeyedToken& t : sorted) {
    batch.tokenKeys.push_back(std::move(t.key));
    batch.tokens.push_back(std::move(t.token));
  }
  for (const DotEntry& d : body.deps) batch.deps.raise(d.host, d.counter);
  batch.sourceCursor = std::move(body.sourceCursor);
  return batch;
}

Result<NotificationToken> parseLegacyToken(std::string_view text) {
  const std::size_t first = text.find('|');
  if (first == std::string_view::npos) return malformed(text, "it has no class");
  const std::size_t second = text.find('|', first + 1);
  if (second == std::string_view::npos) return malformed(text, "it has two parts instead of three");
  if (text.find('|', second + 1) != std::string_view::npos) return malformed(text, "it has more than three parts");

  auto tokenClass = parseTokenClass(text.substr(0, first));
  if (!tokenClass.ok()) return malformed(text, tokenClass.error().message);
  NotificationToken token{*tokenClass, std::nullopt, std::string(text.substr(second + 1))};
  const std::string_view nameSpace = text.substr(first + 1, second - first - 1);
  if (nameSpace != "-") token.tokenNamespace = std::string(nameSpace);
  auto key = tokenKey(token);
  if (!key.ok()) return malformed(text, key.error().message);
  return token;
}

}  // namespace witan::replication

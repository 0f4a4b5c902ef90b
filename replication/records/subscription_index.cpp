#include "replication/records/subscription_index.h"

#include <algorithm>
#include <tuple>

#include "base/quote.h"

namespace witan::replication {

namespace {

Result<std::vector<TokenKey>> keysOf(const std::vector<NotificationToken>& tokens) {
  if (tokens.size() > kMaxPredicateTokens)
    return invalid(concat("a token predicate of ", tokens.size(), " tokens (at most ", kMaxPredicateTokens, ")"));
  std::vector<TokenKey> keys;
  for (const NotificationToken& token : tokens) {
    WITAN_TRY(key, tokenKey(token));
    keys.push_back(std::move(key));
  }
  std::ranges::sort(keys);
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  return keys;
}

// All sorted.
bool tokensMatch(const std::vector<TokenKey>& anyOf, const std::vector<TokenKey>& allOf,
                 const std::vector<TokenKey>& have) {
  const auto has = [&](const TokenKey& key) { return std::ranges::binary_search(have, key); };
  return std::ranges::all_of(allOf, has) && (anyOf.empty() || std::ranges::any_of(anyOf, has));
}

Result<std::vector<Entity>> changedEntities(const NotificationBatch& batch, const EntityFetch& fetch) {
  std::vector<Entity> entities;
  for (const NotificationToken& token : batch.tokens) {
    if (token.tokenClass != TokenClass::entityId) continue;
    WITAN_TRY(entity, fetch(token.value));
    if (entity) entities.push_back(std::move(*entity));
  }
  return entities;
}

}  // namespace

// A subscription is found by any of `anyOf`, or else by one of `allOf`: without it, it cannot match.
std::span<const TokenKey> SubscriptionIndex::indexedBy(const Entry& entry) {
  if (!entry.anyOf.empty()) return entry.anyOf;
  return std::span(entry.allOf).first(1);
}

Status SubscriptionIndex::add(Subscription subscription) {
  WITAN_DO(validateId("agentId", subscription.agentId));
  WITAN_DO(validateId("subscriptionId", subscription.id));
  WITAN_TRY(anyOf, keysOf(subscription.tokens.anyOf));
  WITAN_TRY(allOf, keysOf(subscription.tokens.allOf));
  if (anyOf.empty() && allOf.empty())
    return invalid("subscription " + inQuotes(subscription.id) + " names no token (it would match every change)",
                   "give it at least one token");
  Name name{subscription.agentId, subscription.id};
  if (subscriptions_.contains(name))
    return conflict("agent " + inQuotes(name.first) + " has a subscription " + inQuotes(name.second) + " already",
                    "remove it first");
  if (subscriptions_.size() >= kMaxSubscriptions)
    return invalid(concat("more than ", kMaxSubscriptions, " subscriptions"));
  const Entry& entry =
      subscriptions_.emplace(std::move(name), Entry{std::move(subscription), std::move(anyOf), std::move(allOf)})
          .first->second;
  for (const TokenKey& key : indexedBy(entry)) byToken_[key].insert(&entry);
  return okStatus();
}

bool SubscriptionIndex::remove(std::string_view agentId, std::string_view id) {
  const auto found = subscriptions_.find(Name{agentId, id});
  if (found == subscriptions_.end()) return false;
  for (const TokenKey& key : indexedBy(found->second)) {
    const auto row = byToken_.find(key);
    row->second.erase(&found->second);
    if (row->second.empty()) byToken_.erase(row);
  }
  subscriptions_.erase(found);
  return true;
}

bool SubscriptionIndex::ByName::operator()(const Entry* a, const Entry* b) const {
  return std::tie(a->subscription.agentId, a->subscription.id) < std::tie(b->subscription.agentId, b->subscription.id);
}

// Each once, by name.
std::vector<const SubscriptionIndex::Entry*> SubscriptionIndex::candidates(const NotificationBatch& batch) const {
  std::vector<const Entry*> out;
  for (const TokenKey& key : batch.tokenKeys) {
    const auto row = byToken_.find(key);
    if (row == byToken_.end()) continue;
    const auto middle = static_cast<std::ptrdiff_t>(out.size());
    out.insert(out.end(), row->second.begin(), row->second.end());
    std::inplace_merge(out.begin(), out.begin() + middle, out.end(), ByName{});
  }
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

Result<std::vector<Wake>> SubscriptionIndex::match(const NotificationBatch& batch, std::string_view scope,
                                                   const EntityFetch& fetch, const Eligibility& eligible) const {
  std::vector<Wake> wakes;
  std::optional<std::vector<Entity>> entities;
  const auto found = candidates(batch);
  lastCandidates_ = found.size();
  for (const Entry* entry : found) {
    const Subscription& s = entry->subscription;
    if (!s.scope.empty() && s.scope != scope) continue;
    if (!tokensMatch(entry->anyOf, entry->allOf, batch.tokenKeys)) continue;
    if (s.entities) {
      if (!entities) {
        WITAN_SET(entities, changedEntities(batch, fetch));
      }
      if (!s.entities(*entities)) continue;
    }
    if (!eligible(s)) continue;
    WITAN_TRY(runKey, subscriptionRunKey(s.agentId, s.id, batch.logicalChangeKey));
    wakes.push_back({s.agentId, s.id, runKey});
  }
  return wakes;
}

}  // namespace witan::replication

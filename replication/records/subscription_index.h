// SubscriptionIndex: which subscriptions a notification batch wakes (seed 003, 3.5).
//
//   matches(s, B) = TokenPred(tokens of B) and EntityPred(entities changed in B) and EligibilityPred(now, agent state)
//
// The first is data and is indexed, so a batch costs its own tokens and the subscriptions that share one with it, never
// all subscriptions. Entities are fetched only for entityId tokens, only if a subscription that passed the first
// predicate asks for them, and once a batch. Now and the agent's state are the caller's. Not thread-safe.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "replication/records/notification.h"

namespace witan::replication {

inline constexpr std::size_t kMaxSubscriptions = 1'000'000;
inline constexpr std::size_t kMaxPredicateTokens = 1024;

struct Entity {
  std::string id;
  std::string type;
  std::string body;
};

// True if all of `allOf` are there and, unless `anyOf` is empty, one of that too.
struct TokenPredicate {
  std::vector<NotificationToken> anyOf;
  std::vector<NotificationToken> allOf;
};

using EntityPredicate = std::function<bool(std::span<const Entity>)>;

struct Subscription {
  std::string id;  // of the agent's subscriptions
  std::string agentId;
  std::string scope;  // only batches of this scope; empty: of any
  TokenPredicate tokens;
  EntityPredicate entities;  // none: true
};

// The entity with this id as it is now; none if it is gone.
using EntityFetch = std::function<Result<std::optional<Entity>>(const std::string& id)>;
using Eligibility = std::function<bool(const Subscription&)>;

struct Wake {
  std::string agentId;
  std::string subscriptionId;
  RunKey runKey;
  friend bool operator==(const Wake&, const Wake&) = default;
};

class SubscriptionIndex {
 public:
  // Errors: ids, tokens, limits, no token at all (it would match everything), or (agent, id) is taken.
  Status add(Subscription subscription);
  // Whether it was there.
  bool remove(std::string_view agentId, std::string_view id);
  std::size_t size() const { return subscriptions_.size(); }

  // The wakes by agent and subscription. O(tokens of the batch + candidates) index steps. Errors: what `fetch` returns.
  Result<std::vector<Wake>> match(const NotificationBatch& batch, std::string_view scope, const EntityFetch& fetch,
                                  const Eligibility& eligible) const;

  // How many subscriptions the last match looked at: for tests and statistics.
  std::size_t lastCandidates() const { return lastCandidates_; }

 private:
  using Name = std::pair<std::string, std::string>;  // agent, id
  struct Entry {
    Subscription subscription;
    std::vector<TokenKey> anyOf, allOf;  // sorted, unique
  };

  // By agent and id.
  struct ByName {
    bool operator()(const Entry* a, const Entry* b) const;
  };

  std::vector<const Entry*> candidates(const NotificationBatch& batch) const;
  static std::span<const TokenKey> indexedBy(const Entry& entry);

  std::map<Name, Entry> subscriptions_;
  // Into subscriptions_. Only ever looked up: the order of the tokens does not matter.
  std::unordered_map<TokenKey, std::set<const Entry*, ByName>> byToken_;
  mutable std::size_t lastCandidates_ = 0;
};

}  // namespace witan::replication

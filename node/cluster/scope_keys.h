// The keys of scopes: what is sealed in a scope (agents/content_seal.h) opens for the members that may have it, and not
// for a device that was revoked before it was sealed.
//
// The admin's device gives each scope that the roster names a key, and "*" one for all others. The roster carries each
// key in boxes for the members (base/sealed_box.h). When a device may no longer have a scope, or has another key, the
// scope gets a new one; the new one opens the one before it, so that who is admitted later reads what is there. The
// keys follow from the admin's, which is kept nowhere else.
//
// Pure functions but for sealKeysOf(); any thread.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "agents/content_seal.h"
#include "base/secret.h"
#include "node/cluster/roster.h"

namespace witan::node {

inline constexpr std::string_view kOtherScopes = "*";
inline constexpr std::size_t kMaxScopeKeys = 64;
inline constexpr std::size_t kMaxGenerations = 1024;  // of a scope; what is older opens no more

// By generation, those of a scope that a device can open.
using ScopeGenerations = std::map<std::uint64_t, std::shared_ptr<const Secret>>;
using OpenScope = std::function<ScopeGenerations(std::string_view scope)>;

// Brings the keys of the roster's scopes up to date with its members. `before`: the admin's key is another one by now;
// each scope gets a new key, which opens those that this says. Errors: too many scopes.
Status renewScopeKeys(Roster& roster, const SigningKey& admin, Random& random, const OpenScope& before = {});
// Of two rosters of this key that parted: each scope gets a new key, which opens those of both.
void uniteScopeKeys(Roster& roster, const Roster& other, const SigningKey& admin, Random& random);

ScopeGenerations openScopeKeys(const Roster& roster, std::string_view scope, std::string_view device,
                               const SigningKey& key);

// The keys by which a directory's device seals and opens what stands in a scope, by the roster on its disk as that is
// when they are asked for. Where that gives scopes no keys: the secret that all devices share. Errors: as
// readClusterSecret (node/data_dir/replica_dir.h).
Result<std::shared_ptr<const agents::SealKeys>> sealKeysOf(const std::filesystem::path& dir, std::string scope);

// Whether no scope lost its key or went back to an earlier one, and no device that still may have it its copy. Errors:
// unauthorised.
Status checkKeepsScopeKeys(const Roster& before, const Roster& after);

// Everything that can be wrong with the keys of a roster.
Status checkScopeKeys(const std::vector<ScopeKey>& keys);

}  // namespace witan::node

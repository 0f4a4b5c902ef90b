// The scope in which a device that may not read another one keeps what that holds, encrypted (docs/SECURITY.md). It
// holds sealed copies only, which devices with the scope's key write (replica/sealed_copies.h). Pure functions.
#pragma once

#include <string>
#include <string_view>

#include "base/concat.h"

namespace witan::replication {

inline constexpr std::string_view kSealedScope = "sealed.";

inline std::string sealedScopeOf(std::string_view scope) { return concat(kSealedScope, scope); }
inline bool isSealedScope(std::string_view scope) { return scope.starts_with(kSealedScope); }
// What a sealed scope keeps; of any other scope, that scope.
inline std::string_view openScopeOf(std::string_view scope) {
  return isSealedScope(scope) ? scope.substr(kSealedScope.size()) : scope;
}

}  // namespace witan::replication

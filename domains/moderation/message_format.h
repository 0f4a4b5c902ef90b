// How the messages of moderation's invariants name things. For its own files only.
#pragma once

#include <string>
#include <string_view>

#include "base/utf8.h"
#include "kernel/record/verdict.h"

namespace witan::domains::moderation {

inline std::string named(std::string_view what, std::string_view key) {
  return std::string(what) + " " + std::string(clip(key));
}
inline std::string action(std::string_view key) { return named("action", key); }

}  // namespace witan::domains::moderation

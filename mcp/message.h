// JSON-RPC messages of the Model Context Protocol, and the words that its eras share.
//
// Pure functions; any thread. A message is one line without its end.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "base/json.h"

namespace witan::mcp {

// Of the era whose requests carry their version, and of the one that begins with a handshake.
inline constexpr std::string_view kModern = "2026-07-28";
inline constexpr std::array<std::string_view, 2> kLegacy{"2025-11-25", "2025-06-18"};
inline constexpr std::string_view kVersionKey = "io.modelcontextprotocol/protocolVersion";
inline constexpr std::string_view kCapabilitiesKey = "io.modelcontextprotocol/clientCapabilities";
inline constexpr std::string_view kServerInfoKey = "io.modelcontextprotocol/serverInfo";
inline constexpr std::string_view kSubscriptionKey = "io.modelcontextprotocol/subscriptionId";
inline constexpr std::string_view kLogLevelKey = "io.modelcontextprotocol/logLevel";

// JSON-RPC's codes, MCP's, and one of ours.
enum Code : int {
  kNoError = 0,
  kTooMany = 1,
  kParseError = -32700,
  kInvalidRequest = -32600,
  kNoMethod = -32601,
  kInvalidParams = -32602,
  kLegacyNoResource = -32002,
  kHeaderMismatch = -32020,
  kMissingCapability = -32021,
  kUnsupportedVersion = -32022,
};

bool isLegacy(std::string_view version);
// A text, or an integer; never null.
bool isId(const json::value& id);

std::string resultMessage(const json::value& id, json::object result);
// `id` null: unknown.
std::string errorMessage(const json::value& id, int code, std::string_view text, json::object data = {});
std::string requestMessage(std::string_view id, std::string_view method, json::object params);
std::string notification(std::string_view method, json::object params = {});

// Null, empty: there is none of that type.
const json::object* objectIn(const json::object& object, std::string_view name);
std::string_view textIn(const json::object& object, std::string_view name);
// Rows of an object's member; empty if there are none.
const json::array& rowsIn(const json::value& value, std::string_view name);
const json::array& rowsIn(const json::object&, std::string_view) = delete;  // its conversion would be a copy
// Of a message's params; empty: it names none.
std::string_view versionIn(const json::object& message);

}  // namespace witan::mcp

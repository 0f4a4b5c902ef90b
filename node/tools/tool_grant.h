// What `witan tool login` keeps of a login: DIR/tokens/NAME.json, mode 0600, for tools with secret_as = "oauth". The
// secret of a client that was registered by hand stays among the secrets. Any thread; one writer at a time.
#pragma once

#include "mcp/oauth.h"
#include "net/http_client.h"
#include "node/tools/tool_port.h"

namespace witan::node {

inline bool usesOAuth(const ToolConfig& tool) { return tool.secretAs == "oauth"; }
// Empty: nobody has logged in.
Result<mcp::OAuthGrant> readGrant(const ToolConfig& tool, const Secret* secret);
Status writeGrant(const ToolConfig& tool, mcp::OAuthGrant grant, const Secret* secret);

net::HttpRequest httpRequestOf(const mcp::WebRequest& request, const std::string& path);

}  // namespace witan::node

// How a command reaches a running node: DIR/control.json says where its control API is, DIR/control.tokens what to
// show.
//
// Blocking calls, for the command line. `--url` and `--token` (or WITAN_URL, WITAN_TOKEN) reach a node elsewhere.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "base/json.h"
#include "base/json_codec.h"
#include "base/reflect.h"
#include "net/http_client.h"
#include "node/api/control_tokens.h"

namespace witan::node {

// DIR/control.json, while a node runs.
struct ControlFile {
  std::string address;  // as HttpEndpoint wants it
  std::int64_t pid = 0;
  Omittable<std::uint64_t> directory = {};  // inode of DIR: a copy of it has no node
  WITAN_MEMBERS(ControlFile, address, pid, directory)
};

// Of this directory.
Status writeControlFile(const std::filesystem::path& dir, ControlFile file);
void removeControlFile(const std::filesystem::path& dir);

class ControlClient {
 public:
  // Of a directory. Errors: unavailable if no node runs there; unauthorised if its tokens cannot be read.
  // With the token of `role`.
  static Result<ControlClient> open(const std::filesystem::path& dir, ControlRole role = ControlRole::admin);
  static ControlClient at(std::string address, std::string token);

  // The answer's JSON. Errors: what the node says; unavailable if it does not answer.
  Result<json::value> get(const std::string& target) const;
  Result<json::value> post(const std::string& path, const json::object& body, std::int64_t timeoutMs = 130'000) const;
  Result<std::string> text(const std::string& target) const;
  // Server-sent events, until `event` says no or the node ends it.
  Status events(const std::string& target, const std::function<bool(std::string_view data)>& event) const;

 private:
  ControlClient(std::string address, std::string token) : address_(std::move(address)), token_(std::move(token)) {}
  Result<net::HttpResponse> call(net::HttpRequest request, std::int64_t timeoutMs) const;

  std::string address_, token_;
};

// The node that has this directory open. None: the directory can be opened.
std::optional<ControlClient> runningNode(const std::filesystem::path& dir);

}  // namespace witan::node

#include "cli/client/control_client.h"

#include <sys/stat.h>
#include <unistd.h>

#include "base/json_codec.h"
#include "net/event_parser.h"
#include "node/data_dir/replica_dir.h"
#include "program/durable_file.h"

namespace witan::node {

namespace fs = std::filesystem;

namespace {

constexpr const char* kFile = "control.json";
constexpr std::int64_t kReadTimeoutMs = 60'000;

std::uint64_t inodeOf(const fs::path& dir) {
  struct stat is {};
  return ::stat(dir.c_str(), &is) == 0 ? is.st_ino : 0;
}

Result<ControlFile> readControlFile(const fs::path& dir) {
  WITAN_TRY(text, readSmallFile(dir / kFile, 4096));
  if (!text) return unavailable("no node runs on " + dir.string(), "start it: witan up --dir " + dir.string());
  WITAN_TRY(parsed, parseJson(*text));
  ControlFile file;
  WITAN_DO(readJson(parsed, file, kFile));
  if (file.directory && *file.directory != inodeOf(dir))
    return unavailable("no node runs on " + dir.string() + ", which is a copy of a directory on which one ran",
                       "start it: witan up --dir " + dir.string());
  return file;
}

Error errorOf(const net::HttpResponse& response) {
  auto parsed = parseJson(response.body);
  const json::value* error = parsed.ok() && parsed->is_object() ? parsed->get_object().if_contains("error") : nullptr;
  const auto text = [&](const char* name) -> std::string {
    const json::value* member =
        error != nullptr && error->is_object() ? error->get_object().if_contains(name) : nullptr;
    return member != nullptr && member->is_string() ? std::string(member->get_string()) : "";
  };
  const std::string message = text("message");
  if (message.empty()) return {ErrorCode::unavailable, concat("the node answered ", response.status), "see its log"};
  for (const ErrorCode code :
       {ErrorCode::invalidInput, ErrorCode::notFound, ErrorCode::conflict, ErrorCode::unauthorised, ErrorCode::corrupt,
        ErrorCode::ioFailed, ErrorCode::unavailable})
    if (text("code") == toString(code)) return {code, message, text("hint")};
  return {ErrorCode::invalidInput, message, text("hint")};
}

// A node that was killed leaves its file behind. One that is there and has too much to do must not be started again.
Error noAnswer(const fs::path& dir, const std::string& why) {
  const pid_t holder = lockHolder(dir / "journal" / "LOCK");
  return {ErrorCode::unavailable, "no node answers on " + dir.string() + " (" + why + ")",
          holder > 0 ? concat("the process ", holder,
                              " runs it: it has too many connections, or hangs; try again, then look at its log")
                     : "start it: witan up --dir " + dir.string()};
}

}  // namespace

Status writeControlFile(const fs::path& dir, ControlFile file) {
  file.directory = inodeOf(dir);
  return replaceFile(dir / kFile, toJson(file) + "\n", 0600);
}

void removeControlFile(const fs::path& dir) {
  std::error_code ec;
  fs::remove(dir / kFile, ec);
}

Result<ControlClient> ControlClient::open(const fs::path& dir, ControlRole role) {
  const char* url = std::getenv("WITAN_URL");
  const char* token = std::getenv("WITAN_TOKEN");
  if (url != nullptr && token != nullptr) return at(url, token);
  WITAN_TRY(file, readControlFile(dir));
  WITAN_TRY(tokens, ControlTokens::read(dir));
  ControlClient client(file.address, tokens.of(role));
  auto alive = client.call({.method = "GET", .target = "/livez"}, 5'000);
  if (!alive.ok()) return noAnswer(dir, alive.error().message);
  return client;
}

ControlClient ControlClient::at(std::string address, std::string token) {
  if (address.starts_with("http://")) address.erase(0, 7);
  while (!address.empty() && address.back() == '/') address.pop_back();
  return {std::move(address), std::move(token)};
}

Result<net::HttpResponse> ControlClient::call(net::HttpRequest request, std::int64_t timeoutMs) const {
  request.headers["authorization"] = "Bearer " + token_;
  if (!request.body.empty()) request.headers["content-type"] = "application/json";
  return net::httpCall({.address = address_}, request, timeoutMs);
}

Result<std::string> ControlClient::text(const std::string& target) const {
  WITAN_TRY(response, call({.method = "GET", .target = target}, kReadTimeoutMs));
  if (response.status / 100 != 2) return errorOf(response);
  return std::move(response.body);
}

Result<json::value> ControlClient::get(const std::string& target) const {
  WITAN_TRY(body, text(target));
  return parseJson(body, kOwnJson);
}

Result<json::value> ControlClient::post(const std::string& path, const json::object& body,
                                        std::int64_t timeoutMs) const {
  WITAN_TRY(response, call({.method = "POST", .target = path, .body = canonicalJson(body)}, timeoutMs));
  if (response.status / 100 != 2) return errorOf(response);
  return parseJson(response.body, kOwnJson);
}

Status ControlClient::events(const std::string& target, const std::function<bool(std::string_view)>& event) const {
  net::HttpRequest request{.method = "GET", .target = target};
  request.headers["authorization"] = "Bearer " + token_;
  request.headers["accept"] = "text/event-stream";
  net::EventParser parser;
  Status parsed = okStatus();
  auto ended = net::httpStream({.address = address_}, request, [&](std::string_view chunk) {
    bool goesOn = true;
    parsed = parser.feed(chunk, [&](const net::ServerEvent& one) { return goesOn = event(one.data); });
    return goesOn && parsed.ok();
  });
  WITAN_DO(parsed);
  if (!ended.ok()) return ended.error();
  return ended->status / 100 == 2 ? okStatus() : Status(errorOf(*ended));
}

std::optional<ControlClient> runningNode(const fs::path& dir) {
  std::error_code ec;
  if (!fs::exists(dir / kFile, ec)) return std::nullopt;
  auto client = ControlClient::open(dir);
  return client.ok() ? std::optional(std::move(*client)) : std::nullopt;
}

}  // namespace witan::node

#include "cli/doctor/support_bundle.h"

#include <sys/stat.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <fstream>

#include "base/json_codec.h"
#include "cli/client/control_client.h"
#include "cli/doctor/doctor.h"
#include "node/api/control_tokens.h"
#include "node/cluster/device_key.h"
#include "node/cluster/roster_store.h"
#include "node/config/daemon_config.h"
#include "program/durable_file.h"

namespace witan::node {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t kBlock = 512;
constexpr int kGzip = 15 + 16;  // the window's bits; 16: a gzip header
constexpr std::size_t kLogTailBytes = 512 << 10;
constexpr std::string_view kStruckOut = "[struck out]";
constexpr std::string_view kInvitation = "witan1.";  // node/enrolment/joining.h

std::vector<std::string> secretsOf(const fs::path& dir) {
  std::vector<std::string> secrets;
  for (const char* name : {"device.key", "device.key.next", "device.key.previous", "admin.key", "cluster.key"})
    if (auto text = readSmallFile(dir / name, 4096); text.ok() && *text) secrets.emplace_back(chomped(**text));
  if (auto tokens = ControlTokens::read(dir); tokens.ok())
    for (const ControlRole role :
         {ControlRole::observer, ControlRole::operator_, ControlRole::counselor, ControlRole::admin})
      secrets.push_back(tokens->of(role));
  std::erase_if(secrets, [](const std::string& secret) { return secret.size() < 8; });
  return secrets;
}

std::string listing(const fs::path& dir) {
  std::vector<std::string> lines;
  std::error_code ec;
  for (fs::recursive_directory_iterator at(dir, ec), end; !ec && at != end; at.increment(ec)) {
    struct stat status {};
    if (::lstat(at->path().c_str(), &status) != 0) continue;
    char mode[16];
    std::snprintf(mode, sizeof mode, "%06o", static_cast<unsigned>(status.st_mode));
    lines.push_back(concat(at->path().lexically_relative(dir).string(), "  ", mode, "  ", status.st_size));
  }
  std::ranges::sort(lines);
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

std::string rosterOf(const fs::path& dir) {
  const auto cluster = readClusterFile(dir);
  if (!cluster.ok()) return cluster.error().message + "\n";
  const auto admin = publicKeyFromHex(cluster->adminKey, "adminKey");
  const auto book = RosterStore::open(dir, *admin);
  return (book.ok() ? toJson(book->current()) : book.error().message) + "\n";
}

std::string configOf(const fs::path& dir) {
  const auto config = loadConfig(dir);
  return config.ok() ? configText(*config) : config.error().message + "\n";
}

Result<std::string> endOf(const fs::path& log) {
  std::error_code ec;
  if (fs::exists(log, ec) && !fs::is_regular_file(log, ec)) return invalid(log.string() + " is no regular file");
  std::ifstream file(log, std::ios::binary | std::ios::ate);
  if (!file) return notFound("cannot read the log " + log.string());
  const auto size = static_cast<std::size_t>(file.tellg());
  std::string text(std::min(size, kLogTailBytes), '\0');
  file.seekg(static_cast<std::streamoff>(size - text.size()));
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(file.gcount()));
  return text;
}

}  // namespace

void TarGz::add(std::string_view name, std::string_view content) {
  WITAN_CHECK(!name.empty() && name.size() <= 100, "a name of the ustar header");
  std::array<char, kBlock> header{};
  const auto put = [&](std::size_t at, std::string_view text) {
    std::memcpy(header.data() + at, text.data(), text.size());
  };
  const auto octal = [&](std::size_t at, std::size_t digits, std::uint64_t number) {
    char text[24];
    std::snprintf(text, sizeof text, "%0*llo", static_cast<int>(digits), static_cast<unsigned long long>(number));
    put(at, std::string_view(text, digits));
  };
  put(0, name);
  octal(100, 7, 0600);
  octal(108, 7, 0);
  octal(116, 7, 0);
  octal(124, 11, content.size());
  octal(136, 11, static_cast<std::uint64_t>(std::max<std::int64_t>(at_.micros, 0) / 1'000'000));
  header[156] = '0';
  put(257, std::string_view("ustar\0"
                            "00",
                            8));
  put(148, "        ");
  unsigned sum = 0;
  for (const char c : header) sum += static_cast<unsigned char>(c);
  octal(148, 6, sum);
  header[154] = '\0';
  tar_.append(header.data(), header.size());
  tar_.append(content);
  tar_.append((kBlock - content.size() % kBlock) % kBlock, '\0');
}

Result<std::string> TarGz::finish() {
  tar_.append(2 * kBlock, '\0');
  z_stream stream{};
  if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, kGzip, 8, Z_DEFAULT_STRATEGY) != Z_OK)
    return ioFailed("zlib has no memory");
  std::string out(deflateBound(&stream, tar_.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(tar_.data());
  stream.avail_in = static_cast<uInt>(tar_.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  const int done = deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  if (done != Z_STREAM_END) return ioFailed("zlib did not compress it");
  return out;
}

namespace {

// What an address has before an @, as a password of etcd: http://user:password@host.
void strikeOutUserInfo(std::string& text) {
  constexpr std::string_view kSlashes = "://";
  for (std::size_t at = text.find(kSlashes); at != std::string::npos; at = text.find(kSlashes, at)) {
    at += kSlashes.size();
    const std::size_t end = std::min(text.find_first_of("/?#\"' \t\r\n", at), text.size());
    const std::size_t sign = std::string_view(text).substr(at, end - at).rfind('@');
    if (sign != std::string_view::npos) text.replace(at, sign, kStruckOut);
  }
}

}  // namespace

std::string strikeOut(std::string text, const std::vector<std::string>& secrets) {
  for (const std::string& secret : secrets)
    for (std::size_t at = text.find(secret); at != std::string::npos; at = text.find(secret, at))
      text.replace(at, secret.size(), kStruckOut);
  strikeOutUserInfo(text);
  for (std::size_t at = text.find(kInvitation); at != std::string::npos; at = text.find(kInvitation, at)) {
    std::size_t end = at + kInvitation.size();
    while (end < text.size() && (std::isalnum(static_cast<unsigned char>(text[end])) != 0 ||
                                 std::string_view("-_.=").find(text[end]) != std::string_view::npos))
      ++end;
    text.replace(at, end - at, kStruckOut);
  }
  return text;
}

Result<std::vector<std::string>> writeSupportBundle(const BundleOrder& order) {
  std::error_code ec;
  if (fs::exists(order.to, ec)) return conflict(order.to.string() + " exists", "give a new file");
  const std::vector<std::string> secrets = secretsOf(order.dir);
  TarGz bundle(order.now);
  std::vector<std::string> names;
  const auto add = [&](const std::string& name, std::string text) {
    names.push_back(name);
    bundle.add("witan-support/" + name, strikeOut(std::move(text), secrets));
  };
  std::string findings;
  for (const DoctorCheck& check : examine(order.dir, false, order.now)) findings += toJson(check) + "\n";
  add("version.txt", concat("witan ", WITAN_VERSION, "\n", formatTime(order.now), "\n"));
  add("doctor.jsonl", std::move(findings));
  add("config.toml", configOf(order.dir));
  add("roster.json", rosterOf(order.dir));
  add("files.txt", listing(order.dir));
  if (auto client = ControlClient::open(order.dir); client.ok())
    for (const auto& [name, target] : {std::pair{"status.json", "/v1/status"},
                                       {"peers.json", "/v1/peers"},
                                       {"partitions.json", "/v1/partitions"},
                                       {"incidents.json", "/v1/incidents"},
                                       {"metrics.txt", "/metrics"},
                                       {"readyz.txt", "/readyz?verbose=1"}}) {
      auto text = client->text(target);
      add(name, text.ok() ? std::move(*text) : text.error().message + "\n");
    }
  if (!order.log.empty()) {
    WITAN_TRY(tail, endOf(order.log));
    add("log.txt", std::move(tail));
  }
  WITAN_TRY(bytes, bundle.finish());
  WITAN_DO(replaceFile(fs::absolute(order.to, ec), bytes, 0600));
  return names;
}

}  // namespace witan::node

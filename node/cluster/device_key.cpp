#include "node/cluster/device_key.h"

#include <sys/stat.h>

#include <cctype>

#include "base/bytes.h"
#include "base/json_codec.h"
#include "base/public_key.h"
#include "base/quote.h"
#include "base/sha256.h"
#include "kernel/record/statement.h"
#include "node/data_dir/replica_dir.h"
#include "program/durable_file.h"

namespace witan::node {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t kSmallFile = 4096;

fs::path pathOf(const fs::path& dir, KeyName name) {
  switch (name) {
    case KeyName::device: return dir / "device.key";
    case KeyName::admin: return dir / "admin.key";
    case KeyName::nextDevice: return dir / "device.key.next";
    case KeyName::previousDevice: return dir / "device.key.previous";
    case KeyName::witness: return dir / "witness.key";
    case KeyName::nextAdmin: return dir / "admin.key.next";
  }
  return dir;
}

constexpr std::size_t kFingerprintDigits = 64;  // SHA-256
constexpr std::size_t kGroup = 4;

}  // namespace

std::string deviceIdOf(const PublicKey& key) { return kernel::deviceOfKey(key); }
std::string clusterIdOf(const PublicKey& adminKey) { return "c-" + deviceIdOf(adminKey); }

std::string fingerprintOf(const PublicKey& key) {
  const std::string hex = toHex(sha256(asView(key)));
  std::string out;
  for (std::size_t i = 0; i < hex.size(); i += 4) out += (i > 0 ? " " : "") + hex.substr(i, 4);
  return out;
}

Result<PublicKey> publicKeyFromBytes(std::span<const std::uint8_t> bytes, std::string_view what) {
  PublicKey key{};
  if (bytes.size() != key.size()) return invalid(concat(what, ": ", bytes.size(), " bytes, a key has 32"));
  std::ranges::copy(bytes, key.begin());
  WITAN_DO(checkPublicKey(what, key));
  return key;
}

Result<PublicKey> publicKeyFromHex(std::string_view hex, std::string_view what) {
  auto bytes = fromHex(hex);
  if (!bytes.ok()) return invalid(concat(what, ": ", bytes.error().message));
  return publicKeyFromBytes(asBytes(*bytes), what);
}

bool hasKey(const fs::path& dir, KeyName name) {
  std::error_code ec;
  return fs::exists(pathOf(dir, name), ec);
}

Result<SigningKey> createKey(const fs::path& dir, KeyName name) {
  if (hasKey(dir, name)) return conflict(pathOf(dir, name).string() + " exists already");
  SystemRandom random;
  SigningKey key = SigningKey::generate(random);
  WITAN_DO(replaceFile(pathOf(dir, name), toHex(asBytes(key.seed())) + "\n", 0600));
  return key;
}

Result<SigningKey> readKey(const fs::path& dir, KeyName name) {
  const fs::path path = pathOf(dir, name);
  WITAN_TRY(text, readSmallFile(path, kSmallFile));
  std::error_code ec;
  if (!text)
    return notFound("there is no " + path.string(),
                    name == KeyName::admin                 ? "do this on the device where the cluster was begun"
                    : fs::exists(dir / "cluster.json", ec) ? "restore it from a backup with keys"
                                                           : "make a node with: witan init, or witan join TOKEN");
  struct stat status {};
  if (::stat(path.c_str(), &status) == 0 && (status.st_mode & 077) != 0)
    return Error{ErrorCode::unauthorised, "others may read " + path.string(), "chmod 600 " + path.string()};
  auto seed = fromHex(chomped(*text));
  auto key = seed.ok() ? SigningKey::fromSeed(*seed) : Result<SigningKey>(seed.error());
  if (!key.ok()) return corrupt(path.string() + " does not hold 64 hex digits", "restore it from a copy");
  return key;
}

Status promoteNextKey(const fs::path& dir) {
  WITAN_TRY(next, readKey(dir, KeyName::nextDevice));
  (void)next;
  const fs::path present = pathOf(dir, KeyName::device);
  const fs::path previous = pathOf(dir, KeyName::previousDevice);
  // Two names of one file meanwhile: at no moment is there no device.key.
  forgetPreviousKey(dir);
  std::error_code ec;
  fs::create_hard_link(present, previous, ec);
  if (ec) {  // a file system without them
    WITAN_TRY(text, readSmallFile(present, kSmallFile));
    WITAN_DO(replaceFile(previous, text.value_or(""), 0600));
  }
  return renameFile(pathOf(dir, KeyName::nextDevice), present);
}

Status promoteNextAdmin(const fs::path& dir) {
  if (!hasKey(dir, KeyName::nextAdmin)) return okStatus();
  return renameFile(pathOf(dir, KeyName::nextAdmin), pathOf(dir, KeyName::admin));
}

void forgetPreviousKey(const fs::path& dir) {
  std::error_code ec;
  fs::remove(pathOf(dir, KeyName::previousDevice), ec);
}

std::string rotationText(std::string_view device, const PublicKey& next) {
  return concat("witan rotate|", device, "|", toHex(next));
}

Status writeClusterFile(const fs::path& dir, const ClusterFile& cluster) {
  return replaceFile(dir / "cluster.json", toJson(cluster) + "\n", 0644);
}

Result<ClusterFile> readClusterFile(const fs::path& dir) {
  WITAN_TRY(format, readDataFormat(dir));
  (void)format;  // one so far
  const fs::path path = dir / "cluster.json";
  WITAN_TRY(text, readSmallFile(path, kSmallFile));
  if (!text)
    return notFound("no node in " + dir.string(),
                    "make one with: witan init --dir " + dir.string() + ", or witan join TOKEN");
  ClusterFile cluster;
  auto parsed = parseJson(*text);
  Status read = parsed.ok() ? readJson(*parsed, cluster, "cluster") : Status(parsed.error());
  if (read.ok()) {
    auto key = publicKeyFromHex(cluster.adminKey, "adminKey");
    if (!key.ok()) read = key.error();
  }
  if (read.ok() && (cluster.partitions == 0 || cluster.partitions > kMaxClusterPartitions))
    read = invalid(concat("partitions: 1 to ", kMaxClusterPartitions));
  if (!read.ok())
    return corrupt(path.string() + " is damaged (" + read.error().message + ")", "restore it from a copy");
  return cluster;
}

Result<std::string> parseFingerprint(std::string_view text) {
  const auto wrong = [](const std::string& why) {
    return invalid(concat("fingerprint: ", why, "; expected ", kFingerprintDigits, " hex digits"),
                   "copy all of what witan status shows on that device");
  };
  std::string out;
  std::size_t digits = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    if (c == ' ' || c == ':') continue;
    if (std::isxdigit(c) == 0) return wrong(concat("character ", i + 1, " is ", inQuotes(text.substr(i, 1))));
    if (digits > 0 && digits % kGroup == 0) out += ' ';
    out += static_cast<char>(std::tolower(c));
    ++digits;
  }
  if (digits != kFingerprintDigits) return wrong(concat("it has ", digits, " digits"));
  return out;
}

}  // namespace witan::node

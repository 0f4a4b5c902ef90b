#include "node/data_dir/replica_dir.h"

#include <sys/stat.h>
#include <unistd.h>

#include <fcntl.h>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>

#include "base/bytes.h"
#include "base/identity.h"
#include "base/json_codec.h"
#include "base/quote.h"
#include "base/seams.h"
#include "node/data_dir/replica_store.h"
#include "program/durable_file.h"
#include "replication/records/record_schemas.h"
#include "replication/writer.h"

namespace witan::node {

namespace fs = std::filesystem;
using namespace replication;
using replication::HighWater;
using replication::LocalReplica;

namespace {

constexpr const char* kIdentityFile = "replica.json";
constexpr const char* kKeyFile = "cluster.key";
constexpr std::size_t kKeyBytes = 32;
constexpr std::size_t kMaxSmallFile = 4096;

std::string randomHex(std::size_t bytes) {
  std::vector<std::uint8_t> drawn(bytes);
  SystemRandom().fill(drawn);
  return toHex(drawn);
}

std::uint32_t randomTag() { return static_cast<std::uint32_t>(SystemRandom().next()); }

// The host's name as far as it is an id; digits, since one host may have several directories.
std::string madeUpDevice() {
  std::array<char, 256> host{};
  std::string name;
  if (::gethostname(host.data(), host.size() - 1) == 0)
    for (const char* c = host.data(); *c != '\0' && *c != '.' && name.size() < 64; ++c)
      if (std::isalnum(static_cast<unsigned char>(*c)) != 0 || *c == '-') name += *c;
  return (name.empty() ? "device" : name) + "-" + randomHex(4);
}

Result<std::string> readKey(const fs::path& path) {
  WITAN_TRY(text, readSmallFile(path, kMaxSmallFile));
  if (!text) return notFound("there is no key file " + path.string());
  const auto key = fromHex(chomped(*text));
  if (!key.ok() || key->size() != kKeyBytes)
    return corrupt("the key file " + path.string() + " does not hold 64 hex digits",
                   concat("copy ", kKeyFile, " of another device of the cluster"));
  return *key;
}

// A store that is gone would be made anew, and its counters given away a second time; what the record says of it is
// believed no more then, so that this device goes on as a new writer.
Status checkStoresThere(const fs::path& dir, const HighWater& record) {
  for (const char* name : {"journal", "agents"}) {
    const std::string prefix = concat(name, "/");
    const auto lease = record.spaces.lower_bound(prefix);
    if (lease == record.spaces.end() || !lease->first.starts_with(prefix)) continue;
    const fs::path path = dir / name;
    std::error_code ec;
    if (!fs::exists(path / "CURRENT", ec))  // RocksDB's, there before anything is leased
      return corrupt("the store " + path.string() + " is gone: the high-water record beside it knows of it");
  }
  return okStatus();
}

constexpr std::string_view kWords = "witan data ";
constexpr std::size_t kMostBytes = 64;

}  // namespace

Status makeFolder(const fs::path& dir) {
  std::error_code ec;
  if (fs::create_directories(dir, ec)) fs::permissions(dir, fs::perms::owner_all, ec);
  return ec ? Status(ioFailed("cannot create " + dir.string() + " (" + ec.message() + ")")) : okStatus();
}

Result<ReplicaIdentity> readReplicaIdentity(const fs::path& dir) {
  WITAN_TRY(format, readDataFormat(dir));
  (void)format;  // one so far
  const fs::path path = dir / kIdentityFile;
  WITAN_TRY(text, readSmallFile(path, kMaxSmallFile));
  if (!text)
    return notFound("no replica in " + dir.string(),
                    "begin a cluster with witan init, join one with witan join TOKEN; records without a network: witan "
                    "device init --dir " +
                        dir.string());
  ReplicaIdentity identity;
  auto parsed = parseJson(*text);
  Status read = parsed.ok() ? readJson(*parsed, identity, "replica") : Status(parsed.error());
  if (read.ok()) read = validateDeviceId("device", identity.device);
  if (read.ok()) read = validateId("cluster", identity.cluster);
  if (!read.ok())
    return corrupt(path.string() + " is damaged (" + read.error().message + ")", "restore it from a copy");
  return identity;
}

Result<fs::path> replicaDirPath(const std::string& flag) {
  const auto variable = [](const char* name) -> std::string {
    const char* value = std::getenv(name);
    return value == nullptr ? "" : value;
  };
  if (!flag.empty()) return fs::path(flag);
  if (const std::string dir = variable("WITAN_DIR"); !dir.empty()) return fs::path(dir);
  if (const std::string data = variable("XDG_DATA_HOME"); !data.empty()) return fs::path(data) / "witan";
  if (const std::string home = variable("HOME"); !home.empty()) return fs::path(home) / ".local/share/witan";
  return invalid("no data directory (neither WITAN_DIR nor XDG_DATA_HOME nor HOME is set)", "give --dir DIR");
}

bool ReplicaDir::exists(const fs::path& dir) {
  std::error_code ec;
  return fs::exists(dir / kIdentityFile, ec);
}

Status ReplicaDir::create(const fs::path& dir, const NewReplica& replica) {
  if (exists(dir)) {
    WITAN_TRY(there, readReplicaIdentity(dir));
    return conflict(dir.string() + " holds device " + there.device + " of cluster " + there.cluster + " already",
                    "use it, or give another --dir");
  }
  if (replica.cluster.has_value() != (replica.keyFile.has_value() || replica.clusterKey.has_value()))
    return invalid("a cluster is joined with its id and its key (one of the two is missing)",
                   "give --cluster ID and --key-file FILE, or neither to begin a cluster");
  const ReplicaIdentity identity{replica.device.value_or(madeUpDevice()),
                                 replica.cluster.value_or("cluster-" + randomHex(8))};
  WITAN_DO(validateDeviceId("device", identity.device));
  WITAN_DO(validateId("cluster", identity.cluster));
  std::string key = randomHex(kKeyBytes);
  if (replica.keyFile) {
    WITAN_TRY(shared, readKey(*replica.keyFile));
    key = toHex(asBytes(shared));
  }
  if (replica.clusterKey) {
    if (replica.clusterKey->size() != kKeyBytes) return invalid("the cluster's key has 32 bytes");
    key = toHex(asBytes(*replica.clusterKey));
  }
  WITAN_DO(makeFolder(dir));
  WITAN_DO(writeDataFormat(dir));
  WITAN_DO(replaceFile(dir / kKeyFile, key + "\n", 0600));
  // Last, since it says that there is a replica.
  return replaceFile(dir / kIdentityFile, toJson(identity) + "\n", 0644);
}

Result<std::string> readClusterSecret(const fs::path& dir) { return readKey(dir / kKeyFile); }

Result<std::unique_ptr<ReplicaDir>> ReplicaDir::open(const fs::path& dir, std::shared_ptr<replication::RowKeys> keys) {
  std::unique_ptr<ReplicaDir> opened(new ReplicaDir(dir));
  WITAN_TRY(options, readReplicaOptions(dir, opened->record_));
  options.rowKeys = std::move(keys);
  WITAN_SET(opened->journal_, openReplicaStore(dir / "journal"));
  WITAN_SET(opened->agents_, openReplicaStore(dir / "agents"));
  WITAN_SET(opened->replica_,
            LocalReplica::open(*opened->journal_, *opened->agents_, recordSchemas(), std::move(options)));
  opened->record_.opened(*opened->replica_);
  WITAN_DO(opened->flush());
  return opened;
}

Result<ReplicaOptions> readReplicaOptions(const fs::path& dir, WriterRecord& record) {
  WITAN_TRY(identity, readReplicaIdentity(dir));
  WITAN_TRY(key, readKey(dir / kKeyFile));
  ReplicaOptions options;
  options.cluster = identity.cluster;
  options.clusterKey = std::move(key);
  options.device = identity.device;
  options.freshTag = randomTag;
  WITAN_TRY(highWater, record.read());
  if (highWater && highWater->ok())
    if (const Status there = checkStoresThere(dir, **highWater); !there.ok()) {
      // Durably, before the stores are made: a start that fails after that must not take them for the old ones.
      WITAN_DO(record.discard(there.error().message));
      highWater.emplace(there.error());
    }
  options.highWater = std::move(highWater);
  return options;
}

Status ReplicaDir::flush() {
  WITAN_DO(record_.lease(*replica_));
  WITAN_DO(replica_->flush());
  record_.flushed(*replica_);
  return okStatus();
}

Status ReplicaDir::close() {
  WITAN_DO(flush());
  return record_.close(*replica_);
}

Status writeDataFormat(const std::filesystem::path& dir) {
  std::error_code ec;
  if (std::filesystem::exists(dir / kDataFormatFile, ec)) return okStatus();
  return replaceFile(dir / kDataFormatFile, concat(kWords, kDataFormat, "\n"), 0644);
}

Result<std::uint64_t> readDataFormat(const std::filesystem::path& dir) {
  const std::filesystem::path file = dir / kDataFormatFile;
  WITAN_TRY(text, readSmallFile(file, kMostBytes));
  if (!text) return std::uint64_t{1};
  const std::string_view line = chomped(*text);
  std::uint64_t version = 0;
  const char* const end = line.data() + line.size();
  const bool begins = line.starts_with(kWords);
  const auto [at, failure] = std::from_chars(begins ? line.data() + kWords.size() : end, end, version);
  if (!begins || failure != std::errc{} || at != end || version == 0)
    return corrupt(file.string() + " says " + inQuotes(*text) + ", not " + inQuotes(concat(kWords, kDataFormat)),
                   "restore it from a copy");
  if (version > kDataFormat)
    return invalid(concat(file.parent_path().string(), " was written by a newer Witan (data format ", version,
                          "; this program, ", WITAN_VERSION, ", knows up to ", kDataFormat, ")"),
                   "use that version of Witan, or a backup from before");
  return version;
}

pid_t lockHolder(const std::filesystem::path& file) {
  const int fd = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return 0;
  struct flock ask {};
  ask.l_type = F_WRLCK;
  ask.l_whence = SEEK_SET;
  const bool told = ::fcntl(fd, F_GETLK, &ask) == 0 && ask.l_type != F_UNLCK;
  ::close(fd);
  return told ? ask.l_pid : 0;
}

WriterRecord::WriterRecord(std::filesystem::path dir) : file_(std::move(dir) / "writer") {}

Result<std::optional<Result<HighWater>>> WriterRecord::read() {
  WITAN_TRY(text, readSmallFile(file_, replication::kMaxHighWaterBytes));
  if (!text) return std::optional<Result<HighWater>>();
  auto parsed = replication::parseHighWater(*text);
  if (parsed.ok()) record_ = *parsed;
  return std::optional<Result<HighWater>>(std::move(parsed));
}

Status WriterRecord::discard(std::string_view why) {
  record_ = {};
  return replaceFile(file_, concat("discarded: ", why, "\n"), 0644);
}

void WriterRecord::opened(const LocalReplica& replica) {
  // A new writer has nothing in the stores yet, whatever they hold of the one before.
  if (!replica.incarnation().newIncarnation()) durable_ = replica.highWater();
}

Status WriterRecord::lease(const LocalReplica& replica) {
  HighWater wanted = replica.highWater();
  if (durable_.writer != wanted.writer) durable_ = {wanted.writer, {}};
  bool covered = record_.writer == wanted.writer;
  for (auto& [space, lease] : wanted.spaces) {
    const auto at = record_.spaces.find(space);
    covered = covered && lease.from <= (at == record_.spaces.end() ? 0 : at->second.to);
    lease.from = durable_.spaces[space].from;
  }
  return covered ? okStatus() : write(wanted);
}

Status WriterRecord::write(const HighWater& record) {
  WITAN_DO(replaceFile(file_, replication::formatHighWater(record), 0644));
  record_ = record;
  return okStatus();
}

void WriterRecord::flushed(const LocalReplica& replica) { durable_ = replica.highWater(); }

Status WriterRecord::close(const LocalReplica& replica) {
  const HighWater closed = replica.closedHighWater();
  return closed == record_ ? okStatus() : write(closed);
}

}  // namespace witan::node

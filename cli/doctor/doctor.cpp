#include "cli/doctor/doctor.h"

#include <fcntl.h>
#include <netdb.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/timex.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <optional>

#include "cli/client/verb.h"
#include "cli/ledgers/ledger_source.h"
#include "domains/agents.h"
#include "net/address.h"
#include "node/api/control_tokens.h"
#include "node/backup/backup.h"
#include "node/cluster/device_key.h"
#include "node/cluster/roster_store.h"
#include "node/config/daemon_config.h"
#include "node/daemon/agent_files.h"
#include "node/daemon/agents_policy_file.h"
#include "node/data_dir/disk_space.h"
#include "node/data_dir/replica_dir.h"
#include "node/enrolment/enrolment_service.h"
#include "node/etcd/etcd_gateway.h"
#include "store/rocks_store.h"
#include "store/table_damage.h"
#include "store/wal_damage.h"

namespace witan::node {

namespace fs = std::filesystem;

namespace {

constexpr std::int64_t kClockToleranceMicros = 5'000'000;

std::string beginHere(const fs::path& dir) {
  return "begin a cluster: witan init --dir " + dir.string() + "; or join one: witan join TOKEN --dir " + dir.string();
}

// What to do about an address that was not given.
const char* portTodo(int why) {
  switch (why) {
    case EADDRNOTAVAIL: return "it is no address of this machine: correct witan.toml";
    case EACCES: return "it may not be taken by this user: a port from 1024 on, or CAP_NET_BIND_SERVICE";
    default: return "another program may use it: ss -ltnp";
  }
}

class Examination {
 public:
  Examination(fs::path dir, Time now) : dir_(std::move(dir)), now_(now) {}

  void good(std::string name, std::string what) { checks_.push_back({std::move(name), CheckLevel::ok, what, ""}); }
  void warn(std::string name, std::string what, std::string todo) {
    checks_.push_back({std::move(name), CheckLevel::warn, std::move(what), std::move(todo)});
  }
  void fail(std::string name, std::string what, std::string todo) {
    checks_.push_back({std::move(name), CheckLevel::fail, std::move(what), std::move(todo)});
  }
  void failed(std::string name, const Error& error) { fail(std::move(name), error.message, error.hint); }

  bool directory();
  void format();
  // False: there is nothing to examine.
  bool identity();
  void keys();
  void roster();
  void config();
  void disk();
  void clock();
  // What a running node says; false: none runs.
  bool running();
  // `tables`: read all of them.
  void stores(bool tables);
  void ports();
  void ledgers();

  std::vector<DoctorCheck> take() { return std::move(checks_); }

 private:
  void secret(const char* name, bool needed);
  void enrolment(RosterStore& book, std::uint64_t partitions);
  void ofStatus(const json::value& status);
  void newestEntry();

  const fs::path dir_;
  const Time now_;
  DaemonConfig config_;
  bool networked_ = false;
  bool keepsLedgers_ = false;
  std::optional<ControlClient> client_;
  std::vector<DoctorCheck> checks_;
};

bool Examination::directory() {
  struct stat status {};
  if (::stat(dir_.c_str(), &status) != 0 || !S_ISDIR(status.st_mode)) {
    fail("directory", "there is no directory " + dir_.string(), beginHere(dir_));
    return false;
  }
  if ((status.st_mode & 077) != 0)
    warn("directory", "others may look into " + dir_.string(), "chmod 700 " + dir_.string());
  else if (status.st_uid != ::geteuid())
    warn("directory", concat("it belongs to the user ", status.st_uid, ", this is ", ::geteuid()),
         "run witan as that user");
  else
    good("directory", dir_.string());
  return true;
}

void Examination::format() {
  const auto version = readDataFormat(dir_);
  if (!version.ok()) return failed("format", version.error());
  good("format", concat("data format ", *version, ", this program ", WITAN_VERSION, " knows up to ", kDataFormat));
}

bool Examination::identity() {
  const auto identity = readReplicaIdentity(dir_);
  std::error_code ec;
  const bool empty = !identity.ok() && identity.error().code == ErrorCode::notFound;
  if (empty && !fs::exists(dir_ / "journal", ec)) {
    fail("identity", "no device lives in " + dir_.string(), beginHere(dir_));
    return false;
  }
  if (empty) fail("identity", "there is no " + (dir_ / "replica.json").string(), "restore it from a backup");
  if (!identity.ok() && !empty) failed("identity", identity.error());
  if (!identity.ok()) return true;
  networked_ = fs::exists(dir_ / "cluster.json", ec);
  good("identity", "device " + identity->device + " of cluster " + identity->cluster);
  return true;
}

void Examination::secret(const char* name, bool needed) {
  struct stat status {};
  const fs::path path = dir_ / name;
  if (::stat(path.c_str(), &status) != 0) {
    if (needed) fail(name, "there is no " + path.string(), "restore it from a backup with keys");
    return;
  }
  if ((status.st_mode & 077) != 0) return fail(name, "others may read " + path.string(), "chmod 600 " + path.string());
  good(name, "only its owner reads it");
}

void Examination::keys() {
  secret("cluster.key", true);
  secret("device.key", networked_);
  secret("admin.key", false);
  secret("control.tokens", false);
  secret("secrets.witan", false);
  if (const auto key = readClusterSecret(dir_); !key.ok()) failed("cluster.key", key.error());
  std::error_code ec;
  if (fs::exists(dir_ / "control.tokens", ec))
    if (const auto tokens = ControlTokens::read(dir_); !tokens.ok()) failed("control.tokens", tokens.error());
  if (hasKey(dir_, KeyName::nextDevice))
    if (const auto key = readKey(dir_, KeyName::nextDevice); !key.ok()) failed("device.key.next", key.error());
}

// What the desk needs that admits devices: the admin's key, invitations.
void Examination::enrolment(RosterStore& book, std::uint64_t partitions) {
  std::optional<SigningKey> admin;
  if (hasKey(dir_, KeyName::admin)) {
    auto key = readKey(dir_, KeyName::admin);
    if (!key.ok()) return failed("admin.key", key.error());
    admin = *key;
  }
  const auto secret = readClusterSecret(dir_);
  if (!secret.ok()) return;  // said before
  const auto desk = EnrolmentService::open(dir_, book, *secret, static_cast<std::uint32_t>(partitions), admin);
  desk.ok() ? good("enrolment", concat(desk->invites().size(), " invitations, ", desk->pending().size(),
                                       " devices wait to be approved"))
            : failed("enrolment", desk.error());
}

void Examination::roster() {
  if (!networked_) return;
  const auto cluster = readClusterFile(dir_);
  if (!cluster.ok()) return failed("cluster.json", cluster.error());
  const auto admin = publicKeyFromHex(cluster->adminKey, "adminKey");
  auto book = RosterStore::open(dir_, *admin);
  if (!book.ok()) return failed("roster", book.error());
  enrolment(*book, cluster->partitions);
  const auto key = readKey(dir_, KeyName::device);
  if (!key.ok()) return hasKey(dir_, KeyName::device) ? failed("device.key", key.error()) : void();  // said before
  if (const Status own = checkOwnKeys(dir_, *book); !own.ok()) return failed("keys", own.error());
  good("keys", "they are those of this device and of its cluster; its fingerprint: " + fingerprintOf(key->publicKey()));
  const auto identity = readReplicaIdentity(dir_);
  const RosterDevice* me = identity.ok() ? book->current().find(identity->device) : nullptr;
  const std::string version = concat("version ", book->current().version);
  if (me == nullptr) return fail("roster", version + " does not know this device", "witan join, with an invitation");
  if (!me->active())
    return fail("roster", version + ": this device was revoked (" + me->reason + ")", "ask the cluster's admin");
  keepsLedgers_ = me->keepsLedgers();
  good("roster",
       concat(version, ", signed by the cluster's admin, ", book->current().activeCount(), " active devices"));
}

void Examination::config() {
  auto config = loadConfig(dir_);
  if (!config.ok()) return failed("config", config.error());
  config_ = std::move(*config);
  const auto files = AgentFiles::load(dir_, config_.tools);
  if (!files.ok()) return failed("config", files.error());
  for (const std::string& what : files->leftOut()) warn("config", what, "witan publish a better one, or --withdraw it");
  for (std::size_t i = 0; i < config_.agents.size(); ++i)
    if (config_.agents[i] != "all" && files->find(config_.agents[i]) == nullptr && !files->isLeftOut(config_.agents[i]))
      return failed("config", noSuchAgent(config_, i));
  if (config_.engine == "etcd")
    if (const auto endpoints = etcdEndpoints(config_); !endpoints.ok()) return failed("config", endpoints.error());
  good("config", (dir_ / "witan.toml").string());
  const auto gate = gateOfDevice(dir_);
  if (!gate.ok()) return failed("policy", gate.error());
  good("policy", (*gate)->policy() != nullptr ? (*gate)->epoch() : "none: agents may use what stays on this device");
}

void Examination::disk() {
  const DiskSpace disk = diskSpaceOf(dir_);
  switch (disk.level) {
    case DiskLevel::ok: return good("disk", disk.what);
    case DiskLevel::low: return warn("disk", disk.what, disk.todo);
    case DiskLevel::full: return fail("disk", disk.what, disk.todo);
  }
}

void Examination::clock() {
  timex state{};
  const int known = ::adjtimex(&state);
  if (now_ < Time{1'704'067'200'000'000})  // 2024
    return fail("clock", "it shows " + formatTime(now_), "set it: rules with days and hours depend on it");
  if (known >= 0 && (state.status & STA_UNSYNC) != 0)
    return warn("clock", "the system does not keep it in step with others", "run chrony or systemd-timesyncd");
  good("clock", formatTime(now_));
}

// --- of a running node

void Examination::ofStatus(const json::value& status) {
  for (const json::value& check : rowsOf(status, "checks"))
    if (shown(check, "name") != "disk" && (!isTrue(check, "ok") || shown(check, "todo") != "-"))
      fail("node." + shown(check, "name"), shown(check, "what"),
           shown(check, "todo") != "-" ? shown(check, "todo") : "see its log");
  const json::value* peers = status.get_object().if_contains("peers");
  if (peers != nullptr && shown(*peers, "connected") != shown(*peers, "known"))
    warn("peers", shown(*peers, "connected") + " of " + shown(*peers, "known") + " connected", "witan peers");
  else if (peers != nullptr)
    good("peers", "all " + shown(*peers, "known") + " connected");
  if (shown(status, "incidents") != "0")
    warn("incidents", shown(status, "incidents") + " kept", "witan incidents");
  else
    good("incidents", "none");
}

bool Examination::running() {
  auto client = ControlClient::open(dir_);
  if (!client.ok()) return false;
  client_.emplace(std::move(*client));
  const auto status = client_->get("/v1/status");
  if (!status.ok()) {
    failed("node", status.error());
    return true;
  }
  good("node", "version " + shown(*status, "version") + " runs for " + shown(*status, "uptimeSeconds") + " s");
  ofStatus(*status);
  newestEntry();
  return true;
}

// Owners stamp what they decide: a stamp from the future is a clock that differs, theirs or this one.
void Examination::newestEntry() {
  const auto ledger = client_->get("/v1/ledger?limit=100");
  if (!ledger.ok()) return;  // a device without ledgers
  Time newest = kFirstTime;
  for (const json::value& row : rowsOf(*ledger, "entries"))
    if (const json::value* entry = row.get_object().if_contains("entry"))
      if (const auto time = parseTime(shown(*entry, "time")); time.ok()) newest = std::max(newest, *time);
  if (newest.micros > now_.micros + kClockToleranceMicros)
    warn("clocks", "the newest ledger entry was decided at " + formatTime(newest) + ", here it is " + formatTime(now_),
         "compare the clocks of the devices");
  else
    good("clocks", "no ledger entry is of the future");
}

// --- of a directory at rest

void Examination::stores(bool tables) {
  std::error_code none;
  if (std::none_of(std::begin(kBackupStores), std::end(kBackupStores),
                   [&](const char* name) { return fs::exists(dir_ / name, none); }) &&
      !fs::exists(dir_ / "writer", none))
    return good("stores", "none yet: the first start makes them");
  for (const char* name : kBackupStores) {
    std::error_code ec;
    const fs::path path = dir_ / name;
    if (!fs::exists(path, ec)) {
      if (std::string_view(name) != "ledgers" || keepsLedgers_)
        fail(name, "there is no " + path.string(), "restore it from a backup");
      continue;
    }
    const pid_t holder = lockHolder(path / "LOCK");
    if (holder > 0) {
      fail(name, concat("the process ", holder, " has it open and no control API answers"),
           concat("look at that process: ps ", holder));
      continue;
    }
    auto store = store::openRocksStore(path, {.createIfMissing = false, .preallocateLog = false});
    if (store.ok()) {
      good(name, "opens");
      store->reset();
      for (const std::string& what : tables ? store::findTableDamage(path) : std::vector<std::string>())
        fail(name, what, "restore this device from a backup, or revoke it and join anew");
    } else {
      failed(name, store.error());
    }
    for (const std::string& what : store::keptDamage(path))
      fail(name, what,
           "compare with other devices (witan ledger verify), enter again what is missing, then delete the damaged-* "
           "files");
  }
}

void Examination::ports() {
  std::vector<std::string> addresses = config_.listen;
  for (const std::string& address : {config_.control, config_.metrics})
    if (!address.empty()) addresses.push_back(address);
  for (const std::string& text : addresses) {
    const auto address = net::parseAddress(text);
    if (!address.ok() || address->host.empty() || address->port == 0) continue;
    addrinfo hints{}, *found = nullptr;
    hints.ai_socktype = SOCK_STREAM;
    hints.ai_flags = AI_PASSIVE;
    if (::getaddrinfo(address->host.c_str(), std::to_string(address->port).c_str(), &hints, &found) != 0) {
      fail("address", text + " is no address of this machine", "correct witan.toml");
      continue;
    }
    const int fd = ::socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const int yes = 1;
    ::setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    const bool free = ::bind(fd, found->ai_addr, found->ai_addrlen) == 0;
    const int why = errno;
    ::close(fd);
    ::freeaddrinfo(found);
    free ? good("address", text + " is free") : fail("address", text + ": " + std::strerror(why), portTodo(why));
  }
}

void Examination::ledgers() {
  std::error_code ec;
  if (!networked_ || !fs::exists(dir_ / "ledgers", ec)) return;
  const auto report = [&]() -> Result<json::value> {
    WITAN_TRY(source, LedgerSource::open({.dir = dir_.string()}));
    WITAN_TRY(verified, source->verify({}));
    WITAN_DO(source->close());
    return verified;
  }();
  if (!report.ok())
    return report.error().code == ErrorCode::unavailable ? good("ledgers.verify", "none kept here")
                                                         : failed("ledgers.verify", report.error());
  if (isTrue(*report, "ok")) return good("ledgers.verify", shown(*report, "entries") + " entries, all hashes agree");
  for (const json::value& ledger : rowsOf(*report, "ledgers"))
    if (shown(ledger, "problem") != "-")
      fail("ledgers.verify", shown(ledger, "partition") + ": " + shown(ledger, "problem"),
           "restore this device from a backup, or revoke it and join anew");
}

}  // namespace

std::vector<DoctorCheck> examine(const fs::path& dir, bool ledgers, Time now) {
  Examination examination(dir, now);
  if (!examination.directory()) return examination.take();
  examination.format();
  if (!examination.identity()) return examination.take();
  examination.keys();
  examination.roster();
  examination.config();
  examination.disk();
  examination.clock();
  if (!examination.running()) {
    examination.good("node", "none runs here");
    examination.stores(ledgers);
    examination.ports();
  }
  if (ledgers) examination.ledgers();
  return examination.take();
}

CheckLevel worst(const std::vector<DoctorCheck>& checks) {
  CheckLevel level = CheckLevel::ok;
  for (const DoctorCheck& check : checks) level = std::max(level, check.level);
  return level;
}

}  // namespace witan::node

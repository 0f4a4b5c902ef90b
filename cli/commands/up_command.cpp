// `witan up`: the node at work, until it is told to stop.
#include <link.h>
#include <malloc.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <cstring>

#include "base/seams.h"
#include "cli/client/control_client.h"
#include "cli/commands/commands.h"
#include "cli/commands/dev_command.h"
#include "domains/registry.h"
#include "node/api/control_api.h"
#include "node/daemon/published_files.h"
#include "node/data_dir/node_dir.h"
#include "node/data_dir/published_document.h"
#include "node/data_dir/replica_dir.h"
#include "node/events/rule_check.h"
#include "program/command_line.h"
#include "program/option_checks.h"
#include "program/output.h"
#include "program/process.h"
#include "rules/domain/versions.h"

namespace witan::node {

namespace {

// A Unix socket's path has at most 107 bytes (sun_path).
constexpr std::size_t kMaxSocketPath = 100;
constexpr std::int64_t kStartedMs = 1'000;
constexpr std::int64_t kGiveBackMs = 10 * 60'000;
constexpr int kLargeBytes = 256 << 10;  // given back at once
constexpr std::int64_t kRulesMs = 250;  // how often the folder of rule files is looked at

struct UpArguments {
  std::string dir, control, logFormat, logLevel;
  std::vector<std::string> listen, dial, agents;
  bool printConfig = false, json = false;
};

Result<DaemonConfig> configOf(const UpArguments& a, const std::filesystem::path& dir) {
  WITAN_TRY(config, loadConfig(dir));
  const auto take = [&config = config](const auto& given, auto& into, const char* key, const char* option) {
    if (given.empty()) return;
    into = given;
    config.places[key] = {option};
  };
  take(a.listen, config.listen, "[node] listen", "--listen");
  take(a.dial, config.dial, "[peers] dial", "--dial");
  take(a.agents, config.agents, "[agents] run", "--agent");
  take(a.control, config.control, "[control] listen", "--control");
  take(a.logFormat, config.logFormat, "[log] format", "--log-format");
  take(a.logLevel, config.logLevel, "[log] level", "--log-level");
  WITAN_DO(checkConfig(config));
  return config;
}

std::string controlAddress(const DaemonConfig& config, const std::filesystem::path& dir) {
  if (!config.control.empty()) return config.control;
  std::error_code ec;
  const std::string path = (std::filesystem::absolute(dir, ec) / "control.sock").string();
  return path.size() <= kMaxSocketPath ? "unix:" + path : "127.0.0.1:0";
}

// A node at rest needs a tenth of the code that has run until it was up: the command line, recovery of three stores,
// relocation. These pages are the page cache's; unmapped, they come back when they are used again (a minor fault for
// 64 KiB). Only segments that nothing writes, so that each page is as it is in its file.
int releaseSegments(dl_phdr_info* object, std::size_t, void*) {
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const auto& segment = object->dlpi_phdr[i];
    if (segment.p_type != PT_LOAD || (segment.p_flags & PF_W) != 0) continue;
    const std::uintptr_t page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
    const std::uintptr_t from = (object->dlpi_addr + segment.p_vaddr) / page * page;
    (void)::madvise(reinterpret_cast<void*>(from), object->dlpi_addr + segment.p_vaddr + segment.p_memsz - from,
                    MADV_DONTNEED);
  }
  return 0;
}

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// What systemd wants to hear (sd_notify(3)), over the datagram socket that $NOTIFY_SOCKET names. Without one every call
// does nothing.
class ServiceManager {
 public:
  void ready(std::string_view status) const { send("READY=1\nSTATUS=" + oneLine(status)); }
  void reloading() const {
    timespec now{};
    ::clock_gettime(CLOCK_MONOTONIC, &now);
    send(concat("RELOADING=1\nMONOTONIC_USEC=", now.tv_sec * 1'000'000LL + now.tv_nsec / 1000));
  }
  void stopping() const { send("STOPPING=1"); }
  void alive() const { send("WATCHDOG=1"); }  // for WatchdogSec=
  // How often alive() is due; 0: never.
  std::int64_t aliveEveryMs() const { return watchdogMicros_ / 2000; }

 private:
  void send(const std::string& message) const {
    sockaddr_un address{};
    if (socket_.empty() || socket_.size() >= sizeof address.sun_path) return;
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, socket_.data(), socket_.size());
    if (address.sun_path[0] == '@') address.sun_path[0] = '\0';  // the abstract namespace
    const int fd = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0) return;
    const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + socket_.size());
    (void)::sendto(fd, message.data(), message.size(), MSG_NOSIGNAL, reinterpret_cast<const sockaddr*>(&address), size);
    ::close(fd);
  }

  const std::string socket_ = variable("NOTIFY_SOCKET");
  const std::int64_t watchdogMicros_ = std::strtoll(variable("WATCHDOG_USEC").c_str(), nullptr, 10);
};

// The running parts, in the order in which they begin.
class Up {
 public:
  Up(const std::filesystem::path& dir, DaemonConfig config)
      : dir_(dir),
        config_(std::move(config)),
        log_(
            logLevelOf(config_.logLevel), config_.logFormat == "json", [] { return SystemClock().now(); },
            [](std::string_view line) { putErr(line); }) {}

  Result<int> run() {
    WITAN_SET(daemon_, Daemon::open(loop_, log_, dir_, config_));
    WITAN_TRY(tokens, ControlTokens::open(dir_));
    daemon_->onFailure = [this] { end(); };
    WITAN_TRY(programs, ProgramTokens::open(dir_));
    api_ = std::make_unique<ControlApi>(loop_, *daemon_, std::move(tokens), std::move(programs));
    WITAN_TRY(control, api_->listen(controlAddress(config_, dir_)));
    log_.info("control", "listening", {{"address", control}});
    if (!config_.metrics.empty()) {
      WITAN_TRY(bound, api_->listenPublic(config_.metrics));
      log_.info("metrics", "listening", {{"address", bound}});
    }
    WITAN_DO(daemon_->start());
    WITAN_DO(writeControlFile(dir_, {control, ::getpid()}));
    loop_.onSignals({SIGINT, SIGTERM, SIGHUP}, [this](int signal) { onSignal(signal); });
    log_.info("node", "up",
              {{"device", daemon_->replica().device()},
               {"name", daemon_->cluster().name},
               {"cluster", daemon_->roster().current().cluster},
               {"version", WITAN_VERSION}});
    manager_.ready("up: " + daemon_->cluster().name);
    keepAlive();
    watchRules();
    loop_.after(kStartedMs, [this] {
      (void)::dl_iterate_phdr(releaseSegments, nullptr);
      giveBack();
    });
    loop_.run();
    removeControlFile(dir_);
    return daemon_->failed().ok() ? kExitOk : kExitFailed;
  }
  // It ended to begin again, with other rules.
  bool again() const { return again_ && daemon_->failed().ok(); }

 private:
  void onSignal(int signal) {
    if (signal == SIGHUP) return reload();
    again_ = false;
    if (daemon_->stopping()) return loop_.stop();  // asked twice: now
    end();
  }

  void end() {
    if (daemon_->stopping()) return;
    again_ ? manager_.reloading() : manager_.stopping();
    api_->close();
    removeControlFile(dir_);
    daemon_->stop([this] { loop_.stop(); });
  }

  // What may change without a restart: how much is logged, and what agents may do.
  void reload() {
    manager_.reloading();
    auto config = loadConfig(dir_);
    if (config.ok()) {
      log_.setLevel(logLevelOf(config->logLevel));
      log_.info("node", "configuration read again: the log level counts now, other keys after a restart");
    } else {
      log_.error("node", "the configuration was not taken", {{"why", config.error().message}});
    }
    (void)daemon_->reloadPolicy();  // said in the log, and by the checks
    manager_.ready("up: " + daemon_->cluster().name);
  }

  std::filesystem::file_time_type rulesTime() const {
    std::error_code absent;
    return std::filesystem::last_write_time(dir_ / "rules", absent);
  }

  // Rule files that have come, by `witan publish` or `install`, count without a restart of the process.
  void watchRules() {
    loop_.after(kRulesMs, [this] {
      const auto time = rulesTime();
      if (!daemon_->stopping() && time != rulesTime_ && (rulesTime_ = time, takesUpRules())) {
        again_ = true;
        return end();
      }
      watchRules();
    });
  }

  // Whether a start now would know other rules, and nothing speaks against them: then it is worth one.
  bool takesUpRules() {
    const auto files = installedRuleFiles(dir_);
    bool other = false;
    Status may = config_.publishedOnly ? checkPublished(dir_) : okStatus();
    for (const std::string& file : files.ok() ? *files : std::vector<std::string>()) {
      if (may.ok()) may = mayTakeUp(file, other);
      if (may.ok()) continue;
      log_.warn("rules", "other rules do not count before the next start",
                {{"file", file}, {"why", may.error().message}});
      return false;
    }
    for (const auto* known : daemon_->replica().domains()) {
      const std::string& domain = known->signature().domain;
      std::error_code failed;
      other = other || (!known->ruleText().empty() && isWithdrawn(dir_, domain + ".domain.toml") &&
                        !std::filesystem::exists(ruleFilePath(dir_, domain), failed));
    }
    if (other) log_.info("rules", "other rules have come: the node begins again", {});
    return other;
  }

  Status mayTakeUp(const std::string& file, bool& other) const {
    WITAN_TRY(module, domains::makeDomain(file));
    const std::string& domain = module->signature().domain;
    if (ruleFilePath(dir_, domain).string() != file) return conflict(concat("the file is of the domain ", domain));
    WITAN_DO(mayInstall(*module));
    const auto& known = daemon_->replica().domains();
    const auto at = std::ranges::find_if(known, [&](const auto* one) { return one->signature().domain == domain; });
    if (at != known.end() && (*at)->digest() == module->digest()) return okStatus();
    other = true;
    return at == known.end() ? okStatus() : rules::continuesRules(std::string((*at)->ruleText()), {}, *module);
  }

  // What work has left unused between what stays, which the allocator would keep.
  void giveBack() {
    ::malloc_trim(0);
    loop_.after(kGiveBackMs, [this] { giveBack(); });
  }
  void keepAlive() {
    if (manager_.aliveEveryMs() <= 0) return;
    manager_.alive();
    loop_.after(manager_.aliveEveryMs(), [this] { keepAlive(); });
  }

  const std::filesystem::path dir_;
  const DaemonConfig config_;
  Log log_;
  ServiceManager manager_;
  net::Loop loop_;
  std::unique_ptr<Daemon> daemon_;
  std::unique_ptr<ControlApi> api_;
  std::filesystem::file_time_type rulesTime_ = rulesTime();
  bool again_ = false;
};

Result<int> up(const UpArguments& a) {
  WITAN_TRY(dir, replicaDirPath(a.dir));
  // First: a newer layout may have keys of the configuration that this program does not know.
  WITAN_TRY(format, readDataFormat(dir));
  (void)format;
  WITAN_TRY(config, configOf(a, dir));
  if (a.printConfig) {
    putOut(configText(config));
    return kExitOk;
  }
  ignoreBrokenPipes();
  // What its threads have left unused stays with each arena, and a large buffer's room between small things that stay.
  (void)::mallopt(M_ARENA_MAX, 2), (void)::mallopt(M_MMAP_THRESHOLD, kLargeBytes);
  (void)::mallopt(M_TRIM_THRESHOLD, 4 * kLargeBytes);
  while (true) {
    Up node(dir, config);
    WITAN_TRY(code, node.run());
    if (!node.again()) return code;
  }
}

}  // namespace

Result<int> runNode(const std::filesystem::path& dir, const std::vector<std::string>& agents) {
  return up({.dir = dir.string(), .agents = agents});
}

void addUpCommand(Command& app) {
  const auto a = std::make_shared<UpArguments>();
  Command* command = app.command("up", "Run this device's node until SIGTERM or Ctrl-C");
  command->option("--dir", a->dir, "Data directory; default $WITAN_DIR, else $XDG_DATA_HOME/witan")->typeName("DIR");
  const auto list = [&](const char* name, std::vector<std::string>& into, const char* what) {
    return command->option(name, into, what)->oneWordEach();
  };
  list("--listen", a->listen, "Address for other devices; may be repeated")->check(readBy(checkAddress));
  list("--dial", a->dial, "Address of another device, besides those of the roster; may be repeated")
      ->check(readBy(checkAddress));
  list("--agent", a->agents, "Built-in agent that works here, or all; may be repeated");
  command->option("--control", a->control, "127.0.0.1:PORT or unix:/path; default: control.sock in the directory");
  command->option("--log-format", a->logFormat, "text or json")->oneOf({"text", "json"});
  command->option("--log-level", a->logLevel, "debug, info, warn or error")->oneOf({"debug", "info", "warn", "error"});
  command->flag("--print-config", a->printConfig, "Print every key with its value, as witan.toml; start nothing");
  command->flag("--json", a->json, "Errors as JSON");
  command->footer("Example: witan up --dir /var/lib/witan --agent all");
  runs(command, a, up);
  addDevCommand(app);
}

}  // namespace witan::node

// `witan secret set|list|rm`: the device's encrypted secrets (agents/policy/secure_store.h), in DIR/secrets.witan.
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include "program/command_line.h"

#include "agents/policy/secure_store.h"
#include "base/quote.h"
#include "cli/client/operation_verb.h"
#include "cli/commands/commands.h"
#include "cli/commands/secret_input.h"
#include "program/durable_file.h"
#include "program/option_checks.h"
#include "program/output.h"

namespace witan::node {

using agents::SecureStore;
using agents::StoreKey;
using agents::StoreKeyKind;

namespace {

namespace fs = std::filesystem;

struct SecretArguments {
  std::string dir, keyFile, name;
  bool json = false;
};

// One command at a time changes the file.
class Lock {
 public:
  static Result<Lock> take(const fs::path& path) {
    const int fd = ::open(path.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600);
    if (fd < 0) return ioFailed("cannot open " + path.string() + " (" + std::strerror(errno) + ")");
    Lock lock(fd);
    if (::flock(fd, LOCK_EX | LOCK_NB) != 0)
      return Error{ErrorCode::conflict, "another command is changing the secrets", "try again when it is done"};
    return lock;
  }
  Lock(Lock&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Lock& operator=(Lock&&) = delete;
  ~Lock() {
    if (fd_ >= 0) ::close(fd_);
  }

 private:
  explicit Lock(int fd) : fd_(fd) {}
  int fd_;
};

struct Files {
  fs::path dir, secrets;
};

Result<Files> filesOf(const SecretArguments& a) {
  WITAN_TRY(dir, replicaDirPath(a.dir));
  return Files{dir, dir / "secrets.witan"};
}

Error at(const Files& files, Error error) {
  error.message = files.secrets.string() + ": " + error.message;
  return error;
}

Result<std::optional<std::string>> readFile(const Files& files) {
  return readSmallFile(files.secrets, agents::kMaxSecureStoreBytes);
}

// The key that `file` is for; of a new one whichever was given. A new passphrase is asked for twice.
Result<StoreKey> keyFor(const SecretArguments& a, const Files& files, const std::optional<std::string>& file) {
  if (file) {
    const auto kind = agents::storeKeyKind(*file);
    if (!kind.ok()) return at(files, kind.error());
    if (*kind == StoreKeyKind::keyFile && a.keyFile.empty())
      return at(files, invalid("the file of secrets is for a key file", "give it: --key-file FILE"));
  }
  if (!a.keyFile.empty()) return readKeyFile(a.keyFile);
  WITAN_TRY(passphrase, readPassphrase(!file));
  return agents::keyFromPassphrase(std::move(passphrase));
}

Result<SecureStore> openStore(const Files& files, const std::optional<std::string>& file, const StoreKey& key) {
  if (!file) return SecureStore();
  auto store = SecureStore::open(*file, key);
  if (!store.ok()) return at(files, store.error());
  return store;
}

Status keep(const Files& files, const SecureStore& store, const StoreKey& key) {
  SystemRandom random;
  return replaceFile(files.secrets, store.seal(key, random), 0600);
}

Error noSuch(const std::string& name) {
  return Error{ErrorCode::notFound, "there is no secret " + inQuotes(name), "see: witan secret list"};
}

Result<std::string> set(const SecretArguments& a) {
  WITAN_TRY(files, filesOf(a));
  std::error_code failure;
  fs::create_directories(files.dir, failure);
  if (failure) return ioFailed("cannot make " + files.dir.string() + " (" + failure.message() + ")");
  WITAN_TRY(lock, Lock::take(files.secrets.string() + ".lock"));
  (void)lock;
  WITAN_TRY(file, readFile(files));
  WITAN_TRY(key, keyFor(a, files, file));
  WITAN_TRY(store, openStore(files, file, key));
  WITAN_TRY(value, readSecretValue(a.name));
  WITAN_DO(store.set(a.name, std::move(value)));
  WITAN_DO(keep(files, store, key));
  return a.json ? "{\"set\":" + toJson(a.name) + "}\n" : "keeps " + a.name + "\n";
}

Result<std::string> list(const SecretArguments& a) {
  WITAN_TRY(files, filesOf(a));
  if (!fs::is_directory(files.dir))
    return Error{ErrorCode::notFound, "there is no data directory " + files.dir.string(), "see: witan secret set"};
  WITAN_TRY(file, readFile(files));
  if (!file) return std::string(a.json ? "{\"secrets\":[]}\n" : "");
  WITAN_TRY(key, keyFor(a, files, file));
  WITAN_TRY(store, openStore(files, file, key));
  std::string out = a.json ? "{\"secrets\":[" : "";
  for (const std::string& name : store.names())
    out += a.json ? (out.back() == '[' ? "" : ",") + toJson(name) : name + "\n";
  return a.json ? out + "]}\n" : out;
}

Result<std::string> rm(const SecretArguments& a) {
  WITAN_TRY(files, filesOf(a));
  if (!fs::exists(files.secrets)) return noSuch(a.name);
  WITAN_TRY(lock, Lock::take(files.secrets.string() + ".lock"));
  (void)lock;
  WITAN_TRY(file, readFile(files));
  if (!file) return noSuch(a.name);
  WITAN_TRY(key, keyFor(a, files, file));
  WITAN_TRY(store, openStore(files, file, key));
  if (!store.remove(a.name)) return noSuch(a.name);
  WITAN_DO(keep(files, store, key));
  return a.json ? "{\"removed\":" + toJson(a.name) + "}\n" : "removed " + a.name + "\n";
}

using Work = Result<std::string> (*)(const SecretArguments&);

int finish(const SecretArguments& a, Work work) {
  const Result<std::string> answer = work(a);
  if (!answer.ok()) return reportError(answer.error(), a.json);
  putWords(*answer);
  return kExitOk;
}

}  // namespace

void addSecretCommand(Command& app, int& exitCode) {
  Command* secret = app.command("secret", "This device's encrypted secrets: API keys and tokens of tools");
  secret->requireCommand();
  secret->footer(
      "The passphrase is asked for on the terminal, or is the first line of the file that WITAN_PASSPHRASE_FILE "
      "names;\n"
      "or --key-file has 32 random bytes (head -c 32 /dev/urandom > FILE). A secret is never an argument.\n"
      "Example: witan secret set cloud-llm-key");
  const auto verb = [&](const char* name, const char* what, const char* example, Work work) {
    const auto arguments = std::make_shared<SecretArguments>();
    Command* command = secret->command(name, what);
    command->option("--dir", arguments->dir, "Data directory; default $WITAN_DIR, else $XDG_DATA_HOME/witan")
        ->typeName("DIR");
    command->option("--key-file", arguments->keyFile, "32 bytes, or 64 hex digits, instead of a passphrase")
        ->typeName("FILE");
    command->flag("--json", arguments->json, "JSON output");
    command->footer(std::string("Example: ") + example);
    command->callback([arguments, work, &exitCode] { exitCode = finish(*arguments, work); });
    return std::pair(command, arguments);
  };
  const auto [setCommand, toSet] =
      verb("set", "Keep a secret, or another value for it; the value comes from standard input or the terminal",
           "witan secret set cloud-llm-key <key.txt", set);
  setCommand->option("NAME", toSet->name, "What policies and tools call it")
      ->required()
      ->check(idText("the secret's name"));
  verb("list", "The names of all secrets", "witan secret list --key-file secrets.key", list);
  const auto [rmCommand, toRemove] = verb("rm", "Forget a secret", "witan secret rm cloud-llm-key", rm);
  rmCommand->option("NAME", toRemove->name, "Which")->required();
}

}  // namespace witan::node

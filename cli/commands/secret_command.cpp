// `witan secret set|list|rm`: the device's encrypted secrets (agents/policy/secure_store.h), in DIR/secrets.witan.
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <optional>

#include "agents/policy/secure_store.h"
#include "base/quote.h"
#include "base/seams.h"
#include "cli/client/secret_input.h"
#include "cli/client/verb.h"
#include "cli/commands/commands.h"
#include "program/durable_file.h"
#include "program/option_checks.h"
#include "program/output.h"

namespace witan::node {

using agents::SecureStore;
using agents::StoreKey;
using agents::StoreKeyKind;

namespace {

namespace fs = std::filesystem;

struct SecretArguments : LiveArguments {
  std::string keyFile, name;
};

// Errors: cannot be read, no regular file (program/durable_file.h), not a key; none quotes the content.
Result<StoreKey> readKeyFile(const std::string& path) {
  WITAN_TRY(fd, openSecretFile(path, "the key file"));
  const SecretInput file(fd);
  std::string content(2 * kCipherKeyBytes + 3, '\0');  // hex digits, a line end, and one byte too many
  std::size_t size = 0;
  ssize_t got = 0;
  while (size < content.size() && (got = ::read(file.fd(), content.data() + size, content.size() - size)) != 0) {
    if (got < 0 && errno != EINTR)
      return ioFailed("cannot read the key file " + path + " (" + std::strerror(errno) + ")");
    if (got > 0) size += static_cast<std::size_t>(got);
  }
  content.resize(size);
  auto key = agents::keyFromFile(content);
  if (!key.ok()) return invalid(path + ": " + key.error().message, key.error().hint);
  return key;
}

// --- the file of secrets

// One command at a time changes the file.
class Lock {
 public:
  static Result<Lock> take(const fs::path& path) {
    const int fd = ::open(path.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600);
    if (fd < 0) return ioFailed("cannot open " + path.string() + " (" + std::strerror(errno) + ")");
    Lock lock(fd);
    if (::flock(fd, LOCK_EX | LOCK_NB) != 0)
      return conflict("another command is changing the secrets", "try again when it is done");
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

// DIR/secrets.witan, decrypted.
class Secrets {
 public:
  // `change`: no other command may change the file meanwhile. Errors: conflict; of the key; of the file.
  static Result<Secrets> open(const SecretArguments& a, bool change) {
    Secrets secrets;
    WITAN_TRY(dir, replicaDirPath(a.dir));
    secrets.path_ = dir / "secrets.witan";
    if (change) {
      WITAN_TRY(lock, Lock::take(secrets.path_.string() + ".lock"));
      secrets.lock_.emplace(std::move(lock));
    }
    WITAN_TRY(file, readSmallFile(secrets.path_, agents::kMaxSecureStoreBytes));
    WITAN_TRY(key, secrets.keyFor(a, file));
    secrets.key_.emplace(std::move(key));
    if (!file) return secrets;
    auto store = SecureStore::open(*file, *secrets.key_);
    if (!store.ok()) return secrets.at(store.error());
    secrets.store_ = *std::move(store);
    return secrets;
  }
  // Where there is no file, nobody need be asked for a passphrase.
  static Result<bool> exist(const SecretArguments& a) {
    WITAN_TRY(dir, replicaDirPath(a.dir));
    return fs::exists(dir / "secrets.witan");
  }

  SecureStore& store() { return store_; }
  Status keep() const {
    SystemRandom random;
    return replaceFile(path_, store_.seal(*key_, random), 0600);
  }

 private:
  Error at(Error error) const {
    error.message = path_.string() + ": " + error.message;
    return error;
  }
  // The key that the file is for; of a new one, the key that is given. A new passphrase is asked for twice.
  Result<StoreKey> keyFor(const SecretArguments& a, const std::optional<std::string>& file) const {
    if (file) {
      const auto kind = agents::storeKeyKind(*file);
      if (!kind.ok()) return at(kind.error());
      if (*kind == StoreKeyKind::keyFile && a.keyFile.empty())
        return at(invalid("the file of secrets is for a key file", "give it: --key-file FILE"));
    }
    if (!a.keyFile.empty()) return readKeyFile(a.keyFile);
    WITAN_TRY(passphrase, readPassphrase("the secrets", !file, ", or give --key-file FILE"));
    return agents::keyFromPassphrase(std::move(passphrase));
  }

  fs::path path_;
  std::optional<Lock> lock_;
  std::optional<StoreKey> key_;
  SecureStore store_;
};

Error noSuch(const std::string& name) {
  return notFound("there is no secret " + inQuotes(name), "see: witan secret list");
}

Result<int> set(const SecretArguments& a) {
  WITAN_TRY(dir, replicaDirPath(a.dir));
  std::error_code failure;
  fs::create_directories(dir, failure);
  if (failure) return ioFailed("cannot make " + dir.string() + " (" + failure.message() + ")");
  WITAN_TRY(secrets, Secrets::open(a, true));
  WITAN_TRY(value, readSecretFromInput("Value of " + a.name));
  WITAN_DO(secrets.store().set(a.name, std::move(value)));
  WITAN_DO(secrets.keep());
  return print(json::object{{"set", a.name}}, a.json, [&](const json::value&) { return "keeps " + a.name + "\n"; });
}

Result<int> list(const SecretArguments& a) {
  WITAN_TRY(dir, replicaDirPath(a.dir));
  if (!fs::is_directory(dir)) return notFound("there is no data directory " + dir.string(), "see: witan secret set");
  json::array names;
  WITAN_TRY(there, Secrets::exist(a));
  if (there) {
    WITAN_TRY(secrets, Secrets::open(a, false));
    for (const std::string& name : secrets.store().names()) names.emplace_back(name);
  }
  return print(json::object{{"secrets", std::move(names)}}, a.json, [](const json::value& all) {
    std::string words;
    for (const json::value& name : rowsOf(all, "secrets")) words += concat(name.get_string(), "\n");
    return words;
  });
}

Result<int> rm(const SecretArguments& a) {
  WITAN_TRY(there, Secrets::exist(a));
  if (!there) return noSuch(a.name);
  WITAN_TRY(secrets, Secrets::open(a, true));
  if (!secrets.store().remove(a.name)) return noSuch(a.name);
  WITAN_DO(secrets.keep());
  return print(json::object{{"removed", a.name}}, a.json,
               [&](const json::value&) { return "removed " + a.name + "\n"; });
}

}  // namespace

void addSecretCommand(Command& app) {
  Command* secret = app.command("secret", "This device's encrypted secrets: API keys and tokens of tools");
  secret->requireCommand();
  secret->footer(
      "The passphrase is asked for on the terminal, or is the first line of the file that WITAN_PASSPHRASE_FILE "
      "names;\n"
      "or --key-file has 32 random bytes (head -c 32 /dev/urandom > FILE). A secret is never an argument.\n"
      "Example: witan secret set cloud-llm-key");
  const auto verb = [&](const char* name, const char* about, const char* example,
                        Result<int> (*work)(const SecretArguments&)) {
    auto made = addVerb<SecretArguments>(*secret, name, about, example, work);
    made.first->option("--key-file", made.second->keyFile, "32 bytes, or 64 hex digits, instead of a passphrase")
        ->typeName("FILE");
    return made;
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

// `witan witness`: a witness of checkpoints (node/witness/witness.h), on a machine of somebody else.
#include <sys/file.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <filesystem>

#include "base/seams.h"
#include "cli/client/verb.h"
#include "cli/commands/commands.h"
#include "net/http_server.h"
#include "node/cluster/device_key.h"
#include "node/witness/witness.h"
#include "program/durable_file.h"
#include "program/option_checks.h"

namespace witan::node {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t kKeyFileBytes = 64 * 1024, kSizesBytes = 16 << 20, kVkeyBytes = 4096;
constexpr const char *kSizes = "witness.sizes", *kVkey = "witness.vkey";

struct WitnessArguments {
  std::string dir, listen = "127.0.0.1:7602", name;
  std::vector<std::string> logs;
};

// One process remembers for a key; the lock ends with it. Errors: conflict.
Status lock(const fs::path& dir) {
  const int fd = ::open((dir / "witness.lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0) return ioFailed("cannot write to " + dir.string());
  if (::flock(fd, LOCK_EX | LOCK_NB) == 0) return okStatus();
  ::close(fd);
  return conflict(dir.string() + " is in use by another witness", "stop that one");
}

Result<std::vector<kernel::NoteVerifier>> keysIn(const std::vector<std::string>& files) {
  std::vector<kernel::NoteVerifier> keys;
  for (const std::string& file : files) {
    WITAN_TRY(text, readSmallFile(file, kKeyFileBytes));
    if (!text) return notFound("there is no " + file, "--log takes the file device.vkey or ledger.vkey of a log");
    std::string_view rest = *text;
    while (!rest.empty()) {
      const std::string_view line = rest.substr(0, rest.find('\n'));
      rest.remove_prefix(std::min(rest.size(), line.size() + 1));
      if (line.empty()) continue;
      auto key = kernel::parseVerifierKey(line);
      if (!key.ok()) return invalid(file + ": " + key.error().message, key.error().hint);
      keys.push_back(*std::move(key));
    }
  }
  return keys;
}

constexpr const char* kRemedy =
    "restore witness.sizes from a copy that was made after its last cosignature; without one, begin a witness in "
    "another directory, and give its new key to the clusters";

// A key without its memory would cosign another history, and a memory without its key is of another witness.
Status checkMemory(const fs::path& dir, const std::optional<std::string>& sizes) {
  if (hasKey(dir, KeyName::witness) && (!sizes || sizes->empty()))
    return corrupt(concat(dir.string(), ": witness.key is here, and ", kSizes,
                          " is missing or empty: what it cosigned is not known"),
                   kRemedy);
  if (!hasKey(dir, KeyName::witness) && fs::exists(dir / kVkey))
    return corrupt(concat(dir.string(), ": ", kVkey, " is here, and witness.key is missing"),
                   "restore witness.key from a copy, or begin a witness in another directory");
  return okStatus();
}

// Those who count its cosignatures know the key of witness.vkey, and no other.
Status checkVkey(const fs::path& dir, const PublicKey& key) {
  WITAN_TRY(text, readSmallFile(dir / kVkey, kVkeyBytes));
  if (!text) return okStatus();
  const auto known = kernel::parseVerifierKey(std::string_view(*text).substr(0, text->find('\n')));
  if (known.ok() && known->publicKey == key) return okStatus();
  return corrupt(concat(dir.string(), ": witness.key is not the key of ", kVkey),
                 concat("restore both from one copy, or begin a witness in another directory; if only ", kVkey,
                        " is damaged, remove it: it is written anew"));
}

Result<Witness> openWitness(const fs::path& dir, const WitnessArguments& a) {
  WITAN_DO(lock(dir));
  WITAN_TRY(logs, keysIn(a.logs));
  WITAN_TRY(sizes, readSmallFile(dir / kSizes, kSizesBytes));
  WITAN_DO(checkMemory(dir, sizes));
  if (!sizes) WITAN_DO(replaceFile(dir / kSizes, signedSizesText({}), 0644));  // before the key: see checkMemory()
  WITAN_TRY(key, hasKey(dir, KeyName::witness) ? readKey(dir, KeyName::witness) : createKey(dir, KeyName::witness));
  WITAN_TRY(verifier, kernel::makeNoteVerifier(a.name, key.publicKey(), kernel::NoteKeyType::cosignature));
  WITAN_DO(checkVkey(dir, key.publicKey()));
  WITAN_DO(replaceFile(dir / kVkey, kernel::verifierKeyText(verifier) + "\n", 0644));
  auto witness = Witness::open({a.name, std::move(key)}, std::move(logs), sizes.value_or(""),
                               [dir](std::string_view text) { return replaceFile(dir / kSizes, text, 0644); });
  if (!witness.ok()) return corrupt((dir / kSizes).string() + " is damaged: " + witness.error().message, kRemedy);
  putErr(concat("witan: this witness is ", kernel::verifierKeyText(verifier), "\n"));
  return witness;
}

Result<int> serve(const WitnessArguments& a) {
  const fs::path dir = a.dir;
  std::error_code ec;
  fs::create_directories(dir, ec);
  WITAN_TRY(witness, openWitness(dir, a));
  net::Loop loop;
  net::HttpServer server(loop, {.maxBodyBytes = kMaxAddCheckpoint},
                         [&](const net::HttpRequest& request, const std::shared_ptr<net::HttpReply>& reply) {
                           if (request.path != "/add-checkpoint")
                             return reply->answer({404, "text/plain", {}, "only /add-checkpoint is served here\n"});
                           if (request.method != "POST") return reply->answer({405, "text/plain", {}, "only POST\n"});
                           Witness::Answer answer = witness.addCheckpoint(request.body, SystemClock().now());
                           reply->answer({answer.status, answer.contentType, {}, std::move(answer.body)});
                         });
  WITAN_TRY(address, server.listen(a.listen));
  putOut("http://" + address + "\n");
  std::fflush(stdout);
  loop.onSignals({SIGINT, SIGTERM}, [&](int) { loop.stop(); });
  loop.run();
  return kExitOk;
}

}  // namespace

void addWitnessCommand(Command& app) {
  const auto arguments = std::make_shared<WitnessArguments>();
  Command* command = app.command("witness", "Cosign checkpoints of ledgers, as C2SP tlog-witness says");
  command->option("--dir", arguments->dir, "Where its key and what it has cosigned stand")->typeName("DIR")->required();
  command->option("--listen", arguments->listen, "HOST:PORT; port 0: any")->showDefault();
  command->option("--name", arguments->name, "Its name in signatures, as witness.example")->required();
  command
      ->option("--log", arguments->logs, "device.vkey or ledger.vkey of whose checkpoints it cosigns; may be repeated")
      ->typeName("FILE")
      ->oneWordEach()
      ->required();
  command->footer(
      "Example: timeout 1 witan witness --dir witness --listen 127.0.0.1:0 --name w.example --log data/device.vkey "
      "|| test $? = 124");
  command->callback([arguments] {
    const Result<int> code = serve(*arguments);
    return code.ok() ? *code : reportError(code.error(), false);
  });
}

}  // namespace witan::node

// `witan init` and `witan join`: a directory becomes a node.
#include <thread>

#include "base/bytes.h"
#include "base/json.h"
#include "base/quote.h"
#include "base/seams.h"
#include "cli/client/verb.h"
#include "cli/commands/commands.h"
#include "net/loop.h"
#include "node/cluster/device_key.h"
#include "node/cluster/roster_store.h"
#include "node/data_dir/replica_dir.h"
#include "node/enrolment/joining.h"
#include "node/enrolment/new_node.h"
#include "program/durable_file.h"
#include "program/line_reader.h"
#include "program/option_checks.h"
#include "program/output.h"

namespace witan::node {

namespace {

constexpr std::size_t kMostTokenBytes = 64 * 1024;

struct InitArguments : LiveArguments {
  std::string token, address, fingerprint;
  NewNode node;
  std::int64_t waitSeconds = 600;
};

Status checkAdvertised(const std::string& address) {
  WITAN_DO(checkAddress(address));
  if (!dialable({address}).empty()) return okStatus();
  return invalid("nobody can dial " + inQuotes(address), "give an address of this host and its port");
}

// A host that listens on all its addresses has to say which one the others shall dial.
void warnOfHiddenAddress(const NewNode& node) {
  if (!node.advertise.empty() || node.listen.empty() || !dialable(node.listen).empty()) return;
  putErr("witan: others cannot dial " + node.listen.front() +
         ": give --advertise HOST:PORT, or [node] advertise in witan.toml\n");
}

// What there is now.
Result<int> tell(const std::filesystem::path& dir, bool asJson) {
  WITAN_TRY(cluster, readClusterFile(dir));
  WITAN_TRY(key, readKey(dir, KeyName::device));
  WITAN_TRY(admin, publicKeyFromHex(cluster.adminKey, "adminKey"));
  return print(json::object{{"dir", dir.string()},
                            {"device", deviceIdOf(key.publicKey())},
                            {"name", cluster.name},
                            {"cluster", clusterIdOf(admin)},
                            {"fingerprint", fingerprintOf(key.publicKey())}},
               asJson, [](const json::value& made) {
                 return "device       " + shown(made, "device") + "  (" + shown(made, "name") + ")\ncluster      " +
                        shown(made, "cluster") + "\nfingerprint  " + shown(made, "fingerprint") +
                        "\nstart it     witan up --dir " + shown(made, "dir") + "\n";
               });
}

Result<int> init(const InitArguments& a) {
  WITAN_TRY(dir, replicaDirPath(a.dir));
  WITAN_DO(beginCluster(dir, a.node, {SystemClock().now(), net::Loop::nowMs()}));
  warnOfHiddenAddress(a.node);
  return tell(dir, a.json);
}

Result<JoinAttempt> attemptOf(const InitArguments& a) {
  JoinAttempt attempt;
  attempt.request.name = a.node.name.empty() ? hostName() : a.node.name;
  attempt.request.addresses = dialable(a.node.advertise.empty() ? a.node.listen : a.node.advertise);
  attempt.slow = [](const std::string& words) { putErr("witan: " + words + "\n"); };
  if (!a.token.empty()) {
    std::string text = a.token;
    if (a.token == "-") WITAN_SET(text, readInput(a.token, kMostTokenBytes));
    WITAN_TRY(token, readToken(chomped(text)));
    WITAN_TRY(key, publicKeyFromHex(token.key, "key"));
    attempt.addresses = token.addresses;
    attempt.request.tokenId = token.id;
    attempt.request.secret = token.secret;
    attempt.expect = [key](const PublicKey& there) -> Status {
      if (there == key) return okStatus();
      return Error{ErrorCode::unauthorised, "another device answers there than the one that gave the invitation",
                   "ask who runs it now; a wrong fingerprint may be somebody in between"};
    };
    return attempt;
  }
  WITAN_TRY(fingerprint, parseFingerprint(a.fingerprint));
  attempt.addresses = {a.address};
  attempt.expect = [wanted = fingerprint](const PublicKey& there) -> Status {
    if (fingerprintOf(there) == wanted) return okStatus();
    return Error{ErrorCode::unauthorised, "the device there has another fingerprint than the one given",
                 "compare it with what witan status shows on that device; it may be somebody in between"};
  };
  return attempt;
}

Result<int> join(const InitArguments& a) {
  if (a.token.empty() && (a.address.empty() || a.fingerprint.empty()))
    return reportUsage(invalid("an invitation is missing",
                               "witan join TOKEN, or witan join --address HOST:PORT --fingerprint 'xxxx xxxx ...' (as "
                               "witan status shows it on that device)"),
                       a.json);
  WITAN_TRY(dir, replicaDirPath(a.dir));
  WITAN_TRY(attempt, attemptOf(a));
  if (nodeExists(dir)) {
    WITAN_DO(enterCluster(dir, a.node, {}));  // says why not
  }
  WITAN_TRY(key, ownKey(dir));
  const std::int64_t until = net::Loop::nowMs() + a.waitSeconds * 1000;
  bool told = false;
  while (true) {
    WITAN_TRY(answer, askToJoin(key, attempt));
    if (answer.verdict == JoinVerdict::refused)
      return Error{ErrorCode::unauthorised, "the cluster refused: " + answer.reason, "ask for another invitation"};
    if (answer.verdict == JoinVerdict::admitted) {
      WITAN_DO(enterCluster(dir, a.node, answer));
      warnOfHiddenAddress(a.node);
      return tell(dir, a.json);
    }
    if (!std::exchange(told, true))
      putErr("witan: " + answer.reason + " (this device's fingerprint: " + fingerprintOf(key.publicKey()) + ")\n");
    if (net::Loop::nowMs() >= until)
      return unavailable("nobody approved this device yet", "run the same command again");
    std::this_thread::sleep_for(std::chrono::seconds(1));
  }
}

}  // namespace

void addInitCommands(Command& app) {
  const auto verb = [&](const char* name, const char* about, const char* example,
                        Result<int> (*work)(const InitArguments&)) {
    const auto [command, a] = addVerb<InitArguments>(app, name, about, example, work);
    command->option("--name", a->node.name, "What people call this device; default: the host's name")
        ->check(readBy(checkDeviceName));
    command->option("--listen", a->node.listen, "Address for other devices, into witan.toml; may be repeated")
        ->oneWordEach()
        ->check(readBy(checkAddress));
    command
        ->option("--advertise", a->node.advertise,
                 "HOST:PORT that others shall dial, if it is another one: behind address translation, or with 0.0.0.0")
        ->oneWordEach()
        ->check(readBy(checkAdvertised));
    return std::pair(command, a);
  };
  const auto [initCommand, made] = verb("init", "Begin a cluster: this device is its first",
                                        "witan init --name front-desk --listen 192.168.1.10:7600", init);
  initCommand->option("--partitions", made->node.partitions, "Of each domain; fixed for the cluster's life")
      ->showDefault()
      ->check(wholeNumber(1, kMaxClusterPartitions));
  const auto [joinCommand, joined] = verb("join", "Join a cluster with an invitation, or ask to be approved",
                                          "witan join witan1.eyJhZGRy... --name lab", join);
  joinCommand->option("TOKEN", joined->token, "What `witan device invite` printed; -: on standard input")
      ->check([](const std::string& token) { return token == "-" ? "" : readBy(readToken)(token); });
  joinCommand->option("--address", joined->address, "Without a token: where a device of the cluster listens")
      ->check(readBy(checkAddress));
  joinCommand->option("--fingerprint", joined->fingerprint, "Without a token: that device's fingerprint")
      ->check(readBy(parseFingerprint));
  joinCommand->option("--wait", joined->waitSeconds, "Without a token: seconds to wait to be approved")
      ->showDefault()
      ->check(wholeNumber(0, kMostWaitSeconds));
}

}  // namespace witan::node

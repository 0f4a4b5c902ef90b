#include "cli/client/replica_verb.h"

#include <algorithm>
#include <charconv>

#include "base/identity.h"
#include "base/json.h"
#include "base/quote.h"
#include "cli/client/control_client.h"
#include "program/option_checks.h"
#include "program/output.h"
#include "replication/writer.h"

namespace witan::node {

using namespace replication;

namespace {

thread_local ReplicaDir* ambient = nullptr;
thread_local Replica* ambientReplicaOfNode = nullptr;

}  // namespace

Result<std::unique_ptr<ReplicaDir>> openReplica(const std::filesystem::path& path, Missing missing) {
  const bool made = missing == Missing::create && !ReplicaDir::exists(path);
  if (made) WITAN_DO(ReplicaDir::create(path, {}));
  WITAN_TRY(dir, ReplicaDir::open(path));
  LocalReplica& replica = dir->replica();
  if (made) {
    putErr("witan: made " + path.string() + ": device " + replica.device() + ", the first of cluster " +
           replica.cluster() + "\n");
  } else if (const IncarnationDecision& decision = replica.incarnation();
             decision.newIncarnation() && decision.cause != IncarnationCause::freshStore) {
    putErr("witan: this device goes on as a new writer, " + replica.writer() + " (" + decision.why + ")\n");
  }
  return std::move(dir);
}

namespace {

Result<int> workOn(const ReplicaArguments& arguments, Missing missing, const ReplicaWork& work) {
  if (ReplicaDir* running = ambientReplica()) {
    WITAN_TRY(answer, work(*running));
    WITAN_DO(running->flush());
    arguments.json ? putOut(answer.text) : putWords(answer.text);
    return answer.exitCode;
  }
  WITAN_TRY(path, replicaDirPath(arguments.dir));
  if (auto code = onRunningNode(path)) return *code;
  WITAN_TRY(dir, openReplica(path, missing));
  WITAN_TRY(answer, work(*dir));
  WITAN_DO(dir->flush());
  arguments.json ? putOut(answer.text) : putWords(answer.text);
  WITAN_DO(dir->close());
  return answer.exitCode;
}

Status checkScope(const std::string& scope) {
  // It goes to those who are no members, too.
  if (scope == kClusterScope)
    return invalid("the scope " + scope + " is kept for statements about membership", "see: witan device list");
  return validateId("the scope", scope);
}

}  // namespace

AmbientReplica::AmbientReplica(ReplicaDir& dir, Replica& node) { ambient = &dir, ambientReplicaOfNode = &node; }
AmbientReplica::~AmbientReplica() { ambient = nullptr, ambientReplicaOfNode = nullptr; }
ReplicaDir* ambientReplica() { return ambient; }
Replica* ambientNode() { return ambientReplicaOfNode; }

int onReplica(const ReplicaArguments& arguments, Missing missing, const ReplicaWork& work) {
  const Result<int> code = workOn(arguments, missing, work);
  return code.ok() ? *code : reportError(code.error(), arguments.json);
}

void addScopeOption(Command* command, ReplicaArguments& arguments) {
  command->option("--scope", arguments.scope, "Which of the database's scopes")
      ->showDefault()
      ->check(readBy(checkScope));
}

std::string inJson(std::string_view text) {
  std::string out;
  appendJsonString(out, text);
  return out;
}

std::string dotJson(const Dot& dot) {
  return "{\"counter\":" + std::to_string(dot.counter) + ",\"host\":" + inJson(dot.host) + "}";
}

std::string clockJson(const VectorClock& clock) {
  std::string out = "{";
  for (const auto& [host, counter] : clock.entries())
    out += (out.size() > 1 ? "," : "") + inJson(host) + ":" + std::to_string(counter);
  return out + "}";
}

std::string clockWords(const VectorClock& clock) { return operations::clockWords(operations::clockRow(clock)); }

}  // namespace witan::node

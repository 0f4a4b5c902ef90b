// What the commands on a data directory of replicated data have in common: options, opening, flushing before anything
// is said, closing.
#pragma once

#include <memory>
#include <string>
#include "program/command_line.h"

#include "node/data_dir/replica_dir.h"
#include "node/operations/operation.h"
#include "node/operations/versions.h"
#include "program/error_report.h"

namespace witan::node {

using operations::kDefaultScope;

// A command's own arguments derive from this.
struct ReplicaArguments {
  std::string dir;
  std::string scope = kDefaultScope;
  bool json = false;
};

// Named apart from the owner's answer to a request (replica/core/messages.h): one name, two types in one namespace
// would be undefined behaviour that shows without optimisation only.
struct Printed {
  std::string text;  // for stdout
  int exitCode = kExitOk;
};

// What a command does where there is no replica yet.
enum class Missing { refuse, create };

class Replica;

// While it lives, commands of this thread work on this replica, whatever directory they name: a running node carries
// them out for a client (node/api/control_command.cpp).
class AmbientReplica {
 public:
  AmbientReplica(ReplicaDir& dir, Replica& node);
  ~AmbientReplica();
  AmbientReplica(const AmbientReplica&) = delete;
  AmbientReplica& operator=(const AmbientReplica&) = delete;
};
// Null: there is none.
ReplicaDir* ambientReplica();
Replica* ambientNode();

// Opens it; says on stderr that it was made, or goes on as another writer.
Result<std::unique_ptr<ReplicaDir>> openReplica(const std::filesystem::path& dir, Missing missing);

using ReplicaWork = std::function<Result<Printed>(ReplicaDir&)>;

// Opens the directory, works, makes everything durable, prints the answer, closes. Words about a directory that was
// made, or a device that goes on as another writer, go to stderr.
int onReplica(const ReplicaArguments& arguments, Missing missing, const ReplicaWork& work);

// `witan <noun> <name>` with --dir, --json and a callback.
template <class Arguments, class Work>
Command* addReplicaVerb(Command& noun, const char* name, const char* what, const char* example,
                        const std::shared_ptr<Arguments>& arguments, Missing missing, Work work, int& exitCode) {
  Command* command = noun.command(name, what);
  command->option("--dir", arguments->dir, "Data directory; default $WITAN_DIR, else $XDG_DATA_HOME/witan")
      ->typeName("DIR");
  command->flag("--json", arguments->json, "JSON output");
  command->footer(std::string("Example: ") + example);
  command->callback([arguments, missing, work, &exitCode] {
    exitCode = onReplica(*arguments, missing, [&](ReplicaDir& dir) { return work(dir, *arguments); });
  });
  return command;
}

// For commands on records: which of the database's scopes.
void addScopeOption(Command* command, ReplicaArguments& arguments);

// {"counter":7,"host":"a@00000001"} and a@00000001:7, in JSON and for people.
std::string dotJson(const replication::Dot& dot);
using operations::chosenByPrefix;
using operations::dotWords;
// {"a@00000001":7} and "a@00000001:7 b@00000002:1" ("-" if empty).
std::string clockJson(const replication::VectorClock& clock);
std::string clockWords(const replication::VectorClock& clock);
std::string inJson(std::string_view text);

}  // namespace witan::node

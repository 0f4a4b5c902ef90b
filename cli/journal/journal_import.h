// `witan journal import`: entities from JSON Lines, one a line, each in a commit of its own.
//
//   {"id":"plot-4","type":"plot","text":"beans"}
//   {"id":"plot-5","type":"plot","payload":{"crop":"peas","rows":3},"author":"ann"}
//
// A line that is no entity, or one that stands in conflict, is refused and the others go in. An entity that is there
// already with just this type and payload is left alone: so an import that was cut off can be run again. What is
// answered is durable.
#pragma once

#include <string>

#include "cli/client/verb.h"

namespace witan::node {

struct ImportArguments : ReplicaArguments {
  std::string file;
};

// Prints its answers itself, while it works.
Result<Printed> importJournal(ReplicaDir& dir, const ImportArguments& arguments);

}  // namespace witan::node

// One run of an agent as its transcript has it, for `why` (why.cpp). A pure function of the records.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "agents/wake/wake_job.h"
#include "base/identity.h"
#include "base/json.h"
#include "replication/records/record_views.h"
#include "replication/space.h"

namespace witan::node::operations {

// One run as its transcript has it.
struct RunStory {
  std::string device;
  json::value beginning;                         // body of the first entry
  std::vector<json::object> looks;               // announced; with the answer under "answer"
  std::map<std::string, json::object> intended;  // by operation
};

// Of the device that ran it, or whose plan won, or else of this one. Errors: of the records.
Result<RunStory> runStory(replication::Space& records, const RunKey& key, const replication::WakeRunView& view,
                          const replication::PlanView& plans, const std::string& ownDevice);

}  // namespace witan::node::operations

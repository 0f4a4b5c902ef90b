// Incidents (LocalReplica::note) that are over.
#pragma once

#include <string_view>

namespace witan::replication {

class LocalReplica;

// Takes those of a kind away that name the device and whose text begins so. O(incidents).
void endIncidents(LocalReplica& replica, std::string_view kind, std::string_view device, std::string_view text);

}  // namespace witan::replication

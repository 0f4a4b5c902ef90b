// Witan's records, for the replication core. The same object for every caller; it lives for ever.
#pragma once

#include "replication/record_schemas.h"

namespace witan::replication {

const RecordSchemas& recordSchemas();

}  // namespace witan::replication

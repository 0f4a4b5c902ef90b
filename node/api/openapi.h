// The OpenAPI 3.1 document of the control API, from its routes (node/api/control_routes.h).
#pragma once

#include "base/json.h"

namespace witan::node {

json::object openApi();

}  // namespace witan::node

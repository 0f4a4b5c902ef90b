// ResourceUri: the names of what a client may read and subscribe to.
//
//   witan://DOMAIN/ENTITY/slice/ROLE   the fields that a role sees
//   witan://DOMAIN/ENTITY/ledger       the newest entries of an entity
//
// Segments are percent-encoded. Values; pure functions.
#pragma once

#include <optional>
#include <string>

#include "mcp/catalogue.h"

namespace witan::mcp {

struct ResourceUri {
  std::string domain, entity;
  std::string role;  // of a slice; empty: the ledger
};

// None: it is not of this form, or too long.
std::optional<ResourceUri> parseResource(std::string_view uri);
// What an authority may ask for, with variables.
json::array resourceTemplates(const Authority& authority);

}  // namespace witan::mcp

// Roles that are given to devices and that no domain of this program has: mostly a letter too many, and the device
// would do nothing without anybody being told. They are given all the same: other devices may run a newer program.
//
// Pure function.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernel/domain_module.h"

namespace witan::node {

// Null: there is no such domain.
using SignatureOf = std::function<const kernel::Signature*(std::string_view domain)>;

// One text for each such role, with the names that there are. `roles`: as checkDeviceRoles takes them.
std::vector<std::string> roleWarnings(std::span<const std::string> roles, const SignatureOf& signatureOf);

}  // namespace witan::node

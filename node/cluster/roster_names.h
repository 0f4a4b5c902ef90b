// The names that the roster on disk gives to devices, by id, of a directory that no node has open. Empty: there is no
// roster, or it cannot be read.
#pragma once

#include <filesystem>
#include <map>
#include <string>

namespace witan::node {

std::map<std::string, std::string> rosterNames(const std::filesystem::path& dir);

}  // namespace witan::node

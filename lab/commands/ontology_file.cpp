#include "lab/commands/ontology_file.h"

#include <filesystem>

#include "program/durable_file.h"

namespace witan::node {

Result<std::string> readOntologyFile(const std::string& path) {
  WITAN_TRY(text, readSmallFile(path, ontology::TurtleLimits{}.bytes));
  if (!text) return Error{ErrorCode::notFound, "there is no file " + path, "give the path of a Turtle file"};
  return *std::move(text);
}

Result<ontology::Model> loadOntology(const std::string& path) {
  WITAN_TRY(text, readOntologyFile(path));
  ontology::Diagnostics found;
  std::optional<ontology::Model> model = ontology::readOntology(text, found);
  if (!model) return found.asError(path);
  return *std::move(model);
}

Status writeNewFile(const std::string& path, std::string_view text) {
  std::error_code error;
  if (std::filesystem::exists(path, error))
    return Error{ErrorCode::conflict, path + " exists already", "move it away, or give another folder"};
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), error);
  if (error) return ioFailed("cannot make the folder of " + path + " (" + error.message() + ")");
  return replaceFile(path, text, 0644);
}

}  // namespace witan::node

// Ontology files from disk. Used by `witan ontology` and `witan domain lint --against`.
#pragma once

#include <string>

#include "lab/ontology/ontology.h"

namespace witan::node {

// The bytes, at most as many as the reader takes.
Result<std::string> readOntologyFile(const std::string& path);
// The model, or the file's first error as file:line:col.
Result<ontology::Model> loadOntology(const std::string& path);
// Makes the folders on the way; a file that is there stays as it is, and is an error.
Status writeNewFile(const std::string& path, std::string_view text);

}  // namespace witan::node

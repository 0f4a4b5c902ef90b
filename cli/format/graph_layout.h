// Where the nodes of a drawn graph stand: layers from top to bottom, so that edges which close no cycle point down.
// After Sugiyama: longest paths give the layers, medians of neighbours the order. Pure function, any thread.
#pragma once

#include <vector>

#include "kernel/graph/document.h"

namespace witan::node {

struct Place {
  std::size_t layer = 0;
  std::size_t column = 0;  // in its layer
};

// Of each node, in the order of the document. O(nodes * edges) at worst.
std::vector<Place> layOut(const graph::Document& document);

}  // namespace witan::node

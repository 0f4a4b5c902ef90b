// A graph as text for other programs: Mermaid, DOT, or SVG with a layout of our own. Guarded edges are dashed and show
// their bound; nodes at a boundary have a double border. Pure functions, any thread.
// Requires of the document: names are unique and exist (GL02, GL03).
#pragma once

#include <string>

#include "kernel/graph/document.h"

namespace witan::node {

std::string drawMermaid(const graph::Document& document);
std::string drawDot(const graph::Document& document);
std::string drawSvg(const graph::Document& document);

}  // namespace witan::node

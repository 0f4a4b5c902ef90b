// The answer of `witan why` (node/operations/why.h) as text and as SVG.
#pragma once

#include <string>

#include "node/operations/why.h"

namespace witan::node {

std::string whyText(const operations::Why& why);
// One box a link, causes above what follows from them.
std::string whySvg(const operations::Why& why);

}  // namespace witan::node

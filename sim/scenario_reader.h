// What sim/scenario.cpp and the reader of its files share; nobody else needs it.
#pragma once

#include <string_view>

#include "sim/scenario.h"

namespace witan::sim {

// Is there such an option, and can it take every value of the draw?
Status checkDraw(std::string_view path, const OptionDraw& draw);

// Does `sometimes` in this table concern this option?
bool maySwitchOff(std::string_view table, std::string_view member);

}  // namespace witan::sim

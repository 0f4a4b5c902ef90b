// Manual pages of a program, made from the declaration of its command line, so that they cannot lag behind it.
// Pure functions; the command is only read.
#pragma once

#include <string>
#include <vector>

#include "program/command_line.h"

namespace witan::node {

struct ManualPage {
  std::string name;  // "witan-ledger": the file is NAME.1
  std::string text;  // roff, for man(1)
};

// One page for the program and one for each of its nouns, with the noun's verbs in it.
std::vector<ManualPage> manualPages(const Command& program, const std::string& version);

}  // namespace witan::node

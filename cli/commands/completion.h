// Completion of a command line while a person types it. It reads the command line's own declaration, so it can't lag
// behind it. The shells' scripts only pass the words on: `witan completion words -- WORD...`.
#pragma once

#include <string>
#include <vector>

#include "program/command_line.h"

namespace witan::node {

struct Completions {
  struct Word {
    std::string text, about;
  };
  std::vector<Word> words;  // commands and options
  std::string values;       // also the names of these: "domains", "devices", "entities"; "": none
  bool files = false;       // also files
};

// What the last of `words` may become; the words before it are complete, and the program's name is not among them.
// Pure; the command is only read.
Completions completionsOf(const Command& app, const std::vector<std::string>& words);

}  // namespace witan::node

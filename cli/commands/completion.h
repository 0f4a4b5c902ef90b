// Shell completions, made from the command line's own declaration, so that they can't lag behind it.
//
// Pure functions; the command is only read. The scripts complete commands, options and files, and ask the program for
// domains, devices and entities while a line is typed: `witan completion values KIND`.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "program/command_line.h"

namespace witan::node {

// What can stand at one place of the command line: after " ledger tail", say.
struct CompletionPlace {
  struct Word {
    std::string text;
    std::string help;  // its first line
    bool isOption = false;
    bool takesValue = false;  // an option that the next word belongs to
  };
  std::string path;         // "" at the top, else " noun verb"
  std::vector<Word> words;  // subcommands, then options, as declared
  std::string values;       // the kind of the first positional: "domains", "devices", "entities", or "" for others
};

// Every place of the command, parents before children.
std::vector<CompletionPlace> completionPlaces(const Command& app);

std::string bashCompletion(const std::vector<CompletionPlace>& places);
std::string zshCompletion(const std::vector<CompletionPlace>& places);
std::string fishCompletion(const std::vector<CompletionPlace>& places);

}  // namespace witan::node

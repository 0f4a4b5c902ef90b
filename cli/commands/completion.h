// Shell completions, made from the command line's own declaration, so that they can't lag behind it.
//
// Pure functions; the app is only read. The scripts complete commands, options, domain names and files.
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
};

// Every place of the app, parents before children.
std::vector<CompletionPlace> completionPlaces(const Command& app);

// `domains` is what --domain and the domain commands take.
std::string bashCompletion(const std::vector<CompletionPlace>& places, const std::vector<std::string_view>& domains);
std::string zshCompletion(const std::vector<CompletionPlace>& places, const std::vector<std::string_view>& domains);
std::string fishCompletion(const std::vector<CompletionPlace>& places, const std::vector<std::string_view>& domains);

}  // namespace witan::node

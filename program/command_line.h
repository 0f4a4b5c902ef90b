// Command and Option: the declaration of a program's command line, `PROGRAM NOUN VERB --options`.
//
// A thin face over CLI11, which only program/command_line.cpp includes: its header alone takes g++ eight seconds.
// Commands and options belong to their parent command; the targets that options write to must outlive parse(). One
// thread.
#pragma once

#include <charconv>
#include <concepts>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace witan::node {

// As many words as the operating system hands over.
inline constexpr std::size_t kManyWords = std::size_t{1} << 29;

// Returns "" for a good value, else what is wrong with it.
using OptionCheck = std::function<std::string(const std::string&)>;

class Command;

class Option {
 public:
  Option* required();
  Option* check(OptionCheck check);
  Option* oneOf(std::vector<std::string> choices);
  // Shows the target's present value as the default in --help.
  Option* showDefault();
  Option* typeName(const std::string& name);
  Option* describe(const std::string& about);
  Option* needs(Option* other);
  Option* excludes(std::initializer_list<std::string> names);
  // Each use of a list option takes one word, so that a positional may follow.
  Option* oneWordEach();
  // True after a parse in which the option was given.
  bool given() const;

 private:
  friend class Command;
  Option(CLI::Option* option, Command* command) : option_(option), command_(command) {}
  CLI::Option* option_;
  Command* command_;
};

// What shell completion and the manual read of a command.
struct OptionDescription {
  std::vector<std::string> names;  // "--json", "-f"; a positional's own name
  std::string about, type, defaultText;
  bool positional = false, takesValue = false, required = false;
};

struct ParseFailure {
  std::string message;
  std::string hint;  // "see witan ledger --help"
};

class Command {
 public:
  Command(const std::string& name, const std::string& about);
  ~Command();
  Command(const Command&) = delete;
  Command& operator=(const Command&) = delete;

  Command* command(const std::string& name, const std::string& about);
  // A verb of this command that exists already. Must exist.
  Command* find(const std::string& name);
  // Must exist; `name` without dashes for a positional.
  Option* findOption(const std::string& name);

  // `names` as CLI11 writes them: "--json,-j" or, for a positional, "FILE".
  Option* option(const std::string& names, std::string& target, const std::string& about);
  Option* option(const std::string& names, std::vector<std::string>& target, const std::string& about);
  Option* option(const std::string& names, std::optional<std::string>& target, const std::string& about);
  Option* option(const std::string& names, double& target, const std::string& about);
  template <std::integral T>
  Option* option(const std::string& names, T& target, const std::string& about) {
    return number(
        names, about, [&target](const std::string& text) { return read(text, target); },
        [&target] { return std::to_string(target); });
  }
  template <std::integral T>
  Option* option(const std::string& names, std::optional<T>& target, const std::string& about) {
    return number(
        names, about, [&target](const std::string& text) { return read(text, target.emplace()); },
        [] { return std::string(); });
  }
  // Words of which the caller makes something; at most `most` of them.
  Option* words(const std::string& names, std::function<bool(const std::vector<std::string>&)> take, std::size_t least,
                std::size_t most, const std::string& about);
  Option* flag(const std::string& names, bool& target, const std::string& about);

  Command* footer(const std::string& text);
  Command* describe(const std::string& about);
  Command* versionFlag(const std::string& text);
  // `witan <name> <verb>`: a verb must follow. `example`: of one of them.
  Command* noun(const std::string& name, const std::string& about, const std::string& example);
  // A verb must follow; `orNone`: may follow.
  Command* requireCommand(bool orNone = false);
  // At least as many of its options must be given.
  Command* requireOptions(std::size_t least);
  // Runs after a parse that chose this command and none of its verbs, and returns the exit code.
  Command* callback(std::function<int()> run);
  // Of the last parse.
  int exitCode() const { return *exitCode_; }

  const std::string& name() const { return name_; }
  std::string about() const;
  std::string footerText() const;
  std::string helpText() const;
  // The chosen verb, else null.
  const Command* chosen() const;
  std::vector<const Command*> commands() const;
  std::vector<OptionDescription> options() const;

  // Runs the callbacks. Prints --help and --version itself. Errors: what is wrong with the line.
  std::optional<ParseFailure> parse(int argc, const char* const* argv);

 private:
  Command(const std::string& name, CLI::App* app, int* exitCode);
  Option* keep(CLI::Option* option);
  Option* number(const std::string& names, const std::string& about, std::function<bool(const std::string&)> set,
                 std::function<std::string()> shown);
  template <std::integral T>
  static bool read(const std::string& text, T& target) {
    const char* const end = text.data() + text.size();
    const auto [stop, failure] = std::from_chars(text.data(), end, target);
    return failure == std::errc() && stop == end;
  }

  std::string name_;
  std::unique_ptr<CLI::App> root_;  // of the outermost command only
  CLI::App* app_;
  int rootExitCode_ = 0;
  int* exitCode_ = &rootExitCode_;  // the outermost command's
  std::vector<std::unique_ptr<Command>> children_;
  std::vector<std::unique_ptr<Option>> options_;
};

}  // namespace witan::node

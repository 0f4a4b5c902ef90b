#include "program/command_line.h"

#include <CLI/CLI.hpp>

#include "base/concat.h"
#include "base/quote.h"
#include "base/string_util.h"

namespace witan::node {

Option* Option::required() { return option_->required(), this; }
Option* Option::check(OptionCheck check) { return option_->check(std::move(check)), this; }
Option* Option::oneOf(std::vector<std::string> choices) {
  return option_->check(CLI::IsMember(std::move(choices))), this;
}
Option* Option::showDefault() { return option_->capture_default_str(), this; }
Option* Option::typeName(const std::string& name) { return option_->type_name(name), this; }
Option* Option::describe(const std::string& about) { return option_->description(about), this; }
Option* Option::needs(Option* other) { return option_->needs(other->option_), this; }
Option* Option::excludes(std::initializer_list<std::string> names) {
  for (const std::string& name : names) option_->excludes(command_->findOption(name)->option_);
  return this;
}
Option* Option::oneWordEach() { return option_->allow_extra_args(false), this; }
bool Option::given() const { return option_->count() > 0; }

Command::Command(const std::string& name, const std::string& about)
    : name_(name), root_(std::make_unique<CLI::App>(about, name)), app_(root_.get()) {}
Command::Command(const std::string& name, CLI::App* app, int* exitCode) : name_(name), app_(app), exitCode_(exitCode) {}
Command::~Command() = default;

Command* Command::command(const std::string& name, const std::string& about) {
  children_.push_back(std::unique_ptr<Command>(new Command(name, app_->add_subcommand(name, about), exitCode_)));
  return children_.back().get();
}

Command* Command::noun(const std::string& name, const std::string& about, const std::string& example) {
  return command(name, about)->requireCommand()->footer("Example: " + example);
}

Command* Command::find(const std::string& name) {
  for (const auto& child : children_)
    if (child->name_ == name) return child.get();
  return nullptr;
}

Option* Command::findOption(const std::string& name) {
  CLI::Option* const wanted = app_->get_option(name);
  for (const auto& option : options_)
    if (option->option_ == wanted) return option.get();
  return nullptr;
}

Option* Command::keep(CLI::Option* option) {
  options_.push_back(std::unique_ptr<Option>(new Option(option, this)));
  return options_.back().get();
}

Option* Command::option(const std::string& names, std::string& target, const std::string& about) {
  return keep(app_->add_option(names, target, about));
}
Option* Command::option(const std::string& names, std::vector<std::string>& target, const std::string& about) {
  return keep(app_->add_option(names, target, about));
}
Option* Command::option(const std::string& names, std::optional<std::string>& target, const std::string& about) {
  return keep(app_->add_option(names, target, about));
}
Option* Command::option(const std::string& names, double& target, const std::string& about) {
  return keep(app_->add_option(names, target, about));
}

Option* Command::number(const std::string& names, const std::string& about, std::function<bool(const std::string&)> set,
                        std::function<std::string()> shown) {
  CLI::Option* option = app_->add_option(
      names, [set](const CLI::results_t& words) { return set(words.front()); }, about, false, std::move(shown));
  return keep(option->type_name("NUMBER"));
}

Option* Command::words(const std::string& names, std::function<bool(const std::vector<std::string>&)> take,
                       std::size_t least, std::size_t most, const std::string& about) {
  CLI::Option* option = app_->add_option(names, std::move(take), about);
  const auto bound = static_cast<int>(std::min<std::size_t>(most, CLI::detail::expected_max_vector_size));
  option->expected(static_cast<int>(least), bound);
  option->allow_extra_args(bound > 1);  // else CLI11 takes "[1,2]" apart
  return keep(option);
}

Option* Command::flag(const std::string& names, bool& target, const std::string& about) {
  return keep(app_->add_flag(names, target, about));
}

Command* Command::footer(const std::string& text) { return app_->footer(text), this; }
Command* Command::describe(const std::string& about) { return app_->description(about), this; }
Command* Command::versionFlag(const std::string& text) { return app_->set_version_flag("--version", text), this; }
Command* Command::requireCommand(bool orNone) { return app_->require_subcommand(orNone ? 0 : 1, 1), this; }
Command* Command::requireOptions(std::size_t least) { return app_->require_option(least, 0), this; }
Command* Command::callback(std::function<int()> run) {
  app_->callback([this, run = std::move(run)] {
    if (chosen() == nullptr) *exitCode_ = run();
  });
  return this;
}

std::string Command::about() const { return app_->get_description(); }
std::string Command::footerText() const { return app_->get_footer(); }
std::string Command::helpText() const { return app_->help(); }

const Command* Command::chosen() const {
  for (const auto& child : children_)
    if (app_->got_subcommand(child->app_)) return child.get();
  return nullptr;
}

std::vector<const Command*> Command::commands() const {
  std::vector<const Command*> all;
  for (const auto& child : children_) all.push_back(child.get());
  return all;
}

std::vector<OptionDescription> Command::options() const {
  std::vector<OptionDescription> all;
  for (const CLI::Option* option : app_->get_options()) {
    OptionDescription one;
    for (const std::string& name : option->get_snames()) one.names.push_back("-" + name);
    for (const std::string& name : option->get_lnames()) one.names.push_back("--" + name);
    one.positional = one.names.empty();
    if (one.positional) one.names.push_back(option->get_name(true));
    one.about = option->get_description();
    one.type = option->get_type_name();
    one.defaultText = option->get_default_str();
    one.takesValue = option->get_items_expected_max() > 0;
    one.required = option->get_required();
    all.push_back(std::move(one));
  }
  return all;
}

namespace {

constexpr std::size_t kLongestName = 32;  // of a command, where its neighbours are searched

// The words that lead to the innermost chosen command.
const CLI::App& innermost(const CLI::App& app, std::string& path) {
  const CLI::App* at = &app;
  path = app.get_name();
  while (!at->get_subcommands().empty()) {
    at = at->get_subcommands().front();
    path += " " + at->get_name();
  }
  return *at;
}

std::string unknown(const char* what, const std::string& given, const std::vector<std::string>& known) {
  const std::string word = given.substr(0, kLongestName);
  const auto near = nearest(word, known, 1);
  const bool close = !near.empty() && editDistance(word, near.front()) <= 2;
  return concat("unknown ", what, " ", inQuotes(given),
                close ? ", did you mean " + inQuotes(std::string(near.front())) + "?" : "");
}

// CLI11 asks for a missing command before it looks at the words that it did not take.
std::string problemOf(const CLI::App& at, const CLI::ParseError& e) {
  const std::vector<std::string> rest = at.remaining();
  if (rest.empty()) return e.what();
  std::vector<std::string> known;
  if (rest.front().starts_with("--")) {
    if (dynamic_cast<const CLI::ExtrasError*>(&e) == nullptr) return e.what();
    for (const CLI::Option* option : at.get_options())
      for (const std::string& name : option->get_lnames()) known.push_back("--" + name);
    return unknown("option", rest.front(), known);
  }
  if (at.get_require_subcommand_min() == 0 || dynamic_cast<const CLI::RequiredError*>(&e) == nullptr) return e.what();
  for (const CLI::App* child : at.get_subcommands([](const CLI::App*) { return true; }))
    known.push_back(child->get_name());
  return unknown("command", rest.front(), known);
}

}  // namespace

std::optional<ParseFailure> Command::parse(int argc, const char* const* argv) {
  try {
    app_->parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    if (e.get_exit_code() == 0) return app_->exit(e), std::nullopt;  // --help, --version
    std::string path;
    const CLI::App& at = innermost(*app_, path);
    return ParseFailure{problemOf(at, e), "see " + path + " --help"};
  }
  return std::nullopt;
}

}  // namespace witan::node

// RuleReader: a rule file's TOML into a RuleDomain. Of one call of readRuleDomain.
#pragma once

#include <toml++/toml.h>

#include <set>

#include "rules/domain/rule_domain.h"

namespace witan::rules {

// Throws ReadStop.
struct ReadStop {
  Error error;
};

// The text of an expression and where it stands in the file: behind the opening quotes.
std::shared_ptr<const SourceText> sourceTextOf(std::string_view file, const toml::node& node, std::string text,
                                               std::string name);

class RuleReader {
 public:
  RuleReader(std::string text, const std::string& name, const json::object& policy);
  std::shared_ptr<const RuleDomain> read() &&;

 private:
  using Entries = std::vector<std::pair<std::string, const toml::node*>>;  // in the order of the file

  [[noreturn]] void stop(const toml::source_region& where, const std::string& what, std::string hint = {}) const;
  [[noreturn]] void stop(Error error) const;
  template <class T>
  T orStop(Result<T> result) const {
    if (!result.ok()) stop(result.error());
    return *std::move(result);
  }
  template <class T>
  T orStop(Parsed<T> parsed, const SourceText& source, std::uint32_t shift = 0) const {
    if (const auto* wrong = std::get_if<SyntaxError>(&parsed))
      stop(errorAt(source, wrong->at - std::min(wrong->at, shift), wrong->message));
    return std::get<T>(std::move(parsed));
  }
  Entries entries(const toml::table& table) const;
  Entries section(const char* key) const;
  void onlyKeys(const toml::table& table, const std::vector<std::string>& known) const;
  const toml::node* find(const toml::table& table, const char* key) const;
  std::string textOf(const toml::node& node, const char* what) const;
  std::string optionalText(const toml::table& table, const char* key) const;
  std::vector<std::string> textsOf(const toml::table& table, const char* key) const;
  // The text of an expression and where it stands.
  std::shared_ptr<const SourceText> sourceOf(const toml::node& node, std::string name) const;
  const toml::table& tableOf(const std::pair<std::string, const toml::node*>& entry) const;

  void head();
  void types();
  void fields();
  void addField(const std::string& name, const toml::node& node, FieldDecl field);
  void policy();
  void functions();
  void belongs();
  void defaults();
  void checkDefault(std::size_t i);
  void processes();
  void process(const std::string& name, const toml::table& table);
  void arguments(RuleProcess& process, const toml::node& node, std::vector<Argument>& names);
  void invariants();
  void invariant(const std::string& id, const toml::table& table, const toml::node& node);
  RulePart part(const std::string& id, const toml::table& table);
  void others(RulePart& part, const std::string& id, const toml::node& node, const std::string& row);
  void describe(const RuleInvariant& invariant, std::string rule);
  void roles();

  // ---- versions.cpp
  void versions();
  void versionField();
  void upgradeProcess();
  void checkSince() const;
  std::string upgradeScript(std::int64_t version) const;
  std::shared_ptr<const SourceText> guarded(std::shared_ptr<const SourceText> source, const std::string& name,
                                            bool process) const;

  TypePtr rowType(std::uint32_t table) const;
  std::uint32_t tableNamed(const std::string& name, const toml::node& node) const;
  kernel::FieldMask maskOf(const toml::table& table, const char* key) const;
  Stored constantOf(std::string_view text, const TypePtr& type, const SourceText& source, std::uint32_t at);
  void collect(const Program& program);

  std::string name_;
  const json::object& given_;
  toml::table root_;
  std::shared_ptr<RuleDomain> domain_ = std::make_shared<RuleDomain>();
  Names names_;
  NamedTypes types_;
  Arena memory_;
  std::vector<std::pair<kernel::ProcessInfo, RuleProcess>> declared_;
  std::vector<std::shared_ptr<const SourceText>> defaultTexts_;  // by field
  std::set<std::string> literals_;
  std::set<std::int64_t> numbers_;
};

}  // namespace witan::rules

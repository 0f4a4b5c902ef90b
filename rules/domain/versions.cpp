#include "rules/domain/versions.h"

#include <algorithm>
#include <charconv>

#include "base/quote.h"
#include "kernel/lint.h"
#include "rules/domain/rule_reader.h"

namespace witan::rules {

namespace {

using kernel::kRulesVersionField;

constexpr std::int64_t kVersionsMost = 1000;
constexpr const char* kUpgradeProcess = "UpgradeRules";

}  // namespace

// ---- reading

// `version` and [since].
void RuleReader::versions() {
  if (const toml::node* node = root_.get("version")) {
    const auto* number = node->as_integer();
    if (number == nullptr || number->get() < 1 || number->get() > kVersionsMost)
      stop(node->source(), concat("expected a version: a whole number from 1 to ", kVersionsMost));
    domain_->version = number->get();
  }
  for (const auto& [key, node] : section("since")) {
    std::int64_t version = 0;
    const auto [end, error] = std::from_chars(key.data(), key.data() + key.size(), version);
    if (error != std::errc() || end != key.data() + key.size() || version < 2 || version > domain_->version)
      stop(node->source(), concat(inQuotes(clip(key)), " is no version from 2 to ", domain_->version));
    if (!node->is_array()) stop(node->source(), "expected a list of fields, processes and invariants");
    for (const auto& item : *node->as_array()) domain_->since[textOf(item, "a name")] = version;
  }
}

// The field that holds an entity's version; of entities from before there was one it is 1.
void RuleReader::versionField() {
  if (domain_->version == 1) return;
  Layout& layout = domain_->layout;
  if (layout.fields.size() == 64 ||
      std::ranges::find(layout.fields, kRulesVersionField, &FieldDecl::name) != layout.fields.end())
    stop(invalid(concat("a file with a version has a field ", kRulesVersionField, " besides, and 63 others at most")));
  layout.fields.push_back({.name = kRulesVersionField, .type = typeOf(Type::Kind::integer)});
  domain_->signature.fields.push_back({kRulesVersionField, "int", false, false, 0});
  domain_->versionField = layout.fields.size() - 1;
  domain_->initial.emplace_back(Value::of(std::int64_t{1}));
  defaultTexts_.push_back(std::make_shared<const SourceText>(
      SourceText{concat("field ", kRulesVersionField), 1, 1, std::to_string(domain_->version)}));
}

// The script of what came with a later version, for entities of it. Places in it stay right.
std::shared_ptr<const SourceText> RuleReader::guarded(std::shared_ptr<const SourceText> source, const std::string& name,
                                                      bool process) const {
  const auto since = domain_->since.find(name);
  if (since == domain_->since.end()) return source;
  const std::string reached = concat(".", kRulesVersionField, " >= ", since->second);
  const std::string before =
      process ? concat("require ", reached, " else 'the entity is of version ' + string(.", kRulesVersionField,
                       ") + ' of the rules, and ", name, " came with ", since->second, "'; ")
              : concat("if ", reached, " { ");
  SourceText made = *source;
  made.text = concat(before, made.text, process ? "" : "\n}");
  made.column -= before.size();
  return std::make_shared<const SourceText>(std::move(made));
}

// Moves an entity on: its version, and the fields that came since.
void RuleReader::upgradeProcess() {
  if (domain_->version == 1) return;
  for (const auto& [info, process] : declared_)
    if (info.name == kUpgradeProcess || info.role == "Upgrade")
      stop(invalid(concat("a file with a version has the process ", kUpgradeProcess, " of the role Upgrade already")));
  process(kUpgradeProcess, toml::table{{"role", "Upgrade"}, {"do", upgradeScript(domain_->version)}});
  CompileOptions options;
  options.process = true;
  for (std::int64_t version = 2; version < domain_->version; ++version)
    declared_.back().second.earlier.emplace(
        version, orStop(compileScript(names_,
                                      std::make_shared<const SourceText>(SourceText{concat("process ", kUpgradeProcess),
                                                                                    1, 1, upgradeScript(version)}),
                                      options)));
}

std::string RuleReader::upgradeScript(std::int64_t version) const {
  std::string script = concat("require .", kRulesVersionField, " < ", version, " else 'the entity is of version ",
                              version, " of the rules already';\n");
  for (std::size_t i = 0; i < domain_->layout.fields.size(); ++i) {
    const FieldDecl& field = domain_->layout.fields[i];
    const auto since = domain_->since.find(field.name);
    if (since == domain_->since.end() || since->second > version) continue;
    if (field.isColumn || !defaultTexts_[i])
      stop(invalid(concat("[since]: ", field.name, " is no field of [fields] with a default")));
    script += concat("if .", kRulesVersionField, " < ", since->second, " { ", field.name, " = ", defaultTexts_[i]->text,
                     "\n}\n");
  }
  return script + concat(kRulesVersionField, " = ", version);
}

// Each name of [since] is of something.
void RuleReader::checkSince() const {
  for (const auto& [name, version] : domain_->since) {
    const kernel::Signature& s = domain_->signature;
    const bool known = std::ranges::find(s.fields, name, &kernel::FieldInfo::name) != s.fields.end() ||
                       std::ranges::find(s.processes, name, &kernel::ProcessInfo::name) != s.processes.end() ||
                       std::ranges::find(s.invariants, name, &kernel::InvariantInfo::id) != s.invariants.end();
    if (!known) stop(invalid(concat("[since]: there is no field, process or invariant ", inQuotes(clip(name)))));
  }
}

// ---- comparing

namespace {

Error otherwise(const std::string& what) {
  return conflict(concat("this is no later version of the rules: ", what),
                  "what was decided must come out the same: keep the old parts as they are, add new ones under [since] "
                  "with a higher version (docs/RULES.md), or give the domain another name");
}

bool sameSources(const Program& a, const Program& b) {
  return std::ranges::equal(a.sources, b.sources, [](const auto& x, const auto& y) { return x->text == y->text; });
}

bool sameArguments(const RuleProcess& a, const RuleProcess& b) {
  return std::ranges::equal(a.arguments, b.arguments, [](const RuleArgument& x, const RuleArgument& y) {
    if (x.name != y.name || show(*x.type) != show(*y.type) || x.byDefault.present() != y.byDefault.present())
      return false;
    return !x.byDefault.present() || equals(x.byDefault.value(), y.byDefault.value());
  });
}

bool sameParts(const RuleDomain& in, const RulePart& a, const RuleDomain& inOther, const RulePart& b) {
  const auto tableIn = [](const RuleDomain& domain, const RulePart& part) {
    return part.each ? domain.layout.tables[*part.each].name : std::string();
  };
  return tableIn(in, a) == tableIn(inOther, b) && sameSources(a.check, b.check);
}

std::vector<std::string> namesIn(const RuleDomain& domain, kernel::FieldMask mask) {
  return domain.signature.fieldNames(mask);
}

class Comparison {
 public:
  Comparison(const RuleDomain& older, const RuleDomain& newer) : older_(older), newer_(newer) {}

  Status run() const {
    if (newer_.signature.domain != older_.signature.domain)
      return otherwise(concat("it is of the domain ", newer_.signature.domain));
    if (newer_.version < older_.version)
      return otherwise(concat("it is version ", newer_.version, ", after ", older_.version));
    WITAN_DO(head());
    WITAN_DO(fields());
    WITAN_DO(processes());
    return invariants();
  }

 private:
  Status head() const {
    for (const std::string& name : older_.signature.counselors)
      if (std::ranges::find(newer_.signature.counselors, name) == newer_.signature.counselors.end())
        return otherwise(concat("the counselor ", name, " is gone"));
    for (const auto& [name, value] : older_.policy) {
      const json::value* now = newer_.policy.if_contains(name);
      if (now == nullptr || *now != value)
        return otherwise(concat("policy.", name, " is ", now == nullptr ? "gone" : "another"));
    }
    return okStatus();
  }

  Status fields() const {
    for (std::size_t i = 0; i < older_.layout.fields.size(); ++i) {
      const FieldDecl& was = older_.layout.fields[i];
      const auto at = std::ranges::find(newer_.layout.fields, was.name, &FieldDecl::name);
      if (at == newer_.layout.fields.end()) return otherwise(concat("the field ", was.name, " is gone"));
      const bool same =
          at->isColumn == was.isColumn && at->isLog == was.isLog && at->human == was.human &&
          show(*at->type) == show(*was.type) &&
          (!was.isColumn || newer_.layout.tables[at->table].name == older_.layout.tables[was.table].name) &&
          newer_.signature.fields[static_cast<std::size_t>(at - newer_.layout.fields.begin())].instances ==
              older_.signature.fields[i].instances;
      if (!same) return otherwise(concat("the field ", was.name, " is another"));
      // By it a copy finds out whether an entity began as its owner says.
      const auto &before = older_.defaults[i],
                 &now = newer_.defaults[static_cast<std::size_t>(at - newer_.layout.fields.begin())];
      if (was.name != kRulesVersionField && (before ? !now || !sameSources(*before, *now) : now.has_value()))
        return otherwise(concat("the default of the field ", was.name, " is another"));
    }
    return okStatus();
  }

  // A new part counts for entities that were moved on; without a version it would count at once.
  Status isNew(const char* what, const std::string& name) const {
    const auto since = newer_.since.find(name);
    if (since != newer_.since.end() && since->second > older_.version) return okStatus();
    return otherwise(
        concat("the ", what, " ", name, " is new, and [since] does not name it with a version above ", older_.version));
  }
  Status isAsOld(const char* what, const std::string& name) const {
    const auto was = older_.since.find(name), now = newer_.since.find(name);
    if ((was == older_.since.end() ? 1 : was->second) == (now == newer_.since.end() ? 1 : now->second))
      return okStatus();
    return otherwise(concat("[since] names another version for the ", what, " ", name));
  }

  Status processes() const {
    for (std::size_t i = 0; i < older_.processes.size(); ++i) {
      const RuleProcess& was = older_.processes[i];
      if (was.name == kUpgradeProcess) continue;
      const auto at = std::ranges::find(newer_.processes, was.name, &RuleProcess::name);
      if (at == newer_.processes.end()) return otherwise(concat("the process ", was.name, " is gone"));
      WITAN_DO(isAsOld("process", was.name));
      const auto& before = older_.signature.processes[i];
      const auto& now = newer_.signature.processes[static_cast<std::size_t>(at - newer_.processes.begin())];
      const bool same = before.role == now.role && sameArguments(was, *at) && sameSources(was.body, at->body) &&
                        namesIn(older_, before.reads) == namesIn(newer_, now.reads) &&
                        namesIn(older_, before.writes) == namesIn(newer_, now.writes);
      if (!same) return otherwise(concat("the process ", was.name, " is another"));
    }
    for (const RuleProcess& now : newer_.processes)
      if (now.name != kUpgradeProcess &&
          std::ranges::find(older_.processes, now.name, &RuleProcess::name) == older_.processes.end())
        WITAN_DO(isNew("process", now.name));
    return okStatus();
  }

  // Verdicts stand in entries in the order of the invariants.
  Status invariants() const {
    for (std::size_t i = 0; i < newer_.invariants.size(); ++i) {
      const RuleInvariant& now = newer_.invariants[i];
      if (i >= older_.invariants.size()) {
        WITAN_DO(isNew("invariant", now.id));
        continue;
      }
      const RuleInvariant& was = older_.invariants[i];
      if (was.id != now.id)
        return otherwise(concat("where the invariant ", was.id, " stood there is ", now.id, "; new ones come last"));
      WITAN_DO(isAsOld("invariant", was.id));
      const bool same = std::ranges::equal(
          was.parts, now.parts, [&](const RulePart& a, const RulePart& b) { return sameParts(older_, a, newer_, b); });
      if (!same) return otherwise(concat("the invariant ", was.id, " is another"));
    }
    if (newer_.invariants.size() < older_.invariants.size())
      return otherwise(concat("the invariant ", older_.invariants[newer_.invariants.size()].id, " is gone"));
    return okStatus();
  }

  const RuleDomain& older_;
  const RuleDomain& newer_;
};

}  // namespace

Status continuesRules(const std::string& older, const json::object& olderPolicy, const kernel::DomainModule& newer) {
  if (older.empty() || newer.ruleText().empty()) return otherwise("one of the two is no rule file");
  WITAN_TRY(before, readRuleDomain(older, "the rules so far", olderPolicy));
  WITAN_TRY(policy, parseJson(newer.policyJson(), kOwnJson));
  WITAN_TRY(after, readRuleDomain(std::string(newer.ruleText()), "the new rules", policy.get_object()));
  return Comparison(*before, *after).run();
}

}  // namespace witan::rules

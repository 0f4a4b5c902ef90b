// Any bytes as an expression, checked and unchecked, and as a rule file; evaluation ends, and an error names its place.
// A file that is read shows itself, and its samples are decided.
#pragma once

#include "base/check.h"
#include "base/seams.h"
#include "rules/domain/rule_module.h"
#include "rules/program/compiler.h"

namespace witan::fuzz {

inline void fuzzExpression(std::string_view text) {
  const rules::Names names;
  for (const bool lenient : {false, true}) {
    rules::CompileOptions options;
    options.lenient = lenient;
    const auto source = std::make_shared<const rules::SourceText>(rules::SourceText{"fuzz", 1, 1, std::string(text)});
    const auto program = rules::compileExpression(names, source, options);
    if (!program.ok()) {
      WITAN_CHECK(program.error().message.starts_with("line "), "an error names the line");
      continue;
    }
    rules::Arena arena;
    rules::Machine machine(*program, arena, nullptr, nullptr, Time{});
    const rules::Value value = machine.evaluate(program->root);
    WITAN_CHECK(!value.failed() || !machine.explain(value).empty(), "a failure says why");
  }
}

inline void fuzzRuleFile(std::string_view text) {
  const auto module = rules::makeRuleModule(std::string(text), "fuzz.toml");
  if (!module.ok()) {
    WITAN_CHECK(module.error().message.find("fuzz.toml") != std::string::npos || !module.error().message.empty(),
                "an error names the file");
    return;
  }
  const kernel::DomainModule& m = **module;
  SeededRandom random(1);
  auto entity = m.create({}, kSampleStart);
  for (int i = 0; entity.ok() && i < 8; ++i) {
    const auto action = m.sample(**entity, random, kSampleStart);
    if (action == nullptr) continue;
    kernel::Evaluation found;
    m.evaluate(**entity, m.signature().processes[action->process].role, *action, kSampleStart, found);
    std::string state;
    m.writeState(state, **entity);
    const auto read = parseJson(state, kOwnJson);
    WITAN_CHECK(read.ok(), state);
    const auto again = m.readState(read->as_object());
    WITAN_CHECK(again.ok(), again.ok() ? "" : again.error().message);
    std::string same;
    m.writeState(same, **again);
    WITAN_CHECK(same == state, "a state that is read again is the same");
  }
}

}  // namespace witan::fuzz

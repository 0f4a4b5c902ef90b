// `witan rule`: expressions of rule files (the Common Expression Language) by themselves.
#include "cli/commands/commands.h"
#include "program/line_reader.h"
#include "program/output.h"
#include "rules/program/cases.h"

namespace witan::node {

namespace {

constexpr std::size_t kCaseMax = 1 << 20;

struct RuleArguments {
  std::string cases;
  bool json = false;
};

Result<int> evaluate(const RuleArguments& a) {
  bool refused = false;
  const auto one = [&](const InputLine& line) -> Status {
    if (line.text.empty() && !line.overlong) return okStatus();
    auto answer = line.overlong ? Result<json::object>(invalid(concat("a case has at most ", kCaseMax, " bytes")))
                                : rules::evaluateCase(line.text);
    if (!answer.ok()) {
      refused = true;
      putErr(concat("witan: line ", line.number, ": ", answer.error().message, "\n"));
      return okStatus();
    }
    putWords(canonicalJson(*answer) + "\n");
    return okStatus();
  };
  WITAN_DO(forEachLine(a.cases, kCaseMax, one));
  return refused ? kExitSomeRefused : kExitOk;
}

}  // namespace

void addRuleCommand(Command& app) {
  auto a = std::make_shared<RuleArguments>();
  Command* rule = app.noun("rule", "Expressions of rule files by themselves", "witan rule eval cases.jsonl");
  Command* eval = rule->command("eval", "Evaluate expressions (JSON Lines): one answer line per case");
  eval->option("cases", a->cases, "File of cases {\"name\",\"expr\",\"vars\"?}, or - for standard input")->required();
  eval->flag("--json", a->json, "Errors as JSON too (answers always are)");
  eval->footer("Example: witan rule eval cases.jsonl");
  runs(eval, a, evaluate);
}

}  // namespace witan::node

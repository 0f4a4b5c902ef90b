// What the prover found, as text, as JSON and as scenarios.
#include "base/string_util.h"
#include "lab/proof/rules/prover.h"
#include "lab/proof/rules/terms.h"

namespace witan::rules::proof {

namespace {

const char* word(const Claim& claim) {
  return claim.answer == Answer::unknown ? "unknown"
         : claim.answer == Answer::no    ? "no"
         : claim.vacuous                 ? "yes, never met"
                                         : "yes";
}

json::object claimJson(const Claim& claim) {
  json::object out{{"answer", claim.answer == Answer::yes ? "yes" : claim.answer == Answer::no ? "no" : "unknown"}};
  if (!claim.invariant.empty()) out["invariant"] = claim.invariant;
  if (!claim.first.empty()) out["first"] = claim.first;
  if (!claim.second.empty()) out["second"] = claim.second;
  if (claim.vacuous) out["vacuous"] = true;
  if (!claim.why.empty()) out["why"] = claim.why;
  if (!claim.example.empty()) out["example"] = claim.example;
  if (claim.decided) out["decided"] = true;
  return out;
}

std::string line(const std::string& what, const Claim& claim, const std::string& with) {
  std::string out = concat("  ", what, ": ", word(claim), with, "\n");
  if (!claim.why.empty()) out += concat("      ", claim.why, "\n");
  if (claim.decided)
    out += "      it begins with what a person decided, or under an earlier version, so it is no scenario:\n";
  for (std::string_view rest = claim.example; !rest.empty();) {
    const std::size_t end = std::min(rest.find('\n'), rest.size() - 1);
    out += concat("      ", rest.substr(0, end + 1));
    rest.remove_prefix(end + 1);
  }
  return out;
}

}  // namespace

std::string proofText(const ProofReport& report) {
  std::string out = concat(report.domain, ": all lawful states of at most ", report.options.rows, " rows a table and ",
                           kListElements, " elements a list; within ", report.options.seconds, " s, ",
                           report.options.milliseconds, " ms a question\n");
  for (const auto& [process, answer] : report.commits)
    if (answer == Answer::no) out += concat("  ", process, " can never be approved\n");
  out += "A process alone keeps a rule:\n";
  for (const Claim& claim : report.kept) out += line(concat(claim.invariant, ", ", claim.first), claim, "");
  out += "A rule needs no coordination of roles:\n";
  for (const Claim& claim : report.uncoordinated)
    out += line(claim.invariant, claim,
                claim.answer == Answer::no ? concat(" (", claim.first, ", ", claim.second, ")") : "");
  out += "Two processes give the same in either order, so that they need no owner:\n";
  for (const Claim& claim : report.orderless) out += line(concat(claim.first, ", ", claim.second), claim, "");
  return out;
}

json::object proofJson(const ProofReport& report) {
  const auto all = [](const std::vector<Claim>& claims) {
    json::array out;
    for (const Claim& claim : claims) out.push_back(claimJson(claim));
    return out;
  };
  json::array never;
  for (const auto& [process, answer] : report.commits)
    if (answer == Answer::no) never.emplace_back(process);
  return {{"domain", report.domain},
          {"rows", report.options.rows},
          {"seconds", report.options.seconds},
          {"limitMs", report.options.milliseconds},
          {"neverApproved", std::move(never)},
          {"kept", all(report.kept)},
          {"uncoordinated", all(report.uncoordinated)},
          {"orderless", all(report.orderless)}};
}

std::string proofScenarios(const ProofReport& report) {
  std::string out;
  for (const std::vector<Claim>* claims : {&report.kept, &report.uncoordinated, &report.orderless})
    for (const Claim& claim : *claims)
      if (!claim.decided) out += claim.example;
  return out;
}

}  // namespace witan::rules::proof

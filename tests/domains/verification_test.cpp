// The rules of vulnerability verification (domains.md, section 4), each sentence at its edges.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "domains/verification/invariants.h"
#include "kernel/lint.h"
#include "rules/program/cvss.h"
#include "tests/domains/edges.h"

namespace witan::domains::test::verification_test {
namespace {

using verification::Band;
using verification::bandOf;
using verification::Score;

class VerificationRules : public testing::Test, protected OneEntity {
 protected:
  VerificationRules() : OneEntity("verification") {}

  std::string submit(const std::string& f, std::int64_t day = 1) {
    return propose(R"({"type":"SubmitFinding","f":")" + f + R"(","loc":"a.c:1","cwe":"CWE-1"})", at(day));
  }
  std::string triage(const std::string& f, std::int64_t day = 1) {
    return propose(R"({"type":"TriageFinding","f":")" + f + R"(","component":"a"})", at(day));
  }
  std::string run(const std::string& f, int seed, std::int64_t day = 1,
                  const std::string& rest = R"("ok":true,"trace":"t")", const std::string& env = "asan") {
    return propose(R"({"type":"RunReproduction","f":")" + f + R"(","env":")" + env + R"(","seed":)" +
                       std::to_string(seed) + "," + rest + "}",
                   at(day));
  }
  // A vector with that score; "v" for a score that no base vector has.
  static std::string vectorOf(const std::string& score) {
    static const std::map<double, std::string> vectors{
        {0, "AV:N/AC:L/PR:N/UI:N/S:U/C:N/I:N/A:N"},   {3.9, "AV:N/AC:H/PR:H/UI:R/S:U/C:L/I:L/A:L"},
        {4, "AV:N/AC:H/PR:N/UI:N/S:C/C:L/I:N/A:N"},   {6.9, "AV:N/AC:L/PR:H/UI:R/S:C/C:H/I:L/A:N"},
        {7, "AV:N/AC:H/PR:N/UI:N/S:U/C:H/I:L/A:L"},   {8.9, "AV:N/AC:L/PR:L/UI:R/S:C/C:H/I:H/A:L"},
        {5, "AV:N/AC:L/PR:L/UI:N/S:C/C:L/I:N/A:N"},   {9, "AV:N/AC:L/PR:L/UI:R/S:C/C:H/I:H/A:H"},
        {9.8, "AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H"}, {8.1, "AV:N/AC:L/PR:N/UI:R/S:U/C:H/I:H/A:N"},
        {10, "AV:N/AC:L/PR:N/UI:N/S:C/C:H/I:H/A:H"}};
    const auto found = vectors.find(std::stod(score));
    return found == vectors.end() ? "v" : "CVSS:3.1/" + found->second;
  }
  std::string assess(const std::string& f, const std::string& score, const std::string& band, std::int64_t day = 1) {
    return propose(R"({"type":"AssessSeverity","f":")" + f + R"(","vector":")" + vectorOf(score) + R"(","score":)" +
                       score + R"(,"b":")" + band + "\"}",
                   at(day));
  }
  std::string verdict(const std::string& f, const std::string& outcome, std::int64_t day = 1) {
    return propose(R"({"type":"ProposeVerdict","f":")" + f + R"(","outcome":")" + outcome + "\"}", at(day));
  }
  std::string duplicate(const std::string& f, const std::string& of, std::int64_t day = 1) {
    return propose(R"({"type":"MarkDuplicate","f":")" + f + R"(","of":")" + of + "\"}", at(day));
  }
  std::string sign(const std::string& f, const std::string& by = "human.verifier", std::int64_t day = 1) {
    return decide(true, R"({"verdict.by":{")" + f + R"(":")" + by + "\"}}", at(day));
  }
  // A finding in the given phase.
  void reach(const std::string& f, const std::string& phase) {
    ASSERT_EQ(submit(f), "approved");
    if (phase == "SUBMITTED") return;
    if (phase == "DUPLICATE") {
      ASSERT_EQ(submit("other-than-" + f), "approved");
      ASSERT_EQ(duplicate(f, "other-than-" + f), "approved");
      return;
    }
    ASSERT_EQ(triage(f), "approved");
    if (phase == "TRIAGED") return;
    if (phase == "REFUTED") {
      ASSERT_EQ(verdict(f, phase), "escalated:VERIF_HUMAN_VERDICT");
      ASSERT_EQ(sign(f), "cCommitted:safe");
      return;
    }
    ASSERT_EQ(run(f, 1), "approved");
    if (phase == "REPRODUCED") return;
    ASSERT_EQ(run(f, 2), "approved");
    ASSERT_EQ(assess(f, "5", "MEDIUM"), "approved");
    ASSERT_EQ(verdict(f, "VERIFIED"), "escalated:VERIF_HUMAN_VERDICT");
    ASSERT_EQ(sign(f), "cCommitted:safe");
  }
};

const std::vector<std::string> kPhases{"SUBMITTED", "TRIAGED", "REPRODUCED", "VERIFIED", "REFUTED", "DUPLICATE"};

// Every pair of phases: exactly these steps are on the path.
TEST_F(VerificationRules, PhasePath_ExactlyTheseEdges) {
  const std::set<std::string> edges{"SUBMITTED TRIAGED",  "TRIAGED REPRODUCED",  "REPRODUCED VERIFIED",
                                    "REPRODUCED REFUTED", "TRIAGED REFUTED",     "SUBMITTED DUPLICATE",
                                    "TRIAGED DUPLICATE",  "REPRODUCED DUPLICATE"};
  ASSERT_EQ(submit("T"), "approved");  // what a duplicate may be of
  for (const std::string& from : kPhases) {
    const std::string f = "F-" + from;
    reach(f, from);
    const json::array log = field("phase.log").at(f).as_array();
    ASSERT_EQ(log.back().at(0), json::value(from));
    for (const std::string& to : kPhases) {
      json::array next = log;
      next.push_back(json::array{to, when(2)});
      std::string edit = R"({"finding.phase":{")" + f + R"(":")" + to + R"("},"phase.log":{")" + f +
                         "\":" + json::serialize(next) + "}";
      if (to == "DUPLICATE") edit += R"(,"dup.of":{")" + f + R"(":"T"})";
      const bool wrong = firstFailing(edit + "}") == "VERIF_PHASE_PATH";
      EXPECT_EQ(wrong, !edges.contains(from + " " + to)) << from << " to " << to;
    }
  }
}

TEST_F(VerificationRules, PhasePath_BeginsEndsAndNeverGoesBackInTime) {
  ASSERT_EQ(submit("F"), "approved");
  const auto with = [&](const std::string& phase, const std::string& log) {
    return firstFailing(R"({"finding.phase":{"F":)" + phase + R"(},"phase.log":{"F":)" + log + "}}");
  };
  const std::string t1 = "\"" + when(1) + "\"";
  const std::string before = "\"" + when(0, 86'399) + "\"";
  EXPECT_EQ(with(R"("TRIAGED")", "[[\"SUBMITTED\"," + t1 + "],[\"TRIAGED\"," + t1 + "]]"), "");
  EXPECT_EQ(with(R"("TRIAGED")", "[[\"SUBMITTED\"," + t1 + "],[\"TRIAGED\"," + before + "]]"), "VERIF_PHASE_PATH");
  EXPECT_EQ(with(R"("SUBMITTED")", "[[\"SUBMITTED\"," + t1 + "],[\"TRIAGED\"," + t1 + "]]"), "VERIF_PHASE_PATH");
  EXPECT_EQ(with(R"("TRIAGED")", "[[\"TRIAGED\"," + t1 + "]]"), "VERIF_PHASE_PATH");
  EXPECT_EQ(with(R"("SUBMITTED")", "[]"), "VERIF_PHASE_PATH");
  EXPECT_EQ(with("null", "[[\"SUBMITTED\"," + t1 + "]]"), "VERIF_PHASE_PATH");
  EXPECT_EQ(with(R"("SUBMITTED")", "null"), "VERIF_PHASE_PATH");
}

// Findings that nobody submitted: no fault, but no path either.
TEST_F(VerificationRules, UnknownFindings) {
  for (const auto& outcome : {triage("X"), duplicate("X", "Y"), verdict("X", "VERIFIED"), verdict("X", "REFUTED")})
    EXPECT_EQ(outcome, "rejected:VERIF_PHASE_PATH");
  for (const auto& outcome :
       {run("X", 1), assess("X", "5", "MEDIUM"), propose(R"({"type":"LocateDefect","f":"X","loc":"a.c:2"})", at(1))})
    EXPECT_EQ(outcome, "rejected:KERNEL_INTEGRITY");
  EXPECT_EQ(submit("X"), "approved");
}

TEST_F(VerificationRules, ARunThatSucceedsReproducesATriagedFindingOnly) {
  ASSERT_EQ(submit("F"), "approved");
  const auto phase = [&] { return std::string(field("finding.phase").at("F").as_string()); };
  ASSERT_EQ(run("F", 1), "approved");
  EXPECT_EQ(phase(), "SUBMITTED");
  ASSERT_EQ(triage("F"), "approved");
  ASSERT_EQ(run("F", 2, 1, R"("ok":false,"trace":"t")"), "approved");
  EXPECT_EQ(phase(), "TRIAGED");
  ASSERT_EQ(run("F", 3, 1, R"("ok":true,"trace":null)"), "approved");
  EXPECT_EQ(phase(), "REPRODUCED");
  ASSERT_EQ(run("F", 4), "approved");
  EXPECT_EQ(phase(), "REPRODUCED");
  EXPECT_EQ(field("repro.log").as_object().size(), 4u);
  EXPECT_EQ(field("repro.log").at("0000000001").at("at"), json::value(when(1)));
  EXPECT_EQ(field("phase.log").at("F").as_array().size(), 3u);
}

TEST_F(VerificationRules, DuplicateTarget) {
  for (const char* f : {"A", "B", "C"}) ASSERT_EQ(submit(f), "approved");
  EXPECT_EQ(duplicate("A", "A"), "rejected:VERIF_DUPLICATE_TARGET");
  EXPECT_EQ(duplicate("A", "Z"), "rejected:VERIF_DUPLICATE_TARGET");
  EXPECT_EQ(duplicate("A", "B"), "approved");
  EXPECT_EQ(duplicate("C", "A"), "rejected:VERIF_DUPLICATE_TARGET");
  EXPECT_EQ(duplicate("B", "C"), "rejected:VERIF_DUPLICATE_TARGET");  // A's target would become one
  EXPECT_EQ(duplicate("C", "B"), "approved");
  EXPECT_EQ(firstFailing(R"({"dup.of":{"A":null}})"), "VERIF_DUPLICATE_TARGET");
  EXPECT_EQ(firstFailing(R"({"dup.of":{"B":"C"}})"), "VERIF_DUPLICATE_TARGET");
  EXPECT_EQ(firstFailing(R"({"finding.phase":{"B":null},"phase.log":{"B":null}})"), "VERIF_DUPLICATE_TARGET");
}

TEST_F(VerificationRules, SeverityBand_EveryEdge) {
  ASSERT_EQ(submit("F"), "approved");
  const std::vector<std::pair<std::string, std::string>> right{
      {"0", "NONE"}, {"0.0", "NONE"}, {"3.9", "LOW"},    {"4", "MEDIUM"},     {"4.0", "MEDIUM"}, {"6.9", "MEDIUM"},
      {"7", "HIGH"}, {"8.9", "HIGH"}, {"9", "CRITICAL"}, {"9.8", "CRITICAL"}, {"10", "CRITICAL"}};
  for (const auto& [score, band] : right)
    for (const char* said : {"NONE", "LOW", "MEDIUM", "HIGH", "CRITICAL"})
      EXPECT_EQ(assess("F", score, said), band == said ? "approved" : "rejected:VERIF_SEVERITY_BAND") << score << said;
  for (const char* score : {"-0.000001", "-1", "10.000001", "11", "1000000", "-1000000", "9.799999"})
    for (const char* said : {"NONE", "LOW", "CRITICAL"})
      EXPECT_EQ(assess("F", score, said), "rejected:VERIF_SEVERITY_BAND") << score;
  EXPECT_EQ(assess("F", "5", "medium"), "rejected:KERNEL_INTEGRITY");
  EXPECT_EQ(firstFailing(R"({"sev.score":{"F":null}})"), "VERIF_SEVERITY_BAND");
  EXPECT_EQ(firstFailing(R"({"sev.band":{"F":null}})"), "VERIF_SEVERITY_BAND");
}

TEST_F(VerificationRules, ScoresAreNumbersWithinReason) {
  const auto refusal = [&](const std::string& score) {
    const auto parsed = module->parseAction(
        parseJson(R"({"type":"AssessSeverity","f":"F","vector":"v","score":)" + score + R"(,"b":"LOW"})").value());
    return parsed.ok() ? std::string() : parsed.error().message;
  };
  EXPECT_EQ(refusal("9.8"), "");
  EXPECT_NE(refusal("\"9.8\"").find("AssessSeverity.score"), std::string::npos);
  EXPECT_NE(refusal("1e300").find("within a million"), std::string::npos);
  EXPECT_NE(refusal("1000000.1").find("within a million"), std::string::npos);
  EXPECT_NE(refusal("0.0000001").find("six decimals"), std::string::npos);
  EXPECT_NE(refusal("true").find("a number"), std::string::npos);
}

RC_GTEST_PROP(VerificationScore, ReadsBackFromJsonAndCapnp, ()) {
  const auto module = makeDomain("verification").value();
  const auto millionths = *rc::gen::inRange<std::int64_t>(-Score::kMost, Score::kMost + 1);
  const std::string score = toJson(Score(millionths));
  Score back;
  RC_ASSERT(readJson(parseJson(score).value(), back, "score").ok());
  RC_ASSERT(back.millionths == millionths);
  RC_ASSERT(Score(static_cast<std::uint64_t>(Score(millionths))) == Score(millionths));
}

TEST(VerificationScore, BitsThatNoJsonCarriesBecomeTheNearest) {
  EXPECT_EQ(Score(~std::uint64_t{0} >> 1).millionths, Score::kMost);
  EXPECT_EQ(Score(std::uint64_t{1} << 63).millionths, -Score::kMost);
}

TEST(Cvss, ScoresAsTheSpecification) {
  for (const auto& [vector, tenths] : std::vector<std::pair<std::string, int>>{
           {"3.1/AV:N/AC:L/PR:N/UI:N/S:C/C:H/I:H/A:H", 100},
           {"3.1/AV:N/AC:L/PR:L/UI:R/S:C/C:H/I:H/A:H", 90},
           {"3.0/AV:N/AC:H/PR:N/UI:N/S:U/C:H/I:H/A:H", 81},
           {"3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:N/I:N/A:N", 0},
           {"3.0/S:U/AV:N/AC:L/PR:H/UI:N/C:L/I:L/A:N/E:F/RL:X", 37},
           {"3.0/AV:N/AC:L/PR:N/UI:R/S:C/C:H/I:H/A:N/E:H/RL:O/RC:C/CR:H/IR:H/AR:H/MAV:N/MAC:L/MPR:L/MUI:N/MS:C/MC:H/"
            "MI:H/MA:H",
            95}})
    EXPECT_EQ(rules::cvssTenths("CVSS:" + vector), tenths) << vector;
  for (const char* none :
       {"", "CVSS:3.1", "CVSS:3.1/", "CVSS:3.1/AV:N", "AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H",
        "CVSS:3.1//AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H", "CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H/",
        "CVSS:3.1/AV:NN/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H", "CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:X/C:H/I:H/A:H"})
    EXPECT_EQ(rules::cvssTenths(none), std::nullopt) << none;
}

// The examples of first.org's user guide, then scores of its reference calculator for vectors of every group of
// metrics.
TEST(Cvss, ScoresVersion4AsItsReference) {
  for (const auto& [vector, tenths] : std::vector<std::pair<std::string, int>>{
           {"4.0/AV:L/AC:L/AT:P/PR:L/UI:N/VC:H/VI:H/VA:H/SC:N/SI:N/SA:N", 73},
           {"4.0/AV:N/AC:L/AT:P/PR:N/UI:P/VC:H/VI:H/VA:H/SC:N/SI:N/SA:N", 77},
           {"4.0/AV:N/AC:L/AT:P/PR:N/UI:P/VC:H/VI:H/VA:H/SC:N/SI:N/SA:N/E:U", 52},
           {"4.0/AV:N/AC:L/AT:P/PR:N/UI:N/VC:H/VI:L/VA:L/SC:N/SI:N/SA:N", 83},
           {"4.0/AV:N/AC:L/AT:P/PR:N/UI:N/VC:H/VI:L/VA:L/SC:N/SI:N/SA:N/CR:H/IR:L/AR:L/MAV:N/MAC:H/MVC:H/MVI:L/MVA:L",
            81},
           {"4.0/AV:L/AC:L/AT:N/PR:N/UI:A/VC:L/VI:N/VA:N/SC:N/SI:N/SA:N", 46},
           {"4.0/AV:N/AC:L/AT:N/PR:N/UI:N/VC:H/VI:H/VA:H/SC:H/SI:H/SA:H", 100},
           {"4.0/AV:N/AC:L/AT:N/PR:N/UI:N/VC:N/VI:N/VA:N/SC:N/SI:N/SA:N", 0},
           {"4.0/AV:N/AC:L/AT:N/PR:N/UI:N/VC:H/VI:H/VA:H/SC:H/SI:H/SA:H/MVI:L/MSA:S", 98},
           {"4.0/AV:L/AC:L/AT:N/PR:L/UI:N/VC:L/VI:H/VA:N/SC:N/SI:L/SA:L", 69},
           {"4.0/AV:L/AC:L/AT:P/PR:L/UI:A/VC:N/VI:H/VA:L/SC:H/SI:N/SA:N", 56},
           {"4.0/AV:L/AC:L/AT:N/PR:L/UI:N/VC:H/VI:H/VA:N/SC:H/SI:N/SA:N", 92},
           {"4.0/AV:N/AC:L/AT:N/PR:N/UI:P/VC:H/VI:N/VA:N/SC:N/SI:L/SA:H", 84},
           {"4.0/AV:N/AC:L/AT:N/PR:H/UI:P/VC:N/VI:L/VA:N/SC:L/SI:H/SA:H", 62},
           {"4.0/AV:P/AC:H/AT:P/PR:H/UI:N/VC:H/VI:N/VA:H/SC:H/SI:L/SA:N", 58},
           {"4.0/AV:N/AC:L/AT:N/PR:N/UI:P/VC:H/VI:H/VA:L/SC:N/SI:N/SA:L/E:U/AR:L/MPR:L/MVA:L", 60},
           {"4.0/AV:P/AC:H/AT:P/PR:H/UI:N/VC:N/VI:L/VA:H/SC:N/SI:H/SA:N/E:P/AR:X/MUI:X", 37},
           {"4.0/AV:L/AC:L/AT:P/PR:H/UI:N/VC:H/VI:H/VA:N/SC:H/SI:L/SA:H/E:U/CR:L/AR:M/MAV:N/MSI:H", 57},
           {"4.0/AV:P/AC:H/AT:P/PR:L/UI:N/VC:H/VI:N/VA:N/SC:L/SI:H/SA:H/E:X/MAC:X/MPR:H/MUI:P/MVI:L/MSI:L/MSA:H", 58},
           {"4.0/AV:L/AC:L/AT:P/PR:L/UI:A/VC:N/VI:H/VA:N/SC:N/SI:N/SA:L/E:X/CR:X/MAV:L/MAC:H/MPR:L/MUI:P/MSI:X/MSA:X",
            41},
           {"4.0/AV:A/AC:L/AT:N/PR:N/UI:A/VC:H/VI:H/VA:N/SC:H/SI:L/SA:N/E:U/IR:H/MAV:A/MAT:X/MPR:H/MSA:L", 53},
           {"4.0/AV:L/AC:L/AT:N/PR:L/UI:P/VC:N/VI:L/VA:H/SC:H/SI:N/SA:N/E:X/IR:X/MAV:P/MAT:P/S:N/AU:X/R:X/V:C/RE:X/U:X",
            56},
           {"4.0/AV:N/AC:H/AT:P/PR:H/UI:P/VC:L/VI:H/VA:L/SC:L/SI:H/SA:N/E:X/MAV:X/MAT:N/MPR:H/MSA:X/S:X/AU:X/R:U/V:X/"
            "RE:M/U:Red",
            70},
           {"4.0/AV:P/AC:H/AT:N/PR:N/UI:A/VC:N/VI:N/VA:H/SC:L/SI:H/SA:N/E:X/MAV:P/S:P/AU:Y/R:X/V:C/RE:H/U:X", 57},
           {"4.0/AV:N/AC:H/AT:P/PR:L/UI:A/VC:N/VI:N/VA:H/SC:L/SI:N/SA:H/E:P/CR:M/AR:M/MAT:P/MVA:L/MSA:H/S:P/AU:N/R:I/"
            "V:C/RE:H/U:Clear",
            21},
           {"4.0/AV:A/AC:L/AT:N/PR:N/UI:N/VC:H/VI:L/VA:H/SC:N/SI:H/SA:L/E:X/MAV:A/MAT:X/MUI:P/MVC:X/MSA:N/S:N/AU:X/R:A/"
            "V:C/RE:X/U:Red",
            83},
           {"4.0/AV:A/AC:H/AT:P/PR:N/UI:N/VC:L/VI:L/VA:L/SC:H/SI:N/SA:H/E:U/IR:H/AR:H/MAC:L/MVC:N/MVA:N/MSA:X/S:P/AU:Y/"
            "R:U/V:X/RE:M/U:Red",
            13}})
    EXPECT_EQ(rules::cvssTenths("CVSS:" + vector), tenths) << vector;
  const std::string base = "CVSS:4.0/AV:N/AC:L/AT:N/PR:N/UI:N/VC:H/VI:H/VA:H/SC:H/SI:H/SA:H";
  for (const std::string& none : {base + "/", base + "/E:A/E:A", base + "/CR:H/E:A", base + "/U:R", base + "/U:Blue",
                                  base + "/MSC:S", std::string("CVSS:4.0"), std::string("CVSS:4.0/AV:N"),
                                  std::string("CVSS:4.0/AC:L/AV:N/AT:N/PR:N/UI:N/VC:H/VI:H/VA:H/SC:H/SI:H/SA:H"),
                                  std::string("CVSS:4.0/AV:N/AC:L/AT:N/PR:N/UI:R/VC:H/VI:H/VA:H/SC:H/SI:H/SA:H"),
                                  std::string("CVSS:4.0/AV:N/AC:L/AT:N/PR:N/UI:N/VC:H/VI:H/VA:H/SC:H/SI:H")})
    EXPECT_EQ(rules::cvssTenths(none), std::nullopt) << none;
}

// The bands as the specification of CVSS 3.1 has them, in tenths.
RC_GTEST_PROP(VerificationScore, BandsOfTenths, ()) {
  const auto tenths = *rc::gen::inRange<std::int64_t>(0, 101);
  const Band expected = tenths == 0    ? Band::NONE
                        : tenths <= 39 ? Band::LOW
                        : tenths <= 69 ? Band::MEDIUM
                        : tenths <= 89 ? Band::HIGH
                                       : Band::CRITICAL;
  RC_ASSERT(bandOf(Score::ofTenths(tenths)) == expected);
}

// One less than enough of each part of the evidence, and then enough.
TEST_F(VerificationRules, EvidenceFirst_EachPart) {
  const std::string lacking = "rejected:VERIF_EVIDENCE_FIRST";
  ASSERT_EQ(submit("F"), "approved");
  ASSERT_EQ(submit("G"), "approved");
  ASSERT_EQ(triage("F"), "approved");
  ASSERT_EQ(run("F", 1), "approved");
  ASSERT_EQ(assess("F", "0", "NONE"), "approved");
  EXPECT_EQ(verdict("F", "VERIFIED"), lacking);
  ASSERT_EQ(run("F", 1), "approved");
  EXPECT_EQ(verdict("F", "VERIFIED"), lacking) << "the same (env, seed) twice";
  ASSERT_EQ(run("F", 2, 1, R"("ok":false,"trace":"t")"), "approved");
  EXPECT_EQ(verdict("F", "VERIFIED"), lacking) << "a run that failed";
  ASSERT_EQ(run("F", 2, 1, R"("ok":true,"trace":"")"), "approved");
  ASSERT_EQ(run("F", 2, 1, R"("ok":true,"trace":null)"), "approved");
  EXPECT_EQ(verdict("F", "VERIFIED"), lacking) << "no trace";
  ASSERT_EQ(run("G", 2), "approved");
  EXPECT_EQ(verdict("F", "VERIFIED"), lacking) << "a run of another finding";
  ASSERT_EQ(run("F", 1, 1, R"("ok":true,"trace":"t")", "msan"), "approved");
  EXPECT_EQ(verdict("F", "VERIFIED"), "escalated:VERIF_HUMAN_VERDICT");
  EXPECT_EQ(decide(false, "{}", at(1)), "cRejected");
  EXPECT_EQ(verdict("F", "REFUTED"), "escalated:VERIF_HUMAN_VERDICT") << "a refutation needs no evidence";
  EXPECT_EQ(sign("F"), "cCommitted:safe");
}

TEST_F(VerificationRules, EvidenceFirst_LocationAndSeverity) {
  reach("F", "VERIFIED");
  for (const char* edit : {R"({"static.location":{"F":""}})", R"({"static.location":{"F":null}})",
                           R"({"static.location":{"F":" "}})", R"({"repro.log":{"0000000002":null}})"})
    EXPECT_EQ(firstFailing(edit), "VERIF_EVIDENCE_FIRST") << edit;
  EXPECT_EQ(firstFailing(R"({"sev.vector":{"F":null},"sev.score":{"F":null},"sev.band":{"F":null}})"),
            "VERIF_EVIDENCE_FIRST");
  EXPECT_EQ(firstFailing(R"({"sev.vector":{"F":null}})"), "VERIF_SEVERITY_BAND");
  EXPECT_EQ(firstFailing(R"({"static.cwe":{"F":null}})"), "");
  EXPECT_EQ(propose(R"({"type":"LocateDefect","f":"F","loc":""})", at(1)), "rejected:VERIF_EVIDENCE_FIRST");
  EXPECT_EQ(run("F", 7, 1, R"("ok":false,"trace":null)"), "approved") << "later facts break nothing";
}

TEST(VerificationPolicy, HowManyRunsIsConfiguration) {
  for (int needed : {0, 1, 3}) {
    OneEntity e("verification", "{\"minRuns\":" + std::to_string(needed) + "}");
    const auto t = OneEntity::at(1);
    ASSERT_EQ(e.propose(R"({"type":"SubmitFinding","f":"F","loc":"a","cwe":"c"})", t), "approved");
    ASSERT_EQ(e.propose(R"({"type":"TriageFinding","f":"F","component":"a","maintainer":"m"})", t), "approved");
    ASSERT_EQ(
        e.propose(
            R"({"type":"AssessSeverity","f":"F","vector":"CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:N/I:N/A:N","score":0,)"
            R"("b":"NONE"})",
            t),
        "approved");
    for (int seed = 1; seed <= 3; ++seed) {
      ASSERT_EQ(e.propose(R"({"type":"RunReproduction","f":"F","env":"e","ok":true,"trace":"t","seed":)" +
                              std::to_string(seed) + "}",
                          t),
                "approved");
      const bool enough = seed >= needed;
      EXPECT_EQ(e.propose(R"({"type":"ProposeVerdict","f":"F","outcome":"VERIFIED"})", t),
                enough ? "escalated:VERIF_HUMAN_VERDICT" : "rejected:VERIF_EVIDENCE_FIRST");
      if (enough) {
        EXPECT_EQ(e.decide(false, "{}", t), "cRejected");
      }
    }
  }
  for (const char* policy : {R"({"minRuns":-1})", R"({"humans":["human"]})", R"({"runs":2})"})
    EXPECT_FALSE(makeDomain("verification", objectOf(policy)).ok()) << policy;
}

TEST_F(VerificationRules, HumanVerdict_OnlyACounselorSigns) {
  reach("F", "VERIFIED");
  EXPECT_EQ(firstFailing(R"({"verdict.by":{"F":["human.verifier","2030-01-01T00:00:00Z"]}})"), "");
  EXPECT_EQ(firstFailing(R"({"verdict.by":{"F":["human.verifier","2000-01-01T00:00:00Z"]}})"), "VERIF_HUMAN_VERDICT")
      << "signed before there was a verdict";
  EXPECT_EQ(firstFailing(R"({"verdict.by":{"F":null}})"), "VERIF_HUMAN_VERDICT");
}

TEST_F(VerificationRules, HumanVerdict_ComesLast) {
  reach("F", "REPRODUCED");
  EXPECT_EQ(verdict("F", "VERIFIED"), "rejected:VERIF_EVIDENCE_FIRST");
  EXPECT_EQ(verdict("F", "DUPLICATE"), "rejected:KERNEL_INTEGRITY");
  EXPECT_EQ(verdict("F", "REFUTED"), "escalated:VERIF_HUMAN_VERDICT");
  EXPECT_EQ(triage("F"), "frozen");
  EXPECT_EQ(submit("G"), "approved") << "the question is about F";
  EXPECT_EQ(sign("F", "agent.x"), "refused") << "nobody signs for another";
  EXPECT_EQ(decide(true, "{}", at(1)), "cCommitted:UNSAFE[VERIF_HUMAN_VERDICT]");
  EXPECT_EQ(submit("H"), "escalated:VERIF_HUMAN_VERDICT") << "an unsafe commit stays in the way until it is mended";
  EXPECT_EQ(sign("F"), "cCommitted:safe");
}

// Section 5.5: VERIF_PHASE_PATH is local to four roles by A.10, local and cross-cutting by 2.3, enforceable by none.
TEST(VerificationLint, ClassesAreThoseOfTheRules) {
  const auto module = makeDomain("verification").value();
  const SignatureLint lint = lintSignature(module->signature());
  ASSERT_EQ(lint.invariants.size(), 5u);
  EXPECT_EQ(lint.invariants[0].id, "VERIF_PHASE_PATH");
  EXPECT_EQ(lint.invariants[0].containedIn.size(), 4u);
  EXPECT_EQ(lint.invariants[0].section23(), "local and cross-cutting");
  EXPECT_EQ(lint.invariants[0].enforcer, "");
  EXPECT_EQ(lint.invariants[1].id, "VERIF_DUPLICATE_TARGET");
  EXPECT_EQ(lint.invariants[2].id, "VERIF_SEVERITY_BAND");
  EXPECT_EQ(lint.invariants[2].enforcer, "SeverityAssessment");
  EXPECT_EQ(lint.invariants[3].id, "VERIF_EVIDENCE_FIRST");
  EXPECT_TRUE(lint.invariants[3].crossCutting());
  EXPECT_EQ(lint.invariants[4].id, "VERIF_HUMAN_VERDICT");
  EXPECT_EQ(lint.problems, std::vector<std::string>{});
}

}  // namespace
}  // namespace witan::domains::test::verification_test

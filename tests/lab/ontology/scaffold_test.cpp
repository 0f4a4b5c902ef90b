// The beginnings of domains: they compile with the tree's own flags, and say what the ontology says.
#include "lab/ontology/scaffold.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sys/wait.h>
#include <cstdlib>

#include "lab/ontology/against.h"
#include "lab/ontology/cpp_names.h"
#include "lab/ontology/field_type.h"
#include "rules/domain/rule_module.h"
#include "tests/lab/ontology/turtle_texts.h"

namespace witan::ontology::scaffold_test {
namespace {

using namespace test;

Result<Scaffold> made(const std::string& text) {
  const Model model = modelOf(text);
  return scaffold(model, deriveRoles(model), "toy.ttl");
}

// Compiles with the command that this build uses for its own domains; what the compiler says, or nothing.
std::string compilerSays(const std::string& source) {
  char folder[] = "/tmp/witan-scaffold-XXXXXX";
  WITAN_CHECK(mkdtemp(folder) != nullptr, "a folder");
  const std::filesystem::path dir = folder;
  std::ofstream(dir / "scaffold.cpp") << source;
  const std::string command = std::string(WITAN_COMPILE) + " -fsyntax-only '" + (dir / "scaffold.cpp").string() +
                              "' > '" + (dir / "said").string() + "' 2>&1";
  const int status = std::system(command.c_str());
  std::string said = fileText(dir / "said");
  if (status != 0 && said.empty()) said = "exit status " + std::to_string(WEXITSTATUS(status));
  std::filesystem::remove_all(dir);
  return said;
}

TEST(Scaffold, OfEveryShippedOntologyCompilesWithoutAWord) {
  for (const auto& folder : std::filesystem::directory_iterator(root() / "domains")) {
    const std::string name = folder.path().filename().string();
    if (!std::filesystem::exists(folder.path() / (name + ".ttl"))) continue;
    const auto s = made(fileText(folder.path() / (name + ".ttl")));
    ASSERT_TRUE(s.ok()) << s.error().message;
    EXPECT_EQ(s->name, name);
    EXPECT_EQ(compilerSays(s->source), "") << s->source;
  }
}

TEST(ScaffoldRules, OfEveryShippedOntologyLoadsAndAgreesWithIt) {
  int seen = 0;
  for (const auto& folder : std::filesystem::directory_iterator(root() / "domains")) {
    const std::string name = folder.path().filename().string();
    if (!std::filesystem::exists(folder.path() / (name + ".ttl"))) continue;
    const Model model = modelOf(fileText(folder.path() / (name + ".ttl")));
    const auto s = scaffoldRules(model, model.roles.empty() ? deriveRoles(model) : declaredRoles(model), name + ".ttl");
    ASSERT_TRUE(s.ok()) << name << ": " << s.error().message;
    const auto module = rules::makeRuleModule(s->source, name);
    ASSERT_TRUE(module.ok()) << module.error().message;
    EXPECT_EQ((*module)->signature().domain, name);
    // Records and tuples have another form in the declarations of rule files: names, footprints and roles agree.
    const Comparison found = compareWith((*module)->signature(), model);
    for (const std::string& difference : found.differences)
      EXPECT_THAT(difference, ::testing::MatchesRegex("field .* is .* in the code and .* in the ontology"));
    EXPECT_EQ(found.processes, model.processes.size());
    EXPECT_EQ(found.invariants, model.invariants.size());
    ++seen;
  }
  EXPECT_GE(seen, 5);
}

TEST(ScaffoldRules, WhatNoRuleFileCanHaveIsAnError) {
  const Model model = modelOf(
      kHead + std::string("d:f a ar:Field ; ar:name \"a b\" .\nd:p a ar:Process ; ar:name \"P\" ; ar:writes d:f .\n"));
  const auto s = scaffoldRules(model, deriveRoles(model), "x.ttl");
  ASSERT_FALSE(s.ok());
  EXPECT_NE(s.error().message.find("no rule file can have this"), std::string::npos) << s.error().message;
}

// A name is a name, and ends no table head: as one, this would load.
TEST(ScaffoldRules, ANameOfTheOntologyWritesNoPartOfTheFile) {
  const Model model = modelOf(kHead + std::string("d:f a ar:Field ; ar:name \"f\" .\n"
                                                  "d:p a ar:Process ; ar:name \"P] #\" ; ar:writes d:f .\n"));
  const auto s = scaffoldRules(model, deriveRoles(model), "x.ttl");
  ASSERT_FALSE(s.ok()) << s->source;
  EXPECT_THAT(s.error().message, ::testing::HasSubstr("] #\" is no "));
}

TEST(Scaffold, TheCompilerIsAskedIndeed) { EXPECT_NE(compilerSays("int x = ;"), ""); }

// Names that are keywords, names of the kernel, macros, or one name after all; every type; texts that end comments and
// literals.
TEST(Scaffold, OfAnUnkindOntologyCompilesToo) {
  std::string text = kHead;
  int n = 0;
  std::vector<std::string> all;
  const auto field = [&](const std::string& name, const std::string& type) {
    const std::string id = "f" + std::to_string(++n);
    text += "d:" + id + " a ar:Field ; ar:name \"" + escaped(name) + "\"" +
            (type.empty() ? "" : " ; ar:type \"" + type + "\"") + " .\n";
    all.push_back(id);
  };
  field("class", "");
  field("State", "integer");
  field("state", "bool");
  field("new.delete", "");
  field("new.Delete", "map<string,enum(NULL,class,A)>");
  field("order.type", "map<string,enum(X,Y)>");
  field("order.name", "map<string,tuple(a:string,b:enum(P,Q),c:list<string>)>");
  field("order.m", "list<record(at:time,n:integer,what:tuple(x:date,y:bool))>");
  field("9lives", "list<integer>");
  field("Ünïcödé.\\\"\?\?/", "");
  field("only.stamped", "map<string,time>");
  field("when", "date");
  field("price", "decimal");
  field("perhaps", "optional<time>");
  field("perhaps.not", "map<string,optional<string>>");
  field("Time", "enum(Time,Date)");
  std::vector<std::string> stamped{"f11"};
  text += processText("Table", all, all) + processText("operator", {"f1"}, {"f1"}) +
          processText("Stamp", stamped, stamped) + processText("Look", {"f2"}, {}) + processText("judge", all, {"f3"}) +
          "d:judge ar:performedBy ar:Counselor .\n";
  text +=
      "d:i a ar:Invariant ; ar:id \"NO*/ // \\\\\" ; ar:refersTo d:f1 , d:f6 ; ar:onFailure \"mixed\" ; "
      "rdfs:comment \"a \\\"rule\\\" \\\\\\n*/ \?\?=\" ; ar:keyScope \"registry\" .\n";
  text += "d:domain rdfs:comment \"line one\\nint x = ; \\\\\" .\n";
  const auto s = made(text);
  ASSERT_TRUE(s.ok()) << s.error().message;
  EXPECT_EQ(compilerSays(s->source), "") << s->source;
  EXPECT_EQ(s->notes.size(), 3u);
}

TEST(Scaffold, WhatNoDomainCanHaveIsRefused) {
  const auto why = [](const std::string& text) {
    const auto s = made(text);
    return s.ok() ? std::string("made") : s.error().message;
  };
  EXPECT_EQ(why(kHead), "no compiled domain can have this: no process of a worker");
  EXPECT_EQ(why(kHead + processText("p", {}, {})), "no compiled domain can have this: process p without a footprint");
  const std::string small = kHead + fieldText("f") + processText("p", {"f"}, {"f"});
  EXPECT_EQ(why(small), "made");
  EXPECT_EQ(why(small + "d:i a ar:Invariant ."), "no compiled domain can have this: invariant i without a footprint");
  std::string wide = small;
  for (int i = 0; i < 64; ++i) wide += fieldText("g" + std::to_string(i));
  EXPECT_EQ(why(wide), "no compiled domain can have this: 65 fields; the most is 64");
  std::string many = small;
  for (int i = 0; i < 65; ++i) many += "d:i" + std::to_string(i) + " a ar:Invariant ; ar:refersTo d:f .\n";
  EXPECT_EQ(why(many), "no compiled domain can have this: 65 invariants; the most is 64");
  EXPECT_EQ(why(small + "d:f ar:type \"map<integer,string>\" ."),
            "type \"map<integer,string>\": expected string (a map's key) at character 12");
  std::string kernel = small;
  EXPECT_TRUE(why(kernel.replace(kernel.find("\"toy\""), 5, "\"kernel\"")).starts_with("domain \"kernel\" can't name"));
}

TEST(Scaffold, SaysTheSameAgain) {
  const std::string text = fileText(root() / "domains/udt/udt.ttl");
  EXPECT_EQ(made(text)->source, made(text)->source);
}

TEST(FieldType, IsReadAndShownAsDeclared) {
  const auto shown = [](const std::string& text) {
    const auto type = parseFieldType(text);
    return type.ok() ? asDeclared(*type) : type.error().message;
  };
  EXPECT_EQ(shown("map<string,enum(A,B)>"), "map<text, enum(A, B)>");
  EXPECT_EQ(shown(" map < string , list<tuple(a:string, b:time)> > "), "map<text, list of (a, b)>");
  EXPECT_EQ(shown("record(a:integer)"), "{a}");
  EXPECT_EQ(shown("decimal"), "decimal");
  EXPECT_EQ(shown("optional<time>"), "time or null");
  EXPECT_EQ(shown(""), "type \"\": expected a type at character 1");
  EXPECT_EQ(shown("list<"), "type \"list<\": expected a type at character 6");
  EXPECT_EQ(shown("enum()"), "type \"enum()\": expected a name at character 6");
  EXPECT_EQ(shown("map<string,map<string,date>>"),
            "type \"map<string,map<string,date>>\": expected no map in a map at character 28");
  EXPECT_EQ(shown("date x"), "type \"date x\": expected the end at character 6");
  std::string deep;
  for (int i = 0; i < 1'000; ++i) deep += "list<";
  EXPECT_NE(shown(deep).find("a type nested less deep"), std::string::npos);
}

TEST(CppNames, ComeOut) {
  EXPECT_EQ(pascalCase("UDT_CODE_KIND"), "UdtCodeKind");
  EXPECT_EQ(pascalCase("order.orderedAt"), "OrderOrderedAt");
  EXPECT_EQ(pascalCase("9"), "X9");
  EXPECT_EQ(pascalCase("**"), "X");
  EXPECT_EQ(camelCase("CVEId"), "cveId");
  EXPECT_EQ(camelCase("order.dos"), "orderDos");
  EXPECT_FALSE(isCppName("class"));
  EXPECT_FALSE(isCppName("a__b"));
  EXPECT_FALSE(isCppName("_a"));
  CppNames names({"a"});
  EXPECT_EQ(names.take("a", "X"), "aX");
  EXPECT_EQ(names.take("a", "X"), "aX2");
  EXPECT_EQ(names.take("new", "Value"), "newValue");
}

}  // namespace
}  // namespace witan::ontology::scaffold_test

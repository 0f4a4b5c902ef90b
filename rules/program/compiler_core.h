// Compiler's own: the work of program/compiler.h over two files.
#pragma once

#include <optional>
#include <set>

#include "rules/program/compiler.h"
#include "rules/program/functions.h"

namespace witan::rules {

struct CompileStop {
  Error error;
};

struct Typed {
  std::uint32_t node = 0;
  TypePtr type;
};

TypePtr typeOfValue(const Value& value);

// Throws CompileStop.
class Compiler {
 public:
  Compiler(const Names& names, std::shared_ptr<const SourceText> source, const CompileOptions& options);

  Typed compile(const Expr& e, const TypePtr& expected);
  Typed compileAs(const Expr& e, const TypePtr& expected);
  std::vector<Step> block(const std::vector<Statement>& statements);
  void setRoot(const Typed& made) {
    program_.root = made.node;
    program_.type = made.type;
  }
  void setSteps(std::vector<Step> steps) { program_.steps = std::move(steps); }
  Program finish() &&;

 private:
  struct Local {
    std::string name;
    TypePtr type;
  };
  // Loops inside each other are few: their cost multiplies.
  struct Loop {
    Loop(Compiler& c, std::uint32_t at) : compiler(c) {
      if (++compiler.loops_ > kLoopsMax) compiler.stop(at, concat("loops nest at most ", kLoopsMax, " deep"));
      compiler.program_.loops = std::max(compiler.program_.loops, compiler.loops_);
    }
    ~Loop() { --compiler.loops_; }
    Compiler& compiler;
  };
  static constexpr std::uint32_t kLoopsMax = 5;

  [[noreturn]] void stop(std::uint32_t at, const std::string& what) const;
  [[noreturn]] void noColumn(std::uint32_t at, std::uint32_t table, const std::string& name) const;
  Typed wrong(std::uint32_t at, const std::string& what);
  std::uint16_t declare(const std::string& name, TypePtr type, std::uint32_t at);
  const Local* findLocal(std::string_view name, std::uint16_t& slot) const;
  std::uint32_t emit(Node node, std::uint32_t at);
  std::uint32_t constant(const Value& value, std::uint32_t at);
  Typed constantNode(const Value& value, TypePtr type, std::uint32_t at);
  const Value* constantOf(std::uint32_t node) const;
  void checkWord(const Expr& e, const TypePtr& expected, const Typed& made);
  // A part whose own parts are constants is one itself, unless it fails.
  Typed fold(Typed made, const std::vector<std::uint32_t>& parts);

  std::optional<Typed> global(const std::string& name, bool locals, std::uint32_t at);
  Typed chain(const Expr& e, bool has);
  template <class Dotted, class IsOptional>
  Typed column(const Typed& row, std::size_t left, bool has, Dotted name, IsOptional optional, std::uint32_t at,
               std::size_t& next);
  Typed selectOne(const Typed& from, const std::string& name, bool optional, bool has, std::uint32_t at);
  Typed index(const Expr& e);
  Typed list(const Expr& e, const TypePtr& expected);
  Typed map(const Expr& e, const TypePtr& expected);
  Typed record(const Expr& e, const TypePtr& expected);
  Typed aggregate(Op op, const std::vector<std::uint32_t>& nodes, const std::vector<Value>& optional, TypePtr type,
                  std::uint32_t at);

  Typed member(const Expr& e);
  Typed call(const Expr& e, const TypePtr& expected);
  Typed operation(const Expr& e, const TypePtr& expected);
  Typed choice(const Expr& e, const TypePtr& expected);
  Typed membership(const Expr& e);
  Typed equality(const Expr& e);
  Typed ownFunction(const RuleFunction& function, const Expr& e);
  Typed invoke(const Function& function, const std::vector<Typed>& args, std::uint32_t at);
  std::optional<Typed> special(const Expr& e);
  std::optional<Typed> macro(const Expr& e);
  Typed comprehension(const Expr& e, Op op, bool two, bool filtered);
  Typed optionalMacro(const Expr& e, bool flat);
  TypePtr elementOf(const TypePtr& range, std::uint32_t at);
  std::string variable(const Expr& e);
  // The result's type; null: no overload fits.
  TypePtr resolve(std::string_view name, const std::vector<Overload>& overloads, const std::vector<Typed>& args,
                  std::uint32_t at, bool many = false);

  void require(const Statement& s, Step& step);
  void assign(const Statement& s, Step& step);
  void assignCell(const Statement& s, Step& step, std::uint32_t table, const std::string& name);
  void append(const Statement& s, Step& step);

  const Names& names_;
  const CompileOptions& options_;
  Program program_;
  std::vector<Local> scopes_;
  std::size_t barrier_ = 0;  // locals before it belong to a caller
  std::uint16_t source_ = 0;
  std::uint32_t loops_ = 0;
  std::set<std::uint32_t> walked_;  // tables whose rows are looked for
  std::vector<const RuleFunction*> within_;
};

}  // namespace witan::rules

// Terms: the values of a rule file as formulas of Z3, over all values that they may have.
//
// Numbers are mathematical integers that fail outside of their type's range; times are whole microseconds, and so are
// durations; a double is a real number that is compared, not computed. A text is a number: that of a text of the rule
// file or of some samples ("the pool"), or any other for a text of which nothing is known but that it differs from
// those. Functions of texts are functions of which Z3 knows the results for the pool. So what holds for all terms holds
// for all values; an example may be none, and is played before it counts. What has no term throws NoTerm.
//
// For lab/proof/rules/ and its tests. Nothing may outlive the context. One thread.
#pragma once

#include <z3++.h>

#include <chrono>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "rules/cel/type.h"
#include "rules/program/functions.h"

namespace witan::rules::proof {

struct NoTerm {
  std::string why;
};

// Of the values of a type.
Tag tagOf(const Type& type);

// Whether numbers of the two types have an order. The machine fails where they have none.
bool comparable(Tag a, Tag b);

inline constexpr unsigned kListElements = 2;  // of a list or map in a state or an argument, at most

struct Item;

// A value, and whether its evaluation failed (`err`); then the rest says nothing.
struct Sym {
  enum class Kind : std::uint8_t { nothing, boolean, number, text, list, map, optional, row };
  Kind kind;
  Tag tag;
  z3::expr e;  // of a boolean, number or text
  z3::expr err;
  z3::expr none;  // it is null; of an optional: there is no value
  // Of a list those elements that are on; of a map its entries; of an optional at most one value; of a row where it may
  // be.
  std::vector<Item> items;
  std::uint32_t table = 0;  // of a row
};

struct Item {
  z3::expr on;
  Sym value;             // of a row nothing
  std::vector<Sym> key;  // of a map's entry one
  unsigned slot = 0;     // of a row
};

class Terms {
 public:
  explicit Terms(z3::context& made);

  z3::context& context;
  const z3::expr yes, no;
  std::chrono::steady_clock::time_point until = std::chrono::steady_clock::time_point::max();
  // Throws NoTerm once that is over.
  void goOn() const;

  // ---- formulas that stay small where a part is known
  z3::expr both(const z3::expr& a, const z3::expr& b) const;
  z3::expr either(const z3::expr& a, const z3::expr& b) const;
  z3::expr negated(const z3::expr& a) const;
  z3::expr pick(const z3::expr& condition, const z3::expr& a, const z3::expr& b) const;
  z3::expr whole(std::int64_t n) const;

  // ---- values
  Sym make(Sym::Kind kind, Tag tag, const z3::expr& e) const;
  Sym boolean(const z3::expr& e) const { return make(Sym::Kind::boolean, Tag::boolean, e); }
  Sym number(Tag tag, const z3::expr& e) const { return make(Sym::Kind::number, tag, e); }
  Sym nothing() const;  // null
  Sym failed() const;
  Sym optionalOf(Sym value, const z3::expr& none) const;
  Sym constant(const Value& value);
  // Any value of the type; what is so of it goes to `assumed`.
  Sym any(const Type& type, const std::string& name, std::vector<z3::expr>& assumed);
  Sym choose(const z3::expr& condition, const Sym& a, const Sym& b) const;
  // Whether a number is one of its type.
  z3::expr inRange(Tag tag, const z3::expr& e) const;
  // Throws NoTerm if the machine compares the two otherwise than by their values.
  void mayCompare(const Sym& a, const Sym& b) const;
  // Requires: neither failed.
  z3::expr same(const Sym& a, const Sym& b) const;
  z3::expr sizeOf(const Sym& list) const;
  // The element at a place of a list: fails where there is none.
  Sym at(const Sym& list, const z3::expr& place) const;
  // The value of a key of a map, its `none` where there is none.
  Sym entry(const Sym& map, const Sym& key) const;
  // A function that Z3 knows nothing of, but for texts of the pool. `tag`: of the result.
  Sym apply(const Function& function, const std::vector<Sym>& args);
  z3::expr waived(const z3::expr& id, const z3::expr& subject);

  // ---- the pool
  int codeOf(std::string_view text);
  // From now on free texts of an example are of these.
  void closePool() { pool_ = known_.size(); }
  // Free texts are of the pool, and no one waived anything: what an example needs to be played.
  z3::expr playable() const;
  const std::vector<z3::expr>& facts() const { return facts_; }
  // A value of a model. Errors of the model itself are z3::exception.
  Value valueIn(const z3::model& model, const Sym& sym, const Type& type, Arena& memory) const;

 private:
  z3::expr range(const z3::expr& e, std::int64_t least, std::int64_t most) const;
  std::optional<Value> concrete(const Sym& sym) const;
  Sym uninterpreted(const std::string& name, const z3::expr_vector& args, const Type& result);
  void tellPool(const Function& function, const std::vector<Sym>& args, std::size_t free, const Sym& result);

  std::map<std::string, int, std::less<>> codes_;
  std::vector<std::string> known_;
  std::size_t pool_ = 0;
  std::vector<z3::expr> freeTexts_, facts_, waivers_;
  std::set<std::string> told_;  // functions whose results for the pool are facts
  Arena memory_;
};

}  // namespace witan::rules::proof

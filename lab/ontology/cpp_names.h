// C++ names for what an ontology names. Used by the scaffold only. Pure.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace witan::ontology {

// May it stand in C++ as it is: an identifier, no keyword, no macro of the headers that a domain includes?
bool isCppName(std::string_view name);

// "order.dos" -> "OrderDos", "UDT_CODE_KIND" -> "UdtCodeKind"; "X" if nothing is left.
std::string pascalCase(std::string_view name);
// The same, beginning small: "orderDos".
std::string camelCase(std::string_view name);

// Gives every name once; a name that is taken, or no name for C++, gets `suffix`, then a number.
class CppNames {
 public:
  explicit CppNames(std::vector<std::string> taken) : taken_(taken.begin(), taken.end()) {}
  std::string take(const std::string& name, std::string_view suffix);

 private:
  std::set<std::string> taken_;
};

}  // namespace witan::ontology

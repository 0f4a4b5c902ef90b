// The scenarios that the domains ship, as tests and `witan domain test` run them. Every expectation in them was derived
// from the domain's rules, not from what the program answered.
#include "domains/registry.h"

namespace witan::domains {

namespace {

struct Shipped {
  std::string_view domain, lines;
};

constexpr Shipped kShipped[] = {
#include "domains/scenarios.inc"
};

}  // namespace

std::string_view scenariosOf(std::string_view domain) {
  for (const Shipped& one : kShipped)
    if (one.domain == domain) return one.lines;
  return {};
}

}  // namespace witan::domains

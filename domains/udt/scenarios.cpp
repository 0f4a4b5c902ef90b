// Scenarios shipped with the domain: run by `witan domain test udt` and by the tests.
#include "domains/udt/udt.h"

namespace witan::domains::udt {

const std::string_view Udt::scenarios = R"jsonl()jsonl";

}  // namespace witan::domains::udt

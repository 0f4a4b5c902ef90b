#include "replica/core/operation_names.h"

#include <algorithm>
#include <array>

#include "base/bytes.h"
#include "base/quote.h"

namespace witan::node {

namespace {

constexpr std::size_t kHexDigits = 64;

bool answers(const Request& request) {
  return request.kind == RequestKind::commit || request.kind == RequestKind::reject;
}
bool enters(const Request& request) { return request.kind == RequestKind::ingress; }
bool deploys(const Request& request) { return request.domain == "graph" && request.role == "Operator"; }
bool begins(const Request& request) { return request.domain == "graph" && request.kind == RequestKind::init; }
bool states(const Request& request) { return request.domain == "evidence"; }
bool holdsMoney(const Request& request) { return request.domain == "escrow"; }
// Nested runs of graphs are named by their spans.
bool ofAgent(const Request& request) { return !request.agent.empty() || enters(request); }

struct NameSpace {
  std::string_view prefix;
  bool digest;  // a digest in hex follows; else anything
  bool (*belongs)(const Request&);
  const char* whose;
};

constexpr std::array kNameSpaces{NameSpace{"queue:", false, answers, "answers of counselors"},
                                 NameSpace{"feed-", false, answers, "answers that a feed holds"},
                                 NameSpace{"graph:", false, enters, "messages to graphs"},
                                 NameSpace{"market-run:", false, enters, "runs that the market asks for"},
                                 NameSpace{"graph-deploy:", false, deploys, "deployments of graphs"},
                                 NameSpace{"graph-begin:", false, begins, "deployments of graphs"},
                                 NameSpace{"evidence:", true, states, "statements of the market"},
                                 NameSpace{"letter:", true, holdsMoney, "the market's holder"},
                                 NameSpace{"open:", true, holdsMoney, "the market's holder"},
                                 NameSpace{"begin:", true, holdsMoney, "the market's holder"},
                                 NameSpace{"holder:", true, holdsMoney, "the market's holder"},
                                 NameSpace{"", true, ofAgent, "agents and nested runs"}};

// Null: it is of none.
const NameSpace* spaceOf(std::string_view id) {
  const auto hex = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); };
  const auto has = [&](const NameSpace& one) {
    if (!id.starts_with(one.prefix)) return false;
    const std::string_view rest = id.substr(one.prefix.size(), kHexDigits);
    return !one.digest || (rest.size() == kHexDigits && std::ranges::all_of(rest, hex));
  };
  const auto found = std::ranges::find_if(kNameSpaces, has);
  return found == kNameSpaces.end() ? nullptr : &*found;
}

Error taken(std::string_view id, const NameSpace& space) {
  return invalid(concat("operationId: ids like ", inQuotes(id), " belong to ", space.whose),
                 "put a name of your own before it, as in my-program:1");
}

}  // namespace

Status checkName(const Request& request) {
  const NameSpace* space = spaceOf(request.operationId);
  return space == nullptr || space->belongs(request) ? okStatus() : Status(taken(request.operationId, *space));
}

Status checkChosenName(std::string_view operationId) {
  const NameSpace* space = spaceOf(operationId);
  return space == nullptr ? okStatus() : Status(taken(operationId, *space));
}

std::string drawnName(std::string_view prefix, Random& random) {
  std::array<std::uint8_t, 16> drawn;
  random.fill(drawn);
  return concat(prefix, toHex(drawn));
}

}  // namespace witan::node

// `witan market`: verbs of a running node that takes part in the market (docs/market.md).
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <map>
#include <set>
#include <thread>

#include "base/quote.h"
#include "cli/client/verb.h"
#include "cli/commands/market_verbs.h"
#include "program/durable_file.h"
#include "program/json_file.h"
#include "program/option_checks.h"
#include "program/output.h"

namespace witan::node {

namespace {

struct OfferArguments : LiveArguments {
  std::string graph, at, currency = "EUR.cent";
  std::int64_t price = 0, calls = 0, deliver = 0, window = 0, days = 0;
};

struct QuoteArguments : OfferArguments {
  std::vector<std::string> locales;
  std::int64_t steps = 0, tokens = 0, seconds = 0;
};

struct ContractArguments : LiveArguments {
  std::string contract, at, escrow, offer, id;
  std::int64_t total = 0, calls = 0, days = 0, waitSeconds = 30;
};

struct CallArguments : LiveArguments {
  std::string contract, call, input, out, reason;
  std::int64_t amount = 0, waitSeconds = 0;
  bool review = false;
  std::vector<std::string> names;
};

void setIf(json::object& request, const char* name, std::int64_t value) {
  if (value != 0) request[name] = value;
}
void setIf(json::object& request, const char* name, const std::string& value) {
  if (!value.empty()) request[name] = value;
}

// As it is, where `shown` has a sign for nothing.
std::string said(const json::value& object, const char* member) {
  const std::string text = shown(object, member);
  return text == "-" ? "" : text;
}

Result<json::value> marketOf(const ControlClient& node) {
  WITAN_TRY(all, node.get("/v1/market"));
  if (!said(all, "org").empty()) return all;
  return Error{ErrorCode::unavailable, "this node takes no part in the market",
               "ask the device that does, or set [market] org in witan.toml"};
}

// ---- the organisation and its partners

Result<int> partners(const ControlClient& node, const LiveArguments& a) {
  WITAN_TRY(all, marketOf(node));
  const json::value rows =
      json::object{{"org", all.at("org")}, {"root", all.at("root")}, {"partners", rowsOf(all, "partners")}};
  return print(rows, a.json, [](const json::value& shown_) {
    std::vector<std::vector<std::string>> table{
        {shown(shown_, "org"), "this organisation, root " + shown(shown_, "root")}};
    for (const json::value& one : rowsOf(shown_, "partners"))
      table.push_back({shown(one, "org"), std::string(isTrue(one, "connected") ? "connected" : "not connected") +
                                              (said(one, "root").empty() ? ", no root is trusted" : "")});
    return columns(table);
  });
}

// ---- offers

Result<int> publish(const ControlClient& node, const OfferArguments& a) {
  json::object request{{"graph", a.graph}, {"price", a.price}, {"currency", a.currency}};
  setIf(request, "calls", a.calls);
  setIf(request, "deliverSeconds", a.deliver);
  setIf(request, "windowSeconds", a.window);
  setIf(request, "days", a.days);
  WITAN_TRY(made, node.post("/v1/market/publish", request));
  return print(made, a.json, [&](const json::value& all) {
    return "offer " + shown(all, "offer").substr(0, 16) + ": " + a.graph + " for " + std::to_string(a.price) + " " +
           a.currency + " a call\n";
  });
}

std::string offerWords(const json::value& all) {
  std::vector<std::vector<std::string>> table;
  for (const json::value& one : rowsOf(all, "offers"))
    table.push_back({shown(one, "offer").substr(0, 16), shown(one, "graph") + "@" + shown(one, "version"),
                     shown(one, "perCall") + " " + shown(one, "currency"),
                     "delivers within " + shown(one, "deliverWithinSeconds") + " s, " +
                         shown(one, "disputeWindowSeconds") + " s for a dispute",
                     "up to " + shown(one, "steps") + " steps, " + shown(one, "tokens") + " tokens, " +
                         shown(one, "seconds") + " s",
                     "until " + shown(one, "validUntil")});
  return columns(table);
}

Result<int> find(const ControlClient& node, const OfferArguments& a) {
  WITAN_TRY(found, node.get("/v1/market/find" + queryOf({{"at", a.at}, {"skill", a.graph}})));
  return print(found, a.json, offerWords);
}

Result<int> quote(const ControlClient& node, const QuoteArguments& a) {
  json::object request{{"at", a.at}, {"skill", a.graph}};
  if (!a.locales.empty()) request["locales"] = json::array(a.locales.begin(), a.locales.end());
  setIf(request, "steps", a.steps);
  setIf(request, "tokens", a.tokens);
  setIf(request, "seconds", a.seconds);
  WITAN_TRY(quoted, node.post("/v1/market/quote", request));
  return print(quoted, a.json, offerWords);
}

Result<int> card(const ControlClient& node, const OfferArguments& a) {
  WITAN_TRY(found, node.get("/v1/market/find" + queryOf({{"at", a.at}})));
  putOut(canonicalJson(found.at("card")) + "\n");
  return kExitOk;
}

// ---- contracts

std::string contractWords(const json::value& one) {
  return oneLine(shown(one, "id") + "  " + shown(one, "step") +
                 (said(one, "reason").empty() ? "" : ": " + said(one, "reason")) + "  " + shown(one, "buyer") +
                 " buys " + shown(one, "graph") + " of " + shown(one, "seller") + ", " + shown(one, "escrow") +
                 " holds  " + shown(one, "contract").substr(0, 16)) +
         "\n";
}

std::string callWords(const json::value& one) {
  const std::string end = said(one, "end");
  const std::string step = shown(one, "step");
  const std::string stands = !end.empty() ? end : step == "review" ? step : "at step " + step;
  return oneLine("call " + shown(one, "call") + " " + stands +
                 (said(one, "reason").empty() ? "" : ": " + said(one, "reason")) +
                 (isTrue(one, "evidence") ? ", evidence verifies" : "")) +
         "\n";
}

Result<json::value> rowNamed(const ControlClient& node, const std::string& name) {
  WITAN_TRY(all, marketOf(node));
  for (const json::value& one : rowsOf(all, "contracts"))
    if (shown(one, "id") == name || (name.size() >= 8 && shown(one, "contract").starts_with(name))) return one;
  return notFound("no contract \"" + name + "\"", "see: witan market contract list");
}

Result<int> propose(const ControlClient& node, const ContractArguments& a) {
  json::object request{{"seller", a.at}, {"escrow", a.escrow}, {"offer", a.offer}};
  setIf(request, "id", a.id);
  setIf(request, "total", a.total);
  setIf(request, "calls", a.calls);
  setIf(request, "days", a.days);
  WITAN_TRY(made, node.post("/v1/market/propose", request));
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(a.waitSeconds);
  const std::string id = shown(made, "id");
  WITAN_TRY(row, rowNamed(node, id));
  while ((shown(row, "step") == "propose" || shown(row, "step") == "open") &&
         std::chrono::steady_clock::now() < until) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    WITAN_SET(row, rowNamed(node, id));
  }
  const int printed = print(row, a.json, contractWords);
  return shown(row, "step") == "agreed" ? printed : kExitFailed;
}

Result<int> listContracts(const ControlClient& node, const ContractArguments& a) {
  WITAN_TRY(all, marketOf(node));
  const json::value rows = json::object{{"contracts", rowsOf(all, "contracts")}};
  return print(rows, a.json, [](const json::value& list) {
    std::string words;
    for (const json::value& one : rowsOf(list, "contracts")) words += contractWords(one);
    return words;
  });
}

Result<int> showContract(const ControlClient& node, const ContractArguments& a) {
  WITAN_TRY(row, rowNamed(node, a.contract));
  WITAN_TRY(all, marketOf(node));
  json::array calls;
  for (const json::value& one : rowsOf(all, "calls"))
    if (one.at("contract") == row.at("contract")) calls.push_back(one);
  json::object joined = row.get_object();
  joined["calls"] = std::move(calls);
  joined["mostCalls"] = row.at("calls");
  return print(joined, a.json, [](const json::value& one) {
    std::string words = contractWords(one);
    for (const json::value& call : rowsOf(one, "calls")) words += callWords(call);
    return words;
  });
}

Result<int> stopContract(const ControlClient& node, const ContractArguments& a) {
  WITAN_TRY(made, node.post("/v1/market/stop", {{"contract", a.contract}}));
  const json::value& answer = made.at("answer");
  if (shown(answer, "outcome") != "approved")
    return conflict("the holder does not stop it: " + shown(answer, "invariant") + " " + shown(answer, "message"));
  return print(answer, a.json, [](const json::value&) { return std::string("stopped\n"); });
}

// ---- calls

Result<json::value> callNamed(const ControlClient& node, const std::string& contract, const std::string& call) {
  WITAN_TRY(all, marketOf(node));
  for (const json::value& one : rowsOf(all, "calls"))
    if (shown(one, "contract") == contract && shown(one, "call") == call && shown(one, "side") == "bought") return one;
  return notFound("no call " + call);
}

Result<int> order(const ControlClient& node, const CallArguments& a) {
  WITAN_TRY(input, readJsonFile(a.input, {.bytes = 1 << 20}));
  if (!input.is_object()) return named(a.input, invalid("no object"));
  json::object request{{"contract", a.contract}, {"input", std::move(input)}};
  setIf(request, "call", a.call);
  setIf(request, "amount", a.amount);
  if (a.review) request["review"] = true;
  WITAN_TRY(row, node.post("/v1/market/order", request));
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(a.waitSeconds);
  const auto goesOn = [](const json::value& one) { return said(one, "end").empty() && shown(one, "step") != "review"; };
  while (goesOn(row) && std::chrono::steady_clock::now() < until) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    WITAN_SET(row, callNamed(node, shown(row, "contract"), shown(row, "call")));
  }
  return print(row, a.json, callWords);
}

template <const char* const& Act>
Result<int> act(const ControlClient& node, const CallArguments& a) {
  json::object request{{"call", a.call}, {"act", Act}};
  setIf(request, "reason", a.reason);
  WITAN_TRY(made, node.post("/v1/market/act", request));
  return print(made, a.json, [](const json::value&) { return std::string("entered\n"); });
}

Result<int> evidence(const ControlClient& node, const CallArguments& a) {
  std::string names;
  for (const std::string& name : a.names) names += (names.empty() ? "" : ",") + name;
  WITAN_TRY(shown_, node.get("/v1/market/evidence" + queryOf({{"call", a.call}, {"disclose", names}})));
  const std::string bundle = canonicalJson(shown_.at("bundle")) + "\n";
  if (a.out.empty()) {
    putOut(bundle);
    return kExitOk;
  }
  std::error_code none;
  const auto there = std::filesystem::symlink_status(a.out, none);
  if (std::filesystem::exists(there) && !std::filesystem::is_regular_file(there))
    return conflict(a.out + " is there, and no regular file", "name another; without --out it is printed");
  WITAN_DO(replaceFile(std::filesystem::absolute(a.out), bundle, 0600));
  return print(json::object{{"file", a.out}, {"bytes", std::int64_t(bundle.size())}}, a.json,
               [&](const json::value&) { return "evidence of " + a.call + " in " + a.out + "\n"; });
}

// ---- what is known of an organisation here, with the calls and incidents that show it

Result<int> repute(const ControlClient& node, const OfferArguments& a) {
  WITAN_TRY(all, marketOf(node));
  WITAN_TRY(incidents, node.get("/v1/incidents"));
  bool known =
      std::ranges::any_of(rowsOf(all, "partners"), [&](const json::value& one) { return shown(one, "org") == a.at; });
  std::set<std::string> contracts;
  for (const json::value& one : rowsOf(all, "contracts")) {
    known = known || shown(one, "escrow") == a.at;
    if (shown(one, "seller") == a.at || shown(one, "buyer") == a.at) contracts.insert(shown(one, "contract"));
  }
  std::map<std::string, json::array> ends;
  for (const json::value& one : rowsOf(all, "calls"))
    if (contracts.contains(shown(one, "contract")))
      ends[said(one, "end").empty() ? "open" : said(one, "end")].emplace_back(shown(one, "contract") + "/" +
                                                                              shown(one, "call"));
  json::array told;
  for (const json::value& one : rowsOf(incidents, "incidents"))
    if (shown(one, "kind").starts_with("market-") && shown(one, "what").starts_with(a.at + ": ")) told.push_back(one);
  if (!known && contracts.empty() && told.empty())
    return notFound("no organisation " + inQuotes(a.at) + " is known here", "see: witan market partners");
  json::object calls;
  for (const auto& [end, names] : ends) calls[end] = names;
  return print(json::object{{"org", a.at}, {"calls", calls}, {"incidents", told}}, a.json, [](const json::value& row) {
    std::string words;
    for (const auto& [end, names] : row.at("calls").as_object())
      words += std::string(end) + " " + std::to_string(names.as_array().size()) + "\n";
    return words + "incidents " + std::to_string(rowsOf(row, "incidents").size()) + "\n";
  });
}

constexpr const char* kAccept = "accept";
constexpr const char* kDispute = "dispute";
constexpr const char* kReclaim = "reclaim";
constexpr const char* kClaim = "claim";

// Without it the request has none, and the default counts.
void number(Command* command, const char* name, std::int64_t& value, const char* about) {
  command->option(name, value, about)->check(wholeNumber(1, INT64_MAX));
}

void addOffers(Command& noun) {
  using A = OfferArguments;
  {
    const auto [command, a] = addLiveVerb<A>(noun, "publish", "Offer runs of a deployed graph for a price",
                                             "witan market publish reading --price 100 --currency EUR.cent", publish);
    command->option("GRAPH", a->graph, "Id of the graph")->required();
    command->option("--price", a->price, "Of a call, in the unit of the currency")->required();
    command->option("--currency", a->currency, "Unit of the money")->showDefault();
    number(command, "--calls", a->calls, "Calls of a contract, at most; default 1000");
    number(command, "--deliver", a->deliver, "Seconds from the order to the delivery, at most; default 3600");
    number(command, "--window", a->window, "Seconds for a dispute after the delivery; default 3600");
    number(command, "--days", a->days, "Days for which the offer is valid; default 30");
  }
  {
    const auto [command, a] =
        addLiveVerb<A>(noun, "find", "Ask a partner what it sells", "witan market find --at lab", find);
    command->option("SKILL", a->graph, "Offers of this graph only");
    command->option("--at", a->at, "The organisation")->required();
  }
  {
    const auto [command, a] =
        addLiveVerb<QuoteArguments>(noun, "quote", "Ask a partner for an offer that is narrowed to what is needed",
                                    "witan market quote reading --at lab --tokens 2000", quote);
    command->option("SKILL", a->graph, "Id of the graph")->required();
    command->option("--at", a->at, "The organisation")->required();
    command->option("--locale", a->locales, "Where data may get to; more than once; default: as offered");
    number(command, "--steps", a->steps, "Of a call, at most; default: as offered");
    number(command, "--tokens", a->tokens, "Of a call, at most; default: as offered");
    number(command, "--seconds", a->seconds, "Of a call, at most; default: as offered");
  }
  {
    const auto [command, a] =
        addLiveVerb<A>(noun, "card", "Show the card of a partner, verified", "witan market card --at lab", card);
    command->option("--at", a->at, "The organisation")->required();
  }
}

void addRepute(Command& noun) {
  const auto [command, a] =
      addLiveVerb<OfferArguments>(noun, "repute", "Count how the calls with an organisation ended, and what it did",
                                  "witan market repute lab", repute);
  command->option("ORG", a->at, "The organisation")->required();
}

void addContracts(Command& market) {
  using A = ContractArguments;
  Command* noun = market.command("contract", "Contracts of this organisation");
  noun->requireCommand();
  noun->footer("Example: witan market contract list");
  {
    const auto [command, a] =
        addLiveVerb<A>(*noun, "propose", "Propose a contract, and have it opened at the holder",
                       "witan market contract propose reading --at lab --escrow notary --id K2", propose);
    command->option("OFFER", a->offer, "A graph, or the beginning of an offer's digest")->required();
    command->option("--at", a->at, "The seller")->required();
    command->option("--escrow", a->escrow, "The organisation that holds the money")->required();
    command->option("--id", a->id, "Id of the contract; the same again goes on; default: a new one");
    number(command, "--total", a->total, "Money, at most");
    number(command, "--calls", a->calls, "Calls, at most");
    number(command, "--days", a->days, "Days for which it is valid; default 30");
    command->option("--wait", a->waitSeconds, "Seconds to wait for seller and holder")->showDefault();
  }
  addLiveVerb<A>(*noun, "list", "List the contracts that are bought and sold here", "witan market contract list",
                 listContracts);
  const auto one = [&](const char* name, const char* what, const char* example, auto work) {
    const auto verb = addLiveVerb<A>(*noun, name, what, example, work);
    verb.first->option("CONTRACT", verb.second->contract, "Id, or the beginning of the digest")->required();
  };
  one("show", "Show a contract and its calls", "witan market contract show K1", showContract);
  one("stop", "End new calls of a contract", "witan market contract stop K1", stopContract);
}

void addCalls(Command& noun) {
  using A = CallArguments;
  {
    const auto [command, a] = addLiveVerb<A>(noun, "order", "Order a call of a contract",
                                             "witan market order K1 --input sample.json --wait 30", order);
    command->option("CONTRACT", a->contract, "Id, or the beginning of the digest")->required();
    command->option("--input", a->input, "The input, a JSON object; - for standard input")
        ->required()
        ->typeName("FILE");
    command->option("--call", a->call, "Name of the call; the same again changes nothing; default: the next one");
    number(command, "--amount", a->amount, "Money that is held; default: the price");
    command->flag("--review", a->review, "A person accepts or disputes what comes, within the window");
    command->option("--wait", a->waitSeconds, "Seconds to wait for the end, or the review")->showDefault();
  }
  const auto one = [&](const char* name, const char* what, const char* example, auto work) {
    const auto verb = addLiveVerb<A>(noun, name, what, example, work);
    verb.first->option("CALL", verb.second->call, "C1, or CONTRACT/C1")->required();
    return verb;
  };
  {
    const auto [command, a] = one("evidence", "Export the evidence of a call, as a bundle",
                                  "witan market evidence C1 --out bundle.json", evidence);
    command->option("--out", a->out, "File; default: standard output")->typeName("FILE");
  }
  {
    const auto [command, a] = one("disclose", "Export the evidence with members of the input disclosed",
                                  "witan market disclose C1 sample --out bundle.json", evidence);
    command->option("NAME", a->names, "Names of members")->required();
    command->option("--out", a->out, "File; default: standard output")->typeName("FILE");
  }
  one("accept", "Accept what was delivered, in review: the seller is paid", "witan market accept C2", act<kAccept>);
  {
    const auto [command, a] = one("dispute", "Dispute what was delivered, in review",
                                  "witan market dispute C2 --reason 'another patient'", act<kDispute>);
    command->option("--reason", a->reason, "Why, for the arbiter")->required();
  }
  one("reclaim", "Take the money of an undelivered call back now", "witan market reclaim C1", act<kReclaim>);
  one("claim", "Claim now what the window or a ruling has made due", "witan market claim C1", act<kClaim>);
}

}  // namespace

void addMarketVerbs(Command& noun) {
  addLiveVerb<LiveArguments>(noun, "partners", "List the partners, and show the root of this organisation",
                             "witan market partners", partners);
  addOffers(noun);
  addContracts(noun);
  addCalls(noun);
  addRepute(noun);
}

Result<json::value> liveEscrow(const ControlClient& node, const std::string& contract) {
  WITAN_TRY(shown_, node.get("/v1/market/escrow" + queryOf({{"contract", contract}})));
  return shown_.at("answer");
}

}  // namespace witan::node

// `witan token add|list|revoke`: tokens of programs, on a running node.
#include "base/string_util.h"
#include "cli/client/verb.h"
#include "cli/commands/commands.h"
#include "node/api/program_tokens.h"
#include "program/option_checks.h"

namespace witan::node {

namespace {

struct TokenArguments : LiveArguments {
  std::string name;
  std::vector<std::string> roles, entities;
  std::uint64_t days = 30, rate = kTokenRate;
};

std::string wordsOf(const json::value& row, const char* member) {
  std::string words;
  for (const json::value& one : rowsOf(row, member)) words += concat(words.empty() ? "" : " ", one.as_string());
  return words;
}

Result<int> addToken(const ControlClient& client, const TokenArguments& a) {
  json::object body{{"name", a.name}, {"days", a.days}, {"rate", a.rate}};
  body["roles"] = json::array(a.roles.begin(), a.roles.end());
  body["entities"] = json::array(a.entities.begin(), a.entities.end());
  WITAN_TRY(answer, client.post("/v1/tokens/add", body));
  if (!a.json) {
    for (const json::value& warning : rowsOf(answer, "warnings"))
      putErr(concat("witan: warning: ", warning.as_string(), "\n"));
    putErr("good until " + shown(answer, "expires") + "; it is shown once\n");
  }
  return print(answer, a.json, [](const json::value& made) { return shown(made, "token") + "\n"; });
}

std::string rowsInWords(const json::value& answer) {
  std::vector<std::vector<std::string>> rows;
  for (const json::value& one : rowsOf(answer, "tokens"))
    rows.push_back({shown(one, "id"), shown(one, "name"), wordsOf(one, "roles"), wordsOf(one, "entities"),
                    (isTrue(one, "expired") ? "expired " : "until ") + shown(one, "expires"),
                    shown(one, "rate") + " a second"});
  return rows.empty() ? "no program has a token\n" : columns(rows);
}

}  // namespace

void addTokenCommand(Command& app) {
  Command& noun = *app.noun("token", "Tokens of programs: bound to roles and entities, for a time", "witan token list");
  const auto [adding, added] =
      addLiveVerb<TokenArguments>(noun, "add", "Make a token and print it",
                                  "witan token add billing-robot --role budget.A --entity 'team*'", addToken);
  adding->option("NAME", added->name, "Name of the program")->required();
  adding->option("--role", added->roles, "DOMAIN.ROLE in which it may propose; may be repeated")
      ->oneWordEach()
      ->required();
  adding
      ->option("--entity", added->entities, "Entity that it may name, or TEXT* for all that begin so; may be repeated")
      ->oneWordEach()
      ->required();
  adding->option("--days", added->days, "For how long it is good")->showDefault()->check(wholeNumber(1, kMaxTokenDays));
  adding->option("--rate", added->rate, "Proposals a second that it may make")
      ->showDefault()
      ->check(wholeNumber(1, kMaxTokenRate));
  addLiveVerb<TokenArguments>(noun, "list", "Tokens of programs, with what they are good for", "witan token list",
                              [](const ControlClient& client, const TokenArguments& a) -> Result<int> {
                                WITAN_TRY(answer, client.get("/v1/tokens"));
                                return print(answer, a.json, rowsInWords);
                              });
  const auto [revoking, revoked] =
      addLiveVerb<TokenArguments>(noun, "revoke", "End a token at once", "witan token revoke billing-robot",
                                  [](const ControlClient& client, const TokenArguments& a) -> Result<int> {
                                    WITAN_TRY(answer, client.post("/v1/tokens/revoke", {{"token", a.name}}));
                                    return print(answer, a.json, [](const json::value& done) {
                                      return concat("revoked ", shown(done, "name"), " (", shown(done, "id"), ")\n");
                                    });
                                  });
  revoking->option("TOKEN", revoked->name, "Its id or name")->required();
}

}  // namespace witan::node

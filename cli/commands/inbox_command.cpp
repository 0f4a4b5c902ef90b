// `witan inbox [ID [CHOICE]]`: what waits for a person on a running node, and the answer to it. The node says which
// answers an item takes, and as which request (node/api/control_inbox.cpp).
#include <algorithm>
#include <iostream>

#include "base/quote.h"
#include "base/string_util.h"
#include "cli/client/answer_signature.h"
#include "cli/client/verb.h"
#include "cli/commands/commands.h"
#include "program/option_checks.h"

namespace witan::node {

namespace {

struct InboxArguments : LiveArguments {
  std::string id, choice, kind, by, reason, after, sign, form;
  std::uint64_t limit = 0;
  bool unsafe = false, follow = false;
};

// What somebody has answered already, and until when it is asked.
std::string standing(const json::value& item) {
  std::string words;
  if (const std::string until = shown(item, "until"); until != "-") words += "; until " + until;
  if (const json::value* answer = item.as_object().if_contains("answer"); answer != nullptr && answer->is_object())
    words += concat("; ", shown(*answer, "by"), " answered ", shown(*answer, "choice"), ", which waits for the owner");
  return words;
}

std::string listWords(const json::value& inbox) {
  std::vector<std::vector<std::string>> rows;
  for (const json::value& item : rowsOf(inbox, "items"))
    rows.push_back(
        {shown(item, "id"), shown(item, "at"), shown(item, "subject"), shown(item, "what") + standing(item)});
  if (rows.empty()) return "nothing waits for a person\n";
  const std::uint64_t more = inbox.at("waiting").to_number<std::uint64_t>() - rows.size();
  const std::string next = shown(inbox, "next");
  return columns(rows) + (more > 0 ? concat("of ", more + rows.size(), " items") : "") +
         (next == "-" ? "" : concat("; the next ones: witan inbox --after '", next, "'")) + (more > 0 ? "\n" : "");
}

std::string itemWords(const json::value& item) {
  std::string words = concat(shown(item, "id"), "  ", shown(item, "subject"), "  since ", shown(item, "at"), "\n",
                             shown(item, "what"), standing(item), "\n");
  std::vector<std::string> who;
  for (const json::value& one : rowsOf(item.at("detail"), "who")) who.emplace_back(one.as_string());
  if (!who.empty()) words += concat("who may answer: ", joined(who), "\n");
  for (const json::value& choice : rowsOf(item, "choices"))
    words += concat("  ", shown(choice, "choice"), isTrue(choice, "unsafe") ? "  UNSAFE  " : "  ",
                    shown(choice, "effect"), "\n");
  return words + (rowsOf(item, "choices").empty() ? std::string("it takes no answer here\n")
                                                  : "answer: witan inbox " + shown(item, "id") + " CHOICE --by NAME\n");
}

Result<json::value> itemNamed(const json::value& inbox, const std::string& id) {
  const auto& items = rowsOf(inbox, "items");
  if (items.empty()) return notFound("nothing waits under " + inQuotes(id), "see: witan inbox");
  if (items.size() > 1) return conflict(inQuotes(id) + " names several items", "give the whole id, with its kind");
  return items.front();
}

Result<json::value> choiceNamed(const json::value& item, const std::string& name) {
  std::string known;
  for (const json::value& choice : rowsOf(item, "choices")) {
    if (shown(choice, "choice") == name) return choice;
    known += (known.empty() ? "" : ", ") + shown(choice, "choice");
  }
  return notFound(shown(item, "id") + " has no answer " + inQuotes(name),
                  known.empty() ? "it takes none here" : "one of: " + known);
}

Result<json::object> requestOf(const json::value& choice, const InboxArguments& a) {
  if (isTrue(choice, "unsafe") && !a.unsafe)
    return conflict("this answer is unsafe: " + shown(choice, "effect"),
                    "give --unsafe, or edit the proposal: witan queue approve");
  json::object request = choice.at("request").get_object();
  if (const std::string person = shown(choice, "person"); person != "-") {
    if (a.by.empty()) return invalid("this answer needs the person who gives it", "--by NAME");
    request[person] = a.by;
  }
  const std::string reason = shown(choice, "reason");
  if (!a.reason.empty() && reason == "-") return invalid("this answer takes no reason", "leave --reason out");
  if (!a.reason.empty()) request[reason] = a.reason;
  const std::string form = shown(choice, "form");
  if (!a.form.empty() && form == "-") return invalid("this answer takes no form", "leave --form out");
  if (!a.form.empty()) {
    WITAN_SET(request[form], parseJson(a.form));
  }
  return request;
}

Status signChoice(const ControlClient& client, const std::string& keyFile, const json::value& choice,
                  json::object& request) {
  if (shown(choice, "path") == "/v1/graphs/answer") {
    WITAN_SET(request["signature"], signGraphAnswer(client, request, keyFile));
    return okStatus();
  }
  if (shown(choice, "path") != "/v1/queue/decide") {
    WITAN_SET(request["signature"], signInboxAnswer(client, shown(choice, "path"), request, keyFile));
    return okStatus();
  }
  api::DecideRequest answer;
  WITAN_DO(readJson(request, answer, "the answer"));
  WITAN_SET(request["signature"], signAnswer(client, answer, keyFile));
  return okStatus();
}

std::string answerWords(const json::value& answer) {
  const std::string outcome = shown(answer, "outcome");
  if (outcome == "-") return "done\n";
  const std::string entry = shown(answer, "ledgerSeq");
  const std::string invariant = shown(answer, "invariant"), message = shown(answer, "message");
  return concat(outcome, isTrue(answer, "duplicate") ? " before" : "", entry == "-" ? "" : ", entry " + entry,
                invariant == "-" ? "" : " by " + invariant, message == "-" ? "" : ": " + message, "\n");
}

std::string changeWords(const json::value& change) {
  if (const json::value* item = change.as_object().if_contains("item"))
    return concat(shown(*item, "id"), "  ", shown(*item, "at"), "  ", shown(*item, "subject"), "  ",
                  shown(*item, "what"), standing(*item), "\n");
  if (const std::string gone = shown(change, "gone"); gone != "-") return "gone: " + gone + "\n";
  return shown(change, "waiting") + " wait\n";
}

// Whether it is about an item of that kind, or about none.
bool isOfKind(const json::value& change, const std::string& kind) {
  const json::value* item = change.as_object().if_contains("item");
  const std::string id = item != nullptr ? shown(*item, "id") : shown(change, "gone");
  return kind.empty() || id == "-" || id.starts_with(kind + ":");
}

Result<int> follow(const ControlClient& client, const InboxArguments& a) {
  WITAN_DO(client.events("/v1/inbox/stream", [&](std::string_view data) {
    const auto change = parseJson(data, kOwnJson);
    if (!change.ok() || !isOfKind(*change, a.kind)) return true;
    (void)print(*change, a.json, changeWords);
    return static_cast<bool>(std::cout.flush());
  }));
  return unavailable("the stream has ended", "follow again: it begins with what waits");
}

Result<int> inbox(const ControlClient& client, const InboxArguments& a) {
  if (a.follow) return follow(client, a);
  json::object query;
  if (!a.kind.empty()) query["kind"] = a.kind;
  if (!a.id.empty()) query["item"] = a.id;
  if (a.limit > 0) query["limit"] = a.limit;
  if (!a.after.empty()) query["after"] = a.after;
  WITAN_TRY(all, client.get("/v1/inbox" + queryOf(query)));
  if (a.id.empty()) return print(all, a.json, listWords);
  WITAN_TRY(item, itemNamed(all, a.id));
  if (a.choice.empty()) return print(item, a.json, itemWords);
  WITAN_TRY(choice, choiceNamed(item, a.choice));
  WITAN_TRY(request, requestOf(choice, a));
  if (!a.sign.empty()) WITAN_DO(signChoice(client, a.sign, choice, request));
  WITAN_TRY(answer, client.post(shown(choice, "path"), request));
  if (shown(answer, "outcome") == "refused")
    return conflict("refused: " + shown(answer, "message"), "see: witan inbox " + a.id);
  return print(answer, a.json, answerWords);
}

}  // namespace

void addInboxCommand(Command& app) {
  const auto [command, a] = addLiveVerb<InboxArguments>(
      app, "inbox",
      "What waits for a person: proposals, questions of graphs and tools, approvals, conflicts, failed operations and "
      "folds, what expired, incidents",
      "witan inbox", inbox);
  command->option("ID", a->id, "One item, with what each answer would do");
  command->option("CHOICE", a->choice, "Answer it: a word that the item offers");
  command->option("--kind", a->kind, "List items of this kind only")
      ->oneOf({"proposal", "question", "approval", "conflict", "operation", "incident", "form", "refusal", "fold",
               "expired"});
  command->option("--limit", a->limit, "List so many items; default 100")->check(wholeNumber(1, 1'000));
  command->option("--after", a->after, "List items behind this place: the last page names it");
  command->flag("-f,--follow", a->follow, "Show what waits, then go on as items come, change and go")
      ->excludes({"ID", "--limit", "--after"});
  command->option("--by", a->by, "Who answers");
  command->option("--sign", a->sign,
                  "Key file of the person who answers (`witan person add`); asks for its passphrase");
  command->option("--reason", a->reason, "Kept with the answer");
  command->option("--form", a->form, "What a tool's form says, as a JSON object: of the answer accept")
      ->typeName("JSON");
  command->flag("--unsafe", a->unsafe, "Also an answer that records what an invariant forbids");
}

}  // namespace witan::node

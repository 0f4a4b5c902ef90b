// `witan id`: identities derived from their components (base/identity.h).
#include <charconv>
#include <limits>
#include <memory>

#include "base/identity.h"
#include "base/quote.h"
#include "cli/commands/commands.h"
#include "program/error_report.h"
#include "program/output.h"

namespace witan::node {
namespace {

enum class Arity { one, optional, many };

struct Positional {
  const char* name;
  const char* help;
  Arity arity = Arity::one;
};

// The words given for each positional, in the order of the table.
using Words = std::vector<std::vector<std::string>>;

struct Leaf {
  const char* name;
  const char* noun;  // what it derives, for help and errors
  const char* example;
  std::vector<Positional> positionals;
  Result<std::string> (*derive)(const Words&);
};

template <class Id>
Result<std::string> hexOf(const Result<Id>& id) {
  if (!id.ok()) return id.error();
  return id->hex();
}

Result<std::uint64_t> decimal(const char* what, const std::string& word) {
  std::uint64_t number = 0;
  const char* end = word.data() + word.size();
  const auto [stop, failure] = std::from_chars(word.data(), end, number);
  const bool leadingZero = word.size() > 1 && word[0] == '0';
  if (failure == std::errc{} && stop == end && !leadingZero) return number;
  return invalid(concat(what, " ", inQuotes(word), " is not a decimal number of 64 bits"),
                 "give digits without sign or leading zeros");
}

template <class Id>
Result<Id> digest(const char* what, const std::string& word) {
  auto id = Id::parse(word);
  if (id.ok()) return id;
  return invalid(concat(what, " ", inQuotes(word), ": ", id.error().message), "give 64 lower-case hex digits");
}

template <class Id>
Result<std::vector<Id>> digests(const char* what, const std::vector<std::string>& words) {
  std::vector<Id> ids;
  for (const std::string& word : words) {
    WITAN_TRY(id, digest<Id>(what, word));
    ids.push_back(id);
  }
  return ids;
}

// "a,b" -> a, b. No word or an empty one is the empty list; an empty entry stays, and is refused as an id.
std::vector<std::string> commaList(const std::vector<std::string>& words) {
  std::vector<std::string> entries;
  if (words.empty() || words[0].empty()) return entries;
  std::size_t from = 0;
  for (std::size_t comma; (comma = words[0].find(',', from)) != std::string::npos; from = comma + 1)
    entries.push_back(words[0].substr(from, comma - from));
  entries.push_back(words[0].substr(from));
  return entries;
}

const Positional kAgent{"AGENT", "the agent's id"};
const Positional kOperations{"OPID", "operation ids, in the plan's order", Arity::many};

const std::vector<Leaf>& leavesOf(bool runKeys) {
  static const std::vector<Leaf> plain = {
      {"cuk",
       "the change unit key",
       "witan id cuk local hostA 1 journalEntity task-1",
       {{"ORIGIN", "local, or sync for what came from outside the cluster"},
        {"HOST", "the author's host id"},
        {"COUNTER", "the author's counter"},
        {"TYPE", "the payload's type"},
        {"ID", "the payload's id"}},
       [](const Words& w) -> Result<std::string> {
         WITAN_TRY(origin, parseChangeOrigin(w[0][0]));
         WITAN_TRY(counter, decimal("counter", w[2][0]));
         return hexOf(changeUnitKey({origin, w[1][0], counter, w[3][0], w[4][0]}));
       }},
      {"lck",
       "the logical change key",
       "witan id lck $(witan id cuk local hostA 1 journalEntity task-1)",
       {{"CUK", "change unit keys, in any order", Arity::many}},
       [](const Words& w) -> Result<std::string> {
         WITAN_TRY(keys, digests<ChangeUnitKey>("change unit key", w[0]));
         return hexOf(logicalChangeKey(keys));
       }},
      {"argshash",
       "the canonical args hash",
       R"(witan id argshash '{"b":"x","a":1}')",
       {{"JSON", "the arguments"}},
       [](const Words& w) -> Result<std::string> {
         WITAN_TRY(args, parseJson(w[0][0]));
         return argsHash(args).hex();
       }},
      {"action",
       "the action stable id",
       "witan id action journal.setStatus $(witan id argshash '{}') category:work task-1,task-2",
       {{"TOOL", "the tool's name"},
        {"ARGSHASH", "the canonical args hash"},
        {"SCOPE", "scope entries joined by commas; none when empty", Arity::optional},
        {"TARGETS", "target references joined by commas; none when empty", Arity::optional}},
       [](const Words& w) -> Result<std::string> {
         WITAN_TRY(args, digest<ArgsHash>("args hash", w[1][0]));
         return hexOf(actionStableId(w[0][0], args, commaList(w[2]), commaList(w[3])));
       }},
      {"opid",
       "the operation id",
       "witan id opid $RUNKEY $ACTION 1",
       {{"RUNKEY", "the run key"},
        {"ACTION", "the action stable id"},
        {"N", "n-th further occurrence of the action in one plan; 0 is the first", Arity::optional}},
       [](const Words& w) -> Result<std::string> {
         WITAN_TRY(run, digest<RunKey>("run key", w[0][0]));
         WITAN_TRY(action, digest<ActionStableId>("action stable id", w[1][0]));
         WITAN_TRY(further, w[2].empty() ? Result<std::uint64_t>(0) : decimal("occurrence", w[2][0]));
         return operationId(run, action, further).hex();
       }},
      {"compensate",
       "the compensation operation id",
       "witan id compensate $OPID",
       {{"OPID", "the operation id to compensate"}},
       [](const Words& w) -> Result<std::string> {
         WITAN_TRY(operation, digest<OperationId>("operation id", w[0][0]));
         return compensationOperationId(operation).hex();
       }},
      {"summary",
       "the summary id",
       "witan id summary agent-1 thread-1 m1 m9 summarizer-1",
       {kAgent,
        {"THREAD", "the thread's id"},
        {"START", "the first message's id"},
        {"END", "the last message's id"},
        {"CONTRACT", "the summarizer's contract version"}},
       [](const Words& w) -> Result<std::string> {
         return hexOf(summaryId({w[0][0], w[1][0], w[2][0], w[3][0], w[4][0]}));
       }},
      {"plandigest",
       "the plan digest",
       "witan id plandigest $OPID1 $OPID2",
       {kOperations},
       [](const Words& w) -> Result<std::string> {
         WITAN_TRY(operations, digests<OperationId>("operation id", w[0]));
         return planDigest(operations).hex();
       }},
      {"token",
       "the token key",
       "witan id token subtypeToken journal task",
       {{"CLASS", "semanticKey, subtypeToken or entityId"},
        {"NAMESPACE", "for subtypeToken; - for the others"},
        {"VALUE", "what to match"}},
       [](const Words& w) -> Result<std::string> {
         WITAN_TRY(tokenClass, parseTokenClass(w[0][0]));
         NotificationToken token{tokenClass, std::nullopt, w[2][0]};
         if (w[1][0] != "-") token.tokenNamespace = w[1][0];
         WITAN_TRY(key, tokenKey(token));
         return key.str();
       }}};
  static const std::vector<Leaf> runKey = {
      {"subscription",
       "the run key of a subscription wake",
       "witan id runkey subscription agent-1 sub-1 $LCK",
       {kAgent, {"SUBSCRIPTION", "the subscription's id"}, {"LCK", "the logical change key"}},
       [](const Words& w) -> Result<std::string> {
         WITAN_TRY(change, digest<LogicalChangeKey>("logical change key", w[2][0]));
         return hexOf(subscriptionRunKey(w[0][0], w[1][0], change));
       }},
      {"timer",
       "the run key of a timer wake",
       "witan id runkey timer agent-1 timer-1 1767225600000",
       {kAgent, {"TIMER", "the timer's id"}, {"MS", "when it was due, milliseconds since 1970"}},
       [](const Words& w) -> Result<std::string> {
         WITAN_TRY(milliseconds, decimal("scheduledAtMs", w[2][0]));
         if (milliseconds > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
           return invalid("scheduledAtMs " + inQuotes(w[2][0]) + " is too large", "give milliseconds since 1970");
         return hexOf(timerRunKey(w[0][0], w[1][0], static_cast<std::int64_t>(milliseconds)));
       }},
      {"user",
       "the run key of a user wake",
       "witan id runkey user agent-1 session-1 turn-1",
       {kAgent, {"SESSION", "the session's id"}, {"TURN", "the turn's id"}},
       [](const Words& w) -> Result<std::string> { return hexOf(userRunKey(w[0][0], w[1][0], w[2][0])); }}};
  return runKeys ? runKey : plain;
}

// Prints the id. The components are usage, whatever is on disk: exit code 2.
int answer(const Leaf& leaf, const Words& words, bool asJson) {
  const Result<std::string> id = leaf.derive(words);
  if (!id.ok())
    return reportUsage({id.error().code, concat("cannot derive ", leaf.noun, " (", id.error().message, ")"),
                        id.error().hint.empty() ? concat("try ", leaf.example) : id.error().hint},
                       asJson);
  putOut((asJson ? canonicalJson(json::object{{"id", *id}}) : *id) + "\n");
  return kExitOk;
}

void addLeaf(Command& parent, const Leaf& leaf) {
  struct Given {
    Words words;
    bool json = false;
  };
  const auto given = std::make_shared<Given>();
  given->words.resize(leaf.positionals.size());
  Command* command = parent.command(leaf.name, concat("Print ", leaf.noun));
  for (std::size_t i = 0; i < leaf.positionals.size(); ++i) {
    const Positional& positional = leaf.positionals[i];
    const auto keep = [given, i](const std::vector<std::string>& words) {
      given->words[i] = words;
      return true;
    };
    const std::size_t most = positional.arity == Arity::many ? kManyWords : 1;
    Option* option = command->words(positional.name, keep, 1, most, positional.help)->typeName("");
    if (positional.arity != Arity::optional) option->required();
  }
  command->flag("--json", given->json, R"(Print {"id":...})");
  command->footer(concat("Example:\n  ", leaf.example));
  command->callback([&leaf, given] { return answer(leaf, given->words, given->json); });
}

}  // namespace

void addIdCommand(Command& app) {
  Command* id = app.command("id", "Print derived identities from their components");
  id->requireCommand();
  id->footer("Example:\n  witan id cuk local hostA 1 journalEntity task-1");
  for (const Leaf& leaf : leavesOf(false)) addLeaf(*id, leaf);
  Command* runKey = id->command("runkey", "Print the run key of a wake");
  runKey->requireCommand();
  runKey->footer("Example:\n  witan id runkey user agent-1 session-1 turn-1");
  for (const Leaf& leaf : leavesOf(true)) addLeaf(*runKey, leaf);
}

}  // namespace witan::node

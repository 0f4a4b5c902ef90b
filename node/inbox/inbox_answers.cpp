#include "node/inbox/inbox_answers.h"

#include <algorithm>
#include <array>

#include "base/bytes.h"
#include "base/json_codec.h"
#include "base/quote.h"
#include "kernel/record/statement.h"
#include "node/cluster/device_key.h"
#include "node/cluster/roster_store.h"
#include "replication/records/record_write.h"
#include "replication/writer.h"

namespace witan::node {

using replication::ArtefactBody;
using replication::DatabaseName;
using replication::Kind;

namespace {

constexpr std::string_view kSpokenDomain = "inbox";  // no ledger's answer is of the kind `answer` in it

struct Form {
  std::string_view path, item, key, person;  // item: its kind; key, person: members of the request
};
constexpr std::array kForms{Form{"/v1/approval/approve", "approval:", "operation", "by"},
                            Form{"/v1/approval/deny", "approval:", "operation", "by"},
                            Form{"/v1/saga/retry", "operation:", "operation", "by"},
                            Form{"/v1/saga/compensate", "operation:", "operation", "by"},
                            Form{"/v1/journal/resolve", "conflict:", "id", "author"},
                            Form{"/v1/inbox/form", "form:", "form", "by"}};

std::string takeText(json::object& from, std::string_view member) {
  const json::value* value = from.if_contains(member);
  std::string text = value != nullptr && value->is_string() ? std::string(value->get_string()) : std::string();
  from.erase(member);
  return text;
}

Error unsaid(std::string what, std::string todo) {
  return Error{ErrorCode::unauthorised, std::move(what), std::move(todo)};
}

// Makes room for another one.
Status forgetOldest(replication::LocalReplica& replica, const std::string& scope, replication::Space& space) {
  const std::vector<std::string> keys = space.keys(Kind::artefact, kAnswerKeys);
  if (keys.size() < kMaxInboxAnswers) return okStatus();
  std::pair<Time, std::string> oldest{Time{std::numeric_limits<std::int64_t>::max()}, keys.front()};
  for (const std::string& key : keys)
    for (const InboxAnswer& one : inboxAnswersAt(space, key.substr(kAnswerKeys.size(), 64)))
      oldest = std::min(oldest, std::pair(one.at, key));
  const replication::Write gone{Kind::artefact, oldest.second, {}, true};
  WITAN_DO(replica.commit(DatabaseName::agents, scope, {&gone, 1}));
  return okStatus();
}

}  // namespace

Result<InboxAnswer> inboxAnswerOf(std::string_view path, const json::object& request) {
  const auto form = std::ranges::find(kForms, path, &Form::path);
  if (form == kForms.end()) return invalid(concat("what ", path, " takes is signed by no person"), "leave --sign out");
  json::object said = request;
  InboxAnswer answer;
  answer.item = concat(form->item, takeText(said, form->key));
  answer.by = takeText(said, form->person);
  answer.reason = takeText(said, "reason");
  answer.shown = takeText(said, "digest");
  answer.signature = takeText(said, "signature");
  said.erase("scope");
  answer.choice = path.substr(path.rfind('/') + 1);
  if (answer.choice == "form") answer.choice = said.contains("content") ? "accept" : "decline";
  answer.said = std::move(said);
  return answer;
}

std::string inboxAnswerText(const InboxAnswer& answer) {
  kernel::Statement statement{answer.cluster, kSpokenDomain, "answer", answer.item};
  const std::string decision = canonicalJson(json::object{{"choice", answer.choice}, {"said", answer.said}});
  const auto shown = hashFromHex(answer.shown);
  statement.counselor = answer.by, statement.decision = decision, statement.reason = answer.reason;
  if (shown.ok()) statement.shown = *shown;
  return kernel::answerText(statement);
}

bool isSignedWell(const InboxAnswer& answer) {
  const auto bytes = fromHex(answer.signature);
  if (!bytes.ok() || bytes->size() != kernel::kPersonSignature) return false;
  const std::string_view all(reinterpret_cast<const char*>(bytes->data()), bytes->size());
  return verifySignature(all.substr(0, sizeof(PublicKey)), inboxAnswerText(answer), all.substr(sizeof(PublicKey)));
}

Result<std::optional<Roster>> rosterOfDirectory(const std::filesystem::path& dir) {
  std::error_code ec;
  if (!std::filesystem::exists(dir / "cluster.json", ec)) return std::optional<Roster>();
  WITAN_TRY(cluster, readClusterFile(dir));
  WITAN_TRY(admin, publicKeyFromHex(cluster.adminKey, "adminKey"));
  WITAN_TRY(book, RosterStore::open(dir, admin));
  return std::optional(book.current());
}

// People would take "Ann" for ann, who signs.
Status checkNoNamesake(const Roster* roster, const std::string& by) {
  if (roster == nullptr || !roster->persons) return okStatus();
  for (const RosterPerson& person : *roster->persons)
    if (person.active() && looksLike(person.name, by))
      return unsaid(concat(inQuotes(by), " looks like ", person.name, ", who signs answers"),
                    concat("answer as ", person.name, " with --sign, or under a name that is clearly another"));
  return okStatus();
}

Status checkInboxAnswer(const Roster* roster, const InboxAnswer& answer) {
  const RosterPerson* person = roster == nullptr ? nullptr : roster->person(answer.by);
  if (person == nullptr) {
    if (answer.signature.empty()) return checkNoNamesake(roster, answer.by);
    return unsaid(concat("the answer is signed, and ", inQuotes(answer.by), " is no person of this cluster"),
                  "leave --sign out, or: witan person add");
  }
  if (!person->active()) return unsaid(concat(inQuotes(answer.by), " was revoked, and answers no more"), "");
  if (answer.signature.empty())
    return unsaid(concat("the answer bears no signature of ", answer.by),
                  concat("sign it with the key of `witan person add`: witan inbox '", answer.item, "' CHOICE --by ",
                         answer.by, " --sign KEYFILE"));
  if (!answer.signature.starts_with(person->keys.back()))
    return unsaid(concat("the key that signed the answer is not that of ", answer.by), "see: witan person list");
  if (isSignedWell(answer)) return okStatus();
  return unsaid(concat("the signature of ", answer.by, " is not of this answer to what is shown now"),
                concat("look again, and sign that: witan inbox '", answer.item, "'"));
}

Status keepInboxAnswer(replication::LocalReplica& replica, const std::string& scope, const std::string& place,
                       const InboxAnswer& answer) {
  WITAN_TRY(space, replica.database(DatabaseName::agents).space(scope));
  WITAN_DO(forgetOldest(replica, scope, *space));
  WITAN_TRY(parsed, parseJson(toJson(answer), kOwnJson));
  // Two devices that are told the same keep both.
  const std::string name = toHex(sha256(inboxAnswerText(answer) + replica.device())).substr(0, 32);
  WITAN_TRY(write,
            replication::recordWrite(concat(kAnswerKeys, place, ":", name), ArtefactBody{canonicalJson(parsed)}));
  WITAN_DO(replica.commit(DatabaseName::agents, scope, {&write, 1}));
  return okStatus();
}

std::vector<InboxAnswer> inboxAnswersAt(replication::Space& agents, const std::string& place, std::string_view but) {
  std::vector<InboxAnswer> all;
  for (const std::string& key : agents.keys(Kind::artefact, concat(kAnswerKeys, place, ":"))) {
    const auto versions = agents.versions(Kind::artefact, key);
    if (!versions.ok()) continue;
    for (const replication::Version& version : *versions) {
      if (!but.empty() && replication::deviceOf(version.dot.host) == but) continue;
      const auto body = version.tombstone ? Result<ArtefactBody>(notFound("it is gone"))
                                          : replication::decodeRecord<ArtefactBody>(version.body);
      if (!body.ok()) continue;
      const auto parsed = parseJson(body->envelope, kOwnJson);
      InboxAnswer one;
      if (!parsed.ok() || !readJson(*parsed, one, "an answer").ok()) continue;
      all.push_back(std::move(one));
      break;
    }
  }
  std::ranges::stable_sort(all, {}, &InboxAnswer::at);
  return all;
}

std::string placeOfItem(std::string_view item) { return toHex(sha256(item)); }

}  // namespace witan::node

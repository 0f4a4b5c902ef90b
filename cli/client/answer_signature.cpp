#include "cli/client/answer_signature.h"

#include "base/bytes.h"
#include "base/sealed_key.h"
#include "cli/client/secret_input.h"
#include "cli/client/verb.h"
#include "kernel/record/statement.h"
#include "node/inbox/inbox_answers.h"
#include "program/durable_file.h"

namespace witan::node {

namespace {

// Asks for the passphrase of the key file.
Result<std::string> signText(const std::string& keyFile, const std::string& text) {
  WITAN_TRY(pem, readSmallFile(keyFile, kMaxSealedKey));
  if (!pem) return notFound("no file " + keyFile, "witan person add makes one");
  WITAN_TRY(passphrase, readPassphrase(keyFile, false));
  WITAN_TRY(key, openSealedKey(*pem, passphrase));
  return toHex(key.publicKey()) + toHex(key.sign(text));
}

}  // namespace

Result<std::string> signAnswer(const ControlClient& client, const api::DecideRequest& answer,
                               const std::string& keyFile) {
  WITAN_TRY(persons, client.get("/v1/persons"));
  const bool commit = answer.decision == api::CounselorDecision::commit;
  const std::string cluster = shown(persons, "cluster"), reason = answer.reason.value_or("");
  const auto base = answer.base.value_or(kernel::CommitBase::candidate);
  const std::string decision =
      commit ? kernel::decisionText(enumName(base), answer.edit.value_or(json::object())) : std::string();
  WITAN_TRY(digest, hashFromHex(answer.digest));
  kernel::Statement statement{cluster, answer.domain, commit ? "commit" : "reject", answer.entity};
  statement.counselor = answer.counselor, statement.decision = decision, statement.reason = reason;
  statement.shown = digest;
  return signText(keyFile, kernel::answerText(statement));
}

Result<std::string> signGraphAnswer(const ControlClient& client, json::object answer, const std::string& keyFile) {
  WITAN_TRY(persons, client.get("/v1/persons"));
  const std::string cluster = shown(persons, "cluster");
  const std::string graph(answer.at("graph").as_string());
  answer.erase("graph");
  answer["type"] = "Answer";
  const std::string action = canonicalJson(answer);
  kernel::Statement statement{cluster, "graph", "propose", graph};
  statement.role = "Person", statement.action = action;
  return signText(keyFile, kernel::personsWord(statement, {})->text);
}

Result<std::string> signInboxAnswer(const ControlClient& client, std::string_view path, const json::object& answer,
                                    const std::string& keyFile) {
  WITAN_TRY(said, inboxAnswerOf(path, answer));
  WITAN_TRY(persons, client.get("/v1/persons"));
  said.cluster = shown(persons, "cluster");
  return signText(keyFile, inboxAnswerText(said));
}

}  // namespace witan::node

#include "cli/client/answer_signature.h"

#include "base/bytes.h"
#include "base/sealed_key.h"
#include "cli/client/secret_input.h"
#include "cli/client/verb.h"
#include "kernel/record/statement.h"
#include "program/durable_file.h"

namespace witan::node {

Result<std::string> signAnswer(const ControlClient& client, const api::DecideRequest& answer,
                               const std::string& keyFile) {
  WITAN_TRY(persons, client.get("/v1/persons"));
  WITAN_TRY(pem, readSmallFile(keyFile, kMaxSealedKey));
  if (!pem) return notFound("no file " + keyFile, "witan person add makes one");
  WITAN_TRY(passphrase, readPassphrase(keyFile, false));
  WITAN_TRY(key, openSealedKey(*pem, passphrase));
  const bool commit = answer.decision == api::CounselorDecision::commit;
  const std::string cluster = shown(persons, "cluster"), reason = answer.reason.value_or("");
  const auto base = answer.base.value_or(kernel::CommitBase::candidate);
  const std::string decision =
      commit ? kernel::decisionText(enumName(base), answer.edit.value_or(json::object())) : std::string();
  WITAN_TRY(digest, hashFromHex(answer.digest));
  kernel::Statement statement{cluster, answer.domain, commit ? "commit" : "reject", answer.entity};
  statement.counselor = answer.counselor, statement.decision = decision, statement.reason = reason;
  statement.shown = digest;
  return toHex(key.publicKey()) + toHex(key.sign(kernel::answerText(statement)));
}

}  // namespace witan::node

// A counselor's signature of an answer, made with the person's own key (`witan person`, docs/ledger-format.md).
#pragma once

#include <string>

#include "cli/client/control_client.h"
#include "node/api/counselor_queue.h"

namespace witan::node {

// The key and the signature in hex, as DecideRequest takes them. Asks for the passphrase of the key file. The node only
// says which cluster it is of. Errors: no key there; another passphrase.
Result<std::string> signAnswer(const ControlClient& client, const api::DecideRequest& answer,
                               const std::string& keyFile);
// The same of an answer to a question of a graph, as AnswerRequest has its members.
Result<std::string> signGraphAnswer(const ControlClient& client, json::object answer, const std::string& keyFile);
// The same of an answer that no ledger decides, as the path takes it (node/inbox/inbox_answers.h).
Result<std::string> signInboxAnswer(const ControlClient& client, std::string_view path, const json::object& answer,
                                    const std::string& keyFile);

}  // namespace witan::node

// What waits for a person: the kinds of items of the inbox.
#pragma once

#include "base/reflect.h"

namespace witan::node {

WITAN_ENUM(InboxKind, proposal, question, approval, conflict, operation, incident, form, refusal, fold, expired)

}  // namespace witan::node

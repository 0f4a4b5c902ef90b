// The ledger tool of this domain's agents.
//
//   disclosure.next  {"role", "case", "due", "opened"}    what the role's rules propose next about one vulnerability
//                                                         (domains/disclosure/advice.h), from its instance's slice:
//                                                         {"actions": [...], "due": text, "over": bool}
#pragma once

#include "agents/tools/ledger_tool.h"

namespace witan::domains::disclosure {

const agents::LedgerTool& adviceTool();

}  // namespace witan::domains::disclosure

// `witan market`: the verbs of a running node (market_live_command.cpp), for market_command.cpp.
#pragma once

#include "cli/client/control_client.h"
#include "program/command_line.h"

namespace witan::node {

void addMarketVerbs(Command& noun);
// The money and the calls of a contract, as its holder says it.
Result<json::value> liveEscrow(const ControlClient& node, const std::string& contract);

}  // namespace witan::node

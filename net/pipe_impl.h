// The inside of a Pipe, for net/peer_network.cpp: a socket that is connected to another one, which the link gets.
#pragma once

#include "net/byte_stream.h"
#include "net/pipe.h"

namespace witan::net {

struct ConnectedPipe {
  std::unique_ptr<Pipe> pipe;
  Socket links;
};

// Errors: no more file descriptors.
Result<ConnectedPipe> connectedPipe(asio::io_context& io, PipeEvents events);

}  // namespace witan::net

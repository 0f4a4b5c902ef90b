// The inside of a Pipe, for net/peer_network.cpp: a socket that is connected to another one, which the link gets.
#pragma once

#include <boost/asio/local/stream_protocol.hpp>
#include <deque>

#include "net/byte_stream.h"
#include "net/pipe.h"

namespace witan::net {

struct PipeSockets {
  asio::local::stream_protocol::socket ours;
  Socket links;
};

// Errors: no more file descriptors.
Result<PipeSockets> connectedSockets(asio::io_context& io);

std::unique_ptr<Pipe> makePipe(asio::local::stream_protocol::socket socket, PipeEvents events);

}  // namespace witan::net

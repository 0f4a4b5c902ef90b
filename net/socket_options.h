// What every socket of the program gets, and how a listener's address is found. For the units of net/.
#pragma once

#include <boost/asio/ip/tcp.hpp>

#include "net/address.h"
#include "net/byte_stream.h"

namespace witan::net {

// A program started by this one does not inherit it (Asio leaves sockets open to it).
void closeOnExec(int socket);

// Small frames leave at once. No effect on Unix sockets.
void withoutDelay(Socket& socket);

// Where to listen: a literal address, or the first one of a name. Blocks for a name.
Result<asio::ip::tcp::endpoint> resolveHere(asio::io_context& io, const Address& address);

}  // namespace witan::net

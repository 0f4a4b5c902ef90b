// SignatureMemory: while one lives, the thread that made it remembers which signatures hold, of those that it made and
// those that it verified. For simulations, all of whose devices share a process and verify what the others signed:
// the results are the same, byte for byte, and each signature is verified once at most. One at a time in a thread; it
// ends in the thread that made it.
#pragma once

namespace witan {

class SignatureMemory {
 public:
  SignatureMemory();
  ~SignatureMemory();
  SignatureMemory(const SignatureMemory&) = delete;
  SignatureMemory& operator=(const SignatureMemory&) = delete;
};

}  // namespace witan

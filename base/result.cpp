#include "base/result.h"

namespace witan {

const char* toString(ErrorCode code) {
  switch (code) {
    case ErrorCode::invalidInput: return "invalidInput";
    case ErrorCode::notFound: return "notFound";
    case ErrorCode::conflict: return "conflict";
    case ErrorCode::unauthorised: return "unauthorised";
    case ErrorCode::corrupt: return "corrupt";
    case ErrorCode::ioFailed: return "ioFailed";
    case ErrorCode::unavailable: return "unavailable";
  }
  return "unknown";
}

}  // namespace witan

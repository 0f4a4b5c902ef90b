// Result<T>: a value, or an Error that says what went wrong, why, and what to do.
//
// The channel for failures of the world and for bad input (see base/check.h for the other two).
// A value type; no allocation on the happy path.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "base/check.h"
#include "base/concat.h"

namespace witan {

// The few kinds a caller may act on; everything else is in the words.
enum class ErrorCode {
  invalidInput,  // bytes or words from outside that do not have the agreed form
  notFound,
  conflict,  // it exists already, is stale, or is held by someone else
  unauthorised,
  corrupt,      // stored bytes that are not what was written
  ioFailed,     // the operating system or a library refused
  unavailable,  // not reachable now; retrying may help
};

const char* toString(ErrorCode code);

struct Error {
  ErrorCode code = ErrorCode::invalidInput;
  std::string message;  // what (why)
  std::string hint;     // what to do; may be empty

  friend bool operator==(const Error&, const Error&) = default;
};

struct Unit {
  friend bool operator==(Unit, Unit) = default;
};

template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : content_(std::in_place_index<0>, std::move(value)) {}      // NOLINT: implicit by design
  Result(Error error) : content_(std::in_place_index<1>, std::move(error)) {}  // NOLINT: implicit by design

  bool ok() const { return content_.index() == 0; }
  explicit operator bool() const { return ok(); }

  // Requires: ok().
  T& value() & {
    WITAN_CHECK(ok(), error().message);
    return std::get<0>(content_);
  }
  const T& value() const& {
    WITAN_CHECK(ok(), error().message);
    return std::get<0>(content_);
  }
  T&& value() && {
    WITAN_CHECK(ok(), error().message);
    return std::get<0>(std::move(content_));
  }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

  // Requires: !ok().
  const Error& error() const { return std::get<1>(content_); }

 private:
  std::variant<T, Error> content_;
};

using Status = Result<Unit>;
inline Status okStatus() { return Unit{}; }

inline Error invalid(std::string message, std::string hint = {}) {
  return {ErrorCode::invalidInput, std::move(message), std::move(hint)};
}
inline Error notFound(std::string message, std::string hint = {}) {
  return {ErrorCode::notFound, std::move(message), std::move(hint)};
}
inline Error conflict(std::string message, std::string hint = {}) {
  return {ErrorCode::conflict, std::move(message), std::move(hint)};
}
inline Error unavailable(std::string message, std::string hint = {}) {
  return {ErrorCode::unavailable, std::move(message), std::move(hint)};
}
inline Error corrupt(std::string message, std::string hint = {}) {
  return {ErrorCode::corrupt, std::move(message), std::move(hint)};
}
inline Error ioFailed(std::string message, std::string hint = {}) {
  return {ErrorCode::ioFailed, std::move(message), std::move(hint)};
}

}  // namespace witan

// WITAN_TRY(name, expression): `name` is the value, or the error is returned from here.
#define WITAN_TRY_CONCAT_(a, b) a##b
#define WITAN_TRY_NAME_(a, b) WITAN_TRY_CONCAT_(a, b)
#define WITAN_TRY(name, expression)                                                        \
  auto WITAN_TRY_NAME_(name, _result) = (expression);                                      \
  if (!WITAN_TRY_NAME_(name, _result).ok()) return WITAN_TRY_NAME_(name, _result).error(); \
  auto&& name = *std::move(WITAN_TRY_NAME_(name, _result))

// WITAN_SET(target, expression): the value goes into `target`, or the error is returned from here.
#define WITAN_SET(target, expression)                              \
  do {                                                             \
    auto witan_set_result_ = (expression);                         \
    if (!witan_set_result_.ok()) return witan_set_result_.error(); \
    target = *std::move(witan_set_result_);                        \
  } while (false)

// WITAN_DO(expression): for a Status.
#define WITAN_DO(expression)                                                                           \
  do {                                                                                                 \
    if (auto witan_do_status_ = (expression); !witan_do_status_.ok()) return witan_do_status_.error(); \
  } while (false)

// Random histories (lab/redux/history.h), under the names that tests use.
#pragma once

#include "lab/redux/history.h"

namespace witan::kernel::test {
using namespace redux;
}

#include "domains/verification/verification.h"

#include "domains/registry.h"
#include "kernel/typed_module.h"

WITAN_DEFINE_DOMAIN(verification, verification::Verification)

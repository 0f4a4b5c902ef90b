#include "domains/disclosure/disclosure.h"

#include "domains/registry.h"
#include "kernel/typed_module.h"

WITAN_DEFINE_DOMAIN(disclosure, disclosure::DisclosureDomain)

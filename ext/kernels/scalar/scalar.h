/* The scalar formulas, one function per operation and element type: ag_<name>_<suffix>.
 * Everything is straight-line where a loop over it should vectorise. */
#ifndef AG_SCALAR_H
#define AG_SCALAR_H

#include "config.h"
#include "types.h"
#include "arith.h"
#include "compare.h"
#include "cast.h"
#include "exp_log.h"
#include "trig.h"
#include "hyper.h"
#include "special.h"
#include "bessel.h"
#include "gamma.h"
#include "activation.h"
#include "wide.h"
#include "loss.h"
#include "complex.h"

#endif

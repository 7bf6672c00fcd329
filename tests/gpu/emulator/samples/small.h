/* Arguments of the kernels in small.cu, which test the emulated driver. */
#include <stdint.h>

typedef struct {
    float *out;
    const float *a, *b;
    uint64_t n;
    const char *op;
} small_args;

/* The structures of DLPack 1.0, as its specification lays them out in memory.
 * exchange/dlpack.pxi fills them and reads them. */
#ifndef AG_DLPACK_H
#define AG_DLPACK_H

#include <stdint.h>

typedef struct { uint32_t major, minor; } ag_dl_version;
typedef struct { int32_t type, id; } ag_dl_device;
typedef struct { uint8_t code, bits; uint16_t lanes; } ag_dl_dtype;

typedef struct {
    void *data;
    ag_dl_device device;
    int32_t ndim;
    ag_dl_dtype dtype;
    int64_t *shape;
    int64_t *strides; /* in elements; NULL: C-contiguous */
    uint64_t byte_offset;
} ag_dl_tensor;

/* What capsules named "dltensor" hold. */
typedef struct ag_dl_managed {
    ag_dl_tensor tensor;
    void *context;
    void (*deleter)(struct ag_dl_managed *);
} ag_dl_managed;

/* What capsules named "dltensor_versioned" hold. */
typedef struct ag_dl_versioned {
    ag_dl_version version;
    void *context;
    void (*deleter)(struct ag_dl_versioned *);
    uint64_t flags;
    ag_dl_tensor tensor;
} ag_dl_versioned;

enum { AG_DL_READ_ONLY = 1, AG_DL_IS_COPIED = 2 };
enum { AG_DL_CPU = 1, AG_DL_CUDA = 2, AG_DL_CUDA_HOST = 3, AG_DL_CUDA_MANAGED = 13 };
enum { AG_DL_INT = 0, AG_DL_UINT = 1, AG_DL_FLOAT = 2, AG_DL_BFLOAT = 4, AG_DL_COMPLEX = 5,
       AG_DL_BOOL = 6 };

#endif

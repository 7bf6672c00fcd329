/* What a host build of a kernel shows to the emulated driver, and what the driver gives to a
 * kernel. */
#ifndef EMU_KERNEL_ENTRY_H
#define EMU_KERNEL_ENTRY_H

#include <stdint.h>

#define EMU_WARP 32

typedef struct {
    unsigned x, y, z;
} emu_three;

/* Exported as emu_kernel_<name>. */
typedef struct {
    const char *name;
    unsigned bytes;        /* of arguments */
    unsigned most_threads; /* of a block */
    int together;          /* threads of a block run in turns: it has barriers or shuffles */
    int host_word;         /* offset of an address of the host that is only passed on; -1: none */
    void (*body)(const void *arguments);
    unsigned parameters; /* 0: one struct by value, else how many arguments */
    const unsigned *offsets, *sizes;
} emu_kernel;

/* Where the running thread is. Blocks run one after the other, threads one after the other or in
 * turns. */
typedef struct {
    emu_three thread, block, block_size, grid_size;
} emu_place;

enum { EMU_SHUFFLE, EMU_BALLOT, EMU_SYNC };

#ifdef __cplusplus
extern "C" {
#endif
extern emu_place emu_here;
void emu_barrier(int kind, int predicate, int *result); /* 0 plain, 1 and, 2 or, 3 count */
/* All lanes of `mask` meet; EMU_SHUFFLE: the value of lane `source`; EMU_BALLOT: a bit for each. */
uint64_t emu_exchange(int kind, unsigned mask, uint64_t value, unsigned source);
unsigned emu_active_lanes(void);
void *emu_dynamic_shared(void);
void emu_trap(const char *what); /* a failed assert of the device, or __trap() */
#ifdef __cplusplus
}
#endif

#endif

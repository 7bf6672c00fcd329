// How a kernel is written. AG_KERNEL(name, struct) { ... } defines a __global__ function that gets
// the struct as `a`. The host build of the tests
// defines AG_ON_HOST and brings what the device language has (tests/gpu/emulator/device_language.h):
// there each kernel also gets an entry point for the emulated driver. A kernel that uses barriers,
// shuffles or shared memory says AG_KERNEL_TOGETHER, so that the threads of a block run in turns.
#pragma once
#include "arguments.h"

#ifdef AG_ON_HOST
#include "device_language.h"
#else
#define AG_KERNEL(name, Args) extern "C" __global__ void name(const __grid_constant__ Args a)
#define AG_KERNEL_TOGETHER(name, Args, threads)                                                    \
    extern "C" __global__ void __launch_bounds__(threads) name(const __grid_constant__ Args a)
// extern __shared__ memory whose size the launch says
#define AG_DYNAMIC_SHARED(T, name)                                                                 \
    extern __shared__ __align__(16) unsigned char ag_dynamic_shared[];                             \
    T *const name = reinterpret_cast<T *>(ag_dynamic_shared)
#endif

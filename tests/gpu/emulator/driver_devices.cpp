// Devices, contexts, and the stack of contexts that each thread has.
#include "driver.h"

#include <sys/mman.h>

#include <cstdio>
#include <cstdlib>

namespace emu {

Device &device_at(int ordinal) {
    if (ordinal < 0 || ordinal >= (int)state().devices.size())
        fail(CUDA_ERROR_INVALID_DEVICE, "there is no device %d", ordinal);
    return *state().devices[ordinal];
}

std::shared_ptr<Context> context_at(CUcontext handle) {
    auto found = state().contexts.find(handle);
    if (!found) fail(CUDA_ERROR_INVALID_CONTEXT, "%p is no context", (void *)handle);
    return found;
}

static long number_from(const char *name, long otherwise) {
    const char *text = getenv(name);
    return text && *text ? strtol(text, nullptr, 0) : otherwise;
}

static void reserve_addresses() {
    const size_t whole = most_devices * span_of_device;
    void *fence = mmap((void *)first_address, whole, PROT_NONE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
    void *bytes = mmap(nullptr, whole, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (fence != (void *)first_address || bytes == MAP_FAILED)
        fail(CUDA_ERROR_OUT_OF_MEMORY, "no room for the addresses of devices");
    state().real_base = static_cast<char *>(bytes);
}

static std::shared_ptr<Context> make_context(Device &device, bool primary) {
    auto context = std::make_shared<Context>();
    context->device = &device;
    context->primary = primary;
    context->handle = reinterpret_cast<CUcontext>(state().contexts.add(context));
    context->legacy = std::make_shared<Stream>();
    context->legacy->context = context.get();
    context->legacy->legacy = true;
    return context;
}

static void destroy_context(const std::shared_ptr<Context> &context) {
    try {
        finish_all(*context);
    } catch (const Failure &) {
    }
    context->alive = false;
    if (context->primary) free_all_of(*context->device);
    state().contexts.remove(context->handle);
}

} // namespace emu

using namespace emu;

API cuInit(unsigned flags) {
    return call(__func__, Needs::nothing, [&] {
        State &s = state();
        require(flags == 0, CUDA_ERROR_INVALID_VALUE, "cuInit: flags must be 0");
        if (s.forked) fail(CUDA_ERROR_NOT_INITIALIZED, "cuInit: in a forked child");
        if (s.initialised) return;
        s.verbose = number_from("EMU_VERBOSE", 0) != 0;
        s.launch_blocking = number_from("CUDA_LAUNCH_BLOCKING", 0) != 0;
        if (const char *order = getenv("EMU_ORDER"))
            s.order = !strcmp(order, "random") ? Order::random
                      : !strcmp(order, "now")  ? Order::at_once
                                               : Order::late;
        s.seed = number_from("EMU_SEED", 1);
        s.random.seed(s.seed);
        reserve_addresses();
        if (s.devices.empty()) {
            long count = number_from("EMU_DEVICES", 2);
            for (long i = 0; i < count && i < most_devices; i++) {
                auto device = std::make_unique<Device>();
                device->ordinal = i;
                device->limit = number_from("EMU_LIMIT", 8l << 30);
                device->first_pool = std::make_shared<Pool>();
                device->first_pool->device = device.get();
                device->first_pool->handle = s.pools.add(device->first_pool);
                device->pool = device->first_pool.get();
                s.devices.push_back(std::move(device));
            }
        }
        if (s.devices.empty()) fail(CUDA_ERROR_NO_DEVICE, "EMU_DEVICES is 0");
        s.initialised = true;
    });
}

API cuDriverGetVersion(int *version) {
    return call(__func__, Needs::nothing,
                [&] { *version = (int)number_from("EMU_DRIVER_VERSION", 13000); });
}

API cuDeviceGetCount(int *count) {
    return call(__func__, Needs::init, [&] { *count = (int)state().devices.size(); });
}

API cuDeviceGet(CUdevice *device, int ordinal) {
    return call(__func__, Needs::init, [&] { *device = device_at(ordinal).ordinal; });
}

API cuDeviceGetName(char *name, int length, CUdevice device) {
    return call(__func__, Needs::init,
                [&] { snprintf(name, length, "Emulated GPU %d", device_at(device).ordinal); });
}

API cuDeviceGetUuid_v2(CUuuid *uuid, CUdevice device) {
    return call(__func__, Needs::init, [&] {
        device_at(device);
        for (int i = 0; i < 16; i++) uuid->bytes[i] = (char)(0x10 * (i + 1) + device);
    });
}
#undef cuDeviceGetUuid
API cuDeviceGetUuid(CUuuid *uuid, CUdevice device) { return cuDeviceGetUuid_v2(uuid, device); }

API cuDeviceTotalMem(size_t *bytes, CUdevice device) {
    return call(__func__, Needs::init, [&] { *bytes = device_at(device).limit; });
}

API cuDeviceComputeCapability(int *major, int *minor, CUdevice device) {
    return call(__func__, Needs::init, [&] { device_at(device), *major = 9, *minor = 0; });
}

API cuDeviceGetPCIBusId(char *id, int length, CUdevice device) {
    return call(__func__, Needs::init,
                [&] { snprintf(id, length, "0000:%02x:00.0", device_at(device).ordinal + 1); });
}

API cuDeviceGetByPCIBusId(CUdevice *device, const char *id) {
    return call(__func__, Needs::init, [&] {
        unsigned domain, bus;
        if (sscanf(id, "%x:%x", &domain, &bus) != 2)
            fail(CUDA_ERROR_INVALID_VALUE, "%s: no bus", id);
        *device = device_at((int)bus - 1).ordinal;
    });
}

// Few multiprocessors: grids that fill the device stay small.
API cuDeviceGetAttribute(int *value, CUdevice_attribute attribute, CUdevice device) {
    return call(__func__, Needs::init, [&] {
        int bus = device_at(device).ordinal + 1;
        static const std::map<int, int> values = {
            {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 1024},
            {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X, 1024},
            {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y, 1024},
            {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z, 64},
            {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X, 2147483647},
            {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y, 65535},
            {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z, 65535},
            {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK, 48 * 1024},
            {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, 227 * 1024},
            {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, 228 * 1024},
            {CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK, 1024},
            {CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY, 64 * 1024},
            {CU_DEVICE_ATTRIBUTE_WARP_SIZE, 32},
            {CU_DEVICE_ATTRIBUTE_MAX_PITCH, 2147483647},
            {CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK, 65536},
            {CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR, 65536},
            {CU_DEVICE_ATTRIBUTE_CLOCK_RATE, 1980000},
            {CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE, 3201000},
            {CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH, 6144},
            {CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, 60 << 20},
            {CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT, 512},
            {CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 4},
            {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR, 2048},
            {CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR, 32},
            {CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY, 1},
            {CU_DEVICE_ATTRIBUTE_CONCURRENT_KERNELS, 1},
            {CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT, 3},
            {CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING, 1},
            {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 9},
            {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, 0},
            {CU_DEVICE_ATTRIBUTE_STREAM_PRIORITIES_SUPPORTED, 1},
            {CU_DEVICE_ATTRIBUTE_CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM, 1},
            {CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED, 1},
        };
        auto found = values.find(attribute);
        *value = attribute == CU_DEVICE_ATTRIBUTE_PCI_BUS_ID ? bus
                 : found == values.end()                     ? 0
                                                             : found->second;
    });
}

// ---- contexts ----------------------------------------------------------------------------------

API cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device) {
    return call(__func__, Needs::init, [&] {
        Device &d = device_at(device);
        if (d.retained == 0 || !d.primary) d.primary = make_context(d, true);
        d.retained++;
        *context = d.primary->handle;
    });
}

API cuDevicePrimaryCtxRelease(CUdevice device) {
    return call(__func__, Needs::init, [&] {
        Device &d = device_at(device);
        require(d.retained > 0, CUDA_ERROR_INVALID_CONTEXT, "the primary context was not retained");
        if (--d.retained == 0) {
            destroy_context(d.primary);
            d.primary.reset();
        }
    });
}

API cuDevicePrimaryCtxGetState(CUdevice device, unsigned *flags, int *active) {
    return call(__func__, Needs::init,
                [&] { *flags = 0, *active = device_at(device).retained > 0; });
}

API cuDevicePrimaryCtxSetFlags(CUdevice device, unsigned) {
    return call(__func__, Needs::init, [&] { device_at(device); });
}

static void create_context(CUcontext *context, CUdevice device) {
    auto made = make_context(device_at(device), false);
    *context = made->handle;
    context_stack().push_back(made);
}

API cuCtxCreate_v4(CUcontext *context, CUctxCreateParams *, unsigned, CUdevice device) {
    return call(__func__, Needs::init, [&] { create_context(context, device); });
}
#undef cuCtxCreate_v2
API cuCtxCreate_v2(CUcontext *context, unsigned, CUdevice device) {
    return call(__func__, Needs::init, [&] { create_context(context, device); });
}

API cuCtxDestroy(CUcontext context) {
    return call(__func__, Needs::init, [&] {
        auto found = context_at(context);
        require(!found->primary, CUDA_ERROR_INVALID_CONTEXT,
                "a primary context is released, not destroyed");
        auto &stack = context_stack();
        if (!stack.empty() && stack.back() == found) stack.pop_back();
        destroy_context(found);
    });
}

API cuCtxDetach(CUcontext context) { return cuCtxDestroy(context); }

API cuCtxAttach(CUcontext *context, unsigned) {
    return call(__func__, Needs::context, [&] { *context = current().handle; });
}

API cuCtxPushCurrent(CUcontext context) {
    return call(__func__, Needs::init, [&] { context_stack().push_back(context_at(context)); });
}

API cuCtxPopCurrent(CUcontext *context) {
    return call(__func__, Needs::init, [&] {
        auto &stack = context_stack();
        require(!stack.empty(), CUDA_ERROR_INVALID_CONTEXT, "the stack of contexts is empty");
        if (context) *context = stack.back() ? stack.back()->handle : nullptr;
        stack.pop_back();
    });
}

API cuCtxSetCurrent(CUcontext context) {
    return call(__func__, Needs::init, [&] {
        auto &stack = context_stack();
        std::shared_ptr<Context> found = context ? context_at(context) : nullptr;
        if (!stack.empty()) stack.pop_back();
        if (found) stack.push_back(found);
    });
}

API cuCtxGetCurrent(CUcontext *context) {
    static const bool empty = getenv("EMU_EMPTY") != nullptr; // a driver takes no lock for it
    if (empty && !context_stack().empty() && context_stack().back()) {
        *context = context_stack().back()->handle;
        return CUDA_SUCCESS;
    }
    return call(__func__, Needs::init, [&] {
        auto &stack = context_stack();
        *context = stack.empty() || !stack.back() ? nullptr : stack.back()->handle;
    });
}

API cuCtxGetDevice(CUdevice *device) {
    return call(__func__, Needs::init, [&] { *device = current().device->ordinal; });
}

API cuCtxGetApiVersion(CUcontext context, unsigned *version) {
    return call(__func__, Needs::init, [&] {
        if (context) context_at(context);
        *version = 3020;
    });
}

API cuCtxGetFlags(unsigned *flags) {
    return call(__func__, Needs::context, [&] { *flags = 0; });
}

API cuCtxSynchronize(void) {
    return call(__func__, Needs::context, [&] {
        Context &context = current();
        for (auto &stream : context.streams) refuse_while_capturing(*stream, "cuCtxSynchronize");
        state().counters.context_synchronizations++;
        finish_all(context);
        trim_pools(*context.device);
        if (context.sticky) throw Failure{context.sticky};
    });
}

API cuCtxGetStreamPriorityRange(int *least, int *greatest) {
    return call(__func__, Needs::context, [&] { *least = 0, *greatest = -5; });
}

API cuCtxGetLimit(size_t *value, CUlimit limit) {
    return call(__func__, Needs::context,
                [&] { *value = limit == CU_LIMIT_STACK_SIZE ? 1024 : 8 << 20; });
}

API cuCtxSetLimit(CUlimit, size_t) {
    return call(__func__, Needs::context, [&] {});
}

API cuCtxGetCacheConfig(CUfunc_cache *config) {
    return call(__func__, Needs::context, [&] { *config = CU_FUNC_CACHE_PREFER_NONE; });
}

API cuCtxSetCacheConfig(CUfunc_cache) {
    return call(__func__, Needs::context, [&] {});
}

API cuCtxGetSharedMemConfig(CUsharedconfig *config) {
    return call(__func__, Needs::context,
                [&] { *config = CU_SHARED_MEM_CONFIG_FOUR_BYTE_BANK_SIZE; });
}

API cuCtxSetSharedMemConfig(CUsharedconfig) {
    return call(__func__, Needs::context, [&] {});
}

// ---- peers -------------------------------------------------------------------------------------

API cuDeviceCanAccessPeer(int *can, CUdevice device, CUdevice peer) {
    return call(__func__, Needs::init, [&] {
        device_at(device), device_at(peer);
        *can = device != peer && number_from("EMU_PEERS", 1) != 0;
    });
}

API cuDeviceGetP2PAttribute(int *value, CUdevice_P2PAttribute, CUdevice device, CUdevice peer) {
    return cuDeviceCanAccessPeer(value, device, peer);
}

API cuCtxEnablePeerAccess(CUcontext peer, unsigned flags) {
    return call(__func__, Needs::context, [&] {
        auto found = context_at(peer);
        require(flags == 0, CUDA_ERROR_INVALID_VALUE, "cuCtxEnablePeerAccess: flags must be 0");
        require(found->device != current().device, CUDA_ERROR_INVALID_DEVICE,
                "a device is no peer of itself");
        require(number_from("EMU_PEERS", 1) != 0, CUDA_ERROR_PEER_ACCESS_UNSUPPORTED,
                "EMU_PEERS=0");
        bool fresh = current().peers.insert(found.get()).second;
        require(fresh, CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED, "peer access is already enabled");
    });
}

API cuCtxDisablePeerAccess(CUcontext peer) {
    return call(__func__, Needs::context, [&] {
        bool there = current().peers.erase(context_at(peer).get()) > 0;
        require(there, CUDA_ERROR_PEER_ACCESS_NOT_ENABLED, "peer access was not enabled");
    });
}

API cuProfilerStart(void) {
    return call(__func__, Needs::nothing, [&] {});
}
API cuProfilerStop(void) {
    return call(__func__, Needs::nothing, [&] {});
}
API cuProfilerInitialize(const char *, const char *, int) {
    return call(__func__, Needs::nothing, [&] {});
}

// Modules, functions and launches. An image of a module is "ACYEMU:" and the path of a host build
// of its kernels (build.py writes such files).
#include "driver.h"

#include <cxxabi.h>
#include <dlfcn.h>
#include <sys/mman.h>

#include <cstdio>
#include <cstdlib>

namespace emu {

template <class T>
static std::shared_ptr<T> at(const Table<T> &table, const void *handle, const char *what) {
    auto found = table.find(handle);
    if (!found) fail(CUDA_ERROR_INVALID_HANDLE, "%p is no %s", handle, what);
    return found;
}

static void load(CUmodule *module, const char *image) {
    if (strncmp(image, "ACYEMU:", 7) != 0) {
        bool of_a_gpu = !strncmp(image,
                                 "\x7f"
                                 "ELF",
                                 4) ||
                        !strncmp(image, "\x50\xed\x55\xba", 4) || !strncmp(image, "//", 2) ||
                        !strncmp(image, ".version", 8);
        fail(of_a_gpu ? CUDA_ERROR_NO_BINARY_FOR_GPU : CUDA_ERROR_INVALID_IMAGE,
             of_a_gpu ? "code of a real GPU: kernels for the emulated one are built by "
                        "tests/gpu/emulator/build.py"
                      : "the image is damaged");
    }
    const char *path = image + 7;
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library) fail(CUDA_ERROR_INVALID_IMAGE, "%s", dlerror());
    auto made = std::make_shared<Module>(Module{&current(), library, path});
    *module = (CUmodule)state().modules.add(made);
    state().counters.modules_loaded++;
}

static const emu_kernel *kernel_named(void *library, const std::string &name) {
    return static_cast<const emu_kernel *>(dlsym(library, ("emu_kernel_" + name).c_str()));
}

// By its name, or by the name that a C++ compiler makes of it ("_Z3addPf").
static const emu_kernel *kernel_of(void *library, const char *name) {
    std::string plain = name;
    // A plain name may be that of a type: "f" would be "float".
    if (strncmp(name, "_Z", 2)) return kernel_named(library, plain);
    if (char *shown = abi::__cxa_demangle(name, nullptr, nullptr, nullptr)) {
        plain.assign(shown, strcspn(shown, "(<"));
        free(shown);
    }
    return kernel_named(library, plain);
}

// ---- launches ----------------------------------------------------------------------------------

static bool is_mapped(address p) {
    return msync(reinterpret_cast<void *>(p / 4096 * 4096), 1, MS_ASYNC) == 0;
}

// Addresses of the host that a kernel could be given by mistake: heap, stack, libraries.
static bool may_be_of_the_host(address p) {
    return p >= 0x500000000000ull && p < 0x800000000000ull;
}

struct Launch {
    std::shared_ptr<Function> function;
    Context *context;
    unsigned grid[3], block[3], shared;
    std::vector<uint64_t> words; // the arguments, at multiples of 8
    std::vector<size_t> pinned;  // which of them are addresses of pinned memory
};

constexpr address most_behind = 9;

static uint64_t moved(uint64_t word, const Launch &launch) {
    std::string what = "kernel " + launch.function->name;
    // The imaginary part of a tensor without elements begins behind its allocation. Who uses such an
    // address meets guard bytes.
    address behind = 0;
    while (behind < most_behind && !block_of(word - behind)) behind++;
    if (behind == most_behind) behind = 0;
    return reinterpret_cast<uint64_t>(reachable(word - behind, 0, what.c_str(), launch.context)) +
           behind;
}

static void look_for_host_addresses(Launch &launch) {
    const emu_kernel &kernel = *launch.function->kernel;
    for (size_t i = 0; i < launch.words.size(); i++) {
        uint64_t word = launch.words[i];
        if (is_device_address(word) || !may_be_of_the_host(word)) continue;
        if (is_pinned(word, 1)) {
            launch.pinned.push_back(i);
        } else if ((int)(8 * i) != kernel.host_word && is_mapped(word)) {
            fail_and_keep(CUDA_ERROR_ILLEGAL_ADDRESS,
                          "kernel %s: the word at byte %zu of its arguments, %#llx, is an address "
                          "of the host that is not pinned",
                          kernel.name, 8 * i, (address)word);
        }
    }
}

static void run(const Launch &launch) {
    std::vector<uint64_t> words = launch.words;
    for (uint64_t &word : words)
        if (is_device_address(word)) word = moved(word, launch);
    for (size_t i : launch.pinned)
        if (!is_pinned(words[i], 1))
            fail_and_keep(CUDA_ERROR_ILLEGAL_ADDRESS,
                          "kernel %s: pinned memory at %#llx was freed before it has run",
                          launch.function->name.c_str(), (address)words[i]);
    if (state().tracing) state().trace.push_back(launch.function->name);
    run_kernel(*launch.function->kernel, launch.grid, launch.block, launch.shared, words.data());
}

static void check_geometry(const Launch &l) {
    const unsigned *g = l.grid, *b = l.block;
    bool grid_fits = g[0] && g[1] && g[2] && g[0] <= 2147483647u && g[1] <= 65535 && g[2] <= 65535;
    bool block_fits = b[0] && b[1] && b[2] && b[0] <= 1024 && b[1] <= 1024 && b[2] <= 64 &&
                      (uint64_t)b[0] * b[1] * b[2] <= l.function->kernel->most_threads;
    if (!grid_fits || !block_fits || l.shared > l.function->most_shared)
        fail(CUDA_ERROR_INVALID_VALUE,
             "kernel %s: grid %u x %u x %u, blocks of %u x %u x %u threads (at most %u), %u bytes "
             "of shared memory (at most %u)",
             l.function->name.c_str(), g[0], g[1], g[2], b[0], b[1], b[2],
             l.function->kernel->most_threads, l.shared, l.function->most_shared);
}

static void put(Launch &launch, const void *arguments, size_t bytes) {
    launch.words.assign((bytes + 7) / 8, 0);
    memcpy(launch.words.data(), arguments, bytes);
}

// Arguments come in one buffer, or each by an address of its own.
static void take_arguments(Launch &launch, void **each, void **extra) {
    const emu_kernel &kernel = *launch.function->kernel;
    if (extra) {
        const void *buffer = nullptr;
        size_t bytes = 0;
        for (; *extra != CU_LAUNCH_PARAM_END; extra += 2) {
            if (extra[0] == CU_LAUNCH_PARAM_BUFFER_POINTER) buffer = extra[1];
            if (extra[0] == CU_LAUNCH_PARAM_BUFFER_SIZE) bytes = *static_cast<size_t *>(extra[1]);
        }
        if (bytes != kernel.bytes)
            fail_and_keep(CUDA_ERROR_INVALID_VALUE,
                          "kernel %s takes %u bytes of arguments, not %zu", kernel.name,
                          kernel.bytes, bytes);
        put(launch, buffer, bytes);
    } else if (kernel.parameters == 0) {
        if (kernel.bytes)
            require(each != nullptr, CUDA_ERROR_INVALID_VALUE, "a kernel without its arguments");
        if (kernel.bytes) put(launch, each[0], kernel.bytes);
    } else {
        require(each != nullptr, CUDA_ERROR_INVALID_VALUE, "a kernel without its arguments");
        launch.words.assign((kernel.bytes + 7) / 8, 0);
        char *buffer = reinterpret_cast<char *>(launch.words.data());
        for (unsigned i = 0; i < kernel.parameters; i++)
            memcpy(buffer + kernel.offsets[i], each[i], kernel.sizes[i]);
    }
}

static void launch_kernel(CUfunction handle, const unsigned grid[3], const unsigned block[3],
                          unsigned shared, CUstream stream_handle, void **each, void **extra) {
    auto launch = std::make_shared<Launch>();
    launch->function = at(state().functions, handle, "function of a kernel");
    launch->context = &current();
    require(launch->function->context == launch->context, CUDA_ERROR_INVALID_HANDLE,
            "the kernel was loaded in another context");
    auto stream = stream_at(stream_handle);
    require(stream->context == launch->context, CUDA_ERROR_INVALID_HANDLE,
            "the stream of the launch is of another context");
    memcpy(launch->grid, grid, sizeof launch->grid);
    memcpy(launch->block, block, sizeof launch->block);
    launch->shared = shared;
    check_geometry(*launch);
    take_arguments(*launch, each, extra);
    look_for_host_addresses(*launch);
    state().counters.launches++;
    state().launches_of[launch->function->name]++;
    double threads = (double)grid[0] * grid[1] * grid[2] * block[0] * block[1] * block[2];
    push(stream, {"kernel", [launch] { run(*launch); }, {}, 2 + threads / 1e4});
    if (state().launch_blocking && !stream->capture) {
        finish(stream, stream->queued);
        if (launch->context->sticky) throw Failure{launch->context->sticky};
    }
}

} // namespace emu

using namespace emu;

// What the compiler of the driver says: nothing. Buffers are the caller's, and as they were.
static void say_nothing(unsigned count, const CUjit_option *options, void **values) {
    for (unsigned i = 0; i < count; i++) {
        if (options[i] == CU_JIT_INFO_LOG_BUFFER || options[i] == CU_JIT_ERROR_LOG_BUFFER) {
            if (values[i]) *static_cast<char *>(values[i]) = 0;
        } else if (options[i] == CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES ||
                   options[i] == CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES) {
            values[i] = nullptr;
        }
    }
}

API cuModuleLoadDataEx(CUmodule *module, const void *image, unsigned count, CUjit_option *options,
                       void **values) {
    say_nothing(count, options, values);
    return call(__func__, Needs::context, [&] { load(module, static_cast<const char *>(image)); });
}

API cuModuleLoadData(CUmodule *module, const void *image) {
    return call(__func__, Needs::context, [&] { load(module, static_cast<const char *>(image)); });
}

API cuModuleLoadFatBinary(CUmodule *module, const void *image) {
    return call(__func__, Needs::context, [&] { load(module, static_cast<const char *>(image)); });
}

API cuModuleLoad(CUmodule *module, const char *path) {
    return call(__func__, Needs::context, [&] {
        FILE *file = fopen(path, "rb");
        if (!file) fail(CUDA_ERROR_FILE_NOT_FOUND, "%s", path);
        char image[4096] = {0};
        size_t bytes = fread(image, 1, sizeof image - 1, file);
        fclose(file);
        require(bytes > 0, CUDA_ERROR_INVALID_IMAGE, "the file of a module is empty");
        load(module, image);
    });
}

// The library stays: launches that wait may still need it.
API cuModuleUnload(CUmodule module) {
    return call(__func__, Needs::init, [&] {
        at(state().modules, module, "module");
        state().modules.remove(module);
    });
}

API cuModuleGetFunction(CUfunction *function, CUmodule handle, const char *name) {
    return call(__func__, Needs::context, [&] {
        auto module = at(state().modules, handle, "module");
        require(module->context == &current(), CUDA_ERROR_INVALID_HANDLE,
                "the module is of another context");
        const emu_kernel *kernel = kernel_of(module->library, name);
        if (!kernel)
            fail(CUDA_ERROR_NOT_FOUND, "there is no kernel %s in %s", name, module->path.c_str());
        auto made = std::make_shared<Function>(Function{module->context, kernel, kernel->name});
        *function = (CUfunction)state().functions.add(made);
    });
}

API cuFuncGetAttribute(int *value, CUfunction_attribute attribute, CUfunction handle) {
    return call(__func__, Needs::context, [&] {
        auto function = at(state().functions, handle, "function of a kernel");
        switch (attribute) {
        case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
            *value = (int)function->kernel->most_threads;
            break;
        case CU_FUNC_ATTRIBUTE_NUM_REGS: *value = 32; break;
        case CU_FUNC_ATTRIBUTE_PTX_VERSION:
        case CU_FUNC_ATTRIBUTE_BINARY_VERSION: *value = 90; break;
        case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
            *value = (int)function->most_shared;
            break;
        default: *value = 0;
        }
    });
}

API cuFuncSetAttribute(CUfunction handle, CUfunction_attribute attribute, int value) {
    return call(__func__, Needs::context, [&] {
        auto function = at(state().functions, handle, "function of a kernel");
        if (attribute != CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES) return;
        require(value >= 0 && value <= 227 * 1024, CUDA_ERROR_INVALID_VALUE,
                "more shared memory than a block can have");
        function->most_shared = (unsigned)value;
    });
}

API cuFuncSetCacheConfig(CUfunction, CUfunc_cache) {
    return call(__func__, Needs::context, [&] {});
}
API cuFuncSetSharedMemConfig(CUfunction, CUsharedconfig) {
    return call(__func__, Needs::context, [&] {});
}
// PyCUDA's prepared calls still come here; launches bring their blocks with them.
API cuFuncSetBlockShape(CUfunction, int, int, int) {
    return call(__func__, Needs::context, [&] {});
}
API cuFuncSetSharedSize(CUfunction, unsigned) {
    return call(__func__, Needs::context, [&] {});
}

API cuFuncGetModule(CUmodule *, CUfunction) {
    return call(__func__, Needs::context,
                [&] { fail(CUDA_ERROR_NOT_SUPPORTED, "cuFuncGetModule is not emulated"); });
}

API cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, CUfunction handle, int threads,
                                                size_t shared) {
    return call(__func__, Needs::context, [&] {
        auto function = at(state().functions, handle, "function of a kernel");
        require(threads > 0, CUDA_ERROR_INVALID_VALUE, "blocks without threads");
        unsigned by_threads = 2048 / (unsigned)threads;
        unsigned by_memory = shared ? (unsigned)(228 * 1024 / (shared + 1024)) : 32;
        bool fits =
            (unsigned)threads <= function->kernel->most_threads && shared <= function->most_shared;
        *blocks = fits ? (int)std::min(32u, std::min(by_threads, by_memory)) : 0;
    });
}

API cuOccupancyMaxPotentialBlockSize(int *grid, int *block, CUfunction handle, CUoccupancyB2DSize,
                                     size_t, int limit) {
    return call(__func__, Needs::context, [&] {
        auto function = at(state().functions, handle, "function of a kernel");
        int most = (int)function->kernel->most_threads;
        *block = limit > 0 && limit < most ? limit : most;
        *grid = 4 * (2048 / *block);
    });
}

API cuLaunchKernel(CUfunction function, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                   unsigned by, unsigned bz, unsigned shared, CUstream stream, void **each,
                   void **extra) {
    static const bool empty = getenv("EMU_EMPTY") != nullptr; // for the cost on the host alone
    if (empty) return CUDA_SUCCESS;
    return call(__func__, Needs::context, [&] {
        const unsigned grid[3] = {gx, gy, gz}, block[3] = {bx, by, bz};
        launch_kernel(function, grid, block, shared, stream, each, extra);
    });
}

API cuLaunchKernelEx(const CUlaunchConfig *c, CUfunction function, void **each, void **extra) {
    return cuLaunchKernel(function, c->gridDimX, c->gridDimY, c->gridDimZ, c->blockDimX,
                          c->blockDimY, c->blockDimZ, c->sharedMemBytes, c->hStream, each, extra);
}

// Work of other libraries of the emulator (cuBLAS): `run` is called in the order of the stream with
// the real addresses of its operands; `sizes` is how many bytes of each are touched.
CONTROL int emu_queue(void *stream_handle, const char *name,
                      void (*run)(void *const *operands, const void *data), const void *data,
                      size_t data_bytes, const void *const *operands, const size_t *sizes,
                      int count) {
    return call("emu_queue", Needs::context, [&] {
        auto stream = stream_at((CUstream)stream_handle);
        std::string kept(static_cast<const char *>(data), data_bytes), what = name;
        std::vector<address> at(count);
        std::vector<size_t> bytes(sizes, sizes + count);
        for (int i = 0; i < count; i++) at[i] = (address)operands[i];
        Context *context = stream->context;
        state().counters.products++;
        push(stream,
             {"library",
              [=] {
                  std::vector<void *> moved;
                  for (int i = 0; i < count; i++)
                      moved.push_back(bytes[i] == 0 ? nullptr
                                      : is_device_address(at[i]) || !is_pinned(at[i], bytes[i])
                                          ? reachable(at[i], bytes[i], what.c_str(), context)
                                          : (void *)at[i]);
                  if (state().tracing) state().trace.push_back(what);
                  run(moved.data(), kept.data());
              },
              {},
              10});
    });
}

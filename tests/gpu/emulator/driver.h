// What the files of the emulated driver share. driver_core.cpp begins with how it all fits
// together.
#pragma once

#include <cuda.h>

#include <cstdarg>
#include <cstdint>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "kernel_entry.h"

// The headers give most functions another name ("cuMemAlloc" is cuMemAlloc_v2), which is what we
// want.
#define API extern "C" __attribute__((visibility("default"))) CUresult
#define CONTROL extern "C" __attribute__((visibility("default")))

namespace emu {

using address = unsigned long long;

// Device addresses lie in a range that no one can touch, 64 GiB of it for each device. What is
// stored there is in a second range of the same size.
constexpr address first_address = 0x6b0000000000ull;
constexpr address span_of_device = 1ull << 36;
constexpr int most_devices = 8;
constexpr size_t guard_bytes = 512;
constexpr unsigned char guard_value = 0xA5, poison_value = 0xFF;

// ---- failures ----------------------------------------------------------------------------------

// Thrown inside the driver; a call turns it into its result.
struct Failure {
    CUresult code;
    bool silent = false; // "not ready" is no failure to be noted
};

[[noreturn]] void fail(CUresult code, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
// The same, for what only a wrong program does: it is kept for broken().
[[noreturn]] void fail_and_keep(CUresult code, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void keep_finding(const char *format, ...) __attribute__((format(printf, 1, 2)));

inline void require(bool holds, CUresult code, const char *what) {
    if (!holds) fail(code, "%s", what);
}

// ---- objects -----------------------------------------------------------------------------------

struct Device;
struct Context;
struct Stream;
struct Pool;

// Handles are numbers that are never given out twice, so that a stale one is always known as such.
template <class T> class Table {
  public:
    uintptr_t add(std::shared_ptr<T> object) {
        static uintptr_t next = 0x5e0000000000ull;
        next += 16;
        objects_[next] = std::move(object);
        return next;
    }
    std::shared_ptr<T> find(const void *handle) const {
        auto found = objects_.find(reinterpret_cast<uintptr_t>(handle));
        return found == objects_.end() ? nullptr : found->second;
    }
    bool remove(const void *handle) {
        return objects_.erase(reinterpret_cast<uintptr_t>(handle)) > 0;
    }
    size_t size() const { return objects_.size(); }
    const std::unordered_map<uintptr_t, std::shared_ptr<T>> &all() const { return objects_; }

  private:
    std::unordered_map<uintptr_t, std::shared_ptr<T>> objects_;
};

enum class Life { promised, live, freed }; // promised: the allocation waits in its stream

struct Block {
    address at;
    size_t size;
    Life life;
    Device *device;
    Pool *pool; // none: of cuMemAlloc
    bool free_is_queued = false;
    unsigned long long number = 0;
    CUcontext context = nullptr; // in which cuMemAlloc was called; memory of a pool has none
};

struct Pool {
    Device *device;
    uintptr_t handle = 0;
    uint64_t threshold = 0, used = 0, used_high = 0, reserved = 0, reserved_high = 0;
    int reuse[3] = {1, 1, 1};
    std::set<int> readers; // devices that may use its memory besides its own
};

struct Device {
    int ordinal = 0;
    size_t limit = 0, plain_bytes = 0;
    address top = 0;                  // addresses from here on were never given out
    std::map<address, address> holes; // those below that can be given out again: start -> length
    std::deque<address> quarantine;   // freed blocks whose addresses are not given out yet
    size_t quarantined = 0;
    std::shared_ptr<Context> primary;
    int retained = 0;
    std::shared_ptr<Pool> first_pool;
    Pool *pool = nullptr; // the current one
    address begin() const { return first_address + ordinal * span_of_device; }
};

struct Context {
    Device *device = nullptr;
    CUcontext handle = nullptr;
    bool primary = false, alive = true;
    CUresult sticky = CUDA_SUCCESS; // after a fault of a kernel nothing works any more
    std::shared_ptr<Stream> legacy;
    std::map<unsigned long, std::shared_ptr<Stream>> per_thread;
    std::vector<std::shared_ptr<Stream>> streams; // all but the legacy one, until they are drained
    std::set<Context *> peers;
};

struct Dependency {
    std::shared_ptr<Stream> stream;
    uint64_t count; // so much of its work must be done
};

struct Work {
    const char *kind;
    std::function<void()> run;
    std::vector<Dependency> after;
    double microseconds = 1; // on the emulated clock
    bool always = false;     // also in a broken context: what lives stays known
};

struct Graph {
    Context *context;
    std::vector<Work> works;
    bool broken = false;
};

struct Stream {
    Context *context;
    CUstream handle = nullptr;
    bool legacy = false, blocking = true, destroyed = false;
    int priority = 0;
    unsigned flags = 0;
    std::deque<Work> queue;
    uint64_t queued = 0, done = 0;
    double clock = 0; // when its last work ended
    std::shared_ptr<Graph> capture;
    bool began_capture = false;
};

struct Event {
    Context *context;
    bool timed;
    std::shared_ptr<Stream> stream; // none: never recorded
    uint64_t count = 0, record = 0;
    double time = -1;
    std::shared_ptr<Graph> capture;
};

struct Module {
    Context *context;
    void *library;
    std::string path;
};

struct Function {
    Context *context;
    const emu_kernel *kernel;
    std::string name;
    unsigned most_shared = 48 * 1024;
};

// ---- state -------------------------------------------------------------------------------------

enum class Order { late, random, at_once };

struct Counters {
    long launches = 0, allocations = 0, frees = 0, pinned_allocations = 0, events_recorded = 0,
         events_created = 0, streams_created = 0, waits = 0, stream_synchronizations = 0,
         event_synchronizations = 0, context_synchronizations = 0, blocking_copies = 0,
         copies_in = 0, copies_out = 0, copies_within = 0, copies_between = 0, copies_on_host = 0,
         fills = 0, bytes_in = 0, bytes_out = 0, modules_loaded = 0, graph_launches = 0,
         products = 0;
};

struct Injection {
    long after, times;
    CUresult code;
};

struct State {
    std::recursive_mutex lock;
    bool initialised = false, forked = false, launch_blocking = false, verbose = false;
    Order order = Order::late;
    unsigned long seed = 1;
    std::mt19937_64 random{1};
    std::vector<std::unique_ptr<Device>> devices;
    std::map<address, Block> blocks;
    std::map<address, size_t> pinned;         // start -> size
    std::map<address, bool> pinned_by_driver; // start -> whether the driver allocated it
    std::map<address, unsigned> pinned_flags;
    Table<Context> contexts;
    Table<Stream> streams;
    Table<Event> events;
    Table<Pool> pools;
    Table<Module> modules;
    Table<Function> functions;
    Table<Graph> graphs, executable_graphs;
    Counters counters;
    std::map<std::string, long> launches_of, calls_of;
    std::map<std::string, Injection> injections;
    std::vector<std::string> findings;
    std::vector<std::string> trace; // names of kernels that ran, if asked for
    bool tracing = false;
    std::string last_message;
    char *real_base = nullptr;
    unsigned long long blocks_made = 0;
};

State &state();
std::vector<std::shared_ptr<Context>> &context_stack(); // of the calling thread

// ---- calls -------------------------------------------------------------------------------------

enum class Needs {
    nothing, // works before cuInit
    init,
    context, // a current one, that is not broken
};

void begin_call(const char *name, Needs needs); // injected failures come from here

template <class Body> CUresult call(const char *name, Needs needs, Body body) {
    std::lock_guard<std::recursive_mutex> held(state().lock);
    try {
        begin_call(name, needs);
        body();
        return CUDA_SUCCESS;
    } catch (const Failure &failure) {
        return failure.code;
    }
}

Context &current();
Device &device_at(int ordinal);
std::shared_ptr<Context> context_at(CUcontext handle);

// ---- memory (driver_memory.cpp) ----------------------------------------------------------------

inline bool is_device_address(address p) {
    return p >= first_address && p < first_address + most_devices * span_of_device;
}
inline char *real(address p) { return state().real_base + (p - first_address); }
Block *block_of(address p);
// Where `n` bytes at `p` can be touched; a failure if they aren't live. `by` is whose access it is:
// it needs the right to other devices' memory; none is a copy, which always has it.
char *reachable(address p, size_t n, const char *what, Context *by = nullptr);
bool is_pinned(address p, size_t n);
void trim_pools(Device &device);
void free_all_of(Device &device);
void check_guards(const Block &block);
int check_all_guards();

// ---- streams (driver_streams.cpp) --------------------------------------------------------------

std::shared_ptr<Stream> make_stream(Context &context, unsigned flags, int priority);
std::shared_ptr<Stream> stream_at(CUstream handle);
void push(const std::shared_ptr<Stream> &stream, Work work);
void finish(const std::shared_ptr<Stream> &stream, uint64_t count);
void finish_all(Context &context);
void finish_everything();
void refuse_while_capturing(const Stream &stream, const char *what);
void drop_drained(Context &context);

// ---- launches (driver_launches.cpp, driver_fibers.cpp) -----------------------------------------

void run_kernel(const emu_kernel &kernel, const unsigned grid[3], const unsigned block[3],
                unsigned shared, const void *arguments);

} // namespace emu

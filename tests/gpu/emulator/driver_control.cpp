// What tests ask of the emulated driver and set in it. control.py wraps these functions.
#include "driver.h"

#include <dlfcn.h>

#include <sstream>

namespace emu {

static std::string quoted(const std::string &text) {
    std::string out = "\"";
    for (char c : text) {
        if (c == '"' || c == '\\') out += '\\';
        out += (unsigned char)c < 32 ? ' ' : c;
    }
    return out + "\"";
}

struct Writer {
    std::ostringstream text;
    bool first = true;
    void key(const std::string &name) {
        text << (first ? "" : ", ") << quoted(name) << ": ";
        first = false;
    }
    void number(const std::string &name, long long value) { key(name), text << value; }
    void map(const std::string &name, const std::map<std::string, long> &values) {
        Writer inner;
        for (auto &entry : values) inner.number(entry.first, entry.second);
        key(name), text << "{" << inner.text.str() << "}";
    }
    void list(const std::string &name, const std::vector<std::string> &values) {
        key(name), text << "[";
        for (size_t i = 0; i < values.size(); i++) text << (i ? ", " : "") << quoted(values[i]);
        text << "]";
    }
};

static void write_counters(Writer &w) {
    const Counters &c = state().counters;
#define NUMBER(name) w.number(#name, c.name)
    NUMBER(launches), NUMBER(allocations), NUMBER(frees), NUMBER(pinned_allocations),
        NUMBER(events_recorded);
    NUMBER(events_created), NUMBER(streams_created), NUMBER(waits), NUMBER(stream_synchronizations);
    NUMBER(event_synchronizations), NUMBER(context_synchronizations), NUMBER(blocking_copies),
        NUMBER(copies_in);
    NUMBER(copies_out), NUMBER(copies_within), NUMBER(copies_between), NUMBER(copies_on_host),
        NUMBER(fills);
    NUMBER(bytes_in), NUMBER(bytes_out), NUMBER(modules_loaded), NUMBER(graph_launches),
        NUMBER(products);
#undef NUMBER
    w.number("synchronizations",
             c.stream_synchronizations + c.event_synchronizations + c.context_synchronizations);
}

static void write_what_lives(Writer &w) {
    long long blocks = 0, bytes = 0, waiting = 0;
    for (auto &entry : state().blocks) {
        const Block &block = entry.second;
        if (block.life == Life::freed || block.free_is_queued) continue;
        blocks++, bytes += (long long)block.size;
    }
    for (auto &entry : state().contexts.all()) {
        waiting += (long long)entry.second->legacy->queue.size();
        for (auto &stream : entry.second->streams) waiting += (long long)stream->queue.size();
    }
    w.number("live_allocations", blocks), w.number("live_bytes", bytes),
        w.number("waiting", waiting);
    w.number("live_streams", (long long)state().streams.size());
    w.number("live_events", (long long)state().events.size());
    w.number("live_pinned", (long long)state().pinned.size());
    w.number("live_modules", (long long)state().modules.size());
    w.number("live_pools", (long long)state().pools.size());
    w.number("live_graphs", (long long)(state().graphs.size() + state().executable_graphs.size()));
    w.number("devices", (long long)state().devices.size());
}

} // namespace emu

using namespace emu;

// Everything, as JSON. The text stays until the next call in this thread.
CONTROL const char *emu_report(void) {
    static thread_local std::string kept;
    std::lock_guard<std::recursive_mutex> held(state().lock);
    Writer w;
    write_counters(w);
    write_what_lives(w);
    w.map("launches_of", state().launches_of);
    w.map("calls_of", state().calls_of);
    w.list("findings", state().findings);
    w.list("trace", state().trace);
    w.key("last_message"), w.text << quoted(state().last_message);
    kept = "{" + w.text.str() + "}";
    return kept.c_str();
}

CONTROL void emu_order(int how, unsigned long seed) {
    std::lock_guard<std::recursive_mutex> held(state().lock);
    state().order = (Order)how;
    state().seed = seed;
    state().random.seed(seed);
}

CONTROL void emu_limit(int device, unsigned long long bytes) {
    std::lock_guard<std::recursive_mutex> held(state().lock);
    for (auto &d : state().devices)
        if (device < 0 || d->ordinal == device) d->limit = bytes;
}

CONTROL void emu_fail(const char *name, long after, long times, int code) {
    std::lock_guard<std::recursive_mutex> held(state().lock);
    if (times <= 0) state().injections.erase(name);
    else state().injections[name] = {after, times, (CUresult)code};
}

// As a fault of a kernel: nothing of the device's primary context works any more.
CONTROL void emu_break(int device, int code) {
    std::lock_guard<std::recursive_mutex> held(state().lock);
    if (device < (int)state().devices.size() && state().devices[device]->primary)
        state().devices[device]->primary->sticky = (CUresult)code;
}

CONTROL void emu_trace(int on) {
    std::lock_guard<std::recursive_mutex> held(state().lock);
    state().tracing = on != 0;
    state().trace.clear();
}

CONTROL int emu_check_guards(void) {
    std::lock_guard<std::recursive_mutex> held(state().lock);
    return check_all_guards();
}

// Runs all that waits in streams.
CONTROL void emu_finish(void) {
    std::lock_guard<std::recursive_mutex> held(state().lock);
    finish_everything();
}

CONTROL void emu_launch_blocking(int on) {
    std::lock_guard<std::recursive_mutex> held(state().lock);
    state().launch_blocking = on != 0;
}

// Counts, findings, injected failures and broken contexts are forgotten; what lives stays.
CONTROL void emu_reset(void) {
    std::lock_guard<std::recursive_mutex> held(state().lock);
    State &s = state();
    s.counters = Counters();
    for (auto &entry : std::unordered_map<uintptr_t, std::shared_ptr<Context>>(s.contexts.all()))
        if (entry.second->sticky) finish_all(*entry.second); // what waits is dropped
    for (auto &entry : s.contexts.all()) entry.second->sticky = CUDA_SUCCESS;
    s.launches_of.clear(), s.calls_of.clear(), s.injections.clear(), s.findings.clear(),
        s.trace.clear();
    s.last_message.clear();
}

// ---- finding functions by name, as other libraries do it ---------------------------------------

API cuGetProcAddress_v2(const char *name, void **function, int, cuuint64_t,
                        CUdriverProcAddressQueryResult *result) {
    *function = nullptr;
    for (const char *version : {"_v4", "_v3", "_v2", ""}) {
        *function = dlsym(RTLD_DEFAULT, (std::string(name) + version).c_str());
        if (*function) break;
    }
    if (result)
        *result = *function ? CU_GET_PROC_ADDRESS_SUCCESS : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    return *function ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

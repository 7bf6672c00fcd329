// A libcuda.so.1 for tests, on machines without a GPU.
//
// It finds what a real GPU would do wrong in silence, at once and each time:
// - Device addresses lie in a range without access, so that a read by the host is a SIGSEGV at the
//   guilty line. A kernel runs on the host, with the addresses in its arguments moved, word by
//   word, to where the bytes are; each must be in a live allocation that its device may use.
// - Work waits in its stream until something waits for it, and then only what that needs runs: a
//   missing event shows as poison. EMU_ORDER=random runs any legal order instead, by EMU_SEED.
// - Around each allocation are guard bytes, and memory is filled with 0xFF when it comes and goes.
//
//     core       state, failures, findings, injected failures
//     devices    devices, contexts and the stack of them that each thread has
//     memory     allocations, pools, pinned memory      copies    copies and fills
//     streams    streams, events, the order of work      graphs    captures
//     launches   modules, functions, launches            fibers    threads of a block in turns
//     control    what tests ask and set                  missing   what is not emulated
//
// One lock is held during each call, also while work runs. Nothing here ever asks for the GIL, so
// PyCUDA may hold it while it waits for the lock.
#include "driver.h"

#include <pthread.h>

#include <cstdio>
#include <cstdlib>

namespace emu {

State &state() {
    // Never destroyed: objects of Python come with their calls after destructors have run.
    static State *const the_state = new State;
    return *the_state;
}

std::vector<std::shared_ptr<Context>> &context_stack() {
    static thread_local std::vector<std::shared_ptr<Context>> stack;
    return stack;
}

static std::string written(const char *format, va_list arguments) {
    char text[1024];
    vsnprintf(text, sizeof text, format, arguments);
    return text;
}

static void note(const std::string &message) {
    state().last_message = message;
    if (state().verbose) fprintf(stderr, "emulated driver: %s\n", message.c_str());
}

void fail(CUresult code, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    note(written(format, arguments));
    va_end(arguments);
    throw Failure{code};
}

void fail_and_keep(CUresult code, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    std::string message = written(format, arguments);
    va_end(arguments);
    note(message);
    state().findings.push_back(message);
    throw Failure{code};
}

void keep_finding(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    std::string message = written(format, arguments);
    va_end(arguments);
    note(message);
    state().findings.push_back(message);
}

// "cuMemAlloc_v2" is known to tests as "cuMemAlloc".
static std::string plain_name(const char *name) {
    std::string text = name;
    size_t end = text.find_last_not_of("0123456789");
    if (end != std::string::npos && end >= 1 && text[end] == 'v' && text[end - 1] == '_')
        text.resize(end - 1);
    return text;
}

void begin_call(const char *name, Needs needs) {
    State &s = state();
    std::string plain = plain_name(name);
    s.calls_of[plain]++;
    auto injected = s.injections.find(plain);
    if (injected != s.injections.end()) {
        Injection &injection = injected->second;
        if (injection.after > 0) {
            injection.after--;
        } else {
            CUresult code = injection.code;
            if (--injection.times == 0) s.injections.erase(injected);
            fail(code, "%s: a failure that was asked for", name);
        }
    }
    if (needs == Needs::nothing) return;
    if (s.forked)
        fail(CUDA_ERROR_NOT_INITIALIZED, "%s: in a forked child of a process that used a GPU",
             name);
    if (!s.initialised) fail(CUDA_ERROR_NOT_INITIALIZED, "%s: before cuInit", name);
    if (needs != Needs::context) return;
    Context &context = current();
    if (context.sticky != CUDA_SUCCESS) throw Failure{context.sticky};
}

Context &current() {
    auto &stack = context_stack();
    if (stack.empty() || !stack.back())
        fail(CUDA_ERROR_INVALID_CONTEXT, "no context is current in this thread");
    if (!stack.back()->alive)
        fail(CUDA_ERROR_CONTEXT_IS_DESTROYED, "the current context was destroyed");
    return *stack.back();
}

static void mark_forked() {
    State &s = state();
    // A thread of the parent that is not here may have held the lock.
    new (&s.lock) std::recursive_mutex;
    if (s.initialised) s.forked = true;
}

__attribute__((constructor)) static void watch_forks() {
    pthread_atfork(nullptr, nullptr, mark_forked);
}

// ---- names of results --------------------------------------------------------------------------

struct ResultText {
    CUresult code;
    const char *name, *text;
};
#define RESULT(code, text) {code, #code, text}
static const ResultText result_texts[] = {
    RESULT(CUDA_SUCCESS, "no error"),
    RESULT(CUDA_ERROR_INVALID_VALUE, "invalid argument"),
    RESULT(CUDA_ERROR_OUT_OF_MEMORY, "out of memory"),
    RESULT(CUDA_ERROR_NOT_INITIALIZED, "initialization error"),
    RESULT(CUDA_ERROR_DEINITIALIZED, "driver shutting down"),
    RESULT(CUDA_ERROR_NO_DEVICE, "no CUDA-capable device is detected"),
    RESULT(CUDA_ERROR_INVALID_DEVICE, "invalid device ordinal"),
    RESULT(CUDA_ERROR_INVALID_IMAGE, "device kernel image is invalid"),
    RESULT(CUDA_ERROR_INVALID_CONTEXT, "invalid device context"),
    RESULT(CUDA_ERROR_NO_BINARY_FOR_GPU,
           "no kernel image is available for execution on the device"),
    RESULT(CUDA_ERROR_ECC_UNCORRECTABLE, "uncorrectable ECC error encountered"),
    RESULT(CUDA_ERROR_PEER_ACCESS_UNSUPPORTED,
           "peer access is not supported between these two devices"),
    RESULT(CUDA_ERROR_INVALID_PTX, "a PTX JIT compilation failed"),
    RESULT(CUDA_ERROR_UNSUPPORTED_PTX_VERSION,
           "the provided PTX was compiled with an unsupported toolchain."),
    RESULT(CUDA_ERROR_INVALID_SOURCE, "device kernel image is invalid"),
    RESULT(CUDA_ERROR_FILE_NOT_FOUND, "file not found"),
    RESULT(CUDA_ERROR_INVALID_HANDLE, "invalid resource handle"),
    RESULT(CUDA_ERROR_NOT_FOUND, "named symbol not found"),
    RESULT(CUDA_ERROR_NOT_READY, "device not ready"),
    RESULT(CUDA_ERROR_ILLEGAL_ADDRESS, "an illegal memory access was encountered"),
    RESULT(CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, "too many resources requested for launch"),
    RESULT(CUDA_ERROR_LAUNCH_TIMEOUT, "the launch timed out and was terminated"),
    RESULT(CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED, "peer access is already enabled"),
    RESULT(CUDA_ERROR_PEER_ACCESS_NOT_ENABLED, "peer access has not been enabled"),
    RESULT(CUDA_ERROR_CONTEXT_IS_DESTROYED, "context is destroyed"),
    RESULT(CUDA_ERROR_ASSERT, "device-side assert triggered"),
    RESULT(CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED,
           "part or all of the requested memory range is already mapped"),
    RESULT(CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED,
           "pointer does not correspond to a registered memory region"),
    RESULT(CUDA_ERROR_MISALIGNED_ADDRESS, "misaligned address"),
    RESULT(CUDA_ERROR_LAUNCH_FAILED, "unspecified launch failure"),
    RESULT(CUDA_ERROR_NOT_PERMITTED, "operation not permitted"),
    RESULT(CUDA_ERROR_NOT_SUPPORTED, "operation not supported"),
    RESULT(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
           "operation not permitted when stream is capturing"),
    RESULT(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED,
           "operation failed due to a previous error during capture"),
    RESULT(CUDA_ERROR_STREAM_CAPTURE_UNMATCHED,
           "capture was not ended in the same stream as it began"),
    RESULT(CUDA_ERROR_STREAM_CAPTURE_UNJOINED, "capturing stream has unjoined work"),
    RESULT(CUDA_ERROR_STREAM_CAPTURE_IMPLICIT,
           "operation would make the legacy stream depend on a capturing blocking stream"),
    RESULT(CUDA_ERROR_UNKNOWN, "unknown error"),
};

static const ResultText *result_text(CUresult code) {
    for (const ResultText &known : result_texts)
        if (known.code == code) return &known;
    return nullptr;
}

} // namespace emu

using namespace emu;

API cuGetErrorName(CUresult code, const char **name) {
    const ResultText *found = result_text(code);
    *name = found ? found->name : nullptr;
    return found ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

// The driver's own words and, in parentheses, what the emulated one knows about the last failure.
API cuGetErrorString(CUresult code, const char **text) {
    static std::set<std::string> *const kept = new std::set<std::string>;
    std::lock_guard<std::recursive_mutex> held(state().lock);
    const ResultText *found = result_text(code);
    if (!found) {
        *text = nullptr;
        return CUDA_ERROR_INVALID_VALUE;
    }
    std::string whole = found->text;
    if (!state().last_message.empty()) whole += " (emulated driver: " + state().last_message + ")";
    *text = kept->insert(whole).first->c_str();
    return CUDA_SUCCESS;
}

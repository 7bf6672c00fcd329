// How a kernel runs: blocks one after the other, and in them threads one after the other or, where
// they meet at barriers or exchange values, each as a fiber with a stack of its own.
#include "driver.h"

#include <csetjmp>
#include <csignal>
#include <sys/mman.h>

#include <algorithm>
#include <numeric>

emu_place emu_here __attribute__((visibility("default")));

namespace emu {

constexpr size_t stack_bytes = 64 * 1024, page = 4096, most_shared = 227 * 1024;
constexpr unsigned most_threads = 1024;

// ---- switching stacks --------------------------------------------------------------------------

#if defined(__x86_64__)
// What a called function must preserve, and the stack.
asm(R"(
.text
.type emu_switch, @function
emu_switch:
    pushq %rbp
    pushq %rbx
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    movq %rsp, (%rdi)
    movq %rsi, %rsp
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbx
    popq %rbp
    ret
.size emu_switch, .-emu_switch
)");
extern "C" void emu_switch(void **from, void *to);

static void *new_stack(char *end, void (*entry)()) {
    void **top = reinterpret_cast<void **>(end) - 2; // aligned as at the entry of a function
    *top = reinterpret_cast<void *>(entry);
    for (int i = 0; i < 6; i++) *--top = nullptr;
    return top;
}
#elif defined(__aarch64__)
asm(R"(
.text
.type emu_switch, %function
emu_switch:
    sub sp, sp, #160
    stp x19, x20, [sp, #0]
    stp x21, x22, [sp, #16]
    stp x23, x24, [sp, #32]
    stp x25, x26, [sp, #48]
    stp x27, x28, [sp, #64]
    stp x29, x30, [sp, #80]
    stp d8, d9, [sp, #96]
    stp d10, d11, [sp, #112]
    stp d12, d13, [sp, #128]
    stp d14, d15, [sp, #144]
    mov x2, sp
    str x2, [x0]
    mov sp, x1
    ldp x19, x20, [sp, #0]
    ldp x21, x22, [sp, #16]
    ldp x23, x24, [sp, #32]
    ldp x25, x26, [sp, #48]
    ldp x27, x28, [sp, #64]
    ldp x29, x30, [sp, #80]
    ldp d8, d9, [sp, #96]
    ldp d10, d11, [sp, #112]
    ldp d12, d13, [sp, #128]
    ldp d14, d15, [sp, #144]
    add sp, sp, #160
    ret
.size emu_switch, .-emu_switch
)");
extern "C" void emu_switch(void **from, void *to);

static void *new_stack(char *end, void (*entry)()) {
    char *top = end - 160;
    memset(top, 0, 160);
    reinterpret_cast<void **>(top)[11] = reinterpret_cast<void *>(entry); // x30
    return top;
}
#else
#error "the emulated driver switches stacks on x86-64 and aarch64"
#endif

// ---- state -------------------------------------------------------------------------------------

enum class Wait { none, barrier, warp, ended };

struct Fiber {
    char *stack = nullptr;
    void *stack_pointer = nullptr;
    Wait wait = Wait::none;
    emu_three place;
    unsigned mask = 0, source = 0;
    int kind = 0;
    uint64_t value = 0, result = 0;
};

static Fiber fibers[most_threads];
static Fiber *running; // none: threads one after the other
static unsigned threads_of_block, waiting_at_barrier, ended, arrived_true;
static int barrier_kind;
static void *scheduler;
static const emu_kernel *kernel;
static const void *kernel_arguments;
static std::string violation; // what the kernel did wrong, told when control is back
static CUresult violation_code;
static char *dynamic_shared;
static unsigned dynamic_bytes;

static void violate(CUresult code, std::string what) {
    if (!violation.empty()) return;
    violation = std::move(what);
    violation_code = code;
}

static void raise_violation() {
    if (violation.empty()) return;
    std::string text = std::move(violation);
    violation.clear();
    fail_and_keep(violation_code, "kernel %s: %s", kernel->name, text.c_str());
}

// ---- an order of n things ----------------------------------------------------------------------

// i -> (a i + b) mod n: any order that is cheap, by the seed.
struct Shuffled {
    uint64_t n, a = 1, b = 0;
    explicit Shuffled(uint64_t count) : n(count) {
        if (state().order != Order::random || n < 2) return;
        do a = state().random() % n;
        while (std::gcd(a, n) != 1);
        b = state().random() % n;
    }
    uint64_t operator[](uint64_t i) const { return (uint64_t)(((unsigned __int128)a * i + b) % n); }
};

// ---- fibers ------------------------------------------------------------------------------------

static void leave() { emu_switch(&running->stack_pointer, scheduler); }

static void fiber_main() {
    for (;;) {
        kernel->body(kernel_arguments);
        running->wait = Wait::ended;
        leave();
    }
}

static void prepare(Fiber &fiber) {
    if (!fiber.stack) {
        void *stack = mmap(nullptr, stack_bytes, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (stack == MAP_FAILED)
            fail(CUDA_ERROR_OUT_OF_MEMORY, "no stacks for the threads of a block");
        mprotect(stack, page, PROT_NONE);
        fiber.stack = static_cast<char *>(stack);
    }
    fiber.stack_pointer = new_stack(fiber.stack + stack_bytes, fiber_main);
    fiber.wait = Wait::none;
}

static void release_barrier() {
    if (waiting_at_barrier == 0 || waiting_at_barrier + ended < threads_of_block) return;
    int all = arrived_true == waiting_at_barrier, any = arrived_true > 0;
    int result = barrier_kind == 1 ? all : barrier_kind == 2 ? any : (int)arrived_true;
    for (unsigned i = 0; i < threads_of_block; i++)
        if (fibers[i].wait == Wait::barrier)
            fibers[i].wait = Wait::none, fibers[i].result = (uint64_t)result;
    waiting_at_barrier = arrived_true = 0;
}

// If all lanes of the mask that still run have come: gives each its result.
static void release_warp(unsigned first, unsigned mask) {
    unsigned lanes = std::min(EMU_WARP + 0u, threads_of_block - first), group = 0, ballot = 0;
    for (unsigned lane = 0; lane < lanes; lane++) {
        const Fiber &fiber = fibers[first + lane];
        if (!(mask >> lane & 1) || fiber.wait == Wait::ended) continue;
        if (fiber.wait != Wait::warp || fiber.mask != mask) return;
        group |= 1u << lane;
        if (fiber.value) ballot |= 1u << lane;
    }
    for (unsigned lane = 0; lane < lanes; lane++) {
        if (!(group >> lane & 1)) continue;
        Fiber &fiber = fibers[first + lane];
        bool there = fiber.source < EMU_WARP && (group >> fiber.source & 1);
        // The value of a lane that didn't come is undefined: poison.
        fiber.result = fiber.kind == EMU_BALLOT ? ballot
                       : there                  ? fibers[first + fiber.source].value
                                                : ~0ull;
        fiber.wait = Wait::none;
    }
}

static void after_its_end(unsigned index) {
    ended++;
    release_barrier();
    unsigned first = index / EMU_WARP * EMU_WARP,
             end = std::min(first + EMU_WARP, threads_of_block);
    for (unsigned i = first; i < end; i++)
        if (fibers[i].wait == Wait::warp) release_warp(first, fibers[i].mask);
}

static void run_together(emu_three size) {
    threads_of_block = size.x * size.y * size.z;
    waiting_at_barrier = ended = arrived_true = 0;
    for (unsigned i = 0; i < threads_of_block; i++) {
        prepare(fibers[i]);
        fibers[i].place = {i % size.x, i / size.x % size.y, i / size.x / size.y};
    }
    while (ended < threads_of_block) {
        bool moved = false;
        Shuffled order(threads_of_block);
        for (unsigned k = 0; k < threads_of_block; k++) {
            unsigned i = (unsigned)order[k];
            Fiber &fiber = fibers[i];
            if (fiber.wait != Wait::none) continue;
            moved = true;
            running = &fiber;
            emu_here.thread = fiber.place;
            emu_switch(&scheduler, fiber.stack_pointer);
            running = nullptr;
            if (fiber.wait == Wait::ended) after_its_end(i);
            raise_violation();
        }
        if (!moved) {
            violate(CUDA_ERROR_LAUNCH_TIMEOUT,
                    "threads of a block wait for each other at different barriers or exchanges");
            raise_violation();
        }
    }
}

// ---- faults ------------------------------------------------------------------------------------

static sigjmp_buf back;
static volatile sig_atomic_t in_kernel;
static const int caught[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};
static struct sigaction before[4];

static void on_fault(int number, siginfo_t *info, void *) {
    if (!in_kernel) {
        for (int i = 0; i < 4; i++)
            if (caught[i] == number) sigaction(number, &before[i], nullptr);
        return; // happens again, to whoever was here before
    }
    static char text[200];
    snprintf(text, sizeof text,
             number == SIGFPE   ? "division of integers by zero"
             : number == SIGILL ? "an address that is not a multiple of what lies there, an "
                                  "index outside of an array, or a shift by too many bits"
                                : "read or write at %p, which is no memory of the device",
             info->si_addr);
    violate(number == SIGILL ? CUDA_ERROR_MISALIGNED_ADDRESS : CUDA_ERROR_ILLEGAL_ADDRESS, text);
    siglongjmp(back, 1);
}

// Faults of the kernel become failures of the launch, while this lives.
struct Watch {
    Watch() {
        static thread_local char *stack;
        if (!stack) {
            stack = new char[64 * 1024];
            stack_t alternative{}, old{};
            alternative.ss_sp = stack;
            alternative.ss_size = 64 * 1024;
            if (sigaltstack(nullptr, &old) == 0 && (old.ss_flags & SS_DISABLE))
                sigaltstack(&alternative, nullptr);
        }
        struct sigaction action{};
        action.sa_sigaction = on_fault;
        action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
        for (int i = 0; i < 4; i++) sigaction(caught[i], &action, &before[i]);
        in_kernel = 1;
    }
    ~Watch() {
        in_kernel = 0;
        for (int i = 0; i < 4; i++) sigaction(caught[i], &before[i], nullptr);
    }
};

static void run_threads(emu_three size) {
    uint64_t count = (uint64_t)size.x * size.y * size.z;
    Shuffled order(count);
    for (uint64_t k = 0; k < count; k++) {
        unsigned t = (unsigned)order[k];
        emu_here.thread = {t % size.x, t / size.x % size.y, t / size.x / size.y};
        kernel->body(kernel_arguments);
    }
}

static void run_blocks(const unsigned grid[3], emu_three size) {
    uint64_t blocks = (uint64_t)grid[0] * grid[1] * grid[2];
    Shuffled order(blocks);
    for (uint64_t k = 0; k < blocks; k++) {
        uint64_t b = order[k];
        emu_here.block = {(unsigned)(b % grid[0]), (unsigned)(b / grid[0] % grid[1]),
                          (unsigned)(b / grid[0] / grid[1])};
        if (dynamic_bytes) memset(dynamic_shared, poison_value, dynamic_bytes);
        if (kernel->together) run_together(size);
        else run_threads(size);
        raise_violation();
    }
}

void run_kernel(const emu_kernel &which, const unsigned grid[3], const unsigned block[3],
                unsigned shared, const void *arguments) {
    emu_dynamic_shared();
    kernel = &which;
    kernel_arguments = arguments;
    dynamic_bytes = shared;
    memset(dynamic_shared + shared, guard_value, guard_bytes);
    emu_here.grid_size = {grid[0], grid[1], grid[2]};
    emu_here.block_size = {block[0], block[1], block[2]};
    {
        Watch watch;
        if (sigsetjmp(back, 1) == 0) run_blocks(grid, emu_here.block_size);
    }
    running = nullptr;
    for (size_t i = 0; i < guard_bytes; i++)
        if ((unsigned char)dynamic_shared[shared + i] != guard_value) {
            violate(CUDA_ERROR_ILLEGAL_ADDRESS, "shared memory was written beyond its end");
            break;
        }
    raise_violation();
}

} // namespace emu

using namespace emu;

CONTROL void emu_barrier(int kind, int predicate, int *result) {
    if (!running)
        return violate(CUDA_ERROR_LAUNCH_FAILED,
                       "it has a barrier, but is not an AG_KERNEL_TOGETHER");
    Fiber &self = *running;
    self.wait = Wait::barrier;
    barrier_kind = kind;
    waiting_at_barrier++;
    arrived_true += predicate != 0;
    release_barrier();
    // The last one also lets the others run first, half of the time or always: a missing barrier
    // behind this one shows.
    leave();
    if (result) *result = (int)self.result;
}

CONTROL uint64_t emu_exchange(int kind, unsigned mask, uint64_t value, unsigned source) {
    if (!running) {
        violate(CUDA_ERROR_LAUNCH_FAILED,
                "it exchanges values in a warp, but is not an AG_KERNEL_TOGETHER");
        return ~0ull;
    }
    Fiber &self = *running;
    unsigned index = (unsigned)(&self - fibers), lane = index % EMU_WARP;
    if (!(mask >> lane & 1)) {
        violate(CUDA_ERROR_LAUNCH_FAILED,
                "a lane that is not in the mask takes part in an exchange");
        return ~0ull;
    }
    self.kind = kind;
    self.mask = mask;
    self.value = value;
    self.source = source;
    self.wait = Wait::warp;
    release_warp(index - lane, mask);
    if (self.wait != Wait::none) leave();
    return self.result;
}

CONTROL unsigned emu_active_lanes(void) {
    if (!running) return 1;
    unsigned index = (unsigned)(running - fibers), first = index / EMU_WARP * EMU_WARP, mask = 0;
    for (unsigned lane = 0; lane < EMU_WARP && first + lane < threads_of_block; lane++)
        if (fibers[first + lane].wait != Wait::ended) mask |= 1u << lane;
    return mask;
}

CONTROL void *emu_dynamic_shared(void) {
    if (!dynamic_shared) dynamic_shared = new char[most_shared + guard_bytes + 256];
    return dynamic_shared;
}

CONTROL void emu_trap(const char *what) {
    violate(CUDA_ERROR_ASSERT, what);
    siglongjmp(back, 1);
}

// What a user's CUDA source gets before it on the host (nvcc.py): the language, and entries of kernels
// that take ordinary arguments.
#pragma once

#include "device_language.h"

#include <utility>

namespace emu_language {

// Where arguments lie in the buffer of a launch: each at a multiple of its alignment.
template <class... A> struct Layout {
    unsigned offsets[sizeof...(A) + 1] = {}, sizes[sizeof...(A) + 1] = {}, bytes = 0;
    constexpr Layout() {
        unsigned each[] = {sizeof(A)..., 0}, alignment[] = {alignof(A)..., 1};
        for (unsigned i = 0; i < sizeof...(A); i++) {
            bytes = (bytes + alignment[i] - 1) / alignment[i] * alignment[i];
            offsets[i] = bytes;
            sizes[i] = each[i];
            bytes += each[i];
        }
    }
};

template <auto kernel, class Type = decltype(kernel)> struct Entry;
template <auto kernel, class... A> struct Entry<kernel, void (*)(A...)> {
    static constexpr unsigned count = sizeof...(A);
    static constexpr Layout<std::remove_const_t<A>...> layout{};
    template <size_t... i> static void run(const char *buffer, std::index_sequence<i...>) {
        kernel(*reinterpret_cast<const std::remove_const_t<A> *>(buffer + layout.offsets[i])...);
    }
    static void body(const void *buffer) {
        run(static_cast<const char *>(buffer), std::index_sequence_for<A...>());
    }
};

} // namespace emu_language

#define EMU_USER_KERNEL(name, together)                                                            \
    extern "C" __attribute__((visibility("default")))                                              \
    const emu_kernel emu_kernel_##name = {#name,                                                   \
                                          emu_language::Entry<&name>::layout.bytes,                \
                                          1024,                                                    \
                                          together,                                                \
                                          -1,                                                      \
                                          emu_language::Entry<&name>::body,                        \
                                          emu_language::Entry<&name>::count,                       \
                                          emu_language::Entry<&name>::layout.offsets,              \
                                          emu_language::Entry<&name>::layout.sizes};

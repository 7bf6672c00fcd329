/* The thread-local mode word. It lives in one shared object; others reach it by a function. */
#ifndef AG_MODES_H
#define AG_MODES_H
#if defined(__GNUC__) && defined(__linux__)
static __thread unsigned long long ag_tls_modes __attribute__((tls_model("initial-exec"))) = 0;
#else
static _Thread_local unsigned long long ag_tls_modes = 0;
#endif
#endif

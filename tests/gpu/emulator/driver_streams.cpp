// Streams, events, and the order in which work runs.
#include "driver.h"

#include <unistd.h>
#include <sys/syscall.h>

#include <algorithm>

namespace emu {

std::shared_ptr<Stream> make_stream(Context &context, unsigned flags, int priority) {
    auto stream = std::make_shared<Stream>();
    stream->context = &context;
    stream->flags = flags;
    stream->blocking = !(flags & CU_STREAM_NON_BLOCKING);
    stream->priority = priority;
    context.streams.push_back(stream);
    return stream;
}

std::shared_ptr<Stream> stream_at(CUstream handle) {
    if (handle == nullptr || handle == CU_STREAM_LEGACY) return current().legacy;
    if (handle == CU_STREAM_PER_THREAD) {
        auto &stream = current().per_thread[syscall(SYS_gettid)];
        if (!stream) stream = make_stream(current(), 0, 0);
        return stream;
    }
    auto found = state().streams.find(handle);
    if (!found)
        fail(CUDA_ERROR_INVALID_HANDLE, "%p is no stream, or one that was destroyed",
             (void *)handle);
    if (!found->context->alive)
        fail(CUDA_ERROR_INVALID_HANDLE, "the context of the stream was destroyed");
    return found;
}

// ---- running -----------------------------------------------------------------------------------

static const Dependency *unmet(const Stream &stream) {
    for (const Dependency &needed : stream.queue.front().after)
        if (needed.stream->done < needed.count) return &needed;
    return nullptr;
}

static void run_first(Stream &stream) {
    Work work = std::move(stream.queue.front());
    stream.queue.pop_front();
    double start = stream.clock;
    for (const Dependency &needed : work.after) start = std::max(start, needed.stream->clock);
    stream.clock = start + work.microseconds;
    CUresult &sticky = stream.context->sticky;
    if (sticky == CUDA_SUCCESS || work.always) {
        try {
            work.run();
        } catch (const Failure &failure) {
            if (sticky == CUDA_SUCCESS) sticky = failure.code;
        }
    }
    stream.done++;
}

// Runs what the work needs and nothing else. Without recursion: chains of events can be long.
static void run_needed(const std::shared_ptr<Stream> &stream, uint64_t count) {
    std::vector<Dependency> path{{stream, count}};
    while (!path.empty()) {
        Dependency next = path.back();
        if (next.stream->done >= next.count) {
            path.pop_back();
        } else if (const Dependency *needed = unmet(*next.stream)) {
            path.push_back(*needed);
        } else {
            run_first(*next.stream);
        }
    }
}

static std::vector<Stream *> streams_with_work() {
    std::vector<Stream *> found;
    for (auto &entry : state().contexts.all()) {
        Context &context = *entry.second;
        if (!context.legacy->queue.empty()) found.push_back(context.legacy.get());
        for (auto &stream : context.streams)
            if (!stream->queue.empty()) found.push_back(stream.get());
    }
    // The table has no order of its own: what a seed gives must not depend on it.
    std::sort(found.begin(), found.end(), [](Stream *a, Stream *b) {
        return std::make_pair(a->context->handle, a->handle) <
               std::make_pair(b->context->handle, b->handle);
    });
    return found;
}

static bool run_any() {
    std::vector<Stream *> found = streams_with_work();
    found.erase(std::remove_if(found.begin(), found.end(), [](Stream *s) { return unmet(*s); }),
                found.end());
    if (found.empty()) return false;
    run_first(*found[state().random() % found.size()]);
    return true;
}

void finish(const std::shared_ptr<Stream> &stream, uint64_t count) {
    if (state().order == Order::random && state().random() % 2)
        while (stream->done < count && run_any()) {
        }
    run_needed(stream, count);
}

void finish_all(Context &context) {
    std::vector<std::shared_ptr<Stream>> all = context.streams;
    all.push_back(context.legacy);
    for (auto &stream : all) finish(stream, stream->queued);
    drop_drained(context);
}

void finish_everything() {
    for (auto &entry :
         std::unordered_map<uintptr_t, std::shared_ptr<Context>>(state().contexts.all()))
        finish_all(*entry.second);
}

void drop_drained(Context &context) {
    auto &all = context.streams;
    all.erase(std::remove_if(all.begin(), all.end(),
                             [](const std::shared_ptr<Stream> &s) {
                                 return s->destroyed && s->queue.empty();
                             }),
              all.end());
}

void refuse_while_capturing(const Stream &stream, const char *what) {
    if (!stream.capture) return;
    stream.capture->broken = true;
    fail(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "%s in a stream that captures", what);
}

void push(const std::shared_ptr<Stream> &stream, Work work) {
    Context &context = *stream->context;
    if (stream->capture) {
        work.after.clear(); // works of a graph run one after the other
        stream->capture->works.push_back(std::move(work));
        return;
    }
    if (stream->legacy) {
        for (auto &other : context.streams) {
            if (!other->blocking) continue;
            if (other->capture)
                fail(CUDA_ERROR_STREAM_CAPTURE_IMPLICIT,
                     "the legacy stream would wait for one that captures");
            if (other->queued > other->done) work.after.push_back({other, other->queued});
        }
    } else if (stream->blocking && context.legacy->queued > context.legacy->done) {
        work.after.push_back({context.legacy, context.legacy->queued});
    }
    stream->queue.push_back(std::move(work));
    stream->queued++;
    if (state().order == Order::at_once) {
        run_needed(stream, stream->queued);
    } else if (state().order == Order::random) {
        while (state().random() % 3 == 0 && run_any()) {
        }
    }
}

// One piece of work towards the goal, as time that passes while the host asks again and again.
static void move_on(const std::shared_ptr<Stream> &stream, uint64_t count) {
    std::shared_ptr<Stream> next = stream;
    while (next->done < next->queued) {
        const Dependency *needed = unmet(*next);
        if (!needed) {
            run_first(*next);
            return;
        }
        next = needed->stream;
    }
    (void)count;
}

static void wait_for(const std::shared_ptr<Stream> &stream, uint64_t count) {
    finish(stream, count);
    trim_pools(*stream->context->device);
    if (stream->context->sticky) throw Failure{stream->context->sticky};
}

static void query(const std::shared_ptr<Stream> &stream, uint64_t count) {
    if (stream->done < count) {
        move_on(stream, count);
        if (stream->done < count) throw Failure{CUDA_ERROR_NOT_READY, true};
    }
    if (stream->context->sticky) throw Failure{stream->context->sticky};
}

static std::shared_ptr<Event> event_at(CUevent handle) {
    auto found = state().events.find(handle);
    if (!found)
        fail(CUDA_ERROR_INVALID_HANDLE, "%p is no event, or one that was destroyed",
             (void *)handle);
    return found;
}

} // namespace emu

using namespace emu;

static void create_stream(CUstream *handle, unsigned flags, int priority) {
    require((flags & ~1u) == 0, CUDA_ERROR_INVALID_VALUE, "unknown flags of a stream");
    auto stream = make_stream(current(), flags, std::max(-5, std::min(0, priority)));
    stream->handle = *handle = (CUstream)state().streams.add(stream);
    state().counters.streams_created++;
}

API cuStreamCreate(CUstream *stream, unsigned flags) {
    return call(__func__, Needs::context, [&] { create_stream(stream, flags, 0); });
}

API cuStreamCreateWithPriority(CUstream *stream, unsigned flags, int priority) {
    return call(__func__, Needs::context, [&] { create_stream(stream, flags, priority); });
}

// What is in the stream still runs.
API cuStreamDestroy(CUstream handle) {
    return call(__func__, Needs::init, [&] {
        auto stream = state().streams.find(handle);
        if (!stream)
            fail_and_keep(CUDA_ERROR_INVALID_HANDLE, "%p is destroyed twice, or no stream",
                          (void *)handle);
        stream->destroyed = true;
        state().streams.remove(handle);
        drop_drained(*stream->context);
    });
}

API cuStreamSynchronize(CUstream handle) {
    return call(__func__, Needs::context, [&] {
        auto stream = stream_at(handle);
        refuse_while_capturing(*stream, "a synchronisation");
        state().counters.stream_synchronizations++;
        if (stream->legacy) push(stream, {"synchronisation", [] {}, {}, 0});
        wait_for(stream, stream->queued);
    });
}

API cuStreamQuery(CUstream handle) {
    return call(__func__, Needs::context, [&] {
        auto stream = stream_at(handle);
        refuse_while_capturing(*stream, "a query");
        query(stream, stream->queued);
    });
}

API cuStreamGetPriority(CUstream handle, int *priority) {
    return call(__func__, Needs::context, [&] { *priority = stream_at(handle)->priority; });
}

API cuStreamGetFlags(CUstream handle, unsigned *flags) {
    return call(__func__, Needs::context, [&] { *flags = stream_at(handle)->flags; });
}

API cuStreamGetId(CUstream handle, unsigned long long *id) {
    return call(__func__, Needs::context, [&] {
        auto stream = stream_at(handle);
        *id = stream->legacy ? 1 : (unsigned long long)stream->handle;
    });
}

#undef cuStreamGetCtx
API cuStreamGetCtx(CUstream handle, CUcontext *context) {
    return call(__func__, Needs::context, [&] { *context = stream_at(handle)->context->handle; });
}

API cuStreamGetDevice(CUstream handle, CUdevice *device) {
    return call(__func__, Needs::context,
                [&] { *device = stream_at(handle)->context->device->ordinal; });
}

API cuStreamWaitEvent(CUstream handle, CUevent event, unsigned) {
    return call(__func__, Needs::context, [&] {
        auto stream = stream_at(handle);
        auto awaited = event_at(event);
        state().counters.waits++;
        if (awaited->capture) { // the stream joins the capture
            if (stream->capture && stream->capture != awaited->capture)
                fail(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
                     "two captures can't wait for each other");
            stream->capture = awaited->capture;
            return;
        }
        if (!awaited->stream) return;
        if (stream->capture)
            fail(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "a capture waits for work outside of it");
        push(stream, {"wait", [] {}, {{awaited->stream, awaited->count}}, 0});
    });
}

// ---- events ------------------------------------------------------------------------------------

API cuEventCreate(CUevent *event, unsigned flags) {
    return call(__func__, Needs::context, [&] {
        auto made = std::make_shared<Event>();
        made->context = &current();
        made->timed = !(flags & CU_EVENT_DISABLE_TIMING);
        *event = (CUevent)state().events.add(made);
        state().counters.events_created++;
    });
}

API cuEventDestroy(CUevent event) {
    return call(__func__, Needs::init, [&] {
        event_at(event);
        state().events.remove(event);
    });
}

API cuEventRecord(CUevent handle, CUstream stream_handle) {
    return call(__func__, Needs::context, [&] {
        auto event = event_at(handle);
        auto stream = stream_at(stream_handle);
        require(event->context == stream->context, CUDA_ERROR_INVALID_HANDLE,
                "an event is recorded on a stream of another context");
        state().counters.events_recorded++;
        event->capture = stream->capture;
        if (stream->capture) return;
        uint64_t record = ++event->record;
        std::weak_ptr<Event> kept = event;
        std::weak_ptr<Stream> on = stream;
        event->time = -1;
        push(stream, {"event",
                      [kept, on, record] {
                          auto event = kept.lock();
                          auto stream = on.lock();
                          if (event && stream && event->record == record)
                              event->time = stream->clock;
                      },
                      {},
                      0});
        event->stream = stream;
        event->count = stream->queued;
    });
}

API cuEventRecordWithFlags(CUevent event, CUstream stream, unsigned) {
    return cuEventRecord(event, stream);
}

API cuEventQuery(CUevent handle) {
    return call(__func__, Needs::init, [&] {
        auto event = event_at(handle);
        if (event->capture)
            fail(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "an event of a capture is asked for");
        if (event->stream) query(event->stream, event->count);
    });
}

API cuEventSynchronize(CUevent handle) {
    return call(__func__, Needs::init, [&] {
        auto event = event_at(handle);
        if (event->capture)
            fail(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "an event of a capture is waited for");
        state().counters.event_synchronizations++;
        if (event->stream) wait_for(event->stream, event->count);
    });
}

static void elapsed(float *milliseconds, CUevent start, CUevent end) {
    auto first = event_at(start), last = event_at(end);
    require(first->timed && last->timed, CUDA_ERROR_INVALID_HANDLE,
            "an event was made without timing");
    require(first->stream && last->stream, CUDA_ERROR_INVALID_HANDLE,
            "an event was never recorded");
    require(first->context == last->context, CUDA_ERROR_INVALID_HANDLE,
            "events are of two contexts");
    if (first->stream->done < first->count || last->stream->done < last->count)
        throw Failure{CUDA_ERROR_NOT_READY, true};
    *milliseconds = (float)((last->time - first->time) / 1000);
}

API cuEventElapsedTime_v2(float *milliseconds, CUevent start, CUevent end) {
    return call(__func__, Needs::init, [&] { elapsed(milliseconds, start, end); });
}
#undef cuEventElapsedTime
API cuEventElapsedTime(float *milliseconds, CUevent start, CUevent end) {
    return call(__func__, Needs::init, [&] { elapsed(milliseconds, start, end); });
}

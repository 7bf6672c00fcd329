// Copies and fills. Pinned memory of the host is read and written when the work runs, other memory
// at the call.
#include "driver.h"

#include <algorithm>

namespace emu {

enum class Wait { no, yes };

static const char *host_bytes(address p, size_t n, const char *what, bool was_pinned) {
    if (was_pinned && !is_pinned(p, n))
        fail_and_keep(CUDA_ERROR_ILLEGAL_ADDRESS,
                      "%s: pinned memory at %#llx was freed before the copy has run", what, p);
    return reinterpret_cast<const char *>(p);
}

// Rows of `width` bytes in memory of any kind, told apart by address, as unified addressing does.
struct Rows {
    address at;
    size_t pitch, slice; // bytes from row to row, from slice to slice
    bool on_device() const { return is_device_address(at); }
};

struct Shape {
    size_t width, height, depth;
    size_t extent(const Rows &rows) const {
        return width && height && depth
                   ? (depth - 1) * rows.slice + (height - 1) * rows.pitch + width
                   : 0;
    }
};

static void move_rows(char *to, const char *from, const Rows &target, const Rows &source,
                      const Shape &shape) {
    for (size_t z = 0; z < shape.depth; z++)
        for (size_t y = 0; y < shape.height; y++)
            memmove(to + z * target.slice + y * target.pitch,
                    from + z * source.slice + y * source.pitch, shape.width);
}

static void count_copy(const Rows &target, const Rows &source, size_t bytes) {
    Counters &c = state().counters;
    if (!target.on_device() && !source.on_device()) c.copies_on_host++;
    else if (!source.on_device()) c.copies_in++, c.bytes_in += bytes;
    else if (!target.on_device()) c.copies_out++, c.bytes_out += bytes;
    else if ((target.at - first_address) / span_of_device !=
             (source.at - first_address) / span_of_device)
        c.copies_between++;
    else c.copies_within++;
}

static void copy(Rows target, Rows source, Shape shape, const std::shared_ptr<Stream> &stream,
                 Wait wait) {
    size_t bytes = shape.width * shape.height * shape.depth;
    size_t reads = shape.extent(source), writes = shape.extent(target);
    if (bytes == 0) return;
    require(target.at && source.at, CUDA_ERROR_INVALID_VALUE, "a copy from or to address 0");
    // An address of a device that was never given out is refused at the call.
    for (const Rows *side : {&target, &source})
        if (side->on_device() && !block_of(side->at))
            fail_and_keep(CUDA_ERROR_INVALID_VALUE, "a copy: %#llx is in no allocation", side->at);
    bool pinned_source = !source.on_device() && is_pinned(source.at, reads);
    bool pinned_target = !target.on_device() && is_pinned(target.at, writes);
    bool waits = wait == Wait::yes || (!target.on_device() && !pinned_target);
    if (waits || (!source.on_device() && !pinned_source)) {
        if (stream->capture) refuse_while_capturing(*stream, "a copy with pageable memory");
    }
    count_copy(target, source, bytes);
    std::shared_ptr<std::string> staged;
    if (!source.on_device() && !pinned_source)
        staged = std::make_shared<std::string>(reinterpret_cast<const char *>(source.at), reads);
    push(stream, {"copy",
                  [=] {
                      const char *from = staged ? staged->data()
                                         : source.on_device()
                                             ? reachable(source.at, reads, "copy from")
                                             : host_bytes(source.at, reads, "copy from", true);
                      char *to = target.on_device()
                                     ? reachable(target.at, writes, "copy to")
                                     : const_cast<char *>(
                                           host_bytes(target.at, writes, "copy to", pinned_target));
                      move_rows(to, from, target, source, shape);
                  },
                  {},
                  1 + bytes / 1e4});
    if (!waits) return;
    state().counters.blocking_copies++;
    finish(stream, stream->queued);
    trim_pools(*stream->context->device);
    if (stream->context->sticky) throw Failure{stream->context->sticky};
}

static void copy_line(address to, address from, size_t n, CUstream stream, Wait wait) {
    copy({to, n, n}, {from, n, n}, {n, 1, 1}, stream_at(stream), wait);
}

static void fill(address at, size_t pitch, unsigned value, size_t item, size_t width, size_t height,
                 CUstream stream, Wait wait) {
    if (!width || !height) return;
    require(at % item == 0, CUDA_ERROR_INVALID_VALUE,
            "the address of a fill is not a multiple of its item");
    if (!is_device_address(at) && !is_pinned(at, 1))
        fail_and_keep(CUDA_ERROR_INVALID_VALUE, "a fill: %#llx is no memory of a device", at);
    auto queue = stream_at(stream);
    Context *context = queue->context;
    state().counters.fills++;
    push(queue, {"fill",
                 [=] {
                     size_t extent = (height - 1) * pitch + width * item;
                     char *to = is_device_address(at)
                                    ? reachable(at, extent, "fill", context)
                                    : const_cast<char *>(host_bytes(at, extent, "fill", true));
                     for (size_t y = 0; y < height; y++)
                         for (size_t x = 0; x < width; x++)
                             memcpy(to + y * pitch + x * item, &value, item);
                 },
                 {},
                 1 + width * height * item / 1e5});
    if (wait == Wait::yes) {
        finish(queue, queue->queued);
        if (context->sticky) throw Failure{context->sticky};
    }
}

// One side of a copy of two or three dimensions.
static Rows side(CUmemorytype type, const void *host, CUdeviceptr device, size_t pitch,
                 size_t height, size_t x, size_t y, size_t z) {
    require(type != CU_MEMORYTYPE_ARRAY, CUDA_ERROR_NOT_SUPPORTED, "arrays are not emulated");
    address at = type == CU_MEMORYTYPE_HOST ? (address)host : (address)device;
    return {at + z * pitch * height + y * pitch + x, pitch, pitch * height};
}

static void copy_2d(const CUDA_MEMCPY2D *c, CUstream stream, Wait wait) {
    Rows source = side(c->srcMemoryType, c->srcHost, c->srcDevice,
                       c->srcPitch ? c->srcPitch : c->WidthInBytes, 1, c->srcXInBytes, c->srcY, 0);
    Rows target = side(c->dstMemoryType, c->dstHost, c->dstDevice,
                       c->dstPitch ? c->dstPitch : c->WidthInBytes, 1, c->dstXInBytes, c->dstY, 0);
    require(source.pitch >= c->WidthInBytes && target.pitch >= c->WidthInBytes,
            CUDA_ERROR_INVALID_VALUE, "a pitch below the width");
    copy(target, source, {c->WidthInBytes, c->Height, 1}, stream_at(stream), wait);
}

template <class Parameters> static void copy_3d(const Parameters *c, CUstream stream, Wait wait) {
    Rows source = side(c->srcMemoryType, c->srcHost, c->srcDevice,
                       c->srcPitch ? c->srcPitch : c->WidthInBytes,
                       c->srcHeight ? c->srcHeight : c->Height, c->srcXInBytes, c->srcY, c->srcZ);
    Rows target = side(c->dstMemoryType, c->dstHost, c->dstDevice,
                       c->dstPitch ? c->dstPitch : c->WidthInBytes,
                       c->dstHeight ? c->dstHeight : c->Height, c->dstXInBytes, c->dstY, c->dstZ);
    copy(target, source, {c->WidthInBytes, c->Height, c->Depth}, stream_at(stream), wait);
}

} // namespace emu

using namespace emu;

#define COPY(...) return call(__func__, Needs::context, [&] { __VA_ARGS__; })

API cuMemcpy(CUdeviceptr to, CUdeviceptr from, size_t n) {
    COPY(copy_line(to, from, n, nullptr, Wait::yes));
}
API cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t n, CUstream s) {
    COPY(copy_line(to, from, n, s, Wait::no));
}
API cuMemcpyHtoD(CUdeviceptr to, const void *from, size_t n) {
    COPY(copy_line(to, (address)from, n, nullptr, Wait::yes));
}
API cuMemcpyDtoH(void *to, CUdeviceptr from, size_t n) {
    COPY(copy_line((address)to, from, n, nullptr, Wait::yes));
}
// Within a device the host doesn't wait, also where the call has no stream.
API cuMemcpyDtoD(CUdeviceptr to, CUdeviceptr from, size_t n) {
    COPY(copy_line(to, from, n, nullptr, Wait::no));
}
API cuMemcpyHtoDAsync(CUdeviceptr to, const void *from, size_t n, CUstream s) {
    COPY(copy_line(to, (address)from, n, s, Wait::no));
}
API cuMemcpyDtoHAsync(void *to, CUdeviceptr from, size_t n, CUstream s) {
    COPY(copy_line((address)to, from, n, s, Wait::no));
}
API cuMemcpyDtoDAsync(CUdeviceptr to, CUdeviceptr from, size_t n, CUstream s) {
    COPY(copy_line(to, from, n, s, Wait::no));
}

API cuMemcpyPeer(CUdeviceptr to, CUcontext target, CUdeviceptr from, CUcontext source, size_t n) {
    COPY(context_at(target); context_at(source); copy_line(to, from, n, nullptr, Wait::no));
}
API cuMemcpyPeerAsync(CUdeviceptr to, CUcontext target, CUdeviceptr from, CUcontext source,
                      size_t n, CUstream s) {
    COPY(context_at(target); context_at(source); copy_line(to, from, n, s, Wait::no));
}

API cuMemcpy2D(const CUDA_MEMCPY2D *c) { COPY(copy_2d(c, nullptr, Wait::yes)); }
API cuMemcpy2DUnaligned(const CUDA_MEMCPY2D *c) { COPY(copy_2d(c, nullptr, Wait::yes)); }
API cuMemcpy2DAsync(const CUDA_MEMCPY2D *c, CUstream s) { COPY(copy_2d(c, s, Wait::no)); }
API cuMemcpy3D(const CUDA_MEMCPY3D *c) { COPY(copy_3d(c, nullptr, Wait::yes)); }
API cuMemcpy3DAsync(const CUDA_MEMCPY3D *c, CUstream s) { COPY(copy_3d(c, s, Wait::no)); }
API cuMemcpy3DPeer(const CUDA_MEMCPY3D_PEER *c) { COPY(copy_3d(c, nullptr, Wait::no)); }
API cuMemcpy3DPeerAsync(const CUDA_MEMCPY3D_PEER *c, CUstream s) { COPY(copy_3d(c, s, Wait::no)); }

// Fills return at once, also those without a stream.
API cuMemsetD8(CUdeviceptr p, unsigned char v, size_t n) {
    COPY(fill(p, n, v, 1, n, 1, nullptr, Wait::no));
}
API cuMemsetD16(CUdeviceptr p, unsigned short v, size_t n) {
    COPY(fill(p, n, v, 2, n, 1, nullptr, Wait::no));
}
API cuMemsetD32(CUdeviceptr p, unsigned v, size_t n) {
    COPY(fill(p, n, v, 4, n, 1, nullptr, Wait::no));
}
API cuMemsetD8Async(CUdeviceptr p, unsigned char v, size_t n, CUstream s) {
    COPY(fill(p, n, v, 1, n, 1, s, Wait::no));
}
API cuMemsetD16Async(CUdeviceptr p, unsigned short v, size_t n, CUstream s) {
    COPY(fill(p, n, v, 2, n, 1, s, Wait::no));
}
API cuMemsetD32Async(CUdeviceptr p, unsigned v, size_t n, CUstream s) {
    COPY(fill(p, n, v, 4, n, 1, s, Wait::no));
}
API cuMemsetD2D8(CUdeviceptr p, size_t pitch, unsigned char v, size_t w, size_t h) {
    COPY(fill(p, pitch, v, 1, w, h, nullptr, Wait::no));
}
API cuMemsetD2D16(CUdeviceptr p, size_t pitch, unsigned short v, size_t w, size_t h) {
    COPY(fill(p, pitch, v, 2, w, h, nullptr, Wait::no));
}
API cuMemsetD2D32(CUdeviceptr p, size_t pitch, unsigned v, size_t w, size_t h) {
    COPY(fill(p, pitch, v, 4, w, h, nullptr, Wait::no));
}
API cuMemsetD2D8Async(CUdeviceptr p, size_t pitch, unsigned char v, size_t w, size_t h,
                      CUstream s) {
    COPY(fill(p, pitch, v, 1, w, h, s, Wait::no));
}
API cuMemsetD2D16Async(CUdeviceptr p, size_t pitch, unsigned short v, size_t w, size_t h,
                       CUstream s) {
    COPY(fill(p, pitch, v, 2, w, h, s, Wait::no));
}
API cuMemsetD2D32Async(CUdeviceptr p, size_t pitch, unsigned v, size_t w, size_t h, CUstream s) {
    COPY(fill(p, pitch, v, 4, w, h, s, Wait::no));
}

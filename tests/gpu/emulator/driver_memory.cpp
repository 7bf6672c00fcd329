// Allocations with guard bytes and poison, pools, pinned memory, and what is known about an
// address.
#include "driver.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>

namespace emu {

constexpr size_t most_poison = 64u << 20; // of an allocation, at each of its ends
constexpr size_t quarantine_bytes = 64u
                                    << 20; // of freed memory, before addresses are given out again
constexpr size_t page = 4096;

static size_t room_for(size_t size) { return (size + 2 * guard_bytes + 511) / 512 * 512; }

static void poison(char *at, size_t size) {
    if (size <= 2 * most_poison) {
        memset(at, poison_value, size);
    } else { // its middle was never written: fresh pages, which cost nothing
        memset(at, poison_value, most_poison);
        memset(at + size - most_poison, poison_value, most_poison);
    }
}

Block *block_of(address p) {
    auto &blocks = state().blocks;
    auto found = blocks.upper_bound(p);
    if (found == blocks.begin()) return nullptr;
    Block &block = (--found)->second;
    // An address one past the end is one of its own: what has no elements may begin there.
    return p <= block.at + block.size ? &block : nullptr;
}

static const char *when(const Block &block) {
    return block.life == Life::freed ? "after it was freed"
                                     : "before its allocation has run in its stream";
}

char *reachable(address p, size_t n, const char *what, Context *by) {
    if (!is_device_address(p))
        fail_and_keep(CUDA_ERROR_ILLEGAL_ADDRESS, "%s: %#llx is no address of a device", what, p);
    Block *block = block_of(p);
    if (!block) fail_and_keep(CUDA_ERROR_ILLEGAL_ADDRESS, "%s: %#llx is in no allocation", what, p);
    if (block->life != Life::live)
        fail_and_keep(CUDA_ERROR_ILLEGAL_ADDRESS, "%s: memory at %#llx (%zu bytes) is used %s",
                      what, p, block->size, when(*block));
    if (p + n > block->at + block->size)
        fail_and_keep(CUDA_ERROR_ILLEGAL_ADDRESS,
                      "%s: %zu bytes at %#llx go %llu beyond their allocation", what, n, p,
                      p + n - block->at - block->size);
    if (by && block->device != by->device) {
        bool allowed = block->pool ? block->pool->readers.count(by->device->ordinal) > 0
                                   : by->peers.count(block->device->primary.get()) > 0;
        if (!allowed)
            fail_and_keep(CUDA_ERROR_ILLEGAL_ADDRESS,
                          "%s: device %d has no access to %#llx of device %d", what,
                          by->device->ordinal, p, block->device->ordinal);
    }
    return real(p);
}

void check_guards(const Block &block) {
    unsigned char *at = reinterpret_cast<unsigned char *>(real(block.at));
    long before = 0, behind = 0;
    for (size_t i = 0; i < guard_bytes; i++) {
        before += at[-1 - (long)i] != guard_value;
        behind += at[block.size + i] != guard_value;
    }
    if (!before && !behind) return;
    keep_finding("memory at %#llx (%zu bytes, allocation %llu): %ld bytes before it and %ld behind "
                 "it were written over",
                 block.at, block.size, block.number, before, behind);
    memset(at - guard_bytes, guard_value, guard_bytes); // told once
    memset(at + block.size, guard_value, guard_bytes);
}

int check_all_guards() {
    size_t known = state().findings.size();
    for (auto &entry : state().blocks)
        if (entry.second.life != Life::freed) check_guards(entry.second);
    return (int)(state().findings.size() - known);
}

// ---- addresses ---------------------------------------------------------------------------------

static address allocate_range(Device &device, size_t room) {
    for (auto hole = device.holes.begin(); hole != device.holes.end(); ++hole) {
        if (hole->second < room) continue;
        address at = hole->first, left = hole->second - room;
        device.holes.erase(hole);
        if (left) device.holes[at + room] = left;
        return at;
    }
    if (device.top + room > span_of_device) fail(CUDA_ERROR_OUT_OF_MEMORY, "no addresses are left");
    address at = device.begin() + device.top;
    device.top += room;
    return at;
}

static void free_range(Device &device, address at, address room) {
    char *first = real((at + page - 1) / page * page);
    char *end = real((at + room) / page * page);
    if (end > first + 16 * page) madvise(first, end - first, MADV_DONTNEED);
    auto next = device.holes.lower_bound(at);
    if (next != device.holes.end() && next->first == at + room) {
        room += next->second;
        next = device.holes.erase(next);
    }
    if (next != device.holes.begin()) {
        auto last = std::prev(next);
        if (last->first + last->second == at) {
            last->second += room;
            return;
        }
    }
    device.holes[at] = room;
}

static address make_block(Device &device, size_t size, Pool *pool) {
    size_t room = room_for(size);
    address at = allocate_range(device, room) + guard_bytes;
    char *bytes = real(at);
    memset(bytes - guard_bytes, guard_value, guard_bytes);
    poison(bytes, size);
    memset(bytes + size, guard_value, room - guard_bytes - size);
    Block block{at, size, pool ? Life::promised : Life::live, &device, pool};
    block.number = ++state().blocks_made;
    state().blocks[at] = block;
    state().counters.allocations++;
    return at;
}

static void end_block(Block &block) {
    Device &device = *block.device;
    check_guards(block);
    poison(real(block.at), block.size);
    block.life = Life::freed;
    if (block.pool) block.pool->used -= block.size;
    else device.plain_bytes -= block.size;
    device.quarantine.push_back(block.at);
    device.quarantined += room_for(block.size);
    while (device.quarantined > quarantine_bytes) {
        auto oldest = state().blocks.find(device.quarantine.front());
        device.quarantine.pop_front();
        size_t room = room_for(oldest->second.size);
        device.quarantined -= room;
        free_range(device, oldest->second.at - guard_bytes, room);
        state().blocks.erase(oldest);
    }
}

void free_all_of(Device &device) {
    std::vector<address> live;
    for (auto &entry : state().blocks)
        if (entry.second.device == &device && entry.second.life != Life::freed)
            live.push_back(entry.first);
    for (address at : live) end_block(state().blocks[at]);
}

// ---- how much there is -------------------------------------------------------------------------

static size_t taken(const Device &device) {
    size_t bytes = device.plain_bytes;
    for (auto &entry : state().pools.all())
        if (entry.second->device == &device) bytes += entry.second->reserved;
    return bytes;
}

static bool fits(const Device &device, size_t size) {
    size_t used = taken(device);
    return used <= device.limit && size <= device.limit - used;
}

// What a synchronisation does to pools: they keep no more than their threshold.
void trim_pools(Device &device) {
    for (auto &entry : state().pools.all()) {
        Pool &pool = *entry.second;
        if (pool.device == &device && pool.reserved > pool.threshold)
            pool.reserved = std::max(pool.used, pool.threshold);
    }
}

static void take_from(Pool &pool, size_t size) {
    Device &device = *pool.device;
    auto grow = [&] {
        uint64_t more = pool.used + size > pool.reserved ? pool.used + size - pool.reserved : 0;
        if (!fits(device, more)) return false;
        pool.reserved += more;
        return true;
    };
    if (!grow()) { // frees that wait in streams may give back enough
        if (device.primary) finish_all(*device.primary);
        trim_pools(device);
        if (!grow())
            fail(CUDA_ERROR_OUT_OF_MEMORY, "%zu bytes asked for, %zu of %zu are taken", size,
                 taken(device), device.limit);
    }
    pool.used += size;
    pool.used_high = std::max(pool.used_high, pool.used);
    pool.reserved_high = std::max(pool.reserved_high, pool.reserved);
}

static void allocate_in_order(CUdeviceptr *p, size_t size, Pool &pool, CUstream handle) {
    require(size > 0, CUDA_ERROR_INVALID_VALUE, "an allocation of 0 bytes");
    auto stream = stream_at(handle);
    refuse_while_capturing(*stream, "an allocation");
    take_from(pool, size);
    address at = make_block(*pool.device, size, &pool);
    *p = at;
    Work work{"allocation", [at] {
                  auto found = state().blocks.find(at);
                  if (found != state().blocks.end() && found->second.life == Life::promised)
                      found->second.life = Life::live;
              }};
    work.always = true;
    push(stream, std::move(work));
}

static Block &block_to_free(address p) {
    Block *block = block_of(p);
    if (!block || block->at != p)
        fail_and_keep(CUDA_ERROR_INVALID_VALUE, "free of %#llx, which no allocation begins at", p);
    if (block->life == Life::freed || block->free_is_queued)
        fail_and_keep(CUDA_ERROR_INVALID_VALUE, "memory at %#llx is freed twice", p);
    return *block;
}

// ---- pinned memory -----------------------------------------------------------------------------

bool is_pinned(address p, size_t n) {
    auto &pinned = state().pinned;
    auto found = pinned.upper_bound(p);
    if (found == pinned.begin()) return false;
    --found;
    return p + n <= found->first + found->second;
}

static std::shared_ptr<Pool> pool_at(CUmemoryPool handle) {
    auto found = state().pools.find(handle);
    if (!found) fail(CUDA_ERROR_INVALID_VALUE, "%p is no memory pool", (void *)handle);
    return found;
}

} // namespace emu

using namespace emu;

API cuMemAlloc(CUdeviceptr *p, size_t size) {
    return call(__func__, Needs::context, [&] {
        Device &device = *current().device;
        require(size > 0, CUDA_ERROR_INVALID_VALUE, "an allocation of 0 bytes");
        if (!fits(device, size))
            fail(CUDA_ERROR_OUT_OF_MEMORY, "%zu bytes asked for, %zu of %zu are taken", size,
                 taken(device), device.limit);
        *p = make_block(device, size, nullptr);
        state().blocks[*p].context = current().handle;
        device.plain_bytes += size;
    });
}

API cuMemAllocPitch(CUdeviceptr *p, size_t *pitch, size_t width, size_t height, unsigned) {
    *pitch = (width + 511) / 512 * 512;
    return cuMemAlloc(p, *pitch * height);
}

API cuMemFree(CUdeviceptr p) {
    return call(__func__, Needs::context, [&] {
        if (!p) return;
        block_to_free(p);
        Context &context = current();
        finish_all(context); // the driver waits here, too
        Block &block = block_to_free(p);
        if (block.pool) finish_everything();
        end_block(block);
        state().counters.frees++;
        if (context.sticky) throw Failure{context.sticky};
    });
}

API cuMemAllocAsync(CUdeviceptr *p, size_t size, CUstream stream) {
    return call(__func__, Needs::context, [&] {
        allocate_in_order(p, size, *stream_at(stream)->context->device->pool, stream);
    });
}

API cuMemAllocFromPoolAsync(CUdeviceptr *p, size_t size, CUmemoryPool pool, CUstream stream) {
    return call(__func__, Needs::context,
                [&] { allocate_in_order(p, size, *pool_at(pool), stream); });
}

API cuMemFreeAsync(CUdeviceptr p, CUstream handle) {
    return call(__func__, Needs::context, [&] {
        auto stream = stream_at(handle);
        refuse_while_capturing(*stream, "a free");
        block_to_free(p).free_is_queued = true;
        state().counters.frees++;
        Work work{"free", [p] {
                      auto found = state().blocks.find(p);
                      if (found == state().blocks.end()) return;
                      if (found->second.life == Life::promised)
                          fail_and_keep(CUDA_ERROR_ILLEGAL_ADDRESS,
                                        "memory at %#llx is freed before its allocation has run",
                                        p);
                      if (found->second.life == Life::live) end_block(found->second);
                  }};
        work.always = true;
        push(stream, std::move(work));
    });
}

API cuMemGetInfo(size_t *left, size_t *total) {
    return call(__func__, Needs::context, [&] {
        Device &device = *current().device;
        size_t used = taken(device);
        *total = device.limit;
        *left = used < device.limit ? device.limit - used : 0;
    });
}

API cuMemGetAddressRange(CUdeviceptr *start, size_t *size, CUdeviceptr p) {
    return call(__func__, Needs::context, [&] {
        Block *block = block_of(p);
        if (!block || block->life == Life::freed)
            fail(CUDA_ERROR_NOT_FOUND, "%#llx is in no allocation", (address)p);
        if (start) *start = block->at;
        if (size) *size = block->size;
    });
}

// ---- pools -------------------------------------------------------------------------------------

API cuDeviceGetDefaultMemPool(CUmemoryPool *pool, CUdevice device) {
    return call(__func__, Needs::init,
                [&] { *pool = (CUmemoryPool)device_at(device).first_pool->handle; });
}

API cuDeviceGetMemPool(CUmemoryPool *pool, CUdevice device) {
    return call(__func__, Needs::init,
                [&] { *pool = (CUmemoryPool)device_at(device).pool->handle; });
}

API cuDeviceSetMemPool(CUdevice device, CUmemoryPool pool) {
    return call(__func__, Needs::init, [&] { device_at(device).pool = pool_at(pool).get(); });
}

API cuMemPoolCreate(CUmemoryPool *pool, const CUmemPoolProps *props) {
    return call(__func__, Needs::init, [&] {
        require(props->allocType == CU_MEM_ALLOCATION_TYPE_PINNED &&
                    props->location.type == CU_MEM_LOCATION_TYPE_DEVICE,
                CUDA_ERROR_INVALID_VALUE, "a pool is of pinned memory on a device");
        auto made = std::make_shared<Pool>();
        made->device = &device_at(props->location.id);
        made->handle = state().pools.add(made);
        *pool = (CUmemoryPool)made->handle;
    });
}

API cuMemPoolDestroy(CUmemoryPool pool) {
    return call(__func__, Needs::init, [&] {
        auto found = pool_at(pool);
        if (found->used) finish_everything();
        // Pools whose memory is in use end with it, as those of the driver.
        if (found->used == 0) state().pools.remove(pool);
        for (auto &entry : state().blocks)
            if (entry.second.pool == found.get() && entry.second.life == Life::freed)
                entry.second.pool = nullptr;
    });
}

API cuMemPoolTrimTo(CUmemoryPool pool, size_t keep) {
    return call(__func__, Needs::init, [&] {
        Pool &p = *pool_at(pool);
        p.reserved = std::max<uint64_t>(p.used, std::min<uint64_t>(p.reserved, keep));
    });
}

API cuMemPoolSetAttribute(CUmemoryPool pool, CUmemPool_attribute attribute, void *value) {
    return call(__func__, Needs::init, [&] {
        Pool &p = *pool_at(pool);
        switch (attribute) {
        case CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES:
        case CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC:
        case CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES:
            p.reuse[attribute - CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES] = *(int *)value;
            break;
        case CU_MEMPOOL_ATTR_RELEASE_THRESHOLD: p.threshold = *(uint64_t *)value; break;
        case CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH:
            require(*(uint64_t *)value == 0, CUDA_ERROR_INVALID_VALUE,
                    "a high mark is set to 0 only");
            p.reserved_high = p.reserved;
            break;
        case CU_MEMPOOL_ATTR_USED_MEM_HIGH:
            require(*(uint64_t *)value == 0, CUDA_ERROR_INVALID_VALUE,
                    "a high mark is set to 0 only");
            p.used_high = p.used;
            break;
        default: fail(CUDA_ERROR_INVALID_VALUE, "attribute %d of a pool can't be set", attribute);
        }
    });
}

API cuMemPoolGetAttribute(CUmemoryPool pool, CUmemPool_attribute attribute, void *value) {
    return call(__func__, Needs::init, [&] {
        Pool &p = *pool_at(pool);
        switch (attribute) {
        case CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES:
        case CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC:
        case CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES:
            *(int *)value = p.reuse[attribute - CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES];
            break;
        case CU_MEMPOOL_ATTR_RELEASE_THRESHOLD: *(uint64_t *)value = p.threshold; break;
        case CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT: *(uint64_t *)value = p.reserved; break;
        case CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH: *(uint64_t *)value = p.reserved_high; break;
        case CU_MEMPOOL_ATTR_USED_MEM_CURRENT: *(uint64_t *)value = p.used; break;
        case CU_MEMPOOL_ATTR_USED_MEM_HIGH: *(uint64_t *)value = p.used_high; break;
        default: fail(CUDA_ERROR_INVALID_VALUE, "a pool has no attribute %d", attribute);
        }
    });
}

API cuMemPoolSetAccess(CUmemoryPool pool, const CUmemAccessDesc *map, size_t count) {
    return call(__func__, Needs::init, [&] {
        Pool &p = *pool_at(pool);
        for (size_t i = 0; i < count; i++) {
            int other = device_at(map[i].location.id).ordinal;
            if (map[i].flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE) p.readers.insert(other);
            else p.readers.erase(other);
        }
    });
}

API cuMemPoolGetAccess(CUmemAccess_flags *flags, CUmemoryPool pool, CUmemLocation *location) {
    return call(__func__, Needs::init, [&] {
        Pool &p = *pool_at(pool);
        bool may = location->id == p.device->ordinal || p.readers.count(location->id);
        *flags = may ? CU_MEM_ACCESS_FLAGS_PROT_READWRITE : CU_MEM_ACCESS_FLAGS_PROT_NONE;
    });
}

// ---- pinned memory -----------------------------------------------------------------------------

API cuMemHostAlloc(void **p, size_t size, unsigned flags) {
    return call(__func__, Needs::context, [&] {
        require(size > 0, CUDA_ERROR_INVALID_VALUE, "an allocation of 0 bytes");
        size_t room = (size + 2 * page - 1) / page * page;
        char *bytes = static_cast<char *>(aligned_alloc(page, room));
        if (!bytes) fail(CUDA_ERROR_OUT_OF_MEMORY, "%zu bytes of pinned memory", size);
        poison(bytes, size);
        memset(bytes + size, guard_value, room - size);
        address at = reinterpret_cast<address>(bytes);
        state().pinned[at] = size;
        state().pinned_by_driver[at] = true;
        state().pinned_flags[at] = flags;
        state().counters.pinned_allocations++;
        *p = bytes;
    });
}

#undef cuMemAllocHost
API cuMemAllocHost_v2(void **p, size_t size) { return cuMemHostAlloc(p, size, 0); }

// Doesn't wait for copies that use it: who frees it too early is told when they run.
API cuMemFreeHost(void *p) {
    return call(__func__, Needs::context, [&] {
        State &s = state();
        address at = reinterpret_cast<address>(p);
        auto found = s.pinned.find(at);
        if (found == s.pinned.end() || !s.pinned_by_driver[at])
            fail_and_keep(CUDA_ERROR_INVALID_VALUE, "free of %p, which is no pinned memory", p);
        const unsigned char *end = static_cast<unsigned char *>(p) + found->second;
        for (size_t i = 0; ((uintptr_t)end + i) % page; i++)
            if (end[i] != guard_value) {
                keep_finding("pinned memory at %p (%zu bytes) was written over behind its end", p,
                             found->second);
                break;
            }
        s.pinned.erase(found);
        s.pinned_by_driver.erase(at);
        s.pinned_flags.erase(at);
        free(p);
    });
}

API cuMemHostRegister(void *p, size_t size, unsigned flags) {
    return call(__func__, Needs::context, [&] {
        address at = reinterpret_cast<address>(p);
        require(p && size, CUDA_ERROR_INVALID_VALUE, "nothing to register");
        require(!is_pinned(at, 1), CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED,
                "memory is registered already");
        state().pinned[at] = size;
        state().pinned_by_driver[at] = false;
        state().pinned_flags[at] = flags;
    });
}

API cuMemHostUnregister(void *p) {
    return call(__func__, Needs::context, [&] {
        address at = reinterpret_cast<address>(p);
        auto found = state().pinned.find(at);
        require(found != state().pinned.end(), CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED,
                "memory is not registered");
        state().pinned.erase(found);
        state().pinned_by_driver.erase(at);
        state().pinned_flags.erase(at);
    });
}

API cuMemHostGetDevicePointer(CUdeviceptr *p, void *host, unsigned) {
    return call(__func__, Needs::context, [&] {
        require(is_pinned((address)host, 1), CUDA_ERROR_INVALID_VALUE, "memory is not pinned");
        *p = (CUdeviceptr)host;
    });
}

API cuMemHostGetFlags(unsigned *flags, void *host) {
    return call(__func__, Needs::context, [&] {
        auto found = state().pinned_flags.find((address)host);
        require(found != state().pinned_flags.end(), CUDA_ERROR_INVALID_VALUE,
                "memory is not pinned");
        *flags = found->second;
    });
}

// ---- what an address is ------------------------------------------------------------------------

static void attribute_of(void *value, CUpointer_attribute attribute, address p) {
    Block *block = is_device_address(p) ? block_of(p) : nullptr;
    if (block && block->life == Life::freed) block = nullptr;
    bool pinned = !block && is_pinned(p, 1);
    if (!block && !pinned) fail(CUDA_ERROR_INVALID_VALUE, "%#llx is known to no context", p);
    switch (attribute) {
    case CU_POINTER_ATTRIBUTE_CONTEXT:
        *(CUcontext *)value = block ? block->context : nullptr;
        break;
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
        *(unsigned *)value = block ? CU_MEMORYTYPE_DEVICE : CU_MEMORYTYPE_HOST;
        break;
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER: *(address *)value = p; break;
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
        require(pinned, CUDA_ERROR_INVALID_VALUE, "memory of a device has no address on the host");
        *(address *)value = p;
        break;
    case CU_POINTER_ATTRIBUTE_IS_MANAGED: *(unsigned *)value = 0; break;
    case CU_POINTER_ATTRIBUTE_MAPPED: *(unsigned *)value = 1; break;
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
        *(int *)value = block ? block->device->ordinal : 0;
        break;
    case CU_POINTER_ATTRIBUTE_BUFFER_ID:
        *(unsigned long long *)value = block ? block->number : 0;
        break;
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
        *(address *)value = block ? block->at : std::prev(state().pinned.upper_bound(p))->first;
        break;
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
        *(size_t *)value = block ? block->size : std::prev(state().pinned.upper_bound(p))->second;
        break;
    case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
        *(uintptr_t *)value = block && block->pool ? block->pool->handle : 0;
        break;
    default: fail(CUDA_ERROR_NOT_SUPPORTED, "attribute %d of an address", attribute);
    }
}

API cuPointerGetAttribute(void *value, CUpointer_attribute attribute, CUdeviceptr p) {
    return call(__func__, Needs::init, [&] { attribute_of(value, attribute, p); });
}

API cuPointerGetAttributes(unsigned count, CUpointer_attribute *attributes, void **values,
                           CUdeviceptr p) {
    return call(__func__, Needs::init, [&] {
        for (unsigned i = 0; i < count; i++) attribute_of(values[i], attributes[i], p);
    });
}

/* Memory of a module, which lives for one run: a freed block is used again for blocks of its size
 * class, and nothing is returned. A tenth of the code of the C library's allocator. */
#ifdef __wasm__
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Four classes for each power of two, from 32 bytes on: at most a fifth of a block is not used. */
enum { SMALLEST_BITS = 5, PARTS_BITS = 2, CLASSES = (31 - SMALLEST_BITS) << PARTS_BITS };
enum { PAGE_BITS = 16, PAGES_AT_ONCE = 16 };

union block {
    struct {
        uint32_t class;
        uint32_t size; /* of what follows */
    };
    double aligned;
};

/* A free block keeps the next one in its first bytes. */
static union block *freed[CLASSES];
extern unsigned char __heap_base; /* where the linker's data ends */
static uintptr_t top, end;

static uint32_t class_of(size_t size)
{
    if (size <= 1u << SMALLEST_BITS)
        return 0;
    const uint32_t bits = 31 - (uint32_t)__builtin_clz((uint32_t)size - 1);
    const uint32_t part = (uint32_t)(size - 1) >> (bits - PARTS_BITS) & ((1u << PARTS_BITS) - 1);
    return ((bits - SMALLEST_BITS) << PARTS_BITS) + part + 1;
}

static size_t size_of_class(uint32_t class)
{
    const uint32_t bits = (class >> PARTS_BITS) + SMALLEST_BITS - PARTS_BITS;
    return (size_t)((1u << PARTS_BITS) + (class & ((1u << PARTS_BITS) - 1))) << bits;
}

/* Makes memory end at `wanted` or after it. */
static int reach(uintptr_t wanted)
{
    if (top == 0) {
        top = ((uintptr_t)&__heap_base + sizeof(union block) - 1) / sizeof(union block) *
              sizeof(union block);
        end = __builtin_wasm_memory_size(0) << PAGE_BITS;
    }
    if (wanted <= end)
        return 1;
    const size_t needed = (wanted - end + (1u << PAGE_BITS) - 1) >> PAGE_BITS;
    const size_t more = needed > PAGES_AT_ONCE ? needed : PAGES_AT_ONCE;
    if (__builtin_wasm_memory_grow(0, more) == SIZE_MAX)
        return 0;
    end += more << PAGE_BITS;
    return 1;
}

/* A block of at least `size` bytes, after its head. `*is_new`: nothing was written there yet. */
static void *take(size_t size, int *is_new)
{
    *is_new = 0;
    if (size <= (size_t)1 << 30) {
        const uint32_t class = class_of(size);
        union block *block = freed[class];
        if (block) {
            freed[class] = *(union block **)(block + 1);
            return block + 1;
        }
        const size_t room = size_of_class(class);
        if (reach(top) && reach(top + sizeof *block + room)) {
            block = (union block *)top;
            block->class = class;
            block->size = (uint32_t)room;
            top += sizeof *block + room;
            *is_new = 1;
            return block + 1;
        }
    }
    return NULL;
}

void *malloc(size_t size)
{
    int is_new;
    return take(size, &is_new);
}

void free(void *bytes)
{
    if (!bytes)
        return;
    union block *const block = (union block *)bytes - 1;
    *(union block **)bytes = freed[block->class];
    freed[block->class] = block;
}

void *calloc(size_t n, size_t size)
{
    size_t all;
    int is_new;
    if (__builtin_mul_overflow(n, size, &all))
        return NULL;
    void *const bytes = take(all, &is_new);
    return bytes && !is_new ? memset(bytes, 0, all) : bytes;
}

/* The last block of all grows where it is. */
void *realloc(void *bytes, size_t size)
{
    if (!bytes)
        return malloc(size);
    union block *const block = (union block *)bytes - 1;
    if (size <= block->size)
        return bytes;
    if ((uintptr_t)bytes + block->size == top && size <= (size_t)1 << 30) {
        const uint32_t class = class_of(size);
        if (reach((uintptr_t)bytes + size_of_class(class))) {
            block->class = class;
            block->size = (uint32_t)size_of_class(class);
            top = (uintptr_t)bytes + block->size;
            return bytes;
        }
    }
    void *const larger = malloc(size);
    if (larger) {
        memcpy(larger, bytes, block->size);
        free(bytes);
    }
    return larger;
}
#endif

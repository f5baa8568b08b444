/* Rings step by step, and sharded arrays device by device. */
#include "obvious.h"

#include <scaleplan/forms.h>

#include <string.h>

/* A ring passes pieces one hop at a time, both ways at once: after X/2 steps every rank
 * has everything. */
static void rings(void **state)
{
    (void)state;
    for (int X = 2; X <= 16; X += 2) {
        bool has[16][16] = {{false}};
        const double V = 1e9, w = 4.5e10;
        double time = 0, crossed = 0;
        int left = X * (X - 1);
        for (int d = 0; d < X; d++)
            has[d][d] = true;
        for (int step = 1; left > 0; step++) {
            int most = 0;
            for (int d = 0; d < X; d++) {
                const int from_left = (d - step + X) % X, from_right = (d + step) % X;
                int got = 0;
                for (int side = 0; side < 2; side++) {
                    const int piece = side ? from_right : from_left;
                    if (!has[d][piece]) {
                        has[d][piece] = true;
                        got++;
                        left--;
                    }
                }
                most = got > most ? got : most;
            }
            /* at the last step of an even ring both ways bring the same piece: each way brings half
             */
            time += (most == 2 ? 1.0 : 0.5) * V / X / w;
            crossed += (most == 2 ? 1.0 : 0.5) * V / X;
        }
        const struct sp_torus_group group = {
            .n = 1, .length = {X}, .wraps = {true}, .link_bytes_per_s = w};
        /* the closed form drops (X-1)/X */
        assert_close(sp_torus_bandwidth_s(SP_ALL_GATHER, V, &group) * (X - 1) / X, time, 1e-12);
        assert_close(sp_one_way_ring_bytes(sp_one_way_ring_share(SP_ALL_GATHER), V, X), 2 * crossed,
                     1e-12);
    }
}

/* Who holds which element, device by device. */
static void shards(void **state)
{
    (void)state;
    srand(5);
    for (int i = 0; i < 2000; i++) {
        struct sp_mesh mesh = {.name = {'X', 'Y', 'Z'},
                               .length = {1 + rand() % 4, 1 + rand() % 4, 1 + rand() % 4},
                               .n = 3};
        struct sp_sharded array = {.n = 2, .name = {'I', 'J'}, .element_bytes = 2};
        for (int axis = 0; axis < 3; axis++)
            if (rand() % 2)
                array.axes[rand() % 2] |= 1u << axis;
        double parts[2];
        for (int d = 0; d < 2; d++) {
            parts[d] = 1;
            for (int axis = 0; axis < 3; axis++)
                parts[d] *= array.axes[d] >> axis & 1 ? (double)mesh.length[axis] : 1;
            array.size[d] = 12 * parts[d];
        }
        /* block indices of every device; copies of block (0, 0) */
        double copies = 0;
        int64_t at[3];
        for (at[0] = 0; at[0] < mesh.length[0]; at[0]++)
            for (at[1] = 0; at[1] < mesh.length[1]; at[1]++)
                for (at[2] = 0; at[2] < mesh.length[2]; at[2]++) {
                    bool origin = true;
                    for (int d = 0; d < 2; d++)
                        for (int axis = 0; axis < 3; axis++)
                            origin = origin && !((array.axes[d] >> axis & 1) && at[axis] > 0);
                    copies += origin;
                }
        assert_close(sp_array_copies(sp_axes_product(&mesh, ~0u),
                                     sp_axes_product(&mesh, sp_sharding_axes(&array))),
                     copies, 0);
        assert_close(sp_local_bytes(&mesh, &array),
                     2 * (array.size[0] / parts[0]) * (array.size[1] / parts[1]), 0);
        assert_close(sp_whole_bytes(&array), 2 * array.size[0] * array.size[1], 0);
    }
}

/* Blocks of the product that differ, device by device, when rows are cut over the axes of `rows`
 * and columns over those of `columns`. */
static double blocks(const struct sp_mesh *mesh, unsigned rows, unsigned columns)
{
    bool seen[64][64] = {{false}};
    double different = 0;
    int at[3];
    for (at[0] = 0; at[0] < mesh->length[0]; at[0]++)
        for (at[1] = 0; at[1] < mesh->length[1]; at[1]++)
            for (at[2] = 0; at[2] < mesh->length[2]; at[2]++) {
                int row = 0, column = 0;
                for (int axis = 0; axis < 3; axis++) {
                    row = row * 4 + (rows >> axis & 1 ? at[axis] : 0);
                    column = column * 4 + (columns >> axis & 1 ? at[axis] : 0);
                }
                different += !seen[row][column];
                seen[row][column] = true;
            }
    return different;
}

/* The order in which an array's dimensions are written makes no difference. */
static void order_of_dimensions(void **state)
{
    (void)state;
    srand(11);
    for (int i = 0; i < 4000; i++) {
        const struct sp_mesh mesh = {.name = {'X', 'Y', 'Z'}, .length = {2, 4, 3}, .n = 3};
        struct sp_sharded a = {.n = 2, .name = {'I', 'J'}, .size = {96, 48}, .element_bytes = 2};
        struct sp_sharded b = {.n = 2, .name = {'J', 'K'}, .size = {48, 24}, .element_bytes = 2};
        for (int axis = 0; axis < 3; axis++) {
            if (rand() % 2)
                a.axes[rand() % 2] |= 1u << axis;
            if (rand() % 2)
                b.axes[rand() % 2] |= 1u << axis;
        }
        struct sp_sharded turned[2] = {a, b};
        for (int k = 0; k < 2; k++) {
            struct sp_sharded *const t = &turned[k];
            const struct sp_sharded was = *t;
            for (int d = 0; d < 2; d++) {
                t->name[d] = was.name[1 - d];
                t->size[d] = was.size[1 - d];
                t->axes[d] = was.axes[1 - d];
            }
        }
        const struct sp_sharded_matmul first = sp_sharded_matmul(&mesh, &a, &b, 2);
        if (first.kind != SP_CASE_MISMATCH) {
            assert_close(first.flops, 2.0 * 96 * 48 * 24, 0);
            assert_close(first.output_bytes, 2.0 * 96 * 24 / blocks(&mesh, a.axes[0], b.axes[1]),
                         0);
        }
        for (int which = 1; which < 4; which++) {
            const struct sp_sharded_matmul other = sp_sharded_matmul(
                &mesh, which & 1 ? &turned[0] : &a, which & 2 ? &turned[1] : &b, 2);
            assert_int_equal(other.kind, first.kind);
            assert_int_equal(other.moves, first.moves);
            for (int k = 0; k < first.moves; k++) {
                assert_int_equal(other.move[k].gathered, first.move[k].gathered);
                assert_int_equal(other.move[k].over, first.move[k].over);
                assert_close(other.move[k].bytes, first.move[k].bytes, 0);
            }
            assert_close(other.flops, first.flops, 0);
            assert_close(other.replication, first.replication, 0);
            assert_close(other.output_bytes, first.output_bytes, 0);
        }
    }
}

/* Two arrays of 4 x 4 on a mesh of two axes of two: which device has which element. */
struct held {
    bool of[2][4][4][4]; /* array, device, row, column */
};

static void deal(const struct sp_sharded *array, bool of[4][4][4])
{
    for (int device = 0; device < 4; device++)
        for (int row = 0; row < 4; row++)
            for (int column = 0; column < 4; column++) {
                const int index[2] = {row, column};
                bool mine = true;
                for (int d = 0; d < 2; d++) {
                    int block = 0, blocks = 1;
                    for (int axis = 0; axis < 2; axis++)
                        if (array->axes[d] >> axis & 1) {
                            block = 2 * block + (device >> axis & 1);
                            blocks *= 2;
                        }
                    mine = mine && index[d] * blocks / 4 == block;
                }
                of[device][row][column] = mine;
            }
}

/* Devices that differ in no other axes than these. */
static bool are_in_group(int one, int other, unsigned over)
{
    return (((unsigned)one ^ (unsigned)other) & ~over) == 0;
}

static void gather(bool of[4][4][4], unsigned over)
{
    bool all[4][4][4] = {{{false}}};
    for (int to = 0; to < 4; to++)
        for (int from = 0; from < 4; from++)
            for (int at = 0; at < 16 && are_in_group(to, from, over); at++)
                all[to][at / 4][at % 4] |= of[from][at / 4][at % 4];
    memcpy(of, all, sizeof all);
}

/* What device `d` adds to an element of the product: the sum of (7 i + 3 j + 1) (5 j + 2 k + 1)
 * over the j that it has of both. */
static double product_of(const struct held *h, int d, int i, int k)
{
    double sum = 0;
    for (int j = 0; j < 4; j++)
        if (h->of[0][d][i][j] && h->of[1][d][j][k])
            sum += (7 * i + 3 * j + 1) * (5 * j + 2 * k + 1);
    return sum;
}

/* Whether the sums over these axes are the product, wherever a device has a part of it. */
static bool sums_up(const struct held *h, unsigned over)
{
    struct held whole;
    memset(&whole, true, sizeof whole);
    for (int d = 0; d < 4; d++)
        for (int i = 0; i < 4; i++)
            for (int k = 0; k < 4; k++) {
                double sum = 0;
                for (int other = 0; other < 4; other++)
                    if (are_in_group(d, other, over))
                        sum += product_of(h, other, i, k);
                if (product_of(h, d, i, k) > 0 && sum != product_of(&whole, 0, i, k))
                    return false;
            }
    return true;
}

/* The product is complete after the collectives that a matmul states, and without any one of them
 * it is not; reducing it instead of a gather is offered where that gives the product. */
static void sharded_products(void **state)
{
    (void)state;
    const struct sp_mesh mesh = {.name = {'X', 'Y'}, .length = {2, 2}, .n = 2};
    int kinds[SP_CASE_MISMATCH + 1] = {0}, twice = 0, only = 0;
    for (int code = 0; code < 81; code++) {
        struct sp_sharded input[2] = {
            {.n = 2, .name = {'I', 'J'}, .size = {4, 4}, .element_bytes = 2},
            {.n = 2, .name = {'J', 'K'}, .size = {4, 4}, .element_bytes = 2}};
        for (int n = 0, rest = code; n < 4; n++, rest /= 3)
            if (rest % 3 > 0)
                input[n / 2].axes[rest % 3 - 1] |= 1u << n % 2;
        const struct sp_sharded_matmul m = sp_sharded_matmul(&mesh, &input[0], &input[1], 2);
        struct held h;
        deal(&input[0], h.of[0]);
        deal(&input[1], h.of[1]);
        kinds[m.kind]++;
        if (m.kind == SP_CASE_MISMATCH)
            continue;
        if (m.kind == SP_CASE_GATHER) {
            assert_true(m.can_reduce == sums_up(&h, m.move[0].over));
            only += !m.can_reduce;
        }
        unsigned summed = 0;
        for (int k = 0; k < m.moves; k++) {
            const struct sp_sharded_move *const move = &m.move[k];
            if (move->kind != SP_CASE_CLASH)
                assert_false(sums_up(&h, 0));
            if (move->gathered >= 0)
                gather(h.of[move->gathered], move->over);
            else
                summed = move->over;
        }
        assert_true(sums_up(&h, summed));
        twice += m.moves > 1;
    }
    for (int kind = SP_CASE_NONE; kind <= SP_CASE_MISMATCH; kind++)
        assert_true(kinds[kind] > 0);
    assert_true(twice > 0 && only > 0);
}

/* What one pair puts on each link of its line, a share of 1 on the shortest way; half of it each
 * way where both ways around a ring are as long. */
static void route(double load[2][8], int from, int to, int X, bool wraps)
{
    const int up = (to - from + X) % X, down = (from - to + X) % X;
    const bool goes_up = wraps ? up <= down : to >= from,
               goes_down = wraps ? down <= up : to < from;
    const double share = goes_up && goes_down ? 0.5 : 1;
    for (int at = from; goes_up && at != to; at = (at + 1) % X)
        load[0][at] += share;
    for (int at = from; goes_down && at != to; at = (at - 1 + X) % X)
        load[1][at] += share;
}

/* Every pair of a mesh routed axis by axis: the most that a link carries, in parts of V/N^2. */
static double busiest_link(const int length[3], const bool wraps[3])
{
    static double load[3][8][8][8][2][8]; /* axis, the line's place (own axis 0), way, link */
    const int N = length[0] * length[1] * length[2];
    double most = 0;
    memset(load, 0, sizeof load);
    for (int source = 0; source < N; source++)
        for (int target = 0; target < N; target++) {
            int at[3] = {source % length[0], source / length[0] % length[1],
                         source / length[0] / length[1]};
            const int end[3] = {target % length[0], target / length[0] % length[1],
                                target / length[0] / length[1]};
            for (int axis = 0; axis < 3; axis++) {
                const int from = at[axis];
                at[axis] = 0; /* the line's name */
                if (from != end[axis])
                    route(load[axis][at[0]][at[1]][at[2]], from, end[axis], length[axis],
                          wraps[axis]);
                at[axis] = end[axis];
            }
        }
    const double *const all = &load[0][0][0][0][0][0];
    for (size_t i = 0; i < sizeof load / sizeof *all; i++)
        most = fmax(most, all[i]);
    return most;
}

/* An all-to-all takes as long as its busiest link, on rings, lines and both, of one to three axes;
 * on rings of even length that is the textbook's V max(A,B,C) / (4 N W_ici). */
static void exchanges(void **state)
{
    (void)state;
    static const int lengths[] = {1, 2, 3, 4, 5, 8};
    const double V = 1e9, w = 4.5e10;
    for (int i = 0; i < 6 * 6 * 6 * 8; i++) {
        const int length[3] = {lengths[i / 8 % 6], lengths[i / 48 % 6], lengths[i / 288]};
        const bool wraps[3] = {i & 1, i & 2, i & 4};
        const int N = length[0] * length[1] * length[2];
        struct sp_torus_group group = {.n = 3, .link_bytes_per_s = w};
        bool even = true;
        double longest = 0;
        if (N == 1 || N > 100)
            continue;
        for (int axis = 0; axis < 3; axis++) {
            group.length[axis] = length[axis];
            group.wraps[axis] = wraps[axis];
            even = even && (length[axis] == 1 || (wraps[axis] && length[axis] % 2 == 0));
            longest = fmax(longest, length[axis]);
        }
        const double routed = busiest_link(length, wraps) * V / N / N / w;
        assert_close(sp_torus_bandwidth_s(SP_ALL_TO_ALL, V, &group), routed, 1e-12);
        if (even)
            assert_close(routed, V * longest / (4 * N * 2 * w), 1e-12);
    }
}

/* A message of many pieces passes along a chain of ranks, a piece at a time; the next message
 * starts when the last rank has all. The rest, beyond the bytes at the line's rate, is the time to
 * fill the chain; the closed form counts every step of it. */
static void chains(void **state)
{
    (void)state;
    for (int trial = 0; trial < 200; trial++) {
        const int ranks = 2 + rand() % 40, pieces = 1 + rand() % 30, messages = 1 + rand() % 5;
        const double piece = 524288, W = 5e10;
        int steps = 0;
        for (int message = 0; message < messages; message++) {
            int has[64] = {0}; /* pieces of each rank; the first owns them */
            has[0] = pieces;
            while (has[ranks - 1] < pieces) {
                for (int rank = ranks - 1; rank > 0; rank--)
                    has[rank] += has[rank - 1] > has[rank];
                steps++;
            }
        }
        assert_close(
            steps * piece / W,
            messages * pieces * piece / W + sp_broadcasts_fill_s(messages, ranks, piece, W), 1e-12);
    }
}

/* A transfer of x seconds at full rate over a link that reaches it as a / (a + b) is 1, with b the
 * ramp over x in root: its rate is x / (sqrt(x) + sqrt(r))^2 of the full one. A gather that was
 * not measured takes half of an all-reduce of the same array, which is a scatter and a gather.
 */
static void transports(void **state)
{
    (void)state;
    struct sp_device_group g = {
        .switched = true,
        .nodes = {.domain = 8, .domain_bytes_per_s = 4e11, .node_bytes_per_s = 1e11, .inner = 1},
        .hop_latency_s = NAN};
    g.transport.across[SP_ALL_REDUCE] =
        (struct sp_transport_curve){.share = 0.5, .start_s = 1e-4, .ramp_s = 4e-3, .growth = 0.1};
    for (int nodes = 2; nodes <= 64; nodes *= 2) {
        const double V = 1e9 * (1 + rand() % 10);
        double wire = 2 * V * (nodes - 1) / nodes / 1e11, rate = 0.5;
        g.nodes.devices = 8 * nodes;
        for (int M = 2; M <= nodes; M *= 2) /* a tenth of the first time for each doubling */
            wire += 2 * V * (nodes - 1) / nodes / 1e11 * 0.1;
        const double x = wire / rate,
                     reached = x / ((sqrt(x) + sqrt(4e-3)) * (sqrt(x) + sqrt(4e-3)));
        assert_close(sp_collective_s(SP_ALL_REDUCE, V, &g), 1e-4 + x / reached, 1e-12);
        assert_close(sp_collective_s(SP_ALL_GATHER, V, &g),
                     sp_collective_s(SP_ALL_REDUCE, V, &g) / 2, 1e-12);
        assert_close(sp_collective_s(SP_ALL_TO_ALL, V, &g), V * (nodes - 1) / nodes / nodes / 1e11,
                     1e-12); /* not measured: the bound */
    }
    g.nodes.devices = 8;
    assert_close(sp_collective_s(SP_ALL_REDUCE, 1e9, &g), 2 * 1e9 * 7 / 8 / 4e11, 1e-12);
    g.nodes.devices = 16; /* switches that add up are of no use to a gather */
    g.transport.across[SP_ALL_REDUCE] = (struct sp_transport_curve){.share = 2};
    assert_close(sp_collective_s(SP_ALL_REDUCE, 1e9, &g), 0.005, 1e-12);
    assert_close(sp_collective_s(SP_ALL_GATHER, 1e9, &g), 0.005, 1e-12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rings),
        cmocka_unit_test(exchanges),
        cmocka_unit_test(chains),
        cmocka_unit_test(transports),
        cmocka_unit_test(shards),
        cmocka_unit_test(order_of_dimensions),
        cmocka_unit_test(sharded_products),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

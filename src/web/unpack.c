/* Unpacks the page: LZMA by the specification of its format, of which only the bits adapt
 * otherwise: the chance of a 0 is the mean of a fast and a slow learner, or a mix of both and of
 * what followed the whole byte before and the two bytes before (adapted.mjs writes it). A separate
 * module, because a browser runs it three times as fast as a script. Literals depend on two bits of
 * the byte before (lc=2), nothing on the place (lp=0, pb=0).
 */
enum {
    IS_MATCH = 0,
    IS_REP = 192,
    IS_REP0 = 204,
    IS_REP0_LONG = 240,
    SLOT = 432,
    PLACE = 688,
    ALIGN = 803,
    LENGTH = 819,
    REP_LENGTH = 1333,
    LITERAL = 1847,
    DECISIONS = LITERAL + (0x300 << 2)
};

static unsigned short fast[DECISIONS], slow[DECISIONS];
static unsigned range, code, state;

/* Mixed bits: chances of 0 behind each byte and behind two of them, in 0x10000; the logarithms of
 * the odds of 0 by a chance in 0x1000; and what each of the four chances weighs, of literals behind
 * a literal and, by the bit that is likely, behind a copy; of whether there is a copy, and from a
 * distance of before. Those of lengths and distances would save 700 bytes and take half as long
 * again. M. Mahoney's lpaq. */
enum { CHANCES = 4, COPIES = 3, REPEATS, KINDS, DEPTHS = 8, FARTHER = 17, MOST_SEEN = 14 };
static struct history {
    unsigned short chance, seen;
} behind[KINDS << 16], farther[1 << FARTHER];
static short log_odds[0x1000];
static int weight[KINDS * DEPTHS][CHANCES], steps[MOST_SEEN + 1];
static const unsigned char *from;
static unsigned char *to;
static unsigned before, second; /* the byte before, and the one before that */

/* Reads a bit that is 0 with this chance in 0x10000, from which the learners of a decision learn.
 */
static unsigned read_bit(unsigned chance, unsigned i)
{
    const unsigned bound = (range >> 16) * chance;
    const unsigned is_one = code >= bound;
    if (is_one) {
        code -= bound;
        range -= bound;
        fast[i] -= fast[i] >> 3;
        slow[i] -= slow[i] >> 7;
    } else {
        range = bound;
        fast[i] += (0x8000 - fast[i]) >> 3;
        slow[i] += (0x8000 - slow[i]) >> 7;
    }
    while (range < 1u << 24) {
        range <<= 8;
        code = code << 8 | *from++;
    }
    return is_one;
}

/* Browsers compile a function well that is called often. */
__attribute__((noinline)) static unsigned bit(unsigned i)
{
    return read_bit(fast[i] + slow[i], i);
}

/* Probability (times 0x1000) of log odds (times 256), linear between points half a unit apart. */
static int chance_of(int odds)
{
    static const short points[] = {1,    2,    3,    6,    10,   16,   27,   45,   73,
                                   120,  194,  310,  488,  747,  1101, 1546, 2047, 2549,
                                   2994, 3348, 3607, 3785, 3901, 3975, 4022, 4050, 4068,
                                   4079, 4085, 4089, 4092, 4093, 4094};
    if (odds > 2047)
        return 4095;
    if (odds < -2047)
        return 1;
    const int at = (odds >> 7) + 16, part = odds & 127;
    return (points[at] * (128 - part) + points[at + 1] * part + 64) >> 7;
}

static void start_mix(void)
{
    for (int odds = -2047, next = 0; odds <= 2047; odds++)
        for (const int chance = chance_of(odds); next <= chance; next++)
            log_odds[next] = (short)odds;
    log_odds[0xfff] = 2047;
    for (unsigned i = 0; i < KINDS << 16; i++)
        behind[i].chance = 0x8000;
    for (unsigned i = 0; i < 1u << FARTHER; i++)
        farther[i].chance = 0x8000;
    for (int n = 0; n <= MOST_SEEN; n++)
        steps[n] = n == 0 ? 0x7fff : 655360 / (10 * n + 16);
    for (int i = 0; i < KINDS * DEPTHS * CHANCES; i++)
        weight[0][i] = 0x10000 / CHANCES;
}

/* What was seen N times moves by 1 / (N + 1.6) of its error, and by 1 / 15.6 at least. */
static void learn(struct history *h, unsigned is_one)
{
    h->chance += ((is_one ? 0 : 0xffff) - h->chance) * steps[h->seen] >> 16;
    h->seen += h->seen < MOST_SEEN;
}

/* A mixed bit: the errors of the mix teach its weights. `place`: below 256. */
__attribute__((noinline)) static unsigned mixed_bit(unsigned i, unsigned kind, unsigned place)
{
    struct history *const third = &behind[kind << 16 | before << 8 | place];
    struct history *const fourth =
        &farther[((second << 16 | before << 8 | place) * 0x9e3779b1u + kind * 0x85ebca6bu) >>
                 (32 - FARTHER)];
    const int odds[CHANCES] = {log_odds[fast[i] >> 3], log_odds[slow[i] >> 3],
                               log_odds[third->chance >> 4], log_odds[fourth->chance >> 4]};
    int *const by = weight[kind * DEPTHS + 31 - (unsigned)__builtin_clz(place | 1)];
    int sum = 0;
    for (int k = 0; k < CHANCES; k++)
        sum += by[k] * odds[k] >> 8;
    const int chance = chance_of(sum >> 8);
    const unsigned is_one = read_bit((unsigned)chance << 4, i);
    const int error = ((is_one ? 0 : 4095) - chance) * 6;
    for (int k = 0; k < CHANCES; k++)
        by[k] += (odds[k] * error + 0x2000) >> 14;
    learn(third, is_one);
    learn(fourth, is_one);
    return is_one;
}

static unsigned direct(unsigned count)
{
    unsigned value = 0;
    for (; count > 0; count--) {
        range >>= 1;
        const unsigned is_one = code >= range;
        if (is_one)
            code -= range;
        value = value << 1 | is_one;
        while (range < 1u << 24) {
            range <<= 8;
            code = code << 8 | *from++;
        }
    }
    return value;
}

__attribute__((noinline)) static unsigned tree(unsigned i, unsigned bits)
{
    unsigned at = 1;
    for (unsigned k = 0; k < bits; k++)
        at = at << 1 | bit(i + at);
    return at - (1u << bits);
}

static unsigned reverse_tree(unsigned i, unsigned bits)
{
    unsigned at = 1, value = 0;
    for (unsigned k = 0; k < bits; k++) {
        const unsigned one = bit(i + at);
        at = at << 1 | one;
        value |= one << k;
    }
    return value;
}

/* `match`: the byte at the last distance, whose bits are the likely ones until one differs; 0:
 * none. */
__attribute__((noinline)) static void literal(unsigned match)
{
    const unsigned i = LITERAL + 0x300 * (before >> 6);
    unsigned symbol = 1;
    for (; match && symbol < 0x100; match <<= 1) {
        const unsigned wanted = match >> 7 & 1,
                       one = mixed_bit(i + ((1 + wanted) << 8) + symbol, 1 + wanted, symbol);
        symbol = symbol << 1 | one;
        if (one != wanted)
            break;
    }
    while (symbol < 0x100)
        symbol = symbol << 1 | mixed_bit(i + symbol, 0, symbol);
    *to++ = (unsigned char)symbol;
    state = state < 4 ? 0 : state < 10 ? state - 3 : state - 6;
}

__attribute__((noinline)) static unsigned length(unsigned i)
{
    if (!bit(i))
        return 2 + tree(i + 2, 3);
    if (!bit(i + 1))
        return 10 + tree(i + 130, 3);
    return 18 + tree(i + 258, 8);
}

__attribute__((noinline)) static unsigned distance(unsigned size)
{
    const unsigned slot = tree(SLOT + 64 * (size < 6 ? size - 2 : 3), 6);
    if (slot < 4)
        return slot;
    const unsigned count = (slot >> 1) - 1, least = (2 | (slot & 1)) << count;
    if (slot < 14)
        return least + reverse_tree(PLACE + least - slot, count);
    return least + (direct(count - 4) << 4) + reverse_tree(ALIGN, 4);
}

/* Unpacks what follows a head of 13 bytes. */
__attribute__((export_name("unpack"))) void unpack(const unsigned char *packed, unsigned char *out)
{
    unsigned reps[4] = {0, 0, 0, 0};
    for (unsigned i = 0; i < DECISIONS; i++)
        fast[i] = slow[i] = 0x4000;
    start_mix();
    range = ~0u;
    for (from = packed + 13; from < packed + 18;)
        code = code << 8 | *from++;
    to = out;
    for (;;) {
        unsigned size = 1;
        before = to > out ? to[-1] : 0;
        second = to > out + 1 ? to[-2] : 0;
        if (!mixed_bit(IS_MATCH + 16 * state, COPIES, state)) {
            literal(state >= 7 ? to[~reps[0]] | 0x100 : 0);
            continue;
        }
        if (mixed_bit(IS_REP + state, REPEATS, state)) {
            unsigned which = 0;
            while (which < 3 && bit(IS_REP0 + 12 * which + state))
                which++;
            const unsigned rep = reps[which];
            for (unsigned k = which; k > 0; k--)
                reps[k] = reps[k - 1];
            reps[0] = rep;
            if (which > 0 || bit(IS_REP0_LONG + 16 * state)) {
                size = length(REP_LENGTH);
                state = state < 7 ? 8 : 11;
            } else {
                state = state < 7 ? 9 : 11;
            }
        } else {
            for (unsigned k = 3; k > 0; k--)
                reps[k] = reps[k - 1];
            size = length(LENGTH);
            state = state < 7 ? 7 : 10;
            reps[0] = distance(size);
            if (reps[0] == ~0u)
                return;
        }
        for (; size > 0; size--, to++)
            *to = to[~reps[0]];
    }
}

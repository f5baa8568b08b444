"""Checks every line of src/answer/derivations.def with sympy, all symbols positive: a THEN is an identity by what LET lines say, or the
last condition in another form; the last line's form is the one of include/scaleplan/forms. derivations.py SOURCE"""
import glob
import re
import sys

import sympy as sp

root = sys.argv[1]
TEXT = r'"((?:[^"\\]|\\.)*)"'
names = {"sqrt": sp.sqrt, "diff": sp.Function("diff"), "log": sp.log, "fmax": sp.Max, "max": sp.Max, "fmin": sp.Min, "min": sp.Min,
         "log2": sp.Function("log2", positive=True)}


def read(text):
    text = re.sub(r"\bpow\(", "Pow(", text).replace("^", "**").strip()
    text = re.sub(r"\b(\d+)\.0\b", r"\1", text)
    for name in re.findall(r"[A-Za-z_]\w*", text):
        if name not in names and name != "Pow":
            names[name] = sp.Symbol(name, positive=True)
    return sp.sympify(text, locals={**names, "Pow": sp.Pow}, rational=True)


def forms():
    """Each form's expression: its row's argument before the last."""
    found = {}
    for path in glob.glob(f"{root}/include/scaleplan/forms/*.def"):
        for row in re.split(r"^FORM\(", open(path).read(), flags=re.M)[1:]:
            parts, depth, quoted = [""], 0, False
            for c in row:
                quoted ^= c == '"'
                depth += 0 if quoted else (c == "(") - (c == ")")
                if depth < 0:
                    break
                if c == "," and depth == 0 and not quoted:
                    parts.append("")
                else:
                    parts[-1] += c
            found[parts[0]] = parts[4]
    return found


def sides(line):
    """Both sides and the sign; a < b is b > a."""
    left, sign, right = re.fullmatch(r"(.*?) ([=<>]) (.*)", line).groups()
    return (read(right), ">", read(left)) if sign == "<" else (read(left), sign, read(right))


def put_in(expression, known):
    before = None
    while before != expression:
        before = expression
        for symbol, value in known:
            expression = expression.subs(symbol, value)
    return expression.replace(names["diff"], sp.diff)


def is_zero(expression):
    return sp.simplify(sp.expand_log(sp.expand(expression), force=True)) == 0 or sp.simplify(expression) == 0


def same_condition(new, old):
    """Whether a > b is c > d times something positive, or to a positive power; of = anything but 0 times it."""
    (a, sign, b), (c, old_sign, d) = new, old
    if sign != old_sign:
        return False
    ratio = sp.simplify((a - b) / (c - d))
    if ratio.is_positive or (sign == "=" and (ratio.is_negative or ratio.is_nonzero)):
        return True
    if 0 in (a, b, c, d):
        return False
    new_log, old_log = (sp.expand(sp.expand_log(sp.log(x) - sp.log(y), force=True)) for x, y in ((a, b), (c, d)))
    shared = [part for part in new_log.atoms(sp.log) if old_log.coeff(part) != 0]
    if not shared:
        return False
    power = sp.simplify(new_log.coeff(shared[0]) / old_log.coeff(shared[0]))
    fits = power.is_positive or sign == "=" and power.is_negative
    return bool(fits and sp.simplify(new_log - power * old_log) == 0)


def check(form, lines, expression):
    known, condition, last = [], None, None
    for number, (kind, line) in enumerate(lines, 1):
        left, sign, right = sides(line)
        where = f"{form}, line {number}: {line}"
        if kind == "LET":
            assert sign == "=" and left.is_Symbol and left not in [name for name, _ in known], where
            known.append((left, right))
            continue
        found = put_in(left, known), sign, put_in(right, known)
        if kind == "ASK":
            condition = found
            continue
        holds = sign == "=" and is_zero(found[0] - found[2])
        if not holds:
            assert condition and same_condition(found, condition), f"{where}: does not follow"
            condition = found
            if sign == "=" and left.is_Symbol and left not in right.free_symbols:
                known.append((left, right))
        last = line
    final = read(re.split(r" [=<>] ", last)[1])
    assert lines[-1][0] == "THEN", f"{form}: the last line is no THEN"
    assert sp.simplify(final - read(expression)) == 0, f"{form}: {final} is not {expression}"


def derivations():
    text = open(f"{root}/src/answer/derivations.def").read()
    for block in re.split(r"^DERIVE\(", text, flags=re.M)[1:]:
        name = re.match(r"\w+", block)[0]
        yield name, re.findall(rf"\b(LET|ASK|THEN)\({TEXT}, {TEXT}\)", block)


def wrong(form, lines, expression):
    """A sign or a factor changed in any THEN must be found."""
    missed = []
    for i, (kind, line) in enumerate(lines):
        if kind != "THEN":
            continue
        for changed in (re.sub(r" ([=<>]) ", r" \1 3*", line), line.replace(" > ", " < ") if " > " in line else None):
            if not changed:
                continue
            try:
                check(form, lines[:i] + [(kind, changed)] + lines[i + 1:], expression)
                missed.append(changed)
            except AssertionError:
                pass
    assert not missed, f"{form}: these pass and are wrong: {missed}"


texts = forms()
n = 0
for form, lines in derivations():
    pairs = [(kind, line) for kind, line, _ in lines]
    check(form, pairs, texts[form])
    wrong(form, pairs, texts[form])
    n += 1
assert n >= 10
print(f"{n} derivations, every line follows")

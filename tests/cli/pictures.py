#!/usr/bin/env python3
"""pictures.py SVG JSON: looks at a picture as a reader does. Its texts, measured by the published widths of Helvetica and of
DejaVu Sans, lie in the picture and not on each other; no coordinate is not a number; and each box is as long as the number
of --plot FILE.json that it shows, on one scale. pictures.py --bars SVG NUMBER...: boxes of these lengths follow each other."""
import json
import math
import re
import sys
import xml.etree.ElementTree

SVG = "{http://www.w3.org/2000/svg}"
# Advance widths from space to ~, in thousandths: regular and bold.
HELVETICA = ("""
    278 278 355 556 556 889 667 191 333 333 389 584 278 333 278 278 556 556 556 556 556 556 556 556 556 556 278
    278 584 584 584 556 1015 667 667 722 722 667 611 778 722 278 500 667 556 833 722 778 667 778 722 667 611 722
    667 944 667 667 611 278 278 278 469 556 333 556 556 500 556 556 278 556 556 222 222 500 222 833 556 556 556
    556 333 500 278 556 500 722 500 500 500 334 260 334 584""", """
    278 333 474 556 556 889 722 238 333 333 389 584 278 333 278 278 556 556 556 556 556 556 556 556 556 556 333
    333 584 584 584 611 975 722 722 722 722 667 611 778 722 278 556 722 611 833 722 778 667 778 722 667 611 722
    667 944 667 667 611 333 278 333 584 556 333 556 611 556 611 556 333 611 611 278 278 556 278 889 611 611 611
    611 389 556 333 611 556 778 556 556 500 389 280 389 584""")
DEJAVU = ("""
    318 401 460 838 637 951 780 275 391 391 500 838 318 361 318 337 637 637 637 637 637 637 637 637 637 637 337
    337 838 838 838 531 1000 685 687 699 771 632 576 775 752 295 295 656 558 863 749 788 604 788 695 635 611 732
    685 989 686 611 686 391 337 391 838 500 500 613 635 550 635 616 353 635 634 278 278 580 278 975 634 612 635
    635 412 521 393 634 592 818 592 592 525 637 337 637 838""", """
    349 457 521 838 696 1002 873 307 458 458 523 838 380 416 380 366 696 696 696 696 696 696 696 696 696 696 400
    400 838 838 838 581 1000 774 763 734 831 684 684 821 837 373 373 775 638 996 837 851 733 851 771 721 683 813
    774 1104 771 725 726 458 366 458 838 500 500 675 716 593 716 679 436 716 712 343 343 666 343 1042 712 688
    716 716 494 596 479 712 652 924 646 652 583 712 366 712 838""")
failed = []


def wrong(text):
    failed.append(text)
    print(f"{sys.argv[1]}: {text}", file=sys.stderr)


def width(text, font, bold):
    table = list(map(int, font[bold].split()))
    return sum(table[ord(c) - 32] if " " <= c <= "~" else 1000 for c in text) / 1000


def boxes(root, font):
    """The area of each text: its letters stand 0.72 of the size over the baseline and hang 0.21 under it."""
    for text in root.iter(SVG + "text"):
        size = float(text.get("font-size", 12))
        wide = size * width(text.text or "", font, text.get("font-weight") is not None)
        x, y = float(text.get("x")), float(text.get("y"))
        left = x - {"middle": wide / 2, "end": wide}.get(text.get("text-anchor"), 0)
        yield left, left + wide, y - 0.72 * size, y + 0.21 * size, text.text


def check_texts(root):
    _, _, across, down = map(float, root.get("viewBox").split())
    for name, font in (("Helvetica", HELVETICA), ("DejaVu Sans", DEJAVU)):
        all_boxes = list(boxes(root, font))
        for i, (left, right, top, bottom, text) in enumerate(all_boxes):
            if left < -0.01 or right > across + 0.01 or top < -0.01 or bottom > down + 0.01:
                wrong(f'in {name} "{text}" leaves the picture: {left:.1f} to {right:.1f} of {across}')
            for other in all_boxes[:i]:
                if min(right, other[1]) - max(left, other[0]) > 0.3 and min(bottom, other[3]) - max(top, other[2]) > 0.3:
                    wrong(f'in {name} "{text}" lies on "{other[4]}"')
    return len(all_boxes)


def check_numbers(root):
    for element in root.iter():
        for key, value in element.attrib.items():
            if re.search(r"(?i)(?<![a-z])-?(nan|inf)", value) or (key in ("width", "height") and float(value) < 0):
                wrong(f'{key}="{value}"')


def rectangles(root):
    """The boxes of the plot: those with something to say."""
    for rect in root.iter(SVG + "rect"):
        if rect.find(SVG + "title") is not None:
            yield tuple(float(rect.get(key)) for key in ("x", "y", "width", "height"))


def check_lengths(root, figure):
    """In the order of the figure, panel by panel: one scale a panel."""
    drawn = list(rectangles(root))
    for panel in figure["panels"]:
        values = [s["values"][i:i + 4] for s in panel["series"] if s["kind"] == "boxes" for i in range(0, len(s["values"]), 4)]
        if not values or len(values) > len(drawn):
            continue
        mine, drawn = drawn[:len(values)], drawn[len(values):]
        low, high = panel["x"]["min"], panel["x"]["max"]
        place = math.log if panel["x"].get("log") else float
        shown = [(place(max(v[0], low)), place(min(v[1], high))) for v in values]
        start, left = min((a, box[0]) for (a, _), box in zip(shown, mine))
        end, right = max((b, box[0] + box[2]) for (_, b), box in zip(shown, mine))
        scale = (right - left) / (end - start)
        for (x, _, wide, _), (a, b) in zip(mine, shown):
            if abs(wide - (b - a) * scale) > 0.03 or abs(x - left - (a - start) * scale) > 0.03:
                wrong(f"the box of {a} to {b} stands at {x}, {wide} px long; {scale:.4g} px are 1")


def check_bars(root, wanted):
    drawn = list(rectangles(root))
    scale = max(box[2] for box in drawn) / max(wanted)
    lengths = [box[2] for box in drawn]
    for value in wanted:
        if value > 0 and not any(math.isclose(value * scale, length, abs_tol=0.03) for length in lengths):
            wrong(f"no box is as long as {value}, {value * scale:.2f} px: {lengths}")


if sys.argv[1] == "--bars":
    sys.argv.pop(1)
    check_bars(xml.etree.ElementTree.parse(sys.argv[1]).getroot(), [float(word) for word in sys.argv[2:]])
else:
    picture = xml.etree.ElementTree.parse(sys.argv[1]).getroot()
    if picture.get("role") != "img" or not picture.findtext(SVG + "title") or not picture.findtext(SVG + "desc"):
        wrong("no title, description or role")
    check_numbers(picture)
    if check_texts(picture) < 3:
        wrong("hardly a text")
    with open(sys.argv[2], encoding="utf-8") as file:
        check_lengths(picture, json.load(file))
sys.exit(1 if failed else 0)

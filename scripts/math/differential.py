"""Compares the answer checker with math-verify on generated pairs.

Writes pairs of answers over all kinds, each with the verdict of math-verify 0.8.0, in the format of the golden vectors:

    python3 -m venv .venv && .venv/bin/pip install math-verify==0.8.0 latex2sympy2_extended==1.10.2 antlr4-python3-runtime==4.13.2
    .venv/bin/python scripts/math/differential.py --pairs 20000 --seed 1 --output /tmp/pairs.jsonl
    npm run conformance -- math /tmp/pairs.jsonl
"""

import argparse
import json
import logging
import random
import time
from fractions import Fraction

from math_verify import ExprExtractionConfig, LatexExtractionConfig, parse, verify

logging.disable(logging.CRITICAL)

GOLD = (LatexExtractionConfig(),)
PREDICTION = (ExprExtractionConfig(), LatexExtractionConfig())


def reward(gold, text):
    """What the original's library check returns for an expected answer and the text of a rollout."""
    gold = gold.strip()
    if gold.startswith("\\(") and gold.endswith("\\)"):
        gold = gold[2:-2]
    if gold.startswith("$") and gold.endswith("$") and len(gold) > 1:
        gold = gold[1:-1]
    try:
        golds = parse("\\boxed{" + gold + "}", GOLD)
        if not golds:
            return 0.0
        return 1.0 if verify(golds, parse(text, PREDICTION)) else 0.0
    except Exception:  # the original scores any failure of the library as 0
        return 0.0


class Writer:
    """Writes random answers: each method returns two texts of one value, and sometimes of two values."""

    def __init__(self, seed):
        self.random = random.Random(seed)

    def chance(self, probability):
        return self.random.random() < probability

    def pick(self, *choices):
        return self.random.choice(choices)

    def whole(self, low=-50, high=50):
        return self.random.randint(low, high)

    def natural(self, high=40):
        return self.random.randint(1, high)

    def letter(self):
        return self.pick("x", "y", "n", "a", "t", "k")

    def frac(self, top, bottom):
        return self.pick("\\frac", "\\dfrac", "\\tfrac") + "{" + str(top) + "}{" + str(bottom) + "}"

    def nudge(self, value):
        """The same value, or one that is a little different."""
        return value if self.chance(0.65) else value + self.pick(-1, 1, 2, 10)

    # numbers

    def integer(self):
        value = self.whole(-10**self.natural(9), 10**self.natural(9))
        return self.integer_text(value), self.integer_text(self.nudge(value))

    def integer_text(self, value):
        grouped = f"{value:,}"
        return self.pick(
            str(value), str(value), grouped, grouped.replace(",", "{,}"), grouped.replace(",", ",\\!"), f"{value}.0", f"{{{value}}}", f"+{value}" if value > 0 else str(value)
        )

    def decimal(self):
        digits = self.natural(7)
        value = Fraction(self.whole(-10**6, 10**6), 10**digits)
        other = value if self.chance(0.6) else value + Fraction(self.pick(-1, 1), 10 ** self.natural(9))
        return self.decimal_text(value), self.decimal_text(other)

    def decimal_text(self, value):
        plain = f"{float(value):.10g}"
        return self.pick(plain, plain, plain + "0" if "." in plain and "e" not in plain else plain, self.frac(value.numerator, value.denominator), plain.replace("0.", ".", 1) if plain.startswith("0.") else plain)

    def rounded(self):
        value = Fraction(self.natural(30), self.pick(3, 6, 7, 9, 11, 13))
        places = self.natural(9)
        return self.frac(value.numerator, value.denominator), f"{float(value):.{places}f}"

    def fraction(self):
        top, bottom = self.whole(), self.natural()
        factor = self.natural(6)
        other = (top * factor, bottom * factor) if self.chance(0.65) else (top + 1, bottom)
        return self.fraction_text(top, bottom), self.fraction_text(*other)

    def fraction_text(self, top, bottom):
        minus = f"-{self.frac(-top, bottom)}" if top < 0 else self.frac(top, bottom)
        single = f"\\frac{top}{bottom}" if 0 < top < 10 and bottom < 10 else minus
        return self.pick(self.frac(top, bottom), minus, f"{top}/{bottom}", f"{top} / {bottom}", single, f"{top} \\div {bottom}" if top > 0 else minus, f"\\left({minus}\\right)")

    def mixed(self):
        whole, bottom = self.natural(12), self.natural(9) + 1
        top = self.random.randint(1, bottom - 1)
        improper = self.fraction_text(whole * bottom + self.nudge(top), bottom)
        return self.pick(f"{whole}\\frac{{{top}}}{{{bottom}}}", f"{whole} \\frac{{{top}}}{{{bottom}}}", f"{whole}\\tfrac{{{top}}}{{{bottom}}}"), improper

    def percent(self):
        value = self.natural(300)
        other = self.nudge(value)
        return f"{value}{self.pick('%', chr(92) + '%', ' percent', chr(92) + ' ' + chr(92) + '%')}", self.pick(
            f"{other}\\%", f"{other}%", str(other), f"{other / 100:g}", self.frac(other, 100), f"{other} \\text{{ percent}}"
        )

    def money(self):
        value = self.natural(9000)
        cents = self.pick("", ".50", ".25", ".00")
        return f"{self.pick('$', chr(92) + '$', '')}{value}{cents}", f"{self.pick(chr(92) + '$', '')}{self.nudge(value):,}{cents}{self.pick('', ' ' + chr(92) + 'text{ dollars}', ' dollars')}"

    def unit(self):
        value = self.natural(500)
        unit = self.pick("cm", "m", "km", "kg", "g", "hours", "minutes", "seconds", "meters", "miles", "degrees", "square units", "apples", "students", "m/s", "cm^2", "mph")
        wrapped = self.pick(f"\\text{{ {unit}}}", f"\\ \\text{{{unit}}}", f" {unit}", f"\\,\\mathrm{{{unit}}}", f"~\\text{{{unit}}}", f"\\mbox{{ {unit}}}")
        return self.pick(str(value), f"{value}{wrapped}"), f"{self.nudge(value)}{wrapped}"

    def scientific(self):
        mantissa, exponent = self.pick("3", "6.02", "1.5", "2.5", "9.81"), self.whole(-6, 9)
        times = self.pick("\\times", "\\cdot", "*")
        shifted = f"{float(mantissa) * 10:g}{times}10^{{{exponent - 1}}}"
        plain = f"{float(mantissa) * 10.0**exponent:.12g}"
        return f"{mantissa} {times} 10^{{{exponent}}}", self.pick(f"{mantissa}{times}10^{{{self.nudge(exponent)}}}", plain, shifted)

    def repeating(self):
        digits = self.natural(99)
        width = len(str(digits))
        return f"0.\\overline{{{digits}}}", self.fraction_text(self.nudge(digits), 10**width - 1)

    def based(self):
        value, base = self.natural(200), self.pick(2, 3, 8)
        digits = ""
        rest = value
        while rest:
            digits, rest = str(rest % base) + digits, rest // base
        return f"{digits}_{self.pick(str(base), '{' + str(base) + '}')}", self.pick(f"{digits}_{{{base}}}", digits, str(value))

    # exact values

    def radical(self):
        factor, root = self.natural(6), self.pick(2, 3, 5, 6, 7, 10)
        outside, inside = f"{factor if factor > 1 else ''}\\sqrt{{{root}}}", f"\\sqrt{{{factor * factor * root}}}"
        return self.pick(
            (outside, inside),
            (f"\\sqrt{root}" if factor == 1 else outside, f"{outside}+{self.pick('0', '1')}"),
            (self.frac(1, f"\\sqrt{{{root}}}"), self.frac(f"\\sqrt{{{root}}}", self.nudge(root))),
            (f"\\sqrt[3]{{{factor**3}}}", str(self.nudge(factor))),
            (outside, f"{float(factor) * root**0.5:.{self.natural(8)}f}"),
            (f"{root}^{{1/2}}", f"\\sqrt{{{root}}}"),
            (f"(1+\\sqrt{{{root}}})^2", f"{1 + root}+2\\sqrt{{{root}}}"),
            (f"\\frac{{{factor}+\\sqrt{{{root}}}}}{{2}}", f"\\frac{{{factor}}}{{2}}+\\frac{{\\sqrt{{{root}}}}}{{{self.pick(2, 2, 3)}}}"),
        )

    def constant(self):
        top, bottom = self.natural(9), self.natural(9)
        pi = self.pick("\\pi", "\\pi", "π", "\\pi ")
        return f"\\frac{{{top}{pi}}}{{{bottom}}}", self.pick(
            f"\\frac{{{self.nudge(top)}}}{{{bottom}}}\\pi", f"{top}\\pi/{bottom}", f"{3.141592653589793 * top / bottom:.{self.natural(8)}f}", f"{top}\\cdot\\frac{{\\pi}}{{{bottom}}}", f"\\frac{{{top * 2}\\pi}}{{{bottom * 2}}}"
        )

    def power(self):
        base, exponent = self.natural(9), self.natural(9)
        other = self.nudge(exponent)
        return f"{base}^{{{exponent}}}" if exponent > 9 or self.chance(0.6) else f"{base}^{exponent}", self.pick(str(base**other), f"{base}^{other}", f"{base}^{{{other}}}", f"{base}\\cdot {base}^{{{exponent - 1}}}", f"{base}**{exponent}")

    def combinatorial(self):
        n, k = self.natural(14), self.natural(5)
        import math

        value = math.comb(n, k)
        return self.pick(f"\\binom{{{n}}}{{{k}}}", f"{{{n} \\choose {k}}}", f"\\dbinom{{{n}}}{{{k}}}"), self.pick(str(self.nudge(value)), f"\\frac{{{n}!}}{{{k}!\\cdot {max(n - k, 0)}!}}", f"\\binom{{{n}}}{{{n - k}}}")

    def factorial(self):
        n = self.natural(9)
        import math

        return f"{n}!", self.pick(str(self.nudge(math.factorial(n))), f"{n}\\cdot {n - 1}!", f"{n}!")

    def logarithm(self):
        base, exponent = self.pick(2, 3, 5, 10), self.natural(5)
        return self.pick(
            (f"\\log_{base} {base**exponent}" if base < 10 else f"\\log_{{10}} {10**exponent}", str(self.nudge(exponent))),
            (f"\\ln {base**exponent}", f"{exponent}\\ln {base}"),
            (f"\\ln({base}) + \\ln({exponent})", f"\\ln({base * self.nudge(exponent)})"),
            (f"e^{{\\ln {base}}}", str(base)),
            (f"\\log_{{{base}}}({exponent + 1})", f"\\frac{{\\ln {exponent + 1}}}{{\\ln {base}}}"),
            (f"\\log {10**exponent}", str(exponent)),
        )

    def trigonometric(self):
        return self.pick(
            (f"\\sin\\frac{{\\pi}}{{{self.pick(2, 3, 4, 6)}}}", self.pick("1", "\\frac{1}{2}", "\\frac{\\sqrt{3}}{2}", "\\frac{\\sqrt2}{2}")),
            ("\\cos(2x)", self.pick("1-2\\sin^2 x", "2\\cos^2(x)-1", "\\cos^2x+\\sin^2x")),
            ("\\sin(2x)", self.pick("2\\sin x\\cos x", "\\sin x \\cos x", "2 \\sin{x} \\cos{x}")),
            ("\\tan x", self.pick("\\frac{\\sin x}{\\cos x}", "\\frac{\\cos x}{\\sin x}")),
            ("\\sin^2\\theta+\\cos^2\\theta", self.pick("1", "2")),
            ("\\arctan 1", self.pick("\\frac{\\pi}{4}", "\\pi/2")),
            (f"\\arcsin\\left({self.pick('1', '0')}\\right)", self.pick("\\frac{\\pi}{2}", "0")),
            (f"{self.natural(360)}^\\circ", self.pick("45", "90^\\circ", "60^{\\circ}", "30")),
            ("\\sec^2 x - \\tan^2 x", "1"),
            ("\\sinh x", "\\frac{e^x-e^{-x}}{2}"),
        )

    def complex(self):
        real, imaginary = self.natural(9), self.natural(9)
        return f"{real}+{imaginary}i", self.pick(f"{imaginary}i+{real}", f"{real}+{self.nudge(imaginary)}i", f"{real} + {imaginary} i", f"{real}+{imaginary}\\mathrm{{i}}", f"{real}-(-{imaginary}i)")

    # expressions

    def polynomial(self):
        x, a, b = self.letter(), self.whole(-9, 9), self.whole(-9, 9)
        c = self.nudge(b)
        factored = f"({x}{a:+d})({x}{b:+d})"
        expanded = f"{x}^2{a + c:+d}{x}{a * c:+d}"
        return self.pick(
            (factored, expanded),
            (expanded, factored),
            (f"{x}^2+{self.natural(9)}{x}", f"{x}({x}+{self.natural(9)})"),
            (f"({x}{a:+d})^2", f"{x}^2{2 * a:+d}{x}{self.nudge(a * a):+d}"),
            (f"({x}+1)^3", f"{x}^3+3{x}^2+3{x}+1"),
            (f"{a}{x}^2+{abs(b)}{x}+1", f"1+{abs(b)}{x}+{self.nudge(a)}{x}^2" if a != 0 else "1"),
            (f"{x}^{{10}}-1", f"({x}^5-1)({x}^5+1)"),
            (f"xy+{abs(a)}yz", f"y(x+{abs(a)}z)"),
            (f"(a+b)^2-(a-b)^2", self.pick("4ab", "2ab")),
        )

    def rational(self):
        x, a = self.letter(), self.natural(9)
        return self.pick(
            (f"\\frac{{{x}^2-{a * a}}}{{{x}-{a}}}", f"{x}{self.pick('+', '+', '-')}{a}"),
            (f"\\frac{{1}}{{{x}}}+\\frac{{1}}{{{x}+1}}", f"\\frac{{2{x}+{self.pick(1, 1, 2)}}}{{{x}({x}+1)}}"),
            (f"\\frac{{{a}}}{{{x}}}", f"{a}{x}^{{-1}}"),
            (f"\\frac{{n(n+1)}}{{2}}", self.pick("\\frac{n^2+n}{2}", "\\frac12 n(n+1)", "\\frac{n(n-1)}{2}", "\\binom{n+1}{2}")),
            (f"\\frac{{1}}{{1-{x}}}", f"-\\frac{{1}}{{{x}-1}}"),
            (f"\\frac{{{x}}}{{\\frac{{{a}}}{{2}}}}", f"\\frac{{2{x}}}{{{a}}}"),
        )

    def exponential(self):
        x, a = self.letter(), self.natural(5)
        return self.pick(
            (f"2^{{{x}+1}}", f"2\\cdot 2^{{{x}}}"),
            (f"e^{{{a}{x}}}", f"(e^{{{x}}})^{{{self.nudge(a)}}}"),
            (f"\\sqrt{{{x}^2}}", self.pick(x, f"|{x}|")),
            (f"4^{{{x}}}", f"2^{{2{x}}}"),
            (f"\\ln({x}^2)", f"2\\ln {x}"),
            (f"{x}^{{1/2}}", f"\\sqrt{{{x}}}"),
            (f"\\sqrt{{{a * a}{x}}}", f"{a}\\sqrt{{{x}}}"),
            (f"e^{{-{x}}}", f"\\frac{{1}}{{e^{{{x}}}}}"),
        )

    def calculus(self):
        return self.pick(
            ("\\int_0^1 x^2 dx", self.pick("\\frac{1}{3}", "\\frac12")),
            ("\\sum_{k=1}^{10} k", self.pick("55", "45")),
            ("\\sum_{k=1}^{n} k", "\\frac{n(n+1)}{2}"),
            ("\\frac{d}{dx} x^2", self.pick("2x", "x")),
            ("\\lim_{x\\to 0}\\frac{\\sin x}{x}", self.pick("1", "0")),
            ("\\prod_{k=1}^{5} k", "120"),
            ("\\int x dx", "\\frac{x^2}{2}"),
            ("x^2 + C", self.pick("C + x^2", "x^2")),
            ("\\lfloor 3.7 \\rfloor", self.pick("3", "4")),
            ("\\lceil 3.2 \\rceil", self.pick("4", "3")),
            ("|{-5}|", "5"),
            ("\\gcd(12,18)", "6"),
            ("\\max(3,7)", "7"),
        )

    def named(self):
        return self.pick(
            (f"f(x) = {self.natural(9)}x", f"{self.natural(9)}x"),
            ("f(x)=x^2", self.pick("x^2", "f(x) = x^2", "y = x^2")),
            ("a_n = 2n+1", self.pick("2n+1", "a_{n}=2n+1")),
            ("x_1", self.pick("x_{1}", "x_2", "x1")),
            ("\\alpha+\\beta", "\\beta+\\alpha"),
            ("\\vec{v}", self.pick("v", "\\vec v")),
            ("\\hat{x}", self.pick("\\hat x", "x")),
            ("AB", self.pick("BA", "ab", "A B")),
            ("\\overline{AB}", "AB"),
            ("\\angle ABC", "\\angle{ABC}"),
            ("\\triangle ABC", "ABC"),
        )

    # structures

    def elements(self, low=2, high=4):
        return [self.pick(str(self.whole(-9, 9)), self.fraction_text(self.natural(9), self.natural(9)), f"\\sqrt{{{self.natural(9)}}}", str(self.whole(0, 99))) for _ in range(self.random.randint(low, high))]

    def changed(self, items):
        items = list(items)
        if self.chance(0.3):
            items[self.random.randrange(len(items))] = str(self.whole(-9, 9))
        if self.chance(0.3):
            self.random.shuffle(items)
        return items

    def set(self):
        items = self.elements(1, 4)
        others = self.changed(items)
        return "\\{" + ", ".join(items) + "\\}", self.pick("\\{" + ",".join(others) + "\\}", "\\left\\{" + ", ".join(others) + "\\right\\}", ", ".join(others), ",".join(others), "(" + ",".join(others) + ")", " and ".join(others), "\\text{ or }".join(others))

    def listed(self):
        items = self.elements(2, 4)
        others = self.changed(items)
        return self.pick(", ".join(items), ",".join(items), " \\text{ and } ".join(items), "; ".join(items)), self.pick(", ".join(others), ",".join(others), "\\{" + ",".join(others) + "\\}", " or ".join(others))

    def tuple(self):
        items = self.elements(2, 4)
        others = self.changed(items)
        opening, closing = self.pick(("(", ")"), ("\\left(", "\\right)"), ("[", "]"), ("\\langle ", "\\rangle"))
        return "(" + ", ".join(items) + ")", opening + ",".join(others) + closing

    def interval(self):
        low = self.whole(-9, 5)
        high = low + self.natural(9)
        left, right = self.pick(str(low), "-\\infty"), self.pick(str(high), "\\infty")
        opening, closing = self.pick("(", "["), self.pick(")", "]")
        first = f"{opening}{left},{right}{closing}"
        x = self.pick("x", "x", "t")
        relation = f"{left} {'<' if opening == '(' else self.pick(chr(92) + 'le', chr(92) + 'leq')} {x} {'<' if closing == ')' else chr(92) + 'le'} {right}"
        other_right = self.pick(right, right, str(high + 1))
        return self.pick((first, f"{opening}{left}, {other_right}{closing}"), (first, f"\\left{opening}{left}, {right}\\right{closing}"), (first, relation), (relation, first), (first, f"x \\in {first}"), (first, f"{self.pick('(', '[')}{left},{right}{closing}"))

    def union(self):
        a, b = self.whole(-9, 0), self.natural(9)
        first, second = f"(-\\infty,{a}{self.pick(')', ']')}", f"{self.pick('(', '[')}{b},\\infty)"
        return f"{first}\\cup{second}", self.pick(f"{second} \\cup {first}", f"{first} \\cup {second}", f"x<{a} \\text{{ or }} x>{b}", f"\\mathbb{{R}}\\setminus[{a},{b}]", f"(-\\infty,{a})\\cup({b},\\infty)")

    def inequality(self):
        x, a = self.letter(), self.whole(-9, 9)
        sign, flipped = self.pick(("<", ">"), (">", "<"), ("\\le", "\\ge"), ("\\geq", "\\leq"), ("\\leqslant", "\\geqslant"))
        return f"{x} {sign} {a}", self.pick(f"{self.nudge(a)} {flipped} {x}", f"{x}{sign}{self.nudge(a)}", f"{x}{flipped}{a}", f"2{x} {sign} {2 * a}", f"{x} - {a} {sign} 0" if a >= 0 else f"{x}+{-a} {sign} 0", f"(-\\infty,{a})", f"[{a},\\infty)", f"{a}")

    def equation(self):
        x, a, b = self.letter(), self.whole(-9, 9), self.natural(9)
        return self.pick(
            (f"{x}={a}", self.pick(str(self.nudge(a)), f"{x} = {self.nudge(a)}", f"y={a}", f"{a}={x}")),
            (str(a), f"{x}={self.nudge(a)}"),
            (f"y={b}x{a:+d}", self.pick(f"y-{b}x={self.nudge(a)}", f"{b}x-y{a:+d}=0", f"y = {b} x {a:+d}", f"{b}x{a:+d}")),
            (f"x^2+y^2={b}", self.pick(f"2x^2+2y^2={2 * b}", f"x^2+y^2={self.nudge(b)}", f"x^2+y^2-{b}=0")),
            (f"{x}={a},{b}", self.pick(f"{x}={b},{a}", f"\\{{{a},{b}\\}}", f"{a},{b}", f"{x}={a} \\text{{ or }} {x}={b}")),
            (f"x={a}, y={b}", self.pick(f"y={b}, x={a}", f"({a},{b})", f"x={a},y={self.nudge(b)}")),
            (f"{x} = {a} = {a}", f"{a}"),
            (f"{x} \\approx {a}", f"{a}"),
            (f"{x}\\ne {b}", self.pick(f"{x}\\neq {b}", f"{b}")),
        )

    def matrix(self):
        rows = [[self.whole(-9, 9) for _ in range(2)] for _ in range(2)]
        others = [list(row) for row in rows]
        if self.chance(0.35):
            others[self.whole(0, 1)][self.whole(0, 1)] += 1
        text = lambda kind, values: f"\\begin{{{kind}}}" + " \\\\ ".join(" & ".join(str(v) for v in row) for row in values) + f"\\end{{{kind}}}"
        return text(self.pick("pmatrix", "bmatrix"), rows), text(self.pick("pmatrix", "bmatrix", "matrix"), others)

    def vector(self):
        items = [str(self.whole(-9, 9)) for _ in range(3)]
        others = self.changed(items)
        return "\\begin{pmatrix}" + " \\\\ ".join(items) + "\\end{pmatrix}", self.pick("\\begin{bmatrix}" + "\\\\".join(others) + "\\end{bmatrix}", "(" + ",".join(others) + ")")

    def plus_minus(self):
        a, b = self.natural(9), self.natural(9)
        return f"{a}\\pm {b}", self.pick(f"{a}\\pm{self.nudge(b)}", f"{a + b}, {a - b}", f"\\{{{a - b},{a + b}\\}}", f"{a}\\mp {b}", f"\\pm {b}+{a}")

    def signs(self):
        root = self.pick("2", "3", "\\sqrt{2}", "\\frac{1}{2}")
        return f"\\pm {root}", self.pick(f"{root}, -{root}", f"-{root},{root}", f"\\pm{root}", root, f"\\{{-{root}, {root}\\}}")

    def text(self):
        word = self.pick("Yes", "No", "True", "Monday", "blue", "even", "Alice", "(B)", "C", "north", "cannot be determined", "infinitely many", "none")
        other = word if self.chance(0.7) else self.pick("No", "False", "red", "A")
        return f"\\text{{{word}}}", self.pick(f"\\text{{{other}}}", f"\\text{{{other.lower()}}}", other, f"\\mathrm{{{other}}}", f"\\textbf{{{other}}}", f"\\text{{({other})}}", f"\\text{{ {other}.}}")

    def odd(self):
        return self.pick(
            ("\\emptyset", self.pick("\\varnothing", "\\{\\}", "\\emptyset", "\\text{no solution}")),
            ("\\mathbb{R}", self.pick("(-\\infty,\\infty)", "\\mathbb{R}", "\\mathbb{Z}")),
            ("\\infty", self.pick("infinity", "+\\infty", "-\\infty", "∞")),
            ("12:30", self.pick("12:30", "12\\!:\\!30", "\\frac{12}{30}")),
            (f"{self.natural(9)}:{self.natural(9)}", f"\\frac{{{self.natural(9)}}}{{{self.natural(9)}}}"),
            ("3x", self.pick("3 x", "3\\cdot x", "3*x", "x3", "3\\times x")),
            (str(self.natural(99)), f"{self.natural(99)}."),
            ("2\\frac12", self.pick("2.5", "\\frac52", "1")),
            ("", "5"),
            ("7", ""),
            ("\\frac{1}{0}", "\\infty"),
            ("0", self.pick("-0", "0.0", "0\\%", "\\frac{0}{5}")),
            ("1,2", self.pick("1.2", "1, 2", "12")),
            ("0.5", self.pick(".5", "\\frac{1}{2}", "50\\%", "1/2", "0,5")),
        )

    KINDS = (
        "integer decimal rounded fraction mixed percent money unit scientific repeating based radical constant power combinatorial factorial logarithm trigonometric "
        "complex polynomial rational exponential calculus named set listed tuple interval union inequality equation matrix vector plus_minus signs text odd"
    ).split()

    def sentence(self, answer):
        """The answer as a model writes it at the end of its text."""
        bare = not any(mark in answer for mark in "\\{}^_=<>")
        choices = [
            f"\\boxed{{{answer}}}",
            f"$\\boxed{{{answer}}}$",
            f"Therefore, the answer is $\\boxed{{{answer}}}$.",
            f"So we have $x+1=3$ in the end.\n\n\\[\\boxed{{{answer}}}\\]",
            f"The final answer is ${answer}$. I hope it is correct.",
            f"The final answer is $\\boxed{{{answer}}}$",
            f"After 3 steps with 12 cases: the answer is ${answer}$.",
            f"**Answer:** ${answer}$",
            f"$${answer}$$",
            f"\\({answer}\\)",
            f"We add 2 and 3.\n\nFinal answer: \\boxed{{{answer}}}\n",
            f"\\fbox{{{answer}}}" if bare else f"\\[ {answer} \\]",
        ]
        if bare:
            choices += [answer, f"The answer is {answer}.", f"Answer: {answer}", f"= {answer}"]
        return self.random.choice(choices)

    def pair(self):
        kind = self.pick(*self.KINDS)
        gold, answer = getattr(self, kind)()
        if self.chance(0.05):
            other = self.pick(*self.KINDS)
            kind, answer = f"{kind}-{other}", getattr(self, other)()[1]
        if self.chance(0.1):
            gold, answer = answer, gold
        if self.chance(0.06):
            gold = f"${gold}$"
        return kind, gold, self.pick(f"\\boxed{{{answer}}}", self.sentence(answer))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--output", required=True)
    arguments = parser.parse_args()
    writer = Writer(arguments.seed)
    seconds = 0.0
    with open(arguments.output, "w", encoding="utf-8") as output:
        for number in range(arguments.pairs):
            kind, gold, text = writer.pair()
            start = time.process_time()
            verdict = reward(gold, text)
            seconds += time.process_time() - start
            row = {"id": f"{kind}-{number}", "gold": gold, "generated_text": text, "expected": {"library_reward": verdict}}
            output.write(json.dumps(row) + "\n")
    print(f"{arguments.pairs} pairs, {seconds / arguments.pairs * 1000:.1f} ms CPU of math-verify per pair")


if __name__ == "__main__":
    main()

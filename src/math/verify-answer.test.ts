import { describe, expect, it } from "vitest";
import { type Mode, parse, printNode, verifyAnswer } from "./index.ts";

const boxed = (gold: string, answer: string, mode: Mode = "compat") =>
  verifyAnswer(gold, `So the result is $\\boxed{${answer}}$.`, { mode });

describe("equal answers", () => {
  it.each([
    ["\\frac{1}{2}", "0.5"],
    ["10,000", "1\\times10^{4}"],
    ["1.5", "1\\frac{1}{2}"],
    ["\\frac{1}{3}", "0.333333"],
    ["25\\%", "\\frac{1}{4}"],
    ["2\\sqrt{3}", "\\frac{6}{\\sqrt{3}}"],
    ["\\sqrt{3+2\\sqrt{2}}", "1+\\sqrt{2}"],
    ["\\ln 2", "-\\ln\\frac{1}{2}"],
    ["1", "\\sin^2 x+\\cos^2 x"],
    ["(x-1)(x+2)", "x^2+x-2"],
    ["\\frac{x^2-1}{x-1}", "x+1"],
    ["2^{n}-1", "\\sum_{k=0}^{n-1}2^k"],
    ["\\binom{n+1}{2}", "n(n+1)/2"],
    ["\\int_0^1 x\\,dx", "0.5"],
    ["\\frac{d}{dx}x^2", "2x"],
    ["\\lim_{x\\to 0}\\frac{\\sin x}{x}", "1"],
    ["\\{1,2,3\\}", "3,2,1"],
    ["(-\\infty,-1)\\cup(1,\\infty)", "(1,+\\infty)\\cup(-\\infty,-1)"],
    ["\\mathbb{R}\\setminus\\{0\\}", "(-\\infty,0)\\cup(0,\\infty)"],
    ["x>3", "(3,\\infty)"],
    ["x^2>4", "(-\\infty,-2)\\cup(2,\\infty)"],
    ["-\\infty<x\\le 4", "(-\\infty,4]"],
    ["3\\le x<\\infty", "[3,\\infty)"],
    ["x=1,y=2", "(x,y)=(1,2)"],
    ["y=2x+1", "2x-y+1=0"],
    ["\\pm 2", "\\{-2,2\\}"],
    [
      "\\begin{pmatrix}\\frac12&0\\\\0&\\frac12\\end{pmatrix}",
      "\\frac12\\begin{pmatrix}1&0\\\\0&1\\end{pmatrix}",
    ],
    ["5\\text{ cm}", "5"],
    ["\\$12.50", "12.5"],
    ["\\text{(C)}", "C"],
    ["2^{100}", "1267650600228229401496703205376"],
    ["\\int 6x^2+x\\,dx", "2x^3+\\frac{x^2}{2}"],
    ["\\theta", "θ"],
    ["\\tfrac12", "\\dfrac{1}{2}"],
    ["3\\tfrac12", "3.5"],
    ["\\infty", "\\infty^2"],
    ["0", "\\frac{1}{\\infty}"],
    ["\\infty", "x+\\infty"],
    ["\\sum_{k=1}^{100000}k", "5000050000"],
    ["\\sum_{k=1}^{3000000}(2k-1)", "9000000000000"],
    ["\\sin\\frac{\\pi}{12}", "\\frac{\\sqrt{6}-\\sqrt{2}}{4}"],
    ["\\ln 2+\\ln 3", "\\ln 6"],
    ["\\arctan 1", "\\frac{\\pi}{4}"],
    ["32349", "32,\\! 349"],
    ["2,\\! 598,\\! 960", "2598960"],
    ["\\$32,\\! 349.50", "32349.5"],
    ["3,\\! 4", "\\{3,4\\}"],
    ["(3,17,3,7),(3,7,3,17)", "(3,17,3,7),(3,7,3,17),(3,17,3,7)"],
    ["\\{(1,2),(1,2)\\}", "\\{(1,2)\\}"],
    ["\\sqrt2,\\sqrt2", "\\sqrt2"],
    ["\\{1,2\\}", "\\{1,\\sqrt{4},2\\}"],
    ["\\frac12,0.5", "0.5"],
    ["x=1,y=2;x=3,y=4", "(3,4),(1,2)"],
    ["(1,2),(3,4)", "x=1,y=2;x=3,y=4"],
    ["1,2;3,4", "(1,2),(3,4)"],
    ["1;2;3", "3,2,1"],
    ["\\pm1;\\pm2", "-1,1,-2,2"],
    ["0<f(x)<1", "(0,1)"],
    ["0\\le f(x)\\le 1", "[0,1]"],
    ["\\{\\frac43\\}", "\\lbrace \\frac{8}{6}\\rbrace"],
    ["1,2", "1\\ \\text{and}\\ 2"],
    ["I_{p}=5(\\cos30t+\\sin30t)", "I_p=5(\\sin 30t+\\cos 30t)"],
  ])("%s = %s", (gold, answer) => {
    expect(boxed(gold, answer)).toMatchObject({ equal: true, undecided: false });
  });
});

describe("different answers", () => {
  it.each([
    ["42", "43"],
    ["\\frac{3}{4}", "\\frac{4}{3}"],
    ["\\pi", "3.1416"],
    ["x^2+2x+1", "(x-1)^2"],
    ["10^{20}x+1", "10^{20}x"],
    ["2^{100}", "1267650600228229401496703205377"],
    ["\\sqrt{x^2}", "x"],
    ["|x-3|", "3-x"],
    ["|x-1000|", "1000-x"],
    ["|t-60|+t", "60"],
    ["\\lfloor x+\\frac{1}{1000}\\rfloor", "\\lfloor x\\rfloor"],
    ["|x-5|+|x+5|", "10"],
    ["\\max(x,5)", "5"],
    ["\\lceil x\\rceil", "\\lfloor x\\rfloor+1"],
    ["0", "(x-\\frac{63}{97})(x+\\frac{91}{97})(x-\\frac{187}{97})(x+\\frac{172}{97})"],
    ["[1,2)", "(1,2]"],
    ["(1,2,3)", "(3,2,1)"],
    ["x=5", "y=5"],
    ["x>3", "x\\ge 3"],
    ["\\text{yes}", "\\text{no}"],
    ["\\frac{4}{0}", "\\frac{5}{0}"],
    ["", ""],
    ["\\pi\\cdot 10^{20}", "\\pi\\cdot 10^{20}+1"],
    ["\\sqrt{10^{30}+1}", "10^{15}"],
    ["e^{\\pi\\sqrt{163}}", "262537412640768744"],
    ["\\cos 10^{-10}", "1"],
    ["\\sum_{k=1}^{100000}k", "5000050001"],
    ["\\infty", "-\\infty"],
    ["0", "\\infty-\\infty"],
    ["32,\\! 349", "32,\\! 350"],
    ["x=1,y=2;x=3,y=4", "(1,3),(2,4)"],
    ["x=1,y=2;x=3,y=4", "\\{1,2,3,4\\}"],
    ["\\{1,2,3\\}", "\\{1,\\sqrt{4},2\\}"],
    ["(2,3),(3,2)", "(2,3),(2,3)"],
    ["(1,1,2)", "(1,2)"],
    ["\\{1,2\\}", "(1,1,2)"],
    ["1", "(1,1)"],
    ["0<f(x)<1", "[0,1]"],
    ["0<f(x)<1", "0<x<1"],
    ["I_1", "I_2"],
  ])("%s != %s", (gold, answer) => {
    expect(boxed(gold, answer).equal).toBe(false);
  });
});

describe("where math-verify is wrong", () => {
  it.each([
    ["42", "42.", false, true],
    ["-1", "i^2", false, true],
    ["2e^{i\\pi/3}", "1+\\sqrt{3}i", false, true],
    ["\\frac{\\pi}{6}", "30^\\circ", false, true],
    ["\\frac{1}{2}", "\\sin 30^\\circ", false, true],
    ["6.02\\times 10^{23}", "60.2\\times10^{22}", false, true],
    ["[1,2)", "1\\le x<2", false, true],
    ["\\emptyset", "\\varnothing", false, true],
    ["x=2", "2x=4", false, true],
    ["\\{1,2,3\\}", "(1,2,3)", true, false],
    ["101_2", "101", true, false],
    ["(1,2)", "\\{1,2\\}", true, false],
    ["0.0000001", "0.0000002", true, false],
    ["10^{-8}", "0.0000001", true, false],
    ["1500", "1.5e3", false, true],
    ["\\frac13", "0.\\overline{3}", false, true],
    ["\\frac{41}{333}", "0.\\dot{1}2\\dot{3}", false, true],
    ["\\frac16", "0.1(6)", false, true],
    ["\\frac32", "1 1/2", false, true],
    ["1000", "1 000", false, true],
    ["5", "5\\,", true, true],
    ["x^{10}", "x¹⁰", false, true],
    ["a_1", "a₁", false, true],
    ["\\sqrt{2}", "√2", false, true],
    ["\\frac{11}{4}", "2¾", false, true],
    ["-5", "–5", false, true],
    ["12", "3·4", false, true],
    ["(-\\infty,-1)\\cup(2,\\infty)", "x>2\\text{ or }x<-1", false, true],
    ["2\\infty", "\\infty+1", false, true],
    ["\\pi R^2", "\\pi r^2", true, false],
    ["7", "< 7", true, false],
    ["x<1\\text{ or }x>2", "x<1\\text{ and }x>2", true, false],
    ["1<x<2", "x>1\\text{ and }x<2", false, true],
    ["0", "\\frac{dy}{dx}", true, false],
    ["f'(x)", "f(x)", true, false],
    ["(2,5)", "y=2,x=5", true, false],
    ["(2,5)", "x=2,y=5", true, true],
    ["\\sqrt[3]{-27}", "-3", false, true],
    ["2", "17\\bmod 5", false, true],
    ["(2,5)", "]2,5[", false, true],
    ["\\mathbb{R}\\setminus\\{0\\}", "\\mathbb{R}-\\{0\\}", false, true],
    ["5=5", "6=5", false, false],
    ["\\ln(e^5)=5", "\\ln(e^6)=5", false, false],
    ["\\ln(e^5)=5", "\\ln e^5=5", true, true],
    ["x=3", "2x=6", false, true],
  ])("%s and %s: compat %s, strict %s", (gold, answer, compat, strict) => {
    expect(boxed(gold, answer, "compat").equal).toBe(compat);
    expect(boxed(gold, answer, "strict").equal).toBe(strict);
  });
});

describe("finding the answer", () => {
  it.each([
    ["42", "We get 41, then 42"],
    ["42", "The final answer is 42. I hope it is correct. Not 43."],
    ["5", "answer: $5$ then $7$"],
    ["9", "The answer is 8. Wait, the answer is 9."],
    ["1,2", "\\boxed{1}, \\boxed{2}"],
    ["0.05", "5 percent"],
    ["1000000", "The answer is 1 000 000"],
    ["\\frac{1}{2}", "The answer is 1/2"],
    ["7", "3+4 = 7"],
    ["42", "**Final Answer**\n\\boxed{42}\n\nLet me check {this}."],
  ])("%s in %j", (gold, text) => {
    expect(verifyAnswer(gold, text).equal).toBe(true);
  });

  it("reports the position of a parse error", () => {
    expect(boxed("5", "\\color{red}{5}").answer).toMatchObject({
      parsed: null,
      text: "\\color{red}{5}",
      problem: "Unknown command \\color (character 1)",
    });
    expect(() => parse("3 + \\unknown")).toThrow("Unknown command \\unknown (character 5)");
    expect(verifyAnswer("5", "no number here").rule).toBe("no answer found");
  });
});

it("keeps percent signs, and rejects unknown modes", () => {
  expect(verifyAnswer("7", "The answer is 7%.", { mode: "strict" }).equal).toBe(false);
  expect(() => verifyAnswer("7", "7", { mode: "Strict" as Mode })).toThrow(
    "'compat' or 'strict', not 'Strict'",
  );
});

it("prints like SymPy", () => {
  const forms = [
    "4i+3",
    "1-\\frac{1}{4}",
    "\\frac{x}{2}",
    "\\{2,1\\}",
    "(1,2]",
    "x=5",
    "\\ln 2",
    "25\\%",
    "1.50",
  ];
  expect(forms.map((form) => printNode(parse(form)))).toEqual([
    "4*i + 3",
    "-1/4 + 1",
    "x/2",
    "{1, 2}",
    "Interval.Lopen(1, 2)",
    "Eq(x, 5)",
    "log(2, E)",
    "25*(1/100)",
    "1.50000000000000",
  ]);
});

/** The LaTeX commands and characters that the parser knows. */

const GREEK =
  `alpha beta gamma delta epsilon varepsilon zeta eta theta vartheta iota kappa lambda mu nu xi omicron rho varrho sigma
varsigma tau upsilon phi varphi chi psi omega Gamma Delta Theta Lambda Xi Pi Sigma Upsilon Phi Psi Omega`.split(
    /\s+/,
  );

const GREEK_ALPHABET =
  "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi rho varsigma sigma tau upsilon phi chi psi omega".split(
    " ",
  );

/** Greek letters as characters. A capital names the same symbol as its small letter (upstream: latex2sympy lowers it). */
export const GREEK_CHARACTERS: ReadonlyMap<string, string> = new Map(
  GREEK_ALPHABET.flatMap((name, index) => {
    const letter = String.fromCharCode("α".charCodeAt(0) + index);
    return [
      [letter, name],
      [letter.toUpperCase(), name],
    ];
  }),
);

/** Commands that name a symbol, as letters do. */
export const SYMBOL_COMMANDS: ReadonlySet<string> = new Set([
  ...GREEK,
  ..."ell hbar nabla prime angle triangle square heartsuit complement wp Re Im varnothing".split(" "),
]);

export const FUNCTIONS: Readonly<Record<string, string>> = {
  sin: "sin",
  cos: "cos",
  tan: "tan",
  cot: "cot",
  sec: "sec",
  csc: "csc",
  arcsin: "asin",
  arccos: "acos",
  arctan: "atan",
  arccot: "acot",
  arcsec: "asec",
  arccsc: "acsc",
  sinh: "sinh",
  cosh: "cosh",
  tanh: "tanh",
  coth: "coth",
  sech: "sech",
  csch: "csch",
  arcsinh: "asinh",
  arccosh: "acosh",
  arctanh: "atanh",
  arsinh: "asinh",
  arcosh: "acosh",
  artanh: "atanh",
  exp: "exp",
  ln: "log",
  log: "log",
};

/** What the power -1 behind a function's name makes of it. */
export const INVERSES: Readonly<Record<string, string>> = {
  sin: "asin",
  cos: "acos",
  tan: "atan",
  cot: "acot",
  sec: "asec",
  csc: "acsc",
  sinh: "asinh",
  cosh: "acosh",
  tanh: "atanh",
};

/** Functions whose arguments stand in parentheses, separated by commas. */
export const LIST_FUNCTIONS: ReadonlySet<string> = new Set(["gcd", "lcm", "max", "min", "floor", "ceil"]);

/** What `\operatorname{…}` may name. */
export const OPERATOR_NAMES: Readonly<Record<string, string>> = {
  gcd: "gcd",
  lcm: "lcm",
  max: "max",
  min: "min",
  floor: "floor",
  ceil: "ceil",
  arcsinh: "asinh",
  arccosh: "acosh",
  arctanh: "atanh",
  arsinh: "asinh",
  arcosh: "acosh",
  artanh: "atanh",
};

export const ACCENTS: Readonly<Record<string, string>> = {
  vec: "vec",
  overrightarrow: "vec",
  bar: "bar",
  overline: "bar",
  hat: "hat",
  tilde: "tilde",
  widetilde: "tilde",
  dot: "dot",
  ddot: "ddot",
  mathcal: "math",
  mathfrak: "math",
  mathscr: "math",
};

/** Commands that only make space. */
export const SPACES: ReadonlySet<string> = new Set([
  ..."quad qquad enspace thinspace limits nolimits displaystyle textstyle".split(" "),
  ...",;:! ",
]);

/** Other spellings of operators and delimiters. */
export const ALIASES: Readonly<Record<string, string>> = {
  "\\cdot": "*",
  "\\times": "*",
  "\\ast": "*",
  "×": "*",
  "⋅": "*",
  "∗": "*",
  "\\div": "/",
  "÷": "/",
  ":": "/",
  "−": "-",
  "\\lt": "<",
  "\\gt": ">",
  "\\le": "<=",
  "\\leq": "<=",
  "\\leqslant": "<=",
  "\\leqq": "<=",
  "≤": "<=",
  "\\ge": ">=",
  "\\geq": ">=",
  "\\geqslant": ">=",
  "\\geqq": ">=",
  "≥": ">=",
  "\\ne": "!=",
  "\\neq": "!=",
  "≠": "!=",
  "\\equiv": "=",
  "≡": "=",
  "\\approx": "~=",
  "≈": "~=",
  "\\in": "∈",
  "\\notin": "∉",
  "\\cup": "∪",
  "\\bigcup": "∪",
  "\\cap": "∩",
  "\\bigcap": "∩",
  "\\setminus": "∖",
  "\\subseteq": "⊆",
  "\\subset": "⊂",
  "\\emptyset": "∅",
  "\\infty": "∞",
  "\\pi": "π",
  Π: "π",
  "\\pm": "±",
  "\\mp": "±",
  "∓": "±",
  "\\vert": "|",
  "\\lvert": "|(",
  "\\rvert": "|)",
  "\\lfloor": "⌊",
  "\\rfloor": "⌋",
  "\\lceil": "⌈",
  "\\rceil": "⌉",
  "\\lbrack": "[",
  "\\rbrack": "]",
  ℝ: "\\mathbb{R}",
  ℤ: "\\mathbb{Z}",
  ℕ: "\\mathbb{N}",
  ℚ: "\\mathbb{Q}",
  ℂ: "\\mathbb{C}",
};

/** Further commands that are tokens of their own. */
export const WORDS: ReadonlySet<string> = new Set([
  ..."frac binom dbinom tbinom sqrt over choose mod circ sum prod int lim to rightarrow det text mbox mathbb".split(
    " ",
  ),
  ..."operatorname begin end partial phantom".split(" "),
  ...LIST_FUNCTIONS,
  ...Object.keys(FUNCTIONS),
  ...Object.keys(ACCENTS),
  ...SYMBOL_COMMANDS,
  ...SPACES,
  ...Object.keys(ALIASES).flatMap((alias) => (alias.startsWith("\\") ? [alias.slice(1)] : [])),
]);

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

/** Greek characters. A capital is the same symbol as its small letter (upstream: latex2sympy lowers it). */
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

const words = (text: string) => text.split(" ");
const table = (names: readonly string[], entry: (name: string) => [string, string]) =>
  Object.fromEntries(names.map(entry));

const HYPERBOLIC = ["sinh", "cosh", "tanh"];
const INVERTIBLE = [...words("sin cos tan cot sec csc"), ...HYPERBOLIC];
const INVERSE_HYPERBOLIC = {
  ...table(HYPERBOLIC, (name) => [`arc${name}`, `a${name}`]),
  ...table(HYPERBOLIC, (name) => [`ar${name}`, `a${name}`]),
};

/** The functions by their command. */
export const FUNCTIONS: Readonly<Record<string, string>> = {
  ...table([...INVERTIBLE, "coth", "sech", "csch", "exp", "log"], (name) => [name, name]),
  ...table(INVERTIBLE, (name) => [`arc${name}`, `a${name}`]),
  ...INVERSE_HYPERBOLIC,
  ln: "log",
};

/** The inverse functions, written as the power -1 after the name. */
export const INVERSES: Readonly<Record<string, string>> = table(INVERTIBLE, (name) => [name, `a${name}`]);

/** Functions with arguments in parentheses, separated by commas. */
export const LIST_FUNCTIONS: ReadonlySet<string> = new Set(words("gcd lcm max min floor ceil"));

/** The names in `\operatorname{…}`. */
export const OPERATOR_NAMES: Readonly<Record<string, string>> = {
  ...table([...LIST_FUNCTIONS], (name) => [name, name]),
  ...INVERSE_HYPERBOLIC,
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

/** Commands for spacing. */
export const SPACES: ReadonlySet<string> = new Set([
  ..."quad qquad enspace thinspace limits nolimits displaystyle textstyle".split(" "),
  ...",;:! ",
]);

/** Operators and delimiters with their other spellings. */
const SPELLINGS: Readonly<Record<string, string>> = {
  "*": "\\cdot \\times \\ast × ⋅ ∗",
  "/": "\\div ÷ :",
  "-": "−",
  "<": "\\lt",
  ">": "\\gt",
  "<=": "\\le \\leq \\leqslant \\leqq ≤",
  ">=": "\\ge \\geq \\geqslant \\geqq ≥",
  "!=": "\\ne \\neq ≠",
  "=": "\\equiv ≡",
  "~=": "\\approx ≈",
  "∈": "\\in",
  "∉": "\\notin",
  "∪": "\\cup \\bigcup",
  "∩": "\\cap \\bigcap",
  "∖": "\\setminus",
  "⊆": "\\subseteq",
  "⊂": "\\subset",
  "∅": "\\emptyset",
  "∞": "\\infty",
  π: "\\pi Π",
  "±": "\\pm \\mp ∓",
  "|": "\\vert",
  "|(": "\\lvert",
  "|)": "\\rvert",
  "⌊": "\\lfloor",
  "⌋": "\\rfloor",
  "⌈": "\\lceil",
  "⌉": "\\rceil",
  "{(": "\\lbrace",
  "})": "\\rbrace",
  "[": "\\lbrack",
  "]": "\\rbrack",
  "\\mathbb{R}": "ℝ",
  "\\mathbb{Z}": "ℤ",
  "\\mathbb{N}": "ℕ",
  "\\mathbb{Q}": "ℚ",
  "\\mathbb{C}": "ℂ",
};

/** The operator of each other spelling. */
export const ALIASES: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(SPELLINGS).flatMap(([operator, spellings]) =>
    words(spellings).map((spelling) => [spelling, operator]),
  ),
);

/** All commands. */
export const WORDS: ReadonlySet<string> = new Set([
  ...words("frac binom dbinom tbinom sqrt over choose mod circ sum prod int lim to rightarrow det"),
  ...words("text mbox mathbb operatorname begin end partial phantom"),
  ...LIST_FUNCTIONS,
  ...Object.keys(FUNCTIONS),
  ...Object.keys(ACCENTS),
  ...SYMBOL_COMMANDS,
  ...SPACES,
  ...Object.keys(ALIASES).flatMap((alias) => (alias.startsWith("\\") ? [alias.slice(1)] : [])),
]);

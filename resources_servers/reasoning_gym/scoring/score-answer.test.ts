import { growthOf } from "nemo-gym/testing";
import { describe, expect, it } from "vitest";
import { scoreAnswer, taskNames } from "./score-answer.ts";

const DEEP = `{"a": ${"[".repeat(900)}${"]".repeat(900)}}`;

type Case = [
  task: string,
  entry: { answer?: string | null; metadata?: Record<string, unknown> },
  scores: Record<string, number>,
];

const star = [
  ["*", "O"],
  ["X", "#"],
];
const lock = {
  initial_value: 0,
  initial_state: "red",
  target_value: 4,
  buttons: [
    { name: "A", type: "add", value: 2, active_state: "any" },
    { name: "B", type: "multiply", value: 2, active_state: "green" },
    { name: "C", type: "subtract", value: 1, active_state: "red" },
  ],
};
const hanoi = { num_disks: 2, num_pegs: 3, start_peg: 1, target_peg: 3, solution_length: 3 };
const hanoiMoves = [
  "Move disk 1 from Peg 1 to Peg 2",
  "Move disk 2 from Peg 1 to Peg 3",
  "Move disk 1 from Peg 2 to Peg 3",
];
const knights = {
  board: { A1: ["B3"], B3: ["A1", "C1"], C1: ["B3"] },
  pieces: { A1: "w", B3: null, C1: null },
  start_turn: "w",
  is_possible: true,
  solution: ["w,A1,B3"],
};

const cases: Case[] = [
  ["gcd", { answer: "12" }, { "12": 1, "is 12": 0.4, "13": 0, "": 0 }],
  [
    "complex_arithmetic",
    { answer: "-7.0 + 1.0i", metadata: { result: [-7, 1] } },
    { "-7 + i": 1, "(-7+1j)": 1, "-7.0 + 2.0i": Math.exp(-1), "1i - 7": 0, x: 0 },
  ],
  [
    "simple_integration",
    { answer: "x**3 + C", metadata: { integrand: "3*x**2", variable: "x" } },
    {
      "x**3 + C": 1,
      "x*x*x - 5": 1,
      "x**3 + x": 0,
      "Integral(3*x**2, x)": 1,
      "x**3\n+ C": 0,
      "x**3 + ßC": 1,
      "x**3 +\u00a0C": 0,
      "x**3 + C\ufeff": 0,
      "wrong thing": 0,
    },
  ],
  [
    "intermediate_integration",
    { answer: "x*asin(2*x) + sqrt(1 - 4*x**2)/2 + C", metadata: { integrand: "asin(2*x)", variable: "x" } },
    { "x*asin(2*x) + sqrt(1 - 4*x**2)/2": 1, "x*asin(2*x)": 0, "'x*asin(2*x) + sqrt(1 - 4*x**2)/2'": 1 },
  ],
  [
    "polynomial_equations",
    { answer: "-2.0, 3.0" },
    { "3, -2": 1, "3": 0.5, "3, -2, 9": 0.5, "3.1, -2": (Math.exp(-1) + 1) / 2, none: 0 },
  ],
  [
    "polynomial_multiplication",
    { answer: "2*x**2 + 3*x - 1" },
    {
      "-1 + 3*x + 2*x*x": 1,
      "2*x**2 + 3*x - 1.0": 0,
      "x*(2*x + 3) - 1": 0,
      "2*(x**2) + 3*x + (-1)": 1,
      "wrong thing": 0,
    },
  ],
  [
    "binary_matrix",
    { answer: "1 0\n0 1" },
    { "1 0\n0 1": 1, "[[1, 0], [0, 1]]": 0.1, "[[1, 0], [0, 2]]": 0, "1 0 0 1": 0 },
  ],
  [
    "spiral_matrix",
    { answer: "1 2 3" },
    {
      "1 2 3": 1,
      "[1, 2, 3]": 0.1,
      "1,2,3": 0.1,
      "[1.0, 2, 3]": 0,
      "[1,\n2, 3,]": 0.1,
      "1,\n2, 3": 0,
      "1,\u00a02, 3": 0,
      "[01, 2, 3]": 0,
    },
  ],
  ["string_insertion", { answer: "ABC" }, { ABC: 1, "['A', 'B', 'C']": 0.1, AB: 0 }],
  ["manipulate_matrix", { answer: "1 2\n3 4" }, { "1  2 \n3 4": 1, "1 2\n3 4\n5": 7 / 9, "1 2": 0 }],
  ["pool_matrix", { answer: "2.5 2.17" }, { "2.5 2.17": 1, "2.51 2.17": 1, "9 9": 0.1, "9": 0, x: 0 }],
  [
    "game_of_life",
    { answer: "[[1,0],[0,1]]" },
    { "[[1,0],[0,1]]": 1, "[[1,1],[0,1]]": 0.75, "[[1]]": 0.25, x: 0 },
  ],
  ["rearc", { answer: "6 8", metadata: { output: [[6, 8]] } }, { "6 8": 0.05, "6 9": 0.05, "a b": 0 }],
  [
    "survo",
    {
      answer: "",
      metadata: {
        board_size: 2,
        solution: [
          [1, 2],
          [3, 4],
        ],
      },
    },
    { "1 2\n3 4": 1, "1 2 x\n3 4": 1, "1 2\n4 3": 0 },
  ],
  [
    "kakurasu",
    { answer: "", metadata: { n_rows: 2, n_cols: 2, row_sums: [1, 2], col_sums: [1, 2] } },
    { "1 0\n0 1": 1, "0 1\n1 0": 0, "1 0": 0 },
  ],
  ["chain_sum", { answer: "1000" }, { "+01,000.00": 1, "1000 ok": 4 / 7, "999": 0 }],
  ["decimal_arithmetic", { answer: "1.5" }, { "1.5005": 1, "1._5_": 1, "1.502": 0, x: 0 }],
  ["decimal_chain_sum", { answer: "8.19" }, { "8.190": 1, "8.2": 0 }],
  ["power_function", { answer: "851737.58" }, { "851600": 1, "8.52e5": 1, "853000": 0.01, x: 0.01 }],
  [
    "bitwise_arithmetic",
    { answer: "0x8", metadata: { problem: "((0x3 + 0x1) << 0x1)" } },
    { "0x8": 1, "8": 1, "0b1000": 1, "7": 0, eight: 0 },
  ],
  [
    "fraction_simplification",
    {
      answer: "2/3",
      metadata: { numerator: 4, denominator: 6, simplified_numerator: 2, simplified_denominator: 3 },
    },
    { "2/3": 1, "$\\frac{2}{3}$": 1, "4/6": 0.1, "1/3": 0.05, "two thirds": 0.01 },
  ],
  ["gsm_symbolic", { answer: "93" }, { "93": 1, "it is 93.0 in all": 1, "94": 0.01, none: 0 }],
  ["number_format", { answer: "1234.5", metadata: { solution: 1234.5 } }, { "1,234.50": 1, "1234": 0 }],
  ["prime_factorization", { answer: "2 × 3 × 3" }, { "3 × 2 × 3": 1, "18": 0.5, "2 × 3": 0.01, "2 x 9": 0 }],
  [
    "number_sorting",
    { answer: "['1', '2']", metadata: { direction: "ascending" } },
    { "[1, 2]": 1, "['1', '2']": 1, "[2, 1]": 0, "[1]": 0, "1, 2": 0 },
  ],
  ["dice", { answer: "19/40" }, { "19/40": 1, "19 / 40": 0 }],
  ["coin_flip", { answer: "0.875" }, { "7/8": 1, "0.87501": 1, "0.8": 1, "0.5": 2 / 3, x: 0 }],
  [
    "calendar_arithmetic",
    { answer: "Monday", metadata: { task: "weekday_of_date" } },
    { Monday: 1, Tuesday: 0.1, monday: 0.05, Someday: 0 },
  ],
  [
    "calendar_arithmetic",
    { answer: "10", metadata: { task: "count_days" } },
    { "10": 1, "11": Math.exp(-0.5), ten: 0 },
  ],
  ["calendar_arithmetic", { answer: "Yes", metadata: { task: "is_leap_year" } }, { yes: 1, No: 0 }],
  [
    "time_intervals",
    { answer: "3 days", metadata: { task_type: "date" } },
    { "3 days": 1, "13 days": 0.9, days: 0 },
  ],
  [
    "time_intervals",
    { answer: "01:30:00.500", metadata: { task_type: "time_ms" } },
    { "01:30:00.500": 1, "01:30": 1 - 0.5 / 86_400, x: 0 },
  ],
  [
    "time_intervals",
    { answer: "2 days, 01:00", metadata: { task_type: "datetime" } },
    { "2 days, 01:00:00": 1, "2 days, 02:00": 1 - 3600 / 8_640_000, "2 days": 0 },
  ],
  ["letter_jumble", { answer: "we shall see" }, { "We shall see": 1, "we shall": 2 / 3, "see we": 0 }],
  [
    "palindrome_generation",
    { answer: "hyh", metadata: { letters: ["h", "y", "h"] } },
    { hyh: 1, aba: 0.05, abc: 0.02, "": 0 },
  ],
  [
    "palindrome_partitioning",
    { answer: "", metadata: { solution: [["a", "a"], ["aa"]] } },
    { '[["aa"], ["a", "a"]]': 1, '[["aa"]]': 0, x: 0 },
  ],
  ["sentence_reordering", { answer: "a b c d" }, { "a b c d": 1, "a b d c": 0.5, "a b": 0.05 }],
  ["spell_backward", { answer: "cba" }, { CBA: 1, cbx: 2 / 3, "cba and more": 0.8, "": 0 }],
  [
    "word_sorting",
    { answer: "", metadata: { sorted_words: ["a", "b", "c"] } },
    { "a, b,c": 1, "c, a, b": 0.2, "a, c, b": 1 / 3, x: 0 },
  ],
  [
    "word_ladder",
    { answer: "", metadata: { start_word: "COLD", end_word: "CARD" } },
    { "cold,cord,card": 1, "COLD,CARD": 0, "CORD,CARD": 0 },
  ],
  [
    "group_anagrams",
    { answer: "", metadata: { solution: [["eat", "tea"], ["tan"]] } },
    { '[["tan"], ["tea", "eat"]]': 1, "[]": 0.01, x: 0 },
  ],
  ["emoji_mystery", { answer: "abcd" }, { abcd: 1, abxx: 0.5, abc: 0.01 }],
  ["figlet_font", { answer: "WORD" }, { "w o r d": 1, wo: 0.2 }],
  ["needle_haystack", { answer: "Ada" }, { " a da": 1, Bob: 0 }],
  ["color_cube_rotation", { answer: "red" }, { Red: 1, blue: 0.01 }],
  ["rectangle_count", { answer: "4" }, { "4": 1, "5": 0.8 * 0.8, "9": 0, x: 0 }],
  [
    "rubiks_cube",
    { answer: null, metadata: { cube_size: 3, scramble_moves: "R U'" } },
    { "U R'": 1, "U R R R": 1, "U R3": 1, "U R' 2L": 1, "U R' Rw Rw'": 1, U: 0.01, "": 0.01, Q: 0.01 },
  ],
  [
    "advanced_geometry",
    { answer: "17.10°", metadata: { task_type: "angle_measure" } },
    { "17.1": 1, "18°": 0.05, x: 0.01 },
  ],
  [
    "advanced_geometry",
    { answer: "", metadata: { task_type: "orthocenter", ortho: ["7/23", "-28/23"] } },
    { "(0.304, -1.217)": 1, "(1, 2)": 0.01 },
  ],
  ["tsumego", { answer: "C4" }, { c4: 1, "at C4": 0.4, D5: 0.05, x: 0.01 }],
  [
    "cryptarithm",
    { answer: "", metadata: { words_letters: ["A", "B"], result_letters: "C" } },
    { "A=1,B=2,C=3": 1, "A=1,B=1,C=2": 0.01, "A=1,B=2": 0.01, "A=0,B=2,C=2": 0.01, x: 0 },
  ],
  [
    "graph_color",
    { answer: null, metadata: { puzzle: { vertices: [0, 1], edges: [[0, 1]], color_options: [1, 2] } } },
    { '{"0": 1, "1": 2}': 1, '{"0": 1, "1": 1}': 0.01, '{"0": 1}': 0.01, "[]": 0.01, x: 0 },
  ],
  [
    "jugs",
    { answer: "", metadata: { puzzle: { jug_capacities: [3, 5], target: 2 } } },
    { '["fill B", "pour B->A"]': 1, '["fill A"]': 0.01, '["drink A"]': 0, '["fill Z"]': 0 },
  ],
  [
    "mini_sudoku",
    {
      answer: "1 2\n2 1",
      metadata: {
        solution: [
          [1, 2],
          [2, 1],
        ],
      },
    },
    { "1 2 \n2 1": 0.875, "12\n21": 0.9, "1 2\n1 2": 0.45, "": 0 },
  ],
  [
    "n_queens",
    { answer: "Q _", metadata: { valid_answers: ["Q _"] } },
    { "Q _": 1, "[['Q', '_']]": 0.5, "_ Q": 0 },
  ],
  [
    "countdown",
    { answer: "", metadata: { numbers: [2, 3, 4], target: 14 } },
    { "2 + 3*4": 1, "(4*3) + 2": 1, "2*3 + 4": 0.05, "14": 0.05, "2 + 3*04": 0.01, x: 0.01 },
  ],
  [
    "futoshiki",
    {
      answer: "1 < 2\n2   1",
      metadata: {
        solution: [
          [1, 2],
          [2, 1],
        ],
      },
    },
    {
      "1 < 2 \n2   1": 11 / 12,
      "1 < 2\x1c\n2   1": 11 / 12,
      "1 2\n2 1": 0.9,
      "1 < 2\n2   1\ufeff": (0.9 * 11) / 12,
    },
  ],
  ["puzzle24", { answer: "" }, { "(1 + 2 + 3)*4": 1, "4*6": 0.01, "12 + 12 + 0*1*1": 0.01 }],
  [
    "tower_of_hanoi",
    { answer: "", metadata: hanoi },
    {
      [hanoiMoves.join("\n")]: 1,
      [hanoiMoves.slice(0, 1).join("\n")]: 0.05,
      [hanoiMoves.slice(1).join("\n")]: 0,
      x: 0,
    },
  ],
  [
    "sokoban",
    { answer: "", metadata: { gamestr: "+ + + + +\n+ * @ X +\n+ + + + +\n" } },
    { R: 1, RR: 1, L: 0, "": 0 },
  ],
  [
    "rush_hour",
    { answer: null, metadata: { board_config: `${"o".repeat(12)}AAoooo${"o".repeat(18)}` } },
    { "A+4": 1, "A+2 A+9": 1, "A+1": 0.01, "": 0 },
  ],
  ["knight_swap", { answer: "No", metadata: { ...knights, is_possible: false } }, { no: 1, "[]": 0 }],
  ["knight_swap", { answer: "", metadata: knights }, { '["w,A1,B3"]': 0.05, '["B,A1,B3"]': 0, No: 0 }],
  [
    "boxnet",
    { answer: null, metadata: { initial_state: { "0.5_0.5": ["box_red"], "0.5_1.5": ["target_red"] } } },
    {
      '[{"Agent[0.5, 0.5]": "move(box_red, square[0.5, 1.5])"}, {"Agent[0.5, 1.5]": "move(box_red, target_red)"}]': 1,
      "[]": 0.05,
      x: 0,
    },
  ],
  [
    "shortest_path",
    { answer: "right down", metadata: { matrix: star } },
    { "right down": 1, "right left right down": 0.5, "down right": 0, jump: 0 },
  ],
  ["path_star", { answer: "1 2 3" }, { "1  2 3": 1, "1 2": 0 }],
  ["quantum_lock", { answer: "A → B", metadata: lock }, { "A B": 1, "A A": 1, "B A A": 0.5, C: 0 }],
  ["family_relationships", { answer: "mother" }, { Mother: 1, father: 0 }],
  ["circuit_logic", { answer: "1" }, { "1": 1, "0": 0, "11": 0 }],
  [
    "knights_knaves",
    { answer: "Ann is a knight, and Bo is a knave." },
    { "Bo is a knave and Ann is a knight": 1, "Ann is a knight, Bo is a knight": 0.65, "Ann is a knight": 0 },
  ],
  [
    "propositional_logic",
    { answer: null, metadata: { variables: ["P", "Q"], premises: ["P", "(P → Q)"] } },
    { "(P ∧ Q)": 1, Q: 0.25, "(Q ∨ ¬Q)": 0.25, "¬Q": 0.05, "wrong thing": 0.05, Z: 0 },
  ],
  ["self_reference", { answer: "4" }, { "4": 1, "04": 0 }],
  ["zebra_puzzles", { answer: "Ann" }, { ann: 1, Bo: 0 }],
  ["game_of_life_halting", { answer: "False" }, { False: 1, True: 1, "": 0 }],
  ["codeio", { answer: '{"n": 3}' }, { '{"n": 3}': 1, 'It is {"n":3}': 8 / 11, "{broken}": 0, none: 0 }],
];

describe("scoreAnswer", () => {
  it.each(cases)("scores %s", (task, { answer = "", metadata = {} }, scores) => {
    for (const [given, score] of Object.entries(scores)) {
      const got = scoreAnswer(task, given, { question: "", answer, metadata });
      expect([given, Number(got.toFixed(12))]).toEqual([given, Number(score.toFixed(12))]);
    }
  });

  it("gives 0 for unknown tasks, missing answers and rows that a scorer cannot read", () => {
    expect(scoreAnswer("no_such_task", "x", { question: "", answer: "x", metadata: {} })).toBe(0);
    expect(scoreAnswer("gcd", "x", { question: "", answer: null, metadata: {} })).toBe(0);
    expect(scoreAnswer("survo", "1", { question: "", answer: "1", metadata: {} })).toBe(0);
    expect(scoreAnswer("toString", "x", { question: "", answer: "x", metadata: {} })).toBe(0);
  });

  it("has a scorer for every task of the library", () => {
    expect(taskNames).toHaveLength(105);
  });

  it.each(cases)(
    "handles hostile answers to %s in linear time",
    async (task, { answer = "", metadata = {} }) => {
      const score = (given: string) => scoreAnswer(task, given, { question: "", answer, metadata });
      for (const given of ["9**9**9**9", "1e999999999", "\ud800", "NaN", "R99999999", DEEP]) {
        expect(score(given)).toBeGreaterThanOrEqual(0);
        expect(score(given)).toBeLessThanOrEqual(1);
      }
      for (const unit of ["x", "(", "[", "9", "¬", "a∧", " ", "U ", "A+999999999 ", "1,", "9 × "]) {
        const growth = growthOf((size) => score(unit.repeat(size / unit.length)), 12_500, {
          maxSize: 200_000,
        });
        expect(await growth, unit).toBeLessThan(1.6);
      }
    },
  );
});

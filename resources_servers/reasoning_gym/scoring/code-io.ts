import {
  byCodePoint,
  codePointLength,
  dumps,
  loads,
  PyFloat,
  parsePyFloat,
  pyEquals,
  pyStr,
  strip,
} from "nemo-gym/python";
import { oracle, type Scorer } from "./entry.ts";
import { type Tree, treeDistance } from "./tree-distance.ts";

const json = (text: string): unknown => loads(text, { allowNonFinite: true });
/** Larger answers are not compared: the distance takes time proportional to the fourth power of their size. */
const MAX_NODES = 120;
const MAX_LABEL = 300;

function toTree(value: unknown, label: string): Tree {
  if (Array.isArray(value))
    return { label, children: value.map((item, index) => toTree(item, `item_${index}`)) };
  if (typeof value === "object" && value !== null && !(value instanceof PyFloat)) {
    const members = Object.entries(value).sort(([left], [right]) => byCodePoint(left, right));
    return { label, children: members.map(([key, member]) => toTree(member, key)) };
  }
  return { label: `${label}:${pyStr(value)}`, children: [] };
}

const countNodes = (tree: Tree): number =>
  1 + tree.children.reduce((sum, child) => sum + countNodes(child), 0);
const longestLabel = (tree: Tree): number => Math.max(tree.label.length, ...tree.children.map(longestLabel));

export function editDistance(left: string, right: string): number {
  const [a, b] = [Array.from(left), Array.from(right)];
  let previous = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (const [i, letter] of a.entries()) {
    const current = [i + 1];
    for (const [j, other] of b.entries()) {
      const least = Math.min(previous[j + 1] ?? 0, current[j] ?? 0, previous[j] ?? 0);
      current.push(letter === other ? (previous[j] ?? 0) : 1 + least);
    }
    previous = current;
  }
  return previous[b.length] ?? 0;
}

const isNumeric = (text: string) => /^\p{N}+$/u.test(text);

/** Labels are `key:value` for leaves; numbers are compared by their value. */
function labelDistance(left: string, right: string): number {
  const [i, j] = [left.indexOf(":"), right.indexOf(":")];
  if (i < 0 || j < 0) return editDistance(left, right);
  const keys = editDistance(left.slice(0, i), right.slice(0, j));
  const [a, b] = [left.slice(i + 1), right.slice(j + 1)];
  if (a === b) return keys;
  if (isNumeric(a.replaceAll(".", "")) && isNumeric(b.replaceAll(".", ""))) {
    const [x, y] = [parsePyFloat(a), parsePyFloat(b)].map((value) => Math.abs(value ?? Number.NaN));
    const distance =
      Math.max(codePointLength(a), codePointLength(b)) *
      Math.abs(((x ?? 0) - (y ?? 0)) / Math.max(Math.min(x ?? 0, y ?? 0), 10e-5));
    return keys + (Number.isNaN(distance) ? editDistance(a, b) : distance);
  }
  const mixed = isNumeric(a) || isNumeric(b) ? Math.max(codePointLength(left), codePointLength(right)) : 0;
  return keys + editDistance(a, b) + mixed;
}

function similarity(left: unknown, right: unknown): number {
  const trees = [toTree(left, "root"), toTree(right, "root")] as const;
  if (trees.some((tree) => countNodes(tree) > MAX_NODES || longestLabel(tree) > MAX_LABEL)) return 0;
  const size = Math.max(codePointLength(dumps(left)), codePointLength(dumps(right)));
  return Math.max(0, 1 - treeDistance(trees[0], trees[1], labelDistance) / (0.2 * size));
}

/** Compares the JSON in the answer with the correct one; text around it reduces the score. */
export const codeIo: Scorer = (answer, entry) => {
  if (answer === "") return 0;
  const wanted = strip(oracle(entry));
  const given = strip(answer);
  if (given === wanted) return 1;
  const [open, close] = [given.indexOf("{"), given.lastIndexOf("}")];
  if (open === -1 || close === -1) return 0;
  const length = codePointLength(wanted);
  const extra = codePointLength(given.slice(0, open)) + codePointLength(given.slice(close + 1));
  const best = Math.max(length / (length + 0.5 * extra), 0.2);
  let values: [unknown, unknown];
  try {
    values = [json(given.slice(open, close + 1)), json(wanted)];
  } catch {
    return given.includes(wanted) ? length / codePointLength(given) : 0;
  }
  return pyEquals(values[0], values[1]) ? best : Math.max(similarity(values[0], values[1]) * best, 0.01);
};

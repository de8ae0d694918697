import { codePointLength, splitWords } from "nemo-gym/python";

/** The share of the distinct word n-grams of a text that another text contains; 0 for a text with fewer than n words. */
export function ngramOverlap(text: string, other: string, order: number): number {
  const found = ngrams(text, order);
  if (found.size === 0) return 0;
  const present = ngrams(other, order);
  let shared = 0;
  for (const ngram of found) if (present.has(ngram)) shared++;
  return shared / found.size;
}

function ngrams(text: string, order: number): Set<string> {
  const words = splitWords(text);
  const found = new Set<string>();
  for (let start = 0; start + order <= words.length; start++)
    found.add(words.slice(start, start + order).join(" "));
  return found;
}

/** The length of the longest common substring divided by the length of the first text; 0 for an empty text. */
export function substringOverlap(text: string, other: string): number {
  return text === "" ? 0 : longestCommonSubstring(text, other) / codePointLength(text);
}

/** The length in code points, by a binary search: if texts share a substring, they share all shorter parts of it. */
export function longestCommonSubstring(text: string, other: string): number {
  const left = codePointsOf(text);
  const right = codePointsOf(other);
  let shared = 0;
  let limit = Math.min(left.length, right.length) + 1;
  while (limit - shared > 1) {
    const length = Math.floor((shared + limit) / 2);
    if (shareSubstring(left, right, length)) shared = length;
    else limit = length;
  }
  return shared;
}

function codePointsOf(text: string): Uint32Array {
  return Uint32Array.from(text, (character) => character.codePointAt(0) ?? 0);
}

function shareSubstring(left: Uint32Array, right: Uint32Array, length: number): boolean {
  const starts = new Map<number, number>();
  for (const [start, hash] of windowHashes(left, length).entries())
    if (!starts.has(hash)) starts.set(hash, start);
  for (const [start, hash] of windowHashes(right, length).entries()) {
    const same = starts.get(hash);
    if (same !== undefined && equalWindows(left, same, right, start, length)) return true;
  }
  return false;
}

function equalWindows(
  left: Uint32Array,
  leftStart: number,
  right: Uint32Array,
  rightStart: number,
  length: number,
): boolean {
  for (let index = 0; index < length; index++)
    if (left[leftStart + index] !== right[rightStart + index]) return false;
  return true;
}

/** Two primes below 2^26: a product is exact, and both remainders together fit into a number. */
const primes = [67_108_859, 67_108_837] as const;
const bases = [48_271, 69_621] as const;

/** A rolling hash of each part of the given length, in the order of their starts. */
function windowHashes(codes: Uint32Array, length: number): Float64Array {
  const hashes = new Float64Array(Math.max(0, codes.length + 1 - length));
  const [prime, secondPrime] = primes;
  const [base, secondBase] = bases;
  let power = 1;
  let secondPower = 1;
  for (let index = 1; index < length; index++) {
    power = (power * base) % prime;
    secondPower = (secondPower * secondBase) % secondPrime;
  }
  let hash = 0;
  let second = 0;
  for (const [index, code] of codes.entries()) {
    const gone = index >= length ? (codes[index - length] ?? 0) : 0;
    hash = ((hash + prime - ((gone * power) % prime)) * base + code) % prime;
    second =
      ((second + secondPrime - ((gone * secondPower) % secondPrime)) * secondBase + code) % secondPrime;
    if (index + 1 >= length) hashes[index + 1 - length] = hash * 2 ** 26 + second;
  }
  return hashes;
}

/**
 * Sets of real numbers as ordered, disjoint intervals. Ends are doubles; nearly equal ends are equal.
 *
 * @module
 */
import { spend } from "../budget.ts";

interface Piece {
  readonly from: number;
  readonly to: number;
  readonly openFrom: boolean;
  readonly openTo: boolean;
}

export type RealSet = readonly Piece[];

const TOLERANCE = 1e-9;
export const ALL: RealSet = [
  { from: Number.NEGATIVE_INFINITY, to: Number.POSITIVE_INFINITY, openFrom: true, openTo: true },
];

function near(a: number, b: number): boolean {
  if (a === b) return true;
  return (
    Number.isFinite(a) &&
    Number.isFinite(b) &&
    Math.abs(a - b) <= TOLERANCE * Math.max(1, Math.abs(a), Math.abs(b))
  );
}

export function interval(from: number, to: number, openFrom: boolean, openTo: boolean): RealSet {
  const [infiniteFrom, infiniteTo] = [!Number.isFinite(from), !Number.isFinite(to)];
  if (from > to || (near(from, to) && (openFrom || openTo))) return [];
  return [{ from, to, openFrom: openFrom || infiniteFrom, openTo: openTo || infiniteTo }];
}

export function point(value: number): RealSet {
  return interval(value, value, false, false);
}

export function union(...sets: readonly RealSet[]): RealSet {
  const pieces = sets.flat().sort((a, b) => a.from - b.from || Number(a.openFrom) - Number(b.openFrom));
  spend(pieces.length / 8);
  const merged: Piece[] = [];
  for (const piece of pieces) {
    const last = merged.at(-1);
    const touches =
      last && (piece.from < last.to || (near(piece.from, last.to) && !(piece.openFrom && last.openTo)));
    if (!last || !touches) merged.push(piece);
    else if (piece.to > last.to && !near(piece.to, last.to))
      merged[merged.length - 1] = { ...last, to: piece.to, openTo: piece.openTo };
    else if (near(piece.to, last.to))
      merged[merged.length - 1] = { ...last, openTo: last.openTo && piece.openTo };
  }
  return merged;
}

export function complement(set: RealSet): RealSet {
  let from = Number.NEGATIVE_INFINITY;
  let openFrom = true;
  const gaps: Piece[] = [];
  for (const piece of set) {
    gaps.push(...interval(from, piece.from, openFrom, !piece.openFrom));
    from = piece.to;
    openFrom = !piece.openTo;
  }
  return Number.isFinite(from) || set.length === 0
    ? [...gaps, ...interval(from, Number.POSITIVE_INFINITY, openFrom, true)]
    : gaps;
}

export function intersection(a: RealSet, b: RealSet): RealSet {
  return complement(union(complement(a), complement(b)));
}

export function difference(a: RealSet, b: RealSet): RealSet {
  return intersection(a, complement(b));
}

export function sameSet(a: RealSet, b: RealSet): boolean {
  return (
    a.length === b.length &&
    a.every((piece, index) => {
      const other = b[index];
      return (
        other !== undefined &&
        near(piece.from, other.from) &&
        near(piece.to, other.to) &&
        piece.openFrom === other.openFrom &&
        piece.openTo === other.openTo
      );
    })
  );
}

/**
 * Sums, products, integrals and limits in floating point. The difference of the last two approximations estimates the error.
 *
 * @module
 */
import * as c from "./complex.ts";
import { MAX_TERMS } from "./exact.ts";

type Body = (x: c.Complex) => c.Complex | undefined;

const exactly = (value: number) => c.complex(value, 0, 0);

/** Computes a finite sum or product term by term and an infinite sum by extrapolation. */
export function seriesOf(
  operator: "sum" | "product",
  body: Body,
  from: number,
  to: number,
): c.Complex | undefined {
  if (!Number.isInteger(from)) return undefined;
  if (to === Number.POSITIVE_INFINITY) return operator === "sum" ? infiniteSum(body, from) : undefined;
  if (!Number.isInteger(to) || to - from > MAX_TERMS) return undefined;
  const combine = operator === "sum" ? c.add : c.multiply;
  let total = exactly(operator === "sum" ? 0 : 1);
  for (let index = from; index <= to; index++) {
    const term = body(exactly(index));
    if (term === undefined) return undefined;
    total = combine(total, term);
  }
  return total;
}

function infiniteSum(body: Body, from: number): c.Complex | undefined {
  const partial: number[] = [];
  let total = 0;
  for (let index = 0; index < 2 ** 12; index++) {
    const term = body(exactly(from + index));
    if (term === undefined || !c.isKnown(term) || term.im !== 0) return undefined;
    total += term.re;
    if (Math.abs(term.re) <= 1e-18 * Math.abs(total)) return c.complex(total, 0, 1e-14 * Math.abs(total));
    // Partial sums at doubled lengths differ from the limit by powers of 1/n. Extrapolation removes them.
    if (index >= 3 && Number.isInteger(Math.log2(index + 1))) partial.push(total);
  }
  return extrapolate(partial);
}

/** The limit of a function at a point or at infinity, from the right or from below. */
export function limitOf(body: Body, at: number): c.Complex | undefined {
  const values: number[] = [];
  for (let index = 2; index <= 16; index++) {
    const x = Number.isFinite(at) ? at + 2 ** -index : Math.sign(at) * 2 ** index;
    const value = body(exactly(x));
    if (value === undefined || !c.isKnown(value) || Math.abs(value.im) > 1e-9) return undefined;
    values.push(value.re);
  }
  return extrapolate(values);
}

/** Richardson extrapolation of values whose steps halve. */
function extrapolate(values: readonly number[]): c.Complex | undefined {
  let row = values;
  let best: c.Complex | undefined;
  for (let order = 1; row.length >= 2; order++) {
    const next: number[] = [];
    for (let index = 1; index < row.length; index++) {
      const [before = 0, after = 0] = [row[index - 1], row[index]];
      next.push(after + (after - before) / (2 ** order - 1));
    }
    const [last = 0, before = row.at(-1) ?? 0] = [next.at(-1), next.at(-2)];
    const error = Math.abs(last - before) * 4 + 1e-14 * Math.abs(last);
    if (best === undefined || error < best.error) best = c.complex(last, 0, error);
    row = next;
  }
  return best && best.error <= 1e-8 * (1 + Math.abs(best.re)) ? best : undefined;
}

const LEVELS = 6;

/** Tanh-sinh quadrature, accurate to double precision for smooth integrands, even if the ends are singular. */
export function integrate(body: Body, from: number, to: number): c.Complex | undefined {
  if (from === to) return exactly(0);
  if (from > to) {
    const reverse = integrate(body, to, from);
    return reverse && c.negate(reverse);
  }
  const [at, weight] = mapping(from, to);
  let previous: number | undefined;
  for (let level = 2; level <= LEVELS; level++) {
    const h = 2 ** -level;
    let sum = 0;
    for (let index = -Math.ceil(4 / h); index <= Math.ceil(4 / h); index++) {
      const t = index * h;
      const w = weight(t);
      const x = at(t);
      if (!(w > 1e-300) || !Number.isFinite(x) || x <= from || x >= to) continue;
      const value = body(exactly(x));
      if (value === undefined || Math.abs(value.im) > 1e-9) return undefined;
      if (Number.isFinite(value.re)) sum += value.re * w * h;
    }
    if (previous !== undefined) {
      const error = Math.abs(sum - previous);
      if (error <= 1e-11 * (1 + Math.abs(sum))) return c.complex(sum, 0, error + 1e-13 * (1 + Math.abs(sum)));
    }
    previous = sum;
  }
  return undefined;
}

type Curve = (t: number) => number;

function mapping(from: number, to: number): [Curve, Curve] {
  const u = (t: number) => (Math.PI / 2) * Math.sinh(t);
  const du = (t: number) => (Math.PI / 2) * Math.cosh(t);
  if (Number.isFinite(from) && Number.isFinite(to)) {
    const [middle, half] = [(from + to) / 2, (to - from) / 2];
    return [(t) => middle + half * Math.tanh(u(t)), (t) => (half * du(t)) / Math.cosh(u(t)) ** 2];
  }
  if (Number.isFinite(from)) return [(t) => from + Math.exp(u(t)), (t) => Math.exp(u(t)) * du(t)];
  if (Number.isFinite(to)) return [(t) => to - Math.exp(-u(t)), (t) => Math.exp(-u(t)) * du(t)];
  return [(t) => Math.sinh(u(t)), (t) => Math.cosh(u(t)) * du(t)];
}

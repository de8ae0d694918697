/**
 * Complex numbers in double precision with an estimate of their absolute error.
 *
 * @module
 */

export interface Complex {
  readonly re: number;
  readonly im: number;
  /** The estimated distance to the true value. */
  readonly error: number;
}

const EPSILON = 2 ** -52;

export function complex(re: number, im = 0, error?: number): Complex {
  return { re, im, error: error ?? EPSILON * (Math.abs(re) + Math.abs(im)) };
}

export const size = (a: Complex): number => Math.hypot(a.re, a.im);
export const isKnown = (a: Complex): boolean =>
  Number.isFinite(a.re) && Number.isFinite(a.im) && Number.isFinite(a.error);

function rounded(re: number, im: number, error: number): Complex {
  return { re, im, error: error + 2 * EPSILON * (Math.abs(re) + Math.abs(im)) };
}

export const add = (a: Complex, b: Complex): Complex => rounded(a.re + b.re, a.im + b.im, a.error + b.error);
export const negate = (a: Complex): Complex => ({ re: -a.re, im: -a.im, error: a.error });
export const subtract = (a: Complex, b: Complex): Complex => add(a, negate(b));

export function multiply(a: Complex, b: Complex): Complex {
  const error = size(a) * b.error + size(b) * a.error + a.error * b.error;
  return rounded(a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re, error);
}

export function divide(a: Complex, b: Complex): Complex {
  const square = b.re * b.re + b.im * b.im;
  const length = Math.sqrt(square);
  const re = (a.re * b.re + a.im * b.im) / square;
  const im = (a.im * b.re - a.re * b.im) / square;
  return rounded(re, im, (a.error + Math.hypot(re, im) * b.error) / length);
}

/** Applies a function to a number with an error. The new error is the change of the result within the old error. */
function lift(evaluate: (re: number, im: number) => readonly [number, number]): (a: Complex) => Complex {
  return (a) => {
    const [re, im] = evaluate(a.re, a.im);
    if (a.error === 0) return rounded(re, im, 0);
    const [re2, im2] = evaluate(a.re + a.error, a.im);
    const [re3, im3] = a.im === 0 ? [re2, im2] : evaluate(a.re, a.im + a.error);
    return rounded(re, im, Math.hypot(re2 - re, im2 - im) + Math.hypot(re3 - re, im3 - im));
  };
}

export const exp = lift((re, im) =>
  im === 0 ? [Math.exp(re), 0] : [Math.exp(re) * Math.cos(im), Math.exp(re) * Math.sin(im)],
);

/** The principal branch. */
export const log = lift((re, im) => {
  if (im === 0) return [Math.log(Math.abs(re)), re < 0 ? Math.PI : 0];
  return [Math.log(Math.hypot(re, im)), Math.atan2(im, re)];
});

export const sin = lift((re, im) =>
  im === 0 ? [Math.sin(re), 0] : [Math.sin(re) * Math.cosh(im), Math.cos(re) * Math.sinh(im)],
);
export const cos = lift((re, im) =>
  im === 0 ? [Math.cos(re), 0] : [Math.cos(re) * Math.cosh(im), -Math.sin(re) * Math.sinh(im)],
);
export const sinh = lift((re, im) =>
  im === 0 ? [Math.sinh(re), 0] : [Math.sinh(re) * Math.cos(im), Math.cosh(re) * Math.sin(im)],
);
export const cosh = lift((re, im) =>
  im === 0 ? [Math.cosh(re), 0] : [Math.cosh(re) * Math.cos(im), Math.sinh(re) * Math.sin(im)],
);
export const abs = lift((re, im) => [Math.hypot(re, im), 0]);

const realAtan = lift((re) => [Math.atan(re), 0]);
const realAsin = lift((re) => [Math.asin(re), 0]);
const realAcos = lift((re) => [Math.acos(re), 0]);
const realSqrt = lift((re) => (re < 0 ? [0, Math.sqrt(-re)] : [Math.sqrt(re), 0]));

const ONE = complex(1, 0, 0);
const I = complex(0, 1, 0);
const TWO = complex(2, 0, 0);

export function sqrt(a: Complex): Complex {
  return a.im === 0 ? realSqrt(a) : power(a, complex(0.5, 0, 0));
}

/** `a` to the power `b`, on the principal branch. */
export function power(a: Complex, b: Complex): Complex {
  if (b.im === 0 && Number.isInteger(b.re) && b.error === 0 && Math.abs(b.re) <= 1024)
    return integerPower(a, b.re);
  if (a.re === 0 && a.im === 0) return b.re > 0 ? complex(0, 0, 0) : complex(Number.NaN);
  if (a.im === 0 && b.im === 0 && a.re > 0) {
    const value = a.re ** b.re;
    const error = value * ((Math.abs(b.re) * a.error) / a.re + Math.abs(Math.log(a.re)) * b.error);
    return rounded(value, 0, error);
  }
  return exp(multiply(b, log(a)));
}

function integerPower(a: Complex, exponent: number): Complex {
  if (exponent < 0) return divide(ONE, integerPower(a, -exponent));
  let result = ONE;
  let factor = a;
  for (let rest = exponent; rest > 0; rest = Math.floor(rest / 2)) {
    if (rest % 2 === 1) result = multiply(result, factor);
    if (rest > 1) factor = multiply(factor, factor);
  }
  return result;
}

export function asin(a: Complex): Complex {
  if (a.im === 0 && Math.abs(a.re) <= 1) return realAsin(a);
  // -i log(i a + sqrt(1 - a^2))
  return multiply(negate(I), log(add(multiply(I, a), sqrt(subtract(ONE, multiply(a, a))))));
}

export function acos(a: Complex): Complex {
  if (a.im === 0 && Math.abs(a.re) <= 1) return realAcos(a);
  return subtract(complex(Math.PI / 2), asin(a));
}

export function atan(a: Complex): Complex {
  if (a.im === 0) return realAtan(a);
  const ia = multiply(I, a);
  const logs = subtract(log(subtract(ONE, ia)), log(add(ONE, ia)));
  return divide(multiply(I, logs), TWO);
}

export function asinh(a: Complex): Complex {
  return log(add(a, sqrt(add(multiply(a, a), ONE))));
}

export function acosh(a: Complex): Complex {
  return log(add(a, multiply(sqrt(subtract(a, ONE)), sqrt(add(a, ONE)))));
}

export function atanh(a: Complex): Complex {
  return divide(subtract(log(add(ONE, a)), log(subtract(ONE, a))), TWO);
}

const LANCZOS = [
  0.99999999999980993, 676.5203681218851, -1259.1392167224028, 771.32342877765313, -176.61502916214059,
  12.507343278686905, -0.13857109526572012, 9.9843695780195716e-6, 1.5056327351493116e-7,
];

/** The gamma function by the Lanczos approximation, accurate to about 14 digits. */
export function gamma(a: Complex): Complex {
  if (a.re < 0.5) {
    const reflected = multiply(sin(multiply(complex(Math.PI), a)), gamma(subtract(ONE, a)));
    return divide(complex(Math.PI), reflected);
  }
  const z = subtract(a, ONE);
  let sum = complex(LANCZOS[0] ?? 1);
  for (const [index, coefficient] of LANCZOS.slice(1).entries()) {
    sum = add(sum, divide(complex(coefficient), add(z, complex(index + 1, 0, 0))));
  }
  const t = add(z, complex(7.5, 0, 0));
  const scale = multiply(complex(Math.sqrt(2 * Math.PI)), power(t, add(z, complex(0.5, 0, 0))));
  const value = multiply(multiply(scale, exp(negate(t))), sum);
  return { ...value, error: value.error + 1e-13 * size(value) };
}

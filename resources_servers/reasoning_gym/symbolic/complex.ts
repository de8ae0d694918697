/** Complex numbers and functions with the branches of a computer algebra system. */
export interface Complex {
  readonly re: number;
  readonly im: number;
}

export const complex = (re: number, im = 0): Complex => ({ re, im });
export const plus = (a: Complex, b: Complex): Complex => complex(a.re + b.re, a.im + b.im);
export const minus = (a: Complex, b: Complex): Complex => complex(a.re - b.re, a.im - b.im);
export const times = (a: Complex, b: Complex): Complex =>
  complex(a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re);
export const size = (a: Complex): number => Math.hypot(a.re, a.im);

export function over(a: Complex, b: Complex): Complex {
  const scale = b.re * b.re + b.im * b.im;
  return complex((a.re * b.re + a.im * b.im) / scale, (a.im * b.re - a.re * b.im) / scale);
}

const ONE = complex(1);
const I = complex(0, 1);

export function exp(a: Complex): Complex {
  const length = Math.exp(a.re);
  return complex(length * Math.cos(a.im), length * Math.sin(a.im));
}

export const log = (a: Complex): Complex => complex(Math.log(size(a)), Math.atan2(a.im, a.re));

export function power(base: Complex, exponent: Complex): Complex {
  if (base.re === 0 && base.im === 0) return exponent.re > 0 ? complex(0) : complex(Number.NaN);
  return exp(times(exponent, log(base)));
}

export const sqrt = (a: Complex): Complex => power(a, complex(0.5));
export const sinh = (a: Complex): Complex =>
  complex(Math.sinh(a.re) * Math.cos(a.im), Math.cosh(a.re) * Math.sin(a.im));
export const cosh = (a: Complex): Complex =>
  complex(Math.cosh(a.re) * Math.cos(a.im), Math.sinh(a.re) * Math.sin(a.im));
export const sin = (a: Complex): Complex =>
  complex(Math.sin(a.re) * Math.cosh(a.im), Math.cos(a.re) * Math.sinh(a.im));
export const cos = (a: Complex): Complex =>
  complex(Math.cos(a.re) * Math.cosh(a.im), -Math.sin(a.re) * Math.sinh(a.im));

/** asin z = -i log(iz + sqrt(1 - z²)) */
export const asin = (a: Complex): Complex =>
  times(complex(0, -1), log(plus(times(I, a), sqrt(minus(ONE, times(a, a))))));
export const acos = (a: Complex): Complex => minus(complex(Math.PI / 2), asin(a));

/** atan z = i/2 (log(1 - iz) - log(1 + iz)) */
export function atan(a: Complex): Complex {
  const turned = times(I, a);
  return times(complex(0, 0.5), minus(log(minus(ONE, turned)), log(plus(ONE, turned))));
}

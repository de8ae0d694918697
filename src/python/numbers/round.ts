/** Digits past the kept ones that a double needs to show that it is not exactly on a tie. */
const TIE_DIGITS = 25;

/** Python's `round(value, digits)`: the nearest decimal to the exact binary value, ties to the even digit. */
export function pyRound(value: number, digits = 0): number {
  if (!Number.isFinite(value) || Math.abs(value) >= 1e21) return value;
  const magnitude = Math.abs(value);
  const rounded = isTie(magnitude, digits) ? evenNeighbour(magnitude, digits) : magnitude.toFixed(digits);
  const result = Number(rounded);
  return Object.is(value, -0) || value < 0 ? -result : result;
}

function isTie(magnitude: number, digits: number): boolean {
  const expansion = magnitude.toFixed(digits + TIE_DIGITS);
  const rest = expansion.slice(expansion.indexOf(".") + 1 + digits);
  return /^50*$/.test(rest);
}

function evenNeighbour(magnitude: number, digits: number): string {
  // `toFixed` takes the larger neighbour of a tie; when its last digit is odd, the even one is just below.
  const above = magnitude.toFixed(digits);
  const lastDigit = Number(above.at(-1));
  if (lastDigit % 2 === 0) return above;
  return `${above.slice(0, -1)}${lastDigit - 1}`;
}

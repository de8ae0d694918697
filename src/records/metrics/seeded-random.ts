/** Numbers in [0, 1) that depend only on the seed (sfc32). */
export function seededNumbers(seed: number): () => number {
  let a = 0x9e3779b9 ^ seed;
  let b = 0x243f6a88 ^ Math.floor(seed / 0x1_0000_0000);
  let c = 0xb7e15162;
  let counter = 1;
  const next = (): number => {
    const sum = (a + b + counter++) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = (((c << 21) | (c >>> 11)) + sum) | 0;
    return sum >>> 0;
  };
  // Discards the first numbers, which correlate with the seed.
  for (let round = 0; round < 12; round++) next();
  return () => next() / 0x1_0000_0000;
}

/** Compares strings by code point like Python, for `Array.prototype.sort`. JavaScript compares UTF-16 units. */
export function byCodePoint(left: string, right: string): number {
  const length = Math.min(left.length, right.length);
  for (let index = 0; index < length; index++) {
    const a = left.charCodeAt(index);
    const b = right.charCodeAt(index);
    if (a === b) continue;
    const aSurrogate = a >= 0xd800 && a <= 0xdfff;
    const bSurrogate = b >= 0xd800 && b <= 0xdfff;
    if (aSurrogate !== bSurrogate) return aSurrogate ? 1 : -1;
    return a - b;
  }
  return left.length - right.length;
}

/** Python's `len` of a string: code points, not UTF-16 units. */
export function codePointLength(text: string): number {
  let length = text.length;
  for (let index = 0; index + 1 < text.length; index++) {
    if ((text.codePointAt(index) ?? 0) > 0xffff) {
      length--;
      index++;
    }
  }
  return length;
}

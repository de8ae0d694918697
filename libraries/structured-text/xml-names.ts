const nameStart =
  ":A-Z_a-z\\u{c0}-\\u{d6}\\u{d8}-\\u{f6}\\u{f8}-\\u{2ff}\\u{370}-\\u{37d}\\u{37f}-\\u{1fff}\\u{200c}-\\u{200d}\\u{2070}-\\u{218f}\\u{2c00}-\\u{2fef}\\u{3001}-\\u{d7ff}\\u{f900}-\\u{fdcf}\\u{fdf0}-\\u{fefe}\\u{ff00}-\\u{ffef}";

/** An XML name, at the regular expression's `lastIndex`. */
export const xmlName = new RegExp(
  `[${nameStart}][-.0-9\\u{b7}\\u{300}-\\u{36f}\\u{203f}-\\u{2040}${nameStart}]*`,
  "uy",
);

/** Characters that XML does not allow: control characters, surrogates, U+FFFE and U+FFFF. */
export const forbiddenInXml = /[^\t\n\r\u{20}-\u{d7ff}\u{e000}-\u{fffd}\u{10000}-\u{10ffff}]/u;

const MAX_TEXT = 10_000;
/** A long text is cut here first, so late that the cut cannot affect the first `MAX_TEXT` characters. */
const FIRST_PREFIX = 32_768;
const PREFIX_MARGIN = 4_096;

const URL = /https?:\/\/[-_.?&~;+=/#0-9A-Za-z]{1,2076}/g;
const MAIL = /[-_.0-9A-Za-z]{1,64}@[-_0-9A-Za-z]{1,255}[-_.0-9A-Za-z]{1,255}/g;
/** Vietnamese vowels followed by a separate tone mark. */
const VOWEL_AND_TONE = /[AEIOUYaeiouyÂÊÔâêôĂăƠơƯư][\u0300\u0301\u0303\u0309\u0323]/g;
const UPPER = /^\p{Uppercase}$/u;

function withoutAddresses(text: string): string {
  for (let length = FIRST_PREFIX; ; length *= 2) {
    const result = text.slice(0, length).replace(URL, " ").replace(MAIL, " ");
    if (length >= text.length || result.length > MAX_TEXT + PREFIX_MARGIN) return result;
  }
}

function isLatin(character: string): boolean {
  return character >= "A" && character <= "z";
}

/** The characters that identify a language: no addresses, no runs of spaces, no Latin letters within another script. */
function tellingCharacters(text: string): string[] {
  const clean = withoutAddresses(text).replace(VOWEL_AND_TONE, (pair) => pair.normalize("NFC"));
  const characters: string[] = [];
  let previous = "";
  let read = 0;
  for (const character of clean) {
    if (read++ === MAX_TEXT) break;
    if (character !== " " || previous !== " ") characters.push(character);
    previous = character;
  }
  let latin = 0;
  let other = 0;
  for (const character of characters) {
    if (isLatin(character)) latin++;
    else if (character >= "\u0300" && !(character >= "\u1e00" && character <= "\u1eff")) other++;
  }
  return latin * 2 < other ? characters.filter((character) => !isLatin(character)) : characters;
}

/** Merges characters with the same information: all kana of a kind, all Hangul, all characters that are not letters. */
function normalize(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  if (code < 0x80) return (code >= 0x41 && code <= 0x5a) || (code >= 0x61 && code <= 0x7a) ? character : " ";
  if (code < 0x100) return code === 0xa0 || code === 0xab || code === 0xb0 || code === 0xbb ? " " : character;
  if (code === 0x219) return "\u015f";
  if (code === 0x21b) return "\u0163";
  if (code === 0x6cc) return "\u064a";
  if (code >= 0x1ea0 && code <= 0x1eff) return "\u1ec3";
  if (code >= 0x2000 && code <= 0x206f) return " ";
  if (code >= 0x3040 && code <= 0x309f) return "\u3042";
  if (code >= 0x30a0 && code <= 0x30ff) return "\u30a2";
  if ((code >= 0x3100 && code <= 0x312f) || (code >= 0x31a0 && code <= 0x31bf)) return "\u3105";
  if (code >= 0xac00 && code <= 0xd7af) return "\uac00";
  return character;
}

function isUpper(character: string): boolean {
  return character < "\u0080" ? character >= "A" && character <= "Z" : UPPER.test(character);
}

/** The results of `lookup` for the 1-, 2- and 3-grams of a text, in order; words in capitals have none. */
export function letterGrams<Known>(text: string, lookup: (gram: string) => Known | undefined): Known[] {
  const found: Known[] = [];
  const collect = (gram: string) => {
    const known = lookup(gram);
    if (known !== undefined) found.push(known);
  };
  // The last three characters, oldest first; "" for missing ones.
  let first = "";
  let second = "";
  let last = " ";
  let lastIsUpper = false;
  let capitals = false;
  for (const raw of tellingCharacters(text)) {
    const character = normalize(raw);
    if (last === " ") {
      capitals = false;
      if (character === " ") continue;
      first = "";
      second = " ";
    } else {
      first = second;
      second = last;
    }
    last = character;
    const upper = isUpper(character);
    if (!upper) capitals = false;
    else if (lastIsUpper) capitals = true;
    lastIsUpper = upper;
    if (capitals) continue;
    if (last !== " ") collect(last);
    collect(second + last);
    if (first !== "") collect(first + second + last);
  }
  return found;
}

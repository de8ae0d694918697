import { useContext, useMemo } from "react";
import { PyFloat } from "../../../base/python/numbers/door.ts";
import { prettyJson } from "../../conversation/content-parts.ts";
import { Needles } from "./plain.tsx";

/** Attribute of the toggle of a closed element with a match: the keys that jump between matches open it. */
export type HoldsMatch = { "data-holds-match"?: true };

/** Whether a hidden value contains one of the searched words. Undefined: nothing is hidden. */
export function useHoldsMatch(hidden: unknown): HoldsMatch {
  const needles = useContext(Needles);
  return useMemo(() => {
    const sought = hidden === undefined ? [] : needles.map((needle) => needle.toLowerCase());
    return sought.some((needle) => containsWord(hidden, needle)) ? { "data-holds-match": true } : {};
  }, [hidden, needles]);
}

/** Position of the first match in a text with at least one character at or after `from`. */
export function useNextMatch(text: string | undefined, from: number): number | undefined {
  const needles = useContext(Needles);
  return useMemo(() => {
    if (text === undefined || needles.length === 0) return undefined;
    const small = text.toLowerCase();
    const places = needles.map((needle) => small.indexOf(needle.toLowerCase(), from - needle.length + 1));
    const found = places.filter((place) => place >= 0);
    return found.length === 0 ? undefined : Math.min(...found);
  }, [text, from, needles]);
}

/** Whether a key or value in JSON contains a lower-case word. */
export function containsWord(value: unknown, needle: string): boolean {
  if (typeof value === "string") return value.toLowerCase().includes(needle);
  if (Array.isArray(value)) return value.some((item) => containsWord(item, needle));
  if (value !== null && typeof value === "object" && !(value instanceof PyFloat))
    return Object.entries(value).some(
      ([key, item]) => containsWord(key, needle) || containsWord(item, needle),
    );
  return prettyJson(value).toLowerCase().includes(needle);
}

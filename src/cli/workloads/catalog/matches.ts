import { getCloseMatches } from "../../../base/python/door.ts";

/** Minimum similarity of a query and a field, or a word of the field. */
const CUTOFF = 0.7;

/** Text in which case and the way words are joined make no difference. */
const plain = (text: string): string => text.toLowerCase().replaceAll(/[_\-\s]+/g, " ");

/** The entries with a field that contains the query; without any, those with a field or a word similar to it. */
export function matching<Entry>(
  query: string,
  entries: readonly Entry[],
  fieldsOf: (entry: Entry) => Iterable<string | undefined>,
): Entry[] {
  const needle = plain(query);
  const texts = entries.map((entry) => {
    const fields = [...fieldsOf(entry)].filter((field) => field !== undefined);
    return { entry, fields: fields.map(plain).filter((field) => field !== "") };
  });
  const found = texts.filter(({ fields }) => fields.some((field) => field.includes(needle)));
  const shown = found.length > 0 ? found : texts.filter(({ fields }) => fields.some(isSimilar));
  return shown.map(({ entry }) => entry);

  function isSimilar(field: string): boolean {
    return getCloseMatches(needle, [field, ...field.split(" ")], 1, CUTOFF).length > 0;
  }
}

const MASK = "****";
/** Shorter values are words like `EMPTY` or `dummy` that local engines take; masking them would garble messages. */
const SHORTEST_SECRET = 8;

/** Makes a function that takes secrets out of a text, in the forms they have in URLs and JSON too. */
export function redactor(secrets: readonly (string | undefined)[]): (text: string) => string {
  const forms = new Set<string>();
  for (const secret of secrets) {
    if (secret === undefined || secret.length < SHORTEST_SECRET) continue;
    forms.add(secret);
    forms.add(encodeURIComponent(secret));
    forms.add(JSON.stringify(secret).slice(1, -1));
  }
  // Longest first, so that no form leaves the rest of a longer one behind.
  const ordered = [...forms].sort((left, right) => right.length - left.length);
  if (ordered.length === 0) return (text) => text;
  return (text) => ordered.reduce((rest, form) => rest.split(form).join(MASK), text);
}

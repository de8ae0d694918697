import { MASK } from "../secret-names.ts";

/** Shorter values are words like `EMPTY` or `dummy` that local engines take; masking them would garble messages. */
const SHORTEST_SECRET = 8;
/** What stands in for a key where none is needed (`not-needed`, `sk-no-key-required`) is shorter or has no digit. */
const SHORTEST_IN_ANSWERS = 16;

/** How deep JSON may be written into texts of JSON. */
const JSON_LEVELS = 3;

/** Makes a function that takes secrets out of a text, in the forms they have in headers, URLs and JSON too. */
export function redactor(secrets: readonly (string | undefined)[]): (text: string) => string {
  const forms = new Set<string>();
  for (const secret of secrets.flatMap(bare)) {
    if (secret.length < SHORTEST_SECRET) continue;
    forms.add(secret);
    forms.add(encodeURIComponent(secret));
    // Also as part of a text that is itself in JSON: an endpoint may repeat headers in what it says.
    for (let form = secret, level = 0; level < JSON_LEVELS; level++) {
      form = JSON.stringify(form).slice(1, -1);
      forms.add(form);
    }
  }
  // Longest first, so that no form leaves the rest of a longer one behind.
  const ordered = [...forms].sort((left, right) => right.length - left.length);
  if (ordered.length === 0) return (text) => text;
  return (text) =>
    ordered.reduce((rest, form) => (rest.includes(form) ? rest.split(form).join(MASK) : rest), text);
}

/** The same for what a model says: only what is a key beyond doubt, since answers are scored. */
export function answerRedactor(secrets: readonly (string | undefined)[]): (text: string) => string {
  return redactor(
    secrets.flatMap(bare).filter((secret) => secret.length >= SHORTEST_IN_ANSWERS && /\d/.test(secret)),
  );
}

/** Without the blanks a header loses on its way and without the scheme before it: what every longer form contains. */
function bare(secret: string | undefined): string[] {
  return secret === undefined ? [] : [secret.trim().replace(/^(?:bearer|basic)\s+/i, "")];
}

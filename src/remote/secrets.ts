const MIN_SECRET_LENGTH = 4;

/** `text` without the given secrets and without the query strings of URLs, which carry signatures. */
export function hideSecrets(text: string, secrets: readonly (string | undefined)[]): string {
  let hidden = text;
  for (const secret of secrets) {
    if (secret === undefined || secret.length < MIN_SECRET_LENGTH) continue;
    for (const spelling of [secret, encodeURIComponent(secret)]) hidden = hidden.replaceAll(spelling, "****");
  }
  return hidden
    .replace(/(https?:\/\/)[^\s/@"']+@/g, "$1****@")
    .replace(/(https?:\/\/[^\s?"'<>]+)\?[^\s"'<>]*/g, "$1")
    .replace(/\b(Bearer|Basic)\s+[\w.~+/=-]{8,}/gi, "$1 ****");
}

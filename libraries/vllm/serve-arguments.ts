/** The arguments of `vllm serve` for options in config notation: snake_case names, YAML values. */
export function serveArguments(options: Readonly<Record<string, unknown>>): string[] {
  const words: string[] = [];
  for (const [name, value] of Object.entries(options)) {
    if (value === null || value === undefined) continue;
    const flag = `--${name.replaceAll("_", "-")}`;
    if (value === true) words.push(flag);
    else if (value === false) words.push(flag.replace(/^--/, "--no-"));
    else if (Array.isArray(value)) words.push(flag, ...value.map(textOf));
    else words.push(flag, textOf(value));
  }
  return words;
}

function textOf(value: unknown): string {
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

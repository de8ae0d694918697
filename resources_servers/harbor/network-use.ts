const INSTALLS = [
  /\b(apt|apt-get|apk|dnf|yum|microdnf)\s(.*\s)?(update|install|add)\b/,
  /\bpip3?\s(.*\s)?(install|download)\s(?!.*--no-index)/,
  /\b(npm|pnpm|yarn)\s(.*\s)?(ci|i|install|add)\b/,
  /^yarn$/,
  /\b(cargo|gem|go|conda|mamba|bundle|poetry|composer|pipx)\s+install\b/,
  /\bpipx\s+run\b|\bgo\s+(get|mod\s+download)\b|\b(hf|huggingface-cli)\s+download\b|\bcpanm\s/,
  /\buvx\s(?!.*--offline)/,
  /\buv\s+(sync|add|tool|run\s.*--with)\b(?!.*--offline)/,
];
const OWN_MACHINE = String.raw`localhost\b|127\.|0\.0\.0\.0|\[::1?\]|\$`;
const DOWNLOADS = new RegExp(String.raw`\b(curl|wget|git\s+clone)\b.*\bhttps?://(?!${OWN_MACHINE})`);

/** The first command of a shell script that downloads something, with its line. */
export function networkUse(script: string): { line: number; command: string } | undefined {
  let line = 1;
  // A line that ends with a backslash continues in the next one.
  for (const text of script.split(/(?<!\\)\r?\n/)) {
    const command = text.replace(/\\\r?\n\s*/g, "").trim();
    if (!command.startsWith("#") && [...INSTALLS, DOWNLOADS].some((pattern) => pattern.test(command)))
      return { line, command };
    line += text.split("\n").length;
  }
  return undefined;
}

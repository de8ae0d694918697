/**
 * The rule for secrets: which names have secret values, and how these are masked wherever text leaves the process (config of
 * the head server, `env resolve`, logs, results, failures, captures, messages, exporters).
 */

/** The text that replaces a secret. */
export const MASK = "****";

/** Parts of a name, without separators, that mean a secret anywhere in it: `db_password`, `clientSecret`. */
const SECRET_PART =
  /secret|passw|passphrase|passcode|accesskeyid|credential|authorization|authentication|bearer|cookie|(?:api|access|auth|bearer|refresh|session|private|signing|encryption)(?:key|token)/;
/** Whole words of a name that mean a secret: `auth`, but not `author`. */
const SECRET_WORD = new Set(["auth", "oauth", "jwt", "pwd", "pat"]);
/** Names whose numbers are secrets. Other numbers are settings. */
const SECRET_NUMBER = /secret|passw|passphrase|pwd/i;
/** Last words of names that describe a secret but do not hold one: `key_column`, `api_key_env`, `auth_type`. */
const DESCRIPTION = words(
  "column field name names path paths file files dir directory type mode kind method scheme format policy strategy version id ids index size count length " +
    "limit ratio budget rate price cost usage capture env var variable header headers prefix suffix url uri endpoint host port timeout seconds ttl enabled required",
);
/** Words before `key` and `token` that mean no secret: `input_key` is a field of data, `eos_token` a token of a model. */
const DATA_WORD = words(
  "input output question answer prompt message messages metric reward score label text content context row column field json dict data dataset index map task " +
    "problem response request result value target expected reference truth image primary foreign sort group partition join merge split unique lookup cache idempotency " +
    "eos bos pad unk sep cls mask stop start end begin special think thinking reasoning system user assistant tool next first last",
);

/** Whether the value of a name is a secret. Below a key that ends in `headers`, names are HTTP headers. */
export function isSecretName(name: unknown, parent?: unknown): boolean {
  if (typeof name !== "string") return false;
  if (isHeaderMap(parent) && isSecretHeader(name)) return true;
  const parts = wordsOf(name);
  const last = parts.at(-1) ?? "";
  if (DESCRIPTION.has(last) && !/accesskeyid$/.test(parts.join(""))) return false;
  if (isStrongName(parts)) return true;
  const index = parts.findIndex((part) => part === "token" || part === "key");
  return index >= 0 && !DATA_WORD.has(parts[index - 1] ?? "");
}

function isStrongName(parts: readonly string[]): boolean {
  return SECRET_PART.test(parts.join("")) || parts.some((part) => SECRET_WORD.has(part));
}

function wordsOf(name: string): string[] {
  return name
    .replace(/([a-z0-9])([A-Z])/g, "$1 $2")
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((part) => part !== "");
}

function isHeaderMap(key: unknown): boolean {
  return typeof key === "string" && /headers$/i.test(key);
}

const SECRET_HEADER = /key|token|secret|auth|cookie|passw|credential|signature/i;

/** Whether the value of an HTTP header is a secret: `Authorization`, `Cookie`, `X-Api-Key`. */
export function isSecretHeader(name: string): boolean {
  return SECRET_HEADER.test(name);
}

/** Masks a scalar: the whole text below a secret name, and the secrets within other texts. */
export function maskScalar<T>(value: T, name: unknown, parent?: unknown): T | string {
  if (typeof value === "string") {
    return value !== "" && isSecretName(name, parent) ? MASK : maskWithin(value);
  }
  const isNumber = typeof value === "number" || typeof value === "bigint";
  return isNumber && SECRET_NUMBER.test(String(name)) && isSecretName(name) ? MASK : value;
}

/** Whether the next word of a command is a secret: `--api-key`. */
export function isSecretFlag(word: unknown): boolean {
  return typeof word === "string" && /^--?[a-z][\w-]*$/i.test(word) && isSecretName(word);
}

const PRIVATE_KEY = /-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g;
const AUTHORIZATION = /\b((?:proxy-)?authorization["']?\s*[:=]\s*["']?)[^"'\r\n]+/gi;
const SCHEME = /\b(Bearer|Basic)\s+[\w.~+/=-]{8,}/gi;
/** `--api-key x`, `--password=x`, `?token=x&sig=x`, `AccountKey=x;`. The look-behind keeps the search linear. */
const ASSIGNED =
  /(?<![\w.-])(-{0,2}[a-z][\w.-]*)(\s*=\s*)([^\s&;,"'`]+)|(?<=^|\s)(--?[a-z][\w-]*)(\s+)(?!-)([^\s"'`]+)/gi;

/** Masks the secrets within a text such as a command, a URL or a connection string. */
function maskWithin(text: string): string {
  return maskUserInfo(text)
    .replace(PRIVATE_KEY, MASK)
    .replace(AUTHORIZATION, `$1${MASK}`)
    .replace(/\bBearer\s+[\w.~+/=-]{16,}/g, `Bearer ${MASK}`)
    .replace(
      ASSIGNED,
      (whole, name?: string, equals?: string, _value?: string, flag?: string, gap?: string) => {
        if (flag !== undefined) return isSecretFlag(flag) ? `${flag}${gap}${MASK}` : whole;
        const hides =
          name !== undefined && !/^key$/i.test(name) && (isSecretName(name) || /^sig(nature)?$/i.test(name));
        return hides ? `${name}${equals}${MASK}` : whole;
      },
    );
}

/** Whether everything below a name is a secret: `credentials`, `api_keys`; but not `token_limits`. */
export function hidesContents(name: unknown): boolean {
  return typeof name === "string" && isSecretName(name) && isStrongName(wordsOf(name));
}

/**
 * Returns a copy of plain data in which secrets are masked: by name, by being part of a URL, and every other text that
 * repeats a value masked by name.
 */
export function maskSecrets<T>(data: T): T;
export function maskSecrets(data: unknown): unknown {
  const redact = redactor(secretsIn(data));
  return maskBelow(data, undefined, undefined, redact);
}

function maskBelow(
  value: unknown,
  name: string | undefined,
  parent: string | undefined,
  redact: (text: string) => string,
): unknown {
  if (Array.isArray(value))
    return value.map((item, index) =>
      isSecretFlag(value[index - 1]) ? MASK : maskBelow(item, name, parent, redact),
    );
  if (isPlainObject(value)) {
    const below = (key: string) => (hidesContents(name) ? name : key);
    return Object.fromEntries(
      Object.entries(value).map(([key, member]) => [key, maskBelow(member, below(key), name, redact)]),
    );
  }
  const masked = maskScalar(value, name, parent);
  return typeof masked === "string" ? redact(masked) : masked;
}

/** Collects the secrets in plain data: texts below secret names, and passwords in URLs. */
export function secretsIn(data: unknown): string[] {
  const found = new Set<string>();
  collect(data, undefined, undefined, false, found);
  return [...found];
}

function collect(
  value: unknown,
  name: string | undefined,
  parent: string | undefined,
  hidden: boolean,
  found: Set<string>,
): void {
  if (typeof value === "string") {
    // `credentials` may also contain plain words, which must not be masked elsewhere.
    if (isSecretName(name, parent) || (hidden && isKeyBeyondDoubt(value))) found.add(value);
    for (const [userInfo] of value.matchAll(USER_INFO)) found.add(passwordOf(userInfo));
  } else if (Array.isArray(value)) {
    for (const item of value) collect(item, name, parent, hidden, found);
  } else if (isPlainObject(value)) {
    for (const [key, member] of Object.entries(value)) {
      collect(member, key, name, hidden || hidesContents(name), found);
    }
  }
}

function passwordOf(userInfo: string): string {
  return userInfo.slice(userInfo.indexOf(":") + 1, -1);
}

function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (typeof value !== "object" || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

/** The user info of a URL with its `@`. The look-behind keeps the search linear. */
const USER_INFO = /(?<=:\/\/)[^\s/?#"'<>\\]*@/g;

/** Masks user names and passwords in the URLs of a text. */
export function maskUserInfo(text: string): string {
  return text.includes("://") ? text.replace(USER_INFO, `${MASK}@`) : text;
}

/** Shorter values are words like `EMPTY` or `dummy` that local engines accept as a key. Masking them would garble texts. */
const SHORTEST_SECRET = 8;
/** Minimum length of a secret with letters and digits: `hunter2`. */
const SHORTEST_MIXED_SECRET = 6;
/** Placeholders for a key (`not-needed`, `sk-no-key-required`) are shorter or have no digit. */
const SHORTEST_IN_ANSWERS = 16;
/** How often a secret may be quoted as JSON in JSON. */
const JSON_LEVELS = 3;
/** Shorter encoded forms occur by chance. */
const SHORTEST_ENCODED = 8;

/** Returns a function that masks secrets in a text, including their forms in URLs, JSON, base64 and hex. */
export function redactor(secrets: readonly (string | undefined)[]): (text: string) => string {
  const forms = new Set(secrets.flatMap(bare).filter(isRedactable).flatMap(encodedForms));
  // Longest first, so that a short form does not split a longer one.
  const ordered = [...forms].sort((left, right) => right.length - left.length);
  if (ordered.length === 0) return (text) => text;
  return (text) =>
    ordered.reduce((rest, form) => (rest.includes(form) ? rest.replaceAll(form, () => MASK) : rest), text);
}

/** The same for scored answers of a model: masks only values that are certainly keys. */
export function answerRedactor(secrets: readonly (string | undefined)[]): (text: string) => string {
  return redactor(secrets.flatMap(bare).filter(isKeyBeyondDoubt));
}

function isKeyBeyondDoubt(secret: string): boolean {
  return secret.length >= SHORTEST_IN_ANSWERS && /\d/.test(secret);
}

/** Masks possible secrets in a message about a request: the given values, user info, credentials and signed URLs. */
export function redactMessage(text: string, secrets: readonly (string | undefined)[]): string {
  return maskUserInfo(redactor(secrets)(text))
    .replace(/(https?:\/\/[^\s?"'<>]+)\?[^\s"'<>]*/g, "$1")
    .replace(SCHEME, `$1 ${MASK}`);
}

function isRedactable(secret: string): boolean {
  if (secret.length >= SHORTEST_SECRET) return true;
  return secret.length >= SHORTEST_MIXED_SECRET && /\d/.test(secret) && /[a-z]/i.test(secret);
}

/** A secret without surrounding blanks and scheme. All longer forms contain this one. */
function bare(secret: string | undefined): string[] {
  return secret === undefined ? [] : [secret.trim().replace(/^(?:bearer|basic)\s+/i, "")];
}

function encodedForms(secret: string): string[] {
  const forms = [secret, encodeURIComponent(secret)];
  for (let form = secret, level = 0; level < JSON_LEVELS; level++) {
    form = JSON.stringify(form).slice(1, -1);
    forms.push(form);
  }
  const bytes = Buffer.from(secret, "utf8");
  const encoded = [
    bytes.toString("hex"),
    bytes.toString("hex").toUpperCase(),
    bytes.toString("base64"),
    bytes.toString("base64url"),
    ...base64Parts(bytes),
  ];
  return [...forms, ...encoded.filter((form) => form.length >= SHORTEST_ENCODED)];
}

/**
 * Base64 encodes three bytes as four characters, so the encoding of a text that contains the secret has one of three forms of
 * it, without the characters that depend on its neighbours.
 */
function base64Parts(secret: Buffer): string[] {
  return [0, 1, 2].flatMap((offset) => {
    const padded = Buffer.concat([Buffer.alloc(offset), secret]);
    const end = Math.floor((padded.length * 8) / 6);
    const form = padded.toString("base64").slice(Math.ceil((offset * 8) / 6), end);
    return [form, form.replaceAll("+", "-").replaceAll("/", "_")];
  });
}

const known = new Set<string>();
let redactAllKnown = redactor([]);

/** Remembers the secrets of a config of this process, for `redactKnown`. */
export function rememberSecrets(config: unknown): void {
  const before = known.size;
  for (const secret of secretsIn(config)) known.add(secret);
  if (known.size > before) redactAllKnown = redactor([...known]);
}

/** Masks all remembered secrets in a text that leaves the process, such as a log line or an error message. */
export function redactKnown(text: string): string {
  return redactAllKnown(text);
}

/** The names in a mapping on the command line: `{Authorization: …}`. */
const INNER_NAME = /["']?([\w-]+)["']?\s*:/g;

/** Masks a command line word for a message: the value of a secret key, and a mapping with secrets. */
export function maskWord(word: string): string {
  const value = word.indexOf("=") + 1;
  if (value <= 0) return word;
  const [parent, key] = ["", ...word.slice(0, value - 1).split(".")].slice(-2);
  const text = word.slice(value);
  const inner = text.matchAll(INNER_NAME);
  const hidden =
    isSecretName(key, parent) ||
    [...inner].some(([, name = ""]) => isSecretName(name) || isSecretHeader(name));
  return word.slice(0, value) + (hidden ? MASK : maskUserInfo(text));
}

function words(text: string): ReadonlySet<string> {
  return new Set(text.split(" "));
}

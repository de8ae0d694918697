/** A piece of a program with the class of its colour. */
export interface CodePiece {
  text: string;
  kind: "comment" | "string" | "number" | "keyword" | undefined;
}

interface Grammar {
  comments: string;
  strings: string;
  keywords: ReadonlySet<string>;
  ignoresCase?: boolean;
}

/** A longer text has no colours. */
const MAX_CHARACTERS = 50_000;

const words = (text: string): ReadonlySet<string> => new Set(text.split(" "));
/** What is not closed goes on to the end of its line or text: to look for its end again and again would take long. */
const DOUBLE = String.raw`"(?:[^"\\\n]|\\[\s\S])*"?`;
const SINGLE = String.raw`'(?:[^'\\\n]|\\[\s\S])*'?`;
const HASH = "#[^\\n]*";
/** In a shell, `#` begins a comment only after a blank. */
const SHELL_COMMENT = "(?<![^\\s;])#[^\\n]*";
const SLASHES = String.raw`\/\/[^\n]*|\/\*[\s\S]*?(?:\*\/|$)`;

const GRAMMARS = {
  python: {
    comments: HASH,
    strings: String.raw`"""[\s\S]*?(?:"""|$)|'''[\s\S]*?(?:'''|$)|${DOUBLE}|${SINGLE}`,
    keywords: words(
      "and as assert async await break class continue def del elif else except False finally for from global if import in is lambda match None nonlocal not or pass raise return True try while with yield",
    ),
  },
  javascript: {
    comments: SLASHES,
    strings: String.raw`\`(?:[^\`\\]|\\[\s\S])*\`?|${DOUBLE}|${SINGLE}`,
    keywords: words(
      "async await break case catch class const continue default delete do else export extends false finally for from function if import in instanceof interface let new null of return static super switch this throw true try type typeof undefined var void while yield",
    ),
  },
  c: {
    comments: SLASHES,
    strings: `${DOUBLE}|${SINGLE}`,
    keywords: words(
      "auto bool break case catch char class const continue default delete do double else enum extern false float fn for func go if impl import int interface let long match mut namespace new nil null nullptr package private protected pub public range return short signed static struct switch template this throw true try type typedef union unsigned use using var virtual void volatile while",
    ),
  },
  shell: {
    comments: SHELL_COMMENT,
    strings: String.raw`"(?:[^"\\]|\\[\s\S])*"?|'[^']*'`,
    keywords: words(
      "case do done elif else esac export fi for function if in local return set then until while",
    ),
  },
  sql: {
    comments: String.raw`--[^\n]*|\/\*[\s\S]*?(?:\*\/|$)`,
    strings: `'(?:[^']|'')*'`,
    keywords: words(
      "all and as asc between by case create delete desc distinct drop else end exists from full group having in inner insert into is join left like limit not null on or order outer right select set table then union update values when where with",
    ),
    ignoresCase: true,
  },
  json: { comments: "(?!)", strings: DOUBLE, keywords: words("true false null") },
} satisfies Record<string, Grammar>;

export type Language = keyof typeof GRAMMARS;

const NAMES: Readonly<Record<string, Language>> = {
  py: "python",
  python3: "python",
  js: "javascript",
  jsx: "javascript",
  ts: "javascript",
  tsx: "javascript",
  typescript: "javascript",
  "c++": "c",
  cpp: "c",
  cs: "c",
  csharp: "c",
  go: "c",
  h: "c",
  java: "c",
  kotlin: "c",
  rs: "c",
  rust: "c",
  swift: "c",
  bash: "shell",
  console: "shell",
  sh: "shell",
  zsh: "shell",
};

/** The language that a code block names. */
export function languageNamed(name: string | undefined): Language | undefined {
  const word = name?.trim().split(/\s/)[0]?.toLowerCase() ?? "";
  if (Object.hasOwn(GRAMMARS, word)) return word as Language;
  return Object.hasOwn(NAMES, word) ? NAMES[word] : undefined;
}

/** The language of an argument of a tool, by its name and its beginning; undefined if it is not a program. */
export function languageOfArgument(name: string, text: string): Language | undefined {
  if (/^(?:command|cmd|bash|shell|script)s?$/i.test(name)) return "shell";
  if (/^(?:sql|query)$/i.test(name))
    return /^\s*(?:select|with|insert|update|delete|create)\b/i.test(text) ? "sql" : undefined;
  if (!/^(?:code|source|program|python|solution|content|file_text|new_str|old_str)(?:_\w+)?$/i.test(name))
    return undefined;
  if (/^\s*(?:#include\b|package \w|fn \w|public class\b)/m.test(text)) return "c";
  if (/^\s*(?:const|let|var|function|export|interface) /m.test(text) || /^import .* from ["']/m.test(text))
    return "javascript";
  if (/^\s*(?:def|class|import|from|for|while|if|with|print|return)\b|^\w+ ?= /m.test(text)) return "python";
  return undefined;
}

const PATTERNS = new Map<Language, RegExp>();

function patternOf(language: Language): RegExp {
  const { comments, strings } = GRAMMARS[language];
  const known =
    PATTERNS.get(language) ??
    new RegExp(`(${comments})|(${strings})|(\\b\\d[\\w.]*)|([A-Za-z_$][\\w$]*)`, "g");
  PATTERNS.set(language, known);
  return known;
}

/** Comments, strings, numbers and keywords of a program; the pieces together are the text. */
export function codePieces(text: string, language: Language): CodePiece[] {
  if (text.length > MAX_CHARACTERS) return [{ text, kind: undefined }];
  const grammar: Grammar = GRAMMARS[language];
  const pieces: CodePiece[] = [];
  let done = 0;
  for (const match of text.matchAll(patternOf(language))) {
    const [whole, comment, string, number, word] = match;
    const isKeyword =
      word !== undefined && grammar.keywords.has(grammar.ignoresCase ? word.toLowerCase() : word);
    const kind = comment
      ? "comment"
      : string
        ? "string"
        : number
          ? "number"
          : isKeyword
            ? "keyword"
            : undefined;
    if (kind === undefined) continue;
    if (match.index > done) pieces.push({ text: text.slice(done, match.index), kind: undefined });
    pieces.push({ text: whole, kind });
    done = match.index + whole.length;
  }
  if (done < text.length) pieces.push({ text: text.slice(done), kind: undefined });
  return pieces;
}

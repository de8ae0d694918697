import { type ComponentProps, createContext, Fragment, useContext } from "react";
import { ansiPieces, HAS_ANSI } from "./ansi.ts";
import { visiblePieces } from "./controls.ts";
import { codePieces, type Language } from "./highlight.ts";

/** Words to mark in displayed text. */
export const Needles = createContext<readonly string[]>([]);

/** Text with marked words and with invisible characters shown by their code point. */
export function Plain({ text }: { text: string }) {
  const needles = useContext(Needles);
  const pieces = visiblePieces(text);
  return pieces.map(({ text: piece, isUnseen }, place) =>
    isUnseen ? (
      // biome-ignore lint/suspicious/noArrayIndexKey: the pieces of a text never change
      <span key={place} className="unseen" title="Invisible character">
        {piece}
      </span>
    ) : (
      // biome-ignore lint/suspicious/noArrayIndexKey: the same
      <Marked key={place} text={piece} needles={needles} />
    ),
  );
}

function Marked({ text, needles }: { text: string; needles: readonly string[] }) {
  if (needles.length === 0) return text;
  const pattern = new RegExp(
    `(${needles.map((needle) => needle.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")).join("|")})`,
    "gi",
  );
  const pieces = text.split(pattern);
  if (pieces.length === 1) return text;
  return pieces.map((piece, place) =>
    // biome-ignore lint/suspicious/noArrayIndexKey: the pieces of a text never change
    place % 2 === 1 ? <mark key={place}>{piece}</mark> : <Fragment key={place}>{piece}</Fragment>,
  );
}

/** Text that cannot change the order of the text around it. */
export function Isolated({ text, ...props }: { text: string } & ComponentProps<"bdi">) {
  return (
    <bdi {...props}>
      <Plain text={text} />
    </bdi>
  );
}

/** Text that keeps its lines. */
export function PlainBlock({ text, className = "text code" }: { text: string; className?: string }) {
  return (
    <pre className={className}>
      <Plain text={text} />
    </pre>
  );
}

export function OutputBlock({ text, className = "text code" }: { text: string; className?: string }) {
  return (
    <pre className={className}>
      <Output text={text} />
    </pre>
  );
}

/** Output of a tool: monospaced, with terminal colours, or as a diff. */
export function Output({ text }: { text: string }) {
  if (looksLikeDiff(text)) return <Diff text={text} />;
  if (!HAS_ANSI.test(text)) return <Plain text={text} />;
  return ansiPieces(text).map(({ text: piece, className }, place) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: the pieces of a text never change
    <span key={place} className={className}>
      <Plain text={piece} />
    </span>
  ));
}

/** A program with colours. A text with matches has none, because a match may lie over two pieces. */
export function Code({ text, language }: { text: string; language: Language | undefined }) {
  const needles = useContext(Needles);
  const lower = needles.length > 0 ? text.toLowerCase() : "";
  if (language === undefined || looksLikeDiff(text) || HAS_ANSI.test(text)) return <Output text={text} />;
  if (needles.some((needle) => lower.includes(needle.toLowerCase()))) return <Plain text={text} />;
  return codePieces(text, language).map(({ text: piece, kind }, place) =>
    kind === undefined ? (
      // biome-ignore lint/suspicious/noArrayIndexKey: the pieces of a text never change
      <Plain key={place} text={piece} />
    ) : (
      // biome-ignore lint/suspicious/noArrayIndexKey: the same
      <span key={place} className={`code-${kind}`}>
        <Plain text={piece} />
      </span>
    ),
  );
}

/** A unified diff (hunks with headers, or files with both marks), or a patch as the apply_patch tools of agents take it. */
export function looksLikeDiff(text: string): boolean {
  return (
    /^@@ -\d+(?:,\d+)? \+\d+(?:,\d+)? @@/m.test(text) ||
    /^--- .+\n\+\+\+ .+/m.test(text) ||
    /^\*\*\* (?:Begin Patch|(?:Update|Add|Delete) File: .+)$/m.test(text)
  );
}

/** The lines of a patch by their marks. */
export function Diff({ text }: { text: string }) {
  return text.split("\n").map((line, place) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: the lines of a text never change
    <span key={place} className={`diff-line ${diffKind(line)}`}>
      <Plain text={line} />
      {"\n"}
    </span>
  ));
}

function diffKind(line: string): string {
  if (
    line.startsWith("+++") ||
    line.startsWith("---") ||
    line.startsWith("diff ") ||
    line.startsWith("index ") ||
    line.startsWith("*** ")
  )
    return "diff-file";
  if (line.startsWith("@@")) return "diff-hunk";
  if (line.startsWith("+")) return "diff-added";
  return line.startsWith("-") ? "diff-removed" : "";
}

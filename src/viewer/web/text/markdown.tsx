import { Marked, type Token, type Tokens } from "marked";
import { Fragment, type ReactNode, useContext, useMemo } from "react";
import { Scrolls } from "../shared/elements.tsx";
import { type BoardToken, boardExtension } from "./board.ts";
import { hasUnseen, visibleText } from "./controls.ts";
import { languageNamed } from "./highlight.ts";
import { type MathToken, mathElement, mathExtensions } from "./math.ts";
import { Code, Diff, Needles, Plain, PlainBlock } from "./plain.tsx";

/** A longer text is shown unformatted. */
const MAX_CHARACTERS = 100_000;
const MAX_DEPTH = 20;
const marked = new Marked({ gfm: true, extensions: [...mathExtensions, boardExtension] });
const WEB_ADDRESS = /^https?:\/\//i;

/**
 * Renders Markdown. The text comes from models and tools: HTML in it stays text, images are named but not loaded, and
 * only web links are active.
 */
export function Markdown({ text }: { text: string }) {
  const needles = useContext(Needles);
  const tokens = useMemo(() => (text.length > MAX_CHARACTERS ? undefined : tokensOf(text)), [text]);
  // A match that formatting splits can only be marked in the plain text.
  const isPlain = tokens === undefined || needles.some((needle) => isInterrupted(needle, text, tokens));
  return isPlain ? <PlainBlock text={text} /> : <div className="markdown">{blocks(tokens, 0)}</div>;
}

/** Whether a word is in the text but in none of its pieces. */
function isInterrupted(needle: string, text: string, tokens: readonly Token[]): boolean {
  const sought = needle.toLowerCase();
  if (!text.toLowerCase().includes(sought)) return false;
  let isInPiece = false;
  marked.walkTokens([...tokens], (token) => {
    const hasPieces = "tokens" in token && Array.isArray(token.tokens) && token.tokens.length > 0;
    if (!hasPieces && token.type !== "list" && token.type !== "table")
      isInPiece ||= token.raw.toLowerCase().includes(sought);
  });
  return !isInPiece;
}

function tokensOf(text: string): Token[] | undefined {
  try {
    return marked.lexer(text);
  } catch {
    return undefined;
  }
}

function blocks(tokens: readonly Token[], depth: number): ReactNode {
  // biome-ignore lint/suspicious/noArrayIndexKey: the tokens of a text never change
  return tokens.map((token, place) => <Fragment key={place}>{block(token, depth)}</Fragment>);
}

function block(token: Token, depth: number): ReactNode {
  if (depth > MAX_DEPTH) return <Plain text={token.raw} />;
  switch (token.type) {
    case "space":
      return null;
    case "heading":
      return <p className={`heading heading-${(token as Tokens.Heading).depth}`}>{inline(token, depth)}</p>;
    case "paragraph":
      return <p>{inline(token, depth)}</p>;
    case "code":
      return <CodeBlock text={(token as Tokens.Code).text} language={(token as Tokens.Code).lang} />;
    case "blockquote":
      return <blockquote>{blocks((token as Tokens.Blockquote).tokens, depth + 1)}</blockquote>;
    case "hr":
      return <hr />;
    case "list":
      return <List token={token as Tokens.List} depth={depth} />;
    case "table":
      return <Table token={token as Tokens.Table} depth={depth} />;
    case "board":
      return <PlainBlock text={(token as BoardToken).text} />;
    case "math":
      return (
        <Scrolls>
          <Formula token={token as MathToken} />
        </Scrolls>
      );
    case "text":
      return inline(token, depth);
    default:
      // HTML, definitions and unknown tokens: shown as source.
      return <Plain text={token.raw} />;
  }
}

/** A formula; shown as source if it cannot be parsed, has invisible characters, or contains marked words. */
function Formula({ token: { raw, text, display } }: { token: MathToken }) {
  const needles = useContext(Needles);
  const isSought = needles.some((needle) => raw.toLowerCase().includes(needle.toLowerCase()));
  const asText = isSought || hasUnseen(text);
  const math = useMemo(() => (asText ? undefined : mathElement(text, display)), [text, display, asText]);
  if (math === undefined)
    return (
      <code>
        <Plain text={raw.trim()} />
      </code>
    );
  return <span className="formula" title={text} ref={(span) => span?.replaceChildren(math)} />;
}

function CodeBlock({ text, language }: { text: string; language: string | undefined }) {
  return (
    <pre className="text code">
      {language === "diff" || language === "patch" ? (
        <Diff text={text} />
      ) : (
        <Code text={text} language={languageNamed(language)} />
      )}
    </pre>
  );
}

function List({ token, depth }: { token: Tokens.List; depth: number }) {
  const items = token.items.map((item, place) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: the items of a text never change
    <li key={place}>
      {item.task && <span className="task-box">{item.checked ? "☑ " : "☐ "}</span>}
      {blocks(item.tokens, depth + 1)}
    </li>
  ));
  return token.ordered ? <ol start={Number(token.start) || 1}>{items}</ol> : <ul>{items}</ul>;
}

function Table({ token, depth }: { token: Tokens.Table; depth: number }) {
  return (
    <Scrolls>
      <table>
        <thead>
          <tr>
            {token.header.map((cell, place) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: the cells of a text never change
              <th key={place}>{inline(cell, depth)}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {token.rows.map((row, number) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: the same
            <tr key={number}>
              {row.map((cell, place) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: the same
                <td key={place}>{inline(cell, depth)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </Scrolls>
  );
}

function inline(token: Token | Tokens.TableCell, depth: number): ReactNode {
  const tokens = "tokens" in token ? token.tokens : undefined;
  if (tokens === undefined || depth > MAX_DEPTH)
    return <Plain text={"text" in token ? String(token.text) : ""} />;
  // biome-ignore lint/suspicious/noArrayIndexKey: the tokens of a text never change
  return tokens.map((each, place) => <Fragment key={place}>{span(each, depth + 1)}</Fragment>);
}

function span(token: Token, depth: number): ReactNode {
  switch (token.type) {
    case "strong":
      return <strong>{inline(token, depth)}</strong>;
    case "em":
      return <em>{inline(token, depth)}</em>;
    case "del":
      return <del>{inline(token, depth)}</del>;
    case "codespan":
      return (
        <code>
          <Plain text={(token as Tokens.Codespan).text} />
        </code>
      );
    case "math":
      return <Formula token={token as MathToken} />;
    case "br":
      return <br />;
    case "link":
      return <Link href={(token as Tokens.Link).href}>{inline(token, depth)}</Link>;
    case "image":
      return <Plain text={`[image: ${(token as Tokens.Image).text || (token as Tokens.Image).href}]`} />;
    case "text":
    case "escape":
      return "tokens" in token && token.tokens ? (
        inline(token, depth)
      ) : (
        <Plain text={(token as Tokens.Text).text} />
      );
    default:
      return <Plain text={token.raw} />;
  }
}

/** A link shows its address, because its text may be misleading. */
function Link({ href, children }: { href: string; children: ReactNode }) {
  if (!WEB_ADDRESS.test(href)) return children;
  return (
    <a href={href} target="_blank" rel="noreferrer noopener" title={visibleText(href)}>
      {children}
    </a>
  );
}

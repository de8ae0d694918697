import { type KeyboardEvent, useState } from "react";
import { isObject, orderedKeys } from "../../../base/python/json/door.ts";
import { prettyJson } from "../../conversation/content-parts.ts";
import { languageOfArgument } from "./highlight.ts";
import { useHoldsMatch } from "./holds-match.ts";
import { LongText } from "./long-text.tsx";
import { Code, Isolated, Plain } from "./plain.tsx";

const OPEN_CHILDREN = 12;
const PAGE = 200;
const MAX_DEPTH = 200;
/** An object of short values with fewer characters is shown in one line. */
const MAX_LINE = 100;

/**
 * A JSON value that can be folded level by level; closed branches are not rendered. The tree is one Tab stop: arrow
 * keys move in it.
 */
export function JsonTree({
  value,
  name = "",
  depth = 0,
  open,
}: {
  value: unknown;
  /** The key of the value. */
  name?: string;
  depth?: number;
  open?: boolean;
}) {
  if (depth > MAX_DEPTH) return <span className="json-text">…</span>;
  if (Array.isArray(value)) return <Branch value={value} depth={depth} open={open} marks="[]" />;
  if (isObject(value) && isPlain(value)) return <Branch value={value} depth={depth} open={open} marks="{}" />;
  return <Leaf value={value} name={name} />;
}

/** A JSON value as a block, open. */
export function JsonBlock({ value }: { value: unknown }) {
  return (
    <div className="json">
      <JsonTree value={value} open />
    </div>
  );
}

/** The exact reader also returns floats as objects. */
function isPlain(value: object): boolean {
  const prototype = Object.getPrototypeOf(value) as unknown;
  return prototype === Object.prototype || prototype === null;
}

function Branch({
  value,
  depth,
  open,
  marks,
}: {
  value: unknown[] | Record<string, unknown>;
  depth: number;
  open: boolean | undefined;
  marks: "[]" | "{}";
}) {
  const keys = Array.isArray(value) ? undefined : orderedKeys(value);
  const count = keys?.length ?? (value as unknown[]).length;
  const [isOpen, setOpen] = useState(open ?? (depth < 2 && count <= OPEN_CHILDREN));
  const [shown, setShown] = useState(PAGE);
  const holdsMatch = useHoldsMatch(isOpen ? undefined : value);
  const memberAt = (place: number) =>
    keys ? (value as Record<string, unknown>)[keys[place] ?? ""] : (value as unknown[])[place];
  const rest = isOpen && count > shown ? restFrom(value, keys, shown) : undefined;
  const restHoldsMatch = useHoldsMatch(rest);
  if (count === 0) return <span className="json-mark">{marks}</span>;
  const isNumbers = Array.isArray(value) && count > 20 && value.every((item) => typeof item === "number");
  const places = Array.from({ length: Math.min(count, shown) }, (_, place) => place);
  return (
    <span
      className={`json-branch${keys && fitsLine(value, keys) ? " is-line" : ""}`}
      {...(depth === 0 && { role: "group", onKeyDown: moveInTree })}
    >
      <button
        type="button"
        className="json-toggle"
        tabIndex={depth === 0 ? 0 : -1}
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
        {...holdsMatch}
      >
        <span aria-hidden="true">{isOpen ? "▾" : "▸"}</span> {marks[0]}
        {!isOpen && (
          <bdi className="dim">
            <Plain text={keys ? keys.slice(0, 4).join(", ") : `${count.toLocaleString("en")} items`} />
            {keys && count > 4 ? ", …" : ""}
          </bdi>
        )}
        {!isOpen && marks[1]}
      </button>
      {isOpen && isNumbers && (
        <span className="json-numbers">
          <LongText text={value.join(", ")} render={(text) => <Plain text={text} />} />
        </span>
      )}
      {isOpen && !isNumbers && (
        <span className="json-children">
          {places.map((place) => (
            <span key={place} className="json-member">
              {keys && (
                <span className="json-key">
                  <Isolated text={keys[place] ?? ""} />:{" "}
                </span>
              )}
              <JsonTree value={memberAt(place)} name={keys?.[place]} depth={depth + 1} />
            </span>
          ))}
          {count > shown && (
            <button
              type="button"
              className="quiet fold"
              onClick={() => setShown(shown + PAGE * 5)}
              {...restHoldsMatch}
            >
              {(count - shown).toLocaleString("en")} more
            </button>
          )}
        </span>
      )}
      {isOpen && <span className="json-mark">{marks[1]}</span>}
    </span>
  );
}

function Leaf({ value, name }: { value: unknown; name: string }) {
  if (typeof value === "string") {
    if (value.includes("\n") || value.length > 200) {
      const language = languageOfArgument(name, value);
      return (
        <span className={`json-text block${language === undefined ? "" : " program"}`}>
          <LongText
            text={value}
            render={(text) => (
              <pre className="text">
                <Code text={text} language={language} />
              </pre>
            )}
          />
        </span>
      );
    }
    return (
      <bdi className="json-text">
        "<Plain text={value} />"
      </bdi>
    );
  }
  const kind = typeof value === "boolean" ? "json-boolean" : value === null ? "json-null" : "json-number";
  return (
    <span className={kind}>
      <Plain text={prettyJson(value)} />
    </span>
  );
}

function fitsLine(value: object, keys: readonly string[]): boolean {
  if (keys.length > OPEN_CHILDREN) return false;
  const members = keys.map((key) => (value as Record<string, unknown>)[key]);
  const isShort = (member: unknown) =>
    typeof member === "string" ? !member.includes("\n") : !Array.isArray(member) && !isObject(member);
  if (!members.every(isShort)) return false;
  return members.reduce<number>((sum, member) => sum + String(member).length, keys.join().length) <= MAX_LINE;
}

/** The members that are not rendered yet. */
function restFrom(
  value: unknown[] | Record<string, unknown>,
  keys: string[] | undefined,
  from: number,
): unknown {
  return Array.isArray(value) ? value.slice(from) : keys?.slice(from).map((key) => [key, value[key]]);
}

/** Up and down move between visible branches, right opens a branch and left closes it. */
function moveInTree(event: KeyboardEvent<HTMLElement>): void {
  const toggles = [...event.currentTarget.querySelectorAll<HTMLElement>(".json-toggle")];
  const at = toggles.findIndex((toggle) => toggle.matches(":focus"));
  if (at === -1) return;
  const isOpen = toggles[at]?.getAttribute("aria-expanded") === "true";
  if (event.key === "ArrowDown") toggles[at + 1]?.focus();
  else if (event.key === "ArrowUp") toggles[at - 1]?.focus();
  else if (event.key === (isOpen ? "ArrowLeft" : "ArrowRight")) toggles[at]?.click();
  else return;
  event.preventDefault();
}

import { useEffect, useRef, useState } from "react";
import type { ViewerStatus } from "../../api-types.ts";
import { parseQuery, QueryError } from "../../query/query.ts";
import { CopyButton } from "./copy-button.tsx";
import { Chip } from "./elements.tsx";
import type { Go } from "./use-route.ts";

const TYPING_MS = 200;
const VIEWS_KEY = "gym-viewer-views";
const MAX_VIEWS = 20;

interface Props {
  q: string | undefined;
  pass: string | undefined;
  status: ViewerStatus | undefined;
  go: Go;
}

/** The query that selects rollouts, on the list, the overview and the tasks. */
export function QueryBar({ q = "", pass, status, go }: Props) {
  const [text, setText] = useState(q);
  const [problem, setProblem] = useState<string>();
  const written = useRef(q);
  useEffect(() => {
    if (q !== written.current) setText(q);
    written.current = q;
  }, [q]);
  useEffect(() => {
    const timer = window.setTimeout(() => {
      try {
        parseQuery(text);
        setProblem(undefined);
        written.current = text;
        if (text !== q) go({ parameters: { q: text }, replace: true });
      } catch (error) {
        setProblem(error instanceof QueryError ? error.message : String(error));
      }
    }, TYPING_MS);
    return () => window.clearTimeout(timer);
  }, [text, q, go]);
  const toggle = (term: string) => {
    const terms = text.split(/\s+/).filter(Boolean);
    setText(
      terms.includes(term) ? terms.filter((each) => each !== term).join(" ") : [...terms, term].join(" "),
    );
  };
  const command = `gym eval view ${shellWord(status?.rollouts.path ?? "RUN")}${text ? ` --where ${shellWord(text)}` : ""}`;
  return (
    <search className="query-bar">
      <input
        id="search"
        type="search"
        value={text}
        onChange={(event) => setText(event.target.value)}
        placeholder="Filter: reward<0.5 tool:python, or any text   /"
        aria-label="Filter rollouts by a query or text"
        aria-invalid={problem !== undefined}
        spellCheck={false}
        list="query-words"
      />
      <datalist id="query-words">
        {suggestions(status).map((word) => (
          <option key={word} value={word} />
        ))}
      </datalist>
      <div className="chips">
        {["is:passed", "is:zero", "is:failed", "is:retried", "is:annotated"].map((term) => (
          <Chip key={term} isOn={text.split(/\s+/).includes(term)} onClick={() => toggle(term)}>
            {term.slice(3)}
          </Chip>
        ))}
        {text !== "" && (
          <button type="button" className="chip clear" onClick={() => setText("")}>
            Clear filter
          </button>
        )}
        <label className="threshold" title="Reward from which a rollout passes">
          pass ≥{" "}
          <input
            type="number"
            step="any"
            defaultValue={pass ?? "1"}
            onBlur={(event) =>
              go({ parameters: { pass: event.target.value === "1" ? undefined : event.target.value } })
            }
          />
        </label>
        <Views text={text} onChoose={setText} />
        <CopyButton text={() => command} label="Copy as command" caption="Copy as command" quiet />
      </div>
      {problem && (
        <p className="problem" role="alert">
          {problem}
        </p>
      )}
    </search>
  );
}

function Views({ text, onChoose }: { text: string; onChoose: (q: string) => void }) {
  const [views, setViews] = useState(savedViews);
  return (
    <span className="views">
      {views.map((view) => (
        <span key={view} className="chip saved">
          <button type="button" onClick={() => onChoose(view)} title={view}>
            {view}
          </button>
          <button type="button" aria-label={`Forget ${view}`} onClick={() => setViews(deleteView(view))}>
            ×
          </button>
        </span>
      ))}
      {text !== "" && !views.includes(text) && (
        <button type="button" className="chip" onClick={() => setViews(saveView(text))}>
          Save view
        </button>
      )}
    </span>
  );
}

/** Queries that were saved in this browser. */
function savedViews(): string[] {
  try {
    const views: unknown = JSON.parse(localStorage.getItem(VIEWS_KEY) ?? "[]");
    return Array.isArray(views) ? views.filter((view) => typeof view === "string").slice(0, MAX_VIEWS) : [];
  } catch {
    return [];
  }
}

function saveView(query: string): string[] {
  return keep([...savedViews().filter((view) => view !== query), query].slice(-MAX_VIEWS));
}

function deleteView(query: string): string[] {
  return keep(savedViews().filter((view) => view !== query));
}

function keep(views: string[]): string[] {
  try {
    localStorage.setItem(VIEWS_KEY, JSON.stringify(views));
  } catch {
    // A page opened from a file may have no storage; the views then last until it is closed.
  }
  return views;
}

function suggestions(status: ViewerStatus | undefined): string[] {
  if (status === undefined) return [];
  const quote = (name: string) => (/\s/.test(name) ? `"${name}"` : name);
  return [
    ...status.agents.map((name) => `agent:${quote(name)}`),
    ...status.models.map((name) => `model:${quote(name)}`),
    ...status.tools.map((name) => `tool:${quote(name)}`),
    ...status.failure_classes.map((name) => `error:${quote(name)}`),
    ...status.labels.map((name) => `label:${quote(name)}`),
    "reward<0.5",
    "turns>6",
    "is:masked",
    "is:partial",
    "is:bad",
    "is:excluded",
  ].slice(0, 100);
}

function shellWord(word: string): string {
  return /^[\w./:@%+,-]+$/.test(word) ? word : `'${word.replace(/'/g, `'\\''`)}'`;
}

import { useEffect, useRef, useState } from "react";
import { errorMessage } from "../../../base/errors.ts";
import type { Annotation } from "../../api-types.ts";
import { api, type RunId } from "../shared/api-client.ts";
import { useKeys } from "../shared/keyboard.ts";
import { visibleText } from "../text/controls.ts";
import { Plain } from "../text/plain.tsx";

const NOTHING: Annotation = { labels: [], note: "", exclude: false };

const keyOf = ({ labels, note, exclude }: Annotation) => JSON.stringify([labels, note, exclude]);

/** Labels, a note, and whether exports exclude the rollout; stored next to the rollouts. */
export function Annotate(props: {
  run: RunId;
  task: number;
  rollout: number;
  annotation: Annotation | null;
  labels: readonly string[];
}) {
  const { run, task, rollout, annotation, labels } = props;
  const [value, setValue] = useState(annotation ?? NOTHING);
  const [label, setLabel] = useState("");
  const [problem, setProblem] = useState<string>();
  const saved = useRef(annotation ?? NOTHING);
  /** The initial state and all sent states, oldest first. */
  const states = useRef([keyOf(annotation ?? NOTHING)]);
  useEffect(() => {
    const key = keyOf(annotation ?? NOTHING);
    // The answer to an earlier change must not undo a later one.
    const age = states.current.lastIndexOf(key);
    if (age >= 0 && age < states.current.length - 1) return;
    states.current = [key];
    const { note } = saved.current;
    saved.current = annotation ?? NOTHING;
    // A note that is being edited is not replaced by the received one.
    setValue((current) => ({
      ...saved.current,
      note: current.note === note ? saved.current.note : current.note,
    }));
  }, [annotation]);
  const save = (next: Annotation) => {
    setValue(next);
    states.current.push(keyOf(next));
    api.annotate(run, { task, rollout, ...next }).then(
      () => setProblem(undefined),
      (error: unknown) => setProblem(errorMessage(error)),
    );
  };
  const addLabel = () => {
    const added = label.trim();
    setLabel("");
    if (added !== "" && !value.labels.includes(added)) save({ ...value, labels: [...value.labels, added] });
  };
  useKeys({ x: () => save({ ...value, exclude: !value.exclude }) });
  return (
    <section className="annotate" aria-label="Annotation">
      <h2>Annotation</h2>
      <div className="annotate-line">
        {value.labels.map((each) => (
          <span key={each} className="chip saved">
            <Plain text={each} />
            <button
              type="button"
              aria-label={`Remove label ${visibleText(each)}`}
              onClick={() => save({ ...value, labels: value.labels.filter((other) => other !== each) })}
            >
              ×
            </button>
          </span>
        ))}
        <input
          type="text"
          value={label}
          placeholder="Add a label"
          aria-label="Add a label"
          list="known-labels"
          maxLength={100}
          onChange={(event) => setLabel(event.target.value)}
          onKeyDown={(event) => event.key === "Enter" && addLabel()}
          onBlur={addLabel}
        />
        <datalist id="known-labels">
          {labels.map((each) => (
            <option key={each} value={each} />
          ))}
        </datalist>
        <label>
          <input
            type="checkbox"
            checked={value.exclude}
            onChange={(event) => save({ ...value, exclude: event.target.checked })}
          />{" "}
          exclude from exports
        </label>
      </div>
      <textarea
        value={value.note}
        placeholder="Note"
        aria-label="Note"
        rows={2}
        maxLength={10_000}
        onChange={(event) => setValue({ ...value, note: event.target.value })}
        onBlur={() => value.note !== (annotation?.note ?? "") && save(value)}
      />
      {problem && (
        <p className="problem" role="alert">
          {problem}
        </p>
      )}
    </section>
  );
}

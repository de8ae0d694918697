import { useEffect, useRef } from "react";
import { NAME_FIELDS, NUMBER_FIELDS, STATES } from "../../query/query.ts";

const KEYS = [
  ["j k", "next, previous rollout of the list"],
  ["[ ]", "previous, next repeat of the task"],
  ["\\", "list of rollouts or outline of the open one"],
  ["n p", "next, previous item of the conversation"],
  [". ,", "next, previous match of the query"],
  ["/", "search and filter; Esc leaves the field"],
  ["g", "runs"],
  ["o", "overview"],
  ["t", "tasks"],
  ["l", "rollouts"],
  ["s", "repeats of the task side by side"],
  ["d", "compare with another run"],
  ["v", "live"],
  ["f", "failed only, on and off"],
  ["e", "open or close all fields"],
  ["m", "Markdown or plain text"],
  ["c", "fold or unfold all items"],
  ["x", "exclude the rollout from exports, or include it"],
  ["?", "this list"],
] as const;

const states = Object.fromEntries(Object.entries(STATES).map(([state, meaning]) => [`is:${state}`, meaning]));

/** All keys, and the syntax of queries. */
export function HelpDialog({ open, onClose }: { open: boolean; onClose: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const title = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    if (!open) return dialog.current?.close();
    dialog.current?.showModal();
    // Otherwise the button at the end has the focus, and the dialog scrolls to it.
    title.current?.focus();
  }, [open]);
  return (
    <dialog ref={dialog} onClose={onClose} aria-labelledby="help-title">
      <div className="help">
        <section>
          <h2 ref={title} id="help-title" tabIndex={-1}>
            Keyboard
          </h2>
          <dl className="keys">
            {KEYS.map(([key, meaning]) => (
              <div key={key}>
                <dt>
                  {key.split(" ").map((each) => (
                    <kbd key={each}>{each}</kbd>
                  ))}
                </dt>
                <dd>{meaning}</dd>
              </div>
            ))}
          </dl>
        </section>
        <section>
          <h2>Queries</h2>
          <p>
            <code>reward&lt;0.5 tool:python turns&gt;6 -is:masked "exact words"</code>
          </p>
          <dl className="keys">
            {Object.entries({ ...NUMBER_FIELDS, ...NAME_FIELDS, ...states }).map(([term, meaning]) => (
              <div key={term}>
                <dt>
                  <code>{term}</code>
                </dt>
                <dd>{meaning}</dd>
              </div>
            ))}
          </dl>
        </section>
      </div>
      <button type="button" onClick={onClose}>
        Close
      </button>
    </dialog>
  );
}

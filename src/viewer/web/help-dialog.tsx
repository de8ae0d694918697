import { useEffect, useRef } from "react";

const KEYS = [
  ["j or ↓", "next rollout"],
  ["k or ↑", "previous rollout"],
  ["/", "search"],
  ["o", "overview"],
  ["t", "repeats of the task side by side"],
  ["f", "failed only, on and off"],
  ["e", "open or close all fields of the row"],
  ["Esc", "leave the search, close this"],
  ["?", "this list"],
] as const;

/** The keys that do something. */
export function HelpDialog({ open, onClose }: { open: boolean; onClose: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    if (open) dialog.current?.showModal();
    else dialog.current?.close();
  }, [open]);
  return (
    <dialog ref={dialog} onClose={onClose} aria-labelledby="help-title">
      <h2 id="help-title">Keyboard</h2>
      <dl className="keys">
        {KEYS.map(([key, meaning]) => (
          <div key={key}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{meaning}</dd>
          </div>
        ))}
      </dl>
      <button type="button" onClick={onClose}>
        Close
      </button>
    </dialog>
  );
}

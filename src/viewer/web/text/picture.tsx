import { useState } from "react";

/** An image of the conversation; a click shows it in full size. Its data is in the row, so nothing is loaded. */
export function Picture({ url }: { url: string }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <button
        type="button"
        className="picture"
        aria-haspopup="dialog"
        aria-label="Enlarge image"
        onClick={() => setOpen(true)}
      >
        <img src={url} alt="Part of the message" loading="lazy" />
      </button>
      {isOpen && (
        // biome-ignore lint/a11y/useKeyWithClickEvents: Esc closes it as well
        <dialog
          ref={(dialog) => {
            if (dialog?.open === false) dialog.showModal();
          }}
          className="zoomed"
          aria-label="Image"
          onClose={() => setOpen(false)}
          onClick={({ target, currentTarget }) => target === currentTarget && currentTarget.close()}
        >
          <button type="button" onClick={({ currentTarget }) => currentTarget.closest("dialog")?.close()}>
            Close
          </button>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
          <div className="zoomed-image" tabIndex={0}>
            <img src={url} alt="Part of the message in its own size" />
          </div>
        </dialog>
      )}
    </>
  );
}

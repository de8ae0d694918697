import { type MouseEvent, useEffect, useState } from "react";

/** Copies a text and confirms it for a moment. The text is built on the click. */
export function CopyButton({
  text,
  label,
  caption,
  quiet = caption === undefined,
  tabIndex,
}: {
  text: () => string;
  label: string;
  /** Label of a full-size button. */
  caption?: string;
  quiet?: boolean;
  tabIndex?: number;
}) {
  const [copied, setCopied] = useState<boolean>();
  useEffect(() => {
    if (copied === undefined) return;
    const timer = window.setTimeout(() => setCopied(undefined), 1500);
    return () => window.clearTimeout(timer);
  }, [copied]);
  const onClick = async (event: MouseEvent) => {
    // Prevents the surrounding heading from opening or closing.
    event.preventDefault();
    event.stopPropagation();
    setCopied(await copyText(text()));
  };
  return (
    <button
      type="button"
      className={quiet ? "quiet copy" : ""}
      onClick={onClick}
      tabIndex={tabIndex}
      title={label}
      {...(caption === undefined && copied === undefined && { "aria-label": label })}
    >
      {copied === undefined ? (caption ?? "Copy") : copied ? "Copied" : "Not copied"}
    </button>
  );
}

/** Copies with the clipboard API or, on a page without HTTPS, with a selection. */
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const area = document.createElement("textarea");
    area.value = text;
    area.className = "offscreen";
    document.body.append(area);
    area.select();
    const copied = document.execCommand("copy");
    area.remove();
    return copied;
  }
}

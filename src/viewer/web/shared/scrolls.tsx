import type { ReactNode } from "react";

/** Something wide that scrolls sideways, also by keyboard; a part of the page of its own where it has a name. */
export function Scrolls({ label, children }: { label?: string; children: ReactNode }) {
  const Element = label === undefined ? "div" : "section";
  return (
    <Element className="scrolls" tabIndex={0} {...(label !== undefined && { "aria-label": label })}>
      {children}
    </Element>
  );
}

import type { ReactNode } from "react";

/** Wide content that scrolls horizontally, also by keyboard; a landmark if it has a name. */
export function Scrolls({ label, children }: { label?: string; children: ReactNode }) {
  const Element = label === undefined ? "div" : "section";
  return (
    <Element className="scrolls" tabIndex={0} {...(label !== undefined && { "aria-label": label })}>
      {children}
    </Element>
  );
}

import type { ReactNode } from "react";

/** Stands where a page has nothing to show: what is empty, why, and what can be done about it. */
export function EmptyState({
  title,
  children,
  action,
}: {
  title: string;
  children: ReactNode;
  action?: ReactNode;
}) {
  return (
    <section className="empty-state" aria-label={title} role="status">
      <h2>{title}</h2>
      <p>{children}</p>
      {action && <div className="empty-actions">{action}</div>}
    </section>
  );
}

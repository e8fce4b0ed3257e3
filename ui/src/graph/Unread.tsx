import { Link } from "wouter";
import { ApiError } from "../api/client";
import { routes } from "../app/address";
import { EmptyState, ErrorState } from "../parts/Empty";

/** A view of a batch that could not be read. That there is no such batch, the header on top says. */
export function LoadError({ error, onRetry }: { error: unknown; onRetry(): void }) {
  if (!(error instanceof ApiError) || error.status !== 404)
    return <ErrorState error={error} onRetry={onRetry} />;
  return (
    <EmptyState title="There is nothing to draw">
      <Link href={routes.batches()}>All batches</Link>
    </EmptyState>
  );
}

import { Link } from "wouter";
import { Refused } from "../api/client";
import { to } from "../app/address";
import { Empty, Failure } from "../parts/Empty";

/** A view of a batch that could not be read. That there is no such batch, the header on top says. */
export function Unread({ error, again }: { error: unknown; again(): void }) {
  if (!(error instanceof Refused) || error.status !== 404) return <Failure error={error} again={again} />;
  return (
    <Empty title="There is nothing to draw">
      <Link href={to.batches()}>All batches</Link>
    </Empty>
  );
}

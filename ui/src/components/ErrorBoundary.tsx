import { Component, type ReactNode } from "react";
import { ErrorState } from "./EmptyState";

/** A view that throws is replaced by an error; the rest of the page keeps working. */
export class ErrorBoundary extends Component<{ children: ReactNode }, { error: unknown }> {
  override state: { error: unknown } = { error: null };

  static getDerivedStateFromError(error: unknown): { error: unknown } {
    return { error };
  }

  override render(): ReactNode {
    if (this.state.error === null) return this.props.children;
    return <ErrorState error={this.state.error} onRetry={() => this.setState({ error: null })} />;
  }
}

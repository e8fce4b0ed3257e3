import { Component, type ComponentType, lazy, type ReactNode } from "react";
import { ErrorState } from "./EmptyState";

/** A view that throws is replaced by an error; the rest of the page keeps working. */
export class ErrorBoundary extends Component<{ children: ReactNode }, { error: unknown }> {
  override state: { error: unknown } = { error: null };

  static getDerivedStateFromError(error: unknown): { error: unknown } {
    return { error };
  }

  override componentDidCatch(): void {
    for (const reset of failedViews) reset();
    failedViews.clear();
  }

  override render(): ReactNode {
    if (this.state.error === null) return this.props.children;
    return <ErrorState error={this.state.error} onRetry={() => this.setState({ error: null })} />;
  }
}

const failedViews = new Set<() => void>();

/** React's `lazy` keeps a failure; this one loads again when it is rendered again after its error was shown. */
export function lazyView<Props extends object>(load: () => Promise<{ default: ComponentType<Props> }>) {
  const reset = () => {
    View = lazy(() =>
      load().catch((error: unknown) => {
        failedViews.add(reset);
        throw error;
      }),
    );
  };
  let View: ComponentType<Props>;
  reset();
  return (props: Props) => <View {...props} />;
}

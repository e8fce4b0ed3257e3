"""Task sources as text: formats, selectors, plan building and status changes. No I/O."""

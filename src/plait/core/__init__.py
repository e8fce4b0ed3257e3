"""The pure core: the model, its events, one fold over them, the scheduler, and what is shown of the state."""

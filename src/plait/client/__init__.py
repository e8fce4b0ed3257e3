"""What every front end shares: a session with a project, planning, history, logs, doctor, gc."""

"""A model's job, done by the attempt's own process: `python -m plait.runtime.model_job SPEC`."""

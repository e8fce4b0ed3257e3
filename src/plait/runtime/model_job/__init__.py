"""Does a model's job in the attempt's own process: `python -m plait.runtime.model_job SPEC`."""

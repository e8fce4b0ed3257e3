"""A model's job, done by the attempt's own process: `python -m plait.runtime.model_job SPEC`.

flow       the whole of it: written, checked, judged; kept or undone
preflight  whether the server and the model are there; Ollama is started where it is not
server     one question, one answer: streamed, bounded, and what went wrong by its category
material   the files a job is about, its context, the system prompts
writing    what is asked for, and what the answers come to
checks     build, test and lint commands, and their repair
telling    what the listener hears, and the result as a file
"""

"""A client of the model server: sends one conversation, and returns one answer, streamed and bounded.

The timeout measures silence: a server that sends nothing for that long has stalled, however much it sent before. An
endless answer is stopped too.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, cast

from plait.agents.error_patterns import classify_error
from plait.agents.interface import ActivityKind
from plait.agents.model_jobs.context import estimate_tokens as about
from plait.agents.model_jobs.job_prompts import ChatMessage
from plait.agents.plain_text import to_plain_text, truncate
from plait.agents.prices import Tokens
from plait.agents.retry_after import parse_retry_after
from plait.config.agent_keys import ModelConfig
from plait.core.fast_dataclass import dataclass
from plait.core.status import Category
from plait.runtime.agent_process import JobError
from plait.runtime.model_job.job_output import JobReporter
from plait.runtime.model_job.ollama import is_local

if TYPE_CHECKING:
    from openai import APIStatusError, OpenAI
    from openai.types.chat import ChatCompletionChunk, ChatCompletionMessageParam

_CONNECT_TIMEOUT_SECONDS = 10.0  # seconds
_MAX_MESSAGE_CHARS = 500  # characters of a server's error message
_AVERAGE_LINE_CHARS = 200  # average characters per line
_REASONING_FACTOR = 8  # a model may think this many times as much as it may answer
_THINK_BLOCK = re.compile(r"\s*<think>.*?</think>\s*", re.DOTALL)
_INSTALL_HINT = "Install it with: pip install 'plait[model]'"


@dataclass(frozen=True, slots=True)
class ChatReply:
    """The answer of a model. `cut`: the model reached its output limit."""

    text: str
    cut: bool = False


class ChatClient:
    def __init__(self, settings: ModelConfig, key: str, reporter: JobReporter) -> None:
        """Create the client. Raises JobError if the client library is not installed."""
        self._settings = settings
        self._reporter = reporter
        self._client = _create_client(settings, key)

    def complete(self, messages: Sequence[ChatMessage], model: str, *, lines: int) -> ChatReply:
        """Return the answer to a conversation. Raises JobError, also for an answer of more than `lines` lines."""
        written = _PartialReply(lines * _AVERAGE_LINE_CHARS)
        try:
            for chunk in self._stream(messages, model):
                written.add_chunk(chunk)
                self._reporter.report_progress(f"{model} writes: {written.lines} lines", ActivityKind.SAYS)
        except JobError:
            raise
        except Exception as error:  # the client library decides which HTTP library it uses
            raise _to_job_error(error, self._settings, begun=written.begun) from error
        finally:
            self._reporter.report_usage(model, written.tokens(messages))
        return written.reply()

    def _stream(self, messages: Sequence[ChatMessage], model: str) -> Iterator[ChatCompletionChunk]:
        from openai import omit  # it takes most of a second

        temperature = self._settings.temperature
        payload = [{"role": message.role.value, "content": message.text} for message in messages]
        with self._client.chat.completions.create(
            model=model,
            messages=cast("list[ChatCompletionMessageParam]", payload),  # each role has a type of its own
            stream=True,
            stream_options={"include_usage": True},
            temperature=omit if temperature is None else temperature,
        ) as stream:
            yield from stream


class _PartialReply:
    """The part of an answer that has arrived so far."""

    def __init__(self, max_chars: int) -> None:
        self._max_chars = max_chars
        self._parts: list[str] = []
        self._size = self._thought = 0
        self._finish: str | None = None
        self._used: Tokens | None = None
        self.lines = 0
        self.begun = False

    def add_chunk(self, chunk: ChatCompletionChunk) -> None:
        self.begun = True
        if chunk.usage is not None:
            details = chunk.usage.prompt_tokens_details
            cached = (details.cached_tokens if details is not None else None) or 0
            self._used = Tokens(chunk.usage.prompt_tokens or 0, chunk.usage.completion_tokens or 0, cached)
        for choice in chunk.choices or ():
            self._finish = choice.finish_reason or self._finish
            if choice.delta is not None:
                self._add(choice.delta.content or "", _reasoning_text(choice.delta))

    def _add(self, text: str, thought: str) -> None:
        self._parts.append(text)
        self._size += len(text)
        self._thought += len(thought)
        self.lines += text.count("\n")
        if self._size > self._max_chars or self._thought > self._max_chars * _REASONING_FACTOR:
            raise JobError(f"the answer did not end: it was stopped after {self._size + self._thought:,} characters")

    def tokens(self, messages: Sequence[ChatMessage]) -> Tokens:
        """Return the tokens used, or an estimate if the server reports none; a refused request costs nothing."""
        if self._used is not None or not self.begun:
            return self._used or Tokens()
        return Tokens(sum(about(message.text) for message in messages), -(-(self._size + self._thought) // 4))

    def reply(self) -> ChatReply:
        if self._finish is None:
            raise JobError("the answer was cut off: the stream ended before it was over", Category.NETWORK)
        if self._finish == "content_filter":
            raise JobError("the server's content filter stopped the answer")
        text = "".join(self._parts).encode("utf-8", "replace").decode()  # lone surrogates can't be encoded
        return ChatReply(
            _THINK_BLOCK.sub("", text, count=1) if _THINK_BLOCK.match(text) else text,
            self._finish == "length",
        )


def _to_job_error(error: Exception, settings: ModelConfig, *, begun: bool) -> JobError:
    """Make an error with its category. `begun`: the answer had begun to arrive."""
    import openai

    url = settings.base_url
    if isinstance(error, openai.APIStatusError):
        return _status_error(error, url)
    if isinstance(error, openai.APITimeoutError) or "Timeout" in type(error).__name__:
        return JobError(f"{url} sent nothing for {settings.stall_timeout:g} seconds", Category.NETWORK)
    if isinstance(error, openai.APIConnectionError) and not begun:
        detail = _clean(str(error.__cause__ or error))
        return JobError(f"{url} can't be reached: {detail}", Category.NETWORK)
    detail = _clean(str(error.__cause__ or error)) or type(error).__name__
    if isinstance(error, openai.APIError) and not isinstance(error, openai.APIConnectionError):
        match = classify_error(detail)  # the server reported it in the middle of a stream
        return JobError(f"{url} broke off: {detail}", match.category if match else Category.OVERLOADED)
    return JobError(f"the answer from {url} was cut off: {detail}", Category.NETWORK)


def _status_error(error: APIStatusError, url: str) -> JobError:
    status = error.status_code
    body = error.body if isinstance(error.body, dict) else {}
    detail = _clean(str(body.get("message") or error.message))
    match = classify_error(f"{detail} {body.get('code') or ''} {body.get('type') or ''}", status, time.time())
    other = Category.OVERLOADED if status in {408, 409, 425} else Category.USAGE
    category = match.category if match is not None else other
    hints = {
        Category.AUTH: "; [model] key names the variable that holds the key",
        Category.USAGE: "; look at [model] base_url and name",
    }
    after = _find_retry_after(error, detail) if category is Category.RATE_LIMIT else None
    message = f"{url} answered {status}: {detail}{hints.get(category, '')}"
    return JobError(message, category, status=status, after=after)


def _find_retry_after(error: APIStatusError, detail: str) -> float | None:
    headers = error.response.headers
    lines = [f"{name}: {headers[name]}" for name in ("retry-after", "retry-after-ms") if name in headers]
    asked = parse_retry_after(f"{' '.join(lines)} {detail}")
    until = asked.at - time.time() if asked.at is not None else 0.0
    longest = max(asked.after or 0.0, until)
    return longest if longest > 0 else None


def _create_client(settings: ModelConfig, key: str) -> OpenAI:
    try:
        import openai  # it takes most of a second
    except ImportError as error:
        raise JobError(f"the openai client is not installed. {_INSTALL_HINT}", Category.USAGE) from error
    timeout = openai.Timeout(settings.stall_timeout, connect=_CONNECT_TIMEOUT_SECONDS)
    # Connections to this machine don't go through a proxy.
    http = openai.DefaultHttpxClient(trust_env=not is_local(settings.base_url), timeout=timeout)
    return openai.OpenAI(
        api_key=key or "none",  # the client refuses to work without a key; a server that needs none ignores it
        base_url=settings.base_url,
        timeout=timeout,
        max_retries=0,  # plait retries by its own rules
        http_client=http,
    )


def _reasoning_text(delta: object) -> str:
    """Return the reasoning of a model, which comes in a separate field whose name depends on the server."""
    texts = (getattr(delta, name, None) for name in ("reasoning_content", "reasoning"))
    return next((text for text in texts if isinstance(text, str)), "")


def _clean(text: str) -> str:
    return truncate(to_plain_text(" ".join(text.split())), _MAX_MESSAGE_CHARS)

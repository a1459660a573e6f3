"""Calls chat completions, models and embeddings with OpenAI's Python package."""

import json
import sys

from clients.harness import ANSWER, QUESTION, Refused, honoured_or_refused

# A filter, under which rules count 18 records.
PART = {"filter": ["source=docs/repairs-2024.csv"]}
MESSAGES = [{"role": "user", "content": QUESTION}]


def client_of(url, key="none"):
    from openai import OpenAI

    return OpenAI(base_url=f"{url}/v1", api_key=key, max_retries=0, timeout=60)


def words_of(error, status=None, code=None, param=None):
    """The server's words in an error of OpenAI's shape; the client shows only the number of any other shape."""
    body = error.body if isinstance(error.body, dict) else {}
    assert body.get("message"), f"the client shows only `{str(error)[:300]}`"
    assert status is None or error.status_code == status, f"status {error.status_code}: {body}"
    assert code is None or error.code == code, f"code {error.code}: {body}"
    assert param is None or error.param == param, f"param {error.param}: {body}"
    return body["message"]


def fails(call, status=None, code=None, param=None):
    """The server's words for a call that must fail, with this status."""
    from openai import APIStatusError

    try:
        result = call()
    except APIStatusError as error:
        return words_of(error, status, code, param)
    print(result, file=sys.stderr)
    raise AssertionError("it was served")


def honoured(call, is_honoured):
    """The call has its effect, or a 400 with words refuses it."""
    from openai import APIStatusError

    return honoured_or_refused(call, is_honoured, lambda error: words_of(error, 400), APIStatusError)


def openai(check):
    client = client_of(check.url)
    kept, operation = check.kept, check.operation

    def create(model="pikerag", messages=MESSAGES, **more):
        return client.chat.completions.create(model=model, messages=messages, **more)

    def text_of(reply):
        return reply.choices[0].message.content

    @operation("list models")
    def _():
        names = [model.id for model in client.models.list()]
        assert "pikerag" in names and "pikerag/kar3" in names, names
        return f"{len(names)} models"

    @operation("retrieve a model")
    def _():
        assert client.models.retrieve("pikerag/kar3").id == "pikerag/kar3"

    @operation("retrieve an unknown model: 404")
    def _():
        return fails(lambda: client.models.retrieve("no-such"), 404, "model_not_found")

    @operation("chat")
    def _():
        kept["whole"] = whole = create()
        assert text_of(whole).startswith(ANSWER) and whole.choices[0].finish_reason == "stop", whole
        assert whole.usage.total_tokens == whole.usage.prompt_tokens + whole.usage.completion_tokens, whole.usage

    @operation("chat: annotations")
    def _():
        message = kept["whole"].choices[0].message
        assert len(message.annotations or []) == 20, message.annotations
        first = message.annotations[0].url_citation
        assert first.url.startswith("http") and first.title, first
        assert message.content[first.start_index : first.end_index] == "[1]", first

    @operation("chat with another method")
    def _():
        assert text_of(create(model="pikerag/naive-rag"))

    @operation("chat with an unknown method: 404")
    def _():
        return fails(lambda: create(model="pikerag/no-such"), 404, "model_not_found")

    @operation("chat with parts of text")
    def _():
        parts = [{"role": "user", "content": [{"type": "text", "text": QUESTION}]}]
        assert text_of(create(messages=parts)).startswith(ANSWER)

    @operation("chat of several turns")
    def _():
        turns = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hello"}, {"role": "assistant", "content": "Hello."}, *MESSAGES]
        assert text_of(create(messages=turns)).startswith(ANSWER)

    @operation("chat, asynchronous")
    async def _():
        from openai import AsyncOpenAI

        async with AsyncOpenAI(base_url=f"{check.url}/v1", api_key="none", max_retries=0) as other:
            reply = await other.chat.completions.create(model="pikerag", messages=MESSAGES)
        assert text_of(reply).startswith(ANSWER)

    @operation("stream: text")
    def _():
        kept["chunks"] = chunks = list(create(stream=True, stream_options={"include_usage": True}))
        text = "".join(choice.delta.content or "" for chunk in chunks for choice in chunk.choices)
        assert text.startswith(ANSWER) and text == text_of(kept["whole"]), text

    def deltas():
        return [choice.delta for chunk in kept["chunks"] for choice in chunk.choices]

    @operation("stream: reasoning while it works")
    def _():
        thoughts = "".join(getattr(delta, "reasoning_content", None) or "" for delta in deltas())
        assert "quantitative" in thoughts, thoughts
        return f"{len(thoughts.splitlines())} lines"

    @operation("stream: annotations")
    def _():
        found = [one["url_citation"]["url"] for delta in deltas() for one in getattr(delta, "annotations", None) or []]
        wanted = [one.url_citation.url for one in kept["whole"].choices[0].message.annotations or []]
        assert found == wanted != [], f"{len(found)} of {len(wanted)}"

    @operation("stream: usage")
    def _():
        assert kept["chunks"][-1].usage is not None and not kept["chunks"][-1].choices, kept["chunks"][-1]

    @operation("stream: helper with events")
    def _():
        with client.chat.completions.stream(model="pikerag", messages=MESSAGES) as stream:
            kinds = {event.type for event in stream}
            assert stream.get_final_completion().choices[0].message.content.startswith(ANSWER)
        assert "content.done" in kinds, kinds

    for name in ("max_tokens", "max_completion_tokens"):

        @operation(f"chat: {name}")
        def _():
            short = create(**{name: 20}).choices[0]
            assert short.finish_reason == "length", f"ignored in silence: {short.finish_reason}"
            assert text_of(kept["whole"]).startswith(short.message.content) and len(short.message.annotations or []) < 20, short

    @operation("chat: stop")
    def _():
        choice = create(stop=["no such text", "["]).choices[0]
        assert choice.finish_reason == "stop" and not choice.message.annotations, choice
        assert choice.message.content == text_of(kept["whole"]).split("[")[0], choice

    @operation("stream: stop")
    def _():
        chunks = [choice for chunk in create(stop="[", stream=True) for choice in chunk.choices]
        assert "".join(choice.delta.content or "" for choice in chunks) == text_of(kept["whole"]).split("[")[0], chunks
        assert chunks[-1].finish_reason == "stop", chunks[-1]

    @operation("chat: more than four stop sequences: 400")
    def _():
        return Refused(fails(lambda: create(stop=list("abcde")), 400, param="stop"))

    @operation("chat: fields that ask for nothing")
    def _():
        tool = {"type": "function", "function": {"name": "clock", "parameters": {"type": "object", "properties": {}}}}
        for more in ({"n": 1}, {"stop": []}, {"tool_choice": "none"}, {"logprobs": False}, {"response_format": {"type": "text"}}, {"tools": [tool], "tool_choice": "auto"}, {"temperature": 0.2, "top_p": 0.9, "seed": 1, "user": "u", "reasoning_effort": "low"}):
            assert text_of(create(**more)).startswith(ANSWER), more

    @operation("chat: filter")
    def _():
        text = text_of(create(extra_body=PART))
        assert text.startswith("18 [1]"), f"not filtered: {text}"

    @operation("chat: a filter that fits nothing")
    def _():
        return fails(lambda: create(extra_body={"filter": ["folder=nowhere"]}))

    @operation("chat: misspelt filter")
    def _():
        return Refused(fails(lambda: create(extra_body={"filtre": ["folder=x"]}), 400, param="filtre"))

    count = {"type": "function", "function": {"name": "count", "parameters": {"type": "object", "properties": {"repairs": {"type": "integer"}}, "required": ["repairs"]}}}

    def is_called(reply):
        return json.loads(reply.choices[0].message.tool_calls[0].function.arguments) == {"repairs": 20}

    fields = {
        "n = 2": ({"n": 2}, lambda reply: len(reply.choices) == 2),
        "logprobs": ({"logprobs": True}, lambda reply: reply.choices[0].logprobs is not None),
        "logit_bias": ({"logit_bias": {"1": -100}}, lambda reply: False),
        "audio": ({"modalities": ["text", "audio"], "audio": {"voice": "alloy", "format": "wav"}}, lambda reply: reply.choices[0].message.audio),
        "web_search_options": ({"web_search_options": {"search_context_size": "low"}}, lambda reply: False),
        "tool_choice = required without tools": ({"tool_choice": "required"}, lambda reply: False),
        "a function that must be called": ({"tools": [count], "tool_choice": {"type": "function", "function": {"name": "count"}}}, is_called),
        "one image": ({"messages": [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}}]}]}, lambda reply: False),
    }
    for name, (more, is_honoured) in fields.items():

        @operation(f"chat: {name}")
        def _():
            return honoured(lambda: create(**more), is_honoured)

    @operation("chat: response_format = json_schema")
    def _():
        wanted = {"type": "json_schema", "json_schema": {"name": "Repairs", "schema": count["function"]["parameters"]}}
        return honoured(lambda: create(response_format=wanted), lambda reply: json.loads(text_of(reply)) == {"repairs": 20})

    @operation("chat: response_format = json_object")
    def _():
        return honoured(lambda: create(response_format={"type": "json_object"}), lambda reply: isinstance(json.loads(text_of(reply)), dict))

    @operation("chat: parse into a class")
    def _():
        from pydantic import BaseModel

        class Repairs(BaseModel):
            repairs: int

        return honoured(lambda: client.chat.completions.parse(model="pikerag", messages=MESSAGES, response_format=Repairs), lambda reply: reply.choices[0].message.parsed.repairs == 20)

    @operation("completions of the old API")
    def _():
        return Refused(fails(lambda: client.completions.create(model="pikerag", prompt=QUESTION), 404))

    other_routes(check, client)
    embeddings(check)
    errors(check, client, create)


def openai_typescript(check):
    check.node("openai.mjs", check.url, check.models_url(), QUESTION)


def other_routes(check, client):
    """Routes of OpenAI that have no counterpart here."""
    routes = {
        "images": lambda: client.images.generate(model="pikerag", prompt="A crane"),
        "moderations": lambda: client.moderations.create(model="pikerag", input="A crane"),
        "files": lambda: client.files.list(),
        "batches": lambda: client.batches.list(),
    }
    for name, call in routes.items():

        @check.operation(f"{name}: 404")
        def _():
            return Refused(fails(call, 404))


def embeddings(check):
    def embed(**more):
        return client_of(check.models_url()).embeddings.create(model="pikerag", **more)

    texts = ["a crane", "a port"]

    @check.operation("embeddings")
    def _():
        check.kept["vectors"] = [item.embedding for item in embed(input=texts).data]
        assert [len(vector) for vector in check.kept["vectors"]] == [8, 8], check.kept["vectors"]

    @check.operation("embeddings: one text")
    def _():
        assert embed(input="a crane").data[0].embedding == check.kept["vectors"][0]

    @check.operation("embeddings: encoding_format = float")
    def _():
        found = embed(input=texts, encoding_format="float").data[0].embedding
        assert all(abs(one - other) < 1e-6 for one, other in zip(found, check.kept["vectors"][0], strict=True)), found

    @check.operation("embeddings: dimensions")
    def _():
        return honoured(lambda: embed(input=texts, dimensions=4), lambda reply: len(reply.data[0].embedding) == 4)

    @check.operation("embeddings: numbers of tokens")
    def _():
        return honoured(lambda: embed(input=[[1, 2, 3]]), lambda reply: False)

    @check.operation("embeddings of a base without an embedder")
    def _():
        url, key, _ = check.keys_url()
        return fails(lambda: client_of(url, key).embeddings.create(model="pikerag", input=texts), 409)


def errors(check, client, create):
    def ask(key, **more):
        return client_of(check.keys_url()[0], key).models.list(**more)

    @check.operation("a key")
    def _():
        assert list(ask(check.keys_url()[1]))

    @check.operation("no key that is known: 401")
    def _():
        return fails(lambda: ask("none"), 401, "invalid_api_key")

    @check.operation("too many requests: 429")
    def _():
        from openai import RateLimitError

        key = check.keys_url()[2]
        for _ in range(3):
            try:
                ask(key)
            except RateLimitError as error:
                assert int(error.response.headers["retry-after"]) > 0, error.response.headers
                return words_of(error, 429, "rate_limit_exceeded")
        raise AssertionError("three requests in a minute are served")

    @check.operation("messages that are no list: 400")
    def _():
        return fails(lambda: create(messages="hello"), 400)

    @check.operation("no messages: 400")
    def _():
        return fails(lambda: create(messages=[]), 400)

    @check.operation("a body that is no JSON: 400")
    def _():
        body = {"content": b"{", "options": {"headers": {"content-type": "application/json"}}}
        return fails(lambda: client.post("/chat/completions", cast_to=object, **body), 400)

    @check.operation("a question that is too long: 413")
    def _():
        return fails(lambda: create(messages=[{"role": "user", "content": "brake wear " * 100_000}]), 413, "context_length_exceeded")

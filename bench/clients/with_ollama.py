"""Calls the routes of Ollama with its own package and two others."""

import os
import sys
from datetime import datetime, timezone

from clients.harness import ANSWER, QUESTION, honoured_or_refused

MESSAGES = [{"role": "user", "content": QUESTION}]
TEXTS = ["a crane", "a port"]
SCHEMA = {"type": "object", "properties": {"repairs": {"type": "integer"}}, "required": ["repairs"]}


def ollama(check):
    import json

    from ollama import AsyncClient, Client, ResponseError

    client = Client(host=check.url)
    kept, operation = check.kept, check.operation

    def words_of(error, status):
        assert error.status_code == status, f"status {error.status_code}: {error.error}"
        assert error.error and not error.error.startswith("{"), f"not in Ollama's shape: {error.error}"
        return error.error

    def fails(call, status):
        try:
            result = call()
        except ResponseError as error:
            return words_of(error, status)
        print(result, file=sys.stderr)
        raise AssertionError("it was served")

    def honoured(call, is_honoured):
        return honoured_or_refused(call, is_honoured, lambda error: words_of(error, 400), ResponseError)

    @operation("list")
    def _():
        names = [model.model for model in client.list().models]
        assert any(name.startswith("pikerag") for name in names), names
        return f"{len(names)} models"

    @operation("show")
    def _():
        shown = client.show("pikerag/kar3")
        assert "completion" in shown.capabilities and shown.modelinfo["pikerag.context_length"] > 4096, shown

    @operation("show an unknown model: 404")
    def _():
        return fails(lambda: client.show("llama3"), 404)

    @operation("pull")
    def _():
        assert client.pull("pikerag").status == "success"

    @operation("pull, streamed")
    def _():
        assert [part.status for part in client.pull("pikerag", stream=True)][-1] == "success"

    @operation("pull an unknown model: 404")
    def _():
        return fails(lambda: client.pull("llama3"), 404)

    @operation("ps")
    def _():
        assert client.ps().models == []

    @operation("chat")
    def _():
        kept["reply"] = reply = client.chat(model="pikerag", messages=MESSAGES)
        assert reply.message.content.startswith(ANSWER) and reply.done_reason == "stop" and reply.total_duration > 0, reply
        assert reply.message.thinking is None, reply.message

    @operation("chat: sources with links")
    def _():
        text = kept["reply"].message.content
        assert "- [1] [" in text and f"]({check.url}/passages/default/" in text, text

    @operation("chat: time of creation")
    def _():
        made = datetime.fromisoformat(kept["reply"].created_at[:19] + "+00:00")
        assert abs((datetime.now(timezone.utc) - made).total_seconds()) < 120, made

    @operation("chat, streamed")
    def _():
        kept["parts"] = parts = list(client.chat(model="pikerag:latest", messages=MESSAGES, stream=True))
        assert "".join(part.message.content or "" for part in parts) == kept["reply"].message.content, parts

    @operation("chat, streamed: thinking while it works")
    def _():
        thoughts = "".join(part.message.thinking or "" for part in kept["parts"])
        assert "quantitative" in thoughts, thoughts
        return f"{len(thoughts.splitlines())} lines"

    @operation("chat, streamed: think = false")
    def _():
        assert not any(part.message.thinking for part in client.chat(model="pikerag", messages=MESSAGES, stream=True, think=False))

    @operation("chat: think = true")
    def _():
        assert "quantitative" in (client.chat(model="pikerag", messages=MESSAGES, think=True).message.thinking or "")

    @operation("chat, asynchronous")
    async def _():
        reply = await AsyncClient(host=check.url).chat(model="pikerag", messages=MESSAGES)
        assert reply.message.content.startswith(ANSWER), reply

    @operation("chat with an unknown model: 404")
    def _():
        return fails(lambda: client.chat(model="llama3", messages=MESSAGES), 404)

    @operation("generate")
    def _():
        reply = client.generate(model="pikerag", prompt=QUESTION, system="Be brief.", options={"temperature": 0})
        assert reply.response == kept["reply"].message.content, reply

    @operation("generate, streamed")
    def _():
        parts = client.generate(model="pikerag", prompt=QUESTION, stream=True)
        assert "".join(part.response or "" for part in parts) == kept["reply"].message.content

    @operation("generate without a prompt: load")
    def _():
        assert client.generate(model="pikerag").done_reason == "load"

    @operation("generate: num_predict")
    def _():
        assert client.generate(model="pikerag", prompt=QUESTION, options={"num_predict": 2}).done_reason == "length"

    @operation("chat: format = a schema")
    def _():
        kept["filled"] = text = client.chat(model="pikerag", messages=MESSAGES, format=SCHEMA).message.content
        assert json.loads(text) == {"repairs": 20}, text

    @operation("chat, streamed: format = a schema")
    def _():
        parts = [part.message.content for part in client.chat(model="pikerag", messages=MESSAGES, format=SCHEMA, stream=True) if part.message.content]
        assert parts == [kept["filled"]], parts

    @operation("chat: format = json")
    def _():
        text = client.chat(model="pikerag", messages=MESSAGES, format="json").message.content
        assert json.loads(text)["answer"].startswith("20"), text

    @operation("generate: format = a schema")
    def _():
        assert client.generate(model="pikerag", prompt=QUESTION, format=SCHEMA).response == kept["filled"]

    @operation("generate: stop")
    def _():
        reply = client.generate(model="pikerag", prompt=QUESTION, options={"stop": ["["]})
        assert ANSWER.startswith(reply.response) and reply.response and reply.done_reason == "stop", reply

    def clock():
        """The time."""

    @operation("chat with tools that need not be called")
    def _():
        assert client.chat(model="pikerag", messages=MESSAGES, tools=[clock]).message.content.startswith(ANSWER)

    fields = {
        "chat: images": (lambda: client.chat(model="pikerag", messages=[MESSAGES[0] | {"images": [b"\x89PNG"]}]), lambda reply: False),
        "generate: suffix": (lambda: client.generate(model="pikerag", prompt=QUESTION, suffix="end"), lambda reply: False),
        "create": (lambda: client.create(model="mine", from_="pikerag"), lambda reply: False),
        "copy": (lambda: client.copy("pikerag", "mine"), lambda reply: False),
        "delete": (lambda: client.delete("pikerag"), lambda reply: False),
    }
    for name, (call, is_honoured) in fields.items():

        @operation(name)
        def _():
            return honoured(call, is_honoured)

    def other():
        return Client(host=check.models_url())

    @operation("embed")
    def _():
        kept["vectors"] = vectors = other().embed(model="pikerag", input=TEXTS).embeddings
        assert [len(vector) for vector in vectors] == [8, 8], vectors

    @operation("embeddings of the old API")
    def _():
        assert other().embeddings(model="pikerag", prompt="a crane").embedding == kept["vectors"][0]

    @operation("embed: dimensions")
    def _():
        return honoured(lambda: other().embed(model="pikerag", input=TEXTS, dimensions=4), lambda reply: len(reply.embeddings[0]) == 4)

    @operation("no key that is known: 401")
    def _():
        return fails(lambda: Client(host=check.keys_url()[0]).list(), 401)

    @operation("a key")
    def _():
        url, key, _ = check.keys_url()
        assert Client(host=url, headers={"authorization": f"Bearer {key}"}).list().models


def ollama_typescript(check):
    check.node("ollama.mjs", check.url, check.models_url(), QUESTION)


def litellm(check):
    """Sends JSON without naming its type."""
    # Its list of prices comes from the package, not from the network.
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
    import litellm as package

    kept, operation = check.kept, check.operation
    providers = {
        "ollama_chat": {"model": "ollama_chat/pikerag", "api_base": check.url},
        "ollama": {"model": "ollama/pikerag", "api_base": check.url},
        "openai": {"model": "openai/pikerag", "api_base": f"{check.url}/v1", "api_key": "none"},
    }
    for name, where in providers.items():
        ask = where | {"messages": MESSAGES, "max_retries": 0}

        @operation(f"{name}: completion")
        def _():
            kept[name] = text = package.completion(**ask, temperature=0.2).choices[0].message.content
            assert text.startswith(ANSWER), text

        @operation(f"{name}: stream")
        def _():
            kept[f"{name} deltas"] = deltas = [chunk.choices[0].delta for chunk in package.completion(**ask, stream=True)]
            assert "".join(delta.content or "" for delta in deltas) == kept[name], deltas

        if name != "ollama":

            @operation(f"{name}: reasoning of a stream")
            def _():
                thoughts = "".join(getattr(delta, "reasoning_content", None) or "" for delta in kept[f"{name} deltas"])
                assert "quantitative" in thoughts, thoughts

        @operation(f"{name}: max_tokens")
        def _():
            short = package.completion(**ask, max_tokens=2).choices[0]
            assert len(short.message.content) < len(kept[name]), "ignored in silence"
            # For `ollama`, the package reports each end as `stop`.
            assert short.finish_reason == ("stop" if name == "ollama" else "length"), short

        @operation(f"{name}: an unknown model")
        def _():
            try:
                package.completion(**ask | {"model": where["model"].replace("pikerag", "llama3")})
            except Exception as error:  # Its class depends on the version.
                assert "llama3" in str(error), error
                return str(error)
            raise AssertionError("a model that does not exist answered")

    @operation("openai: responses")
    def _():
        reply = package.responses(model="openai/pikerag", input=QUESTION, api_base=f"{check.url}/v1", api_key="none")
        assert reply.output[-1].content[0].text.startswith(ANSWER), reply

    for name, suffix in (("ollama", ""), ("openai", "/v1")):

        @operation(f"{name}: embedding")
        def _():
            made = package.embedding(model=f"{name}/pikerag", api_base=check.models_url() + suffix, api_key="none", input=TEXTS)
            assert [len(item["embedding"]) for item in made.data] == [8, 8], made

    for name, address in (("cohere", "/v2/rerank"), ("jina_ai", "/v1/rerank")):

        @operation(f"{name}: rerank")
        def _():
            found = package.rerank(model=f"{name}/pikerag", query="What lifts?", documents=["Tea grows on hills, as everybody knows.", "The crane lifts."], api_base=check.models_url() + address, api_key="none")
            assert [result["index"] for result in found.results] == [1, 0], found


def langchain_ollama(check):
    from langchain_ollama import ChatOllama, OllamaEmbeddings, OllamaLLM
    from pydantic import BaseModel

    class Repairs(BaseModel):
        repairs: int

    model = ChatOllama(model="pikerag", base_url=check.url)

    @check.operation("ChatOllama: invoke")
    def _():
        reply = model.invoke(QUESTION)
        assert reply.content.startswith(ANSWER), reply

    @check.operation("ChatOllama: stream")
    def _():
        assert "".join(chunk.content for chunk in model.stream(QUESTION)).startswith(ANSWER)

    @check.operation("ChatOllama: ainvoke")
    async def _():
        assert (await model.ainvoke(QUESTION)).content.startswith(ANSWER)

    @check.operation("ChatOllama: reasoning")
    def _():
        reply = ChatOllama(model="pikerag", base_url=check.url, reasoning=True).invoke(QUESTION)
        assert "quantitative" in reply.additional_kwargs.get("reasoning_content", ""), reply

    @check.operation("ChatOllama: validate_model_on_init")
    def _():
        ChatOllama(model="pikerag", base_url=check.url, validate_model_on_init=True)

    @check.operation("ChatOllama: with_structured_output")
    def _():
        found = model.with_structured_output(Repairs).invoke(QUESTION)
        assert found.repairs == 20, found

    @check.operation("OllamaLLM: invoke")
    def _():
        assert OllamaLLM(model="pikerag", base_url=check.url).invoke(QUESTION).startswith(ANSWER)

    @check.operation("OllamaEmbeddings")
    def _():
        made = OllamaEmbeddings(model="pikerag", base_url=check.models_url())
        assert [len(vector) for vector in made.embed_documents(TEXTS)] == [8, 8] and len(made.embed_query("a crane")) == 8

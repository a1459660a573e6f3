"""Calls the server from frameworks: a reranker's package, LangChain, LlamaIndex, Haystack, Open WebUI."""

import os
import subprocess
import sys

from clients.harness import ANSWER, FACT, QUESTION, ROOT, Refused, honoured_or_refused

TEXTS = ["a crane", "a port"]


def cohere(check):
    from cohere import Client, ClientV2
    from cohere.core import ApiError

    documents = ["Tea grows on hills, as everybody knows.", "The crane lifts forty tons."]
    asked = {"model": "pikerag", "query": "What lifts?", "documents": documents}

    def second():
        return ClientV2(api_key="none", base_url=check.models_url())

    @check.operation("rerank, second version")
    def _():
        found = second().rerank(**asked, max_tokens_per_doc=512)
        assert [result.index for result in found.results] == [1, 0] and found.id, found
        assert all(0 <= result.relevance_score <= 1 for result in found.results), found
        assert found.meta.api_version.version == "2", found

    @check.operation("rerank: top_n")
    def _():
        assert len(second().rerank(**asked, top_n=1).results) == 1

    @check.operation("rerank, first version, of objects")
    def _():
        fields = [{"title": "Tea", "text": documents[0]}, {"title": "Crane", "text": documents[1]}]
        first = Client(api_key="none", base_url=check.models_url())
        found = first.rerank(**asked | {"documents": fields}, rank_fields=["title", "text"], return_documents=True)
        assert found.results[0].document.text == documents[1] and found.meta.api_version.version == "1", found

    def fails(call, status):
        try:
            result = call()
        except ApiError as error:
            assert error.status_code == status, f"status {error.status_code}: {error.body}"
            shape = error.body.get("error") if isinstance(error.body, dict) else None
            assert shape, f"without words: {error.body}"
            return shape["message"]
        print(result, file=sys.stderr)
        raise AssertionError("it was served")

    @check.operation("rerank with an unknown model: 404")
    def _():
        return fails(lambda: second().rerank(**asked | {"model": "no-such"}), 404)

    @check.operation("rerank without a reranker: 409")
    def _():
        return fails(lambda: ClientV2(api_key="none", base_url=check.url).rerank(**asked, request_options={"max_retries": 0}), 409)

    @check.operation("no key that is known: 401")
    def _():
        return fails(lambda: ClientV2(api_key="none", base_url=check.keys_url()[0]).rerank(**asked), 401)

    @check.operation("chat of Cohere: 404")
    def _():
        return Refused(fails(lambda: second().chat(model="pikerag", messages=[{"role": "user", "content": QUESTION}]), 404))


def langchain(check):
    from langchain_openai import ChatOpenAI, OpenAIEmbeddings
    from openai import APIStatusError
    from pydantic import BaseModel

    class Repairs(BaseModel):
        repairs: int

    sys.path[:0] = [str(ROOT / "clients/python/src"), str(ROOT / "clients/python-langchain/src")]
    where = {"base_url": f"{check.url}/v1", "api_key": "none", "max_retries": 0}
    model = ChatOpenAI(model="pikerag", **where)
    operation = check.operation

    @operation("ChatOpenAI: invoke")
    def _():
        reply = model.invoke(QUESTION)
        assert reply.content.startswith(ANSWER) and reply.usage_metadata is not None, reply

    @operation("ChatOpenAI: stream")
    def _():
        assert "".join(str(chunk.content) for chunk in model.stream(QUESTION)).startswith(ANSWER)

    @operation("ChatOpenAI: ainvoke")
    async def _():
        assert (await model.ainvoke(QUESTION)).content.startswith(ANSWER)

    @operation("ChatOpenAI: batch")
    def _():
        assert all(reply.content.startswith(ANSWER) for reply in model.batch([QUESTION] * 3))

    @operation("ChatOpenAI: tools that need not be called")
    def _():
        def clock() -> str:
            """The time."""

        assert model.bind_tools([clock]).invoke(QUESTION).content.startswith(ANSWER)

    for method in ("json_schema", "function_calling", "json_mode"):

        @operation(f"ChatOpenAI: with_structured_output, {method}")
        def _():
            filled = model.with_structured_output(Repairs, method=method)

            def is_filled(found):
                return found.repairs == 20

            if method == "json_mode":
                # It demands any JSON, not this class.
                filled, is_filled = model.with_structured_output(None, method=method), lambda found: isinstance(found, dict)
            return honoured_or_refused(lambda: filled.invoke(QUESTION), is_filled, lambda error: error.body["message"], APIStatusError)

    @operation("ChatOpenAI by the Responses API")
    def _():
        reply = ChatOpenAI(model="pikerag", use_responses_api=True, **where).invoke(QUESTION)
        assert reply.text.startswith(ANSWER), reply
        assert len([one for block in reply.content for one in block.get("annotations", [])]) == 20, reply.content

    @operation("OpenAIEmbeddings")
    def _():
        made = OpenAIEmbeddings(model="pikerag", base_url=f"{check.models_url()}/v1", api_key="none", check_embedding_ctx_length=False)
        assert [len(vector) for vector in made.embed_documents(TEXTS)] == [8, 8]

    @operation("our retriever: invoke")
    def _():
        from langchain_pikerag import PikeragRetriever

        documents = PikeragRetriever(url=check.url, k=3).invoke(FACT)
        assert any("6 mm" in document.page_content for document in documents), documents
        assert all(0 <= document.metadata["score"] <= 1 for document in documents)

    @operation("our retriever: ainvoke")
    async def _():
        from langchain_pikerag import PikeragRetriever

        assert len(await PikeragRetriever(url=check.url, k=3).ainvoke(FACT)) == 3


def llamaindex(check):
    sys.path[:0] = [str(ROOT / "clients/python/src"), str(ROOT / "clients/python-llamaindex")]

    @check.operation("our retriever: retrieve")
    def _():
        from llama_index.retrievers.pikerag import PikeragRetriever

        nodes = PikeragRetriever(url=check.url, k=3).retrieve(FACT)
        assert any("6 mm" in node.text for node in nodes) and all(0 <= node.score <= 1 for node in nodes), nodes

    @check.operation("our retriever: aretrieve")
    async def _():
        from llama_index.retrievers.pikerag import PikeragRetriever

        assert len(await PikeragRetriever(url=check.url, k=3).aretrieve(FACT)) == 3


def llamaindex_models(check):
    from llama_index.core.llms import ChatMessage
    from llama_index.llms.ollama import Ollama
    from llama_index.llms.openai_like import OpenAILike

    question = [ChatMessage(role="user", content=QUESTION)]
    models = {
        "OpenAILike": OpenAILike(model="pikerag", api_base=f"{check.url}/v1", api_key="none", is_chat_model=True, max_retries=0),
        "Ollama": Ollama(model="pikerag", base_url=check.url, request_timeout=60),
    }
    for name, model in models.items():

        @check.operation(f"{name}: complete")
        def _():
            assert model.complete(QUESTION).text.startswith(ANSWER)

        @check.operation(f"{name}: chat")
        def _():
            assert model.chat(question).message.content.startswith(ANSWER)

        @check.operation(f"{name}: stream_chat")
        def _():
            assert "".join(part.delta or "" for part in model.stream_chat(question)).startswith(ANSWER)

        @check.operation(f"{name}: achat")
        async def _():
            assert (await model.achat(question)).message.content.startswith(ANSWER)


def haystack(check):
    os.environ["HAYSTACK_TELEMETRY_ENABLED"] = "False"
    from haystack.components.embedders import OpenAIDocumentEmbedder, OpenAITextEmbedder
    from haystack.components.generators.chat import OpenAIChatGenerator
    from haystack.dataclasses import ChatMessage, Document
    from haystack.utils import Secret

    key = Secret.from_token("none")
    question = [ChatMessage.from_user(QUESTION)]

    def generator(**more):
        return OpenAIChatGenerator(api_key=key, model="pikerag", api_base_url=f"{check.url}/v1", max_retries=0, **more)

    @check.operation("OpenAIChatGenerator")
    def _():
        assert generator().run(question)["replies"][0].text.startswith(ANSWER)

    @check.operation("OpenAIChatGenerator: stream")
    def _():
        parts = []
        generator(streaming_callback=lambda chunk: parts.append(chunk.content or "")).run(question)
        assert "".join(parts).startswith(ANSWER), parts

    @check.operation("OpenAIChatGenerator: asynchronous")
    async def _():
        assert (await generator().run_async(question))["replies"][0].text.startswith(ANSWER)

    @check.operation("OpenAIResponsesChatGenerator")
    def _():
        from haystack.components.generators.chat import OpenAIResponsesChatGenerator

        made = OpenAIResponsesChatGenerator(api_key=key, model="pikerag", api_base_url=f"{check.url}/v1", max_retries=0)
        assert made.run(question)["replies"][0].text.startswith(ANSWER)

    @check.operation("OpenAITextEmbedder")
    def _():
        made = OpenAITextEmbedder(api_key=key, model="pikerag", api_base_url=f"{check.models_url()}/v1")
        assert len(made.run("a crane")["embedding"]) == 8

    @check.operation("OpenAIDocumentEmbedder")
    def _():
        made = OpenAIDocumentEmbedder(api_key=key, model="pikerag", api_base_url=f"{check.models_url()}/v1", progress_bar=False)
        found = made.run([Document(content=text) for text in TEXTS])["documents"]
        assert [len(document.embedding) for document in found] == [8, 8], found


def openwebui(check):
    """Runs in a process of its own, because Open WebUI reads its settings and its database from the environment."""
    command = [sys.executable, ROOT / "bench/openwebui.py", "--program", check.program]
    ran = subprocess.run(command, capture_output=True, text=True)
    faults = {}
    for line in ran.stdout.splitlines():
        # It tries most operations with two questions.
        name, _, result = line.partition(": ")
        if result != "ok" or name not in faults:
            faults[name] = "" if result == "ok" else result.removeprefix("FAILED: ")
    for name, fault in faults.items():
        check.report(name.replace("_", " "), "failed" if fault else "passed", fault)
    assert faults, (ran.stdout + ran.stderr)[-1500:]

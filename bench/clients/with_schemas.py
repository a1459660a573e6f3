"""Fills classes from answers with the packages that people use for it."""

import contextlib

from clients import servers
from clients.harness import QUESTION
from clients.with_openai import client_of


@contextlib.contextmanager
def without_complaints(url):
    """No validation error is asked as a question meanwhile."""
    before = len(servers.asked(url))
    yield
    runs = servers.asked(url)
    texts = [run["question"]["text"] for run in runs[: len(runs) - before]]
    wrong = [text for text in texts if QUESTION not in text or "rror" in text or "never right" in text]
    assert not wrong, f"asked: {wrong[0]}"


def instructor(check):
    import instructor as package
    from instructor.core import InstructorRetryException
    from pydantic import BaseModel, field_validator

    class Repairs(BaseModel):
        repairs: int
        citations: list[str]

    class Refusing(Repairs):
        @field_validator("repairs")
        @classmethod
        def refused(cls, value):
            raise ValueError("never right")

    def create(mode, **more):
        client = package.from_openai(client_of(check.url), mode=mode)
        return client.chat.completions.create(model="pikerag", messages=[{"role": "user", "content": QUESTION}], **more)

    for name in ("TOOLS", "JSON", "JSON_SCHEMA", "MD_JSON"):
        mode = package.Mode[name]

        @check.operation(f"a class, mode {name}")
        def _():
            repairs = create(mode, response_model=Repairs)
            assert repairs.repairs == 20 and len(repairs.citations) == 20, repairs

        @check.operation(f"retries, mode {name}: no error is asked as a question")
        def _():
            with without_complaints(check.url):
                try:
                    create(mode, response_model=Refusing, max_retries=2)
                except InstructorRetryException:
                    return
                raise AssertionError("values that its validator refuses were accepted")

    @check.operation("partial objects of a stream")
    def _():
        client = package.from_openai(client_of(check.url), mode=package.Mode.TOOLS)
        parts = list(client.chat.completions.create_partial(model="pikerag", response_model=Repairs, messages=[{"role": "user", "content": QUESTION}]))
        assert parts[-1].repairs == 20, parts


def pydantic_ai(check):
    from pydantic import BaseModel
    from pydantic_ai import Agent, ModelRetry, NativeOutput, PromptedOutput
    from pydantic_ai.exceptions import UnexpectedModelBehavior
    from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
    from pydantic_ai.providers.openai import OpenAIProvider

    class Repairs(BaseModel):
        repairs: int
        citations: list[str]

    provider = OpenAIProvider(openai_client=async_client(check.url))
    model = OpenAIChatModel("pikerag", provider=provider)

    @check.operation("text")
    async def _():
        assert (await Agent(model).run(QUESTION)).output.startswith("20")

    @check.operation("text of a stream")
    async def _():
        async with Agent(model).run_stream(QUESTION) as reply:
            assert (await reply.get_output()).startswith("20")

    @check.operation("text by the Responses API")
    async def _():
        assert (await Agent(OpenAIResponsesModel("pikerag", provider=provider)).run(QUESTION)).output.startswith("20")

    outputs = {"a class": Repairs, "NativeOutput": NativeOutput(Repairs), "PromptedOutput": PromptedOutput(Repairs), "int": int}
    for name, output in outputs.items():

        @check.operation(f"output: {name}")
        async def _():
            found = (await Agent(model, output_type=output).run(QUESTION)).output
            assert getattr(found, "repairs", found) == 20, found

        @check.operation(f"retries, output {name}: no error is asked as a question")
        async def _():
            agent = Agent(model, output_type=output, retries=2)

            @agent.output_validator
            def refused(value):
                raise ModelRetry("never right")

            with without_complaints(check.url):
                try:
                    await agent.run(QUESTION)
                except UnexpectedModelBehavior:
                    return
                raise AssertionError("values that its validator refuses were accepted")

    @check.operation("a tool that need not be called")
    async def _():
        agent = Agent(model)

        @agent.tool_plain
        def clock() -> str:
            """The time."""
            raise AssertionError("no tool is called")

        assert (await agent.run(QUESTION)).output.startswith("20")


def async_client(url):
    from openai import AsyncOpenAI

    return AsyncOpenAI(base_url=f"{url}/v1", api_key="none", timeout=60)

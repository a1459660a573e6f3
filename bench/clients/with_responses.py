"""Calls OpenAI's Responses API with the packages that use it by default."""

from clients.harness import ANSWER, QUESTION, Refused
from clients.with_openai import PART, client_of, fails, honoured


def count_of_repairs():
    """The class of an answer to QUESTION."""
    from pydantic import BaseModel

    class Count(BaseModel):
        count: int
        citations: list[str]

    return Count


def responses(check):
    """Each reply is also read by the types of the package, because its client accepts any object."""
    from openai.types.responses import Response, ResponseStreamEvent
    from pydantic import TypeAdapter

    client = client_of(check.url)
    kept, operation = check.kept, check.operation

    def create(**more):
        return client.responses.create(**({"model": "pikerag", "input": QUESTION} | more))

    @operation("create")
    def _():
        whole = create(instructions="Be short.", metadata={"from": "check"})
        assert whole.status == "completed" and whole.output_text.startswith(ANSWER) and whole.metadata == {"from": "check"}, whole
        Response.model_validate_json(whole.model_dump_json())
        kept["whole"] = whole

    @operation("create: reasoning")
    def _():
        steps = kept["whole"].output[0]
        assert steps.type == "reasoning" and "quantitative" in steps.summary[0].text, steps

    @operation("create: annotations")
    def _():
        part = kept["whole"].output[-1].content[0]
        first = part.annotations[0]
        assert len(part.annotations) == 20 and first.url.startswith("http"), part.annotations
        assert part.text[first.start_index : first.end_index] == "[1]", first

    @operation("stream")
    def _():
        one_event, events = TypeAdapter(ResponseStreamEvent), []
        for event in create(stream=True):
            one_event.validate_json(event.model_dump_json())
            events.append(event)
        assert [event.sequence_number for event in events] == list(range(len(events)))
        assert events[0].type == "response.created" and events[-1].type == "response.completed", events[-1]
        assert events[-1].response.output_text == kept["whole"].output_text
        kept["events"] = events
        return f"{len(events)} events"

    @operation("stream: annotations")
    def _():
        added = [event for event in kept["events"] if event.type == "response.output_text.annotation.added"]
        assert len(added) == 20, added

    @operation("stream: helper")
    def _():
        with client.responses.stream(model="pikerag", input=[{"role": "user", "content": QUESTION}]) as stream:
            list(stream)
            assert stream.get_final_response().output_text.startswith(ANSWER)

    user = {"role": "user", "content": QUESTION}
    turns = {
        "previous_response_id": lambda whole: {"previous_response_id": whole.id},
        "the output as input": lambda whole: {"input": [user, *whole.output, user]},
        "references to items": lambda whole: {"input": [user, {"type": "item_reference", "id": whole.output[-1].id}, user]},
    }
    for name, more in turns.items():

        @operation(f"a second turn: {name}")
        def _():
            assert create(**more(kept["whole"])).output_text.startswith(ANSWER)

    @operation("max_output_tokens")
    def _():
        short = create(max_output_tokens=20)
        assert short.status == "incomplete" and kept["whole"].output_text.startswith(short.output_text), short

    @operation("parse into a class")
    def _():
        return honoured(lambda: client.responses.parse(model="pikerag", input=QUESTION, text_format=count_of_repairs()), lambda reply: reply.output_parsed.count == 20)

    @operation("filter")
    def _():
        text = create(extra_body=PART).output_text
        assert text.startswith("18 [1]"), text

    fields = {
        "background": ({"background": True}, lambda reply: reply.status in ("queued", "in_progress")),
        "top_logprobs": ({"top_logprobs": 2}, lambda reply: reply.output[-1].content[0].logprobs),
        "tool_choice = required without tools": ({"tool_choice": "required"}, lambda reply: False),
        "web search": ({"tools": [{"type": "web_search"}], "tool_choice": {"type": "web_search"}}, lambda reply: False),
        "conversation": ({"conversation": "conv_none"}, lambda reply: False),
        "an unknown field": ({"extra_body": {"surprise": 1}}, lambda reply: False),
        "an image": ({"input": [{"role": "user", "content": [{"type": "input_image", "image_url": "data:image/png;base64,AA=="}]}]}, lambda reply: False),
    }
    for name, (more, is_honoured) in fields.items():

        @operation(name)
        def _():
            return honoured(lambda: create(**more), is_honoured)

    @operation("previous_response_id that is unknown")
    def _():
        return fails(lambda: create(previous_response_id="resp_none"), 400, param="previous_response_id")

    @operation("retrieve a response")
    def _():
        return Refused(fails(lambda: client.responses.retrieve(kept["whole"].id), 404))

    @operation("an unknown model: 404")
    def _():
        return fails(lambda: create(model="no-such"), 404, "model_not_found")


def openai_agents(check):
    from agents import Agent, OpenAIChatCompletionsModel, OpenAIResponsesModel, Runner, function_tool, set_tracing_disabled
    from openai import AsyncOpenAI

    set_tracing_disabled(True)

    @function_tool
    def clock() -> str:
        """The time."""
        raise AssertionError("no tool is called")

    def agent(kind=OpenAIResponsesModel, **more):
        client = AsyncOpenAI(base_url=f"{check.url}/v1", api_key="none", max_retries=0)
        return Agent(name="Documents", instructions="Answer from the documents.", model=kind(model="pikerag", openai_client=client), **more)

    @check.operation("run")
    async def _():
        check.kept["whole"] = whole = await Runner.run(agent(), QUESTION)
        assert whole.final_output.startswith(ANSWER), whole
        items = [item.type for item in whole.new_items]
        assert items == ["reasoning_item", "message_output_item"], items

    @check.operation("run with a tool that need not be called")
    async def _():
        assert (await Runner.run(agent(tools=[clock]), QUESTION)).final_output.startswith(ANSWER)

    @check.operation("stream of a second turn")
    async def _():
        turns = [*check.kept["whole"].to_input_list(), {"role": "user", "content": QUESTION}]
        again = Runner.run_streamed(agent(), turns)
        kinds = [event.type async for event in again.stream_events()]
        assert again.final_output == check.kept["whole"].final_output, again
        return f"{len(kinds)} events"

    @check.operation("output of a class")
    async def _():
        assert (await Runner.run(agent(output_type=count_of_repairs()), QUESTION)).final_output.count == 20

    @check.operation("run by chat completions")
    async def _():
        assert (await Runner.run(agent(OpenAIChatCompletionsModel), QUESTION)).final_output.startswith(ANSWER)


def ai_sdk(check):
    check.node("ai_sdk.mjs", check.url, QUESTION)

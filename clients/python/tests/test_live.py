"""The clients against the server at PIKERAG_URL, over `examples/maintenance`, without a model."""

from __future__ import annotations

import asyncio
import dataclasses
import os
from pathlib import Path

import pikerag_client
import pytest
from pikerag_client import AsyncClient, Client, NotFoundError, Reply, RequestError, types

URL = os.environ.get("PIKERAG_URL", "")
pytestmark = pytest.mark.skipif(not URL, reason="LEFT OUT: PIKERAG_URL names no server")
QUESTION = "How many repairs were due to brake wear?"
FACT = "How thin may a brake lining be before it is replaced?"
# Classes whose schema has another name.
SCHEMAS = {
    "Base": "BaseLine",
    "Feedback": "FeedbackResponse",
    "Method": "MethodDescription",
    "Run": "RunSummary",
    "RunDetails": "RunResponse",
    "Unpacked": "UnpackResponse",
}


def test_ask_search_and_runs() -> None:
    with Client(URL) as client:
        asked = client.ask(QUESTION)
        assert asked.answer.text == "20" and len(asked.answer.citations) == len(asked.links) == 20
        assert {citation.check for citation in asked.answer.citations} == {"verified"}
        assert asked.run in [run.id for run in client.runs(limit=5, brief=True)]
        details = client.run(asked.run)
        assert details.state == "answered" and details.events[0].event == "began"
        assert client.replay(asked.run).answer.text == "20"
        found = client.search(FACT, k=3)
        hits = found.hits
        assert found.similarity_by == "words" and all(0 <= hit.similarity <= 1 and hit.sent_as is None for hit in hits)
        assert len(hits) == 3 and hits[0].score == 1 and any("6 mm" in hit.chunk.text for hit in hits)
        assert client.chunk(hits[0].chunk.id).text == hits[0].chunk.text
        assert hits[0].chunk.id in [chunk.id for chunk in client.source(hits[0].chunk.source).chunks]
        assert hits[0].chunk.uri in [source.uri for source in client.sources()]


def test_stream_ends_with_the_same_answer() -> None:
    with Client(URL) as client, client.stream(QUESTION) as events:
        seen = list(events)
    assert seen[0].kind == "run" and seen[-1].kind == "answer"
    assert seen[-1].asked.answer.text == "20" and any(event.kind == "event" for event in seen)


def test_a_file_goes_in_comes_back_and_goes(tmp_path: Path) -> None:
    text = "The winch Ostermoor lifts nine tons.\n".encode()
    with Client(URL) as client:
        (tmp_path / "winch python.md").write_bytes(text)
        states = []
        job = client.upload_and_wait(tmp_path / "winch python.md", "notes/winch python.md", progress=lambda job: states.append(job.stand))
        assert job.stand == states[-1] == "done"
        try:
            assert any("Ostermoor" in hit.chunk.text for hit in client.search("What does the winch Ostermoor lift?", k=3).hits)
            name = next(file.name for file in client.files() if file.sent_as == "notes/winch python.md")
            assert client.original(name) == client.original("notes/winch python.md") == text
            client.download(name, tmp_path / "back.md")
            assert (tmp_path / "back.md").read_bytes() == text
            assert client.deletion(name).documents == 1
            assert "notes/winch python.md" in [sent.file for sent in client.sent()]
        finally:
            name = next(file.name for file in client.files() if file.sent_as == "notes/winch python.md")
            assert client.delete(name).deleted.deleted == [name]
        assert not any("Ostermoor" in hit.chunk.text for hit in client.search("Ostermoor").hits)


def test_a_text_is_inserted_edited_and_deleted() -> None:
    with Client(URL) as client:
        uploaded = client.insert_text("The bollard Ellerholm holds nine tons.", name="notes/bollard python", metadata={"author": "Chen"})
        try:
            assert uploaded.file == "notes/bollard python.md" and uploaded.job is not None
            client.wait(uploaded.job)
            [hit] = [hit for hit in client.search("bollard Ellerholm", filter="meta:author=Chen").hits if "Ellerholm" in hit.chunk.text]
            assert hit.metadata["author"] == "Chen" and hit.sent_as == uploaded.file
            corrected = client.edit_chunk(hit.chunk.id, hit.chunk.text.replace("nine", "eleven"))
            assert (corrected.corrections[-1].old, corrected.corrections[-1].new) != ("", "")
            client.wait(corrected.job)
            [edited] = [hit for hit in client.search("bollard Ellerholm").hits if "Ellerholm" in hit.chunk.text]
            assert "eleven tons" in edited.chunk.text and client.chunk(edited.chunk.id).corrections
        finally:
            assert client.delete(uploaded.file).was_sent


def test_a_base_is_made_renamed_and_deleted() -> None:
    with Client(URL) as client:
        assert client.create_base("python-client").made
        try:
            assert client.rename_base("python-client", "python-client-2").name == "python-client-2"
            assert client.sources(base="python-client-2") == []
            with pytest.raises(RequestError):
                client.delete_base("python-client-2", confirm="python-client")
        finally:
            [made] = [base.name for base in client.bases() if base.made]
            client.delete_base(made, confirm=made)
        assert not any(base.made for base in client.bases())


def test_problems_are_those_of_the_server() -> None:
    with Client(URL) as client:
        with pytest.raises(NotFoundError) as caught:
            client.run("no-such")
        assert caught.value.code == "no-such-run" and caught.value.detail_zh
        with pytest.raises(RequestError) as refused:
            client.ask("???")
        assert refused.value.code == "empty-question"
        with pytest.raises(NotFoundError):
            client.search("q", base="no-such-base")
        assert client.request("GET", "/api/v1/methods")[0]["name"] and client.methods()
        assert [base.name for base in client.bases()] == ["default"] and client.status()["summary"]["chunks"]


def test_async_client_asks_side_by_side() -> None:
    async def ask() -> list[str]:
        async with AsyncClient(URL) as client:
            asked, found = await asyncio.gather(client.ask(QUESTION), client.search(FACT, k=1))
            async with client.stream(QUESTION) as events:
                kinds = [event.kind async for event in events]
            job = await client.upload_and_wait(b"A winch of straw.", "notes/straw python.md")
            await client.delete("notes/straw python.md")
            return [asked.answer.text, str(len(found.hits)), kinds[-1], job.stand]

    assert asyncio.run(ask()) == asyncio.run(ask()) == ["20", "1", "answer", "done"]


def test_types_fit_the_document_of_the_server() -> None:
    with Client(URL) as client:
        schemas = client.request("GET", "/openapi.json")["components"]["schemas"]

    def fields(schema: dict) -> tuple[dict, set]:
        """The properties of a schema by name, and which are in each of its forms and required there."""
        if "$ref" in schema:
            return fields(schemas[schema["$ref"].rsplit("/", 1)[1]])
        properties, required = dict(schema.get("properties", {})), set(schema.get("required", []))
        for part in schema.get("allOf", []):
            more, needed = fields(part)
            properties |= more
            required |= needed
        forms = [fields(form) for form in schema.get("oneOf", [])]
        for more, _ in forms:
            properties |= more
        return properties, required | (set.intersection(*[needed for _, needed in forms]) if forms else set())

    faults = []
    kinds = [kind for kind in vars(types).values() if isinstance(kind, type) and issubclass(kind, Reply) and kind is not Reply]
    for kind in kinds:
        properties, required = fields({"$ref": f"#/{SCHEMAS.get(kind.__name__, kind.__name__)}"})
        for field in dataclasses.fields(kind):
            is_required = field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING
            if field.name == "raw":
                continue
            if field.name not in properties:
                faults.append(f"{kind.__name__}.{field.name} is not in the document")
            elif is_required and field.name not in required:
                faults.append(f"{kind.__name__}.{field.name} may be absent")
            elif is_required and "null" in str(properties[field.name].get("type", "")):
                faults.append(f"{kind.__name__}.{field.name} may be null")
    assert faults == [] and len(kinds) > 30
    assert all(hasattr(pikerag_client, kind.__name__) for kind in kinds)

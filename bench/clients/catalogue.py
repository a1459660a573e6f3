"""Lists the clients: their packages, and the functions that try their operations."""

import dataclasses
import pathlib

ROOT = pathlib.Path(__file__).resolve().parents[2]


@dataclasses.dataclass(frozen=True)
class Client:
    """`operations` is `module.function` of this folder. `shown` are the packages whose versions the table gives; by default the first."""

    operations: str
    pip: tuple = ()
    npm: tuple = ()
    shown: tuple = ()
    # Clients with the same environment share its name.
    environment: str = ""
    # CI tries it at each run; the others need `--only` or `--all`.
    is_default: bool = True


CLIENTS = {
    "openai": Client("with_openai.openai", ("openai==3.54.0",)),
    "openai-typescript": Client("with_openai.openai_typescript", npm=("openai@7.55.0",), shown=("openai",), is_default=False),
    "responses": Client("with_responses.responses", ("openai==3.54.0",), environment="openai"),
    "openai-agents": Client("with_responses.openai_agents", ("openai-agents==0.24.0",)),
    "ai-sdk": Client("with_responses.ai_sdk", npm=("ai@6.0.326", "@ai-sdk/openai@3.0.141", "zod@4.6.7"), shown=("ai", "@ai-sdk/openai")),
    "instructor": Client("with_schemas.instructor", ("instructor==1.17.0",)),
    "pydantic-ai": Client("with_schemas.pydantic_ai", ("pydantic-ai-slim[openai]==2.68.0",), shown=("pydantic-ai-slim",)),
    "ollama": Client("with_ollama.ollama", ("ollama==0.6.3",)),
    "ollama-typescript": Client("with_ollama.ollama_typescript", npm=("ollama@0.6.4",), shown=("ollama",), is_default=False),
    "litellm": Client("with_ollama.litellm", ("litellm==1.110.2",)),
    "langchain-ollama": Client("with_ollama.langchain_ollama", ("langchain-ollama==1.1.0", "langchain-core==1.7.2"), is_default=False),
    "cohere": Client("with_frameworks.cohere", ("cohere==7.3.1",)),
    "langchain": Client("with_frameworks.langchain", ("langchain-openai==1.7.3", "langchain-core==1.7.2")),
    "llamaindex": Client("with_frameworks.llamaindex", ("llama-index-core==0.14.25",)),
    "llamaindex-models": Client("with_frameworks.llamaindex_models", ("llama-index-llms-openai-like==0.8.1", "llama-index-llms-ollama==0.11.0"), shown=("llama-index-llms-openai-like", "llama-index-llms-ollama"), is_default=False),
    "haystack": Client("with_frameworks.haystack", ("haystack-ai==3.4.1",), is_default=False),
    "mcp": Client("with_mcp.mcp", ("mcp==2.3.0",)),
    "mcp-previous": Client("with_mcp.mcp", ("mcp<2",)),
    "mcp-typescript": Client("with_mcp.mcp_typescript", npm=("@modelcontextprotocol/sdk@1",), shown=("@modelcontextprotocol/sdk",)),
    # Without the packages that its middleware does not use, which are most of them.
    "openwebui": Client("with_frameworks.openwebui", ("--no-deps", "-r", str(ROOT / "bench/openwebui.txt")), shown=("open-webui",)),
    "openapi": Client(
        "with_openapi.openapi",
        ("openapi-spec-validator==0.9.0", "openapi-python-client==0.29.1"),
        ("@hey-api/openapi-ts@0.95.0", "openapi-typescript@7.13.0", "typescript@5.9.3"),
        ("openapi-spec-validator", "openapi-python-client", "@hey-api/openapi-ts", "openapi-typescript"),
    ),
    "schemathesis": Client("with_openapi.schemathesis", ("schemathesis==4.32.5",)),
}


def shown_packages(client):
    """The packages whose versions the table gives, without what pip adds to their names."""
    first = [package.split("==")[0].split("<")[0].split("[")[0] for package in client.pip[:1]]
    return client.shown or tuple(first)

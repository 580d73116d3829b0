"""Record a small agent of several turns, replay it, change one prompt, and see where it diverges.

    python examples/pleach_replay.py

The model is a function in this file: no network, no key.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from overturn_fast.pleach import (
    FingerprintCache,
    MemoryStore,
    ReplayDivergenceError,
    SystemPrompt,
    ToolCatalog,
)

Message = dict[str, Any]

TOOLS = ToolCatalog(
    [
        {"name": "lookup_order", "parameters": {"orderId": "string"}},
        {"name": "refund", "parameters": {"orderId": "string", "amount": "number"}},
    ]
)


def fake_model(messages: list[Message]) -> Message:
    """Decide what to do next from the last message, as a model would."""
    last = messages[-1]
    if last["role"] == "user":
        return {"role": "assistant", "tool": "lookup_order", "arguments": {"orderId": "A-17"}}
    if last["content"] == {"status": "lost", "amount": 30}:
        arguments = {"orderId": "A-17", "amount": 30}
        return {"role": "assistant", "tool": "refund", "arguments": arguments}
    return {"role": "assistant", "content": "You have your 30 back. Sorry about that."}


def run_tool(name: str) -> Any:
    """What the tools answer."""
    return {"lookup_order": {"status": "lost", "amount": 30}, "refund": {"refunded": True}}[name]


def run_agent(system_prompt: str, complete: Callable[[dict[str, Any]], Message]) -> list[Message]:
    """Take turns until the model answers without a tool; return the conversation."""
    prompt = SystemPrompt(system_prompt)
    messages: list[Message] = [{"role": "user", "content": "Where is my order A-17?"}]
    while "content" not in messages[-1] or messages[-1]["role"] != "assistant":
        call = {
            "model": "fake-1",
            "family": "fake",
            "callClass": "synthesize",
            "messages": messages,
            "systemPrompt": prompt,
            "tools": TOOLS,
            "temperature": 0,
            "tenantId": "org_abc",
        }
        answer = complete(call)
        messages = [*messages, answer]
        if "tool" in answer:
            result = {"role": "tool", "content": run_tool(answer["tool"])}
            messages = [*messages, result]
    return messages


def main() -> None:
    """Record, replay, change, diverge."""
    cache = FingerprintCache(MemoryStore(), mode="headless-replay")

    def record(call: dict[str, Any]) -> Message:
        answer = fake_model(call["messages"])
        cache.put(call, answer)
        return answer

    recorded = run_agent("You are a helpful agent.", record)
    print(f"recorded {cache.stats.writes} calls")

    replayed = run_agent("You are a helpful agent.", cache.get)
    print(f"replayed {cache.stats.hits} calls without the model")
    print(f"the conversations are the same: {replayed == recorded}")

    try:
        run_agent("You are a helpful, brief agent.", cache.get)
    except ReplayDivergenceError as divergence:
        print(f"with another prompt: {divergence}")


if __name__ == "__main__":
    main()

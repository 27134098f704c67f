"""Programs that type checkers accept."""

from pathlib import Path

from typing_extensions import assert_type

from model_router import AnyModel, AsyncRouter, Event, Result, Router, Run, RouterError, verify_webhook
from model_router.models import BflFlux2ProInput, BflFlux2ProOutput


def synchronous(router: Router, name: str) -> str:
    input: BflFlux2ProInput = {"prompt": "a red fox", "input_image": Path("photo.png")}
    result = router.run("bfl/flux-2-pro", input, extra={"field_of_tomorrow": 1})
    assert_type(result, Result[BflFlux2ProOutput])
    run = router.submit("bfl/flux-2-pro", {"prompt": "a red fox", "seed": None}, tags={"team": "web"}, user="u")
    assert_type(router.collect(run), Result[BflFlux2ProOutput])
    with open("photo.png", "rb") as image:
        edited = router.subscribe(
            "bfl/flux-2-pro",
            {"prompt": "in blue", "input_image": image},
            on_status=lambda state: print(state.status),
            on_progress=lambda progress: print(100 * progress),
        )
    assert_type(edited.output["result"]["sample"], str)
    for state in router.subscribe(run):
        print(state.status)
    assert_type(router.run("openai/tts-1", {"input": "hello", "voice": "ash"}).output, bytes)
    assert_type(router.cost("bfl/flux-2-pro", '{"prompt": "a red fox"}')["expected_cents"], float)
    for event in router.stream(AnyModel("openai/gpt-4o"), {"messages": []}):
        assert_type(event, Event)
    print(router.run(AnyModel(name), {"anything": 1}).output["anything"])
    for record in router.requests(outcome="failed"):
        print(record["request_id"], record.get("error_type"))
    return result.output["result"]["sample"]


async def asynchronous(router: AsyncRouter) -> None:
    try:
        run = await router.submit("bfl/flux-2-pro", {"prompt": "a red fox"})
    except RouterError as error:
        print(error.bucket, error.request_id)
        return
    assert_type(run, Run[BflFlux2ProOutput])
    async for state in router.subscribe(run):
        print(state.status)
    assert_type(await router.collect(run), Result[BflFlux2ProOutput])
    result = await router.subscribe("bfl/flux-2-pro", {"prompt": "a red fox"})
    print(result.output["result"]["sample"], (await router.usage("model"))["total"]["cost_cents"])
    async for event in router.stream(AnyModel("openai/gpt-4o"), {"messages": []}):
        print(event.data)


def webhook(body: bytes, headers: dict[str, str]) -> str:
    return str(verify_webhook(body, headers, "whsec_AAAA")["data"]["request_id"])

"""Type checkers report an error in each line that says so, and in no other."""

from model_router import AnyModel, AsyncRouter, Router, verify_webhook
from model_router.models import BflFlux2ProInput

router = Router("https://router.example.com", key="x")

# Ids.
router.run("bfl/flux-9-pro", {"prompt": "a red fox"})  # error
router.submit("flux-2-pro", {"prompt": "a red fox"})  # error
router.cost("bfl/flux_2_pro", {"prompt": "a red fox"})  # error
router.subscribe("bfl/flux-2-por", {"prompt": "a red fox"})  # error
router.stream("bfl/flux-2-pro", {"prompt": "a red fox"})  # error

# Fields.
router.run("bfl/flux-2-pro", {"promt": "a red fox"})  # error
router.run("bfl/flux-2-pro", {"prompt": "a red fox", "hieght": 1024})  # error
router.run("bfl/flux-2-pro", {"prompt": "a red fox", "width": "large"})  # error
router.run("bfl/flux-2-pro", {"prompt": 1})  # error
router.submit("bfl/flux-2-pro", {})  # error
router.cost("bfl/flux-2-pro", {"prompt": "a red fox", "output_format": "gif"})  # error
router.subscribe("openai/tts-1", {"prompt": "a red fox"})  # error
wrong: BflFlux2ProInput = {"prompt": "a red fox", "hieght": 1024}  # error

# Outputs.
print(router.run("bfl/flux-2-pro", {"prompt": "a red fox"}).output["smaple"])  # error
print(router.run("openai/tts-1", {"input": "hello", "voice": "ash"}).output["result"])  # error

# Options and credentials.
router.run(AnyModel("acme/paint"), ["a red fox"])  # error
router.status({}, time_limit=1)  # error
Router("https://router.example.com", "rk_live_x")  # error
verify_webhook({"type": "run.completed"}, {}, "whsec_AAAA")  # error


async def forgotten(router: AsyncRouter) -> None:
    run = router.submit("bfl/flux-2-pro", {"prompt": "a red fox"})
    print(run["request_id"])  # error
    await router.run("bfl/flux-2-pro", {"prompt": "a red fox", "hieght": 1024})  # error
    await router.run("bfl/flux-9-pro", {"prompt": "a red fox"})  # error

from collections.abc import AsyncIterator

import pytest
from aiohttp import web
from aiohttp.test_utils import TestClient, TestServer
from support.clock import Clock
from support.desk_double import DeskDouble
from support.slack_kit import SECRET, Client, a_config
from support.slack_room import Slack

from sayso_playground import Playground, PlaygroundConfig
from sayso_slack import SlackAdapter, SlackListener


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def desk() -> DeskDouble:
    return DeskDouble()


@pytest.fixture
async def playground(clock: Clock) -> AsyncIterator[Playground]:
    config = PlaygroundConfig(clock=clock.seconds, slack_signing_secret=SECRET)
    async with Playground(config) as playground:
        yield playground


@pytest.fixture
async def adapter(playground: Playground) -> AsyncIterator[SlackAdapter]:
    async with SlackAdapter(a_config(api_url=playground.slack_api_url)) as adapter:
        yield adapter


@pytest.fixture
def slack(playground: Playground, adapter: SlackAdapter, clock: Clock) -> Slack:
    return Slack(playground, adapter, clock)


@pytest.fixture
async def listener(
    adapter: SlackAdapter, desk: DeskDouble, clock: Clock
) -> AsyncIterator[SlackListener]:
    async with SlackListener(a_config(), adapter, desk, clock=clock) as listener:
        yield listener


@pytest.fixture
async def client(listener: SlackListener) -> AsyncIterator[Client]:
    app = web.Application()
    app.add_routes(listener.routes())
    async with TestClient(TestServer(app)) as client:
        yield client

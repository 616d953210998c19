"""Threads are shared fairly: no group takes all threads, or the whole queue, while others ask."""

import asyncio

import pytest

from accounts.roles import Role
from config.http.fair_turns import Busy, Turns
from config.http.messages import ORGANIZATION
from config.http.request_groups import Groups
from tests.support.loops import run


class Asking:
    """Groups that ask for places. `placed` and `refused` list them in the order of the answers."""

    def __init__(self, places=4, waiting=64):
        self.turns, self.placed, self.refused = Turns(places, waiting), [], []
        self.tasks = []

    async def ask(self, group, times=1):
        self.tasks += [asyncio.create_task(self._take(group)) for _ in range(times)]
        await self.settle()

    async def _take(self, group):
        try:
            await self.turns.take(group)
        except Busy:
            self.refused.append(group)
        else:
            self.placed.append(group)

    async def give(self, group):
        self.turns.give(group)
        await self.settle()

    async def settle(self):
        for _ in range(3):
            await asyncio.sleep(0)

    async def end(self):
        for task in self.tasks:
            task.cancel()
        await asyncio.gather(*self.tasks, return_exceptions=True)


def asking(scenario, **options):
    async def whole():
        asked = Asking(**options)
        await scenario(asked)
        await asked.end()

    run(whole())


def test_a_group_alone_leaves_one_place_for_another():
    async def scenario(asked):
        await asked.ask("busy", 64 // 2)
        assert asked.placed == ["busy"] * 3
        await asked.ask("other")
        assert asked.placed == ["busy"] * 3 + ["other"]

    asking(scenario)


def test_while_others_wait_a_group_gets_half_and_groups_are_served_in_turn():
    async def scenario(asked):
        await asked.ask("busy", 10)
        await asked.ask("one", 3)
        await asked.ask("two", 2)
        before = len(asked.placed)
        await asked.give("busy")
        await asked.give("busy")
        await asked.give("one")
        assert asked.placed[before:] == ["one", "busy", "two"]
        assert asked.turns.taken == {"busy": 2, "one": 1, "two": 1}

    asking(scenario)


def test_a_group_may_fill_half_of_the_queue_and_makes_room_for_a_smaller_one():
    async def scenario(asked):
        await asked.ask("one", 33)
        assert asked.refused == ["one"]
        await asked.ask("two", 32)
        await asked.ask("three")
        assert asked.refused in (["one"] * 2, ["one", "two"])
        assert asked.turns.count == 64

    asking(scenario)


def test_a_client_that_stops_waiting_frees_its_place():
    async def scenario(asked):
        await asked.ask("one", 3)
        asked.tasks[-1].cancel()
        await asked.give("one")
        await asked.give("one")
        assert asked.turns.count == 0

    asking(scenario, places=2)


def environ(authorization="", address="192.0.2.1", cookie=""):
    return {"HTTP_AUTHORIZATION": authorization, "REMOTE_ADDR": address, "HTTP_COOKIE": cookie}


@pytest.mark.parametrize("credentials", [{"authorization": "Bearer drs_x"}, {"cookie": "sessionid=abc"}])
def test_valid_credentials_count_for_their_organization_and_invented_ones_for_their_address(
    credentials,
):
    groups = Groups()
    assert groups.of(environ(**credentials)) == groups.of(environ()) == "from 192.0.2.1"
    groups.learn(environ(**credentials) | {ORGANIZATION: "acme"}, 200)
    assert groups.of(environ(**credentials, address="192.0.2.9")) == "acme"
    assert groups.of(environ(authorization="Bearer invented")) == "from 192.0.2.1"
    groups.learn(environ(**credentials), 401)
    assert groups.of(environ(**credentials)) == "from 192.0.2.1"


@pytest.mark.django_db
def test_django_names_the_organization_of_a_key_and_of_a_session(api, signed_in):
    for answer in (api.get("/v1/decisions"), signed_in(Role.AUDITOR).get("/admin/")):
        assert answer.wsgi_request.environ[ORGANIZATION] == str(api.organization.pk)
    assert ORGANIZATION not in api.client.get("/sign-in/").wsgi_request.environ

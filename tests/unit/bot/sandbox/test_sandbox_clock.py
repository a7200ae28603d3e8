"""Time and changes of the stand-in."""

import asyncio

import pytest

from bot.sandbox.changes import ChangeLog
from bot.sandbox.clock import SandboxClock
from bot.sandbox.control import Sandbox


async def test_sleeper_wakes_when_the_clock_is_pushed_past_its_time():
    clock = SandboxClock()
    sleeper = asyncio.create_task(clock.sleep(3600))
    await asyncio.sleep(0)
    clock.advance(1800)
    await asyncio.sleep(0.01)
    assert not sleeper.done()
    clock.advance(1801)
    await asyncio.wait_for(sleeper, 5)


async def test_waiting_returns_what_a_later_change_brings():
    changes = ChangeLog()
    seen: list[int] = []
    waiter = asyncio.create_task(changes.wait_until(lambda: seen or None, timeout_s=5))
    await asyncio.sleep(0)
    seen.append(1)
    changes.publish("message")
    assert await waiter == [1]


async def test_waiting_for_what_never_comes_times_out():
    with pytest.raises(TimeoutError):
        await ChangeLog().wait_until(lambda: None, timeout_s=0.01)


async def test_follower_gets_past_changes_then_new_ones_without_a_gap():
    changes = ChangeLog()
    changes.publish("a")
    changes.publish("b")
    following = changes.follow(after=1)
    assert (await anext(following)).kind == "b"
    late = asyncio.ensure_future(anext(following))
    await asyncio.sleep(0)
    changes.publish("c")
    assert (await late).number == 3


def test_time_stamps_are_unique_and_grow():
    workspace = Sandbox().workspace()
    stamps = [workspace.new_ts() for _ in range(1000)]
    assert len(set(stamps)) == 1000
    assert stamps == sorted(stamps)
    assert all(len(ts.partition(".")[2]) == 6 for ts in stamps)

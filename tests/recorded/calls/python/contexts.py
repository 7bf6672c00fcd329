"""Contexts: calls of the Python layer (`autograd_cy`)."""

import autograd_cy as torch
from tests.recorded.inputs import differs


# contexts as decorators of generators and coroutines
@differs("Torch's decorator leaves a coroutine alone.")
def asyncio_sleep():
    import asyncio
    seen = []
    @torch.no_grad()
    async def c():
        try:
            await asyncio.sleep(9)
        except asyncio.CancelledError:
            seen.append(torch.is_grad_enabled())
            raise
    @torch.no_grad()
    async def d():
        try:
            await asyncio.sleep(9)
        finally:
            seen.append(torch.is_grad_enabled())
    async def ends():
        task = asyncio.ensure_future(c())
        await asyncio.sleep(0)
        task.cancel()
        try:
            await task
        except asyncio.CancelledError:
            seen.append("cancelled")
        it = d().__await__()
        next(it)
        it.close()
        return seen, torch.is_grad_enabled()
    return asyncio.run(ends())

"""Contexts: calls of the Python layer (`autograd_cy`)."""

import autograd_cy as torch
from tests.recorded.inputs import differs, error_name, with_warnings


# contexts as decorators of generators and coroutines
def send_stop():
    @torch.no_grad()
    def g(n):
        got = []
        try:
            for k in range(n):
                got.append((yield torch.is_grad_enabled()))
        except ValueError as e:
            got.append(str(e))
            yield "caught"
        finally:
            got.append(torch.is_grad_enabled())
        return got
    def run():
        it = g(3)
        seen = [next(it), torch.is_grad_enabled(), it.send("a"), it.send("b")]
        try:
            it.send("c")
        except StopIteration as stop:
            return seen, stop.value, torch.is_grad_enabled()
    return run()

def next_throw():
    @torch.no_grad()
    def g():
        try:
            yield torch.is_grad_enabled()
        except ValueError as e:
            yield str(e), torch.is_grad_enabled()
        yield "on", torch.is_grad_enabled()
    it = g()
    return [next(it), it.throw(ValueError("thrown")), torch.is_grad_enabled(), next(it),
        error_name(next, it), error_name(next, it)]

def next_is_grad_enabled():
    seen = []
    @torch.no_grad()
    def g():
        try:
            yield 1
            yield 2
        finally:
            seen.append(torch.is_grad_enabled())
    a, b = g(), g()
    next(a), next(b)
    a.close()
    del b
    return [seen, torch.is_grad_enabled(), error_name(next, a), list(g()), seen]

def next_is_grad_enabled_2():
    @torch.no_grad()
    def g():
        yield 1
        raise KeyError("inside")
    it = g()
    return [next(it), error_name(next, it), error_name(next, it), torch.is_grad_enabled(),
        g.__name__, next(g())]

@differs("Torch's decorator leaves a coroutine alone.")
def task_asyncio():
    import asyncio
    @torch.no_grad()
    async def c(n):
        seen = [torch.is_grad_enabled()]
        await asyncio.sleep(0)
        seen.append(torch.is_grad_enabled())
        if n:
            raise KeyError("inside")
        return seen
    async def both():
        task = asyncio.ensure_future(c(0))
        await asyncio.sleep(0)
        before = torch.is_grad_enabled()
        found = await task
        try:
            await c(1)
        except KeyError as e:
            found.append(str(e))
        return before, found, torch.is_grad_enabled()
    return asyncio.run(both())

@differs("Torch's decorator leaves a coroutine alone.")
def task_asyncio_2():
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

def with_warnings_is_grad_enabled():
    class A:
        def __init__(self):
            self.on = torch.is_grad_enabled()
    return [with_warnings(lambda: type(torch.no_grad()(A)).__name__),
        with_warnings(lambda: torch.no_grad()(lambda: torch.is_grad_enabled())())]

def doc_is_grad_enabled():
    @torch.no_grad
    def f(x, y=2):
        """What it does."""
        return torch.is_grad_enabled(), x, y
    return [f(1), f(1, y=3), f.__name__, f.__doc__, torch.is_grad_enabled(), error_name(f)]

def no_grad_is_grad_enabled():
    c = torch.no_grad()
    f = c(lambda n: (torch.is_grad_enabled(), f(n - 1) if n else None))
    return [f(2), torch.is_grad_enabled(), f(0)]

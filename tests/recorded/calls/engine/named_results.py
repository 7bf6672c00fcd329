"""Named results: calls of the graph and its engine (`ext/engine`)."""

import autograd_cy as torch
from tests.recorded.inputs import iota


# Results with names: their class, and a copy by way of a file.
def cummax_cummin():
    import pickle
    def facts_of(r):
        again = pickle.loads(pickle.dumps(r))
        return type(r).__name__, type(r).__module__.partition(".")[2], type(again) is type(r), repr(
            r).partition(".")[2]
    return [facts_of(f(iota(2, 3), 1)) for f in (torch.max, torch.min, torch.median,
        torch.nanmedian, torch.sort, torch.cummax, torch.cummin, torch.topk, torch.kthvalue,
        lambda x, n: torch.aminmax(x), lambda x, n: torch.linalg.eigh(torch.ones(n, n)), lambda x,
        n: torch.linalg.svd(torch.ones(n, n)))]
